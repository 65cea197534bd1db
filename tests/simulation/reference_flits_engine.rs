//! Pins the plain reference engine of links shared flit by flit to times computed by hand from
//! docs/model.md.
//!
//! Unless a test says otherwise, its network is that of `common/by_hand.rs`, and allocation takes
//! nothing. Hence a flit that wins the switch at `g` is at the next router at `g + 9` and in the
//! sink at `g + 8`.

use flitlab::{
    engine::{
        Arbitration, FlitSharing, Log, Parameters, RouterKind, Switching, run_script,
        zero_load_latency,
    },
    traffic::{Message, MessageKind, Script},
    units::{Bytes, Picoseconds},
};
use flitlab_random::by_hand::{
    self, FLIT, MAXIMUM_PAYLOAD, delivered, deliveries, injected, line, rate, ring,
};
use flitlab_random::message::data;
use flitlab_reference::flit_engine::{Deadlock, run};

/// Payload of a packet of four flits.
const FOUR: u64 = MAXIMUM_PAYLOAD;
/// Payload of a packet of eight flits.
const EIGHT: u64 = 7 * FLIT;

fn parameters(virtual_channels: u8, sharing: FlitSharing) -> Parameters {
    Parameters { virtual_channels, kind: RouterKind::SharedLinks(sharing), ..by_hand::parameters() }
}

/// One virtual channel.
fn single() -> Parameters {
    parameters(1, FlitSharing::default())
}

/// Two virtual channels, which two packets can get at the same instant.
fn double() -> Parameters {
    parameters(2, FlitSharing { iterations: 2, ..FlitSharing::default() })
}

fn try_ring(nodes: u32, parameters: &Parameters, messages: &[Message]) -> Result<Log, Deadlock> {
    let (fabric, routes) = ring(nodes);
    run(&fabric, &routes, parameters, messages).map(|(log, _)| log)
}

fn run_ring(nodes: u32, parameters: &Parameters, messages: &[Message]) -> Log {
    try_ring(nodes, parameters, messages).unwrap()
}

fn run_line(nodes: u32, parameters: &Parameters, messages: &[Message]) -> Log {
    let (fabric, routes) = line(nodes);
    run(&fabric, &routes, parameters, messages).unwrap().0
}

#[test]
fn an_empty_network_takes_the_time_of_the_closed_form() {
    // Each router takes 3 + 4 + 1 + 2, each link 7; the last flit is 3 flits behind the header.
    // With store-and-forward each router waits for the last flit.
    let sharing = FlitSharing {
        virtual_channel_allocation: Picoseconds(4),
        switch_allocation: Picoseconds(1),
        ..FlitSharing::default()
    };
    for (switching, waiting) in [
        (Switching::VirtualCutThrough, 0),
        (Switching::Wormhole, 0),
        (Switching::StoreAndForward, 3 * 2),
    ] {
        let parameters = Parameters { switching, buffer: 20, ..parameters(2, sharing.clone()) };
        for hops in 0..4 {
            let log = run_line(5, &parameters, &[data(100, 0, hops, FOUR)]);
            let routers = u64::from(hops) + 1;
            let latency = 5 + routers * (3 + 4 + 1 + 2 + waiting) + (routers - 1) * 7 + 6 + 3 * 2;
            assert_eq!(delivered(&log), [100 + latency]);
            assert_eq!(zero_load_latency(&parameters, hops, 4), Picoseconds(latency));
            let slow_injection = Parameters { injection_rate: rate(5), ..parameters.clone() };
            let slow_ejection = Parameters {
                ejection_rate: rate(10),
                ejection_latency: Picoseconds(10),
                ..parameters.clone()
            };
            for parameters in [slow_injection, slow_ejection] {
                let log = run_line(5, &parameters, &[data(0, 0, hops, FOUR)]);
                assert_eq!(delivered(&log), [zero_load_latency(&parameters, hops, 4).0]);
            }
        }
    }
}

/// A packet of node 0 and one of node 1, both to node 2, whose headers come to router 1 at 17 and
/// ask at 20.
fn two_packets() -> [Message; 2] {
    [data(12, 1, 2, FOUR), data(0, 0, 2, FOUR)]
}

#[test]
fn two_packets_take_turns_on_a_link_flit_by_flit() {
    // Node 0's flits win the switch of router 1 at 20, 24, 28, 32, node 1's at 22, 26, 30, 34. At
    // router 2 the headers come at 29 and 31 and win at 32 and 34. Then flits win every 2 ps, in
    // turn, as they come: the last ones are there at 41 and 43, and win at 44 and 46.
    let log = run_line(3, &double(), &two_packets());
    assert_eq!(deliveries(&log), [(0, 0, 44 + 8), (1, 1, 46 + 8)]);
    // On one virtual channel node 1's packet waits for it until 28: `C` after the other's last flit
    // won at 26.
    let log = run_line(3, &single(), &two_packets());
    assert_eq!(deliveries(&log), [(0, 0, 38 + 8), (1, 0, 46 + 8)]);
}

