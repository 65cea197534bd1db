//! Which rows of channels are kept of a point.

use flitlab_engine::ChannelKind;
use flitlab_fabric::Fabric;
use flitlab_report::{ChannelRow, Packing, group_rows};

/// What is kept of results, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub channels: KeptChannels,
    /// How `channels.csv` is written.
    pub packing: Packing,
}

/// A sweep's points with more channels between routers than this keep those by group, unless
/// something else is said.
pub(crate) const MANY_CHANNELS: usize = 1000;

/// The rows of `channels.csv`, of each point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptChannels {
    /// Those of all channels.
    #[default]
    All,
    /// Those of so many of the channels between switches or routers that were used most.
    Busiest(usize),
    /// Two for each group of channels, the mean and the most ([`group_rows`]).
    Groups,
    /// None.
    None,
}

impl KeptChannels {
    /// Keeps some of a point's rows, in their order.
    pub fn keep(self, fabric: &Fabric, mut channels: Vec<ChannelRow>) -> Vec<ChannelRow> {
        match self {
            Self::All => channels,
            Self::None => Vec::new(),
            Self::Groups => group_rows(fabric, &channels),
            Self::Busiest(count) => {
                let network = |&at: &usize| channels[at].kind == ChannelKind::Network;
                let mut busiest: Vec<usize> = (0..channels.len()).filter(network).collect();
                // Of equal ones the first.
                busiest
                    .sort_by(|&a, &b| channels[b].utilisation.total_cmp(&channels[a].utilisation));
                busiest.truncate(count);
                let mut kept = vec![false; channels.len()];
                busiest.iter().for_each(|&at| kept[at] = true);
                let mut kept = kept.into_iter();
                channels.retain(|_| kept.next().expect("one a row"));
                channels
            }
        }
    }
}
