//! All-reduce: the vectors of all ranks, combined, to all.

use super::broadcast::SEGMENT;
use super::fold::{Fold, Role, doubling};
use super::{
    Algorithm, Call, Collective, HIERARCHICAL, all_gather, levels, mpich, open_mpi, reduce,
    reduce_scatter, tree,
};
use crate::generate::communicator::Communicator;
use crate::generate::program::{Blocks, Program};
use flitlab_base::narrow::narrow;

/// Bytes of an element: a vector of fewer elements than ranks can't go around a ring.
const ELEMENT: u64 = 8;

pub(super) static ALL_REDUCE: Collective = Collective {
    name: "all-reduce",
    algorithms: &[
        Algorithm::new(
            "recursive-doubling",
            "whole vectors exchanged at distances 1, 2, 4 and so on.",
            recursive_doubling,
        ),
        Algorithm::new(
            "ring",
            "a reduce-scatter and an all-gather around a ring, of a segment a rank at a time if there are segments (NCCL); recursive doubling for fewer numbers of 8 B than ranks.",
            ring,
        ),
        Algorithm::new(
            "rabenseifner",
            "a reduce-scatter by recursive halving, an all-gather by recursive doubling.",
            rabenseifner,
        ),
        Algorithm::new(
            "reduce-broadcast",
            "a binomial reduce, then a binomial broadcast.",
            |program, members, call| {
                reduce::binomial(program, members, call);
                tree::down(program, members, call, u64::MAX, &tree::binomial);
            },
        ),
        Algorithm::new("binary", "up a binary tree and down again, whole.", tree::up_and_down),
        Algorithm::new(
            "tree",
            "up and down a binary tree of nodes, in segments of 64 KiB; the ranks of a node in a chain (NCCL).",
            |program, members, call| trees(program, members, call, &[tree::in_order]),
        ),
        Algorithm::new(
            "double-binary-tree",
            "half of the vector by each of two such trees, a leaf of one inside the other (NCCL).",
            double_binary_tree,
        ),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::ALL_REDUCE,
    mpich: mpich::all_reduce,
};

pub(super) fn recursive_doubling(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
) {
    let fold = Fold::new(members.size, 1);
    let number = reduce_scatter::fold_in(program, members, call, &fold);
    let tags = members.tags(fold.power.ilog2());
    if let Some(number) = number {
        for (round, distance) in (0..).zip(doubling(fold.power)) {
            let other = fold.place(number ^ distance);
            let whole = (call.bytes, other);
            members.exchange(program, whole, whole, tags.at(round));
            call.combine(program, call.bytes);
        }
    }
    fold_out(program, members, call.bytes, &fold);
}

/// Sends the result to the members that left.
fn fold_out(program: &mut Program, members: &mut Communicator<'_>, bytes: u64, fold: &Fold) {
    let tag = members.tags(1).at(0);
    match fold.role(members.place()) {
        Role::Leaves(other) => members.receive(program, bytes, other, tag),
        Role::Stays(_, Some(other)) => members.send(program, bytes, other, tag),
        Role::Stays(_, None) => {}
    }
}

/// Whether it has fewer elements than there are members, which can't each have a part then.
pub(super) fn is_short(members: &Communicator<'_>, call: &Call) -> bool {
    call.bytes / ELEMENT < u64::from(members.size)
}

pub(super) fn ring(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    if is_short(members, call) {
        return recursive_doubling(program, members, call);
    }
    for call in call.rounds(members.size) {
        reduce_scatter::around(program, members, &call);
        all_gather::ring(program, members, Blocks::of(call.bytes, members.size));
    }
}

fn rabenseifner(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let fold = Fold::new(members.size, 1);
    let number = reduce_scatter::fold_in(program, members, call, &fold);
    let blocks = Blocks::of(call.bytes, fold.power);
    let tags = members.tags(2 * fold.power.ilog2());
    if let Some(number) = number {
        reduce_scatter::halve(program, members, call, &fold, number, tags, |range| {
            blocks.span(range.start, range.end - range.start)
        });
        for (round, distance) in (fold.power.ilog2()..).zip(doubling(fold.power)) {
            let own = number & !(distance - 1);
            let sent = blocks.span(own, distance);
            let received = blocks.span(own ^ distance, distance);
            let other = fold.place(number ^ distance);
            members.exchange(program, (sent, other), (received, other), tags.at(round));
        }
    }
    fold_out(program, members, call.bytes, &fold);
}

/// Half of the vector by each of two trees at once (\[two-tree\]).
fn double_binary_tree(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    trees(program, members, call, &[tree::in_order, tree::in_order_reversed]);
}

/// A part of the vector by each tree at once, and up and down each at once: while a segment goes
/// down, the next ones come up.
fn trees(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
    shapes: &[fn(u32, u32) -> tree::Family],
) {
    let parts = Blocks::of(call.bytes, narrow(shapes.len()));
    let most = call.segment.unwrap_or(SEGMENT);
    let each = members.members_per_node().unwrap_or(1);
    let mut ways = Vec::new();
    for (part, &shape) in (0..).zip(shapes) {
        let call = Call { bytes: parts.at(part), ..*call };
        if call.bytes == 0 {
            continue;
        }
        let shape = tree::of_nodes(each, shape);
        // All take the tags of both ways, in the same order.
        let segments = narrow(tree::segments(call.bytes, most).count());
        let mut above = members.clone();
        members.tags(segments);
        let mut below = members.clone();
        members.tags(segments);
        if shape(members.place(), members.size).parent.is_none() {
            ways.push(program.begin_beside(|program| {
                tree::turn(program, &mut above, &mut below, &call, most, &shape);
            }));
        } else {
            ways.push(program.begin_beside(|program| {
                tree::up(program, &mut above, &call, most, &shape);
            }));
            ways.push(program.begin_beside(|program| {
                tree::down(program, &mut below, &call, most, &shape);
            }));
        }
    }
    program.wait(&ways);
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let is_short = is_short(members, call);
    levels::two_levels(
        program,
        members,
        |program, members| ring(program, members, call),
        |program, inside, between| {
            if is_short {
                levels::up(program, inside, call);
                levels::with_root(program, inside, between, |program, between| {
                    recursive_doubling(program, between, call);
                });
                levels::down(program, inside, call);
            } else {
                let part = call.part(inside.size);
                reduce_scatter::ring(program, inside, &part.times(inside.size));
                ring(program, between, &part);
                all_gather::around(program, inside, &part);
            }
        },
    );
}
