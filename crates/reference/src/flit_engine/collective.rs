//! The collective subnetwork: docs/model.md, "Trees with links shared flit by flit".
//!
//! A router has ports for its reduction unit: one for results, and one for the copies at each of its
//! outputs. What is in their queues asks as packets in any other port do. An operand stays in its
//! queue until its last flit has been taken, and a packet that goes down until its last copy has
//! left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;

use crate::shared::{
    channel::{ChannelKind, Moving, OutputName},
    operations::{Collective, DOWN, UP},
};

use super::{
    Simulator,
    network::Flit,
    queue::Queue,
    way::{OutputVc, Place},
};

/// A router's reduction unit.
#[derive(Default)]
pub struct Unit {
    /// By port: the operand that is being taken.
    taking: BTreeMap<usize, Operand>,
    /// By number: the operands of results that are not made.
    operands: BTreeMap<u64, Vec<Operand>>,
    /// The result that is made next or is being made, and its flits so far.
    making: u64,
    made: u32,
    /// The packet that this result is.
    result: usize,
    /// From when on the unit can make another flit.
    free_from: Picoseconds,
    /// Flits of results that are not there yet; those that go up, and those that turn.
    coming: [VecDeque<Moving<Flit>>; 2],
    /// Results that leave, by time: their numbers.
    leaving: BTreeMap<Picoseconds, Vec<u64>>,
    /// The first result that has not left, and those behind it that have.
    next: u64,
    left: BTreeSet<u64>,
    /// The number of the packet that goes down next, and its copies if there are some.
    down: u64,
    copies: Option<Copies>,
}

/// An operand, and when its first flit was taken.
#[derive(Clone, Copy)]
struct Operand {
    packet: usize,
    began: Picoseconds,
}

/// A packet that goes down: the port where it lies, its copies and their ports, how many flits have
/// been copied, how many copies have not left, and when the others have.
struct Copies {
    port: usize,
    packet: usize,
    copies: Vec<(usize, usize)>,
    copied: u32,
    to_leave: usize,
    left_at: Picoseconds,
}

impl Unit {
    /// Panics if anything is left.
    pub fn check_empty(&self) {
        assert!(self.taking.is_empty() && self.operands.is_empty() && self.left.is_empty());
        assert!(self.coming.iter().all(VecDeque::is_empty));
        assert!(self.leaving.is_empty() && self.copies.is_none());
    }
}

