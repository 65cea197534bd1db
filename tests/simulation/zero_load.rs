//! A packet alone in the network takes exactly the time of the closed form.

use flitlab::engine::{Log, Parameters, Switching, run_script, zero_load_latency};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::topology::{Fabric, Faults, Torus};
use flitlab::traffic::{Message, Script};
use flitlab::units::{Bytes, Picoseconds, Rate};
use flitlab_random::message::data;

fn run(sizes: &[u32], parameters: &Parameters, messages: Vec<Message>) -> (Fabric, Log) {
    let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
    let (log, _) = run_script(&fabric, &routes, parameters, Script::new(messages)).unwrap();
    (fabric, log)
}

/// Every destination of node 0, one packet at a time, of several sizes.
fn agrees(parameters: &Parameters) {
    let sizes = [5, 4, 3];
    let mut messages = Vec::new();
    let payloads = [0, 1, 16, 100, parameters.maximum_payload.0];
    for destination in 0..60 {
        for (place, payload) in payloads.iter().enumerate() {
            let time = (u64::from(destination) * 5 + place as u64) * 1_000_000_000;
            messages.push(data(time, 0, destination, *payload));
        }
    }
    let (_, log) = run(&sizes, parameters, messages);
    assert_eq!(log.packets.len(), 300);
    let mut hops_seen = [false; 6];
    for packet in &log.packets {
        let expected = zero_load_latency(parameters, packet.hops, packet.flits);
        assert_eq!(packet.delivered - packet.injected, expected, "{packet:?}");
        assert_eq!(packet.injected, packet.created);
        hops_seen[packet.hops as usize] = true;
    }
    assert!(hops_seen.iter().all(|&seen| seen), "every hop count from 0 to 5");
}

#[test]
fn virtual_cut_through_agrees_at_every_hop_count() {
    agrees(&Parameters::default());
}

#[test]
fn store_and_forward_agrees_at_every_hop_count() {
    agrees(&Parameters { switching: Switching::StoreAndForward, ..Parameters::default() });
}

#[test]
fn slow_injection_or_ejection_holds_the_tail_back() {
    for switching in [Switching::VirtualCutThrough, Switching::StoreAndForward] {
        let slow = Rate(10_000_000_000);
        let base = Parameters { switching, ..Parameters::default() };
        agrees(&Parameters { injection_rate: slow, ..base.clone() });
        agrees(&Parameters { ejection_rate: slow, ..base.clone() });
        agrees(&Parameters { link_rate: slow, ..base.clone() });
        agrees(&Parameters { injection_rate: slow, routing_latency: Picoseconds(400_000), ..base });
    }
}

/// The published MPI latency between neighbours (\[angara-routing\], section 1).
#[test]
fn a_ping_between_neighbours_takes_850_ns() {
    let (_, log) = run(&[4, 2, 2, 2], &Parameters::default(), vec![data(0, 0, 1, 8)]);
    assert_eq!(log.messages[0].completed - log.messages[0].created, Picoseconds(850_000));
}

/// By hand: injection 2000, routing 3000, link 5000, routing 3000, ejection 7000, and 4 flits
/// behind the header at 10 ps each.
#[test]
fn one_hop_by_hand() {
    let parameters = Parameters {
        link_rate: Rate(12_800_000_000_000),
        injection_rate: Rate(12_800_000_000_000),
        ejection_rate: Rate(12_800_000_000_000),
        injection_latency: Picoseconds(2_000),
        routing_latency: Picoseconds(3_000),
        crossbar_latency: Picoseconds::ZERO,
        link_latency: Picoseconds(5_000),
        ejection_latency: Picoseconds(7_000),
        send_overhead: Picoseconds::ZERO,
        maximum_payload: Bytes(256),
        ..Parameters::default()
    };
    let (_, log) = run(&[3], &parameters, vec![data(0, 0, 1, 48)]);
    assert_eq!(
        log.packets[0].delivered,
        Picoseconds(2_000 + 3_000 + 5_000 + 3_000 + 7_000 + 4 * 10)
    );
}

/// The closed form at the head of scenarios/noc/mesh.toml: 2 H + 7 cycles of a nanosecond over H
/// hops, of which there are 16/3 in the mean and 14 at most.
#[test]
fn routers_on_a_chip_take_a_cycle_and_so_do_their_links() {
    let text = include_str!("../../scenarios/noc/mesh.toml");
    let scenario = Scenario::read(&Document::parse("mesh.toml", text)).unwrap();
    let simulation = Simulation::new(&scenario).unwrap();
    let forecast = simulation.forecast();
    assert!((forecast.zero_load_mean - (2.0 * 16.0 / 3.0 + 7.0) * 1e3).abs() < 0.01);
    assert_eq!(forecast.zero_load_maximum, Picoseconds(35_000));
    let load = Document::parse("mesh.toml", &text.replace("load = 0.1\n", "load = 0.01\n"));
    let measured = Simulation::new(&Scenario::read(&load).unwrap()).unwrap().run(&mut |_| {});
    let mean = measured.found.measured.packet_latency_mean.unwrap().0 as f64;
    assert!((1.0..1.03).contains(&(mean / forecast.zero_load_mean)), "{mean}");
}
