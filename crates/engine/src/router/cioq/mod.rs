//! The combined input-output-queued router: channels are granted to whole packets, and each output
//! has a buffer for each virtual channel behind the crossbar (docs/model.md, "Buffers at outputs").
//!
//! A packet crosses from the buffer of an input to that of an output, and is sent from there. All
//! times of its flits are known when it begins to cross, and again when it is sent. So a visit goes
//! from one instant at which something may happen to the next: a head may ask, packets decide
//! again, a channel may send.
//!
//! A visit puts what it sends into the buffers of other routers of the part at once. All these times
//! lie after the window's end, so routers that are visited later in the window do not see them.
//!
//! | module | what it is for |
//! |---|---|
//! | `room` | room that becomes free flit by flit |
//! | `visit` | a router borrowed for a visit: the loop over instants, and heads |
//! | `crossing` | requests of heads, and packets that cross |
//! | `decisions` | packets that decide by what their router sees |
//! | `sending` | packets that are sent from the buffers of outputs |
//! | `waits` | what packets wait for: deadlocks, and the channel that holds a packet up |

mod crossing;
mod decisions;
mod room;
mod sending;
mod visit;
mod waits;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::bytes::bytes_of;
use crate::common::Common;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::{NEVER, Tick, move_back, rebased};
use crate::host::Hosts;
use crate::network::context::NetworkContext;
use crate::network::ports::{Ports, RouterLayout};
use crate::next_hop::{HopTimes, Routing};
use crate::packet::chain;
use crate::part::Part;
use crate::router::between_parts::BetweenParts;
use crate::router::injector::Injector;
use crate::router::{Fail, Routers};
use crossing::Request;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use room::{Leaving, Room};

/// The routers of a part. Routers, channels and buffers have the part's own numbers.
pub(crate) struct CioqRouters {
    ports: Ports,
    rules: Rules,
    state: State,
    /// By part: the messages for it.
    outgoing: Vec<CioqMessages>,
    /// Lists of an instant, kept to reuse their memory: requests; input virtual channels, and a set
    /// of these.
    requests: Vec<Request>,
    due: Vec<u32>,
    set: Vec<u64>,
}

/// Parameters of all routers; they never change.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Number of virtual channels of a channel.
    vcs: u32,
    /// Number of bits by which an input port is shifted in the number of an input virtual channel.
    shift: u32,
    /// The latency of the crossbar.
    crossbar: Tick,
    /// Packets that may cross at once from an input port, or to an output.
    speedup: u32,
    /// Flits of a buffer between routers.
    buffer: u32,
    /// The time at whose multiples packets that wait decide again, if they do; and whether they do
    /// so only until one of their hops has room.
    again: Option<Picoseconds>,
    settles: bool,
}

/// The fields that change, as a checkpoint saves them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// By input virtual channel: the time at which its head is looked at next. [`NEVER`] if there
    /// is none, or if nothing that it waits for is known yet.
    wake: Vec<Tick>,
    /// By input virtual channel.
    inputs: Vec<InputVc>,
    /// By output: the time at which it may send next, as far as is known.
    due: Vec<Tick>,
    /// By output.
    outputs: Vec<Output>,
    /// By output, then virtual channel.
    vcs: Vec<OutputVc>,
    /// By place of credits.
    credits: Vec<Room>,
    /// By router: the time at which packets decide again; and the output at which the next pass over
    /// requests starts.
    decide_at: Vec<Tick>,
    next_output: Vec<u16>,
    /// When packets crossed to virtual channels of outputs last.
    hop_times: HopTimes,
}

/// The buffer of an input virtual channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct InputVc {
    /// The first and the last packet in it; [`NONE`] if it is empty.
    first: u32,
    last: u32,
    /// Time until which the packet before the first one crosses.
    crosses_until: Tick,
    /// Time before which the head does not request again.
    again: Tick,
    /// Whether the head does not decide again.
    is_settled: bool,
    hops: Hops,
}

