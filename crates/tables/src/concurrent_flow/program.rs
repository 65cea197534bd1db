//! The linear program of the best lengths, row by row (cutting planes), and that of the best
//! split.
//!
//! Both have as few rows as were needed: answers to lengths (for the split, Dantzig and Wolfe's
//! columns). The simplex method is that of `microlp`. Nothing is believed of it: lengths are tried
//! as any others, and the loads of its split are added up.
//!
//! Where fabric and traffic look alike from many channels, so do all answers: channels on which
//! these put the same are given one length, and then few lengths are left to be found.

use std::collections::BTreeMap;

use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, Solution, Variable};

use super::{Problem, Search};
use flitlab_base::narrow::narrow;

/// Most rounds, each of which adds an answer.
const MAX_ROUNDS: u32 = 60;

/// Most classes of channels with which it is tried.
const MAX_CLASSES: usize = 100;

/// A destination and a channel cost so many hops' time in the program that tells destinations
/// apart.
const HOPS_OF_SIZE: u64 = 3_000;

const UNLIMITED: (f64, f64) = (0.0, f64::INFINITY);

fn solved(program: &Program) -> Option<Solution> {
    program.solve().ok()?.into_solution().ok()
}

impl Search<'_, '_> {
    /// By channel: the class of those with its capacity on which all answers put as much; and the
    /// capacities of all channels of each class. Vacant channels are in none.
    fn classes(&self) -> (Vec<Option<usize>>, Vec<f64>) {
        // Equal but for rounding.
        let key = |load: f64| (load * 1e9).round().to_bits();
        let mut keys: Vec<Vec<u64>> =
            self.problem.capacities.iter().map(|capacity| vec![capacity.to_bits()]).collect();
        for row in &self.rows {
            let total = row.total(keys.len());
            keys.iter_mut().zip(total).for_each(|(keys, load)| keys.push(key(load)));
        }
        let (mut numbers, mut capacities) = (BTreeMap::new(), Vec::new());
        let of = |(keys, &capacity): (Vec<u64>, &f64)| {
            let next = numbers.len();
            let class = *(capacity > 0.0).then(|| numbers.entry(keys).or_insert(next))?;
            capacities.resize(capacities.len().max(class + 1), 0.0);
            capacities[class] += capacity;
            Some(class)
        };
        let classes = keys.into_iter().zip(self.problem.capacities).map(of).collect();
        (classes, capacities)
    }

    /// Looks for lengths by class. Returns the hops that were looked at.
    pub(super) fn solve_by_class(&mut self, work: u64) -> u64 {
        let mut done = 0;
        for _ in 0..MAX_ROUNDS {
            let (classes, capacities) = self.classes();
            if self.is_over() || capacities.len() > MAX_CLASSES || done > work {
                break;
            }
            let mut program = Program::new(OptimizationDirection::Maximize);
            let weights: Vec<Variable> =
                capacities.iter().map(|_| program.add_var(0.0, UNLIMITED)).collect();
            let value = program.add_var(1.0, UNLIMITED);
            let carried: Vec<_> = weights.iter().copied().zip(capacities).collect();
            program.add_constraint(carried, ComparisonOp::Le, 1.0);
            for row in &self.rows {
                let mut loads = vec![0.0; weights.len()];
                for (class, load) in classes.iter().zip(row.total(classes.len())) {
                    class.iter().for_each(|&class| loads[class] += load);
                }
                let costs = weights.iter().zip(loads).map(|(&weight, load)| (weight, -load));
                let costs: Vec<_> = costs.chain([(value, 1.0)]).collect();
                program.add_constraint(costs, ComparisonOp::Le, 0.0);
            }
            let Some(solution) = solved(&program) else { break };
            let weight = |class: &Option<usize>| {
                class.map_or(0.0, |class| solution.var_value(weights[class]))
            };
            let highest = solution.objective();
            done += self.step(&classes.iter().map(weight).collect::<Vec<_>>()).1;
            self.split_by_class();
            let bound = self.best.as_ref().map_or(f64::INFINITY, |best| best.1);
            if bound * highest <= 1.0 + 1e-9 && self.classes().1.len() == weights.len() {
                break;
            }
        }
        done
    }

    /// Looks for the best mixture of all answers as a whole.
    fn split_by_class(&mut self) {
        let (classes, capacities) = self.classes();
        let mut program = Program::new(OptimizationDirection::Minimize);
        let most = program.add_var(1.0, UNLIMITED);
        let shares: Vec<Variable> =
            self.rows.iter().map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
        let all: Vec<_> = shares.iter().map(|&share| (share, 1.0)).collect();
        program.add_constraint(all, ComparisonOp::Eq, 1.0);
        let totals: Vec<Vec<f64>> = self.rows.iter().map(|it| it.total(classes.len())).collect();
        let mut is_done = vec![false; capacities.len()];
        for (channel, class) in classes.iter().enumerate() {
            let Some(class) = *class else { continue };
            if std::mem::replace(&mut is_done[class], true) {
                continue;
            }
            let loads = shares.iter().zip(&totals).map(|(&share, total)| (share, total[channel]));
            let capacity = self.problem.capacities[channel];
            let loads: Vec<_> = loads.chain([(most, -capacity)]).collect();
            program.add_constraint(loads, ComparisonOp::Le, 0.0);
        }
        let Some(solution) = solved(&program) else { return };
        let parts: Vec<f64> = shares.iter().map(|&it| solution.var_value(it).max(0.0)).collect();
        let all: f64 = parts.iter().sum();
        let mut loads = vec![0.0; classes.len()];
        for (part, total) in parts.iter().zip(&totals) {
            loads.iter_mut().zip(total).for_each(|(load, more)| *load += part / all * more);
        }
        self.reach(1.0 / self.problem.fullest(&loads));
    }

