//! Lists of what each source has, one after the other.

use std::ops::Range;

/// Where each source's entries begin in a list sorted by source, and where the last one's end.
pub(super) fn bounds(terminals: u32, sources: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut bounds = vec![0; terminals as usize + 1];
    for source in sources {
        bounds[source as usize + 1] += 1;
    }
    for source in 0..terminals as usize {
        bounds[source + 1] += bounds[source];
    }
    bounds
}

/// Where the entries of a source are.
pub(super) fn row(bounds: &[u32], source: u32) -> Range<usize> {
    bounds[source as usize] as usize..bounds[source as usize + 1] as usize
}
