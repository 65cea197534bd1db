//! Networks for which times are computed by hand: flits take 2 ps everywhere, injection 5 ps, links
//! 7 ps, ejection 6 ps, routing 3 ps, the crossbar 2 ps; a maximum packet is a header and 3 payload
//! flits and a buffer holds two of them.

use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_engine::{
    Arbitration, DeliveredPacket, InjectionChoice, Log, Parameters, RouterKind, Switching,
};
use flitlab_fabric::{Fabric, Faults, Torus};
use flitlab_routing::{DirectionOrder, HalfRing, Routes};

pub const FLIT: u64 = 16;
pub const MAXIMUM_PAYLOAD: u64 = 3 * FLIT;

/// The rate at which a flit takes so many picoseconds.
pub fn rate(flit_time: u64) -> Rate {
    Rate(1_000_000_000_000 * 8 * FLIT / flit_time)
}

pub fn parameters() -> Parameters {
    Parameters {
        classes: Vec::new(),
        flit: Bytes(FLIT),
        header_flits: 1,
        checksum_flits: 0,
        maximum_payload: Bytes(MAXIMUM_PAYLOAD),
        virtual_channels: 5,
        message_classes: 2,
        buffer: 8,
        switching: Switching::VirtualCutThrough,
        arbitration: Arbitration::RoundRobin,
        kind: RouterKind::WholePackets,
        bubble: true,
        crossbar_speedup: 1,
        routing_latency: Picoseconds(3),
        head_of_queue_lifetime: None,
        crossbar_latency: Picoseconds(2),
        link_rate: rate(2),
        link_latency: Picoseconds(7),
        injection_channels: 1,
        injection_choice: InjectionChoice::InTurn,
        injection_rate: rate(2),
        injection_latency: Picoseconds(5),
        injection_buffer: 8,
        ejection_channels: 1,
        ejection_rate: rate(2),
        ejection_latency: Picoseconds(6),
        send_overhead: Picoseconds::ZERO,
        receive_overhead: Picoseconds::ZERO,
        service_time: Picoseconds::ZERO,
        atomic_time: Picoseconds::ZERO,
        responder_resources: None,
        collective: Default::default(),
        errors: None,
    }
}

/// Nodes in a row, or, unless its dimension is open, in a ring.
fn torus(nodes: u32, open: &[usize]) -> (Fabric, Routes) {
    let fabric = Torus::new(&[nodes], open).unwrap().fabric(&Faults::default()).unwrap();
    let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
    (fabric, Routes::DirectionOrder(order))
}

pub fn line(nodes: u32) -> (Fabric, Routes) {
    torus(nodes, &[0])
}

pub fn ring(nodes: u32) -> (Fabric, Routes) {
    torus(nodes, &[])
}

/// Source, virtual channel and time, in picoseconds, of each delivery, in order of time.
pub fn deliveries(log: &Log) -> Vec<(u32, u8, u64)> {
    let mut packets: Vec<&DeliveredPacket> = log.packets.iter().collect();
    packets.sort_by_key(|packet| packet.delivered);
    packets
        .into_iter()
        .map(|packet| (packet.source, packet.virtual_channel, packet.delivered.0))
        .collect()
}

pub fn delivered(log: &Log) -> Vec<u64> {
    deliveries(log).into_iter().map(|(.., time)| time).collect()
}

/// The injection times of a terminal's packets, in the order of their numbers.
pub fn injected(log: &Log, source: u32) -> Vec<u64> {
    let mut packets: Vec<&DeliveredPacket> =
        log.packets.iter().filter(|packet| packet.source == source).collect();
    packets.sort_by_key(|packet| packet.sequence);
    assert!(packets.iter().zip(0..).all(|(packet, number)| packet.sequence == number));
    packets.into_iter().map(|packet| packet.injected.0).collect()
}
