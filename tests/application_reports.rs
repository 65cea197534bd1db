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
