//! The frame: windows, and the visits of a window (docs/model.md, "Windows and threads"). It knows no router.
//!
//! A thread runs a part. Before each window the parts hand over what crosses between them, and agree on when the
//! window begins: with the first thing that happens in any of them. In the window each router that has something to do
//! before the end is visited once, in the order of numbers, which matters to nothing. The epoch that ticks count from
//! moves on in all parts at the same window.
//!
//! How a router works is the business of a [`SimulatedPart`]. It has to keep what it promises: that nothing a visit does
//! reaches another router before the window ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cpu_time::ThreadTime;

use serde::{Deserialize, Serialize};

use super::Observer;
use super::active::Active;
use super::exchange::{Exchange, HasEarliest};
use super::thread_barrier::ThreadBarrier;
use super::tick::{FAR, HORIZON, NEVER, NO_TIME, Tick, tick, time};
use crate::narrow::fitted;
use crate::prefetch::Stage;
use crate::units::Picoseconds;

/// The stretch of time that is simulated at a go.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Window {
    pub start: Tick,
    /// Nothing that happens at this time or later is looked at.
    pub end: Tick,
    /// What is later than this is not simulated at present.
    pub limit: Picoseconds,
}

/// What the frame keeps of a part.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Schedule {
    /// The part's number.
    pub part: usize,
    /// What ticks count from.
    pub epoch: Picoseconds,
    pub window: Window,
    /// When something happens in each router of the part.
    pub active: Active,
    /// Routers that are visited at a go; kept for its memory.
    #[serde(skip)]
    due: Vec<u32>,
}

impl Schedule {
    /// Of a part of so many routers, all idle, at time 0.
    pub(super) fn new(part: usize, routers: usize) -> Self {
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
    pub(super) fn time(&self, tick: Tick) -> Picoseconds {
        time(self.epoch, tick)
    }

    /// The tick of a time.
    #[inline]
    pub(super) fn tick(&self, time: Picoseconds) -> Tick {
        tick(time, self.epoch)
    }
}

/// How many visits before its own a router is approached first.
const LEAD: usize = 6;

/// How many routers are visited, about, before what they send is delivered.
const BATCH: usize = 64;

/// A part of a network as the frame sees it: its routers, and the terminals at them.
pub(super) trait SimulatedPart: Send {
    /// What a part sends another one in a window.
    type Outgoing: HasEarliest;

    fn schedule(&mut self) -> &mut Schedule;

    /// Whether its state is larger than the processor's nearer caches, so that visits are approached.
    fn is_large(&self) -> bool;

    /// Has memory fetched that a visit soon to come will need; in several stages, as each tells what the next one
    /// needs.
    fn prefetch(&self, router: u32, stage: Stage);

    /// Does all that happens in a router before the window's end. When something happens in it next, or before.
    fn visit(&mut self, router: u32) -> Tick;

    /// Delivers what visits have sent to routers of the part. What is for others goes into the mail.
    fn deliver(&mut self);

    /// What is for each part.
    fn outgoing(&mut self) -> &mut [Self::Outgoing];

    /// Takes what another part has sent in a window, and leaves nothing of it but the memory.
    fn take_incoming(&mut self, from: usize, incoming: &mut Self::Outgoing);

    /// Sees to what had to wait since it lay behind the limit, which is another now.
    fn begin_run(&mut self);

    /// All that happens up to the limit has been simulated: sees to what was put off of it.
    fn end_run(&mut self);

    /// Moves the epoch on to `epoch`, before which nothing is left to happen, or to somewhat less.
    fn rebase(&mut self, epoch: Picoseconds);

    /// When the first thing happens, if it is too far from the epoch for a tick; of all times the latest if nothing
    /// does.
    fn next_beyond_epoch(&self) -> Picoseconds;

    /// When the last terminal came to the barrier, if all of the part have; [`NO_TIME`] if not.
    fn at_barrier(&self) -> Picoseconds;

    /// Lets terminals pass a barrier to which the last one of all parts came at `latest`. When the first thing
    /// happens thereupon.
    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds;

    /// Tells the observer what has happened.
    fn flush_observations(&mut self, observer: &mut impl Observer);

    /// Whether anything is left that could happen later.
    fn has_work(&self) -> bool;
}

/// A part of a network and what is observed in it.
pub(super) struct ObservedPart<P, O> {
    pub part: P,
    pub observer: O,
}

impl<P: SimulatedPart, O: Observer> ObservedPart<P, O> {
    /// Visits each router in which something happens before `end`.
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
                let next = part.visit(router);
                part.schedule().active.set(router, next);
            }
            part.schedule().active.settle(&due);
            part.deliver();
        }
        part.schedule().due = due;
        part.flush_observations(&mut self.observer);
    }
}

/// Approaches those of some routers whose turn it is at a step, each stage some visits nearer to the router's own.
#[inline(always)]
fn prefetch_ahead<P: SimulatedPart>(part: &P, due: &[u32], step: usize) {
    let stage = |later: usize, stage| {
        // Before the first router there is none, and none beyond the last.
        if let Some(&router) = due.get(step.wrapping_sub(later)) {
            part.prefetch(router, stage);
        }
    };
    stage(0, Stage::Far);
    stage(2, Stage::Near);
    stage(4, Stage::Next);
    stage(5, Stage::Last);
}

