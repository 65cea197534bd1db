//! What a builder is, as scenarios name it, and what several builders use.

use super::super::size::Size;
use super::super::{CableKinds, Cabling, TopologyError};
use super::Sizes;

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
pub(super) const TREE_TABLE: fn(u8) -> &'static str = |_| "d-mod-k";

/// An algorithm of shortest paths, as routings of Dragonflies begin with, if the virtual channels
/// surely suffice to separate them; otherwise [`ANY_TABLE`].
pub(super) const DRAGONFLY_TABLE: fn(u8) -> &'static str =
    |vcs| if vcs >= 8 { "dfsssp-balanced" } else { ANY_TABLE(vcs) };

/// A fabric with its name.
pub struct Built {
    /// The fabric's name without an article: `6x5x5 torus of switches`.
    pub name: String,
    /// The fabric, or why these sizes have none.
    pub cabling: Result<Cabling, TopologyError>,
}

impl Built {
    /// The fabric with rates and latencies of these kinds of cables; `kind` gives that of a cable
    /// between two routers.
    pub(super) fn with_cables(
        mut self,
        kinds: &CableKinds,
        kind: impl Fn(u32, u32) -> usize,
    ) -> Self {
        if let Ok(cabling) = &mut self.cabling {
            cabling.classify(kinds, kind);
        }
        self
    }
}

/// The dimension along which two neighbours are apart, where coordinates run with the first
/// dimension of these sizes fastest.
pub(super) fn dimension_of(sizes: &[u32], one: u32, other: u32) -> usize {
    let mut reach = 1;
    let apart = |&size: &u32| {
        reach *= size;
        one.abs_diff(other) < reach
    };
    sizes.iter().position(apart).expect("neighbours differ in one coordinate")
}

/// The text ` with 2 cables between neighbours`; empty for one cable.
pub(super) fn cables_text(cables: u32, what: &str) -> String {
    if cables == 1 { String::new() } else { format!(" with {cables} cables {what}") }
}

pub(super) fn refuse<T>(text: impl Into<String>) -> Result<T, TopologyError> {
    Err(TopologyError::Sizes(text.into()))
}

pub(super) fn is_prime(number: u32) -> bool {
    number > 1 && (2..).take_while(|i| i * i <= number).all(|i| !number.is_multiple_of(i))
}

/// The routers of a fabric, if its size is allowed.
pub(super) fn begin(size: &Size) -> Result<Cabling, TopologyError> {
    size.check()?;
    let mut cabling = Cabling::default();
    for router in 0..size.routers {
        cabling.router(format!("S{router}"));
    }
    Ok(cabling)
}

/// Adds terminals: `count(router)` at each router.
pub(super) fn populate(cabling: &mut Cabling, count: impl Fn(u32) -> u32) {
    let mut number = 0;
    for router in 0..cabling.routers() {
        for _ in 0..count(router) {
            cabling.terminal(format!("H{number}"), router);
            number += 1;
        }
    }
}

/// Adds `cables` cables between each two of these routers.
pub(super) fn join_all(cabling: &mut Cabling, routers: &[u32], cables: u32) {
    for (place, &one) in routers.iter().enumerate() {
        for &other in &routers[place + 1..] {
            for _ in 0..cables {
                cabling.cable(one, other);
            }
        }
    }
}
