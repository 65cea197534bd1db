//! Sending: flits that ask for the switch, and what those that win it bring about.

use super::Output;
use super::allocation::Want;
use super::arrivals::FlitCrossing;
use super::queue::{Feeder, Queue, Stage};
use super::visit::FlitVisit;
use crate::engine::ChannelKind;
use crate::engine::credits::Credit;
use crate::engine::parameters::{FlitSharing, Parameters};
use crate::engine::ports::{self, AWAY};
use crate::engine::sink::Delivery;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::whole::Timing;
use crate::narrow::{fitted, narrow};
use crate::topology::NONE;

/// How fast a channel takes flits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// From a win to the channel.
    crossing: Tick,
    /// For how long a flit takes the crossbar.
    pub crossbar: Tick,
    flit: Tick,
    forward: Tick,
    /// From a win to when its channel is free at the latest.
    waits: Tick,
}

impl Pace {
    pub(super) fn new(timing: &Timing, parameters: &Parameters, sharing: &FlitSharing) -> Self {
        let &Timing { flit, forward, .. } = timing;
        let crossing = narrow::<Tick>(parameters.crossbar_latency + sharing.switch_allocation);
        let waits = crossing + sharing.output_buffer * flit;
        let crossbar = flit.div_ceil(parameters.crossbar_speedup);
        // Injection channels do not lead through a crossbar.
        Self { crossing, crossbar, flit, forward: forward.saturating_sub(crossing), waits }
    }

    /// A flit wins at `now`: when it is at the far end.
    #[inline(always)]
    pub(super) fn pass(&self, now: Tick, free_at: &mut Tick, output: &mut Output) -> Tick {
        let starts = output.line.max(now + self.crossing);
        output.line = starts + self.flit;
        let taken = now + self.crossbar;
        output.soonest = taken.max(output.line.saturating_sub(self.waits));
        *free_at = taken;
        starts + self.forward
    }
}

impl FlitVisit<'_, '_> {
    /// Lets the first flits of queues that are due ask for the switch.
    #[inline(always)]
    pub(super) fn send(&mut self, due: &[u32], now: Tick) {
        if let &[queue] = due {
            if let Some(want) = self.want(queue, now) {
                self.give_switch(&want, true, now);
            }
            return;
        }
        self.scratch.wants.clear();
        for &queue in due {
            if let Some(want) = self.want(queue, now) {
                self.scratch.wants.push(want);
            }
        }
        if !self.scratch.wants.is_empty() {
            self.allocate_switch(now);
        }
    }

    /// The first flit of a queue, if it sends a packet and the flit can take part in the allocation of the switch; else
    /// says when it may.
    #[inline(always)]
    fn want(&mut self, queue: u32, now: Tick) -> Option<Want> {
        let number = self.first_queue + queue as usize;
        let state = &mut *self.state;
        let own = &state.queues[number];
        let &Queue { stage, input, output, held, lane: onto, again, .. } = own;
        if stage != Stage::Sending || state.agenda.at(number) != now {
            return None;
        }
        // A credit may have come that nobody waits for any more.
        let came = if own.flits.is_empty() { NEVER } else { own.flits.front(&state.times) };
        let (input, output) = (u32::from(input), u32::from(output));
        let of_input = state.inputs[(self.router.first_input + input) as usize].free_at;
        let of_output = state.outputs[(self.router.first_output + output) as usize].soonest;
        let soonest = of_input.max(of_output).max(again).max(came);
        if soonest > now {
            self.set_due(queue as usize, soonest);
            return None;
        }
        let lane = &mut state.lanes[held as usize];
        if !lane.has_room(1, now, &state.times) && self.port(output as usize).needs_room {
            let lane = &mut self.state.lanes[held as usize];
            let back = lane.foresee(1, &self.state.times);
            self.set_due(queue as usize, back);
            return None;
        }
        let of_port = queue - input * (self.rules.outputs << self.rules.shift);
        Some(Want { queue, input, output, of_port, onto, is_out: false })
    }

    /// When an input port and an output can both take a flit.
    #[inline(always)]
    fn ports_free(&mut self, input: usize, output: usize) -> Tick {
        let free_at = self.input(input).free_at;
        self.output(output).soonest.max(free_at)
    }

    /// A flit has taken part in an allocation in vain.
    pub(super) fn yield_to_others(&mut self, want: &Want, now: Tick) {
        let again = now + self.crossbar(want.output as usize);
        let soonest = self.ports_free(want.input as usize, want.output as usize);
        let queue = want.queue as usize;
        self.queue(queue).again = again;
        self.set_due(queue, soonest.max(again));
    }

