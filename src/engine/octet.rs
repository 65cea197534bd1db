//! Ports in eights: a loop over eight takes no branches, and eight of everything that a grant needs lie together.

use serde::{Deserialize, Serialize};

use super::ports::{Input, Output};
use super::tick::{NEVER, Tick};

/// How many ports there are in an octet.
pub(super) const EIGHT: usize = 8;

/// Eight of a router's outputs and eight of its input ports, whether there are as many or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct Octet {
    /// Before when each output can't grant; what stands for none never can.
    pub due: [Tick; EIGHT],
    pub outputs: [Output; EIGHT],
    pub inputs: [Input; EIGHT],
}

impl Octet {
    pub(super) const VACANT: Self = Self {
        due: [NEVER; EIGHT],
        outputs: [Output::VACANT; EIGHT],
        inputs: [Input::VACANT; EIGHT],
    };

    /// The outputs that are due at this time, a bit each.
    #[inline(always)]
    pub(super) fn due_at(&self, time: Tick) -> u64 {
        let mut outputs = 0;
        for (output, &due) in self.due.iter().enumerate() {
            outputs |= u64::from(due == time) << output;
        }
        outputs
    }
}

/// When the first output of a router is due.
#[inline(always)]
pub(super) fn least(octets: &[Octet]) -> Tick {
    let mut least = NEVER;
    for Octet { due: [a, b, c, d, e, f, g, h], .. } in octets {
        let quarters = [a.min(e), b.min(f), c.min(g), d.min(h)];
        least = least.min(*quarters[0].min(quarters[1]).min(quarters[2].min(quarters[3])));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_found_wherever_it_is() {
        assert_eq!(least(&[]), NEVER);
        for output in 0..16 {
            let mut octets = [Octet::VACANT, Octet::VACANT];
            octets.iter_mut().for_each(|octet| octet.due = [9; EIGHT]);
            octets[output / EIGHT].due[output % EIGHT] = 3;
            assert_eq!(least(&octets), 3);
            assert_eq!(octets[output / EIGHT].due_at(3), 1 << (output % EIGHT));
            assert_eq!(octets[1 - output / EIGHT].due_at(3), 0);
        }
    }
}
