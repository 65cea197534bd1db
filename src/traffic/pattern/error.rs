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
    /// The keys of the pattern do not suit the fabric, for this reason: a sentence without a full stop.
    Refused(String),
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
            Self::Refused(reason) => formatter.write_str(reason),
            Self::Nobody { pattern } => write!(
                formatter,
                "{pattern} sends nothing here: the partner of every node is itself or has failed"
            ),
        }
    }
}

impl std::error::Error for PatternError {}
