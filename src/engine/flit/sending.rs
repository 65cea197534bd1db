//! Sending: what a flit that wins the switch brings about.
//!
//! Most often packets that share an output share nothing else with anybody for some time: nobody else uses their input
//! ports, and no other packet is about to. For so long the output's flit times are dealt out in one go, without looking at the
//! rest of the router in between.

use super::arrivals::{ReturnedRun, SentRun};
use super::queue::{Queue, Stage};
use super::turn;
use super::visit::FlitVisit;
use crate::engine::ports;
use crate::engine::sink::Delivery;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::whole::Timing;
use crate::engine::{Arbitration, ChannelKind};
use crate::narrow::fitted;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// A queue whose packet has a lane of the output at hand.
#[derive(Debug, Default)]
pub(super) struct Member {
    queue: u32,
    input: u32,
    /// Its number among its input port's queues.
    of_port: u32,
    lane: u8,
    /// The lane that its packet has at the output, and where that is.
    onto: u8,
    held: u32,
    /// When its next flit asks; never if that is not known.
    ready: Tick,
    left: u16,
    /// When its input port is free again.
    free_at: Tick,
    source: u32,
    sequence: u32,
    back: Feeder,
    /// When the flits that it has sent are at the far end, and when their credits are back.
    arrivals: Vec<Tick>,
    credits: Vec<Tick>,
}

/// Where the credits of an input port's lane go.
#[derive(Clone, Copy, Debug, Default)]
struct Feeder {
    /// Where they are counted: in the lowest lane, unless a terminal injects.
    place: u32,
    latency: Tick,
    injects: bool,
    /// The injection channel.
    injection: u32,
}

impl FlitVisit<'_, '_> {
    /// Lets the packets that have lanes of a queue's output send from `now` on for as long as they share nothing else
    /// with anybody; false if that is no time at all.
    #[inline(always)]
    pub(super) fn share(&mut self, queue: usize, now: Tick) -> bool {
        let output = self.queue(queue).output;
        let (mut members, mut inputs) = (0, 0u64);
        for place in 0..self.scratch.active().len() {
            let other = self.scratch.active()[place] as usize;
            let &mut Queue { stage, output: onto, .. } = self.queue(other);
            if stage == Stage::Sending && onto == output {
                inputs |= 1 << (self.place(other).0 % 64);
                self.add_member(members, other);
                members += 1;
            }
        }
        let mut horizon = self.until;
        for place in 0..self.scratch.active().len() {
            let other = self.scratch.active()[place] as usize;
            let mut time = *self.due(other);
            let &mut Queue { stage, output: onto, left, .. } = self.queue(other);
            if stage == Stage::Sending {
                if onto == output {
                    continue;
                }
                // Its packet keeps to itself until it ends.
                if inputs >> (self.place(other).0 % 64) & 1 == 0 {
                    time += Tick::from(left) * self.crossbar(usize::from(onto));
                }
            }
            horizon = horizon.min(time);
        }
        horizon > now && {
            self.transmit(usize::from(output), members, (now, horizon), true);
            true
        }
    }

    /// Sends a queue's flit that has won an allocation of the switch.
    pub(super) fn send(&mut self, queue: usize, now: Tick) {
        self.add_member(0, queue);
        let output = usize::from(self.queue(queue).output);
        self.transmit(output, 1, (now, now + 1), false);
    }

    /// Puts a queue that sends into the list of members, at this place.
    #[inline(always)]
    fn add_member(&mut self, place: usize, queue: usize) {
        let (input, lane) = self.place(queue);
        let Queue { output, lane: onto, left, source, sequence, .. } = *self.queue(queue);
        let held = self.lane(usize::from(output), onto);
        let back = self.feeder(input, lane);
        // It may be due before its next flit is there: it is looked at when a credit comes.
        let ready = match self.queue(queue).flits {
            flits if flits.is_empty() => NEVER,
            flits => flits.front(&self.state.times).max(*self.due(queue)),
        };
        let ports = self.rules.outputs << self.rules.shift;
        let members = &mut self.scratch.members;
        if place == members.len() {
            members.push(Member::default());
        }
        let member = &mut members[place];
        member.queue = fitted!(queue, u32);
        member.input = fitted!(input, u32);
        member.of_port = member.queue - member.input * ports;
        (member.lane, member.onto, member.held) = (lane, onto, fitted!(held, u32));
        (member.ready, member.left) = (ready, left);
        (member.source, member.sequence, member.back) = (source, sequence, back);
        member.arrivals.clear();
        member.credits.clear();
    }

