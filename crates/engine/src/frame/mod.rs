//! The frame of a simulation: windows, the visits of a window, and threads (docs/model.md, "Windows
//! and threads"). It knows no router.
//!
//! Each thread runs one part. Before a window the parts exchange what crosses between them and
//! agree on the start of the window: the earliest event of any part. In the window each router with
//! an event before its end is visited once. The visits are in the order of router numbers, which
//! has no influence on results. The epoch from which ticks count advances in all parts at the same
//! window.
//!
//! A [`SimulatedPart`] says how its routers work. It must keep one promise: what a visit does
//! reaches no other router before the window ends. [`Engine`](crate::Engine) calls [`run_parts`].

pub(crate) mod active;
pub(crate) mod exchange;
pub(crate) mod thread_barrier;
pub(crate) mod tick;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cpu_time::ThreadTime;

use serde::{Deserialize, Serialize};

use crate::frame::active::Active;
use crate::frame::exchange::{Exchange, HasEarliest};
use crate::frame::thread_barrier::ThreadBarrier;
use crate::frame::tick::{FAR, HORIZON, NEVER, NO_TIME, Tick, tick, time};
use crate::observer::Observer;
use flitlab_base::narrow::fitted;
use flitlab_base::prefetch::Stage;
use flitlab_base::stop::Stop;
use flitlab_base::units::Picoseconds;

/// The interval of time that is simulated in one round of visits.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Window {
    pub start: Tick,
    /// Events at this time or later are left to the next window.
    pub end: Tick,
    /// The end time of the run: later events are not simulated at present.
    pub limit: Picoseconds,
}

/// The frame's own state of a part.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Schedule {
    /// The part's number.
    pub part: usize,
    /// The time that tick 0 stands for.
    pub epoch: Picoseconds,
    pub window: Window,
    /// By router of the part: the time of its next event.
    pub active: Active,
    /// Routers of the present batch; kept to reuse its memory.
    #[serde(skip)]
    due: Vec<u32>,
}

impl Schedule {
    /// The schedule of a part with this many routers, all idle, at time 0.
    pub(crate) fn new(part: usize, routers: usize) -> Self {
        Self {
            part,
            epoch: Picoseconds::ZERO,
            window: Window::default(),
            active: Active::new(routers),
            due: Vec::new(),
        }
    }

    /// The time of a tick.
    #[inline]
    pub(crate) fn time(&self, tick: Tick) -> Picoseconds {
        time(self.epoch, tick)
    }

    /// The tick of a time.
    #[inline]
    pub(crate) fn tick(&self, time: Picoseconds) -> Tick {
        tick(time, self.epoch)
    }
}

/// Number of visits by which the first prefetch of a router comes ahead of its visit.
const LEAD: usize = 6;

/// Approximate number of visits after which the routers are told that credits wake.
const BATCH: usize = 64;

/// A part of a network as the frame sees it: some routers, and the terminals at them.
pub(crate) trait SimulatedPart: Send {
    /// The data that a part sends to another one in a window.
    type Outgoing: HasEarliest;

    fn schedule(&mut self) -> &mut Schedule;

    /// Whether its state is larger than the processor's nearer caches, so that visits need
    /// prefetches.
    fn is_large(&self) -> bool;

    /// Prefetches memory for a visit that comes soon. There are several stages, as each finds the
    /// addresses for the next one.
    fn prefetch(&self, router: u32, stage: Stage);

    /// Simulates a router until the end of the window. Returns a lower bound of the time of its
    /// next event.
    fn visit(&mut self, router: u32) -> Tick;

    /// Delivers what visits have sent to routers of this part and have not written there. What is
    /// for other parts is kept until [`swap_outgoing`](Self::swap_outgoing).
    fn deliver(&mut self);

    /// Swaps the outgoing data for another part with `empty`, which is empty.
    fn swap_outgoing(&mut self, to: usize, empty: &mut Self::Outgoing);

    /// Takes what another part has sent in a window. Leaves `incoming` empty, but with its memory.
    fn take_incoming(&mut self, from: usize, incoming: &mut Self::Outgoing);

    /// The time at whose multiples a part writes what others see of it; `None` if they see nothing.
    fn age(&self) -> Option<Picoseconds> {
        None
    }

    /// Writes what others see of it at a multiple of its [age](Self::age), unless it has. All events
    /// before that time have been simulated, and none from it on.
    fn publish(&mut self, _at: Picoseconds) {}

