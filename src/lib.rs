//! flitlab simulates high-performance interconnects flit by flit.
//!
//! This crate is the program and a facade: each module is a crate, or a part of one, which can be
//! had alone. They are listed from the bottom; each uses only those above it.
//!
//! | crate | modules here | what it is for |
//! |---|---|---|
//! | `flitlab-base` | [`units`], [`memory`], [`printable`], [`text_file`], [`document`] | numbers, units, files, TOML documents with places |
//! | `flitlab-fabric` | [`topology`] | fabrics: routers, terminals, directed channels, what has failed |
//! | `flitlab-model` | in [`engine`] and [`measure`] | parameters of routers and links; records of packets and channels |
//! | `flitlab-routing` | [`routing`], [`adaptive`] | what routers follow: routes, tables, relations, adaptive rules |
//! | `flitlab-tables` | [`tables`] | what makes and proves them: algorithms, proofs, bounds |
//! | `flitlab-application` | [`application`] | what ranks do: schedules, those made in, their time without a network |
//! | `flitlab-traces` | [`traces`] | files of other programs: told apart, and traces read |
//! | `flitlab-traffic` | [`traffic`] | who sends what to whom, when |
//! | `flitlab-engine` | [`engine`] | the simulator |
//! | `flitlab-measure` | [`measure`] | latency, throughput, steady state, saturation, bounds |
//! | `flitlab-output-queued` | [`output_queued`] | a second simulator: output queues, and answers in place of credits |
//! | `flitlab-report` | [`report`] | result rows, their files, figures |
//! | `flitlab-page` | [`page`] | the page of a report |
//! | `flitlab-scenario` | [`scenario`], [`simulation`] | the keys of a scenario; one that is simulated |
//! | `flitlab-sweep` | [`sweep`] | many at once, kept; searches |
//! | `flitlab-papers` | [`reproduce`] | published results computed again |
//! | `flitlab` | [`cli`] | the command, also for programs with components of their own, and its calls by other languages |
//!
//! `docs/model.md` describes the simulated model.
//!
//! # Example
//!
//! ```
//! use flitlab::scenario::{Document, Scenario};
//! use flitlab::simulation::Simulation;
//! use flitlab::units::Picoseconds;
//!
//! let text = r#"
//!     [topology.torus]
//!     dimensions = [4, 2, 2, 2]
//!     [exchange]
//!     pattern = { pairs = { list = [[[0, 0, 0, 0], [1, 0, 0, 0]]] } }
//!     message = "8 B"
//! "#;
//! let scenario = Scenario::read(&Document::parse("ping.toml", text)).unwrap();
//! let outcome = Simulation::new(&scenario).unwrap().run(&mut |_| {});
//! // A ping between neighbours takes the 850 ns that were published for Angara.
//! assert_eq!(outcome.found.measured.completion_time, Some(Picoseconds(850_000)));
//! ```

pub mod cli;

// The command calls the library by the name that everybody does.
extern crate self as flitlab;

pub use flitlab_application as application;
pub use flitlab_base::{
    FileError, InvalidLine, document, memory, narrow, package, printable, registry, stop,
    text_file, units,
};
pub use flitlab_engine as engine;
pub use flitlab_fabric as topology;
pub use flitlab_measure as measure;
pub use flitlab_output_queued as output_queued;
pub use flitlab_page as page;
pub use flitlab_papers::reproduce;
pub use flitlab_report as report;
pub use flitlab_routing as routing;
pub use flitlab_routing::adaptive;
pub use flitlab_scenario as scenario;
pub use flitlab_scenario::simulation;
pub use flitlab_sweep as sweep;
pub use flitlab_tables as tables;
pub use flitlab_traces as traces;
pub use flitlab_traffic as traffic;
