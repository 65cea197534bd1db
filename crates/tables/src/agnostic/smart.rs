//! Smart-routing, in the manner of Cherkasova, Kotov and Rokicki (\[smart\], \[smart-1995\]): turns
//! are prohibited one by one, each where that costs least, until the paths close no cycle.
//!
//! The papers were not at hand, nor was the section on Smart in \[agnostic-survey\]. Only the
//! abstracts were, and that of the authors' report HPL-95-69, where "Smart Routing" is a
//! deadlock-free routing together with the balancing of traffic over it. The rest is how it is
//! commonly told, and could not be checked: one virtual channel; balanced shortest paths to begin
//! with; cycles of the channel dependency graph that are broken one after the other, where the mean
//! path and the balance suffer least; a time that grows with the ninth power of the routers. All
//! that follows is ours.
//!
//! - All paths begin as shortest ones, each over the channel with the least load. A turn that they
//!   make is taken into the dependency graph unless it closes a cycle there. If it does, a shortest
//!   such cycle is searched for. Of its turns the one is prohibited after which all pairs of
//!   terminals together have the fewest hops more, of equals the one after which the squares of the
//!   channels' loads have the least sum, then the first by number. The paths to those destinations
//!   to which it was made are searched for anew.
//! - The turns of a breadth-first tree are never prohibited. So every pair always has a path, and
//!   every cycle has a turn that can be prohibited, since those of a tree close none.
//! - Routers know a packet by its destination, so the ways to each destination form a tree, which
//!   is found from the destination on. Where some router can't join it, all take the ways along the
//!   breadth-first tree.
//! - Parallel cables count as one channel, and terminals of a router as one destination, until no
//!   cycle is left. All turns that close no cycle with those of the paths are then allowed,
//!   prohibited ones last, and the lightest paths are found over them for each terminal by itself,
//!   as `segments` finds them. Where that leaves a router out, the paths remain as they are.

use flitlab_base::registry::Row;
use std::collections::BTreeSet;

use super::dependency::{Dependencies, Numbering};
use super::graph::Graph;
use super::nue::{Search, Tree};
use super::up_down::center;
use super::{Algorithm, Applies, NoTable};
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `smart`.
    pub const SMART: Row<Self> = Row::new(
        "smart",
        "shortest paths, from which turns are taken where that costs least.",
        Self {
            avoids_deadlock: true,
            applies: Applies::SomeShapes,
            memory: |at| {
                let ways = at.routers.saturating_mul(at.routers).saturating_mul(8);
                at.pairs(2).saturating_add(ways).saturating_add(2 * at.dependencies + at.turns * 24)
            },
            ..Self::plain(|task| smart(&task.graph, &mut task.table))
        },
    );
}

/// The most routers that the table is made for: of the fabrics in results/nue one has so many. 250
/// at random take 12 seconds with 8 cables each and 46 with 16, and twice as many eight times as
/// long.
const MAX_ROUTERS: usize = 300;

