//! What `flitlab route` shows of one pair: its routes, the routing graph, its detours; tables
//! for a traffic, and nodes for a job.

use crate::common::workplace::{Workplace, scenario, with};

#[test]
fn the_routes_of_a_pair_are_listed_with_that_of_the_table() {
    let place = Workplace::new("route_pair");
    let path = scenario("desmos/desmos");
    let text = place.run(&["route", &path, "--pair", "0,0,0,0", "(2,1,0,0)"]);
    assert!(text.contains("from (0,0,0,0) to (2,1,0,0)"), "{text}");
    assert!(text.contains("3 legal routes of 3 hops"), "{text}");
    assert!(text.contains("first step +y, 2 +x\n"), "{text}");
    assert_eq!(text.matches("the table takes this one").count(), 1, "{text}");
    // Node 6 is (2,1,0,0); every algorithm takes one of the three.
    for algorithm in ["balanced", "bfs", "sssp", "direction-order"] {
        let pair = ["route", &path, "--algorithm", algorithm, "--pair", "0", "6", "--json"];
        let found = place.json(&pair);
        let routes = found["routes"].as_array().unwrap();
        assert_eq!((routes.len(), found["hops"].as_u64()), (3, Some(3)), "{algorithm}");
        let taken = routes.iter().filter(|route| route["in_table"] == true);
        assert_eq!(taken.count(), 1, "{algorithm}");
    }
}

#[test]
fn the_way_of_a_pair_is_followed_through_a_forwarding_table() {
    let place = Workplace::new("route_pair_forwarding");
    let path = scenario("nue/kautz");
    let text = place.run(&["route", &path, "--algorithm", "dfsssp", "--pair", "0", "9"]);
    assert!(text.contains("  hop 1 ") && text.contains(", virtual channel "), "{text}");
    let path = scenario("desmos/desmos");
    let pair = ["route", &path, "--algorithm", "min-hop", "--pair", "0", "31", "--json"];
    let found = place.json(&pair);
    // Four directions in any order, the first of them either way round its ring.
    assert_eq!((found["shortest_hops"].as_u64(), found["hops"].as_u64()), (Some(4), Some(4)));
    assert_eq!(found["shortest_ways"].as_u64(), Some(24));
    assert_eq!(found["channels"].as_array().unwrap().len(), 4);
}

#[test]
fn nodes_that_are_no_pair_are_refused_with_the_way_out() {
    let place = Workplace::new("route_pair_wrong");
    let path = scenario("desmos/desmos");
    let failed = "topology.torus.failed_nodes=[[1, 0, 0, 0]]";
    for (option, pair, set, words) in [
        ("--pair", ["0", "9,9,9,9"], "seed=1", "node numbers from 0 to 31"),
        ("--pair", ["0", "host"], "seed=1", "a node is its number, or its coordinates"),
        ("--pair", ["0", "(0,0,0,0)"], "seed=1", "name two different nodes"),
        ("--pair", ["0", "1"], failed, "node (1,0,0,0) has failed"),
        ("--detours", ["32", "0"], "seed=1", "there is no node 32"),
    ] {
        let call = with(&["route", &path, option], &pair);
        let (code, errors) = place.fail(&with(&call, &["--set", set]));
        let told = errors.contains(words) && errors.contains("\nhelp: ");
        assert!(code == 2 && told && errors.contains(option), "{errors}");
    }
    for other in [["--save", "x"], ["--check", "x"], ["--out", "x"]] {
        let (code, errors) = place.fail(&with(&["route", &path, "--pair", "0", "1"], &other));
        assert!(code == 2 && errors.contains(other[0]), "{errors}");
    }
    let kautz = scenario("nue/kautz");
    for call in [
        &["route", &path, "--algorithm", "nue", "--graph", "x"][..],
        &["route", &kautz, "--graph", "x"],
        &["route", &kautz, "--detours", "0", "1"],
        &["route", &path, "--detours", "0", "1", "--load", "1,2"],
    ] {
        let (code, errors) = place.fail(call);
        assert!(code == 2 && errors.contains("\nhelp: "), "{errors}");
    }
    assert!(!place.0.join("x").exists());
    // Without steps, this pair beside a failed cable has no route.
    let path = scenario("desmos/desmos");
    let set = ["routing.angara.first_and_last_steps=false", "topology.torus.open=['x']"];
    let call = ["route", &path, "--set", set[0], "--set", set[1], "--set"];
    let cable = "topology.torus.failed_cables=[{ node = [0, 0, 0, 0], direction = '+x' }]";
    let (code, errors) = place.fail(&with(&call, &[cable, "--pair", "0", "1"]));
    assert!(code == 4 && errors.contains("no legal route from (0,0,0,0) to (1,0,0,0)"), "{errors}");
}

