//! The order in which an output serves requests: cyclic spans over sets of bits, for round-robin
//! arbitration of routers of any degree, and random ranks.

use flitlab_base::mix::mixed;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

/// A span of the cyclic order over a set of bits: the bits of word `word` in `mask`, cyclic from
/// bit `turn` on.
pub(super) struct BitSpan {
    pub word: usize,
    pub mask: u64,
    pub turn: u32,
}

/// The number of spans of a cyclic order over `words` words.
#[inline]
pub(super) fn span_count(words: usize) -> usize {
    if words == 1 { 1 } else { words + 1 }
}

/// Span `step` of the cyclic order over `words` words from bit `start` on. A single word is
/// rotated. Of several words, the first one is visited twice: first from `start` on, at last up to
/// `start`.
#[inline]
pub(super) fn cyclic_span(start: u32, step: usize, words: usize) -> BitSpan {
    if words == 1 {
        return BitSpan { word: 0, mask: u64::MAX, turn: start % 64 };
    }
    // A start behind the last word is a start at the first bit.
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

/// The bits of the word that begins at bit `base` that lie in `low..high`.
#[inline]
pub(super) fn bits_between(low: u32, high: u32, base: u32) -> u64 {
    let below = |bound: u32| match bound.saturating_sub(base) {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    };
    below(high) & !below(low)
}

/// The random rank of a request for a router's output at a time, from a port and a virtual channel:
/// the lowest rank is served first (docs/model.md, "Router").
#[inline]
pub(super) fn random_rank(
    time: Picoseconds,
    (router, output): (u32, usize),
    (port, virtual_channel): (usize, u8),
) -> u64 {
    let output = u64::from(router) << 16 | fitted!(output, u64);
    let requester = fitted!(port, u64) << 8 | u64::from(virtual_channel);
    mixed(mixed(mixed(time.0) ^ output) ^ requester)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The members of a set in cyclic order.
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
