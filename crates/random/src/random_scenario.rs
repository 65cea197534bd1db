//! Small random scenarios: fabrics, parameters and messages that reach into the model's corners.
//!
//! A seed names a scenario for good: the generator is ChaCha8 and nothing else is drawn from. The
//! rules of direction order are drawn from another stream of it ([`Scenario::ruled`]). A fuzzer
//! draws from its own bytes instead ([`Scenario::drawn`]).

use super::{random_phased, random_relation};
use flitlab_base::registry::Component;
use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_engine::{Arbitration, InjectionChoice, Parameters, RouterKind, Switching};
use flitlab_fabric::{Cabling, Fabric, Faults, Torus};
use flitlab_routing::adaptive::{NonMinimalRule, Selection, Tie};
use flitlab_routing::{
    Adaptive, AdaptiveRules, DirectionOrder, EscapeRule, ForwardingTable, HalfRing, Header,
    RouteTable, Routes,
};
use flitlab_tables::agnostic::{self, Algorithm, Spread};
use flitlab_traffic::{CollectiveSpec, Message, MessageKind};
use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::{
    Rng, RngExt, SeedableRng,
    seq::{IndexedRandom, SliceRandom},
};
use rand_chacha::ChaCha8Rng;

const FLIT: u64 = 16;
const MAX_NODES: u32 = 60;
/// Flits times hops of all messages together, so that the reference engine stays quick.
pub const MAX_WORK: u64 = 6_000;

/// Any of the adaptive routings.
fn rules(random: &mut dyn Rng) -> AdaptiveRules {
    let weight = random.random_range(0.5..2.5);
    // Half of them follow the load, downwards.
    let factor = if weight > 1.5 { 2.6 - weight } else { 1.0 };
    let weight = format!("distance_weight = {weight:?}\nfull_weight_factor = {factor:?}");
    let steps = random.random_range(1..3);
    let outflank = format!("steps = {steps}\n{weight}");
    let rules_of_detours = [
        ("adaptive", ""),
        ("profit", &weight),
        ("outflank", &outflank),
        ("goal", ""),
        ("cqr", ""),
        ("valiant", ""),
        ("romm", ""),
        ("rlb", ""),
    ];
    AdaptiveRules {
        non_minimal: {
            let (name, keys) = *rules_of_detours.choose(random).expect("some");
            NonMinimalRule::new(name, keys)
        },
        selection: Selection::built_in().choose(random).expect("some"),
        tie: *[None, Some(Tie::Plus), Some(Tie::Random)].choose(random).expect("some"),
        injection_bubble: if random.random_bool(0.25) { steps as u8 } else { 0 },
        ..AdaptiveRules::default()
    }
}

/// Something to simulate.
#[derive(Debug)]
pub struct Scenario {
    pub fabric: Fabric,
    pub routes: Routes,
    pub parameters: Parameters,
    /// In no particular order of time.
    pub messages: Vec<Message>,
    /// Collective operations beside them, if there are any.
    pub collective: Option<CollectiveSpec>,
}

impl Scenario {
    /// The scenario of this seed under adaptive routing, if its torus has no failures: packets of
    /// one size, since the bubble rule holds for these only.
    pub fn adaptive(seed: u64) -> Option<Self> {
        Self::drawn_adaptive(&mut ChaCha8Rng::seed_from_u64(seed), seed, MAX_WORK)
    }

    /// The scenario of this seed under adaptive routing whose escape follows a table, on a torus
    /// with failures most of the time. Packets are of any size.
    pub fn adaptive_by_table(seed: u64) -> Self {
        Self::drawn_adaptive_by_table(&mut ChaCha8Rng::seed_from_u64(seed), seed, MAX_WORK)
    }

    /// A scenario of this seed on a fabric of any shape, with a forwarding table.
    pub fn forwarding(seed: u64) -> Self {
        Self::drawn_forwarding(&mut ChaCha8Rng::seed_from_u64(seed), MAX_WORK)
    }

