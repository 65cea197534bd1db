//! Counters of the paths across each channel, as long as pairs have several: what traffic balancing
//! (\[traffic-balancing\]) and the three selections of \[path-selection\] have in common.
//!
//! Paths are taken away bundle by bundle ([`Candidates`]): what is closed is a virtual channel at a
//! hop of a bundle, with all its paths that take it there. With one virtual channel, and in a list
//! of all paths, that is exactly one path. Elsewhere it is what taking them away one by one comes
//! to if all of them go before another bundle's do. Where nothing would be left of the pair, the
//! virtual channel is kept, and of the bundle's other choices of virtual channels that with the
//! highest counter is closed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::candidates::{Candidates, NoCandidates, VcChoices, bits};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Channel;

/// The order of equally good channels and candidate paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The lowest number.
    #[default]
    Lowest,
    /// The highest number.
    Highest,
    /// A random order, drawn once from this seed.
    Drawn(u64),
}

impl Ties {
    /// The place of each of so many in the order.
    fn ranks(self, count: usize, stream: u64) -> Vec<u32> {
        let mut ranks: Vec<u32> = (0..narrow(count)).collect();
        match self {
            Self::Lowest => {}
            Self::Highest => ranks.reverse(),
            Self::Drawn(seed) => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(stream);
                ranks.shuffle(&mut random);
            }
        }
        ranks
    }
}

/// Candidates, and how many of them take each channel and virtual channel.
pub(super) struct Counters {
    pub(super) candidates: Candidates,
    choices: VcChoices,
    /// By (channel, virtual channel).
    by_place: Vec<u128>,
    by_channel: Vec<u128>,
    /// By pair: paths that are left.
    left: Vec<u128>,
    /// By bundle.
    of_bundle: Vec<u128>,
    /// The hops across channel `c` are `crossing[first[c]..first[c + 1]]`: bundle and number of the
    /// hop in it.
    crossing: Vec<(u32, u16)>,
    first: Vec<u32>,
    place_rank: Vec<u32>,
    bundle_rank: Vec<u32>,
    /// Places whose counters went down lately.
    lowered: Vec<u32>,
}

impl Counters {
    pub(super) fn new(
        candidates: Candidates,
        choices: VcChoices,
        ties: Ties,
    ) -> Result<Self, NoCandidates> {
        let (places, bundles) = (candidates.places(), candidates.bundles.len());
        let vcs = usize::from(candidates.vcs());
        let channels = places / vcs;
        let mut first = vec![0u32; channels + 1];
        for bundle in 0..narrow(bundles) {
            candidates.channels(bundle).for_each(|channel| first[channel as usize + 1] += 1);
        }
        for channel in 0..channels {
            first[channel + 1] += first[channel];
        }
        let mut fill = first.clone();
        let mut crossing = vec![(0, 0); first[channels] as usize];
        for bundle in 0..narrow(bundles) {
            for (hop, channel) in (0..).zip(candidates.channels(bundle)) {
                crossing[fill[channel as usize] as usize] = (bundle, hop);
                fill[channel as usize] += 1;
            }
        }
        let mut counters = Self {
            choices,
            by_place: vec![0; places],
            by_channel: vec![0; channels],
            left: vec![0; candidates.pairs.len()],
            of_bundle: vec![0; bundles],
            crossing,
            first,
            place_rank: ties.ranks(places, 0),
            bundle_rank: ties.ranks(bundles, 1),
            lowered: Vec::new(),
            candidates,
        };
        for bundle in 0..narrow(bundles) {
            counters.count(bundle, true)?;
        }
        Ok(counters)
    }

    /// Adds what a bundle counts, or takes it away.
    fn count(&mut self, bundle: u32, add: bool) -> Result<(), NoCandidates> {
        let Self { candidates, by_place, by_channel, lowered, .. } = self;
        let channels: Vec<Channel> = candidates.channels(bundle).collect();
        let all = candidates.for_each_vc(bundle, self.choices, |hop, vc, paths| {
            let channel = channels[hop];
            let place = candidates.place(channel, vc);
            for counter in [&mut by_place[place], &mut by_channel[channel as usize]] {
                *counter = if add { *counter + paths } else { *counter - paths };
            }
            if !add {
                lowered.push(narrow(place));
            }
        })?;
        let pair = candidates.bundles[bundle as usize].pair as usize;
        if add {
            self.left[pair] += all;
            self.of_bundle[bundle as usize] = all;
        } else {
            self.left[pair] -= all;
            self.of_bundle[bundle as usize] = 0;
        }
        Ok(())
    }

