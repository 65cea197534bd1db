//! The input-buffered router: asking, granting, releasing (docs/model.md, "Router").
//!
//! A grant stands for the whole packet's move: the times of all its flits follow from it, so a
//! router sees three events a packet: ready, release, credit. An output is looked at only when
//! something has changed that could let it grant: a new request, a credit, its own release, or the
//! release of an input port that one of its requests waits for. That gives the same grants as looking
//! at all outputs, since an output that could not grant before still can't if nothing changed for it.

use super::event::Event;
use super::observer::Observer;
use super::parameters::{Arbitration, Parameters, Switching, VIRTUAL_CHANNELS};
use super::statistics::Stall;
use super::{ChannelKind, Engine, Network};
use crate::topology::NONE;
use crate::units::Picoseconds;

const CHANNELS: u32 = VIRTUAL_CHANNELS as u32;

/// The sending end of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// Flits free in the buffers at the far end, as far as known here.
    pub credits: [u32; VIRTUAL_CHANNELS],
    /// The router it leaves, or the terminal of an injection channel.
    pub owner: u32,
    pub ring: u32,
    /// First buffer at the far end; [`NONE`] for ejection channels.
    pub queue: u32,
    /// Where the search for the next packet starts.
    pub pointer: u32,
    /// The buffer (or source queue) whose packet it sends.
    pub sender: u32,
    pub sender_flits: u16,
    pub busy: bool,
    /// Index into the network's timings.
    pub kind: u8,
}

/// A buffer of an input port and virtual channel: packets that wait, the first of which asks, unless
/// the one before it is still being sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub head: u32,
    pub tail: u32,
    /// The output that the head asks for.
    pub output: u32,
    /// Credits that the head needs; [`SENDING`] while a packet is being sent.
    pub need: u32,
}

/// Marks in [`Queue::need`] that a packet of the buffer is being sent, so that its head must wait.
pub(super) const SENDING: u32 = u32::MAX;

impl Queue {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE, output: NONE, need: 0 };

    /// Whether its head is asking for an output.
    #[inline]
    pub(super) fn asks(&self) -> bool {
        self.head != NONE && self.need != SENDING
    }
}

/// What a router keeps besides its outputs and buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    /// The output that the next walk starts at, relative to the router's first.
    pub next_output: u32,
    /// Whether it is among those to be served at this instant.
    pub touched: bool,
}

