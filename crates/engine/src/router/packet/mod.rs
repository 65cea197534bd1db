//! Routers that grant an output to a whole packet: the state of a part's routers, and what the part
//! asks of them.

pub(crate) mod allocation;
pub(crate) mod cell;
pub(crate) mod choice;
mod choice_by_relation;
pub(crate) mod choices;
pub(crate) mod collective;
pub(crate) mod credits;
mod features;
pub(crate) mod inlets;
mod lifetime;
pub(crate) mod link;
mod prefetch;
pub(crate) mod responder_resources;
pub(crate) mod stalls;
mod vector;
pub(crate) mod visit;
pub(crate) mod waits;

pub(crate) use features::Features;
pub(crate) use visit::Visit;

use serde::Serialize;

use crate::common::Common;
use crate::frame::exchange::HasEarliest;
use crate::frame::tick::{NEVER, Tick, multiple_from};
use crate::host::Hosts;
use crate::network::context::NetworkContext;
use crate::network::port::{AWAY, Input, Output};
use crate::network::ports::{Ports, RouterLayout};
use crate::packet::chain;
use crate::packet::message::Queued;
use crate::part::Part;
use crate::router::between_parts::BetweenParts;
use crate::router::collective::units::ReductionUnits;
use crate::router::injector::Injector;
use crate::router::link::{LinkState, Links, Notice};
use crate::router::packet::cell::{Cells, Size, with_cells};
use crate::router::packet::choices::AdaptiveState;
use crate::router::packet::credits::{Credit, Credits};
use crate::router::packet::features::{Choosing, Every, FeatureSet, Plain};
use crate::router::packet::inlets::Inlets;
use crate::router::packet::lifetime::Lifetimes;
use crate::router::packet::responder_resources::ResponderResources;
#[cfg(target_arch = "x86_64")]
use crate::router::packet::vector::Avx2;
use crate::router::packet::vector::{Portable, Vector, has_avx2};
use crate::router::{Fail, Routers};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_model::ChannelKind;

/// Visits a router with these features, whose cells have one of these sizes, and calls a method.
macro_rules! visit {
    (
        ($Features:ty, $routers:expr, $common:expr, $number:expr),
        $method:ident($time:expr), $($Size:ident)+
    ) => {{
        let Self { cells, shared, .. } = $routers;
        match cells {
            $(Cells::$Size(cells) => {
                let cell = &mut cells[$number as usize];
                Visit::<_, $Features>::new(cell, shared, $common, $number).$method($time)
            })+
            #[allow(unreachable_patterns, reason = "some features have all sizes")]
            _ => unreachable!("no cells of this size are made for these features"),
        }
    }};
}

/// The routers of a part. Routers, channels and buffers have the part's own numbers.
pub(crate) struct PacketRouters {
    pub cells: Cells,
    pub shared: SharedState,
    features: FeatureSet,
    /// Whether the processor has AVX2.
    has_avx2: bool,
    /// The part's number, and the number of ejection channels of a terminal.
    part: u32,
    ejection_channels: u32,
}

/// The state that the routers of a part share.
pub(crate) struct SharedState {
    pub ports: Ports,
    pub size: Size,
    /// The part's first router and first output, by their numbers in the whole network.
    pub first_router: u32,
    pub first_channel: u32,
    pub inlets: Inlets,
    pub credits: Credits,
    /// The responses that adapters can still hold.
    pub responder_resources: ResponderResources,
    pub lifetimes: Lifetimes,
    /// The state for packets that choose among outputs.
    pub adaptive_state: AdaptiveState,
    /// The routers' reduction units; none without collective operations.
    pub reduction_units: ReductionUnits,
    /// The state of links that send again; empty unless links err.
    pub links: Links,
    /// The far ends of outputs in other parts.
    pub far_ends: Vec<FarEnd>,
    /// Places of credits whose senders are woken by a credit, and the time of its arrival.
    pub woken: Vec<(u32, Tick)>,
    /// By part: the messages for it.
    pub outgoing: Vec<PacketMessages>,
}

/// The input port at the far end of an output: its part, and its router's number there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarEnd {
    pub part: u32,
    pub router: u32,
    pub input: u16,
}

