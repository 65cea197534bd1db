//! Packets watched by an observer of one's own: a histogram of their hops.
//!
//!     cargo run --release --example watch_packets

use std::error::Error;

use flitlab::engine::{CompletedMessage, DeliveredPacket, Engine, Observer, Parameters};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::Picoseconds;

/// How many packets crossed so many channels between routers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HopHistogram {
    pub packets: Vec<u64>,
}

impl HopHistogram {
    fn add(&mut self, hops: usize, packets: u64) {
        if self.packets.len() <= hops {
            self.packets.resize(hops + 1, 0);
        }
        self.packets[hops] += packets;
    }
}

/// Each thread simulates a part of the network and has an observer of its own. At the end they are
/// gathered into one. What an observer keeps must not depend on the order of its calls, since that
/// order differs with the number of threads.
impl Observer for HopHistogram {
    fn fork(&self) -> Self {
        Self::default()
    }

    fn gather(&mut self, part: &mut Self) {
        for (hops, packets) in part.packets.drain(..).enumerate() {
            self.add(hops, packets);
        }
    }

    fn packet_delivered(&mut self, packet: &DeliveredPacket) {
        self.add(packet.hops as usize, 1);
    }

    fn message_completed(&mut self, _: &CompletedMessage) {}
}

/// The hops of an all-to-all exchange in a torus of 4x4x4 nodes, simulated by so many threads.
pub fn watch(threads: usize) -> Result<HopHistogram, Box<dyn Error>> {
    let fabric = Torus::new(&[4, 4, 4], &[])?.fabric(&Faults::default())?;
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus)?);
    let parameters = Parameters::default();

    // In turn, every node sends 64 bytes to the node 1, 2, 3, ... numbers further on.
    let nodes = fabric.terminals();
    let message = |source: u32, by: u32| Message {
        time: 100 * u64::from(by) * Picoseconds::NANOSECOND,
        source,
        destination: (source + by) % nodes,
        bytes: 64,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    let pairs = (0..nodes).flat_map(|source| (1..nodes).map(move |by| (source, by)));
    let script = Script::new(pairs.map(|(source, by)| message(source, by)).collect());

    let (workload, observer) = (Box::new(script), HopHistogram::default());
    let mut engine = Engine::new(threads, &fabric, &routes, &parameters, workload, observer);
    engine.run_until(Picoseconds::NEVER);
    if engine.find_deadlock().is_some() {
        return Err("packets wait for each other".into());
    }
    Ok(std::mem::take(engine.observer()))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (hops, packets) in watch(2)?.packets.iter().enumerate() {
        let bar = "#".repeat(usize::try_from(packets / 20)?);
        println!("{hops} hops {packets:>5} {bar}");
    }
    Ok(())
}
