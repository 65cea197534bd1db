//! Where may this head go? One question with one type of answer, asked by all routers.
//!
//! A part has a [`Routing`]: the engine's view of [`Routes`]. It sets the route of a new packet
//! ([`inject`](Routing::inject)), answers for the head of a buffer where it may go
//! ([`next_hop`](Routing::next_hop)), and updates a packet that leaves by an output
//! ([`go_on`](Routing::go_on)). Each router turns the answer, a [`NextHop`], into its own requests.
//!
//! | module | what it is for |
//! |---|---|
//! | `answer` | the question and its answer |
//! | `source_route` | routes that sources write into packets whole, datelines included |
//! | `route_segments` | tables to encode them from |
//! | `table` | next hops by address: forwarding tables, and paths of the source |
//! | `torus` | adaptive routing on a torus |
//! | `relation` | routing relations, on any fabric |
//! | `phased` | those whose packets pass through phases |
//! | `preference` | which hop of a relation a packet prefers |

pub(super) mod answer;
mod phased;
mod preference;
mod relation;
mod route_segments;
mod source_route;
mod table;
#[cfg(test)]
mod tests;
mod torus;

pub(crate) use preference::{HopRank, HopTimes};
pub(crate) use relation::{PortHops, RelationTables, from_place};
pub(crate) use source_route::SourceRoutes;
pub(crate) use table::Address;
use table::SetOrDecision;
pub(crate) use torus::{changes_on_the_way, escape_bubble};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::network::End;
use crate::network::context::NetworkContext;
use crate::network::demands::{self, VcSet};
use crate::packet::message::Role;
use crate::packet::{Origin, Packet, Packets};
use answer::{Ends, Head, NextHop};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::units::Picoseconds;
use flitlab_model::VIRTUAL_CHANNEL_NAMES;
use flitlab_routing::adaptive::{Misroute, Outputs};
use flitlab_routing::{Adaptive, ForwardingTable, PathRoutes, Routes};

