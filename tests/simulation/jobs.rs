//! Several jobs: how much each is slowed by the others, and which nodes they get.

use flitlab::{
    report::{Cell, ChannelRow, PointResult, Status, WorkloadRow},
    scenario::{Document, Scenario},
    simulation::Simulation,
    units::Picoseconds,
};

fn scenario(text: &str) -> Scenario {
    Scenario::read(&Document::parse("jobs.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str) -> PointResult {
    Simulation::new(&scenario(text)).unwrap().run(&mut |_| {}).found
}

/// Two jobs that send to all of their own nodes, and a load, on rows of a torus; `nodes` are those
/// of each.
fn jobs(nodes: [&str; 3], measure: &str) -> String {
    let [one, other, load] = nodes;
    format!(
        "topology.torus.dimensions = [4, 4]\n\
         [workloads.one]\nnodes = {one}\n\
         application.schedule = {{ all-to-all = {{ ranks = 4, bytes = \"16 KiB\" }} }}\n\
         [workloads.other]\nnodes = {other}\nstart = \"3 us\"\n\
         application.schedule = {{ all-to-all = {{ ranks = 4, bytes = \"24 KiB\" }} }}\n\
         [workloads.load]\nnodes = {load}\n\
         traffic = {{ pattern = \"uniform\", load = 0.5 }}\n{measure}"
    )
}

const PAIRS: &str = "[measure]\nslowdowns = \"pairs\"\n";

/// Rows of the torus.
const APART: [&str; 3] = ["[0, 1, 2, 3]", "[4, 5, 6, 7]", "[8, 9, 10, 11, 12]"];

/// Nodes between which messages share channels.
const MIXED: [&str; 3] = ["[0, 5, 10, 15]", "[1, 6, 8, 14]", "[2, 7, 9, 12, 13]"];

fn row<'r>(found: &'r PointResult, name: &str) -> &'r WorkloadRow {
    found.workloads.iter().find(|row| row.name == name).unwrap()
}

#[test]
fn jobs_that_never_meet_are_not_slowed() {
    let found = run(&jobs(APART, PAIRS));
    for name in ["one", "other"] {
        let row = row(&found, name);
        assert_eq!(row.slowdown, Some(1.0), "{name}");
        assert_eq!(row.alone, row.measured.completion_time, "{name}");
    }
    assert_eq!(row(&found, "load").slowdown, None);
    assert_eq!(found.slowdowns.len(), 4);
    assert!(found.slowdowns.iter().all(|row| row.slowdown == 1.0));
}

/// Routers and routings in which rows of a 4x4 torus stay apart, and whether they have what
/// collective operations take.
const APART_IN: [(&str, &str, bool); 13] = [
    ("whole packets", "", true),
    ("store and forward", "router.switching = \"store-and-forward\"\n", true),
    ("adaptive", "routing.adaptive = {}\n", true),
    ("tables", "routing.agnostic = { algorithm = \"dimension-order\", lanes = 2 }\n", false),
    ("paths", PATHS, false),
    ("a relation", "routing.relation.rule = \"minimal-by-hop\"\n", false),
    ("flits", "link.sharing.flit = {}\nrouting.direction_order.dateline = true\n", false),
    (
        "worms",
        "router = { switching = \"wormhole\", buffer = \"8 flits\" }\nlink.sharing.flit = {}\n\
         routing.direction_order.dateline = true\n",
        false,
    ),
    ("flits, outflank", "link.sharing.flit = {}\nrouting.outflank = {}\n", true),
    ("flits, adaptive", "link.sharing.flit = {}\nrouting.adaptive = {}\n", true),
    (
        "flits that err",
        "link = { sharing = { flit = {} }, errors = { bit_error_rate = 1e-6 } }\n\
         routing.direction_order.dateline = true\n",
        false,
    ),
    (
        "buffers at outputs",
        "router.output_buffer = \"64 flits\"\nrouting.direction_order.dateline = true\n",
        false,
    ),
    (
        "buffers at outputs, tables",
        "router.output_buffer = \"64 flits\"\n\
         routing.agnostic = { algorithm = \"dimension-order\", lanes = 2 }\n",
        false,
    ),
];

const PATHS: &str = "routing.relation = { rule = \"minimal\", lanes = 2, unproved = true, \
                     selection = { random = { paths = 2 } } }\n";

