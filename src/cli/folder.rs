//! Where results go: never over others.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use super::input::reject;
use flitlab::scenario::{Document, Scenario};

/// The folder of everybody's results.
const RESULTS: &str = "results";

/// Where a command's results go.
#[derive(Clone, Debug, Args)]
pub(super) struct Output {
    /// Folder for the results [default: results/NAME, or NAME-2 and so on if that is taken]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(super) json: bool,
}

/// An empty folder for results: the one asked for, or `results/NAME`, or if that is taken
/// `results/NAME-2` and so on.
///
/// # Errors
/// If the folder that was asked for has something in it, or none can be made or written to.
pub(super) fn prepare(name: &str, asked: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = match asked {
        Some(folder) if folder.is_file() => {
            return Err(Failure::input(format!(
                "{} is a file: name a folder with --out",
                folder.display()
            )));
        }
        Some(folder) if occupied(folder) => {
            return Err(Failure::input(format!(
                "{} has something in it, and results never replace others: name another folder \
                 with --out, or remove it",
                folder.display()
            )));
        }
        Some(folder) => folder.to_path_buf(),
        None => (1..)
            .map(|number| match number {
                1 => Path::new(RESULTS).join(name),
                _ => Path::new(RESULTS).join(format!("{name}-{number}")),
            })
            .find(|folder| !occupied(folder))
            .expect("numbers don't end"),
    };
    let cannot = |cause| Failure::Run(format!("can't write {}: {cause}", folder.display()));
    fs::create_dir_all(&folder).map_err(cannot)?;
    Ok(folder)
}

/// `results/NAME`, `results/NAME-2` and so on, as far as they are there, in this order.
pub(super) fn numbered(name: &str) -> Vec<PathBuf> {
    let number = |folder: &str| match folder.strip_prefix(name)? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse::<u32>().ok(),
    };
    let entries = fs::read_dir(RESULTS).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// Whether something is there that is not an empty folder.
pub(super) fn occupied(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.exists(),
    }
}

/// Writes a whole file at once: beside its place, then moved there.
pub(super) fn write(path: &Path, contents: &str) -> Result<(), Failure> {
    let partial = path.with_extension("partial");
    fs::write(&partial, contents)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|cause| Failure::Run(format!("can't write {}: {cause}", path.display())))
}

/// A scenario with every value written out, so that anyone can run it again.
///
/// # Errors
/// If the scenario is wrong.
pub(super) fn resolved(document: &Document) -> Result<String, Failure> {
    let (_, text) = Scenario::read_resolved(document).map_err(|found| reject(&found))?;
    Ok(resolved_by(&text))
}

/// Says above a resolved scenario where it comes from.
pub(super) fn resolved_by(text: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("# Resolved by flitlab {version}: every key, given or default.\n{text}")
}
