//! \[outflank\], Tables 2 and 3, Figures 4 and 5, on the output-queued router of the paper.
//!
//! Times are those of the author's public result files, in which everything is four times faster
//! than in the paper's Table 1. A load is sustained if the mean lifetime is at most 1.25 times that
//! at load 0.10: with that, the author's files give the paper's Table 2. The search for it starts
//! at the published load, to save runs, and takes for granted that no load is sustained above one
//! that is not; Figure 4 simulates them all.
//!
//! Table 2 is also put to another criterion: that a load is sustained up to some mean lifetime
//! which is the same for the three routings, one for each pattern and size. The paper names none,
//! so it is asked whether there is one: whether the longest of the three lifetimes at their
//! published loads is below the shortest at the next loads of the grid.

mod show;
mod sizes;

pub use sizes::outflank_sizes;

use serde::{Deserialize, Serialize};

use super::{Extent, Progress, Reproduction, all, json};
use flitlab_base::narrow::rounded_down;
use flitlab_fabric::Torus;
use flitlab_output_queued::{
    Parameters, Routing, RunTotals, Settings, simulate_with_growth, simulate_within,
};
use flitlab_report::rows_text;
use flitlab_routing::adaptive::Tie;
use flitlab_traffic::PatternSpec;

/// Which of the results of \[outflank\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outflank {
    /// Maximum sustained loads.
    Table2,
    /// Shares of packets that were derouted.
    Table3,
    /// Mean lifetimes over load.
    Figure4,
    /// Share of derouted packets over load, butterfly.
    Figure5,
}

/// Loads are hundredths: from here, in such steps, at most to there.
const LOADS: (u32, u32, u32) = (10, 5, 120);

/// A load is sustained up to this many times the mean lifetime at the lowest one.
const SUSTAINED: f64 = 1.25;

/// A load is steady if the packets under way grow by at most this fraction of the created ones.
const GROWTH: f64 = 0.01;

/// How far the bisection between the last load sustained and the first one not goes on, in
/// hundredths. The large torus has none: each load takes a minute.
const TOLERANCE: f64 = 2.5;

const SEED: u64 = 1;

const PATTERNS: [(&str, &str, &str); 6] = [
    ("butterfly", "butterfly", ""),
    ("transposition", "transpose-linear", ""),
    ("3d-transposition", "transpose-3d", ""),
    ("uniform", "uniform", "include_self = true"),
    ("bit-reverse", "bit-reverse", ""),
    ("bit-complement", "bit-complement", ""),
];

const ROUTINGS: [(&str, Routing); 3] = [
    ("ABR", Routing::AdaptiveBubble),
    ("POR", Routing::PICK_ORTHANT_PUBLISHED),
    ("OFR", Routing::OUTFLANK_PUBLISHED),
];

/// Table 2: pattern, then ABR, POR and OFR, each on k = 8 and 16.
const TABLE_2: [(&str, [[f64; 2]; 3]); 5] = [
    ("butterfly", [[0.30, 0.35], [0.55, 0.55], [0.60, 0.75]]),
    ("transposition", [[0.50, 0.55], [0.60, 0.70], [0.50, 0.75]]),
    ("3d-transposition", [[0.25, 0.20], [0.45, 0.40], [0.45, 0.35]]),
    ("uniform", [[0.55, 0.70], [0.70, 0.80], [0.70, 0.80]]),
    ("bit-reverse", [[0.35, 0.40], [0.60, 0.50], [0.50, 0.60]]),
];

/// The author's curves on 8x8x8 (transposition: 8x8x16), in seconds.
const PUBLISHED_CURVES: &str = include_str!("published/outflank-8x8x8.csv");

#[derive(Deserialize)]
struct PublishedPoint {
    pattern: String,
    algorithm: String,
    offered_load: f64,
    mean_lifetime_s: f64,
}

/// A simulated load.
#[derive(Clone, Debug, Serialize)]
struct Point {
    pattern: &'static str,
    routing: &'static str,
    torus: String,
    offered_load: f64,
    mean_lifetime_us: f64,
    published_mean_lifetime_us: Option<f64>,
    mean_hops: f64,
    derouted_share_outflank: f64,
    derouted_share_wraparound: f64,
    derouted_share_orthant: f64,
    packets: u64,
    digest: String,
}