    /// Pairs that have a choice.
    pub(super) fn open_pairs(&self) -> usize {
        self.left.iter().filter(|&&left| left > 1).count()
    }

    /// Keeps only these virtual channels open at a hop of a bundle.
    fn narrow_to(&mut self, bundle: u32, hop: usize, vcs: u16) {
        const COUNTED: &str = "fewer paths than were counted before";
        self.count(bundle, false).expect(COUNTED);
        self.candidates.set_open(bundle, hop, vcs);
        self.count(bundle, true).expect(COUNTED);
    }

    /// Whether some path of a bundle takes a virtual channel at a hop.
    fn takes(&self, bundle: u32, hop: usize, vc: u8) -> bool {
        self.paths_of(bundle, hop, vc) > 0
    }

    /// How many paths of a bundle take a virtual channel at a hop.
    fn paths_of(&self, bundle: u32, hop: usize, vc: u8) -> u128 {
        if self.of_bundle[bundle as usize] == 0 || self.candidates.open(bundle, hop) >> vc & 1 == 0
        {
            return 0;
        }
        let mut found = 0;
        let take = |at, other, paths| {
            if (at, other) == (hop, vc) {
                found = paths;
            }
        };
        self.candidates.for_each_vc(bundle, VcChoices::Distinct, take).expect("counted before");
        found
    }

    fn pair_of(&self, bundle: u32) -> usize {
        self.candidates.bundles[bundle as usize].pair as usize
    }

    /// The hops across a channel: bundle and number of the hop.
    fn across(&self, channel: Channel) -> &[(u32, u16)] {
        &self.crossing
            [self.first[channel as usize] as usize..self.first[channel as usize + 1] as usize]
    }

    fn vcs(&self) -> u8 {
        self.candidates.vcs()
    }

    /// Takes paths of a bundle away that take a virtual channel at a hop.
    fn remove(&mut self, bundle: u32, hop: usize, vc: u8) {
        if self.paths_of(bundle, hop, vc) < self.left[self.pair_of(bundle)] {
            let vcs = self.candidates.open(bundle, hop) & !(1 << vc);
            return self.narrow_to(bundle, hop, vcs);
        }
        // All paths that are left go through here: another hop's fullest virtual channel is closed.
        let best = self.choices_of(bundle).into_iter().max_by_key(|&(hop, vc)| {
            let place = self.place_of(bundle, hop, vc);
            (self.by_place[place], Reverse(self.place_rank[place]), Reverse(hop))
        });
        let (hop, vc) = best.expect("it has several paths");
        let vcs = self.candidates.open(bundle, hop) & !(1 << vc);
        self.narrow_to(bundle, hop, vcs);
    }

    /// The hops of a bundle at which there is a choice, with their virtual channels.
    fn choices_of(&self, bundle: u32) -> Vec<(usize, u8)> {
        let mut found: Vec<(usize, u8)> = Vec::new();
        let take = |hop, vc, _| found.push((hop, vc));
        self.candidates.for_each_vc(bundle, VcChoices::Distinct, take).expect("counted before");
        let several = |hop: usize| found.iter().filter(|(other, _)| *other == hop).count() > 1;
        found.iter().copied().filter(|&(hop, _)| several(hop)).collect()
    }

    fn place_of(&self, bundle: u32, hop: usize, vc: u8) -> usize {
        let channel = self.candidates.channels(bundle).nth(hop).expect("a hop of it");
        self.candidates.place(channel, vc)
    }

