//! The proof of a routing relation, for all choices of packets: every pair is connected, no packet
//! walks for ever, no packet reaches a dead end, and no deadlock is possible.
//!
//! The proof shares no code with the rules that make relations. For each destination it follows all
//! choices of packets from all sources, state by state (choice_proof.rs). A dependency is a pair of
//! virtual channels of which a packet may hold the first while it asks for the second.
//!
//! - **Without an escape** a relation must have no cycle of dependencies. Then some packet always
//!   finds room (\[dally-seitz\]; since all choices count, the theorem holds for adaptive routing
//!   too).
//! - **With an escape** it must satisfy Duato's condition (\[duato\], the sufficient half). From
//!   every place that a packet can reach, hops of the escape lead on. The extended dependency graph
//!   among the virtual channels of the escape has no cycle. An edge leads from one to another if
//!   some packet that holds the first, as an escape or not, can ask for the second as an escape. It
//!   may do so at once (direct) or after more hops that are no escapes (indirect). All edges count
//!   for wormhole and for virtual cut-through switching, although the latter could do without the
//!   indirect ones.
//! - **With a ring** it is proved in ring_proof.rs.
//!
//! Without a ring, virtual channels that the relation treats alike are looked at once
//! (alike_vcs.rs). Relations with phases and without an escape are proved in phase_proof.rs.

use super::alike_vcs::AlikeVcs;
use super::choice_proof::{Leg, Packets, go, prove_choices, prove_phases};
use super::phase_proof::prove_by_phase;
use super::ring_proof::prove_ring;
use flitlab_fabric::Fabric;
use flitlab_routing::VirtualChannel;
use flitlab_routing::adaptive::Heading;
use flitlab_routing::relation::{ALL_CLASSES, Hop, Phases, Relation, Ring, TERMINAL_CLASSES};

#[cfg(test)]
pub(super) mod tests;

/// A flaw of a relation. Sources and destinations are router numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationFlaw {
    /// A packet to this router can reach router `at`, through `after` or by injection, and has no
    /// hop there.
    DeadEnd {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router without a hop.
        at: u32,
        /// The virtual channel by which the packet came; `None` if it was injected.
        after: Option<VirtualChannel>,
        /// The phase in which it is there; `None` in a relation without phases.
        phase: Option<u8>,
    },
    /// A hop leads through a port that does not exist or has failed, or into a virtual channel that
    /// does not exist.
    NoChannel {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router that offers the hop.
        at: u32,
        /// The hop as the relation has it.
        hop: Hop,
    },
    /// A packet to this router can go round a loop for ever.
    Loop {
        /// Number of the destination's router.
        destination: u32,
        /// The virtual channels, in the order of the loop.
        places: Vec<VirtualChannel>,
    },
    /// A packet to this router can reach router `at`, through `after` or by injection, where no hop
    /// is an escape.
    NoEscape {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router without an escape.
        at: u32,
        /// The virtual channel by which the packet came; `None` if it was injected.
        after: Option<VirtualChannel>,
    },
    /// A hop leads onto a ring without leaving a bubble: it is not a hop along the ring, and is not
    /// marked as entering it.
    NoBubble {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router that offers the hop.
        at: u32,
        /// The hop as the relation has it.
        hop: Hop,
    },
    /// A packet to this router that stays on the ring from this place on never reaches it.
    Missed {
        /// Number of the destination's router.
        destination: u32,
        /// A virtual channel of the ring.
        place: VirtualChannel,
    },
    /// Each of these virtual channels can wait for the next, and the last for the first. In a
    /// relation with an escape the dependencies are those of the extended graph.
    Cycle(Vec<VirtualChannel>),
}

impl RelationFlaw {
    /// Whether the flaw is a possible deadlock of packets that all have a way.
    pub fn is_cycle(&self) -> bool {
        matches!(self, Self::Cycle(_) | Self::NoEscape { .. } | Self::NoBubble { .. })
    }

