//! DimWAR on a HyperX (\[hyperx-adaptive\], section 5.1): dimension by dimension a packet goes
//! straight to its destination's coordinate, or first to any other one. The second hop in a
//! dimension has a virtual channel of its own, so two are enough for any number of dimensions.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
use super::rows::Rows;
use super::steps::Steps;
use super::ways::Ways;
use super::{At, PhasedKind, PhasedParameters, PhasedRule};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `dimwar`.
pub(super) const DIMWAR: Row<PhasedKind> = Row::new(
    "dimwar",
    "on a HyperX, dimension by dimension straight to the destination's coordinate or by way of \
     another one, in two virtual channels.",
    PhasedKind {
        misroutes: &Misroute::BY_PHASES,
        read: |reader| bind_with_cost(reader, DimWar::new),
    },
)
.known_as(&["dim-war"]);

/// Dimensions in order, with a detour in each.
#[derive(Debug)]
pub struct DimWar {
    rows: Rows,
    ways: Ways,
    steps: Steps,
    /// What a port costs.
    pub cost: Cost,
}

/// The phases of packets that come anew to a dimension, and of those that have been derouted in it.
const FRESH: u8 = 0;
const DEROUTED: u8 = 1;

impl DimWar {
    fn new(fabric: &Fabric, cost: Cost, parameters: &PhasedParameters) -> Result<Self, NoRelation> {
        let (rows, steps) = (Rows::of(fabric)?, Steps::new(2, parameters)?);
        Ok(Self { rows, ways: Ways::shortest(fabric)?, steps, cost })
    }
}

impl PhasedRule for DimWar {
    fn phases(&self) -> Phases {
        Phases::straight(2)
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let mut left = self.rows.unaligned(router, target);
        let Some(dimension) = left.next() else { return };
        let behind: u8 = narrow(left.count());
        for along in self.rows.onward(fabric, router, target) {
            if along.dimension != dimension || phase == DEROUTED && !along.aligns {
                continue;
            }
            let after = if along.aligns { FRESH } else { DEROUTED };
            let label = self.cost.label(!along.aligns, behind + u8::from(!along.aligns));
            self.steps.add_labelled((along.port, phase, after), label, hops);
        }
    }

    fn longest(&self) -> u32 {
        2 * u32::from(self.rows.dimensions())
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
