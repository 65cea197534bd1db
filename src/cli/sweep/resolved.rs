//! A sweep as TOML with every value written out.

use super::super::{Failure, folder};
use crate::scenario;

/// The first point's scenario, every value written out, and the grid.
pub(super) fn text(sweep: &scenario::Sweep) -> Result<String, Failure> {
    let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, value) in sweep.points.iter().flat_map(|point| &point.assignments) {
        match axes.iter_mut().find(|(other, _)| other == key) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => axes.push((key, vec![value])),
        }
    }
    let mut text = folder::resolved(&sweep.points[0].document)?;
    text.push_str("\n[sweep]\n");
    if let Some(saturation) = sweep.saturation {
        text.push_str(&format!("saturation = {{ tolerance = {} }}\n", saturation.tolerance));
    }
    if let Some(figures) = &sweep.figures {
        text.push_str(&format!("figures = {}\n", literal(figures)));
    }
    for (key, values) in axes {
        let values: Vec<String> = values.into_iter().map(literal).collect();
        text.push_str(&format!("grid.{key} = [{}]\n", values.join(", ")));
    }
    Ok(text)
}

/// A value as TOML: as it is if it is TOML, else as a text.
fn literal(value: &str) -> String {
    match toml::de::DeTable::parse(&format!("value = {value}")) {
        Ok(_) => value.to_owned(),
        Err(_) => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
