//! The collective subnetwork: docs/model.md, "Collective subnetwork".
//!
//! Each router has a reduction unit, which takes operands flit by flit and makes results flit by
//! flit. A packet that goes down stays where it is until its last copy has been sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{MAX_VIRTUAL_CHANNELS, Switching};

use crate::shared::{
    channel::OutputName,
    network::Place,
    operations::{Collective, DOWN, UP},
};

use super::{
    Simulator,
    network::{Channel, Hold, Sending, Source},
    router::Request,
};

/// A router's reduction unit.
#[derive(Default)]
pub struct Unit {
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

impl Unit {
    /// Panics if anything is left.
    pub fn check_empty(&self) {
        assert!(self.taking.is_empty() && self.operands.is_empty() && self.left.is_empty());
        assert!(self.results.iter().all(VecDeque::is_empty));
        assert!(self.upwards.is_none() && self.downwards.is_none());
    }
}

impl Channel {
    /// Whether flits are being sent on it.
    fn is_sending(&self) -> bool {
        self.sending.is_some() || self.link.as_ref().is_some_and(|it| it.acknowledging.is_some())
    }
}

impl Simulator<'_> {
    /// The last flit of a packet has left its adapter.
    pub fn operand_left(&mut self, packet: usize, now: Picoseconds) {
        let collective = self.collective.as_mut().expect("there are operations");
        collective.operations.leave(&self.packets[packet], now);
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
        if !self.unit(router).taking.contains_key(&channel) {
            let place = Place { channel, virtual_channel: UP };
            let Some(packet) = self.asking(place, now) else { return };
            let open = u64::from(self.parameters.collective.open_operations);
            let Collective { operations, units } =
                self.collective.as_mut().expect("there are operations");
            let number = operations.number(router, &self.packets[packet]);
            let unit = &mut units[router];
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
            let first = &self.packets[operands[0].packet];
            let flit = unit.made as usize;
            let have_it = operands.iter().all(|it| it.flits.len() > flit);
            let all = collective.operations.operands(router, first);
            if operands.len() < all || !have_it || now < unit.free_from {
                return;
            }
            let turns = collective.operations.turns(router, first);
            let flits = first.flits;
            let results = &mut unit.results[usize::from(turns)];
            if unit.made == 0 {
                let own = operands.iter().map(|operand| &self.packets[operand.packet]);
                let result = collective.operations.result(own);
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
            if unit.made == flits {
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
        let packet = result.packet;
        let name = collective.operations.way_up(router, &self.packets[packet]);
        let wanted = vec![self.output_of(router, name)];
        let (origin, held) = (Origin::Unit, Vec::new());
        let copies = Copies { packet, origin, wanted, held, sending: 0, input_vc: 0 };
        self.unit(router).upwards = Some(copies);
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
        let number = |packet: usize| collective.operations.number(router, &self.packets[packet]);
        let Some(&(origin, packet)) = heads.iter().find(|head| number(head.1) == unit.down) else {
            return;
        };
        let ways = collective.operations.ways_down(router, &self.packets[packet]);
        let wanted = ways.into_iter().map(|name| self.output_of(router, name)).collect();
        let held = Vec::new();
        let copies = Copies { packet, origin, wanted, held, sending: 0, input_vc: 0 };
        self.unit(router).downwards = Some(copies);
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
        let unit = self.unit(router);
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
        self.own.pointers[at] = (output + 1) % router.outputs.len();
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
        let unit = self.unit(router);
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
