//! Tests of collective operations, against a plain computation of what one tree does in an empty
//! network, and of laws that hold under any load.

mod plain;

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use flitlab::engine::{
    Acknowledgements, Arbitration, CollectiveUnit, DOWN_CHANNEL, FlitSharing, LinkErrors,
    Parameters, Resend, RouterKind, Switching,
};
use flitlab::engine::{Engine, Log, zero_load_latency};
use flitlab::narrow::narrow;
use flitlab::routing::{Adaptive, AdaptiveRules, DirectionOrder, DirectionRules, Routes};
use flitlab::topology::{Fabric, Faults, SpanningTree, Torus};
use flitlab::traffic::{
    Access, CollectiveKind, CollectiveSpec, Collectives, LoadSpec, OfferedLoad, OpenLoad,
    PatternSpec, Process, Several, Workload,
};
use flitlab::units::{Bytes, Picoseconds, Rate};
use plain::Plain;

const KINDS: [CollectiveKind; 4] = [
    CollectiveKind::Broadcast,
    CollectiveKind::Reduce,
    CollectiveKind::AllReduce,
    CollectiveKind::Barrier,
];

/// The arbitrations of routers that grant whole packets.
const ARBITRATIONS: [Arbitration; 3] =
    [Arbitration::RoundRobin, Arbitration::TransitFirst, Arbitration::Random];

/// Those of routers whose links are shared flit by flit.
const ARBITRATIONS_OF_FLITS: [Arbitration; 5] = [
    Arbitration::RoundRobin,
    Arbitration::TransitFirst,
    Arbitration::Random,
    Arbitration::OldestFirst,
    Arbitration::Weighted,
];

/// A network in which operations run.
struct Network {
    fabric: Fabric,
    routes: Routes,
    parameters: Parameters,
}

/// The outcome of a run: the log in order, the times at which operations were done, and the digest.
type Run = (Log, Result<Vec<Picoseconds>, (u32, u32, u32)>, u64);

impl Network {
    /// A network with routes in direction order on the fabric `whole`, of which `fabric` is left.
    fn new(whole: &Fabric, fabric: Fabric, parameters: Parameters) -> Self {
        let order = DirectionOrder::new(whole, DirectionRules::default()).unwrap();
        Self { fabric, routes: Routes::DirectionOrder(order), parameters }
    }

    /// A torus with default parameters.
    fn torus(sizes: &[u32]) -> Self {
        Self::new(&torus(sizes), torus(sizes), Parameters::default())
    }

    /// Runs operations of a specification beside a load, if there is one.
    fn run(&self, threads: usize, spec: &CollectiveSpec, load: Option<OpenLoad>) -> Run {
        self.run_along(threads, spec, spec.trees(&self.fabric).unwrap(), load)
    }

    /// Runs operations along trees that need not be those of their specification.
    fn run_along(
        &self,
        threads: usize,
        spec: &CollectiveSpec,
        trees: Vec<SpanningTree>,
        load: Option<OpenLoad>,
    ) -> Run {
        let Self { fabric, routes, parameters } = self;
        let has_load = load.is_some();
        let operations: Box<dyn Workload> =
            Box::new(Collectives::new(spec, trees, fabric.terminals()));
        let workload = match load {
            None => operations,
            Some(load) => {
                let both = [operations, Box::new(load)].map(|member| (member, Picoseconds::ZERO));
                Box::new(Several::new(both.into(), fabric.terminals()))
            }
        };
        let mut engine = Engine::new(threads, fabric, routes, parameters, workload, Log::default());
        for at in (5_000_000..=3_000_000_000).step_by(5_000_000) {
            let left = engine.run_until(Picoseconds(at));
            if !left || has_load && Collectives::outcome(engine.collectives()).is_ok() {
                break;
            }
        }
        let outcome = Collectives::outcome(engine.collectives());
        if !has_load && outcome.is_ok() {
            assert_eq!(engine.packets_under_way(), 0);
            assert_eq!(engine.counters().flits_under_way(), 0);
            assert_eq!(engine.messages_under_way(), 0);
        }
        let digest = engine.digest().0;
        let log = engine.observer();
        log.packets.sort_unstable();
        log.messages.sort_unstable();
        (log.clone(), outcome, digest)
    }

