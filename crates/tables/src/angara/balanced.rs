//! A selection whose fullest channel carries as little as possible.
//!
//! Pairs are routed anew, one at a time, on the route that is cheapest without them, if a channel
//! costs a steep power of its load: a descent in the sum of powers, which falls with every move and
//! so ends. The first descents, from SSSP's selection and from one that suits symmetric tori, are
//! in the fourth power and look at all pairs. Steeper ones follow, which look at the pairs through
//! the fullest channels only. From there the maximum load is lowered by one at a time, by a local
//! search with weights ([`breakout`](super::breakout)), until the lower bound is met or a search
//! gives up; and a last descent makes the other channels' loads even, as far as the maximum stays.

use super::bound::LowerBound;
use super::breakout::Breakout;
use super::direction_order::alternating;
use super::linear::highest_bound;
use super::selection::Selection;
use super::{Algorithm, Generated};
use super::{Choices, lower_bound, sssp};
use flitlab_base::narrow::rounded_down;
use flitlab_base::registry::Row;

impl Algorithm {
    /// `balanced`.
    pub const BALANCED: Row<Self> = Row::new(
        "balanced",
        "makes the load of the fullest channel as small as it can.",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, _, _| {
                let balanced = balanced(choices);
                let made = Generated::new(choices.table(&balanced.selection));
                Ok(Generated { bound: Some(balanced.bound), ..made })
            },
        },
    );
}

/// Limits of the search for one lower maximum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub searches: u32,
    /// Looks at channels after which a search gives up.
    pub looks: u64,
}

impl Effort {
    /// Less of each for more pairs: as long as the rest takes.
    fn of(choices: &Choices<'_>) -> Self {
        if choices.is_weighted() {
            // Sums of weights seldom meet the bound, so that most last searches are in vain.
            return Self { searches: 1, looks: 2_000_000 };
        }
        let looks = 300_000_000_000 / choices.routable().max(1);
        Self { searches: 5, looks: looks.clamp(2_000_000, 60_000_000) }
    }
}

/// Up to so many routes the highest bound is found in a second.
const FEW_ROUTES: u64 = 4_000;

const FIRST_POWER: i32 = 4;
const STEEP_POWERS: [i32; 3] = [8, 16, 32];

/// Loads up to this have their prices in a table.
const MOST_PRICES: u32 = 1 << 22;

/// A steep descent looks at channels that are this near to the fullest.
const NEAR: f64 = 0.97;

/// The first descent ends when less than one pair in this many moves.
const FEW: usize = 1_000;

/// A selection and the lower bound that it was measured against.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// The route of each pair.
    pub selection: Selection,
    /// A proved bound: no selection has a lower maximum load.
    pub bound: LowerBound,
}

impl Balanced {
    /// Whether no selection has a lower maximum load.
    pub fn is_optimal(&self) -> bool {
        self.selection.maximum() <= self.bound.rounded()
    }
}

/// Chooses a route for every pair. Equal choices give equal results on every machine.
pub fn balanced(choices: &Choices<'_>) -> Balanced {
    let start = alternating(choices);
    let mut search = Search::new(choices, start.clone());
    // Symmetric tori need no search.
    let mean = choices.hops().div_ceil(choices.region().channels().count().max(1) as u64);
    if u64::from(start.maximum()) > mean {
        search.descend(sssp(choices).selection);
        search.descend(start);
    }
    let bound = lower_bound(choices, &search.best.1.loads);
    let effort = Effort::of(choices);
    let found = balanced_with(
        choices,
        Balanced { selection: search.best.1, bound },
        Effort { searches: 1, ..effort },
    );
    if found.is_optimal() {
        return found;
    }
    let Balanced { selection, mut bound } = found;
    if choices.evaluations() <= FEW_ROUTES
        && let Ok(highest) = highest_bound(choices, Algorithm::BALANCED.name)
        && highest.value > bound.value
    {
        bound = highest;
    }
    balanced_with(choices, Balanced { selection, bound }, effort)
}

/// Lowers a selection's maximum by one at a time down to its bound, as long as the effort suffices;
/// then makes the other channels' loads even, as far as the maximum stays.
pub(super) fn balanced_with(choices: &Choices<'_>, from: Balanced, effort: Effort) -> Balanced {
    if from.is_optimal() {
        return from;
    }
    let Balanced { selection, bound } = from;
    let mut search = Search::new(choices, selection);
    search.lower(bound.rounded(), effort);
    Balanced { selection: search.best.1, bound }
}

