//! Spatial patterns: who sends to whom.
//!
//! Unless another source is named, definitions are those of W. J. Dally and B. Towles, "Principles
//! and Practices of Interconnection Networks", 2004, section 3.2. s is the sending node, d the
//! destination, N the number of nodes (failed ones included), b = log2 N.
//!
//! | pattern | destination | needs |
//! |---|---|---|
//! | uniform | any other node, all alike; oneself too on request | |
//! | transpose | d_i = s_(i + n/2 mod n) of n coordinates: (x,y) -> (y,x) | n even, halves of equal sizes |
//! | transpose-linear | node i sqrt(N) + j to node j sqrt(N) + i (papers/outflank-routing) | N a square |
//! | transpose-3d | (x,y,z) -> (y,z,x) (papers/outflank-routing) | three equal sizes |
//! | neighbor | d_i = s_i + 1 mod k_i in every dimension | |
//! | tornado | d_i = s_i + ceil(k_i / 2) - 1 mod k_i in every dimension | |
//! | bit-reverse | d_i = s_(b - 1 - i) on bits | N = 2^b |
//! | bit-complement | d_i = not s_i on bits | N = 2^b |
//! | shuffle | d_i = s_(i - 1 mod b) on bits: rotated left by one | N = 2^b |
//! | butterfly | message i flips bit i mod b, as a fast Fourier transform does (papers/outflank-routing) | N = 2^b |
//! | hotspot | a share goes to the other hot nodes, all alike, the rest (all, from an only hot node) to any other node | |
//! | random-permutation | one permutation of the live nodes without fixed points, from the seed | |
//! | all-to-all | every other live node in turn: rank XOR i if the live nodes are a power of two (as MPICH's pairwise exchange), else rank + i, for i = 1, 2, ... | |
//! | matrix | drawn by weight | |
//! | pairs | the source's partners in turn, in the order given | |
//!
//! Where a router has several terminals, or the fabric no coordinates, a node is a terminal, and patterns that
//! speak of coordinates are not defined.
//!
//! Failed nodes neither send nor receive. Uniform, hotspot, random-permutation and all-to-all are
//! patterns of the live nodes; a rank is a node's place among them. In the other ones, a partner that
//! has failed or is the source itself gets nothing: the source is silent if it has no other, and
//! leaves that partner out if it has (butterfly, matrix, pairs). Only uniform (on request) and matrix
//! send messages to oneself.
//!
//! All draws are of integers, so that they are equal on every machine.

mod error;
mod hotspot;
mod live;
mod nodes;
mod permutation;
mod sizes;
mod table;
#[cfg(test)]
mod tests;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub use error::PatternError;

use super::PatternSpec;
use crate::narrow::narrow;
use crate::topology::Fabric;
use hotspot::Hotspot;
use live::Live;
use nodes::Nodes;
use permutation::Permutation;
use table::{Matrix, Pairs};

#[derive(Clone, Debug)]
enum Rule {
    Uniform {
        include_self: bool,
    },
    Hotspot(Hotspot),
    AllToAll,
    Butterfly {
        bits: u32,
    },
    Permutation(Permutation),
    /// Ranks.
    Derangement(Vec<u32>),
    Matrix(Matrix),
    Pairs(Pairs),
}

/// A pattern bound to a fabric: who sends to whom.
///
/// Its memory does not grow with the number of live nodes, except for a random permutation, a matrix
/// and pairs.
#[derive(Clone, Debug)]
pub struct Pattern {
    live: Live,
    rule: Rule,
}

