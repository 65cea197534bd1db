//! Lowering the load of the fullest channels below a target, by local search with weights.
//!
//! A channel that carries more than the target is broken by so much. A step picks a broken channel
//! at random and moves one of the pairs across it to another route: the one whose move makes the
//! weighted sum of what is broken least. Where no move makes that sum less, the broken channels
//! gain weight first, so that what has been the best of all neighbors stops being so
//! (\[breakout\]). A pair that has just moved stays where it is for some steps.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Choices;
use super::selection::Selection;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE};

/// For how many steps a pair stays where it has moved to, at least and less than.
const REST: std::ops::Range<u64> = 3..13;

/// Most crossings of a route and a channel that are listed, 8 bytes each.
const MAX_CROSSINGS: usize = 1 << 26;

/// A search among the routes of pairs.
pub(super) struct Breakout<'c, 'f> {
    choices: &'c Choices<'f>,
    /// The routes across each channel, place of the pair and number, of pairs that have several.
    crossings: Vec<(u32, u16)>,
    /// Those of channel `c` are `first[c]..first[c + 1]`.
    first: Vec<usize>,
    weights: Vec<u64>,
    broken: Broken,
    /// By pair: the step up to which it stays where it is.
    rests: Vec<u64>,
    random: ChaCha8Rng,
}

/// The channels above the target.
struct Broken {
    channels: Vec<Channel>,
    /// By channel, its place among them.
    place: Vec<u32>,
}

impl Broken {
    fn new(loads: &[u32], target: u32) -> Self {
        let mut broken = Self { channels: Vec::new(), place: vec![NONE; loads.len()] };
        for (channel, _) in (0..).zip(loads).filter(|&(_, &load)| load > target) {
            broken.add(channel);
        }
        broken
    }

    fn add(&mut self, channel: Channel) {
        self.place[channel as usize] = narrow(self.channels.len());
        self.channels.push(channel);
    }

    fn remove(&mut self, channel: Channel) {
        let place = std::mem::replace(&mut self.place[channel as usize], NONE);
        self.channels.swap_remove(place as usize);
        if let Some(&moved) = self.channels.get(place as usize) {
            self.place[moved as usize] = place;
        }
    }
}

/// A pair's move to another of its routes, and by how much it changes the weighted sum.
#[derive(Clone, Copy)]
struct Move {
    change: i64,
    place: u32,
    number: u16,
}

impl<'c, 'f> Breakout<'c, 'f> {
    /// `None` if there are too many routes to list them by channel.
    pub(super) fn new(choices: &'c Choices<'f>) -> Option<Self> {
        let slots = choices.region().fabric().channel_slots() as usize;
        let mut first = vec![0; slots + 1];
        each_crossing(choices, |channel, _, _| first[channel as usize + 1] += 1);
        for channel in 0..slots {
            first[channel + 1] += first[channel];
        }
        if first[slots] > MAX_CROSSINGS {
            return None;
        }
        let (mut crossings, mut next) = (vec![(0, 0); first[slots]], first.clone());
        each_crossing(choices, |channel, place, number| {
            let next = &mut next[channel as usize];
            crossings[*next] = (place, number);
            *next += 1;
        });
        Some(Self {
            choices,
            crossings,
            first,
            weights: vec![1; slots],
            broken: Broken::new(&[], 0),
            rests: vec![0; choices.places()],
            random: ChaCha8Rng::seed_from_u64(0),
        })
    }