#[test]
fn the_routing_graph_is_drawn_whole_or_for_a_pair() {
    let place = Workplace::new("route_graph");
    place.write("grid.toml", "[topology.torus]\ndimensions = [4, 4]\n");
    let whole = ["route", "grid.toml", "--graph", "graph.dot"];
    let text = place.run(&whole);
    assert!(text.contains("14 vertices and 39 edges a node, 224 and 624 in all"), "{text}");
    let drawn = place.read("graph.dot");
    assert_eq!(drawn.matches(" -> ").count(), 624);

    let (code, errors) = place.fail(&whole);
    assert!(code == 2 && errors.contains("--force"), "{errors}");
    let pair = with(&whole, &["--pair", "0", "6", "--force"]);
    let found = place.json(&with(&pair, &["--json"]));
    let graph = &found["graph"];
    assert_eq!((graph["vertices"].as_u64(), graph["edges"].as_u64()), (Some(224), Some(624)));
    let drawn = place.read("graph.dot");
    assert_eq!(drawn.matches("in the table").count(), 1);
    assert!(drawn.contains("penwidth=4") && drawn.matches(" -> ").count() < 40, "{drawn}");

    place.write("other.dot", "digraph mine {}\n");
    let (code, errors) = place.fail(&["route", "grid.toml", "--graph", "other.dot", "--force"]);
    assert!(code == 2 && errors.contains("is no routing graph"), "{errors}");
    let large = ["--set", "topology.torus.dimensions=[8, 8, 8]"];
    let (code, errors) = place.fail(&with(&["route", "grid.toml", "--graph", "x.dot"], &large));
    assert!(code == 2 && errors.contains("64000 edges") && errors.contains("--pair"), "{errors}");
}

#[test]
fn the_detours_of_a_pair_have_their_dilation_and_profit() {
    let place = Workplace::new("route_detours");
    place.write("grid.toml", "[topology.torus]\ndimensions = [16, 16]\n");
    let call = ["route", "grid.toml", "--detours", "4,4", "9,4"];
    let found = place.json(&with(&call, &["--json"]));
    let nodes = found["nodes"].as_array().unwrap();
    let outflank = |node: &&serde_json::Value| node["kind"] == "outflank";
    // All six of Figure 2, of which two suffice.
    assert_eq!(nodes.iter().filter(outflank).count(), 6);
    assert_eq!(nodes.iter().filter(outflank).filter(|node| node["used"] == true).count(), 2);
    assert_eq!(found["profit"].as_f64(), Some(3.0));
    let text = place.run(&call);
    assert!(text.contains("(11,6), lambda (1,1), 13 hops, dilation 8, profit 1.769\n"), "{text}");
    assert!(!text.contains("a packet takes"), "{text}");

    // Seven hops that wait against nine that don't.
    let far = ["route", "grid.toml", "--detours", "4,4", "11,4", "--load", "80,1,1,1"];
    let text = place.run(&far);
    assert_eq!(text.matches("a packet takes this one").count(), 1, "{text}");
    // The scenario's own keys count.
    let set = ["--set", "routing={ outflank = { steps = 3, distance_weight = 0.5 } }"];
    let text = place.run(&with(&call, &set));
    assert!(text.contains("3 steps outside") && text.contains("distance weight 0.5"), "{text}");
}