impl Pattern {
    /// Binds a pattern to the fabric's nodes. The seed decides the random permutation only.
    ///
    /// # Errors
    /// If the pattern is undefined for the fabric's sizes, names nodes that the fabric has not, has
    /// shares or weights out of range, or leaves every live node without anybody to send to.
    pub fn new(spec: &PatternSpec, fabric: &Fabric, seed: u64) -> Result<Self, PatternError> {
        let (live, nodes) = (Live::new(fabric), Nodes::of(fabric));
        let torus = || nodes.torus(name(spec));
        let rule = match spec {
            PatternSpec::Uniform { include_self } => Rule::Uniform { include_self: *include_self },
            PatternSpec::Hotspot { nodes, share } => {
                Rule::Hotspot(Hotspot::new(nodes, *share, &live)?)
            }
            PatternSpec::AllToAll => Rule::AllToAll,
            PatternSpec::Butterfly => {
                Rule::Butterfly { bits: permutation::bits("butterfly", nodes)? }
            }
            PatternSpec::RandomPermutation => {
                Rule::Derangement(table::derangement(live.count(), seed))
            }
            PatternSpec::Matrix { entries } => Rule::Matrix(Matrix::new(entries, &live)?),
            PatternSpec::Pairs { pairs } => Rule::Pairs(Pairs::new(pairs, &live)?),
            PatternSpec::Transpose => Rule::Permutation(Permutation::transpose(torus()?)?),
            PatternSpec::TransposeLinear => {
                Rule::Permutation(Permutation::transpose_linear(nodes)?)
            }
            PatternSpec::Transpose3d => Rule::Permutation(Permutation::transpose_3d(torus()?)?),
            PatternSpec::Neighbor => Rule::Permutation(Permutation::neighbor(torus()?)),
            PatternSpec::Tornado => Rule::Permutation(Permutation::tornado(torus()?)),
            PatternSpec::BitReverse => Rule::Permutation(Permutation::bit_reverse(nodes)?),
            PatternSpec::BitComplement => Rule::Permutation(Permutation::bit_complement(nodes)?),
            PatternSpec::Shuffle => Rule::Permutation(Permutation::shuffle(nodes)?),
        };
        let pattern = Self { live, rule };
        if pattern.live.iter().any(|source| pattern.sends(source)) {
            Ok(pattern)
        } else {
            Err(PatternError::Nobody { pattern: name(spec) })
        }
    }

    /// Destination of the `index`-th message (from 0) of `source`; `None` if it sends nothing.
    ///
    /// Draws from `random` for uniform, hotspot and matrix only. Patterns with steps go through them
    /// cyclically, without those in which the source has no partner.
    #[inline]
    pub fn destination(&self, source: u32, index: u64, random: &mut ChaCha8Rng) -> Option<u32> {
        if !self.live.contains(source) {
            return None;
        }
        match &self.rule {
            Rule::Uniform { include_self: true } => {
                Some(self.live.at(random.random_range(0..self.live.count())))
            }
            Rule::Uniform { include_self: false } => Some(self.draw_other(source, random)),
            Rule::Hotspot(hotspot) => {
                let hot = hotspot.draw(source, random);
                Some(hot.unwrap_or_else(|| self.draw_other(source, random)))
            }
            Rule::Matrix(matrix) => matrix.draw(source, random),
            Rule::AllToAll => {
                self.partner(source, narrow(index % u64::from(self.live.count() - 1)))
            }
            Rule::Butterfly { bits } if self.live.all() => {
                Some(source ^ 1 << (index % u64::from(*bits)))
            }
            Rule::Butterfly { .. } => {
                let partners = self.butterflies(source).count();
                let place = index.checked_rem(partners as u64)?;
                self.butterflies(source).nth(narrow(place))
            }
            Rule::Permutation(_) | Rule::Derangement(_) => self.partner(source, 0),
            Rule::Pairs(pairs) => pairs.destination(source, index),
        }
    }

    /// Number of steps of a finite exchange: in each, every source sends to one partner at most.
    /// `None` for the patterns that draw destinations: uniform, hotspot, matrix.
    #[must_use]
    pub fn steps(&self) -> Option<u32> {
        match &self.rule {
            Rule::Uniform { .. } | Rule::Hotspot(_) | Rule::Matrix(_) => None,
            Rule::AllToAll => Some(self.live.count() - 1),
            Rule::Butterfly { bits } => Some(*bits),
            Rule::Permutation(_) | Rule::Derangement(_) => Some(1),
            Rule::Pairs(pairs) => Some(pairs.steps()),
        }
    }

    /// To whom `source` sends in this step of an exchange, if to anybody; `None` also for patterns
    /// without steps.
    #[must_use]
    pub fn partner(&self, source: u32, step: u32) -> Option<u32> {
        if !self.live.contains(source) || self.steps().is_none_or(|steps| step >= steps) {
            return None;
        }
        let partner = match &self.rule {
            Rule::Uniform { .. } | Rule::Hotspot(_) | Rule::Matrix(_) => return None,
            Rule::AllToAll => {
                let (rank, count) = (self.live.rank(source), self.live.count());
                self.live.at(if count.is_power_of_two() {
                    rank ^ (step + 1)
                } else {
                    (rank + step + 1) % count
                })
            }
            Rule::Butterfly { .. } => source ^ 1 << step,
            Rule::Permutation(permutation) => permutation.image(source),
            Rule::Derangement(images) => self.live.at(images[self.live.rank(source) as usize]),
            Rule::Pairs(pairs) => return pairs.partner(source, step),
        };
        (partner != source && self.live.contains(partner)).then_some(partner)
    }

