//! \[angara-routing\], Figure 6: communication patterns on parts of Desmos under each table.
//!
//! The paper names the patterns and not their definitions, nor how many ranks a node has, how these
//! are placed, whether messages are answered by others as large, and how often a pattern is
//! repeated. All that fits is run ([`patterns`]), as messages of ranks (`[application]`), which have
//! to agree on each long message before it is sent; all-to-all also as a bare exchange. What the
//! combinations give beside the published gains is in [`readings`]. BFS is read as Table 2 has it
//! ([`angara::Reading::TABLE_2`]).

mod patterns;
mod readings;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::tori::{ALGORITHMS, PARTS, SEED};
use super::{Extent, Progress, Reproduction, all, json};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Torus, sizes_text};
use flitlab_report::figure::{Bars, Figure, PUBLISHED, bars_figure};
use flitlab_report::rows_text;
use flitlab_scenario::simulation::Simulation;
use flitlab_scenario::{Document, Scenario, Workloads};
use flitlab_tables::angara;
use flitlab_traffic::{ApplicationSpec, Carrier, HostParameters};
use patterns::{DEFINITIONS, Definition, Setup};

/// As the text of \[angara-routing\] has them for 32 nodes: pattern, algorithm, baseline, by how
/// many percent it is better.
const PUBLISHED_GAINS: [(&str, &str, &str, f64); 5] = [
    ("transpose", "genetic", "bfs", -3.9),
    ("neighbor", "sssp", "bfs", 11.6),
    ("tornado", "sssp", "bfs", 52.9),
    ("all-to-all", "sssp", "bfs", 11.1),
    ("all-to-all", "genetic", "sssp", 1.1),
];

/// The patterns whose gain is "up to" so much: the better of Genetic and SSSP.
const UP_TO: [&str; 2] = ["neighbor", "tornado"];

/// The part of Desmos that is the whole, and the largest on which the paper has all tables
/// "approximately the same".
const ALL_OF_DESMOS: u32 = 32;
const ALIKE: u32 = 8;

/// The seeds of Genetic's tables: on which one the paper measured is not known.
const SEEDS: [u64; 3] = [SEED, 2, 3];

#[derive(Clone, Debug, Serialize)]
struct Row {
    pattern: &'static str,
    definition: &'static str,
    ranks_per_node: u32,
    placement: &'static str,
    node_order: &'static str,
    ways: &'static str,
    repetitions: u32,
    message_bytes: u64,
    nodes: u32,
    torus: String,
    algorithm: &'static str,
    seed: u64,
    completion_us: f64,
    /// Completion under BFS's table over completion under this one.
    speed_up_over_bfs: f64,
    /// The definition with the order of nodes, if it depends on it.
    #[serde(skip)]
    label: String,
    /// Whether the text and the figure of its definition have it.
    #[serde(skip)]
    shown: bool,
}

#[derive(Clone, Copy)]
struct Job {
    definition: Definition,
    setup: Setup,
    nodes: u32,
    sizes: &'static [u32],
    algorithm: &'static str,
    seed: u64,
}

/// A simulation: definition, setup, nodes, algorithm, seed.
type Case = (&'static str, Setup, u32, &'static str, u64);

impl Job {
    fn case(&self) -> Case {
        (self.definition.name, self.setup, self.nodes, self.algorithm, self.seed)
    }
}

/// All patterns under all tables. Those with a rank a node and messages one way, once, are run on
/// all parts, the others on 8 and 32 nodes; a quick run leaves out parts of more than 8 nodes, more
/// ranks a node, and repetitions.
pub fn angara_figure_6(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let jobs = jobs(extent.quick);
    let found = all(&jobs, extent, |job| completion(job, extent), |_| String::new(), progress);
    let times: Times =
        jobs.iter().zip(found).filter_map(|(job, time)| Some((job.case(), time?))).collect();
    let rows: Vec<Row> = jobs.iter().filter_map(|job| row(job, &times)).collect();
    let readings = readings::all(&times);
    let mut tables = vec![("completion", rows_text(&rows))];
    let mut figures = figures(&rows);
    if let Some(figure) = readings::figure(&readings) {
        tables.push(("readings", rows_text(&readings)));
        figures.push(("readings".to_owned(), figure));
    }
    Reproduction {
        text: text(&rows) + &readings::text(&readings),
        tables,
        figures,
        json: serde_json::json!({ "completion": json(&rows), "readings": json(&readings) }),
    }
}

