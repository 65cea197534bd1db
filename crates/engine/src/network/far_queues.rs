//! What routers see of each other's outputs, under rules that idealise (docs/model.md, "Phases").

use std::sync::atomic::{AtomicU32, Ordering};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};

/// What was out behind all channels at the last multiple of a time.
///
/// All parts write what is theirs at the same time, between two windows, and read what others have
/// written in the windows that follow.
#[derive(Debug)]
pub(crate) struct FarQueues {
    /// The time at whose multiples parts write.
    pub age: Picoseconds,
    /// By channel of the fabric: flits.
    flits: Vec<AtomicU32>,
}

impl FarQueues {
    pub(super) fn new(fabric: &Fabric, age: Picoseconds) -> Self {
        Self { age, flits: (0..fabric.channel_slots()).map(|_| AtomicU32::new(0)).collect() }
    }

    pub(crate) fn set(&self, channel: Channel, flits: u32) {
        self.flits[channel as usize].store(flits, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, channel: Channel) -> u32 {
        self.flits[channel as usize].load(Ordering::Relaxed)
    }
}
