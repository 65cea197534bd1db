//! A lower bound on the load of the fullest channel, if packets go the ways of a relation.
//!
//! It is the bound of [`LoadBound`](crate::LoadBound), by the same reasoning. For any lengths of
//! the channels, the sum of the pairs' shortest ways, divided by the sum of all lengths, is at most
//! the maximum load. Here only the ways of the relation count, so the bound is higher or equal.
//! Lengths are whole numbers, so the quotient is exact.

use super::NoSelection;
use super::ways::Ways;
use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Fabric, NONE};
use flitlab_routing::relation::Relation;

/// Steps of the search for lengths.
const STEPS: u32 = 300;
/// The length of the longest channel.
const LONGEST: f64 = 1_048_576.0;

/// A lower bound on the load of the fullest channel, in pairs of terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationBound {
    /// Length of each channel.
    pub lengths: Vec<u64>,
    /// The sum of the pairs' shortest ways.
    pub paths: u128,
}

impl RelationBound {
    /// Looks for lengths with a high bound.
    ///
    /// # Errors
    /// If a pair has no way, or there is too little memory.
    pub fn new(fabric: &Fabric, relation: &Relation) -> Result<Self, NoSelection> {
        let all = Ways::all(fabric, relation)?;
        let hosts: Vec<u64> =
            fabric.terminals_by_router().iter().map(|own| own.len() as u64).collect();
        let slots = fabric.channel_slots() as usize;
        let live: Vec<bool> =
            (0..fabric.channel_slots()).map(|channel| fabric.target(channel).is_some()).collect();
        let mut exponents = vec![0.0; slots];
        let mut best = Self { lengths: vec![1; slots], paths: 0 };
        for step in 0..STEPS {
            let highest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let length = |(exponent, &live): (&f64, &bool)| -> u64 {
                if live { rounded(libm::exp(exponent - highest) * LONGEST) } else { 0 }
            };
            let lengths: Vec<u64> = exponents.iter().zip(&live).map(length).collect();
            let mut loads = vec![0.0; slots];
            let paths = all.iter().map(|ways| shortest(ways, &lengths, &hosts, &mut loads)).sum();
            let found = Self { lengths, paths };
            let value = found.value();
            if value > best.value() {
                best = found;
            }
            let most = loads.iter().copied().fold(0.0, f64::max);
            let pace = 2.0 / (1.0 + f64::from(step) / 8.0).sqrt();
            for (exponent, load) in exponents.iter_mut().zip(&loads) {
                *exponent += pace * (load - value) / f64::max(most, 1.0);
            }
        }
        Ok(best)
    }

    /// The bound before rounding up.
    pub fn value(&self) -> f64 {
        self.paths as f64 / self.all().max(1) as f64
    }

    fn all(&self) -> u128 {
        self.lengths.iter().map(|&length| u128::from(length)).sum()
    }

    /// The bound on a whole number: loads are whole numbers.
    pub fn rounded(&self) -> u64 {
        narrow(self.paths.div_ceil(self.all().max(1)))
    }
}

/// The shortest ways to one destination together; adds what they put on channels, equally short
/// ones sharing.
fn shortest(ways: &Ways, lengths: &[u64], hosts: &[u64], loads: &mut [f64]) -> u128 {
    let nodes = ways.nodes();
    let mut least = vec![u64::MAX; nodes as usize];
    let rest = |least: &[u64], next: u32| if next == NONE { 0 } else { least[next as usize] };
    for node in 0..nodes {
        let of_edges = ways.edges(node).iter();
        let lengths = of_edges.map(|edge| rest(&least, edge.next) + lengths[edge.channel as usize]);
        least[node as usize] = lengths.min().expect("a node has hops");
    }
    let mut flow = vec![0.0; nodes as usize];
    let mut paths = 0;
    for &(source, node) in &ways.sources {
        let pairs = hosts[source as usize] * hosts[ways.destination as usize];
        paths += u128::from(pairs) * u128::from(least[node as usize]);
        flow[node as usize] += pairs as f64;
    }
    for node in (0..nodes).rev().filter(|&node| least[node as usize] < u64::MAX) {
        let own = flow[node as usize];
        if own == 0.0 {
            continue;
        }
        let best = || {
            ways.edges(node).iter().filter(|edge| {
                rest(&least, edge.next) + lengths[edge.channel as usize] == least[node as usize]
            })
        };
        let share = own / best().count() as f64;
        for edge in best() {
            loads[edge.channel as usize] += share;
            if edge.next != NONE {
                flow[edge.next as usize] += share;
            }
        }
    }
    paths
}
