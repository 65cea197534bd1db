//! UGAL and PAR: at its source's router a packet chooses between the minimal way and a way as
//! Valiant's, by the queues there (\[ugal\]; on the Dragonfly \[dragonfly\]).
//!
//! A packet goes minimally if q_m <= 2 q_n + T, or with weights by hops if q_m H_m <= q_n H_n + T.
//! Here q are the flits that have left by the first port of the way and whose credits have not come
//! back, H the hops of the way, and T a threshold. Of several ports the one with the least counts.
//! This is the local form, UGAL-L: a router sees its own outputs alone. In the global form, UGAL-G,
//! it knows what is out elsewhere, as no real router does: behind the cables between groups of its
//! group (\[dragonfly\]), or on the whole of both ways (\[slim-fly\]).
//!
//! In UGAL-L_CR (\[dragonfly\]) routers hold back the credits of cables within their group, by how
//! long the credits of the cable behind are away, so that a queue there shows where packets decide.
//! We know that rule without the paper's text, by heart.
//!
//! Under PAR (\[par\]) a packet that goes minimally decides again after a hop within its source's
//! group, at the router from which it would leave the group, with the same detour in mind.

use std::cmp::Ordering;
use std::sync::Arc;

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases, Relation};
use super::valiant::{MinimalVcs, Valiant, ViaKind};
use super::{At, Bind, Course, Deciding, PhasedKind, PhasedRule, Queues, Sees, Sight};
use flitlab_base::document::{Reader, Whole, time};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric, NONE};

/// `ugal`.
pub(super) const UGAL: Row<PhasedKind> = Row::new(
    "ugal",
    "each packet goes the minimal way or, if the queues at its source are shorter there, as by \
     valiant (UGAL-L).",
    PhasedKind { misroutes: &[Misroute::AtSource], read: |reader| read(reader, false) },
)
.known_as(&["ugal-l", "ugal_l", "ugall"]);

/// `par`.
pub(super) const PAR: Row<PhasedKind> = Row::new(
    "par",
    "as ugal, and packets that go minimally decide again after a hop within their group (progressive \
     adaptive routing).",
    PhasedKind { misroutes: &Misroute::BY_PHASES, read: |reader| read(reader, true) },
);

