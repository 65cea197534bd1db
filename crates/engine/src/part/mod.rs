//! A part of the network: the hosts of a range of routers, and routers of one kind.
//!
//! The [`Engine`](crate::Engine) owns the parts. The frame runs each of them as a
//! [`SimulatedPart`], on a thread of its own.

mod channels;
mod failure;

use std::sync::{Arc, OnceLock};

use crate::common::{Common, Published, ToHosts};
use crate::counters::Counters;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::{FAR, NEVER, NO_TIME, Tick};
use crate::frame::{Schedule, SimulatedPart};
use crate::host::{HostMessages, Hosts};
use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::network::ports::Ports;
use crate::next_hop::Routing;
use crate::observer::Observer;
use crate::packet::Packets;
use crate::router::Routers;
use crate::statistics::Statistics;
use flitlab_base::prefetch::{Stage, prefetch};
use flitlab_base::units::Picoseconds;
use flitlab_model::workload::Workload;
use flitlab_model::{Digest, MAX_WAIT};

/// Approximate size of a processor's second-level cache, in bytes.
const NEAR_MEMORY: usize = 2 << 20;

/// All state of a part. Routers, terminals, channels and buffers have the part's own numbers.
pub(crate) struct Part<'f, R> {
    pub common: Common<'f>,
    pub hosts: Hosts,
    pub routers: R,
    /// What never changes of its channels; made when it is asked for.
    channels: OnceLock<channels::ChannelLists>,
}

/// What the hosts and the routers of one part send those of another. Messages between hosts have no
/// effect by themselves.
impl<M: HasEarliest> HasEarliest for (HostMessages, M) {
    fn earliest(&self) -> Tick {
        self.1.earliest()
    }
}

impl<'f, R: Routers> Part<'f, R> {
    /// An empty part at time 0; `own` are the parameters of its kind of routers.
    pub(crate) fn new(
        context: &Arc<NetworkContext<'f>>,
        part: usize,
        own: &R::Own,
        workload: Box<dyn Workload>,
        interruption: Option<&'f Interruption>,
    ) -> Self {
        let ports = Ports::new(context, part);
        let routing = Routing::new(context, part);
        let channels = ports.outputs + context.injections_of_part(part);
        let hosts_answer = workload.needs().receipts || workload.kinds().1;
        let mut common = Common {
            schedule: Schedule::new(part, ports.routers.len()),
            interruption,
            statistics: Statistics::new(
                ports.outputs,
                channels,
                context.vc_map.count(),
                context.parameters.classes.len().max(1),
            ),
            packets: Packets::new(routing.words()),
            routing,
            to_hosts: ToHosts { hosts_answer, ..ToHosts::default() },
            digest: Digest::default(),
            trace: (context.parameters.classes.len() > 1).then(Box::default),
            counters: Counters::default(),
            latest: Picoseconds::ZERO,
            published: Published::default(),
            is_large: false,
            context: Arc::clone(context),
        };
        let hosts = Hosts::new(&mut common, &ports, workload);
        let routers = R::new(&common, ports, own);
        Self { common, hosts, routers, channels: OnceLock::new() }
    }

    /// Time of the latest event, once none is left that could happen: all packets that are still
    /// there have arrived.
    pub(crate) fn latest(&self) -> Picoseconds {
        let arrived = self.routers.latest_arrival(&self.common);
        self.common.latest.max(self.hosts.workload.latest()).max(arrived)
    }

    /// Bytes of the part's arrays before traffic.
    pub(crate) fn memory(&self) -> usize {
        self.hosts.memory()
            + self.common.statistics.memory()
            + self.common.routing.memory()
            + self.routers.memory()
    }

    /// Handles what is due at a terminal: at its host, then at its injection channels, in order.
    #[inline(never)]
    fn serve_terminal(&mut self, terminal: u32, now: Tick) {
        let Self { common, hosts, routers, .. } = self;
        hosts.run_due(common, terminal, now);
        let mut due = hosts.injections_due(common, terminal);
        if due <= now {
            for injection in hosts.injections_of(common, terminal) {
                if hosts.sources.injections[injection as usize].due <= now {
                    let due = routers.inject(common, hosts, (injection, terminal), now, false);
                    hosts.sources.injections[injection as usize].due = due.unwrap_or(NEVER);
                }
            }
            due = hosts.injections_due(common, terminal);
        }
        // The host comes last, since an injected message may let it go on.
        due = due.min(hosts.host_due(common, terminal));
        debug_assert!(due > now && due == hosts.terminal_due(common, terminal));
        hosts.sources.due[terminal as usize] = due;
    }

