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
//! stored.

mod adapter;
mod adaptive;
mod calendar;
mod credit;
mod deadlock;
mod digest;
mod event;
mod message;
mod network;
mod observer;
mod packet;
mod parameters;
mod port;
mod router;
mod statistics;
mod walk;
mod zero_load;

pub use deadlock::{Deadlock, Waiting};
pub use digest::Digest;
pub use network::ChannelKind;
pub use observer::{CompletedMessage, DeliveredPacket, Log, Observer};
pub use parameters::*;
pub use port::MOST_FLITS;
pub use statistics::{ChannelStatistics, STALLS, Stall};
pub use zero_load::zero_load_latency;

use crate::routing::{AdaptiveChannels, Routes};
use rand_chacha::ChaCha8Rng;

use crate::topology::Fabric;
use crate::traffic::{Script, Workload};
use crate::units::Picoseconds;
use adapter::Adapters;
use calendar::Calendar;
use credit::Credits;
use event::Event;
use network::Network;
use packet::Packets;
use port::{Input, Output, Router};
use statistics::Statistics;

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub events: u64,
    /// Flits of all messages that have entered a source queue.
    pub flits_created: u64,
    pub flits_delivered: u64,
    pub packets_delivered: u64,
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

/// One simulation.
pub struct Engine<'f, O> {
    fabric: &'f Fabric,
    routes: &'f Routes,
    parameters: Parameters,
    network: Network,
    calendar: Calendar<Event>,
    packets: Packets,
    outputs: Vec<Output>,
    /// For each output, the set of its router's (input port, virtual channel) pairs that ask for it.
    requests: Vec<u64>,
    request_words: usize,
    /// As `requests`, of packets that may leave by an escape channel; empty if routing is not adaptive.
    escapes: Vec<u64>,
    /// Outputs that packets have passed over in the present walk since they like others better.
    passed_over: Vec<u32>,
    /// The virtual channels of packets that choose their way.
    channels: AdaptiveChannels,
    /// Room that a new packet has to leave on the adaptive channel.
    injection_bubble: u32,
    /// The random numbers of each terminal's packets, if they get any.
    random: Vec<ChaCha8Rng>,
    inputs: Vec<Input>,
    credits: Credits,
    /// Flits that entering a ring needs beyond the packet.
    bubble: u32,
    routers: Vec<Router>,
    /// For each router, the set of its outputs that may be able to grant.
    dirty: Vec<u64>,
    output_words: usize,
    touched_routers: Vec<u32>,
    adapters: Adapters,
    workload: Workload,
    observer: O,
    statistics: Statistics,
    statistics_since: Picoseconds,
    digest: Digest,
    clock: Picoseconds,
    counters: Counters,
}

impl<'f, O: Observer> Engine<'f, O> {
    /// An empty network at time 0. The parameters must have been checked (a scenario's have): at
    /// least one injection and ejection channel, latencies of at least a flit time, buffers of two
    /// maximum packets, at most 65535 flits a packet.
    #[must_use]
    pub fn new(
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        mut workload: Workload,
        observer: O,
    ) -> Self {
        let network = Network::new(fabric, parameters);
        let calendar = calendar(parameters, &network);
        let rules = match routes {
            Routes::Adaptive(adaptive) => Some(*adaptive.rules()),
            Routes::DirectionOrder(_) | Routes::Table(_) => None,
        };
        let mut engine = Self {
            fabric,
            routes,
            calendar,
            packets: Packets::default(),
            outputs: port::outputs(&network, parameters),
            requests: vec![0; network.channels() * network.request_words()],
            request_words: network.request_words(),
            escapes: if rules.is_some() {
                vec![0; network.channels() * network.request_words()]
            } else {
                Vec::new()
            },
            inputs: port::inputs(&network),
            credits: Credits::new(network.channels()),
            passed_over: Vec::new(),
            channels: rules.map_or_else(AdaptiveChannels::default, |rules| rules.channels),
            injection_bubble: if rules.is_some_and(|rules| rules.injection_bubble) {
                parameters.maximum_packet()
            } else {
                0
            },
            random: adaptive::random(routes, fabric.terminals()),
            bubble: if parameters.bubble { parameters.maximum_packet() } else { 0 },
            routers: port::routers(&network),
            dirty: vec![0; network.routers() * network.output_words()],
            output_words: network.output_words(),
            touched_routers: Vec::new(),
            adapters: Adapters::new(fabric.terminals(), parameters.injection_channels),
            statistics: Statistics::new(network.channels()),
            statistics_since: 0,
            digest: Digest::default(),
            clock: 0,
            counters: Counters::default(),
            parameters: parameters.clone(),
            workload: Workload::Script(Script::default()),
            network,
            observer,
        };
        for terminal in fabric.live_terminals() {
            if let Some(time) = workload.first(terminal) {
                let event = Event::Create { terminal };
                engine.calendar.add(time + parameters.send_overhead, event);
            }
        }
        engine.workload = workload;
        engine
    }

