//! `flitlab plot`: figures drawn again from results, one or several, in the sizes and formats of
//! papers.

use std::fs;
use std::process::Command;

use crate::common::workplace::{SHORT, Workplace, scenario, with};

fn sweep(place: &Workplace, name: &str, out: &str) {
    place.run(&with(&["sweep", &scenario(name), "--out", out], &SHORT));
}

#[test]
fn figures_are_drawn_again_without_simulating() {
    let place = Workplace::new("plot_again");
    sweep(&place, "desmos/desmos-loads", "a");
    let names: Vec<String> = fs::read_dir(place.0.join("a"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".svg") || name.ends_with(".pdf") || name.ends_with(".png"))
        .collect();
    assert!(names.len() >= 3 * 4, "{names:?}");
    let drawn: Vec<Vec<u8>> =
        names.iter().map(|name| place.read_bytes(&format!("a/{name}"))).collect();
    names.iter().for_each(|name| fs::remove_file(place.0.join("a").join(name)).unwrap());
    place.run(&["plot", "a"]);
    for (name, drawn) in names.iter().zip(drawn) {
        assert_eq!(place.read_bytes(&format!("a/{name}")), drawn, "{name}");
    }
    let printed = place.json(&["plot", "a", "--only", "latency", "--out", "b", "--json"]);
    let files: Vec<&str> =
        printed["figures"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(files, ["b/latency.svg", "b/latency.pdf", "b/latency.png"]);
}

#[test]
fn several_results_share_a_figure_under_their_labels() {
    let place = Workplace::new("plot_labels");
    sweep(&place, "desmos/desmos-uniform", "a");
    sweep(&place, "desmos/desmos-uniform", "b");
    sweep(&place, "desmos/desmos-loads", "c");
    place.run(&["plot", "a", "b", "--labels", "BFS,SSSP", "--only", "accepted", "--out", "two"]);
    let svg = place.read("two/accepted.svg");
    for text in ["BFS", "SSSP", "accepted = offered"] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), 1, "{text}");
    }
    // What has several series has its label in front of them; labels may have commas.
    let labels = ["--label", "one, two", "--label", "C"];
    place.run(&with(&["plot", "a", "c", "--only", "accepted", "--out", "three"], &labels));
    let svg = place.read("three/accepted.svg");
    for text in ["one, two", "C, uniform", "C, tornado"] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), 1, "{text}");
    }
    place.run(&["plot", "a", "c", "--only", "accepted", "--out", "four"]);
    assert!(place.read("four/accepted.svg").contains(">c, uniform<"));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let place = Workplace::new("plot_wrong");
    sweep(&place, "desmos/desmos-uniform", "a");
    place.run(&["run", &scenario("desmos/ping-neighbour"), "--out", "ping"]);
    fs::create_dir(place.0.join("other")).unwrap();
    fs::rename(place.0.join("ping"), place.0.join("other/a")).unwrap();
    // As an earlier version left it, which had windows of loads alone.
    fs::remove_file(place.0.join("other/a/windows.csv")).unwrap();
    // REVIEW C7: a header without rows, and nothing at all.
    let points = place.read("a/points.csv");
    for (folder, text) in [("begun", points.split_inclusive('\n').next().unwrap()), ("empty", "")] {
        fs::create_dir(place.0.join(folder)).unwrap();
        place.write(&format!("{folder}/points.csv"), text);
    }
    for (arguments, expected) in [
        (&["plot", "a", "other/a"][..], "add --out DIR"),
        (&["plot", "a", "a", "--out", "x"], "a is given twice"),
        (
            &["plot", "a", "other/a", "--out", "x"],
            "nothing in common to draw: a has load curves; other/a has completion times",
        ),
        (&["plot", "a", "other/a", "--labels", "one", "--out", "x"], "1 label for 2 results"),
        (
            &["plot", "a", "other/a", "--labels", "one,one", "--out", "x"],
            "two results have the label `one`",
        ),
        (&["plot", "nothing"], "nothing does not exist: name a folder that flitlab run"),
        (&["plot", "other"], "other has no points.csv: name a folder that flitlab run"),
        (&["plot", "begun"], "begun/points.csv has no points, so there is nothing to draw"),
        (&["plot", "empty"], "empty/points.csv has no points, so there is nothing to draw"),
        (&["plot", "a", "--load", "nan"], "write a load such as 0.3"),
        (&["plot", "a", "--load=-1"], "write a load such as 0.3"),
        (&["plot", "a", "--width", "3.5"], "3.5in, 89mm"),
        (&["plot", "a", "--width", "300in"], "1 to 20 inches wide"),
        (&["plot", "a", "--font-size", "1pt"], "4pt to 24pt"),
        (&["plot", "a", "--format", "gif"], "pgfplots"),
        (&["plot", "a", "--only", "pie"], "channel-map"),
        (&["plot", "a", "--over", "router.buffer"], "no scaling curve can be over router.buffer"),
        (&["plot", "other/a", "--only", "time"], "no windows.csv"),
        (&["plot", "other/a", "--only", "latency"], "nothing to draw for latency"),
    ] {
        let (code, errors) = place.fail(arguments);
        assert_eq!((code, errors.contains(expected)), (2, true), "{arguments:?}: {errors}");
    }
    assert!(!place.0.join("x").exists());
}

