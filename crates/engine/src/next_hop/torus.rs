//! Adaptive routing on a torus (docs/model.md, "Adaptive routing").

use rand_chacha::ChaCha8Rng;

use super::answer::{Head, NextHop, OutVc};
use crate::network::context::NetworkContext;
use crate::packet::encoded_route::EncodedRoute;
use crate::packet::{Origin, Packet, Packets};
use flitlab_base::narrow::fitted;
use flitlab_routing::adaptive::{Heading, Misroute};
use flitlab_routing::{Adaptive, Course, Onward};

/// The progress of an adaptively routed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdaptivePhase {
    /// It decides on a detour at the next router, unless it comes there on an escape.
    Undecided,
    ToIntermediate,
    ToDestination,
    /// It follows direction order, without a choice.
    Fixed,
    /// To its destination, and it is undecided again at the next router.
    Passing,
}

/// The route of an adaptively routed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AdaptiveRoute {
    /// The router of its destination.
    destination: u32,
    /// The ejection channel's number among that router's outputs.
    ejection: u8,
    heading: Heading,
    phase: AdaptivePhase,
}

impl From<AdaptiveRoute> for EncodedRoute {
    #[inline]
    fn from(route: AdaptiveRoute) -> Self {
        let AdaptiveRoute { destination, ejection, heading, phase } = route;
        let [a, b, c, d] = destination.to_le_bytes();
        let bytes = [a, b, c, d, ejection, heading.negative, heading.bound, phase as u8];
        Self(u64::from_le_bytes(bytes))
    }
}

impl From<EncodedRoute> for AdaptiveRoute {
    #[inline]
    fn from(encoded: EncodedRoute) -> Self {
        let [a, b, c, d, ejection, negative, bound, phase] = encoded.0.to_le_bytes();
        Self {
            destination: u32::from_le_bytes([a, b, c, d]),
            ejection,
            heading: Heading { negative, bound },
            phase: match phase {
                0 => AdaptivePhase::Undecided,
                1 => AdaptivePhase::ToIntermediate,
                2 => AdaptivePhase::ToDestination,
                3 => AdaptivePhase::Fixed,
                _ => AdaptivePhase::Passing,
            },
        }
    }
}

/// The next hop of a packet that has arrived at a router on a virtual channel.
#[inline(always)]
pub(super) fn next_hop(
    adaptive: &Adaptive,
    context: &NetworkContext<'_>,
    packets: &Packets,
    Head { slot, router: here, vc, .. }: Head,
) -> NextHop {
    let AdaptiveRoute { destination, ejection, heading, mut phase } =
        packets.packets[slot as usize].route.into();
    let mut to = destination;
    if phase == AdaptivePhase::ToIntermediate {
        let intermediate = fitted!(packets.rest_of(slot)[0], u32);
        if intermediate == here {
            phase = AdaptivePhase::ToDestination;
        } else {
            to = intermediate;
        }
    }
    if to == here {
        return NextHop::ejection(ejection.into(), vc);
    }
    // The virtual channels of an escape's classes are neighbours.
    let width = adaptive.rules().escape.width();
    let is_of = |escape: u8| vc.wrapping_sub(escape) < width;
    let escape = match phase {
        AdaptivePhase::Undecided if !is_of(context.channels.escape) => return NextHop::Undecided,
        AdaptivePhase::ToIntermediate => context.channels.escape_to_intermediate,
        _ => context.channels.escape,
    };
    let onward = adaptive.onward(here, to, heading, is_of(escape));
    let Onward { options, escape: output, class } = onward;
    let port = |vc, keeps_bubble| NextHop::Output { output, vc: OutVc::This(vc), keeps_bubble };
    match phase {
        AdaptivePhase::Fixed if width > 1 => port(vc & !1 | class, false),
        AdaptivePhase::Fixed => port(vc, true),
        // Escapes by a table keep no bubble, and nor do those by a channel that has failed.
        _ if options == 0 => port(escape + class, false),
        _ => NextHop::AnyOf { ports: options, output, escape: escape + class },
    }
}

/// Decides on a detour of a packet at a router. `used` counts the flits in use behind
/// each port; a virtual channel has room for `capacity`.
pub(super) fn decide(
    adaptive: &Adaptive,
    packets: &mut Packets,
    slot: u32,
    (here, capacity): (u32, u32),
    used: &[u32],
) {
    let packet = packets.packets[slot as usize];
    let mut route = AdaptiveRoute::from(packet.route);
    let course = Course {
        to: route.destination,
        heading: route.heading,
        drawn: packet.note,
        kind: packets.origins[slot as usize].misroute(kinds(adaptive)),
    };
    let full = (capacity + 1).saturating_sub(packet.flits.into());
    let decided = adaptive.decide(here, course, used, full);
    route.phase = match decided {
        None if adaptive.decides_on_the_way() => AdaptivePhase::Passing,
        Some(course) if course.to != route.destination => {
            packets.rest(slot)[0] = course.to.into();
            AdaptivePhase::ToIntermediate
        }
        _ => AdaptivePhase::ToDestination,
    };
    if let Some(decided) = decided {
        route.heading = decided.heading;
        let origin = &mut packets.origins[slot as usize];
        origin.set_misroute(decided.kind, kinds(adaptive));
        if !adaptive.has_table() {
            let hops = |course| adaptive.hops(here, route.destination, course);
            origin.hops = origin.hops - hops(&course) + hops(&decided);
        }
    }
    packets.packets[slot as usize].route = route.into();
}

