//! \[angara-routing\], Figure 6: communication patterns on parts of Desmos under each table.
//!
//! The paper names the patterns and not their definitions. All that fit the names are run: by
//! ranks, which number the nodes of a part with x fastest or with x slowest, and by coordinates.
//! All-to-all is run as an exchange and, as `osu_alltoall` has MPICH do it, as messages of ranks
//! (`[application]`), which have to agree on each one before it is sent. BFS is read as Table 2 has
//! it ([`Reading::TABLE_2`]).

use std::sync::Arc;

use serde::Serialize;

use super::tori::{ALGORITHMS, PARTS, SEED};
use super::{Extent, Progress, Reproduction, all};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Torus, sizes_text};
use flitlab_report::figure::{Bars, Figure, PUBLISHED, bars_figure};
use flitlab_routing::angara::Reading;
use flitlab_scenario::executor::Simulation;
use flitlab_scenario::{Document, Scenario, Workloads};
use flitlab_workload::application::{Operation, Schedule, ScheduleBuilder, Until};
use flitlab_workload::traffic::{ApplicationSpec, Carrier, HostParameters, Placement};

const MESSAGE: &str = "1 MiB";
const MESSAGE_BYTES: u64 = 1 << 20;

/// A definition of a pattern.
#[derive(Clone, Copy, Debug)]
struct Definition {
    pattern: &'static str,
    name: &'static str,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    AllToAll,
    /// `MPI_Alltoall` as messages of ranks: where each rank sends in each step, and whence it
    /// receives.
    Messages(fn(u32, u32, u32) -> (u32, u32)),
    /// Where each node sends, by its coordinates and the sizes.
    Coordinates(fn(u32, u32) -> u32),
    /// Where each rank sends, of so many.
    Ranks {
        x_fastest: bool,
        partner: fn(u32, u32) -> u32,
    },
}

fn next(at: u32, size: u32) -> u32 {
    (at + 1) % size
}

fn opposite(at: u32, size: u32) -> u32 {
    (at + size / 2) % size
}

fn half_way(at: u32, size: u32) -> u32 {
    (at + size.div_ceil(2) - 1) % size
}

/// Rank r of a matrix that is stored by rows goes to where it is when stored by columns; as many
/// rows as columns, or half as many.
fn transposed(rank: u32, ranks: u32) -> u32 {
    let rows = 1 << (ranks.ilog2() / 2);
    let columns = ranks / rows;
    rank % columns * rows + rank / columns
}

fn reversed(rank: u32, ranks: u32) -> u32 {
    rank.reverse_bits() >> (32 - ranks.ilog2())
}

/// Steps of MPICH's pairwise exchange, which it takes for messages as long, among 2^n ranks;
/// `[exchange]` has the same.
fn exchanged(rank: u32, step: u32, _: u32) -> (u32, u32) {
    (rank ^ step, rank ^ step)
}

/// Steps of that exchange among other numbers of ranks.
fn shifted(rank: u32, step: u32, ranks: u32) -> (u32, u32) {
    ((rank + step) % ranks, (rank + ranks - step) % ranks)
}

const DEFINITIONS: [Definition; 14] = {
    const fn by_rank(
        pattern: &'static str,
        name: &'static str,
        x_fastest: bool,
        partner: fn(u32, u32) -> u32,
    ) -> Definition {
        Definition { pattern, name, rule: Rule::Ranks { x_fastest, partner } }
    }
    const fn by_coordinates(
        pattern: &'static str,
        name: &'static str,
        next: fn(u32, u32) -> u32,
    ) -> Definition {
        Definition { pattern, name, rule: Rule::Coordinates(next) }
    }
    [
        by_rank("transpose", "matrix of ranks, x fastest", true, transposed),
        by_rank("transpose", "matrix of ranks, x slowest", false, transposed),
        by_rank("transpose", "bits of ranks reversed, x fastest", true, reversed),
        by_rank("transpose", "bits of ranks reversed, x slowest", false, reversed),
        by_rank("neighbor", "rank + 1, x fastest", true, next),
        by_rank("neighbor", "rank + 1, x slowest", false, next),
        by_coordinates("neighbor", "each coordinate + 1", next),
        by_rank("tornado", "rank + N/2 - 1, x fastest", true, half_way),
        by_rank("tornado", "rank + N/2 - 1, x slowest", false, half_way),
        by_coordinates("tornado", "each coordinate + k/2 - 1", half_way),
        by_rank("tornado", "rank + N/2, x fastest", true, opposite),
        Definition { pattern: "all-to-all", name: "pairwise exchange", rule: Rule::AllToAll },
        Definition {
            pattern: "all-to-all",
            name: "MPI_Alltoall, rank + i",
            rule: Rule::Messages(shifted),
        },
        Definition {
            pattern: "all-to-all",
            name: "MPI_Alltoall, rank xor i",
            rule: Rule::Messages(exchanged),
        },
    ]
};

