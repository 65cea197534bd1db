//! Runs that are stopped and go on: with the results, to the last bit, of one that was left alone.

use std::path::Path;

use crate::common::workplace::{Workplace, scenario};
use crate::sweeps::ongoing::Ongoing;
use flitlab::measure::Snapshot;
use flitlab::report::Status;
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::{Checkpoint, CheckpointError, Outcome, Simulation};

const LOAD: &str = "[topology.torus]\ndimensions = [4, 4, 2]\n[traffic]\npattern = \"uniform\"\n\
                    load = 0.3\n[measure]\nwindow = \"1 us\"\nwarm_up_windows = 20\n\
                    minimum_windows = 5\nmaximum_windows = 20\n";

const FABRIC: &str = "[topology.switched_torus]\ndimensions = [3, 3]\nterminals = 2\nredundancy = 2\n\
                      [routing.agnostic]\nalgorithm = \"nue\"\nlanes = 4\n[traffic]\npattern = \"uniform\"\n\
                      load = 0.3\n[measure]\nwindow = \"1 us\"\nwarm_up_windows = 20\n";

const RELATION: &str = "[topology.switched_torus]\ndimensions = [3, 3]\nterminals = 2\n\
                        [routing.relation]\nrule = \"minimal-up-down\"\nties = \"random\"\n[traffic]\n\
                        pattern = \"uniform\"\nload = 0.3\n[measure]\nwindow = \"1 us\"\nwarm_up_windows = 20\n";

/// Paths in turn, in place of the relation's choices.
const PATHS: &str = "routing.relation={ rule = \"up-down\", selection = { random = { paths = 3, choice = \"round-robin\" } } }";

const STORES: &str = "link.errors={ bit_error_rate = 3e-5, retry = \"store\", resend = \"selective\", replay_buffer = \"60 flits\" }";

const EXCHANGE: &str = "[topology.torus]\ndimensions = [4, 4]\n[exchange]\npattern = \"all-to-all\"\n\
                        message = \"200 KiB\"\n";

/// Large messages and small ones, ranks of one node, and computing in between.
const APPLICATION: &str = "[topology.torus]\ndimensions = [4, 2, 2]\n[application]\nranks_per_node = 2\n\
                           schedule = { npb = { benchmark = \"mg\", class = \"A\", ranks = 32, iterations = 1, \
                           flops_per_second = 1e10 } }\neager_limit = \"2 KiB\"\nplacement = \"random\"\n";

/// Operations of several trees, beside a load.
const COLLECTIVE: &str = "[topology.torus]\ndimensions = [4, 4]\n[collective]\noperation = \"all-reduce\"\n\
                          message = \"20 KiB\"\nrounds = 60\noutstanding = 2\nroots = [[0, 0], [2, 1]]\n\
                          open_operations = 3\nreplication = \"together\"\n[traffic]\npattern = \"uniform\"\nload = 0.2\n";

/// Operations of several processes upon one target each, which waits for the one before.
const REMOTE_MEMORY: &str = "[topology.torus]\ndimensions = [4, 4]\n[remote_memory]\noperation = \"add\"\n\
                             pattern = \"all-to-all\"\noperations = 400\nprocesses = 3\noutstanding = 5\n\
                             flush_every = 16\natomic_time = \"400 ns\"\n";

/// One-sided operations beside messages.
const ONE_SIDED: &str = concat!(
    "[topology.torus]\ndimensions = [4, 2]\n[application]\nrepetitions = 40\nfile = \"",
    env!("CARGO_MANIFEST_DIR"),
    "/tests/goal/one_sided_8.goal\"\n"
);

/// What a load can draw for each message, and what goes on from one to the next.
const DRAWN: &str = "traffic.sizes={ list = [[\"8 B\", 3], [\"3 KiB\", 1]] }\n\
                     traffic.process={ markov-modulated = { high = \"1 us\", low = \"3 us\", ratio = 5 } }\n\
                     traffic.pattern={ hotspot = { share = 0.1, at_once = 2, moves_every = \"2 us\" } }";

const FLOWS: &str = concat!(
    "[topology.torus]\ndimensions = [4, 4]\n[link]\nrate = \"10 Gb/s\"\n[flows]\nfile = \"",
    env!("CARGO_MANIFEST_DIR"),
    "/scenarios/studies/flows.csv\"\n"
);

