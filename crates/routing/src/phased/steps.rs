//! Virtual channels that ascend from step to step, so that packets never wait in a circle
//! (\[gunther\]; for parts of a way \[dragonfly\]).

use super::super::relation::{Hop, NoRelation};
use super::PhasedParameters;

/// The virtual channels of each step of a way.
///
/// Steps are numbered from 0. Step `n` has the virtual channels from `n * width` on, as many as the
/// [`width`](Self::width) says. A rule whose packets only ever go on to later steps can't deadlock:
/// no packet that holds a virtual channel waits for one of the same step or an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Number of steps, at least 1.
    needed: u8,
    vcs: u8,
}

impl Steps {
    /// So many steps, at least 1, need a virtual channel each. Where there are more, each step has
    /// equally many.
    ///
    /// # Errors
    /// [`NoRelation::VirtualChannels`] if there are fewer, unless the last one
    /// [serves all steps](PhasedParameters::clamps) that have none of their own.
    pub fn new(needed: u8, parameters: &PhasedParameters) -> Result<Self, NoRelation> {
        let &PhasedParameters { vcs, clamps, .. } = parameters;
        if needed > vcs && !clamps {
            return Err(NoRelation::VirtualChannels { needed, vcs });
        }
        Ok(Self { needed, vcs })
    }

    /// Virtual channels of each step, at least 1.
    pub fn width(self) -> u8 {
        (self.vcs / self.needed).max(1)
    }

    /// Virtual channels for steps of two each.
    pub fn vcs_for_two(self) -> u8 {
        self.needed.saturating_mul(2)
    }

    /// Adds the hops by a port at a step, one for each of the step's virtual channels. `place` is
    /// the port, as in [`Hop::port`], the step, and the phase in which packets go on.
    pub fn add(self, place: (u16, u8, u8), hops: &mut Vec<Hop>) {
        self.add_labelled(place, 0, hops);
    }

    /// Adds such hops with a [label](Hop::label).
    pub fn add_labelled(self, (port, step, phase): (u16, u8, u8), label: u8, hops: &mut Vec<Hop>) {
        let width = self.width();
        let first = (step * width).min(self.vcs - width);
        hops.extend((first..first + width).map(|vc| Hop { phase, label, ..Hop::new(port, vc) }));
    }

    /// The virtual channels that are used, in words: the answer of
    /// [`PhasedRule::steps`](super::PhasedRule::steps).
    pub fn describe(self) -> String {
        let width = self.width();
        let used = (width * self.needed).min(self.vcs);
        match width {
            1 => format!("{used}, one for each step of a way"),
            _ => format!("{used}, {width} for each step of a way"),
        }
    }
}
