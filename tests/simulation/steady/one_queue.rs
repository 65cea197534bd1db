//! Coverage near saturation: how many of many 95% intervals hold the mean latency of a queue that
//! is known in closed form.

use std::ops::RangeInclusive;

use flitlab::report::{PointRow, Status};
use flitlab::simulation::Simulation;
use rayon::prelude::*;

use super::{Known, hold, row, run, scenario};

/// One node sends packets of 33 flits to another, and all of them wait in its source queue: a
/// message comes in a slot of a flit's time with probability `rho / 33`, and takes 33 slots.
const QUEUE: &str = "[topology.hyperx]\ndimensions = [2]\nterminals = 1\n[adapter]\n\
                     injection_buffer = \"6600 flits\"\n[traffic]\nmessage = \"2 KiB\"\nload = 0.1\n\
                     pattern = { pairs = { list = [[0, 1]] } }\n";

const FLITS: f64 = 33.0;

/// The mean latency in picoseconds: that of the empty network, and the wait in a queue Geo/D/1,
/// `rho (D - 1) / (2 (1 - rho))` slots (\[takagi\], section 1.1).
fn mean_latency(rho: f64) -> f64 {
    let simulation = Simulation::new(&scenario(QUEUE, &[])).unwrap();
    let slot = simulation.scenario().parameters.injection_flit_time().0 as f64;
    let slots = rho * (FLITS - 1.0) / (2.0 * (1.0 - rho));
    simulation.forecast().zero_load_mean + slots * slot
}

/// What each seed gave at a load.
fn runs(rho: f64, seeds: RangeInclusive<u64>) -> Vec<PointRow> {
    let run = |seed| row(QUEUE, &[&format!("traffic.load={rho}"), &format!("seed={seed}")]);
    seeds.into_par_iter().map(run).collect()
}

/// Whether an interval holds the mean. One that could not be given has no end above.
fn holds(row: &PointRow, truth: f64) -> bool {
    let mean = row.packet_latency_mean.unwrap().0 as f64;
    row.packet_latency_mean_ci95.is_none_or(|half| (mean - truth).abs() <= half.0 as f64)
}

/// The share of intervals that hold the mean.
fn coverage(rho: f64, seeds: RangeInclusive<u64>) -> f64 {
    let (truth, runs) = (mean_latency(rho), runs(rho, seeds));
    let count = runs.len() as f64;
    let share = runs.iter().filter(|row| holds(row, truth)).count() as f64 / count;
    let mean =
        runs.iter().map(|row| row.packet_latency_mean.unwrap().0 as f64).sum::<f64>() / count;
    let none = runs.iter().filter(|row| row.packet_latency_mean_ci95.is_none()).count();
    let few = runs.iter().filter(|row| row.effective_windows.unwrap() < 10.0).count();
    let unsteady = runs.iter().filter(|row| row.status != Status::Steady).count();
    println!(
        "rho {rho}: {share:.4} of {count}, bias {:+.4}, {none} without an interval, {few} of few effective windows, \
         {unsteady} not steady",
        mean / truth - 1.0
    );
    share
}

#[test]
#[ignore = "long: five minutes, 400 seeds each at 0.9, 0.95 and 0.97 of a queue's capacity"]
fn near_saturation_93_to_97_of_a_hundred_intervals_hold_the_mean_of_a_queue() {
    let shares = [0.9, 0.95, 0.97].map(|rho| (rho, coverage(rho, 1..=400)));
    assert!(shares.iter().all(|(_, share)| (0.93..=0.97).contains(share)), "{shares:?}");
    let known = shares.map(|(rho, ours)| {
        let what = format!("95% intervals that hold the mean of a queue {rho} used, share of 400");
        Known { what, expected: 0.95, ours }
    });
    hold("queue-coverage", &known);
}

/// A quick look: 28 of these 30 intervals hold the mean. The long tier has the share, of 400 at
/// each load.
#[test]
fn most_intervals_hold_the_mean_of_a_queue_at_097_of_its_capacity() {
    let share = coverage(0.97, 1..=30);
    assert!(share >= 27.0 / 30.0, "{share}");
}

/// Far nearer to capacity than the windows can resolve, the interval is not given out as one to
/// rely on.
#[test]
fn an_interval_of_few_effective_windows_is_told() {
    let outcome = run(QUEUE, &["traffic.load=0.99", "seed=2"]);
    let row = &outcome.found.measured;
    assert!(row.effective_windows.unwrap() < 10.0, "{row:?}");
    let warnings = outcome.found.warnings.join("\n");
    assert!(warnings.contains("too few to rely on the mean or its interval"), "{warnings}");
    assert!(warnings.contains("--set measure.maximum_windows=240"), "{warnings}");
    // At half of capacity no such thing is said.
    let outcome = run(QUEUE, &["traffic.load=0.5"]);
    assert!(!outcome.found.warnings.join("\n").contains("rely on"));
}
