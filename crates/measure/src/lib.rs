//! Measurements: latency, throughput, fairness, steady state, saturation, and how long to measure.
//!
//! Everything here is computed from integers that the engine counts, in a fixed order, with IEEE
//! arithmetic only: equal runs give equal numbers to the last bit.

mod bars;
mod bound;
mod bucket_counts;
mod by_class;
mod by_pair;
mod collector;
mod completion;
mod delivery_log;
mod explanation;
mod finite;
mod growth;
mod interruption;
mod livelock;
mod load_bounds;
mod load_point;
mod order;
mod progress;
mod rehearsal;
mod saturation;
mod settings;
mod summary;
mod time_axis;
mod totals;
mod warm_up;
mod watch;
mod window;
mod without_load;

pub use bound::{Bottleneck, Forecast, LongerWays, Stream, forecast, looks_at_all_pairs};
pub use by_class::ClassSummary;
pub use by_pair::{LatencyBy, MOST_OF_PAIRS, PairLatency};
pub use collector::{Collector, Delivered, Distribution};
pub use completion::{CompletionBound, application_bound, completion_bound, remote_memory_bound};
pub use delivery_log::{DeliveryLog, LogFilter, Logged};
pub use explanation::explain;
pub use finite::{
    FiniteMeasurement, Halted, Outgrown, Span, end_of, has_ended, measure_finite, summary_until_now,
};
pub use flitlab_model::interval::{
    ENOUGH_EFFECTIVE_WINDOWS, WindowInterval, half_width_95, half_width_95_of_few, jain_fairness,
};
pub use flitlab_model::{
    Activity, Bar, Explanation, PhaseTimes, Quantile, RankPhase, Spent, Stretch, Times,
};
pub use interruption::{FailureRecovery, Recovery, measure_interruption};
pub use livelock::{Livelock, SENDINGS_OF_A_LIVELOCK};
pub use load_bounds::{BoundedWays, LoadBound, USUAL_WORK, load_bounds, never_derouted_bound};
pub use load_point::{
    Cause, Doubt, ENOUGH_MESSAGES, Ending, LoadMeasurement, Offered, ZeroLoad, measure_load,
};
pub use order::Reordering;
use progress::livelock;
pub use progress::{Halt, Phase, Progress};
pub use rehearsal::{Rehearsal, rehearse_load};
pub use saturation::{Saturation, bisect};
pub use settings::{MAX_WINDOWS, Settings, WarmUp};
pub use summary::{MAX_CHANNELS, Summary};
pub use time_axis::MAX_INTERVALS;
pub use watch::{MeasurementState, Snapshot, Watch};
pub use window::{ClassWindow, ENOUGH_PACKETS, FullestChannel, Window};
