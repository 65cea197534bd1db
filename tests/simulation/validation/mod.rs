//! docs/validation.md: every value from outside that flitlab is held to, with flitlab's own beside
//! it.
//!
//! The page is made from rows. Those that cost little are computed here; those that take minutes or
//! hours are read from the files under results/ that their commands have written. The test below
//! holds the page equal to the rows; `UPDATE_EXPECTED=1 cargo test --test simulation validation`
//! writes it anew.

mod closed_forms;
mod papers;
mod peers;
mod remote_memory;
mod theory;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A value that flitlab is held to.
pub struct Row {
    pub what: String,
    /// From outside: a closed form, a paper, another program.
    pub expected: f64,
    pub ours: f64,
    /// What computes ours.
    pub command: String,
}

impl Row {
    pub fn new(
        what: impl Into<String>,
        expected: impl Into<f64>,
        ours: impl Into<f64>,
        command: &str,
    ) -> Self {
        let (expected, ours) = (expected.into(), ours.into());
        Self { what: what.into(), expected, ours, command: command.into() }
    }

    /// Deviation as a share of the expected value; of 0, the difference itself.
    fn deviation(&self) -> f64 {
        let difference = self.ours - self.expected;
        if self.expected == 0.0 { difference } else { difference / self.expected }
    }
}

/// Rows with one source.
pub struct Section {
    pub title: &'static str,
    pub source: &'static str,
    pub rows: Vec<Row>,
}

/// A number as people write it: no more than five digits, whole numbers whole.
fn number(value: f64) -> String {
    if value == value.round() && value.abs() < 1e12 {
        return format!("{value:.0}");
    }
    let digits = (4.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn deviation(share: f64) -> String {
    match share {
        0.0 => "none".into(),
        small if small.abs() < 5e-5 => format!("{small:+.0e}"),
        share => format!("{:+.2}%", 100.0 * share),
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Validation\n\n\
         This page has every value from outside with which flitlab is compared: closed\n\
         forms, oracles, papers, other programs. Beside each are flitlab's value, the\n\
         deviation from the expected one, and the command that computes it.\n\
         `cargo test` compares this page with flitlab's values. Where these take\n\
         seconds, it computes them. Where they take longer, it reads the files under\n\
         results/. `UPDATE_EXPECTED=1 cargo test --test simulation validation` writes the\n\
         page anew. The README of the results explains deviations.\n",
    );
    let sections =
        [closed_forms::sections(), theory::sections(), papers::sections(), peers::sections()];
    for Section { title, source, rows } in sections.into_iter().flatten() {
        assert!(!rows.is_empty(), "{title}");
        write!(page, "\n## {title}\n\n{source}\n\n").expect("to a string");
        page += "| what | expected | flitlab | deviation | command |\n|---|---|---|---|---|\n";
        for row in rows {
            assert!(row.expected.is_finite() && row.ours.is_finite(), "{}", row.what);
            let (expected, ours) = (number(row.expected), number(row.ours));
            let deviation = deviation(row.deviation());
            let Row { what, command, .. } = row;
            writeln!(page, "| {what} | {expected} | {ours} | {deviation} | `{command}` |")
                .expect("to a string");
        }
    }
    page
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The rows of a CSV file of the repository, each by column name.
fn records(path: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(in_repository(path)).expect("a committed file");
    reader.deserialize().map(|row| row.expect("a committed file is well formed")).collect()
}

fn value(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn the_page_of_validation_is_the_one_in_docs() {
    let page = page();
    let kept = in_repository("docs/validation.md");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&kept, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(kept).unwrap(), page);
}

#[test]
fn numbers_are_written_with_five_digits_at_the_most() {
    let written = [850.0, 0.128_205_1, 1.429, 12.254_3, 0.0, 149_612.4].map(number);
    assert_eq!(written, ["850", "0.12821", "1.429", "12.254", "0", "149612"]);
    let deviations = [0.0, 1e-7, -0.0123].map(deviation);
    assert_eq!(deviations, ["none", "+1e-7", "-1.23%"]);
}
