//! `flitlab route`: makes a routing table, says how good it is, and proves it.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use cpu_time::ProcessTime;

use super::input::{Input, reject};
use super::summary::{print_json, print_text};
use super::table_report::Report;
use super::threads::Threads;
use super::{Failure, folder};
use crate::report::figure::{Medium, load_heat_map, load_histogram};
use crate::report::{LoadRow, RowWriter};
use crate::routing::angara::{ALGORITHMS, Algorithm, Choices, Freedoms};
use crate::routing::{Flaw, Quality, Region, TableFile, prove};
use crate::scenario::{Network, RoutingSpec, enough_memory};
use crate::topology::Fabric;
use crate::units::memory_text;

/// Flaws of a table, and sources of unroutable pairs, that are listed; the others are counted.
const SHOWN: usize = 10;

/// A table that takes more than this many bytes is announced.
const LARGE: u64 = 500_000_000;

/// Make a routing table for Angara, show how good it is, and prove it
///
/// Needs the scenario's [topology] only. Also checks table files: that every pair has a route, every
/// route is legal, and no packets can wait for each other for ever.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab route scenarios/angara/desmos.toml --algorithm balanced --save desmos.routes\n  \
    flitlab route scenarios/angara/desmos.toml --algorithm sssp --out figures\n  \
    flitlab route --check desmos.routes\n\n\
    Exit code 4: a pair has no route, or the table has another flaw.")]
#[group(skip)]
pub(super) struct Route {
    #[command(flatten)]
    input: Option<Input>,
    /// What makes the table; if not given, the scenario's [routing.angara], else balanced
    #[arg(long, value_enum)]
    algorithm: Option<AlgorithmName>,
    /// Write the table to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Check this table file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "set", "algorithm", "save"])]
    check: Option<PathBuf>,
    /// Accept pairs without a route: write, or check, the rest
    #[arg(long)]
    allow_partial: bool,
    /// Folder for the load of every channel: loads.csv, a heat map, a histogram
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// An algorithm by its name in scenarios.
#[derive(Clone, Copy, Debug)]
struct AlgorithmName(Algorithm);

impl ValueEnum for AlgorithmName {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(ALGORITHMS[0].1),
                Self(ALGORITHMS[1].1),
                Self(ALGORITHMS[2].1),
                Self(ALGORITHMS[3].1),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(name(self.0)))
    }
}

fn name(algorithm: Algorithm) -> &'static str {
    let named = ALGORITHMS.iter().find(|(_, other)| *other == algorithm);
    named.expect("every algorithm has a name").0
}

