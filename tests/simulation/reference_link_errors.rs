//! Pins the plain reference engine's links that err to times computed by hand from docs/model.md,
//! and runs it in random scenarios.
//!
//! Unless a test says otherwise, its network is that of `common/by_hand.rs`, but flits take 1 ps on
//! ejection channels, and packets have 4 flits. So a packet that is injected at 0 gets the link of
//! its router at 8 and has it until 16, its flits are there at 17, 19, 21 and 23, and a verdict is
//! known at 30.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flitlab::{
    engine::{Acknowledgements, Bursts, LinkErrors, Parameters, Resend, Retry, Switching},
    routing::Routes,
    topology::Fabric,
    traffic::Message,
    units::{Bytes, Picoseconds},
};
use flitlab_random::by_hand::{self, FLIT, MAXIMUM_PAYLOAD, line, rate, ring};
use flitlab_random::differential;
use flitlab_random::message;
use flitlab_random::random_scenario::Scenario;
use flitlab_reference::engine;
use flitlab_reference::shared::links::Counts;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const FLIT_BITS: u64 = 8 * FLIT;
const BIT_ERROR_RATE: f64 = 1e-3;

fn parameters(errors: LinkErrors) -> Parameters {
    Parameters { ejection_rate: rate(1), errors: Some(errors), ..by_hand::parameters() }
}

/// The channel from a node to the next one in a line, and the one back.
fn channels(fabric: &Fabric, node: u32) -> (u32, u32) {
    let leads = |&channel: &u32| fabric.target(channel) == Some(node + 1);
    let there = fabric.outputs(node).find(leads).unwrap();
    (there, fabric.opposite(there).unwrap())
}

/// The flits of a channel that are damaged, of the first hundred.
fn damaged(seed: u64, channel: u32) -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2 * u64::from(channel));
    let (mut flits, mut bit) = (Vec::new(), 0);
    loop {
        let u: f64 = random.random();
        bit += ((1.0 - u).ln() / (1.0 - BIT_ERROR_RATE).ln()).floor() as u64;
        if bit >= 100 * FLIT_BITS {
            flits.dedup();
            return flits;
        }
        flits.push(bit / FLIT_BITS);
        bit += 1;
    }
}

/// Errors on one channel, of whose first 30 flits just this one is damaged.
fn one_damaged(fabric: &Fabric, channel: u32, flit: u64) -> LinkErrors {
    let fits = |&seed: &u64| {
        let flits = damaged(seed, channel);
        flits.first() == Some(&flit) && flits.get(1).is_none_or(|&next| next >= 30)
    };
    let mut channels = vec![false; fabric.channel_slots() as usize];
    channels[channel as usize] = true;
    LinkErrors {
        bit_error_rate: BIT_ERROR_RATE,
        channels: Some(channels),
        replay_buffer: 100,
        time_out: Picoseconds(1_000),
        seed: (0..).find(fits).unwrap(),
        ..LinkErrors::default()
    }
}

fn data(time: u64, source: u32, destination: u32, packets: u64) -> Message {
    message::data(time, source, destination, packets * MAXIMUM_PAYLOAD)
}

/// When packets are delivered, by source and in the order in which they were sent, and what links
/// did.
fn run(
    (fabric, routes): &(Fabric, Routes),
    parameters: &Parameters,
    messages: &[Message],
) -> (Vec<u64>, Counts) {
    let ended = engine::simulator(fabric, routes, parameters, messages, None).run(false);
    let counts = ended.counts;
    let mut log = ended.log().unwrap();
    log.packets.sort_unstable_by_key(|packet| (packet.source, packet.sequence));
    (log.packets.iter().map(|packet| packet.delivered.0).collect(), counts)
}

const RETRIES: [Retry; 2] = [Retry::Store, Retry::Stomp];
const RESENDS: [Resend; 2] = [Resend::GoBackN, Resend::Selective];
const ACKNOWLEDGEMENTS: [Acknowledgements; 2] = [Acknowledgements::Flits, Acknowledgements::Free];

