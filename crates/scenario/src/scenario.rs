//! A scenario in numbers.

use std::sync::Arc;

use crate::simulation::Kept;
use crate::{InterruptionSpec, Network, Workloads};
use flitlab_engine::Parameters;
use flitlab_measure::Settings;
use flitlab_traffic::Partners;

/// A checked scenario: everything that a run needs, in numbers.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Letters, digits, `-`, `_` and `.` only, fit for a folder's name.
    pub name: String,
    /// Title of its figures.
    pub title: Option<String>,
    pub seed: u64,
    /// Every pair of live nodes has a route.
    pub network: Arc<Network>,
    /// Where the defaults of the parameters come from.
    pub preset: &'static str,
    pub parameters: Parameters,
    pub workload: Workloads,
    pub measure: Settings,
    /// Which rows of channels are kept.
    pub kept: Kept,
    /// Of a load only.
    pub interruption: Option<InterruptionSpec>,
}

impl PartialEq for Scenario {
    /// Compares all fields as they are printed, since a workload of another crate can be printed but
    /// perhaps not compared.
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Scenario {
    /// Whether another seed gives the same result: this and `other`, the same with another seed,
    /// draw no random number. Of a load `false`, since its messages come at random times, but for that
    /// of output-queued routers.
    pub fn ignores_the_seed(&self, other: &Self) -> bool {
        let draws = match (self.parameters.kind.output_queues(), self.workload.load()) {
            // All nodes create their messages at equal intervals.
            (Some(_), Some(load)) => load.pattern.partners() != Partners::Fixed,
            _ => self.workload.draws(),
        };
        let fixed = !draws;
        // Links that err draw which packets they damage.
        let fixed = fixed && self.parameters.errors.is_none();
        // A fabric that is drawn has the seed that it follows from in its description.
        fixed
            && self.network.topology == other.network.topology
            && !self.network.routing.is_random()
    }

    /// Returns this scenario with another offered load, as a fraction of the fabric's capacity; a
    /// finite exchange stays as it is.
    #[must_use]
    pub fn at_load(&self, load: f64) -> Self {
        Self { workload: self.workload.at_load(load), ..self.clone() }
    }
}
