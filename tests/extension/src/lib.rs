//! A crate that extends flitlab: one component of each kind, each a file here with its row, and the
//! [`registry`] that has them all. Its program `flitlab-extension` is the whole command line with
//! them (`main.rs`).
//!
//! | kind | here | in a scenario |
//! |---|---|---|
//! | traffic pattern | [`pattern`] | `pattern = { stride = { by = 3 } }` |
//! | table algorithm | [`table_algorithm`] | `routing.agnostic.algorithm = "one-root"` |
//! | relation rule | [`relation_rule`] | `routing.relation.rule = "hop-vcs"` |
//! | rule with phases | [`phased_rule`] | `routing.rule = "best-of"` |
//! | rule with phases, and a table | [`table_rule`] | `routing.rule = { by-table = { path = "detours.csv" } }` |
//! | adaptive rule | [`adaptive_rule`] | `[routing.relay]` |
//! | selection function | [`selection`] | `routing.adaptive.selection = "mru"` |
//! | path selection | [`path_selection`] | `routing.relation.selection = "last-offered"` |
//! | topology | [`topology`] | `[topology.leaf_spine]` |
//! | schedule | [`schedule`] | `schedule = { token-ring = { ranks = 8 } }` |
//! | workload | [`workload`] | `[pass]` |
//! | figure | [`figure`] | `flitlab-extension plot --only hops` |

pub mod adaptive_rule;
pub mod figure;
pub mod path_selection;
pub mod pattern;
pub mod phased_rule;
pub mod relation_rule;
pub mod schedule;
pub mod selection;
pub mod table_algorithm;
pub mod table_rule;
pub mod topology;
pub mod workload;

use flitlab::package;
use flitlab::registry::{Refused, Registry};

/// The registry with all components of this crate.
///
/// # Errors
/// If flitlab has got a component of one of these names.
pub fn registry() -> Result<Registry, Refused> {
    Registry::default()
        .with(package!(), &pattern::STRIDE)?
        .with(package!(), &table_algorithm::ONE_ROOT)?
        .with(package!(), &relation_rule::HOP_VCS)?
        .with(package!(), &phased_rule::BEST_OF)?
        .with(package!(), &table_rule::BY_TABLE)?
        .with(package!(), &path_selection::LAST_OFFERED)?
        .with(package!(), &topology::LEAF_SPINE)?
        .with(package!(), &schedule::TOKEN_RING)?
        .with(package!(), &adaptive_rule::RELAY)?
        .with(package!(), &selection::MOST_RECENT)?
        .with(package!(), &workload::PASS)?
        .with(package!(), &figure::HOPS)
}
