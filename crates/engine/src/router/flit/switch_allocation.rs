//! Switch allocation: the first stage of each flit of an active virtual channel, which asks for its
//! output until it is granted the switch.
//!
//! The allocation is separable: in rounds, each output is offered to one flit, and each input port
//! accepts one of its offers (\[islip\]). Arbitrations decide which.

use super::FlitState;
use super::flit_queue::FlitQueue;
use super::router_view::{FlitRouterView, MASKED};
use crate::arbitration::{InputTurn, OutputTurn, Switch, SwitchCandidate, Turns};
use crate::frame::tick::Tick;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

impl Turns for FlitState {
    #[inline(always)]
    fn of_input(&self, input: usize) -> InputTurn {
        self.inputs[input].turn
    }

    #[inline(always)]
    fn of_output(&self, output: usize) -> OutputTurn {
        self.outputs[output].turn
    }

    #[inline(always)]
    fn age(&self, queue: u32) -> (Picoseconds, u32, u32) {
        let FlitQueue { created, source, sequence, .. } = self.queues[queue as usize];
        (created, source, sequence)
    }
}

impl FlitRouterView<'_, '_> {
    /// Lets the next flits of active virtual channels that are due at `now` ask for the switch.
    /// `due` has a bit for each of the first [`MASKED`].
    #[inline(always)]
    pub(super) fn send<const RESENDS: bool>(&mut self, due: u64, now: Tick) {
        if self.active_vcs().len() > MASKED {
            return self.allocate_among_many::<RESENDS>(now);
        }
        let (mut winners, mut later) = (due, 0);
        if due & (due - 1) != 0 {
            (winners, later) = self.allocate_switch(due, now);
            for number in bits(due ^ winners) {
                self.yield_to_others(self.first_active_vc + number, now);
            }
        }
        // The last place first: one whose packet ends is filled with the last of all.
        while winners != 0 {
            let number = winners.ilog2();
            winners ^= 1 << number;
            let place = self.first_active_vc + number as usize;
            if self.emit::<RESENDS>(place, later >> number & 1 == 0, now) && !RESENDS {
                self.leave_alone(place);
            }
        }
    }

    /// The place of the first member of a set of active virtual channels.
    #[inline(always)]
    pub(super) fn first_of(&self, set: u64) -> usize {
        self.first_active_vc + set.trailing_zeros() as usize
    }

    /// The active virtual channels that share an input port or an output with the first of a set,
    /// itself included.
    #[inline(always)]
    pub(super) fn sharing_ports(&self, set: u64) -> u64 {
        self.state.sharing_ports(self.state.active_vcs[self.first_of(set)] as usize)
    }

    /// Grants the switch to flits that ask for it. Returns those that win, and of these the ones
    /// that do not win in the first round of offers.
    #[inline(never)]
    fn allocate_switch(&self, due: u64, now: Tick) -> (u64, u64) {
        // Flits that share no port with another one win.
        let (mut winners, mut left) = (0, due);
        while left != 0 {
            let one = left & left.wrapping_neg();
            let rivals = self.sharing_ports(one) & left ^ one;
            if rivals == 0 {
                winners |= one;
            } else if rivals & (rivals - 1) == 0
                && self.sharing_ports(rivals) & left == one | rivals
            {
                winners |= if self.first_wins(one, rivals, now) { one } else { rivals };
            } else {
                let (others, later) = self.allocate_in_offers(left, now);
                return (winners | others, later);
            }
            left ^= one | rivals;
        }
        (winners, 0)
    }

    /// Grants the switch in rounds of offers, where flits share ports. In a round each output makes
    /// an offer to one flit, and each input port accepts one of its offers. The remaining flits
    /// that could still win take part in the next round.
    fn allocate_in_offers(&self, some: u64, now: Tick) -> (u64, u64) {
        let (mut first, mut winners, mut open) = (0, 0, some);
        for round in 0..self.rules.sharing.iterations {
            let (mut offers, mut accepted) = (0, 0);
            let mut left = open;
            while left != 0 {
                let of_output = self.active_queue(self.first_of(left)).output_port;
                let rivals = self.state.outputs[of_output as usize].active & left;
                left ^= rivals;
                offers |= self.best(rivals, |one, other| self.switch(now).is_offered(one, other));
            }
            while offers != 0 {
                let of_input = self.active_queue(self.first_of(offers)).input_port;
                let rivals = self.state.inputs[of_input as usize].active & offers;
                offers ^= rivals;
                let best = self.best(rivals, |one, other| self.switch(now).is_accepted(one, other));
                accepted |= best;
                open &= !self.sharing_ports(best);
            }
            winners |= accepted;
            if round == 0 {
                first = accepted;
            }
            if open == 0 {
                break;
            }
        }
        (winners, winners ^ first)
    }

