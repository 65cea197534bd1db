//! The traffic that a table is made for: what a scenario's workloads send.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::Failure;
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::tables::angara::{Algorithm, ForTraffic};

/// Source and destination router of each pair that sends, with its share of what its workload sends
/// between routers, times the workload's offered load.
pub(super) fn of(document: &Document) -> Result<Vec<(u32, u32, f64)>, Failure> {
    let scenario = Scenario::read(document)?;
    if scenario.workload.are_several() {
        return Err(Failure::input(
            "--traffic is for scenarios with one workload\nhelp: leave the others out of a copy of the scenario",
        ));
    }
    if scenario.workload.reads() {
        return Err(Failure::input(
            "--traffic is for messages that are sent one way, and these are answered\nhelp: a matrix pattern can have \
             the bytes of both directions",
        ));
    }
    let simulation =
        Simulation::new(&scenario).map_err(|error| Failure::input(error.to_string()))?;
    let share = simulation.shares().next().expect("a scenario has a workload");
    let router = |terminal| simulation.fabric().terminal_router(terminal).expect("it is live");
    let mut amounts = BTreeMap::new();
    for &source in share.senders() {
        let rate = share.pattern().rate(source);
        share.pattern().for_each_share(source, |destination, share| {
            *amounts.entry((router(source), router(destination))).or_insert(0.0) += rate * share;
        });
    }
    amounts.retain(|(from, to), _| from != to);
    if amounts.is_empty() {
        return Err(Failure::input("--traffic: this scenario sends nothing between nodes"));
    }
    Ok(amounts.into_iter().map(|((from, to), amount)| (from, to, amount)).collect())
}

/// Whether an algorithm heeds what pairs send.
pub(super) fn check(name: &str) -> Result<(), Failure> {
    if [Algorithm::BALANCED.name, Algorithm::EXACT.name].contains(&name) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{name} counts all pairs alike\nhelp: --traffic is for --algorithm balanced and --algorithm exact"
    )))
}

/// The failure where the table is not one of Angara's.
pub(super) fn not_for_others() -> Failure {
    Failure::input(
        "--traffic makes tables for Angara\nhelp: name --algorithm balanced or --algorithm exact, on a torus",
    )
}

/// How a table made for a traffic compares with the general one of its algorithm.
#[derive(Debug, Serialize)]
pub(super) struct TrafficReport {
    /// The shares of all traffic on the fullest channel, from 0 to 1.
    pub general_table_share: f64,
    pub this_table_share: f64,
    /// No table with one shortest legal route a pair has less.
    pub least_share: Option<f64>,
}

impl TrafficReport {
    pub(super) fn new(made: &ForTraffic) -> Self {
        Self {
            general_table_share: made.general_load,
            this_table_share: made.load,
            least_share: made.least_load,
        }
    }

    pub(super) fn text(&self) -> String {
        let percent = |share: f64| format!("{:.3}%", share * 100.0);
        let least = match self.least_share {
            Some(least) if self.this_table_share <= least * (1.0 + 1e-9) => {
                "; none with one shortest route a pair has less".into()
            }
            Some(least) => {
                format!("; none with one shortest route a pair has less than {}", percent(least))
            }
            None => String::new(),
        };
        let (general, this) = (self.general_table_share, self.this_table_share);
        format!(
            "{} under the general table, {} under this one{least}",
            percent(general),
            percent(this)
        )
    }
}
