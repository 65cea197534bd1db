//! Route computation, and requests for virtual channels: the first two stages of a head.
//!
//! A head first gets its outputs and the virtual channels that it may take there (`compute_route`).
//! Then it asks for those that are open, until it is granted one (`request_vc`).

use super::credits::OutputVc;
use super::flit_queue::FlitQueue;
use super::router_view::FlitRouterView;
use super::states::VcState;
use super::time_rings::Times;
use super::{FlitRules, FlitState};
use crate::arbitration::by_age;
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick};
use crate::network::port::Output;
use crate::network::ports::Ports;
use crate::next_hop::answer::{Head, NextHop, OutVc};
use crate::next_hop::{Routing, escape_bubble};
use crate::packet::Packets;
use crate::packet::encoded_route::EncodedRoute;
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::prefetch;
use flitlab_model::ChannelKind;
use flitlab_routing::adaptive::{Outputs, drawn_at};

impl FlitRouterView<'_, '_> {
    /// Computes when the packet that has become the head of its queue asks, and for what. Returns
    /// the virtual channels of its output that are open to it, if it asks now.
    #[inline(always)]
    pub(super) fn compute_route(&mut self, queue: usize, now: Tick) -> u16 {
        let place = self.first_queue + queue;
        let FlitState { queues, times, .. } = &*self.state;
        let state = &queues[place];
        let packet = &self.common.packets.packets[state.head as usize];
        let awaited = if self.rules.forwards_whole { u32::from(packet.flits) - 1 } else { 0 };
        if state.flits.len() <= awaited {
            // The next flit makes the queue due.
            return 0;
        }
        let asks = self.rules.asks(state.flits.at(awaited, times), state.free_at);
        let (route, note) = self.begin_head(place, asks);
        let Routing::Source(routes) = &self.common.routing else {
            return self.route_then_ask(queue, now);
        };
        let (output, vc) = routes.next_hop(route, note);
        let output_port = self.router.first_output as usize + usize::from(output);
        let bubble = self.common.context.bubble;
        let FlitState { queues, times, outputs, vcs, .. } = &mut *self.state;
        let state = &mut queues[place];
        self.rules.request_output(state, (output, vc), self.ports, output_port, bubble);
        let mut until = asks;
        if asks <= now {
            until = NEVER;
            let needs_room = self.ports.output_ports[output_port].needs_room;
            let need = if needs_room { state.need } else { 0 };
            let of_output = &mut vcs[outputs[output_port].vcs as usize..];
            let open = open_vcs(of_output, (state.vcs, need), &mut until, now, times);
            if open != 0 {
                return open;
            }
        }
        self.wait(queue, until);
        0
    }

    /// Takes the first packet of a queue, by the queue's number in the part, which asks from a time
    /// on. Returns the packet's route and note.
    #[inline(always)]
    pub(super) fn begin_head(&mut self, queue: usize, asks: Tick) -> (EncodedRoute, u16) {
        let FlitState { queues, waits, .. } = &mut *self.state;
        let Packets { packets, origins, .. } = &mut self.common.packets;
        let state = &mut queues[queue];
        let slot = state.head;
        let packet = &mut packets[slot as usize];
        state.slot = slot;
        state.head = packet.next;
        (state.source, state.sequence) = (packet.source, packet.sequence);
        state.left = packet.flits;
        state.again = asks;
        packet.ready = asks + fitted!(self.rules.sharing.virtual_channel_allocation.0, Tick);
        if by_age(self.rules.arbitration) {
            state.created = origins[slot as usize].created;
        }
        if let Some(waits) = waits {
            waits.waits_from(queue, asks);
        }
        let (route, note) = (packet.route, packet.note);
        packets.get(state.head as usize).into_iter().for_each(prefetch);
        (route, note)
    }

