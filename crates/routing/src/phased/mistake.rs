//! What contradicts a rule's own phases, and the search for it before any packet is simulated.
//!
//! The proof follows every packet that the phases allow. It says nothing of a rule that leaves them:
//! one that starts or decides otherwise, or whose packets walk farther than it says. So the phases
//! and all hops are checked as the relation is made, and some packets are tried out on their ways.
//! Built-in rules are looked at like those of other crates.

use super::{Course, Deciding, Drawn, PhasedRule, Queues};
use crate::relation::{Hop, Phase, Phases, Relation};
use flitlab_base::mix::mixed;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::{Channel, Fabric, NONE};

/// What contradicts a rule's own phases: a mistake in the code of the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// There are too few or too many phases.
    #[error("`phases` returns {0} phases: it has to return 1 to 256")]
    Count(usize),
    /// Packets start in no phase.
    #[error("`phases` names no phase in which packets start: `starts` has to have one")]
    NoStart,
    /// A phase is named that there is none of, or that can't be there.
    #[error("`phases` has {what} go on in phase {phase}, which has to be {needed}")]
    Phase {
        /// The packets that would.
        what: String,
        /// The phase.
        phase: u8,
        /// The phases that are possible.
        needed: String,
    },
    /// A hop leads through no channel, or into no virtual channel or phase.
    #[error(
        "`hops` leads from {at} towards {target} in phase {phase} by port {}, virtual channel {}, into phase {}: {why}",
        hop.port, hop.vc, hop.phase
    )]
    Hop {
        /// The router.
        at: String,
        /// A router where the target is reached.
        target: String,
        /// The phase before the hop.
        phase: u8,
        /// The hop.
        hop: Hop,
        /// What is wrong with it.
        why: String,
    },
    /// A packet starts or decides otherwise than the phases allow.
    #[error("`{call}` returns {what} at {at}, of packets {pair}: {why}")]
    Course {
        /// The method of the rule.
        call: &'static str,
        /// The phase or the via that it returned.
        what: String,
        /// The router where the packet is.
        at: String,
        /// The routers of its source and of its destination, as "from A to B".
        pair: String,
        /// What would be possible.
        why: String,
    },
    /// A packet has taken more hops than the rule allows.
    #[error("`longest` returns {longest}, and a packet from {from} to {to} takes more hops")]
    Longest {
        /// The hops that the rule allows.
        longest: u32,
        /// The router of the source.
        from: String,
        /// That of the destination.
        to: String,
    },
    /// The way by which a rule goes on does not lead to the destination.
    #[error(
        "`onward` does not lead from {from} to {to}: it has to return an output channel of the router that leads nearer"
    )]
    Onward {
        /// The router of the source.
        from: String,
        /// That of the destination.
        to: String,
    },
    /// The shares of the courses with which packets start are not 1 in sum.
    #[error(
        "the shares that `for_each_course` gives from {from} to {to} are {sum} in sum: they have to be 1"
    )]
    Shares {
        /// The router of the source.
        from: String,
        /// That of the destination.
        to: String,
        /// The sum.
        sum: String,
    },
}

/// At most so many pairs of routers are tried out.
const MOST_PAIRS: u64 = 256;

/// Checks that the phases of a rule name each other as they may.
pub(super) fn check_phases(phases: &Phases) -> Result<(), Mistake> {
    let count = phases.phases.len();
    if !(1..=256).contains(&count) {
        return Err(Mistake::Count(count));
    }
    if phases.starts.is_empty() {
        return Err(Mistake::NoStart);
    }
    let below = |phase: u8| usize::from(phase) < count;
    let wrong = |what: String, phase, needed: String| Err(Mistake::Phase { what, phase, needed });
    let last = || format!("one of 0 to {}", count - 1);
    if let Some(&phase) = phases.starts.iter().find(|&&phase| !below(phase)) {
        return wrong("packets at their start".into(), phase, last());
    }
    for (own, phase) in phases.phases.iter().enumerate() {
        match phase {
            Phase::Destination => {}
            Phase::Via { then } if below(*then) && phases.leads_straight(*then) => {}
            Phase::Via { then } => {
                let needed = "a phase that leads to the destination".into();
                return wrong(format!("packets of phase {own} from their via"), *then, needed);
            }
            Phase::Decides { among } => {
                let decides =
                    |phase: u8| matches!(phases.phases[usize::from(phase)], Phase::Decides { .. });
                let wrong_one = among.iter().find(|&&phase| !below(phase) || decides(phase));
                if let Some(&choice) = wrong_one {
                    let needed = "a phase that decides nothing".into();
                    return wrong(format!("packets that decide in phase {own}"), choice, needed);
                }
            }
        }
    }
    Ok(())
}