#[test]
fn without_damage_a_packet_waits_for_its_checksum_or_not() {
    let line = line(2);
    for acknowledgements in ACKNOWLEDGEMENTS {
        for resend in RESENDS {
            // Ejection from 23 + 3 on: the last flit starts at 29 and is there 2 + 6 later. Else
            // the header is there at 17, and the last flit starts when it comes, at 23.
            for (retry, expected) in [(Retry::Store, 37), (Retry::Stomp, 31)] {
                let errors = LinkErrors { retry, resend, acknowledgements, ..Default::default() };
                let (times, counts) = run(&line, &parameters(errors), &[data(0, 0, 1, 1)]);
                assert_eq!(times, [expected]);
                let flits = u64::from(acknowledgements == Acknowledgements::Flits);
                assert_eq!(counts, Counts { acknowledgements: flits, ..Default::default() });
            }
        }
    }
}

#[test]
fn a_damaged_packet_is_sent_again() {
    // Its third flit is damaged, which is known at 23, and at the sender at 30. It is sent again
    // from 30 to 38, its flits are there at 39, 41, 43 and 45.
    let line = line(2);
    let errors = one_damaged(&line.0, channels(&line.0, 0).0, 2);
    for acknowledgements in ACKNOWLEDGEMENTS {
        for resend in RESENDS {
            // Ejection from 45 + 3 on, or from 39 + 3 on with the last flit when it comes.
            for (retry, expected) in [(Retry::Store, 51 + 8), (Retry::Stomp, 45 + 8)] {
                let errors = LinkErrors { retry, resend, acknowledgements, ..errors.clone() };
                let (times, counts) = run(&line, &parameters(errors), &[data(0, 0, 1, 1)]);
                assert_eq!(times, [expected]);
                assert_eq!((counts.damaged, counts.sent_again), (1, 4));
            }
        }
    }
}

#[test]
fn what_comes_behind_a_damaged_packet_is_discarded_or_waits() {
    // The second packet has the link from 16 to 24, its flits are there at 25, 27, 29 and 31.
    let line = line(2);
    let damaged = one_damaged(&line.0, channels(&line.0, 0).0, 1);
    let run = |retry, resend| {
        let acknowledgements = Acknowledgements::Free;
        let errors = LinkErrors { retry, resend, acknowledgements, ..damaged.clone() };
        run(&line, &parameters(errors), &[data(0, 0, 1, 2)])
    };
    // It is sent again from 38 to 46, and there at 47, 49, 51 and 53: ejection from 56 on.
    let (times, counts) = run(Retry::Store, Resend::GoBackN);
    assert_eq!((times, counts.sent_again), (vec![59, 59 + 8], 8));
    // Ejection from 50 on, the last flit when it comes.
    let (times, counts) = run(Retry::Stomp, Resend::GoBackN);
    assert_eq!((times, counts.sent_again), (vec![53, 53 + 8], 8));
    // It enters at 45, behind the first one, which is ejected from 48 to 52: then until 56.
    let (times, counts) = run(Retry::Store, Resend::Selective);
    assert_eq!((times, counts.sent_again), (vec![59, 55 + 8], 4));
    // It enters at 45, may ask at 48, and the ejection channel is free since 46.
    let (times, counts) = run(Retry::Stomp, Resend::Selective);
    assert_eq!((times, counts.sent_again), (vec![53, 51 + 8], 4));
}

#[test]
fn a_verdict_waits_for_the_channel_back_and_goes_before_anything_else() {
    // Node 1's packet has its link from 22 to 30. So the verdict of 23 starts at 30 and is known at 37. Just then the last flit of
    // node 1's packet is there: its acknowledgement goes first, from 37 to 39. The packet is sent again from 39 to 47, its last
    // flit is there at 54, ejection from 57 on. Node 1's is ejected from 40 on.
    let line = line(2);
    let errors = one_damaged(&line.0, channels(&line.0, 0).0, 3);
    for resend in RESENDS {
        let errors = LinkErrors { retry: Retry::Store, resend, ..errors.clone() };
        let messages = [data(0, 0, 1, 1), data(14, 1, 0, 1)];
        let (times, counts) = run(&line, &parameters(errors), &messages);
        assert_eq!(times, [60 + 8, 43 + 8]);
        assert_eq!((counts.damaged, counts.acknowledgements, counts.lost), (1, 3, 0));
    }
}

