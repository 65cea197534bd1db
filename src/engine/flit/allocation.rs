//! The two allocations of an instant: separable ones, with rounds of offers and acceptances (McKeown, "The iSLIP
//! Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Transactions on Networking 7(2), 1999).

use super::queue::{Queue, Stage};
use super::sending::Member;
use super::turn;
use super::visit::FlitVisit;
use crate::engine::Arbitration;
use crate::engine::tick::{NEVER, Tick};
use crate::narrow::fitted;

/// Lists of an instant, kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Lanes of outputs and the queues to which they are open.
    asks: Vec<(u32, u32)>,
    /// Offers: a lane, and the queue.
    offers: Vec<(u32, u32)>,
    losers: Vec<u32>,
    /// Flits that take part in the switch allocation.
    wants: Vec<Want>,
    offered: Vec<Want>,
    winners: Vec<Want>,
    /// Queues that share an output.
    pub members: Vec<Member>,
    /// The router's queues that are due before its end, or were, and the set of them.
    active: Vec<u32>,
    listed: Vec<u64>,
}

/// A flit that asks for the switch.
#[derive(Clone, Copy, Debug)]
struct Want {
    queue: u32,
    input: u32,
    output: u32,
}

impl Scratch {
    pub(super) fn clear(&mut self) {
        self.asks.clear();
        self.wants.clear();
    }

    /// Lists the queues that are due before `until`.
    pub(super) fn gather(&mut self, due: &[Tick], until: Tick) {
        self.active.clear();
        self.listed.clear();
        self.listed.resize(due.len().div_ceil(64), 0);
        for (queue, _) in due.iter().enumerate().filter(|(_, due)| **due < until) {
            self.activate(queue);
        }
    }

    /// Puts a queue into the list.
    #[inline(always)]
    pub(super) fn activate(&mut self, queue: usize) {
        let word = &mut self.listed[queue / 64];
        let bit = 1 << (queue % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.active.push(fitted!(queue, u32));
        }
    }

    #[inline(always)]
    pub(super) fn active(&self) -> &[u32] {
        &self.active
    }

    /// Takes queues out of the list for which `stays` is false.
    #[inline(always)]
    pub(super) fn retain_active(&mut self, mut stays: impl FnMut(u32) -> bool) {
        let mut place = 0;
        while let Some(&queue) = self.active.get(place) {
            if stays(queue) {
                place += 1;
            } else {
                self.active.swap_remove(place);
                self.listed[queue as usize / 64] &= !(1 << (queue % 64));
            }
        }
    }

    pub(super) fn add_ask(&mut self, lane: u32, queue: usize) {
        self.asks.push((lane, fitted!(queue, u32)));
    }

    pub(super) fn has_asks(&self) -> bool {
        !self.asks.is_empty()
    }

    pub(super) fn has_wants(&self) -> bool {
        !self.wants.is_empty()
    }
}

impl FlitVisit<'_, '_> {
    /// Gives virtual channels to packets.
    pub(super) fn allocate_lanes(&mut self, now: Tick) {
        let mut asks = std::mem::take(&mut self.scratch.asks);
        let mut offers = std::mem::take(&mut self.scratch.offers);
        let mut losers = std::mem::take(&mut self.scratch.losers);
        asks.sort_unstable();
        losers.clear();
        losers.extend(asks.iter().map(|ask| ask.1));
        for round in 0..self.rules.sharing.iterations {
            offers.clear();
            for of_lane in asks.chunk_by(|a, b| a.0 == b.0) {
                let (output, lane) = self.lane_of(of_lane[0].0);
                let place = self.lane(output, lane);
                let pointer = self.state.lanes[place].pointer;
                let first = of_lane.iter().min_by_key(|ask| turn(ask.1, pointer));
                offers.extend(first);
            }
            if offers.is_empty() {
                break;
            }
            offers.sort_unstable_by_key(|&(_, queue)| queue);
            for of_queue in offers.chunk_by(|a, b| a.1 == b.1) {
                let queue = of_queue[0].1 as usize;
                let lane = self.accepted(queue, of_queue.iter().map(|offer| offer.0), now);
                let (output, number) = self.lane_of(lane);
                let place = self.lane(output, number);
                if round == 0 {
                    self.state.lanes[place].pointer = fitted!(queue, u16) + 1;
                    self.queue(queue).accepts = fitted!(lane, u16) + 1;
                }
                self.give(queue, output, number, place, now);
                asks.retain(|&(other, asker)| other != lane && asker as usize != queue);
            }
        }
        losers.retain(|&queue| self.queue(queue as usize).stage == Stage::Asking);
        for &queue in &losers {
            self.lose(queue as usize, now);
        }
        (self.scratch.asks, self.scratch.offers, self.scratch.losers) = (asks, offers, losers);
        self.scratch.asks.clear();
    }

