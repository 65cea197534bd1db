//! Polarized routing on any fabric (\[polarized\]): a packet leaves its source's surroundings for
//! its destination's without a router between that is drawn. With s and t the routers of its source
//! and destination, each hop is one by which d(x, t) - d(s, x) gets less, or one that keeps it and
//! leads away from s, where s is nearer than t, or else towards t. So no packet walks in circles.
//! Each hop is in the next virtual channel.

use std::sync::Arc;

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases, Targets};
use super::at_head::{Among, AtHead, Cost, read_penalty};
use super::steps::Steps;
use super::ways::Ways;
use super::{At, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::narrow::fitted;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric, NONE};

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
        let mut longest = 0;
        // By router: the hops that a packet of a pair can have left.
        let mut left = vec![NONE; fabric.routers() as usize];
        for &source in &fabric.ends() {
            for &target in &fabric.ends() {
                left.fill(NONE);
                left[target as usize] = 0;
                longest =
                    longest.max(most_left(fabric, &ways, (source, target), source, &mut left));
            }
        }
        if longest > MOST_HOPS.into() {
            return Err(NoRelation::TooFar { hops: longest });
        }
        let longest = fitted!(longest.max(1), u8);
        Ok(Self { steps: Steps::new(longest, parameters)?, ways, longest, cost })
    }
}

/// The most hops that a packet between two routers can have left at a router.
fn most_left(fabric: &Fabric, ways: &Ways, ends: (u32, u32), at: u32, left: &mut [u32]) -> u32 {
    if left[at as usize] == NONE {
        let nexts: Vec<u32> =
            fabric.neighbors(at).filter(|&next| gain(ways, ends, at, next).is_some()).collect();
        let most = nexts.into_iter().map(|next| 1 + most_left(fabric, ways, ends, next, left));
        left[at as usize] = most.max().unwrap_or(0);
    }
    left[at as usize]
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
            let port = fitted!(channel - outputs.start, u16);
            self.steps.add_labelled((port, phase, after), 2 - gain, hops);
        }
    }

    fn longest(&self) -> u32 {
        self.longest.into()
    }

    fn sight(&self) -> Option<Sight> {
        Some(self.cost.sight(1, self.steps.width()))
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
