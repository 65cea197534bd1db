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
