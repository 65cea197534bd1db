//! Which virtual channels a packet may take, and which of them are open to it.

use super::queue::{Queue, Stage};
use super::visit::FlitVisit;
use crate::engine::adaptive::{Step, decide, step};
use crate::engine::guide::Guide;
use crate::engine::ports::Output;
use crate::engine::set::bits;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::way::Address;
use crate::engine::{Arbitration, ChannelKind, Switching};
use crate::narrow::fitted;
use crate::prefetch::prefetch;
use crate::units::Picoseconds;

impl FlitVisit<'_, '_> {
    /// A packet is the first of its queue: finds out when it asks, and for what.
    pub(super) fn meet(&mut self, queue: usize, now: Tick) {
        let state = self.first_queue + queue;
        let Queue { flits, head, free_at, .. } = self.state.queues[state];
        let packet = self.packets.packets[head as usize];
        self.packets.packets.get(packet.next as usize).into_iter().for_each(prefetch);
        let awaited = match self.whole.parameters.switching {
            Switching::StoreAndForward => u32::from(packet.flits) - 1,
            Switching::VirtualCutThrough | Switching::Wormhole => 0,
        };
        if flits.len() <= awaited {
            // It is looked at when a flit comes.
            return;
        }
        let came = flits.at(awaited, &self.state.times);
        let asks = self.rules.asks(came, free_at);
        // Nobody else asks for its age.
        let created = match self.rules.arbitration {
            Arbitration::OldestFirst => self.packets.origins[head as usize].created,
            _ => Picoseconds::ZERO,
        };
        let queue_state = &mut self.state.queues[state];
        queue_state.slot = head;
        queue_state.head = packet.next;
        (queue_state.source, queue_state.sequence) = (packet.source, packet.sequence);
        queue_state.created = created;
        queue_state.left = packet.flits;
        queue_state.again = asks;
        let latency = fitted!(self.rules.sharing.virtual_channel_allocation.0, Tick);
        self.packets.packets[head as usize].ready = asks + latency;
        if let Some(waits) = &mut self.state.waits {
            waits.waits_from(state, asks);
        }
        self.direct(queue, head);
        match self.queue(queue).stage {
            Stage::Undecided if asks <= now => self.settle(queue, now),
            _ => self.ask(queue, now),
        }
    }

    /// A packet that asks now decides on a detour.
    #[inline(never)]
    pub(super) fn settle(&mut self, queue: usize, now: Tick) {
        self.decide(queue, now);
        let slot = self.queue(queue).slot;
        self.direct(queue, slot);
        self.ask(queue, now);
    }

    /// Finds out for which virtual channels of which outputs a packet asks.
    #[inline(always)]
    fn direct(&mut self, queue: usize, slot: u32) {
        if let Some(choosers) = self.choosers.as_deref() {
            return match choosers.related() {
                Some(_) => self.direct_by_relation(queue, slot),
                None => self.direct_adaptively(queue, slot),
            };
        }
        let packet = &self.packets.packets[slot as usize];
        if let Some(guide) = self.guide {
            let packet = (packet.source, packet.note, packet.way.into());
            return self.direct_by_guide(queue, guide, packet);
        }
        let (output, passed) = (self.whole.code.output(packet.way), packet.note);
        let Output { kind, in_ring, .. } = *self.port(usize::from(output));
        let (mut lanes, mut bubble) = (self.all_lanes(), 0);
        if kind != ChannelKind::Ejection {
            let place = self.place(queue);
            let kind = self.rules.kind(place.1);
            lanes = kind.all;
            if in_ring {
                if let Some(dateline) = self.whole.dateline {
                    lanes = kind.classes[usize::from(dateline.class(passed, output, true))];
                }
                (lanes, bubble) = self.in_ring(place, output, lanes);
            }
        }
        self.ask_for(queue, output, lanes, bubble);
    }

    /// The same where routers or paths say how a packet goes on.
    fn direct_by_guide(&mut self, queue: usize, guide: Guide<'_>, packet: (u32, u16, Address)) {
        let (input, lane) = self.place(queue);
        let entry = self.entry(input);
        let came = (!entry.injects).then_some(entry.opposite);
        let (output, onto) = guide.look_up(self.whole, self.name, packet, (came, lane));
        let ejects = self.port(usize::from(output)).kind == ChannelKind::Ejection;
        let lanes = if ejects { self.all_lanes() } else { 1 << onto };
        self.ask_for(queue, output, lanes, 0);
    }

