//! `flitlab failures`: how many random failures an Angara routing survives.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::input::Input;
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::summary::{print_json, print_text};
use super::text::torus_text;
use super::threads::Threads;
use super::{Failure, folder};
use flitlab::report::figure::{Medium, Scale, Series, Style, xy_figure};
use flitlab::report::rows_text;
use flitlab::scenario::Network;
use flitlab::tables::angara::{self, resilience};
use flitlab::topology::{Faults, Torus};

/// Count how many random failures an Angara routing survives
///
/// Draws systems with 1, 2, ... failed cables, then nodes, beyond those of the scenario, and counts
/// those in which every pair of nodes can still be routed: by direction order alone, with first and
/// last steps, and with steps that break the order where no deadlock can come of it. Needs the
/// scenario's [topology] only.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    flitlab failures scenarios/desmos/desmos.toml --systems 500 --out desmos-failures")]
pub(super) struct Failures {
    #[command(flatten)]
    input: Input,
    /// Systems drawn for each number of failures
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    systems: u32,
    /// The most failures
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    most: u32,
    /// Folder for failures.csv and a figure
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The JSON object that `--json` prints.
#[derive(Debug, Serialize)]
struct Counted {
    fabric: String,
    seed: u64,
    systems: u32,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    failed: &'static str,
    failures: u32,
    systems: u32,
    connected: u32,
    routed_by_direction_order: u32,
    routed_with_first_and_last_steps: u32,
    routed_with_relaxation: u32,
}

impl Failures {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let network = Network::read(&self.input.document()?)?;
        let (torus, faults) = network.torus().ok_or_else(|| {
            let message = "error: failures are counted for Angara's routing, on [topology.torus]; of other \
                           fabrics `random_failures` makes one system a scenario";
            Failure::Input(message.into())
        })?;
        let out = match &self.out {
            Some(out) => Some(folder::prepare("", Some(out))?),
            None => None,
        };
        let rows = self.threads.with(|| self.rows(torus, faults, network.seed))?;
        let title = torus_text(torus);
        if let Some(out) = &out {
            out.fill(|| {
                folder::write(&out.join("failures.csv"), &rows_text(&rows))?;
                for failed in ["cables", "nodes"] {
                    figure(&rows, failed, &title).write_to(out, failed, &Medium::default())?;
                }
                Ok(())
            })?;
        }
        if self.json {
            let (systems, seed) = (self.systems, network.seed);
            return print_json(&Counted { fabric: title, seed, systems, rows });
        }
        let place = out.map_or(String::new(), |out| format!("results in {}\n", out.display()));
        print_text(&format!("{title}, {} systems a row\n{}{place}", self.systems, text(&rows)))
    }

    fn rows(&self, torus: &Torus, faults: &Faults, seed: u64) -> Result<Vec<Row>, Failure> {
        let bar = Bar::of_sweep(2 * u64::from(self.most));
        let _interrupt = Interrupt::clear(&bar)?;
        let kinds = [("cables", angara::Failure::Cables), ("nodes", angara::Failure::Nodes)];
        let cases =
            kinds.iter().flat_map(|kind| (1..=self.most).map(move |failures| (kind, failures)));
        let rows = cases.map(|((failed, failure), failures)| {
            let count = failures as usize;
            let found = resilience(torus, faults, *failure, count, self.systems, seed);
            bar.one_done();
            Row {
                failed,
                failures,
                systems: found.systems,
                connected: found.connected,
                routed_by_direction_order: found.direction_order,
                routed_with_first_and_last_steps: found.steps,
                routed_with_relaxation: found.relaxation,
            }
        });
        let rows = rows.collect();
        bar.finish();
        Ok(rows)
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<18}{:>11}{:>17}{:>14}{:>17}\n",
        "  failed", "connected", "direction order", "first, last", "with relaxation"
    );
    for row in rows {
        let share =
            |count: u32| format!("{:.1}%", 100.0 * f64::from(count) / f64::from(row.systems));
        text += &format!(
            "{:<18}{:>11}{:>17}{:>14}{:>17}\n",
            if row.failures == 1 {
                format!("  1 {}", row.failed.trim_end_matches('s'))
            } else {
                format!("  {} {}", row.failures, row.failed)
            },
            share(row.connected),
            share(row.routed_by_direction_order),
            share(row.routed_with_first_and_last_steps),
            share(row.routed_with_relaxation)
        );
    }
    text
}

fn figure(rows: &[Row], failed: &str, title: &str) -> flitlab::report::figure::Figure {
    type Count = fn(&Row) -> u32;
    let shares: [(&str, Count); 4] = [
        ("connected", |row| row.connected),
        ("with relaxation", |row| row.routed_with_relaxation),
        ("with first and last steps", |row| row.routed_with_first_and_last_steps),
        ("direction order alone", |row| row.routed_by_direction_order),
    ];
    let series = shares.map(|(label, count)| Series {
        label: label.into(),
        style: Style::Curve,
        points: rows
            .iter()
            .filter(|row| row.failed == failed)
            .map(|row| {
                (f64::from(row.failures), 100.0 * f64::from(count(row)) / f64::from(row.systems))
            })
            .collect(),
    });
    let x = format!("Failed {failed}");
    let y = "Systems routed entirely (%)";
    xy_figure(title, (&x, Scale::Linear), (y, Scale::Linear), &series)
}
