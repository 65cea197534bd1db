//! Results as rows, the files that hold them, and the figures and pages made of those files.
//!
//! A run or a sweep gives one [`PointRow`] for each load point (or finite exchange) and one
//! [`ChannelRow`] for each channel of a point. [`RowWriter`] puts them into `points.csv` and
//! `channels.csv` as they come; [`read_points`] and [`read_channels`] read them back; [`figure`]
//! draws from rows alone, so that a figure can be made again without the simulation; [`html`] makes a page
//! of them. [`comparison`] says what differs between two results.

mod channel;
mod columns;
pub mod comparison;
mod csv;
mod deadlock;
mod error;
pub mod figure;
pub mod html;
mod load;
mod mean;
mod point;

pub use channel::ChannelRow;
pub use csv::{Row, RowWriter, Rows, read_channels, read_points, rows_of_text, rows_text};
pub use deadlock::DeadlockNote;
pub use error::ReportError;
pub use load::LoadRow;
pub use mean::MeanRow;
pub use point::{PointRow, Status};
