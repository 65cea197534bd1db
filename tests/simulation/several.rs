//! Several workloads at once: each is as the only one what it is alone, and so it is later, and
//! beside others that it never meets.

use std::sync::Arc;

use flitlab::{
    application::generate::{self, Parameters as Sizes},
    engine::{
        CompletedMessage, Counters, DeliveredPacket, Digest, Engine, EngineState, Log, Parameters,
    },
    measure::{Collector, MeasurementState, Watch, end_of, measure_finite},
    routing::{DirectionOrder, HalfRing, Routes},
    tables::agnostic::Algorithm,
    topology::{Fabric, Faults, Torus},
    traffic::{
        Access, Answer, Application, ApplicationSpec, Between, Carrier, CollectiveKind,
        CollectiveSpec, Collectives, Exchange, ExchangeSpec, HostOverheads, HostParameters,
        LoadSpec, OfferedLoad, OpenLoad, Pattern, PatternSpec, Placement, Process, RemoteMemory,
        RemoteMemorySpec, RemoteOperation, Several, Until, Workload, restored, saved,
    },
    units::{Bytes, Picoseconds, Rate},
};
use flitlab_random::random_scenario::Scenario;
use flitlab_random::threads::{STOPS, compare};

const MICROSECOND: Picoseconds = Picoseconds(1_000_000);

/// The time for which workloads that never end are simulated.
const LONG: Picoseconds = Picoseconds(60_000_000);

/// Two rows of six nodes.
struct Network {
    fabric: Fabric,
    routes: Routes,
    parameters: Parameters,
}

const ROWS: [[u32; 6]; 2] = [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]];

/// A workload with its overheads of hosts: an application has its own.
#[derive(Clone)]
struct Member {
    name: String,
    workload: Box<dyn Workload>,
    overheads: HostOverheads,
    ends: bool,
}

/// All that can be told of a run.
#[derive(Debug, PartialEq)]
struct Run {
    packets: Vec<DeliveredPacket>,
    messages: Vec<CompletedMessage>,
    digest: Digest,
    counters: Counters,
    end: Picoseconds,
}

impl Run {
    /// The log of one class, as its workload would have it alone.
    fn of_class(
        &self,
        class: u8,
        start: Picoseconds,
    ) -> (Vec<DeliveredPacket>, Vec<CompletedMessage>) {
        let packets = self.packets.iter().filter(|packet| packet.class == class);
        let packet = |packet: &DeliveredPacket| DeliveredPacket {
            class: 0,
            created: packet.created - start,
            injected: packet.injected - start,
            delivered: packet.delivered - start,
            ..*packet
        };
        let messages = self.messages.iter().filter(|message| message.class == class);
        let message = |message: &CompletedMessage| CompletedMessage {
            class: 0,
            created: message.created - start,
            completed: message.completed - start,
            ..*message
        };
        let (mut packets, mut messages): (Vec<_>, Vec<_>) =
            (packets.map(packet).collect(), messages.map(message).collect());
        packets.sort_unstable();
        messages.sort_unstable();
        (packets, messages)
    }
}

