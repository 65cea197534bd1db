//! What a user is told of an application: latencies, why it hangs, where its time went.

use crate::common::workplace::Workplace;

/// Two ranks, beside each other on a ring of four, which run this.
fn two_ranks(place: &Workplace, goal: &str) {
    place.write("x.goal", &format!("num_ranks 2\n{goal}"));
    place.write(
        "x.toml",
        "name = \"x\"\n[topology.torus]\ndimensions = [4]\n[application]\nfile = \"x.goal\"\n",
    );
}

#[test]
fn the_control_messages_of_a_rendezvous_are_no_messages() {
    let place = Workplace::new("control-messages");
    two_ranks(&place, "rank 0 {\ns: send 1000000b to 1\n}\nrank 1 {\nr: recv 1000000b from 0\n}\n");
    let found = place.json(&["run", "x.toml", "--json", "--log-messages", "m.csv"]);
    let point = &found["points"][0];
    let value = |name: &str| point[name].as_f64().unwrap();
    // A megabyte at 60 Gb/s is 133 us; the two others take less than one each.
    let mean = value("message_latency_mean_ns");
    assert!(mean > 133e3 && mean < 1e3 * value("completion_time_us"), "{mean}");
    let maximum = value("message_latency_max_ns");
    assert!((mean - maximum).abs() < 1.0, "there is only one: {mean}, {maximum}");
    let half = value("message_latency_p50_ns");
    assert!((half - mean).abs() < mean * 1e-3, "{half}");
    // Nor are they part of what the sender sends.
    let sent = value("bandwidth_GB_per_s_per_node") * value("completion_time_us") * 1e3;
    assert!((sent - 1e6).abs() < 10.0, "{sent}");
    // The log tells them from the others.
    let log = place.read("m.csv");
    let kinds: Vec<_> = log.lines().skip(1).map(|line| line.split(',').nth(3).unwrap()).collect();
    assert_eq!(kinds, ["control", "control", "data"], "{log}");
}

#[test]
fn what_a_wildcard_took_is_named_in_all_models_of_hosts() {
    let place = Workplace::new("wildcard-took");
    place.write(
        "x.goal",
        "num_ranks 3\nrank 0 {\nw: recv 8b from -1 tag -1\nb: recv 8b from 1 tag 1\nb requires w\n}\n\
         rank 1 {\ns: send 8b to 0 tag 1\n}\nrank 2 {\nc: calc 5000\ns: send 8b to 0 tag 2\ns requires c\n}\n",
    );
    place.write("x.toml", "[topology.torus]\ndimensions = [4]\n[application]\nfile = \"x.goal\"\n");
    let dialects = ["classic", "atlahs"]
        .map(|it| format!("application.network={{loggops={{dialect=\"{it}\"}}}}"));
    let models =
        [&["--json"][..], &["--json", "--set", &dialects[0]], &["--json", "--set", &dialects[1]]];
    for (number, model) in models.into_iter().enumerate() {
        let out = number.to_string();
        let output = place.flitlab(&[&["run", "x.toml", "--out", &out], model].concat());
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // Rank 2 sends after 5 us; that is the last thing that happens.
        let time = found["points"][0]["simulated_time_us"].as_f64().unwrap();
        assert!((5.0..20.0).contains(&time), "{time}");
        let told = found["warnings"][0].as_str().unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines,
            [
                "the application hangs:",
                "`b` of rank 0 (receive 8 B from rank 1, tag 1) waits for `s` of rank 1 (send 8 B to rank 0, tag 1), \
                 which `w` of rank 0 (receive 8 B from any rank, any tag) took",
                "`s` of rank 2 (send 8 B to rank 0, tag 2) was never received: \
                 `w` of rank 0 (receive 8 B from any rank, any tag) took `s` of rank 1 (send 8 B to rank 0, tag 1)",
            ]
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), told);
        // The page has it as well.
        place.run(&["report", &out]);
        assert!(place.read(&format!("{out}/report.html")).contains("which `w` of rank 0"));
    }
}

/// Three switches in a line, the first two with four nodes, the last with eight.
fn line_of_switches() -> String {
    let (mut switches, mut nodes) = (String::new(), String::new());
    for (number, (first, count)) in [(0, 4), (4, 4), (8, 8)].into_iter().enumerate() {
        switches += &format!("Switch\t12 \"s{number}\"\n");
        for port in 0..count {
            let node = first + port;
            switches += &format!("[{}]\t\"n{node}\"[1]\n", port + 1);
            nodes += &format!("Hca\t1 \"n{node}\"\n[1]\t\"s{number}\"[{}]\n\n", port + 1);
        }
        if number > 0 {
            switches += &format!("[11]\t\"s{}\"[12]\n", number - 1);
        }
        if number < 2 {
            switches += &format!("[12]\t\"s{}\"[11]\n", number + 1);
        }
        switches.push('\n');
    }
    switches + &nodes
}

