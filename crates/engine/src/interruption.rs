//! Failures during operation, and new routes (docs/model.md, "Failures during operation").
//!
//! Channels and routers fail at times that are known beforehand. So a grant can tell whether the
//! packet's last flit gets across. With links shared flit by flit that is determined at the failure
//! (`flit::failure`). A packet that is cut goes on to its sink, which discards it. From its failure
//! on, a failed channel swallows what is sent to it. Routers that choose do not choose it
//! ([`Routes::avoiding`]).
//!
//! When new routes are ready, no packets are injected until none is under way. Then routers and
//! sources change routes, and the sources go on. Packets of old and new routes never are under way
//! together, so the two cannot deadlock together.
//!
//! A later failure adds to what has failed. If it comes before the new routes are ready, those are
//! made anew, for both. If it comes later, the change that has begun is made first, and a further
//! one follows. So which routes are made, and when they are ready, is known before the run.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;

/// Interval of the checks whether the network is empty.
pub(super) const DRAIN_CHECK: Picoseconds = Picoseconds(100_000);

/// Of what does not fail.
const NEVER: Picoseconds = Picoseconds::NEVER;

/// A failure during operation.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Time of the failure. Events at exactly this time still happen.
    pub at: Picoseconds,
    /// The fabric without what fails now or has failed before. It has the numbers of the whole one.
    pub left: Fabric,
    /// The routes that are made for `left`, and the time at which they are ready. `None` if the next
    /// failure comes before.
    pub new: Option<(Picoseconds, Routes)>,
}

/// Failures during operation, in the order of time.
#[derive(Clone, Debug)]
pub struct Interruption {
    failures: Vec<Failure>,
    /// By channel: the time at which it fails.
    failed_at: Vec<Picoseconds>,
    /// By router: the time at which it fails.
    routers_failed_at: Vec<Picoseconds>,
    /// By the number of failures that the routes in use know of, then by the number of failures so
    /// far: the routes until new ones are ready, if routers choose. Made when they are needed.
    meanwhile: Vec<OnceLock<Option<Routes>>>,
}

/// The effects of a failure so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureReport {
    /// Packets in the network at the failure.
    pub packets_under_way: u64,
    /// Packets that were lost from the failure on, until the next one or until now.
    pub packets_lost: u64,
    /// Messages that were lost in that time: they are not received because of a failure.
    pub messages_lost: u64,
    /// Time at which the network was empty, and the sources went on with routes that know of the
    /// failure.
    pub resumed: Option<Picoseconds>,
}

impl Interruption {
    /// Failures of a fabric, in the order of time.
    ///
    /// # Panics
    /// If the order is another, or the routes of a failure are not ready between it and the next
    /// one, or the last failure has none.
    pub fn new(whole: &Fabric, failures: Vec<Failure>) -> Self {
        for (number, failure) in failures.iter().enumerate() {
            let next = failures.get(number + 1).map_or(NEVER, |next| next.at);
            assert!(failure.at < next, "failures come one after the other");
            let ready = failure.new.as_ref().map(|new| new.0);
            assert!(ready.is_some() || next < NEVER, "routes follow the last failure");
            let fits = |ready| failure.at < ready && ready < next;
            assert!(ready.is_none_or(fits), "new routes are made after the failure");
        }
        let mut failed_at = vec![NEVER; whole.channel_slots() as usize];
        let mut routers_failed_at = vec![NEVER; whole.routers() as usize];
        let mut before = whole;
        for Failure { at, left, .. } in &failures {
            let lacks = |&channel: &Channel| before.target(channel) != left.target(channel);
            for channel in (0..whole.channel_slots()).filter(lacks) {
                failed_at[channel as usize] = *at;
            }
            let lives = |router| left.outputs(router).any(|channel| left.target(channel).is_some());
            let fails =
                |&router: &u32| !lives(router) && before.outputs(router).any(|it| lacks(&it));
            let mut failed: Vec<bool> = (0..whole.routers()).map(|router| fails(&router)).collect();
            // A router that is left alone with its terminals still serves these.
            for terminal in before.live_terminals() {
                let router = before.terminal_router(terminal).expect("live");
                failed[router as usize] = left.terminal_router(terminal).is_none();
            }
            let failed = routers_failed_at.iter_mut().zip(failed).filter(|(_, failed)| *failed);
            failed.for_each(|(time, _)| *time = *at);
            before = left;
        }
        let meanwhile = vec![OnceLock::new(); (failures.len() + 1).pow(2)];
        Self { failures, failed_at, routers_failed_at, meanwhile }
    }

