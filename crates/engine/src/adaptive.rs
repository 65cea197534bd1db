//! Allocation for adaptive routing on the Angara router (docs/model.md, "Adaptive routing").
//!
//! A head asks for every output of a minimal route on the adaptive channel. It also asks for one
//! output on its escape channel: that of direction order, or of a forwarding table. Allocation has
//! three passes over the free outputs:
//!
//! 1. preferred: packets that prefer this output to all others that they could have;
//! 2. any: all packets that can have it; only outputs that passed a packet over are served;
//! 3. escape: packets that found none of their outputs with room.
//!
//! No grant enables another one in the same pass, because a grant only takes room. Escapes take no
//! room of the adaptive channel. So one run through each pass is enough.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::Stall;
use super::encoded_route::{AdaptivePhase, AdaptiveRoute};
use super::network_context::NetworkContext;
use super::packet::{Origin, Packet, Packets};
use super::part::Part;
use super::port_block::BLOCK_PORTS;
use super::ports::{Input, NOT_STALLED, Output, PacketQueue, Ports};
use super::relation::{RelationTables, RoomCache};
use super::router::{AllocationPass, Attempt, RouterView};
use super::set::bits;
use super::size::Size;
use super::tick::{NEVER, Tick, rebased};
use flitlab_base::narrow::fitted;
use flitlab_routing::adaptive::{Heading, drawn_at};
use flitlab_routing::{Adaptive, Course, Onward};

/// The state of a part for adaptive routing.
pub(super) struct AdaptiveState<'f> {
    pub rule: RoutingRule<'f>,
    pub state: SavedAdaptiveState,
    /// Outputs of the present pass that passed over a packet that prefers another output.
    passed_over: Vec<usize>,
    /// Outputs that are due at an instant; kept to reuse its memory.
    due: Vec<u16>,
    /// The cache of free room, for routing relations.
    room_cache: RoomCache,
}

/// The rule by which packets choose their routes.
pub(super) enum RoutingRule<'f> {
    Torus(&'f Adaptive),
    Relation(RelationTables<'f>),
}

/// The fields of [`AdaptiveState`] that change, as a checkpoint saves them.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedAdaptiveState {
    /// By terminal: the generator of its packets' random numbers; empty if they need none.
    random: Vec<ChaCha8Rng>,
    /// By router: input virtual channels whose heads are new and decide on a detour when they ask.
    undecided: Vec<u64>,
    /// By router: the outputs for which some head has an escape request, a bit each.
    escape_ports: Vec<u16>,
    /// By router: a lower bound of the time at which the first undecided head asks.
    pub decide_at: Vec<Tick>,
}

impl<'f> AdaptiveState<'f> {
    pub(super) fn new(
        context: &NetworkContext<'f>,
        part: usize,
        ports: &Ports,
        adaptive: &'f Adaptive,
    ) -> Self {
        let stream = |&terminal: &u32| {
            let mut random = ChaCha8Rng::seed_from_u64(adaptive.seed());
            random.set_stream(u64::from(terminal));
            random
        };
        let terminals = context.terminals_of_part(part).iter();
        let is_random = adaptive.rules().is_random();
        let state = SavedAdaptiveState {
            random: if is_random { terminals.map(stream).collect() } else { Vec::new() },
            escape_ports: vec![0; ports.routers.len()],
            decide_at: vec![NEVER; ports.routers.len()],
            undecided: vec![0; if adaptive.decides() { ports.arrived.len() } else { 0 }],
        };
        Self {
            rule: RoutingRule::Torus(adaptive),
            state,
            passed_over: Vec::new(),
            due: Vec::new(),
            room_cache: RoomCache::default(),
        }
    }

    /// The state for a routing relation: packets decide on no detours and draw no numbers here.
    pub(super) fn by_relation(relation_tables: RelationTables<'f>, routers: usize) -> Self {
        let state = SavedAdaptiveState {
            random: Vec::new(),
            undecided: Vec::new(),
            escape_ports: Vec::new(),
            decide_at: vec![NEVER; routers],
        };
        Self {
            rule: RoutingRule::Relation(relation_tables),
            state,
            passed_over: Vec::new(),
            due: Vec::new(),
            room_cache: RoomCache::default(),
        }
    }

