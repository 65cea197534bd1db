//! Destination-based forwarding, as in InfiniBand and most other networks: a router looks up the
//! output port by the packet's destination alone.
//!
//! The virtual channel of a packet depends on its path ([`VcAssignment`]): on its destination, on
//! its source and destination, or on the hop.

use super::service_levels::{MANAGEMENT_LANE, ServiceLevels};
use flitlab_fabric::{Channel, Fabric};

/// Marks a router without a way to a destination.
pub const NO_PORT: u16 = u16::MAX;

/// Most virtual channels of a table.
pub const MAX_VCS: u8 = 16;

/// A virtual channel: a directed channel between routers, and a number on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualChannel {
    /// The directed channel between routers.
    pub channel: Channel,
    /// The number of the virtual channel, from 0.
    pub vc: u8,
}

/// The rule by which a packet gets its virtual channel from its path. Arrays are indexed by
/// destination terminal times routers plus router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VcAssignment {
    /// All packets use virtual channel 0.
    One,
    /// One virtual channel for each destination terminal.
    ByDestination(Vec<u8>),
    /// One virtual channel for a whole path, by the router where it starts: all terminals of that
    /// router share it.
    ByPair(Vec<u8>),
    /// A virtual channel for each hop, by the router that it leaves: packets change virtual
    /// channels on their way.
    ByHop(Vec<u8>),
    /// InfiniBand's rule: a service level for each pair of terminals. At each router a map gives
    /// the virtual channel by input port, output port and service level.
    ByServiceLevel(ServiceLevels),
}

/// The output port of every router to each terminal. Some routers may have none.
///
/// A terminal's own router has no port to it either: packets leave the network there, unless the
/// router [withholds](Self::withhold) them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTable {
    routers: u32,
    terminals: u32,
    /// Ports by destination terminal, then by router.
    ports: Vec<u16>,
    vc_assignment: VcAssignment,
    /// Whether a terminal's own router does not deliver its packets, by terminal.
    withheld: Vec<bool>,
}

impl ForwardingTable {
    /// A table without any routes, with one virtual channel.
    pub fn empty(fabric: &Fabric) -> Self {
        let (routers, terminals) = (fabric.routers(), fabric.terminals());
        let ports = vec![NO_PORT; routers as usize * terminals as usize];
        Self {
            routers,
            terminals,
            ports,
            vc_assignment: VcAssignment::One,
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

    /// The output port to a terminal; `None` if the router has no way to it, and at the terminal's
    /// own router.
    #[inline]
    pub fn port(&self, router: u32, terminal: u32) -> Option<u16> {
        let port = self.ports[self.place(router, terminal)];
        (port != NO_PORT).then_some(port)
    }

    /// The channel on which packets for a terminal leave a router; `None` where there is no
    /// [`port`](Self::port).
    #[inline]
    pub fn channel(&self, fabric: &Fabric, router: u32, terminal: u32) -> Option<Channel> {
        self.port(router, terminal).map(|port| fabric.outputs(router).start + u32::from(port))
    }

    /// Sets the port of a router to a terminal; `None` for no way.
    ///
    /// # Panics
    /// If the port is 65535.
    pub fn set(&mut self, router: u32, terminal: u32, port: Option<u16>) {
        assert!(port != Some(NO_PORT), "ports are numbered from 0 to 65534");
        let place = self.place(router, terminal);
        self.ports[place] = port.unwrap_or(NO_PORT);
    }

    /// Sets whether a terminal's own router lacks an entry for it, and so drops its packets.
    pub fn withhold(&mut self, terminal: u32, withheld: bool) {
        self.withheld[terminal as usize] = withheld;
    }

    /// Whether a terminal's own router delivers its packets to it.
    pub fn delivers(&self, terminal: u32) -> bool {
        !self.withheld[terminal as usize]
    }

    /// The ports of all routers to a terminal, [`NO_PORT`] for none.
    pub fn row(&mut self, terminal: u32) -> &mut [u16] {
        let start = self.place(0, terminal);
        &mut self.ports[start..start + self.routers as usize]
    }

    /// The rule by which packets get their virtual channels.
    pub fn vc_assignment(&self) -> &VcAssignment {
        &self.vc_assignment
    }

    /// Number of virtual channels: one more than the highest in the table.
    pub fn vc_count(&self) -> u8 {
        let vcs = match &self.vc_assignment {
            VcAssignment::One => &[][..],
            VcAssignment::ByDestination(vcs)
            | VcAssignment::ByPair(vcs)
            | VcAssignment::ByHop(vcs) => vcs,
            VcAssignment::ByServiceLevel(levels) => &levels.vcs,
        };
        vcs.iter().max().map_or(1, |vc| vc + 1)
    }

    /// Sets the rule by which packets get their virtual channels.
    ///
    /// # Panics
    /// If the rule is that of another fabric, or one of its virtual channels is above 15.
    pub fn set_vc_assignment(&mut self, assignment: VcAssignment) {
        let fits = match &assignment {
            VcAssignment::One => true,
            VcAssignment::ByDestination(vcs) => vcs.len() == self.terminals as usize,
            VcAssignment::ByPair(vcs) | VcAssignment::ByHop(vcs) => vcs.len() == self.ports.len(),
            VcAssignment::ByServiceLevel(levels) => {
                levels.size() == (self.routers as usize, self.terminals as usize)
            }
        };
        assert!(fits, "virtual channels of another fabric");
        self.vc_assignment = assignment;
        assert!(self.vc_count() <= MAX_VCS, "virtual channels are numbered from 0 to 15");
    }

    /// The value by which routers find the virtual channels of a packet from one terminal to
    /// another: the virtual channel or the service level of its path; 0 where neither is needed.
    ///
    /// # Panics
    /// If the source has failed.
    pub fn class(&self, fabric: &Fabric, source: u32, terminal: u32) -> u8 {
        match &self.vc_assignment {
            VcAssignment::One | VcAssignment::ByHop(_) => 0,
            VcAssignment::ByDestination(vcs) => vcs[terminal as usize],
            VcAssignment::ByPair(vcs) => {
                let router = fabric.terminal_router(source).expect("live terminals send");
                vcs[self.place(router, terminal)]
            }
            VcAssignment::ByServiceLevel(levels) => levels.level(source, terminal),
        }
    }

    /// Whether routers drop packets that would use this virtual channel. That is the one of
    /// management, if service levels lead to it.
    pub fn discards(&self, vc: u8) -> bool {
        vc == MANAGEMENT_LANE && matches!(self.vc_assignment, VcAssignment::ByServiceLevel(_))
    }

    /// The virtual channel on which a packet of this [class](Self::class) leaves a router through
    /// `output`. It came through input port `input`, or from a terminal of this router if that is
    /// `None`. An input port has the number of the output port of the same cable.
    pub fn vc(&self, router: u32, terminal: u32, class: u8, input: Option<u16>, output: u16) -> u8 {
        match &self.vc_assignment {
            VcAssignment::One => 0,
            VcAssignment::ByDestination(_) | VcAssignment::ByPair(_) => class,
            VcAssignment::ByHop(vcs) => vcs[self.place(router, terminal)],
            VcAssignment::ByServiceLevel(levels) => levels.vc(router, input, output, class),
        }
    }

    #[inline]
    fn place(&self, router: u32, terminal: u32) -> usize {
        terminal as usize * self.routers as usize + router as usize
    }
}
