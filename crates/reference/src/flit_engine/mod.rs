//! The plain reference engine of links shared flit by flit: docs/model.md, "Links shared flit by
//! flit", one flit and one instant at a time.
//!
//! As `crates/reference/src/engine` does for links that are granted to packets, it exists to hold
//! the fast engine to that page, and shares nothing with it but plain data types. Terminals,
//! packets and their ways are the same in both models, and `crates/reference/src/engine` has them.
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
pub mod failures;
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

use std::collections::{BTreeMap, BTreeSet};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Digest, FlitSharing, Log, Parameters, RESPONSE_CHANNEL, STALLS, Switching};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::{CollectiveSpec, Message, MessageKind};

use crate::engine::{
    channel::{ChannelKind, arrived},
    classes,
    link::Counts,
    packet::Packet,
    phased::Seen,
    terminal::Terminals,
};
use crate::failure::{Failures, Losses};

use collective::Collective;
use network::{Channel, Flit, Network, Router};
use source::Injection;
use stalls::Stalls;

/// Nothing can move any more, but packets are left.
#[derive(Debug)]
pub struct Deadlock {
    /// When the last thing happened.
    pub time: Picoseconds,
    /// Packets that have been cut and not delivered.
    pub packets: usize,
    /// What had been delivered until then.
    pub log: Log,
    /// Of all that had been sent until then.
    pub digest: Digest,
}

/// Sends all messages, in the order of their times (those of one terminal at one time in the order
/// given), and runs until everything has been delivered and all credits are back. The digest is
/// that of the start of each flit on an injection channel and of each flit's win of a switch.
///
/// # Errors
/// If the network deadlocks.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<(Log, Digest), Deadlock> {
    run_beside(fabric, routes, parameters, messages, None)
}

