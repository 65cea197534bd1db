//! A selection of our own, which looks for the lowest load of the fullest channel: local search
//! over all ways that the relation has, not over a list of them.
//!
//! Pair by pair a path is taken out and put back where it costs least: a channel that carries L
//! pairs costs L^p, so the cheapest way is that which raises the sum of these powers least. With p
//! = 2 the loads become even, and with higher p the fullest channels count more and more. Each p
//! goes round until nothing changes, or a few times. Of channels that cost the same the virtual
//! channels decide, by the same rule. Several orders of the pairs are tried (the first by number,
//! the others drawn), and the lowest maximum counts, of equals the lowest sum of squares. Pairs
//! count as many times as they have pairs of terminals.
//!
//! [`LoadBound`](crate::LoadBound)'s reasoning also gives a bound for the ways of a relation: see
//! [`RelationBound`](super::RelationBound).

use flitlab_base::registry::Row;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::ways::{Edge, Ways};
use super::{Chosen, NoSelection, PathSelection, SelectionTask};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::relation::Hop;

impl PathSelection {
    /// `balanced`.
    pub const BALANCED: Row<Self> = Row::new(
        "balanced",
        "local search for the lowest load of the fullest channel.",
        Self { select: balanced },
    );
}

/// The powers, one after the other.
const POWERS: [u32; 5] = [2, 4, 8, 16, 32];
/// Times round all pairs with one power at most.
const ROUNDS: u32 = 8;
/// Orders of the pairs that are tried, if hops to look at are few enough.
const ORDERS: u64 = 12;
const WORK: u64 = 400_000_000;

fn balanced(task: &SelectionTask<'_>) -> Result<Chosen, NoSelection> {
    let ways = Ways::all(task.fabric, task.relation)?;
    let hosts: Vec<u64> =
        task.fabric.terminals_by_router().iter().map(|own| own.len() as u64).collect();
    let mut pairs = Vec::new();
    for (place, ways) in ways.iter().enumerate() {
        for &(source, node) in &ways.sources {
            let weight = hosts[source as usize] * hosts[ways.destination as usize];
            pairs.push(Pair { source, ways: place, node, weight });
        }
    }
    pairs.sort_unstable_by_key(|pair| (pair.source, pair.ways));
    let once = ways.iter().map(|ways| ways.size() as u64 * ways.sources.len() as u64).sum::<u64>();
    let orders = (WORK / (once * 20).max(1)).clamp(1, ORDERS);
    let mut random = ChaCha8Rng::seed_from_u64(task.parameters.seed);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let mut best: Option<(Value, Vec<Vec<Edge>>)> = None;
    for number in 0..orders {
        if number > 0 {
            order.shuffle(&mut random);
        }
        let mut search = Search::new(task, &ways, &pairs);
        let (value, paths) = search.run(&order);
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, paths));
        }
    }
    let (_, paths) = best.expect("an order at least");
    let hops = |path: Vec<Edge>| -> Vec<Hop> { path.iter().map(|edge| edge.hop).collect() };
    Ok(Chosen { paths: paths.into_iter().map(hops).collect() })
}

/// Maximum load of a channel, and the sum of the squares of all.
type Value = (u64, u128);

/// A pair of routers.
struct Pair {
    source: u32,
    /// Which ways are those to its destination, and its node there.
    ways: usize,
    node: u32,
    /// Pairs of terminals.
    weight: u64,
}

