//! CPU time a flit-hop and a packet-hop, events a second, bytes a node: 8x8x8, uniform, 16-flit packets,
//! one thread, below and past saturation.
//!
//! `cargo bench` runs each point several times in turn and prints the least and the median, since on a
//! shared machine only these mean anything. Set-up is not included; warm-up windows are.

use flitlab::scenario::{Document, Scenario};
use flitlab::sweep::Simulation;

const REPETITIONS: usize = 5;
const LOADS: [&str; 2] = ["0.3", "0.7"];

fn main() {
    // `cargo test --benches` calls benchmarks too; it only wants to know that they start.
    let quick = std::env::args().any(|argument| argument == "--test");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/bench/torus-8x8x8.toml");
    let text = std::fs::read_to_string(path).expect("the benchmark's scenario");
    let scenarios: Vec<Scenario> = LOADS
        .iter()
        .map(|load| {
            let mut document = Document::parse(path, &text);
            document.set(&format!("traffic.load={load}"));
            document.set("measure.warm_up_windows=4");
            if quick {
                document.set("measure.window=200 ns");
            }
            Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"))
        })
        .collect();
    let mut samples = vec![Vec::new(); scenarios.len()];
    for _ in 0..if quick { 1 } else { REPETITIONS } {
        for (scenario, samples) in scenarios.iter().zip(&mut samples) {
            let simulation = Simulation::new(scenario).expect("a checked scenario");
            samples.push(simulation.run("", 0, &mut |_| {}));
        }
    }
    println!(
        "load  ns/flit-hop min  median  ns/packet-hop min  median  events/s median  bytes/node  digest"
    );
    for (load, samples) in LOADS.iter().zip(&samples) {
        let sorted = |value: &dyn Fn(&flitlab::sweep::Outcome) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            (values[0], values[values.len() / 2])
        };
        let flit = sorted(&|it| it.work.nanoseconds_each(it.work.counters.flit_hops));
        let packet = sorted(&|it| it.work.nanoseconds_each(it.work.counters.packet_hops));
        let events = sorted(&|it| it.row.events as f64 / it.work.simulating.as_secs_f64());
        let first = &samples[0];
        println!(
            "{load:<5} {:>15.2} {:>7.2} {:>18.1} {:>7.1} {:>16.3e} {:>11.0}  {:016x}",
            flit.0,
            flit.1,
            packet.0,
            packet.1,
            events.1,
            first.work.bytes_a_node,
            first.row.digest.unwrap_or(0)
        );
    }
}
