//! Failures in a part (docs/model.md, "Failures during operation").

use super::Part;
use std::sync::Arc;

use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::router::{PacketId, Routers};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

impl<'f, R: Routers> Part<'f, R> {
    /// Makes failed channels swallow what is sent to them, and loses what is in failed routers, and
    /// the packets that are cut. Packets that have a choice go by the routes of `meanwhile`, if
    /// there are some.
    pub(crate) fn fail(
        &mut self,
        interruption: &Interruption,
        cut: &[PacketId],
        meanwhile: Option<&Arc<NetworkContext<'f>>>,
    ) {
        if let Some(context) = meanwhile {
            self.common.change_routes(context);
        }
        let Self { common, hosts, routers, .. } = self;
        routers.begin_failure(common, cut, interruption.at);
        let fabric = common.context.fabric;
        let first_router = common.context.cut.first_router(common.schedule.part);
        for number in 0..fitted!(routers.ports().routers.len(), u32) {
            let name = number + first_router;
            for (port, channel) in (0..).zip(fabric.outputs(name)) {
                if interruption.failed_channels[channel as usize] {
                    routers.fail_output(common, number, port, interruption.at);
                }
            }
            if interruption.failed_routers[name as usize] {
                routers.fail_router(common, number);
            }
            let failed = |channel: u32| interruption.failed_channels[channel as usize];
            if meanwhile.is_some() && fabric.outputs(name).any(failed) {
                routers.choose_again(common, number, interruption.at);
            }
        }
        for delivery in &hosts.sink.late {
            if let Some(adapter) = hosts.sources.adapters.get(delivery.terminal as usize)
                && interruption.failed_routers[(adapter.router + first_router) as usize]
            {
                common.packets.origins[delivery.slot as usize].lose();
            }
        }
        for terminal in 0..hosts.terminals() {
            if !interruption.serves(fabric, hosts.sources.adapters[terminal as usize].name) {
                hosts.drop_queued(common, terminal, |_| true);
            }
        }
    }

    /// Changes to the new routes, which `later` has. No packet is under way.
    pub(crate) fn change_tables(
        &mut self,
        interruption: &Interruption,
        later: &Arc<NetworkContext<'f>>,
        now: Picoseconds,
    ) {
        let Self { common, hosts, routers, .. } = self;
        common.change_routes(later);
        hosts.sources.choose_anew(common);
        for number in 0..fitted!(routers.ports().routers.len(), u32) {
            let name = number + later.cut.first_router(common.schedule.part);
            for (output, channel) in (0..).zip(later.fabric.outputs(name)) {
                if interruption.broken_rings[channel as usize] {
                    routers.leave_ring(number, output);
                }
            }
            for (input, channel) in (0..).zip(later.channels_to(name)) {
                if interruption.broken_rings[channel as usize] {
                    routers.end_ring(number, input);
                }
            }
        }
        hosts.sources.paused = false;
        let next = common.schedule.tick(now + Picoseconds(1));
        let fabric = common.context.fabric;
        for terminal in 0..hosts.terminals() {
            hosts.drop_queued(common, terminal, |to| !interruption.serves(fabric, to));
            hosts.resume(common, terminal, next);
        }
    }
}
