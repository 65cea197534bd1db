//! Random selection read as one decision a router (\[path-selection\], section 2, doesn't say what is
//! drawn): every router has its ports in an order of its own, drawn once, and all paths take the
//! first port of that order that the relation offers. Virtual channels are drawn as for low port.
//! On the torus of Table 4 this comes nearer to the published deviation than paths drawn for each
//! pair.

use flitlab_base::registry::Row;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Chosen, NoSelection, PathSelection, SelectionTask};

impl PathSelection {
    /// `random-port-order`.
    pub const PORT_ORDER: Row<Self> = Row::new(
        "random-port-order",
        "the first port at each router in an order drawn for that router, in a virtual channel \
         drawn from those offered there.",
        Self { select },
    );
}

fn select(task: &SelectionTask<'_>) -> Result<Chosen, NoSelection> {
    let mut random = ChaCha8Rng::seed_from_u64(task.parameters.seed);
    let slots = task.fabric.channel_slots();
    // A router's channels are ranked among themselves, whatever those of others are.
    let mut ranks: Vec<u32> = (0..slots).collect();
    ranks.shuffle(&mut random);
    task.walk(|at, hops, random| {
        let outputs = task.fabric.outputs(at).start;
        let rank = |place: &usize| ranks[(outputs + u32::from(hops[*place].port)) as usize];
        let first = (0..hops.len()).min_by_key(rank).expect("a hop is offered");
        let vcs = hops[first..].iter().take_while(|hop| hop.port == hops[first].port).count();
        first + if vcs == 1 { 0 } else { random.random_range(0..vcs) }
    })
}
