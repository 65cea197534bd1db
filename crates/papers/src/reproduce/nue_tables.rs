//! Forwarding tables of many fabrics under many algorithms, made, proved and timed: what the
//! reproductions of the slides of \[nue\] have in common.

use std::fmt::Write;

use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};

use super::tori::on_one_thread;
use super::{Extent, Flawed, Progress, all};
use flitlab_base::narrow::rounded;
use flitlab_base::registry;
use flitlab_fabric::builders::SwitchedTorus;
use flitlab_fabric::sizes_text;
use flitlab_fabric::{Cabling, Fabric};
use flitlab_report::figure::{Figure, Scale, Series, Style, xy_figure};
use flitlab_tables::agnostic::{Algorithm, Parameters};
use flitlab_tables::{ForwardingQuality, prove_forwarding};

/// Algorithms that the slides of \[nue\] compare, and others beside them.
pub(super) const COMPARED: [registry::Row<Algorithm>; 7] = [
    Algorithm::DIMENSION_ORDER,
    Algorithm::TORUS_2QOS,
    Algorithm::UP_DOWN,
    Algorithm::LASH,
    Algorithm::DFSSSP,
    Algorithm::NUE,
    Algorithm::NUE_BALANCED,
];

/// The fabrics of Table 1 of the slides of \[nue\], each with its key in `[topology]`. Which random
/// graph theirs was is open.
pub(super) const FABRICS: [(&str, &str); 7] = [
    ("random", "random_regular = { switches = 125, degree = 16, terminals = 8, seed = 1 }"),
    ("6x5x5", "switched_torus = { dimensions = [6, 5, 5], terminals = 7, redundancy = 4 }"),
    ("10-ary 3-tree", "tree = { arity = 10, levels = 3, terminals = 11 }"),
    ("kautz", "kautz = { degree = 5, length = 3, terminals = 7, redundancy = 2 }"),
    ("dragonfly", "dragonfly = { groups = 15, group_size = 12, global_cables = 6, terminals = 6 }"),
    ("cascade", "cascade = {}"),
    ("tsubame2.5", "director_tree = {}"),
];

/// Virtual channels, as many as the slides' switches have.
pub(super) const VCS: u8 = 8;

/// Terminals of each switch of the slides' tori.
const TERMINALS: u32 = 4;

/// A table is made again and again for this long, at most so many times; the least CPU time counts.
const WHILE: f64 = 0.1;
const TIMES: usize = 5;

/// A fabric and its name.
pub(super) struct Named {
    pub name: String,
    pub fabric: Fabric,
    pub failed_cables: usize,
}

/// A table, or why there is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Row {
    pub fabric: String,
    pub routers: u32,
    pub terminals: u32,
    pub cables: usize,
    pub failed_cables: usize,
    #[serde(skip_deserializing)]
    pub algorithm: &'static str,
    /// Whether there is a table, and it can't deadlock.
    pub applies: bool,
    /// Why not.
    pub reason: Option<String>,
    #[serde(rename = "lanes")]
    pub vcs: Option<u32>,
    /// Edge-forwarding index.
    pub maximum_load: Option<u64>,
    pub mean_load: Option<f64>,
    pub hops_mean: Option<f64>,
    pub escape_falls: Option<u32>,
    /// Of one thread, also of those that found no table.
    pub cpu_seconds: f64,
}

/// The 25 tori of the slides: 2x2x2, 2x2x3, 2x3x3, 3x3x3, ... 10x10x10.
pub(super) fn tori(quick: bool) -> Vec<Vec<u32>> {
    let largest = if quick { 3 } else { 10 };
    let smaller = (2..largest).flat_map(|n| [[n, n, n], [n, n, n + 1], [n, n + 1, n + 1]]);
    smaller.chain([[largest; 3]]).map(|sizes| sizes.to_vec()).collect()
}

/// The cabling and the name of one of them.
pub(super) fn torus(sizes: &[u32]) -> (String, Cabling) {
    let torus = SwitchedTorus { sizes: sizes.to_vec(), terminals: TERMINALS, redundancy: 1 };
    (sizes_text(sizes), torus.cabling().expect("sizes of a torus"))
}

/// Makes the tables of all algorithms for all fabrics, fabric by fabric.
///
/// # Errors
/// If a table is wrong.
pub(super) fn rows(
    fabrics: &[Named],
    algorithms: &[registry::Row<Algorithm>],
    extent: Extent<'_>,
    progress: Progress<'_>,
) -> Result<Vec<Row>, Flawed> {
    let jobs: Vec<(&Named, registry::Row<Algorithm>)> = fabrics
        .iter()
        .flat_map(|fabric| algorithms.iter().map(move |&algorithm| (fabric, algorithm)))
        .collect();
    let work = |&(named, algorithm): &(&Named, registry::Row<Algorithm>)| {
        let (channels, failed) = (named.fabric.channels(), named.failed_cables);
        let name = format!(
            "{} on {}, {channels} channels, {failed} cables failed",
            algorithm.name, named.name
        );
        let found: Result<Row, Flawed> =
            on_one_thread(|| extent.simulated(&name, || row(named, algorithm)));
        found.map(|row| Row { algorithm: algorithm.name, ..row })
    };
    all(&jobs, extent, work, |_| String::new(), progress).into_iter().collect()
}

