//! Applications on the engine: what ranks do, in what order, and when.

mod one_sided;

use std::sync::Arc;

use crate::common::workplace::Workplace;
use flitlab::{
    application::{
        ANY, Action, Operation, RemoteOperation, Schedule, ScheduleBuilder, Until, generate,
    },
    engine::{Counters, Digest, Engine, Log, Parameters, zero_load_latency},
    measure::{Explanation, PhaseTimes, Spent, Times, explain},
    routing::{DirectionOrder, HalfRing, Routes},
    topology::{Fabric, Faults, Torus},
    traffic::{
        AdapterTimes, Answer, Application, ApplicationSpec, Carrier, HostParameters, Leg, LegKind,
        Outcome, Placement, RemoteRead,
    },
    units::{Bytes, Picoseconds, Rate},
};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// A network and its routes.
struct Machine {
    fabric: Fabric,
    routes: Routes,
    parameters: Parameters,
}

impl Machine {
    fn new(sizes: &[u32]) -> Self {
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
        let routes =
            Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap());
        let parameters = Parameters {
            send_overhead: Picoseconds::ZERO,
            receive_overhead: Picoseconds::ZERO,
            ..Parameters::default()
        };
        Self { fabric, routes, parameters }
    }

    /// The terminals of the ranks.
    fn places(&self, spec: &ApplicationSpec) -> Vec<u32> {
        let live: Vec<u32> = self.fabric.live_terminals().collect();
        let ranks = spec.schedule.ranks();
        spec.placement.nodes(ranks, spec.ranks_per_node, &live, 1).unwrap()
    }

    fn run(
        &self,
        spec: &ApplicationSpec,
        threads: usize,
        stops: &[Picoseconds],
    ) -> (Result<Outcome, String>, Digest, Counters) {
        let places = self.places(spec);
        let application = Application::new(spec, &places, self.fabric.terminals(), true);
        let mut engine = Engine::new(
            threads,
            &self.fabric,
            &self.routes,
            &self.parameters,
            Box::new(application),
            Log::default(),
        );
        for &stop in stops {
            engine.run_until(stop);
        }
        engine.run_until(Picoseconds::NEVER);
        assert!(engine.credits_are_conserved());
        let outcome = Application::outcome(engine.workload::<Application>());
        let outcome = outcome.map_err(|stuck| stuck.describe(&spec.schedule));
        let outcome = outcome.map(|mut outcome| {
            let jobs = &mut outcome.records.jobs;
            jobs.sort_by_key(|job| (job.operation, job.kind, job.end, job.cause));
            outcome.records.legs.sort_by_key(|leg| (leg.operation, leg.kind));
            outcome.records.waits.sort_by_key(|wait| (wait.operation, wait.kind));
            outcome
        });
        (outcome, engine.digest(), engine.counters())
    }

    fn hops(&self, from: u32, to: u32) -> u32 {
        let mut hops = 0;
        self.routes.for_each_channel(&self.fabric, from, to, |_| hops += 1);
        hops
    }

    /// What a packet of so much payload takes from host to host, or to the adapter that answers.
    fn between_hosts(
        &self,
        (from, to): (u32, u32),
        bytes: u64,
        host: &HostParameters,
        kind: LegKind,
    ) -> Picoseconds {
        let flits = u64::from(self.parameters.packet_flits(bytes));
        let trailing = self.parameters.ejection_flit_time() * (flits - 1);
        let early = if host.adapter.cut_through { trailing } else { Picoseconds::ZERO };
        let AdapterTimes { bus, send, receive, .. } = host.adapter;
        // The way out of the host, and into the one that handles it.
        let (out, into) = match (kind, host.answer) {
            (LegKind::Answer, Answer::Get(read)) => (bus, read.read),
            (LegKind::Data, Answer::Get(_)) => (Picoseconds::ZERO, bus),
            (LegKind::Ask, Answer::Adapter) => (bus + send, receive),
            (LegKind::Answer, Answer::Adapter) => (send, receive),
            (LegKind::Data, Answer::Adapter) => (send, receive + bus),
            _ => (bus + send, receive + bus),
        };
        out + self.alone(from, to, bytes) - early + into
    }

    /// What a one-sided operation upon so many bytes takes between the overheads of its initiator,
    /// if its request and the answer are packets.
    fn round_trip(
        &self,
        (from, to): (u32, u32),
        (kind, bytes): (RemoteOperation, u64),
        host: &HostParameters,
    ) -> Picoseconds {
        let (request, response) = kind.payloads(bytes, host.control_message.0);
        let AdapterTimes { bus, send, receive, cut_through } = host.adapter;
        let parameters = &self.parameters;
        let atomic = if kind.is_atomic() { parameters.atomic_time } else { Picoseconds::ZERO };
        let trailing = parameters.ejection_flit_time()
            * u64::from(parameters.packet_flits(response).saturating_sub(1));
        let early = if cut_through { trailing } else { Picoseconds::ZERO };
        bus + send
            + self.alone(from, to, request)
            + atomic
            + parameters.service_time
            + self.alone(to, from, response)
            - early
            + receive
            + bus
    }

    /// What a packet of so much payload takes from adapter to sink in an empty network.
    fn alone(&self, from: u32, to: u32, bytes: u64) -> Picoseconds {
        let flits = self.parameters.packet_flits(bytes);
        zero_load_latency(&self.parameters, self.hops(from, to), flits)
    }
}

