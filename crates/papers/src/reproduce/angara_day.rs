//! A day of jobs on a torus of Angara's: requests for nodes over time, the nodes that each gets, its
//! table, and how much jobs slow each other. The paper says that a plugin of Slurm writes the tables
//! of a job's nodes before it runs (\[angara-routing\], section II), and nothing of a day; so there is
//! nothing published beside this.
//!
//! Requests are those of a [model](requests). Three [rules](machine::RULES) give jobs their nodes: by
//! one, routes stay among the nodes of a job, and these have to hang together; by the others all jobs
//! have the table of the whole torus, and meet on its channels. Some times a day the jobs that run
//! [exchange](exchanges::exchanges) messages among all of their nodes, alone and all at once. What
//! jobs lose by that does not lengthen them here: how much of its time a job sends is not in the model.

mod exchanges;
mod machine;
mod requests;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::tori::on_one_thread;
use super::{Extent, Flawed, Progress, Reproduction, all, json};
use exchanges::{Exchanged, exchanges};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Torus, sizes_text};
use flitlab_report::figure::{Figure, Scale, Series, Style, xy_figure_among};
use flitlab_report::rows_text;
use flitlab_traffic::MAX_WORKLOADS;
use machine::{ALGORITHM, RULES, Rule, Started, run};
use requests::{DAY, Request, requests};

/// The machine.
const SIZES: &[u32] = &[4, 4, 4, 4];

/// The seeds of the days; a quick run has the first. These are the first three whose second day asks
/// for more than half of the machine, but for no more than all of it: now and then the model has a
/// day's pause between two jobs, or more than a machine could ever run.
const SEEDS: [u64; 3] = [3, 5, 8];

/// Hours of the day at which jobs exchange messages; a quick run has the first.
const HOURS: [u64; 6] = [12, 16, 20, 0, 4, 8];

/// Below this a runtime counts as so many seconds in slowdowns, so that short jobs do not decide.
const SHORT_S: f64 = 10.0;

/// A rule's day. Times are of the jobs that were submitted in the second of two days; the first fills
/// the machine.
#[derive(Clone, Debug, Serialize)]
struct DayRow {
    rule: &'static str,
    seed: u64,
    jobs: usize,
    /// Node-seconds that jobs ask for over those that the machine has.
    offered: f64,
    /// Share of the machine's nodes with a job, over the day.
    used: f64,
    wait_mean_s: f64,
    wait_95th_s: u64,
    /// Mean of wait and runtime over runtime, the latter being 10 s at least.
    slowdown_mean: f64,
    /// Jobs that waited though enough nodes were free.
    refused: usize,
    /// Tables that were made for single jobs.
    tables: usize,
    /// Mean routes on the fullest channel of these, over the nodes of their jobs less one.
    fullest_channel_mean: Option<f64>,
    /// Means of exchanges, each counted by its nodes: beside the others over at best, alone over at
    /// best, and beside the others over alone; and the most of the latter.
    exchange_over_best: f64,
    alone_over_best: f64,
    exchange_over_alone: f64,
    exchange_over_alone_maximum: f64,
}

