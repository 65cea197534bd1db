//! Failures during operation, and new routes (docs/model.md, "Failures during operation").
//!
//! Channels and routers fail at a time that is known beforehand. So a grant can tell whether the
//! packet's last flit gets across. With links shared flit by flit that is determined at the failure
//! (`flit::failure`). A packet that is cut goes on to its sink, which discards it. From the failure
//! on, a failed channel swallows what is sent to it. Routers that choose do not choose it
//! ([`Routes::avoiding`]).
//!
//! When the new routes are ready, no packets are injected until none is under way. Then routers and
//! sources change routes, and the sources go on. Packets of old and new routes are never under way
//! together, so the two cannot deadlock together.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::Routes;

/// Interval of the checks whether the network is empty.
pub(super) const DRAIN_CHECK: Picoseconds = Picoseconds(100_000);

/// A failure during operation, and the routes made without what fails.
#[derive(Clone, Debug)]
pub struct Interruption {
    /// Time of the failure. Events at exactly this time still happen.
    pub at: Picoseconds,
    /// Time at which the new routes are ready.
    pub ready: Picoseconds,
    /// By channel: whether it fails.
    pub(super) failed_channels: Vec<bool>,
    /// By router: whether it fails.
    pub(super) failed_routers: Vec<bool>,
    /// By channel: whether its ring lacks a channel then.
    pub(super) broken_rings: Vec<bool>,
    /// The routes from the failure on, if they are others.
    meanwhile: Option<Routes>,
    /// The fabric without what fails.
    left: Fabric,
    /// The new routes, made for `left`.
    pub(super) later: Routes,
}

/// The effects of an interruption so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptionReport {
    /// Packets in the network at the failure.
    pub packets_under_way: u64,
    /// Packets lost so far.
    pub packets_lost: u64,
    /// Messages that are not received because of it.
    pub messages_lost: u64,
    /// Time at which the network was empty and the sources went on.
    pub resumed: Option<Picoseconds>,
}

impl Interruption {
    /// At time `at`, `whole` becomes `left`, which lacks some of its channels and terminals and has
    /// the same numbers. Packets go by `routes` until then; from time `ready` on, `later` lead
    /// through what is left.
    ///
    /// # Panics
    /// If the new routes are ready before the failure, or are of another kind than the old ones.
    pub fn new(
        whole: &Fabric,
        left: &Fabric,
        (at, ready): (Picoseconds, Picoseconds),
        (routes, later): (&Routes, Routes),
    ) -> Self {
        assert!(ready > at, "new routes are made after the failure");
        assert!(
            std::mem::discriminant(routes) == std::mem::discriminant(&later),
            "the new routes are of the kind of the old ones"
        );
        let lacks = |&channel: &Channel| whole.target(channel) != left.target(channel);
        let channels = || 0..whole.channel_slots();
        let failed_channels: Vec<bool> = channels().map(|channel| lacks(&channel)).collect();
        let is_broken = |channel| whole.ring(channel) != left.ring(channel);
        let broken_rings = channels().map(is_broken).collect();
        let meanwhile = routes.avoiding(whole, &failed_channels);
        let lives = |router| left.outputs(router).any(|channel| left.target(channel).is_some());
        let mut failed_routers: Vec<bool> = (0..whole.routers())
            .map(|router| !lives(router) && whole.outputs(router).any(|channel| lacks(&channel)))
            .collect();
        // A router that is left alone with its terminals still serves these.
        for terminal in whole.live_terminals() {
            let router = whole.terminal_router(terminal).expect("live");
            failed_routers[router as usize] = left.terminal_router(terminal).is_none();
        }
        let left = left.clone();
        Self { at, ready, failed_channels, failed_routers, broken_rings, meanwhile, left, later }
    }

    /// Whether a packet is cut whose last flit reaches the end of the channel at time `arrives`.
    #[inline]
    pub(super) fn cuts(&self, channel: Channel, arrives: Picoseconds) -> bool {
        arrives > self.at && self.failed_channels[channel as usize]
    }

    /// Whether a terminal is alive and reachable by the new routes.
    pub(super) fn serves(&self, fabric: &Fabric, terminal: u32) -> bool {
        let router = fabric.terminal_router(terminal);
        router.is_some_and(|router| !self.failed_routers[router as usize])
    }
}

/// Stages of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FailureProgress {
    /// Nothing has failed yet.
    Ahead,
    /// The old routes are still in use.
    Failed,
    /// No packets are injected; the next check is at this time.
    Draining(Picoseconds),
    Over(Picoseconds),
}

impl FailureProgress {
    /// Time of the next stage.
    pub(super) fn due(self, interruption: &Interruption) -> Option<Picoseconds> {
        match self {
            Self::Ahead => Some(interruption.at),
            Self::Failed => Some(interruption.ready),
            Self::Draining(next) => Some(next),
            Self::Over(_) => None,
        }
    }

    /// The routes of this stage, if they are others than those before the failure, and the fabric
    /// for which they were made.
    pub(super) fn routes<'f>(
        self,
        interruption: &'f Interruption,
        whole: &'f Fabric,
    ) -> Option<(&'f Fabric, &'f Routes)> {
        match self {
            Self::Ahead => None,
            Self::Failed | Self::Draining(_) => Some((whole, interruption.meanwhile.as_ref()?)),
            Self::Over(_) => Some((&interruption.left, &interruption.later)),
        }
    }
}
