//! A table algorithm of one's own: all packets along one spanning tree. It is proved, then used by
//! a scenario.
//!
//!     cargo run --release --example own_algorithm
//!
//! docs/extending.md goes through this file.

use std::collections::VecDeque;
use std::error::Error;

use flitlab::package;
use flitlab::registry::{Registry, Row};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::tables::agnostic::{Algorithm, NoTable, Parameters, Task};
use flitlab::tables::{ForwardingProof, prove_forwarding};
use flitlab::topology::Fabric;

/// The channels of a tree close no cycle, so packets can't deadlock. But all traffic meets at the
/// root.
pub static ONE_TREE: Row<Algorithm> = Row::new(
    "one-tree",
    "all packets along one spanning tree.",
    Algorithm { avoids_deadlock: true, ..Algorithm::plain(make) },
);

/// Fills in the table: by which port each router sends packets for each terminal.
fn make(task: &mut Task<'_>) -> Result<(), NoTable> {
    let fabric = task.fabric;
    let root = fabric.live_terminals().find_map(|terminal| fabric.terminal_router(terminal));
    let parents = parents(fabric, root.unwrap_or(0));
    for terminal in fabric.live_terminals() {
        let Some(home) = fabric.terminal_router(terminal) else { continue };
        // Every router sends up the tree, except those between the root and the terminal.
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

/// The port of each router that leads up the tree, found breadth first; `None` at the root.
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

/// Eight switches in a ring with a terminal each. The tree leaves out the cable between switches 4
/// and 5.
pub const SCENARIO: &str = r#"
[topology.switched_torus]
dimensions = [8]

[routing.agnostic]
algorithm = "one-tree"

[exchange]
pattern = "all-to-all"
message = "1 KiB"
"#;

/// Binds a scenario that may name the algorithm to its fabric and table. A table that is not free
/// of deadlock is refused here too.
pub fn simulation(text: &str) -> Result<Simulation, Box<dyn Error>> {
    let registry = Registry::default().with(package!(), &ONE_TREE)?;
    let document = Document::parse("own_algorithm.toml", text).with_registry(&registry);
    Ok(Simulation::new(&Scenario::read(&document)?)?)
}

/// Makes the table of a fabric and proves it. The proof follows every packet and looks for cycles
/// of channels; it shares no code with what made the table.
pub fn prove(fabric: &Fabric) -> Result<ForwardingProof, NoTable> {
    let made = ONE_TREE.generate(fabric, &Parameters::default())?;
    Ok(prove_forwarding(fabric, &made.table))
}

fn main() -> Result<(), Box<dyn Error>> {
    let simulation = simulation(SCENARIO)?;
    let proof = prove(simulation.fabric())?;
    for flaw in &proof.flaws {
        println!("flaw: {}", flaw.describe(simulation.fabric()));
    }
    println!("{} pairs of terminals have a way, {} flaws", proof.pairs, proof.flaws.len());
    let measured = simulation.run(&mut |_| {}).found.measured;
    let hops = measured.hops_mean.ok_or("no packet has arrived")?;
    println!("mean hops of an all-to-all exchange: {hops:.3}");
    Ok(())
}
