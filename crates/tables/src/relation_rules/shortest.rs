//! All shortest legal ways: what most rules are, once they have said which turns are legal.

use flitlab_base::memory::Shortage;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Fabric, NONE};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::RelationBuilder as Builder;
use flitlab_routing::relation::{Hop, Relation};

/// The relation of all ways that take legal turns only and as few hops as such ways can. A packet
/// may start in any virtual channel; `legal(before, next)` says whether it may take `next` after
/// `before`, which leads to the router that `next` leaves. Vacant channels and the way back through
/// the same cable are never asked about.
pub(super) fn shortest(
    fabric: &Fabric,
    vcs: u8,
    legal: impl Fn(VirtualChannel, VirtualChannel) -> bool,
) -> Result<Relation, Shortage> {
    Ok(from_everywhere(fabric, vcs, FirstHop::SHORTEST, legal)?.finish())
}

/// By how many hops the way of a packet may be longer than the shortest one because of its first
/// hop.
#[derive(Clone, Copy)]
pub(super) struct FirstHop {
    /// Through hops that are as good as any other.
    pub longer: u32,
    /// Through detours.
    pub detour: u32,
}

impl FirstHop {
    /// It begins a shortest way.
    pub(super) const SHORTEST: Self = Self { longer: 0, detour: 0 };

    /// Whether a hop may begin a way of so many hops, and then as a detour or not; the shortest has
    /// so many.
    pub(super) fn begins(self, hops: u32, least: u32) -> Option<bool> {
        if hops <= least + self.longer {
            Some(false)
        } else {
            (hops <= least + self.detour).then_some(true)
        }
    }
}

/// Makes the relation of [`shortest`], with hops for packets that start at any router or place,
/// even if no packet from a terminal's router would reach it.
pub(super) fn from_everywhere(
    fabric: &Fabric,
    vcs: u8,
    first: FirstHop,
    legal: impl Fn(VirtualChannel, VirtualChannel) -> bool,
) -> Result<Builder<'_>, Shortage> {
    let mut builder = Builder::new(fabric, vcs)?;
    let turns = Turns::new(fabric, vcs, legal);
    let mut hops_left = vec![NONE; turns.places()];
    let mut queue: Vec<u32> = Vec::new();
    let mut list = Vec::new();
    for destination in fabric.ends() {
        hops_left.fill(NONE);
        queue.clear();
        for place in turns.arriving_at(destination) {
            hops_left[place as usize] = 1;
            queue.push(place);
        }
        let mut next = 0;
        while let Some(&place) = queue.get(next) {
            next += 1;
            for &before in turns.before(place) {
                if hops_left[before as usize] == NONE {
                    hops_left[before as usize] = hops_left[place as usize] + 1;
                    queue.push(before);
                }
            }
        }
        // A place counts its own hop: behind it the packet has one hop less.
        for place in 0..narrow(turns.places()) {
            let left = hops_left[place as usize];
            if left == NONE || left == 1 {
                continue;
            }
            list.clear();
            let leading = turns.after(place).iter();
            let leading = leading.filter(|&&after| hops_left[after as usize] == left - 1);
            list.extend(leading.map(|&after| turns.hop(after)));
            builder.set(place, destination, &mut list);
        }
        for router in (0..fabric.routers()).filter(|&router| router != destination) {
            let own = turns.leaving(router);
            let least = own.clone().map(|place| hops_left[place as usize]).min();
            let Some(least) = least.filter(|&least| least != NONE) else { continue };
            list.clear();
            list.extend(own.filter_map(|place| {
                let detour = first.begins(hops_left[place as usize], least)?;
                Some(Hop { detour, ..turns.hop(place) })
            }));
            let state = builder.relation().injected(router);
            builder.set(state, destination, &mut list);
        }
    }
    Ok(builder)
}

/// The legal turns between places, which are numbered as the states of arrival in a relation.
struct Turns<'f> {
    fabric: &'f Fabric,
    vcs: u32,
    /// By place: the router that its channel leaves, or [`NONE`] for a vacant one.
    hops: Vec<Hop>,
    live: Vec<bool>,
    after: Lists,
    before: Lists,
}

/// Lists of places, one a place.
#[derive(Default)]
struct Lists {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    fn of(&self, place: u32) -> &[u32] {
        &self.items[self.starts[place as usize]..self.starts[place as usize + 1]]
    }
}

impl<'f> Turns<'f> {
    fn new(
        fabric: &'f Fabric,
        vcs: u8,
        legal: impl Fn(VirtualChannel, VirtualChannel) -> bool,
    ) -> Self {
        let vcs = u32::from(vcs);
        let count = fabric.channel_slots() * vcs;
        let place =
            |number: u32| VirtualChannel { channel: number / vcs, vc: narrow(number % vcs) };
        let mut after = Lists { starts: vec![0], items: Vec::new() };
        let (mut hops, mut live) = (Vec::new(), Vec::new());
        let mut degree = vec![0; count as usize + 1];
        for number in 0..count {
            let from = place(number);
            let target = fabric.target(from.channel);
            live.push(target.is_some());
            let port = from.channel - fabric.outputs(fabric.source(from.channel)).start;
            hops.push(Hop::new(narrow(port), from.vc));
            if let Some(target) = target {
                for next in fabric.outputs(target) {
                    let back = fabric.opposite(from.channel) == Some(next);
                    if back || fabric.target(next).is_none() {
                        continue;
                    }
                    for to in next * vcs..(next + 1) * vcs {
                        if legal(from, place(to)) {
                            after.items.push(to);
                            degree[to as usize + 1] += 1;
                        }
                    }
                }
            }
            after.starts.push(after.items.len());
        }
        for at in 1..degree.len() {
            degree[at] += degree[at - 1];
        }
        let mut fill = degree.clone();
        let mut items = vec![0; after.items.len()];
        for number in 0..count {
            for &to in after.of(number) {
                items[fill[to as usize]] = number;
                fill[to as usize] += 1;
            }
        }
        let before = Lists { starts: degree, items };
        Self { fabric, vcs, hops, live, after, before }
    }

    fn places(&self) -> usize {
        self.hops.len()
    }

    fn hop(&self, place: u32) -> Hop {
        self.hops[place as usize]
    }

    fn after(&self, place: u32) -> &[u32] {
        self.after.of(place)
    }

    fn before(&self, place: u32) -> &[u32] {
        self.before.of(place)
    }

    fn leaving(&self, router: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let outputs = self.fabric.outputs(router);
        let places = outputs.start * self.vcs..outputs.end * self.vcs;
        places.filter(|&place| self.live[place as usize])
    }

    fn arriving_at(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        let opposite = |channel| self.fabric.opposite(channel);
        let inputs = self.fabric.outputs(router).filter_map(opposite);
        inputs.flat_map(|channel| channel * self.vcs..(channel + 1) * self.vcs)
    }
}
