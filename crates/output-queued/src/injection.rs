//! From the generator to the router.

use rand::RngExt;

use super::age::Ages;
use super::derouting::Ways;
use super::event::{Delays, Events, Femtoseconds, NEVER};
use super::traffic::{Clock, Destinations, Numbers};
use super::{Parameters, Settings};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_routing::adaptive::{Leg, Tie};

/// A node's source queue. All nodes create their messages at the same instants, so it is known by
/// the number of packets that have left it.
#[derive(Clone, Debug, Default)]
pub(super) struct Generator {
    /// Number of the message whose packets are being injected, from 0.
    message: u32,
    /// How many of them the router has taken.
    sent: u32,
    /// Whether the router has yet to answer.
    outstanding: bool,
    /// Whether the next packet's ways are known.
    ready: bool,
    destination: u32,
    /// Dimensions in which the next packet goes half a ring in the negative direction.
    negative_ties: u8,
    ways: Ways,
}

/// A packet as it is offered to the router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<'a> {
    pub(super) number: u32,
    pub(super) destination: u32,
    pub(super) negative_ties: u8,
    pub(super) ways: &'a Ways,
}

/// The generators of all nodes.
#[derive(Debug)]
pub(super) struct Generators<'a> {
    torus: &'a Torus,
    parameters: &'a Parameters,
    settings: &'a Settings,
    clock: Clock,
    numbers: Numbers,
    destinations: Destinations,
    nodes: Vec<Generator>,
    /// Nodes with a packet to offer at the next tick, as bits.
    waiting: Vec<u64>,
    /// Messages that each node has created.
    created: u32,
    /// When the next messages are created.
    pub(super) next_creation: Femtoseconds,
    /// The next tick at which a node has a packet to offer.
    pub(super) next_attempt: Femtoseconds,
}

impl<'a> Generators<'a> {
    pub(super) fn new(
        torus: &'a Torus,
        parameters: &'a Parameters,
        settings: &'a Settings,
        destinations: Destinations,
    ) -> Self {
        Self {
            torus,
            parameters,
            settings,
            clock: Clock::new(torus, parameters, settings.load),
            numbers: Numbers::new(torus.nodes(), parameters.message_packets),
            destinations,
            nodes: vec![Generator::default(); torus.nodes() as usize],
            waiting: vec![0; torus.nodes().div_ceil(64) as usize],
            created: 0,
            next_creation: 0,
            next_attempt: NEVER,
        }
    }

    /// Creates a message at each node.
    pub(super) fn create(&mut self, now: Femtoseconds) {
        let idle =
            |generator: &Generator| generator.message == self.created && !generator.outstanding;
        let idle: Vec<u32> =
            (0..).zip(&self.nodes).filter(|(_, node)| idle(node)).map(|(node, _)| node).collect();
        self.created += 1;
        let more = self.created < self.parameters.messages;
        self.next_creation = if more { self.clock.creation(self.created) } else { NEVER };
        for node in idle {
            self.wait(now, node);
        }
    }

    /// Returns the least ages of all nodes' packets. A generator waits for the answer to its last
    /// packet, then for the next tick; from there a packet takes at least `least` to its sink.
    pub(super) fn ages(&self, answered: Femtoseconds, least: Femtoseconds) -> Ages {
        let messages = self.nodes.len() as u64 * u64::from(self.parameters.messages);
        let interval = self.clock.next_tick(answered);
        Ages::new(messages, self.parameters.message_packets, interval, least)
    }

    /// The time until the next tick, into the router, over a link and to the sink: a packet that moves
    /// at all takes no longer for any of these.
    pub(super) fn longest_step(&self, delays: &Delays) -> Femtoseconds {
        self.clock.attempt() + delays.injection + delays.arrival + delays.delivery
    }

    /// Packets that all nodes create together.
    pub(super) fn packets_at_once(&self) -> u64 {
        self.nodes.len() as u64 * u64::from(self.parameters.message_packets)
    }

    /// When the packet of this number was created.
    #[inline]
    pub(super) fn creation(&self, number: u32) -> Femtoseconds {
        self.clock.creation(self.numbers.message(number))
    }

    /// When the latest messages were created.
    pub(super) fn latest_creation(&self) -> Femtoseconds {
        self.clock.creation(self.created.saturating_sub(1))
    }

    fn wait(&mut self, now: Femtoseconds, node: u32) {
        self.waiting[node as usize / 64] |= 1 << (node % 64);
        if self.next_attempt == NEVER {
            self.next_attempt = self.clock.next_tick(now);
        }
    }

    /// Offers the packets that wait for this tick.
    pub(super) fn attempt(&mut self, now: Femtoseconds, events: &mut Events) {
        self.next_attempt = NEVER;
        for word in 0..self.waiting.len() {
            let mut set = std::mem::take(&mut self.waiting[word]);
            while set != 0 {
                let node = 64 * narrow::<u32>(word) + set.trailing_zeros();
                set &= set - 1;
                self.nodes[node as usize].outstanding = true;
                if !self.nodes[node as usize].ready {
                    self.prepare(node);
                }
                events.injections.add(now, &mut events.set_off, node);
            }
        }
    }

    fn prepare(&mut self, node: u32) {
        let generator = &mut self.nodes[node as usize];
        generator.ready = true;
        if generator.sent == 0 {
            generator.destination = self.destinations.next(node, generator.message);
            generator.ways.find(self.torus, self.settings, node, generator.destination);
        }
        if self.settings.tie == Tie::Random {
            generator.negative_ties = self.destinations.random(node).random();
        }
    }

    /// The packet that has arrived at the router.
    #[inline]
    pub(super) fn offer(&self, node: u32) -> Offer<'_> {
        let generator = &self.nodes[node as usize];
        Offer {
            number: self.numbers.of(node, generator.message, generator.sent),
            destination: generator.destination,
            negative_ties: generator.negative_ties,
            ways: &generator.ways,
        }
    }

    /// Returns this leg with the packet's own directions round half a ring.
    #[inline]
    pub(super) fn with_ties(&self, leg: Leg, node: u32, end: u32, negative_ties: u8) -> Leg {
        match negative_ties {
            0 => leg,
            ties => Leg::minimal(self.torus, node, end, u32::from(ties)),
        }
    }

    /// The router's answer has arrived.
    ///
    /// A node's very last packet is offered again as soon as it is refused, without waiting for a
    /// tick.
    pub(super) fn answer(
        &mut self,
        now: Femtoseconds,
        node: u32,
        accepted: bool,
        events: &mut Events,
    ) {
        let generator = &mut self.nodes[node as usize];
        let last = generator.message + 1 == self.parameters.messages
            && generator.sent + 1 == self.parameters.message_packets;
        if last && !accepted {
            events.injections.add(now, &mut events.set_off, node);
            return;
        }
        generator.outstanding = false;
        if accepted {
            generator.sent += 1;
            generator.ready = false;
            if generator.sent == self.parameters.message_packets {
                generator.sent = 0;
                generator.message += 1;
            }
        }
        if generator.message < self.created {
            self.wait(now, node);
        }
    }
}