/// A pattern on a torus under a routing.
#[derive(Clone, Copy)]
struct Case {
    pattern: usize,
    routing: usize,
    size: u32,
}

/// The most that a case sustains.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Throughput {
    pattern: &'static str,
    routing: &'static str,
    size: u32,
    /// On the grid of loads of \[outflank\].
    sustained_load: f64,
    published_sustained_load: Option<f64>,
    /// By bisection beyond the grid; on the small torus.
    sustained_load_bisected: Option<f64>,
    /// The highest load of the grid at which what is under way does not grow; with all loads of a
    /// curve.
    steady_load: Option<f64>,
}

/// The limits of the mean lifetime with which a pattern's and a size's published loads agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Limit {
    pattern: &'static str,
    size: u32,
    /// From this limit on all three published loads are sustained.
    from_us: f64,
    /// Below this one no load above them is.
    below_us: f64,
    /// Of the three routings, how many agree with the best single limit.
    cells_as_published: usize,
}

impl Limit {
    /// Of the lifetimes of each routing at its published load and at the next one of the grid, in
    /// microseconds.
    fn new(pattern: &'static str, size: u32, lifetimes: &[[f64; 2]]) -> Self {
        let agree = |limit: f64| {
            let agrees = |[at, next]: &&[f64; 2]| *at <= limit && limit < *next;
            lifetimes.iter().filter(agrees).count()
        };
        Self {
            pattern,
            size,
            from_us: lifetimes.iter().map(|it| it[0]).fold(0.0, f64::max),
            below_us: lifetimes.iter().map(|it| it[1]).fold(f64::INFINITY, f64::min),
            // Cells come and go with the limit at these lifetimes only.
            cells_as_published: lifetimes.iter().map(|it| agree(it[0])).max().unwrap_or(0),
        }
    }
}

/// The result of a case: the simulated and sustained points of the grid, in order, and its
/// throughput.
struct CaseResult {
    points: Vec<Point>,
    throughput: Throughput,
    /// The mean lifetimes at the published load and at the next one, in microseconds, if they were
    /// asked for.
    lifetimes: Option<[f64; 2]>,
}

/// Simulates what a result needs; a quick run on 8x8x8 alone.
pub fn outflank(result: Outflank, extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let sizes: &[u32] = match (result, extent.quick) {
        (_, true) => &[8],
        (Outflank::Table2, false) => &[16, 8],
        (_, false) => &[16],
    };
    let wanted = |case: &Case| match result {
        Outflank::Table2 => PATTERNS[case.pattern].0 != "bit-complement",
        Outflank::Table3 => {
            PATTERNS[case.pattern].0 != "bit-complement" && ROUTINGS[case.routing].0 != "ABR"
        }
        Outflank::Figure4 => true,
        Outflank::Figure5 => {
            PATTERNS[case.pattern].0 == "butterfly" && ROUTINGS[case.routing].0 != "ABR"
        }
    };
    let mut cases = Vec::new();
    for &size in sizes {
        for (pattern, routing) in
            (0..PATTERNS.len()).flat_map(|pattern| (0..ROUTINGS.len()).map(move |it| (pattern, it)))
        {
            let case = Case { pattern, routing, size };
            if wanted(&case) {
                cases.push(case);
            }
        }
    }
    let curve = matches!(result, Outflank::Figure4 | Outflank::Figure5);
    let limits = result == Outflank::Table2;
    // The longest first: large tori, and of the patterns the butterfly with its short ways last.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&place| {
        (std::cmp::Reverse(torus(cases[place]).nodes()), cases[place].pattern == 0)
    });
    let work = |&place: &usize| (place, explore(cases[place], extent, curve, limits));
    let note = |found: &(usize, CaseResult)| show::throughput_line(&found.1.throughput);
    let mut found = all(&order, extent, work, note, progress);
    found.sort_by_key(|found| found.0);
    let found: Vec<CaseResult> = found.into_iter().map(|found| found.1).collect();
    let points: Vec<Point> = found.iter().flat_map(|found| found.points.clone()).collect();
    let throughputs: Vec<Throughput> = found.iter().map(|found| found.throughput.clone()).collect();
    let limits = limits_of(&found);
    let mut tables = vec![("points", rows_text(&points)), ("throughput", rows_text(&throughputs))];
    if result == Outflank::Table2 {
        tables.push(("limits", rows_text(&limits)));
    }
    Reproduction {
        text: match result {
            Outflank::Table2 => [
                show::table_2(&throughputs),
                show::table_of_limits(&limits),
                show::gains(&throughputs, &limits),
            ]
            .join("\n"),
            Outflank::Table3 => show::table_3(&found),
            Outflank::Figure4 => show::lifetimes(&found) + "\n" + &show::table_2(&throughputs),
            Outflank::Figure5 => show::shares(&found),
        },
        tables,
        figures: match result {
            Outflank::Table2 => show::throughput_figures(&throughputs),
            Outflank::Table3 => Vec::new(),
            Outflank::Figure4 => show::lifetime_figures(&found),
            Outflank::Figure5 => vec![show::share_figure(&found)],
        },
        json: serde_json::json!({
            "points": json(&points),
            "throughput": json(&throughputs),
            "limits": json(&limits)
        }),
    }
}

