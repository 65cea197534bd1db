//! Routings whose packets choose their way hop by hop, on a torus in which nothing has failed.
//!
//! The adaptive bubble router (Puente, Izu, Beivide, Gregorio, Vallejo, Prellezo, "The adaptive bubble
//! router", J. Parallel and Distributed Computing 61, 2001) lets a packet take any direction of a
//! shortest way on an adaptive virtual channel. On an escape channel packets keep the direction order,
//! and the bubble rule keeps each of its rings from filling up; a packet may leave it again at any
//! router. Pick Orthant and OutFlank Routing bind or lead round new packets first
//! ([`adaptive`](crate::adaptive)). What depends on a router's state is decided in the engine.

use rand::{Rng, RngExt};

use super::{Derouter, DirectionOrder, HalfRing, Route};
use crate::adaptive::{Compass, Derouting, Detours, Heading, Selection, Tie};
use crate::topology::Fabric;

/// The virtual channels that adaptive packets use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveChannels {
    /// All directions that lead on.
    pub adaptive: u8,
    /// Direction order to the destination.
    pub escape: u8,
    /// Direction order to an intermediate node.
    pub escape_to_intermediate: u8,
}

impl Default for AdaptiveChannels {
    /// Angara's: the adaptive one, and the response channel as the escape; to intermediate nodes the
    /// request channel.
    fn default() -> Self {
        Self { adaptive: 2, escape: 1, escape_to_intermediate: 0 }
    }
}

impl AdaptiveChannels {
    /// Which of them can't be used so without deadlocks, and why.
    #[must_use]
    pub fn flaw(&self, derouter: &Derouter) -> Option<(&'static str, String)> {
        let &Self { adaptive, escape, escape_to_intermediate } = self;
        let ring = "adaptive packets keep no bubble, so they could fill its rings and stop them";
        let reads = ["read requests", "read responses"];
        if let Some(reads) = reads.get(usize::from(adaptive)) {
            let reason =
                format!("virtual channel {adaptive} carries {reads} in direction order; {ring}");
            return Some(("adaptive", reason));
        }
        let alone = "packets need a way out that no others can block: another virtual channel than \
                     the adaptive one";
        if escape == adaptive {
            return Some(("escape", alone.into()));
        }
        if !derouter.leads_round() {
            return None;
        }
        let theorem = "packets that turn at an intermediate node would close cycles across the \
                       dimensions: each leg needs an escape channel of its own";
        match escape_to_intermediate {
            same if same == adaptive => Some(("escape_to_intermediate", alone.into())),
            same if same == escape => Some(("escape_to_intermediate", theorem.into())),
            _ => None,
        }
    }

    /// What each virtual channel is for, as far as adaptive packets use it.
    #[must_use]
    pub fn purpose(&self, virtual_channel: u8, derouter: &Derouter) -> Option<&'static str> {
        if virtual_channel == self.adaptive {
            Some("adaptive packets")
        } else if virtual_channel == self.escape {
            Some("escape")
        } else if derouter.leads_round() && virtual_channel == self.escape_to_intermediate {
            Some("escape to intermediate nodes")
        } else {
            None
        }
    }
}

/// What an adaptive routing is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveRules {
    pub derouter: Derouter,
    pub selection: Selection,
    /// Which way round a half ring; both lead on if `None`.
    pub tie: Option<Tie>,
    /// Whether a new packet enters the adaptive channel only if room for one more of the largest packets
    /// is left.
    pub injection_bubble: bool,
    pub channels: AdaptiveChannels,
}

impl Default for AdaptiveRules {
    /// The adaptive bubble router.
    fn default() -> Self {
        Self {
            derouter: Derouter::None,
            selection: Selection::default(),
            tie: None,
            injection_bubble: false,
            channels: AdaptiveChannels::default(),
        }
    }
}

impl AdaptiveRules {
    /// Whether packets get random numbers.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.tie == Some(Tie::Random) || self.selection.draws() || self.derouter.draws()
    }
}

/// What a packet was given when it was injected, and what its source router has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// Where its present leg ends.
    pub to: u32,
    pub heading: Heading,
    /// Its random number, for [`Selection::Random`].
    pub drawn: u16,
    pub kind: Option<Derouting>,
}

/// An adaptive routing of a fabric.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// Half rings are gone in the positive direction: wherever a packet enters the escape channel, the
    /// rest of its route there is in direction order from the next router too.
    order: DirectionOrder,
    compass: Compass,
    detours: Option<Detours>,
    rules: AdaptiveRules,
    seed: u64,
}

impl Adaptive {
    /// `seed` is that of the packets' random numbers, where the rules ask for any.
    ///
    /// # Errors
    /// If something of the torus has failed: the shortest ways may then be cut.
    pub fn new(fabric: &Fabric, rules: AdaptiveRules, seed: u64) -> Result<Self, String> {
        let order = Self::check(fabric)?;
        let torus = fabric.coordinates();
        let detours =
            rules.derouter.profit().map(|(family, weights)| Detours::new(torus, family, weights));
        let compass = Compass::new(torus, rules.tie.is_none());
        Ok(Self { order, compass, detours, rules, seed })
    }

    /// Bytes that it takes while it is made, about.
    pub(crate) fn memory_needed(fabric: &Fabric, rules: &AdaptiveRules) -> u64 {
        let torus = fabric.coordinates();
        let detours = rules.derouter.profit().map_or(0, |_| Detours::memory_needed(torus));
        let coordinates = u64::from(torus.nodes()) * torus.dimensions() as u64 * 6;
        DirectionOrder::memory_needed(fabric) + coordinates + detours
    }

