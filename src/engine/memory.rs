//! What the engine's arrays take, and whether its numbers are wide enough, before anything is allocated.

use super::adapter::Adapters;
use super::credit::Credits;
use super::parameters::{MOST_VIRTUAL_CHANNELS, Parameters, VIRTUAL_CHANNELS};
use super::port::{Input, Output, Router};
use super::statistics::Statistics;
use crate::topology::Fabric;

/// The most buffers (pairs of input port and virtual channel) of a router: they are numbered in 16 bits, and
/// the number behind the last one is used too.
pub const MOST_BUFFERS: u64 = u16::MAX as u64;

/// A word for each of about this many of a channel's facts (network.rs), and the random numbers of a terminal.
const CHANNEL_WORDS: u64 = 5;
const RANDOM: u64 = 320;

/// The most buffers that a router has, and that router.
#[must_use]
pub fn most_buffers(fabric: &Fabric, parameters: &Parameters) -> (u64, u32) {
    let mut inputs: Vec<u64> = vec![0; fabric.routers() as usize];
    for target in (0..fabric.channel_slots()).filter_map(|channel| fabric.target(channel)) {
        inputs[target as usize] += 1;
    }
    for router in fabric.live_terminals().filter_map(|terminal| fabric.terminal_router(terminal)) {
        inputs[router as usize] += u64::from(parameters.injection_channels);
    }
    let most =
        (0..).zip(&inputs).max_by_key(|&(router, &count)| (count, std::cmp::Reverse(router)));
    let (router, &inputs) = most.unwrap_or((0, &0));
    (inputs * lanes(parameters), router)
}

/// Bytes of an engine's arrays before traffic, about. `adaptive`: packets choose their way.
#[must_use]
pub fn memory_needed(fabric: &Fabric, parameters: &Parameters, adaptive: bool) -> u64 {
    if lanes(parameters) == VIRTUAL_CHANNELS as u64 {
        of_width::<VIRTUAL_CHANNELS>(fabric, parameters, adaptive)
    } else {
        of_width::<{ MOST_VIRTUAL_CHANNELS as usize }>(fabric, parameters, adaptive)
    }
}

/// For how many virtual channels the simulator has room.
fn lanes(parameters: &Parameters) -> u64 {
    match usize::from(parameters.virtual_channels) {
        0..=VIRTUAL_CHANNELS => VIRTUAL_CHANNELS as u64,
        _ => MOST_VIRTUAL_CHANNELS.into(),
    }
}

fn of_width<const LANES: usize>(fabric: &Fabric, parameters: &Parameters, adaptive: bool) -> u64 {
    let terminals = u64::from(fabric.terminals());
    let injections = terminals * u64::from(parameters.injection_channels);
    let ejections = terminals * u64::from(parameters.ejection_channels);
    let links = u64::from(fabric.channel_slots());
    let (routers, channels) = (u64::from(fabric.routers()), links + injections + ejections);
    let bytes = |of: usize| of as u64;
    // Who asks for an output, a bit each, of the largest router; twice if there are escapes too.
    let asking = most_buffers(fabric, parameters).0.div_ceil(64) * 8 * (1 + u64::from(adaptive));
    let a_channel = bytes(size_of::<Output<LANES>>())
        + Credits::<LANES>::A_CHANNEL
        + Statistics::<LANES>::A_CHANNEL
        + CHANNEL_WORDS * 4
        + asking;
    let most_outputs = (0..fabric.routers()).map(|router| fabric.outputs(router).len()).max();
    let a_router = bytes(size_of::<Router>()) + bytes(most_outputs.unwrap_or(0)) / 8 + 40;
    let random = if adaptive { RANDOM } else { 0 };
    channels * a_channel
        + (links + injections) * bytes(size_of::<Input<LANES>>())
        + routers * a_router
        + terminals * (Adapters::A_TERMINAL + random)
        + injections * bytes(LANES) * Adapters::A_QUEUE
}
