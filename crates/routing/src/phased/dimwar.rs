//! DimWAR on a HyperX (\[hyperx-adaptive\], section 5.1): dimension by dimension a packet goes
//! straight to its destination's coordinate, or first to any other one. The second hop in a
//! dimension has a virtual channel of its own, so two are enough for any number of dimensions. Or
//! each hop of a way has one, as in CAMINOS.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
use super::rows::Rows;
use super::steps::Steps;
use super::ways::Ways;
use super::{At, Bind, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::document::Reader;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `dimwar`.
pub(super) const DIMWAR: Row<PhasedKind> = Row::new(
    "dimwar",
    "on a HyperX, dimension by dimension straight to the destination's coordinate or by way of \
     another one, in two virtual channels or one for each hop.",
    PhasedKind { misroutes: &Misroute::BY_PHASES, read },
)
.known_as(&["dim-war"]);

fn read(reader: &mut Reader<'_>) -> Option<Bind> {
    let doc = "The virtual channels of hops: \"two\" (the second hop in a dimension has another one), or \
               \"by-hop\" (each hop of a way has its own, two for each dimension).";
    let two = "one for the first hop in a dimension, one for the second.";
    let by_hop = "one for each hop that is behind a packet, two for each dimension.";
    let channels = [("two", Channels::Two, two), ("by-hop", Channels::ByHop, by_hop)];
    let read = reader.one_of("channels", "kind of channels", doc, channels);
    // Without a right value nothing is bound; the other keys are read all the same.
    let channels = read.unwrap_or(Channels::Two);
    let bind = bind_with_cost(reader, move |fabric, cost, parameters| {
        DimWar::new(fabric, channels, cost, parameters)
    });
    read.and(bind)
}

/// What tells the virtual channels of hops apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Whether a hop is the second one in its dimension.
    Two,
    /// The hops behind the packet.
    ByHop,
}

/// Dimensions in order, with a detour in each.
#[derive(Debug)]
pub struct DimWar {
    rows: Rows,
    ways: Ways,
    steps: Steps,
    /// What tells the virtual channels of hops apart.
    pub channels: Channels,
    /// What a port costs.
    pub cost: Cost,
}

/// The phases of packets that come anew to a dimension, and of those that have been derouted in it.
/// By hop there are two such phases for each number of hops behind.
const FRESH: u8 = 0;
const DEROUTED: u8 = 1;

impl DimWar {
    fn new(
        fabric: &Fabric,
        channels: Channels,
        cost: Cost,
        parameters: &PhasedParameters,
    ) -> Result<Self, NoRelation> {
        let rows = Rows::of(fabric)?;
        let steps = match channels {
            Channels::Two => 2,
            Channels::ByHop => 2 * rows.dimensions(),
        };
        let steps = Steps::new(steps, parameters)?;
        Ok(Self { rows, ways: Ways::shortest(fabric)?, steps, channels, cost })
    }
}

impl PhasedRule for DimWar {
    fn phases(&self) -> Phases {
        Phases::straight(match self.channels {
            Channels::Two => 2,
            Channels::ByHop => 4 * usize::from(self.rows.dimensions()),
        })
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let mut left = self.rows.unaligned(router, target);
        let Some(dimension) = left.next() else { return };
        let behind: u8 = narrow(left.count());
        let (done, kind) = (phase / 2, phase % 2);
        if usize::from(done) > 2 * dimension + usize::from(kind) {
            // No packet comes here in this phase.
            return;
        }
        for along in self.rows.onward(fabric, router, target) {
            if along.dimension != dimension || kind == DEROUTED && !along.aligns {
                continue;
            }
            let after = if along.aligns { FRESH } else { DEROUTED };
            let label = self.cost.label(!along.aligns, behind + u8::from(!along.aligns));
            let (step, phase) = match self.channels {
                Channels::Two => (kind, after),
                // The last hop leads to the destination, where the phase does not matter.
                Channels::ByHop if along.aligns && behind == 0 => (done, phase),
                Channels::ByHop => (done, 2 * (done + 1) + after),
            };
            self.steps.add_labelled((along.port, step, phase), label, hops);
        }
    }

    fn longest(&self) -> u32 {
        2 * u32::from(self.rows.dimensions())
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