impl Network {
    fn new() -> Self {
        let fabric = Torus::new(&[6, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let routes =
            Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap());
        let overheads = HostOverheads::default();
        Self { fabric, routes, parameters: with_overheads(overheads) }
    }

    fn engine<'n>(
        &'n self,
        threads: usize,
        overheads: HostOverheads,
        workload: Box<dyn Workload>,
    ) -> Engine<'n, Log> {
        let parameters = with_overheads(overheads);
        Engine::new(threads, &self.fabric, &self.routes, &parameters, workload, Log::default())
    }

    /// Runs a workload on a number of threads until `limit`, with stops in between.
    fn run(
        &self,
        threads: usize,
        overheads: HostOverheads,
        workload: Box<dyn Workload>,
        limit: Picoseconds,
    ) -> Run {
        let mut engine = self.engine(threads, overheads, workload);
        for stop in [3_000_000, 7_123_456, 20_000_001].map(Picoseconds) {
            engine.run_until(stop.min(limit));
        }
        engine.run_until(limit);
        assert!(engine.credits_are_conserved());
        let (digest, counters, end) = (engine.digest(), engine.counters(), engine.now());
        let mut log = std::mem::take(engine.observer());
        log.packets.sort_unstable();
        log.messages.sort_unstable();
        let Log { packets, messages } = log;
        assert!(!packets.is_empty());
        Run { packets, messages, digest, counters, end }
    }

    /// Runs a workload as it is.
    fn run_alone(&self, threads: usize, member: &Member, limit: Picoseconds) -> Run {
        self.run(threads, member.overheads, member.workload.clone(), limit)
    }

    /// Runs workloads together, each from its start on.
    fn run_together(
        &self,
        threads: usize,
        members: &[(&Member, Picoseconds)],
        limit: Picoseconds,
    ) -> Run {
        self.run(threads, HostOverheads::default(), self.together(members), limit)
    }

    fn together(&self, members: &[(&Member, Picoseconds)]) -> Box<dyn Workload> {
        let overheads = members.iter().map(|(member, _)| member.overheads).collect();
        let members = members.iter().map(|&(member, start)| (member.workload.clone(), start));
        let several = Several::new(members.collect(), self.fabric.terminals());
        Box::new(several.with_overheads(overheads))
    }

    /// Workloads of every kind on some nodes.
    fn members(&self, nodes: &[u32]) -> Vec<Member> {
        let usual = HostOverheads { send: Picoseconds(340_000), receive: Picoseconds(250_000) };
        let member =
            |name: String, workload, ends| Member { name, workload, overheads: usual, ends };
        let latency = Picoseconds(400_000);
        let mut members = Vec::new();
        for between in [Between::Nothing, Between::Exchange, Between::Barrier { latency }] {
            for access in [Access::Write, Access::Read { request: Bytes(16) }] {
                let workload = self.exchange(nodes, between, access);
                members.push(member(format!("exchange {between:?} {access:?}"), workload, true));
            }
        }
        for operation in [RemoteOperation::Put, RemoteOperation::Get, RemoteOperation::Add] {
            members.push(member(
                format!("{operation:?}"),
                self.remote_memory(nodes, operation),
                true,
            ));
        }
        for kind in [CollectiveKind::Broadcast, CollectiveKind::Reduce, CollectiveKind::AllReduce] {
            let workload = self.collectives(nodes, kind, Picoseconds::ZERO);
            members.push(member(format!("{kind:?}"), workload, true));
        }
        for access in [Access::Write, Access::Read { request: Bytes(16) }] {
            let workload = Box::new(self.load(nodes, access, 0.3));
            members.push(member(format!("load {access:?}"), workload, false));
            let load = Box::new(self.load(nodes, access, 0.6));
            let until = Box::new(Until::new(load, Picoseconds(9_000_000), 0));
            members.push(member(format!("load {access:?} until 9 us"), until, true));
        }
        for (answer, eager_limit) in
            [(Answer::Adapter, 1 << 20), (Answer::Adapter, 100), (Answer::Processor, 100)]
        {
            let workload = self.application(nodes, answer, eager_limit);
            let overheads = HostOverheads::default();
            let name = format!("application {answer:?} {eager_limit}");
            members.push(Member { name, workload, overheads, ends: true });
        }
        members
    }

    fn pattern(&self, nodes: &[u32]) -> (PatternSpec, Pattern) {
        let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| [from, to]));
        let pairs: Vec<_> = pairs.filter(|[from, to]| from != to).collect();
        let spec = PatternSpec::new("pairs", &format!("list = {pairs:?}"));
        let pattern = Pattern::new(&spec, &self.fabric, 1).unwrap();
        (spec, pattern)
    }

    fn exchange(&self, nodes: &[u32], between: Between, access: Access) -> Box<dyn Workload> {
        let (spec, pattern) = self.pattern(nodes);
        let message = Bytes(700);
        let spec = ExchangeSpec { pattern: spec, message, access, between, rounds: 2 };
        Box::new(Exchange::new(&spec, pattern, &self.fabric))
    }

    fn remote_memory(&self, nodes: &[u32], operation: RemoteOperation) -> Box<dyn Workload> {
        let (spec, pattern) = self.pattern(nodes);
        let spec = RemoteMemorySpec {
            operation,
            pattern: spec,
            message: Bytes(8),
            request: Bytes(16),
            operations: 9,
            processes: 2,
            outstanding: 3,
            flush_every: Some(4),
            process_gap: Picoseconds(90_000),
            adapter_gap: Picoseconds(30_000),
            adapter_outstanding: 4,
        };
        Box::new(RemoteMemory::new(&spec, pattern, &self.fabric))
    }

    fn collectives(
        &self,
        nodes: &[u32],
        kind: CollectiveKind,
        start: Picoseconds,
    ) -> Box<dyn Workload> {
        let spec = CollectiveSpec {
            kind,
            message: Bytes(600),
            roots: vec![nodes[0], nodes[nodes.len() / 2]],
            members: nodes.to_vec(),
            rounds: 5,
            outstanding: 2,
            start,
        };
        let trees = spec.trees(&self.fabric).unwrap();
        Box::new(Collectives::new(&spec, trees, self.fabric.terminals()))
    }

    fn load(&self, nodes: &[u32], access: Access, load: f64) -> OpenLoad {
        let weights: Vec<String> = nodes
            .iter()
            .flat_map(|from| nodes.iter().map(move |to| format!("[{from}, {to}, 1.0]")))
            .collect();
        let spec = LoadSpec {
            pattern: PatternSpec::new("matrix", &format!("list = [{}]", weights.join(", "))),
            process: Process::Bernoulli,
            load: OfferedLoad::Fraction(load),
            message: Bytes(300).into(),
            access,
        };
        let flits = |bytes| self.parameters.message_flits(bytes);
        let slot = self.parameters.link_flit_time();
        OpenLoad::new(&spec, &self.fabric, slot, flits, 3).unwrap()
    }

    fn application(&self, nodes: &[u32], answer: Answer, eager_limit: u64) -> Box<dyn Workload> {
        let sizes = Sizes {
            ranks: Some(nodes.len() as u32),
            bytes: Some(2000),
            iterations: Some(2),
            ..Sizes::default()
        };
        let host = HostParameters {
            eager_limit: Bytes(eager_limit),
            answer,
            copy_rate: Some(Rate(40_000_000_000)),
            gap: Picoseconds(100_000),
            ..HostParameters::default()
        };
        let spec = ApplicationSpec {
            schedule: Arc::new(generate::make("all-reduce", &sizes).unwrap()),
            notes: Arc::default(),
            placement: Placement::Given(nodes.into()),
            ranks_per_node: 1,
            host,
            carrier: Carrier::Flits,
            nodes: None,
        };
        Box::new(Application::new(&spec, nodes, self.fabric.terminals(), true))
    }
}

