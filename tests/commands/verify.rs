//! Finished results, computed again.

use serde_json::Value;

use crate::common::workplace::Workplace;

/// Points with small seeds that a moment computes.
const SMALL: &str = "\
[topology.torus]
dimensions = [4, 4]

[traffic]
pattern = \"uniform\"
load = 0.1

[measure]
window = \"1 us\"
maximum_windows = 20
";

fn sweep(place: &Workplace, name: &str, rest: &str) {
    let file = format!("{}.toml", name.replace('/', "-"));
    place.write(&file, &format!("{SMALL}\n{rest}"));
    place.run(&["sweep", &file, "--out", name, "--no-figures"]);
}

const GRID: &str = "[sweep]\nrepetitions = 2\n[sweep.grid]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n\
                    traffic.load = [0.1, 0.3]\n";

/// Replaces the value of a column in a row of a file of rows, both counted from the file's first.
fn edit(place: &Workplace, file: &str, row: usize, column: &str, value: &str) {
    let text = place.read(file);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = header.iter().position(|name| name == column).unwrap();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    for (number, record) in reader.records().enumerate() {
        let record = record.unwrap();
        let edited = |(place, cell)| if (number, place) == (row, at) { value } else { cell };
        writer.write_record(record.iter().enumerate().map(edited)).unwrap();
    }
    place.write(file, &String::from_utf8(writer.into_inner().unwrap()).unwrap());
}

#[test]
fn each_kind_of_result_is_computed_again_row_by_row_and_a_later_call_goes_on() {
    let place = Workplace::new("verify_kinds");
    sweep(&place, "all/grid", GRID);
    sweep(
        &place,
        "all/auto",
        "[sweep]\nprecision = { load = 0.1, latency = 0.5 }\n[sweep.grid]\ntraffic.load = \"auto\"\n",
    );
    sweep(&place, "all/search", "[sweep]\nsaturation = { tolerance = 0.1 }\n");
    place.write("run.toml", SMALL);
    place.run(&["run", "run.toml", "--out", "all/run", "--no-figures"]);
    place.run(&[
        "reproduce",
        "path-selection-fig4",
        "--quick",
        "--no-figures",
        "--out",
        "all/paper",
    ]);
    place.write("all/other.csv", "a,b\n1,2\n");
    let rows = |found: &Value| found["results"].as_array().unwrap().clone();
    let found = place.json(&["verify", "all", "--sample", "5", "--json"]);
    let results = rows(&found);
    let names: Vec<&str> = results.iter().map(|it| it["result"].as_str().unwrap()).collect();
    assert_eq!(names, ["auto", "grid", "paper", "run", "search"]);
    for result in &results {
        assert_eq!((&result["equal"], &result["known"]), (&1.into(), &0.into()), "{result}");
        assert!(result["rows"].as_u64() >= Some(1) && result["seconds"].as_f64() > Some(0.0));
    }
    assert_eq!(found["unknown"], serde_json::json!(["."]));
    let found = place.json(&["verify", "all", "--all", "--json", "--threads", "2"]);
    for result in &rows(&found) {
        assert_eq!(result["known"], 1, "{result}");
        assert_eq!(result["equal"].as_u64().unwrap() + 1, result["rows"].as_u64().unwrap());
        assert_eq!(result["differences"], serde_json::json!([]), "{result}");
    }
    let said = place.run(&["verify", "all", "--all"]);
    assert!(said.contains("grid: 0 of 8 computed again and equal, 8 by earlier calls\n"), "{said}");
    let said = place.run(&["verify", "all/grid", "--within", "1min"]);
    assert!(said.contains(".: 8 of 8 computed again and equal\n"), "{said}");
    let said = place.run(&["verify", "all", "--no-record", "--sample", "1"]);
    assert!(said.contains("1 row of "), "{said}");
}

