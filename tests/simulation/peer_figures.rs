//! Figures of a simulator with the same rules: an 8x8 torus, one deterministic virtual channel with
//! the bubble rule, 16-flit packets, 64-flit buffers, every channel one cycle, routers none. A
//! cycle is a nanosecond here. Throughput is in flits a cycle a node, which is load 1 on 8x8.

use flitlab::engine::{Arbitration, Engine, Parameters};
use flitlab::measure::{
    Collector, Ending, LoadMeasurement, Offered, Settings, Stream, Watch, ZeroLoad, forecast,
    measure_load,
};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Access, LoadSpec, OfferedLoad, OpenLoad, PatternSpec, Process};
use flitlab::units::{Bytes, Picoseconds, Rate};

fn parameters(arbitration: Arbitration) -> Parameters {
    let cycle = 1_000;
    let rate = Rate(128_000_000_000);
    Parameters {
        header_flits: 1,
        checksum_flits: 0,
        maximum_payload: Bytes(15 * 16),
        buffer: 64,
        injection_buffer: 64,
        arbitration,
        routing_latency: Picoseconds::ZERO,
        crossbar_latency: Picoseconds::ZERO,
        link_rate: rate,
        link_latency: Picoseconds(cycle),
        injection_channels: 1,
        injection_rate: rate,
        injection_latency: Picoseconds(cycle),
        ejection_channels: 1,
        ejection_rate: rate,
        ejection_latency: Picoseconds(cycle),
        send_overhead: Picoseconds::ZERO,
        receive_overhead: Picoseconds::ZERO,
        ..Parameters::default()
    }
}

fn run(pattern: PatternSpec, load: f64, arbitration: Arbitration) -> LoadMeasurement {
    let fabric = Torus::new(&[8, 8], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap());
    let parameters = parameters(arbitration);
    let spec = LoadSpec {
        pattern,
        process: Process::Bernoulli,
        load: OfferedLoad::Fraction(load),
        message: Bytes(15 * 16).into(),
        access: Access::Write,
    };
    let flits_of = |bytes| parameters.message_flits(bytes);
    let traffic = OpenLoad::new(&spec, &fabric, Picoseconds(1_000), flits_of, 1).unwrap();
    let pattern = traffic.pattern().clone();
    let senders: Vec<u32> = fabric.live_terminals().collect();
    let stream = Stream {
        pattern: &pattern,
        senders: &senders,
        sizes: &240.into(),
        access: Access::Write,
        class: 0,
        weight: 1.0,
    };
    let forecast = forecast(&fabric, &routes, &parameters, &[stream], 64);
    let flits = traffic.rates.flits * 64.0 / 1_000.0;
    let offered = Offered {
        flits,
        packets: flits / 16.0,
        messages: flits / 16.0,
        flit_time: Picoseconds(1_000),
        cycle: Picoseconds::ZERO,
        random: true,
        zero_load: Some(ZeroLoad {
            packet: Picoseconds(forecast.zero_load_mean as u64),
            message: Picoseconds(forecast.zero_load_mean as u64),
        }),
        bound: None,
    };
    let workload = Box::new(traffic);
    let mut engine = Engine::new(1, &fabric, &routes, &parameters, workload, Collector::new(64));
    let settings = Settings::default();
    let measured = measure_load(
        &mut engine,
        &offered,
        &senders,
        &settings,
        &mut Watch { progress: &mut |_| {}, keep: &mut |_| {}, from: None },
    );
    let bound = forecast.throughput().unwrap();
    assert!(measured.accepted_flits <= bound * 1.001, "{} > {bound}", measured.accepted_flits);
    measured
}

fn accepted(pattern: PatternSpec, load: f64, arbitration: Arbitration) -> f64 {
    run(pattern, load, arbitration).accepted_flits
}

fn uniform() -> PatternSpec {
    PatternSpec::new("uniform", "")
}

#[test]
fn uniform_takes_40_cycles_at_load_030() {
    let measured = run(uniform(), 0.3, Arbitration::RoundRobin);
    assert_eq!(measured.ending, Ending::Steady);
    let cycles = measured.summary.packet_latency.unwrap().mean / 1e3;
    assert!((cycles - 40.1).abs() < 1.0, "{cycles}");
}

/// The peer accepts 0.5516. Here it is 0.513 (7% less), 0.54 with transit first: the peer's packets
/// finish a dimension before the next one, ours all positive directions before the negative ones,
/// and that alone makes the difference (results/compare-caminos).
#[test]
fn uniform_saturates_near_055() {
    let accepted = accepted(uniform(), 0.9, Arbitration::RoundRobin);
    assert!((accepted - 0.5516).abs() < 0.05, "{accepted}");
}

#[test]
fn neighbor_comes_within_5_percent_of_the_bound() {
    let accepted = accepted(PatternSpec::new("neighbor", ""), 1.0, Arbitration::RoundRobin);
    assert!(accepted > 0.95, "{accepted}");
}

#[test]
fn tornado_is_steady_at_020_and_collapses_when_pushed() {
    let steady = run(PatternSpec::new("tornado", ""), 0.2, Arbitration::RoundRobin);
    assert!(steady.ending.sustained(), "{:?}", steady.ending);
    assert!((steady.accepted_flits - 0.2).abs() < 0.005, "{}", steady.accepted_flits);
    let pushed = accepted(PatternSpec::new("tornado", ""), 0.3, Arbitration::RoundRobin);
    assert!((pushed - 0.12).abs() < 0.02, "{pushed}");
}

#[test]
fn transit_first_raises_the_saturation_of_uniform() {
    let round_robin = accepted(uniform(), 0.6, Arbitration::RoundRobin);
    let transit_first = accepted(uniform(), 0.6, Arbitration::TransitFirst);
    assert!(transit_first > round_robin + 0.015, "{transit_first} {round_robin}");
}

/// Tornado's collapse comes from packets that wait to turn into a full ring and block those behind
/// them: whether injection waits for transit makes no difference to that.
#[test]
fn transit_first_does_not_prevent_the_collapse_of_tornado() {
    let pushed = accepted(PatternSpec::new("tornado", ""), 0.3, Arbitration::TransitFirst);
    assert!((pushed - 0.12).abs() < 0.02, "{pushed}");
}
