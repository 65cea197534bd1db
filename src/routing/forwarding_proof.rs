//! Whether a forwarding table is right: every pair of terminals has a way, none goes round in circles, and no
//! packets can wait for each other for ever.
//!
//! This shares nothing with what makes tables: it follows packets router by router, as the routers do, and
//! looks for cycles among the dependencies that it saw. A dependency is a pair of (channel, lane) that some
//! packet holds one after the other (Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor
//! Interconnection Networks", 1987). There is no bubble rule in such networks: any cycle can deadlock.

use std::fmt;

use rayon::prelude::*;

use super::{ForwardingTable, cycle};
use crate::topology::{Channel, Fabric};

/// A channel and one of its virtual lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneChannel {
    pub channel: Channel,
    pub lane: u8,
}

/// What is wrong with a forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardingFlaw {
    /// Packets from this router to this terminal get as far as `at`, which has no port for them.
    Missing { source: u32, terminal: u32, at: u32 },
    /// This router's port for the terminal does not exist or has failed.
    NoChannel { router: u32, terminal: u32, port: u16 },
    /// Packets for this terminal go round these routers for ever.
    Loop { terminal: u32, routers: Vec<u32> },
    /// Each of these can wait for the next, and the last for the first.
    Cycle(Vec<LaneChannel>),
}

impl ForwardingFlaw {
    /// What is wrong, with the names of routers and channels.
    #[must_use]
    pub fn describe(&self, fabric: &Fabric) -> String {
        let router = |&router: &u32| fabric.router_name(router);
        let list = |names: Vec<String>| names.join(", ");
        match self {
            Self::Missing { source, terminal, at } => format!(
                "there is no way from {} to {}: {} has no port for it",
                router(source),
                fabric.terminal_name(*terminal),
                router(at)
            ),
            Self::NoChannel { router: at, terminal, port } => format!(
                "port {port} of {}, for {}, has failed or does not exist",
                router(at),
                fabric.terminal_name(*terminal)
            ),
            Self::Loop { terminal, routers } => format!(
                "packets for {} go round in circles: {}",
                fabric.terminal_name(*terminal),
                list(routers.iter().map(router).collect())
            ),
            Self::Cycle(places) => {
                let name = |place: &LaneChannel| {
                    format!("{} lane {}", fabric.channel_name(place.channel), place.lane)
                };
                format!(
                    "packets can deadlock: each of these can wait for the next, the last for the \
                     first: {}",
                    list(places.iter().map(name).collect())
                )
            }
        }
    }
}

/// What was proved of a forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingProof {
    /// Ordered pairs of different live terminals that have a way.
    pub pairs: u64,
    /// Pairs of (channel, lane) that some packet takes one after the other, by the lane of the first.
    pub dependencies: Vec<u64>,
    /// For each lane, whether a packet takes it between routers.
    pub lanes: Vec<bool>,
    pub flaws: Vec<ForwardingFlaw>,
}

impl ForwardingProof {
    /// Whether the table is right.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The cycle of channels that can wait for each other, if there is one.
    #[must_use]
    pub fn cycle(&self) -> Option<&[LaneChannel]> {
        self.flaws.iter().find_map(|flaw| match flaw {
            ForwardingFlaw::Cycle(places) => Some(&places[..]),
            _ => None,
        })
    }

    /// Lanes that packets take.
    #[must_use]
    pub fn lanes_used(&self) -> u32 {
        self.lanes.iter().map(|&used| u32::from(used)).sum()
    }
}

impl fmt::Display for ForwardingProof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} pairs of terminals have a way; {} dependencies of channels on {} lanes close no cycle",
            self.pairs,
            self.dependencies.iter().sum::<u64>(),
            self.lanes_used()
        )
    }
}

/// Follows packets between all live terminals and looks for cycles.
#[must_use]
pub fn prove_forwarding(fabric: &Fabric, table: &ForwardingTable) -> ForwardingProof {
    let dependencies = Dependencies::new(fabric, table);
    let terminals: Vec<u32> = fabric.live_terminals().collect();
    let senders = senders(fabric);
    let none = || Walk::new(fabric, table, &dependencies);
    let walk = terminals
        .par_iter()
        .fold(none, |mut walk, &terminal| {
            walk.follow_all(&senders, terminal);
            walk
        })
        .reduce(none, Walk::merge);
    let Walk { pairs, lanes, bits, mut flaws, .. } = walk;
    let found = dependencies.by_lane(&bits);
    flaws.extend(dependencies.cycle(&bits).map(ForwardingFlaw::Cycle));
    let lanes = (0..dependencies.lanes).map(|lane| lanes >> lane & 1 == 1).collect();
    ForwardingProof { pairs, dependencies: found, lanes, flaws }
}

