//! The input-buffered router: asking, granting, releasing (docs/model.md, "Router").
//!
//! A grant stands for the whole packet's move: the times of all its flits follow from it, and with them
//! the times at which output, input port and space are free and the credits are back upstream. So these
//! need no events of their own. They are noted where they matter (`free_at`, `returning`), and an event
//! wakes an output only if a packet is waiting for what happens then. A packet in an idle network
//! costs one event a hop.
//!
//! An output is looked at only when something has changed that could let it grant: a new request, its
//! own release, a credit, or the release of an input port that one of its requests waits for. That gives
//! the same grants as looking at all outputs at every instant, since an output that could not grant
//! before still can't if nothing changed for it.

use super::credit::Credit;
use super::event::Event;
use super::observer::Observer;
use super::packet::Packet;
use super::parameters::{Arbitration, Parameters, Switching, VIRTUAL_CHANNELS};
use super::statistics::{Stall, Stalled};
use super::walk::{Part, between, cyclic, steps};
use super::{ChannelKind, Engine, Network};
use crate::topology::NONE;
use crate::units::Picoseconds;

/// No wake-up is due.
pub(super) const NEVER: Picoseconds = Picoseconds::MAX;

/// The sending end of a channel: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Output {
    /// When the last flit of the latest packet has left.
    pub free_at: Picoseconds,
    /// When it is looked at next, if nothing else happens.
    pub wake_at: Picoseconds,
    /// Flits sent since the statistics were reset.
    pub flits: u64,
    /// Why packets wait for it at present, and since when.
    pub stall: Stalled,
    /// The router it leaves, or the terminal of an injection channel.
    pub owner: u32,
    pub ring: u32,
    /// The input port at the far end; [`NONE`] for ejection channels.
    pub input: u32,
    /// The first output of the router at the far end.
    pub next_outputs: u32,
    /// Flits free in the buffers at the far end, less the credits that have not been looked for since.
    pub credits: [u16; VIRTUAL_CHANNELS],
    /// Buffers (of an injection channel: source queues) whose heads ask for it.
    pub asking: u16,
    /// Where the search for the next packet starts: a pair of input port and virtual channel of its
    /// router, or the virtual channel of an injection channel.
    pub pointer: u16,
    /// Index into the network's timings.
    pub kind: u8,
}

/// A buffer of an input port and virtual channel: packets that wait, the first of which asks once the
/// one before it has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// When the last flit of the latest packet sent from it has left.
    pub free_at: Picoseconds,
    pub head: u32,
    pub tail: u32,
    /// The output that the head asks for; [`NONE`] if it does not yet.
    pub output: u32,
    /// Flits of the head that asks; [`ENTERS`] is set if it would enter a ring, and so needs the bubble.
    pub asks: u16,
    /// Credits that have arrived at the feeder and that it has not looked for yet.
    pub returned: u16,
    /// The ports among which the head chooses, a bit each; 0 if it has no choice. The output that it asks
    /// for is then that of its escape.
    pub options: u16,
    /// The virtual channel of its escape.
    pub escape: u8,
}

/// See [`Queue::flits`].
const ENTERS: u16 = 1 << 15;

/// The most flits that a packet can have.
pub const MOST_FLITS: u32 = ENTERS as u32 - 1;

impl Queue {
    const EMPTY: Self = Self {
        free_at: 0,
        head: NONE,
        tail: NONE,
        output: NONE,
        asks: 0,
        returned: 0,
        options: 0,
        escape: 0,
    };

    /// Flits of the head that asks.
    #[inline]
    pub(super) fn flits(&self) -> u32 {
        u32::from(self.asks & !ENTERS)
    }

    /// Credits that the head needs; `bubble` more than its flits if it enters a ring.
    #[inline]
    pub(super) fn need(&self, bubble: u32) -> u32 {
        self.flits() + if self.asks & ENTERS == 0 { 0 } else { bubble }
    }
}

/// The port of a channel that leaves no router.
pub(super) const NO_PORT: u8 = u8::MAX;

