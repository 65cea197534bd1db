//! One route for every pair, and the channel loads that follow.

use super::{Choices, Pair};
use flitlab_base::narrow::narrow;

/// A route number for each pair of [`Choices`], and how many routes cross each channel, each counted
/// with its pair's weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    chosen: Vec<u16>,
    /// Routes that cross each channel.
    pub loads: Vec<u32>,
}

impl Selection {
    /// A route for every pair: `number` gives it from the pair's place.
    pub fn new(choices: &Choices<'_>, number: impl Fn(usize) -> u16) -> Self {
        let chosen: Vec<u16> = (0..choices.pairs.len()).map(number).collect();
        let mut loads = vec![0; choices.region().fabric().channel_slots() as usize];
        for (pair, &number) in choices.pairs.iter().zip(&chosen) {
            for &channel in choices.channels(pair, usize::from(number)) {
                loads[channel as usize] += pair.weight;
            }
        }
        Self { chosen, loads }
    }

    /// No route has been chosen yet.
    pub(super) fn none(choices: &Choices<'_>) -> Self {
        let loads = vec![0; choices.region().fabric().channel_slots() as usize];
        Self { chosen: vec![0; choices.pairs.len()], loads }
    }

    /// The routes of the pairs that have only one; the others count as not chosen yet.
    pub(super) fn unique_routes(choices: &Choices<'_>) -> Self {
        let mut selection = Self::none(choices);
        for pair in choices.pairs.iter().filter(|pair| pair.routes() == 1) {
            for &channel in choices.channels(pair, 0) {
                selection.loads[channel as usize] += pair.weight;
            }
        }
        selection
    }

    /// The route number of the pair at a place.
    pub fn chosen(&self, place: usize) -> usize {
        usize::from(self.chosen[place])
    }

    /// The load of the fullest channel.
    pub fn maximum(&self) -> u32 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// The route of a pair whose channels carry least in all, the first of equal ones.
    pub(super) fn least_loaded(&self, choices: &Choices<'_>, pair: &Pair) -> usize {
        let load = |&number: &usize| -> u64 {
            let channels = choices.channels(pair, number).iter();
            channels.map(|&channel| u64::from(self.loads[channel as usize])).sum()
        };
        (0..pair.routes()).min_by_key(load).expect("a pair has a route")
    }

    /// Takes a pair's route off its channels.
    pub(super) fn remove(&mut self, choices: &Choices<'_>, place: usize) {
        let pair = &choices.pairs[place];
        for &channel in choices.channels(pair, self.chosen(place)) {
            self.loads[channel as usize] -= pair.weight;
        }
    }

    /// Gives a pair that has none a route.
    pub(super) fn add(&mut self, choices: &Choices<'_>, place: usize, number: usize) {
        self.chosen[place] = narrow(number);
        let pair = &choices.pairs[place];
        for &channel in choices.channels(pair, number) {
            self.loads[channel as usize] += pair.weight;
        }
    }

    /// Sum of the fourth powers of the loads: where maxima are equal, the smaller is the more even.
    pub(super) fn fourth_powers(&self) -> u128 {
        self.loads.iter().map(|&load| u128::from(load).pow(4)).sum()
    }
}
