//! The two allocations of an instant: separable ones, with rounds of offers and acceptances (McKeown, "The iSLIP
//! Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Transactions on Networking 7(2), 1999).

use super::queue::Stage;
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
    /// When flits are there that a terminal sends.
    pub arrivals: Vec<Tick>,
    /// Queues that send, the first so many; the others are kept for their memory.
    pub members: Vec<Member>,
    pub used: usize,
    /// The router's other queues that are due before its end, or were, and the set of them.
    active: Vec<u32>,
    listed: Vec<u64>,
}

/// A flit that asks for the switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub queue: u32,
    pub input: u32,
    pub output: u32,
    /// The queue's number among those of its input port.
    pub of_port: u32,
    /// The lane that its packet has at the output.
    pub onto: u8,
    /// Its place in the list of members.
    pub member: u32,
}

impl Scratch {
    pub(super) fn clear(&mut self) {
        self.asks.clear();
        self.wants.clear();
    }

    /// Begins with a router of so many queues, none of which is in a list.
    pub(super) fn start(&mut self, queues: usize) {
        self.active.clear();
        self.listed.clear();
        self.listed.resize(queues.div_ceil(64), 0);
        self.used = 0;
    }

    /// The queues that send.
    #[inline(always)]
    pub(super) fn members(&self) -> &[Member] {
        &self.members[..self.used]
    }

    #[inline(always)]
    pub(super) fn member(&mut self, place: usize) -> &mut Member {
        &mut self.members[place]
    }

    /// A new member, as an earlier one has left it but for what it had sent.
    pub(super) fn new_member(&mut self) -> &mut Member {
        if self.used == self.members.len() {
            self.members.push(Member::default());
        }
        self.used += 1;
        let member = &mut self.members[self.used - 1];
        member.forget();
        member
    }

    /// Takes a member out of the list; the last one takes its place.
    pub(super) fn remove_member(&mut self, place: usize) {
        self.used -= 1;
        self.members.swap(place, self.used);
    }

    pub(super) fn add_want(&mut self, want: Want) {
        self.wants.push(want);
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
        *self.due(queue) = now;
        self.add_member(queue);
        // It is among the members now.
        *self.due(queue) = NEVER;
    }

    /// A queue has taken part in an allocation in vain.
    fn lose(&mut self, queue: usize, now: Tick) {
        let output = usize::from(self.queue(queue).output);
        let again = now + self.crossbar(output);
        self.queue(queue).again = again;
        self.set_due(queue, again);
    }

    /// Gives the switch to flits.
    pub(super) fn allocate_switch(&mut self, now: Tick) {
        if let [want] = self.scratch.wants[..] {
            return self.emit(want.member as usize, now, true);
        }
        let mut wants = std::mem::take(&mut self.scratch.wants);
        let mut winners = std::mem::take(&mut self.scratch.winners);
        let mut offered = std::mem::take(&mut self.scratch.offered);
        winners.clear();
        wants.sort_unstable_by_key(|want| (want.output, want.queue));
        for round in 0..self.rules.sharing.iterations {
            let already = winners.len();
            offered.clear();
            for of_output in wants.chunk_by(|a, b| a.output == b.output) {
                let mut best = &of_output[0];
                for want in &of_output[1..] {
                    if self.is_offered(want, best) {
                        best = want;
                    }
                }
                offered.push(*best);
            }
            for (place, want) in offered.iter().enumerate() {
                let mut rivals = offered.iter().enumerate();
                let accepts = rivals.all(|(other, rival)| {
                    other == place || rival.input != want.input || self.is_accepted(want, rival)
                });
                if accepts {
                    winners.push(*want);
                }
            }
            if winners.len() == already {
                break;
            }
            for winner in &winners[already..] {
                let &Want { input, output, of_port, onto, .. } = winner;
                self.win(output as usize, (input, of_port), onto, round == 0);
            }
            let won = &winners[already..];
            wants.retain(|want| {
                let is_out = |it: &Want| it.input == want.input || it.output == want.output;
                if !won.iter().any(is_out) {
                    return true;
                }
                if !won.iter().any(|it| it.queue == want.queue) {
                    self.yield_to_others(want.member as usize, now);
                }
                false
            });
        }
        for want in &wants {
            self.yield_to_others(want.member as usize, now);
        }
        // The last of the list first: a packet that ends gives its place in it to the last.
        winners.sort_unstable_by_key(|want| std::cmp::Reverse(want.member));
        for winner in &winners {
            self.emit(winner.member as usize, now, false);
        }
        (self.scratch.wants, self.scratch.winners, self.scratch.offered) =
            (wants, winners, offered);
    }

    /// Whether an output makes its offer to one flit rather than to another.
    #[inline(always)]
    pub(super) fn is_offered(&mut self, one: &Want, other: &Want) -> bool {
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
                turn(one.onto.into(), pointer) < turn(other.onto.into(), pointer)
            }
        }
    }

    /// The place of a flit in an output's cyclic order of input ports and their queues.
    fn in_turn(&mut self, want: &Want, pointer: u16) -> ((bool, u32), (bool, u32)) {
        let of_port = self.input(want.input as usize).pointer;
        (turn(want.input, pointer), turn(want.of_port, of_port))
    }

    /// Less of a queue whose packet was created before.
    fn age(&mut self, queue: u32) -> (u64, u32, u32) {
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
