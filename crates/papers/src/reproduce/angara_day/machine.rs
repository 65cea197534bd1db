//! A machine in which jobs wait for nodes, and are given them by a rule.
//!
//! Jobs begin in the order in which they came. While the first that waits can't begin, a later one
//! may, if it does not delay the first (EASY backfilling, \[easy\]): it has ended by the time at which
//! enough nodes will be free, or leaves enough of them. How long jobs run is known.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::super::Flawed;
use super::super::tori::{SEED, table};
use super::requests::Request;
use flitlab_fabric::{Faults, Torus};
use flitlab_tables::Region;
use flitlab_tables::angara::{Algorithm, Choices, Freedoms, Job, Parameters, job_nodes};

/// The algorithm of all tables: the paper's.
pub(super) const ALGORITHM: flitlab_base::registry::Row<Algorithm> = Algorithm::SSSP;

/// How a job gets its nodes and its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub name: &'static str,
    /// Whether a job's routes stay among its nodes, in a table of its own; otherwise all jobs have the
    /// table of the whole torus, and any free nodes will do.
    pub own_table: bool,
    pub pick: Pick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// The nodes whose table has the least load on its fullest channel, as far as a search finds
    /// them ([`job_nodes`]).
    LeastLoad,
    /// The first free ones.
    First,
    Random,
}

pub(super) const RULES: [Rule; 3] = [
    Rule { name: "least load, own table", own_table: true, pick: Pick::LeastLoad },
    Rule { name: "first free, common table", own_table: false, pick: Pick::First },
    Rule { name: "random, common table", own_table: false, pick: Pick::Random },
];

/// A job that has been given its nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    /// The number of its request.
    pub request: usize,
    pub at: u64,
    /// Whether it waited at some time although enough nodes were free, as none of them could be routed
    /// among themselves.
    pub refused: bool,
    /// In ascending order.
    pub nodes: Vec<u32>,
    /// `None` of a job without a table of its own, or on a single node.
    pub table: Option<OwnTable>,
}

/// The figures of a job's own table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OwnTable {
    /// Routes on the fullest channel.
    pub fullest: f64,
    pub hops_mean: f64,
}

/// The nodes of a job, and its own table.
type Given = (Vec<u32>, Option<OwnTable>);

/// What became of all requests, in the order in which they began.
///
/// # Errors
/// If a table is wrong, or a job can't have its nodes although no other runs.
pub(super) fn run(torus: &Torus, rule: Rule, requests: &[Request]) -> Result<Vec<Started>, Flawed> {
    let mut machine = Machine {
        torus,
        rule,
        free: (0..torus.nodes()).collect(),
        running: Vec::new(),
        started: Vec::new(),
        refused: vec![false; requests.len()],
        random: ChaCha8Rng::seed_from_u64(SEED),
    };
    let mut waiting: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        let end = machine.running.first().map(|it| it.0);
        let submitted = requests.get(next).map(|it| it.submitted);
        let Some(now) = end.into_iter().chain(submitted).min() else { break };
        let frees = end == Some(now);
        machine.end(now);
        let first_new = waiting.len();
        while requests.get(next).is_some_and(|it| it.submitted == now) {
            waiting.push(next);
            next += 1;
        }
        // What did not begin before begins now only if nodes have got free since.
        machine.begin(now, &mut waiting, if frees { 0 } else { first_new }, requests)?;
    }
    if let Some(&left) = waiting.first() {
        let count = requests[left].nodes;
        return Err(format!("no {count} nodes of the empty machine have routes among themselves"));
    }
    Ok(machine.started)
}

struct Machine<'t> {
    torus: &'t Torus,
    rule: Rule,
    /// In ascending order.
    free: Vec<u32>,
    /// By their ends: the time, and the place among those that have started.
    running: Vec<(u64, usize)>,
    started: Vec<Started>,
    /// By request, as [`Started::refused`].
    refused: Vec<bool>,
    random: ChaCha8Rng,
}

impl Machine<'_> {
    /// Frees the nodes of jobs that end.
    fn end(&mut self, now: u64) {
        let ending = self.running.partition_point(|it| it.0 <= now);
        for (_, job) in self.running.drain(..ending) {
            self.free.extend(&self.started[job].nodes);
        }
        self.free.sort_unstable();
    }

    /// Begins the jobs that can, of those from place `untried` on in the queue.
    fn begin(
        &mut self,
        now: u64,
        waiting: &mut Vec<usize>,
        untried: usize,
        requests: &[Request],
    ) -> Result<(), Flawed> {
        let mut place = untried;
        // When the first that waits can have its nodes, and how many more will be free then.
        let mut reserved: Option<(u64, usize)> = None;
        while let Some(&number) = waiting.get(place) {
            let Request { nodes, runtime, .. } = requests[number];
            let count = nodes as usize;
            if place > 0 && reserved.is_none() {
                reserved = Some(self.reserved(requests[waiting[0]].nodes as usize));
            }
            let ends_before = reserved.is_none_or(|(time, _)| now + runtime <= time);
            let may = ends_before || reserved.is_some_and(|(_, spare)| count <= spare);
            if may && count <= self.free.len() && self.start(now, number, requests)? {
                if let (false, Some((_, spare))) = (ends_before, &mut reserved) {
                    *spare -= count;
                }
                waiting.remove(place);
            } else {
                place += 1;
            }
        }
        Ok(())
    }

    /// When so many nodes are free, if nothing else begins, and how many more than these. Nodes that
    /// are enough now and did not do wait for the next job to end; never if none runs.
    fn reserved(&self, count: usize) -> (u64, usize) {
        let mut free = self.free.len();
        for ending in self.running.chunk_by(|one, other| one.0 == other.0) {
            free += ending.iter().map(|it| self.started[it.1].nodes.len()).sum::<usize>();
            if free >= count {
                return (ending[0].0, free - count);
            }
        }
        (u64::MAX, 0)
    }

    /// Whether a job has been given nodes.
    fn start(&mut self, now: u64, request: usize, requests: &[Request]) -> Result<bool, Flawed> {
        let Request { nodes, runtime, .. } = requests[request];
        let Some((nodes, table)) = self.nodes(nodes as usize)? else {
            self.refused[request] = true;
            return Ok(false);
        };
        self.free.retain(|node| nodes.binary_search(node).is_err());
        let end = now + runtime;
        let place = self.running.partition_point(|it| it.0 <= end);
        self.running.insert(place, (end, self.started.len()));
        let refused = self.refused[request];
        self.started.push(Started { request, at: now, refused, nodes, table });
        Ok(true)
    }

    /// Nodes for a job, of which enough are free, by the rule.
    fn nodes(&mut self, count: usize) -> Result<Option<Given>, Flawed> {
        let nodes = match self.rule.pick {
            Pick::LeastLoad if count > 1 => match least_load(self.torus, &self.free, count)? {
                Some(nodes) => nodes,
                None => return Ok(None),
            },
            Pick::LeastLoad | Pick::First => self.free[..count].to_vec(),
            Pick::Random => {
                let mut free = self.free.clone();
                let mut nodes = free.partial_shuffle(&mut self.random, count).0.to_vec();
                nodes.sort_unstable();
                nodes
            }
        };
        if !self.rule.own_table || count == 1 {
            return Ok(Some((nodes, None)));
        }
        Ok(own_table(self.torus, &nodes)?.map(|table| (nodes, Some(table))))
    }
}

