//! What commands say of files that are something else, of options that collide or do nothing, and
//! of names of any kind.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::workplace::{Workplace, with};

const SMALL: &str = "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n\
                     load = 0.3\n[measure]\nwindow = \"2 us\"\nwarm_up_windows = 3\n\
                     minimum_windows = 2\nmaximum_windows = 3\n";

/// A call that must be refused for a wrong input, and what it says.
fn refused(place: &Workplace, call: &[&str]) -> String {
    let (code, errors) = place.fail(call);
    assert_eq!(code, 2, "{call:?}: {errors}");
    errors
}

#[test]
fn series_of_any_name_are_swept_and_drawn() {
    let place = Workplace::new("told_series");
    let long = "x".repeat(250);
    let names = [&*long, &*format!("{long}y"), "a/../../b", "A b", "a-b", "ряд", "вид", "."];
    let series: String = (1..)
        .zip(names)
        .map(|(seed, name)| format!("\"{name}\" = {{ seed = {seed} }}\n"))
        .collect();
    place.write("мой study.toml", &format!("{SMALL}[sweep.series]\n{series}"));
    let printed = place.run(&["sweep", "мой study.toml"]);
    assert!(printed.contains("results in results/мой-study"), "{printed}");
    assert!(place.read("results/мой-study/summary.json").contains("\"points\""));
    place.run(&[
        "plot",
        "results/мой-study",
        "--only",
        "channels",
        "--format",
        "svg",
        "--out",
        "o",
    ]);
    let mut files: Vec<String> = fs::read_dir(place.0.join("o"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().to_lowercase())
        .collect();
    files.sort();
    files.dedup();
    assert_eq!(files.len(), names.len(), "on any system each series has a file: {files:?}");
    assert!(files.contains(&"channels-ряд.svg".to_owned()), "{files:?}");
}

#[test]
fn figures_whose_values_differ_in_signs_only_have_a_file_each() {
    let place = Workplace::new("told_figures");
    let series = "[sweep.series]\n\"a b\" = {}\n\"a-b\" = { seed = 2 }\n";
    place.write("a.toml", &format!("{SMALL}{series}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    place.run(&["sweep", "a.toml", "--out", "o"]);
    let files = fs::read_dir(place.0.join("o")).unwrap().map(|it| it.unwrap().file_name());
    let maps = files.filter(|name| name.to_str().unwrap().starts_with("channels-a-b")).count();
    assert_eq!(maps, 2 * 3, "two series, three formats");
}

#[test]
fn what_points_have_unasked_is_said_with_the_key_that_makes_them_alike() {
    let place = Workplace::new("told_unasked");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let series = "[sweep.series]\n\"torus\" = { topology.torus = { dimensions = [4, 4] } }\n\
                  Dragonfly = { topology.dragonfly = { groups = 3, group_size = 2, global_cables = 1 } }\n\
                  \"fat tree\" = { topology.tree = { arity = 2, levels = 2 } }\n";
    place.write("a.toml", &format!("[traffic]{rest}{series}"));
    let said = place.run(&["check", "a.toml"]);
    for words in [
        "angara: torus (router.maximum_payload 256 B, link.rate 60 Gb/s",
        "infiniband-4xqdr: Dragonfly, fat tree (router.maximum_payload 2 KiB, link.rate 32 Gb/s",
        "--set router.preset=angara makes all of them alike",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let output = place.flitlab(&["sweep", "a.toml", "--out", "o"]);
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && noted.contains("router.preset=angara"), "{noted}");
    place.run(&["report", "o"]);
    assert!(place.read("o/report.html").contains("link.rate 32 Gb/s"));
    let json = place.json(&["check", "a.toml", "--json"]);
    assert_eq!(json["sweep"]["unasked"].as_array().unwrap().len(), 2);
    // The advice, followed.
    let alike = ["--set", "router.preset=angara"];
    assert!(!place.run(&with(&["check", "a.toml"], &alike)).contains("makes all of them alike"));
    let (code, errors) = place.fail(&with(&["sweep", "a.toml", "--out", "alike"], &alike));
    assert!(code == 0 && !errors.contains("routers and links differ"), "{errors}");
    // What is swept is no surprise.
    let swept = "[sweep.grid]\nrouter.preset = [\"angara\", \"infiniband-4xqdr\"]\n";
    place.write("b.toml", &format!("{SMALL}{swept}"));
    // 4: the other preset keeps no bubble, so that rings can deadlock.
    let output = place.flitlab(&["check", "b.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 4)));
    assert!(!String::from_utf8(output.stdout).unwrap().contains("alike"));
    // A routing of any fabric brings the other preset with it, too.
    let routings = "[sweep.series]\na = {}\nb = { routing.agnostic = {} }\n";
    place.write("c.toml", &format!("{SMALL}{routings}"));
    assert!(place.run(&["check", "c.toml"]).contains("router.preset=angara"));
}

/// A new user's comparison of a table with adaptive routing: by default the table takes one of
/// eight virtual channels.
#[test]
fn series_of_a_figure_that_take_other_virtual_channels_are_told_with_the_way_out() {
    let place = Workplace::new("told_unlike");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let tree = format!("[topology.tree]\narity = 4\nlevels = 2\n[traffic]{rest}");
    let compare = |table: &str| {
        format!(
            "{tree}[sweep.series]\n\"d-mod-k\" = {{ routing = {{ agnostic = {{ {table} }} }} }}\n\
             adaptive = {{ routing.relation.rule = \"nearest-ancestor\" }}\n\
             [sweep.grid]\ntraffic.load = [0.1, 0.2]\n"
        )
    };
    place.write("a.toml", &compare("algorithm = \"d-mod-k\""));
    let told = "virtual channels differ: 1 of 8 (d-mod-k); 8 of 8 (adaptive)";
    let way_out = "routing.agnostic.spread = \"by-pair\"";
    let said = place.run(&["check", "a.toml"]);
    assert!(said.contains(told) && said.contains(way_out), "{said}");
    let unlike = place.json(&["check", "a.toml", "--json"])["sweep"]["unlike"].clone();
    assert_eq!(unlike[0]["resource"], "virtual-channels", "{unlike}");
    assert_eq!(unlike[0]["groups"][0]["series"][0], "d-mod-k", "{unlike}");
    let output = place.flitlab(&["sweep", "a.toml", "--out", "o"]);
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && noted.contains(told), "{noted}");
    place.run(&["report", "o"]);
    assert!(place.read("o/report.html").contains("1 of 8 (d-mod-k)"));
    // The advice, followed.
    place.write("b.toml", &compare("algorithm = \"d-mod-k\", spread = \"by-pair\""));
    assert!(!place.run(&["check", "b.toml"]).contains("differ"));
    let output = place.flitlab(&["sweep", "b.toml", "--out", "alike"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("differ"));
    // Where the sweep says how many there are, series are compared that have as many.
    let few = "{tree}[sweep.grid]\nrouter.virtual_channels = [1, 4]\n\
               routing = [{ agnostic = {} }, { relation = { rule = \"nearest-ancestor\" } }]\n";
    place.write("c.toml", &few.replace("{tree}", &tree));
    let said = place.run(&["check", "c.toml"]);
    assert!(said.contains("1 of 4") && said.contains("4 of 4"), "{said}");
    assert!(!said.contains("1 of 1"), "{said}");
    let alone = few.replace("agnostic = {}", "relation = { rule = \"minimal\" }");
    place.write("d.toml", &alone.replace("{tree}", &tree));
    assert!(!place.run(&["check", "d.toml"]).contains("differ"));
}

/// The figure's name is no part of theirs, and a name with a comma is in quotes.
#[test]
fn series_that_differ_have_the_names_of_their_figures() {
    let place = Workplace::new("told_names");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let sweep = |series: &str, axis: &str| {
        format!(
            "[traffic]{rest}[sweep]\nfigures = \"traffic.pattern\"\n[sweep.series]\n{series}[sweep.grid]\n\
             traffic.pattern = [\"uniform\", \"bit-complement\"]\n{axis}traffic.load = [0.1, 0.2]\n"
        )
    };
    let tree = "[topology.tree]\narity = 4\nlevels = 2\n";
    let routings = "table = { routing.agnostic = {} }\n\
                    adaptive = { routing.relation.rule = \"nearest-ancestor\" }\n";
    let axis = "router.arbitration = [\"random\", \"round-robin\"]\n";
    place.write("a.toml", &format!("{tree}{}", sweep(routings, axis)));
    let said = place.run(&["check", "a.toml"]);
    let told = "virtual channels differ in uniform, bit-complement: 1 of 8 (`table, random`, \
                `table, round-robin`); 8 of 8 (`adaptive, random`, `adaptive, round-robin`)";
    assert!(said.contains(told), "{said}");
    let topologies = "torus = { topology.torus = { dimensions = [4, 4] } }\n\
                      tree = { topology.tree = { arity = 4, levels = 2 } }\n";
    place.write("b.toml", &sweep(topologies, ""));
    let said = place.run(&["check", "b.toml"]);
    assert!(said.contains("angara: torus (") && said.contains("4xqdr: tree ("), "{said}");
    // Where figures differ in the topology, the names there say nothing of it.
    let by_topology = sweep("a = { seed = 1 }\nb = { seed = 2 }\n", "")
        .replace("\"traffic.pattern\"", "\"topology\"")
        .replace(
            "traffic.pattern = [\"uniform\", \"bit-complement\"]",
            "topology = [{ torus = { dimensions = [4, 4] } }, { tree = { arity = 4, levels = 2 } }]",
        );
    place.write("c.toml", &by_topology);
    let said = place.run(&["check", "c.toml"]);
    assert!(said.contains("angara: `a, torus") && said.contains("4xqdr: `a, tree"), "{said}");
}

#[test]
fn rates_that_come_with_a_topology_are_told_where_series_compare_it() {
    let place = Workplace::new("told_unlike_rates");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let series = "[sweep.grid]\ntopology = [{ hyperx = { dimensions = [4, 4] } }, \
                  { tree = { arity = 4, levels = 2, rates = [\"100 Gb/s\"] } }]\n";
    place.write("a.toml", &format!("[traffic]{rest}{series}"));
    let said = place.run(&["check", "a.toml"]);
    assert!(said.contains("rates differ") && said.contains("link.rate 100 Gb/s (`tree"), "{said}");
    let own = format!("[link]\nrate = \"100 Gb/s\"\n[traffic]{rest}{series}");
    place.write("b.toml", &own);
    assert!(!place.run(&["check", "b.toml"]).contains("link.rate"));
}

#[test]
fn keys_of_an_algorithm_that_is_not_chosen_are_told() {
    let place = Workplace::new("told_ignored_keys");
    let scenario = |keys: &str| {
        let torus = "[topology.torus]\ndimensions = [3, 3]\n";
        let traffic = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
        place.write("a.toml", &format!("{torus}[routing.angara]\n{keys}\n{traffic}"));
    };
    let said = |call: &[&str]| {
        let output = place.flitlab(call);
        assert_eq!(output.status.code(), Some(0), "{call:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let note = "note: `algorithm = \"sssp\"` ignores the keys of [routing.angara] that begin with \
                `bfs_` or `genetic_`";
    scenario(
        "bfs_ties = \"ascending\"\nsssp_ties = \"last\"\ngenetic_improvement_percent = 3\nalgorithm = \"sssp\"",
    );
    for call in [&["check", "a.toml"][..], &["run", "a.toml"], &["route", "a.toml"]] {
        assert!(said(call).contains(note), "{call:?}");
    }
    assert!(!said(&["route", "a.toml", "--algorithm", "bfs"]).contains("ignores"));
    scenario("bfs_ties = \"ascending\"\nalgorithm = \"bfs\"");
    assert!(!said(&["check", "a.toml"]).contains("ignores"));

    let genetic =
        "algorithm = \"genetic\"\nbfs_ties = \"ascending\"\ngenetic_small_gain = \"counts\"\n";
    for (percent, is_told) in [(0, true), (5, false)] {
        scenario(&format!("{genetic}genetic_improvement_percent = {percent}"));
        let said = said(&["check", "a.toml"]);
        assert_eq!(said.contains("`genetic_small_gain` has nothing to do"), is_told, "{said}");
        assert!(said.contains("that begin with `bfs_`"), "{said}");
    }
}

#[test]
fn check_says_how_many_virtual_channels_a_table_takes_and_what_spreads_it() {
    let place = Workplace::new("told_lanes");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let table = |keys: &str| {
        format!("[topology.tree]\narity = 4\nlevels = 2\n[routing.agnostic]\n{keys}[traffic]{rest}")
    };
    place.write("a.toml", &table(""));
    let said = place.run(&["check", "a.toml"]);
    let advice =
        "8, of which the forwarding table uses 1; `spread = \"by-pair\"` in [routing.agnostic]";
    assert!(said.contains(advice), "{said}");
    for (value, uses) in [("by-pair", "uses 8"), ("by-destination", "uses 8")] {
        place.write("b.toml", &table(&format!("spread = \"{value}\"\n")));
        let said = place.run(&["check", "b.toml"]);
        assert!(said.contains(uses) && !said.contains("spreads packets"), "{said}");
    }
    place.write("c.toml", &table("lanes = 3\nspread = \"by-pair\"\n"));
    assert!(place.run(&["check", "c.toml"]).contains("uses 3"));
    // `compare` says it, too.
    place.write("b.toml", &table("spread = \"by-pair\"\n"));
    place.run(&["run", "a.toml", "--out", "one"]);
    place.run(&["run", "b.toml", "--out", "all"]);
    let output = place.flitlab(&["compare", "one", "all", "--tolerance", "99%"]);
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(noted.contains("1 of 8 in A, 8 of 8 in B"), "{noted}");
    place.run(&["report", "one", "all", "-o", "both.html"]);
    assert!(place.read("both.html").contains("virtual channels that packets take"));
}

#[test]
fn the_resolved_scenario_of_a_sweep_gives_the_same_points_whatever_it_varies() {
    let place = Workplace::new("told_resolved");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let bare = format!("[traffic]{rest}");
    let series = "[sweep.series]\na = { topology.torus = { dimensions = [4, 4] } }\n\
                  b = { topology.tree = { arity = 2, levels = 2 } }\n";
    let cases = [
        format!("{bare}{series}"),
        format!(
            "{SMALL}[sweep.series]\na = {{}}\nb = {{ topology.tree = {{ arity = 2, levels = 2 }} }}\n"
        ),
        format!(
            "{SMALL}[sweep.series]\na = {{}}\nb = {{ router.preset = \"infiniband-4xqdr\" }}\n"
        ),
        format!("{SMALL}[sweep.grid]\nrouter.preset = [\"angara\", \"infiniband-4xqdr\"]\n"),
        format!(
            "{SMALL}[sweep.grid]\ntopology = [{{ torus = {{ dimensions = [4] }} }}, {{ tree = {{ arity = 2, levels = 2 }} }}]\n"
        ),
        format!(
            "{SMALL}[sweep.grid]\nrouting = [{{ direction_order = {{}} }}, {{ agnostic = {{}} }}]\n"
        ),
        format!(
            "{SMALL}[routing.adaptive]\n[sweep.series]\na = {{}}\nb = {{ routing.outflank.steps = 1 }}\n"
        ),
    ];
    for (number, text) in cases.iter().enumerate() {
        let (file, out, again) =
            (format!("{number}.toml"), format!("{number}"), format!("{number}-again"));
        place.write(&file, text);
        place.run(&["sweep", &file, "--out", &out]);
        place.run(&["sweep", &format!("{out}/scenario.toml"), "--out", &again]);
        let rows = |folder: &str| {
            let text = place.read(&format!("{folder}/points.csv"));
            let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
            rows.sort();
            rows
        };
        assert_eq!(rows(&out), rows(&again), "{text}");
        let resolved = |folder: &str| place.read(&format!("{folder}/scenario.toml"));
        assert_eq!(resolved(&out), resolved(&again));
    }
}

#[test]
fn tables_that_a_grid_sweeps_are_columns_that_are_read_back() {
    let place = Workplace::new("told_columns");
    let grid = "[sweep.grid]\nrouting = [\"direction_order\", { adaptive = {} }]\n\
                topology = [{ torus = { dimensions = [4] } }, { torus = { dimensions = [2, 2] } }]\n";
    place.write("a.toml", &format!("{SMALL}{grid}"));
    place.run(&["sweep", "a.toml", "--out", "o"]);
    let points = place.read("o/points.csv");
    let header = points.lines().next().unwrap();
    for column in ["routing", "topology"] {
        assert!(header.split(',').any(|name| name == column), "{header}");
    }
    assert!(points.contains(",direction_order,") && points.contains(",{ adaptive = {} },"));
    let rows = flitlab::report::ResultRows::read(&place.0.join("o"), |_| {}).unwrap();
    assert_eq!(rows.points[0].label.setting("routing"), Some("direction_order"));
    assert!(rows.points[0].label.setting("topology").unwrap().contains("torus"));
    place.run(&["plot", "o", "--out", "drawn"]);
    place.run(&["compare", "o", "o"]);
}

#[test]
fn what_only_a_run_would_refuse_is_said_by_check() {
    let place = Workplace::new("told_base");
    let base = SMALL.replace("[traffic]", "[router]\nbuffer = \"18 flits\"\n[traffic]");
    let grid = "[sweep.grid]\nrouter.buffer = [\"72 flits\", \"144 flits\"]\n";
    place.write("a.toml", &format!("{base}{grid}"));
    let (code, noted) = place.fail(&["check", "a.toml"]);
    assert_eq!(code, 0, "{noted}");
    assert!(
        noted.contains(
            "flitlab run, which leaves [sweep] out, would refuse this scenario: a `buffer`"
        ),
        "{noted}"
    );
    assert!(noted.contains("(a.toml:4)"), "{noted}");
    place.write("b.toml", &format!("{SMALL}{grid}"));
    assert!(!place.fail(&["check", "b.toml"]).1.contains("flitlab run"));
}

#[test]
fn paths_by_which_a_command_would_destroy_its_own_files_are_refused() {
    let place = Workplace::new("told_paths");
    place.write("a.toml", SMALL);
    place.write("x.csv", "");
    fs::hard_link(place.0.join("x.csv"), place.0.join("y.csv")).unwrap();
    for (options, words) in [
        (&["--log", "o/points.csv", "--out", "o"][..], "--log names o/points.csv, which lies in"),
        (&["--log", "./a/../o/c", "--out", "o"], "lies in the folder of --out, o"),
        (&["--checkpoint", "x", "--log", "./x"], "--checkpoint and --log name one file"),
        (
            &["--log-packets", "p", "--log-messages", "p"],
            "--log-packets and --log-messages name one",
        ),
        (&["--log-packets", "x.csv", "--log", "y.csv"], "--log and --log-packets name one file"),
        (&["--checkpoint", "a.toml"], "SCENARIO and --checkpoint name one file, a.toml"),
        (&["--checkpoint", "o", "--out", "o"], "lies in the folder of --out"),
    ] {
        let errors = refused(&place, &with(&["run", "a.toml"], options));
        assert!(errors.contains(words), "{errors}");
        assert!(!place.0.join("o").exists() && !place.0.join("x").exists(), "{options:?}");
    }
    let nue = ["route", "a.toml", "--algorithm", "nue", "--save", "o", "--out", "./o"];
    assert!(refused(&place, &nue).contains("--save and --out name one folder"));
    place.run(&["run", "a.toml", "--out", "r"]);
    let points = place.read("r/points.csv");
    let errors = refused(&place, &["report", "r", "-o", "r/points.csv", "--force"]);
    assert!(errors.contains("r/points.csv is there and is no page of results"), "{errors}");
    assert_eq!(place.read("r/points.csv"), points);
    place.run(&["report", "r"]);
    place.run(&["report", "r", "--force"]);
    let made = ["schedule", "barrier", "--algorithm", "dissemination", "--ranks", "4", "--out"];
    let errors = refused(&place, &with(&made, &["a.toml"]));
    assert!(errors.contains("a.toml is there and is no GOAL schedule"), "{errors}");
    place.run(&with(&made, &["b.goal"]));
    place.run(&with(&made, &["b.goal"]));
}

#[test]
fn a_checkpoint_is_an_ordinary_file() {
    let place = Workplace::new("told_checkpoint");
    place.write("a.toml", SMALL);
    assert!(Command::new("mkfifo").arg(place.0.join("pipe")).status().unwrap().success());
    for file in ["/dev/zero", "pipe", "/dev/full", "/"] {
        let errors = refused(&place, &["run", "a.toml", "--checkpoint", file]);
        assert!(errors.contains(&format!("{file} is no ordinary file")), "{errors}");
    }
}

#[test]
fn a_checkpoint_for_which_there_is_no_room_says_why_and_leaves_nothing() {
    let place = Workplace::new("told_full");
    let long = SMALL.replace("[4, 4]", "[8, 8]").replace("= 3\n", "= 2000\n");
    place.write("a.toml", &long.replace("minimum_windows = 2", "minimum_windows = 1000"));
    let program = env!("CARGO_BIN_EXE_flitlab");
    // Blocks of 512 bytes: less than a checkpoint has.
    let line = format!(
        "ulimit -f 64; '{program}' run a.toml --out o --checkpoint c & sleep 1; kill -INT $!; wait $!"
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(&place.0).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("can't write the checkpoint c: File too large"), "{said}");
    assert!(said.contains("nothing of the run is kept"), "{said}");
    assert!(!place.0.join("c.partial").exists() && !place.0.join("c").exists());
}

#[test]
fn a_limit_of_files_is_an_error_of_a_sweep_that_says_how_to_go_on() {
    let place = Workplace::new("told_limit");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3]\n"));
    let program = env!("CARGO_BIN_EXE_flitlab");
    let line = format!("ulimit -f 16; '{program}' sweep a.toml --out o --threads 1");
    let output = Command::new("sh").args(["-c", &line]).current_dir(&place.0).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("File too large") && said.contains("--resume"), "{said}");
}

#[test]
fn rates_that_are_far_off_are_said_by_run_and_sweep() {
    let place = Workplace::new("told_rates");
    place.write("a.toml", SMALL);
    let fast = ["--set", "link.rate=100000 Gb/s", "--set", "measure.window=20 us"];
    for command in ["run", "sweep"] {
        let file = if command == "run" { "a.toml" } else { "s.toml" };
        let few = SMALL.replace("0.3", "0.0001");
        place.write("a.toml", &few);
        place.write("s.toml", &format!("{few}[sweep.grid]\ntraffic.load = [0.0001]\n"));
        let (_, said) = place.fail(&with(&[command, file, "--out", command], &fast));
        assert!(said.contains("warning: link.rate = 100000 Gb/s: a flit takes"), "{said}");
    }
    assert!(!place.fail(&["run", "a.toml", "--out", "usual"]).1.contains("a flit takes"));
}

#[test]
fn options_of_plot_that_do_nothing_say_so() {
    let place = Workplace::new("told_plot");
    let series = "[sweep.series]\noutflank = {}\nother = { seed = 2 }\n";
    let steady = SMALL.replace("2 us", "20 us").replace("= 3\n", "= 20\n");
    place.write("a.toml", &format!("{steady}{series}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    place.run(&["sweep", "a.toml", "--out", "o"]);
    let said = |more: &[&str]| place.fail(&with(&["plot", "o", "--out", "d"], more)).1;
    assert!(
        said(&["--name", "outflnk=OFR"]).contains("nothing in these results is called `outflnk`")
    );
    assert_eq!(said(&["--name", "outflank=OFR", "--name", "other=x"]), "");
    let limits = said(&["--y", "100:10000"]);
    assert!(limits.contains("--y 100:10000 has no unit"), "{limits}");
    assert_eq!(said(&["--y", "100ns:10us"]), "");
    assert_eq!(said(&["--y", "0:0.8", "--only", "accepted"]), "");
}

#[test]
fn memory_that_is_all_in_use_is_not_called_nothing() {
    let place = Workplace::new("told_memory");
    place.write("a.toml", &SMALL.replace("[4, 4]", "[64, 64, 64]"));
    let mut command = place.command(&["check", "a.toml"]);
    let output = command.env("FLITLAB_MEMORY", "1 MB").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("all that FLITLAB_MEMORY allows is in use already"), "{said}");
}

#[test]
fn a_saved_table_is_replaced_only_by_force_and_nothing_else_is() {
    let place = Workplace::new("told_force");
    place.write("a.toml", SMALL);
    for save in
        [&["--save", "a.routes"][..], &["--save", "dump", "--algorithm", "nue", "--lanes", "2"]]
    {
        let call = with(&["route", "a.toml"], save);
        place.run(&call);
        let errors = refused(&place, &call);
        assert!(errors.contains("replace it with --force"), "{errors}");
        let other = with(&call, &["--set", "topology.torus.dimensions=[3, 3]", "--force"]);
        place.run(&other);
        let checked = place.json(&["route", "--check", save[1], "--json"]);
        assert_eq!(checked["routed_pairs"].as_u64(), Some(72), "{checked}");
    }
    fs::create_dir(place.0.join("mine")).unwrap();
    place.write("mine/notes.txt", "keep");
    for path in ["a.toml", "mine"] {
        let call = ["route", "a.toml", "--save", path, "--force"];
        let errors = refused(&place, &call);
        assert!(errors.contains("is no table that flitlab route wrote"), "{errors}");
    }
}

#[test]
fn a_job_script_is_written_without_sbatch() {
    let place = Workplace::new("told_no_submit");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    let call = ["sweep", "a.toml", "--executor", "slurm", "--out", "o"];
    let mut command = place.command(&with(&call, &["--no-submit", "--time", "2h"]));
    let output = command.env("PATH", "/nonexistent").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        said.contains("nothing is submitted yet") && said.contains("sbatch --parsable job.sh"),
        "{said}"
    );
    assert!(place.read("o/slurm/1/job.sh").contains("#SBATCH --time="));
    // By hand it works as Slurm would do it.
    for task in ["0", "1"] {
        place.run(&["sweep", "task", "o/slurm/1", task]);
    }
    let refused = place.fail(&["sweep", "a.toml", "--no-submit"]);
    assert!(refused.0 == 2 && refused.1.contains("--executor slurm"), "{}", refused.1);
}

#[test]
fn an_interrupted_sweep_counts_the_points_of_earlier_calls() {
    let place = Workplace::new("told_count");
    let long =
        SMALL.replace("[4, 4]", "[8, 8]").replace("maximum_windows = 3", "maximum_windows = 400");
    let long = long.replace("minimum_windows = 2", "minimum_windows = 400");
    place.write("a.toml", &format!("{long}[sweep.grid]\nseed = [1, 2, 3, 4, 5, 6]\n"));
    let call = ["sweep", "a.toml", "--out", "o", "--threads", "1"];
    place.kill(&call, "o", 3);
    let before = place.points("o");
    // The first of them is computed again, so that all others come later.
    let first = fs::read_dir(place.0.join("o/points")).unwrap().map(|it| it.unwrap().path());
    let first = first.filter(|path| path.extension() == Some("point".as_ref())).min().unwrap();
    fs::remove_file(first).unwrap();
    let ongoing = place.begin(&with(&call, &["--resume"]));
    std::thread::sleep(std::time::Duration::from_millis(400));
    ongoing.signal("INT");
    let (code, said) = ongoing.end();
    let now = place.points("o");
    assert_eq!(code, Some(130), "{said}");
    assert!(
        now >= before - 1 && said.contains(&format!("interrupted: {now} of 6 points")),
        "{said}"
    );
}

#[test]
fn prose_is_wrapped_on_a_terminal_and_not_in_a_pipe() {
    let place = Workplace::new("told_wrapped");
    place.write("a.toml", SMALL);
    place.run(&["run", "a.toml", "--out", "o"]);
    let program = env!("CARGO_BIN_EXE_flitlab");
    let line = format!("stty cols 80 rows 24; '{program}' run a.toml --out o; true");
    let output = Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .current_dir(&place.0)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = || seen.lines().map(str::trim_end).filter(|line| !line.is_empty());
    assert!(lines().count() > 1 && seen.contains("error: o has something in it"), "{seen}");
    lines().for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
    let (_, piped) = place.fail(&["run", "a.toml", "--out", "o"]);
    assert_eq!(piped.lines().count(), 1, "{piped}");
}

#[test]
fn keys_of_the_top_level_stand_above_all_tables_in_the_reference() {
    let page = flitlab::scenario::reference().to_string();
    let key = page.find("# interruption = ").unwrap();
    assert!(key < page.find("\n[").unwrap(), "below a header it would be a key of that table");
    // As it stands there, it is read.
    let line = page[key..].lines().next().unwrap().trim_start_matches("# ");
    let text = format!(
        "{line}\n[topology.switched_torus]\ndimensions = [3, 3]\nterminals = 2\n[traffic]\npattern = \"uniform\"\n\
         load = 0.1\n[measure]\ngrowth = 0.01\n"
    );
    let document = flitlab::scenario::Document::parse("a.toml", &text);
    flitlab::scenario::Scenario::read(&document).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn the_ends_of_ranges_in_the_reference_are_accepted_by_some_scenario() {
    let read = |text: &str, sets: &[&str]| {
        let mut document = flitlab::scenario::Document::parse("a.toml", text);
        sets.iter().for_each(|set| document.set(set));
        if let Err(found) = flitlab::scenario::Scenario::read(&document) {
            panic!("{sets:?}: {found}");
        }
    };
    for key in [
        "link.latency",
        "router.routing_latency",
        "router.crossbar_latency",
        "adapter.injection_latency",
        "adapter.ejection_latency",
    ] {
        let long = format!("{key}=499 us");
        let others = [
            "router.routing_latency=0 ns",
            "router.crossbar_latency=0 ns",
            "link.rate=1000 Gb/s",
            "adapter.injection_rate=1000 Gb/s",
            "adapter.ejection_rate=1000 Gb/s",
            "measure.window=4 ms",
        ];
        read(SMALL, &[&others[..], &[&long]].concat());
    }
    let payload = [
        "router.flit=4096 B",
        "router.header_flits=0",
        "router.checksum_flits=0",
        "router.maximum_payload=131068 KiB",
        "router.buffer=65535 flits",
        "adapter.injection_buffer=65535 flits",
        "link.rate=100000 Gb/s",
        "adapter.injection_rate=100000 Gb/s",
        "adapter.ejection_rate=100000 Gb/s",
        "measure.window=100 ms",
    ];
    read(SMALL, &payload);
    let load = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
    for fabric in [
        "kautz]\ndegree = 2\nlength = 2",
        "tree]\narity = 2\nlevels = 2",
        "dragonfly]\ngroups = 2\ngroup_size = 2\nglobal_cables = 1",
        "dragonfly_plus]\ngroups = 2\nleaves = 1\nspines = 1\nglobal_cables = 1",
        "random_regular]\nswitches = 2\ndegree = 1",
        "slim_fly]\nprime = 5",
    ] {
        read(&format!("[topology.{fabric}\n{load}"), &[]);
    }
}

/// Two switches with two nodes each, and in the first one a unit that does collective operations.
const WITH_AGGREGATION: &str = "\
ibwarn: [565044] sim_connect: attached as client 1 at node \"Switch1\"
switchguid=0xa0(a0)
Switch\t4 \"S-a0\"\t\t# \"left\" base port 0 lid 7 lmc 0
[1]\t\"S-a1\"[1]\t\t# \"right\" lid 8 4xEDR
[2]\t\"H-b0\"[1](b1)\t\t# \"one\" lid 1 4xEDR
[3]\t\"H-b4\"[1](b5)\t\t# \"two\" lid 2 4xEDR
[4]\t\"H-c0\"[1](c1)\t\t# \"Mellanox Technologies Aggregation Node\" lid 5 4xEDR

switchguid=0xa1(a1)
Switch\t4 \"S-a1\"\t\t# \"right\" base port 0 lid 8 lmc 0
[1]\t\"S-a0\"[1]\t\t# \"left\" lid 7 4xEDR
[2]\t\"H-b8\"[1](b9)\t\t# \"three\" lid 3 4xEDR
[3]\t\"H-bc\"[1](bd)\t\t# \"four\" lid 4 4xEDR

caguid=0xb0
Ca\t1 \"H-b0\"\t\t# \"one\"
[1](b1)\t\"S-a0\"[2]\t\t# lid 1 lmc 0 \"left\" lid 7 4xEDR

caguid=0xb4
Ca\t1 \"H-b4\"\t\t# \"two\"
[1](b5)\t\"S-a0\"[3]\t\t# lid 2 lmc 0 \"left\" lid 7 4xEDR

caguid=0xb8
Ca\t1 \"H-b8\"\t\t# \"three\"
[1](b9)\t\"S-a1\"[2]\t\t# lid 3 lmc 0 \"right\" lid 8 4xEDR

caguid=0xbc
Ca\t1 \"H-bc\"\t\t# \"four\"
[1](bd)\t\"S-a1\"[3]\t\t# lid 4 lmc 0 \"right\" lid 8 4xEDR

caguid=0xc0
Ca\t1 \"H-c0\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](c1)\t\"S-a0\"[4]\t\t# lid 5 lmc 0 \"left\" lid 7 4xEDR
";

/// Its tables, as ibdiagnet has them, in which the unit has entries as well.
const TABLES_WITH_AGGREGATION: &str = "\
osm_ucast_mgr_dump_ucast_routes: Switch 0x00000000000000a0
LID    : Port : Hops : Optimal
0x0001 : 002  : 00   : yes
0x0002 : 003  : 00   : yes
0x0003 : 001  : 01   : yes
0x0004 : 001  : 01   : yes
0x0005 : 004  : 00   : yes
0x0008 : 001  : 01   : yes

osm_ucast_mgr_dump_ucast_routes: Switch 0x00000000000000a1
LID    : Port : Hops : Optimal
0x0001 : 001  : 01   : yes
0x0002 : 001  : 01   : yes
0x0003 : 002  : 00   : yes
0x0004 : 003  : 00   : yes
0x0005 : 001  : 01   : yes
0x0007 : 001  : 01   : yes
";

#[test]
fn a_switchs_aggregation_node_is_no_node_and_that_is_said() {
    let place = Workplace::new("told_aggregation");
    place.write("a.net", WITH_AGGREGATION);
    let workload = "[exchange]\npattern = \"all-to-all\"\nmessage = \"1 KiB\"\n";
    place.write("a.toml", &format!("[topology.netlist]\npath = \"a.net\"\n{workload}"));
    for command in ["check", "run"] {
        let output = place.flitlab(&[command, "a.toml"]);
        let said = String::from_utf8(output.stderr).unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && printed.contains("4 nodes"), "{said}{printed}");
        assert!(said.contains("note: 1 adapter port of a.net is left out"), "{said}");
        assert!(said.contains("left port 4") && said.contains("leave_out = []"), "{said}");
        assert!(said.contains("note: 1 line of a.net before its first node"), "{said}");
    }
    let all = ["check", "a.toml", "--set", "topology.netlist.leave_out=[]"];
    assert!(place.run(&all).contains("5 nodes"));
    let more = "topology.netlist.leave_out=[\"fo*\", \"Mellanox*\", \"five\"]";
    let output = place.flitlab(&["check", "a.toml", "--set", more]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("3 nodes"), "{said}");
    assert!(said.contains("no adapter of a.net is called \"five\""), "{said}");
    // What is written out reads back to the same fabric.
    place.write("b.toml", &place.run(&["check", "a.toml", "--set", more, "--resolved"]));
    assert!(place.run(&["check", "b.toml"]).contains("3 nodes"));
    // A table that is made has no ways to it.
    let output = place.flitlab(&["route", "a.toml", "--save", "saved"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let cut_off = "the tables in saved have no ways to 1 adapter port that topology.netlist.leave_out leaves out";
    assert!(said.contains(cut_off), "{said}");
    assert!(!place.read("saved/opensm-lfts.dump").contains("0x0005 "), "it has LID 5");
    let output = place.flitlab(&["route", "a.toml", all[2], all[3], "--save", "whole"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("no ways"));
    // Its entries in tables, and its service levels, are skipped.
    place.write("a.fdbs", TABLES_WITH_AGGREGATION);
    place.write("paths.txt", "1 3 0\n5 3 1\n1 5 1\n");
    let check = ["route", "--check", "a.fdbs", "--netlist", "a.net", "--paths", "paths.txt"];
    let printed = place.run(&check);
    assert!(printed.contains("12 routed, 0 without a route"), "{printed}");
}

#[test]
fn a_path_that_names_a_device_without_end_is_an_error_in_a_moment() {
    let place = Workplace::new("told_devices");
    place.write("a.goal", "num_ranks 1\nrank 0 {\n}\n");
    place.write("a.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    place.run(&["sweep", "a.toml", "--out", "o"]);
    let errors = refused(&place, &["schedule", "check", "a.goal", "--groups", "/dev/zero"]);
    assert!(errors.contains("can't read /dev/zero: it is larger than"), "{errors}");
    let errors = refused(&place, &["schedule", "check", "/dev/zero"]);
    assert!(errors.contains("/dev/zero is not a schedule or trace"), "{errors}");
    let endless = |file: &str| {
        let path = place.0.join(file);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        (path, kept)
    };
    let restore = |(path, kept): (std::path::PathBuf, Vec<u8>)| {
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    };
    let saved = endless("o/summary.json");
    let (_, errors) = place.fail(&["compare", "o", "o"]);
    assert!(errors.contains("larger than 64 MiB"), "{errors}");
    restore(saved);
    let points = fs::read_dir(place.0.join("o/points")).unwrap();
    let mut points = points.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let point = points.find(|name| name.ends_with(".point")).unwrap();
    let saved = endless(&format!("o/points/{point}"));
    let (code, errors) = place.fail(&["sweep", "a.toml", "--out", "o", "--resume"]);
    assert!(code == 1 && errors.contains("larger than 64 MiB"), "{errors}");
    restore(saved);
    place.run(&["sweep", "a.toml", "--out", "o", "--resume"]);
}

#[test]
fn a_file_that_is_no_scenario_is_told_by_its_format() {
    let place = Workplace::new("told_formats");
    place.write("a.net", WITH_AGGREGATION);
    let errors = refused(&place, &["check", "a.net"]);
    assert!(errors.contains("a.net is a netlist, not a scenario"), "{errors}");
    assert!(errors.contains("`path` of [topology.netlist] takes it"), "{errors}");
    place.write("a.dot", "digraph g { a -> b; }\n");
    let errors = refused(&place, &["route", "--check", "a.net", "--netlist", "a.dot"]);
    assert!(errors.contains("a.dot is a graph in DOT (Graphviz)"), "{errors}");
    let errors = refused(&place, &["route", "--check", "a.dot", "--netlist", "a.net"]);
    assert!(errors.contains("a.dot is a graph in DOT (Graphviz)"), "{errors}");
    // One error of what it is, not twenty of GOAL.
    let jobs = "job 1 starts on nodes 0-3\n".repeat(30);
    place.write("jobs.txt", &jobs);
    let errors = refused(&place, &["schedule", "check", "jobs.txt"]);
    assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    assert!(errors.contains("it begins with `job 1 starts on nodes 0-3`"), "{errors}");
    assert!(errors.contains("traces of SimGrid, Chakra (.et)"), "{errors}");
    // What resembles GOAL has its mistakes told.
    place.write("b.txt", "rank 0 {\n  l1: send 1b to 1\n}\n");
    assert!(refused(&place, &["schedule", "check", "b.txt"]).contains("num_ranks"));
}

#[test]
fn set_with_a_blank_says_what_to_write() {
    let place = Workplace::new("told_set");
    place.write("a.toml", SMALL);
    let (_, errors) = place.fail(&["check", "a.toml", "--set", "traffic.load", "0.3"]);
    assert!(errors.contains("one word: --set traffic.load=0.3"), "{errors}");
}

#[test]
fn single_figures_are_drawn_by_the_names_of_their_files() {
    let place = Workplace::new("told_only");
    let steady = SMALL.replace("2 us", "20 us").replace("= 3\n", "= 20\n");
    let grid =
        "[sweep.grid]\ntraffic.load = [0.1, 0.2]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n";
    place.write("a.toml", &format!("{steady}{grid}[sweep.figures]\neach = \"traffic.pattern\"\n"));
    place.run(&["sweep", "a.toml", "--out", "o", "--no-figures"]);
    let drawn = |only: &str, folder: &str| {
        place.run(&["plot", "o", "--only", only, "--format", "svg", "--out", folder]);
        let files = fs::read_dir(place.0.join(folder)).unwrap();
        let mut files: Vec<String> =
            files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.retain(|file| file.ends_with(".svg"));
        files.sort();
        files
    };
    assert_eq!(drawn("latency", "all").len(), 2);
    assert_eq!(drawn("latency-tornado", "one"), ["latency-tornado.svg"]);
    let tails = ["latency-p99-tornado.svg", "latency-p99-uniform.svg"];
    assert_eq!(drawn("latency-p99-tornado,latency-p99-uniform", "tails"), tails);
    assert_eq!(drawn("latency-p99", "both"), tails);
    let (_, errors) = place.fail(&["plot", "o", "--only", "latencies"]);
    assert!(errors.contains("possible values: latency"), "{errors}");
}

/// The figure of panels is called otherwise than the kinds that it shows.
#[test]
fn kinds_that_are_asked_for_are_drawn_as_panels_too() {
    let place = Workplace::new("told_only_panels");
    let steady = SMALL.replace("2 us", "20 us").replace("= 3\n", "= 20\n");
    let grid =
        "[sweep.grid]\ntraffic.load = [0.1, 0.2]\ntraffic.pattern = [\"uniform\", \"tornado\"]\n";
    place.write("a.toml", &format!("{steady}{grid}[sweep.figures]\neach = \"traffic.pattern\"\n"));
    place.run(&["sweep", "a.toml", "--out", "o", "--no-figures"]);
    for (only, file) in [
        ("latency", "panels.svg"),
        ("accepted,latency", "panels.svg"),
        ("latency-p99", "latency-p99.svg"),
        ("latency-tornado", "latency-tornado.svg"),
    ] {
        let call = ["plot", "o", "--panels", "--only", only, "--format", "svg", "--out", only];
        let drawn = place.run(&call);
        assert_eq!(drawn.trim_end(), format!("{only}/{file}"), "{only}");
    }
}

#[test]
fn check_and_run_name_the_routing_as_scenarios_do() {
    let place = Workplace::new("told_routing");
    let torus = |routing: &str| SMALL.replace("[traffic]", &format!("{routing}\n[traffic]"));
    for (routing, named) in [
        ("", "[routing.direction_order]: +x +y -x -y"),
        (
            "[routing.direction_order]\norder = [\"+x\", \"-x\", \"+y\", \"-y\"]",
            "[routing.direction_order]: +x -x +y -y",
        ),
        ("[routing.outflank]", "[routing.outflank]"),
        ("[routing.angara]\nalgorithm = \"bfs\"", "`algorithm = \"bfs\"` in [routing.angara]: "),
        (
            "[routing]\nrule = \"minimal-up-down\"",
            "`rule = \"minimal-up-down\"`: all shortest ways",
        ),
        ("[routing]\nrule = \"valiant\"", "`rule = \"valiant\"`: "),
    ] {
        place.write("a.toml", &torus(routing));
        let said = place.run(&["check", "a.toml"]);
        assert!(said.contains(&format!("\n  routing            {named}")), "{said}");
    }
    let said = place.run(&["run", "a.toml", "--out", "o"]);
    assert!(said.contains("\n  routing           `rule = \"valiant\"`\n"), "{said}");
}

#[test]
fn a_single_switch_is_told_nothing_of_channels_between_switches() {
    let place = Workplace::new("told_single_switch");
    let (_, rest) = SMALL.split_once("[traffic]").unwrap();
    let far = "[link]\nlatency = \"2 us\"\n";
    place.write("a.toml", &format!("[topology.switch]\nterminals = 8\n{far}[traffic]{rest}"));
    let output = place.flitlab(&["check", "a.toml"]);
    let (printed, said) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    let printed = String::from_utf8(printed).unwrap();
    assert!(printed.contains("channels           0 between routers, by 0 cables\n"), "{printed}");
    assert!(!printed.contains("spread") && !said.contains("router.buffer"), "{printed}{said}");
}

/// An Angara adapter has six cables, and eight with its extension card.
#[test]
fn check_counts_the_cables_of_an_angara_adapter() {
    let place = Workplace::new("told_cables");
    let rest = "traffic = { pattern = \"uniform\", load = 0.1 }\n";
    let channels = |of: &str| {
        place.write("a.toml", &format!("{of}\n{rest}"));
        let said = place.run(&["check", "a.toml"]);
        said.lines().find(|line| line.contains("between routers")).unwrap().trim().to_owned()
    };
    let torus = |sizes: &str| channels(&format!("topology.torus.dimensions = {sizes}"));
    let six = "an Angara adapter has 6";
    let desmos = torus("[4, 2, 2, 2]");
    assert!(desmos.contains(&format!("by 80 cables; at most 5 a node: {six}")), "{desmos}");
    assert!(desmos.ends_with(six), "{desmos}");
    let cube = torus("[4, 4, 4]");
    assert!(cube.contains("by 192 cables; at most 6 a node") && cube.ends_with(six), "{cube}");
    let four = torus("[3, 3, 3, 3]");
    assert!(
        four.contains("at most 8 a node") && four.ends_with("card, which this takes"),
        "{four}"
    );
    let five = torus("[3, 3, 3, 3, 3]");
    assert!(five.contains("at most 10 a node: more than the 8 of an Angara adapter"), "{five}");
    // Nodes at the ends of open dimensions have fewer; no port of a failed node counts.
    let line = channels("topology.torus = { dimensions = [3], open = [\"x\"] }");
    assert!(line.contains("by 2 cables; at most 2 a node"), "{line}");
    let mesh = "topology.torus = { dimensions = [4, 4], open = [\"x\", \"y\"] }";
    let other = channels(&format!("{mesh}\nrouter.preset = \"noc-mesh\""));
    assert!(other.ends_with("by 24 cables"), "{other}");
}

/// A remote memory operation is a request and a response, which go in direction order unless they are
/// said to be adaptive.
#[test]
fn check_names_the_virtual_channels_that_are_taken_and_the_way_to_adaptive_requests() {
    let place = Workplace::new("told_channels");
    let torus = "topology.torus.dimensions = [4, 4]\nrouting.adaptive = {}\n";
    let remote =
        "remote_memory = { operation = \"get\", pattern = \"neighbor\", message = \"8 B\" }\n";
    let check = |text: &str| {
        place.write("a.toml", text);
        let output = place.flitlab(&["check", "a.toml"]);
        assert!(output.status.success(), "{output:?}");
        let [said, notes] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let taken = said.lines().find(|line| line.contains("virtual channels")).unwrap();
        (taken.to_owned(), notes)
    };
    let (taken, note) = check(&format!("{torus}{remote}"));
    assert!(taken.contains("takes 0 request, 1 response"), "{taken}");
    assert!(!taken.contains("adaptive packets") && !taken.contains("collective"), "{taken}");
    assert!(note.contains("go in direction order, not by the adaptive routing"), "{note}");
    // A run says so, too.
    let run = place.flitlab(&["run", "a.toml"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success() && said.contains(note.trim_end()), "{said}");
    // What is advised is accepted, and does what it says.
    let advised = format!("{torus}[workloads.all]\npackets = \"adaptive\"\n{remote}");
    let (taken, note) = check(&advised);
    assert!(taken.contains("2 adaptive (adaptive packets)"), "{taken}");
    assert!(!note.contains("direction order"), "{note}");
    let data = "traffic = { pattern = \"uniform\", load = 0.2 }\n";
    let (taken, note) = check(&format!("{torus}{data}"));
    assert!(taken.contains("1 response (escape), 2 adaptive (adaptive packets)"), "{taken}");
    assert!(note.is_empty(), "{note}");
    let (taken, _) = check(&format!("topology.torus.dimensions = [4, 4]\n{data}"));
    assert!(taken.ends_with("takes 0 request"), "{taken}");
}

/// What one run takes is told without running it, and of every kind of workload.
#[test]
fn check_and_a_dry_run_say_what_one_run_takes() {
    let place = Workplace::new("told_cost");
    for (name, workload) in [
        ("load", "[traffic]\npattern = \"uniform\"\nload = 0.3\n"),
        ("past", "[traffic]\npattern = \"uniform\"\nload = 0.8\n"),
        ("ends", "[exchange]\npattern = \"all-to-all\"\nmessage = \"4 KiB\"\n"),
        (
            "both",
            "[workloads.a]\nexchange = { pattern = \"all-to-all\", message = \"4 KiB\" }\n\
             [workloads.b]\ntraffic = { pattern = \"uniform\", load = 0.2 }\n",
        ),
    ] {
        let file = format!("{name}.toml");
        // Past saturation it takes half of the second for which a measurement is begun.
        place.write(&file, &format!("topology.torus.dimensions = [6, 6]\n{workload}"));
        let told = place.json(&["run", &file, "--dry-run", "--json"]);
        let seconds = told["seconds"].as_f64().unwrap();
        // Both the fixed figure of a machine and nothing at all would be outside.
        let ran = place.json(&["run", &file, "--json", "--threads", "1", "--out", name]);
        let cost = &ran["cost"];
        let took =
            cost["cpu_seconds"].as_f64().unwrap() + cost["set_up_cpu_seconds"].as_f64().unwrap();
        let ratio = seconds / took;
        assert!((0.25..4.0).contains(&ratio), "{name}: {seconds} s are told, it took {took} s");
        if cfg!(target_os = "linux") {
            let memory = told["memory_MB"].as_f64().unwrap();
            assert!((10.0..500.0).contains(&memory), "{name}: {memory} MB");
        }
        let said = place.run(&["check", &file]);
        let line = said.lines().find(|line| line.contains("one run")).unwrap();
        assert!(line.contains(" of computing on one thread"), "{line}");
        assert!(!line.contains(" or up to "), "it ends within the time for it: {line}");
    }
    assert!(!place.0.join("results").exists(), "nothing was written");
    let refused = refused(&place, &["run", "load.toml", "--dry-run", "--log", "log.csv"]);
    assert!(refused.contains("--dry-run"), "{refused}");
}
