//! Virtual channels in turn by their weights, some before others: InfiniBand's arbitration of
//! virtual lanes (\[infiniband\], section 7.6.9).

use serde::{Deserialize, Serialize};

use super::active_vc::ActiveVc;
use super::allocation::SwitchCandidate;
use super::router_view::FlitRouterView;
use super::turn;
use flitlab_base::narrow::fitted;
use flitlab_model::FlitSharing;

/// The state of an output's virtual channels of high priority.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Priority {
    /// The virtual channel whose turn it is among them, and flits left of the turn.
    pointer: u16,
    turn: u8,
    /// Whether virtual channels of low priority go first, until a packet of theirs ends.
    yields: bool,
    /// Flits of high priority since a packet of low priority has ended.
    sent: u32,
}

impl Priority {
    pub(super) fn new(sharing: &FlitSharing) -> Self {
        Self { pointer: 0, turn: sharing.high_weight(0), yields: false, sent: 0 }
    }

    /// Whether a virtual channel sends by its high priority rather than by its low one; it may have
    /// one or both.
    fn is_high(&self, sharing: &FlitSharing, vc: u8) -> bool {
        let (high, low) = (sharing.high_weight(vc.into()), sharing.weight(vc.into()));
        high > 0 && (low == 0 || !self.yields)
    }
}

impl FlitRouterView<'_, '_> {
    /// Whether the virtual channel of one flit comes before that of another at their output by
    /// weights.
    #[inline(never)]
    pub(super) fn has_turn(&self, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        self.rank(one) < self.rank(other)
    }

    /// The rank of a flit's virtual channel; the lowest comes first.
    #[inline(always)]
    fn rank(&self, candidate: &SwitchCandidate) -> (bool, u32) {
        let output = self.router.first_output as usize + candidate.output as usize;
        let vc = candidate.out_vc.into();
        match self.state.priorities.get(output) {
            Some(priority) if priority.is_high(&self.rules.sharing, candidate.out_vc) => {
                (priority.yields, turn(vc, priority.pointer))
            }
            Some(priority) => (!priority.yields, turn(vc, self.state.outputs[output].pointer)),
            None => (false, turn(vc, self.state.outputs[output].pointer)),
        }
    }

    /// Counts the next flit of an active virtual channel in the turn of that channel.
    #[inline(never)]
    pub(super) fn take_turn(&mut self, active_vc: usize) {
        let ActiveVc { output_port, out_vc: vc, left, .. } = self.state.active_vcs[active_vc];
        let (output, is_last) = (output_port as usize, left == 1);
        let sharing = &self.rules.sharing;
        let vcs = self.rules.vcs as usize;
        let low = &mut self.state.outputs[output];
        let Some(priority) = self.state.priorities.get_mut(output) else {
            let weight = |vc| sharing.weight(vc);
            return count((&mut low.pointer, &mut low.turn), vc, vcs, weight);
        };
        if priority.is_high(sharing, vc) {
            let turn = (&mut priority.pointer, &mut priority.turn);
            count(turn, vc, vcs, |vc| sharing.high_weight(vc));
            priority.sent = priority.sent.saturating_add(1);
            let reaches = |limit| priority.sent >= limit;
            priority.yields |= is_last && sharing.high_priority_limit.is_some_and(reaches);
        } else {
            count((&mut low.pointer, &mut low.turn), vc, vcs, |vc| sharing.weight(vc));
            if is_last {
                (priority.yields, priority.sent) = (false, 0);
            }
        }
    }
}

/// Counts a flit of a virtual channel in a turn. If it was another channel's turn, that one was
/// passed over. A turn that is used up goes on to the next virtual channel.
fn count((pointer, left): (&mut u16, &mut u8), vc: u8, vcs: usize, weight: impl Fn(usize) -> u8) {
    if *pointer != u16::from(vc) {
        (*pointer, *left) = (vc.into(), weight(vc.into()));
    }
    *left -= 1;
    if *left == 0 {
        let next = (usize::from(vc) + 1) % vcs;
        (*pointer, *left) = (fitted!(next, u16), weight(next));
    }
}