#[test]
fn a_lost_acknowledgement_makes_a_duplicate_that_is_discarded() {
    // The acknowledgement that starts at 23 is the first flit on the channel back. The packet is
    // wanted 50 after 16, sent again from 66 to 74, and discarded at 81; the next acknowledgement
    // is known at 88. Meanwhile no other packet gets the link, since there is but one number, or
    // room for but one packet. The next one gets it then: it is there at 103.
    let line = line(2);
    let errors = one_damaged(&line.0, channels(&line.0, 0).1, 0);
    for resend in RESENDS {
        for (sequence_bits, replay_buffer) in [(1, 100), (8, 4), (8, 7)] {
            let errors = LinkErrors {
                retry: Retry::Store,
                resend,
                sequence_bits,
                replay_buffer,
                time_out: Picoseconds(50),
                ..errors.clone()
            };
            let (times, counts) = run(&line, &parameters(errors), &[data(0, 0, 1, 2)]);
            assert_eq!(times, [37, 103 + 3 + 3 + 8]);
            assert_eq!((counts.damaged, counts.sent_again), (0, 4));
            assert_eq!((counts.acknowledgements, counts.lost), (3, 1));
        }
    }
}

#[test]
fn a_burst_damages_what_has_the_channel_while_it_lasts() {
    // The first burst begins so late that it meets the packet, whenever that is there, or just does
    // not.
    let line = line(2);
    let (channel, _) = channels(&line.0, 0);
    let begins = |seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(2 * u64::from(channel) + 1);
        let mut draw = || -> u64 {
            let u: f64 = random.random();
            (-(1.0 - u).ln() * 500.0).floor() as u64
        };
        (draw(), draw())
    };
    let seed = (0..).find(|&seed| begins(seed).0 >= 20 && begins(seed).1 >= 2_000).unwrap();
    let (begin, _) = begins(seed);
    for (length, created, is_damaged) in [
        // The packet has the channel from 8 after its creation until 16.
        (3, begin + 3 - 8, false),
        (4, begin + 3 - 8, true),
    ]
    .into_iter()
    .chain((0..10).map(|since| (1, begin + since - 16, (1..=8).contains(&since))))
    {
        let errors = LinkErrors {
            bursts: Some(Bursts { interval: Picoseconds(500), length: Picoseconds(length) }),
            channels: Some((0..line.0.channel_slots()).map(|it| it == channel).collect()),
            retry: Retry::Store,
            seed,
            ..Default::default()
        };
        let (times, counts) = run(&line, &parameters(errors), &[data(created, 0, 1, 1)]);
        assert_eq!(counts.damaged, u64::from(is_damaged), "{length} {created}");
        assert_eq!(times, [created + if is_damaged { 59 } else { 37 }]);
    }
}

#[test]
fn a_bad_copy_goes_on_and_takes_channels_away_from_others() {
    // Node 0 sends to node 3, and the first link damages the packet. Its bad copy has the link from
    // router 1 from 20 to 28, that from router 2 from 32 to 40, and an ejection channel from 44
    // until 48, as its last flit comes at 47. Node 1's packet asks for its link at 21 and gets it
    // at 28: 7 later. Node 3's to itself asks for ejection at 45 and gets it at 48. The next copy
    // starts 22 later than the first one and asks router 1 at 42, but the room is that of the bad
    // copy and node 1's packet. The bad copy's is back at 47: 5 later.
    let line = line(4);
    let damaged = one_damaged(&line.0, channels(&line.0, 0).0, 0);
    for resend in RESENDS {
        for acknowledgements in ACKNOWLEDGEMENTS {
            let errors =
                LinkErrors { retry: Retry::Stomp, resend, acknowledgements, ..damaged.clone() };
            let messages = [data(0, 0, 3, 1), data(13, 1, 2, 1), data(37, 3, 3, 1)];
            let (times, counts) = run(&line, &parameters(errors), &messages);
            // Without errors they take 5 + 4 * 5 + 3 * 7 + 6, with one link 5 + 2 * 5 + 7 + 6, and
            // another 3: their last flits start on ejection channels when they come.
            let (first, second, third) = (55 + 22 + 5, 13 + 31 + 7, 48 + 3 + 8);
            assert_eq!(times, [first, second, third]);
            assert_eq!((counts.damaged, counts.sent_again, counts.bad_copies), (1, 4, 2));
        }
    }
}

