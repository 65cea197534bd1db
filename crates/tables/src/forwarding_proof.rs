//! The proof of a forwarding table: every pair of terminals has a way that ends at the destination,
//! no way has a loop, no packet is dropped, and no deadlock is possible.
//!
//! The proof shares no code with the algorithms that make tables. It follows packets router by
//! router, as the routers do, and looks for cycles among the dependencies that it saw. A dependency
//! is a pair of virtual channels that some packet holds one after the other (\[dally-seitz\]). Such
//! networks have no bubble rule: any cycle can deadlock.

use std::iter;

use rayon::prelude::*;

use super::cycle;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_routing::{ForwardingTable, MANAGEMENT_LANE, VirtualChannel};

/// A flaw of a forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardingFlaw {
    /// Packets from this router to this terminal reach router `at`, which has no entry for them: no
    /// port, or no delivery if it is the terminal's own router.
    Missing {
        /// Number of a router where such packets enter.
        source: u32,
        /// Number of the terminal.
        terminal: u32,
        /// Number of the router that has no entry.
        at: u32,
    },
    /// The router's port for the terminal does not exist or has failed.
    NoChannel {
        /// Number of the router.
        router: u32,
        /// Number of the terminal.
        terminal: u32,
        /// Number of the output port.
        port: u16,
    },
    /// Packets between these terminals reach router `at`, where their service level leads to a
    /// virtual channel that takes no data.
    Discarded {
        /// Number of the terminal that sends.
        source: u32,
        /// Number of the terminal that should receive.
        terminal: u32,
        /// Number of the router that discards.
        at: u32,
    },
    /// Packets for this terminal go round a loop of routers for ever.
    Loop {
        /// Number of the terminal.
        terminal: u32,
        /// Numbers of the routers, in the order of the loop.
        routers: Vec<u32>,
    },
    /// Each of these virtual channels can wait for the next, and the last for the first.
    Cycle(Vec<VirtualChannel>),
}

