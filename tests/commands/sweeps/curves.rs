//! Sweeps whose curves find their loads.

use std::fs;

use crate::common::slice::is_in_slice;
use crate::common::workplace::Workplace;

/// Two curves of two seeds.
pub const AUTOMATIC: &str = "\
[topology.torus]
dimensions = [4, 4]

[traffic]
pattern = \"uniform\"

[measure]
window = \"2 us\"
maximum_windows = 40

[sweep]
repetitions = 2

[sweep.grid]
traffic.pattern = [\"uniform\", \"tornado\"]
traffic.load = \"auto\"
";

/// A point of points.csv.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    series: String,
    load: f64,
    status: String,
    latency: Option<f64>,
}

fn rows(place: &Workplace, folder: &str) -> Vec<Row> {
    let text = place.read(&format!("{folder}/points.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|it| it == name).unwrap();
    let [series, load, status, latency] =
        ["series", "offered_load", "status", "packet_latency_mean_ns"].map(at);
    let row = |row: csv::StringRecord| Row {
        series: row[series].into(),
        load: row[load].parse().unwrap(),
        status: row[status].into(),
        latency: row[latency].parse().ok(),
    };
    reader.records().map(|it| row(it.unwrap())).collect()
}

/// The loads of a series, and whether all of their points are steady.
fn loads(rows: &[Row], series: &str) -> Vec<(f64, bool)> {
    let own: Vec<&Row> = rows.iter().filter(|row| row.series == series).collect();
    let of_load = own.chunk_by(|a, b| a.load == b.load);
    of_load.map(|row| (row[0].load, row.iter().all(|it| it.status == "steady"))).collect()
}

/// The highest load that is steady, and the next one.
fn knee(loads: &[(f64, bool)]) -> (f64, f64) {
    let highest = loads.iter().rposition(|(_, steady)| *steady).expect("one is steady");
    (loads[highest].0, loads.get(highest + 1).expect("one is past saturation").0)
}

#[test]
fn a_curve_ends_on_both_sides_of_its_knee_and_is_the_same_on_any_number_of_threads() {
    let place = Workplace::new("curves");
    place.write("a.toml", AUTOMATIC);
    let said = place.run(&["sweep", "a.toml", "--out", "one", "--threads", "1"]);
    assert!(said.contains("a: 4x4 torus, 16 nodes, seed 1: 4 curves\n"), "{said}");
    let rows = rows(&place, "one");
    for series in ["uniform", "tornado"] {
        let loads = loads(&rows, series);
        assert!(loads.is_sorted_by(|a, b| a.0 < b.0), "{loads:?}");
        let (sustained, failed) = knee(&loads);
        assert!(failed - sustained <= 0.01 * failed + 1e-9, "{loads:?}");
        assert!((9..30).contains(&loads.len()), "{loads:?}");
        let ends =
            |row: &&Row| row.series == series && row.load == failed && row.status != "steady";
        let end = match rows.iter().find(ends).expect("a seed ends the curve").status.as_str() {
            "undecided" => format!("and {failed:.4} is undecided"),
            _ => format!("not {failed:.4}"),
        };
        let told = format!("  {series}: sustains load {sustained:.4}, {end}; ");
        assert!(said.contains(&told), "{told}{said}");
        // Two seeds of each load of the curve; past the knee as far as the first that is not steady.
        let own: Vec<&Row> = rows.iter().filter(|row| row.series == series).collect();
        for seeds in own.chunk_by(|a, b| a.load == b.load) {
            let steady = seeds.iter().position(|it| it.status != "steady").unwrap_or(2);
            let seen = if seeds[0].load > sustained { steady + 1 } else { 2 };
            assert_eq!(seeds.len(), seen, "{seeds:?}");
        }
    }
    // Each number once, in the order of rows.
    let points = place.read("one/points.csv");
    let mut reader = csv::Reader::from_reader(points.as_bytes());
    let at = reader.headers().unwrap().iter().position(|it| it == "point").unwrap();
    let numbers = reader.records().map(|row| row.unwrap()[at].parse::<usize>().unwrap());
    assert!(numbers.eq(0..rows.len()), "{points}");

    place.run(&["sweep", "a.toml", "--out", "many", "--threads", "5"]);
    place.assert_same("one", "many");
}

#[test]
fn a_curve_goes_on_where_it_was_ended() {
    let place = Workplace::new("curves_resumed");
    place.write("a.toml", AUTOMATIC);
    place.run(&["sweep", "a.toml", "--out", "whole"]);
    place.run(&["sweep", "a.toml", "--out", "part"]);
    // Every third of its points was not there yet when it was ended.
    fs::remove_file(place.0.join("part/summary.json")).unwrap();
    let mut kept: Vec<_> = fs::read_dir(place.0.join("part/points"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "point"))
        .collect();
    kept.sort();
    assert!(kept.len() > 20, "{kept:?}");
    kept.iter().step_by(3).for_each(|path| fs::remove_file(path).unwrap());
    let left = kept.len() - kept.len().div_ceil(3);
    let said = place.run(&["sweep", "a.toml", "--out", "part", "--resume"]);
    assert!(said.contains(&format!("{left} points were there already\n")), "{said}");
    place.assert_same("whole", "part");
}

#[test]
fn the_resolved_sweep_draws_the_same_curves() {
    let place = Workplace::new("curves_resolved");
    place.write("a.toml", AUTOMATIC);
    let precision = ["--set", "sweep.precision={ load = 0.05, latency = 0.5 }"];
    let sweep = ["sweep", "a.toml", "--out", "coarse"];
    place.run(&[&sweep[..], &precision].concat());
    let few = loads(&rows(&place, "coarse"), "uniform");
    let (sustained, failed) = knee(&few);
    assert!((0.01..0.05 + 1e-9).contains(&((failed - sustained) / failed)), "{few:?}");
    place.run(&["sweep", "coarse/scenario.toml", "--out", "again"]);
    place.assert_same("coarse", "again");
}

#[test]
fn a_starter_draws_a_curve_that_finds_its_loads() {
    let place = Workplace::new("curves_init");
    place.run(&["init", "first.toml"]);
    assert!(place.read("first.toml").contains("[sweep.grid]\n\ntraffic.load = \"auto\"\n"));
    let smaller = ["--set", "topology.torus.dimensions=[4,4]", "--out", "r"];
    place.run(&[&["sweep", "first.toml"][..], &smaller].concat());
    knee(&loads(&rows(&place, "r"), ""));
}

/// Six networks. Between loads that are steady and those that are not some are undecided; where that
/// gap is wider than the precision, more windows than usual make it narrow.
const SIX: [(&str, &str); 6] = [
    ("torus", "[topology.torus]\ndimensions = [8, 8, 8]\n[traffic]\npattern = \"uniform\"\n"),
    ("tornado", "[topology.torus]\ndimensions = [16, 16]\n[traffic]\npattern = \"tornado\"\n"),
    (
        "tree",
        "[topology.tree]\narity = 12\nlevels = 2\n[traffic]\npattern = \"uniform\"\nmessage = \"2 KiB\"\n[measure]\nmaximum_windows = 400\n",
    ),
    (
        "dragonfly",
        "[topology.dragonfly]\ngroups = 19\ngroup_size = 6\nglobal_cables = 3\nterminals = 3\n[routing]\n\
         rule = \"ugal\"\n[traffic]\npattern = { group-shift = { by = 1 } }\nmessage = \"2 KiB\"\n[measure]\nmaximum_windows = 400\n",
    ),
    (
        "hyperx",
        "[topology.hyperx]\ndimensions = [6, 6]\nterminals = 6\n[routing]\nrule = \"omniwar\"\n[traffic]\n\
         pattern = \"uniform\"\nmessage = \"2 KiB\"\n",
    ),
    (
        "mesh",
        "[topology.torus]\ndimensions = [16, 16]\nopen = [\"x\", \"y\"]\n[router]\npreset = \"noc-mesh\"\n\
         [traffic]\npattern = \"transpose\"\nmessage = \"64 B\"\n",
    ),
];

#[test]
#[ignore = "long: 20 minutes; six networks, by slices"]
fn saturation_is_that_of_a_fine_grid_with_a_third_of_its_points() {
    let place = Workplace::new("curves_six");
    for (name, text) in (0..).zip(SIX).filter(|it| is_in_slice(it.0)).map(|it| it.1) {
        let file = format!("{name}.toml");
        place.write(&file, &format!("{text}[sweep.grid]\ntraffic.load = \"auto\"\n"));
        place.run(&["sweep", &file, "--out", name, "--no-figures"]);
        let found = loads(&rows(&place, name), "");
        let (sustained, _) = knee(&found);
        // A hundred loads up to the knee, and some past it; the lowest tell nothing of the knee.
        let step = (sustained * 1e4).round() / 1e6;
        let grid = format!(
            "{text}[sweep.grid]\ntraffic.load = {{ from = {:.6}, to = {:.6}, step = {step} }}\n",
            85.0 * step,
            105.5 * step
        );
        let fine = format!("{name}-fine");
        place.write(&format!("{fine}.toml"), &grid);
        place.run(&["sweep", &format!("{fine}.toml"), "--out", &fine, "--no-figures"]);
        let grid = loads(&rows(&place, &fine), "");
        let (of_grid, _) = knee(&grid);
        println!("{name}: {sustained} by {} loads, {of_grid} by {}", found.len(), 84 + grid.len());
        // One step, which is rounded.
        assert!((of_grid / sustained - 1.0).abs() <= 0.0101, "{name}: {sustained} {of_grid}");
        assert!(3 * found.len() <= 84 + grid.len(), "{name}: {found:?}");
        // A straight line between neighbours is as near to the fine grid's points as was asked for,
        // apart from chance.
        let latency = |rows: &[Row], load: f64| {
            let near = rows.iter().filter(|row| row.status == "steady");
            near.filter(|row| (row.load - load).abs() < 1e-9).find_map(|row| row.latency)
        };
        let (found_rows, grid_rows) = (rows(&place, name), rows(&place, &fine));
        for two in found.windows(2).filter(|two| two[1].1 && two[1].0 - two[0].0 > 0.02 * sustained)
        {
            let [low, high] = [two[0].0, two[1].0].map(|load| latency(&found_rows, load).unwrap());
            for (load, _) in grid.iter().filter(|it| two[0].0 < it.0 && it.0 < two[1].0) {
                let Some(own) = latency(&grid_rows, *load) else { continue };
                let line = low + (high - low) * (load - two[0].0) / (two[1].0 - two[0].0);
                assert!((line / own - 1.0).abs() < 0.1, "{name} at {load}: {line} {own}");
            }
        }
    }
}
