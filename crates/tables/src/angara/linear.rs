//! The linear program of the least maximum load, if pairs may be split over their routes, and its
//! dual: weights of the channels, whose quotient ([`LowerBound`]) is highest. Both have the same
//! value.
//!
//! Pairs with a single route are what channels carry from the start. The simplex method is that of
//! `microlp`. Nothing is believed of it: weights are evaluated anew, and shares are only hints
//! where to lead routes.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Solution, Variable};

use super::algorithm::NoTable;
use super::bound::LowerBound;
use super::{Choices, Pair, Selection};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Channel;

/// A solution is found within a minute or so if pairs with several routes have no more routes than
/// this.
pub(super) const MAX_ROUTES: u64 = 20_000;

/// The share of each of a pair's routes, by pair, for pairs with several.
pub(super) type Shares = Vec<Vec<f64>>;

/// The highest lower bound that weights can prove, but for rounding.
pub(super) fn highest_bound(
    choices: &Choices<'_>,
    algorithm: &'static str,
) -> Result<LowerBound, NoTable> {
    let program = Program::new(choices, algorithm)?;
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let unique = Selection::unique_routes(choices);
    let fixed = |channel: Channel| f64::from(unique.loads[channel as usize]);
    let unlimited = (0.0, f64::INFINITY);
    let weights: Vec<Variable> = program
        .channels
        .iter()
        .map(|&channel| problem.add_var(fixed(channel), unlimited))
        .collect();
    let total: Vec<_> = weights.iter().map(|&weight| (weight, 1.0)).collect();
    problem.add_constraint(total, ComparisonOp::Le, 1.0);
    for pair in program.open() {
        let lightest = problem.add_var(f64::from(pair.weight), (0.0, f64::INFINITY));
        for number in 0..pair.routes() {
            let channels = choices.channels(&pair, number);
            let route = channels.map(|it| (weights[program.place[it as usize]], -1.0));
            let row: Vec<_> = route.chain([(lightest, 1.0)]).collect();
            problem.add_constraint(row, ComparisonOp::Le, 0.0);
        }
    }
    let solution = program.solve(&problem)?;
    let mut found = vec![0.0; unique.loads.len()];
    for (&channel, &weight) in program.channels.iter().zip(&weights) {
        // Rounding errors below 0 become 0: no weight may be negative.
        found[channel as usize] = solution.var_value(weight).max(0.0);
    }
    Ok(LowerBound::of(choices, found))
}

/// How pairs are split over their routes where the maximum load is least.
pub(super) fn shares(choices: &Choices<'_>, algorithm: &'static str) -> Result<Shares, NoTable> {
    let program = Program::new(choices, algorithm)?;
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let unique = Selection::unique_routes(choices);
    let most = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut rows: Vec<_> = program.channels.iter().map(|_| vec![(most, -1.0)]).collect();
    let mut variables = Vec::new();
    for pair in program.open() {
        let own: Vec<_> = (0..pair.routes()).map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
        for (number, &share) in own.iter().enumerate() {
            for channel in choices.channels(&pair, number) {
                rows[program.place[channel as usize]].push((share, f64::from(pair.weight)));
            }
        }
        let all: Vec<_> = own.iter().map(|&share| (share, 1.0)).collect();
        problem.add_constraint(all, ComparisonOp::Eq, 1.0);
        variables.push(own);
    }
    for (&channel, row) in program.channels.iter().zip(rows) {
        let fixed = f64::from(unique.loads[channel as usize]);
        problem.add_constraint(row, ComparisonOp::Le, -fixed);
    }
    let solution = program.solve(&problem)?;
    let values = |own: &Vec<Variable>| own.iter().map(|&it| solution.var_value(it)).collect();
    Ok(variables.iter().map(values).collect())
}

/// The parts that both programs share.
struct Program<'c, 'f> {
    choices: &'c Choices<'f>,
    algorithm: &'static str,
    channels: Vec<Channel>,
    /// By channel, its place among them.
    place: Vec<usize>,
}

impl<'c, 'f> Program<'c, 'f> {
    fn new(choices: &'c Choices<'f>, algorithm: &'static str) -> Result<Self, NoTable> {
        let routes = choices.evaluations();
        if routes > MAX_ROUTES {
            return Err(NoTable::TooLarge { algorithm, routes, most: MAX_ROUTES });
        }
        let channels: Vec<Channel> = choices.region().channels().collect();
        let mut place = vec![usize::MAX; choices.region().fabric().channel_slots() as usize];
        for (number, &channel) in channels.iter().enumerate() {
            place[narrow::<usize>(channel)] = number;
        }
        Ok(Self { choices, algorithm, channels, place })
    }

    /// Pairs that have several routes, and traffic.
    fn open(&self) -> impl Iterator<Item = Pair> + use<'c, 'f> {
        self.choices.pairs().filter(Pair::is_open)
    }

    fn solve(&self, problem: &Problem) -> Result<Solution, NoTable> {
        let failed = |reason: String| NoTable::NotSolved { algorithm: self.algorithm, reason };
        let outcome = problem.solve().map_err(|error| failed(error.to_string()))?;
        outcome.into_solution().map_err(|_| failed("it was interrupted".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use crate::angara::{Freedoms, lower_bound};
    use crate::test_fabric as fabric;

    #[test]
    fn program_and_dual_have_the_same_value_and_no_weights_prove_more() {
        for (sizes, cables) in [
            (&[3, 3][..], &[][..]),
            (&[4, 2], &[(3, 0)]),
            (&[4, 3, 2], &[(5, 0)]),
            (&[4, 2, 2, 2], &[]),
        ] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            let dual = highest_bound(&choices, "exact").unwrap();
            let mut loads: Vec<f64> = Selection::unique_routes(&choices)
                .loads
                .iter()
                .map(|&load| f64::from(load))
                .collect();
            let open = choices.pairs().filter(|pair| pair.routes() > 1);
            for (pair, shares) in open.zip(shares(&choices, "sgr").unwrap()) {
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                for (number, share) in shares.iter().enumerate() {
                    for channel in choices.channels(&pair, number) {
                        loads[channel as usize] += share;
                    }
                }
            }
            let most = loads.iter().copied().fold(0.0, f64::max);
            assert!((most - dual.value).abs() < 1e-6, "{sizes:?}: {most} and {}", dual.value);
            let quick = lower_bound(&choices, &vec![0; loads.len()]);
            assert!(quick.value <= dual.value + 1e-9, "{sizes:?}");
        }
    }
}