    /// Deals out an output to the first so many members until `horizon`, until when nobody else wants it or their
    /// input ports. `moves` tells whether the pointers of allocations have yet to move.
    #[inline(always)]
    fn transmit(&mut self, number: usize, count: usize, (now, horizon): (Tick, Tick), moves: bool) {
        let &ports::Output { kind, needs_room, .. } = self.port(number);
        let Timing { flit, forward, .. } = *self.whole.timing(kind);
        let crossbar = self.rules.crossbar[kind as usize];
        let crossing = self.rules.crossing;
        let waits = crossing + self.rules.sharing.output_buffer * flit;
        let channel = self.router.first_output + fitted!(number, u32);
        let mut members = std::mem::take(&mut self.scratch.members);
        for member in &mut members[..count] {
            let input = &self.state.inputs[(self.router.first_input + member.input) as usize];
            let again = self.state.queues[self.first_queue + member.queue as usize].again;
            member.ready = member.ready.max(input.free_at).max(again);
        }
        let taken = self.state.outputs[channel as usize];
        let (mut free_at, mut line) = (taken.free_at, taken.line);
        let (mut at, mut done) = (now, None);
        while done.is_none() {
            let ready = members[..count].iter().map(|member| member.ready).min();
            at = at.max(ready.unwrap_or(NEVER)).max(free_at).max(line.saturating_sub(waits));
            if at >= horizon {
                break;
            }
            let Some(place) = self.chosen(&mut members[..count], number, at, needs_room) else {
                continue;
            };
            let member = &mut members[place];
            let state = &mut *self.state;
            if needs_room {
                state.lanes[member.held as usize].take();
            }
            let starts = line.max(at + crossing);
            line = starts + flit;
            member.arrivals.push(starts + forward - crossing);
            let time = self.epoch + Picoseconds::from(at);
            self.digest.add(time, self.first_channel + channel, member.source, member.sequence);
            let queue = &mut state.queues[self.first_queue + member.queue as usize];
            queue.flits.pop();
            member.left -= 1;
            let credit = at + member.back.latency;
            if !member.back.injects {
                member.credits.push(credit);
            } else if state.lanes[member.back.place as usize].give_back(credit, &mut state.times) {
                self.outbox.fed.push((member.back.injection, credit));
            }
            free_at = at + crossbar;
            member.free_at = free_at;
            member.ready = match queue.flits.is_empty() {
                true => NEVER,
                false => queue.flits.front(&state.times),
            };
            if moves {
                self.win(number, (member.input, member.of_port), member.onto, true);
            }
            if member.left == 0 {
                done = Some(place);
            } else if self.outbox.is_urgent(self.hosts_answer) {
                // The terminal is served before anything else happens.
                break;
            }
        }
        let taken = &mut self.state.outputs[channel as usize];
        (taken.free_at, taken.line) = (free_at, line);
        for (place, member) in members[..count].iter_mut().enumerate() {
            let sent = fitted!(member.arrivals.len(), u16);
            let due = member.ready.max(free_at).max(line.saturating_sub(waits));
            if sent > 0 {
                self.statistics.sent(channel, member.onto, sent);
                let input =
                    &mut self.state.inputs[(self.router.first_input + member.input) as usize];
                input.free_at = input.free_at.max(member.free_at);
                self.sent(number, member, now);
            }
            self.set_due(member.queue as usize, due);
            if done == Some(place) {
                self.end(number, member, free_at);
            }
        }
        *self.latest = (*self.latest).max(self.time(free_at.saturating_sub(crossbar)));
        self.scratch.members = members;
    }

