//! Switch allocation: the first stage of each flit of an active virtual channel, which asks for its
//! output until it is granted the switch.
//!
//! The allocation is separable: in rounds, each output is offered to one flit, and each input port
//! accepts one of its offers (\[islip\]). Arbitrations decide which.

use super::FlitState;
use super::active_vc::{ActiveVc, SwitchRequest};
use super::router_view::{FlitRouterView, MASKED};
use crate::arbitration::{Switch, SwitchCandidate};
use crate::frame::tick::Tick;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

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

impl FlitRouterView<'_, '_> {
    /// Lets the next flits of active virtual channels that are due at `now` ask for the switch.
    /// `due` has a bit for each of the first [`MASKED`].
    #[inline(always)]
    pub(super) fn send(&mut self, due: u64, now: Tick) {
        let others = due & due.wrapping_sub(1);
        let are_few = due != 0 && others & others.wrapping_sub(1) == 0;
        if !are_few || self.active_vcs().len() > MASKED {
            return self.allocate_switch(due, now);
        }
        let (mut winners, mut losers) = (due, 0);
        if others != 0
            && let Some(first_wins) = self.first_wins(due ^ others, others, now)
        {
            (winners, losers) =
                if first_wins { (due ^ others, others) } else { (others, due ^ others) };
        }
        for number in bits(winners) {
            self.emit(self.first_active_vc + number, true, now);
        }
        for number in bits(losers) {
            self.yield_to_others(self.first_active_vc + number, now);
        }
    }

    /// The next flit of an active virtual channel, as a candidate for the switch.
    #[inline(always)]
    pub(super) fn candidate(&self, place: usize) -> SwitchCandidate {
        let SwitchRequest { input, output, .. } = self.state.switch_requests[place];
        let ActiveVc { of_port, out_vc, .. } = self.state.active_vcs[place];
        let active_vc = fitted!(place, u32);
        let (input, output, of_port) = (input.into(), output.into(), of_port.into());
        SwitchCandidate { active_vc, input, output, of_port, out_vc, is_out: false }
    }

    /// Handles a flit that took part in an allocation and was not granted the switch.
    #[inline(always)]
    pub(super) fn yield_to_others(&mut self, place: usize, now: Tick) {
        let active_vc = &mut self.state.active_vcs[place];
        let again = now + self.rules.paces[usize::from(active_vc.timing)].crossbar;
        active_vc.again = again;
        let next = &mut self.state.switch_requests[place].next;
        *next = again.max(*next);
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
                    if self.switch(now).is_offered(candidate, &candidates[*best as usize]) {
                        *best = number_of(number);
                    }
                }
            }
            for &number in &offered {
                let candidate = &candidates[number as usize];
                let best = &mut of_input[candidate.input as usize];
                if *best == NONE
                    || self.switch(now).is_accepted(candidate, &candidates[*best as usize])
                {
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
            Some(self.switch(now).is_offered(&one, &other))
        } else if one.input == other.input {
            Some(self.switch(now).is_accepted(&one, &other))
        } else {
            None
        }
    }

    /// The router at an instant, as arbitrations see it.
    #[inline(always)]
    fn switch(&self, now: Tick) -> Switch<'_> {
        let FlitState { inputs, outputs, priorities, active_vcs, queues, .. } = &*self.state;
        Switch {
            arbitration: self.rules.arbitration,
            sharing: &self.rules.sharing,
            vc_map: &self.common.context.vc_map,
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