/// Where hops are checked.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub fabric: &'a Fabric,
    pub phases: &'a Phases,
    pub vcs: u8,
    pub router: u32,
    pub target: u32,
    pub phase: u8,
}

impl Place<'_> {
    /// Checks a hop that a rule adds at this place.
    pub(super) fn check(self, hop: Hop) -> Result<(), Mistake> {
        let Self { fabric, phases, vcs, router, target, phase } = self;
        let outputs = fabric.outputs(router);
        let exists = usize::from(hop.port) < outputs.len();
        let next = exists.then(|| fabric.target(outputs.start + u32::from(hop.port))).flatten();
        let count = phases.phases.len();
        let is_via = |phase| phases.is_via(phase);
        let why = match next {
            None => "no channel that works leaves by this port".into(),
            Some(_) if hop.vc >= vcs => format!("the virtual channels are 0 to {}", vcs - 1),
            Some(_) if usize::from(hop.phase) >= count => {
                format!("the phases are 0 to {}", count - 1)
            }
            // At the destination the phase does not matter.
            Some(next) if !is_via(phase) && phases.is_reached(target, next) => return Ok(()),
            Some(_) if is_via(phase) != is_via(hop.phase) => match is_via(phase) {
                true => "until its via is reached a packet stays in phases that lead to one".into(),
                false => {
                    "a packet begins to go by way of something where it starts or decides".into()
                }
            },
            Some(_) => return Ok(()),
        };
        let mut reached = (0..fabric.routers()).filter(|&at| phases.is_reached(target, at));
        let target = fabric.router_name(reached.next().unwrap_or(router));
        Err(Mistake::Hop { at: fabric.router_name(router), target, phase, hop, why })
    }
}

/// What a course was returned by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Start,
    ForEachCourse,
    /// The decision of a packet in this phase.
    Decide(u8),
}

/// Checks a course that a rule returns at a router, of a packet between these two: its phase is one
/// that the packet may enter there, and its via a target. `name` names routers.
#[inline]
pub(crate) fn check_course(
    name: impl Fn(u32) -> String,
    relation: &Relation,
    (call, at, ends): (Call, u32, (u32, u32)),
    course: Course,
) -> Result<(), Mistake> {
    let phases = relation.phases().expect("the relation of a rule has phases");
    let among = match call {
        Call::Start | Call::ForEachCourse => &phases.starts,
        Call::Decide(phase) => match &phases.phases[usize::from(phase)] {
            Phase::Decides { among } => among,
            Phase::Destination | Phase::Via { .. } => unreachable!("packets decide elsewhere"),
        },
    };
    let enters = among.contains(&course.phase);
    if enters && (!phases.is_via(course.phase) || relation.is_via(course.via)) {
        return Ok(());
    }
    let (what, why) = if !enters {
        let list: Vec<String> = among.iter().map(u8::to_string).collect();
        (format!("phase {}", course.phase), format!("`phases` allows {} there", list.join(", ")))
    } else {
        let what = match course.via {
            NONE => "no via".into(),
            via => format!("via {via}"),
        };
        let last = relation.targets() - 1;
        let vias = match phases.group_count() {
            0 => format!("routers with terminals, 0 to {last}"),
            groups => format!("groups, {} to {last}", last + 1 - groups),
        };
        (what, format!("phase {} leads by way of {vias}", course.phase))
    };
    let call = match call {
        Call::Start => "start",
        Call::ForEachCourse => "for_each_course",
        Call::Decide(_) => "decide",
    };
    let [at, from, to] = [at, ends.0, ends.1].map(name);
    Err(Mistake::Course { call, what, at, pair: format!("from {from} to {to}"), why })
}

/// Tries out packets of some pairs of routers, and of all if they are few: where they start, what
/// they decide while nothing waits and while much does, and how far they walk.
pub(super) fn try_out(
    fabric: &Fabric,
    rule: &dyn PhasedRule,
    relation: &Relation,
) -> Result<(), Mistake> {
    let phases = relation.phases().expect("the relation of a rule has phases");
    let ends = fabric.ends();
    let count = ends.len() as u64;
    let all = count * count;
    for number in 0..all.min(MOST_PAIRS) {
        let pair = if all <= MOST_PAIRS { number } else { mixed(number) % all };
        let end = |number: u64| ends[narrow::<usize>(number)];
        let ends = (end(pair / count), end(pair % count));
        if ends.0 == ends.1 {
            continue;
        }
        let trial = Trial { fabric, rule, relation, phases, ends };
        trial.goes_onward()?;
        trial.has_shares()?;
        for queues in [&mut Waiting { state: None }, &mut Waiting { state: Some(number) }] {
            trial.walk(Drawn::new(0, ends.0, narrow(number)), queues)?;
        }
    }
    Ok(())
}

