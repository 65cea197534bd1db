//! The collective subnetwork: docs/model.md, "Collective subnetwork".
//!
//! Each router has a reduction unit, which takes operands flit by flit and makes results flit by
//! flit. A packet that goes down stays where it is until its last copy has been sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    CompletedMessage, DOWN_CHANNEL, DeliveredPacket, MAX_VIRTUAL_CHANNELS, Parameters, Switching,
    UP_CHANNEL,
};
use flitlab_fabric::Fabric;
use flitlab_workload::traffic::{CollectiveKind, CollectiveSpec};

use super::{
    Place, Simulator,
    channel::OutputName,
    network::{Channel, Hold, Sending, Source},
    packet::{Packet, flits_of},
    router::Request,
    tree::Tree,
};

/// The class of the messages of collective operations, beside one workload more.
pub const CLASS: u8 = 1;

const UP: usize = UP_CHANNEL as usize;
const DOWN: usize = DOWN_CHANNEL as usize;

/// Collective operations, and how far they have come.
pub struct Collective {
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
    /// By router.
    units: Vec<Unit>,
    /// By terminal, operation and number: how often a packet has been delivered.
    delivered: BTreeMap<(u32, u32, u32), u32>,
}

/// A router's reduction unit.
#[derive(Default)]
struct Unit {
    /// By channel: the operand that is being taken.
    taking: BTreeMap<usize, Taking>,
    /// By number: the operands of results that are not made.
    operands: BTreeMap<u64, Vec<Operand>>,
    /// The result that is made next or is being made, and its flits so far.
    making: u64,
    made: u32,
    /// From when on the unit can make another flit.
    free_from: Picoseconds,
    /// Results that wait to leave, upwards and downwards.
    results: [VecDeque<Combined>; 2],
    /// The result that is being sent upwards.
    upwards: Option<Copies>,
    /// The first result that has not left, and those behind it that have.
    next: u64,
    left: BTreeSet<u64>,
    /// The number of the packet that goes down next, or that is being sent.
    down: u64,
    downwards: Option<Copies>,
}

/// An operand of which some flits have been taken.
struct Taking {
    number: u64,
    packet: usize,
    taken: u32,
    latest: Picoseconds,
}

/// An operand, and when its flits were taken.
struct Operand {
    channel: usize,
    packet: usize,
    flits: Vec<Picoseconds>,
}

/// A result, and from when on its flits are there.
struct Combined {
    number: u64,
    packet: usize,
    /// Whether it goes on when its last flit is there.
    whole: bool,
    flits: Vec<Picoseconds>,
}

/// Where a packet lies that is sent along a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Buffer(usize),
    Unit,
}

/// A packet that is being sent along a tree.
struct Copies {
    packet: usize,
    origin: Origin,
    /// Outputs that have not been granted, that are held, and whose copies have not been sent.
    wanted: Vec<usize>,
    held: Vec<usize>,
    sending: usize,
    /// The input virtual channel that has asked.
    input_vc: usize,
}

impl Collective {
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
            units: (0..fabric.routers()).map(|_| Unit::default()).collect(),
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

    /// A packet's number among those that pass a router.
    fn number(&self, router: usize, (operation, packet): (u32, u32)) -> u64 {
        let before = (0..operation).filter(|&it| self.tree(it).spans[router]).count();
        (before * self.packets.len()) as u64 + u64::from(packet)
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

    /// Panics if anything is left anywhere.
    pub fn check_idle(&self) {
        assert_eq!(self.missing(), 0);
        assert!(self.ends.is_empty() && self.entries.is_empty());
        for unit in &self.units {
            assert!(unit.taking.is_empty() && unit.operands.is_empty() && unit.left.is_empty());
            assert!(unit.results.iter().all(VecDeque::is_empty));
            assert!(unit.upwards.is_none() && unit.downwards.is_none());
        }
        let all = |counts: &[u32]| {
            self.members.iter().all(|&member| counts[member as usize] == self.spec.rounds)
        };
        assert!(all(&self.begun) && all(&self.done), "all operations are done for everybody");
    }
}

impl Channel {
    /// Whether flits are being sent on it.
    fn is_sending(&self) -> bool {
        self.sending.is_some() || self.link.as_ref().is_some_and(|it| it.acknowledging.is_some())
    }
}

impl Simulator<'_> {
    /// Whether a virtual channel is the collective subnetwork's.
    pub fn is_on_tree(&self, virtual_channel: usize) -> bool {
        self.collective.is_some() && (virtual_channel == UP || virtual_channel == DOWN)
    }

