//! Why a pattern can't be bound to a fabric.

use std::fmt;

/// Why a pattern can't be bound to a fabric. All of these are the user's mistakes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern is undefined for these sizes. `nearest` are the nearest sizes that would do: one
    /// with more nodes, one with fewer, as far as there are any.
    Sizes { pattern: &'static str, needs: String, has: String, nearest: Vec<Vec<u32>> },
    /// The pattern is defined on coordinates, and the nodes have none.
    NoCoordinates { pattern: &'static str },
    /// The specification names a node that the fabric has not.
    UnknownNode { pattern: &'static str, node: u32, nodes: u32 },
    /// A hot node is named twice.
    RepeatedNode(u32),
    /// No hot node is named.
    NoHotNodes,
    /// All hot nodes have failed.
    HotNodesFailed,
    /// The hot nodes' share is not in 0 to 1.
    Share(f64),
    /// A pair has two weights.
    RepeatedPair { source: u32, destination: u32 },
    /// A weight is not a finite number above 0.
    Weight { source: u32, destination: u32, weight: f64 },
    /// No live node has anybody to send to.
    Nobody { pattern: &'static str },
}

/// Sizes as people write them, such as `8x8x4`.
pub(super) fn sizes_text(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sizes { pattern, needs, has, nearest } => {
                write!(formatter, "{pattern} needs {needs}; {has}")?;
                let named: Vec<String> = nearest
                    .iter()
                    .map(|sizes| match sizes.as_slice() {
                        [nodes] => nodes.to_string(),
                        sizes => {
                            format!("{} ({})", sizes_text(sizes), sizes.iter().product::<u32>())
                        }
                    })
                    .collect();
                if named.is_empty() {
                    return Ok(());
                }
                write!(formatter, ": {} would do", named.join(" or "))
            }
            Self::NoCoordinates { pattern } => write!(
                formatter,
                "{pattern} is defined on coordinates, which nodes have in [topology.torus], and in \
                 [topology.switched_torus] with one terminal a switch"
            ),
            Self::UnknownNode { pattern, node, nodes } => write!(
                formatter,
                "{pattern} names node {node}, but the nodes are 0 to {}",
                nodes - 1
            ),
            Self::RepeatedNode(node) => write!(formatter, "hotspot names node {node} twice"),
            Self::NoHotNodes => formatter.write_str("hotspot needs at least one hot node"),
            Self::HotNodesFailed => formatter.write_str("all of hotspot's hot nodes have failed"),
            Self::Share(share) => {
                write!(formatter, "hotspot's share must be between 0 and 1, not {share}")
            }
            Self::RepeatedPair { source, destination } => {
                write!(formatter, "matrix has two weights from node {source} to node {destination}")
            }
            Self::Weight { source, destination, weight } => write!(
                formatter,
                "matrix needs finite weights above 0; from node {source} to node {destination} it \
                 has {weight}"
            ),
            Self::Nobody { pattern } => write!(
                formatter,
                "{pattern} sends nothing here: the partner of every node is itself or has failed"
            ),
        }
    }
}

impl std::error::Error for PatternError {}
