//! The states that packets for each destination come to, in an order in which sums along ways are
//! simple.

use std::ops::Range;

use super::NoSelection;
use flitlab_base::memory::claim;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::relation::{Hop, Relation};

/// One hop, as it is between two nodes of [`Ways`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Its node behind the hop, always a lower number; [`NONE`] at the destination.
    pub next: u32,
    pub channel: Channel,
    pub hop: Hop,
}

/// All ways to one destination. Nodes are states, numbered so that all hops lead to lower numbers.
pub(super) struct Ways {
    pub destination: u32,
    edges: Vec<Edge>,
    first: Vec<u32>,
    /// Routers with terminals, other than the destination, with their nodes.
    pub sources: Vec<(u32, u32)>,
}

impl Ways {
    /// Those to each destination, in ascending order.
    pub(super) fn all(fabric: &Fabric, relation: &Relation) -> Result<Vec<Self>, NoSelection> {
        let ends = fabric.ends();
        let mut node_of = vec![NONE; relation.states() as usize];
        let mut all = Vec::with_capacity(ends.len());
        for &destination in &ends {
            node_of.fill(NONE);
            let ways = Self::new(fabric, relation, &ends, destination, &mut node_of)?;
            if all.is_empty() {
                let bytes = ways.edges.len() * size_of::<Edge>() + ways.first.len() * 4;
                claim("the ways to all destinations", 2 * (bytes * ends.len()) as u64)
                    .map_err(super::NoCandidates::Memory)?;
            }
            all.push(ways);
        }
        Ok(all)
    }

    fn new(
        fabric: &Fabric,
        relation: &Relation,
        ends: &[u32],
        destination: u32,
        node_of: &mut [u32],
    ) -> Result<Self, NoSelection> {
        const OPEN: u32 = NONE - 1;
        let mut ways = Self { destination, edges: Vec::new(), first: vec![0], sources: Vec::new() };
        let none = |source: u32| {
            let names = (fabric.router_name(source), fabric.router_name(destination));
            NoSelection::Candidates(super::NoCandidates::NoPath(names.0, names.1))
        };
        for &source in ends.iter().filter(|&&source| source != destination) {
            let start = relation.injected(source);
            let mut open = vec![(start, source, 0)];
            node_of[start as usize] = OPEN;
            while let Some((state, router, next)) = open.last_mut() {
                let hops = relation.hops(*state, destination);
                let behind = |hop: &Hop| {
                    let channel = fabric.outputs(*router).start + u32::from(hop.port);
                    (channel, relation.arrived(channel, hop.vc), fabric.target(channel))
                };
                if let Some(hop) = hops.get(*next) {
                    *next += 1;
                    let (_, after, target) = behind(hop);
                    let target = target.ok_or_else(|| none(source))?;
                    match node_of[after as usize] {
                        NONE if target != destination => {
                            node_of[after as usize] = OPEN;
                            open.push((after, target, 0));
                        }
                        OPEN => return Err(none(source)),
                        _ => {}
                    }
                    continue;
                }
                if hops.is_empty() {
                    return Err(none(source));
                }
                for hop in hops {
                    let (channel, after, target) = behind(hop);
                    let end = target == Some(destination);
                    let next = if end { NONE } else { node_of[after as usize] };
                    ways.edges.push(Edge { next, channel, hop: *hop });
                }
                node_of[*state as usize] = narrow(ways.first.len() - 1);
                ways.first.push(narrow(ways.edges.len()));
                open.pop();
            }
            ways.sources.push((source, node_of[start as usize]));
        }
        Ok(ways)
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> u32 {
        narrow(self.first.len() - 1)
    }

    /// The hops of a node.
    pub(super) fn edges(&self, node: u32) -> &[Edge] {
        &self.edges[self.range(node)]
    }

    fn range(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Number of hops of all nodes together.
    pub(super) fn size(&self) -> usize {
        self.edges.len()
    }
}
