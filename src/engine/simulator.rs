//! A simulation of a network with a known number of virtual channels: its parts, run by one thread or
//! several. [`Engine`](super::Engine) says what each method does.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;

use super::cut::Cut;
use super::interruption::{Course, Interruption};
use super::network::{ChannelTiming, Network};
use super::packet::Packets;
use super::part::{Part, Whole};
use super::together::Together;
use super::{Backlog, Carried, ChannelKind, ChannelReport, Counters, Digest, Observer, Parameters};
use crate::routing::Routes;
use crate::topology::Fabric;
use crate::traffic::Workload;
use crate::units::Picoseconds;

/// One simulation of a network with at most `LANES` virtual channels.
pub(super) struct Simulator<'f, O, const LANES: usize> {
    pub whole: Arc<Whole<'f>>,
    pub parts: Vec<Part<'f, O, LANES>>,
    /// Nothing that happens in one part reaches another one before so much time has passed.
    reach: Picoseconds,
    pub clock: Picoseconds,
    statistics_since: Picoseconds,
    /// CPU time of all threads but the caller's.
    others: Duration,
    pub interruption: Option<(&'f Interruption, Course)>,
    pub under_way_when_it_came: u64,
}

impl<'f, O: Observer, const LANES: usize> Simulator<'f, O, LANES> {
    pub(super) fn new(
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
        Self {
            parts,
            whole,
            reach,
            clock: 0,
            statistics_since: 0,
            others: Duration::ZERO,
            interruption: None,
            under_way_when_it_came: 0,
        }
    }

    pub(super) fn run_until(&mut self, limit: Picoseconds) -> bool {
        while let Some((interruption, course)) = self.interruption
            && let Some(due) = course.due(interruption).filter(|&due| due <= limit)
        {
            self.run_parts_until(due);
            self.go_on_with(interruption, course, due);
        }
        self.run_parts_until(limit)
    }

    fn run_parts_until(&mut self, limit: Picoseconds) -> bool {
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

    pub(super) fn now(&self) -> Picoseconds {
        self.clock
    }

    pub(super) fn digest(&self) -> Digest {
        self.parts.iter().fold(Digest::default(), |digest, part| digest.and(part.digest))
    }

    pub(super) fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.parts.iter().for_each(|part| counters.add(&part.counters));
        counters
    }

    pub(super) fn time_of_other_threads(&self) -> Duration {
        self.others
    }

    pub(super) fn packets_under_way(&self) -> usize {
        self.parts.iter().map(|part| part.packets.count()).sum()
    }

    pub(super) fn messages_under_way(&self) -> u64 {
        let (created, completed) = self
            .parts
            .iter()
            .map(|part| part.adapters.messages())
            .fold((0, 0), |(created, completed), (more, done)| (created + more, completed + done));
        created - completed - self.counters().messages_lost
    }

    pub(super) fn backlogs(&self) -> impl Iterator<Item = Backlog> + '_ {
        self.parts.iter().flat_map(|part| part.adapters.backlogs())
    }

    pub(super) fn observer(&mut self) -> &mut O {
        &mut self.parts[0].observer
    }

    pub(super) fn reset_channels(&mut self) {
        for part in &mut self.parts {
            part.statistics.reset(&mut part.outputs, self.clock);
        }
        self.statistics_since = self.clock;
    }

    pub(super) fn channels(&self) -> Vec<ChannelReport> {
        self.in_order().filter_map(|(part, channel)| self.report(part, channel)).collect()
    }

    pub(super) fn busiest_channels(&self, most: usize) -> (Vec<ChannelReport>, usize) {
        let Whole { fabric, network, .. } = &*self.whole;
        let mut busy: Vec<(Reverse<Picoseconds>, usize)> = self
            .in_order()
            .enumerate()
            .filter_map(|(place, (part, channel))| {
                let kind = network.kind(fabric, part.in_whole(channel))?;
                Some((Reverse(self.busy(part, channel, network.timings[kind as usize])), place))
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

    pub(super) fn carried(&self) -> Carried {
        let Whole { fabric, network, .. } = &*self.whole;
        let mut carried = Carried { channels: fabric.channels() as u64, ..Carried::default() };
        let mut busiest = 0;
        for (part, channel) in self.in_order() {
            let Some(kind) = network.kind(fabric, part.in_whole(channel)) else { continue };
            let busy = self.busy(part, channel, network.timings[kind as usize]);
            busiest = busiest.max(busy);
            if kind == ChannelKind::Network {
                carried.busy += u128::from(busy);
            }
        }
        carried.busiest = busiest as f64 / (self.clock - self.statistics_since).max(1) as f64;
        carried
    }

    /// For how long a part's channel has carried flits.
    fn busy(&self, part: &Part<'f, O, LANES>, channel: u32, timing: ChannelTiming) -> Picoseconds {
        let output = &part.outputs[channel as usize];
        part.statistics.busy(channel, output, timing.flit_time, self.clock)
    }

    /// The parts and channels, in the order of the whole network.
    fn in_order(&self) -> impl Iterator<Item = (&Part<'f, O, LANES>, u32)> {
        let channels = |range: fn(&Part<'f, O, LANES>) -> Range<u32>| {
            self.parts.iter().flat_map(move |part| range(part).map(move |channel| (part, channel)))
        };
        let outputs = channels(|part| 0..part.first_injection);
        outputs.chain(channels(|part| part.first_injection..part.outputs.len() as u32))
    }

    /// What a part's channel has carried; `None` for a vacant port.
    fn report(&self, part: &Part<'f, O, LANES>, channel: u32) -> Option<ChannelReport> {
        let Whole { fabric, network, parameters, .. } = &*self.whole;
        let number = part.in_whole(channel);
        let kind = network.kind(fabric, number)?;
        let output = &part.outputs[channel as usize];
        let statistics =
            part.statistics.channel(channel, output, parameters.virtual_channels, self.clock);
        let busy = self.busy(part, channel, network.timings[kind as usize]);
        let time = (self.clock - self.statistics_since).max(1) as f64;
        Some(ChannelReport {
            name: network.channel_name(fabric, number),
            kind,
            utilisation: busy as f64 / time,
            stalled: statistics.stalled.map(|stalled| stalled as f64 / time),
            statistics,
        })
    }

    pub(super) fn memory(&self) -> (usize, usize) {
        let parts: usize = self.parts.iter().map(Part::memory).sum();
        (parts + self.whole.network.memory(), Packets::BYTES)
    }
}
