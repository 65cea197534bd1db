//! The plain reference engine of links shared flit by flit: docs/model.md, "Links shared flit by flit", one flit and
//! one instant at a time.
//!
//! As `tests/reference` does for links that are granted to packets, it exists to hold the fast engine to that page,
//! and shares nothing with it but plain data types. Each flit is an object that sits in a queue or on a wire, each
//! credit is an object on its way, and at every instant every queue of every router is looked at.
//!
//! An instant takes in what arrives (flits, then credits, then messages). Then injection channels send, and each router
//! lets new packets decide on detours, allocates virtual channels and allocates its switch. What is sent needs at
//! least a picosecond to get anywhere, so the order in which the routers and adapters do this doesn't matter.
//! An instant at which nothing is due changes nothing, so it does no harm to look at more instants than needed.

mod conservation;
mod failures;
mod network;
mod packet;
mod queue;
mod source;
mod stalls;
mod switch;
mod turns;
mod virtual_channels;
mod way;

use std::collections::{BTreeMap, BTreeSet};

use flitlab::{
    engine::{
        CompletedMessage, DeliveredPacket, Digest, FlitSharing, Log, Parameters, STALLS, Switching,
    },
    routing::Routes,
    topology::Fabric,
    traffic::{Kind, Message},
    units::Picoseconds,
};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::reference::atomics::Atomics;
use crate::reference::choosing::Turns;

pub use failures::{Failure, Losses, run as run_with_failure};
use network::{Channel, Flit, Network, Router, arrived};
use packet::{Entry, Packet, Transfer};
use source::Adapter;
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

/// Sends all messages, in the order of their times (those of one terminal at one time in the order given), and runs
/// until everything has been delivered and all credits are back. The digest is that of the start of each flit on an
/// injection channel and of each flit's win of a switch.
///
/// # Errors
/// If the network deadlocks.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<(Log, Digest), Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(false)
}

/// How long packets waited for each channel that leaves a router, by reason, in the order of routers and outputs; none if
/// the network deadlocks.
pub fn stalls(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Option<Vec<[Picoseconds; STALLS]>> {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages);
    simulator.stalls = Some(Stalls::new(&simulator.routers));
    simulator.go_through_all(false);
    (simulator.undelivered == 0).then(|| simulator.stalls.expect("it was given").times())
}

/// The same as [`run`], without leaving out the instants at which nothing is due.
///
/// # Errors
/// If the network deadlocks.
pub fn run_every_tick(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<(Log, Digest), Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(true)
}

struct Simulator<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    parameters: &'a Parameters,
    sharing: &'a FlitSharing,
    /// Whether virtual channels are divided between requests and responses.
    has_reads: bool,
    channels: Vec<Channel>,
    routers: Vec<Router>,
    adapters: Vec<Adapter>,
    packets: Vec<Packet>,
    /// The messages as the terminals created them, and how much of each is still missing.
    transfers: Vec<Transfer>,
    /// What will enter the adapters' queues, by time, in order of creation.
    entries: BTreeMap<Picoseconds, Vec<Entry>>,
    /// Instants at which something is due.
    due: BTreeSet<Picoseconds>,
    undelivered: usize,
    log: Log,
    digest: Digest,
    /// Of each terminal, for packets that choose their way.
    random: Vec<ChaCha8Rng>,
    /// Of sources that take paths in turn.
    turns: Turns,
    atomics: Atomics,
    /// What fails on the way, and what has come of it.
    failure: Option<&'a Failure>,
    losses: Losses,
    /// Whether no packet is begun for now.
    paused: bool,
    /// How long packets have waited, if somebody wants to know.
    stalls: Option<Stalls>,
}