    fn operations(&mut self) -> &mut Collective {
        self.collective.as_mut().expect("there are operations")
    }

    /// Begins operations, and puts their messages into queues.
    pub fn begin_operations(&mut self, now: Picoseconds) {
        let Some(collective) = &mut self.collective else { return };
        for terminal in collective.ends.remove(&now).unwrap_or_default() {
            collective.done[terminal as usize] += 1;
        }
        if now >= collective.spec.start {
            let enters = now + self.parameters.send_overhead;
            for member in collective.members.clone() {
                let place = member as usize;
                let most = collective.spec.rounds;
                while collective.begun[place] < most
                    && collective.begun[place]
                        < collective.done[place] + collective.spec.outstanding
                {
                    let operation = collective.begun[place];
                    collective.begun[place] += 1;
                    if collective.sends(member, operation) {
                        let entries = collective.entries.entry(enters).or_default();
                        entries.push((member, operation));
                        self.due.insert(enters);
                    }
                }
            }
        }
        for (terminal, operation) in collective.entries.remove(&now).unwrap_or_default() {
            let goes_up = collective.spec.kind != CollectiveKind::Broadcast;
            let virtual_channel = if goes_up { UP } else { DOWN };
            let queues = &mut self.adapters[terminal as usize][0];
            for (number, &payload) in (0..).zip(&collective.packets) {
                queues.waiting[virtual_channel].push_back(self.packets.len());
                self.packets.push(Packet {
                    payload: payload as u32,
                    flits: flits_of(self.parameters, payload),
                    created: now,
                    operation: Some((operation, number)),
                    given: BTreeSet::from([terminal]),
                    ..Packet::new(terminal, collective.tree(operation).root)
                });
            }
        }
    }

    /// The last flit of a packet has left its adapter.
    pub fn operand_left(&mut self, packet: usize, now: Picoseconds) {
        let &Packet { source, operation, .. } = &self.packets[packet];
        let (operation, number) = operation.expect("it is one");
        let collective = self.operations();
        let is_last = number as usize + 1 == collective.packets.len();
        if is_last && !collective.receives(source, operation) {
            collective.ends.entry(now).or_default().push(source);
        }
    }

