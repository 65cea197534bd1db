//! The simulator: events, packets, buffers, channels, routers, adapters.
//!
//! The engine knows routers, ports, channels, virtual channels and routes as runs of ports. It knows no
//! dimensions, patterns or statistics over packets: those are in topology, traffic and measure. The
//! model is docs/model.md; `router` and `adapter` implement its sections of those names.
//!
//! One instant is done in two halves. First everything that happens at it is taken in, in any order,
//! since nothing of it depends on anything else of it. Then every router and adapter that something
//! happened to allocates once. What a grant brings about lies in the future, at least a flit time or a
//! channel's latency ahead. So results can't depend on the order in which events of an instant are
//! stored, nor on the number of threads: each simulates a part of the network for as long as nothing that
//! happens in another part can reach it, and then takes in what has been sent to it.

mod adapter;
mod adaptive;
mod calendar;
mod credit;
mod cut;
mod deadlock;
mod digest;
mod event;
mod mail;
mod message;
mod network;
mod observer;
mod packet;
mod parameters;
mod part;
mod port;
mod rendezvous;
mod router;
mod statistics;
mod together;
mod walk;
mod zero_load;

pub use deadlock::{Deadlock, Waiting};
pub use digest::Digest;
pub use network::ChannelKind;
pub use observer::{CompletedMessage, DeliveredPacket, Log, Observer};
pub use parameters::*;
pub use port::MOST_FLITS;
pub use statistics::{ChannelStatistics, STALLS, Stall};
pub use zero_load::zero_load_latency;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::{Script, Workload};
use crate::units::Picoseconds;
use cut::Cut;
use network::Network;
use packet::Packets;
use part::{Part, Whole};
use together::Together;

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What has happened; looking again at a channel that packets wait for doesn't count.
    pub events: u64,
    /// Flits of all messages that have entered a source queue.
    pub flits_created: u64,
    pub flits_delivered: u64,
    pub packets_delivered: u64,
    /// Channels between routers, crossed by delivered packets and by their flits.
    pub packet_hops: u64,
    pub flit_hops: u64,
}

/// A channel's statistics since the last reset.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelReport {
    pub name: String,
    pub kind: ChannelKind,
    pub statistics: ChannelStatistics,
    /// Fraction of the time in which the channel carried a flit.
    pub utilisation: f64,
    /// Fraction of the time in which packets waited for it, by reason ([`Stall`]).
    pub stalled: [f64; STALLS],
}

impl Counters {
    fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.flits_created += other.flits_created;
        self.flits_delivered += other.flits_delivered;
        self.packets_delivered += other.packets_delivered;
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
    }
}

/// One simulation.
pub struct Engine<'f, O> {
    whole: Arc<Whole<'f>>,
    parts: Vec<Part<'f, O>>,
    /// Nothing that happens in one part reaches another one before so much time has passed.
    reach: Picoseconds,
    clock: Picoseconds,
    statistics_since: Picoseconds,
    /// CPU time of all threads but the caller's.
    others: Duration,
}

impl<'f, O: Observer> Engine<'f, O> {
    /// An empty network at time 0, simulated by one thread. The parameters must have been checked (a
    /// scenario's have): at least one injection and ejection channel, latencies of at least a flit
    /// time, buffers of two maximum packets, at most 65535 flits a packet.
    #[must_use]
    pub fn new(
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self::on_threads(1, fabric, routes, parameters, workload, observer)
    }

    /// Like [`new`](Self::new), simulated by at most so many threads. Results do not depend on how many
    /// there are. One does it alone if the workload has barriers after which messages are sent sooner
    /// than anything else gets from part to part (docs/model.md, "Threads").
    #[must_use]
    pub fn on_threads(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        let network = Network::new(fabric, parameters);
        let link = network.timings[ChannelKind::Network as usize];
        // A packet on a cable, or the credits for one that has left by any channel.
        let fastest = network.flit_times[0];
        let reach = (link.forward + parameters.routing_latency).min(link.back + fastest);
        // A part learns at the end of a window that the last terminal of all has come to a barrier in it.
        let in_time = |latency| latency + parameters.send_overhead >= reach;
        let threads = if workload.barrier_latency().is_none_or(in_time) { threads } else { 1 };
        let cut = Cut::new(fabric, &network, threads);
        let terminals: Vec<_> = (0..cut.parts()).map(|part| cut.terminals(part)).collect();
        let parameters = parameters.clone();
        let whole = Arc::new(Whole { fabric, routes, parameters, network, cut });
        let mut observers: Vec<O> = terminals.iter().skip(1).map(|_| observer.fork()).collect();
        observers.insert(0, observer);
        let workloads = workload.split(&terminals).into_iter().zip(observers);
        let parts = workloads.enumerate().map(|(number, (workload, observer))| {
            let ports = whole.cut.ports(number, &whole.network, &whole.parameters);
            Part::new(&whole, number, ports, workload, observer)
        });
        let parts = parts.collect();
        Self { parts, whole, reach, clock: 0, statistics_since: 0, others: Duration::ZERO }
    }

