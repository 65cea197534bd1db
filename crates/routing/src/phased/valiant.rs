//! Valiant's randomised routing (\[valiant\]), by way of a router or of a group.
//!
//! On a fabric of groups each packet goes minimally to a group that is drawn, and on from the
//! router where it comes to it (\[dragonfly\], VAL), or to a router that is drawn. On
//! other fabrics it goes to a router, along ways with the fewest hops. What is drawn is neither the
//! source's nor the destination's, and each other one is as likely. Or any router is drawn, and a
//! packet that draws one of its ends has its first leg behind it. A packet that comes to its
//! destination's router on its way is delivered there.
//!
//! On a fabric of groups both legs have one cable between groups at most. Vias without such ways are
//! not drawn. Where failures leave a pair itself without one, its minimal ways lead round, in steps
//! of their own that begin at the first one.

use std::sync::Arc;

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, LostVias, NoRelation, Phase, Phases, Targets};
use super::leg::Leg;
use super::steps::Steps;
use super::ways::Ways;
use super::{At, Bind, Course, Drawn, PhasedKind, PhasedParameters, PhasedRule};
use flitlab_base::document::Reader;
use flitlab_base::narrow::fitted;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric, NONE};

/// `valiant`.
pub(super) const VALIANT: Row<PhasedKind> = Row::new(
    "valiant",
    "each packet goes by way of a group that is drawn, or of a router, minimally to it and from \
     it.",
    PhasedKind {
        misroutes: &[Misroute::AtSource],
        read: |reader| {
            let via = ViaKind::read(reader)?;
            let bind: Bind = Arc::new(move |fabric, parameters| {
                Ok(Arc::new(Valiant::new(fabric, via, (0, MinimalVcs::Apart), parameters)?))
            });
            Some(bind)
        },
    },
)
.known_as(&["val", "vlb"]);

/// What packets go by way of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViaKind {
    /// A group on a fabric of groups, else a router.
    Auto,
    Group,
    Router,
    /// A router of a group that neither end is in.
    Elsewhere,
    /// Any router, that of the source and that of the destination included.
    RouterOrEnd,
}

/// The virtual channels in which packets begin that go minimally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MinimalVcs {
    /// Those of the second half of a detour, as if the first one were behind them. So the two kinds
    /// of packets have virtual channels apart where they choose, as in \[dragonfly\].
    Apart,
    /// Those of the first half.
    Shared,
    /// Those of the first half, from which packets may begin a detour after a hop within the
    /// source's group, too, which only groups have.
    SharedLate,
}

impl ViaKind {
    /// Reads `via`.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let auto = "a group on a fabric of groups, such as a Dragonfly; a switch on others.";
        let or_end = "a switch, perhaps one of its ends: then it goes to its destination at once.";
        let choices = [
            ("auto", Self::Auto, auto),
            (
                "group",
                Self::Group,
                "a group: the second half of the way begins where it is reached.",
            ),
            ("router", Self::Router, "a switch."),
            ("router-elsewhere", Self::Elsewhere, "a switch of a group that neither end is in."),
            ("router-or-end", Self::RouterOrEnd, or_end),
        ];
        let doc = "What packets go by way of: \"group\", \"router\" (a switch), \"router-elsewhere\" (one \
                   of a group that neither end is in), \"router-or-end\" (any switch; those that draw one \
                   of their own go straight), or \"auto\", which is a group where there are some.";
        reader.one_of("via", "kind of detour", doc, choices)
    }
}

/// Ways by way of a router or a group, and the minimal way for packets that have no such way.
#[derive(Debug)]
pub struct Valiant {
    pub(super) ways: Ways,
    /// Ways with the fewest hops, since a detour over two cables between groups can be shorter than
    /// the minimal way.
    fewest: Ways,
    pub(super) steps: Steps,
    /// To the destination without a detour, to the via, and from there to the destination.
    pub(super) minimal: Leg,
    pub(super) first: Leg,
    pub(super) second: Leg,
    /// To the destination without a detour, of pairs whose minimal ways lead round.
    pub(super) round: Option<Leg>,
    /// To the via after a hop within the source's group, if packets may decide on it there.
    pub(super) late: Option<Leg>,
    /// The targets by way of which packets may go: ascending, routers group by group if packets
    /// avoid the groups of their ends.
    vias: Vec<u32>,
    /// By router: the first of those that packets from and to it avoid, and their number.
    avoided: Vec<(u32, u32)>,
    avoids_groups: bool,
    draws_ends: bool,
    /// The vias that failures take from packets.
    lost: LostVias,
}

