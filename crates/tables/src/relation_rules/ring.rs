//! A ring of channels through all routers.

use super::tree::Tree;
use flitlab_fabric::{Channel, Fabric, NONE};

/// The tour round a spanning tree, which takes each of its cables in both directions once.
pub(super) struct Tour {
    /// By channel: the one after it; [`NONE`] of those that are not of the tour.
    after: Vec<Channel>,
}

impl Tour {
    pub(super) fn new(fabric: &Fabric, tree: &Tree) -> Self {
        let mut children = vec![Vec::new(); fabric.routers() as usize];
        for &router in &tree.order {
            let channel = tree.from_parent[router as usize];
            if channel != NONE {
                children[fabric.source(channel) as usize].push(channel);
            }
        }
        let mut tour = Vec::new();
        let mut open = vec![(tree.order[0], 0)];
        while let Some((router, next)) = open.last_mut() {
            if let Some(&channel) = children[*router as usize].get(*next) {
                *next += 1;
                tour.push(channel);
                open.push((fabric.target(channel).expect("it is in the tree"), 0));
            } else {
                let down = tree.from_parent[*router as usize];
                if down != NONE {
                    tour.push(fabric.opposite(down).expect("cables have two directions"));
                }
                open.pop();
            }
        }
        let mut after = vec![NONE; fabric.channel_slots() as usize];
        for (at, &channel) in tour.iter().enumerate() {
            after[channel as usize] = tour[(at + 1) % tour.len()];
        }
        Self { after }
    }

    /// The channel after one of the tour.
    pub(super) fn after(&self, channel: Channel) -> Option<Channel> {
        Some(self.after[channel as usize]).filter(|&after| after != NONE)
    }
}
