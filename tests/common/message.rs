//! Messages of load.

use flitlab::traffic::{Kind, Message};
use flitlab::units::Picoseconds;

/// A message of data.
pub fn data(time: Picoseconds, source: u32, destination: u32, bytes: u64) -> Message {
    Message { time, source, destination, bytes, kind: Kind::Data, tag: 0 }
}
