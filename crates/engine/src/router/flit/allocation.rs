//! The two allocations of an instant: separable ones, with rounds of offers and acceptances
//! (\[islip\]).

use super::FlitState;
use super::flit_queue::{FlitQueue, VcState};
use super::router_view::{FlitRouterView, MASKED};
use crate::arbitration::{self, Switch, SwitchCandidate, first_from, turn};
use crate::frame::tick::{NEVER, Tick};
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// Lists of an instant, kept to reuse their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Packets without a choice for which virtual channels of their output are open.
    vc_requests: Vec<VcRequest>,
    /// Open virtual channels of outputs, each with a queue that may take it.
    vc_candidates: Vec<(u32, u32)>,
    /// Offers: a virtual channel, and the queue that it is offered to.
    offers: Vec<(u32, u32)>,
    losers: Vec<u32>,
    /// Flits that take part in the switch allocation.
    pub candidates: Vec<SwitchCandidate>,
    /// Of these, the flits that get an offer; by output the place in this list, and by input port
    /// the place among the candidates.
    offered: Vec<u32>,
    of_output: Vec<u32>,
    of_input: Vec<u32>,
    /// Arrival times of flits that are handed over together.
    pub arrivals: Vec<Tick>,
    /// Queues that are due at the instant.
    pub due_queues: Vec<u32>,
    /// Active virtual channels whose last flit has been granted the switch.
    pub ended: Vec<u32>,
}

/// The request of a packet without a choice for a virtual channel of its output, with the open
/// ones.
#[derive(Clone, Copy, Debug)]
struct VcRequest {
    queue: u32,
    output: u32,
    open: u16,
}

impl Scratch {
    /// Lists for routers with up to this many ports and queues.
    pub(super) fn new(inputs: u16, outputs: u16, queues: u32) -> Self {
        let (of_input, of_output) = (vec![NONE; inputs.into()], vec![NONE; outputs.into()]);
        Self { of_input, of_output, due_queues: vec![NONE; queues as usize + 1], ..Self::default() }
    }

    /// Adds the request of a queue's packet for an output, of which some virtual channels are open.
    #[inline(always)]
    pub(super) fn add_vc_request(&mut self, queue: usize, output: u16, open: u16) {
        let queue = fitted!(queue, u32);
        self.vc_requests.push(VcRequest { queue, output: output.into(), open });
    }

    pub(super) fn add_vc_candidate(&mut self, vc: u32, queue: usize) {
        self.vc_candidates.push((vc, fitted!(queue, u32)));
    }

    pub(super) fn has_vc_requests(&self) -> bool {
        !self.vc_requests.is_empty() || !self.vc_candidates.is_empty()
    }
}

/// Whether flits may share an input port or an output. If it says no, none do.
#[inline(always)]
fn may_conflict(candidates: &[SwitchCandidate]) -> bool {
    let (mut inputs, mut outputs, mut clash) = (0_u64, 0_u64, 0);
    for candidate in candidates {
        let (input, output) = (1 << (candidate.input % 64), 1 << (candidate.output % 64));
        clash |= inputs & input | outputs & output;
        inputs |= input;
        outputs |= output;
    }
    clash != 0
}

/// The outputs, modulo 64 and a bit each, that several packets may ask for. All other outputs are
/// asked for by one packet at most.
#[inline(always)]
fn shared_outputs(vc_requests: &[VcRequest]) -> u64 {
    let (mut outputs, mut shared) = (0_u64, 0);
    for request in vc_requests {
        let output = 1 << (request.output % 64);
        shared |= outputs & output;
        outputs |= output;
    }
    shared
}

impl FlitRouterView<'_, '_> {
    /// Grants virtual channels to packets.
    #[inline]
    pub(super) fn allocate_vcs(&mut self, now: Tick) {
        let none_chooses = self.scratch.vc_candidates.is_empty();
        if none_chooses && let [VcRequest { queue, output, open }] = self.scratch.vc_requests[..] {
            self.scratch.vc_requests.clear();
            return self.accept_first(queue as usize, output, open, now);
        }
        let shared = shared_outputs(&self.scratch.vc_requests);
        for number in 0..self.scratch.vc_requests.len() {
            let VcRequest { queue, output, open } = self.scratch.vc_requests[number];
            if none_chooses && shared >> (output % 64) & 1 == 0 {
                self.accept_first(queue as usize, output, open, now);
                continue;
            }
            let mut left = open;
            while left != 0 {
                let vc = left.trailing_zeros();
                left &= left - 1;
                self.scratch.vc_candidates.push((output * self.rules.vcs + vc, queue));
            }
        }
        self.scratch.vc_requests.clear();
        if !self.scratch.vc_candidates.is_empty() {
            self.allocate_in_rounds(now);
        }
    }

