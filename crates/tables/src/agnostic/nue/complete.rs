//! The size of the complete channel dependency graph, and what became of its edges.

use crate::agnostic::graph::Graph;
use flitlab_fabric::Channel;

/// The complete channel dependency graph of a fabric (\[nue\]), of which each virtual channel has
/// one, and the states of the edges when all destinations are routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteGraph {
    /// Vertices: the channels between the routers that terminals can reach, two a cable.
    pub channels: u64,
    /// Edges: the pairs of channels one behind the other that do not lead back to the router where
    /// the first begins.
    pub edges: u64,
    /// By virtual channel. Those to which no destination was assigned have used no edge.
    pub states: Vec<EdgeStates>,
    /// Destinations whose search came to an impasse: no edge was left that would have led on, and
    /// some router had no way yet.
    pub impasses: u32,
}

/// How many edges of a virtual channel's graph are in which state. All others are unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeStates {
    /// Taken by paths, or by the escape tree.
    pub used: u64,
    /// Found to close a cycle with those that were used then.
    pub blocked: u64,
}

impl CompleteGraph {
    pub(super) fn new(graph: &Graph) -> Self {
        let channels = graph.all_routers().filter(|&router| graph.connected(router));
        let channels: Vec<_> = channels.flat_map(|router| graph.outputs(router)).collect();
        let onward = |&channel: &Channel| {
            let back = graph.source(channel);
            let next = graph.outputs(graph.target(channel));
            next.filter(|&next| graph.target(next) != back).count() as u64
        };
        Self {
            channels: channels.len() as u64,
            edges: channels.iter().map(onward).sum(),
            states: Vec::new(),
            impasses: 0,
        }
    }

    /// Adds the next virtual channel.
    pub(super) fn add(&mut self, impasses: u32, states: EdgeStates) {
        self.impasses += impasses;
        self.states.push(states);
    }

    /// How many edges are unused in a virtual channel with these states.
    pub fn unused(&self, states: &EdgeStates) -> u64 {
        self.edges - states.used - states.blocked
    }
}