fn read(reader: &mut Reader<'_>, again: bool) -> Option<Bind> {
    let via = ViaKind::read(reader);
    let doc = "T, in flits: so much longer may the queue of the minimal way be.";
    let threshold = reader.optional("threshold", &Whole { range: 0..=1 << 20 }, doc);
    let doc = "What queues are multiplied with.";
    let double = "1 for the minimal way, 2 for the other, whatever their hops.";
    let weights = [
        ("double", Weights::Double, double),
        ("hops", Weights::Hops, "the hops of each way."),
        ("equal", Weights::Equal, "1 for both."),
    ];
    let weights = reader.one_of("weights", "kind of weights", doc, weights);
    let doc = "Which virtual channels of a port count.";
    let auto = "vc-if-shared where packets of ugal go by way of a group, else port.";
    let if_shared =
        "those of the way where both ways leave by the same port, else all (UGAL-L_VCH).";
    let queues = [
        ("auto", None, auto),
        ("port", Some(CountedVcs::All), "all (UGAL-L)."),
        ("vc", Some(CountedVcs::OfWay), "those of the way (UGAL-L_VC)."),
        ("vc-if-shared", Some(CountedVcs::IfShared), if_shared),
    ];
    let queues = reader.one_of("queues", "kind of queues", doc, queues);
    let doc = "What routers see. No real router sees others' outputs.";
    let sees = [
        ("own", None, "their own outputs (UGAL-L)."),
        (
            "group",
            Some(SeenQueues::OfGroup),
            "the outputs to other groups of all routers of their group (UGAL-G).",
        ),
        ("way", Some(SeenQueues::OfWay), "all outputs on a way, in sum (UGAL-G)."),
    ];
    let sees = reader.one_of("sees", "kind of sight", doc, sees);
    let doc = "How often routers learn what is out at others, at multiples of this time.";
    let mut age = Picoseconds(10_000);
    reader.set("age", &time(Picoseconds(1_000)), &mut age, doc);
    match sees {
        Some(None) => {
            let help = "write `sees = \"group\"`, or leave `age` out";
            reader.forbid("age", "routers see nothing of others", help);
        }
        Some(Some(_)) => {
            let why = "of others routers see all virtual channels together";
            reader.forbid("queues", why, "leave `queues` out, or write `sees = \"own\"`");
        }
        None => {}
    }
    let mut candidates = 1;
    let doc = "How many detours a packet draws, of which it takes the one with the shortest queue.";
    reader.set("candidates", &Whole { range: 1..=16 }, &mut candidates, doc);
    let doc = "Where a packet goes if the costs are just equal.";
    let drawn = "one of the two, as likely as the other.";
    let equal = [("minimal", Equal::Minimal, "the minimal way."), ("drawn", Equal::Drawn, drawn)];
    let equal = reader.one_of("equal", "choice between equals", doc, equal);
    let holds_credits = !again && read_held_credits(reader, via)?;
    let (via, weights, queues, equal) = (via?, weights?, queues?, equal?);
    let minimal_vcs = match again {
        true => Some(MinimalVcs::SharedLate),
        false => read_minimal_vcs(reader)?,
    };
    let others = sees?.map(|queues| (queues, age));
    let bind: Bind = Arc::new(move |fabric, parameters| {
        let threshold = threshold.map_or(parameters.largest_packet, narrow);
        // Where detours begin by the port of the minimal way, all virtual channels of a port never
        // tell the two apart. By way of a group a whole group's packets have such detours.
        let is_by_group =
            via == ViaKind::Group || via == ViaKind::Auto && !fabric.groups().is_empty();
        let usual = match is_by_group && !again && others.is_none() {
            true => CountedVcs::IfShared,
            false => CountedVcs::All,
        };
        let queues = queues.unwrap_or(usual);
        let minimal_vcs = minimal_vcs.unwrap_or(match queues {
            CountedVcs::All => MinimalVcs::Shared,
            CountedVcs::OfWay | CountedVcs::IfShared => MinimalVcs::Apart,
        });
        let valiant = Valiant::deciding(fabric, via, minimal_vcs, parameters)?;
        if others.is_some_and(|(seen, _)| seen == SeenQueues::OfGroup) && !valiant.is_by_groups() {
            return Err(NoRelation::NoGroups);
        }
        if holds_credits && !(valiant.goes_via_groups() && valiant.ways.are_groups_joined()) {
            return Err(NoRelation::HeldCredits);
        }
        Ok(Arc::new(Ugal {
            valiant,
            threshold,
            weights,
            queues,
            others,
            candidates,
            equal,
            apart: minimal_vcs == MinimalVcs::Apart,
            holds_credits,
        }))
    });
    Some(bind)
}

/// Reads in which virtual channels minimal packets begin; `None` if those that suit the queues.
fn read_minimal_vcs(reader: &mut Reader<'_>) -> Option<Option<MinimalVcs>> {
    let doc = "The virtual channels in which minimal packets begin; under par \"shared\".";
    let auto = "shared where all virtual channels of a port count (`queues`), else apart.";
    let apart = "those of the second half of a detour: the two kinds of packets are told apart at the source.";
    let shared = "those of the first half: where packets of both kinds wait, room is for either.";
    let choices = [
        ("auto", None, auto),
        ("apart", Some(MinimalVcs::Apart), apart),
        ("shared", Some(MinimalVcs::Shared), shared),
    ];
    reader.one_of("minimal_channels", "kind of channels", doc, choices)
}

/// Reads whether credits are held back. `via` is what packets go by way of, if that is right.
fn read_held_credits(reader: &mut Reader<'_>, via: Option<ViaKind>) -> Option<bool> {
    let doc = "When a router returns credits on a cable within its group.";
    let delayed = "later, by how much longer the credits of the packet's output are away than those of other \
                   outputs (UGAL-L_CR): so full cables between groups show at the other routers of the group.";
    let choices = [("at-once", false, "as packets leave."), ("delayed", true, delayed)];
    let credits = reader.one_of("credits", "kind of credits", doc, choices);
    let by_router = [ViaKind::Router, ViaKind::Elsewhere, ViaKind::RouterOrEnd].map(Some);
    if by_router.contains(&via) && credits == Some(true) {
        let why = "packets by way of a router take two cables of a group one after the other, so a delay could \
                   grow by itself";
        reader.forbid("credits", why, "write `via = \"group\"`, or leave `credits` out");
    }
    credits
}