    /// The same of a packet that is routed adaptively.
    fn direct_adaptively(&mut self, queue: usize, slot: u32) {
        let place = self.place(queue);
        let adaptive = self.choosers.as_deref().expect("it chooses").adaptive();
        match step(self.whole, adaptive, self.packets, slot, (self.name, place.1)) {
            Step::Ejection(output) => self.ask_for(queue, output, self.all_lanes(), 0),
            Step::Port { output, onto } => {
                let (mut lanes, mut bubble) = (1 << onto, 0);
                if self.port(usize::from(output)).in_ring {
                    (lanes, bubble) = self.in_ring(place, output, lanes);
                }
                self.ask_for(queue, output, lanes, bubble);
            }
            Step::Decision => self.queue(queue).stage = Stage::Undecided,
            Step::Any { options, output, escape } => {
                self.ask_for_any(queue, options, (output, escape));
            }
        }
    }

    pub(super) fn all_lanes(&self) -> u16 {
        fitted!((1u32 << self.rules.lanes) - 1, u16)
    }

    /// For which of some lanes of a ring's channel a packet asks that comes from an input port and lane, and of how much
    /// room beyond its own, by the rule that keeps rings from deadlocks.
    #[inline(always)]
    fn in_ring(&self, (input, lane): (usize, u8), output: u16, lanes: u16) -> (u16, u16) {
        match self.whole.bubble {
            1.. if self.entry(input).straight == output => (1 << lane, 0),
            bubble => (lanes, bubble),
        }
    }

    /// Asks for some lanes of an output, with so much room beyond the packet's own.
    #[inline(always)]
    pub(super) fn ask_for(&mut self, queue: usize, output: u16, lanes: u16, bubble: u16) {
        let needed = self.needed(queue, bubble);
        let state = self.queue(queue);
        state.stage = Stage::Asking;
        (state.output, state.lanes, state.options) = (output, lanes, 0);
        state.need = needed;
        self.set_asking(queue, usize::from(output));
    }

    /// Flits of room that a packet needs.
    #[inline(always)]
    pub(super) fn needed(&mut self, queue: usize, bubble: u16) -> u16 {
        match self.whole.parameters.switching {
            Switching::Wormhole => 0,
            Switching::VirtualCutThrough | Switching::StoreAndForward => {
                self.queue(queue).left + bubble
            }
        }
    }

    /// Asks for the adaptive lane of some outputs, or else for an escape.
    fn ask_for_any(&mut self, queue: usize, options: u16, (output, escape): (u16, u8)) {
        let (input, _) = self.place(queue);
        let bubble = self.whole.bubble_of(self.entry(input).injects);
        let need = self.needed(queue, bubble);
        let state = self.queue(queue);
        state.stage = Stage::Asking;
        state.options = options;
        state.output = output;
        (state.lane, state.need) = (escape, need);
        for output in bits(options | 1 << output) {
            self.set_asking(queue, output);
        }
    }

    /// The word of an output's set of those who ask in which a queue is.
    #[inline(always)]
    pub(super) fn asking(&mut self, queue: usize, output: usize) -> &mut u64 {
        let first = (self.router.first_output as usize + output) * self.rules.words;
        &mut self.state.asking[first + queue / 64]
    }

    #[inline(always)]
    pub(super) fn set_asking(&mut self, queue: usize, output: usize) {
        *self.asking(queue, output) |= 1 << (queue % 64);
    }

    /// A packet has got a lane: it asks for none any more.
    #[inline(always)]
    pub(super) fn withdraw(&mut self, queue: usize) {
        let Queue { options, output, .. } = *self.queue(queue);
        if options == 0 {
            *self.asking(queue, usize::from(output)) &= !(1 << (queue % 64));
            return;
        }
        if self.related().is_some() {
            return self.withdraw_hops(queue);
        }
        for output in bits(options | 1 << output) {
            *self.asking(queue, output) &= !(1 << (queue % 64));
        }
    }

    /// Lets a packet take part in the allocation of virtual channels if any is open to it; else says when one may be.
    #[inline(always)]
    pub(super) fn ask(&mut self, queue: usize, now: Tick) {
        let &mut Queue { options, output, lanes, need, again, .. } = self.queue(queue);
        if again > now {
            return self.set_due(queue, again);
        }
        if options != 0 {
            return self.ask_with_choice(queue, now);
        }
        let mut until = NEVER;
        let open = self.open(usize::from(output), lanes, need, &mut until, now);
        if open != 0 {
            self.scratch.add_asker(queue, output, open);
        } else {
            self.set_due(queue, until);
        }
    }

