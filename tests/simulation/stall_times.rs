//! For how long packets wait for channels, computed by hand from docs/model.md.
//!
//! Flits take 2 ps everywhere, injection 5 ps, links 7 ps, ejection 6 ps, routing 3 ps, the
//! crossbar 2 ps and allocation nothing; a maximum packet is a header and 3 payload flits.

use flitlab::{
    engine::{
        Arbitration, ChannelKind, ChannelReport, Engine, FlitSharing, Log, Parameters, RouterKind,
        STALLS, Stall, Switching,
    },
    routing::{DirectionOrder, HalfRing, Routes},
    topology::{Faults, Torus},
    traffic::{Message, Script},
    units::{Bytes, Picoseconds, Rate},
};

use flitlab_random::message::data;
use flitlab_random::random_flit_scenario::flit_scenario;
use flitlab_random::random_scenario::Scenario;

const FLIT: u64 = 16;
/// Payload of a packet of four flits, and of one of eight.
const FOUR: u64 = 3 * FLIT;
const EIGHT: u64 = 7 * FLIT;

/// Links shared flit by flit, with stall times.
fn counting() -> FlitSharing {
    FlitSharing { stall_times: true, ..FlitSharing::default() }
}

/// Has stall times counted in a scenario of shared links, or not.
fn count_stalls(scenario: &mut Scenario, stall_times: bool) {
    let RouterKind::SharedLinks(sharing) = &mut scenario.parameters.kind else {
        panic!("links are shared")
    };
    sharing.stall_times = stall_times;
}

fn parameters() -> Parameters {
    let rate = Rate(64_000_000_000_000);
    Parameters {
        flit: Bytes(FLIT),
        header_flits: 1,
        checksum_flits: 0,
        maximum_payload: Bytes(FOUR),
        virtual_channels: 1,
        buffer: 8,
        switching: Switching::VirtualCutThrough,
        arbitration: Arbitration::RoundRobin,
        kind: RouterKind::SharedLinks(counting()),
        bubble: true,
        crossbar_speedup: 1,
        routing_latency: Picoseconds(3),
        crossbar_latency: Picoseconds(2),
        link_rate: rate,
        link_latency: Picoseconds(7),
        injection_channels: 1,
        injection_rate: rate,
        injection_latency: Picoseconds(5),
        injection_buffer: 8,
        ejection_channels: 1,
        ejection_rate: rate,
        ejection_latency: Picoseconds(6),
        send_overhead: Picoseconds(0),
        receive_overhead: Picoseconds(0),
        service_time: Picoseconds(0),
        ..Parameters::default()
    }
}

/// The channels of a row of nodes, or a ring, that stood still, with the times: for no credit, the
/// bubble, the input, the output.
fn stalled(
    nodes: u32,
    open: &[usize],
    parameters: &Parameters,
    messages: &[Message],
) -> Vec<(String, [u64; STALLS])> {
    let channels = channels(nodes, open, parameters, messages).into_iter().filter_map(|channel| {
        let stalled = channel.statistics.stalled.expect("it was asked for").map(u64::from);
        (stalled != [0; STALLS]).then_some((channel.name, stalled))
    });
    channels.collect()
}

