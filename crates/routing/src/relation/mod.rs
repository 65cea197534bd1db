//! Routing relations: all the hops among which a packet may choose on its way.
//!
//! A [`Relation`] gives the hops (port, virtual channel) that a packet may take next, by the place
//! of its head and by its destination. Adaptive routing chooses one of them at each router. A
//! [`PathSet`] gives the paths of a pair, among which the source chooses. Rules
//! that make relations are in `flitlab-tables`.

mod alike;
mod path_set;
mod phases;
#[allow(clippy::module_inception, reason = "the type that the module is about")]
mod relation;

pub use path_set::{PathChoice, PathSet};
pub use phases::{LostVias, Phase, Phases, Targets};
pub use relation::{
    ALL_CLASSES, Builder as RelationBuilder, Hop, MAX_FALLBACKS, Relation, Ring, TERMINAL_CLASSES,
};

use crate::phased::Mistake;
use flitlab_base::memory::Shortage;

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
    /// The algorithm of the escape has no table, for this reason.
    #[error("the escape has no table: {0}")]
    Table(String),
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