/// What the routers of one part send those of another.
#[derive(Debug, Default)]
pub(crate) struct PacketMessages {
    pub packets: Vec<BetweenParts>,
    pub notices: Vec<Notice>,
    /// Credits, with their places.
    pub credits: Vec<(u32, Credit)>,
}

impl HasEarliest for PacketMessages {
    fn earliest(&self) -> Tick {
        let packets = self.packets.iter().map(|crossing| crossing.packet.packet.ready);
        let credits = self.credits.iter().map(|credit| credit.1.time);
        let notices = self.notices.iter().map(|notice| notice.time);
        packets.chain(credits).chain(notices).min().unwrap_or(NEVER)
    }
}

impl Routers for PacketRouters {
    type Messages = PacketMessages;
    type Own = ();
    type Saved = (
        Cells,
        Inlets,
        (Credits, ResponderResources, Lifetimes),
        AdaptiveState,
        ReductionUnits,
        LinkState,
    );

    const QUEUES_AT_ONCE: bool = false;
    const HOSTS_GO_AHEAD: bool = true;

    fn new(common: &Common<'_>, mut ports: Ports, (): &()) -> Self {
        let context = &*common.context;
        let features = FeatureSet::new(context);
        let routers = ports.routers.len();
        let adaptive = matches!(features, FeatureSet::Choosing { .. });
        let has_all = matches!(features, FeatureSet::Every { .. });
        let least = match features {
            FeatureSet::Plain | FeatureSet::Every { .. } => 0,
            FeatureSet::Choosing { relates } => 1 + u32::from(relates),
        };
        let size = Size::new(ports.most, ports.shift.max(least));
        let on_large_torus = features == FeatureSet::Choosing { relates: false } && size.ports > 16;
        let sizes = ports.routers.iter().map(|router| Size {
            ports: usize::from(router.outputs.max(router.inputs)),
            buffers: usize::from(router.inputs) << size.shift,
            ..size
        });
        let sizes: Vec<Size> = sizes.collect();
        let (mut cells, size) = Cells::vacant(&sizes, size, has_all || on_large_torus);
        ports.shift = size.shift;
        let inlets = Inlets::new(routers, size);
        let mut far_ends = Vec::new();
        let mut far_end = |port: &Output| {
            if !port.is_wired() {
                return NONE;
            }
            if port.far_part as usize == common.schedule.part {
                return inlets.buffer(port.far_router, u32::from(port.far_input) << size.shift);
            }
            let (part, router) = (port.far_part, port.far_router);
            far_ends.push(FarEnd { part, router, input: port.far_input });
            AWAY | (narrow::<u32>(far_ends.len()) - 1)
        };
        with_cells!(&mut cells, cells => for (cell, router) in cells.iter_mut().zip(&ports.routers) {
            let mut ejections = 0;
            for output in 0..usize::from(router.outputs) {
                let port = ports.output_of(router, output);
                let mut far = far_end(port);
                if port.kind == ChannelKind::Ejection {
                    far = router.first_terminal + ejections / context.parameters.ejection_channels;
                    ejections += 1;
                }
                cell.set_output(output, port, far);
            }
            for input in 0..usize::from(router.inputs) {
                cell.set_input(input, ports.input_of(router, input));
            }
        });
        if let Some(interruption) = common.interruption {
            for (name, number) in (context.cut.first_router(common.schedule.part)..).zip(0..routers)
            {
                for (output, channel) in context.fabric.outputs(name).enumerate() {
                    if interruption.fails(channel) {
                        with_cells!(&mut cells, cells => cells[number].will_fail(output));
                    }
                }
            }
        }
        // The cells have all that was in them.
        (ports.output_ports, ports.input_ports) = (Vec::new(), Vec::new());
        let shared = SharedState {
            size,
            first_router: context.cut.first_router(common.schedule.part),
            first_channel: context.cut.first_output(common.schedule.part),
            inlets,
            credits: Credits::new(ports.rooms(context)),
            responder_resources: ResponderResources::new(context, common.schedule.part),
            lifetimes: Lifetimes::new(context, routers),
            adaptive_state: AdaptiveState::new(
                &common.routing,
                &ports,
                (size, context.vc_map.count()),
                adaptive || has_all,
            ),
            reduction_units: ReductionUnits::new(&context.trees, routers),
            links: Links::new(context, common.schedule.part, &ports),
            far_ends,
            woken: Vec::new(),
            outgoing: (0..context.cut.parts()).map(|_| PacketMessages::default()).collect(),
            ports,
        };
        let part = narrow(common.schedule.part);
        let ejection_channels = context.parameters.ejection_channels;
        Self { cells, shared, features, has_avx2: has_avx2(), part, ejection_channels }
    }

