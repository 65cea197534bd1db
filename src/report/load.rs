//! A channel's load under a routing table as a row of `loads.csv`.

use serde::{Deserialize, Serialize};

use crate::routing::Quality;
use crate::topology::Fabric;

/// How many routes of a table cross a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadRow {
    /// For a torus the source router and the direction: `(0,0,1) +x`.
    pub channel: String,
    pub load_routes: u32,
}

impl LoadRow {
    /// The rows of a table, a channel each.
    #[must_use]
    pub fn of(fabric: &Fabric, quality: &Quality) -> Vec<Self> {
        let row = |&(channel, load_routes): &(u32, u32)| Self {
            channel: fabric.channel_name(channel),
            load_routes,
        };
        quality.loads.iter().map(row).collect()
    }
}