/// What queues are multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// 1 for the minimal way, 2 for a detour.
    Double,
    /// The hops of the way.
    Hops,
    /// 1 for both ways.
    Equal,
}

/// The queues of other routers that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenQueues {
    /// That of the channel by which a way leaves the group, or of its first one if it stays there.
    OfGroup,
    /// Those of all channels of a way, in sum.
    OfWay,
}

/// The way of a packet whose ways cost just as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equal {
    /// The minimal one.
    Minimal,
    /// Either, as it draws at the router.
    Drawn,
}

/// Which virtual channels of a port count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedVcs {
    /// All.
    All,
    /// Those of the way's hops (UGAL-L_VC).
    OfWay,
    /// Those of the way's hops where both ways leave by the same port, else all (UGAL-L_VCH).
    IfShared,
}

/// The choice between a minimal way and a detour.
#[derive(Debug)]
pub struct Ugal {
    /// The detours.
    pub valiant: Valiant,
    /// T, in flits.
    pub threshold: u32,
    /// What queues are multiplied with.
    pub weights: Weights,
    /// Which virtual channels of a port count.
    pub queues: CountedVcs,
    /// The queues of other routers that count in place of its own, and their age.
    pub others: Option<(SeenQueues, Picoseconds)>,
    /// How many detours a packet draws.
    pub candidates: u32,
    /// The way of a packet whose ways cost just as much.
    pub equal: Equal,
    /// Whether minimal packets have the virtual channels of the second half of a detour.
    pub apart: bool,
    /// Whether routers hold back the credits of cables within their group (UGAL-L_CR).
    pub holds_credits: bool,
}

/// The draws between equal costs at routers come from the end down: those of detours, and of other
/// rules at routers, come from the beginning up.
const LAST_DRAW: u32 = u32::MAX;

impl Ugal {
    /// The queue of a way, and the queue of the other one.
    fn compared(
        &self,
        packet: &Deciding<'_>,
        ways: [Course; 2],
        queues: &mut dyn Queues,
    ) -> Option<[u32; 2]> {
        if let Some((seen, _)) = self.others {
            return Some(ways.map(|way| self.elsewhere(packet, way, seen, queues)));
        }
        let mut least = |sees| -> Option<[(u32, u16); 2]> {
            let [one, two] = ways.map(|way| packet.least(way, sees, queues));
            Some([one?, two?])
        };
        let sees = match self.queues {
            CountedVcs::All => Sees::Port,
            CountedVcs::OfWay => Sees::Vcs,
            CountedVcs::IfShared => {
                let [(_, one), (_, two)] = least(Sees::Port)?;
                if one == two { Sees::Vcs } else { Sees::Port }
            }
        };
        Some(least(sees)?.map(|(queue, _)| queue))
    }

    /// The queue of a way by what routers see of others, by the first of several ports everywhere.
    fn elsewhere(
        &self,
        packet: &Deciding<'_>,
        way: Course,
        seen: SeenQueues,
        queues: &mut dyn Queues,
    ) -> u32 {
        let &Deciding { fabric, router, ends, .. } = packet;
        let mut channels = Vec::new();
        self.valiant.for_each_channel(fabric, router, way, ends.1, |it| channels.push(it));
        match seen {
            SeenQueues::OfWay => channels.iter().map(|&channel| queues.elsewhere(channel)).sum(),
            SeenQueues::OfGroup => {
                let leaves = |channel: &&Channel| self.valiant.leaves_group(fabric, **channel);
                let channel = channels.iter().find(leaves).or(channels.first());
                channel.map_or(0, |&channel| queues.elsewhere(channel))
            }
        }
    }
}

impl PhasedRule for Ugal {
    fn phases(&self) -> Phases {
        self.valiant.deciding_phases()
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        self.valiant.hops(fabric, at, hops);
    }

