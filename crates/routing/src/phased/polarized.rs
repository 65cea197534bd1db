//! Polarized routing on any fabric (\[polarized\]): a packet leaves its source's surroundings for
//! its destination's without a router between that is drawn. With s and t the routers of its source
//! and destination, each hop is one by which d(x, t) - d(s, x) gets less, or one that keeps it and
//! leads away from s, where s is nearer than t, or else towards t. So no packet walks in circles.
//! Each hop is in the next virtual channel.
//!
//! On some fabrics, such as trees, such hops lead to a router that has none to t. Packets don't take
//! these. Along the ways with the fewest hops, which the rule all allows, they always arrive.

use std::sync::Arc;

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases, Targets};
use super::at_head::{Among, AtHead, Cost, read_penalty};
use super::failures::{self, Harmed};
use super::steps::Steps;
use super::ways::Ways;
use super::{At, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::memory::claim;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `polarized`.
pub(super) const POLARIZED: Row<PhasedKind> = Row::new(
    "polarized",
    "on any fabric, hops that lead away from the source or towards the destination, with a virtual \
     channel for each.",
    PhasedKind {
        misroutes: &Misroute::BY_PHASES,
        read: |reader| {
            let penalty =
                read_penalty(reader, "Flits that a hop costs which leads less far, once or twice.");
            Some(Arc::new(move |fabric, parameters| {
                let cost = Cost::Sum(penalty.unwrap_or(2 * parameters.largest_packet));
                Ok(Arc::new(Polarized::new(fabric, cost, parameters)?))
            }))
        },
    },
);

/// Hops away from the source and towards the destination.
#[derive(Debug)]
pub struct Polarized {
    ways: Ways,
    steps: Steps,
    dead_ends: DeadEnds,
    /// Most hops of a packet.
    longest: u8,
    /// What a port costs.
    pub cost: Cost,
}

/// Most hops of a packet, so that their number is a phase.
const MOST_HOPS: u8 = 200;

impl Polarized {
    fn new(fabric: &Fabric, cost: Cost, parameters: &PhasedParameters) -> Result<Self, NoRelation> {
        let ways = Ways::shortest(fabric)?;
        let routers = fabric.routers();
        let mut search = Search {
            fabric,
            ways: &ways,
            left: vec![Left::Unknown; routers as usize],
            seen: Vec::new(),
        };
        let (mut longest, mut farthest) = (0, None);
        let mut dead_ends = DeadEnds { routers: routers.into(), marks: Vec::new() };
        for &source in &fabric.ends() {
            for &target in &fabric.ends() {
                search.begin(target);
                if let Left::Hops(hops) = search.left((source, target), source)
                    && hops > longest
                {
                    (longest, farthest) = (hops, Some((source, target)));
                }
                let is_dead = |at: u32| search.left[at as usize] == Left::DeadEnd;
                for at in search.seen.iter().copied().filter(|&at| is_dead(at)) {
                    dead_ends.insert((source, target), at)?;
                }
            }
        }
        if longest > MOST_HOPS.into() {
            return Err(NoRelation::TooFar { hops: longest });
        }
        let longest = fitted!(longest.max(1), u8);
        let steps = Steps::new(longest, parameters).map_err(|error| {
            let harmed = farthest.and_then(|ends| failures::harmed(fabric, ends, |_| false));
            match (error, harmed) {
                (NoRelation::VirtualChannels { needed, vcs }, Some(Harmed { from, to, cable })) => {
                    NoRelation::LongWays { from, to, cable, hops: longest.into(), needed, vcs }
                }
                (error, _) => error,
            }
        })?;
        Ok(Self { steps, ways, dead_ends, longest, cost })
    }
}

/// The hops that a packet can have left at a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Unknown,
    /// None leads to its destination.
    DeadEnd,
    /// At most so many.
    Hops(u32),
}

/// Looks at the ways of one pair after the other.
struct Search<'a> {
    fabric: &'a Fabric,
    ways: &'a Ways,
    /// By router.
    left: Vec<Left>,
    /// The routers that are known.
    seen: Vec<u32>,
}