/// The legs of packets, with the steps as they follow one another along each.
struct Legs {
    minimal: Leg,
    round: Option<Leg>,
    first: Leg,
    late: Option<Leg>,
    second: Leg,
}

impl Legs {
    /// Gives all stretches before one cable between groups, whichever leg they are of, earlier steps
    /// than all behind it. `apart`: minimal packets have the steps of the second half of a detour.
    ///
    /// Where nothing has failed legs do without: their stretches are alike, or their channels apart.
    fn align(&mut self, apart: bool) {
        let mut one_cable = vec![&mut self.first];
        one_cable.extend(&mut self.late);
        if !apart {
            one_cable.push(&mut self.minimal);
        }
        one_cable.extend(&mut self.round);
        let behind = one_cable.iter().map(|leg| leg.end_of(0)).max().expect("the first leg");
        one_cable.into_iter().for_each(|leg| leg.set_steps(1, behind));
        let legs = [Some(&self.first), self.late.as_ref()].into_iter().flatten();
        let begin = legs.map(|leg| leg.end().1).max().expect("the first leg");
        self.second.set_steps(0, begin);
        if apart {
            self.minimal.set_steps(0, begin);
        }
        let mut behind = self.second.end_of(0);
        if apart {
            behind = behind.max(self.minimal.end_of(0));
        }
        if let Some(round) = &mut self.round {
            behind = behind.max(round.end_of(1));
            (2..round.stretches()).for_each(|stretch| {
                round.set_steps(
                    stretch,
                    if stretch == 2 { behind } else { round.end_of(stretch - 1) },
                );
            });
        }
        self.second.set_steps(1, behind);
        if apart {
            self.minimal.set_steps(1, behind);
        }
    }

    /// Most steps of a way, within groups or between them.
    fn steps(&self) -> u8 {
        let legs = [Some(&self.second), Some(&self.minimal), self.round.as_ref()];
        let ends = legs.into_iter().flatten().map(Leg::end);
        ends.map(|(_, local, global)| local.max(global)).max().expect("there are legs")
    }
}

