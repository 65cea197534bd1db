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

/// The sending end of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// Flits free in the buffers at the far end, as far as known here.
    pub credits: [u32; VIRTUAL_CHANNELS],
    /// The router it leaves, or the terminal of an injection channel.
    pub owner: u32,
    pub ring: u32,
    /// The input port at the far end; [`NONE`] for ejection channels.
    pub input: u32,
    /// Buffers whose heads ask for it.
    pub asking: u32,
    /// Where the search for the next packet starts: a pair of input port and virtual channel of its
    /// router, or the virtual channel of an injection channel.
    pub pointer: u32,
    /// The input port whose packet it sends; of an injection channel the message whose last packet it
    /// sends, or [`NONE`].
    pub sender: u32,
    pub sender_flits: u16,
    pub sender_channel: u8,
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
    /// Flits of the head.
    pub flits: u32,
}

/// Marks in [`Queue::need`] that a packet of the buffer is being sent, so that its head must wait.
pub(super) const SENDING: u32 = u32::MAX;

impl Queue {
    const EMPTY: Self = Self { head: NONE, tail: NONE, output: NONE, need: 0, flits: 0 };

    /// Whether its head is asking for an output.
    #[inline]
    pub(super) fn asks(&self) -> bool {
        self.head != NONE && self.need != SENDING
    }
}

/// The receiving end of a channel: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
pub(super) struct Input {
    pub router: u32,
    /// First output of its router.
    first_output: u32,
    /// Its first (input port, virtual channel) pair among those of its router.
    first_bit: u32,
    /// The ring of the channel that feeds it, or [`NONE`].
    ring: u32,
    /// The channel that feeds it, and its kind.
    pub feeder: u32,
    feeder_kind: u32,
    /// Packets that it is sending.
    active: u32,
    pub queues: [Queue; VIRTUAL_CHANNELS],
}

/// What a router keeps besides its outputs and inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    pub first_output: u32,
    first_input: u32,
    /// (Input port, virtual channel) pairs of network channels; those of injection channels follow.
    transit: u32,
    /// The output that the next walk starts at, relative to the router's first.
    next_output: u32,
    /// Whether it is among those to be served at this instant.
    touched: bool,
}