    /// Sends a flit that has won the switch, and has a credit.
    #[inline(always)]
    pub(super) fn emit(&mut self, want: &Want, now: Tick) {
        let &Want { queue, input, output: number, onto, .. } = want;
        let (queue, number) = (queue as usize, number as usize);
        let &port @ ports::Output { kind, needs_room, .. } = self.port(number);
        let pace = self.rules.paces[kind as usize];
        let state = &mut *self.state;
        let output = &mut state.outputs[self.router.first_output as usize + number];
        let entry = &mut state.inputs[(self.router.first_input + input) as usize];
        let arrives = pace.pass(now, &mut entry.free_at, output);
        let (soonest, senders, far) =
            (output.soonest.max(entry.free_at), (entry.senders, output.senders), output.far);
        let taken = entry.free_at;

        let own = &mut state.queues[self.first_queue + queue];
        own.left -= 1;
        own.flits.pop();
        let &mut Queue { left, slot, held, source, sequence, feeder, entry: lane, .. } = own;
        let next = match left == 0 || own.flits.is_empty() {
            true => NEVER,
            false => own.flits.front(&state.times).max(soonest),
        };
        if needs_room {
            state.lanes[held as usize].take();
        }
        let channel = self.router.first_output + fitted!(number, u32);
        let time = self.time(now);
        self.digest.add(time, self.first_channel + channel, source, sequence);
        *self.latest = (*self.latest).max(time);
        self.statistics.sent(channel, onto, 1);
        self.give_back(feeder, (fitted!(input, u16), lane), now);
        if !leaves(&port) {
            let header = std::mem::replace(&mut self.queue(queue).slot, NONE);
            if header != NONE {
                self.go_on(number, header, now);
            }
            self.pass_on((&port, far), onto, &[arrives], header);
        } else if left == 0 {
            let (terminal, time) = (self.terminal(number), self.time(arrives));
            self.outbox.deliveries.push(Delivery { time, slot, terminal, lane });
        }
        if left == 0 {
            self.end(queue, number, taken);
        } else if senders == (1, 1) && left > 1 && next < self.until.saturating_sub(pace.crossbar) {
            // Several flits may win before the end.
            self.leave_alone(queue, next, pace.crossbar);
        } else {
            self.set_due(queue, next);
        }
    }

    /// Flits are on their way to another router, with their packet if the first is the header.
    #[inline(always)]
    pub(super) fn pass_on(
        &mut self,
        (port, far): (&ports::Output, u32),
        onto: u8,
        times: &[Tick],
        header: u32,
    ) {
        let &ports::Output { far_part, far_router, far_pair, .. } = port;
        if far_part == self.part {
            return self.join(far_router, far + u32::from(onto), times, header);
        }
        let pair = u32::from(far_pair) + u32::from(onto);
        let mail = &mut self.mail[far_part as usize];
        if header != NONE {
            mail.headers.push(self.packets.take_away(header));
        }
        let mut is_header = header != NONE;
        for &time in times {
            mail.flits.push(FlitCrossing { router: far_router, pair, time, is_header });
            is_header = false;
        }
    }

    /// A flit has left a queue: there is room for another one.
    #[inline(always)]
    pub(super) fn give_back(&mut self, feeder: Feeder, (input, lane): (u16, u8), now: Tick) {
        let Feeder { place, back, injects } = feeder;
        let time = now + back;
        if place & AWAY != 0 {
            let entry = self.ports.entries[(place & !AWAY) as usize];
            let credit = (entry.room + u32::from(lane), Credit { time, flits: 1 });
            return self.mail[entry.part as usize].credits.push(credit);
        }
        let awaited = self.state.lanes[place as usize].give_back(time, &mut self.state.times);
        if !awaited {
        } else if injects {
            let channels = self.whole.parameters.injection_channels;
            let own = fitted!(input, u32) - u32::from(self.router.transit);
            self.outbox.fed.push((self.router.first_terminal * channels + own, time));
        } else {
            self.wake_sender(place, time);
        }
    }

    /// A packet's last flit has won: its lane will be free, and so is the way for the packet behind it.
    fn end(&mut self, queue: usize, output: usize, free_at: Tick) {
        let &mut Queue { held, input, .. } = self.queue(queue);
        self.input(input.into()).senders -= 1;
        self.output(output).senders -= 1;
        let lane = &mut self.state.lanes[held as usize];
        (lane.free_at, lane.holder) = (free_at, NONE);
        self.wake_askers(output, free_at);
        let behind = self.queue(queue);
        (behind.free_at, behind.slot) = (free_at, NONE);
        let is_empty = behind.head == NONE;
        behind.stage = if is_empty { Stage::Idle } else { Stage::New };
        let flits = behind.flits;
        // If it has no flit, it is looked at when one comes.
        let next = if is_empty || flits.is_empty() {
            NEVER
        } else {
            self.rules.asks_from(flits.front(&self.state.times), 0, free_at)
        };
        self.set_due(queue, next);
    }
}

/// Whether an output leads out of the network.
pub(super) fn leaves(port: &ports::Output) -> bool {
    port.kind != ChannelKind::Network || port.dead
}
