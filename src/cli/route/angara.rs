//! Tables of routes that sources look up, for Angara.

use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;

use super::angara_report::AngaraReport;
use super::traffic::TrafficReport;
use super::{Failure, Route, SHOWN, arrays, read, refuse, refuse_file};
use crate::cli::program;
use crate::cli::say::say;
use flitlab::registry::Row;
use flitlab::scenario::{Network, enough_memory};
use flitlab::tables::angara::{Algorithm, Choices, Freedoms, Generated, Parameters, for_traffic};
use flitlab::tables::{Flaw, Quality, Region, TableFile, prove};
use flitlab::topology::Fabric;
use flitlab::traces::formats::FileKind;
use flitlab::units::memory_text;

/// A table that takes more than this many bytes is announced.
const LARGE: u64 = 500_000_000;

/// A table that was just made, with what it was made from.
pub(super) struct Made<'n> {
    pub choices: Choices<'n>,
    pub generated: Generated,
    cpu_seconds: f64,
    seconds: f64,
}

/// Makes a table for every pair that can be routed.
pub(super) fn generate<'n>(
    network: &'n Network,
    algorithm: Row<Algorithm>,
    parameters: &Parameters,
) -> Result<Made<'n>, Failure> {
    let region = Region::new(&network.fabric);
    let needed = enough_memory(&region, parameters.freedoms, &algorithm).map_err(Failure::input)?;
    if needed > LARGE {
        say(&format!("note: this takes about {} of memory", memory_text(needed)));
    }
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    let choices = Choices::new(region, parameters.freedoms);
    let generated = (algorithm.table)(&choices, parameters, network.seed)
        .map_err(|error| Failure::input(error.to_string()))?;
    let (cpu_seconds, seconds) = (cpu.elapsed().as_secs_f64(), started.elapsed().as_secs_f64());
    Ok(Made { choices, generated, cpu_seconds, seconds })
}

pub(super) fn make(
    route: &Route,
    network: &Network,
    algorithm: Row<Algorithm>,
    parameters: &Parameters,
    traffic: Option<&[(u32, u32, f64)]>,
) -> Result<(), Failure> {
    let fabric = &network.fabric;
    let (torus, faults) = network.torus().expect("chosen for tori only");
    let made = generate(network, algorithm, parameters)?;
    let Made { choices, mut generated, cpu_seconds, seconds } = made;
    let mut for_its_traffic = None;
    if let Some(traffic) = traffic {
        let mut weighted = choices.clone();
        let of = (parameters, network.seed);
        let made = for_traffic(&mut weighted, &algorithm, of, traffic)
            .map_err(|error| Failure::input(error.to_string()))?;
        for_its_traffic = Some(TrafficReport::new(&made));
        // The bound of the general table stays that of all pairs alike.
        generated.table = made.made.table;
    }
    let proof = prove(fabric, &generated.table);
    let flaws: Vec<&Flaw> =
        proof.flaws.iter().filter(|flaw| !matches!(flaw, Flaw::Missing { .. })).collect();
    if !flaws.is_empty() {
        return Err(refuse(flaws.iter().map(|flaw| flaw.describe(fabric))));
    }
    let quality = Quality::new(choices.region(), &generated.table);
    let mut report =
        AngaraReport::new(&choices, &generated.table, &quality, &proof, generated.bound);
    report.asked_sigma = route.asked_sigma(&quality.loads, &quality.load);
    report.algorithm = Some(algorithm.name);
    report.traffic = for_its_traffic;
    report.build_sssp_calls = generated.sssp_calls;
    report.cpu_seconds = Some(cpu_seconds);
    report.seconds = Some(seconds);
    show(route, &report, fabric, &quality)?;
    let file = TableFile::new(torus.clone(), faults.clone(), fabric.clone(), generated.table);
    program::give(|answer| answer.tables.push(arrays::routes(&file)));
    if !route.allow_partial && !choices.unroutable.is_empty() {
        return Err(Failure::Check(unroutable_text(fabric, &choices.unroutable)));
    }
    let Some(path) = &route.save else { return Ok(()) };
    route.write(path, |output| file.write(output))?;
    route.note(&format!("table in {}", path.display()))
}

pub(super) fn check(route: &Route, path: &Path) -> Result<(), Failure> {
    let text = read(path)?;
    if ["Unicast lids", "dump_ucast_routes: "].iter().any(|start| text.starts_with(start)) {
        return Err(Failure::input(format!(
            "{} has tables of OpenSM\nhelp: name their fabric too: --netlist FILE, as ibsim or \
             ibnetdiscover have it",
            path.display()
        )));
    }
    let file = TableFile::parse(&text)
        .map_err(|error| refuse_file(path, &text, FileKind::Routes, &error))?;
    let proof = prove(&file.fabric, &file.table);
    let accepted = |flaw: &&Flaw| route.allow_partial && matches!(flaw, Flaw::Missing { .. });
    let flaws: Vec<&Flaw> = proof.flaws.iter().filter(|flaw| !accepted(flaw)).collect();
    if flaws.is_empty() {
        let choices = Choices::new(Region::new(&file.fabric), Freedoms::default());
        let quality = Quality::new(choices.region(), &file.table);
        let mut report = AngaraReport::new(&choices, &file.table, &quality, &proof, None);
        report.asked_sigma = route.asked_sigma(&quality.loads, &quality.load);
        show(route, &report, &file.fabric, &quality)?;
        program::give(|answer| answer.tables.push(arrays::routes(&file)));
        return Ok(());
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
fn show(
    route: &Route,
    report: &AngaraReport,
    fabric: &Fabric,
    quality: &Quality,
) -> Result<(), Failure> {
    route.print(report, || report.text())?;
    route.draw(fabric, &report.title(), quality.loads.iter().copied())
}

/// The unroutable pairs, a source a line.
fn unroutable_text(fabric: &Fabric, pairs: &[(u32, u32)]) -> String {
    let sources: Vec<&[(u32, u32)]> = pairs.chunk_by(|one, other| one.0 == other.0).collect();
    let mut lines = vec![match pairs.len() {
        1 => "error: 1 pair has no route:".into(),
        count => format!("error: {count} pairs have no route:"),
    }];
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
