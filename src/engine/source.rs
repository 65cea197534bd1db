//! Terminals as sources: messages are created, wait in source queues, are cut into packets and injected
//! (docs/model.md, "Adapter").

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::collective::COLLECTIVE;
use super::guide::{self, Guide};
use super::message::{Arrival, Note, Packing, Queued, Role, Slots};
use super::model::Model;
use super::network::ChannelKind;
use super::packet::{Origin, Packet};
use super::parameters::Parameters;
use super::ports::Ports;
use super::tick::{NEVER, NO_TIME, Tick, rebased};
use super::way::{Address, MOST_WORDS, Way};
use super::whole::Whole;
use crate::narrow::fitted;
use crate::routing::Routes;
use crate::topology::NONE;
use crate::traffic::{Kind, Wake};
use crate::units::Picoseconds;

/// First and last message of a source queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SourceQueue {
    head: u32,
    tail: u32,
    /// Payload in bytes and flits of the packet that is next.
    payload: u32,
    flits: u16,
}

impl SourceQueue {
    const EMPTY: Self = Self { head: NONE, tail: NONE, payload: 0, flits: 0 };
}

/// An injection channel, at its terminal's end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Injection {
    /// When the last flit of the latest packet has left.
    pub free_at: Tick,
    /// When it is looked at next; never if nothing waits, or if what it waits for is not known.
    pub due: Tick,
    /// The lanes whose source queues are not empty, a bit each.
    pub waiting: u16,
    /// The lane at which the search for the next packet starts.
    pub pointer: u8,
}

/// What waits in a terminal's source queues, all injection and virtual channels together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Flits whose packets have not been injected.
    pub flits: u64,
    /// Since when some have been there without a break; means nothing if there are none.
    pub since: Picoseconds,
}

/// A terminal's adapter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Adapter {
    /// When it creates its next messages, as they enter their queues; the latest of all times if that is not known.
    pub create_at: Picoseconds,
    pub queue: Backlog,
    /// Number of its next packet. After 2^32 of them, hours of simulating, numbers come again: they tell
    /// packets apart that are under way together.
    sequence: u32,
    /// First of what is to happen at its host.
    pub errands: u32,
    pub router: u32,
    /// The input port of its first injection channel, and where its room is counted.
    pub input: u32,
    pub room: u32,
    /// Its number in the whole network.
    pub name: u32,
    /// The injection channel of the next message.
    next_channel: u8,
}

/// A packet that a source has put together.
pub(super) struct NewPacket {
    pub slot: u32,
    /// The tag of its message, if it is the last one's and its departure is to be told.
    pub departs: Option<u64>,
}

/// The state of all sources.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sources {
    pub adapters: Vec<Adapter>,
    /// By terminal: when it is looked at next.
    pub due: Vec<Tick>,
    /// By terminal, then number.
    pub injections: Vec<Injection>,
    /// By injection channel, then lane.
    queues: Vec<SourceQueue>,
    queued: Slots<Queued>,
    pub notes: Slots<Note>,
    /// The packing that was looked for last: most messages of a load are of one size.
    packing: Packing,
    /// By terminal, if its packets take the paths of a pair in turn: for each router the number of the next one.
    turns: Vec<Vec<u8>>,
    /// Whether the sources hold back their packets.
    pub paused: bool,
    pub messages_created: u64,
}

