//! The flit-by-flit router: packets share links flit by flit (docs/model.md, "Links shared flit by
//! flit").
//!
//! A flit is represented by the time of its arrival. The flits of a queue form a ring of times, and
//! the order of packets says which packet a flit belongs to. A credit is represented by the time of
//! its return.
//!
//! A visit puts what it sends into the queues and virtual channels of other routers of the part at
//! once. All these times lie after the window's end, so routers that are visited later in the
//! window do not see them.
//!
//! The states and stages are those of Dally and Towles (\[dally-towles\], chapter 16): routing
//! computation, virtual-channel allocation, switch allocation, switch traversal.
//!
//! The head packet of a queue goes through the states of [`VcState`](states::VcState). While it
//! is **active**, it holds a virtual channel of an output. Then the time of its next flit's switch
//! request is known, as far as its ports are free. For all other queues a router keeps wake times:
//! times before which they cannot progress. A visit goes from the earliest of these times to the
//! next. All queues that are due take part in the allocations of that instant. Whatever a queue
//! waits for is known by then, or makes the queue due when it comes.
//!
//! | module | what it is for |
//! |---|---|
//! | `states` | the states of a head: idle, routing, virtual-channel allocation, active |
//! | `flit_queue` | an input port's queue of flits, and the state of its head |
//! | `credits` | a virtual channel at the output that feeds it: its holder, its credits |
//! | `time_rings` | rings of times, of which both are made |
//! | `router_view` | a router borrowed for a visit: the loop over instants |
//! | `route_computation` | route computation, and requests for virtual channels |
//! | `relation` | route computation by a routing relation |
//! | `vc_allocation` | virtual-channel allocation |
//! | `switch_allocation` | switch allocation: flits that ask for the switch |
//! | `active_vc` | packets that hold a virtual channel, and their switch requests |
//! | `switch_traversal` | switch traversal: flits that are granted the switch, and the effects |
//! | `round_trips` | how long credits are away, and credits that are held back by it |
//! | `uncontended` | active virtual channels that are left alone, and catch up in one go |
//! | `wake_times` | the earliest time at which each inactive queue may progress |
//! | `collective` | packets that are combined and replicated along trees |
//! | `injection` | terminals' injection channels |
//! | `arrivals` | flits and credits that come to a router |
//! | `scratch` | lists of an instant, kept to reuse their memory |
//! | `prefetch` | memory fetched ahead |
//! | `link` | links that err, and send again |
//! | `failure` | channels and routers that fail |
//! | `deadlock` | queues that wait for each other |
//! | `stalls` | times for which packets waited for each output, by reason |

mod active_vc;
mod arrivals;
mod collective;
mod credits;
mod deadlock;
mod failure;
mod flit_queue;
mod injection;
mod link;
mod prefetch;
mod relation;
mod round_trips;
mod route_computation;
mod router_view;
mod scratch;
mod stalls;
mod states;
mod switch_allocation;
mod switch_traversal;
#[cfg(test)]
mod tests;
mod time_rings;
mod uncontended;
mod vc_allocation;
mod wake_times;

pub(crate) use flit_queue::FlitQueue;

use serde::{Deserialize, Serialize};

use crate::arbitration::{InputTurn, OutputTurn, Priority, first_from, turn};
use crate::bytes::bytes_of;
use crate::common::Common;
use crate::frame::tick::{NEVER, Tick, rebased};
use crate::host::Hosts;
use crate::network::context::NetworkContext;
use crate::network::demands;
use crate::network::ports::Ports;
use crate::next_hop::{HopTimes, Routing};
use crate::part::Part;
use crate::router::Routers;
use crate::router::collective::units::ReductionUnits;
use crate::router::link::{LinkState, Links};
use arrivals::FlitMessages;
use credits::OutputVc;
use flit_queue::Upstream;
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::{Arbitration, ChannelKind, FlitSharing, Parameters, Switching};
use injection::SourceVc;
use round_trips::RoundTrips;
use stalls::Waits;
use switch_traversal::Pace;
use time_rings::Times;
use wake_times::WakeTimes;

