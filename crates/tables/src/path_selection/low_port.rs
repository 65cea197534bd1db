//! Low port first (\[path-selection\], section 2): at each router the output of the lowest number
//! that the relation offers. The paper doesn't say which virtual channel: it is drawn from those
//! that are offered there.

use flitlab_base::registry::Row;
use rand::RngExt;

use super::{PathSelection, SelectionTask};

impl PathSelection {
    /// `low-port`.
    pub const LOW_PORT: Row<Self> = Row::new(
        "low-port",
        "the lowest port at each router, in a virtual channel drawn from those offered there.",
        Self {
            select: |task: &SelectionTask<'_>| {
                task.walk(|_, hops, random| {
                    let vcs = hops.iter().take_while(|hop| hop.port == hops[0].port).count();
                    if vcs == 1 { 0 } else { random.random_range(0..vcs) }
                })
            },
        },
    );
}