/// Smaller is better: maximum load, then the sum of fourth powers.
fn key(selection: &Selection) -> (u32, u128) {
    (selection.maximum(), selection.fourth_powers())
}

struct Search<'c, 'f> {
    choices: &'c Choices<'f>,
    /// Pairs that have a choice.
    open: Vec<u32>,
    best: ((u32, u128), Selection),
}

/// The cost of one more route on a channel.
struct Price {
    power: i32,
    /// A load slightly above the highest, which costs 1.
    most: u32,
    /// By load.
    at: Vec<f64>,
    /// By channel, at its load.
    of: Vec<f64>,
}

impl Price {
    fn new(selection: &Selection, power: i32) -> Self {
        let most = selection.maximum() + 2;
        let normal = |load: u32| libm::pow(f64::from(load) / f64::from(most), f64::from(power));
        // Loads beyond `most` are steep enough to be left at once.
        // Of weighted pairs the cost is computed where it is asked for.
        let at: Vec<f64> =
            (0..=(2 * most).min(MOST_PRICES)).map(|load| normal(load + 1) - normal(load)).collect();
        let mut price = Self { power, most, of: vec![0.0; selection.loads.len()], at };
        for channel in 0..selection.loads.len() {
            price.update(selection, channel, 0);
        }
        price
    }

    /// The cost of a pair of this weight on channels with these loads.
    fn of_weight(&self, loads: impl Iterator<Item = u32>, weight: u32) -> f64 {
        let normal = |load| (f64::from(load) / f64::from(self.most)).powi(self.power);
        loads.map(|load| normal(load + weight) - normal(load)).sum()
    }

    /// Sets a channel's price as if it had `fewer` routes less.
    fn update(&mut self, selection: &Selection, channel: usize, fewer: u32) {
        let load = (selection.loads[channel] - fewer) as usize;
        self.of[channel] = self.at[load.min(self.at.len() - 1)];
    }
}

impl<'c, 'f> Search<'c, 'f> {
    fn new(choices: &'c Choices<'f>, start: Selection) -> Self {
        let open = choices.pairs_by_place().filter(|(_, pair)| pair.is_open());
        let open = open.map(|(place, _)| place).collect();
        Self { choices, open, best: (key(&start), start) }
    }

    /// Descends from a selection and keeps the result if it is the best so far.
    fn descend(&mut self, mut selection: Selection) {
        let mut price = Price::new(&selection, FIRST_POWER);
        while self.pass(&mut selection, &mut price, 0) > self.open.len() / FEW {}
        self.descend_steeply(selection);
    }

    /// Lowers the maximum by one at a time down to `least`, as long as a search succeeds.
    fn lower(&mut self, least: u32, Effort { searches, looks }: Effort) {
        let Some(mut breakout) = Breakout::new(self.choices) else { return };
        // Weighted loads are large numbers, so that steps are parts of what is left to gain.
        let part = if self.choices.is_weighted() { 8 } else { u32::MAX };
        let mut step = u32::MAX;
        while self.best.0.0 > least && step > 0 {
            step = step.min(((self.best.0.0 - least) / part).max(1));
            let target = self.best.0.0 - step;
            let search = |_| breakout.lower(self.best.1.clone(), target, looks);
            match (0..searches).find_map(search) {
                Some(lower) => self.keep(&lower),
                None => step /= 8,
            }
        }
        let mut even = self.best.1.clone();
        let mut price = Price::new(&even, FIRST_POWER);
        while self.pass(&mut even, &mut price, 0) > self.open.len() / FEW {
            self.keep(&even);
        }
        self.keep(&even);
    }

    /// Keeps a selection if it is the best so far.
    fn keep(&mut self, selection: &Selection) {
        let key = key(selection);
        if key < self.best.0 {
            self.best = (key, selection.clone());
        }
    }

    fn descend_steeply(&mut self, mut selection: Selection) {
        for power in STEEP_POWERS {
            let mut price = Price::new(&selection, power);
            let near = rounded_down(f64::from(selection.maximum()) * NEAR);
            while self.pass(&mut selection, &mut price, near) > 0 {}
        }
        self.keep(&selection);
    }

