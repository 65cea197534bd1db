//! `results.channels`: which rows of channels are kept, and that figures and pages read those that they
//! show, and no others.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::common::workplace::Workplace;

const SMALL: &str = "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n\
                     load = 0.3\n[measure]\nwindow = \"2 us\"\nwarm_up_windows = 3\n\
                     minimum_windows = 2\nmaximum_windows = 3\n";

/// The rows of channels.csv, header first.
fn rows(place: &Workplace, folder: &str) -> Vec<Vec<String>> {
    let text = place.read(&format!("{folder}/channels.csv"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records = reader.records().map(|record| record.unwrap());
    records.map(|record| record.iter().map(str::to_owned).collect()).collect()
}

/// A column of rows, by its name.
fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|column| column == name).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

fn numbers(rows: &[Vec<String>], name: &str) -> Vec<f64> {
    column(rows, name).iter().map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn some_rows_of_channels_are_kept_or_all_or_groups_or_none() {
    let place = Workplace::new("kept_channels");
    place.write("a.toml", SMALL);
    let run = |kept: &str, out: &str| {
        let set = format!("results.channels={kept}");
        place.run(&["run", "a.toml", "--set", &set, "--out", out, "--no-figures"])
    };
    let printed = run("\"all\"", "all");
    let all = rows(&place, "all");
    let network: Vec<usize> =
        (0..all.len() - 1).filter(|&at| column(&all, "kind")[at] == "network").collect();
    assert_eq!(network.len(), 64);
    // What is printed looks at all of them.
    let busiest = |text: &str| {
        text.lines().filter(|line| line.contains("% used")).map(str::to_owned).collect::<Vec<_>>()
    };
    for kept in ["7", "\"groups\"", "\"none\""] {
        let out = format!("o{}", kept.trim_matches('"'));
        let again = run(kept, &out);
        assert_eq!(busiest(&again), busiest(&printed), "{kept}");
    }

    assert_eq!(rows(&place, "onone").len(), 1);
    let seven = rows(&place, "o7");
    let mut highest: Vec<f64> =
        network.iter().map(|&at| numbers(&all, "utilisation")[at]).collect();
    highest.sort_by(|a, b| b.total_cmp(a));
    let mut own = numbers(&seven, "utilisation");
    own.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(own, highest[..7]);
    assert!(seven[1..].iter().all(|row| all.contains(row)));

    let groups = rows(&place, "ogroups");
    let names = column(&groups, "channel");
    let expected = ["+x", "-x", "+y", "-y"]
        .map(|name| ["mean", "most"].map(|word| format!("{name}, {word} of 16")));
    // A cell that begins with a sign is no formula of a spreadsheet's.
    for name in expected.as_flattened() {
        assert!(names.contains(&format!("'{name}")), "{name}: {names:?}");
    }
    assert!(names.contains(&"injection, mean of 32".to_owned()), "{names:?}");
    let of = |name: &str| {
        let own = network.iter().filter(|&&at| column(&all, "channel")[at].ends_with(name));
        own.map(|&at| numbers(&all, "utilisation")[at]).collect::<Vec<_>>()
    };
    let told = |name: &str| {
        numbers(&groups, "utilisation")
            [names.iter().position(|it| it.trim_start_matches('\'') == name).unwrap()]
    };
    let own = of(" +x");
    let mean = own.iter().sum::<f64>() / 16.0;
    assert!((told("+x, mean of 16") - mean).abs() < 1e-5);
    assert_eq!(told("+x, most of 16"), own.iter().copied().fold(0.0, f64::max));

    // The figure and the page of groups.
    place.run(&["plot", "ogroups", "--only", "channels", "--format", "svg", "--out", "figures"]);
    let figure = place.read("figures/channels.svg");
    assert!(figure.contains("to the most used") && figure.contains("injection"), "{figure}");
    place.run(&["report", "ogroups", "-o", "page.html"]);
    let page = place.read("page.html");
    assert!(page.contains("groups of channels only") && page.contains("\"+x\""));
}

#[test]
fn groups_are_those_of_the_fabric() {
    let place = Workplace::new("kept_groups");
    for (topology, names) in [
        (
            "dragonfly = { groups = 3, group_size = 2, global_cables = 1, terminals = 1 }",
            ["group 0, within, mean of 2", "group 2, to others, most of 2"],
        ),
        (
            "tree = { arity = 2, levels = 2 }",
            ["level 1, up, mean of 4", "level 2, down, most of 4"],
        ),
        (
            "hyperx = { dimensions = [3, 2], terminals = 1 }",
            ["network, mean of 18", "ejection, mean of 6"],
        ),
    ] {
        let (_, rest) = SMALL.split_once("[traffic]").unwrap();
        place.write(
            "a.toml",
            &format!("topology.{topology}\nresults.channels = \"groups\"\n[traffic]{rest}"),
        );
        place.run(&["run", "a.toml", "--out", topology.split(' ').next().unwrap(), "--no-figures"]);
        let found = column(&rows(&place, topology.split(' ').next().unwrap()), "channel");
        for name in names {
            assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
        }
    }
}

#[test]
fn a_sweep_keeps_no_more_of_its_points() {
    let place = Workplace::new("kept_sweep");
    place.write(
        "a.toml",
        &format!("{SMALL}[results]\nchannels = 3\n[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"),
    );
    place.run(&["sweep", "a.toml", "--out", "o", "--no-figures"]);
    assert_eq!(rows(&place, "o").len(), 1 + 2 * 3);
    let files = fs::read_dir(place.0.join("o/points")).unwrap().map(|file| file.unwrap().path());
    let points: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|it| it == "point")).collect();
    assert_eq!(points.len(), 2);
    for point in points {
        // After the first line a text that is compressed.
        let content = fs::read(point).unwrap();
        let begin = content.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let mut text = String::new();
        GzDecoder::new(&content[begin..]).read_to_string(&mut text).unwrap();
        assert_eq!(text.matches(",network,").count(), 3, "{text}");
    }
}