/// The state of an output that packets share flit by flit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FlitOutput {
    /// Time at which it can be given another flit.
    soonest: Tick,
    /// Time at which the last flit that it was given has left.
    pub line: Tick,
    /// The place of its virtual channel 0.
    vcs: u32,
    /// The input virtual channel at its far end, for virtual channel 0, by its number in the part,
    /// if it is of this part.
    far: u32,
    pub turn: OutputTurn,
    /// Number of packets that hold one of its virtual channels.
    senders: u16,
    /// Flits of these that have not been granted the switch.
    waiting: u32,
    /// The active virtual channels that send to it: a bit each of the router's first 64.
    active: u64,
}

impl FlitOutput {
    pub(crate) fn new(vcs: u32, far: u32, sharing: &FlitSharing) -> Self {
        let turn = OutputTurn::new(sharing);
        Self { soonest: 0, line: 0, vcs, far, turn, senders: 0, waiting: 0, active: 0 }
    }
}

/// The state of an input port.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlitInput {
    free_at: Tick,
    pub turn: InputTurn,
    /// Number of its packets that hold a virtual channel; one more if stalls are counted, so that
    /// none is uncontended.
    senders: u16,
    /// Its active virtual channels: a bit each of the router's first 64.
    active: u64,
}

/// The virtual channels of a kind of traffic, a bit each, which its packets may take if no other
/// rule decides.
#[derive(Clone, Copy, Debug)]
struct TrafficVcs {
    all: u16,
    /// By dateline class of packets in rings: the lower half, and the rest.
    classes: [u16; 2],
}

/// Parameters and sizes of all routers; they never change.
#[derive(Clone, Debug)]
struct FlitRules {
    sharing: FlitSharing,
    /// The routing latency.
    routing: Tick,
    /// Whether packets wait for their last flit.
    forwards_whole: bool,
    /// Flits of room that any packet needs to be granted a virtual channel; `None` if it needs
    /// room for its own flits.
    need: Option<u16>,
    arbitration: Arbitration,
    /// By index of the network's timings.
    paces: Vec<Pace>,
    /// The longest time of a flit on a crossbar to a network channel. Packets with a choice ask
    /// again after it.
    longest_crossbar: Tick,
    /// Number of virtual channels of a channel.
    vcs: u32,
    /// The first virtual channel of responses; those of data and requests are before it.
    first_of_responses: u32,
    /// Those of collective operations, a bit each; and all others.
    tree_vcs: u16,
    all_vcs: u16,
    /// The virtual channels of data and requests, and of responses.
    kinds: [TrafficVcs; 2],
    /// Number of queues of an input virtual channel.
    outputs: u32,
    /// Number of bits by which an input port is shifted in the number of an input virtual channel.
    shift: u32,
    /// Places for a router's active virtual channels.
    active_vcs: usize,
    /// Words of a set of a router's queues.
    words: usize,
    /// Whether an injection channel of a terminal serves one queue only.
    one_kind: bool,
}

/// The flit-by-flit routers of a part, besides their ports.
pub(crate) struct FlitRouters {
    ports: Ports,
    rules: FlitRules,
    state: FlitState,
    /// The links that send again; empty unless links err.
    links: Links,
    /// By part: the messages for it.
    outgoing: Vec<FlitMessages>,
    /// Lists for an instant's allocations; kept to reuse their memory.
    scratch: scratch::Scratch,
}

