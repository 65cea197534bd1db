//! The terminals that take part in a pattern, and their ranks among themselves.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;

/// The live terminals in ascending order, numbered by rank from 0. Those that do not take part count
/// as failed. Takes memory for the failed ones only.
#[derive(Clone, Debug)]
pub struct Live {
    /// Number of terminals, failed ones included.
    pub terminals: u32,
    /// The failed terminals, ascending.
    failed: Vec<u32>,
    /// For each failed terminal, how many live ones have a lower number.
    live_below: Vec<u32>,
}

impl Live {
    /// The live terminals of a fabric; with a list, those in it, which is ascending.
    pub(super) fn new(fabric: &Fabric, nodes: Option<&[u32]>) -> Self {
        let is_out = |terminal: &u32| {
            fabric.terminal_router(*terminal).is_none()
                || nodes.is_some_and(|nodes| nodes.binary_search(terminal).is_err())
        };
        let failed: Vec<u32> = (0..fabric.terminals()).filter(is_out).collect();
        let live_below = failed.iter().zip(0..).map(|(terminal, place)| terminal - place).collect();
        Self { terminals: fabric.terminals(), failed, live_below }
    }

    /// Number of live terminals: at least 2.
    #[inline]
    pub fn count(&self) -> u32 {
        self.terminals - narrow::<u32>(self.failed.len())
    }

    /// True if nothing has failed, so that ranks are terminal numbers.
    #[inline]
    pub(super) fn all(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether this is a terminal that has not failed.
    #[inline]
    pub fn contains(&self, terminal: u32) -> bool {
        terminal < self.terminals && self.failed.binary_search(&terminal).is_err()
    }

    /// How many live terminals have a lower number; a live terminal's rank.
    #[inline]
    pub fn rank(&self, terminal: u32) -> u32 {
        terminal - narrow::<u32>(self.failed.partition_point(|&failed| failed < terminal))
    }

    /// The live terminal of this rank, which must be below [`Self::count`].
    #[inline]
    pub fn at(&self, rank: u32) -> u32 {
        rank + narrow::<u32>(self.live_below.partition_point(|&below| below <= rank))
    }

    /// Their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.count()).map(|rank| self.at(rank))
    }

    /// All but `source`, ascending.
    pub fn others(&self, source: u32) -> impl Iterator<Item = u32> + '_ {
        self.iter().filter(move |&node| node != source)
    }

    /// The share of a source's messages that goes to each other node if they are all alike.
    pub fn share_of_others(&self) -> f64 {
        1.0 / f64::from(self.count() - 1)
    }

    /// Draws one but `source`, all alike.
    #[inline(always)]
    pub fn draw_other(&self, source: u32, random: &mut ChaCha8Rng) -> u32 {
        let drawn = random.random_range(0..self.count() - 1);
        if self.all() {
            return drawn + u32::from(drawn >= source);
        }
        self.at(drawn + u32::from(drawn >= self.rank(source)))
    }

    /// Bytes on the heap.
    pub(super) fn memory(&self) -> usize {
        (self.failed.capacity() + self.live_below.capacity()) * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::{Faults, Torus};

    #[test]
    fn ranks_skip_the_failed() {
        let faults = Faults { nodes: vec![0, 5, 6, 15], ..Faults::default() };
        let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&faults).unwrap();
        let live = Live::new(&fabric, None);
        let expected: Vec<u32> = fabric.live_terminals().collect();
        assert_eq!(live.iter().collect::<Vec<_>>(), expected);
        assert_eq!(live.count(), 12);
        for (rank, &terminal) in (0..).zip(&expected) {
            assert_eq!(live.rank(terminal), rank);
            assert!(live.contains(terminal));
        }
        assert!([0, 5, 6, 15, 16].iter().all(|&terminal| !live.contains(terminal)));
    }
}
