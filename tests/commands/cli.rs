//! The command as a user runs it: every scenario of the repository, every promise of the help text.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::slice::{at_least, is_in_slice};
use crate::common::workplace::{SHORT, Workplace, scenario, with};

#[test]
fn scenarios_of_desmos_check_and_run() {
    let short =
        ["desmos-uniform", "desmos-read", "ping-neighbour", "allreduce-tree", "allreduce-software"];
    let wanted = |path: &str| short.iter().any(|name| path.contains(name));
    assert_eq!(scenarios_check_and_run("desmos_scenarios", wanted), short.len());
}

#[test]
fn scenarios_of_irregular_networks_check_and_run() {
    assert_eq!(
        scenarios_check_and_run("irregular_scenarios", |path| path.contains("/irregular/")),
        4
    );
}

#[test]
fn scenarios_of_networks_on_chips_check_and_run() {
    assert_eq!(scenarios_check_and_run("noc_scenarios", |path| path.contains("/noc/")), 1);
}

#[test]
#[ignore = "long: 20 minutes; every scenario of the repository checks and runs, by slices"]
fn every_scenario_of_the_repository_checks_and_runs() {
    let number = Cell::new(0);
    let seen = scenarios_check_and_run("every_scenario", |_| {
        is_in_slice(number.replace(number.get() + 1))
    });
    assert!(seen >= at_least(100), "{seen}");
}

