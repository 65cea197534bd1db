//! The virtual channels that a simulation's traffic can use: what nobody uses takes no memory.

use super::dateline::{self, Dateline};
use super::{
    DOWN_CHANNEL, MOST_VIRTUAL_CHANNELS, Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL, UP_CHANNEL,
};
use crate::narrow::fitted;
use crate::routing::{ForwardingTable, Routes};

/// The virtual channels in use, in ascending order: a lane is a place in this order.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    channels: Vec<u8>,
    lane_of: [u8; MOST_VIRTUAL_CHANNELS as usize],
    /// The virtual channels in which data and requests, and responses, are injected.
    injected_on: [u8; 2],
}

impl Lanes {
    /// Of traffic that has messages of data, and reads. By a table packets take its lanes; `later` is the one that
    /// may take its place; `collective` if there are collective operations. Links that are shared flit by flit use all virtual channels.
    pub(super) fn new(
        routes: &Routes,
        later: Option<&ForwardingTable>,
        parameters: &Parameters,
        (data, reads): (bool, bool),
        collective: bool,
    ) -> Self {
        let mut used = [false; MOST_VIRTUAL_CHANNELS as usize];
        let mut use_channel = |channel: u8| used[usize::from(channel)] = true;
        let dateline = Dateline::of(routes);
        let mut injected_on = [REQUEST_CHANNEL, RESPONSE_CHANNEL];
        let by_source = matches!(routes, Routes::DirectionOrder(_) | Routes::Table(_));
        if parameters.sharing.is_some() {
            (0..parameters.virtual_channels).for_each(&mut use_channel);
            if by_source && reads {
                injected_on[1] = parameters.virtual_channels / 2;
            }
        } else if let Routes::DirectionOrder(order) = routes
            && order.has_dateline()
        {
            injected_on = injected_on.map(dateline::base);
            let traffic = &injected_on[..if reads { 2 } else { 1 }];
            for &base in traffic {
                use_channel(base);
                if dateline.is_some() {
                    use_channel(base + 1);
                }
            }
        } else if let Routes::Forwarding(table) = routes {
            let most = table.lane_count().max(later.map_or(0, ForwardingTable::lane_count));
            (0..most.min(parameters.virtual_channels)).for_each(&mut use_channel);
        } else if let Routes::Relation(_) | Routes::Paths(_) = routes {
            (0..parameters.virtual_channels).for_each(&mut use_channel);
        } else {
            if reads {
                use_channel(REQUEST_CHANNEL);
                use_channel(RESPONSE_CHANNEL);
            }
            match routes {
                Routes::Adaptive(adaptive) if data => {
                    let rules = adaptive.rules();
                    use_channel(rules.channels.adaptive);
                    use_channel(rules.channels.escape);
                    if rules.derouter.leads_round() {
                        use_channel(rules.channels.escape_to_intermediate);
                    }
                }
                _ => use_channel(REQUEST_CHANNEL),
            }
        }
        // Acknowledgements are counted in it.
        if parameters.errors.is_some() {
            use_channel(REQUEST_CHANNEL);
        }
        if collective {
            use_channel(UP_CHANNEL);
            use_channel(DOWN_CHANNEL);
        }
        let channels: Vec<u8> =
            (0..MOST_VIRTUAL_CHANNELS).filter(|&channel| used[usize::from(channel)]).collect();
        let mut lane_of = [u8::MAX; MOST_VIRTUAL_CHANNELS as usize];
        for (lane, &channel) in (0..).zip(&channels) {
            lane_of[usize::from(channel)] = lane;
        }
        Self { channels, lane_of, injected_on }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.channels.len()
    }

    /// The lane of a virtual channel; one in which no packet is if the channel is not in use.
    #[inline]
    pub(super) fn lane(&self, channel: u8) -> u8 {
        self.lane_of[usize::from(channel)]
    }

    /// The lane of data and requests, or of responses, on injection channels.
    #[inline]
    pub(super) fn injected_on(&self, channel: u8) -> u8 {
        self.lane(self.injected_on[usize::from(channel)])
    }

    #[inline]
    pub(super) fn channel(&self, lane: u8) -> u8 {
        self.channels[usize::from(lane)]
    }

    /// The number by which a buffer of an input port is drawn in random arbitration: its virtual
    /// channel. The two queues of a router's reduction unit lie behind all lanes, and have the
    /// numbers behind those of all virtual channels, whichever of these are in use.
    #[inline]
    pub(super) fn drawn_number(&self, lane: u8) -> u8 {
        let used = self.channels.get(usize::from(lane));
        let behind = || MOST_VIRTUAL_CHANNELS + lane - fitted!(self.channels.len(), u8);
        used.copied().unwrap_or_else(behind)
    }
}
