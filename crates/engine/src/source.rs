//! Terminals as sources: messages are created, wait in source queues, are cut into packets and
//! injected (docs/model.md, "Adapter").
//!
//! [`Sources`] belongs to a part, which serves its terminals in the visits of their routers.

mod packets;

pub(super) use packets::NewPacket;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::common::Common;
use super::hosts::Hosts;
use super::message::{Note, Packing, Queued, Role, RoomWaits, Slots};
use super::network_context::NetworkContext;
use super::next_hop::SourceChoices;
use super::ports::{self, Ports};
use super::tick::{NEVER, NO_TIME, Tick, rebased};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::Parameters;
use flitlab_workload::traffic::{MessageKind, Wake};

/// The first and the last message of a source queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SourceQueue {
    head: u32,
    tail: u32,
    /// Payload in bytes, and flits, of the packet that is next.
    payload: u32,
    flits: u16,
}

impl SourceQueue {
    const EMPTY: Self = Self { head: NONE, tail: NONE, payload: 0, flits: 0 };
}

/// An injection channel, seen from its terminal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Injection {
    /// Time at which the last flit of the latest packet has left.
    pub free_at: Tick,
    /// Time at which it is served next; [`NEVER`] if nothing waits, or if the time is not known
    /// that it waits for.
    pub due: Tick,
    /// The virtual channels whose source queues are not empty, a bit each.
    pub waiting: u16,
    /// The virtual channel at which the round robin over source queues starts.
    pub pointer: u8,
}

/// The contents of a terminal's source queues, all injection channels and virtual channels
/// together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Flits whose packets have not been injected.
    pub flits: u64,
    /// Time since which there have always been some; without meaning if there are none.
    pub since: Picoseconds,
}

/// A terminal's adapter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Adapter {
    /// Time at which it creates its next messages, as they enter their queues; [`NO_TIME`] if that
    /// is not known.
    pub create_at: Picoseconds,
    pub queue: Backlog,
    /// Number of its next packet. Numbers tell packets apart that are under way together. They
    /// repeat after 2^32 packets, which are hours of simulation.
    sequence: u32,
    /// The first event in the list of its host.
    pub host_events: u32,
    pub router: u32,
    /// The input port of its first injection channel, and the place of that channel's credits.
    pub input: u32,
    pub room: u32,
    /// Its number in the whole network.
    pub name: u32,
    /// The injection channel of the next message.
    next_channel: u8,
    /// Index of its injection channels' timing in the network's.
    pub timing: u8,
}

impl Adapter {
    /// Whether a packet of this number is still to be sent. Numbers repeat after 2^32 packets.
    pub(super) fn is_to_send(&self, sequence: u32) -> bool {
        sequence.wrapping_sub(self.sequence) < 1 << 31
    }
}

impl Injection {
    /// The first virtual channel with a packet, in cyclic order from `pointer`.
    pub(super) fn first_waiting(&self) -> u8 {
        let from_pointer = self.waiting & u16::MAX.checked_shl(self.pointer.into()).unwrap_or(0);
        let waiting = if from_pointer == 0 { self.waiting } else { from_pointer };
        fitted!(waiting.trailing_zeros().min(15), u8)
    }
}

/// The state of all sources.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sources {
    pub adapters: Vec<Adapter>,
    /// By terminal: the time at which it is served next.
    pub due: Vec<Tick>,
    /// By terminal, then injection channel.
    pub injections: Vec<Injection>,
    /// By injection channel: waits for room, if the workload asks for them; else empty.
    pub waits: Vec<RoomWaits>,
    /// By injection channel, then virtual channel.
    queues: Vec<SourceQueue>,
    queued: Slots<Queued>,
    pub notes: Slots<Note>,
    /// The packing that was computed last: most messages of a load have one size.
    packing: Packing,
    choices: SourceChoices,
    /// Whether the sources hold back their packets.
    pub paused: bool,
    pub messages_created: u64,
}

