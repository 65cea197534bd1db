//! The time of a packet in an empty network, in closed form.

use super::link::Retry;
use super::parameters::{Parameters, Switching};
use crate::units::Picoseconds;

/// From a packet's injection to its last flit at the sink, if nothing is in its way: `hops` channels
/// between routers and `flits` flits.
///
/// Virtual cut-through: the header crosses the injection channel, `hops` links and the ejection
/// channel, and pays the routing latency at each of `hops + 1` routers; the last flit follows it as
/// closely as the slowest of the three kinds of channel lets it. Store-and-forward: each channel
/// takes the whole packet before the next one starts, and so do links that keep packets until their checksum is there.
pub fn zero_load_latency(parameters: &Parameters, hops: u32, flits: u32) -> Picoseconds {
    let behind = u64::from(flits - 1);
    let hops = u64::from(hops);
    let (mut routing, mut crossbar) = (parameters.routing_latency, parameters.crossbar_latency);
    if let Some(sharing) = &parameters.sharing {
        routing += sharing.virtual_channel_allocation;
        crossbar += sharing.switch_allocation;
    }
    let link = parameters.link_latency + crossbar;
    let ejection = parameters.ejection_latency + crossbar;
    let injected = parameters.injection_latency;
    let (injection_tail, link_tail, ejection_tail) = (
        behind * parameters.injection_flit_time(),
        behind * parameters.link_flit_time(),
        behind * parameters.ejection_flit_time(),
    );
    let stores = parameters.errors.as_ref().is_some_and(|errors| errors.retry == Retry::Store);
    match parameters.switching {
        Switching::VirtualCutThrough if stores && hops > 0 => {
            let first = (routing + link_tail).max(injection_tail);
            let links = first + hops * link + (hops - 1) * (routing + link_tail);
            injected + links + routing + ejection_tail + ejection
        }
        Switching::StoreAndForward => {
            let injection = injection_tail + injected + routing;
            injection + hops * (link_tail + link + routing) + ejection_tail + ejection
        }
        Switching::VirtualCutThrough | Switching::Wormhole => {
            let header = injected + routing + hops * (link + routing);
            let by_ejection = header + ejection_tail;
            let by_link = if hops > 0 { header - routing + link_tail } else { Picoseconds::ZERO };
            // The flits behind the header don't pay its routing latencies.
            let by_injection = injected + hops * link + injection_tail;
            by_ejection.max(by_link).max(by_injection) + ejection
        }
    }
}
