//! The second model of routers: links are shared flit by flit (docs/model.md, "Links shared flit by flit").
//!
//! Terminals, packets, ways and the frame are those of the first model ([`Part`](super::part::Part)); what it has
//! besides is here. A flit is nothing but the time at which it is there: those of a queue follow each other in a ring of
//! times, and which packet they belong to follows from the packets' order. A credit is likewise the time at which it is
//! back.
//!
//! What a visit sends goes straight into the queues and virtual channels of other routers of the part, as times that are not before
//! the window's end: whoever is visited later in the same window does not see them.
//!
//! A packet **contends** while it has a virtual channel: then it is known when its next flit asks for the switch, as far
//! as its ports are free. For each other queue a router keeps the time before which nothing can come of it. A visit goes
//! from the least of these times to the next, and lets all queues that are due then take part in the allocations of that
//! instant. What a queue waits for is known by then, or has it looked at again when it comes.
//!
//! | module | what it is for |
//! |---|---|
//! | `flit_queue` | an input port's queue of flits |
//! | `output_vc` | a virtual channel at the output that feeds it: who holds it, its credits |
//! | `time_rings` | rings of times, which both are made of |
//! | `router_view` | a router taken in hand for a window |
//! | `wake_times` | before when nothing can come of queues that don't contend |
//! | `active_vc` | packets that contend; the next instant at which they do |
//! | `uncontended` | packets that share neither their input port nor their output |
//! | `switch_traversal` | flits that ask for the switch, and what those that win it bring about |
//! | `routing` | which virtual channels a packet may take, and which of them are open |
//! | `relation` | the same where packets choose by a relation |
//! | `allocation` | who gets a virtual channel, who gets the switch |
//! | `priority` | virtual channels in turn by their weights, some before others |
//! | `injection` | terminals' injection channels |
//! | `prefetch` | memory fetched ahead |
//! | `arrivals` | flits and credits that come to a router |
//! | `failure` | channels and routers that fail |
//! | `deadlock` | queues that wait for each other |
//! | `stalls` | how long packets waited for each output, and why |

mod active_vc;
mod allocation;
mod arrivals;
mod deadlock;
mod failure;
mod flit_queue;
mod injection;
mod output_vc;
mod prefetch;
mod priority;
mod relation;
mod router_view;
mod routing;
mod stalls;
mod switch_traversal;
mod time_rings;
mod uncontended;
mod wake_times;

pub(super) use arrivals::{FlitCrossing, PacketCrossing};

use serde::{Deserialize, Serialize};

use super::ChannelKind;
use super::network_context::NetworkContext;
use super::ports::Ports;
use super::tick::{Tick, rebased};
use crate::narrow::narrow;
use active_vc::{ActiveVc, SwitchRequest};
use flit_queue::{FlitQueue, Upstream};
use flitlab_model::{Arbitration, FlitSharing, Parameters, Switching};
use injection::SourceVc;
use output_vc::OutputVc;
use priority::Priority;
use stalls::Waits;
use switch_traversal::Pace;
use time_rings::Times;
use wake_times::WakeTimes;

/// An output, as far as flits take turns on it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FlitOutput {
    /// When it can be given another flit.
    soonest: Tick,
    /// When the last flit that it was given has left.
    pub line: Tick,
    /// The place of its lowest virtual channel.
    vcs: u32,
    /// The input virtual channel at its far end, in the lowest virtual channel, among those of the part, if it is of this part.
    far: u32,
    /// The input port at which the search for the next flit starts; by weights the virtual channel whose turn it is.
    pointer: u16,
    /// Flits left of that turn.
    turn: u8,
    /// Packets that have a virtual channel of it.
    senders: u16,
    /// Flits of these that have not won the switch.
    waiting: u32,
}

/// An input port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FlitInput {
    free_at: Tick,
    /// The queue among its own at which the search for the next flit starts.
    pointer: u16,
    /// The output at which its search among offers starts.
    accepts: u16,
    /// Packets of it that have a virtual channel; one more if stalls are counted, so that none is left alone.
    senders: u16,
}

/// Virtual channels that packets may take if nothing else says which, a bit each.
#[derive(Clone, Copy, Debug)]
struct TrafficVcs {
    all: u16,
    /// Those of each class of packets in rings with a dateline: the lower half, or the rest.
    classes: [u16; 2],
}

