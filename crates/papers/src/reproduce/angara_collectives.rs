//! Operations of the collective subnetwork beside the same by messages between hosts, and beside
//! what a torus allows. Nobody has published figures of Angara's, so there is nothing beside them;
//! what routers take is assumed.
//!
//! **What a torus allows.** However nodes and routers go about it, the result at one node depends
//! on the last flit of the operand of another one, `D` hops away, `D` being the sum of half the
//! torus' sizes, rounded down. A header takes at least the time of a packet of the least size over
//! `D` hops. An adapter that sends on all its injection channels at once, to a router that has `2k`
//! cables, takes at least `S f` until `f` flits have left, `S` being a flit's time on the faster of
//! the two, all channels taken together; the last flit then needs the latencies of `D` hops. The
//! later of the two is the limit, with the hosts' overheads before and behind. For a broadcast it
//! is the root that sends, for a reduction the root that receives as much. A tree has a way of up
//! to `D` hops to its root and of as many back, so an all-reduce in one tree takes twice the hops
//! of the limit.

use std::fmt::Write;

use serde::Serialize;

use super::{Extent, Progress, Reproduction, all};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Parameters, zero_load_latency};
use flitlab_fabric::sizes_text;
use flitlab_report::figure::{Figure, Scale, Series, Style, xy_figure_among};
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};

/// The torus of the curves over size: Desmos.
const DESMOS: &[u32] = &[4, 2, 2, 2];

/// The tori of the curves over nodes; a quick run takes the first three.
const TORI: [&[u32]; 7] =
    [&[2, 2], &[4, 2], &[4, 2, 2], DESMOS, &[4, 4, 4], &[8, 4, 4], &[8, 8, 8]];

/// Payloads in bytes; a quick run takes three.
const SIZES: [u64; 10] =
    [8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// The payload of the curves over nodes, of operations that have one.
const A_SIZE: u64 = 1 << 10;

/// The operations, and the algorithms of hosts: all of them for an all-reduce, the usual ones for
/// the others.
const OPERATIONS: [(&str, &[&str]); 4] = [
    ("broadcast", &["binomial", "scatter-ring"]),
    ("reduce", &["binomial", "rabenseifner"]),
    ("all-reduce", &["recursive-doubling", "ring", "rabenseifner", "reduce-broadcast"]),
    ("barrier", &["dissemination", "recursive-doubling"]),
];

/// Assumed routers, since the real ones are not published: names, and keys of `[collective]`.
const UNITS: [(&str, &str); 4] = [
    ("tree", ""),
    ("tree, 1 open operation", "open_operations = 1\n"),
    ("tree, units of 16 Gb/s", "combining_rate = \"16 Gb/s\"\n"),
    ("tree, units of 100 ns", "combining_latency = \"100 ns\"\n"),
];

/// The limit's name.
const LIMIT: &str = "limit of a torus";

/// The names of all ways, which colours follow from.
fn names() -> Vec<&'static str> {
    let of_hosts = OPERATIONS.iter().flat_map(|(_, algorithms)| algorithms.iter().copied());
    let mut names: Vec<&str> = Vec::new();
    for name in UNITS.iter().map(|unit| unit.0).chain([LIMIT]).chain(of_hosts) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

struct Case {
    sizes: &'static [u32],
    operation: &'static str,
    way: &'static str,
    bytes: u64,
    /// None of the limit.
    scenario: Option<String>,
}

/// One operation.
#[derive(Clone, Debug, Serialize)]
struct Row {
    operation: &'static str,
    torus: String,
    nodes: u32,
    bytes: u64,
    /// The tree of which routers, which algorithm of hosts, or the limit.
    way: &'static str,
    completion_us: f64,
}

/// Each operation over size and nodes.
///
/// # Panics
/// If a scenario of this module is none.
pub fn angara_collectives(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let cases = cases(extent.quick);
    let note =
        |row: &Row| format!("{} of {} B on {}, {}", row.operation, row.bytes, row.torus, row.way);
    let rows = all(&cases, extent, |case| run(case, extent), note, progress);
    let figures = OPERATIONS.iter().flat_map(|(operation, _)| {
        let over_size = (*operation != "barrier").then(|| {
            let of: Vec<&Row> = over_size(&rows, operation);
            let title =
                format!("{} torus ({} nodes), {operation}", sizes_text(DESMOS), nodes(DESMOS));
            let x = ("Payload (B)", Scale::Logarithmic);
            (format!("{operation}-size"), figure(&title, x, &of, |row| row.bytes as f64))
        });
        let title = match *operation {
            "barrier" => "Tori of 4 nodes and more, barrier".into(),
            _ => format!("Tori of 4 nodes and more, {operation} of 1 KiB"),
        };
        let of: Vec<&Row> = over_nodes(&rows, operation);
        let x = ("Nodes", Scale::Logarithmic);
        let over_nodes = figure(&title, x, &of, |row| f64::from(row.nodes));
        over_size.into_iter().chain([(format!("{operation}-nodes"), over_nodes)])
    });
    let figures = figures.collect();
    Reproduction::of_rows("completion", &rows, text(&rows), figures)
}

fn nodes(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

fn over_size<'r>(rows: &'r [Row], operation: &str) -> Vec<&'r Row> {
    let desmos = sizes_text(DESMOS);
    rows.iter().filter(|row| row.operation == operation && row.torus == desmos).collect()
}

