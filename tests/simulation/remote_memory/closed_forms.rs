//! What has a closed form, to the picosecond.

use flitlab::engine::{Log, Parameters, zero_load_latency};
use flitlab::traffic::{Pattern, PatternSpec, RemoteMemory, RemoteMemorySpec, RemoteOperation};
use flitlab::units::{Bytes, Picoseconds};

use super::{run, torus};

/// Operations between pairs of nodes of a ring of eight; otherwise those of a process that waits
/// for each.
fn pairs(operation: RemoteOperation, pairs: &[[u32; 2]], bytes: u64) -> RemoteMemorySpec {
    RemoteMemorySpec {
        operation,
        pattern: PatternSpec::new("pairs", &format!("list = {pairs:?}")),
        message: Bytes(bytes),
        request: Bytes(16),
        operations: 1,
        processes: 1,
        outstanding: 1,
        flush_every: None,
        process_gap: Picoseconds::ZERO,
        adapter_gap: Picoseconds::ZERO,
        adapter_outstanding: 1_000_000,
    }
}

fn log(spec: &RemoteMemorySpec, parameters: &Parameters) -> Log {
    let (fabric, routes) = torus(&[8]);
    let pattern = Pattern::new(&spec.pattern, &fabric, 1).unwrap();
    let workload = RemoteMemory::new(spec, pattern, &fabric);
    run((&fabric, &routes), parameters, &workload, 1)
}

/// Request, service and response of an operation alone in the network, both of one packet.
fn round_trip(
    parameters: &Parameters,
    (request, response): (u64, u64),
    hops: u32,
    performing: Picoseconds,
) -> Picoseconds {
    let way = |bytes| zero_load_latency(parameters, hops, parameters.packet_flits(bytes));
    let hosts = parameters.send_overhead + parameters.receive_overhead;
    hosts + way(request) + performing + parameters.service_time + way(response)
}

#[test]
fn an_operation_alone_takes_one_overhead_of_each_kind_both_ways_and_the_service() {
    let parameters = Parameters::default();
    let (none, atomic) = (Picoseconds::ZERO, parameters.atomic_time);
    for (operation, bytes, payloads, performing) in [
        (RemoteOperation::Put, 0, (0, 0), none),
        (RemoteOperation::Put, 8, (8, 0), none),
        (RemoteOperation::Put, 256, (256, 0), none),
        (RemoteOperation::Get, 1, (16, 1), none),
        (RemoteOperation::Get, 256, (16, 256), none),
        (RemoteOperation::Add, 8, (24, 8), atomic),
        (RemoteOperation::Xor, 8, (24, 8), atomic),
        (RemoteOperation::CompareAndSwap, 8, (32, 8), atomic),
    ] {
        for hops in 1..=4 {
            let spec = RemoteMemorySpec { operations: 3, ..pairs(operation, &[[0, hops]], bytes) };
            let expected = round_trip(&parameters, payloads, hops, performing);
            let messages = log(&spec, &parameters).messages;
            assert_eq!(messages.len(), 3);
            for (number, message) in (0..).zip(messages) {
                assert_eq!(message.created, number * expected, "{spec:?}");
                assert_eq!(message.completed - message.created, expected, "{spec:?}");
                assert_eq!(message.bytes, bytes);
            }
        }
    }
    // A put of 8 B into the memory of a neighbour: 850 ns for the ping that it is, service, and two
    // flits back.
    let put = round_trip(&parameters, (8, 0), 1, Picoseconds::ZERO);
    let back = zero_load_latency(&parameters, 1, 2);
    assert_eq!(put, Picoseconds(850_000) + parameters.service_time + back);
}

#[test]
fn a_message_of_many_packets_moves_at_the_rate_of_the_link_less_headers_and_checksums() {
    let parameters = Parameters::default();
    let (packets, flits) = (4_096, u64::from(parameters.maximum_packet()));
    let bytes = packets * parameters.maximum_payload.0;
    for operation in [RemoteOperation::Put, RemoteOperation::Get] {
        let messages = log(&pairs(operation, &[[0, 1]], bytes), &parameters).messages;
        let took = messages[0].completed - messages[0].created;
        let payloads = match operation {
            RemoteOperation::Put => (parameters.maximum_payload.0, 0),
            _ => (16, parameters.maximum_payload.0),
        };
        let one = round_trip(&parameters, payloads, 1, Picoseconds::ZERO);
        // Behind the first packet, the link sends flit upon flit.
        let link = parameters.link_flit_time();
        assert_eq!(took, one + (packets - 1) * flits * link, "{operation:?}");
    }
}

