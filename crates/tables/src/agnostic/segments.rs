//! Segment-based routing (\[segment-routing\]).
//!
//! The fabric is cut into segments: each leads from a router seen before over new routers to one
//! seen before. At its first new router packets may not turn from its one cable there to the other,
//! nor back; at a segment of a single cable between routers seen before, none may turn at one end.
//! Each cycle of channels goes all through the last of its segments, so none is left. The paths are
//! then the lightest ones, as Nue finds them, with these turns for all that is ever blocked.

use flitlab_base::registry::Row;
use std::collections::VecDeque;

use super::Algorithm;
use super::graph::Graph;
use super::nue::{Search, Tree};
use super::up_down::center;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `segments`.
    pub const SEGMENTS: Row<Self> = Row::new(
        "segments",
        "a forbidden turn in each segment of the fabric.",
        Self {
            avoids_deadlock: true,
            ..Self::plain(|task| {
                task.escape_falls = Some(segments(&task.graph, &mut task.table));
                Ok(())
            })
        },
    );
}

/// Fills in the table and gives the number of destinations whose paths follow a spanning tree.
fn segments(graph: &Graph, table: &mut ForwardingTable) -> u32 {
    let root = center(graph);
    let turns = Turns::new(graph, root);
    let terminals = graph.destinations.len() as u64;
    let mut weights = vec![graph.weight_above(terminals); graph.slots()];
    // Where packets from elsewhere can't follow, a way is of use to no other router.
    for (weight, &forbidden) in weights.iter_mut().zip(&turns.forbidden) {
        *weight = if forbidden == ALL { HEAVY } else { *weight };
    }
    let tree = Tree::new(graph, &graph.destinations, root, &weights, |channel| {
        turns.tree[channel as usize]
    });
    let mut search = Search::new(graph);
    search.start_with(turns.allowed(graph));
    let mut falls = 0;
    for &destination in &graph.destinations {
        let along_tree = |way: &mut [Channel]| tree.follow(graph, destination.router, way);
        falls += u32::from(!search.route(destination.router, &weights, along_tree));
        search.write(destination, table);
        search.add_weights(&mut weights);
    }
    falls
}

/// More than any path weighs otherwise.
const HEAVY: u64 = 1 << 56;

/// Which turns packets may make.
struct Turns {
    /// By channel of a cable whose packets may not turn at the channel's source: the only cable to
    /// which that holds, by its channel there; [`ALL`] if it holds to all.
    forbidden: Vec<u32>,
    /// By channel, whether its cable is kept when each segment is cut at its forbidden turn.
    tree: Vec<bool>,
}

/// Stands for all cables of a router.
const ALL: u32 = NONE - 1;

impl Turns {
    fn new(graph: &Graph, root: u32) -> Self {
        let mut turns =
            Self { forbidden: vec![NONE; graph.slots()], tree: vec![true; graph.slots()] };
        let mut seen = vec![false; graph.routers()];
        let mut done = vec![false; graph.slots()];
        seen[root as usize] = true;
        let mut routers = VecDeque::from([root]);
        while let Some(&router) = routers.front() {
            let Some(start) = graph.outputs(router).find(|&out| !done[out as usize]) else {
                routers.pop_front();
                continue;
            };
            let way = segment(graph, start, &seen, &done);
            // A bridge: what lies behind it is seen from there.
            let bridge = way.is_none();
            let way = way.unwrap_or_else(|| vec![start]);
            for &channel in &way {
                done[channel as usize] = true;
                done[graph.opposite(channel) as usize] = true;
                let next = graph.target(channel);
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    routers.push_back(next);
                }
            }
            if bridge {
                continue;
            }
            let back = graph.opposite(start);
            match way.get(1) {
                Some(&second) => {
                    turns.forbidden[back as usize] = second;
                    turns.forbidden[second as usize] = back;
                }
                None => turns.forbidden[back as usize] = ALL,
            }
            turns.tree[start as usize] = false;
            turns.tree[back as usize] = false;
        }
        turns
    }

    /// Whether packets may go from one cable to another, given by their channels out of the router.
    fn allows(&self, from: Channel, to: Channel) -> bool {
        let forbids = |one: Channel, other: Channel| {
            let forbidden = self.forbidden[one as usize];
            forbidden == ALL || forbidden == other
        };
        !forbids(from, to) && !forbids(to, from)
    }

    /// All dependencies of channels that remain.
    fn allowed<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = (Channel, Channel)> + 'a {
        graph.all_routers().flat_map(move |router| {
            graph.outputs(router).flat_map(move |from| {
                let others = graph.outputs(router).filter(move |&to| {
                    graph.target(to) != graph.target(from) && self.allows(from, to)
                });
                others.map(move |to| (graph.opposite(from), to))
            })
        })
    }
}

/// The shortest way that starts with a channel and leads over routers not seen and cables not done
/// to a router seen before; `None` if there is none.
fn segment(graph: &Graph, start: Channel, seen: &[bool], done: &[bool]) -> Option<Vec<Channel>> {
    let mut parent = vec![NONE; graph.slots()];
    let mut reached = vec![false; graph.routers()];
    let mut queue = VecDeque::from([start]);
    let mut last = None;
    while let Some(channel) = queue.pop_front() {
        let at = graph.target(channel);
        if seen[at as usize] {
            last = Some(channel);
            break;
        }
        for next in graph.outputs(at) {
            let to = graph.target(next) as usize;
            if !done[next as usize] && next != graph.opposite(start) && !reached[to] {
                // Several cables may lead to the router where the segment ends.
                reached[to] = !seen[to];
                parent[next as usize] = channel;
                queue.push_back(next);
            }
        }
    }
    let mut way = vec![last?];
    while *way.last()? != start {
        way.push(parent[*way.last()? as usize]);
    }
    way.reverse();
    Some(way)
}
