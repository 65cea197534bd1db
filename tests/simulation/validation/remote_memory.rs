//! What remote memory operations take alone, and what binds their rates.

use super::{Row, Section};
use crate::common::workplace::{Workplace, scenario};

/// A row of points.csv by a scenario of OSU's, with some keys set.
fn ours(place: &Workplace, name: &str, settings: &[&str], column: &str) -> (f64, String) {
    let folder = format!("{name}-{}", settings.join("-").replace([' ', '/', '"', '='], ""));
    let path = scenario(&format!("angara/{name}"));
    let mut run = vec!["run", &path, "--json", "--out", &folder];
    let mut command = format!("flitlab run scenarios/angara/{name}.toml");
    for setting in settings {
        run.extend(["--set", setting]);
        let quoted = if setting.contains(' ') { format!("'{setting}'") } else { (*setting).into() };
        command += &format!(" --set {quoted}");
    }
    (place.json(&run)["points"][0][column].as_f64().expect("a number"), command)
}

pub fn section() -> Section {
    let place = Workplace::new("validation_remote_memory");
    let row = |what: &str, expected: f64, (ours, command): (f64, String)| {
        Row::new(what, expected, ours, &command)
    };
    let latency =
        |settings: &[&str]| ours(&place, "osu-latency", settings, "message_latency_mean_ns");
    let rate = |name: &str, settings: &[&str]| {
        ours(&place, name, settings, "operation_rate_total_million_per_s")
    };
    let bandwidth =
        |name: &str, settings: &[&str]| ours(&place, name, settings, "bandwidth_total_GB_per_s");
    // Hosts, service, and both ways: 166 ns for a header, and 2 ns for each flit behind it.
    let way = |flits: f64| 13.0 + 25.0 + 105.0 + 23.0 + 2.0 * (flits - 1.0);
    let round_trip = |there: f64, back: f64| 340.0 + way(there) + 100.0 + way(back) + 340.0;
    let put = round_trip(3.0, 2.0);
    let operation = |name: &str| format!("remote_memory.operation={name}");
    let link = 60.0 / 8.0 * 256.0 / (18.0 * 16.0);
    let rows = vec![
        row("put of 8 B upon a neighbour, ns", put, latency(&[])),
        row("get of 8 B, ns", round_trip(3.0, 3.0), latency(&[&operation("get")])),
        row("addition upon 8 B, ns", round_trip(4.0, 3.0) + 50.0, latency(&[&operation("add")])),
        row(
            "compare-and-swap upon 8 B, ns",
            round_trip(4.0, 3.0) + 50.0,
            latency(&[&operation("compare-and-swap")]),
        ),
        row(
            "puts of 1 MiB, bandwidth, GB/s",
            link,
            bandwidth("osu-bandwidth", &["remote_memory.message=1 MiB"]),
        ),
        row(
            "gets of 1 MiB, bandwidth, GB/s",
            link,
            bandwidth("osu-bandwidth", &["remote_memory.message=1 MiB", &operation("get")]),
        ),
        row(
            "puts of 1 MiB both ways, bandwidth, GB/s",
            2.0 * link,
            bandwidth("osu-bibandwidth", &["remote_memory.message=1 MiB"]),
        ),
        row(
            "puts of 8 B, one under way, millions a second",
            1e3 / put,
            rate("osu-message-rate", &["remote_memory.outstanding=1"]),
        ),
        row(
            "puts of 8 B, windows of 64, millions a second",
            64e3 / (63.0 * 100.0 + put),
            rate("osu-message-rate", &[]),
        ),
        row(
            "puts of 8 B, 16 processes without flushes, millions a second",
            20_480e3 / (20_479.0 * 25.0 + put),
            rate(
                "osu-message-rate",
                &["remote_memory.processes=16", "remote_memory.flush_every=1280"],
            ),
        ),
        row(
            "additions of seven nodes upon one, 64 each under way, millions a second",
            1e3 / 50.0,
            rate(
                "osu-atomics",
                &["remote_memory.outstanding=64", "remote_memory.operations=10000"],
            ),
        ),
    ];
    Section {
        title: "Remote memory operations without load",
        source: "- An operation takes one overhead of each kind, the service time, and both\n\
                 flights of the fewest flits each. An atomic operation takes its own time too.\n\
                 - In the long run bandwidth is that of the link, less header and checksum of\n\
                 each packet of 256 B. If both directions are used, each also carries the\n\
                 other's acknowledgements.\n\
                 - Four things bound rates: the window over the round trip (Little's law); the\n\
                 gap of a process, with one round trip a window; the gap of the adapter; the\n\
                 time of an atomic operation at its target.\n\
                 \n\
                 Gaps, overheads and times are assumed: these rows confirm how they work\n\
                 together. For other sizes, distances and windows tests/simulation/remote_memory compares\n\
                 the closed forms, to the last picosecond.",
        rows,
    }
}