/// The fields that change, as a checkpoint saves them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlitState {
    wake_times: WakeTimes,
    queues: Vec<FlitQueue>,
    /// By input virtual channel, if each has several queues: the queue of its latest packet.
    current: Vec<u16>,
    /// By place of a channel's credits; those of ejection channels follow.
    vcs: Vec<OutputVc>,
    pub outputs: Vec<FlitOutput>,
    /// By output, if some virtual channels have a high priority: the state of their turns.
    priorities: Vec<Priority>,
    inputs: Vec<FlitInput>,
    /// By output: the queues whose packets ask for one of its virtual channels, a bit each.
    requests: Vec<u64>,
    /// By router: the number of its active virtual channels. The next two lists are of these, in
    /// any order.
    active_count: Vec<u16>,
    /// The times of their next switch requests; [`NEVER`] if a time is not known. For an
    /// uncontended one it is a time until which it needs no attention.
    request_times: Vec<Tick>,
    /// Their queues, by their numbers in the part.
    active_vcs: Vec<u32>,
    times: Times,
    /// By injection channel, then virtual channel: source queues.
    sources: Vec<SourceVc>,
    /// By injection channel: the source queues that have begun a packet, a bit each.
    begun: Vec<u16>,
    /// By output: the time at which its adaptive channel was granted last; empty if no packet asks
    /// for it.
    granted: Vec<Picoseconds>,
    /// When hops of a relation were taken last.
    hop_times: HopTimes,
    /// The state for stall times, if they are measured.
    waits: Option<Box<Waits>>,
    /// The routers' reduction units; none without collective operations.
    reduction_units: ReductionUnits,
    round_trips: RoundTrips,
}

impl FlitRouters {
    /// The routers of an idle part.
    fn idle(common: &Common<'_>, ports: Ports, sharing: FlitSharing) -> Self {
        let (context, part) = (&*common.context, common.schedule.part);
        // They have queues and credits of their own.
        let parameters = &context.parameters;
        let vcs = narrow::<u32>(context.vc_map.count());
        let shift = ports.shift;
        let most_outputs = ports.routers.iter().map(|router| router.outputs).max().unwrap_or(1);
        let outputs = if sharing.virtual_output_queues { most_outputs.into() } else { 1 };
        let most_inputs = ports.routers.iter().map(|router| router.inputs).max().unwrap_or(0);
        let queues = (u32::from(most_inputs) << shift) * outputs;
        let is_split = context.vc_map.is_split;
        let trees = &context.trees;
        let is_of_trees = |vc: &u32| *vc == u32::from(trees.up) || *vc == u32::from(trees.down);
        let (of_trees, others): (Vec<u32>, Vec<u32>) = (0..vcs).partition(is_of_trees);
        let of_data = if is_split { others.len() / 2 } else { others.len() };
        let (data, responses) = others.split_at(of_data);
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
            need: need_of_any(parameters),
            forwards_whole: parameters.switching == Switching::StoreAndForward,
            paces,
            vcs,
            first_of_responses: responses.first().copied().unwrap_or(vcs),
            tree_vcs: TrafficVcs::new(&of_trees).all,
            all_vcs: TrafficVcs::new(&others).all,
            kinds: [TrafficVcs::new(data), TrafficVcs::new(responses)],
            outputs,
            shift,
            active_vcs: (u32::from(most_outputs) * vcs) as usize,
            words: (queues as usize).div_ceil(64).max(1),
            one_kind: demands::is_by_source(context.routes) && !is_split && trees.is_empty(),
            sharing,
        };
        let state = FlitState::new(&rules, context, part, &ports, &common.routing);
        let scratch = scratch::Scratch::new(most_inputs, most_outputs, queues);
        let outgoing = (0..context.cut.parts()).map(|_| FlitMessages::default()).collect();
        let links = Links::new(context, part, &ports);
        Self { ports, rules, state, links, outgoing, scratch }
    }

    /// Bytes for each queue and for each virtual channel of a channel, without their rings of
    /// times.
    pub(crate) const BYTES_PER_QUEUE: u64 = (size_of::<FlitQueue>() + size_of::<Tick>()) as u64;
    pub(crate) const BYTES_PER_VC: u64 =
        (size_of::<OutputVc>() + size_of::<Tick>() + size_of::<u32>() + size_of::<SourceVc>())
            as u64;
}

