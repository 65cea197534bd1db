//! Messages that hosts create: they enter source queues, and leave them if they are lost
//! (docs/model.md, "Adapter").

use std::ops::Range;

use super::Hosts;
use super::source::{self, Adapter, SourceQueue};
use crate::common::Common;
use crate::frame::tick::{NEVER, NO_TIME, Tick};
use crate::network::context::NetworkContext;
use crate::packet::message::{Note, Packing, Queued, Role};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::InjectionChoice;
use flitlab_model::workload::{Message, MessageKind, Wake};

impl Hosts {
    /// Asks the workload for the first messages of a terminal.
    pub(crate) fn begin(&mut self, common: &mut Common<'_>, terminal: u32) {
        let name = self.sources.adapters[terminal as usize].name;
        if let Some(time) = self.workload.first(name) {
            self.create_at(common, terminal, time);
        }
    }

    /// Lets a terminal create messages at `time`. They enter their queues after the send overhead.
    pub(crate) fn create_at(&mut self, common: &mut Common<'_>, terminal: u32, time: Picoseconds) {
        let time = time + common.context.parameters.send_overhead;
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = adapter.create_at.min(time);
        self.lower_terminal(common, terminal, common.schedule.tick(time));
    }

    /// Makes a terminal due by `due`.
    #[inline]
    pub(crate) fn lower_terminal(&mut self, common: &mut Common<'_>, terminal: u32, due: Tick) {
        let present = &mut self.sources.due[terminal as usize];
        *present = (*present).min(due);
        common.schedule.active.lower(self.sources.adapters[terminal as usize].router, due);
    }

    /// The time of the next event at a terminal.
    #[inline]
    pub(crate) fn terminal_due(&self, common: &Common<'_>, terminal: u32) -> Tick {
        self.host_due(common, terminal).min(self.injections_due(common, terminal))
    }

    /// The time at which the first of a terminal's injection channels is served next.
    #[inline]
    pub(crate) fn injections_due(&self, common: &Common<'_>, terminal: u32) -> Tick {
        let Range { start, end } = self.injections_of(common, terminal);
        let injections = &self.sources.injections[start as usize..end as usize];
        injections.iter().fold(NEVER, |due, injection| due.min(injection.due))
    }

    /// The time of the next event at a terminal's host.
    #[inline]
    pub(crate) fn host_due(&self, common: &Common<'_>, terminal: u32) -> Tick {
        match self.next_at_host(&self.sources.adapters[terminal as usize]) {
            NO_TIME => NEVER,
            time => common.schedule.tick(time),
        }
    }

    /// The numbers of a terminal's injection channels.
    #[inline]
    pub(crate) fn injections_of(&self, common: &Common<'_>, terminal: u32) -> Range<u32> {
        let channels = common.context.parameters.injection_channels;
        terminal * channels..(terminal + 1) * channels
    }

    /// Whether some injection channel of a terminal has packets and waits for credits, and it is not
    /// known when it sends next.
    #[inline]
    pub(crate) fn is_blocked(&self, common: &Common<'_>, terminal: u32) -> bool {
        let Range { start, end } = self.injections_of(common, terminal);
        let injections = &self.sources.injections[start as usize..end as usize];
        injections.iter().any(|it| it.is_uncertain(it.due))
    }

    /// Handles what is due at a terminal's host: events, or a message to be created.
    #[inline]
    pub(crate) fn run_due(&mut self, common: &mut Common<'_>, terminal: u32, now: Tick) {
        let time = common.time(now);
        let adapter = &self.sources.adapters[terminal as usize];
        if adapter.host_events != NONE {
            self.run_host_events(common, terminal, time);
        } else {
            while self.sources.adapters[terminal as usize].create_at == time {
                self.create(common, terminal, time);
            }
        }
    }

    /// Creates a terminal's message, if it has one to create now. The send overhead has passed.
    #[inline]
    pub(crate) fn create(&mut self, common: &mut Common<'_>, terminal: u32, now: Picoseconds) {
        if let Some((channel, role, message)) = self.next_message(common, terminal, now) {
            self.enqueue(common, terminal, channel, role, message);
        }
    }

