//! The memory of the engine's arrays, and checks of its number ranges, before anything is
//! allocated.

use crate::by_class::ByClass;
use crate::frame::tick::Tick;
use crate::host::source::{Adapter, Injection, SourceQueue};
use crate::network::demands;
use crate::network::port::{Input, Output};
use crate::network::ports::RouterLayout;
use crate::network::vc_map::VcMap;
use crate::router::asks::Asks;
use crate::router::cioq::CioqRouters;
use crate::router::flit::FlitRouters;
use crate::router::link::Links;
use crate::router::packet::cell::{Cells, Size};
use crate::router::packet::credits::Credits;
use crate::router::packet::inlets::Inlet;
use crate::statistics::Statistics;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_model::{Parameters, RouterKind};
use flitlab_routing::Routes;

/// The maximum number of buffers (input virtual channels) of a router. They are numbered in 16
/// bits, and the number behind the last one is used too.
pub const MAX_BUFFERS: u64 = u16::MAX as u64;

/// Approximate number of words for a channel in network.rs, and for a terminal's random numbers.
const CHANNEL_WORDS: u64 = 5;
const RANDOM: u64 = 320;

/// The input ports and the outputs of each router; with collective operations the ports of reduction
/// units too, where they have some.
fn ports(fabric: &Fabric, parameters: &Parameters, collective: bool) -> Vec<(u64, u64)> {
    let outputs = (0..fabric.routers()).map(|router| fabric.outputs(router).len() as u64);
    let mut ports: Vec<(u64, u64)> = outputs.map(|outputs| (0, outputs)).collect();
    for target in (0..fabric.channel_slots()).filter_map(|channel| fabric.target(channel)) {
        ports[target as usize].0 += 1;
    }
    for router in fabric.live_terminals().filter_map(|terminal| fabric.terminal_router(terminal)) {
        let (inputs, outputs) = &mut ports[router as usize];
        *inputs += u64::from(parameters.injection_channels);
        *outputs += u64::from(parameters.ejection_channels);
    }
    if collective && parameters.kind.grants_flits() {
        ports.iter_mut().for_each(|(inputs, outputs)| *inputs += 1 + *outputs);
    }
    ports
}

/// The maximum number of buffer places of a router, and that router. The virtual channels of an
/// input port take the next power of two of places. `collective`: there are collective operations.
pub fn max_buffers(fabric: &Fabric, parameters: &Parameters, collective: bool) -> (u64, u32) {
    let ports = ports(fabric, parameters, collective);
    let most = (0..).zip(&ports).max_by_key(|&(router, it)| (it.0, std::cmp::Reverse(router)));
    let (router, &(inputs, _)) = most.unwrap_or((0, &(0, 0)));
    let outputs = queues_per_vc(fabric, parameters);
    (inputs * u64::from(parameters.virtual_channels).next_power_of_two() * outputs, router)
}

/// Number of queues of each input virtual channel: with virtual output queues as many as the
/// largest router has outputs.
fn queues_per_vc(fabric: &Fabric, parameters: &Parameters) -> u64 {
    let has = parameters.kind.sharing().is_some_and(|sharing| sharing.virtual_output_queues);
    let outputs = || ports(fabric, parameters, false).into_iter().map(|it| it.1).max();
    if has { outputs().unwrap_or(1) } else { 1 }
}

/// Bytes of the ports of all routers and of their buffers, with this many virtual channels.
fn ports_needed(ports: &[(u64, u64)], parameters: &Parameters, vcs: u64, any: bool) -> u64 {
    if !parameters.kind.sends_from_inputs() {
        let bytes = |&(inputs, outputs): &(u64, u64)| {
            inputs * size_of::<Input>() as u64 + outputs * size_of::<Output>() as u64
        };
        return ports.iter().map(bytes).sum();
    }
    let size = |&(inputs, outputs): &(u64, u64)| {
        let shift = vcs.next_power_of_two().trailing_zeros();
        Size::new(narrow(inputs.max(outputs)), shift)
    };
    let most = ports.iter().map(size).max_by_key(|size| size.ports).unwrap_or(Size::new(1, 0));
    let inlets = ports.len() * most.buffers.next_power_of_two() * size_of::<Inlet>();
    (Cells::bytes(ports.iter().map(size), most, any) + inlets) as u64
}