impl Valiant {
    /// The legs, whose phases begin behind `reserved` others.
    pub(super) fn new(
        fabric: &Fabric,
        via: ViaKind,
        (reserved, minimal_vcs): (u8, MinimalVcs),
        parameters: &PhasedParameters,
    ) -> Result<Self, NoRelation> {
        let has_groups = !fabric.groups().is_empty();
        let again = minimal_vcs == MinimalVcs::SharedLate;
        if again && !has_groups {
            return Err(NoRelation::NoGroups);
        }
        let ways = if has_groups { Ways::by_groups(fabric)? } else { Ways::shortest(fabric)? };
        let mut minimal = Leg::to_router(&ways, (reserved, 0, 0));
        let mut phase = minimal.end().0;
        let round = (!ways.round.is_empty()).then(|| Leg::new((phase, 0, 0), &ways.round));
        if let Some(round) = &round {
            phase = round.end().0;
        }
        let by_group = match via {
            ViaKind::Auto => has_groups,
            ViaKind::Group | ViaKind::Elsewhere if !has_groups => return Err(NoRelation::NoGroups),
            ViaKind::Group => true,
            ViaKind::Router | ViaKind::Elsewhere | ViaKind::RouterOrEnd => false,
        };
        let mut first = match by_group {
            true => Leg::to_group(&ways, (phase, 0, 0)),
            false => Leg::to_router(&ways, (phase, 0, 0)),
        };
        let mut start = first.end();
        let late = again.then(|| {
            let begin = (start.0, first.local() + 1, first.global);
            let late = match by_group {
                true => Leg::to_group_from_any(&ways, begin),
                false => Leg::from_any(&ways, begin),
            };
            let with_behind = |leg: &Leg| {
                let behind = late.end_of(0).max(leg.end_of(0));
                leg.clone().with_steps_behind(behind)
            };
            (minimal, first) = (with_behind(&minimal), with_behind(&first));
            let (phase, local, global) = late.end();
            start = (phase, local.max(first.end().1), global);
            late
        });
        let second = match by_group {
            true => Leg::from_any(&ways, start),
            false => Leg::to_router(&ways, start),
        };
        let apart = minimal_vcs == MinimalVcs::Apart;
        if apart {
            minimal = Leg::to_router(&ways, (reserved, second.local(), second.global));
        }
        let mut legs = Legs { minimal, round, first, late, second };
        if has_groups && (legs.round.is_some() || !fabric.failed_cables().is_empty()) {
            legs.align(apart);
        }
        let steps = Steps::new(legs.steps(), parameters);
        let steps = steps.map_err(|error| ways.refused(fabric, error))?;
        let Legs { minimal, round, first, late, second } = legs;
        let avoids_groups = via == ViaKind::Elsewhere;
        let draws_ends = via == ViaKind::RouterOrEnd;
        let (vias, avoided) = if by_group {
            let most = ways.groups().iter().max().expect("there are routers");
            let vias = (fabric.routers()..=fabric.routers() + most).collect();
            (vias, ways.groups().iter().map(|&group| (group, 1)).collect())
        } else {
            let mut vias = fabric.ends();
            let group = |via: u32| if avoids_groups { ways.group_of(via) } else { via };
            vias.sort_by_key(|&via| group(via));
            let of_end = |end: u32| {
                if draws_ends {
                    return (0, 0);
                }
                let first = vias.partition_point(|&via| group(via) < group(end));
                let own = vias[first..].iter().take_while(|&&via| group(via) == group(end));
                (fitted!(first, u32), fitted!(own.count(), u32))
            };
            let avoided = (0..fabric.routers()).map(of_end).collect();
            (vias, avoided)
        };
        let fewest = Ways::shortest(fabric)?;
        let lost = match has_groups && !fabric.failed_cables().is_empty() || round.is_some() {
            true => lost_vias(fabric, &ways, &vias),
            false => LostVias::default(),
        };
        Ok(Self {
            ways,
            fewest,
            steps,
            minimal,
            first,
            second,
            round,
            late,
            vias,
            avoided,
            avoids_groups,
            draws_ends,
            lost,
        })
    }

    /// Whether packets go by way of routers of groups that neither end is in alone.
    pub fn avoids_groups(&self) -> bool {
        self.avoids_groups
    }

    /// Whether packets may draw the router of their source or of their destination, too.
    pub fn draws_ends(&self) -> bool {
        self.draws_ends
    }

    /// Whether ways have one cable between two groups at most, instead of the fewest hops.
    pub fn is_by_groups(&self) -> bool {
        self.ways.has_groups()
    }

    /// Whether packets go by way of groups.
    pub fn goes_via_groups(&self) -> bool {
        self.vias.iter().all(|&via| via >= self.ways.routers())
    }

    /// Whether packets may decide on a detour after a hop within their source's group.
    pub fn decides_late(&self) -> bool {
        self.late.is_some()
    }

    /// The phases, behind those that `reserved` gives.
    pub(super) fn phases_behind(&self, reserved: Vec<Phase>, starts: Vec<u8>) -> Phases {
        let mut phases = reserved;
        let then = self.second.phase;
        phases.resize(self.first.phase.into(), Phase::Destination);
        phases.resize(then.into(), Phase::Via { then });
        phases.resize(self.second.end().0.into(), Phase::Destination);
        let targets = match self.goes_via_groups() {
            true => Targets::Groups(self.ways.groups().to_vec()),
            false => Targets::Routers,
        };
        Phases { phases, starts, targets, lost: self.lost.clone() }
    }