    fn ports(&self) -> &Ports {
        &self.shared.ports
    }

    fn output(&self, number: u32) -> Output {
        let (router, layout) = self.shared.ports.router_of_output(number);
        let output = (number - layout.first_output) as usize;
        let is_network = output < self.network_outputs(layout) as usize;
        let (port, far) =
            with_cells!(&self.cells, cells => cells[router as usize].output(output, is_network));
        if !is_network || far == NONE {
            return port;
        }
        let FarEnd { part: far_part, router: far_router, input: far_input } = self.far_end(far);
        Output { far_part, far_router, far_input, ..port }
    }

    fn input(&self, number: u32) -> Input {
        let (router, layout) = self.shared.ports.router_of_input(number);
        let input = (number - layout.first_input) as usize;
        let injects = input >= usize::from(layout.transit);
        with_cells!(&self.cells, cells => cells[router as usize].input(input, injects))
    }

    fn flits_out(
        &mut self,
        common: &mut Common<'_>,
        (router, output): (u32, usize),
        before: Tick,
    ) -> u32 {
        let first = with_cells!(&self.cells, cells => cells[router as usize].room[output]);
        let buffer = common.context.parameters.buffer;
        let vcs = 0..narrow::<u32>(common.context.vc_map.count());
        let credits = &mut self.shared.credits;
        let used = vcs.map(|vc| {
            // A credit that arrives at that time is not back before.
            before.checked_sub(1).into_iter().for_each(|last| credits.collect(first + vc, last));
            buffer - u32::from(credits.room[(first + vc) as usize])
        });
        used.sum()
    }

    #[inline]
    fn prefetch(&self, common: &Common<'_>, router: u32, stage: Stage) {
        match stage {
            // The addresses that the next stages need.
            Stage::Far => self.prefetch_cell(router),
            Stage::Near => self.prefetch_arrivals(common, router),
            Stage::Next | Stage::Last => (),
        }
    }

    #[inline(always)]
    fn next_event(&self, number: u32) -> Tick {
        let next =
            with_cells!(&self.cells, cells => cells[number as usize].least_due::<Portable>());
        if self.features == FeatureSet::Plain {
            return next;
        }
        let SharedState { adaptive_state, links, lifetimes, .. } = &self.shared;
        next.min(adaptive_state.decide_at[number as usize])
            .min(links.state.due[number as usize])
            .min(lifetimes.due(number))
    }

    #[inline(always)]
    fn has_arrivals(&self, number: u32) -> bool {
        self.shared.inlets.have_arrived(number)
    }

    #[inline(always)]
    fn visit(part: &mut Part<'_, Self>, router: u32) -> Tick {
        part.visit(router)
    }

