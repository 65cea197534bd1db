//! The order in which BFS takes vertices, which \[angara-routing\], Algorithms 1 and 2, leaves
//! open.
//!
//! "Ascending vertex order in Q by outgoing edge weights" (section 4.1) does not say how several
//! weights make one key, or what orders equal keys. The paper does not give the nodes' numbers
//! either. The effect of each choice on Table 2 is in results/angara.

use super::Region;

/// A choice that can be named: by its word in scenarios, with a sentence for the reference page.
pub trait Named: Copy + PartialEq + 'static {
    /// The choices, the usual one first.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The choice's word.
    ///
    /// # Panics
    /// If `ALL` lacks a choice.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).expect("all choices are listed").1
    }
}

/// The key by which the vertices of a level are sorted, least first. A weight is the load of an
/// edge's channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexKey {
    /// The sum over the edges that leave the vertex.
    #[default]
    Sum,
    /// The least weight of an edge that leaves the vertex; 0 if none does.
    Least,
    /// The greatest weight of an edge that leaves the vertex.
    Most,
    /// The weight of the edge by which the vertex was reached.
    Arrival,
}

impl Named for VertexKey {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Sum, "sum", "the weights of all edges that leave it, together."),
        (Self::Least, "least", "the least of them, 0 where no edge leaves."),
        (Self::Most, "most", "the greatest of them."),
        (Self::Arrival, "arrival", "the weight of the edge by which it was reached."),
    ];
}

/// The order of vertices with the same key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexTies {
    /// The vertex that was reached first.
    #[default]
    Reached,
    /// The lowest node number; of one node, the fewest directions so far.
    Ascending,
    /// The reverse of [`Ascending`](Self::Ascending).
    Descending,
}

impl Named for VertexTies {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Reached, "reached", "the one that was reached first."),
        (
            Self::Ascending,
            "ascending",
            "the one at the node with the lowest number, of one node the one with the fewest directions so far.",
        ),
        (Self::Descending, "descending", "the one that `ascending` takes last."),
    ];
}

/// The vertex of a node by which a route ends there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteEnds {
    /// The vertex that was reached first.
    #[default]
    Reached,
    /// The first vertex in the sorted order.
    Sorted,
}

impl Named for RouteEnds {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Reached, "reached", "by the one that was reached first."),
        (
            Self::Sorted,
            "sorted",
            "by the first in the sorted order, as an end that is a vertex itself has it.",
        ),
    ];
}

/// The next source among the unprocessed nodes that are farthest from the latest source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextSource {
    /// The node with the lowest number.
    #[default]
    First,
    /// The node with the highest number.
    Last,
}

impl Named for NextSource {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "the one with the lowest number."),
        (Self::Last, "last", "the one with the highest number."),
    ];
}

/// The numbering of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// The first coordinate varies fastest: 0.0, 1.0, 2.0.
    #[default]
    XFastest,
    /// The first coordinate varies slowest: 0.0, 0.1, 0.2.
    XSlowest,
}

impl Named for Numbering {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::XFastest, "x-fastest", "0.0, 1.0, 2.0 and so on."),
        (Self::XSlowest, "x-slowest", "0.0, 0.1, 0.2 and so on."),
    ];
}

impl Numbering {
    /// The nodes of a region in the order of their numbers.
    pub(super) fn nodes(self, region: &Region<'_>) -> Vec<u32> {
        let mut nodes = region.nodes().to_vec();
        match self {
            Self::XFastest => {}
            Self::XSlowest => nodes.sort_by_key(|&node| region.torus().coordinates(node)),
        }
        nodes
    }
}

/// A reading of BFS: one choice of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Order of the vertices of a level.
    pub key: VertexKey,
    /// Order of vertices with equal keys.
    pub ties: VertexTies,
    /// The vertex by which a route reaches its end.
    pub ends: RouteEnds,
    /// The source that is processed next.
    pub next: NextSource,
    /// Numbers of the nodes.
    pub numbering: Numbering,
}

impl Reading {
    /// The reading that comes nearest to \[angara-routing\], Table 2, over all its rows
    /// (results/angara): maximum loads of 1, 2, 6, 17 and 46 for its 1, 2, 6, 18 and 48, and its
    /// minimum loads.
    pub const TABLE_2: Self = Self {
        key: VertexKey::Arrival,
        ties: VertexTies::Descending,
        ends: RouteEnds::Sorted,
        next: NextSource::Last,
        numbering: Numbering::XFastest,
    };

    /// All readings, the usual one first.
    pub fn all() -> impl Iterator<Item = Self> {
        fn each<N: Named>() -> impl Iterator<Item = N> {
            N::ALL.iter().map(|row| row.0)
        }
        each().flat_map(|key| {
            each().flat_map(move |ties| {
                each().flat_map(move |ends| {
                    each().flat_map(move |next| {
                        each().map(move |numbering| Self { key, ties, ends, next, numbering })
                    })
                })
            })
        })
    }

    /// The choices as keys of `[routing.angara]`, with their words.
    pub fn keys(self) -> [(&'static str, &'static str); 5] {
        [
            ("bfs_key", self.key.name()),
            ("bfs_ties", self.ties.name()),
            ("bfs_ends", self.ends.name()),
            ("bfs_next", self.next.name()),
            ("bfs_numbering", self.numbering.name()),
        ]
    }
}