    /// The log of operations that must end, keep the laws, and do the same on any of these numbers
    /// of threads.
    fn log_of(
        &self,
        spec: &CollectiveSpec,
        load: impl Fn() -> Option<OpenLoad>,
        threads: &[usize],
    ) -> Log {
        let first = self.run(1, spec, load());
        assert!(first.1.is_ok(), "{:?} {spec:?} {:?}", first.1, self.parameters);
        check(spec, &first.0, &self.parameters, self.fabric.terminals());
        for &threads in threads {
            assert_eq!(self.run(threads, spec, load()), first, "{spec:?}, {threads} threads");
        }
        first.0
    }

    /// A load of data, or of requests and responses, on the other virtual channels.
    fn background(&self, load: f64, reads: bool) -> OpenLoad {
        let access = if reads { Access::Read { request: Bytes(16) } } else { Access::Write };
        let spec = LoadSpec {
            pattern: PatternSpec::new("uniform", ""),
            process: Process::Bernoulli,
            load: OfferedLoad::Fraction(load),
            message: Bytes(256).into(),
            access,
        };
        let flits = |bytes| self.parameters.message_flits(bytes);
        OpenLoad::new(&spec, &self.fabric, self.parameters.link_flit_time(), flits, 1).unwrap()
    }
}

fn torus(sizes: &[u32]) -> Fabric {
    Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
}

/// A torus whose dimensions have cables of different rates, the fastest with that of the
/// parameters. With an empty list, latencies follow from these.
fn uneven_torus(sizes: &[u32], latencies: &[Picoseconds]) -> Fabric {
    let rates = [20, 60, 45, 30].map(|rate| Rate(rate * 1_000_000_000));
    let latencies = &latencies[..latencies.len().min(sizes.len())];
    let torus = Torus::new(sizes, &[]).unwrap();
    torus.with_cables(&rates[..sizes.len()], latencies).fabric(&Faults::default()).unwrap()
}

/// Operations on this many bytes; barriers have none.
fn spec(kind: CollectiveKind, bytes: u64, rounds: u32) -> CollectiveSpec {
    CollectiveSpec {
        kind,
        message: Bytes(if kind == CollectiveKind::Barrier { 0 } else { bytes }),
        roots: Vec::new(),
        members: Vec::new(),
        rounds,
        outstanding: rounds,
        start: Picoseconds(0),
    }
}

