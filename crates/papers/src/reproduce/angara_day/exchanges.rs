//! All-to-all exchanges of jobs that run at one time: each alone, and all at once.

use super::super::Extent;
use super::super::Flawed;
use super::machine::{ALGORITHM, Rule, Started, least_load};
use flitlab_base::narrow::rounded;
use flitlab_fabric::Torus;
use flitlab_report::WorkloadRow;
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};

/// About how long the exchange of every job takes on the nodes that an empty machine would give it, so
/// that jobs of all sizes send all the time; and of how many bytes its messages are multiples.
const ABOUT_US: f64 = 100.0;
const UNIT_BYTES: u64 = 4 << 10;

/// The exchange of a job, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanged {
    pub message_bytes: u64,
    /// On the nodes that the machine would give the job if it were empty, by the first rule.
    pub at_best: f64,
    /// On its own nodes, without the others.
    pub alone: f64,
    /// Beside the others.
    pub together: f64,
}

/// Simulates the exchanges of jobs that a rule has placed, each of two nodes or more; of a rule with a
/// common table these are at most as many as a scenario has workloads.
pub(super) fn exchanges(
    torus: &Torus,
    rule: Rule,
    jobs: &[&Started],
    extent: Extent<'_>,
) -> Result<Vec<Exchanged>, Flawed> {
    let sizes = jobs.iter().map(|job| at_best(torus, job.nodes.len(), extent));
    let sizes: Vec<(u64, f64)> = sizes.collect::<Result<_, _>>()?;
    let times: Vec<(f64, f64)> = if rule.own_table {
        // Jobs share nothing: each has its own nodes, with all of their cables.
        let alone = |(job, size): (&&Started, &(u64, f64))| {
            let time = in_own_network(torus, &job.nodes, size.0, extent);
            (time, time)
        };
        jobs.iter().zip(&sizes).map(alone).collect()
    } else {
        in_common_network(torus, jobs, &sizes, extent)
    };
    let of = |((message_bytes, at_best), (alone, together))| Exchanged {
        message_bytes,
        at_best,
        alone,
        together,
    };
    Ok(sizes.into_iter().zip(times).map(of).collect())
}

/// The bytes of a message of a job of so many nodes, and how long its exchange takes at best.
fn at_best(torus: &Torus, count: usize, extent: Extent<'_>) -> Result<(u64, f64), Flawed> {
    let all: Vec<u32> = (0..torus.nodes()).collect();
    let of = format!("{count} nodes of {:?} with the least load by {ALGORITHM:?}", torus.sizes());
    let nodes = extent.simulated(&of, || least_load(torus, &all, count))?;
    let nodes = nodes.expect("an empty torus has routes for any number of nodes");
    let unit = in_own_network(torus, &nodes, UNIT_BYTES, extent);
    let bytes = UNIT_BYTES * rounded::<u64>(ABOUT_US / unit).max(1);
    Ok((bytes, in_own_network(torus, &nodes, bytes, extent)))
}

fn in_own_network(torus: &Torus, nodes: &[u32], bytes: u64, extent: Extent<'_>) -> f64 {
    let scenario = format!(
        "[topology.torus]\ndimensions = {:?}\nnode_set = {{ list = {{ members = {nodes:?} }} }}\n\
         [routing.angara]\nalgorithm = \"{}\"\n[exchange]\npattern = \"all-to-all\"\n\
         message = \"{bytes} B\"\n",
        torus.sizes(),
        ALGORITHM.name
    );
    extent.simulated(&scenario, || {
        let simulation = Simulation::new(&read(&scenario)).expect("the nodes can be routed");
        let time = simulation.run(&mut |_| {}).found.measured.completion_time;
        time.expect("it comes to its end").0 as f64 / 1e6
    })
}

/// Alone and together.
fn in_common_network(
    torus: &Torus,
    jobs: &[&Started],
    sizes: &[(u64, f64)],
    extent: Extent<'_>,
) -> Vec<(f64, f64)> {
    if jobs.is_empty() {
        return Vec::new();
    }
    // A single job has nobody beside it that could slow it.
    let slowdowns = if jobs.len() > 1 { "[measure]\nslowdowns = \"alone\"\n" } else { "" };
    let mut scenario = format!(
        "[topology.torus]\ndimensions = {:?}\n[routing.angara]\nalgorithm = \"{}\"\n{slowdowns}",
        torus.sizes(),
        ALGORITHM.name
    );
    for (number, (job, (bytes, _))) in jobs.iter().zip(sizes).enumerate() {
        scenario += &format!(
            "[workloads.job{number}]\nnodes = {:?}\n[workloads.job{number}.exchange]\n\
             pattern = \"all-to-all\"\nmessage = \"{bytes} B\"\n",
            job.nodes
        );
    }
    extent.simulated(&scenario, || {
        let simulation = Simulation::new(&read(&scenario)).expect("the torus can be routed");
        let found = simulation.run(&mut |_| {}).found;
        let us = |time: Option<flitlab_base::units::Picoseconds>| {
            time.expect("it comes to its end").0 as f64 / 1e6
        };
        let times = |it: &WorkloadRow| {
            let together = us(it.measured.completion_time);
            (if jobs.len() > 1 { us(it.alone) } else { together }, together)
        };
        found.workloads.iter().map(times).collect()
    })
}

fn read(scenario: &str) -> Scenario {
    Scenario::read(&Document::parse("angara-day", scenario)).expect("a right scenario")
}

#[cfg(test)]
mod tests {
    use super::super::super::extent::SAMPLE;
    use super::super::machine::RULES;
    use super::*;

    #[test]
    fn a_job_that_runs_by_itself_is_not_slowed_and_no_job_is_no_exchange() {
        let torus = Torus::new(&[4, 2], &[]).unwrap();
        let job = |nodes| Started { request: 0, at: 0, refused: false, nodes, table: None };
        // Every second node of a ring of four: the two jobs meet on its channels.
        let (left, right) = (job(vec![0, 2, 4, 6]), job(vec![1, 3, 5, 7]));
        for rule in RULES.into_iter().filter(|rule| !rule.own_table) {
            let of = |jobs: &[&Started]| exchanges(&torus, rule, jobs, SAMPLE).unwrap();
            assert!(of(&[]).is_empty());
            let single = of(&[&left])[0];
            assert!(single.alone > 0.0 && single.together.total_cmp(&single.alone).is_eq());
            let both = of(&[&left, &right]);
            assert!(both.iter().all(|it| it.together > it.alone), "{both:?}");
        }
    }
}