/// What stopped runs have to go on with: every kind of traffic, routing and measurement.
const CASES: [(&str, &str, usize); 31] = [
    ("load", LOAD, 1),
    ("load on threads", LOAD, 3),
    ("past saturation", "traffic.load=1.0", 1),
    ("reads of many packets", "traffic.message=2 KiB\ntraffic.read.request=16 B", 2),
    ("adaptive", "routing.adaptive={}", 2),
    ("outflank", "routing.outflank.steps=1\nrouting.outflank.selection=lru", 1),
    ("goal", "routing.pick_orthant.rule=goal\nrouting.pick_orthant.selection=random", 1),
    ("rlb", "routing.two_phase.rule=rlb\nrouting.two_phase.selection=random", 1),
    ("forwarding table", FABRIC, 2),
    ("relation", RELATION, 2),
    ("relation, flit by flit", "routing.relation.lanes=4\nlink.sharing=flit", 1),
    ("paths in turn", PATHS, 1),
    ("interruption", "interruption", 1),
    ("interruption, flit by flit", "interruption, flit by flit", 2),
    ("interruption of a route table", ANGARA, 2),
    ("interruption of an adaptive routing", ADAPTIVE, 2),
    ("interruption of a relation", RELATION_FAILS, 1),
    ("failures of a relation", RELATION_FAILS_TWICE, 2),
    ("links that err", "link.errors={ bit_error_rate = 3e-5 }", 2),
    ("links that err and store", STORES, 1),
    ("exchange", EXCHANGE, 1),
    ("barriers", "exchange.between_steps=barrier", 2),
    ("application", APPLICATION, 1),
    ("collective operations", COLLECTIVE, 2),
    ("collective operations, flit by flit", "collective.outstanding=3\nlink.sharing=flit", 2),
    ("atomic operations", REMOTE_MEMORY, 2),
    (
        "puts",
        "remote_memory.operation=put\nremote_memory.message=2 KiB\nremote_memory.pattern=tornado",
        1,
    ),
    ("one-sided operations", ONE_SIDED, 2),
    ("application whose processors answer", "application.rendezvous=processor", 2),
    ("sizes, periods and hot spots that move", DRAWN, 2),
    ("flows", FLOWS, 2),
];

/// Failures with other routings; a run is stopped before, between and after.
const ANGARA: &str = "routing.angara={ algorithm = \"sssp\" }\ninterruption.time=20 us\n\
                      interruption.new_tables_after=7 us\ninterruption.random_failures={ cables = 1 }";
const ADAPTIVE: &str = "routing.adaptive={}\ninterruption.time=20 us\n\
                        interruption.new_tables_after=7 us\ninterruption.random_failures={ switches = 1 }";
const RELATION_FAILS: &str = "routing.relation.lanes=4\ninterruption.time=20 us\n\
     interruption.new_tables_after=7 us\ninterruption.random_failures={ cables = 1 }";
/// The second failure has the first tables made anew, the third comes after the change.
const RELATION_FAILS_TWICE: &str = "routing.relation.lanes=4\ninterruption.time=20 us\n\
     interruption.new_tables_after=7 us\ninterruption.random_failures={ cables = 1 }\n\
     interruption.further_failures=[{ time = \"23 us\", random_failures = { cables = 1 } }, \
     { time = \"32 us\", random_failures = { cables = 1 } }]";

fn read(name: &str, text: &str) -> (Document, Scenario) {
    let (base, settings) = match text {
        LOAD | FABRIC | RELATION | EXCHANGE | APPLICATION | ONE_SIDED | COLLECTIVE
        | REMOTE_MEMORY | FLOWS => (text, ""),
        "interruption" => (
            FABRIC,
            "interruption.time=20 us\ninterruption.new_tables_after=7 us\n\
             interruption.failed_switches=[\"S4\"]",
        ),
        "interruption, flit by flit" => (
            FABRIC,
            "interruption.time=20 us\ninterruption.new_tables_after=7 us\n\
             interruption.failed_switches=[\"S4\"]\nrouter.arbitration=weighted\n\
             link.sharing.flit.high_priority=[2]\nlink.sharing.flit.high_priority_limit=20\n\
             link.sharing.flit.stall_times=true",
        ),
        settings if settings.starts_with("routing.relation") => (RELATION, settings),
        settings if settings.starts_with("exchange") => (EXCHANGE, settings),
        settings if settings.starts_with("collective") => (COLLECTIVE, settings),
        settings if settings.starts_with("application") => (APPLICATION, settings),
        settings if settings.starts_with("remote_memory") => (REMOTE_MEMORY, settings),
        settings => (LOAD, settings),
    };
    let mut document = Document::parse(name, base);
    settings.lines().for_each(|assignment| document.set(assignment));
    let scenario = Scenario::read(&document);
    let scenario = scenario.unwrap_or_else(|found| panic!("{name}: {found}"));
    (document, scenario)
}