#[derive(Clone, Debug, Serialize)]
struct JobRow {
    rule: &'static str,
    seed: u64,
    job: usize,
    nodes: u32,
    submitted_s: u64,
    started_s: u64,
    runtime_s: u64,
    refused: bool,
    fullest_channel_routes: Option<f64>,
    hops_mean: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct ExchangeRow {
    rule: &'static str,
    seed: u64,
    hour: u64,
    job: usize,
    nodes: usize,
    message_bytes: u64,
    best_us: f64,
    alone_us: f64,
    together_us: f64,
}

/// A rule's day.
struct Day {
    rule: Rule,
    seed: u64,
    requests: Vec<Request>,
    started: Vec<Started>,
    exchanges: Vec<ExchangeRow>,
}

/// The days of all rules.
///
/// # Errors
/// If a table is wrong.
pub fn angara_day(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    let seeds = if extent.quick { &SEEDS[..1] } else { &SEEDS };
    let jobs: Vec<(u64, Rule)> =
        seeds.iter().flat_map(|&seed| RULES.map(|rule| (seed, rule))).collect();
    let note = |day: &Result<Day, Flawed>| match day {
        Ok(day) => format!("{}, seed {}: {} jobs", day.rule.name, day.seed, day.started.len()),
        Err(_) => String::new(),
    };
    let day = |&(seed, rule): &(u64, Rule)| on_one_thread(|| Day::new(seed, rule, extent));
    let days = all(&jobs, extent, day, note, progress);
    let days: Vec<Day> = days.into_iter().collect::<Result<_, _>>()?;
    let rows: Vec<DayRow> = days.iter().map(Day::row).collect();
    let of_jobs: Vec<JobRow> = days.iter().flat_map(Day::job_rows).collect();
    let exchanges: Vec<ExchangeRow> =
        days.iter().flat_map(|day| day.exchanges.iter().cloned()).collect();
    Ok(Reproduction {
        text: text(&rows),
        tables: vec![
            ("days", rows_text(&rows)),
            ("jobs", rows_text(&of_jobs)),
            ("exchanges", rows_text(&exchanges)),
        ],
        figures: figures(&days),
        json: serde_json::json!({
            "days": json(&rows), "jobs": json(&of_jobs), "exchanges": json(&exchanges),
        }),
    })
}

impl Day {
    fn new(seed: u64, rule: Rule, extent: Extent<'_>) -> Result<Self, Flawed> {
        let torus = Torus::new(SIZES, &[]).expect("sizes of a torus");
        let requests = requests(torus.nodes(), 2, &mut ChaCha8Rng::seed_from_u64(seed));
        let of = format!("jobs of seed {seed} on {SIZES:?} by {rule:?} and {ALGORITHM:?}");
        let started = extent.simulated(&of, || run(&torus, rule, &requests))?;
        let mut day = Self { rule, seed, requests, started, exchanges: Vec::new() };
        let hours = if extent.quick { &HOURS[..1] } else { &HOURS };
        for &hour in hours {
            // The jobs with the most nodes, as many as a scenario has workloads.
            let mut running: Vec<&Started> = day.running(DAY + hour * 3600).collect();
            running.retain(|it| it.nodes.len() > 1);
            running.sort_by_key(|it| (usize::MAX - it.nodes.len(), it.request));
            running.truncate(MAX_WORKLOADS);
            let exchanged = exchanges(&torus, rule, &running, extent)?;
            let row = |(job, it): (&&Started, Exchanged)| ExchangeRow {
                rule: rule.name,
                seed,
                hour,
                job: job.request,
                nodes: job.nodes.len(),
                message_bytes: it.message_bytes,
                best_us: it.at_best,
                alone_us: it.alone,
                together_us: it.together,
            };
            let rows: Vec<ExchangeRow> = running.iter().zip(exchanged).map(row).collect();
            day.exchanges.extend(rows);
        }
        Ok(day)
    }

    /// The jobs that run at a time.
    fn running(&self, at: u64) -> impl Iterator<Item = &Started> {
        self.started.iter().filter(move |it| (it.at..self.end(it)).contains(&at))
    }

    fn end(&self, job: &Started) -> u64 {
        job.at + self.requests[job.request].runtime
    }

    fn nodes(&self) -> f64 {
        f64::from(SIZES.iter().product::<u32>())
    }

    fn row(&self) -> DayRow {
        let counted: Vec<(&Started, &Request)> = self
            .started
            .iter()
            .map(|it| (it, &self.requests[it.request]))
            .filter(|it| it.1.submitted >= DAY)
            .collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let mut waits: Vec<u64> = counted.iter().map(|it| it.0.at - it.1.submitted).collect();
        waits.sort_unstable();
        let asked = counted.iter().map(|it| u64::from(it.1.nodes) * it.1.runtime).sum::<u64>();
        let in_day = |it: &Started| {
            let (from, to) = (it.at.max(DAY), self.end(it).min(2 * DAY));
            it.nodes.len() as u64 * to.saturating_sub(from)
        };
        let used = self.started.iter().map(in_day).sum::<u64>();
        let slowdown = |(started, request): &(&Started, &Request)| {
            let (wait, runtime) = ((started.at - request.submitted) as f64, request.runtime as f64);
            ((wait + runtime) / runtime.max(SHORT_S)).max(1.0)
        };
        let fullest: Vec<f64> = counted
            .iter()
            .filter_map(|it| Some(it.0.table?.fullest / (it.0.nodes.len() as f64 - 1.0)))
            .collect();
        let by_nodes = |ratio: fn(&ExchangeRow) -> f64| {
            let nodes: usize = self.exchanges.iter().map(|it| it.nodes).sum();
            self.exchanges.iter().map(|it| it.nodes as f64 * ratio(it)).sum::<f64>() / nodes as f64
        };
        let over_alone = |it: &ExchangeRow| it.together_us / it.alone_us;
        DayRow {
            rule: self.rule.name,
            seed: self.seed,
            jobs: counted.len(),
            offered: asked as f64 / DAY as f64 / self.nodes(),
            used: used as f64 / DAY as f64 / self.nodes(),
            wait_mean_s: mean(&mut waits.iter().map(|&wait| wait as f64)),
            wait_95th_s: waits[waits.len() * 95 / 100],
            slowdown_mean: mean(&mut counted.iter().map(slowdown)),
            refused: counted.iter().filter(|it| it.0.refused).count(),
            tables: fullest.len(),
            fullest_channel_mean: (!fullest.is_empty()).then(|| mean(&mut fullest.iter().copied())),
            exchange_over_best: by_nodes(|it| it.together_us / it.best_us),
            alone_over_best: by_nodes(|it| it.alone_us / it.best_us),
            exchange_over_alone: by_nodes(over_alone),
            exchange_over_alone_maximum: self.exchanges.iter().map(over_alone).fold(1.0, f64::max),
        }
    }

