//! The simulator: packets, buffers, channels, routers, terminals.
//!
//! An [`Engine`] simulates a [`Fabric`] with [`Routes`], [`Parameters`] of routers and links, and a
//! [`Workload`]. An [`Observer`] gets each delivery; [`measure`] has observers and loops that
//! measure loads and finite workloads. [`run_script`] is the shortest way for a list of messages.
//!
//! # Example
//!
//! A ping by hand, through a 4x4 torus: its time is the closed form of an empty network.
//!
//! ```
//! use flitlab_base::units::Picoseconds;
//! use flitlab_engine::{Parameters, run_script, zero_load_latency};
//! use flitlab_fabric::{Faults, Torus};
//! use flitlab_routing::{DirectionOrder, HalfRing, Routes};
//! use flitlab_workload::traffic::{Message, MessageKind, Script};
//!
//! // The fabric, and a route from each node to each other one.
//! let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap();
//! let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
//! let routes = Routes::DirectionOrder(order);
//! // Routers and links of Angara.
//! let parameters = Parameters::default();
//! // One message of 8 bytes from node 0 to node 5, one hop away in each dimension.
//! let (time, tag) = (Picoseconds::ZERO, 0);
//! let kind = MessageKind::Data;
//! let ping = Message { time, source: 0, destination: 5, bytes: 8, kind, tag };
//!
//! let (log, _digest) = run_script(&fabric, &routes, &parameters, Script::new(vec![ping])).unwrap();
//!
//! let packet = &log.packets[0];
//! assert_eq!(packet.hops, 2);
//! let latency = packet.delivered - packet.injected;
//! assert_eq!(latency, zero_load_latency(&parameters, packet.hops, packet.flits));
//! ```
//!
//! # Scope
//!
//! The engine knows routers, ports, channels, virtual channels, and routes as runs of ports. It
//! does not know dimensions, patterns or statistics over packets: those are in topology, traffic
//! and measure. The model that it implements is docs/model.md.
//!
//! # One router at a time
//!
//! A router cannot reach another router at once. A packet that it sends asks for an output in the
//! next router after a crossbar, a cable and a routing latency. The credits of a packet that it
//! sends on are back at the router upstream after the packet's length and a cable. The shorter of
//! these two times, some hundred nanoseconds, is a **window**: for that long each router can be
//! simulated alone.
//!
//! So the engine **visits** one router after the other. A visit does all that happens in the router
//! until the window ends, with the router's state in the nearest cache. What the router sends is
//! put where the other routers find it at their next visit. The router's terminals are served in
//! the same visit, in the order of time with its outputs, since no cable lies between them.
//!
//! ```text
//!   window k                      window k + 1
//!   |--- visit router 0 ---|      |--- visit router 0 ---|
//!   |--- visit router 1 ---|      |--- visit router 1 ---|   ...
//!        \__ packets, credits: at window k + 1 or later __/
//! ```
//!
//! No calendar of events is needed, and no router has to be woken, because **the earliest time at
//! which an output can grant is known**. It is the latest of three times: when the output is free,
//! when a packet asks for it, and when the credits arrive that the packet lacks. Each of them is
//! known as soon as its cause is simulated. A router keeps one such time for each output. A visit
//! takes the earliest of them, serves the outputs that are due then, and goes on to the next. A
//! time that is too early costs one attempt in vain; a time that is too late would be wrong.
//!
//! The state of a router, here with two input ports and two outputs on one virtual channel:
//!
//! ```text
//!   block: inputs       queues (by input virtual channel)      block: outputs
//!   free_at, upstream   ask, head -> packet -> packet ...      free_at, pointer, stall
//!   free_at, upstream   ask, head -> packet                    free_at, pointer, stall
//!
//!   block: due[output]   the earliest time at which it can grant
//!   requests[output]     the queues whose heads ask for it, a bit each
//!   arrived              the queues that have got a head since the last visit
//!   credits, by channel  room: flits free at the far end; returning: credits under way, with times
//! ```
//!
//! Ports come in blocks of eight: eight times are compared without a branch, and all that a grant
//! needs lies together. A visit is compiled once for routers of one block, once for routers of two
//! blocks, and once for any number.
//!
//! A part of the network is a range of routers, and each thread simulates one part. Parts exchange
//! what crosses between them when a window ends. One thread uses the same windows as many, so
//! results do not depend on the number of threads.
//!
//! | module | what it is for |
//! |---|---|
//! | `frame` | windows, visits and threads, over any `SimulatedPart`; knows no router |
//! | `active` | which routers have something to do |
//! | `exchange`, `thread_barrier`, `cut` | parts: data between them, threads, division |
//! | `part` | all state of a part |
//! | `ports`, `port_block`, `size` | outputs, input ports, buffers; blocks of eight; sizes |
//! | `router_view` | a router borrowed for a visit, and what the visit sends to others |
//! | `router` | requests, grants, releases: docs/model.md, "Router" |
//! | `arbitration` | which of several requests an output serves: a file for each order |
//! | `adaptive` | allocation for adaptive routing on a torus |
//! | `relation` | allocation for routing relations, on any fabric |
//! | `collective` | packets that routers combine and replicate along trees |
//! | `link` | links that err, and send again |
//! | `flit` | the flit-by-flit router: links shared flit by flit |
//! | `credits` | room in buffers, and credits under way |
//! | `packet`, `encoded_route`, `route_segments`, `next_hop` | packets and their routes |
//! | `vc_map`, `dateline` | the virtual channels in use |
//! | `source`, `sink`, `atomic` | terminals: docs/model.md, "Adapter" and "Sink" |
//! | `statistics` | what channels carried, and why packets waited |
//! | `deadlock` | the cycle of packets that wait for each other |
//! | `trace`, `holder` | routes of chosen packets, and the channels that hold them up |
//! | `interruption` | failures during operation |
//! | `saved` | the state of a simulation, for a checkpoint |
//! | `network_context`, `network` | what does not change: timings, numbers, names |
//! | `simulator` | [`Engine`]: all parts and threads behind one interface |

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