    /// The leg of a packet in a phase, and the phase of this leg in which it is: where minimal ways
    /// lead round, the minimal phases that it starts in or decides on stand for those of ways round.
    fn leg_of(&self, at: At) -> (&Leg, At) {
        let begun = at.phase.checked_sub(self.minimal.phase).filter(|&begun| begun <= 1);
        if let (Some(round), Some(begun)) = (&self.round, begun)
            && self.ways.cables(at.router, at.target) > 1
        {
            return (round, At { phase: round.phase + begun, ..at });
        }
        let legs =
            [Some(&self.minimal), self.round.as_ref(), Some(&self.first), self.late.as_ref()];
        let mut legs = legs.into_iter().chain([Some(&self.second)]).flatten();
        (legs.rfind(|leg| leg.phase <= at.phase).expect("a leg's phase"), at)
    }

    /// The phases after one hop within the source's group of a packet that goes minimally.
    pub(super) fn after_a_hop(&self) -> impl Iterator<Item = u8> {
        let legs = [Some(&self.minimal), self.round.as_ref()];
        legs.into_iter().flatten().map(|leg| leg.phase + 1)
    }

    /// The course by way of the target that a packet draws, or of one that has it behind it;
    /// `None` if there is none that it may draw.
    pub(super) fn detour(&self, ends: (u32, u32), drawn: Drawn, place: u32) -> Option<Course> {
        let left = self.left(ends);
        if left == 0 { None } else { Some(self.detour_of(ends, drawn.below(place, left))) }
    }

    /// The vias that packets of a pair avoid: the first of each row, ascending, and their number.
    fn avoided(&self, ends: (u32, u32)) -> impl Iterator<Item = (u32, u32)> + use<> {
        let [one, two] = [ends.0, ends.1].map(|router| self.avoided[router as usize]);
        [one.min(two), one.max(two)].into_iter().skip(usize::from(one == two))
    }

    /// The vias that a pair's packets may not draw, by their numbers: runs of them, ascending. Only
    /// where failures have taken some.
    fn not_drawn(&self, (from, to): (u32, u32)) -> Vec<(u32, u32)> {
        let avoided = self.avoided((from, to)).flat_map(|(first, count)| first..first + count);
        let lost = [&self.lost.from[from as usize], &self.lost.to[to as usize]];
        let is_lost = |via: &u32| lost.iter().any(|lost| lost.binary_search(via).is_ok());
        let lost = (0..).zip(&self.vias).filter(|(_, via)| is_lost(via)).map(|(number, _)| number);
        let mut numbers: Vec<u32> = avoided.chain(lost).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| (number, 1)).collect()
    }

    /// How many vias a pair's packets may draw.
    fn left(&self, ends: (u32, u32)) -> u32 {
        let not_drawn: u32 = match self.lost.is_empty() {
            true => self.avoided(ends).map(|(_, count)| count).sum(),
            false => fitted!(self.not_drawn(ends).len(), u32),
        };
        fitted!(self.vias.len(), u32) - not_drawn
    }

    /// The course by way of one of them, by its number. By way of an end it is that of the second
    /// leg, as if the via were where the packet is.
    fn detour_of(&self, ends: (u32, u32), mut number: u32) -> Course {
        let mut skip =
            |(first, count): (u32, u32)| number += if number >= first { count } else { 0 };
        match self.lost.is_empty() {
            true => self.avoided(ends).for_each(&mut skip),
            false => self.not_drawn(ends).into_iter().for_each(&mut skip),
        }
        let via = self.vias[number as usize];
        if via == ends.0 || via == ends.1 {
            return Course::straight(self.second.phase);
        }
        Course { phase: self.first.phase, via }
    }

    /// The hops of a packet's way from a router to its destination, where it takes the first of
    /// several ways to a group.
    pub(super) fn length(&self, fabric: &Fabric, from: u32, course: Course, to: u32) -> u64 {
        let mut hops = 0;
        self.for_each_channel(fabric, from, course, to, |_| hops += 1);
        hops
    }

    /// The channels of a packet's way from a router to its destination, where it takes the first of
    /// several ports.
    pub(super) fn for_each_channel(
        &self,
        fabric: &Fabric,
        from: u32,
        course: Course,
        to: u32,
        mut each: impl FnMut(Channel),
    ) {
        let mut at = from;
        let via = Some(course.via).filter(|&via| via != NONE);
        for target in via.into_iter().chain([to]) {
            while self.ways.left(at, target) != Some(0) {
                let channel = self.ways.channel(fabric, at, target);
                each(channel);
                at = fabric.target(channel).expect("it leads on");
            }
        }
    }

    /// Whether a channel leads from one group to another.
    pub(super) fn leaves_group(&self, fabric: &Fabric, channel: Channel) -> bool {
        let ends = [fabric.source(channel), fabric.target(channel).expect("it leads on")];
        let [from, to] = ends.map(|router| self.ways.group_of(router));
        from != to
    }
}

