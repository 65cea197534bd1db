//! What a rule with phases is, and what it is asked.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::at_head::AtHead;
use super::valiant::Valiant;
use crate::adaptive::Misroute;
use crate::direction_rules::drawn;
use crate::relation::{Hop, NoRelation, Phases, Relation};
use flitlab_base::document::Reader;
use flitlab_base::mix::mixed;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric, NONE};

/// Where a packet's hops are asked for: a router, the number of the
/// [target](Relation) of its leg, and its phase.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The router where the packet is.
    pub router: u32,
    /// The target for which it is bound in this phase.
    pub target: u32,
    /// The packet's phase, which does not decide.
    pub phase: u8,
}

/// How a packet goes on: its phase, and the router or group by way of which it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The phase.
    pub phase: u8,
    /// The target of phases by way of something; [`NONE`] if there is none.
    pub via: u32,
}

impl Course {
    /// Straight to the destination.
    pub fn straight(phase: u8) -> Self {
        Self { phase, via: NONE }
    }
}

/// The random numbers of a packet, which depend on the seed, its source and its number there alone.
#[derive(Clone, Copy, Debug)]
pub struct Drawn(u64);

impl Drawn {
    /// The numbers of the packet with this number at its source terminal.
    pub fn new(seed: u64, source: u32, sequence: u32) -> Self {
        Self(drawn(seed, source, sequence))
    }

    /// The random number of this place in the packet's sequence. It is below `count`, at least 1.
    pub fn below(self, place: u32, count: u32) -> u32 {
        let steps = u64::from(place).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let upper = mixed(self.0.wrapping_add(steps)) >> 32;
        narrow((upper * u64::from(count)) >> 32)
    }
}

/// What a router sees of its outputs.
pub trait Queues {
    /// The flits that have left by a port in these virtual channels, a bit each, and for which no
    /// credit has come back.
    fn used(&mut self, port: u16, vcs: u16) -> u32;

    /// The flits that had left by a channel of any router at the last multiple of the rule's
    /// [age](PhasedRule::age), in all virtual channels, and for which no credit had come back
    /// before.
    fn elsewhere(&mut self, channel: Channel) -> u32;
}

/// A packet that decides.
#[derive(Clone, Copy, Debug)]
pub struct Deciding<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// The relation by which it goes.
    pub relation: &'a Relation,
    /// The router where it is.
    pub router: u32,
    /// The routers of its source and of its destination.
    pub ends: (u32, u32),
    /// Its phase, which decides, and its via if it has one.
    pub course: Course,
    /// Its random numbers.
    pub drawn: Drawn,
}

impl Deciding<'_> {
    /// The queue of a course at the router: the flits that are out by the port of its hops that has
    /// the fewest, in all virtual channels of the port or in those of the hops. Returns them with the
    /// port; `None` if the course has no hops there.
    pub fn least(&self, course: Course, sees: Sees, queues: &mut dyn Queues) -> Option<(u32, u16)> {
        let target = match (course.via, self.relation.phases()) {
            (NONE, Some(phases)) => phases.target(self.ends.0, self.ends.1),
            (NONE, None) => self.ends.1,
            (via, _) => via,
        };
        let state = self.relation.in_phase(self.router, course.phase);
        let by_port = self.relation.hops(state, target).chunk_by(|one, two| one.port == two.port);
        let used = by_port.map(|hops| {
            let vcs = match sees {
                Sees::Port => u16::MAX,
                Sees::Vcs => hops.iter().fold(0, |vcs, hop| vcs | 1 << hop.vc),
            };
            (queues.used(hops[0].port, vcs), hops[0].port)
        });
        used.min()
    }
}

/// Which virtual channels of an output count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// All of them.
    Port,
    /// Those of the packet's hops.
    Vcs,
}

/// What a rule has to see of a way before packets leave it for a detour: more than `threshold`
/// flits that are out by its first port, and `weight` times those by the detour's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// So many flits by which the way has to be worse.
    pub threshold: u32,
    /// The key that sets them.
    pub key: &'static str,
    /// How often a flit of the detour counts.
    pub weight: u32,
    /// Virtual channels of a port that packets may take at one step.
    pub vcs: u8,
    /// Virtual channels that a port needs for two at each step.
    pub vcs_for_two: u8,
}

/// A rule whose packets pass through phases.
///
/// It is asked for its phases and hops once for a fabric, and for courses as packets start and
/// decide. What it answers has to depend on its arguments alone: packets are simulated on any number
/// of threads. docs/extending.md, "A rule with phases", goes through one.
pub trait PhasedRule: Any + fmt::Debug + Send + Sync {
    /// How packets pass from phase to phase: 1 to 256 phases.
    fn phases(&self) -> Phases;

