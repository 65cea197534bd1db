//! BFS, as \[angara-routing\] has it (Algorithms 1 and 2): from one source after the other a
//! breadth-first search of the [`RoutingGraph`].
//!
//! In each level vertices come in ascending order of the routes that cross their outgoing channels,
//! and a vertex keeps the parent that reaches it first. The next source is the one farthest from
//! the latest. What else the order depends on the paper leaves open: [`Reading`]. Usually it is the
//! sum of the loads here, which gives better tables than the published ones; [`Reading::TABLE_2`]
//! comes nearest to these.

use super::graph::Stage;
use super::reading::{NextSource, Reading, RouteEnds, VertexKey, VertexTies};
use super::{Algorithm, Generated};
use super::{Freedoms, Region, RoutingGraph};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Channel;
use flitlab_routing::{Header, RouteTable};

impl Algorithm {
    /// `bfs`.
    pub const BFS: Row<Self> = Row::new(
        "bfs",
        "the published BFS, by breadth-first searches.",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, parameters, _| {
                Ok(Generated::new(bfs(choices.region(), parameters.freedoms, parameters.bfs)))
            },
        },
    );
}

const NONE: u32 = u32::MAX;

/// A route for every pair of a region that has one.
pub fn bfs(region: &Region<'_>, freedoms: Freedoms, reading: Reading) -> RouteTable {
    let graph = RoutingGraph::new(region, freedoms);
    let mut waiting = reading.numbering.nodes(region);
    let mut numbers = vec![0; region.fabric().routers() as usize];
    for (number, &node) in waiting.iter().enumerate() {
        numbers[node as usize] = narrow(number);
    }
    let mut search = Search {
        graph,
        reading,
        numbers,
        loads: vec![0; region.fabric().channel_slots() as usize],
        parents: Vec::new(),
        ends: Vec::new(),
    };
    let mut table = RouteTable::empty(region.fabric());
    let mut source = waiting.first().copied();
    while let Some(node) = source {
        waiting.retain(|&other| other != node);
        let hops = search.routes_from(node, &mut table);
        source = waiting.iter().copied().reduce(|farthest, other| {
            let farther = match reading.next {
                NextSource::First => hops[other as usize] > hops[farthest as usize],
                NextSource::Last => hops[other as usize] >= hops[farthest as usize],
                NextSource::InTurn => false,
            };
            if farther { other } else { farthest }
        });
    }
    table
}

struct Search<'r, 'f> {
    graph: RoutingGraph<'r, 'f>,
    reading: Reading,
    /// For each node its number.
    numbers: Vec<u32>,
    /// Routes across each channel: the weights of the edges.
    loads: Vec<u32>,
    /// For each vertex (node, then kind) the vertex before it.
    parents: Vec<u32>,
    /// For each node the vertex by which routes end there.
    ends: Vec<u32>,
}

impl Search<'_, '_> {
    /// The channel by which a vertex was reached; none for the start.
    fn arrival(&self, vertex: u32) -> Option<Channel> {
        let direction = self.graph.past(vertex).latest?;
        let (before, _) = self.graph.node_and_kind(self.parents[vertex as usize]);
        Some(self.graph.region().channel(before, direction))
    }

    /// Where a vertex comes in its level, by the reading: its key, then what decides between equal
    /// ones.
    fn place(&self, vertex: u32) -> (u64, i64) {
        let load = |channel: Channel| u64::from(self.loads[channel as usize]);
        let leaving = || self.graph.successors(vertex).map(|(_, channel)| load(channel));
        let key = match self.reading.key {
            VertexKey::Sum => leaving().sum(),
            VertexKey::Least => leaving().min().unwrap_or(0),
            VertexKey::Most => leaving().max().unwrap_or(0),
            VertexKey::Arrival => self.arrival(vertex).map_or(0, load),
            VertexKey::Unsorted => 0,
        };
        let (node, kind) = self.graph.node_and_kind(vertex);
        let number = i64::from(self.graph.vertex(self.numbers[node as usize], kind));
        let tie = match self.reading.ties {
            VertexTies::Reached => 0,
            VertexTies::Ascending => number,
            VertexTies::Descending => -number,
        };
        (key, tie)
    }

    /// Algorithm 2 from one source; gives the hops to each node.
    fn routes_from(&mut self, source: u32, table: &mut RouteTable) -> Vec<u32> {
        let region = self.graph.region();
        let nodes = region.fabric().routers();
        self.parents.clear();
        self.parents.resize(self.graph.size(), NONE);
        self.ends.clear();
        self.ends.resize(nodes as usize, NONE);
        let dimensions = narrow(region.torus().dimensions());
        let mut hops = vec![0; nodes as usize];
        let start = self.graph.begin(source);
        self.parents[start as usize] = start;
        let mut level = vec![start];
        let mut length = 0;
        while !level.is_empty() {
            let reached = (self.reading.ends == RouteEnds::Reached).then(|| level.clone());
            level.sort_by_cached_key(|&vertex| self.place(vertex));
            for vertex in reached.as_ref().unwrap_or(&level) {
                let (node, _) = self.graph.node_and_kind(*vertex);
                if self.ends[node as usize] == NONE {
                    self.ends[node as usize] = *vertex;
                    hops[node as usize] = length;
                }
            }
            length += 1;
            let mut next_level = Vec::new();
            for &vertex in &level {
                let next: Vec<u32> = self.graph.successors(vertex).map(|(next, _)| next).collect();
                for next in next {
                    if self.parents[next as usize] == NONE {
                        self.parents[next as usize] = vertex;
                        next_level.push(next);
                    }
                }
            }
            level = next_level;
        }
        for &destination in region.nodes().iter().filter(|&&node| node != source) {
            let mut vertex = self.ends[destination as usize];
            if vertex == NONE {
                continue;
            }
            let mut header = Header::default();
            let end = vertex;
            while vertex != start {
                let past = *self.graph.past(vertex);
                let direction = past.latest.expect("not the start");
                header = with_step(header, past.stage, direction, dimensions, vertex == end);
                let channel = self.arrival(vertex).expect("not the start");
                self.loads[channel as usize] += 1;
                vertex = self.parents[vertex as usize];
            }
            table.set(source, destination, header);
        }
        hops
    }
}

