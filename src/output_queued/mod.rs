//! An output-queued, store-and-forward router on a torus: the model of the OutFlank Routing paper.

mod derouting;
mod event;
mod measure;
mod queue;
mod router;
mod traffic;

pub use measure::Measured;

use crate::adaptive::profit::Weights;
use crate::adaptive::{Midpoint, OutFlank, Tie};
use crate::topology::Torus;
use crate::traffic::{Pattern, PatternSpec};
use crate::units::{Bytes, Picoseconds, Rate};

/// Links, queues and messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Size of a packet.
    pub packet: Bytes,
    /// Size of an acknowledgement or refusal.
    pub answer: Bytes,
    /// Rate of the links between routers.
    pub external_rate: Rate,
    /// Latency of the links between routers.
    pub external_latency: Picoseconds,
    /// Rate of the links between a router and its generator and sink.
    pub internal_rate: Rate,
    /// Latency of the links between a router and its generator and sink.
    pub internal_latency: Picoseconds,
    /// Slots of a queue, 2 to 32 packets.
    pub capacity: u32,
    /// Packets of a message.
    pub message_packets: u32,
    /// Messages of a node.
    pub messages: u32,
    /// Attempts to inject a packet in the time in which load 1 creates one.
    pub injection_rate: f64,
}

impl Parameters {
    /// Those of the paper's Table 1.
    pub const PUBLISHED: Self = Self {
        packet: Bytes(512),
        answer: Bytes(10),
        external_rate: Rate(20_000_000_000),
        external_latency: 200_000,
        internal_rate: Rate(64_000_000_000),
        internal_latency: 80_000,
        capacity: 8,
        message_packets: 96,
        messages: 32,
        injection_rate: 2.4,
    };

    /// Everything four times faster, as in the result files of the paper's author. Lifetimes are a
    /// quarter, all else is equal.
    pub const FOUR_TIMES_FASTER: Self = Self {
        external_rate: Rate(80_000_000_000),
        external_latency: 50_000,
        internal_rate: Rate(256_000_000_000),
        internal_latency: 20_000,
        ..Self::PUBLISHED
    };
}

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Routing {
    /// Adaptive Bubble Routing: minimal.
    AdaptiveBubble,
    /// Pick Orthant Routing.
    PickOrthant(Weights),
    /// OutFlank Routing; the second is the midpoint of wraparound intermediate nodes.
    OutFlank(OutFlank, Midpoint, Weights),
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Who sends to whom.
    pub pattern: PatternSpec,
    /// Offered load, above 0; 1 is the bisection's bound under uniform traffic.
    pub load: f64,
    /// Which way packets go.
    pub routing: Routing,
    /// Which way round half a ring.
    pub tie: Tie,
    /// Seed of the random streams, one a node.
    pub seed: u64,
}

pub fn simulate(torus: &Torus, parameters: &Parameters, settings: &Settings) -> Result<Measured, String> {
    let fabric = torus.fabric(&Default::default()).map_err(|e| e.to_string())?;
    let pattern = Pattern::new(&settings.pattern, &fabric, settings.seed).map_err(|e| e.to_string())?;
    let mut network = router::Network::new(torus, parameters, settings, pattern);
    network.run();
    Ok(network.measured)
}
