//! All-gather: a part of each rank to all.

use super::fold::{Fold, Role, doubling};
use super::{Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi};
use crate::generate::communicator::Communicator;
use crate::generate::program::{Blocks, Program};

pub(super) static ALL_GATHER: Collective = Collective {
    name: "all-gather",
    algorithms: &[
        Algorithm::new(
            "ring",
            "each part around a ring, a segment at a time if there are segments.",
            around,
        ),
        Algorithm::new(
            "recursive-doubling",
            "all that there is exchanged at distances 1, 2, 4 and so on.",
            |program, members, call| recursive_doubling(program, members, parts(members, call)),
        ),
        Algorithm::new(
            "bruck",
            "all that there is sent down by 1, 2, 4 and so on (Bruck).",
            |program, members, call| bruck(program, members, parts(members, call)),
        ),
        Algorithm::new(
            "neighbor-exchange",
            "two parts a round between neighbours, by turns; the ring for odd numbers of ranks.",
            |program, members, call| neighbor_exchange(program, members, parts(members, call)),
        ),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::ALL_GATHER,
    mpich: mpich::all_gather,
};

fn parts(members: &Communicator<'_>, call: &Call) -> Blocks {
    Blocks::of(call.bytes * u64::from(members.size), members.size)
}

pub(super) fn around(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    for call in call.times(members.size).rounds(members.size) {
        ring(program, members, Blocks::of(call.bytes, members.size));
    }
}

pub(super) fn ring(program: &mut Program, members: &mut Communicator<'_>, blocks: Blocks) {
    let tags = members.tags(members.size);
    for round in 1..members.size {
        let sent = (blocks.at(members.down(round - 1)), members.up(1));
        let received = (blocks.at(members.down(round)), members.down(1));
        members.exchange(program, sent, received, tags.at(round));
    }
}

pub(super) fn recursive_doubling(
    program: &mut Program,
    members: &mut Communicator<'_>,
    blocks: Blocks,
) {
    let fold = Fold::new(members.size, 1);
    let tags = members.tags(fold.power.ilog2() + 2);
    let (first, last) = (tags.at(fold.power.ilog2()), tags.at(fold.power.ilog2() + 1));
    let span = |start: u32, count: u32| {
        let (first, count) = fold.places(start..start + count);
        blocks.span(first, count)
    };
    match fold.role(members.place()) {
        Role::Leaves(other) => {
            let own = blocks.at(members.place());
            members.send(program, own, other, first);
            members.receive(program, blocks.total - own, other, last);
        }
        Role::Stays(number, pair) => {
            if let Some(other) = pair {
                members.receive(program, blocks.at(other), other, first);
            }
            for (round, distance) in (0..).zip(doubling(fold.power)) {
                let own = number & !(distance - 1);
                let other = fold.place(number ^ distance);
                let (sent, received) = (span(own, distance), span(own ^ distance, distance));
                members.exchange(program, (sent, other), (received, other), tags.at(round));
            }
            if let Some(other) = pair {
                members.send(program, blocks.total - blocks.at(other), other, last);
            }
        }
    }
}

fn bruck(program: &mut Program, members: &mut Communicator<'_>, blocks: Blocks) {
    let size = members.size;
    let tags = members.tags(size.next_power_of_two().ilog2());
    for (round, distance) in (0..).zip(doubling(size)) {
        let count = distance.min(size - distance);
        let from = members.up(distance);
        let sent = (blocks.span(members.place(), count), members.down(distance));
        members.exchange(program, sent, (blocks.span(from, count), from), tags.at(round));
    }
}

/// The algorithm of \[neighbor-exchange\].
fn neighbor_exchange(program: &mut Program, members: &mut Communicator<'_>, blocks: Blocks) {
    let size = members.size;
    if size % 2 == 1 {
        return ring(program, members, blocks);
    }
    let tags = members.tags(size);
    let even = members.place().is_multiple_of(2);
    // An even rank begins with the one above, an odd one with the one below.
    let (partners, mut pair) = match even {
        true => ([members.up(1), members.down(1)], members.place()),
        false => ([members.down(1), members.up(1)], members.down(1)),
    };
    let own = blocks.at(members.place());
    let other = (blocks.at(partners[0]), partners[0]);
    members.exchange(program, (own, partners[0]), other, tags.at(0));
    // Pairs of parts: the own one goes out first; then always that which came last.
    let mut next = [pair; 2];
    for round in 1..size / 2 {
        let side = round as usize % 2;
        let forward = (side == 0) == even;
        next[side] = if forward { (next[side] + 2) % size } else { (next[side] + size - 2) % size };
        let sent = (blocks.span(pair, 2), partners[side]);
        let received = (blocks.span(next[side], 2), partners[side]);
        members.exchange(program, sent, received, tags.at(round));
        pair = next[side];
    }
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| around(program, members, call),
        |program, inside, between| {
            around(program, between, call);
            around(program, inside, &call.times(between.size));
        },
    );
}
