//! Fabrics of any shape, put together router by router and cable by cable.

use super::cable_kinds::CableKinds;
use super::cables::{CableClass, Cables, usual};
use super::fabric::{Arrangement, Capacity, Fabric, Labels, NONE};
use super::{TopologyError, Torus, connectivity};
use flitlab_base::narrow::narrow;

/// A router's port: the router, and the port's number, from 1 as in InfiniBand.
pub type Port = (u32, u16);

/// A fabric under construction: routers, terminals and cables. Routers and terminals are numbered
/// in the order of their addition, a router's channels by its ports.
///
/// Two routers may have several cables between them, each with channels of its own. A router may
/// have any number of terminals, or none.
#[derive(Clone, Debug, Default)]
pub struct Cabling {
    routers: Vec<String>,
    /// The lowest port number above those in use, by router.
    free: Vec<u16>,
    terminals: Vec<(String, Port)>,
    cables: Vec<(Port, Port)>,
    /// The kind of each cable, and the classes of the kinds; empty if all are alike.
    kinds: Vec<u8>,
    classes: Vec<CableClass>,
    grid: Option<Torus>,
    joined: Vec<u32>,
    groups: Vec<u32>,
    capacity: Option<Capacity>,
    /// A router whose ports exceed the range of port numbers.
    crowded: Option<u32>,
}

/// Most ports of a router. Port numbers have 16 bits, and one of them stands for no port.
const MAX_PORTS: u16 = u16::MAX - 1;

impl Cabling {
    /// Adds a router and gives its number.
    pub fn router(&mut self, name: impl Into<String>) -> u32 {
        self.routers.push(name.into());
        self.free.push(1);
        narrow(self.routers.len() - 1)
    }

    /// Number of routers so far.
    pub fn routers(&self) -> u32 {
        narrow(self.routers.len())
    }

    /// Adds a terminal to a router's next port and gives the terminal's number.
    pub fn terminal(&mut self, name: impl Into<String>, router: u32) -> u32 {
        let port = self.next(router);
        self.terminal_at(name, port)
    }

    /// Adds a terminal to a port and gives the terminal's number.
    pub fn terminal_at(&mut self, name: impl Into<String>, port: Port) -> u32 {
        self.take(port);
        self.terminals.push((name.into(), port));
        narrow(self.terminals.len() - 1)
    }

    /// Adds a cable between the next ports of two routers.
    pub fn cable(&mut self, one: u32, other: u32) {
        let one = self.next(one);
        self.take(one);
        let other = self.next(other);
        self.cable_at(one, other);
    }

    /// Adds a cable between two ports.
    pub fn cable_at(&mut self, one: Port, other: Port) {
        self.take(one);
        self.take(other);
        self.cables.push((one, other));
    }

    /// The ends of each cable, in the order of addition.
    pub fn cables(&self) -> &[(Port, Port)] {
        &self.cables
    }

    /// Removes cables, given by their positions in [`Self::cables`]. Ports keep their numbers.
    pub fn remove(&mut self, cables: &[usize]) {
        let stays = || (0..).map(|place| !cables.contains(&place));
        let (mut of_cables, mut of_kinds) = (stays(), stays());
        self.cables.retain(|_| of_cables.next() == Some(true));
        self.kinds.retain(|_| of_kinds.next() == Some(true));
    }

    /// Declares the routers to be arranged as a torus, numbered as its nodes.
    pub fn arrange(&mut self, grid: Torus) {
        self.grid = Some(grid);
    }

    /// Declares the routers to be arranged in dimensions of these sizes, along each of which all
    /// are joined with each other. The first dimension's coordinate runs fastest.
    pub fn arrange_joined(&mut self, sizes: &[u32]) {
        self.joined = sizes.to_vec();
    }

    /// Declares the groups that routers belong to, by a router's number. Groups are numbered from
    /// 0.
    pub fn group(&mut self, group_of: impl Fn(u32) -> u32) {
        self.groups = (0..self.routers()).map(group_of).collect();
    }

