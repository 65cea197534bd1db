//! The paths among which a selection chooses, without listing each choice of virtual channels.
//!
//! Paths that take the same channels are a *bundle*: a physical route of some pair, and at each of
//! its hops the virtual channels that are still open there. Which virtual channel may follow which
//! is known for each two hops, so the number of paths of a bundle, and how many of them take a
//! certain virtual channel at a certain hop, follow from the layers of a small graph: paths up to a
//! hop and virtual channel times paths from it on. That takes hops times virtual channels squared
//! steps for a bundle, where a list would have up to virtual channels to the power of hops entries
//! (5^7 = 78,125 for a route of Table 3). A test compares all of it with such lists.

use super::listing::Listing;
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::relation::{Hop, Relation};

/// The counting of paths that differ in their virtual channels only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VcChoices {
    /// Each one is a path of its own.
    #[default]
    Distinct,
    /// All of them together are one path, divided evenly among its virtual channels.
    Shared,
}

/// The count of one path, which can be divided evenly: a multiple of most small numbers.
const SHARED: u128 = 720_720 << 24;

/// A pair of routers and its bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub source: u32,
    pub destination: u32,
    /// `bundles[first..last]` are its own.
    pub first: u32,
    pub last: u32,
}

/// A physical route of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub pair: u32,
    /// `hops[start..start + length]` are its own.
    pub start: u32,
    pub length: u16,
}

/// One hop of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BundleHop {
    pub channel: Channel,
    /// The virtual channels that are open, a bit each.
    pub vcs: u16,
    /// Which virtual channels may follow those of the hop before: a place in `follows`.
    pub follows: u32,
}

/// Of each virtual channel the virtual channels that may follow it, a bit each.
pub(super) type Follows = [u16; 16];

/// All candidate paths of a relation between routers with terminals.
#[derive(Clone, Debug)]
pub struct Candidates {
    vcs: u8,
    slots: u32,
    pub(super) pairs: Vec<Pair>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) hops: Vec<BundleHop>,
    pub(super) follows: Vec<Follows>,
}

/// Why a relation has no candidates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCandidates {
    /// The list of physical routes needs more memory than is free.
    #[error(transparent)]
    Memory(#[from] Shortage),
    /// A pair has no path or one without an end; the names of its routers.
    #[error("the relation leads no packet from {0} to {1}")]
    NoPath(String, String),
    /// The paths through a channel are too many to count.
    #[error(
        "there are more than 2^127 ways to choose virtual channels along the paths through one \
         channel"
    )]
    TooMany,
}

impl Candidates {
    /// The candidates of a relation: physical routes pair by pair, in ascending order of source,
    /// then destination, then ports.
    ///
    /// # Errors
    /// If a pair has no path or there are too many routes.
    pub fn new(fabric: &Fabric, relation: &Relation) -> Result<Self, NoCandidates> {
        let ends = fabric.ends();
        let mut listing = Listing {
            fabric,
            relation,
            destination: NONE,
            found: Self {
                vcs: relation.vcs(),
                slots: fabric.channel_slots(),
                pairs: Vec::new(),
                bundles: Vec::new(),
                hops: Vec::new(),
                follows: Vec::new(),
            },
            way: Vec::new(),
            claimed: 0,
        };
        if relation.longest() == u32::MAX {
            let name = |at: usize| fabric.router_name(ends[at % ends.len()]);
            return Err(NoCandidates::NoPath(name(0), name(1)));
        }
        for &source in &ends {
            for &destination in ends.iter().filter(|&&destination| destination != source) {
                let first = narrow(listing.found.bundles.len());
                listing.destination = destination;
                listing.list(source, relation.injected(source))?;
                let last = narrow(listing.found.bundles.len());
                if first == last {
                    let names = (fabric.router_name(source), fabric.router_name(destination));
                    return Err(NoCandidates::NoPath(names.0, names.1));
                }
                listing.found.pairs.push(Pair { source, destination, first, last });
            }
        }
        Ok(listing.found)
    }

