//! Results of earlier versions, which lack columns, are drawn, reported and compared as far as they
//! go.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::workplace::Workplace;

/// All folders below a folder, itself included.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = below.filter(|path| path.is_dir()).flat_map(|path| folders(&path));
    [folder.to_path_buf()].into_iter().chain(below).collect()
}

fn header(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().next().unwrap_or("").split(',').map(str::to_owned).collect()
}

/// A file without one of its columns.
fn without(file: &Path, column: &str) -> String {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let at = reader.headers().unwrap().iter().position(|name| name == column).unwrap();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = reader.headers().unwrap().clone();
    for record in [header].into_iter().chain(reader.records().map(Result::unwrap)) {
        let cells = record.iter().enumerate().filter(|(place, _)| *place != at);
        writer.write_record(cells.map(|(_, cell)| cell)).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

/// Exit code and standard error of a call; the error of a refusal is one line.
fn outcome(place: &Workplace, arguments: &[&str]) -> (i32, String) {
    let (code, errors) = place.fail(arguments);
    let lines = errors.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(lines, usize::from(code == 2), "{arguments:?}: {code}: {errors}");
    assert!([0, 2, 4].contains(&code) && !errors.contains("panicked"), "{arguments:?}: {errors}");
    (code, errors)
}

#[test]
fn every_committed_result_is_drawn_reported_and_compared_or_refused_with_its_reason() {
    let place = Workplace::new("earlier_committed");
    let mut drawn = 0;
    for folder in folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("results")) {
        let (name, points) = (folder.to_str().unwrap(), folder.join("points.csv"));
        let plot = ["plot", name, "--out", "figures", "--format", "svg"];
        let calls: [&[&str]; 3] =
            [&plot, &["report", name, "-o", "a.html", "--force"], &["compare", name, name]];
        let of_sweep = points.exists() && header(&points).contains(&"series".to_owned());
        for call in calls {
            let (code, errors) = outcome(&place, call);
            // A reproduction has its figures beside its tables.
            let is_drawn = of_sweep || call[0] == "plot" && folder.join("figures.json").exists();
            let expected = match (points.exists(), of_sweep) {
                _ if is_drawn => "",
                (false, _) => "has no points.csv",
                (true, false) => "these are not the rows of a run or sweep",
                (true, true) => "",
            };
            assert_eq!(code, if is_drawn { 0 } else { 2 }, "{call:?}: {errors}");
            assert!(errors.contains(expected), "{call:?}: {errors}");
        }
        drawn += usize::from(of_sweep);
    }
    assert!(drawn >= 18, "{drawn}");
}

/// What every version writes; without it a row belongs nowhere, or says nothing.
const REQUIRED: [&str; 4] = ["series", "point", "status", "events"];

#[test]
fn results_without_any_one_column_are_drawn_reported_and_compared_or_refused_by_its_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    for result in ["desmos/uniform", "angara-lossy-links", "angara-osu/latency"] {
        let place = Workplace::new(&format!("earlier_{}", result.replace('/', "_")));
        let whole = root.join(result);
        fs::create_dir(place.0.join("a")).unwrap();
        let files = fs::read_dir(&whole).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> = files
            .filter(|path| path.extension().is_some_and(|it| it == "csv" || it == "toml"))
            .collect();
        let copy = |path: &PathBuf| place.0.join("a").join(path.file_name().unwrap());
        for path in &files {
            fs::copy(path, copy(path)).unwrap();
        }
        let rows = |name: &str| name != "means.csv" && name.ends_with(".csv");
        for path in files.iter().filter(|path| rows(path.file_name().unwrap().to_str().unwrap())) {
            for column in header(path) {
                fs::write(copy(path), without(path, &column)).unwrap();
                let case = format!("{result} {column}");
                let plot = ["plot", "a", "--out", "figures", "--format", "svg"];
                let (code, errors) = outcome(&place, &plot);
                let required = path.ends_with("points.csv") && REQUIRED.contains(&column.as_str());
                assert_eq!(code, if required { 2 } else { 0 }, "{case}: {errors}");
                assert!(!required || errors.contains(&column), "{case}: {errors}");
                let report = ["report", "a", "-o", "a.html", "--force"];
                assert_eq!(outcome(&place, &report).0, code, "{case}");
                let (code, errors) = outcome(&place, &["compare", "a", whole.to_str().unwrap()]);
                assert_eq!(code == 2, required, "{case}: {errors}");
            }
            fs::copy(path, copy(path)).unwrap();
        }
    }
}

