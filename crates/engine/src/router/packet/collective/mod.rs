//! The collective subnetwork: packets that routers combine on the way up a tree and replicate on
//! the way down (docs/model.md, "Collective subnetwork").
//!
//! A router's **reduction unit** takes operands out of the buffers of the upper virtual channel and
//! makes results of them. It sends the results on from two queues of its own. Packets on the lower
//! virtual channel stay in their buffers until all their copies have been sent. Results and copies
//! ask for outputs as any other packet does, and take part in the arbitration.
//!
//! All packets of all operations have one order, and every router sends them in that order. So each
//! router knows by a count which packet leaves next. An open operation's place is its number modulo
//! the number of operations that can be open.
//!
//! | module | what it is for |
//! |---|---|
//! | `trees` | the trees of operations as tables of outputs, shared by all parts |
//! | `units` | the state of reduction units |
//! | `reduction_unit` | taking operands, making results |
//! | `copies` | sending results and copies |

mod copies;
#[cfg(test)]
mod plain;
mod reduction_unit;
#[cfg(test)]
mod tests;
pub(crate) mod trees;
pub(crate) mod units;

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
