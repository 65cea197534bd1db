//! When a measurement begins and ends.

use super::by_pair::LatencyBy;
use flitlab_base::units::Picoseconds;

/// The most windows that can be asked for.
pub const MAX_WINDOWS: u32 = 1_000_000;

/// How long a network fills before its load is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Until what is under way is level, but no more than so many windows.
    UntilLevel {
        /// The most windows.
        most: u32,
    },
    /// This long, whatever is under way, as programs do that are given a number of cycles.
    For(Picoseconds),
}

/// How a load point is measured. The rules are in docs/model.md, "Measurement".
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Length of a window; `None` chooses it from the zero-load latency and the offered load.
    pub window: Option<Picoseconds>,
    /// What ends the warm-up.
    pub warm_up: WarmUp,
    /// Fewest measured windows.
    pub minimum_windows: u32,
    /// Most measured windows.
    pub maximum_windows: u32,
    /// Half width of the 95% confidence interval of the mean latency, relative to the mean, at
    /// which the measurement ends.
    pub precision: f64,
    /// Growth of all that is under way, as a fraction of what is offered, up to which a point may
    /// be steady.
    pub growth: f64,
    /// Whether it is followed in which order packets come.
    pub order: bool,
    /// By what latencies are told, beside all together.
    pub latency_by: LatencyBy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: None,
            warm_up: WarmUp::UntilLevel { most: 40 },
            minimum_windows: 10,
            maximum_windows: 60,
            precision: 0.02,
            growth: 0.01,
            order: true,
            latency_by: LatencyBy::Whole,
        }
    }
}
