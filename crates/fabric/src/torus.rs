//! Tori and meshes of one to six dimensions, with Angara's rule for dimensions of size 2.
//!
//! Node numbers run with the first dimension fastest: node = x + y * kx + z * kx * ky + ...
//! Directions are numbered in Angara's order, all positive ones first: +x +y +z +k -x -y -z -k; the
//! output port of a router is the direction's number.

use super::cable_kinds::CableKinds;
use super::cables::{CableClass, Cables, usual};
use super::fabric::{Arrangement, Capacity, Fabric, FailedCable, NONE};
use super::{Faults, TopologyError, connectivity};
use flitlab_base::memory::claim;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Picoseconds, Rate};

/// Most dimensions of a torus.
pub const MAXIMUM_DIMENSIONS: usize = 6;

/// The names of the dimensions, in order; the fourth is Angara's k.
pub const DIMENSION_NAMES: [&str; MAXIMUM_DIMENSIONS] = ["x", "y", "z", "k", "l", "m"];

const LARGEST_SIZE: u32 = 1024;
const MAX_NODES: u64 = 1 << 27;

/// The coordinates of a torus: sizes, and which dimensions close into rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    sizes: Vec<u32>,
    /// Difference of the node numbers of neighbours, by dimension.
    strides: Vec<u32>,
    /// Whether the dimension closes into a ring: size above 2 and not open.
    closed: Vec<bool>,
    open: Vec<bool>,
    /// The cables of each dimension; empty if all are alike.
    cables: Vec<CableClass>,
}

impl Torus {
    /// A torus of these sizes, first dimension fastest; `open` names the dimensions (by number)
    /// that are meshes. A dimension of size 2 has one cable, not two (\[angara-routing\], section
    /// 5); one of size 1 has none.
    ///
    /// # Errors
    /// If there are no or more than six dimensions, a size is outside 1 to 1024, the nodes are
    /// fewer than 2 or more than 2^27, or `open` names a dimension that is not there.
    pub fn new(sizes: &[u32], open: &[usize]) -> Result<Self, TopologyError> {
        let refuse = |text: String| Err(TopologyError::Sizes(text));
        if sizes.is_empty() || sizes.len() > MAXIMUM_DIMENSIONS {
            return refuse(format!("a torus has 1 to 6 dimensions, not {}", sizes.len()));
        }
        if let Some(size) = sizes.iter().find(|&&size| size == 0 || size > LARGEST_SIZE) {
            return refuse(format!("a dimension has 1 to {LARGEST_SIZE} nodes, not {size}"));
        }
        let nodes: u64 = sizes.iter().map(|&size| u64::from(size)).product();
        if !(2..=MAX_NODES).contains(&nodes) {
            return refuse(format!("a torus has 2 to {MAX_NODES} nodes, not {nodes}"));
        }
        if let Some(&dimension) = open.iter().find(|&&dimension| dimension >= sizes.len()) {
            let name = DIMENSION_NAMES.get(dimension).unwrap_or(&"?");
            return refuse(format!(
                "dimension {name} can't be open: there are {} dimensions",
                sizes.len()
            ));
        }
        let strides = sizes
            .iter()
            .scan(1, |stride, &size| {
                let own = *stride;
                *stride *= size;
                Some(own)
            })
            .collect();
        let open: Vec<bool> = (0..sizes.len()).map(|dimension| open.contains(&dimension)).collect();
        let closed = sizes.iter().zip(&open).map(|(&size, &open)| size > 2 && !open).collect();
        Ok(Self { sizes: sizes.to_vec(), strides, closed, open, cables: Vec::new() })
    }

    /// The torus with rates and latencies by dimension; the fastest cables have `link.rate`. An
    /// empty list leaves all dimensions at `link.rate` or `link.latency`.
    ///
    /// # Panics
    /// If a list is not empty and has another length than the dimensions.
    #[must_use]
    pub fn with_cables(self, rates: &[Rate], latencies: &[Picoseconds]) -> Self {
        let fits = |count: usize| count == 0 || count == self.dimensions();
        assert!(fits(rates.len()) && fits(latencies.len()), "one a dimension");
        let kinds = CableKinds { rates: rates.to_vec(), latencies: latencies.to_vec() };
        let cables = kinds.classes(|dimension| self.sizes[dimension] > 1);
        Self { cables, ..self }
    }

    /// The class of a dimension's cables.
    pub fn cables(&self, dimension: usize) -> CableClass {
        self.cables.get(dimension).copied().unwrap_or_default()
    }