#[test]
fn a_deviation_of_any_power_can_be_asked_for() {
    let place = Workplace::new("route_sigma");
    let path = scenario("desmos/desmos");
    let found = place.json(&["route", &path, "--sigma", "4", "--json"]);
    assert_eq!(found["asked_sigma"]["value"], found["sigma_4"]);
    for algorithm in ["sssp", "nue"] {
        let text = place.run(&["route", &path, "--algorithm", algorithm, "--sigma", "9"]);
        assert!(text.contains(", sigma(9) "), "{text}");
    }
    let (code, _) = place.fail(&["route", &path, "--sigma", "33"]);
    assert_eq!(code, 2);
}

#[test]
fn a_table_for_a_traffic_says_what_it_gains() {
    let place = Workplace::new("route_traffic");
    let path = scenario("desmos/desmos");
    let call = ["route", &path, "--traffic", "--set"];
    let transpose = with(&call, &["traffic.pattern=rank-transpose"]);
    let text = place.run(&with(&transpose, &["--save", "t.routes"]));
    let gain = "10.000% under the general table, 6.667% under this one; none with one shortest route a pair has less";
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(gain), "{text}");
    place.run(&["route", "--check", "t.routes"]);
    let found = &place.json(&with(&transpose, &["--json"]))["traffic"];
    let share = |key: &str| (found[key].as_f64().unwrap() * 60.0).round();
    assert_eq!((share("general_table_share"), share("this_table_share")), (6.0, 4.0), "{found}");
    assert_eq!(share("least_share"), 4.0);

    let several = scenario("studies/two-classes");
    let reads = scenario("desmos/desmos-read");
    let kautz = scenario("nue/kautz");
    for (call, words) in [
        (&["route", &several, "--traffic"][..], "one workload"),
        (&["route", &reads, "--traffic"], "are answered"),
        (&with(&transpose, &["--algorithm", "sssp"]), "sssp counts all pairs alike"),
        (&with(&transpose, &["--algorithm", "sgr"]), "sgr counts all pairs alike"),
        (&with(&transpose, &["--algorithm", "nue"]), "tables for Angara"),
        (&["route", &kautz, "--traffic"], "tables for Angara"),
        (&with(&transpose, &["--pair", "0", "1"]), "save the table"),
    ] {
        let (code, errors) = place.fail(call);
        let told = errors.contains(words) && errors.contains("\nhelp: ");
        assert!(code == 2 && told, "{call:?}: {errors}");
    }
    let (code, errors) = place.fail(&["route", "--check", "t.routes", "--traffic"]);
    assert!(code == 2 && errors.contains("--traffic"), "{errors}");
}

#[test]
fn an_order_that_several_routes_break_is_said_before_a_run() {
    let place = Workplace::new("route_order");
    let path = scenario("desmos/desmos");
    for (algorithm, choice, is_said) in [
        ("sgr", "by-destination", true),
        ("sgr", "in-turn", false),
        ("balanced", "by-destination", false),
    ] {
        let routing = format!("routing={{angara={{algorithm=\"{algorithm}\"}}}}");
        let choice = format!("adapter.injection_choice={choice}");
        let output = place.flitlab(&["check", &path, "--set", &routing, "--set", &choice]);
        let said = String::from_utf8(output.stderr).unwrap();
        let told = said.contains("the order of a pair's packets is not kept");
        assert!(output.status.success() && told == is_said, "{algorithm}, {choice}: {said}");
    }
}

