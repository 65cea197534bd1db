//! Gather: a part of each rank to the root.

use super::tree::{self, binomial_descendants};
use super::{Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi};
use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

pub(super) static GATHER: Collective = Collective {
    name: "gather",
    algorithms: &[
        Algorithm::new("binomial", "along a binomial tree, more on each level.", binomial),
        Algorithm::new("linear", "from each rank to the root.", linear),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::GATHER,
    mpich: mpich::binomial,
};

pub(super) fn binomial(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let tag = members.tags(1).at(0);
    let family = tree::binomial(members.place(), members.size);
    let bytes = |place: u32| call.bytes * u64::from(binomial_descendants(place, members.size));
    for &from in &family.children {
        members.receive(program, bytes(from), from, tag);
    }
    if let Some(parent) = family.parent {
        members.send(program, bytes(members.place()), parent, tag);
    }
}

fn linear(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let tag = members.tags(1).at(0);
    if members.place() > 0 {
        return members.send(program, call.bytes, 0, tag);
    }
    let others = 1..members.size;
    let receives: Vec<_> =
        others.map(|from| members.begin_receive(program, call.bytes, from, tag)).collect();
    program.wait(&receives);
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| binomial(program, members, call),
        |program, inside, between| {
            binomial(program, inside, call);
            let of_node = call.times(inside.size);
            levels::with_root(program, inside, between, |program, between| {
                binomial(program, between, &of_node);
            });
        },
    );
}