impl InputVc {
    const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
        crosses_until: 0,
        again: 0,
        is_settled: false,
        hops: Hops::Unknown,
    };
}

/// The hops of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Hops {
    /// It has not asked yet.
    Unknown,
    One {
        output: u16,
        vc: u8,
    },
    /// Those of a list of the relation.
    List(u32),
    /// All virtual channels of an ejection channel, for packets that choose their hops.
    Ejection(u16),
}

/// The channel of an output.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Output {
    /// Time at which the last flit that it was given has left.
    free_at: Tick,
    /// The virtual channel of which it sends first.
    pointer: u8,
    /// The input virtual channel of its router whose request comes first in turn.
    first_request: u16,
}

/// A packet in the buffer of an output, or on its way there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Queued {
    slot: u32,
    /// The virtual channel in which it arrived.
    in_vc: u8,
    /// When its header is there.
    ready: Tick,
}

/// The buffer of a virtual channel of an output.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OutputVc {
    /// Its packets that have not been sent. The last one may still be crossing.
    packets: VecDeque<Queued>,
    /// Flits of these.
    flits: u32,
    room: Room,
    /// Time until which the packet crosses that crossed last, its flits, and their distance.
    crosses_until: Tick,
    crossing: u32,
    flit: Tick,
}

impl OutputVc {
    fn new(room: u32) -> Self {
        Self {
            packets: VecDeque::new(),
            flits: 0,
            room: Room::new(room),
            crosses_until: 0,
            crossing: 0,
            flit: 1,
        }
    }

    /// Flits of its packets that have not begun to cross before a time.
    #[inline]
    fn to_cross(&self, before: Tick) -> u32 {
        (self.crosses_until.saturating_sub(before) / self.flit).min(self.crossing)
    }
}

/// What the routers of one part send those of another.
#[derive(Debug, Default)]
pub(crate) struct CioqMessages {
    packets: Vec<BetweenParts>,
    /// Credits, with their places.
    credits: Vec<(u32, Leaving)>,
}

impl HasEarliest for CioqMessages {
    fn earliest(&self) -> Tick {
        let packets = self.packets.iter().map(|crossing| crossing.packet.packet.ready);
        let credits = self.credits.iter().map(|(_, credits)| credits.from(1));
        packets.chain(credits).min().unwrap_or(NEVER)
    }
}

impl State {
    fn new(context: &NetworkContext<'_>, ports: &Ports, routing: &Routing<'_>) -> Self {
        let vcs = context.vc_map.count();
        let routers = ports.routers.len();
        let inputs = ports.input_ports.len() << ports.shift;
        let behind = OutputVc::new(context.parameters.behind_crossbar());
        let rooms = ports.rooms(context).into_iter();
        Self {
            wake: vec![NEVER; inputs],
            inputs: vec![InputVc::EMPTY; inputs],
            due: vec![NEVER; ports.outputs],
            outputs: vec![Output::default(); ports.outputs],
            vcs: vec![behind; ports.outputs * vcs],
            credits: rooms.map(|room| Room::new(room.into())).collect(),
            decide_at: vec![NEVER; routers],
            next_output: vec![0; routers],
            hop_times: HopTimes::new(routing, ports.outputs, vcs),
        }
    }

    /// Makes a head due by a time.
    #[inline]
    fn lower(&mut self, input_vc: usize, time: Tick) {
        let wake = &mut self.wake[input_vc];
        *wake = (*wake).min(time);
    }
}

impl CioqRouters {
    /// Bytes for each input virtual channel, and for each virtual channel of an output.
    pub(crate) const BYTES_PER_BUFFER: u64 = (size_of::<InputVc>() + size_of::<Tick>()) as u64;
    pub(crate) const BYTES_PER_VC: u64 = (size_of::<OutputVc>() + size_of::<Room>()) as u64;

    /// The input virtual channels of a router.
    #[inline]
    fn inputs_of(&self, router: &RouterLayout) -> std::ops::Range<usize> {
        let first = (router.first_input as usize) << self.ports.shift;
        first..first + (usize::from(router.inputs) << self.ports.shift)
    }