    /// Simulates everything that happens up to and including `limit`. False if nothing is left that
    /// could happen later.
    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        let left = if let [part] = &mut self.parts[..] {
            part.run_until(limit)
        } else {
            self.run_together(limit)
        };
        let latest = self.parts.iter().map(|part| part.clock).max().expect("there is a part");
        self.clock = if left { limit } else { latest };
        debug_assert!(self.credits_are_conserved());
        left
    }

    /// Runs each part on a thread of its own.
    fn run_together(&mut self, limit: Picoseconds) -> bool {
        let parts = self.parts.len();
        let together = Together::new(parts, self.reach, limit);
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        for part in &mut *others {
            first.observer.gather(&mut part.observer);
        }
        let (mut left, mut busy) = (false, Duration::ZERO);
        std::thread::scope(|scope| {
            let together = &together;
            let start = |part| {
                move || {
                    let started = ThreadTime::now();
                    (together.run(part), started.elapsed())
                }
            };
            let workers: Vec<_> = others.iter_mut().map(|part| scope.spawn(start(part))).collect();
            left |= together.run(first);
            for worker in workers {
                let (more, time) =
                    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                left |= more;
                busy += time;
            }
        });
        for part in others {
            first.observer.gather(&mut part.observer);
        }
        self.others += busy;
        left
    }

    /// How far the simulation has come: the limit of the latest call, or the time of the last event
    /// once nothing is left.
    #[must_use]
    pub fn now(&self) -> Picoseconds {
        self.clock
    }

    /// The fingerprint of all grants so far.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.parts.iter().fold(Digest::default(), |digest, part| digest.and(part.digest))
    }

    /// Work done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.parts.iter().for_each(|part| counters.add(&part.counters));
        counters
    }

    /// CPU time that threads other than the caller's have taken, waiting for each other included.
    #[must_use]
    pub fn time_of_other_threads(&self) -> Duration {
        self.others
    }

    /// Packets that are in the network or on their way to a sink.
    #[must_use]
    pub fn packets_under_way(&self) -> usize {
        self.parts.iter().map(|part| part.packets.count()).sum()
    }

    /// Messages that are queued at their sources or under way.
    #[must_use]
    pub fn messages_under_way(&self) -> u64 {
        let (created, completed) = self
            .parts
            .iter()
            .map(|part| part.adapters.messages())
            .fold((0, 0), |(created, completed), (more, done)| (created + more, completed + done));
        created - completed
    }

    /// What has been observed so far.
    pub fn observer(&mut self) -> &mut O {
        &mut self.parts[0].observer
    }

    /// Forgets what channels have carried so far; they count from now on.
    pub fn reset_channels(&mut self) {
        for part in &mut self.parts {
            part.statistics.reset(&mut part.outputs, self.clock);
        }
        self.statistics_since = self.clock;
    }

    /// What each channel has carried since the last reset, in the engine's order: by router, network
    /// then ejection channels; then injection channels.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelReport> {
        self.in_order().filter_map(|(part, channel)| self.report(part, channel)).collect()
    }

    /// The `most` channels that were busy for the longest time, in the engine's order, and how many there
    /// are in all. Of equally busy ones the first are taken.
    #[must_use]
    pub fn busiest_channels(&self, most: usize) -> (Vec<ChannelReport>, usize) {
        let Whole { fabric, network, .. } = &*self.whole;
        let mut busy: Vec<(Reverse<Picoseconds>, usize)> = self
            .in_order()
            .enumerate()
            .filter_map(|(place, (part, channel))| {
                let kind = network.kind(fabric, part.in_whole(channel))?;
                let flits = part.outputs[channel as usize].flits;
                Some((Reverse(flits * network.timings[kind as usize].flit_time), place))
            })
            .collect();
        let all = busy.len();
        if all <= most {
            return (self.channels(), all);
        }
        busy.select_nth_unstable(most);
        let mut chosen = vec![false; self.parts.iter().map(|part| part.outputs.len()).sum()];
        busy[..most].iter().for_each(|&(_, place)| chosen[place] = true);
        let reports = self.in_order().zip(chosen).filter(|(_, chosen)| *chosen);
        (reports.filter_map(|((part, channel), _)| self.report(part, channel)).collect(), all)
    }

    /// The parts and channels, in the order of the whole network.
    fn in_order(&self) -> impl Iterator<Item = (&Part<'f, O>, u32)> {
        let channels = |range: fn(&Part<'f, O>) -> Range<u32>| {
            self.parts.iter().flat_map(move |part| range(part).map(move |channel| (part, channel)))
        };
        let outputs = channels(|part| 0..part.first_injection);
        outputs.chain(channels(|part| part.first_injection..part.outputs.len() as u32))
    }

    /// What a part's channel has carried; `None` for a vacant port.
    fn report(&self, part: &Part<'f, O>, channel: u32) -> Option<ChannelReport> {
        let Whole { fabric, network, .. } = &*self.whole;
        let number = part.in_whole(channel);
        let kind = network.kind(fabric, number)?;
        let output = &part.outputs[channel as usize];
        let statistics = part.statistics.channel(channel, output, self.clock);
        let flits: u64 = statistics.flits.iter().sum();
        let flit_time = network.timings[kind as usize].flit_time;
        let time = (self.clock - self.statistics_since).max(1) as f64;
        Some(ChannelReport {
            name: network.channel_name(fabric, number),
            kind,
            utilisation: (flits * flit_time) as f64 / time,
            stalled: statistics.stalled.map(|stalled| stalled as f64 / time),
            statistics,
        })
    }

    /// Bytes of the engine's arrays before traffic, and per packet under way.
    #[must_use]
    pub fn memory(&self) -> (usize, usize) {
        let parts: usize = self.parts.iter().map(Part::memory).sum();
        (parts + self.whole.network.memory(), Packets::BYTES)
    }
}

/// Runs a list of messages until everything is delivered, or nothing moves any more.
///
/// # Errors
/// If packets wait for each other in a cycle.
pub fn run_script(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    script: Script,
) -> Result<(Log, Digest), Deadlock> {
    let workload = Workload::Script(script);
    let mut engine = Engine::new(fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::MAX);
    match engine.find_deadlock() {
        Some(deadlock) => Err(deadlock),
        None => Ok((std::mem::take(engine.observer()), engine.digest())),
    }
}
