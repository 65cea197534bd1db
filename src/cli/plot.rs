//! `flitlab plot`: figures from results, again and again.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use super::summary::print_text;
use crate::report::figure::draw_all;
use crate::report::{ChannelRow, PointRow, read_channels, read_points};

/// Draw the figures of results again, or several results in one figure
///
/// One folder: its figures are drawn anew in it (or in --out). Several: their curves share figures, which
/// go to --out; each curve is named after its folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab plot results/desmos-uniform\n  \
                        flitlab plot results/uniform results/tornado --out figures --title \"8x8x8 torus\"")]
pub(super) struct Plot {
    /// Folders with results
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// Folder for the figures; figures of the same name in it are replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Title of the figures [default: the folders' names]
    #[arg(long)]
    title: Option<String>,
}

impl Plot {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let out = match (&self.out, &self.results[..]) {
            (Some(out), _) => out.clone(),
            (None, [only]) => only.clone(),
            (None, _) => {
                return Err(Failure::Input(
                    "error: figures of several results need a folder of their own: add --out DIR"
                        .into(),
                ));
            }
        };
        let mut points = Vec::new();
        let mut channels = Vec::new();
        for folder in &self.results {
            let (more_points, more_channels) = read(folder, self.results.len() > 1)?;
            points.extend(more_points);
            channels.extend(more_channels);
        }
        let names: Vec<String> = self.results.iter().map(|folder| name(folder)).collect();
        let title = self.title.unwrap_or_else(|| names.join(", "));
        let drawn = draw_all(&points, &channels, &out, &title)?;
        if drawn.is_empty() {
            return Err(Failure::Input("error: there is nothing to draw in these results".into()));
        }
        drawn.iter().try_for_each(|path| print_text(&format!("{}\n", path.display())))
    }
}

/// A folder's name as people see it.
fn name(folder: &Path) -> String {
    let canonical = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    canonical.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A folder's rows; with the folder's name in front of the series if there are several folders.
fn read(folder: &Path, named: bool) -> Result<(Vec<PointRow>, Vec<ChannelRow>), Failure> {
    let points = read_points(folder.join("points.csv"))?;
    if let Some(line) = points.incomplete_line {
        eprintln!(
            "warning: {}:{line}: the last line is cut short and left out",
            folder.join("points.csv").display()
        );
    }
    let channels = folder.join("channels.csv");
    let channels = if channels.exists() { read_channels(channels)?.rows } else { Vec::new() };
    let (mut points, mut channels) = (points.rows, channels);
    if named {
        let series = points.iter_mut().map(|row| &mut row.series);
        for series in series.chain(channels.iter_mut().map(|row| &mut row.series)) {
            let parts = [name(folder), std::mem::take(series)];
            *series = parts
                .iter()
                .filter(|part| !part.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
        }
    }
    Ok((points, channels))
}