    /// A scenario of this seed on a fabric of any shape, with a relation or with paths.
    pub fn choosing(seed: u64) -> Self {
        Self::drawn_choosing(&mut ChaCha8Rng::seed_from_u64(seed), seed, MAX_WORK)
    }

    /// A scenario of this seed with a rule whose packets pass through phases.
    pub fn phased(seed: u64) -> Self {
        Self::drawn_phased(&mut ChaCha8Rng::seed_from_u64(seed), seed, MAX_WORK)
    }

    /// A scenario with UGAL on a Dragonfly and this value of its `credits`, with about so much work.
    pub fn drawn_by_credits(random: &mut dyn Rng, seed: u64, credits: &str, work: u64) -> Self {
        let drawn = random_phased::routes_by_credits(random, seed, credits);
        Self::on_phases(random, drawn, work)
    }

    /// The same with a few switches of up to a hundred ports.
    pub fn wide(seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let sizes = Sizes { routers: 2..=3, terminals: 5..=35 };
        let drawn = switched_fabric(random, sizes);
        Self::on_table(random, drawn, MAX_WORK)
    }

    /// The scenario of this seed.
    pub fn random(seed: u64) -> Self {
        Self::drawn(&mut ChaCha8Rng::seed_from_u64(seed), MAX_WORK)
    }

    /// The scenario of this seed; if its routes are in direction order, with another order, half
    /// rings by chance and datelines, each sometimes.
    pub fn ruled(seed: u64) -> Self {
        Self::random(seed).with_rules(seed)
    }

    /// With such rules, if its routes are in direction order.
    pub fn with_rules(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let Routes::DirectionOrder(order) = &self.routes else { return self };
        let dimensions = self.fabric.torus().expect("a torus").dimensions();
        let mut rules = order.rules().clone();
        if random.random_bool(0.5) {
            rules.order = (0..2 * dimensions as u16).collect();
            rules.order.shuffle(random);
        }
        if random.random_bool(0.3) {
            rules.half_ring = HalfRing::Random;
        }
        rules.dateline = random.random_bool(0.3);
        // Failures may lead too far round a ring for datelines.
        if let Ok(order) = DirectionOrder::new(&self.fabric, rules.clone()) {
            if rules.dateline {
                self.parameters.bubble = false;
                self.parameters.virtual_channels = random.random_range(4..=6);
            }
            self.routes = Routes::DirectionOrder(order.with_seed(random.random()));
        }
        self
    }

    /// If routing is adaptive and escapes by the bubble rule, sometimes with datelines instead; where
    /// links are shared, sometimes with virtual channels that are given to packets only while they
    /// are empty.
    #[must_use]
    pub fn with_datelines_of_escapes(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(8);
        if let RouterKind::SharedLinks(sharing) = &mut self.parameters.kind {
            let ring = matches!(&self.routes, Routes::Relation(made) if made.relation.has_ring());
            sharing.atomic = random.random_bool(0.25) && !ring;
            self.parameters.bubble &= !sharing.atomic;
        }
        let Routes::Adaptive(adaptive) = &self.routes else { return self };
        if adaptive.has_table() || random.random_bool(0.6) {
            return self;
        }
        let escape = EscapeRule::Dateline;
        let channels = escape.usual_channels();
        let rules = AdaptiveRules { escape, channels, ..adaptive.rules().clone() };
        if let Ok(adaptive) = Adaptive::new(&self.fabric, rules, adaptive.seed()) {
            self.routes = Routes::Adaptive(adaptive);
            self.parameters.bubble = false;
            self.parameters.virtual_channels = self.parameters.virtual_channels.max(5);
        }
        self
    }

    /// With all messages to a destination on one injection channel.
    #[must_use]
    pub fn with_injection_by_destination(mut self) -> Self {
        self.parameters.injection_choice = InjectionChoice::ByDestination;
        self
    }