/// Simulates all parts, a thread each, up to and including `limit`, in windows of this length. Whether anything is
/// left that could happen later, and the CPU time of all threads but the caller's.
pub(super) fn run_parts<P: SimulatedPart, O: Observer>(
    parts: &mut [ObservedPart<P, O>],
    length: Tick,
    limit: Picoseconds,
) -> (bool, Duration) {
    let team = ThreadTeam::new(parts.len(), length, limit);
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

/// What a part tells the others at the end of a window.
#[derive(Debug, Default)]
struct WindowReport {
    /// Before when nothing happens in it or by its mail.
    earliest: AtomicU64,
    /// When the last of its terminals came to the barrier; the latest of all times if not all have.
    at_barrier: AtomicU64,
}

/// What the threads of a simulation share while it runs.
struct ThreadTeam<L> {
    exchange: Exchange<L>,
    barrier: ThreadBarrier,
    /// By window's parity and part.
    reports: Vec<WindowReport>,
    /// How long nothing that a router does can reach another.
    length: Tick,
    limit: Picoseconds,
}

impl<L: HasEarliest> ThreadTeam<L> {
    /// For so many parts, in windows of this length, up to and including `limit`.
    fn new(parts: usize, length: Tick, limit: Picoseconds) -> Self {
        Self {
            exchange: Exchange::new(parts),
            barrier: ThreadBarrier::new(parts),
            reports: (0..2 * parts).map(|_| WindowReport::default()).collect(),
            length,
            limit,
        }
    }

    /// Simulates a part, window by window. False if nothing is left that could happen later.
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
            if start - observed.part.schedule().epoch >= Picoseconds::from(HORIZON) {
                observed.part.rebase(start);
            }
            let epoch = observed.part.schedule().epoch;
            let first = fitted!((start - epoch).0, Tick);
            let beyond = (self.limit + Picoseconds(1)).saturating_sub(epoch).0;
            let end = fitted!(u64::from(first.saturating_add(self.length)).min(beyond), Tick);
            observed.run_window(first, end);
        }
        observed.part.end_run();
        observed.part.flush_observations(&mut observed.observer);
        observed.part.has_work()
    }

    /// Exchanges mail with the other parts. Before when nothing happens in any of them.
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
        self.barrier.wait();
        for from in (0..parts).filter(|&from| from != own) {
            let mut incoming = L::default();
            self.exchange.swap(window, from, own, &mut incoming);
            part.take_incoming(from, &mut incoming);
            // Empty, but with room for the next time.
            self.exchange.swap(window, from, own, &mut incoming);
        }
        let times = |time: fn(&WindowReport) -> &AtomicU64| {
            reports.iter().map(move |report| Picoseconds(time(report).load(Ordering::Relaxed)))
        };
        let start = times(|report| &report.earliest).min().expect("there is a part");
        let latest = times(|report| &report.at_barrier).max().expect("there is a part");
        if latest == NO_TIME {
            return start;
        }
        // All may be idle: what is next comes of passing the barrier.
        start.min(part.pass_barrier(latest))
    }

    /// Posts what other parts are sent. Nothing happens in this part, or because of what it sends, before the time
    /// that it gives.
    fn send<P: SimulatedPart<Outgoing = L>>(&self, window: usize, part: &mut P) -> Picoseconds {
        let own = part.schedule().part;
        let mut earliest = part.schedule().active.earliest();
        for (to, outgoing) in part.outgoing().iter_mut().enumerate().filter(|&(to, _)| to != own) {
            earliest = earliest.min(outgoing.earliest());
            self.exchange.swap(window, own, to, outgoing);
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
    use crate::engine::tick::rebased;

    /// How long a token takes from a router to the next.
    const STEP: Tick = 7;

    /// Routers in a ring that hand on tokens: a router has a token for `stays` of its visits, and each token goes round
    /// until it has made `left` steps.
    struct Ring {
        schedule: Schedule,
        routers: std::ops::Range<u32>,
        /// Of all parts.
        all: u32,
        /// By router: tokens that are there or on their way, and when they are there.
        tokens: Vec<Vec<(Tick, u32)>>,
        sent: Vec<(u32, Tick, u32)>,
        outgoing: Vec<Tokens>,
        /// A sum over all arrivals that tells when and where they were.
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
        /// Part `part` of so many, with a token of so many steps in every third router.
        fn new(part: usize, parts: usize, all: u32, steps: u32) -> Self {
            let first = |part: usize| all * part as u32 / parts as u32;
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
            assert!(router < self.tokens.len() as u32);
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
                    let first = |part: usize| self.all * part as u32 / parts as u32;
                    let part = (0..parts).find(|&part| router < first(part + 1)).unwrap();
                    self.outgoing[part].0.push((router, time, left));
                }
            }
        }

        fn outgoing(&mut self) -> &mut [Tokens] {
            &mut self.outgoing
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

    /// The sum and the visits of a ring on so many threads, up to a limit, and whether anything was left.
    fn run(parts: usize, all: u32, steps: u32, limits: &[Picoseconds]) -> (u64, u64, bool) {
        let part = |part| ObservedPart { part: Ring::new(part, parts, all, steps), observer: () };
        let mut rings: Vec<_> = (0..parts).map(part).collect();
        let mut left = true;
        for &limit in limits {
            left = run_parts(&mut rings, STEP, limit).0;
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
    fn the_epoch_moves_on_and_nobody_notices() {
        let mut ring = ObservedPart { part: Ring::new(0, 1, 1, 2), observer: () };
        let late = HORIZON + 100;
        ring.part.arrive(0, late, 2);
        assert!(!run_parts(std::slice::from_mut(&mut ring), STEP, Picoseconds::NEVER).0);
        let of_token = |start: Tick| (0..3).map(move |step| u64::from(start + step * STEP));
        assert_eq!(ring.part.sum, of_token(0).chain(of_token(late)).sum::<u64>());
        assert_eq!(ring.part.schedule.epoch, Picoseconds::from(late), "it has moved on");
    }
}