    /// Puts a packet into an input virtual channel of a router of the part.
    #[inline]
    fn join(&mut self, common: &mut Common<'_>, router: u32, input_vc: u32, slot: u32) {
        let ready = common.packets.packets[slot as usize].ready;
        common.packets.packets[slot as usize].next = NONE;
        let buffer = &mut self.state.inputs[input_vc as usize];
        let last = std::mem::replace(&mut buffer.last, slot);
        if buffer.first != NONE {
            common.packets.packets[last as usize].next = slot;
            return;
        }
        buffer.first = slot;
        let asks = ready.max(buffer.crosses_until);
        self.state.wake[input_vc as usize] = asks;
        common.schedule.active.lower(router, asks);
    }

    /// Takes in credits, and wakes the sender if it waits for them.
    fn take_credits(&mut self, common: &mut Common<'_>, place: u32, credits: Leaving) {
        let is_awaited = self.state.credits[place as usize].leave(credits);
        let (router, output) = self.ports.senders[(place / self.rules.vcs) as usize];
        let first = credits.from(1);
        if is_awaited {
            let number = self.ports.routers[router as usize].first_output + output;
            let time = first.max(self.state.outputs[number as usize].free_at);
            let due = &mut self.state.due[number as usize];
            *due = (*due).min(time);
            common.schedule.active.lower(router, time);
        }
        if self.rules.again.is_some() {
            self.decide_by(common, router, first);
        }
    }
}

impl Routers for CioqRouters {
    type Messages = CioqMessages;
    type Own = ();
    type Saved = (Ports, State);

    const QUEUES_AT_ONCE: bool = true;

    fn new(common: &Common<'_>, ports: Ports, (): &()) -> Self {
        let context = &*common.context;
        let parameters = &context.parameters;
        let rules = Rules {
            vcs: narrow(context.vc_map.count()),
            shift: ports.shift,
            crossbar: narrow(parameters.crossbar_latency),
            speedup: parameters.crossbar_speedup,
            buffer: parameters.buffer,
            again: common.routing.decides_again(),
            settles: matches!(&common.routing, Routing::Relation(it) if it.settles()),
        };
        let state = State::new(context, &ports, &common.routing);
        let outgoing = (0..context.cut.parts()).map(|_| CioqMessages::default()).collect();
        Self {
            ports,
            rules,
            state,
            outgoing,
            requests: Vec::new(),
            due: Vec::new(),
            set: Vec::new(),
        }
    }

    #[inline]
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn flits_out(&mut self, _: &mut Common<'_>, output: (u32, usize), before: Tick) -> u32 {
        let number = self.ports.routers[output.0 as usize].first_output as usize + output.1;
        let vcs = 0..self.rules.vcs;
        vcs.map(|vc| self.queued(number, vc, (before, before.saturating_sub(1)))).sum()
    }

    #[inline]
    fn next_event(&self, number: u32) -> Tick {
        let router = &self.ports.routers[number as usize];
        let first = router.first_output as usize;
        let due = &self.state.due[first..first + usize::from(router.outputs)];
        let heads = &self.state.wake[self.inputs_of(router)];
        let least = |times: &[Tick]| times.iter().fold(NEVER, |least, &time| least.min(time));
        least(due).min(least(heads)).min(self.state.decide_at[number as usize])
    }

    fn visit(part: &mut Part<'_, Self>, router: u32) -> Tick {
        part.visit(router)
    }

    fn run(&mut self, common: &mut Common<'_>, router: u32, until: Tick) -> Tick {
        self.visit(common, router, until)
    }

    fn inject(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        channel: (u32, u32),
        now: Tick,
        ahead: bool,
    ) -> Option<Tick> {
        self.inject_first(common, hosts, channel, now, ahead)
    }

    fn swap_outgoing(&mut self, to: usize, empty: &mut CioqMessages) {
        std::mem::swap(&mut self.outgoing[to], empty);
    }

