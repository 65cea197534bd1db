//! Features that meet, at the level of the text that users write (docs/testing.md, "Combinations"):
//! scenarios of two to four features each, so that every pair of features meets, and scenarios of
//! four to seven features that are drawn.
//!
//! What the check refuses has a message with a place; what it accepts can be set up and runs to an
//! end that is told, with the same results on any number of threads, from its resolved text and
//! from a checkpoint; and a reference engine delivers every packet at the same times.
//!
//!     cargo test --test simulation combinations
//!     FLITLAB_FIRST=1000000 FLITLAB_SCENARIOS=20000 cargo test --profile long --test simulation -- --ignored --nocapture drawn

mod pieces;
mod plan;
mod trial;
mod workloads;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use flitlab::adaptive::{AdaptiveKind, Selection};
use flitlab::application::generate::Generator;
use flitlab::registry::Component;
use flitlab::report::Status;
use flitlab::routing::phased::PhasedKind;
use flitlab::scenario::{Deadlock, Document, Scenario, WorkloadKind};
use flitlab::simulation::{Checkpoint, Simulation};
use flitlab::tables::path_selection::PathSelection;
use flitlab::tables::relation_rules::RelationRule;
use flitlab::tables::{agnostic, angara};
use flitlab::topology::builders::BuilderKind;
use flitlab::traffic::PatternKind;

use crate::common::slice::is_in_slice;
use crate::common::workplace::Workplace;
use pieces::{BASES, TABLES};
use plan::{DRAWN, Plan};
use trial::{Trial, attempt};

/// How many scenarios of the plan the suite tries, and how many that are drawn.
const SOME: u64 = 150;

/// It takes a moment to make.
static PLAN: LazyLock<Plan> = LazyLock::new(Plan::new);

/// What came of many scenarios.
#[derive(Default)]
struct Counts {
    /// By how they ended.
    ends: BTreeMap<String, u64>,
    refusals: BTreeMap<String, u64>,
    /// Packets that a reference engine delivered too, and in how many scenarios.
    compared: (usize, u64),
    /// Pieces that were run.
    run: BTreeSet<usize>,
    failures: Vec<String>,
}

impl Counts {
    fn of(plan: &Plan, seed: u64, place: &Workplace) -> Self {
        let text = plan.text(seed);
        let mut counts = Self::default();
        match attempt(seed, &text, place) {
            Err(wrong) => {
                // At once, as what comes after it may take hours.
                println!("seed {seed}: {wrong}\n{text}");
                counts.failures.push(format!("seed {seed}: {wrong}\n{text}"));
                counts.ends.insert("failed".into(), 1);
            }
            Ok(Trial { refused: Some(why), .. }) => {
                counts.ends.insert("refused".into(), 1);
                counts.refusals.insert(why, 1);
            }
            Ok(Trial { status, compared, foretold, .. }) => {
                let status = status.expect("it was run");
                let end = if foretold { "can deadlock" } else { "can't deadlock" };
                counts.ends.insert(format!("{}, {end}", status.name()), 1);
                counts.compared = (compared, u64::from(compared > 0));
                counts.run.extend(plan.drawn(seed));
            }
        }
        counts
    }

    fn and(mut self, other: Self) -> Self {
        for (sum, more) in [(&mut self.ends, other.ends), (&mut self.refusals, other.refusals)] {
            for (name, count) in more {
                *sum.entry(name).or_insert(0) += count;
            }
        }
        self.compared.0 += other.compared.0;
        self.compared.1 += other.compared.1;
        self.run.extend(other.run);
        self.failures.extend(other.failures);
        self
    }
}

