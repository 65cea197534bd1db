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

use crate::frame::tick::{NEVER, Tick};
use crate::network::vc_map::UNUSED;
use crate::next_hop::{Routing, escape_bubble};
use crate::router::packet::allocation::{AllocationPass, Attempt};
use crate::router::packet::cell::{IN_RING, NEEDS_ROOM, NOT_STALLED, Shape};
use crate::router::packet::choices::{Choice, TORUS_PORTS};
use crate::router::packet::vector::at_most;
use crate::router::packet::{Features, Visit};
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_model::Stall;
use flitlab_routing::adaptive::{Outputs, drawn_at};

impl<'a, 'f, S: Shape, F: Features> Visit<'a, 'f, S, F> {
    /// The set of the router's buffers whose heads have a choice, in words.
    #[inline(always)]
    fn choosing(&mut self) -> &mut [u64] {
        let words = self.size().words;
        let first = self.number as usize * words;
        &mut self.adaptive_state.choosing[first..first + words]
    }

    /// A lower bound of the time at which the first undecided head asks.
    pub(crate) fn decide_at(&mut self) -> &mut Tick {
        &mut self.adaptive_state.decide_at[self.number as usize]
    }

    /// The set of the router's input virtual channels whose heads are undecided, in words.
    fn undecided(&mut self) -> &mut [u64] {
        let words = self.size().words;
        let first = self.number as usize * words;
        &mut self.adaptive_state.undecided[first..first + words]
    }

    /// Notes that a head has to decide on a detour when it asks.
    pub(crate) fn wait_for_decision(&mut self, buffer: u32) {
        let ask = self.cell.ask[S::buffer(buffer as usize)];
        self.undecided()[buffer as usize / 64] |= 1 << (buffer % 64);
        let present = self.decide_at();
        *present = (*present).min(ask);
    }

    /// Lets the undecided heads that ask at this instant decide on detours.
    #[inline(always)]
    pub(crate) fn decide_all(&mut self, now: Tick) {
        let mut due = NEVER;
        for word in 0..self.size().words {
            for bit in bits(self.undecided()[word]) {
                let place = S::buffer(word * 64 + bit);
                let (slot, ask) = (self.cell.head[place], self.cell.ask[place]);
                if ask > now {
                    due = due.min(ask);
                    continue;
                }
                self.undecided()[word] &= !(1 << bit);
                self.decide(slot, now);
                self.request_next_hop(fitted!(place, u32));
            }
        }
        *self.decide_at() = due;
    }

    /// Decides on a detour of a new packet at its source router.
    #[inline(always)]
    fn decide(&mut self, slot: u32, now: Tick) {
        self.collect_rooms(now);
        let capacity = self.context.parameters.buffer;
        let mut used = [0; u16::BITS as usize];
        let channels = self.context.fabric.outputs(self.name).len();
        for (output, used) in used[..channels].iter_mut().enumerate() {
            *used = if self.has(output, NEEDS_ROOM) {
                capacity - self.adaptive_state.rooms.room[output]
            } else {
                u32::MAX
            };
        }
        self.routing.decide(self.packets, slot, (self.name, capacity), &used[..channels]);
    }

    /// Whether packets choose on a torus.
    #[inline(always)]
    pub(crate) fn is_on_torus(&self) -> bool {
        // Not all that has all features has adaptive routing.
        let is_adaptive = !F::COMBINES || matches!(self.routing, Routing::Torus(_));
        F::CHOOSES && !F::RELATES && is_adaptive
    }

    /// Looks up the rooms behind the router's outputs, and when the next credits arrive there. During
    /// a visit no credits come that arrive before the window's end.
    #[inline(always)]
    pub(crate) fn look_at_rooms(&mut self) {
        for output in 0..self.cell.due.as_ref().len().min(TORUS_PORTS) {
            self.look_at_room(output);
        }
    }

    /// Looks up the room behind an output.
    #[inline(always)]
    pub(crate) fn look_at_room(&mut self, output: usize) {
        let vc = self.context.channels.adaptive;
        // All packets may be deterministic.
        if output >= TORUS_PORTS || vc == UNUSED {
            return;
        }
        let (mut room, mut collect_at) = (0, NEVER);
        if self.has(output, NEEDS_ROOM) {
            let place = self.cell.room[S::port(output)] + u32::from(vc);
            room = u32::from(self.credits.room[place as usize]);
            collect_at = self.credits.first_time(place);
        }
        let rooms = &mut self.adaptive_state.rooms;
        (rooms.room[output % TORUS_PORTS], rooms.collect_at[output % TORUS_PORTS]) =
            (room, collect_at);
    }

    /// Collects the credits for the adaptive channel that have arrived.
    #[inline(always)]
    fn collect_rooms(&mut self, now: Tick) {
        let due = at_most::<F::Vector>(&self.adaptive_state.rooms.collect_at, now);
        for output in bits(due) {
            let place = self.cell.room[S::port(output)] + u32::from(self.context.channels.adaptive);
            self.credits.collect(place, now);
            self.look_at_room(output);
        }
    }

