//! The simulator: packets, buffers, channels, routers, terminals.
//!
//! An [`Engine`] simulates a [`Fabric`] with [`Routes`], [`Parameters`] of routers and links, and a
//! [`Workload`](flitlab_model::workload::Workload). An [`Observer`] gets each delivery;
//! `flitlab-measure` has observers and loops that measure loads and finite workloads. [`run_script`]
//! is the shortest way for a list of messages.
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
//! use flitlab_model::workload::{Message, MessageKind, Script};
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
//! let ping = Message { time, source: 0, destination: 5, bytes: 8, kind, tag, class: 0 };
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
//! does not know dimensions, patterns or statistics over packets: those are in fabric, workload
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
//! written where the other routers find it at their next visit. That may be done at once, since it
//! has no effect before the window ends, whichever of the two is visited first. The router's
//! terminals are served in the same visit, in the order of time with its outputs, since no cable
//! lies between them. Where nothing that is delivered changes what terminals send, they go ahead of
//! their router to the end of the window, as far as it is certain which packets have room.
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
//! The state of a router that grants outputs to whole packets is a **cell**, arrays by output, by
//! input port and by buffer (input virtual channel). Others write its **inlets** and its credits
//! only:
//!
//! ```text
//!   cell, by output: due       the earliest time at which it can grant
//!                    free_at, since, stall, pointer, far, room
//!                    requests  the buffers whose heads ask for it, a bit each
//!         by buffer: ask       when its head asks
//!                    head -> packet -> packet <- last       need, left, out_vc
//!                                                 |
//!   inlets, by buffer: last, first; arrived: the buffers that have got a head, a bit each
//!   credits, by channel: room: flits free at the far end; returning: credits under way
//! ```
//!
//! Routers of up to eight or sixteen ports with one or up to four virtual channels have cells of
//! fixed size, for each of which a visit is compiled; others have cells of any size. The times of
//! eight outputs are compared by one instruction where the processor has AVX2.
//!
//! A part of the network is a range of routers, and each thread simulates one part. Parts exchange
//! what crosses between them when a window ends. One thread uses the same windows as many, so
//! results do not depend on the number of threads.
//!
//! # Rooms
//!
//! ```text
//!   simulator ── frame: windows, threads, which routers are due
//!       │
//!     part ───── host: sources, injection, sinks
//!       │          both lend `common`: packets, times, counts
//!     router ─┬─ packet: an output is granted to a whole packet
//!             ├─ cioq: so it is, from a buffer behind the crossbar
//!             └─ flit: links are shared flit by flit
//!                  all ask next_hop (where may this head go?) and
//!                  arbitration (which of these requests is served first?)
//!   network: what never changes: ports, timings, the cut into parts
//! ```
//!
//! A `Part` is generic in its routers. The trait `Routers` has all that a part asks of them. Which
//! kind they are is decided once, in [`Engine::new`].
//!
//! | module | what it is for |
//! |---|---|
//! | `simulator`, `saved` | [`Engine`]: all parts behind one interface; checkpoints |
//! | `frame` | windows, visits and threads; knows neither packet nor router |
//! | `part` | a range of routers with their hosts: the order of things in a visit |
//! | `common` | what hosts and routers of a part share |
//! | `host` | terminals: docs/model.md, "Adapter" and "Sink" |
//! | `next_hop` | where the head of a buffer may go, for each kind of routing |
//! | `arbitration` | which of several requests an output serves: a file for each order |
//! | `router` | models of routers; the search for deadlocks; what holds a packet up |
//! | `router::packet` | outputs granted to whole packets: docs/model.md, "Router" |
//! | `router::collective` | packets that routers combine and replicate along trees |
//! | `router::link` | links that err, and send again |
//! | `router::cioq` | buffers at outputs: docs/model.md, "Buffers at outputs" |
//! | `router::flit` | links shared flit by flit, in the stages of the textbooks |
//! | `network` | ports, buffers, timings, what routes need and virtual channels in use, trees, the cut into parts |
//! | `packet` | packets under way, their messages, their routes in eight bytes |
//! | `interruption` | failures during operation |
//! | `observer`, `trace`, `counters`, `statistics` | what is told of a simulation, and counted of channels |
//!
//! # One packet
//!
//! 1. `host::create` makes a message and puts it into a source queue; `host::packets` cuts a packet
//!    from it, whose route `next_hop` sets.
//! 2. `router::packet` (`inject`) sends it through the injection channel into a buffer.
//! 3. It becomes the head: `new_head` in `router::packet::allocation` asks `next_hop` where it may
//!    go, and adds its requests.
//! 4. When an output is due, `try_grant` lets `arbitration` say in which order requests are tried;
//!    `grant` sends the first packet that can go, and returns its credits.
//! 5. `deliver` puts it into the next router's buffer, and so on from step 3; at its destination
//!    `host::deliver` counts it and completes its message.

#![warn(missing_docs)]

mod arbitration;
mod by_class;
mod bytes;
mod common;
mod counters;
mod frame;
mod host;
mod interruption;
mod memory;
mod network;
mod next_hop;
mod observer;
mod packet;
mod part;
mod router;
mod saved;
mod set;
mod simulator;
mod statistics;
mod trace;
mod zero_load;

pub use arbitration::needs_shared_links;
pub use counters::{Carried, Counters};
pub use frame::tick::{END, MAX_HOP_TIME};
pub use host::source::Backlog;
pub use interruption::{Failure, FailureReport, Interruption};
pub use memory::{MAX_BUFFERS, max_buffers, memory_needed};
pub use network::ChannelTiming;
pub use network::demands::{
    is_adaptive, keeps_bubble_always, max_vcs_of_source, virtual_channels_taken,
};
pub use observer::{Log, Observer};
pub use packet::MAX_FLITS;
pub use router::holder::Followed;
pub use saved::EngineState;
pub use simulator::Engine;
pub use zero_load::{EmptyNetwork, zero_load_latency};

pub use flitlab_model::{
    Acknowledgements, Arbitration, Bursts, ChannelKind, ChannelReport, ChannelStatistics,
    CollectiveUnit, CompletedMessage, DOWN_CHANNEL, Deadlock, DeliveredPacket, Digest, FEATURES,
    Feature, FeatureRow, FlitSharing, Grant, InjectionChoice, Lack, LinkErrors, MAX_PACKETS,
    MAX_VIRTUAL_CHANNELS, MAX_WAIT, OutputQueues, PacketKind, Parameters, Passage, REQUEST_CHANNEL,
    RESPONSE_CHANNEL, Resend, Retry, RouterKind, STALLS, Stall, Support, Switching, TrafficClass,
    UP_CHANNEL, VIRTUAL_CHANNEL_NAMES, VIRTUAL_CHANNELS, Waiting,
};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_model::workload::Script;
use flitlab_routing::Routes;

/// Whether the engine was compiled with optimisation; without it, it simulates some eight times as
/// slowly.
pub const IS_OPTIMISED: bool = !cfg!(unoptimised);

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
    let workload = Box::new(script);
    let mut engine = Engine::new(1, fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    match engine.find_deadlock() {
        Some(deadlock) => Err(deadlock),
        None => Ok((std::mem::take(engine.observer()), engine.digest())),
    }
}