fn row(named: &Named, algorithm: registry::Row<Algorithm>) -> Result<Row, Flawed> {
    let fabric = &named.fabric;
    let parameters = Parameters { vcs: VCS, ..Parameters::default() };
    let mut seconds = Vec::new();
    let made = loop {
        let started = ThreadTime::now();
        let made = algorithm.generate(fabric, &parameters);
        seconds.push(started.elapsed().as_secs_f64());
        if seconds.len() == TIMES || seconds.iter().sum::<f64>() > WHILE {
            break made;
        }
    };
    let mut row = Row {
        fabric: named.name.clone(),
        routers: fabric.routers(),
        terminals: fabric.terminals(),
        cables: fabric.channels() / 2,
        failed_cables: named.failed_cables,
        algorithm: algorithm.name,
        cpu_seconds: seconds.iter().copied().fold(f64::INFINITY, f64::min),
        ..Row::default()
    };
    match made {
        Ok(made) => {
            let proof = prove_forwarding(fabric, &made.table);
            let expected = !algorithm.avoids_deadlock && proof.cycle().is_some();
            if let Some(flaw) = proof.flaws.first().filter(|_| !expected) {
                let text = flaw.describe(fabric);
                return Err(format!("{} on {}: {text}", algorithm.name, named.name));
            }
            let quality = ForwardingQuality::new(fabric, &made.table);
            row.applies = proof.holds();
            row.reason = (!row.applies).then(|| "packets can deadlock".into());
            row.vcs = Some(proof.vcs_used());
            row.maximum_load = Some(rounded(quality.load.maximum));
            row.mean_load = Some(quality.load.mean);
            row.hops_mean = Some(quality.hops_mean);
            row.escape_falls = made.escape_falls;
        }
        Err(none) => row.reason = Some(none.to_string()),
    }
    Ok(row)
}

/// A table for people: a line a fabric, a column an algorithm. `-` stands for no table, `*` for one
/// that can deadlock.
pub(super) fn matrix(
    rows: &[Row],
    algorithms: &[registry::Row<Algorithm>],
    title: &str,
    cell: impl Fn(&Row) -> Option<String>,
) -> String {
    let widths = algorithms.iter().map(|&algorithm| algorithm.name.len().max(7) + 2);
    let widths: Vec<usize> = widths.collect();
    let longest = rows.iter().map(|row| row.fabric.len()).max().unwrap_or(0).max(6);
    let mut text = format!("{title}\n{:<longest$}", "fabric");
    for (&algorithm, &width) in algorithms.iter().zip(&widths) {
        let _ = write!(text, "{:>width$}", algorithm.name);
    }
    text.push('\n');
    for of_fabric in rows.chunk_by(|one, other| one.fabric == other.fabric) {
        let _ = write!(text, "{:<longest$}", of_fabric[0].fabric);
        for (&algorithm, &width) in algorithms.iter().zip(&widths) {
            let row = of(of_fabric, algorithm).find(|row| row.vcs.is_some());
            let mark = row.map_or("", |row| if row.applies { "" } else { "*" });
            let cell = row.and_then(&cell).unwrap_or_else(|| "-".into());
            let _ = write!(text, "{:>width$}", cell + mark);
        }
        text.push('\n');
    }
    text
}

/// Returns CPU time in milliseconds, with three digits.
pub(super) fn milliseconds(row: &Row) -> Option<String> {
    let value = 1e3 * row.cpu_seconds;
    let digits: usize = rounded((2.0 - value.log10().floor()).clamp(0.0, 4.0));
    Some(format!("{value:.digits$}"))
}

pub(super) fn of(rows: &[Row], algorithm: registry::Row<Algorithm>) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.algorithm == algorithm.name)
}

/// CPU time over routers, a curve an algorithm, with gaps where it does not apply.
pub(super) fn time_figure(
    rows: &[Row],
    algorithms: &[registry::Row<Algorithm>],
    title: &str,
) -> Figure {
    figure(rows, algorithms, title, "CPU time (s)", |row| Some(row.cpu_seconds))
}

/// Any value over routers; algorithms that never apply are left out.
pub(super) fn figure(
    rows: &[Row],
    algorithms: &[registry::Row<Algorithm>],
    title: &str,
    axis: &str,
    value: impl Fn(&Row) -> Option<f64>,
) -> Figure {
    let series: Vec<Series> = algorithms
        .iter()
        .map(|&algorithm| {
            let point = |row: &Row| {
                let value = value(row).filter(|_| row.applies);
                (f64::from(row.routers), value.unwrap_or(f64::NAN))
            };
            let points = of(rows, algorithm).map(point).collect();
            Series { label: algorithm.name.into(), style: Style::Curve, points }
        })
        .filter(|series: &Series| series.points.iter().any(|point| !point.1.is_nan()))
        .collect();
    let x = ("Switches", Scale::Logarithmic);
    xy_figure(title, x, (axis, Scale::Logarithmic), &series)
}
