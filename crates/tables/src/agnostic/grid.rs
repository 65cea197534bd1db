//! Routers that are arranged in dimensions: which channels lead which way.

use super::graph::Graph;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, Torus};

/// The channels of each router by the neighbors that they lead to.
pub(super) struct Neighbors {
    /// Neighbors that a router can have.
    most: u32,
    /// The channels of router `r` to its neighbor `n` are `channels[first[s]..first[s + 1]]`, where
    /// `s` is `r` times `most` plus `n`.
    first: Vec<u32>,
    channels: Vec<Channel>,
    /// By channel, the destinations so far.
    used: Vec<u32>,
}

impl Neighbors {
    /// `neighbor` is called with a router and the number of a neighbor, below `most`.
    pub(super) fn new(
        graph: &Graph,
        most: u32,
        neighbor: impl Fn(u32, u32) -> Option<u32>,
    ) -> Self {
        let mut first = vec![0];
        let mut channels = Vec::with_capacity(graph.slots());
        for router in graph.all_routers() {
            for number in 0..most {
                let neighbor = neighbor(router, number);
                let outputs = graph.outputs(router);
                channels.extend(outputs.filter(|&at| Some(graph.target(at)) == neighbor));
                first.push(narrow(channels.len()));
            }
        }
        Self { most, first, channels, used: vec![0; graph.slots()] }
    }

    /// The channels from a router to one of its neighbors.
    fn channels(&self, router: u32, neighbor: u32) -> &[Channel] {
        let place = (router * self.most + neighbor) as usize;
        &self.channels[self.first[place] as usize..self.first[place + 1] as usize]
    }

    /// Of the channels to a neighbor the one with the fewest destinations so far, to which this
    /// adds one.
    pub(super) fn take(&mut self, router: u32, neighbor: u32) -> Option<Channel> {
        let least = self.channels(router, neighbor).iter().copied();
        let channel = least.min_by_key(|&channel| self.used[channel as usize])?;
        self.used[channel as usize] += 1;
        Some(channel)
    }
}

/// Routers that are arranged as a torus or mesh, and their channels by directions.
pub(super) struct Grid<'a> {
    pub(super) torus: &'a Torus,
    neighbors: Neighbors,
}

impl<'a> Grid<'a> {
    /// `None` if the routers have no such arrangement. Cables that join no neighbors of it are left
    /// out.
    pub(super) fn new(graph: &Graph, fabric: &'a Fabric) -> Option<Self> {
        let torus = fabric.grid()?;
        let neighbor = |router, direction| torus.neighbor(router, direction);
        Some(Self { torus, neighbors: Neighbors::new(graph, torus.directions(), neighbor) })
    }

    /// The channels from a router to its neighbor in a direction.
    pub(super) fn channels(&self, router: u32, direction: u32) -> &[Channel] {
        self.neighbors.channels(router, direction)
    }

    /// The neighbor in a direction, if there is a channel to it.
    pub(super) fn neighbor(&self, router: u32, direction: u32) -> Option<u32> {
        let neighbor = self.torus.neighbor(router, direction);
        neighbor.filter(|_| !self.channels(router, direction).is_empty())
    }

    /// Of the channels in a direction the one with the fewest destinations so far, to which this
    /// adds one.
    pub(super) fn take(&mut self, router: u32, direction: u32) -> Option<Channel> {
        self.neighbors.take(router, direction)
    }

    /// The direction of the shortest way along a dimension, and its hops. Half-way round a ring it
    /// is the one that does not lead over the dateline, which lies between the last router and the
    /// first.
    ///
    /// The hops are 0 if the coordinates are equal.
    pub(super) fn shortest(&self, from: u32, to: u32, dimension: usize) -> (u32, u32) {
        let [from, to] = [from, to].map(|router| self.torus.coordinate(router, dimension));
        let straight = (direction(self.torus, dimension, from < to), from.abs_diff(to));
        let round = self.round(straight, dimension);
        round.filter(|round| round.1 < straight.1).unwrap_or(straight)
    }

    /// The other way round the ring of a dimension, if it is one.
    pub(super) fn round(
        &self,
        (direction, hops): (u32, u32),
        dimension: usize,
    ) -> Option<(u32, u32)> {
        let size = self.torus.sizes()[dimension];
        let closed = self.torus.closed(dimension);
        closed.then(|| (self.torus.opposite(direction), size - hops))
    }
}

fn direction(torus: &Torus, dimension: usize, positive: bool) -> u32 {
    narrow(dimension + if positive { 0 } else { torus.dimensions() })
}
