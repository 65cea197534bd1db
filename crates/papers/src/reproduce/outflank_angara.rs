//! The comparison of \[outflank\] on the Angara router, with credits and virtual cut-through, and
//! in four dimensions too. Nobody has published it, so there is nothing beside it.
//!
//! Traffic is what the rest of flitlab uses: single packets, created at random times. With it the
//! butterfly's messages mix, so that it loads the network evenly; in the paper's bursts all nodes
//! invert the same bit at once.

use serde::Serialize;

use super::{Extent, Progress, Reproduction, all, json};
use flitlab_base::narrow::narrow;
use flitlab_report::figure::latency_figure_among;
use flitlab_report::{Label, Labels, Point, PointRow, Status, labelled_text, rows_text};
use flitlab_scenario::simulation::{SetupError, Simulation};
use flitlab_scenario::{Document, Scenario};
use flitlab_sweep::search_saturation;

/// Tori; a quick run takes the first one.
const TORI: [&[u32]; 4] = [&[8, 8, 8], &[16, 8, 8], &[4, 4, 4, 4], &[8, 4, 4, 4]];

const PATTERNS: [&str; 7] = [
    "uniform",
    "butterfly",
    "bit-reverse",
    "bit-complement",
    "tornado",
    "transpose-3d",
    "transpose-linear",
];

/// Names, and how they are written; a quick run takes the first three.
const ROUTINGS: [(&str, &str); 7] = [
    ("ABR", "adaptive = {}"),
    ("POR", "pick_orthant = {}"),
    ("OFR", "outflank = {}"),
    ("GOAL", "pick_orthant = { rule = \"goal\" }"),
    ("CQR", "pick_orthant = { rule = \"cqr\" }"),
    ("ABR, injection bubble", "adaptive = { injection_bubble = 1 }"),
    ("direction order", "direction_order = {}"),
];

/// Loads of the curves, up to the highest sustained one.
const LOADS: [f64; 9] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/// How far the highest sustained load is looked for.
const TOLERANCE: f64 = 0.02;

/// At which load shares of derouted packets are compared.
const LOW_LOAD: f64 = 0.1;

#[derive(Clone, Debug)]
struct Case {
    torus: String,
    pattern: &'static str,
    routing: &'static str,
    /// As it is written, and read.
    text: String,
    scenario: Scenario,
}

/// The result of a case.
#[derive(Clone, Debug, Serialize)]
struct Row {
    torus: String,
    pattern: &'static str,
    routing: &'static str,
    sustained_load: f64,
    lowest_load_not_sustained: Option<f64>,
    latency_at_load_0_1_ns: Option<f64>,
    derouted_at_load_0_1: Option<f64>,
    /// At the highest load that was simulated and sustained.
    derouted_at_sustained_load: Option<f64>,
}

struct CaseResult {
    row: Row,
    points: Vec<Point>,
}

/// Finds the highest sustained load of each routing, and its curve up to there.
///
/// # Panics
/// If a scenario of this module is none.
pub fn outflank_angara(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let cases = cases(extent.quick);
    let found =
        all(&cases, extent, |case| explore(case, extent), |found| line(&found.row), progress);
    let rows: Vec<Row> = found.iter().map(|found| found.row.clone()).collect();
    let points: Vec<Point> = found.iter().flat_map(|found| found.points.clone()).collect();
    let mut figures = Vec::new();
    let names = ROUTINGS.map(|routing| routing.0);
    for of_pattern in
        found.chunk_by(|a, b| (&a.row.torus, a.row.pattern) == (&b.row.torus, b.row.pattern))
    {
        let Row { torus, pattern, .. } = &of_pattern[0].row;
        let curves = of_pattern.iter().flat_map(|found| {
            let label = Label { series: found.row.routing.into(), ..Label::default() };
            found.points.iter().map(move |point| Point { label: label.clone(), ..point.clone() })
        });
        let curves: Vec<Point> = curves.collect();
        let title = format!("{torus} torus, {pattern}, Angara router");
        figures.push((format!("{torus}-{pattern}"), latency_figure_among(&names, &curves, &title)));
    }
    let labelled = points.iter().map(|point| (&point.label, &point.measured));
    let points_text = labelled_text(&Labels::All(Vec::new()), labelled);
    Reproduction {
        text: table(&rows),
        tables: vec![("throughput", rows_text(&rows)), ("points", points_text)],
        figures,
        json: serde_json::json!({ "throughput": json(&rows), "points": json(&points) }),
    }
}

/// All cases whose pattern suits their torus, patterns together.
fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for sizes in if quick { &TORI[..1] } else { &TORI[..] } {
        for pattern in PATTERNS {
            for (routing, written) in if quick { &ROUTINGS[..3] } else { &ROUTINGS[..] } {
                let text = scenario(sizes, pattern, written);
                // Not every pattern is defined on every torus.
                let document = Document::parse("outflank-angara", &text);
                let Ok(scenario) = Scenario::read(&document) else { continue };
                let torus = flitlab_fabric::sizes_text(sizes);
                cases.push(Case { torus, pattern, routing, text, scenario });
            }
        }
    }
    cases
}

