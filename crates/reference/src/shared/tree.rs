//! Trees of collective operations: docs/model.md, "Trees".

use flitlab_fabric::Fabric;

/// A tree over the routers of some terminals.
pub struct Tree {
    /// The terminal at its root.
    pub root: u32,
    /// By router: whether the tree has it, its port towards the root, its ports to children in
    /// ascending order, and its terminals that take part.
    pub spans: Vec<bool>,
    pub parent: Vec<Option<u16>>,
    pub children: Vec<Vec<u16>>,
    pub members: Vec<Vec<u32>>,
}

impl Tree {
    pub fn new(fabric: &Fabric, root: u32, terminals: &[u32]) -> Self {
        let routers = fabric.routers() as usize;
        let at = |terminal: u32| fabric.terminal_router(terminal).expect("it is live") as usize;
        let mut members = vec![Vec::new(); routers];
        terminals.iter().for_each(|&terminal| members[at(terminal)].push(terminal));
        let mut spans = vec![false; routers];
        // By router: its parent, and the ports there and back.
        let mut found: Vec<Option<(usize, u16, u16)>> = vec![None; routers];
        let mut level = vec![at(root)];
        spans[at(root)] = true;
        while !level.is_empty() {
            let mut next = Vec::new();
            for &router in &level {
                let first = fabric.outputs(router as u32).start;
                for channel in fabric.outputs(router as u32) {
                    let (Some(far), Some(back)) =
                        (fabric.target(channel), fabric.opposite(channel))
                    else {
                        continue;
                    };
                    let place = far as usize;
                    if !spans[place] {
                        spans[place] = true;
                        let back = back - fabric.outputs(far).start;
                        found[place] = Some((router, (channel - first) as u16, back as u16));
                        next.push(place);
                    }
                }
            }
            level = next;
        }
        // Leaves without a terminal are cut off, one after the other.
        loop {
            let is_parent =
                |router: usize| found.iter().flatten().any(|&(parent, ..)| parent == router);
            let is_bare = |&router: &usize| {
                found[router].is_some() && members[router].is_empty() && !is_parent(router)
            };
            let Some(leaf) = (0..routers).find(is_bare) else { break };
            (found[leaf], spans[leaf]) = (None, false);
        }
        let mut children = vec![Vec::new(); routers];
        for &(parent, port, _) in found.iter().flatten() {
            children[parent].push(port);
        }
        children.iter_mut().for_each(|ports| ports.sort_unstable());
        let parent = found.iter().map(|it| it.map(|(.., back)| back)).collect();
        Self { root, spans, parent, children, members }
    }
}
