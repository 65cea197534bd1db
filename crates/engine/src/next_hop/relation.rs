//! A routing relation as routers look it up: the hops of a packet, by the input virtual channel at
//! which it has arrived and by its destination (docs/model.md, "Routing relations").

use std::ops::Range;

use super::answer::{Head, NextHop};
use super::table::{Address, SetOrDecision};
use super::{demands, phased};
use crate::network::context::NetworkContext;
use crate::packet::{Origin, Packet, Packets};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_routing::adaptive::{Misroute, drawn_at};
use flitlab_routing::phased::AtHead;
use flitlab_routing::relation::{Hop, MAX_FALLBACKS, Phases, Ring};
use flitlab_routing::{Preference, RelationRoutes};

/// A routing relation as routers look it up.
#[derive(Debug)]
pub(crate) struct RelationTables<'f> {
    pub(super) routes: &'f RelationRoutes,
    /// How packets choose a port when their heads ask, if they do.
    pub(super) at_head: Option<AtHead>,
    /// Whether each list has [one hop](demands::has_single_hops).
    pub(super) has_single_hops: bool,
    /// By input port of the part: the channel of the fabric that ends there; [`NONE`] for an
    /// injection channel.
    came: Vec<u32>,
    /// The port groups of list `n` of the relation are `ports[starts[n]..starts[n + 1]]`.
    ports: Vec<PortHops>,
    starts: Vec<u32>,
}

/// The hops of a list that lead through one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortHops {
    pub port: u16,
    /// The virtual channels of its hops that are no fallbacks, and of its fallbacks, a bit each.
    pub vcs: u16,
    pub fallback: u16,
    /// The virtual channels whose hops enter a ring.
    pub enters: u16,
    /// The place in the list of the first of its hops.
    pub first: u16,
}

impl PortHops {
    /// The hops of a list, grouped by port; the list is sorted by port.
    fn of(hops: &[Hop]) -> impl Iterator<Item = Self> {
        let mut next = 0;
        hops.chunk_by(|one, other| one.port == other.port).map(move |hops| {
            let vcs = |are: fn(&Hop) -> bool| {
                let own = hops.iter().filter(|hop| are(hop));
                own.fold(0, |vcs, hop| vcs | 1 << hop.vc)
            };
            let first = fitted!(next, u16);
            next += hops.len();
            Self {
                port: hops[0].port,
                vcs: vcs(|hop| !hop.is_fallback()),
                fallback: vcs(Hop::is_fallback),
                enters: vcs(|hop| hop.ring == Ring::Enters),
                first,
            }
        })
    }

    /// The need that counts for a virtual channel, of the two [needs](NetworkContext::needs) of a
    /// packet.
    #[inline(always)]
    pub(crate) fn need(&self, vc: u8, needs: [u16; 2]) -> u16 {
        needs[usize::from(self.enters >> vc & 1)]
    }

    /// The rank of the hop onto a virtual channel in a list of `hops` hops, in cyclic order from
    /// place `first`.
    #[inline(always)]
    pub(crate) fn turn(&self, vc: u8, first: usize, hops: usize) -> usize {
        let before = (self.vcs | self.fallback) & ((1 << vc) - 1);
        let place = usize::from(self.first) + before.count_ones() as usize;
        if place < first { place + hops - first } else { place - first }
    }
}

