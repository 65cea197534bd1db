//! Route computation, and requests for virtual channels: the first two stages of a head.
//!
//! A head first gets its outputs and the virtual channels that it may take there (`compute_route`).
//! Then it asks for those that are open, until it is granted one (`request_vc`).

use super::flit_queue::FlitQueue;
use super::router_view::FlitRouterView;
use super::states::VcState;
use super::vc_allocation::VcRequest;
use crate::arbitration::by_age;
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::port::Output;
use crate::next_hop::answer::{Head, NextHop, OutVc};
use crate::next_hop::escape_bubble;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::prefetch;
use flitlab_base::units::Picoseconds;
use flitlab_model::{ChannelKind, Switching};
use flitlab_routing::adaptive::{Outputs, drawn_at};

impl FlitRouterView<'_, '_> {
    /// Computes when the packet that has become the head of its queue asks, and for what.
    pub(super) fn compute_route(&mut self, queue: usize, now: Tick) {
        let state = self.first_queue + queue;
        let FlitQueue { flits, head, free_at, .. } = self.state.queues[state];
        let packet = self.common.packets.packets[head as usize];
        self.common.packets.packets.get(packet.next as usize).into_iter().for_each(prefetch);
        let awaited = match self.common.context.parameters.switching {
            Switching::StoreAndForward => u32::from(packet.flits) - 1,
            Switching::VirtualCutThrough | Switching::Wormhole => 0,
        };
        if flits.len() <= awaited {
            // The next flit makes the queue due.
            return;
        }
        let came = flits.at(awaited, &self.state.times);
        let asks = self.rules.asks(came, free_at);
        // Only arbitration by age reads it.
        let created = match by_age(self.rules.arbitration) {
            true => self.common.packets.origins[head as usize].created,
            false => Picoseconds::ZERO,
        };
        let queue_state = &mut self.state.queues[state];
        queue_state.slot = head;
        queue_state.head = packet.next;
        (queue_state.source, queue_state.sequence) = (packet.source, packet.sequence);
        queue_state.created = created;
        queue_state.left = packet.flits;
        queue_state.again = asks;
        let latency = fitted!(self.rules.sharing.virtual_channel_allocation.0, Tick);
        self.common.packets.packets[head as usize].ready = asks + latency;
        if let Some(waits) = &mut self.state.waits {
            waits.waits_from(state, asks);
        }
        self.route_head(queue, head);
        match self.queue(queue).vc_state {
            VcState::Deciding if asks <= now => self.decide_then_ask(queue, now),
            _ => self.request_vc(queue, now),
        }
    }

    /// Decides on the detour of a packet that asks now, and lets it ask.
    #[inline(never)]
    pub(super) fn decide_then_ask(&mut self, queue: usize, now: Tick) {
        self.decide(queue, now);
        let slot = self.queue(queue).slot;
        self.route_head(queue, slot);
        self.request_vc(queue, now);
    }

    /// Computes the requests of a packet: the virtual channels of outputs that it asks for.
    #[inline(always)]
    fn route_head(&mut self, queue: usize, slot: u32) {
        let (input, vc) = self.place(queue);
        let head = Head {
            slot,
            router: self.name,
            input: self.router.first_input + fitted!(input, u32),
            vc,
            came: self.input_port(input).came(),
        };
        match self.next_hop(head) {
            NextHop::Output { output, vc, keeps_bubble } => {
                self.request_output(queue, output, vc, keeps_bubble);
            }
            NextHop::AnyOf { ports, output, escape } => {
                self.set_adaptive_request(queue, ports, (output, escape));
            }
            NextHop::Hops(list) => self.set_requests_for_hops(queue, list),
            NextHop::Undecided => self.queue(queue).vc_state = VcState::Deciding,
        }
    }

    /// Requests an output: of an ejection channel all virtual channels, of a port those that the
    /// routing and the bubble rule allow.
    #[inline(always)]
    fn request_output(&mut self, queue: usize, output: u16, out_vc: OutVc, keeps_bubble: bool) {
        let Output { kind, in_ring, .. } = *self.output_port(usize::from(output));
        let (mut vcs, mut bubble) = (fitted!((1u32 << self.rules.vcs) - 1, u16), 0);
        if kind != ChannelKind::Ejection {
            let place = self.place(queue);
            vcs = match out_vc {
                OutVc::This(vc) => 1 << vc,
                OutVc::Class(class) if in_ring => {
                    self.rules.kind(place.1).classes[usize::from(class)]
                }
                OutVc::Same | OutVc::Class(_) => self.rules.kind(place.1).all,
            };
            if in_ring && keeps_bubble {
                (vcs, bubble) = self.in_ring(place, output, vcs);
            }
        }
        // It needs so much room beyond its own flits.
        let need = self.needed(queue, bubble);
        let state = self.queue(queue);
        state.vc_state = VcState::VcAlloc;
        (state.output, state.vcs, state.options, state.need) = (output, vcs, 0, need);
        self.add_request(queue, usize::from(output));
    }

