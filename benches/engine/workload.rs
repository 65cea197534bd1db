//! What is measured: scenarios on the Angara router and on BookSim's, a block of busy nodes, and
//! the output-queued router.

use std::time::Instant;

use cpu_time::ThreadTime;
use flitlab::adaptive::Tie;
use flitlab::engine::Engine;
use flitlab::output_queued::{Parameters, Routing, Settings, simulate};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::topology::{Fabric, Faults, Torus};
use flitlab::traffic::{Message, MessageKind, PatternSpec, Script};
use flitlab::units::Picoseconds;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::sample::{Sample, peak_memory};

/// A workload by its name in the table.
#[derive(Debug)]
pub struct Workload {
    pub name: String,
    pub kind: KindOfWorkload,
}

#[derive(Debug)]
pub enum KindOfWorkload {
    /// A scenario, but for what is set.
    Scenario { path: &'static str, threads: usize, sets: String },
    /// The traffic of 8x8x8 nodes in a torus of this size, the rest of which is idle.
    Block { size: u32 },
    /// The output-queued router of \[outflank\].
    OutputQueued,
}

/// 8x8x8 on the Angara router, 16-flit packets, uniform at load 0.3.
const ANGARA: &str = "scenarios/bench/torus-8x8x8.toml";
/// A Dragonfly of 35-port switches, packets of 33 flits, uniform at load 0.3, by nue-balanced.
const DRAGONFLY: &str = "scenarios/bench/dragonfly-36.toml";
/// Adaptive routing there.
const RELATION: &str = "routing=relation;routing.relation.rule=minimal-up-down";
/// Buffers of two packets at outputs there, to which as many cross at once as there are virtual
/// channels.
const BEHIND: &str = "router.output_buffer=66 flits;router.crossbar_speedup=8";
/// 8x8 on BookSim's router, whose latencies are a cycle each, packets of one flit, uniform.
const BOOKSIM: &str = "scenarios/peers/booksim-8x8-uniform.toml";

/// Four virtual channels share each link flit by flit.
const SHARED: &str = "link.sharing=flit;router.virtual_channels=4;measure.window=4 us";
/// At 0.3 flits a node and cycle.
const CYCLES: &str = "traffic.load=4.8 GB/s;measure.window=4 us;measure.warm_up=16 us;measure.minimum_windows=10;measure.maximum_windows=10";
const SIXTEEN_FLITS: &str = "router.maximum_payload=256 B;router.buffer=16 flits;adapter.injection_buffer=16 flits;\
                             traffic.message=256 B";
const ONE_FLIT: &str = "router.header_flits=0;router.checksum_flits=0;router.maximum_payload=16 B;\
                        traffic.message=16 B;measure.window=2 us";
const LARGE: &str = "topology.torus.dimensions=[16, 16, 16];traffic.load=0.5;measure.window=1 us";
const SIZES: [(u32, &str); 9] = [
    (4, "400 us"),
    (6, "100 us"),
    (8, "50 us"),
    (12, "15 us"),
    (16, "6 us"),
    (24, "2 us"),
    (32, "1500 ns"),
    (64, "500 ns"),
    (100, "500 ns"),
];

/// The workloads of the table.
pub fn all() -> Vec<Workload> {
    let scenario = |name: &str, threads: usize, sets: &str| Workload {
        name: name.to_owned(),
        kind: KindOfWorkload::Scenario { path: ANGARA, threads, sets: sets.to_owned() },
    };
    let dragonfly = |name: &str, sets: &str| Workload {
        name: name.to_owned(),
        kind: KindOfWorkload::Scenario { path: DRAGONFLY, threads: 1, sets: sets.to_owned() },
    };
    let cycles = |name: &str, sets: &str| Workload {
        name: name.to_owned(),
        kind: KindOfWorkload::Scenario {
            path: BOOKSIM,
            threads: 1,
            sets: format!("{CYCLES};{sets}"),
        },
    };
    let block = |name: &str, size: u32| Workload {
        name: name.to_owned(),
        kind: KindOfWorkload::Block { size },
    };
    vec![
        scenario("8x8x8 0.1", 1, "traffic.load=0.1"),
        scenario("8x8x8 0.3", 1, ""),
        scenario("8x8x8 0.7", 1, "traffic.load=0.7"),
        scenario("8x8x8 1.2", 1, "traffic.load=1.2"),
        scenario("8x8x8 0.3, packets of 1 flit", 1, ONE_FLIT),
        scenario("8x8x8 0.7, packets of 1 flit", 1, &format!("{ONE_FLIT};traffic.load=0.7")),
        scenario("4x4x4x4 0.3", 1, "topology.torus.dimensions=[4, 4, 4, 4]"),
        scenario("8x8x8 0.3, ABR", 1, "routing.adaptive.selection=most-room"),
        scenario("8x8x8 0.3, OFR", 1, "routing.outflank.steps=1"),
        scenario("8x8x8 0.3, 2 threads", 2, ""),
        scenario("16x16x16 0.5", 1, LARGE),
        scenario("16x16x16 0.5, 2 threads", 2, LARGE),
        scenario(
            "64x64x64 0.02",
            1,
            "topology.torus.dimensions=[64, 64, 64];traffic.load=0.02;measure.window=1 us",
        ),
        dragonfly("dragonfly 0.3, nue-balanced", ""),
        dragonfly("dragonfly 0.3, minimal-up-down", RELATION),
        dragonfly("dragonfly 0.3, buffers at outputs", BEHIND),
        scenario("shared links 0.3", 1, SHARED),
        scenario("shared links 0.3, 1 flit", 1, &format!("{SHARED};{ONE_FLIT}")),
        scenario("shared links 0.3, 2 threads", 2, SHARED),
        cycles("shared links, BookSim", SIXTEEN_FLITS),
        cycles("shared links, BookSim, 1 flit", ""),
        block("8x8x8 nodes alone", 8),
        block("8x8x8 nodes of 16x16x16", 16),
        block("8x8x8 nodes of 32x32x32", 32),
        Workload {
            name: "paper router 8x8x8 0.4, OFR".to_owned(),
            kind: KindOfWorkload::OutputQueued,
        },
    ]
}

/// Tori of all sizes at load 0.2, each for about as many packet-hops, but for the largest.
pub fn sizes() -> Vec<(u32, Workload)> {
    let of = |&(size, window): &(u32, &str)| {
        let sets = format!(
            "topology.torus.dimensions=[{size}, {size}, {size}];traffic.load=0.2;measure.window={window}"
        );
        let name = format!("{size}x{size}x{size} 0.2");
        (size, Workload { name, kind: KindOfWorkload::Scenario { path: ANGARA, threads: 1, sets } })
    };
    SIZES.iter().map(of).collect()
}

impl Workload {
    /// Runs it once. `window` replaces the length of its windows; a quick run is a small one that
    /// only shows that it runs.
    pub fn run(&self, window: Option<&str>, quick: bool) -> Sample {
        match &self.kind {
            KindOfWorkload::Scenario { path, threads, sets } => {
                run_scenario(path, *threads, sets, window, quick)
            }
            KindOfWorkload::Block { size } => run_block(*size, quick),
            KindOfWorkload::OutputQueued => run_output_queued(quick),
        }
    }

