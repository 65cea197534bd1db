//! Collective operations whose parts differ in size, and scans: by the algorithms that MPI
//! libraries fall back to. `bytes` says how many bytes a member's part has, by its place.

use crate::generate::communicator::Communicator;
use crate::generate::program::Program;

/// A part of each rank straight to the root, which posts all receives first (`MPI_Gatherv`).
pub fn gather_v(
    program: &mut Program,
    members: &mut Communicator<'_>,
    root: u32,
    bytes: &dyn Fn(u32) -> u64,
) {
    let tag = members.tags(1).at(0);
    if members.place() != root {
        return members.send(program, bytes(members.place()), root, tag);
    }
    let others = (1..members.size).map(|distance| members.up(distance));
    let receives: Vec<_> =
        others.map(|from| members.begin_receive(program, bytes(from), from, tag)).collect();
    program.wait(&receives);
}

/// A part of the root's straight to each rank (`MPI_Scatterv`).
pub fn scatter_v(
    program: &mut Program,
    members: &mut Communicator<'_>,
    root: u32,
    bytes: &dyn Fn(u32) -> u64,
) {
    let tag = members.tags(1).at(0);
    if members.place() != root {
        return members.receive(program, bytes(members.place()), root, tag);
    }
    let others = (1..members.size).map(|distance| members.up(distance));
    let sends: Vec<_> = others.map(|to| members.begin_send(program, bytes(to), to, tag)).collect();
    program.wait(&sends);
}

/// A part of each rank to all ranks, around a ring (`MPI_Allgatherv`).
pub fn all_gather_v(
    program: &mut Program,
    members: &mut Communicator<'_>,
    bytes: &dyn Fn(u32) -> u64,
) {
    let tags = members.tags(members.size);
    for round in 1..members.size {
        let sent = (bytes(members.down(round - 1)), members.up(1));
        let received = (bytes(members.down(round)), members.down(1));
        members.exchange(program, sent, received, tags.at(round));
    }
}

/// The vectors of all ranks, combined in no time, a part to each: straight to it, a partner a round
/// (`MPI_Reduce_scatter`).
pub fn reduce_scatter_v(
    program: &mut Program,
    members: &mut Communicator<'_>,
    bytes: &dyn Fn(u32) -> u64,
) {
    let tags = members.tags(members.size);
    let own = bytes(members.place());
    for round in 1..members.size {
        let (to, from) = (members.up(round), members.down(round));
        members.exchange(program, (bytes(to), to), (own, from), tags.at(round));
    }
}

/// The vectors of all ranks up to each, combined in no time, from rank to rank (`MPI_Scan`,
/// `MPI_Exscan`).
pub fn scan(program: &mut Program, members: &mut Communicator<'_>, bytes: u64) {
    let tag = members.tags(1).at(0);
    let place = members.place();
    if place > 0 {
        members.receive(program, bytes, place - 1, tag);
    }
    if place + 1 < members.size {
        members.send(program, bytes, place + 1, tag);
    }
}
