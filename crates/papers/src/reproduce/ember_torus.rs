//! Ember's motifs on tori, beside the times that SST's own tests expect.
//!
//! Source: `sst-elements/src/sst/elements/ember/tests`, `refFiles/test_EmberSweep.out` (keyed by
//! the MD5 of command lines that `testsuite_default_ember_sweep.py` makes) and, for Sweep3D,
//! `refFiles/test_embernightly.out`. The platform is `ember/test/defaultParams.py`. Nothing is
//! fitted: each key below is one of that file, or of the code of Firefly and Merlin that it names.

use serde::{Deserialize, Serialize};

use super::{Extent, Progress, Reproduction, all};
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario};

/// Shape, motif, iterations, bytes of a message (none for a barrier), and microseconds.
const PUBLISHED: &str = include_str!("published/ember-torus.csv");

/// Larger shapes, of which this file has no times of SST: ours are predictions.
const PREDICTED: [&str; 2] = ["8x8x8", "16x16x16"];

/// What all shapes share: links of 4 GB/s; cables of 40 ns and input and output latencies of 50 ns,
/// to each of which a cycle of 2 ns is added where Merlin waits for its clock or a flit takes its
/// time; packets of 2048 B; buffers of 14 KB at the input and at the output of each virtual
/// channel, which change at datelines. Then the host: the delays of Firefly's `ctrlMsg` and `nic`.
const PLATFORM: &str = "\
[router]
flit = \"8 B\"
bubble = false
header_flits = 1
checksum_flits = 0
maximum_payload = \"2040 B\"
buffer = \"3500 flits\"
routing_latency = \"50 ns\"
crossbar_latency = \"52 ns\"
[link]
rate = \"4 GB/s\"
latency = \"42 ns\"
[adapter]
injection_channels = 1
ejection_channels = 1
injection_rate = \"4 GB/s\"
ejection_rate = \"4 GB/s\"
injection_latency = \"42 ns\"
ejection_latency = \"42 ns\"
injection_buffer = \"3500 flits\"
send_overhead = \"141 ns\"
receive_overhead = \"100 ns\"
[application]
eager_limit = \"12000 B\"
overhead_per_byte = 0.344
match_time = \"150 ns\"
control_message = \"37 B\"
host_adapter = { bus = \"150 ns\", send = \"50 ns\", receive = \"100 ns\", cut_through = true }
rendezvous.get.registration = \"3 us\"
rendezvous.get.registration_per_page = \"100 ns\"
rendezvous.get.read = \"250 ns\"
";

/// A motif on a shape.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    shape: String,
    motif: String,
    iterations: u32,
    bytes: Option<u64>,
    simulated_us: Option<f64>,
}

/// A motif's time, and what SST's is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    shape: String,
    motif: String,
    iterations: u32,
    /// Bytes of a message; none for a barrier.
    bytes: Option<u64>,
    completion_us: f64,
    sst_us: Option<f64>,
    deviation_percent: Option<f64>,
}

/// Simulates every motif.
///
/// # Panics
/// If a scenario of this module is none.
pub fn ember_torus(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let cases = cases(extent.quick);
    let rows = all(&cases, extent, |case| simulate(case, extent), |_| String::new(), progress);
    let mut text = format!(
        "{:<10}{:<13}{:>10}{:>7}{:>13}{:>13}{:>11}\n",
        "shape", "motif", "iterations", "bytes", "here us", "SST us", "deviation"
    );
    rows.iter().for_each(|row| text += &line(row));
    let deviations = rows.iter().filter_map(|row| row.deviation_percent);
    let largest = deviations.map(f64::abs).fold(0.0, f64::max);
    text += &format!("largest deviation {largest:.2}%\n");
    Reproduction::of_rows("motifs", &rows, text, Vec::new())
}

fn published() -> Vec<Case> {
    let mut reader = csv::Reader::from_reader(PUBLISHED.as_bytes());
    reader.deserialize().map(|row| row.expect("the file has such rows")).collect()
}