/// What never changes.
#[derive(Clone, Debug)]
struct FlitRules {
    sharing: FlitSharing,
    /// The latency of routing.
    routing: Tick,
    /// Whether packets wait for their last flit.
    forwards_whole: bool,
    arbitration: Arbitration,
    /// By timing of the network.
    paces: Vec<Pace>,
    /// The longest time of a flit on a crossbar to a network channel: after it packets ask again
    /// that have a choice.
    longest_crossbar: Tick,
    /// How long a credit is on its way, by timing of the network.
    back: Vec<Tick>,
    /// Virtual channels of a channel.
    vcs: u32,
    /// Virtual channels of data and requests; those of responses follow.
    data_vcs: u32,
    /// The virtual channels of both.
    kinds: [TrafficVcs; 2],
    /// Queues of an input port and virtual channel.
    outputs: u32,
    /// By how many bits an input port is shifted in an input virtual channel's number.
    shift: u32,
    /// Words of a set of a router's queues.
    words: usize,
    /// Whether a terminal's injection channel serves one queue only.
    one_kind: bool,
}

/// What a part's routers have besides their ports, if links are shared flit by flit.
#[derive(Debug)]
pub(super) struct FlitRouters {
    rules: FlitRules,
    pub state: FlitState,
    /// Queues that take part in an instant's allocations; kept for their memory.
    scratch: allocation::Scratch,
}

/// What changes of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FlitState {
    wake_times: WakeTimes,
    queues: Vec<FlitQueue>,
    /// By input virtual channel, if an input virtual channel has several queues: the one that its latest packet went to.
    current: Vec<u16>,
    /// By the place at which a channel's room is counted; those of ejection channels follow.
    vcs: Vec<OutputVc>,
    pub outputs: Vec<FlitOutput>,
    /// By output, if some virtual channels have a high priority: how those stand.
    priorities: Vec<Priority>,
    inputs: Vec<FlitInput>,
    /// By output: the queues whose packets ask for one of its virtual channels, a bit each.
    asking: Vec<u64>,
    /// By router: how many packets contend. By output, then virtual channel: these of each router, in any order.
    active_count: Vec<u16>,
    switch_requests: Vec<SwitchRequest>,
    active_vcs: Vec<ActiveVc>,
    times: Times,
    /// By injection channel, then virtual channel: source queues.
    sources: Vec<SourceVc>,
    /// By injection channel: the source queues that have begun a packet, a bit each.
    begun: Vec<u16>,
    /// What stalls are counted by, if they are.
    waits: Option<Box<Waits>>,
}

impl FlitRouters {
    /// Of a part in which nothing is under way; `None` if packets take links whole. Traffic has data, and reads.
    pub(super) fn new(
        context: &NetworkContext<'_>,
        part: usize,
        ports: &Ports,
        (_, reads): (bool, bool),
    ) -> Option<Self> {
        let parameters = &context.parameters;
        let sharing = parameters.sharing.clone()?;
        let vcs = narrow::<u32>(context.vc_map.count());
        let shift = ports.size.shift;
        let outputs_of = |router: &super::ports::RouterLayout| u32::from(router.outputs);
        let most_outputs = ports.routers.iter().map(outputs_of).max().unwrap_or(1);
        let outputs = if sharing.virtual_output_queues { most_outputs } else { 1 };
        let most_inputs = ports.routers.iter().map(|router| router.inputs).max().unwrap_or(0);
        let queues = (u32::from(most_inputs) << shift) * outputs;
        let by_source = context.routes_by_source();
        let split = reads && by_source;
        let data_vcs = if split { vcs / 2 } else { vcs };
        let paces: Vec<Pace> =
            context.timings().iter().map(|it| Pace::new(it, parameters, &sharing)).collect();
        let fabric = context.fabric;
        let wired = (0..fabric.channel_slots()).filter(|&it| fabric.target(it).is_some());
        let timing =
            |channel| context.network.timing(ChannelKind::Network, fabric.cable_class(channel));
        let crossbars = wired.map(|channel| paces[usize::from(timing(channel))].crossbar);
        let longest_crossbar = crossbars.max().unwrap_or(0);
        let rules = FlitRules {
            longest_crossbar,
            arbitration: parameters.arbitration,
            routing: context.routing,
            forwards_whole: parameters.switching == Switching::StoreAndForward,
            paces,
            back: context.timings().iter().map(|timing| timing.back).collect(),
            vcs,
            data_vcs,
            kinds: [TrafficVcs::new(0, data_vcs), TrafficVcs::new(data_vcs, vcs - data_vcs)],
            outputs,
            shift,
            words: (queues as usize).div_ceil(64).max(1),
            one_kind: by_source && !reads,
            sharing,
        };
        let state = FlitState::new(&rules, parameters, context, part, ports);
        let scratch = allocation::Scratch::new(most_inputs, narrow::<u16>(most_outputs), queues);
        Some(Self { rules, state, scratch })
    }

