//! Tables for the traffic of an application (\[angara-routing\], section 1.1, references 18 to 20):
//! each pair counts with what it sends, so that the fullest channel carries as little of this
//! traffic as possible.
//!
//! Weights are whole numbers: the pairs' traffic in units of the smallest if all are multiples of
//! it, otherwise rounded to 1/2^24 of all traffic. Pairs that send nothing keep the route of the
//! general table, which counts all pairs alike.

use super::{Algorithm, Choices, Generated, LowerBound, NoTable, Parameters};
use flitlab_base::narrow::rounded;
use flitlab_routing::RouteTable;

/// The most that all weights add up to, but for rounding.
const MOST: f64 = 16_777_216.0;

/// A table for a traffic, beside the general one of the same algorithm.
#[derive(Clone, Debug)]
pub struct ForTraffic {
    /// The table for the traffic.
    pub made: Generated,
    /// The share of all traffic on the fullest channel under the general table, from 0 to 1.
    pub general_load: f64,
    /// The share of all traffic on the fullest channel under the table for it; never more than
    /// `general_load`.
    pub load: f64,
    /// No table with one shortest legal route a pair has a smaller share than this, from 0 to 1;
    /// `None` without a bound. Where weights are rounded, the bound allows for it.
    pub least_load: Option<f64>,
}

/// Makes a table for a traffic: source, destination (router numbers) and amount, at least 0, for
/// each pair that sends. Pairs without a route are left out. The weights of the choices are
/// replaced.
///
/// # Errors
/// If the algorithm has no table for these choices.
pub fn for_traffic(
    choices: &mut Choices<'_>,
    algorithm: &Algorithm,
    (parameters, seed): (&Parameters, u64),
    traffic: &[(u32, u32, f64)],
) -> Result<ForTraffic, NoTable> {
    let routers = choices.region().fabric().routers() as usize;
    let mut amounts = vec![0.0; routers * routers];
    for &(source, destination, amount) in traffic {
        amounts[source as usize * routers + destination as usize] += amount;
    }
    let amount =
        |source: u32, destination: u32| amounts[source as usize * routers + destination as usize];
    let _ = weigh(choices, |_, _| 1.0);
    let general = (algorithm.table)(choices, parameters, seed)?;
    let Weighing { unit, error } = weigh(choices, amount);
    let mut made = (algorithm.table)(choices, parameters, seed)?;
    for pair in choices.pairs().filter(|pair| pair.weight == 0) {
        if let Some(header) = general.table.header(pair.source, pair.destination) {
            made.table.set(pair.source, pair.destination, header);
        }
    }
    let all: f64 = choices.pairs().map(|pair| amount(pair.source, pair.destination)).sum();
    let fullest = |table: &RouteTable| fullest(choices, table, amount) / all.max(f64::MIN_POSITIVE);
    let (general_load, load) = (fullest(&general.table), fullest(&made.table));
    // A channel carries at most the error of all pairs less than its weights say.
    let least = |bound: &LowerBound| (f64::from(bound.rounded()) * unit - error) / all;
    let least_load = made.bound.as_ref().map(|bound| least(bound).max(0.0));
    // Rounding of weights can make the general table a little better.
    if load > general_load {
        let made = Generated { bound: made.bound, ..general };
        return Ok(ForTraffic { made, general_load, load: general_load, least_load });
    }
    Ok(ForTraffic { made, general_load, load, least_load })
}

/// How weights stand for amounts.
struct Weighing {
    /// The amount of a weight of 1.
    unit: f64,
    /// By how much the amounts of all pairs differ from those of their weights, together.
    error: f64,
}

/// Gives every pair its weight.
fn weigh(choices: &mut Choices<'_>, amount: impl Fn(u32, u32) -> f64) -> Weighing {
    let amounts: Vec<f64> =
        choices.pairs().map(|pair| amount(pair.source, pair.destination)).collect();
    let some = || amounts.iter().copied().filter(|&amount| amount > 0.0);
    let (least, all) = (some().fold(f64::INFINITY, f64::min), some().sum::<f64>());
    let is_multiple = |amount: f64| {
        let times = amount / least;
        (times - times.round()).abs() <= 1e-6 * times
    };
    let unit = if all / least <= MOST && some().all(is_multiple) { least } else { all / MOST };
    choices.weigh(|pair| {
        let amount = amount(pair.source, pair.destination);
        if amount > 0.0 { rounded::<u32>(amount / unit).max(1) } else { 0 }
    });
    let weighed = choices.pairs().map(|pair| f64::from(pair.weight) * unit);
    let error = weighed.zip(&amounts).map(|(weighed, amount)| (weighed - amount).abs()).sum();
    Weighing { unit, error }
}

