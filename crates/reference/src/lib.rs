//! Plain engines, written to be obviously right: the fast engine has to agree with them.
//!
//! Nobody needs this crate to use flitlab: it is for tests. All engines move one flit at a time,
//! by code of their own that follows docs/model.md rule by rule. docs/testing.md says what they
//! share with the fast engine. The scenarios in which they are compared are in `flitlab-random`.
//!
//! | module | what it is for |
//! |---|---|
//! | [`shared`] | what the plain engines have in common: terminals, ways of packets, instants, failures |
//! | [`engine`] | links that are granted to whole packets |
//! | [`flit_engine`] | links that are shared flit by flit |
//! | [`cioq_engine`] | links that are granted to whole packets, behind buffers at outputs |

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

pub mod cioq_engine;
pub mod engine;
pub mod flit_engine;
pub mod shared;