    /// Called at the start of a run, after the end time has changed: handles events that lay beyond
    /// the old end time.
    fn begin_run(&mut self);

    /// Called at the end of a run: completes the events up to the end time that were postponed.
    fn end_run(&mut self);

    /// Advances the epoch to at most `epoch`. No pending event is earlier.
    fn rebase(&mut self, epoch: Picoseconds);

    /// The time of the first event, if it is too far from the epoch for a tick; [`NO_TIME`] if
    /// there is none.
    fn next_beyond_epoch(&self) -> Picoseconds;

    /// The time at which the last terminal of the part came to the workload's barrier; [`NO_TIME`]
    /// if some have not come.
    fn at_barrier(&self) -> Picoseconds;

    /// Lets terminals pass a barrier to which the last terminal of all parts came at `latest`.
    /// Returns the time of the first event that follows.
    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds;

    /// Passes what has happened on to the observer.
    fn flush_observations(&mut self, observer: &mut impl Observer);

    /// Whether any event is left that could happen later.
    fn has_work(&self) -> bool;
}

/// A part of a network, and its observer.
pub(crate) struct ObservedPart<P, O> {
    pub part: P,
    pub observer: O,
}

impl<P: SimulatedPart, O: Observer> ObservedPart<P, O> {
    /// Visits each router that has an event before `end`.
    fn run_window(&mut self, start: Tick, end: Tick) {
        let part = &mut self.part;
        let schedule = part.schedule();
        schedule.window = Window { start, end, ..schedule.window };
        let mut due = std::mem::take(&mut schedule.due);
        let mut block = 0;
        loop {
            due.clear();
            block = part.schedule().active.add_due(block, end, BATCH, &mut due);
            if due.is_empty() {
                break;
            }
            let lead = if part.is_large() { LEAD } else { 0 };
            for step in 0..due.len() + lead {
                if lead > 0 {
                    prefetch_ahead(part, &due, step);
                }
                let Some(place) = step.checked_sub(lead) else { continue };
                let router = due[place];
                // Others may wake the router from its visit on.
                part.schedule().active.clear(router);
                let next = part.visit(router);
                part.schedule().active.lower(router, next);
            }
            part.schedule().active.settle(&due);
            part.deliver();
        }
        part.schedule().due = due;
        part.flush_observations(&mut self.observer);
    }
}

/// Prefetches for the routers whose turn it is at a step of the batch, each stage some visits
/// nearer to the router's own.
#[inline(always)]
fn prefetch_ahead<P: SimulatedPart>(part: &P, due: &[u32], step: usize) {
    let stage = |later: usize, stage| {
        // The first router has none before it, and the last none after it.
        if let Some(&router) = due.get(step.wrapping_sub(later)) {
            part.prefetch(router, stage);
        }
    };
    stage(0, Stage::Far);
    stage(2, Stage::Near);
    stage(4, Stage::Next);
    stage(5, Stage::Last);
}

/// Simulates all parts up to and including `limit`, one thread each, in windows of this length.
/// Returns whether any event is left that could happen later, and the CPU time of all threads but
/// the caller's. Where `stop` is asked for, all return at the end of one window.
pub(crate) fn run_parts<P: SimulatedPart, O: Observer>(
    parts: &mut [ObservedPart<P, O>],
    length: Tick,
    limit: Picoseconds,
    stop: &Stop,
) -> (bool, Duration) {
    let team = ThreadTeam {
        exchange: Exchange::new(parts.len()),
        barrier: ThreadBarrier::new(parts.len()),
        reports: (0..2 * parts.len()).map(|_| WindowReport::default()).collect(),
        length,
        limit,
        stop,
    };
    let (first, others) = parts.split_first_mut().expect("there is a part");
    if others.is_empty() {
        return (team.run(first), Duration::ZERO);
    }
    let (mut left, mut busy) = (false, Duration::ZERO);
    std::thread::scope(|scope| {
        let team = &team;
        let start = |part| {
            move || {
                let started = ThreadTime::now();
                (team.run(part), started.elapsed())
            }
        };
        let workers: Vec<_> = others.iter_mut().map(|part| scope.spawn(start(part))).collect();
        left |= team.run(first);
        for worker in workers {
            let (more, time) =
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            left |= more;
            busy += time;
        }
    });
    (left, busy)
}

