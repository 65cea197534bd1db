//! CPU time, on one thread, of making routing tables.
//!
//! Of Angara's: SSSP at about 1,000 nodes, balanced at about 500, BFS beside them, and with
//! `--large` 16x16x16. Of forwarding tables: Nue and its rivals on a torus of 10x10x10 with four
//! terminals a switch and 8 virtual channels, and with `--large` Nue on 20x20x20.
//!
//! `cargo bench --bench tables` prints the least of several runs of each, the list of routes
//! included, and peak memory at the end. `cargo bench --bench tables -- --forwarding` leaves out
//! Angara's.

use cpu_time::ThreadTime;
use flitlab::registry::Row;
use flitlab::tables::agnostic::{ALGORITHMS, Parameters};
use flitlab::tables::angara::{self, Algorithm, Choices, Freedoms};
use flitlab::tables::{ForwardingQuality, Quality, Region};
use flitlab::topology::builders::SwitchedTorus;
use flitlab::topology::{Faults, Torus};

const REPETITIONS: usize = 5;

const CASES: [(Row<Algorithm>, &str, &[u32]); 15] = [
    (Algorithm::BFS, "bfs", &[4, 2, 2, 2]),
    (Algorithm::SSSP, "sssp", &[4, 2, 2, 2]),
    (Algorithm::BALANCED, "balanced", &[4, 2, 2, 2]),
    (Algorithm::BFS, "bfs", &[8, 8, 8]),
    (Algorithm::SSSP, "sssp", &[10, 10, 10]),
    (Algorithm::SSSP, "sssp", &[11, 10, 9]),
    (Algorithm::SSSP, "sssp", &[8, 5, 5, 5]),
    (Algorithm::SSSP, "sssp", &[6, 6, 6, 5]),
    (Algorithm::SSSP, "sssp", &[8, 8, 4, 4]),
    (Algorithm::SSSP, "sssp", &[10, 10, 5, 2]),
    (Algorithm::BALANCED, "balanced", &[8, 8, 8]),
    (Algorithm::BALANCED, "balanced", &[10, 10, 5]),
    (Algorithm::BALANCED, "balanced", &[5, 5, 5, 4]),
    (Algorithm::BALANCED, "balanced", &[8, 4, 4, 4]),
    (Algorithm::BALANCED, "balanced", &[7, 6, 6, 2]),
];

const LARGE: [(Row<Algorithm>, &str, &[u32]); 2] =
    [(Algorithm::SSSP, "sssp", &[16, 16, 16]), (Algorithm::BALANCED, "balanced", &[16, 16, 16])];

/// Algorithms, sizes, terminals a switch.
const FORWARDING: [(&str, [u32; 3], u32); 7] = [
    ("sssp", [10, 10, 10], 4),
    ("up-down", [10, 10, 10], 4),
    ("torus-2qos", [10, 10, 10], 4),
    ("nue", [6, 6, 6], 4),
    ("nue", [10, 10, 10], 4),
    ("dfsssp", [5, 5, 5], 4),
    ("lash", [7, 7, 7], 4),
];

const LARGE_FORWARDING: (&str, [u32; 3], u32) = ("nue", [20, 20, 20], 1);

fn main() {
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    // `cargo bench` passes this; `cargo test --benches` only wants to know that benchmarks start.
    let quick = !asked("--bench");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!(
        "{:<12}{:<12}{:>6}{:>12}{:>10}{:>10}",
        "algorithm", "torus", "nodes", "seconds", "max", "mean"
    );
    let (repetitions, most) = if quick { (1, 3) } else { (REPETITIONS, usize::MAX) };
    if !asked("--forwarding") {
        CASES.iter().take(most).for_each(|case| pool.install(|| measure(case, repetitions)));
        if asked("--large") {
            LARGE.iter().for_each(|case| pool.install(|| measure(case, 1)));
        }
    }
    FORWARDING.iter().take(most).for_each(|case| pool.install(|| forward(case, repetitions)));
    if asked("--large") {
        pool.install(|| forward(&LARGE_FORWARDING, 1));
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory {peak}");
    }
}

fn measure((algorithm, name, sizes): &(Row<Algorithm>, &str, &[u32]), repetitions: usize) {
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    let fabric = torus.fabric(&Faults::default()).expect("nothing has failed");
    let run = || {
        let started = ThreadTime::now();
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let table =
            (algorithm.table)(&choices, &angara::Parameters::default(), 1).expect("a table").table;
        (started.elapsed().as_secs_f64(), table)
    };
    let (least, table) = least_of(repetitions, run);
    let quality = Quality::new(&Region::new(&fabric), &table);
    line(name, sizes, fabric.routers(), least, quality.load.maximum, quality.load.mean);
}

fn forward((name, sizes, terminals): &(&str, [u32; 3], u32), repetitions: usize) {
    let torus = SwitchedTorus { sizes: sizes.to_vec(), terminals: *terminals, redundancy: 1 };
    let fabric =
        torus.cabling().and_then(flitlab::topology::Cabling::fabric).expect("sizes of a torus");
    let named = ALGORITHMS.iter().find(|known| known.name == *name);
    let algorithm = named.expect("a known algorithm");
    let run = || {
        let started = ThreadTime::now();
        let made = algorithm.generate(&fabric, &Parameters::default());
        (started.elapsed().as_secs_f64(), made.expect("the algorithm applies").table)
    };
    let (least, table) = least_of(repetitions, run);
    let quality = ForwardingQuality::new(&fabric, &table);
    let maximum = quality.load.maximum;
    line(name, sizes, fabric.routers(), least, maximum, quality.load.mean);
}

/// The least time of several runs, and the table of the first.
fn least_of<T>(repetitions: usize, run: impl Fn() -> (f64, T)) -> (f64, T) {
    let (first, table) = run();
    let others = (1..repetitions).map(|_| run().0);
    (others.fold(first, f64::min), table)
}

fn line(name: &str, sizes: &[u32], nodes: u32, seconds: f64, maximum: f64, mean: f64) {
    let torus: Vec<String> = sizes.iter().map(u32::to_string).collect();
    let torus = torus.join("x");
    println!("{name:<12}{torus:<12}{nodes:>6}{seconds:>12.4}{maximum:>10}{mean:>10.1}");
}

/// The most memory that the process has had, where the system says.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
