//! The part of a fabric in which routes are built: a job's nodes, or all of them.

use crate::topology::{Channel, Fabric};

/// A set of live nodes. Routes start, end and stay in it.
#[derive(Clone, Debug)]
pub struct Region<'f> {
    fabric: &'f Fabric,
    nodes: Vec<u32>,
    inside: Vec<bool>,
}

impl<'f> Region<'f> {
    /// All live nodes of a fabric.
    #[must_use]
    pub fn whole(fabric: &'f Fabric) -> Self {
        let live: Vec<u32> = fabric
            .live_terminals()
            .filter_map(|terminal| fabric.terminal_router(terminal))
            .collect();
        Self::of(fabric, &live)
    }

    /// These nodes, as far as they are live.
    #[must_use]
    pub fn of(fabric: &'f Fabric, nodes: &[u32]) -> Self {
        let mut inside = vec![false; fabric.routers() as usize];
        for &node in nodes {
            inside[node as usize] = fabric.terminal_router(node).is_some();
        }
        let nodes = (0..fabric.routers()).filter(|&node| inside[node as usize]).collect();
        Self { fabric, nodes, inside }
    }

    #[must_use]
    pub fn fabric(&self) -> &'f Fabric {
        self.fabric
    }

    /// The nodes, in ascending order.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    #[must_use]
    pub fn contains(&self, node: u32) -> bool {
        self.inside[node as usize]
    }

    /// Whether the region is the whole torus and nothing has failed, so that every route of the torus
    /// lies in it.
    #[must_use]
    pub fn is_whole_torus(&self) -> bool {
        let torus = self.fabric.torus();
        let directions = torus.directions();
        self.nodes.len() == torus.nodes() as usize
            && (0..torus.nodes() * directions).all(|channel| {
                let (node, direction) = (channel / directions, channel % directions);
                torus.neighbor(node, direction) == self.fabric.target(channel)
            })
    }

    /// The channel that leaves a node in a direction.
    #[must_use]
    pub fn channel(&self, node: u32, direction: u32) -> Channel {
        self.fabric.outputs(node).start + direction
    }

    /// Where a step leads, if its channel exists and both its ends are inside.
    #[must_use]
    pub fn step(&self, node: u32, direction: u32) -> Option<u32> {
        if !self.contains(node) {
            return None;
        }
        self.fabric.target(self.channel(node, direction)).filter(|&next| self.contains(next))
    }

    /// The channels whose both ends are inside.
    pub fn channels(&self) -> impl Iterator<Item = Channel> + '_ {
        let directions = self.fabric.torus().directions();
        self.nodes.iter().flat_map(move |&node| {
            (0..directions)
                .filter(move |&direction| self.step(node, direction).is_some())
                .map(move |direction| self.channel(node, direction))
        })
    }
}