impl Routers for FlitRouters {
    type Messages = FlitMessages;
    type Own = FlitSharing;
    type Saved = (Ports, FlitState, LinkState);

    const QUEUES_AT_ONCE: bool = true;

    fn new(common: &Common<'_>, ports: Ports, sharing: &FlitSharing) -> Self {
        Self::idle(common, ports, sharing.clone())
    }

    #[inline]
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn flits_out(
        &mut self,
        common: &mut Common<'_>,
        (router, output): (u32, usize),
        before: Tick,
    ) -> u32 {
        let mut view = self.borrow(common, router);
        view.advance_all(before);
        view.flits_out(output, before.saturating_sub(1))
    }

    #[inline]
    fn prefetch(&self, common: &Common<'_>, router: u32, stage: Stage) {
        self.prefetch_router(&common.packets, router, stage);
    }

    #[inline]
    fn next_event(&self, router: u32) -> Tick {
        self.due(router)
    }

    fn visit(part: &mut Part<'_, Self>, router: u32) -> Tick {
        part.visit(router)
    }

    fn run(&mut self, common: &mut Common<'_>, router: u32, until: Tick) -> Tick {
        let mut view = self.borrow(common, router);
        match view.state.waits {
            _ if view.common.context.parameters.errors.is_some() => view.run::<false, true>(until),
            None => view.run::<false, false>(until),
            Some(_) => view.run::<true, false>(until),
        }
    }

    fn inject(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        channel: (u32, u32),
        now: Tick,
        _ahead: bool,
    ) -> Option<Tick> {
        Some(self.inject_some(common, hosts, channel, now))
    }

    fn has_begun(&self, injection: u32) -> bool {
        self.state.begun[injection as usize] != 0
    }

    fn swap_outgoing(&mut self, to: usize, empty: &mut FlitMessages) {
        std::mem::swap(&mut self.outgoing[to], empty);
    }

    fn take_incoming(&mut self, common: &mut Common<'_>, incoming: &mut FlitMessages) {
        self.receive(common, incoming);
    }

    fn rebase(&mut self, by: Tick) {
        self.state.rebase(by);
        self.links.rebase(by);
    }

    /// A flit that has arrived asks a routing latency later, so its time of arrival is still
    /// needed.
    fn past_needed(context: &NetworkContext<'_>) -> Picoseconds {
        let routing = context.routing.into();
        RoundTrips::past_needed(context).max(routing)
    }

    fn latest_arrival(&self, common: &Common<'_>) -> Picoseconds {
        let queues = self.state.queues.iter().filter(|queue| !queue.flits.is_empty());
        let last = queues.map(|it| it.flits.at(it.flits.len() - 1, &self.state.times));
        last.map(|tick| common.time(tick)).max().unwrap_or(Picoseconds::ZERO)
    }

    /// Flits may be left here of a packet whose header is in another part.
    fn may_hold_flits(&self, _: &Common<'_>) -> bool {
        true
    }

    fn memory(&self) -> usize {
        let state = &self.state;
        bytes_of!(state; queues, current, vcs, outputs, granted, priorities, inputs, requests,
            active_count, request_times, active_vcs, sources, begun)
            + self.ports.memory()
            + state.wake_times.memory()
            + state.hop_times.memory()
            + state.times.memory()
            + state.waits.as_ref().map_or(0, |waits| waits.memory())
            + state.reduction_units.memory()
            + state.round_trips.memory()
            + self.links.memory()
    }

    fn settle_stalls(&mut self, common: &mut Common<'_>, now: Tick) {
        if self.counts_stalls() {
            for number in 0..narrow::<u32>(self.ports.routers.len()) {
                self.borrow(common, number).count_stalls(now);
            }
        }
    }

    fn counts_stalls(&self) -> bool {
        self.state.waits.is_some()
    }

    fn flits_kept(&self, output: u32, vc: u8) -> u32 {
        self.links.channel(output).map_or(0, |channel| channel.flits_missing(vc))
    }