#[test]
fn the_channel_that_is_too_narrow_holds_the_critical_path_up() {
    let place = Workplace::new("held-up");
    place.write("x.net", &line_of_switches());
    // Eight nodes each send to one of the eight behind the last switch: all over the channel from
    // the second to the third.
    let mut goal = String::from("num_ranks 16\n");
    for rank in 0..16 {
        let line = match rank {
            0..8 => format!("send 200000b to {}", rank + 8),
            _ => format!("recv 200000b from {}", rank - 8),
        };
        goal += &format!("rank {rank} {{\n{line}\n}}\n");
    }
    place.write("x.goal", &goal);
    place.write(
        "x.toml",
        "name = \"x\"\n[topology.netlist]\npath = \"x.net\"\n[application]\nfile = \"x.goal\"\n\
         eager_limit = \"1 MB\"\nplacement = \"linear\"\n",
    );
    for (number, sharing) in ["packet", "flit"].into_iter().enumerate() {
        let setting = format!("link.sharing={sharing}");
        let out = number.to_string();
        let arguments = ["run", "x.toml", "--trace-path", "--set", &setting];
        let found =
            place.json(&[&arguments[..], &["--json", "--threads", "1", "--out", &out]].concat());
        let point = &found["points"][0];
        let value = |name: &str| point[name].as_f64().unwrap();
        let completion = value("completion_time_us");
        // Alone a message would take an eighth of the time: the adapter needs no longer for it.
        let injection = value("path_injection_us");
        assert!(injection < 0.2 * completion, "{sharing}: {injection} of {completion}");
        assert!(value("path_queueing_us") > 0.7 * completion, "{point}");
        let parts = ["compute", "host", "partner", "injection", "queueing", "flight"];
        let sum: f64 = parts.iter().map(|it| value(&format!("path_{it}_us"))).sum();
        assert!((sum - completion).abs() < 0.01, "{sum} {completion}");
        let rows = place.read(&format!("{out}/path_channels.csv"));
        let mut lines = rows.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let column = |name: &str| header.iter().position(|it| *it == name).unwrap();
        let first: Vec<&str> = lines.next().unwrap().split(',').collect();
        let channel = first[column("channel")];
        assert!(channel.contains("s1") && channel.contains("s2"), "{sharing}: {rows}");
        let held: f64 = first[column("held_up_us")].parse().unwrap();
        assert_eq!(found["path_channels"][0]["channel"], channel);
        assert!(held > 0.8 * value("path_queueing_us"), "{sharing}: {rows}");
        // Looking changes nothing, on any number of threads.
        let other = format!("{number}-on-two");
        let again =
            place.json(&[&arguments[..], &["--json", "--threads", "2", "--out", &other]].concat());
        assert_eq!(again["points"][0]["digest"], point["digest"]);
        assert_eq!(place.read(&format!("{other}/path_channels.csv")), rows);
    }
    let text = place.run(&["run", "x.toml", "--trace-path", "--out", "text"]);
    assert!(text.contains("path held up by"), "{text}");
    place.run(&["report", "text"]);
    assert!(place.read("text/report.html").contains("critical path held up by"));
}

#[test]
fn a_message_that_its_adapter_sends_slowly_waits_for_injection() {
    let place = Workplace::new("adapter-bound");
    two_ranks(
        &place,
        "rank 0 {\ns: send 100000b to 1\nt: send 100000b to 1 tag 1\nt requires s\n}\n\
         rank 1 {\nr: recv 100000b from 0\nq: recv 100000b from 0 tag 1\n}\n",
    );
    for sharing in ["packet", "flit"] {
        let setting = format!("link.sharing={sharing}");
        let found = place.json(&[
            "run",
            "x.toml",
            "--trace-path",
            "--json",
            "--out",
            sharing,
            "--set",
            &setting,
            "--set",
            "application.eager_limit=1 MB",
            "--set",
            "adapter.injection_rate=6 Gb/s",
            "--set",
            "adapter.injection_latency=100 ns",
            "--set",
            "adapter.injection_channels=1",
        ]);
        let point = &found["points"][0];
        let value = |name: &str| point[name].as_f64().unwrap();
        // Two messages of 391 packets of 18 flits of 16 B, the last one smaller, but for its last
        // packet.
        let bytes = 2.0 * (390.0 * 18.0 + 12.0) * 16.0;
        let sent = bytes * 8.0 / 6e3;
        let injection = value("path_injection_us");
        assert!((injection - sent).abs() < 0.01 * sent, "{sharing}: {injection} {sent}");
        assert!(value("path_queueing_us") < 0.1, "{sharing}: {point}");
    }
}

