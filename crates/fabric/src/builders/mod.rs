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
use super::{CableKinds, Cabling, TopologyError, sizes_text};
pub use sizes::Sizes;
use sizes::TERMINALS;

/// A builder as scenarios name it, by a table of its own below `topology`.
#[derive(Clone, Copy)]
pub struct BuilderKind {
    /// The algorithm of `[routing.agnostic]` that makes the table where none is named, by the
    /// number of virtual channels.
    pub usual_table: fn(u8) -> &'static str,
    /// Reads the sizes and builds the fabric; `None` if a key is missing or wrong, which has been
    /// reported.
    pub read: fn(&mut Sizes<'_, '_>) -> Option<Built>,
}

/// An algorithm that has a table for any fabric and any number of virtual channels.
pub const ANY_TABLE: fn(u8) -> &'static str = |_| "nue-balanced";

/// An algorithm for trees: packets go up by the destination's number, then down. Paths are
/// shortest, and no channel carries two pairs of a shift.
const TREE_TABLE: fn(u8) -> &'static str = |_| "d-mod-k";

/// An algorithm of shortest paths, as routings of Dragonflies begin with, if the virtual channels
/// surely suffice to separate them; otherwise [`ANY_TABLE`].
const DRAGONFLY_TABLE: fn(u8) -> &'static str =
    |vcs| if vcs >= 8 { "dfsssp-balanced" } else { ANY_TABLE(vcs) };

impl Component for BuilderKind {
    const NOUN: &'static str = "topology";

    /// Topologies that no builder makes.
    const RESERVED: &'static [&'static str] = &["torus", "netlist"];

    fn built_in() -> &'static [Row<Self>] {
        &BUILDERS
    }
}

/// A fabric with its name.
pub struct Built {
    /// The fabric's name without an article: `6x5x5 torus of switches`.
    pub name: String,
    /// The fabric, or why these sizes have none.
    pub cabling: Result<Cabling, TopologyError>,
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

impl Built {
    /// The fabric with rates and latencies of these kinds of cables; `kind` gives that of a cable
    /// between two routers.
    fn with_cables(mut self, kinds: &CableKinds, kind: impl Fn(u32, u32) -> usize) -> Self {
        if let Ok(cabling) = &mut self.cabling {
            cabling.classify(kinds, kind);
        }
        self
    }
}

/// The dimension along which two neighbours are apart, where coordinates run with the first
/// dimension of these sizes fastest.
fn dimension_of(sizes: &[u32], one: u32, other: u32) -> usize {
    let mut reach = 1;
    let apart = |&size: &u32| {
        reach *= size;
        one.abs_diff(other) < reach
    };
    sizes.iter().position(apart).expect("neighbours differ in one coordinate")
}

/// The text ` with 2 cables between neighbours`; empty for one cable.
fn cables_text(cables: u32, what: &str) -> String {
    if cables == 1 { String::new() } else { format!(" with {cables} cables {what}") }
}

fn refuse<T>(text: impl Into<String>) -> Result<T, TopologyError> {
    Err(TopologyError::Sizes(text.into()))
}

fn is_prime(number: u32) -> bool {
    number > 1 && (2..).take_while(|i| i * i <= number).all(|i| !number.is_multiple_of(i))
}

/// The routers of a fabric, if its size is allowed.
fn begin(size: &Size) -> Result<Cabling, TopologyError> {
    size.check()?;
    let mut cabling = Cabling::default();
    for router in 0..size.routers {
        cabling.router(format!("S{router}"));
    }
    Ok(cabling)
}

/// Adds terminals: `count(router)` at each router.
fn populate(cabling: &mut Cabling, count: impl Fn(u32) -> u32) {
    let mut number = 0;
    for router in 0..cabling.routers() {
        for _ in 0..count(router) {
            cabling.terminal(format!("H{number}"), router);
            number += 1;
        }
    }
}

/// Adds `cables` cables between each two of these routers.
fn join_all(cabling: &mut Cabling, routers: &[u32], cables: u32) {
    for (place, &one) in routers.iter().enumerate() {
        for &other in &routers[place + 1..] {
            for _ in 0..cables {
                cabling.cable(one, other);
            }
        }
    }
}

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