/// Fills in the table.
///
/// # Errors
/// If there are too many routers.
fn smart(graph: &Graph, table: &mut ForwardingTable) -> Result<(), NoTable> {
    let routers = graph.connected_routers;
    if routers > MAX_ROUTERS {
        let reason = format!("smart is for at most {MAX_ROUTERS} routers, not {routers}");
        return Err(NoTable::Other(reason));
    }
    let (simple, simple_of) = graph.simple();
    let even = vec![1; simple.slots()];
    let tree = Tree::new(&simple, &simple.destinations, center(graph), &even, |_| true);
    let mut paths = Paths::new(&simple, &tree);
    paths.break_cycles();
    let turns = paths.all_turns();
    let pairs = graph.all_routers().flat_map(|router| {
        let onward = move |from| graph.outputs(router).map(move |to| (from, to));
        graph.inputs(router).flat_map(onward)
    });
    let mut search = Search::new(graph);
    search.start_with(pairs.filter(|&(from, to)| {
        let (from, to) = (simple_of[from as usize], simple_of[to as usize]);
        from != NONE && to != NONE && turns.has(from, to)
    }));
    let terminals = graph.destinations.len() as u64;
    let mut weights = vec![graph.weight_above(terminals); graph.slots()];
    for &destination in &graph.destinations {
        let ways = &paths.ways[paths.place[destination.router as usize] as usize];
        search.route(destination.router, &weights, |way| {
            way.fill(NONE);
            for &router in &ways.order[1..] {
                let channel = ways.channel[router as usize];
                let cables =
                    graph.outputs(router).filter(|&cable| simple_of[cable as usize] == channel);
                let lightest = cables.min_by_key(|&cable| weights[cable as usize]);
                way[router as usize] = lightest.expect("a cable of each channel");
            }
        });
        search.write(destination, table);
        search.add_weights(&mut weights);
    }
    Ok(())
}

/// The paths of all routers to those with terminals, and the turns that are prohibited.
struct Paths<'a> {
    graph: &'a Graph,
    tree: &'a Tree,
    numbering: Numbering,
    /// By turn, whether it is prohibited, and whether it is one of the tree, which never is.
    prohibited: Vec<bool>,
    kept: Vec<bool>,
    /// By turn, the ends to which paths make it.
    uses: Vec<u32>,
    /// The routers with terminals, and by router its place among them.
    ends: Vec<u32>,
    place: Vec<u32>,
    /// By place among the ends.
    ways: Vec<Ways>,
    /// By channel, the pairs of terminals whose paths take it.
    loads: Vec<i64>,
    /// The turns of the kept tree, and of those that are used all that have been looked at.
    acyclic: Dependencies<'a>,
    /// Turns that are used and have not been looked at.
    open: BTreeSet<(Channel, Channel)>,
}

/// The ways to one router.
#[derive(Clone)]
struct Ways {
    /// By router, the channel that it takes.
    channel: Vec<Channel>,
    /// The connected routers, each behind the one that its channel leads to.
    order: Vec<u32>,
}

/// The cost of prohibiting a turn: the additional hops of all pairs of terminals together, then the
/// increase of the sum of the squares of the channels' loads.
type Cost = (i64, i128);

impl<'a> Paths<'a> {
    fn new(graph: &'a Graph, tree: &'a Tree) -> Self {
        let numbering = Numbering::new(graph);
        let turns = numbering.count();
        let ends: Vec<u32> =
            graph.all_routers().filter(|&router| graph.hosts(router) > 0).collect();
        let mut place = vec![NONE; graph.routers()];
        for (number, &end) in (0..).zip(&ends) {
            place[end as usize] = number;
        }
        let none = Ways { channel: vec![NONE; graph.routers()], order: Vec::new() };
        let mut paths = Self {
            graph,
            tree,
            prohibited: vec![false; turns],
            kept: vec![false; turns],
            uses: vec![0; turns],
            ways: vec![none; ends.len()],
            loads: vec![0; graph.slots()],
            acyclic: Dependencies::new(graph),
            open: BTreeSet::new(),
            numbering,
            ends,
            place,
        };
        for (from, to) in tree.dependencies(graph) {
            let closes_none = paths.acyclic.insert(from, to);
            assert!(closes_none, "paths along a tree close no cycle");
            let turn = paths.turn(from, to);
            paths.kept[turn] = true;
        }
        for place in 0..paths.ends.len() {
            let ways = paths.find(place, None);
            paths.change(place, ways);
        }
        paths
    }

    /// The number of a turn.
    fn turn(&self, from: Channel, to: Channel) -> usize {
        self.numbering.number(from, self.graph.port(to))
    }