fn with_overheads(HostOverheads { send, receive }: HostOverheads) -> Parameters {
    Parameters { send_overhead: send, receive_overhead: receive, ..Parameters::default() }
}

/// The time until which a workload is simulated.
fn limit_of(member: &Member) -> Picoseconds {
    if member.ends { Picoseconds::NEVER } else { LONG }
}

#[test]
fn the_only_one_of_several_workloads_is_as_it_is_alone() {
    let network = Network::new();
    for member in network.members(&ROWS[1]) {
        let limit = limit_of(&member);
        for threads in [1, 3] {
            let alone = network.run_alone(threads, &member, limit);
            let only = network.run_together(threads, &[(&member, Picoseconds::ZERO)], limit);
            assert_eq!(only, alone, "{}, {threads} threads", member.name);
            // With the overheads of the parameters, too.
            let members = vec![(member.workload.clone(), Picoseconds::ZERO)];
            let several = Box::new(Several::new(members, network.fabric.terminals()));
            let only = network.run(threads, member.overheads, several, limit);
            assert_eq!(only, alone, "{}, {threads} threads, usual overheads", member.name);
        }
    }
}

#[test]
fn a_workload_that_starts_later_is_the_same_later() {
    let network = Network::new();
    for member in network.members(&ROWS[0]) {
        let alone = network.run_alone(1, &member, limit_of(&member));
        for (threads, start) in [(1, Picoseconds(1)), (3, Picoseconds(4_321_000))] {
            let later =
                network.run_together(threads, &[(&member, start)], limit_of(&member) + start);
            assert_eq!(
                later.of_class(0, start),
                alone.of_class(0, Picoseconds::ZERO),
                "{}",
                member.name
            );
            assert_eq!((later.counters, later.end - start), (alone.counters, alone.end));
        }
    }
}