impl Sources {
    /// Idle adapters, with empty source queues.
    pub(super) fn new(
        context: &NetworkContext<'_>,
        part: usize,
        ports: &Ports,
        wants_waits: bool,
    ) -> Self {
        let names = context.terminals_of_part(part);
        let channels = context.parameters.injection_channels;
        let injections = names.len() * channels as usize;
        let mut adapters = Vec::with_capacity(names.len());
        for (number, router) in (0..).zip(&ports.routers) {
            for own in 0..u32::from(router.terminals) {
                let network = router.first_input + u32::from(router.transit);
                let &ports::Input { upstream: room, timing, .. } =
                    ports.input(network + own * channels);
                adapters.push(Adapter {
                    create_at: NO_TIME,
                    queue: Backlog::default(),
                    sequence: 0,
                    host_events: NONE,
                    router: number,
                    input: network + own * channels,
                    room,
                    name: names[adapters.len()],
                    next_channel: 0,
                    timing,
                });
            }
        }
        let injection = Injection { free_at: 0, due: NEVER, waiting: 0, pointer: 0 };
        Self {
            due: vec![NEVER; adapters.len()],
            adapters,
            injections: vec![injection; injections],
            waits: vec![RoomWaits::NONE; if wants_waits { injections } else { 0 }],
            queues: vec![SourceQueue::EMPTY; injections * context.vc_map.count()],
            queued: Slots::new(),
            notes: Slots::new(),
            packing: Packing::new(0, &context.parameters),
            choices: SourceChoices::new(context, part),
            paused: false,
            messages_created: 0,
        }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.adapters)
            + size_of_val(&*self.due)
            + size_of_val(&*self.waits)
            + size_of_val(&*self.injections)
            + size_of_val(&*self.queues)
            + self.queued.memory()
            + self.notes.memory()
            + self.choices.memory()
    }

    /// The time at which the first of some terminals is served next.
    #[inline(always)]
    pub(super) fn first_due(&self, terminals: &Range<u32>) -> Tick {
        let due = &self.due[terminals.start as usize..terminals.end as usize];
        due.iter().fold(NEVER, |first, &due| first.min(due))
    }

    /// The cut of a message of this many bytes into packets.
    #[inline]
    fn packing(&mut self, bytes: u64, parameters: &Parameters) -> Packing {
        if self.packing.bytes != bytes {
            self.packing = Packing::new(bytes, parameters);
        }
        self.packing
    }

    /// Flits of the packet that a source queue of an injection channel sends next.
    pub(super) fn flits_of_next(&self, injection: u32, queue: u32, vcs: u32) -> u16 {
        self.queues[(injection * vcs + queue) as usize].flits
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        for injection in &mut self.injections {
            injection.free_at = rebased(injection.free_at, by);
            injection.due = rebased(injection.due, by);
        }
    }
}

impl Hosts {
    /// Asks the workload for the first messages of a terminal.
    pub(super) fn begin(&mut self, common: &mut Common<'_>, terminal: u32) {
        let name = self.sources.adapters[terminal as usize].name;
        if let Some(time) = self.workload.first(name) {
            self.create_at(common, terminal, time);
        }
    }

    /// Lets a terminal create messages at `time`. They enter their queues after the send overhead.
    pub(super) fn create_at(&mut self, common: &mut Common<'_>, terminal: u32, time: Picoseconds) {
        let time = time + common.context.parameters.send_overhead;
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = adapter.create_at.min(time);
        self.lower_terminal(common, terminal, common.schedule.tick(time));
    }

    /// Makes a terminal due by `due`.
    #[inline]
    pub(super) fn lower_terminal(&mut self, common: &mut Common<'_>, terminal: u32, due: Tick) {
        let present = &mut self.sources.due[terminal as usize];
        *present = (*present).min(due);
        common.schedule.active.lower(self.sources.adapters[terminal as usize].router, due);
    }

    /// The time of the next event at a terminal.
    #[inline]
    pub(super) fn terminal_due(&self, common: &mut Common<'_>, terminal: u32) -> Tick {
        self.host_due(common, terminal).min(self.injections_due(common, terminal))
    }

    /// The time at which the first of a terminal's injection channels is served next.
    #[inline]
    pub(super) fn injections_due(&self, common: &mut Common<'_>, terminal: u32) -> Tick {
        let Range { start, end } = self.injections_of(common, terminal);
        let injections = &self.sources.injections[start as usize..end as usize];
        injections.iter().fold(NEVER, |due, injection| due.min(injection.due))
    }

