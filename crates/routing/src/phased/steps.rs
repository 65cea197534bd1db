//! Virtual channels that ascend from step to step, so that packets never wait in a circle
//! (\[gunther\]; for parts of a way \[dragonfly\]).

use super::super::relation::{Hop, NoRelation};
use super::PhasedParameters;

/// The virtual channels of each step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    needed: u8,
    vcs: u8,
}

impl Steps {
    /// So many steps need a virtual channel each. Where there are more, each step has equally many.
    pub(super) fn new(needed: u8, parameters: &PhasedParameters) -> Result<Self, NoRelation> {
        let &PhasedParameters { vcs, clamps, .. } = parameters;
        if needed > vcs && !clamps {
            return Err(NoRelation::VirtualChannels { needed, vcs });
        }
        Ok(Self { needed, vcs })
    }

    /// Virtual channels of each step.
    pub(super) fn width(self) -> u8 {
        (self.vcs / self.needed).max(1)
    }

    /// Adds the hops by a port at a step, one for each of its virtual channels.
    pub(super) fn add(self, place: (u16, u8, u8), hops: &mut Vec<Hop>) {
        self.add_labelled(place, 0, hops);
    }

    /// Adds such hops with a [label](Hop::label).
    pub(super) fn add_labelled(
        self,
        (port, step, phase): (u16, u8, u8),
        label: u8,
        hops: &mut Vec<Hop>,
    ) {
        let width = self.width();
        let first = (step * width).min(self.vcs - width);
        hops.extend((first..first + width).map(|vc| Hop { phase, label, ..Hop::new(port, vc) }));
    }

    /// The virtual channels that are used, in words.
    pub(super) fn describe(self) -> String {
        let width = self.width();
        let used = (width * self.needed).min(self.vcs);
        match width {
            1 => format!("{used}, one for each step of a way"),
            _ => format!("{used}, {width} for each step of a way"),
        }
    }
}
