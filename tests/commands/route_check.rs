//! `flitlab route --check` is not to be fooled: each of these tables once passed for one without a
//! flaw, or could.

use serde_json::Value;

use crate::common::workplace::{Workplace, scenario, with};

/// A ring of five switches with two terminals each; LIDs 1 to 10 are those of H0 to H9. `SAFE`
/// never crosses one of the cables, `CYCLIC` goes the short way round.
const NET: &str = include_str!("../fabrics/ring5.net");
const SAFE: &str = include_str!("../fabrics/ring5-safe.lfts");
const CYCLIC: &str = include_str!("../fabrics/ring5-cyclic.lfts");
/// Odd service levels take virtual channel 1, even ones 0.
const MAP: &str = include_str!("../fabrics/ring5.sl2vl");
/// Levels that differ between the two terminals of a switch.
const PATHS: &str = include_str!("../fabrics/ring5.paths");

/// Routes on a ring of four, the first with a direction in which it makes no hop.
const RING: &str = "\
flitlab-routes 1
torus 4
nodes all
routes
(0) (1) +x +x .
(0) (2) . +x .
(0) (3) . -x .
(1) (0) . -x .
(1) (2) . +x .
(1) (3) . +x .
(2) (0) . +x .
(2) (1) . -x .
(2) (3) . +x .
(3) (0) . +x .
(3) (1) . +x .
(3) (2) . -x .
";

/// A folder with tables, with which `--check` is called.
fn folder(name: &str, tables: &str) -> Workplace {
    let place = Workplace::new(&format!("route_check_{name}"));
    place.write("fabric.net", NET);
    place.write("opensm-lfts.dump", tables);
    place
}

const CHECK: [&str; 3] = ["route", "--check", "."];

/// Checks that a call is refused with exit code 2 and all of these words.
fn refused(place: &Workplace, words: &[&str]) {
    let (code, errors) = place.fail(&CHECK);
    assert_eq!(code, 2, "{errors}");
    for word in words {
        assert!(errors.contains(word), "{word}: {errors}");
    }
}

