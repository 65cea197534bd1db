//! Latencies by node and by pair (`measure.latency_by`), compared with the log of each packet.

use std::collections::BTreeMap;

use flitlab::{
    engine::DeliveredPacket,
    measure::LogFilter,
    report::{PairRow, PointResult},
    scenario::{Document, Scenario},
    simulation::Simulation,
    units::Picoseconds,
};

fn run(text: &str, threads: usize) -> (PointResult, Vec<DeliveredPacket>, Vec<String>) {
    let filter = LogFilter { packets: true, messages: false, terminals: Vec::new(), most: 1 << 20 };
    let scenario = Scenario::read(&Document::parse("pairs.toml", text));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(&scenario).unwrap();
    let simulation = simulation.on_threads(threads).logging_deliveries(filter);
    let fabric = &scenario.network.fabric;
    let names = (0..fabric.terminals()).map(|terminal| fabric.terminal_name(terminal)).collect();
    let outcome = simulation.run(&mut |_| {});
    (outcome.found, outcome.logged.packets, names)
}

/// Routers of each kind.
const KINDS: [(&str, &str); 3] = [
    ("whole packets", ""),
    ("flits", "link.sharing.flit = {}\nrouting.direction_order.dateline = true\n"),
    (
        "buffers at outputs",
        "router.output_buffer = \"64 flits\"\nrouting.direction_order.dateline = true\n",
    ),
];

const EXCHANGE: &str = "topology.torus.dimensions = [4, 2]\n[exchange]\npattern = \"all-to-all\"\n\
                        message = \"700 B\"\n";

#[test]
fn sums_of_nodes_and_pairs_are_those_of_the_packets_in_each_kind_of_router() {
    for (kind, own) in KINDS {
        let text = format!("measure.latency_by = \"pair\"\n{own}{EXCHANGE}");
        let (found, packets, names) = run(&text, 1);
        // By source and destination, where all is none: how many, their sum, and the longest.
        let mut sums: BTreeMap<(String, String), (u64, u64, Picoseconds)> = BTreeMap::new();
        for packet in &packets {
            let [source, destination] =
                [packet.source, packet.destination].map(|it| names[it as usize].clone());
            let latency = packet.delivered - packet.created;
            let all = String::new;
            for key in
                [(source.clone(), all()), (all(), destination.clone()), (source, destination)]
            {
                let sum = sums.entry(key).or_default();
                *sum = (sum.0 + 1, sum.1 + latency.0, sum.2.max(latency));
            }
        }
        // Eight nodes as sources, as destinations, and 56 pairs.
        assert_eq!((sums.len(), found.pairs.len()), (72, 72), "{kind}");
        for row in &found.pairs {
            let sum = sums[&(row.source.clone(), row.destination.clone())];
            assert_eq!((row.packets, row.packet_latency_max), (sum.0, sum.2), "{kind}: {row:?}");
            let mean = sum.1 as f64 / sum.0 as f64;
            assert!((row.packet_latency_mean.0 as f64 - mean).abs() <= 0.5, "{kind}: {row:?}");
        }
        assert_eq!(run(&text, 3).0, found, "{kind}");

        let (of_nodes, ..) = run(&text.replace("\"pair\"", "\"node\""), 1);
        let is_node = |row: &&PairRow| row.source.is_empty() || row.destination.is_empty();
        let nodes: Vec<PairRow> = found.pairs.iter().filter(is_node).cloned().collect();
        assert_eq!(of_nodes.pairs, nodes, "{kind}");
        // It changes nothing else, and is absent unless it is asked for.
        let (plain, ..) = run(&format!("{own}{EXCHANGE}"), 1);
        assert_eq!(plain, PointResult { pairs: Vec::new(), ..found }, "{kind}");
    }
}

#[test]
fn of_a_load_all_packets_that_were_measured_have_their_pair() {
    for (kind, own) in KINDS {
        let text = format!(
            "measure.latency_by = \"pair\"\n{own}topology.torus.dimensions = [4, 4]\n\
             measure.maximum_windows = 12\nmeasure.window = \"1 us\"\n[traffic]\n\
             pattern = \"tornado\"\nload = 0.2\n"
        );
        let (found, ..) = run(&text, 1);
        let all = found.measured.packets.unwrap();
        let mean = found.measured.packet_latency_mean.unwrap().0 as f64;
        let of = |wanted: fn(&PairRow) -> bool| {
            let rows = found.pairs.iter().filter(|row| wanted(row));
            rows.fold((0, 0.0), |(count, sum), row| {
                (count + row.packets, sum + row.packets as f64 * row.packet_latency_mean.0 as f64)
            })
        };
        for (count, sum) in [
            of(|row| row.destination.is_empty()),
            of(|row| row.source.is_empty()),
            of(|row| !row.source.is_empty() && !row.destination.is_empty()),
        ] {
            assert_eq!(count, all, "{kind}");
            assert!((sum / count as f64 - mean).abs() <= 1.0, "{kind}");
        }
        // Of a permutation each source has one destination.
        assert_eq!(found.pairs.len(), 3 * 16, "{kind}");
        assert_eq!(run(&text, 2).0, found, "{kind}");
    }
}
