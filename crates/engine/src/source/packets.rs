//! Packets that a source makes of its messages, and their injection where routers grant whole
//! packets.

use super::{Adapter, SourceQueue};
use crate::collective::COLLECTIVE;
use crate::message::{Arrival, Note, Queued, Role};
use crate::next_hop::{EncodedRoute, Ends, MAX_WORDS};
use crate::packet::{Origin, Packet};
use crate::part::Part;
use crate::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// A packet that a source has made.
pub(crate) struct NewPacket {
    pub slot: u32,
    /// The tag of its message, if it is the message's last packet and its departure is to be told.
    pub departs: Option<u64>,
}

impl Part<'_> {
    /// Sends the first packet that has room through an injection channel, if that is free. Sets the
    /// time at which the channel is served next.
    #[inline]
    pub(super) fn inject(&mut self, number: u32, terminal: u32, now: Tick) {
        if self.flits.is_some() {
            return self.inject_flits(number, terminal, now);
        }
        let vcs = fitted!(self.context.vc_map.count(), u32);
        let injection = self.sources.injections[number as usize];
        if self.sources.paused || injection.waiting == 0 {
            self.sources.injections[number as usize].due = NEVER;
            return;
        }
        if injection.free_at > now {
            self.sources.injections[number as usize].due = injection.free_at;
            return;
        }
        let of_terminal = number - terminal * self.context.parameters.injection_channels;
        let room = self.sources.adapters[terminal as usize].room + of_terminal * vcs;
        let mut due = NEVER;
        let from_pointer = u16::MAX << injection.pointer;
        for mut waiting in [injection.waiting & from_pointer, injection.waiting & !from_pointer] {
            while waiting != 0 {
                let vc = waiting.trailing_zeros();
                waiting &= waiting - 1;
                let flits = self.sources.queues[(number * vcs + vc) as usize].flits;
                let place = room + vc;
                if self.credits.room[place as usize] < flits {
                    self.credits.collect(place, now);
                    if self.credits.room[place as usize] < flits {
                        due = due.min(self.credits.foresee(place, flits));
                        continue;
                    }
                }
                self.credits.room[place as usize] -= flits;
                self.end_wait(number, now);
                self.send_packet(number, terminal, fitted!(vc, u8), now);
                let injection = &mut self.sources.injections[number as usize];
                injection.due = if injection.waiting == 0 { NEVER } else { injection.free_at };
                return;
            }
        }
        self.begin_wait(number, now);
        self.sources.injections[number as usize].due = due;
    }

    /// Begins a wait of a free injection channel that has packets and room for none.
    #[inline]
    pub(crate) fn begin_wait(&mut self, number: u32, now: Tick) {
        let time = self.time(now);
        if let Some(waits) = self.sources.waits.get_mut(number as usize) {
            waits.begin(time);
        }
    }

    /// Ends the wait of an injection channel, which sends.
    #[inline]
    pub(crate) fn end_wait(&mut self, number: u32, now: Tick) {
        let time = self.time(now);
        if let Some(waits) = self.sources.waits.get_mut(number as usize)
            && waits.is_on()
        {
            waits.end(time);
        }
    }

    /// Tells the workload how long a message waited for room, whose last packet is sent now.
    fn tell_wait(&mut self, number: u32, note: Note, now: Tick) {
        let time = self.time(now);
        if let Some(waits) = self.sources.waits.get(number as usize) {
            let waited = waits.until(time) - note.waited_before;
            if waited > Picoseconds::ZERO {
                self.workload.waited_for_room(note.tag, waited);
            }
        }
    }

    /// Takes the first packet of a source queue. Its header starts on the injection channel now.
    #[inline(always)]
    pub(crate) fn next_packet_of(
        &mut self,
        number: u32,
        terminal: u32,
        vc: u8,
        now: Tick,
    ) -> NewPacket {
        let place = number as usize * self.context.vc_map.count() + usize::from(vc);
        let queue = &mut self.sources.queues[place];
        let SourceQueue { head: slot, payload, flits, .. } = *queue;
        let message = self.sources.queued.at(slot);
        let bytes = message.bytes_left;
        message.bytes_left = bytes.saturating_sub(self.context.parameters.maximum_payload.0.max(1));
        let Queued { created, bytes_left, destination, next, note } = *message;
        let is_last = bytes_left == 0;
        if is_last {
            queue.head = next;
            self.sources.queued.remove(slot);
        }
        if !is_last {
            self.next_packet(place, bytes_left);
        } else if next == NONE {
            self.sources.injections[number as usize].waiting &= !(1 << vc);
        } else {
            let bytes_left = self.sources.queued.at(next).bytes_left;
            self.next_packet(place, bytes_left);
        }
        let tells_host = self.workload.wants_receipts();
        if is_last && let Some(&of_message) = self.sources.notes.get(note) {
            self.tell_wait(number, of_message, now);
        }
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
        let channels = self.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let mut origin =
            Origin::new((created, time), arrival, payload, 0, fitted!(of_terminal, u8));
        let mut rest = [0; MAX_WORDS];
        let rest = &mut rest[..self.packets.words];
        if arrival == COLLECTIVE {
            (packet.note, packet.route) = (1, EncodedRoute(tag));
            tag = (tag & u64::from(u32::MAX)) + 1;
        } else {
            let from = router + self.context.cut.first_router(self.schedule.part);
            let ejection = of_terminal % self.context.parameters.ejection_channels;
            let ejection = fitted!(ejection, u16);
            let ends = Ends { terminal, from, destination, ejection };
            let parts = (&mut packet, &mut origin);
            let choices = &mut self.sources.choices;
            self.routing.inject(&self.context, choices, (ends, vc), parts, rest);
        }
        let slot = self.packets.insert(packet, origin);
        self.packets.rest(slot).copy_from_slice(rest);
        let departs = is_last && role.departs() && tells_host && self.workload.wants_departure(tag);
        NewPacket { slot, departs: departs.then_some(tag) }
    }

    /// Sends the first packet of a source queue through a free injection channel.
    #[inline]
    fn send_packet(&mut self, number: u32, terminal: u32, vc: u8, now: Tick) {
        let NewPacket { slot, departs } = self.next_packet_of(number, terminal, vc, now);
        let packet = &mut self.packets.packets[slot as usize];
        let Packet { source, sequence, flits, .. } = *packet;
        let &Adapter { router, input: first_input, timing, .. } =
            &self.sources.adapters[terminal as usize];
        // All flits are there from the start.
        let last = self.context.send(packet, timing, now);
        let channels = self.context.parameters.injection_channels;
        let of_terminal = number - terminal * channels;
        let time = self.time(now);

        let context = &*self.context;
        let channel = context.channel_of_injection(self.schedule.part, number);
        self.digest.add(time, channel, source, sequence);
        self.counters.grants += 1;
        let in_part = fitted!(self.ports.outputs, u32) + number;
        self.statistics.sent(in_part, vc, flits);
        let injection = &mut self.sources.injections[number as usize];
        injection.pointer = (vc + 1) % fitted!(context.vc_map.count(), u8);
        let free_at = last + context.timing(timing).flit;
        injection.free_at = free_at;
        let of_router = first_input + of_terminal - self.ports.routers[router as usize].first_input;
        let input_vc = (of_router << self.ports.size.shift) + u32::from(vc);
        self.join(router, input_vc, slot);
        if let Some(tag) = departs {
            self.message_sent(terminal, tag, self.time(free_at));
        }
    }

    /// Registers a message with its sink if it has several packets or expects a reply. Returns its
    /// id there, its role and its tag. `message.bytes_left` is what remained before this packet.
    /// `slot` is where the message stays for its next packet, if it has one.
    #[inline(never)]
    fn announced(&mut self, message: Queued, slot: Option<u32>) -> (u32, Role, u64) {
        let started = message.created - self.context.parameters.send_overhead;
        let plain = Note {
            started,
            role: Role::Data,
            tag: 0,
            arrival: NONE,
            waited_before: Picoseconds::ZERO,
        };
        let mut note = self.sources.notes.get(message.note).copied().unwrap_or(plain);
        if let Role::Operand | Role::Broadcast = note.role {
            let route = self.route_of_next(message.note, slot.is_some());
            return (COLLECTIVE, note.role, route);
        }
        if note.arrival == NONE {
            let (full, rest) = self.context.parameters.packets(message.bytes_left);
            let arrival = Arrival {
                started: note.started,
                bytes: message.bytes_left,
                packets_left: u32::try_from(full + u64::from(rest.is_some()))
                    .expect("a scenario's messages have at most MAX_PACKETS packets"),
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
}
