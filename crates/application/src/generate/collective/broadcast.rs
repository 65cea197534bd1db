//! Broadcast: the root's vector to all.

use super::{
    Algorithm, Call, Collective, HIERARCHICAL, all_gather, levels, mpich, open_mpi, scatter, tree,
};
use crate::generate::communicator::Communicator;
use crate::generate::program::{Blocks, Program};

/// The default size of a segment.
pub(super) const SEGMENT: u64 = 64 << 10;

pub(super) static BROADCAST: Collective = Collective {
    name: "broadcast",
    algorithms: &[
        Algorithm::new("binomial", "along a binomial tree, whole.", |program, members, call| {
            tree::down(program, members, call, call.segment.unwrap_or(u64::MAX), &tree::binomial);
        }),
        Algorithm::new(
            "binary",
            "along a binary tree, in segments of 64 KiB.",
            |program, members, call| {
                tree::down(program, members, call, call.segment.unwrap_or(SEGMENT), &tree::binary);
            },
        ),
        Algorithm::new(
            "chain",
            "from rank to rank, in segments of 64 KiB (pipelined).",
            |program, members, call| {
                tree::down(program, members, call, call.segment.unwrap_or(SEGMENT), &tree::chain);
            },
        ),
        Algorithm::new("linear", "from the root to each rank.", |program, members, call| {
            tree::down(program, members, call, u64::MAX, &tree::linear);
        }),
        Algorithm::new(
            "scatter-recursive-doubling",
            "parts scattered along a binomial tree and gathered by recursive doubling (van de Geijn).",
            |program, members, call| {
                scatter_all_gather(program, members, call, all_gather::recursive_doubling);
            },
        ),
        Algorithm::new(
            "scatter-ring",
            "parts scattered along a binomial tree and gathered around a ring (van de Geijn).",
            |program, members, call| scatter_all_gather(program, members, call, all_gather::ring),
        ),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::BROADCAST,
    mpich: mpich::broadcast,
};

fn scatter_all_gather(
    program: &mut Program,
    members: &mut Communicator<'_>,
    call: &Call,
    gather: fn(&mut Program, &mut Communicator<'_>, Blocks),
) {
    let blocks = Blocks::of(call.bytes, members.size);
    scatter::binomial(program, members, blocks);
    gather(program, members, blocks);
}

/// On both levels.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| levels::down(program, members, call),
        |program, inside, between| {
            levels::with_root(program, inside, between, |program, between| {
                levels::down(program, between, call);
            });
            levels::down(program, inside, call);
        },
    );
}