/// The kinds of detours that packets take.
#[inline]
pub(super) fn kinds(adaptive: &Adaptive) -> &'static [Misroute] {
    adaptive.rules().non_minimal.kinds()
}

/// The router of a packet's destination, and its ejection channel there.
pub(super) fn end(route: EncodedRoute) -> (u32, u16) {
    let AdaptiveRoute { destination, ejection, .. } = route.into();
    (destination, ejection.into())
}

/// Whether packets that leave a router change at all.
#[inline(always)]
pub(crate) fn changes_on_the_way(adaptive: &Adaptive) -> bool {
    adaptive.has_table()
        || adaptive.rules().non_minimal.goes_via_intermediate()
        || adaptive.decides_on_the_way()
}

/// Takes a packet's hop to the next router.
#[inline]
pub(super) fn go_on(adaptive: &Adaptive, packets: &mut Packets, slot: u32, here: u32) {
    if packets.words > 0 {
        turn(packets, slot, here);
    }
    if adaptive.decides_on_the_way() {
        let mut route = AdaptiveRoute::from(packets.packets[slot as usize].route);
        route.phase = match route.phase {
            AdaptivePhase::Passing => AdaptivePhase::Undecided,
            // It has come on an escape.
            AdaptivePhase::Undecided => AdaptivePhase::ToDestination,
            other => other,
        };
        packets.packets[slot as usize].route = route.into();
    }
    // An escape by a table makes the number of hops unknown before.
    if adaptive.has_table() {
        packets.origins[slot as usize].hops += 1;
    }
}

/// Turns a packet that leaves its intermediate node to its destination.
fn turn(packets: &mut Packets, slot: u32, here: u32) {
    let mut route = AdaptiveRoute::from(packets.packets[slot as usize].route);
    // Few packets have one, so the others do without a look at its number.
    if route.phase != AdaptivePhase::ToIntermediate || packets.rest_of(slot)[0] != u64::from(here) {
        return;
    }
    route.phase = AdaptivePhase::ToDestination;
    packets.packets[slot as usize].route = route.into();
}

/// Sets the route of a new packet between two routers.
pub(super) fn inject(
    adaptive: &Adaptive,
    context: &NetworkContext<'_>,
    (from, to): (u32, u32),
    (ejection, vc): (u16, u8),
    (packet, origin): (&mut Packet, &mut Origin),
    rest: &mut [u64],
    random: Option<&mut ChaCha8Rng>,
) {
    let mut route = AdaptiveRoute {
        destination: to,
        ejection: fitted!(ejection, u8),
        heading: Heading::default(),
        phase: AdaptivePhase::Fixed,
    };
    if vc == context.channels.adaptive && from != to {
        let course = adaptive.inject(from, to, random);
        packet.note = course.drawn;
        origin.set_misroute(course.kind, kinds(adaptive));
        let known = !adaptive.has_table();
        origin.hops = if known { adaptive.hops(from, to, &course) } else { 0 };
        route.heading = course.heading;
        route.phase = if adaptive.decides() {
            AdaptivePhase::Undecided
        } else if course.to == to {
            AdaptivePhase::ToDestination
        } else {
            rest[0] = course.to.into();
            AdaptivePhase::ToIntermediate
        };
    } else {
        let route = context.routes.source_route(context.routed, from, to);
        origin.hops = fitted!(route.unwrap_or_default().hops(), u16);
    }
    packet.route = route.into();
}

/// Flits of room beyond its own that a head needs for its escape by an output: `bubble`, unless it
/// is on the escape channel of the same ring already. `ring_output` continues the ring of the
/// channel by which it has come.
#[inline]
pub(crate) fn escape_bubble(
    bubble: u16,
    (ring_output, vc): (u16, u8),
    (output, escape): (u16, u8),
    in_ring: bool,
) -> u16 {
    let goes_on = vc == escape && ring_output == output;
    if !in_ring || goes_on { 0 } else { bubble }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_come_back_as_they_were() {
        for phase in [
            AdaptivePhase::Undecided,
            AdaptivePhase::ToIntermediate,
            AdaptivePhase::ToDestination,
            AdaptivePhase::Fixed,
            AdaptivePhase::Passing,
        ] {
            let heading = Heading { negative: 0b1010, bound: 0xff };
            let route = AdaptiveRoute { destination: 0x1234_5678, ejection: 9, heading, phase };
            assert_eq!(AdaptiveRoute::from(EncodedRoute::from(route)), route);
        }
    }
}
