//! A part of the network: the state of its routers and terminals.
//!
//! The [`Engine`](super::Engine) owns the parts. The frame runs each of them as a
//! [`SimulatedPart`], on a thread of its own.

use std::sync::Arc;

use super::adaptive::AdaptiveState;
use super::collective::ReductionUnits;
use super::credits::Credits;
use super::exchange::Outgoing;
use super::flit::FlitRouters;
use super::frame::{Schedule, SimulatedPart};
use super::link::Links;
use super::network_context::NetworkContext;
use super::next_hop::Routing;
use super::packet::Packets;
use super::ports::Ports;
use super::router_view::Outbox;
use super::sink::Sink;
use super::source::Sources;
use super::statistics::Statistics;
use super::tick::{FAR, NEVER, NO_TIME, Tick};
use super::trace::Trace;
use super::{Counters, Digest, Interruption, Observer};
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_workload::traffic::Workload;

/// Approximate size of a processor's second-level cache, in bytes.
const NEAR_MEMORY: usize = 2 << 20;

/// All state of a part. Routers, terminals, channels and buffers have the part's own numbers.
pub(super) struct Part<'f> {
    pub context: Arc<NetworkContext<'f>>,
    pub schedule: Schedule,
    pub routing: Routing<'f>,
    pub interruption: Option<&'f Interruption>,
    pub ports: Ports,
    pub credits: Credits,
    /// The routers' state with links shared flit by flit, instead of buffers and credits for
    /// packets.
    pub flits: Option<Box<FlitRouters>>,
    pub packets: Packets,
    pub workload: Workload,
    pub sources: Sources,
    pub sink: Sink,
    pub statistics: Statistics,
    /// The routers' state for packets that choose among outputs, if any do.
    pub adaptive_state: Option<AdaptiveState>,
    /// The routers' reduction units, if there are collective operations.
    pub reduction_units: Option<ReductionUnits>,
    /// The state of links that send again, if links err.
    pub links: Option<Links>,
    /// Whether routing is adaptive, or routers combine and replicate packets, or links err.
    pub special: bool,
    pub outbox: Outbox,
    /// Whether a delivered packet may let a terminal send something within the window.
    pub hosts_answer: bool,
    pub digest: Digest,
    pub trace: Option<Box<Trace>>,
    pub counters: Counters,
    /// Whether its state is larger than the processor's nearer caches.
    pub is_large: bool,
    /// By part: the data for it.
    pub outgoing: Vec<Outgoing>,
    /// Time of the latest event. A packet that waits for a free output counts as one.
    pub latest: Picoseconds,
}

impl<'f> Part<'f> {
    /// An empty part at time 0.
    pub(super) fn new(
        context: &Arc<NetworkContext<'f>>,
        part: usize,
        workload: Workload,
        interruption: Option<&'f Interruption>,
    ) -> Self {
        let mut ports = Ports::new(context, part);
        let routing = Routing::new(context, part);
        let adaptive_state = AdaptiveState::new(&routing, &ports);
        let routers = ports.routers.len();
        let own = context.terminals_of_part(part).len();
        let reduction_units =
            context.trees.as_ref().map(|trees| ReductionUnits::new(trees, routers, own));
        let links = Links::new(context, part, &ports);
        let channels = ports.outputs + context.injections_of_part(part);
        let flits = FlitRouters::new(context, part, &ports, workload.kinds()).map(Box::new);
        let mut rooms = Vec::new();
        if flits.is_some() {
            // The flit-by-flit routers have queues and credits of their own.
            ports.queues = Vec::new();
        } else {
            rooms = ports.rooms(context);
        }
        let hosts_answer = workload.wants_receipts() || workload.kinds().1;
        let mut part = Self {
            outbox: Outbox::default(),
            hosts_answer,
            schedule: Schedule::new(part, routers),
            interruption,
            sources: Sources::new(context, part, &ports, workload.wants_waits()),
            workload,
            sink: Sink::new(context.cut.parts()),
            statistics: Statistics::new(ports.outputs, channels, context.vc_map.count()),
            credits: Credits::new(rooms),
            packets: Packets::new(routing.words()),
            flits,
            ports,
            routing,
            special: adaptive_state.is_some() || reduction_units.is_some() || links.is_some(),
            adaptive_state,
            reduction_units,
            links,
            digest: Digest::default(),
            trace: None,
            counters: Counters::default(),
            outgoing: (0..context.cut.parts()).map(|_| Outgoing::default()).collect(),
            context: Arc::clone(context),
            latest: Picoseconds::ZERO,
            is_large: false,
        };
        for terminal in 0..fitted!(part.sources.adapters.len(), u32) {
            part.begin(terminal);
        }
        part
    }