    /// Simulates everything that happens up to and including `limit`. False if nothing is left that
    /// could happen later.
    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        while let Some(now) = self.calendar.advance(limit) {
            self.clock = now;
            self.fetch();
            while let Some(event) = self.calendar.next_at(now) {
                self.counters.events += 1;
                self.happen(event, now);
            }
            while let Some(router) = self.touched_routers.pop() {
                self.allocate(router, now);
            }
            while let Some(terminal) = self.adapters.touched.pop() {
                self.inject_all(terminal, now);
            }
        }
        let left = !self.calendar.is_empty();
        if left {
            self.clock = limit;
        }
        debug_assert!(self.credits_are_conserved());
        left
    }

    /// How far the simulation has come: the limit of the latest call, or the time of the last event
    /// once nothing is left.
    #[must_use]
    pub fn now(&self) -> Picoseconds {
        self.clock
    }

    /// The fingerprint of all grants so far.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Work done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Packets that are in the network or on their way to a sink.
    #[must_use]
    pub fn packets_under_way(&self) -> usize {
        self.packets.count()
    }

    /// Messages that are queued at their sources or under way.
    #[must_use]
    pub fn messages_under_way(&self) -> usize {
        self.adapters.messages()
    }

    /// The traffic, with its state.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Forgets what channels have carried so far; they count from now on.
    pub fn reset_channels(&mut self) {
        self.statistics.reset(&mut self.outputs, self.clock);
        self.statistics_since = self.clock;
    }

    /// What each channel has carried since the last reset, in the engine's order: by router, network
    /// then ejection channels; then injection channels.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelReport> {
        let time = (self.clock - self.statistics_since).max(1) as f64;
        (0..self.network.channels() as u32)
            .filter_map(|channel| {
                let kind = self.network.kind(self.fabric, channel)?;
                let output = &self.outputs[channel as usize];
                let statistics = self.statistics.channel(channel, output, self.clock);
                let flits: u64 = statistics.flits.iter().sum();
                let flit_time = self.network.timings[kind as usize].flit_time;
                Some(ChannelReport {
                    name: self.network.channel_name(self.fabric, channel),
                    kind,
                    utilisation: (flits * flit_time) as f64 / time,
                    stalled: statistics.stalled.map(|stalled| stalled as f64 / time),
                    statistics,
                })
            })
            .collect()
    }

    /// Bytes of the engine's arrays before traffic, and per packet under way.
    #[must_use]
    pub fn memory(&self) -> (usize, usize) {
        let network = self.outputs.len() * size_of::<Output>()
            + (self.requests.len() + self.escapes.len() + self.dirty.len()) * size_of::<u64>()
            + self.inputs.len() * size_of::<Input>()
            + self.random.len() * size_of::<ChaCha8Rng>()
            + self.routers.len() * size_of::<Router>()
            + self.credits.memory()
            + self.statistics.memory()
            + self.network.memory()
            + self.workload.memory()
            + self.adapters.memory();
        (network, Packets::BYTES)
    }

    /// Reads what the next events will need, so that the processor waits for several memory accesses at
    /// once and not for one after the other (8% at load 0.3 on an 8x8x8 torus).
    #[inline]
    fn fetch(&self) {
        let mut fetched = 0;
        for (_, event) in self.calendar.next_few() {
            if let Event::Ready { packet, input, output, .. } = *event {
                fetched ^= self.packets.packets[packet as usize].flits;
                fetched ^= self.inputs[input as usize].first_bit;
                fetched ^= self.outputs.get(output as usize).map_or(0, |output| output.asking);
            }
        }
        std::hint::black_box(fetched);
    }

    #[inline]
    fn happen(&mut self, event: Event, now: Picoseconds) {
        match event {
            Event::Ready { packet, input, output, virtual_channel } => {
                self.ready(packet, input, output, virtual_channel, now);
            }
            Event::Ask { input, virtual_channel } => self.next_asks(input, virtual_channel, now),
            Event::Wake { channel } => self.wake_up(channel, now),
            Event::Deliver { packet } => self.deliver(packet, now),
            Event::Create { terminal } => self.create(terminal, now),
            Event::Enqueue { message } => self.enqueue(message),
            Event::Sent { terminal } => self.sent(terminal, now),
            Event::Receive { terminal, tag } => self.receive(terminal, tag, now),
        }
    }
}

/// A calendar whose wheel covers the delays of a packet's move, in buckets of a few events: a
/// busy router has about one event a flit time.
fn calendar(parameters: &Parameters, network: &Network) -> Calendar<Event> {
    let slowest = network.flit_times[2];
    let packet = u64::from(parameters.maximum_packet()) * slowest;
    let longest = network.timings.iter().map(|timing| timing.forward.max(timing.back)).max();
    let horizon = longest.expect("three kinds") + parameters.routing_latency + packet;
    let fastest = network.flit_times[0];
    Calendar::new((16 * fastest / network.routers() as u64).clamp(1, fastest), horizon)
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