#[test]
fn a_load_beside_collective_operations_is_measured_while_they_go_on() {
    let place = Workplace::new("load-beside");
    let scenario = |rounds: u32| {
        format!(
            "[topology.torus]\ndimensions = [4, 4]\n[collective]\noperation = \"all-reduce\"\nmessage = \"256 B\"\n\
             rounds = {rounds}\nstart = \"5 us\"\n[traffic]\npattern = \"uniform\"\nload = 0.3\n"
        )
    };
    let mut shorter = None;
    for rounds in [2, 20] {
        place.write("x.toml", &scenario(rounds));
        let out = rounds.to_string();
        let log = format!("{out}.csv");
        let found = place.json(&["run", "x.toml", "--json", "--out", &out, "--log-packets", &log]);
        let point = &found["points"][0];
        let value = |name: &str| point[name].as_f64().unwrap();
        let (start, end) = (value("warm_up_us"), value("simulated_time_us"));
        assert!((start - 5.0).abs() < 1e-9, "{start}");
        assert!((end - start - value("completion_time_us")).abs() < 1e-6, "{point}");
        // As many packets count as came then; the log has those before as well.
        let packets = place.read(&log);
        let column = packets.lines().next().unwrap().split(',').position(|it| it == "delivered_ns");
        // Each row begins with the name of its workload.
        for name in ["workload,", "collective,", "traffic,"] {
            assert!(packets.lines().any(|line| line.starts_with(name)), "{name}");
        }
        let times = packets.lines().skip(1).map(|line| {
            line.split(',').nth(column.unwrap()).unwrap().parse::<f64>().unwrap() / 1e3
        });
        let times: Vec<f64> = times.collect();
        assert!(times.iter().all(|&time| time <= end), "nothing comes after the end");
        let counted = times.iter().filter(|&&time| time > start).count() as f64;
        assert_eq!(value("packets"), counted);
        // Ten times as many operations take about ten times as long, not 20 us whatever they take.
        let ratio = shorter.map(|before: f64| counted / before);
        assert!(ratio.is_none_or(|ratio| (5.0..15.0).contains(&ratio)), "{ratio:?}");
        shorter = Some(counted);
    }
    let text = place.run(&["run", "x.toml", "--out", "text"]);
    assert!(text.contains("measured          all from 5.000 us to "), "{text}");
}

#[test]
fn files_of_other_programs_are_named_with_a_way_out() {
    let place = Workplace::new("other-programs");
    two_ranks(&place, "rank 0 {\ns: send 8b to 1\n}\nrank 1 {\nr: recv 8b from 0\nc: calc 7\n}\n");
    let (code, errors) = place.fail(&["run", "x.goal"]);
    assert_eq!(code, 2);
    assert!(errors.starts_with("error: x.goal is a GOAL schedule, no scenario"), "{errors}");
    assert!(errors.contains("file = \"x.goal\"") && errors.lines().count() == 2, "{errors}");
    // What it says can be done: the scenario beside it runs.
    place.run(&["run", "x.toml"]);
    assert!(place.run(&["schedule", "check", "x.goal"]).contains("0 ns to 7 ns, mean 3.5 ns"));
    for (file, text, name) in [
        ("halo.load", "[JOB_ID] 10\n[NID_LIST] 0-63\n", "a load file of SST's Ember"),
        ("a.xml", "<?xml version='1.0'?>\n<platform version=\"4.1\">\n", "a platform of SimGrid"),
        ("x.otf2", "OTF2\u{1}", "a trace in OTF2"),
    ] {
        place.write(file, text);
        for arguments in [&["schedule", "check", file][..], &["run", file]] {
            let (code, errors) = place.fail(arguments);
            assert_eq!(code, 2, "{errors}");
            assert!(errors.contains(name) && errors.contains("help: "), "{arguments:?}: {errors}");
            assert!(errors.lines().count() <= 4, "{errors}");
        }
    }
    place.write("c.goal", "num_ranks 1\nrank 0 {\nk: coll allreduce 4096b 0 0 -1 cpu 1 nic 1\n}\n");
    let (_, errors) = place.fail(&["schedule", "check", "c.goal"]);
    assert!(
        errors.contains("flitlab schedule all-reduce") && !errors.contains("calc`?"),
        "{errors}"
    );
}

