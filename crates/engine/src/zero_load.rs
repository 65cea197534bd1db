//! The latency of a packet in an empty network, in closed form.

use crate::network::ChannelTiming;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::CableClass;
use flitlab_model::{ChannelKind, Parameters, Retry, Switching};

/// Time from a packet's injection to its last flit at the sink, if nothing is in its way: over
/// `hops` channels between routers of `link_rate`, for `flits` flits.
pub fn zero_load_latency(parameters: &Parameters, hops: u32, flits: u32) -> Picoseconds {
    let links = std::iter::repeat_n(0, fitted!(hops, usize));
    EmptyNetwork::new(parameters, &[CableClass::default()]).latency([0, 0], links, flits)
}

/// The latencies of packets in an empty network over cables of several classes.
#[derive(Clone, Debug)]
pub struct EmptyNetwork {
    switching: Switching,
    /// Whether links keep packets until their checksum is there.
    stores: bool,
    /// Time from a header's arrival at a router until it leaves.
    routing: Picoseconds,
    /// By class of cables.
    injections: Vec<ChannelTiming>,
    links: Vec<ChannelTiming>,
    ejections: Vec<ChannelTiming>,
}

impl EmptyNetwork {
    /// The latencies for cables of these classes.
    pub fn new(parameters: &Parameters, classes: &[CableClass]) -> Self {
        let [allocation, _] = parameters.allocation_latencies();
        let times = |kind| ChannelTiming::of_classes(parameters, kind, classes);
        Self {
            switching: parameters.switching,
            stores: parameters.errors.as_ref().is_some_and(|errors| errors.retry == Retry::Store),
            routing: parameters.routing_latency + allocation,
            injections: times(ChannelKind::Injection),
            links: times(ChannelKind::Network),
            ejections: times(ChannelKind::Ejection),
        }
    }

    /// Time from a flit's start on a channel between routers until its credit is back, if it goes on at
    /// once behind it.
    pub fn credit_round_trip(&self, class: u8) -> Picoseconds {
        let ChannelTiming { forward, back, .. } = self.links[usize::from(class)];
        forward + self.routing + back
    }

    /// Time from a packet's injection to its last flit at the sink. It crosses an injection
    /// channel, channels between routers, and an ejection channel, each of a class of cables.
    ///
    /// * Virtual cut-through: the header pays the routing latency at each router. The last flit
    ///   follows it as closely as the channels let it, each of which takes one flit after the
    ///   other.
    /// * Store-and-forward: each channel takes the whole packet before the next one starts, and so
    ///   do links that keep packets until their checksum is there.
    pub fn latency(
        &self,
        [injection, ejection]: [u8; 2],
        links: impl IntoIterator<Item = u8>,
        flits: u32,
    ) -> Picoseconds {
        let behind = u64::from(flits - 1);
        let ChannelTiming { flit_time, forward, .. } = self.injections[usize::from(injection)];
        let stores = self.switching == Switching::StoreAndForward;
        // The times at which the last flit is in the present buffer, and at which the packet leaves
        // it.
        let mut tail = behind * flit_time + forward;
        let mut start = if stores { tail } else { forward } + self.routing;
        let last = |start: Picoseconds, tail: Picoseconds, times: ChannelTiming| {
            (start + behind * times.flit_time).max(tail) + times.forward
        };
        for class in links {
            let times = self.links[usize::from(class)];
            tail = last(start, tail, times);
            let header = if stores || self.stores { tail } else { start + times.forward };
            start = header + self.routing;
        }
        last(start, tail, self.ejections[usize::from(ejection)])
    }
}