/// As the text of \[angara-routing\] has them for 32 nodes: pattern, algorithm, baseline, by how
/// many percent it is better. "Up to", over its figure's node numbers, for neighbor and tornado.
const PUBLISHED_GAINS: [(&str, &str, &str, f64); 5] = [
    ("transpose", "genetic", "bfs", -3.9),
    ("neighbor", "sssp", "bfs", 11.6),
    ("tornado", "sssp", "bfs", 52.9),
    ("all-to-all", "sssp", "bfs", 11.1),
    ("all-to-all", "genetic", "sssp", 1.1),
];

/// The patterns whose gain is "up to" so much: the better of Genetic and SSSP.
const UP_TO: [&str; 2] = ["neighbor", "tornado"];

#[derive(Clone, Debug, Serialize)]
struct Row {
    pattern: &'static str,
    definition: &'static str,
    nodes: u32,
    torus: String,
    algorithm: &'static str,
    completion_us: f64,
    /// Completion under BFS's table over completion under this one.
    speed_up_over_bfs: f64,
}

struct Job {
    definition: Definition,
    nodes: u32,
    sizes: &'static [u32],
    algorithm: &'static str,
}

/// All patterns on all parts under all tables; a quick run leaves out parts of more than 8 nodes.
pub fn angara_figure_6(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let most = if extent.quick { 8 } else { u32::MAX };
    let mut jobs = Vec::new();
    for definition in DEFINITIONS {
        for (nodes, sizes) in PARTS.into_iter().filter(|part| part.0 <= most) {
            for algorithm in ALGORITHMS {
                jobs.push(Job { definition, nodes, sizes, algorithm });
            }
        }
    }
    let times = all(&jobs, extent, |job| completion(job, extent), |_| String::new(), progress);
    let algorithms = ALGORITHMS.len();
    let bfs = ALGORITHMS.iter().position(|name| *name == "bfs").expect("BFS is one of them");
    let row = |(place, (job, time)): (usize, (&Job, &Option<f64>))| {
        let baseline = times[place / algorithms * algorithms + bfs]?;
        Some(Row {
            pattern: job.definition.pattern,
            definition: job.definition.name,
            nodes: job.nodes,
            torus: sizes_text(job.sizes),
            algorithm: job.algorithm,
            completion_us: (*time)?,
            speed_up_over_bfs: baseline / (*time)?,
        })
    };
    let rows: Vec<Row> = jobs.iter().zip(&times).enumerate().filter_map(row).collect();
    Reproduction::of_rows("completion", &rows, text(&rows), figures(&rows))
}

/// Returns the completion time in microseconds; `None` if every rank's partner is itself.
fn completion(job: &Job, extent: Extent<'_>) -> Option<f64> {
    let pattern = match pairs(&job.definition.rule, job.sizes) {
        None => "\"all-to-all\"".into(),
        Some(pairs) if pairs.is_empty() => return None,
        Some(pairs) => {
            let pairs: Vec<String> =
                pairs.iter().map(|(from, to)| format!("[{from}, {to}]")).collect();
            format!("{{ pairs = {{ list = [{}] }} }}", pairs.join(", "))
        }
    };
    let keys: String =
        Reading::TABLE_2.keys().map(|(key, word)| format!("{key} = \"{word}\"\n")).concat();
    let text = format!(
        "seed = {SEED}\n[topology.torus]\ndimensions = {:?}\n[routing.angara]\nalgorithm = \
         \"{}\"\n{keys}[exchange]\npattern = {pattern}\nmessage = \"{MESSAGE}\"\n",
        job.sizes, job.algorithm
    );
    let time = extent.simulated(&format!("{text}{}", job.definition.name), || {
        simulate(job, &Document::parse("figure 6", &text))
    });
    time.map(|time| time.0 as f64 / 1e6)
}