#[test]
fn a_figure_whose_column_is_absent_is_named_with_it() {
    let place = Workplace::new("earlier_named");
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/desmos/patterns");
    fs::create_dir(place.0.join("a")).unwrap();
    let points = without(&whole.join("points.csv"), "packet_latency_mean_ns");
    fs::write(place.0.join("a/points.csv"), points).unwrap();
    let (code, errors) = outcome(&place, &["plot", "a", "--out", "b"]);
    let note = "note: no latency is drawn: points.csv has no column packet_latency_mean_ns\n";
    assert_eq!((code, errors.contains(note)), (0, true), "{errors}");
    assert!(!errors.contains("completion"), "{errors}");
    assert!(
        place.0.join("b/accepted-uniform.svg").exists() || place.0.join("b/accepted.svg").exists()
    );
    let (code, errors) = outcome(&place, &["plot", "a", "--out", "b", "--only", "latency"]);
    let error = "error: there is nothing to draw for latency: points.csv has no column packet_latency_mean_ns\n";
    assert_eq!((code, errors.as_str()), (2, error));
    // A file beside the points that lacks what it needs is left out, and said.
    fs::copy(whole.join("points.csv"), place.0.join("a/points.csv")).unwrap();
    place.write("a/windows.csv", "series,point,repetition,phase\na,0,0,measured\n");
    let (code, errors) = outcome(&place, &["plot", "a", "--out", "b"]);
    let warning = "warning: a/windows.csv: no columns start_us, end_us, so the file is left out";
    assert_eq!((code, errors.contains(warning)), (0, true), "{errors}");
}

/// Earlier windows are those of the whole network, with the busiest channel so far.
#[test]
fn windows_of_earlier_results_are_drawn_as_they_were() {
    let place = Workplace::new("earlier_time");
    fs::create_dir_all(place.0.join("a")).unwrap();
    let points = "series,point,repetition,status,offered_load,events\na,0,0,steady,0.3,1\n";
    place.write("a/points.csv", points);
    let mut windows =
        "series,point,repetition,phase,start_us,end_us,accepted_load,packet_latency_mean_ns,\
                       flits_under_way,utilisation_mean,utilisation_busiest\n"
            .to_owned();
    for window in 0..10 {
        let phase = if window < 4 { "warm-up" } else { "measured" };
        let (start, end) = (window * 5, window * 5 + 5);
        windows += &format!("a,0,0,{phase},{start},{end},0.3,500,1000,0.2,0.4\n");
    }
    place.write("a/windows.csv", &windows);
    let (code, errors) = outcome(&place, &["plot", "a", "--only", "time", "--out", "b"]);
    assert_eq!(code, 0, "{errors}");
    let svg = place.read("b/time.svg");
    for text in ["Mean latency (ns)", "busiest channel so far", "end of warm-up", "offered load"] {
        assert!(svg.contains(&format!(">{text}<")), "{text}");
    }
    assert!(!svg.contains("99th percentile") && !svg.contains("fullest channel"));
}

#[test]
fn a_sweep_whose_series_saturate_at_their_only_load_says_so_in_bars() {
    let place = Workplace::new("earlier_saturated");
    place.write(
        "a.csv",
        "series,point,seed,status,events,offered_load\na,0,1,not steady,1,0.5\nb,0,1,deadlock,1,0.6\n",
    );
    fs::create_dir(place.0.join("a")).unwrap();
    fs::rename(place.0.join("a.csv"), place.0.join("a/points.csv")).unwrap();
    let drawn = place.run(&["plot", "a", "--format", "svg"]);
    assert_eq!(drawn, "a/saturation.svg\n");
    let svg = place.read("a/saturation.svg");
    assert!(svg.contains("to the lowest load not sustained"), "{svg}");
}
