//! Virtual-channel allocation: the third stage of a head, which asks for virtual channels of
//! outputs until it is granted one.
//!
//! The allocation is separable: in rounds, each open virtual channel is offered to one packet, and
//! each packet accepts one of its offers (\[islip\]).

use super::flit_queue::FlitQueue;
use super::router_view::FlitRouterView;
use super::states::VcState;
use crate::arbitration::{first_from, turn};
use crate::frame::tick::Tick;
use crate::set::bits;
use flitlab_base::narrow::fitted;

/// The request of a packet without a choice for a virtual channel of its output, with the open
/// ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct VcRequest {
    pub queue: u32,
    pub output: u32,
    pub open: u16,
}

/// The outputs, modulo 64 and a bit each, that several packets may ask for. All other outputs are
/// asked for by one packet at most.
#[inline(always)]
fn shared_outputs(vc_requests: &[VcRequest]) -> u64 {
    let (mut outputs, mut shared) = (0_u64, 0);
    for request in vc_requests {
        let output = 1 << (request.output % 64);
        shared |= outputs & output;
        outputs |= output;
    }
    shared
}

impl FlitRouterView<'_, '_> {
    /// Grants virtual channels to packets.
    #[inline(never)]
    pub(super) fn allocate_vcs(&mut self, now: Tick) {
        let none_chooses = self.scratch.vc_candidates.is_empty();
        let shared = shared_outputs(&self.scratch.vc_requests);
        for number in 0..self.scratch.vc_requests.len() {
            let VcRequest { queue, output, open } = self.scratch.vc_requests[number];
            if none_chooses && shared >> (output % 64) & 1 == 0 {
                self.accept_first(queue as usize, open, now);
                continue;
            }
            for vc in bits(open) {
                let of_router = output * self.rules.vcs + fitted!(vc, u32);
                self.scratch.vc_candidates.push((of_router, queue));
            }
        }
        self.scratch.vc_requests.clear();
        if !self.scratch.vc_candidates.is_empty() {
            self.allocate_in_rounds(now);
        }
    }

    /// Grants a packet the open virtual channel of an output that comes first in its cyclic order.
    /// No other packet asks for that output.
    #[inline(always)]
    pub(super) fn accept_first(&mut self, queue: usize, open: u16, now: Tick) {
        let state = &mut self.state.queues[self.first_queue + queue];
        let output = usize::from(state.output);
        let first = u32::from(state.output) * self.rules.vcs;
        let accepts = u32::from(state.accepts).saturating_sub(first);
        let vc = first_from(open, accepts).expect("one is open");
        state.accepts = fitted!(first + vc, u16) + 1;
        let place = self.vc(output, fitted!(vc, u8));
        self.state.vcs[place].pointer = fitted!(queue, u16) + 1;
        self.give(queue, output, fitted!(vc, u8), place, now);
    }

    /// Grants virtual channels in rounds of offers, where packets may compete or have a choice.
    fn allocate_in_rounds(&mut self, now: Tick) {
        let mut vc_candidates = std::mem::take(&mut self.scratch.vc_candidates);
        let mut offers = std::mem::take(&mut self.scratch.offers);
        let mut losers = std::mem::take(&mut self.scratch.losers);
        vc_candidates.sort_unstable();
        losers.clear();
        losers.extend(vc_candidates.iter().map(|candidate| candidate.1));
        for round in 0..self.rules.sharing.iterations {
            offers.clear();
            for of_vc in vc_candidates.chunk_by(|a, b| a.0 == b.0) {
                let (output, vc) = self.vc_of(of_vc[0].0);
                let place = self.vc(output, vc);
                let pointer = self.state.vcs[place].pointer;
                let first = of_vc.iter().min_by_key(|candidate| turn(candidate.1, pointer));
                offers.extend(first);
            }
            if offers.is_empty() {
                break;
            }
            offers.sort_unstable_by_key(|&(_, queue)| queue);
            for of_queue in offers.chunk_by(|a, b| a.1 == b.1) {
                let queue = of_queue[0].1 as usize;
                let vc = self.accepted(queue, of_queue.iter().map(|offer| offer.0), now);
                let (output, number) = self.vc_of(vc);
                let place = self.vc(output, number);
                if round == 0 {
                    self.state.vcs[place].pointer = fitted!(queue, u16) + 1;
                    self.queue(queue).accepts = fitted!(vc, u16) + 1;
                }
                self.give(queue, output, number, place, now);
                vc_candidates.retain(|&(other, loser)| other != vc && loser as usize != queue);
            }
        }
        losers.retain(|&queue| self.queue(queue as usize).vc_state != VcState::Active);
        for &queue in &losers {
            self.lose(queue as usize, now);
        }
        (self.scratch.vc_candidates, self.scratch.offers, self.scratch.losers) =
            (vc_candidates, offers, losers);
        self.scratch.vc_candidates.clear();
    }

    /// The output and the virtual channel there of a number that counts by output, then virtual
    /// channel.
    fn vc_of(&self, number: u32) -> (usize, u8) {
        ((number / self.rules.vcs) as usize, fitted!(number % self.rules.vcs, u8))
    }

    /// Grants a packet a virtual channel.
    #[inline(always)]
    fn give(&mut self, queue: usize, output: usize, vc: u8, place: usize, now: Tick) {
        let &mut FlitQueue { vc_state, chooses, .. } = self.queue(queue);
        if vc_state == VcState::VcAlloc {
            self.withdraw(queue);
        }
        if chooses {
            self.take_hop(queue, output, vc, now);
        }
        if vc == self.common.context.channels.adaptive {
            let (output, time) = (self.router.first_output as usize + output, self.time(now));
            self.state.granted.get_mut(output).into_iter().for_each(|it| *it = time);
        }
        self.common.counters.grants += 1;
        self.common.latest = self.common.latest.max(self.time(now));
        self.activate((queue, output), (vc, place), now);
        if vc == self.common.context.trees.down && self.common.context.trees.together {
            self.hold_copy(queue, now);
        }
    }

    /// Handles a queue that took part in an allocation and was granted nothing.
    fn lose(&mut self, queue: usize, now: Tick) {
        let &mut FlitQueue { output, chooses, .. } = self.queue(queue);
        let takes =
            if chooses { self.rules.longest_crossbar } else { self.crossbar(output.into()) };
        let again = now + takes;
        self.queue(queue).again = again;
        self.wait(queue, again);
    }
}