    /// Lets a packet that asks with a choice of outputs choose again from a time on.
    pub(super) fn choose_again(&mut self, queue: usize, from: Tick) {
        let FlitQueue { vc_state, chooses, again, .. } = *self.queue(queue);
        if vc_state == VcState::VcAlloc && chooses {
            self.withdraw(queue);
            let again = again.max(from);
            self.queue(queue).again = again;
            self.route_head(queue);
            self.set_due(queue, again);
        }
    }

    /// Lets a packet that chooses at routers ask, now or from the time on at which it is routed.
    #[inline(never)]
    fn route_then_ask(&mut self, queue: usize, now: Tick) -> u16 {
        if self.route_head(queue) {
            return self.request_vc(queue, now);
        }
        let asks = self.queue(queue).again;
        if asks <= now {
            return self.decide_then_ask(queue, now);
        }
        self.set_due(queue, asks);
        0
    }

    /// Decides on the detour of a packet that asks now, and lets it ask.
    #[inline(never)]
    pub(super) fn decide_then_ask(&mut self, queue: usize, now: Tick) -> u16 {
        self.decide(queue, now);
        self.route_head(queue);
        self.request_vc(queue, now)
    }

    /// Computes the requests of a packet: the virtual channels of outputs that it asks for. Returns
    /// whether they are known; if not, it has to decide on a detour.
    #[inline(never)]
    fn route_head(&mut self, queue: usize) -> bool {
        let &mut FlitQueue { input, in_vc, slot, .. } = self.queue(queue);
        let input_port = self.ports.input_of(&self.router, input.into());
        let head = Head {
            slot,
            router: self.name,
            input: self.router.first_input + u32::from(input),
            vc: in_vc,
            came: input_port.came(),
        };
        match self.next_hop(head) {
            NextHop::Output { output, vc, keeps_bubble } => {
                let output_port = self.router.first_output as usize + usize::from(output);
                let bubble = if keeps_bubble { self.common.context.bubble } else { 0 };
                let state = &mut self.state.queues[self.first_queue + queue];
                self.rules.request_output(state, (output, vc), self.ports, output_port, bubble);
            }
            NextHop::AnyOf { ports, output, escape } => {
                self.set_adaptive_request(queue, ports, (output, escape));
            }
            NextHop::Hops(list) => self.set_requests_for_hops(queue, list),
            NextHop::Undecided => {
                self.queue(queue).vc_state = VcState::Deciding;
                return false;
            }
        }
        true
    }

    /// Requests the adaptive virtual channel of some outputs, and an escape.
    fn set_adaptive_request(&mut self, queue: usize, options: u16, (output, escape): (u16, u8)) {
        self.choose_among(queue);
        let state = self.queue(queue);
        (state.options, state.output, state.vc) = (options, output, escape);
        for output in bits(options | 1 << output) {
            self.add_request(queue, output);
        }
    }