/// Completion times in microseconds; none where every rank's partner is itself.
type Times = BTreeMap<Case, f64>;

fn jobs(quick: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for definition in DEFINITIONS {
        let mut setups: Vec<Setup> = Vec::new();
        for setup in Setup::all().into_iter().map(|setup| definition.distinct(setup)) {
            let left_out = quick && (setup.ranks_per_node, setup.repetitions) != (1, 1);
            if !left_out && !setups.contains(&setup) {
                setups.push(setup);
            }
        }
        for setup in setups {
            let shown = is_shown(setup);
            let parts = PARTS.into_iter().filter(|(nodes, _)| {
                (shown || [ALIKE, ALL_OF_DESMOS].contains(nodes)) && !(quick && *nodes > ALIKE)
            });
            for (nodes, sizes) in parts {
                let mut add = |algorithm, seed| {
                    jobs.push(Job { definition, setup, nodes, sizes, algorithm, seed });
                };
                for algorithm in ALGORITHMS {
                    match algorithm {
                        "genetic" => SEEDS.iter().for_each(|seed| add(algorithm, *seed)),
                        // Nothing is published of it: it is in the figures only.
                        "balanced" if !shown => {}
                        _ => add(algorithm, SEED),
                    }
                }
            }
        }
    }
    jobs
}

/// Whether the text and the figures of definitions have this setup.
fn is_shown(setup: Setup) -> bool {
    Setup { x_fastest: true, ..setup } == Setup::PLAIN
}

fn row(job: &Job, times: &Times) -> Option<Row> {
    let Setup { ranks_per_node, repetitions, .. } = job.setup;
    let (definition, setup, nodes, ..) = job.case();
    let completion_us = *times.get(&job.case())?;
    Some(Row {
        pattern: job.definition.pattern,
        definition,
        ranks_per_node,
        placement: setup.placement(),
        node_order: setup.node_order(),
        ways: setup.ways(),
        repetitions,
        message_bytes: job.definition.message_bytes(setup),
        nodes,
        torus: sizes_text(job.sizes),
        algorithm: job.algorithm,
        seed: job.seed,
        completion_us,
        speed_up_over_bfs: times[&(definition, setup, nodes, "bfs", SEED)] / completion_us,
        label: job.definition.label(setup),
        shown: is_shown(setup) && job.seed == SEED,
    })
}

/// Returns the completion time in microseconds; `None` if every rank's partner is itself.
fn completion(job: &Job, extent: Extent<'_>) -> Option<f64> {
    let Job { definition, setup, sizes, algorithm, seed, .. } = *job;
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    let application = definition.schedule(setup, &torus).map(|schedule| ApplicationSpec {
        schedule: Arc::new(schedule),
        notes: Arc::default(),
        placement: setup.nodes(&torus),
        ranks_per_node: setup.ranks_per_node,
        host: HostParameters::default(),
        carrier: Carrier::Flits,
        nodes: None,
    });
    if application.is_none() && !definition.is_bare() {
        return None;
    }
    let keys: String =
        angara::Reading::TABLE_2.keys().map(|(key, word)| format!("{key} = \"{word}\"\n")).concat();
    let bytes = definition.message_bytes(setup);
    // What ranks do replaces the exchange.
    let scenario = format!(
        "seed = {seed}\n[topology.torus]\ndimensions = {sizes:?}\n[routing.angara]\nalgorithm = \
         \"{algorithm}\"\n{keys}[exchange]\npattern = \"all-to-all\"\nmessage = \"{bytes} B\"\n"
    );
    let time = extent.simulated(&format!("{scenario}{}\n{setup:?}", definition.name), || {
        simulate(&Document::parse("figure 6", &scenario), application)
    });
    time.map(|time| time.0 as f64 / 1e6)
}

