//! Files of other programs: told apart by what they begin with, and read, if they say what an
//! application does.
//!
//! | module | what it is for |
//! |---|---|
//! | `complaints` | mistakes in lines of files |
//! | [`formats`] | every format that is known: what takes its files, or the way out |
//! | [`goal`] | GOAL schedules, in and out |
//! | [`read`] | schedules and traces, by format |
//!
//! # Example
//!
//! A trace of SimGrid in which a rank sends 4 KiB to another one, as a GOAL schedule.
//!
//! ```
//! use flitlab_traces::goal::{Form, write};
//! use flitlab_traces::read::{Options, read_bytes};
//!
//! let trace = b"0 init\n1 init\n0 send 1 0 4096 6\n1 recv 0 0 4096 6\n0 finalize\n1 finalize\n";
//! let reading = read_bytes("ti.txt", trace, &Options::default()).unwrap();
//! let mut text = Vec::new();
//! write(&reading.schedule, Form::Text, &mut text).unwrap();
//! assert!(String::from_utf8(text).unwrap().contains("send 4096b to 1"));
//! ```

#![warn(missing_docs)]

mod complaints;
pub mod formats;
pub mod goal;
pub mod read;

// Schedules are carried out in tests as in those of flitlab-application.
#[cfg(test)]
#[path = "../../application/src/generate/executor.rs"]
mod executor;
