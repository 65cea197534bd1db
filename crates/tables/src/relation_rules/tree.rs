//! Spanning trees, and which way is up.

use std::fmt;

use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};

/// The search order of a spanning tree, and so the direction called up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Up leads nearer to the root, among routers as near as each other to the one of lower number:
    /// Autonet's (\[autonet\]).
    #[default]
    BreadthFirst,
    /// Up leads to the router that the search came to first (\[flexible-routing\]). It goes on to
    /// the neighbour with the most neighbours of its own that it has been to, of equals to that
    /// with the most neighbours, then to that of lowest number.
    DepthFirst,
}

impl Order {
    /// Both, with their names in scenarios and a sentence each.
    pub const ALL: [(Self, &'static str, &'static str); 2] = [
        (Self::BreadthFirst, "breadth-first", "up leads nearer to the root."),
        (Self::DepthFirst, "depth-first", "up leads to what a depth-first search came to first."),
    ];
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = Self::ALL.iter().find(|row| row.0 == *self);
        formatter.write_str(row.map_or("", |row| row.1))
    }
}

/// A spanning tree of the routers that the root is connected with.
pub(super) struct Tree {
    /// By router: its place in an order in which the root is first and each other router has a
    /// neighbour before it; [`NONE`] for those that the root is not connected with.
    place: Vec<u32>,
    /// By router: the channel from its parent, [`NONE`] for the root.
    pub(super) from_parent: Vec<Channel>,
    /// By router: hops along the tree from the root.
    pub(super) level: Vec<u32>,
    /// The routers in their order.
    pub(super) order: Vec<u32>,
}

impl Tree {
    /// # Panics
    /// If there is no such router.
    pub(super) fn new(fabric: &Fabric, root: u32, order: Order) -> Self {
        let routers = fabric.routers() as usize;
        let mut tree = Self {
            place: vec![NONE; routers],
            from_parent: vec![NONE; routers],
            level: vec![NONE; routers],
            order: Vec::new(),
        };
        tree.level[root as usize] = 0;
        match order {
            Order::BreadthFirst => tree.breadth_first(fabric, root),
            Order::DepthFirst => tree.depth_first(fabric, root),
        }
        for (number, &router) in (0..).zip(&tree.order) {
            tree.place[router as usize] = number;
        }
        tree
    }

    fn breadth_first(&mut self, fabric: &Fabric, root: u32) {
        self.order.push(root);
        let mut at = 0;
        while let Some(&router) = self.order.get(at) {
            at += 1;
            for (channel, target) in neighbours(fabric, router) {
                if self.level[target as usize] == NONE {
                    self.level[target as usize] = self.level[router as usize] + 1;
                    self.from_parent[target as usize] = channel;
                    self.order.push(target);
                }
            }
        }
        let level = &self.level;
        self.order.sort_unstable_by_key(|&router| (level[router as usize], router));
    }

    fn depth_first(&mut self, fabric: &Fabric, root: u32) {
        let mut way = vec![root];
        self.order.push(root);
        while let Some(&router) = way.last() {
            let met = |at: u32| neighbours(fabric, at).filter(|&(_, next)| self.seen(next)).count();
            let all = |at: u32| neighbours(fabric, at).count();
            let next = neighbours(fabric, router).filter(|&(_, next)| !self.seen(next)).min_by_key(
                |&(channel, next)| {
                    let more = std::cmp::Reverse((met(next), all(next)));
                    (more, next, channel)
                },
            );
            let Some((channel, next)) = next else {
                way.pop();
                continue;
            };
            self.level[next as usize] = self.level[router as usize] + 1;
            self.from_parent[next as usize] = channel;
            self.order.push(next);
            way.push(next);
        }
    }

    fn seen(&self, router: u32) -> bool {
        self.level[router as usize] != NONE
    }

    /// By channel, whether it leads up. Vacant channels don't.
    pub(super) fn up(&self, fabric: &Fabric) -> Vec<bool> {
        let mut up = vec![false; fabric.channel_slots() as usize];
        for router in 0..fabric.routers() {
            for (channel, target) in neighbours(fabric, router) {
                up[channel as usize] = self.place[target as usize] < self.place[router as usize];
            }
        }
        up
    }

    /// The routers in preorder: each before those below it, children in the tree's order.
    pub(super) fn preorder(&self, fabric: &Fabric) -> Vec<u32> {
        let mut children = vec![Vec::new(); self.level.len()];
        for &router in &self.order {
            let channel = self.from_parent[router as usize];
            if channel != NONE {
                children[fabric.source(channel) as usize].push(router);
            }
        }
        let (mut order, mut open) = (Vec::new(), vec![self.order[0]]);
        while let Some(router) = open.pop() {
            order.push(router);
            open.extend(children[router as usize].iter().rev());
        }
        order
    }

    /// By channel, whether it leads to the left: to an earlier router in preorder. Vacant channels
    /// don't.
    pub(super) fn left(&self, fabric: &Fabric) -> Vec<bool> {
        let mut place = vec![NONE; self.level.len()];
        for (number, &router) in (0..).zip(&self.preorder(fabric)) {
            place[router as usize] = number;
        }
        let mut left = vec![false; fabric.channel_slots() as usize];
        for router in 0..fabric.routers() {
            for (channel, target) in neighbours(fabric, router) {
                left[channel as usize] = place[target as usize] < place[router as usize];
            }
        }
        left
    }
}

/// The channels out of a router with the routers that they lead to.
fn neighbours(fabric: &Fabric, router: u32) -> impl Iterator<Item = (Channel, u32)> + '_ {
    let outputs = fabric.outputs(router);
    outputs.filter_map(|channel| fabric.target(channel).map(|target| (channel, target)))
}

/// The root that a rule takes if none is named: the router of lowest number that has live
/// terminals, or cables, and so router 0 where nothing has failed.
pub(super) fn first_router(fabric: &Fabric) -> u32 {
    let terminals = fabric.live_terminals().filter_map(|at| fabric.terminal_router(at)).min();
    let sender = terminals.unwrap_or(0);
    // A router without terminals, such as a fat tree's, may have a lower number, and is as good a
    // root.
    let tree = Tree::new(fabric, sender, Order::BreadthFirst);
    narrow(tree.level.iter().position(|&level| level != NONE).unwrap_or(0))
}

/// The router in the middle: with the fewest hops to all routers with live terminals together, the
/// first of equals.
pub(super) fn middle(fabric: &Fabric) -> u32 {
    let ends = fabric.ends();
    let mut sums = vec![(0u32, 0u64); fabric.routers() as usize];
    let (mut hops, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
    for &end in &ends {
        breadth_first(end, &mut hops, &mut order, |at| fabric.neighbors(at));
        for &router in &order {
            let (reached, sum) = &mut sums[router as usize];
            *reached += 1;
            *sum += u64::from(hops[router as usize]);
        }
    }
    // Those that failures have cut off reach fewer.
    let key = |router: &u32| {
        let (reached, sum) = sums[*router as usize];
        (std::cmp::Reverse(reached), sum)
    };
    (0..fabric.routers()).min_by_key(key).unwrap_or(0)
}
