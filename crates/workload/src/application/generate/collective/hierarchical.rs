//! Collective operations among the ranks of each node, and among those with the same place in each
//! node: what goes between nodes is as little as can be, and all ranks of a node share it.
//!
//! All-reduce, reduce-scatter and all-gather go around rings on both levels, as libraries of
//! machine learning do; those of a root along binomial trees; all-to-all pairwise. Where nodes have
//! unequally many members, or all members are in one node or each in one of its own, there is one
//! level. Parts are rounded up to whole bytes.

use super::{
    Call, all_gather, all_reduce, all_to_all, barrier, gather, reduce_scatter, scatter, tree,
};
use crate::application::generate::communicator::Communicator;
use crate::application::generate::program::{Blocks, Program};

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
type Level<'c, 'r> = &'c mut Communicator<'r>;

/// Does something on both levels; on a single one, what is done without nodes.
fn levels<'r>(
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
fn with_root(
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

fn down(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    tree::down(program, members, call, u64::MAX, &tree::binomial);
}

fn up(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    tree::up(program, members, call, u64::MAX, &tree::binomial);
}

pub(super) fn broadcast(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| down(program, members, call),
        |program, inside, between| {
            with_root(program, inside, between, |program, between| down(program, between, call));
            down(program, inside, call);
        },
    );
}

pub(super) fn reduce(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| up(program, members, call),
        |program, inside, between| {
            up(program, inside, call);
            with_root(program, inside, between, |program, between| up(program, between, call));
        },
    );
}

pub(super) fn gather(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| gather::binomial(program, members, call),
        |program, inside, between| {
            gather::binomial(program, inside, call);
            let of_node = call.times(inside.size);
            with_root(program, inside, between, |program, between| {
                gather::binomial(program, between, &of_node);
            });
        },
    );
}

pub(super) fn scatter(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let parts = |members: &Communicator<'_>, each: u32| {
        Blocks::of(call.times(each * members.size).bytes, members.size)
    };
    levels(
        program,
        members,
        |program, members| scatter::binomial(program, members, parts(members, 1)),
        |program, inside, between| {
            with_root(program, inside, between, |program, between| {
                scatter::binomial(program, between, parts(between, inside.size));
            });
            scatter::binomial(program, inside, parts(inside, 1));
        },
    );
}

pub(super) fn barrier(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| barrier::dissemination(program, members, call),
        |program, inside, between| {
            up(program, inside, call);
            with_root(program, inside, between, |program, between| {
                barrier::dissemination(program, between, call);
            });
            down(program, inside, call);
        },
    );
}

pub(super) fn all_reduce(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let is_short = all_reduce::is_short(members, call);
    levels(
        program,
        members,
        |program, members| all_reduce::ring(program, members, call),
        |program, inside, between| {
            if is_short {
                up(program, inside, call);
                with_root(program, inside, between, |program, between| {
                    all_reduce::recursive_doubling(program, between, call);
                });
                down(program, inside, call);
            } else {
                let part = call.part(inside.size);
                reduce_scatter::ring(program, inside, &part.times(inside.size));
                all_reduce::ring(program, between, &part);
                all_gather::around(program, inside, &part);
            }
        },
    );
}

pub(super) fn reduce_scatter(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| reduce_scatter::ring(program, members, call),
        |program, inside, between| {
            let part = call.part(inside.size);
            reduce_scatter::ring(program, inside, &part.times(inside.size));
            reduce_scatter::ring(program, between, &part);
        },
    );
}

pub(super) fn all_gather(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| all_gather::around(program, members, call),
        |program, inside, between| {
            all_gather::around(program, between, call);
            all_gather::around(program, inside, &call.times(between.size));
        },
    );
}

/// First all that goes to the ranks with some place, in whatever node, to the own node's rank with
/// that place; then between nodes.
pub(super) fn all_to_all(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels(
        program,
        members,
        |program, members| all_to_all::pairwise(program, members, call),
        |program, inside, between| {
            all_to_all::pairwise(program, inside, &call.times(between.size));
            all_to_all::pairwise(program, between, &call.times(inside.size));
        },
    );
}