#[test]
fn workloads_that_never_meet_change_nothing_for_each_other() {
    let network = Network::new();
    let [first, second] = ROWS.map(|row| network.members(&row));
    let alone = |members: &[Member], start: Picoseconds| -> Vec<_> {
        let run = |member| network.run_alone(1, member, LONG - start);
        members.iter().map(|member| run(member).of_class(0, Picoseconds::ZERO)).collect()
    };
    let starts = [Picoseconds(1_300_000), Picoseconds::ZERO];
    let expected = [alone(&first, starts[0]), alone(&second, starts[1])];
    for (one, member) in first.iter().enumerate() {
        for (other, beside) in second.iter().enumerate() {
            let have_both =
                |has: fn(&dyn Workload) -> bool| has(&*member.workload) && has(&*beside.workload);
            if have_both(|it| it.barrier_latency().is_some())
                || have_both(|it| it.collectives().is_some())
            {
                continue;
            }
            let members = [(member, starts[0]), (beside, starts[1])];
            let threads = if (one + other) % 2 == 0 { 1 } else { 3 };
            let run = network.run_together(threads, &members, LONG);
            let name = format!("{} beside {}", member.name, beside.name);
            for (class, expected) in [(0, &expected[0][one]), (1, &expected[1][other])] {
                let (packets, messages) = run.of_class(class, starts[usize::from(class)]);
                let packets = packets.iter().zip(&expected.0).find(|(own, alone)| own != alone);
                assert_eq!(packets, None, "class {class} of {name}");
                let messages = messages.iter().zip(&expected.1).find(|(own, alone)| own != alone);
                assert_eq!(messages, None, "class {class} of {name}");
            }
        }
    }
}

#[test]
fn a_workload_is_over_when_nothing_is_left_of_it() {
    let network = Network::new();
    let load = network.members(&ROWS[0]).into_iter().find(|member| !member.ends).unwrap();
    for member in network.members(&ROWS[1]) {
        let members = [(&load, Picoseconds::ZERO), (&member, MICROSECOND)];
        let mut engine = network.engine(2, HostOverheads::default(), network.together(&members));
        let mut was_over = None;
        for step in 1..=120 {
            engine.run_until(MICROSECOND / 2 * step);
            assert!(!engine.is_over(0));
            if engine.is_over(1) {
                was_over = was_over.or(Some(engine.now()));
            } else {
                assert_eq!(was_over, None, "{}", member.name);
            }
        }
        let last = engine.observer().messages.iter().filter(|message| message.class == 1);
        let last = last.map(|message| message.completed).max().unwrap_or_default();
        if member.ends {
            // A barrier of an exchange is told ahead, and passed once more behind the last step.
            let over = was_over.unwrap_or_else(|| panic!("{} never ends", member.name));
            assert!(
                over + MICROSECOND >= last && over <= last + 4 * MICROSECOND,
                "{}",
                member.name
            );
        } else {
            assert_eq!(was_over, None);
        }
    }
}

