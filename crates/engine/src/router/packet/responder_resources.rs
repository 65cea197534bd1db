//! Adapters that hold a limited number of responses (docs/model.md, "Responder resources").
//!
//! The packet that completes a request takes a resource of its destination's adapter when an
//! ejection channel is granted to it. It waits in its buffer if none is free. The resource is free
//! again when the last flit of the response has left on an injection channel.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::common::Common;
use crate::frame::tick::Tick;
use crate::network::context::NetworkContext;
use crate::network::ports::RouterLayout;
use crate::part::Part;
use crate::router::blocked::Blocked as _;
use crate::router::packet::allocation::Obstacle;
use crate::router::packet::cell::{DEAD, NEEDS_ROOM, Shape, with_cells};
use crate::router::packet::credits::{Credit, Credits};
use crate::router::packet::{Features, PacketRouters, Visit};
use crate::router::{AllParts, Buffer};
use crate::set::bits;
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;

/// The free resources of a part's adapters, by terminal; none if there is no limit. Those that will
/// be free are credits under way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ResponderResources(Credits);

impl ResponderResources {
    pub(super) fn new(context: &NetworkContext<'_>, part: usize) -> Self {
        let terminals = context.terminals_of_part(part).len();
        let each = context.parameters.responder_resources;
        Self(Credits::new(each.map_or_else(Vec::new, |each| vec![each; terminals])))
    }

    /// Whether there is a limit.
    fn are_limited(&self) -> bool {
        !self.0.room.is_empty()
    }

    /// Takes a resource of a terminal, which has one. Without a limit there are always some.
    pub(super) fn take(&mut self, terminal: u32) {
        if self.are_limited() {
            self.0.room[terminal as usize] -= 1;
        }
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        self.0.rebase(by);
    }

    pub(super) fn memory(&self) -> usize {
        self.0.memory()
    }
}

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Whether an output is an ejection channel.
    #[inline]
    pub(super) fn ejects(&self, output: usize) -> bool {
        !self.has(output, NEEDS_ROOM | DEAD)
    }

    /// The lack of a resource at the terminal of an ejection channel for the packet `slot`, if it
    /// needs one.
    pub(super) fn lack_of_resources(
        &mut self,
        output: usize,
        slot: u32,
        now: Tick,
    ) -> Option<Obstacle> {
        let terminal = self.cell.far[S::port(output)];
        let needs_one = self.responder_resources.are_limited()
            && self.packets.origins[slot as usize].completes_request();
        if needs_one { self.responder_resources.0.lack(terminal, 1, 1, now) } else { None }
    }
}

impl PacketRouters {
    /// Gives a resource back to a terminal: the last flit of a response leaves at `time`.
    pub(super) fn give_back_resource(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        time: Tick,
        now: Tick,
    ) {
        let resources = &mut self.shared.responder_resources;
        if !resources.are_limited() {
            return;
        }
        let credit = Credit { time, flits: 1 };
        if !resources.0.send(terminal, credit, now) {
            return;
        }
        let routers = &self.shared.ports.routers;
        let router = routers.partition_point(|router| router.first_terminal <= terminal) - 1;
        let outputs = self.ejections_of(&routers[router], terminal);
        for output in outputs {
            let free_at = with_cells!(&self.cells, cells => cells[router].free_at[output as usize]);
            self.lower(common, narrow(router), output, time.max(free_at));
        }
    }

    /// The outputs of a router that are a terminal's ejection channels.
    fn ejections_of(&self, layout: &RouterLayout, terminal: u32) -> Range<u32> {
        let each = self.ejection_channels;
        let first = self.network_outputs(layout) + (terminal - layout.first_terminal) * each;
        first..first + each
    }

    /// If the head of a buffer lacks a resource of its destination's adapter at an output of the
    /// part: the injection buffers of which one has to make room for a response before it has one;
    /// none if it may have one without.
    pub(super) fn responses_in_the_way(
        parts: &AllParts<'_, '_, Self>,
        (part, buffer): Buffer,
        output: u32,
    ) -> Option<Vec<Buffer>> {
        let Part { common, routers, hosts, .. } = parts.part(part);
        let resources = &routers.shared.responder_resources;
        let (_, layout) = routers.shared.ports.router_of(buffer);
        let own = (output - layout.first_output)
            .checked_sub(routers.network_outputs(layout))
            .filter(|_| resources.are_limited())?;
        let terminal = layout.first_terminal + own / routers.ejection_channels;
        let head = routers.first_packet(buffer);
        let completes = head != NONE && common.packets.origins[head as usize].completes_request();
        if !completes || resources.0.due(terminal) > 0 {
            return None;
        }
        let vcs = common.context.vc_map.count();
        let (mut held, mut buffers) = (0, Vec::new());
        for number in hosts.injections_of(common, terminal) {
            let injection = &hosts.sources.injections[number as usize];
            for vc in bits(injection.waiting) {
                let queue = number as usize * vcs + vc;
                let responses = hosts.sources.responses_in(queue);
                if responses == 0 {
                    continue;
                }
                held += responses;
                let room = routers.shared.credits.due(injection.room + narrow::<u32>(vc));
                let input = layout.first_input + u32::from(injection.port);
                let behind = (part, (input << routers.shared.size.shift) + narrow::<u32>(vc));
                let flits = parts.flits_arrived(behind);
                let is_full = room < u32::from(hosts.sources.queues[queue].flits)
                    && room + flits == common.context.parameters.injection_buffer;
                if !is_full {
                    return Some(Vec::new());
                }
                buffers.push(behind);
            }
        }
        // The others are still to be created.
        let all = common.context.parameters.responder_resources.map(usize::from);
        Some(if Some(held) == all { buffers } else { Vec::new() })
    }
}