    /// With some of its reads made puts and atomic operations. Where packets have one size, nothing
    /// is put: acknowledgements have another.
    pub fn with_remote_operations(mut self, seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(3);
        let one_size = matches!(self.routes, Routes::Adaptive(_)) && self.parameters.bubble;
        self.parameters.atomic_time = Picoseconds(*[0, 3, 30, 300].choose(random).expect("some"));
        for message in &mut self.messages {
            let MessageKind::Read { request } = message.kind else { continue };
            message.kind = match random.random_range(0..4) {
                0 => MessageKind::Read { request },
                1 if !one_size => MessageKind::Put,
                _ => MessageKind::Atomic { request },
            };
        }
        self
    }

    /// As [`Self::adaptive`], from a generator, with about so much work; the routing's own
    /// generators get the seed.
    pub fn drawn_adaptive(random: &mut dyn Rng, seed: u64, work: u64) -> Option<Self> {
        let (fabric, _) = fabric(random);
        let made = flitlab_tables::adaptive(&fabric, rules(random), &Algorithm::UP_DOWN, seed);
        let routes = Routes::Adaptive(made.ok()?);
        let mut parameters = parameters(random, has_rings(&fabric));
        parameters.bubble = true;
        let mut messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        let largest = parameters.maximum_payload.0;
        for message in &mut messages {
            message.bytes = message.bytes.next_multiple_of(largest.max(1)).max(largest);
            if let MessageKind::Read { request } = &mut message.kind {
                *request = largest as u32;
            }
            if largest == 0 {
                message.bytes = 0;
            }
        }
        Some(Self { fabric, routes, parameters, messages, collective: None })
    }

    /// As [`Self::adaptive_by_table`], from a generator, with about so much work; the routing's own
    /// generators get the seed.
    pub fn drawn_adaptive_by_table(random: &mut dyn Rng, seed: u64, work: u64) -> Self {
        let fabric = failed_fabric(random);
        let escape = *[Algorithm::NUE, Algorithm::UP_DOWN].choose(random).expect("some");
        let rules = AdaptiveRules { escape: EscapeRule::Table, ..rules(random) };
        let adaptive = flitlab_tables::adaptive(&fabric, rules, &escape, seed)
            .expect("every fabric has such tables");
        assert!(flitlab_tables::prove_adaptive(&fabric, &adaptive).holds());
        let routes = Routes::Adaptive(adaptive);
        let mut parameters = parameters(random, false);
        if random.random_bool(0.5) {
            parameters.buffer = parameters.maximum_packet();
        }
        let messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        Self { fabric, routes, parameters, messages, collective: None }
    }

    /// As [`Self::forwarding`], from a generator, with about so much work.
    pub fn drawn_forwarding(random: &mut dyn Rng, work: u64) -> Self {
        let drawn = switched_fabric(random, Sizes { routers: 2..=14, terminals: 0..=3 });
        Self::on_table(random, drawn, work)
    }

    /// As [`Self::choosing`], from a generator, with about so much work; the choices' own
    /// generators get the seed.
    pub fn drawn_choosing(random: &mut dyn Rng, seed: u64, work: u64) -> Self {
        let fabric = if random.random_bool(0.3) {
            fabric(random).0
        } else {
            switched_fabric(random, Sizes { routers: 2..=12, terminals: 0..=3 }).0
        };
        let mut routes = random_relation::choosing(random, &fabric, seed);
        let mut parameters = parameters(random, false);
        parameters.bubble = false;
        parameters.virtual_channels = random_relation::vcs(&routes) + random.random_range(0..=2);
        random_relation::throttle(&mut routes, random.random_range(0..=2), &parameters);
        random_relation::inject_and_prefer(random, &mut routes);
        let messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        Self { fabric, routes, parameters, messages, collective: None }
    }

    /// As [`Self::phased`], from a generator, with about so much work; the choices' own generators
    /// get the seed.
    pub fn drawn_phased(random: &mut dyn Rng, seed: u64, work: u64) -> Self {
        let drawn = random_phased::routes(random, seed, |random| {
            switched_fabric(random, Sizes { routers: 2..=12, terminals: 0..=3 }).0
        });
        Self::on_phases(random, drawn, work)
    }