/// All of an outcome that is a result.
fn results(outcome: &Outcome) -> String {
    let Outcome { found, deadlock, .. } = outcome;
    format!("{found:?} {deadlock:?}")
}

#[test]
fn a_run_that_goes_on_from_any_checkpoint_ends_as_if_undisturbed() {
    let place = Workplace::new("checkpoints");
    for (name, text, threads) in CASES {
        let (document, scenario) = read(name, text);
        let identity = Scenario::identity(&document).unwrap();
        let simulation = Simulation::new(&scenario).unwrap().on_threads(threads);
        let mut times = 0;
        let count = &mut |_: Snapshot<'_>| times += 1;
        let undisturbed = simulation.run_from(None, &mut |_| {}, count);
        assert!(times >= 8, "{name}: shown {times} states");
        assert_ne!(undisturbed.found.measured.status, Status::Deadlock, "{name}");
        let file = |number| place.0.join(format!("{number}.checkpoint"));
        let mut number = 0;
        let mut taken = Vec::new();
        let keep = &mut |snapshot: Snapshot<'_>| {
            // Three of them, at all places of a window.
            let step = (times / 3).max(1);
            if number % step == 1 % step {
                Checkpoint::write(&file(number), &identity, snapshot).unwrap();
                taken.push(number);
            }
            number += 1;
        };
        let kept = simulation.run_from(None, &mut |_| {}, keep);
        assert_eq!(results(&kept), results(&undisturbed), "{name}: keeping changes nothing");
        assert!(taken.len() >= 3, "{name}: {taken:?}");
        for number in taken {
            let checkpoint = Checkpoint::read(&file(number), &identity).unwrap().unwrap();
            assert!(checkpoint.threads() <= threads, "{name}");
            let mut shown = 0;
            let count = &mut |_: Snapshot<'_>| shown += 1;
            let resumed = simulation.run_from(Some(checkpoint), &mut |_| {}, count);
            assert_eq!(results(&resumed), results(&undisturbed), "{name} from state {number}");
            assert_eq!(shown + number + 1, times, "{name}: nothing is simulated twice");
        }
    }
}

#[test]
fn a_file_that_is_no_checkpoint_of_this_run_is_refused() {
    let place = Workplace::new("wrong-checkpoints");
    let (document, scenario) = read("load", LOAD);
    let identity = Scenario::identity(&document).unwrap();
    let path = place.0.join("run.checkpoint");
    assert!(Checkpoint::read(&path, &identity).unwrap().is_none());
    let simulation = Simulation::new(&scenario).unwrap();
    let keep = &mut |snapshot: Snapshot<'_>| {
        if !path.exists() {
            Checkpoint::write(&path, &identity, snapshot).unwrap();
        }
    };
    simulation.run_from(None, &mut |_| {}, keep);
    let good = std::fs::read(&path).unwrap();
    let error = |contents: &[u8], identity| {
        std::fs::write(&path, contents).unwrap();
        Checkpoint::read(&path, identity).err().unwrap()
    };
    for place in [0, 20, 60, good.len() / 2, good.len() - 1] {
        let mut wrong = good.clone();
        wrong[place] ^= 1;
        assert!(matches!(error(&wrong, &identity), CheckpointError::Damaged(_)), "byte {place}");
    }
    for length in [0, 10, 40, good.len() - 1] {
        let error = error(&good[..length], &identity);
        assert!(matches!(error, CheckpointError::Damaged(_)), "{length} bytes");
    }
    assert!(matches!(error(b"[topology]\n", &identity), CheckpointError::Damaged(_)));
    let (mut other, _) = read("load", LOAD);
    other.set("seed=7");
    let other = Scenario::identity(&other).unwrap();
    assert!(matches!(error(&good, &other), CheckpointError::Scenario(_)));
    let folder = Checkpoint::read(Path::new("/"), &identity);
    assert!(matches!(folder, Err(CheckpointError::NoFile(_))));
}