fn torus(case: Case) -> Torus {
    let size = case.size;
    // A matrix needs a square number of nodes.
    let last = if PATTERNS[case.pattern].0 == "transposition" && size == 8 { 16 } else { size };
    Torus::new(&[size, size, last], &[]).expect("sizes of a torus")
}

/// Returns the settings of a simulation at a load.
fn settings(case: Case, load: f64) -> Settings {
    Settings {
        pattern: PatternSpec::new(PATTERNS[case.pattern].1, PATTERNS[case.pattern].2),
        load,
        routing: ROUTINGS[case.routing].1,
        tie: Tie::Plus,
        seed: SEED,
    }
}

/// Simulates a load; none if the lifetimes of all packets add up to more than `limit` femtoseconds.
fn measure(
    case: Case,
    torus: &Torus,
    extent: Extent<'_>,
    load: f64,
    limit: u128,
) -> Option<RunTotals> {
    let (parameters, settings) = (Parameters::FOUR_TIMES_FASTER, settings(case, load));
    extent.simulated(&format!("within {limit} {torus:?} {parameters:?} {settings:?}"), || {
        simulate_within(torus, &parameters, &settings, limit)
            .unwrap_or_else(|error| panic!("{}: {error}", PATTERNS[case.pattern].0))
    })
}

/// The curve of a case over a grid: the totals of the loads that are sustained, from the first one
/// on, and the last place up to which all loads are steady. Ends with the first load that is
/// neither.
fn curve(case: Case, torus: &Torus, extent: Extent<'_>, grid: &[f64]) -> (Vec<RunTotals>, usize) {
    let parameters = Parameters::FOUR_TIMES_FASTER;
    let (mut sustained, mut steady, mut limit) = (Vec::new(), 0, u128::MAX);
    for (place, &load) in grid.iter().enumerate() {
        let settings = settings(case, load);
        let name = format!("with growth, within {limit} {torus:?} {parameters:?} {settings:?}");
        let (totals, growth): (Option<RunTotals>, f64) = extent.simulated(&name, || {
            simulate_with_growth(torus, &parameters, &settings, limit)
                .unwrap_or_else(|error| panic!("{}: {error}", PATTERNS[case.pattern].0))
        });
        if growth <= GROWTH && steady == place {
            steady += 1;
        }
        match totals {
            Some(totals) => {
                if place == 0 {
                    limit = limit_of(&totals);
                }
                sustained.push(totals);
            }
            // From here on growth alone is asked for.
            None => limit = 0,
        }
        if sustained.len().max(steady) <= place {
            break;
        }
    }
    (sustained, steady.saturating_sub(1))
}

/// The sum of lifetimes up to which a load is sustained, of the totals at the lowest one.
fn limit_of(lowest: &RunTotals) -> u128 {
    rounded_down(SUSTAINED * lowest.lifetime_sum as f64)
}