    /// The tables of the relation, if routing is by one.
    #[inline]
    pub(super) fn relation_tables(&self) -> Option<&RelationTables<'f>> {
        match &self.rule {
            RoutingRule::Torus(_) => None,
            RoutingRule::Relation(relation_tables) => Some(relation_tables),
        }
    }

    /// The adaptive routing of a torus.
    #[inline]
    pub(super) fn adaptive(&self) -> &'f Adaptive {
        match self.rule {
            RoutingRule::Torus(adaptive) => adaptive,
            RoutingRule::Relation(_) => unreachable!("a relation decides on no detours"),
        }
    }

    /// Whether a packet's hops are counted on the way, since they are not known at injection.
    #[inline]
    pub(super) fn count_hops(&self) -> bool {
        match self.rule {
            RoutingRule::Torus(adaptive) => adaptive.has_table(),
            RoutingRule::Relation(_) => true,
        }
    }

    pub(super) fn memory(&self) -> usize {
        let SavedAdaptiveState { random, undecided, escape_ports, decide_at } = &self.state;
        size_of_val(&**random)
            + size_of_val(&**undecided)
            + size_of_val(&**escape_ports)
            + size_of_val(&**decide_at)
            + self.relation_tables().map_or(0, RelationTables::memory)
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        for time in &mut self.state.decide_at {
            *time = rebased(*time, by);
        }
    }
}

impl Part<'_> {
    /// Sets the route of a packet that is injected.
    pub(super) fn set_route(
        &mut self,
        terminal: u32,
        (from, to): (u32, u32),
        (ejection, vc): (u16, u8),
        packet: &mut Packet,
        origin: &mut Origin,
    ) {
        let adaptive_state = self.adaptive_state.as_mut().expect("packets choose their ways");
        let adaptive = adaptive_state.adaptive();
        let mut route = AdaptiveRoute {
            destination: to,
            ejection: fitted!(ejection, u8),
            heading: Heading::default(),
            phase: AdaptivePhase::Fixed,
        };
        if vc == self.context.channels.adaptive && from != to {
            let course =
                adaptive.inject(from, to, adaptive_state.state.random.get_mut(terminal as usize));
            packet.note = course.drawn;
            origin.set_misroute(course.kind);
            // An escape by a table makes the number of hops unknown.
            let known = !adaptive.has_table();
            origin.hops = if known { adaptive.hops(from, to, &course) } else { 0 };
            route.heading = course.heading;
            route.phase = if adaptive.decides() {
                AdaptivePhase::Undecided
            } else {
                AdaptivePhase::ToDestination
            };
        } else {
            let route = self.context.routes.source_route(self.context.fabric, from, to);
            origin.hops = fitted!(route.unwrap_or_default().hops(), u16);
        }
        packet.route = route.into();
    }
}