    fn room_due(&self, place: u32) -> u32 {
        self.state.vcs[place as usize].due()
    }

    fn output_free_at(&self, output: u32) -> Tick {
        self.state.outputs[output as usize].line
    }

    fn flits_resent(&self, output: u32) -> Option<u64> {
        Some(self.links.channel(output)?.flits_resent)
    }

    fn reset_statistics(&mut self) {
        self.links.reset_statistics();
    }

    fn saved(&self) -> impl Serialize + '_ {
        (&self.ports, &self.state, &self.links.state)
    }

    fn restore(&mut self, (ports, state, links): Self::Saved) -> bool {
        let fits = ports.outputs == self.ports.outputs
            && state.wake_times.queues() == self.state.wake_times.queues()
            && state.vcs.len() == self.state.vcs.len()
            && state.sources.len() == self.state.sources.len()
            && state.priorities.len() == self.state.priorities.len()
            && state.waits.is_some() == self.state.waits.is_some()
            && links.channels.len() == self.links.state.channels.len();
        (self.ports, self.state, self.links.state) = (ports, state, links);
        fits
    }
}

impl FlitState {
    fn new(
        rules: &FlitRules,
        context: &NetworkContext<'_>,
        part: usize,
        ports: &Ports,
        routing: &Routing<'_>,
    ) -> Self {
        let parameters = &context.parameters;
        let mut times = Times::default();
        let rooms = ports.rooms(context).into_iter();
        let mut vcs: Vec<OutputVc> = rooms.map(|room| OutputVc::new(room, &mut times)).collect();
        let mut outputs = Vec::with_capacity(ports.outputs);
        for output in &ports.output_ports {
            let first = if output.needs_room {
                output.room
            } else {
                let first = narrow::<u32>(vcs.len());
                vcs.extend((0..rules.vcs).map(|_| OutputVc::endless(&mut times)));
                first
            };
            let far = if output.is_wired() && output.far_part as usize == part {
                let router = &ports.routers[output.far_router as usize];
                (router.first_input + u32::from(output.far_input)) << rules.shift
            } else {
                0
            };
            outputs.push(FlitOutput::new(first, far, &rules.sharing));
        }
        let inputs: usize = ports.routers.iter().map(|router| usize::from(router.inputs)).sum();
        let mut queues = Vec::new();
        for router in &ports.routers {
            for input in 0..router.inputs {
                let number = router.first_input + u32::from(input);
                let input_port = ports.input(number);
                let back = context.timing(input_port.timing).back;
                for input_vc in 0..1 << rules.shift {
                    let of_port = match router.port_of_unit(input) {
                        _ if input_vc >= rules.vcs => 0,
                        None if input_port.injects => parameters.injection_buffer,
                        None => parameters.buffer,
                        Some(port) => rules.room_of_unit(context, port, input_vc),
                    };
                    let place = (input, narrow::<u8>(input_vc));
                    let upstream = Upstream::new(input_port, input_vc, back);
                    let first = input_vc * rules.outputs;
                    let queue = |of_vc| {
                        let place = (place.0, place.1, narrow::<u16>(first + of_vc));
                        // Packets of collective operations are in the first one.
                        let used = of_vc == 0 || !rules.is_of_trees(place.1);
                        let room = if used { of_port } else { 0 };
                        FlitQueue::new(place, (number, upstream), room, &mut times)
                    };
                    queues.extend((0..rules.outputs).map(queue));
                }
            }
        }
        let injections = context.injections_of_part(part);
        let counts = rules.sharing.stall_times;
        let waits = || Box::new(Waits::new(queues.len(), outputs.len(), ports.routers.len()));
        let senders = u16::from(counts);
        let active_vcs = ports.routers.len() * rules.active_vcs;
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
            requests: vec![0; outputs.len() * rules.words],
            active_count: vec![0; ports.routers.len()],
            priorities: Priority::of_outputs(&rules.sharing, outputs.len()),
            request_times: vec![NEVER; active_vcs],
            active_vcs: vec![NONE; active_vcs],
            outputs,
            inputs: vec![FlitInput { senders, ..FlitInput::default() }; inputs],
            times,
            sources: vec![SourceVc::default(); injections * rules.vcs as usize],
            begun: vec![0; injections],
            granted: routing.grant_times(ports.outputs),
            hop_times: HopTimes::new(routing, ports.outputs, rules.vcs as usize),
            reduction_units: ReductionUnits::new(&context.trees, ports.routers.len()),
            round_trips: RoundTrips::new(context, part, ports.senders.len()),
        }
    }

    pub(crate) fn rebase(&mut self, by: Tick) {
        let move_back = |tick: &mut Tick| *tick = rebased(*tick, by);
        self.wake_times.rebase(by);
        for queue in &mut self.queues {
            move_back(&mut queue.again);
            move_back(&mut queue.free_at);
        }
        self.vcs.iter_mut().for_each(|vc| move_back(&mut vc.free_at));
        for output in &mut self.outputs {
            move_back(&mut output.soonest);
            move_back(&mut output.line);
        }
        self.inputs.iter_mut().for_each(|input| move_back(&mut input.free_at));
        self.request_times.iter_mut().for_each(move_back);
        self.times.rebase(by);
        if let Some(waits) = &mut self.waits {
            waits.rebase(by);
        }
        self.reduction_units.rebase(by);
        self.round_trips.rebase(by);
    }
}