fn over_nodes<'r>(rows: &'r [Row], operation: &str) -> Vec<&'r Row> {
    let size = if operation == "barrier" { 0 } else { A_SIZE };
    let of = rows.iter().filter(|row| row.operation == operation && row.bytes == size);
    // Other units are shown over size.
    of.filter(|row| !UNITS[1..].iter().any(|unit| unit.0 == row.way)).collect()
}

fn cases(quick: bool) -> Vec<Case> {
    let tori = if quick { &TORI[..3] } else { &TORI[..] };
    let mut cases = Vec::new();
    for (operation, algorithms) in OPERATIONS {
        let barrier = operation == "barrier";
        let (step, most) = if quick { (3, 3) } else { (1, SIZES.len()) };
        let sizes = SIZES.iter().copied().step_by(step).take(most);
        let of_desmos = sizes.filter(|&bytes| !barrier && bytes != A_SIZE);
        let of_desmos = of_desmos.map(|bytes| (DESMOS, bytes)).chain(
            // Once more on the torus that both curves share, if it is not among those over nodes.
            (quick && !barrier).then_some((DESMOS, A_SIZE)),
        );
        let of_tori = tori.iter().map(|&sizes| (sizes, if barrier { 0 } else { A_SIZE }));
        for (sizes, bytes) in of_desmos.chain(of_tori) {
            let mut add = |way, scenario| {
                cases.push(Case { sizes, operation, way, bytes, scenario });
            };
            // A broadcast combines nothing, so other units give the same result.
            let units = if operation == "broadcast" { &UNITS[..1] } else { &UNITS[..] };
            for &(name, keys) in units {
                add(name, Some(tree(sizes, operation, bytes, keys)));
            }
            for &algorithm in algorithms {
                add(algorithm, Some(software(sizes, operation, bytes, algorithm)));
            }
            add(LIMIT, None);
        }
    }
    cases
}

fn tree(sizes: &[u32], operation: &str, bytes: u64, keys: &str) -> String {
    let message = match operation {
        "barrier" => String::new(),
        _ => format!("message = \"{bytes} B\"\n"),
    };
    format!(
        "topology.torus.dimensions = {sizes:?}\n\
         [collective]\noperation = \"{operation}\"\n{message}{keys}"
    )
}

fn software(sizes: &[u32], operation: &str, bytes: u64, algorithm: &str) -> String {
    let ranks = nodes(sizes);
    let bytes = match operation {
        "barrier" => String::new(),
        _ => format!(", bytes = \"{bytes} B\""),
    };
    format!(
        "topology.torus.dimensions = {sizes:?}\n\
         [application]\n\
         schedule = {{ {operation} = {{ ranks = {ranks}{bytes}, algorithm = \"{algorithm}\" }} }}\n"
    )
}

fn run(case: &Case, extent: Extent<'_>) -> Row {
    let completion = match &case.scenario {
        None => limit(case.sizes, case.bytes, &Parameters::default()),
        Some(text) => extent.simulated(text, || {
            let document = Document::parse("angara-collectives", text);
            let scenario = Scenario::read(&document).expect("every case is a scenario");
            let simulation = Simulation::new(&scenario).expect("the scenario was checked");
            let measured = simulation.run(&mut |_| {}).found.measured;
            measured.completion_time.expect("it comes to its end")
        }),
    };
    Row {
        operation: case.operation,
        torus: sizes_text(case.sizes),
        nodes: nodes(case.sizes),
        bytes: case.bytes,
        way: case.way,
        completion_us: completion.0 as f64 / 1e6,
    }
}

/// Returns the least time of an operation; see the module.
fn limit(sizes: &[u32], bytes: u64, p: &Parameters) -> Picoseconds {
    let hops = sizes.iter().map(|size| size / 2).sum();
    // A dimension of two nodes has one cable.
    let cables: u64 = sizes.iter().map(|&size| u64::from(size.min(3) - 1)).sum();
    let flits = p.message_flits(bytes);
    let header = zero_load_latency(p, hops, narrow(flits.min(p.packet_flits(0).into())));
    let by_adapter = flits * p.injection_flit_time() / u64::from(p.injection_channels);
    let by_cables = flits * p.link_flit_time() / cables.max(1);
    let hop = p.crossbar_latency + p.link_latency;
    let behind =
        p.injection_latency + u64::from(hops) * hop + p.crossbar_latency + p.ejection_latency;
    let last_starts = by_adapter.max(by_cables).saturating_sub(p.injection_flit_time());
    p.send_overhead + header.max(last_starts + behind) + p.receive_overhead
}

