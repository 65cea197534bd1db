//! Failures in a part (docs/model.md, "Failures during operation").

use super::Part;
use std::sync::Arc;

use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::router::{PacketId, Routers};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;

impl<'f, R: Routers> Part<'f, R> {
    /// Makes the channels that fail now swallow what is sent to them, and loses what is in routers
    /// that fail now, and the packets that are cut. Packets that have a choice go by the routes of
    /// `meanwhile`, if there are some.
    pub(crate) fn fail(
        &mut self,
        (interruption, now): (&Interruption, Picoseconds),
        cut: &[PacketId],
        meanwhile: Option<&Arc<NetworkContext<'f>>>,
    ) {
        if let Some(context) = meanwhile {
            self.common.change_routes(context);
        }
        let Self { common, hosts, routers, .. } = self;
        routers.begin_failure(common, cut, now);
        let fabric = common.context.fabric;
        let first_router = common.context.cut.first_router(common.schedule.part);
        for number in 0..fitted!(routers.ports().routers.len(), u32) {
            let name = number + first_router;
            for (port, channel) in (0..).zip(fabric.outputs(name)) {
                if interruption.fails_at(channel, now) {
                    routers.fail_output(common, number, port, now);
                }
            }
            if interruption.router_fails_at(name, now) {
                routers.fail_router(common, number);
            }
            let fails = |channel: u32| interruption.fails_at(channel, now);
            if meanwhile.is_some() && fabric.outputs(name).any(fails) {
                routers.choose_again(common, number, now);
            }
        }
        for delivery in &hosts.sink.late {
            if let Some(adapter) = hosts.sources.adapters.get(delivery.terminal as usize)
                && interruption.router_fails_at(adapter.router + first_router, now)
            {
                common.packets.origins[delivery.slot as usize].lose();
            }
        }
        for terminal in 0..hosts.terminals() {
            let name = hosts.sources.adapters[terminal as usize].name;
            if interruption.took(fabric, name, now + Picoseconds(1)) {
                hosts.drop_queued(common, terminal, |_| true);
            }
        }
    }

    /// Changes to the new routes, which `later` has and which were made for `left`. No packet is
    /// under way.
    pub(crate) fn change_tables(
        &mut self,
        left: &Fabric,
        later: &Arc<NetworkContext<'f>>,
        now: Picoseconds,
    ) {
        let Self { common, hosts, routers, .. } = self;
        common.change_routes(later);
        hosts.sources.choose_anew(common);
        let is_broken = |channel| later.fabric.ring(channel) != left.ring(channel);
        for number in 0..fitted!(routers.ports().routers.len(), u32) {
            let name = number + later.cut.first_router(common.schedule.part);
            for (output, channel) in (0..).zip(later.fabric.outputs(name)) {
                if is_broken(channel) {
                    routers.leave_ring(number, output);
                }
            }
            for (input, channel) in (0..).zip(later.channels_to(name)) {
                if is_broken(channel) {
                    routers.end_ring(number, input);
                }
            }
        }
        hosts.sources.paused = false;
        let next = common.schedule.tick(now + Picoseconds(1));
        for terminal in 0..hosts.terminals() {
            hosts.drop_queued(common, terminal, |to| left.terminal_router(to).is_none());
            hosts.resume(common, terminal, next);
        }
    }
}
