//! Instructions, mispredicted branches and cache misses a packet-hop, counted by Valgrind's
//! callgrind. They do not depend on what else the machine does.
//!
//! A workload is run with two lengths of window; the difference leaves out set-up and figures. The
//! caches and branches are callgrind's models (32 KiB, and 512 KiB of second level), not the
//! machine's.

use std::collections::HashMap;

use crate::sample::Sample;

/// What is counted, and callgrind's names for it.
pub const COUNTS: [(&str, &[&str]); 5] = [
    ("instructions", &["Ir"]),
    ("branches", &["Bc", "Bi"]),
    ("mispredicted", &["Bcm", "Bim"]),
    ("level 1 misses", &["D1mr", "D1mw"]),
    ("level 2 misses", &["DLmr", "DLmw"]),
];

const WINDOWS: [&str; 2] = ["400 ns", "1200 ns"];

/// The counts over the packet-hops of a workload.
///
/// # Errors
/// If Valgrind can't be run.
pub fn count(name: &str) -> Result<[f64; COUNTS.len()], String> {
    let [short, long] = WINDOWS.map(|window| run(name, window));
    let (short, long) = (short?, long?);
    let hops = (long.0.packet_hops - short.0.packet_hops) as f64;
    Ok(COUNTS.map(|(_, events)| {
        let sum = |counts: &HashMap<String, f64>| events.iter().map(|&it| counts[it]).sum::<f64>();
        (sum(&long.1) - sum(&short.1)) / hops
    }))
}

fn run(name: &str, window: &str) -> Result<(Sample, HashMap<String, f64>), String> {
    let file = std::env::temp_dir().join(format!("flitlab-bench-{}.callgrind", std::process::id()));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = std::process::Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"])
        .args(["--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["--once", name, "--window", window])
        .output()
        .map_err(|error| {
            format!("instructions are counted by valgrind, which can't be run: {error}")
        })?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let sample = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    let words = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let totals = words("totals:").into_iter().map(|count| count.parse().unwrap_or(0.0));
    Ok((sample, words("events:").into_iter().zip(totals).collect()))
}