    /// Declares rates and latencies of the cables so far, by kind. Kinds are numbered from 0, and
    /// `kind` gives that of a cable between two routers.
    ///
    /// # Panics
    /// [`Self::fabric`] does if a cable is of a kind that has no rate where others have.
    pub fn classify(&mut self, kinds: &CableKinds, kind: impl Fn(u32, u32) -> usize) {
        let kind_of = |&((one, _), (other, _)): &(Port, Port)| narrow(kind(one, other));
        let of_cables: Vec<u8> = self.cables.iter().map(kind_of).collect();
        self.classes = kinds.classes(|kind| of_cables.contains(&narrow(kind)));
        self.kinds = if self.classes.is_empty() { Vec::new() } else { of_cables };
    }

    /// Declares the [capacity](Fabric::capacity): at load 1 a terminal injects `flits` flits in the
    /// time that `of` take on a cable. Unless it is declared it is 1.
    ///
    /// # Panics
    /// If one of them is 0.
    pub fn capacity(&mut self, flits: u32, of: u32) {
        assert!(flits > 0 && of > 0, "a capacity of {flits} flits in the time of {of}");
        self.capacity = Some(Capacity { flits, of, slowness: 1.0 });
    }

    fn next(&self, router: u32) -> Port {
        (router, self.free[router as usize])
    }

    fn take(&mut self, (router, port): Port) {
        if port > MAX_PORTS {
            self.crowded = Some(router);
            return;
        }
        let free = &mut self.free[router as usize];
        *free = (*free).max(port.saturating_add(1));
    }