#[test]
fn one_tree_in_an_empty_network_does_what_the_plain_reckoning_does() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for round in 0..150 {
        let sizes: &[&[u32]] = &[&[4, 4], &[3, 5, 2], &[8], &[2, 2, 3, 2], &[5, 3]];
        let sizes = sizes[round % sizes.len()];
        let whole = match round % 3 {
            0 => torus(sizes),
            1 if sizes.len() > 1 => uneven_torus(sizes, &[]),
            _ if sizes.len() > 1 => {
                uneven_torus(sizes, &[9_000, 70_000, 8_000, 300_000].map(Picoseconds))
            }
            _ => torus(sizes),
        };
        let cables: Vec<u32> = whole.cables().filter(|_| random.random_bool(0.1)).collect();
        let fabric = whole.without(&cables, &[]);
        let live: Vec<u32> = fabric.live_terminals().collect();
        let members: Vec<u32> = live.iter().copied().filter(|_| random.random_bool(0.6)).collect();
        if members.len() < 2 {
            continue;
        }
        let root = members[random.random_range(0..members.len())];
        if SpanningTree::new(&fabric, root, &members).is_err() {
            continue;
        }
        let kind = KINDS[round % 4];
        let bytes = [0, 8, 100, 256, 700, 5_000][random.random_range(0..6)];
        let parameters = Parameters {
            // No output is requested twice at the same time here.
            arbitration: ARBITRATIONS[round % 3],
            collective: CollectiveUnit {
                together: random.random_bool(0.5),
                open_operations: [1, 2, 3, 16][random.random_range(0..4)],
                combining_latency: Picoseconds(random.random_range(0..40_000)),
                combining_rate: Rate([20, 60, 64, 200][random.random_range(0..4)] * 1_000_000_000),
            },
            buffer: 18 * random.random_range(2..9),
            switching: if random.random_bool(0.3) {
                Switching::StoreAndForward
            } else {
                Switching::VirtualCutThrough
            },
            link_latency: Picoseconds(random.random_range(5_000..200_000)),
            ejection_rate: Rate([30, 64][random.random_range(0..2)] * 1_000_000_000),
            ..Parameters::default()
        };
        let rounds = random.random_range(1..6);
        let spec = CollectiveSpec {
            members: members.clone(),
            roots: vec![root],
            ..spec(kind, bytes, rounds)
        };
        let mut plain = Plain::new(&fabric, kind, root, &members, &parameters);
        let messages = vec![spec.message.0; rounds as usize];
        let expected = plain.deliveries(&messages, parameters.send_overhead);
        // Routes have no effect here, and a fabric with failures has none in direction order.
        let network = Network::new(&whole, fabric, parameters.clone());
        let (log, outcome, _) = network.run(1, &spec, None);
        let mut got: Vec<_> = log.packets.iter().map(|it| (it.destination, it.delivered)).collect();
        got.sort_unstable();
        assert_eq!(got, expected, "round {round}: {spec:?} {parameters:?}");
        assert_eq!(outcome.unwrap().len(), rounds as usize);
    }
}

#[test]
fn every_arbitration_serves_the_results_of_reduction_units() {
    let mut network = Network::torus(&[4, 4]);
    for (kind, arbitration) in KINDS.iter().flat_map(|&kind| ARBITRATIONS.map(|it| (kind, it))) {
        network.parameters.arbitration = arbitration;
        for loaded in [false, true] {
            let start = Picoseconds(if loaded { 2_000_000 } else { 0 });
            let spec = CollectiveSpec { roots: vec![0, 5], start, ..spec(kind, 300, 8) };
            network.log_of(&spec, || loaded.then(|| network.background(0.9, false)), &[3]);
        }
    }
}

#[test]
fn a_small_broadcast_takes_as_long_as_a_packet_to_the_farthest_node() {
    let network = Network::torus(&[4, 4, 4]);
    let (log, outcome, _) = network.run(1, &spec(CollectiveKind::Broadcast, 8, 1), None);
    let parameters = &network.parameters;
    let farthest = zero_load_latency(parameters, 6, parameters.packet_flits(8));
    let hosts = parameters.send_overhead + parameters.receive_overhead;
    assert_eq!(outcome, Ok(vec![hosts + farthest]));
    assert_eq!(log.packets.len(), 63);
}

/// Where links are shared flit by flit, routers hold packets whole: an operation takes as long as a
/// packet that is stored at each hop, and the latency of combining where there are two operands.
#[test]
fn operations_on_shared_links_take_as_long_as_packets_that_are_stored_at_each_hop() {
    let latency = Picoseconds(7_000);
    for (round, kind) in (0..16).zip(KINDS.into_iter().cycle()) {
        let mut network = Network::torus(&[4, 4, 4]);
        let sharing = FlitSharing {
            virtual_channel_allocation: Picoseconds([0, 3_000][round / 4 % 2]),
            switch_allocation: Picoseconds([0, 2_000][round / 8]),
            output_buffer: [0, 4][round / 4 % 2],
            virtual_output_queues: round / 4 == 3,
            ..FlitSharing::default()
        };
        let together = round / 4 % 2 == 0;
        let collective =
            CollectiveUnit { together, combining_latency: latency, ..CollectiveUnit::default() };
        network.parameters =
            Parameters { kind: RouterKind::SharedLinks(sharing), collective, ..network.parameters };
        let bytes = if kind == CollectiveKind::Barrier { 0 } else { 200 };
        let (log, outcome, _) = network.run(1, &spec(kind, bytes, 1), None);
        let stored = Parameters { switching: Switching::StoreAndForward, ..network.parameters };
        let (legs, routers) = match kind {
            CollectiveKind::Broadcast => (1, 0),
            CollectiveKind::Reduce => (1, 6),
            CollectiveKind::AllReduce | CollectiveKind::Barrier => (2, 6),
        };
        let way = zero_load_latency(&stored, 6 * legs, stored.packet_flits(bytes));
        let hosts = stored.send_overhead + stored.receive_overhead;
        assert_eq!(outcome, Ok(vec![hosts + way + latency * routers]), "{kind:?}, round {round}");
        let receipts = [63, 1, 64, 64][round % 4];
        assert_eq!((log.packets.len(), log.messages.len()), (receipts, receipts));
    }
}

