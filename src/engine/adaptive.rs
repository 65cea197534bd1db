//! Packets that choose their way: the adaptive bubble router on the Angara router (docs/model.md,
//! "Adaptive routing").
//!
//! The head of a buffer asks for every output that brings it nearer, on the adaptive channel, and for
//! direction order's on the escape channel. A router first walks its free outputs as always; a packet
//! that has a choice takes the first of the walk that has room for it. Then it walks them again for
//! those packets that found none of their outputs with room: they may escape. What has been granted
//! in the first walk only takes room, and escapes take none of the adaptive channel's, so walking
//! twice more would grant nothing.

use super::Engine;
use super::observer::Observer;
use super::parameters::{ADAPTIVE_CHANNEL, Arbitration, ESCAPE_CHANNEL, VIRTUAL_CHANNELS};
use super::router::NEVER;
use super::statistics::Stall;
use super::walk::{Part, between, cyclic, steps};
use crate::routing::Routes;
use crate::topology::NONE;
use crate::units::Picoseconds;

impl<O: Observer> Engine<'_, O> {
    /// The ports among which the head of a buffer chooses; 0 if it has no choice.
    #[inline]
    pub(super) fn options(&self, index: u32, virtual_channel: u8) -> u16 {
        self.inputs[index as usize].queues[usize::from(virtual_channel)].options
    }

    /// Lets the head of a buffer ask for every output that brings it nearer, and for its escape.
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
        let input = &mut self.inputs[index as usize];
        let router = input.router;
        let bit = u32::from(input.first_bit) + u32::from(virtual_channel);
        let first = self.routers[router as usize].first_output;
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let destination = self.packets.packets[queue.head as usize].destination;
        let options = adaptive.ports(router, destination);
        queue.asks = flits;
        queue.options = options;
        queue.output = first + options.trailing_zeros();
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

    /// Serves a router's free outputs once, from `start` on, with packets that have to escape.
    pub(super) fn serve_escapes(&mut self, router: u32, start: u32, now: Picoseconds) {
        let first = self.routers[router as usize].first_output;
        let count = self.network.first_output[router as usize + 1] - first;
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
                let Part { word, mask, turn } = cyclic(pointer, step, self.request_words);
                let of_set = between(low, high, word as u32 * 64);
                let place = self.request_word(channel, 0) + word;
                let mut bits = (self.escapes[place] & mask & of_set).rotate_right(turn);
                while bits != 0 {
                    let bit = word as u32 * 64 + (bits.trailing_zeros() + turn) % 64;
                    bits &= bits - 1;
                    let input = state.first_input + bit / VIRTUAL_CHANNELS as u32;
                    let virtual_channel = (bit % VIRTUAL_CHANNELS as u32) as u8;
                    match self.escape_obstacle(channel, router, input, virtual_channel, now) {
                        None => {
                            let word = self.request_word(channel, bit);
                            self.requests[word] &= !(1 << (bit % 64));
                            self.outputs[channel as usize].asking -= 1;
                            self.withdraw(channel, router, input, virtual_channel, now);
                            return self.grant(
                                channel,
                                router,
                                input,
                                virtual_channel,
                                ESCAPE_CHANNEL,
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
        let ring = input.ring;
        let first = self.routers[router as usize].first_output;
        let flits = queue.flits();
        for option in ports(queue.options).map(|port| first + port) {
            if self.has_credits(option, ADAPTIVE_CHANNEL, flits, now).is_ok() {
                // It is served there, or what it waits for there wakes it.
                return Some(NEVER);
            }
        }
        let need = flits + self.escape_bubble(channel, ring, virtual_channel);
        if let Err(until) = self.has_credits(channel, ESCAPE_CHANNEL, need, now) {
            return Some(until);
        }
        (free_at > now).then_some(free_at)
    }

    /// Flits of room that a packet needs beyond its own to escape by an output: none if it is on the
    /// escape channel of the same ring already.
    pub(super) fn escape_bubble(&self, channel: u32, from_ring: u32, from: u8) -> u32 {
        let ring = self.outputs[channel as usize].ring;
        let goes_on = from == ESCAPE_CHANNEL && from_ring == ring;
        if ring == NONE || goes_on { 0 } else { self.bubble }
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
        let have = |engine: &Self| u32::from(engine.outputs[channel as usize].credits[place]);
        if have(self) >= need {
            return Ok(());
        }
        let until = self.await_credits(channel, virtual_channel, need, now);
        if have(self) >= need { Ok(()) } else { Err(until) }
    }
}

/// The ports of a set, ascending.
pub(super) fn ports(set: u16) -> impl Iterator<Item = u32> {
    (0..u16::BITS).filter(move |port| set >> port & 1 == 1)
}
