//! Sets of small numbers as bits of words: ports, virtual channels, queues, active virtual
//! channels.

/// The numbers in a set of one word, in ascending order.
#[inline(always)]
pub(super) fn bits(set: impl Into<u64>) -> impl Iterator<Item = usize> {
    let mut left = set.into();
    std::iter::from_fn(move || {
        let first = (left != 0).then(|| left.trailing_zeros() as usize);
        left &= left.wrapping_sub(1);
        first
    })
}

/// The numbers in a set of several words, in ascending order.
pub(super) fn members(words: &[u64]) -> impl Iterator<Item = usize> {
    let of_word = |(number, &word)| bits(word).map(move |bit| number * 64 + bit);
    words.iter().enumerate().flat_map(of_word)
}
