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
}

impl Leg {
    /// A leg to routers.
    pub(super) fn to_router(ways: &Ways, (phase, local, global): (u8, u8, u8)) -> Self {
        Self { phase, local, global, before: ways.before, after: ways.after }
    }

    /// A leg to groups.
    pub(super) fn to_group(ways: &Ways, (phase, local, global): (u8, u8, u8)) -> Self {
        Self { phase, local, global, before: ways.before_group, after: 0 }
    }

    /// A leg to routers from wherever a leg to a group ends.
    pub(super) fn from_group(ways: &Ways, (phase, local, global): (u8, u8, u8)) -> Self {
        let before = ways.before_from_any;
        Self { phase, local, global, before, after: ways.after }
    }

    /// The first phase, local and global step behind it.
    pub(super) fn end(&self) -> (u8, u8, u8) {
        let steps = self.before + self.after;
        (self.phase + steps + 2, self.local + steps, self.global + 1)
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
            let port = (channel - outputs.start) as u16;
            match ways.onward((router, next), target) {
                Some(Onward::Local) if inside || left > 0 => {
                    let gap = u8::from(is_after || done == self.before);
                    let phase = self.phase + done + 1 + gap;
                    steps.add((port, self.local + done, phase), hops);
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