    fn on_phases(random: &mut dyn Rng, (fabric, mut routes): (Fabric, Routes), work: u64) -> Self {
        let mut parameters = parameters(random, false);
        parameters.bubble = false;
        parameters.virtual_channels = random_relation::vcs(&routes) + random.random_range(0..=2);
        random_relation::throttle(&mut routes, random.random_range(0..=2), &parameters);
        random_relation::inject_and_prefer(random, &mut routes);
        random_phased::decide_again(random, &mut routes);
        let messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        Self { fabric, routes, parameters, messages, collective: None }
    }

    fn on_table(
        random: &mut dyn Rng,
        (fabric, table): (Fabric, ForwardingTable),
        work: u64,
    ) -> Self {
        let mut parameters = parameters(random, false);
        parameters.bubble = false;
        parameters.virtual_channels = (table.vc_count() + random.random_range(0..=2)).min(16);
        let routes = Routes::Forwarding(Arc::new(table));
        let messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        Self { fabric, routes, parameters, messages, collective: None }
    }

    /// As [`Self::random`], from a generator, with about so much work.
    pub fn drawn(random: &mut dyn Rng, work: u64) -> Self {
        let (fabric, routes) = fabric(random);
        let parameters = parameters(random, has_rings(&fabric));
        let messages = Traffic::new(random, &fabric, &routes, &parameters).messages(work);
        Self { fabric, routes, parameters, messages, collective: None }
    }

    /// The payloads of the packets that a message turns into, from its source and, if it is a read,
    /// back to it.
    pub fn packets_of(&self, message: &Message) -> (Vec<u64>, Vec<u64>) {
        let cut = |bytes: u64| {
            let maximum = self.parameters.maximum_payload.0;
            let full = bytes.checked_div(maximum).unwrap_or(0);
            let rest = bytes - full * maximum;
            let mut packets = vec![maximum; full as usize];
            if rest > 0 || full == 0 {
                packets.push(rest);
            }
            packets
        };
        match message.kind {
            MessageKind::Data => (cut(message.bytes), Vec::new()),
            MessageKind::Operand | MessageKind::Broadcast => {
                unreachable!("no collective operations here")
            }
            MessageKind::Read { request } | MessageKind::Atomic { request } => {
                (cut(u64::from(request)), cut(message.bytes))
            }
            MessageKind::Put => (cut(message.bytes), cut(0)),
        }
    }
}

fn has_rings(fabric: &Fabric) -> bool {
    (0..fabric.channel_slots()).any(|channel| fabric.ring(channel).is_some())
}

/// A torus or mesh of 1 to 4 dimensions of 2 to 5 nodes, perhaps with failures around which
/// direction order finds a way.
fn fabric(random: &mut dyn Rng) -> (Fabric, Routes) {
    loop {
        let dimensions = random.random_range(1..=4);
        let sizes: Vec<u32> = (0..dimensions).map(|_| random.random_range(2..=5)).collect();
        if sizes.iter().product::<u32>() > MAX_NODES {
            continue;
        }
        let openness = *[0.0, 0.0, 0.3, 1.0].choose(random).unwrap();
        let open: Vec<usize> = (0..dimensions).filter(|_| random.random_bool(openness)).collect();
        let torus = Torus::new(&sizes, &open).unwrap();
        let Ok(fabric) = torus.fabric(&faults(random, &torus)) else { continue };
        let rule = *[HalfRing::Plus, HalfRing::Balanced].choose(random).unwrap();
        let Ok(order) = DirectionOrder::new(&fabric, rule) else { continue };
        if fabric.live_terminals().count() == torus.nodes() as usize
            && fabric.channels() == whole_channels(&torus)
            && random.random_bool(0.2)
        {
            let mut table = any_way_round(random, &fabric);
            // By the fabric, so that what is drawn besides stays what it is.
            let mut own = ChaCha8Rng::seed_from_u64(fabric.channels() as u64);
            if own.random_bool(0.5) {
                give_several(&mut own, &fabric, &mut table);
            }
            return (fabric, Routes::Table(table));
        }
        return (fabric, Routes::DirectionOrder(order));
    }
}