    /// Whether instructions can be counted in reasonable time: on one thread and not too many
    /// nodes, for two lengths of window.
    pub fn is_countable(&self) -> bool {
        match &self.kind {
            KindOfWorkload::Scenario { threads, sets, .. } => *threads == 1 && !sets.contains("64"),
            KindOfWorkload::Block { .. } | KindOfWorkload::OutputQueued => false,
        }
    }
}

fn run_scenario(
    path: &str,
    threads: usize,
    sets: &str,
    window: Option<&str>,
    quick: bool,
) -> Sample {
    let place = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&place).expect("the benchmark's scenario");
    let mut document = Document::parse(&place, &text);
    if path != BOOKSIM {
        document.set("measure.warm_up_windows=4");
    }
    // The speed is that of the engine.
    document.set("measure.order=false");
    sets.split(';').filter(|set| !set.is_empty()).for_each(|set| document.set(set));
    if let Some(window) = window {
        document.set(&format!("measure.window={window}"));
    }
    if quick {
        if sets.contains("64, 64") {
            document.set("topology.torus.dimensions=[16, 16, 16]");
        }
        document.set("measure.window=500 ns");
    }
    let scenario = Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let simulation = Simulation::new(&scenario).expect("a checked scenario").on_threads(threads);
    let nodes = simulation.fabric().terminals();
    let outcome = simulation.run(&mut |_| {});
    let work = outcome.work;
    Sample {
        cpu_seconds: work.simulating.as_secs_f64(),
        seconds: work.elapsed.as_secs_f64(),
        set_up_seconds: work.building.as_secs_f64(),
        packet_hops: work.counters.packet_hops,
        flit_hops: work.counters.flit_hops,
        grants: work.counters.grants,
        simulated_microseconds: outcome.found.measured.simulated_time.unwrap_or(Picoseconds::ZERO).0
            as f64
            / 1e6,
        nodes,
        bytes_a_node: work.bytes_a_node,
        peak_bytes: peak_memory(),
        digest: outcome.found.measured.digest.unwrap_or(0),
    }
}

