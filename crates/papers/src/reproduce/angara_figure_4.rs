//! \[angara-routing\], Figure 4: how often SSSP calls BUILD_SSSP, with and without its first stage.

use serde::{Deserialize, Serialize};

use super::tori::{QUICK, SETS, choices, fabric, on_one_thread, over_nodes, systems};
use super::{Extent, Progress, Reproduction, all};
use flitlab_base::narrow::narrow;
use flitlab_fabric::sizes_text;
use flitlab_report::figure::{Figure, Series, Style};
use flitlab_tables::angara::{sssp, sssp_in_one_stage};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    dimensions: u32,
    torus: String,
    nodes: u32,
    calls: u64,
    calls_without_first_stage: u64,
}

/// The calls for all systems.
pub fn angara_figure_4(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let every = if extent.quick { QUICK } else { 1 };
    let jobs: Vec<Vec<u32>> = SETS
        .iter()
        .flat_map(|&(dimensions, most)| systems(dimensions, most).into_iter().step_by(every))
        .collect();
    let work = |sizes: &Vec<u32>| {
        on_one_thread(|| extent.simulated(&format!("figure 4 {sizes:?}"), || row(sizes)))
    };
    let rows = all(&jobs, extent, work, |_| String::new(), progress);
    let figures = SETS.iter().map(|set| figure(&rows, set.0)).collect();
    Reproduction::of_rows("systems", &rows, text(&rows), figures)
}

fn row(sizes: &[u32]) -> Row {
    let fabric = fabric(sizes);
    let choices = choices(&fabric);
    Row {
        dimensions: narrow(sizes.len()),
        torus: sizes_text(sizes),
        nodes: fabric.routers(),
        calls: sssp(&choices).calls,
        calls_without_first_stage: sssp_in_one_stage(&choices).calls,
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = "calls of BUILD_SSSP, all systems of a set together\n".to_owned();
    text += &format!(
        "{:<12}{:>8}{:>14}{:>22}{:>14}\n",
        "dimensions", "systems", "with stage 1", "without (published:", "sum of |N|"
    );
    text += &format!("{:<12}{:>8}{:>14}{:>22}\n", "", "", "", "|N| to |N|^2)");
    for (dimensions, _) in SETS {
        let of = || rows.iter().filter(|row| row.dimensions == dimensions);
        text += &format!(
            "{dimensions:<12}{:>8}{:>14}{:>22}{:>14}\n",
            of().count(),
            of().map(|row| row.calls).sum::<u64>(),
            of().map(|row| row.calls_without_first_stage).sum::<u64>(),
            of().map(|row| u64::from(row.nodes)).sum::<u64>()
        );
    }
    text
}

fn figure(rows: &[Row], dimensions: u32) -> (String, Figure) {
    let of = |value: fn(&Row) -> u64, label: &str| {
        let rows = rows.iter().filter(|row| row.dimensions == dimensions);
        let points = rows.map(|row| (f64::from(row.nodes), value(row) as f64)).collect();
        Series { label: label.into(), style: Style::Dots, points }
    };
    let series = [
        of(|row| row.calls, "unique routes first"),
        of(|row| row.calls_without_first_stage, "without that stage"),
        of(|row| u64::from(row.nodes), "|N|"),
        of(|row| u64::from(row.nodes).pow(2), "|N| squared"),
    ];
    let what = (dimensions, "SSSP");
    (format!("calls-{dimensions}d"), over_nodes(&[], what, "Calls of BUILD_SSSP", &series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stage_saves_calls_and_they_lie_between_the_published_bounds() {
        for sizes in [&[5, 4][..], &[4, 3, 2], &[3, 2, 4, 2]] {
            let row = row(sizes);
            let nodes = u64::from(row.nodes);
            assert!(row.calls < row.calls_without_first_stage, "{row:?}");
            assert!(row.calls_without_first_stage >= nodes, "{row:?}");
            assert!(row.calls_without_first_stage <= nodes * nodes, "{row:?}");
        }
    }
}
