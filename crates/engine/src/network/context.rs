//! The network, its routes and parameters: what does not change during a simulation and is the same
//! for all parts.
//!
//! The [`Engine`](crate::Engine) makes one [`NetworkContext`]; all parts share it.

use std::ops::Range;
use std::sync::Arc;

use crate::by_class::ByClass;
use crate::frame::tick::Tick;
use crate::interruption::Interruption;
use crate::network::cut::Cut;
use crate::network::demands;
use crate::network::far_queues::FarQueues;
use crate::network::trees::Trees;
use crate::network::vc_map::VcMap;
use crate::network::{ChannelTiming, End, Network};
use crate::packet::{Packet, last_start};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, NONE};
use flitlab_model::workload::{HostOverheads, Workload};
use flitlab_model::{ChannelKind, Parameters, Switching};
use flitlab_routing::relation::{Hop, Ring, TERMINAL_CLASSES};
use flitlab_routing::{AdaptiveChannels, Routes};

/// Times of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Time for which a flit occupies it.
    pub flit: Tick,
    /// Time from a flit's start on the wire until it is at the far end.
    pub wire: Tick,
    /// Time from a flit's grant until it is there: that, the crossbar and its allocation.
    pub forward: Tick,
    /// Time from a release at the far end until the credits are back.
    pub back: Tick,
}

impl From<ChannelTiming> for Timing {
    fn from(ChannelTiming { flit_time, wire, forward, back }: ChannelTiming) -> Self {
        let [flit, wire, forward, back] = [flit_time, wire, forward, back].map(narrow);
        Self { flit, wire, forward, back }
    }
}

/// A network, its routes and its parameters.
#[derive(Clone, Debug)]
pub(crate) struct NetworkContext<'f> {
    pub fabric: &'f Fabric,
    pub routes: &'f Routes,
    /// The fabric for which the routes were made: what is left of it once new ones have been made
    /// after a failure.
    pub routed: &'f Fabric,
    pub parameters: Parameters,
    /// The overheads of hosts for messages of a class.
    pub overheads: ByClass<HostOverheads>,
    pub network: Network,
    pub cut: Cut,
    pub vc_map: VcMap,
    /// The trees of collective operations.
    pub trees: Trees,
    /// By kind of channel, then class of cables.
    timings: Vec<Timing>,
    pub routing: Tick,
    /// Flits of room beyond the packet that entering a ring needs.
    pub bubble: u16,
    /// Flits of room that an adaptively routed packet must leave where it is injected; on the
    /// adaptive channel, if there is one.
    injection_bubble: u16,
    /// Flits of room beyond the packet that entering the ring of a relation needs.
    ring_bubble: u16,
    /// The virtual channels of adaptively routed packets.
    pub channels: AdaptiveChannels,
    /// By router: where its live terminals start in `terminals`.
    first_terminals: Vec<u32>,
    terminals: Vec<u32>,
    /// By terminal: its index in `terminals`.
    place_of_terminal: Vec<u32>,
    /// By terminal: where it is attached, if it is alive.
    ends: Vec<End>,
    /// By network channel: the number of wired channels before it.
    wired_before: Vec<u32>,
    /// What routers see of each other's outputs, under rules that ask for it.
    pub far: Option<Arc<FarQueues>>,
}

