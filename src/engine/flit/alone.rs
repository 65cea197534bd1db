//! Packets that share neither their input port nor their output with another: what their flits do concerns nobody in
//! their router until the last one has won, or until another packet gets a virtual channel that shares a port with
//! them. So they are left alone, and catch up when either happens, in one go.

use super::State;
use super::contest::Contender;
use super::sending::give_back;
use super::visit::FlitVisit;
use crate::engine::Arbitration;
use crate::engine::tick::{NEVER, Tick};
use crate::narrow::fitted;
use crate::topology::NONE;

impl FlitVisit<'_, '_> {
    /// Leaves a contender alone whose next flit can win at `next` and that shares no port; flits take so long through the
    /// crossbar.
    #[inline(always)]
    pub(super) fn leave_alone(&mut self, place: usize, next: Tick, crossbar: Tick) {
        let Contender { queue, feeder, injects, left, .. } = self.state.contenders[place];
        // Its terminal may wait for a credit.
        if injects && self.state.lanes[feeder as usize].awaited {
            return;
        }
        let (flits, left) = (&self.state.queues[queue as usize].flits, u32::from(left));
        let last = if flits.len() < left {
            NEVER
        } else {
            let soonest = next.saturating_add((left - 1).saturating_mul(crossbar));
            soonest.max(flits.at(left - 1, &self.state.times))
        };
        self.state.claims[place].next = last;
        self.state.contenders[place].alone = true;
        self.alone += 1;
    }

    /// A packet that comes from an input port has got a lane of an output: from now on it is one of those who send.
    #[inline(always)]
    pub(super) fn join_senders(&mut self, input: usize, output: usize, now: Tick) {
        let of_input = &mut self.input(input).senders;
        *of_input += 1;
        let shares_input = *of_input > 1;
        let of_output = &mut self.output(output).senders;
        *of_output += 1;
        let shares = shares_input || *of_output > 1;
        if self.alone > 0 && shares {
            for place in self.contenders() {
                let other = &self.state.claims[place];
                if usize::from(other.input) == input || usize::from(other.output) == output {
                    self.attend(place, now);
                }
            }
        }
    }

    /// Lets all that were left alone send before `until`.
    #[inline(always)]
    pub(super) fn attend_all(&mut self, until: Tick) {
        if self.alone > 0 {
            for place in self.contenders() {
                self.attend(place, until);
            }
        }
    }

    /// Lets a contender send before `until` if it was left alone; none of its flits is the last. From then on it is one
    /// of many again.
    #[inline(always)]
    pub(super) fn attend(&mut self, place: usize, until: Tick) {
        if !self.state.contenders[place].alone {
            return;
        }
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        self.send_alone(place, until, &mut arrivals);
        arrivals.clear();
        self.scratch.arrivals = arrivals;
        self.alone -= 1;
        self.state.contenders[place].alone = false;
        self.state.set_next(place);
    }

    fn send_alone(&mut self, place: usize, until: Tick, arrivals: &mut Vec<Tick>) {
        let own = self.state.contenders[place];
        let pace = self.rules.paces[usize::from(own.kind)];
        let mut output = self.state.outputs[own.exit as usize];
        let mut free_at = self.state.inputs[own.entry as usize].free_at;
        let mut flits = self.state.queues[own.queue as usize].flits;
        let back = self.rules.back[usize::from(own.injects)];
        let mut last = 0;
        while !flits.is_empty() {
            let came = flits.front(&self.state.times).max(own.again);
            let mut now = came.max(free_at).max(output.soonest);
            if now >= until {
                break;
            }
            if own.needs_room {
                let lane = &mut self.state.lanes[own.held as usize];
                now = now.max(lane.next_credit(&self.state.times));
                if now >= until {
                    break;
                }
                lane.take(now, &self.state.times);
            }
            arrivals.push(pace.pass(now, &mut free_at, &mut output));
            let State { lanes, times, .. } = &mut *self.state;
            if give_back(lanes.get_mut(own.feeder as usize), now + back, times) {
                self.tell_sender(place, now);
            }
            self.digest.add_marked(self.time(now), own.mark);
            last = now;
            flits.pop();
        }
        let sent = fitted!(arrivals.len(), u16);
        if sent == 0 {
            return;
        }
        debug_assert!(sent < own.left, "the last flit is not sent alone");
        *self.latest = (*self.latest).max(self.time(last));
        self.state.outputs[own.exit as usize] = output;
        self.state.inputs[own.entry as usize].free_at = free_at;
        self.state.queues[own.queue as usize].flits = flits;
        // Pointers are where they were after another win, but turns are counted.
        let wins = if self.rules.arbitration == Arbitration::Weighted { sent } else { 1 };
        for _ in 0..wins {
            self.win(place, true);
        }
        self.state.contenders[place].left -= sent;
        self.statistics.flits[own.counted as usize] += u64::from(sent);
        debug_assert!(!own.has_header, "the header was not sent alone");
        if !own.leaves {
            self.pass_on(self.output_of(place), own.onto, arrivals, NONE);
        }
    }
}
