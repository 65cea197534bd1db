//! Active virtual channels: packets that hold a virtual channel of an output.
//!
//! The times, credits and ports of such a packet's flits alone decide when they ask for the switch.
//! A router has few active virtual channels at a time. The times of their requests lie together,
//! and are scanned at every instant.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::flit_queue::FlitQueue;
use super::router_view::{FlitRouterView, MASKED};
use super::states::VcState;
use super::switch_traversal::leaves;
use super::{FlitRules, FlitState};
use crate::frame::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Digest;

/// An active virtual channel: a packet at the head of its queue that holds a virtual channel of an
/// output. The default is an unused place.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ActiveVc {
    /// The part of the digest's hash that depends on its packet and channel.
    pub mark: u64,
    /// Its queue, input port and output, by their numbers in the part.
    pub queue: u32,
    pub input_port: u32,
    pub output_port: u32,
    /// The virtual channel that it holds, and the virtual channel upstream of its queue.
    pub held: u32,
    pub upstream: u32,
    /// The queue of the part that its flits go to, once its header has gone there; [`NONE`] if
    /// flits have to be handed over otherwise.
    pub far: u32,
    /// The place of its flits' counter in the statistics.
    pub counted: u32,
    /// Time before which it does not ask again.
    pub again: Tick,
    /// Time of a credit to the sender upstream of its queue.
    pub back: Tick,
    /// Flits that have not been granted the switch.
    pub left: u16,
    /// Its input port and output, by their numbers in the router, and the number of its queue among
    /// those of its input port.
    pub input: u16,
    pub output: u16,
    pub of_port: u16,
    /// The virtual channel that it holds at its output, and the index of that channel's timing.
    pub out_vc: u8,
    pub timing: u8,
    /// Whether its flits take credits, and whether they leave the network.
    pub needs_room: bool,
    pub leaves: bool,
    /// Whether its header has not been granted the switch.
    pub has_header: bool,
    /// Whether it comes from a terminal.
    pub injects: bool,
}

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

    /// The place of the active virtual channel of a queue, given by its number in the part.
    #[inline(always)]
    pub(super) fn active_vc_of(&self, rules: &FlitRules, number: u32, queue: usize) -> usize {
        let mut range = self.active_vcs_of(rules, number);
        let place = range.find(|&place| self.active_vcs[place].queue as usize == queue);
        place.expect("its packet has a virtual channel")
    }

    /// Changes the sets of its input port and output that an active virtual channel is in.
    #[inline(always)]
    fn note_places(&mut self, place: usize, added: u64, removed: u64) {
        let ActiveVc { input_port, output_port, .. } = self.active_vcs[place];
        let of_input = &mut self.inputs[input_port as usize].active;
        *of_input = *of_input & !removed | added;
        let of_output = &mut self.outputs[output_port as usize].active;
        *of_output = *of_output & !removed | added;
    }

    /// Computes the time of an active virtual channel's next switch request, and returns it.
    #[inline(always)]
    pub(crate) fn set_next(&mut self, active_vc: usize) -> Tick {
        let ActiveVc { queue, input_port, output_port, held, again, needs_room, .. } =
            self.active_vcs[active_vc];
        let flits = &self.queues[queue as usize].flits;
        let mut next = NEVER;
        if !flits.is_empty() {
            let credit = match needs_room {
                true => self.vcs[held as usize].next_credit(&self.times),
                false => 0,
            };
            let came = flits.front(&self.times).max(again);
            let of_input = self.inputs[input_port as usize].free_at;
            let of_output = self.outputs[output_port as usize].soonest;
            next = came.max(credit).max(of_input).max(of_output);
        }
        self.request_times[active_vc] = next;
        next
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
        let port = self.ports.output_of(&self.router, output);
        let state = &mut self.state.queues[self.first_queue + queue];
        state.vc_state = VcState::Active;
        (state.output, state.vc, state.held) = (fitted!(output, u16), vc, fitted!(held, u32));
        let &mut FlitQueue { input, left, source, sequence, upstream, of_port, .. } = state;
        let input_port = self.router.first_input + u32::from(input);
        let output_port = self.router.first_output + fitted!(output, u32);
        let active_vc = ActiveVc {
            mark: Digest::mark(self.first_channel + output_port, source, sequence),
            queue: fitted!(self.first_queue + queue, u32),
            input_port,
            output_port,
            held: fitted!(held, u32),
            upstream: upstream.place,
            far: NONE,
            counted: output_port * self.rules.vcs + u32::from(vc),
            again,
            left,
            input,
            output: fitted!(output, u16),
            of_port,
            out_vc: vc,
            timing: port.timing,
            back: self.common.context.timing(upstream.timing).back,
            needs_room: port.needs_room,
            leaves: leaves(port),
            has_header: !leaves(port),
            injects: upstream.injects,
        };
        let FlitState { inputs, outputs, .. } = &*self.state;
        let sharing = inputs[input_port as usize].active | outputs[output_port as usize].active;
        if self.uncontended & sharing != 0 {
            self.advance_some(sharing, now);
        }
        let FlitState {
            vcs, inputs, outputs, queues, active_vcs, active_count, times, waits, ..
        } = &mut *self.state;
        let (of_input, of_output) =
            (&mut inputs[input_port as usize], &mut outputs[output_port as usize]);
        let flits = &queues[active_vc.queue as usize].flits;
        let vc = &mut vcs[held];
        (vc.free_at, vc.holder) = (NEVER, fitted!(queue, u32));
        let mut next = NEVER;
        if !flits.is_empty() {
            let credit = if port.needs_room { vc.next_credit(times) } else { 0 };
            let came = flits.front(times).max(again);
            next = came.max(credit).max(of_input.free_at).max(of_output.soonest);
        }
        let count = &mut active_count[self.number as usize];
        let number = usize::from(*count);
        *count += 1;
        let bit = if number < MASKED { 1 << number } else { 0 };
        of_input.active |= bit;
        of_output.active |= bit;
        of_input.senders += 1;
        of_output.senders += 1;
        of_output.waiting += u32::from(left);
        if let Some(waits) = waits {
            waits.waits_from(active_vc.queue as usize, again);
        }
        active_vcs[self.first_active_vc + number] = active_vc;
        self.state.request_times[self.first_active_vc + number] = next;
    }

    /// Removes active virtual channels whose last flit has been granted the switch.
    #[inline(always)]
    pub(crate) fn retire(&mut self) {
        if self.scratch.ended.len() > 1 {
            self.scratch.ended.sort_unstable();
        }
        // The last place first, so that the one that moves into a free place is none of these.
        while let Some(place) = self.scratch.ended.pop() {
            let place = place as usize;
            self.state.active_count[self.number as usize] -= 1;
            let last = self.active_vcs().end;
            self.state.note_places(place, 0, self.bit(place));
            if place < last {
                self.state.note_places(last, self.bit(place), self.bit(last));
                self.state.active_vcs[place] = self.state.active_vcs[last];
                self.state.request_times[place] = self.state.request_times[last];
                self.move_uncontended(last, place);
            }
        }
    }

    /// The bit of an active virtual channel in sets; 0 if it has none.
    #[inline(always)]
    pub(super) fn bit(&self, place: usize) -> u64 {
        let number = place - self.first_active_vc;
        if number < MASKED { 1 << number } else { 0 }
    }
}