    /// Grants a packet the open virtual channel of an output that comes first in its cyclic order.
    /// No other packet asks for that output.
    #[inline(always)]
    fn accept_first(&mut self, queue: usize, output: u32, open: u16, now: Tick) {
        let first = output * self.rules.vcs;
        let place = self.vc(output as usize, 0);
        let state = self.queue(queue);
        let accepts = u32::from(state.accepts).saturating_sub(first);
        let vc = first_from(open, accepts).expect("one is open");
        state.accepts = fitted!(first + vc, u16) + 1;
        let place = place + vc as usize;
        self.state.vcs[place].pointer = fitted!(queue, u16) + 1;
        self.give(queue, output as usize, fitted!(vc, u8), place, now);
    }

    /// Grants virtual channels in rounds of offers, where packets may compete or have a choice.
    fn allocate_in_rounds(&mut self, now: Tick) {
        let mut vc_candidates = std::mem::take(&mut self.scratch.vc_candidates);
        let mut offers = std::mem::take(&mut self.scratch.offers);
        let mut losers = std::mem::take(&mut self.scratch.losers);
        vc_candidates.sort_unstable();
        losers.clear();
        losers.extend(vc_candidates.iter().map(|candidate| candidate.1));
        for round in 0..self.rules.sharing.iterations {
            offers.clear();
            for of_vc in vc_candidates.chunk_by(|a, b| a.0 == b.0) {
                let (output, vc) = self.vc_of(of_vc[0].0);
                let place = self.vc(output, vc);
                let pointer = self.state.vcs[place].pointer;
                let first = of_vc.iter().min_by_key(|candidate| turn(candidate.1, pointer));
                offers.extend(first);
            }
            if offers.is_empty() {
                break;
            }
            offers.sort_unstable_by_key(|&(_, queue)| queue);
            for of_queue in offers.chunk_by(|a, b| a.1 == b.1) {
                let queue = of_queue[0].1 as usize;
                let vc = self.accepted(queue, of_queue.iter().map(|offer| offer.0), now);
                let (output, number) = self.vc_of(vc);
                let place = self.vc(output, number);
                if round == 0 {
                    self.state.vcs[place].pointer = fitted!(queue, u16) + 1;
                    self.queue(queue).accepts = fitted!(vc, u16) + 1;
                }
                self.give(queue, output, number, place, now);
                vc_candidates.retain(|&(other, loser)| other != vc && loser as usize != queue);
            }
        }
        losers.retain(|&queue| self.queue(queue as usize).vc_state == VcState::VcAlloc);
        for &queue in &losers {
            self.lose(queue as usize, now);
        }
        (self.scratch.vc_candidates, self.scratch.offers, self.scratch.losers) =
            (vc_candidates, offers, losers);
        self.scratch.vc_candidates.clear();
    }

    /// The output and the virtual channel there of a number that counts by output, then virtual
    /// channel.
    fn vc_of(&self, number: u32) -> (usize, u8) {
        ((number / self.rules.vcs) as usize, fitted!(number % self.rules.vcs, u8))
    }

    /// Grants a packet a virtual channel.
    #[inline(always)]
    fn give(&mut self, queue: usize, output: usize, vc: u8, place: usize, now: Tick) {
        self.withdraw(queue);
        if self.queue(queue).options != 0 {
            self.count_fallback(queue, output, vc);
        }
        let held = &mut self.state.vcs[place];
        (held.free_at, held.holder) = (NEVER, fitted!(queue, u32));
        let again = now + fitted!(self.rules.sharing.virtual_channel_allocation.0, Tick);
        let state = self.queue(queue);
        state.vc_state = VcState::Active;
        (state.output, state.vc) = (fitted!(output, u16), vc);
        state.held = fitted!(place, u32);
        let (input, flits) = (usize::from(state.input), state.left);
        if let Some(waits) = &mut self.state.waits {
            waits.waits_from(self.first_queue + queue, again);
        }
        self.join_senders((input, output), flits, now);
        self.counters.grants += 1;
        *self.latest = (*self.latest).max(self.time(now));
        self.activate(queue, again);
    }

    /// Handles a queue that took part in an allocation and was granted nothing.
    fn lose(&mut self, queue: usize, now: Tick) {
        let &mut FlitQueue { output, options, .. } = self.queue(queue);
        let again = now
            + match options {
                0 => self.crossbar(output.into()),
                _ => self.rules.longest_crossbar,
            };
        self.queue(queue).again = again;
        self.set_due(queue, again);
    }

