//! Terminals: messages wait in source queues, are cut into packets, injected, and completed at the
//! sink (docs/model.md, "Adapter" and "Sink").

use super::Engine;
use super::event::Event;
use super::observer::{CompletedMessage, DeliveredPacket, Observer};
use super::packet::{Packet, PacketOrigin, RATE_CLASSES, Stage};
use super::parameters::{REQUEST_CHANNEL, RESPONSE_CHANNEL, Switching, VIRTUAL_CHANNELS};
use crate::adaptive::Heading;
use crate::routing::Routes;
use crate::topology::NONE;
use crate::traffic::{Kind, Message, Wake};
use crate::units::Picoseconds;

/// What a message's last packet brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Data,
    /// A read request, which asks for so many bytes.
    Request(u64),
    /// The response to a read request.
    Response,
}

impl Role {
    fn virtual_channel(self) -> u8 {
        match self {
            Self::Data | Self::Request(_) => REQUEST_CHANNEL,
            Self::Response => RESPONSE_CHANNEL,
        }
    }
}

/// A message that is queued or under way.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    /// When the message, for a response the read, was created.
    started: Picoseconds,
    /// When its packets were: behind the send overhead.
    created: Picoseconds,
    source: u32,
    destination: u32,
    bytes: u64,
    /// Payload and packets that are still to be injected.
    bytes_left: u64,
    packets_left: u32,
    packets_undelivered: u32,
    role: Role,
    injection_channel: u8,
    tag: u32,
    /// The message behind it in its source queue.
    next: u32,
}

/// First and last message of a source queue.
#[derive(Clone, Copy, Debug)]
struct SourceQueue {
    head: u32,
    tail: u32,
    /// Payload in bytes and flits of the packet that is next; kept here since it is asked for at every
    /// attempt, and a long queue's messages are far from any cache.
    payload: u32,
    flits: u32,
}

impl SourceQueue {
    const EMPTY: Self = Self { head: NONE, tail: NONE, payload: 0, flits: 0 };
}

/// What a terminal's adapter counts.
#[derive(Clone, Copy, Debug, Default)]
struct Adapter {
    /// The injection channel of the next message.
    next_channel: u8,
    touched: bool,
    /// Number of its next packet.
    sequence: u32,
}

/// The state of all adapters, in flat arrays.
#[derive(Debug)]
pub(super) struct Adapters {
    adapters: Vec<Adapter>,
    /// By injection channel, then virtual channel.
    queues: Vec<SourceQueue>,
    transfers: Vec<Transfer>,
    free: Vec<u32>,
    pub touched: Vec<u32>,
    created: Vec<Message>,
}

impl Adapters {
    pub(super) fn new(terminals: u32, injection_channels: u32) -> Self {
        let queues = (terminals * injection_channels) as usize * VIRTUAL_CHANNELS;
        Self {
            adapters: vec![Adapter::default(); terminals as usize],
            queues: vec![SourceQueue::EMPTY; queues],
            transfers: Vec::new(),
            free: Vec::new(),
            touched: Vec::new(),
            created: Vec::new(),
        }
    }

    /// Bytes that the adapters keep, messages under way included.
    pub(super) fn memory(&self) -> usize {
        self.adapters.len() * size_of::<Adapter>()
            + self.queues.len() * size_of::<SourceQueue>()
            + self.transfers.capacity() * size_of::<Transfer>()
    }

    /// Messages that are queued or under way.
    pub(super) fn messages(&self) -> usize {
        self.transfers.len() - self.free.len()
    }

    fn insert(&mut self, transfer: Transfer) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.transfers[slot as usize] = transfer;
            return slot;
        }
        self.transfers.push(transfer);
        self.transfers.len() as u32 - 1
    }

    pub(super) fn touch(&mut self, terminal: u32) {
        let adapter = &mut self.adapters[terminal as usize];
        if !adapter.touched {
            adapter.touched = true;
            self.touched.push(terminal);
        }
    }
}

