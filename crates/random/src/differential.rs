//! Both engines in random scenarios: the reference engine of the scenario's kind of links, and the
//! fast engine on one thread and on several.

use std::collections::BTreeMap;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    Arbitration, ChannelKind, ChannelStatistics, Digest, Engine, FlitSharing, InjectionChoice, Log,
    PacketKind, RouterKind, Switching, TrafficClass,
};
use flitlab_fabric::Faults;
use flitlab_routing::{DirectionRules, EscapeRule, HalfRing, Preference, Routes};
use flitlab_traffic::MessageKind;
use rayon::prelude::*;

use crate::agreement::{assert_agreement, assert_equal_counts};
use crate::random_scenario::Scenario;
use crate::threads::{STOPS, compare};
use flitlab_reference::flit_engine::FlitRouters;
use flitlab_reference::shared::simulation::Ended;
use flitlab_reference::{cioq_engine, engine, flit_engine};

/// The seed of a scenario in which packets of mixed sizes deadlock in spite of the bubble.
pub const MIXED_SIZES: u64 = 313_309;

/// Of six one has links that err. Of eight three direction order and route tables, two each
/// adaptive routing and forwarding tables, one relations and paths.
pub fn packet_scenario(seed: u64) -> Scenario {
    let scenario = match seed % 4 {
        2 => Scenario::adaptive(seed)
            .map_or_else(|| Scenario::ruled(seed), |it| it.with_datelines_of_escapes(seed)),
        3 => Scenario::forwarding(seed),
        // A seed that names a deadlock keeps it, whatever has come to the rules since.
        _ if seed == MIXED_SIZES => {
            let mut scenario = Scenario::random(seed);
            scenario.parameters.arbitration = Arbitration::RoundRobin;
            return scenario;
        }
        1 if seed % 8 == 5 => Scenario::choosing(seed),
        _ => Scenario::ruled(seed),
    };
    with_more_at_times(scenario, seed)
}

/// A scenario whose packets pass through phases; of six one has links that err.
pub fn phased_scenario(seed: u64) -> Scenario {
    with_more_at_times(Scenario::phased(seed), seed)
}

/// The scenario with what any routing of whole packets may have besides, each at times.
fn with_more_at_times(scenario: Scenario, seed: u64) -> Scenario {
    let scenario = scenario.with_cables_at_times(seed).with_errors_at_times(seed);
    let scenario = if seed % 3 == 1 { scenario.with_remote_operations(seed) } else { scenario };
    let scenario = if seed % 5 == 2 { scenario.with_injection_by_destination() } else { scenario };
    let scenario = scenario.with_classes_at_times(seed).with_ways_of_responses_at_times(seed);
    scenario.with_responder_resources_at_times(seed).with_head_of_queue_lifetime_at_times(seed)
}

/// A [`packet_scenario`] with collective operations at times.
pub fn packet_scenario_with_collectives(seed: u64) -> Scenario {
    packet_scenario(seed).with_collectives_at_times(seed)
}

/// What the reference engine for links shared flit by flit makes of a scenario: the log, the
/// digest, whether it ended in a deadlock.
pub fn run_flits(scenario: &Scenario) -> (Log, Digest, bool) {
    let Ended { log, stuck, own, .. } = simulate_flits(scenario, false);
    (log, own.digest, stuck.is_some())
}

/// What the reference engine for links shared flit by flit comes to, with or without the instants at
/// which nothing is due.
pub fn simulate_flits(scenario: &Scenario, every_tick: bool) -> Ended<FlitRouters> {
    let Scenario { fabric, routes, parameters, messages, collective } = scenario;
    let collective = collective.as_ref();
    flit_engine::simulator(fabric, routes, parameters, messages, collective).run(every_tick)
}

/// Names the seed if something panics while it is there.
pub struct Named(pub u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the random scenario of seed {}", self.0);
        }
    }
}

