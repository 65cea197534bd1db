//! `--json`: one object a command, and every key of it on the page that describes them (REVIEW C7).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use flitlab::report::{
    ActivityRow, AlgorithmRow, BarRow, ChannelRow, Column, DigestRow, FailureRow, FlowRow, Label,
    LatencyRow, LoadRow, MessageRow, PacketRow, PairRow, PathChannelRow, PathRow, PhaseRow,
    PointRow, RankPhaseRow, Row as _, SlowdownRow, Sustained, WindowRow, WorkloadRow,
};
use serde_json::Value;

use crate::common::workplace::Workplace;

const SMALL: &str = "[topology.torus]\ndimensions = [3, 3]\n[traffic]\npattern = \"uniform\"\nload = 0.2\n[measure]\n\
                     window = \"2 us\"\nwarm_up_windows = 4\nmaximum_windows = 10\n";
const SWEEP: &str = "[sweep.grid]\ntraffic.load = [0.1, 0.2]\n";

/// The part of the page under a heading.
fn part<'p>(page: &'p str, heading: &str) -> &'p str {
    let mut parts = page.split("\n## ");
    parts.find(|part| part.lines().next() == Some(heading)).unwrap_or_else(|| panic!("{heading}"))
}

/// All keys of an object and of what is in it.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.push(key.clone());
                keys(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")
}

/// A table of columns; those that follow each other and mean the same share a line.
fn table<R>(text: &mut String, heading: &str, columns: &[Column<R>]) {
    write!(text, "\n### {heading}\n\n| column | unit | meaning |\n|---|---|---|\n").unwrap();
    for same in columns.chunk_by(|a, b| (a.meaning(), a.unit) == (b.meaning(), b.unit)) {
        let names: Vec<String> = same.iter().map(|column| format!("`{}`", column.name)).collect();
        let (unit, meaning) = (same[0].unit, same[0].meaning());
        writeln!(text, "| {} | {unit} | {meaning} |", names.join(", ")).unwrap();
    }
}

#[test]
fn the_columns_of_rows_are_those_in_docs_json() {
    let mut rows = String::new();
    table(&mut rows, "A label, before each row of the files of a run or sweep", Label::COLUMNS);
    rows += "\n`channels.csv`, `latencies.csv`, `windows.csv` and `workloads.csv` have `series`, \
             `point` and `repetition`\nonly: the rest of the label is in `points.csv`.\n";
    table(&mut rows, "points.csv", PointRow::COLUMNS);
    table(&mut rows, "channels.csv", ChannelRow::COLUMNS);
    table(&mut rows, "latencies.csv", LatencyRow::COLUMNS);
    table(&mut rows, "windows.csv", WindowRow::COLUMNS);
    let own = PointRow::COLUMNS[0].name;
    let own = WorkloadRow::columns().iter().take_while(|column| column.name != own).count();
    table(&mut rows, "workloads.csv, of several workloads", &WorkloadRow::columns()[..own]);
    rows += "\nThen it has the columns of `points.csv`, `events` excepted, in which one of the \
             workloads has a value:\neach is of that workload alone.\n";
    table(&mut rows, "slowdowns.csv, of `measure.slowdowns`", SlowdownRow::COLUMNS);
    table(&mut rows, "failures.csv, of several failures in a run", FailureRow::COLUMNS);
    table(&mut rows, "pairs.csv, of `measure.latency_by`", PairRow::COLUMNS);
    table(&mut rows, "saturation.csv", Sustained::COLUMNS);
    table(&mut rows, "loads.csv, of `flitlab route --out`", LoadRow::COLUMNS);
    table(&mut rows, "algorithms.csv, of `flitlab route --compare --out`", AlgorithmRow::COLUMNS);
    table(&mut rows, "ranks.csv and activity.csv, of applications", ActivityRow::COLUMNS);
    table(&mut rows, "timeline.csv, of applications", BarRow::COLUMNS);
    table(&mut rows, "path.csv, of applications", PathRow::COLUMNS);
    table(&mut rows, "phases.csv, of applications", PhaseRow::COLUMNS);
    table(&mut rows, "rank_phases.csv, of applications", RankPhaseRow::COLUMNS);
    table(&mut rows, "path_channels.csv, of `flitlab run --trace-path`", PathChannelRow::COLUMNS);
    table(&mut rows, "flows.csv, of the flows of a trace", FlowRow::COLUMNS);
    table(&mut rows, "The file of `flitlab run --log`", DigestRow::COLUMNS);
    table(&mut rows, "The file of `flitlab run --log-packets`", PacketRow::COLUMNS);
    table(&mut rows, "The file of `flitlab run --log-messages`", MessageRow::COLUMNS);
    rows += "\nWhere there are several workloads, the last two files have a column `workload` before \
             these, with\nthe name of the row's.\n";
    let kept = fs::read_to_string(page()).unwrap();
    let (before, rest) = kept.split_once("<!-- rows: ").unwrap();
    let (mark, rest) = rest.split_once(" -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of rows -->").unwrap();
    let generated = format!("{before}<!-- rows: {mark} -->\n{rows}\n<!-- end of rows -->{after}");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(page(), &generated).unwrap();
    }
    assert_eq!(fs::read_to_string(page()).unwrap(), generated);
}