impl<'a> Simulator<'a> {
    fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
        messages: &[Message],
    ) -> Self {
        let sharing = parameters.sharing.as_ref().expect("links are shared flit by flit");
        let has_reads = messages.iter().any(|message| message.kind != Kind::Data);
        let Network { channels, routers } = Network::new(fabric, parameters, sharing);
        let mut simulator = Self {
            fabric,
            routes,
            parameters,
            sharing,
            has_reads,
            channels,
            routers,
            adapters: Vec::new(),
            packets: Vec::new(),
            transfers: Vec::new(),
            entries: BTreeMap::new(),
            due: BTreeSet::new(),
            undelivered: 0,
            log: Log::default(),
            digest: Digest::default(),
            random: (0..fabric.terminals()).map(|terminal| random(routes, terminal)).collect(),
            turns: Turns::new(),
            atomics: Atomics::default(),
            failure: None,
            losses: Losses::default(),
            paused: false,
            stalls: None,
        };
        simulator.add_adapters();
        simulator.create_messages(messages);
        simulator
    }

    fn virtual_channels(&self) -> usize {
        usize::from(self.parameters.virtual_channels)
    }

    fn wormhole(&self) -> bool {
        self.parameters.switching == Switching::Wormhole
    }

    /// The model's `C`: the time for which a flit takes the crossbar to an output.
    fn crossbar_time(&self, router: usize, output: usize) -> Picoseconds {
        let channel = self.routers[router].outputs[output].channel;
        self.channels[channel].flit_time.div_ceil(self.parameters.crossbar_speedup.into())
    }

    fn run(mut self, every_tick: bool) -> Result<(Log, Digest), Deadlock> {
        let now = self.go_through_all(every_tick);
        let Self { undelivered: packets, digest, .. } = self;
        if packets > 0 {
            return Err(Deadlock { time: now, packets, log: self.log, digest });
        }
        self.check_idle();
        Ok((self.log, digest))
    }

    /// Goes through all instants; the last one.
    fn go_through_all(&mut self, every_tick: bool) -> Picoseconds {
        let mut now = 0;
        while let Some(&next) = self.due.first() {
            now = if every_tick { now } else { next };
            assert!(now <= next, "nothing is due before the instant at hand");
            self.instant(now);
            self.go_on_with_failure(now);
            self.due.remove(&now);
            if every_tick {
                now += 1;
            }
        }
        now
    }

    fn instant(&mut self, now: Picoseconds) {
        self.receive_flits(now);
        self.perform_atomics(now);
        self.receive_credits(now);
        self.enter_messages(now);
        self.inject(now);
        for router in 0..self.routers.len() {
            self.decide(router, now);
            self.allocate_virtual_channels(router, now);
            self.allocate_switch(router, now);
        }
        self.count_stalls(now);
        self.check_conservation(now);
    }

    /// Puts the flits that are there now, whole, into a queue or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.packets[flit.packet].swallowed_by == Some(channel) {
                    self.sink(flit, now);
                    continue;
                }
                match self.channels[channel].leads_to {
                    None => self.sink(flit, now),
                    Some((router, port)) => self.receive(router, port, flit, now),
                }
            }
        }
    }

    /// Puts a flit into the queue of its virtual channel; if there is one for each output too, a header goes into that
    /// of the packet's next output, and the packet's other flits follow it.
    fn receive(&mut self, router: usize, port: usize, flit: Flit, now: Picoseconds) {
        let virtual_channel = flit.virtual_channel;
        if flit.index == 0 && self.sharing.virtual_output_queues {
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
        }
    }

    /// Takes a flit out of the network; the last one of a packet delivers it.
    fn sink(&mut self, flit: Flit, now: Picoseconds) {
        let packet = &self.packets[flit.packet];
        if flit.index + 1 < packet.flits {
            return;
        }
        if packet.lost {
            return self.lose(flit.packet);
        }
        self.log.packets.push(DeliveredPacket {
            source: packet.source,
            destination: packet.destination,
            sequence: packet.sequence,
            injection_channel: packet.injection_channel,
            virtual_channel: packet.virtual_channel,
            flits: packet.flits,
            payload: packet.payload,
            hops: packet.hops as u32,
            derouting: packet.course.and_then(|course| course.kind),
            created: packet.created,
            injected: packet.injected,
            delivered: now,
        });
        self.undelivered -= 1;
        let (transfer, injection_channel) = (packet.transfer, packet.injection_channel);
        let is_response = packet.is_response;
        self.transfers[transfer].packets_missing -= 1;
        if self.transfers[transfer].packets_missing > 0 || self.losses.messages.contains(&transfer)
        {
            return;
        }
        let message = self.transfers[transfer].message;
        if matches!(message.kind, Kind::Atomic { .. }) && !is_response {
            let target = message.destination;
            self.atomics.come(target, transfer, injection_channel, self.parameters);
        } else if matches!(message.kind, Kind::Read { .. } | Kind::Put) && !is_response {
            let entry = Entry { transfer, injection_channel, is_response: true };
            self.schedule(now + self.parameters.service_time, entry);
        } else {
            self.log.messages.push(CompletedMessage {
                source: message.source,
                destination: message.destination,
                bytes: message.bytes,
                created: message.time,
                completed: now + self.parameters.receive_overhead,
            });
        }
    }

    /// Performs the atomic operations whose requests have come now.
    fn perform_atomics(&mut self, now: Picoseconds) {
        for (time, transfer, injection_channel) in self.atomics.perform(now, self.parameters) {
            self.schedule(time, Entry { transfer, injection_channel, is_response: true });
        }
    }

    fn schedule(&mut self, time: Picoseconds, entry: Entry) {
        self.entries.entry(time).or_default().push(entry);
        self.due.insert(time);
    }
}

/// A terminal's stream of random numbers.
fn random(routes: &Routes, terminal: u32) -> ChaCha8Rng {
    let seed = match routes {
        Routes::Adaptive(adaptive) => adaptive.seed(),
        _ => 0,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(terminal.into());
    random
}

/// Of ascending numbers the first in cyclic order from a pointer: the first that is not below it, else the lowest.
fn first_from(pointer: usize, numbers: impl IntoIterator<Item = usize>) -> Option<usize> {
    numbers.into_iter().min_by_key(|&number| (number < pointer, number))
}