/// Simulates messages as [`run`] does, with collective operations beside them if there are any.
///
/// # Errors
/// If the network deadlocks.
pub fn run_beside(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Result<(Log, Digest), Deadlock> {
    Simulator::new(fabric, routes, parameters, messages, collective).run(false)
}

/// What all links have counted together, and the flits that each sent, by virtual channel. The
/// network must not deadlock.
pub fn count(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> (Counts, Vec<Vec<u64>>) {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages, collective);
    simulator.go_through_all(false);
    let links = simulator.channels.iter().filter_map(|channel| channel.link.as_ref());
    let (counts, flits): (Vec<Counts>, _) =
        links.map(|link| (link.counts, link.flits.clone())).unzip();
    (counts.into_iter().sum(), flits)
}

/// How long packets waited for each channel that leaves a router, by reason, in the order of
/// routers and outputs; none if the network deadlocks.
pub fn stalls(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Option<Vec<[Picoseconds; STALLS]>> {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages, collective);
    simulator.stalls = Some(Stalls::new(&simulator.routers));
    simulator.go_through_all(false);
    (simulator.undelivered() == 0).then(|| simulator.stalls.expect("it was given").times())
}

/// For how long the packets had waited that were granted a virtual channel of each channel that
/// leaves a router, in the order of routers and outputs; none if the network deadlocks.
pub fn waits(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Option<Vec<Picoseconds>> {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages, None);
    simulator.go_through_all(false);
    let outputs = simulator.routers.iter().flat_map(|router| &router.outputs);
    (simulator.undelivered() == 0).then(|| outputs.map(|output| output.waited).collect())
}

/// Simulates as [`run_beside`] does, without leaving out the instants at which nothing is due.
///
/// # Errors
/// If the network deadlocks.
pub fn run_every_tick(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Result<(Log, Digest), Deadlock> {
    Simulator::new(fabric, routes, parameters, messages, collective).run(true)
}

struct Simulator<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    sharing: &'a FlitSharing,
    /// Whether virtual channels are divided between requests and responses.
    parts_kinds: bool,
    channels: Vec<Channel>,
    routers: Vec<Router>,
    terminals: Terminals<'a>,
    /// Collective operations, if there are any.
    collective: Option<Collective>,
    /// By terminal and injection channel.
    adapters: Vec<Vec<Injection>>,
    packets: Vec<Packet>,
    /// Instants at which something is due in the network.
    due: BTreeSet<Picoseconds>,
    digest: Digest,
    /// What fails on the way, and what has come of it.
    failures: Failures<'a>,
    losses: Losses,
    /// Packets for which their sinks have no use.
    lost: BTreeSet<usize>,
    /// The failed channels that swallow packets, by packet.
    swallowed: BTreeMap<usize, usize>,
    /// Whether no packet is begun for now.
    paused: bool,
    /// How long packets have waited, if somebody wants to know.
    stalls: Option<Stalls>,
    /// Instants so far.
    instants: u64,
    /// What routers see of others, if they do.
    seen: Seen,
}

impl<'a> Simulator<'a> {
    fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
        messages: &[Message],
        collective: Option<&CollectiveSpec>,
    ) -> Self {
        let sharing = parameters.kind.sharing().expect("links are shared flit by flit");
        let uses_response_channel = |message: &Message| {
            let is_answered = message.kind != MessageKind::Data;
            let on_response_channel = |is_response| {
                classes::channel(parameters, message, is_response) == RESPONSE_CHANNEL
            };
            is_answered && on_response_channel(true) || on_response_channel(false)
        };
        let parts_kinds = messages.iter().any(uses_response_channel);
        let has_units = collective.is_some();
        let Network { channels, routers } =
            Network::new((fabric, routes), parameters, sharing, has_units);
        let collective = collective.map(|spec| Collective::new(fabric, parameters, spec));
        let mut simulator = Self {
            fabric,
            routes,
            parameters,
            sharing,
            parts_kinds,
            channels,
            routers,
            terminals: Terminals::new(fabric, routes, parameters, messages),
            adapters: Vec::new(),
            packets: Vec::new(),
            due: collective.iter().map(|it| it.operations.begins()).collect(),
            collective,
            digest: Digest::default(),
            failures: Failures::default(),
            losses: Losses::default(),
            lost: BTreeSet::new(),
            swallowed: BTreeMap::new(),
            paused: false,
            stalls: None,
            instants: 0,
            seen: Seen::default(),
        };
        simulator.add_adapters();
        simulator
    }

    fn virtual_channels(&self) -> usize {
        usize::from(self.parameters.virtual_channels)
    }

    fn wormhole(&self) -> bool {
        self.parameters.switching == Switching::Wormhole
    }

    fn forwards_whole(&self) -> bool {
        self.parameters.switching == Switching::StoreAndForward
    }

    /// Packets that have been cut and not delivered, and those of operations that have still to
    /// come.
    fn undelivered(&self) -> usize {
        let missing = self.collective.as_ref().map_or(0, |it| it.operations.missing());
        self.terminals.undelivered + missing
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

    fn run(mut self, every_tick: bool) -> Result<(Log, Digest), Deadlock> {
        let now = self.go_through_all(every_tick);
        let packets = self.undelivered();
        if packets > 0 {
            let Self { terminals: Terminals { log, .. }, digest, .. } = self;
            return Err(Deadlock { time: now, packets, log, digest });
        }
        self.check_idle();
        Ok((self.terminals.log, self.digest))
    }

    /// Goes through all instants; the last one.
    fn go_through_all(&mut self, every_tick: bool) -> Picoseconds {
        let mut now = Picoseconds::ZERO;
        while let Some(next) = self.terminals.next_due(&self.due) {
            now = if every_tick { now } else { next };
            assert!(now <= next, "nothing is due before the instant at hand");
            self.instant(now);
            self.go_on_with_failures(now);
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
        // Space that is lost stays lost: it is noticed some instants later.
        self.instants += 1;
        if self.instants.is_multiple_of(16) {
            self.check_conservation(now);
        }
    }

    /// Puts the flits that are there now, whole, into a queue or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.swallowed.get(&flit.packet) == Some(&channel) {
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
            && self.sharing.virtual_output_queues
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
        let packet = &self.packets[flit.packet];
        if flit.index + 1 < packet.flits {
            return;
        }
        if packet.operation.is_some() {
            return self.arrive(flit.packet, now);
        }
        if self.lost.contains(&flit.packet) {
            return self.lose(flit.packet);
        }
        let is_last = self.terminals.deliver(packet, now);
        if is_last && self.losses.messages.contains(&packet.transfer) {
            self.losses.end(packet.transfer);
        } else if is_last {
            self.terminals.complete(packet, now);
        }
    }
}
