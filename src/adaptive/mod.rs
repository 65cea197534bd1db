//! Adaptive routing on tori: which directions lead on, and when a detour pays.
//!
//! Three routings share these parts. The Adaptive Bubble Router takes any minimal direction. Pick
//! Orthant Routing chooses one of the 2^n orthants for a new packet. OutFlank Routing may send a new
//! packet through an intermediate node first. The last two weigh congestion against distance with the
//! same profit (F. Versaci, "OutFlank Routing: Increasing Throughput in Toroidal Interconnection
//! Networks", ICPADS 2013, sections 2 and 3; papers/outflank-routing).
//!
//! | module | what it is for |
//! |---|---|
//! | [`leg`](Leg) | what is left of a way in each dimension, and in which direction |
//! | [`intermediate`](Candidate) | detours: intermediate nodes and orthants |
//! | [`profit`] | congestion against distance, equations (15) to (17) |
//!
//! Nothing here knows a router: congestion comes in as one number a direction. All sets are defined
//! for any number of dimensions; every dimension must be a ring.

mod intermediate;
mod leg;
pub mod profit;

pub use intermediate::{
    Candidate, Collinear, Derouting, Midpoint, OutFlank, orthants, outflank, wraparound,
};
pub use leg::{Leg, Tie};
