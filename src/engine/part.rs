//! A part of the network: all that one thread simulates. On one thread it is the whole network.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::adapter::Adapters;
use super::calendar::Calendar;
use super::credit::Credits;
use super::cut::{Cut, Entry, Exit, Ports};
use super::event::Event;
use super::interruption::Interruption;
use super::mail::{Crossing, Mail, Post};
use super::message::Arrival;
use super::network::{ChannelTiming, Network};
use super::observer::Observer;
use super::packet::{Packet, Packets, RATE_CLASSES};
use super::parameters::Parameters;
use super::port::{Input, Output, Router};
use super::statistics::Statistics;
use super::{Counters, Digest, adaptive};
use crate::routing::{AdaptiveChannels, ForwardingTable, Routes};
use crate::topology::Fabric;
use crate::traffic::Workload;
use crate::units::Picoseconds;

/// What all parts share.
#[derive(Debug)]
pub(super) struct Whole<'f> {
    pub fabric: &'f Fabric,
    pub routes: &'f Routes,
    pub parameters: Parameters,
    pub network: Network,
    pub cut: Cut,
}

impl Whole<'_> {
    /// A terminal's first ejection channel, as its part numbers it.
    #[inline]
    pub(super) fn ejection(&self, terminal: u32) -> u32 {
        let part = self.cut.part_of_terminal(terminal);
        self.network.ejection_of_terminal[terminal as usize] - self.cut.first_output(part)
    }
}

/// A part and all that is in it. Routers, terminals, channels and input ports have the part's own
/// numbers (see `cut`).
pub(super) struct Part<'f, O, const LANES: usize> {
    pub whole: Arc<Whole<'f>>,
    /// The part's number.
    pub number: usize,
    pub fabric: &'f Fabric,
    pub routes: &'f Routes,
    /// The table that packets go by, if routers look up their ways.
    pub table: Option<&'f ForwardingTable>,
    pub interruption: Option<&'f Interruption>,
    /// Whether the sources hold back their packets.
    pub paused: bool,
    pub parameters: Parameters,
    /// Number of its first router, terminal and output in the whole network.
    pub first_router: u32,
    pub first_terminal: u32,
    pub first_output: u32,
    /// Its own number of its first injection channel.
    pub first_injection: u32,
    /// What to add to an injection channel's number for that in the whole network.
    pub injection_offset: u32,
    pub timings: [ChannelTiming; 3],
    pub flit_times: [Picoseconds; RATE_CLASSES],
    pub calendar: Calendar<Event>,
    pub packets: Packets,
    pub outputs: Vec<Output<LANES>>,
    /// For each output, the set of its router's (input port, virtual channel) pairs that ask for it.
    pub requests: Vec<u64>,
    pub request_words: usize,
    /// As `requests`, of packets that may leave by an escape channel; empty if routing is not adaptive.
    pub escapes: Vec<u64>,
    /// Outputs that packets have passed over in the present walk since they like others better.
    pub passed_over: Vec<u32>,
    /// The virtual channels of packets that choose their way.
    pub channels: AdaptiveChannels,
    /// Room that a new packet has to leave on the adaptive channel.
    pub injection_bubble: u32,
    /// The random numbers of each terminal's packets, if they get any.
    pub random: Vec<ChaCha8Rng>,
    pub inputs: Vec<Input<LANES>>,
    pub credits: Credits<LANES>,
    /// Flits that entering a ring needs beyond the packet.
    pub bubble: u32,
    pub routers: Vec<Router>,
    /// For each router, the set of its outputs that may be able to grant.
    pub dirty: Vec<u64>,
    pub output_words: usize,
    pub touched_routers: Vec<u32>,
    pub adapters: Adapters,
    pub workload: Workload,
    pub observer: O,
    pub statistics: Statistics<LANES>,
    pub digest: Digest,
    pub clock: Picoseconds,
    pub counters: Counters,
    exits: Vec<Exit>,
    entries: Vec<Entry>,
    /// What is to be sent to each part.
    mail: Vec<Mail>,
}