/// Both ways at once each direction also carries the acknowledgements of the other: two flits a
/// message.
#[test]
fn both_ways_at_once_each_way_has_the_rate_of_one_but_for_acknowledgements() {
    let parameters = Parameters::default();
    let bytes = 1 << 20;
    let spec = |pairs_of: &[[u32; 2]]| RemoteMemorySpec {
        operations: 8,
        outstanding: 8,
        ..pairs(RemoteOperation::Put, pairs_of, bytes)
    };
    let end = |log: Log| log.messages.iter().map(|it| it.completed).max().unwrap();
    let one = end(log(&spec(&[[0, 1]]), &parameters));
    let both = end(log(&spec(&[[0, 1], [1, 0]]), &parameters));
    let acknowledgements = 8 * 2 * parameters.link_flit_time();
    assert!(both >= one && both <= one + 2 * acknowledgements, "{one} {both}");
}

#[test]
fn the_rate_of_small_operations_is_bound_by_the_gap() {
    let parameters = Parameters::default();
    let spec = RemoteMemorySpec {
        operations: 500,
        outstanding: 1_000,
        process_gap: Picoseconds(100_000),
        ..pairs(RemoteOperation::Put, &[[0, 1]], 8)
    };
    let one = round_trip(&parameters, (8, 0), 1, Picoseconds::ZERO);
    let end = |spec: &RemoteMemorySpec| log(spec, &parameters).messages.last().unwrap().completed;
    assert_eq!(end(&spec), Picoseconds(499 * 100_000) + one);
    // Four processes take turns at the adapter.
    let four = RemoteMemorySpec { processes: 4, adapter_gap: Picoseconds(30_000), ..spec.clone() };
    assert_eq!(end(&four), Picoseconds(1_999 * 30_000) + one);
    // With a window of 64 there is a round trip more for each flush.
    let flushed = RemoteMemorySpec { operations: 512, flush_every: Some(64), ..spec };
    assert_eq!(end(&flushed), 8 * (Picoseconds(63 * 100_000) + one));
}

/// Little's law: with `w` operations under way, `w` are done each round trip.
#[test]
fn the_rate_of_small_operations_is_bound_by_the_window() {
    let parameters = Parameters::default();
    let one = round_trip(&parameters, (8, 0), 1, Picoseconds::ZERO);
    for window in [1, 2, 5] {
        let spec = RemoteMemorySpec {
            operations: 20 * window,
            outstanding: window,
            process_gap: Picoseconds(20_000),
            ..pairs(RemoteOperation::Put, &[[0, 1]], 8)
        };
        let end = log(&spec, &parameters).messages.last().unwrap().completed;
        let rounds = 20;
        assert_eq!(end, rounds * one + Picoseconds(u64::from(window - 1) * 20_000));
        // The adapter's own limit is no different.
        let by_adapter = RemoteMemorySpec { outstanding: 99, adapter_outstanding: window, ..spec };
        let other = log(&by_adapter, &parameters).messages.last().unwrap().completed;
        assert_eq!(other, end);
    }
}

/// However many ask, a target performs one operation each `atomic_time`.
#[test]
fn a_target_performs_atomic_operations_at_its_rate() {
    let parameters = Parameters { atomic_time: Picoseconds(90_000), ..Parameters::default() };
    for initiators in [2, 4, 7] {
        let list: Vec<[u32; 2]> = (1..=initiators).map(|node| [node, 0]).collect();
        let spec = RemoteMemorySpec {
            operations: 200,
            outstanding: 64,
            ..pairs(RemoteOperation::Add, &list, 8)
        };
        let log = log(&spec, &parameters);
        let all = u64::from(initiators) * 200;
        let responses = log.packets.iter().filter(|packet| packet.source == 0);
        let mut created: Vec<Picoseconds> = responses.map(|packet| packet.created).collect();
        created.sort_unstable();
        assert_eq!(created.len() as u64, all);
        // Never idle between the first request and the last.
        let first = round_trip(&parameters, (24, 0), 1, Picoseconds::ZERO)
            - zero_load_latency(&parameters, 1, 2)
            - parameters.receive_overhead;
        assert_eq!(created[0], first + Picoseconds(90_000));
        assert!(created.windows(2).all(|pair| pair[1] - pair[0] == Picoseconds(90_000)));
    }
}
