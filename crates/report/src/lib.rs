//! Results as rows, the files that hold them, and the figures and pages made of those files.
//!
//! A run or a sweep gives [`Point`]s, one for each load (or finite exchange): a [`Label`], which says what the result calls
//! it, and what was [`PointRow`], a [`ChannelRow`] for each channel, [`LatencyRow`]s for the distribution of latencies, and
//! a [`WindowRow`] for each window. [`ResultFolder`] writes them to the files of a folder, and [`ResultRows::read`] reads
//! them back. [`figure`] draws from rows alone, so that a figure can be made again without the simulation; [`html`] makes a
//! page of them. [`comparison`] says what differs between two results.

#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

mod application;
mod channel;
pub mod comparison;
mod csv;
mod deadlock;
mod deliveries;
mod digest_log;
mod error;
pub mod figure;
pub mod folder;
pub mod html;
mod label;
mod latency;
mod load;
mod mean;
mod point;
mod point_result;
mod result_rows;
mod saturation;
mod table;
mod window;

pub use application::{ActivityRow, Explained, PathChannelRow, PathRow};
pub use channel::ChannelRow;
pub use csv::{Row, RowWriter, Rows, labelled_text, read, rows_of_text, rows_text};
pub use deadlock::DeadlockNote;
pub use deliveries::{MessageRow, PacketRow};
pub use digest_log::{DigestLog, DigestRow};
pub use error::ReportError;
pub use folder::ResultFolder;
pub use label::is_setting;
pub use label::{Label, Labelled, Labels};
pub use latency::LatencyRow;
pub use load::LoadRow;
pub use mean::means_text;
pub use point::{PointRow, Status};
pub use point_result::{DeadlockText, Point, PointResult};
pub use result_rows::ResultRows;
pub use saturation::{Sustained, SustainedLoad};
pub use table::{Cell, Column, Role};
pub use window::{WindowPhase, WindowRow};
