//! `flitlab compare`: what differs between two results, in scenario and in values.

mod json;
mod text;

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::Failure;
use super::results::Results;
use super::summary::{print_json, print_text};
use crate::cli::say::say;
use crate::cli::unlike;
use flitlab::report::comparison::{Comparison, MEASURES, Measure, Verdict};
use flitlab::scenario::{Difference, differences};

/// Compare two results: what differs in scenario and in values, and whether it is more than chance
///
/// A and B are folders that run or sweep left. Points of the same series and offered load belong
/// together; runs that differ in the seed alone are one point, the mean of them. Where both results
/// have one series only, the two belong together whatever they are called.
///
/// A value differs if it is further from that of A than the tolerance, and the two 95% confidence
/// intervals do not overlap. Mean packet latencies have an interval; other values have one if six
/// or more seeds were run, else the tolerance alone decides. Past saturation latencies grow with
/// the simulated time, so there only loads are compared. A point that is steady in one only is
/// judged by its accepted load; a deadlock in one only always differs. Of searches for saturation
/// the loads found are compared.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab compare results/desmos-uniform results/desmos-uniform-2\n  \
    flitlab compare baseline results/new --tolerance 2% && echo as before\n  \
    flitlab compare results/bfs results/sssp --measure packet_latency_p99 --all\n  \
    flitlab compare baseline results/new --json | jq .largest_change\n\n\
    Exit codes: 0 nothing differs, 2 not two results that can be compared, 4 a point differs or only one \
    has it.")]
pub(super) struct Compare {
    /// Folder of the results to compare with
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Folder of the results that are compared
    #[arg(value_name = "B")]
    b: PathBuf,
    /// How far a value of B may be from that of A, relative to A: 5% or 0.05
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = tolerance)]
    tolerance: f64,
    /// A value to compare, a column of points.csv without its unit; may be given several times
    /// [default: accepted_load, packet_latency_mean, completion_time]
    #[arg(long, value_name = "NAME", value_parser = measures())]
    measure: Vec<Measure>,
    /// Accept points that only one of them has
    #[arg(long)]
    allow_partial: bool,
    /// Print every point, not only those that differ
    #[arg(long)]
    all: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

fn measures() -> impl TypedValueParser<Value = Measure> {
    PossibleValuesParser::new(MEASURES.iter().map(|measure| measure.name()))
        .map(|name| Measure::named(&name).expect("a possible value"))
}

/// A share, as a percentage or a fraction. A number that could be meant as either is refused.
fn tolerance(text: &str) -> Result<f64, String> {
    let help = "write a share such as 5% or 0.05";
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    match share {
        None => Err(help.into()),
        Some(share) if share < 0.0 => Err(format!("a tolerance can't be negative: {help}")),
        Some(share) if share >= 1.0 && !text.contains('%') => {
            Err(format!("write {text}% if percent are meant: {help}"))
        }
        Some(share) => Ok(share),
    }
}

/// Two results and what was found.
struct ComparisonReport {
    a: Results,
    b: Results,
    tolerance: f64,
    allow_partial: bool,
    /// `None` if a scenario isn't there.
    scenario: Option<Vec<Difference>>,
    found: Comparison,
}

impl Compare {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let (a, b) = (Results::open(&self.a)?, Results::open(&self.b)?);
        let measures =
            if self.measure.is_empty() { Measure::usual() } else { self.measure.clone() };
        let found = match (a.saturation().is_empty(), b.saturation().is_empty()) {
            (true, true) => {
                Comparison::new(&a.rows.points, &b.rows.points, &measures, self.tolerance)
            }
            (false, false) => {
                Comparison::of_saturation(a.saturation(), b.saturation(), self.tolerance)
            }
            (none_in_a, _) => {
                let (search, other) = if none_in_a { (&b, &a) } else { (&a, &b) };
                return Err(Failure::input(format!(
                    "{} is a search for saturation, and {} is not: there is nothing to compare",
                    search.name(),
                    other.name()
                )));
            }
        };
        if found.points.is_empty() {
            return Err(Failure::Input(text::nothing_in_common(&a, &b)));
        }
        if found
            .points
            .iter()
            .all(|point| point.values.is_empty() && point.state_a == point.state_b)
        {
            let names: Vec<&str> = measures.iter().map(|measure| measure.name()).collect();
            return Err(Failure::input(format!(
                "no point has {} in either of them: choose others with --measure",
                names.join(" or ")
            )));
        }
        let scenario = a.scenario.as_ref().zip(b.scenario.as_ref()).map(|(a, b)| differences(a, b));
        let (tolerance, allow_partial) = (self.tolerance, self.allow_partial);
        let report = ComparisonReport { a, b, tolerance, allow_partial, scenario, found };
        for note in report.notes() {
            say(&format!("note: {note}"));
        }
        if self.json {
            print_json(&json::object(&report))?;
        } else {
            print_text(&text::text(&report, self.all))?;
        }
        if report.holds() {
            return Ok(());
        }
        // A difference is a finding, not a mistake of the user.
        Err(Failure::Check(format!("differs: {}", text::verdict(&report))))
    }
}

impl ComparisonReport {
    /// Whether B is as A within the tolerance.
    fn holds(&self) -> bool {
        self.found.count(Verdict::Differs) == 0 && (self.allow_partial || self.missing() == 0)
    }

    /// Points that only one of them has.
    fn missing(&self) -> usize {
        self.found.only_in_a.len() + self.found.only_in_b.len()
    }

    /// Returns the notes on what a reader would otherwise take for granted.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let same_folder = |path: &PathBuf| path.canonicalize().ok();
        if same_folder(&self.a.folder) == same_folder(&self.b.folder) {
            notes.push("A and B are the same folder".into());
        }
        let used = |results: &Results| results.scenario.as_ref().and_then(unlike::vcs_used);
        let differs = self.scenario.as_ref().is_some_and(|found| !found.is_empty());
        if let Some((a, b)) = differs.then(|| used(&self.a).zip(used(&self.b))).flatten()
            && a != b
        {
            notes.push(format!(
                "packets take other virtual channels, and have other buffers: {a} in A, {b} in B"
            ));
        }
        for results in [&self.a, &self.b] {
            notes.extend(results.notes.iter().cloned());
        }
        if let (Some(a), Some(b)) = (&self.a.version, &self.b.version)
            && a != b
        {
            notes.push(format!("A is of flitlab {a}, B of flitlab {b}"));
        }
        let same_scenario = self.scenario.as_ref().is_some_and(Vec::is_empty);
        let searched = !self.a.saturation().is_empty();
        if same_scenario && !searched && self.found.points.iter().any(|point| !point.same_events) {
            notes.push(
                "scenario and seed are the same, but what happened is not: the results are of different \
                 versions of flitlab, or a file that the scenario names has changed"
                    .into(),
            );
        }
        notes
    }
}
