//! A channel's load under a routing table as a row of `loads.csv`.

use super::table::{Given, Number, Text, table};
use flitlab_fabric::{Channel, Fabric};

table! {
    /// How many routes of a table cross a channel.
    pub struct LoadRow {
        /// For a torus the source router and the direction, `(0,0,1) +x`; for other fabrics the
        /// source router, its port, and the router there, `S4 port 2 to S7`.
        channel: String as Text<String>, "channel", "channel", Label, usual;
        /// How many routes cross it; of several routes of a pair each counts as its share.
        load_routes: f64 as Given<Number>, "load_routes", "routes", Count, usual;
    }
}

impl LoadRow {
    /// The rows of a table, a channel each.
    pub fn of(fabric: &Fabric, loads: impl Iterator<Item = (Channel, f64)>) -> Vec<Self> {
        let row =
            |(channel, load_routes)| Self { channel: fabric.channel_name(channel), load_routes };
        loads.map(row).collect()
    }
}
