//! The shortest legal routes of every pair of a region's nodes.
//!
//! A route is a header: an optional first step, a direction for each dimension that is left to go,
//! an optional last step. Headers that lead through the same channels are one route, the one with
//! the fewest steps. Where failures or the region's edges forbid all routes of the torus' distance,
//! the shortest of the longer ones are taken.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::search::{Finder, Found, Routes, Search};
use super::{Freedoms, Selection};
use crate::{Header, Region, RouteTable};
use flitlab_fabric::Channel;

/// A pair of nodes with its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Node number of the source.
    pub source: u32,
    /// Node number of the destination, another than the source.
    pub destination: u32,
    /// Its routes among those of its source: headers, and channels, `hops` for each route.
    pub(super) headers: u32,
    pub(super) channels: u32,
    /// Hops of each of its routes.
    pub hops: u16,
    pub(super) routes: u16,
    /// How often its first route changes direction.
    pub(super) turns: u8,
    /// What it adds to the load of each channel of its route: 1, or its part of a traffic.
    pub(super) weight: u32,
}

impl Pair {
    /// Number of its routes.
    pub fn routes(&self) -> usize {
        usize::from(self.routes)
    }

    /// Whether it matters to channel loads which of its routes is taken.
    pub(super) fn is_open(&self) -> bool {
        self.routes > 1 && self.weight > 0
    }
}

/// All pairs of a region and their shortest legal routes.
#[derive(Clone, Debug)]
pub struct Choices<'f> {
    region: Region<'f>,
    /// The pairs that have a route, by source, then destination.
    pub pairs: Vec<Pair>,
    /// By source router.
    routes: Vec<Routes>,
    /// The pairs without a route, source and destination.
    pub unroutable: Vec<(u32, u32)>,
}

impl<'f> Choices<'f> {
    /// Lists the routes of all ordered pairs of different nodes, by source, then destination.
    pub fn new(region: Region<'f>, freedoms: Freedoms) -> Self {
        let finder = Finder::new(&region, freedoms);
        let found: Vec<Found> =
            region.nodes().par_iter().map(|&source| finder.routes_from(source)).collect();
        let mut pairs = Vec::with_capacity(found.iter().map(|found| found.pairs.len()).sum());
        let mut routes = vec![Routes::default(); region.fabric().routers() as usize];
        let mut unroutable = Vec::new();
        for (&source, found) in region.nodes().iter().zip(found) {
            pairs.extend(found.pairs);
            routes[source as usize] = found.routes;
            unroutable.extend(found.unroutable);
        }
        Self { region, pairs, routes, unroutable }
    }

    /// The nodes between which the routes lead.
    pub fn region(&self) -> &Region<'f> {
        &self.region
    }

    /// How many routes a look at every pair that has a choice compares; at least 1.
    pub(super) fn evaluations(&self) -> u64 {
        let open = self.pairs.iter().filter(|pair| pair.is_open());
        open.map(|pair| pair.routes() as u64).sum::<u64>().max(1)
    }

    /// Whether pairs have a weight other than 1.
    pub(super) fn is_weighted(&self) -> bool {
        self.pairs.iter().any(|pair| pair.weight != 1)
    }

    /// The share of the pairs that have exactly one route, from 0 to 1.
    pub fn single_share(&self) -> f64 {
        let single = self.pairs.iter().filter(|pair| pair.routes() == 1).count();
        single as f64 / self.pairs.len().max(1) as f64
    }

    /// A pair with its routes; `None` if it has none.
    pub fn pair(&self, source: u32, destination: u32) -> Option<&Pair> {
        let key = |pair: &Pair| (pair.source, pair.destination);
        let place = self.pairs.binary_search_by_key(&(source, destination), key);
        place.ok().map(|place| &self.pairs[place])
    }

    /// How many pairs have how many routes: the numbers of routes that occur, in ascending order,
    /// each with the number of pairs.
    pub fn pairs_by_routes(&self) -> Vec<(usize, usize)> {
        let mut pairs = BTreeMap::new();
        for pair in &self.pairs {
            *pairs.entry(pair.routes()).or_insert(0) += 1;
        }
        pairs.into_iter().collect()
    }

    /// The header of a pair's route `number`.
    ///
    /// # Panics
    /// If the pair has not so many.
    pub fn header(&self, pair: &Pair, number: usize) -> Header {
        let headers = &self.routes[pair.source as usize].headers[pair.headers as usize..];
        headers[..pair.routes()][number]
    }

    /// The table that a selection stands for.
    pub fn table(&self, selection: &Selection) -> RouteTable {
        let mut table = RouteTable::empty(self.region.fabric());
        for (place, pair) in self.pairs.iter().enumerate() {
            let header = self.header(pair, selection.chosen(place));
            table.set(pair.source, pair.destination, header);
        }
        table
    }

    /// The channels of a pair's route `number`, from the source on.
    pub fn channels(&self, pair: &Pair, number: usize) -> &[Channel] {
        let hops = usize::from(pair.hops);
        let start = pair.channels as usize + number * hops;
        &self.routes[pair.source as usize].channels[start..start + hops]
    }
}

