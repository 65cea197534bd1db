//! Tables by which routers look up the way by the destination, made for a fabric of any shape.

use std::time::Instant;

use cpu_time::ProcessTime;

use super::forwarding_report::Report;
use super::{Failure, Maker, Partition, Route, SHOWN, dump};
use crate::cli::text::fabric_text;
use crate::routing::agnostic::{self, ALGORITHMS, Algorithm, NoTable, Parameters};
use crate::routing::{
    ForwardingFlaw, ForwardingQuality, ForwardingTable, LaneChannel, prove_forwarding,
};
use crate::scenario::{Network, OpenSmTable};
use crate::topology::Fabric;

/// Whether the algorithm parts paths among lanes.
fn takes_lanes(algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::Dfsssp
        | Algorithm::Lash
        | Algorithm::LashTor
        | Algorithm::Mud
        | Algorithm::Nue
        | Algorithm::NueBalanced
        | Algorithm::Torus2Qos => true,
        Algorithm::MinHop
        | Algorithm::DimensionOrder
        | Algorithm::DModK
        | Algorithm::UpDown
        | Algorithm::Sssp
        | Algorithm::P2Sssp
        | Algorithm::Segments => false,
    }
}

fn parts_destinations(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Nue | Algorithm::NueBalanced)
}

/// The names of some algorithms.
fn names(those: impl Fn(Algorithm) -> bool) -> String {
    let names = ALGORITHMS.iter().filter(|(_, algorithm)| those(*algorithm));
    names.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn name(algorithm: Algorithm) -> &'static str {
    let named = ALGORITHMS.iter().find(|(_, other)| *other == algorithm);
    named.expect("every algorithm has a name").0
}

impl Route {
    /// The algorithm with what it was given on the command line, or else in the scenario.
    pub(super) fn agnostic(
        &self,
        algorithm: Algorithm,
        mut parameters: Parameters,
    ) -> Result<Maker<'static>, Failure> {
        if let Some(lanes) = self.lanes {
            meaningful("--lanes", algorithm, takes_lanes)?;
            parameters.lanes = lanes;
        }
        if let Some(partition) = self.partition {
            meaningful("--partition", algorithm, parts_destinations)?;
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
    algorithm: Algorithm,
    those: impl Fn(Algorithm) -> bool,
) -> Result<(), Failure> {
    if those(algorithm) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "error: {option} means nothing to {}\nhelp: it is for {}",
        name(algorithm),
        names(those)
    )))
}

pub(super) fn make(
    route: &Route,
    network: &Network,
    algorithm: Algorithm,
    parameters: Parameters,
) -> Result<(), Failure> {
    let fabric = &network.fabric;
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    let made = algorithm.generate(fabric, &parameters).map_err(refuse)?;
    let (cpu, seconds) = (cpu.elapsed().as_secs_f64(), started.elapsed().as_secs_f64());
    let mut report = Report::new(fabric_text(network), fabric);
    report.algorithm = Some(name(algorithm));
    report.lanes = takes_lanes(algorithm).then_some(parameters.lanes);
    report.escape_falls = made.escape_falls;
    report.cpu_seconds = Some(cpu);
    report.seconds = Some(seconds);
    judge(route, report, fabric, &made.table)?;
    match &route.save {
        Some(folder) => dump::save(route, network, &made.table, folder),
        None => Ok(()),
    }
}

/// Refuses an algorithm for Angara on another fabric.
pub(super) fn not_for_angara(name: &str) -> Failure {
    Failure::Input(format!(
        "error: {name} is for Angara, on [topology.torus]\nhelp: for other fabrics there are {}",
        names(|_| true)
    ))
}

/// Shows and proves the table that the scenario names.
pub(super) fn show(route: &Route, network: &Network, read: &OpenSmTable) -> Result<(), Failure> {
    let report = Report::new(fabric_text(network), &network.fabric);
    judge(route, report, &network.fabric, &read.table)?;
    match &route.save {
        Some(folder) => dump::save(route, network, &read.table, folder),
        None => Ok(()),
    }
}

/// Why there is no table, and what to try.
fn refuse(error: NoTable) -> Failure {
    let help = match error {
        NoTable::Lanes { .. } => {
            let always = [
                Algorithm::UpDown,
                Algorithm::Segments,
                Algorithm::Mud,
                Algorithm::Nue,
                Algorithm::NueBalanced,
            ];
            let names = names(|algorithm| always.contains(&algorithm));
            format!(
                "give it more --lanes, or take one that any number of lanes suffices for: {names}"
            )
        }
        _ => {
            let bound = [Algorithm::DimensionOrder, Algorithm::Torus2Qos, Algorithm::DModK];
            format!("these are for any fabric: {}", names(|algorithm| !bound.contains(&algorithm)))
        }
    };
    Failure::Input(format!("error: {error}\nhelp: {help}"))
}

/// Completes and prints the report of a table, draws its loads, and refuses it if it is flawed.
pub(super) fn judge(
    route: &Route,
    mut report: Report,
    fabric: &Fabric,
    table: &ForwardingTable,
) -> Result<(), Failure> {
    let quality = ForwardingQuality::new(fabric, table);
    let proof = prove_forwarding(fabric, table);
    report.judge(fabric, &quality, &proof);
    route.print(&report, || report.text())?;
    route.draw(fabric, &report.title(), quality.loads.iter().copied())?;
    let accepted = |flaw: &&ForwardingFlaw| {
        route.allow_partial && matches!(flaw, ForwardingFlaw::Missing { .. })
    };
    let flaws: Vec<&ForwardingFlaw> = proof.flaws.iter().filter(|flaw| !accepted(flaw)).collect();
    if flaws.is_empty() { Ok(()) } else { Err(Failure::Check(flaws_text(fabric, &flaws))) }
}

/// The flaws, the cycle last and a channel a line.
fn flaws_text(fabric: &Fabric, flaws: &[&ForwardingFlaw]) -> String {
    let (mut lines, mut cycle): (Vec<String>, Vec<LaneChannel>) = Default::default();
    for flaw in flaws {
        match flaw {
            ForwardingFlaw::Cycle(places) => cycle.extend(places),
            _ => lines.push(format!("error: {}", flaw.describe(fabric))),
        }
    }
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("... and {more} more flaws"));
    }
    if !cycle.is_empty() {
        lines.push(format!(
            "error: packets can deadlock: each of these {} channels can wait for the next, the last for the \
             first",
            cycle.len()
        ));
        lines.extend(
            cycle.iter().map(|place| {
                format!("  {}, lane {}", fabric.channel_name(place.channel), place.lane)
            }),
        );
    }
    lines.join("\n")
}
