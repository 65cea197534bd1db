//! Times by output, in eights: a loop over eight of them takes no branches, and the compiler knows where it ends.

use super::tick::{NEVER, Tick};

/// How many times there are in an octet.
pub(super) const EIGHT: usize = 8;

/// Eight times; what stands for no output is never.
pub(super) type Octet = [Tick; EIGHT];

/// The least of some times.
#[inline(always)]
pub(super) fn least(octets: &[Octet]) -> Tick {
    let mut least = NEVER;
    for octet in octets {
        let [a, b, c, d, e, f, g, h] = *octet;
        let halves = [a.min(e), b.min(f), c.min(g), d.min(h)];
        least = least.min(halves[0].min(halves[1]).min(halves[2].min(halves[3])));
    }
    least
}

/// The places of an octet that have this time, a bit each.
#[inline(always)]
pub(super) fn places_of(time: Tick, octet: &Octet) -> u64 {
    let mut places = 0;
    for (place, &other) in octet.iter().enumerate() {
        places |= u64::from(other == time) << place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_found_wherever_it_is() {
        assert_eq!(least(&[]), NEVER);
        for place in 0..16 {
            let mut octets = [[9; EIGHT]; 2];
            octets[place / EIGHT][place % EIGHT] = 3;
            assert_eq!(least(&octets), 3);
            assert_eq!(places_of(3, &octets[place / EIGHT]), 1 << (place % EIGHT));
            assert_eq!(places_of(3, &octets[1 - place / EIGHT]), 0);
        }
    }
}
