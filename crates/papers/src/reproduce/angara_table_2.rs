//! \[angara-routing\], Table 2: routing tables of parts of Desmos.

use serde::Serialize;

use super::tori::{PARTS, choices, fabric, table};
use super::{Flawed, Reproduction, angara_readings, json};
use flitlab_base::narrow::rounded;
use flitlab_base::registry;
use flitlab_fabric::sizes_text;
use flitlab_report::rows_text;
use flitlab_tables::angara::{Algorithm, Parameters, Reading};

/// Maximum and minimum load, sigma(4), diameter.
pub(super) type PublishedRow = (u64, u64, f64, u32);

/// BFS as published, in the order of [`PARTS`].
pub(super) const BFS: [PublishedRow; 5] =
    [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (6, 2, 1.429, 3), (18, 3, 4.341, 4), (48, 3, 12.254, 5)];

/// SSSP as published.
pub(super) const SSSP: [PublishedRow; 5] =
    [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (5, 3, 0.707, 3), (12, 3, 2.319, 4), (28, 8, 6.298, 5)];

/// All as published.
const TABLE_2: [(registry::Row<Algorithm>, [PublishedRow; 5]); 3] = [
    (Algorithm::BFS, BFS),
    (
        Algorithm::GENETIC,
        [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (4, 4, 0.0, 3), (11, 5, 1.745, 4), (27, 8, 6.274, 5)],
    ),
    (Algorithm::SSSP, SSSP),
];

#[derive(Debug, Serialize)]
struct Row {
    algorithm: &'static str,
    nodes: u32,
    torus: String,
    maximum_load: u64,
    minimum_load: u64,
    sigma_4: f64,
    hops_maximum: u32,
    published_maximum_load: Option<u64>,
    published_minimum_load: Option<u64>,
    published_sigma_4: Option<f64>,
    published_hops_maximum: Option<u32>,
}

/// The tables of all four algorithms, BFS in the reading that comes nearest, and what each reading
/// of BFS and of SSSP gives.
///
/// # Errors
/// If one of them is wrong.
pub fn angara_table_2() -> Result<Reproduction, Flawed> {
    let rows = rows()?;
    let of_bfs = angara_readings::of_bfs()?;
    let of_sssp = angara_readings::of_sssp()?;
    Ok(Reproduction {
        text: text(&rows) + "\n" + &angara_readings::text(&of_bfs, &of_sssp),
        tables: vec![
            ("table", rows_text(&rows)),
            ("readings", rows_text(&of_bfs)),
            ("sssp-readings", rows_text(&of_sssp)),
        ],
        figures: Vec::new(),
        json: serde_json::json!({
            "table": json(&rows), "readings": json(&of_bfs), "sssp_readings": json(&of_sssp),
        }),
    })
}

fn rows() -> Result<Vec<Row>, Flawed> {
    let mut rows = Vec::new();
    let parameters = Parameters { bfs: Reading::TABLE_2, ..Parameters::default() };
    let compared = TABLE_2.map(|(algorithm, _)| algorithm).into_iter().chain([Algorithm::BALANCED]);
    for algorithm in compared {
        let published = TABLE_2.iter().find(|(other, _)| *other == algorithm);
        for (place, (nodes, sizes)) in PARTS.into_iter().enumerate() {
            let fabric = fabric(sizes);
            let (_, quality, _) = table(&choices(&fabric), algorithm, &parameters)?;
            let published = published.map(|(_, rows)| rows[place]);
            rows.push(Row {
                algorithm: algorithm.name,
                nodes,
                torus: sizes_text(sizes),
                maximum_load: rounded(quality.load.maximum),
                minimum_load: rounded(quality.load.minimum),
                sigma_4: quality.load.sigma_4,
                hops_maximum: quality.hops_maximum,
                published_maximum_load: published.map(|row| row.0),
                published_minimum_load: published.map(|row| row.1),
                published_sigma_4: published.map(|row| row.2),
                published_hops_maximum: published.map(|row| row.3),
            });
        }
    }
    Ok(rows)
}

fn shown(value: Option<impl ToString>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

fn text(rows: &[Row]) -> String {
    let head = ["max", "min", "sigma4", "max D"];
    let columns = |of: [&str; 4]| format!("{:>4} {:>4} {:>7} {:>6}", of[0], of[1], of[2], of[3]);
    let mut text = format!("{:<26}{:<24}  {:<24}\n", "", "ours", "published");
    text += &format!(
        "{:<10} {:>5} {:<8}  {}  {}\n",
        "algorithm",
        "nodes",
        "torus",
        columns(head),
        columns(head)
    );
    for row in rows {
        let ours = [
            &row.maximum_load.to_string(),
            &row.minimum_load.to_string(),
            &format!("{:.3}", row.sigma_4),
            &row.hops_maximum.to_string(),
        ];
        let published = [
            &shown(row.published_maximum_load),
            &shown(row.published_minimum_load),
            &row.published_sigma_4.map_or("-".into(), |sigma| format!("{sigma:.3}")),
            &shown(row.published_hops_maximum),
        ];
        text += &format!(
            "{:<10} {:>5} {:<8}  {}  {}\n",
            row.algorithm,
            row.nodes,
            row.torus,
            columns(ours.map(String::as_str)),
            columns(published.map(String::as_str))
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_desmos_are_as_good_as_published_or_better() {
        let rows = rows().unwrap();
        for row in &rows {
            assert!(row.published_maximum_load.is_none_or(|it| row.maximum_load <= it), "{row:?}");
            assert!(row.published_hops_maximum.is_none_or(|it| row.hops_maximum == it), "{row:?}");
        }
        let maximum = |algorithm: &str, nodes| {
            let of = |row: &&Row| row.algorithm == algorithm && row.nodes == nodes;
            rows.iter().find(of).unwrap().maximum_load
        };
        assert!(maximum("bfs", 32) > maximum("genetic", 32));
        assert_eq!([8, 16, 32].map(|nodes| maximum("balanced", nodes)), [4, 10, 26]);
    }
}