    fn run(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            #[allow(unsafe_code, reason = "the processor has been asked")]
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { self.run_with_avx2(common, number, until) };
        }
        self.run_portably(common, number, until)
    }

    #[inline]
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

    #[inline(always)]
    fn send_at_once(
        &mut self,
        common: &mut Common<'_>,
        hosts: &mut Hosts,
        channel: (u32, u8),
        message: &Queued,
        now: Tick,
    ) -> bool {
        self.pass_queue(common, hosts, channel, message, now)
    }

    fn deliver(&mut self, common: &mut Common<'_>) {
        let mut woken = std::mem::take(&mut self.shared.woken);
        for (place, time) in woken.drain(..) {
            self.wake_sender(common, place, time);
        }
        self.shared.woken = woken;
        self.send_notices(common);
    }

    fn swap_outgoing(&mut self, to: usize, empty: &mut PacketMessages) {
        std::mem::swap(&mut self.shared.outgoing[to], empty);
    }

    fn take_incoming(&mut self, common: &mut Common<'_>, incoming: &mut PacketMessages) {
        for BetweenParts { router, input, vc, packet } in incoming.packets.drain(..) {
            let slot = common.packets.take_in(&packet);
            self.put(common, router, (input, vc), slot);
        }
        for notice in incoming.notices.drain(..) {
            self.take_notice(common, &notice);
        }
        for (place, credit) in incoming.credits.drain(..) {
            if self.shared.credits.send(place, credit, common.schedule.window.start) {
                self.wake_sender(common, place, credit.time);
            }
        }
    }

    fn rebase(&mut self, by: Tick) {
        self.cells.rebase(by);
        self.shared.credits.rebase(by);
        self.shared.responder_resources.rebase(by);
        self.shared.lifetimes.rebase(by);
        self.shared.adaptive_state.rebase(by);
        self.shared.reduction_units.rebase(by);
        self.shared.links.rebase(by);
    }

    /// For how long a head has waited.
    fn past_needed(context: &NetworkContext<'_>) -> Picoseconds {
        context.parameters.head_of_queue_lifetime.unwrap_or(Picoseconds::ZERO)
    }

    fn latest_arrival(&self, common: &Common<'_>) -> Picoseconds {
        if common.packets.count == 0 {
            return Picoseconds::ZERO;
        }
        let packets = &common.packets.packets;
        let slots = self.all_heads().flat_map(|head| chain(packets, head));
        let ready = slots.map(|slot| common.time(packets[slot as usize].ready));
        ready.max().unwrap_or(Picoseconds::ZERO)
    }

    fn memory(&self) -> usize {
        let shared = &self.shared;
        self.cells.memory()
            + shared.ports.memory()
            + shared.inlets.memory()
            + shared.credits.memory()
            + shared.responder_resources.memory()
            + shared.lifetimes.memory()
            + shared.adaptive_state.memory()
            + shared.reduction_units.memory()
            + shared.links.memory()
    }

    fn settle_stalls(&mut self, common: &mut Common<'_>, now: Tick) {
        let Self { cells, shared, .. } = self;
        with_cells!(cells, cells => for (number, cell) in (0..).zip(cells) {
            Visit::<_, Plain<Portable>>::new(cell, shared, common, number).settle_stalls(now);
        });
    }

    fn room_due(&self, place: u32) -> u32 {
        self.shared.credits.due(place)
    }

    fn flits_kept(&self, output: u32, vc: u8) -> u32 {
        self.shared.links.channel(output).map_or(0, |channel| channel.flits_kept(vc))
    }

    fn output_free_at(&self, output: u32) -> Tick {
        let (router, layout) = self.shared.ports.router_of_output(output);
        let own = (output - layout.first_output) as usize;
        match with_cells!(&self.cells, cells => cells[router as usize].free_at[own]) {
            // An output that is held for a packet of a collective operation sends nothing.
            NEVER => self.shared.links.line_free(output),
            free_at => free_at,
        }
    }

    // A router's outputs are next to each other: none has to be looked up.
    fn outputs_free_at(&self) -> Vec<Tick> {
        let routers = &self.shared.ports.routers;
        let mut times = Vec::with_capacity(self.shared.ports.outputs);
        with_cells!(&self.cells, cells => {
            for (cell, layout) in cells.iter().zip(routers) {
                times.extend((0..usize::from(layout.outputs)).map(|own| cell.free_at[own]));
            }
        });
        let held = (0..).zip(&mut times).filter(|(_, time)| **time == NEVER);
        held.for_each(|(output, time)| *time = self.shared.links.line_free(output));
        times
    }

    fn flits_resent(&self, output: u32) -> Option<u64> {
        Some(self.shared.links.channel(output)?.flits_resent)
    }

    fn reset_statistics(&mut self) {
        self.shared.links.reset_statistics();
    }

    fn saved(&self) -> impl Serialize + '_ {
        let SharedState { inlets, credits, responder_resources, lifetimes, .. } = &self.shared;
        let SharedState { adaptive_state, reduction_units, links, .. } = &self.shared;
        let room = (credits, responder_resources, lifetimes);
        (&self.cells, inlets, room, adaptive_state, reduction_units, &links.state)
    }

    fn restore(&mut self, saved: Self::Saved) -> bool {
        let memory = self.memory();
        let shared = &mut self.shared;
        (self.cells, shared.inlets) = (saved.0, saved.1);
        (shared.credits, shared.responder_resources, shared.lifetimes) = saved.2;
        (shared.adaptive_state, shared.reduction_units) = (saved.3, saved.4);
        shared.links.state = saved.5;
        // The arrays of another network have other sizes.
        self.memory() == memory
    }
}

