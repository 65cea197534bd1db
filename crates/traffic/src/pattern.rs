//! Spatial patterns: who sends to whom.
//!
//! Each is a file here with its name, what it does, its keys in scenarios and its rule, and a row
//! of [`PATTERNS`]. Unless another source is named there, definitions are those of
//! \[dally-towles\], section 3.2. s is the sending node, d the destination, N the number of nodes
//! (failed ones included), b = log2 N; coordinates s_i run from 0 to k_i - 1.
//!
//! Where a router has several terminals, or the fabric no coordinates, a node is a terminal, and
//! patterns that speak of coordinates are not defined.
//!
//! Failed nodes neither send nor receive, nor do those that do not take part. Uniform, hotspot, group-shift, random-permutation and
//! all-to-all, incast, outcast and broadcast are patterns of the live nodes; a rank is a node's place among them. In the other ones, a partner
//! that has failed or is the source itself gets nothing: the source is silent if it has no other,
//! and leaves that partner out if it has (butterfly, matrix, pairs). Only uniform (on request) and
//! matrix send messages to oneself.
//!
//! All draws are of integers, so that they are equal on every machine.

mod all_to_all;
mod bit_complement;
mod bit_reverse;
mod butterfly;
mod coordinates;
mod error;
mod group_shift;
mod hotspot;
mod incast;
mod kind;
mod live;
mod matrix;
mod mixture;
mod neighbor;
mod nodes;
mod pairs;
mod random_permutation;
mod ranks;
mod routers;
mod rows;
mod rule;
mod shuffle;
mod sizes;
#[cfg(test)]
mod tests;
mod tornado;
mod transpose;
mod transpose_3d;
mod transpose_linear;
mod uniform;
mod worst_case;

use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

pub use error::PatternError;
use kind::no_keys;
pub use kind::{Bind, Partners, PatternKind, PatternSpec};
pub use live::Live;
pub use nodes::Nodes;
pub use rule::PatternRule;
pub use worst_case::WorstCase;

use super::share::ONE;
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;

/// The patterns that scenarios can name, in the order in which they are offered.
pub static PATTERNS: [Row<PatternKind>; 29] = [
    uniform::UNIFORM,
    transpose::TRANSPOSE,
    transpose_linear::TRANSPOSE_LINEAR,
    transpose_3d::TRANSPOSE_3D,
    neighbor::NEIGHBOR,
    tornado::TORNADO,
    ranks::RANK_TRANSPOSE,
    ranks::RANK_NEIGHBOR,
    ranks::RANK_TORNADO,
    bit_reverse::BIT_REVERSE,
    bit_complement::BIT_COMPLEMENT,
    butterfly::BUTTERFLY,
    shuffle::SHUFFLE,
    random_permutation::RANDOM_PERMUTATION,
    all_to_all::ALL_TO_ALL,
    group_shift::GROUP_SHIFT,
    routers::DIMENSION_COMPLEMENT,
    routers::DIMENSION_SHIFT,
    routers::ROUTER_SHIFT,
    routers::SHIFT,
    hotspot::HOTSPOT,
    hotspot::HOT_REGION,
    incast::INCAST,
    incast::OUTCAST,
    incast::BROADCAST,
    matrix::MATRIX,
    pairs::PAIRS,
    mixture::MIXTURE,
    worst_case::WORST_CASE,
];

/// A pattern bound to a fabric: who sends to whom.
///
/// Its memory does not grow with the number of live nodes, except for a random permutation,
/// permutations of routers, a shift of groups, a matrix, pairs, and an incast and its kin.
#[derive(Clone)]
pub struct Pattern {
    name: &'static str,
    live: Live,
    rule: Arc<dyn PatternRule>,
}

impl Pattern {
    /// Binds a pattern to the fabric's nodes. The seed decides patterns that are
    /// [`Partners::FixedBySeed`].
    ///
    /// # Errors
    /// If the pattern is undefined for the fabric's sizes, names nodes that the fabric has not, or
    /// leaves every live node without anybody to send to.
    pub fn new(spec: &PatternSpec, fabric: &Fabric, seed: u64) -> Result<Self, PatternError> {
        let live = Live::new(fabric, spec.nodes());
        let name = spec.name();
        if live.count() < 2 {
            return Err(PatternError::Nobody { pattern: name });
        }
        let nodes = Nodes::new(name, fabric, &live, seed).with_worst_case(spec.worst_case());
        let rule = spec.bind(&nodes)?.into();
        let pattern = Self { name, live, rule };
        if pattern.live.iter().any(|source| pattern.sends(source)) {
            Ok(pattern)
        } else {
            Err(PatternError::Nobody { pattern: name })
        }
    }

