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

/// What packets may be bound for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Routers.
    Routers,
    /// Routers, and on their way groups. By router: its group.
    Groups(Vec<u32>),
    /// Routers, where hops also depend on the router of the source: a target is a pair of both, of so
    /// many routers.
    Pairs(u32),
}

/// The vias that failures take from packets, which would be too far round. Both lists are empty if
/// there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostVias {
    /// By router: those to which no packet begins its leg there, ascending.
    pub from: Vec<Vec<u32>>,
    /// By router: those from which no packet goes on to it as its destination's, ascending.
    pub to: Vec<Vec<u32>>,
}

impl LostVias {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.from.is_empty()
    }
}

/// How packets pass from phase to phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// By the phase's number.
    pub phases: Vec<Phase>,
    /// The phases in which packets may start.
    pub starts: Vec<u8>,
    /// What packets may be bound for.
    pub targets: Targets,
    /// The vias that they never have.
    pub lost: LostVias,
}

impl Phases {
    /// Phases of packets that are bound for their destination alone, and start in the first one.
    pub fn straight(count: usize) -> Self {
        let phases = vec![Phase::Destination; count];
        Self { phases, starts: vec![0], targets: Targets::Routers, lost: LostVias::default() }
    }

    /// Number of groups by way of which packets may go.
    pub fn group_count(&self) -> u32 {
        match &self.targets {
            Targets::Groups(groups) => groups.iter().max().map_or(0, |most| most + 1),
            Targets::Routers | Targets::Pairs(_) => 0,
        }
    }

    /// Number of targets behind those that are routers.
    pub(super) fn more_targets(&self) -> u64 {
        match self.targets {
            Targets::Pairs(routers) => u64::from(routers) * u64::from(routers),
            _ => self.group_count().into(),
        }
    }

    /// Whether a packet that has come to a router is where it was bound for: at this router, or at
    /// a router of this group.
    #[inline]
    pub fn is_reached(&self, target: u32, router: u32) -> bool {
        match &self.targets {
            Targets::Routers => target == router,
            Targets::Groups(groups) => {
                let group = fitted!(groups.len(), u32) + groups[router as usize];
                target == router || target == group
            }
            Targets::Pairs(routers) => target % routers == router,
        }
    }

    /// What a packet of a router is bound for on its way to a destination's router.
    #[inline]
    pub fn target(&self, source: u32, destination: u32) -> u32 {
        match self.targets {
            Targets::Pairs(routers) => (1 + source) * routers + destination,
            Targets::Routers | Targets::Groups(_) => destination,
        }
    }

    /// The router of the source of packets that are bound for a target, if hops depend on it.
    pub fn source(&self, target: u32) -> Option<u32> {
        match self.targets {
            Targets::Pairs(routers) => Some(target / routers - 1),
            Targets::Routers | Targets::Groups(_) => None,
        }
    }

    /// The via that is reached at a router: the router itself, or its group.
    pub fn via_at(&self, router: u32) -> u32 {
        match &self.targets {
            Targets::Groups(groups) => fitted!(groups.len(), u32) + groups[router as usize],
            Targets::Routers | Targets::Pairs(_) => router,
        }
    }

    /// Whether some packet may begin a leg at a router to a via, or in this phase to a destination's
    /// router. Where legs from vias begin, so does that of a packet that takes the router for its
    /// via.
    pub fn may_begin(&self, (router, phase): (u32, u8), target: u32) -> bool {
        let is_among = |lists: &[Vec<u32>], router: u32, via: u32| {
            lists.get(router as usize).is_some_and(|vias| vias.binary_search(&via).is_ok())
        };
        match self.phases[usize::from(phase)] {
            Phase::Via { .. } => !is_among(&self.lost.from, router, target),
            _ if self.is_after_via(phase) => !is_among(&self.lost.to, target, self.via_at(router)),
            _ => true,
        }
    }

    /// Whether packets go on in this phase from vias.
    pub fn is_after_via(&self, phase: u8) -> bool {
        let leads_there = |own: &Phase| matches!(own, Phase::Via { then } if *then == phase);
        self.phases.iter().any(leads_there)
    }

    /// All that packets may be bound for in the end: routers with live terminals, or pairs of them.
    pub fn destinations(&self, fabric: &Fabric) -> Vec<u32> {
        let ends = fabric.ends();
        match self.targets {
            Targets::Routers | Targets::Groups(_) => ends,
            Targets::Pairs(_) => {
                let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
                pairs.map(|(from, to)| self.target(from, to)).collect()
            }
        }
    }

    /// Whether packets in a phase are bound for their destination, and decide nothing.
    pub fn leads_straight(&self, phase: u8) -> bool {
        self.phases[usize::from(phase)] == Phase::Destination
    }

    /// The phase whose hops lead packets of a phase to their destination: of one that decides the
    /// first that it may decide on.
    pub fn leading_on(&self, phase: u8) -> u8 {
        match &self.phases[usize::from(phase)] {
            Phase::Decides { among } => {
                let straight = among.iter().copied().find(|&phase| self.leads_straight(phase));
                straight.unwrap_or(phase)
            }
            Phase::Destination | Phase::Via { .. } => phase,
        }
    }

    /// Whether packets in a phase go by way of something.
    #[inline]
    pub fn is_via(&self, phase: u8) -> bool {
        matches!(self.phases[usize::from(phase)], Phase::Via { .. })
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
