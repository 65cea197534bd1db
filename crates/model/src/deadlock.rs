//! The cycle of packets that wait for each other in a deadlock.

use std::fmt;

use flitlab_base::units::{Picoseconds, time_text};

/// The thing that a packet of a wait-for cycle lacks, and that only the next packet of the cycle
/// can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Flits of room at the far end of the channel that the packet waits for. The next packet
    /// occupies them.
    Room {
        /// Flits that the packet needs.
        needed: u32,
        /// Flits that are free, fewer than needed.
        free: u32,
    },
    /// A resource for the response to the request that the packet completes. The adapter of its
    /// destination holds as many responses as it can, and the next packet is in their way.
    ResponderResource {
        /// Responses that the adapter holds.
        held: u32,
    },
    /// A virtual channel of the channel that the packet waits for. The next packet holds it.
    VirtualChannel,
    /// The rest of its own flits, which are one router behind.
    Flits,
}

/// A packet of a wait-for cycle: it is in a router's buffer and waits for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Name of the router that holds the packet.
    pub router: String,
    /// The channel that feeds the buffer in which the packet waits.
    pub input: String,
    /// Number of the virtual channel of that buffer, from 0.
    pub virtual_channel: u8,
    /// Angara's name of the virtual channel; `None` where virtual channels belong to a forwarding
    /// table or are the classes of a dateline.
    pub virtual_channel_name: Option<&'static str>,
    /// Name of the packet's source.
    pub source: String,
    /// Name of the packet's destination.
    pub destination: String,
    /// The channel by which the packet is to leave.
    pub output: String,
    /// The missing thing, which keeps the packet where it is.
    pub lacks: Lack,
}

/// A cycle of packets that wait for each other: none of them will ever move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Time at which it was found; it may have formed earlier.
    pub time: Picoseconds,
    /// The packets, each waiting for the next, and the last for the first.
    pub cycle: Vec<Waiting>,
    /// Packets in the network at that time.
    pub packets: usize,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "deadlock at {}: {} packets wait for each other in a cycle ({} packets in the network)",
            time_text(self.time),
            self.cycle.len(),
            self.packets
        )?;
        for waiting in &self.cycle {
            write!(
                formatter,
                "  router {}, input port from {}, virtual channel {}{}: packet {} to {} waits for ",
                waiting.router,
                waiting.input,
                waiting.virtual_channel,
                waiting.virtual_channel_name.map_or(String::new(), |name| format!(" ({name})")),
                waiting.source,
                waiting.destination,
            )?;
            let output = &waiting.output;
            match waiting.lacks {
                Lack::Room { needed, free } => {
                    writeln!(formatter, "channel {output}, needs {needed} flits, {free} free")
                }
                Lack::ResponderResource { held } => writeln!(
                    formatter,
                    "channel {output}, whose adapter takes no request: it holds {held} {}, all that it can, and the next \
                     packet is in their way",
                    if held == 1 { "response" } else { "responses" }
                ),
                Lack::VirtualChannel => {
                    writeln!(
                        formatter,
                        "a virtual channel of {output}, which the next packet holds"
                    )
                }
                Lack::Flits => writeln!(formatter, "its own flits, which are one router behind"),
            }?;
        }
        let is_protocol =
            |waiting: &Waiting| matches!(waiting.lacks, Lack::ResponderResource { .. });
        if self.cycle.iter().any(is_protocol) {
            writeln!(
                formatter,
                "  the cause: requests wait for adapters to send responses, and these wait behind requests"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}
