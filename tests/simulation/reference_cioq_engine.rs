//! Pins the plain reference engine of routers with buffers at outputs to times computed by hand
//! from docs/model.md.
//!
//! Unless a test says otherwise, its network is that of `common/by_hand.rs`, with room for two of
//! the largest packets at each output. Hence a header that crosses at `g` to an idle channel is at
//! the next router at `g + 9` and in the sink at `g + 8`.

use flitlab::{
    engine::{Arbitration, Log, Parameters, RouterKind, Switching, TrafficClass},
    routing::{
        Routes,
        relation::{Hop, RelationBuilder},
    },
    topology::{CableClass, Cabling, Fabric},
    traffic::{Message, MessageKind},
    units::Picoseconds,
};
use flitlab_random::by_hand::{
    self, FLIT, MAXIMUM_PAYLOAD, delivered, deliveries, injected, line, rate, ring,
};
use flitlab_random::message::data;
use flitlab_random::random_cioq_scenario::cioq_scenario;
use flitlab_random::random_relation::by_relation;
use flitlab_reference::cioq_engine::{Deadlock, run, simulator};

/// Payload of a packet of four flits.
const FOUR: u64 = MAXIMUM_PAYLOAD;

fn parameters() -> Parameters {
    Parameters { bubble: false, kind: RouterKind::OutputBuffers(8), ..by_hand::parameters() }
}

/// One virtual channel, and buffers at outputs of so many flits.
fn single(output_buffer: u32) -> Parameters {
    let kind = RouterKind::OutputBuffers(output_buffer);
    Parameters { virtual_channels: 1, kind, ..parameters() }
}

fn run_line(nodes: u32, parameters: &Parameters, messages: &[Message]) -> Log {
    let (fabric, routes) = line(nodes);
    run(&fabric, &routes, parameters, messages).unwrap()
}

#[test]
fn an_empty_network_takes_the_time_of_the_closed_form() {
    // Each router takes 3 + 2, each link 7; the last flit is 3 flits behind the header. With
    // store-and-forward each router waits for the last flit, and then it comes 3 flits later again.
    for (switching, waiting) in
        [(Switching::VirtualCutThrough, 0), (Switching::StoreAndForward, 3 * 2)]
    {
        let parameters = Parameters { switching, ..parameters() };
        for hops in 0..4 {
            let log = run_line(5, &parameters, &[data(100, 0, hops, FOUR)]);
            let hops = u64::from(hops);
            let latency = 5 + (hops + 1) * (3 + 2 + waiting) + hops * 7 + 6 + 3 * 2;
            assert_eq!(delivered(&log), [100 + latency]);
        }
    }
}

/// Messages of this class go on the response channel.
const RESPONSES: u8 = 1;

fn with_classes(parameters: Parameters) -> Parameters {
    let on_responses = TrafficClass { on_response_channel: true, ..TrafficClass::default() };
    Parameters { classes: vec![TrafficClass::default(), on_responses], ..parameters }
}

#[test]
fn packets_in_two_virtual_channels_go_by_a_channel_one_after_the_other() {
    // Both headers ask router 1 at 20. The first packet crosses from 20 to 26, its channel is free
    // at 30, and at router 2 it crosses from 32 to 38. With a speed-up of 1 the second one requests
    // again at 22, in vain, and crosses from 28 to 34, with 2 from 20 to 26 beside the first one. It
    // is sent from 30 to 36 either way. It crosses at router 2 at 40, where the first one no longer
    // does.
    // Its credits are free 2 ps after its flits have crossed, and node 1 has them 5 ps later. It
    // sends another packet when it has all four: after 36 + 5, or 28 + 5. With a speed-up of 1 and
    // sizes that differ, one credit is enough: after 30 + 5.
    for (crossbar_speedup, rest, next) in [(1, FOUR, 41), (2, FOUR, 33), (1, 0, 35)] {
        let parameters = Parameters { crossbar_speedup, injection_buffer: 4, ..parameters() };
        let mut messages = [data(12, 1, 2, FOUR), data(0, 0, 2, FOUR), data(12, 1, 2, rest)];
        for message in messages.iter_mut().filter(|message| message.source == 1) {
            message.class = RESPONSES;
        }
        let log = run_line(3, &with_classes(parameters), &messages);
        assert_eq!(deliveries(&log)[..2], [(0, 0, 38 + 8), (1, 1, 46 + 8)]);
        assert_eq!(injected(&log, 1), [12, next]);
    }
}

