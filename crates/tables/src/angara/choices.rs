//! The shortest legal routes of every pair of a region's nodes.
//!
//! A route is a header: an optional first step, a direction for each dimension that is left to go,
//! an optional last step. Headers that lead through the same channels are one route, the one with
//! the fewest steps. Where failures or the region's edges forbid all routes of the torus' distance,
//! the shortest of the longer ones are taken.
//!
//! Large tori have hundreds of millions of pairs. So a pair is a number among [`Menus`], and the
//! rest is made when it is asked for: four bytes a pair, and none where the routes from one node
//! serve all the others of its rings, moved.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::menus::{Collecting, Menus};
use super::search::{Finder, Search};
use super::{Algorithm, Freedoms, Selection};
use crate::Region;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::Offsets;
use flitlab_routing::{Header, Route, RouteTable};

/// A pair of nodes with its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Node number of the source.
    pub source: u32,
    /// Node number of the destination, another than the source.
    pub destination: u32,
    /// Where its headers and output ports begin, `hops` ports for each route.
    headers: u32,
    ports: u32,
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
///
/// A pair's place is that of its source among the region's nodes, times their number, plus that of
/// its destination.
#[derive(Clone, Debug)]
pub struct Choices<'f> {
    region: Region<'f>,
    menus: Menus,
    /// How many pairs have each menu.
    pairs_of_menu: Vec<u64>,
    /// The menu of each destination, or [`NONE`], by row: a row a node, or a model if the region is
    /// even.
    rows: Vec<u32>,
    even: Option<Even>,
    /// By place; empty if every pair weighs 1.
    weights: Vec<u32>,
    /// By channel, the first channel of the router to which it leads.
    next: Vec<Channel>,
    /// The pairs without a route, source and destination.
    pub unroutable: Vec<(u32, u32)>,
}

/// A torus on which the routes from a node's model, moved, are those from the node.
#[derive(Clone, Debug)]
struct Even {
    offsets: Offsets,
    /// By node.
    row: Vec<u32>,
}

/// Sources that are searched from at a time, which bounds the memory that their routes take before
/// their menus are known.
const SOURCES: usize = 64;

impl<'f> Choices<'f> {
    /// Lists the routes of all ordered pairs of different nodes, by source, then destination.
    pub fn new(region: Region<'f>, freedoms: Freedoms) -> Self {
        let finder = Finder::new(&region, freedoms);
        let nodes = region.nodes();
        let offsets = finder.is_even().then(|| finder.offsets.clone());
        let is_model = |node: &u32| offsets.as_ref().is_none_or(|it| it.model(*node) == *node);
        let sources: Vec<u32> = nodes.iter().copied().filter(is_model).collect();
        let mut rows = Vec::with_capacity(sources.len() * nodes.len());
        let (mut collecting, mut unroutable) = (Collecting::default(), Vec::new());
        for part in sources.chunks(SOURCES) {
            let found: Vec<Vec<Listed>> =
                part.par_iter().map(|&source| routes_from(&finder, nodes, source)).collect();
            for (&source, found) in part.iter().zip(found) {
                for (&destination, routes) in nodes.iter().zip(found) {
                    rows.push(if routes.is_empty() { NONE } else { collecting.number(&routes) });
                    if routes.is_empty() && source != destination {
                        unroutable.push((source, destination));
                    }
                }
            }
        }
        let even = offsets.map(|offsets| {
            let row = |node| {
                let row = sources.binary_search(&offsets.model(node));
                narrow(row.expect("a model is a source"))
            };
            Even { row: nodes.iter().map(|&node| row(node)).collect(), offsets }
        });
        let mut sources_of_row = vec![0; sources.len()];
        match &even {
            Some(even) => even.row.iter().for_each(|&row| sources_of_row[row as usize] += 1),
            None => sources_of_row.fill(1),
        }
        let mut pairs_of_menu = vec![0; collecting.menus.list.len()];
        for (row, sources) in rows.chunks(nodes.len().max(1)).zip(sources_of_row) {
            for &menu in row.iter().filter(|&&menu| menu != NONE) {
                pairs_of_menu[menu as usize] += sources;
            }
        }
        let fabric = region.fabric();
        let first = |target: Option<u32>| target.map_or(NONE, |node| fabric.outputs(node).start);
        let next = (0..fabric.channel_slots()).map(|it| first(fabric.target(it))).collect();
        Self {
            menus: collecting.menus,
            pairs_of_menu,
            rows,
            even,
            weights: Vec::new(),
            next,
            unroutable,
            region,
        }
    }

