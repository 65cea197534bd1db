//! The map between virtual channel numbers and the indices of those in use.
//!
//! A scenario numbers its virtual channels from 0 to 15, but its traffic may use a few of them
//! only. Buffers, credits and statistics are kept for the virtual channels in use, so that the
//! others take no memory. In the engine `vc` is such an index; `virtual_channel` is a scenario's
//! number.

use super::dateline::{self, Dateline};
use super::{
    DOWN_CHANNEL, MAX_VIRTUAL_CHANNELS, Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL, UP_CHANNEL,
};
use flitlab_base::narrow::fitted;
use flitlab_routing::{ForwardingTable, Routes};

/// The virtual channels in use, in ascending order of their numbers.
#[derive(Clone, Debug)]
pub(super) struct VcMap {
    /// By index: the number.
    numbers: Vec<u8>,
    /// By number: the index, or `u8::MAX` if the virtual channel is not in use.
    index_of: [u8; MAX_VIRTUAL_CHANNELS as usize],
    /// Numbers of the virtual channels on which sources inject data and requests, and responses.
    injected_on: [u8; 2],
}

impl VcMap {
    /// The map for traffic with messages of data (`data`), remote reads (`reads`) and collective
    /// operations (`collective`).
    ///
    /// * Links that are shared flit by flit use all virtual channels.
    /// * A forwarding table uses its own; `later` is the table that may replace it after a failure.
    pub(super) fn new(
        routes: &Routes,
        later: Option<&ForwardingTable>,
        parameters: &Parameters,
        (data, reads): (bool, bool),
        collective: bool,
    ) -> Self {
        let mut used = [false; MAX_VIRTUAL_CHANNELS as usize];
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
            let most = table.vc_count().max(later.map_or(0, ForwardingTable::vc_count));
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
                    if rules.non_minimal.goes_via_intermediate() {
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
        let numbers: Vec<u8> =
            (0..MAX_VIRTUAL_CHANNELS).filter(|&channel| used[usize::from(channel)]).collect();
        let mut index_of = [u8::MAX; MAX_VIRTUAL_CHANNELS as usize];
        for (vc, &channel) in (0..).zip(&numbers) {
            index_of[usize::from(channel)] = vc;
        }
        Self { numbers, index_of, injected_on }
    }

    /// How many virtual channels are in use.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The index of a virtual channel; `u8::MAX`, which no packet has, if it is not in use.
    #[inline]
    pub(super) fn index(&self, virtual_channel: u8) -> u8 {
        self.index_of[usize::from(virtual_channel)]
    }

    /// The index of the virtual channel on which sources inject data and requests, or responses.
    #[inline]
    pub(super) fn injected_on(&self, channel: u8) -> u8 {
        self.index(self.injected_on[usize::from(channel)])
    }

    /// The number of the virtual channel with this index.
    #[inline]
    pub(super) fn number(&self, vc: u8) -> u8 {
        self.numbers[usize::from(vc)]
    }

    /// The number that random arbitration hashes for a buffer of an input port: that of its virtual
    /// channel. The two queues of a router's reduction unit have the indices behind those in use,
    /// and the numbers behind all possible ones. So their draws don't depend on what is in use.
    #[inline]
    pub(super) fn drawn_number(&self, vc: u8) -> u8 {
        let used = self.numbers.get(usize::from(vc));
        let behind = || MAX_VIRTUAL_CHANNELS + vc - fitted!(self.numbers.len(), u8);
        used.copied().unwrap_or_else(behind)
    }
}
