//! Results as rows, the files that hold them, and the figures and pages made of those files.
//!
//! A run or a sweep gives [`Point`]s, one for each load or finite exchange. A point has
//!
//! - a [`Label`], its name in the result;
//! - a [`PointRow`], its measurements;
//! - a [`ChannelRow`] for each channel, [`LatencyRow`]s for the distribution of latencies, and a
//!   [`WindowRow`] for each window;
//! - a [`WorkloadRow`] for each workload, where several share the network, and a [`SlowdownRow`] for
//!   each two, where it is told how much they slow each other;
//! - a [`FailureRow`] for each failure during operation, where there are several.
//!
//! [`ResultFolder`] writes points to the files of a folder, and [`ResultRows::read`] reads them
//! back. [`figure`] draws from rows alone, so a figure can be made again without the simulation.
//! [`comparison`] finds the differences between two results.
//!
//! # Example
//!
//! Two loads of a curve, as a figure and as CSV.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_report::figure::{Sheet, latency_figure};
//! use flitlab_report::{Label, Labels, Point, PointRow, Status, labelled_text};
//!
//! let point = |number: u32, load: f64, nanoseconds: u64| Point {
//!     label: Label { series: "uniform".into(), point: number, ..Label::default() },
//!     measured: PointRow {
//!         status: Status::Steady,
//!         offered_load: Some(load),
//!         accepted_load: Some(load),
//!         packet_latency_mean: Some(Picoseconds(nanoseconds * 1000)),
//!         ..PointRow::default()
//!     },
//!     ..Point::default()
//! };
//! let points = [point(0, 0.2, 900), point(1, 0.4, 1100)];
//!
//! let svg = latency_figure(&points, "A torus").svg(&Sheet::default());
//! assert!(svg.contains("A torus"));
//!
//! let rows = points.iter().map(|point| (&point.label, &point.measured));
//! let csv = labelled_text(&Labels::All(Vec::new()), rows);
//! assert!(csv.lines().next().unwrap().contains("offered_load"));
//! assert_eq!(csv.lines().count(), 3);
//! ```

mod algorithm;
mod application;
mod channel;
mod channel_groups;
mod columns;
pub mod comparison;
mod csv;
mod deadlock;
mod deliveries;
mod digest_log;
mod error;
mod failure;
pub mod figure;
mod flow;
pub mod folder;
mod label;
mod latency;
mod load;
mod mean;
mod pair;
mod point;
mod point_result;
mod result_rows;
mod saturation;
mod spreadsheet;
mod table;
mod window;
mod workload;

pub use algorithm::AlgorithmRow;
pub use application::{
    ActivityRow, BarRow, Explained, OperationFacts, PathChannelRow, PathRow, PhaseRow, RankPhaseRow,
};
pub use channel::{ChannelRow, torus_place};
pub use channel_groups::{GroupRow, group_rows, levels};
pub use columns::{NamedColumn, Table, Values};
pub use csv::{Packing, Row, RowWriter, Rows, labelled_text, read, rows_of_text, rows_text};
pub use deadlock::DeadlockNote;
pub use deliveries::{MessageRow, PacketRow, write_messages, write_packets};
pub use digest_log::{DigestLog, DigestRow};
pub use error::ReportError;
pub use failure::FailureRow;
pub use flow::{CompletedFlow, FlowRow};
pub use folder::ResultFolder;
pub use label::is_setting;
pub use label::{Label, Labelled, Labels};
pub use latency::LatencyRow;
pub use load::LoadRow;
pub use mean::means_text;
pub use pair::PairRow;
pub use point::{PointRow, Status};
pub use point_result::{DeadlockText, Point, PointResult};
pub use result_rows::{BoundLine, ResultRows};
pub use saturation::{Sustained, SustainedLoad};
pub use table::{Cell, Column, Kind, Role};
pub use window::{WindowPhase, WindowRow};
pub use workload::{SlowdownRow, WorkloadRow};
