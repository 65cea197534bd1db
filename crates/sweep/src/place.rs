//! A search for the nodes on which applications end soonest.
//!
//! What is on a node stays together: nodes are exchanged as a whole, so that ranks that share one
//! go on sharing one, and jobs keep their nodes to themselves. Candidates come of a local search
//! ([iterated-local-search]) for the least sum of bytes times hops ([topology-mapping]), which
//! counts no waiting; whichever is simulated to end soonest is kept, so that what is found is never
//! worse than what the scenario and the rules of allocation give.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use flitlab_base::document::quoted;
use flitlab_base::memory::claim;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_report::Status;
use flitlab_scenario::Scenario;
use flitlab_scenario::simulation::{Outcome, SetupError, Simulation};
use flitlab_scenario::workload::{Slowdowns, WorkloadSpec, Workloads};
use flitlab_traffic::{Allocation, ApplicationSpec, Free};

/// Exchanges that are tried for each node, without one that helps, before a local search ends.
const PATIENCE: u32 = 40;

/// The rules of allocation that are compared.
const RULES: [(Allocation, &str); 4] = [
    (Allocation::Linear, "linear"),
    (Allocation::Random, "random"),
    (Allocation::Boxes, "boxes"),
    (Allocation::Groups, "groups"),
];

/// How a placement that no rule gives was found.
const SEARCH: &str = "search";

/// A rule or [`SEARCH`], and by seat a place in `base`.
type Candidate = (&'static str, Vec<u32>);

/// Why there is nothing to search for.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The scenario has no application on a network.
    #[error("the scenario has no application whose messages cross the network")]
    NoApplication,
    /// Nothing can be compared with it.
    #[error("the scenario's own placement comes to no end: it {0}")]
    NoEnd(String),
}

/// Nodes of applications, and when these end.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// A rule of allocation, or how it was found.
    pub by: String,
    /// By application: the node of each rank.
    pub nodes: Vec<Vec<u32>>,
    /// By application.
    pub completions: Vec<Picoseconds>,
}

impl Placed {
    /// What is to be small: the mean of the logarithms of completion times, so that an application
    /// which takes half as long counts the same, however long it takes.
    fn cost(&self) -> f64 {
        let logarithms = self.completions.iter().map(|time| libm::log(time.0.max(1) as f64));
        logarithms.sum::<f64>() / self.completions.len() as f64
    }

    /// How many times as long another one takes, as a geometric mean over applications.
    pub fn times_of(&self, other: &Self) -> f64 {
        libm::exp(other.cost() - self.cost())
    }
}

/// The applications of a scenario, and what their nodes send each other.
pub struct PlaceSearch {
    scenario: Scenario,
    /// The places of the applications among the workloads.
    members: Vec<usize>,
    /// By application: the seat of each rank. A seat is what moves as a whole: all that the
    /// scenario puts on a node, or nothing.
    seats: Vec<Vec<u32>>,
    /// The node of each seat in the scenario.
    base: Vec<u32>,
    /// By seat: others that it exchanges bytes with, and how many.
    talks: Vec<Vec<(u32, f64)>>,
    /// By node of `base` and node of `base`: hops between their routers.
    hops: Vec<u16>,
    random: ChaCha8Rng,
}