/// The nodes for a job of two or more whose table has the least load; `None` if none can be routed
/// among themselves.
pub(super) fn least_load(
    torus: &Torus,
    free: &[u32],
    count: usize,
) -> Result<Option<Vec<u32>>, Flawed> {
    let job = Job { torus, faults: &Faults::default(), free, count, seed: SEED };
    let found = job_nodes(&job, &ALGORITHM, &Parameters::default());
    Ok(found.map_err(|error| error.to_string())?.map(|found| found.best.nodes))
}

/// The proved table of routes among these nodes alone; `None` if two of them have none.
fn own_table(torus: &Torus, nodes: &[u32]) -> Result<Option<OwnTable>, Flawed> {
    let outside = (0..torus.nodes()).filter(|node| nodes.binary_search(node).is_err()).collect();
    // Nodes that do not hang together make no fabric.
    let Ok(fabric) = torus.fabric(&Faults { outside, ..Faults::default() }) else {
        return Ok(None);
    };
    let choices = Choices::new(Region::new(&fabric), Freedoms::default());
    if !choices.unroutable.is_empty() {
        return Ok(None);
    }
    let (_, quality, _) = table(&choices, ALGORITHM, &Parameters::default())?;
    Ok(Some(OwnTable { fullest: quality.load.maximum, hops_mean: quality.hops_mean }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn job(submitted: u64, nodes: u32, runtime: u64) -> Request {
        Request { submitted, nodes, runtime }
    }

    /// The begin of each job, by its number.
    fn begins(rule: Rule, sizes: &[u32], requests: &[Request]) -> Vec<u64> {
        let torus = Torus::new(sizes, &[]).unwrap();
        let mut started = run(&torus, rule, requests).unwrap();
        started.sort_by_key(|it| it.request);
        started.iter().map(|it| it.at).collect()
    }

    /// The second job waits for the first; the third fits in beside and ends in time, the fourth
    /// would delay the second, the fifth does not, as nodes are left over.
    #[test]
    fn later_jobs_go_before_the_first_that_waits_only_where_they_do_not_delay_it() {
        let requests =
            [job(0, 4, 100), job(1, 6, 50), job(2, 1, 98), job(3, 3, 98), job(4, 2, 1_000)];
        for rule in RULES.into_iter().filter(|rule| !rule.own_table) {
            assert_eq!(begins(rule, &[4, 2], &requests), [0, 100, 2, 150, 4], "{rule:?}");
        }
        // With tables of their own jobs may wait for longer, but not for ever.
        let begins = begins(RULES[0], &[4, 2], &requests);
        assert!(begins.iter().zip([0, 100, 2, 100, 4]).all(|(begin, least)| *begin >= least));
    }

    #[test]
    fn no_node_has_two_jobs_and_routes_stay_inside() {
        let torus = Torus::new(&[4, 4, 2], &[]).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let requests = super::super::requests::requests(32, 1, &mut random);
        for rule in RULES {
            let started = run(&torus, rule, &requests).unwrap();
            assert_eq!(started.len(), requests.len());
            let mut until = vec![0; 32];
            for it in &started {
                let request = requests[it.request];
                assert_eq!(it.nodes.len(), request.nodes as usize);
                assert!(
                    it.nodes.is_sorted_by(|one, other| one < other) && it.at >= request.submitted
                );
                for &node in &it.nodes {
                    assert!(until[node as usize] <= it.at, "{rule:?}: {it:?}");
                    until[node as usize] = it.at + request.runtime;
                }
                assert_eq!(it.table.is_some(), rule.own_table && it.nodes.len() > 1);
            }
        }
    }

    /// Nodes 0 and 2 of a line of four are no network: with a table of its own the job waits.
    #[test]
    fn free_nodes_that_do_not_hang_together_are_waited_for() {
        let torus = Torus::new(&[4], &[0]).unwrap();
        assert!(own_table(&torus, &[0, 2]).unwrap().is_none());
        assert!(own_table(&torus, &[1, 2]).unwrap().is_some());
    }
}