fn simulate(job: &Job, document: &Document) -> Option<Picoseconds> {
    let mut scenario = Scenario::read(document).expect("a right scenario");
    if let Rule::Messages(partners) = job.definition.rule {
        let application = ApplicationSpec {
            schedule: Arc::new(all_to_all(job.nodes, partners)),
            notes: Arc::default(),
            placement: Placement::Linear,
            ranks_per_node: 1,
            host: HostParameters::default(),
            carrier: Carrier::Flits,
            nodes: None,
        };
        scenario.workload = Workloads::one("application", Arc::new(application));
    }
    let simulation = Simulation::new(&scenario).expect("a part of Desmos can be routed");
    simulation.run(&mut |_| {}).found.measured.completion_time
}

/// An `MPI_Alltoall` by steps of `MPI_Sendrecv`: each waits for the message sent and the one
/// received in the step before.
fn all_to_all(ranks: u32, partners: fn(u32, u32, u32) -> (u32, u32)) -> Schedule {
    const FEW: &str = "a few thousand operations, each after those before it";
    let mut schedule = ScheduleBuilder::new();
    for rank in 0..ranks {
        let mut before = None;
        for step in 1..ranks {
            let (to, from) = partners(rank, step, ranks);
            let send = schedule.add(Operation::send(MESSAGE_BYTES, to, step)).expect(FEW);
            let receive = schedule.add(Operation::receive(MESSAGE_BYTES, from, step)).expect(FEW);
            for other in before.into_iter().flatten() {
                schedule.wait(send, Until::Done, other);
                schedule.wait(receive, Until::Done, other);
            }
            before = Some([send, receive]);
        }
        schedule.end_rank().expect(FEW);
    }
    schedule.finish()
}

/// Sources and destinations, sources without a partner but themselves left out; `None` for
/// all-to-all.
fn pairs(rule: &Rule, sizes: &[u32]) -> Option<Vec<(u32, u32)>> {
    let torus = Torus::new(sizes, &[]).expect("sizes of a torus");
    let nodes = torus.nodes();
    let by_rank = |x_fastest: bool| {
        let mut order: Vec<u32> = (0..nodes).collect();
        if !x_fastest {
            order.sort_by_key(|&node| torus.coordinates(node));
        }
        order
    };
    let pairs: Vec<(u32, u32)> = match rule {
        Rule::AllToAll | Rule::Messages(_) => return None,
        Rule::Coordinates(next) => (0..nodes)
            .map(|node| {
                let coordinates = torus.coordinates(node);
                let moved: Vec<u32> =
                    coordinates.iter().zip(sizes).map(|(&at, &size)| next(at, size)).collect();
                (node, torus.node(&moved).expect("inside the torus"))
            })
            .collect(),
        Rule::Ranks { x_fastest, partner } => {
            let order = by_rank(*x_fastest);
            (0..nodes)
                .map(|rank| (order[rank as usize], order[partner(rank, nodes) as usize]))
                .collect()
        }
    };
    Some(pairs.into_iter().filter(|(from, to)| from != to).collect())
}

fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "speed-up over the BFS table, messages of {MESSAGE}\n{:<12}{:<34}{:>5}  {:<9}{:>9}{:>9}{:>9}\n",
        "pattern", "definition", "nodes", "torus", "genetic", "sssp", "balanced"
    );
    for rows in
        rows.chunk_by(|one, other| (one.definition, one.nodes) == (other.definition, other.nodes))
    {
        let of = |algorithm: &str| {
            let row = rows.iter().find(|row| row.algorithm == algorithm);
            row.map_or("-".into(), |row| format!("{:+.1}%", 100.0 * (row.speed_up_over_bfs - 1.0)))
        };
        let first = &rows[0];
        text += &format!(
            "{:<12}{:<34}{:>5}  {:<9}{:>9}{:>9}{:>9}\n",
            first.pattern,
            first.definition,
            first.nodes,
            first.torus,
            of("genetic"),
            of("sssp"),
            of("balanced")
        );
    }
    let most = rows.iter().map(|row| row.nodes).max().unwrap_or(0);
    text += &format!("published on 32 nodes, and the definition that comes nearest on {most}\n");
    for (pattern, algorithm, baseline, percent) in PUBLISHED_GAINS {
        let nearest = nearest(rows, most, (pattern, algorithm, baseline, percent));
        let nearest = nearest.map_or(String::new(), |(ours, name)| format!("{ours:+.1}%, {name}"));
        let published = format!("{algorithm} over {baseline}: {percent:+.1}%");
        text += &format!("  {pattern:<12}{published:<28}{nearest}\n");
    }
    text
}

