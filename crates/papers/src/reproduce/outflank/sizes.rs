//! Whether the gain of OutFlank Routing over Pick Orthant Routing grows with the network, as
//! \[outflank\], section 4.1, has it of k = 8 and 16 in three dimensions: larger tori, and tori of
//! four to six dimensions.
//!
//! The loads are those of Table 2's search, by its ratio of lifetimes; nodes create fewer messages,
//! so that 32,768 nodes take minutes a load. With these, the loads of k = 8 and 16 are found, too.

use serde::Serialize;

use super::super::{Extent, Progress, Reproduction, all};
use super::{LOADS, PATTERNS, ROUTINGS, SEED, last_that_holds, limit_of};
use flitlab_fabric::{Torus, sizes_text};
use flitlab_output_queued::{Parameters, RunTotals, Settings, simulate_within};
use flitlab_report::figure::{Figure, Scale, Series, Style, xy_figure_among};
use flitlab_routing::adaptive::Tie;
use flitlab_traffic::PatternSpec;

const MESSAGES: u32 = 8;

const TORI: [&[u32]; 8] = [
    &[8, 8, 8],
    &[16, 16, 16],
    &[32, 32, 32],
    &[4, 4, 4, 4],
    &[8, 8, 8, 8],
    &[4, 4, 4, 4, 4],
    &[8, 8, 8, 8, 8],
    &[4, 4, 4, 4, 4, 4],
];

/// A quick run has the tori up to so many nodes.
const QUICK_NODES: u32 = 512;

/// Of [`PATTERNS`]: those that mean the same on all of these tori.
const OF_ALL: [&str; 3] = ["butterfly", "uniform", "bit-reverse"];

/// What a routing sustains.
#[derive(Clone, Debug, Serialize)]
struct Row {
    torus: String,
    dimensions: usize,
    nodes: u32,
    pattern: &'static str,
    routing: &'static str,
    sustained_load: f64,
    mean_lifetime_us_at_lowest: f64,
    /// At the sustained load.
    mean_lifetime_us: f64,
    derouted_share: f64,
}

#[derive(Clone, Copy)]
struct Case {
    sizes: &'static [u32],
    /// The pattern's name, and its own with its keys.
    pattern: (&'static str, &'static str, &'static str),
    routing: usize,
}

/// Finds what Pick Orthant and OutFlank Routing sustain on each torus.
pub fn outflank_sizes(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let nodes = |sizes: &[u32]| sizes.iter().product::<u32>();
    let mut tori = TORI.to_vec();
    tori.retain(|sizes| !extent.quick || nodes(sizes) <= QUICK_NODES);
    let mut cases = Vec::new();
    for &sizes in &tori {
        for pattern in PATTERNS.into_iter().filter(|it| OF_ALL.contains(&it.0)) {
            // All but the adaptive bubble router.
            cases.extend((1..ROUTINGS.len()).map(|routing| Case { sizes, pattern, routing }));
        }
    }
    // The longest first.
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(nodes(cases[place].sizes)));
    let note = |found: &(usize, Row)| line(&found.1);
    let mut found =
        all(&order, extent, |&place| (place, row(cases[place], extent)), note, progress);
    found.sort_by_key(|found| found.0);
    let rows: Vec<Row> = found.into_iter().map(|found| found.1).collect();
    let figure = vec![("gains".to_owned(), figure(&rows))];
    Reproduction::of_rows("sustained", &rows, text(&rows), figure)
}

