//! The plain reference engine of routers with buffers at their outputs: docs/model.md, "Buffers at
//! outputs", one flit and one instant at a time.
//!
//! As `crates/reference/src/engine` does for routers that have buffers at their inputs only, it
//! exists to hold the fast engine to that page, and shares nothing with it but plain data types.
//! Terminals, packets and their ways are the same for all routers, and
//! `crates/reference/src/engine` has them. Each flit is an object that sits in a buffer or is on
//! its way to one, and each credit is an object on its way back.
//!
//! One thing is computed ahead: when the last flit of a packet will go that begins to cross, or to
//! be sent. The page counts the room and the queues of all its flits from that time. It is
//! determined then, because whatever brings the flits was given to the whole packet; and when the
//! flit goes, it is checked. Nothing counts before the flit has really gone.
//!
//! An instant takes in what arrives (flits, then room and credits, then messages), and injection
//! channels send. Then each router lets new heads decide, lets packets cross, and sends. What is
//! sent needs at least a picosecond to get anywhere, so the order in which the routers do this
//! doesn't matter. An instant at which nothing is due changes nothing, so it does no harm to look
//! at more instants than needed.
//!
//! Adaptive routing on tori, bubbles, links that err, failures, collective operations, lifetimes at
//! heads of queues and responder resources are for other routers.

mod conservation;
mod crossing;
mod deciding;
mod network;
mod passage;
mod sending;

use std::collections::BTreeSet;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters, RouterKind};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::Message;

use crate::engine::{
    adapter::{InjectionQueues, injected_on},
    channel::{Moving, arrived},
    packet::{Packet, largest},
    phased::Seen,
    terminal::Terminals,
};

pub use crate::engine::Deadlock;
use network::{Channel, Flit, Network, Router};

/// Sends all messages, in the order of their times (those of one terminal at one time in the order
/// given), and runs until everything has been delivered and all credits are back.
///
/// # Errors
/// If the network deadlocks.
///
/// # Panics
/// If the routers are others, or the routes or parameters are none of theirs.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<Log, Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(false)
}

/// For how long the packets had waited that were sent by each channel that leaves a router, at the
/// input and at the output, in the order of routers and outputs; none if the network deadlocks.
///
/// # Panics
/// As [`run`].
pub fn waits(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Option<Vec<Picoseconds>> {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages);
    simulator.go_through_all(false);
    let outputs = simulator.routers.iter().flat_map(|router| &router.outputs);
    (simulator.terminals.undelivered == 0).then(|| outputs.map(|output| output.waited).collect())
}

/// Runs as [`run`] does, and leaves out no instant, not even those at which nothing is due.
///
/// # Errors
/// If the network deadlocks.
///
/// # Panics
/// As [`run`].
pub fn run_every_tick(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<Log, Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(true)
}

/// A virtual channel's buffer at the input at the end of a channel.
#[derive(Clone, Copy)]
struct Place {
    channel: usize,
    virtual_channel: usize,
}

struct Simulator<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    channels: Vec<Channel>,
    routers: Vec<Router>,
    terminals: Terminals<'a>,
    /// By terminal and injection channel.
    adapters: Vec<Vec<InjectionQueues>>,
    packets: Vec<Packet>,
    /// By packet, when each of its flits is in the buffer to which the header has begun to go last.
    there: Vec<Vec<Picoseconds>>,
    /// Instants at which something is due in the network.
    due: BTreeSet<Picoseconds>,
    /// Instants so far.
    instants: u64,
    /// What routers see of others, if they do.
    seen: Seen,
    /// The queues by which packets decided again last, and the rooms then, by router, output, then
    /// virtual channel.
    decided_by: (Vec<u32>, Vec<u32>),
}