/// By how many percent an algorithm is better than a baseline under the definition in which that is
/// nearest to the published value.
fn nearest(
    rows: &[Row],
    nodes: u32,
    (pattern, algorithm, baseline, published): (&str, &str, &str, f64),
) -> Option<(f64, &'static str)> {
    let time = |definition: &str, algorithm: &str| {
        let of = |row: &&Row| {
            (row.definition, row.algorithm, row.nodes) == (definition, algorithm, nodes)
        };
        Some(rows.iter().find(of)?.completion_us)
    };
    let definitions = DEFINITIONS.iter().filter(|definition| definition.pattern == pattern);
    definitions
        .filter_map(|it| {
            Some((100.0 * (time(it.name, baseline)? / time(it.name, algorithm)? - 1.0), it.name))
        })
        .min_by(|one, other| (one.0 - published).abs().total_cmp(&(other.0 - published).abs()))
}

/// For each definition of a pattern the completion times over nodes, and beside ours on 32 those
/// that the published gains would give.
fn figures(rows: &[Row]) -> Vec<(String, Figure)> {
    let figure = |(number, definition): (usize, &Definition)| {
        let own = || rows.iter().filter(|row| row.definition == definition.name);
        let highest = own().map(|row| row.completion_us).fold(0.0, f64::max);
        let (unit, size) = if highest < 1e4 { ("\u{b5}s", 1.0) } else { ("ms", 1e3) };
        let group = |nodes: u32| format!("{nodes} nodes");
        let mut bars = Vec::new();
        for algorithm in ALGORITHMS {
            let of = own().filter(|row| row.algorithm == algorithm);
            let values = of.map(|row| (group(row.nodes), row.completion_us / size, None));
            bars.push(Bars { label: algorithm.into(), published: false, values: values.collect() });
            let bfs = own().find(|row| (row.nodes, row.algorithm) == (ALL_OF_DESMOS, "bfs"));
            let gain = published_gain(definition.pattern, algorithm);
            if let Some((bfs, gain)) = bfs.zip(gain) {
                let time = bfs.completion_us / (1.0 + gain / 100.0) / size;
                bars.push(Bars {
                    label: format!("{algorithm}, {PUBLISHED} gain"),
                    published: true,
                    values: vec![(group(ALL_OF_DESMOS), time, None)],
                });
            }
        }
        let (pattern, name) = (definition.pattern, definition.name);
        let title = format!("Tori of 2 to 32 nodes of Desmos, {pattern} ({name}), {MESSAGE}");
        let axis = format!("Completion time ({unit})");
        let note = published_text(pattern);
        (format!("{pattern}-{}", number + 1), bars_figure(&ALGORITHMS, &title, &axis, &bars, &note))
    };
    let patterns = DEFINITIONS.chunk_by(|one, next| one.pattern == next.pattern);
    let numbered = patterns.flat_map(|of_pattern| of_pattern.iter().enumerate());
    let shown = numbered.filter(|(_, it)| rows.iter().any(|row| row.definition == it.name));
    shown.map(figure).collect()
}

/// The part of Desmos that is the whole.
const ALL_OF_DESMOS: u32 = 32;

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
            nodes,
            torus: String::new(),
            algorithm,
            completion_us: f64::from(nodes),
            speed_up_over_bfs: 1.0,
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
    fn every_definition_is_a_permutation() {
        for definition in DEFINITIONS {
            for (nodes, sizes) in PARTS {
                let Some(pairs) = pairs(&definition.rule, sizes) else { continue };
                let mut destinations: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
                destinations.sort_unstable();
                destinations.dedup();
                assert_eq!(destinations.len(), pairs.len(), "{definition:?} on {nodes}");
            }
        }
    }

    #[test]
    fn a_better_table_makes_all_to_all_faster() {
        let of_pattern = |it: &&Definition| it.pattern == "all-to-all";
        for &definition in DEFINITIONS.iter().filter(of_pattern) {
            let time = |algorithm| {
                let job = Job { definition, nodes: 16, sizes: &[4, 2, 2], algorithm };
                completion(&job, SAMPLE).unwrap()
            };
            assert!(time("balanced") < time("bfs"), "{definition:?}");
        }
    }

    #[test]
    fn the_steps_of_all_to_all_lead_to_everybody_and_agree() {
        for partners in [exchanged, shifted] {
            for rank in 0..8 {
                let mut reached: Vec<u32> = (1..8).map(|step| partners(rank, step, 8).0).collect();
                reached.sort_unstable();
                assert_eq!(reached, (0..8).filter(|&other| other != rank).collect::<Vec<u32>>());
                for step in 1..8 {
                    assert_eq!(partners(partners(rank, step, 8).0, step, 8).1, rank);
                }
            }
        }
    }
}