    /// Lets a packet ask from now on, with a choice of outputs.
    pub(super) fn choose_among(&mut self, queue: usize) {
        let (input, _) = self.place(queue);
        let bubble = self.common.context.bubble_of(self.input_port(input).injects);
        let rules = self.rules;
        let state = self.queue(queue);
        state.vc_state = VcState::VcAlloc;
        (state.chooses, state.need) = (true, rules.needed(state.left, bubble));
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

    /// Lets a packet wait for a virtual channel until a time, or until one may be open to it.
    #[inline(always)]
    pub(super) fn wait(&mut self, queue: usize, until: Tick) {
        let state = self.queue(queue);
        let &mut FlitQueue { output, chooses, .. } = state;
        state.vc_state = VcState::VcAlloc;
        if !chooses {
            self.add_request(queue, output.into());
        }
        self.set_due(queue, until);
    }

    /// Withdraws the requests of a packet, which has been granted a virtual channel.
    #[inline(always)]
    pub(super) fn withdraw(&mut self, queue: usize) {
        let FlitQueue { chooses, options, output, .. } = *self.queue(queue);
        if !chooses {
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

    /// Lets a packet ask for the virtual channels that it may take. Returns those of its output
    /// that are open to it; a packet with a choice takes part in the allocation at once. If none is
    /// open, sets its wake time.
    #[inline(always)]
    pub(super) fn request_vc(&mut self, queue: usize, now: Tick) -> u16 {
        let &mut FlitQueue { chooses, output, vcs, need, again, .. } = self.queue(queue);
        let mut until = again;
        if again <= now {
            if chooses {
                self.request_vc_among(queue, now);
                return 0;
            }
            until = NEVER;
            let open = self.open(usize::from(output), vcs, need, &mut until, now);
            if open != 0 {
                return open;
            }
        }
        self.wait(queue, until);
        0
    }

    /// Lets a packet with a choice of outputs take part in the allocation.
    #[inline(never)]
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
                let need = self.rules.needed(self.queue(queue).left, bubble);
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
        let need = if self.output_port(output).needs_room { need } else { 0 };
        let first = self.vc(output, 0);
        let FlitState { vcs: all, times, .. } = &mut *self.state;
        open_vcs(&mut all[first..], (vcs, need), until, now, times)
    }

    /// Decides on a detour of a packet.
    fn decide(&mut self, queue: usize, now: Tick) {
        self.advance_all(now);
        if self.common.routing.is_by_relation() {
            return self.decide_by_relation(queue, now);
        }
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
        let FlitQueue { chooses, accepts, slot, .. } = *self.queue(queue);
        if chooses && self.common.routing.is_by_relation() {
            return self.best_of(queue, offers, now);
        }
        let adaptive = u32::from(self.common.context.channels.adaptive);
        let vcs = self.rules.vcs;
        let is_escape = |offer: u32| offer % vcs != adaptive;
        if !chooses || offers.clone().any(is_escape) {
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

impl FlitRules {
    /// Lets a packet request an output: of an ejection channel all virtual channels, of a port
    /// those that the routing and the bubble rule allow.
    #[inline(always)]
    fn request_output(
        &self,
        state: &mut FlitQueue,
        (output, out_vc): (u16, OutVc),
        ports: &Ports,
        output_port: usize,
        bubble: u16,
    ) {
        let &Output { kind, in_ring, .. } = &ports.output_ports[output_port];
        let (mut vcs, mut leaves) = (self.all_vcs, 0);
        if kind != ChannelKind::Ejection {
            let of_kind = self.kind(state.in_vc);
            vcs = match out_vc {
                OutVc::This(vc) => 1 << vc,
                OutVc::Class(class) if in_ring => of_kind.classes[usize::from(class)],
                OutVc::Same | OutVc::Class(_) => of_kind.all,
            };
            // A packet that goes on in its ring keeps its virtual channel. Others leave a bubble.
            if in_ring && bubble > 0 {
                if ports.input_ports[state.input_port as usize].ring_output == output {
                    vcs = 1 << state.in_vc;
                } else {
                    leaves = bubble;
                }
            }
        }
        // It needs so much room beyond its own flits.
        state.need = self.needed(state.left, leaves);
        (state.output, state.vcs, state.chooses) = (output, vcs, false);
    }
}

/// Those of an output's virtual channels `vcs` that are open to a packet, a bit each. Lowers
/// `until` to the time at which one of the others may be.
#[inline(always)]
fn open_vcs(
    of_output: &mut [OutputVc],
    (vcs, need): (u16, u16),
    until: &mut Tick,
    now: Tick,
    times: &Times,
) -> u16 {
    let mut open = 0;
    for vc in bits(vcs) {
        let state = &mut of_output[vc];
        if state.free_at > now {
            // If a packet holds it, its release makes the queue due.
            *until = (*until).min(state.free_at);
        } else if need > 0 && !state.has_room(need.into(), now, times) {
            *until = (*until).min(state.foresee(need.into(), times));
        } else {
            open |= 1 << vc;
        }
    }
    open
}
