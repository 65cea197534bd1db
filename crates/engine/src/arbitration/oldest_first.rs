//! Oldest first: the flit of the packet that was created first. Of equal ones it is that of the
//! lowest source, then that of the lowest number. A packet that goes down a tree may have all three
//! in common with another one of its root: then the first queue counts.

use super::{Switch, SwitchCandidate, Turns};
use flitlab_base::units::Picoseconds;

/// The rank of a flit's packet by age, and of its queue.
#[inline(always)]
pub(super) fn age(
    switch: &Switch<'_, impl Turns>,
    candidate: &SwitchCandidate,
) -> (Picoseconds, u32, u32, u32) {
    let (created, source, sequence) = switch.turns.age(candidate.queue);
    (created, source, sequence, candidate.queue)
}
