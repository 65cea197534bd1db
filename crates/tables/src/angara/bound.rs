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

use super::{Choices, Selection};
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
        let value = Loads::new(choices).lightest(&weights, &mut vec![0.0; weights.len()]);
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
    choices.pairs().map(|pair| pair.weight).max().map_or(0.0, f64::from)
}

/// Parts in which pairs are looked at in parallel; fixed, so that sums do not depend on the
/// threads.
const PARTS: u64 = 16;

/// The loads that a search for weights looks at again and again.
struct Loads<'c, 'f> {
    choices: &'c Choices<'f>,
    /// The loads of the pairs with a single route, by channel.
    unique: Vec<u32>,
    /// The places of the other pairs that weigh something, in parts of equally many pairs.
    parts: Vec<Vec<u32>>,
}

impl<'c, 'f> Loads<'c, 'f> {
    fn new(choices: &'c Choices<'f>) -> Self {
        let part = choices.routable().div_ceil(PARTS).max(1);
        let mut parts = vec![Vec::new(); narrow(choices.routable().div_ceil(part))];
        for (number, (place, pair)) in (0..).zip(choices.pairs_by_place()) {
            if pair.is_open() {
                parts[narrow::<usize>(number / part)].push(place);
            }
        }
        Self { choices, unique: Selection::unique_routes(choices).loads, parts }
    }

    /// Fills `loads` with those of the lightest routes, equal ones sharing; gives their quotient.
    fn lightest(&self, weights: &[f64], loads: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for ((load, &fixed), weight) in loads.iter_mut().zip(&self.unique).zip(weights) {
            *load = f64::from(fixed);
            sum += f64::from(fixed) * weight;
        }
        let parts: Vec<(Vec<f64>, f64)> = self
            .parts
            .par_iter()
            .map(|places| {
                let mut loads = vec![0.0; weights.len()];
                let sum = add_lightest(self.choices, places, weights, &mut loads);
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
}

/// Adds the loads of some pairs' lightest routes; gives the weight of one for each pair.
fn add_lightest(choices: &Choices<'_>, places: &[u32], weights: &[f64], loads: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    let (mut costs, mut channels) = (Vec::new(), Vec::new());
    for &place in places {
        let pair = choices.at(place);
        let own = f64::from(pair.weight);
        choices.all_channels(&pair, &mut channels);
        let routes = || channels.chunks(usize::from(pair.hops));
        let cost = |route: &[u32]| route.iter().map(|&it| weights[it as usize]).sum::<f64>();
        costs.clear();
        costs.extend(routes().map(cost));
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        sum += own * least;
        let nearly = least * (1.0 + 1e-9);
        let share = own / costs.iter().filter(|&&cost| cost <= nearly).count() as f64;
        for (route, _) in routes().zip(&costs).filter(|(_, cost)| **cost <= nearly) {
            for &channel in route {
                loads[channel as usize] += share;
            }
        }
    }
    sum
}

/// Route evaluations that the search for weights may take, and its least and most steps.
const EVALUATIONS: u64 = 4_000_000;
const STEPS: (u64, u64) = (12, 400);

/// The first weights after equal ones: the fullest channel of the table weighs e to this times as
/// much as an empty one.
const STARTS: [f64; 4] = [12.0, 24.0, 48.0, 96.0];

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
    let mut best = LowerBound { value: heaviest(choices), weights: vec![0.0; slots] };
    // Where all channels weigh the same, every route of a pair is its lightest.
    let channels = exists.iter().filter(|&&exists| exists).count();
    let value = choices.hops() as f64 / channels as f64;
    if value > best.value {
        let weights = exists.iter().map(|&exists| f64::from(u8::from(exists))).collect();
        best = LowerBound { value, weights };
    }
    // If pairs that split evenly over their routes load all channels alike, that is the least that
    // can be reached, and no weights prove more.
    let is_least = |loads: Vec<f64>| loads.iter().all(|&load| load == value);
    if best.rounded() >= enough || choices.even_loads().is_some_and(is_least) {
        return best;
    }
    let of = Loads::new(choices);
    let mut lightest_loads = vec![0.0; slots];
    let mut attempt = |exponents: &[f64], loads: &mut Vec<f64>| {
        let highest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |(exponent, exists): (&f64, &bool)| {
            if *exists { libm::exp(exponent - highest) } else { 0.0 }
        };
        let weights: Vec<f64> = exponents.iter().zip(&exists).map(weight).collect();
        let value = of.lightest(&weights, loads);
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
    use super::super::linear::highest_bound;
    use super::*;
    use crate::Region;
    use flitlab_fabric::{Faults, Torus};

    /// All selections of a small region, one after the other.
    fn least_maximum(choices: &Choices<'_>) -> u32 {
        let open = choices.pairs_by_place().filter(|(_, pair)| pair.routes() > 1);
        let open: Vec<u32> = open.map(|(place, _)| place).collect();
        let mut numbers = vec![0u16; choices.places()];
        let mut least = u32::MAX;
        loop {
            least =
                least.min(Selection::new(choices, |place, _| numbers[place as usize]).maximum());
            let Some(&place) = open.iter().find(|&&place| {
                let number = &mut numbers[place as usize];
                *number = (*number + 1) % narrow::<u16>(choices.at(place).routes());
                *number != 0
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
            let bound = lower_bound(&choices, &Selection::new(&choices, |_, _| 0).loads);
            let least = least_maximum(&choices);
            assert!(bound.rounded() <= least, "{sizes:?}: {} > {least}", bound.value);
            let mut loads = vec![0.0; bound.weights.len()];
            let proved = Loads::new(&choices).lightest(&bound.weights, &mut loads);
            assert!((proved - bound.value).abs() < 1e-9);
        }
    }

    #[test]
    fn loads_of_pairs_that_split_evenly_prove_that_no_weights_prove_more() {
        for sizes in [&[6][..], &[4, 4], &[5, 5], &[4, 6], &[4, 1, 4]] {
            let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            let even = choices.even_loads().unwrap();
            let mut weights = vec![0.0; fabric.channel_slots() as usize];
            choices.region().channels().for_each(|channel| weights[channel as usize] = 1.0);
            let mut loads = vec![0.0; weights.len()];
            let value = Loads::new(&choices).lightest(&weights, &mut loads);
            let counted: Vec<f64> =
                choices.region().channels().take(even.len()).map(|it| loads[it as usize]).collect();
            assert_eq!(even, counted, "{sizes:?}");
            let highest = highest_bound(&choices, "exact").unwrap().value;
            let alike = even.iter().all(|&load| load == value);
            assert_eq!(alike, sizes != [4, 6], "{sizes:?}");
            assert_eq!(alike, highest < value + 1e-6, "{sizes:?}: {highest} {value}");
        }
        let fabric = Torus::new(&[4, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
        assert_eq!(Choices::new(Region::new(&fabric), Freedoms::default()).even_loads(), None);
    }
}
