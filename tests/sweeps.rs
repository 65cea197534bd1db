//! Sweeps that are ended and go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A new folder that goes away with the test.
struct Workplace(PathBuf);

impl Workplace {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sweeps-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flitlab"));
        command.args(arguments).current_dir(&self.0);
        command
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a call that must succeed.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Exit code and standard error of a call.
    fn fail(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.call(arguments);
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// Begins a call and kills it once so many points are finished.
    #[cfg(unix)]
    fn kill(&self, arguments: &[&str], folder: &str, points: usize) {
        let mut child = self.command(arguments).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while self.points(folder) < points {
            assert!(child.try_wait().unwrap().is_none(), "it ended with {}", self.points(folder));
            assert!(begun.elapsed() < Duration::from_secs(300));
            sleep(Duration::from_millis(1));
        }
        // SIGKILL: nothing of the process has a chance to put anything in order.
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
    }

    /// Finished points of a sweep.
    fn points(&self, folder: &str) -> usize {
        let entries = fs::read_dir(self.0.join(folder).join("points")).into_iter().flatten();
        entries.flatten().filter(|entry| entry.path().extension() == Some("point".as_ref())).count()
    }

    fn write(&self, file: &str, content: &str) {
        fs::write(self.0.join(file), content).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// All files of a folder, those of folders in it too, with their contents.
    fn content(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let root = self.0.join(folder);
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = fs::read(&path).unwrap();
                    files.push((path.strip_prefix(&root).unwrap().into(), content));
                }
            }
        }
        files.sort();
        files
    }

    /// Asserts that two folders have the same files, byte for byte.
    fn assert_same(&self, one: &str, other: &str) {
        let (one, other) = (self.content(one), self.content(other));
        let names = |files: &[(PathBuf, Vec<u8>)]| {
            files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&one), names(&other));
        for ((path, one), (_, other)) in one.iter().zip(&other) {
            assert!(one == other, "{} differs", path.display());
        }
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The same with points that take long enough to be killed between them.
#[cfg(unix)]
fn slow() -> String {
    SMALL.replace("maximum_windows = 12", "minimum_windows = 300\nmaximum_windows = 300")
}

/// A sweep of 2 series with 4 loads each.
const SMALL: &str = "\
[topology.torus]
dimensions = [4, 4]

[traffic]
pattern = \"uniform\"

[measure]
window = \"2 us\"
maximum_windows = 12

[sweep.grid]
traffic.pattern = [\"uniform\", \"tornado\"]
traffic.load = [0.1, 0.2, 0.3, 0.4]
";

#[test]
#[cfg(unix)]
fn killed_three_times_and_resumed_a_sweep_gives_the_same_bytes_as_undisturbed() {
    let place = Workplace::new("killed");
    place.write("a.toml", &slow());
    place.run(&["sweep", "a.toml", "--out", "undisturbed", "--threads", "2"]);
    let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", "1"];
    for points in [1, 3, 6] {
        place.kill(&call, "killed", points);
        assert!(!place.0.join("killed/summary.json").exists());
    }
    let kept = place.points("killed");
    let said = place.run(&call);
    assert!(said.contains(&format!("{kept} points were there already")), "{said}");
    place.assert_same("undisturbed", "killed");
}

#[test]
#[cfg(unix)]
fn a_search_for_saturation_goes_on_where_it_was_killed() {
    let place = Workplace::new("search");
    let text = slow().replace("traffic.load = [0.1, 0.2, 0.3, 0.4]\n", "")
        + "[sweep]\nsaturation = { tolerance = 0.05 }\n";
    place.write("a.toml", &text);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", "1"];
    place.kill(&call, "killed", 2);
    place.kill(&call, "killed", 5);
    place.run(&call);
    place.assert_same("undisturbed", "killed");
}

#[test]
fn finished_points_are_not_computed_again_and_changed_ones_are() {
    let place = Workplace::new("changed");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.read("results/a/points.csv");
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("8 points were there already"));
    assert_eq!(place.read("results/a/points.csv"), before);

    // Another load, and a title: eight points are the same.
    place.write("a.toml", &format!("title = \"Two\"\n{SMALL}").replace("0.4]", "0.35, 0.4]"));
    let said = place.run(&["sweep", "a.toml", "--resume"]);
    assert!(said.contains("8 points were there already"), "{said}");
    assert_eq!(said.matches("load 0.35").count(), 2, "{said}");
    place.run(&["sweep", "a.toml", "--out", "anew"]);
    for file in ["points.csv", "channels.csv", "summary.json", "latency.svg"] {
        assert_eq!(place.read(&format!("results/a/{file}")), place.read(&format!("anew/{file}")));
    }
}

