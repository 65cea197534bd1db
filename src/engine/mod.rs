//! The simulator: events, packets, buffers, channels, routers, adapters.
//!
//! The engine knows routers, ports, channels, virtual channels and routes as runs of ports. It knows no
//! dimensions, patterns or statistics over packets: those are in topology, traffic and measure. The
//! model is docs/model.md; `router` and `adapter` implement its sections of those names.
//!
//! One instant is done in two halves. First everything that happens at it is taken in, in any order,
//! since nothing of it depends on anything else of it. Then every router and adapter that something
//! happened to allocates once. What a grant brings about lies in the future, at least a flit time or a
//! channel's latency ahead. So results can't depend on the order in which events of an instant are
//! stored, nor on the number of threads: each simulates a part of the network for as long as nothing that
//! happens in another part can reach it, and then takes in what has been sent to it.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the hottest loops; fabrics and the ranges of parameters keep their numbers within their types"
)]

mod adapter;
mod adaptive;
mod calendar;
mod credit;
pub(crate) mod cut;
mod deadlock;
pub(crate) mod digest;
mod event;
mod forwarding;
pub(crate) mod interruption;
mod mail;
mod memory;
pub(crate) mod message;
pub(crate) mod network;
mod observer;
mod packet;
mod parameters;
mod part;
mod port;
mod rendezvous;
mod router;
mod simulator;
mod statistics;
mod together;
pub(crate) mod walk;
mod zero_load;

pub use adapter::Backlog;
pub use deadlock::{Deadlock, Waiting};
pub use digest::Digest;
pub use interruption::{Interruption, InterruptionReport};
pub use memory::{MOST_BUFFERS, memory_needed, most_buffers};
pub use network::ChannelKind;
pub use observer::{CompletedMessage, DeliveredPacket, Log, Observer};
pub use parameters::*;
pub use port::MOST_FLITS;
pub use statistics::{ChannelStatistics, STALLS, Stall};
pub use zero_load::zero_load_latency;

use std::time::Duration;

use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Script, Workload};
use crate::units::Picoseconds;
use simulator::Simulator;

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What has happened; looking again at a channel that packets wait for doesn't count.
    pub events: u64,
    /// Flits of all messages that have entered a source queue.
    pub flits_created: u64,
    pub flits_delivered: u64,
    pub packets_delivered: u64,
    /// Cut or swallowed when something failed ([`Interruption`]); of messages that were never sent the flits
    /// alone.
    pub flits_lost: u64,
    pub packets_lost: u64,
    pub messages_lost: u64,
    /// Channels between routers, crossed by delivered packets and by their flits.
    pub packet_hops: u64,
    pub flit_hops: u64,
}

/// A channel's statistics since the last reset.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelReport {
    pub name: String,
    pub kind: ChannelKind,
    pub statistics: ChannelStatistics,
    /// Fraction of the time in which the channel carried a flit.
    pub utilisation: f64,
    /// Fraction of the time in which packets waited for it, by reason ([`Stall`]).
    pub stalled: [f64; STALLS],
}

/// What channels have carried since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carried {
    /// For how long channels between routers carried a flit, in sum, and how many there are.
    pub(crate) busy: u128,
    pub(crate) channels: u64,
    /// Utilisation of the busiest channel of all kinds.
    pub busiest: f64,
}

