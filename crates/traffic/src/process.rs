//! When a terminal creates its messages.
//!
//! Times are the same on every machine: drawn as integers, turned into gaps with `libm`'s logarithm
//! (the standard library's depends on the platform), and added up as whole picoseconds.
//!
//! # On-off
//!
//! A source is on or off (\[dally-towles\], section 24.2.2: a Markov-modulated process of two
//! states). Before each slot it goes from on to off with probability beta = slot / mean on period,
//! and from off to on with alpha = slot / mean off period. A slot in which it is on has a message
//! with probability p = m (alpha + beta) / alpha, where m is that of the mean rate.
//!
//! A message finds its source on. So the gaps between messages are independent and of one
//! distribution, and nothing of the periods has to be kept:
//!
//! P(gap > n) = (1 0) T^n (1 1)', T = [[(1 - beta)(1 - p), beta], [alpha (1 - p), 1 - alpha]].
//!
//! With d and D, the smaller and the larger root of x^2 - (alpha + beta + p - beta p) x + alpha p,
//! this is c (1 - d)^n + (1 - c)(1 - D)^n, where c = (D - (1 - beta) p) / (D - d). If alpha + beta
//! is at most 1, c is a probability. Then a gap is geometric, with probability c of the mean 1 / d:
//! most of these have an off period in them.
//!
//! The time to the first message has the distribution of the remainder of a gap at a random time,
//! where long ones are likelier: geometric as well, with probability m c / d of the mean 1 / d.
//!
//! # Markov-modulated
//!
//! Now the source has a message in a slot of either period, with probability p or q. Behind a
//! message it is in a period of either kind, so the state has to be kept ([`Chain`]). The
//! probabilities that a source in period i has no message for n slots and is in period j then are
//! those of row i of
//!
//! T^n, T = [[(1 - beta)(1 - p), beta (1 - q)], [alpha (1 - p), (1 - alpha)(1 - q)]].
//!
//! With x and X, the smaller and the larger root of x^2 - s x + beta q + alpha p + p q (1 - alpha -
//! beta), s = 2 - trace T, this row is (1 - x)^n A + (1 - X)^n B for vectors A and B. The gap is
//! found by bisection from a uniform number, and the period that it ends in is drawn by its
//! probability.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::logarithm::logarithms;
use super::{Interval, Process};
use flitlab_base::narrow::rounded;
use flitlab_base::units::Picoseconds;

/// The creation times of a terminal's messages. Holds no state: the caller keeps the latest time,
/// the message's number and what was drawn for it.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: Process,
    slot: Picoseconds,
    interval: Interval,
    /// 1 over the logarithm of the probability that a slot has no message; 0 if each has one. Of
    /// [`Process::OnOff`], that the next slot of a short gap has none.
    slots_a_miss: f64,
    long: LongGaps,
    /// Of [`Process::MarkovModulated`].
    chain: Option<Box<Chain>>,
}

/// The gaps of [`Process::OnOff`] with the longer mean; others have none.
#[derive(Clone, Copy, Debug, Default)]
struct LongGaps {
    /// Their share of all gaps, and of the times to the first message, of 2^53.
    share: u64,
    share_of_first: u64,
    /// As [`Arrivals`] has it.
    slots_a_miss: f64,
}

/// Bits of a number that is drawn for a probability: those of a float.
const BITS: u32 = 53;

