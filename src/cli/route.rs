//! `flitlab route`: makes a routing table, says how good it is, and proves it.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cpu_time::ThreadTime;
use serde::Serialize;

use super::Failure;
use super::input::Input;
use super::summary::{print_json, print_text};
use super::text::torus_text;
use crate::routing::angara::{ALGORITHMS, Algorithm, Choices, Freedoms, lower_bound};
use crate::routing::{Proof, Quality, Region, TableFile, prove};
use crate::scenario::RoutingSpec;
use crate::topology::Fabric;

/// Flaws of a table that are listed; the others are counted.
const SHOWN: usize = 10;

/// Make a routing table for Angara, show how good it is, and prove it
///
/// Also checks table files: that every pair has a route, every route is legal, and no packets can
/// wait for each other for ever.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab route scenarios/angara/desmos.toml --algorithm balanced --save desmos.routes\n  \
    flitlab route --check desmos.routes\n\n\
    Exit code 4: the table has a flaw.")]
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

/// What is known of a table.
#[derive(Debug, Serialize)]
struct Report {
    fabric: String,
    nodes: usize,
    algorithm: Option<&'static str>,
    routed_pairs: u64,
    pairs_without_route: u64,
    pairs_with_one_shortest_route: u64,
    maximum_load: u32,
    lower_bound: u32,
    lower_bound_before_rounding: f64,
    /// How far the maximum load is above the lower bound, as a fraction of that.
    gap: f64,
    minimum_load: u32,
    mean_load: f64,
    perfect_load: f64,
    sigma_1: f64,
    sigma_2: f64,
    sigma_4: f64,
    hops_mean: f64,
    hops_maximum: u32,
    routes_with_first_or_last_step: u64,
    build_sssp_calls: Option<u64>,
    /// CPU time of the algorithm, the list of shortest routes included.
    cpu_seconds: Option<f64>,
    dependencies: u64,
    flaws: Vec<String>,
}

impl Route {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if let Some(path) = &self.check {
            return self.check_file(path);
        }
        let Some(input) = &self.input else {
            return Err(Failure::Input("error: name a scenario, or a table with --check".into()));
        };
        if let Some(path) = self.save.as_ref().filter(|path| path.exists()) {
            let message = format!("error: {} exists; name another file", path.display());
            return Err(Failure::Input(message));
        }
        let (_, scenario) = input.scenario()?;
        let (algorithm, freedoms) = match scenario.routing {
            RoutingSpec::Angara { algorithm, freedoms } => (algorithm, freedoms),
            RoutingSpec::DirectionOrder { .. } | RoutingSpec::File(_) => {
                (Algorithm::Balanced, Freedoms::default())
            }
        };
        let algorithm = self.algorithm.map_or(algorithm, |name| name.0);
        let fabric = scenario
            .torus
            .fabric(&scenario.faults)
            .map_err(|error| Failure::Input(format!("error: {error}")))?;
        let started = ThreadTime::now();
        let choices = Choices::new(Region::whole(&fabric), freedoms);
        let generated = algorithm.table(&choices, freedoms, scenario.seed);
        let cpu_seconds = Some(started.elapsed().as_secs_f64());
        let file = TableFile {
            torus: scenario.torus.clone(),
            faults: scenario.faults.clone(),
            nodes: choices.region().nodes().to_vec(),
            table: generated.table,
            fabric: fabric.clone(),
        };
        let proof = prove(&fabric, &file.nodes, &file.table);
        let report = Report {
            algorithm: Some(name(algorithm)),
            build_sssp_calls: generated.sssp_calls,
            cpu_seconds,
            ..report(&file, &choices, &proof)
        };
        if let Some(path) = &self.save {
            let failed = |error| Failure::Run(format!("cannot write {}: {error}", path.display()));
            let output = File::create_new(path).map_err(failed)?;
            file.write(BufWriter::new(output)).map_err(failed)?;
        }
        self.print(&report)?;
        verdict(&proof, &fabric)
    }

    fn check_file(&self, path: &Path) -> Result<(), Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Input(format!("error: {}: {error}", path.display())))?;
        let file = TableFile::parse(&text).map_err(|error| {
            Failure::Input(format!("error: {}:{}: {}", path.display(), error.line, error.message))
        })?;
        let proof = prove(&file.fabric, &file.nodes, &file.table);
        // Loads are counted only where every route leads somewhere.
        if proof.holds() {
            let region = Region::of(&file.fabric, &file.nodes);
            let choices = Choices::new(region, Freedoms::default());
            self.print(&report(&file, &choices, &proof))?;
        }
        verdict(&proof, &file.fabric)
    }

    fn print(&self, report: &Report) -> Result<(), Failure> {
        if self.json { print_json(report) } else { print_text(&text(report)) }
    }
}

