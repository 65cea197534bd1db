//! A simulation, as far as it is the same whatever its routers are: it goes from each instant at
//! which something is due to the next one, until nothing is due any more.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters, Switching};
use flitlab_fabric::Fabric;
use flitlab_model::workload::{CollectiveSpec, Message};
use flitlab_routing::Routes;

use super::{
    channel::OutputName,
    failure::{Failures, Losses},
    links::Counts,
    network::{HasOutlet, Network, Router},
    operations::{CLASS, Collective, DOWN, UP},
    packet::Packet,
    phased::{Phased, Seen},
    terminal::Terminals,
};

/// A kind of routers, with their channels: what a plain engine has of its own.
pub trait Routers: Sized {
    type Channel;
    type Input;
    type Output: HasOutlet;
    /// What waits for an injection channel.
    type Injection;
    /// A router's reduction unit.
    type Unit: Default;

    /// Does all that happens at an instant, but for failures.
    fn simulate(simulation: &mut Simulation<'_, Self>, now: Picoseconds);

    /// Panics if space is lost, made up or used twice, or if something is held by two.
    fn check_conservation(simulation: &Simulation<'_, Self>, now: Picoseconds);

    /// Panics if anything is left anywhere in the network.
    fn check_empty(simulation: &Simulation<'_, Self>);

    /// The source queue of a packet, of a virtual channel of trees if one is given.
    fn source_queue<'q>(
        simulation: &'q mut Simulation<'_, Self>,
        packet: &Packet,
        on_tree: Option<usize>,
    ) -> &'q mut VecDeque<usize>;

    /// All source queues of an injection channel.
    fn source_queues(injection: &mut Self::Injection)
    -> impl Iterator<Item = &mut VecDeque<usize>>;

    /// What the sender knows to be free at the far end of a channel, by virtual channel.
    fn credits(channel: &Self::Channel) -> &[u32];

    /// Flits in a virtual channel of a router's output that are out: they have left, and no credit
    /// has come back, or whatever else packets see there that decide.
    fn out(
        simulation: &Simulation<'_, Self>,
        (router, output): (usize, usize),
        virtual_channel: usize,
        _at: Picoseconds,
    ) -> u32 {
        let channel = simulation.routers[router].outputs[output].outlet().channel;
        let credits = Self::credits(&simulation.channels[channel]);
        simulation.parameters.buffer - credits[virtual_channel]
    }

    /// What a channel that errs has counted, and the flits sent on it, by virtual channel.
    fn counts(_channel: &Self::Channel) -> Option<(Counts, &[u64])> {
        None
    }

    /// Whether a channel has failed.
    fn has_failed(channel: &Self::Channel) -> bool;

    /// Loses the packets that are in a router, or between it and its terminals.
    fn lose_router(simulation: &mut Simulation<'_, Self>, router: usize);

    /// Loses the packets on a channel, the output of a router, which swallows others from now on.
    fn fail_channel(simulation: &mut Simulation<'_, Self>, router: usize, channel: usize);

    /// Sets the ring to which a channel belongs.
    fn set_ring(channel: &mut Self::Channel, ring: Option<u32>);
}

/// A simulation of such routers.
pub struct Simulation<'a, R: Routers> {
    pub fabric: &'a Fabric,
    pub routes: &'a Routes,
    pub parameters: &'a Parameters,
    pub channels: Vec<R::Channel>,
    pub routers: Vec<Router<R::Input, R::Output>>,
    pub terminals: Terminals<'a>,
    /// Collective operations, if there are any.
    pub collective: Option<Collective<R::Unit>>,
    /// By terminal and injection channel.
    pub adapters: Vec<Vec<R::Injection>>,
    /// Those of operations and, on links that send again, copies are among them.
    pub packets: Vec<Packet>,
    /// Packets that messages have been cut into.
    created: usize,
    /// Instants at which something is due in the network.
    pub due: BTreeSet<Picoseconds>,
    /// What fails on the way, and what has come of it.
    pub failures: Failures<'a>,
    pub losses: Losses,
    /// Packets for which their sinks have no use.
    pub lost: BTreeSet<usize>,
    /// The failed channels that swallow packets, by packet.
    pub swallowed: BTreeMap<usize, usize>,
    /// Whether no packet is injected for now.
    pub paused: bool,
    /// Instants so far.
    instants: u64,
    /// What routers see of others, if they do.
    pub seen: Seen,
    /// What routers of this kind keep besides.
    pub own: R,
}

/// Nothing can move any more, but packets are left.
#[derive(Debug)]
pub struct Deadlock {
    /// When the last thing happened.
    pub time: Picoseconds,
    /// Packets that have been cut and not delivered.
    pub packets: usize,
    /// What had been delivered until then.
    pub log: Log,
}

/// What a simulation has come to.
pub struct Ended<R> {
    pub log: Log,
    /// If it is stuck: since when, and how many packets have been cut and not delivered.
    pub stuck: Option<(Picoseconds, usize)>,
    pub losses: Losses,
    /// For how long the packets had waited that were granted each channel that leaves a router, or
    /// one of its virtual channels, in the order of routers and outputs.
    pub waited: Vec<Picoseconds>,
    /// What all links that err have counted together, and the flits that each sent, by virtual
    /// channel.
    pub counts: Counts,
    pub flits: Vec<Vec<u64>>,
    pub own: R,
}

impl<R> Ended<R> {
    /// What was delivered.
    ///
    /// # Errors
    /// If the network deadlocks.
    pub fn log(self) -> Result<Log, Deadlock> {
        match self.stuck {
            None => Ok(self.log),
            Some((time, packets)) => Err(Deadlock { time, packets, log: self.log }),
        }
    }
}

impl<'a, R: Routers> Simulation<'a, R> {
    /// With messages, in the order of their times (those of one terminal at one time in the order
    /// given).
    pub fn new(
        (fabric, routes, parameters): (&'a Fabric, &'a Routes, &'a Parameters),
        messages: &[Message],
        collective: Option<&CollectiveSpec>,
        network: Network<R::Channel, R::Input, R::Output, R::Injection>,
        own: R,
    ) -> Self {
        let Network { channels, routers, adapters } = network;
        let collective = collective.map(|spec| Collective::new(fabric, parameters, spec));
        Self {
            fabric,
            routes,
            parameters,
            channels,
            routers,
            terminals: Terminals::new(fabric, routes, parameters, messages),
            due: collective.iter().map(|it| it.operations.begins()).collect(),
            collective,
            adapters,
            packets: Vec::new(),
            created: 0,
            failures: Failures::default(),
            losses: Losses::default(),
            lost: BTreeSet::new(),
            swallowed: BTreeMap::new(),
            paused: false,
            instants: 0,
            seen: Seen::default(),
            own,
        }
    }

    pub fn virtual_channels(&self) -> usize {
        usize::from(self.parameters.virtual_channels)
    }

    /// Runs until everything has been delivered and all credits are back, or nothing can move.
    /// `every_tick`: without leaving out the instants at which nothing is due.
    pub fn run(mut self, every_tick: bool) -> Ended<R> {
        let mut now = Picoseconds::ZERO;
        while let Some(next) = self.terminals.next_due(&self.due) {
            now = if every_tick { now } else { next };
            assert!(now <= next, "nothing is due before the instant at hand");
            self.look_at_others(now);
            R::simulate(&mut self, now);
            // Space that is lost stays lost: it is noticed some instants later.
            self.instants += 1;
            if self.instants.is_multiple_of(16) {
                R::check_conservation(&self, now);
            }
            self.go_on_with_failures(now);
            self.due.remove(&now);
            if every_tick {
                now += Picoseconds(1);
            }
        }
        let missing = self.collective.as_ref().map_or(0, |it| it.operations.missing());
        let left = self.terminals.undelivered + missing;
        if left == 0 {
            self.check_idle();
        }
        let outputs = self.routers.iter().flat_map(|router| &router.outputs);
        let links = self.channels.iter().filter_map(R::counts);
        let (counts, flits): (Vec<Counts>, _) =
            links.map(|(counts, flits)| (counts, flits.to_vec())).unzip();
        Ended {
            stuck: (left > 0).then_some((now, left)),
            waited: outputs.map(|output| output.outlet().waited).collect(),
            counts: counts.into_iter().sum(),
            flits,
            log: self.terminals.log,
            losses: self.losses,
            own: self.own,
        }
    }

    /// Panics if anything is left anywhere, or a packet has been neither delivered once nor lost.
    fn check_idle(&self) {
        R::check_empty(self);
        self.terminals.check_idle();
        let operations = self.collective.as_ref().map(|it| &it.operations);
        operations.into_iter().for_each(|it| it.check_idle());
        let log = &self.terminals.log;
        let is_plain = |class: u8| operations.is_none() || class != CLASS;
        let plain = log.packets.iter().filter(|packet| is_plain(packet.class));
        let once: BTreeSet<_> = plain.map(|packet| (packet.source, packet.sequence)).collect();
        let lost = self.lost.len();
        assert_eq!(once.len() + lost, self.created, "every packet is delivered once, or lost");
        let on_trees = operations.map_or(0, |it| it.count());
        assert_eq!(log.packets.len() + lost, self.created + on_trees);
        let messages = log.messages.iter().filter(|message| is_plain(message.class)).count();
        let lost = self.losses.messages.len();
        assert_eq!(messages + lost, self.terminals.transfers.len());
    }

    /// Lets routers see what is out at others, if it is time: before anything happens since.
    fn look_at_others(&mut self, now: Picoseconds) {
        let Some(age) = Phased::age(self.routes) else { return };
        let multiple = age * (now.0 / age.0);
        let mut seen = std::mem::take(&mut self.seen);
        seen.look((age, now), self.fabric.channel_slots(), |channel| {
            let router = self.fabric.source(channel);
            let port = (channel - self.fabric.outputs(router).start) as u16;
            let router = router as usize;
            let output = self.routers[router].output_named(OutputName::Port(port));
            let all = 0..self.virtual_channels();
            output.map_or(0, |it| all.map(|vc| R::out(self, (router, it), vc, multiple)).sum())
        });
        self.seen = seen;
    }

    /// Cuts what enters the queues now into packets.
    pub fn enter_messages(&mut self, now: Picoseconds) {
        for entry in self.terminals.entering(now) {
            if self.is_cut_off(entry, now) {
                self.losses.end(entry.transfer);
                continue;
            }
            for packet in self.terminals.cut(entry, self.routes, now) {
                self.enqueue(packet, None);
                self.created += 1;
            }
        }
    }

    /// Begins operations, and puts their messages into queues.
    pub fn begin_operations(&mut self, now: Picoseconds) {
        let Some(Collective { operations, .. }) = &mut self.collective else { return };
        let (virtual_channel, packets, due) = operations.begin(self.parameters, now);
        self.due.extend(due);
        packets.into_iter().for_each(|packet| self.enqueue(packet, Some(virtual_channel)));
    }

    fn enqueue(&mut self, packet: Packet, on_tree: Option<usize>) {
        let number = self.packets.len();
        R::source_queue(self, &packet, on_tree).push_back(number);
        self.packets.push(packet);
    }

    /// The last flit of a packet has come to the end of the last channel of its way.
    pub fn arrive(&mut self, number: usize, now: Picoseconds) {
        let packet = &self.packets[number];
        if packet.operation.is_some() {
            let collective = self.collective.as_mut().expect("there are operations");
            let log = &mut self.terminals.log;
            self.due.extend(collective.operations.arrive(packet, self.parameters, log, now));
        } else if self.lost.contains(&number) {
            self.lose(number);
        } else if self.terminals.deliver(packet, now) {
            if self.losses.messages.contains(&packet.transfer) {
                self.losses.end(packet.transfer);
            } else {
                self.terminals.complete(packet, now);
            }
        }
    }

    /// When the flit came of a packet with which it may be routed, of the flits of a buffer: each
    /// with the time at which it came, its packet and its number.
    pub fn came(
        &self,
        packet: usize,
        mut flits: impl Iterator<Item = (Picoseconds, usize, u32)>,
    ) -> Option<Picoseconds> {
        let awaited = match self.parameters.switching {
            Switching::VirtualCutThrough | Switching::Wormhole => 0,
            Switching::StoreAndForward => self.packets[packet].flits - 1,
        };
        let (came, ..) = flits.find(|&(_, it, index)| (it, index) == (packet, awaited))?;
        Some(came)
    }

    /// Whether a virtual channel is the collective subnetwork's.
    pub fn is_on_tree(&self, virtual_channel: usize) -> bool {
        self.collective.is_some() && (virtual_channel == UP || virtual_channel == DOWN)
    }

    /// A router's reduction unit.
    pub fn unit(&mut self, router: usize) -> &mut R::Unit {
        &mut self.collective.as_mut().expect("there are operations").units[router]
    }
}
