//! A lower bound on the load of the fullest channel.
//!
//! Give each channel a weight `w >= 0`. The routes of all pairs together weigh at least the sum
//! over the pairs of the lightest route. They weigh at most the maximum load times the sum of the
//! weights. So the maximum load is at least the quotient. Good weights are high where every choice
//! of routes is crowded. Multiplicative updates (\[young\]) find them: each step adds to a
//! channel's exponent the load that the lightest routes put on it.
//!
//! The bound is over the routes of [`Choices`]: shortest legal ones, with the turns that were
//! allowed.

use rayon::prelude::*;

use super::{Choices, Pair, Selection};
use flitlab_base::narrow::{narrow, rounded};

/// The best lower bound found.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerBound {
    /// The bound before rounding up.
    pub value: f64,
    /// Weights that prove it, by channel, unless it is the weight of the heaviest pair, all of which
    /// a channel carries.
    pub weights: Vec<f64>,
}

impl LowerBound {
    /// The bound that these weights prove, by channel.
    pub(super) fn of(choices: &Choices<'_>, weights: Vec<f64>) -> Self {
        let unique = Selection::unique_routes(choices);
        let value = lightest(choices, &weights, &unique, &mut vec![0.0; weights.len()]);
        Self { value: value.max(heaviest(choices)), weights }
    }

    /// The bound on a whole number: loads are whole numbers.
    pub fn rounded(&self) -> u32 {
        rounded((self.value * (1.0 - 1e-12)).ceil())
    }
}

/// The weight of the heaviest pair, where pairs have weights.
fn heaviest(choices: &Choices<'_>) -> f64 {
    if !choices.is_weighted() {
        return 0.0;
    }
    choices.pairs.iter().map(|pair| pair.weight).max().map_or(0.0, f64::from)
}

/// Parts in which pairs are looked at in parallel; fixed, so that sums do not depend on the
/// threads.
const PARTS: usize = 16;

/// Fills `loads` with those of the lightest routes, equal ones sharing; gives their quotient.
fn lightest(choices: &Choices<'_>, weights: &[f64], unique: &Selection, loads: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for ((load, &fixed), weight) in loads.iter_mut().zip(&unique.loads).zip(weights) {
        *load = f64::from(fixed);
        sum += f64::from(fixed) * weight;
    }
    let length = choices.pairs.len().div_ceil(PARTS).max(1);
    let parts: Vec<(Vec<f64>, f64)> = choices
        .pairs
        .par_chunks(length)
        .map(|pairs| {
            let mut loads = vec![0.0; weights.len()];
            let sum = add_lightest(choices, pairs, weights, &mut loads);
            (loads, sum)
        })
        .collect();
    for (part, weight) in parts {
        sum += weight;
        for (load, more) in loads.iter_mut().zip(part) {
            *load += more;
        }
    }
    sum / weights.iter().sum::<f64>()
}

/// Adds the loads of some pairs' lightest routes; gives the weight of one for each pair. Pairs with
/// a single route are left out.
fn add_lightest(choices: &Choices<'_>, pairs: &[Pair], weights: &[f64], loads: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    let mut costs = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.is_open()) {
        let own = f64::from(pair.weight);
        costs.clear();
        costs.extend((0..pair.routes()).map(|number| {
            choices.channels(pair, number).iter().map(|&c| weights[c as usize]).sum::<f64>()
        }));
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        sum += own * least;
        let nearly = least * (1.0 + 1e-9);
        let share = own / costs.iter().filter(|&&cost| cost <= nearly).count() as f64;
        for (number, _) in costs.iter().enumerate().filter(|(_, cost)| **cost <= nearly) {
            for &channel in choices.channels(pair, number) {
                loads[channel as usize] += share;
            }
        }
    }
    sum
}

/// Route evaluations that the search for weights may take, and its least and most steps.
const EVALUATIONS: u64 = 4_000_000;
const STEPS: (u64, u64) = (12, 400);

/// The first weights: the fullest channel of the table weighs e to this times as much as an empty
/// one.
const STARTS: [f64; 5] = [0.0, 12.0, 24.0, 48.0, 96.0];

/// Looks for good weights, beginning with those that say where a table's channels are full (its
/// `loads`, by channel); stops once the bound, rounded up, is the table's maximum load.
pub fn lower_bound(choices: &Choices<'_>, loads: &[u32]) -> LowerBound {
    let enough = loads.iter().copied().max().unwrap_or(0);
    let steps = narrow((EVALUATIONS / choices.evaluations()).clamp(STEPS.0, STEPS.1));
    let slots = choices.region().fabric().channel_slots() as usize;
    let mut exists = vec![false; slots];
    for channel in choices.region().channels() {
        exists[channel as usize] = true;
    }
    let unique = Selection::unique_routes(choices);
    let mut lightest_loads = vec![0.0; slots];
    let mut best = LowerBound { value: heaviest(choices), weights: vec![0.0; slots] };
    let mut attempt = |exponents: &[f64], loads: &mut Vec<f64>| {
        let highest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |(exponent, exists): (&f64, &bool)| {
            if *exists { libm::exp(exponent - highest) } else { 0.0 }
        };
        let weights: Vec<f64> = exponents.iter().zip(&exists).map(weight).collect();
        let value = lightest(choices, &weights, &unique, loads);
        if value > best.value {
            best = LowerBound { value, weights };
        }
        (value, best.rounded() >= enough)
    };
    for start in STARTS {
        let exponent = |&load: &u32| start * f64::from(load) / f64::from(enough.max(1));
        let exponents: Vec<f64> = loads.iter().map(exponent).collect();
        if attempt(&exponents, &mut lightest_loads).1 {
            return best;
        }
    }
    let mut exponents = vec![0.0; slots];
    for step in 0..steps {
        let (value, found) = attempt(&exponents, &mut lightest_loads);
        if found {
            break;
        }
        let most = lightest_loads.iter().copied().fold(0.0, f64::max);
        let pace = 2.0 / (1.0 + f64::from(step) / 8.0).sqrt();
        for (exponent, load) in exponents.iter_mut().zip(&lightest_loads) {
            *exponent += pace * (load - value) / most.max(1.0);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::Freedoms;
    use super::*;
    use crate::Region;
    use flitlab_fabric::{Faults, Torus};

    /// All selections of a small region, one after the other.
    fn least_maximum(choices: &Choices<'_>) -> u32 {
        let open: Vec<usize> =
            (0..choices.pairs.len()).filter(|&p| choices.pairs[p].routes() > 1).collect();
        let mut numbers = vec![0u16; choices.pairs.len()];
        let mut least = u32::MAX;
        loop {
            least = least.min(Selection::new(choices, |place| numbers[place]).maximum());
            let Some(&place) = open.iter().find(|&&place| {
                numbers[place] = (numbers[place] + 1) % choices.pairs[place].routes() as u16;
                numbers[place] != 0
            }) else {
                return least;
            };
            let _ = place;
        }
    }

    #[test]
    fn no_selection_is_below_the_bound() {
        for sizes in [&[2, 2][..], &[4], &[6], &[3, 2]] {
            let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            let bound = lower_bound(&choices, &Selection::new(&choices, |_| 0).loads);
            let least = least_maximum(&choices);
            assert!(bound.rounded() <= least, "{sizes:?}: {} > {least}", bound.value);
            let (unique, mut loads) =
                (Selection::unique_routes(&choices), vec![0.0; bound.weights.len()]);
            let proved = lightest(&choices, &bound.weights, &unique, &mut loads);
            assert!((proved - bound.value).abs() < 1e-9);
        }
    }
}
