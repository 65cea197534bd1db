//! Trees over the nodes of a fabric, along which its routers combine and replicate packets
//! (\[angara-routing\], section 2: a virtual subnetwork with the topology of a tree, laid into the
//! torus).
//!
//! A breadth-first search from the root's router finds the tree, with ports in ascending order,
//! over cables whose two directions are both alive. So a router's depth is its distance from the
//! root in the fabric without the failures. Branches without a member are cut off.

use std::collections::VecDeque;

use super::{Fabric, NONE};
use flitlab_base::narrow::narrow;

/// Why there is no tree over the terminals that were named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A node of the tree has failed: its name.
    #[error("node {0} has failed, and can't be in a tree")]
    Failed(String),
    /// Failures have cut all ways from the root to a member.
    #[error("no tree from node {root} has node {member}: failures have cut all ways between them")]
    Unreachable {
        /// Name of the tree's root.
        root: String,
        /// Name of the node that the root can't reach.
        member: String,
    },
}

/// A tree over some terminals of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanningTree {
    root: u32,
    /// The terminals that the tree connects, in ascending order.
    pub members: Vec<u32>,
    /// By router: the port towards the root; [`NONE`] at the root's router and outside of the tree.
    parents: Vec<u32>,
    /// By router: its distance from the root's router; [`NONE`] outside of the tree.
    depths: Vec<u32>,
    /// By router: the start of its ports to children in `children`.
    first_child: Vec<u32>,
    children: Vec<u32>,
}

impl SpanningTree {
    /// The tree from a root terminal to these terminals, given in ascending order. Each of its
    /// leaves has one of them.
    ///
    /// # Errors
    /// If a member or the root has failed or can't be reached; names the first one.
    pub fn new(fabric: &Fabric, root: u32, members: &[u32]) -> Result<Self, TreeError> {
        let live = |terminal: u32| {
            let failed = || TreeError::Failed(fabric.terminal_name(terminal));
            fabric.terminal_router(terminal).ok_or_else(failed)
        };
        let from = live(root)?;
        let routers = fabric.routers() as usize;
        let (mut parents, mut depths) = (vec![NONE; routers], vec![NONE; routers]);
        depths[from as usize] = 0;
        let mut order = Vec::new();
        let mut queue = VecDeque::from([from]);
        while let Some(router) = queue.pop_front() {
            order.push(router);
            for channel in fabric.outputs(router) {
                let (Some(next), Some(back)) = (fabric.target(channel), fabric.opposite(channel))
                else {
                    continue;
                };
                if depths[next as usize] == NONE {
                    depths[next as usize] = depths[router as usize] + 1;
                    parents[next as usize] = back - fabric.outputs(next).start;
                    queue.push_back(next);
                }
            }
        }
        let mut wanted = vec![false; routers];
        wanted[from as usize] = true;
        for &member in members {
            let router = live(member)?;
            if depths[router as usize] == NONE {
                let (root, member) = (fabric.terminal_name(root), fabric.terminal_name(member));
                return Err(TreeError::Unreachable { root, member });
            }
            wanted[router as usize] = true;
        }
        let parent = |router: u32, port: u32| {
            let channel = fabric.outputs(router).start + port;
            fabric.target(channel).expect("the search came by this cable")
        };
        // The search order has children after their parents.
        for &router in order.iter().rev().filter(|&&router| router != from) {
            if wanted[router as usize] {
                wanted[parent(router, parents[router as usize]) as usize] = true;
            } else {
                (parents[router as usize], depths[router as usize]) = (NONE, NONE);
            }
        }
        let (mut first_child, mut children) = (vec![0], Vec::new());
        for router in 0..fabric.routers() {
            let first = fabric.outputs(router).start;
            let is_child = |channel: &u32| {
                fabric.target(*channel).zip(fabric.opposite(*channel)).is_some_and(
                    |(next, back)| parents[next as usize] == back - fabric.outputs(next).start,
                )
            };
            if wanted[router as usize] {
                let own = fabric.outputs(router).filter(is_child).map(|channel| channel - first);
                children.extend(own);
            }
            first_child.push(narrow(children.len()));
        }
        Ok(Self { root, members: members.to_vec(), parents, depths, first_child, children })
    }

    /// The terminal at the root.
    pub fn root(&self) -> u32 {
        self.root
    }

    /// Cables between a router and the root's router; `None` outside of the tree.
    pub fn depth(&self, router: u32) -> Option<u32> {
        let depth = self.depths[router as usize];
        (depth != NONE).then_some(depth)
    }

    /// Cables between the farthest router and the root's router.
    pub fn height(&self) -> u32 {
        self.depths.iter().filter(|&&depth| depth != NONE).max().copied().unwrap_or(0)
    }

    /// The output port by which a router reaches its parent; `None` at the root's router and
    /// outside of the tree.
    pub fn parent(&self, router: u32) -> Option<u32> {
        let port = self.parents[router as usize];
        (port != NONE).then_some(port)
    }

    /// The output ports by which a router reaches its children, in ascending order.
    pub fn children(&self, router: u32) -> &[u32] {
        let first = |router: u32| self.first_child[router as usize] as usize;
        &self.children[first(router)..first(router + 1)]
    }

