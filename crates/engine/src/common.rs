//! What the hosts of a part and its routers have in common.

use std::sync::Arc;

use super::adaptive::AdaptiveState;
use super::counters::Counters;
use super::encoded_route::{AdaptiveRoute, Address};
use super::frame::Schedule;
use super::interruption::Interruption;
use super::network_context::NetworkContext;
use super::next_hop::NextHop;
use super::packet::Packets;
use super::sink::Delivery;
use super::statistics::Statistics;
use super::tick::Tick;
use super::trace::Trace;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_model::Digest;
use flitlab_routing::Routes;

/// The packets, times and counts of a part. Its owner, the [`Part`](super::part::Part), lends it to
/// its hosts and to its routers for each call.
pub(super) struct Common<'f> {
    pub context: Arc<NetworkContext<'f>>,
    pub schedule: Schedule,
    /// The lookup of packets' next hops, if the routing needs one.
    pub next_hop: Option<NextHop<'f>>,
    pub interruption: Option<&'f Interruption>,
    pub packets: Packets,
    pub statistics: Statistics,
    pub adaptive_state: Option<AdaptiveState<'f>>,
    pub to_hosts: ToHosts,
    pub digest: Digest,
    pub trace: Option<Box<Trace>>,
    pub counters: Counters,
    /// Time of the latest event. A packet that waits for a free output counts as one.
    pub latest: Picoseconds,
    /// Whether the part's state is larger than the processor's nearer caches.
    pub is_large: bool,
}

impl Common<'_> {
    /// The time of a tick.
    #[inline]
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.schedule.time(tick)
    }

    /// The destination terminal of a packet in a router's buffer.
    pub(super) fn destination(&self, router: u32, slot: u32) -> u32 {
        let route = self.packets.packets[slot as usize].route;
        let context = &*self.context;
        let (end, ejection) = match context.routes {
            Routes::Forwarding(_) | Routes::Relation(_) | Routes::Paths(_) => {
                return Address::from(route).destination;
            }
            Routes::Adaptive(_) => {
                let route = AdaptiveRoute::from(route);
                (route.destination, u16::from(route.ejection))
            }
            Routes::DirectionOrder(_) | Routes::Table(_) => {
                let mut route = route;
                let mut rest = self.packets.rest_of(slot).to_vec();
                let mut at = router;
                loop {
                    let output = context.codec.output(route);
                    let ports = context.fabric.outputs(at);
                    if u32::from(output) >= narrow::<u32>(ports.len()) {
                        break (at, output);
                    }
                    at = context.fabric.target(ports.start + u32::from(output)).expect("routed");
                    if context.codec.go_on(&mut route) {
                        context.codec.refill(&mut route, &mut rest);
                    }
                }
            }
        };
        let first = narrow::<u16>(context.fabric.outputs(end).len());
        let own = (ejection - first) / narrow::<u16>(context.parameters.ejection_channels);
        context.terminals_of(end)[usize::from(own)]
    }
}

/// What a router's visit has for the router's own terminals, which are served in the same visit.
#[derive(Debug, Default)]
pub(super) struct ToHosts {
    pub deliveries: Vec<Delivery>,
    /// Injection channels that wait for credits, and the time at which those arrive.
    pub fed: Vec<(u32, Tick)>,
    /// Whether a delivered packet may let a terminal send something within the window.
    pub hosts_answer: bool,
}

impl ToHosts {
    /// Whether it holds something that may let the router's own terminals send something within the
    /// window.
    #[inline]
    pub(super) fn is_urgent(&self) -> bool {
        !self.fed.is_empty() || self.hosts_answer && !self.deliveries.is_empty()
    }
}