    /// Whether a fabric is one for adaptive routing; gives its direction order.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(fabric: &Fabric) -> Result<DirectionOrder, String> {
        let torus = fabric.coordinates();
        let directions = torus.directions();
        let lost = (0..fabric.channel_slots()).any(|slot| {
            fabric.target(slot) != torus.neighbor(slot / directions, slot % directions)
        });
        if lost {
            return Err("adaptive routing needs a torus in which nothing has failed".into());
        }
        DirectionOrder::new(fabric, HalfRing::Plus).map_err(|unroutable| unroutable.to_string())
    }

    #[must_use]
    pub fn rules(&self) -> &AdaptiveRules {
        &self.rules
    }

    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The output ports, a bit each, that lead a packet on. Direction order takes the lowest: positive
    /// directions come first, and are chosen where both ways round lead on.
    #[inline]
    #[must_use]
    pub fn ports(&self, router: u32, to: u32, heading: Heading) -> u16 {
        self.compass.ports(router, to, heading)
    }

    /// The course of a packet that is injected now. Draws are, in this order and only where the rules ask
    /// for them: a byte for half rings, GOAL's ways round, 16 bits for the selection.
    pub fn inject(&self, source: u32, destination: u32, random: Option<&mut impl Rng>) -> Course {
        let mut course =
            Course { to: destination, heading: Heading::default(), drawn: 0, kind: None };
        let Some(random) = random else { return course };
        if self.rules.tie == Some(Tie::Random) {
            course.heading.negative = random.random();
        }
        if let Some(heading) = self.rules.derouter.drawn(&self.compass, source, destination, random)
        {
            course.heading = heading;
            course.kind = self.orthant(source, destination, course.heading);
        }
        if self.rules.selection.draws() {
            course.drawn = random.random();
        }
        course
    }

    /// Whether source routers decide anything.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.rules.derouter.decides()
    }

    /// Decides at the source router how a packet goes on; `used` counts the flits used behind each port on
    /// the adaptive channel, and from `full` on there is no room for the packet. A port without a channel
    /// counts as more than full.
    #[must_use]
    pub fn decide(&self, source: u32, course: Course, used: &[u32], full: u32) -> Course {
        let to = course.to;
        if let Some(detours) = &self.detours {
            let negative = course.heading.negative;
            return match detours.decide(&self.compass, source, to, negative, used, full) {
                None => course,
                Some(it) => {
                    Course { to: it.node, heading: it.heading, kind: Some(it.kind), ..course }
                }
            };
        }
        match self.rules.derouter.queued(&self.compass, source, to, used) {
            None => course,
            Some(heading) => Course { heading, kind: self.orthant(source, to, heading), ..course },
        }
    }

    /// What kind of detour a heading is, if it is one.
    fn orthant(&self, source: u32, destination: u32, heading: Heading) -> Option<Derouting> {
        let free = Heading::default();
        let distance = |heading| self.compass.distance(source, destination, heading);
        (distance(heading) > distance(free)).then_some(Derouting::Orthant)
    }

    /// Hops of a packet on its course, an intermediate node included.
    #[must_use]
    pub fn hops(&self, source: u32, destination: u32, course: &Course) -> u16 {
        let first = self.compass.distance(source, course.to, course.heading);
        first + self.compass.distance(course.to, destination, Heading::default())
    }

    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        self.order.route(fabric, source, destination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::test_fabric;

    fn bubble(fabric: &Fabric) -> Adaptive {
        Adaptive::new(fabric, AdaptiveRules::default(), 1).unwrap()
    }

    #[test]
    fn the_lowest_port_is_that_of_direction_order() {
        for sizes in [&[5, 4][..], &[2, 3, 4], &[4, 2, 2, 2], &[3, 1, 6]] {
            let fabric = test_fabric(sizes, &[]);
            let adaptive = bubble(&fabric);
            for source in 0..fabric.routers() {
                for destination in (0..fabric.routers()).filter(|&node| node != source) {
                    let ports = adaptive.ports(source, destination, Heading::default());
                    let route = adaptive.route(&fabric, source, destination);
                    assert_eq!(ports.trailing_zeros(), u32::from(route.runs()[0].port));
                    let course =
                        adaptive.inject(source, destination, None::<&mut rand_chacha::ChaCha8Rng>);
                    let hops = adaptive.hops(source, destination, &course);
                    assert_eq!(u32::from(hops), route.hops());
                }
            }
        }
    }

    /// A packet on the escape channel asks anew at each router; its ways together are one in direction
    /// order, also in an orthant that is not minimal.
    #[test]
    fn escapes_from_router_to_router_keep_the_direction_order() {
        let fabric = test_fabric(&[4, 5, 2, 6], &[]);
        let adaptive = bubble(&fabric);
        for source in (0..fabric.routers()).step_by(7) {
            for destination in 0..fabric.routers() {
                for heading in [
                    Heading::default(),
                    Heading { negative: 0b1011, bound: 0b1011 },
                    Heading { negative: 0b0001, bound: 0b1001 },
                ] {
                    let (mut at, mut latest) = (source, 0);
                    while at != destination {
                        let escape = adaptive.ports(at, destination, heading).trailing_zeros();
                        assert!(escape >= latest);
                        latest = escape;
                        at = fabric.target(fabric.outputs(at).start + escape).unwrap();
                    }
                }
            }
        }
    }
}