    /// Removes a router's first child, as a fault in a router's table would: for tests of its
    /// detection.
    #[doc(hidden)]
    pub fn lose_child(&mut self, router: u32) {
        let place = self.first_child[router as usize];
        self.children.remove(place as usize);
        self.first_child[router as usize + 1..].iter_mut().for_each(|first| *first -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faults, Torus};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn torus(sizes: &[u32]) -> Fabric {
        Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
    }

    /// Distances in the fabric without its failures, by relaxing all cables until nothing changes.
    fn distances(fabric: &Fabric, from: u32) -> Vec<u32> {
        let mut distance = vec![NONE; fabric.routers() as usize];
        distance[from as usize] = 0;
        loop {
            let before = distance.clone();
            for channel in 0..fabric.channel_slots() {
                if let Some(to) = fabric.target(channel) {
                    let here = distance[fabric.source(channel) as usize];
                    let there = &mut distance[to as usize];
                    *there = (*there).min(here.saturating_add(1));
                }
            }
            if distance == before {
                return distance;
            }
        }
    }

    /// Checks a tree by its ports alone. Gives the first flaw.
    fn flaw(tree: &SpanningTree, fabric: &Fabric) -> Option<String> {
        let root = fabric.terminal_router(tree.root()).unwrap();
        let distance = distances(fabric, root);
        let (mut seen, mut reached) = (vec![0; fabric.routers() as usize], vec![root]);
        seen[root as usize] = 1;
        let mut at = 0;
        while let Some(&router) = reached.get(at) {
            at += 1;
            let holds_member =
                tree.members.iter().any(|&it| fabric.terminal_router(it) == Some(router));
            if tree.children(router).is_empty() && !holds_member && router != root {
                return Some(format!("router {router} is a leaf without a member"));
            }
            for &port in tree.children(router) {
                let channel = fabric.outputs(router).start + port;
                let Some(next) = fabric.target(channel) else {
                    return Some(format!("router {router} has a child behind a vacant port"));
                };
                let back = fabric.opposite(channel).unwrap() - fabric.outputs(next).start;
                if tree.parent(next) != Some(back) {
                    return Some(format!("router {next} is not the child of its parent"));
                }
                seen[next as usize] += 1;
                reached.push(next);
                if seen[next as usize] > 1 {
                    return Some(format!("router {next} has two parents"));
                }
            }
            if tree.depth(router) != Some(distance[router as usize]) {
                return Some(format!("router {router} is not at its distance"));
            }
        }
        for router in 0..fabric.routers() {
            if seen[router as usize] == 0 && tree.depth(router).is_some() {
                return Some(format!("router {router} is in the tree and not reached"));
            }
        }
        let missed = tree
            .members
            .iter()
            .find(|&&it| seen[fabric.terminal_router(it).unwrap() as usize] == 0);
        missed.map(|member| format!("member {member} is not reached"))
    }

    #[test]
    fn trees_span_what_members_need_at_the_distance_that_failures_leave() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut unreachable = 0;
        for round in 0..300 {
            let sizes: &[&[u32]] = &[&[4, 4], &[3, 5, 2], &[8], &[2, 2, 3, 2], &[5, 4]];
            let whole = torus(sizes[round % sizes.len()]);
            let cables: Vec<u32> = whole.cables().filter(|_| random.random_bool(0.25)).collect();
            let fabric = whole.without(&cables, &[random.random_range(0..whole.routers())]);
            let live: Vec<u32> = fabric.live_terminals().collect();
            let root = live[random.random_range(0..live.len())];
            let members: Vec<u32> =
                live.iter().copied().filter(|_| random.random_bool(0.4)).collect();
            let router = |terminal: u32| fabric.terminal_router(terminal).unwrap();
            let distance = distances(&fabric, router(root));
            let cut = members.iter().find(|&&it| distance[router(it) as usize] == NONE);
            match (SpanningTree::new(&fabric, root, &members), cut) {
                (Ok(tree), None) => {
                    assert_eq!(flaw(&tree, &fabric), None, "round {round}");
                    let again = SpanningTree::new(&fabric, root, &members).unwrap();
                    assert_eq!(tree, again);
                }
                (Err(error), Some(&member)) => {
                    unreachable += 1;
                    let text = error.to_string();
                    assert!(text.contains(&fabric.terminal_name(member)), "{text}");
                }
                (outcome, cut) => panic!("round {round}: {outcome:?}, cut off is {cut:?}"),
            }
        }
        assert!(unreachable > 5, "{unreachable} members were cut off");
    }

    #[test]
    fn what_failed_is_named() {
        let fabric = torus(&[4, 4]).without(&[], &[5]);
        let error = SpanningTree::new(&fabric, 0, &[0, 5]).unwrap_err();
        assert_eq!(error.to_string(), "node (1,1) has failed, and can't be in a tree");
        assert!(SpanningTree::new(&fabric, 5, &[0]).is_err());
    }

    #[test]
    fn several_roots_have_trees_of_their_own() {
        let fabric = torus(&[4, 4]);
        let members: Vec<u32> = (0..16).collect();
        let trees = [0, 5, 15].map(|root| SpanningTree::new(&fabric, root, &members).unwrap());
        for tree in &trees {
            assert_eq!((flaw(tree, &fabric), tree.height()), (None, 4));
        }
        assert_ne!(trees[0].children(0), trees[1].children(0));
    }

    #[test]
    fn a_lost_child_is_found() {
        let fabric = torus(&[4, 4]);
        let mut tree = SpanningTree::new(&fabric, 0, &[3, 9, 10]).unwrap();
        tree.lose_child(0);
        assert!(flaw(&tree, &fabric).is_some());
    }
}
