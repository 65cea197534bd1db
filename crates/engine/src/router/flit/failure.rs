//! Failures with links shared flit by flit (docs/model.md, "Failures during operation").
//!
//! * If a packet's header is on a failed channel, the packet goes on flit by flit, with the credits
//!   that this takes. Its sink discards it.
//! * If its header has not been granted the switch by the failure, the packet is swallowed: its
//!   flits leave at the channel's rate and are lost.

use super::FlitRouters;
use super::states::VcState;
use crate::common::Common;
use crate::interruption::Interruption;
use crate::network::NO_OUTPUT;
use crate::packet::Packets;
use crate::router::{AllParts, Fail, PacketId, Routers};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::ChannelKind;

impl Fail for FlitRouters {
    fn cut_by(
        parts: &AllParts<'_, '_, Self>,
        (interruption, at): (&Interruption, Picoseconds),
    ) -> Vec<PacketId> {
        let mut cut = Vec::new();
        for part in 0..parts.parts.len() {
            let ports = &parts.routers(part).ports;
            let first = parts.context.cut.first_router(part);
            for (name, router) in (first..).zip(&ports.routers) {
                for (port, channel) in (0..).zip(parts.context.fabric.outputs(name)) {
                    let output = ports.output(router.first_output + port);
                    let fails = interruption.fails_at(channel, at);
                    if fails && output.kind == ChannelKind::Network && output.is_wired() {
                        let far = parts.part(output.far_part as usize);
                        let ports = &far.routers.ports;
                        let router = &ports.routers[output.far_router as usize];
                        let input_vc =
                            (router.first_input + u32::from(output.far_input)) << ports.shift;
                        let on_the_way = (input_vc, at);
                        far.routers.cut_on_the_way_to(&far.common, on_the_way, &mut cut);
                    }
                }
            }
        }
        cut.sort_unstable();
        cut
    }

    fn begin_failure(&mut self, common: &mut Common<'_>, lost: &[PacketId], at: Picoseconds) {
        self.lose(&mut common.packets, lost);
        // Until then packets wait for the reasons that they have had so far.
        self.settle_stalls(common, common.schedule.tick(at + Picoseconds(1)));
    }

    fn fail_output(&mut self, common: &mut Common<'_>, number: u32, output: u32, at: Picoseconds) {
        self.ports.fail(number, output);
        let from = common.schedule.tick(at + Picoseconds(1));
        // Packets whose headers have not been sent need no room any more.
        let mut view = self.borrow(common, number);
        for place in view.active_vcs() {
            let own = &mut view.state.queues[view.state.active_vcs[place] as usize];
            if own.output_port == view.router.first_output + output && own.has_header() {
                (own.needs_room, own.leaves) = (false, true);
                own.again = own.again.max(from);
                view.state.set_next(place);
            }
        }
        view.wake_requesters(output as usize, from);
        common.schedule.active.lower(number, self.due(number));
    }

    fn choose_again(&mut self, common: &mut Common<'_>, router: u32, at: Picoseconds) {
        let from = common.schedule.tick(at + Picoseconds(1));
        let queues = self.rules.queues_of(&self.ports.routers[router as usize]);
        let mut view = self.borrow(common, router);
        for queue in 0..queues {
            view.choose_again(queue, from);
        }
        common.schedule.active.lower(router, self.due(router));
    }

    fn leave_ring(&mut self, router: u32, output: u32) {
        let number = self.ports.routers[router as usize].first_output + output;
        self.ports.output_ports[number as usize].in_ring = false;
    }

    fn end_ring(&mut self, router: u32, input: u32) {
        let number = self.ports.routers[router as usize].first_input + input;
        self.ports.input_ports[number as usize].ring_output = NO_OUTPUT;
    }

    fn fail_router(&mut self, common: &mut Common<'_>, router: u32) {
        let packets = &mut common.packets;
        let router = &self.ports.routers[router as usize];
        let first = self.rules.first_queue(router);
        for queue in first..first + self.rules.queues_of(router) {
            for slot in self.packets_of(packets, queue) {
                packets.origins[slot as usize].lose();
            }
        }
    }
}

impl FlitRouters {
    /// Adds the packets whose flits come to the queues of an input port after time `at`. The port
    /// is given by its input virtual channel for virtual channel 0.
    fn cut_on_the_way_to(
        &self,
        common: &Common<'_>,
        (input_vc, at): (u32, Picoseconds),
        cut: &mut Vec<PacketId>,
    ) {
        let Self { rules, state, .. } = self;
        for number in input_vc * rules.outputs..(input_vc + rules.vcs) * rules.outputs {
            let queue = &state.queues[number as usize];
            let mut own: Vec<(PacketId, u32)> = Vec::new();
            if has_begun(queue.vc_state) {
                own.push(((queue.source, queue.sequence), queue.left.into()));
            }
            let packets = &common.packets;
            let flits_of = |slot: u32| packets.packets[slot as usize].flits.into();
            let behind =
                chain(packets, queue.head).map(|slot| (id_of(packets, slot), flits_of(slot)));
            own.extend(behind);
            let mut flits = 0;
            for (name, more) in own {
                flits += more;
                let sent = queue.flits.len() >= flits;
                if !sent || common.time(queue.flits.at(flits - 1, &state.times)) > at {
                    cut.push(name);
                }
            }
        }
    }

    /// The packets whose headers are in a queue or under way to it.
    pub(super) fn packets_of(&self, packets: &Packets, queue: usize) -> Vec<u32> {
        let queue = &self.state.queues[queue];
        let own = (has_begun(queue.vc_state) && queue.slot != NONE).then_some(queue.slot);
        own.into_iter().chain(chain(packets, queue.head)).collect()
    }

    /// Marks those of some packets, given in order, that have their headers in this part.
    fn lose(&self, packets: &mut Packets, lost: &[PacketId]) {
        for queue in 0..self.state.queues.len() {
            for slot in self.packets_of(packets, queue) {
                if lost.binary_search(&id_of(packets, slot)).is_ok() {
                    packets.origins[slot as usize].lose();
                }
            }
        }
    }
}

/// A packet and those behind it in its queue.
pub(super) fn chain(packets: &Packets, head: u32) -> impl Iterator<Item = u32> {
    let slot = |slot: u32| (slot != NONE).then_some(slot);
    std::iter::successors(slot(head), move |&at| slot(packets.packets[at as usize].next))
}

/// The name of a packet by its slot.
pub(super) fn id_of(packets: &Packets, slot: u32) -> PacketId {
    let packet = &packets.packets[slot as usize];
    (packet.source, packet.sequence)
}

/// Whether a queue's own fields say which packet is at its head.
fn has_begun(vc_state: VcState) -> bool {
    matches!(vc_state, VcState::Deciding | VcState::VcAlloc | VcState::Active)
}