/// Finds the highest load of the grid that is sustained, then bisects beyond it. With `whole_curve`,
/// all loads of the grid up to that one are simulated; with `limits`, the published load and the
/// next one to their end.
fn explore(case: Case, extent: Extent<'_>, whole_curve: bool, limits: bool) -> CaseResult {
    let torus = torus(case);
    let measure = |load: f64, limit: u128| measure(case, &torus, extent, load, limit);
    let published = published(case);
    let point = |load: f64, totals: &RunTotals| point(case, &torus, load, totals, &published);
    let grid: Vec<f64> =
        (LOADS.0..=LOADS.2).step_by(LOADS.1 as usize).map(|load| f64::from(load) / 100.0).collect();
    let guess = published_throughput(case).unwrap_or(grid[0]);
    let guess = grid.iter().position(|load| *load >= guess - 1e-9).unwrap_or(0);
    let whole: Vec<(usize, RunTotals)> = if limits {
        let whole = |place: usize| {
            let measured = measure(grid[place], u128::MAX);
            (place, measured.expect("there is no limit"))
        };
        (guess..=guess + 1).map(whole).collect()
    } else {
        Vec::new()
    };
    let (mut points, last, steady, limit);
    if whole_curve {
        let (sustained, steadily) = curve(case, &torus, extent, &grid);
        points = grid.iter().zip(&sustained).map(|(&load, it)| point(load, it)).collect();
        last = sustained.len() - 1;
        steady = Some(steadily);
        limit = limit_of(&sustained[0]);
    } else {
        let lowest = measure(grid[0], u128::MAX).expect("there is no limit");
        limit = limit_of(&lowest);
        points = vec![point(grid[0], &lowest)];
        last = last_that_holds(grid.len(), guess, |place| {
            let known = whole.iter().find(|known| known.0 == place).map(|known| &known.1);
            let known = known.copied().or_else(|| measure(grid[place], limit));
            let Some(measured) = known.filter(|it| it.lifetime_sum <= limit) else { return false };
            points.push(point(grid[place], &measured));
            true
        });
        steady = None;
        points.sort_by(|one, other| one.offered_load.total_cmp(&other.offered_load));
    }
    let mut bisected = grid[last];
    if let (Some(&failed), 8) = (grid.get(last + 1), case.size) {
        let mut failed = failed;
        while failed - bisected > TOLERANCE / 100.0 + 1e-9 {
            let load = f64::midpoint(bisected, failed);
            let holds = measure(load, limit).is_some();
            *if holds { &mut bisected } else { &mut failed } = load;
        }
    }
    let throughput = Throughput {
        pattern: PATTERNS[case.pattern].0,
        routing: ROUTINGS[case.routing].0,
        size: case.size,
        sustained_load: grid[last],
        published_sustained_load: published_throughput(case),
        sustained_load_bisected: (case.size == 8).then_some(bisected),
        steady_load: steady.map(|place| grid[place]),
    };
    let lifetime = |place: usize| whole[place].1.mean_lifetime() / 1e6;
    let lifetimes = limits.then(|| [lifetime(0), lifetime(1)]);
    CaseResult { points, throughput, lifetimes }
}

/// The limits of each pattern and size of which all three routings were simulated at the loads in
/// question.
fn limits_of(found: &[CaseResult]) -> Vec<Limit> {
    let mut limits = Vec::new();
    for cells in found.chunk_by(|one, next| {
        (one.throughput.pattern, one.throughput.size)
            == (next.throughput.pattern, next.throughput.size)
    }) {
        let lifetimes: Vec<[f64; 2]> = cells.iter().filter_map(|cell| cell.lifetimes).collect();
        if lifetimes.len() == ROUTINGS.len() {
            let Throughput { pattern, size, .. } = cells[0].throughput;
            limits.push(Limit::new(pattern, size, &lifetimes));
        }
    }
    limits
}

/// The published load that a case sustains.
fn published_throughput(case: Case) -> Option<f64> {
    let row = TABLE_2.iter().find(|row| row.0 == PATTERNS[case.pattern].0)?;
    Some(row.1[case.routing][usize::from(case.size == 16)])
}

/// The last of `count` places that holds, if the first one does and none does after one that
/// doesn't. Tries `guess` and its neighbours first, then places ever farther away from it.
fn last_that_holds(count: usize, guess: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high, mut stride) = (0, count, 1);
    let mut next = guess;
    while high - low > 1 {
        next = next.clamp(low + 1, high - 1);
        *if holds(next) { &mut low } else { &mut high } = next;
        next = match (low > 0, high < count) {
            (true, true) => usize::midpoint(low, high),
            (true, false) => low + stride,
            (false, _) => high.saturating_sub(stride),
        };
        stride *= 2;
    }
    low
}

