//! Patterns that a table gives: a fixed random permutation, weights, pairs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::PatternError;
use super::live::Live;
use crate::narrow::{narrow, rounded_down};

/// The random stream of the permutation; terminals have the streams of their numbers, below it.
const PERMUTATION_STREAM: u64 = 1 << 32;

/// A permutation of the numbers below `count`, at least 2, without fixed points, each such one equally
/// likely. Fisher and Yates' shuffle, begun anew when it fixes a point (2.7 times in the mean).
pub(super) fn derangement(count: u32, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(PERMUTATION_STREAM);
    let mut images: Vec<u32> = (0..count).collect();
    'shuffle: loop {
        for place in (0..count).rev() {
            let other = random.random_range(0..=place);
            images.swap(place as usize, other as usize);
            if images[place as usize] == place {
                continue 'shuffle;
            }
        }
        return images;
    }
}

/// Where each source's entries begin in a list sorted by source, and where the last one's end.
fn bounds(terminals: u32, sources: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut bounds = vec![0; terminals as usize + 1];
    for source in sources {
        bounds[source as usize + 1] += 1;
    }
    for source in 0..terminals as usize {
        bounds[source + 1] += bounds[source];
    }
    bounds
}

fn row(bounds: &[u32], source: u32) -> std::ops::Range<usize> {
    bounds[source as usize] as usize..bounds[source as usize + 1] as usize
}

fn check_nodes(
    pattern: &'static str,
    terminals: u32,
    mut nodes: impl Iterator<Item = u32>,
) -> Result<(), PatternError> {
    match nodes.find(|&node| node >= terminals) {
        Some(node) => Err(PatternError::UnknownNode { pattern, node, nodes: terminals }),
        None => Ok(()),
    }
}

/// Weights, as integers so that every machine draws alike.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    bounds: Vec<u32>,
    /// Destination, and the sum of the source's weights up to and including this one.
    entries: Vec<(u32, u64)>,
    rates: Vec<f64>,
}

impl Matrix {
    /// Weights of failed nodes are left out.
    pub(super) fn new(entries: &[(u32, u32, f64)], live: &Live) -> Result<Self, PatternError> {
        let terminals = live.terminals();
        check_nodes("matrix", terminals, entries.iter().flat_map(|entry| [entry.0, entry.1]))?;
        for &(source, destination, weight) in entries {
            if !(weight.is_finite() && weight > 0.0) {
                return Err(PatternError::Weight { source, destination, weight });
            }
        }
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|entry| (entry.0, entry.1));
        if let Some(pair) =
            sorted.windows(2).find(|two| (two[0].0, two[0].1) == (two[1].0, two[1].1))
        {
            let (source, destination, _) = pair[0];
            return Err(PatternError::RepeatedPair { source, destination });
        }
        sorted.retain(|entry| live.contains(entry.0) && live.contains(entry.1));
        let greatest =
            sorted.iter().fold(f64::MIN_POSITIVE, |greatest, entry| greatest.max(entry.2));
        let bounds = bounds(terminals, sorted.iter().map(|entry| entry.0));
        let mut rates = vec![0.0; terminals as usize];
        for entry in &mut sorted {
            entry.2 = (entry.2 / greatest).max(f64::MIN_POSITIVE);
            rates[entry.0 as usize] += entry.2;
        }
        let mut sum = (u32::MAX, 0);
        let entries = sorted.iter().map(|&(source, destination, weight)| {
            let before = if sum.0 == source { sum.1 } else { 0 };
            let scaled = weight / rates[source as usize] * (1u64 << 53) as f64;
            sum = (source, before + rounded_down::<u64>(scaled).max(1));
            (destination, sum.1)
        });
        let entries = entries.collect();
        let senders = rates.iter().filter(|&&rate| rate > 0.0).count();
        let mean = rates.iter().sum::<f64>() / senders.max(1) as f64;
        rates.iter_mut().for_each(|rate| *rate /= mean.max(f64::MIN_POSITIVE));
        Ok(Self { bounds, entries, rates })
    }

    fn row(&self, source: u32) -> &[(u32, u64)] {
        &self.entries[row(&self.bounds, source)]
    }

    pub(super) fn rate(&self, source: u32) -> f64 {
        self.rates[source as usize]
    }

    pub(super) fn draw(&self, source: u32, random: &mut ChaCha8Rng) -> Option<u32> {
        let row = self.row(source);
        let drawn = random.random_range(0..row.last()?.1);
        Some(row[row.partition_point(|entry| entry.1 <= drawn)].0)
    }

    pub(super) fn for_each_share(&self, source: u32, mut each: impl FnMut(u32, f64)) {
        let row = self.row(source);
        let Some(&(_, total)) = row.last() else { return };
        let mut before = 0;
        for &(destination, sum) in row {
            each(destination, (sum - before) as f64 / total as f64);
            before = sum;
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.bounds.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<(u32, u64)>()
            + self.rates.capacity() * size_of::<f64>()
    }
}

/// Fixed pairs.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    bounds: Vec<u32>,
    /// Step and partner.
    entries: Vec<(u32, u32)>,
    steps: u32,
}

impl Pairs {
    /// A source's pairs in the order given are its steps. Pairs of a node with itself and with failed
    /// nodes are left out; the others keep their steps.
    pub(super) fn new(pairs: &[(u32, u32)], live: &Live) -> Result<Self, PatternError> {
        check_nodes("pairs", live.terminals(), pairs.iter().flat_map(|pair| [pair.0, pair.1]))?;
        let mut sorted = pairs.to_vec();
        sorted.sort_by_key(|pair| pair.0);
        let mut entries: Vec<(u32, (u32, u32))> = vec![];
        let mut steps = 0;
        for row in sorted.chunk_by(|one, other| one.0 == other.0) {
            steps = steps.max(narrow(row.len()));
            entries.extend((0..).zip(row).map(|(step, pair)| (pair.0, (step, pair.1))));
        }
        entries.retain(|&(source, (_, partner))| {
            source != partner && live.contains(source) && live.contains(partner)
        });
        let bounds = bounds(live.terminals(), entries.iter().map(|entry| entry.0));
        Ok(Self { bounds, entries: entries.into_iter().map(|entry| entry.1).collect(), steps })
    }

    fn row(&self, source: u32) -> &[(u32, u32)] {
        &self.entries[row(&self.bounds, source)]
    }

    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    pub(super) fn sends(&self, source: u32) -> bool {
        !self.row(source).is_empty()
    }

    pub(super) fn partner(&self, source: u32, step: u32) -> Option<u32> {
        let row = self.row(source);
        row.binary_search_by_key(&step, |entry| entry.0).ok().map(|place| row[place].1)
    }

    pub(super) fn destination(&self, source: u32, index: u64) -> Option<u32> {
        let row = self.row(source);
        let place = index.checked_rem(row.len() as u64)?;
        Some(row[narrow::<usize>(place)].1)
    }

    pub(super) fn for_each_share(&self, source: u32, mut each: impl FnMut(u32, f64)) {
        let mut partners: Vec<u32> = self.row(source).iter().map(|entry| entry.1).collect();
        partners.sort_unstable();
        for same in partners.chunk_by(u32::eq) {
            each(same[0], same.len() as f64 / partners.len() as f64);
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.bounds.capacity() * size_of::<u32>()
            + self.entries.capacity() * size_of::<(u32, u32)>()
    }
}
