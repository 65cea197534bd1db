//! The graph of routers, channels and terminals.

use super::Torus;

/// Marks a vacant port, a terminal that has failed, or a channel outside all rings.
pub const NONE: u32 = u32::MAX;

/// A channel's number: output port `p` of router `r` is channel `first(r) + p`.
pub type Channel = u32;

/// Routers joined by directed channels, and the terminals attached to them.
///
/// Channels are numbered by source router, then output port. A port without a cable (the edge of a
/// mesh, a failed cable) keeps its number and is vacant, so that port numbers mean the same at every
/// router.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// `first_channel[r]..first_channel[r + 1]` are the output ports of router `r`.
    pub(super) first_channel: Vec<u32>,
    /// The router at the channel's far end, or [`NONE`] for a vacant port.
    pub(super) target: Vec<u32>,
    /// The ring that the channel is part of, or [`NONE`].
    pub(super) ring: Vec<u32>,
    /// The router of each terminal, or [`NONE`] if it has failed.
    pub(super) terminal_router: Vec<u32>,
    /// A terminal's flits at load 1, in flits per flit time of a network channel: numerator and
    /// denominator.
    pub(super) capacity: (u32, u32),
    pub(super) torus: Torus,
}

impl Fabric {
    /// Number of routers, failed ones included.
    #[must_use]
    pub fn routers(&self) -> u32 {
        self.first_channel.len() as u32 - 1
    }

    /// Number of terminals, failed ones included: they keep their numbers.
    #[must_use]
    pub fn terminals(&self) -> u32 {
        self.terminal_router.len() as u32
    }

    /// Number of channel numbers, vacant ones included.
    #[must_use]
    pub fn channel_slots(&self) -> u32 {
        self.target.len() as u32
    }

    /// Number of channels that exist.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.target.iter().filter(|&&target| target != NONE).count()
    }

    /// The channel numbers of a router's output ports, in port order, vacant ones included.
    #[must_use]
    pub fn outputs(&self, router: u32) -> std::ops::Range<Channel> {
        self.first_channel[router as usize]..self.first_channel[router as usize + 1]
    }

    /// The router at the channel's far end; `None` for a vacant port.
    #[must_use]
    pub fn target(&self, channel: Channel) -> Option<u32> {
        let target = self.target[channel as usize];
        (target != NONE).then_some(target)
    }

    /// The router that the channel leaves.
    #[must_use]
    pub fn source(&self, channel: Channel) -> u32 {
        self.first_channel.partition_point(|&first| first <= channel) as u32 - 1
    }

    /// The ring that the channel is part of: a closed cycle of channels in one direction.
    #[must_use]
    pub fn ring(&self, channel: Channel) -> Option<u32> {
        let ring = self.ring[channel as usize];
        (ring != NONE).then_some(ring)
    }

    /// The router of a terminal; `None` if it has failed.
    #[must_use]
    pub fn terminal_router(&self, terminal: u32) -> Option<u32> {
        let router = self.terminal_router[terminal as usize];
        (router != NONE).then_some(router)
    }

    /// The terminals that have not failed, in ascending order.
    pub fn live_terminals(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.terminals()).filter(|&terminal| self.terminal_router[terminal as usize] != NONE)
    }

    /// What a terminal injects at load 1, as a fraction of a network channel's rate: load 1
    /// saturates the bisection under uniform traffic (8 B/k for the longest dimension k of a torus,
    /// 4 B/k for a mesh dimension).
    #[must_use]
    pub fn capacity(&self) -> f64 {
        f64::from(self.capacity.0) / f64::from(self.capacity.1)
    }

    /// The coordinates of the fabric.
    #[must_use]
    pub fn torus(&self) -> &Torus {
        &self.torus
    }

    /// The channel's name for people: router and direction, such as `(0,3,1) +y`.
    #[must_use]
    pub fn channel_name(&self, channel: Channel) -> String {
        let router = self.source(channel);
        let port = channel - self.first_channel[router as usize];
        format!("{} {}", self.torus.node_name(router), self.torus.direction_name(port))
    }

    /// The router's name for people: its coordinates, such as `(0,3,1)`.
    #[must_use]
    pub fn router_name(&self, router: u32) -> String {
        self.torus.node_name(router)
    }
}
