//! The study of failures in the slides of \[nue\]: 25 tori with four terminals a switch, of whose
//! cables 1% have failed, routed with 8 virtual channels. The slides say which algorithms still
//! apply and how their run times compare.
//!
//! Open is which cables failed: here every torus loses 1% of its cables, rounded up, drawn at
//! random, another draw being made if they part it.

use std::fmt::Write;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::nue_tables::{
    COMPARED, Named, Row, VCS, figure, matrix, milliseconds, of, rows, time_figure, tori, torus,
};
use super::{Extent, Flawed, Progress, Reproduction};
use flitlab_base::registry;
use flitlab_tables::agnostic::Algorithm;

const SEED: u64 = 1;

/// The statements of the slides of \[nue\].
const PUBLISHED: [(registry::Row<Algorithm>, &str); 4] = [
    (Algorithm::TORUS_2QOS, "not fault-tolerant enough"),
    (Algorithm::LASH, "runs out of lanes"),
    (Algorithm::DFSSSP, "runs out of lanes"),
    (Algorithm::NUE, "always applies; at larger scale faster than dfsssp and lash"),
];

/// All tori under all algorithms.
///
/// # Errors
/// If a table is wrong.
pub fn nue_faults(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    let fabrics: Vec<Named> = tori(extent.quick).iter().map(|sizes| faulty(sizes)).collect();
    let rows = rows(&fabrics, &COMPARED, extent, progress)?;
    let title = "3D tori, 1% of the cables failed, 8 lanes";
    let load = |row: &Row| row.maximum_load.map(|load| load as f64);
    let figures = vec![
        ("times".into(), time_figure(&rows, &COMPARED, title)),
        ("loads".into(), figure(&rows, &COMPARED, title, "Edge-forwarding index", load)),
    ];
    Ok(Reproduction::of_rows("tables", &rows, text(&rows), figures))
}

/// A torus without some of its cables.
fn faulty(sizes: &[u32]) -> Named {
    let (name, cabling) = torus(sizes);
    let cables = cabling.cables().len();
    let failed = cables.div_ceil(100);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut order: Vec<usize> = (0..cables).collect();
    loop {
        let (chosen, _) = order.partial_shuffle(&mut random, failed);
        let mut rest = cabling.clone();
        rest.remove(chosen);
        if let Ok(fabric) = rest.fabric() {
            return Named { name, fabric, failed_cables: failed };
        }
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = matrix(rows, &COMPARED, "CPU time in ms", milliseconds);
    let load = |row: &Row| row.maximum_load.map(|load| load.to_string());
    text += &matrix(rows, &COMPARED, "\nedge-forwarding index", load);
    text += "-: no table; *: a table with which packets can deadlock\n";
    let line = |cells: [&str; 5]| {
        let [name, tables, vcs, first, slides] = cells;
        format!("{name:<17}{tables:>9}{vcs:>10}  {first:<12}{slides}").trim_end().to_owned() + "\n"
    };
    text.push('\n');
    text += &line(["", "tori with", "lanes at", "first", ""]);
    text += &line(["algorithm", "a table", "most", "without", "slides"]);
    for algorithm in COMPARED {
        let good = || of(rows, algorithm).filter(|row| row.applies);
        let bad = of(rows, algorithm).find(|row| !row.applies);
        let published = PUBLISHED.iter().find(|(other, _)| *other == algorithm);
        let vcs = good().filter_map(|row| row.vcs).max();
        text += &line([
            algorithm.name,
            &good().count().to_string(),
            &vcs.map_or("-".into(), |vcs| vcs.to_string()),
            bad.map_or("none", |row| &row.fabric),
            published.map_or("", |(_, statement)| statement),
        ]);
    }
    text += "\nwhy there is no table, at the first such torus:\n";
    for algorithm in COMPARED {
        if let Some(reason) = of(rows, algorithm).find_map(|row| row.reason.as_ref()) {
            let _ = writeln!(text, "  {:<17}{reason}", algorithm.name);
        }
    }
    text += &comparison(rows);
    text
}

/// On how many tori Nue took less time than others did, tables or none.
fn comparison(rows: &[Row]) -> String {
    let mut text = String::new();
    for other in [Algorithm::DFSSSP, Algorithm::LASH] {
        let pairs = || of(rows, Algorithm::NUE).zip(of(rows, other)).filter(|pair| pair.1.applies);
        let faster = pairs().filter(|(nue, other)| nue.cpu_seconds < other.cpu_seconds).count();
        let _ = writeln!(
            text,
            "nue is faster than {} on {faster} of the {} tori where that has a table for {VCS} lanes",
            other.name,
            pairs().count()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn there_are_25_tori_and_each_has_lost_a_cable() {
        let all = tori(false);
        assert_eq!((all.len(), &all[1][..], &all[24][..]), (25, &[2, 2, 3][..], &[10, 10, 10][..]));
        let (small, large) = (faulty(&[2, 2, 2]), faulty(&[6, 6, 6]));
        assert_eq!((small.failed_cables, large.failed_cables), (1, 7));
        assert_eq!(large.fabric.channels(), 2 * (3 * 216 - 7));
    }

    #[test]
    fn nue_always_applies() {
        let found = nue_faults(SAMPLE, &mut |_, _, _| {}).unwrap();
        let rows = found.json.as_array().unwrap();
        assert_eq!(rows.len(), 4 * COMPARED.len());
        let always = |row: &&serde_json::Value| {
            ["nue", "nue-balanced", "up-down"].contains(&row["algorithm"].as_str().unwrap())
        };
        assert!(rows.iter().filter(always).all(|row| row["applies"] == true));
        let order = rows.iter().find(|row| row["algorithm"] == "dimension-order").unwrap();
        assert_eq!(order["applies"], false, "a cable of 2x2x2 has failed");
        assert!(found.text.contains("nue is faster than dfsssp"), "{}", found.text);
    }
}