    /// The time of the next event at a terminal's host.
    #[inline]
    pub(super) fn host_due(&self, common: &mut Common<'_>, terminal: u32) -> Tick {
        let adapter = &self.sources.adapters[terminal as usize];
        let event =
            self.sink.host_events.get(adapter.host_events).map_or(NO_TIME, |event| event.time);
        match adapter.create_at.min(event) {
            NO_TIME => NEVER,
            time => common.schedule.tick(time),
        }
    }

    /// The numbers of a terminal's injection channels.
    #[inline]
    pub(super) fn injections_of(&self, common: &mut Common<'_>, terminal: u32) -> Range<u32> {
        let channels = common.context.parameters.injection_channels;
        terminal * channels..(terminal + 1) * channels
    }

    /// Handles what is due at a terminal's host: events, or a message to be created.
    #[inline]
    pub(super) fn run_due(&mut self, common: &mut Common<'_>, terminal: u32, now: Tick) {
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
    pub(super) fn create(&mut self, common: &mut Common<'_>, terminal: u32, now: Picoseconds) {
        let overhead = common.context.parameters.send_overhead;
        let name = self.sources.adapters[terminal as usize].name;
        let (message, next) = self.workload.create(name, now - overhead);
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
        if !self.workload.puts_off() {
            common.latest = common.latest.max(now);
        }
        let Some(message) = message else { return };
        debug_assert_eq!((message.source, message.time), (name, now - overhead));
        let (role, bytes) = match message.kind {
            MessageKind::Operand | MessageKind::Broadcast => {
                return self.create_collective(common, terminal, &message, now);
            }
            MessageKind::Data => (Role::Data, message.bytes),
            MessageKind::Read { request } => (Role::Request(message.bytes), u64::from(request)),
            MessageKind::Put => (Role::Put, message.bytes),
            MessageKind::Atomic { request } => (Role::Atomic(message.bytes), u64::from(request)),
        };
        self.sources.messages_created += 1;
        if self.is_cut_off(common, name, message.destination, now) {
            let flits = common.context.parameters.message_flits(bytes);
            common.counters.flits_created += flits;
            common.counters.flits_lost += flits;
            common.counters.messages_lost += 1;
            return;
        }
        let adapter = &mut self.sources.adapters[terminal as usize];
        let injection_channel = adapter.next_channel;
        adapter.next_channel += 1;
        if u32::from(adapter.next_channel) == common.context.parameters.injection_channels {
            adapter.next_channel = 0;
        }
        let mut note = NONE;
        if role != Role::Data || message.tag != 0 && self.workload.wants_receipts() {
            let (started, tag) = (message.time, message.tag);
            let number = terminal * common.context.parameters.injection_channels
                + u32::from(injection_channel);
            let waits = self.sources.waits.get(number as usize);
            let waited_before = waits.map_or(Picoseconds::ZERO, |waits| waits.until(now));
            let of_message = Note { started, role, tag, arrival: NONE, waited_before };
            note = self.sources.notes.insert(of_message);
        }
        let queued = Queued {
            created: now,
            bytes_left: bytes,
            destination: message.destination,
            next: NONE,
            note,
        };
        self.enqueue(common, terminal, injection_channel, role, queued);
    }

    /// Puts a message into a source queue of an injection channel at its creation.
    #[inline]
    pub(super) fn enqueue(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        channel: u8,
        role: Role,
        message: Queued,
    ) {
        let context = &*common.context;
        let Queued { created: now, bytes_left, destination, .. } = message;
        let Packing { flits, .. } = self.sources.packing(bytes_left, &context.parameters);
        common.counters.flits_created += flits;
        let adapter = &mut self.sources.adapters[terminal as usize];
        if adapter.queue.flits == 0 {
            adapter.queue.since = now;
        }
        adapter.queue.flits += flits;
        let vc = common.routing.source_vc(context, role, (adapter.name, destination));
        let injection = terminal * context.parameters.injection_channels + u32::from(channel);
        let queue = injection as usize * context.vc_map.count() + usize::from(vc);
        let message = self.sources.queued.insert(message);
        let tail = std::mem::replace(&mut self.sources.queues[queue].tail, message);
        if self.sources.queues[queue].head != NONE {
            self.sources.queued.at(tail).next = message;
            return;
        }
        self.sources.queues[queue].head = message;
        self.next_packet(common, queue, bytes_left);
        let injection = &mut self.sources.injections[injection as usize];
        injection.waiting |= 1 << vc;
        if !self.sources.paused {
            let now = common.schedule.tick(now);
            injection.due = injection.due.min(injection.free_at.max(now));
        }
    }

    /// Notes the size of the packet that a source queue sends next. `bytes_left` is the rest of its
    /// message.
    #[inline]
    fn next_packet(&mut self, common: &mut Common<'_>, queue: usize, bytes_left: u64) {
        let packing = self.sources.packing(bytes_left, &common.context.parameters);
        let queue = &mut self.sources.queues[queue];
        (queue.payload, queue.flits) = (packing.payload, packing.packet_flits);
    }

    /// Called when credits arrive at `time` for which an injection channel waits. `has_begun`: it
    /// has begun a packet whose flits wait.
    pub(super) fn credits_arrive(
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
    pub(super) fn drop_queued(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        unreachable: impl Fn(u32) -> bool,
    ) {
        let vcs = common.context.vc_map.count();
        for injection in self.injections_of(common, terminal) {
            for vc in 0..vcs {
                let queue = injection as usize * vcs + vc;
                let mut at = std::mem::replace(&mut self.sources.queues[queue].head, NONE);
                let mut last = NONE;
                while at != NONE {
                    let Queued { next, destination, bytes_left, note, .. } =
                        *self.sources.queued.at(at);
                    if unreachable(destination) {
                        let flits = common.context.parameters.message_flits(bytes_left);
                        self.sources.adapters[terminal as usize].queue.flits -= flits;
                        common.counters.flits_lost += flits;
                        common.counters.messages_lost += 1;
                        self.sources.queued.remove(at);
                        if note != NONE {
                            self.sources.notes.remove(note);
                        }
                    } else {
                        if last == NONE {
                            self.sources.queues[queue].head = at;
                        } else {
                            self.sources.queued.at(last).next = at;
                        }
                        last = at;
                    }
                    at = next;
                }
                self.sources.queues[queue].tail = last;
                if last != NONE {
                    self.sources.queued.at(last).next = NONE;
                    let head = self.sources.queues[queue].head;
                    let bytes_left = self.sources.queued.at(head).bytes_left;
                    self.next_packet(common, queue, bytes_left);
                } else {
                    self.sources.injections[injection as usize].waiting &= !(1 << vc);
                }
            }
        }
    }

    /// Lets a terminal inject again what it has held back, at `next` or later.
    pub(super) fn resume(&mut self, common: &mut Common<'_>, terminal: u32, next: Tick) {
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
    pub(super) fn wake(&mut self, common: &mut Common<'_>, wake: Wake) {
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
    pub(super) fn release_barrier(
        &mut self,
        common: &mut Common<'_>,
        latest: Picoseconds,
    ) -> Picoseconds {
        let time = self.workload.pass_barrier(latest);
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            self.create_at(common, terminal, time);
        }
        time + common.context.parameters.send_overhead
    }

    /// Completes what hosts have postponed up to the end time of the run. So the state between two
    /// runs does not depend on what was postponed.
    pub(super) fn complete_postponed(&mut self, common: &mut Common<'_>) {
        if !self.workload.puts_off() {
            return;
        }
        let overhead = common.context.parameters.send_overhead;
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            let adapter = &mut self.sources.adapters[terminal as usize];
            let next = self.workload.catch_up(adapter.name, common.schedule.window.limit);
            adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
            let due = self.terminal_due(common, terminal);
            self.sources.due[terminal as usize] = due;
        }
    }

    /// The time of the first event at a host.
    pub(super) fn first_host_event(&self) -> Picoseconds {
        let of = |adapter: &Adapter| {
            let event = self.sink.host_events.get(adapter.host_events);
            event.map_or(NO_TIME, |event| event.time).min(adapter.create_at)
        };
        self.sources.adapters.iter().map(of).min().unwrap_or(NO_TIME)
    }
}
