//! How much of a traffic the channels of a fabric carry, by the ways that its packets may take.
//!
//! The traffic is given in flits a flit time at load 1. At load x all of it flows x times as much:
//! the highest x is the *maximum concurrent flow* (\[shahrokhi-matula\]). It is found with its
//! proof, as in `load_bound`: give each channel a length. At load x the shortest ways of all
//! packets are together x times V long, and no longer than all that channels carry, each flit as
//! long as its channel: C. So x is at most C / V, for any lengths.
//!
//! Ways are those of a [relation](Ways::Of), by way of what a packet draws where the rule says so,
//! or [any](Ways::Any). [`Problem::evenly`] gives the load if packets with several ways share them
//! alike, port by port. [`Problem::best`] looks for the best split, by steps:
//!
//! 1. ways shared alike, and lengths by where these are fullest: where no packet has a choice, and
//!    in many symmetrical cases, that is the proof already;
//! 2. a linear program of the lengths with a row for each answer so far (cutting planes,
//!    \[kelley\]), in which channels that look alike have one length;
//! 3. multiplicative updates of the lengths (\[young\]), as in `load_bound`;
//! 4. on small fabrics the program of all lengths, with a row for each destination and answer.
//!
//! Nothing is believed of floating-point search: the bound is C / V of whole lengths, and what is
//! reached is counted channel by channel.

mod program;
mod proof;
#[cfg(test)]
mod tests;
mod walk;

use rayon::prelude::*;
use std::collections::BTreeMap;

use flitlab_base::narrow::rounded;
use flitlab_fabric::Fabric;
use flitlab_routing::phased::PhasedRule;
use flitlab_routing::relation::Relation;
use walk::{Split, Walk};

/// The traffic between routers, in flits a flit time of `link.rate` at load 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demands {
    /// By destination: the sources with what they send there.
    towards: Vec<(u32, Vec<(u32, f64)>)>,
}

impl Demands {
    /// The traffic of pairs of routers, source first. Pairs may come several times; traffic within
    /// a router, and none, is left out.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32, f64)>) -> Self {
        let mut amounts = BTreeMap::new();
        for (source, destination, amount) in pairs {
            if source != destination && amount > 0.0 {
                *amounts.entry((destination, source)).or_insert(0.0) += amount;
            }
        }
        let mut towards: Vec<(u32, Vec<(u32, f64)>)> = Vec::new();
        for ((destination, source), amount) in amounts {
            match towards.last_mut() {
                Some((last, sources)) if *last == destination => sources.push((source, amount)),
                _ => towards.push((destination, vec![(source, amount)])),
            }
        }
        Self { towards }
    }

    /// Number of pairs that send.
    pub fn pairs(&self) -> usize {
        self.towards.iter().map(|(_, sources)| sources.len()).sum()
    }
}

/// The ways among which traffic may be split.
#[derive(Clone, Copy, Debug)]
pub enum Ways<'a> {
    /// All that there are.
    Any,
    /// Those of a rule with phases, which decides nothing on the way, or of a relation without
    /// phases. Fallbacks don't count.
    Of(&'a Relation, Option<&'a dyn PhasedRule>),
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// What is sent.
    pub demands: &'a Demands,
    /// By channel: the flits that it carries in a flit time of `link.rate`; 0 for vacant ones.
    pub capacities: &'a [f64],
    /// How it may go.
    pub ways: Ways<'a>,
    /// A load that something else bounds it by; whether more is reached does not matter.
    pub enough: f64,
}

/// The highest load that ways carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// A load that they carry by a split that was found; infinite if no channel carries anything.
    pub reached: f64,
    /// A load that no split exceeds.
    pub bound: f64,
    /// The lengths that prove the bound, by channel.
    pub lengths: Vec<u64>,
}

/// What packets do for given lengths.
struct Response {
    /// By destination: the lengths of all ways, times what takes them.
    values: Vec<f64>,
    /// By destination: the flits on each channel that has some.
    loads: Vec<Vec<(u32, f64)>>,
    /// Hops that were looked at.
    work: u64,
}

impl Response {
    /// Flits on each channel.
    fn total(&self, channels: usize) -> Vec<f64> {
        let mut total = vec![0.0; channels];
        for &(channel, load) in self.loads.iter().flatten() {
            total[channel as usize] += load;
        }
        total
    }
}

