//! Progress callbacks of a measurement, and the checkpoint that it may resume from.

use serde::{Deserialize, Serialize};

use super::growth::Growth;
use super::livelock::Arrivals;
use super::{Collector, Phase, Progress, Window};
use crate::{Carried, Engine};
use flitlab_base::units::Picoseconds;

/// How far a measurement has come, beside what its engine knows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MeasurementState {
    /// Flits under way at each sampling time.
    pub(super) under_way: Vec<f64>,
    pub(super) history: Vec<Window>,
    pub(super) carried: Carried,
    /// The source queues from the end of the warm-up on, of a load.
    pub(super) growth: Option<Growth>,
    /// Whether the warm-up is over, and everything counts.
    pub(super) measuring: bool,
    /// When something arrived last.
    pub(super) arrivals: Arrivals,
}

impl MeasurementState {
    /// When its latest window ended.
    pub(super) fn end(&self) -> Picoseconds {
        self.history.last().map_or(Picoseconds::ZERO, |window| window.end)
    }

    /// The windows of the warm-up.
    pub(super) fn warm_up(&self) -> &[Window] {
        let windows = self.history.iter().take_while(|window| window.phase == Phase::WarmUp);
        &self.history[..windows.count()]
    }
}

/// A snapshot from which a measurement can resume: the state of its engine, then its
/// [`MeasurementState`].
#[derive(Clone, Copy, Serialize)]
pub struct Snapshot<'s> {
    engine: &'s Engine<'s, Collector>,
    state: &'s MeasurementState,
}

impl<'s> Snapshot<'s> {
    pub(super) fn new(engine: &'s Engine<'s, Collector>, state: &'s MeasurementState) -> Self {
        Self { engine, state }
    }

    /// How far the simulation has come.
    pub fn now(&self) -> Picoseconds {
        self.engine.now()
    }
}

/// Callbacks for the progress of a measurement, and its starting point.
pub struct Watch<'w> {
    /// Told after every window.
    pub progress: &'w mut dyn FnMut(Progress),
    /// Shown at every sampling time all that is needed to go on from there.
    pub keep: &'w mut dyn FnMut(Snapshot<'_>),
    /// The state to resume from, or `None` to begin anew. The engine must already have been
    /// [brought there](Engine::resume).
    pub from: Option<MeasurementState>,
}