    /// The routes of pairs that are listed already, in one virtual channel: the channels of each of
    /// a pair's routes.
    pub(super) fn of_lists(
        slots: u32,
        lists: impl Iterator<Item = (u32, u32, Vec<Vec<Channel>>)>,
    ) -> Self {
        let follows = vec![std::array::from_fn(|vc| u16::from(vc == 0))];
        let (pairs, bundles, hops) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { vcs: 1, slots, pairs, bundles, hops, follows };
        for (source, destination, routes) in lists {
            let (pair, first) = (narrow(all.pairs.len()), narrow(all.bundles.len()));
            for route in routes {
                let start = narrow(all.hops.len());
                all.bundles.push(Bundle { pair, start, length: narrow(route.len()) });
                let hop = |&channel: &Channel| BundleHop { channel, vcs: 1, follows: 0 };
                all.hops.extend(route.iter().map(hop));
            }
            all.pairs.push(Pair { source, destination, first, last: narrow(all.bundles.len()) });
        }
        all
    }

    /// Lists every choice of virtual channels in a bundle of its own. The counts stay the same, and
    /// paths can be removed one by one.
    ///
    /// # Errors
    /// If the list would need more memory than is free.
    pub fn listed(&self) -> Result<Self, NoCandidates> {
        let mut hops: u128 = 0;
        for bundle in 0..narrow(self.bundles.len()) {
            let length = self.hops_of(bundle).len() as u128;
            hops = hops.saturating_add(self.count(bundle)?.saturating_mul(length + 1));
        }
        claim("the list of all paths", u64::try_from(hops.saturating_mul(64)).unwrap_or(u64::MAX))?;
        let mut list =
            Self { pairs: Vec::new(), bundles: Vec::new(), hops: Vec::new(), ..self.clone() };
        let mut way = Vec::new();
        for (number, pair) in (0..).zip(&self.pairs) {
            let first = narrow(list.bundles.len());
            for bundle in pair.first..pair.last {
                self.list_vcs(bundle, number, &mut way, &mut list);
            }
            list.pairs.push(Pair { first, last: narrow(list.bundles.len()), ..*pair });
        }
        Ok(list)
    }

    /// Adds every choice of virtual channels that begins like `way`.
    fn list_vcs(&self, bundle: u32, pair: u32, way: &mut Vec<u8>, list: &mut Self) {
        let hops = self.hops_of(bundle);
        if way.len() == hops.len() {
            let start = narrow(list.hops.len());
            list.bundles.push(Bundle { pair, start, length: narrow(hops.len()) });
            let chosen = hops.iter().zip(way.iter());
            list.hops.extend(chosen.map(|(hop, vc)| BundleHop { vcs: 1 << vc, ..*hop }));
            return;
        }
        let hop = hops[way.len()];
        let open = match way.last() {
            Some(&before) => self.follows[hop.follows as usize][usize::from(before)] & hop.vcs,
            None => hop.vcs,
        };
        for vc in bits(open) {
            way.push(vc);
            self.list_vcs(bundle, pair, way, list);
            way.pop();
        }
    }

    /// Number of virtual channels of each physical channel.
    pub fn vcs(&self) -> u8 {
        self.vcs
    }

    /// Number of (channel, virtual channel).
    pub(super) fn places(&self) -> usize {
        self.slots as usize * usize::from(self.vcs)
    }

    /// Number of a (channel, virtual channel).
    pub(super) fn place(&self, channel: Channel, vc: u8) -> usize {
        channel as usize * usize::from(self.vcs) + usize::from(vc)
    }

    fn hops_of(&self, bundle: u32) -> &[BundleHop] {
        let Bundle { start, length, .. } = self.bundles[bundle as usize];
        &self.hops[start as usize..][..usize::from(length)]
    }

