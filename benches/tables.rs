//! CPU time, on one thread, of making routing tables: SSSP at about 1,000 nodes, balanced at about 500, BFS
//! beside them, and with `--large` 16x16x16.
//!
//! `cargo bench --bench tables` prints the least of several runs of each, the list of routes included, and
//! peak memory at the end.

use cpu_time::ThreadTime;
use flitlab::routing::angara::{Algorithm, Choices, Freedoms};
use flitlab::routing::{Quality, Region};
use flitlab::topology::{Faults, Torus};

const REPETITIONS: usize = 5;

const CASES: [(Algorithm, &str, &[u32]); 15] = [
    (Algorithm::Bfs, "bfs", &[4, 2, 2, 2]),
    (Algorithm::Sssp, "sssp", &[4, 2, 2, 2]),
    (Algorithm::Balanced, "balanced", &[4, 2, 2, 2]),
    (Algorithm::Bfs, "bfs", &[8, 8, 8]),
    (Algorithm::Sssp, "sssp", &[10, 10, 10]),
    (Algorithm::Sssp, "sssp", &[11, 10, 9]),
    (Algorithm::Sssp, "sssp", &[8, 5, 5, 5]),
    (Algorithm::Sssp, "sssp", &[6, 6, 6, 5]),
    (Algorithm::Sssp, "sssp", &[8, 8, 4, 4]),
    (Algorithm::Sssp, "sssp", &[10, 10, 5, 2]),
    (Algorithm::Balanced, "balanced", &[8, 8, 8]),
    (Algorithm::Balanced, "balanced", &[10, 10, 5]),
    (Algorithm::Balanced, "balanced", &[5, 5, 5, 4]),
    (Algorithm::Balanced, "balanced", &[8, 4, 4, 4]),
    (Algorithm::Balanced, "balanced", &[7, 6, 6, 2]),
];

const LARGE: [(Algorithm, &str, &[u32]); 2] =
    [(Algorithm::Sssp, "sssp", &[16, 16, 16]), (Algorithm::Balanced, "balanced", &[16, 16, 16])];

fn main() {
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    // `cargo test --benches` only wants to know that benchmarks start.
    let quick = asked("--test");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!(
        "{:<10}{:<12}{:>6}{:>12}{:>10}{:>10}",
        "algorithm", "torus", "nodes", "seconds", "max", "mean"
    );
    for case in CASES.iter().take(if quick { 3 } else { CASES.len() }) {
        pool.install(|| measure(case, if quick { 1 } else { REPETITIONS }));
    }
    if asked("--large") {
        LARGE.iter().for_each(|case| pool.install(|| measure(case, 1)));
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak}");
    }
}

fn measure((algorithm, name, sizes): &(Algorithm, &str, &[u32]), repetitions: usize) {
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    let fabric = torus.fabric(&Faults::default()).expect("nothing has failed");
    let run = || {
        let started = ThreadTime::now();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let table = algorithm.table(&choices, Freedoms::default(), 1).table;
        (started.elapsed().as_secs_f64(), table)
    };
    let (mut least, table) = run();
    for _ in 1..repetitions {
        least = least.min(run().0);
    }
    let quality = Quality::new(&Region::new(&fabric), &table);
    let torus: Vec<String> = sizes.iter().map(u32::to_string).collect();
    println!(
        "{name:<10}{:<12}{:>6}{least:>12.4}{:>10}{:>10.1}",
        torus.join("x"),
        fabric.routers(),
        quality.maximum_load,
        quality.mean_load
    );
}

/// The most memory that the process has had, where the system says.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