impl Injector for PacketRouters {
    #[inline(always)]
    fn has_room(&mut self, place: u32, flits: u16, now: Tick) -> bool {
        self.shared.credits.have_room(place, flits, now)
    }

    fn foresee(&mut self, place: u32, flits: u16) -> Tick {
        self.shared.credits.foresee(place, flits)
    }

    #[inline(always)]
    fn take(&mut self, place: u32, flits: u16) {
        self.shared.credits.room[place as usize] -= flits;
    }

    #[inline(always)]
    fn put(&mut self, common: &mut Common<'_>, router: u32, (port, vc): (u16, u8), slot: u32) {
        let buffer = (u32::from(port) << self.shared.size.shift) + u32::from(vc);
        self.join(common, router, buffer, slot);
    }

    fn respond(&mut self, common: &mut Common<'_>, terminal: u32, by: Tick, now: Tick) {
        self.give_back_resource(common, terminal, by, now);
    }
}

impl Fail for PacketRouters {
    fn fail_output(&mut self, common: &mut Common<'_>, router: u32, output: u32, at: Picoseconds) {
        let free_at = with_cells!(&mut self.cells, cells => {
            let cell = &mut cells[router as usize];
            cell.fail(output as usize);
            cell.free_at[output as usize]
        });
        // It may be granted now, whatever it waited for.
        let next = free_at.max(common.schedule.tick(at + Picoseconds(1)));
        self.lower(common, router, output, next);
    }

    fn choose_again(&mut self, common: &mut Common<'_>, router: u32, at: Picoseconds) {
        let from = common.schedule.tick(at + Picoseconds(1));
        match self.features {
            FeatureSet::Plain => {}
            FeatureSet::Choosing { relates: false } => visit!(
                (Choosing<Portable, false>, self, common, router), choose_again(from),
                EightTwo EightFour SixteenTwo SixteenFour Any
            ),
            FeatureSet::Choosing { relates: true } => visit!(
                (Choosing<Portable, true>, self, common, router), choose_again(from),
                EightFour SixteenFour ThirtyTwoFour SixtyFourFour Any
            ),
            FeatureSet::Every { relates: false } => {
                visit!((Every<false>, self, common, router), choose_again(from), Any);
            }
            FeatureSet::Every { relates: true } => {
                visit!((Every<true>, self, common, router), choose_again(from), Any);
            }
        }
        common.schedule.active.lower(router, from);
    }

    fn leave_ring(&mut self, router: u32, output: u32) {
        with_cells!(&mut self.cells, cells => cells[router as usize].leave_ring(output as usize));
    }

    fn end_ring(&mut self, router: u32, input: u32) {
        with_cells!(&mut self.cells, cells => cells[router as usize].end_ring(input as usize));
    }

    fn fail_router(&mut self, common: &mut Common<'_>, router: u32) {
        let inputs = u32::from(self.shared.ports.routers[router as usize].inputs);
        for buffer in 0..inputs << self.shared.size.shift {
            for slot in chain(&common.packets.packets, self.first_in(router, buffer)) {
                common.packets.origins[slot as usize].lose();
            }
        }
    }
}

impl PacketRouters {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    fn run_with_avx2(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        self.run_with::<Avx2>(common, number, until)
    }

    #[inline(never)]
    fn run_portably(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        self.run_with::<Portable>(common, number, until)
    }

    /// Visits a router with the features that it needs.
    #[inline(always)]
    fn run_with<V: Vector>(&mut self, common: &mut Common<'_>, number: u32, until: Tick) -> Tick {
        match self.features {
            FeatureSet::Plain => visit!(
                (Plain<V>, self, common, number), run(until),
                Eight EightTwo EightFour Sixteen SixteenTwo SixteenFour ThirtyTwoFour SixtyFourFour Any
            ),
            FeatureSet::Choosing { relates: false } => visit!(
                (Choosing<V, false>, self, common, number), run(until),
                EightTwo EightFour SixteenTwo SixteenFour Any
            ),
            FeatureSet::Choosing { relates: true } => visit!(
                (Choosing<V, true>, self, common, number), run(until),
                EightFour SixteenFour ThirtyTwoFour SixtyFourFour Any
            ),
            FeatureSet::Every { relates } => self.run_every(relates, common, number, until),
        }
    }