    /// Takes the next message of a terminal, if it has one to create now that enters a source queue;
    /// its injection channel and its role come with it.
    // So the message stays in registers.
    #[inline(always)]
    pub(crate) fn next_message(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        now: Picoseconds,
    ) -> Option<(u8, Role, Queued)> {
        let overhead = common.context.parameters.send_overhead;
        let name = self.sources.adapters[terminal as usize].name;
        let (message, next) = self.workload.create(name, now - overhead);
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
        // A workload whose events are deferred tells itself when they were.
        let is_deferred = |message: &Message| self.needs.of(message.class).deferred;
        if !self.needs.any.deferred || !message.as_ref().is_none_or(is_deferred) {
            common.latest = common.latest.max(now);
        }
        let Some(message) = &message else { return None };
        let class = message.class;
        debug_assert_eq!(message.source, name);
        debug_assert_eq!(message.time + common.context.overheads[class].send, now);
        let (role, bytes) = match message.kind {
            MessageKind::Operand | MessageKind::Broadcast => {
                self.create_collective(common, terminal, message, now);
                return None;
            }
            MessageKind::Data => (Role::Data, message.bytes),
            MessageKind::Read { request } => (Role::Request(message.bytes), u64::from(request)),
            MessageKind::Put => (Role::Put, message.bytes),
            MessageKind::Atomic { request } => (Role::Atomic(message.bytes), u64::from(request)),
        };
        self.sources.messages_created[class] += 1;
        if self.is_cut_off(common, name, message.destination, now) {
            let flits = common.context.parameters.message_flits(bytes);
            common.counters.flits_created += flits;
            common.counters.flits_lost += flits;
            self.lose_message(common, class);
            return None;
        }
        let channels = common.context.parameters.injection_channels;
        let injection_channel = match common.context.parameters.injection_choice {
            InjectionChoice::InTurn => {
                let next = &mut self.sources.adapters[terminal as usize].next_channel;
                let is_last = u32::from(*next) + 1 == channels;
                std::mem::replace(next, if is_last { 0 } else { *next + 1 })
            }
            InjectionChoice::ByDestination => fitted!(message.destination % channels, u8),
        };
        let mut note = NONE;
        if role != Role::Data || message.tag != 0 && self.needs.of(class).receipts {
            let (started, tag) = (message.time, message.tag);
            let number = terminal * channels + u32::from(injection_channel);
            let waits = self.sources.waits.get(number as usize);
            let waited_before = waits.map_or(Picoseconds::ZERO, |waits| waits.until(now));
            let of_message = Note { waited_before, ..source::note(started, role, tag) };
            note = self.sources.notes.insert(of_message);
        }
        let queued = Queued {
            created: now,
            bytes_left: bytes,
            destination: message.destination,
            next: NONE,
            note,
            class,
        };
        Some((injection_channel, role, queued))
    }

    /// Counts a message that is not received because of a failure.
    #[cold]
    pub(super) fn lose_message(&mut self, common: &mut Common<'_>, class: u8) {
        common.counters.messages_lost += 1;
        self.sources.messages_lost[class] += 1;
    }