    /// The outputs with room for this many flits on the adaptive channel, a bit each.
    #[inline(always)]
    fn with_room(&self, flits: u16) -> u16 {
        let rooms = &self.adaptive_state.rooms.room;
        fitted!(!at_most::<F::Vector>(rooms, u32::from(flits) - 1) & 0xffff, u16)
    }

    /// The outputs that the head of a buffer with a choice asks for, and whether it may escape by
    /// each.
    #[inline(always)]
    fn options(&mut self, buffer: u32) -> impl Iterator<Item = (usize, bool)> + use<'a, 'f, S, F> {
        let &mut Choice { options, output: escape, .. } = self.choice(buffer);
        let mut ports = bits(options | 1_u16.unbounded_shl(escape.into()));
        let mut places = if F::RELATES { self.ports_of(buffer) } else { 0..0 };
        let routing = self.routing;
        std::iter::from_fn(move || {
            if !F::RELATES {
                return ports.next().map(|output| (output, output == usize::from(escape)));
            }
            let hops = routing.relation().port(places.next()?);
            Some((usize::from(hops.port), hops.fallback != 0))
        })
    }

    /// Requests all outputs that the head of a buffer may choose, and those of its escapes.
    #[inline(always)]
    pub(crate) fn ask_for_any(&mut self, buffer: u32) {
        let (input, _) = self.place(buffer);
        let bubble = self.context.bubble_of(self.injects(input));
        let place = S::buffer(buffer as usize);
        self.cell.need[place] = self.head_of(buffer).flits + bubble;
        let ask = self.cell.ask[place];
        if !F::RELATES {
            self.choosing()[buffer as usize / 64] |= 1 << (buffer % 64);
        }
        for (output, escapes) in self.options(buffer) {
            self.add_request(output, buffer, ask);
            if escapes {
                *self.escape_word(output, buffer) |= 1 << (buffer % 64);
            }
        }
    }

    /// Withdraws all requests of a head with a choice, which leaves by output `granted`.
    pub(crate) fn withdraw(&mut self, granted: usize, buffer: u32, now: Tick) {
        for (output, escapes) in self.options(buffer) {
            if output != granted {
                self.withdraw_request(output, buffer, now);
            }
            if F::RELATES && escapes {
                *self.escape_word(output, buffer) &= !(1 << (buffer % 64));
            }
        }
        let choice = self.choice(buffer);
        choice.options = 0;
        if !F::RELATES {
            let escape = usize::from(choice.output);
            *self.escape_word(escape, buffer) &= !(1 << (buffer % 64));
            self.choosing()[buffer as usize / 64] &= !(1 << (buffer % 64));
        }
    }

    /// Sends a head with a choice through a free output, on a virtual channel that has room.
    #[inline(always)]
    pub(crate) fn grant_choice(&mut self, output: usize, buffer: u32, vc: u8, now: Tick) {
        self.withdraw(output, buffer, now);
        self.grant_apart(output, buffer, vc, now);
        if F::RELATES {
            // The room behind the output has become less.
            let room_cache = &mut self.adaptive_state.room_cache;
            room_cache.outputs[output].allocation = 0;
            room_cache.state += 1;
        }
    }

    /// Notes that the adaptive channel of an output is granted.
    #[inline(always)]
    pub(crate) fn note_adaptive_grant(&mut self, output: usize, now: Tick) {
        let (output, time) = (self.channel(output) as usize, self.time(now));
        self.adaptive_state.granted.get_mut(output).into_iter().for_each(|it| *it = time);
    }

    /// Withdraws the request of a head for an output that it does not get.
    #[inline(always)]
    pub(crate) fn withdraw_request(&mut self, output: usize, buffer: u32, now: Tick) {
        self.drop_request(output, buffer);
        let place = S::port(output);
        let stall = self.cell.stall[place];
        if stall != Stall::OutputBusy as u8 && stall != NOT_STALLED {
            // The head counts among those that wait until now; from now on the reason may be
            // another.
            self.cell.due[place] = now;
            return;
        }
        self.end_stall(output, now);
        let first = self.waited_for_since(output, now);
        if stall == Stall::OutputBusy as u8 {
            self.cell.since[place] = first;
        }
        // If others wait for a free output, it is due already.
        if first > now || stall == Stall::OutputBusy as u8 {
            let free_at = self.cell.free_at[place];
            self.cell.due[place] = if first == NEVER { NEVER } else { first.max(free_at) };
        }
    }

    /// Whether the head of a buffer, which could have this output, prefers no other output that it
    /// could have.
    #[inline(always)]
    pub(crate) fn prefers(&mut self, output: usize, buffer: u32, now: Tick) -> bool {
        let options = self.choice(buffer).options;
        let place = S::buffer(buffer as usize);
        let (head, need) = (self.cell.head[place], self.cell.need[place]);
        if options.is_power_of_two() {
            return true;
        }
        let open = options & self.with_room(need) & self.free(now);
        let (input, _) = self.place(buffer);
        let straight = self.cell.port[input].into();
        let own = self.layout.first_output as usize..;
        let outputs = Outputs {
            open,
            straight,
            drawn: drawn_at(self.name, self.packets.packets[head as usize].note),
            room: &self.adaptive_state.rooms.room,
            granted: self.adaptive_state.granted.get(own).unwrap_or_default(),
        };
        self.routing.preferred(&outputs) == fitted!(output, u32)
    }

