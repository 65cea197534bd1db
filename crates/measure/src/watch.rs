//! Progress callbacks of a measurement, and the checkpoint that it may resume from.

use serde::{Deserialize, Serialize};

use super::collector::Delivered;
use super::growth::Growth;
use super::livelock::Arrivals;
use super::time_axis::TimeAxis;
use super::totals::Totals;
use super::{Collector, Phase, Progress, Window};
use flitlab_base::units::Picoseconds;
use flitlab_engine::Engine;

/// What a measurement keeps of each tenth of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    /// Flits under way at its end, source queues included.
    pub(super) under_way: f64,
    /// Packets and flits delivered in it.
    pub(super) packets: f64,
    pub(super) flits: f64,
    /// Sum of the packets' latencies, in picoseconds.
    pub(super) latency: f64,
}

/// How far a measurement has come, beside what its engine knows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MeasurementState {
    /// A sample each tenth of a window, of the length that windows have now.
    pub(super) samples: Vec<Sample>,
    /// How many of them lie before the window at hand, and before what is measured.
    pub(super) sampled: usize,
    pub(super) warm_up_samples: usize,
    /// What was delivered so far in the window at hand.
    pub(super) delivered: Delivered,
    pub(super) history: Vec<Window>,
    /// What had been counted when the latest window of a load ended.
    pub(super) counted: Totals,
    /// The windows of what comes to its end.
    pub(super) axis: TimeAxis,
    /// The source queues from the end of the warm-up on, of a load.
    pub(super) growth: Option<Growth>,
    /// Whether the warm-up is over, and everything counts.
    pub(super) measuring: bool,
    /// How often the length of windows was doubled.
    pub(super) doublings: u32,
    /// The network has filled at this time at the earliest; 0 where it fills fast.
    pub(super) filled: Picoseconds,
    /// After how many measured windows an answer is looked for next.
    pub(super) look: u32,
    /// When something arrived last.
    pub(super) arrivals: Arrivals,
}

impl MeasurementState {
    /// When its latest window ended.
    pub(super) fn end(&self) -> Picoseconds {
        self.history.last().map_or(Picoseconds::ZERO, |window| window.end)
    }

    /// When the warm-up ended, or its latest window.
    pub(super) fn warm_up_end(&self) -> Picoseconds {
        self.warm_up().last().map_or(Picoseconds::ZERO, |window| window.end)
    }

    /// The windows that count.
    pub(super) fn measured(&self) -> &[Window] {
        &self.history[self.warm_up().len()..]
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