    /// An output and its lane, of their number among a router's.
    fn lane_of(&self, number: u32) -> (usize, u8) {
        ((number / self.rules.lanes) as usize, fitted!(number % self.rules.lanes, u8))
    }

    /// Gives a packet a virtual channel.
    fn give(&mut self, queue: usize, output: usize, lane: u8, place: usize, now: Tick) {
        self.withdraw(queue);
        let held = &mut self.state.lanes[place];
        (held.free_at, held.holder) = (NEVER, fitted!(queue, u32));
        let again = now + fitted!(self.rules.sharing.virtual_channel_allocation, Tick);
        let state = self.queue(queue);
        state.stage = Stage::Sending;
        (state.output, state.lane, state.again) = (fitted!(output, u16), lane, again);
        self.counters.grants += 1;
        *self.latest = (*self.latest).max(self.time(now));
        self.want(queue, now);
    }

    /// A queue has taken part in an allocation in vain.
    fn lose(&mut self, queue: usize, now: Tick) {
        let output = usize::from(self.queue(queue).output);
        let again = now + self.crossbar(output);
        self.queue(queue).again = again;
        self.set_due(queue, again);
    }

    /// Lets the flit at the head of a queue take part in the switch allocation if it can; else says when it may.
    pub(super) fn want(&mut self, queue: usize, now: Tick) {
        let (input, _) = self.place(queue);
        let state = self.first_queue + queue;
        let Queue { flits, again, output, lane, .. } = self.state.queues[state];
        if flits.is_empty() {
            // It is looked at when the next one comes.
            return self.set_due(queue, NEVER);
        }
        let number = usize::from(output);
        let mut soonest = again.max(flits.front(&self.state.times));
        let taken = self.output(number);
        let (free_at, line) = (taken.free_at, taken.line);
        let port = self.port(number);
        let flit = self.whole.timing(port.kind).flit;
        let waits = self.rules.crossing + self.rules.sharing.output_buffer * flit;
        let needs_room = port.needs_room;
        let busy = free_at.max(line.saturating_sub(waits)).max(self.input(input).free_at);
        soonest = soonest.max(busy);
        if soonest > now {
            return self.set_due(queue, soonest);
        }
        if needs_room {
            let place = self.lane(number, lane);
            let held = &mut self.state.lanes[place];
            if !held.has_room(1, now, &self.state.times) {
                let foreseen = held.foresee(1, &self.state.times);
                return self.set_due(queue, foreseen);
            }
        }
        let want = self.wish(queue);
        self.scratch.wants.push(want);
    }

    /// A queue's flit as one that asks for the switch.
    #[inline(always)]
    fn wish(&mut self, queue: usize) -> Want {
        let (input, _) = self.place(queue);
        Want {
            queue: fitted!(queue, u32),
            input: fitted!(input, u32),
            output: u32::from(self.queue(queue).output),
        }
    }

    /// Gives the switch to flits.
    pub(super) fn allocate_switch(&mut self, now: Tick) {
        let mut wants = std::mem::take(&mut self.scratch.wants);
        let mut winners = std::mem::take(&mut self.scratch.winners);
        let mut offered = std::mem::take(&mut self.scratch.offered);
        winners.clear();
        wants.sort_unstable_by_key(|want| (want.output, want.queue));
        for round in 0..self.rules.sharing.iterations {
            let already = winners.len();
            offered.clear();
            for of_output in wants.chunk_by(|a, b| a.output == b.output) {
                let mut best: Option<&Want> = None;
                for want in of_output {
                    if best.is_none_or(|best| self.is_offered(want, best)) {
                        best = Some(want);
                    }
                }
                offered.extend(best);
            }
            for (place, want) in offered.iter().enumerate() {
                let rivals = offered.iter().enumerate();
                let mut rivals = rivals.filter(|(_, it)| it.input == want.input);
                let accepts =
                    rivals.all(|(other, rival)| other == place || self.is_accepted(want, rival));
                if accepts {
                    winners.push(*want);
                }
            }
            for place in already..winners.len() {
                let Want { queue, input, output } = winners[place];
                let (of_port, lane) =
                    (self.in_port(&winners[place]), self.queue(queue as usize).lane);
                let (output, first) = (output as usize, round == 0);
                self.win(output, (input, of_port), lane, first);
            }
            if winners.len() == already {
                break;
            }
            let won = &winners[already..];
            wants.retain(|want| {
                let is_out = |it: &Want| it.input == want.input || it.output == want.output;
                !won.iter().any(is_out) || {
                    if !won.iter().any(|it| it.queue == want.queue) {
                        self.lose(want.queue as usize, now);
                    }
                    false
                }
            });
        }
        for want in &wants {
            self.lose(want.queue as usize, now);
        }
        for winner in &winners {
            self.send(winner.queue as usize, now);
        }
        (self.scratch.wants, self.scratch.winners, self.scratch.offered) =
            (wants, winners, offered);
    }

