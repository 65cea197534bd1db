//! What is simulated: the engine beside the reference engines, routing, workloads, closed forms,
//! published values.
//!
//! `cargo test --test simulation NAME` runs those whose path contains `NAME`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

#[path = "../common/mod.rs"]
mod common;

mod adaptive;
mod applications;
mod bounds;
mod by_pair;
mod cable_rates;
mod classes;
mod collective;
mod combinations;
mod deadlock;
mod desmos_twin;
mod differential;
mod endings;
mod engines_agree;
mod epoch;
mod examples;
mod features;
mod formats;
mod forwarding;
mod forwarding_tables;
mod fuzz_corpus;
mod head_of_queue_lifetime;
mod identity;
mod interruption;
mod jobs;
mod laws;
mod link_errors;
mod load_bound;
mod loggops;
mod mutants;
mod order;
mod outflank_points;
mod output_queued;
mod own_adaptive;
mod peer_figures;
mod reference_cioq_engine;
mod reference_engine;
mod reference_flits_engine;
mod reference_link_errors;
mod relation;
mod remote_memory;
mod responder_resources;
mod routing_rules;
mod several;
mod stall_times;
mod steady;
mod threads;
mod time_axis;
mod traffic;
mod validation;
mod without_load;
mod zero_load;
