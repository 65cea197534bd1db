//! The readings of BFS and SSSP beside \[angara-routing\], Table 2: which of them its authors can
//! have meant.

use serde::Serialize;

use super::Flawed;
use super::angara_table_2::{BFS, PublishedRow, SSSP};
use super::tori::{PARTS, fabric, table};
use flitlab_base::narrow::rounded;
use flitlab_base::registry;
use flitlab_fabric::Fabric;
use flitlab_tables::angara::{Algorithm, Choices, Freedoms, Parameters, Reading, SsspReading};
use flitlab_tables::{LoadFigures, Region};

/// The readings that are shown to people.
const SHOWN: usize = 8;

/// The result of a reading on 4, 8, 16 and 32 nodes, and its total distance from the published
/// values.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// The words of its keys.
    pub reading: String,
    maximum_4: u64,
    minimum_4: u64,
    sigma_4_4: f64,
    maximum_8: u64,
    minimum_8: u64,
    sigma_4_8: f64,
    maximum_16: u64,
    minimum_16: u64,
    sigma_4_16: f64,
    maximum_32: u64,
    minimum_32: u64,
    sigma_4_32: f64,
    /// Differences of maximum loads, without their signs, in all rows of Table 2.
    difference_maximum: u64,
    difference_minimum: u64,
    difference_sigma_4: f64,
    /// Of all three.
    difference: f64,
}

/// A row a reading of BFS, the nearest to the published values first.
pub(super) fn of_bfs() -> Result<Vec<Row>, Flawed> {
    let readings = Reading::all().filter(Reading::is_of_the_paper).map(|reading| {
        let words = reading.keys().map(|(_, word)| word).join(", ");
        (words, Parameters { bfs: reading, ..Parameters::default() })
    });
    rows(Algorithm::BFS, &BFS, Freedoms::default(), readings.collect())
}

/// A row a reading of SSSP, with added edges and without, the nearest first.
pub(super) fn of_sssp() -> Result<Vec<Row>, Flawed> {
    let mut all = Vec::new();
    for (edges, relaxation) in [("added edges", true), ("no added edges", false)] {
        let freedoms = Freedoms { relaxation, ..Freedoms::default() };
        let readings = SsspReading::all().map(|reading| {
            let words = reading.keys().map(|(_, word)| word).join(", ");
            let parameters = Parameters { freedoms, sssp: reading, ..Parameters::default() };
            (format!("{edges}, {words}"), parameters)
        });
        all.extend(rows(Algorithm::SSSP, &SSSP, freedoms, readings.collect())?);
    }
    all.sort_by(|one, other| one.difference.total_cmp(&other.difference));
    Ok(all)
}

fn rows(
    algorithm: registry::Row<Algorithm>,
    published: &[PublishedRow],
    freedoms: Freedoms,
    readings: Vec<(String, Parameters)>,
) -> Result<Vec<Row>, Flawed> {
    let fabrics = PARTS.map(|(_, sizes)| fabric(sizes));
    let choices: Vec<Choices<'_>> =
        fabrics.iter().map(|it: &Fabric| Choices::new(Region::new(it), freedoms)).collect();
    let row = |(reading, parameters): (String, Parameters)| {
        let loads = choices
            .iter()
            .map(|it| Ok(table(it, algorithm, &parameters)?.1.load))
            .collect::<Result<Vec<LoadFigures>, Flawed>>()?;
        Ok(row(reading, &loads, published))
    };
    let mut rows = readings.into_iter().map(row).collect::<Result<Vec<Row>, Flawed>>()?;
    rows.sort_by(|one, other| one.difference.total_cmp(&other.difference));
    Ok(rows)
}

