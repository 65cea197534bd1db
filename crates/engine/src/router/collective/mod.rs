//! The collective subnetwork as both kinds of routers have it: the trees along which packets are
//! combined and replicated, and what routers know of operations (docs/model.md, "Collective
//! subnetwork").
//!
//! All packets of all operations have one order, and every router sends them in that order. So each
//! router knows by a count which packet leaves next. An open operation's place is its number modulo
//! the number of operations that can be open.
//!
//! | module | what it is for |
//! |---|---|
//! | `trees` | the trees of operations as tables of outputs, shared by all parts |
//! | `units` | the state of reduction units: operands that are taken, results that are made |

#[cfg(test)]
mod plain;
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
