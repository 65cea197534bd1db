//! Hosts without a network: what sources make of their messages, and what sinks make of packets.

use std::sync::Arc;

use super::*;
use crate::frame::tick::NEVER;
use crate::network::small::{context, direction_order, messages, torus};
use crate::part::Part;
use crate::router::flit::FlitRouters;
use flitlab_base::units::Bytes;
use flitlab_model::{CompletedMessage, FlitSharing, Parameters, RouterKind};

/// Runs `test` with the hosts of a ring of four nodes that have these messages to send, in packets
/// of at most 64 bytes.
fn with_hosts(sent: &[(u32, u32, u64)], test: impl FnOnce(&mut Common<'_>, &mut Hosts)) {
    let fabric = torus(&[4]);
    let routes = direction_order(&fabric);
    let sharing = FlitSharing::default();
    let parameters = Parameters {
        injection_channels: 1,
        maximum_payload: Bytes(64),
        send_overhead: Picoseconds(700),
        receive_overhead: Picoseconds(300),
        kind: RouterKind::SharedLinks(sharing.clone()),
        ..Parameters::default()
    };
    let context = Arc::new(context(1, &fabric, &routes, &parameters));
    let part = Part::<FlitRouters>::new(&context, 0, &sharing, messages(sent), None);
    let Part { mut common, mut hosts, .. } = part;
    common.schedule.window.limit = Picoseconds(1_000_000);
    test(&mut common, &mut hosts);
}

/// Takes all packets from a terminal's source queue, at time 1000.
fn packets_of(common: &mut Common<'_>, hosts: &mut Hosts, terminal: u32) -> Vec<u32> {
    let mut slots = Vec::new();
    while hosts.sources.injections[terminal as usize].waiting != 0 {
        slots.push(hosts.next_packet_of(common, terminal, terminal, 0, 1000).slot);
    }
    slots
}

fn deliver(common: &mut Common<'_>, hosts: &mut Hosts, (slot, terminal): (u32, u32), time: u64) {
    hosts.deliver_all(common, [Delivery { time: Picoseconds(time), slot, terminal, vc: 0 }]);
}

#[test]
fn a_source_creates_its_messages_after_the_send_overhead_and_cuts_them_into_packets() {
    with_hosts(&[(0, 2, 150), (0, 1, 8)], |common, hosts| {
        assert_eq!(hosts.sources.due[..], [700, NEVER, NEVER, NEVER]);
        hosts.run_due(common, 0, 700);
        let parameters = &common.context.parameters;
        let flits = parameters.message_flits(150) + parameters.message_flits(8);
        assert_eq!((hosts.sources.messages_created[0], common.counters.flits_created), (2, flits));
        assert_eq!(hosts.sources.adapters[0].queue.flits, flits);
        let slots = packets_of(common, hosts, 0);
        let payload = |&slot: &u32| common.packets.origins[slot as usize].payload;
        assert_eq!(slots.iter().map(payload).collect::<Vec<_>>(), [64, 64, 22, 8]);
        let packet = |&slot: &u32| common.packets.packets[slot as usize];
        assert_eq!(slots.iter().map(|slot| u64::from(packet(slot).flits)).sum::<u64>(), flits);
        assert!((0..).zip(&slots).all(|(sequence, slot)| packet(slot).sequence == sequence));
        assert!(!hosts.have_work());
    });
}

#[test]
fn a_sink_counts_packets_and_completes_a_message_with_the_last_one() {
    with_hosts(&[(0, 2, 150)], |common, hosts| {
        hosts.run_due(common, 0, 700);
        let slots = packets_of(common, hosts, 0);
        for (&slot, completed) in slots.iter().zip([0, 0, 1]) {
            deliver(common, hosts, (slot, 2), 5000);
            assert_eq!(hosts.sink.messages_completed[0], completed);
        }
        assert_eq!((common.counters.packets_delivered, common.packets.count), (3, 0));
        assert_eq!(common.counters.flits_delivered, common.counters.flits_created);
        let CompletedMessage { source, destination, bytes, created, completed, .. } =
            hosts.sink.log.messages[0];
        assert_eq!((source, destination, bytes), (0, 2, 150));
        assert_eq!((created, completed), (Picoseconds::ZERO, Picoseconds(5300)));
    });
}

#[test]
fn a_delivery_beyond_the_end_of_the_run_counts_in_the_next_one() {
    with_hosts(&[(3, 1, 8)], |common, hosts| {
        hosts.run_due(common, 3, 700);
        let slot = packets_of(common, hosts, 3)[0];
        deliver(common, hosts, (slot, 1), 1_000_001);
        assert_eq!((common.counters.packets_delivered, hosts.sink.late.len()), (0, 1));
        common.schedule.window.limit = Picoseconds(1_000_001);
        hosts.deliver_late(common);
        assert_eq!((common.counters.packets_delivered, hosts.sink.late.len()), (1, 0));
    });
}
