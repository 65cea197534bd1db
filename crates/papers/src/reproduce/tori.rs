//! Tori and their routing tables, as several reproductions need them.

use cpu_time::ThreadTime;

use flitlab_base::registry;
use flitlab_fabric::{Fabric, Faults, Torus};
use flitlab_report::figure::{Figure, Scale, Series, xy_figure_among};
use flitlab_tables::angara::{Algorithm, Choices, Freedoms, Generated, Parameters};
use flitlab_tables::{Quality, Region, prove};

use super::Flawed;

/// The seed of the Genetic algorithm.
pub(super) const SEED: u64 = 1;

/// The parts of Desmos that the figures of \[angara-routing\], Table 2, allow: nodes, then sizes.
/// It names the numbers only.
pub(super) const PARTS: [(u32, &[u32]); 5] =
    [(2, &[2]), (4, &[4]), (8, &[4, 2]), (16, &[4, 2, 2]), (32, &[4, 2, 2, 2])];

/// A torus in which nothing has failed.
pub(super) fn fabric(sizes: &[u32]) -> Fabric {
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    torus.fabric(&Faults::default()).expect("nothing has failed")
}

pub(super) fn choices(fabric: &Fabric) -> Choices<'_> {
    Choices::new(Region::new(fabric), Freedoms::default())
}

/// A proved table, its figures, and the CPU seconds of this thread that it took, without the list of
/// routes.
pub(super) fn table(
    choices: &Choices<'_>,
    algorithm: registry::Row<Algorithm>,
    parameters: &Parameters,
) -> Result<(Generated, Quality, f64), Flawed> {
    let started = ThreadTime::now();
    let generated = (algorithm.table)(choices, parameters, SEED);
    let generated = generated.map_err(|error| error.to_string())?;
    let seconds = started.elapsed().as_secs_f64();
    let fabric = choices.region().fabric();
    match prove(fabric, &generated.table).flaws.first() {
        Some(flaw) => Err(flaw.describe(fabric)),
        None => {
            let quality = Quality::new(choices.region(), &generated.table);
            Ok((generated, quality, seconds))
        }
    }
}

/// The sizes of Figure 5: every dimension from 2 to 8 nodes, in every order, at most `most` nodes.
pub(super) fn systems(dimensions: u32, most: u32) -> Vec<Vec<u32>> {
    (0..7u32.pow(dimensions))
        .map(|code| (0..dimensions).map(|at| 2 + code / 7u32.pow(at) % 7).collect::<Vec<_>>())
        .filter(|sizes| sizes.iter().product::<u32>() <= most)
        .collect()
}

/// The systems of \[angara-routing\], Figures 4 and 5: 49 of two, 339 of three and 1,183 of four
/// dimensions. (The paper has 1,173 of four; its bound on the nodes is not stated. These bounds
/// give its numbers best.)
pub(super) const SETS: [(u32, u32); 3] = [(2, 64), (3, 447), (4, 432)];

/// Every so many systems of a set that are computed in a quick run.
pub(super) const QUICK: usize = 24;

/// Runs a job on a thread of its own, all parallel parts included, so that its CPU time can be
/// told.
pub(super) fn on_one_thread<R: Send>(job: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread").install(job)
}

/// The algorithms in the order of their colours, which they have in all figures.
pub(super) const ALGORITHMS: [&str; 4] = ["bfs", "genetic", "sssp", "balanced"];

/// A figure over the nodes of all systems of a set, with the colours of these names; `what` is shown
/// of them.
pub(super) fn over_nodes(
    names: &[&str],
    (dimensions, what): (u32, &str),
    y: &str,
    series: &[Series],
) -> Figure {
    let title = format!("{dimensions}D tori of 2 to 8 nodes a dimension, {what}");
    xy_figure_among(names, &title, ("Nodes", Scale::Linear), (y, Scale::Logarithmic), series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_have_the_numbers_of_systems() {
        let numbers = SETS.map(|(dimensions, most)| systems(dimensions, most).len());
        assert_eq!(numbers, [49, 339, 1183]);
    }
}
