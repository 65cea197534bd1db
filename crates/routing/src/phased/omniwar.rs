//! OmniWAR on a HyperX (\[hyperx-adaptive\], section 5.2): at each switch a packet takes any
//! dimension in which it is not aligned, straight to its destination's coordinate or, while
//! it has deroutes left, to any other one. Each hop is in the next virtual channel, so no packets wait
//! for each other in a circle.
//!
//! Where cables have failed a packet takes no hop from which the deroutes that it has left lead no
//! more to its destination. On a way with the fewest hops it also leaves a dimension in which it is
//! aligned; that takes two deroutes, since it has to come back to it.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
use super::failures::Harmed;
use super::rows::Rows;
use super::steps::Steps;
use super::ways::Ways;
use super::{At, Bind, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::document::{Reader, Whole};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `omniwar`.
pub(super) const OMNIWAR: Row<PhasedKind> = Row::new(
    "omniwar",
    "on a HyperX, in any dimension straight to the destination's coordinate or to another one, with \
     a virtual channel for each hop.",
    PhasedKind { misroutes: &Misroute::BY_PHASES, read },
)
.known_as(&["omni-war"]);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let doc = "How many hops of a packet may be detours; without it as many as there are virtual \
               channels for, and one for each dimension at most.";
    let deroutes = reader.optional("deroutes", &Whole { range: 0..=15 }, doc).map(narrow);
    bind_with_cost(reader, move |fabric, cost, parameters| {
        OmniWar::new(fabric, deroutes, cost, parameters)
    })
}

/// Hops in any order of dimensions, some of them detours.
#[derive(Debug)]
pub struct OmniWar {
    rows: Rows,
    ways: Ways,
    steps: Steps,
    /// Most deroutes of a packet.
    pub deroutes: u8,
    /// Whether some pairs need deroutes.
    leads_round: bool,
    /// What a port costs.
    pub cost: Cost,
}

impl OmniWar {
    fn new(
        fabric: &Fabric,
        deroutes: Option<u8>,
        cost: Cost,
        parameters: &PhasedParameters,
    ) -> Result<Self, NoRelation> {
        let rows = Rows::of(fabric)?;
        let dimensions = rows.dimensions();
        let usual = parameters.vcs.saturating_sub(dimensions).min(dimensions);
        let ways = Ways::shortest(fabric)?;
        let ends = fabric.ends();
        let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
        let more = |(from, to)| {
            let left = ways.left(from, to).expect("all pairs are connected");
            (left.saturating_sub(rows.hops(from, to)), (from, to))
        };
        let most = pairs.map(more).reduce(|most, it| if it.0 > most.0 { it } else { most });
        let (needed, ends) = most.unwrap_or_default();
        let harmed = (needed > 0).then(|| rows.harmed(fabric, ends)).flatten();
        let deroutes = deroutes.unwrap_or(usual.max(needed));
        if let Some(Harmed { from, to, cable }) = harmed {
            if deroutes < needed {
                return Err(NoRelation::Deroutes { from, to, cable, needed, deroutes });
            }
            let (needed, vcs) = (dimensions + deroutes, parameters.vcs);
            if needed > vcs && !parameters.clamps {
                let hops = ways.left(ends.0, ends.1).unwrap_or(0).into();
                return Err(NoRelation::LongWays { from, to, cable, hops, needed, vcs });
            }
        }
        let phases = (u32::from(deroutes) + 1) * u32::from(dimensions + deroutes);
        if phases > 256 {
            return Err(NoRelation::TooFar { hops: (dimensions + deroutes).into() });
        }
        let steps = Steps::new(dimensions + deroutes, parameters)?;
        Ok(Self { rows, ways, steps, deroutes, leads_round: needed > 0, cost })
    }

    fn most(&self) -> u8 {
        self.rows.dimensions() + self.deroutes
    }
}

impl PhasedRule for OmniWar {
    /// A phase for each number of deroutes taken and of hops taken.
    fn phases(&self) -> Phases {
        let count = usize::from(self.deroutes + 1) * usize::from(self.most());
        Phases::straight(count)
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let (derouted, done) = (phase / self.most(), phase % self.most());
        let left = self.rows.hops(router, target);
        // Each hop by which a packet is derouted counts once, or twice if it leaves a dimension.
        let least = if self.leads_round { derouted.div_ceil(2) } else { derouted };
        let apart = (left + done).checked_sub(derouted);
        let Some(here) = self.ways.left(router, target) else { return };
        if done < least || apart.is_none_or(|apart| apart > self.rows.dimensions()) {
            // No packet comes here in this phase.
            return;
        }
        for along in self.rows.outputs(fabric, router, target) {
            let Some(behind) = self.ways.left(along.next, target) else { continue };
            if !along.is_ahead && behind + 1 != here {
                continue;
            }
            let left = self.rows.hops(along.next, target);
            let derouted = derouted + u8::from(!along.aligns) + u8::from(!along.is_ahead);
            if derouted + (behind - left) > self.deroutes {
                continue;
            }
            // The last hop leads to the destination, where the phase does not matter.
            let phase = if left == 0 { phase } else { derouted * self.most() + done + 1 };
            let label = self.cost.label(!along.aligns, behind);
            self.steps.add_labelled((along.port, done, phase), label, hops);
        }
    }

    fn longest(&self) -> u32 {
        self.most().into()
    }

    fn sight(&self) -> Option<Sight> {
        let vcs = (self.steps.width(), self.steps.vcs_for_two());
        let sight = self.cost.sight(self.rows.dimensions(), vcs);
        (self.deroutes > 0).then_some(sight)
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
