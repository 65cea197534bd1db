//! Scatter: parts of the root's vector to each rank.

use super::tree::{self, binomial_descendants};
use super::{Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi};
use crate::generate::communicator::Communicator;
use crate::generate::program::{Blocks, Program};

pub(super) static SCATTER: Collective = Collective {
    name: "scatter",
    algorithms: &[
        Algorithm::new(
            "binomial",
            "along a binomial tree, less on each level.",
            |program, members, call| {
                let total = call.bytes * u64::from(members.size);
                binomial(program, members, Blocks::of(total, members.size));
            },
        ),
        Algorithm::new("linear", "from the root to each rank.", |program, members, call| {
            let total = call.bytes * u64::from(members.size);
            linear(program, members, Blocks::of(total, members.size));
        }),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::SCATTER,
    mpich: mpich::binomial,
};

pub(super) fn binomial(program: &mut Program, members: &mut Communicator<'_>, blocks: Blocks) {
    let tag = members.tags(1).at(0);
    let family = tree::binomial(members.place(), members.size);
    let bytes = |place: u32| blocks.span(place, binomial_descendants(place, members.size));
    if let Some(parent) = family.parent {
        members.receive(program, bytes(members.place()), parent, tag);
    }
    for &to in family.children.iter().rev() {
        members.send(program, bytes(to), to, tag);
    }
}

pub(super) fn linear(program: &mut Program, members: &mut Communicator<'_>, blocks: Blocks) {
    let tag = members.tags(1).at(0);
    if members.place() > 0 {
        return members.receive(program, blocks.at(members.place()), 0, tag);
    }
    let others = 1..members.size;
    let sends: Vec<_> =
        others.map(|to| members.begin_send(program, blocks.at(to), to, tag)).collect();
    program.wait(&sends);
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let parts = |members: &Communicator<'_>, each: u32| {
        Blocks::of(call.times(each * members.size).bytes, members.size)
    };
    levels::two_levels(
        program,
        members,
        |program, members| binomial(program, members, parts(members, 1)),
        |program, inside, between| {
            levels::with_root(program, inside, between, |program, between| {
                binomial(program, between, parts(between, inside.size));
            });
            binomial(program, inside, parts(inside, 1));
        },
    );
}