/// Approximate bytes of an engine's arrays before traffic, with those for reads and collective
/// operations if there are any.
pub fn memory_needed(
    fabric: &Fabric,
    parameters: &Parameters,
    routes: &Routes,
    collective: bool,
) -> u64 {
    let adaptive = demands::is_adaptive(routes);
    let classes = parameters.classes.len().max(1);
    let kinds = ByClass::new(|class| [usize::from(class) < classes; 2].into());
    let vcs = VcMap::new(routes, &[], parameters, &kinds, collective).count() as u64;
    let terminals = u64::from(fabric.terminals());
    let injections = terminals * u64::from(parameters.injection_channels);
    let ejections = terminals * u64::from(parameters.ejection_channels);
    let links = u64::from(fabric.channel_slots());
    let (routers, outputs) = (u64::from(fabric.routers()), links + ejections);
    let ports = ports(fabric, parameters, collective);
    let of_units = if collective && parameters.kind.grants_flits() { routers + outputs } else { 0 };
    let (inputs, channels) = (links + injections + of_units, links + injections + ejections);
    let bytes = |of: usize| of as u64;
    // The requests for an output, a bit each, of the largest router, and the escapes.
    let words = max_buffers(fabric, parameters, collective).0.div_ceil(64) * 8;
    let escapes = if adaptive { words } else { 0 };
    let an_output = escapes + Statistics::BYTES_PER_OUTPUT;
    let a_router = bytes(size_of::<RouterLayout>()) + words + 40;
    let least = match routes {
        Routes::Relation(_) => 4,
        Routes::Adaptive(_) => 2,
        _ => 1,
    };
    let of_any_size = collective || parameters.errors.is_some();
    let a_terminal =
        bytes(size_of::<Adapter>() + size_of::<Tick>()) + if adaptive { RANDOM } else { 0 };
    let packet = u64::from(parameters.maximum_packet());
    let of_flits = || {
        let queues = inputs * vcs.next_power_of_two() * queues_per_vc(fabric, parameters);
        let buffers = links * u64::from(parameters.buffer)
            + injections * u64::from(parameters.injection_buffer);
        // A time for each flit that a queue can hold, and for each credit.
        let times = buffers * vcs * (queues_per_vc(fabric, parameters) + 1);
        let results = 2 * routers * u64::from(parameters.collective.open_operations);
        let of_units = if of_units > 0 { (outputs + results) * packet } else { 0 };
        queues * FlitRouters::BYTES_PER_QUEUE
            + channels * vcs * FlitRouters::BYTES_PER_VC
            + (times + of_units) * bytes(size_of::<Tick>())
    };
    let of_kind = match parameters.kind {
        RouterKind::WholePackets | RouterKind::OutputQueues(_) => 0,
        RouterKind::OutputBuffers(_) => {
            inputs * vcs.next_power_of_two() * CioqRouters::BYTES_PER_BUFFER
                + outputs * vcs * CioqRouters::BYTES_PER_VC
        }
        RouterKind::SharedLinks(_) => of_flits(),
    };
    let replays = parameters.errors.as_ref();
    let replays = replays.map_or(0, |errors| links * Links::bytes_per_channel(errors, parameters));
    of_kind
        + demands::memory_of_sources(routes, fabric)
        + replays
        + ports_needed(&ports, parameters, vcs.max(least), of_any_size)
        + outputs * an_output
        + if adaptive { inputs * vcs.next_power_of_two() * bytes(size_of::<Asks>()) } else { 0 }
        + (links + injections) * vcs * Credits::BYTES_PER_VC
        + channels * (vcs * 8 + CHANNEL_WORDS * 4)
        + routers * a_router
        + terminals * a_terminal
        + injections * (bytes(size_of::<Injection>()) + vcs * bytes(size_of::<SourceQueue>()))
}
