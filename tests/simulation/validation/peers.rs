//! Values that other programs give.

use std::collections::BTreeMap;

use flitlab::application::Tally;
use flitlab::application::loggops::{LogGops, simulate};
use flitlab::traces::goal;
use flitlab::traces::read::{Options, read};

use super::{Row, Section, in_repository, records, value};

pub fn sections() -> Vec<Section> {
    vec![
        caminos(),
        caminos_adaptive(),
        booksim(),
        booksim_adaptive(),
        vcs(),
        opensm(),
        loggopsim(),
        ember(),
        astra_sim(),
    ]
}

/// Edge-forwarding indices of OpenSM's tables, where it has one with flitlab's algorithm of that
/// name.
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
        source: "The index is the load of the most loaded channel, of all pairs' paths. The\n\
                 algorithms agree, but orders and ties don't (results/nue/compare-opensm). So a\n\
                 lower index is no error.",
        rows,
    }
}

/// Times of SST's Ember motifs on tori.
fn ember() -> Section {
    let mut rows = Vec::new();
    for record in records("results/applications/motifs.csv") {
        let [shape, motif, iterations, bytes] =
            ["shape", "motif", "iterations", "bytes"].map(|it| &record[it]);
        let Ok(sst) = record["sst_us"].parse::<f64>() else { continue };
        let size = if bytes.is_empty() { String::new() } else { format!(", {bytes} B") };
        rows.push(Row::new(
            format!("{motif} on {shape}, {iterations} times{size}, us"),
            sst,
            value(&record["completion_us"]),
            "flitlab reproduce ember-torus",
        ));
    }
    Section {
        title: "SST: Ember's motifs on tori",
        source: "The times are those that SST's own tests expect (sst-elements,\n\
                 ember/tests/refFiles). The platform is its ember/test/defaultParams.py, and\n\
                 nothing is fitted (results/applications).",
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
            rows.push(Row::new(what, printed, time, "cargo test --test simulation loggops"));
        }
    }
    Section {
        title: "LogGOPSim: times of schedules",
        source: "The schedules are LogGOPSim's own. The times are by its rules\n\
                 ([loggopsim](bibliography.md#loggopsim)), and by those of the version in\n\
                 ATLAHS ([atlahs](bibliography.md#atlahs)). Seven more schedules are in\n\
                 results/loggops.",
        rows,
    }
}

/// Bytes that each rank sends in ASTRA-sim's ring algorithms, for its own traces.
fn astra_sim() -> Section {
    let mut rows = Vec::new();
    let size = f64::from(1 << 20);
    // 4 ranks: what `Ring.cc` sends in so many steps.
    for (name, steps, message) in [
        ("all_reduce", 6.0, size / 4.0),
        ("all_gather", 3.0, size),
        ("reduce_scatter", 3.0, size / 4.0),
        ("all_to_all", 3.0, size / 4.0),
    ] {
        let folder = in_repository(&format!("tests/traces/astra-sim/{name}"));
        let reading = read(folder.as_ref(), &Options::default()).expect("committed files");
        let sent = Tally::new(&reading.schedule).bytes_sent;
        assert_eq!(sent.least, sent.most, "every rank sends as much");
        let command = format!("flitlab schedule check tests/traces/astra-sim/{name}");
        let what = format!("{name} of 1 MiB on 4 ranks, B a rank sends");
        rows.push(Row::new(what, steps * message, sent.least as f64, &command));
    }
    Section {
        title: "ASTRA-sim: bytes of collective operations in its traces",
        source: "The traces are ASTRA-sim's microbenchmarks. A rank sends as many messages of as\n\
                 many bytes as its ring algorithms do\n\
                 (`collective_algorithm/Ring.cc`, [chakra](bibliography.md#chakra)). An\n\
                 all-to-all goes straight there, as in its direct algorithm.",
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
        source: "results/compare-caminos says which rules differ, and by how much each moves\n\
                 which value.",
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
        source: "BookSim's figures are of one seed. Next to saturation its own seeds differ\n\
                 more from each other (results/peers).",
        rows: records("results/peers/booksim.csv").iter().map(row).collect(),
    }
}

/// Past saturation, adaptive and non-minimal routing of CAMINOS on networks that are no tori.
fn caminos_adaptive() -> Section {
    let records = records("results/peers/caminos-adaptive-beside.csv");
    Section {
        title: "CAMINOS: adaptive and non-minimal routing past saturation",
        source: "Routers have buffers at outputs, as CAMINOS's. results/peers/adaptive.md has the rules\n\
                 that differ, and lower loads.",
        rows: past_saturation(&records, "caminos"),
    }
}

/// The adaptive and non-minimal rows of BookSim 2.
fn booksim_adaptive() -> Section {
    let records = records("results/peers/booksim-adaptive-beside.csv");
    Section {
        title: "BookSim 2: adaptive and non-minimal routing past saturation",
        source: "results/peers/adaptive.md has the rules that differ, and lower loads.",
        rows: past_saturation(&records, "booksim"),
    }
}

/// The rows in which nodes offer as much as they can.
fn past_saturation(records: &[BTreeMap<String, String>], program: &str) -> Vec<Row> {
    let records = records.iter().filter(|record| record["offered"] == "1.0");
    let row = |record: &BTreeMap<String, String>| {
        let [network, pattern, routing, vcs] =
            ["network", "pattern", "routing", "virtual_channels"].map(|it| &record[it]);
        let setting = format!("{network} {pattern}, {routing}, {vcs} virtual channels");
        beside(record, program, &setting, &format!("scripts/compare-{program}.sh adaptive"))
    };
    records.map(row).collect()
}

/// Wormhole switching with one virtual channel and two, past saturation.
fn vcs() -> Section {
    let row = |record: &BTreeMap<String, String>| {
        let [network, vcs] = ["network", "lanes"].map(|it| &record[it]);
        let what = format!("{network}, virtual channels: {vcs}; accepted, flits a node and cycle");
        let [theirs, ours] =
            ["booksim", "flitlab"].map(|program| value(&record[&format!("accepted_{program}")]));
        Row::new(what, theirs, ours, "flitlab sweep scenarios/peers/booksim-8x8-mesh.toml")
    };
    Section {
        title: "Wormhole switching with virtual channels",
        source: "An input has 16 flits of buffer, divided among its virtual channels.\n\
                 Packets have 20 flits, under uniform traffic at load 1. The expected values\n\
                 are those of BookSim 2, the simulator of\n\
                 [dally-towles](bibliography.md#dally-towles), with one seed. There are\n\
                 published curves of virtual channels that are not compared here: results/peers\n\
                 says why.",
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
