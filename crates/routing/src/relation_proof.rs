//! Whether a routing relation is right, whatever packets choose: every pair is connected, no packet can walk for
//! ever, none gets to where it can't go on, and no packets can wait for each other for ever.
//!
//! This shares nothing with what makes relations. For each destination it follows all choices of packets from all
//! sources, state by state (choice_proof.rs). What a packet may hold and then ask for is a dependency between two
//! (channel, lane).
//!
//! A relation without an escape must have no cycle of dependencies at all: then some packet always
//! finds a free place (\[dally-seitz\], and as all choices are counted, for adaptive routing too).
//! One with an escape is proved by Duato's condition (\[duato\]), of which the sufficient half
//! counts here: the hops of the escape lead on from wherever a packet can be, and the extended
//! dependency graph among the (channel, lane) of the escape has no cycle. It has an edge from one
//! to another if some packet that holds the first, as an escape or not, can ask for the second as
//! an escape, at once (direct) or after more hops that are not (indirect). All these count for
//! wormhole and for virtual cut-through switching alike, of which the latter could do without the
//! indirect ones. One with a ring is proved in ring_proof.rs.

use super::LaneChannel;
use super::choice_proof::{Leg, Packets, go, prove_choices};
use super::relation::{ALL_CLASSES, Hop, Relation, Ring, TERMINAL_CLASSES};
use super::ring_proof::prove_ring;
use crate::adaptive::Heading;
use flitlab_fabric::Fabric;

#[cfg(test)]
pub(super) mod tests;

/// What is wrong with a relation. Sources and destinations are router numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationFlaw {
    /// A packet to this router can get to router `at`, through `after` or injected there, and has no hop.
    DeadEnd {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router without a hop.
        at: u32,
        /// The virtual channel by which the packet came; `None` if it was injected.
        after: Option<LaneChannel>,
    },
    /// A hop of this router, for this destination, leads through a port that does not exist or has failed, or into
    /// a lane that does not exist.
    NoChannel {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router that offers the hop.
        at: u32,
        /// The hop as the relation has it.
        hop: Hop,
    },
    /// A packet to this router can go round these for ever.
    Loop {
        /// Number of the destination's router.
        destination: u32,
        /// The virtual channels, in the order of the loop.
        places: Vec<LaneChannel>,
    },
    /// A packet to this router can get to router `at`, through `after` or injected there, where no hop is an escape.
    NoEscape {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router without an escape.
        at: u32,
        /// The virtual channel by which the packet came; `None` if it was injected.
        after: Option<LaneChannel>,
    },
    /// A hop of this router, for this destination, leads onto a ring without leaving a bubble: it is none along it, and does
    /// not say that it enters it.
    NoBubble {
        /// Number of the destination's router.
        destination: u32,
        /// Number of the router that offers the hop.
        at: u32,
        /// The hop as the relation has it.
        hop: Hop,
    },
    /// A packet to this router that stays on the ring from this place on never comes to it.
    Missed {
        /// Number of the destination's router.
        destination: u32,
        /// A virtual channel of the ring.
        place: LaneChannel,
    },
    /// Each of these can wait for the next, and the last for the first: of a relation with an escape in the extended
    /// dependency graph.
    Cycle(Vec<LaneChannel>),
}

impl RelationFlaw {
    /// Whether packets can wait for each other for ever, though each of them has a way.
    pub fn is_cycle(&self) -> bool {
        matches!(self, Self::Cycle(_) | Self::NoEscape { .. } | Self::NoBubble { .. })
    }

