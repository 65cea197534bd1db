//! A leg of a packet's way: the phases and steps on the way to one target.
//!
//! The cables between groups divide a leg into **stretches**, each within one group. The phases of a
//! leg count its hops: first those of the first stretch, then those of the next. Steps are numbered
//! upwards along the whole way of a packet, those between groups apart from the others. So the
//! virtual channels of a step are asked for only by packets that hold none of a later step.

use super::super::relation::Hop;
use super::At;
use super::steps::Steps;
use super::ways::{Onward, Ways};
use flitlab_base::narrow::fitted;
use flitlab_fabric::Fabric;

/// Where a leg begins: the first numbers that are its own. [`Leg::end`] is where the next one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegStart {
    /// Its first phase.
    pub phase: u8,
    /// Its first step within groups. On ways with the fewest hops all steps are such.
    pub local: u8,
    /// Its first step between groups.
    pub global: u8,
}

impl LegStart {
    /// Number of steps before it, within groups or between them, whichever are more: so many
    /// [`Steps`] a rule needs whose last leg ends here.
    pub fn steps(self) -> u8 {
        self.local.max(self.global)
    }
}

/// A leg along some ways.
///
/// A rule has the phases of its legs one after the other, each leg from the
/// [end](Self::end) of the one before it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The first of its phases.
    pub(super) phase: u8,
    /// The first of its steps between groups.
    pub(super) global: u8,
    /// By stretch: its most hops. Those of the last one are for the rest of any way, which ways with
    /// fewer cables take as well.
    most: Vec<u8>,
    /// By stretch: the first of its steps within groups.
    steps: Vec<u8>,
}

impl Leg {
    /// A leg with these stretches, whose steps follow one another.
    pub(super) fn new(start: LegStart, most: &[u8]) -> Self {
        let LegStart { phase, local, global } = start;
        let mut leg = Self { phase, global, most: most.to_vec(), steps: vec![local; most.len()] };
        leg.set_steps(0, local);
        leg
    }

    /// A leg to routers, from routers with terminals.
    pub fn to_router(ways: &Ways, start: LegStart) -> Self {
        Self::new(start, &[ways.before, ways.after])
    }

    /// A leg to groups, from routers with terminals. The ways must be by groups.
    pub fn to_group(ways: &Ways, start: LegStart) -> Self {
        Self::new(start, &[ways.before_group, 0])
    }

    /// A leg to routers from any router, such as one where a leg to a group ends.
    pub fn from_any(ways: &Ways, start: LegStart) -> Self {
        Self::new(start, &[ways.before_from_any, ways.after])
    }

    /// A leg to groups from any router.
    pub fn to_group_from_any(ways: &Ways, start: LegStart) -> Self {
        Self::new(start, &[ways.before_group_from_any, 0])
    }

    /// A leg to routers along all minimal ways, those that lead round as well.
    pub fn along_all(ways: &Ways, start: LegStart) -> Self {
        if ways.round.is_empty() {
            return Self::to_router(ways, start);
        }
        let mut most = ways.round.clone();
        most[0] = most[0].max(ways.before);
        let all: u8 = most.iter().sum();
        let direct = most[0] + ways.after;
        *most.last_mut().expect("ways lead round") += direct.saturating_sub(all);
        Self::new(start, &most)
    }

    /// This leg with later steps from its second stretch on.
    pub(super) fn with_steps_behind(mut self, behind: u8) -> Self {
        self.set_steps(1, behind);
        self
    }

    /// Gives a stretch and those behind it the steps from this one on.
    pub(super) fn set_steps(&mut self, stretch: usize, first: u8) {
        let mut next = first;
        for (own, hops) in self.steps.iter_mut().zip(&self.most).skip(stretch) {
            *own = next;
            next += hops;
        }
    }

    /// The first of its phases, in which packets begin it.
    pub fn first_phase(&self) -> u8 {
        self.phase
    }

    /// The first step within groups.
    pub(super) fn local(&self) -> u8 {
        self.steps[0]
    }

    /// Where a leg behind it begins.
    pub fn end(&self) -> LegStart {
        let (hops, stretches): (u8, u8) = (self.most.iter().sum(), fitted!(self.most.len(), u8));
        let last = self.most.len() - 1;
        LegStart {
            phase: self.phase + hops + stretches,
            local: self.steps[last] + self.most[last],
            global: self.global + stretches - 1,
        }
    }

    /// The first step behind those of a stretch.
    pub(super) fn end_of(&self, stretch: usize) -> u8 {
        self.steps[stretch] + self.most[stretch]
    }

    /// Number of stretches.
    pub(super) fn stretches(&self) -> usize {
        self.most.len()
    }

    /// Most hops of a packet on it.
    pub fn longest(&self, ways: &Ways) -> u32 {
        let hops: u32 = self.most.iter().map(|&hops| u32::from(hops)).sum();
        let cables = if ways.has_groups() { self.most.len() - 1 } else { 0 };
        hops + fitted!(cables, u32)
    }

    /// The hops within groups before a stretch.
    fn before(&self, stretch: usize) -> u8 {
        self.most[..stretch].iter().sum()
    }

    /// The last stretch whose beginning is not behind these hops or phases, each stretch with
    /// `each` phases of its own.
    fn stretch_of(&self, done: u8, each: u8) -> usize {
        let begin = |&stretch: &usize| self.before(stretch) + each * fitted!(stretch, u8);
        (0..self.most.len()).rfind(|stretch| begin(stretch) <= done).unwrap_or(0)
    }

    /// Adds the hops of a packet in a phase of this leg: none where no packet can come in that
    /// phase.
    pub fn hops(
        &self,
        (fabric, ways, steps): (&Fabric, &Ways, Steps),
        At { router, target, phase }: At,
        hops: &mut Vec<Hop>,
    ) {
        let stretch = self.stretch_of(phase - self.phase, 1);
        let behind = fitted!(stretch, u8);
        // So many hops within groups.
        let done = phase - self.phase - behind;
        let Some(own) = ways.left(router, target) else { return };
        let cables = ways.cables(router, target);
        let most = if cables == 0 { self.most.len() } else { stretch + 1 };
        let left = self.before(most).saturating_sub(done);
        // No packet comes here in this phase: it would be behind its steps.
        if stretch + usize::from(cables) >= self.most.len() || cables == 0 && own > left {
            return;
        }
        for (port, _, onward) in ways.ports(fabric, router, target) {
            match onward {
                Onward::Local if cables == 0 || left > 0 => {
                    // The last hops take the steps of later stretches, too.
                    let stretch = self.stretch_of(done, 0).max(stretch);
                    let step = self.steps[stretch] + done - self.before(stretch);
                    let phase = self.phase + done + 1 + fitted!(stretch, u8);
                    steps.add((port, step, phase), hops);
                }
                Onward::Global => {
                    let phase = self.phase + self.before(stretch + 1) + behind + 1;
                    steps.add((port, self.global + behind, phase), hops);
                }
                Onward::Local => {}
            }
        }
    }
}