/// Operations that begin later by their own key are those of a workload that starts later.
#[test]
fn collective_operations_beside_a_load_may_begin_later_in_two_ways() {
    let network = Network::new();
    let all: Vec<u32> = ROWS.concat();
    let usual = HostOverheads { send: Picoseconds(340_000), receive: Picoseconds(250_000) };
    let start = 3 * MICROSECOND;
    for access in [Access::Write, Access::Read { request: Bytes(16) }] {
        let several = |own, start| -> Box<dyn Workload> {
            let operations = network.collectives(&all, CollectiveKind::AllReduce, own);
            let load = Box::new(network.load(&all, access, 0.4));
            let members: Vec<(Box<dyn Workload>, _)> =
                vec![(operations, start), (load, Picoseconds::ZERO)];
            Box::new(Several::new(members, network.fabric.terminals()))
        };
        let [inside, outside] =
            [several(start, Picoseconds::ZERO), several(Picoseconds::ZERO, start)];
        let one = network.run(1, usual, inside.clone(), LONG);
        let other = network.run(3, usual, outside.clone(), LONG);
        assert_eq!((other.digest, other.counters), (one.digest, one.counters));
        assert_eq!(other.messages.len(), one.messages.len());
        let end = |workload: Box<dyn Workload>| {
            let parameters = with_overheads(usual);
            let collector = Collector::new(network.fabric.terminals());
            let Network { fabric, routes, .. } = &network;
            let mut engine = Engine::new(2, fabric, routes, &parameters, workload, collector);
            end_of(&mut engine, &[0], 1, &mut |_| {}).unwrap()
        };
        let expected = end(inside);
        assert!(expected.is_some_and(|end| end > start));
        assert_eq!(end(outside), expected);
    }
}

#[test]
fn finite_workloads_beside_a_load_are_measured_until_the_last_of_them_is_over() {
    let network = Network::new();
    let all: Vec<u32> = ROWS.concat();
    let members = network.members(&all);
    let named = |name: &str| members.iter().find(|it| it.name.starts_with(name)).unwrap();
    let [exchange, load, application] =
        ["exchange Exchange", "load", "application Adapter 100"].map(named);
    let starts = [MICROSECOND, Picoseconds::ZERO, 5 * MICROSECOND];
    let members: Vec<_> = [exchange, load, application].into_iter().zip(starts).collect();
    let collector = || Collector::new(network.fabric.terminals());
    let Network { fabric, routes, parameters } = &network;
    let new =
        || Engine::new(2, fabric, routes, parameters, network.together(&members), collector());
    let ends = [&[0][..], &[2], &[0, 2]]
        .map(|classes| end_of(&mut new(), classes, 1, &mut |_| {}).unwrap().unwrap());
    assert_eq!(ends[2], ends[0].max(ends[1]));
    let log = network.run_together(1, &members, ends[2]);
    let last = |class| {
        let own = log.messages.iter().filter(|message| message.class == class);
        own.map(|message| message.completed).max().unwrap()
    };
    assert_eq!(ends[0], last(0));
    let mut engine = network.engine(1, HostOverheads::default(), network.together(&members));
    engine.run_until(ends[2]);
    assert!(engine.is_over(0) && engine.is_over(2) && !engine.is_over(1));
    let outcome = Application::outcome(engine.workload_of(2)).unwrap();
    assert_eq!(ends[1], starts[2] + outcome.time());
    assert_eq!(engine.workload_of::<Application>(0).count(), 0);

    let span = Some((MICROSECOND, ends[2]));
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut watch = Watch {
        progress: &mut |_| {},
        keep: &mut |snapshot| kept.push(saved(&snapshot)),
        from: None,
    };
    let measured = measure_finite(&mut new(), 100, 12, span, &mut watch).unwrap();
    let classes = &measured.summary.classes;
    let sum = |of: fn(&flitlab::measure::ClassSummary) -> u64| classes.iter().map(of).sum::<u64>();
    assert_eq!(classes.len(), 3);
    assert_eq!(sum(|it| it.payload), measured.payload);
    assert_eq!(sum(|it| it.message_latency.unwrap().count), measured.messages);
    let packets = measured.summary.packet_latency.unwrap().count;
    assert_eq!(
        (sum(|it| it.packets), sum(|it| it.packet_latency.unwrap().count)),
        (packets, packets)
    );
    assert_eq!(classes[0].latest_completion, ends[0]);
    let of_first = log.packets.iter().filter(|it| it.class == 0 && it.delivered > MICROSECOND);
    assert_eq!(classes[0].packets, of_first.count() as u64);

    let state = kept.first().expect("it takes more than one look");
    let (engine_state, from): (EngineState<Collector>, MeasurementState) = restored(state).unwrap();
    let mut engine = new();
    assert!(engine.resume(engine_state));
    let mut watch = Watch { progress: &mut |_| {}, keep: &mut |_| {}, from: Some(from) };
    assert_eq!(measure_finite(&mut engine, 100, 12, span, &mut watch).unwrap(), measured);
}