fn simulate(document: &Document, application: Option<ApplicationSpec>) -> Option<Picoseconds> {
    let mut scenario = Scenario::read(document).expect("a right scenario");
    if let Some(application) = application {
        scenario.workload = Workloads::one("application", Arc::new(application));
    }
    let simulation = Simulation::new(&scenario).expect("a part of Desmos can be routed");
    simulation.run(&mut |_| {}).found.measured.completion_time
}

fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "speed-up over the BFS table, messages of 1 MiB, a rank a node\n\
         {:<12}{:<36}{:>5}  {:<9}{:>9}{:>9}{:>9}\n",
        "pattern", "definition", "nodes", "torus", "genetic", "sssp", "balanced"
    );
    let shown: Vec<&Row> = rows.iter().filter(|row| row.shown).collect();
    for rows in shown.chunk_by(|one, other| (&one.label, one.nodes) == (&other.label, other.nodes))
    {
        let of = |algorithm: &str| {
            let row = rows.iter().find(|row| row.algorithm == algorithm);
            row.map_or("-".into(), |row| format!("{:+.1}%", 100.0 * (row.speed_up_over_bfs - 1.0)))
        };
        let first = rows[0];
        text += &format!(
            "{:<12}{:<36}{:>5}  {:<9}{:>9}{:>9}{:>9}\n",
            first.pattern,
            first.label,
            first.nodes,
            first.torus,
            of("genetic"),
            of("sssp"),
            of("balanced")
        );
    }
    text
}

/// For each definition of a pattern the completion times over nodes, and beside ours on 32 those
/// that the published gains would give.
fn figures(rows: &[Row]) -> Vec<(String, Figure)> {
    let shown: Vec<&Row> = rows.iter().filter(|row| row.shown).collect();
    let of_pattern = shown.chunk_by(|one, other| one.pattern == other.pattern);
    let numbered =
        of_pattern.flat_map(|rows| (1..).zip(rows.chunk_by(|one, other| one.label == other.label)));
    numbered.map(|(number, rows)| figure(number, rows)).collect()
}

fn figure(number: usize, rows: &[&Row]) -> (String, Figure) {
    let Row { pattern, label, .. } = rows[0];
    let highest = rows.iter().map(|row| row.completion_us).fold(0.0, f64::max);
    let (unit, size) = if highest < 1e4 { ("\u{b5}s", 1.0) } else { ("ms", 1e3) };
    let group = |nodes: u32| format!("{nodes} nodes");
    let mut bars = Vec::new();
    for algorithm in ALGORITHMS {
        let of = rows.iter().filter(|row| row.algorithm == algorithm);
        let values = of.map(|row| (group(row.nodes), row.completion_us / size, None));
        bars.push(Bars { label: algorithm.into(), published: false, values: values.collect() });
        let bfs = rows.iter().find(|row| (row.nodes, row.algorithm) == (ALL_OF_DESMOS, "bfs"));
        let gain = published_gain(pattern, algorithm);
        if let Some((bfs, gain)) = bfs.zip(gain) {
            let time = bfs.completion_us / (1.0 + gain / 100.0) / size;
            bars.push(Bars {
                label: format!("{algorithm}, {PUBLISHED} gain"),
                published: true,
                values: vec![(group(ALL_OF_DESMOS), time, None)],
            });
        }
    }
    let title = format!("Tori of 2 to 32 nodes of Desmos, {pattern} ({label}), 1 MiB");
    let axis = format!("Completion time ({unit})");
    let note = published_text(pattern);
    (format!("{pattern}-{number}"), bars_figure(&ALGORITHMS, &title, &axis, &bars, &note))
}

