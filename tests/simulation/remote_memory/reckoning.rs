//! When operations begin, reckoned from when others ended: by trying all instants at which
//! something may have changed.

use flitlab::engine::{CompletedMessage, Parameters};
use flitlab::traffic::{
    Message, MessageKind, Pattern, PatternSpec, RemoteMemory, RemoteMemorySpec, RemoteOperation,
    Workload,
};
use flitlab::units::{Bytes, Picoseconds};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{run, torus};
use flitlab_reference::engine;

/// A process as the rules have it.
#[derive(Clone, Default)]
struct Process {
    /// When each of its operations ended.
    ends: Vec<Picoseconds>,
    latest_beginning: Option<Picoseconds>,
}

/// Whether a process may begin an operation at an instant, its adapter left aside.
fn ready(spec: &RemoteMemorySpec, process: &Process, now: Picoseconds) -> bool {
    let begun = process.ends.len();
    let done = process.ends.iter().filter(|&&end| end <= now).count();
    let of_window = spec.flush_every.map_or(0, |every| begun / every as usize * every as usize);
    begun < spec.operations as usize
        && begun - done < spec.outstanding as usize
        && done >= of_window
        && process.latest_beginning.is_none_or(|begin| now >= begin + spec.process_gap)
}

/// Panics unless a node began its operations, which are given in the order of their beginnings, as
/// the rules say.
fn hold_to_rules(spec: &RemoteMemorySpec, operations: &[CompletedMessage], partners: &[u32]) {
    let mut processes = vec![Process::default(); spec.processes as usize];
    let mut turns = vec![0; processes.len()];
    let mut first = 0;
    let mut latest: Option<Picoseconds> = None;
    for (number, operation) in operations.iter().enumerate() {
        let before = &operations[..number];
        // Only these can let something begin.
        let mut instants: Vec<Picoseconds> = vec![Picoseconds::ZERO];
        instants.extend(before.iter().map(|it| it.completed));
        instants.extend(before.iter().map(|it| it.created + spec.process_gap));
        instants.extend(latest.map(|latest| latest + spec.adapter_gap));
        instants.sort_unstable();
        let from = latest.map_or(Picoseconds::ZERO, |latest| latest + spec.adapter_gap);
        let from = from.max(latest.unwrap_or(Picoseconds::ZERO));
        let found = instants.into_iter().filter(|&now| now >= from).find_map(|now| {
            let under_way = before.iter().filter(|it| it.completed > now).count();
            if under_way >= spec.adapter_outstanding as usize {
                return None;
            }
            let count = processes.len();
            let in_turn = (0..count).map(|more| (first + more) % count);
            let chosen = { in_turn }.find(|&it| ready(spec, &processes[it], now));
            chosen.map(|process| (now, process))
        });
        let (begins, process) = found.expect("some process may begin");
        assert_eq!(operation.created, begins, "operation {number} of {spec:?}");
        assert_eq!(operation.destination, partners[turns[process] % partners.len()]);
        turns[process] += 1;
        processes[process].ends.push(operation.completed);
        processes[process].latest_beginning = Some(begins);
        first = (process + 1) % processes.len();
        latest = Some(begins);
    }
    assert_eq!(operations.len(), spec.operations as usize * spec.processes as usize);
}

fn spec(random: &mut ChaCha8Rng, nodes: u32) -> RemoteMemorySpec {
    let operations = [
        RemoteOperation::Put,
        RemoteOperation::Get,
        RemoteOperation::Add,
        RemoteOperation::Xor,
        RemoteOperation::CompareAndSwap,
    ];
    let operation = *operations.choose(random).unwrap();
    let mut node = || random.random_range(0..nodes);
    let pairs: Vec<[u32; 2]> = (0..nodes).map(|_| [node(), node()]).collect();
    let pairs: Vec<_> = pairs.into_iter().filter(|pair| pair[0] != pair[1]).collect();
    let pattern = match random.random_range(0..3) {
        0 => PatternSpec::new("all-to-all", ""),
        1 if !pairs.is_empty() => PatternSpec::new("pairs", &format!("list = {pairs:?}")),
        _ => PatternSpec::new("neighbor", ""),
    };
    let bytes = if operation.is_atomic() { 8 } else { random.random_range(0..3_000) };
    RemoteMemorySpec {
        operation,
        pattern,
        message: Bytes(bytes),
        request: Bytes(16),
        operations: random.random_range(1..30),
        processes: random.random_range(1..4),
        outstanding: *[1, 2, 5, 40].choose(random).unwrap(),
        flush_every: *[None, Some(1), Some(4), Some(7)].choose(random).unwrap(),
        process_gap: Picoseconds(*[0, 20_001, 400_000].choose(random).unwrap()),
        // Operations of different processes that begin at one instant could not be told apart.
        adapter_gap: Picoseconds(*[1, 30_000, 150_003].choose(random).unwrap()),
        adapter_outstanding: *[1, 3, 8, 1_000].choose(random).unwrap(),
    }
}