    /// The nodes between which the routes lead.
    pub fn region(&self) -> &Region<'f> {
        &self.region
    }

    /// The pairs that have a route, by source, then destination.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.pairs_by_place().map(|it| it.1)
    }

    /// The pairs that have a route, each with its place.
    pub(super) fn pairs_by_place(&self) -> impl Iterator<Item = (u32, Pair)> + '_ {
        (0..self.region.nodes().len()).flat_map(|source| self.pairs_of(source))
    }

    /// The pairs of the source at a place among the nodes that have a route, each with its place.
    pub(super) fn pairs_of(&self, source: usize) -> impl Iterator<Item = (u32, Pair)> + '_ {
        let nodes = self.region.nodes().len();
        (0..nodes).filter_map(move |destination| {
            let pair = self.between(source, destination)?;
            Some((narrow(source * nodes + destination), pair))
        })
    }

    /// Number of pairs that have a route.
    pub fn routable(&self) -> u64 {
        self.pairs_of_menu.iter().sum()
    }

    /// Number of places: more than any pair's.
    pub(super) fn places(&self) -> usize {
        self.region.nodes().len() * self.region.nodes().len()
    }

    /// The pair at a place.
    ///
    /// # Panics
    /// If it has no route.
    pub(super) fn at(&self, place: u32) -> Pair {
        let nodes: u32 = narrow(self.region.nodes().len());
        let (source, destination) = (place / nodes, place % nodes);
        self.between(source as usize, destination as usize).expect("a pair with a route")
    }

    /// The pair of two nodes, by their places among the nodes; `None` if it has no route.
    fn between(&self, source: usize, destination: usize) -> Option<Pair> {
        let nodes = self.region.nodes();
        let row = match &self.even {
            Some(even) => {
                let offset = even.offsets.offset(nodes[source], nodes[destination]);
                even.row[source] as usize * nodes.len() + offset as usize
            }
            None => source * nodes.len() + destination,
        };
        let menu = self.menus.list.get(self.rows[row] as usize)?;
        let weight = self.weights.get(source * nodes.len() + destination);
        Some(Pair {
            source: nodes[source],
            destination: nodes[destination],
            headers: menu.headers,
            ports: menu.ports,
            hops: menu.hops,
            routes: menu.routes,
            turns: menu.turns,
            weight: weight.copied().unwrap_or(1),
        })
    }

    /// Gives every pair the weight that `weight` has for it.
    pub(super) fn weigh(&mut self, weight: impl Fn(&Pair) -> u32) {
        let mut weights = vec![0; self.places()];
        let mut all_1 = true;
        for (place, pair) in self.pairs_by_place() {
            let weight = weight(&pair);
            weights[place as usize] = weight;
            all_1 &= weight == 1;
        }
        self.weights = if all_1 { Vec::new() } else { weights };
    }

    /// How many routes a look at every pair that has a choice compares; at least 1.
    pub(super) fn evaluations(&self) -> u64 {
        let routes: u64 = if self.is_weighted() {
            self.pairs().filter(Pair::is_open).map(|pair| pair.routes() as u64).sum()
        } else {
            let menus = self.menus.list.iter().zip(&self.pairs_of_menu);
            let open = menus.filter(|(menu, _)| menu.routes > 1);
            open.map(|(menu, pairs)| u64::from(menu.routes) * pairs).sum()
        };
        routes.max(1)
    }

    /// The hops of all pairs, each as often as it weighs.
    pub(super) fn hops(&self) -> u64 {
        if self.is_weighted() {
            return self.pairs().map(|pair| u64::from(pair.hops) * u64::from(pair.weight)).sum();
        }
        let menus = self.menus.list.iter().zip(&self.pairs_of_menu);
        menus.map(|(menu, pairs)| u64::from(menu.hops) * pairs).sum()
    }

    /// On a torus that looks alike from all nodes: the load of a channel, direction by direction, if
    /// every pair splits evenly over its routes. `None` elsewhere, and for weighted pairs.
    pub(super) fn even_loads(&self) -> Option<Vec<f64>> {
        let nodes = self.region.nodes();
        self.even.as_ref().filter(|_| self.rows.len() == nodes.len() && !self.is_weighted())?;
        let torus = self.region.torus();
        let mut loads = vec![0.0; torus.directions() as usize];
        for (_, pair) in self.pairs_of(0) {
            let share = 1.0 / pair.routes() as f64;
            let ports = &self.menus.ports[pair.ports as usize..];
            for &port in &ports[..pair.routes() * usize::from(pair.hops)] {
                loads[usize::from(port)] += share;
            }
        }
        let exists = |direction: &u32| torus.sizes()[torus.dimension(*direction)] > 1;
        let directions = (0..torus.directions()).filter(exists);
        Some(directions.map(|direction| loads[direction as usize]).collect())
    }

    /// Whether pairs have a weight other than 1.
    pub(super) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The share of the pairs that have exactly one route, from 0 to 1.
    pub fn single_share(&self) -> f64 {
        let single = self.pairs_by_routes().into_iter().find(|it| it.0 == 1);
        single.map_or(0, |it| it.1) as f64 / self.routable().max(1) as f64
    }

    /// A pair with its routes; `None` if it has none.
    pub fn pair(&self, source: u32, destination: u32) -> Option<Pair> {
        let place = |node| self.region.nodes().binary_search(&node).ok();
        self.between(place(source)?, place(destination)?)
    }

    /// How many pairs have how many routes: the numbers of routes that occur, in ascending order,
    /// each with the number of pairs.
    pub fn pairs_by_routes(&self) -> Vec<(usize, usize)> {
        let mut pairs = BTreeMap::new();
        for (menu, count) in self.menus.list.iter().zip(&self.pairs_of_menu) {
            *pairs.entry(usize::from(menu.routes)).or_insert(0) += narrow::<usize>(*count);
        }
        pairs.into_iter().collect()
    }

    /// The header of a pair's route `number`.
    ///
    /// # Panics
    /// If the pair has not so many.
    pub fn header(&self, pair: &Pair, number: usize) -> Header {
        self.menus.headers[pair.headers as usize..][..pair.routes()][number]
    }

    /// The table that a selection stands for.
    pub fn table(&self, selection: &Selection) -> RouteTable {
        let mut table = RouteTable::empty(self.region.fabric());
        for (place, pair) in self.pairs_by_place() {
            let header = self.header(&pair, selection.chosen(place));
            table.set(pair.source, pair.destination, header);
        }
        table
    }

    /// The table of a rule: `number` gives the number of a pair's route from its routes and from
    /// whether the coordinates of its source have an odd sum.
    ///
    /// Where the region is even, the table keeps a header for each offset, not for each pair.
    pub(super) fn table_by_rule(&self, number: impl Fn(&Pair, bool) -> u16) -> RouteTable {
        let fabric = self.region.fabric();
        let header = |pair: &Pair, is_odd| self.header(pair, usize::from(number(pair, is_odd)));
        let Some(Even { offsets, row }) = &self.even else {
            let mut table = RouteTable::empty(fabric);
            for (_, pair) in self.pairs_by_place() {
                table.set(pair.source, pair.destination, header(&pair, self.is_odd(pair.source)));
            }
            return table;
        };
        let nodes = self.region.nodes();
        let mut rows = Vec::with_capacity(2 * self.rows.len());
        for is_odd in [false, true] {
            let models = nodes.iter().filter(|&&node| offsets.model(node) == node);
            for &model in models {
                let pairs = (0..nodes.len()).map(|at| self.between(model as usize, at));
                rows.extend(pairs.map(|pair| pair.map(|pair| header(&pair, is_odd))));
            }
        }
        let models: u32 = narrow(self.rows.len() / nodes.len());
        let row = nodes.iter().zip(row).map(|(&node, row)| match self.is_odd(node) {
            true => row + models,
            false => *row,
        });
        let row = row.collect();
        RouteTable::by_offset(fabric, offsets.clone(), row, rows)
    }

    /// Whether the coordinates of a node have an odd sum.
    pub(super) fn is_odd(&self, node: u32) -> bool {
        self.region.torus().coordinates(node).iter().sum::<u32>() % 2 == 1
    }

    /// The channels of a pair's route `number`, from the source on.
    ///
    /// # Panics
    /// If the pair has not so many.
    pub fn channels(&self, pair: &Pair, number: usize) -> impl Iterator<Item = Channel> + Clone {
        assert!(number < pair.routes(), "{number}: {pair:?}");
        let hops = usize::from(pair.hops);
        let start = pair.ports as usize + number * hops;
        let mut first = self.region.channel(pair.source, 0);
        self.menus.ports[start..start + hops].iter().map(move |&port| {
            let channel = first + u32::from(port);
            first = self.next[channel as usize];
            channel
        })
    }

    /// Fills `channels` with those of all routes of a pair, `hops` for each.
    pub(super) fn all_channels(&self, pair: &Pair, channels: &mut Vec<Channel>) {
        channels.clear();
        (0..pair.routes()).for_each(|number| channels.extend(self.channels(pair, number)));
    }
}

