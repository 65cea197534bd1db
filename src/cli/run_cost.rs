//! What one run takes, told before it is begun.

use serde::Serialize;

use super::text::duration;
use flitlab::narrow::rounded;
use flitlab::simulation::{RunCost, Simulation};
use flitlab::units::memory_text;

/// Processor time and memory of one run; nothing where it is not known.
#[derive(Debug, Serialize)]
pub(super) struct ExpectedCost {
    /// Of one thread.
    pub seconds: Option<f64>,
    /// The most, where that is far more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_at_most: Option<f64>,
    #[serde(rename = "memory_MB")]
    pub memory: Option<f64>,
}

impl ExpectedCost {
    /// Simulates the first moments, a second at most.
    pub(super) fn new(simulation: &Simulation) -> Self {
        let RunCost { time, most_time, memory } = simulation.run_cost();
        Self {
            seconds: time.map(|time| time.as_secs_f64()),
            seconds_at_most: most_time.map(|time| time.as_secs_f64()),
            memory: memory.map(|bytes| bytes as f64 / 1e6),
        }
    }

    /// In words.
    pub(super) fn text(&self) -> String {
        let memory = self.memory.map(|megabytes| memory_text(rounded(megabytes * 1e6)));
        let time = self.seconds.map(|seconds| match self.seconds_at_most {
            Some(most) => format!(
                "{} of computing on one thread, or up to {} next to saturation",
                duration(seconds),
                duration(most)
            ),
            None => format!("{} of computing on one thread", duration(seconds)),
        });
        match (time, memory) {
            (Some(time), Some(memory)) => {
                format!("about {time}, {memory} of memory")
            }
            (Some(time), None) => format!("about {time}"),
            (None, Some(memory)) => {
                format!("about {memory} of memory; its first moments don't tell how long it takes")
            }
            (None, None) => "its first moments don't tell what it takes".into(),
        }
    }
}