    /// The flaw in words, with the names of routers and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let router = |&router: &u32| fabric.router_name(router);
        let place = |place: &VirtualChannel| {
            format!("{} virtual channel {}", fabric.channel_name(place.channel), place.vc)
        };
        let list = |places: &[VirtualChannel]| {
            let names: Vec<String> = places.iter().map(place).collect();
            names.join(", ")
        };
        let came = |after: &Option<VirtualChannel>| match after {
            Some(after) => format!("through {}", place(after)),
            None => "from its own terminals".into(),
        };
        match self {
            Self::DeadEnd { destination, at, after, phase } => format!(
                "packets to {} that come to {} {} have nowhere to go{}",
                router(destination),
                router(at),
                came(after),
                phase.map_or(String::new(), |phase| format!(" in phase {phase}"))
            ),
            Self::NoChannel { destination, at, hop } => format!(
                "{} may send packets to {} through its port {} in virtual channel {}, \
                 which has failed or does not exist",
                router(at),
                router(destination),
                hop.port,
                hop.vc
            ),
            Self::Loop { destination, places } => format!(
                "packets to {} can go round in circles: {}",
                router(destination),
                list(places)
            ),
            Self::NoEscape { destination, at, after } => format!(
                "packets to {} that come to {} {} have no escape",
                router(destination),
                router(at),
                came(after)
            ),
            Self::NoBubble { destination, at, hop } => format!(
                "{} may send packets to {} through its port {} in virtual channel {} onto \
                 a ring without leaving a bubble there",
                router(at),
                router(destination),
                hop.port,
                hop.vc
            ),
            Self::Missed { destination, place: from } => format!(
                "packets to {} that stay on the ring from {} on never come there",
                router(destination),
                place(from)
            ),
            Self::Cycle(places) => format!(
                "packets can deadlock: each of these can wait for the next, the last for the first: {}",
                list(places)
            ),
        }
    }
}

/// The result of following all choices of packets of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationProof {
    /// Ordered pairs of different routers with live terminals that are connected.
    pub pairs: u64,
    /// Dependencies between virtual channels. With an escape they are those of the extended graph,
    /// with a ring those along it.
    pub dependencies: u64,
    /// Most hops of any packet. With a ring it is an upper bound, which perhaps no packet reaches.
    pub longest: u32,
    /// Mistakes that were found; none if the relation is right.
    pub flaws: Vec<RelationFlaw>,
}

impl RelationProof {
    /// Whether the relation is right.
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The cycle of virtual channels that can wait for each other; `None` if there is none.
    pub fn cycle(&self) -> Option<&[VirtualChannel]> {
        self.flaws.iter().find_map(|flaw| match flaw {
            RelationFlaw::Cycle(places) => Some(&places[..]),
            _ => None,
        })
    }
}

/// Follows all choices of packets between all routers with live terminals, and looks for cycles.
#[must_use]
pub fn prove_relation(fabric: &Fabric, relation: &Relation) -> RelationProof {
    let mut proof = if relation.has_ring() {
        prove_ring(fabric, relation)
    } else {
        prove_without_ring(fabric, relation)
    };
    if relation.has_classes() {
        proof.flaws.extend(prove_classes(fabric, relation));
    }
    proof
}