    /// The flit that comes before all others of a set, as a set.
    #[inline(always)]
    fn best(
        &self,
        set: u64,
        comes_before: impl Fn(&SwitchCandidate, &SwitchCandidate) -> bool,
    ) -> u64 {
        let others = set & (set - 1);
        let mut best = set ^ others;
        if others != 0 {
            let mut first = self.candidate(self.first_of(best));
            for number in bits(others) {
                let candidate = self.candidate(self.first_active_vc + number);
                if comes_before(&candidate, &first) {
                    (first, best) = (candidate, 1 << number);
                }
            }
        }
        best
    }

    /// The next flit of an active virtual channel, as a candidate for the switch.
    #[inline(always)]
    pub(super) fn candidate(&self, place: usize) -> SwitchCandidate {
        let queue = self.state.active_vcs[place];
        let FlitQueue { input, output, of_port, vc, .. } = self.state.queues[queue as usize];
        let (input, output, of_port) = (input.into(), output.into(), of_port.into());
        SwitchCandidate { queue, input, output, of_port, out_vc: vc, is_out: false }
    }

    /// The place of a candidate's active virtual channel.
    fn place_of(&self, candidate: &SwitchCandidate) -> usize {
        self.state.queues[candidate.queue as usize].active as usize
    }

    /// Handles a flit that took part in an allocation and was not granted the switch.
    #[inline(always)]
    pub(super) fn yield_to_others(&mut self, place: usize, now: Tick) {
        let queue = &mut self.state.queues[self.state.active_vcs[place] as usize];
        let again = now + self.rules.paces[usize::from(queue.timing)].crossbar;
        queue.again = again;
        let next = &mut self.state.request_times[place];
        *next = again.max(*next);
    }

    /// Grants the switch in rounds of offers, where so many active virtual channels are due or not
    /// that they have no bits.
    #[cold]
    fn allocate_among_many<const RESENDS: bool>(&mut self, now: Tick) {
        self.scratch.candidates.clear();
        for place in self.active_vcs() {
            if self.state.request_times[place] == now {
                let candidate = self.candidate(place);
                self.scratch.candidates.push(candidate);
            }
        }
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
                    self.emit::<RESENDS>(self.place_of(candidate), round == 0, now);
                }
            }
            for (number, candidate) in candidates.iter_mut().enumerate() {
                let winner = of_input[candidate.input as usize];
                candidate.is_out = winner != NONE || of_output[candidate.output as usize] != NONE;
                if candidate.is_out && winner != number_of(number) {
                    self.yield_to_others(self.place_of(candidate), now);
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
            self.yield_to_others(self.place_of(candidate), now);
        }
        (self.scratch.of_output, self.scratch.of_input) = (of_output, of_input);
        (self.scratch.candidates, self.scratch.offered) = (candidates, offered);
    }

    /// Whether the first of two active virtual channels wins, whose flits share a port. Each is
    /// given as a set with one member.
    #[inline(always)]
    pub(super) fn first_wins(&self, one: u64, other: u64, now: Tick) -> bool {
        let (one, other) = (self.first_of(one), self.first_of(other));
        let (one, other) = (self.candidate(one), self.candidate(other));
        if one.output == other.output {
            self.switch(now).is_offered(&one, &other)
        } else {
            self.switch(now).is_accepted(&one, &other)
        }
    }

    /// The router at an instant, as arbitrations see it.
    #[inline(always)]
    fn switch(&self, now: Tick) -> Switch<'_, FlitState> {
        let turns = &*self.state;
        Switch {
            arbitration: self.rules.arbitration,
            sharing: &self.rules.sharing,
            vc_map: &self.common.context.vc_map,
            time: self.time(now),
            router: self.name,
            transit: self.router.transit.into(),
            first_input: self.router.first_input,
            first_output: self.router.first_output,
            priorities: &turns.priorities,
            turns,
        }
    }
}
