//! Reduce: the vectors of all ranks, combined, to the root.

use super::broadcast::SEGMENT;
use super::fold::{Fold, doubling};
use super::{
    Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi, reduce_scatter, tree,
};
use crate::generate::communicator::Communicator;
use crate::generate::program::{Blocks, Program};

pub(super) static REDUCE: Collective = Collective {
    name: "reduce",
    algorithms: &[
        Algorithm::new("binomial", "along a binomial tree, whole.", binomial),
        Algorithm::new(
            "binary",
            "along a binary tree, in segments of 64 KiB.",
            |program, members, call| {
                tree::up(program, members, call, call.segment.unwrap_or(SEGMENT), &tree::binary);
            },
        ),
        Algorithm::new(
            "chain",
            "from rank to rank, in segments of 64 KiB (pipelined).",
            |program, members, call| {
                tree::up(program, members, call, call.segment.unwrap_or(SEGMENT), &tree::chain);
            },
        ),
        Algorithm::new("linear", "from each rank to the root.", |program, members, call| {
            tree::up(program, members, call, u64::MAX, &tree::linear);
        }),
        Algorithm::new(
            "rabenseifner",
            "parts combined by recursive halving, then gathered along a binomial tree.",
            rabenseifner,
        ),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::REDUCE,
    mpich: mpich::reduce,
};

pub(super) fn binomial(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    tree::up(program, members, call, call.segment.unwrap_or(u64::MAX), &tree::binomial);
}

fn rabenseifner(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    // The root, at place 0, stays.
    let fold = Fold::new(members.size, 0);
    let number = reduce_scatter::fold_in(program, members, call, &fold);
    let blocks = Blocks::of(call.bytes, fold.power);
    let tags = members.tags(2 * fold.power.ilog2());
    let Some(number) = number else { return };
    reduce_scatter::halve(program, members, call, &fold, number, tags, |range| {
        blocks.span(range.start, range.end - range.start)
    });
    // The owner of the higher half gives it to the owner of the lower half.
    for (round, distance) in (fold.power.ilog2()..).zip(doubling(fold.power)) {
        let other = fold.place(number ^ distance);
        if number & distance != 0 {
            members.send(program, blocks.span(number, distance), other, tags.at(round));
            return;
        }
        members.receive(program, blocks.span(number + distance, distance), other, tags.at(round));
    }
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| levels::up(program, members, call),
        |program, inside, between| {
            levels::up(program, inside, call);
            levels::with_root(program, inside, between, |program, between| {
                levels::up(program, between, call);
            });
        },
    );
}