/// The routes of a pair, the shortest that are legal.
type Listed = Vec<(Header, Route)>;

/// The routes from a source to each node.
fn routes_from(finder: &Finder<'_, '_>, nodes: &[u32], source: u32) -> Vec<Listed> {
    let mut search = Search::new(finder);
    let routes = |&destination: &u32| match destination {
        _ if destination == source => Vec::new(),
        _ => {
            search.find(source, destination);
            search.found.clone()
        }
    };
    nodes.iter().map(routes).collect()
}

/// All pairs of different nodes, source and destination, each with the routes that a search of its
/// own finds.
#[cfg(test)]
pub(crate) fn searched(region: &Region<'_>, freedoms: Freedoms) -> Vec<(u32, u32, Listed)> {
    let (finder, nodes) = (Finder::new(region, freedoms), region.nodes());
    let from = |&source: &u32| {
        let to = nodes.iter().zip(routes_from(&finder, nodes, source));
        to.filter(move |to| *to.0 != source).map(move |(&to, routes)| (source, to, routes))
    };
    nodes.iter().flat_map(from).collect()
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

/// Bytes that [`Choices`] and an algorithm's table made of them take, estimated.
pub fn memory_needed(region: &Region<'_>, freedoms: Freedoms, algorithm: &Algorithm) -> u64 {
    // A header, and what selections that are compared hold of each pair.
    const TABLE: u64 = 12;
    // Routes of a menu have a byte a hop; there are some menus a node, and more around failures.
    const NODE: u64 = 1_000;
    let nodes = region.nodes().len() as u64;
    let finder = Finder::new(region, freedoms);
    let torus = region.torus();
    let is_open = |dimension: &usize| !torus.closed(*dimension);
    let open = (0..torus.dimensions()).filter(is_open);
    let models: u64 = open.map(|dimension| u64::from(torus.sizes()[dimension])).product();
    let rows = if finder.is_even() { models } else { nodes };
    // Places have 32 bits. Of more nodes a table counts pair by pair, and is refused for its memory.
    let is_by_offset = algorithm.follows_rule && finder.is_even() && nodes <= u64::from(u16::MAX);
    let table = if is_by_offset { rows * TABLE } else { nodes * TABLE };
    nodes * (NODE + table + rows * size_of::<u32>() as u64)
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
        assert_eq!(choices.routable(), 16 * 15);
        let routes = |source, destination| {
            let of = |pair: &Pair| (pair.source, pair.destination) == (source, destination);
            choices.pairs().find(of).unwrap().routes()
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
            for pair in choices.pairs() {
                for number in 0..pair.routes() {
                    let mut at = pair.source;
                    for channel in choices.channels(&pair, number) {
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
        let half = narrow::<u32>(torus.dimensions());
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
            for pair in choices.pairs() {
                let route = |number| {
                    let directions = region.torus().directions();
                    let channels = choices.channels(&pair, number);
                    channels.map(|channel| channel % directions).collect::<Vec<u32>>()
                };
                let listed: BTreeSet<Vec<u32>> = (0..pair.routes()).map(route).collect();
                assert_eq!(listed.len(), pair.routes());
                let found = by_brute_force(&region, &turns, &pair);
                assert_eq!(listed, found, "{sizes:?} {cables:?} {pair:?}");
                for hops in 1..pair.hops {
                    let shorter = Pair { hops, ..pair };
                    assert!(by_brute_force(&region, &turns, &shorter).is_empty(), "{pair:?}");
                }
            }
            let counted = choices.pairs_by_routes();
            assert_eq!(counted.iter().map(|it| it.1 as u64).sum::<u64>(), choices.routable());
            let single = counted.iter().find(|it| it.0 == 1).map_or(0, |it| it.1);
            assert_eq!(single as f64 / choices.routable() as f64, choices.single_share());
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
        assert_eq!(choices.routable(), 6 * 5);
        for pair in choices.pairs() {
            for number in 0..pair.routes() {
                for channel in choices.channels(&pair, number) {
                    assert!(box_of_six.contains(&fabric.target(channel).unwrap()));
                }
            }
        }
    }
}