/// Flits of room that any packet needs to be granted a virtual channel: the whole buffer if
/// allocation is atomic, none for worms otherwise. `None` if it needs room for its own flits.
fn need_of_any(parameters: &Parameters) -> Option<u16> {
    let atomic = parameters.kind.is_atomic();
    let wormhole = parameters.switching == Switching::Wormhole;
    if atomic { Some(narrow(parameters.buffer)) } else { wormhole.then_some(0) }
}

impl FlitRules {
    /// The time at which a packet asks for a virtual channel. Its awaited flit came at `came`, and
    /// it is at the head from `free_at` on.
    #[inline(always)]
    fn asks(&self, came: Tick, free_at: Tick) -> Tick {
        if self.sharing.routing_at_head {
            came.max(free_at) + self.routing
        } else {
            (came + self.routing).max(free_at)
        }
    }

    /// The wake time of a packet whose first flit comes at `first`, and its latest at `latest`: the
    /// time at which it asks, or, if another flit decides that, the time at which it can be
    /// computed.
    #[inline(always)]
    fn asks_from(&self, first: Tick, latest: Tick, free_at: Tick, vc: u8) -> Tick {
        if self.awaits_all(vc) { first.max(latest).max(free_at) } else { self.asks(first, free_at) }
    }

    /// Whether a packet that came in a virtual channel may wait for its last flit.
    #[inline(always)]
    fn awaits_all(&self, vc: u8) -> bool {
        self.forwards_whole || self.is_of_trees(vc)
    }

    /// Whether only packets of collective operations take a virtual channel.
    #[inline(always)]
    fn is_of_trees(&self, vc: u8) -> bool {
        self.tree_vcs >> vc & 1 == 1
    }

    /// Flits of room that a packet needs beyond an output.
    #[inline(always)]
    fn needed(&self, flits: u16, bubble: u16) -> u16 {
        self.need.unwrap_or(flits + bubble)
    }

    /// The kind of traffic that uses a virtual channel.
    #[inline(always)]
    fn kind(&self, vc: u8) -> &TrafficVcs {
        &self.kinds[usize::from(u32::from(vc) >= self.first_of_responses)]
    }
}

impl TrafficVcs {
    /// Of these virtual channels, in order.
    fn new(vcs: &[u32]) -> Self {
        let set = |vcs: &[u32]| vcs.iter().fold(0, |set, vc| set | 1 << vc);
        let (lower, upper) = vcs.split_at(vcs.len() / 2);
        Self { all: set(vcs), classes: [set(lower), set(upper)] }
    }
}
