//! Packets that choose their way: adaptive routings on the Angara router (docs/model.md, "Adaptive
//! routing").
//!
//! The head of a buffer asks for every output that leads it on, on the adaptive channel, and for
//! direction order's on its escape channel. A router walks its free outputs three times: with packets
//! that like an output best; with any that can have it; with those that found none of their outputs
//! with room, which may escape. What has been granted in one walk only takes room, and escapes take none
//! of the adaptive channel's, so walking again would grant nothing. The second walk visits those
//! outputs only that passed a packet over in the first.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::observer::Observer;
use super::packet::Stage;
use super::parameters::Arbitration;
use super::part::Part;
use super::port::{Input, NEVER, NO_PORT};
use super::router::Walk;
use super::statistics::Stall;
use super::walk::{Stretch, between, cyclic, steps};
use crate::adaptive::drawn_at;
use crate::routing::{Adaptive, Course, Routes};
use crate::topology::NONE;
use crate::units::Picoseconds;

impl<O: Observer, const LANES: usize> Part<'_, O, LANES> {
    /// The ports among which the head of a buffer chooses; 0 if it has no choice.
    #[inline]
    pub(super) fn options(&self, index: u32, virtual_channel: u8) -> u16 {
        self.inputs[index as usize].queues[usize::from(virtual_channel)].options
    }

    /// What a packet that is injected now is given if it chooses its way.
    pub(super) fn course(
        &mut self,
        virtual_channel: u8,
        terminal: u32,
        from: u32,
        to: u32,
    ) -> Option<Course> {
        match self.routes {
            Routes::Adaptive(adaptive)
                if virtual_channel == self.channels.adaptive && from != to =>
            {
                Some(adaptive.inject(from, to, self.random.get_mut(terminal as usize)))
            }
            _ => None,
        }
    }

    /// Decides at its source router how a new packet goes on.
    fn decide(&mut self, adaptive: &Adaptive, slot: u32, router: u32, now: Picoseconds) {
        let packet = &self.packets.packets[slot as usize];
        let source = router + self.first_router;
        let (destination, flits) = (packet.destination, u32::from(packet.flits));
        let origin = &self.packets.origins[slot as usize];
        let course = Course {
            to: destination,
            heading: packet.heading,
            drawn: origin.drawn,
            kind: origin.derouting,
        };
        let course = if adaptive.decides() {
            let capacity = self.parameters.buffer;
            let mut used = [0; u16::BITS as usize];
            let channels = self.fabric.outputs(source).len();
            let first = self.routers[router as usize].first_output;
            for (channel, used) in (first..).zip(&mut used[..channels]) {
                *used = match self.room(channel, now) {
                    Some(room) => capacity - room,
                    None => u32::MAX,
                };
            }
            adaptive.decide(source, course, &used[..channels], capacity - flits + 1)
        } else {
            course
        };
        let packet = &mut self.packets.packets[slot as usize];
        packet.destination = course.to;
        packet.heading = course.heading;
        packet.stage =
            if course.to == destination { Stage::ToDestination } else { Stage::ToIntermediate };
        let origin = &mut self.packets.origins[slot as usize];
        origin.derouting = course.kind;
        origin.hops = adaptive.hops(source, destination, &course);
    }

    /// Flits free behind an output on the adaptive channel; `None` if it is no channel.
    fn room(&mut self, channel: u32, now: Picoseconds) -> Option<u32> {
        let output = &mut self.outputs[channel as usize];
        if output.input == NONE {
            return None;
        }
        let adaptive = self.channels.adaptive;
        self.credits.collect(channel, output, adaptive, now);
        Some(u32::from(output.credits[usize::from(adaptive)]))
    }

    /// Lets the head of a buffer ask for every output that leads it on, and for its escape.
    pub(super) fn ask_for_any(
        &mut self,
        index: u32,
        virtual_channel: u8,
        flits: u16,
        now: Picoseconds,
    ) {
        let Routes::Adaptive(adaptive) = self.routes else {
            unreachable!("only adaptive packets choose their outputs")
        };
        let input = &self.inputs[index as usize];
        let router = input.router;
        let bit = u32::from(input.first_bit) + u32::from(virtual_channel);
        let first = self.routers[router as usize].first_output;
        let head = input.queues[usize::from(virtual_channel)].head;
        if self.packets.packets[head as usize].stage == Stage::New {
            self.decide(adaptive, head, router, now);
        }
        let packet = &self.packets.packets[head as usize];
        let here = router + self.first_router;
        let options = adaptive.ports(here, packet.destination, packet.heading);
        let queue = &mut self.inputs[index as usize].queues[usize::from(virtual_channel)];
        queue.asks = flits;
        queue.options = options;
        queue.output = first + options.trailing_zeros();
        queue.onto = if packet.stage == Stage::ToIntermediate {
            self.channels.escape_to_intermediate
        } else {
            self.channels.escape
        };
        let escape = queue.output;
        for channel in ports(options).map(|port| first + port) {
            let word = self.request_word(channel, bit);
            self.requests[word] |= 1 << (bit % 64);
            self.join(channel, router, now);
        }
        let word = self.request_word(escape, bit);
        self.escapes[word] |= 1 << (bit % 64);
        self.join(escape, router, now);
    }

    /// The word of an output's requests in which a pair of input port and virtual channel has its bit.
    #[inline]
    fn request_word(&self, channel: u32, bit: u32) -> usize {
        channel as usize * self.request_words + bit as usize / 64
    }

    /// Counts a request for an output, and sees to it that the output is looked at.
    fn join(&mut self, channel: u32, router: u32, now: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        output.asking += 1;
        let free_at = output.free_at;
        if free_at <= now {
            self.touch(router, channel);
        } else {
            if output.stall.is_none() {
                self.statistics.stalled(channel, output, Stall::OutputBusy, now);
            }
            self.wake_at(channel, free_at);
        }
    }

    /// Takes back all requests of the head of a buffer but the one for `granted`, which has been.
    pub(super) fn withdraw(
        &mut self,
        granted: u32,
        router: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        let input = &mut self.inputs[index as usize];
        let bit = u32::from(input.first_bit) + u32::from(virtual_channel);
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let options = std::mem::take(&mut queue.options);
        let escape = queue.output;
        let first = self.routers[router as usize].first_output;
        for channel in ports(options).map(|port| first + port).filter(|&it| it != granted) {
            let word = self.request_word(channel, bit);
            self.requests[word] &= !(1 << (bit % 64));
            self.leave(channel, now);
        }
        let word = self.request_word(escape, bit);
        self.escapes[word] &= !(1 << (bit % 64));
        self.leave(escape, now);
    }

    /// Uncounts a request for an output, and ends its stall if that was the last.
    fn leave(&mut self, channel: u32, now: Picoseconds) {
        let output = &mut self.outputs[channel as usize];
        output.asking -= 1;
        if output.asking == 0 && !output.stall.is_none() {
            self.statistics.moving(channel, output, now);
        }
    }

    /// Whether the head of a buffer, which could have an output, likes no other better that it could have.
    pub(super) fn prefers(
        &mut self,
        channel: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) -> bool {
        let Routes::Adaptive(adaptive) = self.routes else { return true };
        let input = &self.inputs[index as usize];
        let (router, straight) = (input.router, u32::from(input.port));
        let queue = &input.queues[usize::from(virtual_channel)];
        let (options, head) = (queue.options, queue.head);
        if options.is_power_of_two() {
            return true;
        }
        let need = queue.flits() + self.injection_bubble(input);
        let first = self.routers[router as usize].first_output;
        let mut open = 0;
        for port in ports(options) {
            let free = self.outputs[(first + port) as usize].free_at <= now;
            if free && self.room(first + port, now).is_some_and(|room| room >= need) {
                open |= 1 << port;
            }
        }
        let drawn = drawn_at(router + self.first_router, self.packets.origins[head as usize].drawn);
        let adaptive_channel = usize::from(self.channels.adaptive);
        let room =
            |port| u32::from(self.outputs[(first + port) as usize].credits[adaptive_channel]);
        first + adaptive.rules().selection.prefers(open, straight, drawn, room) == channel
    }

    /// Serves the outputs again that packets have passed over, with any of them.
    pub(super) fn serve_passed_over(&mut self, router: u32, now: Picoseconds) {
        let mut channels = std::mem::take(&mut self.passed_over);
        for &channel in &channels {
            self.serve(channel, router, Walk::Any, now);
        }
        channels.clear();
        self.passed_over = channels;
    }

    /// Serves a router's free outputs once, from `start` on, with packets that have to escape.
    pub(super) fn serve_escapes(&mut self, router: u32, start: u32, now: Picoseconds) {
        let first = self.routers[router as usize].first_output;
        let end = self.routers.get(router as usize + 1);
        let count = end.map_or(self.first_injection, |next| next.first_output) - first;
        for channel in (0..count).map(|step| first + (start + step) % count) {
            let words = self.request_word(channel, 0)..self.request_word(channel + 1, 0);
            let asked = self.escapes[words].iter().any(|&word| word != 0);
            if asked && self.outputs[channel as usize].free_at <= now {
                self.serve_escape(channel, router, now);
            }
        }
    }

    /// Grants a free output to the first packet that has to escape by it and can.
    fn serve_escape(&mut self, channel: u32, router: u32, now: Picoseconds) {
        let pointer = u32::from(self.outputs[channel as usize].pointer);
        let state = self.routers[router as usize];
        let transit = match self.parameters.arbitration {
            Arbitration::RoundRobin => u32::MAX,
            Arbitration::TransitFirst => state.transit,
        };
        let mut retry = NEVER;
        for (low, high) in [(0, transit), (transit, u32::MAX)] {
            for step in 0..steps(self.request_words) {
                let Stretch { word, mask, turn } = cyclic(pointer, step, self.request_words);
                let of_set = between(low, high, word as u32 * 64);
                let place = self.request_word(channel, 0) + word;
                let mut bits = (self.escapes[place] & mask & of_set).rotate_right(turn);
                while bits != 0 {
                    let bit = word as u32 * 64 + (bits.trailing_zeros() + turn) % 64;
                    bits &= bits - 1;
                    let input = state.first_input + bit / LANES as u32;
                    let virtual_channel = (bit % LANES as u32) as u8;
                    match self.escape_obstacle(channel, router, input, virtual_channel, now) {
                        None => {
                            let queues = &self.inputs[input as usize].queues;
                            let escape = queues[usize::from(virtual_channel)].onto;
                            let word = self.request_word(channel, bit);
                            self.requests[word] &= !(1 << (bit % 64));
                            self.outputs[channel as usize].asking -= 1;
                            self.withdraw(channel, router, input, virtual_channel, now);
                            return self.grant(
                                channel,
                                router,
                                input,
                                virtual_channel,
                                escape,
                                now,
                            );
                        }
                        Some(until) => retry = retry.min(until),
                    }
                }
            }
        }
        self.wake_at(channel, retry);
    }

    /// Until when, as far as it is known, the head of a buffer can't escape by a free output; `None` if it
    /// can.
    fn escape_obstacle(
        &mut self,
        channel: u32,
        router: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) -> Option<Picoseconds> {
        let input = &self.inputs[index as usize];
        let free_at = input.free_at(self.parameters.crossbar_speedup, now);
        let queue = input.queues[usize::from(virtual_channel)];
        let first = self.routers[router as usize].first_output;
        let need = queue.flits() + self.injection_bubble(input);
        let to_escape = queue.flits() + self.escape_bubble(input, virtual_channel);
        for option in ports(queue.options).map(|port| first + port) {
            if self.has_credits(option, self.channels.adaptive, need, now).is_ok() {
                // It is served there, or what it waits for there wakes it.
                return Some(NEVER);
            }
        }
        if let Err(until) = self.has_credits(channel, queue.onto, to_escape, now) {
            return Some(until);
        }
        (free_at > now).then_some(free_at)
    }

    /// Flits of room that the head of a buffer needs beyond its own to escape: none if it is on the escape
    /// channel of the same ring already.
    pub(super) fn escape_bubble(&self, input: &Input<LANES>, virtual_channel: u8) -> u32 {
        let queue = &input.queues[usize::from(virtual_channel)];
        let ring = self.outputs[queue.output as usize].ring;
        let goes_on = virtual_channel == queue.onto && input.ring == ring;
        if ring == NONE || goes_on { 0 } else { self.bubble }
    }

    /// Flits of room that a packet from an input port needs beyond its own on the adaptive channel.
    #[inline]
    pub(super) fn injection_bubble(&self, input: &Input<LANES>) -> u32 {
        if input.port == NO_PORT { self.injection_bubble } else { 0 }
    }

    /// Whether a channel's sender has so many credits; if not, when those under way suffice.
    fn has_credits(
        &mut self,
        channel: u32,
        virtual_channel: u8,
        need: u32,
        now: Picoseconds,
    ) -> Result<(), Picoseconds> {
        let place = usize::from(virtual_channel);
        let have = |part: &Self| u32::from(part.outputs[channel as usize].credits[place]);
        if have(self) >= need {
            return Ok(());
        }
        let until = self.await_credits(channel, virtual_channel, need, now);
        if have(self) >= need { Ok(()) } else { Err(until) }
    }
}

/// The random numbers of each of these terminals' packets: a stream each, or none if packets get none.
pub(super) fn random(routes: &Routes, terminals: Range<u32>) -> Vec<ChaCha8Rng> {
    let Routes::Adaptive(adaptive) = routes else { return Vec::new() };
    if !adaptive.rules().is_random() {
        return Vec::new();
    }
    let stream = |terminal: u32| {
        let mut random = ChaCha8Rng::seed_from_u64(adaptive.seed());
        random.set_stream(u64::from(terminal));
        random
    };
    terminals.map(stream).collect()
}

/// The ports of a set, ascending.
pub(super) fn ports(set: u16) -> impl Iterator<Item = u32> {
    (0..u16::BITS).filter(move |port| set >> port & 1 == 1)
}
