//! How much the workloads of a scenario slow each other: each that ends is simulated alone as well,
//! or beside each one of the others. The network is the same; what the others send is gone.

use super::outcome::Outcome;
use super::setup::Simulation;
use crate::Scenario;
use crate::workload::Slowdowns;
use flitlab_base::units::Picoseconds;
use flitlab_measure::Progress;
use flitlab_report::{SlowdownRow, Status, WorkloadRow};

/// A workload's completion time alone, by its place; `None` of loads.
type Times = Vec<Option<Picoseconds>>;

impl Simulation {
    /// The places of the workloads of each further simulation, ascending. Two workloads have been
    /// simulated beside each other when all have been.
    pub fn further(&self) -> Vec<Vec<usize>> {
        let all = self.bound.len();
        let ends = |place: usize| self.bound[place].is_finite;
        let told = self.scenario().workload.slowdowns;
        let alone = (0..all).filter(|&place| told != Slowdowns::Untold && ends(place));
        let pairs = (0..all).flat_map(|one| (one + 1..all).map(move |other| [one, other]));
        let pairs = pairs.filter(|_| told == Slowdowns::Pairs && all > 2);
        let pairs = pairs.filter(|pair| pair.iter().any(|&place| ends(place)));
        alone.map(|place| vec![place]).chain(pairs.map(Vec::from)).collect()
    }

    /// Adds to a completed simulation of all workloads what each would have taken alone, and beside
    /// each one of the others. What is simulated for that counts as work of this simulation.
    pub(super) fn tell_slowdowns(&self, outcome: &mut Outcome, progress: &mut dyn FnMut(Progress)) {
        if outcome.found.measured.status != Status::Completed {
            return;
        }
        let rows = &outcome.found.workloads;
        let together: Times = rows.iter().map(|row| row.measured.completion_time).collect();
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let mut alone: Times = vec![None; together.len()];
        // Those who slow, by the place of the slowed one.
        let mut beside: Vec<(usize, usize, Option<Picoseconds>)> = Vec::new();
        for members in self.further() {
            match self.times_of(&members, outcome, progress) {
                Ok(times) => match (&members[..], &times[..]) {
                    (&[place], &[time]) => alone[place] = time,
                    (&[one, other], &[first, second]) => {
                        beside.extend([(one, other, first), (other, one, second)]);
                    }
                    _ => unreachable!("one or two are simulated"),
                },
                Err(reason) => outcome.found.warnings.push(format!(
                    "slowdowns are not told: {} {reason}",
                    members.iter().map(|&it| &*names[it]).collect::<Vec<_>>().join(" beside ")
                )),
            }
        }
        if let ([first, second], Slowdowns::Pairs) =
            (&together[..], self.scenario().workload.slowdowns)
        {
            beside.extend([(0, 1, *first), (1, 0, *second)]);
        }
        beside.sort_unstable();
        for (row, alone) in outcome.found.workloads.iter_mut().zip(&alone) {
            row.alone = *alone;
            row.slowdown = row.measured.completion_time.and_then(|time| over(time, *alone));
        }
        let row = |(slowed, by, time): (usize, usize, Option<Picoseconds>)| {
            let completion = time?;
            let slowdown = over(completion, alone[slowed])?;
            let (workload, beside) = (names[slowed].clone(), names[by].clone());
            Some(SlowdownRow { workload, beside, completion, slowdown })
        };
        outcome.found.slowdowns = beside.into_iter().filter_map(row).collect();
    }

    /// The completion times of some of the workloads, without the others.
    ///
    /// # Errors
    /// Why there are none.
    fn times_of(
        &self,
        members: &[usize],
        outcome: &mut Outcome,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Times, String> {
        let all = self.scenario();
        let scenario = Scenario { workload: all.workload.only_those(members), ..all.clone() };
        let simulation = Self::new(&scenario).map_err(|error| error.to_string())?;
        let Outcome { found, work, .. } = simulation.on_threads(self.threads()).run(progress);
        outcome.work.add(&work);
        match found.measured.status {
            Status::Completed => {
                let time = |row: &WorkloadRow| row.measured.completion_time;
                Ok(found.workloads.iter().map(time).collect())
            }
            status => Err(format!("is {}", status.name())),
        }
    }
}

/// How many times as long something took.
fn over(time: Picoseconds, alone: Option<Picoseconds>) -> Option<f64> {
    let alone = alone.filter(|&alone| alone > Picoseconds::ZERO)?;
    Some(time.0 as f64 / alone.0 as f64)
}