    /// Visits a router with all features, whose cells are of any size.
    #[inline(never)]
    fn run_every(
        &mut self,
        relates: bool,
        common: &mut Common<'_>,
        number: u32,
        until: Tick,
    ) -> Tick {
        if relates {
            visit!((Every<true>, self, common, number), run(until), Any)
        } else {
            visit!((Every<false>, self, common, number), run(until), Any)
        }
    }

    /// Puts a packet into a buffer of a router of this part.
    #[inline(always)]
    fn join(&mut self, common: &mut Common<'_>, router: u32, buffer: u32, slot: u32) {
        let SharedState { inlets, size, .. } = &mut self.shared;
        let packets = &mut common.packets.packets;
        let packet = &mut packets[slot as usize];
        packet.next = NONE;
        let (buffer, packet) = (inlets.buffer(router, buffer), (slot, packet.ready));
        inlets.join(packets, &mut common.schedule.active, buffer, packet, *size);
    }

    /// Makes an output of a router due by a time.
    fn lower(&mut self, common: &mut Common<'_>, router: u32, output: u32, time: Tick) {
        with_cells!(&mut self.cells, cells => {
            cells[router as usize].lower(output as usize, time);
        });
        common.schedule.active.lower(router, time);
    }

    /// Makes the output due that waits for credits at a place, at the time of their arrival.
    #[cold]
    fn wake_sender(&mut self, common: &mut Common<'_>, place: u32, time: Tick) {
        let vcs = common.context.vc_map.count();
        let (router, output) = self.shared.ports.senders[place as usize / vcs];
        let free_at = with_cells!(&self.cells, cells => {
            cells[router as usize].free_at[output as usize]
        });
        self.lower(common, router, output, time.max(free_at));
        if let Some(again) = common.routing.decides_again() {
            let next = multiple_from(time, again, common.schedule.epoch);
            let decide_at = &mut self.shared.adaptive_state.decide_at[router as usize];
            *decide_at = (*decide_at).min(next);
            common.schedule.active.lower(router, next);
        }
    }

    /// The first packet in a router's buffer, or under way to it; [`NONE`] if there is none.
    fn first_in(&self, router: u32, buffer: u32) -> u32 {
        let Inlets { inlets, arrived, words, .. } = &self.shared.inlets;
        let number = self.shared.inlets.buffer(router, buffer) as usize;
        let word = router as usize * words + buffer as usize / 64;
        if inlets[number].last == NONE {
            NONE
        } else if arrived[word] >> (buffer % 64) & 1 == 1 {
            inlets[number].first
        } else {
            with_cells!(&self.cells, cells => cells[router as usize].head[buffer as usize])
        }
    }

    /// The first packets of all buffers.
    fn all_heads(&self) -> impl Iterator<Item = u32> {
        let routers = (0..).zip(&self.shared.ports.routers);
        let shift = self.shared.size.shift;
        routers.flat_map(move |(router, layout)| {
            let buffers = 0..u32::from(layout.inputs) << shift;
            buffers.map(move |buffer| self.first_in(router, buffer))
        })
    }

    /// The number of a router's network channels.
    fn network_outputs(&self, layout: &RouterLayout) -> u32 {
        u32::from(layout.outputs) - u32::from(layout.terminals) * self.ejection_channels
    }

    /// The input port at the far end of an output of a cell.
    fn far_end(&self, far: u32) -> FarEnd {
        match far & AWAY {
            0 => self.shared.inlets.far_end(self.part, far, self.shared.size),
            _ => self.shared.far_ends[(far & !AWAY) as usize],
        }
    }

    /// Delivers the notices of visits to other routers.
    fn send_notices(&mut self, common: &mut Common<'_>) {
        let mut notices = std::mem::take(&mut self.shared.links.notices);
        for notice in notices.drain(..) {
            if notice.to.part as usize == common.schedule.part {
                self.take_notice(common, &notice);
            } else {
                self.shared.outgoing[notice.to.part as usize].notices.push(notice);
            }
        }
        self.shared.links.notices = notices;
    }

    /// Takes in a notice for a router of this part.
    fn take_notice(&mut self, common: &mut Common<'_>, notice: &Notice) {
        let router = notice.to.router;
        let first_output = self.shared.ports.routers[router as usize].first_output;
        self.shared.links.take_in(first_output, notice);
        common.schedule.active.lower(router, notice.time);
    }
}