/// A torus or mesh of 1 to 4 dimensions of 2 to 5 nodes, connected, with up to eight failed cables
/// and a failed node.
fn failed_fabric(random: &mut dyn Rng) -> Fabric {
    loop {
        let dimensions = random.random_range(1..=4);
        let sizes: Vec<u32> = (0..dimensions).map(|_| random.random_range(2..=5)).collect();
        if sizes.iter().product::<u32>() > MAX_NODES {
            continue;
        }
        let openness = *[0.0, 0.0, 0.3].choose(random).unwrap();
        let open: Vec<usize> = (0..dimensions).filter(|_| random.random_bool(openness)).collect();
        let torus = Torus::new(&sizes, &open).unwrap();
        let mut faults = Faults::default();
        for _ in 0..random.random_range(0..=8) {
            let end =
                (random.random_range(0..torus.nodes()), random.random_range(0..torus.directions()));
            if torus.neighbor(end.0, end.1).is_some() {
                faults.cables.push(end);
            }
        }
        if random.random_bool(0.3) {
            faults.nodes.push(random.random_range(0..torus.nodes()));
        }
        if let Ok(fabric) = torus.fabric(&faults) {
            return fabric;
        }
    }
}

/// How many routers a fabric has, and terminals each.
struct Sizes {
    routers: RangeInclusive<u32>,
    terminals: RangeInclusive<u32>,
}

/// A connected fabric with parallel cables, and a table without a cycle in any virtual channel.
fn switched_fabric(random: &mut dyn Rng, sizes: Sizes) -> (Fabric, ForwardingTable) {
    loop {
        let routers = random.random_range(sizes.routers.clone());
        let mut cabling = Cabling::default();
        for router in 0..routers {
            cabling.router(format!("S{router}"));
        }
        for router in 0..routers {
            for number in 0..random.random_range(sizes.terminals.clone()) {
                cabling.terminal(format!("H{router}-{number}"), router);
            }
        }
        for router in 1..routers {
            cabling.cable(router, random.random_range(0..router));
        }
        for _ in 0..random.random_range(0..2 * routers) {
            let (one, other) = (random.random_range(0..routers), random.random_range(0..routers));
            if one != other {
                cabling.cable(one, other);
            }
        }
        let Ok(fabric) = cabling.fabric() else { continue };
        let algorithms = [
            Algorithm::NUE,
            Algorithm::NUE_BALANCED,
            Algorithm::UP_DOWN,
            Algorithm::DFSSSP,
            Algorithm::LASH,
            Algorithm::LASH_TOR,
        ];
        let parameters =
            agnostic::Parameters { vcs: random.random_range(1..=16), ..Default::default() };
        let algorithm = algorithms.choose(random).unwrap();
        if let Ok(generated) = algorithm.generate(&fabric, &parameters) {
            // By the fabric, so that what is drawn besides stays what it is.
            let mut own = ChaCha8Rng::seed_from_u64(fabric.channels() as u64);
            let spreads = [None, Some(Spread::ByDestination), Some(Spread::ByPair)];
            let spread = *spreads.choose(&mut own).unwrap();
            let spread =
                algorithm.generate(&fabric, &agnostic::Parameters { spread, ..parameters });
            return (fabric, spread.unwrap_or(generated).table);
        }
    }
}

fn whole_channels(torus: &Torus) -> usize {
    let directions = torus.directions();
    (0..torus.nodes() * directions)
        .filter(|slot| torus.neighbor(slot / directions, slot % directions).is_some())
        .count()
}

fn faults(random: &mut dyn Rng, torus: &Torus) -> Faults {
    let mut faults = Faults::default();
    if random.random_bool(0.7) {
        return faults;
    }
    for _ in 0..random.random_range(0..=3) {
        let end =
            (random.random_range(0..torus.nodes()), random.random_range(0..torus.directions()));
        if torus.neighbor(end.0, end.1).is_some() {
            faults.cables.push(end);
        }
    }
    if random.random_bool(0.3) {
        faults.nodes.push(random.random_range(0..torus.nodes()));
    }
    faults
}