#[test]
fn operations_begin_when_the_rules_let_them_on_any_number_of_threads_and_the_reference_agrees() {
    let reckon = |seed: u64| {
        let (mut seen, mut compared) = (0, 0);
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let sizes = [[4, 3], [5, 2], [3, 3]].choose(random).unwrap().to_vec();
        let (fabric, routes) = torus(&sizes);
        let spec = spec(random, fabric.terminals());
        let parameters = Parameters {
            send_overhead: Picoseconds(*[0, 5_000, 340_000].choose(random).unwrap()),
            receive_overhead: Picoseconds(*[0, 340_000].choose(random).unwrap()),
            atomic_time: Picoseconds(*[0, 50_000, 900_000].choose(random).unwrap()),
            // Packets of mixed sizes need more than the bubble's least.
            buffer: 1_000,
            ..Parameters::default()
        };
        let pattern = Pattern::new(&spec.pattern, &fabric, 1).unwrap();
        let workload = RemoteMemory::new(&spec, pattern.clone(), &fabric);
        let expected = workload.messages();
        let log = run((&fabric, &routes), &parameters, &workload, 1);
        for threads in [2, 3, 7] {
            let more = run((&fabric, &routes), &parameters, &workload, threads);
            assert_eq!(log, more, "seed {seed}, {threads} threads");
        }
        assert_eq!(log.messages.len() as u64, expected);
        for source in 0..fabric.terminals() {
            let own = log.messages.iter().filter(|it| it.source == source);
            let mut own: Vec<CompletedMessage> = own.copied().collect();
            own.sort_unstable_by_key(|it| it.created);
            let steps = 0..pattern.steps().unwrap();
            let partners: Vec<u32> =
                steps.filter_map(|step| pattern.partner(source, step)).collect();
            assert_eq!(partners.is_empty(), own.is_empty());
            if !partners.is_empty() {
                hold_to_rules(&spec, &own, &partners);
                seen += own.len();
            }
        }
        // The same operations at the same times in the reference engine.
        let kind = match spec.operation {
            RemoteOperation::Put => MessageKind::Put,
            RemoteOperation::Get => MessageKind::Read { request: 16 },
            RemoteOperation::Add | RemoteOperation::Xor => MessageKind::Atomic { request: 24 },
            RemoteOperation::CompareAndSwap => MessageKind::Atomic { request: 32 },
        };
        let messages: Vec<Message> = log
            .messages
            .iter()
            .map(|&CompletedMessage { source, destination, bytes, created, .. }| Message {
                time: created,
                source,
                destination,
                bytes,
                kind,
                tag: 0,
                class: 0,
            })
            .collect();
        if messages.len() <= 150 {
            let mut plain = engine::run(&fabric, &routes, &parameters, &messages).unwrap();
            plain.packets.sort_unstable();
            plain.messages.sort_unstable();
            assert_eq!(plain, log, "seed {seed}");
            compared = 1;
        }
        (seen, compared)
    };
    let add = |one: (usize, usize), other: (usize, usize)| (one.0 + other.0, one.1 + other.1);
    let (seen, compared) = (0..50).into_par_iter().map(reckon).reduce(Default::default, add);
    assert!(seen > 5_000 && compared > 10, "{seen} operations, {compared} runs of the reference");
}

/// Breaking a rule is noticed.
#[test]
#[should_panic(expected = "operation 1 of")]
fn an_operation_that_begins_too_early_is_noticed() {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let spec = RemoteMemorySpec {
        operations: 2,
        processes: 1,
        outstanding: 1,
        flush_every: None,
        ..spec(random, 4)
    };
    let operation = |created, completed| CompletedMessage {
        class: 0,
        source: 0,
        destination: 1,
        bytes: 8,
        is_control: false,
        created,
        completed,
    };
    hold_to_rules(
        &spec,
        &[
            operation(Picoseconds(0), Picoseconds(5_000_000)),
            operation(Picoseconds(4_999_999), Picoseconds(9_000_000)),
        ],
        &[1],
    );
}