/// The pairs of a region that have no legal route, source and destination.
pub fn unroutable(region: &Region<'_>, freedoms: Freedoms) -> Vec<(u32, u32)> {
    if region.is_whole_torus() {
        // Direction order routes every pair.
        return Vec::new();
    }
    let finder = Finder::new(region, freedoms);
    let of = |&source: &u32| {
        let mut search = Search::new(&finder);
        let mut none = region.nodes().to_vec();
        none.retain(|&destination| {
            search.find(source, destination);
            destination != source && search.found.is_empty()
        });
        none.into_iter().map(move |destination| (source, destination))
    };
    region.nodes().par_iter().flat_map_iter(of).collect()
}

/// Bytes that [`Choices`] and a table made of them take, estimated from a few sources.
pub fn memory_needed(region: &Region<'_>, freedoms: Freedoms) -> u64 {
    const SAMPLE: usize = 8;
    let nodes = region.nodes();
    let finder = Finder::new(region, freedoms);
    let sample: Vec<u32> =
        nodes.iter().copied().step_by(nodes.len().div_ceil(SAMPLE).max(1)).collect();
    let bytes = |&source: &u32| {
        let routes = finder.routes_from(source).routes;
        (routes.headers.len() * size_of::<Header>() + routes.channels.len() * size_of::<Channel>())
            as u64
    };
    let routes = sample.iter().map(bytes).sum::<u64>() / sample.len().max(1) as u64;
    // Selections that are compared hold two bytes a pair each.
    let pairs = nodes.len() as u64 * (size_of::<Pair>() + 8) as u64;
    let routers = u64::from(region.fabric().routers());
    nodes.len() as u64 * (routes + pairs) + routers * routers * size_of::<Header>() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Turns;
    use super::*;
    use crate::test_fabric as fabric;
    use flitlab_fabric::{Faults, Torus};

    #[test]
    fn half_rings_can_be_gone_both_ways() {
        let fabric = fabric(&[4, 4], &[]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        assert_eq!(choices.pairs.len(), 16 * 15);
        let routes = |source, destination| {
            let of = |pair: &&Pair| (pair.source, pair.destination) == (source, destination);
            choices.pairs.iter().find(of).unwrap().routes()
        };
        assert_eq!((routes(0, 1), routes(0, 2), routes(0, 10), routes(0, 6)), (1, 2, 4, 2));
    }

    #[test]
    fn a_route_of_each_choice_leads_from_source_to_destination_by_live_channels() {
        for (sizes, cables) in [
            (&[4, 2, 2, 2][..], &[][..]),
            (&[4, 4, 4], &[(0, 0), (17, 1), (40, 2)]),
            (&[2, 2], &[]),
        ] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            for pair in &choices.pairs {
                for number in 0..pair.routes() {
                    let mut at = pair.source;
                    for &channel in choices.channels(pair, number) {
                        assert_eq!(fabric.source(channel), at);
                        at = fabric.target(channel).unwrap();
                    }
                    assert_eq!(at, pair.destination);
                }
            }
        }
    }

    /// The channels of all shortest legal routes of a pair, by trying every walk of that length and
    /// every way to split it into first step, directions and last step.
    fn by_brute_force(region: &Region<'_>, turns: &Turns, pair: &Pair) -> BTreeSet<Vec<u32>> {
        let (torus, hops) = (region.torus(), usize::from(pair.hops));
        let half = torus.dimensions() as u32;
        let mut walks = vec![(pair.source, vec![])];
        for _ in 0..hops {
            let longer = |(at, steps): &(u32, Vec<u32>)| {
                let (at, steps) = (*at, steps.clone());
                (0..2 * half).filter_map(move |step| {
                    Some((region.step(at, step)?, [&steps[..], &[step]].concat()))
                })
            };
            walks = walks.iter().flat_map(longer).collect();
        }
        // Directions ascend, and no dimension is gone both ways.
        let ordered = |steps: &[u32]| {
            let both = |&step: &u32| steps.contains(&((step + half) % (2 * half)));
            steps.is_sorted() && !steps.iter().any(both)
        };
        let legal = |steps: &[u32]| {
            [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(first, last)| {
                if first + last > hops || first + last == hops && hops > 1 {
                    return false;
                }
                let middle = &steps[first..hops - last];
                let after = |number: usize| {
                    let at = |at, &step: &u32| region.step(at, step).unwrap();
                    steps[..number].iter().fold(pair.source, at)
                };
                let turn = |number: usize| {
                    let (arrival, departure) = (steps[number - 1], steps[number]);
                    let is_turn = arrival.abs_diff(departure) != half && arrival != departure;
                    let allowed = || turns.allows(after(number), arrival, departure);
                    is_turn && (arrival < departure || allowed())
                };
                ordered(middle)
                    && (first == 0 || steps[0] < half && (hops == 1 || turn(1)))
                    && (last == 0 || steps[hops - 1] >= half && (hops == 1 || turn(hops - 1)))
            })
        };
        let there = walks.into_iter().filter(|(at, _)| *at == pair.destination);
        there.map(|(_, steps)| steps).filter(|steps| legal(steps)).collect()
    }

    #[test]
    fn the_routes_of_a_pair_are_all_that_brute_force_finds() {
        for (sizes, cables) in [
            (&[4, 4][..], &[][..]),
            (&[2, 2, 2], &[]),
            (&[3, 4], &[(0, 0), (5, 1), (7, 0)]),
            (&[4, 2, 2], &[(0, 1)]),
        ] {
            let fabric = fabric(sizes, cables);
            let region = Region::new(&fabric);
            let turns = Freedoms::default().turns(&region);
            let choices = Choices::new(region.clone(), Freedoms::default());
            for pair in &choices.pairs {
                let route = |number| {
                    let directions = region.torus().directions();
                    let channels = choices.channels(pair, number).iter();
                    channels.map(|channel| channel % directions).collect::<Vec<u32>>()
                };
                let listed: BTreeSet<Vec<u32>> = (0..pair.routes()).map(route).collect();
                assert_eq!(listed.len(), pair.routes());
                let found = by_brute_force(&region, &turns, pair);
                assert_eq!(listed, found, "{sizes:?} {cables:?} {pair:?}");
                for hops in 1..pair.hops {
                    let shorter = Pair { hops, ..*pair };
                    assert!(by_brute_force(&region, &turns, &shorter).is_empty(), "{pair:?}");
                }
            }
            let counted = choices.pairs_by_routes();
            assert_eq!(counted.iter().map(|it| it.1).sum::<usize>(), choices.pairs.len());
            let single = counted.iter().find(|it| it.0 == 1).map_or(0, |it| it.1);
            assert_eq!(single as f64 / choices.pairs.len() as f64, choices.single_share());
        }
    }

    #[test]
    fn moved_routes_are_those_that_a_search_finds() {
        for sizes in [&[4, 5][..], &[3, 2, 4], &[4, 2, 2, 2], &[3, 1, 4]] {
            let fabric = fabric(sizes, &[]);
            let region = Region::new(&fabric);
            let mut finder = Finder::new(&region, Freedoms::default());
            let moved: Vec<Found> =
                region.nodes().iter().map(|&at| finder.routes_from(at)).collect();
            assert!(finder.patterns.iter().any(Option::is_some), "{sizes:?}");
            finder.patterns.clear();
            for (&source, moved) in region.nodes().iter().zip(&moved) {
                let searched = finder.routes_from(source);
                assert_eq!(moved.pairs, searched.pairs, "{sizes:?} {source}");
                assert_eq!(moved.routes.headers, searched.routes.headers);
                assert_eq!(moved.routes.channels, searched.routes.channels);
            }
        }
    }

    #[test]
    fn first_and_last_steps_route_pairs_that_direction_order_cannot() {
        let fabric = fabric(&[4, 4, 4], &[(0, 0), (0, 1), (0, 3)]);
        let unroutable = |first_and_last_steps, relaxation| {
            let freedoms = Freedoms { first_and_last_steps, relaxation };
            Choices::new(Region::new(&fabric), freedoms).unroutable.len()
        };
        let (plain, steps, relaxed) =
            (unroutable(false, false), unroutable(true, false), unroutable(true, true));
        assert!(plain > steps && steps >= relaxed, "{plain} {steps} {relaxed}");
    }

    #[test]
    fn routes_stay_inside_the_region() {
        let box_of_six = [0, 1, 2, 4, 5, 6];
        let outside = (0..16).filter(|node| !box_of_six.contains(node)).collect();
        let faults = Faults { outside, ..Faults::default() };
        let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&faults).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        assert_eq!(choices.pairs.len(), 6 * 5);
        for pair in &choices.pairs {
            for number in 0..pair.routes() {
                for &channel in choices.channels(pair, number) {
                    assert!(box_of_six.contains(&fabric.target(channel).unwrap()));
                }
            }
        }
    }
}