/// What the fullest channel carries.
fn fullest(choices: &Choices<'_>, table: &RouteTable, amount: impl Fn(u32, u32) -> f64) -> f64 {
    let fabric = choices.region().fabric();
    let mut loads = vec![0.0; fabric.channel_slots() as usize];
    for pair in choices.pairs() {
        let ends = (pair.source, pair.destination);
        let amount = amount(ends.0, ends.1);
        table.for_each_route(fabric, ends, |route, share| {
            route.for_each_channel(fabric, ends.0, |channel| {
                loads[channel as usize] += amount * share;
            });
        });
    }
    loads.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::angara::Freedoms;
    use crate::{Quality, Region, prove, test_fabric as fabric};

    fn of(sizes: &[u32], algorithm: &Algorithm, traffic: &[(u32, u32, f64)]) -> ForTraffic {
        let fabric = fabric(sizes, &[]);
        let mut choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let of = (&Parameters::default(), 1);
        let made = for_traffic(&mut choices, algorithm, of, traffic).unwrap();
        assert!(prove(&fabric, &made.made.table).holds());
        assert_eq!(Quality::new(choices.region(), &made.made.table).unrouted, 0);
        made
    }

    /// Tables for random traffic, dense and sparse, whole and not, are never worse on it than the
    /// general one, and never below the bound.
    #[test]
    fn a_table_for_a_traffic_is_never_worse_on_it_nor_below_its_bound() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut better = 0;
        for case in 0..12 {
            let sizes: &[u32] = [&[4, 4][..], &[4, 2, 2], &[5, 3], &[6]][case % 4];
            let nodes = sizes.iter().product::<u32>();
            let share = [1.0, 0.5, 0.1][case % 3];
            let mut traffic = vec![(0, 1, 1.0)];
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                if from != to && random.random_bool(share) {
                    let whole = f64::from(random.random_range(1..9));
                    traffic.push((from, to, if case % 2 == 0 { whole } else { random.random() }));
                }
            }
            let made = of(sizes, &Algorithm::BALANCED, &traffic);
            assert!(made.load <= made.general_load, "{case}: {made:?}");
            let least = made.least_load.unwrap();
            assert!(least <= made.load + 1e-12, "{case}: {made:?}");
            // Rounding takes next to nothing of the bound.
            assert!(least > 0.5 * made.load, "{case}: {made:?}");
            better += u32::from(made.load < made.general_load * 0.99);
        }
        assert!(better > 6, "{better}");
    }

    #[test]
    fn closed_forms() {
        // All pairs alike: the general table.
        let all = |nodes: u32| {
            let pairs = (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to, 2.5)));
            pairs.filter(|it| it.0 != it.1).collect::<Vec<_>>()
        };
        let made = of(&[4, 4], &Algorithm::EXACT, &all(16));
        assert_eq!((made.load, made.general_load), (8.0 / 240.0, 8.0 / 240.0));
        // Two messages of a ring's node half round: one either way is 1/2; one pair alone has all.
        let made = of(&[4], &Algorithm::EXACT, &[(0, 2, 7.0), (1, 2, 7.0)]);
        assert_eq!((made.load, made.least_load), (0.5, Some(0.5)));
        // Of amounts that are no multiples of the least the bound stays below what is reached.
        let odd = [(0, 1, 1.0), (1, 2, std::f64::consts::SQRT_2)];
        let made = of(&[4], &Algorithm::EXACT, &odd);
        let least = made.least_load.unwrap();
        assert!(least < made.load && made.load - least < 1e-6, "{made:?}");
        let made = of(&[4, 4], &Algorithm::EXACT, &[(0, 2, 3.0)]);
        assert_eq!((made.load, made.least_load), (1.0, Some(1.0)));
        // Twice as much from one as from the other: no channel need carry both.
        let made = of(&[4, 4], &Algorithm::EXACT, &[(0, 10, 2.0), (1, 10, 1.0)]);
        assert!((made.load - 2.0 / 3.0).abs() < 1e-12, "{made:?}");
    }
}
