//! A simulation: the parts of a network, run by one thread or several.
//!
//! [`Engine`] is what users of the library see. It owns the parts, runs them through the frame, and
//! gathers counters, statistics and observations.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::common::Common;
use crate::counters::{Carried, Counters};
use crate::frame::tick::{END, MAX_HOP_TIME, Tick};
use crate::frame::{ObservedPart, run_parts};
use crate::host::Hosts;
use crate::host::source::Backlog;
use crate::interruption::{DRAIN_CHECK, FailureProgress, FailureReport, Interruption, Step};
use crate::network::context::{NetworkContext, Timing};
use crate::observer::Observer;
use crate::part::Part;
use crate::router::cioq::CioqRouters;
use crate::router::flit::FlitRouters;
use crate::router::holder::Followed;
use crate::router::packet::PacketRouters;
use crate::router::{AllParts, Fail, Routers};
use crate::trace::Trace;
use flitlab_base::mix::Mix;
use flitlab_base::narrow::narrow;
use flitlab_base::stop::Stop;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_model::workload::{Collectives, HostOverheads, MAX_WORKLOADS, Workload};
use flitlab_model::{
    Acknowledgements, ChannelKind, ChannelReport, Deadlock, Digest, Grant, Parameters, Retry,
    RouterKind,
};
use flitlab_routing::Routes;

/// Receives time, number of grants and digest so far.
type DigestLog<'f> = Box<dyn FnMut(Picoseconds, u64, Digest) + 'f>;

/// A list of all parts, or of their states, by the kind of their routers.
#[derive(Serialize, Deserialize)]
pub(super) enum ByRouters<P, C, F> {
    Packet(P),
    Cioq(C),
    Flit(F),
}

/// The parts of a network and their observers, with routers of one kind.
type PartList<'f, R, O> = Vec<ObservedPart<Part<'f, R>, O>>;
type Parts<'f, O> = ByRouters<
    PartList<'f, PacketRouters, O>,
    PartList<'f, CioqRouters, O>,
    PartList<'f, FlitRouters, O>,
>;

/// Evaluates an expression for the list of parts, whatever kind of routers they have.
macro_rules! with_parts {
    ($parts:expr, $list:ident => $body:expr) => {
        match $parts {
            $crate::simulator::ByRouters::Packet($list) => $body,
            $crate::simulator::ByRouters::Cioq($list) => $body,
            $crate::simulator::ByRouters::Flit($list) => $body,
        }
    };
}
pub(super) use with_parts;

/// Idle parts with this traffic, each with an observer of its own.
fn idle_parts<'f, R: Routers, O: Observer>(
    context: &Arc<NetworkContext<'f>>,
    own: &R::Own,
    workload: Box<dyn Workload>,
    observer: O,
    interruption: Option<&'f Interruption>,
) -> PartList<'f, R, O> {
    let terminals: Vec<_> = (0..context.cut.parts()).map(|it| context.cut.terminals(it)).collect();
    let mut observers: Vec<O> = terminals.iter().skip(1).map(|_| observer.fork()).collect();
    observers.insert(0, observer);
    let workloads = workload.split(&terminals).into_iter().zip(observers);
    let parts = workloads.enumerate().map(|(number, (workload, observer))| ObservedPart {
        part: Part::new(context, number, own, workload, interruption),
        observer,
    });
    parts.collect()
}

/// A simulation of one network, its routes and its traffic.
pub struct Engine<'f, O> {
    context: Arc<NetworkContext<'f>>,
    pub(super) parts: Parts<'f, O>,
    /// The time within which a router cannot reach another one.
    window: Tick,
    pub(super) clock: Picoseconds,
    pub(super) statistics_since: Picoseconds,
    /// CPU time of all threads but the caller's.
    others: Duration,
    /// Ends a run that this thread has begun.
    stop: Stop,
    /// Called at every multiple of a window's length.
    log: Option<DigestLog<'f>>,
    /// The routes before all failures.
    routes: &'f Routes,
    pub(super) interruption: Option<(&'f Interruption, FailureProgress)>,
    /// By failure so far.
    pub(super) effects: Vec<FailureEffects>,
}

