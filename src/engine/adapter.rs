//! Terminals: messages wait in source queues, are cut into packets, injected, and completed at the
//! sink (docs/model.md, "Adapter" and "Sink").

use super::event::Event;
use super::forwarding;
use super::message::{Arrival, Numbers, Queued, Role, Slots};
use super::observer::{CompletedMessage, DeliveredPacket, Observer};
use super::packet::{Packet, PacketOrigin, RATE_CLASSES, Stage};
use super::parameters::Switching;
use super::part::Part;
use crate::adaptive::Heading;
use crate::routing::Routes;
use crate::topology::NONE;
use crate::traffic::{Kind, Message, Wake};
use crate::units::Picoseconds;

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
    /// Number of its next packet. After 2^32 of them, hours of simulating, numbers come again: they tell
    /// packets apart that are under way together.
    sequence: u32,
    queue: Backlog,
}

/// What waits in a terminal's source queues, all injection and virtual channels together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Flits whose packets have not been injected.
    pub flits: u64,
    /// Since when some have been there without a break; means nothing if there are none.
    pub since: Picoseconds,
}

/// The state of all adapters, in flat arrays.
#[derive(Debug)]
pub(super) struct Adapters {
    adapters: Vec<Adapter>,
    /// By injection channel, then virtual channel.
    queues: Vec<SourceQueue>,
    queued: Slots<Queued>,
    /// Numbers for messages to each part's terminals.
    numbers: Vec<Numbers>,
    /// Messages on their way from each part's terminals, by number.
    arrivals: Vec<Vec<Arrival>>,
    /// Messages that were created here, and that were completed here.
    messages: (u64, u64),
    pub touched: Vec<u32>,
    created: Vec<Message>,
    /// Terminals and responses that enter their source queues at this instant, behind what is created at
    /// it: no two of them the same queue, since each source queue has one sink channel.
    pub responses: Vec<(u32, u32)>,
}

impl Adapters {
    /// Bytes for each terminal, and for each virtual channel of each of its injection channels.
    pub(super) const A_TERMINAL: u64 = size_of::<Adapter>() as u64;
    pub(super) const A_QUEUE: u64 = size_of::<SourceQueue>() as u64;

    /// Idle adapters, with a source queue for each injection channel and virtual channel.
    pub(super) fn new(
        terminals: usize,
        injection_channels: u32,
        virtual_channels: usize,
        parts: usize,
    ) -> Self {
        let queues = terminals * injection_channels as usize * virtual_channels;
        Self {
            adapters: vec![Adapter::default(); terminals],
            queues: vec![SourceQueue::EMPTY; queues],
            queued: Slots::new(),
            numbers: vec![Numbers::default(); parts],
            arrivals: vec![Vec::new(); parts],
            messages: (0, 0),
            touched: Vec::new(),
            created: Vec::new(),
            responses: Vec::new(),
        }
    }

    /// Bytes that the adapters keep, messages under way included.
    pub(super) fn memory(&self) -> usize {
        self.adapters.len() * size_of::<Adapter>()
            + self.queues.len() * size_of::<SourceQueue>()
            + self.queued.memory()
    }

    /// Messages that were created here, and that were completed here.
    pub(super) fn messages(&self) -> (u64, u64) {
        self.messages
    }

    /// A number for a message to a terminal of a part.
    pub(super) fn number(&mut self, part: usize) -> u32 {
        self.numbers[part].take()
    }

    /// A part has announced a message under this number.
    pub(super) fn expect(&mut self, part: usize, number: u32, arrival: Arrival) {
        let arrivals = &mut self.arrivals[part];
        if arrivals.len() <= number as usize {
            arrivals.resize(number as usize + 1, arrival);
        }
        arrivals[number as usize] = arrival;
    }

    /// A packet of a message that a part has announced is here. The message, if all of them are.
    pub(super) fn arrive(&mut self, part: usize, number: u32) -> Option<Arrival> {
        let arrival = &mut self.arrivals[part][number as usize];
        arrival.packets_left -= 1;
        (arrival.packets_left == 0).then_some(*arrival)
    }