impl Sources {
    /// Idle adapters.
    pub(super) fn new(whole: &Whole<'_>, part: usize, ports: &Ports) -> Self {
        let names = whole.terminals_of_part(part);
        let channels = whole.parameters.injection_channels;
        let injections = names.len() * channels as usize;
        let mut adapters = Vec::with_capacity(names.len());
        for (number, router) in (0..).zip(&ports.routers) {
            for own in 0..u32::from(router.terminals) {
                let network = router.first_input + u32::from(router.transit);
                let room = ports.input(network + own * channels).feeder;
                adapters.push(Adapter {
                    create_at: NO_TIME,
                    queue: Backlog::default(),
                    sequence: 0,
                    errands: NONE,
                    router: number,
                    input: network + own * channels,
                    room,
                    name: names[adapters.len()],
                    next_channel: 0,
                });
            }
        }
        let injection = Injection { free_at: 0, due: NEVER, waiting: 0, pointer: 0 };
        Self {
            due: vec![NEVER; adapters.len()],
            adapters,
            injections: vec![injection; injections],
            queues: vec![SourceQueue::EMPTY; injections * whole.lanes.count()],
            queued: Slots::new(),
            notes: Slots::new(),
            packing: Packing::new(0, &whole.parameters),
            turns: turns(whole, names.len()),
            paused: false,
            messages_created: 0,
        }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.adapters)
            + size_of_val(&*self.due)
            + size_of_val(&*self.injections)
            + size_of_val(&*self.queues)
            + self.queued.memory()
            + self.notes.memory()
            + self.turns.iter().map(Vec::len).sum::<usize>()
    }

    /// When the first of some terminals is looked at next.
    #[inline(always)]
    pub(super) fn first_due(&self, terminals: &Range<u32>) -> Tick {
        let due = &self.due[terminals.start as usize..terminals.end as usize];
        due.iter().fold(NEVER, |first, &due| first.min(due))
    }

    /// How a message of so many bytes is cut into packets.
    #[inline]
    fn packing(&mut self, bytes: u64, parameters: &Parameters) -> Packing {
        if self.packing.bytes != bytes {
            self.packing = Packing::new(bytes, parameters);
        }
        self.packing
    }

    /// Flits of the packet that an injection channel's source queue sends next.
    pub(super) fn flits_of_next(&self, injection: u32, queue: u32, lanes: u32) -> u16 {
        self.queues[(injection * lanes + queue) as usize].flits
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        for injection in &mut self.injections {
            injection.free_at = rebased(injection.free_at, by);
            injection.due = rebased(injection.due, by);
        }
    }
}