#[test]
fn transit_goes_first() {
    // Node 1's packet asks router 1 at 18 and crosses until 26. By then its second packet, in the
    // other virtual channel, asks too, and node 0's packet, which has come by input port 0. The
    // second one is next in turn, then node 0's, then the third one, which asks at 34. If transit
    // goes first, the third one is next in turn behind it.
    let parameters = Parameters { virtual_channels: 2, buffer: 16, ..parameters() };
    let by = |arbitration| {
        let parameters = with_classes(Parameters { arbitration, ..parameters.clone() });
        let mut messages =
            [data(10, 1, 2, FOUR), data(10, 1, 2, FOUR), data(0, 0, 2, FOUR), data(10, 1, 2, FOUR)];
        messages[1].class = RESPONSES;
        let log = run_line(3, &parameters, &messages);
        deliveries(&log).into_iter().map(|(source, vc, _)| (source, vc)).collect::<Vec<_>>()
    };
    assert_eq!(by(Arbitration::RoundRobin), [(1, 0), (1, 1), (0, 0), (1, 0)]);
    assert_eq!(by(Arbitration::TransitFirst), [(1, 0), (0, 0), (1, 0), (1, 1)]);
}

#[test]
fn a_channel_takes_its_virtual_channels_in_turn() {
    // At router 1 a packet of either node crosses from 20 to 26, and the second one of node 0 from 28
    // to 34. The first one is sent at 22. When the channel is free at 30, both others are there: next
    // in turn is the one in the other virtual channel.
    let parameters = Parameters { crossbar_speedup: 2, ..parameters() };
    let of_responses = Message { class: RESPONSES, ..data(12, 1, 2, FOUR) };
    let log = run_line(3, &with_classes(parameters), &[of_responses, data(0, 0, 2, 2 * FOUR)]);
    assert_eq!(deliveries(&log), [(0, 0, 46), (1, 1, 54), (0, 0, 62)]);
}

#[test]
fn outputs_are_granted_in_turn() {
    // Node 1's packets come every 4 ps. The first one crosses to node 2's output from 18 to 24. At 26
    // both others ask: one in the other virtual channel for node 0's output, which is next in turn,
    // and one for node 2's, which crosses from 34 on as its input port sends one at a time.
    let parameters = Parameters { injection_rate: rate(1), ..parameters() };
    let to_other = Message { class: RESPONSES, ..data(10, 1, 0, FOUR) };
    let messages = [data(10, 1, 2, FOUR), to_other, data(10, 1, 2, FOUR)];
    let log = run_line(3, &with_classes(parameters), &messages);
    assert_eq!(deliveries(&log), [(1, 0, 44), (1, 1, 52), (1, 0, 60)]);
}

#[test]
fn a_packet_that_is_not_granted_its_request_waits_for_a_flit_time() {
    // Ejection takes 10 ps a flit. At router 1 both packets ask at 20 for virtual channel 0 of one
    // ejection channel, in which they came. Node 0's crosses there until 60, a flit each 10 ps, and
    // node 1's then. Its last flit crosses at 90, and its last credit is back at 90 + 10 + 5.
    let parameters = Parameters {
        crossbar_speedup: 2,
        ejection_rate: rate(10),
        ejection_latency: Picoseconds(10),
        injection_buffer: 4,
        ..parameters()
    };
    let messages = [data(0, 0, 1, FOUR), data(12, 1, 1, 2 * FOUR)];
    assert_eq!(injected(&run_line(2, &parameters, &messages), 1), [12, 105]);
}

#[test]
fn credits_come_back_flit_by_flit() {
    // The first packet crosses from 8 to 14: room of its flits is free at 10, 12, 14 and 16, and the
    // adapter has the credits 5 ps later. The third packet, of two flits, has two of them at 17.
    let messages = [data(0, 0, 1, FOUR), data(0, 0, 1, FOUR), data(0, 0, 1, FLIT)];
    assert_eq!(injected(&run_line(2, &parameters(), &messages), 0), [0, 8, 17]);
    // One of four flits has four of them at 21.
    let messages = [data(0, 0, 1, 3 * FOUR)];
    assert_eq!(injected(&run_line(2, &parameters(), &messages), 0), [0, 8, 21]);
}

#[test]
fn a_slow_channel_behind_a_fast_one_and_the_other_way_round() {
    // Injection is slow: flits reach router 0 at 5, 10, 15, 20, cross at 8, 10, 15, 20 and start on
    // the link 2 ps later; they reach router 1 at 17, 19, 24, 29 and cross at 20, 22, 24, 29.
    let slow_injection = Parameters { injection_rate: rate(5), ..parameters() };
    assert_eq!(delivered(&run_line(2, &slow_injection, &[data(0, 0, 1, FOUR)])), [29 + 8]);

    // The link is slow: flits reach router 0 at 5, 7, 9, 11, cross at 8, 13, 18, 23, reach router 1
    // at 17, 22, 27, 32 and cross there at 20, 22, 27, 32. Room counts from the last one, by the flit
    // times of the ejection channel: it is free at 28, 30, 32, 34, though the header left at 20.
    // A packet of one flit behind it crosses at 28. It finds a credit at 28 + 7 = 35, reaches router
    // 1 at 42 and crosses at 45.
    let slow_link = Parameters { link_rate: rate(5), buffer: 4, ..parameters() };
    let messages = [data(0, 0, 1, FOUR), data(0, 0, 1, 0)];
    assert_eq!(delivered(&run_line(2, &slow_link, &messages)), [32 + 8, 45 + 8]);
    // With room for both it is sent when the channel is free at 30, comes at 37 and crosses at 40.
    let slow_link = Parameters { buffer: 8, ..slow_link };
    assert_eq!(delivered(&run_line(2, &slow_link, &messages)), [32 + 8, 40 + 8]);
}

