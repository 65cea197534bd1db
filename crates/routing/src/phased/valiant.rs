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
use super::leg::{Leg, LegStart};
use super::steps::Steps;
use super::ways::Ways;
use super::{At, Bind, Course, Deciding, Drawn, PhasedKind, PhasedParameters, PhasedRule};
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
pub enum ViaKind {
    /// A group on a fabric of groups, else a router.
    Auto,
    /// A group: the second half of the way begins at the router where it is reached.
    Group,
    /// A router with live terminals.
    Router,
    /// A router of a group that neither end is in.
    Elsewhere,
    /// Any router, that of the source and that of the destination included.
    RouterOrEnd,
}

/// The virtual channels in which packets begin that go minimally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinimalVcs {
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
    /// Reads the key `via` of a rule, by default [`Auto`](Self::Auto); `None` if it is wrong, which
    /// the reader has reported.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
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
        let doc = "What packets go by way of.";
        reader.one_of("via", "kind of detour", doc, choices)
    }
}

/// Ways by way of a router or a group, and the minimal way for packets that have no such way.
///
/// It is a rule by itself, whose packets draw their detour at the source. A rule that decides
/// between minimal ways and detours has one inside: it is made by [`deciding`](Self::deciding), and
/// gives the rule's [phases](Self::deciding_phases), hops and courses.
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
        let begin = legs.map(|leg| leg.end().local).max().expect("the first leg");
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
        legs.into_iter().flatten().map(|leg| leg.end().steps()).max().expect("there are legs")
    }
}

impl Valiant {
    /// The phase in which packets of a rule that decides start, and decide at their source's router.
    pub const DECIDES: u8 = 0;

    /// The phase in which they decide once more under [`MinimalVcs::SharedLate`], after a hop within
    /// their source's group.
    pub const DECIDES_AGAIN: u8 = 1;

    /// Detours of a rule whose packets decide at their source's router between these and minimal
    /// ways, and under [`MinimalVcs::SharedLate`] once more after a hop.
    ///
    /// # Errors
    /// If the fabric has no groups for such a `via` or a late decision, there are too few virtual
    /// channels, some pair of routers is not connected, ways are too long, or memory is short.
    pub fn deciding(
        fabric: &Fabric,
        via: ViaKind,
        minimal_vcs: MinimalVcs,
        parameters: &PhasedParameters,
    ) -> Result<Self, NoRelation> {
        let reserved = if minimal_vcs == MinimalVcs::SharedLate { 2 } else { 1 };
        Self::new(fabric, via, (reserved, minimal_vcs), parameters)
    }

