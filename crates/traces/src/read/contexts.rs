//! Numbers that tell the messages of groups apart whose members have ranks in common.

use std::collections::HashSet;

/// Those of [`Communicator::of`](flitlab_application::generate::communicator::Communicator::of).
const CONTEXTS: std::ops::RangeInclusive<u32> = 2..=254;

/// The most contexts of a rank.
pub(super) const MOST: usize = 253;

/// By context, the ranks that have a group of it.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    used: Vec<HashSet<u32>>,
}

impl Contexts {
    /// A context that no group with one of these members has; `None` if one is in too many groups.
    pub(super) fn take(&mut self, members: &[u32]) -> Option<u32> {
        for (place, context) in CONTEXTS.enumerate() {
            if place == self.used.len() {
                self.used.push(HashSet::new());
            }
            let used = &mut self.used[place];
            if !members.iter().any(|rank| used.contains(rank)) {
                used.extend(members);
                return Some(context);
            }
        }
        None
    }
}
