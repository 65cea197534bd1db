//! Routing relations: all the hops among which a packet may choose on its way.
//!
//! A [`Relation`] gives the hops (port, virtual channel) that a packet may take next, by the place
//! of its head and by its destination. Adaptive routing chooses one of them at each router. A
//! [`PathSet`] gives the paths of a pair, among which the source chooses. Each rule that makes a
//! relation is a file here, with its model, and a row of [`RELATION_RULES`].
//!
//! All rules are deterministic: equal fabrics give equal relations.

mod bubble_colouring;
mod evenness;
mod left_right;
mod minimal;
mod negative_first;
mod order;
mod parting;
mod path_set;
mod phases;
#[allow(clippy::module_inception, reason = "the type that the module is about")]
mod relation;
mod ring;
mod shortest;
#[cfg(test)]
mod tests;
mod tree;
mod two_orders;
mod udwm;
mod up_down;
mod vcs_apart;

pub use path_set::{PathChoice, PathSet};
pub use phases::{LostVias, Phase, Phases, Targets};
pub use relation::{
    ALL_CLASSES, Builder as RelationBuilder, Hop, MAX_FALLBACKS, Relation, Ring, TERMINAL_CLASSES,
};
pub use tree::Order as TreeOrder;
pub use udwm::udwm;

use crate::agnostic::NoTable;
use crate::phased::{Mistake, PhasedKind};
use flitlab_base::memory::Shortage;
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Fabric;

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

/// Why a rule has no relation for a fabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRelation {
    /// The rule needs more virtual channels than there are.
    #[error("the rule needs {needed} virtual channels, and there are {vcs}")]
    VirtualChannels {
        /// Number of virtual channels that it needs.
        needed: u8,
        /// Number of virtual channels that there are.
        vcs: u8,
    },
    /// With what has failed, ways are so long that the rule needs more virtual channels than there
    /// are.
    #[error(
        "from {from} to {to}: with {cable} out of service packets take {hops} hops, and for such ways the rule needs \
         {needed} virtual channels; there are {vcs}"
    )]
    LongWays {
        /// The router of the longest way's source.
        from: String,
        /// That of its destination.
        to: String,
        /// A failed cable.
        cable: String,
        /// Hops of the way.
        hops: u32,
        /// Number of virtual channels that the rule needs.
        needed: u8,
        /// Number of virtual channels that there are.
        vcs: u8,
    },
    /// With what has failed, a pair needs more deroutes than the scenario allows.
    #[error(
        "from {from} to {to}: with {cable} out of service `deroutes` has to be {needed} at least, and is {deroutes}"
    )]
    Deroutes {
        /// The router of the source.
        from: String,
        /// That of the destination.
        to: String,
        /// A failed cable.
        cable: String,
        /// Deroutes that are needed.
        needed: u8,
        /// Deroutes that are allowed.
        deroutes: u8,
    },
    /// The rule's only way between two routers leads over a failed cable.
    #[error("from {from} to {to}: {cable} is out of service, and the rule has no way round")]
    OutOfService {
        /// The router of the source.
        from: String,
        /// That of the destination.
        to: String,
        /// A failed cable.
        cable: String,
    },
    /// The root that was named does not exist.
    #[error("there is no router {root} to be the root: there are {routers}")]
    Root {
        /// Number of the router that was named.
        root: u32,
        /// Number of routers of the fabric.
        routers: u32,
    },
    /// The algorithm of the escape has no table.
    #[error("the escape has no table: {0}")]
    Table(NoTable),
    /// The rule is for meshes, and the fabric is none.
    #[error("{rule} is for meshes, and this fabric has {has}")]
    NoMesh {
        /// The rule's name.
        rule: &'static str,
        /// What sets the fabric apart from a mesh.
        has: &'static str,
    },
    /// The rule is for fabrics of groups, and the fabric has none.
    #[error("the rule is for fabrics of groups, such as a Dragonfly, and this one has none")]
    NoGroups,
    /// Credits are to be held back, which only groups without ways of several hops allow.
    #[error(
        "credits are held back by way of groups, and only where the switches of a group are all joined: else a delay \
         could grow by itself"
    )]
    HeldCredits,
    /// The rule is for fabrics of rows, and the fabric has none.
    #[error("the rule is for a HyperX, whose switches are all joined along each dimension")]
    NoRows,
    /// Ways on the fabric are so long that the rule has no phases for them.
    #[error("ways of {hops} hops are too long for the rule")]
    TooFar {
        /// Hops of a way.
        hops: u32,
    },
    /// The rule allows no path from the router of the first name to that of the second.
    #[error("the rule allows no path from {0} to {1}")]
    NoPath(String, String),
    /// The rule of another crate has none, for this reason.
    #[error("{0}")]
    Refused(String),
    /// A rule with phases contradicts itself, which is a mistake in its code.
    #[error("rule `{rule}`: {mistake}")]
    Mistake {
        /// The rule's name.
        rule: &'static str,
        /// What is wrong with it.
        mistake: Box<Mistake>,
    },
    /// The relation needs more memory than is free.
    #[error(transparent)]
    Memory(#[from] Shortage),
}