    /// Takes paths away from the fullest place that has any to give, until every pair has one: of
    /// the channel with the highest sum if `physical`, else of all.
    pub(super) fn thin(&mut self, physical: bool) {
        let groups = if physical { self.by_channel.len() } else { self.by_place.len() };
        let vcs = self.vcs();
        let mut givers: Vec<Option<Givers>> = (0..self.by_place.len()).map(|_| None).collect();
        let mut heap: BinaryHeap<(u128, Reverse<u32>, u32)> = (0..narrow(groups))
            .map(|group: u32| (u128::MAX, Reverse(self.group_rank(group, physical)), group))
            .collect();
        while let Some((count, rank, group)) = heap.pop() {
            let now = if physical {
                self.by_channel[group as usize]
            } else {
                self.by_place[group as usize]
            };
            if now != count {
                // It went down since.
                heap.push((now, rank, group));
                continue;
            }
            let mut places: Vec<usize> = if physical {
                (0..vcs).map(|vc| self.candidates.place(group, vc)).collect()
            } else {
                vec![group as usize]
            };
            places.sort_by_key(|&at| (Reverse(self.by_place[at]), self.place_rank[at]));
            let found = places.into_iter().find_map(|place| {
                let own = givers[place].get_or_insert_with(|| Givers::new(self, place));
                own.take(self, place)
            });
            let Some((bundle, hop, vc)) = found else { continue };
            self.remove(bundle, hop, vc);
            self.lowered.clear();
            heap.push((count, rank, group));
        }
    }

    fn group_rank(&self, group: u32, physical: bool) -> u32 {
        let vcs = usize::from(self.vcs());
        self.place_rank[if physical { group as usize * vcs } else { group as usize }]
    }

    /// Fixes paths across the emptiest place that has any to choose from, until every pair has one:
    /// of the channel with the lowest sum if `physical`, else of all.
    pub(super) fn fix(&mut self, physical: bool) {
        let groups = if physical { self.by_channel.len() } else { self.by_place.len() };
        let mut heap: BinaryHeap<Reverse<(u128, u32, u32)>> = BinaryHeap::new();
        let count = |counters: &Self, group: u32| {
            if physical {
                counters.by_channel[group as usize]
            } else {
                counters.by_place[group as usize]
            }
        };
        for group in 0..narrow(groups) {
            heap.push(Reverse((count(self, group), self.group_rank(group, physical), group)));
        }
        let vcs = u32::from(self.vcs());
        while let Some(Reverse((was, rank, group))) = heap.pop() {
            if count(self, group) != was {
                // There is an entry for what it is now.
                continue;
            }
            let mut places: Vec<usize> = if physical {
                (0..self.vcs()).map(|vc| self.candidates.place(group, vc)).collect()
            } else {
                vec![group as usize]
            };
            places.sort_by_key(|&at| (self.by_place[at], self.place_rank[at]));
            let Some((bundle, hop, vc)) = places.into_iter().find_map(|at| self.emptiest(at))
            else {
                continue;
            };
            self.lowered.clear();
            self.settle(bundle, hop, vc);
            let mut changed: Vec<u32> = std::mem::take(&mut self.lowered);
            if physical {
                changed.iter_mut().for_each(|place| *place /= vcs);
            }
            changed.push(group);
            changed.sort_unstable();
            changed.dedup();
            for other in changed {
                let rank = if other == group { rank } else { self.group_rank(other, physical) };
                heap.push(Reverse((count(self, other), rank, other)));
            }
        }
    }

    /// Of the paths across a place whose pairs have a choice, that which crosses the emptiest other
    /// place.
    fn emptiest(&self, place: usize) -> Option<(u32, usize, u8)> {
        let vc: u8 = narrow(place % usize::from(self.vcs()));
        let channel = narrow(place / usize::from(self.vcs()));
        let own = self.across(channel).iter().filter(|&&(bundle, hop)| {
            self.left[self.pair_of(bundle)] > 1 && self.takes(bundle, usize::from(hop), vc)
        });
        let best = own.min_by_key(|&&(bundle, own)| {
            let mut least = u128::MAX;
            for (hop, channel) in self.candidates.channels(bundle).enumerate() {
                for vc in bits(self.candidates.open(bundle, hop)) {
                    if hop != usize::from(own) {
                        least = least.min(self.by_place[self.candidates.place(channel, vc)]);
                    }
                }
            }
            (least, self.bundle_rank[bundle as usize])
        });
        best.map(|&(bundle, hop)| (bundle, usize::from(hop), vc))
    }