#[test]
fn a_bad_copy_that_has_to_wait_does_not_go_on() {
    // As above, but node 2's first packet has the link of its router from 30 to 38. The bad copy
    // asks for it at 32 and is gone at 35, when its last flit is there. So node 2's second packet
    // gets the link at 38.
    let line = line(4);
    let damaged = one_damaged(&line.0, channels(&line.0, 0).0, 0);
    for resend in RESENDS {
        let errors = LinkErrors {
            retry: Retry::Stomp,
            resend,
            acknowledgements: Acknowledgements::Free,
            ..damaged.clone()
        };
        let messages = [data(0, 0, 3, 1), data(22, 2, 3, 2)];
        let (times, counts) = run(&line, &parameters(errors), &messages);
        // The next copy asks for node 2's link at 54.
        assert_eq!(times, [55 + 22, 22 + 31, 22 + 31 + 8]);
        assert_eq!(counts.bad_copies, 1);
    }
}

#[test]
fn with_store_and_forward_no_bad_copy_goes_on() {
    let line = line(4);
    let damaged = one_damaged(&line.0, channels(&line.0, 0).0, 0);
    for retry in RETRIES {
        let errors = LinkErrors { retry, ..damaged.clone() };
        let stored = Parameters { switching: Switching::StoreAndForward, ..parameters(errors) };
        let (times, counts) = run(&line, &stored, &[data(0, 0, 3, 1)]);
        // Each router waits 6 more; the first link takes 22 longer.
        assert_eq!(times, [5 + 4 * (5 + 6) + 3 * 7 + 6 + 3 + 22]);
        assert_eq!((counts.damaged, counts.bad_copies), (1, 0));
    }
}

/// The random scenarios of a seed, all with errors.
fn scenarios(seed: u64) -> Vec<Scenario> {
    let mut scenarios =
        vec![Scenario::ruled(seed), Scenario::forwarding(seed), Scenario::choosing(seed)];
    scenarios.extend(Scenario::adaptive(seed));
    scenarios.push(Scenario::adaptive_by_table(seed));
    let with_errors = |(kind, scenario): (u64, Scenario)| scenario.with_errors(5 * seed + kind);
    let mut scenarios: Vec<Scenario> = (0..).zip(scenarios).map(with_errors).collect();
    scenarios.push(many_bad_copies(seed));
    scenarios
}

/// A random scenario in which most packets are damaged, have several flits, and go on before their
/// last flit is there, so that links often have to do with bad copies.
fn many_bad_copies(seed: u64) -> Scenario {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(3);
    let mut scenario = Scenario::ruled(seed).with_errors(seed);
    let parameters = &mut scenario.parameters;
    let payload_flits = random.random_range(3..10);
    parameters.maximum_payload = Bytes(16 * payload_flits);
    parameters.switching = Switching::VirtualCutThrough;
    parameters.routing_latency = Picoseconds(random.random_range(0..3));
    parameters.link_rate = rate(random.random_range(1..4));
    parameters.link_latency = Picoseconds(random.random_range(3..20));
    (parameters.ejection_rate, parameters.injection_rate) = (rate(1), rate(1));
    let largest = parameters.maximum_packet();
    parameters.buffer = largest * random.random_range(2..12);
    parameters.injection_buffer = largest * 4;
    parameters.crossbar_speedup = 3;
    let bits = (u64::from(largest) * FLIT_BITS) as f64;
    let round_trip = 2 * parameters.link_latency + Picoseconds(4 * 3 * u64::from(largest));
    let errors = parameters.errors.as_mut().unwrap();
    errors.retry = Retry::Stomp;
    errors.resend = RESENDS[usize::from(random.random_bool(0.3))];
    errors.bit_error_rate = random.random_range(0.3..1.5) / bits;
    errors.sequence_bits = random.random_range(2..6);
    errors.replay_buffer = largest * random.random_range(1..16);
    errors.time_out = round_trip * random.random_range(1..8);
    let longest = random.random_range(1..4) * parameters.maximum_payload.0;
    for message in &mut scenario.messages {
        message.bytes = message.bytes.min(longest);
    }
    scenario
}

