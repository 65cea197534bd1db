//! \[angara-routing\], Figure 5: edge-forwarding indices and run times of the algorithms on many
//! tori.

use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};

use super::tori::{
    ALGORITHMS, QUICK, SETS, choices, fabric, on_one_thread, over_nodes, systems, table,
};
use super::{Extent, Flawed, Progress, Reproduction, all, json};
use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Fabric, sizes_text};
use flitlab_report::figure::{Bars, Figure, Series, Style, bars_figure};
use flitlab_report::rows_text;
use flitlab_tables::Region;
use flitlab_tables::angara::{
    Algorithm, Choices, Freedoms, Parameters, Reading, RouteTies, SmallGain, SsspReading, Stop,
    single_path_share,
};

/// Genetic, which is slow, runs on one in so many of the three- and four-dimensional systems that
/// have at most so many nodes. With both rules for its end it runs on all of three dimensions, and on
/// one in so many of four.
const GENETIC_EVERY: usize = 12;
const GENETIC_NODES: u32 = 150;

/// All readings of BFS are tried on systems of two and three dimensions that have at most so many
/// nodes.
const READ_NODES: u32 = 150;

/// Below so many hundredths a gain of Genetic is small by the paper's second rule.
const IMPROVEMENT_PERCENT: u32 = 5;

/// The run time up to which \[angara-routing\] calls an algorithm practical, in seconds.
const PRACTICAL: f64 = 0.25;

/// The shares of pairs with one shortest route that it gives in two, three and four dimensions.
const PUBLISHED_SHARES: [f64; 3] = [0.816, 0.582, 0.366];

/// The systems up to which it finds SSSP and BFS practical, in three and in four dimensions.
const PUBLISHED_PRACTICAL: [(&str, [u32; 2]); 3] =
    [("sssp", [150, 90]), ("searching", [150, 90]), ("bfs", [160, 300])];

/// Maximum loads, and CPU seconds of one thread, the list of routes included where it is used.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    dimensions: u32,
    torus: String,
    nodes: u32,
    share_of_pairs_with_one_shortest_route: f64,
    /// Of the routing graph: a first step and a direction through one channel are two paths.
    share_of_pairs_with_one_shortest_path: f64,
    /// Without first and last steps.
    share_of_pairs_with_one_shortest_route_in_order: f64,
    /// In any order of dimensions, whatever the rules are.
    share_of_pairs_with_one_shortest_way: f64,
    lower_bound: u64,
    load_bfs: u64,
    /// By the reading of BFS that is nearest to Table 2.
    load_nearest_bfs: u64,
    load_genetic: Option<u64>,
    /// With the paper's second rule for ending as well, where a small gain ends the search.
    load_ended_genetic: Option<u64>,
    /// With the paper's second rule for ending as well, where a small gain counts as none.
    load_counting_genetic: Option<u64>,
    load_sssp: u64,
    load_balanced: u64,
    seconds_bfs: f64,
    seconds_genetic: Option<f64>,
    seconds_sssp: f64,
    /// By searches of the routing graph, as the paper has it.
    seconds_searching_sssp: Option<f64>,
    seconds_balanced: f64,
}

impl Row {
    fn load(&self, algorithm: &str) -> Option<u64> {
        match algorithm {
            "bfs" => Some(self.load_bfs),
            "nearest-bfs" => Some(self.load_nearest_bfs),
            "genetic" => self.load_genetic,
            "ended-genetic" => self.load_ended_genetic,
            "counting-genetic" => self.load_counting_genetic,
            "sssp" => Some(self.load_sssp),
            _ => Some(self.load_balanced),
        }
    }

    fn seconds(&self, algorithm: &str) -> Option<f64> {
        match algorithm {
            "bfs" => Some(self.seconds_bfs),
            "genetic" => self.seconds_genetic,
            "sssp" => Some(self.seconds_sssp),
            "searching" => self.seconds_searching_sssp,
            _ => Some(self.seconds_balanced),
        }
    }
}

struct Job {
    sizes: Vec<u32>,
    genetic: bool,
    with_both_rules: bool,
}

impl Job {
    /// Whether all readings of BFS are tried on it.
    fn is_read(&self) -> bool {
        self.sizes.len() < 4 && self.sizes.iter().product::<u32>() <= READ_NODES
    }
}