/// By how many percent an algorithm is better than BFS on the whole of Desmos, if the paper says so
/// without "up to".
fn published_gain(pattern: &str, algorithm: &str) -> Option<f64> {
    if UP_TO.contains(&pattern) {
        return None;
    }
    let (.., baseline, percent) =
        PUBLISHED_GAINS.into_iter().find(|gain| (gain.0, gain.1) == (pattern, algorithm))?;
    let of_baseline = if baseline == "bfs" { 0.0 } else { published_gain(pattern, baseline)? };
    Some(((1.0 + percent / 100.0) * (1.0 + of_baseline / 100.0) - 1.0) * 100.0)
}

/// What is published of a pattern, in a line.
fn published_text(pattern: &str) -> String {
    let gains = PUBLISHED_GAINS.into_iter().filter(|gain| gain.0 == pattern);
    let gains = gains.map(|(_, algorithm, baseline, percent)| match UP_TO.contains(&pattern) {
        true => format!("genetic or sssp over {baseline} up to {percent:+.1}%"),
        false => format!("{algorithm} over {baseline} {percent:+.1}%"),
    });
    format!("published, 32 nodes: {}", gains.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;
    use flitlab_report::figure::Sheet;

    #[test]
    fn a_figure_has_all_nodes_and_the_published_gains_on_desmos() {
        let row = |(nodes, algorithm)| Row {
            pattern: "all-to-all",
            definition: "pairwise exchange",
            ranks_per_node: 1,
            placement: "linear",
            node_order: "x fastest",
            ways: "one",
            repetitions: 1,
            message_bytes: 1,
            nodes,
            torus: String::new(),
            algorithm,
            seed: SEED,
            completion_us: f64::from(nodes),
            speed_up_over_bfs: 1.0,
            label: String::new(),
            shown: true,
        };
        let parts = |most: u32| PARTS.map(|part| part.0).into_iter().filter(move |&it| it <= most);
        let svg = |most: u32| {
            let all = parts(most).flat_map(|nodes| ALGORITHMS.map(|it| (nodes, it)));
            let [(name, figure)] = &figures(&all.map(row).collect::<Vec<_>>())[..] else {
                panic!("one definition")
            };
            assert_eq!(name, "all-to-all-1");
            figure.svg(&Sheet::default())
        };
        let (whole, part) = (svg(32), svg(16));
        assert!(parts(32).all(|nodes| whole.contains(&format!(">{nodes} nodes<"))));
        for algorithm in ["genetic", "sssp"] {
            let label = format!(">{algorithm}, published gain<");
            assert!(whole.contains(&label) && !part.contains(&label));
        }
        assert!(part.contains("sssp over bfs +11.1%, genetic over sssp +1.1%"));
        let gain = published_gain("all-to-all", "genetic").unwrap();
        assert!((gain - 12.3221).abs() < 1e-9, "{gain}");
        let gain = published_gain("transpose", "genetic").unwrap();
        assert!((gain + 3.9).abs() < 1e-9, "{gain}");
        assert_eq!(published_gain("tornado", "sssp"), None);
    }

    #[test]
    fn a_better_table_makes_all_to_all_faster() {
        let of_pattern = |it: &&Definition| it.pattern == "all-to-all";
        for &definition in DEFINITIONS.iter().filter(of_pattern) {
            let time = |algorithm| {
                let (setup, sizes) = (Setup::PLAIN, &[4, 2, 2]);
                let job = Job { definition, setup, nodes: 16, sizes, algorithm, seed: SEED };
                completion(&job, SAMPLE).unwrap()
            };
            assert!(time("balanced") < time("bfs"), "{definition:?}");
        }
    }

    #[test]
    fn jobs_differ_and_those_of_a_quick_run_are_some_of_all() {
        let cases = |quick| jobs(quick).iter().map(Job::case).collect::<Vec<_>>();
        let (quick, whole) = (cases(true), cases(false));
        let different: std::collections::BTreeSet<&Case> = whole.iter().collect();
        assert_eq!(different.len(), whole.len());
        assert!(quick.len() < whole.len() && quick.iter().all(|case| different.contains(case)));
    }
}
