//! `flitlab schedule`: makes schedules of applications, and looks at those that others made.

mod check;
mod list;
mod read;
mod text;

use std::io::{self, BufWriter, stdout};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::interrupt::Interrupt;
use super::progress::Bar;
use super::say::say;
use super::summary::print_json;
use super::{Failure, components, folder};
use flitlab::application::Tally;
use flitlab::application::generate::{Generator, Parameters, make_by};
use flitlab::traces::goal::{self, Form};
use flitlab::units::{Bytes, parse_bytes};

/// Make the schedule of a collective operation, benchmark or motif, as a GOAL file
///
/// Prints it, or writes it to the file that --out names; a count of its messages goes to standard
/// error. docs/schedules.md describes each of them.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    flitlab schedule all-reduce --algorithm ring --ranks 64 --bytes 1MiB --out ring.goal\n  \
    flitlab schedule npb --benchmark lu --class C --ranks 128 --iterations 2 --out lu.bin\n  \
    flitlab schedule check ring.goal\n  \
    flitlab schedule read traces/ --out x.goal\n  \
    flitlab schedule --list")]
pub(super) struct Schedule {
    #[command(subcommand)]
    step: Option<Step>,
    #[command(flatten)]
    make: Make,
}

#[derive(Debug, Subcommand)]
enum Step {
    Check(check::Check),
    Read(read::Read),
}

#[derive(Debug, Args)]
struct Make {
    /// What is made; --list names and describes all
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = names(), required_unless_present = "list")]
    name: Option<String>,
    /// Print what can be made, with all algorithms, benchmarks and classes, and what can be read
    #[arg(long)]
    list: bool,
    /// How many ranks there are
    #[arg(long)]
    ranks: Option<u32>,
    /// An algorithm, or the library that chooses one, such as mpich-3 or open-mpi-4.1
    #[arg(long)]
    algorithm: Option<String>,
    /// Bytes of the operation, such as 1MiB or 4096: a whole vector, or a rank's or pair's part
    #[arg(long, value_parser = bytes)]
    bytes: Option<u64>,
    /// The rank that a broadcast comes from, or that is reduced to [default: 0]
    #[arg(long, value_name = "RANK")]
    root: Option<u32>,
    /// The most bytes that algorithms in segments send at once [default: 64KiB of binary, chain,
    /// tree and double-binary-tree; the others send parts whole]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    segment: Option<u64>,
    /// Parts of the bytes that are dealt with beside each other, as NCCL's channels [default: 1]
    #[arg(long, value_name = "PARTS")]
    channels: Option<u32>,
    /// How many ranks that follow each other share a node, for algorithms that go by nodes
    /// [default: 1]
    #[arg(long, value_name = "RANKS")]
    ranks_per_node: Option<u32>,
    /// How long it takes to combine two bytes into one [default: no time]
    #[arg(long, value_name = "NS")]
    combine_ns_per_byte: Option<f64>,
    /// A NAS Parallel Benchmark: lu, mg, cg, ft or is
    #[arg(long)]
    benchmark: Option<String>,
    /// The benchmark's class: S, W, A, B, C or D
    #[arg(long)]
    class: Option<String>,
    /// How often it is done [default: once, or as often as the class says]
    #[arg(long)]
    iterations: Option<u32>,
    /// Operations that a rank computes a second, such as 5e9 [default: computing takes no time]
    #[arg(long, value_name = "RATE")]
    flops_per_second: Option<f64>,
    /// Points of a motif's grid, such as 100,100,100: of a rank, or of all in fft3d
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',')]
    points: Option<Vec<u32>>,
    /// Ranks of a motif by dimension, such as 4,4,2 [default: as equal as possible]
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',')]
    grid: Option<Vec<u32>>,
    /// Numbers of 8 B that a point of a motif has
    #[arg(long)]
    fields: Option<u32>,
    /// Planes that sweep3d computes and sends together
    #[arg(long, value_name = "PLANES")]
    block: Option<u32>,
    /// Nanoseconds of each computation of a motif, whatever there is to compute
    #[arg(long, value_name = "NS")]
    compute_ns: Option<f64>,
    /// Nanoseconds to enter a call of MPI, and to leave it [default: no time]
    #[arg(long, value_name = "NS")]
    call_ns: Option<f64>,
    /// Begin with three calls and end with a barrier, as Ember's Init and Fini do
    #[arg(long)]
    fini: bool,
    #[command(flatten)]
    out: Out,
    /// Print the count as one JSON object on standard output
    #[arg(long, requires = "out")]
    json: bool,
}