/// All systems under all algorithms.
///
/// # Errors
/// If a table is wrong.
pub fn angara_figure_5(extent: Extent<'_>, progress: Progress<'_>) -> Result<Reproduction, Flawed> {
    let every = if extent.quick { QUICK } else { 1 };
    let systems = SETS.iter().flat_map(|&(dimensions, most)| {
        systems(dimensions, most).into_iter().enumerate().step_by(every)
    });
    let jobs: Vec<Job> = systems
        .map(|(number, sizes)| {
            let is_small = sizes.iter().product::<u32>() <= GENETIC_NODES;
            let is_one_of_some = number % GENETIC_EVERY == 0;
            let genetic = sizes.len() == 2 || is_small && is_one_of_some;
            let with_both_rules = sizes.len() < 4 || is_one_of_some;
            Job { sizes, genetic, with_both_rules }
        })
        .collect();
    let work = |job: &Job| {
        let name = format!("figure 5 {:?}, genetic: {}", job.sizes, job.genetic);
        let row = on_one_thread(|| extent.simulated(&name, || row(job)))?;
        let name = format!("figure 5 {:?}, genetic with both rules", job.sizes);
        let ended = || extent.simulated(&name, || loads_with_both_rules(job));
        let [ended, counting] = match job.with_both_rules {
            true => ended()?.map(Some),
            false => [None; 2],
        };
        let row = Row { load_ended_genetic: ended, load_counting_genetic: counting, ..row };
        let name = format!("figure 5 {:?}, readings of bfs", job.sizes);
        let loads = job.is_read().then(|| extent.simulated(&name, || loads_by_reading(job)));
        Ok((row, loads.transpose()?))
    };
    let found = all(&jobs, extent, work, |_| String::new(), progress);
    let found = found.into_iter().collect::<Result<Vec<(Row, Option<Vec<u64>>)>, Flawed>>()?;
    let readings = readings(&found);
    let rows: Vec<Row> = found.into_iter().map(|it| it.0).collect();
    let comparisons = comparisons(&rows);
    let mut figures = quality_figures(&comparisons);
    figures.extend(SETS.iter().map(|set| time_figure(&rows, set.0)));
    Ok(Reproduction {
        text: text(&rows, &comparisons) + "\n" + &readings_text(&readings),
        tables: vec![
            ("systems", rows_text(&rows)),
            ("comparisons", rows_text(&comparisons)),
            ("readings", rows_text(&readings)),
        ],
        figures,
        json: serde_json::json!({
            "systems": json(&rows), "comparisons": json(&comparisons), "readings": json(&readings),
        }),
    })
}

fn row(job: &Job) -> Result<Row, Flawed> {
    let fabric = fabric(&job.sizes);
    let started = ThreadTime::now();
    let choices = choices(&fabric);
    let listing = started.elapsed().as_secs_f64();
    let usual = Parameters::default();
    let nearest = Parameters { bfs: Reading::TABLE_2, ..Parameters::default() };
    let (_, bfs, seconds_bfs) = table(&choices, Algorithm::BFS, &usual)?;
    let (_, nearest_bfs, _) = table(&choices, Algorithm::BFS, &nearest)?;
    let (_, sssp, seconds_sssp) = table(&choices, Algorithm::SSSP, &usual)?;
    let searches = SsspReading { ties: RouteTies::Reached, ..SsspReading::default() };
    let searching = Parameters { sssp: searches, ..Parameters::default() };
    let searching = (job.genetic || job.sizes.len() < 4)
        .then(|| table(&choices, Algorithm::SSSP, &searching))
        .transpose()?;
    let (best, balanced, seconds_balanced) = table(&choices, Algorithm::BALANCED, &usual)?;
    let genetic = job.genetic.then(|| table(&choices, Algorithm::GENETIC, &usual)).transpose()?;
    Ok(Row {
        dimensions: narrow(job.sizes.len()),
        torus: sizes_text(&job.sizes),
        nodes: fabric.routers(),
        share_of_pairs_with_one_shortest_route: choices.single_share(),
        share_of_pairs_with_one_shortest_path: single_path_share(&choices, usual.freedoms),
        share_of_pairs_with_one_shortest_route_in_order: in_order(&fabric).single_share(),
        share_of_pairs_with_one_shortest_way: one_way_share(&job.sizes),
        lower_bound: best.bound.map_or(0, |bound| bound.rounded().into()),
        load_bfs: rounded(bfs.load.maximum),
        load_nearest_bfs: rounded(nearest_bfs.load.maximum),
        load_ended_genetic: None,
        load_counting_genetic: None,
        load_genetic: genetic.as_ref().map(|(_, quality, _)| rounded(quality.load.maximum)),
        load_sssp: rounded(sssp.load.maximum),
        load_balanced: rounded(balanced.load.maximum),
        seconds_bfs,
        seconds_genetic: genetic.map(|(_, _, seconds)| seconds + listing),
        seconds_sssp: seconds_sssp + listing,
        // The paper's algorithm lists no routes.
        seconds_searching_sssp: searching.map(|(_, _, seconds)| seconds),
        seconds_balanced: seconds_balanced + listing,
    })
}