impl<'f, O: Observer, const LANES: usize> Part<'f, O, LANES> {
    /// An empty part at time 0.
    pub(super) fn new(
        whole: &Arc<Whole<'f>>,
        number: usize,
        ports: Ports<LANES>,
        mut workload: Workload,
        observer: O,
    ) -> Self {
        let Whole { fabric, routes, parameters, network, cut } = &**whole;
        let Ports { outputs, inputs, routers, exits, entries } = ports;
        let rules = match routes {
            Routes::Adaptive(adaptive) => Some(*adaptive.rules()),
            Routes::DirectionOrder(_) | Routes::Table(_) | Routes::Forwarding(_) => None,
        };
        let terminals = cut.terminals(number);
        let words = outputs.len() * network.request_words(LANES);
        let mut calendar = calendar(parameters, network, routers.len());
        for terminal in terminals.clone().filter(|&it| fabric.terminal_router(it).is_some()) {
            if let Some(time) = workload.first(terminal) {
                let event = Event::Create { terminal: terminal - terminals.start };
                calendar.add(time + parameters.send_overhead, event);
            }
        }
        Self {
            whole: Arc::clone(whole),
            number,
            fabric,
            routes,
            table: match routes {
                Routes::Forwarding(table) => Some(table),
                _ => None,
            },
            interruption: None,
            paused: false,
            first_router: cut.first_router(number),
            first_terminal: terminals.start,
            first_output: cut.first_output(number),
            first_injection: cut.outputs(number),
            injection_offset: cut.injection_offset(number),
            timings: network.timings,
            flit_times: network.flit_times,
            calendar,
            packets: Packets::default(),
            requests: vec![0; words],
            request_words: network.request_words(LANES),
            escapes: if rules.is_some() { vec![0; words] } else { Vec::new() },
            passed_over: Vec::new(),
            channels: rules.map_or_else(AdaptiveChannels::default, |rules| rules.channels),
            injection_bubble: if rules.is_some_and(|rules| rules.injection_bubble) {
                parameters.maximum_packet()
            } else {
                0
            },
            random: adaptive::random(routes, terminals.clone()),
            credits: Credits::new(outputs.len()),
            bubble: if parameters.bubble { parameters.maximum_packet() } else { 0 },
            dirty: vec![0; routers.len() * network.output_words()],
            output_words: network.output_words(),
            touched_routers: Vec::new(),
            adapters: Adapters::new(
                terminals.len(),
                parameters.injection_channels,
                LANES,
                cut.parts(),
            ),
            statistics: Statistics::new(outputs.len()),
            digest: Digest::default(),
            clock: 0,
            counters: Counters::default(),
            parameters: parameters.clone(),
            workload,
            observer,
            outputs,
            inputs,
            routers,
            exits,
            entries,
            mail: (0..cut.parts()).map(|_| Mail::default()).collect(),
        }
    }

    /// Simulates everything that happens up to and including `limit`. False if nothing is left that
    /// could happen later.
    pub(super) fn run_until(&mut self, limit: Picoseconds) -> bool {
        while self.calendar.open(limit) {
            self.fetch();
            while let Some(now) = self.calendar.instant(limit) {
                self.clock = now;
                while let Some(event) = self.calendar.next_at(now) {
                    self.happen(event, now);
                }
                while let Some((terminal, response)) = self.adapters.responses.pop() {
                    self.enqueue(terminal, response);
                }
                while let Some(router) = self.touched_routers.pop() {
                    self.allocate(router, now);
                }
                while let Some(terminal) = self.adapters.touched.pop() {
                    self.inject_all(terminal, now);
                }
            }
        }
        !self.calendar.is_empty()
    }

    /// Reads what the next events will need, so that the processor waits for several memory accesses at
    /// once and not for one after the other (8% at load 0.3 on an 8x8x8 torus).
    #[inline]
    fn fetch(&self) {
        let mut fetched = 0;
        for (_, event) in self.calendar.next_few() {
            // No `match`: its jump would be mispredicted.
            if let Event::Ready { packet, input, output, .. } = *event {
                let input = &self.inputs[input as usize];
                fetched ^= self.packets.packets[packet as usize].flits;
                fetched ^= self.outputs.get(output as usize).map_or(0, |output| output.asking);
                fetched ^= self.routers[input.router as usize].touched as u16;
            } else if let Event::Ask { packet, input, .. } = *event {
                let input = &self.inputs[input as usize];
                fetched ^= self.packets.packets[packet as usize].flits;
                fetched ^= self.routers[input.router as usize].touched as u16;
            }
        }
        std::hint::black_box(fetched);
    }

    #[inline]
    pub(super) fn happen(&mut self, event: Event, now: Picoseconds) {
        self.counters.events += 1;
        match event {
            Event::Ready { packet, input, output, virtual_channel } => {
                self.ready(packet, input, output, virtual_channel, now);
            }
            Event::Ask { packet, input, virtual_channel } => {
                self.next_asks(packet, input, virtual_channel, now);
            }
            Event::Deliver { packet } => self.deliver(packet, now),
            Event::Create { terminal } => self.create(terminal, now),
            Event::Enqueue { terminal, message } => {
                self.adapters.responses.push((terminal, message));
            }
            Event::Sent { terminal } => self.sent(terminal, now),
            Event::Receive { terminal, tag } => self.receive(terminal, tag, now),
            Event::Wake { channel } => {
                self.counters.events -= 1;
                self.wake_up(channel, now);
            }
        }
    }

    /// The number of a channel in the whole network.
    pub(super) fn in_whole(&self, channel: u32) -> u32 {
        let injects = channel >= self.first_injection;
        channel + if injects { self.injection_offset } else { self.first_output }
    }

    /// Whether an input port is another part's.
    #[inline]
    pub(super) fn is_away(&self, input: u32) -> bool {
        input as usize >= self.inputs.len()
    }