/// All channels of a row of nodes, or a ring, when all messages have arrived.
fn channels(
    nodes: u32,
    open: &[usize],
    parameters: &Parameters,
    messages: &[Message],
) -> Vec<ChannelReport> {
    let fabric = Torus::new(&[nodes], open).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
    let workload = Box::new(Script::new(messages.to_vec()));
    let mut engine = Engine::new(1, &fabric, &routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    engine.channels()
}

fn one(channel: &str, times: [u64; STALLS]) -> Vec<(String, [u64; STALLS])> {
    vec![(channel.to_owned(), times)]
}

#[test]
fn an_output_is_busy_with_another_packet_as_where_packets_take_it_whole() {
    // Both headers ask at router 1 at 20; the packet that goes first has the output until 28.
    let messages = [data(12, 1, 2, FOUR), data(0, 0, 2, FOUR)];
    let expected = one("(1) +x", [0, 0, 0, 8]);
    assert_eq!(stalled(3, &[0], &parameters(), &messages), expected);
    let whole = Parameters { kind: RouterKind::WholePackets, ..parameters() };
    assert_eq!(stalled(3, &[0], &whole, &messages), expected);
    // With two virtual channels they win in turn from 20 to 34: one or the other waits until the
    // last but one has left. At router 2 the headers win at 32 and 34, and the last flits but one
    // leave at 42 and 44.
    let kind = RouterKind::SharedLinks(FlitSharing { iterations: 2, ..counting() });
    let shared = Parameters { virtual_channels: 2, kind, ..parameters() };
    let expected = stalled(3, &[0], &shared, &messages);
    assert_eq!(expected[0], one("(1) +x", [0, 0, 0, 14])[0]);
}

/// REVIEW A8: a channel that one buffer fills has no stalls, and yet packets wait for it.
#[test]
fn what_stands_behind_a_packet_of_its_own_buffer_waits_in_each_router() {
    // An injection channel twice as fast as a link: the second header may go on at 12, while the
    // first packet has the channel from 8 to 16. At router 1 nothing waits.
    let fast = Parameters { injection_rate: Rate(128_000_000_000_000), ..parameters() };
    let row = Parameters { bubble: false, ..fast };
    let whole = Parameters { kind: RouterKind::WholePackets, ..row.clone() };
    let behind = Parameters { kind: RouterKind::OutputBuffers(8), ..whole.clone() };
    for router in [whole, row, behind] {
        let found = channels(3, &[0], &router, &[data(0, 0, 2, 2 * FOUR)]);
        let waits: Vec<(&str, Picoseconds)> = found
            .iter()
            .filter_map(|channel| Some((&*channel.name, channel.statistics.waited?)))
            .filter(|(_, waited)| *waited > Picoseconds::ZERO)
            .collect();
        assert_eq!(waits, [("(0) +x", Picoseconds(4))], "{router:?}");
        let injects = |channel: &ChannelReport| channel.kind == ChannelKind::Injection;
        assert!(found.iter().all(|channel| channel.queue.is_none() == injects(channel)));
        if !router.kind.sends_packets_from_outputs() {
            assert!(stalled(3, &[0], &router, &[data(0, 0, 2, 2 * FOUR)]).is_empty());
        }
    }
}

#[test]
fn a_packet_that_enters_a_ring_waits_for_the_bubble() {
    // The second packet asks at 16 and has room for itself; the last credit is back at 33.
    let messages = [data(0, 0, 1, 2 * FOUR)];
    assert_eq!(stalled(4, &[], &parameters(), &messages), one("(0) +x", [0, 17, 0, 0]));
}

#[test]
fn worms_wait_for_credits() {
    // Buffers hold one flit. At router 0 flits win at 8, 27, 46 and 62, and the output is free 2
    // later each time. At router 1 the second flit comes at 36, and the credit for it at 39.
    let worms =
        Parameters { switching: Switching::Wormhole, bubble: false, buffer: 1, ..parameters() };
    let found = stalled(3, &[0], &worms, &[data(0, 0, 2, FOUR)]);
    let expected = [one("(0) +x", [17 + 17 + 14, 0, 0, 0]), one("(1) +x", [3, 0, 0, 0])];
    assert_eq!(found, expected.concat());
}

#[test]
fn a_packet_waits_for_its_input_port_while_that_sends_to_another_output() {
    // Node 1's first packet asks at 21 for the output that node 0's has until 36. The second one
    // has the input port until 37.
    let sharing = FlitSharing { virtual_output_queues: true, ..counting() };
    let queues = Parameters {
        maximum_payload: Bytes(EIGHT),
        buffer: 16,
        kind: RouterKind::SharedLinks(sharing),
        ..parameters()
    };
    let messages = [data(0, 0, 2, EIGHT), data(13, 1, 2, FOUR), data(13, 1, 0, FOUR)];
    assert_eq!(stalled(3, &[0], &queues, &messages), one("(1) +x", [0, 0, 1, 15]));
}

#[test]
fn a_packet_alone_stalls_nothing_and_nothing_is_measured_unasked() {
    for switching in [Switching::VirtualCutThrough, Switching::StoreAndForward] {
        let alone = Parameters { switching, ..parameters() };
        assert!(stalled(4, &[0], &alone, &[data(0, 0, 3, FOUR)]).is_empty());
    }
    let mut scenario = flit_scenario(0);
    count_stalls(&mut scenario, false);
    let workload = Box::new(Script::new(scenario.messages.clone()));
    let (fabric, routes) = (&scenario.fabric, &scenario.routes);
    let mut engine = Engine::new(1, fabric, routes, &scenario.parameters, workload, ());
    engine.run_until(Picoseconds::NEVER);
    assert!(engine.channels().iter().all(|channel| channel.stalled.is_none()));
}

/// Counting stalls changes nothing else, and packets of random scenarios wait for each reason.
#[test]
fn who_counts_disturbs_nobody() {
    let mut seen = [0; STALLS];
    for seed in 0..24 {
        let mut runs = [false, true].map(|stall_times| {
            let mut scenario = flit_scenario(seed);
            count_stalls(&mut scenario, stall_times);
            let workload = Box::new(Script::new(scenario.messages.clone()));
            let (fabric, routes) = (&scenario.fabric, &scenario.routes);
            let log = Log::default();
            let mut engine = Engine::new(1, fabric, routes, &scenario.parameters, workload, log);
            engine.run_until(Picoseconds::NEVER);
            for channel in engine.channels() {
                let times = channel.statistics.stalled.filter(|_| {
                    let injects = channel.kind == ChannelKind::Injection;
                    assert!(
                        !injects
                            || channel
                                .statistics
                                .stalled
                                .is_none_or(|it| it == [Picoseconds::ZERO; 4])
                    );
                    !injects
                });
                times.into_iter().for_each(|times| {
                    (0..STALLS).for_each(|reason| seen[reason] += times[reason].0);
                });
            }
            (engine.digest(), engine.now(), std::mem::take(engine.observer()))
        });
        let log = |run: &mut Log| {
            run.packets.sort_unstable();
            run.packets.clone()
        };
        assert_eq!(log(&mut runs[0].2), log(&mut runs[1].2), "seed {seed}");
        assert_eq!((runs[0].0, runs[0].1), (runs[1].0, runs[1].1), "seed {seed}");
    }
    let reasons = [Stall::NoCredit, Stall::Bubble, Stall::InputBusy, Stall::OutputBusy];
    assert!(reasons.iter().all(|&reason| seen[reason as usize] > 100), "{seen:?}");
}