    fn longest(&self) -> u32 {
        self.valiant.longest()
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.valiant.onward(fabric, router, destination)
    }

    fn steps(&self) -> String {
        self.valiant.steps()
    }

    fn sight(&self) -> Option<Sight> {
        let Valiant { minimal, ways, steps, .. } = &self.valiant;
        let (threshold, weight) = match self.weights {
            Weights::Double => (self.threshold, 2),
            Weights::Equal => (self.threshold, 1),
            Weights::Hops => (self.threshold / minimal.longest(ways).max(1), 2),
        };
        let (vcs, vcs_for_two) = (steps.width(), steps.vcs_for_two());
        let sight = Sight { threshold, key: "threshold", weight, vcs, vcs_for_two };
        self.others.is_none().then_some(sight)
    }

    fn tells_ways_apart(&self) -> bool {
        let counts_all = self.queues == CountedVcs::All && self.others.is_none();
        // Under par they leave by other ports where they decide again.
        !counts_all || self.valiant.decides_late()
    }

    fn never_takes(&self, fabric: &Fabric, relation: &Relation, ends: (u32, u32)) -> f64 {
        let minimal = Course::straight(self.valiant.minimal.phase);
        let mut never = 0.0;
        if self.tells_ways_apart() {
            return never;
        }
        let ports = |course: Course| {
            let target = if course.via == NONE { ends.1 } else { course.via };
            let hops = relation.hops(relation.in_phase(ends.0, course.phase), target);
            hops.iter().map(|hop| hop.port)
        };
        self.valiant.for_each_course(ends, &mut |detour, share| {
            let by_one_port =
                ports(detour).all(|port| ports(minimal).any(|minimal| minimal == port));
            let longer = self.weights != Weights::Hops
                || self.valiant.length(fabric, ends.0, minimal, ends.1)
                    <= self.valiant.length(fabric, ends.0, detour, ends.1);
            never += if by_one_port && longer { share } else { 0.0 };
        });
        libm::pow(never, f64::from(self.candidates))
    }

    fn age(&self) -> Option<Picoseconds> {
        self.others.map(|(_, age)| age)
    }

    fn held_channels(&self, fabric: &Fabric) -> Vec<bool> {
        if !self.holds_credits {
            return Vec::new();
        }
        let is_held = |channel| {
            fabric.target(channel).is_some() && !self.valiant.leaves_group(fabric, channel)
        };
        (0..fabric.channel_slots()).map(is_held).collect()
    }

    fn detours(&self) -> Option<&Valiant> {
        Some(&self.valiant)
    }

    fn decides_by_chance(&self) -> bool {
        self.threshold == 0 && self.equal == Equal::Drawn
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        let &Deciding { fabric, router, ends, drawn, .. } = packet;
        let minimal = self.valiant.minimal(packet);
        let mut best: Option<(u64, u64, Course)> = None;
        for place in 0..self.candidates {
            let Some(detour) = self.valiant.draw(packet, place) else { return minimal };
            let Some([straight, by_detour]) = self.compared(packet, [minimal, detour], queues)
            else {
                return minimal;
            };
            let weights = match self.weights {
                Weights::Double => [1, 2],
                Weights::Equal => [1, 1],
                Weights::Hops => {
                    [minimal, detour].map(|way| self.valiant.length(fabric, router, way, ends.1))
                }
            };
            let [straight, by_detour] =
                [u64::from(straight) * weights[0], u64::from(by_detour) * weights[1]];
            if best.is_none_or(|(_, least, _)| by_detour < least) {
                best = Some((straight, by_detour, detour));
            }
        }
        let detours = |cost: u64, by_detour: u64| match (self.equal, cost.cmp(&by_detour)) {
            (_, Ordering::Greater) => true,
            (Equal::Drawn, Ordering::Equal) => drawn.below(LAST_DRAW - router, 2) == 1,
            _ => false,
        };
        match best {
            Some((straight, by_detour, detour))
                if detours(straight, by_detour + u64::from(self.threshold)) =>
            {
                detour
            }
            _ => minimal,
        }
    }
}
