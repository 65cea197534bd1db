//! Lowers the highest channel load of a table.
//!
//! Where the most loaded channel carries the paths of a router, and of those behind it, to a
//! destination, the router is given another channel to it, if the loads on its new way stay below
//! that of the channel that is relieved. That goes on until the most loaded channels can't be
//! relieved. Either no dependency may close a cycle, in a table whose virtual channels go by
//! destination: then paths may become longer. Or paths have to stay as short as they are.

use flitlab_base::registry::Row;
use std::cmp::Reverse;

use priority_queue::PriorityQueue;

use super::Algorithm;
use super::dependency::{Dependencies, Numbering};
use super::graph::{Destination, Graph};
use super::nue::nue;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::NO_PORT;
use flitlab_routing::{ForwardingTable, VcAssignment};

/// In how many orders `nue-balanced` routes a virtual channel at most, and all virtual channels
/// together. With few virtual channels some orders are much better than others; with eight, moving
/// paths makes up for a bad one (results/nue).
const ORDERS: u8 = 8;
const ORDERS_OF_ALL_VCS: u8 = 16;

impl Algorithm {
    /// `nue-balanced`.
    pub const NUE_BALANCED: Row<Self> = Row::new(
        "nue-balanced",
        "the best of several tables of nue, its fullest channels relieved.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            parts_destinations: true,
            memory: |at| at.pairs(15).saturating_add(at.vcs * (at.dependencies + at.turns * 9)),
            ..Self::plain(|task| {
                let orders = (ORDERS_OF_ALL_VCS / task.parameters.vcs).clamp(1, ORDERS);
                nue(&task.graph, &mut task.table, task.parameters, orders);
                balance(&task.graph, &mut task.table, Keeps::NoCycle);
                Ok(())
            })
        },
    );
}

/// The property that a table keeps while its channels are relieved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Its dependencies close no cycle.
    NoCycle,
    /// The lengths of its paths.
    Lengths,
}

/// Lowers the highest load as far as this finds a way.
pub(super) fn balance(graph: &Graph, table: &mut ForwardingTable, keeps: Keeps) {
    let mut balance = Balance::new(graph, table, keeps);
    balance.run();
    balance.write(table);
}

/// Number of the most loaded channels that are tried before the search gives up.
const PATIENCE: usize = 64;

/// A channel that a router could take instead.
struct Move {
    /// The highest load on the new way.
    load: u64,
    hops: u32,
    router: u32,
    channel: Channel,
}

struct Balance<'a> {
    graph: &'a Graph,
    keeps: Keeps,
    numbering: Numbering,
    vcs: Vec<VcDependencies<'a>>,
    /// By place among the destinations.
    vc_of: Vec<usize>,
    /// By place among the destinations, then router: the channel towards it, and the terminals
    /// whose paths take that.
    ways: Vec<Channel>,
    flows: Vec<u32>,
    /// By channel, each path as often as the channel is slower.
    loads: Vec<u64>,
    /// By channel, the place of the destination whose paths were led away from it last. Those
    /// before it could not be then, and mostly still can't: to begin with them each time takes
    /// twice as long on a torus of 10x10x10.
    relieved: Vec<u32>,
    /// Marks of a path's routers: the number of the path, and the place on it.
    marks: Vec<(u32, u32)>,
    paths: u32,
}

struct VcDependencies<'a> {
    used: Dependencies<'a>,
    /// By dependency, the destinations to which paths need it.
    needed: Vec<u32>,
    /// Changes made, and by dependency after which of them it was last found to close a cycle.
    changes: u32,
    refused_after: Vec<u32>,
}

impl<'a> Balance<'a> {
    fn new(graph: &'a Graph, table: &mut ForwardingTable, keeps: Keeps) -> Self {
        let numbering = Numbering::new(graph);
        let vcs = (0..table.vc_count()).map(|_| VcDependencies {
            used: Dependencies::new(graph),
            needed: vec![0; numbering.count()],
            changes: 1,
            refused_after: vec![0; numbering.count()],
        });
        let destinations = graph.destinations.iter();
        let vc_of = destinations.clone().map(|at| match table.vc_assignment() {
            VcAssignment::ByDestination(vcs) => usize::from(vcs[at.terminal as usize]),
            _ => 0,
        });
        let size = graph.destinations.len() * graph.routers();
        let mut balance = Self {
            graph,
            keeps,
            vcs: vcs.collect(),
            vc_of: vc_of.collect(),
            ways: vec![NONE; size],
            flows: vec![0; size],
            loads: vec![0; graph.slots()],
            relieved: vec![0; graph.slots()],
            marks: vec![(0, 0); graph.routers()],
            paths: 0,
            numbering,
        };
        for (place, &destination) in destinations.enumerate() {
            balance.add(place, destination, table.row(destination.terminal));
        }
        balance
    }

