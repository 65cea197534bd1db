//! Failures with links shared flit by flit (docs/model.md, "Failures during operation").
//!
//! * If a packet's header is on a failed channel, the packet goes on flit by flit, with the credits
//!   that this takes. Its sink discards it.
//! * If its header has not been granted the switch by the failure, the packet is swallowed: its
//!   flits leave at the channel's rate and are lost.

use super::FlitRouters;
use super::active_vc::ActiveVc;
use super::flit_queue::VcState;
use crate::interruption::Interruption;
use crate::part::Part;
use crate::tick::NEVER;
use crate::{ChannelKind, Engine, Observer};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// A packet: its source and its number there.
type PacketId = (u32, u32);

impl<O: Observer> Engine<'_, O> {
    /// The packets with flits on a failing channel, or with flits yet to be sent on it. Empty for
    /// routers that grant whole packets.
    pub(crate) fn cut_flit_by_flit(&self, interruption: &Interruption) -> Vec<PacketId> {
        let mut cut = Vec::new();
        for part in &self.parts {
            let here = &part.part;
            let first = self.context.cut.first_router(here.schedule.part);
            for (name, router) in (first..).zip(&here.ports.routers) {
                for (port, channel) in (0..).zip(self.context.fabric.outputs(name)) {
                    let output = here.ports.output(router.first_output + port);
                    let fails = interruption.failed_channels[channel as usize];
                    if fails && output.kind == ChannelKind::Network && output.is_wired() {
                        let far = &self.parts[output.far_part as usize].part;
                        let router = &far.ports.routers[output.far_router as usize];
                        let input_vc = far.ports.queue(router, output.far_input_vc.into());
                        far.cut_on_the_way_to(narrow::<u32>(input_vc), interruption.at, &mut cut);
                    }
                }
            }
        }
        cut.sort_unstable();
        cut
    }
}

impl Part<'_> {
    /// Adds the packets whose flits come to the queues of an input port after time `at`. The port
    /// is given by its input virtual channel for virtual channel 0.
    fn cut_on_the_way_to(&self, input_vc: u32, at: Picoseconds, cut: &mut Vec<PacketId>) {
        let Some(FlitRouters { rules, state, .. }) = self.flits.as_deref() else { return };
        for number in input_vc * rules.outputs..(input_vc + rules.vcs) * rules.outputs {
            let queue = &state.queues[number as usize];
            let mut own: Vec<(PacketId, u32)> = Vec::new();
            if has_begun(queue.vc_state) {
                let left = match queue.vc_state {
                    VcState::Active => {
                        let router = self.router_of_input_vc(input_vc);
                        let place = state.active_vc_of(rules, router, number as usize);
                        state.active_vcs[place].left
                    }
                    _ => queue.left,
                };
                own.push(((queue.source, queue.sequence), left.into()));
            }
            let behind = self.chain(queue.head).map(|slot| {
                let packet = &self.packets.packets[slot as usize];
                ((packet.source, packet.sequence), packet.flits.into())
            });
            own.extend(behind);
            let mut flits = 0;
            for (name, more) in own {
                flits += more;
                let sent = queue.flits.len() >= flits;
                if !sent || self.time(queue.flits.at(flits - 1, &state.times)) > at {
                    cut.push(name);
                }
            }
        }
    }

    /// A packet and those behind it in its queue.
    fn chain(&self, head: u32) -> impl Iterator<Item = u32> {
        let slot = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(slot(head), move |&at| slot(self.packets.packets[at as usize].next))
    }

    /// The packets whose headers are in a queue or under way to it.
    fn packets_of(&self, flits: &FlitRouters, queue: usize) -> Vec<u32> {
        let queue = &flits.state.queues[queue];
        let own = (has_begun(queue.vc_state) && queue.slot != NONE).then_some(queue.slot);
        own.into_iter().chain(self.chain(queue.head)).collect()
    }

    /// Marks those of some packets, given in order, that have their headers in this part.
    pub(crate) fn lose_flit_by_flit(&mut self, lost: &[PacketId]) {
        let Some(flits) = self.flits.take() else { return };
        for queue in 0..flits.state.queues.len() {
            for slot in self.packets_of(&flits, queue) {
                let packet = &self.packets.packets[slot as usize];
                if lost.binary_search(&(packet.source, packet.sequence)).is_ok() {
                    self.packets.origins[slot as usize].lose();
                }
            }
        }
        self.flits = Some(flits);
    }

    /// Loses the packets in a router, and those under way to it from terminals.
    pub(crate) fn lose_flits_of(&mut self, number: u32) {
        let Some(flits) = self.flits.take() else { return };
        let router = &self.ports.routers[number as usize];
        let first = flits.rules.first_queue(router);
        let count =
            (usize::from(router.inputs) << flits.rules.shift) * flits.rules.outputs as usize;
        for queue in first..first + count {
            for slot in self.packets_of(&flits, queue) {
                self.packets.origins[slot as usize].lose();
            }
        }
        self.flits = Some(flits);
    }

    /// Makes an output of a router swallow packets from a time on. Packets whose headers have not
    /// been sent then need no room.
    pub(crate) fn swallow_flits(&mut self, number: u32, output: u32, time: Picoseconds) {
        let time = self.schedule.tick(time);
        let Some(mut flits) = self.flits.take() else { return };
        let mut view = self.borrow_flit_router(&mut flits, number);
        for place in view.active_vcs() {
            let ActiveVc { output_port, has_header, .. } = view.state.active_vcs[place];
            if output_port == view.router.first_output + output && has_header {
                let own = &mut view.state.active_vcs[place];
                (own.has_header, own.needs_room, own.leaves) = (false, false, true);
                own.again = own.again.max(time);
                view.state.set_next(place);
            }
        }
        view.wake_requesters(output as usize, time);
        let next = self.flits_due(&flits, number);
        if next != NEVER {
            self.schedule.active.lower(number, next);
        }
        self.flits = Some(flits);
    }
}

/// Whether a queue's own fields say which packet is at its head.
fn has_begun(vc_state: VcState) -> bool {
    matches!(vc_state, VcState::Deciding | VcState::VcAlloc | VcState::Active)
}
