//! Where the nodes of a torus lie from each other.
//!
//! A routing that looks alike from all nodes of a ring needs its routes once for each offset, not
//! once for each pair: the offset of a pair is the node where its destination comes to lie if the
//! torus is turned so that the source comes to lie at its model.

use flitlab_base::narrow::narrow;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, Torus};

/// The coordinates of a node, first dimension first.
pub type Place = [u32; MAXIMUM_DIMENSIONS];

/// The coordinates of all nodes, and the offsets between them. They are asked for once a pair and
/// oftener, so coordinates are looked up, not divided for.
#[derive(Clone, Debug)]
pub struct Offsets {
    sizes: Vec<u32>,
    strides: Vec<u32>,
    closed: Vec<bool>,
    /// By node, then dimension.
    coordinates: Vec<u16>,
}

impl Offsets {
    /// Looks up the coordinates of all nodes.
    pub fn new(torus: &Torus) -> Self {
        let dimensions = 0..torus.dimensions();
        let strides = dimensions.clone().map(|at| torus.sizes()[..at].iter().product()).collect();
        Self {
            sizes: torus.sizes().to_vec(),
            strides,
            closed: dimensions.map(|at| torus.closed(at)).collect(),
            coordinates: (0..torus.nodes())
                .flat_map(|node| torus.coordinates(node))
                .map(narrow::<u16>)
                .collect(),
        }
    }

    /// A node's coordinates, first dimension first.
    pub fn coordinates(&self, node: u32) -> &[u16] {
        let dimensions = self.sizes.len();
        &self.coordinates[node as usize * dimensions..][..dimensions]
    }

    /// A node's coordinates, 0 in dimensions that the torus has not.
    pub fn place(&self, node: u32) -> Place {
        let mut place = [0; MAXIMUM_DIMENSIONS];
        for (own, &at) in place.iter_mut().zip(self.coordinates(node)) {
            *own = at.into();
        }
        place
    }

    /// The hops of a shortest way between two nodes if nothing has failed.
    pub fn hops(&self, source: u32, destination: u32) -> u32 {
        let ends = self.coordinates(source).iter().zip(self.coordinates(destination));
        let of_dimension = |(dimension, (&from, &to)): (usize, (&u16, &u16))| {
            let straight = u32::from(from.abs_diff(to));
            match self.closed[dimension] {
                true => straight.min(self.sizes[dimension] - straight),
                false => straight,
            }
        };
        ends.enumerate().map(of_dimension).sum()
    }

    /// The node with the same coordinates but 0 in the closed dimensions.
    pub fn model(&self, node: u32) -> u32 {
        self.offset(node, node)
    }

    /// The node that lies from the source's model as the destination does from the source.
    pub fn offset(&self, source: u32, destination: u32) -> u32 {
        let (from, to) = (self.coordinates(source), self.coordinates(destination));
        let mut offset = 0;
        for dimension in 0..self.sizes.len() {
            let (from, to) = (u32::from(from[dimension]), u32::from(to[dimension]));
            let apart = match self.closed[dimension] {
                true if to < from => to + self.sizes[dimension] - from,
                true => to - from,
                false => to,
            };
            offset += apart * self.strides[dimension];
        }
        offset
    }
}