impl<'f, S: Size> RouterView<'_, 'f, S> {
    #[inline]
    fn adaptive_state(&mut self) -> &mut AdaptiveState<'f> {
        self.adaptive_state.as_mut().expect("packets choose their ways")
    }

    /// Whether routing is by a relation.
    #[inline]
    pub(super) fn by_relation(&self) -> bool {
        self.adaptive_state
            .as_ref()
            .is_some_and(|adaptive_state| adaptive_state.relation_tables().is_some())
    }

    /// Outputs of the present pass that passed over a packet that prefers another output.
    #[inline]
    pub(super) fn passed_over(&mut self) -> &mut Vec<usize> {
        &mut self.adaptive_state().passed_over
    }

    #[inline]
    pub(super) fn room_cache(&mut self) -> &mut RoomCache {
        &mut self.adaptive_state().room_cache
    }

    pub(super) fn due_outputs(&mut self) -> &mut Vec<u16> {
        &mut self.adaptive_state().due
    }

    #[inline]
    fn adaptive(&self) -> &'f Adaptive {
        self.adaptive_state.as_ref().expect("packets choose their ways").adaptive()
    }

    /// The outputs for which some head has an escape request, a bit each.
    #[inline]
    fn escape_ports(&mut self) -> &mut u16 {
        let number = self.number as usize;
        &mut self.adaptive_state().state.escape_ports[number]
    }

    /// A lower bound of the time at which the first undecided head asks.
    #[inline(always)]
    pub(super) fn decide_at(&mut self) -> &mut Tick {
        let number = self.number as usize;
        &mut self.adaptive_state().state.decide_at[number]
    }

    /// The set of the router's input virtual channels whose heads are undecided, in words.
    fn undecided(&mut self) -> &mut [u64] {
        let words = self.size.words();
        let first = self.number as usize * words;
        &mut self.adaptive_state().state.undecided[first..first + words]
    }

    /// Makes the requests of a packet that has become the head of a buffer.
    pub(super) fn new_head_adaptive(&mut self, input_vc: u32) {
        if self.by_relation() {
            return self.new_head_by_relation(input_vc);
        }
        let PacketQueue { head: slot, ask, .. } = self.queues[input_vc as usize];
        let (_, vc) = self.place(input_vc);
        match step(self.context, self.adaptive(), self.packets, slot, (self.name, vc)) {
            Step::Ejection(output) => self.ask(input_vc, output, vc),
            Step::Port { output, out_vc } => self.ask(input_vc, output, out_vc),
            Step::Decision => {
                self.undecided()[input_vc as usize / 64] |= 1 << (input_vc % 64);
                let present = self.decide_at();
                *present = (*present).min(ask);
            }
            Step::Any { options, output, escape } => {
                self.ask_for_any(input_vc, options, (output, escape));
            }
        }
    }

    /// Lets the undecided heads that ask at this instant decide on detours.
    pub(super) fn decide_all(&mut self, now: Tick) {
        let mut due = NEVER;
        for word in 0..self.size.words() {
            let mut bits = self.undecided()[word];
            while bits != 0 {
                let input_vc = fitted!(word, u32) * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let PacketQueue { head: slot, ask, .. } = self.queues[input_vc as usize];
                if ask > now {
                    due = due.min(ask);
                    continue;
                }
                self.undecided()[word] &= !(1 << (input_vc % 64));
                self.decide(slot, now);
                self.new_head_adaptive(input_vc);
            }
        }
        *self.decide_at() = due;
    }

    /// Decides on a detour of a new packet at its source router.
    fn decide(&mut self, slot: u32, now: Tick) {
        let capacity = self.context.parameters.buffer;
        let mut used = [0; u16::BITS as usize];
        let channels = self.context.fabric.outputs(self.name).len();
        for (output, used) in used[..channels].iter_mut().enumerate() {
            *used = match self.room(output, now) {
                Some(room) => capacity - u32::from(room),
                None => u32::MAX,
            };
        }
        let adaptive = self.adaptive();
        decide(adaptive, self.packets, slot, (self.name, capacity), &used[..channels]);
    }

    /// Free flits behind an output on the adaptive channel; `None` if it leads to no router.
    fn room(&mut self, output: usize, now: Tick) -> Option<u16> {
        let &mut Output { needs_room, room, .. } = self.output(output);
        if !needs_room {
            return None;
        }
        let place = room + u32::from(self.context.channels.adaptive);
        self.credits.collect(place, now);
        Some(self.credits.room[place as usize])
    }

    /// Requests every output of a minimal route for the head of a buffer, and its escape.
    fn ask_for_any(&mut self, input_vc: u32, options: u16, (output, escape): (u16, u8)) {
        let (input, _) = self.place(input_vc);
        let injects = self.input(input).injects;
        let bubble = self.context.bubble_of(injects);
        let queue = &mut self.queues[input_vc as usize];
        queue.need = queue.flits + bubble;
        queue.options = options;
        queue.output = output;
        queue.out_vc = escape;
        let (ask, escape) = (queue.ask, usize::from(queue.output));
        for output in bits(options | 1 << escape) {
            self.add_request(output, input_vc, ask);
        }
        let word = self.word(escape, input_vc);
        self.escapes[word] |= 1 << (input_vc % 64);
        *self.escape_ports() |= 1 << escape;
    }

    /// Withdraws all requests of a head that chooses and leaves by output `granted`.
    pub(super) fn withdraw(&mut self, granted: usize, input_vc: u32, now: Tick) {
        let queue = &mut self.queues[input_vc as usize];
        let options = std::mem::take(&mut queue.options);
        let escape = usize::from(queue.output);
        for output in bits(options | 1 << escape).filter(|&output| output != granted) {
            self.withdraw_request(output, input_vc, now);
        }
        let word = self.word(escape, input_vc);
        self.escapes[word] &= !(1 << (input_vc % 64));
        if self.escapes[self.words(escape)].iter().all(|&word| word == 0) {
            *self.escape_ports() &= !(1 << escape);
        }
    }

    /// Withdraws the request of a head for an output that it does not get.
    #[inline(always)]
    pub(super) fn withdraw_request(&mut self, output: usize, input_vc: u32, now: Tick) {
        let word = self.word(output, input_vc);
        self.requests[word] &= !(1 << (input_vc % 64));
        // The head counts among those that wait until now; from now on the reason may be another.
        let stall = self.output(output).stall;
        if stall == Stall::OutputBusy as u8 {
            self.end_stall(output, now);
            self.output(output).since = self.waited_for_since(output, now);
        } else if stall != NOT_STALLED {
            *self.due(output) = now;
        }
    }

    /// Whether the head of a buffer, which could have this output, prefers no other output that it
    /// could have.
    pub(super) fn prefers(&mut self, output: usize, input_vc: u32, now: Tick) -> bool {
        let PacketQueue { options, head, need, .. } = self.queues[input_vc as usize];
        if options.is_power_of_two() {
            return true;
        }
        let mut open = 0;
        let mut rooms = [0; u16::BITS as usize];
        for option in bits(options) {
            let free = self.output(option).free_at <= now;
            if free && let Some(room) = self.room(option, now).filter(|&room| room >= need) {
                open |= 1 << option;
                rooms[option] = u32::from(room);
            }
        }
        let (input, _) = self.place(input_vc);
        let straight = u32::from(self.input(input).port);
        let drawn = drawn_at(self.name, self.packets.packets[head as usize].note);
        let selection = self.adaptive().rules().selection;
        selection.prefers(open, straight, drawn, |port| rooms[port as usize])
            == fitted!(output, u32)
    }

    /// Serves the outputs that are due, in three passes. Each pass is in cyclic order from behind
    /// the latest grant before this instant.
    pub(super) fn allocate_adaptive<const COLLECTIVE: bool>(&mut self, now: Tick) {
        if self.by_relation() {
            return self.allocate_by_relation(now);
        }
        let start = u32::from(self.router.next_output);
        self.serve_due_outputs::<false, COLLECTIVE>(AllocationPass::Preferred, now);
        let mut passed_over = std::mem::take(&mut self.adaptive_state().passed_over);
        for &output in &passed_over {
            self.try_grant::<false, COLLECTIVE>(output, AllocationPass::Any, now);
        }
        passed_over.clear();
        self.adaptive_state().passed_over = passed_over;
        // A start behind the last port of a torus is a start at the first.
        let start = if start < u16::BITS { start } else { 0 };
        let mut escapes = (*self.escape_ports() & self.free(now)).rotate_right(start);
        while escapes != 0 {
            let output = (escapes.trailing_zeros() + start) % u16::BITS;
            escapes &= escapes - 1;
            self.grant_escapes::<false>(output as usize, now);
        }
    }

    /// The outputs that send nothing, a bit each. Those of a torus are among the first sixteen.
    #[inline(always)]
    fn free(&self, now: Tick) -> u16 {
        let mut free = 0;
        for (place, block) in S::all(self.blocks).iter().take(2).enumerate() {
            for (number, output) in block.outputs.iter().enumerate() {
                free |= u16::from(output.free_at <= now) << (BLOCK_PORTS * place + number);
            }
        }
        free
    }

    /// Notes that a packet could have had an output, but prefers another.
    pub(super) fn pass_over(&mut self, output: usize) {
        self.adaptive_state().passed_over.push(output);
    }

    /// Grants a free output to the first head that needs an escape and can have it there. Returns
    /// whether there was one.
    pub(super) fn grant_escapes<const RELATED: bool>(&mut self, output: usize, now: Tick) -> bool {
        let mut attempt = EscapeAttempt::<RELATED> { until: NEVER };
        let granted = self.grant_first(output, &mut attempt, now);
        if !granted {
            self.lower(output, attempt.until);
        }
        granted
    }

    /// The virtual channel on which the head of a buffer can escape by a free output. If there is
    /// none: the time until which there is none, as far as it is known.
    fn escape(&mut self, output: usize, input_vc: u32, now: Tick) -> Result<u8, Tick> {
        let queue = self.queues[input_vc as usize];
        if queue.ask > now {
            return Err(queue.ask);
        }
        for option in bits(queue.options) {
            if self.room(option, now).is_some_and(|room| room >= queue.need) {
                // The packet is granted a hop there, or what it waits for there makes the output
                // due again.
                return Err(NEVER);
            }
        }
        let (input, vc) = self.place(input_vc);
        let (input, state) = (*self.input(input), *self.output(output));
        let bubble = escape_bubble(self.context.bubble, &state, &input, &queue, vc);
        let out_vc = (queue.out_vc, queue.flits + bubble, queue.flits);
        self.obstacle(output, input_vc, out_vc, now)
            .map_or(Ok(queue.out_vc), |obstacle| Err(obstacle.until))
    }
}

