//! Packets that share neither their input port nor their output with another: what their flits do concerns nobody in
//! their router until the last one has won, or until another packet gets a virtual channel that shares a port with
//! them. So they are left alone, and catch up when either happens, in one go.

use super::queue::Queue;
use super::sending::leaves;
use super::visit::FlitVisit;
use crate::engine::Arbitration;
use crate::engine::ports::Output;
use crate::engine::tick::{NEVER, Tick};
use crate::narrow::fitted;
use crate::topology::NONE;
use crate::units::Picoseconds;

impl FlitVisit<'_, '_> {
    /// Leaves a queue alone whose next flit can win at `next` and that shares no port; flits take so long through the
    /// crossbar.
    pub(super) fn leave_alone(&mut self, queue: usize, next: Tick, crossbar: Tick) {
        let &mut Queue { flits, left, feeder, .. } = self.queue(queue);
        // Its terminal may wait for a credit.
        let watched = feeder.injects && self.state.lanes[feeder.place as usize].awaited;
        if watched {
            return self.set_due(queue, next);
        }
        let left = u32::from(left);
        let last = if flits.len() < left {
            NEVER
        } else {
            let soonest = next.saturating_add((left - 1).saturating_mul(crossbar));
            soonest.max(flits.at(left - 1, &self.state.times))
        };
        self.queue(queue).alone = true;
        self.scratch.alone.push(fitted!(queue, u32));
        self.set_due(queue, last);
    }

    /// A packet of a queue has got a lane of an output: from now on it is one of those who send.
    pub(super) fn join_senders(&mut self, queue: usize, output: usize, now: Tick) {
        let input = self.queue(queue).input;
        let of_input = &mut self.input(input.into()).senders;
        *of_input += 1;
        let shares_input = *of_input > 1;
        let of_output = &mut self.output(output).senders;
        *of_output += 1;
        if shares_input || *of_output > 1 {
            let mut place = 0;
            while let Some(&other) = self.scratch.alone.get(place) {
                let it = self.queue(other as usize);
                if it.input == input || usize::from(it.output) == output {
                    self.attend(other, now);
                } else {
                    place += 1;
                }
            }
        }
    }

    /// Lets all queues that were left alone send before `until`.
    pub(super) fn attend_all(&mut self, until: Tick) {
        while let Some(&queue) = self.scratch.alone.last() {
            self.attend(queue, until);
        }
    }

    /// Lets a queue that was left alone send before `until`; none of its flits is the last.
    pub(super) fn attend(&mut self, queue: u32, until: Tick) {
        self.scratch.alone.retain(|&other| other != queue);
        let queue = queue as usize;
        self.queue(queue).alone = false;
        self.attended += 1;
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        let next = self.send_alone(queue, until, &mut arrivals);
        arrivals.clear();
        self.scratch.arrivals = arrivals;
        self.set_due(queue, next);
    }

    /// Lets a queue send that shares no port. When its next flit can win.
    fn send_alone(&mut self, queue: usize, until: Tick, arrivals: &mut Vec<Tick>) -> Tick {
        let own = *self.queue(queue);
        let Queue { input, output: number, lane: onto, source, sequence, slot, .. } = own;
        let (mut flits, mut left) = (own.flits, own.left);
        let &port @ Output { kind, needs_room, .. } = self.port(number.into());
        let pace = self.rules.paces[kind as usize];
        let channel = self.router.first_output + u32::from(number);
        let mut output = *self.output(number.into());
        let mut free_at = self.input(input.into()).free_at;
        let mut came = if flits.is_empty() { NEVER } else { flits.front(&self.state.times) };
        let mut last = 0;
        let next = loop {
            let now = came.max(free_at).max(output.soonest);
            if now >= until {
                break now;
            }
            if needs_room {
                let lane = &mut self.state.lanes[own.held as usize];
                if !lane.has_room(1, now, &self.state.times) {
                    came = lane.foresee(1, &self.state.times);
                    continue;
                }
                lane.take();
            }
            arrivals.push(pace.pass(now, &mut free_at, &mut output));
            self.give_back(own.feeder, (input, own.entry), now);
            let time = self.epoch + Picoseconds::from(now);
            self.digest.add(time, self.first_channel + channel, source, sequence);
            last = now;
            left -= 1;
            flits.pop();
            came = if flits.is_empty() { NEVER } else { flits.front(&self.state.times) };
        };
        let sent = own.left - left;
        if sent == 0 {
            return next;
        }
        debug_assert!(left > 0, "the last flit is not sent alone");
        *self.latest = (*self.latest).max(self.time(last));
        *self.output(number.into()) = output;
        self.input(input.into()).free_at = free_at;
        let state = self.queue(queue);
        (state.flits, state.left) = (flits, left);
        let of_port =
            fitted!(queue, u32) - u32::from(input) * (self.rules.outputs << self.rules.shift);
        // Pointers are where they were after another win, but turns are counted.
        let wins = if self.rules.arbitration == Arbitration::Weighted { sent } else { 1 };
        for _ in 0..wins {
            self.win(number.into(), (input.into(), of_port), onto, true);
        }
        self.statistics.sent(channel, onto, sent);
        debug_assert!(slot == NONE || leaves(&port), "the header was not sent alone");
        if !leaves(&port) {
            self.pass_on((&port, output.far), onto, arrivals, NONE);
        }
        next
    }
}
