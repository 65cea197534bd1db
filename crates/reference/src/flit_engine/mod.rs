//! The plain reference engine of links shared flit by flit: docs/model.md, "Links shared flit by
//! flit", one flit and one instant at a time.
//!
//! As `crates/reference/src/engine` does for links that are granted to packets, it exists to hold
//! the fast engine to that page, and shares nothing with it but plain data types. Terminals,
//! packets and their ways are the same in both models, and `crates/reference/src/shared` has them.
//! Each flit is an object that sits in a queue or on a wire, each credit is an object on its way,
//! and at every instant every queue of every router is looked at.
//!
//! An instant takes in what arrives (flits, then credits, then messages). Then injection channels
//! send, and each router lets new packets decide on detours, allocates virtual channels and
//! allocates its switch. What is sent needs at least a picosecond to get anywhere, so the order in
//! which the routers and adapters do this doesn't matter. An instant at which nothing is due
//! changes nothing, so it does no harm to look at more instants than needed.

mod collective;
mod conservation;
mod failures;
mod held_credits;
mod link;
mod network;
mod queue;
mod source;
mod stalls;
mod switch;
mod turns;
mod virtual_channels;
mod way;

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Digest, FlitSharing, Log, Parameters, RESPONSE_CHANNEL, Switching};
use flitlab_fabric::Fabric;
use flitlab_model::workload::{CollectiveSpec, Message, MessageKind};
use flitlab_routing::Routes;

use crate::shared::{
    channel::{ChannelKind, arrived},
    classes,
    links::Counts,
    packet::Packet,
    simulation::{Routers, Simulation},
};

pub use crate::shared::simulation::Deadlock;
use collective::Unit;
use network::{Channel, Flit, Input, Network, Output};
use source::Injection;
use stalls::Stalls;

/// Sends all messages, and runs until everything has been delivered and all credits are back. The
/// digest is that of the start of each flit on an injection channel and of each flit's win of a
/// switch.
///
/// # Errors
/// If the network deadlocks.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<(Log, Digest), Deadlock> {
    let ended = simulator(fabric, routes, parameters, messages, None).run(false);
    let digest = ended.own.digest;
    ended.log().map(|log| (log, digest))
}

/// A simulation of messages, and of collective operations beside them if there are any.
///
/// # Panics
/// If links are not shared flit by flit.
pub fn simulator<'a>(
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Simulator<'a> {
    let sharing = parameters.kind.sharing().expect("links are shared flit by flit");
    let uses_response_channel = |message: &Message| {
        let is_answered = message.kind != MessageKind::Data;
        let on_response_channel =
            |is_response| classes::channel(parameters, message, is_response) == RESPONSE_CHANNEL;
        is_answered && on_response_channel(true) || on_response_channel(false)
    };
    let network = Network::new((fabric, routes), parameters, sharing, collective.is_some());
    let own = FlitRouters {
        parts_kinds: messages.iter().any(uses_response_channel),
        digest: Digest::default(),
        stalls: sharing.stall_times.then(|| Stalls::new(&network.routers)),
    };
    let all = (fabric, routes, parameters);
    let mut simulator = Simulation::new(all, messages, collective, network, own);
    simulator.add_adapters();
    simulator
}

type Simulator<'a> = Simulation<'a, FlitRouters>;

/// Routers whose links are shared flit by flit.
pub struct FlitRouters {
    /// Whether virtual channels are divided between requests and responses.
    parts_kinds: bool,
    /// Of all that has been sent.
    pub digest: Digest,
    /// How long packets have waited, if the parameters ask for it.
    pub stalls: Option<Stalls>,
}

impl Routers for FlitRouters {
    type Channel = Channel;
    type Input = Input;
    type Output = Output;
    type Injection = Injection;
    type Unit = Unit;

    fn simulate(simulation: &mut Simulator<'_>, now: Picoseconds) {
        simulation.instant(now);
    }

    fn check_conservation(simulation: &Simulator<'_>, now: Picoseconds) {
        simulation.check_conservation(now);
    }

    fn check_empty(simulation: &Simulator<'_>) {
        simulation.check_empty();
    }