#[test]
fn transit_goes_first() {
    // Node 0's flits win at router 1 from 20 to 26, node 1's from 28 to 34; at router 2 that is
    // from 32 and from 40.
    let parameters = Parameters { arbitration: Arbitration::TransitFirst, ..double() };
    let log = run_line(3, &parameters, &two_packets());
    assert_eq!(deliveries(&log), [(0, 0, 38 + 8), (1, 1, 46 + 8)]);
}

#[test]
fn the_oldest_packet_goes_first() {
    // Node 1 sends three packets, whose headers ask at 12, 20 and 28. Node 0's packet asks at 28
    // too. In turn it would go first; but it was created later than the third one, which wins from
    // 28 to 34 and, at router 2, from 40 to 46.
    let messages = [data(4, 1, 2, 3 * FOUR), data(8, 0, 2, FOUR)];
    let by = |arbitration| {
        let parameters = Parameters { arbitration, buffer: 16, injection_buffer: 16, ..double() };
        let log = run_line(3, &parameters, &messages);
        deliveries(&log).into_iter().map(|(source, _, time)| (source, time)).collect::<Vec<_>>()
    };
    let sources = |of: &[(u32, u64)]| of.iter().map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(by(Arbitration::OldestFirst), [(1, 38), (1, 46), (1, 54), (0, 62)]);
    assert_eq!(sources(&by(Arbitration::RoundRobin)), [1, 1, 0, 1]);
}

#[test]
fn virtual_channels_share_a_link_by_their_weights() {
    // Packets of eight flits on virtual channels of weights 4 and 1. At router 1 the first one wins
    // at 20, 22, 24, 26, the second one at 28, the first one from 30 to 36, the second one from 38
    // to 50. At router 2 the first one's flits win from 32 to 38, the second one's header, which
    // asks at 40, at 40, the first one's others from 42 to 48. The second one's others have come
    // from 47 on and win from 50 to 62.
    let sharing = FlitSharing { iterations: 2, weights: vec![4, 1], ..FlitSharing::default() };
    let parameters = Parameters {
        arbitration: Arbitration::Weighted,
        maximum_payload: Bytes(EIGHT),
        buffer: 16,
        injection_buffer: 16,
        ..parameters(2, sharing)
    };
    let messages = [data(12, 1, 2, EIGHT), data(0, 0, 2, EIGHT)];
    let log = run_line(3, &parameters, &messages);
    assert_eq!(deliveries(&log), [(0, 0, 48 + 8), (1, 1, 62 + 8)]);
}

/// Nodes 0 and 2 have something to send to node 2 without end: node 0 data, on virtual channel 0,
/// and node 1, whose responses are read by node 2, on virtual channel 1. Both come to the link from
/// router 1 to router 2 as fast as it takes flits. The sources of the packets, in the order in
/// which they come to node 2.
fn shares(high_priority: &[u8], limit: Option<u32>) -> Vec<u32> {
    let sharing = FlitSharing {
        iterations: 2,
        high_priority: high_priority.to_vec(),
        high_priority_limit: limit,
        ..FlitSharing::default()
    };
    let parameters = Parameters {
        arbitration: Arbitration::Weighted,
        buffer: 64,
        injection_buffer: 64,
        ejection_rate: rate(1),
        ..parameters(2, sharing)
    };
    let read = Message { kind: MessageKind::Read { request: 0 }, ..data(0, 2, 1, FOUR) };
    let mut messages = vec![data(0, 0, 2, 200 * FOUR)];
    messages.extend([read; 200]);
    let log = run_line(3, &parameters, &messages);
    let (fabric, routes) = line(3);
    let (fast, _) = run_script(&fabric, &routes, &parameters, Script::new(messages)).unwrap();
    let to_node_2 = |log: &Log| -> Vec<u32> {
        let deliveries = deliveries(log).into_iter();
        deliveries.map(|one| one.0).filter(|&source| source != 2).collect()
    };
    assert_eq!(to_node_2(&log), to_node_2(&fast));
    to_node_2(&log)
}

/// How many packets of high priority come between two of low priority, from the middle of all on.
fn between(sources: &[u32], low: u32) -> Vec<usize> {
    let middle = &sources[sources.len() / 8..sources.len() / 4];
    let runs: Vec<usize> = middle.split(|&source| source == low).map(<[u32]>::len).collect();
    runs[1..runs.len() - 1].to_vec()
}

