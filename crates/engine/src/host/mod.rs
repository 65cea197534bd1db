//! The hosts of a part: its terminals as sources and as sinks, and their share of the workload.
//!
//! [`Hosts`] know neither routers nor channels: they make packets, and take those that are
//! delivered. The part brings both together ([`Part`](crate::part::Part)).

mod collective;
mod create;
mod deliver;
mod needs;
mod packets;
pub(crate) mod sink;
pub(crate) mod source;
#[cfg(test)]
mod tests;

pub(crate) use packets::{NewPacket, PacketOfMessage};

use crate::common::Common;
use crate::frame::tick::{NO_TIME, Tick};
use crate::network::context::NetworkContext;
use crate::network::ports::Ports;
use crate::packet::message::Arrival;
use crate::packet::{Delivery, PacketCrossing};
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::workload::Workload;
use needs::HostNeeds;
use sink::Sink;
use source::Sources;

/// The state of a part's terminals.
pub(crate) struct Hosts {
    pub workload: Box<dyn Workload>,
    /// Whether terminals may go ahead of their routers: nothing that is delivered changes what they
    /// send.
    pub go_ahead: bool,
    /// What the workloads want to be told.
    needs: HostNeeds,
    pub sources: Sources,
    pub sink: Sink,
    /// By part: what the hosts have for those of that part.
    pub outgoing: Vec<HostMessages>,
}

/// What the hosts of one part send those of another. All numbers are the receiver's.
#[derive(Debug, Default)]
pub(crate) struct HostMessages {
    /// Packets that a failed channel has swallowed, and the time: the part of their destination
    /// counts their messages.
    pub lost: Vec<(PacketCrossing, Picoseconds)>,
    /// Messages whose first packet is under way, under the numbers that the sender has given them.
    pub arrivals: Vec<(u32, Arrival)>,
    /// The receiver's own numbers of messages that have arrived.
    pub arrived: Vec<u32>,
}

impl Hosts {
    /// Idle hosts, which have been asked for their first messages.
    pub(crate) fn new(common: &mut Common<'_>, ports: &Ports, workload: Box<dyn Workload>) -> Self {
        let context: &NetworkContext<'_> = &common.context;
        let (part, parts) = (common.schedule.part, context.cut.parts());
        let needs = HostNeeds::new(&*workload);
        let go_ahead = workload.is_open() && !common.to_hosts.hosts_answer;
        let mut hosts = Self {
            go_ahead,
            sources: Sources::new(context, part, ports, needs.any.waits),
            sink: Sink::new(parts),
            workload,
            needs,
            outgoing: (0..parts).map(|_| HostMessages::default()).collect(),
        };
        for terminal in 0..hosts.terminals() {
            hosts.begin(common, terminal);
        }
        hosts
    }

    /// Number of terminals.
    pub(crate) fn terminals(&self) -> u32 {
        fitted!(self.sources.adapters.len(), u32)
    }

    /// Bytes of the arrays before traffic.
    pub(crate) fn memory(&self) -> usize {
        self.sources.memory() + self.workload.memory()
    }

    /// Takes in what the hosts of another part have sent.
    pub(crate) fn take_incoming(
        &mut self,
        common: &mut Common<'_>,
        from: usize,
        incoming: &mut HostMessages,
    ) {
        for (number, arrival) in incoming.arrivals.drain(..) {
            self.sink.expect(from, number, arrival);
        }
        for number in incoming.arrived.drain(..) {
            self.sink.forget(from, number);
        }
        for (crossing, time) in incoming.lost.drain(..) {
            let slot = common.packets.take_in(&crossing);
            self.deliver_all(common, [Delivery { time, slot, terminal: NONE, vc: 0 }]);
        }
    }

    /// Moves all ticks back, after the epoch has advanced by `by`.
    pub(crate) fn rebase(&mut self, common: &mut Common<'_>, by: Tick) {
        self.sources.rebase(by);
        for terminal in 0..self.terminals() {
            let due = self.terminal_due(common, terminal);
            self.sources.due[terminal as usize] = due;
            let router = self.sources.adapters[terminal as usize].router;
            common.schedule.active.lower(router, due);
        }
    }

    /// Whether terminals may create messages of a class, or workloads are still to be told of some.
    pub(crate) fn have_events_of(&self, class: u8) -> bool {
        let adapters = &self.sources.adapters;
        let creates_more = if self.workload.by_class().is_empty() {
            adapters.iter().any(|adapter| adapter.create_at != NO_TIME)
        } else {
            self.workload.creates_more(class)
        };
        let is_of_class = |tag| self.workload.class_of_tag(tag) == class;
        let mut tags = adapters.iter().flat_map(|it| self.sink.tags_from(it.host_events));
        creates_more || tags.any(is_of_class)
    }

    /// The messages of a class that its terminals have created, and those that have ended here:
    /// completed or lost.
    pub(crate) fn messages(&self, class: u8) -> (u64, u64) {
        let Sources { messages_created, messages_lost, .. } = &self.sources;
        (messages_created[class], self.sink.messages_completed[class] + messages_lost[class])
    }

    /// The flits of a class that its terminals have created, and those that have ended here:
    /// delivered or lost.
    pub(crate) fn flits(&self, class: u8) -> (u64, u64) {
        (self.sources.flits_created[class], self.sink.flits_ended[class])
    }

    /// Whether packets wait in source queues, or hosts have events.
    pub(crate) fn have_work(&self) -> bool {
        self.sources.adapters.iter().any(|adapter| adapter.queue.flits > 0)
            || self.first_host_event() != NO_TIME
    }

    /// Prefetches the state of a router's first host, whose number is `terminal`.
    #[inline(never)]
    pub(crate) fn prefetch(&self, common: &Common<'_>, terminal: u32, stage: Stage) {
        if let Some(adapter) = self.sources.adapters.get(terminal as usize)
            // A message that only arrives changes little at its host.
            && (stage != Stage::Last
                || self.sources.due[terminal as usize] < common.schedule.window.end)
        {
            self.workload.prefetch(adapter.name, stage);
        }
    }
}
