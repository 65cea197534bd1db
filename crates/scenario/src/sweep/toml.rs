//! `[sweep]` with every value written out.

use std::fmt::Write as _;

use super::{
    loads::{CurvePrecision, Loads},
    named,
    table::SweepTable,
    zip::Zip,
};
use crate::load::AUTO;
use crate::series::LOAD;
use flitlab_base::document::{Kind, Node, Value, quoted};

/// The table's text. `keys` has, for each named series, all resolved keys of one of its points.
pub(super) fn of_table(sweep: &SweepTable, keys: &[Vec<(String, String)>]) -> String {
    let mut text = String::from("[sweep]\n");
    if !sweep.figures.text.is_empty() {
        let _ = writeln!(text, "figures = {}", sweep.figures.text);
    }
    let _ = match sweep.loads {
        Loads::Written { past_saturation: None } => writeln!(text, "past_saturation = \"all\""),
        Loads::Written { past_saturation: Some(count) } => {
            writeln!(text, "past_saturation = {count}")
        }
        Loads::Curve(CurvePrecision { load, latency }) => {
            writeln!(text, "precision = {{ load = {load}, latency = {latency} }}")
        }
        Loads::Saturation { tolerance } => {
            writeln!(text, "saturation = {{ tolerance = {tolerance} }}")
        }
    };
    let _ = writeln!(text, "repetitions = {}", sweep.repetitions);
    if !sweep.zip.is_empty() {
        let _ = writeln!(text, "zip = {}", Zip.show(&sweep.zip));
    }
    if !sweep.series.is_empty() {
        text.push_str("\n[sweep.series]\n");
        let grid: Vec<&str> = sweep.grid.iter().map(|key| key.path.as_str()).collect();
        for series in named::resolved(&sweep.series, keys, &grid) {
            let _ = writeln!(text, "{series}");
        }
    }
    let auto = matches!(sweep.loads, Loads::Curve(_));
    if auto || !sweep.grid.is_empty() {
        text.push_str("\n[sweep.grid]\n");
        for key in &sweep.grid {
            let values: Vec<String> = key.values.iter().map(literal).collect();
            let _ = writeln!(text, "{} = [{}]", key.path, values.join(", "));
        }
        if auto {
            let _ = writeln!(text, "{LOAD} = \"{AUTO}\"");
        }
    }
    text
}

/// A value as TOML; on the command line quotes may have been left out.
fn literal((text, node): &(String, Node)) -> String {
    match &node.value {
        Value::Text(plain) => quoted(plain),
        _ => text.clone(),
    }
}