impl<'a> Simulator<'a> {
    fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
        messages: &[Message],
    ) -> Self {
        check(fabric, routes, parameters);
        let Network { channels, routers, adapters } = Network::new(fabric, parameters);
        Self {
            fabric,
            routes,
            parameters,
            channels,
            routers,
            terminals: Terminals::new(fabric, routes, parameters, messages),
            adapters,
            packets: Vec::new(),
            there: Vec::new(),
            due: BTreeSet::new(),
            instants: 0,
            seen: Seen::default(),
            decided_by: (Vec::new(), Vec::new()),
        }
    }

    fn virtual_channels(&self) -> usize {
        usize::from(self.parameters.virtual_channels)
    }

    fn run(mut self, every_tick: bool) -> Result<Log, Deadlock> {
        let now = self.go_through_all(every_tick);
        let packets = self.terminals.undelivered;
        if packets > 0 {
            return Err(Deadlock { time: now, packets, log: self.terminals.log });
        }
        self.check_idle();
        Ok(self.terminals.log)
    }

    /// Goes through all instants; the last one.
    fn go_through_all(&mut self, every_tick: bool) -> Picoseconds {
        let mut now = Picoseconds::ZERO;
        while let Some(next) = self.terminals.next_due(&self.due) {
            now = if every_tick { now } else { next };
            assert!(now <= next, "nothing is due before the instant at hand");
            self.instant(now);
            self.due.remove(&now);
            if every_tick {
                now += Picoseconds(1);
            }
        }
        now
    }

    fn instant(&mut self, now: Picoseconds) {
        self.look_at_others(now);
        self.receive_flits(now);
        self.terminals.perform_atomics(now);
        self.free_room(now);
        self.receive_credits(now);
        self.end_passages(now);
        self.enter_messages(now);
        self.inject(now);
        self.look_at_queues(now);
        for router in 0..self.routers.len() {
            self.decide(router, now);
            self.grant_crossings(router, now);
            self.cross(router, now);
            self.receive_crossed(router, now);
            self.grant_channels(router, now);
        }
        self.look_again(now);
        self.start_flits(now);
        // Space that is lost stays lost: it is noticed some instants later.
        self.instants += 1;
        if self.instants.is_multiple_of(16) {
            self.check_conservation();
        }
    }

    /// Puts the flits that are there now, whole, into the buffer or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.channels[channel].ends_in_sink() {
                    self.sink(flit, now);
                } else {
                    let buffer = &mut self.channels[channel].buffers[flit.virtual_channel];
                    buffer.flits.push_back((now, flit));
                    self.due.insert(now + self.parameters.routing_latency);
                }
            }
        }
    }

    /// Takes a flit out of the network; the last one of a packet delivers it.
    fn sink(&mut self, flit: Flit, now: Picoseconds) {
        let packet = &self.packets[flit.packet];
        if flit.index + 1 == packet.flits && self.terminals.deliver(packet, now) {
            self.terminals.complete(packet, now);
        }
    }

    /// Frees the room of flits that have left, and sends back the credits of that at inputs.
    fn free_room(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            let arrives = now + channel.latency;
            for (virtual_channel, buffer) in channel.buffers.iter_mut().enumerate() {
                for _ in 0..buffer.leaving.free(now) {
                    channel.returning.push_back(Moving { arrives, content: virtual_channel });
                    self.due.insert(arrives);
                }
            }
        }
        for output in self.routers.iter_mut().flat_map(|router| &mut router.outputs) {
            for buffer in &mut output.buffers {
                buffer.room += buffer.leaving.free(now);
            }
        }
    }

    fn receive_credits(&mut self, now: Picoseconds) {
        let outputs = self.routers.iter_mut().flat_map(|router| &mut router.outputs);
        for output in outputs {
            for content in credits_back(&mut self.channels[output.channel], now) {
                output.buffers[content].queued.pop_front().expect("its flit crossed");
            }
        }
        for queues in self.adapters.iter().flatten() {
            credits_back(&mut self.channels[queues.channel], now);
        }
    }

    /// Cuts what enters the queues now into packets.
    fn enter_messages(&mut self, now: Picoseconds) {
        for entry in self.terminals.entering(now) {
            for packet in self.terminals.cut(entry, self.routes, now) {
                let virtual_channel = injected_on(&self.terminals, &packet, self.routes);
                let queues = &mut self.adapters[packet.source as usize];
                let queues = &mut queues[usize::from(packet.injection_channel)];
                queues.waiting[virtual_channel].push_back(self.packets.len());
                self.packets.push(packet);
                self.there.push(Vec::new());
            }
        }
    }
}

/// Takes in the credits that are there now; their virtual channels.
fn credits_back(channel: &mut Channel, now: Picoseconds) -> Vec<usize> {
    let credits: Vec<usize> = std::iter::from_fn(|| arrived(&mut channel.returning, now)).collect();
    credits.iter().for_each(|&virtual_channel| channel.credits[virtual_channel] += 1);
    credits
}

/// Panics if the page has no rules for these routes and parameters.
fn check(fabric: &Fabric, routes: &Routes, parameters: &Parameters) {
    let RouterKind::OutputBuffers(behind) = parameters.kind else {
        panic!("there are buffers at outputs")
    };
    assert!(largest(parameters) <= behind, "packets fit into buffers at outputs");
    let has_bubble = match routes {
        Routes::Adaptive(_) => panic!("adaptive routing on tori is for other routers"),
        Routes::Relation(routes) => routes.injection_bubble > 0 || routes.relation.has_ring(),
        Routes::DirectionOrder(_) | Routes::Table(_) => {
            let has_ring = |channel| fabric.ring(channel).is_some();
            parameters.bubble && (0..fabric.channel_slots()).any(has_ring)
        }
        Routes::Forwarding(_) | Routes::Paths(_) => false,
    };
    assert!(!has_bubble, "there is no bubble rule");
    let other_rules = parameters.errors.is_some()
        || parameters.responder_resources.is_some()
        || parameters.head_of_queue_lifetime.is_some();
    assert!(!other_rules, "links are sound, adapters take everything, packets wait");
}
