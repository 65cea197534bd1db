//! What fails on the way, and what comes of it, in both models of links.

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;

/// How often it is looked whether the network is empty.
pub const LOOK: Picoseconds = Picoseconds(100_000);

/// What fails at a time, and by what packets go from another one on.
#[derive(Debug)]
pub struct Failure {
    pub at: Picoseconds,
    pub ready: Picoseconds,
    /// The fabric without what fails; the numbers are the same.
    pub left: Fabric,
    /// Of the kind of those before.
    pub routes: Routes,
}

impl Failure {
    /// Whether a terminal's router fails.
    pub fn takes(&self, terminal: u32) -> bool {
        self.left.terminal_router(terminal).is_none()
    }
}

/// What has come of it.
#[derive(Default)]
pub struct Losses {
    /// Packets that had been begun.
    pub packets: u64,
    /// By their numbers.
    pub messages: BTreeSet<usize>,
    /// When the sources went on.
    pub resumed: Option<Picoseconds>,
    /// Packets of which a flit had been sent, and which had not been delivered, when it failed.
    pub under_way: u64,
}