impl Carried {
    /// The mean utilisation of channels between routers in the `time` since it was `before`, without a reset
    /// meanwhile.
    #[must_use]
    pub fn mean_utilisation_since(&self, before: Self, time: Picoseconds) -> f64 {
        let all = u128::from(time.max(1)) * u128::from(self.channels.max(1));
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

impl Counters {
    /// Flits that have been created and neither delivered nor lost, source queues included.
    #[must_use]
    pub fn flits_under_way(&self) -> u64 {
        self.flits_created - self.flits_delivered - self.flits_lost
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.flits_created += other.flits_created;
        self.flits_delivered += other.flits_delivered;
        self.packets_delivered += other.packets_delivered;
        self.flits_lost += other.flits_lost;
        self.packets_lost += other.packets_lost;
        self.messages_lost += other.messages_lost;
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
    }
}

/// One simulation.
pub struct Engine<'f, O>(Width<'f, O>);

/// The simulator for at most so many virtual channels. How many is known when it is compiled, so that the
/// buffers of a port and the credits of a channel lie where they are looked for.
enum Width<'f, O> {
    Angara(Simulator<'f, O, VIRTUAL_CHANNELS>),
    Any(Simulator<'f, O, { MOST_VIRTUAL_CHANNELS as usize }>),
}

/// Does the same with a simulator of either width.
macro_rules! either {
    ($engine:expr, $simulator:ident => $call:expr) => {
        match $engine {
            Width::Angara($simulator) => $call,
            Width::Any($simulator) => $call,
        }
    };
}

impl<'f, O: Observer> Engine<'f, O> {
    /// An empty network at time 0, simulated by one thread. The parameters must have been checked (a
    /// scenario's have): at least one injection and ejection channel, latencies of at least a flit
    /// time, buffers of two maximum packets, at most 65535 flits a packet, as many virtual channels as
    /// the routes have lanes.
    #[must_use]
    pub fn new(
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self::on_threads(1, fabric, routes, parameters, workload, observer)
    }

    /// Like [`new`](Self::new), simulated by at most so many threads. Results do not depend on how many
    /// there are. One does it alone if the workload has barriers after which messages are sent sooner
    /// than anything else gets from part to part (docs/model.md, "Threads").
    #[must_use]
    pub fn on_threads(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self(if usize::from(parameters.virtual_channels) <= VIRTUAL_CHANNELS {
            let simulator = Simulator::new(threads, fabric, routes, parameters, workload, observer);
            Width::Angara(simulator)
        } else {
            let simulator = Simulator::new(threads, fabric, routes, parameters, workload, observer);
            Width::Any(simulator)
        })
    }

    /// Lets something fail while the network is at work.
    ///
    /// # Panics
    /// If several threads simulate, or packets don't go by a forwarding table.
    pub fn interrupt(&mut self, interruption: &'f Interruption) {
        either!(&mut self.0, simulator => simulator.interrupt(interruption));
    }

    /// What the interruption brought about so far, if there is one.
    #[must_use]
    pub fn interruption(&self) -> Option<InterruptionReport> {
        either!(&self.0, simulator => simulator.interruption())
    }

    /// Simulates everything that happens up to and including `limit`. False if nothing is left that
    /// could happen later.
    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        either!(&mut self.0, simulator => simulator.run_until(limit))
    }

    /// How far the simulation has come: the limit of the latest call, or the time of the last event
    /// once nothing is left.
    #[must_use]
    pub fn now(&self) -> Picoseconds {
        either!(&self.0, simulator => simulator.now())
    }

    /// The fingerprint of all grants so far.
    #[must_use]
    pub fn digest(&self) -> Digest {
        either!(&self.0, simulator => simulator.digest())
    }

    /// Work done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        either!(&self.0, simulator => simulator.counters())
    }

    /// CPU time that threads other than the caller's have taken, waiting for each other included.
    #[must_use]
    pub fn time_of_other_threads(&self) -> Duration {
        either!(&self.0, simulator => simulator.time_of_other_threads())
    }

    /// Packets that are in the network or on their way to a sink.
    #[must_use]
    pub fn packets_under_way(&self) -> usize {
        either!(&self.0, simulator => simulator.packets_under_way())
    }

    /// Messages that are queued at their sources or under way.
    #[must_use]
    pub fn messages_under_way(&self) -> u64 {
        either!(&self.0, simulator => simulator.messages_under_way())
    }

    /// What waits in the source queues of each terminal, in the order of terminals.
    pub fn backlogs(&self, mut each: impl FnMut(Backlog)) {
        either!(&self.0, simulator => simulator.backlogs().for_each(&mut each));
    }

    /// What has been observed so far.
    pub fn observer(&mut self) -> &mut O {
        either!(&mut self.0, simulator => simulator.observer())
    }

    /// Forgets what channels have carried so far; they count from now on.
    pub fn reset_channels(&mut self) {
        either!(&mut self.0, simulator => simulator.reset_channels());
    }

    /// What all channels together have carried since the last reset; time linear in channels.
    #[must_use]
    pub fn carried(&self) -> Carried {
        either!(&self.0, simulator => simulator.carried())
    }

    /// What each channel has carried since the last reset, in the engine's order: by router, network
    /// then ejection channels; then injection channels.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelReport> {
        either!(&self.0, simulator => simulator.channels())
    }

    /// The `most` channels that were busy for the longest time, in the engine's order, and how many there
    /// are in all. Of equally busy ones the first are taken.
    #[must_use]
    pub fn busiest_channels(&self, most: usize) -> (Vec<ChannelReport>, usize) {
        either!(&self.0, simulator => simulator.busiest_channels(most))
    }

    /// Looks for a deadlock in the present state: time linear in buffers and packets, but for long
    /// chains of packets that have a choice.
    #[must_use]
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        either!(&self.0, simulator => simulator.find_deadlock())
    }

    /// Whether, for every buffer, the flits that are in it or on their way to it and the credits at, or
    /// on their way to, its feeder add up to its capacity. Always true; time linear in buffers and
    /// packets.
    #[must_use]
    pub fn credits_are_conserved(&self) -> bool {
        either!(&self.0, simulator => simulator.credits_are_conserved())
    }

    /// Bytes of the engine's arrays before traffic, and per packet under way.
    #[must_use]
    pub fn memory(&self) -> (usize, usize) {
        either!(&self.0, simulator => simulator.memory())
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
    let mut engine = Engine::new(fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::MAX);
    match engine.find_deadlock() {
        Some(deadlock) => Err(deadlock),
        None => Ok((std::mem::take(engine.observer()), engine.digest())),
    }
}
