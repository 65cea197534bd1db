//! Units, numbers, files, and TOML documents with places: what every other crate of flitlab uses.
//!
//! - [`units`]: times, rates and sizes as types, read from text with a unit and written back.
//!   [`Picoseconds`](units::Picoseconds) is the type of all times.
//! - [`document`]: a [`Toml`](document::Toml) is a text with the place of each value. A
//!   [`Reader`](document::Reader) reads its keys, and each mistake becomes a
//!   [`Diagnostic`](document::Diagnostic) that shows the line.
//! - The other modules check numbers, memory and files:
//!
//! | module | purpose |
//! |---|---|
//! | [`narrow`] | checked conversions of numbers to smaller types |
//! | [`memory`] | memory needs, compared with the free memory |
//! | [`prefetch`] | memory fetched into the caches before its use |
//! | [`mix`] | small numbers mixed into one, for hash maps and random choices |
//! | [`printable`] | text of unknown origin, without control characters |
//! | [`text_file`] | text files of users, read with a limit |
//! | [`stop`] | work that can be ended from outside |
//! | [`whole_file`] | files that are either complete or absent |
//!
//! # Units
//!
//! A quantity needs its unit: `"200"` could be nanoseconds or microseconds.
//!
//! ```
//! use flitlab_base::units::{Bytes, Picoseconds, flit_time, parse_rate, parse_time, time_text};
//!
//! let latency = parse_time("0.85 us").unwrap();
//! assert_eq!(latency, Picoseconds(850_000));
//! assert_eq!(time_text(latency), "850 ns");
//! assert!(parse_time("200").is_err());
//!
//! // A flit of 16 bytes at 64 Gb/s takes 2 ns, without a rounding error.
//! let rate = parse_rate("64 Gb/s").unwrap();
//! assert_eq!(flit_time(Bytes(16), rate), (Picoseconds(2_000), 0.0));
//! ```
//!
//! # A document with a mistake
//!
//! The code that reads a key describes it: its name, the kind of its value, and its purpose.
//! Mistakes are collected, so that all of them are shown at once.
//!
//! ```
//! use flitlab_base::document::{Diagnostics, Reader, Toml, time};
//! use flitlab_base::units::Picoseconds;
//!
//! let document = Toml::parse("link.toml", "latency = 70\n");
//! let mut reader = Reader::reading(&document, None);
//! let latency = reader.required("latency", &time(Picoseconds(1)), "Latency of a cable.");
//! reader.finish();
//!
//! assert_eq!(latency, None);
//! let mistakes = Diagnostics::check(reader.problems).unwrap_err();
//! assert_eq!(mistakes.count(), 1);
//! // The message shows the place, and the text to write instead.
//! let message = mistakes.plain();
//! assert!(message.contains("link.toml:1:11"), "{message}");
//! assert!(message.contains("70 ns"), "{message}");
//! ```

#![warn(missing_docs)]

pub mod document;
mod file_error;
mod invalid_line;
pub mod memory;
pub mod mix;
pub mod narrow;
pub mod prefetch;
pub mod printable;
pub mod registry;
pub mod stop;
pub mod text_file;
pub mod units;
pub mod whole_file;

pub use file_error::FileError;
pub use invalid_line::InvalidLine;
