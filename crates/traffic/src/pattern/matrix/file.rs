//! The CSV file of a matrix.

use std::collections::HashSet;
use std::path::Path;

use super::{REPEATED, REPEATED_LABEL, Weight};
use crate::csv_file::{self, Shape, Wrong};
use flitlab_base::document::{Diagnostic, Location};
use flitlab_fabric::{NodeName, Places};
use flitlab_traces::formats::FileKind;

const SHAPE: Shape<'static> = Shape {
    kind: FileKind::Matrix,
    noun: "matrix",
    header: "source,destination,weight",
    hint: "coordinates are joined by `;`, as in 0;1;3",
};

/// Reads the weights of a CSV file; mistakes point into it.
pub(super) fn read(
    path: &Path,
    place: &Location,
    places: Option<Places<'_>>,
) -> Result<Vec<Weight>, Vec<Diagnostic>> {
    let names = NodeName { places };
    let node = |record: &csv::StringRecord, column: usize| {
        let wrong = |(message, help): (String, _)| Wrong::column(column, message).help(help);
        names.of_text(&record[column]).map_err(wrong)
    };
    let mut entries: Vec<Weight> = Vec::new();
    let mut seen = HashSet::new();
    let header = |record: &csv::StringRecord| record.iter().eq(["source", "destination", "weight"]);
    csv_file::read(path, Some(place), &SHAPE, header, |record| {
        let (source, destination) = (node(record, 0)?, node(record, 1)?);
        let weight = record[2].parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let weight = weight.ok_or_else(|| {
            Wrong::column(2, format!("`{}` is no weight: a number, 0 or above", &record[2]))
        })?;
        if !seen.insert((source, destination)) {
            return Err(Wrong::row(REPEATED).label(REPEATED_LABEL));
        }
        entries.push((source, destination, weight));
        Ok(())
    })?;
    Ok(entries)
}