impl Arrivals {
    /// Messages at this mean interval, which must be at least the slot: at most one message a slot.
    ///
    /// [`Process::Bernoulli`]: in each slot (0, 1, ... times `slot`) a message with probability slot /
    /// interval. [`Process::Periodic`]: message i at the phase plus i intervals, rounded down to
    /// whole picoseconds, so that no drift builds up; the phase is 0 if `in_step`, else any whole
    /// number of picoseconds below the interval. [`Process::OnOff`]: before each slot a source that
    /// is on goes off with probability slot / on, and one that is off on with slot / off; in a slot
    /// in which it is on it has a message with the probability that gives the mean interval.
    /// [`Process::MarkovModulated`]: likewise with a high and a low probability of a message.
    ///
    /// # Panics
    /// If the slot is 0 or the interval is shorter than the slot, or a mean period than two slots.
    pub fn new(process: Process, slot: Picoseconds, interval: Interval) -> Self {
        assert!(slot > Picoseconds::ZERO && interval.whole >= slot.0, "at most one message a slot");
        let rate = (slot.0 as f64 / interval.picoseconds()).min(1.0);
        let least = Self::least_period(slot);
        let probability = |mean: Picoseconds| {
            assert!(mean >= least, "at least two slots a period");
            slot.0 as f64 / mean.0 as f64
        };
        let mut chain = None;
        let (miss, long) = match process {
            Process::Bernoulli | Process::Periodic { .. } => (rate, LongGaps::default()),
            Process::OnOff { on, off } => on_off(rate, probability(off), probability(on)),
            Process::MarkovModulated { high, low, ratio } => {
                let switches = [probability(high), probability(low)];
                let high = (rate * process.peak()).min(1.0);
                chain = Some(Box::new(Chain::new([high, high / ratio], switches)));
                (rate, LongGaps::default())
            }
        };
        Self { process, slot, interval, slots_a_miss: slots_a_miss(miss), long, chain }
    }

    /// The shortest mean length of a period: two slots.
    pub fn least_period(slot: Picoseconds) -> Picoseconds {
        slot * 2
    }

    /// Whether gaps between messages differ by chance.
    pub fn is_random(&self) -> bool {
        match self.process {
            Process::Bernoulli => self.slots_a_miss != 0.0,
            Process::Periodic { .. } => false,
            Process::OnOff { .. } | Process::MarkovModulated { .. } => true,
        }
    }

    /// Draws what the chance in the creation time of message `index` is: for [`Process::Bernoulli`]
    /// and [`Process::OnOff`] how many slots it is behind the message before, the first one behind
    /// slot -1; for [`Process::Periodic`] the phase, with message 0. Where there is no chance it
    /// draws nothing. [`Process::MarkovModulated`] draws slots too, and the period that it is in
    /// goes from message to message in `period`; any will do before the first.
    #[inline]
    pub fn draw(&self, index: u64, random: &mut ChaCha8Rng, period: &mut Period) -> u64 {
        match self.process {
            Process::Bernoulli => gap(libm::log(uniform(random)), self.slots_a_miss),
            Process::OnOff { .. } => self.long_or_short(index, random),
            Process::Periodic { in_step: false } if index == 0 => {
                let partial = u64::from(self.interval.rest > 0);
                random.random_range(0..self.interval.whole.saturating_add(partial))
            }
            Process::Periodic { .. } => 0,
            Process::MarkovModulated { .. } => {
                let chain = self.chain.as_ref().expect("such a process has a chain");
                if index == 0 {
                    *period = chain.at_random_time(random);
                }
                chain.draw(random, period)
            }
        }
    }

    /// Fills a block with what [`draw`](Self::draw) gives for the messages from the `first`-th on.
    #[inline]
    pub fn draw_block<const N: usize>(
        &self,
        first: u64,
        random: &mut ChaCha8Rng,
        block: &mut [u64; N],
        period: &mut Period,
    ) {
        if let Process::Bernoulli = self.process {
            let mut numbers = [0.0; N];
            for number in &mut numbers {
                *number = uniform(random);
            }
            logarithms(&mut numbers);
            for (drawn, logarithm) in block.iter_mut().zip(numbers) {
                *drawn = gap(logarithm, self.slots_a_miss);
            }
            return;
        }
        for (index, drawn) in (first..).zip(block) {
            *drawn = self.draw(index, random, period);
        }
    }

    /// Creation time of the first message, number 0, for which this was drawn.
    pub fn first(&self, drawn: u64) -> Picoseconds {
        match self.process {
            Process::Bernoulli | Process::OnOff { .. } | Process::MarkovModulated { .. } => {
                self.slot * (drawn - 1)
            }
            Process::Periodic { .. } => Picoseconds(drawn),
        }
    }