/// The report of a part to the others at the end of a window.
#[derive(Debug, Default)]
struct WindowReport {
    /// A lower bound of its next event, and of any event that its outgoing data causes.
    earliest: AtomicU64,
    /// The time at which the last of its terminals came to the barrier; [`NO_TIME`] if some have
    /// not come.
    at_barrier: AtomicU64,
    /// Whether the first part has seen that all are to stop.
    stopped: AtomicBool,
}

/// State that the threads of a simulation share while it runs.
struct ThreadTeam<'s, L> {
    exchange: Exchange<L>,
    barrier: ThreadBarrier,
    /// By parity of the window, then part.
    reports: Vec<WindowReport>,
    /// The time within which a router cannot reach another one.
    length: Tick,
    limit: Picoseconds,
    stop: &'s Stop,
}

impl<L: HasEarliest> ThreadTeam<'_, L> {
    /// Simulates a part, window by window. Returns whether any event is left that could happen
    /// later.
    fn run<P: SimulatedPart<Outgoing = L>, O: Observer>(
        &self,
        observed: &mut ObservedPart<P, O>,
    ) -> bool {
        let _guard = self.barrier.enter();
        observed.part.schedule().window.limit = self.limit;
        observed.part.begin_run();
        for window in 0.. {
            let start = self.synchronise(window, &mut observed.part);
            if start > self.limit || !start.is_told() {
                break;
            }
            let age = observed.part.age().map(|age| (Picoseconds(start.0 - start.0 % age.0), age));
            if let Some((at, _)) = age {
                // In every window, so that no part needs to know what others have done.
                observed.part.publish(at);
                self.barrier.wait();
            }
            if start - observed.part.schedule().epoch >= Picoseconds::from(HORIZON) {
                observed.part.rebase(start);
            }
            let epoch = observed.part.schedule().epoch;
            let first = fitted!((start - epoch).0, Tick);
            let beyond = (self.limit + Picoseconds(1)).saturating_sub(epoch).0;
            let mut end = fitted!(u64::from(first.saturating_add(self.length)).min(beyond), Tick);
            if let Some((at, age)) = age {
                end = end.min(tick(at + age, epoch));
            }
            observed.run_window(first, end);
        }
        observed.part.end_run();
        observed.part.flush_observations(&mut observed.observer);
        observed.part.has_work()
    }

    /// Exchanges data with the other parts. Returns the start of the next window: a lower bound of
    /// the first event of all parts; [`NO_TIME`] if they are to stop.
    fn synchronise<P: SimulatedPart<Outgoing = L>>(
        &self,
        window: usize,
        part: &mut P,
    ) -> Picoseconds {
        let parts = self.reports.len() / 2;
        let reports = &self.reports[window % 2 * parts..][..parts];
        let own = part.schedule().part;
        reports[own].earliest.store(self.send(window, part).0, Ordering::Relaxed);
        reports[own].at_barrier.store(part.at_barrier().0, Ordering::Relaxed);
        if own == 0 {
            reports[0].stopped.store(self.stop.is_asked(), Ordering::Relaxed);
        }
        self.barrier.wait();
        if reports[0].stopped.load(Ordering::Relaxed) {
            return NO_TIME;
        }
        for from in (0..parts).filter(|&from| from != own) {
            part.take_incoming(from, &mut self.exchange.open(window, from, own));
        }
        let times = |time: fn(&WindowReport) -> &AtomicU64| {
            reports.iter().map(move |report| Picoseconds(time(report).load(Ordering::Relaxed)))
        };
        let start = times(|report| &report.earliest).min().expect("there is a part");
        let latest = times(|report| &report.at_barrier).max().expect("there is a part");
        if latest == NO_TIME {
            return start;
        }
        // All may be idle: the next event follows from passing the barrier.
        start.min(part.pass_barrier(latest))
    }

    /// Puts what is for other parts into the exchange. Returns a lower bound of the events in this
    /// part and of those that the outgoing data causes.
    fn send<P: SimulatedPart<Outgoing = L>>(&self, window: usize, part: &mut P) -> Picoseconds {
        let (own, parts) = (part.schedule().part, self.reports.len() / 2);
        let mut earliest = part.schedule().active.earliest();
        for to in (0..parts).filter(|&to| to != own) {
            let mut outgoing = self.exchange.open(window, own, to);
            part.swap_outgoing(to, &mut outgoing);
            earliest = earliest.min(outgoing.earliest());
        }
        match earliest {
            NEVER => NO_TIME,
            FAR => part.next_beyond_epoch(),
            earliest => part.schedule().time(earliest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tick::rebased;
    use flitlab_base::narrow::narrow;

    /// Time of a token from one router to the next.
    const STEP: Tick = 7;

    /// Routers in a ring that hand on tokens. Each token goes round until it has made `left` steps.
    struct Ring {
        schedule: Schedule,
        routers: std::ops::Range<u32>,
        /// The number of routers of all parts.
        all: u32,
        /// By router: tokens that are there or under way, with the time of their arrival.
        tokens: Vec<Vec<(Tick, u32)>>,
        sent: Vec<(u32, Tick, u32)>,
        outgoing: Vec<Tokens>,
        /// A sum over all arrivals that depends on when and where they were.
        sum: u64,
        visits: u64,
    }

    #[derive(Default)]
    struct Tokens(Vec<(u32, Tick, u32)>);

    impl HasEarliest for Tokens {
        fn earliest(&self) -> Tick {
            self.0.iter().map(|token| token.1).min().unwrap_or(NEVER)
        }
    }

    impl Ring {
        /// Part `part` of `parts`, with a token of `steps` steps in every third router.
        fn new(part: usize, parts: usize, all: u32, steps: u32) -> Self {
            let first = |part: usize| all * narrow::<u32>(part) / narrow::<u32>(parts);
            let routers = first(part)..first(part + 1);
            let mut ring = Self {
                schedule: Schedule::new(part, routers.len()),
                all,
                tokens: vec![Vec::new(); routers.len()],
                sent: Vec::new(),
                outgoing: (0..parts).map(|_| Tokens::default()).collect(),
                sum: 0,
                visits: 0,
                routers,
            };
            for router in ring.routers.clone().filter(|router| router % 3 == 0) {
                ring.arrive(router, 5 * router, steps);
            }
            ring
        }

        fn arrive(&mut self, router: u32, time: Tick, left: u32) {
            let own = router - self.routers.start;
            self.tokens[own as usize].push((time, left));
            self.schedule.active.lower(own, time);
        }
    }

    impl SimulatedPart for Ring {
        type Outgoing = Tokens;

        fn schedule(&mut self) -> &mut Schedule {
            &mut self.schedule
        }

        fn is_large(&self) -> bool {
            self.all.is_multiple_of(2)
        }

        fn prefetch(&self, router: u32, _: Stage) {
            assert!(router < narrow::<u32>(self.tokens.len()));
        }

        fn visit(&mut self, router: u32) -> Tick {
            self.visits += 1;
            let name = router + self.routers.start;
            let Window { start, end, .. } = self.schedule.window;
            let mut tokens = std::mem::take(&mut self.tokens[router as usize]);
            tokens.retain(|&(time, left)| {
                assert!(time >= start, "a token came too late to be seen");
                if time < end {
                    self.sum += self.schedule.time(time).0 * u64::from(name + 1);
                    if left > 0 {
                        self.sent.push(((name + 1) % self.all, time + STEP, left - 1));
                    }
                }
                time >= end
            });
            let next = tokens.iter().map(|token| token.0).min().unwrap_or(NEVER);
            self.tokens[router as usize] = tokens;
            next
        }

        fn deliver(&mut self) {
            for (router, time, left) in std::mem::take(&mut self.sent) {
                if self.routers.contains(&router) {
                    self.arrive(router, time, left);
                } else {
                    let parts = self.outgoing.len();
                    let first = |part: usize| self.all * narrow::<u32>(part) / narrow::<u32>(parts);
                    let part = (0..parts).find(|&part| router < first(part + 1)).unwrap();
                    self.outgoing[part].0.push((router, time, left));
                }
            }
        }

        fn swap_outgoing(&mut self, to: usize, empty: &mut Tokens) {
            std::mem::swap(&mut self.outgoing[to], empty);
        }

        fn take_incoming(&mut self, _: usize, incoming: &mut Tokens) {
            for (router, time, left) in incoming.0.drain(..) {
                self.arrive(router, time, left);
            }
        }

        fn begin_run(&mut self) {}

        fn end_run(&mut self) {}

        fn rebase(&mut self, epoch: Picoseconds) {
            let by = self.schedule.tick(epoch);
            for token in self.tokens.iter_mut().flatten() {
                token.0 = rebased(token.0, by);
            }
            self.schedule.active.rebase(by);
            self.schedule.epoch = epoch;
        }

        fn next_beyond_epoch(&self) -> Picoseconds {
            NO_TIME
        }

        fn at_barrier(&self) -> Picoseconds {
            NO_TIME
        }

        fn pass_barrier(&mut self, _: Picoseconds) -> Picoseconds {
            NO_TIME
        }

        fn flush_observations(&mut self, _: &mut impl Observer) {}

        fn has_work(&self) -> bool {
            self.tokens.iter().any(|tokens| !tokens.is_empty())
        }
    }

    /// The sum and the visits of a ring on `parts` threads up to the last limit, and whether any
    /// event was left.
    fn run(parts: usize, all: u32, steps: u32, limits: &[Picoseconds]) -> (u64, u64, bool) {
        let part = |part| ObservedPart { part: Ring::new(part, parts, all, steps), observer: () };
        let mut rings: Vec<_> = (0..parts).map(part).collect();
        let mut left = true;
        for &limit in limits {
            left = run_parts(&mut rings, STEP, limit, &Stop::default()).0;
        }
        let sum = rings.iter().map(|ring| ring.part.sum).sum();
        (sum, rings.iter().map(|ring| ring.part.visits).sum(), left)
    }

    #[test]
    fn another_model_runs_in_the_same_frame() {
        let (all, steps) = (100, 60);
        let mut expected = 0;
        for router in (0..all).step_by(3) {
            for step in 0..=steps {
                let time = u64::from(5 * router + step * STEP);
                expected += time * u64::from((router + step) % all + 1);
            }
        }
        for parts in 1..=4 {
            let (sum, visits, left) = run(parts, all, steps, &[Picoseconds::NEVER]);
            assert_eq!((sum, left), (expected, false), "{parts} parts");
            let tokens = u64::from(all.div_ceil(3) * (steps + 1));
            assert!(visits <= tokens, "{visits} visits, none of a router without a token");
        }
    }

    #[test]
    fn a_limit_in_between_changes_nothing() {
        let undisturbed = run(1, 50, 400, &[Picoseconds::NEVER]);
        for parts in 1..=3 {
            let (sum, _, left) =
                run(parts, 50, 400, &[1, 100, 101, 1_999, u64::MAX].map(Picoseconds));
            assert_eq!((sum, left), (undisturbed.0, false));
        }
        assert!(run(2, 50, 400, &[Picoseconds(1_000)]).2, "tokens are still going round");
    }

    #[test]
    fn all_parts_end_at_one_window_when_they_are_asked_to() {
        for parts in 1..=4 {
            let ring = |part| Ring::new(part, parts, 50, u32::MAX);
            let ring = |part| ObservedPart { part: ring(part), observer: () };
            let mut rings: Vec<_> = (0..parts).map(ring).collect();
            let stop = Stop::default();
            let left = std::thread::scope(|scope| {
                let run = || run_parts(&mut rings, STEP, Picoseconds::NEVER, &stop).0;
                let running = scope.spawn(run);
                std::thread::sleep(Duration::from_millis(20));
                stop.ask();
                running.join().unwrap()
            });
            assert!(left, "tokens are still going round");
            let ends: Vec<Tick> = rings.iter().map(|it| it.part.schedule.window.end).collect();
            assert!(ends.iter().all(|&end| end == ends[0] && end > 0), "{ends:?}");
        }
    }

    #[test]
    fn the_epoch_moves_on_and_nobody_notices() {
        let mut ring = ObservedPart { part: Ring::new(0, 1, 1, 2), observer: () };
        let late = HORIZON + 100;
        ring.part.arrive(0, late, 2);
        let rings = std::slice::from_mut(&mut ring);
        assert!(!run_parts(rings, STEP, Picoseconds::NEVER, &Stop::default()).0);
        let of_token = |start: Tick| (0..3).map(move |step| u64::from(start + step * STEP));
        assert_eq!(ring.part.sum, of_token(0).chain(of_token(late)).sum::<u64>());
        assert_eq!(ring.part.schedule.epoch, Picoseconds::from(late), "it has moved on");
    }
}