    fn source_queue<'q>(
        simulation: &'q mut Simulator<'_>,
        packet: &Packet,
        on_tree: Option<usize>,
    ) -> &'q mut VecDeque<usize> {
        simulation.queue_of(packet, on_tree)
    }

    fn source_queues(injection: &mut Injection) -> impl Iterator<Item = &mut VecDeque<usize>> {
        injection.queues.iter_mut().map(|queue| &mut queue.waiting)
    }

    fn credits(channel: &Channel) -> &[u32] {
        &channel.credits
    }

    fn counts(channel: &Channel) -> Option<(Counts, &[u64])> {
        channel.link.as_ref().map(|link| (link.counts, &*link.flits))
    }

    fn has_failed(channel: &Channel) -> bool {
        channel.failed
    }

    fn lose_router(simulation: &mut Simulator<'_>, router: usize) {
        simulation.lose_what_is_in(router);
    }

    fn fail_channel(simulation: &mut Simulator<'_>, router: usize, channel: usize) {
        simulation.cut_channel(router, channel);
    }

    fn set_ring(channel: &mut Channel, ring: Option<u32>) {
        channel.ring = ring;
    }
}

impl<'a> Simulator<'a> {
    fn sharing(&self) -> &'a FlitSharing {
        self.parameters.kind.sharing().expect("links are shared flit by flit")
    }

    fn wormhole(&self) -> bool {
        self.parameters.switching == Switching::Wormhole
    }

    fn forwards_whole(&self) -> bool {
        self.parameters.switching == Switching::StoreAndForward
    }

    /// The model's `C`: the time for which a flit takes the crossbar to an output.
    fn crossbar_time(&self, router: usize, output: usize) -> Picoseconds {
        let channel = self.routers[router].outputs[output].channel;
        self.channels[channel].flit_time.div_ceil(self.parameters.crossbar_speedup.into())
    }

    /// The longest `C` of channels between routers.
    fn longest_crossbar_time(&self) -> Picoseconds {
        let network = self.channels.iter().filter(|it| it.kind == ChannelKind::Network);
        let longest = network.map(|it| it.flit_time).max().expect("a packet has a choice");
        longest.div_ceil(self.parameters.crossbar_speedup.into())
    }

    fn instant(&mut self, now: Picoseconds) {
        self.receive_flits(now);
        self.terminals.perform_atomics(now);
        self.receive_credits(now);
        self.receive_verdicts(now);
        self.enter_messages(now);
        self.begin_operations(now);
        self.combine(now);
        self.inject(now);
        for router in 0..self.routers.len() {
            self.decide(router, now);
            self.allocate_virtual_channels(router, now);
            self.start_copies(router, now);
            self.send_again(router, now);
            self.allocate_switch(router, now);
            self.acknowledge(router, now);
        }
        self.count_stalls(now);
    }

    /// Puts the flits that are there now, whole, into a queue or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.swallows(channel, flit.packet) {
                    self.sink(flit, now);
                    continue;
                }
                match self.channels[channel].leads_to {
                    None => self.sink(flit, now),
                    Some((router, port)) if self.channels[channel].link.is_some() => {
                        for flit in self.take_in(channel, flit, now) {
                            self.receive(router, port, flit, now);
                        }
                    }
                    Some((router, port)) => self.receive(router, port, flit, now),
                }
            }
        }
    }

    /// Puts a flit into the queue of its virtual channel; if there is one for each output too, a
    /// header goes into that of the packet's next output, and the packet's other flits follow it.
    fn receive(&mut self, router: usize, port: usize, flit: Flit, now: Picoseconds) {
        let virtual_channel = flit.virtual_channel;
        if flit.index == 0
            && self.sharing().virtual_output_queues
            && !self.is_on_tree(virtual_channel)
        {
            let (output, _) = self.next_output(router, flit.packet);
            let place = virtual_channel * self.routers[router].outputs.len() + output;
            self.routers[router].inputs[port].comes_in[virtual_channel] = place;
        }
        let input = &mut self.routers[router].inputs[port];
        input.queues[input.comes_in[virtual_channel]].flits.push_back((now, flit));
        self.due.insert(now + self.parameters.routing_latency);
    }

    fn receive_credits(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            while let Some(virtual_channel) = arrived(&mut channel.returning, now) {
                channel.credits[virtual_channel] += 1;
            }
            let delays: Vec<_> = std::iter::from_fn(|| arrived(&mut channel.delays, now)).collect();
            channel.delay_of_credits.learn(delays);
        }
    }

    /// Takes a flit out of the network; the last one of a packet delivers it.
    fn sink(&mut self, flit: Flit, now: Picoseconds) {
        if flit.index + 1 == self.packets[flit.packet].flits {
            self.arrive(flit.packet, now);
        }
    }
}
