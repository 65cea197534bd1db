//! Bursts: messages that all nodes create at the same instants, and the injection clock.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::event::Femtoseconds;
use super::settings::LONGEST_RUN;
use super::{Parameters, Settings};
use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_base::units::Rate;
use flitlab_fabric::Torus;
use flitlab_traffic::Pattern;

/// Time to send `bits` at `rate`, in femtoseconds, rounded down.
pub fn transmission(bits: u64, rate: Rate) -> Femtoseconds {
    narrow(wide_transmission(bits, rate))
}

fn wide_transmission(bits: u64, rate: Rate) -> u128 {
    u128::from(bits) * 1_000_000_000_000_000 / u128::from(rate.0)
}

/// When messages are created and packets are offered to the router. Both clocks start at 0 and tick
/// at multiples of a period of whole femtoseconds, so that they drift against each other as little.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Between two messages of a node.
    message: Femtoseconds,
    /// Between two attempts to inject.
    attempt: Femtoseconds,
}

impl Clock {
    /// Load 1 brings the bisection's links to their rate under uniform traffic: a node then sends
    /// at 8 / k of a link's rate, for the largest size k.
    pub(super) fn new(torus: &Torus, parameters: &Parameters, load: f64) -> Self {
        let largest = u64::from(torus.sizes().iter().copied().max().unwrap_or(1));
        let packet_bits = 8 * parameters.packet.0;
        let bits = packet_bits * u64::from(parameters.message_packets) * largest;
        let time = |bits| wide_transmission(bits, parameters.external_rate) as f64 / 8.0;
        // Longer ones make a run that is refused.
        let period = |time: f64| rounded_down::<Femtoseconds>(time.min(2.0 * LONGEST_RUN));
        let attempt = period(time(packet_bits * largest) / parameters.injection_rate);
        Self { message: period(time(bits) / load), attempt: attempt.max(1) }
    }

    /// The next tick after `now` at which packets are offered.
    pub(super) fn next_tick(&self, now: Femtoseconds) -> Femtoseconds {
        (now / self.attempt + 1) * self.attempt
    }

    /// Between two attempts to inject.
    pub(super) fn attempt(&self) -> Femtoseconds {
        self.attempt
    }

    /// Between two messages of a node.
    pub(super) fn message(&self) -> Femtoseconds {
        self.message
    }

    /// When message `index` is created.
    pub(super) fn creation(&self, index: u32) -> Femtoseconds {
        u64::from(index) * self.message
    }
}

/// The numbers of packets: those that nodes send as their k-th ones follow each other, by node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    nodes: u64,
    message_packets: u64,
}

impl Numbers {
    /// Of so many nodes that send messages of so many packets.
    pub(super) fn new(nodes: u32, message_packets: u32) -> Self {
        Self { nodes: nodes.into(), message_packets: message_packets.into() }
    }

    /// The number of a packet of a node: of this message, after so many others of it.
    #[inline]
    pub(super) fn of(self, node: u32, message: u32, sent: u32) -> u32 {
        let sequence = u64::from(message) * self.message_packets + u64::from(sent);
        narrow(sequence * self.nodes + u64::from(node))
    }

    /// The node that sends a packet.
    #[inline]
    pub(super) fn node(self, number: u32) -> u32 {
        narrow(u64::from(number) % self.nodes)
    }

    /// How many packets its node sends before a packet.
    #[inline]
    pub(super) fn sequence(self, number: u32) -> u32 {
        narrow(u64::from(number) / self.nodes)
    }

    /// How many messages its node creates before a packet's own.
    #[inline]
    pub(super) fn message(self, number: u32) -> u32 {
        narrow(u64::from(number) / (self.nodes * self.message_packets))
    }
}

/// Destinations of the messages of all nodes.
#[derive(Debug)]
pub(super) struct Destinations {
    pattern: Pattern,
    random: Vec<ChaCha8Rng>,
}

impl Destinations {
    pub(super) fn new(pattern: Pattern, nodes: u32, settings: &Settings) -> Self {
        let random = (0..nodes)
            .map(|node| {
                let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
                random.set_stream(u64::from(node));
                random
            })
            .collect();
        Self { pattern, random }
    }

    /// Destination of a node's next message. A permutation's fixed points send to themselves.
    pub(super) fn next(&mut self, node: u32, index: u32) -> u32 {
        let random = &mut self.random[node as usize];
        self.pattern.destination(node, u64::from(index), random).unwrap_or(node)
    }

    /// A node's random stream.
    pub(super) fn random(&mut self, node: u32) -> &mut ChaCha8Rng {
        &mut self.random[node as usize]
    }
}