/// Messages between nodes of a block of 8x8x8 at most three hops apart in each dimension, so that
/// they take the same routes in any torus of 8 or more: one every 400 ns and node on the average,
/// for 200 us.
fn run_block(size: u32, quick: bool) -> Sample {
    const SIDE: u32 = 8;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let number = |[x, y, z]: [u32; 3]| (z * size + y) * size + x;
    let mut messages = Vec::new();
    for place in 0..SIDE.pow(3) {
        let from = [place % SIDE, place / SIDE % SIDE, place / SIDE / SIDE];
        for _ in 0..if quick { 2 } else { 500 } {
            let to = from.map(|at| random.random_range(at.saturating_sub(3)..(at + 4).min(SIDE)));
            let time = random.random_range(0..200_000_000u64);
            if to != from {
                messages.push(Message {
                    time: Picoseconds(time),
                    source: number(from),
                    destination: number(to),
                    bytes: 224,
                    kind: MessageKind::Data,
                    tag: 0,
                    class: 0,
                });
            }
        }
    }
    let torus = Torus::new(&[size; 3], &[]).expect("a torus");
    let fabric: Fabric = torus.fabric(&Faults::default()).expect("nothing has failed");
    let started = ThreadTime::now();
    let order = DirectionOrder::new(&fabric, HalfRing::Balanced).expect("nothing has failed");
    let routes = Routes::DirectionOrder(order);
    let parameters = flitlab::engine::Parameters::default();
    let workload = Box::new(Script::new(messages));
    let mut engine = Engine::new(1, &fabric, &routes, &parameters, workload, ());
    let (built, clock) = (ThreadTime::now(), Instant::now());
    engine.run_until(Picoseconds::NEVER);
    let (cpu, seconds) = (built.elapsed(), clock.elapsed());
    let counters = engine.counters();
    let nodes = fabric.terminals();
    Sample {
        cpu_seconds: cpu.as_secs_f64(),
        seconds: seconds.as_secs_f64(),
        set_up_seconds: built.duration_since(started).as_secs_f64(),
        packet_hops: counters.packet_hops,
        flit_hops: counters.flit_hops,
        grants: counters.grants,
        simulated_microseconds: engine.now().0 as f64 / 1e6,
        nodes,
        bytes_a_node: engine.memory().0 as f64 / f64::from(nodes),
        peak_bytes: peak_memory(),
        digest: 0,
    }
}

/// CPU time a packet sent from router to router, refused ones included.
fn run_output_queued(quick: bool) -> Sample {
    let torus = Torus::new(&[8, 8, 8], &[]).expect("a torus");
    let settings = Settings {
        pattern: PatternSpec::new("butterfly", ""),
        load: 0.4,
        routing: Routing::OUTFLANK_PUBLISHED,
        tie: Tie::Plus,
        seed: 1,
    };
    let messages = if quick { 1 } else { Parameters::FOUR_TIMES_FASTER.messages };
    let parameters = Parameters { messages, ..Parameters::FOUR_TIMES_FASTER };
    let (cpu, clock) = (ThreadTime::now(), Instant::now());
    let measured = simulate(&torus, &parameters, &settings).expect("a run that ends");
    Sample {
        cpu_seconds: cpu.elapsed().as_secs_f64(),
        seconds: clock.elapsed().as_secs_f64(),
        packet_hops: measured.hops + measured.refused,
        nodes: 512,
        peak_bytes: peak_memory(),
        ..Sample::default()
    }
}
