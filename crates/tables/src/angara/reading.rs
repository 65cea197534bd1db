//! What \[angara-routing\] leaves open in its algorithms: the order in which BFS takes vertices
//! (Algorithms 1 and 2), and that in which SSSP takes pairs and equal routes (Algorithms 3 and 4).
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
    /// Vertices come as they were reached. The paper's algorithm without its sort.
    Unsorted,
}

impl Named for VertexKey {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Sum, "sum", "the weights of all edges that leave it, together."),
        (Self::Least, "least", "the least of them, 0 where no edge leaves."),
        (Self::Most, "most", "the greatest of them."),
        (Self::Arrival, "arrival", "the weight of the edge by which it was reached."),
        (Self::Unsorted, "none", "nothing, which shows what the paper's sort is worth."),
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

/// The next source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextSource {
    /// Of the unprocessed nodes that are farthest from the latest source the one with the lowest
    /// number.
    #[default]
    First,
    /// Of these the one with the highest number.
    Last,
    /// The node with the lowest number of all. The paper's algorithm without its heuristic.
    InTurn,
}

impl Named for NextSource {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "of the farthest ones that with the lowest number."),
        (Self::Last, "last", "of the farthest ones that with the highest number."),
        (Self::InTurn, "in-turn", "node by node, which shows what going far is worth."),
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

/// The choices of a kind.
fn each<N: Named>() -> impl Iterator<Item = N> {
    N::ALL.iter().map(|row| row.0)
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

    /// Whether it has what the paper says: sorted vertices, and the farthest node as the next
    /// source.
    pub fn is_of_the_paper(&self) -> bool {
        self.key != VertexKey::Unsorted && self.next != NextSource::InTurn
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

/// Which pairs SSSP routes first, as those that have one route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UniqueRoutes {
    /// Those whose shortest paths lead through the same channels.
    #[default]
    Channels,
    /// Those with one shortest path of the routing graph.
    Paths,
}

impl Named for UniqueRoutes {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Channels, "channels", "those that have one way through channels."),
        (
            Self::Paths,
            "paths",
            "those that have one path of the routing graph; a first step and a direction are two.",
        ),
    ];
}

/// How SSSP sorts the other pairs into groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By turns, then by hops.
    #[default]
    Turns,
    /// By hops, then by turns.
    Hops,
    /// By hops only. The paper's algorithm without its sort by turns.
    HopsOnly,
}

impl Named for Grouping {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Turns, "turns", "by turns, then by hops, as the paper has it."),
        (Self::Hops, "hops", "by hops, then by turns."),
        (Self::HopsOnly, "hops-only", "by hops, which shows what sorting by turns is worth."),
    ];
}

/// Which of a pair's routes with the least load SSSP takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteTies {
    /// The first of the list of its routes, which has no first or last step if it can be had
    /// without.
    #[default]
    First,
    /// The last of the list.
    Last,
    /// The one that a search of the routing graph comes upon first (Algorithm 4).
    Reached,
    /// The one that the search comes upon last.
    ReachedLast,
}

impl Named for RouteTies {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::First, "first", "the first of its routes, with no first or last step if it can be."),
        (Self::Last, "last", "the last of its routes."),
        (
            Self::Reached,
            "reached",
            "the one that a search of the routing graph comes upon first; the paper's search, many times as slow.",
        ),
        (Self::ReachedLast, "reached-last", "the one that such a search comes upon last."),
    ];
}

/// In which order SSSP takes sources, and of each the destinations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairOrder {
    /// By number, ascending.
    #[default]
    Ascending,
    /// By number, descending.
    Descending,
}

impl Named for PairOrder {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Ascending, "ascending", "those with low numbers first."),
        (Self::Descending, "descending", "those with high numbers first."),
    ];
}

/// What a generation of the genetic algorithm does whose gain is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmallGain {
    /// It ends the search.
    #[default]
    Ends,
    /// It counts as one of the 30 without a better table.
    Counts,
}

impl Named for SmallGain {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Ends, "ends", "it ends the search."),
        (Self::Counts, "counts", "it counts as one of the generations without a better table."),
    ];
}

/// A reading of SSSP: one choice of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SsspReading {
    /// The pairs that are routed first.
    pub unique: UniqueRoutes,
    /// The groups of the others.
    pub groups: Grouping,
    /// Which of equally loaded routes is taken.
    pub ties: RouteTies,
    /// The order of pairs in a group, and so which of two that cross goes first.
    pub order: PairOrder,
    /// Numbers of the nodes.
    pub numbering: Numbering,
}

impl SsspReading {
    /// All readings, the usual one first.
    pub fn all() -> impl Iterator<Item = Self> {
        each().flat_map(|unique| {
            each().flat_map(move |groups| {
                each().flat_map(move |ties| {
                    each().flat_map(move |order| {
                        each().map(move |numbering| Self { unique, groups, ties, order, numbering })
                    })
                })
            })
        })
    }

    /// The choices as keys of `[routing.angara]`, with their words.
    pub fn keys(self) -> [(&'static str, &'static str); 5] {
        [
            ("sssp_unique", self.unique.name()),
            ("sssp_groups", self.groups.name()),
            ("sssp_ties", self.ties.name()),
            ("sssp_order", self.order.name()),
            ("sssp_numbering", self.numbering.name()),
        ]
    }
}