/// Checks the scenarios that are wanted and runs them, shortened; how many there were.
fn scenarios_check_and_run(name: &str, wanted: impl Fn(&str) -> bool) -> usize {
    let place = Workplace::new(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut seen = 0;
    let files = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = files(root).flat_map(files).collect();
    paths.sort();
    for path in paths {
        // Some have a netlist and tables beside them.
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let path = path.display().to_string();
        if !wanted(&path) {
            continue;
        }
        // 4: its table can deadlock.
        let checked = place.flitlab(&["check", &path]).status.code();
        assert!(matches!(checked, Some(0 | 4)), "{path}: {checked:?}");
        let text = fs::read_to_string(&path).unwrap();
        let exchange = text.contains("[exchange]");
        let others = ["[application]", "[collective]", "[remote_memory]", "[flows]"];
        let more = if others.iter().any(|table| text.contains(table)) {
            &[][..]
        } else if exchange {
            &["--set", "exchange.message=512 B"][..]
        } else if path.ends_with("/paper-router.toml") {
            &["--set", "measure.messages=4"][..]
        } else if text.contains("\nwarm_up = ") {
            &["--set", "measure.window=2 us", "--set", "measure.warm_up=8 us"][..]
        } else {
            &SHORT
        };
        let small = ["--set", "topology.torus.dimensions=[10, 10, 10]"];
        let more = if path.contains("/scale/") { &with(more, &small) } else { more };
        let few: &[&str] = match path.contains("/nue/") {
            true if exchange => &["--set", "exchange.pattern=random-permutation"],
            true if text.contains("[interruption]") => &["--set", "interruption.time=20 us"],
            _ => &[],
        };
        let more = &with(more, few);
        // The one whose point is that too few virtual channels end in a deadlock.
        if path.ends_with("wormhole-one-lane.toml") {
            let (code, errors) = place.fail(&with(&["run", &path], more));
            assert!(code == 3 && errors.contains("deadlock at"), "{path}: {code} {errors}");
            seen += 1;
            continue;
        }
        let result = place.json(&with(&["run", &path, "--json"], more));
        assert!(result["points"][0]["packets"].as_u64().unwrap() > 0, "{path}");
        seen += 1;
    }
    seen
}

#[test]
fn a_run_leaves_rows_figures_and_a_scenario_that_gives_the_same_again() {
    let place = Workplace::new("a_run");
    let path = scenario("desmos/desmos-uniform");
    let first = place.json(&with(&["run", &path, "--json", "--out", "first"], &SHORT));
    for file in ["points.csv", "channels.csv", "summary.json", "channels.svg", "channels.png"] {
        assert!(!place.read_bytes(&format!("first/{file}")).is_empty());
    }
    let second = place.json(&["run", "first/scenario.toml", "--json", "--out", "second"]);
    assert_eq!(first["points"], second["points"]);
    assert_eq!(place.read("first/points.csv"), place.read("second/points.csv"));
    assert_eq!(place.read("first/channels.csv"), place.read("second/channels.csv"));
}

#[test]
fn a_sweep_of_output_queued_routers_is_run_drawn_and_logged_as_others_are() {
    let place = Workplace::new("output_queued");
    let path = scenario("outflank/paper-router");
    let small = [
        "--set",
        "topology.torus.dimensions=[4, 4, 4]",
        "--set",
        "measure.messages=4",
        "--set",
        "sweep.grid.traffic.load=[0.1, 0.3, 0.5]",
    ];
    for threads in ["1", "3"] {
        place.run(&with(&["sweep", &path, "--threads", threads, "--out", threads], &small));
    }
    for file in ["points.csv", "channels.csv", "windows.csv", "summary.json"] {
        assert_eq!(place.read_bytes(&format!("1/{file}")), place.read_bytes(&format!("3/{file}")));
    }
    assert!(place.read("1/points.csv").contains("derouted_outflank"));
    place.run(&["plot", "1", "--out", "again"]);
    assert!(!place.read_bytes("again/latency-butterfly.svg").is_empty());
    place.run(&["report", "1"]);

    let own = [
        "--set",
        "routing={ outflank = {} }",
        "--set",
        "traffic.pattern=uniform",
        "--set",
        "traffic.load=1",
    ];
    let run = with(&["run", &path, "--json", "--out", "run"], &with(&small[..4], &own));
    let result = place
        .json(&with(&run, &["--log-packets", "packets.csv", "--log-messages", "messages.csv"]));
    let point = &result["points"][0];
    let packets = place.read("packets.csv");
    let rows = packets.lines().skip(1);
    assert_eq!(point["packets"].as_u64().unwrap(), rows.clone().count() as u64);
    let derouted = rows.clone().filter(|row| row.contains(",outflank,")).count() as f64;
    let share = point["derouted_outflank"].as_f64().unwrap();
    let logged = derouted / rows.count() as f64;
    assert!(logged > 0.0 && (logged - share).abs() < 1e-6, "{logged} {share}");
    assert_eq!(place.read("messages.csv").lines().count(), 1 + 64 * 4);

    for (option, file) in [("--checkpoint", "state"), ("--log", "digests.csv")] {
        let (code, errors) =
            place.fail(&with(&["run", &path, "--out", "none", option, file], &small[..4]));
        assert!(code == 2 && errors.contains("outflank-paper"), "{code} {errors}");
    }
    let checked = place.run(&with(&["check", &path], &small[..4]));
    assert!(checked.contains("output-queued, store-and-forward"), "{checked}");
}

#[test]
fn a_sweep_gives_the_same_bytes_on_any_number_of_threads() {
    let place = Workplace::new("threads");
    let path = scenario("desmos/desmos-loads");
    let all = with(&SHORT, &["--set", "sweep.past_saturation=all"]);
    for threads in ["1", "2", "5"] {
        place.run(&with(&["sweep", &path, "--threads", threads, "--out", threads], &all));
    }
    for file in ["points.csv", "channels.csv", "summary.json", "latency.svg", "accepted.svg"] {
        assert_eq!(place.read_bytes(&format!("1/{file}")), place.read_bytes(&format!("2/{file}")));
        assert_eq!(place.read_bytes(&format!("1/{file}")), place.read_bytes(&format!("5/{file}")));
    }
    let rows = place.read("1/points.csv").lines().count();
    assert_eq!(rows, 1 + 44);
}

#[test]
fn a_run_gives_the_same_bytes_on_any_number_of_threads() {
    let place = Workplace::new("run_threads");
    let path = scenario("desmos/desmos-uniform");
    for threads in ["1", "2", "5"] {
        place.run(&with(&["run", &path, "--threads", threads, "--out", threads], &SHORT));
    }
    for file in ["points.csv", "channels.csv", "summary.json", "channels.svg"] {
        assert_eq!(place.read_bytes(&format!("1/{file}")), place.read_bytes(&format!("2/{file}")));
        assert_eq!(place.read_bytes(&format!("1/{file}")), place.read_bytes(&format!("5/{file}")));
    }
}

#[test]
fn a_sweep_can_look_for_saturation() {
    let place = Workplace::new("saturation");
    let path = scenario("angara/torus-8x8x8-saturation");
    let more =
        ["--set", "topology.torus.dimensions=[4,4]", "--set", "sweep.saturation.tolerance=0.1"];
    let result = place.json(&with(&with(&["sweep", &path, "--json"], &more), &SHORT));
    let found = result["saturation"].as_array().unwrap();
    assert_eq!(found.len(), 2);
    for series in found {
        let sustained = series["sustained_load"].as_f64().unwrap();
        let failed = series["lowest_load_not_sustained"].as_f64().unwrap_or(1.0);
        assert!(sustained > 0.2 && failed < 1.2 && sustained < failed, "{series}");
    }
}

#[test]
fn the_run_agrees_with_what_check_says() {
    let place = Workplace::new("check");
    let path = scenario("desmos/desmos-uniform");
    let expected = place.json(&["check", &path, "--json"]);
    let low = ["--set", "traffic.load=0.01"];
    let result = place.json(&with(&["run", &path, "--json"], &low));
    let point = &result["points"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let zero_load = number(&expected["zero_load_latency_mean_ns"]);
    let measured = number(&point["packet_latency_mean_ns"]);
    assert!((measured / zero_load - 1.0).abs() < 0.02, "{measured} against {zero_load}");
    assert!((number(&point["hops_mean"]) / number(&expected["hops_mean"]) - 1.0).abs() < 0.02);
    let high = ["--set", "traffic.load=1"];
    let result = place.json(&with(&with(&["run", &path, "--json"], &high), &SHORT));
    let accepted = number(&result["points"][0]["accepted_load"]);
    assert!(accepted <= number(&expected["throughput_bound_load"]) * 1.01);
}

#[test]
fn check_says_when_the_offered_load_is_past_the_bound() {
    let place = Workplace::new("past_the_bound");
    let says = |load: &str| {
        let torus = "[topology.torus]\ndimensions = [4, 2, 2, 2]\n";
        place.write("a.toml", &format!("{torus}[traffic]\npattern = \"uniform\"\nload = {load}\n"));
        place.run(&["check", "a.toml"]).contains("can't be steady")
    };
    assert!(says("0.29"));
    assert!(!says("0.28"));
}

#[test]
fn check_takes_a_swept_key_as_run_does() {
    let place = Workplace::new("swept_key_set");
    let torus = "[topology.torus]\ndimensions = [4]\n";
    let traffic = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
    place.write("a.toml", &format!("{torus}{traffic}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    let output = place.flitlab(&["check", "a.toml", "--set", "traffic.load=0.05"]);
    let [said, noted] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(output.status.success() && said.contains("load 0.0500"), "{said}{noted}");
    assert!(
        noted.contains("[sweep] is left out") && !said.contains("in 1 series"),
        "{said}{noted}"
    );
    assert!(place.run(&["check", "a.toml"]).contains("2 points in 1 series"));
}

#[test]
fn a_ping_between_neighbours_prints_the_published_latency() {
    let place = Workplace::new("ping");
    let result = place.json(&["run", &scenario("desmos/ping-neighbour"), "--json"]);
    assert_eq!(result["points"][0]["completion_time_us"], 0.85);
}

#[test]
fn reads_wait_for_request_service_and_response() {
    let place = Workplace::new("read");
    let path = scenario("desmos/desmos-read");
    let result = place.json(&with(&["run", &path, "--json", "--set", "traffic.load=0.05"], &SHORT));
    let point = &result["points"][0];
    let message = point["message_latency_mean_ns"].as_f64().unwrap();
    let packet = point["packet_latency_mean_ns"].as_f64().unwrap();
    assert!(message > 2.0 * packet + 700.0, "{message} {packet}");
    let channels = place.read("results/desmos-read/channels.csv");
    let responses = channels.lines().skip(1).filter(|line| !line.ends_with(",0,0,0,0"));
    assert!(responses.count() > 100, "virtual channel 1 carries the responses");
}

#[test]
fn a_deadlock_exits_with_3_and_prints_the_cycle() {
    let place = Workplace::new("deadlock");
    fs::write(
        place.0.join("ring.toml"),
        "[topology.torus]\ndimensions = [8]\n[router]\nbubble = false\nbuffer = \"36 flits\"\n\
         [routing.direction_order]\nhalf_ring = \"plus\"\n\
         [traffic]\npattern = \"tornado\"\nload = 1.0\n",
    )
    .unwrap();
    let (code, errors) = place.fail(&["run", "ring.toml"]);
    assert_eq!(code, 3, "{errors}");
    assert!(errors.contains("packets wait for each other in a cycle"), "{errors}");
    assert!(errors.contains("input port from (7) +x"), "{errors}");
    assert!(errors.contains("the bubble rule is switched off"), "{errors}");
    let summary: Value = serde_json::from_str(&place.read("results/ring/summary.json")).unwrap();
    assert_eq!(summary["points"][0]["status"], "deadlock");
    assert!(summary["deadlocks"][0]["cycle"].as_array().unwrap().len() >= 3);
}

#[test]
fn three_mistakes_are_reported_at_once_and_leave_nothing() {
    let place = Workplace::new("mistakes");
    let text = "[topology.torus]\ndimensions = [8, 8]\n[link]\nlatency = 200\n[router]\nbufer = 3\n\
                [traffic]\npattern = \"unifrom\"\nload = 0.3\n";
    fs::write(place.0.join("a.toml"), text).unwrap();
    let (code, errors) = place.fail(&["run", "a.toml"]);
    assert_eq!(code, 2);
    for expected in ["a.toml:4:11", "a.toml:6:1", "a.toml:8:11", "did you mean `uniform`?"] {
        assert!(errors.contains(expected), "{errors}");
    }
    assert!(!place.0.join("results").exists());
}

#[test]
fn results_never_replace_others() {
    let place = Workplace::new("replace");
    let path = scenario("desmos/ping-neighbour");
    for folder in ["results/ping-neighbour", "results/ping-neighbour-2"] {
        assert!(place.run(&["run", &path]).contains(&format!("results in {folder}\n")));
    }
    let before = place.read("results/ping-neighbour/points.csv");
    let (code, errors) = place.fail(&["run", &path, "--out", "results/ping-neighbour"]);
    assert_eq!(code, 2);
    assert!(errors.contains("has something in it"), "{errors}");
    assert_eq!(place.read("results/ping-neighbour/points.csv"), before);
}

#[test]
fn the_reference_page_is_the_one_in_docs() {
    let place = Workplace::new("reference");
    let page = place.run(&["check", "--reference"]);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario-reference.toml");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&kept, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(kept).unwrap(), page);
}

#[test]
fn a_routing_table_is_made_proved_saved_checked_and_used() {
    let place = Workplace::new("route");
    let path = scenario("desmos/desmos");
    let made = place.json(&["route", &path, "--json", "--save", "table.routes"]);
    assert_eq!((made["maximum_load"].as_u64(), made["gap"].as_f64()), (Some(26), Some(0.0)));
    let checked = place.json(&["route", "--check", "table.routes", "--json"]);
    for figure in ["maximum_load", "minimum_load", "sigma_4", "hops_mean", "dependencies"] {
        assert_eq!(made[figure], checked[figure], "{figure}");
    }
    let table = place.read("table.routes");
    let shorter: Vec<&str> = table.lines().filter(|line| !line.contains("(1,0,0,0) .")).collect();
    fs::write(place.0.join("broken.routes"), shorter.join("\n")).unwrap();
    let output = place.flitlab(&["route", "--check", "broken.routes"]);
    assert_eq!(output.status.code(), Some(4));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("there is no route from (0,0,0,0) to (1,0,0,0)"), "{errors}");
    // Used, a table gives what its algorithm gives; its results read it wherever they are.
    let run = |more: &[&str]| {
        let arguments = with(&with(&["run", &path, "--json"], more), &SHORT);
        place.json(&arguments)["points"][0]["digest"].clone()
    };
    let table = place.0.join("table.routes").display().to_string();
    let file = format!("routing={{ file = {{ path = '{table}' }} }}");
    let by_file = run(&["--set", &file, "--out", "by_file"]);
    assert_eq!(by_file, run(&["--set", "routing.angara.algorithm=balanced"]));
    let again = place.json(&["run", "by_file/scenario.toml", "--json"]);
    assert_eq!(again["points"][0]["digest"], by_file);
    // For another torus, or with a wrong line, it is refused.
    let refused = |more: &[&str]| {
        let output = place.flitlab(&with(&["run", &path], more));
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let other = ["--set", &file, "--set", "topology.torus.dimensions=[4,4,2]"];
    assert!(refused(&other).contains("the table is for another torus"));
    let text = place.read("table.routes").replacen(". +x .", ". +q .", 1);
    fs::write(place.0.join("wrong.routes"), text).unwrap();
    let wrong =
        format!("routing={{ file = {{ path = '{table}' }} }}").replace("table.r", "wrong.r");
    let errors = refused(&["--set", &wrong]);
    assert!(errors.contains("`+q` is no direction") && errors.contains("wrong.routes:5:1"));
    // Balanced tables carry more uniform traffic than direction order does.
    let accepted = |routing: &str| {
        let more = ["--json", "--set", routing, "--set", "traffic.load=0.5"];
        let result = place.json(&with(&with(&["run", &path], &more), &SHORT));
        result["points"][0]["accepted_load"].as_f64().unwrap()
    };
    let balanced = accepted("routing.angara.algorithm=balanced");
    let bfs = accepted("routing.angara.algorithm=bfs");
    assert!(balanced > 1.1 * bfs, "{balanced} {bfs}");
}

#[test]
fn tables_are_the_same_on_any_number_of_threads() {
    let place = Workplace::new("route_threads");
    let path = scenario("angara/torus-4x4x4-failures");
    for algorithm in ["bfs", "genetic", "sssp", "balanced"] {
        let mut tables = Vec::new();
        for threads in ["1", "2", "5"] {
            let file = format!("{algorithm}-{threads}.routes");
            let chosen = ["--algorithm", algorithm, "--threads", threads, "--save", &file];
            place.run(&with(&["route", &path], &chosen));
            tables.push(place.read(&file));
        }
        assert!(tables.iter().all(|table| *table == tables[0]), "{algorithm}");
    }
}

#[test]
fn unroutable_pairs_are_named_and_the_rest_is_written_on_request() {
    let place = Workplace::new("route_partial");
    let path = scenario("angara/torus-4x4x4-failures");
    let without = ["route", &path, "--set", "routing.angara.first_and_last_steps=false"];
    let (code, errors) = place.fail(&with(&without, &["--save", "whole.routes"]));
    assert_eq!(code, 4);
    assert!(errors.contains("15 pairs have no route"), "{errors}");
    assert!(errors.contains("from (0,0,0) to (1,0,0) (2,0,0) (3,0,0)"), "{errors}");
    assert!(errors.contains("from (3,0,0) to (0,0,0)"), "{errors}");
    assert!(!place.0.join("whole.routes").exists());

    let part = place.json(&with(&without, &["--allow-partial", "--save", "part.routes", "--json"]));
    assert_eq!(part["unroutable"].as_array().unwrap().len(), 15);
    assert_eq!(place.read("part.routes").matches("\n(").count(), 64 * 63 - 15);
    let (code, errors) = place.fail(&["route", "--check", "part.routes"]);
    assert_eq!(code, 4);
    assert!(errors.contains("there is no route from (0,0,0) to (1,0,0)"), "{errors}");
    assert!(errors.contains("and 5 more flaws"), "{errors}");
    place.run(&["route", "--check", "part.routes", "--allow-partial"]);

    let table = place.0.join("part.routes").display().to_string();
    let file = format!("routing={{ file = {{ path = '{table}' }} }}");
    let (code, errors) = place.fail(&["run", &path, "--set", &file]);
    assert_eq!(code, 2);
    assert!(errors.contains("the routing table does not fit: line 1"), "{errors}");

    // With steps every pair has a route, and a simulation of it ends steady.
    place.run(&["route", &path, "--save", "whole.routes"]);
    place.run(&["route", "--check", "whole.routes"]);
    let result = place.json(&with(&["run", &path, "--json"], &SHORT));
    assert_eq!(result["points"][0]["status"], "steady");
}

#[test]
fn routes_of_a_job_stay_in_its_box_and_its_table_can_be_simulated() {
    let place = Workplace::new("route_job");
    let path = scenario("angara/job-in-4x4x4x4");
    let made = place.json(&["route", &path, "--save", "job.routes", "--out", "figures", "--json"]);
    assert_eq!((made["nodes"].as_u64(), made["routed_pairs"].as_u64()), (Some(48), Some(48 * 47)));
    for file in ["loads.csv", "heat-map.svg", "heat-map.png", "histogram.svg", "histogram.png"] {
        assert!(!place.read_bytes(&format!("figures/{file}")).is_empty());
    }
    // A cable of a ring that the box cuts is no channel.
    assert!(place.read("figures/loads.csv").contains("\"(0,1,3,0) +x\","));
    assert!(!place.read("figures/loads.csv").contains("\"(0,1,3,0) -y\","));
    let table = place.0.join("job.routes").display().to_string();
    let file = format!("routing={{ file = {{ path = '{table}' }} }}");
    let small = ["--set", "exchange.message=1 KiB", "--json"];
    let from_file = place.json(&with(&["run", &path, "--set", &file], &small));
    let generated = place.json(&with(&["run", &path], &small));
    assert_eq!(from_file["points"], generated["points"]);
}

#[test]
fn a_table_that_no_memory_holds_is_refused_beforehand() {
    let place = Workplace::new("route_memory");
    let path = scenario("desmos/desmos");
    let (code, errors) =
        place.fail(&["route", &path, "--set", "topology.torus.dimensions=[64, 64, 64]"]);
    assert_eq!(code, 2);
    assert!(errors.contains("GB of memory"), "{errors}");
}

#[test]
fn random_failures_are_counted_and_drawn() {
    let place = Workplace::new("failures");
    let path = scenario("desmos/desmos");
    let study = ["failures", &path, "--systems", "20", "--most", "2", "--out", "study", "--json"];
    let study = place.json(&study);
    let rows = study["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["routed_with_relaxation"].as_u64(), Some(20), "a cable of Desmos may fail");
    assert!(rows[0]["routed_by_direction_order"].as_u64() < Some(20));
    for file in ["failures.csv", "cables.svg", "nodes.png"] {
        assert!(!place.read_bytes(&format!("study/{file}")).is_empty());
    }
}

#[test]
#[ignore = "long: ten seconds; reproductions leave rows and figures"]
fn reproductions_leave_rows_and_figures() {
    let place = Workplace::new("reproduce");
    assert!(place.run(&["reproduce", "angara-table2"]).contains("balanced      32 4x2x2x2     26"));
    place.run(&["reproduce", "angara-fig4", "--quick"]);
    place.run(&["reproduce", "angara-fig6", "--quick"]);
    place.run(&["reproduce", "angara-collectives", "--quick"]);
    assert!(place.run(&["reproduce", "nue-faults", "--quick"]).contains("nue-balanced"));
    place.run(&["reproduce", "nue-runtime", "--quick"]);
    assert!(place.run(&["reproduce", "path-selection-table2", "--quick"]).contains("low-physical"));
    for file in [
        "angara-table2/table.csv",
        "angara-fig4/systems.csv",
        "angara-fig4/calls-4d.svg",
        "angara-fig6/completion.csv",
        "angara-collectives/completion.csv",
        "angara-collectives/all-reduce-size.svg",
        "angara-fig6/tornado-1.png",
        "nue-faults/tables.csv",
        "nue-faults/loads.svg",
        "nue-runtime/times.png",
        "path-selection-table2/table.csv",
    ] {
        assert!(!place.read_bytes(&format!("results/{file}")).is_empty());
    }
}

#[test]
fn a_warm_up_that_is_too_short_is_not_taken_for_saturation() {
    let place = Workplace::new("short-warm-up");
    let uniform = scenario("desmos/desmos-uniform");
    let output = place.flitlab(&[
        "run",
        &uniform,
        "--set",
        "traffic.load=0.1",
        "--set",
        "measure.warm_up_windows=1",
        "--set",
        "measure.growth=0.05",
    ]);
    // What is measured shows it, and the warm-up goes on in longer windows.
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !warning.contains("saturation"), "{warning}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("steady; ") && !said.contains("not steady"), "{said}");
}
