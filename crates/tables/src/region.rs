//! The nodes of a fabric between which routes are built, and the steps between them.

use flitlab_fabric::{Channel, Fabric, Torus};

/// The live nodes of a torus with its failures. Routes start, end and stay among them.
#[derive(Clone, Debug)]
pub struct Region<'f> {
    fabric: &'f Fabric,
    nodes: Vec<u32>,
}

impl<'f> Region<'f> {
    /// The live nodes of a fabric.
    ///
    /// # Panics
    /// If the fabric is no torus.
    pub fn new(fabric: &'f Fabric) -> Self {
        fabric.coordinates();
        let nodes = fabric.live_terminals().filter_map(|at| fabric.terminal_router(at)).collect();
        Self { fabric, nodes }
    }

    /// The fabric that the nodes belong to.
    pub fn fabric(&self) -> &'f Fabric {
        self.fabric
    }

    /// The fabric's coordinates.
    pub fn torus(&self) -> &'f Torus {
        self.fabric.coordinates()
    }

    /// The nodes, in ascending order.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Whether the region is the whole torus without failures, so that every route of the torus
    /// lies in it.
    pub fn is_whole_torus(&self) -> bool {
        let torus = self.torus();
        let directions = torus.directions();
        self.nodes.len() == torus.nodes() as usize
            && (0..torus.nodes() * directions).all(|channel| {
                let (node, direction) = (channel / directions, channel % directions);
                torus.neighbor(node, direction) == self.fabric.target(channel)
            })
    }

    /// The channel that leaves a node in a direction.
    pub fn channel(&self, node: u32, direction: u32) -> Channel {
        self.fabric.outputs(node).start + direction
    }

    /// The node to which a step leads; `None` if its channel does not exist.
    pub fn step(&self, node: u32, direction: u32) -> Option<u32> {
        self.fabric.target(self.channel(node, direction))
    }

    /// The channels that exist inside the region.
    pub fn channels(&self) -> impl Iterator<Item = Channel> + '_ {
        let directions = self.torus().directions();
        self.nodes.iter().flat_map(move |&node| {
            (0..directions)
                .filter(move |&direction| self.step(node, direction).is_some())
                .map(move |direction| self.channel(node, direction))
        })
    }
}
