//! Packets that are delivered, messages that are completed, and what that causes: reads are
//! answered, atomic operations performed (docs/model.md, "Sink").
//!
//! The time of a packet's delivery is known when its ejection channel is granted. The delivery is
//! counted at that grant, unless it comes after the end time of the run.

use super::Hosts;
use super::sink::{Atomic, HostEvent, ScheduledHostEvent, place};
use super::source::note;
use crate::common::Common;
use crate::next_hop::Address;
use crate::observer::Observer;
use crate::packet::collective::COLLECTIVE;
use crate::packet::message::{Arrival, Queued, Role};
use crate::packet::{Delivery, Origin, Packet};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::workload::Receipt;
use flitlab_model::{CompletedMessage, DeliveredPacket};

impl Hosts {
    /// Announces a message to the part of its sink. Returns the number under which it is known
    /// there.
    pub(crate) fn announce(
        &mut self,
        common: &Common<'_>,
        destination: u32,
        arrival: Arrival,
    ) -> u32 {
        let part = common.context.cut.part_of_terminal(destination);
        let number = self.sink.numbers[part].take();
        if part == common.schedule.part {
            self.sink.expect(part, number, arrival);
        } else {
            self.outgoing[part].arrivals.push((number, arrival));
        }
        number
    }

    /// Counts a packet of an announced message. Returns the message if that was its last packet.
    fn arrive(
        &mut self,
        common: &Common<'_>,
        source: u32,
        number: u32,
        lost: bool,
    ) -> Option<Arrival> {
        let part = common.context.cut.part_of_terminal(source);
        let arrival = &mut self.sink.arrivals[part][number as usize];
        arrival.packets_left -= 1;
        arrival.lost |= lost;
        if arrival.packets_left > 0 {
            return None;
        }
        let arrival = *arrival;
        if part == common.schedule.part {
            self.sink.forget(part, number);
        } else {
            self.outgoing[part].arrived.push(number);
        }
        Some(arrival)
    }

    /// Handles deliveries of which the observer is told at the end of the window.
    pub(crate) fn deliver_all(
        &mut self,
        common: &mut Common<'_>,
        deliveries: impl IntoIterator<Item = Delivery>,
    ) {
        let mut log = std::mem::take(&mut self.sink.log);
        for delivery in deliveries {
            self.deliver(common, &mut log, delivery);
        }
        self.sink.log = log;
    }

