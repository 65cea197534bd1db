//! Builders of switched fabrics, one file each: routers, cables, and terminals at the routers.
//!
//! Each makes a [`Cabling`], from which cables can be removed before it becomes a fabric. Routers
//! are named `S0`, `S1`, ... and terminals `H0`, `H1`, ..., router by router. Tests hold the counts
//! of routers, terminals and cables of the sizes that \[nue\] compares.

mod cascade;
mod director_tree;
mod dragonfly;
mod dragonfly_plus;
mod global_cables;
mod hyperx;
mod irregular;
mod kautz;
mod kind;
mod polarfly;
mod random_regular;
mod sizes;
mod slim_fly;
mod switch;
mod switched_torus;
mod tree;
mod xgft;

pub use cascade::Cascade;
pub use director_tree::DirectorTree;
pub use dragonfly::Dragonfly;
pub use dragonfly_plus::DragonflyPlus;
pub use global_cables::{GlobalCables, GlobalOrder};
pub use hyperx::HyperX;
pub use irregular::Irregular;
pub use kautz::Kautz;
pub use polarfly::PolarFly;
pub use random_regular::RandomRegular;
pub use slim_fly::SlimFly;
pub use switch::Switch;
pub use switched_torus::SwitchedTorus;
pub use tree::Tree;
pub use xgft::Xgft;

use flitlab_base::registry::{Component, Row};

use super::size::{Size, pairs, product};
use super::{Cabling, TopologyError, sizes_text};
pub use kind::{ANY_TABLE, BuilderKind, Built};
use kind::{
    DRAGONFLY_TABLE, TREE_TABLE, begin, cables_text, dimension_of, is_prime, join_all, populate,
    refuse,
};
pub use sizes::Sizes;
use sizes::TERMINALS;

impl Component for BuilderKind {
    const NOUN: &'static str = "topology";

    /// Topologies that no builder makes.
    const RESERVED: &'static [&'static str] = &["torus", "netlist"];

    fn built_in() -> &'static [Row<Self>] {
        &BUILDERS
    }
}

/// The builders that scenarios can name, in the order in which they are offered.
pub static BUILDERS: [Row<BuilderKind>; 14] = [
    random_regular::RANDOM_REGULAR,
    irregular::IRREGULAR,
    switched_torus::SWITCHED_TORUS,
    tree::TREE,
    xgft::XGFT,
    kautz::KAUTZ,
    dragonfly::DRAGONFLY,
    dragonfly_plus::DRAGONFLY_PLUS,
    cascade::CASCADE,
    director_tree::DIRECTOR_TREE,
    hyperx::HYPERX,
    slim_fly::SLIM_FLY,
    polarfly::POLARFLY,
    switch::SWITCH,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fabric;

    /// Routers, terminals and cables.
    fn counts(cabling: Result<Cabling, TopologyError>) -> (u32, u32, usize) {
        let fabric: Fabric = cabling.unwrap().fabric().unwrap();
        (fabric.routers(), fabric.terminals(), fabric.channels() / 2)
    }

    #[test]
    fn the_fabrics_of_the_nue_slides_have_the_published_sizes() {
        let random = RandomRegular { routers: 125, degree: 16, terminals: 8, seed: 1 };
        assert_eq!(counts(random.cabling()), (125, 1_000, 1_000));
        let torus = SwitchedTorus { sizes: vec![6, 5, 5], terminals: 7, redundancy: 4 };
        assert_eq!(counts(torus.cabling()), (150, 1_050, 1_800));
        let tree = Tree { arity: 10, levels: 3, terminals: 11 };
        assert_eq!(counts(tree.cabling()), (300, 1_100, 2_000));
        let kautz = Kautz { degree: 5, length: 3, terminals: 7, redundancy: 2 };
        assert_eq!(counts(kautz.cabling()), (150, 1_050, 1_500));
        let dragonfly = Dragonfly {
            routers: 12,
            terminals: 6,
            global: 6,
            groups: 15,
            cables: GlobalCables::default(),
        };
        assert_eq!(counts(dragonfly.cabling()), (180, 1_080, 1_515));
        assert_eq!(counts(Cascade::default().cabling()), (192, 1_536, 3_072));
        assert_eq!(counts(DirectorTree::default().cabling()), (243, 1_407, 3_384));
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let tree = Tree { arity: 1_000, levels: 4, terminals: 1 };
        assert!(tree.cabling().unwrap_err().to_string().contains("at most"));
    }
}
