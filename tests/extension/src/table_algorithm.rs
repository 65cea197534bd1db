//! A table by which all packets follow one tree of shortest paths from the first router.

use flitlab::registry::Row;
use flitlab::tables::agnostic::{Algorithm, NoTable, Task};

/// The channels of a tree close no cycle, so packets can't deadlock.
pub static ONE_ROOT: Row<Algorithm> = Row::new(
    "one-root",
    "all packets along one tree, whose root is the first router.",
    Algorithm { avoids_deadlock: true, ..Algorithm::plain(make) },
);

fn make(task: &mut Task<'_>) -> Result<(), NoTable> {
    let fabric = task.fabric;
    // By router: the port that leads to its parent, in the order of a search by breadth.
    let mut up = vec![None; fabric.routers() as usize];
    let mut order = vec![0];
    let mut next = 0;
    while let Some(&router) = order.get(next) {
        next += 1;
        for channel in fabric.outputs(router) {
            let (Some(target), Some(back)) = (fabric.target(channel), fabric.opposite(channel))
            else {
                continue;
            };
            if target != 0 && up[target as usize].is_none() {
                up[target as usize] = Some(back);
                order.push(target);
            }
        }
    }
    let port = |channel: u32, router: u32| {
        (0..).zip(fabric.outputs(router)).find(|&(_, own)| own == channel).map(|(port, _)| port)
    };
    for terminal in fabric.live_terminals() {
        let Some(home) = fabric.terminal_router(terminal) else { continue };
        for &router in &order {
            let up = up[router as usize].and_then(|channel| port(channel, router));
            task.table.set(router, terminal, up);
        }
        // On the way from the root to the terminal packets go down.
        task.table.set(home, terminal, None);
        let mut below = home;
        while let Some(channel) = up[below as usize] {
            let (above, down) = (fabric.target(channel), fabric.opposite(channel));
            let (Some(above), Some(down)) = (above, down) else { break };
            task.table.set(above, terminal, port(down, above));
            below = above;
        }
    }
    Ok(())
}