/// Compares both engines in a scenario, one that ends in a deadlock too. Returns how many packets
/// were delivered.
///
/// # Panics
/// If they differ in anything.
pub fn agree(seed: u64, scenario: &Scenario) -> usize {
    let Scenario { fabric, routes, parameters, messages, collective } = scenario;
    let _named = Named(seed);
    let run = compare(&format!("seed {seed}"), scenario, &*scenario.workload(), &STOPS);
    let fast = Log { packets: run.log.0, messages: run.log.1 };
    let (reference, stuck, waited) = match &parameters.kind {
        RouterKind::OutputQueues(_) => unreachable!("the engine simulates credits"),
        RouterKind::SharedLinks(_) => {
            let ended = simulate_flits(scenario, false);
            // Without a stop.
            let (workload, log) = (scenario.workload(), Log::default());
            let mut engine = Engine::new(1, fabric, routes, parameters, workload, log);
            engine.run_until(Picoseconds::NEVER);
            if engine.find_deadlock().is_none() {
                assert_agreement(scenario, &ended.log, engine.observer());
                let digest = ended.own.digest;
                assert_eq!(engine.digest(), digest, "seed {seed}: flits that delay no packet");
            }
            agree_on_links(scenario, &ended);
            let stalls = ended.own.stalls.filter(|_| ended.stuck.is_none());
            if let Some(stalls) = stalls {
                let fast = counted(scenario, |channel| channel.stalled.expect("it was asked for"));
                assert_equal_times("stalls", seed, scenario, &stalls.times(), &fast);
            }
            (ended.log, ended.stuck, ended.waited)
        }
        RouterKind::OutputBuffers(_) => {
            let ended = cioq_engine::simulator(fabric, routes, parameters, messages).run(false);
            (ended.log, ended.stuck, ended.waited)
        }
        RouterKind::WholePackets => {
            let collective = collective.as_ref();
            let simulator = engine::simulator(fabric, routes, parameters, messages, collective);
            let ended = simulator.run(false);
            let counters = run.counters.last().expect("those at the end");
            let fast = (counters.packets_lost, counters.messages_lost);
            let losses = &ended.losses;
            assert_eq!(fast, (losses.packets, losses.messages.len() as u64), "seed {seed}: losses");
            agree_on_links(scenario, &ended);
            (ended.log, ended.stuck, ended.waited)
        }
    };
    assert_eq!(run.deadlock.is_some(), stuck.is_some(), "seed {seed}");
    assert_agreement(scenario, &reference, &fast);
    // Packets that expire, and those that routers combine, wait for nothing that is counted.
    let counts = collective.is_none() && parameters.head_of_queue_lifetime.is_none();
    if counts && stuck.is_none() {
        let reference: Vec<_> = waited.into_iter().map(|waited| [waited]).collect();
        let fast = counted(scenario, |channel| [channel.waited.expect("it is counted")]);
        assert_equal_times("waits", seed, scenario, &reference, &fast);
    }
    fast.packets.len()
}

/// Compares what links that err have counted, unless the network is stuck.
fn agree_on_links<R>(scenario: &Scenario, ended: &Ended<R>) {
    if scenario.parameters.errors.is_some() && ended.stuck.is_none() {
        assert_equal_counts(scenario, ended.counts, &ended.flits);
    }
}

/// Times that the fast engine counts of each channel that leaves a router, a part of the run anew.
fn counted<const N: usize>(
    scenario: &Scenario,
    times: impl Fn(&ChannelStatistics) -> [Picoseconds; N],
) -> Vec<[Picoseconds; N]> {
    let Scenario { fabric, routes, parameters, .. } = scenario;
    let workload = scenario.workload();
    let mut engine = Engine::new(2, fabric, routes, parameters, workload, Log::default());
    let mut sums = Vec::new();
    for until in [STOPS[1], Picoseconds::NEVER] {
        engine.run_until(until);
        let channels = engine.channels();
        let outputs = channels.iter().filter(|channel| channel.kind != ChannelKind::Injection);
        let counted = outputs.map(|channel| times(&channel.statistics));
        if sums.is_empty() {
            sums = counted.collect();
        } else {
            let all = sums.iter_mut().flatten().zip(counted.flatten());
            all.for_each(|(sum, more)| *sum += more);
        }
        engine.reset_channels();
    }
    sums
}

fn assert_equal_times<const N: usize>(
    what: &str,
    seed: u64,
    scenario: &Scenario,
    reference: &[[Picoseconds; N]],
    fast: &[[Picoseconds; N]],
) {
    assert_eq!(reference.len(), fast.len(), "seed {seed}: outputs");
    let differing = (0..).zip(reference.iter().zip(fast)).find(|(_, (one, other))| one != other);
    assert_eq!(differing, None, "seed {seed}: an output's {what}, {scenario:?}");
}

/// What came of many scenarios.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By feature of the model, how many scenarios have to do with it.
    pub features: BTreeMap<&'static str, u64>,
    /// How many packets were delivered.
    pub packets: usize,
}

impl Tally {
    fn and(mut self, other: Self) -> Self {
        for (feature, count) in other.features {
            *self.features.entry(feature).or_insert(0) += count;
        }
        self.packets += other.packets;
        self
    }
}