impl Route {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.check {
            return self.threads.with(|| self.check_file(path));
        }
        let Some(input) = &self.input else {
            return Err(Failure::Input("error: name a scenario, or a table with --check".into()));
        };
        if let Some(path) = self.save.as_ref().filter(|path| path.exists()) {
            let message = format!("error: {} exists; name another file", path.display());
            return Err(Failure::Input(message));
        }
        let network = Network::read(&input.document()?).map_err(|found| reject(&found))?;
        self.threads.with(|| self.make(&network))
    }

    fn make(&self, network: &Network) -> Result<(), Failure> {
        let (algorithm, freedoms) = match network.routing {
            RoutingSpec::Angara { algorithm, freedoms } => (algorithm, freedoms),
            RoutingSpec::DirectionOrder { .. }
            | RoutingSpec::File(_)
            | RoutingSpec::Adaptive(_)
            | RoutingSpec::Agnostic { .. }
            | RoutingSpec::OpenSm(_) => (Algorithm::Balanced, Freedoms::default()),
        };
        let algorithm = self.algorithm.map_or(algorithm, |name| name.0);
        let fabric = &network.fabric;
        let Some((torus, faults)) = network.torus() else {
            let message = "error: Angara's tables are for [topology.torus]".into();
            return Err(Failure::Input(message));
        };
        let region = Region::new(fabric);
        let needed = enough_memory(&region, freedoms)
            .map_err(|error| Failure::Input(format!("error: {error}")))?;
        if needed > LARGE {
            eprintln!("note: this takes about {} of memory", memory_text(needed));
        }
        let (started, cpu) = (Instant::now(), ProcessTime::now());
        let choices = Choices::new(region, freedoms);
        let generated = algorithm.table(&choices, freedoms, network.seed);
        let (cpu, seconds) = (cpu.elapsed().as_secs_f64(), started.elapsed().as_secs_f64());
        let proof = prove(fabric, &generated.table);
        let flaws: Vec<&Flaw> =
            proof.flaws.iter().filter(|flaw| !matches!(flaw, Flaw::Missing { .. })).collect();
        if !flaws.is_empty() {
            return Err(refuse(flaws.iter().map(|flaw| flaw.describe(fabric))));
        }
        let quality = Quality::new(choices.region(), &generated.table);
        let mut report = Report::new(&choices, &generated.table, &quality, &proof, generated.bound);
        report.algorithm = Some(name(algorithm));
        report.build_sssp_calls = generated.sssp_calls;
        report.cpu_seconds = Some(cpu);
        report.seconds = Some(seconds);
        self.show(&report, fabric, &quality)?;
        if !self.allow_partial && !choices.unroutable().is_empty() {
            return Err(Failure::Check(unroutable_text(fabric, choices.unroutable())));
        }
        let Some(path) = &self.save else { return Ok(()) };
        let file = TableFile::new(torus.clone(), faults.clone(), fabric.clone(), generated.table);
        let failed = |error| Failure::Run(format!("cannot write {}: {error}", path.display()));
        let output = File::create_new(path).map_err(failed)?;
        file.write(BufWriter::new(output)).map_err(failed)?;
        if self.json { Ok(()) } else { print_text(&format!("table in {}\n", path.display())) }
    }

    fn check_file(&self, path: &Path) -> Result<(), Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Input(format!("error: {}: {error}", path.display())))?;
        let file = TableFile::parse(&text).map_err(|error| {
            Failure::Input(format!("error: {}:{}: {}", path.display(), error.line, error.message))
        })?;
        let proof = prove(&file.fabric, &file.table);
        let accepted = |flaw: &&Flaw| self.allow_partial && matches!(flaw, Flaw::Missing { .. });
        let flaws: Vec<&Flaw> = proof.flaws.iter().filter(|flaw| !accepted(flaw)).collect();
        if flaws.is_empty() {
            let choices = Choices::new(Region::new(&file.fabric), Freedoms::default());
            let quality = Quality::new(choices.region(), &file.table);
            let report = Report::new(&choices, &file.table, &quality, &proof, None);
            return self.show(&report, &file.fabric, &quality);
        }
        let describe = |flaw: &&Flaw| {
            let place = match file.line(flaw) {
                Some(line) => format!("{}:{line}", path.display()),
                None => path.display().to_string(),
            };
            format!("{place}: {}", flaw.describe(&file.fabric))
        };
        Err(refuse(flaws.iter().map(describe)))
    }

    /// Prints the report and draws the figures.
    fn show(&self, report: &Report, fabric: &Fabric, quality: &Quality) -> Result<(), Failure> {
        if self.json {
            print_json(report)?;
        } else {
            print_text(&report.text())?;
        }
        let Some(out) = &self.out else { return Ok(()) };
        let out = folder::prepare("", Some(out))?;
        let title = report.title();
        let rows = LoadRow::of(fabric, quality);
        let mut file = RowWriter::<LoadRow>::create(out.join("loads.csv"))?;
        rows.iter().try_for_each(|row| file.write(row))?;
        load_heat_map(&rows, &title).write_to(&out, "heat-map", &Medium::default())?;
        load_histogram(&rows, &title).write_to(&out, "histogram", &Medium::default())?;
        if !self.json {
            print_text(&format!("figures in {}\n", out.display()))?;
        }
        Ok(())
    }
}

/// A flawed table is exit code 4.
fn refuse(flaws: impl ExactSizeIterator<Item = String>) -> Failure {
    let more = flaws.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = flaws.take(SHOWN).map(|flaw| format!("error: {flaw}")).collect();
    if more > 0 {
        lines.push(format!("... and {more} more flaws"));
    }
    Failure::Check(lines.join("\n"))
}

/// The unroutable pairs, a source a line.
fn unroutable_text(fabric: &Fabric, pairs: &[(u32, u32)]) -> String {
    let sources: Vec<&[(u32, u32)]> = pairs.chunk_by(|one, other| one.0 == other.0).collect();
    let mut lines = vec![format!("error: {} pairs have no route:", pairs.len())];
    for pairs in sources.iter().take(SHOWN) {
        let names: Vec<String> =
            pairs.iter().take(SHOWN).map(|&(_, to)| fabric.router_name(to)).collect();
        let more = match pairs.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let from = fabric.router_name(pairs[0].0);
        lines.push(format!("  from {from} to {}{more}", names.join(" ")));
    }
    if sources.len() > SHOWN {
        lines
            .push(format!("  ... and from {} more nodes (all with --json)", sources.len() - SHOWN));
    }
    lines.push("help: --allow-partial makes a table of the other pairs".into());
    lines.join("\n")
}