    /// Lets a terminal go ahead of its router to the end of the window. It creates all messages
    /// and, as long as it is certain which packets have room, sends them.
    #[inline(never)]
    fn run_ahead(&mut self, terminal: u32) {
        let Self { common, hosts, routers, .. } = self;
        let end = common.schedule.window.end;
        // Packets are numbered in the order in which they are sent, by whichever channel. So none
        // is sent ahead while a channel waits for credits of an unknown time.
        let is_idle = hosts.sources.adapters[terminal as usize].queue.flits == 0;
        let mut sends = !hosts.sources.paused && (is_idle || !hosts.is_blocked(common, terminal));
        let injections = hosts.injections_of(common, terminal);
        let due = |hosts: &Hosts, common: &Common<'_>, sends: bool| {
            if sends { hosts.injections_due(common, terminal) } else { NEVER }
        };
        let mut create = hosts.host_due(common, terminal);
        let mut inject = due(hosts, common, sends && !is_idle);
        while create.min(inject) < end {
            if create <= inject {
                let (now, time) = (create, common.time(create));
                let message = hosts.next_message(common, terminal, time);
                create = hosts.host_due(common, terminal);
                let Some((channel, role, message)) = message else { continue };
                // Of several packets of an instant that of the first channel goes first.
                let is_alone = now < inject && now < create;
                let place = (terminal, channel);
                if !(sends && is_alone && routers.send_at_once(common, hosts, place, &message, now))
                {
                    hosts.enqueue(common, terminal, channel, role, message);
                    inject = due(hosts, common, sends);
                }
                continue;
            }
            for injection in injections.clone() {
                if hosts.sources.injections[injection as usize].due > inject {
                    continue;
                }
                let due = routers.inject(common, hosts, (injection, terminal), inject, true);
                sends = due.is_some();
                let Some(due) = due else { break };
                hosts.sources.injections[injection as usize].due = due;
            }
            inject = due(hosts, common, sends);
        }
        hosts.sources.due[terminal as usize] =
            create.min(if sends { inject } else { hosts.injections_due(common, terminal) });
    }

    /// Simulates a router and its terminals until the end of the window. Returns a lower bound of the
    /// time of its next event.
    pub(crate) fn visit(&mut self, number: u32) -> Tick {
        let router = &self.routers.ports().routers[number as usize];
        let terminals = router.first_terminal..router.first_terminal + u32::from(router.terminals);
        let end = self.common.schedule.window.end;
        let goes_ahead = R::HOSTS_GO_AHEAD && self.hosts.go_ahead;
        if goes_ahead {
            for terminal in terminals.clone() {
                if self.hosts.sources.due[terminal as usize] < end {
                    self.run_ahead(terminal);
                }
            }
        }
        // The router's terminals do not change the time of its next event: a packet of theirs is
        // among the arrivals.
        let mut next = if goes_ahead { NEVER } else { self.routers.next_event(number) };
        let mut at_terminals = self.hosts.sources.first_due(&terminals);
        // Where terminals have gone ahead, the router is what is left.
        let mut has_arrivals = goes_ahead || self.routers.has_arrivals(number);
        loop {
            let until = at_terminals.min(end);
            if next < until || has_arrivals {
                next = self.routers.run(&mut self.common, number, until);
                has_arrivals = false;
                if self.common.to_hosts.is_urgent() {
                    self.handle_own_effects();
                    at_terminals = self.hosts.sources.first_due(&terminals);
                    continue;
                }
            }
            if at_terminals.min(next) >= end {
                return at_terminals.min(next);
            }
            if at_terminals < end && at_terminals <= next {
                for terminal in terminals.clone() {
                    if self.hosts.sources.due[terminal as usize] == at_terminals {
                        self.serve_terminal(terminal, at_terminals);
                        if goes_ahead && self.hosts.sources.due[terminal as usize] < end {
                            self.run_ahead(terminal);
                        }
                    }
                }
                at_terminals = self.hosts.sources.first_due(&terminals);
                has_arrivals = self.routers.has_arrivals(number);
                // A response that leaves lets a request be ejected.
                let bounds_responses = self.common.context.parameters.responder_resources.is_some();
                if R::QUEUES_AT_ONCE || bounds_responses && !goes_ahead {
                    next = self.routers.next_event(number);
                }
            }
        }
    }

    /// Handles the effects of a router's packets on what its own terminals send.
    #[inline(never)]
    fn handle_own_effects(&mut self) {
        let Self { common, hosts, routers, .. } = self;
        if common.to_hosts.hosts_answer {
            let mut deliveries = std::mem::take(&mut common.to_hosts.deliveries);
            hosts.deliver_all(common, deliveries.drain(..));
            common.to_hosts.deliveries = deliveries;
        }
        while let Some((injection, time)) = common.to_hosts.fed.pop() {
            hosts.credits_arrive(common, (injection, routers.has_begun(injection)), time);
        }
    }
}

