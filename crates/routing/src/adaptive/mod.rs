//! Adaptive routing on tori: the directions that lead on, and the profit of detours.
//!
//! Three routings share these parts. The Adaptive Bubble Router takes any minimal direction. Pick
//! Orthant Routing chooses one of the 2^n orthants for a new packet. OutFlank Routing may send a
//! new packet through an intermediate node first. The last two weigh congestion against distance
//! with the same profit (\[outflank\], sections 2 and 3).
//!
//! | module | what it is for |
//! |---|---|
//! | [`compass`](Compass) | directions that lead on: the Adaptive Bubble Router |
//! | [`selection`](Selection) | the one of them that a packet prefers |
//! | [`rule`](AdaptiveRule) | the trait of rules with detours, and their rows in the registry |
//! | [`orthant`](orthants) | Pick Orthant Routing, GOAL, CQR |
//! | [`two_phase`](Valiant) | by way of a node that is drawn: Valiant's routing, ROMM, RLB |
//! | [`intermediate`](Candidate) | OutFlank Routing's intermediate nodes |
//! | [`profit`] | congestion against distance, equations (15) to (17) |
//! | [`pair`](PairDetours) | the intermediate nodes of one pair, with what each costs |
//! | `detours` | all detours of a torus, and the most profitable one |
//! | [`leg`](Leg) | hops left in each dimension, for routers that fix their directions once |
//!
//! This module knows no router: congestion comes in as one number a direction. All sets are defined
//! for any number of dimensions. Packets are derouted round rings. In dimensions that are open, or
//! have two nodes, they are derouted by outflanking intermediate nodes only.

mod compass;
mod detours;
mod intermediate;
mod leg;
mod orthant;
mod pair;
pub mod profit;
mod rule;
mod selection;
mod two_phase;

pub use compass::{Compass, Heading};
pub use detours::{Detours, Family};
use detours::{OUTFLANK, PROFIT};
pub use flitlab_model::Misroute;
pub use intermediate::{Candidate, Midpoint, Nodes, OutFlank, outflank, wraparound};
pub use leg::{Bearing, Leg, Tie};
use orthant::{CQR, GOAL};
pub use orthant::{ChannelQueue, Goal, orthants};
pub use pair::{IntermediateNode, PairDetours};
pub use rule::{
    AdaptiveKind, AdaptiveRule, AtInjection, AtRouter, Bind, BoundRule, ByDetours, Intermediate,
    Live, NonMinimalRule, Read, TwoPhase, When,
};
pub use selection::{Outputs, Selection, SelectionRule, drawn_at};
use two_phase::{RLB, ROMM, VALIANT};
pub use two_phase::{Rlb, Romm, Valiant};
