//! The plain reference engine: docs/model.md, one flit and one picosecond at a time.
//!
//! It is the second, independent implementation of that page and exists to hold the fast engine to
//! it. It shares nothing with the fast engine but plain data types. Each flit is an object that
//! sits in a queue or on a wire, each return of credits is a message on its way, and no time is
//! computed ahead of what makes it happen; where that costs speed, it costs speed.
//!
//! A tick takes in what arrives (flits, credits, releases, messages), then grants, then starts
//! flits. Flits and credits need at least a picosecond, so the places of the network can't see what
//! the others do in the same tick, and their order within a phase doesn't matter. Granting twice in
//! a row grants nothing the second time, because grants only take: so it does no harm to try at
//! every tick, and it loses nothing to leave out the ticks at which nothing is due.

mod collective;
mod conservation;
pub mod expiry;
pub mod failures;
pub mod link;
mod network;
mod router;

// What is the same in all models of links and routers: the other reference engines use it too.
pub mod adapter;
mod atomics;
pub mod channel;
pub mod choosing;
pub mod classes;
pub mod detours;
pub mod operations;
pub mod packet;
pub mod phased;
pub mod terminal;
mod tree;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Log, Parameters};
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_workload::traffic::{CollectiveSpec, Message};

use crate::failure::{Failures, Losses};

use adapter::InjectionQueues;
use channel::{ChannelKind, Moving, arrived};
use collective::Collective;
use link::Counts;
use network::{Channel, Flit, Network, Source};
use packet::Packet;
use phased::Seen;
use router::Router;
use terminal::Terminals;

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

/// Sends all messages, in the order of their times (those of one terminal at one time in the order
/// given), and runs until everything has been delivered and all credits are back.
///
/// # Errors
/// If the network deadlocks.
pub fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<Log, Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(false)
}

/// Runs as [`run`] does, with collective operations beside the messages if there are any. Returns
/// also the counts of all links together, and the flits that each sent, by virtual channel.
///
/// # Errors
/// If the network deadlocks.
pub fn run_counting(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    collective: Option<&CollectiveSpec>,
) -> Result<(Log, Counts, Vec<Vec<u64>>), Deadlock> {
    let mut simulator = Simulator::new(fabric, routes, parameters, messages);
    if let Some(spec) = collective {
        let collective = Collective::new(fabric, parameters, spec);
        simulator.due.insert(collective.operations.begins());
        simulator.collective = Some(collective);
    }
    simulator.run_and_count(false)
}

/// For how long the packets had waited that were granted each channel that leaves a router, in the
/// order of routers and outputs; none if the network deadlocks.
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

/// The same as [`run`], without leaving out the ticks at which nothing is due.
///
/// # Errors
/// If the network deadlocks.
pub fn run_every_tick(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
) -> Result<Log, Deadlock> {
    Simulator::new(fabric, routes, parameters, messages).run(true)
}

/// Where a packet is sent from: a virtual channel's buffer at the far end of a channel.
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
    /// Collective operations, if there are any.
    collective: Option<Collective>,
    /// By terminal and injection channel.
    adapters: Vec<Vec<InjectionQueues>>,
    packets: Vec<Packet>,
    /// Ticks at which something is due in the network.
    due: BTreeSet<Picoseconds>,
    /// Packets that have been cut; each copy that a link sends again is one more in `packets`.
    created: usize,
    /// What fails on the way, and what has come of it.
    failures: Failures<'a>,
    losses: Losses,
    /// Packets for which their sinks have no use.
    lost: BTreeSet<usize>,
    /// The failed channels that swallow packets, by packet.
    swallowed: BTreeMap<usize, usize>,
    /// Whether no packet is injected for now.
    paused: bool,
    /// Ticks so far.
    ticks: u64,
    /// What routers see of others, if they do.
    seen: Seen,
    /// The credits by which packets decided again last, by channel, then virtual channel.
    decided_by: Vec<Vec<u32>>,
}

