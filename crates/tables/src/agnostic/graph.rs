//! The fabric as the generators see it: flat arrays, without what has failed.

use std::ops::Range;

use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};

/// A terminal that packets go to, and its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    pub terminal: u32,
    pub router: u32,
}

/// Routers and channels. Channels are numbered as in the fabric, vacant ports included.
pub(super) struct Graph {
    /// By channel, [`NONE`] for vacant ports.
    target: Vec<u32>,
    opposite: Vec<u32>,
    source: Vec<u32>,
    /// The channels out of router `r` are `first[r]..first[r + 1]`.
    first: Vec<u32>,
    /// Live terminals of each router.
    hosts: Vec<u32>,
    /// Routers with the most terminals first, then by router and terminal.
    pub(super) destinations: Vec<Destination>,
    /// Routers that the live terminals can reach.
    connected: Vec<bool>,
    pub(super) connected_routers: usize,
    /// By channel, how many times as long as on the fastest a flit takes, in [`COST`]s; empty if
    /// all are alike.
    costs: Vec<u32>,
}

/// Weight of a path on the fastest channels, if there are slower ones.
const COST: f64 = 16.0;

impl Graph {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let routers = fabric.routers();
        let slots = fabric.channel_slots();
        let target = (0..slots).map(|at| fabric.target(at).unwrap_or(NONE)).collect();
        let opposite = (0..slots).map(|at| fabric.opposite(at).unwrap_or(NONE)).collect();
        let mut source = vec![NONE; slots as usize];
        let mut first = vec![0];
        for router in 0..routers {
            for channel in fabric.outputs(router) {
                source[channel as usize] = router;
            }
            first.push(fabric.outputs(router).end);
        }
        let mut hosts = vec![0; routers as usize];
        let mut destinations: Vec<Destination> = fabric
            .live_terminals()
            .filter_map(|terminal| {
                Some(Destination { terminal, router: fabric.terminal_router(terminal)? })
            })
            .collect();
        for destination in &destinations {
            hosts[destination.router as usize] += 1;
        }
        destinations.sort_by_key(|at| {
            (std::cmp::Reverse(hosts[at.router as usize]), at.router, at.terminal)
        });
        let mut graph = Self {
            target,
            opposite,
            source,
            first,
            hosts,
            destinations,
            connected: Vec::new(),
            connected_routers: 0,
            costs: Vec::new(),
        };
        if fabric.cable_classes().len() > 1 {
            let cost = |at| rounded(fabric.cable(at).rate.slowness() * COST);
            graph.costs = (0..slots).map(cost).collect();
        }
        if let Some(destination) = graph.destinations.first() {
            let hops = graph.hops(destination.router);
            graph.connected = hops.iter().map(|&hops| hops != NONE).collect();
            graph.connected_routers = graph.connected.iter().filter(|&&live| live).count();
        }
        graph
    }

    /// Weight that a path adds to a channel, in proportion to the channel's slowness.
    #[inline]
    pub(super) fn cost(&self, channel: Channel) -> u64 {
        self.costs.get(channel as usize).map_or(1, |&cost| cost.into())
    }

    /// A weight above what so many paths, squared, can add to a channel.
    pub(super) fn weight_above(&self, paths: u64) -> u64 {
        paths * paths * u64::from(self.costs.iter().copied().max().unwrap_or(1))
    }

    /// The graph with one channel from each router to every neighbor and without vacant ports. The
    /// list has, by channel of this graph, the channel that stands for it there; [`NONE`] for
    /// vacant ports.
    pub(super) fn simple(&self) -> (Self, Vec<Channel>) {
        let mut simple = Self {
            target: Vec::new(),
            opposite: Vec::new(),
            source: Vec::new(),
            first: vec![0],
            hosts: self.hosts.clone(),
            destinations: self.destinations.clone(),
            connected: self.connected.clone(),
            connected_routers: self.connected_routers,
            costs: Vec::new(),
        };
        let mut simple_of = vec![NONE; self.slots()];
        for router in self.all_routers() {
            let start = simple.target.len();
            for channel in self.outputs(router).filter(|&channel| self.target(channel) != router) {
                let target = self.target(channel);
                let known = simple.target[start..].iter().position(|&other| other == target);
                let place = start + known.unwrap_or(simple.target.len() - start);
                if known.is_none() {
                    simple.target.push(target);
                    simple.source.push(router);
                }
                simple_of[channel as usize] = narrow(place);
            }
            simple.first.push(narrow(simple.target.len()));
        }
        simple.opposite = vec![NONE; simple.target.len()];
        for channel in self.all_channels().filter(|&at| simple_of[at as usize] != NONE) {
            let opposite = simple_of[self.opposite(channel) as usize];
            simple.opposite[simple_of[channel as usize] as usize] = opposite;
        }
        (simple, simple_of)
    }

    pub(super) fn routers(&self) -> usize {
        self.hosts.len()
    }

    /// The numbers of all routers.
    pub(super) fn all_routers(&self) -> Range<u32> {
        0..narrow(self.routers())
    }

    /// Channel numbers, vacant ones included.
    pub(super) fn slots(&self) -> usize {
        self.target.len()
    }

    /// All channel numbers, vacant ones included.
    pub(super) fn all_channels(&self) -> Range<u32> {
        0..narrow(self.slots())
    }

    #[inline]
    pub(super) fn target(&self, channel: Channel) -> u32 {
        self.target[channel as usize]
    }

    #[inline]
    pub(super) fn source(&self, channel: Channel) -> u32 {
        self.source[channel as usize]
    }

    #[inline]
    pub(super) fn opposite(&self, channel: Channel) -> Channel {
        self.opposite[channel as usize]
    }

    /// The first channel number of a router.
    #[inline]
    pub(super) fn first(&self, router: u32) -> Channel {
        self.first[router as usize]
    }

    /// Ports of a router, vacant ones included.
    #[inline]
    pub(super) fn ports(&self, router: u32) -> usize {
        (self.first[router as usize + 1] - self.first[router as usize]) as usize
    }

    /// The output port that a channel leaves its router by.
    #[inline]
    pub(super) fn port(&self, channel: Channel) -> u16 {
        narrow(channel - self.first(self.source(channel)))
    }

    /// The channels out of a router, in port order.
    #[inline]
    pub(super) fn outputs(&self, router: u32) -> impl Iterator<Item = Channel> + '_ {
        let range = self.first[router as usize]..self.first[router as usize + 1];
        range.filter(|&channel| self.target[channel as usize] != NONE)
    }

    /// The channels into a router, in port order.
    #[inline]
    pub(super) fn inputs(&self, router: u32) -> impl Iterator<Item = Channel> + '_ {
        let range = self.first[router as usize] as usize..self.first[router as usize + 1] as usize;
        self.opposite[range].iter().copied().filter(|&channel| channel != NONE)
    }

    /// Live terminals of a router.
    #[inline]
    pub(super) fn hosts(&self, router: u32) -> u32 {
        self.hosts[router as usize]
    }

    /// Whether the live terminals can reach a router.
    pub(super) fn connected(&self, router: u32) -> bool {
        self.connected[router as usize]
    }

    /// Hops from each router to one; [`NONE`] where there is no way.
    pub(super) fn hops(&self, router: u32) -> Vec<u32> {
        let mut hops = vec![NONE; self.routers()];
        self.fill_hops(router, &mut hops, &mut Vec::new());
        hops
    }

    /// Computes [`Self::hops`] in place. `order` receives the routers by ascending hops.
    pub(super) fn fill_hops(&self, router: u32, hops: &mut [u32], order: &mut Vec<u32>) {
        let next = |at| self.outputs(at).map(|channel| self.target(channel));
        breadth_first(router, hops, order, next);
    }
}
