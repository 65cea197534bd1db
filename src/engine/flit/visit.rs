//! A router taken in hand: from instant to instant until the window ends.

use super::allocation::Scratch;
use super::queue::{Queue, Stage};
use super::{Flits, Input, Output, Rules, State};
use crate::engine::adaptive::Choosers;
use crate::engine::guide::Guide;
use crate::engine::model::Model;
use crate::engine::octet::EIGHT;
use crate::engine::packet::Packets;
use crate::engine::ports::{self, Ports, Router};
use crate::engine::statistics::Statistics;
use crate::engine::tick::{NEVER, Tick};
use crate::engine::trace::{Trace, note};
use crate::engine::visit::Outbox;
use crate::engine::whole::Whole;
use crate::engine::{Counters, Digest};
use crate::narrow::fitted;
use crate::units::Picoseconds;

/// A router in hand: the state of its part, of which it uses its own. Outputs, input ports and queues have numbers of
/// the router's own.
pub(super) struct FlitVisit<'a, 'f> {
    pub rules: &'a Rules,
    pub state: &'a mut State,
    pub scratch: &'a mut Scratch,
    pub ports: &'a Ports,
    pub router: Router,
    /// Its number in the whole network.
    pub name: u32,
    pub first_queue: usize,
    pub queues: usize,
    /// Up to when it is simulated.
    pub until: Tick,
    pub hosts_answer: bool,
    pub epoch: Picoseconds,
    pub first_channel: u32,
    pub guide: Option<Guide<'f>>,
    pub whole: &'a Whole<'f>,
    pub packets: &'a mut Packets,
    pub choosers: Option<&'a mut Choosers<'f>>,
    pub statistics: &'a mut Statistics,
    pub outbox: &'a mut Outbox,
    pub digest: &'a mut Digest,
    pub trace: &'a mut Option<Box<Trace>>,
    pub counters: &'a mut Counters,
    pub latest: &'a mut Picoseconds,
}