    /// Looks for lengths of all channels, with a row for each destination in each round, if the
    /// fabric is so small that `work` allows it.
    pub(super) fn solve_by_destination(&mut self, work: u64) {
        let Problem { demands, capacities, .. } = self.problem;
        let channels = capacities.iter().filter(|&&capacity| capacity > 0.0).count();
        if (demands.towards.len() * channels) as u64 * HOPS_OF_SIZE > work {
            return;
        }
        let mut program = Program::new(OptimizationDirection::Maximize);
        let weights: Vec<Option<Variable>> = capacities
            .iter()
            .map(|&capacity| (capacity > 0.0).then(|| program.add_var(0.0, UNLIMITED)))
            .collect();
        let values: Vec<Variable> =
            demands.towards.iter().map(|_| program.add_var(1.0, UNLIMITED)).collect();
        let carried = weights.iter().zip(*capacities);
        let carried: Vec<_> =
            carried.filter_map(|(&weight, &capacity)| Some((weight?, capacity))).collect();
        program.add_constraint(carried, ComparisonOp::Le, 1.0);
        // The value of a destination is at most what each answer costs.
        let row = |value: Variable, loads: &[(u32, f64)]| -> Vec<(Variable, f64)> {
            let weight = |channel: u32| weights[channel as usize].expect("it carries something");
            let costs = loads.iter().map(|&(channel, load)| (weight(channel), -load));
            costs.chain([(value, 1.0)]).collect()
        };
        for response in &self.rows {
            for (&value, loads) in values.iter().zip(&response.loads) {
                program.add_constraint(row(value, loads), ComparisonOp::Le, 0.0);
            }
        }
        let Some(mut solution) = solved(&program) else { return };
        for _ in 0..MAX_ROUNDS {
            let highest = solution.objective();
            let weight = |it: &Option<Variable>| it.map_or(0.0, |it| solution.var_value(it));
            let found: Vec<f64> = weights.iter().map(weight).collect();
            self.step(&found);
            let bound = self.best.as_ref().map_or(f64::INFINITY, |best| best.1);
            // No lengths prove more than the program's, and these prove as much.
            if bound * highest <= 1.0 + 1e-9 {
                break;
            }
            let mut next = Some(solution.clone());
            let response = self.rows.last().expect("a step adds one");
            for (&value, loads) in values.iter().zip(&response.loads) {
                let cost = |&(channel, load): &(u32, f64)| found[narrow::<usize>(channel)] * load;
                // Rows that hold already change nothing.
                if solution.var_value(value) > loads.iter().map(cost).sum::<f64>() * (1.0 + 1e-9) {
                    next = next
                        .and_then(|it| {
                            it.add_constraint(row(value, loads), ComparisonOp::Le, 0.0).ok()
                        })
                        .and_then(|outcome| outcome.into_solution().ok());
                }
            }
            let Some(next) = next else { break };
            solution = next;
        }
        self.split_by_destination();
    }

    /// Looks for the best mixture of all answers, destination by destination.
    fn split_by_destination(&mut self) {
        let mut program = Program::new(OptimizationDirection::Minimize);
        let most = program.add_var(1.0, UNLIMITED);
        let problem = self.problem;
        let mut rows: Vec<Vec<(Variable, f64)>> =
            problem.capacities.iter().map(|&capacity| vec![(most, -capacity)]).collect();
        let mut shares = Vec::new();
        for destination in 0..problem.demands.towards.len() {
            let own: Vec<Variable> =
                self.rows.iter().map(|_| program.add_var(0.0, (0.0, 1.0))).collect();
            for (&share, response) in own.iter().zip(&self.rows) {
                for &(channel, load) in &response.loads[destination] {
                    rows[channel as usize].push((share, load));
                }
            }
            let all: Vec<_> = own.iter().map(|&share| (share, 1.0)).collect();
            program.add_constraint(all, ComparisonOp::Eq, 1.0);
            shares.push(own);
        }
        for (row, _) in rows.into_iter().zip(problem.capacities).filter(|it| *it.1 > 0.0) {
            program.add_constraint(row, ComparisonOp::Le, 0.0);
        }
        let Some(solution) = solved(&program) else { return };
        let mut loads = vec![0.0; problem.capacities.len()];
        for (destination, own) in shares.iter().enumerate() {
            let parts: Vec<f64> = own.iter().map(|&it| solution.var_value(it).max(0.0)).collect();
            let all: f64 = parts.iter().sum();
            for (part, response) in parts.iter().zip(&self.rows) {
                for &(channel, load) in &response.loads[destination] {
                    loads[channel as usize] += part / all * load;
                }
            }
        }
        self.reach(1.0 / problem.fullest(&loads));
    }
}
