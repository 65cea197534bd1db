//! The allocation of a router's switch: which flit crosses to which output, and what is sent by it.

use std::collections::BTreeMap;

use flitlab_base::units::Picoseconds;
use flitlab_engine::Arbitration;

use crate::shared::{
    channel::{ChannelKind, Moving},
    choosing,
};

use super::{
    Simulator,
    held_credits::are_held,
    network::{Flit, Output},
    queue::Way,
    turns::first_from,
};

/// A flit at a queue's head that asks for its output.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    port: usize,
    /// The queue's number in its port.
    queue: usize,
    output: usize,
    virtual_channel: usize,
    packet: usize,
}

impl Simulator<'_> {
    /// Offers every output to a flit, lets every input port accept one, and does so again with what
    /// is left.
    pub fn allocate_switch(&mut self, router: usize, now: Picoseconds) {
        let mut requests = self.requests(router, now);
        if requests.is_empty() {
            return;
        }
        for round in 0..self.sharing().iterations {
            for (port, offers) in self.offers_of_outputs(router, &requests, now) {
                let winner = self.accepted_offer(router, port, &offers);
                if round == 0 {
                    self.routers[router].outputs[winner.output].pointer = port + 1;
                    self.routers[router].inputs[port].next_output = winner.output + 1;
                }
                self.routers[router].inputs[port].next_queue = winner.queue + 1;
                let sent = self.send(router, winner, now);
                let is_last = sent.index + 1 == self.packets[sent.packet].flits;
                let turns = &mut self.routers[router].outputs[winner.output].turns;
                turns.count(winner.virtual_channel, is_last);
                requests.retain(|&request| request != winner);
            }
            let taken = |request: &Request| {
                let router = &self.routers[router];
                router.inputs[request.port].free_from > now
                    || router.outputs[request.output].free_from > now
            };
            let (lost, left) = requests.into_iter().partition(taken);
            self.ask_again(router, lost, now);
            requests = left;
        }
        self.ask_again(router, requests, now);
    }

    /// Lets the flits that have not won ask again.
    fn ask_again(&mut self, router: usize, lost: Vec<Request>, now: Picoseconds) {
        for request in lost {
            let again = now + self.crossbar_time(router, request.output);
            self.routers[router].inputs[request.port].queues[request.queue].flit_asks_again = again;
            self.due.insert(again);
        }
    }

    /// The flits that ask now, in the order of their queues.
    fn requests(&self, router: usize, now: Picoseconds) -> Vec<Request> {
        let mut requests = Vec::new();
        for (port, input) in self.routers[router].inputs.iter().enumerate() {
            if input.free_from > now {
                continue;
            }
            for (number, queue) in input.queues.iter().enumerate() {
                let (Some(way), Some((_, flit))) = (queue.way, queue.flits.front()) else {
                    continue;
                };
                assert_eq!(flit.packet, way.packet, "flits of two packets are never mixed");
                let may_ask = way.asks_from.max(queue.flit_asks_again) <= now;
                if may_ask && self.can_cross(router, way, now) {
                    let Way { packet, output, virtual_channel, .. } = way;
                    let queue = number;
                    requests.push(Request { port, queue, output, virtual_channel, packet });
                }
            }
        }
        requests
    }

    /// Whether a flit could be sent to its output now: there are a credit and room behind the
    /// crossbar, and no other flit is on its way there.
    fn can_cross(&self, router: usize, way: Way, now: Picoseconds) -> bool {
        let channel = &self.channels[self.routers[router].outputs[way.output].channel];
        !self.is_taken(router, way.output, now)
            && self.has_credit(router, way)
            && channel.link.as_ref().is_none_or(|link| link.has_room())
    }

    /// Whether there is a credit for a flit.
    pub fn has_credit(&self, router: usize, way: Way) -> bool {
        let number = self.routers[router].outputs[way.output].channel;
        let channel = &self.channels[number];
        let is_swallowed = self.swallowed.get(&way.packet) == Some(&number);
        channel.ends_in_sink() || is_swallowed || channel.credits[way.virtual_channel] > 0
    }

    /// Whether an output can take no flit now, for others that are on their way or wait behind the
    /// crossbar.
    pub fn is_taken(&self, router: usize, output: usize, now: Picoseconds) -> bool {
        let output = &self.routers[router].outputs[output];
        let channel = &self.channels[output.channel];
        let waiting = channel.flit_time * self.sharing().output_buffer.into();
        output.free_from > now || output.end > self.crossed(now) + waiting
    }

    /// When a flit that wins now is behind the crossbar.
    fn crossed(&self, now: Picoseconds) -> Picoseconds {
        now + self.sharing().switch_allocation + self.parameters.crossbar_latency
    }

    /// By input port the requests to which an output is offered, in the order of outputs.
    fn offers_of_outputs(
        &self,
        router: usize,
        requests: &[Request],
        now: Picoseconds,
    ) -> BTreeMap<usize, Vec<Request>> {
        let mut offers: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
        for output in 0..self.routers[router].outputs.len() {
            let its = requests.iter().filter(|request| request.output == output);
            if let Some(request) = self.offered(router, output, its.copied().collect(), now) {
                offers.entry(request.port).or_default().push(request);
            }
        }
        offers
    }

    /// The request to which an output is offered.
    fn offered(
        &self,
        router: usize,
        output: usize,
        requests: Vec<Request>,
        now: Picoseconds,
    ) -> Option<Request> {
        match self.parameters.arbitration {
            Arbitration::RoundRobin => self.first_in_turn(router, output, &requests),
            Arbitration::Random => {
                let name = self.routers[router].outputs[output].name;
                let number = name.number(self.fabric, self.parameters);
                requests.into_iter().min_by_key(|request| {
                    choosing::lot(now, router, number, (request.port, request.virtual_channel))
                })
            }
            Arbitration::TransitFirst => {
                let is_transit = |request: &Request| {
                    let input = self.routers[router].inputs[request.port].channel;
                    self.channels[input].kind != ChannelKind::Injection
                };
                let (transit, new): (Vec<_>, Vec<_>) = requests.into_iter().partition(is_transit);
                let first = self.first_in_turn(router, output, &transit);
                first.or_else(|| self.first_in_turn(router, output, &new))
            }
            Arbitration::OldestFirst => {
                requests.into_iter().min_by_key(|request| self.age(request.packet))
            }
            Arbitration::Weighted => {
                let asking = requests.iter().map(|request| request.virtual_channel).collect();
                let next = self.routers[router].outputs[output].turns.first(&asking)?;
                requests.into_iter().find(|request| request.virtual_channel == next)
            }
        }
    }

    /// The first input port from the output's pointer, and of that the first queue from the port's.
    fn first_in_turn(&self, router: usize, output: usize, requests: &[Request]) -> Option<Request> {
        let router = &self.routers[router];
        let ports = requests.iter().map(|request| request.port);
        let port = first_from(router.outputs[output].pointer, ports)?;
        let of_port = requests.iter().filter(|request| request.port == port);
        let queues = of_port.map(|request| request.queue);
        let queue = first_from(router.inputs[port].next_queue, queues)?;
        requests.iter().find(|request| (request.port, request.queue) == (port, queue)).copied()
    }

    /// The offer that an input port accepts.
    fn accepted_offer(&self, router: usize, port: usize, offers: &[Request]) -> Request {
        let accepted = match self.parameters.arbitration {
            Arbitration::OldestFirst => offers.iter().min_by_key(|offer| self.age(offer.packet)),
            Arbitration::RoundRobin
            | Arbitration::Random
            | Arbitration::TransitFirst
            | Arbitration::Weighted => {
                let pointer = self.routers[router].inputs[port].next_output;
                let first = first_from(pointer, offers.iter().map(|offer| offer.output));
                offers.iter().find(|offer| Some(offer.output) == first)
            }
        };
        *accepted.expect("there is an offer")
    }

    /// A packet is older than others of a higher age: created later, or at a higher source, or with
    /// a higher number.
    fn age(&self, packet: usize) -> (Picoseconds, u32, u32) {
        let packet = &self.packets[packet];
        (packet.created, packet.source, packet.sequence)
    }

    /// Sends a flit that has won: it leaves its queue, its credit goes back, and it goes on to its
    /// channel.
    fn send(&mut self, router: usize, winner: Request, now: Picoseconds) -> Flit {
        let Request { port, queue, output, virtual_channel, packet } = winner;
        let taken_until = now + self.crossbar_time(router, output);
        let Flit { index, .. } = self.leave_queue(router, port, queue, taken_until, now);
        let (starts, crossed) = (self.occupy(router, output, now), self.crossed(now));
        let output = &mut self.routers[router].outputs[output];
        let is_swallowed = self.swallowed.get(&packet) == Some(&output.channel);
        let channel = &mut self.channels[output.channel];
        output.latest = Some(packet);
        let (number, is_damaged) = (0, false);
        let content = Flit { packet, index, virtual_channel, number, is_damaged };
        if !channel.ends_in_sink() && !is_swallowed {
            channel.credits[virtual_channel] -= 1;
            if are_held(self.routes) {
                channel.delay_of_credits.send(virtual_channel, starts - crossed);
            }
        }
        let packet = &self.packets[packet];
        if index + 1 == packet.flits {
            output.virtual_channels[virtual_channel].held_by = None;
            output.virtual_channels[virtual_channel].free_from = taken_until;
        }
        self.own.digest.add(now, channel.number, packet.source, packet.sequence);
        let number = output.channel;
        self.start(number, content, (now, starts));
        content
    }

    /// Takes an output for a flit now; when it starts on the channel.
    pub fn occupy(&mut self, router: usize, output: usize, now: Picoseconds) -> Picoseconds {
        let taken_until = now + self.crossbar_time(router, output);
        let crossed = self.crossed(now);
        let buffer = self.sharing().output_buffer;
        let output = &mut self.routers[router].outputs[output];
        let channel = &self.channels[output.channel];
        output.free_from = taken_until;
        let starts = crossed.max(output.end);
        output.end = starts + channel.flit_time;
        // The next flit can win when no more than the buffer's flits are left behind the crossbar.
        let waiting = channel.flit_time * buffer.into();
        let room = (output.end + now).saturating_sub(crossed + waiting);
        self.due.extend([taken_until, room.max(taken_until)]);
        starts
    }

    /// Takes the flit at a queue's head; with a packet's last one the next packet gets to the head.
    fn leave_queue(
        &mut self,
        router: usize,
        port: usize,
        queue: usize,
        taken_until: Picoseconds,
        now: Picoseconds,
    ) -> Flit {
        self.return_credit(router, port, queue, now);
        let input = &mut self.routers[router].inputs[port];
        input.free_from = taken_until;
        let channel = &mut self.channels[input.channel];
        let queue = &mut input.queues[queue];
        let (_, flit) = queue.flits.pop_front().expect("a flit has asked");
        let is_of_unit = channel.kind == ChannelKind::Unit;
        queue.way.as_mut().expect("it has a virtual channel").sent += 1;
        if flit.index + 1 == self.packets[flit.packet].flits {
            queue.way = None;
            queue.free_from = taken_until;
            self.due.insert(taken_until + self.parameters.routing_latency);
            if is_of_unit {
                self.leave_unit(router, port, flit.packet, taken_until);
            }
        }
        flit
    }

    /// Sends back the credit of the flit at a queue's head, which leaves now.
    fn return_credit(&mut self, router: usize, port: usize, queue: usize, now: Picoseconds) {
        let from = &self.routers[router].inputs[port];
        let number = from.channel;
        let queue = &from.queues[queue];
        let virtual_channel = queue.virtual_channel;
        let channel = &self.channels[number];
        if channel.kind == ChannelKind::Unit {
            return;
        }
        let mut arrives = now + channel.latency;
        if are_held(self.routes) && channel.kind == ChannelKind::Network {
            let &(came, _) = queue.flits.front().expect("a flit has asked");
            let to = |output: &Output| {
                let channel = &self.channels[output.channel];
                channel.needs_room().then_some(&channel.delay_of_credits)
            };
            let outputs = &self.routers[router].outputs;
            let own = to(&outputs[queue.way.expect("it has a virtual channel").output]);
            let waited = now.saturating_sub(came + self.parameters.routing_latency);
            let mut held = channel.held[virtual_channel].clone();
            let (from, all) = (&channel.delay_of_credits, outputs.iter().filter_map(to));
            let (until, delay) = held.free((waited, now), from, own, all);
            arrives = until + channel.latency;
            let channel = &mut self.channels[number];
            channel.held[virtual_channel] = held;
            let place = channel.delays.partition_point(|before| before.arrives <= arrives);
            channel.delays.insert(place, Moving { arrives, content: (virtual_channel, delay) });
        }
        self.channels[number].give_back(arrives, virtual_channel);
        self.due.insert(arrives);
    }
}