    /// The channels of a bundle.
    pub(super) fn channels(&self, bundle: u32) -> impl ExactSizeIterator<Item = Channel> + '_ {
        self.hops_of(bundle).iter().map(|hop| hop.channel)
    }

    /// The virtual channels that are open at a hop of a bundle, a bit each.
    pub(super) fn open(&self, bundle: u32, hop: usize) -> u16 {
        self.hops_of(bundle)[hop].vcs
    }

    /// Says which virtual channels are open at a hop.
    pub(super) fn set_open(&mut self, bundle: u32, hop: usize, vcs: u16) {
        let start = self.bundles[bundle as usize].start as usize;
        self.hops[start + hop].vcs = vcs;
    }

    /// How many paths a bundle has; `None` if too many to count.
    pub(super) fn count(&self, bundle: u32) -> Result<u128, NoCandidates> {
        let mut paths = [0u128; 16];
        for (place, hop) in self.hops_of(bundle).iter().enumerate() {
            paths = match place {
                0 => ones(hop.vcs),
                _ => self.forth(&paths, hop).ok_or(NoCandidates::TooMany)?,
            };
        }
        sum(&paths).ok_or(NoCandidates::TooMany)
    }

    /// How many paths of a bundle take each virtual channel at each of its hops: `each(hop, vc,
    /// paths)` for those that some take; gives the number of all.
    pub(super) fn for_each_vc(
        &self,
        bundle: u32,
        choices: VcChoices,
        mut each: impl FnMut(usize, u8, u128),
    ) -> Result<u128, NoCandidates> {
        let hops = self.hops_of(bundle);
        // One behind the other: paths to each hop and virtual channel, then from it on.
        let mut to = Vec::with_capacity(hops.len());
        for (place, hop) in hops.iter().enumerate() {
            to.push(match place {
                0 => ones(hop.vcs),
                _ => self.forth(&to[place - 1], hop).ok_or(NoCandidates::TooMany)?,
            });
        }
        let all = to.last().map_or(Some(1), sum).ok_or(NoCandidates::TooMany)?;
        let mut from = ones(u16::MAX);
        for (place, hop) in hops.iter().enumerate().rev() {
            for vc in bits(hop.vcs) {
                let paths = to[place][usize::from(vc)] * from[usize::from(vc)];
                if paths > 0 {
                    each(
                        place,
                        vc,
                        match choices {
                            VcChoices::Distinct => paths,
                            VcChoices::Shared => share(paths, all),
                        },
                    );
                }
            }
            let follows = &self.follows[hop.follows as usize];
            let mut before = [0; 16];
            for (vc, before) in before.iter_mut().enumerate() {
                *before = bits(follows[vc] & hop.vcs).map(|next| from[usize::from(next)]).sum();
            }
            from = before;
        }
        Ok(all)
    }

    /// Paths to each virtual channel of a hop, from those to the virtual channels of the hop
    /// before.
    fn forth(&self, before: &[u128; 16], hop: &BundleHop) -> Option<[u128; 16]> {
        let follows = &self.follows[hop.follows as usize];
        let mut paths = [0u128; 16];
        for (vc, &before) in before.iter().enumerate().filter(|(_, before)| **before > 0) {
            for next in bits(follows[vc] & hop.vcs) {
                let sum = paths[usize::from(next)].checked_add(before)?;
                paths[usize::from(next)] = (sum >> 100 == 0).then_some(sum)?;
            }
        }
        Some(paths)
    }

    /// A path of a bundle, its `number`th by virtual channels in ascending order.
    ///
    /// # Panics
    /// If there are not so many.
    pub(super) fn path(&self, fabric: &Fabric, bundle: u32, mut number: u128) -> Vec<Hop> {
        let hops = self.hops_of(bundle);
        // Paths from each hop and virtual channel on.
        let mut from = vec![[1u128; 16]; hops.len()];
        for place in (1..hops.len()).rev() {
            let hop = hops[place];
            for vc in 0..16 {
                let next = bits(self.follows[hop.follows as usize][vc] & hop.vcs);
                from[place - 1][vc] = next.map(|next| from[place][usize::from(next)]).sum();
            }
        }
        let mut path = Vec::with_capacity(hops.len());
        let mut before: Option<u8> = None;
        for (hop, from) in hops.iter().zip(&from) {
            let open = before.map_or(hop.vcs, |vc| {
                self.follows[hop.follows as usize][usize::from(vc)] & hop.vcs
            });
            let vc = bits(open).find(|&vc| {
                let paths = from[usize::from(vc)];
                let here = number < paths;
                if !here {
                    number -= paths;
                }
                here
            });
            let vc = vc.expect("there are so many paths");
            let first = fabric.outputs(fabric.source(hop.channel)).start;
            path.push(Hop::new(narrow(hop.channel - first), vc));
            before = Some(vc);
        }
        path
    }
}

/// One for each virtual channel whose bit is set.
fn ones(vcs: u16) -> [u128; 16] {
    std::array::from_fn(|vc| u128::from(vcs >> vc & 1))
}

fn sum(paths: &[u128; 16]) -> Option<u128> {
    let sum: u128 = paths.iter().sum();
    (sum >> 100 == 0).then_some(sum)
}

/// `SHARED` times paths by all, without an overflow.
fn share(paths: u128, all: u128) -> u128 {
    let shift = (128 - all.leading_zeros()).saturating_sub(80);
    SHARED * (paths >> shift) / (all >> shift)
}

/// The bits that are set, in ascending order.
pub(super) fn bits(set: u16) -> impl Iterator<Item = u8> {
    (0..16u8).filter(move |bit| set >> bit & 1 == 1)
}
