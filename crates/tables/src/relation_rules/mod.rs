//! Rules that make routing relations. Each is a file here, with its model, and a row of
//! [`RELATION_RULES`].
//!
//! All are deterministic: equal fabrics give equal relations.

mod bubble_colouring;
mod evenness;
mod left_right;
mod minimal;
mod negative_first;
mod order;
mod parting;
mod ring;
mod shortest;
#[cfg(test)]
mod tests;
mod tree;
mod two_orders;
mod udwm;
mod up_down;
mod vcs_apart;

pub use tree::Order as TreeOrder;
pub use udwm::udwm;

use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Fabric;
use flitlab_routing::phased::PhasedKind;
use flitlab_routing::relation::{NoRelation, Relation};

/// The rules that scenarios can name, in the order in which they are offered.
pub static RELATION_RULES: [Row<RelationRule>; 10] = [
    RelationRule::UP_DOWN,
    RelationRule::UDWM,
    RelationRule::LEFT_RIGHT,
    RelationRule::MINIMAL,
    RelationRule::MINIMAL_UP_DOWN,
    RelationRule::MINIMAL_NUE,
    RelationRule::TWO_ORDERS,
    RelationRule::PARTED,
    RelationRule::BUBBLE_COLOURING,
    RelationRule::NEGATIVE_FIRST,
];

/// A rule that makes a relation.
#[derive(Clone, Copy)]
pub struct RelationRule {
    /// Whether it is free of deadlock on any fabric; for packets of one size, if it [keeps a
    /// bubble](Self::keeps_bubble).
    pub avoids_deadlock: bool,
    /// Least number of virtual channels.
    pub least_vcs: u8,
    /// Number of largest packets for which an injected packet leaves room by default, as far as
    /// buffers can hold them.
    pub injection_bubble: u8,
    /// Whether it has rings that packets enter only if they leave room for another packet. Then
    /// buffers have to hold two.
    pub keeps_bubble: bool,
    /// Makes the relation.
    pub make: MakesRelation,
}

/// Makes a relation for a fabric.
pub type MakesRelation = fn(&Fabric, &RelationParameters) -> Result<Relation, NoRelation>;

impl RelationRule {
    /// A rule that is free of deadlock in one virtual channel, without any bubble.
    pub const fn usual(make: MakesRelation) -> Self {
        let (avoids_deadlock, least_vcs) = (true, 1);
        Self { avoids_deadlock, least_vcs, injection_bubble: 0, keeps_bubble: false, make }
    }

    /// Makes the relation of a fabric.
    ///
    /// # Errors
    /// If the rule needs more virtual channels or a fabric of another shape, the root does not exist,
    /// some pair is not connected, or memory is short.
    pub fn relation(
        &self,
        fabric: &Fabric,
        parameters: &RelationParameters,
    ) -> Result<Relation, NoRelation> {
        let (needed, vcs) = (self.least_vcs, parameters.vcs);
        if vcs < needed {
            return Err(NoRelation::VirtualChannels { needed, vcs });
        }
        (self.make)(fabric, parameters)
    }
}

impl Component for RelationRule {
    const NOUN: &'static str = "rule";

    /// The rule that suits the virtual channels.
    const RESERVED: &'static [&'static str] = &["auto"];

    fn built_in() -> &'static [Row<Self>] {
        &RELATION_RULES
    }

    fn is_taken(name: &str) -> bool {
        PhasedKind::named(name).is_some()
    }
}

/// The resources of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationParameters {
    /// Number of virtual channels, from 1 to 16.
    pub vcs: u8,
    /// The search order of the spanning tree, for rules that have one.
    pub tree: TreeOrder,
    /// The root of the spanning tree; `None` for the connected router of lowest number, or the one
    /// in the middle, as the rule says.
    pub root: Option<u32>,
}

impl Default for RelationParameters {
    fn default() -> Self {
        Self { vcs: 1, tree: TreeOrder::default(), root: None }
    }
}

impl RelationParameters {
    /// The spanning tree, from the connected router of lowest number if no root is asked for.
    fn tree(&self, fabric: &Fabric) -> Result<tree::Tree, NoRelation> {
        self.tree_from(fabric, tree::first_router)
    }

    /// The spanning tree, from a root of the rule's own if none is asked for.
    fn tree_from(
        &self,
        fabric: &Fabric,
        own: fn(&Fabric) -> u32,
    ) -> Result<tree::Tree, NoRelation> {
        let root = self.root.unwrap_or_else(|| own(fabric));
        if root >= fabric.routers() {
            return Err(NoRelation::Root { root, routers: fabric.routers() });
        }
        Ok(tree::Tree::new(fabric, root, self.tree))
    }
}