fn row(case: Case, extent: Extent<'_>) -> Row {
    let Case { sizes, pattern: (pattern, name, keys), routing } = case;
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    let parameters = Parameters { messages: MESSAGES, ..Parameters::FOUR_TIMES_FASTER };
    let measure = |load: f64, limit: u128| -> Option<RunTotals> {
        let settings = Settings {
            pattern: PatternSpec::new(name, keys),
            load,
            routing: ROUTINGS[routing].1,
            tie: Tie::Plus,
            seed: SEED,
        };
        extent.simulated(&format!("within {limit} {torus:?} {parameters:?} {settings:?}"), || {
            simulate_within(&torus, &parameters, &settings, limit)
                .unwrap_or_else(|error| panic!("{pattern}: {error}"))
        })
    };
    let grid: Vec<f64> =
        (LOADS.0..=LOADS.2).step_by(LOADS.1 as usize).map(|load| f64::from(load) / 100.0).collect();
    let lowest = measure(grid[0], u128::MAX).expect("there is no limit");
    let limit = limit_of(&lowest);
    let mut last = lowest;
    // Begins where Table 2's loads are.
    let place = last_that_holds(grid.len(), grid.len() / 2 - 1, |place| {
        let found = measure(grid[place], limit);
        if let Some(found) = found {
            last = found;
        }
        found.is_some()
    });
    Row {
        torus: sizes_text(sizes),
        dimensions: sizes.len(),
        nodes: torus.nodes(),
        pattern,
        routing: ROUTINGS[routing].0,
        sustained_load: grid[place],
        mean_lifetime_us_at_lowest: lowest.mean_lifetime() / 1e6,
        mean_lifetime_us: last.mean_lifetime() / 1e6,
        derouted_share: last.derouted() as f64 / last.packets as f64,
    }
}

fn line(row: &Row) -> String {
    format!("{} {}, {}: {:.2}", row.torus, row.pattern, row.routing, row.sustained_load)
}

/// By torus and pattern: what both sustain, and OFR over POR.
fn gains(rows: &[Row]) -> impl Iterator<Item = (&Row, &Row, f64)> {
    rows.chunks_exact(2).map(|pair| {
        let [por, ofr] = pair else { unreachable!("pairs") };
        (por, ofr, ofr.sustained_load / por.sustained_load - 1.0)
    })
}

fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<14}{:>7}  {:<13}{:>6}{:>6}  OFR over POR\n",
        "torus", "nodes", "pattern", "POR", "OFR"
    );
    for (por, ofr, gain) in gains(rows) {
        text += &format!(
            "{:<14}{:>7}  {:<13}{:>6.2}{:>6.2}  {:+.0}%\n",
            por.torus,
            por.nodes,
            por.pattern,
            por.sustained_load,
            ofr.sustained_load,
            100.0 * gain
        );
    }
    text
}

/// The gain over the nodes, of each pattern in three dimensions and in more.
fn figure(rows: &[Row]) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for pattern in OF_ALL {
        for (cubes, dimensions) in [(true, "3D"), (false, "4D to 6D")] {
            let of = |(por, ..): &(&Row, &Row, f64)| {
                por.pattern == pattern && (por.dimensions == 3) == cubes
            };
            let point = |(por, _, gain): (&Row, &Row, f64)| (f64::from(por.nodes), 100.0 * gain);
            series.push(Series {
                label: format!("{pattern}, {dimensions}"),
                style: if cubes { Style::Curve } else { Style::Dots },
                points: gains(rows).filter(of).map(point).collect(),
            });
        }
    }
    let x = ("Nodes", Scale::Logarithmic);
    let y = ("OFR over POR, sustained load (%)", Scale::Linear);
    xy_figure_among(&OF_ALL, "Tori of 256 to 32,768 nodes, the paper's router", x, y, &series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With fewer messages the loads of k = 8 are those of Table 2's search.
    #[test]
    fn fewer_messages_sustain_the_same_on_the_small_torus() {
        let extent = crate::reproduce::SAMPLE;
        for (pattern, por, ofr) in [("butterfly", 0.55, 0.60), ("bit-reverse", 0.60, 0.50)] {
            let pattern = PATTERNS.into_iter().find(|it| it.0 == pattern).unwrap();
            for (routing, published) in [(1, por), (2, ofr)] {
                let row = row(Case { sizes: TORI[0], pattern, routing }, extent);
                assert!((row.sustained_load - published).abs() < 0.051, "{row:?}");
            }
        }
    }
}