impl Search<'_> {
    fn begin(&mut self, target: u32) {
        self.seen.drain(..).for_each(|at| self.left[at as usize] = Left::Unknown);
        self.set(target, Left::Hops(0));
    }

    fn set(&mut self, at: u32, left: Left) {
        self.left[at as usize] = left;
        self.seen.push(at);
    }

    /// The most hops that a packet between two routers can have left at a router.
    fn left(&mut self, ends: (u32, u32), at: u32) -> Left {
        if self.left[at as usize] == Left::Unknown {
            let nexts = self.fabric.neighbors(at);
            let nexts: Vec<u32> =
                nexts.filter(|&next| gain(self.ways, ends, at, next).is_some()).collect();
            let mut left = Left::DeadEnd;
            for next in nexts {
                if let Left::Hops(behind) = self.left(ends, next) {
                    let most = if let Left::Hops(most) = left { most } else { 0 };
                    left = Left::Hops(most.max(1 + behind));
                }
            }
            self.set(at, left);
        }
        self.left[at as usize]
    }
}

/// By pair, the routers from which no hop leads to the destination.
#[derive(Debug)]
struct DeadEnds {
    routers: u64,
    /// By source, destination and router, a bit each; empty if there are none.
    marks: Vec<u64>,
}

impl DeadEnds {
    fn bit(&self, (source, target): (u32, u32), at: u32) -> (usize, u64) {
        let pair = u64::from(source) * self.routers + u64::from(target);
        let bit = pair * self.routers + u64::from(at);
        (narrow(bit / 64), 1 << (bit % 64))
    }

    fn insert(&mut self, ends: (u32, u32), at: u32) -> Result<(), NoRelation> {
        if self.marks.is_empty() {
            let words = self.routers.saturating_pow(3).div_ceil(64);
            claim("the dead ends of the rule", words.saturating_mul(8))?;
            self.marks = vec![0; narrow(words)];
        }
        let (word, bit) = self.bit(ends, at);
        self.marks[word] |= bit;
        Ok(())
    }

    fn contains(&self, ends: (u32, u32), at: u32) -> bool {
        let (word, bit) = self.bit(ends, at);
        self.marks.get(word).is_some_and(|marks| marks & bit != 0)
    }
}

/// By how much d(x, t) - d(s, x) gets less by a hop, 0 to 2; `None` if packets don't take it.
fn gain(ways: &Ways, (source, target): (u32, u32), at: u32, next: u32) -> Option<u8> {
    // Ways back are as long.
    let distance = |from, to| Some(i32::from(ways.left(from, to)?));
    let [from, to] = [source, target].map(|end| Some((distance(at, end)?, distance(next, end)?)));
    let ((from, next_from), (to, next_to)) = (from?, to?);
    let gain = (next_from - from) - (next_to - to);
    let is_level = if from < to { next_from > from } else { next_to < to };
    (gain > 0 || gain == 0 && is_level).then(|| fitted!(gain, u8))
}

impl PhasedRule for Polarized {
    /// The phase is the number of hops.
    fn phases(&self) -> Phases {
        let targets = Targets::Pairs(self.ways.routers());
        Phases { targets, ..Phases::straight(self.longest.into()) }
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let (pair, destination) = (target / self.ways.routers(), target % self.ways.routers());
        let ends = (pair - 1, destination);
        let after = (phase + 1).min(self.longest - 1);
        let outputs = fabric.outputs(router);
        for channel in outputs.clone() {
            let Some(next) = fabric.target(channel) else { continue };
            let Some(gain) = gain(&self.ways, ends, router, next) else { continue };
            if self.dead_ends.contains(ends, next) {
                continue;
            }
            let port = fitted!(channel - outputs.start, u16);
            self.steps.add_labelled((port, phase, after), 2 - gain, hops);
        }
    }

    fn longest(&self) -> u32 {
        self.longest.into()
    }

    fn sight(&self) -> Option<Sight> {
        Some(self.cost.sight(1, (self.steps.width(), self.steps.vcs_for_two())))
    }

    fn at_head(&self) -> Option<AtHead> {
        Some(AtHead { cost: self.cost, among: Among::All })
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.ways.channel(fabric, router, destination)
    }

    fn steps(&self) -> String {
        self.steps.describe()
    }
}
