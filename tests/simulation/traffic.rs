//! Traffic that draws more than destinations: sizes, periods, mixtures, hot spots that move; and the
//! flows of a trace.

use flitlab::report::{FlowRow, PointResult, Status};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;

use crate::common::workplace::Workplace;

fn scenario(text: &str, more: &[&str]) -> Scenario {
    let mut document = Document::parse("traffic.toml", text);
    more.iter().for_each(|assignment| document.set(assignment));
    Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn run_on(scenario: &Scenario, threads: usize) -> PointResult {
    Simulation::new(scenario).unwrap().on_threads(threads).run(&mut |_| {}).found
}

fn run(text: &str, more: &[&str]) -> PointResult {
    run_on(&scenario(text, more), 1)
}

const LOAD: &str =
    "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\nload = 0.2\n";

const DRAWN: [&str; 5] = [
    "traffic.sizes={ list = [[\"8 B\", 3], [\"3 KiB\", 1]] }",
    "traffic.sizes={ cumulative = [[\"0 B\", 0], [\"200 B\", 0.7], [\"8 KiB\", 1]] }",
    "traffic.process={ markov-modulated = { high = \"1 us\", low = \"3 us\", ratio = 5 } }",
    "traffic.pattern={ hotspot = { share = 0.1, at_once = 2, moves_every = \"2 us\" } }",
    "traffic.pattern={ mixture = { patterns = [{ weight = 4, pattern = \"uniform\" }, { weight = 1, pattern = \"transpose\" }] } }",
];

const WINDOWS: [&str; 4] = [
    "measure.window=10 us",
    "measure.warm_up_windows=2",
    "measure.minimum_windows=4",
    "measure.maximum_windows=6",
];

#[test]
fn what_a_load_draws_is_the_same_on_any_number_of_threads() {
    for drawn in DRAWN {
        for sharing in [&[][..], &["link.sharing=flit"]] {
            let scenario = scenario(LOAD, &[&[drawn][..], &WINDOWS, sharing].concat());
            let one = run_on(&scenario, 1);
            assert!(one.measured.digest.is_some());
            for threads in [2, 3, 7] {
                assert_eq!(run_on(&scenario, threads), one, "{drawn} on {threads} threads");
            }
        }
    }
}

/// The network gets as much as it is offered, whatever is drawn: within the scatter of the sizes
/// and the periods.
#[test]
fn accepted_loads_are_those_that_were_asked_for() {
    for drawn in DRAWN {
        let set = [drawn, "measure.maximum_windows=400", "measure.minimum_windows=100"];
        let row = run(LOAD, &set).measured;
        assert_eq!(row.status, Status::Steady, "{drawn}");
        let share = row.accepted_load.unwrap() / 0.2;
        assert!((share - 1.0).abs() < 0.02, "{drawn}: {share}");
    }
}

/// The channel loads of a mixture are the sum of those of its parts.
#[test]
fn the_bound_of_a_mixture_is_that_of_the_sum_of_its_channel_loads() {
    let bound = |pattern: &str| {
        let set = format!("traffic.pattern={pattern}");
        let simulation = Simulation::new(&scenario(LOAD, &[&set])).unwrap();
        simulation.forecast().throughput().unwrap()
    };
    let hot = "{ hotspot = { nodes = [5], share = 1.0 } }";
    let mixture = format!(
        "{{ mixture = {{ patterns = [{{ weight = 9, pattern = \"uniform\" }}, {{ weight = 1, pattern = {hot} }}] }} }}"
    );
    // A hot node gets a tenth of the flits of 15 others, and its part of the rest.
    let of_mixture = bound(&mixture);
    let parameters = &scenario(LOAD, &[]).parameters;
    let faster = parameters.link_flit_time().0 as f64 / parameters.ejection_flit_time().0 as f64;
    let takes = f64::from(parameters.ejection_channels) * faster;
    let expected = takes / (0.1 * 15.0 + 0.9);
    assert!((of_mixture / expected - 1.0).abs() < 0.001, "{of_mixture} {expected}");
    // Hot spots that move give all nodes as much.
    let moving = bound("{ hotspot = { share = 0.5, moves_every = \"5 us\" } }");
    assert!((moving / bound("uniform") - 1.0).abs() < 1e-9);
}

/// Places where a trace may stand.
fn trace(name: &str, rows: &str) -> (Workplace, String) {
    let place = Workplace::new(name);
    place.write("flows.csv", &format!("time_ns,source,destination,bytes\n{rows}"));
    let file = place.0.join("flows.csv").display().to_string();
    let text = format!("[topology.torus]\ndimensions = [4, 4]\n[flows]\nfile = \"{file}\"\n");
    (place, text)
}

#[test]
fn a_flow_alone_has_a_slowdown_of_one() {
    for (number, bytes) in [1, 200, 256, 257, 5_000, 100_000].into_iter().enumerate() {
        let rows = format!("1000,0,5,{bytes}\n900000,3,2,{bytes}\n");
        let (_place, text) = trace(&format!("flows-alone-{number}"), &rows);
        for more in [&[][..], &["router.switching=store-and-forward"]] {
            let found = run(&text, more);
            let all = &found.explained.flows[0];
            assert_eq!((all.flows, found.measured.status), (2, Status::Completed));
            let slowdown = all.slowdown_max;
            assert!((slowdown - 1.0).abs() < 0.01, "{bytes} B {more:?}: {slowdown}");
        }
    }
}

#[test]
fn flows_into_one_node_take_turns_and_are_the_same_on_any_number_of_threads() {
    let bytes = 20_000;
    let rows: String = (1..16).map(|node| format!("0,{node},0,{bytes}\n")).collect();
    let (_place, text) = trace("flows-into-one", &rows);
    for more in [&[][..], &["link.sharing=flit"]] {
        let scenario = scenario(&text, more);
        let one = run_on(&scenario, 1);
        for threads in [2, 3, 7] {
            assert_eq!(run_on(&scenario, threads), one, "{threads}");
        }
        let row = |at: usize| -> &FlowRow { &one.explained.flows[at] };
        assert_eq!((one.explained.flows.len(), row(0).flows, row(0)), (2, 15, row(1)));
        // The last one waits for all flits of the others at the ejection channel of node 0.
        let parameters = &scenario.parameters;
        let flits = 15 * parameters.message_flits(bytes);
        let least = parameters.ejection_flit_time() * flits;
        let longest = row(0).completion_max;
        assert!(longest >= least && longest < least + least / 4, "{longest} {least}");
        assert!(row(0).slowdown_max > 5.0, "{}", row(0).slowdown_max);
    }
}

#[test]
fn flows_begin_with_the_workload_they_belong_to() {
    let (place, text) = trace("flows-later", "1000,0,5,3000\n");
    let file = place.0.join("flows.csv").display().to_string();
    let alone = run(&text, &[]);
    let several = format!(
        "[topology.torus]\ndimensions = [4, 4]\n[workloads.trace]\nstart = \"30 us\"\n[workloads.trace.flows]\n\
         file = \"{file}\"\n[workloads.other.exchange]\npattern = \"neighbor\"\nmessage = \"64 B\"\n"
    );
    let together = run(&several, &[]);
    assert_eq!(together.explained.flows, alone.explained.flows);
    assert_eq!(together.workloads.len(), 2);
}

/// A fat tree of eight switches with eight terminals and eight ways up each.
const TREE: &str = "[topology.tree]\narity = 8\nlevels = 2\nterminals = 8\n[router]\nvirtual_channels = 1\n\
                    [adapter]\ninjection_channels = 1\n[traffic]\npattern = \"uniform\"\nload = 0.4\nmessage = \"4 KiB\"\n\
                    [measure]\nwindow = \"20 us\"\nwarm_up_windows = 4\nminimum_windows = 6\nmaximum_windows = 6\n";

fn up(choice: &str) -> String {
    format!("routing.relation={{ rule = {{ nearest-ancestor = {{ up = \"{choice}\" }} }} }}")
}

fn paths(choice: &str) -> String {
    format!(
        "routing.relation={{ rule = \"minimal\", selection = {{ random = {{ paths = 8, choice = \"{choice}\" }} }} }}"
    )
}

/// Packets of a flow that all go one way don't overtake each other, and those that draw do.
#[test]
fn packets_of_a_hashed_flow_keep_their_order() {
    for sharing in [&[][..], &["link.sharing=flit"]] {
        for way in [up, paths] {
            let overtaken = |choice| {
                let set = way(choice);
                run(TREE, &[&[&*set], sharing].concat()).measured.overtaken.unwrap()
            };
            assert_eq!(overtaken("hash"), 0.0, "{sharing:?} {}", way("hash"));
            assert!(overtaken("random") > 0.0, "{sharing:?} {}", way("random"));
        }
    }
}

/// All terminals of a switch send to those of the next one, so that flows which share a way up share
/// the way down, and nothing else is in their way. Eight flows are thrown into eight ways: as much
/// gets through as there are ways that have any, which are 1 - (7 / 8)^8 in the mean.
#[test]
fn hashed_flows_collide_like_balls_in_bins() {
    // A crossbar that is no bottleneck, so that packets that draw their ways hardly wait at inputs.
    let shift = [
        "traffic.pattern={ shift = { by = 8 } }",
        "traffic.load=0.98",
        "router.virtual_channels=8",
        "router.crossbar_speedup=2",
        "link.sharing.flit.output_buffer=256",
    ];
    let (mut used, mut seeds) = (0.0, 0.0);
    for seed in 1..=6 {
        let seed = format!("seed={seed}");
        let set = up("hash");
        let found = run(TREE, &[&[&*set, &*seed], &shift[..]].concat());
        let simulation =
            Simulation::new(&scenario(TREE, &[&[&*set, &*seed], &shift[..]].concat())).unwrap();
        let routers = simulation.fabric().routers();
        assert_eq!(routers, 16);
        let of_leaves = found
            .channels
            .iter()
            .filter(|row| row.kind == flitlab::engine::ChannelKind::Network && row.flits > 0);
        // As many ways up as down.
        let ways = of_leaves.count() as f64 / 2.0 / 64.0;
        let accepted = found.measured.accepted_load.unwrap();
        assert!((accepted / ways - 1.0).abs() < 0.05, "{accepted} {ways}");
        used += ways;
        seeds += 1.0;
        let set = up("random");
        let by_packet = run(TREE, &[&[&*set, &*seed], &shift[..]].concat()).measured;
        let by_packet = by_packet.accepted_load.unwrap();
        assert!(by_packet > 0.8 && by_packet > 1.1 * accepted, "{by_packet} {accepted}");
    }
    // The deviation of a switch is 0.09, and there are 48.
    let mean = used / seeds;
    let expected = 1.0 - (7.0_f64 / 8.0).powi(8);
    assert!((mean - expected).abs() < 4.0 * 0.09 / (8.0 * seeds).sqrt(), "{mean} {expected}");
}

#[test]
fn hashed_flows_are_the_same_on_any_number_of_threads() {
    for way in [up, paths] {
        let set = way("hash");
        let scenario = scenario(TREE, &[&set, "measure.maximum_windows=6"]);
        let one = run_on(&scenario, 1);
        for threads in [2, 3, 7] {
            assert_eq!(run_on(&scenario, threads), one, "{threads}");
        }
    }
}
