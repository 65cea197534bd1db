//! Sending: what flits that win the switch bring about.
//!
//! Packets that have a virtual channel are members of a list while their router is in hand. Members that share an input
//! port or an output, directly or through others, are a company: what its flits do concerns nobody else, until a packet
//! ends or another joins the company. So a company is left behind, and catches up when either happens: in one go, with
//! nothing but its own members to look at. What flits bring about elsewhere is written down when their packet ends, or
//! the router is left.

use super::arrivals::{ReturnedRun, SentRun};
use super::member::{Feeder, Member, Rival};
use super::queue::{Queue, Stage};
use super::visit::FlitVisit;
use super::{Output, Rules};
use crate::engine::sink::Delivery;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::whole::Timing;
use crate::engine::{Arbitration, ChannelKind, ports};
use crate::narrow::fitted;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// How fast a channel takes flits, and how far a router may run ahead of it.
#[derive(Clone, Copy)]
struct Pace {
    crossing: Tick,
    crossbar: Tick,
    flit: Tick,
    /// From a win to when its channel is free at the latest.
    waits: Tick,
    /// From when a flit would go onto the channel, were there no crossbar to pass, to when it is at the far end.
    forward: Tick,
}

impl Pace {
    #[inline(always)]
    fn new(rules: &Rules, timing: &Timing, kind: ChannelKind) -> Self {
        let &Timing { flit, forward, .. } = timing;
        let crossing = rules.crossing;
        let waits = crossing + rules.sharing.output_buffer * flit;
        let crossbar = rules.crossbar[kind as usize];
        Self { crossing, crossbar, flit, waits, forward: forward - crossing }
    }

    /// A flit wins at `now`: when it is at the far end.
    #[inline(always)]
    fn pass(&self, now: Tick, free_at: &mut Tick, output: &mut Output) -> Tick {
        let starts = output.line.max(now + self.crossing);
        output.line = starts + self.flit;
        output.soonest = (now + self.crossbar).max(output.line.saturating_sub(self.waits));
        *free_at = now + self.crossbar;
        starts + self.forward
    }
}

impl FlitVisit<'_, '_> {
    /// Puts a queue into the list whose packet has a lane. From `now` on it is of the company of those who share its
    /// input port or its output.
    pub(super) fn add_member(&mut self, queue: usize, now: Tick) {
        let (input, lane) = self.place(queue);
        let Queue { output, lane: onto, left, source, sequence, again, flits, .. } =
            *self.queue(queue);
        let held = self.lane(usize::from(output), onto);
        let back = self.feeder(input, lane);
        let &ports::Output { kind, needs_room, .. } = self.port(usize::from(output));
        // It may be due before its next flit is there: it is looked at when a credit comes.
        let ready = match flits.is_empty() {
            true => NEVER,
            false => flits.front(&self.state.times).max(*self.due(queue)).max(again),
        };
        let ports = self.rules.outputs << self.rules.shift;
        let (input, output) = (fitted!(input, u32), u32::from(output));
        for place in 0..self.scratch.members.len() {
            let other = &self.scratch.members[place];
            if other.shares(input, output) && self.soonest(other) < now {
                self.catch_up(place, now);
            }
        }
        let member = self.scratch.members.add();
        member.queue = fitted!(queue, u32);
        (member.input, member.output) = (input, output);
        member.of_port = member.queue - member.input * ports;
        (member.lane, member.onto, member.held) = (lane, onto, fitted!(held, u32));
        (member.kind, member.needs_room) = (kind, needs_room);
        (member.ready, member.again, member.left) = (ready, again, left);
        (member.source, member.sequence, member.back) = (source, sequence, back);
        self.set_bound(self.scratch.members.len() - 1);
    }

    /// The least of the members' bounds, and whose it is.
    #[inline(always)]
    pub(super) fn first_bound(&self) -> (Tick, usize) {
        let bounds = self.scratch.members.iter().zip(0..);
        let least = |a: (Tick, usize), b: (Tick, usize)| if b.0 < a.0 { b } else { a };
        bounds.map(|(member, place)| (member.bound, place)).fold((NEVER, 0), least)
    }