/// The attempt to grant an output to a head that needs an escape there. It is blocked until some
/// time, as far as that is known.
#[derive(Clone, Copy)]
struct EscapeAttempt<const RELATED: bool> {
    until: Tick,
}

impl<const RELATED: bool> Attempt for EscapeAttempt<RELATED> {
    const ESCAPES: bool = true;

    #[inline(always)]
    fn try_request<S: Size>(
        &mut self,
        view: &mut RouterView<'_, '_, S>,
        (output, input_vc): (usize, u32),
        now: Tick,
    ) -> bool {
        let escape = if RELATED {
            view.fallback_hop(output, input_vc, now)
        } else {
            view.escape(output, input_vc, now)
        };
        match escape {
            Ok(vc) => {
                if RELATED {
                    view.count_fallback(input_vc);
                    view.grant_hop(output, input_vc, vc, now);
                } else {
                    view.withdraw(output, input_vc, now);
                    view.grant(output, input_vc, vc, now);
                }
                true
            }
            Err(other) => {
                self.until = self.until.min(other);
                false
            }
        }
    }
}

/// The next step of an adaptively routed packet at a router.
pub(super) enum Step {
    /// The packet is at its destination and takes this ejection channel.
    Ejection(u16),
    /// The packet has no choice: it takes this output on this virtual channel.
    Port { output: u16, out_vc: u8 },
    /// The packet has to decide on a detour first.
    Decision,
    /// The packet takes any of these ports, a bit each; if none has room, `output` on the escape
    /// channel.
    Any { options: u16, output: u16, escape: u8 },
}