#[test]
fn a_buffer_at_an_output_holds_two_packets() {
    // Ejection takes 10 ps a flit. The first packet crosses at router 0 from 8 to 14 and at router 1
    // from 20 to 50; its credits are back at router 0 at 37, 47, 57 and 67. The second one crosses
    // from 29 to 35 and waits for these until 67. The third one asks at 50. With room for two
    // packets it crosses from 50 to 56, and all its credits are back at 63. With room for one it
    // does when all flits of the second one have had their time on the link at 75, and they are back
    // at 88; with room for seven flits, when the first one of them has at 69.
    let slow_ejection = |output_buffer| Parameters {
        ejection_rate: rate(10),
        ejection_latency: Picoseconds(10),
        buffer: 4,
        injection_buffer: 4,
        ..single(output_buffer)
    };
    let messages = [data(0, 0, 1, 4 * FOUR)];
    for (output_buffer, fourth) in [(4, 88), (7, 82), (8, 63)] {
        let log = run_line(2, &slow_ejection(output_buffer), &messages);
        assert_eq!(injected(&log, 0), [0, 21, 42, fourth]);
    }
}

#[test]
fn a_packet_takes_room_of_a_buffer_at_an_ejection_channel() {
    // Ejection takes 10 ps a flit. The first packet crosses at 8, 18, 28, 38 and is sent 2 ps later;
    // the second one asks 10 ps after its last flit crossed. Room for one packet is free 10 ps after
    // that has started on the channel: at 50.
    let messages = [data(0, 0, 0, 2 * FOUR)];
    for (output_buffer, second) in [(4, 92), (8, 90)] {
        let parameters = Parameters {
            ejection_rate: rate(10),
            ejection_latency: Picoseconds(10),
            ..single(output_buffer)
        };
        assert_eq!(delivered(&run_line(2, &parameters, &messages)), [50, second]);
    }
}

/// Two routers with two terminals each, and two cables between them: the second one takes 20 ps
/// more. Packets take the hops by both ports in all virtual channels, those by the second one as
/// detours if that is said.
fn two_cables(vcs: u8, is_detour: bool) -> (Fabric, Routes) {
    let mut cabling = Cabling::default();
    let routers = ["A", "B"].map(|name| cabling.router(name));
    for router in routers {
        for number in 0..2 {
            cabling.terminal(format!("{router}{number}"), router);
        }
    }
    (0..2).for_each(|_| cabling.cable(0, 1));
    let fabric = cabling.fabric().unwrap();
    let live = |channels: std::ops::Range<u32>| {
        let live = channels.clone().filter(|&channel| fabric.target(channel).is_some());
        live.map(move |channel| (channel - channels.start) as u16).collect::<Vec<_>>()
    };
    let second = fabric.outputs(0).start + u32::from(live(fabric.outputs(0))[1]);
    let back = fabric.opposite(second).unwrap();
    let mut builder = RelationBuilder::new(&fabric, vcs).unwrap();
    for state in 0..builder.relation().states() {
        let Some(router) = builder.relation().router(&fabric, state) else { continue };
        let ports = live(fabric.outputs(router));
        let hop = |port, vc| Hop { detour: is_detour && port == ports[1], ..Hop::new(port, vc) };
        let hops = ports.iter().flat_map(|&port| (0..vcs).map(move |vc| (port, vc)));
        let mut hops: Vec<Hop> = hops.map(|(port, vc)| hop(port, vc)).collect();
        builder.set(state, 1 - router, &mut hops);
    }
    let routes = by_relation(builder.finish(), false, 0);
    let long = CableClass { latency: Some(Picoseconds(27)), ..CableClass::default() };
    let class = |channel| match channel == second || channel == back {
        true => long,
        false => CableClass::default(),
    };
    (fabric.with_cables(class, |_| CableClass::default()), routes)
}

