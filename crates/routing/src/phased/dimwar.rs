//! DimWAR on a HyperX (\[hyperx-adaptive\], section 5.1): dimension by dimension a packet goes
//! straight to its destination's coordinate, or first to any other one. The second hop in a
//! dimension has a virtual channel of its own, so two are enough for any number of dimensions. Or
//! each hop of a way has one, as in CAMINOS.
//!
//! Where cables have failed a packet is derouted only to switches from which a cable leads to the
//! destination's coordinate. Packets of pairs that so have no way go round: with two virtual channels
//! up and then down, in a third one; with one for each hop along ways with the fewest hops.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
use super::failures::Harmed;
use super::rows::Rows;
use super::steps::Steps;
use super::up_down::UpDown;
use super::ways::Ways;
use super::{At, Bind, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::document::Reader;
use flitlab_base::narrow::{fitted, narrow};
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
    let doc = "The virtual channels of hops.";
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
    /// The ways of packets that have none dimension by dimension.
    round: Round,
    /// What tells the virtual channels of hops apart.
    pub channels: Channels,
    /// What a port costs.
    pub cost: Cost,
}

/// How packets go that have no way dimension by dimension.
#[derive(Debug)]
enum Round {
    /// There are none.
    Nobody,
    UpDown(UpDown),
    /// With the fewest hops, so many at most.
    Fewest(u8),
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
        let (rows, ways) = (Rows::of(fabric)?, Ways::shortest(fabric)?);
        let lost = lost(fabric, &rows);
        let hops = |&(from, to): &(u32, u32)| ways.left(from, to).unwrap_or(0);
        let farthest =
            lost.iter().copied().reduce(|most, it| if hops(&it) > hops(&most) { it } else { most });
        let round = match (channels, farthest) {
            (_, None) => Round::Nobody,
            (Channels::Two, Some(_)) => Round::UpDown(UpDown::new(fabric)?),
            (Channels::ByHop, Some(ends)) => Round::Fewest(hops(&ends)),
        };
        let steps = match (channels, &round) {
            (Channels::Two, Round::Nobody) => 2,
            (Channels::Two, _) => 3,
            (Channels::ByHop, &Round::Fewest(hops)) => hops.max(2 * rows.dimensions()),
            (Channels::ByHop, _) => 2 * rows.dimensions(),
        };
        let hops_round = match (&round, farthest) {
            (Round::UpDown(up_down), Some((from, to))) => up_down.left(from, to, true).into(),
            (_, farthest) => farthest.map_or(0, |ends| hops(&ends).into()),
        };
        let harmed = farthest.and_then(|ends| rows.harmed(fabric, ends));
        let steps = Steps::new(steps, parameters).map_err(|error| match (error, harmed) {
            (NoRelation::VirtualChannels { needed, vcs }, Some(Harmed { from, to, cable })) => {
                NoRelation::LongWays { from, to, cable, hops: hops_round, needed, vcs }
            }
            (error, _) => error,
        })?;
        Ok(Self { rows, ways, steps, round, channels, cost })
    }

    /// The first phase of packets that go round.
    fn round_phase(&self) -> u8 {
        match self.channels {
            Channels::Two => 2,
            Channels::ByHop => 4 * self.rows.dimensions(),
        }
    }

    /// Adds the hops of a packet that goes round, after so many hops; by ways up and down whether it
    /// has gone down.
    fn hops_round(
        &self,
        fabric: &Fabric,
        (router, target): (u32, u32),
        done: u8,
        hops: &mut Vec<Hop>,
    ) {
        match &self.round {
            Round::Nobody => {}
            Round::UpDown(up_down) => {
                for step in up_down.steps(fabric, (router, target), done == 0) {
                    let phase = self.round_phase() + u8::from(step.leads_down);
                    let behind = u8::try_from(step.left).unwrap_or(u8::MAX - 1);
                    let label = self.cost.label(true, behind);
                    self.steps.add_labelled((step.port, 2, phase), label, hops);
                }
            }
            &Round::Fewest(most) => {
                let left = self.ways.left(router, target).unwrap_or(0);
                let outputs = fabric.outputs(router);
                for channel in outputs.clone() {
                    let Some(next) = fabric.target(channel) else { continue };
                    if left == 0
                        || done + left > most
                        || self.ways.onward((router, next), target).is_none()
                    {
                        continue;
                    }
                    // The last hop leads to the destination, where the phase does not matter.
                    let phase = self.round_phase() + (done + 1).min(most - 1);
                    let port = fitted!(channel - outputs.start, u16);
                    let label = self.cost.label(true, left - 1);
                    self.steps.add_labelled((port, done, phase), label, hops);
                }
            }
        }
    }
}

/// The pairs without a way dimension by dimension, with a deroute in each.
fn lost(fabric: &Fabric, rows: &Rows) -> Vec<(u32, u32)> {
    if fabric.failed_cables().is_empty() {
        return Vec::new();
    }
    let ends = fabric.ends();
    let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
    pairs.filter(|&ends| is_lost(fabric, rows, ends)).collect()
}

/// Whether a packet at a router has no such way to a target.
fn is_lost(fabric: &Fabric, rows: &Rows, (mut router, target): (u32, u32)) -> bool {
    while let Some(dimension) = rows.unaligned(router, target).next() {
        let ahead = (target, dimension);
        let by_deroute = || {
            let mut along =
                rows.onward(fabric, router, target).filter(|it| it.dimension == dimension);
            along.any(|it| rows.leads_on(fabric, it.next, ahead))
        };
        if !rows.leads_on(fabric, router, ahead) && !by_deroute() {
            return true;
        }
        router = rows.aligned(router, target, dimension);
    }
    false
}

impl PhasedRule for DimWar {
    fn phases(&self) -> Phases {
        let round = match self.round {
            Round::Nobody => 0,
            Round::UpDown(_) => 2,
            Round::Fewest(hops) => hops.into(),
        };
        Phases::straight(usize::from(self.round_phase()) + round)
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let mut left = self.rows.unaligned(router, target);
        let Some(dimension) = left.next() else { return };
        let behind: u8 = narrow(left.count());
        if let Some(done) = phase.checked_sub(self.round_phase()) {
            return self.hops_round(fabric, (router, target), done, hops);
        }
        let (done, kind) = (phase / 2, phase % 2);
        if usize::from(done) > 2 * dimension + usize::from(kind) {
            // No packet comes here in this phase.
            return;
        }
        let goes_round = !matches!(self.round, Round::Nobody);
        if phase == FRESH && goes_round && is_lost(fabric, &self.rows, (router, target)) {
            return self.hops_round(fabric, (router, target), 0, hops);
        }
        for along in self.rows.onward(fabric, router, target) {
            if along.dimension != dimension || kind == DEROUTED && !along.aligns {
                continue;
            }
            let ahead = (target, dimension);
            if !along.aligns && !self.rows.leads_on(fabric, along.next, ahead) {
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
        let round = match &self.round {
            Round::Nobody => 0,
            Round::UpDown(up_down) => up_down.longest(),
            &Round::Fewest(hops) => hops.into(),
        };
        round.max(2 * u32::from(self.rows.dimensions()))
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
