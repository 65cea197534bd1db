//! When a terminal creates its messages.
//!
//! Times are the same on every machine: drawn as integers, turned into gaps with `libm`'s logarithm
//! (the standard library's depends on the platform), and added up as whole picoseconds.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Interval, Process};
use flitlab_base::units::Picoseconds;

/// The creation times of a terminal's messages. Holds no state: the caller keeps the latest time,
/// the message's number and what was drawn for it.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: Process,
    slot: Picoseconds,
    interval: Interval,
    /// 1 over the logarithm of the probability that a slot has no message; 0 if each has one.
    slots_a_miss: f64,
}

impl Arrivals {
    /// Messages at this mean interval, which must be at least the slot: at most one message a slot.
    ///
    /// [`Process::Bernoulli`]: in each slot (0, 1, ... times `slot`) a message with probability slot /
    /// interval. [`Process::Periodic`]: message i at the phase plus i intervals, rounded down to
    /// whole picoseconds, so that no drift builds up; the phase is 0 if `in_step`, else any whole
    /// number of picoseconds below the interval.
    ///
    /// # Panics
    /// If the slot is 0 or the interval is shorter than the slot.
    pub fn new(process: Process, slot: Picoseconds, interval: Interval) -> Self {
        assert!(slot > Picoseconds::ZERO && interval.whole >= slot.0, "at most one message a slot");
        let log_miss = libm::log1p(-(slot.0 as f64 / interval.picoseconds()).min(1.0));
        Self { process, slot, interval, slots_a_miss: 1.0 / log_miss }
    }

    /// Whether gaps between messages differ by chance.
    pub fn is_random(&self) -> bool {
        self.process == Process::Bernoulli && self.slots_a_miss != 0.0
    }

    /// Draws what the chance in the creation time of message `index` is: for [`Process::Bernoulli`]
    /// how many slots it is behind the message before, the first one behind slot -1; for
    /// [`Process::Periodic`] the phase, with message 0. Where there is no chance it draws nothing.
    #[inline]
    pub fn draw(&self, index: u64, random: &mut ChaCha8Rng) -> u64 {
        match self.process {
            Process::Bernoulli => self.gap(random),
            Process::Periodic { in_step: false } if index == 0 => {
                let partial = u64::from(self.interval.rest > 0);
                random.random_range(0..self.interval.whole.saturating_add(partial))
            }
            Process::Periodic { .. } => 0,
        }
    }

    /// Creation time of the first message, number 0, for which this was drawn.
    pub fn first(&self, drawn: u64) -> Picoseconds {
        match self.process {
            Process::Bernoulli => self.slot * (drawn - 1),
            Process::Periodic { .. } => Picoseconds(drawn),
        }
    }

    /// Creation time of message `index`, 1 or more, for which this was drawn; the one before was
    /// created at `previous`. [`Picoseconds::BEYOND`] if that is later than can be told.
    #[inline]
    pub fn next(&self, previous: Picoseconds, index: u64, drawn: u64) -> Picoseconds {
        match self.process {
            Process::Bernoulli => previous + self.slot * drawn,
            Process::Periodic { .. } if !previous.is_told() => previous,
            Process::Periodic { .. } => {
                let phase = previous - self.interval.times(index - 1);
                self.interval.times(index) + phase
            }
        }
    }