#[test]
fn a_packet_that_is_not_granted_its_request_takes_another_hop() {
    // Both headers ask router A at 8 for the hop by the first port. The second one requests again at
    // 10, when a flit of the first one is queued there, and takes the other port.
    let (fabric, routes) = two_cables(1, false);
    let messages = [data(0, 0, 2, FOUR), data(0, 1, 3, FOUR)];
    let log = run(&fabric, &routes, &single(8), &messages).unwrap();
    assert_eq!(deliveries(&log), [(0, 0, 34), (1, 0, 34 + 2 + 20)]);
}

#[test]
fn a_fallback_hop_waits_until_no_other_has_room() {
    // As above, but the other port is a detour. The first port's buffer has room for the second
    // packet, which waits until the first one has crossed, or it has not.
    let (fabric, routes) = two_cables(1, true);
    let messages = [data(0, 0, 2, FOUR), data(0, 1, 3, FOUR)];
    for (output_buffer, second) in [(8, 34 + 8), (7, 34 + 2 + 20)] {
        let log = run(&fabric, &routes, &single(output_buffer), &messages).unwrap();
        assert_eq!(deliveries(&log), [(0, 0, 34), (1, 0, second)]);
    }
}

#[test]
fn a_packet_prefers_the_hop_with_the_fewest_flits_queued() {
    // The first packet's flits cross at router A from 8 to 14 and at B from 20 to 26; its credits are
    // back at 29, 31, 33 and 35. A packet that asks before that takes the other port, or where there
    // is but one cable the other virtual channel.
    let (fabric, routes) = two_cables(1, false);
    for (created, latency) in [(8, 54), (26, 54), (27, 34)] {
        let messages = [data(0, 0, 2, FOUR), data(created, 1, 3, FOUR)];
        let log = run(&fabric, &routes, &single(8), &messages).unwrap();
        assert_eq!(delivered(&log), [34, created + latency]);
    }
    // With two virtual channels the second packet asks at 16. Though nothing is queued for virtual
    // channel 1 of the first port, it takes the other port. Its flits are away until 83. The third
    // packet asks at 40, when nothing is queued for the first port. When the fourth one asks at 48,
    // four flits are for each port, all of them in virtual channel 0: it takes the other one of the
    // first port.
    let (fabric, routes) = two_cables(2, false);
    let parameters = Parameters { virtual_channels: 2, ..single(8) };
    let messages =
        [data(0, 0, 2, FOUR), data(8, 1, 3, FOUR), data(32, 0, 2, FOUR), data(40, 1, 3, FOUR)];
    let log = run(&fabric, &routes, &parameters, &messages).unwrap();
    assert_eq!(deliveries(&log), [(0, 0, 34), (1, 0, 8 + 54), (0, 0, 32 + 34), (1, 1, 40 + 34)]);
}

#[test]
fn a_read_comes_back_in_the_response_channel() {
    // The request is one flit: it crosses at 8 and at 20, and is there at 28. The response is created
    // at 28 + 10 and takes as long as any packet of four flits.
    let parameters = Parameters { service_time: Picoseconds(10), ..parameters() };
    let kind = MessageKind::Read { request: 0 };
    let log = run_line(2, &parameters, &[Message { kind, ..data(0, 0, 1, FOUR) }]);
    assert_eq!(deliveries(&log), [(0, 0, 28), (1, 1, 38 + 34)]);
}

/// Three packets from each of four nodes to the node two hops on: with room for one packet at
/// inputs and at outputs, the second packets take the room at outputs at 18 that the first ones need
/// at 20, and can't be sent for them.
#[test]
fn a_ring_deadlocks_without_datelines() {
    let (fabric, routes) = ring(4);
    let messages: Vec<Message> =
        (0..4).map(|node| data(0, node, (node + 2) % 4, 3 * FOUR)).collect();
    let parameters = Parameters { buffer: 4, ..single(4) };
    let deadlock: Deadlock = run(&fabric, &routes, &parameters, &messages).unwrap_err();
    assert_eq!((deadlock.packets, deadlock.log.packets.len()), (12, 0));
    let of_one: Vec<Message> = messages.iter().map(|it| Message { bytes: FOUR, ..*it }).collect();
    let log = run(&fabric, &routes, &parameters, &of_one).unwrap();
    // The packets that cross from input to output at 20 are sent when the credits of the others are
    // back at 35.
    assert_eq!(delivered(&log), [35 + 7 + 5 + 12; 4]);
}

#[test]
fn instants_at_which_nothing_is_due_change_nothing() {
    for seed in 0..24 {
        let scenario = cioq_scenario(seed);
        let (fabric, routes) = (&scenario.fabric, &scenario.routes);
        let (parameters, messages) = (&scenario.parameters, &scenario.messages);
        let log = |result: Result<Log, Deadlock>| result.unwrap_or_else(|deadlock| deadlock.log);
        let some = log(run(fabric, routes, parameters, messages));
        assert!(
            some == log(simulator(fabric, routes, parameters, messages).run(true).log()),
            "seed {seed}"
        );
    }
}