/// Tries `count` scenarios from seed `first` on.
fn combinations(plan: &Plan, first: u64, count: u64) -> Counts {
    let place = Workplace::new(&format!("combinations-{first}"));
    // Threads of its own: those of the pool, on which tables are made, would all wait for scenarios.
    let next = AtomicU64::new(first);
    let take = || {
        let mut counts = Counts::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return counts;
            }
            counts = counts.and(Counts::of(plan, seed, &place));
        }
    };
    let counts = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let counts = threads.into_iter().map(|thread| thread.join().expect("it counts panics"));
        counts.fold(Counts::default(), Counts::and)
    });
    let (packets, compared) = counts.compared;
    println!("{count} scenarios from seed {first} on, {packets} packets of {compared} compared");
    for (end, count) in &counts.ends {
        println!("{count:>8} {end}");
    }
    let mut refusals: Vec<_> = counts.refusals.iter().collect();
    refusals.sort_unstable_by_key(|(why, count)| (u64::MAX - **count, *why));
    for (why, count) in refusals.iter().take(40) {
        println!("{count:>8} refused: {why}");
    }
    counts
}

fn assert_all_well(counts: &Counts, count: u64) {
    let shown: Vec<&str> = counts.failures.iter().take(20).map(String::as_str).collect();
    assert!(
        counts.failures.is_empty(),
        "{} of {count} scenarios failed\n\n{}",
        counts.failures.len(),
        shown.join("\n")
    );
    let refused = counts.ends.get("refused").copied().unwrap_or(0);
    assert!(2 * refused < count, "{refused} of {count} scenarios are refused");
}

#[test]
fn every_pair_of_features_meets_in_a_scenario_of_the_plan() {
    let (pairs, scenarios) = (PLAN.pairs(), PLAN.scenarios.len());
    println!("{} pieces, {} pairs, {scenarios} scenarios", PLAN.pieces.len(), pairs.len());
    let of_one = |drawn: &Vec<usize>| -> Vec<(usize, usize)> {
        drawn.iter().flat_map(|&one| drawn.iter().map(move |&other| (one, other))).collect()
    };
    let met: HashSet<_> = PLAN.scenarios.iter().flat_map(of_one).collect();
    let apart: Vec<_> = pairs.iter().filter(|pair| !met.contains(*pair)).collect();
    assert!(apart.is_empty(), "{apart:?}");
    assert!(scenarios < 17_000, "{scenarios} scenarios");
}

#[test]
fn every_component_that_a_scenario_can_name_is_in_a_piece() {
    let pieces = pieces::pieces();
    let lines = pieces.iter().flat_map(|piece| piece.lines.iter().chain(&piece.with));
    let lines: Vec<&str> = lines.chain(BASES.iter().flat_map(|base| base.1)).copied().collect();
    let words =
        |line: &'static str| line.split(|c: char| !matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'));
    fn names<C: Component>() -> impl Iterator<Item = &'static str> {
        C::built_in().iter().map(|row| row.name)
    }
    let mut missing = Vec::new();
    let mut each_in = |about: &str, names: &mut dyn Iterator<Item = &'static str>| {
        for name in names {
            let named = |line: &&'static str| words(line).any(|word| word == name);
            if !lines.iter().any(|line| line.contains(about) && named(line)) {
                missing.push(format!("{about}: {name}"));
            }
        }
    };
    each_in("pattern", &mut names::<PatternKind>());
    each_in("topology.", &mut names::<BuilderKind>());
    each_in("routing.agnostic.algorithm", &mut names::<agnostic::Algorithm>());
    each_in("routing.angara.algorithm", &mut names::<angara::Algorithm>());
    each_in("routing.", &mut names::<AdaptiveKind>());
    each_in("two_phase}.selection", &mut names::<Selection>().filter(|name| *name != "most-room"));
    each_in("routing.relation.rule", &mut names::<RelationRule>());
    each_in("routing.relation.rule", &mut names::<PhasedKind>());
    each_in("routing.relation.selection", &mut names::<PathSelection>());
    each_in("application.schedule", &mut names::<Generator>());
    assert!(missing.is_empty(), "without a piece: {missing:#?}");
    let tables = TABLES.concat();
    let absent: Vec<_> = names::<BuilderKind>()
        .chain(names::<WorkloadKind>())
        .filter(|name| !tables.contains(name))
        .collect();
    assert!(absent.is_empty(), "not among the tables: {absent:?}");
}

