//! The settings of a run.

pub use flitlab_model::OutputQueues as Parameters;

use super::SimulationError;
use super::order::MAX_SLOTS;
use super::router::delays;
use super::traffic::Clock;
use flitlab_fabric::Torus;
use flitlab_routing::adaptive::profit::{Average, IdleRatio, Weights};
use flitlab_routing::adaptive::{Midpoint, Nodes, OutFlank, Tie};
use flitlab_traffic::PatternSpec;

/// The most packets of a run: they are numbered in 32 bits.
pub const MAX_PACKETS: u64 = u32::MAX as u64;

/// The longest that a [run may take](longest_run), in femtoseconds: an hour. Times of 64
/// bits are five.
pub const LONGEST_RUN: f64 = 3600.0 * 1e15;

/// A time that no run exceeds by much, in femtoseconds: until the last messages are created,
/// then for all attempts of a node, and for all packets to cross a link and be answered, one by
/// one and each four times. It may be [`LONGEST_RUN`] at most. All else is in its range.
pub fn longest_run(parameters: &Parameters, torus: &Torus, load: f64) -> f64 {
    let (clock, delays) = (Clock::new(torus, parameters, load), delays(parameters));
    let of_node = f64::from(parameters.messages) * f64::from(parameters.message_packets);
    let offered = (clock.attempt() + delays.injection + delays.injection_answer) as f64;
    let sent = (delays.arrival + delays.answer).max(delays.delivery) as f64;
    let all = of_node * f64::from(torus.nodes());
    f64::from(parameters.messages) * clock.message() as f64 + of_node * offered + 4.0 * all * sent
}

/// Checks that a run can be simulated.
pub(super) fn check(
    parameters: &Parameters,
    torus: &Torus,
    settings: &Settings,
) -> Result<(), SimulationError> {
    let dimensions = 0..torus.dimensions();
    if let Some(dimension) = dimensions.into_iter().find(|&dimension| !torus.closed(dimension)) {
        return Err(SimulationError::NotARing { dimension });
    }
    let packets = u64::from(torus.nodes()) * u64::from(parameters.messages);
    let packets = packets.saturating_mul(parameters.message_packets.into());
    let ranges = [
        (parameters.packet.0 > 0 && parameters.packet.0 <= 1 << 20, "a packet has 1 B to 1 MiB"),
        (
            parameters.answer.0 > 0 && parameters.answer.0 <= parameters.packet.0,
            "an answer has at least 1 B and at most as many as a packet",
        ),
        (parameters.external_rate.0 > 0 && parameters.internal_rate.0 > 0, "rates are above 0"),
        ((2..=MAX_SLOTS).contains(&parameters.capacity), "a queue has 2 to 16 slots"),
        (packets > 0, "there is at least one packet"),
        (packets <= MAX_PACKETS, "a run has 4294967295 packets at the most"),
        (
            parameters.injection_rate > 0.0 && parameters.injection_rate <= 1e3,
            "the injection rate is above 0 and at most 1000",
        ),
        (settings.load >= 1e-6 && settings.load <= 1e3, "the load is from 0.000001 to 1000"),
    ];
    match ranges.iter().find(|range| !range.0) {
        None if longest_run(parameters, torus, settings.load) > LONGEST_RUN => {
            let message = "a run of all these packets may take more than an hour";
            Err(SimulationError::Range { message })
        }
        None => Ok(()),
        Some(&(_, message)) => Err(SimulationError::Range { message }),
    }
}

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Routing {
    /// Adaptive Bubble Routing: minimal, fully adaptive.
    AdaptiveBubble,
    /// Pick Orthant Routing: a new packet gets one of the 2^n orthants.
    PickOrthant(Weights),
    /// OutFlank Routing: a new packet may get an intermediate node.
    OutFlank {
        /// Outflanking intermediate nodes.
        outflank: OutFlank,
        /// Where wraparound intermediate nodes lie.
        wraparound: Midpoint,
        /// The weights of detours.
        weights: Weights,
    },
}

impl Routing {
    /// Pick Orthant Routing with the averages that reproduce the published curves.
    pub const PICK_ORTHANT_PUBLISHED: Self = Self::PickOrthant(Weights {
        distance: 1.0,
        average: Average::FreeOverDimensions,
        idle: IdleRatio::AnyIdle,
    });

    /// OutFlank Routing of the simulator of \[outflank\], with its midpoints, averages and
    /// intermediate nodes.
    pub const OUTFLANK_PUBLISHED: Self = Self::OutFlank {
        outflank: OutFlank {
            steps: 2,
            midpoint: Midpoint::HalfOfRemainder,
            nodes: Nodes::Simulator,
        },
        wraparound: Midpoint::HalfOfRemainder,
        weights: Weights {
            distance: 2.0,
            average: Average::FreeOverSecondLeg,
            idle: IdleRatio::AnyIdle,
        },
    };
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The pattern of sources and destinations. A source without a partner sends to itself.
    pub pattern: PatternSpec,
    /// Offered load; 1 is the bisection's bound under uniform traffic, 8 / k of a link's rate a
    /// node.
    pub load: f64,
    /// Which way packets go.
    pub routing: Routing,
    /// Which way round half a ring.
    pub tie: Tie,
    /// Seed of the random streams, one a node.
    pub seed: u64,
}