    fn job_rows(&self) -> impl Iterator<Item = JobRow> {
        self.started.iter().map(|it| {
            let Request { nodes, submitted, runtime } = self.requests[it.request];
            JobRow {
                rule: self.rule.name,
                seed: self.seed,
                job: it.request,
                nodes,
                submitted_s: submitted,
                started_s: it.at,
                runtime_s: runtime,
                refused: it.refused,
                fullest_channel_routes: it.table.map(|it| it.fullest),
                hops_mean: it.table.map(|it| it.hops_mean),
            }
        })
    }
}

fn text(rows: &[DayRow]) -> String {
    let mut text = format!(
        "{} torus, the second of two days\n{:<27}{:>5}{:>6}{:>9}{:>7}{:>9}{:>9}{:>10}{:>9}{:>8}{:>9}{:>9}{:>9}\n",
        sizes_text(SIZES),
        "rule",
        "seed",
        "jobs",
        "offered",
        "used",
        "wait",
        "95th",
        "slowdown",
        "refused",
        "tables",
        "alone",
        "beside",
        "most"
    );
    for row in rows {
        text += &format!(
            "{:<27}{:>5}{:>6}{:>9.2}{:>7.2}{:>7.0} s{:>7} s{:>10.2}{:>9}{:>8}{:>9.3}{:>9.3}{:>9.3}\n",
            row.rule,
            row.seed,
            row.jobs,
            row.offered,
            row.used,
            row.wait_mean_s,
            row.wait_95th_s,
            row.slowdown_mean,
            row.refused,
            row.tables,
            row.alone_over_best,
            row.exchange_over_alone,
            row.exchange_over_alone_maximum,
        );
    }
    text + "offered and used: of the machine; slowdown: wait and runtime over runtime\n\
            refused: waited though enough nodes were free; tables: made for single jobs\n\
            alone: exchange over that on the best nodes of an empty machine; beside: over alone, and the most\n"
}

/// Of the first day: the nodes with jobs over its hours, and the exchanges beside the others over
/// those at best.
fn figures(days: &[Day]) -> Vec<(String, Figure)> {
    let first: Vec<&Day> = days.iter().filter(|day| day.seed == SEEDS[0]).collect();
    let names = RULES.map(|rule| rule.name.split(',').next().unwrap_or(rule.name));
    let series = |points: &dyn Fn(&Day) -> Vec<(f64, f64)>| {
        let of = |day: &&Day| Series {
            label: day.rule.name.to_owned(),
            style: Style::Curve,
            points: points(day),
        };
        first.iter().map(of).collect::<Vec<Series>>()
    };
    let busy = series(&|day| {
        let at = |quarter: u32| {
            let nodes = day.running(DAY + u64::from(quarter) * 900).map(|it| it.nodes.len());
            (f64::from(quarter) / 4.0, nodes.sum::<usize>() as f64)
        };
        (0..=96).map(at).collect()
    });
    let slowed = series(&|day| {
        let mut hours: Vec<u64> = day.exchanges.iter().map(|it| it.hour).collect();
        hours.sort_unstable();
        hours.dedup();
        let at = |&hour: &u64| {
            let rows = || day.exchanges.iter().filter(|it| it.hour == hour);
            let nodes: usize = rows().map(|it| it.nodes).sum();
            let ratio = |it: &ExchangeRow| it.nodes as f64 * it.together_us / it.best_us;
            let hour: u32 = narrow(hour);
            (f64::from(hour), rows().map(ratio).sum::<f64>() / nodes as f64)
        };
        hours.iter().map(at).collect()
    });
    let hour = ("Hour of the day", Scale::Linear);
    let title = |what: &str| format!("{} torus, {what}", sizes_text(SIZES));
    let figure = |title: &str, y: &str, series: &[Series]| {
        xy_figure_among(&names, title, hour, (y, Scale::Linear), series)
    };
    vec![
        ("busy".into(), figure(&title("nodes with jobs"), "Nodes", &busy)),
        (
            "exchanges".into(),
            figure(
                &title("all-to-all of the jobs that run"),
                "Time over that on the best nodes",
                &slowed,
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_are_the_first_that_ask_for_half_of_the_machine_to_all_of_it() {
        let nodes: u32 = SIZES.iter().product();
        let is_busy = |seed: &u64| {
            let asked = requests(nodes, 2, &mut ChaCha8Rng::seed_from_u64(*seed));
            let second = asked.iter().filter(|it| it.submitted >= DAY);
            let asked: u64 = second.map(|it| u64::from(it.nodes) * it.runtime).sum();
            let all = DAY * u64::from(nodes);
            all < 2 * asked && asked <= all
        };
        assert!((1..).filter(is_busy).take(SEEDS.len()).eq(SEEDS));
    }
}