/// A flawed table is exit code 4.
fn verdict(proof: &Proof, fabric: &Fabric) -> Result<(), Failure> {
    if proof.holds() {
        return Ok(());
    }
    let mut lines: Vec<String> = proof
        .flaws
        .iter()
        .take(SHOWN)
        .map(|flaw| format!("error: {}", flaw.describe(fabric)))
        .collect();
    if proof.flaws.len() > SHOWN {
        lines.push(format!("... and {} more flaws", proof.flaws.len() - SHOWN));
    }
    Err(Failure::Check(lines.join("\n")))
}

fn report(file: &TableFile, choices: &Choices<'_>, proof: &Proof) -> Report {
    let quality = Quality::new(choices.region(), &file.table);
    let bound = lower_bound(choices, quality.maximum_load);
    let rounded = bound.rounded();
    Report {
        fabric: torus_text(&file.torus),
        nodes: file.nodes.len(),
        algorithm: None,
        routed_pairs: quality.routed,
        pairs_without_route: quality.unrouted,
        pairs_with_one_shortest_route: choices
            .pairs()
            .iter()
            .filter(|pair| pair.routes() == 1)
            .count() as u64,
        maximum_load: quality.maximum_load,
        lower_bound: rounded,
        lower_bound_before_rounding: bound.value,
        gap: f64::from(quality.maximum_load) / f64::from(rounded.max(1)) - 1.0,
        minimum_load: quality.minimum_load,
        mean_load: quality.mean_load,
        perfect_load: quality.perfect_load,
        sigma_1: quality.sigma(1),
        sigma_2: quality.sigma(2),
        sigma_4: quality.sigma(4),
        hops_mean: quality.hops_mean,
        hops_maximum: quality.hops_maximum,
        routes_with_first_or_last_step: quality.stepping,
        build_sssp_calls: None,
        cpu_seconds: None,
        dependencies: proof.dependencies,
        flaws: proof.flaws.iter().map(|flaw| flaw.describe(&file.fabric)).collect(),
    }
}

/// The report, a fact a line.
fn text(report: &Report) -> String {
    let mut lines = vec![
        (
            "pairs",
            format!(
                "{} routed, {} without a route; {:.1}% have one shortest route only",
                report.routed_pairs,
                report.pairs_without_route,
                100.0 * report.pairs_with_one_shortest_route as f64
                    / report.routed_pairs.max(1) as f64
            ),
        ),
        (
            "channel load",
            format!(
                "maximum {}, minimum {}, mean {:.3}; {:.3} if every route were shortest",
                report.maximum_load, report.minimum_load, report.mean_load, report.perfect_load
            ),
        ),
        (
            "lower bound",
            if report.gap == 0.0 {
                format!("{}: the table is optimal", report.lower_bound)
            } else if report.gap < 0.0 {
                format!("{} for the generators' routes; the table has others", report.lower_bound)
            } else {
                format!(
                    "{} ({:.3}): the table is within {:.1}% of the best",
                    report.lower_bound,
                    report.lower_bound_before_rounding,
                    report.gap * 100.0
                )
            },
        ),
        (
            "deviation",
            format!(
                "sigma(1) {:.3}, sigma(2) {:.3}, sigma(4) {:.3}",
                report.sigma_1, report.sigma_2, report.sigma_4
            ),
        ),
        ("hops", format!("mean {:.3}, at most {}", report.hops_mean, report.hops_maximum)),
        ("first, last steps", format!("in {} routes", report.routes_with_first_or_last_step)),
        (
            "proof",
            format!(
                "every route followed; {} dependencies of channels, {}",
                report.dependencies,
                if report.flaws.is_empty() { "no cycle outside rings" } else { "flawed" }
            ),
        ),
    ];
    if let Some(calls) = report.build_sssp_calls {
        lines.push(("searches", format!("{calls} calls of BUILD_SSSP")));
    }
    if let Some(seconds) = report.cpu_seconds {
        lines.push(("time", format!("{seconds:.3} s of CPU")));
    }
    let algorithm = report.algorithm.map_or(String::new(), |name| format!(", algorithm {name}"));
    let head = format!("{}, {} nodes{algorithm}\n", report.fabric, report.nodes);
    let rows = lines.iter().map(|(name, value)| format!("  {name:<19}{value}\n"));
    head + &rows.collect::<String>()
}
