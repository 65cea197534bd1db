//! Negative-first, the turn model for meshes of any number of dimensions (\[turn-model\]): all hops
//! in negative directions first, then all hops in positive ones, each in any order.
//!
//! A hop is negative if it leads to the lower coordinate. The only forbidden turns are those from a
//! positive direction to a negative one. Negative hops lower the router's number and positive hops
//! raise it. So no cycle of channels closes, and one virtual channel is enough. Which turns are
//! legal does not depend on virtual channels: a hop is offered in all of them.
//!
//! A packet takes the shortest legal paths. On a whole mesh these are shortest paths of the mesh.
//! Where cables have failed they may be longer, by way of other rows. Some pairs may have none,
//! since nothing lies below a failure at the lowest coordinates: such a fabric is refused.
//!
//! Fabrics with rings are refused, because a direction round a ring both lowers and raises numbers.

use super::shortest::shortest;
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::{NoRelation, Relation};

impl RelationRule {
    /// `negative-first`.
    pub const NEGATIVE_FIRST: Row<Self> = Row::new(
        NAME,
        "on meshes, all shortest paths with the hops in negative directions first.",
        Self::usual(make),
    );
}

const NAME: &str = "negative-first";

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let no_mesh = |has| NoRelation::NoMesh { rule: NAME, has };
    let grid = fabric.grid().ok_or(no_mesh("no coordinates"))?;
    if (0..grid.dimensions()).any(|dimension| grid.closed(dimension)) {
        return Err(no_mesh("rings"));
    }
    // Without rings a hop changes the router's number in the direction of its coordinate.
    let positive = |channel: Channel| fabric.target(channel) > Some(fabric.source(channel));
    let legal = |before: VirtualChannel, next: VirtualChannel| {
        !positive(before.channel) || positive(next.channel)
    };
    let relation = shortest(fabric, parameters.vcs, legal)?;
    let ends = fabric.ends();
    for &source in &ends {
        let has_none = |to| relation.hops(relation.injected(source), to).is_empty();
        if let Some(&to) = ends.iter().find(|&&to| to != source && has_none(to)) {
            let names = (fabric.router_name(source), fabric.router_name(to));
            return Err(NoRelation::NoPath(names.0, names.1));
        }
    }
    Ok(relation)
}

#[cfg(test)]
mod tests;