fn scenario(sizes: &[u32], pattern: &str, routing: &str) -> String {
    format!(
        "routing = {{ {routing} }}\n\
         topology.torus.dimensions = {sizes:?}\n\
         traffic = {{ pattern = \"{pattern}\", load = 0.1 }}\n\
         measure = {{ warm_up_windows = 20, maximum_windows = 20 }}\n"
    )
}

fn explore(case: &Case, extent: Extent<'_>) -> CaseResult {
    const CHECKED: &str = "the scenario was checked";
    let mut points: Vec<Point> = Vec::new();
    let series = format!("{}, {}, {}", case.torus, case.pattern, case.routing);
    let mut is_sustained = |load: f64| -> Result<bool, SetupError> {
        let measured: PointRow = extent.simulated(&format!("{}at load {load}", case.text), || {
            let scenario = case.scenario.at_load(load);
            let simulation = Simulation::new(&scenario).expect(CHECKED);
            simulation.run(&mut |_| {}).found.measured
        });
        let (series, seed) = (series.clone(), case.scenario.seed);
        let label = Label { series, seed, point: narrow(points.len()), ..Label::default() };
        let sustained = measured.status == Status::Steady;
        points.push(Point { label, measured, ..Point::default() });
        Ok(sustained)
    };
    let found = search_saturation(&case.scenario, TOLERANCE, &mut is_sustained).expect(CHECKED);
    for load in LOADS.into_iter().filter(|&load| load < found.sustained) {
        is_sustained(load).expect(CHECKED);
    }
    points.retain(|point| point.measured.status == Status::Steady);
    points.sort_by(|a, b| load(a).total_cmp(&load(b)));
    let low = points.iter().find(|point| load(point) >= LOW_LOAD - 1e-9);
    let low = low.map(|point| &point.measured);
    let derouted = |row: &PointRow| {
        let kinds = [row.derouted_outflank, row.derouted_wraparound, row.derouted_orthant];
        kinds.iter().any(Option::is_some).then(|| kinds.iter().flatten().sum())
    };
    let row = Row {
        torus: case.torus.clone(),
        pattern: case.pattern,
        routing: case.routing,
        sustained_load: found.sustained,
        lowest_load_not_sustained: found.failed,
        latency_at_load_0_1_ns: low
            .and_then(|row| row.packet_latency_mean)
            .map(|latency| latency.0 as f64 / 1e3),
        derouted_at_load_0_1: low.and_then(derouted),
        derouted_at_sustained_load: points.last().and_then(|point| derouted(&point.measured)),
    };
    CaseResult { row, points }
}

fn load(point: &Point) -> f64 {
    point.measured.offered_load.unwrap_or(0.0)
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<10}{:<18}{:<23}{:>10}{:>14}{:>18}\n{:<10}{:<18}{:<23}{:>10}{:>14}{:>10}{:>8}\n",
        "torus",
        "pattern",
        "routing",
        "sustained",
        "latency (ns)",
        "derouted at load",
        "",
        "",
        "",
        "load",
        "at load 0.1",
        "0.1",
        "most"
    );
    text.extend(rows.iter().map(line));
    text
}

fn line(row: &Row) -> String {
    let percent =
        |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.1}%", 100.0 * share));
    format!(
        "{:<10}{:<18}{:<23}{:>10.3}{:>14}{:>10}{:>8}\n",
        row.torus,
        row.pattern,
        row.routing,
        row.sustained_load,
        row.latency_at_load_0_1_ns.map_or("-".into(), |latency| format!("{latency:.1}")),
        percent(row.derouted_at_load_0_1),
        percent(row.derouted_at_sustained_load)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn the_quick_comparison_has_three_routings_under_every_pattern_of_the_torus() {
        let cases = cases(true);
        // 512 nodes are no square number, so one pattern is undefined.
        assert_eq!(cases.len(), 3 * (PATTERNS.len() - 1));
        assert!(cases.iter().all(|case| case.pattern != "transpose-linear"));
    }

    #[test]
    fn a_small_torus_gives_a_curve_up_to_the_highest_sustained_load() {
        let text = scenario(&[4, 4], "tornado", "outflank = {}");
        let scenario = Scenario::read(&Document::parse("outflank-angara", &text)).unwrap();
        let (torus, pattern, routing) = ("4x4".into(), "tornado", "OFR");
        let CaseResult { row, points } =
            explore(&Case { torus, pattern, routing, text, scenario }, SAMPLE);
        assert!(row.sustained_load > 0.2, "{row:?}");
        assert!(row.derouted_at_load_0_1.is_some_and(|share| (0.0..1.0).contains(&share)));
        let loads: Vec<f64> = points.iter().map(load).collect();
        assert!(loads.is_sorted() && loads.contains(&0.1));
        assert!((loads.last().unwrap() - row.sustained_load).abs() < 1e-9);
    }
}
