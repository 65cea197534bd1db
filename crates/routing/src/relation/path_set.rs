//! Source routing over one or several paths a pair.

use super::Hop;
use super::relation::distinct_vcs;
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Fabric, NONE};

/// The rule by which a packet takes one of its pair's paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// Each packet draws one at random, all with equal probability.
    #[default]
    Random,
    /// The packets of a pair take the paths in turn, from the first.
    RoundRobin,
    /// All packets from one terminal to another take the same one, which a hash of the two gives:
    /// equal-cost multipath.
    Hash,
}

/// For each ordered pair of different routers with live terminals one or more paths, complete at
/// the source: each a sequence of hops (port, virtual channel) from the source's router to the
/// destination's. With one path a pair it is deterministic source routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSet {
    vcs: u8,
    choice: PathChoice,
    /// By router: its place among those with terminals, or [`NONE`].
    row: Vec<u32>,
    ends: u32,
    /// The paths of a pair are those from `pairs[source * ends + destination]` to the next; by
    /// places.
    pairs: Vec<u32>,
    /// Path `n` is `hops[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    hops: Vec<Hop>,
}

impl PathSet {
    /// Puts the paths together: `paths(source_router, destination_router)` gives those of each
    /// pair, pair by pair in ascending order of source, then destination.
    ///
    /// # Errors
    /// If they would take more memory than there is.
    ///
    /// # Panics
    /// If there are no virtual channels or more than 16.
    pub fn new(
        fabric: &Fabric,
        vcs: u8,
        choice: PathChoice,
        mut paths: impl FnMut(u32, u32) -> Vec<Vec<Hop>>,
    ) -> Result<Self, Shortage> {
        assert!((1..=crate::MAX_VCS).contains(&vcs), "1 to 16 virtual channels");
        let mut row = vec![NONE; fabric.routers() as usize];
        let routers = fabric.ends();
        for (place, &router) in (0..).zip(&routers) {
            row[router as usize] = place;
        }
        let ends = routers.len() as u64;
        // The number of a pair, and a path of some ten hops.
        claim("the paths of all pairs", ends.saturating_mul(ends).saturating_mul(4 + 4 + 40))?;
        let mut set = Self {
            vcs,
            choice,
            row,
            ends: narrow(ends),
            pairs: vec![0],
            starts: vec![0],
            hops: Vec::new(),
        };
        for &source in &routers {
            for &destination in &routers {
                if source != destination {
                    for path in paths(source, destination) {
                        set.hops.extend(path);
                        set.starts.push(narrow(set.hops.len()));
                    }
                }
                set.pairs.push(narrow(set.starts.len() - 1));
            }
        }
        Ok(set)
    }

    /// Number of virtual channels of each physical channel.
    pub fn vcs(&self) -> u8 {
        self.vcs
    }

    /// Number of virtual channels that paths take.
    pub fn vcs_used(&self) -> u8 {
        distinct_vcs(&self.hops)
    }

    /// The rule by which one of several paths is chosen.
    pub fn choice(&self) -> PathChoice {
        self.choice
    }

    /// Sets the rule by which one of several paths is chosen.
    #[must_use]
    pub fn chosen(self, choice: PathChoice) -> Self {
        Self { choice, ..self }
    }

    /// The paths from one router to another; none if they are the same, or one has no live
    /// terminals.
    pub fn paths(
        &self,
        source_router: u32,
        destination_router: u32,
    ) -> impl ExactSizeIterator<Item = &[Hop]> + '_ {
        let numbers = self.numbers(source_router, destination_router);
        numbers.map(|number| self.path(number))
    }

    /// The numbers of the paths from one router to another, for [`path`](Self::path); empty if
    /// there are none.
    #[inline]
    pub fn numbers(&self, source_router: u32, destination_router: u32) -> std::ops::Range<usize> {
        let places = [source_router, destination_router].map(|at| self.row[at as usize]);
        if places.contains(&NONE) {
            return 0..0;
        }
        let pair = places[0] as usize * self.ends as usize + places[1] as usize;
        self.pairs[pair] as usize..self.pairs[pair + 1] as usize
    }

    /// A path by its number.
    #[inline]
    pub fn path(&self, number: usize) -> &[Hop] {
        &self.hops[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Whether packets of some pair have several paths.
    pub fn has_choice(&self) -> bool {
        self.pairs.windows(2).any(|ends| ends[1] - ends[0] > 1)
    }
}