/// Packets have four flits. Responses are sent until the first end of a packet by which they have
/// sent as many flits as the limit; then a packet of data is.
#[test]
fn low_priority_gets_a_packet_a_limit() {
    for (limit, packets) in [(0, 1), (1, 1), (4, 1), (5, 2), (12, 3), (30, 8)] {
        let found = between(&shares(&[0, 1], Some(limit)), 0);
        assert!(found.len() > 3, "{limit}: {found:?}");
        assert!(found.iter().all(|&count| count == packets), "{limit}: {found:?}");
        // The other way round it is data that goes first.
        let found = between(&shares(&[1], Some(limit)), 1);
        assert!(found.iter().all(|&count| count == packets), "{limit}: {found:?}");
    }
}

#[test]
fn without_a_limit_low_priority_waits_until_nothing_is_left() {
    let sources = shares(&[0, 1], None);
    // Data had the link before the first response came.
    let first = sources.iter().position(|&source| source == 1).unwrap();
    assert!(first < 20, "{sources:?}");
    let (high, low) = sources[first..].split_at(199);
    assert!(high.iter().filter(|&&source| source == 0).count() < 3, "{sources:?}");
    assert!(low.iter().filter(|&&source| source == 1).count() < 4, "{sources:?}");
}

#[test]
fn a_worm_waits_flit_by_flit_for_room() {
    // Buffers of links hold one flit. At router 0 the header wins at 8. It wins at router 1 at 20,
    // so its credit is back at 27, when the next flit wins; and at router 2 at 32. The second flit
    // is at router 1 at 36 and waits there for the header's credit until 39; the third one wins at
    // router 0 at 46, the last one at 62. Both wait nowhere else.
    let parameters =
        Parameters { switching: Switching::Wormhole, bubble: false, buffer: 1, ..single() };
    let log = run_line(3, &parameters, &[data(0, 0, 2, FOUR)]);
    assert_eq!(delivered(&log), [62 + 9 + 9 + 8]);
}

#[test]
fn entering_a_ring_needs_room_for_one_more_packet() {
    // At router 0 the first packet's flits win from 8 to 14; the second packet asks at 16. With the
    // bubble it needs all 8 credits: at router 1 the first packet's flits win from 20 to 26, so the
    // last credit is back at 33.
    let messages = [data(0, 0, 1, 2 * FOUR)];
    assert_eq!(delivered(&run_ring(4, &single(), &messages)), [34, 33 + 9 + 3 + 6 + 8]);
    let open = Parameters { bubble: false, ..single() };
    assert_eq!(delivered(&run_ring(4, &open, &messages)), [34, 42]);
    assert_eq!(delivered(&run_line(4, &single(), &messages)), [34, 42]);
    // On another virtual channel there is room.
    assert_eq!(deliveries(&run_ring(4, &double(), &messages)), [(0, 0, 34), (0, 1, 42)]);
}

#[test]
fn a_packet_that_goes_on_in_its_ring_keeps_its_virtual_channel() {
    // At router 1 node 1's packet takes virtual channel 0 at 18 and holds it until 26. Node 0's
    // packet, which came on virtual channel 0, asks at 20 and waits for it: at router 2 the two win
    // from 30 to 36 and from 38 to 44.
    let messages = [data(10, 1, 2, FOUR), data(0, 0, 2, FOUR)];
    let log = run_ring(5, &double(), &messages);
    assert_eq!(deliveries(&log), [(1, 0, 36 + 8), (0, 0, 44 + 8)]);
    // Without the bubble it takes virtual channel 1 at 20, and flits win in turn: at router 1 node
    // 1's at 18, 22, 26, 30, node 0's at 20, 24, 28, 32; at router 2 node 1's at 30, 34, 38, 42,
    // node 0's 2 later each.
    let open = Parameters { bubble: false, ..double() };
    let log = run_ring(5, &open, &messages);
    assert_eq!(deliveries(&log), [(1, 0, 42 + 8), (0, 1, 44 + 8)]);
}

/// Each node of a ring of five sends to the next but one; buffers hold two maximum packets.
#[test]
fn a_full_ring_deadlocks_without_the_bubble_and_not_with_it() {
    let messages: Vec<Message> =
        (0..5).map(|node| data(0, node, (node + 2) % 5, 40 * FOUR)).collect();
    for switching in [Switching::VirtualCutThrough, Switching::Wormhole] {
        let open = Parameters { switching, bubble: false, ..single() };
        let deadlock = try_ring(5, &open, &messages).unwrap_err();
        assert!(deadlock.time > Picoseconds::ZERO && deadlock.packets > 100);
        assert_eq!(deadlock.packets + deadlock.log.packets.len(), 200);
    }
    for parameters in [single(), double()] {
        assert_eq!(run_ring(5, &parameters, &messages).packets.len(), 200);
    }
}