    #[inline(always)]
    fn set_bound(&mut self, place: usize) {
        let member = &self.scratch.members[place];
        let flits = &self.state.queues[self.first_queue + member.queue as usize].flits;
        let crossbar = self.rules.crossbar[member.kind as usize];
        let next = self.soonest(member);
        let bound = member.bound(next, crossbar, (flits, self.state), self.until);
        self.scratch.members[place].bound = bound;
    }

    /// When a member's next flit can win, if it has a credit.
    #[inline(always)]
    fn soonest(&self, member: &Member) -> Tick {
        let input = &self.state.inputs[(self.router.first_input + member.input) as usize];
        let output = &self.state.outputs[(self.router.first_output + member.output) as usize];
        member.ready.max(input.free_at).max(output.soonest)
    }

    /// Lets all members send before `until`.
    pub(super) fn catch_up_all(&mut self, until: Tick) {
        for place in 0..self.scratch.members.len() {
            if self.soonest(&self.scratch.members[place]) < until {
                self.catch_up(place, until);
            }
        }
    }

    /// Lets a member and its company send before `until`; none of their packets ends before its last instant.
    pub(super) fn catch_up(&mut self, place: usize, until: Tick) {
        let mut company = std::mem::take(&mut self.scratch.company);
        self.find_company(place, &mut company);
        if let [_] = company[..] {
            self.send_alone(place, until);
        } else {
            self.send_in_turn(&company, until);
        }
        let mut ended = false;
        for &place in &company {
            ended |= self.scratch.members[place].left == 0;
            self.set_bound(place);
        }
        if ended {
            // The last of the list first: a packet that ends gives its place in it to the last.
            company.sort_unstable();
            for &place in company.iter().rev() {
                if self.scratch.members[place].left == 0 {
                    self.end(place);
                }
            }
        }
        self.scratch.company = company;
    }

    /// Finds the members that share a port with one, or with one of those.
    fn find_company(&self, place: usize, company: &mut Vec<usize>) {
        company.clear();
        company.push(place);
        let mut known = 0;
        while let Some(&one) = company.get(known) {
            known += 1;
            let Member { input, output, .. } = self.scratch.members[one];
            for (place, member) in self.scratch.members.iter().enumerate() {
                if member.shares(input, output) && !company.contains(&place) {
                    company.push(place);
                }
            }
        }
    }

    /// Lets a member send whose input port and output nobody shares.
    fn send_alone(&mut self, place: usize, until: Tick) {
        let member = &mut self.scratch.members[place];
        let state = &mut *self.state;
        let pace = Pace::new(self.rules, self.whole.timing(member.kind), member.kind);
        let of_part = self.router.first_output + member.output;
        let channel = self.first_channel + of_part;
        let output = &mut state.outputs[of_part as usize];
        let input = &mut state.inputs[(self.router.first_input + member.input) as usize];
        let flits = &mut state.queues[self.first_queue + member.queue as usize].flits;
        let lane = &mut state.lanes[member.held as usize];
        let before = member.arrivals.len();
        while member.left > 0 {
            let now = member.ready.max(input.free_at).max(output.soonest);
            if now >= until {
                break;
            }
            if member.needs_room {
                if !lane.has_room(1, now, &state.times) {
                    member.ready = lane.foresee(1, &state.times);
                    continue;
                }
                lane.take();
            }
            if member.arrivals.is_empty() {
                member.since = now;
            }
            member.arrivals.push(pace.pass(now, &mut input.free_at, output));
            member.credits.push(now + member.back.latency);
            let time = self.epoch + Picoseconds::from(now);
            self.digest.add(time, channel, member.source, member.sequence);
            *self.latest = (*self.latest).max(time);
            flits.pop();
            member.left -= 1;
            member.ready = if flits.is_empty() { NEVER } else { flits.front(&state.times) };
        }
        let sent = member.arrivals.len() - before;
        if sent > 0 {
            self.win_alone(place, sent);
            self.give_back(place);
        }
    }