fn row(reading: String, loads: &[LoadFigures], published: &[PublishedRow]) -> Row {
    let (mut maximum, mut minimum, mut sigma) = (0, 0, 0.0);
    for (load, published) in loads.iter().zip(published) {
        maximum += rounded::<u64>(load.maximum).abs_diff(published.0);
        minimum += rounded::<u64>(load.minimum).abs_diff(published.1);
        sigma += (load.sigma_4 - published.2).abs();
    }
    let [_, four, eight, sixteen, all] = loads else { unreachable!("a figure a part") };
    Row {
        reading,
        maximum_4: rounded(four.maximum),
        minimum_4: rounded(four.minimum),
        sigma_4_4: four.sigma_4,
        maximum_8: rounded(eight.maximum),
        minimum_8: rounded(eight.minimum),
        sigma_4_8: eight.sigma_4,
        maximum_16: rounded(sixteen.maximum),
        minimum_16: rounded(sixteen.minimum),
        sigma_4_16: sixteen.sigma_4,
        maximum_32: rounded(all.maximum),
        minimum_32: rounded(all.minimum),
        sigma_4_32: all.sigma_4,
        difference_maximum: maximum,
        difference_minimum: minimum,
        difference_sigma_4: sigma,
        difference: (maximum + minimum) as f64 + sigma,
    }
}

/// The nearest readings of both algorithms.
pub(super) fn text(of_bfs: &[Row], of_sssp: &[Row]) -> String {
    let mut text =
        part("bfs", "bfs_key, bfs_ties, bfs_ends, bfs_next, bfs_numbering", of_bfs, &BFS);
    text += "\n";
    let words = "relaxation, sssp_unique, sssp_groups, sssp_ties, sssp_order, sssp_numbering";
    text += &part("sssp", words, of_sssp, &SSSP);
    let highest = |of: fn(&Row) -> u64| of_sssp.iter().map(of).max().unwrap_or(0);
    let lowest = |of: fn(&Row) -> u64| of_sssp.iter().map(of).min().unwrap_or(0);
    let range = |of: fn(&Row) -> u64| format!("{} to {}", lowest(of), highest(of));
    text + &format!(
        "maximum loads of all of these: {} on 8 nodes, {} on 16, {} on 32\n",
        range(|row| row.maximum_8),
        range(|row| row.maximum_16),
        range(|row| row.maximum_32)
    )
}

fn part(algorithm: &str, words: &str, rows: &[Row], published: &[PublishedRow]) -> String {
    let mut text = format!(
        "{SHOWN} of the {} readings of {algorithm}, the nearest first ({words}):\n\
         maximum, minimum and sigma(4) on 4, 8, 16 and 32 nodes, and the sum of their differences\n\
         from the published values\n",
        rows.len()
    );
    let width = rows.iter().take(SHOWN).map(|row| row.reading.len()).max().unwrap_or(0);
    let loads = |(maximum, minimum, sigma): (u64, u64, f64)| {
        format!("{:>9}", format!("{maximum} {minimum}")) + &format!("{sigma:>7.3}")
    };
    let line = |reading: &str, all: [(u64, u64, f64); 4], difference: &str| {
        format!("{reading:<width$}{}{difference:>8}\n", all.map(loads).concat())
    };
    for row in rows.iter().take(SHOWN) {
        text += &line(
            &row.reading,
            [
                (row.maximum_4, row.minimum_4, row.sigma_4_4),
                (row.maximum_8, row.minimum_8, row.sigma_4_8),
                (row.maximum_16, row.minimum_16, row.sigma_4_16),
                (row.maximum_32, row.minimum_32, row.sigma_4_32),
            ],
            &format!("{:.3}", row.difference),
        );
    }
    let of = |place: usize| (published[place].0, published[place].1, published[place].2);
    text + &line("published", [1, 2, 3, 4].map(of), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reading_of_table_2_is_the_nearest() {
        let rows = of_bfs().unwrap();
        assert_eq!(rows.len(), 96);
        let nearest = &rows[0];
        assert_eq!(nearest.reading, Reading::TABLE_2.keys().map(|(_, word)| word).join(", "));
        assert_eq!((nearest.difference_maximum, nearest.difference_minimum), (3, 0));
        assert!(rows[1].difference > nearest.difference + 0.5, "{:?}", rows[1]);
    }
}
