//! Sending: what a flit that wins the switch brings about.
//!
//! Packets that have a virtual channel are members of a list while their router is in hand. Most of their flits win
//! without an allocation: nobody else who could win at that instant shares the input port or the output. What they
//! bring about elsewhere is written down when the packet ends, or the router is left.

use super::allocation::Want;
use super::arrivals::{ReturnedRun, SentRun};
use super::queue::{Queue, Stage};
use super::visit::FlitVisit;
use crate::engine::ChannelKind;
use crate::engine::ports;
use crate::engine::sink::Delivery;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::whole::Timing;
use crate::narrow::fitted;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// A queue whose packet has a lane at its output.
#[derive(Debug, Default)]
pub(super) struct Member {
    queue: u32,
    input: u32,
    output: u32,
    /// Its number among its input port's queues.
    of_port: u32,
    lane: u8,
    /// The lane that its packet has at the output, and where that is.
    onto: u8,
    held: u32,
    kind: ChannelKind,
    needs_room: bool,
    /// When its next flit can ask, as far as input port and output go; never if that is not known.
    ready: Tick,
    /// Before when it does not ask again.
    again: Tick,
    /// When its next flit can win.
    at: Tick,
    left: u16,
    source: u32,
    sequence: u32,
    back: Feeder,
    /// When the first of the flits won the switch that have been sent and not written down.
    since: Tick,
    /// When these flits are at the far end, and when their credits are back.
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

impl Member {
    /// Its flit as one that asks for the switch; it has this place in the list.
    fn want(&self, place: usize) -> Want {
        let &Self { queue, input, output, of_port, onto, .. } = self;
        Want { queue, input, output, of_port, onto, member: fitted!(place, u32) }
    }

    /// Forgets what it has sent.
    pub(super) fn forget(&mut self) {
        self.arrivals.clear();
        self.credits.clear();
    }
}

impl FlitVisit<'_, '_> {
    /// Puts a queue into the list whose packet has a lane.
    pub(super) fn add_member(&mut self, queue: usize) {
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
        let member = self.scratch.new_member();
        member.queue = fitted!(queue, u32);
        (member.input, member.output) = (fitted!(input, u32), output.into());
        member.of_port = member.queue - member.input * ports;
        (member.lane, member.onto, member.held) = (lane, onto, fitted!(held, u32));
        (member.kind, member.needs_room) = (kind, needs_room);
        (member.ready, member.again, member.left) = (ready, again, left);
        (member.source, member.sequence, member.back) = (source, sequence, back);
    }

    /// When the first flit of a member can win, and whose it is that then wins without doubt: its output prefers it, and
    /// its input port has no other.
    #[inline(always)]
    pub(super) fn first_flit(&mut self) -> (Tick, Option<usize>) {
        let inputs = &self.state.inputs[self.router.first_input as usize..];
        let outputs = &self.state.outputs[self.router.first_output as usize..];
        let (mut at, mut first, mut tied) = (NEVER, 0, false);
        for (place, member) in self.scratch.members.iter_mut().enumerate().take(self.scratch.used) {
            let port = inputs[member.input as usize].free_at;
            member.at = member.ready.max(port).max(outputs[member.output as usize].soonest);
            if member.at < at {
                (at, first, tied) = (member.at, place, false);
            } else {
                tied |= member.at == at;
            }
        }
        if !tied {
            return (at, Some(first).filter(|_| at != NEVER));
        }
        let output = self.scratch.members()[first].output;
        for place in first + 1..self.scratch.members().len() {
            let member = &self.scratch.members()[place];
            if member.at == at && member.output == output && self.comes_before(place, first) {
                first = place;
            }
        }
        let input = self.scratch.members()[first].input;
        let of_port = self.scratch.members().iter().filter(|it| it.at == at && it.input == input);
        (at, Some(first).filter(|_| at != NEVER && of_port.count() == 1))
    }

    /// Whether an output prefers one member to another.
    fn comes_before(&mut self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|place| self.scratch.members()[place].want(place));
        self.is_offered(&one, &other)
    }

    /// Lets the flits of members ask for the switch that can win at this instant.
    pub(super) fn add_wants(&mut self, now: Tick) {
        for place in 0..self.scratch.members().len() {
            let member = &self.scratch.members()[place];
            let (ready, input, output) = (member.ready, member.input, member.output);
            let port = self.input(input as usize).free_at;
            let time = ready.max(port).max(self.output(output as usize).soonest);
            if time <= now && self.has_credit(place, now) {
                let want = self.scratch.members()[place].want(place);
                self.scratch.add_want(want);
            }
        }
    }

    /// Whether a member has a credit for its next flit; else it says when it has.
    #[inline(always)]
    fn has_credit(&mut self, place: usize, now: Tick) -> bool {
        let member = self.scratch.member(place);
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
        let again = now + self.crossbar(self.scratch.members()[place].output as usize);
        let member = self.scratch.member(place);
        member.again = again;
        member.ready = member.ready.max(again);
    }