/// What is noted of a failure.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FailureEffects {
    packets_under_way: u64,
    packets_lost_before: u64,
    messages_lost_before: u64,
    /// Time at which sources went on with routes that know of it.
    resumed: Option<Picoseconds>,
}

impl<'f, O: Observer> Engine<'f, O> {
    /// An empty network at time 0, simulated by at most `threads` threads. Results do not depend on
    /// the number of threads.
    ///
    /// The parameters must have been checked, as those of a scenario are:
    ///
    /// * at least one injection and one ejection channel;
    /// * latencies of at least a flit time;
    /// * buffers of two maximum packets;
    /// * at most [`MAX_FLITS`](crate::MAX_FLITS) flits a packet;
    /// * as many virtual channels as the routes use.
    ///
    /// # Panics
    /// If a packet and a channel's latency can take longer than [`MAX_HOP_TIME`]. If a class of
    /// traffic asks for what the routing can't do. If workloads have send overheads of their own,
    /// and the parameters one too.
    pub fn new(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Box<dyn Workload>,
        observer: O,
    ) -> Self {
        Self::interrupted(threads, fabric, routes, parameters, workload, observer, None)
    }

    /// Makes a simulation like [`new`](Self::new), with failures during operation if
    /// `interruption` is given.
    ///
    /// # Panics
    /// As [`new`](Self::new), and if the routes after the interruption are of another kind.
    pub fn interrupted(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Box<dyn Workload>,
        observer: O,
        interruption: Option<&'f Interruption>,
    ) -> Self {
        let kind = std::mem::discriminant(routes);
        let is_like = |later: &Routes| std::mem::discriminant(later) == kind;
        assert!(
            interruption.is_none_or(|it| it.later().all(is_like)),
            "the routes after an interruption are of another kind"
        );
        let stay = parameters.longest_stay(fabric.cable_classes());
        assert!(stay <= MAX_HOP_TIME, "a packet may take {stay} ps from router to router");
        let context =
            NetworkContext::new(threads, fabric, routes, parameters, &*workload, interruption);
        let context = Arc::new(context);
        let window = window(&context, &*workload);
        let parts = match &parameters.kind {
            RouterKind::WholePackets => {
                Parts::Packet(idle_parts(&context, &(), workload, observer, interruption))
            }
            RouterKind::OutputBuffers(_) => {
                Parts::Cioq(idle_parts(&context, &(), workload, observer, interruption))
            }
            RouterKind::SharedLinks(own) => {
                Parts::Flit(idle_parts(&context, own, workload, observer, interruption))
            }
            RouterKind::OutputQueues(_) => panic!("output queues have a simulator of their own"),
        };
        Self {
            parts,
            context,
            window,
            clock: Picoseconds::ZERO,
            statistics_since: Picoseconds::ZERO,
            others: Duration::ZERO,
            stop: Stop::current(),
            log: None,
            routes,
            interruption: interruption.map(|it| (it, FailureProgress::default())),
            effects: Vec::new(),
        }
    }

    /// Calls `log` with the time, the number of grants so far and their digest. The calls come at
    /// each multiple of a window's length (some 100 ns) and at the end. Two machines whose results
    /// differ find the first difference by comparing their logs.
    pub fn log(&mut self, log: impl FnMut(Picoseconds, u64, Digest) + 'f) {
        self.log = Some(Box::new(log));
    }