/// A header with one of its path's steps. A first step that is the only one is a direction.
fn with_step(header: Header, stage: Stage, direction: u32, dimensions: u32, only: bool) -> Header {
    let dimension = (direction % dimensions) as usize;
    match stage {
        Stage::FirstStep if !only => header.with_first_step(dimension),
        Stage::LastStep => header.with_last_step(dimension),
        _ => header.with_direction(dimension, direction < dimensions),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Choices, Named, Numbering};
    use super::*;
    use crate::{Quality, prove};
    use flitlab_base::narrow::rounded;
    use flitlab_fabric::{Faults, Torus};

    /// Figures of the table that BFS makes for a torus, after the proof.
    fn quality(sizes: &[u32], cables: &[(u32, u32)], reading: Reading) -> Quality {
        let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap();
        let region = Region::new(&fabric);
        let table = bfs(&region, Freedoms::default(), reading);
        let proof = prove(&fabric, &table);
        assert!(proof.holds(), "{reading:?}: {}", proof.flaws[0].describe(&fabric));
        let choices = Choices::new(region, Freedoms::default());
        let shortest: u64 = choices.pairs().map(|pair| u64::from(pair.hops)).sum();
        let quality = Quality::new(choices.region(), &table);
        assert_eq!(rounded::<u64>(quality.hops_mean * quality.routed as f64), shortest);
        quality
    }

    #[test]
    fn every_pair_gets_a_shortest_legal_route_in_every_reading() {
        for reading in Reading::all() {
            for (sizes, cables) in [
                (&[4, 2, 2, 2][..], &[][..]),
                (&[5, 4], &[]),
                (&[4, 4, 3], &[(0, 0), (21, 1), (42, 2)]),
            ] {
                quality(sizes, cables, reading);
            }
        }
    }

    /// Maximum, minimum, and sigma(4) in thousandths.
    fn loads(sizes: &[u32], reading: Reading) -> (u64, u64, u64) {
        let load = quality(sizes, &[], reading).load;
        (rounded(load.maximum), rounded(load.minimum), rounded(1e3 * load.sigma_4))
    }

    /// Table 2 has maximum loads of 1, 2, 6, 18 and 48, the same minimum loads, and sigmas of 0, 0,
    /// 1.429, 4.341 and 12.254.
    #[test]
    fn the_reading_of_table_2_has_its_minimum_loads_and_nearly_its_maximum_loads() {
        let of = |sizes| loads(sizes, Reading::TABLE_2);
        assert_eq!([of(&[2]), of(&[4])], [(1, 1, 0), (2, 2, 0)]);
        assert_eq!(of(&[4, 2]), (6, 2, 1257));
        assert_eq!(of(&[4, 2, 2]), (17, 3, 4019));
        assert_eq!(of(&[4, 2, 2, 2]), (46, 3, 11178));
    }

    /// Table 2's maximum loads on 8, 16 and 32 nodes, but not on 4, where it has 2.
    #[test]
    fn another_reading_has_the_maximum_loads_of_table_2_on_all_but_four_nodes() {
        let reading = Reading {
            key: VertexKey::Least,
            ties: VertexTies::Descending,
            ends: RouteEnds::Sorted,
            next: NextSource::First,
            numbering: Numbering::XSlowest,
        };
        let maximum = |sizes| loads(sizes, reading).0;
        assert_eq!([maximum(&[4, 2]), maximum(&[4, 2, 2]), maximum(&[4, 2, 2, 2])], [6, 18, 48]);
        assert_eq!(maximum(&[4]), 3);
    }

    #[test]
    fn the_usual_reading_stays_what_it_was() {
        assert_eq!(loads(&[4, 2, 2, 2], Reading::default()), (34, 2, 8483));
    }

    #[test]
    fn each_choice_of_a_reading_changes_the_loads() {
        fn changed<N: Named>(with: impl Fn(N) -> Reading) {
            let mut found: Vec<_> =
                N::ALL.iter().map(|row| loads(&[4, 2, 2], with(row.0))).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), N::ALL.len(), "{found:?}");
        }
        let usual = Reading::TABLE_2;
        changed(|key| Reading { key, ..usual });
        changed(|ties| Reading { ties, ..usual });
        changed(|ends| Reading { ends, ..usual });
        changed(|next| Reading { next, ..usual });
        changed(|numbering| Reading { numbering, ..usual });
    }
}
