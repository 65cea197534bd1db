//! How packets of collective operations are told from others, and their routes.

use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;

/// In place of the number of an announced message: the packet belongs to a collective operation.
pub(crate) const COLLECTIVE: u32 = NONE - 1;

/// The route of a packet: the operation, and the packet's number in its message.
pub(crate) fn route(operation: u32, packet: u32) -> u64 {
    u64::from(operation) | u64::from(packet) << 32
}

/// The operation and the packet's number in a route.
pub(crate) fn parts(route: u64) -> (u32, u32) {
    (narrow(route & u64::from(u32::MAX)), narrow(route >> 32))
}
