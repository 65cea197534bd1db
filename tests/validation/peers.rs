//! Values that other programs give.

use std::collections::BTreeMap;

use flitlab::application::goal;
use flitlab::application::loggops::{LogGops, simulate};

use super::{Row, Section, in_repository, records, value};

pub fn sections() -> Vec<Section> {
    vec![caminos(), booksim(), lanes(), opensm(), loggopsim()]
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
            let (printed, time) = (printed as f64, time.0 as f64 / 1e3);
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

/// Throughputs and latencies of CAMINOS on the same tori.
fn caminos() -> Section {
    let row = |record: &BTreeMap<String, String>| {
        let routing = match record["flitlab"].as_str() {
            "" => record["routing"].clone(),
            series => format!("{}, {series}", record["routing"]),
        };
        let [torus, pattern, offered] = ["torus", "pattern", "offered"].map(|it| &record[it]);
        let setting = format!("{torus} {pattern}, {routing}, load {offered}");
        beside(record, "caminos", &setting, "scripts/compare-caminos.sh figures")
    };
    Section {
        title: "CAMINOS: tori with the bubble rule, packets of 16 flits",
        source: "Which rules differ, and by how much that moves what: results/compare-caminos.",
        rows: records("results/peers/caminos.csv").iter().map(row).collect(),
    }
}

/// Throughputs and latencies of BookSim 2 on the same tori.
fn booksim() -> Section {
    let row = |record: &BTreeMap<String, String>| {
        let setting = format!(
            "{} {}, packets of {}, {} virtual channels, load {}",
            record["torus"],
            record["pattern"],
            record["packet_flits"],
            record["virtual_channels"],
            record["offered"],
        );
        beside(record, "booksim", &setting, "scripts/compare-booksim.sh")
    };
    Section {
        title: "BookSim 2: tori whose links are shared flit by flit",
        source: "BookSim's figures are of one seed; next to saturation its own seeds differ more (results/peers).",
        rows: records("results/peers/booksim.csv").iter().map(row).collect(),
    }
}

/// Wormhole switching with one lane and two, past saturation.
fn lanes() -> Section {
    let row = |record: &BTreeMap<String, String>| {
        let [network, lanes] = ["network", "lanes"].map(|it| &record[it]);
        let what = format!("{network}, lanes: {lanes}; accepted, flits a node and cycle");
        let [theirs, ours] =
            ["booksim", "flitlab"].map(|program| value(&record[&format!("accepted_{program}")]));
        Row::new(what, theirs, ours, "flitlab sweep scenarios/peers/booksim-8x8-mesh.toml")
    };
    Section {
        title: "Wormhole switching by lanes",
        source: "16 flits of buffer an input, parted among its lanes, packets of 20 flits, uniform traffic at load 1. Of BookSim \
                 2, the simulator of W. Dally and B. Towles's \"Principles and Practices of Interconnection Networks\", one \
                 seed. The curves that are published of lanes are not held to: results/peers says why.",
        rows: records("results/peers/lanes.csv").iter().map(row).collect(),
    }
}

/// A program's value beside flitlab's: accepted throughput past saturation, else latency.
fn beside(record: &BTreeMap<String, String>, program: &str, setting: &str, command: &str) -> Row {
    let (quantity, unit) = match record["latency_deviation_percent"].as_str() {
        "" => ("accepted", "flits a node and cycle"),
        _ => ("latency", "cycles"),
    };
    let [theirs, ours] =
        [program, "flitlab"].map(|program| value(&record[&format!("{quantity}_{program}")]));
    Row::new(format!("{setting}: {quantity}, {unit}"), theirs, ours, command)
}
