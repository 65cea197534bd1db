//! Builders of switched fabrics, one file each: routers and cables, and terminals at the routers.
//!
//! Each gives a [`Cabling`], from which cables can be taken away before it becomes a fabric. Routers are named
//! `S0`, `S1`, ... and terminals `H0`, `H1`, ..., router by router. The counts of routers, terminals and cables
//! of the sizes that papers/nue-routing-slides compares are held by tests.

mod cascade;
mod director_tree;
mod dragonfly;
mod hyperx;
mod kautz;
mod random_regular;
mod slim_fly;
mod switched_torus;
mod tree;

pub use cascade::Cascade;
pub use director_tree::DirectorTree;
pub use dragonfly::Dragonfly;
pub use hyperx::HyperX;
pub use kautz::Kautz;
pub use random_regular::RandomRegular;
pub use slim_fly::SlimFly;
pub use switched_torus::SwitchedTorus;
pub use tree::Tree;

use std::fmt;

use super::size::{Size, pairs, product};
use super::{Cabling, TopologyError};

/// A fabric by its builder and sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builder {
    RandomRegular(RandomRegular),
    SwitchedTorus(SwitchedTorus),
    Tree(Tree),
    Kautz(Kautz),
    Dragonfly(Dragonfly),
    Cascade(Cascade),
    DirectorTree(DirectorTree),
    HyperX(HyperX),
    SlimFly(SlimFly),
}

impl Builder {
    /// # Errors
    /// If there is no such fabric, or it is too large.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        match self {
            Self::RandomRegular(graph) => graph.cabling(),
            Self::SwitchedTorus(torus) => torus.cabling(),
            Self::Tree(tree) => tree.cabling(),
            Self::Kautz(kautz) => kautz.cabling(),
            Self::Dragonfly(dragonfly) => dragonfly.cabling(),
            Self::Cascade(cascade) => cascade.cabling(),
            Self::DirectorTree(tree) => tree.cabling(),
            Self::HyperX(hyperx) => hyperx.cabling(),
            Self::SlimFly(slim_fly) => slim_fly.cabling(),
        }
    }
}

impl fmt::Display for Builder {
    /// What the fabric is, without its article: `6x5x5 torus of switches`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = |sizes: &[u32]| sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        let of = |cables: u32, what: &str| match cables {
            1 => String::new(),
            cables => format!(" with {cables} cables {what}"),
        };
        match self {
            Self::RandomRegular(RandomRegular { routers, degree, seed, .. }) => {
                write!(
                    formatter,
                    "random graph of {routers} switches of degree {degree} (seed {seed})"
                )
            }
            Self::SwitchedTorus(torus) => write!(
                formatter,
                "{} torus of switches{}",
                sizes(&torus.sizes),
                of(torus.redundancy, "between neighbours")
            ),
            Self::Tree(tree) => write!(formatter, "{}-ary {}-tree", tree.arity, tree.levels),
            Self::Kautz(Kautz { degree, length, redundancy, .. }) => write!(
                formatter,
                "Kautz graph of degree {degree} and length {length}{}",
                of(*redundancy, "an arc")
            ),
            Self::Dragonfly(Dragonfly { routers, groups, .. }) => {
                write!(formatter, "dragonfly of {groups} groups of {routers} switches")
            }
            Self::Cascade(Cascade { groups, columns, rows, .. }) => {
                write!(formatter, "Cascade of {groups} groups of {columns}x{rows} switches")
            }
            Self::DirectorTree(DirectorTree { edges, directors, .. }) => {
                write!(formatter, "fat tree of {edges} edge switches under {directors} directors")
            }
            Self::HyperX(hyperx) => {
                write!(
                    formatter,
                    "{} HyperX{}",
                    sizes(&hyperx.sizes),
                    of(hyperx.redundancy, "between neighbours")
                )
            }
            Self::SlimFly(slim_fly) => write!(formatter, "Slim Fly on {}", slim_fly.prime),
        }
    }
}

fn refuse<T>(text: impl Into<String>) -> Result<T, TopologyError> {
    Err(TopologyError::Sizes(text.into()))
}

/// The routers of a fabric, if that is not too large.
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
    use crate::topology::Fabric;

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
        let dragonfly = Dragonfly { routers: 12, terminals: 6, global: 6, groups: 15 };
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
