//! The simulator.

mod observer;
mod parameters;

pub use observer::{CompletedMessage, DeliveredPacket, Log, Observer};
pub use parameters::*;

use crate::{routing::Routes, topology::Fabric, traffic::Script};

/// Runs until everything is delivered; the whole log.
#[must_use]
pub fn run_script(
    _fabric: &Fabric,
    _routes: &Routes,
    _parameters: &Parameters,
    _script: Script,
) -> Log {
    unimplemented!()
}