    /// Bytes for each queue and for each virtual channel of a channel, but for their rings of times.
    pub(super) const BYTES_PER_QUEUE: u64 = (size_of::<FlitQueue>() + size_of::<Tick>()) as u64;
    pub(super) const BYTES_PER_VC: u64 = (size_of::<OutputVc>()
        + size_of::<SwitchRequest>()
        + size_of::<ActiveVc>()
        + size_of::<SourceVc>()) as u64;

    pub(super) fn memory(&self) -> usize {
        let FlitState { wake_times, queues, current, vcs, outputs, inputs, .. } = &self.state;
        let FlitState {
            asking,
            active_count,
            switch_requests,
            active_vcs,
            times,
            sources,
            begun,
            waits,
            ..
        } = &self.state;
        wake_times.memory()
            + size_of_val(&**queues)
            + size_of_val(&**current)
            + size_of_val(&**vcs)
            + size_of_val(&**outputs)
            + size_of_val(&*self.state.priorities)
            + size_of_val(&**inputs)
            + size_of_val(&**asking)
            + size_of_val(&**active_count)
            + size_of_val(&**switch_requests)
            + size_of_val(&**active_vcs)
            + times.memory()
            + size_of_val(&**sources)
            + size_of_val(&**begun)
            + waits.as_ref().map_or(0, |waits| waits.memory())
    }

    /// Goes on with such a state; false if it is another network's.
    pub(super) fn restore(&mut self, state: FlitState) -> bool {
        let fits = state.wake_times.queues() == self.state.wake_times.queues()
            && state.vcs.len() == self.state.vcs.len()
            && state.sources.len() == self.state.sources.len()
            && state.priorities.len() == self.state.priorities.len()
            && state.waits.is_some() == self.state.waits.is_some();
        self.state = state;
        fits
    }
}

