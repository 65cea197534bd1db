//! The graph of routers, channels and terminals.

use super::Torus;
use super::cables::{CableClass, Cables};
use flitlab_base::narrow::narrow;

/// The arrangement of a fabric's routers, which determines their names.
#[derive(Clone, Debug)]
pub(super) enum Arrangement {
    /// Routers at coordinates; a terminal has the name of its router.
    Torus(Torus),
    /// Routers with listed names, and the port numbers of the hardware.
    Listed(Labels),
}

/// Names of routers and terminals, and the hardware's numbers of the ports that channels leave and
/// terminals are attached to.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub routers: Vec<String>,
    pub terminals: Vec<String>,
    /// By channel.
    pub channel_ports: Vec<u16>,
    /// By terminal.
    pub terminal_ports: Vec<u16>,
    /// The routers' coordinates, if they are arranged as a torus.
    pub grid: Option<Torus>,
    /// The sizes of dimensions along which all routers are joined; empty if there are none.
    pub joined: Vec<u32>,
    /// The group of each router; empty if there are none.
    pub groups: Vec<u32>,
}

/// Flits of a terminal at load 1 per flit time at `link.rate`, as a numerator and a denominator,
/// and how many times slower than that rate the limiting channels are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub flits: u32,
    pub of: u32,
    pub slowness: f64,
}

impl Capacity {
    /// One flit per flit time.
    pub(super) const CHANNEL: Self = Self { flits: 1, of: 1, slowness: 1.0 };

    pub(super) fn value(self) -> f64 {
        f64::from(self.flits) / f64::from(self.of) / self.slowness
    }
}

/// Marks a vacant port, a terminal that has failed, or a channel outside all rings.
pub const NONE: u32 = u32::MAX;

/// The number of a channel: output port `p` of router `r` has the number `fabric.outputs(r).start +
/// p`.
pub type Channel = u32;

/// Routers joined by directed channels, and the terminals attached to them.
///
/// Channels are numbered by source router, then output port. A port without a cable (the edge of a
/// mesh, a failed cable) keeps its number and is vacant, so that port numbers mean the same at
/// every router.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Channels of router `r`: `first_channel[r]..first_channel[r + 1]`.
    pub(super) first_channel: Vec<u32>,
    /// The router at the channel's far end, or [`NONE`] for a vacant port.
    pub(super) target: Vec<u32>,
    /// The channel of the same cable in the other direction, or [`NONE`] for a vacant port.
    pub(super) opposite: Vec<u32>,
    /// The ring that the channel is part of, or [`NONE`].
    pub(super) ring: Vec<u32>,
    /// The router of each terminal, or [`NONE`] if it has failed.
    pub(super) terminal_router: Vec<u32>,
    pub(super) capacity: Capacity,
    pub(super) cables: Cables,
    pub(super) failed: Vec<FailedCable>,
    pub(super) arrangement: Arrangement,
}

/// A cable that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedCable {
    /// The lower of its two channels, which is vacant now.
    pub channel: Channel,
    /// The routers that it joined, that of the channel first.
    pub ends: (u32, u32),
}

impl Fabric {
    /// Number of routers, failed ones included.
    pub fn routers(&self) -> u32 {
        narrow(self.first_channel.len() - 1)
    }

    /// Number of terminals, failed ones included: they keep their numbers.
    pub fn terminals(&self) -> u32 {
        narrow(self.terminal_router.len())
    }

    /// Number of channel numbers, those of vacant ports included.
    pub fn channel_slots(&self) -> u32 {
        narrow(self.target.len())
    }

    /// Number of channels that exist.
    pub fn channels(&self) -> usize {
        self.target.iter().filter(|&&target| target != NONE).count()
    }