#[test]
fn nodes_are_chosen_for_a_job_and_make_a_scenario() {
    let place = Workplace::new("route_choose");
    let path = scenario("desmos/desmos");
    let found = place.json(&["route", &path, "--choose", "8", "--json"]);
    let load = |it: &serde_json::Value| it["maximum_load"].as_f64().unwrap();
    let (chosen, linear) = (&found["chosen"], &found["linear"]);
    assert_eq!((load(chosen), found["free_nodes"].as_u64()), (4.0, Some(32)));
    assert!(load(chosen) <= load(linear));
    // The printed key gives a scenario with such a table.
    let set = found["node_set"].as_str().unwrap();
    let of_set = place.json(&["route", &path, "--set", set, "--json"]);
    assert_eq!((load(&of_set), of_set["nodes"].as_u64()), (4.0, Some(8)));

    // Half the nodes are free, in two pieces; of the first three nodes one has no neighbour.
    place.write("free", "0\n2,0,0,0 # idle\n(2,1,0,0)\n\n3,1,0,0\n3,0,0,0\n");
    let free = ["route", &path, "--free", "free", "--choose"];
    let text = place.run(&with(&free, &["4"]));
    assert!(text.contains("4 of 5 free nodes"), "{text}");
    assert!(text.contains("(2,0,0,0) (3,0,0,0) (2,1,0,0) (3,1,0,0)"), "{text}");
    place.write("torn", "0\n2,0,0,0\n");
    let torn = ["route", &path, "--free", "torn", "--choose", "2"];
    let (code, errors) = place.fail(&torn);
    assert!(code == 4 && errors.contains("routes among themselves"), "{errors}");

    place.write("wrong", "0\nnode7\n");
    let kautz = scenario("nue/kautz");
    let failed = "topology.torus.failed_nodes=[[3, 1, 0, 0]]";
    for (call, words) in [
        (with(&free, &["6"]), "5 are free"),
        (with(&free, &["4", "--set", failed]), "free:5: node 3,1,0,0 has failed"),
        (with(&free, &["4", "--algorithm", "nue"]), "tables for Angara"),
        (with(&["route", &path], &["--choose", "2", "--free", "wrong"]), "wrong:2: `node7`"),
        (with(&["route", &kautz], &["--choose", "4"]), "tables for Angara"),
        (with(&free, &["4", "--set", "topology.torus.dimensions=[32, 32, 8]"]), "4096 nodes"),
    ] {
        let (code, errors) = place.fail(&call);
        assert!(code == 2 && errors.contains(words) && errors.contains("help: "), "{errors}");
    }
    for other in [&["--traffic"][..], &["--save", "x"], &["--pair", "0", "1"], &["--check", "x"]] {
        let (code, errors) = place.fail(&with(&["route", &path, "--choose", "4"], other));
        assert!(code == 2 && errors.contains(other[0]), "{errors}");
    }
}

/// Each line is what `route` says of that algorithm alone.
#[test]
fn all_algorithms_are_compared_on_one_fabric() {
    let place = Workplace::new("route_compare");
    place.write(
        "net.toml",
        "[topology.kautz]\ndegree = 2\nlength = 3\nterminals = 2\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
    );
    let lanes = ["--lanes", "2"];
    let compare = with(&["route", "net.toml", "--compare"], &lanes);
    let found = place.json(&with(&compare, &["--json"]));
    let rows = found["algorithms"].as_array().unwrap();
    let (mut made, mut cycles) = (0, 0);
    for row in rows {
        let name = row["algorithm"].as_str().unwrap();
        let alone = with(&with(&["route", "net.toml", "--json", "--algorithm", name], &lanes), &[]);
        if row["proof"] == "" {
            let (code, errors) = place.fail(&alone);
            let note = row["note"].as_str().unwrap();
            assert!(code == 2 && errors.contains(note) && !note.is_empty(), "{name}: {errors}");
            continue;
        }
        let output = place.flitlab(&alone);
        let one: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for key in ["maximum_load", "gap", "hops_mean", "hops_maximum", "lanes_used"] {
            let near = (one[key].as_f64().unwrap() - row[key].as_f64().unwrap()).abs() < 1e-6;
            assert!(near, "{name}, {key}: {one} {row}");
        }
        assert_eq!(one["lower_bound"], found["lower_bound"]);
        let has_cycle = !one["cycle"].as_array().unwrap().is_empty();
        assert_eq!(row["proof"], if has_cycle { "cycle" } else { "no cycle" }, "{name}");
        made += 1;
        cycles += usize::from(has_cycle);
    }
    assert!(made > 8 && cycles > 0 && made < rows.len(), "{found}");
    // As text and as a file.
    let text = place.run(&with(&compare, &["--out", "tables"]));
    assert!(
        text.contains("--lanes 2 means nothing to it") && text.contains("no table: "),
        "{text}"
    );
    let csv = place.read("tables/algorithms.csv");
    assert_eq!(csv.lines().count(), rows.len() + 1, "{csv}");
    let (code, errors) = place.fail(&with(&compare, &["--algorithm", "nue"]));
    assert!(code == 2 && errors.contains("--algorithm"), "{errors}");
}