    /// Creation time of message `index`, 1 or more, for which this was drawn; the one before was
    /// created at `previous`. [`Picoseconds::BEYOND`] if that is later than can be told.
    #[inline]
    pub fn next(&self, previous: Picoseconds, index: u64, drawn: u64) -> Picoseconds {
        match self.process {
            Process::Bernoulli | Process::OnOff { .. } | Process::MarkovModulated { .. } => {
                previous + self.slot * drawn
            }
            Process::Periodic { .. } if !previous.is_told() => previous,
            Process::Periodic { .. } => {
                let phase = previous - self.interval.times(index - 1);
                self.interval.times(index) + phase
            }
        }
    }

    /// The gap of [`Process::OnOff`] before message `index`.
    fn long_or_short(&self, index: u64, random: &mut ChaCha8Rng) -> u64 {
        let LongGaps { share, share_of_first, slots_a_miss } = self.long;
        let share = if index == 0 { share_of_first } else { share };
        let is_long = random.random::<u64>() >> (u64::BITS - BITS) < share;
        let slots_a_miss = if is_long { slots_a_miss } else { self.slots_a_miss };
        gap(libm::log(uniform(random)), slots_a_miss)
    }
}

/// The period in which a source of [`Process::MarkovModulated`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Period {
    /// That of the high rate.
    #[default]
    High,
    /// That of the low rate.
    Low,
}

/// Gaps of [`Process::MarkovModulated`], from [`Period::High`] and from [`Period::Low`].
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// The logarithms of 1 - x and of 1 - X.
    logarithms: [f64; 2],
    /// The vectors A and B.
    rows: [[[f64; 2]; 2]; 2],
    /// The probability that the source is in the other period in the next slot.
    switches: [f64; 2],
    /// The probability that a slot has a message.
    messages: [f64; 2],
}

impl Chain {
    fn new(messages: [f64; 2], switches: [f64; 2]) -> Self {
        let ([p, q], [beta, alpha]) = (messages, switches);
        // The diagonal of I - T, and what is beside that of T.
        let diagonal = [beta + p - beta * p, alpha + q - alpha * q];
        let beside = [beta * (1.0 - q), alpha * (1.0 - p)];
        let difference = diagonal[0] - diagonal[1];
        let root = (difference * difference + 4.0 * beside[0] * beside[1]).sqrt();
        let larger = (diagonal[0] + diagonal[1] + root) / 2.0;
        // The other form of the root cancels digits.
        let smaller = (beta * q + alpha * p + p * q * (1.0 - alpha - beta)) / larger;
        let row = |from: usize| {
            let mut rows = [[0.0; 2]; 2];
            rows[0][from] = (larger - diagonal[from]) / root;
            rows[0][1 - from] = beside[from] / root;
            rows[1][from] = (diagonal[from] - smaller) / root;
            rows[1][1 - from] = -beside[from] / root;
            rows
        };
        Self {
            logarithms: [smaller, larger].map(|root| libm::log1p(-root.min(1.0))),
            rows: [row(0), row(1)],
            switches,
            messages,
        }
    }

    /// The period of a source at a random time.
    fn at_random_time(&self, random: &mut ChaCha8Rng) -> Period {
        let [to_low, to_high] = self.switches;
        if uniform(random) * (to_low + to_high) <= to_high { Period::High } else { Period::Low }
    }

    /// The probability that there is no message in `slots` slots, 1 at least.
    fn none_in(&self, from: usize, slots: u64) -> f64 {
        let sum = |row: [f64; 2]| row[0] + row[1];
        let [one, other] = self.rows[from].map(sum);
        let [slow, fast] = self.logarithms.map(|logarithm| libm::exp(logarithm * slots as f64));
        one * slow + other * fast
    }