    fn take_incoming(&mut self, common: &mut Common<'_>, incoming: &mut CioqMessages) {
        for BetweenParts { router, input, vc, packet } in incoming.packets.drain(..) {
            let slot = common.packets.take_in(&packet);
            self.put(common, router, (input, vc), slot);
        }
        for (place, credits) in incoming.credits.drain(..) {
            self.take_credits(common, place, credits);
        }
    }

    fn rebase(&mut self, by: Tick) {
        let State { wake, inputs, due, outputs, vcs, credits, decide_at, .. } = &mut self.state;
        move_back(wake.iter_mut().chain(due).chain(decide_at), by);
        for input in inputs {
            move_back([&mut input.crosses_until, &mut input.again], by);
        }
        move_back(outputs.iter_mut().map(|output| &mut output.free_at), by);
        for vc in vcs {
            vc.crosses_until = rebased(vc.crosses_until, by);
            move_back(vc.packets.iter_mut().map(|queued| &mut queued.ready), by);
            vc.room.rebase(by);
        }
        credits.iter_mut().for_each(|credits| credits.rebase(by));
    }

    fn latest_arrival(&self, common: &Common<'_>) -> Picoseconds {
        let packets = &common.packets.packets;
        let arrived = self.state.inputs.iter().flat_map(|input| chain(packets, input.first));
        let behind = self.state.vcs.iter().flat_map(|vc| &vc.packets).map(|it| it.slot);
        let ready = arrived.chain(behind).map(|slot| common.time(packets[slot as usize].ready));
        ready.max().unwrap_or(Picoseconds::ZERO)
    }

    fn memory(&self) -> usize {
        let state = &self.state;
        let arrays =
            bytes_of!(state; wake, inputs, due, outputs, vcs, credits, decide_at, next_output);
        self.ports.memory() + arrays + state.hop_times.memory()
    }

    fn counts_stalls(&self) -> bool {
        false
    }

    fn room_due(&self, place: u32) -> u32 {
        self.state.credits[place as usize].due()
    }

    fn output_free_at(&self, output: u32) -> Tick {
        self.state.outputs[output as usize].free_at
    }

    fn saved(&self) -> impl Serialize + '_ {
        (&self.ports, &self.state)
    }

    fn restore(&mut self, (ports, state): Self::Saved) -> bool {
        let memory = self.memory();
        (self.ports, self.state) = (ports, state);
        // The arrays of another network have other sizes.
        self.memory() == memory
    }
}

impl Injector for CioqRouters {
    fn has_room(&mut self, place: u32, flits: u16, now: Tick) -> bool {
        self.state.credits[place as usize].has(flits.into(), now)
    }

    fn foresee(&mut self, place: u32, flits: u16) -> Tick {
        self.state.credits[place as usize].foresee(flits.into())
    }

    fn take(&mut self, place: u32, flits: u16) {
        self.state.credits[place as usize].take(flits.into());
    }

    fn put(&mut self, common: &mut Common<'_>, router: u32, (port, vc): (u16, u8), slot: u32) {
        let first = self.ports.routers[router as usize].first_input;
        let input_vc = ((first + u32::from(port)) << self.rules.shift) + u32::from(vc);
        self.join(common, router, input_vc, slot);
    }
}

/// No scenario with such routers lets anything fail during operation.
impl Fail for CioqRouters {
    fn fail_output(&mut self, _: &mut Common<'_>, _router: u32, _output: u32, _: Picoseconds) {
        unreachable!("nothing fails");
    }

    fn choose_again(&mut self, _: &mut Common<'_>, _router: u32, _: Picoseconds) {
        unreachable!("nothing fails");
    }

    fn leave_ring(&mut self, _router: u32, _output: u32) {
        unreachable!("nothing fails");
    }

    fn end_ring(&mut self, _router: u32, _input: u32) {
        unreachable!("nothing fails");
    }

    fn fail_router(&mut self, _: &mut Common<'_>, _router: u32) {
        unreachable!("nothing fails");
    }
}