    /// Lets members send that share ports, instant by instant.
    fn send_in_turn(&mut self, company: &[usize], until: Tick) {
        let mut rivals = std::mem::take(&mut self.scratch.rivals);
        rivals.clear();
        for &place in company {
            let member = &self.scratch.members[place];
            let (at, input, output) = (self.soonest(member), member.input, member.output);
            rivals.push(Rival { at, input, output, place });
        }
        loop {
            let (mut now, mut first, mut tied) = (until, usize::MAX, false);
            for (number, rival) in rivals.iter().enumerate() {
                if rival.at < now {
                    (now, first, tied) = (rival.at, number, false);
                } else {
                    tied |= rival.at == now;
                }
            }
            if now == until {
                break;
            }
            if tied {
                self.scratch.wants.clear();
                for rival in rivals.iter().filter(|rival| rival.at == now) {
                    if self.has_credit(rival.place, now) {
                        let want = self.scratch.members[rival.place].want(rival.place);
                        self.scratch.wants.push(want);
                    }
                }
                self.allocate_switch(now);
                for rival in &mut rivals {
                    rival.at = self.soonest(&self.scratch.members[rival.place]);
                }
                continue;
            }
            let Rival { input, output, place, .. } = rivals[first];
            if self.has_credit(place, now) {
                self.win_alone(place, 1);
                self.emit(place, now);
                let free_at = self.input(input as usize).free_at;
                let soonest = self.output(output as usize).soonest;
                for rival in &mut rivals {
                    let of_input = if rival.input == input { free_at } else { 0 };
                    let of_output = if rival.output == output { soonest } else { 0 };
                    rival.at = rival.at.max(of_input).max(of_output);
                }
            }
            let member = &self.scratch.members[place];
            rivals[first].at = rivals[first].at.max(member.ready);
        }
        self.scratch.rivals = rivals;
    }

    /// Moves the pointers behind a member's flits, so many of which have won without a rival.
    #[inline(always)]
    fn win_alone(&mut self, place: usize, flits: usize) {
        let &Member { input, output, of_port, onto, .. } = &self.scratch.members[place];
        // Pointers are where they were after another win, but turns are counted.
        let wins = if self.rules.arbitration == Arbitration::Weighted { flits } else { 1 };
        for _ in 0..wins {
            self.win(output as usize, (input, of_port), onto, true);
        }
    }

    /// Whether a member has a credit for its next flit; else it says when it has.
    #[inline(always)]
    fn has_credit(&mut self, place: usize, now: Tick) -> bool {
        let member = &mut self.scratch.members[place];
        if !member.needs_room {
            return true;
        }
        let lane = &mut self.state.lanes[member.held as usize];
        let has = lane.has_room(1, now, &self.state.times);
        if !has {
            member.ready = lane.foresee(1, &self.state.times);
        }
        has
    }

    /// A member has taken part in an allocation in vain.
    pub(super) fn yield_to_others(&mut self, place: usize, now: Tick) {
        let member = &mut self.scratch.members[place];
        let again = now + self.rules.crossbar[member.kind as usize];
        member.again = again;
        member.ready = member.ready.max(again);
    }

    /// Sends a member's flit, which has a credit.
    #[inline(always)]
    pub(super) fn emit(&mut self, place: usize, now: Tick) {
        let member = &mut self.scratch.members[place];
        let pace = Pace::new(self.rules, self.whole.timing(member.kind), member.kind);
        let channel = self.router.first_output + member.output;
        let state = &mut *self.state;
        if member.needs_room {
            state.lanes[member.held as usize].take();
        }
        if member.arrivals.is_empty() {
            member.since = now;
        }
        let input = &mut state.inputs[(self.router.first_input + member.input) as usize];
        let output = &mut state.outputs[channel as usize];
        member.arrivals.push(pace.pass(now, &mut input.free_at, output));
        member.credits.push(now + member.back.latency);
        let time = self.epoch + Picoseconds::from(now);
        self.digest.add(time, self.first_channel + channel, member.source, member.sequence);
        *self.latest = (*self.latest).max(time);
        let flits = &mut state.queues[self.first_queue + member.queue as usize].flits;
        flits.pop();
        member.left -= 1;
        member.ready = match member.left == 0 || flits.is_empty() {
            true => NEVER,
            false => flits.front(&state.times),
        };
        // Terminals may wait for them; members may share a lane's, which go back in the order of time.
        if member.back.injects || self.rules.outputs > 1 {
            self.give_back(place);
        }
    }