    /// Sends a member's flit if it has a credit. `moves` tells whether the pointers of allocations have yet to move.
    #[inline(always)]
    pub(super) fn emit(&mut self, place: usize, now: Tick, moves: bool) {
        if !self.has_credit(place, now) {
            return;
        }
        let member = self.scratch.member(place);
        let Timing { flit, forward, .. } = *self.whole.timing(member.kind);
        let crossbar = self.rules.crossbar[member.kind as usize];
        let crossing = self.rules.crossing;
        let waits = crossing + self.rules.sharing.output_buffer * flit;
        let channel = self.router.first_output + member.output;
        let state = &mut *self.state;
        if member.needs_room {
            state.lanes[member.held as usize].take();
        }
        let output = &mut state.outputs[channel as usize];
        let starts = output.line.max(now + crossing);
        output.line = starts + flit;
        output.soonest = (now + crossbar).max(output.line.saturating_sub(waits));
        state.inputs[(self.router.first_input + member.input) as usize].free_at = now + crossbar;
        if member.arrivals.is_empty() {
            member.since = now;
        }
        member.arrivals.push(starts + forward - crossing);
        let time = self.epoch + Picoseconds::from(now);
        self.digest.add(time, self.first_channel + channel, member.source, member.sequence);
        *self.latest = (*self.latest).max(time);
        let queue = &mut state.queues[self.first_queue + member.queue as usize];
        queue.flits.pop();
        let credit = now + member.back.latency;
        if !member.back.injects && self.rules.outputs > 1 {
            // Members may share a lane's credits, which go back in the order of time.
            let first = fitted!(self.outbox.backs.len(), u32);
            self.outbox.backs.push(credit);
            let (feeder, lane) = (member.back.place, member.lane);
            self.outbox.returned_flits.push(ReturnedRun { feeder, lane, first, count: 1 });
        } else if !member.back.injects {
            member.credits.push(credit);
        } else if state.lanes[member.back.place as usize].give_back(credit, &mut state.times) {
            self.outbox.fed.push((member.back.injection, credit));
        }
        member.left -= 1;
        member.ready = match queue.flits.is_empty() {
            true => NEVER,
            false => queue.flits.front(&state.times),
        };
        let is_last = member.left == 0;
        if moves {
            let (output, ports) = (member.output as usize, (member.input, member.of_port));
            let onto = member.onto;
            self.win(output, ports, onto, true);
        }
        if is_last {
            self.end(place, now + crossbar);
        }
    }

    /// Writes down what all members have sent, and when each is due.
    pub(super) fn flush(&mut self) {
        for place in 0..self.scratch.members().len() {
            self.write_down(place);
            let Member { queue, input, output, ready, .. } = self.scratch.members()[place];
            let port = self.input(input as usize).free_at;
            let due = ready.max(port).max(self.output(output as usize).soonest);
            self.state.due[self.first_queue + queue as usize] = due;
        }
    }

    /// Writes down what a member has sent.
    fn write_down(&mut self, place: usize) {
        let member = std::mem::take(self.scratch.member(place));
        let state = self.first_queue + member.queue as usize;
        let queue = &mut self.state.queues[state];
        (queue.left, queue.again) = (member.left, member.again);
        let slot = queue.slot;
        if !member.arrivals.is_empty() {
            let count = fitted!(member.arrivals.len(), u16);
            let number = member.output as usize;
            let channel = self.router.first_output + member.output;
            self.statistics.sent(channel, member.onto, count);
            if !member.credits.is_empty() {
                let first = fitted!(self.outbox.backs.len(), u32);
                self.outbox.backs.extend_from_slice(&member.credits);
                let (feeder, lane) = (member.back.place, member.lane);
                self.outbox.returned_flits.push(ReturnedRun { feeder, lane, first, count });
            }
            if !self.leaves(number) {
                if slot != NONE {
                    self.go_on(number, slot, member.since);
                    self.state.queues[state].slot = NONE;
                }
                let first = fitted!(self.outbox.times.len(), u32);
                self.outbox.times.extend_from_slice(&member.arrivals);
                let &ports::Output { far_part: part, far_router: router, far_pair, .. } =
                    self.port(number);
                let pair = u32::from(far_pair) + u32::from(member.onto);
                self.outbox.flits.push(SentRun { part, router, pair, header: slot, first, count });
            }
        }
        *self.scratch.member(place) = member;
    }

    /// A member's last flit has won: its lane will be free, and so is the way for the packet behind it.
    fn end(&mut self, place: usize, free_at: Tick) {
        self.write_down(place);
        let Member { queue, output, held, lane, .. } = self.scratch.members()[place];
        let (queue, number) = (queue as usize, output as usize);
        if self.leaves(number) {
            let arrives = self.scratch.members()[place].arrivals.last();
            let arrives = *arrives.expect("the last flit");
            let (terminal, time) = (self.terminal(number), self.time(arrives));
            let slot = self.queue(queue).slot;
            self.outbox.deliveries.push(Delivery { time, slot, terminal, lane });
        }
        self.scratch.remove_member(place);
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