    fn add(&mut self, place: usize, destination: Destination, row: &[u16]) {
        let graph = self.graph;
        let start = place * graph.routers();
        for router in graph.all_routers().filter(|&at| row[at as usize] != NO_PORT) {
            let channel = graph.first(router) + u32::from(row[router as usize]);
            self.ways[start + router as usize] = channel;
            self.flows[start + router as usize] = graph.hosts(router);
        }
        let mut order = vec![destination.router];
        self.behind(place, &mut order);
        for &router in order[1..].iter().rev() {
            let way = self.ways[start + router as usize];
            let next = graph.target(way);
            let flow = self.flows[start + router as usize];
            self.flows[start + next as usize] += flow;
            self.loads[way as usize] += u64::from(flow) * graph.cost(way);
            let onward = self.ways[start + next as usize];
            if onward != NONE {
                let needs = self.need(place, way, onward);
                assert!(needs, "the table has no cycle");
            }
        }
        self.flows[start + destination.router as usize] = 0;
    }

    fn way(&self, place: usize, router: u32) -> Channel {
        self.ways[place * self.graph.routers() + router as usize]
    }

    /// Adds to a list of routers all those whose paths to a destination come to them.
    fn behind(&self, place: usize, routers: &mut Vec<u32>) {
        let mut next = 0;
        while let Some(&at) = routers.get(next) {
            next += 1;
            routers.extend(self.followers(place, at).map(|input| self.graph.source(input)));
        }
    }