    /// Gives back a member's credits, unless they wait until they are written down.
    fn give_back(&mut self, place: usize) {
        let member = &mut self.scratch.members[place];
        let Feeder { place: feeder, injects, injection, .. } = member.back;
        if injects {
            let lane = &mut self.state.lanes[feeder as usize];
            for credit in member.credits.drain(..) {
                if lane.give_back(credit, &mut self.state.times) {
                    self.outbox.fed.push((injection, credit));
                }
            }
        } else if self.rules.outputs > 1 {
            self.write_credits(place);
        }
    }

    /// Writes down a member's credits.
    fn write_credits(&mut self, place: usize) {
        let member = &mut self.scratch.members[place];
        if !member.credits.is_empty() {
            let (first, count) =
                (fitted!(self.outbox.backs.len(), u32), fitted!(member.credits.len(), u16));
            self.outbox.backs.append(&mut member.credits);
            let (feeder, lane) = (member.back.place, member.lane);
            self.outbox.returned_flits.push(ReturnedRun { feeder, lane, first, count });
        }
    }

    /// Writes down what all members have sent, and when each is due.
    pub(super) fn flush(&mut self) {
        for place in 0..self.scratch.members.len() {
            self.write_down(place);
            let member = &self.scratch.members[place];
            self.state.due[self.first_queue + member.queue as usize] = self.soonest(member);
        }
    }

    /// Writes down what a member has sent.
    fn write_down(&mut self, place: usize) {
        self.write_credits(place);
        let member = &self.scratch.members[place];
        let state = self.first_queue + member.queue as usize;
        let queue = &mut self.state.queues[state];
        (queue.left, queue.again) = (member.left, member.again);
        let slot = queue.slot;
        if member.arrivals.is_empty() {
            return;
        }
        let count = fitted!(member.arrivals.len(), u16);
        let (number, onto, since) = (member.output as usize, member.onto, member.since);
        self.statistics.sent(self.router.first_output + member.output, onto, count);
        if self.leaves(number) {
            return;
        }
        let first = fitted!(self.outbox.times.len(), u32);
        self.outbox.times.extend_from_slice(&member.arrivals);
        if slot != NONE {
            self.go_on(number, slot, since);
            self.state.queues[state].slot = NONE;
        }
        let &ports::Output { far_part: part, far_router: router, far_pair, .. } = self.port(number);
        let pair = u32::from(far_pair) + u32::from(onto);
        self.outbox.flits.push(SentRun { part, router, pair, header: slot, first, count });
    }

    /// A member's last flit has won: its lane will be free, and so is the way for the packet behind it.
    fn end(&mut self, place: usize) {
        self.write_down(place);
        let member = &self.scratch.members[place];
        let &Member { queue, input, output, held, lane, .. } = member;
        let arrives = *member.arrivals.last().expect("the last flit");
        let free_at = self.input(input as usize).free_at;
        let (queue, number) = (queue as usize, output as usize);
        if self.leaves(number) {
            let (terminal, time) = (self.terminal(number), self.time(arrives));
            let slot = self.queue(queue).slot;
            self.outbox.deliveries.push(Delivery { time, slot, terminal, lane });
        }
        self.scratch.members.remove(place);
        let lane = &mut self.state.lanes[held as usize];
        (lane.free_at, lane.holder) = (free_at, NONE);
        self.wake_askers(number, free_at);
        let behind = self.queue(queue);
        (behind.free_at, behind.slot) = (free_at, NONE);
        let is_empty = behind.head == NONE;
        behind.stage = if is_empty { Stage::Idle } else { Stage::New };
        self.set_due(queue, if is_empty { NEVER } else { free_at });
    }

    /// Whether an output leads out of the network.
    fn leaves(&self, output: usize) -> bool {
        let port = self.port(output);
        port.kind != ChannelKind::Network || port.dead
    }

    /// Where the credits of an input port's lane go.
    #[inline(always)]
    fn feeder(&self, input: usize, lane: u8) -> Feeder {
        let &ports::Input { feeder, injects, .. } = self.entry(input);
        let kind = if injects { ChannelKind::Injection } else { ChannelKind::Network };
        let latency = self.whole.timing(kind).back;
        if !injects {
            return Feeder { place: feeder, latency, injects, injection: NONE };
        }
        let channels = self.whole.parameters.injection_channels;
        let own = fitted!(input, u32) - u32::from(self.router.transit);
        let injection = self.router.first_terminal * channels + own;
        Feeder { place: feeder + u32::from(lane), latency, injects, injection }
    }
}
