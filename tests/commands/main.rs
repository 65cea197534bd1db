//! What users type: commands, scenarios with mistakes, sweeps, clusters, kills.
//!
//! `cargo test --test commands NAME` runs those whose path contains `NAME`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

#[path = "../common/mod.rs"]
mod common;

mod checkpoint;
mod claims;
mod cli;
mod first_steps;
mod place;
mod program;
mod python;
mod reproductions;
mod robust;
mod route_check;
mod route_look;
mod schedule;
mod shell;
mod slurm;
mod sweeps;
mod told;
mod verify;
mod wrong_scenarios;