/// The least of some times.
#[inline(always)]
fn least(times: &[Tick]) -> Tick {
    let (eights, rest) = times.as_chunks::<EIGHT>();
    let mut lanes = [NEVER; EIGHT];
    for eight in eights {
        for (least, &time) in lanes.iter_mut().zip(eight) {
            *least = (*least).min(time);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(NEVER, Tick::min)
}

impl<'f> Model<'f> {
    /// When something happens in a router next, or before.
    #[inline]
    pub(in crate::engine) fn flits_due(&self, flits: &Flits, number: u32) -> Tick {
        let router = &self.ports.routers[number as usize];
        let (first, queues) = flits.queues_of(router);
        least(&flits.state.due[first..first + queues])
    }

    /// Simulates a router before `until`, or until it has something for its terminals that can't wait. When something
    /// happens in it next.
    pub(in crate::engine) fn run_flits(&mut self, number: u32, until: Tick) -> Tick {
        let mut flits = self.flits.take().expect("links are shared flit by flit");
        let next = self.hold_flits(&mut flits, number).run(until);
        self.flits = Some(flits);
        next
    }

    pub(super) fn hold_flits<'a>(
        &'a mut self,
        flits: &'a mut Flits,
        number: u32,
    ) -> FlitVisit<'a, 'f> {
        let router = self.ports.routers[number as usize];
        let (first_queue, queues) = flits.queues_of(&router);
        FlitVisit {
            rules: &flits.rules,
            state: &mut flits.state,
            scratch: &mut flits.scratch,
            ports: &self.ports,
            router,
            name: number + self.whole.cut.first_router(self.schedule.part),
            first_queue,
            queues,
            until: 0,
            hosts_answer: self.hosts_answer,
            epoch: self.schedule.epoch,
            first_channel: self.whole.cut.first_output(self.schedule.part),
            guide: self.guide,
            whole: &self.whole,
            packets: &mut self.packets,
            choosers: self.choosers.as_mut(),
            statistics: &mut self.statistics,
            outbox: &mut self.outbox,
            digest: &mut self.digest,
            trace: &mut self.trace,
            counters: &mut self.counters,
            latest: &mut self.latest,
        }
    }
}

impl Flits {
    /// Where a router's queues begin, and how many there are.
    #[inline(always)]
    pub(super) fn queues_of(&self, router: &Router) -> (usize, usize) {
        let outputs = self.rules.outputs as usize;
        let first = (router.first_input as usize) << self.rules.shift;
        (first * outputs, (usize::from(router.inputs) << self.rules.shift) * outputs)
    }
}

impl FlitVisit<'_, '_> {
    /// See [`Model::run_flits`].
    fn run(&mut self, until: Tick) -> Tick {
        self.until = until;
        self.scratch.start(self.queues, self.router.inputs, self.router.outputs);
        for queue in 0..self.queues {
            if *self.due(queue) < until {
                match self.queue(queue).stage {
                    Stage::Sending => self.add_member(queue, 0),
                    _ => self.scratch.activate(queue),
                }
            }
        }
        let mut left = NEVER;
        loop {
            let (now, first) = self.first_bound();
            let others = self.next_other();
            if now.min(others) >= until {
                break;
            }
            if now < others {
                self.catch_up(first, now + 1);
            } else {
                self.allocate(others);
            }
            if self.outbox.is_urgent(self.hosts_answer) {
                left = now.min(others);
                break;
            }
        }
        self.catch_up_all(left.min(until));
        self.flush();
        left.min(least(&self.state.due[self.first_queue..self.first_queue + self.queues]))
    }

    /// When something can come of a queue that sends no packet; never if that is not before the end.
    #[inline(always)]
    fn next_other(&mut self) -> Tick {
        let due = &self.state.due[self.first_queue..self.first_queue + self.queues];
        let mut first = NEVER;
        self.scratch.retain_active(|queue| {
            let time = due[queue as usize];
            first = first.min(time);
            time < self.until
        });
        first
    }

    /// Lets everybody who is due take part in the allocation of virtual channels of an instant.
    fn allocate(&mut self, now: Tick) {
        for place in 0..self.scratch.active().len() {
            let queue = self.scratch.active()[place] as usize;
            if *self.due(queue) == now {
                self.look(queue, now);
            }
        }
        if self.scratch.has_asks() {
            self.allocate_lanes(now);
        }
    }

    /// Lets a queue take part whose packet has no virtual channel, if it can; else says when it may.
    fn look(&mut self, queue: usize, now: Tick) {
        match self.queue(queue).stage {
            Stage::Idle | Stage::Sending => self.set_due(queue, NEVER),
            Stage::New | Stage::Undecided => self.meet(queue, now),
            Stage::Asking => self.ask(queue, now),
        }
    }

    /// Says before when nothing can come of a queue.
    #[inline(always)]
    pub(super) fn set_due(&mut self, queue: usize, time: Tick) {
        self.state.due[self.first_queue + queue] = time;
        if time < self.until {
            self.scratch.activate(queue);
        }
    }

    /// Sees to it that a queue is looked at by `time`.
    pub(super) fn lower(&mut self, queue: usize, time: Tick) {
        if time < *self.due(queue) {
            self.set_due(queue, time);
        }
    }

    #[inline(always)]
    pub(super) fn queue(&mut self, queue: usize) -> &mut Queue {
        &mut self.state.queues[self.first_queue + queue]
    }

    #[inline(always)]
    pub(super) fn due(&mut self, queue: usize) -> &mut Tick {
        &mut self.state.due[self.first_queue + queue]
    }

    #[inline(always)]
    pub(super) fn output(&mut self, output: usize) -> &mut Output {
        &mut self.state.outputs[self.router.first_output as usize + output]
    }

    #[inline(always)]
    pub(super) fn input(&mut self, input: usize) -> &mut Input {
        &mut self.state.inputs[self.router.first_input as usize + input]
    }

    /// What never changes of an output.
    #[inline(always)]
    pub(super) fn port(&self, output: usize) -> &ports::Output {
        let octet = self.router.first_octet as usize + output / EIGHT;
        &self.ports.octets[octet].outputs[output % EIGHT]
    }

    /// What never changes of an input port.
    #[inline(always)]
    pub(super) fn entry(&self, input: usize) -> &ports::Input {
        let octet = self.router.first_octet as usize + input / EIGHT;
        &self.ports.octets[octet].inputs[input % EIGHT]
    }

    /// The input port and the lane of a queue.
    #[inline(always)]
    pub(super) fn place(&self, queue: usize) -> (usize, u8) {
        let pair = match self.rules.outputs {
            1 => queue,
            outputs => queue / outputs as usize,
        };
        ports::place(fitted!(pair, u32), self.rules.shift)
    }

    /// The place of an output's lane.
    #[inline(always)]
    pub(super) fn lane(&mut self, output: usize, lane: u8) -> usize {
        self.output(output).lanes as usize + usize::from(lane)
    }

    /// The time that a flit takes the crossbar to an output.
    #[inline(always)]
    pub(super) fn crossbar(&self, output: usize) -> Tick {
        self.rules.crossbar[self.port(output).kind as usize]
    }

    #[inline(always)]
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.epoch + Picoseconds::from(tick)
    }

    /// Has the queues looked at by `time` whose packets ask for an output.
    pub(super) fn wake_askers(&mut self, output: usize, time: Tick) {
        let first = (self.router.first_output as usize + output) * self.rules.words;
        for word in 0..self.rules.words {
            let mut bits = self.state.asking[first + word];
            while bits != 0 {
                let queue = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.lower(queue, time);
            }
        }
    }

    /// The part's number of the terminal that an ejection channel leads to.
    pub(super) fn terminal(&self, output: usize) -> u32 {
        let channels = self.whole.parameters.ejection_channels;
        let first = u32::from(self.router.outputs) - u32::from(self.router.terminals) * channels;
        self.router.first_terminal + (fitted!(output, u32) - first) / channels
    }

    /// Notes that a packet's header has been sent to the next router.
    pub(super) fn go_on(&mut self, output: usize, slot: u32, now: Tick) {
        let packet = &mut self.packets.packets[slot as usize];
        if self.trace.is_some() {
            let channel = self.first_channel + self.router.first_output + fitted!(output, u32);
            note(self.trace, packet, (self.epoch, now), channel);
        }
        if self.guide.is_some() {
            packet.note += 1;
        } else if self.choosers.is_none() {
            let mut way = packet.way;
            if self.whole.code.go_on(&mut way) {
                self.whole.code.refill(&mut way, self.packets.rest(slot));
            }
            self.packets.packets[slot as usize].way = way;
        } else if self.choosers.as_ref().is_some_and(|choosers| choosers.count_hops()) {
            self.packets.origins[slot as usize].hops += 1;
        }
    }
}