#[test]
fn some_hundred_combinations_of_features_are_refused_or_run_to_an_end_that_is_told() {
    let plan = &PLAN;
    let counts = combinations(plan, 0, SOME);
    assert_all_well(&counts, SOME);
    let drawn = combinations(plan, DRAWN, SOME);
    assert_all_well(&drawn, SOME);
    let counts = counts.and(drawn);
    // What was refused together with others is run alone.
    let place = Workplace::new("combinations-alone");
    let alone = |&piece: &usize| {
        !(0..8).any(|seed| {
            let text = plan.text_of(&[piece], seed);
            let trial = attempt(seed, &text, &place);
            trial.unwrap_or_else(|wrong| panic!("{wrong}\n{text}")).refused.is_none()
        })
    };
    let never = (0..plan.pieces.len()).filter(|piece| !counts.run.contains(piece)).filter(alone);
    let never: Vec<String> = never.map(|piece| plan.pieces[piece].name()).collect();
    assert!(never.is_empty(), "always refused: {never:#?}");
}

/// Found by the combinations: what a run leaves as scenario.toml was refused when it was read
/// again.
#[test]
fn a_resolved_relation_with_a_selection_of_paths_reads_back() {
    let text = "topology.hyperx.dimensions = [3, 3]\nrouting.relation.selection = \"low-port\"\n\
                exchange.pattern = \"all-to-all\"\nexchange.message = \"256 B\"\n";
    let (scenario, resolved) = Scenario::read_resolved(&Document::parse("a.toml", text)).unwrap();
    assert!(!resolved.contains("ties") && !resolved.contains("injection_bubble"), "{resolved}");
    assert_eq!(Scenario::read(&Document::parse("a.toml", &resolved)).unwrap(), scenario);
}

/// Found by the combinations: the check looked at the mean node alone, and advised a process for
/// which nothing could be set up either.
#[test]
fn a_node_that_would_create_more_than_a_message_a_flit_time_is_refused_with_its_place() {
    let matrix = "traffic.pattern = { matrix = { list = [[0, 5, 2], [5, 0, 1], [1, 7, 4]] } }\n\
                  traffic.load = 0.45\n";
    let periodic = "traffic.pattern = \"uniform\"\ntraffic.process = \"periodic\"\n\
                    traffic.load = 1.0\nrouter.checksum_flits = 0\n";
    for load in [matrix, periodic] {
        let text = format!(
            "topology.torus.dimensions = [3, 3]\ntraffic.message = \"0 B\"\n{load}\
             router.header_flits = 1\nadapter.injection_channels = 3\n"
        );
        let mistakes = Scenario::read(&Document::parse("a.toml", &text)).unwrap_err();
        let said = mistakes.plain();
        assert!(said.contains("messages in the time of one flit"), "{said}");
        assert!(said.contains("--> a.toml:"), "{said}");
    }
}

/// Found by the combinations: the last state that was shown was that of a run that was over, from
/// which the load went on to the next look.
#[test]
fn operations_beside_a_load_go_on_from_the_last_checkpoint_as_if_undisturbed() {
    let place = Workplace::new("combinations-checkpoint");
    let text = "topology.torus.dimensions = [4, 4]\ntraffic.pattern = \"uniform\"\n\
                traffic.load = 0.4\ncollective.operation = \"all-reduce\"\n\
                collective.message = \"20 KiB\"\ncollective.rounds = 20\n";
    let document = Document::parse("a.toml", text);
    let (scenario, identity) =
        (Scenario::read(&document).unwrap(), Scenario::identity(&document).unwrap());
    let simulation = Simulation::new(&scenario).unwrap();
    let path = place.0.join("last.checkpoint");
    let whole = simulation.run_from(None, &mut |_| {}, &mut |snapshot| {
        Checkpoint::write(&path, &identity, snapshot).unwrap();
    });
    let last = Checkpoint::read(&path, &identity).unwrap().unwrap();
    let resumed = simulation.run_from(Some(last), &mut |_| {}, &mut |_| {});
    assert_eq!(format!("{:?}", resumed.found), format!("{:?}", whole.found));
}