/// The routed pairs, those without a route, the cycle's length, and the exit code.
fn judged(place: &Workplace) -> (u64, u64, usize, i32) {
    let output = place.flitlab(&with(&CHECK, &["--json"]));
    let said = String::from_utf8(place.flitlab(&CHECK).stdout).unwrap();
    assert_eq!(said.contains("no cycle"), output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |key: &str| report[key].as_u64().unwrap();
    let cycle = report["cycle"].as_array().unwrap().len();
    (count("routed_pairs"), count("pairs_without_route"), cycle, output.status.code().unwrap())
}

/// REVIEW A2.
#[test]
fn service_levels_belong_to_pairs_of_terminals_in_whatever_order_they_are_listed() {
    let place = folder("levels", CYCLIC);
    place.write("opensm-sl2vl.dump", MAP);
    let mut verdicts = Vec::new();
    let lines: Vec<&str> = PATHS.lines().collect();
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    for order in [lines, reversed] {
        place.write("paths.txt", &order.join("\n"));
        let output = place.flitlab(&CHECK);
        assert_eq!(output.status.code(), Some(4));
        verdicts.push((output.stdout, output.stderr));
    }
    assert_eq!(verdicts[0], verdicts[1]);
    let errors = String::from_utf8(verdicts[0].1.clone()).unwrap();
    assert!(errors.contains("can wait for the next"), "{errors}");
    assert_eq!(judged(&place), (90, 0, 5, 4));
}

/// REVIEW A3.
#[test]
fn a_switch_delivers_to_its_own_terminals_only_by_an_entry() {
    // Own terminals are at ports 3 and 4.
    let is_own = |line: &&str| line.contains(" 003 #") || line.contains(" 004 #");
    let without: Vec<&str> = SAFE.lines().filter(|line| !is_own(line)).collect();
    let place = folder("own", &without.join("\n"));
    assert_eq!(judged(&place), (0, 90, 0, 4));
    let (_, errors) = place.fail(&CHECK);
    assert!(errors.contains("no way from S0 to H0: S0 has no entry for it"), "{errors}");

    // One entry less: nine pairs less, and no use as routing.
    let without = SAFE.replacen("0x0001 003", "0x0001 255", 1);
    place.write("opensm-lfts.dump", &without);
    assert_eq!(judged(&place), (81, 9, 0, 4));
    place.write(
        "ring.toml",
        "[topology.netlist]\npath = \"fabric.net\"\n[routing.opensm]\ntables = \"opensm-lfts.dump\"\n\
         [traffic]\npattern = \"uniform\"\nload = 0.1\n",
    );
    for subcommand in ["check", "run"] {
        let (code, errors) = place.fail(&[subcommand, "ring.toml"]);
        assert!(code == 2 && errors.contains("S0 has no entry for it"), "{code} {errors}");
    }
}

/// REVIEW A4.
#[test]
fn a_lid_of_two_adapters_is_refused_with_both_lines() {
    let place = folder("lid", &SAFE.replace("0x0002", "0x0001"));
    refused(&place, &["opensm-lfts.dump:3:", "LID 0x0001 is that of H1 here", "H0 in line 2"]);
    // Also one that a switch has, in its header or its entry.
    place.write("opensm-lfts.dump", &SAFE.replace("0x0002", "0x000b"));
    refused(&place, &["opensm-lfts.dump:3:", "that of S0 in line 1"]);
    // And one that is another's in the netlist.
    let report = |text: &str| text.replace("0x0002 ", "0x0100 ").replace("0x0001 ", "0x0002 ");
    let saved = Workplace::new("route_check_lid_saved");
    saved.write("ring.toml", "[topology.switched_torus]\ndimensions = [5]\nterminals = 2\n");
    saved.run(&["route", "ring.toml", "--algorithm", "up-down", "--save", "table"]);
    let tables = saved.read("table/opensm-lfts.dump");
    saved.write("tables", &report(&tables));
    let discovered = ["--netlist", "table/ibnetdiscover.txt"];
    let (code, errors) = saved.fail(&with(&["route", "--check", "tables"], &discovered));
    assert!(code == 2 && errors.contains("H1 in the netlist"), "{errors}");
}

/// REVIEW A4.
#[test]
fn of_several_lids_a_port_none_is_passed_over() {
    let more = "0x0100 002 # Channel Adapter portguid 0x0000000000200009: 'H2'\n11 lids dumped";
    let place = folder("lmc", &SAFE.replacen("11 lids dumped", more, 1));
    refused(
        &place,
        &["opensm-lfts.dump:13:", "H2 has LID 0x0100 here and 0x0003 in line 4", "says as `lmc`"],
    );
}

/// A ring of four switches with a terminal each, as ibnetdiscover has it with `--lmc 1`, and tables in
/// which the first LIDs are reached upwards from S0 to S3, the second ones the other way round.
fn of_two_lids(name: &str) -> Workplace {
    let place = Workplace::new(&format!("route_check_{name}"));
    place.write("ring.toml", "[topology.switched_torus]\ndimensions = [4]\nterminals = 1\n");
    place.run(&["route", "ring.toml", "--algorithm", "min-hop", "--save", "table"]);
    // LIDs 2, 4, 6, 8 of the nodes, each with the next one; 20 to 23 of the switches.
    let mut discovered = String::new();
    let mut node = 0;
    for line in place.read("table/ibnetdiscover.txt").lines() {
        let line = match line.split_once("# lid ") {
            Some((link, _)) => {
                node += 1;
                format!("{link}# lid {} lmc 1 \"S\" lid 20 4xSDR", 2 * node)
            }
            None => line.to_owned(),
        };
        let switch = |line: String, number: u16| {
            let ends = [" base port 0 lid ", " lmc 0"];
            line.replace(
                &format!("{}{}{}", ends[0], 4 + number, ends[1]),
                &format!("{}{}{}", ends[0], 19 + number, ends[1]),
            )
        };
        discovered += &((1..=4).fold(line, switch) + "\n");
    }
    place.write("fabric.txt", &discovered);
    let mut tables = String::new();
    for switch in 0..4 {
        let guid = discovered
            .lines()
            .filter_map(|line| line.strip_prefix("switchguid=0x")?.split('(').next())
            .nth(switch)
            .unwrap();
        tables +=
            &format!("Unicast lids [0-23] of switch Lid {} guid 0x{guid} ('S'):\n", 20 + switch);
        // The ports of S0 to S3 in the text that was saved: to the neighbours by their names.
        let port = |to: usize| {
            let block = discovered.split("\nswitchguid=").nth(switch + 1).unwrap();
            let block = block.split("\n\n").next().unwrap();
            let line = block.lines().find(|line| line.contains(&format!("# \"S{to}\""))).unwrap();
            line[1..].split(']').next().unwrap().parse::<u32>().unwrap()
        };
        let own = {
            let block = discovered.split("\nswitchguid=").nth(switch + 1).unwrap();
            let block = block.split("\n\n").next().unwrap();
            let line = block.lines().find(|line| line.contains("\"H-")).unwrap();
            line[1..].split(']').next().unwrap().parse::<u32>().unwrap()
        };
        for node in 0..4 {
            for (bit, to) in [(0, (switch + 1) % 4), (1, (switch + 3) % 4)] {
                let port = if node == switch { own } else { port(to) };
                let port_guid = discovered
                    .lines()
                    .filter(|line| line.contains("# lid "))
                    .filter_map(|line| line.split_once('(')?.1.split(')').next())
                    .nth(node)
                    .unwrap();
                tables += &format!(
                    "0x{:04x} {port:03} # Channel Adapter portguid 0x{port_guid}: 'H'\n",
                    2 * (node + 1) + bit
                );
            }
        }
    }
    place.write("tables", &tables);
    place
}

#[test]
fn of_a_port_with_several_lids_one_is_followed_and_which_one_is_said() {
    let place = of_two_lids("two_lids");
    let check = ["route", "--check", "tables", "--netlist", "fabric.txt", "--json"];
    // Both go round the ring in one direction, and so in a circle: the channels differ.
    let circle = |more: &[&str]| {
        let output = place.flitlab(&with(&check, more));
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("note: ports have up to 2 LIDs"), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (first, second) = (circle(&[]), circle(&["--path-bits", "1"]));
    assert_ne!(first, second);
    assert_eq!(first, circle(&["--path-bits", "0"]));
    let (code, errors) = place.fail(&with(&check, &["--path-bits", "2"]));
    assert!(code == 2 && errors.contains("at most 2 local identifiers"), "{errors}");

    // In a scenario: three hops one way round are one the other way.
    let scenario = "[topology.netlist]\npath = \"fabric.txt\"\n[routing.opensm]\ntables = \"tables\"\n\
                    [exchange]\npattern = { pairs = { list = [[0, 1]] } }\nmessage = \"64 B\"\n";
    place.write("a.toml", scenario);
    let hops = |bits: &str| {
        let set = format!("routing.opensm.path_bits={bits}");
        let folder = format!("r{bits}");
        place.run(&["run", "a.toml", "--set", &set, "--out", &folder, "--no-figures"]);
        let points = place.read(&format!("{folder}/points.csv"));
        let mut reader = csv::Reader::from_reader(points.as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == "hops_mean").unwrap();
        reader.records().next().unwrap().unwrap()[at].parse::<f64>().unwrap()
    };
    let mut both = [hops("0"), hops("1")];
    both.sort_by(f64::total_cmp);
    assert_eq!(both, [1.0, 3.0]);
    let checked = String::from_utf8(place.flitlab(&["check", "a.toml"]).stderr).unwrap();
    assert!(checked.contains("up to 2 local identifiers (LMC above 0)"), "{checked}");
    let (code, errors) = place.fail(&["check", "a.toml", "--set", "routing.opensm.path_bits=2"]);
    assert!(code == 2 && errors.contains("at most 2 local identifiers"), "{errors}");
}

/// Three senders of a leaf share a spine by the tables of their partners' first LIDs, not by those of
/// the second ones.
#[test]
fn path_bits_of_the_fat_tree_choose_the_table_without_contention() {
    let place = Workplace::new("path_bits_of_a_tree");
    let path = scenario("fat-tree/two-lids");
    let found = place.json(&["sweep", &path, "--json", "--out", "o", "--no-figures"]);
    let points = found["points"].as_array().unwrap();
    let time = |bits: &str| {
        let point = points.iter().find(|point| point["series"] == format!("path bits {bits}"));
        point.unwrap()["completion_time_us"].as_f64().unwrap()
    };
    assert!(time("0") > 2.8 * time("1"), "{found}");
}

#[test]
fn local_identifiers_of_a_range_that_overlap_are_refused() {
    let place = of_two_lids("overlapping_lids");
    let text = place.read("fabric.txt");
    for (from, to, words) in [
        ("# lid 4 lmc 1", "# lid 3 lmc 1", "a multiple of 2"),
        ("# lid 4 lmc 1", "# lid 2 lmc 1", "is given in line"),
        ("# lid 4 lmc 1", "# lid 49150 lmc 2", "a multiple of 4"),
        ("# lid 4 lmc 1", "# lid 65528 lmc 3", "65535 is no node's local identifier"),
        ("# lid 4 lmc 1", "# lid 0 lmc 1", "LID"),
    ] {
        place.write("wrong.txt", &text.replacen(from, to, 1));
        let check = ["route", "--check", "tables", "--netlist", "wrong.txt"];
        let output = place.flitlab(&check);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(words) && output.status.code() == Some(2), "{to}: {errors}");
    }
}

/// OpenSM drops management packets, and all that asks a switch, where a table that it loads has no
/// way to the switch.
#[test]
fn saved_tables_have_ways_to_switches_and_to_each_lid_of_a_port() {
    let place = of_two_lids("saved_switches");
    place.write("a.toml", "[topology.netlist]\npath = \"fabric.txt\"\n");
    place.run(&["route", "a.toml", "--algorithm", "up-down", "--save", "again"]);
    let tables = place.read("again/opensm-lfts.dump");
    for table in tables.split("Unicast lids").skip(1) {
        // Two LIDs of each of four nodes, and four switches.
        let entries: Vec<&str> = table.lines().filter(|line| line.starts_with("0x")).collect();
        assert_eq!(entries.len(), 4 * 2 + 4, "{table}");
        assert_eq!(entries.iter().filter(|line| line.contains("# Switch")).count(), 4);
        assert_eq!(entries.iter().filter(|line| line.contains(" 000 # Switch")).count(), 1);
        for node in 0..4 {
            let port = |lid: u16| {
                let begin = format!("{lid:#06x} ");
                entries.iter().find_map(|line| line.strip_prefix(&begin)).unwrap()[..3].to_owned()
            };
            assert_eq!(port(2 * node + 2), port(2 * node + 3), "{table}");
        }
    }
    assert!(place.read("again/ibnetdiscover.txt").contains("# lid 2 lmc 1"));
    let check = ["route", "--check", "again", "--netlist", "again/ibnetdiscover.txt"];
    place.run(&check);
    place.run(&with(&check, &["--path-bits", "1"]));
}

/// REVIEW A4: what is there twice is refused even if both say the same.
#[test]
fn a_switch_or_an_entry_that_comes_twice_is_refused_with_both_lines() {
    for (name, other) in [("joined", CYCLIC), ("doubled", SAFE)] {
        let place = folder(name, &format!("{other}{SAFE}"));
        let here = format!("opensm-lfts.dump:{}:", other.lines().count() + 1);
        refused(&place, &[&here, "a second table of S0, after that in line 1"]);
    }
    let entry = "0x0001 003 # Channel Adapter portguid 0x0000000000200001: 'H0'\n";
    let place = folder("entry", &SAFE.replacen(entry, &entry.repeat(2), 1));
    refused(&place, &["opensm-lfts.dump:3:", "a second entry of S0 for LID 0x0001", "line 2"]);
}

#[test]
fn entries_that_no_switch_can_have_are_refused() {
    for (name, to, words) in [
        ("port0", "0x0003 000", "S0 has no cable at port 0"),
        ("lid0", "0x0000 001", "0x0000 is no node's LID"),
        ("group", "0xc000 001", "0xc000 is no node's LID"),
        ("far", "0x0003 003", "packets for H2 are delivered to H0"),
    ] {
        let place = folder(name, &SAFE.replacen("0x0003 001", to, 1));
        refused(&place, &["opensm-lfts.dump:4:", words]);
    }
}

#[test]
fn maps_of_service_levels_have_one_row_for_each_way_through_a_switch() {
    let place = folder("map", CYCLIC);
    place.write("paths.txt", PATHS);
    let with_map = |map: &str, words: &[&str]| {
        place.write("opensm-sl2vl.dump", map);
        refused(&place, words);
    };
    let row = |ports: &str| MAP.lines().find(|line| line.starts_with(ports)).unwrap().to_owned();
    let one = row("1   2   :") + "\n";
    assert!(MAP.contains(&one));
    with_map(&MAP.replacen(&one, "", 1), &[".dump:1:", "of S0 has no row from port 1 to port 2"]);
    with_map(&MAP.replacen(&one, &one.repeat(2), 1), &["a second row from port 1 to port 2"]);
    with_map(&format!("{MAP}{MAP}"), &["a second map of S0, after that in line 1"]);
    let start = MAP.find("Switch 0x0000000000100004").unwrap();
    with_map(&MAP[..start], &["there is no map of S4"]);
    with_map(&one, &[".dump:1:", "without a switch"]);
    // The router knows no difference between its terminals.
    let own = row("4   1   :") + "\n";
    let other = own.replace(": 0  1", ": 1  1");
    with_map(&MAP.replacen(&own, &other, 1), &["other lanes to port 1", "line"]);
}

#[test]
fn packets_that_are_mapped_to_managements_lane_are_lost() {
    let place = folder("lane15", SAFE);
    place.write("paths.txt", "1 3 7\n1 5 7\n2 3 7\n");
    // S1 drops what has level 7 and goes on to S2; nobody else takes that.
    let lines = MAP.lines().scan(false, |of_s1, line| {
        if line.starts_with("Switch") {
            *of_s1 = line.contains("100001");
        }
        let drops = *of_s1 && line.get(4..5) == Some("2") && line.contains(':');
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if drops {
            words[10] = "15";
        }
        Some(if drops { words.join(" ") } else { line.to_owned() })
    });
    place.write("opensm-sl2vl.dump", &lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(judged(&place), (89, 1, 0, 4));
    let (_, errors) = place.fail(&CHECK);
    assert!(errors.contains("S1 drops packets from H0 to H4"), "{errors}");
    // A table with sixteen virtual channels can't be said in these files.
    place.write("ring.toml", "[topology.switched_torus]\ndimensions = [4, 4]\nterminals = 2\n");
    let save = ["route", "ring.toml", "--algorithm", "nue", "--save", "table", "--lanes"];
    let (code, errors) = place.fail(&with(&save, &["16"]));
    assert!(code == 2 && errors.contains("make one with --lanes 15"), "{errors}");
    place.run(&with(&save, &["15"]));
    place.run(&["route", "--check", "table"]);
}

#[test]
fn a_path_has_one_service_level_and_one_source() {
    let place = folder("paths", SAFE);
    place.write("paths.txt", "1 3 1\n2 3 1\n1 3 0\n");
    refused(&place, &["paths.txt:3:", "in line 1 already"]);
    // The guid of an adapter with two ports says nothing.
    let two = "Hca\t1 \"H0\"\n[1]\t\"S0\"[3]\n\nhcaguids=0x200004\nHca\t1 \"H1\"\n[1]\t\"S0\"[4]\n";
    assert!(NET.contains(two));
    let one = "Hca\t2 \"H0\"\n[1](200001)\t\"S0\"[3]\n[2](200005)\t\"S0\"[4]\n";
    let net = NET.replace(two, one).replace("\"H1\"[1]", "\"H0\"[2]");
    place.write("fabric.net", &net);
    place.write("paths.txt", "0x200000 3 1\n");
    refused(&place, &["paths.txt:1:", "several ports", "LID"]);
    place.write("paths.txt", "1 3 1\n2 3 2\n0x200008 1 1\n");
    assert_eq!(judged(&place), (90, 0, 0, 0));
}

/// REVIEW B2: what the proof accepts can be used, and what can't be used is refused.
#[test]
fn a_route_with_a_direction_in_which_it_makes_no_hop_is_refused() {
    let place = Workplace::new("route_check_idle");
    place.write("ahead-0.routes", RING);
    let (code, errors) = place.fail(&["route", "--check", "ahead-0.routes"]);
    assert_eq!(code, 4, "{errors}");
    let words = "ahead-0.routes:5: the route from (0) to (1) has +x among its directions";
    assert!(errors.contains(words), "{errors}");
    place.write(
        "ring.toml",
        "[topology.torus]\ndimensions = [4]\n[routing.file]\npath = \"ahead-0.routes\"\n[traffic]\n\
         pattern = \"uniform\"\nload = 0.1\n",
    );
    for subcommand in ["check", "run"] {
        let (code, errors) = place.fail(&[subcommand, "ring.toml"]);
        assert!(code == 2 && errors.contains("+x among its directions"), "{code} {errors}");
    }
    // Without the direction it is the same way, and right.
    place.write("ahead-0.routes", &RING.replace("+x +x .", "+x . ."));
    place.run(&["route", "--check", "ahead-0.routes"]);
}

/// REVIEW A11.
#[test]
fn a_maximum_load_is_said_to_be_above_the_bound_not_within_it() {
    let place = folder("bound", SAFE);
    let report = place.run(&CHECK);
    let json = place.json(&with(&CHECK, &["--json"]));
    let (load, bound) = (json["maximum_load"].as_f64(), json["lower_bound"].as_f64());
    let above = 100.0 * (load.unwrap() / bound.unwrap() - 1.0);
    assert!(above > 1.0);
    let words: Vec<&str> = report.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains(&format!("maximum is {above:.1}% above the first")), "{report}");

    // Of a ring of four all routes of two hops go the same way round: its channels carry 3, where 2
    // would do.
    place.write("ring.routes", &RING.replace("+x +x .", ". +x ."));
    let text = place.run(&["route", "--check", "ring.routes"]);
    let words = "the table's maximum is 50.0% above it";
    assert!(text.contains(words), "{text}");
}
