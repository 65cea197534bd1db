//! What routes need of the network before there is one: virtual channels, room, memory.

use crate::network::vc_map::VcMap;
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;
use flitlab_model::{Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL};
use flitlab_routing::{AdaptiveChannels, ForwardingTable, Routes};

use super::source_route::Dateline;

/// Whether routers choose among several outputs for a packet.
pub(crate) fn is_adaptive(routes: &Routes) -> bool {
    matches!(routes, Routes::Adaptive(_) | Routes::Relation(_))
}

/// Whether sources write whole routes into packets.
pub(crate) fn is_by_source(routes: &Routes) -> bool {
    matches!(routes, Routes::DirectionOrder(_) | Routes::Table(_))
}

/// Whether routers look up packets in forwarding tables, which may be replaced after a failure.
pub(crate) fn is_by_table(routes: &Routes) -> bool {
    matches!(routes, Routes::Forwarding(_))
}

/// Bytes for the state of sources, besides that for random numbers: the turns of their paths.
pub(crate) fn memory_of_sources(routes: &Routes, fabric: &Fabric) -> u64 {
    match routes {
        Routes::Paths(paths) if paths.in_turn() => {
            u64::from(fabric.terminals()) * u64::from(fabric.routers())
        }
        _ => 0,
    }
}

/// The virtual channels that packets use, without those of collective operations.
pub(crate) struct VcDemand {
    /// The numbers of the virtual channels, a bit each.
    pub used: u16,
    /// The virtual channels on which sources inject data and requests, and responses.
    pub injected_on: [u8; 2],
}

impl VcDemand {
    /// The demand of messages of data (`data`) and remote reads (`reads`).
    ///
    /// * Links that are shared flit by flit use all virtual channels.
    /// * A forwarding table uses its own; `later` is the table that may replace it after a failure.
    pub(crate) fn new(
        routes: &Routes,
        later: Option<&ForwardingTable>,
        parameters: &Parameters,
        (data, reads): (bool, bool),
    ) -> Self {
        let first = |count: u8| fitted!((1_u32 << count) - 1, u16);
        let all = first(parameters.virtual_channels);
        let usual = [REQUEST_CHANNEL, RESPONSE_CHANNEL];
        let plain = if reads { 1 << REQUEST_CHANNEL | 1 << RESPONSE_CHANNEL } else { 0 };
        let (used, injected_on) = match routes {
            _ if parameters.sharing.is_some() => {
                let half = parameters.virtual_channels / 2;
                let split = is_by_source(routes) && reads;
                (all, if split { [REQUEST_CHANNEL, half] } else { usual })
            }
            Routes::DirectionOrder(order) if order.has_dateline() => {
                // Class 1 has the virtual channel behind that of class 0.
                let classes = if Dateline::of(order).is_some() { 0b11 } else { 0b01 };
                let bases = usual.map(|traffic| 2 * traffic);
                let traffic = &bases[..if reads { 2 } else { 1 }];
                (traffic.iter().fold(0, |used, base| used | classes << base), bases)
            }
            Routes::Forwarding(table) => {
                let most = table.vc_count().max(later.map_or(0, ForwardingTable::vc_count));
                (first(most.min(parameters.virtual_channels)), usual)
            }
            Routes::Relation(_) | Routes::Paths(_) => (all, usual),
            Routes::Adaptive(adaptive) if data => {
                let rules = adaptive.rules();
                let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = rules.channels;
                let round = u16::from(rules.non_minimal.goes_via_intermediate());
                let own = 1 << adaptive | 1 << escape | round << escape_to_intermediate;
                (plain | own, usual)
            }
            _ => (plain | 1 << REQUEST_CHANNEL, usual),
        };
        // Acknowledgements of links are counted in it.
        let counts = u16::from(parameters.errors.is_some()) << REQUEST_CHANNEL;
        Self { used: used | counts, injected_on }
    }
}

/// The maximum number of virtual channels of a channel, of `all`, that the packets of a source use:
/// in the network, and at injection.
pub(crate) fn max_vcs_of_source(routes: &Routes, all: u32) -> [u32; 2] {
    match routes {
        Routes::Forwarding(table) => [u32::from(table.vc_count()).min(all).max(1); 2],
        Routes::Relation(_) | Routes::Paths(_) | Routes::Adaptive(_) => [all; 2],
        Routes::DirectionOrder(order) if order.has_dateline() => [2, 1],
        Routes::DirectionOrder(_) | Routes::Table(_) => [1; 2],
    }
}

/// Whether every packet keeps the bubble rule where it enters a ring.
pub(crate) fn keeps_bubble_always(routes: &Routes) -> bool {
    match routes {
        Routes::DirectionOrder(order) => !order.has_dateline(),
        Routes::Table(_) => true,
        _ => false,
    }
}

/// Whether packets may keep the bubble rule. An escape by a table closes no ring.
pub(crate) fn may_keep_bubble(routes: &Routes) -> bool {
    !matches!(routes, Routes::Adaptive(adaptive) if adaptive.has_table())
}

/// The packets for which an adaptively routed packet must leave room where it is injected.
pub(crate) fn injection_bubble(routes: &Routes) -> u8 {
    match routes {
        Routes::Adaptive(adaptive) => adaptive.rules().injection_bubble,
        Routes::Relation(routes) => routes.injection_bubble,
        _ => 0,
    }
}

/// The indices of the virtual channels of adaptively routed packets on a torus.
pub(crate) fn adaptive_channels(routes: &Routes, vc_map: &VcMap) -> AdaptiveChannels {
    let Routes::Adaptive(adaptive) = routes else { return AdaptiveChannels::default() };
    let AdaptiveChannels { adaptive, escape, escape_to_intermediate } = adaptive.rules().channels;
    AdaptiveChannels {
        adaptive: vc_map.index(adaptive),
        escape: vc_map.index(escape),
        escape_to_intermediate: vc_map.index(escape_to_intermediate),
    }
}
