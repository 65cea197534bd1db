//! The tags of messages where a network has several workloads: the number of a workload, its class,
//! stands in the lowest bits.

use super::Workload;
use flitlab_base::narrow::narrow;

/// The largest tag of a message. Above it there is room for the number of a workload.
pub const LARGEST_TAG: u64 = (1 << (64 - CLASS_BITS)) - 1;

const CLASS_BITS: u32 = 3;

/// Returns the class in a tag, and the tag of the class's own workload.
pub fn class_and_own_tag(tag: u64) -> (u8, u64) {
    (narrow(tag & ((1 << CLASS_BITS) - 1)), tag >> CLASS_BITS)
}

/// Returns the tag with a class, of a message to which the class's own workload gave `own`, at most
/// [`LARGEST_TAG`].
pub fn tag_of(class: u8, own: u64) -> u64 {
    own << CLASS_BITS | u64::from(class)
}

impl dyn Workload {
    /// Returns the class of the message with this tag: of several workloads, the number of its own.
    #[inline]
    pub fn class_of_tag(&self, tag: u64) -> u8 {
        if self.by_class().is_empty() { 0 } else { class_and_own_tag(tag).0 }
    }

    /// Returns the tag that the workload of its class gave to the message with this tag.
    #[inline]
    pub fn own_tag(&self, tag: u64) -> u64 {
        if self.by_class().is_empty() { tag } else { class_and_own_tag(tag).1 }
    }

    /// Returns the tag of a message to which the workload of its class gave `own`.
    #[inline]
    pub fn tag_in_class(&self, class: u8, own: u64) -> u64 {
        if self.by_class().is_empty() { own } else { tag_of(class, own) }
    }
}