/// In any order of flits, on sound links and on links that err, beside data or requests and
/// responses.
#[test]
fn operations_on_shared_links_keep_order_and_lose_nothing_on_any_number_of_threads() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    for round in 0..20 {
        let mut network = Network::torus(&[4, 4]);
        let (mut spec, parameters) = draw(&mut random, &network.fabric);
        let chooses = round % 4 == 2;
        let sharing = FlitSharing {
            virtual_output_queues: round % 3 == 1 && !chooses,
            output_buffer: [0, 2][round % 2],
            ..FlitSharing::default()
        };
        let acknowledgements = [Acknowledgements::Free, Acknowledgements::Flits][round / 4 % 2];
        let errors = LinkErrors { bit_error_rate: 1e-4, acknowledgements, ..LinkErrors::default() };
        network.parameters = Parameters {
            kind: RouterKind::SharedLinks(sharing),
            arbitration: ARBITRATIONS_OF_FLITS[round % 5],
            errors: (round % 4 == 3).then_some(errors),
            switching: [Switching::VirtualCutThrough, Switching::StoreAndForward][round / 2 % 2],
            ..parameters
        };
        if chooses {
            let adaptive = Adaptive::new(&network.fabric, AdaptiveRules::default(), 1);
            network.routes = Routes::Adaptive(adaptive.unwrap());
        }
        spec.start = Picoseconds(10_000_000);
        let reads = round % 4 == 1;
        let log = network.log_of(&spec, || Some(network.background(0.4, reads)), &[2, 3]);
        let on_trees = |vc: u8| (3..=DOWN_CHANNEL).contains(&vc);
        let data = log.packets.iter().filter(|packet| !on_trees(packet.virtual_channel));
        assert!(data.count() > 100, "round {round}");
    }
}

/// Random operations on several trees, beside a load that fills the other virtual channels if there
/// is one.
fn draw(random: &mut ChaCha8Rng, fabric: &Fabric) -> (CollectiveSpec, Parameters) {
    let live: Vec<u32> = fabric.live_terminals().collect();
    let mut members: Vec<u32> = live.iter().copied().filter(|_| random.random_bool(0.7)).collect();
    if members.len() < 2 {
        members = live;
    }
    let trees = random.random_range(1..5);
    let roots = (0..trees).map(|_| members[random.random_range(0..members.len())]).collect();
    let kind = KINDS[random.random_range(0..4)];
    let barrier = kind == CollectiveKind::Barrier;
    let bytes = if barrier { 0 } else { random.random_range(0..1_500) };
    let rounds = random.random_range(1..30);
    let parameters = Parameters {
        collective: CollectiveUnit {
            together: random.random_bool(0.5),
            open_operations: random.random_range(1..6),
            combining_latency: Picoseconds(random.random_range(0..40_000)),
            combining_rate: Rate(random.random_range(20..100) * 1_000_000_000),
        },
        buffer: 36,
        injection_buffer: 36,
        ..Parameters::default()
    };
    let outstanding = random.random_range(1..=rounds);
    let spec = CollectiveSpec { members, roots, outstanding, ..spec(kind, bytes, rounds) };
    (spec, parameters)
}

