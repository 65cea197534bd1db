//! What was found equal, in the folder that was named: the next call goes on with other rows.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::{COMMIT, Failure, folder};
use flitlab::scenario::RESULTS_VERSION;

pub(super) const FILE: &str = "verified.csv";

/// A row that was computed again and is equal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    result: String,
    row: String,
    results_version: u32,
    flitlab: String,
    commit: String,
    cpu_seconds: f64,
}

/// The rows that this version has found equal.
#[derive(Debug)]
pub(super) struct Verified {
    /// `None` if nothing is kept.
    path: Option<PathBuf>,
    lines: Vec<Line>,
    known: HashSet<(String, String)>,
}

impl Verified {
    /// Reads what earlier calls of this version found, if that is kept. What other versions found says
    /// nothing of this one, and is dropped when a row is added.
    ///
    /// # Errors
    /// If the file is there and none of these.
    pub(super) fn open(folder: &Path, is_kept: bool) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let mut lines: Vec<Line> = Vec::new();
        if path.exists() && is_kept {
            let cannot = |cause: csv::Error| {
                let name = path.display();
                Failure::input(format!(
                    "can't read {name}: {cause}; without it another one is begun"
                ))
            };
            let mut reader = csv::Reader::from_path(&path).map_err(cannot)?;
            lines = reader.deserialize().collect::<Result<_, _>>().map_err(cannot)?;
            lines.retain(|line| {
                line.results_version == RESULTS_VERSION && line.flitlab == env!("CARGO_PKG_VERSION")
            });
        }
        let known = lines.iter().map(|line| (line.result.clone(), line.row.clone())).collect();
        Ok(Self { path: is_kept.then_some(path), lines, known })
    }

    pub(super) fn knows(&self, result: &str, row: &str) -> bool {
        self.known.contains(&(result.to_owned(), row.to_owned()))
    }

    /// Adds a row of a result with the CPU time that it took.
    ///
    /// # Errors
    /// If the file can't be written.
    pub(super) fn add(&mut self, result: &str, row: String, seconds: f64) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        self.lines.push(Line {
            result: result.into(),
            row,
            results_version: RESULTS_VERSION,
            flitlab: env!("CARGO_PKG_VERSION").into(),
            commit: COMMIT.into(),
            cpu_seconds: (seconds * 1e3).round() / 1e3,
        });
        self.lines.sort_by(|a, b| (&a.result, &a.row).cmp(&(&b.result, &b.row)));
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in &self.lines {
            writer.serialize(line).expect("plain data");
        }
        let text = String::from_utf8(writer.into_inner().expect("memory")).expect("texts");
        folder::write(path, &text)
    }
}