/// The routers that have live terminals, and how many.
fn senders(fabric: &Fabric) -> Vec<(u32, u64)> {
    let mut count = vec![0; fabric.routers() as usize];
    for router in fabric.live_terminals().filter_map(|terminal| fabric.terminal_router(terminal)) {
        count[router as usize] += 1;
    }
    (0..fabric.routers()).zip(count).filter(|&(_, count)| count > 0).collect()
}

/// The numbering of all dependencies that there could be: by channel, its lane, the port behind it, and the
/// next lane.
struct Dependencies<'a> {
    fabric: &'a Fabric,
    lanes: usize,
    /// Output ports behind the channels before this one.
    before: Vec<usize>,
}

impl<'a> Dependencies<'a> {
    fn new(fabric: &'a Fabric, table: &ForwardingTable) -> Self {
        let mut before = vec![0];
        for channel in 0..fabric.channel_slots() {
            let ports = fabric.target(channel).map_or(0, |next| fabric.outputs(next).len());
            before.push(before[channel as usize] + ports);
        }
        Self { fabric, lanes: usize::from(table.lane_count()), before }
    }

    fn words(&self) -> usize {
        (self.before[self.before.len() - 1] * self.lanes * self.lanes).div_ceil(64)
    }

    fn number(&self, from: LaneChannel, port: u16, lane: u8) -> usize {
        let channel = from.channel as usize;
        let ports = self.before[channel + 1] - self.before[channel];
        let row = self.before[channel] * self.lanes + usize::from(from.lane) * ports;
        (row + usize::from(port)) * self.lanes + usize::from(lane)
    }

    /// The places in [`Self::number`]'s order of the dependencies of a channel and lane.
    fn row(&self, from: LaneChannel) -> std::ops::Range<usize> {
        let channel = from.channel as usize;
        let start = self.number(from, 0, 0);
        start..start + (self.before[channel + 1] - self.before[channel]) * self.lanes
    }

    /// How many there are, by the lane of the first channel.
    fn by_lane(&self, bits: &[u64]) -> Vec<u64> {
        let of_lane = |lane: u8| {
            let rows = (0..self.fabric.channel_slots())
                .flat_map(move |channel| self.row(LaneChannel { channel, lane }));
            rows.filter(|&bit| is_set(bits, bit)).count() as u64
        };
        (0..self.lanes as u8).map(of_lane).collect()
    }

    /// A cycle of (channel, lane), if there is one.
    fn cycle(&self, bits: &[u64]) -> Option<Vec<LaneChannel>> {
        let place = |vertex: u32| LaneChannel {
            channel: vertex / self.lanes as u32,
            lane: (vertex % self.lanes as u32) as u8,
        };
        let successors = |vertex: u32| {
            let from = place(vertex);
            let row = self.row(from);
            let start = row.start;
            let first =
                self.fabric.target(from.channel).map(|next| self.fabric.outputs(next).start);
            row.filter(|&bit| is_set(bits, bit)).filter_map(move |bit| {
                first.map(|first| first * self.lanes as u32 + (bit - start) as u32)
            })
        };
        let count = self.fabric.channel_slots() * self.lanes as u32;
        let components = cycle::components(count, &successors);
        let component = components.iter().find(|component| component.len() > 1)?;
        let cycle = cycle::shortest(component, &successors, |_, _| true)?;
        Some(cycle.into_iter().map(place).collect())
    }
}

fn is_set(bits: &[u64], bit: usize) -> bool {
    bits[bit / 64] >> (bit % 64) & 1 == 1
}

/// What is known of a router's way to the present destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Unknown,
    /// The present walk came through it.
    Walked,
    Leads,
    /// It ends at this router.
    Ends(u32),
    /// It goes round in circles.
    Circles,
}