impl<R: Routers> SimulatedPart for Part<'_, R> {
    type Outgoing = (HostMessages, R::Messages);

    fn schedule(&mut self) -> &mut Schedule {
        &mut self.common.schedule
    }

    fn is_large(&self) -> bool {
        self.common.is_large
    }

    #[inline]
    fn prefetch(&self, router: u32, stage: Stage) {
        self.routers.prefetch(&self.common, router, stage);
        let terminal = self.routers.ports().routers[router as usize].first_terminal;
        let answer = self.common.to_hosts.hosts_answer;
        match stage {
            Stage::Far => (),
            Stage::Near => {
                let sources = &self.hosts.sources;
                sources.due.get(terminal as usize).into_iter().for_each(prefetch);
                if answer {
                    sources.adapters.get(terminal as usize).into_iter().for_each(prefetch);
                }
            }
            Stage::Next | Stage::Last if answer => {
                self.hosts.prefetch(&self.common, terminal, stage);
            }
            Stage::Next | Stage::Last => (),
        }
    }

    fn visit(&mut self, router: u32) -> Tick {
        R::visit(self, router)
    }

    fn deliver(&mut self) {
        self.routers.deliver(&mut self.common);
    }

    fn swap_outgoing(&mut self, to: usize, empty: &mut Self::Outgoing) {
        std::mem::swap(&mut self.hosts.outgoing[to], &mut empty.0);
        self.routers.swap_outgoing(to, &mut empty.1);
    }

    fn take_incoming(&mut self, from: usize, incoming: &mut Self::Outgoing) {
        self.hosts.take_incoming(&mut self.common, from, &mut incoming.0);
        self.routers.take_incoming(&mut self.common, &mut incoming.1);
    }

    fn age(&self) -> Option<Picoseconds> {
        self.common.context.far.as_ref().map(|far| far.age)
    }

    fn publish(&mut self, at: Picoseconds) {
        let Self { common, routers, .. } = self;
        if common.published.at == Some(at) {
            return;
        }
        let context = Arc::clone(&common.context);
        let mut flits = std::mem::take(&mut common.published.flits);
        flits.clear();
        let before = common.schedule.tick(at);
        for (number, name) in (0..).zip(context.cut.routers(common.schedule.part)) {
            let channels = context.fabric.outputs(name);
            for (output, channel) in channels.enumerate() {
                if context.fabric.target(channel).is_some() {
                    flits.push((channel, routers.flits_out(common, (number, output), before)));
                }
            }
        }
        common.published = Published { at: Some(at), flits };
        common.show_published();
    }

    fn begin_run(&mut self) {
        // In a run that was resumed nobody has seen it yet.
        self.common.show_published();
        let packets = self.common.packets.count * self.common.packets.bytes();
        self.common.is_large = self.memory() + packets > NEAR_MEMORY;
        self.hosts.deliver_late(&mut self.common);
    }

    fn end_run(&mut self) {
        self.hosts.complete_postponed(&mut self.common);
    }

    fn rebase(&mut self, epoch: Picoseconds) {
        let Self { common, hosts, routers, .. } = self;
        let epoch = epoch - R::past_needed(&common.context).max(MAX_WAIT);
        let by = common.schedule.tick(epoch);
        routers.settle_stalls(common, by);
        routers.rebase(by);
        common.packets.rebase(by);
        common.schedule.active.rebase(by);
        common.schedule.epoch = epoch;
        hosts.rebase(common, by);
    }

    fn next_beyond_epoch(&self) -> Picoseconds {
        self.hosts.first_host_event()
    }

    fn at_barrier(&self) -> Picoseconds {
        self.hosts.workload.at_barrier().unwrap_or(NO_TIME)
    }

    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        self.hosts.release_barrier(&mut self.common, latest)
    }

    fn flush_observations(&mut self, observer: &mut impl Observer) {
        let Self { common, hosts, .. } = self;
        for packet in hosts.sink.log.packets.drain(..) {
            observer.packet_delivered(&packet);
        }
        for message in hosts.sink.log.messages.drain(..) {
            observer.message_completed(&message);
        }
        // Those that change nothing within the window.
        let mut deliveries = std::mem::take(&mut common.to_hosts.deliveries);
        for delivery in deliveries.drain(..) {
            hosts.deliver(common, observer, delivery);
        }
        common.to_hosts.deliveries = deliveries;
    }

    // An output may be tried once more after everything has been delivered; that is not counted.
    fn has_work(&self) -> bool {
        let schedule = &self.common.schedule;
        let has_events = match schedule.active.earliest() {
            NEVER => false,
            // A host with a later event may have handled it since.
            FAR => self.hosts.first_host_event() != NO_TIME,
            _ => true,
        };
        let busy = || self.routers.may_hold_flits(&self.common) || self.hosts.have_work();
        self.common.latest > schedule.window.limit
            || !self.hosts.sink.late.is_empty()
            || has_events && busy()
    }
}
