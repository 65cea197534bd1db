//! Phases: what tells apart packets at one router in place of the channel they came through.
//!
//! A packet carries the number of its phase, and each hop says in which phase it goes on
//! ([`Hop::phase`](super::Hop::phase)). Phases are for packets that go by way of a router or a
//! group, that decide where to go on their way, or that must remember more of their past than their
//! virtual channel tells. A table by router and phase is also much smaller than one by channel.

use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;

/// What a packet in a phase is bound for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its destination.
    Destination,
    /// The router or group by way of which it goes. Where that is reached the phase is `then`.
    Via {
        /// The phase in which it goes on from there.
        then: u8,
    },
    /// Where it is, it decides on one of these phases before it goes on. No packet comes to such a
    /// phase by way of something.
    Decides {
        /// The phases that it may decide on; none of them decides.
        among: Vec<u8>,
    },
}

/// How packets pass from phase to phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// By the phase's number.
    pub phases: Vec<Phase>,
    /// The phases in which packets may start.
    pub starts: Vec<u8>,
    /// By router: its group, if packets go by way of a group; empty if they go by way of a router,
    /// or of none.
    pub groups: Vec<u32>,
}

impl Phases {
    /// Number of groups by way of which packets may go.
    pub fn group_count(&self) -> u32 {
        self.groups.iter().max().map_or(0, |most| most + 1)
    }

    /// Whether a packet that has come to a router is where it was bound for: at this router, or at
    /// a router of this group.
    #[inline]
    pub fn is_reached(&self, target: u32, router: u32) -> bool {
        target == router
            || self
                .groups
                .get(router as usize)
                .is_some_and(|group| fitted!(self.groups.len(), u32) + group == target)
    }

    /// Whether packets in a phase are bound for their destination, and decide nothing.
    pub fn leads_straight(&self, phase: u8) -> bool {
        self.phases[usize::from(phase)] == Phase::Destination
    }

    /// Whether some packets go by way of a router or a group.
    pub fn has_vias(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase, Phase::Via { .. }))
    }

    /// Whether some packets decide.
    pub fn decides(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase, Phase::Decides { .. }))
    }

    /// The targets by way of which packets may go: the groups, or all routers with live terminals;
    /// none if there are no vias.
    pub fn vias(&self, fabric: &Fabric) -> Vec<u32> {
        if !self.has_vias() {
            return Vec::new();
        }
        match self.group_count() {
            0 => fabric.ends(),
            groups => (fabric.routers()..fabric.routers() + groups).collect(),
        }
    }
}
