//! The collective subnetwork as routers have it that combine packets: those that grant them whole out of
//! buffers at inputs, and those that share links flit by flit (docs/model.md, "Collective subnetwork").
//! Its trees are those of [`network::trees`](crate::network::trees).
//!
//! All packets of all operations have one order, and every router sends them in that order. So each
//! router knows by a count which packet leaves next. An open operation's place is its number modulo
//! the number of operations that can be open.
//!
//! | module | what it is for |
//! |---|---|
//! | `units` | the state of reduction units: operands that are taken, results that are made |

pub(crate) mod units;
