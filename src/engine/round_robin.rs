//! In which order those are served who ask for an output: cyclic walks over sets of bits, for round-robin arbitration of
//! routers of any degree, and draws.

use crate::mix::mixed;
use crate::narrow::fitted;
use crate::units::Picoseconds;

/// A part of a cyclic walk over a set of bits: those of `word` in `mask`, from bit `turn` on, cyclic.
pub(super) struct BitSpan {
    pub word: usize,
    pub mask: u64,
    pub turn: u32,
}

/// How many parts a walk over `words` words has.
#[inline]
pub(super) fn span_count(words: usize) -> usize {
    if words == 1 { 1 } else { words + 1 }
}

/// Stretch `step` of a cyclic walk over `words` words from bit `start`. A single word is turned. Of
/// several, the first is visited twice, first from `start`, at last up to it.
#[inline]
pub(super) fn cyclic_span(start: u32, step: usize, words: usize) -> BitSpan {
    if words == 1 {
        return BitSpan { word: 0, mask: u64::MAX, turn: start % 64 };
    }
    // A start behind the last word is one at the first bit.
    let start = if start as usize >= words * 64 { 0 } else { start };
    let first = start as usize / 64;
    let word = if first + step < words { first + step } else { first + step - words };
    let upper = u64::MAX << (start % 64);
    let mask = match step {
        0 => upper,
        _ if step == words => !upper,
        _ => u64::MAX,
    };
    BitSpan { word, mask, turn: 0 }
}

/// The bits of the word that starts at bit `base` that lie in `low..high`.
#[inline]
pub(super) fn bits_between(low: u32, high: u32, base: u32) -> u64 {
    let below = |bound: u32| match bound.saturating_sub(base) {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    below(high) & !below(low)
}

/// What is drawn at a time for who comes from, or goes onto, a port and a virtual channel, and asks for a router's output:
/// the least is served first (docs/model.md, "Router").
#[inline]
pub(super) fn random_rank(
    time: Picoseconds,
    (router, output): (u32, usize),
    (port, virtual_channel): (usize, u8),
) -> u64 {
    let output = u64::from(router) << 16 | fitted!(output, u64);
    let asker = fitted!(port, u64) << 8 | u64::from(virtual_channel);
    mixed(mixed(mixed(time.0) ^ output) ^ asker)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bits of a walk, in order.
    fn visited(start: u32, words: usize, set: &[u64]) -> Vec<u32> {
        let mut found = Vec::new();
        for step in 0..span_count(words) {
            let BitSpan { word, mask, turn } = cyclic_span(start, step, words);
            let mut bits = (set[word] & mask).rotate_right(turn);
            while bits != 0 {
                found.push(word as u32 * 64 + (bits.trailing_zeros() + turn) % 64);
                bits &= bits - 1;
            }
        }
        found
    }

    #[test]
    fn the_spans_visit_each_bit_once_from_the_start_on() {
        let sets = [vec![0b1011_0001], vec![u64::MAX], vec![1 << 63 | 5, 1, 1 << 40 | 3]];
        for set in &sets {
            let bits = set.len() as u32 * 64;
            let members = |bit: &u32| set[*bit as usize / 64] >> (bit % 64) & 1 == 1;
            for start in 0..=bits {
                let expected: Vec<u32> =
                    (start..bits).chain(0..start.min(bits)).filter(members).collect();
                assert_eq!(visited(start, set.len(), set), expected, "from {start}");
            }
        }
    }
}
