//! Whether "steady" means steady: verdicts, intervals, and what queueing theory says.

mod coverage;
mod networks;
mod one_queue;
mod permutations;
mod theory;
mod verdict;

use std::fs;
use std::path::Path;

use crate::common::slice::is_whole;
use flitlab::report::PointRow;
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::{Outcome, Simulation};

/// A scenario as text, with some assignments.
fn scenario(text: &str, more: &[&str]) -> Scenario {
    let mut document = Document::parse("steady.toml", text);
    more.iter().for_each(|assignment| document.set(assignment));
    Scenario::read(&document).unwrap_or_else(|error| panic!("{more:?}: {error:?}"))
}

fn run(text: &str, more: &[&str]) -> Outcome {
    Simulation::new(&scenario(text, more)).unwrap().run(&mut |_| {})
}

fn row(text: &str, more: &[&str]) -> PointRow {
    run(text, more).found.measured
}

/// The throughput bound as a load.
fn bound(text: &str, more: &[&str]) -> f64 {
    let simulation = Simulation::new(&scenario(text, more)).unwrap();
    simulation.forecast().throughput().unwrap() / simulation.fabric().capacity()
}

/// What theory says, and what came out.
struct Known {
    what: String,
    expected: f64,
    ours: f64,
}

/// Asserts that values are those kept in a file of results/theory, from which docs/validation.md
/// has them: the same to the last digit on every machine. `UPDATE_EXPECTED` writes the file, of a
/// test that is run whole.
fn hold(name: &str, values: &[Known]) {
    let mut text = String::from("what,expected,flitlab\n");
    for Known { what, expected, ours } in values {
        assert!(!what.contains('"'));
        text += &format!("\"{what}\",{expected:.6},{ours:.6}\n");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("results/theory/{name}.csv"));
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &text).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap();
    if is_whole() {
        assert_eq!(kept, text);
    }
    let unknown: Vec<&str> =
        text.lines().filter(|line| !kept.lines().any(|it| it == *line)).collect();
    assert!(unknown.is_empty(), "{name}.csv lacks {unknown:?}");
}