/// Checks that packets to each class of terminals have a hop wherever others have one. Escapes and
/// hops of a ring have to be for all classes. The dependencies of a class are a part of those of
/// all hops together. So the result for all hops holds for each class.
fn prove_classes(fabric: &Fabric, relation: &Relation) -> Vec<RelationFlaw> {
    // By list: whether each class has hops as the list says, and keeps its escapes.
    let look = |list: u32| {
        let hops = relation.hops_of_list(list);
        let places = |hops: &mut dyn Iterator<Item = &Hop>| -> Vec<(u16, u8)> {
            hops.map(|hop| (hop.port, hop.vc)).collect()
        };
        let goes_on = |class: u8| {
            let own = relation.hops_of_list(relation.of_class(list, class));
            let said = &mut hops.iter().filter(|hop| hop.classes >> class & 1 == 1);
            !own.is_empty() && places(&mut own.iter()) == places(said)
        };
        let is_for_all = |hop: &Hop| hop.classes == ALL_CLASSES;
        let keeps = |hop: &Hop| !hop.escape && hop.ring == Ring::Off || is_for_all(hop);
        [(0..TERMINAL_CLASSES).all(goes_on), hops.iter().all(keeps)]
    };
    let lists: Vec<[bool; 2]> = (0..relation.lists()).map(look).collect();
    let mut flaws = Vec::new();
    for destination in fabric.ends() {
        for state in 0..relation.states() {
            let (list, after) = (relation.list(state, destination), relation.place(state));
            let Some(at) = relation.router(fabric, state) else { continue };
            if relation.hops_of_list(list).is_empty() {
                continue;
            }
            let [goes_on, keeps] = lists[list as usize];
            if !goes_on {
                flaws.push(RelationFlaw::DeadEnd { destination, at, after, phase: None });
            }
            if !keeps {
                flaws.push(RelationFlaw::NoEscape { destination, at, after });
            }
        }
    }
    flaws
}

/// Proves a relation like [`prove_relation`], but without a ring, and with escapes that don't count
/// as such.
#[must_use]
pub(super) fn prove_without_escapes(fabric: &Fabric, relation: &Relation) -> RelationProof {
    prove_hops(fabric, relation, true)
}

fn prove_without_ring(fabric: &Fabric, relation: &Relation) -> RelationProof {
    prove_hops(fabric, relation, !relation.has_escape())
}

/// Proves the hops. Without an escape, `all` hops must have no cycle, as if all were escapes.
fn prove_hops(fabric: &Fabric, relation: &Relation, all: bool) -> RelationProof {
    prove_alike(fabric, relation, all, &AlikeVcs::new(fabric, relation))
}

/// Proves the hops, where virtual channels that are alike are looked at once.
pub(super) fn prove_alike(
    fabric: &Fabric,
    relation: &Relation,
    all: bool,
    alike: &AlikeVcs<'_>,
) -> RelationProof {
    // Indirect dependencies across a via or a decision are not followed.
    let breaks = |phases: &Phases| phases.has_vias() || phases.decides();
    let all = all || relation.phases().is_some_and(breaks);
    if let (Some(phases), true) = (relation.phases(), all) {
        return alike.of_vcs(prove_by_phase(fabric, (relation, phases), alike));
    }
    let mut packets = Packets::without_escapes(fabric, alike.count());
    packets.sizes = alike.sizes();
    if !all {
        packets.escapes = escapes(fabric, relation, alike);
    }
    if let Some(phases) = relation.phases() {
        return alike.of_vcs(prove_phases(fabric, &packets, (relation, phases), (alike, all)));
    }
    packets.legs.push(Leg::Last { heading: Heading::default() });
    alike.of_vcs(prove_choices(fabric, &packets, |head, errand, hops| {
        let state = match head.came {
            Some(came) => alike.arrived(came.channel, came.vc),
            None => relation.injected(head.router),
        };
        let own = alike.hops(state, errand.to).iter();
        hops.extend(own.map(|&hop| Hop { escape: hop.escape || all, ..hop }));
    }))
}

/// By channel, then class of virtual channels: whether it is an escape to some destination.
fn escapes(fabric: &Fabric, relation: &Relation, alike: &AlikeVcs<'_>) -> Vec<bool> {
    let vcs = alike.count();
    let mut found = vec![false; fabric.channel_slots() as usize * usize::from(vcs)];
    for destination in fabric.ends() {
        for state in 0..relation.states() {
            for hop in alike.hops(state, destination).iter().filter(|hop| hop.escape) {
                let at = relation.router(fabric, state);
                let after = at.and_then(|at| go(fabric, vcs, at, *hop));
                if let Some((channel, _)) = after {
                    found[channel as usize * usize::from(vcs) + usize::from(hop.vc)] = true;
                }
            }
        }
    }
    found
}