impl ForwardingFlaw {
    /// The flaw in words, with the names of routers and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let router = |&router: &u32| fabric.router_name(router);
        let list = |names: Vec<String>| names.join(", ");
        match self {
            Self::Missing { source, terminal, at } => format!(
                "there is no way from {} to {}: {} has no entry for it",
                router(source),
                fabric.terminal_name(*terminal),
                router(at)
            ),
            Self::NoChannel { router: at, terminal, port } => format!(
                "port {port} of {}, for {}, has failed or does not exist",
                router(at),
                fabric.terminal_name(*terminal)
            ),
            Self::Discarded { source, terminal, at } => format!(
                "{} drops packets from {} to {}: it maps their service level to lane {MANAGEMENT_LANE}, which \
                 is management's",
                router(at),
                fabric.terminal_name(*source),
                fabric.terminal_name(*terminal)
            ),
            Self::Loop { terminal, routers } => format!(
                "packets for {} go round in circles: {}",
                fabric.terminal_name(*terminal),
                list(routers.iter().map(router).collect())
            ),
            Self::Cycle(places) => {
                let name = |place: &VirtualChannel| {
                    format!("{} virtual channel {}", fabric.channel_name(place.channel), place.vc)
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

/// The result of following all packets of a forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingProof {
    /// Ordered pairs of different live terminals that have a way.
    pub pairs: u64,
    /// Dependencies between virtual channels, by the number of the first one.
    pub dependencies: Vec<u64>,
    /// By virtual channel number: whether a packet uses it between routers.
    pub vcs: Vec<bool>,
    /// Mistakes that were found; none if the table is right.
    pub flaws: Vec<ForwardingFlaw>,
}

impl ForwardingProof {
    /// Whether the table is right.
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The cycle of virtual channels that can wait for each other; `None` if there is none.
    pub fn cycle(&self) -> Option<&[VirtualChannel]> {
        self.flaws.iter().find_map(|flaw| match flaw {
            ForwardingFlaw::Cycle(places) => Some(&places[..]),
            _ => None,
        })
    }

    /// Number of virtual channels that packets use.
    pub fn vcs_used(&self) -> u32 {
        self.vcs.iter().map(|&used| u32::from(used)).sum()
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
    let Walk { pairs, vcs, bits, mut flaws, .. } = walk;
    let found = dependencies.by_vc(&bits);
    flaws.extend(dependencies.cycle(&bits).map(ForwardingFlaw::Cycle));
    let vcs = (0..dependencies.vcs).map(|vc| vcs >> vc & 1 == 1).collect();
    ForwardingProof { pairs, dependencies: found, vcs, flaws }
}

/// The routers with live terminals, and these terminals.
fn senders(fabric: &Fabric) -> Vec<(u32, Vec<u32>)> {
    let all = (0..fabric.routers()).zip(fabric.terminals_by_router());
    all.filter(|(_, terminals)| !terminals.is_empty()).collect()
}

/// Numbers of all possible dependencies: by channel, its virtual channel, the port after it, and
/// the next virtual channel.
struct Dependencies<'a> {
    fabric: &'a Fabric,
    vcs: usize,
    /// Number of output ports after all earlier channels.
    before: Vec<usize>,
    /// Whether the table has a virtual channel that drops packets.
    may_discard: bool,
}

impl<'a> Dependencies<'a> {
    fn new(fabric: &'a Fabric, table: &ForwardingTable) -> Self {
        let mut before = vec![0];
        for channel in 0..fabric.channel_slots() {
            let ports = fabric.target(channel).map_or(0, |next| fabric.outputs(next).len());
            before.push(before[channel as usize] + ports);
        }
        let vcs = table.vc_count();
        Self { fabric, vcs: usize::from(vcs), before, may_discard: table.discards(vcs - 1) }
    }

    fn words(&self) -> usize {
        (self.before[self.before.len() - 1] * self.vcs * self.vcs).div_ceil(64)
    }

    /// The number of a dependency.
    fn number(&self, from: VirtualChannel, next: VirtualChannel) -> usize {
        let router = self.fabric.target(from.channel).expect("something is behind it");
        let port = next.channel - self.fabric.outputs(router).start;
        self.row(from).start + port as usize * self.vcs + usize::from(next.vc)
    }

    /// The numbers of the dependencies of a virtual channel on the next ones.
    fn row(&self, from: VirtualChannel) -> std::ops::Range<usize> {
        let channel = from.channel as usize;
        let ports = self.before[channel + 1] - self.before[channel];
        let rows = self.before[channel] * self.vcs + usize::from(from.vc) * ports;
        let start = rows * self.vcs;
        start..start + ports * self.vcs
    }

    /// Number of dependencies, by the number of the first virtual channel.
    fn by_vc(&self, bits: &[u64]) -> Vec<u64> {
        let of_vc = |vc: u8| {
            let rows = (0..self.fabric.channel_slots())
                .flat_map(move |channel| self.row(VirtualChannel { channel, vc }));
            rows.filter(|&bit| is_set(bits, bit)).count() as u64
        };
        (0..narrow(self.vcs)).map(of_vc).collect()
    }

    /// A cycle of virtual channels; `None` if there is none.
    fn cycle(&self, bits: &[u64]) -> Option<Vec<VirtualChannel>> {
        let vcs: u32 = narrow(self.vcs);
        let place =
            |vertex: u32| VirtualChannel { channel: vertex / vcs, vc: narrow(vertex % vcs) };
        let successors = |vertex: u32| {
            let from = place(vertex);
            let row = self.row(from);
            let start = row.start;
            let first =
                self.fabric.target(from.channel).map(|next| self.fabric.outputs(next).start);
            row.filter(|&bit| is_set(bits, bit))
                .filter_map(move |bit| first.map(|first| first * vcs + narrow::<u32>(bit - start)))
        };
        let count = narrow(self.fabric.channel_slots() as usize * self.vcs);
        let cycle = cycle::any(count, &successors)?;
        Some(cycle.into_iter().map(place).collect())
    }
}

fn is_set(bits: &[u64], bit: usize) -> bool {
    bits[bit / 64] >> (bit % 64) & 1 == 1
}

/// Knowledge about a router's way to the present destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Unknown,
    /// The present walk came through the router.
    Walked,
    Leads,
    /// The way ends at this router.
    Ends(u32),
    /// The way has a loop.
    Circles,
}

/// The walk of packets through the routers, and its findings.
struct Walk<'a> {
    fabric: &'a Fabric,
    table: &'a ForwardingTable,
    dependencies: &'a Dependencies<'a>,
    /// The ways of the routers.
    ways: Vec<Way>,
    /// By channel and virtual channel: the classes of packets that have been followed from there, a
    /// bit each.
    seen: Vec<u16>,
    touched: Vec<usize>,
    bits: Vec<u64>,
    /// The virtual channels that packets use, a bit each.
    vcs: u32,
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
            seen: vec![0; fabric.channel_slots() as usize * dependencies.vcs],
            touched: Vec::new(),
            bits: vec![0; dependencies.words()],
            vcs: 0,
            pairs: 0,
            flaws: Vec::new(),
        }
    }

    fn merge(mut self, other: Self) -> Self {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
        self.vcs |= other.vcs;
        self.pairs += other.pairs;
        self.flaws.extend(other.flaws);
        self
    }

    /// Follows packets from all other terminals to one.
    fn follow_all(&mut self, senders: &[(u32, Vec<u32>)], terminal: u32) {
        let end = self.fabric.terminal_router(terminal).expect("live terminals only");
        let delivered = self.table.delivers(terminal);
        self.ways.fill(Way::Unknown);
        self.ways[end as usize] = if delivered { Way::Leads } else { Way::Ends(end) };
        for place in self.touched.drain(..) {
            self.seen[place] = 0;
        }
        for (source, terminals) in senders {
            let source = *source;
            let others = terminals.iter().filter(|&&other| other != terminal).count() as u64;
            if others == 0 {
                continue;
            }
            match self.way(source, terminal) {
                Way::Leads if source == end => self.pairs += others,
                Way::Leads => self.follow_from(source, terminals, terminal),
                Way::Ends(at) => {
                    self.flaws.push(ForwardingFlaw::Missing { source, terminal, at });
                }
                _ => {}
            }
        }
    }

    /// Follows packets from a router's terminals to a terminal of another router. On most routers
    /// all terminals have one class, and so one way.
    fn follow_from(&mut self, source: u32, terminals: &[u32], terminal: u32) {
        let mut known = None;
        for &sender in terminals {
            let class = self.table.class(self.fabric, sender, terminal);
            let dropped = match known {
                Some((before, dropped)) if before == class => dropped,
                _ => self.dropped(source, terminal, class),
            };
            match dropped {
                None => self.pairs += 1,
                Some(at) => {
                    self.flaws.push(ForwardingFlaw::Discarded { source: sender, terminal, at });
                }
            }
            if dropped.is_none() && known.is_none_or(|(before, _)| before != class) {
                self.follow(source, terminal, class);
            }
            known = Some((class, dropped));
        }
    }

    /// The end of a router's packets for this terminal.
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

    /// The next virtual channel of a packet of this class. The packet has taken `before`, or is at
    /// its first router, `source`. `None` if it has arrived.
    fn next(
        &self,
        source: u32,
        before: Option<VirtualChannel>,
        terminal: u32,
        class: u8,
    ) -> Option<VirtualChannel> {
        let at = match before {
            Some(before) => self.fabric.target(before.channel)?,
            None => source,
        };
        if self.fabric.terminal_router(terminal) == Some(at) {
            return None;
        }
        let first = self.fabric.outputs(at).start;
        let port = self.table.port(at, terminal)?;
        let input = before.and_then(|before| self.fabric.opposite(before.channel));
        let input = input.map(|back| narrow(back - first));
        let vc = self.table.vc(at, terminal, class, input, port);
        Some(VirtualChannel { channel: first + u32::from(port), vc })
    }

    /// The router that drops a packet on its way to the terminal; `None` if none does.
    fn dropped(&self, source: u32, terminal: u32, class: u8) -> Option<u32> {
        if !self.dependencies.may_discard {
            return None;
        }
        let first = self.next(source, None, terminal, class);
        let mut places =
            iter::successors(first, |&place| self.next(source, Some(place), terminal, class));
        let place = places.find(|place| self.table.discards(place.vc))?;
        Some(self.fabric.source(place.channel))
    }

    /// Notes the dependencies of a packet from a router to the terminal, up to a virtual channel
    /// from which an equal packet has been followed before.
    fn follow(&mut self, source: u32, terminal: u32, class: u8) {
        let mut before: Option<VirtualChannel> = None;
        while let Some(next) = self.next(source, before, terminal, class) {
            self.vcs |= 1 << next.vc;
            if let Some(before) = before {
                let bit = self.dependencies.number(before, next);
                self.bits[bit / 64] |= 1 << (bit % 64);
            }
            let place = next.channel as usize * self.dependencies.vcs + usize::from(next.vc);
            if self.seen[place] == 0 {
                self.touched.push(place);
            }
            if self.seen[place] >> class & 1 == 1 {
                return;
            }
            self.seen[place] |= 1 << class;
            before = Some(next);
        }
    }
}