impl FlitState {
    fn new(
        rules: &FlitRules,
        parameters: &Parameters,
        context: &NetworkContext<'_>,
        part: usize,
        ports: &Ports,
    ) -> Self {
        let mut times = Times::default();
        let rooms = ports.rooms(context).into_iter();
        let mut vcs: Vec<OutputVc> = rooms.map(|room| OutputVc::new(room, &mut times)).collect();
        let mut outputs = Vec::with_capacity(ports.outputs);
        for output in ports.outputs() {
            let first = if output.needs_room {
                output.room
            } else {
                let first = narrow::<u32>(vcs.len());
                vcs.extend((0..rules.vcs).map(|_| OutputVc::endless(&mut times)));
                first
            };
            let turn = rules.sharing.weight(0);
            let far = if output.is_wired() && output.far_part as usize == part {
                let router = &ports.routers[output.far_router as usize];
                (router.first_input << rules.shift) + u32::from(output.far_input_vc)
            } else {
                0
            };
            outputs.push(FlitOutput {
                soonest: 0,
                line: 0,
                vcs: first,
                far,
                pointer: 0,
                turn,
                senders: 0,
                waiting: 0,
            });
        }
        let inputs: usize = ports.routers.iter().map(|router| usize::from(router.inputs)).sum();
        let mut queues = Vec::new();
        for router in &ports.routers {
            for input in 0..router.inputs {
                let injects = input >= router.transit;
                let room = if injects { parameters.injection_buffer } else { parameters.buffer };
                let input_port = ports.input(router.first_input + u32::from(input));
                for input_vc in 0..1 << rules.shift {
                    let used = if input_vc < rules.vcs { room } else { 0 };
                    let place = (input, narrow::<u8>(input_vc));
                    let upstream = Upstream::new(input_port, input_vc);
                    let first = input_vc * rules.outputs;
                    let queue = |number| {
                        let place = (place.0, place.1, narrow::<u16>(first + number));
                        FlitQueue::new(place, upstream, used, &mut times)
                    };
                    queues.extend((0..rules.outputs).map(queue));
                }
            }
        }
        let injections = context.injections_of_part(part);
        let counts = rules.sharing.stall_times;
        let waits = || Box::new(Waits::new(queues.len(), outputs.len(), ports.routers.len()));
        let senders = u16::from(counts);
        Self {
            waits: counts.then(waits),
            wake_times: WakeTimes::new(
                ports.routers.len(),
                inputs,
                (rules.outputs << rules.shift) as usize,
            ),
            current: if rules.outputs > 1 { vec![0; inputs << rules.shift] } else { Vec::new() },
            queues,
            vcs,
            asking: vec![0; outputs.len() * rules.words],
            active_count: vec![0; ports.routers.len()],
            priorities: if rules.sharing.high_priority.is_empty() {
                Vec::new()
            } else {
                vec![Priority::new(&rules.sharing); outputs.len()]
            },
            switch_requests: vec![SwitchRequest::NONE; outputs.len() * rules.vcs as usize],
            active_vcs: vec![ActiveVc::NONE; outputs.len() * rules.vcs as usize],
            outputs,
            inputs: vec![FlitInput { free_at: 0, pointer: 0, accepts: 0, senders }; inputs],
            times,
            sources: vec![SourceVc::default(); injections * rules.vcs as usize],
            begun: vec![0; injections],
        }
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        let move_back = |tick: &mut Tick| *tick = rebased(*tick, by);
        self.wake_times.rebase(by);
        self.queues.iter_mut().for_each(|queue| queue.rebase(by));
        self.vcs.iter_mut().for_each(|vc| vc.rebase(by));
        for output in &mut self.outputs {
            move_back(&mut output.soonest);
            move_back(&mut output.line);
        }
        self.inputs.iter_mut().for_each(|input| move_back(&mut input.free_at));
        self.switch_requests.iter_mut().for_each(|request| move_back(&mut request.next));
        self.active_vcs.iter_mut().for_each(|active_vc| active_vc.rebase(by));
        self.times.rebase(by);
        if let Some(waits) = &mut self.waits {
            waits.rebase(by);
        }
    }
}

impl FlitRules {
    /// When a packet asks for a virtual channel whose awaited flit came at a time, and that is at the head from
    /// `free_at` on.
    #[inline(always)]
    fn asks(&self, came: Tick, free_at: Tick) -> Tick {
        if self.sharing.routing_at_head {
            came.max(free_at) + self.routing
        } else {
            (came + self.routing).max(free_at)
        }
    }

    /// When such a packet is looked at whose first flit comes at `first`, and its latest at `latest`: when it asks, or if
    /// that is another flit's matter, when it can be found out.
    #[inline(always)]
    fn asks_from(&self, first: Tick, latest: Tick, free_at: Tick) -> Tick {
        if self.forwards_whole { first.max(latest).max(free_at) } else { self.asks(first, free_at) }
    }

    /// The virtual channels of the kind of packet that is in a virtual channel.
    #[inline(always)]
    fn kind(&self, vc: u8) -> &TrafficVcs {
        &self.kinds[usize::from(u32::from(vc) >= self.data_vcs)]
    }
}

impl TrafficVcs {
    /// Of packets that may take so many virtual channels from one on.
    fn new(first: u32, count: u32) -> Self {
        let bits = |count: u32| narrow::<u16>(((1u32 << count) - 1) << first);
        let (all, lower) = (bits(count), bits(count / 2));
        Self { all, classes: [lower, all & !lower] }
    }
}

/// A place in a cyclic order from a pointer on, as a number that grows along it: places before the pointer are behind all
/// others.
#[inline(always)]
fn turn(place: u32, pointer: u16) -> u32 {
    place.wrapping_sub(pointer.into())
}

/// The first bit of a set in cyclic order from a pointer on.
#[inline(always)]
fn first_from(set: u16, pointer: u32) -> Option<u32> {
    let from_pointer = if pointer < u16::BITS { set & (u16::MAX << pointer) } else { 0 };
    let first = if from_pointer != 0 { from_pointer } else { set };
    (first != 0).then(|| first.trailing_zeros())
}
