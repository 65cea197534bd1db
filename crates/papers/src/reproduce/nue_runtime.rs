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
use flitlab_scenario::{Document, Network};
use flitlab_tables::agnostic::{ALGORITHMS, Algorithm};

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

/// Routers from which on the time of a table is taken for a power of their number.
const LARGE: f64 = 216.0;

/// The exponent of a power law through points of router numbers and times, by least squares of the
/// logarithms; `None` if there are fewer than five large enough ones.
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.filter(|point| point.0 >= LARGE).collect();
    (points.len() >= 5).then(|| slope(&points))
}

/// The exponent of a power law through points, by least squares of the logarithms.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = points.len() as f64;
    let (x_mean, y_mean) =
        points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let covariance: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    covariance / points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum::<f64>()
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
    let fitted: Vec<String> = algorithms
        .iter()
        .filter_map(|&algorithm| {
            let points = of(tori, algorithm).filter(|row| row.maximum_load.is_some());
            let points = points.map(|row| (f64::from(row.routers), row.cpu_seconds));
            Some(format!("{} {:.2}", algorithm.name, exponent(points)?))
        })
        .collect();
    if !fitted.is_empty() {
        let _ = writeln!(
            text,
            "CPU time as a power of the number of switches, fitted to the tori of {LARGE} and more: {}\n",
            fitted.join(", ")
        );
    }
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

    #[test]
    fn exponents_are_those_of_a_power() {
        let power = |exponent: f64| {
            (5..=10).map(move |side| {
                (f64::from(side).powi(3), 2e-6 * f64::from(side).powf(3.0 * exponent))
            })
        };
        assert!((exponent(power(2.0)).unwrap() - 2.0).abs() < 1e-9);
        assert!((exponent(power(2.7)).unwrap() - 2.7).abs() < 1e-9);
        assert_eq!(exponent(power(2.0).take(5)), None, "one of five is too small");
    }

    /// The exponents in the table of docs/papers/nue.md, those aside that are of other fabrics.
    #[test]
    fn the_page_has_the_exponents_of_the_committed_times() {
        let at = |file: &str| format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
        let mut tori = csv::Reader::from_path(at("results/nue/runtime/tori.csv")).unwrap();
        let rows: Vec<std::collections::HashMap<String, String>> =
            tori.deserialize().collect::<Result<_, _>>().unwrap();
        let page = std::fs::read_to_string(at("docs/papers/nue.md")).unwrap();
        let mut seen = 0;
        for line in page.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = line.trim_end_matches(" |").rsplit(" | ").collect();
            let (Some(name), Some(time)) = (line.split('`').nth(1), cells[0].rsplit("; ").next())
            else {
                continue;
            };
            let Ok(shown) = time.parse::<f64>() else { continue };
            let own = rows.iter().filter(|row| row["algorithm"] == name);
            let made = own.filter(|row| !row["maximum_load"].is_empty());
            let points = made.map(|row| {
                (row["routers"].parse::<f64>().unwrap(), row["cpu_seconds"].parse::<f64>().unwrap())
            });
            if let Some(fitted) = exponent(points) {
                assert!((fitted - shown).abs() < 0.0051, "{name}: {shown}, {fitted}");
                seen += 1;
            }
        }
        assert!(seen >= 9, "{seen}");
    }
}
