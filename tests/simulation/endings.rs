//! Every way in which a run ends, with every mix of workloads: a run always says what it simulated,
//! and has a row for each of several workloads.

use std::fs;
use std::path::PathBuf;

use flitlab::{
    report::{PointResult, Status},
    scenario::{Document, Scenario},
    simulation::{Outcome, Simulation},
};

/// A folder with programs that hang, and that compute for too long.
struct Programs(PathBuf);

impl Programs {
    fn new(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("flitlab-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // After a message each waits for what the other sends behind its own receipt.
        let hangs = "num_ranks 2\nrank 0 {\nl0: send 1000b to 1 tag 2\nl1: recv 1000b from 1 tag 1\n\
                     l2: send 1000b to 1 tag 1\nl2 requires l1\n}\nrank 1 {\n\
                     l0: recv 1000b from 0 tag 2\nl1: recv 1000b from 0 tag 1\n\
                     l2: send 1000b to 0 tag 1\nl2 requires l1\n}\n";
        let calc = "calc 9000000000000000";
        let long = format!(
            "num_ranks 2\nrank 0 {{\nl1: {calc}\nl2: {calc}\nl3: send 8b to 1\nl2 requires l1\n\
             l3 requires l2\n}}\nrank 1 {{\nl1: recv 8b from 0\nl2: {calc}\nl2 requires l1\n}}\n"
        );
        fs::write(folder.join("hangs.goal"), hangs).unwrap();
        fs::write(folder.join("long.goal"), long).unwrap();
        Self(folder)
    }

    fn run(&self, text: &str) -> Outcome {
        let path = self.0.join("scenario.toml");
        let document = Document::parse(path.to_str().unwrap(), text);
        let scenario = Scenario::read(&document).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Simulation::new(&scenario).unwrap().run(&mut |_| {})
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const RING: &str = "topology.torus.dimensions = [8]\n";

/// A ring whose packets deadlock at high load, and one whose links lose everything.
const DEADLOCKS: &str = "topology.torus.dimensions = [8]\n\
                         router = { buffer = \"36 flits\", bubble = false }\n";
const LOSES: &str = "topology.torus.dimensions = [4]\n\
                     link.errors.bursts = { interval = \"1 ns\", length = \"1 s\" }\n";

/// Workloads: those that end, those that don't.
const SHORT: &str = "exchange = { pattern = \"neighbor\", message = \"256 B\" }\n";
const ALL: &str = "exchange = { pattern = \"all-to-all\", message = \"1 MiB\", rounds = 1, \
                   between_steps = \"nothing\" }\n";
/// Whose steps wait for messages in source queues that grow.
const STEPS: &str = "exchange = { pattern = \"all-to-all\", message = \"1 KiB\", rounds = 100 }\n";
const HANGS: &str = "nodes = [0, 1]\napplication.file = \"hangs.goal\"\n";
const LONG: &str = "nodes = [0, 1]\napplication.file = \"long.goal\"\n";
const CALM: &str = "traffic = { pattern = \"uniform\", load = 0.2 }\n";
const HIGH: &str = "traffic = { pattern = \"uniform\", load = 0.9 }\n";
const TOO_HIGH: &str = "traffic = { pattern = \"tornado\", load = 0.9 }\n";

/// A ring, its workloads by name, more keys, and the status of the run and of each workload.
type Ending = (&'static str, &'static [(&'static str, &'static str)], &'static str, Status);

/// Too few messages to tell anything.
const FEW: &str = "[measure]\nwindow = \"300 ns\"\nwarm_up_windows = 1\nminimum_windows = 2\n\
                   maximum_windows = 3\n";
/// A warm-up in which a livelock shows.
const FILLS: &str = "[measure]\nwarm_up_windows = 1000000\n";
const WINDOWS: &str = "[measure]\nwindow = \"2 us\"\nmaximum_windows = 12\n";

const ENDINGS: [(Ending, &[Status]); 18] = {
    use Status::*;
    [
        ((RING, &[("a", CALM)], WINDOWS, Steady), &[Steady]),
        ((RING, &[("a", CALM), ("b", CALM)], WINDOWS, Steady), &[Steady, Steady]),
        ((RING, &[("a", TOO_HIGH), ("b", CALM)], WINDOWS, NotSteady), &[NotSteady, NotSteady]),
        ((RING, &[("a", CALM), ("b", CALM)], FEW, Undecided), &[Undecided, Undecided]),
        ((DEADLOCKS, &[("a", HIGH), ("b", CALM)], "", Deadlock), &[Deadlock, Deadlock]),
        ((LOSES, &[("a", CALM), ("b", CALM)], FILLS, Livelock), &[Livelock, Livelock]),
        ((RING, &[("a", SHORT)], "", Completed), &[Completed]),
        ((RING, &[("a", SHORT), ("b", ALL)], "", Completed), &[Completed, Completed]),
        ((RING, &[("a", SHORT), ("b", CALM)], "", Completed), &[Completed, Completed]),
        ((DEADLOCKS, &[("a", SHORT), ("b", ALL)], "", Deadlock), &[Completed, Deadlock]),
        (
            (DEADLOCKS, &[("a", SHORT), ("b", ALL), ("c", HIGH)], "", Deadlock),
            &[Completed, Deadlock, Deadlock],
        ),
        ((LOSES, &[("a", SHORT), ("b", SHORT)], "", Livelock), &[Livelock, Livelock]),
        ((LOSES, &[("a", SHORT), ("b", CALM)], "", Livelock), &[Livelock, Livelock]),
        ((RING, &[("a", SHORT), ("b", HANGS)], "", Stuck), &[Completed, Stuck]),
        ((RING, &[("a", CALM), ("b", HANGS)], "", Stuck), &[Stuck, Stuck]),
        ((RING, &[("a", SHORT), ("b", LONG)], "", TooLong), &[Completed, TooLong]),
        ((RING, &[("a", TOO_HIGH), ("b", STEPS)], "", NotSteady), &[NotSteady, NotSteady]),
        (
            (RING, &[("a", TOO_HIGH), ("b", STEPS), ("c", SHORT)], "", NotSteady),
            &[NotSteady, NotSteady, Completed],
        ),
    ]
};

#[test]
fn every_ending_of_every_mix_says_what_was_simulated() {
    let programs = Programs::new("endings");
    for ((ring, workloads, more, status), of_workloads) in ENDINGS {
        let tables: String =
            workloads.iter().map(|(name, text)| format!("[workloads.{name}]\n{text}")).collect();
        let text = format!("{ring}{tables}{more}");
        let Outcome { found, work, .. } = programs.run(&text);
        let PointResult { measured, workloads: rows, warnings, .. } = &found;
        assert_eq!(measured.status, status, "{text}{warnings:?}");
        assert!(measured.digest.is_some() && measured.events > 0, "{text}");
        assert_eq!(work.counters.grants, measured.events, "{text}");
        assert!(measured.simulated_time.is_some(), "{text}");
        let told: Vec<(&str, Status)> =
            rows.iter().map(|row| (&*row.name, row.measured.status)).collect();
        let names = workloads.iter().map(|it| it.0);
        let expected: Vec<(&str, Status)> = names.zip(of_workloads.iter().copied()).collect();
        assert_eq!(told, expected, "{text}");
        for (row, (_, kind)) in rows.iter().zip(workloads) {
            let is_load = kind.starts_with("traffic");
            assert_eq!(row.measured.offered_load.is_some(), is_load, "{text}{}", row.name);
            let ends = !is_load && row.measured.status == Status::Completed;
            assert_eq!(row.measured.completion_time.is_some(), ends, "{text}{}", row.name);
        }
    }
}

/// What a load past saturation leaves no room for is told like such a load: by what was measured.
#[test]
fn beside_a_load_past_saturation_it_is_told_what_was_accepted() {
    let programs = Programs::new("outgrown");
    let text = format!("{RING}[workloads.a]\n{TOO_HIGH}[workloads.b]\n{STEPS}");
    let found = programs.run(&text).found;
    assert_eq!(found.measured.status, Status::NotSteady);
    let [load, exchange] = &found.workloads[..] else { panic!("{:?}", found.workloads) };
    let accepted = load.measured.accepted_load.unwrap();
    assert!(accepted > 0.05 && accepted < 0.6, "{accepted}");
    let packets = |row: &flitlab::report::PointRow| row.packets.unwrap();
    assert_eq!(packets(&load.measured) + packets(&exchange.measured), packets(&found.measured));
    assert!(found.measured.packet_latency_mean.is_some() && !found.channels.is_empty());
    // Its course in time is told until then, of both workloads.
    let end = found.windows.iter().map(|window| window.end).max();
    assert_eq!(end, found.measured.simulated_time, "{:?}", found.windows.last());
    for workload in ["a", "b"] {
        let own =
            found.windows.iter().filter(|window| window.workload.as_deref() == Some(workload));
        assert!(own.count() >= 8, "{workload}: {:?}", found.windows);
    }
}