impl PhasedRule for Valiant {
    fn phases(&self) -> Phases {
        let mut starts = match self.draws_ends {
            true => vec![self.second.phase],
            false => vec![self.minimal.phase],
        };
        starts.push(self.first.phase);
        if self.draws_ends && !self.lost.is_empty() {
            // Of packets that have nothing to draw.
            starts.push(self.minimal.phase);
        }
        self.phases_behind(Vec::new(), starts)
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        let (leg, at) = self.leg_of(at);
        leg.hops((fabric, &self.ways, self.steps), at, hops);
    }

    fn longest(&self) -> u32 {
        let longest = |leg: &Leg| leg.longest(&self.ways);
        let first = self.late.as_ref().map_or(longest(&self.first), |late| 1 + longest(late));
        let by_detour = first + longest(&self.second);
        by_detour.max(self.round.as_ref().map_or(0, longest))
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.fewest.channel(fabric, router, destination)
    }

    fn steps(&self) -> String {
        self.steps.describe()
    }

    fn start(&self, ends: (u32, u32), drawn: Drawn) -> Course {
        self.detour(ends, drawn, 0).unwrap_or(Course::straight(self.minimal.phase))
    }

    fn for_each_course(&self, ends: (u32, u32), each: &mut dyn FnMut(Course, f64)) {
        let left = self.left(ends);
        if left == 0 {
            each(Course::straight(self.minimal.phase), 1.0);
        }
        for number in 0..left {
            each(self.detour_of(ends, number), 1.0 / f64::from(left));
        }
    }
}

/// The vias that failures take from packets: those to which no way from a router, or from which no
/// way to it, has one cable between groups at most. From a group ways begin at any of its routers
/// with a cable to another one.
fn lost_vias(fabric: &Fabric, ways: &Ways, vias: &[u32]) -> LostVias {
    let mut lost = LostVias { from: Vec::new(), to: vec![Vec::new(); fabric.routers() as usize] };
    let mut vias = vias.to_vec();
    vias.sort_unstable();
    for router in 0..fabric.routers() {
        let lacks = |via: &u32| !ways.is_direct(router, *via);
        lost.from.push(vias.iter().copied().filter(lacks).collect());
    }
    let leaves = |&router: &u32| {
        let group = ways.group_of(router);
        fabric.neighbors(router).any(|next| ways.group_of(next) != group)
    };
    let gates: Vec<u32> = (0..fabric.routers()).filter(leaves).collect();
    for &to in &fabric.ends() {
        let lacks = |via: &u32| match via.checked_sub(ways.routers()) {
            None => !ways.is_direct(*via, to),
            Some(group) => {
                let mut own = gates.iter().filter(|&&gate| ways.group_of(gate) == group);
                !own.all(|&gate| ways.is_direct(gate, to))
            }
        };
        lost.to[to as usize] = vias.iter().copied().filter(lacks).collect();
    }
    if lost.from.iter().chain(&lost.to).all(Vec::is_empty) { LostVias::default() } else { lost }
}