/// Calls `each` with source, destination and channels of the ways between each two of some routers,
/// and with the share of the packets on each if ways are shared alike.
pub(crate) fn for_each_share(
    fabric: &Fabric,
    ways: Ways<'_>,
    (sources, destinations): (&[u32], &[u32]),
    mut each: impl FnMut(u32, u32, u32, f64),
) {
    let demands = Demands::default();
    let capacities = vec![0.0; fabric.channel_slots() as usize];
    let enough = 0.0;
    let problem = Problem { fabric, demands: &demands, capacities: &capacities, ways, enough };
    let mut walk = Walk::new(&problem, Split::Alike);
    for &source in sources {
        for &destination in destinations.iter().filter(|&&it| it != source) {
            for (channel, share) in walk.towards(destination, &[(source, 1.0)]).1 {
                each(source, destination, channel, share);
            }
        }
    }
}

/// The length of the longest channel.
const LONGEST: f64 = (1_u64 << 40) as f64;

/// Bounds are this much higher than what sums of rounded numbers say.
const ROUNDING: f64 = 1.0 + 1e-12;

/// Most steps of multiplicative updates.
const MAX_STEPS: u32 = 400;

/// Parts in which destinations are looked at in parallel; fixed, so that sums do not depend on the
/// threads.
const PARTS: usize = 16;

impl Problem<'_> {
    /// The highest load if packets with several ways share them alike. Packets that draw by way of
    /// what they go draw as the rule says.
    ///
    /// # Panics
    /// If any ways may be taken: packets can't share them alike.
    pub fn evenly(&self) -> f64 {
        assert!(matches!(self.ways, Ways::Of(..)), "ways without end have no even shares");
        1.0 / self.fullest(&self.respond(Split::Alike).total(self.capacities.len()))
    }

    /// About how many hops are looked at in a step.
    pub fn work_of_step(&self) -> u64 {
        let Ways::Of(relation, Some(rule)) = self.ways else {
            let channels = self.capacities.len() as u64;
            return self.demands.towards.len() as u64 * channels;
        };
        let mut courses = 0;
        for (destination, sources) in &self.demands.towards {
            for &(source, _) in sources {
                rule.for_each_course((source, *destination), &mut |_, _| courses += 1);
            }
        }
        courses * u64::from(relation.longest())
    }

    /// The highest load by the best split, as far as `work` allows: so many hops are looked at, more
    /// or less, and at least those of a step or two.
    pub fn best(&self, work: u64) -> Carried {
        let channels = self.capacities.len();
        let mut search = Search { problem: self, best: None, reached: 0.0, rows: Vec::new() };
        if self.demands.towards.is_empty() {
            let lengths = vec![0; channels];
            return Carried { reached: f64::INFINITY, bound: f64::INFINITY, lengths };
        }
        let existing: Vec<f64> =
            self.capacities.iter().map(|&it| f64::from(u8::from(it > 0.0))).collect();
        let mut done = 0;
        let first = match self.ways {
            Ways::Any => {
                let (loads, work) = search.step(&existing);
                done += work;
                loads
            }
            Ways::Of(..) => {
                let evenly = self.respond(Split::Alike);
                let total = evenly.total(channels);
                search.reach(1.0 / self.fullest(&total));
                done += evenly.work;
                search.rows.push(evenly);
                total
            }
        };
        let most = self.fullest(&first);
        let is_full = |(load, capacity): (&f64, &f64)| *load >= most * capacity * (1.0 - 1e-9);
        let full = first.iter().zip(self.capacities).map(is_full).zip(&existing);
        let full: Vec<f64> =
            full.map(|(full, exists)| f64::from(u8::from(full)) * exists).collect();
        for start in [full, existing] {
            if !search.is_over() {
                done += search.step(&start).1;
            }
        }
        if !search.is_over() {
            done += search.solve_by_class((work / 2).saturating_sub(done));
        }
        search.update(work.saturating_sub(done));
        if !search.is_over() {
            search.solve_by_destination(work);
        }
        search.found()
    }

    /// The load of the fullest channel, relative to what it carries.
    fn fullest(&self, loads: &[f64]) -> f64 {
        let full = loads.iter().zip(self.capacities).filter(|(load, _)| **load > 0.0);
        full.map(|(load, capacity)| load / capacity).fold(0.0, f64::max)
    }

    /// The load that lengths prove to be a bound; infinite if they prove nothing.
    fn bound(&self, lengths: &[u64], values: &[f64]) -> f64 {
        let carry = lengths.iter().zip(self.capacities).map(|(&it, capacity)| it as f64 * capacity);
        carry.sum::<f64>() / values.iter().sum::<f64>() * ROUNDING
    }

    /// What packets do, destination by destination.
    fn respond(&self, split: Split<'_>) -> Response {
        let towards = &self.demands.towards;
        let part = towards.len().div_ceil(PARTS).max(1);
        let parts: Vec<Response> = towards
            .par_chunks(part)
            .map(|destinations| {
                let mut walk = Walk::new(self, split);
                let mut found = Response { values: Vec::new(), loads: Vec::new(), work: 0 };
                for (destination, sources) in destinations {
                    let (value, loads) = walk.towards(*destination, sources);
                    found.values.push(value);
                    found.loads.push(loads);
                }
                found.work = walk.work();
                found
            })
            .collect();
        let mut all = Response { values: Vec::new(), loads: Vec::new(), work: 0 };
        for part in parts {
            all.values.extend(part.values);
            all.loads.extend(part.loads);
            all.work += part.work;
        }
        all
    }
}