mod active;
mod adaptive;
mod arbitration;
mod atomic;
mod collective;
mod credits;
mod cut;
mod dateline;
mod deadlock;
mod encoded_route;
mod exchange;
mod flit;
mod frame;
mod holder;
mod interruption;
mod link;
pub mod measure;
mod memory;
mod message;
mod network;
mod network_context;
mod next_hop;
mod observer;
mod packet;
mod part;
mod port_block;
mod ports;
mod relation;
mod route_segments;
mod router;
mod router_view;
mod saved;
mod set;
mod simulator;
mod sink;
mod size;
mod source;
mod statistics;
mod thread_barrier;
mod tick;
mod trace;
mod vc_map;
mod zero_load;

pub use arbitration::needs_shared_links;
pub use holder::Followed;
pub use interruption::{Interruption, InterruptionReport};
pub use memory::{MAX_BUFFERS, max_buffers, memory_needed};
pub use observer::{Log, Observer};
pub use packet::MAX_FLITS;
pub use saved::EngineState;
pub use simulator::Engine;
pub use source::Backlog;
pub use tick::{END, MAX_HOP_TIME};
pub use zero_load::{EmptyNetwork, zero_load_latency};

pub use flitlab_model::{
    Acknowledgements, Arbitration, Bursts, ChannelKind, ChannelReport, ChannelStatistics,
    CollectiveUnit, CompletedMessage, DOWN_CHANNEL, Deadlock, DeliveredPacket, Digest, FlitSharing,
    Grant, Lack, LinkErrors, MAX_PACKETS, MAX_VIRTUAL_CHANNELS, Parameters, Passage,
    REQUEST_CHANNEL, RESPONSE_CHANNEL, Resend, Retry, STALLS, Stall, Switching, UP_CHANNEL,
    VIRTUAL_CHANNEL_NAMES, VIRTUAL_CHANNELS, Waiting,
};

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::{Script, Workload};

/// Counts of work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Grants of channels to packets, channels of terminals included.
    pub grants: u64,
    /// Flits of all messages that have entered a source queue, and of the copies that routers made.
    pub flits_created: u64,
    /// Flits that have reached their sinks.
    pub flits_delivered: u64,
    /// Packets whose last flits have reached their sinks.
    pub packets_delivered: u64,
    /// Flits cut or swallowed after a failure ([`Interruption`]); for messages that were never
    /// sent, their flits alone are counted.
    pub flits_lost: u64,
    /// Flits of operands that routers have combined with others.
    pub flits_combined: u64,
    /// Packets cut or swallowed after a failure.
    pub packets_lost: u64,
    /// Messages that are not received because of a failure.
    pub messages_lost: u64,
    /// Channels between routers that delivered packets have crossed, in sum over packets.
    pub packet_hops: u64,
    /// Channels between routers that flits of delivered packets have crossed, in sum over flits.
    pub flit_hops: u64,
    /// Transmissions between routers that were damaged, without those of bad copies.
    pub damaged_packets: u64,
    /// Flits of packets that were sent again.
    pub flits_resent: u64,
    /// Transmissions between routers that were not a packet's first.
    pub packets_resent: u64,
    /// Those of the repeated transmissions whose packet the far end has accepted, then or before.
    pub resent_accepted: u64,
}

/// What channels have carried since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Time for which channels between routers carried a flit, in sum, and the number of these
    /// channels.
    busy: u128,
    channels: u64,
    /// Utilisation of the busiest channel of all kinds.
    pub busiest: f64,
}

impl Carried {
    /// The mean utilisation of channels between routers in the `time` since the earlier figure
    /// `before`. No reset may lie in between.
    pub fn mean_utilisation_since(&self, before: Self, time: Picoseconds) -> f64 {
        let all = u128::from(time.max(Picoseconds(1))) * u128::from(self.channels.max(1));
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

impl Counters {
    /// Flits that have been created and are neither delivered nor lost nor combined, source queues
    /// included.
    pub fn flits_under_way(&self) -> u64 {
        self.flits_created - self.flits_delivered - self.flits_lost - self.flits_combined
    }

    fn add(&mut self, other: &Self) {
        self.grants += other.grants;
        self.flits_created += other.flits_created;
        self.flits_delivered += other.flits_delivered;
        self.packets_delivered += other.packets_delivered;
        self.flits_lost += other.flits_lost;
        self.flits_combined += other.flits_combined;
        self.packets_lost += other.packets_lost;
        self.messages_lost += other.messages_lost;
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
        self.damaged_packets += other.damaged_packets;
        self.flits_resent += other.flits_resent;
        self.packets_resent += other.packets_resent;
        self.resent_accepted += other.resent_accepted;
    }
}

/// Runs a list of messages until everything is delivered, or nothing can move.
///
/// # Errors
/// If packets wait for each other in a cycle.
pub fn run_script(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    script: Script,
) -> Result<(Log, Digest), Deadlock> {
    let workload = Workload::Script(script);
    let mut engine = Engine::new(1, fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    match engine.find_deadlock() {
        Some(deadlock) => Err(deadlock),
        None => Ok((std::mem::take(engine.observer()), engine.digest())),
    }
}
