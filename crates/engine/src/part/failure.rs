//! Failures in a part (docs/model.md, "Failures during operation").

use super::Part;
use crate::common::Common;
use crate::host::Hosts;
use crate::interruption::Interruption;
use crate::next_hop::Routing;
use crate::router::{PacketId, Routers};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

impl<R: Routers> Part<'_, R> {
    /// Makes failed channels swallow what is sent to them, and loses what is in failed routers, and
    /// the packets that are cut.
    pub(crate) fn fail(&mut self, interruption: &Interruption, cut: &[PacketId]) {
        let Self { common, hosts, routers } = self;
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
}

/// Changes a part to the new table.
pub(crate) fn change_tables<'f>(
    common: &mut Common<'f>,
    hosts: &mut Hosts,
    interruption: &'f Interruption,
    now: Picoseconds,
) {
    common.routing = Routing::Table(&interruption.table);
    hosts.sources.paused = false;
    let next = common.schedule.tick(now + Picoseconds(1));
    let fabric = common.context.fabric;
    for terminal in 0..hosts.terminals() {
        hosts.drop_queued(common, terminal, |to| !interruption.serves(fabric, to));
        hosts.resume(common, terminal, next);
    }
}
