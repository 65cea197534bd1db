//! Destination-based forwarding, as InfiniBand and most others have it: a router looks up the output port by
//! the packet's destination alone.
//!
//! Which virtual lane a packet takes is a matter of its path ([`Lanes`]): fixed by its destination, by its
//! source and destination, or changing on the way.

use super::service_levels::{MANAGEMENT_LANE, ServiceLevels};
use flitlab_fabric::{Channel, Fabric};

/// Marks a router without a way to a destination.
pub(super) const NO_PORT: u16 = u16::MAX;

/// The most virtual lanes that a table can have.
pub const MAXIMUM_LANES: u8 = 16;

/// How a packet's virtual lane follows from its path. Arrays are indexed by destination terminal times
/// routers plus router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// All packets take lane 0.
    One,
    /// Indexed by destination terminal.
    ByDestination(Vec<u8>),
    /// The lane of the whole path, by the router where it starts: all its terminals share it.
    ByPair(Vec<u8>),
    /// The lane of the next channel, by the router that it leaves: packets change lanes on their way.
    ByHop(Vec<u8>),
    /// InfiniBand's way: a service level for each pair of terminals, and at each router a map from input port,
    /// output port and service level to the lane.
    ByServiceLevel(ServiceLevels),
}

/// For every router the output port to each terminal. Some may have none.
///
/// A terminal's own router has no port to it either: packets leave the network there, unless the router
/// [withholds](Self::withhold) them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTable {
    routers: u32,
    terminals: u32,
    /// By destination terminal, then router.
    ports: Vec<u16>,
    lanes: Lanes,
    /// By terminal, whether its own router does not deliver packets to it.
    withheld: Vec<bool>,
}

impl ForwardingTable {
    /// A table without any route, and only one lane.
    pub fn empty(fabric: &Fabric) -> Self {
        let (routers, terminals) = (fabric.routers(), fabric.terminals());
        let ports = vec![NO_PORT; routers as usize * terminals as usize];
        Self {
            routers,
            terminals,
            ports,
            lanes: Lanes::One,
            withheld: vec![false; terminals as usize],
        }
    }

    /// Number of routers, failed ones included.
    pub fn routers(&self) -> u32 {
        self.routers
    }

    /// Number of terminals, failed ones included.
    pub fn terminals(&self) -> u32 {
        self.terminals
    }

    /// The output port to a terminal; `None` if there is no way, and at the terminal's own router.
    #[inline]
    pub fn port(&self, router: u32, terminal: u32) -> Option<u16> {
        let port = self.ports[self.place(router, terminal)];
        (port != NO_PORT).then_some(port)
    }

    /// The channel that packets for a terminal take out of a router.
    #[inline]
    pub fn channel(&self, fabric: &Fabric, router: u32, terminal: u32) -> Option<Channel> {
        self.port(router, terminal).map(|port| fabric.outputs(router).start + u32::from(port))
    }

    /// Gives a router the port to a terminal, or none.
    ///
    /// # Panics
    /// If the port is 65535.
    pub fn set(&mut self, router: u32, terminal: u32, port: Option<u16>) {
        assert!(port != Some(NO_PORT), "ports are numbered from 0 to 65534");
        let place = self.place(router, terminal);
        self.ports[place] = port.unwrap_or(NO_PORT);
    }

    /// Says whether a terminal's own router has no entry for it, and so drops its packets.
    pub fn withhold(&mut self, terminal: u32, withheld: bool) {
        self.withheld[terminal as usize] = withheld;
    }

    /// Whether a terminal's own router hands it its packets.
    pub fn delivers(&self, terminal: u32) -> bool {
        !self.withheld[terminal as usize]
    }

    /// The ports of all routers to a terminal, [`NO_PORT`] for none.
    pub(super) fn row(&mut self, terminal: u32) -> &mut [u16] {
        let start = self.place(0, terminal);
        &mut self.ports[start..start + self.routers as usize]
    }

    /// The rule by which packets get their virtual channels.
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// One more than the highest lane that stands in the table.
    pub fn lane_count(&self) -> u8 {
        let lanes = match &self.lanes {
            Lanes::One => &[][..],
            Lanes::ByDestination(lanes) | Lanes::ByPair(lanes) | Lanes::ByHop(lanes) => lanes,
            Lanes::ByServiceLevel(levels) => &levels.lanes,
        };
        lanes.iter().max().map_or(1, |lane| lane + 1)
    }

    /// # Panics
    /// If the lanes are those of another fabric, or one of them is above 15.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        let fits = match &lanes {
            Lanes::One => true,
            Lanes::ByDestination(lanes) => lanes.len() == self.terminals as usize,
            Lanes::ByPair(lanes) | Lanes::ByHop(lanes) => lanes.len() == self.ports.len(),
            Lanes::ByServiceLevel(levels) => {
                levels.size() == (self.routers as usize, self.terminals as usize)
            }
        };
        assert!(fits, "lanes of another fabric");
        self.lanes = lanes;
        assert!(self.lane_count() <= MAXIMUM_LANES, "lanes are numbered from 0 to 15");
    }

    /// What decides, together with the place, which lanes a packet from one terminal to another takes: its path's
    /// lane or service level; 0 where neither is needed.
    ///
    /// # Panics
    /// If the source has failed.
    pub fn class(&self, fabric: &Fabric, source: u32, terminal: u32) -> u8 {
        match &self.lanes {
            Lanes::One | Lanes::ByHop(_) => 0,
            Lanes::ByDestination(lanes) => lanes[terminal as usize],
            Lanes::ByPair(lanes) => {
                let router = fabric.terminal_router(source).expect("live terminals send");
                lanes[self.place(router, terminal)]
            }
            Lanes::ByServiceLevel(levels) => levels.level(source, terminal),
        }
    }

    /// Whether routers drop packets that would take this lane: management's, where service levels lead to it.
    pub fn discards(&self, lane: u8) -> bool {
        lane == MANAGEMENT_LANE && matches!(self.lanes, Lanes::ByServiceLevel(_))
    }

    /// The lane of the channel out of a router through `output`, of a packet of this [class](Self::class) that
    /// came through input port `input` (`None`: from a terminal of this router). An input port has the number
    /// of the same cable's output port.
    pub fn lane(
        &self,
        router: u32,
        terminal: u32,
        class: u8,
        input: Option<u16>,
        output: u16,
    ) -> u8 {
        match &self.lanes {
            Lanes::One => 0,
            Lanes::ByDestination(_) | Lanes::ByPair(_) => class,
            Lanes::ByHop(lanes) => lanes[self.place(router, terminal)],
            Lanes::ByServiceLevel(levels) => levels.lane(router, input, output, class),
        }
    }

    #[inline]
    fn place(&self, router: u32, terminal: u32) -> usize {
        terminal as usize * self.routers as usize + router as usize
    }
}