    /// Prohibits turns until the paths close no cycle.
    fn break_cycles(&mut self) {
        while let Some((from, to)) = self.open.pop_first() {
            let turn = self.turn(from, to);
            while self.uses[turn] > 0 && !self.acyclic.insert(from, to) {
                let cheapest = self.cheapest(&self.cycle(from, to));
                self.prohibit(cheapest.0, cheapest.1);
            }
        }
    }

    /// The channels of a shortest cycle that a turn closes, beginning with the turn's second
    /// channel.
    fn cycle(&self, from: Channel, to: Channel) -> Vec<Channel> {
        let graph = self.graph;
        let mut before = vec![NONE; graph.slots()];
        before[to as usize] = to;
        let mut order = vec![to];
        let mut number = 0;
        while before[from as usize] == NONE {
            let channel = order[number];
            number += 1;
            for next in graph.outputs(graph.target(channel)) {
                if before[next as usize] == NONE && self.acyclic.has(channel, next) {
                    before[next as usize] = channel;
                    order.push(next);
                }
            }
        }
        let mut cycle = vec![from];
        let mut at = from;
        while at != to {
            at = before[at as usize];
            cycle.push(at);
        }
        cycle.reverse();
        cycle
    }

    /// The turn of a cycle that costs least to prohibit.
    fn cheapest(&self, cycle: &[Channel]) -> (Channel, Channel) {
        let turns = cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1));
        let cuttable = turns.filter(|&(from, to)| !self.kept[self.turn(from, to)]);
        let best = cuttable.min_by_key(|&(from, to)| (self.cost(from, to), from, to));
        best.expect("the kept tree closes no cycle")
    }

    /// The places of the ends to which paths make a turn.
    fn users(&self, from: Channel, to: Channel) -> Vec<usize> {
        let (source, middle) = (self.graph.source(from) as usize, self.graph.source(to) as usize);
        let makes = |&place: &usize| {
            let channel = &self.ways[place].channel;
            channel[source] == from && channel[middle] == to
        };
        (0..self.ends.len()).filter(makes).collect()
    }

    fn cost(&self, from: Channel, to: Channel) -> Cost {
        let mut change = vec![0; self.graph.slots()];
        for place in self.users(from, to) {
            self.carry(place, &self.ways[place], -1, &mut change);
            self.carry(place, &self.find(place, Some((from, to))), 1, &mut change);
        }
        let squares = change.iter().zip(&self.loads).map(|(&change, &load)| {
            let (change, load) = (i128::from(change), i128::from(load));
            change * (2 * load + change)
        });
        (change.iter().sum(), squares.sum())
    }

    /// Prohibits a turn and leads the paths that make it another way. None is prohibited twice, so
    /// that comes to an end.
    fn prohibit(&mut self, from: Channel, to: Channel) {
        let turn = self.turn(from, to);
        assert!(!self.prohibited[turn], "paths make no prohibited turns");
        self.prohibited[turn] = true;
        for place in self.users(from, to) {
            let ways = self.find(place, None);
            self.change(place, ways);
        }
    }

    /// Finds ways to an end without the prohibited turns, and without one more if it is given. Of
    /// equally short ones a router takes the one that it has, or else the one over the channel with
    /// the least load.
    fn find(&self, place: usize, without: Option<(Channel, Channel)>) -> Ways {
        let (graph, end) = (self.graph, self.ends[place]);
        let old = &self.ways[place].channel;
        let mut hops = vec![NONE; graph.routers()];
        let mut channel = vec![NONE; graph.routers()];
        let mut order = Vec::with_capacity(graph.connected_routers);
        hops[end as usize] = 0;
        order.push(end);
        let mut number = 0;
        let key = |out: Channel| (old[graph.source(out) as usize] != out, self.loads[out as usize]);
        while let Some(&at) = order.get(number) {
            number += 1;
            let next = channel[at as usize];
            let further = hops[at as usize] + 1;
            for input in graph.inputs(at) {
                let from = graph.source(input) as usize;
                if hops[from] < further {
                    continue;
                }
                let legal = next == NONE
                    || Some((input, next)) != without && !self.prohibited[self.turn(input, next)];
                if !legal {
                    continue;
                }
                if hops[from] == NONE {
                    hops[from] = further;
                    order.push(graph.source(input));
                } else if key(channel[from]) <= key(input) {
                    continue;
                }
                channel[from] = input;
            }
        }
        if order.len() < graph.connected_routers {
            self.tree.follow(graph, end, &mut channel);
            order = behind(graph, end, &channel);
        }
        Ways { channel, order }
    }

    /// Adds the pairs of terminals whose paths to an end take each channel, so many times.
    fn carry(&self, place: usize, ways: &Ways, times: i64, loads: &mut [i64]) {
        let graph = self.graph;
        let times = times * i64::from(graph.hosts(self.ends[place]));
        let mut flow: Vec<u32> = graph.all_routers().map(|router| graph.hosts(router)).collect();
        for &router in ways.order.iter().skip(1).rev() {
            let channel = ways.channel[router as usize];
            let carried = flow[router as usize];
            loads[channel as usize] += times * i64::from(carried);
            flow[graph.target(channel) as usize] += carried;
        }
    }

    /// Takes other ways to an end.
    fn change(&mut self, place: usize, ways: Ways) {
        let old = std::mem::replace(&mut self.ways[place], ways);
        let mut loads = std::mem::take(&mut self.loads);
        self.carry(place, &old, -1, &mut loads);
        self.carry(place, &self.ways[place], 1, &mut loads);
        self.loads = loads;
        for (from, to) in self.ways[place].turns(self.graph) {
            let turn = self.turn(from, to);
            self.uses[turn] += 1;
            if self.uses[turn] == 1 && !self.kept[turn] {
                self.open.insert((from, to));
            }
        }
        for (from, to) in old.turns(self.graph) {
            let turn = self.turn(from, to);
            self.uses[turn] -= 1;
            if self.uses[turn] == 0 && !self.kept[turn] {
                self.open.remove(&(from, to));
                if self.acyclic.has(from, to) {
                    self.acyclic.remove(from, to);
                }
            }
        }
    }

    /// The turns of the paths, and of all others those that close no cycle with them, ones not
    /// prohibited first.
    fn all_turns(&self) -> Dependencies<'a> {
        let (graph, mut turns) = (self.graph, self.acyclic.clone());
        for prohibited in [false, true] {
            for from in graph.all_channels() {
                for to in graph.outputs(graph.target(from)) {
                    let back = to == graph.opposite(from);
                    if !back && self.prohibited[self.turn(from, to)] == prohibited {
                        turns.insert(from, to);
                    }
                }
            }
        }
        turns
    }
}