    /// The channels by which others come to a router on their way to a destination.
    fn followers(&self, place: usize, router: u32) -> impl Iterator<Item = Channel> + '_ {
        let inputs = self.graph.inputs(router);
        inputs.filter(move |&input| self.way(place, self.graph.source(input)) == input)
    }

    /// Counts a dependency of the paths to a destination; false if it closes a cycle.
    fn need(&mut self, place: usize, from: Channel, to: Channel) -> bool {
        if self.keeps == Keeps::Lengths {
            return true;
        }
        let vc = &mut self.vcs[self.vc_of[place]];
        let number = self.numbering.number(from, self.graph.port(to));
        let fits = vc.needed[number] > 0 || vc.used.insert(from, to);
        vc.needed[number] += u32::from(fits);
        if !fits {
            vc.refused_after[number] = vc.changes;
        }
        fits
    }

    /// Takes back what [`Self::need`] counted.
    fn release(&mut self, place: usize, from: Channel, to: Channel) {
        if self.keeps == Keeps::Lengths {
            return;
        }
        let vc = &mut self.vcs[self.vc_of[place]];
        let number = self.numbering.number(from, self.graph.port(to));
        vc.needed[number] -= 1;
        if vc.needed[number] == 0 {
            vc.used.remove(from, to);
        }
    }

    /// Relieves the most loaded channels, those that could not be relieved again and again, as long
    /// as the highest load falls.
    fn run(&mut self) {
        let highest = |balance: &Self| balance.loads.iter().copied().max();
        loop {
            let before = highest(self);
            self.round();
            if highest(self) >= before {
                break;
            }
        }
    }

    fn round(&mut self) {
        let mut queue = PriorityQueue::new();
        for channel in self.graph.all_channels() {
            queue.push(channel, (self.loads[channel as usize], Reverse(channel)));
        }
        let mut stuck = 0;
        while stuck < PATIENCE {
            let Some((&channel, _)) = queue.peek() else { break };
            let changed = self.relieve(channel);
            if changed.is_empty() {
                queue.pop();
                stuck += 1;
            }
            for channel in changed {
                queue.change_priority(&channel, (self.loads[channel as usize], Reverse(channel)));
            }
        }
    }

    /// Gives some path that takes a channel another way. Returns the channels whose loads have
    /// changed.
    fn relieve(&mut self, channel: Channel) -> Vec<Channel> {
        let source = self.graph.source(channel);
        let limit = self.loads[channel as usize];
        let begin = self.relieved[channel as usize] as usize;
        for place in (begin..self.vc_of.len()).chain(0..begin) {
            if self.way(place, source) != channel {
                continue;
            }
            let mut routers = vec![source];
            self.behind(place, &mut routers);
            let mut moves = Vec::new();
            for router in routers {
                self.moves(place, router, channel, limit, &mut moves);
            }
            moves.sort_unstable_by_key(|a| (a.hops, a.load, a.channel));
            for other in moves {
                if let Some(changed) = self.apply(place, &other) {
                    self.relieved[channel as usize] = narrow(place);
                    return changed;
                }
            }
        }
        Vec::new()
    }

    /// Lists the other channels that a router could take to a destination, so that its path no
    /// longer takes `channel` and all loads stay below the limit.
    fn moves(
        &mut self,
        place: usize,
        router: u32,
        channel: Channel,
        limit: u64,
        moves: &mut Vec<Move>,
    ) {
        let graph = self.graph;
        let flow = u64::from(self.flows[place * graph.routers() + router as usize]);
        if flow == 0 {
            return;
        }
        self.paths += 1;
        let (mut at, mut hops, mut relieved) = (router, 0, 0);
        loop {
            self.marks[at as usize] = (self.paths, hops);
            let way = self.way(place, at);
            if way == NONE {
                break;
            }
            hops += 1;
            if way == channel {
                relieved = hops;
            }
            at = graph.target(way);
        }
        let own = self.way(place, router);
        for other in graph.outputs(router).filter(|&other| other != own) {
            let mut load = self.loads[other as usize] + flow * graph.cost(other);
            let mut at = graph.target(other);
            let mut new = 1;
            while load < limit && self.marks[at as usize].0 != self.paths {
                let way = self.way(place, at);
                load = load.max(self.loads[way as usize] + flow * graph.cost(way));
                at = graph.target(way);
                new += 1;
            }
            let (_, joins) = self.marks[at as usize];
            // It joins behind the channel, and neither at its start.
            let relieves = load < limit && at != router && joins >= relieved;
            if relieves && (self.keeps == Keeps::NoCycle || new == joins) {
                moves.push(Move { load, hops: new + hops - joins, router, channel: other });
            }
        }
    }

    /// Gives a router another channel to a destination, unless that closes a cycle. Returns the
    /// channels whose loads have changed.
    fn apply(&mut self, place: usize, new: &Move) -> Option<Vec<Channel>> {
        let graph = self.graph;
        let old = self.way(place, new.router);
        let followers: Vec<Channel> = self.followers(place, new.router).collect();
        let dependencies = |channel: Channel| {
            let onward = self.way(place, graph.target(channel));
            let mut pairs: Vec<_> = followers.iter().map(|&from| (from, channel)).collect();
            pairs.extend((onward != NONE).then_some((channel, onward)));
            pairs
        };
        let (gone, come) = (dependencies(old), dependencies(new.channel));
        let vc = &self.vcs[self.vc_of[place]];
        if come.iter().any(|&(from, to)| {
            let number = self.numbering.number(from, graph.port(to));
            vc.refused_after[number] == vc.changes
        }) {
            return None;
        }
        for &(from, to) in &gone {
            self.release(place, from, to);
        }
        for (number, &(from, to)) in come.iter().enumerate() {
            if !self.need(place, from, to) {
                for &(from, to) in &come[..number] {
                    self.release(place, from, to);
                }
                for &(from, to) in &gone {
                    let fits = self.need(place, from, to);
                    assert!(fits, "it was there before");
                }
                return None;
            }
        }
        self.vcs[self.vc_of[place]].changes += 1;
        let flow = self.flows[place * graph.routers() + new.router as usize];
        let mut changed = Vec::new();
        self.carry(place, old, flow, false, &mut changed);
        self.ways[place * graph.routers() + new.router as usize] = new.channel;
        self.carry(place, new.channel, flow, true, &mut changed);
        Some(changed)
    }

    /// Adds a flow to the path that starts with a channel, or takes it away.
    fn carry(
        &mut self,
        place: usize,
        start: Channel,
        flow: u32,
        adds: bool,
        changed: &mut Vec<Channel>,
    ) {
        let mut channel = start;
        while channel != NONE {
            changed.push(channel);
            let load = &mut self.loads[channel as usize];
            let change = u64::from(flow) * self.graph.cost(channel);
            *load = if adds { *load + change } else { *load - change };
            let at = self.graph.target(channel);
            channel = self.way(place, at);
            // The destination's router sends nothing on.
            if channel != NONE {
                let carried = &mut self.flows[place * self.graph.routers() + at as usize];
                *carried = if adds { *carried + flow } else { *carried - flow };
            }
        }
    }

    fn write(&self, table: &mut ForwardingTable) {
        for (place, destination) in self.graph.destinations.iter().enumerate() {
            let row = table.row(destination.terminal);
            for (router, port) in (0..).zip(row) {
                let way = self.way(place, router);
                if way != NONE {
                    *port = self.graph.port(way);
                }
            }
        }
    }
}