impl<'f> RelationTables<'f> {
    pub(super) fn new(
        context: &NetworkContext<'_>,
        part: usize,
        routes: &'f RelationRoutes,
    ) -> Self {
        let routers = context.cut.routers(part);
        let input = |router: u32| context.network.first_input[router as usize] as usize;
        let inputs = input(routers.start)..input(routers.end);
        let came = context.network.channel_of_input[inputs].iter().map(|&channel| {
            if channel >= context.network.first_injection() {
                return NONE;
            }
            let router = context.network.router_of_output(channel);
            let port = channel - context.network.first_output[router as usize];
            context.fabric.outputs(router).start + port
        });
        let relation = &routes.relation;
        let (mut by_port, mut starts) = (Vec::new(), vec![0]);
        for list in 0..relation.lists() {
            by_port.extend(PortHops::of(relation.hops_of_list(list)));
            starts.push(narrow(by_port.len()));
        }
        let (at_head, came) = (routes.at_head(), came.collect());
        let has_single_hops = demands::has_single_hops(context.routes, &context.parameters);
        Self { routes, at_head, has_single_hops, came, ports: by_port, starts }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.came) + size_of_val(&*self.ports) + size_of_val(&*self.starts)
    }

    /// Whether some hops are fallbacks.
    #[inline]
    pub(crate) fn has_fallbacks(&self) -> bool {
        self.routes.relation.has_escape() || self.routes.relation.has_detours()
    }

    /// How packets pass from phase to phase, if the relation has phases.
    pub(crate) fn phases(&self) -> Option<&'f Phases> {
        self.routes.relation.phases()
    }

    /// Whether some packets have to decide at a router before they go on.
    pub(super) fn decides(&self) -> bool {
        self.routes.decides()
    }

    /// The time at whose multiples packets that wait decide again, if they do.
    #[inline]
    pub(crate) fn again(&self) -> Option<Picoseconds> {
        self.routes.again
    }

    /// Virtual channels in which packets are injected, where routers have `all`.
    #[inline]
    pub(super) fn injection_vcs(&self, all: u8) -> u8 {
        self.routes.injection_vcs.min(all)
    }

    /// Whether packets decide again only until one of their hops has room.
    pub(crate) fn settles(&self) -> bool {
        self.routes.settles
    }

    /// Words of a packet's route beyond the first.
    pub(super) fn words(&self) -> usize {
        self.phases().is_some_and(Phases::has_vias).into()
    }

    /// Sets the route of a new packet between two routers, and the random number for its choices.
    pub(super) fn inject(
        &self,
        (destination, ejection): (u32, u16),
        routers: (u32, u32),
        (packet, origin): (&mut Packet, &mut Origin),
        rest: &mut [u64],
    ) {
        if self.routes.random_ties {
            packet.note = self.routes.drawn(packet.source, packet.sequence);
        }
        let course = self.routes.start(routers, (packet.source, packet.sequence));
        let class = course.phase;
        packet.route =
            Address { destination, class, own: SetOrDecision::UNDECIDED, ejection }.into();
        rest.iter_mut().for_each(|word| *word = course.via.into());
        let kind = (course.via != NONE).then_some(Misroute::AtSource);
        origin.set_misroute(kind, &Misroute::BY_PHASES);
        origin.hops = 0;
    }

    /// The next hop of a packet at an input port of the part and a virtual channel, or in its phase.
    /// In relations with a ring it also depends on the fallback hops taken so far.
    #[inline]
    pub(super) fn next_hop(
        &self,
        context: &NetworkContext<'_>,
        packets: &Packets,
        head: Head,
    ) -> NextHop {
        let Head { slot, router, input, vc, .. } = head;
        let route: Address = packets.packets[slot as usize].route.into();
        let Address { destination, class, ejection, .. } = route;
        let end = context.end(destination);
        if end.router == router {
            return NextHop::ejection(end.ejection + ejection, vc);
        }
        let relation = &self.routes.relation;
        if let Some(phases) = relation.phases() {
            return phased::next_hop(self, phases, context, packets, head, (route, end.router));
        }
        let state = match self.came[input as usize] {
            NONE => relation.injected(router),
            channel => relation.arrived(channel, vc),
        };
        let list = relation.list(state, end.router);
        let list = if class >= MAX_FALLBACKS { relation.staying(list) } else { list };
        NextHop::Hops(relation.of_class(list, end.class))
    }

    /// The hops of a list.
    #[inline]
    pub(crate) fn hops_of_list(&self, list: u32) -> &'f [Hop] {
        self.routes.relation.hops_of_list(list)
    }

    /// The places of a list's hops, grouped by port.
    #[inline(always)]
    pub(crate) fn ports(&self, list: u32) -> Range<usize> {
        let list = list as usize;
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// The hops through one port.
    #[inline(always)]
    pub(crate) fn port(&self, place: usize) -> PortHops {
        self.ports[place]
    }

    /// Updates a packet that takes a hop of a list at a router. In a relation with phases it goes on
    /// in the hop's phase. In one with a ring a fallback is counted, up to the limit beyond which
    /// the count has no effect.
    #[inline]
    pub(crate) fn take_hop(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
        (list, (port, vc)): (u32, (u16, u8)),
    ) {
        let relation = &self.routes.relation;
        if relation.phases().is_none() && !relation.has_ring() {
            return;
        }
        let taken = |hop: &&Hop| (hop.port, hop.vc) == (port, vc);
        let hop = self.hops_of_list(list).iter().find(taken).expect("it is one of its hops");
        let mut address = Address::from(packets.packets[slot as usize].route);
        if let Some(phases) = relation.phases() {
            if address.own.decision().is_some() {
                self.note_detour(phases, context, packets, (slot, router), address);
            }
            address.class = hop.phase;
            // At the next router it decides anew.
            address.own = SetOrDecision::UNDECIDED;
        } else if hop.is_fallback() {
            address.class = (address.class + 1).min(MAX_FALLBACKS);
        }
        packets.packets[slot as usize].route = address.into();
    }

    /// What makes a packet prefer one of several hops.
    #[inline(always)]
    pub(crate) fn preference(&self) -> Preference {
        self.routes.preference
    }

    /// The place in a list of `hops` hops that is preferred among equals, for a packet with the
    /// random number `drawn` at this router.
    #[inline]
    pub(crate) fn first(&self, router: u32, drawn: u16, hops: usize) -> usize {
        if self.routes.random_ties && hops > 0 {
            drawn_at(router, drawn) as usize % hops
        } else {
            0
        }
    }
}

/// The hops of a list in cyclic order from place `first`.
#[inline]
pub(crate) fn from_place(hops: &[Hop], first: usize) -> impl Iterator<Item = &Hop> {
    hops[first..].iter().chain(&hops[..first])
}
