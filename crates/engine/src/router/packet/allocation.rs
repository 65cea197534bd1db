//! The input-buffered router: requests, grants, releases (docs/model.md, "Router").
//!
//! A router keeps for each output the earliest time at which it can grant. That is the latest of
//! three times: the release of the output, the first request, and the arrival of enough credits.
//! All of them are known ahead, so a visit goes from the earliest of these times to the next. An
//! attempt that comes too early grants nothing and gives a better time.
//!
//! A visit borrows the router as a [`RouterView`] and calls [`run`](RouterView::run).

use crate::arbitration::{
    BitSpan, PacketRequests, Span, cyclic_span, is_cyclic, next_span, span_count,
};
use crate::frame::tick::{NEVER, Tick, time};
use crate::network::port_block::{BLOCK_PORTS, Input, NOT_STALLED, Output, PortBlock, least};
use crate::network::ports::PacketQueue;
use crate::network::size::Size;
use crate::next_hop::answer::{Head, NextHop, OutVc};
use crate::next_hop::{self, Routing};
use crate::packet::Delivery;
use crate::router::packet::choice_by_relation::BY_RELATION;
use crate::router::packet::credits::Credit;
use crate::router::packet::outbox::{Returned, Sent};
use crate::router::packet::{Features, RouterView};
use crate::set::bits;
use crate::trace::note;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Stall;

/// Which requests an allocation pass considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocationPass {
    /// Of heads with a choice, only those that prefer the output.
    Preferred,
    Any,
}

/// Why the head of a buffer cannot have an output now, and the time at which that may have changed.
pub(crate) struct Obstacle {
    pub stall: Stall,
    pub until: Tick,
}

/// Why no packet can have an output, and the time at which one may.
#[derive(Clone, Copy)]
pub(crate) struct Blocked {
    stall: Option<Stall>,
    until: Tick,
    /// Whether a packet could have had it, but prefers another output.
    pub passed_over: bool,
}

impl Blocked {
    #[inline(always)]
    pub(crate) fn add(&mut self, obstacle: &Obstacle) {
        self.stall = self.stall.max(Some(obstacle.stall));
        self.until = self.until.min(obstacle.until);
    }
}

/// An attempt to grant an output to one of the packets that ask for it.
pub(super) trait Attempt: Copy {
    /// Whether it is for requests for escapes alone.
    const ESCAPES: bool;

    /// Grants an output to an input virtual channel that asks for it, if its head can go. Returns
    /// whether it can.
    fn try_request<S: Size, F: Features>(
        &mut self,
        view: &mut RouterView<'_, '_, S, F>,
        request: (usize, u32),
        now: Tick,
    ) -> bool;
}

/// The attempt of an allocation pass.
#[derive(Clone, Copy)]
struct PassAttempt<const RELATED: bool> {
    pass: AllocationPass,
    blocked: Blocked,
}

impl<const RELATED: bool> Attempt for PassAttempt<RELATED> {
    const ESCAPES: bool = false;

