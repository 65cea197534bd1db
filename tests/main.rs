//! All integration tests, in one program: it is linked once, and what tests share is compiled once.
//!
//! `cargo test --test main NAME` runs those whose path contains `NAME`, for example `sweeps::killed`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

mod common;
mod reference;
mod reference_flits;

mod adaptive;
mod application_reports;
mod applications;
mod bounds;
mod cable_rates;
mod checkpoint;
mod claims;
mod cli;
mod combinations;
mod compare;
mod deadlock;
mod desmos_twin;
mod differential;
mod differential_flits;
mod documents;
mod earlier_results;
mod engines_agree;
mod epoch;
mod examples;
mod figure_formats;
mod figure_series;
mod figures;
mod first_steps;
mod forwarding;
mod forwarding_tables;
mod fuzz_corpus;
mod identity;
mod interruption;
mod json;
mod laws;
mod link_errors;
mod load_bound;
mod loggops;
mod mutants;
mod outflank_points;
mod peer_figures;
mod pictures;
mod plot;
mod reference_engine;
mod reference_flits_engine;
mod reference_link_errors;
mod relation;
mod remote_memory;
mod report;
mod reproductions;
mod result_files;
mod robust;
mod route_check;
mod schedule;
mod shell;
mod slurm;
mod stall_times;
mod steady;
mod sweeps;
mod threads;
mod told;
mod validation;
mod wrong_scenarios;
mod zero_load;
