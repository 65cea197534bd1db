//! Which node each rank is on.

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use flitlab_base::narrow::narrow;

/// The order in which ranks are given to nodes, `ranks_per_node` of them to each at the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The first ranks to the first node that has not failed, the next ones to the next node.
    Linear,
    /// Rank after rank to node after node, and from the first node on again.
    RoundRobin,
    /// As linear, with the nodes in an order that is drawn by the scenario's seed.
    Random,
    /// The node of each rank, by its number; some may have failed.
    Given(Arc<[u32]>),
}

/// Why ranks can't be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The nodes have no room for all ranks.
    #[error(
        "the application has {ranks} ranks, and {nodes} nodes with {ranks_per_node} ranks each have room for {}",
        u64::from(*nodes) * u64::from(*ranks_per_node)
    )]
    TooManyRanks {
        /// Ranks of the application.
        ranks: u32,
        /// Nodes that have not failed.
        nodes: u32,
        /// The most ranks of a node.
        ranks_per_node: u32,
    },
    /// A list of nodes is for another number of ranks.
    #[error("the application has {ranks} ranks, and the placement has nodes for {given}")]
    OtherRanks {
        /// Ranks of the application.
        ranks: u32,
        /// Ranks in the list.
        given: u32,
    },
    /// A rank's node has failed, or is outside the node set.
    #[error(
        "rank {rank} is placed on node {node}, which has failed or is none of the workload's nodes"
    )]
    NoNode {
        /// The rank.
        rank: u32,
        /// Its node.
        node: u32,
    },
    /// A node has more ranks than told.
    #[error("{ranks} ranks are placed on node {node}, and `ranks_per_node` is {ranks_per_node}")]
    Crowded {
        /// The node.
        node: u32,
        /// Ranks placed on it.
        ranks: u32,
        /// The most ranks of a node.
        ranks_per_node: u32,
    },
}

impl Placement {
    /// The node of each rank. `live` are the nodes that have not failed, in ascending order.
    ///
    /// # Errors
    /// If there is no room for all ranks, or a rank's node has failed or has more ranks than it
    /// may.
    pub fn nodes(
        &self,
        ranks: u32,
        ranks_per_node: u32,
        live: &[u32],
        seed: u64,
    ) -> Result<Vec<u32>, PlacementError> {
        if let Self::Given(given) = self {
            return check(given, ranks, ranks_per_node, live);
        }
        let nodes = narrow::<u32>(live.len());
        if u64::from(ranks) > u64::from(nodes) * u64::from(ranks_per_node) {
            return Err(PlacementError::TooManyRanks { ranks, nodes, ranks_per_node });
        }
        let mut live = live.to_vec();
        if *self == Self::Random {
            live.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        }
        let place = |rank| match self {
            Self::RoundRobin => rank % nodes,
            _ => rank / ranks_per_node,
        };
        Ok((0..ranks).map(|rank| live[place(rank) as usize]).collect())
    }
}

fn check(
    given: &[u32],
    ranks: u32,
    ranks_per_node: u32,
    live: &[u32],
) -> Result<Vec<u32>, PlacementError> {
    if given.len() != ranks as usize {
        return Err(PlacementError::OtherRanks { ranks, given: narrow(given.len()) });
    }
    for (rank, &node) in (0..).zip(given) {
        if live.binary_search(&node).is_err() {
            return Err(PlacementError::NoNode { rank, node });
        }
    }
    let mut sorted = given.to_vec();
    sorted.sort_unstable();
    for same in sorted.chunk_by(u32::eq) {
        let ranks = narrow(same.len());
        if ranks > ranks_per_node {
            return Err(PlacementError::Crowded { node: same[0], ranks, ranks_per_node });
        }
    }
    Ok(given.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_go_to_live_nodes_by_blocks_in_turn_or_at_random() {
        let live = [0, 2, 3, 7];
        let of = |placement: &Placement, ranks, each| placement.nodes(ranks, each, &live, 1);
        assert_eq!(of(&Placement::Linear, 6, 2).unwrap(), [0, 0, 2, 2, 3, 3]);
        assert_eq!(of(&Placement::RoundRobin, 6, 2).unwrap(), [0, 2, 3, 7, 0, 2]);
        let random = of(&Placement::Random, 8, 2).unwrap();
        assert!(random.chunks(2).all(|pair| pair[0] == pair[1]));
        let mut all = random.clone();
        all.dedup();
        all.sort_unstable();
        assert_eq!(all, live);
        assert_eq!(of(&Placement::Random, 8, 2).unwrap(), random);
        assert_ne!(Placement::Random.nodes(8, 2, &live, 2).unwrap(), random);
    }

    #[test]
    fn what_has_no_room_is_refused_with_numbers() {
        let live = [0, 2, 3];
        let message = |placement: &Placement, ranks, each| {
            placement.nodes(ranks, each, &live, 1).unwrap_err().to_string()
        };
        assert_eq!(
            message(&Placement::Linear, 7, 2),
            "the application has 7 ranks, and 3 nodes with 2 ranks each have room for 6"
        );
        let given = |nodes: &[u32]| Placement::Given(nodes.into());
        assert_eq!(
            message(&given(&[0, 1]), 2, 1),
            "rank 1 is placed on node 1, which has failed or is none of the workload's nodes"
        );
        assert_eq!(
            message(&given(&[3, 0, 3]), 3, 1),
            "2 ranks are placed on node 3, and `ranks_per_node` is 1"
        );
        assert_eq!(
            message(&given(&[3]), 2, 1),
            "the application has 2 ranks, and the placement has nodes for 1"
        );
    }
}