#[test]
fn a_binary_of_loggopsim2_is_named() {
    let place = Workplace::new("loggopsim2");
    // One rank with one computation, each of whose operations has 65 bytes more than LogGOPSim's.
    let mut bytes = 4223u64.to_le_bytes().to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend([0, 0]);
    let length: u64 = 8 + 4 + 104;
    bytes.extend(22u64.to_le_bytes());
    bytes.extend((22 + length).to_le_bytes());
    bytes.extend([1u32, 1, 0].iter().flat_map(|it| it.to_le_bytes()));
    let mut operation = [0u8; 104];
    operation[4] = 3;
    bytes.extend(operation);
    std::fs::write(place.0.join("two.bin"), &bytes).unwrap();
    let (code, errors) = place.fail(&["schedule", "check", "two.bin"]);
    assert_eq!(code, 2);
    assert!(errors.contains("is a GOAL binary of LogGOPSim2"), "{errors}");
    assert!(!errors.contains("cut off"), "{errors}");
    // One that is cut off is none.
    std::fs::write(place.0.join("cut.bin"), &bytes[..60]).unwrap();
    assert!(place.fail(&["schedule", "check", "cut.bin"]).1.contains("cut off"));
}

#[test]
fn a_timeline_has_what_each_stream_did_and_an_arrow_a_message() {
    let place = Workplace::new("timeline");
    // The later of two applications, so that its times are shifted.
    place.write(
        "x.toml",
        "[topology.torus]\ndimensions = [4, 2]\n\
         [workloads.first]\nnodes = [0, 1]\n\
         application.schedule = { barrier = { ranks = 2 } }\n\
         [workloads.second]\nnodes = [2, 3, 4, 5]\nstart = \"7 us\"\n\
         application.schedule = { all-reduce = { ranks = 4, bytes = \"1 KiB\", combine_ns_per_byte = 1 } }\n",
    );
    let found = place.json(&["run", "x.toml", "--json", "--timeline", "t.json"]);
    let events: Vec<serde_json::Value> = serde_json::from_str(&place.read("t.json")).unwrap();
    let of =
        |kind: &'static str| events.iter().filter(move |it| it["ph"] == kind && it["pid"] == 2);
    let time = |it: &serde_json::Value, key: &str| {
        // Picoseconds, so that ends and beginnings compare exactly.
        (it[key].as_f64().unwrap() * 1e6).round() as u64
    };
    // Slices of a thread lie one behind the other, and the path is without gaps.
    let mut threads = std::collections::BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for slice in of("X") {
        let begin = time(slice, "ts");
        let slices = threads.entry(slice["tid"].as_u64().unwrap()).or_default();
        slices.push((begin, begin + time(slice, "dur")));
    }
    assert_eq!(threads.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for slices in threads.values_mut() {
        slices.sort_unstable();
        assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{slices:?}");
    }
    let path = &threads[&0];
    assert!(path.windows(2).all(|pair| pair[0].1 == pair[1].0), "{path:?}");
    let second = &found["points"][0]["workloads"][1];
    let completion = (second["completion_time_us"].as_f64().unwrap() * 1e6).round() as u64;
    assert_eq!((path[0].0, path[path.len() - 1].1), (7_000_000, 7_000_000 + completion));
    // Recursive doubling: two rounds of four messages, each with both ends.
    assert_eq!((of("s").count(), of("f").count()), (8, 8));
    for sent in of("s") {
        let received = of("f").find(|it| it["id"] == sent["id"]).unwrap();
        assert!(time(sent, "ts") < time(received, "ts"));
        assert_ne!(sent["tid"], received["tid"]);
    }
    assert!(of("X").any(|it| it["name"] == "all-reduce: compute"));
    // It replaces no file, and is of applications alone.
    let again = place.flitlab(&["run", "x.toml", "--timeline", "t.json", "--out", "again"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    place.write(
        "y.toml",
        "[topology.torus]\ndimensions = [4]\n[exchange]\npattern = \"all-to-all\"\nmessage = \"1 KiB\"\n",
    );
    let other = place.flitlab(&["run", "y.toml", "--timeline", "u.json"]);
    let told = String::from_utf8_lossy(&other.stderr).into_owned();
    assert_eq!(other.status.code(), Some(2), "{told}");
    assert!(told.contains("--timeline is of applications on a network"), "{told}");
}