impl<'f> NetworkContext<'f> {
    pub(crate) fn new(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: &dyn Workload,
        interruption: Option<&Interruption>,
    ) -> Self {
        let network = Network::new(fabric, parameters);
        let cut = Cut::new(fabric, &network, threads);
        let later: Vec<&Routes> = interruption.iter().flat_map(|it| it.later()).collect();
        let kinds = demands::kinds_by_class(workload);
        demands::check_adaptive_channel(routes, parameters, &kinds);
        let collective = workload.collectives().is_some();
        let vc_map = VcMap::new(routes, &later, parameters, &kinds, collective);
        let mut first_terminals = vec![0];
        let mut terminals = Vec::new();
        for own in fabric.terminals_by_router() {
            terminals.extend(own);
            first_terminals.push(narrow::<u32>(terminals.len()));
        }
        let mut place_of_terminal = vec![NONE; fabric.terminals() as usize];
        for (place, &terminal) in (0..).zip(&terminals) {
            place_of_terminal[terminal as usize] = place;
        }
        let mut wired_before = vec![0];
        for &input in &network.input_of_channel[..network.first_injection() as usize] {
            let before = *wired_before.last().expect("one");
            wired_before.push(before + u32::from(input != NONE));
        }
        // By router: the class of its next terminal.
        let mut classes = vec![0; fabric.routers() as usize];
        let ends = (0..fabric.terminals()).map(|terminal| {
            let Some(router) = fabric.terminal_router(terminal) else {
                return End { router: NONE, ejection: 0, class: 0 };
            };
            let first = network.first_output[router as usize];
            let ejection = narrow(network.ejection_of_terminal[terminal as usize] - first);
            let next = &mut classes[router as usize];
            let class = std::mem::replace(next, (*next + 1) % TERMINAL_CLASSES);
            End { router, ejection, class }
        });
        let ends: Vec<End> = ends.collect();
        let trees = workload.collectives().map_or(Trees::NONE, |it| {
            let mut members = workload.by_class().iter();
            let class = members.position(|member| member.collectives().is_some());
            Trees::new(it, fitted!(class.unwrap_or(0), u8), fabric, &ends, parameters, &vc_map)
        });
        let kinds = [ChannelKind::Network, ChannelKind::Injection, ChannelKind::Ejection];
        let timings = |kind| {
            let classes = ChannelTiming::of_classes(parameters, kind, fabric.cable_classes());
            classes.into_iter().map(Timing::from)
        };
        let usual =
            HostOverheads { send: parameters.send_overhead, receive: parameters.receive_overhead };
        let overheads = ByClass::new(|class| workload.overheads(class).unwrap_or(usual));
        let have_own = workload.overheads(0).is_some();
        assert!(
            !have_own || usual.send == Picoseconds::ZERO,
            "send overheads for all and by class"
        );
        let age = match routes {
            Routes::Relation(routes) => routes.rule.as_ref().and_then(|rule| rule.age()),
            _ => None,
        };
        let context = Self {
            far: age.map(|age| Arc::new(FarQueues::new(fabric, age))),
            fabric,
            routes,
            routed: fabric,
            cut,
            ends,
            trees,
            timings: kinds.into_iter().flat_map(timings).collect(),
            routing: narrow::<Tick>(parameters.routing_latency),
            bubble: 0,
            injection_bubble: 0,
            ring_bubble: narrow(parameters.maximum_packet()),
            channels: AdaptiveChannels::default(),
            vc_map,
            parameters: parameters.clone(),
            overheads,
            network,
            first_terminals,
            terminals,
            place_of_terminal,
            wired_before,
        };
        context.with_routes((fabric, routes))
    }

    /// The network with other routes, whose virtual channels it has, and the fabric for which they
    /// were made.
    pub(crate) fn with_routes(self, (routed, routes): (&'f Fabric, &'f Routes)) -> Self {
        let packet = self.parameters.maximum_packet();
        let room_of = |packets: u8| narrow::<u16>(u32::from(packets) * packet);
        let keeps_bubble = self.parameters.bubble && demands::may_keep_bubble(routes);
        Self {
            routes,
            routed,
            bubble: room_of(keeps_bubble.into()),
            injection_bubble: room_of(demands::injection_bubble(routes)),
            channels: demands::adaptive_channels(routes, &self.vc_map),
            ..self
        }
    }

    /// The channels of the fabric that lead to a router, by its input ports.
    pub(crate) fn channels_to(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        let Network { first_input, transit_inputs, first_output, .. } = &self.network;
        let first = first_input[router as usize];
        let inputs = first..first + transit_inputs[router as usize];
        inputs.map(|input| {
            let channel = self.network.channel_of_input[input as usize];
            let from = self.network.router_of_output(channel);
            self.fabric.outputs(from).start + channel - first_output[from as usize]
        })
    }

    /// The least overheads of hosts that any class has.
    pub(crate) fn least_overheads(&self) -> HostOverheads {
        let least = |one: HostOverheads, other: HostOverheads| HostOverheads {
            send: one.send.min(other.send),
            receive: one.receive.min(other.receive),
        };
        self.overheads.iter().copied().reduce(least).unwrap_or_default()
    }

