//! Dijkstra's algorithm on the complete channel dependency graph, from a destination against the
//! direction of the channels.

use super::complete::EdgeStates;
use super::escape::Tree;
use crate::agnostic::dependency::{Dependencies, Numbering};
use crate::agnostic::frontier::Frontier;
use crate::agnostic::graph::{Destination, Graph};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::ForwardingTable;

/// The search of a virtual channel.
pub(in super::super) struct Search<'a> {
    graph: &'a Graph,
    numbering: Numbering,
    used: Dependencies<'a>,
    /// By dependency, whether it has been found to close a cycle.
    blocked: Vec<bool>,
    /// By dependency, whether it came into use in the present search.
    fresh: Vec<bool>,
    fresh_list: Vec<(Channel, Channel)>,
    frontier: Frontier,
    destination: u32,
    /// By router: the channel towards the destination, and the distance.
    way: Vec<Channel>,
    distance: Vec<u64>,
    /// By router, how often the search had backtracked when it was found.
    found_after: Vec<u32>,
    found: usize,
    /// By channel: the distance of its source through it, and whether it is an alternative to its
    /// source's way.
    through: Vec<u64>,
    alternative: Vec<bool>,
    backtracks: u32,
    /// Searches of this virtual channel that got stuck.
    impasses: u32,
    flow: Vec<u64>,
    /// By router, those that come to it and have not been counted yet.
    followers: Vec<u32>,
    order: Vec<u32>,
}

impl<'a> Search<'a> {
    pub(in super::super) fn new(graph: &'a Graph) -> Self {
        let numbering = Numbering::new(graph);
        let (routers, slots) = (graph.routers(), graph.slots());
        Self {
            graph,
            used: Dependencies::new(graph),
            blocked: vec![false; numbering.count()],
            fresh: vec![false; numbering.count()],
            fresh_list: Vec::new(),
            numbering,
            frontier: Frontier::default(),
            destination: NONE,
            way: vec![NONE; routers],
            distance: vec![u64::MAX; routers],
            found_after: vec![0; routers],
            found: 0,
            through: vec![0; slots],
            alternative: vec![false; slots],
            backtracks: 0,
            impasses: 0,
            flow: vec![0; routers],
            followers: vec![0; routers],
            order: Vec::with_capacity(routers),
        }
    }

    /// Routes a virtual channel and gives the number of destinations whose paths follow the tree.
    pub(super) fn route_all(
        &mut self,
        part: &[Destination],
        tree: &Tree,
        weights: &mut [u64],
        table: &mut ForwardingTable,
    ) -> u32 {
        self.start(tree);
        self.impasses = 0;
        let mut falls = 0;
        for &destination in part {
            let graph = self.graph;
            let along_tree = |way: &mut [Channel]| tree.follow(graph, destination.router, way);
            falls += u32::from(!self.route(destination.router, weights, along_tree));
            self.write(destination, table);
            self.add_weights(weights);
        }
        falls
    }

    /// Destinations of the virtual channel whose search came to an impasse.
    pub(super) fn impasses(&self) -> u32 {
        self.impasses
    }

    /// The states of the virtual channel's dependencies.
    pub(super) fn states(&self) -> EdgeStates {
        let blocked = self.blocked.iter().filter(|&&blocked| blocked).count() as u64;
        EdgeStates { used: self.used.count(), blocked }
    }

    /// Starts a virtual channel: only the tree's dependencies are in use.
    fn start(&mut self, tree: &Tree) {
        self.blocked.fill(false);
        self.used = Dependencies::new(self.graph);
        for (from, to) in tree.dependencies(self.graph) {
            let closes_none = self.used.insert(from, to);
            debug_assert!(closes_none, "paths along a tree close no cycle");
        }
    }

    /// Starts a virtual channel in which only these dependencies can be used; they close no cycle.
    pub(in super::super) fn start_with(
        &mut self,
        dependencies: impl Iterator<Item = (Channel, Channel)>,
    ) {
        self.blocked.fill(true);
        self.used = Dependencies::new(self.graph);
        for (from, to) in dependencies {
            let closes_none = self.used.insert(from, to);
            assert!(closes_none, "the dependencies close a cycle");
        }
    }

