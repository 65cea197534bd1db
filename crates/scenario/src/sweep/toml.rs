//! `[sweep]` with every value written out.

use std::fmt::Write as _;

use super::{named, table::SweepTable, zip::Zip};
use flitlab_base::document::{Kind, Node, Value, quoted};

/// The table's text. `keys` has, for each named series, all resolved keys of one of its points.
pub(super) fn of_table(sweep: &SweepTable, keys: &[Vec<(String, String)>]) -> String {
    let mut text = String::from("[sweep]\n");
    if let Some(saturation) = sweep.saturation {
        let _ = writeln!(text, "saturation = {{ tolerance = {} }}", saturation.tolerance);
    }
    if !sweep.figures.text.is_empty() {
        let _ = writeln!(text, "figures = {}", sweep.figures.text);
    }
    let past = sweep.past_saturation.map_or_else(|| "\"all\"".into(), |count| count.to_string());
    let _ = writeln!(text, "past_saturation = {past}");
    let _ = writeln!(text, "repetitions = {}", sweep.repetitions);
    if !sweep.zip.is_empty() {
        let _ = writeln!(text, "zip = {}", Zip.show(&sweep.zip));
    }
    if !sweep.series.is_empty() {
        text.push_str("\n[sweep.series]\n");
        for series in named::resolved(&sweep.series, keys) {
            let _ = writeln!(text, "{series}");
        }
    }
    if !sweep.grid.is_empty() {
        text.push_str("\n[sweep.grid]\n");
        for key in &sweep.grid {
            let values: Vec<String> = key.values.iter().map(literal).collect();
            let _ = writeln!(text, "{} = [{}]", key.path, values.join(", "));
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
