//! Adaptive routing on tori: which directions lead on, and when a detour pays.
//!
//! Three routings share these parts. The Adaptive Bubble Router takes any minimal direction. Pick
//! Orthant Routing chooses one of the 2^n orthants for a new packet. OutFlank Routing may send a
//! new packet through an intermediate node first. The last two weigh congestion against distance
//! with the same profit (\[outflank\], sections 2 and 3).
//!
//! | module | what it is for |
//! |---|---|
//! | [`compass`](Compass) | directions that lead on, from router to router: the Adaptive Bubble Router |
//! | [`selection`](Selection) | which of them a packet prefers |
//! | [`orthant`](orthants) | Pick Orthant Routing, GOAL, CQR |
//! | [`intermediate`](Candidate) | OutFlank Routing's intermediate nodes |
//! | [`profit`] | congestion against distance, equations (15) to (17) |
//! | [`detours`](Detours) | all detours of a torus, and the one that pays most |
//! | [`leg`](Leg) | what is left of a way in each dimension, for routers that decide it once |
//!
//! Nothing here knows a router: congestion comes in as one number a direction. All sets are defined
//! for any number of dimensions. Packets are derouted round rings, and in dimensions that are open, or have two
//! nodes, by outflanking intermediate nodes alone.

mod compass;
mod detours;
mod intermediate;
mod leg;
mod orthant;
pub mod profit;
mod selection;

pub use compass::{Compass, Heading};
pub use detours::{Decision, Detours, Family, Live};
pub use flitlab_model::Misroute;
pub use intermediate::{Candidate, Midpoint, Nodes, OutFlank, outflank, wraparound};
pub use leg::{Bearing, Leg, Tie};
pub use orthant::{channel_queue, goal, orthants};
pub use selection::{Selection, drawn_at};
