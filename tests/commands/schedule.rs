//! `flitlab schedule` as it is typed: what it makes can be read again, what is wrong is refused in
//! words.

use crate::common::workplace::Workplace;

#[test]
fn what_is_made_is_what_is_read() {
    let place = Workplace::new("schedule_made");
    let ring =
        ["schedule", "all-reduce", "--algorithm", "ring", "--ranks", "64", "--bytes", "1MiB"];
    let text = place.run(&ring);
    assert!(
        text.starts_with("num_ranks 64\n\nrank 0 {\nl1: recv 16384b from 63 tag"),
        "{text:.80}"
    );
    place.write("ring.goal", &text);
    let checked = place.json(&["schedule", "check", "ring.goal", "--json"]);
    assert_eq!((&checked["sends"], &checked["bytes"]), (&8064.into(), &(126 * (1 << 20)).into()));
    assert_eq!(checked["unmatched"], 0);
    for (name, more) in [("ring.bin", &[][..]), ("ring.any", &["--binary"])] {
        let out = [&ring[..], &["--out", name, "--json"], more].concat();
        let mut counted = place.json(&out);
        counted["unmatched"] = 0.into();
        counted["examples"] = serde_json::json!([]);
        counted["format"] = "goal".into();
        counted["calls"] = serde_json::json!({});
        assert_eq!(counted, checked);
        assert_eq!(place.read_bytes(name)[..4], [0x7f, 0x10, 0, 0]);
        assert_eq!(place.json(&["schedule", "check", name, "--json"]), checked);
    }
    let lu = [
        "schedule",
        "npb",
        "--benchmark",
        "lu",
        "--class",
        "S",
        "--ranks",
        "8",
        "--iterations",
        "1",
    ];
    let output = place.flitlab(&[&lu[..], &["--out", "-"]].concat());
    let counted = String::from_utf8(output.stderr).unwrap();
    assert!(
        counted.contains("up to 1 KiB         200 messages") || counted.contains("messages"),
        "{counted}"
    );
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("num_ranks 8\n"));
}

#[test]
fn what_can_be_made_is_listed() {
    let list = Workplace::new("schedule_list").run(&["schedule", "--list"]);
    for name in
        ["all-reduce: ", "  rabenseifner ", "  mg ", "sweep3d: ", "  open-mpi-4.1 ", "  chakra "]
    {
        assert!(list.contains(name), "{list}");
    }
}

#[test]
fn what_is_wrong_is_refused_with_code_2_and_what_cannot_match_with_4() {
    let place = Workplace::new("schedule_wrong");
    place.write("wrong.goal", "num_ranks 1\nrank 0 {\nsend 8b to 1\nl1: sned 8b to 0\n}\n");
    place.write("left.goal", "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\n}\n");
    for (arguments, code, message) in [
        (&["schedule"][..], 2, "<NAME>"),
        (&["schedule", "all-redcue"], 2, "'all-reduce'"),
        (&["schedule", "all-reduce", "--ranks", "8"], 2, "error: all-reduce needs bytes"),
        (&["schedule", "all-reduce", "--bytes", "8 MIB"], 2, "`MIB` is not a unit of a size"),
        (
            &["schedule", "npb", "--benchmark", "cg", "--class", "C", "--ranks", "100"],
            2,
            "error: CG runs on powers of two, not on 100; it does on 64 and 128",
        ),
        (&["schedule", "check", "wrong.goal"], 2, "wrong.goal:4:5"),
        (&["schedule", "check", "wrong.goal"], 2, "did you mean `send`?"),
        (&["schedule", "check", "none.goal"], 2, "there is no such file"),
        (&["schedule", "check", "left.goal"], 4, "error: one send or receive can't match"),
        (
            &["schedule", "barrier", "--ranks", "2", "--out", "no/such/folder.goal"],
            1,
            "can't write no/such/folder.goal",
        ),
    ] {
        let (found, errors) = place.fail(arguments);
        assert!(found == code && errors.contains(message), "{arguments:?}: {found}\n{errors}");
    }
    let output = place.flitlab(&["schedule", "check", "left.goal"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("`a` of rank 0 (send 8 B to rank 1, tag 0) is never received"), "{text}");
}

/// A small trace of each format that is read, besides GOAL.
fn traces(place: &Workplace) -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    place.write("ti.txt", "0 init\n0 compute 5e3\n0 send 1 0 8\n1 init\n1 recv 0 0 8\n");
    place.write("perm.cm", "Nodes 2\nConnections 1\n0->1 id 1 start 0 size 100\n");
    place.write(
        "t-0.txt",
        "MPI_Init:-:1:2:0\nMPI_Send:5:1:4:11,8,8:1:7:0,0,2:6\nMPI_Finalize:6:7\n",
    );
    place.write(
        "t-1.txt",
        "MPI_Init:-:1:2:0\nMPI_Recv:5:1:4:11,8,8:0:7:0,1,2:6\nMPI_Finalize:6:7\n",
    );
    let time = "walltime 1.5, cputime 0.1 seconds in thread 0.";
    let comm = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    for rank in ["0000", "0001"] {
        let text =
            format!("MPI_Barrier entering at {time}\n{comm}\nMPI_Barrier returning at {time}\n");
        place.write(&format!("dumpi-{rank}.txt"), &text);
    }
    let chakra = std::fs::read("scenarios/applications/chakra/step.0.et").unwrap();
    for rank in 0..2 {
        std::fs::write(place.0.join(format!("step.{rank}.et")), &chakra).unwrap();
    }
    vec![
        ("ti.txt", "a time-independent trace of SimGrid", &["--flops-per-second", "1e9"]),
        ("perm.cm", "a connection matrix of htsim", &[]),
        ("t-0.txt", "a trace of liballprof", &["--algorithm", "open-mpi-4.1"]),
        ("dumpi-0001.txt", "a DUMPI trace as text", &[]),
        ("step.0.et", "an execution trace of Chakra", &["--algorithm", "halving-doubling"]),
    ]
}

