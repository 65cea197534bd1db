//! Operations of the collective subnetwork, as far as they are the same in both models of links: who
//! begins which one when, what routers combine and where results and copies go (docs/model.md,
//! "Collective subnetwork").

use std::collections::{BTreeMap, BTreeSet};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    CompletedMessage, DOWN_CHANNEL, DeliveredPacket, Log, Parameters, UP_CHANNEL,
};
use flitlab_fabric::Fabric;
use flitlab_model::workload::{CollectiveKind, CollectiveSpec};

use super::{
    channel::OutputName,
    packet::{Packet, flits_of},
    tree::Tree,
};

/// The class of the messages of collective operations, beside one workload more.
pub const CLASS: u8 = 1;

/// The virtual channels up and down the trees.
pub const UP: usize = UP_CHANNEL as usize;
pub const DOWN: usize = DOWN_CHANNEL as usize;

/// Collective operations, and by router what its reduction unit does for them.
pub struct Collective<U> {
    pub operations: Operations,
    pub units: Vec<U>,
}

impl<U: Default> Collective<U> {
    pub fn new(fabric: &Fabric, parameters: &Parameters, spec: &CollectiveSpec) -> Self {
        let operations = Operations::new(fabric, parameters, spec);
        Self { operations, units: (0..fabric.routers()).map(|_| U::default()).collect() }
    }
}

/// Collective operations, and how far they have come.
pub struct Operations {
    spec: CollectiveSpec,
    members: Vec<u32>,
    trees: Vec<Tree>,
    /// Payloads of the packets of a message.
    packets: Vec<u64>,
    /// By terminal: operations that it has begun, and that are done for it.
    begun: Vec<u32>,
    done: Vec<u32>,
    /// The terminals for which an operation will be done, by time.
    ends: BTreeMap<Picoseconds, Vec<u32>>,
    /// Messages that will enter queues, by time: terminals and operations.
    entries: BTreeMap<Picoseconds, Vec<(u32, u32)>>,
    /// By terminal, operation and number: how often a packet has been delivered.
    delivered: BTreeMap<(u32, u32, u32), u32>,
}

impl Operations {
    pub fn new(fabric: &Fabric, parameters: &Parameters, spec: &CollectiveSpec) -> Self {
        let live: Vec<u32> = fabric.live_terminals().collect();
        let takes_part = |it: &u32| spec.members.is_empty() || spec.members.contains(it);
        let members: Vec<u32> = live.into_iter().filter(takes_part).collect();
        let roots = if spec.roots.is_empty() { vec![members[0]] } else { spec.roots.clone() };
        let trees = roots.iter().map(|&root| Tree::new(fabric, root, &members)).collect();
        let terminals = fabric.terminals() as usize;
        let mut packets = Vec::new();
        let mut rest = spec.message.0;
        while rest > 0 || packets.is_empty() {
            packets.push(rest.min(parameters.maximum_payload.0));
            rest -= packets[packets.len() - 1];
        }
        Self {
            spec: spec.clone(),
            members,
            trees,
            packets,
            begun: vec![0; terminals],
            done: vec![0; terminals],
            ends: BTreeMap::new(),
            entries: BTreeMap::new(),
            delivered: BTreeMap::new(),
        }
    }

    /// When the first operation begins.
    pub fn begins(&self) -> Picoseconds {
        self.spec.start
    }

    fn tree(&self, operation: u32) -> &Tree {
        &self.trees[operation as usize % self.trees.len()]
    }

    fn sends(&self, terminal: u32, operation: u32) -> bool {
        self.spec.kind != CollectiveKind::Broadcast || self.tree(operation).root == terminal
    }

    fn receives(&self, terminal: u32, operation: u32) -> bool {
        let is_root = self.tree(operation).root == terminal;
        self.members.contains(&terminal)
            && match self.spec.kind {
                CollectiveKind::Broadcast => !is_root,
                CollectiveKind::Reduce => is_root,
                CollectiveKind::AllReduce | CollectiveKind::Barrier => true,
            }
    }

    /// A packet's number among those that pass a router.
    pub fn number(&self, router: usize, packet: &Packet) -> u64 {
        let (operation, of_message) = packet.operation.expect("it is one");
        let before = (0..operation).filter(|&it| self.tree(it).spans[router]).count();
        (before * self.packets.len()) as u64 + u64::from(of_message)
    }

    /// How many operands a packet's result has at a router.
    pub fn operands(&self, router: usize, packet: &Packet) -> usize {
        let tree = self.tree(packet.operation.expect("it is one").0);
        tree.children[router].len() + tree.members[router].len()
    }

    /// Whether a packet's result at a router goes down from there.
    pub fn turns(&self, router: usize, packet: &Packet) -> bool {
        let tree = self.tree(packet.operation.expect("it is one").0);
        tree.parent[router].is_none() && self.spec.kind != CollectiveKind::Reduce
    }

    /// By which output of a router a packet goes up.
    pub fn way_up(&self, router: usize, packet: &Packet) -> OutputName {
        let tree = self.tree(packet.operation.expect("it is one").0);
        match tree.parent[router] {
            Some(port) => OutputName::Port(port),
            None => OutputName::Ejection { terminal: tree.root, number: 0 },
        }
    }

    /// By which outputs of a router a packet goes down.
    pub fn ways_down(&self, router: usize, packet: &Packet) -> Vec<OutputName> {
        let operation = packet.operation.expect("it is one").0;
        let tree = self.tree(operation);
        let children = tree.children[router].iter().map(|&port| OutputName::Port(port));
        let own = tree.members[router].iter().copied();
        let own = own.filter(|&terminal| self.receives(terminal, operation));
        children.chain(own.map(|terminal| OutputName::Ejection { terminal, number: 0 })).collect()
    }