/// Files of studies are large: what is not shown is not read.
#[test]
fn figures_and_pages_read_the_channels_that_they_show() {
    let place = Workplace::new("kept_read");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3]\n"));
    place.run(&["sweep", "a.toml", "--out", "o", "--no-figures"]);
    let whole = place.read("o/channels.csv");
    let spoilt = |point: &str| {
        let spoil = |line: &str| match line.starts_with(point) {
            true => line.replace(",network,", ",netwrok,"),
            false => line.to_owned(),
        };
        let lines: Vec<String> = whole.lines().map(spoil).collect();
        place.write("o/channels.csv", &(lines.join("\n") + "\n"));
    };
    let plot = |only: &str, load: &str| {
        place.flitlab(&[
            "plot", "o", "--only", only, "--load", load, "--format", "svg", "--out", "f",
        ])
    };
    // Point 0 is not shown at load 0.3, and point 2 is.
    spoilt(",0,");
    assert!(plot("channels", "0.3").status.success());
    assert!(plot("latency", "0.3").status.success());
    spoilt(",2,");
    assert!(plot("latency", "0.3").status.success(), "no figure of channels is drawn");
    let refused = plot("channels", "0.3");
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("channels.csv:"), "{said}");
}

/// A page has the links of as many points as there is room for, whether the others were read or not.
#[test]
fn the_page_is_the_same_as_if_all_channels_were_read() {
    let place = Workplace::new("kept_page");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3]\n"));
    place.run(&["sweep", "a.toml", "--out", "o", "--no-figures"]);
    place.run(&["report", "o", "-o", "page.html"]);
    let page = place.read("page.html");
    assert!(page.contains("\"links\":{\"of\":3,\"points\":[{\"row\":0,"), "all three are shown");
    let busy = page.matches("\"busiest\":[{\"channel\"").count();
    assert_eq!(busy, 3);
}

