//! OmniWAR on a HyperX (\[hyperx-adaptive\], section 5.2): at each switch a packet takes any
//! dimension in which it is not aligned, straight to its destination's coordinate or, while
//! it has deroutes left, to any other one. Each hop is in the next virtual channel, so no packets wait
//! for each other in a circle.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
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
        let deroutes = deroutes.unwrap_or(usual);
        let steps = Steps::new(dimensions + deroutes, parameters)?;
        Ok(Self { rows, ways: Ways::shortest(fabric)?, steps, deroutes, cost })
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
        let left: u8 = narrow(self.rows.unaligned(router, target).count());
        if done < derouted || left + done - derouted > self.rows.dimensions() {
            // No packet comes here in this phase.
            return;
        }
        for along in self.rows.onward(fabric, router, target) {
            let by_detour = u8::from(!along.aligns);
            if derouted + by_detour > self.deroutes {
                continue;
            }
            let left = left - u8::from(along.aligns);
            // The last hop leads to the destination, where the phase does not matter.
            let phase = if left == 0 { phase } else { phase + by_detour * self.most() + 1 };
            let label = self.cost.label(!along.aligns, left);
            self.steps.add_labelled((along.port, done, phase), label, hops);
        }
    }

    fn longest(&self) -> u32 {
        self.most().into()
    }

    fn sight(&self) -> Option<Sight> {
        let sight = self.cost.sight(self.rows.dimensions(), self.steps.width());
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