    /// Finds the way of each router to one. False if some router was left out, and all ways are
    /// those that `otherwise` filled in.
    pub(in super::super) fn route(
        &mut self,
        destination: u32,
        weights: &[u64],
        otherwise: impl FnOnce(&mut [Channel]),
    ) -> bool {
        self.destination = destination;
        self.way.fill(NONE);
        self.distance.fill(u64::MAX);
        self.alternative.fill(false);
        self.distance[destination as usize] = 0;
        self.found = 1;
        self.backtracks = 0;
        for channel in self.graph.inputs(destination) {
            // Of parallel channels the lightest.
            let weight = weights[channel as usize];
            if weight < self.distance[self.graph.source(channel) as usize] {
                self.reach(channel, weight);
            }
        }
        let complete = loop {
            while let Some((channel, distance)) = self.frontier.pop() {
                self.extend(channel, distance, weights);
            }
            if self.found == self.graph.connected_routers {
                break true;
            }
            self.impasses += u32::from(self.backtracks == 0);
            match self.backtrack(weights) {
                Some(channel) => self.extend(channel, self.through[channel as usize], weights),
                None => break false,
            }
        };
        if !complete {
            otherwise(&mut self.way);
        }
        self.settle();
        complete
    }

    /// Whether a packet could take these channels one after the other.
    #[inline]
    fn turns_back(&self, from: Channel, to: Channel) -> bool {
        self.graph.source(from) == self.graph.target(to)
    }

    #[inline]
    fn number(&self, from: Channel, to: Channel) -> usize {
        self.numbering.number(from, self.graph.port(to))
    }

    /// Takes a dependency into use, or blocks it if it closes a cycle.
    fn take(&mut self, from: Channel, to: Channel) -> bool {
        self.used.has(from, to) || self.take_new(from, to)
    }

    /// Takes a dependency that is not in use into use, like [`Self::take`].
    fn take_new(&mut self, from: Channel, to: Channel) -> bool {
        let number = self.number(from, to);
        if self.blocked[number] {
            return false;
        }
        if self.used.insert_new(from, to) {
            self.fresh[number] = true;
            self.fresh_list.push((from, to));
            true
        } else {
            self.blocked[number] = true;
            false
        }
    }

    /// Takes a dependency that came into use in this search out again.
    fn release(&mut self, from: Channel, to: Channel) {
        let number = self.number(from, to);
        if self.fresh[number] {
            self.fresh[number] = false;
            self.used.remove(from, to);
        }
    }

    /// Reaches a channel's source through it, for the first time or by a shorter way.
    fn reach(&mut self, channel: Channel, distance: u64) {
        let router = self.graph.source(channel) as usize;
        let old = self.way[router];
        if old == NONE {
            self.found += 1;
            self.found_after[router] = self.backtracks;
        } else {
            self.frontier.remove(old);
            let next = self.way[self.graph.target(old) as usize];
            if next != NONE {
                self.release(old, next);
            }
        }
        self.through[channel as usize] = distance;
        self.frontier.set(channel, distance);
        self.distance[router] = distance;
        self.way[router] = channel;
    }

    /// Looks at the channels that lead into a channel, those first whose dependencies are in use.
    fn extend(&mut self, channel: Channel, distance: u64, weights: &[u64]) {
        let graph = self.graph;
        let (at, back) = (graph.source(channel), graph.target(channel));
        let first = graph.first(at);
        let mut next = 0;
        while let Some(port) = self.used.next_input(channel, next) {
            next = port + 1;
            let (from, router) = (graph.opposite(first + port), graph.target(first + port));
            let new = distance + weights[from as usize];
            if router == back {
                continue;
            }
            if new < self.distance[router as usize] {
                self.come_nearer(from, new);
            } else if self.backtracks == 0 || !self.reached(router) {
                self.through[from as usize] = new;
                self.alternative[from as usize] = true;
            }
        }
        for port in 0..narrow(graph.ports(at)) {
            let (from, router) = (graph.opposite(first + port), graph.target(first + port));
            if from == NONE || router == back {
                continue;
            }
            let new = distance + weights[from as usize];
            if new < self.distance[router as usize]
                && !self.used.has_from_port(port, channel)
                && self.take_new(from, channel)
            {
                self.come_nearer(from, new);
            }
        }
    }

    fn reached(&self, router: u32) -> bool {
        self.way[router as usize] != NONE || router == self.destination
    }

    /// Takes a channel, whose dependency is in use, for the way of its source, which is shorter.
    fn come_nearer(&mut self, channel: Channel, distance: u64) {
        let router = self.graph.source(channel);
        let found_before = self.backtracks > 0
            && self.reached(router)
            && self.found_after[router as usize] != self.backtracks;
        if !found_before {
            self.reach(channel, distance);
        } else if self.shorten(channel) {
            self.distance[router as usize] = distance;
            self.way[router as usize] = channel;
        }
    }

    /// The channels into a router by which others come to it.
    fn followers(&self, router: u32) -> Vec<Channel> {
        let follows = |&input: &Channel| self.way[self.graph.source(input) as usize] == input;
        self.graph.inputs(router).filter(follows).collect()
    }

