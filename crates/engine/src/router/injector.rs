//! Packets that terminals send whole, each with room for all its flits: from the source queues of an
//! injection channel, or past them.

use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::host::source::{Injection, SourceQueue};
use crate::host::{Hosts, NewPacket, PacketOfMessage};
use crate::packet::message::{Packing, Queued, Role};
use crate::router::Routers;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// Routers that take whole packets from their terminals.
pub(crate) trait Injector: Routers {
    /// Whether an injection channel has room for this many flits at a place of credits by `now`.
    fn has_room(&mut self, place: u32, flits: u16, now: Tick) -> bool;

    /// The time at which it will have room for this many flits, of which it has too little now;
    /// [`NEVER`] if that is not known: then its terminal is woken.
    fn foresee(&mut self, place: u32, flits: u16) -> Tick;

    /// Takes room that there is.
    fn take(&mut self, place: u32, flits: u16);

    /// Puts a packet into the buffer of a router's own input port and virtual channel.
    fn put(&mut self, common: &mut Common<'_>, router: u32, place: (u16, u8), slot: u32);

    /// Notes that the last packet of a response leaves its terminal, by a time.
    fn respond(&mut self, _: &mut Common<'_>, _terminal: u32, _by: Tick, _now: Tick) {}

    /// Sends the first packet that has room through an injection channel, if that is free. Returns
    /// the time at which the channel is served next; `None` if it is served `ahead` of its router,
    /// which might free room for another packet first.
    #[inline]
    fn inject_first(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal): (u32, u32),
        now: Tick,
        ahead: bool,
    ) -> Option<Tick> {
        let vcs = fitted!(common.context.vc_map.count(), u32);
        let injection = hosts.sources.injections[number as usize];
        if hosts.sources.paused || injection.waiting == 0 {
            return Some(NEVER);
        }
        if ahead && injection.is_uncertain(now) {
            return None;
        }
        if injection.free_at > now {
            return Some(injection.free_at);
        }
        let time = common.time(now);
        let mut due = NEVER;
        let from_pointer = u16::MAX << injection.pointer;
        for waiting in [injection.waiting & from_pointer, injection.waiting & !from_pointer] {
            for vc in bits(waiting).map(|vc| fitted!(vc, u32)) {
                let SourceQueue { created, flits, .. } =
                    hosts.sources.queues[(number * vcs + vc) as usize];
                // The message may have been created ahead.
                if created > time {
                    due = due.min(common.schedule.tick(created));
                    continue;
                }
                let place = injection.room + vc;
                if !self.has_room(place, flits, now) {
                    if ahead {
                        return None;
                    }
                    due = due.min(self.foresee(place, flits));
                    continue;
                }
                self.take(place, flits);
                hosts.end_wait(common, number, now);
                self.send_packet(common, hosts, (number, terminal, fitted!(vc, u8)), now);
                let Injection { waiting, free_at, .. } = hosts.sources.injections[number as usize];
                return Some(if waiting == 0 { NEVER } else { free_at });
            }
        }
        hosts.begin_wait(common, number, now);
        Some(due)
    }

    /// Sends a message of one packet past its source queue, as
    /// [`send_at_once`](Routers::send_at_once) does.
    #[inline(always)]
    fn pass_queue(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (terminal, channel): (u32, u8),
        message: &Queued,
        now: Tick,
    ) -> bool {
        let context = &*common.context;
        let number = terminal * context.parameters.injection_channels + u32::from(channel);
        let &Queued { created, bytes_left, destination, note, class, .. } = message;
        let Injection { waiting, free_at, room, .. } = hosts.sources.injections[number as usize];
        let is_one = bytes_left <= context.parameters.maximum_payload.0 && note == NONE;
        if !is_one || waiting != 0 || free_at > now {
            return false;
        }
        let ends = (hosts.sources.adapters[terminal as usize].name, destination);
        let vc = common.routing.source_vc(context, (class, Role::Data), ends);
        let place = room + u32::from(vc);
        let Packing { payload, packet_flits: flits, .. } =
            hosts.sources.packing(bytes_left, &context.parameters);
        if !self.has_room(place, flits, now) {
            return false;
        }
        self.take(place, flits);
        common.counters.flits_created += u64::from(flits);
        hosts.sources.flits_created[class] += u64::from(flits);
        let (arrival, tag) = (NONE, 0);
        let packet = PacketOfMessage { created, destination, class, arrival, payload, flits, tag };
        let slot = hosts.make_packet(common, (number, terminal, vc), packet, now);
        self.start_packet(common, hosts, (number, terminal, vc), slot, now);
        true
    }

    /// Sends the first packet of a source queue through a free injection channel.
    #[inline]
    fn send_packet(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal, vc): (u32, u32, u8),
        now: Tick,
    ) {
        let NewPacket { slot, departs, responds } =
            hosts.next_packet_of(common, number, terminal, vc, now);
        let free_at = self.start_packet(common, hosts, (number, terminal, vc), slot, now);
        if responds {
            self.respond(common, terminal, free_at, now);
        }
        if let Some(tag) = departs {
            hosts.message_sent(common, terminal, tag, common.time(free_at));
        }
    }

    /// Starts a new packet on an injection channel. Returns the time at which the channel is free
    /// again.
    #[inline(always)]
    fn start_packet(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        (number, terminal, vc): (u32, u32, u8),
        slot: u32,
        now: Tick,
    ) -> Tick {
        let outputs = self.ports().outputs;
        let free_at = hosts.start_packet(common, outputs, (number, terminal, vc), slot, now);
        let port = hosts.sources.injections[number as usize].port;
        let router = hosts.sources.adapters[terminal as usize].router;
        self.put(common, router, (port, vc), slot);
        free_at
    }
}