#[test]
fn a_run_that_is_ended_by_a_signal_goes_on_with_the_same_command() {
    let place = Workplace::new("stopped");
    let scenario = scenario("bench/torus-8x8x8");
    let whole = ["run", &scenario, "--out", "whole", "--log", "whole.csv"];
    place.run(&whole);
    let call = ["run", &scenario, "--out", "parts", "--log", "parts.csv", "--checkpoint", "state"];
    for _ in 0..2 {
        let mut ongoing: Ongoing = place.begin(&call);
        let rows = || std::fs::read(place.0.join("parts.csv")).map_or(0, |text| text.len());
        let before = rows();
        ongoing.wait_until(|| rows() > before + 2_000);
        // As `timeout` does it: to the process, and at once to its group. That is no second
        // request.
        ongoing.signal("TERM");
        ongoing.signal("TERM");
        let (code, errors) = ongoing.end();
        assert_eq!(code, Some(130), "{errors}");
        assert!(errors.contains("the same command goes on from state"), "{errors}");
        assert!(!place.0.join("parts").exists(), "the folder is free for the next run");
    }
    let (code, errors) = place.fail(&[&call[..], &["--set", "seed=9"]].concat());
    assert_eq!(code, 2);
    assert!(errors.contains("checkpoint of another scenario"), "{errors}");
    let output = place.flitlab(&call);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.contains("goes on from the checkpoint"), "{errors}");
    assert!(!place.0.join("state").exists(), "a run that is over leaves no checkpoint");
    for file in ["points.csv", "channels.csv", "windows.csv", "latencies.csv", "summary.json"] {
        let read = |folder: &str| place.read(&format!("{folder}/{file}"));
        assert_eq!(read("parts"), read("whole"), "{file}");
    }
    assert_eq!(place.read("parts.csv"), place.read("whole.csv"));
}

#[test]
fn the_log_of_the_digest_is_the_same_on_any_number_of_threads_and_ends_with_the_result() {
    let place = Workplace::new("digest-log");
    let scenario = scenario("bench/torus-8x8x8");
    let short = ["--set", "measure.window=2 us", "--set", "measure.warm_up_windows=10"];
    let mut logs = Vec::new();
    for threads in ["1", "2", "3"] {
        let (log, out) = (format!("{threads}.csv"), format!("out{threads}"));
        let call = ["run", &scenario, "--threads", threads, "--log", &log, "--out", &out, "--json"];
        let row = place.json(&[&call[..], &short].concat())["points"][0].clone();
        let text = place.read(&log);
        let last = text.lines().last().unwrap().to_owned();
        let rows: Vec<Vec<&str>> =
            text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert!(rows.len() > 100);
        let number = |cell: &str| cell.parse::<u64>().unwrap();
        assert!(rows.is_sorted_by(|a, b| number(a[0]) < number(b[0])), "time goes on");
        assert!(rows.is_sorted_by(|a, b| number(a[1]) < number(b[1])), "each row has news");
        assert!(number(rows.last().unwrap()[1]) <= row["events"].as_u64().unwrap());
        logs.push((text, last));
    }
    assert!(logs.iter().all(|log| log == &logs[0]));
    let (code, errors) = place.fail(&["run", &scenario, "--log", "1.csv", "--out", "again"]);
    assert!(code == 2 && errors.contains("1.csv is there"), "{errors}");
    assert_eq!(place.read("1.csv"), logs[0].0, "logs are never overwritten");
    // What is wrong elsewhere leaves no log in the way of the next try.
    let (code, _) = place.fail(&["run", &scenario, "--log", "new.csv", "--out", "out1"]);
    assert!(code == 2 && !place.0.join("new.csv").exists());
    let (code, errors) =
        place.fail(&["run", &scenario, "--checkpoint", "no/such/folder", "--out", "again"]);
    assert!(code == 2 && errors.contains("can't write the checkpoint no/such/folder"), "{errors}");
}
