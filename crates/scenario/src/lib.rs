//! From TOML text to a checked [`Scenario`], with all mistakes at once.
//!
//! A [`Scenario`] is all that a run needs: fabric, routing, parameters, workload, measurement.
//! [`Scenario::read`] makes it from a [`Document`], a TOML text with places. [`executor`] simulates
//! it: one [`Simulation`](executor::Simulation), or the many points of a [`Sweep`].
//!
//! # Example
//!
//! A ping between neighbours of a torus, read and simulated; then a misspelt key.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_scenario::executor::Simulation;
//! use flitlab_scenario::{Document, Scenario};
//!
//! let mut document = Document::parse("ping.toml", r#"
//!     [topology.torus]
//!     dimensions = [4, 2, 2, 2]
//!     [exchange]
//!     pattern = { pairs = { list = [[[0, 0, 0, 0], [1, 0, 0, 0]]] } }
//!     message = "8 B"
//! "#);
//! let scenario = Scenario::read(&document).unwrap();
//! let outcome = Simulation::new(&scenario).unwrap().run(&mut |_| {});
//! assert_eq!(outcome.found.measured.completion_time, Some(Picoseconds(850_000)));
//!
//! document.set("link.latncy=100 ns");
//! let mistakes = Scenario::read(&document).unwrap_err();
//! assert!(mistakes.plain().contains("did you mean `link.latency`?")
//!     || mistakes.plain().contains("did you mean `latency`?"));
//! ```
//!
//! # Three forms
//!
//! A scenario goes through three forms: a [`Document`] is what was written, with places; reading it
//! walks the keys of `schema` one by one; the result, checked as a whole by `checks`, holds numbers
//! and no text. A [`Sweep`] makes many scenarios of one document.
//!
//! ```
//! use flitlab_scenario::{Document, Scenario};
//! use flitlab_base::units::Picoseconds;
//! let mut document = Document::parse("a.toml", r#"
//!     [topology.torus]
//!     dimensions = [4, 2, 2, 2]
//!     [traffic]
//!     pattern = "uniform"
//!     lod = 0.3
//! "#);
//! let mistakes = Scenario::read(&document).unwrap_err();
//! assert!(mistakes.plain().contains("a.toml:6:5"));
//! assert!(mistakes.plain().contains("did you mean `load`?"));
//!
//! let right = "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = 'uniform'\nload = 0.3";
//! let mut document = Document::parse("a.toml", right);
//! document.set("link.latency=100 ns");
//! let scenario = Scenario::read(&document).unwrap();
//! assert_eq!(scenario.parameters.link_latency, Picoseconds(100_000));
//! ```

#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

mod checks;
mod deadlock;
mod difference;
mod document;
pub mod executor;
mod identity;
mod interruption;
mod load;
mod name;
mod network;
mod output_queued;
mod protocol_deadlock;
mod reference;
mod relation;
mod resolved;
mod routing;
mod schema;
mod series;
mod starter;
mod sweep;
mod topology;
mod vc_use;
pub mod workload;

pub use checks::{Checks, PACKET};
pub use deadlock::Deadlock;
pub use difference::{Difference, Setting, differences, settings};
pub use document::Document;
pub use flitlab_base::document::{
    Diagnostic, Diagnostics, KeyDoc, Location, Reference, ReferencePart, Source, VariantDoc,
};
pub use identity::{Identity, RESULTS_VERSION};
pub use interruption::{FailureSpec, InterruptionSpec, NewTables};
pub use network::{Network, TableChange};
pub use reference::reference;
pub use relation::{PathsSpec, RelationSpec, RuleSpec};
pub use routing::{OpenSmTable, RoutingError, RoutingSpec, enough_memory};
pub use schema::ANGARA;
pub use starter::{Offer, Offers, Starter, StarterWorkload};
pub use sweep::{
    CurvePrecision, Figures, Loads, Point, Resource, SlurmSettings, Sweep, Unasked, Unlike,
    UnlikeGroup, check_sbatch_option, check_slurm_name,
};
pub use topology::{NetlistFile, Plan, SwitchedSpec, TopologySpec};
pub use vc_use::VcUse;
pub use workload::{WorkloadKind, WorkloadSpec, Workloads};

use std::collections::BTreeMap;
use std::sync::Arc;

use checks::Fabrics;
use flitlab_base::document::{Hints, Missed, Reader};
use flitlab_base::registry::Package;
use flitlab_engine::Parameters;
use flitlab_measure::Settings;
use flitlab_workload::traffic::Partners;
use schema::Draft;