/// A quick run has one iteration of each on the published shapes.
fn cases(quick: bool) -> Vec<Case> {
    let mut cases = published();
    if quick {
        cases.retain(|case| case.iterations == 1);
        return cases;
    }
    let like = |case: &&Case| case.shape == "4x4x4" && case.motif != "Sweep3D";
    let pattern: Vec<Case> = cases.iter().filter(like).cloned().collect();
    for shape in PREDICTED {
        let as_shape =
            |case: &Case| Case { shape: shape.into(), simulated_us: None, ..case.clone() };
        cases.extend(pattern.iter().map(as_shape));
    }
    cases
}

fn scenario(case: &Case) -> String {
    let sizes: Vec<u32> = case.shape.split('x').map(|it| it.parse().expect("a size")).collect();
    let ranks: u32 = sizes.iter().product();
    // Merlin finishes the dimension along which nodes are counted first before the next one.
    let directions: Vec<String> = ["x", "y", "z"][..sizes.len()]
        .iter()
        .rev()
        .flat_map(|axis| [format!("\"+{axis}\""), format!("\"-{axis}\"")])
        .collect();
    let bytes = case.bytes.map_or(String::new(), |bytes| format!(", bytes = \"{bytes} B\""));
    let (generator, more) = match &*case.motif {
        "PingPong" => ("ping-pong", bytes),
        "AllPingPong" => ("all-ping-pong", bytes),
        "Ring" => ("ring", bytes),
        "Barrier" => ("barrier", ", algorithm = \"binary\"".into()),
        "Allreduce" => ("all-reduce", format!("{bytes}, algorithm = \"binary\"")),
        "Reduce" => ("reduce", format!("{bytes}, algorithm = \"binary\", compute_ns = 11000")),
        _ => (
            "sweep3d",
            ", points = [30, 30, 30], grid = [4, 16], block = 10, compute_ns = 11200".into(),
        ),
    };
    let iterations = case.iterations;
    format!(
        "topology.torus.dimensions = {sizes:?}\n\
         routing.direction_order = {{ half_ring = \"plus\", dateline = true, order = [{}] }}\n\
         {PLATFORM}\
         schedule = {{ {generator} = {{ ranks = {ranks}, iterations = {iterations}, \
         call_ns = 30, fini = true{more} }} }}\n",
        directions.join(", ")
    )
}

fn simulate(case: &Case, extent: Extent<'_>) -> Row {
    let text = scenario(case);
    let completion = extent.simulated(&text, || {
        let scenario = Scenario::read(&Document::parse("ember-torus", &text)).expect("it is one");
        let measured =
            Simulation::new(&scenario).expect("it is one").run(&mut |_| {}).found.measured;
        measured.completion_time.expect("it comes to its end").0
    });
    let completion_us = completion as f64 / 1e6;
    let deviation = |sst: f64| 1e-2 * (1e4 * (completion_us / sst - 1.0)).round();
    Row {
        shape: case.shape.clone(),
        motif: case.motif.clone(),
        iterations: case.iterations,
        bytes: case.bytes,
        completion_us,
        sst_us: case.simulated_us,
        deviation_percent: case.simulated_us.map(deviation),
    }
}

fn line(row: &Row) -> String {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    format!(
        "{:<10}{:<13}{:>10}{:>7}{:>13.3}{:>13}{:>11}\n",
        row.shape,
        row.motif,
        row.iterations,
        or_none(row.bytes.map(|bytes| bytes.to_string())),
        row.completion_us,
        or_none(row.sst_us.map(|time| format!("{time:.3}"))),
        or_none(row.deviation_percent.map(|deviation| format!("{deviation:+.2}%"))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    /// The largest deviation is that of Reduce, where searches in vain are left out.
    #[test]
    fn every_published_time_is_met() {
        let reproduced = ember_torus(SAMPLE, &mut |_, _, _| {});
        let rows: Vec<Row> = serde_json::from_value(reproduced.json).unwrap();
        assert_eq!(rows.len(), 31);
        for row in rows {
            assert!(row.deviation_percent.unwrap().abs() < 1.0, "{row:?}");
        }
    }

    #[test]
    fn all_cases_are_scenarios() {
        for case in cases(false) {
            let read = Scenario::read(&Document::parse("ember-torus", &scenario(&case)));
            assert!(read.is_ok(), "{}: {:?}", scenario(&case), read.err());
        }
    }
}