/// Every member gets each operation's message once, whole and in order; no other terminal gets one.
fn check(spec: &CollectiveSpec, log: &Log, parameters: &Parameters, terminals: u32) {
    let members = spec.members_of(0..terminals);
    let gets = |terminal: u32, root: u32| {
        members.contains(&terminal)
            && match spec.kind {
                CollectiveKind::Broadcast => terminal != root,
                CollectiveKind::Reduce => terminal == root,
                CollectiveKind::AllReduce | CollectiveKind::Barrier => true,
            }
    };
    let (full, rest) = parameters.packets(spec.message.0);
    let mut packets: Vec<u64> = vec![parameters.maximum_payload.0; narrow(full)];
    packets.extend(rest);
    for terminal in 0..terminals {
        let own = log.packets.iter().filter(|it| it.destination == terminal);
        let mut own: Vec<_> = own.filter(|it| it.virtual_channel >= 3).collect();
        own.sort_unstable_by_key(|packet| packet.delivered);
        let roots = (0..spec.rounds).map(|it| spec.roots[it as usize % spec.roots.len()]);
        let expected: Vec<(u32, u64)> = roots
            .filter(|&root| gets(terminal, root))
            .flat_map(|root| packets.iter().map(move |&payload| (root, payload)))
            .collect();
        let got: Vec<_> = own.iter().map(|it| (it.source, u64::from(it.payload))).collect();
        assert_eq!(got, expected, "terminal {terminal}");
    }
}

#[test]
fn several_trees_keep_order_and_lose_nothing_on_any_number_of_threads() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for round in 0..40 {
        let sizes: &[&[u32]] = &[&[4, 4], &[3, 5, 2], &[8], &[2, 2, 3, 2], &[6, 5]];
        let mut network = Network::torus(sizes[round % sizes.len()]);
        let (spec, parameters) = draw(&mut random, &network.fabric);
        network.parameters = Parameters { arbitration: ARBITRATIONS[round % 3], ..parameters };
        network.log_of(&spec, || None, &[2, 3, 7]);
    }
}

/// Operations complete on links that err, in any way of sending again, beside a load.
#[test]
fn operations_end_on_links_that_err() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let resends = [Resend::GoBackN, Resend::Selective];
    let acknowledgements = [Acknowledgements::Free, Acknowledgements::Flits];
    for round in 0..16 {
        let mut network = Network::torus(&[4, 4]);
        let (mut spec, parameters) = draw(&mut random, &network.fabric);
        let errors = LinkErrors {
            bit_error_rate: 1e-4,
            resend: resends[round % 2],
            acknowledgements: acknowledgements[round / 2 % 2],
            seed: round as u64,
            ..LinkErrors::default()
        };
        network.parameters = Parameters { errors: Some(errors), ..parameters };
        spec.start = Picoseconds(10_000_000);
        let log = network.log_of(&spec, || Some(network.background(0.3, false)), &[3]);
        assert!(log.packets.iter().any(|packet| packet.virtual_channel < 3), "round {round}");
    }
}

#[test]
fn five_loaded_virtual_channels_do_not_stop_each_other() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for round in 0..9 {
        let mut network = Network::torus(&[4, 4]);
        let (mut spec, parameters) = draw(&mut random, &network.fabric);
        network.parameters = Parameters { arbitration: ARBITRATIONS[round / 3], ..parameters };
        spec.start = Picoseconds(20_000_000);
        // Data on the adaptive channel and its escape, or requests and responses, more than the
        // network carries.
        let (reads, load) = (round % 3 == 2, [0.3, 1.2][round % 2]);
        if round % 3 != 0 {
            let adaptive = Adaptive::new(&network.fabric, AdaptiveRules::default(), 1);
            network.routes = Routes::Adaptive(adaptive.unwrap());
        }
        let log = network.log_of(&spec, || Some(network.background(load, reads)), &[2, 3, 7]);
        let data = log.packets.iter().filter(|packet| packet.virtual_channel < 3);
        assert!(data.count() > 1_000, "round {round}");
    }
}