    /// Where an input port lies if it is another part's.
    pub(super) fn exit(&self, input: u32) -> Option<&Exit> {
        self.exits.get((input as usize).wrapping_sub(self.inputs.len()))
    }

    /// Where a channel comes from if it is another part's.
    #[inline]
    pub(super) fn entry(&self, channel: u32) -> Option<&Entry> {
        self.entries.get((channel as usize).wrapping_sub(self.outputs.len()))
    }

    /// Sends a packet, whose slot it frees, to an input port of another part.
    pub(super) fn send_away(&mut self, input: u32, slot: u32, ready: Picoseconds, output: u32) {
        let &Exit { part, input } = self.exit(input).expect("it is another part's");
        let packet = Packet { input, ..self.packets.packets[slot as usize] };
        let origin = self.packets.origins[slot as usize];
        self.packets.remove(slot);
        self.mail_to(part).packets.push(Crossing { ready, output, packet, origin });
    }

    /// What is to be sent to another part.
    #[inline]
    pub(super) fn mail_to(&mut self, part: u32) -> &mut Mail {
        &mut self.mail[part as usize]
    }

    /// The part of the terminal that has sent a packet.
    pub(super) fn part_of_terminal(&self, terminal: u32) -> usize {
        self.whole.cut.part_of_terminal(terminal)
    }

    /// Posts what other parts are sent in a window. Nothing happens in this part, or because of what it
    /// sends, before the time that it gives.
    pub(super) fn post(&mut self, window: usize, post: &Post) -> Picoseconds {
        let mut earliest = self.calendar.earliest();
        for (to, mail) in self.mail.iter_mut().enumerate() {
            if to != self.number {
                earliest = earliest.min(mail.earliest());
                post.swap(window, self.number, to, mail);
            }
        }
        earliest
    }

    /// Takes what other parts have sent in a window.
    pub(super) fn collect(&mut self, window: usize, post: &Post) {
        let own = self.number;
        for from in (0..self.mail.len()).filter(|&from| from != own) {
            let mut mail = Mail::default();
            post.swap(window, from, self.number, &mut mail);
            for (number, arrival) in mail.arrivals.drain(..) {
                self.adapters.expect(from, number, arrival);
            }
            for number in mail.arrived.drain(..) {
                self.adapters.forget(from, number);
            }
            for Crossing { ready, output, packet, origin } in mail.packets.drain(..) {
                let (input, virtual_channel) = (packet.input, packet.virtual_channel);
                let packet = self.packets.insert(packet, origin);
                let event = Event::Ready { packet, input, output, virtual_channel };
                self.calendar.add(ready, event);
            }
            let now = self.clock;
            for (channel, credit) in mail.credits.drain(..) {
                self.send_credit(channel, credit, now);
            }
            // Empty, but with room for the next time.
            post.swap(window, from, self.number, &mut mail);
        }
    }

    /// Announces a message to the part of its sink; under which number.
    pub(super) fn announce(&mut self, destination: u32, arrival: Arrival) -> u32 {
        let part = self.part_of_terminal(destination);
        let number = self.adapters.number(part);
        if part == self.number {
            self.adapters.expect(part, number, arrival);
        } else {
            self.mail[part].arrivals.push((number, arrival));
        }
        number
    }

    /// Counts a packet of a message that was announced. The message, if that was the last.
    pub(super) fn arrive(&mut self, source: u32, number: u32) -> Option<Arrival> {
        let part = self.part_of_terminal(source);
        let arrival = self.adapters.arrive(part, number)?;
        if part == self.number {
            self.adapters.forget(part, number);
        } else {
            self.mail[part].arrived.push(number);
        }
        Some(arrival)
    }

    /// Bytes of the part's arrays before traffic.
    pub(super) fn memory(&self) -> usize {
        self.outputs.len() * size_of::<Output<LANES>>()
            + (self.requests.len() + self.escapes.len() + self.dirty.len()) * size_of::<u64>()
            + self.inputs.len() * size_of::<Input<LANES>>()
            + self.random.len() * size_of::<ChaCha8Rng>()
            + self.routers.len() * size_of::<Router>()
            + self.credits.memory()
            + self.statistics.memory()
            + self.workload.memory()
            + self.adapters.memory()
    }
}

/// A calendar whose wheel covers the delays of a packet's move, in buckets of a few events: a
/// busy router has about one event a flit time.
fn calendar(parameters: &Parameters, network: &Network, routers: usize) -> Calendar<Event> {
    let slowest = network.flit_times[2];
    let packet = u64::from(parameters.maximum_packet()) * slowest;
    let longest = network.timings.iter().map(|timing| timing.forward.max(timing.back)).max();
    let horizon = longest.expect("three kinds") + parameters.routing_latency + packet;
    let fastest = network.flit_times[0];
    Calendar::new((16 * fastest / (routers as u64).max(1)).clamp(1, fastest), horizon)
}