    /// Leaves a pair one path: one of this bundle that takes this virtual channel at this hop,
    /// elsewhere the emptiest ones first.
    fn settle(&mut self, bundle: u32, hop: usize, vc: u8) {
        let pair = self.candidates.bundles[bundle as usize].pair as usize;
        let own = self.candidates.pairs[pair];
        for other in (own.first..own.last).filter(|&other| other != bundle) {
            if self.of_bundle[other as usize] > 0 {
                self.narrow_to(other, 0, 0);
            }
        }
        self.narrow_to(bundle, hop, 1 << vc);
        while self.left[pair] > 1 {
            let best = self.choices_of(bundle).into_iter().min_by_key(|&(hop, vc)| {
                let place = self.place_of(bundle, hop, vc);
                (self.by_place[place], self.place_rank[place], hop)
            });
            let (hop, vc) = best.expect("it has several paths");
            self.narrow_to(bundle, hop, 1 << vc);
        }
    }

    /// The bundle that each pair has a path of.
    pub(super) fn chosen(&self) -> impl Iterator<Item = u32> + '_ {
        self.candidates.pairs.iter().map(|pair| {
            let left = (pair.first..pair.last).find(|&at| self.of_bundle[at as usize] > 0);
            left.expect("every pair keeps a path")
        })
    }

    /// How many paths cross a channel in a virtual channel.
    #[cfg(test)]
    pub(super) fn value(&self, channel: Channel, vc: u8) -> u128 {
        self.by_place[self.candidates.place(channel, vc)]
    }
}

/// The paths across a place that could be taken away, those of pairs with the most paths first.
struct Givers {
    /// Hops across the place: bundle and number of the hop, of each pair in the order of bundles.
    hops: Vec<(u32, u16)>,
    /// Of each pair its next hop and its end in that list.
    own: Vec<(u32, u32)>,
    /// Paths of a pair when it was entered, the rank of its next bundle, and its place in `own`.
    heap: BinaryHeap<(u128, Reverse<u32>, u32)>,
}

impl Givers {
    fn new(counters: &Counters, place: usize) -> Self {
        let channel = narrow(place / usize::from(counters.vcs()));
        let vc = place % usize::from(counters.vcs());
        let open = counters.across(channel).iter().filter(|&&(bundle, hop)| {
            counters.candidates.open(bundle, usize::from(hop)) >> vc & 1 == 1
        });
        let mut hops: Vec<(u32, u16)> = open.copied().collect();
        let rank = |bundle: u32| counters.bundle_rank[bundle as usize];
        hops.sort_by_key(|&(bundle, hop)| (counters.pair_of(bundle), rank(bundle), hop));
        let mut givers = Self { hops, own: Vec::new(), heap: BinaryHeap::new() };
        let mut start = 0;
        for own in
            givers.hops.chunk_by(|one, other| counters.pair_of(one.0) == counters.pair_of(other.0))
        {
            let left = counters.left[counters.pair_of(own[0].0)];
            givers.heap.push((left, Reverse(rank(own[0].0)), narrow(givers.own.len())));
            givers.own.push((narrow(start), narrow(start + own.len())));
            start += own.len();
        }
        givers
    }

    /// The first, which stays among them as long as it has paths.
    fn take(&mut self, counters: &Counters, place: usize) -> Option<(u32, usize, u8)> {
        let vc = narrow(place % usize::from(counters.vcs()));
        while let Some((left, rank, at)) = self.heap.pop() {
            let (next, end) = &mut self.own[at as usize];
            // A path that does not cross the place any more never will again.
            let gone = |&(bundle, hop): &(u32, u16)| !counters.takes(bundle, usize::from(hop), vc);
            while next < end && gone(&self.hops[*next as usize]) {
                *next += 1;
            }
            if next == end {
                continue;
            }
            let (bundle, hop) = self.hops[*next as usize];
            let now = counters.left[counters.pair_of(bundle)];
            if now < 2 {
                continue;
            }
            let entry = (now, Reverse(counters.bundle_rank[bundle as usize]), at);
            self.heap.push(entry);
            if entry == (left, rank, at) {
                return Some((bundle, usize::from(hop), vc));
            }
        }
        None
    }
}