    /// Serves the outputs that are due, in three passes. Each pass is in cyclic order from behind
    /// the latest grant before this instant.
    #[inline(always)]
    pub(crate) fn allocate_adaptive(&mut self, now: Tick) {
        let start = u32::from(self.cell.next_output);
        self.collect_rooms(now);
        self.serve_choices(now);
        // A start behind the last port of a torus is a start at the first.
        let start = if start < u16::BITS { start } else { 0 };
        let mut escapes = (self.outputs_of_stuck(now) & self.free(now)).rotate_right(start);
        while escapes != 0 {
            let output = (escapes.trailing_zeros() + start) % u16::BITS;
            escapes &= escapes - 1;
            self.grant_escapes(output as usize, now);
        }
    }

    /// Serves the outputs that are due, in the first two passes.
    #[inline(always)]
    pub(crate) fn serve_choices(&mut self, now: Tick) {
        self.serve_due_outputs(AllocationPass::Preferred, now);
        if self.adaptive_state.passed_over.is_empty() {
            return;
        }
        let mut passed_over = std::mem::take(&mut self.adaptive_state.passed_over);
        for &output in &passed_over {
            self.try_grant(output, AllocationPass::Any, now);
        }
        passed_over.clear();
        self.adaptive_state.passed_over = passed_over;
    }

    /// The outputs that send nothing, a bit each. Those of a torus are among the first sixteen.
    #[inline(always)]
    fn free(&self, now: Tick) -> u16 {
        let free_at = self.cell.free_at.as_ref();
        fitted!(at_most::<F::Vector>(&free_at[..free_at.len().min(TORUS_PORTS)], now), u16)
    }

    /// The outputs by which heads that ask now need an escape, since none of their options has room,
    /// a bit each.
    #[inline(always)]
    fn outputs_of_stuck(&mut self, now: Tick) -> u16 {
        let mut outputs = 0;
        for word in 0..self.size().words {
            let asks = self.cell.ask.as_ref().get(word * 64..).unwrap_or_default();
            let ready = at_most::<F::Vector>(&asks[..asks.len().min(64)], now);
            for bit in bits(self.choosing()[word] & ready) {
                let place = S::buffer(word * 64 + bit);
                let &mut Choice { options, output, .. } = self.choice(fitted!(place, u32));
                if options & self.with_room(self.cell.need[place]) == 0 {
                    outputs |= 1 << output;
                }
            }
        }
        outputs
    }

    /// Grants a free output to the first head that needs an escape and can have it there. Returns
    /// whether there was one.
    #[inline(always)]
    pub(crate) fn grant_escapes(&mut self, output: usize, now: Tick) -> bool {
        let mut attempt = EscapeAttempt { until: NEVER };
        let granted = self.grant_first(output, &mut attempt, now);
        if !granted {
            self.cell.lower(output, attempt.until);
        }
        granted
    }

    /// The virtual channel on which the head of a buffer can escape by a free output. If there is
    /// none: the time until which there is none, as far as it is known.
    #[inline(always)]
    fn escape(&mut self, output: usize, buffer: u32, now: Tick) -> Result<u8, Tick> {
        let place = S::buffer(buffer as usize);
        let (ask, need) = (self.cell.ask[place], self.cell.need[place]);
        if ask > now {
            return Err(ask);
        }
        let &mut Choice { options, output: port, .. } = self.choice(buffer);
        if options & self.with_room(need) != 0 {
            // The packet is granted a hop there, or what it waits for there makes the output due
            // again.
            return Err(NEVER);
        }
        let (input, vc) = self.place(buffer);
        let out_vc = self.cell.out_vc[place];
        let came = (self.cell.ring_output[input], vc);
        let in_ring = self.has(output, IN_RING);
        let bubble = escape_bubble(self.context.bubble, came, (port, out_vc), in_ring);
        let room = (out_vc, self.head_of(buffer).flits + bubble, self.cell.head[place]);
        self.obstacle(output, buffer, room, now).map_or(Ok(out_vc), |obstacle| Err(obstacle.until))
    }
}

/// The attempt to grant an output to a head that needs an escape there. It is blocked until some
/// time, as far as that is known.
#[derive(Clone, Copy)]
struct EscapeAttempt {
    until: Tick,
}

impl Attempt for EscapeAttempt {
    const ESCAPES: bool = true;

    #[inline(always)]
    fn try_request<S: Shape, F: Features>(
        &mut self,
        view: &mut Visit<'_, '_, S, F>,
        (output, buffer): (usize, u32),
        now: Tick,
    ) -> bool {
        let escape = if F::RELATES {
            view.fallback_hop(output, buffer, now)
        } else {
            view.escape(output, buffer, now)
        };
        match escape {
            Ok(vc) => {
                if F::RELATES {
                    view.count_fallback(buffer);
                }
                view.grant_choice(output, buffer, vc, now);
                true
            }
            Err(other) => {
                self.until = self.until.min(other);
                false
            }
        }
    }
}
