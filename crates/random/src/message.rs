//! Messages of load.

use flitlab_base::units::Picoseconds;
use flitlab_traffic::{Message, MessageKind};

/// A message of data; the time in picoseconds.
pub fn data(time: u64, source: u32, destination: u32, bytes: u64) -> Message {
    Message {
        time: Picoseconds(time),
        source,
        destination,
        bytes,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    }
}