    /// Whether all that come to a channel's source can go on through it instead of the source's
    /// way.
    fn shorten(&mut self, channel: Channel) -> bool {
        let router = self.graph.source(channel);
        let followers = self.followers(router);
        let before: Vec<bool> =
            followers.iter().map(|&from| self.used.has(from, channel)).collect();
        for (place, &from) in followers.iter().enumerate() {
            if self.turns_back(from, channel) || !self.take(from, channel) {
                for (&taken, &before) in followers[..place].iter().zip(&before) {
                    if !before {
                        self.release(taken, channel);
                    }
                }
                return false;
            }
        }
        let old = self.way[router as usize];
        let next = self.way[self.graph.target(old) as usize];
        if next != NONE {
            self.release(old, next);
        }
        for from in followers {
            self.release(from, old);
        }
        true
    }

    /// Reaches a router that is left out through a neighbor, which gets one of its alternatives for
    /// its way. Gives the channel to go on with.
    fn backtrack(&mut self, weights: &[u64]) -> Option<Channel> {
        let graph = self.graph;
        let left_out = |search: &Self, router: u32| search.distance[router as usize] == u64::MAX;
        for router in graph.all_routers() {
            if !left_out(self, router) || !graph.connected(router) {
                continue;
            }
            let mut candidates = Vec::new();
            for channel in graph.outputs(router) {
                let neighbor = graph.target(channel);
                if left_out(self, neighbor) {
                    continue;
                }
                let followers = self.followers(neighbor);
                for other in graph.outputs(neighbor) {
                    let fits = |&from: &Channel| {
                        !self.turns_back(from, other) && self.used.has(from, other)
                    };
                    if self.alternative[other as usize] && followers.iter().all(fits) {
                        candidates.push((self.through[other as usize], other, channel));
                    }
                }
            }
            candidates.sort_unstable();
            let mut reached = None;
            for (distance, other, channel) in candidates {
                if !self.take_both(channel, other) {
                    continue;
                }
                let new = distance + weights[channel as usize];
                self.through[channel as usize] = new;
                if reached.is_some() {
                    self.alternative[channel as usize] = true;
                    continue;
                }
                for (at, way, distance) in
                    [(graph.source(other), other, distance), (router, channel, new)]
                {
                    self.way[at as usize] = way;
                    self.distance[at as usize] = distance;
                }
                reached = Some(channel);
            }
            if reached.is_some() {
                self.found_after[router as usize] = self.backtracks;
                self.found += 1;
                self.backtracks += 1;
                return reached;
            }
        }
        None
    }

    /// Takes the dependencies of a channel on an alternative behind it and of that on the next one
    /// into use, or neither.
    fn take_both(&mut self, channel: Channel, other: Channel) -> bool {
        let next = self.way[self.graph.target(other) as usize];
        if next == NONE || self.turns_back(other, next) || self.turns_back(channel, other) {
            return false;
        }
        let before = self.used.has(other, next);
        if self.blocked[self.number(channel, other)] || !self.take(other, next) {
            return false;
        }
        let taken = self.take(channel, other);
        if !taken && !before {
            self.release(other, next);
        }
        taken
    }

    /// Keeps those of this search's dependencies that its paths need.
    fn settle(&mut self) {
        for (from, to) in std::mem::take(&mut self.fresh_list) {
            let number = self.number(from, to);
            let router = self.graph.source(from) as usize;
            let needed =
                self.way[router] == from && self.way[self.graph.target(from) as usize] == to;
            if !needed {
                self.release(from, to);
            }
            self.fresh[number] = false;
        }
    }

    pub(in super::super) fn write(&self, destination: Destination, table: &mut ForwardingTable) {
        let row = table.row(destination.terminal);
        for (port, &way) in row.iter_mut().zip(&self.way) {
            if way != NONE {
                *port = self.graph.port(way);
            }
        }
    }

    /// Adds to each channel the terminals whose paths take it; a router counts as one more.
    pub(in super::super) fn add_weights(&mut self, weights: &mut [u64]) {
        let graph = self.graph;
        // Leaves of the tree first.
        self.followers.fill(0);
        for &way in self.way.iter().filter(|&&way| way != NONE) {
            self.followers[graph.target(way) as usize] += 1;
        }
        self.order.clear();
        for router in graph.all_routers() {
            self.flow[router as usize] = u64::from(graph.hosts(router)) + 1;
            if self.followers[router as usize] == 0 {
                self.order.push(router);
            }
        }
        while let Some(router) = self.order.pop() {
            let way = self.way[router as usize];
            if way == NONE {
                continue;
            }
            let next = graph.target(way);
            weights[way as usize] += self.flow[router as usize] * graph.cost(way);
            self.flow[next as usize] += self.flow[router as usize];
            self.followers[next as usize] -= 1;
            if self.followers[next as usize] == 0 {
                self.order.push(next);
            }
        }
    }
}
