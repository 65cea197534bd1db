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
    for name in ["all-reduce: ", "  rabenseifner ", "  mg ", "sweep3d: ", "  open-mpi-4.1 "] {
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