    /// The fabric.
    ///
    /// # Errors
    /// If a router has more than 65534 ports, a cable joins a router with itself, there are fewer
    /// than two terminals, or two of them have no path between them.
    ///
    /// # Panics
    /// If something is attached to a router that was not added.
    pub fn fabric(self) -> Result<Fabric, TopologyError> {
        if let Some(router) = self.crowded {
            let name = &self.routers[router as usize];
            let text = format!("router {name} needs more than {MAX_PORTS} ports");
            return Err(TopologyError::Sizes(text));
        }
        // Both ends of each cable, in the order of channels.
        let mut ends: Vec<(Port, usize)> = Vec::with_capacity(2 * self.cables.len());
        for (number, &(one, other)) in self.cables.iter().enumerate() {
            if one.0 == other.0 {
                let name = &self.routers[one.0 as usize];
                let text = format!("a cable joins router {name} with itself");
                return Err(TopologyError::Sizes(text));
            }
            ends.extend([(one, number), (other, number)]);
        }
        ends.sort_unstable();
        let mut channels = vec![(NONE, NONE); self.cables.len()];
        for (channel, &(port, number)) in (0..).zip(&ends) {
            let pair = &mut channels[number];
            if port == self.cables[number].0 { pair.0 = channel } else { pair.1 = channel }
        }
        let far = |&(port, number): &(Port, usize)| {
            let ((one, other), (there, back)) = (self.cables[number], channels[number]);
            if port == one { (other.0, back) } else { (one.0, there) }
        };
        let (target, opposite) = ends.iter().map(far).unzip();
        let first = |router: u32| narrow(ends.partition_point(|&((at, _), _)| at < router));
        let routers = self.routers();
        let (terminals, ports): (Vec<String>, Vec<Port>) = self.terminals.into_iter().unzip();
        assert!(ports.iter().all(|&(router, _)| router < routers), "no such router");
        let fabric = Fabric {
            first_channel: (0..=routers).map(first).collect(),
            target,
            opposite,
            ring: vec![NONE; ends.len()],
            terminal_router: ports.iter().map(|&(router, _)| router).collect(),
            capacity: self.capacity.unwrap_or(Capacity::CHANNEL),
            cables: Cables::default(),
            failed: Vec::new(),
            arrangement: Arrangement::Listed(Labels {
                routers: self.routers,
                terminals,
                channel_ports: ends.iter().map(|&((_, port), _)| port).collect(),
                terminal_ports: ports.iter().map(|&(_, port)| port).collect(),
                grid: self.grid,
                joined: self.joined,
                groups: self.groups,
            }),
        };
        connectivity::check(&fabric)?;
        if self.classes.is_empty() {
            return Ok(fabric);
        }
        let kind = |channel: u32| self.kinds[ends[channel as usize].1];
        let of_channel = |channel| self.classes[usize::from(kind(channel))];
        let terminals = usual(&self.classes);
        Ok(fabric.with_cables(of_channel, |_| terminals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two routers with two cables and three terminals.
    fn pair() -> Cabling {
        let mut cabling = Cabling::default();
        let (one, other) = (cabling.router("A"), cabling.router("B"));
        for (name, router) in [("a", one), ("b", other), ("c", other)] {
            cabling.terminal(name, router);
        }
        cabling.cable(one, other);
        cabling.cable(other, one);
        cabling
    }

    #[test]
    fn parallel_cables_are_channels_of_their_own() {
        let fabric = pair().fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (2, 3, 4));
        for channel in 0..4 {
            let opposite = fabric.opposite(channel).unwrap();
            assert_eq!(fabric.opposite(opposite), Some(channel));
            assert_eq!(fabric.target(channel), Some(fabric.source(opposite)));
        }
        assert_eq!(fabric.opposite(0), Some(2), "the first cable has the first port at both ends");
        assert_eq!(fabric.channel_name(1), "A port 3 to B");
        assert_eq!((fabric.router_name(1), fabric.terminal_name(2)), ("B".into(), "c".into()));
        assert!(fabric.torus().is_none() && fabric.ring(0).is_none());
    }

    #[test]
    fn a_router_with_more_ports_than_have_numbers_is_refused() {
        let with_terminals = |count: u32| {
            let mut cabling = Cabling::default();
            let router = cabling.router("A");
            for number in 0..count {
                cabling.terminal(number.to_string(), router);
            }
            cabling.fabric()
        };
        let most = u32::from(MAX_PORTS);
        assert_eq!(with_terminals(most).map(|fabric| fabric.terminals()), Ok(most));
        let error = with_terminals(most + 1).unwrap_err();
        assert_eq!(error.to_string(), "router A needs more than 65534 ports");
    }

    #[test]
    fn channels_are_in_the_order_of_ports_whenever_their_cables_were_added() {
        let mut cabling = Cabling::default();
        let [one, other, third] = ["A", "B", "C"].map(|name| cabling.router(name));
        cabling.cable_at((one, 7), (other, 2));
        cabling.cable_at((third, 1), (one, 3));
        cabling.terminal_at("a", (one, 5));
        cabling.terminal("b", other);
        let fabric = cabling.fabric().unwrap();
        assert_eq!((fabric.port(0), fabric.target(0)), (3, Some(third)));
        assert_eq!((fabric.port(1), fabric.target(1)), (7, Some(other)));
        assert_eq!((fabric.terminal_port(0), fabric.terminal_port(1)), (5, 3));
        assert_eq!(fabric.outputs(third), 3..4);
    }

    #[test]
    fn cables_keep_their_classes_when_others_are_removed() {
        let mut cabling = pair();
        let third = cabling.router("C");
        cabling.cable(1, third);
        let rates = [2, 1].map(flitlab_base::units::Rate).to_vec();
        let kinds = CableKinds { rates, latencies: Vec::new() };
        cabling.classify(&kinds, |one, other| (one.max(other) - 1) as usize);
        cabling.remove(&[0]);
        let fabric = cabling.fabric().unwrap();
        let slowness = |from: u32, to: u32| {
            let channel = fabric.outputs(from).find(|&it| fabric.target(it) == Some(to)).unwrap();
            fabric.cable(channel).rate.slowness()
        };
        assert_eq!([(0, 1), (1, 2), (2, 1)].map(|(one, far)| slowness(one, far)), [1.0, 2.0, 2.0]);
    }

    #[test]
    fn what_is_no_fabric_is_refused() {
        let mut looped = pair();
        looped.cable(0, 0);
        assert!(looped.fabric().unwrap_err().to_string().contains("router A with itself"));
        let mut apart = pair();
        let lonely = apart.router("C");
        apart.terminal("d", lonely);
        assert!(matches!(apart.fabric(), Err(TopologyError::Disconnected { pairs: 6, .. })));
        let mut cut = pair();
        cut.remove(&[0, 1]);
        assert!(matches!(cut.fabric(), Err(TopologyError::Disconnected { pairs: 4, .. })));
    }
}