/// The barrier lets no failed terminal go on, which would never be asked what it creates.
#[test]
fn an_exchange_with_barriers_ends_where_terminals_have_failed() {
    let faults = Faults { nodes: vec![7], ..Faults::default() };
    let fabric = Torus::new(&[6, 2], &[]).unwrap().fabric(&faults).unwrap();
    let network = Network { fabric, ..Network::new() };
    let latency = Picoseconds(400_000);
    let exchange = network.exchange(&[0, 2, 9], Between::Barrier { latency }, Access::Write);
    let load = Box::new(network.load(&[1, 2, 10], Access::Write, 0.1));
    let members: Vec<(Box<dyn Workload>, _)> =
        vec![(exchange, MICROSECOND), (load, Picoseconds::ZERO)];
    let several = Several::new(members, network.fabric.terminals());
    let made = Algorithm::UP_DOWN.generate(&network.fabric, &Default::default()).unwrap();
    let routes = Routes::Forwarding(Arc::new(made.table));
    for threads in [1, 3] {
        let collector = Collector::new(network.fabric.terminals());
        let (fabric, parameters) = (&network.fabric, &network.parameters);
        let workload = Box::new(several.clone());
        let mut engine = Engine::new(threads, fabric, &routes, parameters, workload, collector);
        let end = end_of(&mut engine, &[0], 1, &mut |_| {}).unwrap().expect("it ends");
        assert!(end < 100 * MICROSECOND && engine.is_over(0), "{end}");
    }
}

#[test]
fn workloads_on_the_same_nodes_are_the_same_on_any_number_of_threads() {
    let network = Network::new();
    let all: Vec<u32> = ROWS.concat();
    let members = network.members(&all);
    let (barriers, others): (Vec<_>, Vec<_>) = members
        .iter()
        .filter(|member| member.ends)
        .partition(|member| member.workload.barrier_latency().is_some());
    for (number, chosen) in others.chunks(3).enumerate() {
        let is_collective = |member: &&&Member| member.workload.collectives().is_some();
        if chosen.iter().filter(is_collective).count() > 1 {
            continue;
        }
        let all = chosen.iter().chain(&barriers[number % 2..][..1]).copied();
        let starts = (0..).map(|place| MICROSECOND * place / 3);
        let members: Vec<_> = all.zip(starts).collect();
        let scenario = Scenario {
            fabric: network.fabric.clone(),
            routes: network.routes.clone(),
            parameters: network.parameters.clone(),
            messages: Vec::new(),
            collective: None,
        };
        let stops: Vec<_> = STOPS.iter().map(|&stop| stop * 20_000).collect();
        let run =
            compare(&format!("group {number}"), &scenario, &*network.together(&members), &stops);
        for class in 0..members.len() as u8 {
            assert!(run.log.0.iter().any(|packet| packet.class == class), "class {class}");
        }
    }
}
