//! Packets that a source makes of its messages.

use std::ops::Range;

use super::Hosts;
use super::source::{Adapter, SourceQueue, note};
use crate::common::Common;
use crate::frame::tick::{NO_TIME, Tick};
use crate::next_hop::answer::Ends;
use crate::packet::collective::COLLECTIVE;
use crate::packet::encoded_route::{EncodedRoute, MAX_WORDS};
use crate::packet::message::{Arrival, Note, Purpose, Queued, Role};
use crate::packet::{Origin, Packet};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// What a packet takes from its message.
#[derive(Clone, Copy)]
pub(crate) struct PacketOfMessage {
    pub created: Picoseconds,
    pub destination: u32,
    pub class: u8,
    /// The number under which the message was announced to its sink's part.
    pub arrival: u32,
    pub payload: u32,
    pub flits: u16,
    /// The packet's route, if it belongs to a collective operation.
    pub tag: u64,
}

/// A packet that a source has made.
pub(crate) struct NewPacket {
    pub slot: u32,
    /// The tag of its message, if it is the message's last packet and its departure is to be told.
    pub departs: Option<u64>,
    /// Whether it is the last packet of a response.
    pub responds: bool,
}

impl Hosts {
    /// Begins a wait of a free injection channel that has packets and room for none.
    #[inline]
    pub(crate) fn begin_wait(&mut self, common: &Common<'_>, number: u32, now: Tick) {
        let time = common.time(now);
        if let Some(waits) = self.sources.waits.get_mut(number as usize) {
            waits.begin(time);
        }
    }

    /// Ends the wait of an injection channel, which sends.
    #[inline]
    pub(crate) fn end_wait(&mut self, common: &Common<'_>, number: u32, now: Tick) {
        let time = common.time(now);
        if let Some(waits) = self.sources.waits.get_mut(number as usize)
            && waits.is_on()
        {
            waits.end(time);
        }
    }

    /// Tells the workload how long a message waited for room, whose last packet is sent now.
    fn tell_wait(&mut self, common: &Common<'_>, number: u32, note: Note, now: Tick) {
        let time = common.time(now);
        if let Some(waits) = self.sources.waits.get(number as usize) {
            let waited = waits.until(time) - note.waited_before;
            if waited > Picoseconds::ZERO {
                let terminal = number / common.context.parameters.injection_channels;
                let name = self.sources.adapters[terminal as usize].name;
                self.workload.waited_for_room(name, note.tag, waited);
            }
        }
    }

    /// Takes the first packet of a source queue. Its header starts on the injection channel now.
    #[inline(always)]
    pub(crate) fn next_packet_of(
        &mut self,
        common: &mut Common<'_>,
        number: u32,
        terminal: u32,
        vc: u8,
        now: Tick,
    ) -> NewPacket {
        let place = number as usize * common.context.vc_map.count() + usize::from(vc);
        let queue = &mut self.sources.queues[place];
        let SourceQueue { head: slot, payload, flits, .. } = *queue;
        let message = self.sources.queued.at(slot);
        let bytes = message.bytes_left;
        message.bytes_left =
            bytes.saturating_sub(common.context.parameters.maximum_payload.0.max(1));
        let Queued { created, bytes_left, destination, next, note, class } = *message;
        let is_last = bytes_left == 0;
        if !is_last {
            self.next_packet(common, place, created, bytes_left);
        } else {
            queue.head = next;
            self.sources.queued.remove(slot);
            if let Some(&Queued { created, bytes_left, .. }) = self.sources.queued.get(next) {
                self.next_packet(common, place, created, bytes_left);
            } else {
                *queue = SourceQueue::EMPTY;
                self.sources.injections[number as usize].waiting &= !(1 << vc);
            }
        }
        let tells_host = self.needs.of(class).receipts;
        if is_last
            && self.needs.of(class).waits
            && let Some(&of_message) = self.sources.notes.get(note)
        {
            self.tell_wait(common, number, of_message, now);
        }
        let (mut arrival, mut role, mut tag) = (NONE, Role::Data, 0);
        if !is_last || note != NONE || tells_host {
            let message = Queued { created, bytes_left: bytes, destination, next, note, class };
            (arrival, role, tag) = self.announced(common, message, (!is_last).then_some(slot));
        }
        self.sources.adapters[terminal as usize].queue.flits -= u64::from(flits);
        self.break_backlog(common, place, terminal, now);
        let of_packet =
            PacketOfMessage { created, destination, class, arrival, payload, flits, tag };
        let slot = self.make_packet(common, (number, terminal, vc), of_packet, now);
        if is_last
            && role.purpose() == Ok(Purpose::Request)
            && common.context.parameters.responder_resources.is_some()
        {
            common.packets.origins[slot as usize].complete_request();
        }
        if arrival == COLLECTIVE {
            tag = self.tag_of_operation(tag, class);
        }
        let departs = is_last && role.departs() && tells_host && self.workload.wants_departure(tag);
        let responds = is_last && role.is_response();
        NewPacket { slot, departs: departs.then_some(tag), responds }
    }

