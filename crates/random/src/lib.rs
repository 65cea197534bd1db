//! Random scenarios in which the fast engine has to agree with the plain ones of
//! `flitlab-reference`. Like those, they are for tests.
//!
//! | module | what it is for |
//! |---|---|
//! | [`random_scenario`], [`random_flit_scenario`], [`random_cioq_scenario`] | small scenarios of all routings and rules, by a seed |
//! | [`differential`] | both engines in a scenario, or in many |
//! | [`threads`] | the fast engine on one thread and on several |
//! | [`agreement`], [`wait_cycle`] | what has to hold of two logs, and of a deadlock |

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

pub mod agreement;
pub mod by_hand;
pub mod differential;
pub mod message;
pub mod random_cables;
pub mod random_cioq_scenario;
pub mod random_classes;
pub mod random_collective;
pub mod random_errors;
pub mod random_failure;
pub mod random_flit_scenario;
pub mod random_phased;
pub mod random_relation;
pub mod random_scenario;
pub mod threads;
pub mod wait_cycle;