    /// The classes of the cables of all dimensions that have cables; one class if no dimension has.
    pub fn cable_classes(&self) -> Vec<CableClass> {
        let wired = (0..self.dimensions()).filter(|&dimension| self.sizes[dimension] > 1);
        let mut classes: Vec<CableClass> = Vec::new();
        for class in wired.map(|dimension| self.cables(dimension)) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// Nodes along each dimension.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.sizes.len()
    }

    /// Number of directions: two a dimension.
    pub fn directions(&self) -> u32 {
        narrow(2 * self.sizes.len())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// Whether the dimension closes into rings: more than 2 nodes, and not open.
    pub fn closed(&self, dimension: usize) -> bool {
        self.closed[dimension]
    }

    /// Whether the dimension was declared open.
    pub fn open(&self, dimension: usize) -> bool {
        self.open[dimension]
    }

    /// A node's coordinate in a dimension.
    pub fn coordinate(&self, node: u32, dimension: usize) -> u32 {
        node / self.strides[dimension] % self.sizes[dimension]
    }

    /// A node's coordinates, first dimension first.
    pub fn coordinates(&self, node: u32) -> Vec<u32> {
        (0..self.dimensions()).map(|dimension| self.coordinate(node, dimension)).collect()
    }

    /// The node at these coordinates; `None` if their number or one of them is out of range.
    pub fn node(&self, coordinates: &[u32]) -> Option<u32> {
        let inside = coordinates.len() == self.dimensions()
            && coordinates.iter().zip(&self.sizes).all(|(coordinate, size)| coordinate < size);
        inside.then(|| coordinates.iter().zip(&self.strides).map(|(c, stride)| c * stride).sum())
    }

    /// The nodes of a box, in ascending order: `sizes[d]` nodes along each dimension, counted from
    /// a corner. The box may go round where a dimension closes. `None` if it reaches beyond the
    /// torus.
    pub fn part(&self, corner: u32, sizes: &[u32]) -> Option<Vec<u32>> {
        let mut nodes = vec![0];
        for (dimension, &size) in sizes.iter().enumerate() {
            let (whole, from) = (self.sizes[dimension], self.coordinate(corner, dimension));
            if size > whole || from + size > whole && !self.closed[dimension] {
                return None;
            }
            let stride = self.strides[dimension];
            nodes = nodes
                .iter()
                .flat_map(|node| (from..from + size).map(move |at| node + at % whole * stride))
                .collect();
        }
        nodes.sort_unstable();
        Some(nodes)
    }

    /// The hops of a shortest way between two nodes if nothing has failed.
    pub fn hops(&self, from: u32, to: u32) -> u32 {
        let of_dimension = |dimension: usize| {
            let ends = [from, to].map(|node| self.coordinate(node, dimension));
            let straight = ends[0].abs_diff(ends[1]);
            let round = self.sizes[dimension] - straight;
            if self.closed(dimension) { straight.min(round) } else { straight }
        };
        (0..self.dimensions()).map(of_dimension).sum()
    }

    /// The dimension of a direction.
    pub fn dimension(&self, direction: u32) -> usize {
        direction as usize % self.dimensions()
    }

    /// Whether a direction is a positive one.
    pub fn positive(&self, direction: u32) -> bool {
        (direction as usize) < self.dimensions()
    }

    /// The opposite direction of the same dimension.
    pub fn opposite(&self, direction: u32) -> u32 {
        (direction + self.directions() / 2) % self.directions()
    }

    /// The node one step away; `None` at a mesh's edge and in a dimension of size 1.
    pub fn neighbor(&self, node: u32, direction: u32) -> Option<u32> {
        let dimension = self.dimension(direction);
        let (size, stride) = (self.sizes[dimension], self.strides[dimension]);
        let at = self.coordinate(node, dimension);
        if self.positive(direction) {
            if at + 1 < size {
                Some(node + stride)
            } else {
                self.closed[dimension].then(|| node - at * stride)
            }
        } else if at > 0 {
            Some(node - stride)
        } else {
            self.closed[dimension].then(|| node + (size - 1) * stride)
        }
    }

    /// A node's name: its coordinates, such as `(0,3,1)`.
    pub fn node_name(&self, node: u32) -> String {
        // A run may name a hundred thousand channels by their nodes: one allocation each, with room
        // for the direction.
        let mut name = String::with_capacity(5 * self.dimensions() + 16);
        for dimension in 0..self.dimensions() {
            name.push(if dimension == 0 { '(' } else { ',' });
            push_decimal(&mut name, self.coordinate(node, dimension));
        }
        name.push(')');
        name
    }

    /// A direction's name, such as `+y`.
    pub fn direction_name(&self, direction: u32) -> String {
        let sign = if self.positive(direction) { '+' } else { '-' };
        format!("{sign}{}", DIMENSION_NAMES[self.dimension(direction)])
    }

    /// The direction of this name (`+x` to `-m`); `None` if the torus has no such dimension.
    pub fn direction(&self, name: &str) -> Option<u32> {
        (0..self.directions()).find(|&direction| self.direction_name(direction) == name)
    }

    /// The fabric of this torus without the faults: a terminal at each live node.
    ///
    /// # Errors
    /// If a failed cable does not exist, two live nodes are left without a path, or memory is
    /// short.
    pub fn fabric(&self, faults: &Faults) -> Result<Fabric, TopologyError> {
        let (nodes, directions) = (self.nodes(), self.directions());
        claim("this torus", self.memory()).map_err(TopologyError::Memory)?;
        let dead = faults.dead_channels(self)?;
        let target: Vec<u32> = (0..nodes * directions)
            .map(|slot| match self.neighbor(slot / directions, slot % directions) {
                Some(neighbor) if !dead[slot as usize] => neighbor,
                _ => NONE,
            })
            .collect();
        let opposite = (0..nodes * directions)
            .zip(&target)
            .map(|(slot, &neighbor)| match neighbor {
                NONE => NONE,
                _ => neighbor * directions + self.opposite(slot % directions),
            })
            .collect();
        let failed = (0..nodes * directions).filter_map(|channel| {
            let (node, direction) = (channel / directions, channel % directions);
            let far = self.neighbor(node, direction).filter(|_| dead[channel as usize])?;
            let opposite = far * directions + self.opposite(direction);
            (channel < opposite).then_some(FailedCable { channel, ends: (node, far) })
        });
        let failed = failed.collect();
        let mut terminal_router: Vec<u32> = (0..nodes).collect();
        for node in faults.lost_nodes() {
            terminal_router[node as usize] = NONE;
        }
        let fabric = Fabric {
            first_channel: (0..=nodes).map(|node| node * directions).collect(),
            ring: self.rings(&target),
            target,
            opposite,
            terminal_router,
            capacity: self.capacity(),
            cables: Cables::default(),
            failed,
            arrangement: Arrangement::Torus(self.clone()),
        };
        connectivity::check(&fabric)?;
        if self.cables.is_empty() {
            return Ok(fabric);
        }
        let classes = self.cable_classes();
        let usual = usual(&classes);
        let wired: Vec<bool> =
            (0..fabric.channel_slots()).map(|channel| fabric.target(channel).is_some()).collect();
        let of_channel = |channel| match wired[channel as usize] {
            true => self.cables(self.dimension(channel % directions)),
            false => usual,
        };
        Ok(fabric.with_cables(of_channel, |_| usual))
    }

    /// Bytes that the construction of the fabric takes, estimated.
    fn memory(&self) -> u64 {
        // Target, opposite, ring and failure of each channel; first channel, terminal and path
        // search of each node.
        u64::from(self.nodes()) * (u64::from(self.directions()) * 13 + 21)
    }

    /// Load 1 in flits per flit time at `link.rate`. It is the least of 8/k over the ring
    /// dimensions and 4/k over the others, each times the relative rate of the dimension's cables.
    fn capacity(&self) -> Capacity {
        let of_dimensions = (0..self.dimensions())
            .filter(|&dimension| self.sizes[dimension] > 1)
            .map(|dimension| Capacity {
                flits: if self.closed[dimension] { 8 } else { 4 },
                of: self.sizes[dimension],
                slowness: self.cables(dimension).rate.slowness(),
            });
        of_dimensions.min_by(|a, b| a.value().total_cmp(&b.value())).expect("two nodes or more")
    }

    /// Numbers the closed cycles of each direction. A row that lacks a channel is no ring.
    fn rings(&self, target: &[u32]) -> Vec<u32> {
        let directions = self.directions();
        let mut ring = vec![NONE; target.len()];
        let mut rings = 0;
        for direction in 0..directions {
            let dimension = self.dimension(direction);
            if !self.closed[dimension] {
                continue;
            }
            for start in (0..self.nodes()).filter(|&node| self.coordinate(node, dimension) == 0) {
                let row = (0..self.sizes[dimension]).map(|at| {
                    ((start + at * self.strides[dimension]) * directions + direction) as usize
                });
                if row.clone().all(|slot| target[slot] != NONE) {
                    row.for_each(|slot| ring[slot] = rings);
                    rings += 1;
                }
            }
        }
        ring
    }
}

/// Appends a number to a text, ten times as fast as `write!`.
fn push_decimal(text: &mut String, number: u32) {
    if number >= 10 {
        push_decimal(text, number / 10);
    }
    text.push(char::from(b'0' + narrow::<u8>(number % 10)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dimension_of_size_two_has_one_cable() {
        let desmos = Torus::new(&[4, 2, 2, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
        assert_eq!(desmos.routers(), 32);
        assert_eq!(desmos.channels(), 32 * 2 + 3 * 32);
        let rings: std::collections::BTreeSet<_> =
            (0..desmos.channel_slots()).filter_map(|channel| desmos.ring(channel)).collect();
        assert_eq!(rings.len(), 16, "8 rows in x, both directions");
    }

    #[test]
    fn an_open_dimension_has_an_edge() {
        let torus = Torus::new(&[4, 3], &[0]).unwrap();
        assert_eq!(torus.neighbor(3, 0), None);
        assert_eq!(torus.neighbor(8, 1), Some(0));
        assert_eq!(torus.neighbor(0, 2), None);
        assert!((torus.fabric(&Faults::default()).unwrap().capacity() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn neighbors_are_mutual_and_every_channel_is_found_by_its_number() {
        for sizes in [&[5][..], &[2, 3], &[4, 1, 3], &[3, 2, 4, 2], &[2, 2, 2, 2, 2, 2]] {
            let torus = Torus::new(sizes, &[]).unwrap();
            let fabric = torus.fabric(&Faults::default()).unwrap();
            for node in 0..torus.nodes() {
                assert_eq!(torus.node(&torus.coordinates(node)), Some(node));
                for (direction, channel) in (0..).zip(fabric.outputs(node)) {
                    assert_eq!(fabric.source(channel), node);
                    let neighbor = torus.neighbor(node, direction);
                    assert_eq!(fabric.target(channel), neighbor);
                    let back = neighbor.map(|n| torus.neighbor(n, torus.opposite(direction)));
                    assert!(back.is_none_or(|back| back == Some(node)));
                }
            }
        }
    }

    #[test]
    fn a_failed_cable_is_out_both_ways_and_breaks_its_rings() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let faults = Faults { cables: vec![(0, 0)], ..Faults::default() };
        let fabric = torus.fabric(&faults).unwrap();
        assert_eq!(fabric.target(0), None);
        assert_eq!(fabric.target(4 + 2), None);
        assert_eq!(fabric.channels(), 62);
        assert!((0..4).all(|node| fabric.ring(node * 4).is_none()));
        assert!(fabric.ring(4 * 4).is_some());
    }

    #[test]
    fn a_box_goes_round_where_the_torus_does() {
        let torus = Torus::new(&[4, 3], &[1]).unwrap();
        assert_eq!(torus.part(3, &[2, 2]), Some(vec![0, 3, 4, 7]));
        assert_eq!(torus.part(0, &[4, 3]), Some((0..12).collect()));
        assert_eq!(torus.part(8, &[1, 2]), None);
        assert_eq!(torus.part(0, &[5, 1]), None);
    }

    #[test]
    fn nodes_outside_the_node_set_are_no_part_of_the_fabric() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let faults = Faults { outside: (8..16).collect(), ..Faults::default() };
        let fabric = torus.fabric(&faults).unwrap();
        assert_eq!(fabric.live_terminals().count(), 8);
        assert_eq!(fabric.channels(), 2 * (8 + 4));
        assert!(fabric.ring(0).is_some() && fabric.ring(1).is_none());
    }

    #[test]
    fn failures_that_cut_the_fabric_name_a_pair() {
        let torus = Torus::new(&[5], &[]).unwrap();
        let faults = Faults { cables: vec![(0, 0), (2, 0)], ..Faults::default() };
        let error = torus.fabric(&faults).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the fabric falls apart: no path from node (0) to node (1) (12 ordered pairs have none)"
        );
    }

    #[test]
    fn a_cable_that_is_not_there_cannot_fail() {
        let torus = Torus::new(&[4, 2], &[]).unwrap();
        let faults = Faults { cables: vec![(0, 0), (4, 1)], ..Faults::default() };
        assert_eq!(
            torus.fabric(&faults).unwrap_err(),
            TopologyError::UnknownFault(1, "node (0,1) has no cable in direction +y".into())
        );
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for sizes in [&[][..], &[1, 1], &[0, 4], &[1025], &[2; 7], &[1024, 1024, 1024]] {
            assert!(Torus::new(sizes, &[]).is_err(), "{sizes:?}");
        }
        assert!(Torus::new(&[4, 4], &[2]).is_err());
    }
}
