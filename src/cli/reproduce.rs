//! `flitlab reproduce`: published results computed again, beside the published values.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Failure;
use super::summary::{print_json, print_text};
use crate::routing::angara::{ALGORITHMS, Algorithm, Choices, Freedoms};
use crate::routing::{Quality, Region, prove};
use crate::topology::{Faults, Torus};

/// Compute a published result again and print it beside the published values
#[derive(Debug, Args)]
pub(super) struct Reproduce {
    result: Published,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Published {
    /// Mukosey et al., "Optimized Graph Based Routing Algorithm for the Angara Interconnect", Table 2:
    /// routing tables of parts of Desmos
    AngaraTable2,
}

/// The seed of the Genetic algorithm.
const SEED: u64 = 1;

/// The parts of Desmos that Table 2's figures allow: nodes, then sizes. It names the numbers only.
const PARTS: [(u32, &[u32]); 5] =
    [(2, &[2]), (4, &[4]), (8, &[4, 2]), (16, &[4, 2, 2]), (32, &[4, 2, 2, 2])];

/// Maximum and minimum load, sigma(4), diameter.
type PublishedRow = (u32, u32, f64, u32);

/// As published, in the order of [`PARTS`].
const TABLE_2: [(Algorithm, [PublishedRow; 5]); 3] = [
    (
        Algorithm::Bfs,
        [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (6, 2, 1.429, 3), (18, 3, 4.341, 4), (48, 3, 12.254, 5)],
    ),
    (
        Algorithm::Genetic,
        [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (4, 4, 0.0, 3), (11, 5, 1.745, 4), (27, 8, 6.274, 5)],
    ),
    (
        Algorithm::Sssp,
        [(1, 1, 0.0, 1), (2, 2, 0.0, 2), (5, 3, 0.707, 3), (12, 3, 2.319, 4), (28, 8, 6.298, 5)],
    ),
];

/// One table's figures.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figures {
    maximum_load: u32,
    minimum_load: u32,
    sigma_4: f64,
    hops_maximum: u32,
}

#[derive(Debug, Serialize)]
struct Row {
    algorithm: &'static str,
    nodes: u32,
    sizes: &'static [u32],
    ours: Figures,
    published: Option<Figures>,
}

impl Reproduce {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let Published::AngaraTable2 = self.result;
        let rows = table_2()?;
        if self.json { print_json(&rows) } else { print_text(&text(&rows)) }
    }
}

fn table_2() -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (name, algorithm) in ALGORITHMS {
        let published = TABLE_2.iter().find(|(other, _)| *other == algorithm);
        for (place, &(nodes, sizes)) in PARTS.iter().enumerate() {
            let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
            let fabric = torus.fabric(&Faults::default()).expect("nothing has failed");
            let freedoms = Freedoms::default();
            let choices = Choices::new(Region::new(&fabric), freedoms);
            let table = algorithm.table(&choices, freedoms, SEED).table;
            let proof = prove(&fabric, &table);
            if let Some(flaw) = proof.flaws.first() {
                return Err(Failure::Check(format!("error: {}", flaw.describe(&fabric))));
            }
            let quality = Quality::new(choices.region(), &table);
            let ours = Figures {
                maximum_load: quality.maximum_load,
                minimum_load: quality.minimum_load,
                sigma_4: quality.sigma(4),
                hops_maximum: quality.hops_maximum,
            };
            let published = published.map(|(_, rows)| {
                let (maximum_load, minimum_load, sigma_4, hops_maximum) = rows[place];
                Figures { maximum_load, minimum_load, sigma_4, hops_maximum }
            });
            rows.push(Row { algorithm: name, nodes, sizes, ours, published });
        }
    }
    Ok(rows)
}

fn text(rows: &[Row]) -> String {
    let columns = |figures: Option<Figures>| match figures {
        Some(it) => format!(
            "{:>4} {:>4} {:>7.3} {:>6}",
            it.maximum_load, it.minimum_load, it.sigma_4, it.hops_maximum
        ),
        None => format!("{:>4} {:>4} {:>7} {:>6}", "-", "-", "-", "-"),
    };
    let mut text = format!(
        "{:<10} {:>5} {:<8}  {:<24}  {:<24}\n{:<10} {:>5} {:<8}  {:>4} {:>4} {:>7} {:>6}  {:>4} {:>4} \
         {:>7} {:>6}\n",
        "",
        "",
        "",
        "ours",
        "published",
        "algorithm",
        "nodes",
        "torus",
        "max",
        "min",
        "sigma4",
        "max D",
        "max",
        "min",
        "sigma4",
        "max D"
    );
    for row in rows {
        let sizes: Vec<String> = row.sizes.iter().map(u32::to_string).collect();
        text += &format!(
            "{:<10} {:>5} {:<8}  {}  {}\n",
            row.algorithm,
            row.nodes,
            sizes.join("x"),
            columns(Some(row.ours)),
            columns(row.published)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_desmos_are_as_good_as_published_or_better() {
        let rows = table_2().unwrap();
        for row in &rows {
            let (ours, published) = (row.ours, row.published);
            if let Some(published) = published {
                assert!(ours.maximum_load <= published.maximum_load, "{row:?}");
                assert_eq!(ours.hops_maximum, published.hops_maximum, "{row:?}");
            }
        }
        let maximum = |algorithm: &str, nodes| {
            let of = |row: &&Row| row.algorithm == algorithm && row.nodes == nodes;
            rows.iter().find(of).unwrap().ours.maximum_load
        };
        assert!(maximum("bfs", 32) > maximum("genetic", 32));
        assert_eq!([8, 16, 32].map(|nodes| maximum("balanced", nodes)), [4, 10, 26]);
    }
}