    /// The member whose flit the output takes at an instant, if any has a credit; the others say when they have.
    #[inline(always)]
    fn chosen(
        &mut self,
        members: &mut [Member],
        output: usize,
        now: Tick,
        needs_room: bool,
    ) -> Option<usize> {
        let mut best: Option<usize> = None;
        for place in 0..members.len() {
            let member = &mut members[place];
            if member.ready > now {
                continue;
            }
            if needs_room {
                let lane = &mut self.state.lanes[member.held as usize];
                if !lane.has_room(1, now, &self.state.times) {
                    member.ready = lane.foresee(1, &self.state.times);
                    continue;
                }
            }
            best = match best {
                Some(best) if !self.comes_before(&members[place], &members[best], output) => {
                    Some(best)
                }
                _ => Some(place),
            };
        }
        best
    }

    /// Whether an output serves one member rather than another.
    fn comes_before(&mut self, one: &Member, other: &Member, output: usize) -> bool {
        let pointer = self.output(output).pointer;
        let transit = u32::from(self.router.transit);
        let in_turn = |visit: &mut Self, member: &Member| {
            let of_port = visit.input(member.input as usize).pointer;
            (turn(member.input, pointer), turn(member.of_port, of_port))
        };
        match self.rules.arbitration {
            Arbitration::RoundRobin => in_turn(self, one) < in_turn(self, other),
            Arbitration::TransitFirst => {
                (one.input >= transit, in_turn(self, one))
                    < (other.input >= transit, in_turn(self, other))
            }
            Arbitration::OldestFirst => self.age(one.queue) < self.age(other.queue),
            Arbitration::Weighted => {
                turn(one.onto.into(), pointer) < turn(other.onto.into(), pointer)
            }
        }
    }

    /// Notes what a member has sent.
    #[inline(always)]
    fn sent(&mut self, number: usize, member: &Member, now: Tick) {
        let place = self.first_queue + member.queue as usize;
        let queue = &mut self.state.queues[place];
        queue.left = member.left;
        let slot = queue.slot;
        let count = fitted!(member.arrivals.len(), u16);
        if !member.back.injects {
            let first = fitted!(self.outbox.backs.len(), u32);
            self.outbox.backs.extend_from_slice(&member.credits);
            let (feeder, lane) = (member.back.place, member.lane);
            self.outbox.returned_flits.push(ReturnedRun { feeder, lane, first, count });
        }
        let &ports::Output { far_part: part, far_router: router, far_pair, .. } = self.port(number);
        if self.leaves(number) {
            return;
        }
        if slot != NONE {
            self.go_on(number, slot, now);
            self.state.queues[place].slot = NONE;
        }
        let first = fitted!(self.outbox.times.len(), u32);
        self.outbox.times.extend_from_slice(&member.arrivals);
        let pair = u32::from(far_pair) + u32::from(member.onto);
        self.outbox.flits.push(SentRun { part, router, pair, header: slot, first, count });
    }

    /// Whether an output leads out of the network.
    fn leaves(&self, output: usize) -> bool {
        let port = self.port(output);
        port.kind != ChannelKind::Network || port.dead
    }

    /// A packet's last flit has left: its lane is free, and so is the way for the packet behind it.
    fn end(&mut self, number: usize, member: &Member, free_at: Tick) {
        let queue = member.queue as usize;
        if self.leaves(number) {
            let arrives = *member.arrivals.last().expect("the last flit");
            let (terminal, time) = (self.terminal(number), self.time(arrives));
            let (slot, lane) = (self.queue(queue).slot, member.lane);
            self.outbox.deliveries.push(Delivery { time, slot, terminal, lane });
        }
        let lane = &mut self.state.lanes[member.held as usize];
        (lane.free_at, lane.holder) = (free_at, NONE);
        self.wake_askers(number, free_at);
        let behind = self.queue(queue);
        (behind.free_at, behind.slot) = (free_at, NONE);
        let is_empty = behind.head == NONE;
        behind.stage = if is_empty { Stage::Idle } else { Stage::New };
        self.set_due(queue, if is_empty { NEVER } else { free_at });
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