impl Simulator<'_> {
    /// The last flit of a packet will have left its adapter at a time.
    pub fn leaves_adapter(&mut self, packet: usize, time: Picoseconds) {
        if let Some(collective) = &mut self.collective
            && self.packets[packet].operation.is_some()
        {
            collective.operations.leave(&self.packets[packet], time);
        }
    }

    /// The port of a unit for results; those for copies follow in the order of outputs.
    fn port_of_results(&self, router: usize) -> usize {
        let is_of_unit = |channel: usize| self.channels[channel].kind == ChannelKind::Unit;
        let inputs = &self.routers[router].inputs;
        inputs.iter().position(|input| is_of_unit(input.channel)).expect("there is a unit")
    }

    fn number(&self, router: usize, packet: usize) -> u64 {
        let collective = self.collective.as_ref().expect("there are operations");
        collective.operations.number(router, &self.packets[packet])
    }

    fn queue_on_tree(&mut self, router: usize, port: usize, virtual_channel: usize) -> &mut Queue {
        let mut queues = self.routers[router].inputs[port].queues.iter_mut();
        queues.find(|queue| queue.virtual_channel == virtual_channel).expect("it has one")
    }

    /// Lets reduction units take operands, make results and copy packets.
    pub fn combine(&mut self, now: Picoseconds) {
        if self.collective.is_none() {
            return;
        }
        for router in 0..self.routers.len() {
            self.end_copies(router, now);
            let unit = self.unit(router);
            unit.left.extend(unit.leaving.remove(&now).unwrap_or_default());
            while unit.left.remove(&unit.next) {
                unit.next += 1;
            }
            for port in self.ports_of_channels(router) {
                self.take_operand(router, port, now);
            }
            self.make_results(router, now);
            self.queue_results(router, now);
            self.copy(router, now);
        }
    }

    /// The input ports at which channels end.
    fn ports_of_channels(&self, router: usize) -> Vec<usize> {
        let inputs = self.routers[router].inputs.iter().enumerate();
        let of_channels = inputs.filter(|it| self.channels[it.1.channel].kind != ChannelKind::Unit);
        of_channels.map(|(port, _)| port).collect()
    }

    /// The head of a port's queue, if all its flits are there and it may ask.
    fn whole(
        &mut self,
        router: usize,
        port: usize,
        virtual_channel: usize,
        now: Picoseconds,
    ) -> Option<usize> {
        let queue = self.queue_on_tree(router, port, virtual_channel);
        let packet = queue.flits.front()?.1.packet;
        let all = queue.flits.iter().filter(|(_, flit)| flit.packet == packet);
        let (free_from, count) = (queue.free_from, all.clone().count());
        let came = all.map(|it| it.0).max().expect("there is one");
        let latency = self.parameters.routing_latency;
        let asks = match self.sharing().routing_at_head {
            true => came.max(free_from) + latency,
            false => (came + latency).max(free_from),
        };
        (count == self.packets[packet].flits as usize && asks <= now).then_some(packet)
    }

    /// Takes a packet out of a queue of a router; its room is free now.
    fn take_out(
        &mut self,
        router: usize,
        port: usize,
        (virtual_channel, packet): (usize, usize),
        now: Picoseconds,
    ) {
        let queue = self.queue_on_tree(router, port, virtual_channel);
        queue.free_from = now;
        let before = queue.flits.len();
        queue.flits.retain(|(_, flit)| flit.packet != packet);
        let flits = before - queue.flits.len();
        assert_eq!(flits, self.packets[packet].flits as usize, "it was whole");
        let channel = &mut self.channels[self.routers[router].inputs[port].channel];
        if channel.kind != ChannelKind::Unit {
            let arrives = now + channel.latency;
            for _ in 0..flits {
                channel.give_back(arrives, virtual_channel);
            }
            self.due.insert(arrives);
        }
        self.due.insert(now + self.parameters.routing_latency);
    }

    /// Ends the operand that has been taken from a port, and begins with the next one.
    fn take_operand(&mut self, router: usize, port: usize, now: Picoseconds) {
        let flit_time = self.parameters.combining_flit_time();
        if let Some(&Operand { packet, began }) = self.unit(router).taking.get(&port) {
            if now < began + flit_time * self.packets[packet].flits.into() {
                return;
            }
            self.unit(router).taking.remove(&port);
            self.take_out(router, port, (UP, packet), now);
        }
        let Some(packet) = self.whole(router, port, UP, now) else { return };
        let number = self.number(router, packet);
        let open = u64::from(self.parameters.collective.open_operations);
        let unit = self.unit(router);
        if number >= unit.next + open {
            return;
        }
        let operand = Operand { packet, began: now };
        unit.taking.insert(port, operand);
        unit.operands.entry(number).or_default().push(operand);
        let flits = u64::from(self.packets[packet].flits);
        self.due.extend((1..=flits).map(|flit| now + flit_time * flit));
    }

    /// Makes the flits of results whose time has come.
    fn make_results(&mut self, router: usize, now: Picoseconds) {
        let flit_time = self.parameters.combining_flit_time();
        loop {
            let Collective { operations, units } =
                self.collective.as_mut().expect("there are operations");
            let unit = &mut units[router];
            let Some(operands) = unit.operands.get(&unit.making) else { return };
            let all = || operands.iter().map(|operand| &self.packets[operand.packet]);
            let first = all().next().expect("there is one");
            let taken = flit_time * unit.made.into();
            let have_it = operands.iter().all(|operand| operand.began + taken <= now);
            if operands.len() < operations.operands(router, first)
                || !have_it
                || now < unit.free_from
            {
                return;
            }
            let (flits, turns) = (first.flits, operations.turns(router, first));
            if unit.made == 0 {
                unit.result = self.packets.len();
                self.packets.push(operations.result(all()));
            }
            let virtual_channel = if turns { DOWN } else { UP };
            let (packet, index) = (unit.result, unit.made);
            let content = Flit { packet, index, virtual_channel, number: 0, is_damaged: false };
            let passes = operands.len() == 1;
            let latency = self.parameters.collective.combining_latency;
            let arrives = now + if passes { Picoseconds::ZERO } else { latency };
            unit.coming[usize::from(turns)].push_back(Moving { arrives, content });
            unit.free_from = now + flit_time;
            unit.made += 1;
            self.due.extend([arrives, unit.free_from]);
            if unit.made == flits {
                unit.operands.remove(&unit.making);
                (unit.making, unit.made) = (unit.making + 1, 0);
            }
        }
    }

    /// Queues the flits of results that are there now.
    fn queue_results(&mut self, router: usize, now: Picoseconds) {
        let port = self.port_of_results(router);
        for turns in [false, true] {
            let coming = &mut self.unit(router).coming[usize::from(turns)];
            // One that passes may be there before one that is combined, but comes behind it.
            let there = coming.iter().take_while(|moving| moving.arrives <= now).count();
            let there: Vec<Flit> = coming.drain(..there).map(|moving| moving.content).collect();
            for flit in there {
                let queue = self.queue_on_tree(router, port, flit.virtual_channel);
                queue.flits.push_back((now, flit));
            }
        }
    }

    /// Copies the packet whose turn it is to go down, as far as its flits are there.
    fn copy(&mut self, router: usize, now: Picoseconds) {
        if self.unit(router).copies.is_none() {
            self.begin_copies(router, now);
        }
        let Some(Copies { port, packet, copied, ref copies, .. }) = self.unit(router).copies else {
            return;
        };
        let copies = copies.clone();
        let queue = self.queue_on_tree(router, port, DOWN);
        let own = queue.flits.iter().map(|it| it.1).filter(|flit| flit.packet == packet);
        let own: Vec<Flit> = own.skip(copied as usize).collect();
        for &flit in &own {
            for &(copy, port) in &copies {
                let queue = self.queue_on_tree(router, port, DOWN);
                queue.flits.push_back((now, Flit { packet: copy, ..flit }));
            }
        }
        self.unit(router).copies.as_mut().expect("it is there").copied += own.len() as u32;
    }

    fn begin_copies(&mut self, router: usize, now: Picoseconds) {
        let results = self.port_of_results(router);
        let mut heads: Vec<(usize, usize)> = Vec::new();
        for port in self.ports_of_channels(router) {
            heads.extend(self.whole(router, port, DOWN, now).map(|packet| (port, packet)));
        }
        let queue = self.queue_on_tree(router, results, DOWN);
        let is_free = queue.free_from <= now;
        let head = queue.flits.front().map(|(_, flit)| flit.packet).filter(|_| is_free);
        if let Some(packet) = head {
            let queue = self.queue_on_tree(router, results, DOWN);
            let there = queue.flits.iter().filter(|(_, flit)| flit.packet == packet).count();
            let awaited =
                if self.forwards_whole() { self.packets[packet].flits as usize } else { 1 };
            heads.extend((there >= awaited).then_some((results, packet)));
        }
        let down = self.unit(router).down;
        let is_next = |head: &&(usize, usize)| self.number(router, head.1) == down;
        let Some(&(port, packet)) = heads.iter().find(is_next) else { return };
        let collective = self.collective.as_ref().expect("there are operations");
        let ways = collective.operations.ways_down(router, &self.packets[packet]);
        let numbers = ways.into_iter().map(|name| name.number(self.fabric, self.parameters));
        let ports = numbers.map(|number| results + 1 + number as usize);
        let copies: Vec<_> = (self.packets.len()..).zip(ports).collect();
        self.packets.extend(vec![self.packets[packet].clone(); copies.len()]);
        let to_leave = copies.len();
        let left_at = Picoseconds::ZERO;
        let copies = Copies { port, packet, copies, copied: 0, to_leave, left_at };
        self.unit(router).copies = Some(copies);
    }

    /// For which virtual channel of which output a packet in a queue of a unit asks.
    pub fn way_on_tree(&self, place: Place, packet: usize) -> OutputVc {
        let Place { router, port, virtual_channel } = place;
        let collective = self.collective.as_ref().expect("there are operations");
        let number = |name: OutputName| name.number(self.fabric, self.parameters) as usize;
        let wanted = match port.checked_sub(self.port_of_results(router) + 1) {
            Some(number) => number,
            None => number(collective.operations.way_up(router, &self.packets[packet])),
        };
        let mut outputs = self.routers[router].outputs.iter();
        let output = outputs.position(|output| number(output.name) == wanted);
        (output.expect("trees lead through live outputs"), virtual_channel)
    }

    /// Whether the packet at the head of a unit's queue asks: results that turn do not.
    pub fn asks_on_tree(&self, queue: &Queue, packet: usize, now: Picoseconds) -> bool {
        let awaited = if self.forwards_whole() { self.packets[packet].flits } else { 1 };
        let there = queue.flits.iter().filter(|(_, flit)| flit.packet == packet).count();
        queue.asks_for_outputs && there >= awaited as usize && queue.free_from <= now
    }

    /// Notes that a packet of an operation is about to leave by an output.
    pub fn goes_on_tree(&mut self, router: usize, packet: usize, (output, number): OutputVc) {
        let packet = &mut self.packets[packet];
        packet.virtual_channel = number as u8;
        match self.routers[router].outputs[output].name {
            OutputName::Port(_) => packet.hops += 1,
            OutputName::Ejection { terminal, .. } => packet.ejected_to = Some(terminal),
        }
    }

    /// If copies start together: lets them ask for the switch when all have a virtual channel.
    pub fn start_copies(&mut self, router: usize, now: Picoseconds) {
        if self.collective.is_none() || !self.parameters.collective.together {
            return;
        }
        let asks_from = now + self.sharing().virtual_channel_allocation;
        let Some(Copies { copies, .. }) = &self.unit(router).copies else { return };
        let ports: Vec<usize> = copies.iter().map(|copy| copy.1).collect();
        let mut waiting = Vec::new();
        for port in ports {
            let Some(way) = self.queue_on_tree(router, port, DOWN).way else { return };
            waiting.extend((way.asks_from == Picoseconds::NEVER).then_some(port));
        }
        for port in waiting {
            let queue = self.queue_on_tree(router, port, DOWN);
            queue.way.as_mut().expect("it has one").asks_from = asks_from;
            self.due.insert(asks_from);
        }
    }

    /// Whether a packet with a virtual channel waits until others have theirs.
    pub fn waits_for_copies(&self, virtual_channel: usize) -> bool {
        self.parameters.collective.together && self.collective.is_some() && virtual_channel == DOWN
    }

    /// The last flit of a packet has won the switch, and will have left its port of the unit at a
    /// time.
    pub fn leave_unit(&mut self, router: usize, port: usize, packet: usize, time: Picoseconds) {
        self.due.insert(time);
        if port == self.port_of_results(router) {
            let number = self.number(router, packet);
            self.unit(router).leaving.entry(time).or_default().push(number);
            return;
        }
        let copies = self.unit(router).copies.as_mut().expect("it is a copy");
        copies.to_leave -= 1;
        copies.left_at = copies.left_at.max(time);
    }

    /// Ends a packet that goes down, all of whose copies have left by now.
    fn end_copies(&mut self, router: usize, now: Picoseconds) {
        let results = self.port_of_results(router);
        let has_left = |it: &mut Copies| it.to_leave == 0 && it.left_at == now;
        let unit = self.unit(router);
        let Some(Copies { port, packet, .. }) = unit.copies.take_if(has_left) else { return };
        unit.down += 1;
        if port == results {
            let number = self.number(router, packet);
            self.unit(router).left.insert(number);
        }
        self.take_out(router, port, (DOWN, packet), now);
    }
}