    /// Returns the pattern between nodes in proportion to their traffic, each pair once: source,
    /// destination and weight. Without weights no node sends.
    ///
    /// # Errors
    /// If the fabric has no such nodes.
    pub fn of_weights(weights: &[(u32, u32, f64)], fabric: &Fabric) -> Result<Self, PatternError> {
        let (live, name) = (Live::new(fabric, None), matrix::MATRIX.name);
        let rule = matrix::Matrix::new(weights, &Nodes::new(name, fabric, &live, 0))?;
        Ok(Self { name, live, rule: Arc::new(rule) })
    }

    /// Destination of the `index`-th message (from 0) of `source`; `None` if it sends nothing.
    ///
    /// Draws from `random` if the pattern is one whose partners are [`Partners::Drawn`]. Patterns
    /// with steps go through them cyclically, without those in which the source has no partner.
    #[inline]
    pub fn destination(&self, source: u32, index: u64, random: &mut ChaCha8Rng) -> Option<u32> {
        let live = self.live.contains(source);
        let to = live.then(|| self.rule.destination(source, index, &self.live, random)).flatten();
        debug_assert!(
            to.is_none_or(|to| self.live.contains(to)),
            "{} sends to a failed node",
            self.name
        );
        to
    }

    /// Fills a block with the [destinations](Self::destination) of the messages of `source`, which
    /// sends, from the `first`-th on: with one call of the rule.
    pub(super) fn destinations(
        &self,
        source: u32,
        first: u64,
        random: &mut ChaCha8Rng,
        block: &mut [u32],
    ) {
        self.rule.destinations(source, first, &self.live, random, block);
        debug_assert!(
            block.iter().all(|&to| self.live.contains(to)),
            "{} sends to a failed node",
            self.name
        );
    }

    /// After how long the pattern has gone through all that it does, if destinations depend on the
    /// time; else 0.
    pub fn cycle(&self) -> Picoseconds {
        self.rule.cycle()
    }

    /// The [destination](Self::destination) of a message of `source`, which sends, that is created
    /// at this time.
    pub(super) fn destination_at(
        &self,
        source: u32,
        index: u64,
        time: Picoseconds,
        random: &mut ChaCha8Rng,
    ) -> u32 {
        let to = self.rule.destination_at(source, index, time, &self.live, random);
        let to = to.expect("a source that sends has destinations");
        debug_assert!(self.live.contains(to), "{} sends to a failed node", self.name);
        to
    }

    /// Number of steps of a finite exchange: in each, every source sends to one partner at most.
    /// `None` for the patterns that draw destinations.
    pub fn steps(&self) -> Option<u32> {
        self.rule.steps(&self.live)
    }

    /// Returns the partner of `source` in this step of an exchange; `None` if it has none, or if
    /// the pattern has no steps.
    pub fn partner(&self, source: u32, step: u32) -> Option<u32> {
        let steps = self.steps().filter(|_| self.live.contains(source))?;
        (step < steps).then(|| rule::partner(&*self.rule, source, step, &self.live)).flatten()
    }

    /// Calls `each` once for each destination of `source`, with the average share of its messages
    /// that goes there. The shares of a source that sends add up to 1 but for rounding.
    pub fn for_each_share(&self, source: u32, mut each: impl FnMut(u32, f64)) {
        if self.sends(source) {
            self.rule.for_each_share(source, &self.live, &mut each);
        }
    }

    /// How much `source` sends, relative to the mean of all that send: 0 for silent and failed
    /// ones, else 1, but for a matrix, where it is proportional to the source's weights.
    pub fn rate(&self, source: u32) -> f64 {
        if self.sends(source) { self.rule.rate(source) } else { 0.0 }
    }

    /// The live terminals that send nothing, in ascending order: those without a partner other than
    /// themselves and failed nodes.
    pub fn silent(&self) -> impl Iterator<Item = u32> + '_ {
        self.live.iter().filter(|&source| !self.sends(source))
    }

    /// Bytes on the heap.
    pub fn memory(&self) -> usize {
        self.live.memory() + self.rule.memory()
    }

    /// Whether a terminal sends anything.
    pub(super) fn sends(&self, source: u32) -> bool {
        self.live.contains(source) && self.rule.sends(source, &self.live)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pattern")
            .field("name", &self.name)
            .field("live", &self.live)
            .finish()
    }
}
