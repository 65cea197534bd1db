//! Values that other programs give.

use flitlab::application::goal;
use flitlab::application::loggops::{LogGops, simulate};

use super::{Row, Section, in_repository, records};

pub fn sections() -> Vec<Section> {
    vec![caminos(), booksim(), opensm(), loggopsim()]
}

/// Edge-forwarding indices of OpenSM's tables, where it has one with flitlab's algorithm of that name.
fn opensm() -> Section {
    let mut rows = Vec::new();
    for record in records("results/nue/compare-opensm/fabrics.csv") {
        let [theirs, ours] = ["index_opensm", "index_flitlab"].map(|it| record[it].parse::<f64>());
        if let (Ok(theirs), Ok(ours)) = (theirs, ours) {
            let what = format!("{} on {}", record["routing"], record["fabric"]);
            rows.push(Row::new(what, theirs, ours, "scripts/compare-opensm.sh"));
        }
    }
    Section {
        title: "OpenSM: edge-forwarding index of its tables",
        source: "The most loaded channel of all pairs' paths. The algorithms agree, orders and ties don't \
                 (results/nue/compare-opensm): a lower index is no error.",
        rows,
    }
}

/// Times that LogGOPSim and the version of it in ATLAHS print for schedules of its own generator.
fn loggopsim() -> Section {
    let mut rows = Vec::new();
    for (name, classic, atlahs) in crate::loggops::PRINTED {
        let path = in_repository(&format!("tests/goal/{name}.goal"));
        let schedule = goal::read(&path).expect("a committed file");
        for (parameters, program, printed) in
            [(LogGops::CLASSIC, "LogGOPSim", classic), (crate::loggops::ATLAHS, "ATLAHS", atlahs)]
        {
            let time = simulate(&schedule, &parameters).expect("it comes to its end").time();
            let [printed, time] = [printed, time].map(|time| time as f64);
            let what = format!("{name}, {program}, ns");
            rows.push(Row::new(what, printed, time, "cargo test --test main loggops"));
        }
    }
    Section {
        title: "LogGOPSim: times of schedules",
        source: "Of LogGOPSim's own schedules, by its rules and by those of the version in ATLAHS; seven more are in \
                 results/loggops.",
        rows,
    }
}

/// Throughputs and latencies of CAMINOS on the same torus, from the table that its script prints.
fn caminos() -> Section {
    let readme = std::fs::read_to_string(in_repository("results/compare-caminos/README.md"));
    let readme = readme.expect("a committed file");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches(['|', ' ']).split('|').map(|cell| cell.trim().into()).collect()
    };
    let mut lines = readme.lines().skip_while(|line| !line.starts_with("| torus | load |"));
    let header = cells(lines.next().expect("the table"));
    let mut rows = Vec::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells = cells(line);
        let of = |name: &str| {
            let place = header.iter().position(|cell| cell == name).expect("a column");
            cells[place].parse::<f64>().expect("a number")
        };
        for (quantity, unit) in [("accepted", "flits a node and cycle"), ("latency", "cycles")] {
            rows.push(Row::new(
                format!("{} at load {}: {quantity}, {unit}", cells[0], cells[1]),
                of(&format!("{quantity}, CAMINOS")),
                of(&format!("{quantity}, flitlab")),
                "scripts/compare-caminos.sh",
            ));
        }
    }
    Section {
        title: "CAMINOS: uniform traffic of 16-flit packets",
        source: "Past saturation the order of directions makes the difference (results/compare-caminos).",
        rows,
    }
}

/// Throughputs and latencies of BookSim 2 on the same tori: throughput past saturation, else latency.
fn booksim() -> Section {
    let mut rows = Vec::new();
    for record in records("results/peers/booksim.csv") {
        let (quantity, unit) = match record["latency_deviation_percent"].as_str() {
            "" => ("accepted", "flits a node and cycle"),
            _ => ("latency", "cycles"),
        };
        let [theirs, ours] = ["booksim", "flitlab"].map(|program| {
            record[&format!("{quantity}_{program}")].parse::<f64>().expect("a number")
        });
        let what = format!(
            "{} {}, packets of {}, {} virtual channels, load {}: {quantity}, {unit}",
            record["torus"],
            record["pattern"],
            record["packet_flits"],
            record["virtual_channels"],
            record["offered"],
        );
        rows.push(Row::new(what, theirs, ours, "scripts/compare-booksim.sh"));
    }
    Section {
        title: "BookSim 2: tori whose links are shared flit by flit",
        source: "BookSim's figures are of one seed; next to saturation its own seeds differ more (results/peers).",
        rows,
    }
}
