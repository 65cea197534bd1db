//! Comparisons of eight ticks at once.
//!
//! A router looks for the least of its outputs' times, and for the outputs that have it, at every
//! instant at which it does something. With the vector instructions of AVX2 each of these is a
//! handful of instructions instead of thirty. Which form runs is decided when the simulation is
//! made ([`has_avx2`]); both give equal results.

use crate::frame::tick::{NEVER, Tick};

/// Comparisons of ticks.
pub(crate) trait Vector {
    /// The least of eight ticks.
    fn least(ticks: &[Tick; 8]) -> Tick;

    /// The places of the ticks that are equal to `tick`, a bit each.
    fn equal(ticks: &[Tick; 8], tick: Tick) -> u64;

    /// The places of the ticks that are at most `tick`, a bit each.
    fn at_most(ticks: &[Tick; 8], tick: Tick) -> u64;
}

/// Comparisons on any processor.
pub(crate) struct Portable;

impl Vector for Portable {
    #[inline(always)]
    fn least(&[a, b, c, d, e, f, g, h]: &[Tick; 8]) -> Tick {
        let quarters = [a.min(e), b.min(f), c.min(g), d.min(h)];
        quarters[0].min(quarters[1]).min(quarters[2].min(quarters[3]))
    }

    #[inline(always)]
    fn equal(ticks: &[Tick; 8], tick: Tick) -> u64 {
        let bit = |(place, &other): (usize, &Tick)| u64::from(other == tick) << place;
        ticks.iter().enumerate().map(bit).fold(0, |set, bit| set | bit)
    }

    #[inline(always)]
    fn at_most(ticks: &[Tick; 8], tick: Tick) -> u64 {
        let bit = |(place, &other): (usize, &Tick)| u64::from(other <= tick) << place;
        ticks.iter().enumerate().map(bit).fold(0, |set, bit| set | bit)
    }
}

/// Comparisons with AVX2. They belong into functions that are compiled for it, and have to be
/// inlined there: elsewhere each would be a call.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "the functions that use this are entered on processors that have AVX2 only"
)]
impl Vector for Avx2 {
    #[inline(always)]
    fn least(ticks: &[Tick; 8]) -> Tick {
        use std::arch::x86_64::*;
        // SAFETY: the processor has AVX2, and the address is that of eight ticks.
        unsafe {
            let all = _mm256_loadu_si256(ticks.as_ptr().cast());
            let high = _mm256_extracti128_si256::<1>(all);
            let four = _mm_min_epu32(_mm256_castsi256_si128(all), high);
            let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b1110>(four));
            let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b0001>(two));
            _mm_cvtsi128_si32(one).cast_unsigned()
        }
    }

    #[inline(always)]
    fn equal(ticks: &[Tick; 8], tick: Tick) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: the processor has AVX2, and the address is that of eight ticks.
        let bits = unsafe {
            let all = _mm256_loadu_si256(ticks.as_ptr().cast());
            let same = _mm256_cmpeq_epi32(all, _mm256_set1_epi32(tick.cast_signed()));
            _mm256_movemask_ps(_mm256_castsi256_ps(same))
        };
        u64::from(bits.cast_unsigned())
    }

    #[inline(always)]
    fn at_most(ticks: &[Tick; 8], tick: Tick) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: the processor has AVX2, and the address is that of eight ticks.
        let bits = unsafe {
            let all = _mm256_loadu_si256(ticks.as_ptr().cast());
            let least = _mm256_min_epu32(all, _mm256_set1_epi32(tick.cast_signed()));
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(all, least)))
        };
        u64::from(bits.cast_unsigned())
    }
}

/// Whether the processor has AVX2 and the instructions that came with it.
pub(super) fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The least of some ticks.
#[inline(always)]
pub(crate) fn least<V: Vector>(ticks: &[Tick]) -> Tick {
    let (eights, rest) = ticks.as_chunks();
    let least = eights.iter().fold(NEVER, |least, eight| least.min(V::least(eight)));
    rest.iter().fold(least, |least, &tick| least.min(tick))
}

/// The places of those of at most 64 ticks that are at most `tick`, a bit each.
#[inline(always)]
pub(super) fn at_most<V: Vector>(ticks: &[Tick], tick: Tick) -> u64 {
    let (eights, rest) = ticks.as_chunks();
    let mut set = 0;
    for (number, eight) in eights.iter().enumerate() {
        set |= V::at_most(eight, tick) << (8 * number);
    }
    for (place, &other) in rest.iter().enumerate() {
        set |= u64::from(other <= tick) << (8 * eights.len() + place);
    }
    set
}

/// The places of those of at most 64 ticks that are equal to `tick`, a bit each.
#[inline(always)]
pub(super) fn equal<V: Vector>(ticks: &[Tick], tick: Tick) -> u64 {
    let (eights, rest) = ticks.as_chunks();
    let mut set = 0;
    for (number, eight) in eights.iter().enumerate() {
        set |= V::equal(eight, tick) << (8 * number);
    }
    for (place, &other) in rest.iter().enumerate() {
        set |= u64::from(other == tick) << (8 * eights.len() + place);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Compares with plain loops, for few and for many ticks, near each other and at the ends of
    /// their range.
    fn check<V: Vector>() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for round in 0..20_000 {
            let length = random.random_range(0..=64);
            let values = [0, 1, 7, 1 << 31, (1 << 31) + 1, NEVER - 1, NEVER];
            let mut draw = || match round % 3 {
                0 => random.random(),
                1 => values[random.random_range(0..values.len())],
                _ => random.random_range(90..100),
            };
            let tick: Tick = draw();
            let ticks: Vec<Tick> = (0..length).map(|_| draw()).collect();
            let set = |has: &dyn Fn(Tick) -> bool| {
                let bits = (0..length).filter(|&place| has(ticks[place]));
                bits.fold(0, |set, place| set | 1 << place)
            };
            assert_eq!(least::<V>(&ticks), ticks.iter().copied().min().unwrap_or(NEVER));
            assert_eq!(equal::<V>(&ticks, tick), set(&|other| other == tick));
            assert_eq!(at_most::<V>(&ticks, tick), set(&|other| other <= tick));
        }
    }

    #[test]
    fn all_forms_compare_as_plain_loops_do() {
        check::<Portable>();
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            check::<Avx2>();
        }
    }
}
