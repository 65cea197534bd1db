//! flitlab simulates high-performance interconnects flit by flit.
//!
//! The modules, in the order in which data flows. Each uses only those above it.
//!
//! | module | what it is for |
//! |---|---|
//! | `narrow` | numbers taken to a smaller type, with a check |
//! | `prefetch` | memory fetched ahead, in networks larger than the caches |
//! | [`units`] | time, rates and sizes, with their units |
//! | [`memory`] | memory that something will take, compared with what there is |
//! | [`printable`] | text of anybody, without control characters |
//! | [`text_file`] | files of users, read with a limit |
//! | `foreign` | files of other kinds, told by how they begin |
//! | [`InvalidLine`] | what is wrong in a line of a table or netlist |
//! | [`document`] | TOML texts with places, and the reading of their keys |
//! | [`topology`] | fabrics: routers, terminals, directed channels, what has failed |
//! | [`adaptive`] | which way packets may go: orthants, detours through intermediate nodes, their profit |
//! | [`routing`] | which way packets go: routes, headers, tables, direction order |
//! | [`application`] | what the ranks of an application send, receive and compute |
//! | [`traffic`] | who sends what to whom, when |
//! | [`engine`] | the simulator: packets, buffers, channels, routers, terminals, deadlock |
//! | [`output_queued`] | the output-queued router of \[outflank\], a simulator of its own |
//! | [`measure`] | latency, throughput, fairness, steady state, saturation |
//! | [`report`] | result rows, their files, figures, the page of a report |
//! | [`scenario`] | the keys of a scenario, and the checked scenario made of them |
//! | [`sweep`] | a scenario simulated; many of them at once |
//! | [`reproduce`] | published results computed again |
//!
//! What is simulated is written in `docs/model.md`.
//!
//! # Example
//!
//! ```
//! use flitlab::scenario::{Document, Scenario};
//! use flitlab::sweep::Simulation;
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

#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

pub use flitlab_base::{FileError, InvalidLine, document, memory, printable, text_file, units};
pub use flitlab_engine as engine;
pub use flitlab_engine::measure;
pub use flitlab_fabric as topology;
pub use flitlab_papers::{output_queued, reproduce};
pub use flitlab_report as report;
pub use flitlab_routing as routing;
pub use flitlab_routing::adaptive;
pub use flitlab_scenario as scenario;
pub use flitlab_scenario::executor as sweep;
pub use flitlab_workload::{application, traffic};