/// The receiving end of a channel: what it takes to let the head of the first buffer ask is one cache
/// line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Input {
    /// When the packet whose grant was the latest has left.
    free_at: Picoseconds,
    pub router: u32,
    /// The ring of the channel that feeds it, or [`NONE`].
    pub ring: u32,
    /// First and last of the credits on their way to the feeder, in the order in which they arrive.
    pub returning: u32,
    pub returning_last: u32,
    /// Its first (input port, virtual channel) pair among those of its router.
    pub first_bit: u16,
    /// The kind of the channel that feeds it, and its port at the router it leaves; of an injection channel
    /// [`NO_PORT`].
    pub feeder_kind: u8,
    pub port: u8,
    /// Whether packets at the feeder wait for credits that are not on their way yet.
    pub awaited: bool,
    pub queues: [Queue; VIRTUAL_CHANNELS],
}

impl Input {
    /// When it can send another packet; at most `now` if it can already.
    #[inline]
    pub(super) fn free_at(&self, crossbar_speedup: u32, now: Picoseconds) -> Picoseconds {
        if crossbar_speedup == 1 {
            return self.free_at;
        }
        let sending = self.queues.iter().map(|queue| queue.free_at).filter(|&time| time > now);
        if (sending.clone().count() as u32) < crossbar_speedup {
            now
        } else {
            sending.min().unwrap_or(now)
        }
    }
}

/// Why none of the packets that ask for an output can have it, and when one may.
pub(super) struct Refusal {
    pub stall: Stall,
    pub retry: Picoseconds,
    /// Whether a packet could have had it that likes another better.
    pub passed_over: bool,
}

/// Whom a walk of the outputs serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// Of packets that have a choice, only those that like the output best.
    Preferred,
    Any,
}

/// What a router keeps besides its outputs and inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    pub first_output: u32,
    pub first_input: u32,
    /// (Input port, virtual channel) pairs of network channels; those of injection channels follow.
    pub transit: u32,
    /// The output that the next walk starts at, relative to the router's first.
    next_output: u32,
    /// How many times its outputs were touched at this instant, and the output that was first.
    touched: u32,
    touched_first: u32,
}

