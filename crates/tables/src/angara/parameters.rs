//! What generators are told besides the pairs and the seed.

use super::{Reading, Region, SmallGain, SsspReading, Turns};

/// The freedoms of the hardware that a generator may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freedoms {
    /// First positive and last negative steps.
    pub first_and_last_steps: bool,
    /// First and last steps that break the direction order where no deadlock can come of it.
    pub relaxation: bool,
}

/// Parameters of a generator besides the pairs and the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The first and last steps that routes may have.
    pub freedoms: Freedoms,
    /// The reading of \[angara-routing\] by BFS.
    pub bfs: Reading,
    /// The reading of it by SSSP.
    pub sssp: SsspReading,
    /// When the genetic algorithm ends.
    pub genetic: Stop,
}

impl Default for Freedoms {
    fn default() -> Self {
        Self { first_and_last_steps: true, relaxation: true }
    }
}

impl Freedoms {
    /// The turns against the direction order that a generator may use in a region.
    pub(super) fn turns(self, region: &Region<'_>) -> Turns {
        if self.first_and_last_steps && self.relaxation {
            Turns::relaxed(region)
        } else {
            Turns::none(region)
        }
    }
}

/// The second of the paper's two rules for ending. The first, 30 generations in a row without a
/// better table, always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// A generation's gain is small if it lowers the best sigma(4) by fewer hundredths than these,
    /// from 0 to 100. The paper names 0.05 of the best fitness; 5 is one reading of that. With 0 no
    /// gain is small.
    pub improvement_percent: u32,
    /// What a small gain does.
    pub small_gain: SmallGain,
}

impl Stop {
    /// Whether a better sum of fourth powers is a small gain. That of a generation that is no
    /// better is none at all.
    pub(super) fn is_small(self, before: f64, better: f64) -> bool {
        // The deviation is the fourth root of the mean of the powers.
        100.0 * (1.0 - (better / before).sqrt().sqrt()) < f64::from(self.improvement_percent)
    }
}