    /// Simulates everything up to and including `limit`, or [`END`] if that is earlier. Returns
    /// whether any event is left that could happen later.
    ///
    /// Under a [`Stop`](flitlab_base::stop::Stop) that was there when the engine was made, it
    /// unwinds within one window of being asked to. The engine can't be used any more then.
    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        let limit = limit.min(END);
        let Some(mut log) = self.log.take() else { return self.run_quietly(limit) };
        let step = Picoseconds::from(self.window);
        let mut left = true;
        while left && self.clock < limit {
            let mark = step * (self.clock / step + 1);
            left = self.run_quietly(mark.min(limit));
            if self.clock == mark || !left {
                log(self.clock, self.counters().grants, self.digest());
            }
        }
        self.log = Some(log);
        left
    }

    fn run_quietly(&mut self, limit: Picoseconds) -> bool {
        while let Some((interruption, progress)) = self.interruption
            && let Some((due, step)) = progress.next(interruption).filter(|next| next.0 <= limit)
        {
            self.run_parts_until(due);
            self.go_on_with(interruption, progress, (step, due));
        }
        self.run_parts_until(limit)
    }

    fn run_parts_until(&mut self, limit: Picoseconds) -> bool {
        self.gather();
        let (left, others) =
            with_parts!(&mut self.parts, parts => run_parts(parts, self.window, limit, &self.stop));
        self.stop.look();
        self.others += others;
        self.gather();
        // The rest may have been an attempt at an output that no packet asks for any more: then
        // time does not go back.
        if left {
            self.clock = limit;
        } else {
            with_parts!(&self.parts, parts => {
                let latest = parts.iter().map(|it| it.part.latest());
                self.clock = latest.fold(self.clock, Picoseconds::max);
            });
        }
        debug_assert!(self.credits_are_conserved());
        left
    }

    /// Takes an interruption a step on that is due now.
    fn go_on_with(
        &mut self,
        interruption: &'f Interruption,
        progress: FailureProgress,
        (step, now): (Step, Picoseconds),
    ) {
        let under_way = self.packets_under_way() as u64;
        let next = match step {
            Step::Fail => {
                let next = FailureProgress { failed: progress.failed + 1, ..progress };
                self.fail(interruption, next, now);
                next
            }
            Step::Drain => {
                self.shares_mut().for_each(|(_, hosts)| hosts.sources.paused = true);
                FailureProgress { check: Some(now), ..progress }
            }
            Step::Check if under_way > 0 => {
                FailureProgress { check: Some(now + DRAIN_CHECK), ..progress }
            }
            Step::Check => {
                let (_, known) = progress.ready(interruption).expect("there are new routes");
                let next = FailureProgress { known, check: None, changed: now, ..progress };
                self.change_routes(interruption, next);
                next
            }
        };
        self.interruption = Some((interruption, next));
    }

    /// Lets the latest failure happen.
    fn fail(&mut self, interruption: &'f Interruption, next: FailureProgress, now: Picoseconds) {
        let counters = self.counters();
        self.effects.push(FailureEffects {
            packets_under_way: self.packets_under_way() as u64,
            packets_lost_before: counters.packets_lost,
            messages_lost_before: counters.messages_lost,
            resumed: None,
        });
        let meanwhile = interruption.meanwhile(next, (self.context.fabric, self.routes));
        let meanwhile = meanwhile.map(|routes| self.change_context(routes));
        let (context, clock) = (&*self.context, self.clock);
        with_parts!(&mut self.parts, parts => {
            let cut = Fail::cut_by(&all(parts, context, clock), (interruption, now));
            let fail = |it: &mut ObservedPart<Part<'f, _>, _>| {
                it.part.fail((interruption, now), &cut, meanwhile.as_ref());
            };
            parts.iter_mut().for_each(fail);
        });
    }

    /// Changes to new routes in an empty network, and lets sources go on.
    fn change_routes(&mut self, interruption: &'f Interruption, next: FailureProgress) {
        let known = self.effects.iter_mut().take(next.known);
        known.for_each(|it| it.resumed = it.resumed.or(Some(next.changed)));
        let whole = (self.context.fabric, self.routes);
        let (left, _) = interruption.in_use(next, whole);
        let context = self.change_context(interruption.routes(next, whole));
        with_parts!(&mut self.parts, parts => for it in parts {
            it.part.change_tables(left, &context, next.changed);
        });
    }

    /// Makes the context with other routes, made for this fabric, and takes it over; the parts have
    /// to be told.
    fn change_context(&mut self, routes: (&'f Fabric, &'f Routes)) -> Arc<NetworkContext<'f>> {
        let context = (*self.context).clone().with_routes(routes);
        self.context = Arc::new(context);
        Arc::clone(&self.context)
    }

    /// Gives all parts the routes of an interruption that has come so far.
    pub(super) fn catch_up_with(
        &mut self,
        interruption: &'f Interruption,
        progress: FailureProgress,
    ) {
        self.interruption = Some((interruption, progress));
        let routes = interruption.routes(progress, (self.context.fabric, self.routes));
        let context = self.change_context(routes);
        self.shares_mut().for_each(|(common, _)| common.change_routes(&context));
    }

    /// The effects of each failure so far, in the order of time; `None` if nothing ever fails.
    pub fn failures(&self) -> Option<Vec<FailureReport>> {
        self.interruption?;
        let Counters { packets_lost, messages_lost, .. } = self.counters();
        let lost_before = |number: usize| {
            let lost = |it: &FailureEffects| (it.packets_lost_before, it.messages_lost_before);
            self.effects.get(number).map_or((packets_lost, messages_lost), lost)
        };
        let report = |(number, it): (usize, &FailureEffects)| {
            let until = lost_before(number + 1);
            FailureReport {
                packets_under_way: it.packets_under_way,
                packets_lost: until.0 - it.packets_lost_before,
                messages_lost: until.1 - it.messages_lost_before,
                resumed: it.resumed,
            }
        };
        Some(self.effects.iter().enumerate().map(report).collect())
    }

    /// Looks for a deadlock in the present state. Takes time linear in buffers and packets, except
    /// for long chains of packets that have a choice.
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        with_parts!(&self.parts, parts => all(parts, &self.context, self.clock).find_deadlock())
    }

    /// Whether flits and credits add up to the capacity of every buffer: flits in it or under way
    /// to it, and credits at the router upstream or under way to it. Always true. Takes time linear
    /// in buffers and packets.
    pub fn credits_are_conserved(&self) -> bool {
        with_parts!(&self.parts, parts => {
            all(parts, &self.context, self.clock).credits_are_conserved()
        })
    }

    /// The channel that holds a packet up now, by name. `None` if the packet moves, is not there
    /// yet or no longer, or waits for other packets of its adapter only. In the network, only
    /// [traced](Self::trace) packets are found.
    pub fn held_up_by(&self, packet: Followed) -> Option<String> {
        let channel = with_parts!(&self.parts, parts => {
            all(parts, &self.context, self.clock).holder(packet)
        })?;
        Some(self.context.network.channel_name(self.context.fabric, channel))
    }

    /// What each part has besides its routers.
    fn shares(&self) -> impl Iterator<Item = (&Common<'f>, &Hosts)> {
        let share = |part: usize| {
            with_parts!(&self.parts, parts => {
                let Part { common, hosts, .. } = &parts[part].part;
                (common, hosts)
            })
        };
        (0..self.context.cut.parts()).map(share)
    }

    pub(super) fn shares_mut(&mut self) -> std::vec::IntoIter<(&mut Common<'f>, &mut Hosts)> {
        let shares: Vec<_> = with_parts!(&mut self.parts, parts => {
            parts.iter_mut().map(|it| (&mut it.part.common, &mut it.part.hosts)).collect()
        });
        shares.into_iter()
    }

    /// Gathers the observations of all parts in the first part's observer.
    fn gather(&mut self) {
        with_parts!(&mut self.parts, parts => {
            let (first, others) = parts.split_first_mut().expect("there is a part");
            others.iter_mut().for_each(|part| first.observer.gather(&mut part.observer));
        });
    }

    /// How far the simulation has come: the limit of the latest call, or the time of the last event
    /// if none is left.
    pub fn now(&self) -> Picoseconds {
        self.clock
    }

    /// The fingerprint of all grants so far.
    pub fn digest(&self) -> Digest {
        self.shares().fold(Digest::default(), |digest, (common, _)| digest.and(common.digest))
    }

    /// Counts of work done so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.shares().for_each(|(common, _)| counters.add(&common.counters));
        counters
    }

    /// CPU time of all threads but the caller's, waits for each other included.
    pub fn time_of_other_threads(&self) -> Duration {
        self.others
    }

    /// Packets that are in the network or on their way to a sink.
    pub fn packets_under_way(&self) -> usize {
        self.shares().map(|(common, _)| common.packets.count).sum()
    }

    /// Messages that are queued at their sources or under way.
    pub fn messages_under_way(&self) -> u64 {
        (0..).take(MAX_WORKLOADS).map(|class| self.under_way_of(class)).sum()
    }

    /// Messages of a class that are queued at their sources or under way.
    pub fn under_way_of(&self, class: u8) -> u64 {
        let messages = self.shares().map(|(_, hosts)| hosts.messages(class));
        let (created, ended) = messages.fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
        created - ended
    }

    /// Flits of a class that were created and are neither delivered nor lost, source queues
    /// included. `None` for the class of collective operations, whose packets routers copy and
    /// combine.
    pub fn flits_under_way_of(&self, class: u8) -> Option<u64> {
        let mut shares = self.shares();
        if shares.any(|(_, hosts)| hosts.workload.of_class(class).collectives().is_some()) {
            return None;
        }
        let flits = self.shares().map(|(_, hosts)| hosts.flits(class));
        let (created, ended) = flits.fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
        // A message that a failure cuts off at its source is not created.
        Some(created - ended)
    }

    /// Whether nothing of a class is left to happen, as far as is known: no terminal may create a
    /// message of it, none is queued or under way, and its workload has been told of all.
    pub fn is_over(&self, class: u8) -> bool {
        self.under_way_of(class) == 0
            && !self.shares().any(|(_, hosts)| hosts.have_events_of(class))
    }

    /// When the workload of a class begins.
    pub fn start_of(&self, class: u8) -> Picoseconds {
        let workload = self.shares().next().map(|(_, hosts)| &hosts.workload);
        workload.map_or(Picoseconds::ZERO, |workload| workload.start_of(class))
    }

    /// When the latest event of a class's workload was that may be deferred; 0 without any.
    pub fn latest_deferred_of(&self, class: u8) -> Picoseconds {
        let workloads = self.shares().map(|(_, hosts)| hosts.workload.of_class(class));
        let latest = workloads.filter(|it| it.needs().deferred).map(|it| it.latest()).max();
        match latest {
            None | Some(Picoseconds::ZERO) => Picoseconds::ZERO,
            Some(latest) => self.start_of(class) + latest,
        }
    }

    /// Number of workloads of which the workload consists; 0 if it is one.
    pub fn classes(&self) -> usize {
        self.shares().next().map_or(0, |(_, hosts)| hosts.workload.by_class().len())
    }

    /// Calls `each` with the contents of each terminal's source queues, in the order of terminals.
    pub fn backlogs(&self, mut each: impl FnMut(Backlog)) {
        for (number, (_, hosts)) in self.shares().enumerate() {
            for terminal in self.context.cut.terminals(number) {
                let router = self.context.fabric.terminal_router(terminal);
                each(router.map_or_else(Backlog::default, |_| {
                    let own = self.context.in_part(terminal, number);
                    hosts.sources.adapters[own as usize].queue
                }));
            }
        }
    }

    /// Traces these packets from now on. A packet is given by its source and its number there.
    pub fn trace(&mut self, packets: impl IntoIterator<Item = (u32, u32)>) {
        let wanted: HashSet<_, BuildHasherDefault<Mix>> = packets.into_iter().collect();
        for (common, _) in self.shares_mut() {
            common.trace = Some(Box::new(Trace::of(wanted.clone())));
        }
    }

    /// The grants of channels between routers to the packets of [`Self::trace`], in the order of
    /// time.
    pub fn traced(&self) -> Vec<Grant> {
        let traces = self.shares().filter_map(|(common, _)| common.trace.as_ref());
        let mut grants: Vec<_> = traces.flat_map(|trace| &trace.grants).copied().collect();
        grants.sort_unstable();
        let grant = |(time, waited, channel, source, sequence)| Grant {
            channel: self.context.network.channel_name(self.context.fabric, channel),
            time,
            waited,
            source,
            sequence,
        };
        grants.into_iter().map(grant).collect()
    }

    /// The workload that is under way, by part of the network; empty if it is of another kind.
    pub fn workload<W: Workload>(&self) -> impl Iterator<Item = &W> {
        self.shares().filter_map(|(_, hosts)| hosts.workload.downcast_ref())
    }

    /// The workload of a class that is under way, by part of the network; empty if it is of another
    /// kind.
    pub fn workload_of<W: Workload>(&self, class: u8) -> impl Iterator<Item = &W> {
        self.shares().filter_map(move |(_, hosts)| hosts.workload.of_class(class).downcast_ref())
    }

    /// The operations of the collective subnetwork, by part of the network; empty if there are
    /// none.
    pub fn collectives(&self) -> impl Iterator<Item = &Collectives> {
        self.shares().filter_map(|(_, hosts)| hosts.workload.collectives())
    }

    /// The observer, with everything observed so far.
    pub fn observer(&mut self) -> &mut O {
        with_parts!(&mut self.parts, parts => &mut parts[0].observer)
    }

    /// Resets the statistics of channels: they count from now on.
    pub fn reset_channels(&mut self) {
        with_parts!(&mut self.parts, parts => {
            parts.iter_mut().for_each(|it| it.part.reset_statistics(self.clock));
        });
        self.statistics_since = self.clock;
    }

    /// The statistics of each channel since the last reset, in the engine's order: by router,
    /// network then ejection channels; then injection channels.
    pub fn channels(&mut self) -> Vec<ChannelReport> {
        self.settle();
        let times = (self.clock, self.statistics_since);
        with_parts!(&self.parts, parts => {
            in_order(parts).map(|(part, channel)| part.report(channel, times)).collect()
        })
    }

    /// The `most` channels that were busy for the longest time, in the engine's order, and the
    /// number of all channels. Among equally busy ones the first are taken.
    pub fn busiest_channels(&mut self, most: usize) -> (Vec<ChannelReport>, usize) {
        self.settle();
        let times = (self.clock, self.statistics_since);
        with_parts!(&self.parts, parts => {
            let busy = in_order(parts).map(|(part, (number, _))| part.busy(number, times.0));
            let mut busy: Vec<(Reverse<Picoseconds>, usize)> = busy.map(Reverse).zip(0..).collect();
            let all = busy.len();
            if most < all {
                busy.select_nth_unstable(most);
            }
            let mut chosen = vec![false; all];
            busy[..most.min(all)].iter().for_each(|&(_, place)| chosen[place] = true);
            let reports = in_order(parts).zip(chosen).filter(|(_, chosen)| *chosen);
            let reports = reports.map(|((part, channel), _)| part.report(channel, times));
            (reports.collect(), all)
        })
    }

    /// Counts all stalls until now.
    fn settle(&mut self) {
        with_parts!(&mut self.parts, parts => for it in parts {
            it.part.settle_stalls(self.clock);
        });
    }

    /// Totals of all channels since the last reset. Takes time linear in channels.
    pub fn carried(&self) -> Carried {
        self.carried_by_each(|_| {})
    }

    /// Totals of all channels since the last reset. Calls `each` with the time for which a channel
    /// carried flits, in the engine's order. Takes time linear in channels.
    pub fn carried_by_each(&self, mut each: impl FnMut(Picoseconds)) -> Carried {
        let mut carried =
            Carried { channels: self.context.fabric.channels() as u64, ..Carried::default() };
        let mut busiest = Picoseconds::ZERO;
        with_parts!(&self.parts, parts => {
            let mut add = |kind, busy| {
                each(busy);
                busiest = busiest.max(busy);
                if kind == ChannelKind::Network {
                    carried.busy += u128::from(busy);
                }
            };
            // The order of the whole network.
            parts.iter().for_each(|it| it.part.busy_outputs(self.clock, &mut add));
            parts.iter().for_each(|it| it.part.busy_injections(self.clock, &mut add));
        });
        carried.busiest =
            busiest.0 as f64 / (self.clock - self.statistics_since).max(Picoseconds(1)).0 as f64;
        carried
    }

    /// The names of channels at some places of the engine's order, which ascend.
    pub fn channel_names(&self, places: &[u32]) -> Vec<String> {
        let mut places = places.iter().peekable();
        with_parts!(&self.parts, parts => {
            let all = (0..).zip(in_order(parts));
            let wanted = all.filter(|(place, _)| places.next_if_eq(&place).is_some());
            wanted.map(|(_, (part, (number, _)))| part.channel_name(number)).collect()
        })
    }

    /// Bytes of the engine's arrays before traffic, and per packet under way.
    pub fn memory(&self) -> (usize, usize) {
        let parts: usize = with_parts!(&self.parts, parts => {
            parts.iter().map(|it| it.part.memory()).sum()
        });
        let of_packet = self.shares().map(|(common, _)| common.packets.bytes()).max();
        (parts + self.context.network.memory(), of_packet.unwrap_or(0))
    }
}

