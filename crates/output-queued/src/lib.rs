//! An output-queued, store-and-forward router on a torus: the model behind the published results of
//! OutFlank Routing.
//!
//! The paper describes its simulator in outline only (\[outflank\], section 4). The rules below are
//! those that reproduce its author's result files; what these leave open was settled by reading the
//! simulator that he has published (github.com/fversaci/auroting).
//!
//! **Traffic.** All nodes create a message at the same instants, and send its packets one by one:
//! the next is offered only after the router has answered the last, at a tick of a clock common to
//! all. A node's very last packet doesn't wait for a tick when it was refused.
//!
//! **Routers.** A packet is received whole and put into an output queue, which it keeps. Each link
//! has three queues, in descending priority: escape to the destination, escape to an intermediate
//! node, adaptive. A packet takes the adaptive queue with the most room among the directions that
//! lead on, else the escape queue of the lowest dimension. Entering an escape ring takes two free
//! slots, going on in it one. A packet from the generator enters only a queue of which more than
//! half is free.
//!
//! **Links.** There are no credits. The receiver answers each packet with an acknowledgement or a
//! refusal, which goes back ahead of packets. A packet holds its slot until it is acknowledged; if
//! it is refused, it waits for the link again as the oldest it was. Whatever happens at a router
//! serves all of its links that are free by then.
//!
//! **Sinks.** A queue of as many slots as the others; the packet in transmission needs none.
//!
//! Not modelled: flits, cut-through, header processing time, faults, and links of unequal rates.
//! For these see the crate `flitlab-engine`.
//!
//! All three routings give the published lifetimes of the butterfly pattern to the last digit at
//! nearly all loads, and OutFlank Routing those of the bit-reverse pattern at low loads. Elsewhere
//! they agree within 1%, near saturation within a few per cent, with a few exceptions
//! (results/outflank): the author's simulator seems to order answers that wait for one link by
//! their addresses in memory, which no model can know.

mod age;
mod derouting;
mod ejection;
mod error;
mod event;
mod injection;
mod link;
mod measure;
mod memory;
mod observer;
mod order;
mod packet;
mod recorder;
mod router;
mod settings;
mod traffic;

#[cfg(test)]
mod tests;

pub use error::SimulationError;
pub use event::Femtoseconds;
pub use measure::RunTotals;
pub use memory::memory_needed;
pub use order::MAX_SLOTS;
pub use recorder::{Creation, Keep, Measurement, measure, picoseconds, rehearse};
pub use settings::{LONGEST_RUN, MAX_PACKETS, Parameters, Routing, Settings, longest_run};
pub use traffic::transmission;

use observer::Observer;

use flitlab_fabric::{Faults, Torus};
use flitlab_traffic::Pattern;

/// Simulates until all packets of all messages have reached their sinks.
///
/// # Errors
/// If a dimension is no ring, a parameter is out of range, the pattern doesn't suit the torus, or
/// no packet moves any more.
pub fn simulate(
    torus: &Torus,
    parameters: &Parameters,
    settings: &Settings,
) -> Result<RunTotals, SimulationError> {
    let measured = simulate_within(torus, parameters, settings, u128::MAX)?;
    Ok(measured.expect("no run exceeds the highest limit"))
}

/// Simulates like [`simulate`], but gives up as soon as it is certain that the lifetimes of all
/// packets add up to more than `limit` femtoseconds. There is no measurement then.
///
/// A run far beyond saturation takes long, and is known to be one long before its end: the packets
/// that wait grow old, and all packets still to come have a least lifetime.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_within(
    torus: &Torus,
    parameters: &Parameters,
    settings: &Settings,
    limit: u128,
) -> Result<Option<RunTotals>, SimulationError> {
    network(torus, parameters, settings, &mut ())?.run(limit)
}

/// Simulates like [`simulate_within`], but never gives up before the last messages are created.
/// Gives, beside the totals, by how much the packets under way grow from the second to the last
/// quarter of the messages, as a fraction of the packets created in between: about 0 in a steady
/// state. Each quarter's packets under way are the mean over the instants just before its messages
/// are created; there must be four messages or more.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with_growth(
    torus: &Torus,
    parameters: &Parameters,
    settings: &Settings,
    limit: u128,
) -> Result<(Option<RunTotals>, f64), SimulationError> {
    if parameters.messages < 4 {
        return Err(SimulationError::Range { message: "growth needs four messages or more" });
    }
    let mut backlogs = Backlogs(Vec::new());
    let network = network(torus, parameters, settings, &mut backlogs)?;
    let totals = network.run_from_last_creation(limit)?;
    Ok((totals, growth(&backlogs.0, torus.nodes(), parameters.message_packets)))
}

/// The packets that were under way just before each creation of messages.
struct Backlogs(Vec<u64>);

impl Observer for Backlogs {
    fn created(&mut self, _: Femtoseconds, under_way: u64) {
        self.0.push(under_way);
    }
}

/// The [growth](simulate_with_growth), from the packets that were under way just before each creation of
/// messages: of at least four.
fn growth(backlogs: &[u64], nodes: u32, message_packets: u32) -> f64 {
    let quarter = backlogs.len() / 4;
    let mean = |backlogs: &[u64]| backlogs.iter().sum::<u64>() as f64 / backlogs.len() as f64;
    let (early, late) = (&backlogs[quarter..2 * quarter], &backlogs[backlogs.len() - quarter..]);
    let messages = f64::from(nodes) * (backlogs.len() - 2 * quarter) as f64;
    (mean(late) - mean(early)) / messages / f64::from(message_packets)
}

fn network<'a, O: Observer>(
    torus: &'a Torus,
    parameters: &'a Parameters,
    settings: &'a Settings,
    observer: &'a mut O,
) -> Result<router::Network<'a, O>, SimulationError> {
    settings::check(parameters, torus, settings)?;
    let fabric = torus.fabric(&Faults::default()).map_err(SimulationError::Topology)?;
    let pattern = Pattern::new(&settings.pattern, &fabric, settings.seed)
        .map_err(SimulationError::Pattern)?;
    Ok(router::Network::new(torus, parameters, settings, pattern, observer))
}