/// Where a schedule goes.
#[derive(Debug, Args)]
struct Out {
    /// The file to write, binary if it ends in .bin [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write GOAL's binary form
    #[arg(long)]
    binary: bool,
}

impl Out {
    /// Refuses to write over what is no schedule.
    fn check(&self) -> Result<(), Failure> {
        match self.out.as_deref().filter(|out| out.exists() && !goal::is_goal(out)) {
            None => Ok(()),
            Some(out) => Err(Failure::input(format!(
                "{} is there and is no GOAL schedule: name another file with --out",
                out.display()
            ))),
        }
    }

    fn write(&self, schedule: &flitlab::application::Schedule) -> Result<(), Failure> {
        let form = match &self.out {
            _ if self.binary => Form::Binary,
            Some(out) if out.extension().is_some_and(|ending| ending == "bin") => Form::Binary,
            _ => Form::Text,
        };
        if let Some(why) = goal::refusal(schedule, form) {
            return Err(Failure::input(why));
        }
        match &self.out {
            Some(out) if out.as_os_str() != "-" => {
                folder::write_by(out, |file| goal::write(schedule, form, file))
            }
            _ => match goal::write(schedule, form, &mut BufWriter::new(stdout().lock())) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::Run(format!("can't write to standard output: {error}")))
                }
                _ => Ok(()),
            },
        }
    }
}

fn names() -> PossibleValuesParser {
    let generators = components::rows::<Generator>().into_iter();
    PossibleValuesParser::new(
        generators.map(|it| clap::builder::PossibleValue::new(it.name).help(it.doc)),
    )
}

/// A size as in scenarios, or a plain number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) => parse_bytes(text).map(|Bytes(bytes)| bytes).map_err(|error| error.to_string()),
    }
}

impl Schedule {
    pub(super) fn execute(self) -> Result<(), Failure> {
        match self.step {
            Some(Step::Check(check)) => check.execute(),
            Some(Step::Read(read)) => read.execute(),
            None => self.make.execute(),
        }
    }
}

impl Make {
    fn execute(self) -> Result<(), Failure> {
        if self.list {
            return list::print();
        }
        self.out.check()?;
        let bar = Bar::of_work("making the schedule");
        let _interrupt = Interrupt::clear(&bar)?;
        let name = self.name.as_deref().unwrap_or_default();
        let row = components::named(name).expect("it is one of the possible values");
        let made = make_by(&row, &self.parameters());
        let schedule = made.map_err(|error| Failure::Input(format!("error: {error}")))?;
        bar.doing("writing it");
        let written = self.out.write(&schedule);
        bar.finish();
        written?;
        let tally = Tally::new(&schedule);
        if self.json {
            return print_json(&tally);
        }
        say(text::tally(&tally).trim_end());
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        Parameters {
            ranks: self.ranks,
            algorithm: self.algorithm.clone(),
            bytes: self.bytes,
            root: self.root,
            segment: self.segment,
            channels: self.channels,
            ranks_per_node: self.ranks_per_node,
            combine_ns_per_byte: self.combine_ns_per_byte,
            benchmark: self.benchmark.clone(),
            class: self.class.clone(),
            iterations: self.iterations,
            flops_per_second: self.flops_per_second,
            points: self.points.clone(),
            grid: self.grid.clone(),
            fields: self.fields,
            block: self.block,
            compute_ns: self.compute_ns,
            call_ns: self.call_ns,
            fini: self.fini.then_some(true),
        }
    }
}
