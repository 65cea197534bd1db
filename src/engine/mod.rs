//! The simulator: packets, buffers, channels, routers, terminals.
//!
//! The engine knows routers, ports, channels, virtual channels and routes as runs of ports. It knows no
//! dimensions, patterns or statistics over packets: those are in topology, traffic and measure. The
//! model is docs/model.md.
//!
//! # One router at a time
//!
//! Nothing that a router does can reach another one at once. A packet that it sends asks for an output in the next
//! router a crossbar, a cable and a routing latency later. For a packet that it sends on, the router that the packet
//! came from gets its credits back a packet's length and a cable later. The shorter of the two times, some hundred
//! nanoseconds, is a **window**: for that long each router can be simulated alone. So that is what is done: a router
//! is visited, does all that happens in it until the window ends, with its state in the nearest cache, and is left
//! alone for the rest of the window. What it sends is put where the other routers find it at their next visit. Its
//! terminals are served in the same visit, in the order of time with its outputs: they have no cable between them.
//!
//! ```text
//!   window k                      window k + 1
//!   |--- visit router 0 ---|      |--- visit router 0 ---|
//!   |--- visit router 1 ---|      |--- visit router 1 ---|   ...
//!        \__ packets, credits: at window k + 1 or later __/
//! ```
//!
//! No calendar of events is needed for that, and nobody has to be woken: **when an output can grant next is known**.
//! It is the latest of its release, the time at which a packet asks for it, and the arrival of the credits that the
//! packet lacks, and all of these are known when they are brought about. A router keeps that one time for each
//! output. The visit takes the least of them, serves the outputs that are due then, and goes on to the next least.
//! A time that is too early costs a look in vain; one that is too late would be wrong.
//!
//! A router's state, here with two input ports and two outputs on one virtual channel:
//!
//! ```text
//!   block: inputs       queues (input port, virtual channel)              block: outputs
//!   free_at, upstream   ask, head -> packet -> packet ...      free_at, pointer, stall
//!   free_at, upstream   ask, head -> packet                    free_at, pointer, stall
//!
//!   block: due[output]   before when it can't grant
//!   asking[output]       the queues whose heads want it, a bit each
//!   arrived              the queues that have got a head since the last visit
//!   credits, by channel  room: flits free at the far end; returning: credits on their way, with their times
//! ```
//!
//! Ports come in eights: eight times are compared without a branch, and eight of everything that a grant needs lie
//! together. What a visit does is compiled once for routers of one block, once for two, and once for any number.
//!
//! A part of the network is a range of routers, and each thread simulates one; parts exchange what crosses between
//! them when a window ends. The same windows are used on one thread, so results don't depend on how many there are.
//!
//! | module | what it is for |
//! |---|---|
//! | `frame` | windows, visits, threads, and what a model of routers has to do for them (`SimulatedPart`); knows no router |
//! | `active` | which routers have something to do |
//! | `exchange`, `thread_barrier`, `cut` | parts: what crosses between them, where threads meet, what is in which |
//! | `model` | all that is in a part |
//! | `ports`, `block`, `size` | a router's outputs, input ports and buffers; in eights; small routers |
//! | `visit` | a router taken in hand for a window, and what it sends to others |
//! | `router` | asking, granting, releasing: docs/model.md, "Router" |
//! | `adaptive` | the same where packets choose their way on a torus |
//! | `relation` | the same where they choose it by a relation, on any fabric |
//! | `collective` | packets that routers combine and replicate along trees |
//! | `link` | links that err, and send again |
//! | `flit` | the other model of routers: links shared flit by flit |
//! | `credits` | room in buffers, and credits on their way |
//! | `packet`, `encoded_route`, `route_segments`, `next_hop`, `vc_map`, `dateline` | packets, what they know of their way, the virtual channels in use |
//! | `source`, `sink`, `atomic` | terminals: docs/model.md, "Adapter" and "Sink" |
//! | `statistics` | what channels carried, and why packets waited |
//! | `deadlock` | the cycle of packets that wait for each other |
//! | `trace`, `holder` | the ways of chosen packets, and which channels hold them up |
//! | `interruption` | failures during operation |
//! | `saved` | the state of a simulation, to be gone on with later |
//! | `network_context`, `network` | what does not change: timings, numbers, names |
//! | `simulator` | [`Engine`]: parts and threads behind one face |

mod active;
mod adaptive;
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
mod round_robin;
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

use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Script, Workload};
use crate::units::Picoseconds;

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Channels granted to packets, those of terminals included.
    pub grants: u64,
    /// Flits of all messages that have entered a source queue, and of the copies that routers have made.
    pub flits_created: u64,
    pub flits_delivered: u64,
    pub packets_delivered: u64,
    /// Cut or swallowed when something failed ([`Interruption`]); of messages that were never sent the flits
    /// alone.
    pub flits_lost: u64,
    /// Of operands that routers have combined with others.
    pub flits_combined: u64,
    pub packets_lost: u64,
    pub messages_lost: u64,
    /// Channels between routers, crossed by delivered packets and by their flits.
    pub packet_hops: u64,
    pub flit_hops: u64,
    /// Sendings of packets between routers that were damaged, bad copies' excepted, and flits of those that were sent again.
    pub damaged_packets: u64,
    pub flits_resent: u64,
    /// Sendings of packets between routers that were not the first ones, and how many of these the
    /// far ends have accepted, then or before.
    pub packets_resent: u64,
    pub resent_accepted: u64,
}

/// What channels have carried since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// For how long channels between routers carried a flit, in sum, and how many there are.
    busy: u128,
    channels: u64,
    /// Utilisation of the busiest channel of all kinds.
    pub busiest: f64,
}

impl Carried {
    /// The mean utilisation of channels between routers in the `time` since it was `before`, without a reset
    /// meanwhile.
    pub fn mean_utilisation_since(&self, before: Self, time: Picoseconds) -> f64 {
        let all = u128::from(time.max(Picoseconds(1))) * u128::from(self.channels.max(1));
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

impl Counters {
    /// Flits that have been created and neither delivered nor lost nor combined, source queues included.
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

/// Runs a list of messages until everything is delivered, or nothing moves any more.
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