    /// Draws the slots to the next message, 1 or more, and the period in which it comes.
    fn draw(&self, random: &mut ChaCha8Rng, period: &mut Period) -> u64 {
        let (from, drawn) = (*period as usize, uniform(random));
        // The least number of slots in which none is less likely than that. For it is sure that
        // `none_in` is at most this multiple of (1 - x)^n.
        let [one, other] = self.rows[from].map(|row| row[0] + row[1]);
        let multiple = if other < 0.0 { one } else { 1.0 };
        let [slow, fast] = self.logarithms;
        let (mut before, mut at) = (0, gap(libm::log(drawn / multiple).min(0.0), 1.0 / slow));
        while self.none_in(from, at) >= drawn && at < u64::MAX {
            at = at.saturating_mul(2);
        }
        while at - before > 1 {
            let middle = before + (at - before) / 2;
            if self.none_in(from, middle) >= drawn { before = middle } else { at = middle }
        }
        // The probabilities of either period one slot before, but for a factor.
        let ratio = if at == 1 { 1.0 } else { libm::exp((fast - slow) * (at - 1) as f64) };
        let [one, other] = self.rows[from];
        let before = [0, 1].map(|to| one[to] + ratio * other[to]);
        let [to_low, to_high] = self.switches;
        let now = [
            before[0] * (1.0 - to_low) + before[1] * to_high,
            before[0] * to_low + before[1] * (1.0 - to_high),
        ];
        let [high, low] = [0, 1].map(|to| (now[to] * self.messages[to]).max(0.0));
        *period = if uniform(random) * (high + low) <= high { Period::High } else { Period::Low };
        at
    }
}

/// A uniform number in (0, 1].
#[inline]
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    let drawn = random.random::<u64>() >> (u64::BITS - BITS);
    (drawn + 1) as f64 / (1_u64 << BITS) as f64
}

/// Slots to the next message, 1 or more: geometric, by inversion of a [`uniform`] number, of which
/// this is the logarithm. P(gap > n) = P(u <= (1-p)^n).
#[inline]
fn gap(logarithm: f64, slots_a_miss: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 or more, and what is beyond u64 is never"
    )]
    let misses = (logarithm * slots_a_miss) as u64;
    misses.saturating_add(1)
}

/// 1 over the logarithm of the probability that a slot has no message, where that is not so.
fn slots_a_miss(message: f64) -> f64 {
    1.0 / libm::log1p(-message.min(1.0))
}

