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
use super::cut::Entry;
use super::event::Event;
use super::observer::Observer;
use super::packet::Packet;
use super::parameters::{Arbitration, Switching};
use super::part::Part;
use super::port::{ENTERS, NEVER, Router};
use super::statistics::Stall;
use super::walk::{Stretch, between, cyclic, steps};
use super::{ChannelKind, forwarding};
use crate::topology::NONE;
use crate::units::Picoseconds;

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

impl<O: Observer, const LANES: usize> Part<'_, O, LANES> {
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
            let onto = self.packets.packets[slot as usize].onto;
            self.ask(index, channel, virtual_channel, onto, flits, now);
        } else {
            let event = Event::Ask { packet: slot, input: index, virtual_channel };
            self.calendar.add(queue.free_at, event);
        }
    }

    /// Lets the head of a buffer ask for its next output.
    #[inline]
    pub(super) fn next_asks(
        &mut self,
        head: u32,
        index: u32,
        virtual_channel: u8,
        now: Picoseconds,
    ) {
        let Packet { output, onto, flits, .. } = self.packets.packets[head as usize];
        self.ask(index, output, virtual_channel, onto, flits, now);
    }

    /// The head of a buffer, which has so many flits, asks for an output, onto a virtual channel.
    #[inline]
    fn ask(
        &mut self,
        index: u32,
        channel: u32,
        virtual_channel: u8,
        onto: u8,
        flits: u16,
        now: Picoseconds,
    ) {
        if channel == NONE {
            return self.ask_for_any(index, virtual_channel, flits, now);
        }
        let input = &mut self.inputs[index as usize];
        let queue = &mut input.queues[usize::from(virtual_channel)];
        let output = &mut self.outputs[channel as usize];
        let enters = output.ring != NONE && output.ring != input.ring;
        queue.asks = flits | if enters { ENTERS } else { 0 };
        queue.output = channel;
        queue.onto = onto;
        let router = input.router;
        if output.free_at <= now {
            let state = &mut self.routers[router as usize];
            if state.touched == 0 && output.asking == 0 && self.escapes.is_empty() {
                state.alone = Some((index, virtual_channel));
            } else {
                self.request(index, virtual_channel);
            }
            self.touch(router, channel);
        } else {
            let free_at = output.free_at;
            if output.stall.is_none() {
                self.statistics.stalled(channel, output, Stall::OutputBusy, now);
            }
            self.request(index, virtual_channel);
            self.wake_at(channel, free_at);
        }
    }

    /// Puts the head of a buffer among those that ask for its output.
    #[inline]
    fn request(&mut self, index: u32, virtual_channel: u8) {
        let input = &self.inputs[index as usize];
        let channel = input.queues[usize::from(virtual_channel)].output;
        let bit = u32::from(input.first_bit) + u32::from(virtual_channel);
        self.requests[channel as usize * self.request_words + bit as usize / 64] |= 1 << (bit % 64);
        self.outputs[channel as usize].asking += 1;
    }

    /// Notes that an output may be able to grant at this instant.
    #[inline(always)]
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
        if let Some((input, virtual_channel)) = state.alone.take() {
            self.request(input, virtual_channel);
        }
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
            if let Some((input, virtual_channel)) = router.alone.take() {
                if self.obstacle(touched_first, input, virtual_channel, now).is_none() {
                    let queues = &self.inputs[input as usize].queues;
                    let onto = queues[usize::from(virtual_channel)].onto;
                    self.grant(touched_first, index, input, virtual_channel, onto, now);
                    return;
                }
                self.request(input, virtual_channel);
            }
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
            let Stretch { word, mask, turn } = cyclic(start, step, words);
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
            if self.serve_first(channel, router, walk, part, &mut refusal, now) {
                return;
            }
        } else {
            let transit = match self.parameters.arbitration {
                Arbitration::RoundRobin => u32::MAX,
                Arbitration::TransitFirst => self.routers[router as usize].transit,
            };
            for (low, high) in [(0, transit), (transit, u32::MAX)] {
                for step in 0..steps(words) {
                    let mut part = cyclic(pointer, step, words);
                    part.mask &= between(low, high, part.word as u32 * 64);
                    if self.serve_first(channel, router, walk, part, &mut refusal, now) {
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

    /// Grants an output to the first packet of a part of a walk that can go. False if none can.
    #[inline]
    fn serve_first(
        &mut self,
        channel: u32,
        router: u32,
        walk: Walk,
        part: Stretch,
        refusal: &mut Refusal,
        now: Picoseconds,
    ) -> bool {
        let first_input = self.routers[router as usize].first_input;
        let place = channel as usize * self.request_words + part.word;
        let turn = part.turn;
        let mut bits = (self.requests[place] & part.mask).rotate_right(turn);
        while bits != 0 {
            let in_word = (bits.trailing_zeros() + turn) % 64;
            let bit = part.word as u32 * 64 + in_word;
            bits &= bits - 1;
            let input = first_input + bit / LANES as u32;
            let virtual_channel = (bit % LANES as u32) as u8;
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
                        self.inputs[input as usize].queues[usize::from(virtual_channel)].onto
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
    #[inline(always)]
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
            (queue.onto, queue.need(self.bubble))
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
    /// `need`, sees to it that it is woken by those that are sent to it from now on, and gives the time at
    /// which the next of those on their way arrive.
    #[inline]
    pub(super) fn await_credits(
        &mut self,
        channel: u32,
        virtual_channel: u8,
        need: u32,
        now: Picoseconds,
    ) -> Picoseconds {
        let output = &mut self.outputs[channel as usize];
        self.credits.collect(channel, output, virtual_channel, now);
        if u32::from(output.credits[usize::from(virtual_channel)]) >= need {
            return NEVER;
        }
        self.credits.wait(channel).unwrap_or(NEVER)
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
        let port = channel - state.first_output;
        state.next_output = port + 1;

        let output = &mut self.outputs[channel as usize];
        let timing = &self.timings[usize::from(output.kind)];
        let last = packet.send(now, timing, &self.flit_times);
        let released = last + timing.flit_time;
        output.pointer = input.first_bit + u16::from(virtual_channel) + 1;
        output.free_at = released;
        input.free_at = released;
        queue.free_at = released;
        self.digest.add(now, channel + self.first_output, packet.source, packet.sequence);
        self.statistics.sent(channel, output, onto, flits);
        let asking = output.asking > 0;
        if asking {
            self.statistics.stalled(channel, output, Stall::OutputBusy, now);
        } else if !output.stall.is_none() {
            self.statistics.moving(channel, output, now);
        }
        packet.input = output.input;
        let arrival = if output.input == NONE {
            if output.kind != ChannelKind::Ejection as u8 {
                self.packets.origins[slot as usize].lost = true;
            }
            (last + timing.forward, Event::Deliver { packet: slot })
        } else {
            output.credits[usize::from(onto)] -= flits;
            if packet.destination == NONE {
                packet.hops_left -= 1;
                if packet.hops_left == 0 {
                    let run = self.packets.origins[slot as usize].runs.get(usize::from(packet.run));
                    packet.run += 1;
                    (packet.port, packet.hops_left) =
                        run.map_or((0, 0), |run| (run.port, run.hops));
                }
            } else {
                packet.virtual_channel = onto;
                packet.onto = onto;
            }
            let header = match self.parameters.switching {
                Switching::VirtualCutThrough => now,
                Switching::StoreAndForward => last,
            };
            let ready = header + timing.forward + self.parameters.routing_latency;
            let input = output.input;
            let next = if packet.destination == NONE {
                packet.take_output(output.next_outputs)
            } else if let Some(table) = self.table {
                let sent = forwarding::channel(self.fabric, router + self.first_router, port);
                let origin = &mut self.packets.origins[slot as usize];
                if let Some(interruption) = self.interruption {
                    origin.lost |= interruption.cuts(sent, last + timing.forward);
                }
                forwarding::go_on(table, self.fabric, sent, output.next_outputs, packet, origin)
            } else {
                let router = self.whole.network.router_behind(channel + self.first_output);
                packet.choose_at(router, &self.packets.origins[slot as usize])
            };
            (ready, Event::Ready { packet: slot, input, output: next, virtual_channel: onto })
        };
        match arrival {
            (ready, Event::Ready { input, output, .. }) if self.is_away(input) => {
                self.send_away(input, slot, ready, output);
            }
            (time, event) => self.calendar.add(time, event),
        }
        let input = &self.inputs[index as usize];
        let packet = input.queues[usize::from(virtual_channel)].head;
        if packet != NONE {
            self.calendar.add(released, Event::Ask { packet, input: index, virtual_channel });
        }
        let back = released + self.timings[usize::from(input.feeder_kind)].back;
        let feeder = input.feeder;
        if asking {
            self.wake_at(channel, released);
        }
        let credit = Credit { time: back, flits, virtual_channel };
        self.send_credit(feeder, credit, now);
    }

    /// Sends credits to the sender of a channel, and wakes it when they arrive if it waits for some.
    #[inline]
    pub(super) fn send_credit(&mut self, channel: u32, credit: Credit, now: Picoseconds) {
        if let Some(&Entry { part, channel }) = self.entry(channel) {
            self.mail_to(part).credits.push((channel, credit));
        } else if self.credits.send(channel, credit, now) {
            if self.outputs[channel as usize].asking > 0 {
                self.wake_at(channel, credit.time);
            } else {
                self.credits.no_longer_awaited(channel);
            }
        }
    }
}
