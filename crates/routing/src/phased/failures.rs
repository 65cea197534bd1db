//! What failures do to a rule, in words: by pair, with a cable that is out of service.

use super::super::relation::NoRelation;
use super::ways::Ways;
use flitlab_fabric::{Fabric, FailedCable};

/// A pair of routers with what has failed between them.
pub(super) struct Harmed {
    pub from: String,
    pub to: String,
    pub cable: String,
}

/// The names of a pair, and of a failed cable: the first that `concerns` it, or else the first at one
/// of its ends, or else the first of all; `None` if nothing has failed.
pub(super) fn harmed(
    fabric: &Fabric,
    (from, to): (u32, u32),
    concerns: impl Fn(&FailedCable) -> bool,
) -> Option<Harmed> {
    let all = fabric.failed_cables();
    let is_at_end =
        |it: &&FailedCable| [it.ends.0, it.ends.1].iter().any(|&at| at == from || at == to);
    let cable = all.iter().find(|it| concerns(it)).or_else(|| all.iter().find(is_at_end));
    let cable = fabric.failed_cable_name(cable.or(all.first())?);
    let more = match all.len() - 1 {
        0 => String::new(),
        1 => " and another cable".into(),
        more => format!(" and {more} other cables"),
    };
    let [from, to] = [from, to].map(|router| fabric.router_name(router));
    Some(Harmed { from, to, cable: cable + &more })
}

impl Ways {
    /// Why a rule has no relation, where it has too few virtual channels: of failures the pair with
    /// the longest ways.
    ///
    /// Other errors are returned as they are.
    pub fn refused(&self, fabric: &Fabric, error: NoRelation) -> NoRelation {
        let NoRelation::VirtualChannels { needed, vcs } = error else { return error };
        let Some(ends) = self.farthest(fabric) else { return error };
        let groups = self.groups();
        let joins = |cable: &FailedCable| {
            let of = |router: u32| groups.get(router as usize);
            let (one, other) = cable.ends;
            [(one, other), (other, one)]
                .map(|it| (of(it.0), of(it.1)))
                .contains(&(of(ends.0), of(ends.1)))
        };
        let hops = self.left(ends.0, ends.1).unwrap_or(0).into();
        harmed(fabric, ends, joins).map_or(error, |Harmed { from, to, cable }| {
            NoRelation::LongWays { from, to, cable, hops, needed, vcs }
        })
    }
}