    /// Grants the switch to flits that ask for it. In a round each output makes an offer to one
    /// flit, and each input port accepts one of its offers. The remaining flits that could still
    /// win take part in the next round. `due` says which of the first [`MASKED`] active virtual
    /// channels take part, a bit each.
    #[inline(never)]
    pub(super) fn allocate_switch(&mut self, due: u64, now: Tick) {
        self.scratch.candidates.clear();
        for number in bits(due) {
            let candidate = self.candidate(self.first_active_vc + number);
            self.scratch.candidates.push(candidate);
        }
        for place in self.active_vcs().skip(MASKED) {
            if self.state.switch_requests[place].next == now {
                let candidate = self.candidate(place);
                self.scratch.candidates.push(candidate);
            }
        }
        if may_conflict(&self.scratch.candidates) {
            return self.allocate_in_offers(now);
        }
        for number in 0..self.scratch.candidates.len() {
            let active_vc = self.scratch.candidates[number].active_vc;
            self.emit(active_vc as usize, true, now);
        }
    }

    /// Grants the switch in rounds of offers, where flits share ports.
    fn allocate_in_offers(&mut self, now: Tick) {
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let mut offered = std::mem::take(&mut self.scratch.offered);
        let mut of_output = std::mem::take(&mut self.scratch.of_output);
        let mut of_input = std::mem::take(&mut self.scratch.of_input);
        let number_of = |number: usize| fitted!(number, u32);
        for round in 0..self.rules.sharing.iterations {
            offered.clear();
            for (number, candidate) in candidates.iter().enumerate() {
                let place = of_output[candidate.output as usize];
                if place == NONE {
                    of_output[candidate.output as usize] = number_of(offered.len());
                    offered.push(number_of(number));
                } else {
                    let best = &mut offered[place as usize];
                    if self.is_offered(candidate, &candidates[*best as usize], now) {
                        *best = number_of(number);
                    }
                }
            }
            for &number in &offered {
                let candidate = &candidates[number as usize];
                let best = &mut of_input[candidate.input as usize];
                if *best == NONE || self.is_accepted(candidate, &candidates[*best as usize], now) {
                    *best = number;
                }
            }
            for &number in &offered {
                let candidate = &candidates[number as usize];
                let wins = of_input[candidate.input as usize] == number;
                of_output[candidate.output as usize] = if wins { number } else { NONE };
                if wins {
                    self.emit(candidate.active_vc as usize, round == 0, now);
                }
            }
            for (number, candidate) in candidates.iter_mut().enumerate() {
                let winner = of_input[candidate.input as usize];
                candidate.is_out = winner != NONE || of_output[candidate.output as usize] != NONE;
                if candidate.is_out && winner != number_of(number) {
                    self.yield_to_others(candidate.active_vc as usize, now);
                }
            }
            for &number in &offered {
                let candidate = &candidates[number as usize];
                of_input[candidate.input as usize] = NONE;
                of_output[candidate.output as usize] = NONE;
            }
            candidates.retain(|candidate| !candidate.is_out);
            if candidates.is_empty() {
                break;
            }
        }
        for candidate in &candidates {
            self.yield_to_others(candidate.active_vc as usize, now);
        }
        (self.scratch.of_output, self.scratch.of_input) = (of_output, of_input);
        (self.scratch.candidates, self.scratch.offered) = (candidates, offered);
    }

    /// Whether the first of two active virtual channels wins, if their flits share a port. Each is
    /// given as a set with one member.
    #[inline(always)]
    pub(super) fn first_wins(&self, one: u64, other: u64, now: Tick) -> Option<bool> {
        let place = |set: u64| self.first_active_vc + set.trailing_zeros() as usize;
        let (one, other) = (self.candidate(place(one)), self.candidate(place(other)));
        if one.output == other.output {
            Some(self.is_offered(&one, &other, now))
        } else if one.input == other.input {
            Some(self.is_accepted(&one, &other, now))
        } else {
            None
        }
    }

    /// Whether an output makes its offer to one flit rather than to another.
    #[inline(always)]
    fn is_offered(&self, one: &SwitchCandidate, other: &SwitchCandidate, now: Tick) -> bool {
        let switch = self.switch(now);
        arbitration::is_offered(self.rules.arbitration, &switch, (one, other))
    }

    /// Whether an input port accepts the offer to one of its flits rather than that to another.
    #[inline(always)]
    fn is_accepted(&self, one: &SwitchCandidate, other: &SwitchCandidate, now: Tick) -> bool {
        let switch = self.switch(now);
        arbitration::is_accepted(self.rules.arbitration, &switch, (one, other))
    }

    /// The router at an instant, as arbitrations see it.
    #[inline(always)]
    fn switch(&self, now: Tick) -> Switch<'_> {
        let FlitState { inputs, outputs, priorities, active_vcs, queues, .. } = &*self.state;
        Switch {
            sharing: &self.rules.sharing,
            vc_map: &self.context.vc_map,
            time: self.time(now),
            router: self.name,
            transit: self.router.transit.into(),
            first_input: self.router.first_input,
            first_output: self.router.first_output,
            inputs,
            outputs,
            priorities,
            active_vcs,
            queues,
        }
    }
}
