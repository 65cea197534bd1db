//! Links that err, as far as they are the same in both models of links: which flits are damaged on a
//! channel, what far ends say, and what is counted.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Bursts, LinkErrors};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What the far end says of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of lower numbers have been accepted.
    AllBefore(u64),
    /// This one has been accepted.
    Accepted(u64),
    /// This one is wanted.
    Wanted(u64),
}

/// What can be told of a link when all is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sendings of packets, bad copies left out, that were damaged.
    pub damaged: u64,
    /// Flits of packets that were sent again.
    pub sent_again: u64,
    /// Acknowledgements that took a flit.
    pub acknowledgements: u64,
    /// Those of them that were damaged.
    pub lost: u64,
    /// Bad copies that came, damaged elsewhere.
    pub bad_copies: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |one, other| Self {
            damaged: one.damaged + other.damaged,
            sent_again: one.sent_again + other.sent_again,
            acknowledgements: one.acknowledgements + other.acknowledgements,
            lost: one.lost + other.lost,
            bad_copies: one.bad_copies + other.bad_copies,
        })
    }
}

/// What damages the flits of a channel.
pub struct Damage {
    bits: Option<Bits>,
    bursts: Option<Beginnings>,
}

/// The damaged bits of a channel.
struct Bits {
    random: ChaCha8Rng,
    rate: f64,
    /// How many bits go through unharmed before the next damaged one.
    sound: u64,
}

/// The bursts of a channel.
struct Beginnings {
    random: ChaCha8Rng,
    bursts: Bursts,
    /// When those that are known begin; the last one is the next to be drawn from.
    drawn: Vec<Picoseconds>,
}

impl Damage {
    pub fn new(errors: &LinkErrors, channel: u32) -> Self {
        let errs = errors.channels.as_ref().is_none_or(|errs| errs[channel as usize]);
        let stream = |number: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(errors.seed);
            random.set_stream(number);
            random
        };
        let (first, second) = (2 * u64::from(channel), 2 * u64::from(channel) + 1);
        let bits = (errs && errors.bit_error_rate > 0.0).then(|| {
            let mut bits = Bits { random: stream(first), rate: errors.bit_error_rate, sound: 0 };
            bits.draw();
            bits
        });
        let bursts = errors.bursts.filter(|_| errs);
        let bursts = bursts.map(|bursts| {
            let mut beginnings =
                Beginnings { random: stream(second), bursts, drawn: vec![Picoseconds::ZERO] };
            beginnings.draw();
            beginnings.drawn.remove(0);
            beginnings
        });
        Self { bits, bursts }
    }

    /// Sends so many bits; whether one of them is damaged.
    pub fn send(&mut self, count: u64) -> bool {
        let Some(bits) = &mut self.bits else { return false };
        let mut damaged = false;
        for _ in 0..count {
            if bits.sound == 0 {
                damaged = true;
                bits.draw();
            } else {
                bits.sound -= 1;
            }
        }
        damaged
    }

    /// Whether there is a burst in this time, its end excluded.
    pub fn has_burst(&mut self, from: Picoseconds, until: Picoseconds) -> bool {
        let Some(beginnings) = &mut self.bursts else { return false };
        while beginnings.drawn.last().is_some_and(|&last| last < until) {
            beginnings.draw();
        }
        let length = beginnings.bursts.length;
        beginnings.drawn.iter().any(|&begin| begin < until && from < begin + length)
    }
}

impl Bits {
    fn draw(&mut self) {
        let u: f64 = self.random.random();
        self.sound = (libm::log1p(-u) / libm::log1p(-self.rate)).floor() as u64;
    }
}

impl Beginnings {
    fn draw(&mut self) {
        let u: f64 = self.random.random();
        let later = Picoseconds((-libm::log1p(-u) * self.bursts.interval.0 as f64).floor() as u64);
        let last = self.drawn.last().expect("there always is one");
        self.drawn.push(*last + later);
    }
}
