//! Which sizes near the given ones a pattern would accept, for its refusal.

use super::{Nodes, PatternError};
use flitlab_fabric::Torus;
use flitlab_fabric::sizes_text;

impl Nodes<'_> {
    /// The refusal of `lengths`: of `candidates`, those nearest in number of nodes, above and
    /// below; candidates that no torus can have don't count.
    pub(super) fn refuse_sizes(
        &self,
        needs: String,
        has: String,
        lengths: &[u32],
        candidates: Vec<Vec<u32>>,
    ) -> PatternError {
        let has = format!("{} has {has}", sizes_text(lengths));
        let possible = candidates.into_iter().filter(|sizes| Torus::new(sizes, &[]).is_ok());
        let nearest = nearest(lengths, &possible.collect::<Vec<_>>());
        PatternError::Sizes { pattern: self.pattern, needs, has, nearest }
    }

    /// The refusal of the number of nodes; `candidates` gives sizes near others.
    pub(super) fn refuse_count(
        &self,
        needs: &str,
        candidates: fn(&[u32]) -> Vec<Vec<u32>>,
    ) -> PatternError {
        let (needs, count) = (needs.into(), self.count());
        match self.torus() {
            Ok(torus) => {
                let sizes = torus.sizes();
                self.refuse_sizes(needs, count.to_string(), sizes, candidates(sizes))
            }
            Err(_) => {
                let (has, nearest) =
                    (format!("there are {count}"), nearest(&[count], &candidates(&[count])));
                PatternError::Sizes { pattern: self.pattern, needs, has, nearest }
            }
        }
    }
}

/// The least candidate of at least as many nodes, and the greatest of fewer; of equals the one
/// whose sizes change least, then the first.
fn nearest(lengths: &[u32], candidates: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let nodes = |sizes: &[u32]| sizes.iter().map(|&size| u64::from(size)).product::<u64>();
    let change = |sizes: &[u32]| -> u64 {
        let missing = lengths.len().abs_diff(sizes.len()) as u64;
        missing + sizes.iter().zip(lengths).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>()
    };
    let own = nodes(lengths);
    let above = candidates.iter().filter(|sizes| nodes(sizes) >= own);
    let below = candidates.iter().filter(|sizes| nodes(sizes) < own);
    let above = above.min_by_key(|sizes| (nodes(sizes), change(sizes)));
    let below = below.min_by_key(|sizes| (u64::MAX - nodes(sizes), change(sizes)));
    above.into_iter().chain(below).cloned().collect()
}

/// Every choice of one value a place.
fn combinations(choices: impl Iterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    choices.fold(vec![vec![]], |begun: Vec<Vec<u32>>, values| {
        let extend = |start: &Vec<u32>| -> Vec<Vec<u32>> {
            values.iter().map(|&value| [start.as_slice(), &[value]].concat()).collect()
        };
        begun.iter().flat_map(extend).collect()
    })
}

/// Each size rounded to a power of two, up or down.
pub(super) fn powers_of_two(lengths: &[u32]) -> Vec<Vec<u32>> {
    combinations(lengths.iter().map(|&size| vec![1 << size.ilog2(), size.next_power_of_two()]))
}

/// One size changed so that the number of nodes is a square.
pub(super) fn squares(lengths: &[u32]) -> Vec<Vec<u32>> {
    let mut candidates = vec![];
    for (dimension, &size) in lengths.iter().enumerate() {
        let others = lengths.iter().enumerate().filter(|&(other, _)| other != dimension);
        let core = square_free(others.map(|(_, &size)| u64::from(size)).product());
        let root = (u64::from(size) / core).isqrt();
        for factor in [root, root + 1] {
            let mut sizes = lengths.to_vec();
            sizes[dimension] = u32::try_from(core * factor * factor).unwrap_or(u32::MAX);
            candidates.push(sizes);
        }
    }
    candidates
}

/// The least number whose product with `number` is a square.
fn square_free(mut number: u64) -> u64 {
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor * factor) {
            number /= factor * factor;
        }
        factor += 1;
    }
    number
}

/// The second half of the dimensions made as long as the first, or a pair the other way round; an
/// odd number of dimensions loses the last one or gets it twice.
pub(super) fn halves_alike(lengths: &[u32]) -> Vec<Vec<u32>> {
    if !lengths.len().is_multiple_of(2) {
        let (last, fewer) = lengths.split_last().expect("a torus has a dimension");
        let more = [lengths, &[*last]].concat();
        return [halves_alike(fewer), halves_alike(&more)].concat();
    }
    let (first, second) = lengths.split_at(lengths.len() / 2);
    let halves = combinations(first.iter().zip(second).map(|(&one, &other)| vec![one, other]));
    halves.into_iter().map(|half| half.repeat(2)).collect()
}

/// Three dimensions of one of the given sizes.
pub(super) fn cubes(lengths: &[u32]) -> Vec<Vec<u32>> {
    lengths.iter().map(|&size| vec![size; 3]).collect()
}
