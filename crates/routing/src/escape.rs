//! The escape of adaptive packets on a torus with failures: a forwarding table of one virtual
//! channel.
//!
//! Direction order and the bubble rule need whole rings. If a cable or a node has failed, the
//! escape channel follows a table that leads around the failures, and whose dependencies have no
//! cycle. With such a table every router knows a way to every
//! destination, so packets can escape anywhere. Angara's own tables are not suitable: they hold
//! routes from the source, with first and last steps, and nothing for a packet at another router.

use super::ForwardingTable;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

/// Marks a router without a way to another, and the destination itself.
const NO_PORT: u8 = u8::MAX;

/// The escape's port at every router for every destination, and the live parts.
#[derive(Clone, Debug)]
pub(super) struct EscapeTable {
    /// The live ports of each router, a bit each.
    ports: Vec<u16>,
    /// Whether each router has a live terminal.
    pub(super) ends: Vec<bool>,
    /// The port of the escape, by the destination's router, then by router.
    next: Vec<u8>,
}

impl EscapeTable {
    /// Bytes that it takes, estimated, besides those of the table from which it is made.
    pub(super) fn memory_needed(fabric: &Fabric) -> u64 {
        u64::from(fabric.routers()) * (u64::from(fabric.routers()) + 3)
    }

    pub(super) fn new(fabric: &Fabric, table: &ForwardingTable) -> Self {
        let routers = fabric.routers();
        let terminals = fabric.terminals_by_router();
        let mut next = vec![NO_PORT; routers as usize * routers as usize];
        for (destination, row) in terminals.iter().zip(next.chunks_mut(routers as usize)) {
            let Some(&terminal) = destination.first() else { continue };
            for (router, entry) in (0..).zip(row) {
                *entry = table.port(router, terminal).map_or(NO_PORT, narrow);
            }
        }
        let ports = |router| {
            let channels = (0u16..).zip(fabric.outputs(router));
            let live = channels.filter(|&(_, channel)| fabric.target(channel).is_some());
            live.fold(0, |set, (port, _)| set | 1 << port)
        };
        Self {
            ports: (0..routers).map(ports).collect(),
            ends: terminals.iter().map(|own| !own.is_empty()).collect(),
            next,
        }
    }

    /// The escape where of the live ports of each router only these are left, a bit each. Packets
    /// escape as before.
    pub(super) fn with_ports(&self, left: impl Iterator<Item = u16>) -> Self {
        let ports = self.ports.iter().zip(left).map(|(own, left)| own & left);
        Self { ports: ports.collect(), ..self.clone() }
    }

    /// The live ports of a router, a bit each.
    #[inline]
    pub(super) fn ports(&self, router: u32) -> u16 {
        self.ports[router as usize]
    }

    /// The port by which a packet escapes from a router towards another one.
    #[inline]
    pub(super) fn port(&self, router: u32, to: u32) -> u16 {
        let port = self.next[to as usize * self.ports.len() + router as usize];
        debug_assert_ne!(port, NO_PORT, "every pair of live routers is connected");
        u16::from(port)
    }
}
