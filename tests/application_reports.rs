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
    two_ranks(
        &place,
        "rank 0 {\ns: send 1000000b to 1\n}\nrank 1 {\nr: recv 1000000b from 0\n}\n",
    );
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
    let dialects =
        ["classic", "atlahs"].map(|it| format!("application.network={{loggops={{dialect=\"{it}\"}}}}"));
    let models = [&["--json"][..], &["--json", "--set", &dialects[0]], &["--json", "--set", &dialects[1]]];
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
