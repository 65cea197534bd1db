//! What the engine costs: CPU time a flit-hop and a packet-hop, events a second, bytes a node.
//!
//! `cargo bench --bench engine` runs each workload several times, all of them in turn, and prints the least
//! and the median, since on a shared machine only these mean anything; `-- NAME` runs those whose names
//! contain NAME. Set-up is not included; warm-up windows are, and the time in which threads wait for each
//! other.

use std::time::Instant;

use flitlab::adaptive::Tie;
use flitlab::output_queued::{Parameters, Routing, Settings, simulate};
use flitlab::scenario::{Document, Scenario};
use flitlab::sweep::{Outcome, Simulation};
use flitlab::topology::Torus;
use flitlab::traffic::PatternSpec;

const REPETITIONS: usize = 5;

/// A workload on the Angara router: 8x8x8, 16-flit packets, uniform at load 0.3, but for what is set.
struct Workload {
    name: &'static str,
    threads: usize,
    sets: &'static str,
}

const fn workload(name: &'static str, threads: usize, sets: &'static str) -> Workload {
    Workload { name, threads, sets }
}

const WORKLOADS: [Workload; 13] = [
    workload("8x8x8 0.1", 1, "traffic.load=0.1"),
    workload("8x8x8 0.3", 1, ""),
    workload("8x8x8 0.7", 1, "traffic.load=0.7"),
    workload("8x8x8 1.2", 1, "traffic.load=1.2"),
    workload(
        "8x8x8 0.3, packets of 1 flit",
        1,
        "router.header_flits=0;router.checksum_flits=0;router.maximum_payload=16 B;\
         traffic.message=16 B;measure.window=2 us",
    ),
    workload(
        "8x8x8 0.7, packets of 1 flit",
        1,
        "router.header_flits=0;router.checksum_flits=0;router.maximum_payload=16 B;\
         traffic.message=16 B;measure.window=2 us;traffic.load=0.7",
    ),
    workload("4x4x4x4 0.3", 1, "topology.torus.dimensions=[4, 4, 4, 4]"),
    workload("8x8x8 0.3, ABR", 1, "routing.adaptive.selection=most-room"),
    workload("8x8x8 0.3, OFR", 1, "routing.outflank.steps=1"),
    workload("8x8x8 0.3, 2 threads", 2, ""),
    workload("16x16x16 0.5", 1, LARGE),
    workload("16x16x16 0.5, 2 threads", 2, LARGE),
    workload(
        "64x64x64 0.02",
        1,
        "topology.torus.dimensions=[64, 64, 64];traffic.load=0.02;measure.window=1 us",
    ),
];

const LARGE: &str = "topology.torus.dimensions=[16, 16, 16];traffic.load=0.5;measure.window=3 us";

impl Workload {
    fn scenario(&self, quick: bool) -> Scenario {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/bench/torus-8x8x8.toml");
        let text = std::fs::read_to_string(path).expect("the benchmark's scenario");
        let mut document = Document::parse(path, &text);
        document.set("measure.warm_up_windows=4");
        self.sets.split(';').filter(|set| !set.is_empty()).for_each(|set| document.set(set));
        if quick {
            document.set("topology.torus.dimensions=[4, 4, 4]");
            document.set("measure.window=200 ns");
        }
        Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }
}

fn least_and_median(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2])
}

fn print(name: &str, samples: &[Outcome]) {
    let of = |value: &dyn Fn(&Outcome) -> f64| least_and_median(samples.iter().map(value));
    let flit = of(&|it| it.work.nanoseconds_each(it.work.counters.flit_hops));
    let packet = of(&|it| it.work.nanoseconds_each(it.work.counters.packet_hops));
    let seconds = of(&|it| it.work.elapsed.as_secs_f64());
    let events = of(&|it| -(it.row.events as f64) / it.work.elapsed.as_secs_f64());
    println!(
        "{name:<30} {:>8.2} {:>8.2} {:>9.1} {:>8.1} {:>10.3e} {:>9.2} {:>8.0}  {:016x}",
        flit.0,
        flit.1,
        packet.0,
        packet.1,
        -events.1,
        seconds.0,
        samples[0].work.bytes_a_node,
        samples[0].row.digest.unwrap_or(0)
    );
}

/// The output-queued router of the OutFlank paper: CPU time a packet sent from router to router.
fn output_queued(quick: bool) {
    let name = "paper router 8x8x8 0.4, OFR";
    let torus = Torus::new(&[8, 8, 8], &[]).expect("a torus");
    let settings = Settings {
        pattern: PatternSpec::Butterfly,
        load: 0.4,
        routing: Routing::OUTFLANK_PUBLISHED,
        tie: Tie::Plus,
        seed: 1,
    };
    let messages = if quick { 1 } else { Parameters::FOUR_TIMES_FASTER.messages };
    let parameters = Parameters { messages, ..Parameters::FOUR_TIMES_FASTER };
    let samples = (0..if quick { 1 } else { REPETITIONS }).map(|_| {
        let start = Instant::now();
        let measured = simulate(&torus, &parameters, &settings).expect("a run that ends");
        start.elapsed().as_nanos() as f64 / (measured.hops + measured.refused) as f64
    });
    let (least, median) = least_and_median(samples);
    println!("{name:<30} {:>17} {least:>9.1} {median:>8.1}", "a packet sent");
}

fn main() {
    // `cargo test --benches` calls benchmarks too; it only wants to know that they start.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--test");
    let filter = arguments.iter().find(|argument| !argument.starts_with("--"));
    let wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter));
    let workloads: Vec<&Workload> = WORKLOADS.iter().filter(|it| wanted(it.name)).collect();
    let mut samples: Vec<Vec<Outcome>> = workloads.iter().map(|_| Vec::new()).collect();
    for _ in 0..if quick { 1 } else { REPETITIONS } {
        for (workload, samples) in workloads.iter().zip(&mut samples) {
            let scenario = workload.scenario(quick);
            let simulation = Simulation::new(&scenario).expect("a checked scenario");
            samples.push(simulation.on_threads(workload.threads).run("", 0, &mut |_| {}));
        }
    }
    println!(
        "{:<30} {:>17} {:>18} {:>10} {:>9} {:>8}  digest",
        "workload", "ns/flit-hop", "ns/packet-hop", "events/s", "seconds", "B/node"
    );
    println!(
        "{:<30} {:>8} {:>8} {:>9} {:>8} {:>10} {:>9}",
        "", "least", "median", "least", "median", "median", "least"
    );
    for (workload, samples) in workloads.iter().zip(&samples) {
        print(workload.name, samples);
    }
    if wanted("paper router") {
        output_queued(quick);
    }
}