/// Packets on their way through the routers, and what they have shown.
struct Walk<'a> {
    fabric: &'a Fabric,
    table: &'a ForwardingTable,
    dependencies: &'a Dependencies<'a>,
    /// By router.
    ways: Vec<Way>,
    /// By channel and lane, the classes of packets that have been followed from there.
    seen: Vec<u16>,
    touched: Vec<usize>,
    bits: Vec<u64>,
    /// A bit a lane.
    lanes: u32,
    pairs: u64,
    flaws: Vec<ForwardingFlaw>,
}

impl<'a> Walk<'a> {
    fn new(
        fabric: &'a Fabric,
        table: &'a ForwardingTable,
        dependencies: &'a Dependencies<'a>,
    ) -> Self {
        Self {
            fabric,
            table,
            dependencies,
            ways: vec![Way::Unknown; fabric.routers() as usize],
            seen: vec![0; fabric.channel_slots() as usize * dependencies.lanes],
            touched: Vec::new(),
            bits: vec![0; dependencies.words()],
            lanes: 0,
            pairs: 0,
            flaws: Vec::new(),
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
        self.lanes |= other.lanes;
        self.pairs += other.pairs;
        self.flaws.extend(other.flaws);
        self
    }

    /// Follows packets from all routers with terminals to one terminal.
    fn follow_all(&mut self, senders: &[(u32, u64)], terminal: u32) {
        let end = self.fabric.terminal_router(terminal).expect("live terminals only");
        self.ways.fill(Way::Unknown);
        self.ways[end as usize] = Way::Leads;
        for place in self.touched.drain(..) {
            self.seen[place] = 0;
        }
        for &(source, count) in senders {
            match self.way(source, terminal) {
                Way::Leads if source == end => self.pairs += count - 1,
                Way::Leads => {
                    self.pairs += count;
                    self.follow(source, terminal, end);
                }
                Way::Ends(at) => {
                    self.flaws.push(ForwardingFlaw::Missing { source, terminal, at });
                }
                _ => {}
            }
        }
    }

    /// Where a router's packets for this terminal get to.
    fn way(&mut self, source: u32, terminal: u32) -> Way {
        let mut walked = Vec::new();
        let mut at = source;
        let found = loop {
            match self.ways[at as usize] {
                Way::Unknown => {}
                Way::Walked => {
                    let start = walked.iter().position(|&router| router == at).unwrap_or(0);
                    let routers = walked[start..].to_vec();
                    self.flaws.push(ForwardingFlaw::Loop { terminal, routers });
                    break Way::Circles;
                }
                known => break known,
            }
            self.ways[at as usize] = Way::Walked;
            walked.push(at);
            let Some(port) = self.table.port(at, terminal) else { break Way::Ends(at) };
            let outputs = self.fabric.outputs(at);
            let exists = usize::from(port) < outputs.len();
            let channel = outputs.start + u32::from(port);
            match exists.then(|| self.fabric.target(channel)).flatten() {
                Some(next) => at = next,
                None => {
                    self.flaws.push(ForwardingFlaw::NoChannel { router: at, terminal, port });
                    break Way::Ends(at);
                }
            }
        };
        for router in walked {
            self.ways[router as usize] = found;
        }
        found
    }

    /// Notes the dependencies of a packet from a router to the terminal, until it has come to a (channel, lane)
    /// from which a packet like it has been followed before.
    fn follow(&mut self, source: u32, terminal: u32, end: u32) {
        let class = self.table.class(source, terminal);
        let mut at = source;
        let mut before: Option<LaneChannel> = None;
        while at != end {
            let Some(port) = self.table.port(at, terminal) else { return };
            let input = before.and_then(|before| self.fabric.opposite(before.channel));
            let input = input.map(|back| (back - self.fabric.outputs(at).start) as u16);
            let lane = self.table.lane(at, terminal, class, input, port);
            self.lanes |= 1 << lane;
            if let Some(before) = before {
                let bit = self.dependencies.number(before, port, lane);
                self.bits[bit / 64] |= 1 << (bit % 64);
            }
            let channel = self.fabric.outputs(at).start + u32::from(port);
            let place = channel as usize * self.dependencies.lanes + usize::from(lane);
            if self.seen[place] == 0 {
                self.touched.push(place);
            }
            if self.seen[place] >> class & 1 == 1 {
                return;
            }
            self.seen[place] |= 1 << class;
            let Some(next) = self.fabric.target(channel) else { return };
            before = Some(LaneChannel { channel, lane });
            at = next;
        }
    }
}