fn figure(title: &str, x: (&str, Scale), rows: &[&Row], across: impl Fn(&Row) -> f64) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let place = series.iter().position(|it| it.label == row.way).unwrap_or_else(|| {
            let label = row.way.into();
            series.push(Series { label, style: Style::Curve, points: Vec::new() });
            series.len() - 1
        });
        series[place].points.push((across(row), row.completion_us));
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    xy_figure_among(&names(), title, x, ("Completion time (\u{b5}s)", Scale::Logarithmic), &series)
}

/// The payload from which on the fastest algorithm of hosts is faster than a tree, interpolated in
/// logarithms; `None` if it is nowhere.
fn crossover(rows: &[&Row], algorithms: &[&str], tree: &str) -> Option<f64> {
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let time = |bytes: u64, ways: &[&str]| {
        let of = rows.iter().filter(|row| row.bytes == bytes && ways.contains(&row.way));
        of.map(|row| row.completion_us).fold(f64::INFINITY, f64::min)
    };
    let ahead = |&bytes: &u64| (time(bytes, algorithms) / time(bytes, &[tree])).ln();
    let place = sizes.iter().position(|bytes| ahead(bytes) < 0.0)?;
    let at = (sizes[place] as f64).ln();
    let Some(before) = place.checked_sub(1).map(|before| sizes[before]) else {
        return Some(at.exp());
    };
    let (from, to) = (ahead(&before), ahead(&sizes[place]));
    let start = (before as f64).ln();
    Some((start + (at - start) * from / (from - to)).exp())
}

fn text(rows: &[Row]) -> String {
    let mut text = String::from("completion in us\n");
    for (operation, algorithms) in OPERATIONS {
        let of: Vec<&Row> = over_size(rows, operation);
        let mut sizes: Vec<u64> = of.iter().map(|row| row.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let ways =
            || UNITS.iter().map(|unit| unit.0).chain(algorithms.iter().copied()).chain([LIMIT]);
        let _ = writeln!(text, "\n{operation}, {}", sizes_text(DESMOS));
        for way in ways().filter(|way| of.iter().any(|row| row.way == *way)) {
            let _ = write!(text, "{way:<24}");
            for &bytes in &sizes {
                let row = of.iter().find(|row| row.bytes == bytes && row.way == way);
                let cell = row.map_or("-".into(), |row| format!("{:.2}", row.completion_us));
                let _ = write!(text, "{cell:>9}");
            }
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "{:<24}{}",
            "payload in bytes",
            sizes.iter().map(|it| format!("{it:>9}")).collect::<String>()
        );
        for (unit, _) in UNITS
            .iter()
            .filter(|unit| operation != "barrier" && of.iter().any(|row| row.way == unit.0))
        {
            let _ = match crossover(&of, algorithms, unit) {
                Some(bytes) => writeln!(text, "{unit}: hosts are faster from {bytes:.0} B on"),
                None => writeln!(text, "{unit}: hosts are faster at no size"),
            };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn no_operation_is_faster_than_the_limit_and_small_ones_are_faster_in_a_tree() {
        let found = angara_collectives(SAMPLE, &mut |_, _, _| {});
        let rows = found.json.as_array().unwrap();
        let time = |row: &serde_json::Value| row["completion_us"].as_f64().unwrap();
        let same = |a: &serde_json::Value, b: &serde_json::Value| {
            ["operation", "torus", "bytes"].iter().all(|key| a[key] == b[key])
        };
        let of = |row: &serde_json::Value, way: &str| {
            rows.iter().find(|other| same(row, other) && other["way"] == way).map(time).unwrap()
        };
        for row in rows {
            assert!(time(row) >= of(row, LIMIT), "{row}");
            let algorithm =
                !row["way"].as_str().unwrap().starts_with("tree") && row["way"] != LIMIT;
            if algorithm && row["bytes"].as_u64().unwrap() <= A_SIZE && row["nodes"] != 4 {
                assert!(time(row) > of(row, "tree"), "{row}");
            }
        }
        assert!(found.text.contains("hosts are faster"));
    }

    #[test]
    fn a_crossover_lies_between_the_sizes_at_which_the_order_changes() {
        let row = |way, bytes, completion_us| Row {
            operation: "reduce",
            torus: "2x2".into(),
            nodes: 4,
            bytes,
            way,
            completion_us,
        };
        let rows = [row("tree", 8, 1.0), row("a", 8, 2.0), row("tree", 32, 4.0), row("a", 32, 2.0)];
        let rows: Vec<&Row> = rows.iter().collect();
        assert!((crossover(&rows, &["a"], "tree").unwrap() - 16.0).abs() < 1e-9);
        assert_eq!(crossover(&rows, &["a"], "a"), None);
    }
}
