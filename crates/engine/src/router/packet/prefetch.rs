//! Prefetches for visits that come soon, where a part is larger than the nearer caches.

use crate::common::Common;
use crate::router::packet::cell::with_cells;
use crate::router::packet::{PacketRouters, SharedState};
use crate::set::members;
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::prefetch;

impl PacketRouters {
    /// Prefetches a router's cell, and what has come to it.
    #[inline(never)]
    pub(super) fn prefetch_cell(&self, number: u32) {
        let SharedState { inlets, ports, .. } = &self.shared;
        with_cells!(&self.cells, cells => prefetch(&cells[number as usize]));
        prefetch(&ports.routers[number as usize]);
        prefetch(&inlets.arrived[number as usize * inlets.words]);
        prefetch(&inlets.inlets[inlets.buffer(number, 0) as usize]);
    }

    /// Prefetches the packets that have come to empty buffers, the first credits and statistics.
    #[inline(never)]
    pub(super) fn prefetch_arrivals(&self, common: &Common<'_>, number: u32) {
        let SharedState { inlets, ports, credits, .. } = &self.shared;
        let output = ports.routers[number as usize].first_output as usize;
        prefetch(&common.statistics.flits[output * common.context.vc_map.count()]);
        let room = with_cells!(&self.cells, cells => cells[number as usize].room[0]);
        credits.room.get(room as usize).into_iter().for_each(prefetch);
        let arrived = &inlets.arrived[number as usize * inlets.words..][..inlets.words];
        for buffer in members(arrived) {
            let inlet = inlets.inlets[inlets.buffer(number, fitted!(buffer, u32)) as usize];
            prefetch(&common.packets.packets[inlet.first as usize]);
        }
    }
}
