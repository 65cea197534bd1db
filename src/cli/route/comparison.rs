//! The tables of all algorithms for one fabric, a line each.

use cpu_time::ProcessTime;
use serde::Serialize;

use super::{Failure, Route};
use crate::cli::text::fabric_text;
use crate::cli::{components, folder, program};
use flitlab::registry::Row;
use flitlab::report::{AlgorithmRow, Table, rows_text};
use flitlab::scenario::{Network, RoutingSpec};
use flitlab::tables::agnostic::{Algorithm, Parameters};
use flitlab::tables::{ForwardingQuality, LoadBound, Paths, prove_forwarding};
use flitlab::topology::Fabric;

/// All rows, and what they have in common.
#[derive(Serialize)]
struct Comparison<'r> {
    fabric: String,
    terminals: usize,
    /// Of the paths on the fullest channel, for any table.
    lower_bound: u64,
    algorithms: &'r [AlgorithmRow],
}

/// Makes a table by each algorithm, proves it, and prints a line as soon as it is known.
pub(super) fn show(route: &Route, network: &Network) -> Result<(), Failure> {
    let fabric = &network.fabric;
    let parameters = match network.routing {
        RoutingSpec::Agnostic { parameters, .. } => parameters,
        _ => Parameters::default(),
    };
    let parameters = Parameters { vcs: route.lanes.unwrap_or(parameters.vcs), ..parameters };
    let bound = LoadBound::new(fabric, Paths::Any).rounded();
    let terminals = fabric.live_terminals().count();
    let name = fabric_text(network);
    route.note(&format!("{name}, {terminals} terminals; the bound of any table is {bound}"))?;
    route.note(&line([
        "algorithm",
        "proof",
        "fullest",
        "above",
        "hops",
        "most",
        "VCs",
        "CPU s",
        "",
    ]))?;
    let mut rows = Vec::new();
    for algorithm in components::rows() {
        let row = row(algorithm, (fabric, bound), &parameters, route.lanes);
        route.note(&text(&row))?;
        rows.push(row);
    }
    if fabric.torus().is_some() {
        route.note("Angara's own algorithms make tables of another kind: --algorithm balanced")?;
    }
    program::give(|answer| answer.tables.push(Table::of_rows("algorithms", &rows)));
    if let Some(out) = &route.out {
        let out = folder::prepare("", Some(out))?;
        out.fill(|| folder::write(&out.join("algorithms.csv"), &rows_text(&rows)))?;
        route.note(&format!("algorithms.csv in {}", out.display()))?;
    }
    let whole = Comparison { fabric: name, terminals, lower_bound: bound, algorithms: &rows };
    route.print(&whole, String::new)
}

/// What an algorithm makes of a fabric.
fn row(
    algorithm: Row<Algorithm>,
    (fabric, bound): (&Fabric, u64),
    parameters: &Parameters,
    lanes: Option<u8>,
) -> AlgorithmRow {
    let takes_lanes = algorithm.parts_paths || parameters.spread.is_some();
    let idle = lanes.filter(|_| !takes_lanes);
    let note = idle.map_or(String::new(), |lanes| format!("--lanes {lanes} means nothing to it"));
    let named = AlgorithmRow { algorithm: algorithm.name.into(), note, ..AlgorithmRow::default() };
    let started = ProcessTime::now();
    let made = match algorithm.generate(fabric, parameters) {
        Ok(made) => made,
        Err(error) => return AlgorithmRow { note: error.to_string(), ..named },
    };
    let cpu_seconds = Some(started.elapsed().as_secs_f64());
    let quality = ForwardingQuality::new(fabric, &made.table);
    let proof = prove_forwarding(fabric, &made.table);
    let verdict = match proof.cycle() {
        Some(_) => "cycle",
        None if proof.holds() => "no cycle",
        None => "incomplete",
    };
    AlgorithmRow {
        proof: verdict.into(),
        maximum_load: Some(quality.load.maximum),
        gap: Some(quality.load.maximum / bound.max(1) as f64 - 1.0),
        hops_mean: Some(quality.hops_mean),
        hops_maximum: Some(quality.hops_maximum),
        lanes_used: Some(proof.vcs_used()),
        cpu_seconds,
        ..named
    }
}

/// A row as a line of text.
fn text(row: &AlgorithmRow) -> String {
    if row.proof.is_empty() {
        return format!("{:<17} no table: {}", row.algorithm, row.note);
    }
    let number = |value: Option<f64>, digits| {
        value.map_or(String::new(), |value| format!("{value:.digits$}"))
    };
    let count = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
    let above = row.gap.map_or(String::new(), |gap| format!("+{:.1}%", 100.0 * gap));
    line([
        &row.algorithm,
        &row.proof,
        &row.maximum_load.map_or(String::new(), super::plain),
        &above,
        &number(row.hops_mean, 3),
        &count(row.hops_maximum),
        &count(row.lanes_used),
        &number(row.cpu_seconds, 3),
        &row.note,
    ])
}

/// Cells under each other, the first two and the last to the left.
fn line([algorithm, proof, fullest, above, hops, most, lanes, cpu, note]: [&str; 9]) -> String {
    let line = format!(
        "{algorithm:<17} {proof:<10} {fullest:>8} {above:>8} {hops:>7} {most:>4} {lanes:>3} {cpu:>8}  {note}"
    );
    line.trim_end().to_owned()
}