#[test]
fn a_folder_of_another_scenario_is_refused_and_keeps_its_results() {
    let place = Workplace::new("foreign");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.content("results/a");
    place.write("a.toml", &SMALL.replace("[4, 4]", "[4, 2]"));
    for out in [&[][..], &["--out", "results/a"]] {
        let (code, errors) = place.fail(&[&["sweep", "a.toml", "--resume"], out].concat());
        assert_eq!(code, 2);
        assert!(errors.contains("none of them is of this scenario"), "{errors}");
    }
    fs::create_dir(place.0.join("b")).unwrap();
    place.write("b/notes", "mine");
    let (code, errors) = place.fail(&["sweep", "a.toml", "--resume", "--out", "b"]);
    assert_eq!((code, errors.contains("no points of a sweep")), (2, true), "{errors}");
    assert!(place.content("results/a") == before);
}

#[test]
fn resuming_takes_the_unfinished_folder_and_asks_if_there_are_several() {
    let place = Workplace::new("folders");
    place.write("a.toml", SMALL);
    let said = place.call(&["sweep", "a.toml", "--resume"]);
    assert!(text(&said.stderr).contains("nothing to resume"), "{}", text(&said.stderr));
    place.run(&["sweep", "a.toml"]);
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("results in results/a-2\n"));
    fs::remove_file(place.0.join("results/a/summary.json")).unwrap();
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("results in results/a\n"));
    for folder in ["a", "a-2"] {
        fs::remove_file(place.0.join(format!("results/{folder}/summary.json"))).unwrap();
    }
    let (code, errors) = place.fail(&["sweep", "a.toml", "--resume"]);
    assert_eq!(code, 2);
    assert!(errors.contains("results/a and results/a-2: say with --out"), "{errors}");
}

#[test]
fn damaged_and_half_written_points_are_computed_again() {
    let place = Workplace::new("damaged");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.content("results/a");
    let point = |number: usize| {
        let is_point = |path: &&PathBuf| path.extension() == Some("point".as_ref());
        let file = before.iter().map(|(path, _)| path).filter(is_point).nth(number).unwrap();
        format!("results/a/{}", file.display())
    };
    let whole = place.read(&point(0));
    place.write(&point(0), &whole[..whole.len() - 2]);
    place.write(&point(1), &place.read(&point(1)).replacen("\"seed\":1", "\"seed\":2", 1));
    place.write(&point(2), &place.read(&point(3)));
    place.write("results/a/points/0.partial", "half");
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("5 points were there already"));
    assert!(place.content("results/a") == before);
}

#[test]
#[cfg(unix)]
fn two_processes_do_not_work_in_one_folder() {
    let place = Workplace::new("busy");
    place.write(
        "a.toml",
        &SMALL.replace("maximum_windows = 12", "minimum_windows = 3000\nmaximum_windows = 3000"),
    );
    let call = ["sweep", "a.toml", "--out", "a", "--resume", "--threads", "1"];
    let mut child = place.command(&call).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !place.0.join("a/channels.csv").exists() {
        assert!(begun.elapsed() < Duration::from_secs(300));
        sleep(Duration::from_millis(1));
    }
    let (code, errors) = place.fail(&call);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((code, errors.contains("another flitlab is at work in a")), (1, true), "{errors}");
}

#[test]
#[cfg(unix)]
fn a_disk_that_takes_no_more_costs_no_finished_point() {
    let place = Workplace::new("full");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    // No file may grow beyond so many blocks of 512 bytes: the tables of rows are the first that do.
    let flitlab = env!("CARGO_BIN_EXE_flitlab");
    let limited = format!(
        "trap '' XFSZ; ulimit -f 40; exec {flitlab} sweep a.toml --out a --resume --threads 1"
    );
    let output = Command::new("sh").args(["-c", &limited]).current_dir(&place.0).output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("can't write a/") && errors.contains("--out a --resume"), "{errors}");
    assert!(place.points("a") > 0);
    place.run(&["sweep", "a.toml", "--out", "a", "--resume"]);
    place.assert_same("undisturbed", "a");
}

/// The study of the documentation, shortened: the same grid on fewer windows.
#[test]
#[cfg(unix)]
fn the_study_of_patterns_by_routing_survives_three_kills() {
    let place = Workplace::new("study");
    let study =
        format!("{}/scenarios/studies/patterns-by-routing.toml", env!("CARGO_MANIFEST_DIR"));
    let short = [
        "sweep",
        &study,
        "--set",
        "measure.warm_up_windows=3",
        "--set",
        "measure.minimum_windows=6",
        "--set",
        "measure.maximum_windows=6",
        "--set",
        "sweep.grid.traffic.load=[0.2, 0.4, 0.6]",
    ];
    place.run(&[&short[..], &["--out", "undisturbed"]].concat());
    let call = [&short[..], &["--out", "killed", "--resume"]].concat();
    for points in [5, 30, 60] {
        place.kill(&call, "killed", points);
    }
    place.run(&call);
    place.assert_same("undisturbed", "killed");
}