impl<O: Observer> Engine<'_, O> {
    /// A terminal creates its messages of this instant (the send overhead lies behind them).
    pub(super) fn create(&mut self, terminal: u32, now: Picoseconds) {
        let overhead = self.parameters.send_overhead;
        let mut messages = std::mem::take(&mut self.adapters.created);
        let next = self.workload.create(terminal, now - overhead, &mut messages);
        for message in messages.drain(..) {
            debug_assert_eq!(message.source, terminal);
            let (role, bytes) = match message.kind {
                Kind::Data => (Role::Data, message.bytes),
                Kind::Read { request } => (Role::Request(message.bytes), u64::from(request)),
            };
            let adapter = &mut self.adapters.adapters[terminal as usize];
            let injection_channel = adapter.next_channel;
            adapter.next_channel =
                (injection_channel + 1) % self.parameters.injection_channels as u8;
            let packets = self.packets_of(bytes);
            let slot = self.adapters.insert(Transfer {
                started: message.time,
                created: now,
                source: terminal,
                destination: message.destination,
                bytes,
                bytes_left: bytes,
                packets_left: packets,
                packets_undelivered: packets,
                role,
                injection_channel,
                tag: message.tag,
                next: NONE,
            });
            self.enqueue(slot);
        }
        self.adapters.created = messages;
        if let Some(next) = next {
            self.calendar.add(next + overhead, Event::Create { terminal });
        }
    }

    fn packets_of(&self, bytes: u64) -> u32 {
        let (full, rest) = self.parameters.packets(bytes);
        u32::try_from(full + u64::from(rest.is_some()))
            .expect("a message has fewer than 2^32 packets")
    }

    /// A message joins its source queue.
    pub(super) fn enqueue(&mut self, slot: u32) {
        let transfer = &self.adapters.transfers[slot as usize];
        self.counters.flits_created += self.parameters.message_flits(transfer.bytes);
        let channel = transfer.source * self.parameters.injection_channels
            + u32::from(transfer.injection_channel);
        let virtual_channel = match (transfer.role, self.routes) {
            (Role::Data, Routes::Adaptive(_)) => self.channels.adaptive,
            (role, _) => role.virtual_channel(),
        };
        let queue = channel as usize * VIRTUAL_CHANNELS + usize::from(virtual_channel);
        let terminal = transfer.source;
        let tail = std::mem::replace(&mut self.adapters.queues[queue].tail, slot);
        if self.adapters.queues[queue].head == NONE {
            self.adapters.queues[queue].head = slot;
            self.next_packet(queue);
            self.outputs[(self.network.first_injection() + channel) as usize].asking += 1;
            self.adapters.touch(terminal);
        } else {
            self.adapters.transfers[tail as usize].next = slot;
        }
    }

    /// Notes the size of the packet that a source queue sends next.
    fn next_packet(&mut self, queue: usize) {
        let queue = &mut self.adapters.queues[queue];
        if let Some(transfer) = self.adapters.transfers.get(queue.head as usize) {
            let payload = transfer.bytes_left.min(self.parameters.maximum_payload.0);
            queue.payload = payload as u32;
            queue.flits = self.parameters.packet_flits(payload);
        }
    }

    /// Serves a terminal's injection channels once, in order.
    #[inline]
    pub(super) fn inject_all(&mut self, terminal: u32, now: Picoseconds) {
        self.adapters.adapters[terminal as usize].touched = false;
        for number in 0..self.parameters.injection_channels {
            self.inject(self.network.injection(terminal, number), terminal, now);
        }
    }

    /// Sends the first packet that has room through an injection channel, if that is free; sees to it
    /// that the channel is looked at again when the next one may go.
    #[inline]
    fn inject(&mut self, channel: u32, terminal: u32, now: Picoseconds) {
        let first = (channel - self.network.first_injection()) as usize * VIRTUAL_CHANNELS;
        let output = &self.outputs[channel as usize];
        if output.asking == 0 {
            return;
        }
        let mut retry = output.free_at;
        if output.free_at <= now {
            retry = Picoseconds::MAX;
            let pointer = usize::from(output.pointer);
            let virtual_channels = (pointer..VIRTUAL_CHANNELS).chain(0..pointer);
            for virtual_channel in virtual_channels {
                let SourceQueue { head, flits, .. } = self.adapters.queues[first + virtual_channel];
                if head == NONE {
                    continue;
                }
                let credits = |engine: &Self| {
                    u32::from(engine.outputs[channel as usize].credits[virtual_channel])
                };
                if credits(self) < flits {
                    let until = self.await_credits(channel, virtual_channel as u8, flits, now);
                    retry = retry.min(until);
                }
                if credits(self) >= flits {
                    self.send_packet(channel, terminal, virtual_channel, now);
                    let output = &self.outputs[channel as usize];
                    retry = if output.asking > 0 { output.free_at } else { Picoseconds::MAX };
                    break;
                }
            }
        }
        self.wake_at(channel, retry);
    }

    fn send_packet(
        &mut self,
        channel: u32,
        terminal: u32,
        virtual_channel: usize,
        now: Picoseconds,
    ) {
        let first = (channel - self.network.first_injection()) as usize * VIRTUAL_CHANNELS;
        let place = first + virtual_channel;
        let queue = &mut self.adapters.queues[place];
        let SourceQueue { head: message, payload, flits, .. } = *queue;
        let transfer = &mut self.adapters.transfers[message as usize];
        transfer.bytes_left -= u64::from(payload);
        transfer.packets_left -= 1;
        let is_last = transfer.packets_left == 0;
        if is_last {
            queue.head = std::mem::replace(&mut transfer.next, NONE);
            if queue.head == NONE {
                self.outputs[channel as usize].asking -= 1;
            }
        }
        let transfer = *transfer;
        self.next_packet(place);
        let is_data = transfer.role == Role::Data;
        let adapter = &mut self.adapters.adapters[terminal as usize];
        let sequence = adapter.sequence;
        adapter.sequence += 1;

        let router = |terminal: u32| self.fabric.terminal_router(terminal).expect("live");
        let (from, to) = (router(terminal), router(transfer.destination));
        let route = self.routes.route(self.fabric, from, to);
        let runs = *route.padded();
        let course = self.course(virtual_channel as u8, terminal, from, to);
        let ejection = self.network.ejection_of_terminal[transfer.destination as usize]
            + u32::from(transfer.injection_channel) % self.parameters.ejection_channels;
        let output = &mut self.outputs[channel as usize];
        let mut packet = Packet {
            lines: [0; RATE_CLASSES],
            input: output.input,
            output: NONE,
            next: NONE,
            ejection,
            source: terminal,
            sequence,
            destination: course.map_or(NONE, |course| course.to),
            flits: flits as u16,
            hops_left: if course.is_some() { 0 } else { runs[0].hops },
            port: runs[0].port,
            run: 0,
            virtual_channel: virtual_channel as u8,
            heading: course.map_or_else(Heading::default, |course| course.heading),
            stage: Stage::New,
        };
        let origin = PacketOrigin {
            created: transfer.created,
            injected: now,
            message,
            payload,
            hops: route.hops() as u16,
            drawn: course.map_or(0, |course| course.drawn),
            derouting: course.and_then(|course| course.kind),
            runs,
        };
        output.credits[virtual_channel] -= flits as u16;
        output.pointer = ((virtual_channel + 1) % VIRTUAL_CHANNELS) as u16;
        self.digest.add(now, channel, terminal, sequence);
        self.statistics.sent(channel, output, virtual_channel as u8, flits as u16);
        let timing = &self.network.timings[usize::from(output.kind)];
        let last = packet.send(now, timing, &self.network.flit_times);
        output.free_at = last + timing.flit_time;
        let header = match self.parameters.switching {
            Switching::VirtualCutThrough => now,
            Switching::StoreAndForward => last,
        };
        let ready = header + timing.forward + self.parameters.routing_latency;
        let input = output.input;
        let output = if course.is_some() { NONE } else { packet.take_output(output.next_outputs) };
        let slot = self.packets.insert(packet, origin);
        let virtual_channel = packet.virtual_channel;
        self.calendar.add(ready, Event::Ready { packet: slot, input, output, virtual_channel });
        if is_last && is_data && self.workload.wants_receipts() {
            let event = Event::Sent { terminal };
            self.calendar.add(self.outputs[channel as usize].free_at, event);
        }
    }

    /// The last flit of a terminal's message has left.
    pub(super) fn sent(&mut self, terminal: u32, now: Picoseconds) {
        let wake = self.workload.sent(terminal, now);
        self.wake(wake, now);
    }

    /// A packet's last flit is at its sink.
    pub(super) fn deliver(&mut self, slot: u32, now: Picoseconds) {
        let packet = self.packets.packets[slot as usize];
        let origin = self.packets.origins[slot as usize];
        self.packets.remove(slot);
        let transfer = &mut self.adapters.transfers[origin.message as usize];
        transfer.packets_undelivered -= 1;
        let is_last = transfer.packets_undelivered == 0;
        self.counters.flits_delivered += u64::from(packet.flits);
        self.counters.packets_delivered += 1;
        self.counters.flit_hops += u64::from(packet.flits) * u64::from(origin.hops);
        self.counters.packet_hops += u64::from(origin.hops);
        self.observer.packet_delivered(&DeliveredPacket {
            source: packet.source,
            destination: transfer.destination,
            sequence: packet.sequence,
            injection_channel: transfer.injection_channel,
            virtual_channel: packet.virtual_channel,
            flits: u32::from(packet.flits),
            payload: origin.payload,
            hops: u32::from(origin.hops),
            derouting: origin.derouting,
            created: origin.created,
            injected: origin.injected,
            delivered: now,
        });
        if is_last {
            self.complete(origin.message, now);
        }
    }

    /// All packets of a message are at the sink.
    fn complete(&mut self, message: u32, now: Picoseconds) {
        let transfer = self.adapters.transfers[message as usize];
        if let Role::Request(bytes) = transfer.role {
            let created = now + self.parameters.service_time;
            let packets = self.packets_of(bytes);
            self.adapters.transfers[message as usize] = Transfer {
                created,
                source: transfer.destination,
                destination: transfer.source,
                bytes,
                bytes_left: bytes,
                packets_left: packets,
                packets_undelivered: packets,
                role: Role::Response,
                ..transfer
            };
            if created > now {
                self.calendar.add(created, Event::Enqueue { message });
            } else {
                self.enqueue(message);
            }
            return;
        }
        let (source, destination) = match transfer.role {
            Role::Response => (transfer.destination, transfer.source),
            _ => (transfer.source, transfer.destination),
        };
        let completed = now + self.parameters.receive_overhead;
        self.observer.message_completed(&CompletedMessage {
            source,
            destination,
            bytes: transfer.bytes,
            created: transfer.started,
            completed,
        });
        if !self.workload.wants_receipts() {
            self.adapters.free.push(message);
        } else if completed > now {
            self.calendar.add(completed, Event::Receive { message });
        } else {
            self.receive(message, now);
        }
    }

    /// A message has been received by its destination's host (a read's response by its source's).
    pub(super) fn receive(&mut self, message: u32, now: Picoseconds) {
        let transfer = self.adapters.transfers[message as usize];
        self.adapters.free.push(message);
        let wake = match transfer.role {
            Role::Response => self.workload.sent(transfer.destination, now),
            _ => self.workload.received(transfer.destination, transfer.tag, now),
        };
        self.wake(wake, now);
    }

    /// Lets terminals create messages that something has set free.
    fn wake(&mut self, wake: Wake, now: Picoseconds) {
        match wake {
            Wake::Nobody => {}
            Wake::Terminal(terminal) => self.start_creating(terminal, now, now),
            Wake::All(time) => {
                for terminal in self.fabric.live_terminals() {
                    self.start_creating(terminal, time, now);
                }
            }
        }
    }

    fn start_creating(&mut self, terminal: u32, time: Picoseconds, now: Picoseconds) {
        let enqueued = time + self.parameters.send_overhead;
        if enqueued > now {
            self.calendar.add(enqueued, Event::Create { terminal });
        } else {
            self.create(terminal, now);
        }
    }
}