/// A terminal's load makes the engine ask what it creates at times before an end that is already
/// known.
#[test]
fn no_operation_begins_before_the_one_that_lets_it_has_ended() {
    let network = Network::torus(&[4, 4]);
    for outstanding in [1, 2] {
        let spec = spec(CollectiveKind::Broadcast, 700, 60);
        let spec = CollectiveSpec { roots: vec![0], outstanding, ..spec };
        let (log, outcome, _) = network.run(1, &spec, Some(network.background(0.5, false)));
        assert!(outcome.is_ok());
        // The times at which each operation entered its source queue, and at which its last packet
        // started to leave it.
        let mut operations: BTreeMap<Picoseconds, Picoseconds> = BTreeMap::new();
        for packet in log.packets.iter().filter(|packet| packet.virtual_channel == DOWN_CHANNEL) {
            let left = operations.entry(packet.created).or_default();
            *left = packet.injected.max(*left);
        }
        let begun = operations.keys().skip(outstanding as usize);
        let mut waits =
            begun.zip(operations.values()).map(|(begun, &left)| begun.checked_sub(left));
        let overhead = network.parameters.send_overhead;
        assert!(waits.all(|wait| wait.is_some_and(|wait| wait > overhead)), "{outstanding}");
        assert!(operations.len() > 25 + outstanding as usize);
    }
}

/// At the root's router a result goes down as late as the last operand comes. The next operation,
/// in which the router passes on one operand only, leaves upwards. It once left at the time of that
/// operand, which may be past: so other nodes' traffic changed it.
#[test]
fn a_packet_of_one_operand_leaves_no_earlier_than_the_results_before_it() {
    let network = Network::torus(&[6, 2]);
    let [members, others]: [Vec<u32>; 2] = [(0..6).collect(), (6..12).collect()];
    let weights = others.iter().flat_map(|from| others.iter().map(move |to| (from, to)));
    let weights: Vec<_> = weights.map(|(from, to)| format!("[{from}, {to}, 1.0]")).collect();
    let pattern = PatternSpec::new("matrix", &format!("list = [{}]", weights.join(", ")));
    let (process, access) = (Process::Bernoulli, Access::Write);
    let flits = |bytes| network.parameters.message_flits(bytes);
    let slot = network.parameters.link_flit_time();
    let load = |fraction| {
        let (load, message) = (OfferedLoad::Fraction(fraction), Bytes(300));
        let spec =
            LoadSpec { pattern: pattern.clone(), process, load, message: message.into(), access };
        OpenLoad::new(&spec, &network.fabric, slot, flits, 3).unwrap()
    };
    let roots = vec![0, 3];
    let spec = CollectiveSpec { members, roots, outstanding: 2, ..spec(KINDS[2], 600, 5) };
    let of_operations = |threads, load| {
        let (mut log, outcome, _) = network.run(threads, &spec, load);
        log.packets.retain(|packet| packet.virtual_channel >= 3);
        (log.packets, outcome)
    };
    let alone = of_operations(1, None);
    for threads in [1, 2, 3] {
        for fraction in [0.1, 0.3, 0.9] {
            assert_eq!(of_operations(threads, Some(load(fraction))), alone, "{fraction}");
        }
    }
}

#[test]
fn a_router_that_lost_a_child_is_noticed() {
    let network = Network::torus(&[4, 4]);
    for kind in KINDS {
        let spec = CollectiveSpec { roots: vec![0], ..spec(kind, 300, 3) };
        let run = |trees| network.run_along(1, &spec, trees, None).1;
        let mut trees = spec.trees(&network.fabric).unwrap();
        assert!(run(trees.clone()).is_ok());
        trees[0].lose_child(0);
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(trees)));
        // Members miss packets, or a packet that comes to a router is not the one it waits for.
        assert!(broken.is_err() || broken.is_ok_and(|it| it.is_err()), "{kind:?}");
    }
}