    #[inline(always)]
    fn try_request<S: Size, F: Features>(
        &mut self,
        view: &mut RouterView<'_, '_, S, F>,
        (output, input_vc): (usize, u32),
        now: Tick,
    ) -> bool {
        let &PacketQueue { ask, options, out_vc, need, flits, .. } =
            &view.queues[input_vc as usize];
        if ask > now {
            self.blocked.until = self.blocked.until.min(ask);
            return false;
        }
        if F::COMBINES && view.is_collective(input_vc) {
            return view.try_grant_copy(output, input_vc, &mut self.blocked, now);
        }
        let chooses = F::CHOOSES && options != 0;
        // By the output of its escape alone it may not go on the adaptive channel.
        if !RELATED && chooses && options >> output & 1 == 0 {
            return false;
        }
        if RELATED && chooses {
            return view.try_grant_hop(output, input_vc, (self.pass, &mut self.blocked), now);
        }
        let out_vc = if chooses { view.context.channels.adaptive } else { out_vc };
        if let Some(obstacle) = view.obstacle(output, input_vc, (out_vc, need, flits), now) {
            self.blocked.add(&obstacle);
            return false;
        }
        if chooses {
            if self.pass == AllocationPass::Preferred && !view.prefers(output, input_vc, now) {
                self.blocked.passed_over = true;
                return false;
            }
            view.withdraw::<false>(output, input_vc, now);
            view.note_adaptive_grant(output, now);
        }
        view.grant(output, input_vc, out_vc, now);
        true
    }
}

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// Simulates the router's outputs before `until`, or until its terminals have something to do
    /// that cannot wait. Returns a lower bound of the time of the next grant.
    // Inlined into the visit, whose borrowed state would go through memory otherwise.
    #[inline(always)]
    pub(crate) fn run(&mut self, until: Tick) -> Tick {
        self.take_arrivals();
        loop {
            let decide_at = if F::CHOOSES { *self.decide_at() } else { NEVER };
            let links_due = if F::RESENDS { *self.links_due() } else { NEVER };
            let now = least(S::all(self.blocks)).min(decide_at).min(links_due);
            if now >= until || self.to_hosts.is_urgent() {
                return now;
            }
            if F::RESENDS && links_due == now {
                self.serve_links(now);
                continue;
            }
            if F::CHOOSES && decide_at == now {
                self.decide_all(now);
                continue;
            }
            if F::CHOOSES {
                self.allocate_adaptive(now);
            } else {
                self.serve_due_outputs::<false>(AllocationPass::Any, now);
            }
            if F::RESENDS {
                self.handle_granted(now);
            }
        }
    }

    /// Tries a grant at each output that is due, in cyclic order from behind the latest grant
    /// before this instant. `RELATED`: routing is by a relation.
    #[inline(always)]
    pub(crate) fn serve_due_outputs<const RELATED: bool>(
        &mut self,
        pass: AllocationPass,
        now: Tick,
    ) {
        let start = u32::from(self.router.next_output);
        let words = S::all(self.blocks).len().div_ceil(64 / BLOCK_PORTS);
        for step in 0..span_count(words) {
            let BitSpan { word, mask, turn } = cyclic_span(start, step, words);
            let blocks =
                S::all(self.blocks)[word * 64 / BLOCK_PORTS..].iter().take(64 / BLOCK_PORTS);
            let mut due = 0;
            for (place, block) in blocks.enumerate() {
                due |= block.due_at(now) << (BLOCK_PORTS * place);
            }
            for output in Span::new(fitted!(word, u32) * 64, turn, due & mask) {
                self.try_grant::<RELATED>(output as usize, pass, now);
            }
        }
    }

    /// Makes the requests of heads that have come to empty buffers since the last visit.
    #[inline(always)]
    pub(crate) fn take_arrivals(&mut self) {
        for word in 0..self.size.words() {
            for bit in bits(std::mem::take(&mut self.arrived[word])) {
                self.new_head(fitted!(word * 64 + bit, u32));
            }
        }
    }

    /// Makes the request of a packet that has become the head of a buffer.
    #[inline(always)]
    pub(crate) fn new_head(&mut self, input_vc: u32) {
        let queue = &mut self.queues[input_vc as usize];
        let packet = &self.packets.packets[queue.head as usize];
        queue.flits = packet.flits;
        queue.ask = packet.ready.max(queue.free_at);
        let (route, passed) = (packet.route, packet.note);
        // The most common case stays in line.
        if !F::CHOOSES
            && let Routing::Source(routes) = self.routing
        {
            let (output, vc) = routes.next_hop(route, passed);
            return self.ask(input_vc, output, vc);
        }
        self.new_head_of_any_kind(input_vc);
    }

    /// Makes the requests of a head, which may be a bad copy or a packet of a collective operation.
    #[inline(never)]
    fn new_head_of_any_kind(&mut self, input_vc: u32) {
        let slot = self.queues[input_vc as usize].head;
        if F::RESENDS && self.origin(slot).is_bad() && !self.asks_before_it_leaves(input_vc) {
            return;
        }
        if F::COMBINES && self.is_collective(input_vc) {
            return self.new_head_collective(input_vc);
        }
        self.request_next_hop(input_vc);
    }

    /// Makes the requests of a packet that has become the head of a buffer, by where it may go.
    #[inline(always)]
    pub(crate) fn request_next_hop(&mut self, input_vc: u32) {
        let slot = self.queues[input_vc as usize].head;
        let (input, vc) = self.place(input_vc);
        let came = self.input(input).came();
        let input = self.router.first_input + fitted!(input, u32);
        let head = Head { slot, router: self.name, input, vc, came };
        match self.routing.next_hop(self.context, self.packets, head) {
            NextHop::Output { output, vc, .. } => self.ask(input_vc, output, vc),
            NextHop::AnyOf { ports, output, escape } => {
                let queue = self.queue(input_vc);
                (queue.options, queue.output, queue.out_vc) = (ports, output, escape);
                self.ask_for_any::<false>(input_vc);
            }
            NextHop::Hops(list) => {
                let queue = self.queue(input_vc);
                (queue.options, queue.hops) = (BY_RELATION, list);
                self.ask_for_any::<true>(input_vc);
            }
            NextHop::Undecided => self.wait_for_decision(input_vc),
        }
    }

    /// Requests one output and a virtual channel there for the head of a buffer.
    #[inline(always)]
    fn ask(&mut self, input_vc: u32, output: u16, out_vc: OutVc) {
        let (input, vc) = self.place(input_vc);
        let in_ring = self.output(usize::from(output)).in_ring;
        let out_vc = out_vc.of_packet(vc, in_ring);
        let ring_output = self.input(input).ring_output;
        let queue = &mut self.queues[input_vc as usize];
        // No branch, since the outcome cannot be predicted.
        let enters = in_ring & (ring_output != output);
        queue.need = queue.flits + self.context.bubble * u16::from(enters);
        (queue.options, queue.output, queue.out_vc) = (0, output, out_vc);
        let ask = queue.ask;
        self.add_request(usize::from(output), input_vc, ask);
    }

    /// Adds a request of a head for an output, from time `ask` on.
    #[inline(always)]
    pub(crate) fn add_request(&mut self, output: usize, input_vc: u32, ask: Tick) {
        let word = self.word(output, input_vc);
        self.requests[word] |= 1 << (input_vc % 64);
        let state = self.output(output);
        // No branch here either.
        let waits = if state.stall == Stall::OutputBusy as u8 { ask } else { NEVER };
        state.since = state.since.min(waits);
        let due = ask.max(state.free_at);
        self.lower(output, due);
    }

    /// Tries to grant a free output to the first packet that can go. If none can, notes why, and
    /// when one may.
    #[inline(always)]
    pub(crate) fn try_grant<const RELATED: bool>(
        &mut self,
        output: usize,
        pass: AllocationPass,
        now: Tick,
    ) {
        debug_assert!(self.output(output).free_at <= now);
        let blocked = Blocked { stall: None, until: NEVER, passed_over: false };
        let mut attempt = PassAttempt::<RELATED> { pass, blocked };
        if self.grant_first(output, &mut attempt, now) {
            return;
        }
        let PassAttempt { blocked, .. } = attempt;
        if blocked.passed_over {
            return self.adaptive_state.passed_over.push(output);
        }
        // No packet can have it now.
        self.end_stall(output, now);
        if blocked.stall.is_some() {
            *self.latest = (*self.latest).max(self.time(now));
        }
        let state = self.output(output);
        (state.stall, state.since) =
            blocked.stall.map_or((NOT_STALLED, NEVER), |stall| (stall as u8, now));
        debug_assert!(blocked.until > now);
        *self.due(output) = blocked.until;
    }

    /// Tries the requests for an output in the order of its arbitration, until one is granted.
    /// Returns whether one is.
    #[inline(always)]
    pub(super) fn grant_first<A: Attempt>(
        &mut self,
        output: usize,
        attempt: &mut A,
        now: Tick,
    ) -> bool {
        let pointer = u32::from(self.output(output).pointer);
        if self.size.words() == 1 && is_cyclic(self.context.parameters.arbitration) {
            let span = Span::new(0, pointer % 64, self.request_sets::<A>()[output]);
            return self.grant_in_span(output, span, attempt, now);
        }
        let granted;
        (granted, *attempt) = self.grant_in_spans(output, *attempt, now);
        granted
    }

    /// Does the work of [`Self::grant_first`] where the requests are more than one span. Returns
    /// the attempt too, since a reference to it would keep it in memory there.
    #[inline(never)]
    fn grant_in_spans<A: Attempt>(
        &mut self,
        output: usize,
        mut attempt: A,
        now: Tick,
    ) -> (bool, A) {
        let pointer = self.output(output).pointer.into();
        let mut step = 0;
        loop {
            let requests = PacketRequests {
                set: &self.request_sets::<A>()[self.words(output)],
                pointer,
                first_injected: u32::from(self.router.transit) << self.size.shift(),
                shift: self.size.shift(),
                vc_map: &self.context.vc_map,
                time: self.time(now),
                output: (self.name, output),
            };
            let next = next_span(self.context.parameters.arbitration, &requests, step);
            let Some((span, behind)) = next else { return (false, attempt) };
            if self.grant_in_span(output, span, &mut attempt, now) {
                return (true, attempt);
            }
            step = behind;
        }
    }

    #[inline(always)]
    fn grant_in_span<A: Attempt>(
        &mut self,
        output: usize,
        span: Span,
        attempt: &mut A,
        now: Tick,
    ) -> bool {
        for input_vc in span {
            if attempt.try_request(self, (output, input_vc), now) {
                return true;
            }
        }
        false
    }

    fn request_sets<A: Attempt>(&self) -> &[u64] {
        if A::ESCAPES { self.escapes } else { self.requests }
    }

    /// The obstacle that keeps the head of a buffer from a free output now, on a virtual channel
    /// where it needs room; see [`Self::lack_of_room`].
    #[inline(always)]
    pub(crate) fn obstacle(
        &mut self,
        output: usize,
        input_vc: u32,
        room: (u8, u16, u16),
        now: Tick,
    ) -> Option<Obstacle> {
        let lack = self.lack_of_room(output, room, now);
        if lack.is_some() {
            return lack;
        }
        let (input, _) = self.place(input_vc);
        let mut until = self.input(input).free_at;
        if until > now && self.context.parameters.crossbar_speedup > 1 {
            until = self.input_free_at(input, now);
        }
        (until > now).then_some(Obstacle { stall: Stall::InputBusy, until })
    }

    /// The lack of room behind an output on virtual channel `out_vc`, where a packet of this many
    /// flits needs room for `need`, if there is any.
    #[inline(always)]
    pub(crate) fn lack_of_room(
        &mut self,
        output: usize,
        (out_vc, need, flits): (u8, u16, u16),
        now: Tick,
    ) -> Option<Obstacle> {
        let &mut Output { needs_room, room, .. } = self.output(output);
        let place = room + u32::from(out_vc);
        if !needs_room || self.credits.room[place as usize] >= need {
            return None;
        }
        self.collect_room(place, need, flits, now)
    }

    /// The lack of room that is left at the place of a channel's credits after these have been
    /// collected.
    #[inline(never)]
    fn collect_room(&mut self, place: u32, need: u16, flits: u16, now: Tick) -> Option<Obstacle> {
        if self.credits.have_room(place, need, now) {
            return None;
        }
        let room = self.credits.room[place as usize];
        let stall = if room < flits { Stall::NoCredit } else { Stall::Bubble };
        // The reason changes once there is room for the packet itself.
        let least = if room < flits { flits } else { need };
        Some(Obstacle { stall, until: self.credits.foresee(place, least) })
    }

    /// Time from which an input port can send another packet, besides those that it is sending; at
    /// most `now` if it can already.
    fn input_free_at(&self, input: usize, now: Tick) -> Tick {
        let queues = &self.queues[input << self.size.shift()..(input + 1) << self.size.shift()];
        let sending = queues.iter().map(|queue| queue.free_at).filter(|&time| time > now);
        if (fitted!(sending.clone().count(), u32)) < self.context.parameters.crossbar_speedup {
            now
        } else {
            sending.min().unwrap_or(now)
        }
    }

    /// Sends the head of a buffer through a free output, on a virtual channel that has room.
    #[inline(always)]
    pub(crate) fn grant(&mut self, output: usize, input_vc: u32, out_vc: u8, now: Tick) {
        let PacketQueue { head: slot, flits, .. } = self.queues[input_vc as usize];
        let next = self.packet(slot).next;
        let had_room = !F::RESENDS || self.origin(slot).move_on();
        let released = self.send::<false>(output, (input_vc, slot), out_vc, now);
        let (input, _) = self.place(input_vc);
        self.input(input).free_at = released;
        if had_room {
            self.release_buffer(input_vc, flits, released, now);
        }
        if next != NONE {
            self.new_head(input_vc);
        }
    }

    /// Sends a packet through a free output, and notes all that every grant changes there. Returns
    /// the time at which its last flit has left. `COPY`: it is a packet of a collective operation.
    #[inline(always)]
    pub(crate) fn send<const COPY: bool>(
        &mut self,
        output: usize,
        (input_vc, slot): (u32, u32),
        out_vc: u8,
        now: Tick,
    ) -> Tick {
        self.end_stall(output, now);
        self.drop_request(output, input_vc);
        let since = self.waited_for_since(output, now);
        self.router.next_output = fitted!(output, u16) + 1;
        let channel = self.channel(output);
        let block = S::block(self.blocks, output);
        let state = &mut block.outputs[output % BLOCK_PORTS];
        let packet = &mut self.packets.packets[slot as usize];
        let flits = packet.flits;
        if F::TRACES {
            note(self.trace, packet, (self.epoch, now), self.first_channel + channel);
        }
        let last = self.context.send(packet, state.timing, now);
        let released = last + self.context.timing(state.timing).flit;
        let arrives = packet.tail;
        let queue = &mut self.queues[input_vc as usize];
        if COPY {
            queue.free_at = queue.free_at.max(released);
        } else {
            (queue.head, queue.ask, queue.free_at) = (packet.next, NEVER, released);
        }
        let time = time(self.epoch, now);
        self.digest.add(time, self.first_channel + channel, packet.source, packet.sequence);
        self.counters.grants += 1;
        self.statistics.sent(channel, out_vc, flits);
        state.pointer = fitted!(input_vc, u16) + 1;
        state.keep_busy(&mut block.due[output % BLOCK_PORTS], since, released);
        if state.hands_on {
            self.credits.room[(state.room + u32::from(out_vc)) as usize] -= flits;
            self.outbox.sent.push(Sent {
                slot,
                part: state.far_part,
                router: state.far_router,
                input_vc: u32::from(state.far_input_vc) + u32::from(out_vc),
            });
            if COPY {
                self.origin(slot).hops += 1;
            } else {
                self.go_on(output, slot, arrives);
            }
        } else if F::RESENDS && state.repeats {
            self.transmit(output, slot, out_vc, (now, released));
        } else {
            let vc = if COPY { out_vc } else { self.place(input_vc).1 };
            self.leave(output, slot, vc, arrives);
        }
        released
    }

    /// Makes an output busy until a time, for which the other requests for it wait.
    #[inline(always)]
    pub(crate) fn keep_busy(&mut self, output: usize, until: Tick, now: Tick) {
        self.end_stall(output, now);
        let since = self.waited_for_since(output, now);
        let PortBlock { due, outputs, .. } = S::block(self.blocks, output);
        outputs[output % BLOCK_PORTS].keep_busy(&mut due[output % BLOCK_PORTS], since, until);
    }

    /// Returns the credits of a buffer's packet that has left at `released`. Credits that arrive by
    /// `settled` can be added at once.
    #[inline(always)]
    pub(crate) fn release_buffer(
        &mut self,
        input_vc: u32,
        flits: u16,
        released: Tick,
        settled: Tick,
    ) {
        let (input, vc) = self.place(input_vc);
        let &mut Input { upstream, injects, timing, .. } = self.input(input);
        let credit = Credit { time: released + self.context.timing(timing).back, flits };
        if !injects {
            self.outbox.returned.push(Returned { upstream, vc, credit });
        } else if self.credits.send(upstream + u32::from(vc), credit, settled) {
            let channels = self.context.parameters.injection_channels;
            let own = fitted!(input, u32) - u32::from(self.router.transit);
            let injection = self.router.first_terminal * channels + own;
            self.to_hosts.fed.push((injection, credit.time));
        }
    }

    /// Takes a packet out of the network: it goes to its sink, or is swallowed.
    #[inline(always)]
    pub(crate) fn leave(&mut self, output: usize, slot: u32, vc: u8, arrives: Tick) {
        let channels = self.context.parameters.ejection_channels;
        let first = u32::from(self.router.outputs) - u32::from(self.router.terminals) * channels;
        let mut terminal = NONE;
        if self.output(output).dead {
            self.origin(slot).lose();
        } else {
            terminal = self.router.first_terminal + (fitted!(output, u32) - first) / channels;
        }
        let time = self.time(arrives);
        self.to_hosts.deliveries.push(Delivery { time, slot, terminal, vc });
    }

    /// Sends a packet to the next router.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, output: usize, slot: u32, arrives: Tick) {
        match self.routing {
            Routing::Source(routes) => routes.go_on(self.packets, slot),
            Routing::Torus(adaptive) if !next_hop::changes_on_the_way(adaptive) => {}
            _ => self.go_on_by_lookup(output, slot, arrives),
        }
    }

    /// Sends a packet to the next router if routers look up or choose its hops.
    #[inline(never)]
    fn go_on_by_lookup(&mut self, output: usize, slot: u32, arrives: Tick) {
        self.routing.go_on(self.packets, slot, self.name);
        if self.is_cut(output, arrives) {
            self.origin(slot).lose();
        }
    }

    /// Whether a channel fails before a last flit gets across that would be there at this time.
    pub(crate) fn is_cut(&self, output: usize, arrives: Tick) -> bool {
        let channel = self.context.fabric.outputs(self.name).start + fitted!(output, u32);
        self.interruption.is_some_and(|it| it.cuts(channel, self.time(arrives)))
    }
}
