//! By the destination's number: D-mod-K (\[d-mod-k\], equation 1) among the candidates of any
//! relation, without its parallel cables. Nothing is drawn, and all sources follow one rule.
//!
//! Candidates are ordered by their first channel, then by their second, and so on. Let `q` be the
//! destination's place among the routers with terminals. At each router the path takes the
//! `(q mod w)`-th of the `w` channels by which candidates go on there, and `q` becomes
//! `floor(q / w)`. If all candidates have as many channels to go on by, this is the path whose place
//! is `q` modulo the number of paths, with the first channel as the lowest digit.
//!
//! The division keeps choices apart. If every router took `q mod w`, the second choice would follow
//! from the first, and of the `w^2` routers two levels up in a fat tree `w` would be used.
//!
//! Virtual channels are divided among the destinations: of `c` choices of virtual channels along
//! the path, that of place `p` of `n` destinations takes the one of number `floor(p c / n)`.
//!
//! Paths are for routers, so packets to all terminals of a router share one. The forwarding table
//! `d-mod-k` tells terminals apart.

use flitlab_base::registry::Row;

use super::candidates::Candidates;
use super::{Chosen, NoSelection, PathSelection, SelectionTask};

impl PathSelection {
    /// `by-destination`.
    pub const BY_DESTINATION: Row<Self> = Row::new(
        "by-destination",
        "at each router the channel that the destination's number gives (D-mod-K).",
        Self { select: by_destination },
    );
}

fn by_destination(task: &SelectionTask<'_>) -> Result<Chosen, NoSelection> {
    let candidates = Candidates::new(task.fabric, task.relation)?;
    let ends = task.fabric.ends();
    let mut paths = Vec::with_capacity(candidates.pairs.len());
    for pair in &candidates.pairs {
        let bundles: Vec<u32> = (pair.first..pair.last).collect();
        let mut left = &bundles[..];
        let place = ends.partition_point(|&end| end < pair.destination);
        let mut quotient = place;
        let mut hop = 0;
        while left.len() > 1 {
            let channel = |&bundle: &u32| candidates.channels(bundle).nth(hop);
            let branches: Vec<&[u32]> = left.chunk_by(|a, b| channel(a) == channel(b)).collect();
            left = branches[quotient % branches.len()];
            quotient /= branches.len();
            hop += 1;
        }
        // The product of place and count may be too large for a number.
        let (count, place, all) = (candidates.count(left[0])?, place as u128, ends.len() as u128);
        let number = count / all * place + count % all * place / all;
        paths.push(candidates.path(task.fabric, left[0], number));
    }
    Ok(Chosen { paths })
}
