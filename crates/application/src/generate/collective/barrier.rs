//! Barrier: no rank goes on before all have come.
//!
//! Its messages have a byte: LogGOPSim charges for all bytes but one, and can't do with none.

use super::fold::doubling;
use super::{
    Algorithm, Call, Collective, HIERARCHICAL, all_reduce, levels, mpich, open_mpi, reduce, tree,
};
use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

pub(super) static BARRIER: Collective = Collective {
    name: "barrier",
    algorithms: &[
        Algorithm::new(
            "dissemination",
            "in rounds to the rank 1, 2, 4 and so on above.",
            dissemination,
        ),
        Algorithm::new(
            "recursive-doubling",
            "exchanges at distances 1, 2, 4 and so on.",
            all_reduce::recursive_doubling,
        ),
        Algorithm::new("tree", "up and down a binomial tree.", |program, members, call| {
            reduce::binomial(program, members, call);
            tree::down(program, members, call, u64::MAX, &tree::binomial);
        }),
        Algorithm::new("linear", "all to the first rank, then back.", |program, members, call| {
            tree::up(program, members, call, u64::MAX, &tree::linear);
            tree::down(program, members, call, u64::MAX, &tree::linear);
        }),
        Algorithm::new("binary", "up and down a binary tree.", tree::up_and_down),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::BARRIER,
    mpich: mpich::barrier,
};

pub(super) fn dissemination(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let tags = members.tags(members.size.next_power_of_two().ilog2());
    for (round, distance) in (0..).zip(doubling(members.size)) {
        let sent = (call.bytes, members.up(distance));
        members.exchange(program, sent, (call.bytes, members.down(distance)), tags.at(round));
    }
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| dissemination(program, members, call),
        |program, inside, between| {
            levels::up(program, inside, call);
            levels::with_root(program, inside, between, |program, between| {
                dissemination(program, between, call);
            });
            levels::down(program, inside, call);
        },
    );
}
