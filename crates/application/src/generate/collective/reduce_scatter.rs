//! Reduce-scatter: the vectors of all ranks, combined, a part to each.

use std::ops::Range;

use super::fold::{Fold, Role, doubling};
use super::{Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi, reduce, scatter};
use crate::generate::communicator::{Communicator, Tags};
use crate::generate::program::{Blocks, Program};

pub(super) static REDUCE_SCATTER: Collective = Collective {
    name: "reduce-scatter",
    algorithms: &[
        Algorithm::new(
            "recursive-halving",
            "each round halves the distance and what is sent.",
            recursive_halving,
        ),
        Algorithm::new("pairwise", "each rank's part straight to it, a partner a round.", pairwise),
        Algorithm::new(
            "ring",
            "parts around a ring, combined on the way, of a segment at a time if there are segments.",
            ring,
        ),
        Algorithm::new(
            "reduce-then-scatter",
            "a binomial reduce, then a linear scatter.",
            |program, members, call| {
                reduce::binomial(program, members, call);
                scatter::linear(program, members, Blocks::of(call.bytes, members.size));
            },
        ),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::REDUCE_SCATTER,
    mpich: mpich::reduce_scatter,
};

/// Sends the vectors of members that leave to their partners. Returns the number of a member that
/// stays, `None` for one that leaves.
pub(super) fn fold_in(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
    fold: &Fold,
) -> Option<u32> {
    let tag = members.tags(1).at(0);
    match fold.role(members.place()) {
        Role::Leaves(other) => {
            members.send(program, call.bytes, other, tag);
            None
        }
        Role::Stays(number, pair) => {
            if let Some(other) = pair {
                members.receive(program, call.bytes, other, tag);
                call.combine(program, call.bytes);
            }
            Some(number)
        }
    }
}

/// Exchanges halves, quarters and so on among the members that stay, at half of them, a quarter and
/// so on distance. In the end each has its own part. `bytes` gives the size of the parts, of which
/// some members hold those of two.
pub(super) fn halve(
    program: &mut Program,
    members: &Communicator<'_>,
    call: &Call,
    fold: &Fold,
    number: u32,
    tags: Tags,
    bytes: impl Fn(Range<u32>) -> u64,
) {
    for (round, distance) in (0..).zip(doubling(fold.power).rev()) {
        let own = number & !(distance - 1);
        let others = own ^ distance;
        let (sent, kept) = (bytes(others..others + distance), bytes(own..own + distance));
        let other = fold.place(number ^ distance);
        members.exchange(program, (sent, other), (kept, other), tags.at(round));
        call.combine(program, kept);
    }
}

fn recursive_halving(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let fold = Fold::new(members.size, 1);
    let blocks = Blocks::of(call.bytes, members.size);
    let number = fold_in(program, members, call, &fold);
    let tags = members.tags(fold.power.ilog2() + 1);
    if let Some(number) = number {
        halve(program, members, call, &fold, number, tags, |range| {
            let (first, count) = fold.places(range);
            blocks.span(first, count)
        });
    }
    let last = tags.at(fold.power.ilog2());
    match fold.role(members.place()) {
        Role::Leaves(other) => {
            members.receive(program, blocks.at(members.place()), other, last);
        }
        Role::Stays(_, Some(other)) => members.send(program, blocks.at(other), other, last),
        Role::Stays(_, None) => {}
    }
}

fn pairwise(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let blocks = Blocks::of(call.bytes, members.size);
    let tags = members.tags(members.size);
    let own = blocks.at(members.place());
    for round in 1..members.size {
        let (to, from) = (members.up(round), members.down(round));
        members.exchange(program, (blocks.at(to), to), (own, from), tags.at(round));
        call.combine(program, own);
    }
}

pub(super) fn ring(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    for call in call.rounds(members.size) {
        around(program, members, &call);
    }
}

/// Once around the ring: each rank ends with its own part.
pub(super) fn around(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let blocks = Blocks::of(call.bytes, members.size);
    let tags = members.tags(members.size);
    for round in 1..members.size {
        let received = blocks.at(members.down(round + 1));
        let sent = (blocks.at(members.down(round)), members.up(1));
        members.exchange(program, sent, (received, members.down(1)), tags.at(round));
        call.combine(program, received);
    }
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| ring(program, members, call),
        |program, inside, between| {
            let part = call.part(inside.size);
            ring(program, inside, &part.times(inside.size));
            ring(program, between, &part);
        },
    );
}