fn spec(schedule: Schedule, host: HostParameters) -> ApplicationSpec {
    ApplicationSpec {
        schedule: Arc::new(schedule),
        notes: Arc::default(),
        placement: Placement::Linear,
        ranks_per_node: 1,
        host,
        carrier: Carrier::Flits,
        nodes: None,
    }
}

/// A schedule of ranks, each a list of operations and of those before them, by place, that they
/// wait for.
fn schedule(ranks: &[&[(Operation, &[u32])]]) -> Schedule {
    let mut builder = ScheduleBuilder::new();
    for operations in ranks {
        for &(operation, waits) in *operations {
            let place = builder.add(operation).unwrap();
            for &other in waits {
                builder.wait(place, Until::Done, other);
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

fn send(bytes: u64, to: u32, tag: u32) -> Operation {
    Operation::send(bytes, to, tag)
}

fn receive(bytes: u64, from: u32, tag: u32) -> Operation {
    Operation::receive(bytes, from, tag)
}

#[test]
fn a_ping_between_neighbours_takes_850_ns() {
    let machine = Machine::new(&[4, 2, 2, 2]);
    let ping = schedule(&[&[(send(8, 1, 0), &[])], &[(receive(8, 0, 0), &[])]]);
    let (outcome, ..) = machine.run(&spec(ping, HostParameters::default()), 1, &[]);
    // The sender is done when its stream is: the message is the adapter's then.
    assert_eq!(outcome.unwrap().finished, [Picoseconds(340_000), Picoseconds(850_000)]);
}

#[test]
fn large_messages_wait_for_their_receipts_and_small_ones_do_not() {
    let machine = Machine::new(&[4, 4]);
    let late = |bytes| {
        schedule(&[
            &[(send(bytes, 1, 0), &[]), (Operation::compute(100), &[0])],
            &[(Operation::compute(5000), &[]), (receive(bytes, 0, 0), &[0])],
        ])
    };
    let host = HostParameters {
        eager_limit: Bytes(64),
        control_message: Bytes(0),
        copy_rate: Some(Rate(8_000_000_000)),
        ..HostParameters::default()
    };
    let finished = |bytes, host: &HostParameters| {
        machine.run(&spec(late(bytes), host.clone()), 1, &[]).0.unwrap().finished
    };
    // A nanosecond a byte is copied, since the message came while the receiver computed.
    assert_eq!(finished(64, &host), [440_000, 5_000_000 + 340_000 + 64_000].map(Picoseconds));
    let control = machine.alone(0, 1, 0);
    let data = machine.alone(0, 1, 65);
    let end = Picoseconds(5_000_000) + control + data + Picoseconds(340_000);
    let left = |start: Picoseconds| {
        let flits = u64::from(machine.parameters.packet_flits(65));
        start + flits * machine.parameters.injection_flit_time()
    };
    assert_eq!(
        finished(65, &host),
        [left(Picoseconds(5_000_000) + control) + Picoseconds(100_000), end]
    );
    // The processors take a send overhead each to agree.
    let host = HostParameters { answer: Answer::Processor, ..host };
    let agreed = Picoseconds(5_000_000 + 340_000) + control + Picoseconds(340_000);
    let end = agreed + data + Picoseconds(340_000);
    let sent = left(agreed) + Picoseconds(100_000);
    assert_eq!(finished(65, &host), [sent, end]);
}

#[test]
fn ranks_of_a_node_talk_through_its_memory() {
    let machine = Machine::new(&[4]);
    let both = schedule(&[
        &[(send(1000, 1, 7), &[])],
        &[(receive(1000, 0, ANY), &[]), (send(100_000, 0, 1), &[0])],
        &[],
        &[],
    ]);
    let mut spec = spec(both, HostParameters::default());
    spec.ranks_per_node = 4;
    let (outcome, _, counters) = machine.run(&spec, 1, &[]);
    // 100 kB wait for a receipt, which never comes.
    let message = outcome.unwrap_err();
    assert!(
        message.contains("of rank 1 (send 100000 B to rank 0, tag 1) was never received"),
        "{message}"
    );
    assert_eq!(counters.grants, 0);
    let both = schedule(&[
        &[(send(1000, 1, 7), &[]), (receive(100_000, 1, 1), &[])],
        &[(receive(1000, 0, ANY), &[]), (send(100_000, 0, 1), &[0])],
    ]);
    spec.schedule = Arc::new(both);
    let outcome = machine.run(&spec, 1, &[]).0.unwrap();
    // 10 GB/s: 1 kB takes 100 ns, 100 kB 10 us; the two control messages of 16 B 1.6 ns each.
    let first = 340_000 + 200_000 + 100_000 + 340_000;
    let asked = first + 340_000 + 2 * (200_000 + 1600);
    let there = asked + 200_000 + 10_000_000;
    assert_eq!(outcome.finished, [there + 340_000, there].map(Picoseconds));
}

#[test]
fn what_hangs_is_named_by_rank_and_label() {
    let machine = Machine::new(&[4]);
    // Each sends before it receives, and both messages are too large to be sent without asking.
    let mut builder = ScheduleBuilder::new();
    for other in [1, 0] {
        let out = builder.add(send(1 << 20, other, 0)).unwrap();
        builder.label("out");
        let back = builder.add(receive(1 << 20, other, 0)).unwrap();
        builder.label("back");
        builder.wait(back, Until::Done, out);
        builder.end_rank().unwrap();
    }
    let (outcome, ..) = machine.run(&spec(builder.finish(), HostParameters::default()), 1, &[]);
    let message = outcome.unwrap_err();
    assert!(
        message.contains("`out` of rank 0 (send 1048576 B to rank 1, tag 0) was never received"),
        "{message}"
    );
    assert!(message.contains("2 operations that wait for these were never begun"), "{message}");
}

#[test]
fn messages_of_a_pair_are_taken_in_the_order_in_which_they_were_sent() {
    let machine = Machine::new(&[8, 8]);
    let mut sending = vec![];
    let mut taking = vec![];
    // Large and small ones by turns take the two injection channels, and small ones overtake.
    for number in 0..40u64 {
        sending.push((send(if number % 2 == 0 { 4000 } else { 8 }, 1, 5), &[][..]));
        taking.push((receive(if number % 2 == 0 { 4000 } else { 8 }, 0, 5), &[][..]));
    }
    let host = HostParameters { send_overhead: Picoseconds(1000), ..HostParameters::default() };
    let spec = spec(schedule(&[&sending, &taking]), host);
    let outcome = machine.run(&spec, 1, &[]).0.unwrap();
    let legs = &outcome.records.legs;
    let overtaken = legs.windows(2).filter(|pair| pair[0].delivered > pair[1].delivered).count();
    assert!(overtaken > 10, "nothing was overtaken, so nothing was shown");
    for job in outcome.records.jobs.iter().filter(|job| job.operation >= 40) {
        assert!(job.cause == ANY || job.cause == job.operation - 40, "{job:?}");
    }
}

/// A chain: each message or computation begins when the one before it has ended, wherever that was.
/// With the time that all of it takes alone.
fn chain(
    random: &mut ChaCha8Rng,
    machine: &Machine,
    host: &HostParameters,
) -> (Schedule, Picoseconds) {
    let ranks = machine.fabric.terminals();
    let mut operations: Vec<Vec<(Operation, Option<u32>)>> = vec![Vec::new(); ranks as usize];
    let mut before: Vec<Option<u32>> = vec![None; ranks as usize];
    let (mut at, mut time) = (0, Picoseconds::ZERO);
    // When the latest sender learns that its message was fetched.
    let mut finished = Picoseconds::ZERO;
    let mut add = |rank: u32, operation| {
        let list = &mut operations[rank as usize];
        list.push((operation, before[rank as usize]));
        before[rank as usize] = Some(list.len() as u32 - 1);
    };
    for step in 0..30 {
        let to = random.random_range(0..ranks);
        if to == at {
            let length = random.random_range(0..3000);
            add(at, Operation::compute(length));
            time += Picoseconds::NANOSECOND * length;
            continue;
        }
        let bytes = random.random_range(0..=256);
        if random.random_bool(0.3) {
            // The chain goes on where it is.
            let kind = *RemoteOperation::ALL.choose(random).unwrap();
            let bytes = bytes.clamp(*kind.sizes().start(), *kind.sizes().end());
            add(at, Operation::remote(kind, bytes, to));
            time += host.send_overhead + machine.round_trip((at, to), (kind, bytes), host);
            time += host.receive_overhead;
            continue;
        }
        add(at, send(bytes, to, step));
        add(to, receive(bytes, at, step));
        let leg = |kind, bytes| machine.between_hosts((at, to), bytes, host, kind);
        let back = |kind| machine.between_hosts((to, at), host.control_message.0, host, kind);
        time += host.send_overhead;
        if bytes <= host.eager_limit.0 {
            time += leg(LegKind::Eager, bytes) + host.match_time + host.receive_overhead;
            at = to;
            continue;
        }
        let ask = leg(LegKind::Ask, host.control_message.0);
        time += ask + back(LegKind::Answer) + leg(LegKind::Data, bytes);
        time += match host.answer {
            Answer::Adapter => host.receive_overhead,
            Answer::Processor => host.match_time + 2 * host.send_overhead + host.receive_overhead,
            // A page is never full here.
            Answer::Get(read) => host.match_time + host.receive_overhead + read.registration,
        };
        if let Answer::Get(read) = host.answer {
            finished = finished.max(time + back(LegKind::Finish));
            time += read.registration;
        }
        at = to;
    }
    let mut builder = ScheduleBuilder::new();
    for rank in operations {
        for (operation, before) in rank {
            let place = builder.add(operation).unwrap();
            if let Some(before) = before {
                builder.wait(place, Until::Done, before);
            }
        }
        builder.end_rank().unwrap();
    }
    (builder.finish(), time.max(finished))
}

#[test]
fn where_no_channel_is_shared_a_program_takes_as_long_as_its_critical_path() {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    for number in 0..100 {
        let machine = Machine::new([&[4, 2, 2][..], &[5, 3], &[8]].choose(&mut random).unwrap());
        let made_up = made_up_host(&mut random);
        let (answer, adapter, match_time) = (made_up.answer, made_up.adapter, made_up.match_time);
        let eager_limit = Bytes(random.random_range(0..300));
        let more = HostParameters { adapter, match_time, ..HostParameters::default() };
        let host = HostParameters { answer, eager_limit, ..more };
        let (schedule, time) = chain(&mut random, &machine, &host);
        let outcome = machine.run(&spec(schedule, host), 1, &[]).0.unwrap();
        // A receipt that is begun before its message comes waits for nothing of its own; so the
        // chain is all.
        assert_eq!(outcome.time(), time, "chain {number}");
    }
}

/// A program that comes to its end whatever the times are: operations wait for earlier ones only,
/// and of a rank either all receipts take anything or none does. Without tags some operations are
/// one-sided.
fn program(random: &mut ChaCha8Rng, ranks: u32, tagged: bool) -> Schedule {
    let mut operations: Vec<Vec<Operation>> = vec![Vec::new(); ranks as usize];
    let wild: Vec<bool> = (0..ranks).map(|_| !tagged && random.random_bool(0.2)).collect();
    for number in 0..random.random_range(1..120) {
        let (from, to) = (random.random_range(0..ranks), random.random_range(0..ranks));
        let stream = random.random_range(0..3);
        if from == to {
            let compute = Operation::compute(random.random_range(0..2000));
            operations[from as usize].push(Operation { stream, ..compute });
            continue;
        }
        let bytes = *[0, 8, 200, 256, 257, 1500, 5000].choose(random).unwrap();
        if !tagged && random.random_bool(0.25) {
            let kind = *RemoteOperation::ALL.choose(random).unwrap();
            let bytes = if kind.is_atomic() { 8 } else { bytes };
            let remote = Operation::remote(kind, bytes, to);
            operations[from as usize].push(Operation { stream, ..remote });
            continue;
        }
        let tag = if tagged { number } else { random.random_range(0..2) };
        operations[from as usize].push(Operation { stream, ..send(bytes, to, tag) });
        let receipt =
            if wild[to as usize] { receive(bytes, ANY, ANY) } else { receive(bytes, from, tag) };
        operations[to as usize].push(Operation { stream, ..receipt });
    }
    let mut builder = ScheduleBuilder::new();
    for rank in operations {
        for operation in rank {
            let place = builder.add(operation).unwrap();
            for _ in 0..random.random_range(0..3) {
                let other = random.random_range(0..=place);
                let until = if random.random_bool(0.7) { Until::Done } else { Until::Begun };
                // A message that waits for its receipt may wait for ever if its end is waited for.
                let is_send = builder.operation(other).action == Action::Send;
                if other < place
                    && !(is_send && until == Until::Done && operation.action == Action::Receive)
                {
                    builder.wait(place, until, other);
                }
            }
        }
        builder.end_rank().unwrap();
    }
    builder.finish()
}

fn made_up_host(random: &mut ChaCha8Rng) -> HostParameters {
    HostParameters {
        send_overhead: Picoseconds(random.random_range(0..500_000)),
        receive_overhead: Picoseconds(random.random_range(0..500_000)),
        overhead_per_byte: random.random_range(0..3) as f64 * 7.3,
        gap: Picoseconds(random.random_range(0..2) * 123_456),
        // Everything is sent without asking: what asks may hang, and is tested by chains.
        eager_limit: Bytes(if random.random_bool(0.5) { 1 << 20 } else { 256 }),
        answer: match random.random_range(0..3) {
            0 => Answer::Adapter,
            1 => Answer::Processor,
            _ => Answer::Get(RemoteRead {
                registration: Picoseconds(random.random_range(0..90_000)),
                registration_per_page: Picoseconds(random.random_range(0..9_000)),
                read: Picoseconds(random.random_range(0..300_000)),
            }),
        },
        match_time: Picoseconds(random.random_range(0..2) * 150_000),
        adapter: match random.random_range(0..2) {
            0 => AdapterTimes::default(),
            _ => AdapterTimes {
                bus: Picoseconds(random.random_range(0..200_000)),
                send: Picoseconds(random.random_range(0..100_000)),
                receive: Picoseconds(random.random_range(0..200_000)),
                cut_through: random.random_bool(0.5),
            },
        },
        copy_rate: random.random_bool(0.5).then_some(Rate(10_000_000_000)),
        ..HostParameters::default()
    }
}

#[test]
fn random_programs_are_the_same_on_any_number_of_threads() {
    let mut random = ChaCha8Rng::seed_from_u64(2121);
    let (mut ended, mut hung) = (0, 0);
    for number in 0..60 {
        let machine =
            Machine::new([&[4, 3][..], &[4, 2, 2], &[7], &[3, 3]].choose(&mut random).unwrap());
        let ranks_per_node = random.random_range(1..4);
        let ranks = random.random_range(2..=machine.fabric.terminals() * ranks_per_node);
        let mut spec = spec(program(&mut random, ranks, false), made_up_host(&mut random));
        spec.ranks_per_node = ranks_per_node;
        spec.placement = [Placement::Linear, Placement::RoundRobin, Placement::Random]
            .choose(&mut random)
            .unwrap()
            .clone();
        let one = machine.run(&spec, 1, &[]);
        match &one.0 {
            Ok(_) => ended += 1,
            Err(_) => hung += 1,
        }
        for threads in [2, 3, 7] {
            let more =
                machine.run(&spec, threads, &[1_000_000, 1_500_000, 9_000_000].map(Picoseconds));
            assert_eq!(more, one, "program {number} on {threads} threads");
        }
    }
    assert!(ended > 40, "{ended} programs ended, {hung} hung");
}

#[test]
fn the_critical_path_leads_without_a_gap_from_the_start_to_the_end() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut shares = [Picoseconds::ZERO; Spent::ALL.len()];
    for number in 0..80 {
        let machine = Machine::new([&[4, 3][..], &[4, 2, 2], &[7]].choose(&mut random).unwrap());
        let mut host = made_up_host(&mut random);
        let schedule = if number % 2 == 0 {
            let ranks = random.random_range(2..=machine.fabric.terminals() * 2);
            program(&mut random, ranks, false)
        } else {
            // With messages that ask whether they may come.
            host.eager_limit = Bytes(random.random_range(0..300));
            chain(&mut random, &machine, &host).0
        };
        let mut spec = spec(schedule, host.clone());
        spec.ranks_per_node = 2;
        let Ok(outcome) = machine.run(&spec, 1, &[]).0 else { continue };
        let schedule = &*spec.schedule;
        let flight = |leg: &Leg| {
            let &Operation { action, amount, .. } = schedule.operation(leg.operation);
            let payloads = match action {
                Action::Remote(kind) => kind.payloads(amount, host.control_message.0),
                _ => (amount, amount),
            };
            let bytes = match leg.kind {
                LegKind::Ask | LegKind::Answer | LegKind::Finish => host.control_message.0,
                LegKind::Eager | LegKind::Data | LegKind::Request => payloads.0,
                LegKind::Response => payloads.1,
            };
            let last = machine.parameters.packets(bytes).1.unwrap_or(256);
            let flits = machine.parameters.packet_flits(last);
            match leg.in_memory {
                true => leg.delivered - leg.injected,
                false => {
                    let alone = zero_load_latency(&machine.parameters, leg.hops.into(), flits);
                    let trailing = machine.parameters.ejection_flit_time() * u64::from(flits - 1);
                    let early = if host.adapter.cut_through { trailing } else { Picoseconds::ZERO };
                    let before = machine.parameters.message_flits(bytes) - u64::from(flits);
                    let leading = machine.parameters.ejection_flit_time() * before;
                    alone - early + host.arrival(leg.kind, leading)
                }
            }
        };
        let places = machine.places(&spec);
        let noticing = host.receive_overhead;
        let explained = explain(schedule, &outcome.records, &places, 1_000_000, noticing, flight);
        bars_and_phases_have_all_times(&explained, number);
        let mut time = Picoseconds::ZERO;
        for stretch in &explained.path {
            assert_eq!(stretch.start, time, "program {number}: {:#?}", explained.path);
            assert!(stretch.end > stretch.start);
            time = stretch.end;
        }
        assert_eq!(time, outcome.time(), "program {number}");
        assert_eq!(explained.path_times().iter().sum::<Picoseconds>(), outcome.time());
        let path = explained.path_times();
        shares.iter_mut().zip(path).for_each(|(all, one)| *all += one);
        for (rank, times) in explained.ranks.iter().enumerate() {
            let busy = outcome
                .records
                .jobs
                .iter()
                .filter(|job| schedule.rank_of(job.operation) as usize == rank);
            let last = busy.map(|job| job.end).max().unwrap_or(Picoseconds::ZERO);
            assert_eq!(times.iter().sum::<Picoseconds>(), last, "program {number}, rank {rank}");
        }
        let of_groups: Picoseconds = explained.activity.iter().flat_map(|it| it.times).sum();
        assert_eq!(of_groups, explained.ranks.iter().flatten().sum::<Picoseconds>());
    }
    // Nobody on the path waits for a partner: the path goes on at the partner.
    assert!(
        shares[Spent::Partner as usize] == Picoseconds::ZERO
            && shares.iter().filter(|&&it| it > Picoseconds::ZERO).count() == 5,
        "{shares:?}"
    );
}

/// The bars of each rank lie end to end and have its times, those of phases as well, and few bars
/// as many; the path goes on where it leads to.
fn bars_and_phases_have_all_times(explained: &Explanation, program: u32) {
    let mut of_bars = vec![Times::default(); explained.ranks.len()];
    let mut end = (0, Picoseconds::ZERO);
    for bar in &explained.bars {
        if bar.rank != end.0 {
            end = (bar.rank, Picoseconds::ZERO);
        }
        assert_eq!((bar.start, bar.pieces), (end.1, 1), "program {program}: {bar:?}");
        assert_eq!(bar.times[bar.mostly() as usize], bar.end - bar.start);
        end.1 = bar.end;
        let times = &mut of_bars[bar.rank as usize];
        times.iter_mut().zip(bar.times).for_each(|(all, time)| *all += time);
    }
    assert_eq!(of_bars, explained.ranks, "program {program}");
    let mut of_phases = vec![Times::default(); explained.ranks.len()];
    for row in &explained.rank_phases {
        assert_eq!(row.first_rank, row.last_rank);
        let times = &mut of_phases[row.first_rank as usize];
        times.iter_mut().zip(row.times).for_each(|(all, time)| *all += time);
    }
    assert_eq!(of_phases, explained.ranks, "program {program}");
    for pair in explained.path.windows(2) {
        let [one, next] = [&pair[0], &pair[1]];
        // The legs of a message are told by its sender, wherever they begin.
        assert!(next.leg.is_some() || one.to_rank == next.rank, "program {program}: {pair:?}");
    }
}

/// What all phases took, on the path and of all ranks.
fn of_phases(explained: &Explanation) -> [Picoseconds; 2] {
    let sum = |of: fn(&PhaseTimes) -> Picoseconds| explained.phases.iter().map(of).sum();
    [sum(|phase| phase.path.iter().sum()), sum(|phase| phase.ranks.iter().sum())]
}

#[test]
fn all_time_belongs_to_phases_and_collective_operations_have_theirs() {
    let machine = Machine::new(&[4, 2]);
    let parameters = generate::Parameters {
        ranks: Some(8),
        iterations: Some(2),
        points: Some(vec![20, 20, 20]),
        flops_per_second: Some(1e10),
        ..generate::Parameters::default()
    };
    for (name, phases) in [("halo3d", ["", "all-reduce"]), ("fft3d", ["", "all-to-all-v"])] {
        let schedule = generate::make(name, &parameters).unwrap();
        let spec = spec(schedule, HostParameters::default());
        let outcome = machine.run(&spec, 1, &[]).0.unwrap();
        let places = machine.places(&spec);
        let (records, noticing) = (&outcome.records, spec.host.receive_overhead);
        let explained = explain(&spec.schedule, records, &places, 0, noticing, |leg| {
            zero_load_latency(&machine.parameters, leg.hops.into(), 1)
        });
        let ranks: Picoseconds = explained.ranks.iter().flatten().sum();
        assert_eq!(of_phases(&explained), [outcome.time(), ranks], "{name}");
        let names: Vec<&str> = explained.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names[..2], phases, "{name}");
        let compute = |phase: &PhaseTimes| phase.ranks[Spent::Compute as usize];
        // Computing is no part of a collective operation that combines in no time.
        assert!(compute(&explained.phases[0]) > Picoseconds::ZERO);
        assert_eq!(explained.phases[1..].iter().map(compute).sum::<Picoseconds>().0, 0, "{name}");
    }
}

#[test]
fn what_a_rank_waited_for_is_what_its_partner_did() {
    let machine = Machine::new(&[8]);
    let late = schedule(&[
        &[(Operation::compute(3000), &[]), (send(256, 1, 0), &[0])],
        &[(receive(256, 0, 0), &[])],
    ]);
    let spec = spec(late, HostParameters::default());
    let outcome = machine.run(&spec, 1, &[]).0.unwrap();
    let alone = machine.alone(0, 1, 256);
    let (records, noticing) = (&outcome.records, spec.host.receive_overhead);
    let explained =
        explain(&spec.schedule, records, &machine.places(&spec), 0, noticing, |_| alone);
    // 3 us and the sender's overhead are the partner's; what follows is the message's.
    assert_eq!(explained.ranks[0], [3_000_000, 340_000, 0, 0, 0, 0].map(Picoseconds));
    assert_eq!(explained.ranks[1], [0, 340_000, 3_340_000, 0, 0, alone.0].map(Picoseconds));
    let path: Vec<_> = explained.path.iter().map(|it| (it.spent, it.rank)).collect();
    assert_eq!(path, [(Spent::Compute, 0), (Spent::Host, 0), (Spent::Flight, 0), (Spent::Host, 1)]);
}

#[test]
fn nothing_ends_before_its_critical_path_without_contention_would() {
    let mut random = ChaCha8Rng::seed_from_u64(77);
    for number in 0..60 {
        let machine = Machine::new([&[4, 3][..], &[4, 2, 2], &[7]].choose(&mut random).unwrap());
        let ranks = machine.fabric.terminals();
        let host = HostParameters { eager_limit: Bytes(1 << 20), ..made_up_host(&mut random) };
        let spec = spec(program(&mut random, ranks, true), host.clone());
        let schedule = &*spec.schedule;
        let outcome = machine.run(&spec, 1, &[]).0.unwrap();
        let all = schedule.operations().len();
        let (mut begins, mut ends) = (vec![Picoseconds::ZERO; all], vec![Picoseconds::NEVER; all]);
        for job in &outcome.records.jobs {
            let operation = schedule.operation(job.operation);
            match (job.kind, operation.action) {
                (flitlab::traffic::JobKind::Begin, Action::Receive) => {
                    begins[job.operation as usize] = job.start;
                }
                (flitlab::traffic::JobKind::Begin, _) => {
                    begins[job.operation as usize] = job.start;
                    ends[job.operation as usize] = job.end;
                }
                _ => ends[job.operation as usize] = job.end,
            }
        }
        for (number, &end) in (0..).zip(&ends) {
            assert_ne!(end, Picoseconds::NEVER, "{} never ended", schedule.describe(number));
            for (dependant, until) in schedule.dependants(number) {
                let before = if until == Until::Done { end } else { begins[number as usize] };
                assert!(begins[dependant as usize] >= before);
            }
        }
        // Tags are different, so which receipt takes which message is known.
        for (sent, operation) in (0..).zip(schedule.operations()) {
            if operation.action != Action::Send {
                continue;
            }
            let receipt = schedule.of_rank(operation.peer).find(|&it| {
                let it = schedule.operation(it);
                it.action == Action::Receive && it.tag == operation.tag
            });
            let receipt = receipt.unwrap() as usize;
            let from = schedule.rank_of(sent);
            let ends_of = (from, operation.peer);
            let bytes = operation.amount.min(256);
            let mut least = machine.between_hosts(ends_of, bytes, &host, LegKind::Eager);
            if operation.amount > 256 {
                // Adapters begin with the first packet, and may end with its first flit.
                least = machine.between_hosts(ends_of, 0, &host, LegKind::Eager);
                least -= host.adapter.receive;
            }
            let there = ends[sent as usize] + least + host.match_time + host.receive_overhead;
            assert!(ends[receipt] >= there, "program {number}: {}", schedule.describe(sent));
        }
        let network: Vec<&Leg> = outcome.records.legs.iter().filter(|leg| !leg.in_memory).collect();
        assert!(network.iter().all(|leg| leg.kind == LegKind::Eager));
        let sends = schedule.operations().filter(|it| it.action == Action::Send).count();
        assert_eq!(network.len(), sends, "every message is delivered once");
    }
}

#[test]
fn an_application_says_where_its_time_went_and_logs_what_it_sent() {
    let place = Workplace::new("application");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 2]\n[application]\nschedule = { all-to-all = { ranks = 8, bytes = \"1 KiB\", \
         algorithm = \"pairwise\" } }\n",
    );
    let text = place.run(&[
        "run",
        "a.toml",
        "--out",
        "a",
        "--trace-path",
        "--log-packets",
        "p.csv",
        "--log-messages",
        "m.csv",
        "--log-nodes",
        "3",
    ]);
    for line in ["completion time", "critical path", "ranks, mean", "host overhead"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // Seven messages out and seven in, of four packets each.
    assert_eq!(place.read("p.csv").lines().count(), 1 + 14 * 4);
    let messages = place.read("m.csv");
    assert_eq!(messages.lines().count(), 1 + 14);
    assert!(
        messages
            .lines()
            .skip(1)
            .all(|line| line.starts_with("3,") || line.split(',').nth(1) == Some("3"))
    );
    for (file, rows) in [("ranks.csv", 8), ("activity.csv", 8 * 100)] {
        let text = place.read(&format!("a/{file}"));
        assert!(
            text.lines().count() > rows * 9 / 10 && text.lines().count() <= rows + 1,
            "{file}: {text}"
        );
    }
    assert!(place.read("a/path.csv").contains("flight"));
    assert!(place.read("a/space-time.svg").contains("Rank"));
    place.run(&["report", "a"]);
    let page = place.read("a/report.html");
    assert!(
        page.contains("\"applications\":[{\"name\":\"\",\"jobs\":")
            && page.contains("\"ranks\":[]")
    );
    // What is there is never replaced.
    let (code, errors) = place.fail(&["run", "a.toml", "--out", "b", "--log-packets", "p.csv"]);
    assert!(code == 2 && errors.contains("p.csv is there"), "{errors}");
    let (code, errors) =
        place.fail(&["run", "a.toml", "--log-packets", "q.csv", "--log-nodes", "8"]);
    assert!(code == 2 && errors.contains("they are 0 to 7"), "{errors}");
}

/// A log of packets says of each whether and how it was derouted, and how much farther it went.
#[test]
fn a_log_of_packets_has_their_detours_and_dilations() {
    let place = Workplace::new("derouted");
    place.write(
        "d.toml",
        "[topology.torus]\ndimensions = [6, 6]\n[routing.outflank]\n[exchange]\npattern = \"tornado\"\n\
         message = \"8 KiB\"\n",
    );
    place.run(&["run", "d.toml", "--out", "d", "--log-packets", "p.csv"]);
    let text = place.read("p.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name: &str| header.iter().position(|it| *it == name).expect("a column");
    let [hops, dilation, derouted] = ["hops", "dilation", "derouted"].map(column);
    let (mut kinds, mut packets) = (std::collections::BTreeSet::new(), 0);
    for line in lines {
        let number = |column: usize| line[column].parse::<u32>().expect("a number");
        // Tornado sends two hops on in a ring of six, in both dimensions.
        assert_eq!(number(hops), 4 + number(dilation), "{line:?}");
        assert!(!line[derouted].is_empty() || number(dilation) == 0, "{line:?}");
        kinds.insert(line[derouted].to_owned());
        packets += 1;
    }
    assert_eq!(packets, 36 * 32);
    assert!(kinds.contains("") && kinds.contains("wraparound"), "{kinds:?}");
}

#[test]
fn an_application_that_hangs_ends_with_code_3_and_says_who_waits() {
    let place = Workplace::new("hangs");
    let both = |other: u32| {
        format!(
            "rank {} {{\nout: send 1000000b to {other}\nback: recv 1000000b from {other}\nback requires out\n}}\n",
            1 - other
        )
    };
    place.write("x.goal", &format!("num_ranks 2\n{}{}", both(1), both(0)));
    place.write("x.toml", "[topology.torus]\ndimensions = [4]\n[application]\nfile = \"x.goal\"\n");
    let (code, errors) = place.fail(&["run", "x.toml"]);
    assert_eq!(code, 3, "{errors}");
    assert!(
        errors.contains("the application hangs") && errors.contains("`out` of rank 1"),
        "{errors}"
    );
    // A sweep tells it from a deadlock, and says which point it is; so does its page.
    place.write(
        "s.toml",
        "[topology.torus]\ndimensions = [4]\n[application]\nfile = \"x.goal\"\n[sweep.grid]\n\
         application.eager_limit = [\"1 kB\", \"1 MB\"]\n",
    );
    let (code, errors) = place.fail(&["sweep", "s.toml", "--out", "s"]);
    assert_eq!(code, 3, "{errors}");
    assert!(
        errors.contains("eager limit 1 kB: the application hangs") && !errors.contains("deadlock"),
        "{errors}"
    );
    assert!(place.read("s/points.csv").contains(",stuck,"));
    place.run(&["report", "s"]);
    assert!(place.read("s/report.html").contains("1 of 2 points is stuck"));
    // With room for all of it, it doesn't.
    place.run(&["run", "x.toml", "--set", "application.eager_limit=1 MB", "--out", "y"]);
    let loggops = place.run(&[
        "run",
        "x.toml",
        "--set",
        "application.network=loggops",
        "--set",
        "application.network.loggops.eager_limit=1 MB",
        "--out",
        "z",
    ]);
    assert!(loggops.contains("no network"), "{loggops}");
}

#[test]
#[ignore = "long: a minute; a million ranks at a barrier"]
fn a_million_ranks_come_to_a_barrier() {
    let place = Workplace::new("million");
    place.write(
        "barrier.toml",
        "[topology.torus]\ndimensions = [100, 100, 100]\n[application]\nschedule = { barrier = { algorithm = \"tree\", ranks = 1000000 } }\n",
    );
    let text = place.run(&["run", "barrier.toml"]);
    assert!(text.contains("completed"), "{text}");
}

/// A rendezvous by remote reads, step by step, of a message that fills pages.
#[test]
fn a_large_message_is_fetched_from_registered_memory() {
    let machine = Machine::new(&[4]);
    let ns = |time: u64| Picoseconds(time * 1000);
    let read = RemoteRead { registration: ns(3000), registration_per_page: ns(100), read: ns(250) };
    let host = HostParameters {
        send_overhead: ns(141),
        receive_overhead: ns(100),
        overhead_per_byte: 1e6,
        match_time: ns(150),
        eager_limit: Bytes(12_000),
        answer: Answer::Get(read),
        control_message: Bytes(0),
        adapter: AdapterTimes { bus: ns(150), send: ns(50), receive: ns(100), cut_through: false },
        ..HostParameters::default()
    };
    let both = schedule(&[&[(send(20_000, 1, 0), &[])], &[(receive(20_000, 0, 0), &[])]]);
    let outcome = machine.run(&spec(both, host.clone()), 1, &[]).0.unwrap();
    let [to, back] = [machine.alone(0, 1, 0), machine.alone(1, 0, 0)];
    // 20,000 B have four whole pages, and nothing is copied.
    let matched = ns(141 + 3400) + ns(200) + to + ns(250) + ns(150 + 100);
    let asked = matched + ns(150) + back + ns(250);
    let data = outcome.records.legs.iter().find(|leg| leg.kind == LegKind::Data).unwrap();
    assert_eq!(data.entered, asked);
    let fetched = data.delivered;
    assert_eq!(outcome.finished[1], fetched + ns(3400), "the memory is released");
    assert_eq!(outcome.finished[0], fetched + ns(200) + back + ns(250), "the sender is told");
}

/// The second of two receipts is examined behind the first one.
#[test]
fn matching_takes_time_for_each_receipt_that_is_examined() {
    let machine = Machine::new(&[4]);
    let host = HostParameters {
        match_time: Picoseconds(10_000),
        send_overhead: Picoseconds(1000),
        receive_overhead: Picoseconds::ZERO,
        ..HostParameters::default()
    };
    let two = schedule(&[
        &[(Operation::compute(5000), &[]), (send(8, 1, 0), &[0])],
        &[(receive(8, 0, 0), &[]), (receive(8, 2, 0), &[])],
        &[(send(8, 1, 0), &[])],
    ]);
    let outcome = machine.run(&spec(two, host), 1, &[]).0.unwrap();
    let takes = outcome.records.jobs.iter().filter(|job| job.cause != ANY);
    let took: Vec<(u32, Picoseconds)> = takes
        .filter(|job| job.operation > 1)
        .map(|job| (job.operation, job.end - job.start))
        .collect();
    assert_eq!(took, [(2, Picoseconds(10_000)), (3, Picoseconds(20_000))]);
}