/// Compares both engines in the scenarios of `count` seeds from `first` on.
///
/// # Panics
/// If they differ in anything, in any of them.
pub fn agree_in(first: u64, count: u64, scenario: impl Fn(u64) -> Scenario + Sync) -> Tally {
    let one = |seed: u64| {
        let scenario = scenario(seed);
        let packets = agree(seed, &scenario);
        let features = features(&scenario).into_iter().map(|feature| (feature, 1)).collect();
        Tally { features, packets }
    };
    (first..first + count).into_par_iter().map(one).reduce(Tally::default, Tally::and)
}

/// All features that [`features`] can name of scenarios in which links are granted to whole
/// packets, which draw no rules with phases: nobody decides again.
pub const PACKET_FEATURES: usize = 19 + 12 + 7;

/// All features that [`features`] can name of scenarios in which links are shared flit by flit.
pub const FLIT_FEATURES: usize = 20 + 14 + 6 + 3 + 5;

/// All features that [`features`] can name of scenarios in which routers have buffers at outputs.
pub const CIOQ_FEATURES: usize = 16 + 5 + 3 + 7;

/// Which of the model's rules a scenario has to do with.
pub fn features(scenario: &Scenario) -> Vec<&'static str> {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    let routing = match routes {
        Routes::DirectionOrder(_) => "direction order",
        Routes::Table(table) if table.has_several() => "route table, several a pair",
        Routes::Table(_) => "route table",
        Routes::Adaptive(_) => "adaptive",
        Routes::Forwarding(_) => "forwarding table",
        Routes::Relation(made) if made.rule.is_some() => "relation with phases",
        Routes::Relation(_) => "relation",
        Routes::Paths(_) => "paths",
    };
    let prefers = |it| matches!(routes, Routes::Relation(made) if made.preference == it);
    let of_class = |has: fn(&TrafficClass) -> bool| parameters.classes.iter().any(has);
    let some = [
        (fabric.cable_classes().len() > 1, "cables of several classes"),
        (
            matches!(routes, Routes::Relation(made) if made.again.is_some()),
            "packets that decide again",
        ),
        (prefers(Preference::LeastRecentlyUsed), "hops taken longest ago first"),
        (prefers(Preference::MinimalMultiplexed), "outputs with fewest busy channels first"),
        (parameters.crossbar_speedup > 1, "crossbar speed-up"),
        (parameters.injection_channels > 1, "several injection channels"),
        (
            parameters.injection_choice == InjectionChoice::ByDestination,
            "injection channels by destination",
        ),
        (parameters.ejection_channels > 1, "several ejection channels"),
        (parameters.bubble, "bubble"),
        (has_dateline(routes), "dateline"),
        (has_reads(scenario), "reads"),
        (messages.iter().any(|it| it.kind == MessageKind::Put), "puts"),
        (
            messages.iter().any(|it| matches!(it.kind, MessageKind::Atomic { .. })),
            "atomic operations",
        ),
        (messages.iter().any(|it| it.class > 0), "several classes"),
        (of_class(|it| it.packets == PacketKind::Adaptive), "a class with a choice"),
        (of_class(|it| it.packets == PacketKind::Deterministic), "a class without a choice"),
        (
            of_class(|it| it.packets == PacketKind::AdaptiveResponses),
            "a class whose responses have a choice",
        ),
        (of_class(|it| it.on_response_channel), "a class on the response channel"),
        (of_class(|it| it.service > 0), "a class with virtual channels of its own"),
        (parameters.message_classes == 1, "one message class"),
    ];
    let of_links = match &parameters.kind {
        RouterKind::WholePackets => features_of_packets(scenario),
        RouterKind::OutputBuffers(_) => features_of_cioq(scenario),
        RouterKind::SharedLinks(sharing) => features_of_flits(scenario, sharing),
        RouterKind::OutputQueues(_) => unreachable!("the engine simulates credits"),
    };
    named(&some).into_iter().chain(of_links).chain([routing]).collect()
}

