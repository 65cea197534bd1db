//! What all of flitlab stands on: numbers, units, memory, files, and TOML documents with places.
//!
//! | module | what it is for |
//! |---|---|
//! | [`narrow`] | numbers taken to a smaller type, with a check |
//! | [`units`] | time, rates and sizes, with their units |
//! | [`memory`] | memory that something will take, compared with what there is |
//! | [`prefetch`] | memory fetched ahead, in networks larger than the caches |
//! | [`mix`] | small numbers mixed to one, to hash and to draw by |
//! | [`printable`] | text of unknown origin, without control characters |
//! | [`text_file`] | files of users, read with a limit |
//! | [`whole_file`] | files that are there as a whole or not at all |
//! | [`document`] | TOML texts with places, and the reading of their keys |
//!
//! # Example
//!
//! A time is a count of picoseconds that can't wrap. Its text has the unit in which it is read best.
//!
//! ```
//! use flitlab_base::units::{Picoseconds, time_text};
//!
//! let latency = Picoseconds(850_000);
//! assert_eq!(time_text(latency), "850 ns");
//! ```

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

pub mod document;
mod file_error;
mod invalid_line;
pub mod memory;
pub mod mix;
pub mod narrow;
pub mod prefetch;
pub mod printable;
pub mod text_file;
pub mod units;
pub mod whole_file;

pub use file_error::FileError;
pub use invalid_line::InvalidLine;