    /// What is wrong, with the names of routers and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let router = |&router: &u32| fabric.router_name(router);
        let place = |place: &LaneChannel| {
            format!("{} lane {}", fabric.channel_name(place.channel), place.lane)
        };
        let list = |places: &[LaneChannel]| {
            let names: Vec<String> = places.iter().map(place).collect();
            names.join(", ")
        };
        let came = |after: &Option<LaneChannel>| match after {
            Some(after) => format!("through {}", place(after)),
            None => "from its own terminals".into(),
        };
        match self {
            Self::DeadEnd { destination, at, after } => format!(
                "packets to {} that come to {} {} have nowhere to go",
                router(destination),
                router(at),
                came(after)
            ),
            Self::NoChannel { destination, at, hop } => format!(
                "{} may send packets to {} through its port {} in lane {}, which has failed or does not exist",
                router(at),
                router(destination),
                hop.port,
                hop.lane
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
                "{} may send packets to {} through its port {} in lane {} onto a ring without leaving a bubble there",
                router(at),
                router(destination),
                hop.port,
                hop.lane
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

/// What was proved of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationProof {
    /// Ordered pairs of different routers with live terminals that are connected.
    pub pairs: u64,
    /// Pairs of (channel, lane) of which some packet can hold the first while it asks for the second; of a relation
    /// with an escape those of the extended dependency graph, of one with a ring those along it.
    pub dependencies: u64,
    /// The most hops that any packet can take; with a ring no packet takes more, though perhaps none takes so many.
    pub longest: u32,
    /// Mistakes that were found; none if the relation is right.
    pub flaws: Vec<RelationFlaw>,
}

impl RelationProof {
    /// Whether the relation is right.
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The cycle of places that can wait for each other, if there is one.
    pub fn cycle(&self) -> Option<&[LaneChannel]> {
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

/// Whether packets to each class of terminals have a hop wherever others have one; escapes and hops of a ring have to be
/// for all of them. So what holds of all hops together holds for each class: its dependencies are some of theirs.
fn prove_classes(fabric: &Fabric, relation: &Relation) -> Vec<RelationFlaw> {
    // By list: whether each class has hops, those that the list says, and whether it keeps its escapes.
    let look = |list: u32| {
        let hops = relation.hops_of_list(list);
        let places = |hops: &mut dyn Iterator<Item = &Hop>| -> Vec<(u16, u8)> {
            hops.map(|hop| (hop.port, hop.lane)).collect()
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
                flaws.push(RelationFlaw::DeadEnd { destination, at, after });
            }
            if !keeps {
                flaws.push(RelationFlaw::NoEscape { destination, at, after });
            }
        }
    }
    flaws
}

/// As [`prove_relation`], of a relation without a ring whose escapes don't count as such.
#[must_use]
pub(super) fn prove_without_escapes(fabric: &Fabric, relation: &Relation) -> RelationProof {
    prove_hops(fabric, relation, true)
}

fn prove_without_ring(fabric: &Fabric, relation: &Relation) -> RelationProof {
    prove_hops(fabric, relation, !relation.has_escape())
}

/// Where there is no escape, `all` hops have to be without a cycle as if they were one.
fn prove_hops(fabric: &Fabric, relation: &Relation, all: bool) -> RelationProof {
    let escapes = match all {
        true => vec![true; fabric.channel_slots() as usize * usize::from(relation.lanes())],
        false => escapes(fabric, relation),
    };
    let legs = vec![Leg::Last { heading: Heading::default() }];
    let packets = Packets { lanes: relation.lanes(), escapes, turning: 0, legs };
    prove_choices(fabric, &packets, |head, errand, hops| {
        let state = match head.came {
            Some(came) => relation.arrived(came.channel, came.lane),
            None => relation.injected(head.router),
        };
        let own = relation.hops(state, errand.to).iter();
        hops.extend(own.map(|&hop| Hop { escape: hop.escape || all, ..hop }));
    })
}

/// Whether a (channel, lane) is an escape to some destination, by state.
fn escapes(fabric: &Fabric, relation: &Relation) -> Vec<bool> {
    let mut found = vec![false; relation.states() as usize];
    for destination in fabric.ends() {
        for state in 0..relation.states() {
            for hop in relation.hops(state, destination).iter().filter(|hop| hop.escape) {
                let at = relation.router(fabric, state);
                let after = at.and_then(|at| go(fabric, relation.lanes(), at, *hop));
                if let Some((channel, _)) = after {
                    found[relation.arrived(channel, hop.lane) as usize] = true;
                }
            }
        }
    }
    found
}