    /// Calls `each` once for each destination of `source`, with the average share of its messages
    /// that goes there. The shares of a source that sends add up to 1 but for rounding.
    pub fn for_each_share(&self, source: u32, mut each: impl FnMut(u32, f64)) {
        if !self.sends(source) {
            return;
        }
        let others = || self.live.iter().filter(|&node| node != source);
        let other = 1.0 / f64::from(self.live.count() - 1);
        match &self.rule {
            Rule::Uniform { include_self: true } => {
                let share = 1.0 / f64::from(self.live.count());
                self.live.iter().for_each(|node| each(node, share));
            }
            Rule::Uniform { include_self: false } | Rule::AllToAll => {
                others().for_each(|node| each(node, other));
            }
            Rule::Hotspot(hotspot) => {
                let (hot, hot_each) = hotspot.shares(source);
                let rest = (1.0 - hot) * other;
                let share = |node| if hotspot.hot(node) { rest + hot_each } else { rest };
                others().filter(|&node| share(node) > 0.0).for_each(|node| each(node, share(node)));
            }
            Rule::Butterfly { .. } => {
                let share = 1.0 / self.butterflies(source).count() as f64;
                self.butterflies(source).for_each(|node| each(node, share));
            }
            Rule::Permutation(_) | Rule::Derangement(_) => {
                self.partner(source, 0).into_iter().for_each(|node| each(node, 1.0));
            }
            Rule::Matrix(matrix) => matrix.for_each_share(source, each),
            Rule::Pairs(pairs) => pairs.for_each_share(source, each),
        }
    }

    /// How much `source` sends, relative to the mean of all that send: 0 for silent and failed ones,
    /// else 1, but for a matrix, where it is proportional to the source's weights.
    #[must_use]
    pub fn rate(&self, source: u32) -> f64 {
        match &self.rule {
            Rule::Matrix(matrix) if self.sends(source) => matrix.rate(source),
            _ => f64::from(u8::from(self.sends(source))),
        }
    }

    /// The live terminals that send nothing, in ascending order: those without a partner other than
    /// themselves and failed nodes.
    pub fn silent(&self) -> impl Iterator<Item = u32> + '_ {
        self.live.iter().filter(|&source| !self.sends(source))
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn memory(&self) -> usize {
        let rule = match &self.rule {
            Rule::Hotspot(hotspot) => hotspot.memory(),
            Rule::Derangement(images) => images.capacity() * size_of::<u32>(),
            Rule::Matrix(matrix) => matrix.memory(),
            Rule::Pairs(pairs) => pairs.memory(),
            _ => 0,
        };
        self.live.memory() + rule
    }

    /// Whether a terminal sends anything.
    pub(super) fn sends(&self, source: u32) -> bool {
        self.live.contains(source)
            && match &self.rule {
                Rule::Uniform { .. } | Rule::Hotspot(_) | Rule::AllToAll => true,
                Rule::Butterfly { .. } => self.butterflies(source).next().is_some(),
                Rule::Permutation(_) | Rule::Derangement(_) => self.partner(source, 0).is_some(),
                Rule::Matrix(matrix) => matrix.rate(source) > 0.0,
                Rule::Pairs(pairs) => pairs.sends(source),
            }
    }

    /// Any live terminal but `source`.
    #[inline]
    fn draw_other(&self, source: u32, random: &mut ChaCha8Rng) -> u32 {
        let drawn = random.random_range(0..self.live.count() - 1);
        self.live.at(drawn + u32::from(drawn >= self.live.rank(source)))
    }

    /// The live partners of a butterfly, from bit 0.
    fn butterflies(&self, source: u32) -> impl Iterator<Item = u32> {
        (0..self.steps().unwrap_or(0)).filter_map(move |step| self.partner(source, step))
    }
}

/// The pattern's name in scenarios and messages.
fn name(spec: &PatternSpec) -> &'static str {
    match spec {
        PatternSpec::Uniform { .. } => "uniform",
        PatternSpec::Transpose => "transpose",
        PatternSpec::TransposeLinear => "transpose-linear",
        PatternSpec::Transpose3d => "transpose-3d",
        PatternSpec::Neighbor => "neighbor",
        PatternSpec::Tornado => "tornado",
        PatternSpec::BitReverse => "bit-reverse",
        PatternSpec::BitComplement => "bit-complement",
        PatternSpec::Butterfly => "butterfly",
        PatternSpec::Shuffle => "shuffle",
        PatternSpec::Hotspot { .. } => "hotspot",
        PatternSpec::RandomPermutation => "random-permutation",
        PatternSpec::AllToAll => "all-to-all",
        PatternSpec::Matrix { .. } => "matrix",
        PatternSpec::Pairs { .. } => "pairs",
    }
}
