//! What [sweep] can say: lists, ranges, zipped keys, named series, repetitions, where series end.

use super::SMALL;
use crate::common::workplace::Workplace;

#[test]
fn keys_are_zipped_and_series_named_and_the_resolved_sweep_gives_the_same() {
    let place = Workplace::new("sweeps_zipped");
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
\"as it stands\" = {}

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
    assert_eq!(series.len(), 12);
    assert_eq!(
        [series[0], series[2], series[4], series[7], series[8]],
        [
            "published table, buffer 72 flits, latency 70 ns",
            "published table, buffer 144 flits, latency 90 ns",
            "ABR, buffer 72 flits, latency 70 ns",
            "ABR, buffer 144 flits, latency 90 ns",
            "as it stands, buffer 72 flits, latency 70 ns",
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
    let place = Workplace::new("sweeps_repetitions");
    place.write("a.toml", &format!("seed = 7\n{SMALL}"));
    place.run(&["sweep", "a.toml", "--set", "sweep.repetitions=3"]);
    let points = place.read("results/a/points.csv");
    assert_eq!(points.lines().count(), 1 + 2 * 4 * 3);
    let seeds: Vec<&str> =
        points.lines().skip(1).map(|row| row.split(',').nth(4).unwrap()).collect();
    assert_eq!(seeds[..4], ["7", "8", "9", "7"]);
    let means = place.read("results/a/means.csv");
    assert_eq!(means.lines().count(), 1 + 2 * 4);
    assert!(means.lines().skip(1).all(|row| row.contains(",3,3,0.")), "{means}");
    // More repetitions: those that are there are not computed again.
    let more = ["sweep", "a.toml", "--set", "sweep.repetitions=4", "--resume"];
    assert!(place.run(&more).contains("24 points were there already"));
    assert_eq!(place.read("results/a/means.csv").matches(",4,4,0.").count(), 8);
}

#[test]
fn searches_with_several_seeds_are_one_bar_with_its_interval() {
    let place = Workplace::new("sweeps_searches");
    let grid = SMALL.rsplit_once("traffic.load").unwrap().0;
    let saturation = "[sweep]\nsaturation = { tolerance = 0.2 }\n";
    place.write("a.toml", &format!("{grid}{saturation}"));
    place.run(&["sweep", "a.toml", "--out", "r", "--set", "sweep.repetitions=2"]);
    let found = place.read("r/saturation.csv");
    let header = "series,figure,point,repetition,seed,traffic.pattern,sustained_load,";
    assert!(found.starts_with(header), "{found}");
    assert_eq!(found.lines().count(), 1 + 2 * 2, "{found}");
    assert!(found.contains("\ntornado,,3,1,2,tornado,"), "{found}");
    assert!(!place.0.join("r/means.csv").exists(), "loads tried are no points of a curve");
    let interval = ">95% confidence interval, step of the search included<";
    assert!(place.read("r/saturation.svg").contains(interval));
    // A seed in the grid says the same, and gives each seed a series.
    place.write("b.toml", &format!("{grid}seed = [1, 2]\n{saturation}"));
    place.run(&["sweep", "b.toml", "--out", "s"]);
    assert!(place.read("s/saturation.csv").contains("\n\"tornado, seed 2\",,3,0,2,tornado,"));
    let bars = |folder: &str| place.read(&format!("{folder}/saturation.svg"));
    assert!(bars("r").lines().count() == bars("s").lines().count() && bars("s").contains(interval));
    let compared = place.run(&["compare", "r", "s"]);
    assert!(compared.contains("none of 2 series differs"), "{compared}");
}

#[test]
fn a_series_ends_by_itself_past_saturation_on_any_number_of_threads() {
    let place = Workplace::new("sweeps_ends");
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
fn series_that_are_the_same_are_computed_once_and_shown_twice() {
    let place = Workplace::new("sweeps_same");
    // Both are the defaults.
    let series = "[sweep.series]\nA = { router.buffer = \"144 flits\" }\nB = { seed = 1 }\n";
    let loads = "traffic.load = [0.1, 0.8, 0.9, 1.0]\n[sweep]\npast_saturation = 2\n";
    let grid = SMALL.split_once("[sweep.grid]").unwrap().0;
    place.write("a.toml", &format!("{grid}{series}[sweep.grid]\n{loads}"));
    let said = place.run(&["sweep", "a.toml", "--threads", "4"]);
    assert_eq!(said.matches("load 0.1000").count(), 1, "{said}");
    assert_eq!(place.points("results/a"), 3);
    let points = place.read("results/a/points.csv");
    let rows = |series: &str| -> Vec<String> {
        let rows = points.lines().filter_map(|line| line.strip_prefix(series));
        rows.map(|row| row.split(',').skip(3).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!((rows("A,").len(), rows("A,")), (3, rows("B,")), "{points}");
}