/// Workloads on a row each, by name.
const ON_ROWS: [(&str, &str); 4] = [
    (
        "job",
        "nodes = [0, 1, 2, 3]\n\
         application.schedule = { all-to-all = { ranks = 4, bytes = \"16 KiB\" } }\n",
    ),
    (
        "get",
        "nodes = [4, 5, 6, 7]\n\
         remote_memory = { operation = \"get\", pattern = \"all-to-all\", message = \"8 B\" }\n",
    ),
    (
        "sum",
        "collective = { operation = \"all-reduce\", members = [8, 9, 10, 11], message = \"600 B\", \
         rounds = 5 }\n",
    ),
    ("load", "nodes = [12, 13, 14, 15]\ntraffic = { pattern = \"uniform\", load = 0.3 }\n"),
];

/// Some of the workloads on rows, of which the reads have this service.
fn on_rows(router: &str, names: &[&str], service: u8, measure: &str) -> String {
    let of = |name: &str| {
        let (_, text) = ON_ROWS.iter().find(|it| it.0 == name).unwrap();
        let service = match (name, service) {
            ("get", 1..) => format!("service = {service}\n"),
            _ => String::new(),
        };
        format!("[workloads.{name}]\n{service}{text}")
    };
    let workloads: String = names.iter().map(|name| of(name)).collect();
    format!("topology.torus.dimensions = [4, 4]\n{router}{workloads}{measure}")
}

/// Alone means: the same router, and the messages of the others are gone.
#[test]
fn jobs_that_never_meet_are_not_slowed_whatever_parts_the_router_for_the_others() {
    for (router, text, has_collective) in APART_IN {
        let by_tables = text.contains("dimension-order") || text == PATHS;
        for service in 0..=u8::from(by_tables) {
            let sets: [&[&str]; 4] =
                [&["job", "get"], &["job", "sum"], &["get", "sum"], &["job", "get", "sum", "load"]];
            // Where many packets wait, detours by outflank nodes lead out of a row.
            let sets = if text.contains("outflank") { &sets[..3] } else { &sets };
            for &names in sets {
                let names: Vec<&str> =
                    names.iter().copied().filter(|&it| has_collective || it != "sum").collect();
                for told in ["alone", "pairs"] {
                    let measure = format!("[measure]\nslowdowns = \"{told}\"\n");
                    if names.len() < 2 {
                        continue;
                    }
                    let found = run(&on_rows(text, &names, service, &measure));
                    let name = format!("{router}, service {service}, {names:?}, {told}");
                    for row in &found.workloads {
                        let expected = (row.name != "load").then_some(1.0);
                        assert_eq!(row.slowdown, expected, "{} of {name}", row.name);
                    }
                    assert_eq!(found.slowdowns.is_empty(), told == "alone", "{name}");
                    let slowed = found.slowdowns.iter().find(|row| row.slowdown != 1.0);
                    assert_eq!(slowed, None, "{name}");
                }
            }
        }
    }
}

/// All flits of a channel by virtual channel, and those by workload.
fn sums(channel: &ChannelRow) -> (u64, u64) {
    let sum = |prefix: &str| -> u64 {
        let columns = ChannelRow::COLUMNS.iter().filter(|it| it.name.starts_with(prefix));
        let cells = columns.map(|column| match (column.cell)(channel) {
            Cell::Whole(flits) => u64::try_from(flits).unwrap(),
            _ => 0,
        });
        cells.sum()
    };
    (sum("flits_vc"), sum("flits_workload"))
}

/// What is told by class adds up to what is told of all.
#[test]
fn what_is_told_of_each_workload_adds_up_in_every_kind_of_router() {
    for (router, text, has_collective) in APART_IN {
        for shift in 0..4 {
            // On nodes that they share, with a load that goes on at the end, or without it.
            let names: Vec<&str> = ON_ROWS.iter().map(|it| it.0).collect();
            let names = names.into_iter().filter(|&it| has_collective || it != "sum");
            let names: Vec<&str> = names.filter(|&it| shift != 3 || it != "load").collect();
            let mut scenario = on_rows(text, &names, 0, "");
            for (own, mixed) in [
                ("[0, 1, 2, 3]", "[0, 5, 10, 15]"),
                ("[4, 5, 6, 7]", "[0, 1, 6, 11]"),
                ("[12, 13, 14, 15]", "[0, 2, 5, 7, 8, 13]"),
            ] {
                if shift > 0 {
                    scenario = scenario.replace(own, mixed);
                }
            }
            if shift == 2 {
                scenario =
                    scenario.replace("load = 0.3", "load = 0.45").replace("16 KiB", "5000 B");
            }
            let found = run(&scenario);
            let name = format!("{router}, {shift}");
            assert_eq!(found.measured.status, Status::Completed, "{name}");
            let errs = text.contains("bit_error_rate");
            for channel in &found.channels {
                let (by_channel, by_workload) = sums(channel);
                assert_eq!(by_channel, channel.flits, "{name}: {}", channel.channel);
                // What is sent again, and acknowledgements, are no workload's.
                let all = by_workload == channel.flits || errs && by_workload < channel.flits;
                assert!(all, "{name}: {}: {by_workload} of {}", channel.channel, channel.flits);
            }
            let of_all = found.measured.packets.unwrap();
            let of_each = found.workloads.iter().map(|row| row.measured.packets.unwrap_or(0));
            assert_eq!(of_each.sum::<u64>(), of_all, "{name}");
        }
    }
}

