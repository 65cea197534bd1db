//! The routers and terminals of a part, and what happens among them in a window.

use std::sync::Arc;

use super::active::Active;
use super::adaptive::Choosers;
use super::credits::Credits;
use super::mail::Mail;
use super::packet::Packets;
use super::ports::Ports;
use super::sink::Sink;
use super::source::{NO_TIME, Sources};
use super::statistics::Statistics;
use super::tick::{NEVER, Tick, tick};
use super::visit::Outbox;
use super::whole::Whole;
use super::{Counters, Digest, Interruption};
use crate::routing::{ForwardingTable, Routes};
use crate::traffic::Workload;
use crate::units::Picoseconds;

/// The stretch of time that is simulated at a go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    pub start: Tick,
    /// Nothing that happens at this time or later is looked at.
    pub end: Tick,
    /// What reaches a sink later than this is not counted yet.
    pub limit: Picoseconds,
}

/// All that is in a part. Routers, terminals, channels and buffers have the part's own numbers.
pub(super) struct Model<'f> {
    pub whole: Arc<Whole<'f>>,
    /// The part's number.
    pub part: usize,
    /// The table that packets go by, if routers look up their ways.
    pub table: Option<&'f ForwardingTable>,
    pub interruption: Option<&'f Interruption>,
    /// What ticks count from.
    pub epoch: Picoseconds,
    pub window: Window,
    pub active: Active,
    pub ports: Ports,
    pub credits: Credits,
    pub packets: Packets,
    pub sources: Sources,
    pub sink: Sink,
    pub statistics: Statistics,
    pub choosers: Option<Choosers<'f>>,
    pub outbox: Outbox,
    /// Whether a packet that is delivered may let a terminal send something within the window.
    pub hosts_answer: bool,
    pub digest: Digest,
    pub counters: Counters,
    /// What is to be sent to each part.
    pub mail: Vec<Mail>,
    /// When the latest thing happened: a packet that waits for an output that is free counts.
    pub latest: Picoseconds,
}

impl<'f> Model<'f> {
    /// An empty part at time 0.
    pub(super) fn new(whole: &Arc<Whole<'f>>, part: usize, workload: Workload) -> Self {
        let ports = Ports::new(whole, part);
        let choosers = match whole.routes {
            Routes::Adaptive(adaptive) => Some(Choosers::new(whole, part, &ports, adaptive)),
            _ => None,
        };
        let routers = ports.routers.len();
        let channels = ports.outputs + whole.injections_of_part(part);
        let hosts_answer = workload.wants_receipts() || workload.kinds().1;
        let mut model = Self {
            outbox: Outbox::default(),
            hosts_answer,
            part,
            table: match whole.routes {
                Routes::Forwarding(table) => Some(table),
                _ => None,
            },
            interruption: None,
            epoch: 0,
            window: Window::default(),
            active: Active::new(routers),
            sources: Sources::new(whole, part, &ports, workload),
            sink: Sink::new(whole.cut.parts()),
            statistics: Statistics::new(ports.outputs, channels, whole.lanes.count()),
            credits: Credits::new(ports.rooms(whole)),
            packets: Packets::new(whole.rest),
            ports,
            choosers,
            digest: Digest::default(),
            counters: Counters::default(),
            mail: (0..whole.cut.parts()).map(|_| Mail::default()).collect(),
            whole: Arc::clone(whole),
            latest: 0,
        };
        for terminal in 0..model.sources.adapters.len() as u32 {
            model.begin(terminal);
        }
        model
    }

    /// The time of a tick.
    #[inline]
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.epoch + Picoseconds::from(tick)
    }

    /// Whether anything is left that could happen later. An output may be looked at once more after everything has
    /// been delivered; that is not counted.
    pub(super) fn has_work(&self) -> bool {
        let has_events = self.active.earliest() != NEVER;
        let waits = self.sources.adapters.iter().any(|adapter| adapter.queue.flits > 0);
        let idle = self.packets.count() == 0 && !waits && self.first_errand() == NO_TIME;
        self.latest > self.window.limit || !self.sink.late.is_empty() || has_events && !idle
    }

    /// When the latest thing happened, if nothing is left that could: packets that are still there have all arrived.
    pub(super) fn latest(&self) -> Picoseconds {
        let buffers = 0..if self.packets.count() > 0 { self.ports.queues.len() as u32 } else { 0 };
        let packets = buffers.flat_map(|buffer| self.packets_in(buffer));
        let ready = packets.map(|slot| self.time(self.packets.packets[slot as usize].ready));
        ready.max().unwrap_or(0).max(self.latest)
    }

    /// Moves the epoch on to `epoch`, before which nothing is left to happen.
    pub(super) fn rebase(&mut self, epoch: Picoseconds) {
        let by = tick(epoch, self.epoch);
        self.settle_stalls(by);
        self.ports.rebase(by);
        self.credits.rebase(by);
        self.packets.rebase(by);
        self.sources.rebase(by);
        self.active.rebase(by);
        if let Some(choosers) = &mut self.choosers {
            choosers.rebase(by);
        }
        self.epoch = epoch;
        for terminal in 0..self.sources.adapters.len() as u32 {
            let due = self.terminal_due(terminal);
            self.sources.due[terminal as usize] = due;
            if due != NEVER {
                self.active.lower(self.sources.adapters[terminal as usize].router, due);
            }
        }
    }

    /// Bytes of the part's arrays before traffic.
    pub(super) fn memory(&self) -> usize {
        self.ports.memory()
            + self.credits.memory()
            + self.sources.memory()
            + self.statistics.memory()
            + self.choosers.as_ref().map_or(0, Choosers::memory)
    }
}