    /// Makes a packet of a terminal, whose header starts on an injection channel now. Returns its
    /// slot.
    #[inline(always)]
    pub(crate) fn make_packet(
        &mut self,
        common: &mut Common<'_>,
        (number, terminal, vc): (u32, u32, u8),
        of_packet: PacketOfMessage,
        now: Tick,
    ) -> u32 {
        let PacketOfMessage { created, destination, class, arrival, payload, flits, tag } =
            of_packet;
        let time = common.time(now);
        let adapter = &mut self.sources.adapters[terminal as usize];
        let sequence = adapter.sequence;
        adapter.sequence = sequence.wrapping_add(1);
        let &mut Adapter { name: source, router, .. } = adapter;

        let mut packet = Packet {
            ready: 0,
            tail: 0,
            next: NONE,
            source,
            sequence,
            flits,
            note: 0,
            route: EncodedRoute::default(),
        };
        let channels = common.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let mut origin =
            Origin::new((created, time), arrival, payload, 0, fitted!(of_terminal, u8), class);
        let mut rest = [0; MAX_WORDS];
        let rest = &mut rest[..common.packets.words];
        if arrival == COLLECTIVE {
            (packet.note, packet.route) = (1, EncodedRoute(tag));
        } else {
            let from = router + common.context.cut.first_router(common.schedule.part);
            let ejections = common.context.parameters.ejection_channels;
            // A division takes long.
            let turn = if of_terminal < ejections { of_terminal } else { of_terminal % ejections };
            let ejection = fitted!(turn, u16);
            let ends = Ends { terminal, from, destination, ejection };
            let (context, choices) = (&*common.context, &mut self.sources.choices);
            let parts = (&mut packet, &mut origin);
            common.routing.inject(context, choices, (ends, vc), parts, rest);
        }
        let slot = common.packets.insert(packet, origin);
        if !rest.is_empty() {
            common.packets.rest(slot).copy_from_slice(rest);
        }
        slot
    }

    /// Starts a packet on an injection channel, which it has until its last flit has left, in a part
    /// with so many outputs. Returns when that is.
    #[inline(always)]
    pub(crate) fn start_packet(
        &mut self,
        common: &mut Common<'_>,
        outputs: usize,
        (number, terminal, vc): (u32, u32, u8),
        slot: u32,
        now: Tick,
    ) -> Tick {
        let packet = &mut common.packets.packets[slot as usize];
        let Packet { source, sequence, flits, .. } = *packet;
        // All flits are there from the start.
        let timing = common.context.timing(self.sources.adapters[terminal as usize].timing);
        let last = common.context.send(packet, timing, now);
        let free_at = last + timing.flit;
        let injection = &mut self.sources.injections[number as usize];
        let is_last = usize::from(vc) + 1 == common.context.vc_map.count();
        injection.pointer = if is_last { 0 } else { vc + 1 };
        injection.free_at = free_at;
        common.digest.add(common.time(now), injection.name, source, sequence);
        common.counters.grants += 1;
        let in_part = fitted!(outputs, u32) + number;
        common.statistics.sent(in_part, vc, flits);
        if common.statistics.counts_classes() {
            let class = common.packets.origins[slot as usize].class();
            common.statistics.count_class(in_part, flits, class);
        }
        free_at
    }

    /// If all that is left in a terminal's source queues was created ahead: the backlog begins anew.
    #[inline]
    fn break_backlog(&mut self, common: &Common<'_>, queue: usize, terminal: u32, now: Tick) {
        if !self.go_ahead || self.sources.adapters[terminal as usize].queue.flits == 0 {
            return;
        }
        let time = common.time(now);
        if self.sources.queues[queue].created <= time {
            return;
        }
        let vcs = common.context.vc_map.count();
        let Range { start, end } = self.injections_of(common, terminal);
        let queues = &self.sources.queues[start as usize * vcs..end as usize * vcs];
        let first = queues.iter().fold(NO_TIME, |first, queue| first.min(queue.created));
        if first > time {
            self.sources.adapters[terminal as usize].queue.since = first;
        }
    }

    /// Registers a message with its sink if it has several packets or expects a reply. Returns its
    /// id there, its role and its tag. `message.bytes_left` is what remained before this packet.
    /// `slot` is where the message stays for its next packet, if it has one.
    #[inline(never)]
    fn announced(
        &mut self,
        common: &mut Common<'_>,
        message: Queued,
        slot: Option<u32>,
    ) -> (u32, Role, u64) {
        let started = message.created - common.context.overheads[message.class].send;
        let plain = note(started, Role::Data, 0);
        let mut note = self.sources.notes.get(message.note).copied().unwrap_or(plain);
        if let Role::Operand | Role::Broadcast = note.role {
            let route = self.route_of_next(message.note, slot.is_some());
            return (COLLECTIVE, note.role, route);
        }
        if note.arrival == NONE {
            let (full, rest) = common.context.parameters.packets(message.bytes_left);
            let arrival = Arrival {
                started: note.started,
                bytes: message.bytes_left,
                packets_left: u32::try_from(full + u64::from(rest.is_some()))
                    .expect("a scenario's messages have at most MAX_PACKETS packets"),
                role: note.role,
                tag: note.tag,
                lost: false,
            };
            note.arrival = self.announce(common, message.destination, arrival);
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
}