impl<O: Observer> Engine<'_, O> {
    /// A packet's header is there and routed: it joins its buffer, and asks if it is the first.
    #[inline]
    pub(super) fn ready(&mut self, packet: u32, now: Picoseconds) {
        let index = self.packets.packets[packet as usize].queue;
        let queue = &mut self.queues[index as usize];
        if queue.head == NONE {
            queue.head = packet;
            queue.tail = packet;
            if queue.need != SENDING {
                self.ask(index, now);
            }
        } else {
            let tail = std::mem::replace(&mut queue.tail, packet);
            self.packets.packets[tail as usize].next = packet;
        }
    }

    /// Lets the head of a buffer ask for its next output.
    #[inline]
    fn ask(&mut self, index: u32, now: Picoseconds) {
        let queue = &mut self.queues[index as usize];
        let packet = &self.packets.packets[queue.head as usize];
        let input = index / CHANNELS;
        let router = self.network.router_of_input[input as usize];
        let output = if packet.hops_left == 0 {
            packet.ejection
        } else {
            self.network.first_output[router as usize] + u32::from(packet.port)
        };
        let sender = &self.outputs[output as usize];
        let enters =
            sender.ring != NONE && self.network.ring_of_input[input as usize] != sender.ring;
        queue.need = u32::from(packet.flits) + if enters { self.bubble } else { 0 };
        queue.output = output;
        let bit = index - self.network.first_input[router as usize] * CHANNELS;
        self.requests[output as usize * self.request_words + bit as usize / 64] |= 1 << (bit % 64);
        if sender.busy {
            self.statistics.stalled_if_not(output, Stall::OutputBusy, now);
        } else {
            self.touch(router, output);
        }
    }

    /// Notes that an output may be able to grant at this instant.
    #[inline]
    pub(super) fn touch(&mut self, router: u32, output: u32) {
        let local = output - self.network.first_output[router as usize];
        self.dirty[router as usize * self.output_words + local as usize / 64] |= 1 << (local % 64);
        let state = &mut self.routers[router as usize];
        if !state.touched {
            state.touched = true;
            self.touched_routers.push(router);
        }
    }

    /// Whether any packet asks for an output.
    #[inline]
    pub(super) fn requested(&self, output: u32) -> bool {
        let words = &self.requests[output as usize * self.request_words..][..self.request_words];
        words.iter().any(|&word| word != 0)
    }

    /// The last flit of a router's packet has left: output, input port and space are free.
    #[inline]
    pub(super) fn release(&mut self, channel: u32, now: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        output.busy = false;
        let (router, index, flits) = (output.owner, output.sender, output.sender_flits);
        if self.requested(channel) {
            self.touch(router, channel);
        }
        let input = index / CHANNELS;
        let active = &mut self.input_active[input as usize];
        let was_full = *active >= self.crossbar_speedup;
        *active -= 1;
        if was_full {
            for other in input * CHANNELS..(input + 1) * CHANNELS {
                let queue = self.queues[other as usize];
                if queue.asks() && !self.outputs[queue.output as usize].busy {
                    self.touch(router, queue.output);
                }
            }
        }
        self.queues[index as usize].need = 0;
        if self.queues[index as usize].head != NONE {
            self.ask(index, now);
        }
        let feeder = self.network.channel_of_input[input as usize];
        let back = self.network.timings[self.outputs[feeder as usize].kind as usize].back;
        let virtual_channel = (index % CHANNELS) as u8;
        let credit = Event::Credit { channel: feeder, virtual_channel, flits };
        self.calendar.add(now + back, credit.pack());
    }

    /// Serves a router once: each of its touched, free outputs, starting behind the latest grant's.
    #[inline]
    pub(super) fn allocate(&mut self, router: u32, now: Picoseconds) {
        let state = &mut self.routers[router as usize];
        state.touched = false;
        let start = state.next_output;
        let first = self.network.first_output[router as usize];
        let words = router as usize * self.output_words..(router as usize + 1) * self.output_words;
        for (low, high) in [(start, u32::MAX), (0, start)] {
            for word in words.clone() {
                let base = (word - words.start) as u32 * 64;
                let mut bits = self.dirty[word] & mask(base, low, high);
                self.dirty[word] &= !bits;
                while bits != 0 {
                    let output = first + base + bits.trailing_zeros();
                    bits &= bits - 1;
                    if !self.outputs[output as usize].busy && self.requested(output) {
                        self.serve(output, router, now);
                    }
                }
            }
        }
    }

    /// Grants a free output to the first packet that can go, or notes why none can.
    #[inline]
    fn serve(&mut self, output: u32, router: u32, now: Picoseconds) {
        let pointer = self.outputs[output as usize].pointer;
        let transit = self.network.transit_inputs[router as usize] * CHANNELS;
        let mut segments = [(pointer, u32::MAX), (0, pointer), (0, 0)];
        if self.parameters.arbitration == Arbitration::TransitFirst {
            segments = if pointer < transit {
                [(pointer, transit), (0, pointer), (transit, u32::MAX)]
            } else {
                [(0, transit), (pointer, u32::MAX), (transit, pointer)]
            };
        }
        let first_queue = self.network.first_input[router as usize] * CHANNELS;
        let mut stall = Stall::NoCredit;
        for (low, high) in segments {
            for word in 0..self.request_words {
                let base = word as u32 * 64;
                let place = output as usize * self.request_words + word;
                let mut bits = self.requests[place] & mask(base, low, high);
                while bits != 0 {
                    let bit = base + bits.trailing_zeros();
                    bits &= bits - 1;
                    match self.obstacle(output, first_queue + bit) {
                        None => return self.grant(output, router, bit, now),
                        Some(obstacle) => stall = stall.max(obstacle),
                    }
                }
            }
        }
        self.statistics.stalled(output, stall, now);
    }

    /// Why the head of a buffer can't have a free output now.
    #[inline]
    fn obstacle(&self, output: u32, index: u32) -> Option<Stall> {
        let sender = &self.outputs[output as usize];
        let need = self.queues[index as usize].need;
        let credits = sender.credits[(index % CHANNELS) as usize];
        if sender.queue != NONE && credits < need {
            let packet = self.queues[index as usize].head;
            let flits = u32::from(self.packets.packets[packet as usize].flits);
            return Some(if credits < flits { Stall::NoCredit } else { Stall::Bubble });
        }
        let active = self.input_active[(index / CHANNELS) as usize];
        (active >= self.crossbar_speedup).then_some(Stall::InputBusy)
    }

    /// Sends the head of the router's buffer number `bit` through an output.
    #[inline]
    fn grant(&mut self, channel: u32, router: u32, bit: u32, now: Picoseconds) {
        let network = &self.network;
        let index = network.first_input[router as usize] * CHANNELS + bit;
        let queue = &mut self.queues[index as usize];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        queue.head = std::mem::replace(&mut packet.next, NONE);
        queue.need = SENDING;
        self.input_active[(index / CHANNELS) as usize] += 1;
        self.requests[channel as usize * self.request_words + bit as usize / 64] &=
            !(1 << (bit % 64));
        self.routers[router as usize].next_output =
            channel - network.first_output[router as usize] + 1;

        let output = &mut self.outputs[channel as usize];
        output.pointer = bit + 1;
        output.busy = true;
        output.sender = index;
        output.sender_flits = packet.flits;
        let virtual_channel = packet.virtual_channel;
        let timing = &network.timings[output.kind as usize];
        let ejects = output.queue == NONE;
        if !ejects {
            output.credits[usize::from(virtual_channel)] -= u32::from(packet.flits);
            packet.queue = output.queue + u32::from(virtual_channel);
            packet.hops_left -= 1;
            if packet.hops_left == 0 {
                packet.run += 1;
                let run = self.packets.origins[slot as usize].runs.get(usize::from(packet.run));
                (packet.port, packet.hops_left) = run.map_or((0, 0), |run| (run.port, run.hops));
            }
        }
        self.digest.add(now, channel, packet.source, packet.sequence);
        self.statistics.sent(channel, virtual_channel, packet.flits);
        let last = self.packets.send(slot, now, timing);
        let arrival = if ejects {
            (last + timing.forward, Event::Deliver { packet: slot })
        } else {
            let header = match self.parameters.switching {
                Switching::VirtualCutThrough => now,
                Switching::StoreAndForward => last,
            };
            let ready = header + timing.forward + self.parameters.routing_latency;
            (ready, Event::Ready { packet: slot })
        };
        self.calendar.add(arrival.0, arrival.1.pack());
        self.calendar.add(last + timing.flit_time, Event::Release { channel }.pack());
        if self.requested(channel) {
            self.statistics.stalled(channel, Stall::OutputBusy, now);
        } else {
            self.statistics.moving(channel, now);
        }
    }
}