/// The routes of a part's packets.
// A byte of its own tells the kind, since routers ask for it at each hop.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Routing<'f> {
    /// Sources write whole routes into packets.
    Source(SourceRoutes<'f>),
    /// Routers look up the next hop by a packet's destination.
    Table(&'f ForwardingTable),
    /// Sources write the number of a path into packets, and routers look up its hops.
    Paths(&'f PathRoutes),
    /// Packets choose hop by hop, on a torus.
    Torus(&'f Adaptive),
    /// Packets choose among the hops of a relation.
    Relation(RelationTables<'f>),
}

/// The state of sources for the choice of routes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SourceChoices {
    /// By terminal, if packets take the paths or routes between two routers in turn: for each
    /// destination router the number of the next path, or the next place in the round.
    turns: Vec<Vec<u8>>,
    /// By terminal: the generator of its packets' random numbers; empty if they need none.
    random: Vec<ChaCha8Rng>,
}

impl SourceChoices {
    pub(super) fn new(context: &NetworkContext<'_>, part: usize) -> Self {
        let terminals = context.terminals_of_part(part);
        let mut choices = Self::default();
        match context.routes {
            routes if demands::takes_turns(routes) => {
                choices.turns = vec![vec![0; context.fabric.routers() as usize]; terminals.len()];
            }
            Routes::Adaptive(adaptive) if adaptive.rules().is_random() => {
                choices.random.extend(terminals.iter().map(|&terminal| {
                    let mut random = ChaCha8Rng::seed_from_u64(adaptive.seed());
                    random.set_stream(u64::from(terminal));
                    random
                }));
            }
            _ => {}
        }
        choices
    }

    /// Begins anew to take paths in turn, after these have changed. Random numbers go on.
    pub(super) fn begin_turns(&mut self, context: &NetworkContext<'_>, part: usize) {
        self.turns = Self::new(context, part).turns;
    }

    pub(super) fn memory(&self) -> usize {
        self.turns.iter().map(Vec::len).sum::<usize>() + size_of_val(&*self.random)
    }
}

impl<'f> Routing<'f> {
    /// The routes of a part.
    pub(super) fn new(context: &NetworkContext<'f>, part: usize) -> Self {
        match context.routes {
            Routes::DirectionOrder(_) | Routes::Table(_) => {
                Self::Source(SourceRoutes::new(context))
            }
            Routes::Forwarding(table) => Self::Table(table),
            Routes::Paths(paths) => Self::Paths(paths),
            Routes::Adaptive(adaptive) => Self::Torus(adaptive),
            Routes::Relation(routes) => Self::Relation(RelationTables::new(context, part, routes)),
        }
    }

    /// Bytes of its tables.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Relation(relation) => relation.memory(),
            _ => 0,
        }
    }

    /// Words of a packet's route beyond the first.
    pub(super) fn words(&self) -> usize {
        match self {
            Self::Source(routes) => routes.words,
            Self::Torus(adaptive) => adaptive.rules().non_minimal.goes_via_intermediate().into(),
            Self::Relation(relation) => relation.words(),
            Self::Table(_) | Self::Paths(_) => 0,
        }
    }

    /// Whether some packets have to decide at a router before they go on.
    pub(super) fn decides(&self) -> bool {
        match self {
            Self::Torus(adaptive) => adaptive.decides(),
            Self::Relation(relation) => relation.decides(),
            Self::Source(_) | Self::Table(_) | Self::Paths(_) => false,
        }
    }

    /// Where the head of a buffer may go.
    #[inline(always)]
    pub(super) fn next_hop(
        &self,
        context: &NetworkContext<'_>,
        packets: &Packets,
        head: Head,
    ) -> NextHop {
        let Packet { source, note, route, .. } = packets.packets[head.slot as usize];
        match self {
            Self::Source(routes) => {
                let (output, vc) = routes.next_hop(route, note);
                NextHop::Output { output, vc, keeps_bubble: true }
            }
            Self::Table(table) => table::next_hop(table, context, route, head),
            Self::Paths(paths) => {
                table::next_hop_of_path(paths, context, (source, note, route), head.vc)
            }
            Self::Torus(adaptive) => torus::next_hop(adaptive, context, packets, head),
            Self::Relation(relation) => relation.next_hop(context, packets, head),
        }
    }

    /// Where the head of a buffer may go, where packets choose on a torus. A kind of routing that is
    /// known needs no answer in memory.
    #[inline(always)]
    pub(super) fn next_hop_on_torus(
        &self,
        context: &NetworkContext<'_>,
        packets: &Packets,
        head: Head,
    ) -> NextHop {
        match self {
            Self::Torus(adaptive) => torus::next_hop(adaptive, context, packets, head),
            _ => unreachable!("packets choose on a torus"),
        }
    }

    /// Lets a packet decide on a detour at a router, if packets do. `used` counts the
    /// flits in use behind each port; a virtual channel has room for `capacity`.
    pub(super) fn decide(
        &self,
        packets: &mut Packets,
        slot: u32,
        (here, capacity): (u32, u32),
        used: &[u32],
    ) {
        if let Self::Torus(adaptive) = self {
            torus::decide(adaptive, packets, slot, (here, capacity), used);
        }
    }

    /// The port that a packet prefers among [any of several](NextHop::AnyOf).
    #[inline]
    pub(super) fn preferred(&self, outputs: &Outputs<'_>) -> u32 {
        match self {
            Self::Torus(adaptive) => adaptive.rules().selection.prefers(outputs),
            _ => outputs.open.trailing_zeros(),
        }
    }

    /// The places for the times of the latest grants of the adaptive channel, by output; none if no
    /// packet asks for them.
    pub(super) fn grant_times(&self, outputs: usize) -> Vec<Picoseconds> {
        match self {
            Self::Torus(adaptive) if adaptive.rules().selection.asks_for_grants() => {
                vec![Picoseconds::ZERO; outputs]
            }
            _ => Vec::new(),
        }
    }

    /// Updates a packet that leaves a router for the next one.
    #[inline(always)]
    pub(super) fn go_on(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        slot: u32,
        here: u32,
    ) {
        match self {
            Self::Source(routes) => routes.go_on(packets, slot),
            Self::Table(_) | Self::Paths(_) => packets.packets[slot as usize].note += 1,
            Self::Torus(adaptive) => torus::go_on(adaptive, packets, slot, here),
            Self::Relation(relation) => {
                if relation.has_single_hops {
                    relation.take_single_hop(context, packets, (slot, here));
                }
                packets.origins[slot as usize].hops += 1;
            }
        }
    }

    /// The kinds of detours that its packets take.
    #[inline]
    pub(super) fn misroutes(&self) -> &'static [Misroute] {
        match self {
            Self::Torus(adaptive) => torus::kinds(adaptive),
            _ => &Misroute::BY_PHASES,
        }
    }

    /// The channels between routers that a delivered packet has crossed.
    #[inline]
    pub(super) fn hops_crossed(&self, packet: &Packet, origin: &Origin) -> u16 {
        match self {
            Self::Table(_) | Self::Paths(_) => packet.note,
            Self::Source(_) | Self::Torus(_) | Self::Relation(_) => origin.hops,
        }
    }

    /// Sets the route of a new packet from a source queue of virtual channel `vc`.
    #[inline(always)]
    pub(super) fn inject(
        &self,
        context: &NetworkContext<'_>,
        choices: &mut SourceChoices,
        (ends, vc): (Ends, u8),
        (packet, origin): (&mut Packet, &mut Origin),
        rest: &mut [u64],
    ) {
        let Ends { terminal, from, destination, ejection } = ends;
        let End { router: to, ejection: first, .. } = context.end(destination);
        let output = first + ejection;
        let own = SetOrDecision::set_from(context.vc_map.set(origin.class()).first);
        match self {
            Self::Source(routes) => {
                let turns = choices.turns.get_mut(terminal as usize);
                routes.inject(context, (from, to), output, (packet, origin), rest, turns);
            }
            Self::Table(table) => {
                let class = table.class(context.fabric, packet.source, destination);
                packet.route = Address { destination, class, own, ejection }.into();
            }
            Self::Paths(paths) => {
                let turns = choices.turns.get_mut(terminal as usize);
                let class = table::path_of(paths, (packet, destination), (from, to), turns);
                packet.route = Address { destination, class, own, ejection }.into();
            }
            Self::Torus(adaptive) => {
                let random = choices.random.get_mut(terminal as usize);
                let (ends, packet) = ((from, to), (packet, origin));
                torus::inject(adaptive, context, ends, (output, vc), packet, rest, random);
            }
            Self::Relation(relation) => {
                relation.inject((destination, ejection), (from, to), (packet, origin), rest);
            }
        }
    }

    /// The virtual channel of the source queue of a message of a class.
    #[inline]
    pub(super) fn source_vc(
        &self,
        context: &NetworkContext<'_>,
        (class, role): (u8, Role),
        (source, destination): (u32, u32),
    ) -> u8 {
        match self {
            Self::Table(table) => table::first_vc(table, context, class, (source, destination)),
            // Packets between the same two terminals keep their order; others have different
            // virtual channels.
            Self::Relation(_) | Self::Paths(_) => {
                let VcSet { first, width } = context.vc_map.set(class);
                let width = match self {
                    Self::Relation(relation) => relation.injection_vcs(width),
                    _ => width,
                };
                context.vc_map.index(first + fitted!(destination % u32::from(width), u8))
            }
            Self::Source(_) | Self::Torus(_) => match role.purpose() {
                Ok(purpose) => context.vc_map.injected_on(class, purpose),
                Err(of_collective) => context.vc_map.index(of_collective),
            },
        }
    }

    /// The destination terminal of a packet in a router's buffer.
    pub(super) fn destination(
        &self,
        context: &NetworkContext<'_>,
        packets: &Packets,
        (router, slot): (u32, u32),
    ) -> u32 {
        let route = packets.packets[slot as usize].route;
        let (end, ejection) = match self {
            Self::Table(_) | Self::Relation(_) | Self::Paths(_) => {
                return Address::from(route).destination;
            }
            Self::Torus(_) => torus::end(route),
            Self::Source(routes) => routes.end(context, (route, packets.rest_of(slot)), router),
        };
        let first = narrow::<u16>(context.fabric.outputs(end).len());
        let own = (ejection - first) / narrow::<u16>(context.parameters.ejection_channels);
        context.terminals_of(end)[usize::from(own)]
    }

    /// Loses a packet that a failed channel swallows, from the router on at which its route is.
    /// From then on its route says its destination alone.
    #[cold]
    pub(super) fn swallow(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (router, slot): (u32, u32),
    ) {
        let destination = self.destination(context, packets, (router, slot));
        let address = Address { destination, class: 0, own: SetOrDecision::UNDECIDED, ejection: 0 };
        packets.packets[slot as usize].route = address.into();
        packets.origins[slot as usize].lose();
    }

    /// The name in reports of a virtual channel by its number, if it has one.
    pub(super) fn vc_name(&self, context: &NetworkContext<'_>, number: u8) -> Option<&'static str> {
        let is_named = match self {
            Self::Table(_) | Self::Relation(_) | Self::Paths(_) => false,
            _ if context.parameters.kind.grants_flits() => false,
            Self::Source(routes) => !routes.has_dateline(),
            Self::Torus(adaptive) => adaptive.rules().escape.width() == 1,
        };
        VIRTUAL_CHANNEL_NAMES.get(usize::from(number)).copied().filter(|_| is_named)
    }

    /// The time at whose multiples packets that wait decide again, if they do.
    pub(super) fn decides_again(&self) -> Option<Picoseconds> {
        match self {
            Self::Relation(relation) => relation.again(),
            _ => None,
        }
    }

    /// Whether routing is by a relation.
    #[inline]
    pub(super) fn is_by_relation(&self) -> bool {
        matches!(self, Self::Relation(_))
    }

    /// The relation by which packets choose, where one has answered with [`NextHop::Hops`].
    #[inline]
    pub(super) fn relation(&self) -> &RelationTables<'f> {
        match self {
            Self::Relation(relation) => relation,
            _ => unreachable!("there are hops of a relation only"),
        }
    }
}
