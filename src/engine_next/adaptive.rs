//! Packets that choose their way: adaptive routings on the Angara router (docs/model.md, "Adaptive
//! routing").
//!
//! The head of a buffer asks for every output that leads it on, on the adaptive channel, and for
//! direction order's on its escape channel. A router walks its free outputs three times: with packets
//! that like an output best; with any that can have it; with those that found none of their outputs
//! with room, which may escape. What has been granted in one walk only takes room, and escapes take none
//! of the adaptive channel's, so walking again would grant nothing. The second walk visits those
//! outputs only that passed a packet over in the first.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::model::Model;
use super::packet::{Origin, Packet};
use super::ports::{NO_PORT, NOT_STALLED, Router};
use super::tick::{NEVER, Tick};
use super::way::{Choice, Stage};
use super::whole::Whole;
use crate::adaptive::{Heading, drawn_at};
use crate::engine::Stall;
use crate::engine::walk::{Stretch, between, cyclic, steps};
use crate::routing::{Adaptive, Course};
use crate::topology::NONE;

/// Whom a walk of the outputs serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// Of packets that have a choice, only those that like the output best.
    Preferred,
    Any,
}

/// What routers keep whose packets choose their way.
pub(super) struct Choosers<'f> {
    adaptive: &'f Adaptive,
    /// The random numbers of each terminal's packets, if they get any.
    random: Vec<ChaCha8Rng>,
    /// By router: pairs whose heads are new and have to decide on a detour when they ask.
    undecided: Vec<u64>,
    /// Outputs that packets have passed over in the present walk since they like others better.
    passed_over: Vec<u32>,
}

impl<'f> Choosers<'f> {
    pub(super) fn new(whole: &Whole<'f>, part: usize, adaptive: &'f Adaptive) -> Self {
        let stream = |&terminal: &u32| {
            let mut random = ChaCha8Rng::seed_from_u64(adaptive.seed());
            random.set_stream(u64::from(terminal));
            random
        };
        let terminals = whole.terminals_of_part(part).iter();
        let is_random = adaptive.rules().is_random();
        Self {
            adaptive,
            random: if is_random { terminals.map(stream).collect() } else { Vec::new() },
            undecided: Vec::new(),
            passed_over: Vec::new(),
        }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.random) + size_of_val(&*self.undecided)
    }
}

