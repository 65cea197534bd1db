//! Packets that go by a forwarding table: each router looks up output and lane by the destination
//! (docs/model.md, "Forwarding tables").
//!
//! The lookup is made when a packet is sent to a router, as if the router made it: the table doesn't change
//! while packets are under way.

use super::packet::{Packet, PacketOrigin};
use crate::routing::ForwardingTable;
use crate::topology::{Channel, Fabric};

const ROUTED: &str = "every pair of live terminals has a route";

/// The fabric's number of the channel that leaves a router by a port.
#[inline]
pub(super) fn channel(fabric: &Fabric, router: u32, port: u32) -> Channel {
    fabric.outputs(router).start + port
}

/// The lane in which a terminal's packets to another one leave the first router.
pub(super) fn first_lane(
    table: &ForwardingTable,
    fabric: &Fabric,
    source: u32,
    destination: u32,
) -> u8 {
    let router = fabric.terminal_router(source).expect("live");
    table.port(router, destination).map_or(0, |port| {
        let class = table.class(fabric, source, destination);
        table.lane(router, destination, class, None, port)
    })
}

/// Notes where a new packet goes on at its first router, whose first output is given. Its output.
pub(super) fn start(
    table: &ForwardingTable,
    fabric: &Fabric,
    router: u32,
    first_output: u32,
    packet: &mut Packet,
    origin: &mut PacketOrigin,
) -> u32 {
    origin.class = table.class(fabric, packet.source, origin.destination);
    look_up(table, fabric, router, None, first_output, packet, origin)
}

/// Notes where a packet goes on behind a channel, at whose far end the first output is given. Its output
/// there.
#[inline]
pub(super) fn go_on(
    table: &ForwardingTable,
    fabric: &Fabric,
    sent: Channel,
    first_output: u32,
    packet: &mut Packet,
    origin: &mut PacketOrigin,
) -> u32 {
    origin.hops += 1;
    let router = fabric.target(sent).expect("it leads to a router");
    look_up(table, fabric, router, Some(sent), first_output, packet, origin)
}

#[inline]
fn look_up(
    table: &ForwardingTable,
    fabric: &Fabric,
    router: u32,
    came: Option<Channel>,
    first_output: u32,
    packet: &mut Packet,
    origin: &PacketOrigin,
) -> u32 {
    if router == packet.destination {
        packet.output = packet.ejection;
        return packet.output;
    }
    let port = table.port(router, origin.destination).expect(ROUTED);
    let input = came.and_then(|channel| fabric.opposite(channel));
    let input = input.map(|channel| (channel - fabric.outputs(router).start) as u16);
    packet.onto = table.lane(router, origin.destination, origin.class, input, port);
    packet.output = first_output + u32::from(port);
    packet.output
}