/// The routes without first and last steps.
fn in_order(fabric: &Fabric) -> Choices<'_> {
    let none = Freedoms { first_and_last_steps: false, relaxation: false };
    Choices::new(Region::new(fabric), none)
}

/// The share of the pairs of a torus that have one shortest way if dimensions may be taken in any
/// order: those that differ in one dimension, and not by half a ring.
fn one_way_share(sizes: &[u32]) -> f64 {
    let nodes = f64::from(sizes.iter().product::<u32>());
    // A dimension of size 2 is no ring.
    let of_one = |&size: &u32| size - 1 - u32::from(size > 2 && size % 2 == 0);
    f64::from(sizes.iter().map(of_one).sum::<u32>()) / (nodes - 1.0)
}

/// The maximum load under Genetic with the second rule, where a small gain ends the search and where
/// it counts as none.
fn loads_with_both_rules(job: &Job) -> Result<[u64; 2], Flawed> {
    let fabric = fabric(&job.sizes);
    let choices = choices(&fabric);
    let load = |small_gain| -> Result<u64, Flawed> {
        let genetic = Stop { improvement_percent: IMPROVEMENT_PERCENT, small_gain };
        let parameters = Parameters { genetic, ..Parameters::default() };
        Ok(rounded(table(&choices, Algorithm::GENETIC, &parameters)?.1.load.maximum))
    };
    Ok([load(SmallGain::Ends)?, load(SmallGain::Counts)?])
}

/// The maximum load by each reading of BFS.
fn loads_by_reading(job: &Job) -> Result<Vec<u64>, Flawed> {
    let fabric = fabric(&job.sizes);
    let choices = choices(&fabric);
    let load = |bfs: Reading| {
        let parameters = Parameters { bfs, ..Parameters::default() };
        Ok(rounded(table(&choices, Algorithm::BFS, &parameters)?.1.load.maximum))
    };
    Reading::all().map(load).collect()
}

/// A reading of BFS on the tori of two and of three dimensions that have at most 150 nodes.
#[derive(Clone, Debug, Serialize)]
struct ReadingRow {
    key: &'static str,
    ties: &'static str,
    ends: &'static str,
    next: &'static str,
    numbering: &'static str,
    /// Whether it sorts vertices and goes to the farthest node, as the paper says.
    is_of_the_paper: bool,
    /// Total maximum load over the total of the lower bounds.
    load_above_bound_2d: f64,
    load_above_bound_3d: f64,
    /// By how much SSSP is better, in the mean over the systems where they differ.
    sssp_better_2d: f64,
    sssp_better_3d: f64,
}

fn readings(found: &[(Row, Option<Vec<u64>>)]) -> Vec<ReadingRow> {
    let row = |(at, reading): (usize, Reading)| {
        let of = |dimensions: u32| {
            let of_set = found.iter().filter(move |(row, _)| row.dimensions == dimensions);
            of_set.filter_map(move |(row, loads)| {
                Some((row.lower_bound, row.load_sssp, loads.as_ref()?[at]))
            })
        };
        let above = |dimensions| {
            let total: u64 = of(dimensions).map(|it| it.2).sum();
            let bounds: u64 = of(dimensions).map(|it| it.0).sum();
            total as f64 / bounds.max(1) as f64 - 1.0
        };
        let better = |dimensions| {
            let differs = of(dimensions).filter(|&(_, sssp, load)| sssp != load);
            mean(differs.map(|(_, sssp, load)| 1.0 - sssp as f64 / load as f64))
        };
        let [key, ties, ends, next, numbering] = reading.keys().map(|(_, word)| word);
        ReadingRow {
            key,
            ties,
            ends,
            next,
            numbering,
            is_of_the_paper: reading.is_of_the_paper(),
            load_above_bound_2d: above(2),
            load_above_bound_3d: above(3),
            sssp_better_2d: better(2),
            sssp_better_3d: better(3),
        }
    };
    Reading::all().enumerate().map(row).collect()
}

