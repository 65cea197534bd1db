//! The readings of BFS beside \[angara-routing\], Table 2: which of them its authors can have
//! meant.

use serde::Serialize;

use super::Flawed;
use super::angara_table_2::BFS;
use super::tori::{PARTS, choices, fabric, table};
use flitlab_base::narrow::rounded;
use flitlab_fabric::Fabric;
use flitlab_routing::LoadFigures;
use flitlab_routing::angara::{Algorithm, Choices, Parameters, Reading};

/// The readings that are shown to people.
const SHOWN: usize = 8;

/// The result of a reading on 4, 8, 16 and 32 nodes, and its total distance from the published
/// values.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    key: &'static str,
    ties: &'static str,
    ends: &'static str,
    next: &'static str,
    numbering: &'static str,
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

/// A row a reading, the nearest to the published values first.
pub(super) fn rows() -> Result<Vec<Row>, Flawed> {
    let fabrics = PARTS.map(|(_, sizes)| fabric(sizes));
    let choices: Vec<Choices<'_>> = fabrics.iter().map(|it: &Fabric| choices(it)).collect();
    let mut rows = Reading::all()
        .map(|reading| row(&choices, reading))
        .collect::<Result<Vec<Row>, Flawed>>()?;
    rows.sort_by(|one, other| one.difference.total_cmp(&other.difference));
    Ok(rows)
}

fn row(choices: &[Choices<'_>], reading: Reading) -> Result<Row, Flawed> {
    let parameters = Parameters { bfs: reading, ..Parameters::default() };
    let loads = choices
        .iter()
        .map(|it| Ok(table(it, Algorithm::BFS, &parameters)?.1.load))
        .collect::<Result<Vec<LoadFigures>, Flawed>>()?;
    let (mut maximum, mut minimum, mut sigma) = (0, 0, 0.0);
    for (load, published) in loads.iter().zip(&BFS) {
        maximum += rounded::<u64>(load.maximum).abs_diff(published.0);
        minimum += rounded::<u64>(load.minimum).abs_diff(published.1);
        sigma += (load.sigma_4 - published.2).abs();
    }
    let [_, four, eight, sixteen, all] = &loads[..] else { unreachable!("a figure a part") };
    let [key, ties, ends, next, numbering] = reading.keys().map(|(_, word)| word);
    Ok(Row {
        key,
        ties,
        ends,
        next,
        numbering,
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
    })
}

pub(super) fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "{SHOWN} of the {} readings of bfs, the nearest first: maximum, minimum and sigma(4)\n\
         on 4, 8, 16 and 32 nodes, and the sum of their differences from the published values\n",
        rows.len()
    );
    let loads = |(maximum, minimum, sigma): (u64, u64, f64)| {
        format!("{:>9}", format!("{maximum} {minimum}")) + &format!("{sigma:>7.3}")
    };
    let line = |words: [&str; 5], all: [(u64, u64, f64); 4], difference: &str| {
        let words = format!(
            "{:<8} {:<11} {:<8} {:<6} {:<9}",
            words[0], words[1], words[2], words[3], words[4]
        );
        format!("{words}{}{difference:>8}\n", all.map(loads).concat())
    };
    for row in rows.iter().take(SHOWN) {
        text += &line(
            [row.key, row.ties, row.ends, row.next, row.numbering],
            [
                (row.maximum_4, row.minimum_4, row.sigma_4_4),
                (row.maximum_8, row.minimum_8, row.sigma_4_8),
                (row.maximum_16, row.minimum_16, row.sigma_4_16),
                (row.maximum_32, row.minimum_32, row.sigma_4_32),
            ],
            &format!("{:.3}", row.difference),
        );
    }
    let published = [1, 2, 3, 4].map(|place: usize| (BFS[place].0, BFS[place].1, BFS[place].2));
    text + &line(["published", "", "", "", ""], published, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reading_of_table_2_is_the_nearest() {
        let rows = rows().unwrap();
        assert_eq!(rows.len(), Reading::all().count());
        let nearest = &rows[0];
        let words = [nearest.key, nearest.ties, nearest.ends, nearest.next, nearest.numbering];
        assert_eq!(words, Reading::TABLE_2.keys().map(|(_, word)| word));
        assert_eq!((nearest.difference_maximum, nearest.difference_minimum), (3, 0));
        assert!(rows[1].difference > nearest.difference + 0.5, "{:?}", rows[1]);
    }
}
