//! Rules that may lead a new packet off the shortest ways.

use rand::Rng;

use crate::adaptive::profit::Weights;
use crate::adaptive::{Compass, Family, Heading, Misroute, channel_queue, goal};

/// A rule that may lead a new packet off the shortest ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NonMinimalRule {
    /// No detours: the adaptive bubble router.
    None,
    /// The most profitable detour of a family.
    Profit(Family, Weights),
    /// GOAL: a random orthant.
    Goal,
    /// CQR: an orthant chosen by the source's channel queues.
    ChannelQueue,
}

impl NonMinimalRule {
    /// The rules that bind a packet to one way round each ring and have no keys: the name in
    /// scenarios, the rule, and a sentence. The profit of an orthant has keys, and is read
    /// separately.
    pub const OF_ORTHANTS: [(&str, Self, &str); 2] = [
        (
            "goal",
            Self::Goal,
            "GOAL: at random, the short way of d hops in a ring of k with probability (k - d) / k.",
        ),
        (
            "cqr",
            Self::ChannelQueue,
            "CQR: in each dimension the way with the smaller product of used flits and hops.",
        ),
    ];

    /// Name of a routing with this rule.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "adaptive routing",
            _ if self.goes_via_intermediate() => "OutFlank Routing",
            Self::Profit(..) => "Pick Orthant Routing",
            Self::Goal => "GOAL",
            Self::ChannelQueue => "CQR",
        }
    }

    /// The kinds of detours that may occur.
    pub fn kinds(&self) -> &'static [Misroute] {
        match self {
            Self::None => &[],
            _ if self.goes_via_intermediate() => &[Misroute::OutFlank, Misroute::Wraparound],
            _ => &[Misroute::Orthant],
        }
    }

    /// Whether packets may go through an intermediate node.
    pub fn goes_via_intermediate(&self) -> bool {
        matches!(self, Self::Profit(Family::IntermediateNodes { .. }, _))
    }

    /// The family of detours and the weights of their profit; `None` if the rule is another.
    pub fn profit(&self) -> Option<(Family, Weights)> {
        match *self {
            Self::Profit(family, weights) => Some((family, weights)),
            Self::None | Self::Goal | Self::ChannelQueue => None,
        }
    }

    /// Whether it draws random numbers.
    pub fn draws(&self) -> bool {
        *self == Self::Goal
    }

    /// Whether the source's router decides, by the buffers that are used there.
    pub fn decides(&self) -> bool {
        matches!(self, Self::Profit(..) | Self::ChannelQueue)
    }

    /// The ways round that are drawn when a packet is injected; `None` if the rule draws none.
    #[inline]
    pub(super) fn drawn(
        &self,
        compass: &Compass,
        source: u32,
        to: u32,
        random: &mut impl Rng,
    ) -> Option<Heading> {
        (*self == Self::Goal).then(|| goal(compass, source, to, random))
    }

    /// The ways round that follow from the flits used behind each port of the source's router;
    /// `None` if the rule is another.
    #[inline]
    pub(super) fn queued(
        &self,
        compass: &Compass,
        source: u32,
        to: u32,
        used: &[u32],
    ) -> Option<Heading> {
        (*self == Self::ChannelQueue).then(|| channel_queue(compass, source, to, used))
    }
}