impl<'a> Simulator<'a> {
    fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
        messages: &[Message],
    ) -> Self {
        let Network { channels, routers, adapters } = Network::new(fabric, parameters);
        Self {
            fabric,
            routes,
            parameters,
            channels,
            routers,
            terminals: Terminals::new(fabric, routes, parameters, messages),
            collective: None,
            adapters,
            packets: Vec::new(),
            due: BTreeSet::new(),
            created: 0,
            failures: Failures::default(),
            losses: Losses::default(),
            lost: BTreeSet::new(),
            swallowed: BTreeMap::new(),
            paused: false,
            ticks: 0,
            seen: Seen::default(),
            decided_by: Vec::new(),
        }
    }

    fn virtual_channels(&self) -> usize {
        usize::from(self.parameters.virtual_channels)
    }

    fn run(self, every_tick: bool) -> Result<Log, Deadlock> {
        self.run_and_count(every_tick).map(|(log, ..)| log)
    }

    /// Goes through all ticks; the last one.
    fn go_through_all(&mut self, every_tick: bool) -> Picoseconds {
        let mut now = Picoseconds::ZERO;
        while let Some(next) = self.terminals.next_due(&self.due) {
            now = if every_tick { now } else { next };
            assert!(now <= next, "nothing is due before the tick at hand");
            self.tick(now);
            self.go_on_with_failures(now);
            self.due.remove(&now);
            if every_tick {
                now += Picoseconds(1);
            }
        }
        now
    }

    fn run_and_count(mut self, every_tick: bool) -> Result<(Log, Counts, Vec<Vec<u64>>), Deadlock> {
        let now = self.go_through_all(every_tick);
        let packets = self.terminals.undelivered
            + self.collective.as_ref().map_or(0, |it| it.operations.missing());
        if packets > 0 {
            return Err(Deadlock { time: now, packets, log: self.terminals.log });
        }
        self.check_idle();
        let links = self.channels.iter().filter_map(|channel| channel.link.as_ref());
        let (counts, flits) = links.map(|link| (link.counts, link.flits.clone())).unzip();
        let counts: Vec<Counts> = counts;
        Ok((self.terminals.log, counts.into_iter().sum(), flits))
    }

    fn tick(&mut self, now: Picoseconds) {
        self.look_at_others(now);
        self.receive_flits(now);
        self.terminals.perform_atomics(now);
        self.receive_credits(now);
        self.release(now);
        self.receive_verdicts(now);
        self.discard_bad_copies(now);
        self.enter_messages(now);
        self.begin_operations(now);
        self.combine(now);
        self.grant_injection(now);
        self.send_acknowledgements(now);
        self.send_again(now);
        self.start_all_held(now);
        self.drop_expired(now);
        self.look_at_credits(now);
        for router in 0..self.routers.len() {
            self.grant_outputs(router, now);
        }
        self.look_again(now);
        self.start_flits(now);
        // Space that is lost stays lost: it is noticed some ticks later.
        self.ticks += 1;
        if self.ticks.is_multiple_of(16) {
            self.check_conservation();
        }
    }

    /// Puts the flits that are there now, whole, into the buffer or the sink at the channel's end.
    fn receive_flits(&mut self, now: Picoseconds) {
        for channel in 0..self.channels.len() {
            while let Some(flit) = arrived(&mut self.channels[channel].flits, now) {
                if self.channels[channel].ends_in_sink() || self.swallows(channel, flit.packet) {
                    self.sink(flit, now);
                } else if self.channels[channel].link.is_some() {
                    self.take_in(channel, flit, now);
                } else {
                    let buffer = &mut self.channels[channel].buffers[flit.virtual_channel];
                    buffer.flits.push_back((now, flit));
                    self.due.insert(now + self.parameters.routing_latency);
                }
            }
        }
    }

    fn receive_credits(&mut self, now: Picoseconds) {
        for channel in &mut self.channels {
            while let Some(message) = arrived(&mut channel.returning, now) {
                channel.credits[message.virtual_channel] += message.flits;
            }
        }
    }

    /// Frees the channels whose last flit has been sent in full, and the space that the packet had
    /// in the buffer it came from.
    fn release(&mut self, now: Picoseconds) {
        for output in 0..self.channels.len() {
            let channel = &mut self.channels[output];
            let Some(sending) = &channel.sending else { continue };
            let flits = self.packets[sending.packet].flits;
            if sending.started < flits || now < sending.latest_start + channel.flit_time {
                continue;
            }
            assert_eq!(now, sending.latest_start + channel.flit_time);
            let (from, number, packet) = (sending.from, sending.number, sending.packet);
            let out_vc = sending.out_vc;
            channel.sending = None;
            if let Some(link) = &mut channel.link {
                self.due.extend(link.sender.sent(number, now));
            }
            match from {
                Source::Buffer(Place { channel, virtual_channel }) => {
                    let buffer = &mut self.channels[channel].buffers[virtual_channel];
                    assert_eq!(buffer.departed, flits);
                    buffer.departed = 0;
                    buffer.is_sending = false;
                    let last = buffer.latest.expect("it has departed");
                    self.return_room(channel, last, now);
                }
                Source::Tree { router, .. } => self.copy_left(router, out_vc, now),
                Source::Whole if self.channels[output].kind != ChannelKind::Injection => {}
                Source::Whole if self.packets[packet].operation.is_some() => {
                    self.operand_left(packet, now);
                }
                Source::Whole => self.terminals.let_go(&self.packets[packet]),
            }
        }
    }

    /// Starts the next flit of each packet that is being sent, if its channel is free of the flit
    /// before and the flit is here.
    fn start_flits(&mut self, now: Picoseconds) {
        for output in 0..self.channels.len() {
            let channel = &self.channels[output];
            let Some(sending) = &channel.sending else { continue };
            let mut flit = Flit {
                packet: sending.packet,
                index: sending.started,
                virtual_channel: sending.out_vc,
                number: sending.number,
                void_from: sending.void_from,
                is_damaged: false,
                is_bad_copy: false,
                is_bad_here: false,
            };
            let is_first = sending.started == 0;
            if sending.started == self.packets[flit.packet].flits
                || !is_first && now < sending.latest_start + channel.flit_time
            {
                continue;
            }
            if let Source::Tree { router, packet, origin } = sending.from
                && !self.is_there(router, (packet, origin), flit.index, now)
            {
                assert!(!is_first, "a packet asks for an output when its header is there");
                continue;
            }
            if let Source::Buffer(Place { channel, virtual_channel }) = sending.from {
                let buffer = &mut self.channels[channel].buffers[virtual_channel];
                let is_there = |&(_, front): &(Picoseconds, Flit)| {
                    (front.packet, front.index) == (flit.packet, flit.index)
                };
                if !buffer.flits.front().is_some_and(is_there) {
                    assert!(!is_first, "a packet is granted an output when its header is there");
                    continue;
                }
                buffer.latest = buffer.flits.pop_front().map(|(_, flit)| flit);
                buffer.departed += 1;
                flit.is_bad_copy = buffer.latest.is_some_and(|flit| flit.is_bad_copy);
            }
            let channel = &mut self.channels[output];
            let sending = channel.sending.as_mut().expect("checked above");
            sending.started += 1;
            sending.latest_start = now;
            if let Some(link) = &mut channel.link {
                link.flits[flit.virtual_channel] += 1;
                flit.is_damaged = link.damage.send(8 * self.parameters.flit.0);
                if sending.started == self.packets[flit.packet].flits {
                    let until = now + channel.flit_time;
                    flit.is_damaged |= link.damage.has_burst(sending.began, until);
                }
                if flit.is_bad_copy {
                    link.sender.mark(flit.number);
                }
            }
            let arrives = now + channel.delay;
            channel.flits.push_back(Moving { arrives, content: flit });
            self.due.extend([now + channel.flit_time, arrives]);
        }
    }

    /// Takes a flit out of the network; the last one of a packet delivers it.
    fn sink(&mut self, flit: Flit, now: Picoseconds) {
        let packet = &self.packets[flit.packet];
        if flit.index + 1 < packet.flits || flit.is_bad_copy {
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