/// Direction-order routes that go either way round each ring, the long way too.
fn any_way_round(random: &mut dyn Rng, fabric: &Fabric) -> RouteTable {
    let torus = fabric.torus().expect("a torus");
    RouteTable::new(fabric, |source, destination| {
        let mut header = Header::default();
        for dimension in 0..torus.dimensions() {
            let from = torus.coordinate(source, dimension);
            let to = torus.coordinate(destination, dimension);
            if from != to {
                let plus =
                    if torus.closed(dimension) { random.random_bool(0.5) } else { to > from };
                header = header.with_direction(dimension, plus);
            }
        }
        header
    })
}

/// Gives most pairs that have half a ring to go two routes, one either way round it.
fn give_several(random: &mut dyn Rng, fabric: &Fabric, table: &mut RouteTable) {
    let torus = fabric.torus().expect("a torus");
    let ends = || 0..torus.nodes();
    for (source, destination) in ends().flat_map(|from| ends().map(move |to| (from, to))) {
        let is_half = |&dimension: &usize| {
            let at = |node| torus.coordinate(node, dimension);
            torus.closed(dimension)
                && 2 * at(source).abs_diff(at(destination)) == torus.sizes()[dimension]
        };
        let half = (0..torus.dimensions()).find(is_half);
        let Some(dimension) = half.filter(|_| random.random_bool(0.8)) else { continue };
        let header = table.header(source, destination).expect("every pair has a route");
        let routes = [true, false]
            .map(|plus| (header.with_direction(dimension, plus), random.random_range(1..=5)));
        table.set_several(source, destination, &routes);
    }
}

fn parameters(random: &mut dyn Rng, rings: bool) -> Parameters {
    let mut channel = || {
        let flit_time: u64 = random.random_range(1..=5);
        let latency = random.random_range(1..=12).max(flit_time);
        (Rate(128_000_000_000_000 / flit_time), Picoseconds(latency))
    };
    let (link, injection, ejection) = (channel(), channel(), channel());
    let maximum_payload = match random.random_range(0..=8) {
        0 => 0,
        flits => flits * FLIT - *[0, 0, 0, random.random_range(1..FLIT)].choose(random).unwrap(),
    };
    let mut short = || if random.random_bool(0.5) { 0 } else { random.random_range(0..=20) };
    let (send_overhead, receive_overhead, service_time) = (short(), short(), short());
    let mut parameters = Parameters {
        classes: Vec::new(),
        flit: Bytes(FLIT),
        header_flits: random.random_range(0..=2),
        checksum_flits: random.random_range(0..=1),
        maximum_payload: Bytes(maximum_payload),
        virtual_channels: 5,
        message_classes: 2,
        buffer: 0,
        switching: *[Switching::VirtualCutThrough, Switching::StoreAndForward]
            .choose(random)
            .unwrap(),
        arbitration: *[Arbitration::RoundRobin, Arbitration::TransitFirst, Arbitration::Random]
            .choose(random)
            .unwrap(),
        kind: RouterKind::WholePackets,
        bubble: rings || random.random_bool(0.5),
        crossbar_speedup: random.random_range(1..=3),
        routing_latency: Picoseconds(random.random_range(0..=5)),
        head_of_queue_lifetime: None,
        crossbar_latency: Picoseconds(random.random_range(0..=3)),
        link_rate: link.0,
        link_latency: link.1,
        injection_channels: random.random_range(1..=3),
        injection_choice: InjectionChoice::InTurn,
        injection_rate: injection.0,
        injection_latency: injection.1,
        injection_buffer: 0,
        ejection_channels: random.random_range(1..=3),
        ejection_rate: ejection.0,
        ejection_latency: ejection.1,
        send_overhead: Picoseconds(send_overhead),
        receive_overhead: Picoseconds(receive_overhead),
        service_time: Picoseconds(service_time),
        atomic_time: Picoseconds::ZERO,
        responder_resources: None,
        collective: Default::default(),
        errors: None,
    };
    let largest = parameters.maximum_packet();
    let mut more = || match random.random_range(0..4) {
        0 | 1 => 0,
        2 => random.random_range(0..=largest),
        _ => random.random_range(0..=5 * largest),
    };
    parameters.buffer = 2 * largest + more();
    parameters.injection_buffer = largest + more();
    parameters
}

