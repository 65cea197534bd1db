//! Tables by which routers look up the way by the destination, made for a fabric of any shape.

use std::time::Instant;

use cpu_time::ProcessTime;

use super::forwarding_report::{CompleteGraphReport, ForwardingReport};
use super::{Failure, Maker, Partition, Route, arrays, dump};
use crate::cli::say::say;
use crate::cli::text::fabric_text;
use crate::cli::{components, program};
use flitlab::registry::Row;
use flitlab::routing::{ForwardingTable, VirtualChannel};
use flitlab::scenario::{Network, OpenSmTable};
use flitlab::tables::agnostic::{self, Algorithm, Applies, Generated, NoTable, Parameters};
use flitlab::tables::{ForwardingFlaw, ForwardingQuality, prove_forwarding};
use flitlab::topology::Fabric;

/// The names of some algorithms.
fn names(those: impl Fn(&Row<Algorithm>) -> bool) -> String {
    let rows = components::rows::<Algorithm>();
    let names = rows.iter().filter(|algorithm| those(algorithm));
    names.map(|algorithm| algorithm.name).collect::<Vec<_>>().join(", ")
}

impl Route {
    /// The algorithm with what it was given on the command line, or else in the scenario.
    pub(super) fn agnostic(
        &self,
        algorithm: Row<Algorithm>,
        mut parameters: Parameters,
    ) -> Result<Maker<'static>, Failure> {
        if let Some(vcs) = self.lanes {
            // In a loop over algorithms one that needs no virtual channels is no mistake, and what is
            // spread takes any number.
            if !algorithm.parts_paths && parameters.spread.is_none() {
                say(&format!(
                    "note: --lanes {vcs} means nothing to {}; it is for {}",
                    algorithm.name,
                    names(|it| it.parts_paths)
                ));
            }
            parameters.vcs = vcs;
        }
        if let Some(partition) = self.partition {
            meaningful("--partition", &algorithm, |it| it.parts_destinations)?;
            parameters.partition = match partition {
                Partition::Near => agnostic::Partition::Near,
                Partition::InTurn => agnostic::Partition::InTurn,
            };
        }
        Ok(Maker::Agnostic(algorithm, parameters))
    }
}

/// Refuses an option that the algorithm has no use for.
fn meaningful(
    option: &str,
    algorithm: &Row<Algorithm>,
    those: impl Fn(&Row<Algorithm>) -> bool,
) -> Result<(), Failure> {
    if those(algorithm) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{option} means nothing to {}\nhelp: it is for {}",
        algorithm.name,
        names(those)
    )))
}

/// Makes a table.
pub(super) fn generate(
    network: &Network,
    algorithm: Row<Algorithm>,
    parameters: &Parameters,
) -> Result<Generated, Failure> {
    algorithm.generate(&network.fabric, parameters).map_err(no_table)
}

pub(super) fn make(
    route: &Route,
    network: &Network,
    algorithm: Row<Algorithm>,
    parameters: Parameters,
) -> Result<(), Failure> {
    let fabric = &network.fabric;
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    let made = generate(network, algorithm, &parameters)?;
    let (cpu, seconds) = (cpu.elapsed().as_secs_f64(), started.elapsed().as_secs_f64());
    let mut report = ForwardingReport::new(fabric_text(network), fabric);
    report.algorithm = Some(algorithm.name);
    let takes_all = algorithm.parts_paths || parameters.spread.is_some();
    report.lanes = takes_all.then_some(parameters.vcs);
    report.escape_falls = made.escape_falls;
    report.complete_graph = made.complete_graph.as_ref().map(CompleteGraphReport::new);
    report.cpu_seconds = Some(cpu);
    report.seconds = Some(seconds);
    finish(route, report, network, &made.table)
}

/// Refuses an algorithm for Angara on another fabric.
pub(super) fn not_for_angara(name: &str) -> Failure {
    Failure::input(format!(
        "{name} is for Angara, on [topology.torus]\nhelp: for other fabrics there are {}",
        names(|_| true)
    ))
}

/// Shows and proves the table that the scenario names.
pub(super) fn show(route: &Route, network: &Network, read: &OpenSmTable) -> Result<(), Failure> {
    let report = ForwardingReport::new(fabric_text(network), &network.fabric);
    finish(route, report, network, &read.table)
}

/// Judges a scenario's table and saves it, even if its packets can deadlock: some algorithms don't
/// care.
fn finish(
    route: &Route,
    report: ForwardingReport,
    network: &Network,
    table: &ForwardingTable,
) -> Result<(), Failure> {
    let cycle = judge(route, report, &network.fabric, table)?;
    if let Some(folder) = &route.save {
        dump::save(route, network, table, folder)?;
    }
    cycle.map_or(Ok(()), |lines| Err(Failure::Check(lines)))
}

/// Why there is no table, and what to try.
fn no_table(error: NoTable) -> Failure {
    let help = match error {
        NoTable::VirtualChannels { .. } => {
            let names = names(|it| it.avoids_deadlock && it.applies == Applies::Always);
            format!(
                "give it more --lanes, or take one that any number of virtual channels suffices \
                 for: {names}"
            )
        }
        _ => {
            let names = names(|it| it.applies != Applies::SomeShapes);
            format!("these are for any fabric: {names}")
        }
    };
    Failure::input(format!("{error}\nhelp: {help}"))
}

/// Completes and prints the report of a table, and draws its loads. Gives the cycle, if packets can
/// deadlock: a channel a line.
///
/// # Errors
/// If the table does not lead everywhere.
pub(super) fn judge(
    route: &Route,
    mut report: ForwardingReport,
    fabric: &Fabric,
    table: &ForwardingTable,
) -> Result<Option<String>, Failure> {
    let quality = ForwardingQuality::new(fabric, table);
    let proof = prove_forwarding(fabric, table);
    let refused: Vec<&ForwardingFlaw> = proof
        .flaws
        .iter()
        .filter(|flaw| match flaw {
            ForwardingFlaw::Cycle(_) => false,
            ForwardingFlaw::Missing { .. } => !route.allow_partial,
            ForwardingFlaw::NoChannel { .. }
            | ForwardingFlaw::Discarded { .. }
            | ForwardingFlaw::Loop { .. } => true,
        })
        .collect();
    report.judge(fabric, &quality, &proof);
    report.asked_sigma = route.asked_sigma(&quality.loads, &quality.load);
    report.flaws = refused.len();
    route.print(&report, || report.text())?;
    route.draw(fabric, &report.title(), quality.loads.iter().copied())?;
    program::give(|answer| answer.tables.push(arrays::next_hops(fabric, table)));
    if !refused.is_empty() {
        return Err(super::refuse(refused.iter().map(|flaw| flaw.describe(fabric))));
    }
    Ok(proof.cycle().map(|places| {
        let name = |place: &VirtualChannel| {
            format!("\n  {}, virtual channel {}", fabric.channel_name(place.channel), place.vc)
        };
        format!(
            "error: packets can deadlock: each of these {} channels can wait for the next, the last for the \
             first{}",
            places.len(),
            places.iter().map(name).collect::<String>()
        )
    }))
}
