//! What a network carries: applications, and traffic of every other kind.
//!
//! | module | what it is for |
//! |---|---|
//! | [`application`] | what the ranks of an application send, receive and compute; GOAL files; schedules made in |
//! | [`traffic`] | who sends what to whom, when: patterns, loads, exchanges, collective operations, remote memory |
//!
//! # Example
//!
//! Two ranks, of which one computes for 2 us and then sends 4 KiB to the other.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_workload::application::loggops::{LogGops, simulate};
//! use flitlab_workload::application::goal;
//!
//! let text = "num_ranks 2
//! rank 0 {
//! l1: calc 2000
//! l2: send 4096b to 1 tag 0
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 4096b from 0 tag 0
//! }
//! ";
//! let schedule = goal::read(text.as_bytes()).unwrap();
//! let finished = simulate(&schedule, &LogGops::default()).unwrap();
//! assert!(finished.time() > Picoseconds(2_000_000));
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

pub mod application;
pub mod traffic;