    /// Slots to the next message, 1 or more: geometric, by inversion of a uniform 53-bit number in
    /// (0, 1]. P(gap > n) = P(u <= (1-p)^n).
    #[inline]
    fn gap(&self, random: &mut ChaCha8Rng) -> u64 {
        const BITS: u32 = 53;
        let drawn = random.random::<u64>() >> (u64::BITS - BITS);
        let uniform = (drawn + 1) as f64 / (1_u64 << BITS) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 or more, and what is beyond u64 is never"
        )]
        let misses = (libm::log(uniform) * self.slots_a_miss) as u64;
        misses.saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const SLOT: Picoseconds = Picoseconds(2_133);

    fn random() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(7)
    }

    fn times(arrivals: &Arrivals, count: u64) -> Vec<Picoseconds> {
        let mut random = random();
        let mut times = vec![arrivals.first(arrivals.draw(0, &mut random))];
        for index in 1..count {
            let drawn = arrivals.draw(index, &mut random);
            times.push(arrivals.next(times[index as usize - 1], index, drawn));
        }
        times
    }

    #[test]
    fn bernoulli_gaps_are_geometric() {
        for inverse in [2, 20, 400] {
            let interval = Interval::new(u128::from(SLOT * inverse), 1).unwrap();
            let times = times(&Arrivals::new(Process::Bernoulli, SLOT, interval), 40_001);
            assert!(times.iter().all(|time| time.0.is_multiple_of(SLOT.0)));
            let gaps: Vec<f64> =
                times.windows(2).map(|two| ((two[1] - two[0]) / SLOT) as f64).collect();
            assert!(gaps.iter().all(|&gap| gap >= 1.0));
            let (n, p) = (gaps.len() as f64, 1.0 / inverse as f64);
            let mean = gaps.iter().sum::<f64>() / n;
            let deviation = (1.0 - p).sqrt() / p;
            assert!((mean - 1.0 / p).abs() < 4.0 * deviation / n.sqrt(), "{inverse}: {mean}");
            let ones = gaps.iter().filter(|&&gap| gap == 1.0).count() as f64;
            assert!((ones - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{inverse}: {ones}");
        }
    }

    #[test]
    fn the_first_bernoulli_message_is_as_likely_in_slot_0_as_in_any_other() {
        let arrivals =
            Arrivals::new(Process::Bernoulli, Picoseconds(1), Interval::new(4, 1).unwrap());
        let mut random = random();
        let zero = (0..10_000)
            .filter(|_| arrivals.first(arrivals.draw(0, &mut random)) == Picoseconds(0))
            .count();
        assert!(zero.abs_diff(2_500) < 4 * 44, "{zero}");
    }

    #[test]
    fn bernoulli_at_probability_one_fills_every_slot() {
        let arrivals =
            Arrivals::new(Process::Bernoulli, Picoseconds(5), Interval::new(5, 1).unwrap());
        assert_eq!(
            times(&arrivals, 4),
            [Picoseconds(0), Picoseconds(5), Picoseconds(10), Picoseconds(15)]
        );
    }

    #[test]
    fn a_tiny_probability_ends_beyond_what_can_be_told() {
        let never = Interval::new(u128::MAX, 1).unwrap();
        for process in [Process::Bernoulli, Process::Periodic { in_step: false }] {
            let times = times(&Arrivals::new(process, SLOT, never), 5_000);
            assert!(times.is_sorted());
            assert_eq!(times.last(), Some(&Picoseconds::BEYOND));
        }
    }

    #[test]
    fn the_same_stream_gives_the_same_times_on_every_machine() {
        let interval = Interval::new(u128::from(10 * SLOT), 1).unwrap();
        let arrivals = Arrivals::new(Process::Bernoulli, SLOT, interval);
        let slots: Vec<u64> = times(&arrivals, 6).iter().map(|&time| time / SLOT).collect();
        assert_eq!(slots, [17, 34, 38, 42, 47, 57]);
    }

    #[test]
    fn periods_do_not_drift() {
        let interval = Interval::new(100_000, 7).unwrap();
        let in_step = Arrivals::new(Process::Periodic { in_step: true }, SLOT, interval);
        let in_step = times(&in_step, 70_001);
        assert_eq!(
            in_step[..4],
            [Picoseconds(0), Picoseconds(14_285), Picoseconds(28_571), Picoseconds(42_857)]
        );
        assert_eq!(in_step[70_000], Picoseconds(1_000_000_000));
        let phased = Arrivals::new(Process::Periodic { in_step: false }, SLOT, interval);
        let phased = times(&phased, 70_001);
        assert!(phased[0] <= Picoseconds(14_285) && phased[0] > Picoseconds(0));
        assert!(phased.iter().zip(&in_step).all(|(&one, &other)| one - other == phased[0]));
    }

    #[test]
    fn phases_are_spread_over_the_interval() {
        let interval = Interval::new(7, 2).unwrap();
        let arrivals =
            Arrivals::new(Process::Periodic { in_step: false }, Picoseconds(1), interval);
        let mut random = random();
        let mut seen = [0; 4];
        (0..4_000).for_each(|_| seen[arrivals.draw(0, &mut random) as usize] += 1);
        assert!(seen.iter().all(|count| (880..1_120).contains(count)), "{seen:?}");
    }
}
