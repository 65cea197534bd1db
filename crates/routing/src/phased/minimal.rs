//! Minimal adaptive routing with virtual channels that ascend from step to step.
//!
//! `minimal-by-hop` takes any way with the fewest hops on any fabric, in a virtual channel for each
//! hop (\[gunther\]). `dragonfly-minimal` takes one cable between two groups at most, with a hop
//! within the source's group before it and one within the destination's after it, where needed
//! (\[dragonfly\], MIN). Where failures leave no such way, it leads round by other groups.

use std::sync::Arc;

use super::super::relation::{Hop, NoRelation, Phases};
use super::leg::{Leg, LegStart};
use super::steps::Steps;
use super::ways::Ways;
use super::{At, PhasedKind, PhasedParameters, PhasedRule};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};

/// `minimal-by-hop`.
pub(super) const BY_HOP: Row<PhasedKind> = Row::new(
    "minimal-by-hop",
    "all ways with the fewest hops, the first hop in virtual channel 0, the next in 1, and so on.",
    PhasedKind {
        misroutes: &[],
        read: |_| Some(Arc::new(|fabric, it| bound(fabric, Ways::shortest(fabric)?, it))),
    },
);

/// `dragonfly-minimal`.
pub(super) const DRAGONFLY: Row<PhasedKind> = Row::new(
    "dragonfly-minimal",
    "ways with one cable between two groups at most, as on a Dragonfly: within the source's group \
     in virtual channel 0, within the destination's in 1.",
    PhasedKind {
        misroutes: &[],
        read: |_| Some(Arc::new(|fabric, it| bound(fabric, Ways::by_groups(fabric)?, it))),
    },
);

fn bound(
    fabric: &Fabric,
    ways: Ways,
    parameters: &PhasedParameters,
) -> Result<Arc<dyn PhasedRule>, NoRelation> {
    let leg = Leg::along_all(&ways, LegStart::default());
    let steps = Steps::new(leg.end().steps(), parameters);
    let steps = steps.map_err(|error| ways.refused(fabric, error))?;
    Ok(Arc::new(Minimal { ways, leg, steps }))
}

/// One leg to the destination.
#[derive(Debug)]
pub struct Minimal {
    ways: Ways,
    leg: Leg,
    steps: Steps,
}

impl Minimal {
    /// Whether ways have one cable between two groups at most, instead of the fewest hops.
    pub fn is_by_groups(&self) -> bool {
        self.ways.has_groups()
    }
}

impl PhasedRule for Minimal {
    fn phases(&self) -> Phases {
        Phases::straight(self.leg.end().phase.into())
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        self.leg.hops((fabric, &self.ways, self.steps), at, hops);
    }

    fn longest(&self) -> u32 {
        self.leg.longest(&self.ways)
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.ways.channel(fabric, router, destination)
    }

    fn goes_by_groups(&self) -> bool {
        self.is_by_groups()
    }

    fn steps(&self) -> String {
        self.steps.describe()
    }
}
