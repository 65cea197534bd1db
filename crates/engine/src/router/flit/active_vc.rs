//! Active virtual channels: packets that hold a virtual channel of an output.
//!
//! The times, credits and ports of such a packet's flits alone decide when they ask for the switch.
//! A router has few active virtual channels at a time. The times of their requests lie together,
//! and are scanned at every instant. All else of them is in their queues.

use std::ops::Range;

use super::credits::OutputVc;
use super::flit_queue::{FlitQueue, Held};
use super::router_view::{FlitRouterView, MASKED};
use super::states::VcState;
use super::switch_traversal::leaves;
use super::time_rings::Times;
use super::{FlitInput, FlitOutput, FlitRules, FlitState};
use crate::frame::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Digest;

impl FlitRules {
    /// The place of a router's first active virtual channel. There is a place for each virtual
    /// channel of an output.
    #[inline(always)]
    pub(super) fn first_active_vc(&self, number: u32) -> usize {
        number as usize * self.active_vcs
    }
}

impl FlitState {
    /// The places of a router's active virtual channels.
    #[inline(always)]
    pub(super) fn active_vcs_of(&self, rules: &FlitRules, number: u32) -> Range<usize> {
        let first = rules.first_active_vc(number);
        first..first + usize::from(self.active_count[number as usize])
    }

    /// The time of the next switch request in a router.
    #[inline(always)]
    pub(super) fn next_switch_request(&self, rules: &FlitRules, number: u32) -> Tick {
        let times = &self.request_times[self.active_vcs_of(rules, number)];
        times.iter().fold(NEVER, |soonest, &time| soonest.min(time))
    }

    /// Changes the sets of its input port and output that an active virtual channel is in.
    #[inline(always)]
    fn note_places(&mut self, place: usize, added: u64, removed: u64) {
        let FlitQueue { input_port, output_port, .. } =
            self.queues[self.active_vcs[place] as usize];
        let of_input = &mut self.inputs[input_port as usize].active;
        *of_input = *of_input & !removed | added;
        let of_output = &mut self.outputs[output_port as usize].active;
        *of_output = *of_output & !removed | added;
    }

    /// The active virtual channels at the input port and the output of an active queue, by its
    /// number in the part.
    #[inline(always)]
    pub(super) fn sharing_ports(&self, queue: usize) -> u64 {
        let FlitQueue { input_port, output_port, .. } = self.queues[queue];
        self.inputs[input_port as usize].active | self.outputs[output_port as usize].active
    }

    /// Computes the time of an active virtual channel's next switch request, and returns it.
    #[inline(always)]
    pub(super) fn set_next(&mut self, place: usize) -> Tick {
        let Self { queues, vcs, inputs, outputs, times, .. } = self;
        let queue = &queues[self.active_vcs[place] as usize];
        let ports = (&inputs[queue.input_port as usize], &outputs[queue.output_port as usize]);
        let next = queue.next_request(&mut vcs[queue.held.place()], ports, times);
        self.request_times[place] = next;
        next
    }
}

impl FlitQueue {
    /// The time of its next switch request, for the virtual channel that it holds.
    #[inline(always)]
    fn next_request(
        &self,
        held: &mut OutputVc,
        (of_input, of_output): (&FlitInput, &FlitOutput),
        times: &Times,
    ) -> Tick {
        if self.flits.is_empty() {
            return NEVER;
        }
        let credit = if self.needs_room { held.next_credit(times) } else { 0 };
        let came = self.flits.front(times).max(self.again);
        came.max(credit).max(of_input.free_at).max(of_output.soonest)
    }
}

impl FlitRouterView<'_, '_> {
    /// The time of the next switch requests, and their active virtual channels: a bit each for the
    /// router's first 64.
    #[inline(always)]
    pub(super) fn next_switch_requests(&self) -> (Tick, u64) {
        let (mut soonest, mut due, mut bit) = (NEVER, 0, 1_u64);
        // No branches, since the outcome cannot be predicted; and no slice, for which the compiler
        // would unroll the loop, which is short.
        for place in self.active_vcs() {
            let time = self.state.request_times[place];
            let same = if time == soonest { due | bit } else { due };
            due = if time < soonest { bit } else { same };
            soonest = time.min(soonest);
            bit <<= 1;
        }
        (soonest, due)
    }

