//! Damage to a channel's flits: bits that err, and bursts.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_model::{Bursts, LinkErrors};

/// The next damage to the flits of one channel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Damage {
    /// `None` if none of its bits err, or if no burst comes.
    bits: Option<BitErrors>,
    bursts: Option<NextBurst>,
}

/// Bits that err independently.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BitErrors {
    random: ChaCha8Rng,
    /// The logarithm of the probability that a bit is sound.
    log_sound: f64,
    /// Sound bits before the next damaged one.
    sound: u64,
}

/// The first burst that is not over.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NextBurst {
    random: ChaCha8Rng,
    mean: f64,
    begins: Picoseconds,
    length: Picoseconds,
}

/// A number from [0, 1).
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    const BITS: u32 = 53;
    (random.next_u64() >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
}

/// A number of 0 or more as a whole number; a number beyond 64 bits means never.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0 or more, and what is beyond u64 is never"
)]
fn floor(value: f64) -> u64 {
    value as u64
}

impl BitErrors {
    fn draw(&mut self) {
        self.sound = floor(libm::log1p(-uniform(&mut self.random)) / self.log_sound);
    }
}

impl NextBurst {
    fn draw(&mut self) {
        let gap = floor(-libm::log1p(-uniform(&mut self.random)) * self.mean);
        self.begins += Picoseconds(gap);
    }
}

impl Damage {
    /// The damage to a channel of the fabric.
    pub(crate) fn new(errors: &LinkErrors, channel: u32) -> Self {
        let errs = errors.channels.as_ref().is_none_or(|channels| channels[channel as usize]);
        let stream = |number: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(errors.seed);
            random.set_stream(2 * u64::from(channel) + number);
            random
        };
        let bits = (errs && errors.bit_error_rate > 0.0).then(|| {
            let log_sound = libm::log1p(-errors.bit_error_rate);
            let mut bits = BitErrors { random: stream(0), log_sound, sound: 0 };
            bits.draw();
            bits
        });
        let bursts = errors.bursts.filter(|_| errs).map(|Bursts { interval, length }| {
            let mean = interval.0 as f64;
            let mut next = NextBurst { random: stream(1), mean, begins: Picoseconds::ZERO, length };
            next.draw();
            next
        });
        Self { bits, bursts }
    }

    /// Whether any of the next bits is damaged, or a burst comes between two times, the second one
    /// excluded. Calls come in the order of time.
    pub(crate) fn hits(
        &mut self,
        mut bits_sent: u64,
        (from, until): (Picoseconds, Picoseconds),
    ) -> bool {
        let mut hit = false;
        if let Some(bits) = &mut self.bits {
            while bits.sound < bits_sent {
                hit = true;
                bits_sent -= bits.sound + 1;
                bits.draw();
            }
            bits.sound -= bits_sent;
        }
        if let Some(burst) = &mut self.bursts {
            while burst.begins + burst.length <= from {
                burst.draw();
            }
            hit |= burst.begins < until;
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;

    fn errors(bit_error_rate: f64, bursts: Option<Bursts>) -> LinkErrors {
        LinkErrors { bit_error_rate, bursts, seed: 5, ..LinkErrors::default() }
    }

    fn bursts(interval: u64, length: u64) -> Option<Bursts> {
        Some(Bursts { interval: Picoseconds(interval), length: Picoseconds(length) })
    }

    /// Which of so many packets of `bits` bits are damaged; all of them come at once.
    fn hits(errors: &LinkErrors, channel: u32, packets: u64, bits: u64) -> Vec<bool> {
        let mut damage = Damage::new(errors, channel);
        (0..packets).map(|_| damage.hits(bits, (Picoseconds(0), Picoseconds(1)))).collect()
    }

    /// The number of damaged packets among them.
    fn damaged(errors: &LinkErrors, channel: u32, packets: u64, bits: u64) -> usize {
        hits(errors, channel, packets, bits).iter().filter(|&&hit| hit).count()
    }

    #[test]
    fn as_many_packets_are_damaged_as_the_rate_says() {
        for (rate, bits) in [(1e-4, 2_304), (1e-3, 128), (1e-6, 100_000), (0.5, 3), (0.01, 1_000)] {
            let packets = 100_000;
            let found = damaged(&errors(rate, None), 3, packets, bits) as f64;
            let share = 1.0 - (1.0 - rate).powi(narrow::<i32>(bits));
            let mean = share * packets as f64;
            let deviation = (mean * (1.0 - share)).sqrt();
            assert!((found - mean).abs() < 4.0 * deviation, "{rate}: {found} instead of {mean}");
        }
    }

    #[test]
    fn it_makes_no_difference_how_bits_are_cut_into_packets() {
        let errors = errors(1e-3, None);
        let (fine, coarse) = (hits(&errors, 0, 12_000, 1), hits(&errors, 0, 120, 100));
        for (packet, &hit) in coarse.iter().enumerate() {
            assert_eq!(hit, fine[packet * 100..][..100].contains(&true));
        }
        assert!(coarse.contains(&true) && coarse.contains(&false));
    }

    #[test]
    fn channels_differ_and_some_do_not_err() {
        let mut errors = errors(1e-3, bursts(10, 3));
        assert_ne!(damaged(&errors, 1, 1_000, 1_000), damaged(&errors, 2, 1_000, 1_000));
        errors.channels = Some(vec![false, true]);
        assert_eq!(damaged(&errors, 0, 1_000, 1_000_000), 0);
        assert!(damaged(&errors, 1, 1_000, 1_000) > 0);
    }

    #[test]
    fn bursts_damage_what_overlaps_them() {
        let errors = errors(0.0, bursts(1_000, 30));
        let mut plain = Vec::new();
        let mut random = Damage::new(&errors, 0).bursts.unwrap();
        while random.begins < Picoseconds(100_000) {
            plain.push(random.begins);
            random.draw();
        }
        assert!((50..200).contains(&plain.len()), "about a hundred");
        let mut damage = Damage::new(&errors, 0);
        let mut hits = 0;
        for from in (0..99_900).step_by(7).map(Picoseconds) {
            let until = from + Picoseconds(20);
            let expected =
                plain.iter().any(|&begin| begin < until && from < begin + Picoseconds(30));
            assert_eq!(damage.hits(128, (from, until)), expected, "at {from:?}");
            hits += u32::from(expected);
        }
        assert!(hits > 100);
    }
}
