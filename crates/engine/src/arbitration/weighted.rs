//! Virtual channels in turn by their weights, some before others: InfiniBand's arbitration of
//! virtual lanes (\[infiniband\], section 7.6.9).

use serde::{Deserialize, Serialize};

use super::{OutputTurn, turn};
use flitlab_base::narrow::fitted;
use flitlab_model::FlitSharing;

/// A flit that was granted the switch.
#[derive(Clone, Copy)]
pub(crate) struct SentFlit {
    /// The virtual channel that its packet holds at the output, of so many.
    pub vc: u8,
    pub vcs: usize,
    /// Whether it is its packet's last.
    pub is_last: bool,
}

/// The state of an output's virtual channels of high priority.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Priority {
    /// The virtual channel whose turn it is among them, and flits left of the turn.
    pointer: u16,
    turn: u8,
    /// Whether virtual channels of low priority go first, until a packet of theirs ends.
    yields: bool,
    /// Flits of high priority since a packet of low priority has ended.
    sent: u32,
}

impl Priority {
    fn new(sharing: &FlitSharing) -> Self {
        Self { pointer: 0, turn: sharing.high_weight(0), yields: false, sent: 0 }
    }

    /// The states of some outputs; none if no virtual channel has a high priority.
    pub(crate) fn of_outputs(sharing: &FlitSharing, outputs: usize) -> Vec<Self> {
        let count = if sharing.high_priority.is_empty() { 0 } else { outputs };
        vec![Self::new(sharing); count]
    }

    /// Whether a virtual channel sends by its high priority rather than by its low one; it may have
    /// one or both.
    fn is_high(&self, sharing: &FlitSharing, vc: u8) -> bool {
        let (high, low) = (sharing.high_weight(vc.into()), sharing.weight(vc.into()));
        high > 0 && (low == 0 || !self.yields)
    }
}

/// Counts a flit that was granted the switch.
#[inline(never)]
pub(crate) fn count_flit(
    (low, priority): (&mut OutputTurn, Option<&mut Priority>),
    sharing: &FlitSharing,
    SentFlit { vc, vcs, is_last }: SentFlit,
) {
    let Some(priority) = priority else {
        return count((&mut low.pointer, &mut low.left), vc, vcs, |vc| sharing.weight(vc));
    };
    if priority.is_high(sharing, vc) {
        let turn = (&mut priority.pointer, &mut priority.turn);
        count(turn, vc, vcs, |vc| sharing.high_weight(vc));
        priority.sent = priority.sent.saturating_add(1);
        let reaches = |limit| priority.sent >= limit;
        priority.yields |= is_last && sharing.high_priority_limit.is_some_and(reaches);
    } else {
        count((&mut low.pointer, &mut low.left), vc, vcs, |vc| sharing.weight(vc));
        if is_last {
            (priority.yields, priority.sent) = (false, 0);
        }
    }
}

/// Whether a virtual channel of an output comes before another.
#[inline(never)]
pub(super) fn comes_first(
    (low, priority): (OutputTurn, Option<&Priority>),
    sharing: &FlitSharing,
    (one, other): (u8, u8),
) -> bool {
    let rank = |vc: u8| match priority {
        Some(priority) if priority.is_high(sharing, vc) => {
            (priority.yields, turn(vc.into(), priority.pointer))
        }
        Some(priority) => (!priority.yields, turn(vc.into(), low.pointer)),
        None => (false, turn(vc.into(), low.pointer)),
    };
    rank(one) < rank(other)
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