/// The probability that ends a short gap with the next slot, and the long gaps, of a source that
/// has a message with probability `rate` in the mean slot, goes on with `alpha` and off with `beta`.
fn on_off(rate: f64, alpha: f64, beta: f64) -> (f64, LongGaps) {
    let peak = (rate * (alpha + beta) / alpha).min(1.0);
    let either = peak + beta - beta * peak;
    let root = ((either - alpha) * (either - alpha) + 4.0 * alpha * beta * (1.0 - peak)).sqrt();
    let larger = (either + alpha + root) / 2.0;
    // The other form of the root cancels digits.
    let smaller = alpha * peak / larger;
    let share = (larger - (1.0 - beta) * peak) / (larger - smaller);
    let of_all = |share: f64| rounded(share.clamp(0.0, 1.0) * (1_u64 << BITS) as f64);
    let long = LongGaps {
        share: of_all(share),
        share_of_first: of_all(rate * share / smaller),
        slots_a_miss: slots_a_miss(smaller),
    };
    (larger, long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;
    use rand::SeedableRng;

    const SLOT: Picoseconds = Picoseconds(2_133);

    fn random() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(7)
    }

    fn times(arrivals: &Arrivals, count: u64) -> Vec<Picoseconds> {
        let (mut random, mut period) = (random(), Period::High);
        let mut times = vec![arrivals.first(arrivals.draw(0, &mut random, &mut period))];
        for index in 1..count {
            let drawn = arrivals.draw(index, &mut random, &mut period);
            times.push(arrivals.next(times[narrow::<usize>(index) - 1], index, drawn));
        }
        times
    }

    #[test]
    fn a_block_has_the_draws_of_its_messages() {
        let interval = Interval::new(u128::from(SLOT * 20), 1).unwrap();
        let on_off = Process::OnOff { on: SLOT * 100, off: SLOT * 50 };
        let markov = Process::MarkovModulated { high: SLOT * 100, low: SLOT * 300, ratio: 7.0 };
        for process in [Process::Bernoulli, Process::Periodic { in_step: false }, on_off, markov] {
            let arrivals = Arrivals::new(process, SLOT, interval);
            let (mut one_by_one, mut at_once) = (random(), random());
            let mut periods = [Period::High; 2];
            for first in (0..10_000).step_by(16) {
                let expected: [u64; 16] = std::array::from_fn(|place| {
                    arrivals.draw(first + place as u64, &mut one_by_one, &mut periods[0])
                });
                let mut block = [0; 16];
                arrivals.draw_block(first, &mut at_once, &mut block, &mut periods[1]);
                assert_eq!(periods[0], periods[1]);
                assert_eq!(block, expected);
            }
            assert_eq!(one_by_one, at_once);
        }
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
            .filter(|_| {
                arrivals.first(arrivals.draw(0, &mut random, &mut Period::High)) == Picoseconds(0)
            })
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
        let on_off = Process::OnOff { on: SLOT * 2, off: SLOT * 2 };
        let markov = Process::MarkovModulated { high: SLOT * 2, low: SLOT * 2, ratio: 2.0 };
        for process in [Process::Bernoulli, Process::Periodic { in_step: false }, on_off, markov] {
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

    /// Arrivals of on and off periods of so many slots in the mean, with a message in one of
    /// `inverse` slots.
    fn on_off_of(on: u64, off: u64, inverse: u64) -> Arrivals {
        let interval = Interval::new(u128::from(SLOT * inverse), 1).unwrap();
        Arrivals::new(Process::OnOff { on: SLOT * on, off: SLOT * off }, SLOT, interval)
    }

    /// The slots from the message before to each but the first.
    fn gaps(arrivals: &Arrivals, count: u64) -> Vec<u64> {
        times(arrivals, count + 1).windows(2).map(|two| (two[1] - two[0]) / SLOT).collect()
    }

    #[test]
    fn gaps_of_on_and_off_periods_are_those_of_the_chain_of_two_states() {
        for (on, off, inverse) in [(2, 2, 3), (10, 30, 5), (500, 20_000, 41), (40, 3, 400)] {
            let arrivals = on_off_of(on, off, inverse);
            let (alpha, beta) = (1.0 / off as f64, 1.0 / on as f64);
            let peak = (alpha + beta) / alpha / inverse as f64;
            // The probabilities that the source is on, or off, and had no message yet: behind a
            // message, and at a random time.
            let behind = (1.0, 0.0);
            let random = (alpha / (alpha + beta), beta / (alpha + beta));
            let LongGaps { share, share_of_first, slots_a_miss } = arrivals.long;
            let (long, short) = ((1.0 / slots_a_miss).exp(), (1.0 / arrivals.slots_a_miss).exp());
            for (mut state, share) in [(behind, share), (random, share_of_first)] {
                let share = share as f64 / (1_u64 << BITS) as f64;
                for slots in 1..2_000 {
                    let (was_on, was_off) = state;
                    let is_on = was_on * (1.0 - beta) + was_off * alpha;
                    state = (is_on * (1.0 - peak), was_on * beta + was_off * (1.0 - alpha));
                    let told = share * long.powi(slots) + (1.0 - share) * short.powi(slots);
                    let chain = state.0 + state.1;
                    assert!((told - chain).abs() < 1e-9, "{on} {off} {slots}: {told} {chain}");
                }
            }
        }
    }

    #[test]
    fn at_its_peak_a_source_shows_the_lengths_of_its_periods() {
        // It is on for 12 of 48 slots, and has a message in one of four: in each in which it is on.
        let (on, off) = (12, 36);
        let gaps = gaps(&on_off_of(on, off, 4), 200_000);
        let ends: Vec<u64> = gaps.iter().copied().filter(|&gap| gap > 1).collect();
        let periods = ends.len() as f64;
        let mean_on = gaps.len() as f64 / periods;
        let mean_off = ends.iter().map(|gap| (gap - 1) as f64).sum::<f64>() / periods;
        // The deviation of a geometric length is less than its mean.
        for (found, mean) in [(mean_on, on as f64), (mean_off, off as f64)] {
            assert!((found - mean).abs() < 4.0 * mean / periods.sqrt(), "{found} {mean}");
        }
        let one = ends.iter().filter(|&&gap| gap == 2).count() as f64;
        let expected = periods / off as f64;
        assert!((one - expected).abs() < 4.0 * expected.sqrt(), "{one} {expected}");
    }

    #[test]
    fn messages_of_on_and_off_periods_come_at_the_mean_rate_and_in_bursts() {
        let (on, off, inverse) = (40_u64, 160_u64, 20_u64);
        let (rate, peak) = (1.0 / inverse as f64, 0.25);
        let messages = 400_000;
        let times = times(&on_off_of(on, off, inverse), messages);
        let windows = times[times.len() - 1].0 / SLOT.0 / 4_000;
        let mut counts = vec![0.0; windows as usize];
        for time in times {
            if let Some(count) = counts.get_mut((time.0 / SLOT.0 / 4_000) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>()
            / windows as f64;
        // The covariance of slots k apart is p^2 on off / (on + off)^2 r^k, r = 1 - alpha - beta.
        let rates = 1.0 / on as f64 + 1.0 / off as f64;
        let is_off = off as f64 / (on + off) as f64;
        let dispersion = 1.0 - rate + 2.0 * peak * is_off * (1.0 - rates) / rates;
        assert!(dispersion > 10.0, "{dispersion}");
        let expected = 4_000.0 * rate;
        let error = (dispersion * expected / windows as f64).sqrt();
        assert!((mean - expected).abs() < 4.0 * error, "{mean} {expected}");
        // The ends of a window take away some of it: cycles are 200 slots long.
        assert!(
            (variance / mean / dispersion - 1.0).abs() < 0.06,
            "{variance} {mean} {dispersion}"
        );
    }

    #[test]
    fn the_first_message_of_an_on_off_source_is_as_likely_in_slot_0_as_in_any_other() {
        let arrivals = on_off_of(5, 45, 20);
        let mut random = random();
        let draws =
            (0..20_000).map(|_| arrivals.first(arrivals.draw(0, &mut random, &mut Period::High)));
        let zero = draws.filter(|&first| first == Picoseconds(0)).count();
        assert!(zero.abs_diff(1_000) < 4 * 31, "{zero}");
    }

    #[test]
    fn the_same_stream_gives_the_same_on_off_times_on_every_machine() {
        let slots: Vec<u64> =
            times(&on_off_of(8, 24, 8), 12).iter().map(|&time| time / SLOT).collect();
        assert_eq!(slots, [47, 48, 50, 55, 56, 82, 84, 85, 89, 91, 92, 161]);
    }

    /// Arrivals of high and low periods of so many slots in the mean.
    fn markov_of(high: u64, low: u64, ratio: f64, inverse: u64) -> Arrivals {
        let interval = Interval::new(u128::from(SLOT * inverse), 1).unwrap();
        let process = Process::MarkovModulated { high: SLOT * high, low: SLOT * low, ratio };
        Arrivals::new(process, SLOT, interval)
    }

    const MARKOV: [(u64, u64, f64, u64); 5] = [
        (2, 2, 2.0, 3),
        (10, 30, 4.0, 5),
        (500, 20_000, 30.0, 41),
        (40, 3, 9.0, 400),
        (12, 36, 1e6, 4),
    ];

    #[test]
    fn gaps_of_high_and_low_periods_are_those_of_the_chain_of_two_states() {
        for (high, low, ratio, inverse) in MARKOV {
            let chain = *markov_of(high, low, ratio, inverse).chain.unwrap();
            let (alpha, beta) = (1.0 / low as f64, 1.0 / high as f64);
            let [p, q] = chain.messages;
            // The mean rate is the one that was asked for.
            let mean = (p * alpha + q * beta) / (alpha + beta);
            assert!((mean * inverse as f64 - 1.0).abs() < 1e-12, "{mean}");
            for from in [0, 1] {
                let mut state = [1.0 - from as f64, from as f64];
                for slots in 1..3_000 {
                    let now = [
                        state[0] * (1.0 - beta) + state[1] * alpha,
                        state[0] * beta + state[1] * (1.0 - alpha),
                    ];
                    state = [now[0] * (1.0 - p), now[1] * (1.0 - q)];
                    let (told, sum) = (chain.none_in(from, slots), state[0] + state[1]);
                    assert!((told - sum).abs() < 1e-9, "{high} {low} {slots}: {told} {sum}");
                }
            }
        }
    }

    /// Draws the same chain slot by slot, and compares the gaps and the periods of messages.
    #[test]
    fn gaps_of_high_and_low_periods_come_as_if_drawn_slot_by_slot() {
        for (high, low, ratio, inverse) in MARKOV {
            let chain = *markov_of(high, low, ratio, inverse).chain.unwrap();
            let (mut random, mut period) = (random(), Period::High);
            let messages = 40_000;
            let mut counts = [[0.0; 4]; 2];
            for _ in 0..messages {
                let gap = chain.draw(&mut random, &mut period);
                let place = usize::from(gap > 1) + usize::from(gap > inverse);
                counts[0][place] += 1.0;
                counts[0][3] += f64::from(u8::from(period == Period::High));
            }
            let mut state = 0;
            for _ in 0..messages {
                let mut gap = 0;
                loop {
                    gap += 1;
                    if uniform(&mut random) <= chain.switches[state] {
                        state = 1 - state;
                    }
                    if uniform(&mut random) <= chain.messages[state] {
                        break;
                    }
                }
                let place = usize::from(gap > 1) + usize::from(gap > inverse);
                counts[1][place] += 1.0;
                counts[1][3] += f64::from(u8::from(state == 0));
            }
            for place in 0..4 {
                let [one, other] = counts.map(|of| of[place]);
                // Messages of a period resemble each other.
                let together = 1.0 + high.max(low) as f64 / inverse as f64;
                let deviation = ((one + other) * together).sqrt();
                assert!((one - other).abs() <= 4.0 * deviation + 4.0, "{high} {low}: {counts:?}");
            }
        }
    }

    /// With next to no messages in low periods, each period of the high rate is a burst.
    #[test]
    fn bursts_of_a_markov_modulated_source_have_the_mean_length_that_was_asked_for() {
        let (high, low) = (50, 5_000);
        // One message in each slot of a high period, and none in a hundred low ones.
        let inverse = 101;
        let gaps = gaps(&markov_of(high, low, 1e9, inverse), 200_000);
        let ends = gaps.iter().filter(|&&gap| gap > 1).count() as f64;
        let mean = gaps.len() as f64 / ends;
        assert!((mean - high as f64).abs() < 4.0 * high as f64 / ends.sqrt(), "{mean}");
        let all: u64 = gaps.iter().sum();
        let rate = gaps.len() as f64 / all as f64;
        // A burst has 50 messages, of a deviation of 50, and so have the gaps between bursts.
        assert!((rate * inverse as f64 - 1.0).abs() < 4.0 * (2.0 / ends).sqrt(), "{rate}");
    }

    #[test]
    fn the_same_stream_gives_the_same_markov_modulated_times_on_every_machine() {
        let slots: Vec<u64> =
            times(&markov_of(8, 24, 5.0, 8), 12).iter().map(|&time| time / SLOT).collect();
        assert_eq!(slots, [9, 13, 25, 26, 27, 31, 37, 40, 58, 66, 67, 85]);
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
        (0..4_000).for_each(|_| {
            seen[narrow::<usize>(arrivals.draw(0, &mut random, &mut Period::High))] += 1;
        });
        assert!(seen.iter().all(|count| (880..1_120).contains(count)), "{seen:?}");
    }
}