#[test]
fn random_scenarios_with_errors_lose_nothing_and_leave_no_tick_out() {
    let (mut all, mut free) = (Vec::new(), 0);
    for seed in 0..3 {
        for scenario in scenarios(seed) {
            let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
            let [some, all_ticks] = [false, true].map(|every_tick| {
                engine::simulator(fabric, routes, parameters, messages, None).run(every_tick)
            });
            if some.stuck.is_some() {
                continue;
            }
            let (log, counts) = (some.log, some.counts);
            assert_eq!(log.messages.len(), messages.len(), "seed {seed}");
            assert_eq!(log.packets, all_ticks.log.packets, "seed {seed}");
            free += u64::from(counts.acknowledgements == 0);
            all.push(counts);
        }
    }
    assert!(free > 0 && all.len() > 8);
    let all: Counts = all.into_iter().sum();
    assert!(
        all.damaged > 100 && all.sent_again > 100 && all.lost > 10 && all.bad_copies > 10,
        "{all:?}"
    );
}

/// Compares both engines in the scenarios of a seed; how many there were, and how many packets. Any
/// that differ are named before this panics.
fn agree(seed: u64) -> (usize, usize) {
    let scenarios = scenarios(seed);
    let one = |(kind, scenario)| {
        let agrees = || differential::agree(seed, scenario);
        catch_unwind(AssertUnwindSafe(agrees)).map_err(|_| format!("seed {seed}, scenario {kind}"))
    };
    let packets: Vec<Result<usize, String>> = scenarios.iter().enumerate().map(one).collect();
    for different in packets.iter().filter_map(|packets| packets.as_ref().err()) {
        eprintln!("DIFFERENT: {different}: {:?}", scenarios[0].parameters.errors);
    }
    let packets: Result<usize, String> = packets.into_iter().sum();
    (scenarios.len(), packets.expect("no difference"))
}

#[test]
fn both_engines_agree_where_links_err() {
    assert!((100..103).map(|seed| agree(seed).0).sum::<usize>() > 9);
}

#[test]
#[ignore = "long: 1,000 seeds (FLITLAB_SCENARIOS), up to four scenarios each, all with errors of links"]
fn both_engines_agree_in_many_scenarios_where_links_err() {
    let number = |name, default| {
        env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count) = (number("FLITLAB_FIRST", 0), number("FLITLAB_SCENARIOS", 1_000));
    let one = |seed| catch_unwind(|| agree(seed)).ok();
    let all: Vec<Option<(usize, usize)>> =
        (first..first + count).into_par_iter().map(one).collect();
    let agreed: Vec<&(usize, usize)> = all.iter().flatten().collect();
    let (scenarios, packets): (Vec<usize>, Vec<usize>) = agreed.iter().copied().copied().unzip();
    println!(
        "{} of {count} seeds from {first} on without a difference: {} scenarios, {} packets",
        agreed.len(),
        scenarios.iter().sum::<usize>(),
        packets.iter().sum::<usize>()
    );
    assert_eq!(agreed.len() as u64, count);
}

/// Under the bubble rule bad copies that go on take the room of the bubble. When they waited behind
/// others to be discarded, seed 2 stopped for good.
#[test]
fn rings_full_of_bad_copies_do_not_deadlock() {
    for seed in 0..6 {
        let nodes = 4 + seed as u32 % 3;
        let (fabric, routes) = ring(nodes);
        let errors = LinkErrors {
            bit_error_rate: 1e-3,
            retry: Retry::Stomp,
            resend: RESENDS[seed as usize % 2],
            acknowledgements: Acknowledgements::Free,
            replay_buffer: 100,
            seed,
            ..LinkErrors::default()
        };
        let to = |source| data(0, source, (source + nodes / 2) % nodes, 100);
        let scenario = Scenario {
            fabric,
            routes,
            parameters: parameters(errors),
            messages: (0..nodes).map(to).collect(),
            collective: None,
        };
        assert_eq!(differential::agree(seed, &scenario), 100 * nodes as usize, "seed {seed}");
    }
}