/// The bits of a word starting at bit `base` that lie in `low..high`.
#[inline]
fn mask(base: u32, low: u32, high: u32) -> u64 {
    let below = |bound: u32| match bound.saturating_sub(base) {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    below(high) & !below(low)
}

/// The sending ends of all channels, with full credits.
pub(super) fn outputs(network: &Network, parameters: &Parameters) -> Vec<Output> {
    let output = |channel: u32, owner: u32, kind: ChannelKind| {
        let input = network.input_of_channel[channel as usize];
        let kind = if input == NONE { ChannelKind::Ejection } else { kind };
        let capacity = if kind == ChannelKind::Injection {
            parameters.injection_buffer
        } else {
            parameters.buffer
        };
        Output {
            credits: [capacity; VIRTUAL_CHANNELS],
            owner,
            ring: network.ring_of_channel[channel as usize],
            queue: if input == NONE { NONE } else { input * CHANNELS },
            pointer: 0,
            sender: NONE,
            sender_flits: 0,
            busy: false,
            kind: kind as u8,
        }
    };
    let mut outputs = Vec::with_capacity(network.channels());
    for (router, ends) in (0..).zip(network.first_output.windows(2)) {
        let channels = ends[0]..ends[1];
        outputs.extend(channels.map(|channel| output(channel, router, ChannelKind::Network)));
    }
    let injections = network.first_injection()..network.channels() as u32;
    outputs.extend(
        injections
            .map(|channel| output(channel, network.injector(channel).0, ChannelKind::Injection)),
    );
    outputs
}
