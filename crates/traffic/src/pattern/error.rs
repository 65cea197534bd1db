//! Why a pattern can't be bound to a fabric.

use flitlab_fabric::sizes_text;

/// Why a pattern can't be bound to a fabric. All of these are the user's mistakes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern is undefined for these sizes. `nearest` are the nearest sizes that would do: one
    /// with more nodes, one with fewer, as far as there are any.
    #[error("{pattern} needs {needs}; {has}{}", would_do(nearest))]
    Sizes {
        /// The pattern's name.
        pattern: &'static str,
        /// The sizes that it needs, in words.
        needs: String,
        /// The sizes of the fabric, in words.
        has: String,
        /// Sizes that would do, by dimension; at most two.
        nearest: Vec<Vec<u32>>,
    },
    /// The pattern is defined on coordinates, and the nodes have none.
    #[error(
        "{pattern} is defined on coordinates, which nodes have in [topology.torus], and in \
         [topology.switched_torus] with one terminal a switch"
    )]
    NoCoordinates {
        /// The pattern's name.
        pattern: &'static str,
    },
    /// The pattern is defined on groups, and the fabric has none.
    #[error(
        "{pattern} is defined on groups, which routers have in [topology.dragonfly], [topology.dragonfly_plus] and \
         [topology.cascade]"
    )]
    NoGroups {
        /// The pattern's name.
        pattern: &'static str,
    },
    /// The pattern is defined on the coordinates of routers, and these have none.
    #[error(
        "{pattern} is defined on dimensions, which [topology.torus], [topology.switched_torus] and [topology.hyperx] \
         have"
    )]
    NoDimensions {
        /// The pattern's name.
        pattern: &'static str,
    },
    /// The specification names a node that the fabric has not.
    #[error("{pattern} names node {node}, but the nodes are 0 to {}", nodes - 1)]
    UnknownNode {
        /// The pattern's name.
        pattern: &'static str,
        /// The named node.
        node: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// The keys of the pattern do not suit the fabric, for this reason: a sentence without a full
    /// stop.
    #[error("{0}")]
    Refused(String),
    /// No live node has anybody to send to.
    #[error("{pattern} sends nothing here: the partner of every node is itself or has failed")]
    Nobody {
        /// The pattern's name.
        pattern: &'static str,
    },
}

fn would_do(nearest: &[Vec<u32>]) -> String {
    let name = |sizes: &Vec<u32>| match sizes.as_slice() {
        [nodes] => nodes.to_string(),
        sizes => format!("{} ({})", sizes_text(sizes), sizes.iter().product::<u32>()),
    };
    let names: Vec<String> = nearest.iter().map(name).collect();
    if names.is_empty() { String::new() } else { format!(": {} would do", names.join(" or ")) }
}