fn named(features: &[(bool, &'static str)]) -> Vec<&'static str> {
    features.iter().filter_map(|&(is_it, name)| is_it.then_some(name)).collect()
}

fn has_reads(scenario: &Scenario) -> bool {
    scenario.messages.iter().any(|message| message.kind != MessageKind::Data)
}

/// Whether packets on rings are parted by datelines.
pub fn has_dateline(routes: &Routes) -> bool {
    match routes {
        Routes::DirectionOrder(order) => order.rules().dateline,
        Routes::Adaptive(adaptive) => matches!(adaptive.rules().escape, EscapeRule::Dateline),
        _ => false,
    }
}

/// Where links are granted to whole packets.
fn features_of_packets(scenario: &Scenario) -> Vec<&'static str> {
    let Scenario { fabric, routes, parameters, messages, collective } = scenario;
    let mut sizes = messages.iter().map(|it| it.bytes % parameters.maximum_payload.0.max(1));
    let failed = fabric.torus().is_some_and(|torus| {
        let whole = torus.fabric(&Faults::default()).expect("it was made before");
        whole.channels() > fabric.channels()
    });
    let ruled = |holds: fn(&DirectionRules) -> bool| match routes {
        Routes::DirectionOrder(order) => holds(order.rules()),
        _ => false,
    };
    named(&[
        (ruled(|rules| !rules.order.is_empty()), "another order of directions"),
        (ruled(|rules| rules.half_ring == HalfRing::Random), "half rings by chance"),
        (parameters.switching == Switching::StoreAndForward, "store-and-forward"),
        (parameters.errors.is_some(), "links that err"),
        (!has_reads(scenario), "no reads"),
        (sizes.any(|rest| rest > 0), "mixed packet sizes"),
        (parameters.virtual_channels > 5, "more than five virtual channels"),
        (failed, "failed cables"),
        (parameters.responder_resources.is_some(), "responder resources"),
        (parameters.head_of_queue_lifetime.is_some(), "a lifetime at the head of queues"),
        (collective.is_some(), "collective operations"),
        (collective.is_some() && parameters.errors.is_some(), "collectives on links that err"),
    ])
}

/// Where links are shared flit by flit.
fn features_of_flits(scenario: &Scenario, sharing: &FlitSharing) -> Vec<&'static str> {
    let Scenario { parameters, collective, .. } = scenario;
    let by_priority = parameters.arbitration == Arbitration::Weighted
        && sharing.high_priority.iter().any(|&weight| weight > 0);
    let switching = match parameters.switching {
        Switching::VirtualCutThrough => "virtual cut-through",
        Switching::StoreAndForward => "store-and-forward",
        Switching::Wormhole => "wormhole",
    };
    let arbitration = name_of(parameters.arbitration);
    let vc_allocation = sharing.virtual_channel_allocation > Picoseconds::ZERO;
    let some = [
        (sharing.output_buffer > 0, "buffers behind the crossbar"),
        (sharing.iterations > 1, "several iterations"),
        (sharing.routing_at_head, "routing at the head"),
        (sharing.virtual_output_queues, "virtual output queues"),
        (vc_allocation, "latency of virtual channels' allocation"),
        (sharing.switch_allocation > Picoseconds::ZERO, "latency of the switch's allocation"),
        (parameters.virtual_channels == 1, "one virtual channel"),
        (parameters.buffer < parameters.maximum_packet(), "buffers smaller than packets"),
        (sharing.stall_times, "stall times"),
        (sharing.atomic, "atomic allocation"),
        (by_priority, "high priority"),
        (parameters.errors.is_some(), "links that err"),
        (collective.is_some(), "collective operations"),
        (collective.is_some() && parameters.errors.is_some(), "collectives on links that err"),
    ];
    named(&some).into_iter().chain([switching, arbitration]).collect()
}

/// Where routers have buffers at outputs.
fn features_of_cioq(scenario: &Scenario) -> Vec<&'static str> {
    let Scenario { parameters, .. } = scenario;
    let largest = parameters.maximum_packet();
    let falls_back = match &scenario.routes {
        Routes::Relation(routes) => routes.relation.has_escape(),
        _ => false,
    };
    let some = [
        (parameters.switching == Switching::StoreAndForward, "store-and-forward"),
        (parameters.behind_crossbar() == largest, "room for one packet at outputs"),
        (parameters.behind_crossbar() >= 2 * largest, "room for two packets at outputs"),
        (parameters.virtual_channels == 1, "one virtual channel"),
        (falls_back, "escapes"),
    ];
    named(&some).into_iter().chain([name_of(parameters.arbitration)]).collect()
}

fn name_of(arbitration: Arbitration) -> &'static str {
    match arbitration {
        Arbitration::RoundRobin => "round-robin",
        Arbitration::TransitFirst => "transit-first",
        Arbitration::Random => "random",
        Arbitration::OldestFirst => "oldest-first",
        Arbitration::Weighted => "weighted",
    }
}