/// The search for a split and for lengths.
struct Search<'a, 'p> {
    problem: &'a Problem<'p>,
    /// The lengths that prove most, and their bound.
    best: Option<(Vec<u64>, f64)>,
    reached: f64,
    /// Answers to lengths, each of which is a split.
    rows: Vec<Response>,
}

impl Search<'_, '_> {
    /// Tries lengths in proportion to weights, and the split by their shortest ways; gives its
    /// loads, and the hops that were looked at.
    fn step(&mut self, weights: &[f64]) -> (Vec<f64>, u64) {
        let most = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // None is 0, so that of ways as long those with the fewest hops are taken.
        let length = |weight: &f64| rounded::<u64>(weight.max(0.0) / most * LONGEST).max(1);
        let lengths: Vec<u64> = weights.iter().map(length).collect();
        let response = self.problem.respond(Split::Shortest(&lengths));
        let bound = self.problem.bound(&lengths, &response.values);
        if bound.is_finite() && self.best.as_ref().is_none_or(|best| bound < best.1) {
            self.best = Some((lengths, bound));
        }
        let (loads, work) = (response.total(weights.len()), response.work);
        self.reach(1.0 / self.problem.fullest(&loads));
        self.rows.push(response);
        (loads, work)
    }

    /// Updates lengths step by step, as far as `work` allows.
    fn update(&mut self, work: u64) {
        let capacities = self.problem.capacities;
        let mut average = vec![0.0; capacities.len()];
        let mut exponents = vec![0.0; capacities.len()];
        let mut done = 0;
        for step in 0..MAX_STEPS {
            if self.is_over() || done > work {
                break;
            }
            let highest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weight = |(exponent, &capacity): (&f64, &f64)| {
                if capacity > 0.0 { libm::exp(exponent - highest) } else { 0.0 }
            };
            let weights: Vec<f64> = exponents.iter().zip(capacities).map(weight).collect();
            let (loads, more) = self.step(&weights);
            done += more;
            average.iter_mut().zip(&loads).for_each(|(sum, load)| *sum += load);
            let steps = f64::from(step) + 1.0;
            self.reach(steps / self.problem.fullest(&average));
            let value = 1.0 / self.best.as_ref().expect("a step").1;
            let (most, pace) =
                (self.problem.fullest(&loads), 2.0 / (1.0 + f64::from(step) / 8.0).sqrt());
            for ((exponent, load), &capacity) in exponents.iter_mut().zip(&loads).zip(capacities) {
                *exponent += pace * (load / capacity.max(f64::MIN_POSITIVE) - value) / most;
            }
            self.rows.pop();
        }
    }

    fn reach(&mut self, load: f64) {
        self.reached = self.reached.max(load);
    }

    /// Whether there is nothing left to look for.
    fn is_over(&self) -> bool {
        let is_proved = |best: &(Vec<u64>, f64)| best.1 <= self.reached * (1.0 + 1e-9);
        self.best
            .as_ref()
            .is_some_and(|best| is_proved(best) || self.reached >= self.problem.enough)
    }

    fn found(self) -> Carried {
        let (lengths, bound) = self.best.expect("equal lengths prove something");
        // What is reached can be above the bound by rounding alone.
        let carried = Carried { reached: self.reached.min(bound), bound, lengths };
        debug_assert!(carried.is_proved(self.problem), "{bound} is no bound");
        carried
    }
}
