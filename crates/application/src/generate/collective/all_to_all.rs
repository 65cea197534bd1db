//! All-to-all: a part of each rank to each other one.

use super::fold::doubling;
use super::{Algorithm, Call, Collective, HIERARCHICAL, levels, mpich, open_mpi};
use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

/// How many messages MPICH has under way at once in each direction.
const WINDOW: u32 = 32;

pub(super) static ALL_TO_ALL: Collective = Collective {
    name: "all-to-all",
    algorithms: &[
        Algorithm::new(
            "linear",
            "all receives posted, all sends begun, then waited for.",
            |program, members, call| {
                all_to_all_v_linear(program, members, &|_, _| call.bytes);
            },
        ),
        Algorithm::new(
            "pairwise",
            "in round i from the rank i below and to the rank i above.",
            pairwise,
        ),
        Algorithm::new(
            "pairwise-xor",
            "in round i with rank XOR i; pairwise where ranks are no power of two.",
            pairwise_xor,
        ),
        Algorithm::new("bruck", "parts sent up by 1, 2, 4 and so on, together (Bruck).", bruck),
        Algorithm::new("scattered", "as linear, 32 receives and sends at a time.", scattered),
        Algorithm::new(HIERARCHICAL, levels::DOC, hierarchical),
    ],
    open_mpi: open_mpi::ALL_TO_ALL,
    mpich: mpich::all_to_all,
};

/// All receives are posted, all sends begun, then waited for; `bytes` says how many go from place
/// to place.
pub fn all_to_all_v_linear(
    program: &mut Program,
    members: &mut Communicator<'_>,
    bytes: &dyn Fn(u32, u32) -> u64,
) {
    window(program, members, 1..members.size, bytes);
}

/// Receives from the next places and sends to those before, as Open MPI and MPICH order them.
fn window(
    program: &mut Program,
    members: &mut Communicator<'_>,
    distances: std::ops::Range<u32>,
    bytes: &dyn Fn(u32, u32) -> u64,
) {
    let tag = members.tags(1).at(0);
    let place = members.place();
    let mut requests = Vec::with_capacity(2 * distances.len());
    for from in distances.clone().map(|distance| members.up(distance)) {
        requests.push(members.begin_receive(program, bytes(from, place), from, tag));
    }
    for to in distances.map(|distance| members.down(distance)) {
        requests.push(members.begin_send(program, bytes(place, to), to, tag));
    }
    program.wait(&requests);
}

/// In round i from the place i below and to the place i above; `bytes` says how many go from place
/// to place.
pub fn all_to_all_v_pairwise(
    program: &mut Program,
    members: &mut Communicator<'_>,
    bytes: &dyn Fn(u32, u32) -> u64,
) {
    let tags = members.tags(members.size);
    let place = members.place();
    for round in 1..members.size {
        let (to, from) = (members.up(round), members.down(round));
        let (sent, received) = (bytes(place, to), bytes(from, place));
        members.exchange(program, (sent, to), (received, from), tags.at(round));
    }
}

pub(super) fn pairwise(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    all_to_all_v_pairwise(program, members, &|_, _| call.bytes);
}

fn pairwise_xor(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    if !members.size.is_power_of_two() {
        return pairwise(program, members, call);
    }
    let tags = members.tags(members.size);
    for round in 1..members.size {
        let other = (call.bytes, members.place() ^ round);
        members.exchange(program, other, other, tags.at(round));
    }
}

fn bruck(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    let size = members.size;
    let tags = members.tags(size.next_power_of_two().ilog2());
    for (round, distance) in (0..).zip(doubling(size)) {
        // The parts whose way up has this distance in it.
        let parts = (1..size).filter(|way| way & distance != 0).count() as u64;
        let sent = (parts * call.bytes, members.up(distance));
        let received = (parts * call.bytes, members.down(distance));
        members.exchange(program, sent, received, tags.at(round));
    }
}

fn scattered(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    for first in (1..members.size).step_by(WINDOW as usize) {
        let last = (first + WINDOW).min(members.size);
        window(program, members, first..last, &|_, _| call.bytes);
    }
}

/// First all that goes to the ranks with some place, in whatever node, to the own node's rank with
/// that place; then between nodes.
fn hierarchical(program: &mut Program, members: &mut Communicator<'_>, call: &Call) {
    levels::two_levels(
        program,
        members,
        |program, members| pairwise(program, members, call),
        |program, inside, between| {
            pairwise(program, inside, &call.times(between.size));
            pairwise(program, between, &call.times(inside.size));
        },
    );
}
