//! DAL on a HyperX, dimensionally adaptive routing with load balancing (\[hyperx\]): at each
//! switch a packet takes any dimension in which it is not aligned, straight to its
//! destination's coordinate or, once in each dimension, to any other one. It escapes in dimension
//! order, in a virtual channel that it does not leave again.
//!
//! Where cables have failed it deroutes only to switches from which a cable leads to the
//! destination's coordinate. If some way in dimension order leads over what has failed, packets
//! escape up and then down instead.

use super::super::adaptive::Misroute;
use super::super::relation::{Hop, NoRelation, Phases};
use super::at_head::{Among, AtHead, Cost, bind_with_cost};
use super::rows::Rows;
use super::up_down::UpDown;
use super::ways::Ways;
use super::{At, PhasedKind, PhasedParameters, PhasedRule, Sight};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `dal`.
pub(super) const DAL: Row<PhasedKind> = Row::new(
    "dal",
    "on a HyperX, in any dimension straight to the destination's coordinate or, once in each, to \
     another one, with an escape in dimension order.",
    PhasedKind { misroutes: &Misroute::BY_PHASES, read: |reader| bind_with_cost(reader, Dal::new) },
);

/// Hops in any order of dimensions, with a detour in each, and an escape.
#[derive(Debug)]
pub struct Dal {
    rows: Rows,
    ways: Ways,
    /// The escape, if dimension order is none.
    up_down: Option<UpDown>,
    vcs: u8,
    /// What a port costs.
    pub cost: Cost,
}

/// The virtual channel of the escape.
const ESCAPE: u8 = 0;

/// Most dimensions, so that a phase can be a set of them.
const MOST_DIMENSIONS: u8 = 6;

impl Dal {
    fn new(fabric: &Fabric, cost: Cost, parameters: &PhasedParameters) -> Result<Self, NoRelation> {
        let &PhasedParameters { vcs, clamps, .. } = parameters;
        let rows = Rows::of(fabric)?;
        if vcs < 2 && !clamps {
            return Err(NoRelation::VirtualChannels { needed: 2, vcs });
        }
        if rows.dimensions() > MOST_DIMENSIONS {
            return Err(NoRelation::TooFar { hops: 2 * u32::from(rows.dimensions()) });
        }
        let ways = Ways::shortest(fabric)?;
        let (routers, ends) = (0..fabric.routers(), fabric.ends());
        let is_live = |&router: &u32| fabric.neighbors(router).next().is_some();
        let mut pairs = routers
            .filter(is_live)
            .flat_map(|router| ends.iter().map(move |&target| (router, target)));
        let is_lost = |(router, target): (u32, u32)| {
            let first = rows.unaligned(router, target).next();
            first.is_some_and(|dimension| !rows.leads_on(fabric, router, (target, dimension)))
        };
        let has_failed = !fabric.failed_cables().is_empty();
        let up_down = (has_failed && pairs.any(is_lost)).then(|| UpDown::new(fabric));
        if let (1, Some(_)) = (vcs, &up_down) {
            // Some pairs have a way by the escape alone, which takes a virtual channel of its own.
            return Err(NoRelation::VirtualChannels { needed: 2, vcs });
        }
        Ok(Self { rows, ways, up_down: up_down.transpose()?, vcs, cost })
    }

    /// The phase of packets that have escaped, behind those for each set of dimensions in which a
    /// packet has been derouted. Behind it is that of packets that have gone down.
    fn escaped(&self) -> u8 {
        1 << self.rows.dimensions()
    }
}

impl PhasedRule for Dal {
    fn phases(&self) -> Phases {
        let count = if self.up_down.is_some() { 2 } else { 1 };
        Phases::straight(usize::from(self.escaped()) + count)
    }

    fn hops(&self, fabric: &Fabric, At { router, target, phase }: At, hops: &mut Vec<Hop>) {
        let left: Vec<usize> = self.rows.unaligned(router, target).collect();
        // With one virtual channel there is no escape.
        let has_escape = self.vcs > 1;
        if let Some(up_down) = &self.up_down {
            let may_rise = phase <= self.escaped();
            for step in up_down.steps(fabric, (router, target), may_rise) {
                let phase = self.escaped() + u8::from(step.leads_down);
                hops.push(Hop { escape: true, phase, ..Hop::new(step.port, ESCAPE) });
            }
        }
        for along in self.rows.onward(fabric, router, target) {
            let own = 1 << along.dimension;
            let escapes = along.aligns && left.first() == Some(&along.dimension);
            if has_escape && escapes && self.up_down.is_none() {
                let phase = self.escaped();
                hops.push(Hop { escape: true, phase, ..Hop::new(along.port, ESCAPE) });
            }
            if phase >= self.escaped() || !along.aligns && phase & own != 0 {
                continue;
            }
            let ahead = (target, along.dimension);
            if !along.aligns && !self.rows.leads_on(fabric, along.next, ahead) {
                continue;
            }
            let behind: u8 = narrow(left.len() - usize::from(along.aligns));
            let label = self.cost.label(!along.aligns, behind);
            let phase = if along.aligns { phase } else { phase | own };
            let vcs = u8::from(has_escape)..self.vcs;
            hops.extend(vcs.map(|vc| Hop { phase, label, ..Hop::new(along.port, vc) }));
        }
    }

    fn longest(&self) -> u32 {
        let escape = self.up_down.as_ref().map_or(0, UpDown::longest);
        2 * u32::from(self.rows.dimensions()) + escape
    }

    fn sight(&self) -> Option<Sight> {
        // Two beside the escape.
        let vcs = (self.vcs.saturating_sub(1).max(1), 3);
        Some(self.cost.sight(self.rows.dimensions(), vcs))
    }

    fn at_head(&self) -> Option<AtHead> {
        Some(AtHead { cost: self.cost, among: Among::All })
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.ways.channel(fabric, router, destination)
    }

    fn steps(&self) -> String {
        match self.vcs {
            0 | 1 => "1, and no escape".into(),
            vcs => format!("{vcs}, of which 1 is the escape"),
        }
    }
}
