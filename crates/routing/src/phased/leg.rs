//! A leg of a packet's way: the phases and steps on the way to one target.
//!
//! The phases of a leg count its hops: first those before the cable between groups, then those
//! after it. Steps are numbered upwards along the whole way of a packet, those between groups apart
//! from the others. So the virtual channels of a step are asked for only by packets that hold none
//! of a later step.

use super::super::relation::Hop;
use super::At;
use super::steps::Steps;
use super::ways::{Onward, Ways};
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;

/// A leg along some ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    /// The first of its phases, of its steps within groups, and of its steps between groups.
    pub phase: u8,
    pub local: u8,
    pub global: u8,
    /// Most hops before the cable between groups, and after it.
    before: u8,
    after: u8,
    /// The first of its steps after that cable.
    behind: u8,
}

impl Leg {
    /// A leg to routers.
    pub(super) fn to_router(ways: &Ways, start: (u8, u8, u8)) -> Self {
        Self::new(start, ways.before, ways.after)
    }

    fn new((phase, local, global): (u8, u8, u8), before: u8, after: u8) -> Self {
        Self { phase, local, global, before, after, behind: local + before }
    }

    /// This leg with later steps after its cable between groups.
    pub(super) fn with_steps_behind(self, behind: u8) -> Self {
        Self { behind, ..self }
    }

    /// A leg to groups.
    pub(super) fn to_group(ways: &Ways, start: (u8, u8, u8)) -> Self {
        Self::new(start, ways.before_group, 0)
    }

    /// A leg to routers from any router, such as one where a leg to a group ends.
    pub(super) fn from_any(ways: &Ways, start: (u8, u8, u8)) -> Self {
        Self::new(start, ways.before_from_any, ways.after)
    }

    /// A leg to groups from any router.
    pub(super) fn to_group_from_any(ways: &Ways, start: (u8, u8, u8)) -> Self {
        Self::new(start, ways.before_group_from_any, 0)
    }

    /// The first phase, local and global step behind it.
    pub(super) fn end(&self) -> (u8, u8, u8) {
        (self.phase + self.before + self.after + 2, self.behind + self.after, self.global + 1)
    }

    /// The first step behind those before the cable between groups.
    pub(super) fn cable(&self) -> u8 {
        self.local + self.before
    }

    /// Most hops.
    pub(super) fn longest(&self, ways: &Ways) -> u32 {
        u32::from(self.before + self.after) + u32::from(ways.has_groups())
    }

    /// Adds the hops of a packet in a phase of this leg.
    pub(super) fn hops(
        &self,
        (fabric, ways, steps): (&Fabric, &Ways, Steps),
        At { router, target, phase }: At,
        hops: &mut Vec<Hop>,
    ) {
        // So many hops within groups, and whether the cable between groups is behind.
        let done = phase - self.phase;
        let (done, is_after) = match done.checked_sub(self.before + 1) {
            Some(after) => (self.before + after, true),
            None => (done, false),
        };
        let inside = !ways.has_groups() || ways.group_of(router) == ways.group_of(target);
        let most = if inside { self.before + self.after } else { self.before };
        let left = most.saturating_sub(done);
        let Some(own) = ways.left(router, target) else { return };
        // No packet comes here in this phase: it would be behind its steps.
        if is_after && !inside || inside && own > left {
            return;
        }
        let outputs = fabric.outputs(router);
        for channel in outputs.clone() {
            let Some(next) = fabric.target(channel) else { continue };
            let port = fitted!(channel - outputs.start, u16);
            match ways.onward((router, next), target) {
                Some(Onward::Local) if inside || left > 0 => {
                    let is_second = done >= self.before;
                    let phase = self.phase + done + 1 + u8::from(is_second);
                    let step = match is_second {
                        true => self.behind + done - self.before,
                        false => self.local + done,
                    };
                    steps.add((port, step, phase), hops);
                }
                Some(Onward::Global) => {
                    let phase = self.phase + self.before + 1;
                    steps.add((port, self.global, phase), hops);
                }
                _ => {}
            }
        }
    }
}