    /// Routes every pair anew that crosses a channel with a load of `near` or more; gives the
    /// number of pairs that moved.
    fn pass(&mut self, selection: &mut Selection, price: &mut Price, near: u32) -> usize {
        let is_weighted = self.choices.is_weighted();
        let (mut moved, mut all) = (0, Vec::new());
        for &place in &self.open {
            let pair = self.choices.at(place);
            let own = selection.chosen(place);
            let mut channels = self.choices.channels(&pair, own);
            if near > 0 && channels.all(|it| selection.loads[it as usize] < near) {
                continue;
            }
            if is_weighted {
                moved += usize::from(self.pass_weighted(selection, price, place));
                continue;
            }
            self.choices.all_channels(&pair, &mut all);
            let of = |number: usize| {
                let hops = usize::from(pair.hops);
                &all[number * hops..][..hops]
            };
            for &channel in of(own) {
                price.update(selection, channel as usize, 1);
            }
            let cost = |number| of(number).iter().map(|&it| price.of[it as usize]).sum::<f64>();
            let mut best = (own, cost(own) * (1.0 - 1e-9));
            for number in (0..pair.routes()).filter(|&number| number != own) {
                let cost = cost(number);
                if cost < best.1 {
                    best = (number, cost);
                }
            }
            if best.0 != own {
                moved += 1;
                selection.remove(self.choices, place);
                selection.add(self.choices, place, best.0);
                for &channel in of(best.0) {
                    price.update(selection, channel as usize, 0);
                }
            }
            for &channel in of(own) {
                price.update(selection, channel as usize, 0);
            }
        }
        moved
    }

    /// Routes a pair anew that weighs more than 1; whether it moved.
    fn pass_weighted(&self, selection: &mut Selection, price: &mut Price, place: u32) -> bool {
        let pair = &self.choices.at(place);
        let own = selection.chosen(place);
        selection.remove(self.choices, place);
        let cost = |number: usize| {
            let channels = self.choices.channels(pair, number);
            price.of_weight(channels.map(|it| selection.loads[it as usize]), pair.weight)
        };
        let mut best = (own, cost(own) * (1.0 - 1e-9));
        for number in (0..pair.routes()).filter(|&number| number != own) {
            let cost = cost(number);
            if cost < best.1 {
                best = (number, cost);
            }
        }
        selection.add(self.choices, place, best.0);
        for number in [own, best.0] {
            for channel in self.choices.channels(pair, number) {
                price.update(selection, channel as usize, 0);
            }
        }
        best.0 != own
    }
}

#[cfg(test)]
mod tests {
    use super::super::Freedoms;
    use super::*;
    use crate::Region;
    use flitlab_base::narrow::narrow;
    use flitlab_fabric::{Faults, Torus};

    fn of(sizes: &[u32], cables: &[(u32, u32)]) -> (u32, u32, u32) {
        let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let Balanced { selection, bound } = balanced(&choices);
        let again = Selection::new(&choices, |place, _| narrow::<u16>(selection.chosen(place)));
        assert_eq!(&selection.loads, &again.loads);
        (sssp(&choices).selection.maximum(), selection.maximum(), bound.rounded())
    }

    /// Table 2 has 1, 2, 5, 12 and 28 for SSSP, at best 1, 2, 4, 11 and 27. Its four nodes must be
    /// a ring: in a square, three of the four diagonals have one way to go, and two of these meet
    /// the fourth.
    #[test]
    fn the_tables_of_desmos_are_at_least_as_good_as_the_published_ones_and_proved_optimal() {
        assert_eq!(of(&[2], &[]), (1, 1, 1));
        assert_eq!(of(&[4], &[]), (2, 2, 2));
        assert_eq!(of(&[2, 2], &[]), (3, 3, 3));
        assert_eq!(of(&[4, 2], &[]), (5, 4, 4));
        assert_eq!(of(&[4, 2, 2], &[]), (11, 10, 10));
        assert_eq!(of(&[4, 2, 2, 2], &[]), (28, 26, 26));
    }

    #[test]
    fn even_tori_get_perfectly_balanced_tables() {
        assert_eq!(of(&[8, 8], &[]).1, 64);
        assert_eq!(of(&[4, 4, 4], &[]).1, 32);
        assert_eq!(of(&[4, 4, 4, 4], &[]).1, 128);
    }

    #[test]
    fn around_failures_balanced_beats_sssp_and_keeps_to_the_bound() {
        let (sssp, balanced, bound) = of(&[5, 4, 3], &[(0, 0), (21, 1), (33, 2)]);
        assert!(bound <= balanced && balanced <= sssp, "{bound} {balanced} {sssp}");
        assert!(f64::from(balanced) <= f64::from(bound) * 1.05, "{bound} {balanced}");
    }
}
