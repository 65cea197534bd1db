//! One message that goes to and fro, or round (`emberpingpong.cc`, `emberallpingpong.cc`,
//! `emberring.cc`).

use crate::Schedule;
use crate::generate::{MAX_BYTES, Parameters};

/// Messages have this tag.
const TAG: u32 = 0;

/// What `EmberAllPingPong` computes before each exchange unless told otherwise, in nanoseconds.
const COMPUTATION: f64 = 1000.0;

/// The message's bytes, how often it goes, and the ranks.
fn sizes(parameters: &Parameters, default: u64) -> Result<(u64, u32, u32), String> {
    let bytes = parameters.bytes.unwrap_or(default);
    if bytes > MAX_BYTES {
        return Err("bytes are 1 TiB at the most".into());
    }
    Ok((bytes, parameters.iterations(1)?, parameters.ranks()?))
}

/// `EmberPingPong`: rank 0 sends to rank 1, which sends back. 1024 B unless given.
pub(in super::super) fn ping_pong(parameters: &Parameters) -> Result<Schedule, String> {
    let (bytes, iterations, ranks) = sizes(parameters, 1024)?;
    if ranks < 2 {
        return Err("a ping-pong has at least 2 ranks".into());
    }
    let time = parameters.compute_ns.unwrap_or(0.0);
    parameters.of_ranks(|program, rank| {
        for _ in 0..iterations {
            if rank > 1 || !program.goes_on() {
                break;
            }
            program.compute(time);
            if rank == 0 {
                program.send(bytes, 1, TAG);
                program.receive(bytes, 1, TAG);
            } else {
                program.receive(bytes, 0, TAG);
                program.send(bytes, 0, TAG);
            }
        }
    })
}

/// `EmberAllPingPong`: each rank of the lower half computes and exchanges with the one half of all
/// ranks further on, which sends back. 128 B unless given. Of an odd number the last one does
/// nothing.
pub(in super::super) fn all_ping_pong(parameters: &Parameters) -> Result<Schedule, String> {
    let (bytes, iterations, ranks) = sizes(parameters, 128)?;
    let time = parameters.compute_ns.unwrap_or(COMPUTATION);
    let half = ranks / 2;
    parameters.of_ranks(|program, rank| {
        for _ in 0..iterations {
            if rank >= 2 * half || !program.goes_on() {
                break;
            }
            program.compute(time);
            if rank < half {
                program.send(bytes, rank + half, TAG);
                program.receive(bytes, rank + half, TAG);
            } else {
                program.receive(bytes, rank - half, TAG);
                program.send(bytes, rank - half, TAG);
            }
        }
    })
}

/// `EmberRing`: a message goes from rank to rank and back to the first one. 1024 B unless given.
pub(in super::super) fn ring(parameters: &Parameters) -> Result<Schedule, String> {
    let (bytes, iterations, ranks) = sizes(parameters, 1024)?;
    if ranks < 2 {
        return Err("a ring has at least 2 ranks".into());
    }
    let time = parameters.compute_ns.unwrap_or(0.0);
    parameters.of_ranks(|program, rank| {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for _ in 0..iterations {
            if !program.goes_on() {
                break;
            }
            program.compute(time);
            if rank == 0 {
                program.send(bytes, to, TAG);
                program.receive(bytes, from, TAG);
            } else {
                program.receive(bytes, from, TAG);
                program.send(bytes, to, TAG);
            }
        }
    })
}
