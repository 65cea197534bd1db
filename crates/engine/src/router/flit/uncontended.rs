//! Virtual channels that are left alone: alone at their input port and output, or two that share
//! these with each other only.
//!
//! Their flits have no influence on other packets of the router. That ends when a last flit is
//! granted the switch, or when another packet gets a virtual channel that shares a port with them.
//! So they are left alone until then, and catch up in one go.

use super::FlitState;
use super::flit_queue::{FlitQueue, Upstream};
use super::router_view::{FlitRouterView, MASKED};
use crate::arbitration::{counts_flits, pass_turn};
use crate::frame::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl FlitRouterView<'_, '_> {
    /// Leaves an active virtual channel alone, with the one that it shares a port with, unless it
    /// shares its ports with several.
    #[inline(always)]
    pub(super) fn leave_alone(&mut self, place: usize) {
        let one = self.bit(place);
        if one == 0 {
            return;
        }
        let group = self.sharing_ports(one);
        let other = group ^ one;
        if !self.may_be_left(place) {
            return;
        }
        if other != 0 {
            let partner = self.first_of(other);
            let is_pair = other & (other - 1) == 0 && self.sharing_ports(other) == group;
            if !is_pair || !self.may_be_left(partner) {
                return;
            }
            self.note_last(partner);
        }
        self.note_last(place);
        self.uncontended |= group;
    }

    /// Whether an active virtual channel has further flits to send that nobody waits for. Stalls
    /// are counted at each flit, and a terminal may wait for a credit. Where virtual channels have
    /// no bits, it is not known who shares a port.
    #[inline(always)]
    fn may_be_left(&self, place: usize) -> bool {
        let queue = self.active_queue(place);
        let Upstream { place, injects, .. } = queue.upstream;
        let is_awaited = injects && self.state.vcs[place as usize].awaited;
        queue.left > 1
            && !queue.has_header()
            && !is_awaited
            && self.state.waits.is_none()
            && !self.state.round_trips.are_measured()
            && self.active_vcs().len() <= MASKED
    }

    /// Notes the time before which an active virtual channel does not send its last flit.
    #[inline(always)]
    fn note_last(&mut self, place: usize) {
        let &FlitQueue { flits, left, timing, .. } = self.active_queue(place);
        let left = u32::from(left);
        self.state.request_times[place] = if flits.len() < left {
            NEVER
        } else {
            let crossbar = self.rules.paces[usize::from(timing)].crossbar;
            let next = self.state.request_times[place];
            let soonest = next.saturating_add((left - 1).saturating_mul(crossbar));
            soonest.max(flits.at(left - 1, &self.state.times))
        };
    }

    /// Lets all uncontended packets send before `until`.
    #[inline(always)]
    pub(super) fn advance_all(&mut self, until: Tick) {
        self.advance_some(self.uncontended, until);
    }

    /// Lets the uncontended packets among some active virtual channels send before `until`.
    #[inline(always)]
    pub(super) fn advance_some(&mut self, some: u64, until: Tick) {
        loop {
            let left = self.uncontended & some;
            if left == 0 {
                return;
            }
            let one = left & left.wrapping_neg();
            let other = self.sharing_ports(one) ^ one;
            self.uncontended ^= one | other;
            if other == 0 {
                self.advance(self.first_of(one), until);
            } else {
                self.advance_pair(one, other, until);
            }
        }
    }

    /// Lets an uncontended packet send before `until`; none of its flits is the last one. From then
    /// on it is contended.
    fn advance(&mut self, place: usize, until: Tick) {
        let mut arrivals = std::mem::take(&mut self.scratch.arrivals);
        self.send_uncontended(place, until, &mut arrivals);
        arrivals.clear();
        self.scratch.arrivals = arrivals;
        self.state.set_next(place);
    }

    /// Lets two packets that share ports with each other only send before `until`; none of their
    /// flits is the last one.
    fn advance_pair(&mut self, one: u64, other: u64, until: Tick) {
        let (first, second) = (self.first_of(one), self.first_of(other));
        let mut next = (self.state.set_next(first), self.state.set_next(second));
        let mut last = None;
        while next.0.min(next.1) < until {
            let now = next.0.min(next.1);
            let first_wins = match next.0 == next.1 {
                true => self.first_wins(one, other, now),
                false => next.0 < next.1,
            };
            let (winner, loser) = if first_wins { (first, second) } else { (second, first) };
            self.emit::<false>(winner, true, now);
            if next.0 == next.1 {
                self.yield_to_others(loser, now);
            }
            next = (self.state.request_times[first], self.state.request_times[second]);
            last = Some(now);
        }
        if let Some(last) = last {
            self.common.latest = self.common.latest.max(self.time(last));
        }
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
        let number = self.state.active_vcs[place] as usize;
        let own = self.state.queues[number];
        let pace = self.rules.paces[usize::from(own.timing)];
        let mut output = self.state.outputs[own.output_port as usize];
        let mut free_at = self.state.inputs[own.input_port as usize].free_at;
        let mut flits = own.flits;
        let mut last = 0;
        while !flits.is_empty() {
            let came = flits.front(&self.state.times).max(own.again);
            let mut now = came.max(free_at).max(output.soonest);
            if now >= until {
                break;
            }
            if own.needs_room {
                let vc = &mut self.state.vcs[own.held.place()];
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
            let upstream = vcs.get_mut(own.upstream.place as usize);
            if upstream.is_none_or(|vc| vc.give_back(now + own.upstream.back, times)) {
                self.tell_sender(number, now);
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
        self.state.queues[number].flits = flits;
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
            (0..sent).for_each(|_| self.count_flit(number));
        }
        self.state.queues[number].left -= sent;
        self.common.statistics.flits[own.counted as usize] += u64::from(sent);
        if self.common.statistics.counts_classes() {
            self.common.statistics.count_class(own.output_port, sent, own.class);
        }
        debug_assert!(!own.has_header(), "the header was not sent uncontended");
        if !own.leaves {
            self.pass_on(own.output.into(), own.vc, arrivals, NONE);
        }
    }
}
