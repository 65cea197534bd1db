//! What results become: files, figures, pictures, pages, documents.
//!
//! `cargo test --test results NAME` runs those whose path contains `NAME`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "tests cast numbers that stand beside the cast"
)]

#[path = "../common/mod.rs"]
mod common;

mod application_reports;
mod circles;
mod compare;
mod documents;
mod earlier_results;
mod figure_formats;
mod figure_series;
mod figures;
mod json;
mod kept_channels;
mod papers;
mod pictures;
mod plot;
mod readmes;
mod report;
mod reproductions;
mod result_files;
mod timeline;
mod values;
mod walls;
