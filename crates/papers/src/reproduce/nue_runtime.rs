//! CPU time of making routing tables: every algorithm on the seven fabrics that the slides of
//! \[nue\] compare, and over the size of a torus in which nothing has failed. The slides show run
//! times only on tori with failures ([`nue_faults`](super::nue_faults)); what they say of them is
//! that Nue is faster than DFSSSP and LASH at larger scale.

use std::fmt::Write;

use super::nue_tables::{
    COMPARED, FABRICS, Named, Row, matrix, milliseconds, of, rows, time_figure, tori, torus,
};
use super::{Extent, Flawed, Progress, Reproduction, json};
use flitlab_base::registry;
use flitlab_report::rows_text;
use flitlab_routing::agnostic::{ALGORITHMS, Algorithm};
use flitlab_scenario::{Document, Network};

/// The two quick fabrics of the seven.
const QUICK: [&str; 2] = ["10-ary 3-tree", "kautz"];

/// All fabrics under all algorithms.
///
/// # Errors
/// If a table is wrong.
pub fn nue_runtime(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    let algorithms = ALGORITHMS;
    let mut fabrics: Vec<Named> = FABRICS
        .iter()
        .filter(|(name, _)| !extent.quick || QUICK.contains(name))
        .map(described)
        .collect();
    let count = fabrics.len() * algorithms.len();
    fabrics.extend(tori(extent.quick).iter().map(|sizes| torus_of(sizes)));
    let mut rows = rows(&fabrics, &algorithms, extent, progress)?;
    let tori = rows.split_off(count);
    let figure = time_figure(&tori, &COMPARED, "3D tori, 8 lanes");
    Ok(Reproduction {
        text: text(&rows, &tori, &algorithms),
        tables: vec![("fabrics", rows_text(&rows)), ("tori", rows_text(&tori))],
        figures: vec![("times".into(), figure)],
        json: serde_json::json!({ "fabrics": json(&rows), "tori": json(&tori) }),
    })
}

/// A fabric whose key in `[topology]` is given.
fn described(&(name, topology): &(&str, &str)) -> Named {
    let document = Document::parse(name, &format!("topology.{topology}\n"));
    let network = Network::read(&document).expect("a fabric in which nothing has failed");
    Named { name: name.into(), fabric: network.fabric.clone(), failed_cables: 0 }
}

fn torus_of(sizes: &[u32]) -> Named {
    let (name, cabling) = torus(sizes);
    Named { name, fabric: cabling.fabric().expect("nothing has failed"), failed_cables: 0 }
}

fn text(fabrics: &[Row], tori: &[Row], algorithms: &[registry::Row<Algorithm>]) -> String {
    let mut text = String::new();
    // Narrow enough for a terminal.
    for (some, part) in algorithms.chunks(algorithms.len().div_ceil(2)).zip(["", ", continued"]) {
        let title = format!("CPU time in ms{part}");
        text += &matrix(fabrics, some, &title, milliseconds);
        text.push('\n');
    }
    text += &matrix(tori, &COMPARED, "CPU time in ms, tori with nothing failed", milliseconds);
    text += "-: no table; *: a table with which packets can deadlock\n\n";
    for other in [Algorithm::DFSSSP, Algorithm::LASH] {
        let pairs = || of(tori, Algorithm::NUE).zip(of(tori, other)).filter(|pair| pair.1.applies);
        let ratio = |(nue, other): (&Row, &Row)| other.cpu_seconds / nue.cpu_seconds;
        if let Some((nue, last)) = pairs().last() {
            let _ = writeln!(
                text,
                "{} takes {:.2} times as long as nue on {}, the largest torus for which it has a table \
                 (slides: nue is faster at larger scale)",
                other.name,
                ratio((nue, last)),
                last.fabric
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn every_algorithm_is_timed_on_every_fabric() {
        let found = nue_runtime(SAMPLE, &mut |_, _, _| {}).unwrap();
        let fabrics = found.json["fabrics"].as_array().unwrap();
        assert_eq!(fabrics.len(), 2 * ALGORITHMS.len());
        let on_tree = |algorithm: &str| {
            fabrics.iter().find(|row| row["algorithm"] == algorithm).unwrap()["applies"] == true
        };
        assert!(on_tree("d-mod-k") && on_tree("nue") && !on_tree("torus-2qos"));
        // Columns have the values of their algorithms.
        let line = found.text.lines().find(|line| line.starts_with("3x3x3")).unwrap();
        let tori = found.json["tori"].as_array().unwrap();
        for (cell, algorithm) in line.split_whitespace().skip(1).zip(COMPARED) {
            let row = |row: &&serde_json::Value| {
                row["fabric"] == "3x3x3" && row["algorithm"] == algorithm.name
            };
            let seconds = tori.iter().find(row).unwrap()["cpu_seconds"].as_f64().unwrap();
            if let Ok(shown) = cell.trim_end_matches('*').parse::<f64>() {
                assert!((shown / (1e3 * seconds) - 1.0).abs() < 0.01, "{algorithm:?}: {line}");
            }
        }
    }
}
