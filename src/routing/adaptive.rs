//! Minimal adaptive routing on a torus: which directions bring a packet nearer, and where it escapes to.
//!
//! The adaptive bubble router (Puente, Izu, Beivide, Gregorio, Vallejo, Prellezo, "The adaptive bubble
//! router", J. Parallel and Distributed Computing 61, 2001) lets a packet take any direction of a
//! shortest way on an adaptive virtual channel. On an escape channel packets keep the direction order,
//! and the bubble rule keeps each of its rings from filling up; a packet may leave it again at any
//! router. Which of the directions a packet takes is the router's decision, made in the engine.

use super::{DirectionOrder, HalfRing, Route};
use crate::topology::Fabric;

/// The directions of the shortest ways, and direction order for the escape channel.
#[derive(Clone, Debug)]
pub struct MinimalAdaptive {
    /// Half rings are gone in the positive direction: wherever a packet enters the escape channel, the
    /// rest of its route there is in direction order from the next router too.
    order: DirectionOrder,
    coordinates: Vec<u16>,
    sizes: Vec<u16>,
    closed: Vec<bool>,
}

impl MinimalAdaptive {
    /// # Errors
    /// If something of the torus has failed: the shortest ways may then be cut.
    pub fn new(fabric: &Fabric) -> Result<Self, String> {
        let torus = fabric.torus();
        let directions = torus.directions();
        let lost = (0..fabric.channel_slots()).any(|slot| {
            fabric.target(slot) != torus.neighbor(slot / directions, slot % directions)
        });
        if lost {
            return Err("adaptive routing needs a torus in which nothing has failed".into());
        }
        let order = DirectionOrder::new(fabric, HalfRing::Plus)
            .map_err(|unroutable| unroutable.to_string())?;
        let coordinates = (0..torus.nodes()).flat_map(|node| torus.coordinates(node));
        Ok(Self {
            order,
            coordinates: coordinates.map(|coordinate| coordinate as u16).collect(),
            sizes: torus.sizes().iter().map(|&size| size as u16).collect(),
            closed: (0..torus.dimensions()).map(|dimension| torus.closed(dimension)).collect(),
        })
    }

    /// The output ports, a bit each, that bring a packet nearer to another router. Direction order takes
    /// the lowest: positive directions come first, and are chosen where a ring's halves are as long.
    #[must_use]
    pub fn ports(&self, router: u32, destination: u32) -> u16 {
        let dimensions = self.sizes.len();
        let at = |node: u32| &self.coordinates[node as usize * dimensions..][..dimensions];
        let mut nearer = 0u16;
        for (dimension, (&from, &to)) in at(router).iter().zip(at(destination)).enumerate() {
            if from == to {
                continue;
            }
            let size = self.sizes[dimension];
            let ahead = if to > from { to - from } else { to + size - from };
            let behind = size - ahead;
            let (plus, minus) = if self.closed[dimension] {
                (ahead <= behind, behind <= ahead)
            } else {
                (to > from, to < from)
            };
            nearer |= u16::from(plus) << dimension;
            nearer |= u16::from(minus) << (dimension + dimensions);
        }
        nearer
    }

    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        self.order.route(fabric, source, destination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::test_fabric;

    #[test]
    fn every_port_brings_the_packet_one_hop_nearer_and_the_lowest_is_that_of_direction_order() {
        for sizes in [&[5, 4][..], &[2, 3, 4], &[4, 2, 2, 2], &[3, 1, 6]] {
            let fabric = test_fabric(sizes, &[]);
            let adaptive = MinimalAdaptive::new(&fabric).unwrap();
            let distance = |from, to| adaptive.route(&fabric, from, to).hops();
            for source in 0..fabric.routers() {
                for destination in (0..fabric.routers()).filter(|&node| node != source) {
                    let ports = adaptive.ports(source, destination);
                    let route = adaptive.route(&fabric, source, destination);
                    assert_eq!(ports.trailing_zeros(), u32::from(route.runs()[0].port));
                    for port in 0..fabric.torus().directions() {
                        let Some(next) = fabric.target(fabric.outputs(source).start + port) else {
                            continue;
                        };
                        let nearer = distance(next, destination) < distance(source, destination);
                        assert_eq!(ports >> port & 1 == 1, nearer);
                    }
                }
            }
        }
    }

    /// A packet on the escape channel asks anew at each router; its ways together are one in direction
    /// order.
    #[test]
    fn escapes_from_router_to_router_keep_the_direction_order() {
        let fabric = test_fabric(&[4, 5, 2, 6], &[]);
        let adaptive = MinimalAdaptive::new(&fabric).unwrap();
        for source in (0..fabric.routers()).step_by(7) {
            for destination in 0..fabric.routers() {
                let (mut at, mut latest) = (source, 0);
                while at != destination {
                    let escape = adaptive.ports(at, destination).trailing_zeros();
                    assert!(escape >= latest);
                    latest = escape;
                    at = fabric.target(fabric.outputs(at).start + escape).unwrap();
                }
            }
        }
    }
}
