//! Uncontended virtual channels: packets that share neither their input port nor their output with
//! another one.
//!
//! Their flits have no influence on other packets of the router. That ends when the last one is
//! granted the switch, or when another packet gets a virtual channel that shares a port with them.
//! So they are left alone until then, and catch up in one go.

use super::FlitState;
use super::active_vc::ActiveVc;
use super::router_view::{FlitRouterView, MASKED};
use crate::arbitration::{counts_flits, pass_turn};
use crate::frame::tick::{NEVER, Tick};
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl FlitRouterView<'_, '_> {
    /// Marks an active virtual channel as uncontended. Its next flit can be granted the switch at
    /// `next`, and each flit takes the time `crossbar` on the crossbar.
    #[inline(always)]
    pub(super) fn mark_uncontended(&mut self, place: usize, next: Tick, crossbar: Tick) {
        let ActiveVc { queue, upstream, injects, left, .. } = self.state.active_vcs[place];
        let number = place - self.first_active_vc;
        // Its terminal may wait for a credit.
        if number >= MASKED || injects && self.state.vcs[upstream as usize].awaited {
            return;
        }
        let (flits, left) = (&self.state.queues[queue as usize].flits, u32::from(left));
        let last = if flits.len() < left {
            NEVER
        } else {
            let soonest = next.saturating_add((left - 1).saturating_mul(crossbar));
            soonest.max(flits.at(left - 1, &self.state.times))
        };
        self.state.request_times[place] = last;
        self.uncontended |= 1 << number;
    }

    /// Lets all uncontended packets send before `until`.
    #[inline(always)]
    pub(super) fn advance_all(&mut self, until: Tick) {
        self.advance_some(self.uncontended, until);
    }

    /// Lets the uncontended packets among some active virtual channels send before `until`.
    #[inline(always)]
    pub(super) fn advance_some(&mut self, some: u64, until: Tick) {
        for number in bits(self.uncontended & some) {
            self.advance(number, until);
        }
    }

    /// Lets an uncontended packet send before `until`; none of its flits is the last one. From then
    /// on it is contended.
    fn advance(&mut self, number: usize, until: Tick) {
        let place = self.first_active_vc + number;
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        self.send_uncontended(place, until, &mut arrivals);
        arrivals.clear();
        self.scratch.arrivals = arrivals;
        self.uncontended &= !(1 << number);
        self.state.set_next(place);
    }

    /// Moves an active virtual channel to another place.
    #[inline(always)]
    pub(super) fn move_uncontended(&mut self, from: usize, to: usize) {
        let (from, to) = (from - self.first_active_vc, to - self.first_active_vc);
        if from < MASKED {
            let moves = self.uncontended >> from & 1;
            self.uncontended = self.uncontended & !(1 << from) | moves << to;
        }
    }

    fn send_uncontended(&mut self, place: usize, until: Tick, arrivals: &mut Vec<Tick>) {
        let own = self.state.active_vcs[place];
        let pace = self.rules.paces[usize::from(own.timing)];
        let mut output = self.state.outputs[own.output_port as usize];
        let mut free_at = self.state.inputs[own.input_port as usize].free_at;
        let mut flits = self.state.queues[own.queue as usize].flits;
        let mut last = 0;
        while !flits.is_empty() {
            let came = flits.front(&self.state.times).max(own.again);
            let mut now = came.max(free_at).max(output.soonest);
            if now >= until {
                break;
            }
            if own.needs_room {
                let vc = &mut self.state.vcs[own.held as usize];
                now = now.max(vc.next_credit(&self.state.times));
                if now >= until {
                    break;
                }
                vc.take(now, &self.state.times);
            }
            let (taken, arrives) = pace.pass(now, &mut output);
            free_at = taken;
            arrivals.push(arrives);
            let FlitState { vcs, times, .. } = &mut *self.state;
            let upstream = vcs.get_mut(own.upstream as usize);
            if upstream.is_none_or(|vc| vc.give_back(now + own.back, times)) {
                self.tell_sender(place, now);
            }
            self.common.digest.add_marked(self.time(now), own.mark);
            last = now;
            flits.pop();
        }
        let sent = fitted!(arrivals.len(), u16);
        if sent == 0 {
            return;
        }
        output.waiting -= u32::from(sent);
        debug_assert!(sent < own.left, "the last flit is not sent uncontended");
        self.common.latest = self.common.latest.max(self.time(last));
        self.state.queues[own.queue as usize].flits = flits;
        let counts_flits = counts_flits(self.rules.arbitration);
        let input_port = &mut self.state.inputs[own.input_port as usize];
        pass_turn(
            (own.input, own.of_port, own.output),
            (&mut input_port.turn, &mut output.turn),
            (true, counts_flits),
        );
        input_port.free_at = free_at;
        self.state.outputs[own.output_port as usize] = output;
        if counts_flits {
            (0..sent).for_each(|_| self.count_flit(place));
        }
        self.state.active_vcs[place].left -= sent;
        self.common.statistics.flits[own.counted as usize] += u64::from(sent);
        debug_assert!(!own.has_header, "the header was not sent uncontended");
        if !own.leaves {
            self.pass_on(self.output_of(place), own.out_vc, arrivals, NONE);
        }
    }
}