#[test]
fn traces_of_other_programs_are_checked_read_as_goal_and_run() {
    let place = Workplace::new("schedule_traces");
    for (file, what, options) in traces(&place) {
        let checked = place.json(&[&["schedule", "check", file, "--json"], options].concat());
        assert_eq!((&checked["ranks"], &checked["unmatched"]), (&2.into(), &0.into()), "{file}");
        assert!(checked["calls"].as_object().is_some_and(|calls| !calls.is_empty()), "{file}");
        let text = place.run(&[&["schedule", "check", file], options].concat());
        assert!(text.contains(what), "{text}");
        // What is read and written is the same schedule.
        place.run(&[&["schedule", "read", file, "--out", "x.goal"], options].concat());
        let again = place.json(&["schedule", "check", "x.goal", "--json"]);
        for column in ["ranks", "operations", "sends", "bytes", "dependencies", "compute_ns"] {
            assert_eq!(again[column], checked[column], "{file}: {column}");
        }
        // No scenario, but what a scenario has.
        let (code, errors) = place.fail(&["run", file]);
        assert_eq!(code, 2, "{errors}");
        assert!(
            errors.contains(what) && errors.contains(&format!("file = \"{file}\"")),
            "{errors}"
        );
        let keys: String = options
            .chunks(2)
            .map(|pair| match pair[0] {
                "--algorithm" => format!("algorithm = \"{}\"\n", pair[1]),
                _ => format!("flops_per_second = {}\n", pair[1]),
            })
            .collect();
        let scenario = format!(
            "[topology.torus]\ndimensions = [2]\n\n[application]\nfile = \"{file}\"\n{keys}"
        );
        place.write("x.toml", &scenario);
        let text = place.run(&["run", "x.toml", "--out", &format!("out-{file}")]);
        assert!(text.contains("completed"), "{file}: {text}");
        place.run(&["check", "x.toml"]);
    }
    // A result is of all files of a trace.
    place.write(
        "t.toml",
        "[topology.torus]\ndimensions = [2]\n\n[application]\nfile = \"t-0.txt\"\n",
    );
    let first = place.run(&["run", "t.toml", "--out", "t1"]);
    place.write(
        "t-1.txt",
        "MPI_Init:-:1:2:0\nMPI_Recv:95:1:4:11,8,8:0:7:0,1,2:96\nMPI_Finalize:96:97\n",
    );
    assert_ne!(first, place.run(&["run", "t.toml", "--out", "t2"]));
    let (code, errors) = place.fail(&["schedule", "read", "ti.txt", "--groups", "none.json"]);
    assert!(code == 2 && errors.contains("can't read none.json"), "{errors}");
}