impl<O: Observer> Engine<'_, O> {
    /// A packet's header is there and routed: it joins its buffer, and asks if it is the first.
    #[inline]
    pub(super) fn ready(
        &mut self,
        slot: u32,
        index: u32,
        channel: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        let queue = &mut self.inputs[index as usize].queues[usize::from(virtual_channel)];
        let tail = std::mem::replace(&mut queue.tail, slot);
        if queue.head != NONE {
            self.packets.packets[tail as usize].next = slot;
            return;
        }
        queue.head = slot;
        if queue.free_at <= now {
            let flits = self.packets.packets[slot as usize].flits;
            self.ask(index, channel, virtual_channel, flits, now);
        } else {
            self.calendar.add(queue.free_at, Event::Ask { input: index, virtual_channel });
        }
    }

    /// Lets the head of a buffer ask for its next output.
    #[inline]
    pub(super) fn next_asks(&mut self, index: u32, virtual_channel: u8, now: Picoseconds) {
        let head = self.inputs[index as usize].queues[usize::from(virtual_channel)].head;
        let Packet { output, flits, .. } = self.packets.packets[head as usize];
        self.ask(index, output, virtual_channel, flits, now);
    }

    /// The head of a buffer, which has so many flits, asks for an output.
    #[inline]
    fn ask(&mut self, index: u32, channel: u32, virtual_channel: u8, flits: u16, now: Picoseconds) {
        if channel == NONE {
            return self.ask_for_any(index, virtual_channel, flits, now);
        }
        let input = &mut self.inputs[index as usize];
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let output = &mut self.outputs[channel as usize];
        let enters = output.ring != NONE && output.ring != input.ring;
        queue.asks = flits | if enters { ENTERS } else { 0 };
        queue.output = channel;
        let router = input.router;
        let bit = u32::from(input.first_bit) + u32::from(virtual_channel);
        self.requests[channel as usize * self.request_words + bit as usize / 64] |= 1 << (bit % 64);
        output.asking += 1;
        if output.free_at <= now {
            self.touch(router, channel);
        } else {
            let free_at = output.free_at;
            if output.stall.is_none() {
                self.statistics.stalled(channel, output, Stall::OutputBusy, now);
            }
            self.wake_at(channel, free_at);
        }
    }

    /// Notes that an output may be able to grant at this instant.
    #[inline]
    pub(super) fn touch(&mut self, router: u32, channel: u32) {
        let state = &mut self.routers[router as usize];
        state.touched += 1;
        if state.touched == 1 {
            state.touched_first = channel;
            self.touched_routers.push(router);
            return;
        }
        let (first, second) =
            (state.touched_first - state.first_output, channel - state.first_output);
        let dirty = &mut self.dirty[router as usize * self.output_words..][..self.output_words];
        for local in [first, second] {
            dirty[local as usize / 64] |= 1 << (local % 64);
        }
    }

    /// Sees to it that a channel's sender is looked at by `time`.
    #[inline]
    pub(super) fn wake_at(&mut self, channel: u32, time: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        if time < output.wake_at {
            output.wake_at = time;
            self.calendar.add(time, Event::Wake { channel });
        }
    }

    /// Looks at a channel's sender, unless this wake-up has been overtaken by an earlier one.
    #[inline]
    pub(super) fn wake_up(&mut self, channel: u32, now: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        if output.wake_at != now {
            return;
        }
        output.wake_at = NEVER;
        let (owner, free_at) = (output.owner, output.free_at);
        if output.kind == ChannelKind::Injection as u8 {
            self.adapters.touch(owner);
        } else if output.asking == 0 {
        } else if free_at <= now {
            self.touch(owner, channel);
        } else {
            self.wake_at(channel, free_at);
        }
    }

    /// Serves a router once: each of its touched, free outputs, starting behind the latest grant's.
    #[inline]
    pub(super) fn allocate(&mut self, index: u32, now: Picoseconds) {
        let router = &mut self.routers[index as usize];
        let Router { first_output: first, next_output: start, touched_first, .. } = *router;
        if std::mem::take(&mut router.touched) == 1 {
            self.serve(touched_first, index, Walk::Preferred, now);
        } else {
            self.serve_dirty(index, first, start, now);
        }
        if !self.escapes.is_empty() {
            self.serve_passed_over(index, now);
            self.serve_escapes(index, start, now);
        }
    }

    /// Serves all outputs that are marked, from `start` on.
    #[inline]
    fn serve_dirty(&mut self, index: u32, first: u32, start: u32, now: Picoseconds) {
        let words = self.output_words;
        for step in 0..steps(words) {
            let Part { word, mask, turn } = cyclic(start, step, words);
            let dirty = &mut self.dirty[index as usize * words + word];
            let mut bits = (*dirty & mask).rotate_right(turn);
            *dirty &= !mask;
            while bits != 0 {
                let channel = first + word as u32 * 64 + (bits.trailing_zeros() + turn) % 64;
                bits &= bits - 1;
                self.serve(channel, index, Walk::Preferred, now);
            }
        }
    }

    /// Grants a free output to the first packet that can go. If none can, notes why, and when one may.
    #[inline]
    pub(super) fn serve(&mut self, channel: u32, router: u32, walk: Walk, now: Picoseconds) {
        let output = &self.outputs[channel as usize];
        if output.asking == 0 {
            // All that asked have left by other outputs.
            return;
        }
        let pointer = u32::from(output.pointer);
        let words = self.request_words;
        let mut refusal = Refusal { stall: Stall::NoCredit, retry: NEVER, passed_over: false };
        if words == 1 && self.parameters.arbitration == Arbitration::RoundRobin {
            let part = cyclic(pointer, 0, 1);
            if self.serve_first(channel, router, walk, part, u64::MAX, &mut refusal, now) {
                return;
            }
        } else {
            let transit = match self.parameters.arbitration {
                Arbitration::RoundRobin => u32::MAX,
                Arbitration::TransitFirst => self.routers[router as usize].transit,
            };
            for (low, high) in [(0, transit), (transit, u32::MAX)] {
                for step in 0..steps(words) {
                    let part = cyclic(pointer, step, words);
                    let of_set = between(low, high, part.word as u32 * 64);
                    if self.serve_first(channel, router, walk, part, of_set, &mut refusal, now) {
                        return;
                    }
                }
            }
        }
        let Refusal { stall, retry, passed_over } = refusal;
        if passed_over {
            self.passed_over.push(channel);
            return;
        }
        self.statistics.stalled(channel, &mut self.outputs[channel as usize], stall, now);
        self.wake_at(channel, retry);
    }

    /// Grants an output to the first packet of a part of a walk that can go, among those in `of_set`.
    /// False if none can.
    #[inline]
    fn serve_first(
        &mut self,
        channel: u32,
        router: u32,
        walk: Walk,
        part: Part,
        of_set: u64,
        refusal: &mut Refusal,
        now: Picoseconds,
    ) -> bool {
        let first_input = self.routers[router as usize].first_input;
        let place = channel as usize * self.request_words + part.word;
        let turn = part.turn;
        let mut bits = (self.requests[place] & part.mask & of_set).rotate_right(turn);
        while bits != 0 {
            let in_word = (bits.trailing_zeros() + turn) % 64;
            let bit = part.word as u32 * 64 + in_word;
            bits &= bits - 1;
            let input = first_input + bit / VIRTUAL_CHANNELS as u32;
            let virtual_channel = (bit % VIRTUAL_CHANNELS as u32) as u8;
            match self.obstacle(channel, input, virtual_channel, now) {
                None => {
                    let options = self.options(input, virtual_channel);
                    if options != 0
                        && walk == Walk::Preferred
                        && !self.prefers(channel, input, virtual_channel, now)
                    {
                        refusal.passed_over = true;
                        continue;
                    }
                    self.requests[place] &= !(1 << in_word);
                    self.outputs[channel as usize].asking -= 1;
                    let onto = if options == 0 {
                        virtual_channel
                    } else {
                        self.withdraw(channel, router, input, virtual_channel, now);
                        self.channels.adaptive
                    };
                    self.grant(channel, router, input, virtual_channel, onto, now);
                    return true;
                }
                Some((stall, until)) => {
                    refusal.stall = refusal.stall.max(stall);
                    refusal.retry = refusal.retry.min(until);
                }
            }
        }
        false
    }

    /// Why the head of a buffer can't have a free output now, and when that may have changed, as far as
    /// it is known.
    #[inline]
    fn obstacle(
        &mut self,
        channel: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) -> Option<(Stall, Picoseconds)> {
        let input = &self.inputs[index as usize];
        let queue = &input.queues[usize::from(virtual_channel)];
        let flits = queue.flits();
        let (virtual_channel, need) = if queue.options == 0 {
            (virtual_channel, queue.need(self.bubble))
        } else {
            (self.channels.adaptive, flits + self.injection_bubble(input))
        };
        let free_at = input.free_at(self.parameters.crossbar_speedup, now);
        let output = &self.outputs[channel as usize];
        let place = usize::from(virtual_channel);
        if output.input != NONE && u32::from(output.credits[place]) < need {
            let until = self.await_credits(channel, virtual_channel, need, now);
            let credits = u32::from(self.outputs[channel as usize].credits[place]);
            if credits < need {
                return Some((
                    if credits < flits { Stall::NoCredit } else { Stall::Bubble },
                    until,
                ));
            }
        }
        (free_at > now).then_some((Stall::InputBusy, free_at))
    }

    /// Looks for the credits that a channel's sender has got by `now`. If it still has fewer than
    /// `need`, gives the time at which those under way suffice; if they don't, sees to it that the
    /// sender is woken by the ones that follow.
    #[inline]
    pub(super) fn await_credits(
        &mut self,
        channel: u32,
        virtual_channel: u8,
        need: u32,
        now: Picoseconds,
    ) -> Picoseconds {
        let output = &mut self.outputs[channel as usize];
        let input = &mut self.inputs[output.input as usize];
        input.settle(&mut self.credits, now);
        output.take_returned(input);
        let mut have = u32::from(output.credits[usize::from(virtual_channel)]);
        let mut at = input.returning;
        while have < need && at != NONE {
            let credit = self.credits.credits[at as usize];
            if credit.virtual_channel == virtual_channel {
                have += u32::from(credit.flits);
                if have >= need {
                    return credit.time;
                }
            }
            at = credit.next;
        }
        input.awaited |= have < need;
        NEVER
    }

    /// Sends the head of a buffer, whose request has been withdrawn, through an output, onto a virtual
    /// channel.
    #[inline]
    pub(super) fn grant(
        &mut self,
        channel: u32,
        router: u32,
        index: u32,
        virtual_channel: u8,
        onto: u8,
        now: Picoseconds,
    ) {
        let input = &mut self.inputs[index as usize];
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        let flits = packet.flits;
        queue.head = std::mem::replace(&mut packet.next, NONE);
        queue.output = NONE;
        let state = &mut self.routers[router as usize];
        state.next_output = channel - state.first_output + 1;

        let output = &mut self.outputs[channel as usize];
        let timing = &self.network.timings[usize::from(output.kind)];
        let last = packet.send(now, timing, &self.network.flit_times);
        let released = last + timing.flit_time;
        output.pointer = input.first_bit + u16::from(virtual_channel) + 1;
        output.free_at = released;
        input.free_at = released;
        queue.free_at = released;
        self.digest.add(now, channel, packet.source, packet.sequence);
        self.statistics.sent(channel, output, onto, flits);
        let asking = output.asking > 0;
        if asking {
            self.statistics.stalled(channel, output, Stall::OutputBusy, now);
        } else if !output.stall.is_none() {
            self.statistics.moving(channel, output, now);
        }
        packet.input = output.input;
        let arrival = if output.input == NONE {
            (last + timing.forward, Event::Deliver { packet: slot })
        } else {
            output.credits[usize::from(onto)] -= flits;
            if packet.destination == NONE {
                packet.hops_left -= 1;
                if packet.hops_left == 0 {
                    packet.run += 1;
                    let run = self.packets.origins[slot as usize].runs.get(usize::from(packet.run));
                    (packet.port, packet.hops_left) =
                        run.map_or((0, 0), |run| (run.port, run.hops));
                }
            } else {
                packet.virtual_channel = onto;
            }
            let header = match self.parameters.switching {
                Switching::VirtualCutThrough => now,
                Switching::StoreAndForward => last,
            };
            let ready = header + timing.forward + self.parameters.routing_latency;
            let input = output.input;
            let next = if packet.destination == NONE {
                packet.take_output(output.next_outputs)
            } else {
                let router = self.network.router_of_input[input as usize];
                packet.choose_at(router, &self.outputs)
            };
            (ready, Event::Ready { packet: slot, input, output: next, virtual_channel: onto })
        };
        self.calendar.add(arrival.0, arrival.1);
        if queue.head != NONE {
            self.calendar.add(released, Event::Ask { input: index, virtual_channel });
        }
        input.settle(&mut self.credits, now);
        let back = released + self.network.timings[usize::from(input.feeder_kind)].back;
        let credit = Credit { time: back, flits, virtual_channel, next: NONE };
        input.send_credit(&mut self.credits, credit);
        let awaited = input.awaited;
        if asking {
            self.wake_at(channel, released);
        }
        if awaited {
            // Stays so until nobody asks: credits of two packets may overtake each other.
            let feeder = self.network.channel_of_input[index as usize];
            if self.outputs[feeder as usize].asking > 0 {
                self.wake_at(feeder, back);
            } else {
                self.inputs[index as usize].awaited = false;
            }
        }
    }
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
            credits: [capacity as u16; VIRTUAL_CHANNELS],
            owner,
            ring: network.ring_of_channel[channel as usize],
            input,
            next_outputs: if input == NONE {
                NONE
            } else {
                network.first_output[network.router_of_input[input as usize] as usize]
            },
            free_at: 0,
            wake_at: NEVER,
            flits: 0,
            stall: Stalled::NOT,
            asking: 0,
            pointer: 0,
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
                first_bit: ((index - network.first_input[router as usize])
                    * VIRTUAL_CHANNELS as u32) as u16,
                ring: network.ring_of_channel[feeder as usize],
                feeder_kind: (if injects { ChannelKind::Injection } else { ChannelKind::Network })
                    as u8,
                port: if injects {
                    NO_PORT
                } else {
                    let router = network.router_of_output(feeder);
                    (feeder - network.first_output[router as usize]) as u8
                },
                awaited: false,
                returning: NONE,
                returning_last: NONE,
                free_at: 0,
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
            touched: 0,
            touched_first: NONE,
        })
        .collect()
}