/// The purpose of reading a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Run,
    /// Keys that only the sweep gives are not missed.
    Sweep,
    /// A workload is not missed, and pairs without a route are no mistake.
    Routes,
}

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
    pub kept: executor::Kept,
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
    /// Reads and checks a document; its `[sweep]`, if it has one, is left alone.
    ///
    /// # Errors
    /// All mistakes that can be found, syntax included.
    pub fn read(document: &Document) -> Result<Self, Diagnostics> {
        Self::read_resolved(document).map(|(scenario, _)| scenario)
    }

    /// Reads a scenario like [`Scenario::read`], and returns also its TOML text with every value
    /// written out. That text reads back to an equal scenario wherever it is put.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_resolved(document: &Document) -> Result<(Self, String), Diagnostics> {
        let (scenario, read) = Self::read_with(document, &mut Fabrics::default())?;
        Ok((scenario, resolved::render(&read)))
    }

    /// Returns the identity of this document's result.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn identity(document: &Document) -> Result<Identity, Diagnostics> {
        Self::read_with(document, &mut Fabrics::default()).map(|(_, read)| read.identity())
    }

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

    fn read_with(
        document: &Document,
        fabrics: &mut Fabrics,
    ) -> Result<(Self, Resolved), Diagnostics> {
        let reading = Reading::of(document, fabrics, Purpose::Run);
        Diagnostics::check(reading.problems)?;
        let draft = reading.draft.expect("only syntax errors prevent reading");
        let scenario = Self {
            name: draft.name,
            title: draft.title,
            seed: draft.seed,
            network: reading.network.expect("or it was reported"),
            preset: draft.preset,
            parameters: draft.parameters,
            workload: draft.workload.expect("or it was reported"),
            measure: draft.measure,
            kept: draft.kept,
            interruption: draft.interruption,
        };
        Ok((scenario, reading.resolved))
    }
}

/// Every key of a scenario with its value, given or default.
#[derive(Default)]
struct Resolved {
    /// Path and TOML text.
    keys: Vec<(String, String)>,
    /// Identities of the contents of files, by the path of the key that names the file.
    contents: BTreeMap<String, String>,
    /// Components that are not built in, each a path and the crate that it comes from.
    packages: Vec<(String, Package)>,
}

impl Resolved {
    /// Gives a key another value, as TOML.
    fn set(&mut self, path: &str, value: &str) {
        if let Some((_, text)) = self.keys.iter_mut().find(|(key, _)| key == path) {
            value.clone_into(text);
        }
    }

    fn identity(&self) -> Identity {
        Identity::new(self)
    }
}

/// The readable part of a document.
#[derive(Default)]
struct Reading {
    draft: Option<Draft>,
    network: Option<Arc<Network>>,
    resolved: Resolved,
    /// All mistakes.
    problems: Vec<Diagnostic>,
}

impl Reading {
    fn of(document: &Document, fabrics: &mut Fabrics, purpose: Purpose) -> Self {
        let mut problems = document.problems.clone();
        if !document.intact {
            return Self { problems, ..Self::default() };
        }
        let missed = |path: &str| match (sweep::gives(document, path), purpose) {
            (false, _) => Missed::Mistake,
            (true, Purpose::Run) => Missed::Help(format!(
                "only [sweep] gives it: run the sweep, or give it for one run with --set \
                 {path}=VALUE"
            )),
            (true, _) => Missed::Nothing,
        };
        let hints = Hints { reference: &|| document.reference(), missed: &missed };
        let mut reader = Reader::reading(document, Some(hints));
        let draft = schema::read(&mut reader, &document.registry, purpose);
        problems.append(&mut reader.problems);
        if problems.is_empty() {
            problems.append(&mut reader.held);
        }
        // Of what is wrong anyhow no tables are made, which can take long.
        let mut without_tables = Fabrics::without_tables();
        let fabrics = if problems.is_empty() { fabrics } else { &mut without_tables };
        let (network, broken_rules) =
            checks::run(document, &reader.broken, &draft, fabrics, purpose);
        problems.extend(broken_rules);
        let Reader { resolved: keys, contents, packages, .. } = reader;
        let resolved = Resolved { keys, contents, packages };
        Self { draft: Some(draft), network, resolved, problems }
    }
}

#[cfg(test)]
mod tests;
