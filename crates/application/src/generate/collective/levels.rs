//! What collective operations do on two levels: among the ranks of each node, and among those with
//! the same place in each node. What goes between nodes is as little as can be, and all ranks of a
//! node share it.
//!
//! All-reduce, reduce-scatter and all-gather go around rings on both levels, as libraries of
//! machine learning do; those of a root along binomial trees; all-to-all pairwise. Where nodes have
//! unequally many members, or all members are in one node or each in one of its own, there is one
//! level. Parts are rounded up to whole bytes.

use super::{Call, tree};
use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

/// The name of all of these algorithms.
pub const HIERARCHICAL: &str = "hierarchical";

/// Says that there is but one level, of ranks that a sentence's begin names.
pub fn one_level(ranks_per_node: u32, ranks: &str) -> String {
    format!(
        "{HIERARCHICAL} goes by nodes of equally many ranks that follow each other, and with {ranks_per_node} to a \
         node {ranks} no two levels: set ranks_per_node, and not a placement in turn"
    )
}

pub(super) const DOC: &str =
    "among the ranks of each node, and among those with the same place in each node.";

/// The members inside a node, and those with the same place between nodes.
pub(super) type Level<'c, 'r> = &'c mut Communicator<'r>;

/// Does something on both levels; on a single one, what is done without nodes.
pub(super) fn two_levels<'r>(
    program: &mut Program,
    members: &mut Communicator<'r>,
    flat: impl FnOnce(&mut Program, &mut Communicator<'r>),
    both: impl FnOnce(&mut Program, Level<'_, 'r>, Level<'_, 'r>),
) {
    match members.levels() {
        Some([mut inside, mut between]) => {
            both(program, &mut inside, &mut between);
            members.number_tags_behind(&[inside, between]);
        }
        None => flat(program, members),
    }
}

/// The most tags that an operation takes which sends whole vectors along a tree, or at distances 1,
/// 2, 4 and so on.
const TAGS: u32 = 34;

/// Does such an operation between nodes among the ranks with the root's place in their node; all
/// take its tags.
pub(super) fn with_root(
    program: &mut Program,
    inside: &Communicator<'_>,
    between: &mut Communicator<'_>,
    operation: impl FnOnce(&mut Program, &mut Communicator<'_>),
) {
    let mut here = between.clone();
    between.tags(TAGS);
    if inside.place() == 0 {
        operation(program, &mut here);
    }
}

pub(super) fn down(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    tree::down(program, members, call, u64::MAX, &tree::binomial);
}

pub(super) fn up(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    tree::up(program, members, call, u64::MAX, &tree::binomial);
}