    /// Adds all hops of a packet, each with its virtual channel, below the rule's
    /// [number](PhasedParameters::vcs), and the phase after it. No two have the same port and virtual
    /// channel. It is asked for every router, target and phase, whether packets come there or not;
    /// not where the target is reached, and not in phases that decide.
    ///
    /// On its leg by way of something a packet stays in phases that lead to a via, and on a leg to
    /// its destination in others. The proof refuses a place without hops to which packets can come.
    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>);

    /// Most hops of a packet, from its source's router to its destination's.
    fn longest(&self) -> u32;

    /// The virtual channels of each kind of step, in words: `check` prints them behind "of which the
    /// relation uses".
    fn steps(&self) -> String;

    /// An output channel of a router, by which a way goes on to another router than which no packet's
    /// is shorter. Both have live terminals, or lie on such ways.
    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel;

    /// How packets choose a port when their heads ask; `None` if they may have any of their hops as
    /// long as they wait.
    fn at_head(&self) -> Option<AtHead> {
        None
    }

    /// The interval at whose multiples routers see what is out at others; `None` if they never do.
    fn age(&self) -> Option<Picoseconds> {
        None
    }

    /// By channel: whether the router at its end holds the channel's credits back, by how long
    /// those of its own outputs are away (docs/model.md, "Credits that are held back"). Empty if
    /// none does. Only routers whose links are shared flit by flit do.
    fn held_channels(&self, _fabric: &Fabric) -> Vec<bool> {
        Vec::new()
    }

    /// The detours that packets take, if they are Valiant's. Bounds of the load are then given for
    /// detours by way of the same.
    fn detours(&self) -> Option<&Valiant> {
        None
    }

    /// Whether minimal ways have one cable between two groups at most, instead of the fewest hops.
    fn goes_by_groups(&self) -> bool {
        self.detours().is_some_and(Valiant::is_by_groups)
    }

    /// The course with which a packet starts between two routers, in one of the phases of
    /// [`Phases::starts`].
    fn start(&self, _ends: (u32, u32), _drawn: Drawn) -> Course {
        Course::straight(0)
    }

    /// Calls `each` with the courses with which packets of a pair of routers may start, and the share
    /// of the packets that do. All shares are 1 in sum.
    fn for_each_course(&self, _ends: (u32, u32), each: &mut dyn FnMut(Course, f64)) {
        each(Course::straight(0), 1.0);
    }

    /// What it has to see of a way; `None` if packets take no detours by what their router sees of its
    /// own outputs.
    fn sight(&self) -> Option<Sight> {
        None
    }

    /// Whether routers tell a detour from a minimal way by the same port, where packets take detours by
    /// what waits.
    fn tells_ways_apart(&self) -> bool {
        true
    }

    /// The share of the packets between two routers that never take a detour, whatever waits, since
    /// detours and minimal ways leave by one port and routers don't [tell them
    /// apart](Self::tells_ways_apart).
    fn never_takes(&self, _: &Fabric, _: &Relation, _ends: (u32, u32)) -> f64 {
        0.0
    }

    /// Whether packets draw how they go on where nothing waits.
    fn decides_by_chance(&self) -> bool {
        false
    }

    /// The course of a packet that decides: in one of the phases that its phase may decide on, and
    /// by way of a target if that phase leads to one. Of a rule that decides nothing it is not asked.
    fn decide(&self, packet: &Deciding<'_>, _queues: &mut dyn Queues) -> Course {
        packet.course
    }
}

/// A [`PhasedRule`] whose packets go the minimal way or take one of Valiant's detours. All that it
/// says itself is how they decide. A rule that says more, such as [`Ugal`](super::Ugal), is a [`PhasedRule`].
pub trait DetourRule: Any + fmt::Debug + Send + Sync {
    /// The ways between which packets decide, made by [`Valiant::deciding`].
    fn valiant(&self) -> &Valiant;

    /// As [`PhasedRule::decide`].
    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course;
}

impl<R: DetourRule> PhasedRule for R {
    fn phases(&self) -> Phases {
        self.valiant().deciding_phases()
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        self.valiant().hops(fabric, at, hops);
    }

    fn longest(&self) -> u32 {
        self.valiant().longest()
    }

    fn steps(&self) -> String {
        self.valiant().steps()
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.valiant().onward(fabric, router, destination)
    }

    fn detours(&self) -> Option<&Valiant> {
        Some(self.valiant())
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        DetourRule::decide(self, packet, queues)
    }
}

/// The virtual channels of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasedParameters {
    /// Number of virtual channels that the rule may use, from 1 to 16.
    pub vcs: u8,
    /// Flits of a packet with the maximum payload.
    pub largest_packet: u32,
    /// Whether the last virtual channel serves all steps that have none of their own. Such rules
    /// can deadlock.
    pub clamps: bool,
}

/// Makes a rule for a fabric, or says why it has none there.
pub type Bind = Arc<
    dyn Fn(&Fabric, &PhasedParameters) -> Result<Arc<dyn PhasedRule>, NoRelation> + Send + Sync,
>;

/// A rule as scenarios name it.
#[derive(Clone, Copy)]
pub struct PhasedKind {
    /// The detours that its packets may take.
    pub misroutes: &'static [Misroute],
    /// Reads the keys of the rule; `None` if one is wrong, which the reader has reported.
    pub read: fn(&mut Reader<'_>) -> Option<Bind>,
}