fn point(
    case: Case,
    torus: &Torus,
    load: f64,
    measured: &RunTotals,
    published: &[(f64, f64)],
) -> Point {
    let share = |count: u64| count as f64 / measured.packets as f64;
    let published = published.iter().find(|(other, _)| (other - load).abs() < 1e-6);
    Point {
        pattern: PATTERNS[case.pattern].0,
        routing: ROUTINGS[case.routing].0,
        torus: flitlab_fabric::sizes_text(torus.sizes()),
        offered_load: load,
        mean_lifetime_us: measured.mean_lifetime() / 1e6,
        published_mean_lifetime_us: published.map(|(_, lifetime)| lifetime * 1e6),
        mean_hops: share(measured.hops),
        derouted_share_outflank: share(measured.outflanked),
        derouted_share_wraparound: share(measured.wrapped_around),
        derouted_share_orthant: share(measured.other_orthant),
        packets: measured.packets,
        digest: format!("{:016x}", measured.digest),
    }
}

/// The author's points of a case: load and mean lifetime in seconds.
fn published(case: Case) -> Vec<(f64, f64)> {
    if case.size != 8 {
        return Vec::new();
    }
    let name = ["Butterfly", "Transposition", "TDTrans", "Uniform", "Bitreverse", "Bitcomplement"]
        [case.pattern];
    let mut reader = csv::Reader::from_reader(PUBLISHED_CURVES.as_bytes());
    reader
        .deserialize()
        .map(|row| row.expect("the published curves are well-formed"))
        .filter(|row: &PublishedPoint| {
            row.pattern == name && row.algorithm == ROUTINGS[case.routing].0
        })
        .map(|row| (row.offered_load, row.mean_lifetime_s))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn the_published_curves_are_there_for_every_case_of_the_small_torus() {
        for (pattern, routing) in (0..6).flat_map(|pattern| (0..3).map(move |it| (pattern, it))) {
            let points = published(Case { pattern, routing, size: 8 });
            assert!(points.len() >= 11, "{pattern} {routing}");
            assert!(points.iter().all(|(load, time)| *load >= 0.1 && *time > 1e-6));
        }
    }

    #[test]
    #[ignore = "long: half a minute; a published throughput, computed again"]
    fn adaptive_bubble_sustains_of_the_butterfly_what_is_published_within_a_step_of_the_grid() {
        let case = Case { pattern: 0, routing: 0, size: 8 };
        let found = explore(case, SAMPLE, true, false);
        let Throughput { sustained_load, published_sustained_load, .. } = found.throughput;
        assert!((sustained_load - published_sustained_load.unwrap()).abs() < 0.051);
        // From 0.10 on in steps of 0.05.
        let loads = found.points.iter().map(|point| point.offered_load);
        assert!(loads.zip(2..).all(|(load, step)| (load - f64::from(step) / 20.0).abs() < 1e-9));
        let exact = |point: &Point| {
            (point.mean_lifetime_us - point.published_mean_lifetime_us.unwrap()).abs() < 1e-6
        };
        assert!(found.points.iter().all(exact));
        let steady = found.throughput.steady_load.expect("a curve has it");
        assert!((sustained_load..0.7).contains(&steady), "{steady}");
        let sparse = explore(case, SAMPLE, false, false).throughput;
        assert_eq!(Throughput { steady_load: None, ..found.throughput }, sparse);
    }

    #[test]
    fn a_limit_is_one_with_which_all_published_loads_agree() {
        let limit = Limit::new("uniform", 8, &[[3.0, 4.0], [3.5, 9.0], [2.0, 3.75]]);
        assert_eq!((limit.from_us, limit.below_us, limit.cells_as_published), (3.5, 3.75, 3));
        // Between 3.5 and 4 two cells agree, and from 5 on the third alone.
        let limit = Limit::new("uniform", 8, &[[3.0, 4.0], [3.5, 9.0], [5.0, 6.0]]);
        assert_eq!((limit.from_us, limit.below_us, limit.cells_as_published), (5.0, 4.0, 2));
    }

    #[test]
    fn the_last_that_holds_does_not_depend_on_the_guess() {
        for (last, guess) in (0..9).flat_map(|last| (0..12).map(move |guess| (last, guess))) {
            let mut tried = Vec::new();
            let found = last_that_holds(9, guess, |place| {
                tried.push(place);
                place <= last
            });
            assert_eq!(found, last, "guess {guess}");
            assert!(tried.iter().all(|place| (1..9).contains(place)) && tried.len() <= 6);
        }
    }
}