#[test]
fn a_fast_crossbar_empties_queues_into_the_buffer_behind_it() {
    // The injection channel's buffer holds one packet, so the second one is injected when all its
    // credits are back, 5 after its last flit has won the switch of router 0. Flits come at 5, 7,
    // 9, 11, and the header wins at 8. They start on the link at 10, 12, 14, 16. At most one of
    // them can wait: so they win at 8, 9, 10, and the last one at 12.
    let injected_second = |crossbar_speedup, output_buffer| {
        let sharing = FlitSharing { output_buffer, ..FlitSharing::default() };
        let parameters =
            Parameters { crossbar_speedup, injection_buffer: 4, ..parameters(1, sharing) };
        let log = run_line(2, &parameters, &[data(0, 0, 1, 2 * FOUR)]);
        assert_eq!(delivered(&log)[0], 34);
        injected(&log, 0)[1]
    };
    assert_eq!(injected_second(2, 1), 12 + 5);
    // Of two that wait the last one wins when it comes.
    assert_eq!(injected_second(2, 2), 11 + 5);
    // With nowhere to wait, or a crossbar no faster than the link, flits win when the link can take
    // them.
    for (crossbar_speedup, output_buffer) in [(1, 0), (1, 4), (2, 0)] {
        assert_eq!(injected_second(crossbar_speedup, output_buffer), 14 + 5);
    }
}

#[test]
fn a_queue_for_each_output_lets_packets_pass_one_that_waits() {
    // At router 1 node 0's packet of eight flits holds the one virtual channel to node 2 from 20 to 36. Node 1's first packet
    // asks for it at 21. Its second one, to node 0, comes at 26: it can win from 29 to 35, and then has the input port
    // until 37, when the first one wins; else it wins after the first one, from 44 to 50.
    let messages = [data(0, 0, 2, EIGHT), data(13, 1, 2, FOUR), data(13, 1, 0, FOUR)];
    let run = |virtual_output_queues| {
        let sharing = FlitSharing { virtual_output_queues, ..FlitSharing::default() };
        let parameters =
            Parameters { maximum_payload: Bytes(EIGHT), buffer: 16, ..parameters(1, sharing) };
        let log = run_line(3, &parameters, &messages);
        let mut packets = log.packets;
        packets.sort_by_key(|packet| (packet.source, packet.sequence));
        packets.into_iter().map(|packet| packet.delivered.0).collect::<Vec<_>>()
    };
    // A header is at the end of its link 9 after it won, wins there 3 later, and the last flit 6
    // after that.
    assert_eq!(run(false), [54, 36 + 9 + 3 + 6 + 8, 44 + 9 + 3 + 6 + 8]);
    assert_eq!(run(true), [54, 37 + 9 + 3 + 6 + 8, 29 + 9 + 3 + 6 + 8]);
}

#[test]
fn requests_and_responses_have_virtual_channels_of_their_own() {
    let read = Message { kind: MessageKind::Read { request: 0 }, ..data(0, 0, 1, FOUR) };
    let log = run_line(2, &parameters(5, FlitSharing::default()), &[read; 6]);
    let channels = |source| {
        let of = deliveries(&log).into_iter().filter(|one| one.0 == source);
        let mut channels: Vec<u8> = of.map(|one| one.1).collect();
        channels.sort_unstable();
        channels.dedup();
        channels
    };
    assert_eq!((channels(0), channels(1)), (vec![0, 1], vec![2, 3, 4]));
}

/// A cycle of ten picoseconds; routing, the allocation of virtual channels and the crossbar take
/// one each, links two.
fn cycles() -> Parameters {
    let sharing = FlitSharing {
        virtual_channel_allocation: Picoseconds(10),
        routing_at_head: true,
        ..FlitSharing::default()
    };
    Parameters {
        maximum_payload: Bytes(FLIT * 8),
        buffer: 64,
        injection_buffer: 64,
        routing_latency: Picoseconds(10),
        crossbar_latency: Picoseconds(10),
        link_rate: rate(10),
        link_latency: Picoseconds(20),
        injection_rate: rate(10),
        injection_latency: Picoseconds(20),
        ejection_rate: rate(10),
        ejection_latency: Picoseconds(20),
        ..parameters(1, sharing)
    }
}

/// BookSim's input-queued router: 7 + 5 D + S - 1 cycles for S flits over D hops, and one packet of
/// S flits every S + 2 cycles on a virtual channel.
#[test]
fn the_cycles_of_booksim() {
    for flits in 1..=6 {
        let bytes = (flits - 1) * FLIT;
        for hops in 0..4 {
            let log = run_line(5, &cycles(), &[data(0, 0, hops, bytes)]);
            assert_eq!(delivered(&log), [10 * (7 + 5 * u64::from(hops) + flits - 1)]);
        }
        let log = run_line(3, &cycles(), &[data(0, 0, 2, bytes); 20]);
        let times = delivered(&log);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 10 * (flits + 2)), "{times:?}");
    }
}