#[test]
fn a_slowdown_compares_with_the_same_job_alone() {
    let text = jobs(MIXED, PAIRS);
    let found = run(&text);
    // Without the tables of the others.
    let without = |names: &[&str]| {
        let mut text = jobs(MIXED, "");
        for name in names {
            let begin = text.find(&format!("[workloads.{name}]")).unwrap();
            let next = text[begin + 1..].find("[workloads.");
            let end = next.map_or(text.len(), |at| begin + 1 + at);
            text.replace_range(begin..end, "");
        }
        run(&text)
    };
    let time = |found: &PointResult, name: &str| row(found, name).measured.completion_time.unwrap();
    for (name, rest) in [("one", ["other", "load"]), ("other", ["one", "load"])] {
        let own = row(&found, name);
        let alone = time(&without(&rest), name);
        assert_eq!(own.alone, Some(alone), "{name}");
        let slowdown = time(&found, name).0 as f64 / alone.0 as f64;
        assert_eq!(own.slowdown, Some(slowdown), "{name}");
        assert!(slowdown > 1.01, "{name}: {slowdown}");
        for beside in rest {
            let left = rest.iter().find(|&&it| it != beside).unwrap();
            let pair = found.slowdowns.iter().find(|it| it.workload == name && it.beside == beside);
            let pair = pair.unwrap();
            assert_eq!(pair.completion, time(&without(&[left]), name), "{name} beside {beside}");
            assert_eq!(pair.slowdown, pair.completion.0 as f64 / alone.0 as f64);
        }
    }
}

#[test]
fn what_is_simulated_besides_changes_nothing() {
    let plain = run(&jobs(MIXED, ""));
    for rule in ["alone", "pairs"] {
        let found = run(&jobs(MIXED, &format!("[measure]\nslowdowns = \"{rule}\"\n")));
        assert_eq!(found.measured, plain.measured, "{rule}");
        assert_eq!(found.channels, plain.channels, "{rule}");
        assert_eq!(found.slowdowns.is_empty(), rule == "alone");
        for (one, other) in found.workloads.iter().zip(&plain.workloads) {
            assert_eq!(one.measured, other.measured, "{rule}");
            assert_eq!(other.alone, None);
        }
    }
    // Of two workloads each is beside the other when both are there.
    let text = jobs(MIXED, PAIRS);
    let load = text.find("[workloads.load]").unwrap();
    let two = format!("{}{PAIRS}", &text[..load]);
    let simulation = Simulation::new(&scenario(&two)).unwrap();
    assert_eq!(simulation.further(), [[0], [1]]);
    let found = run(&two);
    let time = row(&found, "one").measured.completion_time.unwrap();
    assert_eq!(found.slowdowns.len(), 2);
    assert_eq!(found.slowdowns[0].completion, time);
    assert!(found.slowdowns[0].completion > Picoseconds::ZERO);
}

#[test]
fn jobs_get_nodes_one_after_the_other_by_the_rule() {
    let senders = |allocation: &str, nodes: [&str; 3]| {
        let text = format!("node_allocation = \"{allocation}\"\n{}", jobs(nodes, ""));
        let simulation = Simulation::new(&scenario(&text)).unwrap();
        simulation.shares().map(|share| share.senders().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(
        senders("linear", ["4", "4", "5"]),
        [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9, 10, 11, 12]]
    );
    // A list before keeps its nodes; boxes are squares where there is room for one.
    let boxes = senders("boxes", ["[0, 1, 2, 3]", "4", "4"]);
    assert_eq!(boxes[1..], [[4, 5, 8, 9], [6, 7, 10, 11]]);
    let random = senders("random", ["4", "4", "5"]);
    assert_eq!(random, senders("random", ["4", "4", "5"]));
    let mut all = random.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 13);
    assert_eq!(senders("groups", ["4", "4", "5"]).concat().len(), 13);
}