    /// The failures, in the order of time.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The routes that are made after failures, in the order of time.
    pub(super) fn later(&self) -> impl Iterator<Item = &Routes> {
        self.failures.iter().filter_map(|failure| Some(&failure.new.as_ref()?.1))
    }

    /// Whether a packet is cut whose last flit reaches the end of the channel at time `arrives`.
    #[inline]
    pub(super) fn cuts(&self, channel: Channel, arrives: Picoseconds) -> bool {
        arrives > self.failed_at[channel as usize]
    }

    /// Whether a channel fails at any time.
    pub(super) fn fails(&self, channel: Channel) -> bool {
        self.failed_at[channel as usize] < NEVER
    }

    /// Whether a channel fails at this time.
    pub(super) fn fails_at(&self, channel: Channel, time: Picoseconds) -> bool {
        self.failed_at[channel as usize] == time
    }

    /// Whether a router fails at this time.
    pub(super) fn router_fails_at(&self, router: u32, time: Picoseconds) -> bool {
        self.routers_failed_at[router as usize] == time
    }

    /// Whether a terminal has failed before this time.
    pub(super) fn took(&self, fabric: &Fabric, terminal: u32, before: Picoseconds) -> bool {
        let router = fabric.terminal_router(terminal);
        router.is_none_or(|router| self.routers_failed_at[router as usize] < before)
    }

    /// The routes in use and the fabric for which they were made; `whole` are those before all
    /// failures.
    pub(super) fn in_use<'f>(
        &'f self,
        progress: FailureProgress,
        whole: (&'f Fabric, &'f Routes),
    ) -> (&'f Fabric, &'f Routes) {
        let Some(last) = progress.known.checked_sub(1) else { return whole };
        let Failure { left, new, .. } = &self.failures[last];
        (left, &new.as_ref().expect("they are in use").1)
    }

    /// The routes in use, as far as routers choose without what has failed since they were made.
    pub(super) fn routes<'f>(
        &'f self,
        progress: FailureProgress,
        whole: (&'f Fabric, &'f Routes),
    ) -> (&'f Fabric, &'f Routes) {
        self.meanwhile(progress, whole).unwrap_or_else(|| self.in_use(progress, whole))
    }

    /// The routes in use without the channels that have failed since they were made, if there are
    /// some and routers choose; and the fabric for which they were made.
    pub(super) fn meanwhile<'f>(
        &'f self,
        progress: FailureProgress,
        whole: (&'f Fabric, &'f Routes),
    ) -> Option<(&'f Fabric, &'f Routes)> {
        let FailureProgress { failed, known, .. } = progress;
        if failed == known {
            return None;
        }
        let (fabric, routes) = self.in_use(progress, whole);
        let place = known * (self.failures.len() + 1) + failed;
        let made = self.meanwhile[place].get_or_init(|| {
            let earlier = FailureProgress { failed: failed - 1, ..progress };
            let before = self.meanwhile(earlier, whole).map(|(_, routes)| routes);
            let since = self.failures[known].at..=self.failures[failed - 1].at;
            let failed: Vec<bool> = self.failed_at.iter().map(|at| since.contains(at)).collect();
            routes.avoiding(fabric, &failed, before)
        });
        made.as_ref().map(|routes| (fabric, routes))
    }
}

/// How far an interruption has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FailureProgress {
    /// Number of failures so far.
    pub failed: usize,
    /// Number of failures that the routes in use know of.
    pub known: usize,
    /// While no packets are injected: the next check whether the network is empty.
    pub check: Option<Picoseconds>,
    /// Time at which the routes in use came into use.
    pub changed: Picoseconds,
}

/// What happens next in an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Fail,
    /// New routes are ready: no packets are injected any more.
    Drain,
    /// It is looked whether the network is empty.
    Check,
}

impl FailureProgress {
    /// The next step, and its time. A failure comes before another step at the same time.
    pub(super) fn next(self, interruption: &Interruption) -> Option<(Picoseconds, Step)> {
        let failure = interruption.failures.get(self.failed).map(|it| (it.at, Step::Fail));
        let change = match self.check {
            Some(time) => Some((time, Step::Check)),
            // They may have been ready before the last change.
            None => self.ready(interruption).map(|(time, _)| (time.max(self.changed), Step::Drain)),
        };
        [failure, change].into_iter().flatten().min_by_key(|step| step.0)
    }

    /// The time at which the routes are ready that come into use next, and the number of failures
    /// that they know of.
    pub(super) fn ready(self, interruption: &Interruption) -> Option<(Picoseconds, usize)> {
        let failures = (1..).zip(&interruption.failures).skip(self.known);
        let mut made = failures.filter_map(|(number, it)| Some((it.new.as_ref()?.0, number)));
        made.next()
    }
}