    /// Handles the delivery of a packet, whose last flit will be at its sink or at the end of a
    /// channel that swallows it.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        common: &mut Common<'_>,
        observer: &mut impl Observer,
        delivery: Delivery,
    ) {
        if delivery.terminal == NONE && self.is_counted_elsewhere(common, delivery) {
            return;
        }
        // A workload that is told of first flits knows of them before the run ends.
        let told = if self.needs.any.first_flits && delivery.terminal != NONE {
            self.told(common, delivery)
        } else {
            delivery.time
        };
        if told > common.schedule.window.limit {
            self.sink.late.push(delivery);
        } else {
            self.count(common, observer, delivery);
        }
    }

    /// When the workload of a packet is told of its delivery, if told of first flits.
    #[cold]
    fn told(&self, common: &Common<'_>, Delivery { time, slot, .. }: Delivery) -> Picoseconds {
        let class = common.packets.origins[slot as usize].class();
        if self.needs.of(class).first_flits {
            time - common.trailing(common.packets.packets[slot as usize].flits)
        } else {
            time
        }
    }

    /// Whether a swallowed packet belongs to a message that another part counts. If so, that part
    /// is told.
    #[cold]
    fn is_counted_elsewhere(
        &mut self,
        common: &mut Common<'_>,
        Delivery { time, slot, .. }: Delivery,
    ) -> bool {
        let Address { destination, .. } = common.packets.packets[slot as usize].route.into();
        let part = common.context.cut.part_of_terminal(destination);
        let elsewhere = part != common.schedule.part;
        if elsewhere {
            let crossing = common.packets.take_away(slot);
            self.outgoing[part].lost.push((crossing, time));
        }
        elsewhere
    }

    /// Counts the deliveries that lie before the new end time of the run.
    pub(crate) fn deliver_late(&mut self, common: &mut Common<'_>) {
        let late = std::mem::take(&mut self.sink.late);
        self.deliver_all(common, late);
    }

    #[inline]
    fn count(
        &mut self,
        common: &mut Common<'_>,
        observer: &mut impl Observer,
        Delivery { time, slot, terminal, vc }: Delivery,
    ) {
        let packet = common.packets.packets[slot as usize];
        let origin = common.packets.origins[slot as usize];
        common.packets.remove(slot);
        common.latest = common.latest.max(time);
        let hops = common.routing.hops_crossed(&packet, &origin);
        let lost = origin.is_useless();
        if lost && origin.is_bad() {
            return;
        }
        self.sink.flits_ended[origin.class()] += u64::from(packet.flits);
        if lost {
            common.counters.packets_lost += 1;
            common.counters.flits_lost += u64::from(packet.flits);
        } else {
            common.counters.flits_delivered += u64::from(packet.flits);
            common.counters.packets_delivered += 1;
            common.counters.flit_hops += u64::from(packet.flits) * u64::from(hops);
            common.counters.packet_hops += u64::from(hops);
            observer.packet_delivered(&DeliveredPacket {
                class: origin.class(),
                source: packet.source,
                destination: self.sources.adapters[terminal as usize].name,
                sequence: packet.sequence,
                injection_channel: origin.injection_channel,
                virtual_channel: common.context.vc_map.number(vc),
                flits: u32::from(packet.flits),
                payload: origin.payload,
                hops: u32::from(hops),
                misroute: origin.misroute(common.routing.misroutes()),
                created: origin.created,
                injected: origin.injected,
                delivered: time,
            });
        }
        if origin.arrival != NONE {
            return self.count_announced(
                common,
                observer,
                (&packet, &origin, hops, terminal),
                time,
            );
        }
        let arrival = Arrival {
            started: origin.created - common.context.overheads[origin.class()].send,
            bytes: u64::from(origin.payload),
            packets_left: 0,
            role: Role::Data,
            tag: 0,
            lost,
        };
        self.complete(common, observer, arrival, (&packet, &origin, hops, terminal), time);
    }

    /// Counts a packet that is not a whole message of data.
    #[inline(never)]
    fn count_announced(
        &mut self,
        common: &mut Common<'_>,
        observer: &mut impl Observer,
        (packet, origin, hops, terminal): (&Packet, &Origin, u16, u32),
        time: Picoseconds,
    ) {
        if origin.arrival == COLLECTIVE {
            self.arrive_collective(common, observer, (packet, origin, terminal), time);
        } else if let Some(arrival) =
            self.arrive(common, packet.source, origin.arrival, origin.is_useless())
        {
            self.complete(common, observer, arrival, (packet, origin, hops, terminal), time);
        }
    }

    /// Completes a message, all of whose packets are at a terminal's sink: the last one, which
    /// crossed so many channels between routers, at `time`.
    // It is much shorter for messages of data.
    #[inline(always)]
    fn complete(
        &mut self,
        common: &mut Common<'_>,
        observer: &mut impl Observer,
        Arrival { started, bytes, role, tag, lost, .. }: Arrival,
        (packet, origin, hops, terminal): (&Packet, &Origin, u16, u32),
        time: Picoseconds,
    ) {
        let class = origin.class();
        if lost {
            return self.lose_message(common, class);
        }
        let source = packet.source;
        let answer = match role {
            Role::Request(bytes) | Role::Atomic(bytes) => Some((Role::Response, bytes)),
            Role::Put => Some((Role::Acknowledgement(bytes), 0)),
            _ => None,
        };
        if let Some((answer, answered)) = answer {
            if self.needs.of(class).both_ways {
                let event = receive_event(common, tag, (packet, origin, hops), bytes, time);
                self.schedule_host_event(common, terminal, time, event);
            }
            let bytes = answered;
            let note = self.sources.notes.insert(note(started, answer, tag));
            let injection_channel = origin.injection_channel;
            if let Role::Atomic(_) = role {
                let atomic = Atomic { source, bytes, note, injection_channel, class };
                let event = HostEvent::Perform(atomic);
                return self.schedule_host_event(common, terminal, time, event);
            }
            let created = time + common.context.parameters.service_time;
            let message = response(created, bytes, source, note, class);
            let event = HostEvent::Respond { message, injection_channel, of_atomic: false };
            return self.schedule_host_event(common, terminal, created, event);
        }
        let completed = time + common.context.overheads[class].receive;
        self.sink.messages_completed[class] += 1;
        let name = self.sources.adapters[terminal as usize].name;
        let is_response = role.is_response();
        let came = bytes;
        let bytes = if let Role::Acknowledgement(bytes) = role { bytes } else { bytes };
        let (source, destination) = if is_response { (name, source) } else { (source, name) };
        let receipts = self.needs.of(class).receipts;
        observer.message_completed(&CompletedMessage {
            class,
            source,
            destination,
            bytes,
            is_control: receipts && self.workload.is_control(tag),
            created: started,
            completed,
        });
        if receipts {
            let event = if is_response && !self.needs.of(class).both_ways {
                HostEvent::Sent { tag }
            } else {
                receive_event(common, tag, (packet, origin, hops), came, completed)
            };
            self.schedule_host_event(common, terminal, completed, event);
        }
    }

    /// Notes that the last flit of a terminal's message leaves at `time`.
    pub(crate) fn message_sent(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        tag: u64,
        time: Picoseconds,
    ) {
        self.schedule_host_event(common, terminal, time, HostEvent::Sent { tag });
    }

    /// Puts an event into the list of a terminal's host. If the workload of its message may be told
    /// ahead, it is told at once instead.
    pub(crate) fn schedule_host_event(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        time: Picoseconds,
        event: HostEvent,
    ) {
        if self.needs.any.ahead
            && let Some(tag) = event.tag()
            && self.needs.of_tag(&*self.workload, tag).ahead
        {
            return self.run_host_event(common, terminal, event, time);
        }
        let mut before = NONE;
        let mut at = self.sources.adapters[terminal as usize].host_events;
        while let Some(listed) = self.sink.host_events.get(at).filter(|listed| listed.time <= time)
        {
            (before, at) = (at, listed.next);
        }
        let slot = self.sink.host_events.insert(ScheduledHostEvent { time, event, next: at });
        if before == NONE {
            self.sources.adapters[terminal as usize].host_events = slot;
        } else {
            self.sink.host_events.at(before).next = slot;
        }
        self.lower_terminal(common, terminal, common.schedule.tick(time));
    }

    /// Runs a host's events of this instant and creates its messages of this instant. The messages
    /// enter their queues before responses do; responses of atomic operations come last.
    pub(crate) fn run_host_events(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        now: Picoseconds,
    ) {
        let (mut responses, mut of_atomics) = (Vec::new(), Vec::new());
        let mut atomics = Vec::new();
        loop {
            let adapter = &self.sources.adapters[terminal as usize];
            let (head, create_at) = (adapter.host_events, adapter.create_at);
            if let Some(&ScheduledHostEvent { time, event, next }) = self.sink.host_events.get(head)
                && time <= now
            {
                debug_assert_eq!(time, now);
                self.sources.adapters[terminal as usize].host_events = next;
                self.sink.host_events.remove(head);
                match event {
                    HostEvent::Respond { message, injection_channel, of_atomic } => {
                        let list = if of_atomic { &mut of_atomics } else { &mut responses };
                        list.push((message, injection_channel));
                    }
                    HostEvent::Perform(atomic) => atomics.push(atomic),
                    _ => self.run_host_event(common, terminal, event, now),
                }
            } else if create_at <= now {
                self.create(common, terminal, now);
            } else if !atomics.is_empty() {
                // All requests of this instant are known; their responses may be due at the same
                // instant.
                self.perform(common, terminal, std::mem::take(&mut atomics), now);
            } else {
                break;
            }
        }
        for (message, injection_channel) in responses.into_iter().chain(of_atomics) {
            common.latest = common.latest.max(now);
            self.enqueue(common, terminal, injection_channel, Role::Response, message);
        }
    }

    /// Tells the workload what has happened at a terminal's host.
    fn run_host_event(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        event: HostEvent,
        time: Picoseconds,
    ) {
        let name = self.sources.adapters[terminal as usize].name;
        common.latest = common.latest.max(time);
        let wake = match event {
            HostEvent::Sent { tag } => self.workload.sent(name, tag, time),
            HostEvent::Receive(receipt) => self.workload.received(name, &receipt),
            HostEvent::Respond { .. } | HostEvent::Perform(_) => return,
        };
        self.wake(common, wake);
    }

    /// Performs the operations whose requests have come to a terminal at this instant, after those
    /// that came before. No two of them came by one ejection channel; they are performed in the
    /// order of these channels.
    pub(crate) fn perform(
        &mut self,
        common: &mut Common<'_>,
        terminal: u32,
        mut atomics: Vec<Atomic>,
        now: Picoseconds,
    ) {
        let parameters = &common.context.parameters;
        let (channels, takes) = (parameters.ejection_channels, parameters.atomic_time);
        let service_time = parameters.service_time;
        atomics.sort_by_key(|it| u32::from(it.injection_channel) % channels);
        common.latest = common.latest.max(now);
        for Atomic { source, bytes, note, injection_channel, class } in atomics {
            let until = place(&mut self.sink.performing_until, terminal, Picoseconds::ZERO);
            *until = now.max(*until) + takes;
            let created = *until + service_time;
            let message = response(created, bytes, source, note, class);
            let event = HostEvent::Respond { message, injection_channel, of_atomic: true };
            self.schedule_host_event(common, terminal, created, event);
        }
    }
}

/// A terminal learns at a time of a message of so many bytes, of which this packet was the last to
/// come.
#[inline(always)]
fn receive_event(
    common: &Common<'_>,
    tag: u64,
    (packet, origin, hops): (&Packet, &Origin, u16),
    bytes: u64,
    time: Picoseconds,
) -> HostEvent {
    // The packets before it took the ejection channel at least for their flits.
    let parameters = &common.context.parameters;
    let before = parameters.packets(bytes);
    let before = before.0 - u64::from(before.1.is_none());
    let leading =
        parameters.ejection_flit_time() * before.saturating_mul(parameters.maximum_packet().into());
    HostEvent::Receive(Receipt {
        tag,
        created: origin.created,
        injected: origin.injected,
        hops: u32::from(hops),
        sequence: packet.sequence,
        channel: origin.injection_channel,
        trailing: common.trailing(packet.flits),
        leading,
        time,
    })
}

/// A response that will enter its source queue at `created`, to the terminal that asked for it.
fn response(created: Picoseconds, bytes: u64, destination: u32, note: u32, class: u8) -> Queued {
    Queued { created, bytes_left: bytes, destination, next: NONE, note, class }
}
