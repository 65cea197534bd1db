//! What the visit of a router sends to other routers (docs/model.md, "Windows and threads").
//!
//! A visit reads and writes its own router and terminals only. The effects of a grant elsewhere lie
//! beyond the window: the packet asks in the next router, and its credits reach the router
//! upstream, a window later at the earliest.

use crate::router::packet::credits::Credit;

/// A packet under way to another router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub slot: u32,
    /// The router's part, its number there, and its input virtual channel.
    pub part: u32,
    pub router: u32,
    pub input_vc: u32,
}

/// Credits under way to another router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Returned {
    /// The `upstream` of the input port.
    pub upstream: u32,
    pub vc: u8,
    pub credit: Credit,
}

/// The effects of visits on other routers, which are delivered after a batch of visits.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub sent: Vec<Sent>,
    pub returned: Vec<Returned>,
}