    /// Looks for a selection whose fullest channel carries `target` or less, beginning with this
    /// one; gives up after so many looks at channels.
    pub(super) fn lower(
        &mut self,
        mut selection: Selection,
        target: u32,
        looks: u64,
    ) -> Option<Selection> {
        self.weights.fill(1);
        self.rests.fill(0);
        self.broken = Broken::new(&selection.loads, target);
        let (mut looked, mut step) = (0, 0);
        while !self.broken.channels.is_empty() {
            if looked > looks {
                return None;
            }
            step += 1;
            let number = self.random.random_range(0..self.broken.channels.len());
            let channel = self.broken.channels[number];
            looked += 1;
            let best = self.best_move(&selection, channel, (target, step), &mut looked);
            let Some(Move { change, place, number }) = best else { continue };
            if change >= 0 {
                for &channel in &self.broken.channels {
                    self.weights[channel as usize] += 1;
                }
            }
            self.go(&mut selection, (place, number), target);
            self.rests[place as usize] = step + self.random.random_range(REST);
        }
        Some(selection)
    }

    /// The best move of a pair off a channel, one at random among equal ones.
    fn best_move(
        &mut self,
        selection: &Selection,
        channel: Channel,
        (target, step): (u32, u64),
        looked: &mut u64,
    ) -> Option<Move> {
        let loads = &selection.loads;
        let weight = |channel: Channel| self.weights[channel as usize].cast_signed();
        let (mut best, mut equal) = (None::<Move>, 0u32);
        let mut all = Vec::new();
        let crossings = self.first[channel as usize]..self.first[channel as usize + 1];
        for &(place, own) in &self.crossings[crossings] {
            let is_own = selection.chosen(place) == usize::from(own);
            if !is_own || self.rests[place as usize] > step {
                continue;
            }
            let pair = self.choices.at(place);
            self.choices.all_channels(&pair, &mut all);
            let hops = usize::from(pair.hops);
            let of = |number: u16| &all[usize::from(number) * hops..][..hops];
            let left = of(own);
            // By how much a route less or more changes what is broken of a channel.
            let mended = |load: u32| pair.weight.min(load.saturating_sub(target));
            let broken = |load: u32| (load + pair.weight).saturating_sub(target.max(load));
            for number in (0..narrow::<u16>(pair.routes())).filter(|&number| number != own) {
                let taken = of(number);
                *looked += 2 * left.len() as u64;
                let gain = |it: Channel| weight(it) * i64::from(mended(loads[it as usize]));
                let cost = |it: Channel| weight(it) * i64::from(broken(loads[it as usize]));
                let change = taken.iter().map(|&it| cost(it)).sum::<i64>()
                    - left.iter().map(|&it| gain(it)).sum::<i64>();
                // Channels of both routes keep what they carry, but were counted on both sides.
                let kept = taken.iter().filter(|&&it| cost(it) > 0 && left.contains(&it));
                let change = change - kept.map(|&it| cost(it) - gain(it)).sum::<i64>();
                let least = best.map_or(i64::MAX, |best| best.change);
                if change < least {
                    equal = 0;
                }
                if change <= least {
                    equal += 1;
                    if equal == 1 || self.random.random_range(0..equal) == 0 {
                        best = Some(Move { change, place, number });
                    }
                }
            }
        }
        best
    }

    /// Moves a pair.
    fn go(&mut self, selection: &mut Selection, (place, number): (u32, u16), target: u32) {
        let pair = self.choices.at(place);
        for channel in self.choices.channels(&pair, selection.chosen(place)) {
            let load = selection.loads[channel as usize];
            if load > target && load - pair.weight <= target {
                self.broken.remove(channel);
            }
        }
        selection.remove(self.choices, place);
        selection.add(self.choices, place, number.into());
        for channel in self.choices.channels(&pair, number.into()) {
            let load = selection.loads[channel as usize];
            if load > target && load - pair.weight <= target {
                self.broken.add(channel);
            }
        }
    }
}

/// Every channel of each route of the pairs that have several.
fn each_crossing(choices: &Choices<'_>, mut each: impl FnMut(Channel, u32, u16)) {
    for (place, pair) in choices.pairs_by_place() {
        if pair.is_open() {
            for number in 0..pair.routes() {
                let channels = choices.channels(&pair, number);
                channels.for_each(|channel| each(channel, place, narrow(number)));
            }
        }
    }
}
