//! A ping: one message of 8 bytes in an empty network, to the nearest node and to the farthest.
//!
//!     cargo run --release --example ping
//!
//! The simulation is put together by hand here: a fabric, its routes, parameters, messages. With a
//! scenario in TOML, as in the other examples, flitlab does this and checks the parameters.

use std::error::Error;

use flitlab::engine::{Parameters, run_script, zero_load_latency};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::{Picoseconds, time_text};

/// How long a ping took, and how long the closed form says that it takes.
pub struct Ping {
    pub to: String,
    pub hops: u32,
    pub simulated: Picoseconds,
    pub closed_form: Picoseconds,
}

/// Pings from node 0 of a torus of 4x2x2x2 nodes to every other node, one at a time.
pub fn pings() -> Result<Vec<Ping>, Box<dyn Error>> {
    let fabric = Torus::new(&[4, 2, 2, 2], &[])?.fabric(&Faults::default())?;
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus)?);
    // The defaults are those of Angara: latencies of routers and links, overheads of hosts, sizes.
    let parameters = Parameters::default();

    // No ping takes two microseconds here, so none meets another.
    let ping = |destination: u32| Message {
        time: 2_000 * u64::from(destination) * Picoseconds::NANOSECOND,
        source: 0,
        destination,
        bytes: 8,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    let script = Script::new((1..fabric.terminals()).map(ping).collect());
    let (log, _) = run_script(&fabric, &routes, &parameters, script)
        .map_err(|_| "packets wait for each other")?;

    // Each message is one packet. Its latency has three parts: the sender's overhead, the packet's
    // way from injection to the last flit, and the receiver's overhead.
    let overheads = parameters.send_overhead + parameters.receive_overhead;
    let pings = log.packets.iter().zip(&log.messages).map(|(packet, message)| Ping {
        to: fabric.terminal_name(message.destination),
        hops: packet.hops,
        simulated: message.completed - message.created,
        closed_form: overheads + zero_load_latency(&parameters, packet.hops, packet.flits),
    });
    Ok(pings.collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<9} {:>4} {:>11} {:>11}", "to", "hops", "simulated", "closed form");
    for Ping { to, hops, simulated, closed_form } in pings()? {
        let (simulated, closed_form) = (time_text(simulated), time_text(closed_form));
        println!("{to:<9} {hops:>4} {simulated:>11} {closed_form:>11}");
    }
    Ok(())
}
