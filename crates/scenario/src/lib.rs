//! From TOML text to a checked [`Scenario`], with all mistakes at once.
//!
//! A [`Scenario`] is all that a run needs: fabric, routing, parameters, workload, measurement.
//! [`Scenario::read`] makes it from a [`Document`], a TOML text with places. [`simulation`]
//! simulates it; `flitlab-sweep` simulates the many points of a [`Sweep`].
//!
//! # Example
//!
//! A ping between neighbours of a torus, read and simulated; then a misspelt key.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_scenario::simulation::Simulation;
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

mod checks;
mod deadlock;
mod difference;
mod document;
mod identity;
mod interruption;
mod load;
mod name;
mod network;
mod output_queued;
mod protocol_deadlock;
mod purpose;
mod read;
mod reference;
mod relation;
mod resolved;
mod routing;
mod scenario;
mod schema;
mod series;
pub mod simulation;
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
pub use load::text as load_text;
pub use network::{Network, TableChange};
pub use reference::reference;
pub use relation::{PathsSpec, RelationSpec, RuleSpec};
pub use routing::{OpenSmTable, RoutingError, RoutingSpec, enough_memory};
pub use scenario::Scenario;
pub use schema::ANGARA;
pub use series::LOAD;
pub use starter::{Offer, Offers, Starter, StarterWorkload};
pub use sweep::{
    CurvePrecision, Figures, Loads, Point, Resource, SlurmSettings, Sweep, Unasked, Unlike,
    UnlikeGroup, check_sbatch_option, check_slurm_name,
};
pub use topology::{NetlistFile, Plan, SwitchedSpec, TopologySpec};
pub use vc_use::VcUse;
pub use workload::{WorkloadKind, WorkloadSpec, Workloads};

#[cfg(test)]
mod tests;