#[test]
fn scaling_is_over_a_key_of_the_sweep() {
    let place = Workplace::new("plot_scaling");
    let path = scenario("studies/alltoall-over-size");
    place.run(&["sweep", &path, "--out", "a", "--set", "exchange.message=512 B"]);
    let svg = place.read("a/scaling.svg");
    for text in ["Nodes", "8", "128", "direction order", "angara", "adaptive"] {
        assert!(svg.contains(&format!(">{text}<")), "{text}");
    }
    assert!(svg.contains(">Completion time (µs)<"), "{svg}");
    assert_eq!(place.run(&["plot", "a", "--only", "scaling"]).lines().count(), 3);
}

#[test]
fn rows_of_a_point_tell_its_distribution_and_its_windows() {
    let place = Workplace::new("plot_rows");
    let path = scenario("desmos/desmos-uniform");
    place.run(&with(&["run", &path, "--out", "a"], &SHORT));
    let point = &place.json(&with(&["run", &path, "--out", "b", "--json"], &SHORT))["points"][0];
    let rows = |file: &str| -> Vec<Vec<String>> {
        let text = place.read(file);
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let latencies: Vec<(f64, f64)> = rows("a/latencies.csv")
        .iter()
        .map(|row| (row[3].parse().unwrap(), row[4].parse().unwrap()))
        .collect();
    assert!(latencies.len() <= 137);
    assert!(latencies.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{latencies:?}");
    let (last, share) = *latencies.last().unwrap();
    assert_eq!((Some(last), share), (point["packet_latency_max_ns"].as_f64(), 1.0));
    let median = latencies.iter().find(|step| step.1 >= 0.5).unwrap().0;
    assert_eq!(Some(median), point["packet_latency_p50_ns"].as_f64());

    let windows = rows("a/windows.csv");
    let measured = windows.iter().filter(|row| row[3] == "measured").count();
    assert_eq!(Some(measured as u64), point["windows"].as_u64());
    assert!(windows.len() > measured && windows[0][3] == "warm-up", "{windows:?}");
    // The accepted load is the mean of the measured windows', which are equally long.
    let mean = windows[windows.len() - measured..]
        .iter()
        .map(|row| row[6].parse::<f64>().unwrap())
        .sum::<f64>()
        / measured as f64;
    let accepted = point["accepted_load"].as_f64().unwrap();
    assert!((mean - accepted).abs() < 2e-6, "{mean} {accepted}");
    assert_eq!(windows.last().unwrap()[5].parse().ok(), point["simulated_time_us"].as_f64());
}

#[test]
fn results_of_earlier_versions_are_drawn_as_far_as_they_go() {
    let place = Workplace::new("plot_earlier");
    sweep(&place, "desmos/desmos-uniform", "a");
    for file in ["latencies.csv", "windows.csv", "cdf.svg", "time.svg"] {
        fs::remove_file(place.0.join("a").join(file)).unwrap();
    }
    // Without the columns `settings` and `nodes`.
    let text = place.read("a/points.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let later = |at: usize| ["settings", "nodes"].contains(&header[at]);
    let without = |line: &str| -> String {
        let cells = line.split(',').enumerate().filter(|(at, _)| !later(*at));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
    };
    fs::write(place.0.join("a/points.csv"), text.lines().map(without).collect::<String>()).unwrap();
    let drawn = place.run(&["plot", "a"]);
    assert!(drawn.contains("a/accepted.svg") && !drawn.contains("cdf"), "{drawn}");
}

/// What other programs say of the PDF, where they are.
#[test]
fn the_pdf_has_its_font_and_its_text() {
    let place = Workplace::new("plot_pdf");
    sweep(&place, "desmos/desmos-uniform", "a");
    place.run(&["plot", "a", "--only", "accepted", "--width", "89mm", "--out", "b"]);
    let of = |program: &str, more: &[&str]| {
        let file = place.0.join("b/accepted.pdf");
        let output = Command::new(program).arg(file).args(more).output();
        output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (Some(fonts), Some(text), Some(facts)) =
        (of("pdffonts", &[]), of("pdftotext", &["-"]), of("pdfinfo", &[]))
    else {
        println!("skipped: there are no pdffonts, pdftotext and pdfinfo");
        return;
    };
    let line = fonts.lines().find(|line| line.contains("LiberationSans")).expect(&fonts);
    assert!(line.contains("TrueType") && line.contains("yes yes yes"), "{fonts}");
    for line in ["Desmos (4x2x2x2), uniform traffic", "Offered load (fraction of capacity)"] {
        assert!(text.contains(line), "{text}");
    }
    let size = facts.lines().find(|line| line.starts_with("Page size")).expect(&facts);
    assert!(size.contains(" 252.28"), "{size}");
}
