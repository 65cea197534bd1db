//! Oldest first: the flit of the packet that was created first. Of equal ones it is that of the
//! lowest source, then that of the lowest number.

use super::{Arbiter, Switch, SwitchCandidate};
use flitlab_base::units::Picoseconds;

/// The arbitration by age.
pub(super) struct OldestFirst;

impl Arbiter for OldestFirst {
    const NEEDS_SHARED_LINKS: bool = true;
    const BY_AGE: bool = true;

    #[inline(always)]
    fn is_offered(switch: &Switch<'_>, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        age(switch, one) < age(switch, other)
    }

    #[inline(always)]
    fn is_accepted(switch: &Switch<'_>, one: &SwitchCandidate, other: &SwitchCandidate) -> bool {
        age(switch, one) < age(switch, other)
    }
}

/// The rank of a flit's packet by age.
#[inline(always)]
fn age(switch: &Switch<'_>, candidate: &SwitchCandidate) -> (Picoseconds, u32, u32) {
    let queue = switch.queue(candidate);
    (queue.created, queue.source, queue.sequence)
}