impl<O: Observer> Engine<'_, O> {
    /// A packet's header is there and routed: it joins its buffer, and asks if it is the first.
    #[inline(never)]
    pub(super) fn ready(&mut self, slot: u32, now: Picoseconds) {
        let packet = &self.packets.packets[slot as usize];
        let (input, virtual_channel) = (packet.input, packet.virtual_channel);
        let queue = &mut self.inputs[input as usize].queues[usize::from(virtual_channel)];
        if queue.head == NONE {
            queue.head = slot;
            queue.tail = slot;
            if queue.need != SENDING {
                self.ask(input, virtual_channel, now);
            }
        } else {
            let tail = std::mem::replace(&mut queue.tail, slot);
            self.packets.packets[tail as usize].next = slot;
        }
    }

    /// Lets the head of a buffer ask for its next output.
    #[inline]
    fn ask(&mut self, index: u32, virtual_channel: u8, now: Picoseconds) {
        let input = &mut self.inputs[index as usize];
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let packet = &self.packets.packets[queue.head as usize];
        let channel = if packet.hops_left == 0 {
            packet.ejection
        } else {
            input.first_output + u32::from(packet.port)
        };
        let output = &mut self.outputs[channel as usize];
        let enters = output.ring != NONE && output.ring != input.ring;
        queue.flits = u32::from(packet.flits);
        queue.need = queue.flits + if enters { self.bubble } else { 0 };
        queue.output = channel;
        let bit = input.first_bit + u32::from(virtual_channel);
        self.requests[channel as usize * self.request_words + bit as usize / 64] |= 1 << (bit % 64);
        output.asking += 1;
        if output.busy {
            self.statistics.stalled_if_not(channel, Stall::OutputBusy, now);
        } else {
            let router = input.router;
            self.touch(router, channel);
        }
    }

    /// Notes that an output may be able to grant at this instant.
    #[inline]
    pub(super) fn touch(&mut self, router: u32, channel: u32) {
        let state = &mut self.routers[router as usize];
        let local = channel - state.first_output;
        self.dirty[router as usize * self.output_words + local as usize / 64] |= 1 << (local % 64);
        if !state.touched {
            state.touched = true;
            self.touched_routers.push(router);
        }
    }

    /// The last flit of a router's packet has left: output, input port and space are free.
    #[inline(never)]
    pub(super) fn release(&mut self, channel: u32, now: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        output.busy = false;
        let (router, index) = (output.owner, output.sender);
        let (flits, virtual_channel) = (output.sender_flits, output.sender_channel);
        if output.asking > 0 {
            self.touch(router, channel);
        }
        let input = &mut self.inputs[index as usize];
        let was_full = input.active == self.parameters.crossbar_speedup;
        input.active -= 1;
        let queue = &mut input.queues[usize::from(virtual_channel)];
        queue.need = 0;
        let asks = queue.head != NONE;
        let back = self.network.timings[input.feeder_kind as usize].back;
        let credit = Event::Credit { channel: input.feeder, virtual_channel, flits };
        self.calendar.add(now + back, credit.pack());
        if was_full {
            for other in 0..VIRTUAL_CHANNELS {
                let queue = self.inputs[index as usize].queues[other];
                if other != usize::from(virtual_channel)
                    && queue.asks()
                    && !self.outputs[queue.output as usize].busy
                {
                    self.touch(router, queue.output);
                }
            }
        }
        if asks {
            self.ask(index, virtual_channel, now);
        }
    }

    /// Serves a router once: each of its touched, free outputs, starting behind the latest grant's.
    #[inline(never)]
    pub(super) fn allocate(&mut self, index: u32, now: Picoseconds) {
        let router = &mut self.routers[index as usize];
        router.touched = false;
        let (first, start) = (router.first_output, router.next_output);
        let words = self.output_words;
        for step in 0..=words {
            let (word, base, mask) = cyclic(start, step, words);
            let dirty = &mut self.dirty[index as usize * words + word];
            let mut bits = *dirty & mask;
            *dirty &= !mask;
            while bits != 0 {
                let channel = first + base + bits.trailing_zeros();
                bits &= bits - 1;
                let output = &self.outputs[channel as usize];
                if !output.busy && output.asking > 0 {
                    self.serve(channel, index, now);
                }
            }
        }
    }

    /// Grants a free output to the first packet that can go, or notes why none can.
    #[inline]
    fn serve(&mut self, channel: u32, router: u32, now: Picoseconds) {
        let sets = match self.parameters.arbitration {
            Arbitration::RoundRobin => &[(0, u32::MAX)][..],
            Arbitration::TransitFirst => {
                let transit = self.routers[router as usize].transit;
                &[(0, transit), (transit, u32::MAX)][..]
            }
        };
        let output = &self.outputs[channel as usize];
        let first_input = self.routers[router as usize].first_input;
        let words = self.request_words;
        let mut stall = Stall::NoCredit;
        for &(low, high) in sets {
            for step in 0..=words {
                let (word, base, mask) = cyclic(output.pointer, step, words);
                let requests = self.requests[channel as usize * words + word];
                let mut bits = requests & mask & between(low, high, base);
                while bits != 0 {
                    let bit = base + bits.trailing_zeros();
                    bits &= bits - 1;
                    let input = first_input + bit / VIRTUAL_CHANNELS as u32;
                    let virtual_channel = (bit % VIRTUAL_CHANNELS as u32) as u8;
                    match self.obstacle(output, input, virtual_channel) {
                        None => return self.grant(channel, router, input, virtual_channel, now),
                        Some(obstacle) => stall = stall.max(obstacle),
                    }
                }
            }
        }
        self.statistics.stalled(channel, stall, now);
    }

    /// Why the head of a buffer can't have a free output now.
    #[inline]
    fn obstacle(&self, output: &Output, input: u32, virtual_channel: u8) -> Option<Stall> {
        let input = &self.inputs[input as usize];
        let queue = &input.queues[usize::from(virtual_channel)];
        let credits = output.credits[usize::from(virtual_channel)];
        if credits < queue.need && output.input != NONE {
            return Some(if credits < queue.flits { Stall::NoCredit } else { Stall::Bubble });
        }
        (input.active >= self.parameters.crossbar_speedup).then_some(Stall::InputBusy)
    }

    /// Sends the head of a buffer through an output.
    #[inline]
    fn grant(
        &mut self,
        channel: u32,
        router: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        let input = &mut self.inputs[index as usize];
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        queue.head = std::mem::replace(&mut packet.next, NONE);
        queue.need = SENDING;
        input.active += 1;
        let bit = input.first_bit + u32::from(virtual_channel);
        self.requests[channel as usize * self.request_words + bit as usize / 64] &=
            !(1 << (bit % 64));
        self.routers[router as usize].next_output = channel - input.first_output + 1;

        let output = &mut self.outputs[channel as usize];
        output.pointer = bit + 1;
        output.asking -= 1;
        output.busy = true;
        output.sender = index;
        output.sender_flits = packet.flits;
        output.sender_channel = virtual_channel;
        self.digest.add(now, channel, packet.source, packet.sequence);
        self.statistics.sent(channel, virtual_channel, packet.flits);
        if output.asking > 0 {
            self.statistics.stalled(channel, Stall::OutputBusy, now);
        } else {
            self.statistics.moving(channel, now);
        }
        let timing = &self.network.timings[usize::from(output.kind)];
        let last = packet.send(now, timing, &self.network.flit_times);
        let arrival = if output.input == NONE {
            (last + timing.forward, Event::Deliver { packet: slot })
        } else {
            output.credits[usize::from(virtual_channel)] -= u32::from(packet.flits);
            packet.input = output.input;
            packet.hops_left -= 1;
            if packet.hops_left == 0 {
                packet.run += 1;
                let run = self.packets.origins[slot as usize].runs.get(usize::from(packet.run));
                (packet.port, packet.hops_left) = run.map_or((0, 0), |run| (run.port, run.hops));
            }
            let header = match self.parameters.switching {
                Switching::VirtualCutThrough => now,
                Switching::StoreAndForward => last,
            };
            let ready = header + timing.forward + self.parameters.routing_latency;
            (ready, Event::Ready { packet: slot })
        };
        self.calendar.add(arrival.0, arrival.1.pack());
        self.calendar.add(last + timing.flit_time, Event::Release { channel }.pack());
    }
}

