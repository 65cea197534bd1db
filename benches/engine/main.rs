//! What the engine costs: CPU time a flit-hop and a packet-hop, grants a second, memory.
//!
//! `cargo bench --bench engine` runs each workload several times in a process of its own, all of
//! them in turn, and prints the least and the median, since on a shared machine only these mean
//! anything; then the raw samples. `-- NAME` runs those whose names contain NAME, `--
//! --instructions` counts instructions instead, `-- --sizes` measures cost over size. Times are
//! those of simulating, warm-up and the waiting of threads for each other included.

mod callgrind;
mod sample;
mod sizes;
mod workload;

use clap::Parser;
use sample::{Sample, least_and_median};
use workload::Workload;

#[derive(Parser)]
struct Arguments {
    /// Only workloads whose names contain this
    #[arg(default_value = "")]
    name: String,
    /// Count instructions, branches and cache misses with valgrind instead of measuring time
    #[arg(long)]
    instructions: bool,
    /// Measure cost over size, 4x4x4 to 100x100x100, and write results/scale
    #[arg(long)]
    sizes: bool,
    /// How often each workload is run
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Run one workload once and print its sample
    #[arg(long, hide = true)]
    once: Option<String>,
    /// Length of its windows
    #[arg(long, hide = true)]
    window: Option<String>,
    /// Passed by `cargo bench`, and not by `cargo test`, which only wants to know that all
    /// workloads run
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(name) = &arguments.once {
        let sizes = workload::sizes().into_iter().map(|(_, workload)| workload);
        let workload = workload::all().into_iter().chain(sizes).find(|it| it.name == *name);
        let sample = workload.expect("a workload's name").run(arguments.window.as_deref(), false);
        println!("{}", serde_json::to_string(&sample).expect("numbers"));
        return;
    }
    let workloads = workload::all().into_iter();
    let workloads: Vec<Workload> =
        workloads.filter(|it| it.name.contains(&arguments.name)).collect();
    if !arguments.bench {
        for workload in &workloads {
            assert!(workload.run(None, true).packet_hops > 0, "{}", workload.name);
        }
    } else if arguments.sizes {
        println!("{}", circumstances());
        sizes::run();
    } else if arguments.instructions {
        println!("{}", circumstances());
        print_counts(&workloads);
    } else {
        println!("{}", circumstances());
        print_times(&workloads, arguments.repetitions.max(1));
    }
}

/// Commit, compiler and machine, where they can be found out.
fn circumstances() -> String {
    let first_line = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        text.lines().next().map(str::to_owned)
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let model = text.lines().find_map(|line| line.strip_prefix("model name"))?;
        Some(model.trim_start_matches([' ', '\t', ':']).to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|text| text.split(' ').next()).unwrap_or("unknown");
    let root = env!("CARGO_MANIFEST_DIR");
    let commit = first_line("git", &["-C", root, "describe", "--always", "--dirty"]);
    let unknown = || "unknown".to_owned();
    format!(
        "commit {}, {}, {cores} cores of {}, load average {load}",
        commit.unwrap_or_else(unknown),
        first_line("rustc", &["--version"]).unwrap_or_else(unknown),
        processor.unwrap_or_else(unknown)
    )
}

fn print_times(workloads: &[Workload], repetitions: usize) {
    let mut samples: Vec<Vec<Sample>> = workloads.iter().map(|_| Vec::new()).collect();
    for _ in 0..repetitions {
        for (workload, samples) in workloads.iter().zip(&mut samples) {
            samples.push(Sample::of_child(&workload.name));
        }
    }
    println!(
        "{:<30} {:>17} {:>18} {:>10} {:>9} {:>8} {:>9}  digest",
        "workload", "ns/flit-hop", "ns/packet-hop", "grants/s", "seconds", "B/node", "peak MB"
    );
    println!(
        "{:<30} {:>8} {:>8} {:>9} {:>8} {:>10} {:>9}",
        "", "least", "median", "least", "median", "median", "least"
    );
    for (workload, samples) in workloads.iter().zip(&samples) {
        let of = |value: &dyn Fn(&Sample) -> f64| least_and_median(samples.iter().map(value));
        let none = f64::NAN;
        let flit = of(&|it| it.nanoseconds_each(it.flit_hops).unwrap_or(none));
        let packet = of(&|it| it.nanoseconds_each(it.packet_hops).unwrap_or(none));
        let seconds = of(&|it| it.seconds);
        let grants = of(&|it| it.grants as f64 / it.seconds);
        let peak = of(&|it| it.peak_bytes as f64 / 1e6);
        let known = |shown: String, value: f64| if value > 0.0 { shown } else { "-".to_owned() };
        println!(
            "{:<30} {:>8} {:>8} {:>9.1} {:>8.1} {:>10} {:>9.2} {:>8} {:>9.1}  {:016x}",
            workload.name,
            known(format!("{:.2}", flit.0), flit.0),
            known(format!("{:.2}", flit.1), flit.1),
            packet.0,
            packet.1,
            known(format!("{:.3e}", grants.1), grants.1),
            seconds.0,
            known(format!("{:.0}", samples[0].bytes_a_node), samples[0].bytes_a_node),
            peak.0,
            samples[0].digest
        );
    }
    println!("\nraw samples: CPU seconds of each run");
    for (workload, samples) in workloads.iter().zip(&samples) {
        let seconds: Vec<String> =
            samples.iter().map(|it| format!("{:.3}", it.cpu_seconds)).collect();
        println!("{:<30} {}", workload.name, seconds.join(" "));
    }
}

fn print_counts(workloads: &[Workload]) {
    print!("{:<30}", "a packet-hop");
    callgrind::COUNTS.iter().for_each(|(name, _)| print!(" {name:>14}"));
    println!();
    for workload in workloads.iter().filter(|it| it.is_countable()) {
        match callgrind::count(&workload.name) {
            Ok(counts) => {
                print!("{:<30}", workload.name);
                counts.iter().for_each(|count| print!(" {count:>14.1}"));
                println!();
            }
            Err(message) => {
                eprintln!("{message}");
                std::process::exit(1);
            }
        }
    }
}
