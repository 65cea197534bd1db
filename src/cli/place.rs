//! `flitlab place`: the nodes on which applications end soonest.

use std::path::{PathBuf, absolute};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::finished::SCENARIO;
use super::folder::{self, cannot_write};
use super::input::Input;
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::say::say;
use super::summary::{mention, print_json, print_text};
use super::threads::Threads;
use super::{Failure, text};
use flitlab::report::rows_text;
use flitlab::scenario::Scenario;
use flitlab::sweep::{PlaceSearch, Placed};
use flitlab::units::{ClockTime, parse_clock_time, short_time_text};

/// Search for the nodes on which a scenario's applications end soonest
///
/// Simulates the applications as the scenario places them, on the nodes that each rule of
/// allocation gives (linear, random, boxes, groups), and then on what a search finds: one that
/// exchanges nodes as long as that lessens bytes times hops, and single exchanges. Of several
/// applications the geometric mean of completion times is to be small. Ranks that share a node go
/// on sharing one. The best placement is written as a scenario.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab place scenarios/applications/two-jobs.toml --within 1min\n  \
    flitlab place scenarios/applications/ft-desmos.toml --within 2h --out placed")]
pub(super) struct Place {
    #[command(flatten)]
    input: Input,
    /// How long to search, such as 90s, 10min or 2h; the scenario's own placement is simulated in
    /// any case, and no simulation is begun that is not expected to end by then
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = parse_clock_time)]
    within: ClockTime,
    #[command(flatten)]
    threads: Threads,
    /// Folder for the scenario with the best placement and for placements.csv [default:
    /// results/NAME, or NAME-2 and so on if that is taken]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// A row of placements.csv.
#[derive(Debug, Serialize)]
struct Row {
    /// A rule of allocation, `scenario`, or `search`.
    placement: String,
    /// Seconds since the search began.
    found_after_s: f64,
    application: String,
    completion_time_us: f64,
}

/// The JSON object that `--json` prints.
#[derive(Debug, Serialize)]
struct Searched {
    results: String,
    /// Placements that were simulated.
    simulated: u32,
    /// How many times as long the scenario's own placement takes, as a geometric mean.
    times_faster: f64,
    placements: Vec<Row>,
}

impl Place {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let mut document = self.input.document()?;
        let bar = Bar::of_work("simulating placements");
        let asked = Interrupt::note()?;
        let scenario = Scenario::read(&document)?;
        let fabric = &scenario.network.fabric;
        if document.has_sweep() {
            say("note: [sweep] is left out by place, which searches for the scenario itself");
        }
        let mut search = PlaceSearch::new(&scenario)?;
        let applications = search.names();
        let results = folder::prepare(&scenario.name, self.out.as_deref())?;
        let begun = Instant::now();
        let within = Duration::from_secs(self.within.0);
        let (mut rows, mut own) = (Vec::new(), None);
        let (best, simulated) = search.run(
            self.threads.count(),
            &mut |longest| !asked.load(Ordering::Relaxed) && begun.elapsed() + longest < within,
            &mut |placed| {
                let after = begun.elapsed().as_secs_f64();
                let own = own.get_or_insert_with(|| placed.clone());
                if !self.json {
                    bar.above(|| mention(&line(placed, own, &applications)));
                }
                rows.extend(applications.iter().zip(&placed.completions).map(|(it, time)| Row {
                    placement: placed.by.clone(),
                    found_after_s: (after * 1e3).round() / 1e3,
                    application: it.clone(),
                    completion_time_us: time.0 as f64 / 1e6,
                }));
            },
        )?;
        bar.finish();
        if asked.load(Ordering::Relaxed) {
            say("interrupted; what was found until then is written");
        }
        let folder = absolute(&*results).map_err(|cause| cannot_write(&results, &cause))?;
        let file = |name: &str| folder.join(format!("{name}.txt"));
        results.fill(|| {
            for (name, nodes) in applications.iter().zip(&best.nodes) {
                let nodes = nodes.iter().map(|&node| fabric.terminal_name(node) + "\n");
                folder::write(&file(name), &nodes.collect::<String>())?;
            }
            for setting in search.settings(&best, |name| file(name).display().to_string()) {
                document.set(&setting);
            }
            folder::write(&results.join("placements.csv"), &rows_text(&rows))?;
            folder::write(&results.join(SCENARIO), &folder::resolved(&document)?)
        })?;
        let own = own.as_ref().map_or(1.0, |own| best.times_of(own));
        let place = results.display().to_string();
        if self.json {
            let (results, times_faster) = (place, own);
            return print_json(&Searched { results, simulated, times_faster, placements: rows });
        }
        print_text(&format!(
            "the best of {simulated} placements in {}: by {}, {own:.3} times as fast as the scenario's\n\
             run it with\n    flitlab run {}\n",
            text::duration(begun.elapsed().as_secs_f64()),
            best.by,
            results.join(SCENARIO).display()
        ))
    }
}

/// A placement that was simulated, beside the scenario's own.
fn line(placed: &Placed, own: &Placed, applications: &[String]) -> String {
    let times =
        applications.iter().zip(&placed.completions).map(|(name, &time)| match applications {
            [_] => short_time_text(time),
            _ => format!("{name} {}", short_time_text(time)),
        });
    let times: Vec<String> = times.collect();
    let beside = match placed.by == own.by {
        true => String::new(),
        false => format!("  ({:.3} times as fast as the scenario's)", placed.times_of(own)),
    };
    format!("  {:<10}{}{beside}\n", placed.by, times.join(", "))
}
