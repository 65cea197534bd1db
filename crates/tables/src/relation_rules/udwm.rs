//! UDWM, Up*/Down* with multi-channels (\[udwm\], as \[path-selection\], section 4.2, sums it up):
//! Up*/Down* in which a packet that goes down may turn up again if the turn takes it to a strictly
//! lower virtual channel. With v virtual channels there are at most v - 1 such turns.
//!
//! \[path-selection\] doesn't say which virtual channels all other hops may take. They must not
//! take a higher one, or a turn could be had again and again. Here they stay in the virtual channel
//! or go to a lower one: every (channel, virtual channel) then comes before all that may follow it,
//! virtual channels descending first, and inside a virtual channel those that lead up before those
//! that lead down. A packet goes lower only where its shortest way is as short from there.

use super::shortest::shortest;
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::relation::{NoRelation, Relation};

impl RelationRule {
    /// `udwm`.
    pub const UDWM: Row<Self> = Row::new(
        "udwm",
        "up-down, and a turn from down to up that leads to a lower virtual channel.",
        Self::usual(|fabric, parameters| udwm(fabric, parameters, true)),
    );
}

/// Makes the relation. `may_descend` says whether hops that are no turns from down to up may go to
/// lower virtual channels.
pub fn udwm(
    fabric: &Fabric,
    parameters: &RelationParameters,
    may_descend: bool,
) -> Result<Relation, NoRelation> {
    let up = parameters.tree(fabric)?.up(fabric);
    let legal = shortest(fabric, parameters.vcs, |before, next| {
        let turns = !up[before.channel as usize] && up[next.channel as usize];
        next.vc < before.vc && (turns || may_descend) || next.vc == before.vc && !turns
    })?;
    Ok(legal)
}