    /// The result of some operands.
    pub fn result<'a>(&self, operands: impl IntoIterator<Item = &'a Packet>) -> Packet {
        let mut operands = operands.into_iter();
        let mut result = operands.next().expect("there are operands").clone();
        for own in operands {
            result.hops = result.hops.max(own.hops);
            result.created = result.created.min(own.created);
            result.injected = result.injected.min(own.injected);
            let sum = result.given.len() + own.given.len();
            result.given.extend(&own.given);
            assert_eq!(result.given.len(), sum, "each operand counts once");
        }
        let (operation, of_message) = result.operation.expect("it is one");
        result.source = self.tree(operation).root;
        let all = u64::from(operation) * self.packets.len() as u64;
        result.sequence = (all + u64::from(of_message)) as u32;
        result
    }

    /// Begins operations. Returns the virtual channel and the packets that enter source queues now,
    /// and the times at which others will.
    pub fn begin(
        &mut self,
        parameters: &Parameters,
        now: Picoseconds,
    ) -> (usize, Vec<Packet>, Option<Picoseconds>) {
        for terminal in self.ends.remove(&now).unwrap_or_default() {
            self.done[terminal as usize] += 1;
        }
        let enters = now + parameters.send_overhead;
        let mut due = None;
        if now >= self.spec.start {
            for member in self.members.clone() {
                let place = member as usize;
                let most = self.spec.rounds;
                while self.begun[place] < most
                    && self.begun[place] < self.done[place] + self.spec.outstanding
                {
                    let operation = self.begun[place];
                    self.begun[place] += 1;
                    if self.sends(member, operation) {
                        self.entries.entry(enters).or_default().push((member, operation));
                        due = Some(enters);
                    }
                }
            }
        }
        let mut packets = Vec::new();
        for (terminal, operation) in self.entries.remove(&now).unwrap_or_default() {
            packets.extend((0..).zip(&self.packets).map(|(number, &payload)| Packet {
                payload: payload as u32,
                flits: flits_of(parameters, payload),
                created: now,
                operation: Some((operation, number)),
                given: BTreeSet::from([terminal]),
                ..Packet::new(terminal, self.tree(operation).root)
            }));
        }
        let goes_up = self.spec.kind != CollectiveKind::Broadcast;
        (if goes_up { UP } else { DOWN }, packets, due)
    }

    /// The last flit of a packet has left its adapter.
    pub fn leave(&mut self, packet: &Packet, now: Picoseconds) {
        let (operation, number) = packet.operation.expect("it is one");
        let is_last = number as usize + 1 == self.packets.len();
        if is_last && !self.receives(packet.source, operation) {
            self.ends.entry(now).or_default().push(packet.source);
        }
    }

    /// A packet has come to a terminal. Returns when an operation is done by that.
    pub fn arrive(
        &mut self,
        of: &Packet,
        parameters: &Parameters,
        log: &mut Log,
        now: Picoseconds,
    ) -> Option<Picoseconds> {
        let terminal = of.ejected_to.expect("it was sent to one");
        let (operation, number) = of.operation.expect("it is one");
        let completed = now + parameters.receive_overhead;
        log.packets.push(DeliveredPacket {
            class: CLASS,
            source: of.source,
            destination: terminal,
            sequence: of.sequence,
            injection_channel: 0,
            virtual_channel: of.virtual_channel,
            flits: of.flits,
            payload: of.payload,
            hops: of.hops as u32,
            misroute: None,
            created: of.created,
            injected: of.injected,
            delivered: now,
        });
        if self.spec.kind != CollectiveKind::Broadcast {
            let all: BTreeSet<u32> = self.members.iter().copied().collect();
            assert_eq!(of.given, all, "a result has everybody's operand");
        }
        *self.delivered.entry((terminal, operation, number)).or_default() += 1;
        if number as usize + 1 < self.packets.len() {
            return None;
        }
        self.ends.entry(completed).or_default().push(terminal);
        log.messages.push(CompletedMessage {
            class: CLASS,
            source: of.source,
            destination: terminal,
            bytes: self.spec.message.0,
            is_control: false,
            created: of.created - parameters.send_overhead,
            completed,
        });
        Some(completed)
    }

    /// What has come less often than it should, and operations that have not begun.
    pub fn missing(&self) -> usize {
        let mut missing = 0;
        for &terminal in &self.members {
            for operation in 0..self.spec.rounds {
                for packet in 0..self.packets.len() as u32 {
                    let times = self.delivered.get(&(terminal, operation, packet));
                    let times = times.copied().unwrap_or_default();
                    let due = u32::from(self.receives(terminal, operation));
                    assert!(times <= due, "a packet comes once, to those that receive it");
                    missing += (due - times) as usize;
                }
            }
        }
        missing
    }

    /// How many packets have been delivered.
    pub fn count(&self) -> usize {
        self.delivered.values().map(|&times| times as usize).sum()
    }

    /// Panics if anything is left.
    pub fn check_idle(&self) {
        assert_eq!(self.missing(), 0);
        assert!(self.ends.is_empty() && self.entries.is_empty());
        let all = |counts: &[u32]| {
            self.members.iter().all(|&member| counts[member as usize] == self.spec.rounds)
        };
        assert!(all(&self.begun) && all(&self.done), "all operations are done for everybody");
    }
}