    /// Flits of room that an adaptively routed packet needs beyond its own, by whether it is
    /// injected.
    #[inline(always)]
    pub(crate) fn bubble_of(&self, injected: bool) -> u16 {
        if injected { self.injection_bubble } else { 0 }
    }

    /// The flits of room that a packet needs for hops of a relation: by hops that enter no ring,
    /// and by hops that do.
    #[inline(always)]
    pub(crate) fn needs(&self, need: u16, flits: u16) -> [u16; 2] {
        [need, need.max(flits + self.ring_bubble)]
    }

    /// The flits of room that a packet needs for this hop, of the two [`needs`](Self::needs).
    #[inline]
    pub(crate) fn need_by(&self, hop: &Hop, need: u16, flits: u16) -> u16 {
        self.needs(need, flits)[usize::from(hop.ring == Ring::Enters)]
    }

    /// Sends a packet on a channel from `start`. Sets the times at which its last flit is at the
    /// far end and at which it may ask there. Returns the time at which its last flit starts.
    #[inline(always)]
    pub(crate) fn send(&self, packet: &mut Packet, timing: &Timing, start: Tick) -> Tick {
        let last = last_start(start, packet.tail, packet.flits, timing.flit);
        packet.tail = last + timing.forward;
        packet.ready = self.header(start, last) + timing.forward + self.routing;
        last
    }

    /// The time that decides when a packet may go on: that of its first flit, or of its last.
    #[inline(always)]
    pub(crate) fn header(&self, first: Tick, last: Tick) -> Tick {
        match self.parameters.switching {
            Switching::VirtualCutThrough | Switching::Wormhole => first,
            Switching::StoreAndForward => last,
        }
    }

    /// The timing of this index.
    #[inline(always)]
    pub(crate) fn timing(&self, number: u8) -> &Timing {
        &self.timings[usize::from(number)]
    }

    /// The timings of a kind of channel, by class of cables.
    pub(crate) fn timings_of(&self, kind: ChannelKind) -> &[Timing] {
        &self.timings[self.network.timings_of(kind)]
    }

    /// All timings, by index.
    pub(crate) fn timings(&self) -> &[Timing] {
        &self.timings
    }

    /// The live terminals of a router.
    pub(crate) fn terminals_of(&self, router: u32) -> &[u32] {
        self.terminals_of_routers(router..router + 1)
    }

    /// The live terminals of a part, by router.
    pub(crate) fn terminals_of_part(&self, part: usize) -> &[u32] {
        self.terminals_of_routers(self.cut.routers(part))
    }

    fn terminals_of_routers(&self, Range { start, end }: Range<u32>) -> &[u32] {
        let first = |router: u32| self.first_terminals[router as usize] as usize;
        &self.terminals[first(start)..first(end)]
    }

    /// A live terminal's number in its part.
    #[inline]
    pub(crate) fn in_part(&self, terminal: u32, part: usize) -> u32 {
        let first = self.first_terminals[self.cut.first_router(part) as usize];
        self.place_of_terminal[terminal as usize] - first
    }

    /// Where a live terminal is.
    #[inline]
    pub(crate) fn end(&self, terminal: u32) -> End {
        self.ends[terminal as usize]
    }

    /// The place of the credits of a part's network channel, for virtual channel 0.
    pub(crate) fn room_of_channel(&self, part: usize, channel: u32) -> u32 {
        let wired = |channel: u32| self.wired_before[channel as usize];
        let terminals = |router: u32| self.first_terminals[router as usize];
        let first = self.cut.first_router(part);
        let router = self.network.router_of_output(channel);
        let network = wired(channel) - wired(self.cut.first_output(part));
        let injections =
            (terminals(router) - terminals(first)) * self.parameters.injection_channels;
        (network + injections) * narrow::<u32>(self.vc_map.count())
    }

    /// Number of injection channels of a part.
    pub(crate) fn injections_of_part(&self, part: usize) -> usize {
        self.terminals_of_part(part).len() * self.parameters.injection_channels as usize
    }

    /// The number in the whole network of a part's injection channel.
    #[inline]
    pub(crate) fn channel_of_injection(&self, part: usize, number: u32) -> u32 {
        let channels = self.parameters.injection_channels;
        let first = self.first_terminals[self.cut.first_router(part) as usize];
        let terminal = self.terminals[(first + number / channels) as usize];
        self.network.first_injection() + terminal * channels + number % channels
    }
}