/// Some readings of BFS, and what they have in common.
type SomeReadings = (&'static str, fn(&ReadingRow) -> bool);

/// What the readings of BFS say of its heuristics, and of SSSP.
fn readings_text(readings: &[ReadingRow]) -> String {
    let of_the_paper = || readings.iter().filter(|row| row.is_of_the_paper);
    let range = |of: fn(&ReadingRow) -> f64| {
        let low = of_the_paper().map(of).fold(f64::INFINITY, f64::min);
        let high = of_the_paper().map(of).fold(f64::NEG_INFINITY, f64::max);
        format!("{:.1} to {:.1}%", 100.0 * low, 100.0 * high)
    };
    let mut text = format!(
        "tori of at most {READ_NODES} nodes, by {} readings of bfs: sssp is better by {} in 2D, {} in 3D\n\
         mean load of bfs above the lower bound, over the readings:\n{:<40}{:>8}{:>8}\n",
        of_the_paper().count(),
        range(|row| row.sssp_better_2d),
        range(|row| row.sssp_better_3d),
        "",
        "2D",
        "3D"
    );
    let parts: [SomeReadings; 4] = [
        ("sorted, farthest node next", |row| row.is_of_the_paper),
        ("not sorted, farthest node next", |row| row.key == "none" && row.next != "in-turn"),
        ("sorted, nodes in turn", |row| row.key != "none" && row.next == "in-turn"),
        ("not sorted, nodes in turn", |row| row.key == "none" && row.next == "in-turn"),
    ];
    for (what, is_of) in parts {
        let of = || readings.iter().filter(|row| is_of(row));
        text += &format!(
            "{what:<40}{:>7.1}%{:>7.1}%\n",
            100.0 * mean(of().map(|row| row.load_above_bound_2d)),
            100.0 * mean(of().map(|row| row.load_above_bound_3d))
        );
    }
    text
}

/// A reading of "pairs with one shortest route", and their share of a system's.
type ShareOfPairs<'a> = (&'static str, &'a dyn Fn(&Row) -> f64);

/// The shares of pairs with one shortest route, as the paper's rules and other readings have them.
fn shares_text(rows: &[Row]) -> String {
    let mut text = format!(
        "pairs with one shortest route, in the mean over systems\n{:<40}{:>8}{:>8}{:>8}\n",
        "", "2D", "3D", "4D"
    );
    // Neighbours have one shortest route.
    let without_neighbours = |row: &Row| {
        let sizes = row.torus.split('x').map(|size| size.parse::<u32>().expect("a size"));
        let neighbours = f64::from(sizes.map(|size| if size > 2 { 2 } else { 1 }).sum::<u32>());
        let others = f64::from(row.nodes - 1);
        (row.share_of_pairs_with_one_shortest_route * others - neighbours)
            / (others - neighbours).max(1.0)
    };
    let readings: [ShareOfPairs<'_>; 5] = [
        ("routes by the paper's rules", &|row| row.share_of_pairs_with_one_shortest_route),
        ("paths of the routing graph", &|row| row.share_of_pairs_with_one_shortest_path),
        ("no first and last steps", &|row| row.share_of_pairs_with_one_shortest_route_in_order),
        ("any order of dimensions", &|row| row.share_of_pairs_with_one_shortest_way),
        ("the paper's rules, neighbours left out", &without_neighbours),
    ];
    let line = |what: &str, of: &dyn Fn(u32) -> f64| {
        let shares = SETS.map(|(dimensions, _)| format!("{:>7.1}%", 100.0 * of(dimensions)));
        format!("{what:<40}{}\n", shares.concat())
    };
    let of_set = |dimensions| rows.iter().filter(move |row| row.dimensions == dimensions);
    for (what, share) in readings {
        text += &line(what, &|dimensions| mean(of_set(dimensions).map(share)));
    }
    text += &line("the paper's rules, all pairs together", &|dimensions| {
        let pairs = |row: &Row| f64::from(row.nodes) * f64::from(row.nodes - 1);
        let single = |row: &Row| pairs(row) * row.share_of_pairs_with_one_shortest_route;
        of_set(dimensions).map(single).sum::<f64>()
            / of_set(dimensions).map(pairs).sum::<f64>().max(1.0)
    });
    text + &line("published", &|dimensions| PUBLISHED_SHARES[dimensions as usize - 2])
}

/// The systems of a set on which an algorithm's maximum load is less than, equal to or greater than
/// another's.
#[derive(Clone, Debug, Serialize)]
struct Comparison {
    dimensions: u32,
    algorithm: &'static str,
    baseline: &'static str,
    /// Where the loads are equal, one is less than the other, or greater.
    group: &'static str,
    systems: usize,
    /// Total load under the algorithm over total load under the baseline.
    ratio: f64,
    /// By how much the algorithm's load is below the baseline's, in the mean over the systems.
    mean_improvement: f64,
}

const COMPARED: [(&str, &str); 8] = [
    ("sssp", "bfs"),
    ("sssp", "nearest-bfs"),
    ("genetic", "bfs"),
    ("balanced", "bfs"),
    ("sssp", "genetic"),
    ("sssp", "ended-genetic"),
    ("sssp", "counting-genetic"),
    ("balanced", "sssp"),
];

fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let mut all = Vec::new();
    for (dimensions, _) in SETS {
        for (algorithm, baseline) in COMPARED {
            let loads: Vec<(u64, u64)> = rows
                .iter()
                .filter(|row| row.dimensions == dimensions)
                .filter_map(|row| Some((row.load(algorithm)?, row.load(baseline)?)))
                .collect();
            let group = |group, keep: fn(&(u64, u64)) -> bool| {
                let kept: Vec<(u64, u64)> = loads.iter().copied().filter(keep).collect();
                let total = |of: fn(&(u64, u64)) -> u64| kept.iter().map(of).sum::<u64>();
                let improvement = |&(own, other): &(u64, u64)| 1.0 - own as f64 / other as f64;
                let count = kept.len().max(1) as f64;
                Comparison {
                    dimensions,
                    algorithm,
                    baseline,
                    group,
                    systems: kept.len(),
                    ratio: total(|load| load.0) as f64 / total(|load| load.1).max(1) as f64,
                    mean_improvement: kept.iter().map(improvement).sum::<f64>() / count,
                }
            };
            all.push(group("less", |load| load.0 < load.1));
            all.push(group("equal", |load| load.0 == load.1));
            all.push(group("greater", |load| load.0 > load.1));
            all.push(group("differs", |load| load.0 != load.1));
        }
    }
    all
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn text(rows: &[Row], comparisons: &[Comparison]) -> String {
    let mut text = format!(
        "{:<4}{:<10}{:<18}{:<9}{:>8}{:>12}{:>18}\n",
        "", "algorithm", "against", "load is", "systems", "total ratio", "mean improvement"
    );
    for it in comparisons.iter().filter(|it| it.systems > 0) {
        text += &format!(
            "{:<4}{:<10}{:<18}{:<9}{:>8}{:>12.3}{:>17.1}%\n",
            format!("{}D", it.dimensions),
            it.algorithm,
            it.baseline,
            it.group,
            it.systems,
            it.ratio,
            100.0 * it.mean_improvement
        );
    }
    text += "published: sssp better than bfs by 13%, 11%, 17% (2D, 3D, 4D), than genetic by 4%, 7% (3D, 4D)\n\n";
    for (dimensions, _) in SETS {
        let of = || rows.iter().filter(move |row| row.dimensions == dimensions);
        let gap = |row: &Row| row.load_balanced as f64 / row.lower_bound.max(1) as f64 - 1.0;
        text += &format!(
            "{dimensions}D: {} systems, {} of them with genetic\n    balanced above its bound: mean \
             {:.2}%, at most {:.2}%; optimal in {}\n",
            of().count(),
            of().filter(|row| row.load_genetic.is_some()).count(),
            100.0 * mean(of().map(gap)),
            100.0 * of().map(gap).fold(0.0, f64::max),
            of().filter(|row| row.load_balanced == row.lower_bound).count()
        );
    }
    text += "\n";
    text += &shares_text(rows);
    text += &format!(
        "\nlargest systems below which every one takes at most {PRACTICAL} s of CPU, in nodes\n"
    );
    text += &format!("{:<18}{:>6}{:>6}{:>6}   published 3D, 4D\n", "", "2D", "3D", "4D");
    for (algorithm, name) in [
        ("bfs", "bfs"),
        ("genetic", "genetic"),
        ("sssp", "sssp"),
        ("searching", "sssp by searches"),
        ("balanced", "balanced"),
    ] {
        let practical = SETS.map(|(dimensions, _)| practical(rows, dimensions, algorithm));
        let published = PUBLISHED_PRACTICAL.iter().find(|(name, _)| *name == algorithm);
        let published =
            published.map_or("-".into(), |(_, nodes)| format!("{}, {}", nodes[0], nodes[1]));
        let [two, three, four] = practical;
        text += &format!("{name:<18}{two:>6}{three:>6}{four:>6}   {published}\n");
    }
    text
}

/// The most nodes for which neither a system of this size nor a smaller one takes too long.
fn practical(rows: &[Row], dimensions: u32, algorithm: &str) -> u32 {
    let times = || {
        let rows = rows.iter().filter(|row| row.dimensions == dimensions);
        rows.filter_map(|row| Some((row.nodes, row.seconds(algorithm)?)))
    };
    let slow = times().filter(|(_, seconds)| *seconds > PRACTICAL).map(|(nodes, _)| nodes).min();
    times()
        .map(|(nodes, _)| nodes)
        .filter(|&nodes| slow.is_none_or(|it| nodes < it))
        .max()
        .unwrap_or(0)
}

fn quality_figures(comparisons: &[Comparison]) -> Vec<(String, Figure)> {
    let figure = |dimensions: u32| {
        let of = |algorithm: &str| {
            let own = comparisons.iter().filter(|it| {
                (it.dimensions, it.algorithm, it.baseline) == (dimensions, algorithm, "bfs")
            });
            let shown = own.filter(|it| it.systems > 0 && it.group != "differs");
            let bar = |it: &Comparison| {
                let label = format!("{algorithm}, {} ({})", it.group, it.systems);
                (label, 100.0 * (it.ratio - 1.0), None)
            };
            Bars { label: algorithm.into(), published: false, values: shown.map(bar).collect() }
        };
        let bars = ["sssp", "genetic", "balanced"].map(of);
        let title = format!("{dimensions}D tori of 2 to 8 nodes a dimension, maximum load");
        let axis = "Total maximum load above BFS's (%)";
        let note = "in brackets: systems where it is less, equal, greater";
        (format!("loads-{dimensions}d"), bars_figure(&ALGORITHMS, &title, axis, &bars, note))
    };
    SETS.iter().map(|set| figure(set.0)).collect()
}

fn time_figure(rows: &[Row], dimensions: u32) -> (String, Figure) {
    let ours = ALGORITHMS.map(|algorithm| Series {
        label: algorithm.into(),
        style: Style::Dots,
        points: rows
            .iter()
            .filter(|row| row.dimensions == dimensions)
            .filter_map(|row| Some((f64::from(row.nodes), row.seconds(algorithm)?)))
            .collect(),
    });
    // The paper gives the sizes up to which two algorithms are practical, in 3D and 4D.
    let published = PUBLISHED_PRACTICAL.iter().filter(|row| ALGORITHMS.contains(&row.0));
    let published = published.filter_map(|(algorithm, nodes)| {
        let nodes = *nodes.get((dimensions as usize).checked_sub(3)?)?;
        let points = vec![(f64::from(nodes), PRACTICAL)];
        let label = format!("{algorithm}, published: {PRACTICAL} s up to here");
        Some(Series { label, style: Style::Published, points })
    });
    let series: Vec<Series> = ours.into_iter().chain(published).collect();
    let what = (dimensions, "run time");
    (format!("times-{dimensions}d"), over_nodes(&ALGORITHMS, what, "CPU time (s)", &series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_small_systems_balanced_beats_sssp_which_beats_bfs() {
        let sizes = [vec![5, 4], vec![4, 3, 2], vec![6, 6], vec![3, 2, 4, 2], vec![2, 5, 3]];
        let jobs =
            sizes.into_iter().map(|sizes| Job { sizes, genetic: false, with_both_rules: false });
        let rows: Vec<Row> = jobs.map(|job| row(&job).unwrap()).collect();
        let total = |algorithm| rows.iter().filter_map(|row| row.load(algorithm)).sum::<u64>();
        assert!(total("balanced") < total("sssp") && total("sssp") < total("bfs"), "{rows:?}");
        assert!(rows.iter().all(|row| row.lower_bound <= row.load_balanced), "{rows:?}");
    }
}