    /// The places of the router's active virtual channels.
    #[inline(always)]
    pub(crate) fn active_vcs(&self) -> Range<usize> {
        let count = usize::from(self.state.active_count[self.number as usize]);
        self.first_active_vc..self.first_active_vc + count
    }

    /// Activates a queue, whose packet has been granted virtual channel `vc` of an output; `held` is
    /// its place.
    #[inline(always)]
    pub(super) fn activate(
        &mut self,
        (queue, output): (usize, usize),
        (vc, held): (u8, usize),
        now: Tick,
    ) {
        let again = now + fitted!(self.rules.sharing.virtual_channel_allocation.0, Tick);
        let output_port = self.router.first_output + fitted!(output, u32);
        let port = &self.ports.output_ports[output_port as usize];
        let number = self.first_queue + queue;
        self.state.queues[number].output_port = output_port;
        if self.uncontended != 0 {
            self.advance_some(self.state.sharing_ports(number), now);
        }
        let FlitState {
            queues,
            vcs,
            inputs,
            outputs,
            times,
            active_count,
            active_vcs,
            request_times,
            waits,
            ..
        } = &mut *self.state;
        let own = &mut queues[number];
        let (of_input, of_output) =
            (&mut inputs[own.input_port as usize], &mut outputs[output_port as usize]);
        let out_vc = &mut vcs[held];
        (out_vc.free_at, out_vc.holder) = (NEVER, fitted!(queue, u32));
        own.vc_state = VcState::Active;
        (own.output, own.vc, own.held) = (fitted!(output, u16), vc, Held::vc(held));
        (own.timing, own.needs_room, own.leaves) = (port.timing, port.needs_room, leaves(port));
        (own.far, own.again) = (NONE, again);
        let awaited = if self.rules.awaits_all(own.in_vc) { own.left - 1 } else { 0 };
        let ready = own.flits.at(awaited.into(), times) + self.rules.routing;
        // A copy is not routed, and goes before that.
        self.common.statistics.waited(output_port, ready.min(now), now);
        own.counted = output_port * self.rules.vcs + u32::from(vc);
        if self.common.statistics.counts_classes() {
            own.class = self.common.packets.origins[own.slot as usize].class();
        }
        own.mark = Digest::mark(self.first_channel + output_port, own.source, own.sequence);
        let of_router = &mut active_count[self.number as usize];
        let place = self.first_active_vc + usize::from(*of_router);
        let bit = if *of_router < fitted!(MASKED, u16) { 1 << *of_router } else { 0 };
        *of_router += 1;
        own.active = fitted!(place, u32);
        of_input.active |= bit;
        of_input.senders += 1;
        of_output.active |= bit;
        of_output.senders += 1;
        of_output.waiting += u32::from(own.left);
        if let Some(waits) = waits {
            waits.waits_from(number, again);
        }
        active_vcs[place] = fitted!(number, u32);
        request_times[place] = own.next_request(out_vc, (of_input, of_output), times);
    }

    /// Removes an active virtual channel whose last flit has been granted the switch. The last one
    /// moves into its place.
    #[inline(always)]
    pub(super) fn retire(&mut self, place: usize) {
        self.state.active_count[self.number as usize] -= 1;
        let last = self.active_vcs().end;
        self.state.note_places(place, 0, self.bit(place));
        if place < last {
            self.state.note_places(last, self.bit(place), self.bit(last));
            let queue = self.state.active_vcs[last];
            self.state.queues[queue as usize].active = fitted!(place, u32);
            self.state.active_vcs[place] = queue;
            self.state.request_times[place] = self.state.request_times[last];
            self.move_uncontended(last, place);
        }
    }

    /// The bit of an active virtual channel in sets; 0 if it has none.
    #[inline(always)]
    pub(super) fn bit(&self, place: usize) -> u64 {
        let number = place - self.first_active_vc;
        if number < MASKED { 1 << number } else { 0 }
    }
}