impl PlaceSearch {
    /// Looks at a scenario's applications. Nodes that another workload has are left to that, unless
    /// the scenario lets them share nodes anyway.
    ///
    /// # Errors
    /// If it can't be simulated, or has no application whose messages cross the network.
    pub fn new(scenario: &Scenario) -> Result<Self, PlaceError> {
        let mut scenario = scenario.clone();
        scenario.workload.slowdowns = Slowdowns::Untold;
        let fabric = &scenario.network.fabric;
        let (mut members, mut places, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for (at, member) in scenario.workload.members().iter().enumerate() {
            if member.spec.downcast_ref::<ApplicationSpec>().is_some_and(|it| it.crosses_network())
            {
                let nodes = scenario.workload.nodes_of_ranks(at, &scenario);
                members.push(at);
                places.push(nodes.map_err(SetupError::Workload)?);
            } else {
                taken.extend(member.nodes.iter().flatten().copied());
            }
        }
        if members.is_empty() {
            return Err(PlaceError::NoApplication);
        }
        let mut used: Vec<u32> = places.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        if used.iter().any(|node| taken.contains(node)) {
            taken.clear();
        }
        let free = fabric.live_terminals().filter(|node| !taken.contains(node));
        let mut base: Vec<u32> = free.chain(used).collect();
        base.sort_unstable();
        base.dedup();
        let seat = |node: &u32| narrow::<u32>(base.binary_search(node).expect("it is a seat's"));
        let seats: Vec<Vec<u32>> =
            places.iter().map(|nodes| nodes.iter().map(seat).collect()).collect();
        let talks = talks(&scenario.workload, &members, &seats, base.len());
        let bytes = 2 * base.len() as u64 * base.len() as u64;
        claim("the hops between the nodes of a placement", bytes).map_err(SetupError::from)?;
        let hops = hops(fabric, &base);
        let random = ChaCha8Rng::seed_from_u64(scenario.seed);
        Ok(Self { scenario, members, seats, base, talks, hops, random })
    }

    /// The names of the applications.
    pub fn names(&self) -> Vec<String> {
        let members = self.scenario.workload.members();
        self.members.iter().map(|&at| members[at].name.clone()).collect()
    }

    /// The values of keys that make the scenario one with this placement, as TOML: the nodes of
    /// each application's ranks are in a file. Workloads whose nodes were allocated keep them.
    pub fn settings(&self, placed: &Placed, file: impl Fn(&str) -> String) -> Vec<String> {
        let mut settings = Vec::new();
        let used = |node: &u32| placed.nodes.iter().flatten().any(|used| used == node);
        let mut spare = self.base.iter().filter(|node| !used(node));
        for (at, member) in self.scenario.workload.members().iter().enumerate() {
            let application = self.members.iter().position(|&member| member == at);
            let mut nodes = member.nodes.clone();
            if let Some(application) = application {
                let path = quoted(&file(&member.name));
                let key = member.key("application.placement");
                settings.push(format!("{key} = {{ file = {{ path = {path} }} }}"));
                nodes = nodes.map(|_| placed.nodes[application].clone());
            }
            if let Some(mut nodes) = nodes {
                nodes.sort_unstable();
                nodes.dedup();
                // A job may have more nodes than its ranks take.
                let wanted = member.nodes.as_ref().map_or(0, Vec::len);
                let missing = wanted.saturating_sub(nodes.len());
                nodes.extend(spare.by_ref().take(missing));
                nodes.sort_unstable();
                settings.push(format!("{} = {nodes:?}", member.key("nodes")));
            }
        }
        settings
    }

    /// Simulates the scenario's own placement, those of the rules of allocation, and then what the
    /// search finds, so many at once; `goes_on` is asked before, with how long one is expected to
    /// take. Tells the placements that are compared, and each that is the best so far. Returns the
    /// best, and how many were simulated. Equal scenarios try the same in the same order.
    ///
    /// # Errors
    /// If the scenario's own placement comes to no end.
    pub fn run(
        &mut self,
        threads: usize,
        goes_on: &mut dyn FnMut(Duration) -> bool,
        tell: &mut dyn FnMut(&Placed),
    ) -> Result<(Placed, u32), PlaceError> {
        let all: Vec<u32> = (0..narrow(self.base.len())).collect();
        let (own, mut longest) = self.simulated("scenario", &all);
        let (mut best, mut best_at, mut simulated) = (own?, all.clone(), 1);
        tell(&best);
        let rules = RULES.iter().filter_map(|&(rule, name)| Some((name, self.by_rule(rule)?)));
        let mut rules: Vec<Candidate> = rules.collect();
        rules.reverse();
        let mut round = 0;
        loop {
            let are_rules = !rules.is_empty();
            if !goes_on(if are_rules { Duration::ZERO } else { longest }) {
                return Ok((best, simulated));
            }
            let mut tried = Vec::new();
            while tried.len() < threads.max(1) {
                match rules.pop() {
                    Some(rule) => tried.push(rule),
                    None if are_rules => break,
                    None => {
                        tried.push((SEARCH, self.next(&best_at, &all, round)));
                        round += 1;
                    }
                }
            }
            for ((placed, took), (_, at)) in self.simulated_at_once(&tried).into_iter().zip(tried) {
                simulated += 1;
                longest = longest.max(took);
                // A placement with which packets can't go on is none.
                let Ok(placed) = placed else { continue };
                let is_better = placed.cost() < best.cost();
                if are_rules || is_better {
                    tell(&placed);
                }
                if is_better {
                    (best, best_at) = (placed, at);
                }
            }
        }
    }

    fn simulated_at_once(
        &self,
        tried: &[Candidate],
    ) -> Vec<(Result<Placed, PlaceError>, Duration)> {
        thread::scope(|scope| {
            let begun: Vec<_> =
                tried.iter().map(|(by, at)| scope.spawn(|| self.simulated(by, at))).collect();
            begun.into_iter().map(|it| it.join().expect("it does not panic")).collect()
        })
    }

    /// The next candidate: first what a local search makes of the best so far and of the nodes in
    /// an order that is drawn; then by turns an exchange of two nodes of the best so far, and what
    /// a local search makes of it after several exchanges.
    fn next(&mut self, best: &[u32], all: &[u32], round: u32) -> Vec<u32> {
        let mut at = best.to_vec();
        match round {
            0 => self.descend(&mut at),
            1 => {
                at = all.to_vec();
                at.shuffle(&mut self.random);
                self.descend(&mut at);
            }
            _ if round.is_multiple_of(2) => self.exchange(&mut at, 1),
            _ => {
                let most = narrow::<u32>(at.len() / 4).max(2);
                let exchanges = self.random.random_range(2..=most);
                self.exchange(&mut at, exchanges);
                self.descend(&mut at);
            }
        }
        at
    }

    /// Exchanges the nodes of so many pairs of seats, one of which talks to others.
    fn exchange(&mut self, at: &mut [u32], count: u32) {
        for _ in 0..count {
            if let Some((one, other)) = self.pair(at.len()) {
                at.swap(one, other);
            }
        }
    }

    /// Two seats, the first of which talks to others.
    fn pair(&mut self, seats: usize) -> Option<(usize, usize)> {
        let one = self.random.random_range(0..seats);
        let other = self.random.random_range(0..seats);
        (one != other && !self.talks[one].is_empty()).then_some((one, other))
    }

    /// Exchanges pairs of seats as long as that lessens the sum of bytes times hops.
    fn descend(&mut self, at: &mut [u32]) {
        let mut vain = 0;
        while vain < PATIENCE * narrow::<u32>(at.len()) {
            vain += 1;
            let Some((one, other)) = self.pair(at.len()) else { continue };
            let before = self.reach(at, one) + self.reach(at, other);
            at.swap(one, other);
            // Less than rounding would make of it is no gain.
            if self.reach(at, one) + self.reach(at, other) < before * (1.0 - 1e-9) {
                vain = 0;
            } else {
                at.swap(one, other);
            }
        }
    }

    /// Bytes times hops of all that a seat sends and gets.
    fn reach(&self, at: &[u32], seat: usize) -> f64 {
        let row = at[seat] as usize * self.base.len();
        let talks = self.talks[seat].iter();
        talks
            .map(|&(other, bytes)| bytes * f64::from(self.hops[row + at[other as usize] as usize]))
            .sum()
    }

    /// The applications one after the other on nodes that a rule gives them; `None` if it has none.
    fn by_rule(&self, rule: Allocation) -> Option<Vec<u32>> {
        let mut free = Free::of(self.scenario.network.fabric.clone(), self.scenario.seed);
        let fabric = &self.scenario.network.fabric;
        let others: Vec<u32> =
            fabric.live_terminals().filter(|node| self.base.binary_search(node).is_err()).collect();
        free.take(&others);
        let mut at = vec![u32::MAX; self.base.len()];
        let mut is_taken = vec![false; self.base.len()];
        for seats in &self.seats {
            let mut own = seats.clone();
            own.sort_unstable();
            own.dedup();
            // Applications may share nodes.
            own.retain(|&seat| at[seat as usize] == u32::MAX);
            if own.is_empty() {
                continue;
            }
            let nodes = free.allocate(rule, narrow(own.len())).ok()?;
            for (seat, node) in own.into_iter().zip(nodes) {
                let place = self.base.binary_search(&node).ok()?;
                at[seat as usize] = narrow(place);
                is_taken[place] = true;
            }
        }
        // Empty seats have the rest.
        let mut rest = (0..).zip(&is_taken).filter(|it| !it.1).map(|it| it.0);
        for place in at.iter_mut().filter(|place| **place == u32::MAX) {
            *place = rest.next()?;
        }
        Some(at)
    }

    /// Simulates the applications with their seats at these places of `base`; and how long that
    /// took.
    fn simulated(&self, by: &str, at: &[u32]) -> (Result<Placed, PlaceError>, Duration) {
        let node = |&seat: &u32| self.base[at[seat as usize] as usize];
        let nodes: Vec<Vec<u32>> =
            self.seats.iter().map(|seats| seats.iter().map(node).collect()).collect();
        let places = self.members.iter().copied().zip(&nodes);
        let workload = self.scenario.workload.placed(places);
        let scenario = Scenario { workload, ..self.scenario.clone() };
        let simulation = match Simulation::new(&scenario) {
            Ok(simulation) => simulation,
            Err(error) => return (Err(error.into()), Duration::ZERO),
        };
        let Outcome { found, work, .. } = simulation.run(&mut |_| {});
        let status = found.measured.status;
        let completions: Option<Vec<Picoseconds>> = match &found.workloads[..] {
            [] => found.measured.completion_time.map(|time| vec![time]),
            rows => {
                let own = self.members.iter().map(|&at| rows[at].measured.completion_time);
                own.collect()
            }
        };
        let placed = match completions.filter(|_| status == Status::Completed) {
            Some(completions) => Ok(Placed { by: by.into(), nodes, completions }),
            None => Err(PlaceError::NoEnd(format!("is {}", status.name()))),
        };
        (placed, work.elapsed)
    }
}

/// By seat: the others with which applications exchange bytes, and how many.
fn talks(
    workloads: &Workloads,
    members: &[usize],
    seats: &[Vec<u32>],
    count: usize,
) -> Vec<Vec<(u32, f64)>> {
    let mut bytes: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); count];
    for (&at, seats) in members.iter().zip(seats) {
        let spec = workloads.members()[at].spec.downcast_ref::<ApplicationSpec>();
        for it in spec.expect("it is an application").messages(seats) {
            let (from, to) = (it.source, it.destination);
            for (one, other) in [(from, to), (to, from)] {
                *bytes[one as usize].entry(other).or_default() += it.bytes.max(1) as f64;
            }
        }
    }
    bytes.into_iter().map(|others| others.into_iter().collect()).collect()
}