/// What a command says besides its result.
fn said(place: &Workplace, arguments: &[&str]) -> String {
    let output = place.flitlab(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    // Lines are wrapped where they are long.
    String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_trace_leaves_open_is_said_by_each_command_that_reads_it() {
    let place = Workplace::new("schedule_notes");
    place.write(
        "t-0.txt",
        "MPI_Init:-:1:2:0\nMPI_Isend:5:1:4:11,8,8:1:7:0,0,2:160:6\nMPI_Finalize:3:4\n",
    );
    place.write(
        "t-1.txt",
        "MPI_Init:-:1:2:0\nMPI_Recv:5:1:4:11,8,8:0:7:0,1,2:6\nMPI_Finalize:6:7\n",
    );
    place
        .write("x.toml", "[topology.torus]\ndimensions = [2]\n[application]\nfile = \"t-0.txt\"\n");
    for arguments in [
        &["schedule", "check", "t-0.txt"][..],
        &["schedule", "read", "t-0.txt", "--out", "x.goal"],
        &["check", "x.toml"],
        &["run", "x.toml", "--out", "out"],
    ] {
        let said = said(&place, arguments);
        for note in [
            "note: t-0.txt: calls with a time before that of the call before: 1;",
            "note: t-0.txt: requests that were begun and never waited for: 1;",
        ] {
            assert!(said.contains(note), "{arguments:?}: {said}");
        }
    }
    let checked = place.json(&["schedule", "check", "t-0.txt", "--json"]);
    assert_eq!(checked["notes"].as_array().unwrap().len(), 2);
    assert!(place.json(&["schedule", "check", "x.goal", "--json"]).get("notes").is_none());
}

#[test]
fn an_application_in_which_all_send_first_is_told_to_hang_and_what_lets_it_end() {
    let place = Workplace::new("schedule_hangs");
    let mut text = String::from("num_ranks 4\n");
    for rank in 0..4 {
        let (to, from) = ((rank + 1) % 4, (rank + 3) % 4);
        text += &format!(
            "rank {rank} {{\ns: send 131072b to {to}\nr: recv 131072b from {from}\nr requires s\n}}\n"
        );
    }
    place.write("ring.goal", &text);
    for (name, network, advice) in [
        ("flits.toml", "", "application.eager_limit=\"128 KiB\""),
        (
            "loggops.toml",
            "network = { loggops = {} }\n",
            "application.network.loggops.eager_limit=\"128 KiB\"",
        ),
    ] {
        let scenario = format!(
            "[topology.torus]\ndimensions = [4]\n[application]\nfile = \"ring.goal\"\n{network}"
        );
        place.write(name, &scenario);
        let warned = said(&place, &["check", name]);
        assert!(
            warned.contains("warning: the application will hang: each of these waits"),
            "{warned}"
        );
        assert!(warned.contains("with `eager_limit = \"128 KiB\"`"), "{warned}");
        let (code, errors) = place.fail(&["run", name]);
        assert_eq!(code, 3, "{errors}");
        let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(errors.contains("with `eager_limit = \"128 KiB\"`"), "{errors}");
        // The advice works.
        assert!(!said(&place, &["check", name, "--set", advice]).contains("hang"));
        let text = place.run(&["run", name, "--set", advice]);
        assert!(text.contains("completed"), "{text}");
    }
    // No limit helps where nobody sends first.
    let first = text.replace("r requires s", "s requires r");
    place.write("ring.goal", &first);
    let warned = said(&place, &["check", "flits.toml"]);
    assert!(warned.contains("will hang") && !warned.contains("eager_limit"), "{warned}");
}

#[test]
fn sends_of_a_trace_of_chakra_wait_for_no_receipt_unless_asked_for() {
    let place = Workplace::new("schedule_eager");
    let trace =
        format!("{}/tests/traces/astra-sim/all_reduce/all_reduce.0.et", env!("CARGO_MANIFEST_DIR"));
    let scenario = |file: &str, more: &str| {
        format!("[topology.torus]\ndimensions = [4]\n[application]\nfile = \"{file}\"\n{more}")
    };
    let limits = |file: &str, more: &str| -> Vec<String> {
        place.write("x.toml", &scenario(file, more));
        let resolved = place.run(&["check", "x.toml", "--resolved"]);
        let lines = resolved.lines().filter(|line| line.contains("eager_limit"));
        lines.map(|line| line.split('#').next().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(limits(&trace, ""), ["eager_limit = \"1024 GiB\""]);
    assert_eq!(limits(&trace, "eager_limit = \"8 KiB\""), ["eager_limit = \"8 KiB\""]);
    let both = limits(&trace, "network = \"loggops\"");
    assert!(both.iter().all(|line| line.contains("eager_limit = \"1024 GiB\"")), "{both:?}");
    place.write("x.goal", "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n");
    assert_eq!(limits("x.goal", ""), ["eager_limit = \"64 KiB\""]);
    let said = said(&place, &["schedule", "read", &trace, "--out", "y.goal"]);
    assert!(said.contains("simulate what was written with `eager_limit = \"256 KiB\"`"), "{said}");
}

#[test]
fn ranks_that_share_a_node_are_those_of_the_schedule_where_it_says_so() {
    let place = Workplace::new("schedule_nodes");
    let scenario = |keys: &str| {
        format!(
            "[topology.torus]\ndimensions = [16]\n[application.schedule.all-reduce]\nranks = 16\nbytes = \"1 MiB\"\n{keys}\n"
        )
    };
    let ring = "algorithm = \"ring\"\nchannels = 8";
    let time = |keys: &str| {
        place.write("x.toml", &scenario(keys));
        place.json(&["run", "x.toml", "--json"])["points"][0]["completion_time_us"].clone()
    };
    let (same_way, turned) = (time(ring), time(&format!("{ring}\nranks_per_node = 8")));
    assert!(same_way.is_number() && same_way != turned, "{same_way} {turned}");
    place.write("x.toml", &scenario(ring));
    let note = said(&place, &["check", "x.toml"]);
    assert!(note.contains("all 8 `channels` go from rank to rank in the same order"), "{note}");
    place.write("x.toml", &scenario(&format!("{ring}\nranks_per_node = 8")));
    assert!(!said(&place, &["check", "x.toml"]).contains("channels"));
    // Two levels without any rank in the memory of another.
    let levels = "algorithm = \"hierarchical\"";
    place.write("x.toml", &scenario(levels));
    assert_eq!(place.fail(&["check", "x.toml"]).0, 2);
    assert!(time(&format!("{levels}\nranks_per_node = 4")).is_number());
    // The same schedule as the command's.
    let made = place.run(&[
        "schedule",
        "all-reduce",
        "--ranks",
        "16",
        "--bytes",
        "1MiB",
        "--algorithm",
        "ring",
        "--channels",
        "8",
        "--ranks-per-node",
        "8",
    ]);
    place.write("made.goal", &made);
    place.write(
        "y.toml",
        "[topology.torus]\ndimensions = [16]\n[application]\nfile = \"made.goal\"\n",
    );
    let of_file =
        place.json(&["run", "y.toml", "--json"])["points"][0]["completion_time_us"].clone();
    assert_eq!(of_file, turned);
}

#[test]
fn files_without_an_end_and_schedules_without_messages_are_told_in_words() {
    let place = Workplace::new("schedule_limits");
    let trace =
        format!("{}/tests/traces/astra-sim/all_reduce/all_reduce.0.et", env!("CARGO_MANIFEST_DIR"));
    if std::path::Path::new("/dev/zero").exists() {
        let (code, errors) = place.fail(&["schedule", "check", &trace, "--groups", "/dev/zero"]);
        assert!(code == 2 && errors.contains("larger than 64 MiB"), "{errors}");
    }
    place.write("long.goal", "num_ranks 2\nrank 0 {\nl1: calc 9000\n}\nrank 1 {\n}\n");
    place.write(
        "x.toml",
        "[topology.torus]\ndimensions = [4]\n[application]\nfile = \"long.goal\"\n",
    );
    let text = place.run(&["check", "x.toml"]);
    assert!(text.contains("no bound computed: no message goes from node to node"), "{text}");
    assert!(!text.contains("at least"), "{text}");
}