/// Outputs by which nothing waits, or this and that.
struct Waiting {
    state: Option<u64>,
}

impl Waiting {
    fn flits(&mut self) -> u32 {
        let Some(state) = &mut self.state else { return 0 };
        *state = mixed(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        narrow(*state >> 55)
    }
}

impl Queues for Waiting {
    fn used(&mut self, _: u16, _: u16) -> u32 {
        self.flits()
    }

    fn elsewhere(&mut self, _: Channel) -> u32 {
        self.flits()
    }
}

/// Packets of a pair of routers.
struct Trial<'a> {
    fabric: &'a Fabric,
    rule: &'a dyn PhasedRule,
    relation: &'a Relation,
    phases: &'a Phases,
    ends: (u32, u32),
}

impl Trial<'_> {
    fn name(&self, router: u32) -> String {
        self.fabric.router_name(router)
    }

    fn names(&self) -> (String, String) {
        (self.name(self.ends.0), self.name(self.ends.1))
    }

    /// Checks a course that the rule returns at a router.
    fn check(&self, call: Call, at: u32, course: Course) -> Result<(), Mistake> {
        check_course(|it| self.name(it), self.relation, (call, at, self.ends), course)
    }

    /// Follows a packet, by hops that are drawn. A packet without a hop is left to the proof.
    fn walk(&self, drawn: Drawn, queues: &mut Waiting) -> Result<(), Mistake> {
        let &Self { fabric, rule, relation, phases, ends, .. } = self;
        let mut course = rule.start(ends, drawn);
        self.check(Call::Start, ends.0, course)?;
        let (mut router, mut hops_taken) = (ends.0, 0);
        while router != ends.1 {
            if let Phase::Decides { .. } = phases.phases[usize::from(course.phase)] {
                let packet = Deciding { fabric, relation, router, ends, course, drawn };
                let decided = rule.decide(&packet, queues);
                self.check(Call::Decide(course.phase), router, decided)?;
                course = decided;
            }
            let mut target = phases.target(ends.0, ends.1);
            if let Phase::Via { then } = phases.phases[usize::from(course.phase)] {
                match phases.is_reached(course.via, router) {
                    true => course = Course::straight(then),
                    false => target = course.via,
                }
            }
            let hops = relation.hops(relation.in_phase(router, course.phase), target);
            if hops.is_empty() {
                return Ok(());
            }
            if hops_taken == rule.longest() {
                let (from, to) = self.names();
                return Err(Mistake::Longest { longest: rule.longest(), from, to });
            }
            let draw = drawn.below(hops_taken, fitted!(hops.len(), u32));
            let hop = hops[draw as usize];
            let channel = fabric.outputs(router).start + u32::from(hop.port);
            router = fabric.target(channel).expect("hops are checked");
            course.phase = hop.phase;
            hops_taken += 1;
        }
        Ok(())
    }

    /// Follows the way by which the rule goes on.
    fn goes_onward(&self) -> Result<(), Mistake> {
        let &Self { fabric, rule, ends, .. } = self;
        let mut router = ends.0;
        for _ in 0..fabric.routers() {
            if router == ends.1 {
                return Ok(());
            }
            let channel = rule.onward(fabric, router, ends.1);
            let own = fabric.outputs(router).contains(&channel);
            match own.then(|| fabric.target(channel)).flatten() {
                Some(next) => router = next,
                None => break,
            }
        }
        let (from, to) = self.names();
        Err(Mistake::Onward { from, to })
    }

    /// Checks the courses with which packets may start.
    fn has_shares(&self) -> Result<(), Mistake> {
        let mut sum = 0.0;
        let mut wrong = None;
        let decides =
            |phase: &u8| matches!(self.phases.phases[usize::from(*phase)], Phase::Decides { .. });
        if self.phases.starts.iter().any(decides) {
            // What such packets may do their phases say.
            return Ok(());
        }
        self.rule.for_each_course(self.ends, &mut |course, share| {
            sum += share;
            let checked = self.check(Call::ForEachCourse, self.ends.0, course);
            wrong = wrong.take().or(checked.err());
        });
        match wrong {
            Some(wrong) => Err(wrong),
            None if (sum - 1.0).abs() < 1e-6 => Ok(()),
            None => {
                let (from, to) = self.names();
                Err(Mistake::Shares { from, to, sum: sum.to_string() })
            }
        }
    }
}