impl Model<'_> {
    /// The adaptive routing.
    #[inline]
    fn adaptive(&self) -> &Adaptive {
        self.choosers.as_ref().expect("packets choose their ways").adaptive
    }

    /// Gives a packet that is injected now its course.
    pub(super) fn set_out(
        &mut self,
        terminal: u32,
        (from, to): (u32, u32),
        (ejection, lane): (u16, u8),
        packet: &mut Packet,
        origin: &mut Origin,
    ) {
        let choosers = self.choosers.as_mut().expect("packets choose their ways");
        let adaptive = choosers.adaptive;
        let mut choice = Choice {
            destination: to,
            ejection: ejection as u8,
            heading: Heading::default(),
            stage: Stage::Fixed,
        };
        if lane == self.whole.channels.adaptive && from != to {
            let course = adaptive.inject(from, to, choosers.random.get_mut(terminal as usize));
            packet.note = course.drawn;
            origin.set_derouting(course.kind);
            origin.hops = adaptive.hops(from, to, &course);
            choice.heading = course.heading;
            choice.stage = if adaptive.decides() { Stage::New } else { Stage::ToDestination };
        } else {
            let route = self.whole.routes.source_route(self.whole.fabric, from, to);
            origin.hops = route.unwrap_or_default().hops() as u16;
        }
        packet.way = choice.into();
    }

    /// A packet has become the head of a buffer: it asks for its next outputs, now or later.
    pub(super) fn head_among_choosers(&mut self, number: u32, pair: u32) {
        let router = self.ports.routers[number as usize];
        let place = self.ports.queue(&router, pair);
        let slot = self.ports.queues[place].head;
        let here = number + self.whole.cut.first_router(self.part);
        let mut choice = Choice::from(self.packets.packets[slot as usize].way);
        if choice.stage == Stage::ToIntermediate
            && self.packets.rest(slot)[0] == u64::from(here)
        {
            choice.stage = Stage::ToDestination;
            choice.heading.bound = 0;
            self.packets.packets[slot as usize].way = choice.into();
        }
        let lane = (pair & ((1 << self.ports.shift) - 1)) as u8;
        if choice.stage != Stage::ToIntermediate && choice.destination == here {
            return self.ask(number, pair, u16::from(choice.ejection), lane);
        }
        match choice.stage {
            Stage::Fixed => {
                let ports = self.adaptive().ports(here, choice.destination, choice.heading);
                self.ask(number, pair, ports.trailing_zeros() as u16, lane);
            }
            Stage::New => {
                let words = self.ports.words;
                let choosers = self.choosers.as_mut().expect("packets choose their ways");
                if choosers.undecided.is_empty() {
                    choosers.undecided = vec![0; self.ports.routers.len() * words];
                }
                choosers.undecided[number as usize * words + pair as usize / 64] |= 1 << (pair % 64);
                let ask = self.ports.queues[place].ask;
                let due = &mut self.ports.due[decisions(&router)];
                *due = (*due).min(ask);
            }
            Stage::ToIntermediate | Stage::ToDestination => {
                let to = match choice.stage {
                    Stage::ToIntermediate => self.packets.rest(slot)[0] as u32,
                    _ => choice.destination,
                };
                let options = self.adaptive().ports(here, to, choice.heading);
                self.ask_for_any(number, pair, options, choice.stage);
            }
        }
    }

    /// Lets new packets that ask at this instant decide on detours.
    pub(super) fn decide_all(&mut self, number: u32, now: Tick) {
        let router = self.ports.routers[number as usize];
        let mut due = NEVER;
        for word in 0..self.ports.words {
            let place = number as usize * self.ports.words + word;
            let mut bits = self.choosers.as_ref().expect("they choose").undecided[place];
            while bits != 0 {
                let pair = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let queue = &self.ports.queues[self.ports.queue(&router, pair)];
                if queue.ask > now {
                    due = due.min(queue.ask);
                    continue;
                }
                let slot = queue.head;
                self.choosers.as_mut().expect("they choose").undecided[place] &= !(1 << (pair % 64));
                self.decide(number, slot, now);
                self.head_among_choosers(number, pair);
            }
        }
        self.ports.due[decisions(&router)] = due;
    }

    /// Decides at its source router how a new packet goes on.
    fn decide(&mut self, number: u32, slot: u32, now: Tick) {
        let router = self.ports.routers[number as usize];
        let here = number + self.whole.cut.first_router(self.part);
        let packet = self.packets.packets[slot as usize];
        let mut choice = Choice::from(packet.way);
        let origin = &self.packets.origins[slot as usize];
        let course = Course {
            to: choice.destination,
            heading: choice.heading,
            drawn: packet.note,
            kind: origin.derouting(),
        };
        let capacity = self.whole.parameters.buffer;
        let mut used = [0; u16::BITS as usize];
        let channels = self.whole.fabric.outputs(here).len();
        for (channel, used) in (router.first_output..).zip(&mut used[..channels]) {
            *used = match self.room(channel, now) {
                Some(room) => capacity - u32::from(room),
                None => u32::MAX,
            };
        }
        let full = capacity - u32::from(packet.flits) + 1;
        let adaptive = self.adaptive();
        let course = adaptive.decide(here, course, &used[..channels], full);
        let hops = adaptive.hops(here, choice.destination, &course);
        choice.heading = course.heading;
        choice.stage = Stage::ToDestination;
        if course.to != choice.destination {
            choice.stage = Stage::ToIntermediate;
            self.packets.rest(slot)[0] = course.to.into();
        }
        self.packets.packets[slot as usize].way = choice.into();
        let origin = &mut self.packets.origins[slot as usize];
        origin.set_derouting(course.kind);
        origin.hops = hops;
    }

    /// Flits free behind an output on the adaptive channel; `None` if it leads nowhere.
    fn room(&mut self, channel: u32, now: Tick) -> Option<u16> {
        let room = self.ports.outputs[channel as usize].room;
        if room == NONE {
            return None;
        }
        let place = room + u32::from(self.whole.channels.adaptive);
        self.credits.collect(place, now);
        Some(self.credits.room[place as usize])
    }

    /// Lets the head of a buffer ask for every output that leads it on, and for its escape.
    fn ask_for_any(&mut self, number: u32, pair: u32, options: u16, stage: Stage) {
        let router = self.ports.routers[number as usize];
        let place = self.ports.queue(&router, pair);
        let input = &self.ports.inputs[(router.first_input + (pair >> self.ports.shift)) as usize];
        let bubble = if input.port == NO_PORT { self.whole.injection_bubble } else { 0 };
        let channels = self.whole.channels;
        let queue = &mut self.ports.queues[place];
        queue.need = queue.flits + bubble;
        queue.options = options;
        queue.output = options.trailing_zeros() as u16;
        queue.onto = match stage {
            Stage::ToIntermediate => channels.escape_to_intermediate,
            _ => channels.escape,
        };
        let (ask, escape) = (queue.ask, u32::from(queue.output));
        for port in ports(options) {
            let channel = router.first_output + port;
            let word = self.ports.word(channel, pair);
            self.ports.asking[word] |= 1 << (pair % 64);
            let due = &mut self.ports.due[(router.first_due + port) as usize];
            *due = (*due).min(ask.max(self.ports.outputs[channel as usize].free_at));
        }
        let word = self.ports.word(router.first_output + escape, pair);
        self.ports.escapes[word] |= 1 << (pair % 64);
    }

    /// Takes back all requests of the head of a buffer that chooses, which goes by `granted`.
    pub(super) fn withdraw(&mut self, router: &Router, granted: u32, pair: u32, now: Tick) {
        let place = self.ports.queue(router, pair);
        let options = std::mem::take(&mut self.ports.queues[place].options);
        let escape = u32::from(self.ports.queues[place].output);
        for port in ports(options).filter(|&port| port != granted) {
            let channel = router.first_output + port;
            let state = &self.ports.outputs[channel as usize];
            // It counts until now among those that wait; then the reason may be another.
            if state.stall == Stall::OutputBusy as u8 {
                self.end_stall(channel, self.first_ask(router, channel), now);
            } else if state.stall != NOT_STALLED {
                self.ports.due[(router.first_due + port) as usize] = now;
            }
            let word = self.ports.word(channel, pair);
            self.ports.asking[word] &= !(1 << (pair % 64));
        }
        let word = self.ports.word(router.first_output + escape, pair);
        self.ports.escapes[word] &= !(1 << (pair % 64));
    }

    /// Whether the head of a buffer, which could have an output, likes no other better that it could have.
    pub(super) fn prefers(&mut self, number: u32, output: u32, pair: u32, now: Tick) -> bool {
        let router = self.ports.routers[number as usize];
        let queue = &self.ports.queues[self.ports.queue(&router, pair)];
        let (options, head, need) = (queue.options, queue.head, queue.need);
        if options.is_power_of_two() {
            return true;
        }
        let mut open = 0;
        let mut rooms = [0; u16::BITS as usize];
        for port in ports(options) {
            let channel = router.first_output + port;
            let free = self.ports.outputs[channel as usize].free_at <= now;
            if free && let Some(room) = self.room(channel, now).filter(|&room| room >= need) {
                open |= 1 << port;
                rooms[port as usize] = u32::from(room);
            }
        }
        let input = &self.ports.inputs[(router.first_input + (pair >> self.ports.shift)) as usize];
        let here = number + self.whole.cut.first_router(self.part);
        let straight = u32::from(input.port);
        let drawn = drawn_at(here, self.packets.packets[head as usize].note);
        let selection = self.adaptive().rules().selection;
        selection.prefers(open, straight, drawn, |port| rooms[port as usize]) == output
    }

    /// Serves the outputs that are due, three times, in cyclic order from behind the latest grant before this
    /// instant.
    pub(super) fn allocate_among_choosers(&mut self, number: u32, now: Tick) {
        let router = self.ports.routers[number as usize];
        let outputs = u32::from(router.outputs);
        let start = u32::from(router.next_output) % outputs;
        let in_turn = || (start..outputs).chain(0..start);
        for output in in_turn() {
            if self.ports.due[(router.first_due + output) as usize] == now {
                self.look(number, output, Walk::Preferred, now);
            }
        }
        let mut passed_over =
            std::mem::take(&mut self.choosers.as_mut().expect("they choose").passed_over);
        for &output in &passed_over {
            self.look(number, output, Walk::Any, now);
        }
        passed_over.clear();
        self.choosers.as_mut().expect("they choose").passed_over = passed_over;
        for output in in_turn() {
            let channel = router.first_output + output;
            let words = self.ports.word(channel, 0)..self.ports.word(channel + 1, 0);
            let asked = self.ports.escapes[words].iter().any(|&word| word != 0);
            if asked && self.ports.outputs[channel as usize].free_at <= now {
                self.look_for_escapes(number, output, now);
            }
        }
    }

    /// An output could have been granted to a packet that likes another better.
    pub(super) fn pass_over(&mut self, output: u32) {
        self.choosers.as_mut().expect("they choose").passed_over.push(output);
    }

    /// Grants a free output to the first packet that has to escape by it and can.
    fn look_for_escapes(&mut self, number: u32, output: u32, now: Tick) {
        let router = self.ports.routers[number as usize];
        let channel = router.first_output + output;
        let pointer = u32::from(self.ports.outputs[channel as usize].pointer);
        let transit = self.transit_pairs(&router);
        let words = self.ports.words;
        let mut until = NEVER;
        for (low, high) in [(0, transit), (transit, u32::MAX)] {
            for step in 0..steps(words) {
                let Stretch { word, mask, turn } = cyclic(pointer, step, words);
                let of_set = between(low, high, word as u32 * 64);
                let place = channel as usize * words + word;
                let mut bits = (self.ports.escapes[place] & mask & of_set).rotate_right(turn);
                while bits != 0 {
                    let pair = word as u32 * 64 + (bits.trailing_zeros() + turn) % 64;
                    bits &= bits - 1;
                    match self.escape_obstacle(number, channel, pair, now) {
                        None => {
                            let queue = &self.ports.queues[self.ports.queue(&router, pair)];
                            let escape = queue.onto;
                            self.withdraw(&router, output, pair, now);
                            return self.grant(number, output, pair, escape, now);
                        }
                        Some(other) => until = until.min(other),
                    }
                }
            }
        }
        let due = &mut self.ports.due[(router.first_due + output) as usize];
        *due = (*due).min(until);
    }

    /// Until when, as far as it is known, the head of a buffer can't escape by a free output; `None` if it
    /// can.
    fn escape_obstacle(
        &mut self,
        number: u32,
        channel: u32,
        pair: u32,
        now: Tick,
    ) -> Option<Tick> {
        let router = self.ports.routers[number as usize];
        let queue = self.ports.queues[self.ports.queue(&router, pair)];
        if queue.ask > now {
            return Some(queue.ask);
        }
        for option in ports(queue.options).map(|port| router.first_output + port) {
            if self.room(option, now).is_some_and(|room| room >= queue.need) {
                // It is served there, or what it waits for there has the router look again.
                return Some(NEVER);
            }
        }
        let need = queue.flits + self.escape_bubble(&router, pair);
        let lane = (queue.onto, need, queue.flits);
        self.obstacle(&router, channel, pair, lane, now).map(|obstacle| obstacle.until)
    }

    /// Flits of room that the head of a buffer needs beyond its own to escape: none if it is on the escape
    /// channel of the same ring already.
    pub(super) fn escape_bubble(&self, router: &Router, pair: u32) -> u16 {
        let queue = &self.ports.queues[self.ports.queue(router, pair)];
        let input = &self.ports.inputs[(router.first_input + (pair >> self.ports.shift)) as usize];
        let lane = (pair & ((1 << self.ports.shift) - 1)) as u8;
        let in_ring =
            self.ports.outputs[(router.first_output + u32::from(queue.output)) as usize].in_ring;
        let goes_on = lane == queue.onto && input.straight == queue.output;
        if !in_ring || goes_on { 0 } else { self.whole.bubble }
    }
}

/// The place of the time at which new packets have to decide.
#[inline]
pub(super) fn decisions(router: &Router) -> usize {
    router.first_due as usize + usize::from(router.outputs) + usize::from(router.terminals)
}

/// The ports of a set, ascending.
pub(super) fn ports(mut set: u16) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let port = set.trailing_zeros();
        let any = set != 0;
        set &= set.wrapping_sub(1);
        any.then_some(port)
    })
}