/// How a scenario's messages are drawn.
struct Traffic<'a> {
    random: &'a mut dyn Rng,
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    terminals: Vec<u32>,
    /// Messages are created before this time; a short one makes a burst that saturates.
    end: Picoseconds,
    /// The largest size.
    bytes: u64,
    equal_sizes: bool,
    read_share: f64,
    pattern: Pattern,
}

#[derive(Clone, Copy)]
enum Pattern {
    Uniform,
    /// To these terminals (by place), with this probability.
    HotSpot(usize, f64),
    /// To the terminal that many places further on.
    Shift(usize),
}

impl<'a> Traffic<'a> {
    fn new(
        random: &'a mut dyn Rng,
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
    ) -> Self {
        let terminals: Vec<u32> = fabric.live_terminals().collect();
        let maximum = parameters.maximum_payload.0;
        let pattern = match random.random_range(0..5) {
            0 | 1 => Pattern::Uniform,
            2 => Pattern::HotSpot(
                random.random_range(0..terminals.len()),
                *[0.2, 0.5, 1.0].choose(random).unwrap(),
            ),
            _ => Pattern::Shift(random.random_range(0..terminals.len())),
        };
        Self {
            end: Picoseconds(*[1, 20, 200, 2_000].choose(random).unwrap()),
            bytes: *[maximum / 2, maximum, 3 * maximum].choose(random).unwrap(),
            equal_sizes: random.random_bool(0.2),
            read_share: *[0.0, 0.0, 0.2, 0.5, 1.0].choose(random).unwrap(),
            random,
            fabric,
            routes,
            parameters,
            terminals,
            pattern,
        }
    }

    fn messages(&mut self, most_work: u64) -> Vec<Message> {
        let mut messages = Vec::new();
        let most = *[5, 50, 1_000].choose(self.random).unwrap();
        let mut work = 0;
        while work < most_work && messages.len() < most {
            let message = self.message();
            work += self.work(&message);
            messages.push(message);
        }
        messages
    }

    fn message(&mut self) -> Message {
        let source = self.random.random_range(0..self.terminals.len());
        let uniform = self.random.random_range(0..self.terminals.len());
        let destination = match self.pattern {
            Pattern::Uniform => uniform,
            Pattern::HotSpot(hot, share) => {
                if self.random.random_bool(share) {
                    hot
                } else {
                    uniform
                }
            }
            Pattern::Shift(distance) => (source + distance) % self.terminals.len(),
        };
        let kind = if self.random.random_bool(self.read_share) {
            MessageKind::Read { request: self.request() }
        } else {
            MessageKind::Data
        };
        Message {
            time: Picoseconds(self.random.random_range(0..self.end.0)),
            source: self.terminals[source],
            destination: self.terminals[destination],
            bytes: self.size(),
            kind,
            tag: 0,
            class: 0,
        }
    }

    fn size(&mut self) -> u64 {
        match self.random.random_range(0..8) {
            _ if self.equal_sizes => self.bytes,
            0 => 0,
            1 => self.bytes,
            _ => self.random.random_range(0..=self.bytes),
        }
    }

    /// Mostly nothing or little, now and then more than a packet.
    fn request(&mut self) -> u32 {
        let maximum = self.parameters.maximum_payload.0 as u32;
        match self.random.random_range(0..8) {
            0..4 => 0,
            7 => self.random.random_range(0..=2 * maximum),
            _ => self.random.random_range(0..=maximum),
        }
    }

    /// Flits times channels.
    fn work(&self, message: &Message) -> u64 {
        let (source, destination) = (message.source, message.destination);
        let mut hops = 0;
        self.routes.for_each_channel(self.fabric, source, destination, |_| hops += 1);
        let flits = match self.parameters.maximum_payload.0 {
            0 => 3,
            _ => self.parameters.message_flits(message.bytes),
        };
        flits * (hops + 2)
    }
}
