//! One route for every pair, and the channel loads that follow.

use rayon::prelude::*;

use super::{Choices, Pair};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Channel;

/// A route number for each pair of [`Choices`], and how many routes cross each channel, each counted
/// with its pair's weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    chosen: Vec<u16>,
    /// Routes that cross each channel.
    pub loads: Vec<u32>,
}

impl Selection {
    /// A route for every pair: `number` gives it from the pair and its place.
    pub(super) fn new(choices: &Choices<'_>, number: impl Fn(u32, &Pair) -> u16) -> Self {
        let mut selection = Self::none(choices);
        for (place, pair) in choices.pairs_by_place() {
            let number = number(place, &pair);
            selection.chosen[place as usize] = number;
            for channel in choices.channels(&pair, number.into()) {
                selection.loads[channel as usize] += pair.weight;
            }
        }
        selection
    }

    /// No route has been chosen yet.
    pub(super) fn none(choices: &Choices<'_>) -> Self {
        let loads = vec![0; choices.region().fabric().channel_slots() as usize];
        Self { chosen: vec![0; choices.places()], loads }
    }

    /// The routes of the pairs that have only one; the others count as not chosen yet.
    pub(super) fn unique_routes(choices: &Choices<'_>) -> Self {
        Self::first_routes(choices, |_, pair| pair.routes() == 1)
    }

    /// The first routes of the pairs that are told to be unique; the others count as not chosen yet.
    pub(super) fn first_routes(
        choices: &Choices<'_>,
        is_unique: impl Fn(u32, &Pair) -> bool + Sync,
    ) -> Self {
        let sources = 0..choices.region().nodes().len();
        let none = || vec![0u32; choices.region().fabric().channel_slots() as usize];
        let with_source = |mut loads: Vec<u32>, source: usize| {
            for (_, pair) in
                choices.pairs_of(source).filter(|(place, pair)| is_unique(*place, pair))
            {
                choices.channels(&pair, 0).for_each(|it| loads[it as usize] += pair.weight);
            }
            loads
        };
        let add = |mut loads: Vec<u32>, more: Vec<u32>| {
            loads.iter_mut().zip(more).for_each(|(load, more)| *load += more);
            loads
        };
        let loads = sources.into_par_iter().fold(none, with_source).reduce(none, add);
        Self { loads, ..Self::none(choices) }
    }

    /// The route number of the pair at a place.
    pub(super) fn chosen(&self, place: u32) -> usize {
        usize::from(self.chosen[place as usize])
    }

    /// The load of the fullest channel.
    pub fn maximum(&self) -> u32 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// The route of a pair whose channels carry least in all, the first of equal ones.
    pub(super) fn least_loaded(&self, choices: &Choices<'_>, pair: &Pair) -> usize {
        self.least_of(choices, pair, 0..pair.routes())
    }

    /// Of some of a pair's routes the one whose channels carry least in all, the first of equal
    /// ones.
    pub(super) fn least_of(
        &self,
        choices: &Choices<'_>,
        pair: &Pair,
        routes: impl Iterator<Item = usize>,
    ) -> usize {
        let load = |&number: &usize| -> u64 {
            choices
                .channels(pair, number)
                .map(|channel| u64::from(self.loads[channel as usize]))
                .sum()
        };
        routes.min_by_key(load).expect("a pair has a route")
    }

    /// Takes a pair's route off its channels.
    pub(super) fn remove(&mut self, choices: &Choices<'_>, place: u32) {
        let pair = choices.at(place);
        for channel in choices.channels(&pair, self.chosen(place)) {
            self.loads[channel as usize] -= pair.weight;
        }
    }

    /// Gives a pair that has none a route.
    pub(super) fn add(&mut self, choices: &Choices<'_>, place: u32, number: usize) {
        let pair = choices.at(place);
        self.add_over(place, number, pair.weight, choices.channels(&pair, number));
    }

    /// Gives a pair of this weight that has none the route over these channels.
    pub(super) fn add_over(
        &mut self,
        place: u32,
        number: usize,
        weight: u32,
        channels: impl IntoIterator<Item = Channel>,
    ) {
        self.chosen[place as usize] = narrow(number);
        channels.into_iter().for_each(|channel| self.loads[channel as usize] += weight);
    }

    /// Sum of the fourth powers of the loads: where maxima are equal, the smaller is the more even.
    pub(super) fn fourth_powers(&self) -> u128 {
        self.loads.iter().map(|&load| u128::from(load).pow(4)).sum()
    }
}
