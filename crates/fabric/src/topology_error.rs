//! Why a fabric can't be built.

use flitlab_base::memory::Shortage;

/// Why a fabric can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The sizes are not those of a torus: what is wrong and what is allowed.
    #[error("{0}")]
    Sizes(String),
    /// A size does not go with the others: which key gives it, what is wrong, and what is allowed in
    /// a few words.
    #[error("{message}")]
    Limit {
        /// The name of the key.
        key: &'static str,
        /// A sentence without a full stop.
        message: String,
        /// A few words, such as `at most 9`.
        allowed: String,
        /// What to change, if not this size.
        help: &'static str,
    },
    /// A failed cable or node is not part of the fabric: its position in the list, and the message.
    #[error("{1}")]
    UnknownFault(usize, String),
    /// The fabric needs more memory than is free.
    #[error("{0}")]
    Memory(Shortage),
    /// Failures have left two nodes without a path between them.
    #[error(
        "the fabric falls apart: no path from node {from} to node {to} ({pairs} ordered pairs have none)"
    )]
    Disconnected {
        /// The name of the node at which the first such pair begins.
        from: String,
        /// The name of the node that it can't reach.
        to: String,
        /// Ordered pairs of live nodes without a path; at least 1.
        pairs: u64,
    },
}

impl TopologyError {
    /// Advice on how to proceed; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Memory(shortage) => Some(shortage.help()),
            Self::Limit { help, .. } => Some((*help).into()),
            _ => None,
        }
    }
}