    /// The requests of a packet for a ring's channel, by the bubble rule: virtual channels, and
    /// flits of room beyond the packet's own. The packet comes from an input port and virtual
    /// channel; `vcs` are the virtual channels that the routing allows.
    #[inline(always)]
    fn in_ring(&self, (input, vc): (usize, u8), output: u16, vcs: u16) -> (u16, u16) {
        match self.common.context.bubble {
            1.. if self.input_port(input).ring_output == output => (1 << vc, 0),
            bubble => (vcs, bubble),
        }
    }

    /// Flits of room that a packet needs.
    #[inline(always)]
    pub(super) fn needed(&mut self, queue: usize, bubble: u16) -> u16 {
        match self.common.context.parameters.switching {
            Switching::Wormhole => 0,
            Switching::VirtualCutThrough | Switching::StoreAndForward => {
                self.queue(queue).left + bubble
            }
        }
    }

    /// Requests the adaptive virtual channel of some outputs, and an escape.
    fn set_adaptive_request(&mut self, queue: usize, options: u16, (output, escape): (u16, u8)) {
        self.ask_among(queue, options);
        let state = self.queue(queue);
        (state.output, state.vc) = (output, escape);
        for output in bits(options | 1 << output) {
            self.add_request(queue, output);
        }
    }

    /// Lets a packet ask from now on, with a choice of outputs.
    pub(super) fn ask_among(&mut self, queue: usize, options: u16) {
        let (input, _) = self.place(queue);
        let bubble = self.common.context.bubble_of(self.input_port(input).injects);
        let need = self.needed(queue, bubble);
        let state = self.queue(queue);
        state.vc_state = VcState::VcAlloc;
        (state.options, state.need) = (options, need);
    }

    /// The word with a queue in an output's set of requests.
    #[inline(always)]
    pub(super) fn request_word(&mut self, queue: usize, output: usize) -> &mut u64 {
        let first = (self.router.first_output as usize + output) * self.rules.words;
        &mut self.state.requests[first + queue / 64]
    }

    #[inline(always)]
    pub(super) fn add_request(&mut self, queue: usize, output: usize) {
        *self.request_word(queue, output) |= 1 << (queue % 64);
    }

    /// Withdraws the requests of a packet, which has been granted a virtual channel.
    #[inline(always)]
    pub(super) fn withdraw(&mut self, queue: usize) {
        let FlitQueue { options, output, .. } = *self.queue(queue);
        if options == 0 {
            *self.request_word(queue, usize::from(output)) &= !(1 << (queue % 64));
            return;
        }
        if self.common.routing.is_by_relation() {
            return self.withdraw_hops(queue);
        }
        for output in bits(options | 1 << output) {
            *self.request_word(queue, output) &= !(1 << (queue % 64));
        }
    }

    /// Lets a packet take part in the allocation of virtual channels if any is open to it. If not,
    /// sets its wake time.
    #[inline(always)]
    pub(super) fn request_vc(&mut self, queue: usize, now: Tick) {
        let &mut FlitQueue { options, output, vcs, need, again, .. } = self.queue(queue);
        if again > now {
            return self.set_due(queue, again);
        }
        if options != 0 {
            return self.request_vc_among(queue, now);
        }
        let mut until = NEVER;
        let open = self.open(usize::from(output), vcs, need, &mut until, now);
        if open != 0 {
            let queue = fitted!(queue, u32);
            self.scratch.vc_requests.push(VcRequest { queue, output: output.into(), open });
        } else {
            self.set_due(queue, until);
        }
    }

