//! Figures of a simulator with the same rules: an 8x8 torus, one deterministic virtual channel with the
//! bubble rule, 16-flit packets, 64-flit buffers, every channel one cycle, routers none. A cycle is a
//! nanosecond here. Throughput is in flits a cycle a node, which is load 1 on 8x8.

use flitlab::engine::{Arbitration, Engine, Parameters};
use flitlab::measure::{
    Collector, LoadMeasurement, Offered, Settings, Status, measure_load, outlook,
};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Access, LoadSpec, OfferedLoad, OpenLoad, PatternSpec, Process, Workload};
use flitlab::units::{Bytes, Rate};

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
        routing_latency: 0,
        crossbar_latency: 0,
        link_rate: rate,
        link_latency: cycle,
        injection_channels: 1,
        injection_rate: rate,
        injection_latency: cycle,
        ejection_channels: 1,
        ejection_rate: rate,
        ejection_latency: cycle,
        send_overhead: 0,
        receive_overhead: 0,
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
        message: Bytes(15 * 16),
        access: Access::Write,
    };
    let flits_of = |bytes| parameters.message_flits(bytes);
    let traffic = OpenLoad::new(&spec, &fabric, 1_000, flits_of, 1).unwrap();
    let pattern = traffic.pattern().clone();
    let outlook = outlook(&fabric, &routes, &parameters, &pattern, 240, Access::Write);
    let flits = traffic.offered_flits() * 64.0 / 1_000.0;
    let offered = Offered {
        flits,
        packets: flits / 16.0,
        flit_time: 1_000,
        zero_load: outlook.zero_load_mean as u64,
    };
    let senders: Vec<u32> = fabric.live_terminals().collect();
    let workload = Workload::Load(traffic);
    let mut engine = Engine::new(&fabric, &routes, &parameters, workload, Collector::new(64));
    let settings = Settings::default();
    let measured = measure_load(&mut engine, &offered, &senders, &settings, &mut |_| {});
    let bound = outlook.throughput().unwrap();
    assert!(measured.accepted_flits <= bound * 1.001, "{} > {bound}", measured.accepted_flits);
    measured
}

fn accepted(pattern: PatternSpec, load: f64, arbitration: Arbitration) -> f64 {
    run(pattern, load, arbitration).accepted_flits
}

const UNIFORM: PatternSpec = PatternSpec::Uniform { include_self: false };

#[test]
fn uniform_takes_40_cycles_at_load_030() {
    let measured = run(UNIFORM, 0.3, Arbitration::RoundRobin);
    assert_eq!(measured.status, Status::Steady);
    let cycles = measured.packet_latency.unwrap().mean / 1e3;
    assert!((cycles - 40.1).abs() < 1.0, "{cycles}");
}

#[test]
fn uniform_saturates_near_055() {
    let accepted = accepted(UNIFORM, 0.9, Arbitration::RoundRobin);
    assert!((accepted - 0.5516).abs() < 0.02, "{accepted}");
}

#[test]
fn neighbor_comes_within_5_percent_of_the_bound() {
    let accepted = accepted(PatternSpec::Neighbor, 1.0, Arbitration::RoundRobin);
    assert!(accepted > 0.95, "{accepted}");
}

#[test]
fn tornado_is_steady_at_020_and_collapses_when_pushed() {
    let steady = run(PatternSpec::Tornado, 0.2, Arbitration::RoundRobin);
    assert!(steady.status.sustained(), "{:?}", steady.status);
    assert!((steady.accepted_flits - 0.2).abs() < 0.005, "{}", steady.accepted_flits);
    let pushed = accepted(PatternSpec::Tornado, 0.3, Arbitration::RoundRobin);
    assert!((pushed - 0.12).abs() < 0.02, "{pushed}");
}

#[test]
fn transit_first_softens_the_collapse_of_tornado() {
    let pushed = accepted(PatternSpec::Tornado, 0.3, Arbitration::TransitFirst);
    assert!(pushed > 0.2, "{pushed}");
}
#[test]
fn zz_scan() {
    for load in [0.5, 0.52, 0.54, 0.56, 0.6, 0.7, 0.9] {
        let m = run(UNIFORM, load, Arbitration::RoundRobin);
        let t = run(UNIFORM, load, Arbitration::TransitFirst);
        println!(
            "uniform {load} rr {:.4} {:?} lat {:?}  tf {:.4} {:?}",
            m.accepted_flits,
            m.status,
            m.packet_latency.map(|l| l.mean / 1e3),
            t.accepted_flits,
            t.status
        );
    }
    for load in [0.2, 0.22, 0.24, 0.26, 0.3, 0.4, 0.6, 1.0] {
        let m = run(PatternSpec::Tornado, load, Arbitration::RoundRobin);
        let t = run(PatternSpec::Tornado, load, Arbitration::TransitFirst);
        println!(
            "tornado {load} rr {:.4} {:?}  tf {:.4} {:?}",
            m.accepted_flits, m.status, t.accepted_flits, t.status
        );
    }
}