    /// A message to a part has arrived: its number is free.
    pub(super) fn forget(&mut self, part: usize, number: u32) {
        self.numbers[part].give_back(number);
    }

    /// What waits at each terminal, in order.
    pub(super) fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        self.adapters.iter().map(|adapter| adapter.queue)
    }

    pub(super) fn touch(&mut self, terminal: u32) {
        let adapter = &mut self.adapters[terminal as usize];
        if !adapter.touched {
            adapter.touched = true;
            self.touched.push(terminal);
        }
    }
}

impl<O: Observer, const LANES: usize> Part<'_, O, LANES> {
    /// A terminal creates its messages of this instant (the send overhead lies behind them).
    pub(super) fn create(&mut self, terminal: u32, now: Picoseconds) {
        let overhead = self.parameters.send_overhead;
        let mut messages = std::mem::take(&mut self.adapters.created);
        let number = terminal + self.first_terminal;
        let next = self.workload.create(number, now - overhead, &mut messages);
        for message in messages.drain(..) {
            debug_assert_eq!((message.source, message.time), (number, now - overhead));
            let (role, bytes) = match message.kind {
                Kind::Data => (Role::Data, message.bytes),
                Kind::Read { request } => (Role::Request(message.bytes), u64::from(request)),
            };
            if self.is_cut_off(number, message.destination, now) {
                let flits = self.parameters.message_flits(bytes);
                self.counters.flits_created += flits;
                self.counters.flits_lost += flits;
                self.counters.messages_lost += 1;
                self.adapters.messages.0 += 1;
                continue;
            }
            let adapter = &mut self.adapters.adapters[terminal as usize];
            let injection_channel = adapter.next_channel;
            adapter.next_channel =
                (injection_channel + 1) % self.parameters.injection_channels as u8;
            self.adapters.messages.0 += 1;
            let slot = self.adapters.queued.insert(Queued {
                started: message.time,
                created: now,
                bytes_left: bytes,
                destination: message.destination,
                role,
                injection_channel,
                tag: message.tag,
                arrival: NONE,
                next: NONE,
            });
            self.enqueue(terminal, slot);
        }
        self.adapters.created = messages;
        if let Some(next) = next {
            self.calendar.add(next + overhead, Event::Create { terminal });
        }
    }

    fn packets_of(&self, bytes: u64) -> u32 {
        let (full, rest) = self.parameters.packets(bytes);
        u32::try_from(full + u64::from(rest.is_some()))
            .expect("a scenario's messages have at most MOST_PACKETS packets")
    }

    /// A message joins its source queue.
    pub(super) fn enqueue(&mut self, terminal: u32, slot: u32) {
        let Queued { bytes_left, injection_channel, role, destination, .. } =
            *self.adapters.queued.at(slot);
        let flits = self.parameters.message_flits(bytes_left);
        self.counters.flits_created += flits;
        let waiting = &mut self.adapters.adapters[terminal as usize].queue;
        if waiting.flits == 0 {
            waiting.since = self.clock;
        }
        waiting.flits += flits;
        let channel = terminal * self.parameters.injection_channels + u32::from(injection_channel);
        let virtual_channel = match (role, self.routes) {
            (_, Routes::Forwarding(_)) => {
                let table = self.table.expect("packets go by one");
                let source = terminal + self.first_terminal;
                forwarding::first_lane(table, self.fabric, source, destination)
            }
            (Role::Data, Routes::Adaptive(_)) => self.channels.adaptive,
            (role, _) => role.virtual_channel(),
        };
        let queue = channel as usize * LANES + usize::from(virtual_channel);
        let tail = std::mem::replace(&mut self.adapters.queues[queue].tail, slot);
        if self.adapters.queues[queue].head == NONE {
            self.adapters.queues[queue].head = slot;
            self.next_packet(queue);
            self.outputs[(self.first_injection + channel) as usize].asking += 1;
            self.adapters.touch(terminal);
        } else {
            self.adapters.queued.at(tail).next = slot;
        }
    }

    /// Notes the size of the packet that a source queue sends next.
    fn next_packet(&mut self, queue: usize) {
        let queue = &mut self.adapters.queues[queue];
        if let Some(message) = self.adapters.queued.get(queue.head) {
            let payload = message.bytes_left.min(self.parameters.maximum_payload.0);
            queue.payload = payload as u32;
            queue.flits = self.parameters.packet_flits(payload);
        }
    }

    /// Serves a terminal's injection channels once, in order.
    #[inline]
    pub(super) fn inject_all(&mut self, terminal: u32, now: Picoseconds) {
        self.adapters.adapters[terminal as usize].touched = false;
        for number in 0..self.parameters.injection_channels {
            let channel = terminal * self.parameters.injection_channels + number;
            self.inject(self.first_injection + channel, terminal, now);
        }
    }

    /// Sends the first packet that has room through an injection channel, if that is free; sees to it
    /// that the channel is looked at again when the next one may go.
    #[inline]
    fn inject(&mut self, channel: u32, terminal: u32, now: Picoseconds) {
        let first = (channel - self.first_injection) as usize * LANES;
        let output = &self.outputs[channel as usize];
        if output.asking == 0 || self.paused {
            return;
        }
        let mut retry = output.free_at;
        if output.free_at <= now {
            retry = Picoseconds::MAX;
            let pointer = usize::from(output.pointer);
            let virtual_channels = (pointer..LANES).chain(0..pointer);
            for virtual_channel in virtual_channels {
                let SourceQueue { head, flits, .. } = self.adapters.queues[first + virtual_channel];
                if head == NONE {
                    continue;
                }
                let credits = |part: &Self| {
                    u32::from(part.outputs[channel as usize].credits[virtual_channel])
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
        let first = (channel - self.first_injection) as usize * LANES;
        let place = first + virtual_channel;
        let queue = &mut self.adapters.queues[place];
        let SourceQueue { head: slot, payload, flits, .. } = *queue;
        let message = self.adapters.queued.at(slot);
        let bytes = message.bytes_left;
        message.bytes_left = bytes.saturating_sub(self.parameters.maximum_payload.0.max(1));
        let message = *message;
        let is_last = message.bytes_left == 0;
        if is_last {
            queue.head = message.next;
            if queue.head == NONE {
                self.outputs[channel as usize].asking -= 1;
            }
            self.adapters.queued.remove(slot);
        }
        self.next_packet(place);
        let is_data = message.role == Role::Data;
        let wants_receipts = self.workload.wants_receipts();
        let mut arrival = message.arrival;
        if arrival == NONE && !(is_last && is_data && !wants_receipts) {
            let announced = Arrival {
                started: message.started,
                bytes,
                packets_left: self.packets_of(bytes),
                role: message.role,
                tag: message.tag,
                lost: false,
            };
            arrival = self.announce(message.destination, announced);
            if !is_last {
                self.adapters.queued.at(slot).arrival = arrival;
            }
        }
        let adapter = &mut self.adapters.adapters[terminal as usize];
        let sequence = adapter.sequence;
        adapter.sequence = adapter.sequence.wrapping_add(1);
        adapter.queue.flits -= u64::from(flits);

        let router = |terminal: u32| self.fabric.terminal_router(terminal).expect("live");
        let source = terminal + self.first_terminal;
        let (from, to) = (router(source), router(message.destination));
        let route = self.routes.source_route(self.fabric, from, to).unwrap_or_default();
        let (first_run, runs) = route.first_and_rest();
        let course = self.course(virtual_channel as u8, terminal, from, to);
        let ejection = self.whole.ejection(message.destination)
            + u32::from(message.injection_channel) % self.parameters.ejection_channels;
        let looked_up = self.table.map(|_| to);
        let output = &mut self.outputs[channel as usize];
        let mut packet = Packet {
            lines: [0; RATE_CLASSES],
            input: output.input,
            output: NONE,
            next: NONE,
            ejection,
            source,
            sequence,
            destination: course.map(|course| course.to).or(looked_up).unwrap_or(NONE),
            flits: flits as u16,
            hops_left: if course.is_some() { 0 } else { first_run.hops },
            port: first_run.port,
            run: 0,
            virtual_channel: virtual_channel as u8,
            onto: virtual_channel as u8,
            heading: course.map_or_else(Heading::default, |course| course.heading),
            stage: Stage::New,
        };
        let mut origin = PacketOrigin {
            created: message.created,
            injected: now,
            arrival,
            payload,
            destination: message.destination,
            router: to,
            injection_channel: message.injection_channel,
            hops: route.hops() as u16,
            class: 0,
            lost: false,
            drawn: course.map_or(0, |course| course.drawn),
            derouting: course.and_then(|course| course.kind),
            runs,
        };
        output.credits[virtual_channel] -= flits as u16;
        output.pointer = ((virtual_channel + 1) % LANES) as u16;
        self.digest.add(now, channel + self.injection_offset, source, sequence);
        self.statistics.sent(channel, output, virtual_channel as u8, flits as u16);
        let timing = &self.timings[usize::from(output.kind)];
        let last = packet.send(now, timing, &self.flit_times);
        output.free_at = last + timing.flit_time;
        let header = match self.parameters.switching {
            Switching::VirtualCutThrough => now,
            Switching::StoreAndForward => last,
        };
        let ready = header + timing.forward + self.parameters.routing_latency;
        let input = output.input;
        let output = if course.is_some() {
            NONE
        } else if let Some(table) = self.table {
            let first_output = output.next_outputs;
            forwarding::start(table, self.fabric, from, first_output, &mut packet, &mut origin)
        } else {
            packet.take_output(output.next_outputs)
        };
        let slot = self.packets.insert(packet, origin);
        let virtual_channel = packet.virtual_channel;
        self.calendar.add(ready, Event::Ready { packet: slot, input, output, virtual_channel });
        if is_last && is_data && wants_receipts {
            let event = Event::Sent { terminal };
            self.calendar.add(self.outputs[channel as usize].free_at, event);
        }
    }

    /// The last flit of a terminal's message has left.
    pub(super) fn sent(&mut self, terminal: u32, now: Picoseconds) {
        let wake = self.workload.sent(terminal + self.first_terminal, now);
        self.wake(wake, now);
    }

    /// A packet's last flit is at its sink.
    pub(super) fn deliver(&mut self, slot: u32, now: Picoseconds) {
        let packet = self.packets.packets[slot as usize];
        let origin = self.packets.origins[slot as usize];
        self.packets.remove(slot);
        if origin.lost {
            return self.lose(packet.source, u64::from(packet.flits), &origin);
        }
        self.counters.flits_delivered += u64::from(packet.flits);
        self.counters.packets_delivered += 1;
        self.counters.flit_hops += u64::from(packet.flits) * u64::from(origin.hops);
        self.counters.packet_hops += u64::from(origin.hops);
        self.observer.packet_delivered(&DeliveredPacket {
            source: packet.source,
            destination: origin.destination,
            sequence: packet.sequence,
            injection_channel: origin.injection_channel,
            virtual_channel: packet.virtual_channel,
            flits: u32::from(packet.flits),
            payload: origin.payload,
            hops: u32::from(origin.hops),
            derouting: origin.derouting,
            created: origin.created,
            injected: origin.injected,
            delivered: now,
        });
        let arrival = if origin.arrival == NONE {
            Arrival {
                started: origin.created - self.parameters.send_overhead,
                bytes: u64::from(origin.payload),
                packets_left: 0,
                role: Role::Data,
                tag: 0,
                lost: false,
            }
        } else {
            match self.arrive(packet.source, origin.arrival) {
                Some(Arrival { lost: true, .. }) => {
                    self.counters.messages_lost += 1;
                    return;
                }
                Some(arrival) => arrival,
                None => return,
            }
        };
        self.complete(arrival, packet.source, &origin, now);
    }

    /// A packet was cut or swallowed; its message is lost, counted with its last packet.
    fn lose(&mut self, source: u32, flits: u64, origin: &PacketOrigin) {
        self.counters.packets_lost += 1;
        self.counters.flits_lost += flits;
        let last = if origin.arrival == NONE {
            true
        } else {
            let part = self.part_of_terminal(source);
            self.adapters.arrivals[part][origin.arrival as usize].lost = true;
            self.arrive(source, origin.arrival).is_some()
        };
        self.counters.messages_lost += u64::from(last);
    }

    /// Drops those messages of a terminal's source queues that are bound for certain destinations.
    pub(super) fn drop_queued(&mut self, terminal: u32, unreachable: impl Fn(u32) -> bool) {
        let channels = self.parameters.injection_channels;
        for channel in terminal * channels..(terminal + 1) * channels {
            for queue in channel as usize * LANES..(channel as usize + 1) * LANES {
                let before = self.adapters.queues[queue].head;
                let mut at = std::mem::replace(&mut self.adapters.queues[queue].head, NONE);
                let mut last = NONE;
                while at != NONE {
                    let Queued { next, destination, bytes_left, .. } = *self.adapters.queued.at(at);
                    if unreachable(destination) {
                        let flits = self.parameters.message_flits(bytes_left);
                        self.adapters.adapters[terminal as usize].queue.flits -= flits;
                        self.counters.flits_lost += flits;
                        self.counters.messages_lost += 1;
                        self.adapters.queued.remove(at);
                    } else {
                        if last == NONE {
                            self.adapters.queues[queue].head = at;
                        } else {
                            self.adapters.queued.at(last).next = at;
                        }
                        last = at;
                    }
                    at = next;
                }
                self.adapters.queues[queue].tail = last;
                if last != NONE {
                    self.adapters.queued.at(last).next = NONE;
                    self.next_packet(queue);
                } else if before != NONE {
                    self.outputs[(self.first_injection + channel) as usize].asking -= 1;
                }
            }
        }
    }

    /// All packets of a message are at the sink, the last one just now.
    fn complete(&mut self, arrival: Arrival, source: u32, origin: &PacketOrigin, now: Picoseconds) {
        let Arrival { started, bytes, role, tag, .. } = arrival;
        let &PacketOrigin { destination, injection_channel, .. } = origin;
        if let Role::Request(bytes) = role {
            let created = now + self.parameters.service_time;
            let terminal = destination - self.first_terminal;
            let response = self.adapters.queued.insert(Queued {
                started,
                created,
                bytes_left: bytes,
                destination: source,
                role: Role::Response,
                injection_channel,
                tag,
                arrival: NONE,
                next: NONE,
            });
            if created > now {
                self.calendar.add(created, Event::Enqueue { terminal, message: response });
            } else {
                self.adapters.responses.push((terminal, response));
            }
            return;
        }
        let is_response = role == Role::Response;
        let completed = now + self.parameters.receive_overhead;
        let (reader, read) = (destination, source);
        self.adapters.messages.1 += 1;
        self.observer.message_completed(&CompletedMessage {
            source: if is_response { reader } else { source },
            destination: if is_response { read } else { destination },
            bytes,
            created: started,
            completed,
        });
        if self.workload.wants_receipts() {
            let terminal = destination - self.first_terminal;
            let event = if is_response {
                Event::Sent { terminal }
            } else {
                Event::Receive { terminal, tag }
            };
            if completed > now {
                self.calendar.add(completed, event);
            } else {
                self.happen(event, now);
            }
        }
    }

    /// A terminal's host has received a message.
    pub(super) fn receive(&mut self, terminal: u32, tag: u32, now: Picoseconds) {
        let wake = self.workload.received(terminal + self.first_terminal, tag, now);
        self.wake(wake, now);
    }

    /// Lets terminals create messages that something has set free.
    fn wake(&mut self, wake: Wake, now: Picoseconds) {
        match wake {
            Wake::Nobody => {}
            Wake::Terminal(terminal) => {
                self.start_creating(terminal - self.first_terminal, now, now);
            }
            // At the end of the window it shows whether the other parts are there.
            Wake::All if self.whole.cut.parts() > 1 => {}
            Wake::All => {
                self.pass_barrier(now);
            }
        }
    }

    /// Lets the part's terminals pass a barrier to which the last terminal of all parts came at `latest`.
    /// When their next messages enter the source queues.
    pub(super) fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        let time = self.workload.pass_barrier(latest);
        let (fabric, terminals) = (self.fabric, self.whole.cut.terminals(self.number));
        for terminal in terminals.filter(|&it| fabric.terminal_router(it).is_some()) {
            self.start_creating(terminal - self.first_terminal, time, self.clock);
        }
        time + self.parameters.send_overhead
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
