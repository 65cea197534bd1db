//! Routes that sources write into packets whole: direction order and tables of routes.

use super::answer::OutVc;
use super::dateline::Dateline;
use super::encoded_route::{EncodedRoute, MAX_WORDS, RouteCodec};
use super::route_segments::RouteSegments;
use crate::network::context::NetworkContext;
use crate::packet::{Origin, Packet, Packets};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_routing::Routes;

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

    /// Sets the route of a new packet between two routers.
    #[inline(always)]
    pub(super) fn inject(
        &self,
        context: &NetworkContext<'_>,
        (from, to): (u32, u32),
        ejection: u16,
        (packet, origin): (&mut Packet, &mut Origin),
        rest: &mut [u64],
    ) {
        if let Some(segments) = &self.segments {
            (packet.route, origin.hops) = segments.encoded((from, packet.sequence), to, ejection);
            if self.dateline.is_some() {
                packet.note = segments.datelines((from, packet.sequence), to);
            }
            return;
        }
        let route = self.routes.packet_route(context.fabric, from, to, packet.sequence);
        let route = route.unwrap_or_default();
        if let Routes::DirectionOrder(order) = self.routes {
            packet.note = order.datelines(from, &route);
        }
        packet.route = self.codec.write(&route, ejection, rest);
        origin.hops = fitted!(route.hops(), u16);
    }

    /// Takes a packet's hop to the next router.
    #[inline(always)]
    pub(crate) fn go_on(&self, packets: &mut Packets, slot: u32) {
        let mut route = packets.packets[slot as usize].route;
        if self.codec.go_on(&mut route) {
            self.codec.refill(&mut route, packets.rest(slot));
        }
        packets.packets[slot as usize].route = route;
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