#[test]
fn a_repeated_program_takes_as_long_as_one_that_repeats_itself() {
    for (operation, algorithm) in
        [("all-to-all", "linear"), ("all-reduce", "ring"), ("barrier", "dissemination")]
    {
        let run = |iterations: u32, repetitions: u32| {
            let text = format!(
                "topology.torus.dimensions = [4, 2]\n[application]\nrepetitions = {repetitions}\n\
                 schedule = {{ {operation} = {{ ranks = 8, algorithm = \"{algorithm}\", \
                 bytes = \"20 KiB\", iterations = {iterations} }} }}\n"
            );
            run(&text)
        };
        let (itself, repeated) = (run(6, 1), run(2, 3));
        assert_eq!(itself.measured, repeated.measured, "{operation}");
        assert!(repeated.measured.completion_time > run(2, 1).measured.completion_time);
    }
}

/// Flits of each workload on each channel, and all flits.
fn shares(found: &PointResult) -> Vec<([u64; 2], u64)> {
    let row = |channel: &ChannelRow| {
        let of = [channel.flits_workload0, channel.flits_workload1];
        assert_eq!(channel.flits_workload2, None);
        (of.map(|flits| flits.unwrap_or(0)), channel.flits)
    };
    found.channels.iter().map(row).collect()
}

#[test]
fn channels_count_the_flits_of_each_job() {
    let two = |more: &str| {
        let text = jobs(MIXED, "");
        let load = text.find("[workloads.load]").unwrap();
        format!("{more}{}", &text[..load])
    };
    // Where all packets take the ways of tables, each job has the flits that it has alone.
    let found = run(&two(""));
    let alone = |name: &str| {
        let text = two("");
        let places: &[usize] = if name == "one" { &[0] } else { &[1] };
        let scenario = scenario(&text);
        let only = Scenario { workload: scenario.workload.only_those(places), ..scenario };
        let found = Simulation::new(&only).unwrap().run(&mut |_| {}).found;
        assert_eq!(found.workloads.len(), 1, "the other one is silent");
        found.channels.iter().map(|channel| channel.flits).collect::<Vec<_>>()
    };
    let (one, other) = (alone("one"), alone("other"));
    for (place, (of, all)) in shares(&found).into_iter().enumerate() {
        assert_eq!(of, [one[place], other[place]], "{}", found.channels[place].channel);
        assert_eq!(of[0] + of[1], all);
    }
    // All flits are those of some job, whatever the routers do.
    for more in [
        "routing.adaptive = {}\n",
        "link.sharing.flit = {}\nrouting.direction_order.dateline = true\n",
        "routing.agnostic = {}\n",
    ] {
        let shares = shares(&run(&two(more)));
        assert!(shares.iter().all(|(of, all)| of[0] + of[1] == *all), "{more}");
        assert!(shares.iter().any(|(of, _)| of[0] > 0 && of[1] > 0), "{more}");
    }
    // What is sent again, and what acknowledges, is no job's.
    let lossy = shares(&run(&two("link.errors = { bit_error_rate = 1e-6 }\n")));
    assert!(lossy.iter().all(|(of, all)| of[0] + of[1] <= *all));
    let sum = |of: fn(&([u64; 2], u64)) -> u64| lossy.iter().map(of).sum::<u64>();
    assert!(sum(|it| it.0[0] + it.0[1]) < sum(|it| it.1));
}

#[test]
fn the_path_of_a_job_that_begins_later_is_followed_beside_a_load_that_never_ends() {
    let channels = |start: &str, load: bool| {
        let mut text = format!(
            "topology.torus.dimensions = [4, 4]\n[workloads.one]\nnodes = [0, 5, 10, 15]\n\
             start = \"{start}\"\n\
             application.schedule = {{ all-to-all = {{ ranks = 4, bytes = \"16 KiB\" }} }}\n"
        );
        if load {
            text += "[workloads.load.traffic]\npattern = \"uniform\"\nload = 0.4\n";
        }
        let simulation = Simulation::new(&scenario(&text)).unwrap().tracing_path();
        simulation.run(&mut |_| {}).found.explained.channels
    };
    let at_once = channels("0 s", false);
    assert!(!at_once.is_empty());
    assert_eq!(channels("7 us", false), at_once);
    let beside = channels("7 us", true);
    assert!(beside.iter().any(|row| row.held_up > Picoseconds::ZERO));
    assert!(beside.iter().all(|row| row.workload.as_deref() == Some("one")));
}
