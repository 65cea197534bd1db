//! The plain reference engine of routers with buffers at their outputs: docs/model.md, "Buffers at
//! outputs", one flit and one instant at a time.
//!
//! As `crates/reference/src/engine` does for routers that have buffers at their inputs only, it
//! exists to hold the fast engine to that page, and shares nothing with it but plain data types.
//! Terminals, packets and their ways are the same for all routers, and
//! `crates/reference/src/shared` has them. Each flit is an object that sits in a buffer or is on
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

use std::collections::{BTreeMap, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters, RouterKind};
use flitlab_fabric::Fabric;
use flitlab_model::workload::Message;
use flitlab_routing::Routes;

use crate::shared::{
    adapter::{self, InjectionQueues},
    channel::{Moving, arrived},
    packet::{Packet, largest},
    simulation::{Routers, Simulation},
};

pub use crate::shared::simulation::Deadlock;
use network::{Channel, Flit, Output};

/// Sends all messages, and runs until everything has been delivered and all credits are back.
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
    simulator(fabric, routes, parameters, messages).run(false).log()
}

/// A simulation of messages.
///
/// # Panics
/// As [`run`].
pub fn simulator<'a>(
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    messages: &[Message],
) -> Simulator<'a> {
    check(fabric, routes, parameters);
    let network = network::network(fabric, parameters);
    let own = CioqRouters {
        pointers: vec![0; network.routers.len()],
        there: BTreeMap::new(),
        decided_by: (Vec::new(), Vec::new()),
    };
    Simulation::new((fabric, routes, parameters), messages, None, network, own)
}

type Simulator<'a> = Simulation<'a, CioqRouters>;

/// Routers with buffers at their outputs.
pub struct CioqRouters {
    /// By router: the output that is looked at first.
    pointers: Vec<usize>,
    /// By packet that has been injected, when each of its flits is in the buffer to which the header
    /// has begun to go last.
    there: BTreeMap<usize, Vec<Picoseconds>>,
    /// The queues by which packets decided again last, and the rooms then, by router, output, then
    /// virtual channel.
    decided_by: (Vec<u32>, Vec<u32>),
}

impl Routers for CioqRouters {
    type Channel = Channel;
    type Input = usize;
    type Output = Output;
    type Injection = InjectionQueues;
    type Unit = ();

    fn simulate(simulation: &mut Simulator<'_>, now: Picoseconds) {
        simulation.instant(now);
    }

    fn check_conservation(simulation: &Simulator<'_>, _: Picoseconds) {
        simulation.check_conservation();
    }

    fn check_empty(simulation: &Simulator<'_>) {
        simulation.check_empty();
    }

    fn source_queue<'q>(
        simulation: &'q mut Simulator<'_>,
        packet: &Packet,
        on_tree: Option<usize>,
    ) -> &'q mut VecDeque<usize> {
        adapter::source_queue(simulation, packet, on_tree)
    }

    fn source_queues(queues: &mut InjectionQueues) -> impl Iterator<Item = &mut VecDeque<usize>> {
        queues.waiting.iter_mut()
    }

    fn credits(channel: &Channel) -> &[u32] {
        &channel.credits
    }

    /// The flits of the model's queue that began to cross before.
    fn out(
        simulation: &Simulator<'_>,
        (router, output): (usize, usize),
        virtual_channel: usize,
        at: Picoseconds,
    ) -> u32 {
        simulation.routers[router].outputs[output].buffers[virtual_channel].queue(at)
    }

    fn has_failed(_: &Channel) -> bool {
        false
    }

    fn lose_router(_: &mut Simulator<'_>, _: usize) {
        unreachable!("nothing fails");
    }

    fn fail_channel(_: &mut Simulator<'_>, _: usize, _: usize) {
        unreachable!("nothing fails");
    }

    fn set_ring(_: &mut Channel, _: Option<u32>) {
        unreachable!("nothing fails");
    }
}

impl Simulator<'_> {
    fn instant(&mut self, now: Picoseconds) {
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
        if flit.index + 1 == self.packets[flit.packet].flits {
            self.arrive(flit.packet, now);
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