impl Model<'_> {
    /// Asks the workload for a terminal's first messages.
    pub(super) fn begin(&mut self, terminal: u32) {
        let name = self.sources.adapters[terminal as usize].name;
        if let Some(time) = self.workload.first(name) {
            self.create_at(terminal, time);
        }
    }

    /// Lets a terminal create messages at a time, which enter their queues behind the send overhead.
    pub(super) fn create_at(&mut self, terminal: u32, time: Picoseconds) {
        let time = time + self.whole.parameters.send_overhead;
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = adapter.create_at.min(time);
        self.lower_terminal(terminal, self.schedule.tick(time));
    }

    /// Sees to it that a terminal is looked at by `due`.
    #[inline]
    pub(super) fn lower_terminal(&mut self, terminal: u32, due: Tick) {
        let present = &mut self.sources.due[terminal as usize];
        *present = (*present).min(due);
        self.schedule.active.lower(self.sources.adapters[terminal as usize].router, due);
    }

    /// When something happens at a terminal next.
    #[inline]
    pub(super) fn terminal_due(&self, terminal: u32) -> Tick {
        self.host_due(terminal).min(self.injections_due(terminal))
    }

    /// When the first of a terminal's injection channels is looked at next.
    #[inline]
    fn injections_due(&self, terminal: u32) -> Tick {
        let Range { start, end } = self.injections_of(terminal);
        let injections = &self.sources.injections[start as usize..end as usize];
        injections.iter().fold(NEVER, |due, injection| due.min(injection.due))
    }

    /// When something happens at a terminal's host next.
    #[inline]
    fn host_due(&self, terminal: u32) -> Tick {
        let adapter = &self.sources.adapters[terminal as usize];
        let errand = self.sink.errands.get(adapter.errands).map_or(NO_TIME, |errand| errand.time);
        match adapter.create_at.min(errand) {
            NO_TIME => NEVER,
            time => self.schedule.tick(time),
        }
    }

    /// The numbers of a terminal's injection channels.
    #[inline]
    fn injections_of(&self, terminal: u32) -> Range<u32> {
        let channels = self.whole.parameters.injection_channels;
        terminal * channels..(terminal + 1) * channels
    }

    /// Does what is due at a terminal: at its host, then at its injection channels, in order.
    #[inline(never)]
    pub(super) fn serve_terminal(&mut self, terminal: u32, now: Tick) {
        let time = self.time(now);
        let adapter = &self.sources.adapters[terminal as usize];
        if adapter.errands != NONE {
            self.run_errands(terminal, time);
        } else {
            while self.sources.adapters[terminal as usize].create_at == time {
                self.create(terminal, time);
            }
        }
        let mut due = self.injections_due(terminal);
        if due <= now {
            for injection in self.injections_of(terminal) {
                if self.sources.injections[injection as usize].due <= now {
                    self.inject(injection, terminal, now);
                }
            }
            due = self.injections_due(terminal);
        }
        // Last, since a message that has been injected may let the host go on.
        due = due.min(self.host_due(terminal));
        debug_assert!(due > now && due == self.terminal_due(terminal));
        self.sources.due[terminal as usize] = due;
    }

    /// A terminal creates a message (the send overhead lies behind it), if it has any to create now.
    #[inline]
    pub(super) fn create(&mut self, terminal: u32, now: Picoseconds) {
        let overhead = self.whole.parameters.send_overhead;
        let name = self.sources.adapters[terminal as usize].name;
        let (message, next) = self.workload.create(name, now - overhead);
        let adapter = &mut self.sources.adapters[terminal as usize];
        adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
        if !self.workload.puts_off() {
            self.latest = self.latest.max(now);
        }
        let Some(message) = message else { return };
        debug_assert_eq!((message.source, message.time), (name, now - overhead));
        let (role, bytes) = match message.kind {
            Kind::Operand | Kind::Broadcast => {
                return self.create_collective(terminal, &message, now);
            }
            Kind::Data => (Role::Data, message.bytes),
            Kind::Read { request } => (Role::Request(message.bytes), u64::from(request)),
            Kind::Put => (Role::Put, message.bytes),
            Kind::Atomic { request } => (Role::Atomic(message.bytes), u64::from(request)),
        };
        self.sources.messages_created += 1;
        if self.is_cut_off(name, message.destination, now) {
            let flits = self.whole.parameters.message_flits(bytes);
            self.counters.flits_created += flits;
            self.counters.flits_lost += flits;
            self.counters.messages_lost += 1;
            return;
        }
        let adapter = &mut self.sources.adapters[terminal as usize];
        let injection_channel = adapter.next_channel;
        adapter.next_channel += 1;
        if u32::from(adapter.next_channel) == self.whole.parameters.injection_channels {
            adapter.next_channel = 0;
        }
        let mut note = NONE;
        if role != Role::Data || message.tag != 0 && self.workload.wants_receipts() {
            let (started, tag) = (message.time, message.tag);
            note = self.sources.notes.insert(Note { started, role, tag, arrival: NONE });
        }
        let queued = Queued {
            created: now,
            bytes_left: bytes,
            destination: message.destination,
            next: NONE,
            note,
        };
        self.enqueue(terminal, injection_channel, role, queued);
    }

    /// A message joins a source queue of an injection channel, now that it is created.
    #[inline]
    pub(super) fn enqueue(&mut self, terminal: u32, channel: u8, role: Role, message: Queued) {
        let whole = &*self.whole;
        let Queued { created: now, bytes_left, destination, .. } = message;
        let Packing { flits, .. } = self.sources.packing(bytes_left, &whole.parameters);
        self.counters.flits_created += flits;
        let adapter = &mut self.sources.adapters[terminal as usize];
        if adapter.queue.flits == 0 {
            adapter.queue.since = now;
        }
        adapter.queue.flits += flits;
        let lane = match (role, whole.routes) {
            (_, Routes::Forwarding(_)) => {
                let Some(Guide::Table(table)) = self.guide else {
                    unreachable!("packets go by one")
                };
                whole.lanes.lane(first_lane(table, whole, adapter.name, destination))
            }
            // Packets of a pair keep their order, and those of others have lanes of their own.
            (_, Routes::Relation(_) | Routes::Paths(_)) => {
                fitted!(destination % fitted!(whole.lanes.count(), u32), u8)
            }
            (Role::Data, Routes::Adaptive(_)) => whole.channels.adaptive,
            (Role::Operand | Role::Broadcast, _) => whole.lanes.lane(role.virtual_channel()),
            (role, _) => whole.lanes.injected_on(role.virtual_channel()),
        };
        let injection = terminal * whole.parameters.injection_channels + u32::from(channel);
        let queue = injection as usize * whole.lanes.count() + usize::from(lane);
        let message = self.sources.queued.insert(message);
        let tail = std::mem::replace(&mut self.sources.queues[queue].tail, message);
        if self.sources.queues[queue].head != NONE {
            self.sources.queued.at(tail).next = message;
            return;
        }
        self.sources.queues[queue].head = message;
        self.next_packet(queue, bytes_left);
        let injection = &mut self.sources.injections[injection as usize];
        injection.waiting |= 1 << lane;
        if !self.sources.paused {
            let now = self.schedule.tick(now);
            injection.due = injection.due.min(injection.free_at.max(now));
        }
    }

    /// Notes the size of the packet that a source queue sends next, of a message of which so much is left.
    #[inline]
    fn next_packet(&mut self, queue: usize, bytes_left: u64) {
        let packing = self.sources.packing(bytes_left, &self.whole.parameters);
        let queue = &mut self.sources.queues[queue];
        (queue.payload, queue.flits) = (packing.payload, packing.packet_flits);
    }

    /// Sends the first packet that has room through an injection channel, if that is free, and says when the channel
    /// is looked at again.
    #[inline]
    fn inject(&mut self, number: u32, terminal: u32, now: Tick) {
        if self.flits.is_some() {
            return self.inject_flits(number, terminal, now);
        }
        let lanes = fitted!(self.whole.lanes.count(), u32);
        let injection = self.sources.injections[number as usize];
        if self.sources.paused || injection.waiting == 0 {
            self.sources.injections[number as usize].due = NEVER;
            return;
        }
        if injection.free_at > now {
            self.sources.injections[number as usize].due = injection.free_at;
            return;
        }
        let of_terminal = number - terminal * self.whole.parameters.injection_channels;
        let room = self.sources.adapters[terminal as usize].room + of_terminal * lanes;
        let mut due = NEVER;
        let from_pointer = u16::MAX << injection.pointer;
        for mut waiting in [injection.waiting & from_pointer, injection.waiting & !from_pointer] {
            while waiting != 0 {
                let lane = waiting.trailing_zeros();
                waiting &= waiting - 1;
                let flits = self.sources.queues[(number * lanes + lane) as usize].flits;
                let place = room + lane;
                if self.credits.room[place as usize] < flits {
                    self.credits.collect(place, now);
                    if self.credits.room[place as usize] < flits {
                        due = due.min(self.credits.foresee(place, flits));
                        continue;
                    }
                }
                self.credits.room[place as usize] -= flits;
                self.send_packet(number, terminal, fitted!(lane, u8), now);
                let injection = &mut self.sources.injections[number as usize];
                injection.due = if injection.waiting == 0 { NEVER } else { injection.free_at };
                return;
            }
        }
        self.sources.injections[number as usize].due = due;
    }

    /// Credits that an injection channel waits for arrive at this time.
    pub(super) fn feed(&mut self, number: u32, time: Tick) {
        let injection = &self.sources.injections[number as usize];
        if injection.waiting != 0 || self.has_begun(number) {
            let injection = &mut self.sources.injections[number as usize];
            injection.due = injection.due.min(time);
            let terminal = number / self.whole.parameters.injection_channels;
            self.lower_terminal(terminal, time);
        }
    }

    /// Takes the first packet of a source queue, whose header starts on the injection channel now.
    #[inline(always)]
    pub(super) fn next_packet_of(
        &mut self,
        number: u32,
        terminal: u32,
        lane: u8,
        now: Tick,
    ) -> NewPacket {
        let place = number as usize * self.whole.lanes.count() + usize::from(lane);
        let queue = &mut self.sources.queues[place];
        let SourceQueue { head: slot, payload, flits, .. } = *queue;
        let message = self.sources.queued.at(slot);
        let bytes = message.bytes_left;
        message.bytes_left = bytes.saturating_sub(self.whole.parameters.maximum_payload.0.max(1));
        let Queued { created, bytes_left, destination, next, note } = *message;
        let is_last = bytes_left == 0;
        if is_last {
            queue.head = next;
            self.sources.queued.remove(slot);
        }
        if !is_last {
            self.next_packet(place, bytes_left);
        } else if next == NONE {
            self.sources.injections[number as usize].waiting &= !(1 << lane);
        } else {
            let bytes_left = self.sources.queued.at(next).bytes_left;
            self.next_packet(place, bytes_left);
        }
        let tells_host = self.workload.wants_receipts();
        let (mut arrival, mut role, mut tag) = (NONE, Role::Data, 0);
        if !is_last || note != NONE || tells_host {
            let message = Queued { created, bytes_left: bytes, destination, next, note };
            (arrival, role, tag) = self.announced(message, (!is_last).then_some(slot));
        }
        let time = self.time(now);
        let adapter = &mut self.sources.adapters[terminal as usize];
        let sequence = adapter.sequence;
        adapter.sequence = sequence.wrapping_add(1);
        adapter.queue.flits -= u64::from(flits);
        let source = adapter.name;

        let mut packet = Packet {
            ready: 0,
            tail: 0,
            next: NONE,
            source,
            sequence,
            flits,
            note: 0,
            way: Way::default(),
        };
        let channels = self.whole.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let mut origin =
            Origin::new((created, time), arrival, payload, 0, fitted!(of_terminal, u8));
        let mut rest = [0; MOST_WORDS];
        let rest = &mut rest[..self.whole.rest];
        if arrival == COLLECTIVE {
            (packet.note, packet.way) = (1, Way(tag));
            tag = (tag & u64::from(u32::MAX)) + 1;
        } else {
            self.direct(terminal, lane, destination, &mut packet, &mut origin, rest);
        }
        let slot = self.packets.insert(packet, origin);
        self.packets.rest(slot).copy_from_slice(rest);
        let departs = is_last && role.departs() && tells_host && self.workload.wants_departure(tag);
        NewPacket { slot, departs: departs.then_some(tag) }
    }

    /// Sends the first packet of a source queue through a free injection channel.
    #[inline]
    fn send_packet(&mut self, number: u32, terminal: u32, lane: u8, now: Tick) {
        let NewPacket { slot, departs } = self.next_packet_of(number, terminal, lane, now);
        let packet = &mut self.packets.packets[slot as usize];
        let Packet { source, sequence, flits, .. } = *packet;
        // All flits are there from the start.
        let last = self.whole.send(packet, ChannelKind::Injection, now);
        let &Adapter { router, input: first_input, .. } = &self.sources.adapters[terminal as usize];
        let channels = self.whole.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let time = self.time(now);

        let whole = &*self.whole;
        let channel = whole.channel_of_injection(self.schedule.part, number);
        self.digest.add(time, channel, source, sequence);
        self.counters.grants += 1;
        let in_part = fitted!(self.ports.outputs, u32) + number;
        self.statistics.sent(in_part, lane, flits);
        let injection = &mut self.sources.injections[number as usize];
        injection.pointer = (lane + 1) % fitted!(whole.lanes.count(), u8);
        let free_at = last + whole.timing(ChannelKind::Injection).flit;
        injection.free_at = free_at;
        let of_router = first_input + of_terminal - self.ports.routers[router as usize].first_input;
        let pair = (of_router << self.ports.size.shift) + u32::from(lane);
        self.join(router, pair, slot);
        if let Some(tag) = departs {
            self.message_sent(terminal, tag, self.time(free_at));
        }
    }

    /// The number under which the sink of a message is told of it, which has several packets, or is answered or
    /// acknowledged; what it is for, and its tag. Of the message so much is left as before the packet at hand; `slot` is where
    /// it stays for the next one.
    #[inline(never)]
    fn announced(&mut self, message: Queued, slot: Option<u32>) -> (u32, Role, u64) {
        let started = message.created - self.whole.parameters.send_overhead;
        let plain = Note { started, role: Role::Data, tag: 0, arrival: NONE };
        let mut note = self.sources.notes.get(message.note).copied().unwrap_or(plain);
        if let Role::Operand | Role::Broadcast = note.role {
            let way = self.way_of_next(message.note, slot.is_some());
            return (COLLECTIVE, note.role, way);
        }
        if note.arrival == NONE {
            let (full, rest) = self.whole.parameters.packets(message.bytes_left);
            let arrival = Arrival {
                started: note.started,
                bytes: message.bytes_left,
                packets_left: u32::try_from(full + u64::from(rest.is_some()))
                    .expect("a scenario's messages have at most MOST_PACKETS packets"),
                role: note.role,
                tag: note.tag,
                lost: false,
            };
            note.arrival = self.announce(message.destination, arrival);
        }
        match slot {
            Some(slot) if message.note == NONE => {
                self.sources.queued.at(slot).note = self.sources.notes.insert(note);
            }
            Some(_) => *self.sources.notes.at(message.note) = note,
            None if message.note != NONE => _ = self.sources.notes.remove(message.note),
            None => {}
        }
        (note.arrival, note.role, note.tag)
    }

    /// Tells a new packet its way to a terminal.
    #[inline(always)]
    fn direct(
        &mut self,
        terminal: u32,
        lane: u8,
        destination: u32,
        packet: &mut Packet,
        origin: &mut Origin,
        rest: &mut [u64],
    ) {
        let whole = &*self.whole;
        let router = self.sources.adapters[terminal as usize].router;
        let from = router + whole.cut.first_router(self.schedule.part);
        let end = whole.end(destination);
        let number = u32::from(origin.injection_channel) % whole.parameters.ejection_channels;
        if let Some(guide) = self.guide {
            let class = match guide {
                Guide::Table(table) => table.class(whole.fabric, packet.source, destination),
                Guide::Paths(routes) => {
                    let turns = self.sources.turns.get_mut(terminal as usize);
                    guide::path_of(routes, packet, (from, end.router), turns)
                }
            };
            packet.way = Address { destination, class, ejection: fitted!(number, u16) }.into();
            return;
        }
        let (to, ejection) = (end.router, end.ejection + fitted!(number, u16));
        if let Some(choosers) = &self.choosers {
            if choosers.related().is_some() {
                return self.set_out_by_relation((destination, number), packet, origin);
            }
            return self.set_out(terminal, (from, to), (ejection, lane), packet, origin);
        }
        if let Some(legs) = &whole.legs {
            (packet.way, origin.hops) = legs.way((from, packet.sequence), to, ejection);
            return;
        }
        let route = whole.routes.packet_route(whole.fabric, from, to, packet.sequence);
        let route = route.unwrap_or_default();
        if let Routes::DirectionOrder(order) = whole.routes {
            packet.note = order.datelines(from, &route);
        }
        packet.way = whole.code.write(&route, ejection, rest);
        origin.hops = fitted!(route.hops(), u16);
    }

    /// Drops those messages of a terminal's source queues that are bound for certain destinations.
    pub(super) fn drop_queued(&mut self, terminal: u32, unreachable: impl Fn(u32) -> bool) {
        let lanes = self.whole.lanes.count();
        for injection in self.injections_of(terminal) {
            for lane in 0..lanes {
                let queue = injection as usize * lanes + lane;
                let mut at = std::mem::replace(&mut self.sources.queues[queue].head, NONE);
                let mut last = NONE;
                while at != NONE {
                    let Queued { next, destination, bytes_left, note, .. } =
                        *self.sources.queued.at(at);
                    if unreachable(destination) {
                        let flits = self.whole.parameters.message_flits(bytes_left);
                        self.sources.adapters[terminal as usize].queue.flits -= flits;
                        self.counters.flits_lost += flits;
                        self.counters.messages_lost += 1;
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
                    self.next_packet(queue, bytes_left);
                } else {
                    self.sources.injections[injection as usize].waiting &= !(1 << lane);
                }
            }
        }
    }

    /// Lets a terminal inject again what it has held back, no sooner than at `next`.
    pub(super) fn resume(&mut self, terminal: u32, next: Tick) {
        for injection in self.injections_of(terminal) {
            let injection = &mut self.sources.injections[injection as usize];
            if injection.waiting != 0 {
                injection.due = injection.free_at.max(next);
            }
        }
        let due = self.terminal_due(terminal);
        self.lower_terminal(terminal, due);
    }

    /// Something that a terminal did or got may let terminals create messages.
    pub(super) fn wake(&mut self, wake: Wake) {
        match wake {
            // At the end of the window it shows whether all parts are at the barrier.
            Wake::Nobody | Wake::All => {}
            Wake::Terminal(name, time) => {
                let terminal = self.whole.in_part(name, self.schedule.part);
                self.create_at(terminal, time);
            }
            Wake::NotBefore(name, time) => {
                let terminal = self.whole.in_part(name, self.schedule.part);
                let time = time + self.whole.parameters.send_overhead;
                let adapter = &mut self.sources.adapters[terminal as usize];
                adapter.create_at = adapter.create_at.max(time);
                self.sources.due[terminal as usize] = self.terminal_due(terminal);
            }
        }
    }

    /// Lets the part's terminals pass a barrier to which the last terminal of all parts came at `latest`. When their
    /// next messages enter the source queues.
    pub(super) fn let_pass(&mut self, latest: Picoseconds) -> Picoseconds {
        let time = self.workload.pass_barrier(latest);
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            self.create_at(terminal, time);
        }
        time + self.whole.parameters.send_overhead
    }

    /// Has hosts do what they have put off of what happens up to the limit: so nobody notices between two runs that they
    /// do.
    pub(super) fn catch_up(&mut self) {
        if !self.workload.puts_off() {
            return;
        }
        let overhead = self.whole.parameters.send_overhead;
        for terminal in 0..fitted!(self.sources.adapters.len(), u32) {
            let adapter = &mut self.sources.adapters[terminal as usize];
            let next = self.workload.catch_up(adapter.name, self.schedule.window.limit);
            adapter.create_at = next.map_or(NO_TIME, |next| next + overhead);
            let due = self.terminal_due(terminal);
            self.sources.due[terminal as usize] = due;
        }
    }

    /// When the first host has something to do.
    pub(super) fn first_errand(&self) -> Picoseconds {
        let of = |adapter: &Adapter| {
            let errand = self.sink.errands.get(adapter.errands);
            errand.map_or(NO_TIME, |errand| errand.time).min(adapter.create_at)
        };
        self.sources.adapters.iter().map(of).min().unwrap_or(NO_TIME)
    }
}

/// The turns of so many terminals, at their first paths.
fn turns(whole: &Whole<'_>, terminals: usize) -> Vec<Vec<u8>> {
    match whole.routes {
        Routes::Paths(routes) if routes.in_turn() && routes.paths.has_choice() => {
            vec![vec![0; whole.fabric.routers() as usize]; terminals]
        }
        _ => Vec::new(),
    }
}

/// The virtual channel in which a terminal's packets to another one leave their first router.
fn first_lane(
    table: &crate::routing::ForwardingTable,
    whole: &Whole<'_>,
    source: u32,
    destination: u32,
) -> u8 {
    let router = whole.fabric.terminal_router(source).expect("live");
    table.port(router, destination).map_or(0, |port| {
        let class = table.class(whole.fabric, source, destination);
        table.lane(router, destination, class, None, port)
    })
}