    /// A packet has come to a terminal.
    pub fn arrive(&mut self, packet: usize, now: Picoseconds) {
        let terminal = self.packets[packet].ejected_to.expect("it was sent to one");
        let of = &self.packets[packet];
        let (operation, number) = of.operation.expect("it is one");
        let completed = now + self.parameters.receive_overhead;
        self.terminals.log.packets.push(DeliveredPacket {
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
        let (source, created) = (of.source, of.created - self.parameters.send_overhead);
        let collective = self.collective.as_mut().expect("there are operations");
        if collective.spec.kind != CollectiveKind::Broadcast {
            let all: BTreeSet<u32> = collective.members.iter().copied().collect();
            assert_eq!(of.given, all, "a result has everybody's operand");
        }
        *collective.delivered.entry((terminal, operation, number)).or_default() += 1;
        if number as usize + 1 < collective.packets.len() {
            return;
        }
        collective.ends.entry(completed).or_default().push(terminal);
        self.due.insert(completed);
        self.terminals.log.messages.push(CompletedMessage {
            class: CLASS,
            source,
            destination: terminal,
            bytes: collective.spec.message.0,
            is_control: false,
            created,
            completed,
        });
    }

    /// Lets the reduction units take operands and make results.
    pub fn combine(&mut self, now: Picoseconds) {
        if self.collective.is_none() {
            return;
        }
        for router in 0..self.routers.len() {
            for channel in self.routers[router].inputs.clone() {
                self.take_operand(router, channel, now);
            }
            self.make_results(router, now);
        }
    }

    /// Takes the next flit of an operand, if its time has come.
    fn take_operand(&mut self, router: usize, channel: usize, now: Picoseconds) {
        let flit_time = self.parameters.combining_flit_time();
        if !self.operations().units[router].taking.contains_key(&channel) {
            let place = Place { channel, virtual_channel: UP };
            let Some(packet) = self.asking(place, now) else { return };
            let operation = self.packets[packet].operation.expect("it is one");
            let open = u64::from(self.parameters.collective.open_operations);
            let collective = self.operations();
            let number = collective.number(router, operation);
            let unit = &mut collective.units[router];
            if number >= unit.next + open {
                return;
            }
            unit.taking.insert(channel, Taking { number, packet, taken: 0, latest: now });
            let operand = Operand { channel, packet, flits: Vec::new() };
            unit.operands.entry(number).or_default().push(operand);
        }
        let collective = self.collective.as_mut().expect("there are operations");
        let unit = &mut collective.units[router];
        let taking = unit.taking.get_mut(&channel).expect("it was put there");
        let flits = self.packets[taking.packet].flits;
        let buffer = &mut self.channels[channel].buffers[UP];
        if taking.taken > 0 && now < taking.latest + flit_time {
            return;
        }
        if taking.taken == flits {
            unit.taking.remove(&channel);
            buffer.departed = 0;
            let last = buffer.latest.expect("flits have been taken");
            self.return_room(channel, last, now);
            return self.take_operand(router, channel, now);
        }
        let next = (taking.packet, taking.taken);
        if buffer.flits.front().is_some_and(|(_, it)| (it.packet, it.index) == next) {
            buffer.latest = buffer.flits.pop_front().map(|(_, flit)| flit);
            buffer.departed += 1;
            (taking.taken, taking.latest) = (taking.taken + 1, now);
            let operands = unit.operands.get_mut(&taking.number).expect("it is not made");
            let operand = operands.iter_mut().find(|it| it.channel == channel);
            operand.expect("it is being taken").flits.push(now);
            self.due.insert(now + flit_time);
        }
    }

    /// Makes the flits of results whose time has come.
    fn make_results(&mut self, router: usize, now: Picoseconds) {
        let flit_time = self.parameters.combining_flit_time();
        let (latency, whole) = (
            self.parameters.collective.combining_latency,
            self.parameters.switching == Switching::StoreAndForward,
        );
        loop {
            let collective = self.collective.as_mut().expect("there are operations");
            let unit = &mut collective.units[router];
            let Some(operands) = unit.operands.get(&unit.making) else { return };
            let first = self.packets[operands[0].packet].clone();
            let operation = first.operation.expect("it is one");
            let tree = &collective.trees[operation.0 as usize % collective.trees.len()];
            let flit = unit.made as usize;
            let have_it = operands.iter().all(|it| it.flits.len() > flit);
            let all = tree.children[router].len() + tree.members[router].len();
            if operands.len() < all || !have_it || now < unit.free_from {
                return;
            }
            let at_root = tree.parent[router].is_none();
            let turns = at_root && collective.spec.kind != CollectiveKind::Reduce;
            let results = &mut unit.results[usize::from(turns)];
            if unit.made == 0 {
                let mut result = first.clone();
                result.given.clear();
                for operand in operands {
                    let own = &self.packets[operand.packet];
                    result.hops = result.hops.max(own.hops);
                    result.created = result.created.min(own.created);
                    result.injected = result.injected.min(own.injected);
                    let before = result.given.len();
                    result.given.extend(&own.given);
                    let sum = before + own.given.len();
                    assert_eq!(result.given.len(), sum, "each operand counts once");
                }
                result.source = tree.root;
                let all = u64::from(operation.0) * collective.packets.len() as u64;
                result.sequence = (all + u64::from(operation.1)) as u32;
                results.push_back(Combined {
                    number: unit.making,
                    packet: self.packets.len(),
                    whole: whole && operands.len() > 1,
                    flits: Vec::new(),
                });
                self.packets.push(result);
            }
            let there = now + if operands.len() > 1 { latency } else { Picoseconds::ZERO };
            results.back_mut().expect("it was put there").flits.push(there);
            unit.free_from = now + flit_time;
            unit.made += 1;
            self.due.extend([there, unit.free_from]);
            if unit.made == first.flits {
                unit.operands.remove(&unit.making);
                (unit.making, unit.made) = (unit.making + 1, 0);
            }
        }
    }

    /// The requests of packets that go along trees: by input virtual channel, those of the unit
    /// behind the last one of the first port.
    pub fn requests_on_trees(&mut self, router: usize, now: Picoseconds) -> Vec<(usize, Request)> {
        if self.collective.is_none() {
            return Vec::new();
        }
        self.begin_upwards(router, now);
        self.begin_downwards(router, now);
        let behind = self.virtual_channels();
        let unit = &self.collective.as_ref().expect("there are operations").units[router];
        let place = |copies: &Copies, own: usize| match copies.origin {
            Origin::Unit => own,
            Origin::Buffer(channel) => {
                let inputs = &self.routers[router].inputs;
                let port = inputs.iter().position(|&input| input == channel);
                port.expect("it is this router's") * self.places_of_port() + DOWN
            }
        };
        let request = |copies: &Copies, vc: usize| {
            let outputs = copies.wanted.iter().map(|&output| (output, vc)).collect();
            Request::on_tree(copies.packet, outputs)
        };
        let up = unit.upwards.iter().map(|it| (place(it, behind), request(it, UP)));
        let down = unit.downwards.iter().map(|it| (place(it, behind + 1), request(it, DOWN)));
        up.chain(down).filter(|(_, request)| !request.outputs.is_empty()).collect()
    }

    fn output_of(&self, router: usize, name: OutputName) -> usize {
        self.routers[router].output_named(name).expect("trees lead through live outputs")
    }

    /// Whether the first result of a queue may ask.
    fn asks(result: &Combined, flits: u32, now: Picoseconds) -> bool {
        let awaited = if result.whole { flits as usize } else { 1 };
        result.flits.get(awaited - 1).is_some_and(|&there| there <= now)
    }

    fn begin_upwards(&mut self, router: usize, now: Picoseconds) {
        let collective = self.collective.as_ref().expect("there are operations");
        let unit = &collective.units[router];
        let Some(result) = unit.results[0].front().filter(|_| unit.upwards.is_none()) else {
            return;
        };
        if !Self::asks(result, self.packets[result.packet].flits, now) {
            return;
        }
        let operation = self.packets[result.packet].operation.expect("it is one");
        let tree = collective.tree(operation.0);
        let name = match tree.parent[router] {
            Some(port) => OutputName::Port(port),
            None => OutputName::Ejection { terminal: tree.root, number: 0 },
        };
        let packet = result.packet;
        let wanted = vec![self.output_of(router, name)];
        let (origin, held) = (Origin::Unit, Vec::new());
        let copies = Copies { packet, origin, wanted, held, sending: 0, input_vc: 0 };
        self.operations().units[router].upwards = Some(copies);
    }

    fn begin_downwards(&mut self, router: usize, now: Picoseconds) {
        let collective = self.collective.as_ref().expect("there are operations");
        let unit = &collective.units[router];
        if unit.downwards.is_some() {
            return;
        }
        let mut heads = Vec::new();
        for &channel in &self.routers[router].inputs {
            let packet = self.asking(Place { channel, virtual_channel: DOWN }, now);
            heads.extend(packet.map(|packet| (Origin::Buffer(channel), packet)));
        }
        let result = unit.results[1].front();
        let result = result.filter(|it| Self::asks(it, self.packets[it.packet].flits, now));
        heads.extend(result.map(|result| (Origin::Unit, result.packet)));
        let number = |packet: usize| {
            collective.number(router, self.packets[packet].operation.expect("it is one"))
        };
        let Some(&(origin, packet)) = heads.iter().find(|head| number(head.1) == unit.down) else {
            return;
        };
        let operation = self.packets[packet].operation.expect("it is one").0;
        let tree = collective.tree(operation);
        let children = tree.children[router].iter().map(|&port| OutputName::Port(port));
        let own = tree.members[router].iter().copied();
        let own = own.filter(|&terminal| collective.receives(terminal, operation));
        let own = own.map(|terminal| OutputName::Ejection { terminal, number: 0 });
        let wanted = children.chain(own).map(|name| self.output_of(router, name)).collect();
        let held = Vec::new();
        let copies = Copies { packet, origin, wanted, held, sending: 0, input_vc: 0 };
        self.operations().units[router].downwards = Some(copies);
    }

    /// Grants an output to a packet that goes along a tree.
    pub fn grant_on_tree(
        &mut self,
        router: usize,
        input_vc: usize,
        (output, out_vc): (usize, usize),
        now: Picoseconds,
    ) {
        let together = self.parameters.collective.together && out_vc == DOWN;
        let unit = &mut self.operations().units[router];
        let copies = if out_vc == UP { &mut unit.upwards } else { &mut unit.downwards };
        let copies = copies.as_mut().expect("it has asked");
        copies.wanted.retain(|&wanted| wanted != output);
        if together {
            copies.input_vc = input_vc;
            copies.held.push(output);
            let channel = self.routers[router].outputs[output].channel;
            self.channels[channel].hold = Hold::Waits;
            return self.start_held(router, now);
        }
        copies.sending += 1;
        let (packet, origin) = (copies.packet, copies.origin);
        self.start_copy(router, input_vc, (packet, origin), (output, out_vc), now);
    }

    /// Starts all copies of a packet that holds all its outputs, if nothing is sent on any.
    fn start_held(&mut self, router: usize, now: Picoseconds) {
        let unit = &mut self.collective.as_mut().expect("there are operations").units[router];
        let Some(copies) = &mut unit.downwards else { return };
        if copies.held.is_empty() || !copies.wanted.is_empty() {
            return;
        }
        copies.held.sort_unstable();
        let outputs = &self.routers[router].outputs;
        let held: Vec<usize> = copies.held.iter().map(|&it| outputs[it].channel).collect();
        for &channel in &held {
            self.channels[channel].hold = Hold::Starts;
        }
        if held.iter().any(|&channel| self.channels[channel].is_sending()) {
            return;
        }
        copies.sending = held.len();
        let &mut Copies { packet, origin, input_vc, .. } = copies;
        for output in std::mem::take(&mut copies.held) {
            self.start_copy(router, input_vc, (packet, origin), (output, DOWN), now);
        }
    }

    /// Starts copies that have waited for links.
    pub fn start_all_held(&mut self, now: Picoseconds) {
        if self.collective.is_some() {
            (0..self.routers.len()).for_each(|router| self.start_held(router, now));
        }
    }

    fn start_copy(
        &mut self,
        at: usize,
        input_vc: usize,
        (packet, origin): (usize, Origin),
        (output, out_vc): (usize, usize),
        now: Picoseconds,
    ) {
        let mut copy = self.packets[packet].clone();
        copy.virtual_channel = out_vc as u8;
        let all = self.routers[at].inputs.len() * self.places_of_port();
        let router = &mut self.routers[at];
        router.pointer = (output + 1) % router.outputs.len();
        let output = &mut router.outputs[output];
        output.pointer = (input_vc + 1) % all;
        let channel = &mut self.channels[output.channel];
        channel.hold = Hold::No;
        match output.name {
            OutputName::Port(_) => {
                channel.credits[out_vc] -= copy.flits;
                copy.hops += 1;
            }
            OutputName::Ejection { terminal, .. } => copy.ejected_to = Some(terminal),
        }
        let (mut number, mut void_from) = (0, 0);
        if let Some(link) = &mut channel.link {
            (number, void_from) = link.sender.keep(copy.clone(), out_vc);
            link.rooms.insert(number, (out_vc, copy.flits));
        }
        channel.sending = Some(Sending {
            packet: self.packets.len(),
            out_vc,
            from: Source::Tree { router: at, packet, origin },
            started: 0,
            began: now,
            latest_start: now,
            number,
            void_from,
        });
        self.packets.push(copy);
    }

    /// Whether a flit of a packet that goes along a tree is where it is sent from.
    pub fn is_there(
        &self,
        router: usize,
        (packet, origin): (usize, Origin),
        index: u32,
        now: Picoseconds,
    ) -> bool {
        match origin {
            Origin::Buffer(channel) => {
                let flits = &self.channels[channel].buffers[DOWN].flits;
                flits.iter().any(|(_, flit)| (flit.packet, flit.index) == (packet, index))
            }
            Origin::Unit => {
                let collective = self.collective.as_ref().expect("there are operations");
                let mut results = collective.units[router].results.iter().flatten();
                let result = results.find(|result| result.packet == packet);
                let flits = &result.expect("it is kept until it has left").flits;
                flits.get(index as usize).is_some_and(|&there| there <= now)
            }
        }
    }

    /// A copy has been sent. With the last one the packet leaves where it was.
    pub fn copy_left(&mut self, router: usize, out_vc: usize, now: Picoseconds) {
        let unit = &mut self.operations().units[router];
        let place = if out_vc == UP { &mut unit.upwards } else { &mut unit.downwards };
        let copies = place.as_mut().expect("it was sent");
        copies.sending -= 1;
        if copies.sending > 0 || !copies.wanted.is_empty() || !copies.held.is_empty() {
            return;
        }
        let Copies { packet, origin, .. } = place.take().expect("it was sent");
        unit.down += u64::from(out_vc == DOWN);
        match origin {
            Origin::Unit => {
                let result = unit.results[usize::from(out_vc == DOWN)].pop_front();
                let result = result.filter(|result| result.packet == packet);
                unit.left.insert(result.expect("results leave in order").number);
                while unit.left.remove(&unit.next) {
                    unit.next += 1;
                }
            }
            Origin::Buffer(channel) => {
                let flits = self.packets[packet].flits as usize;
                let buffer = &mut self.channels[channel].buffers[DOWN].flits;
                let last = buffer.drain(..flits).next_back().expect("packets have flits").1;
                assert_eq!((last.packet, last.index as usize + 1), (packet, flits));
                self.return_room(channel, last, now);
            }
        }
    }

    /// Input virtual channels of a port, with the places of the reduction unit behind them.
    pub fn places_of_port(&self) -> usize {
        self.virtual_channels() + 2
    }

    /// The number by which random arbitration knows an input virtual channel.
    pub fn drawn_place(&self, input_vc: usize) -> (usize, usize) {
        let (port, place) = (input_vc / self.places_of_port(), input_vc % self.places_of_port());
        let behind = place.checked_sub(self.virtual_channels());
        (port, behind.map_or(place, |unit| usize::from(MAX_VIRTUAL_CHANNELS) + unit))
    }
}