/// A run has no curves over loads: its page has the figures of its folder.
#[test]
fn the_page_of_a_run_has_the_distribution_and_the_course_of_it() {
    let place = Workplace::new("kept_pictures");
    place.write("a.toml", SMALL);
    place.run(&["run", "a.toml", "--out", "o", "--no-figures"]);
    place.run(&["report", "o", "-o", "page.html"]);
    let page = place.read("page.html");
    for title in [
        "Distribution of the packet latency",
        "Load, latency, flits under way and utilisation over simulated time",
    ] {
        assert!(page.contains(&format!("\"title\":\"{title}\",\"svg\":")), "{title}");
    }
}

/// A sweep of a torus with 1,536 channels between routers, of two loads.
const MANY: &str = "[topology.torus]\ndimensions = [8, 8, 4]\n[traffic]\npattern = \"uniform\"\n\
                    [measure]\nwindow = \"1 us\"\nwarm_up_windows = 1\nminimum_windows = 2\nmaximum_windows = 2\n\
                    [sweep.grid]\ntraffic.load = [0.1, 0.2]\n";

#[test]
fn a_sweep_of_many_channels_keeps_groups_unless_it_says_something_else() {
    let place = Workplace::new("kept_channels_of_many");
    place.write("a.toml", MANY);
    let call = ["sweep", "a.toml", "--out", "groups", "--no-figures"];
    let output = place.flitlab(&call);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("note: channels.csv has the mean and the most of each group"), "{said}");
    assert!(said.contains("`channels = \"all\"` in [results] keeps each channel"), "{said}");
    // Of each direction, and of the channels to and from nodes, the mean and the most.
    let groups = rows(&place, "groups");
    assert!(groups.len() < 2 * 20, "{}", groups.len());
    assert!(place.run(&["check", "a.toml"]).contains("\n  results "));

    // What is typed is kept, as is what a run has.
    let all = ["--set", "results.channels=all", "--no-figures", "--out", "all"];
    let output = place.flitlab(&[&["sweep", "a.toml"][..], &all].concat());
    assert!(!String::from_utf8(output.stderr).unwrap().contains("channels.csv has the mean"));
    assert!(rows(&place, "all").len() > 2 * 1536);
    place.run(&["run", "a.toml", "--set", "traffic.load=0.1", "--out", "run", "--no-figures"]);
    assert!(rows(&place, "run").len() > 1536);

    // The resolved sweep says what it keeps, and keeps the same.
    assert!(place.read("groups/scenario.toml").contains("channels = \"groups\""));
    place.run(&["sweep", "groups/scenario.toml", "--out", "again", "--no-figures"]);
    for name in ["points.csv", "channels.csv", "summary.json", "scenario.toml"] {
        assert_eq!(place.read(&format!("groups/{name}")), place.read(&format!("again/{name}")));
    }
}

#[test]
fn compressed_channels_change_no_point_and_are_read_by_figures_and_pages() {
    let place = Workplace::new("kept_channels_compressed");
    place.write("a.toml", SMALL);
    let sweep = ["sweep", "a.toml", "--set", "sweep.grid.traffic.load=[0.1, 0.2]", "--out", "r"];
    place.run(&sweep);
    let plain = place.read("r/channels.csv");
    let compressed = ["--set", "results.compressed=true", "--resume"];
    let said = place.run(&[&sweep[..], &compressed].concat());
    assert!(said.contains("2 points were there already\n"), "{said}");
    let names = |name: &str| place.0.join("r").join(name).exists();
    assert!(names("channels.csv.gz") && !names("channels.csv"));
    assert!(place.read_bytes("r/channels.csv.gz").len() < plain.len() / 4);
    let drawn = place.run(&["plot", "r", "--only", "channels", "--format", "svg", "--out", "p"]);
    assert!(drawn.contains("channels.svg"), "{drawn}");
    place.run(&["report", "r", "--out", "page.html"]);
    assert!(place.read("page.html").contains("(0,0) +x"));
}