#[test]
fn what_was_edited_is_named_by_row_and_column() {
    let place = Workplace::new("verify_edited");
    sweep(&place, "grid", GRID);
    let original = place.read("grid/points.csv");
    edit(&place, "grid/points.csv", 2, "packets", "7");
    let (code, said) = place.fail(&["verify", "grid", "--sample", "0"]);
    assert_eq!((code, said.as_str()), (4, "error: 1 value differs\n"));
    let output = place.flitlab(&["verify", "grid", "--sample", "0"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains(
            "  points.csv, line 4 (uniform, point 2, seed 1): packets: 7, computed again "
        ),
        "{said}"
    );
    // Also if summary.json is edited alike: the row is computed again.
    place.write("grid/points.csv", &original);
    let mut summary: Value = serde_json::from_str(&place.read("grid/summary.json")).unwrap();
    summary["points"][5]["hops_mean"] = 9.into();
    place.write("grid/summary.json", &serde_json::to_string(&summary).unwrap());
    edit(&place, "grid/points.csv", 5, "hops_mean", "9");
    place.run(&["verify", "grid", "--sample", "0"]);
    let output = place.flitlab(&["verify", "grid", "--all"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(
        said.contains("line 7 (tornado, point 5, seed 2): hops_mean: 9, computed again 2"),
        "{said}"
    );
    assert!(said.contains(".: 7 of 8 computed again and equal\n"), "{said}");
    // A row that is gone, and a file of other rows of a point.
    let lines: Vec<&str> = original.lines().collect();
    place.write("grid/points.csv", &(lines[..8].join("\n") + "\n"));
    let output = place.flitlab(&["verify", "grid", "--sample", "0"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("points.csv: 7 rows, computed again 8 in summary.json"), "{said}");
    place.write("grid/points.csv", &original);
    // A row of another seed is none of the sweep's, whether it is drawn or not.
    edit(&place, "grid/points.csv", 3, "seed", "77");
    let output = place.flitlab(&["verify", "grid", "--sample", "0"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("point 3, seed 77): there, computed again no point"), "{said}");
    place.write("grid/points.csv", &original);
    edit(&place, "grid/windows.csv", 0, "packets", "1");
    let output = place.flitlab(&["verify", "grid", "--all", "--no-record"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("windows.csv as it is there"), "{said}");
}

#[test]
fn a_reproductions_tables_and_simulations_are_held_to_its_record() {
    let place = Workplace::new("verify_record");
    place.run(&["reproduce", "path-selection-fig4", "--quick", "--no-figures", "--out", "paper"]);
    let table = std::fs::read_dir(place.0.join("paper")).unwrap().flatten();
    let table =
        table.map(|it| it.path()).find(|it| it.extension().is_some_and(|it| it == "csv")).unwrap();
    let name = format!("paper/{}", table.file_name().unwrap().to_str().unwrap());
    let original = place.read(&name);
    let column = original.lines().next().unwrap().split(',').next_back().unwrap().to_owned();
    edit(&place, &name, 0, &column, "12345");
    let output = place.flitlab(&["verify", "paper", "--sample", "0"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains(&format!("line 2: {column}: 12345, computed again ")), "{said}");
    place.write(&name, &original);
    place.run(&["verify", "paper", "--all"]);
    assert!(place.read("paper/verified.csv").starts_with("result,row,results_version,"));
}

#[test]
fn results_of_another_version_and_what_is_none_are_told() {
    let place = Workplace::new("verify_versions");
    sweep(&place, "grid", GRID);
    let mut summary: Value = serde_json::from_str(&place.read("grid/summary.json")).unwrap();
    assert_eq!(summary["results_version"], flitlab::scenario::RESULTS_VERSION);
    summary["results_version"] = 3.into();
    place.write("grid/summary.json", &serde_json::to_string(&summary).unwrap());
    let output = place.flitlab(&["verify", "grid"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    let told = ".: its 8 rows were computed by version 3 of what flitlab computes, and this one is version";
    assert!(
        said.contains(told) && said.contains("flitlab sweep grid/scenario.toml makes them anew"),
        "{said}"
    );
    place.write("empty.txt", "");
    let (code, said) = place.fail(&["verify", "."]);
    assert_eq!(code, 4, "{said}");
    std::fs::create_dir(place.0.join("none")).unwrap();
    let (code, said) = place.fail(&["verify", "none"]);
    assert!(code == 2 && said.contains("none has no results in it"), "{said}");
    let (code, said) = place.fail(&["verify", "nowhere"]);
    assert!(code == 2 && said.contains("can't read nowhere"), "{said}");
}

/// The resolved sweep would give the key twice: in the series, and in the grid.
#[test]
fn a_table_of_a_series_leaves_to_the_grid_what_the_grid_sets() {
    let place = Workplace::new("verify_tables");
    let series = "[routing.outflank]\n[sweep.grid]\ntraffic.load = [0.1]\n\
                  routing.outflank.distance_weight = [1, 2]\n[sweep.series]\n\
                  \"1 step\" = { routing.outflank.steps = 1 }\n\
                  \"a half\" = { routing.outflank = { steps = 1, steps_percent = 50 } }\n";
    place.write("a.toml", &format!("{SMALL}{series}"));
    place.run(&["sweep", "a.toml", "--out", "a", "--no-figures"]);
    let said = place.run(&["verify", "a", "--all"]);
    assert!(said.contains(".: 4 of 4 computed again and equal\n"), "{said}");
    // Files that were not passed on are not missed.
    for file in ["latencies.csv", "windows.csv", "channels.csv"] {
        std::fs::remove_file(place.0.join("a").join(file)).unwrap();
    }
    let said = place.run(&["verify", "a", "--all", "--no-record"]);
    assert!(said.contains(".: 4 of 4 computed again and equal\n"), "{said}");
}

/// What is told of ranks is compared, too, of a run as of a sweep; so are channels that are compressed.
#[test]
fn the_files_of_an_application_are_compared() {
    let place = Workplace::new("verify_application");
    let text = "[topology.torus]\ndimensions = [4, 4]\n[results]\ncompressed = true\n[application]\n\
                schedule = { all-reduce = { ranks = 16, bytes = \"4 KiB\" } }\n";
    place.write("a.toml", text);
    place.write("b.toml", &format!("{text}[sweep.grid]\nseed = [1, 2]\n"));
    place.run(&["run", "a.toml", "--out", "all/run", "--no-figures"]);
    place.run(&["sweep", "b.toml", "--out", "all/sweep", "--no-figures"]);
    let said = place.run(&["verify", "all", "--all", "--no-record"]);
    assert!(said.contains("3 rows of 3 computed again and equal"), "{said}");
    for (result, file) in [("run", "path.csv"), ("sweep", "ranks.csv")] {
        let file = format!("all/{result}/{file}");
        let text = place.read(&file);
        let lines: Vec<&str> = text.lines().collect();
        place.write(&file, &(lines[..lines.len() - 1].join("\n") + "\n"));
    }
    std::fs::write(place.0.join("all/sweep/channels.csv.gz"), []).unwrap();
    let output = place.flitlab(&["verify", "all", "--all", "--no-record"]);
    let said = String::from_utf8(output.stdout).unwrap();
    for file in ["path.csv", "ranks.csv", "channels.csv"] {
        assert!(said.contains(&format!("{file} as it is there")), "{file}: {said}");
    }
}
