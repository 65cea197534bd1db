//! Whether "steady" means steady: verdicts, intervals, and what queueing theory says.

mod coverage;
mod permutations;
mod theory;
mod verdict;

use flitlab::report::PointRow;
use flitlab::scenario::{Document, Scenario};
use flitlab::sweep::{Outcome, Simulation};

/// A scenario as text, with some assignments.
fn scenario(text: &str, more: &[&str]) -> Scenario {
    let mut document = Document::parse("steady.toml", text);
    more.iter().for_each(|assignment| document.set(assignment));
    Scenario::read(&document).unwrap_or_else(|error| panic!("{more:?}: {error:?}"))
}

fn run(text: &str, more: &[&str]) -> Outcome {
    Simulation::new(&scenario(text, more)).unwrap().run("", 0, &mut |_| {})
}

fn row(text: &str, more: &[&str]) -> PointRow {
    run(text, more).row
}

/// The throughput bound as a load.
fn bound(text: &str, more: &[&str]) -> f64 {
    let simulation = Simulation::new(&scenario(text, more)).unwrap();
    simulation.outlook().throughput().unwrap() / simulation.fabric().capacity()
}
