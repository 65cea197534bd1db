//! The permutation of terminals that loads some channel most.
//!
//! For each channel the pairs of a permutation that load it most are a matching of sources and
//! destinations of the greatest weight, a pair's weight being the share of its packets on the
//! channel; the worst channel's are in the permutation (\[towles-dally\]). Terminals that are left
//! are matched likewise among themselves, again and again: so where channels are alike, all that can
//! are loaded as much. Matchings are found by
//! augmenting paths of the greatest gain (\[edmonds-karp\]), in whole numbers. Terminals of one
//! router that weigh the same are matched as one, as often as there are of them.
//!
//! No channel is matched whose pairs can't load it more than the worst one so far: all sources
//! together by their heaviest pairs each, or all destinations.

use std::collections::VecDeque;

use super::concurrent_flow::{Ways, for_each_share};
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;
use flitlab_routing::phased::{self, PhasedParameters};
use flitlab_routing::relation::NoRelation;

/// A permutation that loads a channel most.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// By terminal: where it sends to; itself if it sends nothing.
    pub partners: Vec<u32>,
    /// The channel that it loads most; none if no packet crosses one.
    pub channel: Option<Channel>,
    /// The flits that it sends over that channel in a flit time, relative to what this carries, if
    /// each terminal sends one. No permutation loads any channel more.
    pub load: f64,
    /// How many matchings were found.
    pub matchings: u32,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoWorstCase {
    /// Minimal routing, under which packets that choose are looked at, has no ways here.
    #[error(transparent)]
    Relation(#[from] NoRelation),
    /// It needs more memory than is free.
    #[error(transparent)]
    Memory(#[from] Shortage),
}

/// Weights are shares in this many parts.
const PARTS: f64 = (1_u64 << 32) as f64;

/// A pair of a source router and an end by its number, with its weight.
#[derive(Clone, Copy)]
struct Weighted {
    source: u32,
    end: u32,
    weight: i64,
}

/// Sources and destinations that are matched as one: routers, or terminals where these have ways of
/// their own.
struct Ends {
    /// By number: the terminals.
    terminals: Vec<Vec<u32>>,
}

impl WorstCase {
    /// Finds the permutation of these terminals. The shares are known of routings whose sources
    /// decide, and of tables. Of packets that choose on their way they are those of minimal routing,
    /// by [what the rule is seen beside](phased::beside), with ways shared alike; of adaptive
    /// routing on a torus those of its escape.
    ///
    /// # Errors
    /// If minimal routing has no ways, or memory is short.
    ///
    /// # Panics
    /// If a terminal has failed.
    pub fn new(fabric: &Fabric, routes: &Routes, terminals: &[u32]) -> Result<Self, NoWorstCase> {
        let mut by_router = vec![Vec::new(); fabric.routers() as usize];
        for &terminal in terminals {
            let router = fabric.terminal_router(terminal).expect("live");
            by_router[router as usize].push(terminal);
        }
        let mut sources = Ends { terminals: by_router };
        // Forwarding tables have a way to each terminal.
        let mut ends = match routes {
            Routes::Forwarding(_) => {
                Ends { terminals: terminals.iter().map(|&it| vec![it]).collect() }
            }
            _ => Ends { terminals: sources.terminals.clone() },
        };
        let pairs = sources.filled().count() as u64 * ends.filled().count() as u64;
        // Some three hops a pair, and what matchings take.
        claim("the worst case", pairs.saturating_mul(64))?;
        let weights = weights(fabric, routes, &sources, &ends)?;
        let mut partners: Vec<u32> = (0..fabric.terminals()).collect();
        let mut worst = Self { partners: Vec::new(), channel: None, load: 0.0, matchings: 0 };
        // The worst channel, and then that of the terminals that are left, and so on.
        while let Some((channel, found)) =
            fullest(&weights, (&sources, &ends), &mut worst.matchings)
        {
            if worst.channel.is_none() {
                (worst.channel, worst.load) = (Some(channel), found.weight as f64 / PARTS);
            }
            for (source, end, count) in found.pairs {
                let from = sources.terminals[source as usize].drain(..count);
                let to = ends.terminals[end as usize].drain(..count);
                from.zip(to).for_each(|(from, to)| partners[from as usize] = to);
            }
        }
        let from: Vec<u32> = sources.terminals.into_iter().flatten().collect();
        let to = ends.terminals.into_iter().flatten().collect();
        match_rest(&mut partners, &from, to);
        Ok(Self { partners, ..worst })
    }
}

/// The channel that a permutation of what is left can load most, and its matching; none if it loads
/// none.
fn fullest(
    weights: &[Vec<Weighted>],
    (sources, ends): (&Ends, &Ends),
    matchings: &mut u32,
) -> Option<(Channel, Matching)> {
    let mut channels: Vec<(i64, Channel)> = (0..)
        .zip(weights)
        .map(|(channel, weights)| (most(weights, sources, ends), channel))
        .filter(|&(most, _)| most > 0)
        .collect();
    channels.sort_by_key(|&(most, channel)| (-most, channel));
    let mut worst: Option<(Channel, Matching)> = None;
    for (most, channel) in channels {
        let least = worst.as_ref().map_or(0, |worst| worst.1.weight);
        if most <= least {
            break;
        }
        *matchings += 1;
        let found = Matching::new(&weights[channel as usize], sources, ends);
        if found.weight > least {
            worst = Some((channel, found));
        }
    }
    worst
}

impl Ends {
    fn filled(&self) -> impl Iterator<Item = u32> {
        let all = (0..).zip(&self.terminals);
        all.filter(|(_, own)| !own.is_empty()).map(|(number, _)| number)
    }

    fn count(&self, number: u32) -> i64 {
        narrow(self.terminals[number as usize].len())
    }
}

/// By channel: the pairs that load it, sources ascending, each with its share relative to what the
/// channel carries.
fn weights(
    fabric: &Fabric,
    routes: &Routes,
    sources: &Ends,
    ends: &Ends,
) -> Result<Vec<Vec<Weighted>>, NoWorstCase> {
    let mut weights = vec![Vec::new(); fabric.channel_slots() as usize];
    let mut add = |source: u32, end: u32, channel: Channel, share: f64| {
        let slowness = fabric.cable(channel).rate.slowness();
        let own: &mut Vec<Weighted> = &mut weights[channel as usize];
        let weight = rounded(share * slowness * PARTS);
        // A way may come to a channel in several parts.
        match own.last_mut() {
            Some(last) if (last.source, last.end) == (source, end) => last.weight += weight,
            _ => own.push(Weighted { source, end, weight }),
        }
    };
    let Routes::Relation(relation) = routes else {
        for source in sources.filled() {
            let from = sources.terminals[source as usize][0];
            for end in ends.filled() {
                let to = ends.terminals[end as usize][0];
                if fabric.terminal_router(to) != Some(source) {
                    routes.for_each_share(fabric, from, to, |channel, share| {
                        add(source, end, channel, share);
                    });
                }
            }
        }
        return Ok(weights);
    };
    let minimal = match &relation.rule {
        None => None,
        Some(rule) => {
            let parameters = PhasedParameters { vcs: 1, largest_packet: 1, clamps: true };
            let [minimal, _] = phased::beside(&**rule);
            Some(minimal.relation(fabric, &parameters)?)
        }
    };
    let ways = match &minimal {
        None => Ways::Of(&relation.relation, None),
        Some((rule, relation)) => Ways::Of(relation, Some(&**rule)),
    };
    let (from, to): (Vec<u32>, Vec<u32>) = (sources.filled().collect(), ends.filled().collect());
    for_each_share(fabric, ways, (&from, &to), add);
    Ok(weights)
}

/// The weight that no matching exceeds.
fn most(weights: &[Weighted], sources: &Ends, ends: &Ends) -> i64 {
    let by = |count: usize, of: &dyn Fn(&Weighted) -> u32, ends: &Ends| -> i64 {
        let mut heaviest = vec![0; count];
        for weighted in weights {
            let own = &mut heaviest[of(weighted) as usize];
            *own = weighted.weight.max(*own);
        }
        (0..).zip(heaviest).map(|(number, weight)| weight * ends.count(number)).sum()
    };
    let by_source = by(sources.terminals.len(), &|it| it.source, sources);
    by_source.min(by(ends.terminals.len(), &|it| it.end, ends))
}

/// Pairs of source and end, each as often as terminals of both are matched.
#[derive(Default)]
struct Matching {
    weight: i64,
    pairs: Vec<(u32, u32, usize)>,
}

impl Matching {
    /// Finds one of the greatest weight.
    fn new(weights: &[Weighted], sources: &Ends, ends: &Ends) -> Self {
        // Numbers among those that the channel concerns, sources before ends.
        let number = |of: &dyn Fn(&Weighted) -> u32| {
            let mut all: Vec<u32> = weights.iter().map(of).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (from, to) = (number(&|it| it.source), number(&|it| it.end));
        let place = |all: &[u32], it: u32| all.binary_search(&it).expect("it is one of them");
        let nodes = from.len() + to.len();
        let mut left: Vec<i64> = from.iter().map(|&it| sources.count(it)).collect();
        left.extend(to.iter().map(|&it| ends.count(it)));
        // By node: its pairs, and the node at their other end.
        let mut pairs = vec![Vec::new(); nodes];
        for (pair, weighted) in weights.iter().enumerate() {
            let source = place(&from, weighted.source);
            let end = from.len() + place(&to, weighted.end);
            pairs[source].push((pair, end));
            pairs[end].push((pair, source));
        }
        let mut matched = vec![0_i64; weights.len()];
        let mut weight = 0;
        loop {
            // The greatest gain of a path from a source with something left to each node.
            let mut gains = vec![i64::MIN; nodes];
            let mut behind: Vec<Option<(usize, usize)>> = vec![None; nodes];
            let mut is_waiting = vec![false; nodes];
            let mut waiting = VecDeque::new();
            for source in (0..from.len()).filter(|&it| left[it] > 0) {
                gains[source] = 0;
                is_waiting[source] = true;
                waiting.push_back(source);
            }
            while let Some(node) = waiting.pop_front() {
                is_waiting[node] = false;
                let is_source = node < from.len();
                for &(pair, other) in &pairs[node] {
                    if !is_source && matched[pair] == 0 {
                        continue;
                    }
                    let own = weights[pair].weight;
                    let gain = gains[node] + if is_source { own } else { -own };
                    if gain > gains[other] {
                        gains[other] = gain;
                        behind[other] = Some((pair, node));
                        if !std::mem::replace(&mut is_waiting[other], true) {
                            waiting.push_back(other);
                        }
                    }
                }
            }
            let open = (from.len()..nodes).filter(|&it| left[it] > 0 && gains[it] > 0);
            let Some(end) = open.max_by_key(|&it| (gains[it], std::cmp::Reverse(it))) else {
                break;
            };
            let way = |mut node: usize| {
                let mut way = Vec::new();
                while let Some((pair, before)) = behind[node] {
                    way.push((pair, before));
                    node = before;
                }
                (way, node)
            };
            let (way, source) = way(end);
            let mut count = left[end].min(left[source]);
            for &(pair, before) in &way {
                if before >= from.len() {
                    count = count.min(matched[pair]);
                }
            }
            for &(pair, before) in &way {
                matched[pair] += if before < from.len() { count } else { -count };
            }
            left[end] -= count;
            left[source] -= count;
            weight += count * gains[end];
        }
        let pairs = weights.iter().zip(matched).filter(|&(_, count)| count > 0);
        let pairs = pairs.map(|(it, count)| (it.source, it.end, narrow(count))).collect();
        Self { weight, pairs }
    }
}

/// Matches what no channel is loaded by, as it comes, and not with itself where that can be avoided.
fn match_rest(partners: &mut [u32], from: &[u32], mut to: Vec<u32>) {
    for place in 0..from.len() {
        let other = (0..from.len()).find(|&other| {
            to[place] == from[place] && to[other] != from[place] && to[place] != from[other]
        });
        if let Some(other) = other {
            to.swap(place, other);
        }
    }
    for (&from, to) in from.iter().zip(to) {
        partners[from as usize] = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agnostic::{Algorithm, Parameters};
    use crate::test_fabric;
    use flitlab_fabric::builders::{Dragonfly, GlobalCables, HyperX, RandomRegular};
    use flitlab_routing::phased::PhasedSpec;
    use flitlab_routing::{DirectionOrder, RelationRoutes};
    use std::sync::Arc;

    fn terminals(fabric: &Fabric) -> Vec<u32> {
        fabric.live_terminals().collect()
    }

    /// The load of the fullest channel, if each terminal sends one flit a flit time.
    fn load(fabric: &Fabric, routes: &Routes, partners: &[u32]) -> f64 {
        let mut loads = vec![0.0; fabric.channel_slots() as usize];
        for (from, &to) in (0..).zip(partners) {
            if from != to {
                let each = |channel: u32, share| loads[channel as usize] += share;
                routes.for_each_share(fabric, from, to, each);
            }
        }
        loads.into_iter().fold(0.0, f64::max)
    }

    /// Calls `each` with every permutation.
    fn permutations(partners: &mut Vec<u32>, first: usize, each: &mut dyn FnMut(&[u32])) {
        if first == partners.len() {
            return each(partners);
        }
        for other in first..partners.len() {
            partners.swap(first, other);
            permutations(partners, first + 1, each);
            partners.swap(first, other);
        }
    }

    fn check_against_all(fabric: &Fabric, routes: &Routes, what: &str) {
        let worst = WorstCase::new(fabric, routes, &terminals(fabric)).unwrap();
        let mut most = 0.0_f64;
        let mut partners: Vec<u32> = (0..fabric.terminals()).collect();
        permutations(&mut partners, 0, &mut |all| most = most.max(load(fabric, routes, all)));
        assert!((worst.load - most).abs() < 1e-6, "{what}: {} {most}", worst.load);
        let own = load(fabric, routes, &worst.partners);
        assert!((own - most).abs() < 1e-6, "{what}: {own} {most}");
        let mut to = worst.partners;
        to.sort_unstable();
        assert!(to.iter().copied().eq(0..fabric.terminals()), "{what}: no permutation");
    }

    fn order(fabric: &Fabric) -> Routes {
        Routes::DirectionOrder(
            DirectionOrder::new(fabric, flitlab_routing::DirectionRules::default()).unwrap(),
        )
    }

    #[test]
    fn no_permutation_loads_a_channel_more() {
        for sizes in [&[7][..], &[2, 3], &[3, 2], &[4, 2], &[2, 2, 2]] {
            let fabric = test_fabric(sizes, &[]);
            check_against_all(&fabric, &order(&fabric), &format!("{sizes:?}"));
        }
        for seed in [3, 14, 15] {
            let graph = |seed| RandomRegular { routers: 4, degree: 3, terminals: 2, seed };
            let connected = |seed| graph(seed).cabling().ok()?.fabric().ok();
            let fabric = (1000 * seed..).find_map(connected).unwrap();
            for algorithm in [&Algorithm::UP_DOWN, &Algorithm::MIN_HOP] {
                let table = algorithm.generate(&fabric, &Parameters::default()).unwrap().table;
                let routes = Routes::Forwarding(Arc::new(table));
                check_against_all(&fabric, &routes, &format!("{seed} {}", algorithm.name));
            }
        }
    }

    fn chosen(fabric: &Fabric, rule: &str) -> WorstCase {
        let parameters = PhasedParameters { vcs: 8, largest_packet: 1, clamps: false };
        let (rule, relation) = PhasedSpec::new(rule, "").relation(fabric, &parameters).unwrap();
        let routes = RelationRoutes::new(Arc::new(relation), Some(rule), 1);
        WorstCase::new(fabric, &Routes::Relation(routes), &terminals(fabric)).unwrap()
    }

    /// All a p terminals of a group over the one cable to another; all of a HyperX's switch's over
    /// one cable of a row, and as many of the other order.
    #[test]
    fn packets_that_choose_have_minimal_routings_worst_case() {
        for (a, h) in [(4, 2), (8, 4)] {
            let cables = GlobalCables::default();
            let (terminals, groups) = (h, a * h + 1);
            let fabric = Dragonfly { routers: a, terminals, global: h, groups, cables };
            let fabric = fabric.cabling().unwrap().fabric().unwrap();
            for rule in ["dragonfly-minimal", "ugal"] {
                let begun = std::time::Instant::now();
                assert_eq!(chosen(&fabric, rule).load, f64::from(a * h));
                println!("{} terminals: {:?}", fabric.terminals(), begun.elapsed());
            }
        }
        let hyperx = HyperX { sizes: vec![4, 4], redundancy: 1, terminals: 4 };
        let hyperx = hyperx.cabling().unwrap().fabric().unwrap();
        let worst = chosen(&hyperx, "omniwar");
        assert!((4.0..=8.0).contains(&worst.load), "{}", worst.load);
    }

    /// On a ring of k nodes tornado traffic loads the channels of one direction with floor((k - 1) /
    /// 2); in two dimensions a channel has the nodes of the row besides.
    #[test]
    fn direction_order_has_known_worst_cases() {
        for (size, load) in [(5, 2.0), (7, 3.0), (9, 4.0)] {
            let ring = test_fabric(&[size], &[]);
            let worst = WorstCase::new(&ring, &order(&ring), &terminals(&ring)).unwrap();
            assert_eq!(worst.load, load, "{size}");
        }
    }
}