    /// Lets a packet with a choice of outputs take part in the allocation.
    fn request_vc_among(&mut self, queue: usize, now: Tick) {
        let &mut FlitQueue { options, output, need, vc: escape, .. } = self.queue(queue);
        let mut until = NEVER;
        let mut any = false;
        if self.common.routing.is_by_relation() {
            any = self.offer_hops(queue, need, &mut until, now);
        } else {
            let adaptive = 1 << self.common.context.channels.adaptive;
            for option in bits(options) {
                any |= self.offer(queue, option, adaptive, need, &mut until, now);
            }
            if !any {
                let (input, vc) = self.place(queue);
                let in_ring = self.output_port(usize::from(output)).in_ring;
                let came = (self.input_port(input).ring_output, vc);
                let bubble = self.common.context.bubble;
                let bubble = escape_bubble(bubble, came, (output, escape), in_ring);
                let need = self.needed(queue, bubble);
                any = self.offer(queue, output.into(), 1 << escape, need, &mut until, now);
            }
        }
        if !any {
            self.set_due(queue, until);
        }
    }

    /// Notes which virtual channels of an output are open to a packet. Lowers `until` to the time
    /// at which one of the others may be. Returns whether any is open.
    pub(super) fn offer(
        &mut self,
        queue: usize,
        output: usize,
        vcs: u16,
        need: u16,
        until: &mut Tick,
        now: Tick,
    ) -> bool {
        let open = self.open(output, vcs, need, until, now);
        for vc in bits(open) {
            let of_router = fitted!(output, u32) * self.rules.vcs + fitted!(vc, u32);
            self.scratch.vc_candidates.push((of_router, fitted!(queue, u32)));
        }
        open != 0
    }

    /// The virtual channels of an output that are open to a packet, a bit each. Lowers `until` to
    /// the time at which one of the others may be.
    #[inline(always)]
    fn open(&mut self, output: usize, vcs: u16, need: u16, until: &mut Tick, now: Tick) -> u16 {
        let needs_room = self.output_port(output).needs_room && need > 0;
        let first = self.vc(output, 0);
        let mut open = 0;
        for vc in bits(vcs) {
            let state = &mut self.state.vcs[first + vc];
            if state.free_at > now {
                // If a packet holds it, its release makes the queue due.
                *until = (*until).min(state.free_at);
            } else if needs_room && !state.has_room(need.into(), now, &self.state.times) {
                *until = (*until).min(state.foresee(need.into(), &self.state.times));
            } else {
                open |= 1 << vc;
            }
        }
        open
    }

    /// Decides on a detour of a new packet at its source router.
    fn decide(&mut self, queue: usize, now: Tick) {
        self.advance_all(now);
        let slot = self.queue(queue).slot;
        let vc = self.common.context.channels.adaptive;
        let capacity = self.common.context.parameters.buffer;
        let channels = self.common.context.fabric.outputs(self.name).len();
        let mut used = [u32::MAX; u16::BITS as usize];
        for (output, used) in used[..channels].iter_mut().enumerate() {
            if self.output_port(output).needs_room {
                let place = self.vc(output, vc);
                let state = &mut self.state.vcs[place];
                state.collect(now, &self.state.times);
                *used = capacity - state.room;
            }
        }
        let Common { routing, packets, .. } = &mut *self.common;
        routing.decide(packets, slot, (self.name, capacity), &used[..channels]);
    }

    /// The offer that a packet accepts among those of one router's virtual channels.
    pub(super) fn accepted(
        &mut self,
        queue: usize,
        offers: impl Iterator<Item = u32> + Clone,
        now: Tick,
    ) -> u32 {
        let FlitQueue { options, accepts, slot, .. } = *self.queue(queue);
        if options != 0 && self.common.routing.is_by_relation() {
            return self.best_of(queue, offers, now);
        }
        let adaptive = u32::from(self.common.context.channels.adaptive);
        let vcs = self.rules.vcs;
        let is_escape = |offer: u32| offer % vcs != adaptive;
        if options == 0 || offers.clone().any(is_escape) {
            return offers.min_by_key(|&offer| super::turn(offer, accepts)).expect("an offer");
        }
        let mut open = 0;
        let mut rooms = [0; u16::BITS as usize];
        for offer in offers {
            let output = (offer / vcs) as usize;
            let place = self.vc(output, fitted!(adaptive, u8));
            self.state.vcs[place].collect(now, &self.state.times);
            open |= 1 << output;
            rooms[output] = self.state.vcs[place].room;
        }
        let (input, _) = self.place(queue);
        let straight = self.input_port(input).port.into();
        let own = self.router.first_output as usize..;
        let outputs = Outputs {
            open,
            straight,
            drawn: drawn_at(self.name, self.common.packets.packets[slot as usize].note),
            room: &rooms,
            granted: self.state.granted.get(own).unwrap_or_default(),
        };
        self.common.routing.preferred(&outputs) * vcs + adaptive
    }
}
