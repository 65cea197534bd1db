//! One-sided operations of schedules: puts, gets and atomic operations beside messages.

use super::{Machine, schedule, spec};
use flitlab::application::{Action, Operation, RemoteOperation, ScheduleBuilder, Until};
use flitlab::engine::{DeliveredPacket, Engine, Log, Parameters, run_script};
use flitlab::measure::{Spent, explain};
use flitlab::traffic::{
    ApplicationSpec, HostParameters, Leg, LegKind, Message, Outcome, Pattern, PatternSpec,
    RemoteMemory, RemoteMemorySpec, Script, message_kind,
};
use flitlab::units::{Bytes, Picoseconds};
use flitlab_reference::engine as reference;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PUT: RemoteOperation = RemoteOperation::Put;

fn ended(machine: &Machine, spec: &ApplicationSpec) -> Outcome {
    machine.run(spec, 1, &[]).0.unwrap()
}

/// What a remote memory operation of `[remote_memory]` takes from node 0 to another.
fn by_a_process(machine: &Machine, operation: RemoteOperation, bytes: u64, to: u32) -> Picoseconds {
    let host = HostParameters::default();
    let parameters = Parameters {
        send_overhead: host.send_overhead,
        receive_overhead: host.receive_overhead,
        ..machine.parameters.clone()
    };
    let pattern = PatternSpec::new("pairs", &format!("list = [[0, {to}]]"));
    let spec = RemoteMemorySpec {
        operation,
        pattern,
        message: Bytes(bytes),
        request: host.control_message,
        operations: 1,
        processes: 1,
        outstanding: 1,
        flush_every: None,
        process_gap: Picoseconds::ZERO,
        adapter_gap: Picoseconds::ZERO,
        adapter_outstanding: 1,
    };
    let (fabric, routes) = (&machine.fabric, &machine.routes);
    let pattern = Pattern::new(&spec.pattern, fabric, 1).unwrap();
    let workload = Box::new(RemoteMemory::new(&spec, pattern, fabric));
    let mut engine = Engine::new(1, fabric, routes, &parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    engine.observer().messages[0].completed
}

#[test]
fn one_alone_takes_as_long_as_that_of_a_process() {
    let machine = Machine::new(&[8]);
    for operation in RemoteOperation::ALL {
        let sizes = if operation.is_atomic() { [1, 8, 64] } else { [0, 256, 100_000] };
        for bytes in sizes {
            for to in [1, 4, 7] {
                let mut ranks = vec![&[][..]; 8];
                let alone = [(Operation::remote(operation, bytes, to), &[][..])];
                ranks[0] = &alone;
                // The target's processor is busy, and has no part in it.
                let busy = [(Operation::compute(1_000_000), &[][..])];
                ranks[to as usize] = &busy;
                let outcome = ended(&machine, &spec(schedule(&ranks), HostParameters::default()));
                let expected = by_a_process(&machine, operation, bytes, to);
                assert_eq!(outcome.finished[0], expected, "{operation:?} of {bytes} B to {to}");
            }
        }
    }
    // The put of 8 B upon a neighbour of docs/model.md.
    assert_eq!(by_a_process(&machine, PUT, 8, 1), Picoseconds(1_118_000));
}

#[test]
fn quiet_waits_for_all_puts_and_streams_do_not() {
    let machine = Machine::new(&[8]);
    let one = by_a_process(&machine, PUT, 8, 1);
    let put = Operation::remote(PUT, 8, 1);
    let all: Vec<u32> = (0..20).collect();
    let mut operations = vec![(put, &[][..]); 20];
    operations.push((Operation::compute(0), &all));
    operations.push((Operation { stream: 1, ..Operation::compute(50_000) }, &[20]));
    let mut host = HostParameters::default();
    for gap in [0, 500_000] {
        host.gap = Picoseconds(gap);
        let spec = spec(schedule(&[&operations, &[]]), host.clone());
        let apart = host.send_overhead.max(host.gap);
        let expected = apart * 19 + one + Picoseconds::NANOSECOND * 50_000;
        assert_eq!(ended(&machine, &spec).finished[0], expected);
    }
}

#[test]
fn what_requires_the_beginning_alone_does_not_wait_for_the_answer() {
    let machine = Machine::new(&[8]);
    let mut builder = ScheduleBuilder::new();
    let put = builder.add(Operation::remote(PUT, 8, 3)).unwrap();
    let aside = |time| Operation { stream: 1, ..Operation::compute(time) };
    let begun = builder.add(aside(100)).unwrap();
    let done = builder.add(aside(5)).unwrap();
    builder.wait(begun, Until::Begun, put);
    builder.wait(done, Until::Done, put);
    builder.end_rank().unwrap();
    (1..4).for_each(|_| builder.end_rank().unwrap());
    let outcome = ended(&machine, &spec(builder.finish(), HostParameters::default()));
    let one = by_a_process(&machine, PUT, 8, 3);
    let starts: Vec<_> = outcome.records.jobs.iter().map(|job| job.start).collect();
    assert_eq!(starts, [Picoseconds::ZERO, Picoseconds::ZERO, one]);
}

#[test]
fn ranks_of_a_node_reach_each_others_memory_without_the_network() {
    let machine = Machine::new(&[4]);
    for operation in RemoteOperation::ALL {
        let bytes = if operation.is_atomic() { 64 } else { 1000 };
        // Once upon its own memory, once upon that of the other.
        let upon = |rank| (Operation::remote(operation, bytes, rank), &[][..]);
        let (own, other) = (upon(0), (upon(1).0, &[0][..]));
        let mut spec = spec(schedule(&[&[own, other], &[]]), HostParameters::default());
        spec.ranks_per_node = 2;
        let (outcome, _, counters) = machine.run(&spec, 1, &[]);
        // 10 GB/s, and 200 ns.
        let one = Picoseconds(340_000 + 200_000 + bytes * 100 + 340_000);
        assert_eq!((outcome.unwrap().finished[0], counters.grants), (2 * one, 0));
    }
}

#[test]
fn a_target_performs_one_atomic_operation_after_the_other() {
    let machine = Machine::new(&[8]);
    let add = [(Operation::remote(RemoteOperation::Add, 8, 0), &[][..])];
    let outcome = ended(
        &machine,
        &spec(schedule(&[&[], &add, &[], &[], &[], &[], &[], &add]), HostParameters::default()),
    );
    let one = by_a_process(&machine, RemoteOperation::Add, 8, 1);
    let mut finished = [outcome.finished[1], outcome.finished[7]];
    finished.sort_unstable();
    assert_eq!(finished, [one, one + machine.parameters.atomic_time]);
}

/// Where its time went: two overheads, and both ways with the service between them.
#[test]
fn the_path_of_an_operation_has_its_overheads_and_its_flights() {
    let machine = Machine::new(&[8]);
    let quiet = [(Operation::remote(PUT, 8, 2), &[][..]), (Operation::compute(0), &[0])];
    let spec = spec(schedule(&[&quiet, &[], &[]]), HostParameters::default());
    let outcome = ended(&machine, &spec);
    let legs: Vec<LegKind> = outcome.records.legs.iter().map(|leg| leg.kind).collect();
    assert_eq!(legs, [LegKind::Request, LegKind::Response]);
    let flight = |leg: &Leg| match leg.kind {
        LegKind::Request => machine.alone(0, 2, 8) + machine.parameters.service_time,
        _ => machine.alone(2, 0, 0),
    };
    let places = machine.places(&spec);
    let noticing = spec.host.receive_overhead;
    let explained = explain(&spec.schedule, &outcome.records, &places, 0, noticing, flight);
    let path: Vec<_> = explained.path.iter().map(|it| (it.spent, it.to_rank)).collect();
    let [host, flight] = [Spent::Host, Spent::Flight];
    assert_eq!(path, [(host, 0), (flight, 2), (flight, 0), (host, 0)]);
    assert_eq!(explained.path_times()[host as usize], Picoseconds(680_000));
    assert_eq!(explained.path_times().iter().sum::<Picoseconds>(), outcome.time());
}

/// The one-sided operations of made-up programs, with the times at which their requests enter the
/// network, are the messages of a script: to the fast engine, and to the plain one.
#[test]
fn their_packets_are_those_of_remote_operations_in_both_engines() {
    let mut random = ChaCha8Rng::seed_from_u64(76);
    for number in 0..24 {
        let machine = Machine::new([&[4, 3][..], &[4, 2, 2], &[7]][number % 3]);
        let ranks = machine.fabric.terminals();
        let mut builder = ScheduleBuilder::new();
        for rank in 0..ranks {
            for _ in 0..random.random_range(0..12) {
                let kind = RemoteOperation::ALL[random.random_range(0..5)];
                let most = if kind.is_atomic() { 64 } else { 2000 };
                let bytes = random.random_range(1..=most);
                let other = (rank + random.random_range(1..ranks)) % ranks;
                let stream = random.random_range(0..3);
                let remote = Operation { stream, ..Operation::remote(kind, bytes, other) };
                let place = builder.add(remote).unwrap();
                if place > 0 && random.random_bool(0.4) {
                    builder.wait(place, Until::Done, random.random_range(0..place));
                }
            }
            builder.end_rank().unwrap();
        }
        // No two requests of a node enter at one instant.
        let host = HostParameters {
            send_overhead: Picoseconds(random.random_range(10_000..100_000)),
            gap: Picoseconds(random.random_range(1..20_000)),
            ..HostParameters::default()
        };
        let spec = spec(builder.finish(), host);
        let (outcome, digest, _) = machine.run(&spec, 1, &[]);
        let records = outcome.unwrap().records;
        let requests = records.legs.iter().filter(|leg| leg.kind == LegKind::Request);
        let mut messages: Vec<Message> = requests
            .map(|leg| {
                let operation = spec.schedule.operation(leg.operation);
                let Action::Remote(kind) = operation.action else { panic!("all are one-sided") };
                Message {
                    time: leg.entered,
                    source: spec.schedule.rank_of(leg.operation),
                    destination: operation.peer,
                    bytes: operation.amount,
                    kind: message_kind(kind, operation.amount, spec.host.control_message.0),
                    tag: 0,
                    class: 0,
                }
            })
            .collect();
        messages.sort_unstable();
        assert_eq!(messages.len(), spec.schedule.operations().len());
        let Machine { fabric, routes, parameters } = &machine;
        let script = Script::new(messages.clone());
        let (fast, of_script) = run_script(fabric, routes, parameters, script).unwrap();
        assert_eq!(of_script, digest, "program {number}");
        let plain = reference::run(fabric, routes, parameters, &messages).unwrap();
        let packets = |mut log: Log| -> Vec<DeliveredPacket> {
            log.packets.sort_unstable_by_key(|it| (it.source, it.sequence));
            log.packets
        };
        assert_eq!(packets(fast), packets(plain), "program {number}");
    }
}