#[test]
fn a_dry_run_lists_the_points_and_writes_nothing() {
    let place = Workplace::new("dry");
    place.write("a.toml", SMALL);
    let said = place.run(&["sweep", "a.toml", "--dry-run"]);
    assert_eq!(said.matches("uniform, load 0.").count(), 4, "{said}");
    assert!(said.contains("8 points: about ") && said.contains(" on "), "{said}");
    assert!(!place.0.join("results").exists());
    place.run(&["sweep", "a.toml"]);
    place.write("a.toml", &SMALL.replace("0.4]", "0.35, 0.4]"));
    let said = place.run(&["sweep", "a.toml", "--dry-run", "--resume"]);
    assert!(said.contains("10 points, 8 of them finished in results/a: about "), "{said}");
    let plan = place.run(&["sweep", "a.toml", "--dry-run", "--resume", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let seconds = |number: usize| plan["points"][number]["seconds"].as_f64().unwrap();
    assert_eq!(plan["points"][3]["load"], "0.35");
    assert!(seconds(3) > 0.0 && seconds(4) == 0.0, "{plan}");
}

#[test]
fn a_series_ends_by_itself_past_saturation_on_any_number_of_threads() {
    let place = Workplace::new("ends");
    // Loads in any order; tornado saturates at about half of what uniform traffic does.
    let loads = "[1.2, 1.0, 0.9, 0.7, 0.8, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 1.1]";
    place.write("a.toml", &SMALL.replace("[0.1, 0.2, 0.3, 0.4]", loads).replace("[4, 4]", "[8]"));
    for threads in ["1", "2", "5"] {
        place.run(&["sweep", "a.toml", "--threads", threads, "--out", threads]);
    }
    place.assert_same("1", "2");
    place.assert_same("1", "5");
    let rows = place.read("1/points.csv");
    let rows = |series: &str, status: &str| {
        let of_series = |line: &&str| line.starts_with(series) && line.contains(status);
        rows.lines().filter(of_series).count()
    };
    assert_eq!(rows("tornado", ",not steady,"), 2);
    assert!((2..10).contains(&rows("tornado", ",steady,")), "{}", rows("tornado", ",steady,"));
    place.run(&["sweep", "a.toml", "--set", "sweep.past_saturation=all", "--out", "all"]);
    assert_eq!(place.read("all/points.csv").lines().count(), 1 + 24);
}

#[test]
fn keys_are_zipped_and_series_named_and_the_resolved_sweep_gives_the_same() {
    let place = Workplace::new("zipped");
    let text = "\
[topology.torus]
dimensions = [4, 4]

[routing.angara]
algorithm = \"sssp\"

[traffic]
pattern = \"uniform\"

[measure]
window = \"2 us\"
maximum_windows = 12

[sweep]
zip = [\"router.buffer\", \"link.latency\"]

[sweep.series]
\"published table\" = { routing.angara.relaxation = false }
ABR = { routing.adaptive = {}, router.crossbar_speedup = 2 }

[sweep.grid]
traffic.load = [0.1, 0.2]
router.buffer = [\"72 flits\", \"144 flits\"]
link.latency = [\"70 ns\", \"90 ns\"]
";
    place.write("a.toml", text);
    place.run(&["sweep", "a.toml"]);
    let points = place.read("results/a/points.csv");
    let series: Vec<&str> =
        points.lines().skip(1).map(|line| line.split('\"').nth(1).unwrap()).collect();
    assert_eq!(series.len(), 8);
    assert_eq!(
        [series[0], series[2], series[4], series[7]],
        [
            "published table, buffer 72 flits, latency 70 ns",
            "published table, buffer 144 flits, latency 90 ns",
            "ABR, buffer 72 flits, latency 70 ns",
            "ABR, buffer 144 flits, latency 90 ns",
        ]
    );
    let scenario = place.read("results/a/scenario.toml");
    assert!(scenario.contains("routing.angara.algorithm = \"sssp\", "), "{scenario}");
    assert!(scenario.contains("router.crossbar_speedup = 1 }"), "{scenario}");
    place.run(&["sweep", "results/a/scenario.toml", "--out", "again"]);
    place.assert_same("results/a", "again");
}

#[test]
fn repetitions_have_seeds_of_their_own_and_means_with_intervals() {
    let place = Workplace::new("repetitions");
    place.write("a.toml", &format!("seed = 7\n{SMALL}"));
    place.run(&["sweep", "a.toml", "--set", "sweep.repetitions=3"]);
    let points = place.read("results/a/points.csv");
    assert_eq!(points.lines().count(), 1 + 2 * 4 * 3);
    let seeds: Vec<&str> =
        points.lines().skip(1).map(|row| row.split(',').nth(3).unwrap()).collect();
    assert_eq!(seeds[..4], ["7", "8", "9", "7"]);
    let means = place.read("results/a/means.csv");
    assert_eq!(means.lines().count(), 1 + 2 * 4);
    assert!(means.lines().skip(1).all(|row| row.contains(",3,3,0.")), "{means}");
    // More repetitions: those that are there are not computed again.
    let more = ["sweep", "a.toml", "--set", "sweep.repetitions=4", "--resume"];
    assert!(place.run(&more).contains("24 points were there already"));
    assert_eq!(place.read("results/a/means.csv").matches(",4,4,0.").count(), 8);
}