    /// Puts a message into a source queue of an injection channel at its creation.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        channel: u8,
        role: Role,
        message: Queued,
    ) {
        let context = &*common.context;
        let Queued { created: now, bytes_left, destination, class, .. } = message;
        let Packing { flits, .. } = self.sources.packing(bytes_left, &context.parameters);
        common.counters.flits_created += flits;
        self.sources.flits_created[class] += flits;
        let adapter = &mut self.sources.adapters[terminal as usize];
        if adapter.queue.flits == 0 {
            adapter.queue.since = now;
        }
        adapter.queue.flits += flits;
        let vc = common.routing.source_vc(context, (class, role), (adapter.name, destination));
        let injection = terminal * context.parameters.injection_channels + u32::from(channel);
        let queue = injection as usize * context.vc_map.count() + usize::from(vc);
        let message = self.sources.queued.insert(message);
        let tail = std::mem::replace(&mut self.sources.queues[queue].tail, message);
        if self.sources.queues[queue].head != NONE {
            self.sources.queued.at(tail).next = message;
            return;
        }
        self.sources.queues[queue].head = message;
        self.next_packet(common, queue, now, bytes_left);
        let injection = &mut self.sources.injections[injection as usize];
        injection.waiting |= 1 << vc;
        if !self.sources.paused {
            let now = common.schedule.tick(now);
            injection.due = injection.due.min(injection.free_at.max(now));
        }
    }

    /// Notes the packet that a source queue sends next: of a message that was `created` then and of
    /// which `bytes_left` are left.
    #[inline]
    pub(super) fn next_packet(
        &mut self,
        common: &Common<'_>,
        queue: usize,
        created: Picoseconds,
        bytes_left: u64,
    ) {
        let packing = self.sources.packing(bytes_left, &common.context.parameters);
        let queue = &mut self.sources.queues[queue];
        queue.created = created;
        (queue.payload, queue.flits) = (packing.payload, packing.packet_flits);
    }

    /// Called when credits arrive at `time` for which an injection channel waits. `has_begun`: it
    /// has begun a packet whose flits wait.
    pub(crate) fn credits_arrive(
        &mut self,
        common: &mut Common<'_>,
        (number, has_begun): (u32, bool),
        time: Tick,
    ) {
        let injection = &self.sources.injections[number as usize];
        if injection.waiting != 0 || has_begun {
            let injection = &mut self.sources.injections[number as usize];
            injection.due = injection.due.min(time);
            let terminal = number / common.context.parameters.injection_channels;
            self.lower_terminal(common, terminal, time);
        }
    }

    /// Drops the messages to unreachable destinations from a terminal's source queues.
    pub(crate) fn drop_queued(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        unreachable: impl Fn(u32) -> bool,
    ) {
        let vcs = common.context.vc_map.count();
        for injection in self.injections_of(common, terminal) {
            for vc in 0..vcs {
                let queue = injection as usize * vcs + vc;
                let mut at = self.sources.queues[queue].head;
                let mut kept = Vec::new();
                while let Some(&message) = self.sources.queued.get(at) {
                    let Queued { created, next, destination, bytes_left, note, class } = message;
                    if unreachable(destination) {
                        let flits = common.context.parameters.message_flits(bytes_left);
                        self.sources.adapters[terminal as usize].queue.flits -= flits;
                        common.counters.flits_lost += flits;
                        self.sink.flits_ended[class] += flits;
                        self.lose_message(common, class);
                        self.sources.queued.remove(at);
                        if note != NONE {
                            self.sources.notes.remove(note);
                        }
                    } else {
                        kept.push((at, created, bytes_left));
                    }
                    at = next;
                }
                for pair in kept.windows(2) {
                    self.sources.queued.at(pair[0].0).next = pair[1].0;
                }
                if let (Some(&(head, created, bytes_left)), Some(&(tail, ..))) =
                    (kept.first(), kept.last())
                {
                    self.sources.queued.at(tail).next = NONE;
                    self.next_packet(common, queue, created, bytes_left);
                    let queue = &mut self.sources.queues[queue];
                    (queue.head, queue.tail) = (head, tail);
                } else {
                    self.sources.injections[injection as usize].waiting &= !(1 << vc);
                    self.sources.queues[queue] = SourceQueue::EMPTY;
                }
            }
        }
    }

    /// Lets a terminal inject again what it has held back, at `next` or later.
    pub(crate) fn resume(&mut self, common: &mut Common<'_>, terminal: u32, next: Tick) {
        for injection in self.injections_of(common, terminal) {
            let injection = &mut self.sources.injections[injection as usize];
            if injection.waiting != 0 {
                injection.due = injection.free_at.max(next);
            }
        }
        let due = self.terminal_due(common, terminal);
        self.lower_terminal(common, terminal, due);
    }

    /// Lets terminals create messages, after the workload was told of an event.
    pub(crate) fn wake(&mut self, common: &mut Common<'_>, wake: Wake) {
        match wake {
            // The end of the window shows whether all parts are at the barrier.
            Wake::Nobody | Wake::All => {}
            Wake::Terminal(name, time) => {
                let terminal = common.context.in_part(name, common.schedule.part);
                self.create_at(common, terminal, time);
            }
            Wake::NotBefore(name, time) => {
                let terminal = common.context.in_part(name, common.schedule.part);
                let time = time + common.context.parameters.send_overhead;
                let adapter = &mut self.sources.adapters[terminal as usize];
                adapter.create_at = adapter.create_at.max(time);
                self.sources.due[terminal as usize] = self.terminal_due(common, terminal);
            }
        }
    }

    /// Lets the part's terminals pass a barrier to which the last terminal of all parts came at
    /// `latest`. Returns the time at which their next messages enter the source queues.
    pub(crate) fn release_barrier(
        &mut self,
        common: &mut Common<'_>,
        latest: Picoseconds,
    ) -> Picoseconds {
        let time = self.workload.pass_barrier(latest);
        for terminal in 0..self.terminals() {
            self.create_at(common, terminal, time);
        }
        time + common.context.parameters.send_overhead
    }

    /// Completes what hosts have postponed up to the end time of the run. So the state between two
    /// runs does not depend on what was postponed.
    pub(crate) fn complete_postponed(&mut self, common: &mut Common<'_>) {
        if !self.needs.any.deferred {
            return;
        }
        let overhead = common.context.parameters.send_overhead;
        for terminal in 0..self.terminals() {
            let adapter = &mut self.sources.adapters[terminal as usize];
            let next = self.workload.catch_up(adapter.name, common.schedule.window.limit);
            adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
            let due = self.terminal_due(common, terminal);
            self.sources.due[terminal as usize] = due;
        }
    }

    /// The time of the first event at a host.
    pub(crate) fn first_host_event(&self) -> Picoseconds {
        let adapters = self.sources.adapters.iter();
        adapters.map(|adapter| self.next_at_host(adapter)).min().unwrap_or(NO_TIME)
    }

    /// The time of the next event at the host of an adapter.
    #[inline]
    fn next_at_host(&self, adapter: &Adapter) -> Picoseconds {
        let event = self.sink.host_events.get(adapter.host_events);
        event.map_or(NO_TIME, |event| event.time).min(adapter.create_at)
    }

    /// Whether a message between two terminals is lost before it is queued.
    #[inline]
    pub(crate) fn is_cut_off(
        &self,
        common: &Common<'_>,
        source: u32,
        destination: u32,
        now: Picoseconds,
    ) -> bool {
        common.interruption.is_some_and(|interruption| {
            let NetworkContext { fabric, routed, .. } = &*common.context;
            interruption.took(fabric, source, now) || routed.terminal_router(destination).is_none()
        })
    }
}