    /// The time of a tick.
    #[inline]
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.schedule.time(tick)
    }

    /// Time of the latest event, once none is left that could happen: all packets that are still
    /// there have arrived.
    pub(super) fn latest(&self) -> Picoseconds {
        let latest = self.latest.max(self.workload.latest());
        if self.flits.is_some() {
            return latest;
        }
        let buffers =
            0..if self.packets.count > 0 { fitted!(self.ports.queues.len(), u32) } else { 0 };
        let packets = buffers.flat_map(|buffer| self.packets_in(buffer));
        let ready = packets.map(|slot| self.time(self.packets.packets[slot as usize].ready));
        ready.max().unwrap_or(Picoseconds::ZERO).max(latest)
    }

    /// Bytes of the part's arrays before traffic.
    pub(super) fn memory(&self) -> usize {
        self.ports.memory()
            + self.credits.memory()
            + self.sources.memory()
            + self.workload.memory()
            + self.statistics.memory()
            + self.routing.memory()
            + self.adaptive_state.as_ref().map_or(0, AdaptiveState::memory)
            + self.reduction_units.as_ref().map_or(0, ReductionUnits::memory)
            + self.links.as_ref().map_or(0, Links::memory)
            + self.flits.as_ref().map_or(0, |flits| flits.memory())
    }
}

impl SimulatedPart for Part<'_> {
    type Outgoing = Outgoing;

    #[inline]
    fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    #[inline]
    fn is_large(&self) -> bool {
        self.is_large
    }

    #[inline]
    fn prefetch(&self, router: u32, stage: Stage) {
        if let Some(flits) = &self.flits {
            return flits.prefetch((&self.ports, &self.packets), router, stage);
        }
        match stage {
            Stage::Far => self.prefetch_router(router),
            Stage::Near => self.prefetch_ports(router),
            Stage::Next => self.prefetch_heads(router),
            Stage::Last if self.hosts_answer => self.prefetch_host(router, stage),
            Stage::Last => (),
        }
    }

    #[inline]
    fn visit(&mut self, router: u32) -> Tick {
        self.visit_router(router)
    }

    fn deliver(&mut self) {
        self.send_out();
    }

    fn outgoing(&mut self) -> &mut [Outgoing] {
        &mut self.outgoing
    }

    fn take_incoming(&mut self, from: usize, incoming: &mut Outgoing) {
        self.unpack(from, incoming);
    }

    fn begin_run(&mut self) {
        let packets = self.packets.count * self.packets.bytes();
        self.is_large = self.memory() + packets > NEAR_MEMORY;
        self.deliver_late();
    }

    fn end_run(&mut self) {
        self.complete_postponed();
    }

    fn rebase(&mut self, epoch: Picoseconds) {
        // A flit that has arrived asks a routing latency later, so its time of arrival is still
        // needed.
        let before = if self.flits.is_some() { self.context.routing } else { 0 };
        let epoch = epoch - Picoseconds::from(before);
        let by = self.schedule.tick(epoch);
        self.settle_stalls(by);
        self.ports.rebase(by);
        self.credits.rebase(by);
        self.packets.rebase(by);
        self.sources.rebase(by);
        self.schedule.active.rebase(by);
        if let Some(adaptive_state) = &mut self.adaptive_state {
            adaptive_state.rebase(by);
        }
        if let Some(reduction_units) = &mut self.reduction_units {
            reduction_units.rebase(by);
        }
        if let Some(links) = &mut self.links {
            links.rebase(by);
        }
        if let Some(flits) = &mut self.flits {
            flits.state.rebase(by);
        }
        self.schedule.epoch = epoch;
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            let due = self.terminal_due(terminal);
            self.sources.due[terminal as usize] = due;
            if due != NEVER {
                self.schedule.active.lower(self.sources.adapters[terminal as usize].router, due);
            }
        }
    }

    fn next_beyond_epoch(&self) -> Picoseconds {
        self.first_host_event()
    }

    fn at_barrier(&self) -> Picoseconds {
        self.workload.at_barrier().unwrap_or(NO_TIME)
    }

    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        self.release_barrier(latest)
    }

    fn flush_observations(&mut self, observer: &mut impl Observer) {
        for packet in self.sink.delivered.drain(..) {
            observer.packet_delivered(&packet);
        }
        for message in self.sink.completed.drain(..) {
            observer.message_completed(&message);
        }
    }

    // An output may be tried once more after everything has been delivered; that is not counted.
    fn has_work(&self) -> bool {
        let has_events = match self.schedule.active.earliest() {
            NEVER => false,
            // A host with a later event may have handled it since.
            FAR => self.first_host_event() != NO_TIME,
            _ => true,
        };
        let waits = || self.sources.adapters.iter().any(|adapter| adapter.queue.flits > 0);
        // Flits may be left here of a packet whose header is in another part.
        let sends = self.flits.is_some() || self.packets.count > 0;
        let busy = || sends || waits() || self.first_host_event() != NO_TIME;
        self.latest > self.schedule.window.limit
            || !self.sink.late.is_empty()
            || has_events && busy()
    }
}
