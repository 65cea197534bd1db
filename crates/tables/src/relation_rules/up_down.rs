//! Adaptive Up*/Down* (\[autonet\]): up towards the root as far as needed, then down, never up
//! again. A packet may take any output on a shortest such way, in any virtual channel: virtual
//! channels change nothing in which turns are legal.

use super::shortest::{FirstHop, from_everywhere};
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::RelationBuilder as Builder;
use flitlab_routing::relation::{NoRelation, Relation};

impl RelationRule {
    /// `up-down`.
    pub const UP_DOWN: Row<Self> = Row::new(
        "up-down",
        "all shortest ways that first go up a tree, then down.",
        Self::usual(make),
    );
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    Ok(up_down(fabric, parameters)?.finish())
}

/// With the hops of packets that start anywhere.
pub(super) fn up_down<'f>(
    fabric: &'f Fabric,
    parameters: &RelationParameters,
) -> Result<Builder<'f>, NoRelation> {
    let up = parameters.tree(fabric)?.up(fabric);
    let legal = |before: u32, next: u32| up[before as usize] || !up[next as usize];
    let legal = |before: VirtualChannel, next: VirtualChannel| legal(before.channel, next.channel);
    Ok(from_everywhere(fabric, parameters.vcs, FirstHop::SHORTEST, legal)?)
}