/// Hops between the routers of each two of some nodes; between parts of a fabric that hang together
/// no more, more than any others.
fn hops(fabric: &Fabric, nodes: &[u32]) -> Vec<u16> {
    let router = |&node: &u32| fabric.terminal_router(node).expect("it is live");
    let routers: Vec<u32> = nodes.iter().map(router).collect();
    let mut rows: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    let mut all = Vec::with_capacity(nodes.len() * nodes.len());
    for from in &routers {
        let row = rows.entry(*from).or_insert_with(|| distances(fabric, *from));
        all.extend(routers.iter().map(|&to| row[to as usize]));
    }
    all
}

/// Hops from a router to each other one.
fn distances(fabric: &Fabric, from: u32) -> Vec<u16> {
    let mut distance = vec![u16::MAX; fabric.routers() as usize];
    distance[from as usize] = 0;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        next += 1;
        let there = distance[router as usize].saturating_add(1);
        for neighbor in fabric.neighbors(router) {
            if distance[neighbor as usize] == u16::MAX {
                distance[neighbor as usize] = there;
                reached.push(neighbor);
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_scenario::Document;

    const JOBS: &str = r#"
node_allocation = "random"
topology = { torus = { dimensions = [4, 4] } }

[workloads.one]
nodes = 4
application = { schedule = { ring = { ranks = 8, bytes = "4 KiB", iterations = 3 } }, ranks_per_node = 2 }

[workloads.two]
nodes = 4
application = { schedule = { all-to-all = { ranks = 4, bytes = "16 KiB" } } }

[workloads.load]
nodes = 5
traffic = { pattern = "uniform", load = 0.3 }
"#;

    fn search(document: &Document) -> PlaceSearch {
        PlaceSearch::new(&Scenario::read(document).unwrap()).unwrap()
    }

    /// The best of so many rounds of two, and what was told.
    fn found(document: &Document, rounds: u32) -> (Placed, Vec<Placed>) {
        let mut told = Vec::new();
        let mut left = rounds;
        let (best, simulated) = search(document)
            .run(
                2,
                &mut |_| {
                    left = left.saturating_sub(1);
                    left > 0
                },
                &mut |placed| told.push(placed.clone()),
            )
            .unwrap();
        assert!(simulated >= rounds, "{simulated}");
        (best, told)
    }

    #[test]
    fn what_is_found_is_no_worse_and_equal_searches_find_the_same() {
        let document = Document::parse("jobs.toml", JOBS);
        let (best, told) = found(&document, 12);
        assert_eq!(found(&document, 12), (best.clone(), told.clone()));
        let compared: Vec<&str> = told.iter().take(5).map(|it| &*it.by).collect();
        assert_eq!(compared, ["scenario", "linear", "random", "boxes", "groups"]);
        assert!(told.iter().all(|it| best.times_of(it) >= 1.0), "{told:?}");
        assert!(best.times_of(&told[0]) > 1.0, "{told:?}");
        // Ranks that shared a node still do, and nobody shares a node with another job.
        let scenario = Scenario::read(&document).unwrap();
        let load = scenario.workload.members()[2].nodes.clone().unwrap();
        for placed in &told {
            let [one, two] = &placed.nodes[..] else { panic!("two applications") };
            assert!(one.chunks(2).all(|pair| pair[0] == pair[1]), "{one:?}");
            let mut all: Vec<u32> =
                one.iter().step_by(2).chain(two).chain(&load).copied().collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 13, "{placed:?}");
        }
    }

    #[test]
    fn partners_come_to_be_neighbours() {
        // Eight pairs of a ring of sixteen, each across all of it.
        let text = "topology = { torus = { dimensions = [16] } }\n\
                    application = { schedule = { all-ping-pong = { ranks = 16, bytes = \"64 KiB\" } } }\n";
        let search = search(&Document::parse("pairs.toml", text));
        let mut at: Vec<u32> = (0..16).collect();
        let hops = |search: &PlaceSearch, at: &[u32]| -> f64 {
            (0..16).map(|seat| search.reach(at, seat)).sum::<f64>() / 65_536.0
        };
        let mut search = search;
        // Each pair twice, and each way.
        assert_eq!(hops(&search, &at), 8.0 * 8.0 * 2.0 * 2.0);
        search.descend(&mut at);
        assert!(hops(&search, &at) <= 1.5 * 8.0 * 2.0 * 2.0, "{at:?}");
        let mut sorted = at.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..16).collect::<Vec<u32>>());
    }

    #[test]
    fn what_is_no_application_is_refused() {
        let text = "topology = { torus = { dimensions = [4] } }\ntraffic = { pattern = 'uniform', load = 0.1 }\n";
        let scenario = Scenario::read(&Document::parse("load.toml", text)).unwrap();
        assert!(matches!(PlaceSearch::new(&scenario), Err(PlaceError::NoApplication)));
    }
}
