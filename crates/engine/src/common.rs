//! What the hosts of a part and its routers have in common.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::counters::Counters;
use crate::frame::Schedule;
use crate::frame::tick::Tick;
use crate::interruption::Interruption;
use crate::network::context::NetworkContext;
use crate::next_hop::Routing;
use crate::packet::Delivery;
use crate::packet::Packets;
use crate::statistics::Statistics;
use crate::trace::Trace;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Channel;
use flitlab_model::Digest;

/// The packets, times and counts of a part. Its owner, the [`Part`](crate::part::Part), lends it to
/// its hosts and to its routers for each call.
pub(super) struct Common<'f> {
    pub context: Arc<NetworkContext<'f>>,
    pub schedule: Schedule,
    /// The routes of packets.
    pub routing: Routing<'f>,
    pub interruption: Option<&'f Interruption>,
    pub packets: Packets,
    pub statistics: Statistics,
    pub to_hosts: ToHosts,
    pub digest: Digest,
    pub trace: Option<Box<Trace>>,
    pub counters: Counters,
    /// Time of the latest event. A packet that waits for a free output counts as one.
    pub latest: Picoseconds,
    /// What others see of the part's outputs.
    pub published: Published,
    /// Whether the part's state is larger than the processor's nearer caches.
    pub is_large: bool,
}

impl<'f> Common<'f> {
    /// Changes to the routes of another context of the same network.
    pub(super) fn change_routes(&mut self, context: &Arc<NetworkContext<'f>>) {
        self.context = Arc::clone(context);
        self.routing = Routing::new(context, self.schedule.part);
    }

    /// Lets others see what was published.
    pub(super) fn show_published(&self) {
        if let Some(far) = &self.context.far {
            self.published.flits.iter().for_each(|&(channel, flits)| far.set(channel, flits));
        }
    }

    /// The time from the first of so many flits to the last one on an ejection channel.
    pub(super) fn trailing(&self, flits: u16) -> Picoseconds {
        self.context.parameters.ejection_flit_time() * u64::from(flits.saturating_sub(1))
    }

    /// The time of a tick.
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        self.schedule.time(tick)
    }

    /// The destination terminal of a packet in a router's buffer.
    pub(super) fn destination(&self, router: u32, slot: u32) -> u32 {
        self.routing.destination(&self.context, &self.packets, (router, slot))
    }
}

/// What the routers of other parts see of a part's outputs, under rules that ask for it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Published {
    /// The time at which it was written.
    pub at: Option<Picoseconds>,
    /// Flits that are out, by channel of the fabric.
    pub flits: Vec<(Channel, u32)>,
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
    pub(super) fn is_urgent(&self) -> bool {
        !self.fed.is_empty() || self.hosts_answer && !self.deliveries.is_empty()
    }
}
