//! All packets along one spanning tree, found breadth first from router 0. The channels of a tree close no cycle, so
//! packets can't deadlock; its root is soon full.

use std::collections::VecDeque;

use flitlab::routing::agnostic::{Algorithm, NoTable, Task};
use flitlab::topology::Fabric;

pub const ONE_TREE: Algorithm = Algorithm {
    avoids_deadlock: true,
    ..Algorithm::plain("one-tree", "all packets along one spanning tree.", make)
};

fn make(task: &mut Task<'_>) -> Result<(), NoTable> {
    let fabric = task.fabric;
    let root = fabric.live_terminals().find_map(|terminal| fabric.terminal_router(terminal));
    let parents = parents(fabric, root.unwrap_or(0));
    for terminal in fabric.live_terminals() {
        let Some(home) = fabric.terminal_router(terminal) else { continue };
        // From below and from beside up to the root, and from there down to the terminal's router.
        for (router, &up) in (0..).zip(&parents) {
            task.table.set(router, terminal, up);
        }
        let mut below = home;
        task.table.set(home, terminal, None);
        while let Some((above, port)) = down(fabric, &parents, below) {
            task.table.set(above, terminal, Some(port));
            below = above;
        }
    }
    Ok(())
}

/// The port of each router that leads up the tree; none at the root.
fn parents(fabric: &Fabric, root: u32) -> Vec<Option<u16>> {
    let mut up = vec![None; fabric.routers() as usize];
    let mut queue = VecDeque::from([root]);
    while let Some(router) = queue.pop_front() {
        for channel in fabric.outputs(router) {
            let (Some(next), Some(back)) = (fabric.target(channel), fabric.opposite(channel))
            else {
                continue;
            };
            if next != root && up[next as usize].is_none() {
                up[next as usize] = u16::try_from(back - fabric.outputs(next).start).ok();
                queue.push_back(next);
            }
        }
    }
    up
}

/// The router above this one, and its port that leads down to it.
fn down(fabric: &Fabric, parents: &[Option<u16>], router: u32) -> Option<(u32, u16)> {
    let up = fabric.outputs(router).start + u32::from(parents[router as usize]?);
    let (above, back) = (fabric.target(up)?, fabric.opposite(up)?);
    Some((above, u16::try_from(back - fabric.outputs(above).start).ok()?))
}