    /// The legs, whose phases begin behind `reserved` others.
    fn new(
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
        let at_phase = |phase| LegStart { phase, ..LegStart::default() };
        let mut minimal = Leg::to_router(&ways, at_phase(reserved));
        let mut phase = minimal.end().phase;
        let round = (!ways.round.is_empty()).then(|| Leg::new(at_phase(phase), &ways.round));
        if let Some(round) = &round {
            phase = round.end().phase;
        }
        let by_group = match via {
            ViaKind::Auto => has_groups,
            ViaKind::Group | ViaKind::Elsewhere if !has_groups => return Err(NoRelation::NoGroups),
            ViaKind::Group => true,
            ViaKind::Router | ViaKind::Elsewhere | ViaKind::RouterOrEnd => false,
        };
        let mut first = match by_group {
            true => Leg::to_group(&ways, at_phase(phase)),
            false => Leg::to_router(&ways, at_phase(phase)),
        };
        let mut start = first.end();
        let late = again.then(|| {
            let begin =
                LegStart { phase: start.phase, local: first.local() + 1, global: first.global };
            let late = match by_group {
                true => Leg::to_group_from_any(&ways, begin),
                false => Leg::from_any(&ways, begin),
            };
            let with_behind = |leg: &Leg| {
                let behind = late.end_of(0).max(leg.end_of(0));
                leg.clone().with_steps_behind(behind)
            };
            (minimal, first) = (with_behind(&minimal), with_behind(&first));
            start = late.end();
            start.local = start.local.max(first.end().local);
            late
        });
        let second = match by_group {
            true => Leg::from_any(&ways, start),
            false => Leg::to_router(&ways, start),
        };
        let apart = minimal_vcs == MinimalVcs::Apart;
        if apart {
            let (local, global) = (second.local(), second.global);
            minimal = Leg::to_router(&ways, LegStart { phase: reserved, local, global });
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

    /// The phases of a rule that decides. Packets start in phase [`DECIDES`](Self::DECIDES), and
    /// decide at once.
    pub fn deciding_phases(&self) -> Phases {
        let decides = |straight: u8, detour: u8| {
            let by_end = self.draws_ends.then_some(self.second.phase);
            Phase::Decides { among: [straight, detour].into_iter().chain(by_end).collect() }
        };
        let mut reserved = vec![decides(self.minimal.phase, self.first.phase)];
        let late = self.late.as_ref();
        reserved.extend(late.map(|late| decides(self.minimal.phase + 1, late.phase)));
        self.phases_behind(reserved, vec![Self::DECIDES])
    }

    /// The phases, behind those that `reserved` gives.
    fn phases_behind(&self, reserved: Vec<Phase>, starts: Vec<u8>) -> Phases {
        let mut phases = reserved;
        let then = self.second.phase;
        phases.resize(self.first.phase.into(), Phase::Destination);
        phases.resize(then.into(), Phase::Via { then });
        phases.resize(self.second.end().phase.into(), Phase::Destination);
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
    fn after_a_hop(&self) -> impl Iterator<Item = u8> {
        let legs = [Some(&self.minimal), self.round.as_ref()];
        legs.into_iter().flatten().map(|leg| leg.phase + 1)
    }

    /// The minimal course of a packet that decides.
    pub fn minimal(&self, packet: &Deciding<'_>) -> Course {
        Course::straight(self.minimal.phase + u8::from(self.is_late(packet)))
    }

    /// The detour that a packet draws that decides. `place` is a number below 256, another one for
    /// each candidate; with the same number it is the same detour wherever the packet decides.
    /// `None` if the pair has no router or group to go by way of.
    pub fn draw(&self, packet: &Deciding<'_>, place: u32) -> Option<Course> {
        let drawn = self.detour(packet.ends, packet.drawn, place)?;
        Some(self.begun_at(packet, drawn))
    }

    /// The detour of a packet that decides by way of this router or [group](Self::group). `None` if
    /// its pair may not go that way: the via is where one of its ends is, or failures took it.
    pub fn detour_by(&self, packet: &Deciding<'_>, via: u32) -> Option<Course> {
        let number = fitted!(self.vias.iter().position(|&own| own == via)?, u32);
        let is_in = |&(first, count): &(u32, u32)| (first..first + count).contains(&number);
        let not_drawn = match self.lost.is_empty() {
            true => self.avoided(packet.ends).any(|run| is_in(&run)),
            false => self.not_drawn(packet.ends).iter().any(is_in),
        };
        (!not_drawn).then(|| self.begun_at(packet, self.by(packet.ends, via)))
    }

    /// The via that stands for a group, where packets go by way of groups.
    pub fn group(&self, group: u32) -> u32 {
        self.ways.routers() + group
    }

    /// The routers or groups by way of which packets may go, if their ends are elsewhere.
    pub fn vias(&self) -> &[u32] {
        &self.vias
    }

    /// Whether a packet decides late: after a hop within its source's group.
    fn is_late(&self, packet: &Deciding<'_>) -> bool {
        self.late.is_some() && packet.course.phase == Self::DECIDES_AGAIN
    }

    /// A detour from the source as it is from where a packet decides.
    fn begun_at(&self, packet: &Deciding<'_>, detour: Course) -> Course {
        match &self.late {
            Some(late) if self.is_late(packet) && detour.via != NONE => {
                Course { phase: late.phase, ..detour }
            }
            _ => detour,
        }
    }

    /// The course by way of the target that a packet draws, or of one that has it behind it;
    /// `None` if there is none that it may draw.
    fn detour(&self, ends: (u32, u32), drawn: Drawn, place: u32) -> Option<Course> {
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

    /// The course by way of one of them, by its number.
    fn detour_of(&self, ends: (u32, u32), mut number: u32) -> Course {
        let mut skip =
            |(first, count): (u32, u32)| number += if number >= first { count } else { 0 };
        match self.lost.is_empty() {
            true => self.avoided(ends).for_each(&mut skip),
            false => self.not_drawn(ends).into_iter().for_each(&mut skip),
        }
        self.by(ends, self.vias[number as usize])
    }

    /// The course by way of a target. By way of an end it is that of the second leg, as if the via
    /// were where the packet is.
    fn by(&self, ends: (u32, u32), via: u32) -> Course {
        if via == ends.0 || via == ends.1 {
            return Course::straight(self.second.phase);
        }
        Course { phase: self.first.phase, via }
    }

    /// The hops of a packet's way from a router to its destination's, where it takes the first of
    /// several ways to a group.
    pub fn length(&self, fabric: &Fabric, from: u32, course: Course, to: u32) -> u64 {
        let mut hops = 0;
        self.for_each_channel(fabric, from, course, to, |_| hops += 1);
        hops
    }

    /// Calls `each` with the channels of a packet's way from a router to its destination's, where it
    /// takes the first of several ports.
    pub fn for_each_channel(
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

    /// Whether a channel leads from one group to another. The ways must be by groups.
    pub fn leaves_group(&self, fabric: &Fabric, channel: Channel) -> bool {
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
        let (leg, own) = self.leg_of(at);
        leg.hops((fabric, &self.ways, self.steps), own, hops);
        let leaves = || self.ways.group_of(at.router) != self.ways.group_of(at.target);
        if self.late.is_some() && at.phase == self.minimal.phase && leaves() {
            let first = fabric.outputs(at.router).start;
            let stays = |hop: &Hop| {
                !self.leaves_group(fabric, first + u32::from(hop.port))
                    && self.after_a_hop().any(|phase| phase == hop.phase)
            };
            let again = hops.iter_mut().filter(|hop| stays(hop));
            again.for_each(|hop| hop.phase = Self::DECIDES_AGAIN);
        }
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

    fn detours(&self) -> Option<&Valiant> {
        Some(self)
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