    /// The same of a packet that chooses its output.
    fn ask_with_choice(&mut self, queue: usize, now: Tick) {
        let &mut Queue { options, output, need, lane: escape, .. } = self.queue(queue);
        let mut until = NEVER;
        let mut any = false;
        if self.related().is_some() {
            any = self.offer_hops(queue, need, &mut until, now);
        } else {
            let adaptive = 1 << self.whole.channels.adaptive;
            for option in bits(options) {
                any |= self.offer(queue, option, adaptive, need, &mut until, now);
            }
            if !any {
                let (input, lane) = self.place(queue);
                let output = usize::from(output);
                let goes_on = lane == escape && usize::from(self.entry(input).straight) == output;
                let in_ring = self.port(output).in_ring;
                let bubble = if in_ring && !goes_on { self.whole.bubble } else { 0 };
                let need = self.needed(queue, bubble);
                any = self.offer(queue, output, 1 << escape, need, &mut until, now);
            }
        }
        if !any {
            self.set_due(queue, until);
        }
    }

    /// Notes which of an output's lanes are open to a packet, and else until when they are not.
    pub(super) fn offer(
        &mut self,
        queue: usize,
        output: usize,
        lanes: u16,
        need: u16,
        until: &mut Tick,
        now: Tick,
    ) -> bool {
        let mut open = self.open(output, lanes, need, until, now);
        let any = open != 0;
        while open != 0 {
            let lane = open.trailing_zeros();
            open &= open - 1;
            let of_router = fitted!(output, u32) * self.rules.lanes + lane;
            self.scratch.add_ask(of_router, queue);
        }
        any
    }

    /// Which of an output's lanes are open to a packet, a bit each, and until when those that are not.
    #[inline(always)]
    fn open(&mut self, output: usize, lanes: u16, need: u16, until: &mut Tick, now: Tick) -> u16 {
        let needs_room = self.port(output).needs_room && need > 0;
        let first = self.lane(output, 0);
        let mut open = 0;
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let state = &mut self.state.lanes[first + lane as usize];
            if !state.is_free(now) {
                // If a packet holds it, its release has the router look again.
                *until = (*until).min(state.free_at);
            } else if needs_room && !state.has_room(need.into(), now, &self.state.times) {
                *until = (*until).min(state.foresee(need.into(), &self.state.times));
            } else {
                open |= 1 << lane;
            }
        }
        open
    }

    /// A packet that is new decides at its source's router how it goes on.
    fn decide(&mut self, queue: usize, now: Tick) {
        self.attend_all(now);
        let slot = self.queue(queue).slot;
        let lane = self.whole.channels.adaptive;
        let capacity = self.whole.parameters.buffer;
        let channels = self.whole.fabric.outputs(self.name).len();
        let mut used = [u32::MAX; u16::BITS as usize];
        for (output, used) in used[..channels].iter_mut().enumerate() {
            if self.port(output).needs_room {
                let place = self.lane(output, lane);
                let state = &mut self.state.lanes[place];
                state.collect(now, &self.state.times);
                *used = capacity - state.room();
            }
        }
        let adaptive = self.choosers.as_deref().expect("it chooses").adaptive();
        decide(adaptive, self.packets, slot, (self.name, capacity), &used[..channels]);
    }

    /// Of offers of one router's lanes to a packet the one that it accepts.
    pub(super) fn accepted(
        &mut self,
        queue: usize,
        offers: impl Iterator<Item = u32> + Clone,
        now: Tick,
    ) -> u32 {
        let Queue { options, accepts, slot, .. } = *self.queue(queue);
        if options != 0 && self.related().is_some() {
            return self.best_of(queue, offers, now);
        }
        let adaptive = u32::from(self.whole.channels.adaptive);
        let lanes = self.rules.lanes;
        let is_escape = |offer: u32| offer % lanes != adaptive;
        if options == 0 || offers.clone().any(is_escape) {
            return offers.min_by_key(|&offer| super::turn(offer, accepts)).expect("an offer");
        }
        let mut open = 0;
        let mut rooms = [0; u16::BITS as usize];
        for offer in offers {
            let output = (offer / lanes) as usize;
            let place = self.lane(output, fitted!(adaptive, u8));
            self.state.lanes[place].collect(now, &self.state.times);
            open |= 1 << output;
            rooms[output] = self.state.lanes[place].room();
        }
        let (input, _) = self.place(queue);
        let straight = u32::from(self.entry(input).port);
        let note = self.packets.packets[slot as usize].note;
        let drawn = crate::adaptive::drawn_at(self.name, note);
        let selection = self.choosers.as_deref().expect("it chooses").adaptive().rules().selection;
        let port = selection.prefers(open, straight, drawn, |port| rooms[port as usize]);
        port * lanes + adaptive
    }
}