/// Found by the combinations: a wait of a collective operation was told to the application.
#[test]
fn an_application_is_not_told_what_collective_operations_wait_for() {
    let text = "topology.torus.dimensions = [4, 4]\nrouting.adaptive = {}\n\
                workloads.own.application.schedule = { scatter = { ranks = 8, bytes = \"1 KiB\" } }\n\
                workloads.other.collective = { operation = \"all-reduce\", message = \"100 B\", rounds = 3 }\n\
                router.buffer = \"36 flits\"\n";
    let scenario = Scenario::read(&Document::parse("a.toml", text)).unwrap();
    let found = Simulation::new(&scenario).unwrap().run(&mut |_| {}).found;
    assert_eq!(found.workloads.len(), 2);
    assert!(found.workloads.iter().all(|row| row.measured.completion_time.is_some()));
}

/// Found by the combinations: the last bit of the butterfly leads to nodes that take no part, and
/// the barrier before that step was part of the bound.
#[test]
fn a_bound_by_steps_has_no_barrier_behind_the_last_step_in_which_something_is_sent() {
    let text = "topology.torus.dimensions = [4, 4]\nexchange.pattern = \"butterfly\"\n\
                topology.torus.node_set = { box = { corner = [0, 0], size = [4, 2] } }\n\
                exchange.message = \"256 B\"\n\
                exchange.between_steps = { barrier = { latency = \"400 ns\" } }\n";
    let scenario = Scenario::read(&Document::parse("a.toml", text)).unwrap();
    let simulation = Simulation::new(&scenario).unwrap();
    let bound = simulation.completion_bound().unwrap().time;
    let time = simulation.run(&mut |_| {}).found.measured.completion_time.unwrap();
    assert!(bound <= time, "bound {bound}, and it takes {time}");
}

/// Found by the combinations: an exchange beside a load past saturation never ends, as each of its
/// steps waits behind a queue that grows with the time.
#[test]
fn what_takes_longer_and_longer_beside_a_load_past_saturation_is_not_waited_for() {
    let text = |load: f64| {
        format!(
            "topology.torus.dimensions = [4, 4]\nrouter.buffer = \"36 flits\"\n\
             workloads.own.traffic = {{ pattern = \"uniform\", load = {load} }}\n\
             workloads.other.exchange = {{ pattern = \"all-to-all\", message = \"40 B\" }}\n"
        )
    };
    let run = |load| {
        let scenario = Scenario::read(&Document::parse("a.toml", &text(load))).unwrap();
        Simulation::new(&scenario).unwrap().run(&mut |_| {}).found
    };
    let beyond = run(0.3);
    assert_eq!(beyond.measured.status, Status::NotSteady);
    assert!(beyond.warnings[0].contains("takes longer and longer"), "{:?}", beyond.warnings);
    let below = run(0.05);
    assert_eq!(below.measured.status, Status::Completed);
    assert_eq!(below.workloads.len(), 2);
}