/// The next step of a packet that has arrived on a virtual channel. A packet at its intermediate
/// node turns to its destination.
pub(super) fn step(
    context: &NetworkContext<'_>,
    adaptive: &Adaptive,
    packets: &mut Packets,
    slot: u32,
    (here, vc): (u32, u8),
) -> Step {
    let mut route = AdaptiveRoute::from(packets.packets[slot as usize].route);
    if route.phase == AdaptivePhase::ToIntermediate && packets.rest(slot)[0] == u64::from(here) {
        route.phase = AdaptivePhase::ToDestination;
        route.heading.bound = 0;
        packets.packets[slot as usize].route = route.into();
    }
    if route.phase != AdaptivePhase::ToIntermediate && route.destination == here {
        return Step::Ejection(u16::from(route.ejection));
    }
    let (to, escape) = match route.phase {
        AdaptivePhase::Undecided => return Step::Decision,
        AdaptivePhase::ToIntermediate => {
            (fitted!(packets.rest(slot)[0], u32), context.channels.escape_to_intermediate)
        }
        AdaptivePhase::Fixed | AdaptivePhase::ToDestination => {
            (route.destination, context.channels.escape)
        }
    };
    let Onward { options, escape: output } = adaptive.onward(here, to, route.heading, vc == escape);
    match route.phase {
        AdaptivePhase::Fixed => Step::Port { output, out_vc: vc },
        _ if options == 0 => Step::Port { output, out_vc: escape },
        _ => Step::Any { options, output, escape },
    }
}

/// Decides on a detour of a new packet at its source router. `used` counts the flits in use behind
/// each port; a virtual channel has room for `capacity`.
pub(super) fn decide(
    adaptive: &Adaptive,
    packets: &mut Packets,
    slot: u32,
    (here, capacity): (u32, u32),
    used: &[u32],
) {
    let packet = packets.packets[slot as usize];
    let mut route = AdaptiveRoute::from(packet.route);
    let course = Course {
        to: route.destination,
        heading: route.heading,
        drawn: packet.note,
        kind: packets.origins[slot as usize].misroute(),
    };
    let full = (capacity + 1).saturating_sub(packet.flits.into());
    let course = adaptive.decide(here, course, used, full);
    route.heading = course.heading;
    route.phase = AdaptivePhase::ToDestination;
    if course.to != route.destination {
        route.phase = AdaptivePhase::ToIntermediate;
        packets.rest(slot)[0] = course.to.into();
    }
    packets.packets[slot as usize].route = route.into();
    let origin = &mut packets.origins[slot as usize];
    origin.set_misroute(course.kind);
    if !adaptive.has_table() {
        origin.hops = adaptive.hops(here, route.destination, &course);
    }
}

/// Flits of room beyond its own that a head needs for an escape by an output. None if it is on the
/// escape channel of the same ring already.
pub(super) fn escape_bubble(
    bubble: u16,
    output: &Output,
    input: &Input,
    queue: &PacketQueue,
    vc: u8,
) -> u16 {
    let goes_on = vc == queue.out_vc && input.ring_output == queue.output;
    if !output.in_ring || goes_on { 0 } else { bubble }
}
