//! One run of a workload, in a process of its own, so that its peak memory is its own and runs of
//! different workloads take turns.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// CPU time of all threads while simulating, waiting for each other included.
    pub cpu_seconds: f64,
    /// The same on the clock.
    pub seconds: f64,
    pub set_up_seconds: f64,
    pub packet_hops: u64,
    pub flit_hops: u64,
    /// Channels granted to packets.
    pub grants: u64,
    pub simulated_microseconds: f64,
    pub nodes: u32,
    /// The engine's arrays before traffic.
    pub bytes_a_node: f64,
    /// The most memory that the process has had; 0 where the system does not say.
    pub peak_bytes: u64,
    pub digest: u64,
}

impl Sample {
    /// CPU time in nanoseconds over a count; `None` if nothing was counted.
    pub fn nanoseconds_each(&self, count: u64) -> Option<f64> {
        (count > 0).then(|| self.cpu_seconds * 1e9 / count as f64)
    }

    /// Runs a workload in a process of its own.
    pub fn of_child(name: &str) -> Self {
        let output = child().args(["--once", name]).output().expect("this program runs again");
        assert!(
            output.status.success(),
            "{name} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("a sample")
    }
}

/// This program, to be run again.
pub fn child() -> Command {
    Command::new(std::env::current_exe().expect("this program's path"))
}

/// The most memory that this process has had, in bytes, where the system says.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// The least and the median of some values.
pub fn least_and_median(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2])
}
