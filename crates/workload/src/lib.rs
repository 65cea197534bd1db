//! The workload of a network: applications, and traffic of every other kind.
//!
//! | module | what it is for |
//! |---|---|
//! | [`application`] | what the ranks of an application send, receive and compute; GOAL files; generated schedules |
//! | [`formats`] | files of other programs, told apart by what they begin with |
//! | [`traffic`] | who sends what to whom, when: patterns, loads, exchanges, collective operations, remote memory |
//!
//! # Example
//!
//! Two ranks, of which one computes for 2 us and then sends 4 KiB to the other.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_workload::application::loggops::{LogGops, simulate};
//! use flitlab_workload::application::{Operation, ScheduleBuilder, Until};
//!
//! let mut builder = ScheduleBuilder::new();
//! let compute = builder.add(Operation::compute(2000)).unwrap();
//! let send = builder.add(Operation::send(4096, 1, 0)).unwrap();
//! builder.wait(send, Until::Done, compute);
//! builder.end_rank().unwrap();
//! builder.add(Operation::receive(4096, 0, 0)).unwrap();
//! builder.end_rank().unwrap();
//! let finished = simulate(&builder.finish(), &LogGops::CLASSIC).unwrap();
//! assert!(finished.time() > Picoseconds(2_000_000));
//! ```

#![warn(missing_docs)]

pub mod application;
pub mod formats;
pub mod traffic;