/// All parts, to be looked at together.
fn all<'a, 'f, R, O>(
    parts: &'a [ObservedPart<Part<'f, R>, O>],
    context: &'a NetworkContext<'f>,
    clock: Picoseconds,
) -> AllParts<'a, 'f, R> {
    AllParts { parts: parts.iter().map(|it| &it.part).collect(), context, clock }
}

/// The parts and their channels, in the order of the whole network: network and ejection channels,
/// then injection channels.
fn in_order<'a, 'f, R: Routers, O>(
    parts: &'a [ObservedPart<Part<'f, R>, O>],
) -> impl Iterator<Item = (&'a Part<'f, R>, (u32, ChannelKind))> {
    let parts = || parts.iter().map(|it| &it.part);
    let outputs = parts().flat_map(|part| part.output_channels().map(move |it| (part, it)));
    outputs.chain(parts().flat_map(|part| part.injection_channels().map(move |it| (part, it))))
}

/// The window: the time within which a router cannot reach another one. It is the shorter of two
/// times: until a packet that is sent asks in the next router, and until the credits of a packet
/// that leaves are back. A terminal that comes to a barrier lets no other terminal go on sooner
/// either.
fn window(context: &NetworkContext<'_>, workload: &dyn Workload) -> Tick {
    let parameters = &context.parameters;
    let least = |kind: ChannelKind, time: fn(&Timing) -> Tick| {
        context.timings_of(kind).iter().map(time).min().expect("a class of cables")
    };
    let forward = least(ChannelKind::Network, |link| link.forward);
    let back = least(ChannelKind::Network, |link| link.back);
    let payload = workload.least_payload(parameters.maximum_payload.0);
    let flits = Tick::from(narrow::<u16>(parameters.packet_flits(payload)));
    let fastest = context.timings().iter().fold(context.trees.flit, |it, own| it.min(own.flit));
    let window = match parameters.kind {
        RouterKind::WholePackets | RouterKind::OutputQueues(_) => {
            (forward + context.routing).min(back + flits * fastest)
        }
        RouterKind::OutputBuffers(_) => {
            // Packets cross before they are sent, and credits come back flit by flit.
            let wire = least(ChannelKind::Network, |link| link.wire);
            (wire + context.routing).min(back + fastest)
        }
        RouterKind::SharedLinks(_) => forward.min(back),
    };
    // A packet that is dropped frees its room at once.
    let drops = parameters.head_of_queue_lifetime.is_some();
    let window = if drops { window.min(back) } else { window };
    let window = match &parameters.errors {
        // A bad copy leaves its buffer when its last flit is there, and acknowledgements may be
        // sent at that time.
        Some(errors)
            if errors.retry == Retry::Stomp
                || errors.acknowledgements == Acknowledgements::Flits =>
        {
            window.min(back)
        }
        _ => window,
    };
    let Some(latency) = workload.barrier_latency() else { return window };
    // A terminal's time at a barrier is known when its last packet starts, or when the last packet
    // that it waits for leaves the network.
    let sent = Picoseconds::from(flits * least(ChannelKind::Injection, |channel| channel.flit));
    let ejected = Picoseconds::from(least(ChannelKind::Ejection, |channel| channel.forward));
    let HostOverheads { send, receive } = context.least_overheads();
    let barrier = latency + send + sent.min(ejected + receive);
    window.min(narrow::<Tick>(barrier.min(MAX_HOP_TIME)))
}
