//! Routes that sources write into packets whole: direction order and tables of routes.

use super::answer::OutVc;
use super::route_segments::RouteSegments;
use crate::network::context::NetworkContext;
use crate::packet::encoded_route::{EncodedRoute, MAX_WORDS, RouteCodec};
use crate::packet::{Origin, Packet, Packets};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_routing::{DirectionOrder, Routes};

/// The rule by which a packet's virtual channel follows from the rings of its route (docs/model.md,
/// "Order of directions"). Where there is a ring, both virtual channels of requests or responses are
/// in use if one is, so that their indices differ in the lowest bit alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dateline {
    dimensions: u16,
}

impl Dateline {
    /// `None` if the order has no dateline, or its fabric no ring.
    pub(super) fn of(order: &DirectionOrder) -> Option<Self> {
        let both = order.has_dateline() && order.has_rings;
        both.then(|| Self { dimensions: narrow(order.sizes.len()) })
    }

    /// The class of a packet behind an output if that is in a ring, by the dimensions in which its
    /// route passes the dateline.
    #[inline]
    pub(super) fn class(self, passed: u16, output: u16) -> u8 {
        let negative = u16::from(output >= self.dimensions);
        // Ejection channels, which are in no ring, come behind the ports of all directions.
        let dimension = (output - negative * self.dimensions).min(15);
        fitted!(passed >> dimension & 1, u8)
    }
}

/// The routes of sources, and their code.
#[derive(Debug)]
pub(crate) struct SourceRoutes<'f> {
    routes: &'f Routes,
    codec: RouteCodec,
    /// Tables to encode routes from, where they fit.
    segments: Option<RouteSegments<'f>>,
    /// The dateline classes of packets on rings, if there are any.
    dateline: Option<Dateline>,
    /// Words of a route beyond the first.
    pub words: usize,
}

impl<'f> SourceRoutes<'f> {
    pub(super) fn new(context: &NetworkContext<'f>) -> Self {
        let NetworkContext { fabric, network, routes, .. } = context;
        let outputs = network.first_output.windows(2).map(|pair| pair[1] - pair[0]).max();
        let (longest, runs) = fabric.torus().map_or((1, 1), |torus| {
            let longest = torus.sizes().iter().max().copied().unwrap_or(1);
            (longest, torus.dimensions() + 3)
        });
        let codec = RouteCodec::new(outputs.unwrap_or(1), longest);
        let words = codec.rest(runs);
        assert!(words <= MAX_WORDS, "a route of {words} words more than one");
        let order = match routes {
            Routes::DirectionOrder(order) => Some(order),
            _ => None,
        };
        Self {
            routes,
            codec,
            segments: order.and_then(|order| RouteSegments::new(order, codec, words)),
            dateline: order.and_then(Dateline::of),
            words,
        }
    }

    /// Whether virtual channels are dateline classes.
    pub(super) fn has_dateline(&self) -> bool {
        matches!(self.routes, Routes::DirectionOrder(order) if order.has_dateline())
    }

    /// The output of a packet with this route, and its virtual channel there. The packet passes the
    /// dateline in the dimensions `passed`.
    #[inline(always)]
    pub(crate) fn next_hop(&self, route: EncodedRoute, passed: u16) -> (u16, OutVc) {
        let output = self.codec.output(route);
        let vc = match self.dateline {
            None => OutVc::Same,
            Some(dateline) => OutVc::Class(dateline.class(passed, output)),
        };
        (output, vc)
    }

    /// Sets the route of a new packet between two routers. With `turns`, its source takes several
    /// routes to a router in turn.
    #[inline(always)]
    pub(super) fn inject(
        &self,
        context: &NetworkContext<'_>,
        (from, to): (u32, u32),
        ejection: u16,
        (packet, origin): (&mut Packet, &mut Origin),
        rest: &mut [u64],
        turns: Option<&mut Vec<u8>>,
    ) {
        if let Some(segments) = &self.segments {
            (packet.route, origin.hops) = segments.encoded((from, packet.sequence), to, ejection);
            if self.dateline.is_some() {
                packet.note = segments.datelines((from, packet.sequence), to);
            }
            return;
        }
        let route = match (self.routes, turns) {
            (Routes::Table(table), Some(turns)) => {
                table.route_in_turn(context.routed, (from, to), &mut turns[to as usize])
            }
            (routes, _) => {
                let route = routes.packet_route(context.routed, from, to, packet.sequence);
                route.unwrap_or_default()
            }
        };
        if let Routes::DirectionOrder(order) = self.routes {
            packet.note = order.datelines(from, &route);
        }
        packet.route = self.codec.write(&route, ejection, rest);
        origin.hops = fitted!(route.hops(), u16);
    }

    /// Takes a packet's hop to the next router. Returns whether the word is used up, so that the
    /// route has to be [refilled](Self::refill).
    #[inline(always)]
    pub(crate) fn takes_hop(&self, packet: &mut Packet) -> bool {
        self.codec.go_on(&mut packet.route)
    }

    /// Replaces the used-up word of a packet's route by the next one.
    #[cold]
    pub(crate) fn refill(&self, packets: &mut Packets, slot: u32) {
        let mut route = packets.packets[slot as usize].route;
        self.codec.refill(&mut route, packets.rest(slot));
        packets.packets[slot as usize].route = route;
    }

    /// Takes a packet's hop to the next router.
    #[inline(always)]
    pub(crate) fn go_on(&self, packets: &mut Packets, slot: u32) {
        if self.takes_hop(&mut packets.packets[slot as usize]) {
            self.refill(packets, slot);
        }
    }

    /// The router of a packet's destination, and its ejection channel there, from the packet's
    /// router `at` on.
    pub(super) fn end(
        &self,
        context: &NetworkContext<'_>,
        (mut route, rest): (EncodedRoute, &[u64]),
        mut at: u32,
    ) -> (u32, u16) {
        let mut rest = rest.to_vec();
        loop {
            let output = self.codec.output(route);
            let ports = context.fabric.outputs(at);
            if u32::from(output) >= narrow::<u32>(ports.len()) {
                return (at, output);
            }
            at = context.fabric.target(ports.start + u32::from(output)).expect("routed");
            if self.codec.go_on(&mut route) {
                self.codec.refill(&mut route, &mut rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_that_of_the_rings_dimension() {
        let dateline = Dateline { dimensions: 3 };
        let vc = |vc, output| OutVc::Class(dateline.class(0b010, output)).of_packet(vc, output < 6);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 40].map(|output| vc(2, output)), [2, 3, 2, 2, 3, 2, 2, 2]);
        assert_eq!((vc(3, 0), vc(1, 4), vc(0, 1)), (2, 1, 1));
        assert_eq!(OutVc::Class(dateline.class(0b010, 1)).of_packet(1, false), 0);
    }
}