/// The routers whose channels lead to one, each behind the one that its channel leads to.
fn behind(graph: &Graph, end: u32, channel: &[Channel]) -> Vec<u32> {
    let mut order = vec![end];
    let mut number = 0;
    while let Some(&at) = order.get(number) {
        number += 1;
        let follow =
            graph.inputs(at).filter(|&input| channel[graph.source(input) as usize] == input);
        order.extend(follow.map(|input| graph.source(input)));
    }
    order
}

impl Ways {
    /// The turns that they make.
    fn turns(&self, graph: &Graph) -> Vec<(Channel, Channel)> {
        let ways = self.order.iter().skip(1).map(|&router| self.channel[router as usize]);
        let turns = ways.map(|from| (from, self.channel[graph.target(from) as usize]));
        turns.filter(|&(_, to)| to != NONE).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Parameters;
    use super::super::tests::{generate, proved, random_fabric, torus};
    use super::*;
    use crate::ForwardingQuality;
    use flitlab_fabric::builders::RandomRegular;
    use flitlab_fabric::{Fabric, breadth_first};

    /// The mean path of `smart` and that of `up-down`, both proved.
    fn means(fabric: &Fabric) -> [f64; 2] {
        [Algorithm::SMART, Algorithm::UP_DOWN].map(|algorithm| {
            let table = generate(algorithm, fabric, 1);
            proved(fabric, &table);
            ForwardingQuality::new(fabric, &table).hops_mean
        })
    }

    /// Each direction of the ring loses one turn, and the one pair that made it goes three hops
    /// instead of two.
    #[test]
    fn a_ring_of_five_loses_two_turns() {
        let fabric = torus(&[5], 1, 1);
        let graph = Graph::new(&fabric);
        let tree = Tree::new(&graph, &graph.destinations, 0, &vec![1; graph.slots()], |_| true);
        let mut paths = Paths::new(&graph, &tree);
        paths.break_cycles();
        assert_eq!(paths.prohibited.iter().filter(|&&prohibited| prohibited).count(), 2);
        assert_eq!(means(&fabric)[0], 32.0 / 20.0);
    }

    #[test]
    fn paths_are_not_longer_than_those_of_up_down() {
        for seed in 1..=4 {
            let random = RandomRegular { routers: 32, degree: 5, terminals: 2, seed };
            let [smart, up_down] = means(&random.cabling().unwrap().fabric().unwrap());
            assert!(smart < up_down, "{seed}: {smart}, {up_down}");
        }
        let mut shorter = 0;
        for seed in 0..100 {
            let [smart, up_down] = means(&random_fabric(seed));
            assert!(smart <= up_down, "{seed}: {smart}, {up_down}");
            shorter += u32::from(smart < up_down);
        }
        assert!(shorter > 30, "on {shorter} of 100");
    }

    /// With all prohibited turns taken away each pair still has a way, and the paths are such ways.
    #[test]
    fn prohibited_turns_disconnect_no_pair() {
        let mut prohibited = 0;
        for seed in 0..100 {
            let fabric = random_fabric(seed);
            let (graph, _) = &Graph::new(&fabric).simple();
            let even = vec![1; graph.slots()];
            let tree = Tree::new(graph, &graph.destinations, center(graph), &even, |_| true);
            let mut paths = Paths::new(graph, &tree);
            paths.break_cycles();
            let gone = &|from, to| paths.prohibited[paths.turn(from, to)];
            prohibited += paths.prohibited.iter().filter(|&&gone| gone).count();
            let both = paths.kept.iter().zip(&paths.prohibited);
            assert!(both.into_iter().all(|(&kept, &gone)| !(kept && gone)), "{seed}");
            for &end in &paths.ends {
                let mut ahead = vec![false; graph.routers()];
                ahead[end as usize] = true;
                for last in graph.inputs(end) {
                    let mut hops = vec![NONE; graph.slots()];
                    breadth_first(last, &mut hops, &mut Vec::new(), |to| {
                        let before = graph.inputs(graph.source(to));
                        before.filter(move |&from| from != graph.opposite(to) && !gone(from, to))
                    });
                    for channel in graph.all_channels().filter(|&at| hops[at as usize] != NONE) {
                        ahead[graph.source(channel) as usize] = true;
                    }
                }
                let all = graph.all_routers().filter(|&at| graph.connected(at));
                assert!(all.into_iter().all(|at| ahead[at as usize]), "{seed}: {end}");
            }
            for ways in &paths.ways {
                let turns = ways.turns(graph);
                assert!(turns.into_iter().all(|(from, to)| !gone(from, to)), "{seed}");
            }
        }
        assert!(prohibited > 100, "{prohibited} turns");
    }

    #[test]
    fn too_many_routers_are_refused() {
        let fabric = torus(&[301], 1, 1);
        let error = Algorithm::SMART.generate(&fabric, &Parameters::default()).unwrap_err();
        assert_eq!(error.to_string(), "smart is for at most 300 routers, not 301");
        proved(&fabric, &generate(Algorithm::UP_DOWN, &fabric, 1));
    }
}
