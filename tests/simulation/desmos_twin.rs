//! The twin of Desmos: its tables are what its script makes of the kept points, its page shows
//! them, and its points are what flitlab gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::workplace::{Workplace, scenario};

const SWEEPS: [&str; 5] = ["twin", "all-to-all", "patterns", "npb", "hosts"];

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results/desmos-twin")
}

fn with_points(name: &str) -> Workplace {
    let place = Workplace::new(name);
    for sweep in SWEEPS {
        fs::create_dir(place.0.join(sweep)).unwrap();
        let file = Path::new(sweep).join("points.csv");
        fs::copy(kept().join(&file), place.0.join(&file)).unwrap();
    }
    place
}

fn script(table: &str, place: &Workplace) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/desmos-twin.sh");
    Command::new("sh").arg(script).arg(table).arg(&place.0).output().unwrap()
}

#[test]
fn the_page_shows_the_tables_that_the_script_makes_of_the_points() {
    let place = with_points("desmos-twin");
    let page = fs::read_to_string(kept().join("README.md")).unwrap();
    for (table, least) in [("figures", 40), ("sensitivity", 80), ("hosts", 10)] {
        let output = script(table, &place);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{table}: {errors}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<&str> = printed.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.len() > least, "{table}: {printed}");
        for row in rows {
            assert!(page.lines().any(|line| line == row), "{table}: the page lacks {row}");
        }
        let file = format!("{table}.csv");
        if table == "hosts" {
            continue; // its rows are on the page alone
        }
        assert_eq!(fs::read_to_string(kept().join(&file)).unwrap(), place.read(&file), "{file}");
    }
}

#[test]
fn points_that_are_missing_or_of_another_kind_make_no_table() {
    let place = with_points("desmos-twin-wrong");
    fs::remove_file(place.0.join("npb/points.csv")).unwrap();
    for (wrong, said) in [
        (None, "npb/points.csv is missing"),
        (Some("series,load\na,0.1\n"), "no points of a sweep of scenarios/desmos"),
        (
            Some(
                "series,routing.angara.algorithm,status,completion_time_us\n\"lu, bfs\",bfs,deadlock,\n",
            ),
            "lu, bfs is not completed",
        ),
    ] {
        if let Some(wrong) = wrong {
            place.write("npb/points.csv", wrong);
        }
        let output = script("sensitivity", &place);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
}

#[test]
fn the_points_of_the_twin_are_what_a_run_gives() {
    let place = Workplace::new("desmos-twin-points");
    for (name, sweep, series) in [
        ("desmos-twin", "twin", "ping, bfs"),
        ("desmos-sensitivity-patterns", "patterns", "as assumed, tornado.goal, bfs"),
    ] {
        let mut points = csv::Reader::from_path(kept().join(sweep).join("points.csv")).unwrap();
        let kept = points
            .deserialize()
            .map(Result::unwrap)
            .find(|point: &std::collections::BTreeMap<String, String>| point["series"] == series);
        let kept: f64 = kept.unwrap()["completion_time_us"].parse().unwrap();
        let path = scenario(&format!("desmos/{name}"));
        let ours = place.json(&["run", &path, "--json", "--out", name]);
        assert_eq!(ours["points"][0]["completion_time_us"].as_f64(), Some(kept), "{series}");
    }
}