struct Search<'a> {
    ways: &'a [Ways],
    pairs: &'a [Pair],
    vcs: usize,
    /// By channel, and by (channel, virtual channel).
    channels: Vec<u64>,
    places: Vec<u64>,
    paths: Vec<Vec<Edge>>,
    /// By node: the cost from there on, and whether the present pair comes there.
    costs: Vec<(f64, f64)>,
    wanted: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(task: &SelectionTask<'_>, ways: &'a [Ways], pairs: &'a [Pair]) -> Self {
        let nodes = ways.iter().map(Ways::nodes).max().unwrap_or(0) as usize;
        let vcs = usize::from(task.relation.vcs());
        let slots = task.fabric.channel_slots() as usize;
        Self {
            ways,
            pairs,
            vcs,
            channels: vec![0; slots],
            places: vec![0; slots * vcs],
            paths: vec![Vec::new(); pairs.len()],
            costs: vec![(0.0, 0.0); nodes],
            wanted: vec![false; nodes],
        }
    }

    /// The best state on the way, by maximum and sum of squares, with its paths.
    fn run(&mut self, order: &[usize]) -> (Value, Vec<Vec<Edge>>) {
        let mut best = ((u64::MAX, u128::MAX), Vec::new());
        for power in POWERS {
            for _ in 0..ROUNDS {
                let mut changed = false;
                for &pair in order {
                    changed |= self.reroute(pair, power);
                }
                let value = self.value();
                if value < best.0 {
                    best = (value, self.paths.clone());
                }
                if !changed {
                    break;
                }
            }
        }
        best
    }

    fn value(&self) -> Value {
        let most = self.channels.iter().copied().max().unwrap_or(0);
        (most, self.channels.iter().map(|&load| u128::from(load) * u128::from(load)).sum())
    }

    fn load(&mut self, pair: usize, add: bool) {
        let weight = self.pairs[pair].weight;
        for edge in &self.paths[pair] {
            let place = edge.channel as usize * self.vcs + usize::from(edge.hop.vc);
            for load in [&mut self.channels[edge.channel as usize], &mut self.places[place]] {
                *load = if add { *load + weight } else { *load - weight };
            }
        }
    }

    /// Takes a pair's path out and puts the cheapest in; whether it is another.
    fn reroute(&mut self, number: usize, power: u32) -> bool {
        self.load(number, false);
        let Pair { ways, node: start, weight, .. } = self.pairs[number];
        let ways = &self.ways[ways];
        let most = self.channels.iter().copied().max().unwrap_or(0) + weight;
        let cost = |load: u64| -> f64 {
            let high = (load + weight) as f64 / most as f64;
            raised(high, power) - raised(load as f64 / most as f64, power)
        };
        self.wanted[..=start as usize].fill(false);
        self.wanted[start as usize] = true;
        for node in (0..=start).rev() {
            if self.wanted[node as usize] {
                for next in ways.edges(node).iter().map(|edge| edge.next) {
                    if next != NONE {
                        self.wanted[next as usize] = true;
                    }
                }
            }
        }
        let behind = |costs: &[(f64, f64)], edge: &Edge| {
            let rest = if edge.next == NONE { (0.0, 0.0) } else { costs[edge.next as usize] };
            let place = edge.channel as usize * self.vcs + usize::from(edge.hop.vc);
            let own = (cost(self.channels[edge.channel as usize]), cost(self.places[place]));
            (rest.0 + own.0, rest.1 + own.1)
        };
        for node in 0..=start {
            if self.wanted[node as usize] {
                let of_edges = ways.edges(node).iter().map(|edge| behind(&self.costs, edge));
                let least = of_edges
                    .min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
                self.costs[node as usize] = least.expect("a node has hops");
            }
        }
        let mut path = Vec::new();
        let mut at = start;
        while at != NONE {
            let next = ways
                .edges(at)
                .iter()
                .find(|&edge| behind(&self.costs, edge) == self.costs[at as usize]);
            let edge = *next.expect("the cheapest");
            path.push(edge);
            at = edge.next;
        }
        // A path of equal cost stays.
        let old = self.paths[number].iter().map(|edge| (edge.channel, edge.hop.vc));
        let kept = !self.paths[number].is_empty() && {
            let price = old.fold((0.0, 0.0), |sum: (f64, f64), (channel, vc): (Channel, u8)| {
                let place = channel as usize * self.vcs + usize::from(vc);
                (sum.0 + cost(self.channels[channel as usize]), sum.1 + cost(self.places[place]))
            });
            let least = self.costs[start as usize];
            // Sums in another order differ in their last digits.
            let near = |one: f64, other: f64| one <= other * (1.0 + 1e-12);
            near(price.0, least.0) && near(price.1, least.1)
        };
        if !kept {
            self.paths[number] = path;
        }
        self.load(number, true);
        !kept
    }
}

/// A power of a number, the same on every machine.
fn raised(base: f64, power: u32) -> f64 {
    let squarings: u32 = power.trailing_zeros();
    debug_assert!(power.is_power_of_two(), "powers are powers of two: {}", narrow::<u64>(power));
    (0..squarings).fold(base, |value, _| value * value)
}