    /// Whether an output makes its offer to one flit rather than to another.
    fn is_offered(&mut self, one: &Want, other: &Want) -> bool {
        let pointer = self.output(one.output as usize).pointer;
        let transit = u32::from(self.router.transit);
        match self.rules.arbitration {
            Arbitration::RoundRobin => self.in_turn(one, pointer) < self.in_turn(other, pointer),
            Arbitration::TransitFirst => {
                (one.input >= transit, self.in_turn(one, pointer))
                    < (other.input >= transit, self.in_turn(other, pointer))
            }
            Arbitration::OldestFirst => self.age(one.queue) < self.age(other.queue),
            Arbitration::Weighted => {
                let (one, other) = (self.onto(one), self.onto(other));
                turn(one, pointer) < turn(other, pointer)
            }
        }
    }

    /// The lane that a flit's packet has at its output.
    fn onto(&mut self, want: &Want) -> u32 {
        self.queue(want.queue as usize).lane.into()
    }

    /// The place of a flit in an output's cyclic order of input ports and their queues.
    fn in_turn(&mut self, want: &Want, pointer: u16) -> ((bool, u32), (bool, u32)) {
        let of_port = self.input(want.input as usize).pointer;
        (turn(want.input, pointer), turn(self.in_port(want), of_port))
    }

    /// The number of a flit's queue among those of its input port.
    fn in_port(&self, want: &Want) -> u32 {
        want.queue - want.input * (self.rules.outputs << self.rules.shift)
    }

    /// Less of a queue whose packet was created before.
    pub(super) fn age(&mut self, queue: u32) -> (u64, u32, u32) {
        let queue = self.queue(queue as usize);
        (queue.created, queue.source, queue.sequence)
    }

    /// Whether an input port accepts the offer to one of its flits rather than to another.
    fn is_accepted(&mut self, one: &Want, other: &Want) -> bool {
        match self.rules.arbitration {
            Arbitration::OldestFirst => self.age(one.queue) < self.age(other.queue),
            _ => {
                let accepts = self.input(one.input as usize).accepts;
                turn(one.output, accepts) < turn(other.output, accepts)
            }
        }
    }

    /// Moves the pointers behind a flit that wins, of a queue of an input port.
    #[inline(always)]
    pub(super) fn win(
        &mut self,
        output: usize,
        (input, of_port): (u32, u32),
        lane: u8,
        first_round: bool,
    ) {
        let port = self.input(input as usize);
        port.pointer = fitted!(of_port, u16) + 1;
        if first_round {
            port.accepts = fitted!(output, u16) + 1;
        }
        if self.rules.arbitration == Arbitration::Weighted {
            self.take_turn(output, lane.into());
        } else if first_round {
            self.output(output).pointer = fitted!(input, u16) + 1;
        }
    }

    /// Counts a flit of a lane's turn.
    fn take_turn(&mut self, output: usize, lane: u16) {
        let next = (lane + 1) % fitted!(self.rules.lanes, u16);
        let (whole, whole_of_next) =
            (self.rules.weight(lane.into()), self.rules.weight(next.into()));
        let output = self.output(output);
        if output.pointer != lane {
            (output.pointer, output.turn) = (lane, whole);
        }
        output.turn -= 1;
        if output.turn == 0 {
            (output.pointer, output.turn) = (next, whole_of_next);
        }
    }
}