/// Found by the combinations: where packets in transit go first, two flows of a load leave nothing of a
/// channel to an application, and what is under way grows by little.
#[test]
fn what_a_load_never_lets_in_is_not_waited_for() {
    let text = |arbitration: &str| {
        format!(
            "topology.hyperx = {{ dimensions = [4, 2], terminals = 2, random_failures = {{ switches = 1, seed = 2 }} }}\n\
             seed = 2000385\nrouting.relation.rule.dal.weights = \"product\"\n\
             routing.relation.preference = \"least-queued\"\nrouter.arbitration = \"{arbitration}\"\n\
             [workloads.load.traffic]\nload = 0.8\n\
             pattern = {{ matrix = {{ list = [[0, 5, 2], [5, 0, 1], [1, 7, 4]] }} }}\n\
             [workloads.sweep.application]\n\
             schedule = {{ sweep3d = {{ ranks = 8, points = [4, 4, 4], iterations = 1 }} }}\n"
        )
    };
    let run = |arbitration| {
        let scenario = Scenario::read(&Document::parse("a.toml", &text(arbitration))).unwrap();
        Simulation::new(&scenario).unwrap().run(&mut |_| {}).found
    };
    let starved = run("transit-first");
    assert_eq!(starved.measured.status, Status::NotSteady);
    assert!(starved.warnings[0].contains("may always go first"), "{:?}", starved.warnings);
    assert_eq!(run("round-robin").measured.status, Status::Completed);
}

/// Found by the combinations: a switch alone has no hops, and what is resolved names each of its
/// virtual channels.
#[test]
fn a_rule_with_phases_of_a_switch_alone_reads_back() {
    let text = "topology.switch.terminals = 16\nrouting.relation.rule.ugal.candidates = 3\n\
                routing.relation.lanes = 6\nexchange.pattern = \"all-to-all\"\nexchange.message = \"256 B\"\n";
    let (scenario, resolved) = Scenario::read_resolved(&Document::parse("a.toml", text)).unwrap();
    assert_eq!(Scenario::read(&Document::parse("a.toml", &resolved)).unwrap(), scenario);
}

/// Found by the combinations: datelines were advised for rings that an interruption breaks.
#[test]
fn atomic_buffers_of_adaptive_routing_that_an_interruption_meets_are_advised_bubbles() {
    let text = "topology.torus.dimensions = [4, 4]\nrouting.outflank = {}\n\
                link.sharing.flit.virtual_channel_allocation = \"atomic\"\n\
                interruption = { time = \"6 us\", new_tables_after = \"2 us\", random_failures = { cables = 1 } }\n\
                traffic = { pattern = \"uniform\", load = 0.1 }\n";
    let mut document = Document::parse("a.toml", text);
    let scenario = Scenario::read(&document).unwrap();
    let Deadlock::Possible { advice: Some(advice), .. } = scenario.deadlock() else { panic!() };
    let sets = shlex::split(&advice[advice.find("--set").unwrap()..]).unwrap();
    sets.iter().filter(|word| *word != "--set").for_each(|setting| document.set(setting));
    let scenario = Scenario::read(&document).unwrap_or_else(|it| panic!("{advice}\n{it}"));
    assert!(!matches!(scenario.deadlock(), Deadlock::Possible { .. }), "{advice}");
}

#[test]
#[ignore = "long: half an hour; the plan, in which every pair of features meets, by slices"]
fn every_pair_of_features_is_refused_or_runs_to_an_end_that_is_told() {
    let all = PLAN.scenarios.len() as u64;
    let count = all.div_ceil(4);
    for quarter in (0..4).filter(|&quarter| is_in_slice(quarter)) {
        let first = quarter as u64 * count;
        let count = count.min(all - first);
        assert_all_well(&combinations(&PLAN, first, count), count);
    }
}

#[test]
#[ignore = "long: minutes; 1,000 combinations that are drawn (FLITLAB_FIRST, FLITLAB_SCENARIOS)"]
fn many_combinations_that_are_drawn_are_refused_or_run_to_an_end_that_is_told() {
    let number = |name, default| {
        env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count) = (number("FLITLAB_FIRST", DRAWN), number("FLITLAB_SCENARIOS", 1_000));
    assert_all_well(&combinations(&PLAN, first, count), count);
}