/// Step `step` of `0..=words` of a cyclic walk over a set of `words` words from bit `start`: the word,
/// its first bit's number, and which of its bits belong to the step. The first word is visited twice,
/// first from `start`, at last up to it.
#[inline]
fn cyclic(start: u32, step: usize, words: usize) -> (usize, u32, u64) {
    // A start behind the last word is one at the first bit.
    let start = if start as usize >= words * 64 { 0 } else { start };
    let first = start as usize / 64;
    let word = if first + step < words { first + step } else { first + step - words };
    let upper = u64::MAX << (start % 64);
    let mask = match step {
        0 => upper,
        _ if step == words => !upper,
        _ => u64::MAX,
    };
    (word, word as u32 * 64, mask)
}

/// The bits of the word that starts at bit `base` that lie in `low..high`.
#[inline]
fn between(low: u32, high: u32, base: u32) -> u64 {
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
            input,
            asking: 0,
            pointer: 0,
            sender: NONE,
            sender_flits: 0,
            sender_channel: 0,
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

/// The receiving ends of all channels, empty.
pub(super) fn inputs(network: &Network) -> Vec<Input> {
    let feeders = network.channel_of_input.iter().zip(&network.router_of_input);
    (0u32..)
        .zip(feeders)
        .map(|(index, (&feeder, &router))| {
            let injects = feeder >= network.first_injection();
            Input {
                router,
                first_output: network.first_output[router as usize],
                first_bit: (index - network.first_input[router as usize]) * VIRTUAL_CHANNELS as u32,
                ring: network.ring_of_channel[feeder as usize],
                feeder,
                feeder_kind: (if injects { ChannelKind::Injection } else { ChannelKind::Network })
                    as u32,
                active: 0,
                queues: [Queue::EMPTY; VIRTUAL_CHANNELS],
            }
        })
        .collect()
}

/// All routers, idle.
pub(super) fn routers(network: &Network) -> Vec<Router> {
    (0..network.routers())
        .map(|router| Router {
            first_output: network.first_output[router],
            first_input: network.first_input[router],
            transit: network.transit_inputs[router] * VIRTUAL_CHANNELS as u32,
            next_output: 0,
            touched: false,
        })
        .collect()
}