#[test]
fn docs_json_names_every_key_that_is_printed() {
    let place = Workplace::new("json_keys");
    place.write("a.toml", SMALL);
    place.write("sweep.toml", &format!("{SMALL}{SWEEP}"));
    let tree = "[topology.tree]\narity = 2\nlevels = 2\n";
    let exchange = "[exchange]\npattern = \"all-to-all\"\nmessage = \"64 B\"\n";
    place.write("tree.toml", &format!("{tree}{exchange}"));
    let page = fs::read_to_string(page()).unwrap();
    // In the first lines of `sweep` and `run` parts of `check` come again.
    let of_check = part(&page, "check");
    for (heading, call) in [
        ("plot, report, init", &["init", "b.toml", "--defaults"][..]),
        ("check", &["check", "a.toml"]),
        ("check", &["check", "sweep.toml"]),
        ("check", &["check", "tree.toml"]),
        ("run and sweep", &["run", "a.toml", "--out", "a"]),
        ("run and sweep", &["run", "tree.toml", "--out", "tree"]),
        ("run and sweep", &["sweep", "sweep.toml", "--out", "s"]),
        (
            "run and sweep",
            &["sweep", "a.toml", "--out", "t", "--set", "sweep.saturation={ tolerance = 0.3 }"],
        ),
        ("sweep --dry-run", &["sweep", "sweep.toml", "--dry-run"]),
        ("route", &["route", "a.toml"]),
        ("route", &["route", "tree.toml"]),
        ("route", &["route", "tree.toml", "--compare"]),
        ("failures", &["failures", "a.toml", "--systems", "2", "--most", "1"]),
        ("compare", &["compare", "s", "s"]),
        ("plot, report, init", &["plot", "s", "--only", "accepted", "--out", "f"]),
        ("plot, report, init", &["report", "s"]),
        ("reproduce", &["reproduce", "angara-table2"]),
        ("verify", &["verify", "s"]),
    ] {
        let arguments: Vec<&str> = call.iter().copied().chain(["--json"]).collect();
        let printed = place.json(&arguments);
        assert!(printed.is_object(), "{arguments:?}: {printed}");
        let mut found = Vec::new();
        match heading {
            // Rows have the columns of files as keys.
            "reproduce" => found.extend(printed.as_object().unwrap().keys().cloned()),
            _ => keys(&printed, &mut found),
        }
        let text = part(&page, heading);
        // The keys of settings are those of scenarios.
        for key in found.into_iter().filter(|key| !key.contains('.')) {
            let named = format!("`{key}`");
            let again = heading == "run and sweep" && of_check.contains(&named);
            assert!(text.contains(&named) || again, "{arguments:?}: docs/json.md lacks {key}");
        }
    }
}

#[test]
fn errors_are_text_on_standard_error_with_json_too() {
    let place = Workplace::new("json_errors");
    for call in [&["check", "none.toml", "--json"][..], &["plot", "none", "--json"]] {
        let output = place.flitlab(call);
        assert_eq!(output.status.code(), Some(2), "{call:?}");
        assert!(output.stdout.is_empty() && output.stderr.starts_with(b"error: "), "{call:?}");
    }
}