    /// The cables between routers, each by the lower of its two channels, in ascending order.
    pub fn cables(&self) -> impl Iterator<Item = Channel> + '_ {
        let opposite = |channel: Channel| self.opposite[channel as usize];
        (0..self.channel_slots())
            .filter(move |&channel| opposite(channel) != NONE && channel < opposite(channel))
    }

    /// The fabric without some cables, each given by one of its channels, and without some routers,
    /// which lose their cables and terminals. All numbers stay. A ring that loses a channel is a
    /// ring no more.
    #[must_use]
    pub fn without(&self, cables: &[Channel], routers: &[u32]) -> Self {
        let mut left = self.clone();
        let of_routers = routers.iter().flat_map(|&router| self.outputs(router));
        let mut broken = Vec::new();
        for channel in of_routers.chain(cables.iter().copied()) {
            left.failed.extend(left.cable_of(channel));
            for channel in [Some(channel), self.opposite(channel)].into_iter().flatten() {
                left.target[channel as usize] = NONE;
                left.opposite[channel as usize] = NONE;
                broken.extend(self.ring(channel));
            }
        }
        broken.sort_unstable();
        left.ring.iter_mut().filter(|ring| broken.binary_search(ring).is_ok()).for_each(|ring| {
            *ring = NONE;
        });
        left.terminal_router.iter_mut().filter(|router| routers.contains(router)).for_each(
            |router| {
                *router = NONE;
            },
        );
        left
    }

    /// The cable of a channel as it will be named when it has failed; `None` for a vacant port.
    pub(super) fn cable_of(&self, channel: Channel) -> Option<FailedCable> {
        let ends = (self.source(channel), self.target(channel)?);
        let opposite = self.opposite(channel)?;
        let (channel, ends) =
            if channel < opposite { (channel, ends) } else { (opposite, (ends.1, ends.0)) };
        Some(FailedCable { channel, ends })
    }

    /// The cables that have failed, those of failed routers among them.
    pub fn failed_cables(&self) -> &[FailedCable] {
        &self.failed
    }

    /// The name of a failed cable for people, such as `S4 port 2 to S7`.
    pub fn failed_cable_name(&self, cable: &FailedCable) -> String {
        let near = self.channel_name(cable.channel);
        match &self.arrangement {
            Arrangement::Torus(_) => near,
            Arrangement::Listed(_) => format!("{near} to {}", self.router_name(cable.ends.1)),
        }
    }

    /// The fabric with cables of these classes, by channel and by terminal.
    ///
    /// # Panics
    /// If both channels of a cable are not of one class, or there are more than 80 classes.
    #[must_use]
    pub fn with_cables(
        self,
        of_channel: impl Fn(Channel) -> CableClass,
        of_terminal: impl Fn(u32) -> CableClass,
    ) -> Self {
        let channels = (0..self.channel_slots()).map(&of_channel);
        let cables = Cables::new(channels, (0..self.terminals()).map(of_terminal));
        for cable in self.cables() {
            let opposite = self.opposite[cable as usize];
            assert!(
                cables.of_channel(cable) == cables.of_channel(opposite),
                "a cable of two classes"
            );
        }
        Self { cables, ..self }
    }

    /// The classes of the fabric's cables; at least one.
    pub fn cable_classes(&self) -> &[CableClass] {
        self.cables.classes()
    }

    /// The number of a channel's class.
    pub fn cable_class(&self, channel: Channel) -> u8 {
        self.cables.of_channel(channel)
    }

    /// The number of the class of a terminal's cable.
    pub fn terminal_class(&self, terminal: u32) -> u8 {
        self.cables.of_terminal(terminal)
    }

    /// The class of a channel.
    pub fn cable(&self, channel: Channel) -> CableClass {
        self.cable_classes()[usize::from(self.cable_class(channel))]
    }

    /// The class of a terminal's cable.
    pub fn terminal_cable(&self, terminal: u32) -> CableClass {
        self.cable_classes()[usize::from(self.terminal_class(terminal))]
    }

    /// The router of this name; `None` if there is none.
    pub fn router_named(&self, name: &str) -> Option<u32> {
        (0..self.routers()).find(|&router| match &self.arrangement {
            Arrangement::Torus(torus) => torus.node_name(router) == name,
            Arrangement::Listed(labels) => labels.routers[router as usize] == name,
        })
    }

    /// The terminal of this name; `None` if there is none.
    pub fn terminal_named(&self, name: &str) -> Option<u32> {
        (0..self.terminals()).find(|&terminal| match &self.arrangement {
            Arrangement::Torus(torus) => torus.node_name(terminal) == name,
            Arrangement::Listed(labels) => labels.terminals[terminal as usize] == name,
        })
    }

    /// The channel numbers of a router's output ports, in port order, vacant ones included.
    #[inline]
    pub fn outputs(&self, router: u32) -> std::ops::Range<Channel> {
        self.first_channel[router as usize]..self.first_channel[router as usize + 1]
    }

    /// The routers to which a router's outputs lead, by output.
    pub fn neighbors(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        self.outputs(router).filter_map(|channel| self.target(channel))
    }

    /// The router at the channel's far end; `None` for a vacant port.
    #[inline]
    pub fn target(&self, channel: Channel) -> Option<u32> {
        let target = self.target[channel as usize];
        (target != NONE).then_some(target)
    }

    /// The channel of the same cable in the other direction; `None` for a vacant port.
    pub fn opposite(&self, channel: Channel) -> Option<Channel> {
        let opposite = self.opposite[channel as usize];
        (opposite != NONE).then_some(opposite)
    }

    /// The router that the channel leaves.
    pub fn source(&self, channel: Channel) -> u32 {
        narrow(self.first_channel.partition_point(|&first| first <= channel) - 1)
    }

    /// The ring that the channel is part of: a closed cycle of channels in one direction. `None` if
    /// the channel is in no ring.
    pub fn ring(&self, channel: Channel) -> Option<u32> {
        let ring = self.ring[channel as usize];
        (ring != NONE).then_some(ring)
    }

    /// The router of a terminal; `None` if it has failed.
    #[inline]
    pub fn terminal_router(&self, terminal: u32) -> Option<u32> {
        let router = self.terminal_router[terminal as usize];
        (router != NONE).then_some(router)
    }

    /// The terminals that have not failed, in ascending order.
    pub fn live_terminals(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.terminals()).filter(|&terminal| self.terminal_router[terminal as usize] != NONE)
    }

    /// The routers with live terminals, in ascending order.
    pub fn ends(&self) -> Vec<u32> {
        let all = (0..).zip(self.terminals_by_router());
        all.filter(|(_, terminals)| !terminals.is_empty()).map(|(router, _)| router).collect()
    }

    /// The terminals of each router that have not failed, in ascending order.
    pub fn terminals_by_router(&self) -> Vec<Vec<u32>> {
        let mut terminals = vec![Vec::new(); self.routers() as usize];
        for terminal in self.live_terminals() {
            terminals[self.terminal_router[terminal as usize] as usize].push(terminal);
        }
        terminals
    }

    /// Flits that a terminal injects at load 1, as a fraction of `link.rate`. On a torus, load 1
    /// saturates the bisection under uniform traffic: the fraction is the least of 8 B/k over its
    /// ring dimensions and 4 B/k over its mesh dimensions, for k nodes and cables of rate B. Other
    /// fabrics have what [their builder says](crate::Cabling::capacity), or else 1.
    pub fn capacity(&self) -> f64 {
        self.capacity.value()
    }

    /// The coordinates, if the fabric is a torus whose output ports are its directions, with one
    /// terminal a router; `None` for other fabrics.
    pub fn torus(&self) -> Option<&Torus> {
        match &self.arrangement {
            Arrangement::Torus(torus) => Some(torus),
            Arrangement::Listed(_) => None,
        }
    }

    /// The coordinates, if the routers are arranged as a torus, with any numbering of their ports;
    /// `None` for other fabrics.
    pub fn grid(&self) -> Option<&Torus> {
        match &self.arrangement {
            Arrangement::Torus(torus) => Some(torus),
            Arrangement::Listed(labels) => labels.grid.as_ref(),
        }
    }

    /// The sizes of the dimensions in which the routers are arranged, if along each of them all
    /// routers are joined with each other, as in a HyperX; empty for other fabrics. The first
    /// dimension's coordinate runs fastest.
    pub fn joined_dimensions(&self) -> &[u32] {
        match &self.arrangement {
            Arrangement::Torus(_) => &[],
            Arrangement::Listed(labels) => &labels.joined,
        }
    }

    /// The group of each router, numbered from 0; empty if the fabric is not made of groups.
    pub fn groups(&self) -> &[u32] {
        match &self.arrangement {
            Arrangement::Torus(_) => &[],
            Arrangement::Listed(labels) => &labels.groups,
        }
    }

    /// The coordinates of a fabric that is known to be a torus.
    ///
    /// # Panics
    /// If the fabric is no torus. The caller, which chose the routing, rules that out.
    pub fn coordinates(&self) -> &Torus {
        self.torus().expect("chosen for tori only")
    }

    /// The hardware's number of the port that a channel leaves. On a torus it is the direction's
    /// number, counted from 1.
    pub fn port(&self, channel: Channel) -> u16 {
        match &self.arrangement {
            Arrangement::Torus(torus) => narrow(channel % torus.directions() + 1),
            Arrangement::Listed(labels) => labels.channel_ports[channel as usize],
        }
    }

    /// The hardware's number of the router port that a terminal is attached to. On a torus it
    /// follows those of the directions.
    pub fn terminal_port(&self, terminal: u32) -> u16 {
        match &self.arrangement {
            Arrangement::Torus(torus) => narrow(torus.directions() + 1),
            Arrangement::Listed(labels) => labels.terminal_ports[terminal as usize],
        }
    }

    /// The channel's name for people. With coordinates it is the router and the direction, such as
    /// `(0,3,1) +y`. Without, it has the router, the port and the far end, such as `S4 port 2 to
    /// S7`; a vacant port has no far end.
    pub fn channel_name(&self, channel: Channel) -> String {
        let router = self.source(channel);
        let name = self.router_name(router);
        match &self.arrangement {
            Arrangement::Torus(torus) => {
                let direction = channel - self.first_channel[router as usize];
                name + " " + &torus.direction_name(direction)
            }
            Arrangement::Listed(labels) => {
                let port = format!("{name} port {}", labels.channel_ports[channel as usize]);
                match self.target(channel) {
                    Some(target) => format!("{port} to {}", labels.routers[target as usize]),
                    None => port,
                }
            }
        }
    }

    /// The router's name for people; on a torus its coordinates, such as `(0,3,1)`.
    pub fn router_name(&self, router: u32) -> String {
        match &self.arrangement {
            Arrangement::Torus(torus) => torus.node_name(router),
            Arrangement::Listed(labels) => labels.routers[router as usize].clone(),
        }
    }

    /// The terminal's name for people; on a torus the coordinates of its router.
    pub fn terminal_name(&self, terminal: u32) -> String {
        match &self.arrangement {
            Arrangement::Torus(torus) => torus.node_name(terminal),
            Arrangement::Listed(labels) => labels.terminals[terminal as usize].clone(),
        }
    }
}
