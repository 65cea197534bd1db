//! `[sweep]`: many scenarios from one document.
//!
//! Values keep the place of the list's element that they come from, so that a point's mistake is
//! shown where it was written.

mod axis;
mod cell;
mod checks;
mod figures;
mod grid;
mod loads;
mod named;
mod point;
mod slurm;
mod table;
mod toml;
mod unasked;
mod unlike;
mod zip;

use std::collections::BTreeSet;

use super::{
    Document, Identity, Scenario,
    checks::Fabrics,
    resolved,
    schema::{self, CHANNELS},
    series::{self, LOAD},
    simulation::{KeptChannels, MANY_CHANNELS},
};
use crate::purpose::Purpose;
use crate::read::Reading;
use crate::resolved::Resolved;
use axis::{Axis, Choice};
pub use figures::Figures;
use flitlab_base::document::{Diagnostic, Diagnostics, Hints, Missed, Node, Reader, Value};
pub use loads::{CurvePrecision, Loads};
pub use point::Point;
pub use slurm::{SlurmSettings, check_sbatch_option, check_slurm_name};
use table::SweepTable;
use unasked::Comparison;
pub use unasked::Unasked;
use unlike::KeysOfSeries;
pub use unlike::{Resource, Unlike, UnlikeGroup};

/// With which load a series is read if saturation is looked for and no load is given.
const START_LOAD: f64 = 0.01;

/// The scenarios of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Which loads its points have.
    pub loads: Loads,
    /// How many of its points keep channels by group because they have many, and nothing else is said.
    pub by_group: usize,
    /// Runs of every point, with seeds that follow each other.
    pub repetitions: u32,
    /// How its figures look.
    pub figures: Figures,
    /// The requested resources of a job array's tasks; they are no part of the sweep's identity.
    pub slurm: SlurmSettings,
    /// Series in the file's order, the last key fastest; within a series the loads; of each load
    /// its repetitions. If loads are found as it goes, a point stands for all of them.
    pub points: Vec<Point>,
    /// Series that have other routers, links and adapters than the rest, because their topology or
    /// routing has other defaults; empty if all have the same, or the sweep gives them.
    pub unasked: Vec<Unasked>,
    /// Series of one figure whose keys give them other buffers, rates or packets; empty if their
    /// presets differ, of which `unasked` tells.
    unlike_keys: Vec<Unlike>,
    /// The paths that the sweep sets.
    given: Vec<String>,
    /// Keys that are not the same in all points, though neither the document nor the sweep says so.
    implied: BTreeSet<String>,
    /// `[sweep]` with every value written out.
    table: String,
}

impl Sweep {
    /// Reads and checks all points.
    ///
    /// # Errors
    /// All mistakes of the sweep and of all its points, each once; if there is no `[sweep]`.
    pub fn read(document: &Document) -> Result<Self, Diagnostics> {
        Self::read_with(document, &mut Fabrics::default())
    }

    /// Reads a sweep without making tables for any fabric, which can take long. Whether there is a
    /// table, a point's [`Network::routes`](super::Network::routes) says.
    ///
    /// # Errors
    /// As [`Sweep::read`].
    pub fn read_without_tables(document: &Document) -> Result<Self, Diagnostics> {
        Self::read_with(document, &mut Fabrics::without_tables())
    }

    fn read_with(document: &Document, fabrics: &mut Fabrics) -> Result<Self, Diagnostics> {
        if !document.intact {
            Diagnostics::check(document.problems.clone())?;
        }
        let reference = || document.reference();
        let hints = Hints { reference: &reference, missed: &|_| Missed::Mistake };
        let mut reader = Reader::reading(document, Some(hints));
        if !document.has_sweep() {
            let problem = Diagnostic::new(&document.start(), "the scenario has no [sweep]")
                .help("add for example [sweep.grid] and below it `traffic.load = [0.1, 0.2, 0.3]`");
            reader.problems.push(problem);
        }
        let table = table::read(&mut reader);
        let mut problems = reader.problems;
        if document.has_sweep() && problems.is_empty() {
            problems.extend(checks::check(document, &table));
        }
        if !problems.is_empty() {
            // Without its points the scenario itself is still worth checking.
            let reading = Reading::of(document, &mut Fabrics::default(), Purpose::Sweep);
            problems.extend(reading.problems);
            return Err(Diagnostics::check(problems).expect_err("there are problems"));
        }
        Self::expand(document, table, fabrics)
    }

    fn expand(
        document: &Document,
        table: SweepTable,
        fabrics: &mut Fabrics,
    ) -> Result<Self, Diagnostics> {
        // Each point keeps its document; thousands of series are not kept thousands of times.
        let mut base = document.clone();
        base.remove("sweep");
        if !matches!(table.loads, Loads::Written { .. }) && document.get(LOAD).is_none() {
            let place =
                document.get("sweep").map_or_else(|| document.start(), |node| node.place.clone());
            let value = Value::Float(START_LOAD, START_LOAD.to_string());
            base.assign(&["traffic", "load"], &place.clone(), Node { value, place });
        }
        let groups: Vec<Vec<String>> = table
            .zip
            .iter()
            .map(|group| group.iter().map(|(path, _)| path.clone()).collect())
            .collect();
        let mut axes = axis::of_grid(&table.grid, &groups);
        if !table.series.is_empty() {
            axes.insert(0, Axis { steps: table.series.clone() });
        }
        let choices: usize = axes.iter().map(|axis| axis.steps.len()).product();
        let (mut points, mut problems) = (Vec::new(), hidden_mistakes(document, &table));
        let mut keys_of_series = Vec::new();
        let mut comparison = Comparison::default();
        let mut unlike: Vec<KeysOfSeries> = Vec::new();
        let mut by_group = 0;
        for number in 0..choices {
            let mut document = base.clone();
            let choice = axis::choose(&axes, number, &mut document);
            for repetition in 0..table.repetitions {
                let mut document = document.clone();
                if repetition > 0 {
                    next_seed(&mut document, repetition);
                }
                match Scenario::read_with(&document, fabrics) {
                    Ok((mut scenario, mut read)) => {
                        by_group += usize::from(keep_groups(&document, &mut scenario, &mut read));
                        let identity = Identity::new(&read);
                        let Choice { assignments, of_grid, series } = choice.clone();
                        let figure = figure(&assignments, table.figures.each.as_deref());
                        let point = Point {
                            assignments,
                            of_grid,
                            series,
                            figure,
                            repetition,
                            document,
                            scenario,
                            identity,
                        };
                        if repetition == 0 {
                            comparison.add(&point, &read);
                            unlike::note(&mut unlike, &point, &read);
                        }
                        points.push(point);
                        let first = number % (choices / table.series.len().max(1)) == 0;
                        if first && repetition == 0 {
                            keys_of_series.push(read.keys);
                        }
                    }
                    Err(more) => problems.extend(more.into_list()),
                }
            }
        }
        problems.extend(figures::unknown_series(document, &table.figures, &points));
        Diagnostics::check(problems)?;
        let given = unasked::given(&table);
        let implied = comparison.implied(&base, &table);
        // Presets that the sweep gives bring other keys along, as it says.
        let has_one_preset = comparison.has_one_preset();
        let unlike_keys =
            if has_one_preset { unlike::of_keys(&unlike, &given) } else { Vec::new() };
        Ok(Self {
            loads: table.loads,
            by_group,
            repetitions: table.repetitions,
            figures: table.figures.clone(),
            slurm: table.slurm.clone(),
            points,
            implied,
            unasked: comparison.unasked(&table),
            unlike_keys,
            given,
            table: toml::of_table(&table, &keys_of_series),
        })
    }

    /// Whether a key that `[sweep]` gives is set on the command line too, as for one run.
    pub fn is_overruled(document: &Document) -> bool {
        let SweepTable { grid, series, .. } = table::read(&mut Reader::reading(document, None));
        let set = |path: &str| document.get(path).is_some_and(|node| node.place.source.typed);
        let settings = series.iter().flat_map(|step| &step.settings);
        grid.iter().any(|key| set(&key.path)) || settings.into_iter().any(|it| set(&it.path))
    }

    /// How the figures of a document's sweep look, whatever else is wrong with it.
    pub fn figures(document: &Document) -> Figures {
        table::read(&mut Reader::reading(document, None)).figures
    }

    /// The points of each series whose loads are found together: its repetitions if it is a curve's,
    /// else each for itself.
    pub fn searches(&self) -> std::slice::Chunks<'_, Point> {
        self.points.chunks(self.points_of_a_search())
    }

    /// The points of each of [`Sweep::searches`].
    pub fn points_of_a_search(&self) -> usize {
        match self.loads {
            Loads::Curve(_) => self.repetitions.max(1) as usize,
            Loads::Written { .. } | Loads::Saturation { .. } => 1,
        }
    }

    /// Returns a point's name for people: its series, load, and seed if it is one of several
    /// repetitions.
    pub fn label(&self, place: usize) -> String {
        let point = &self.points[place];
        let parts = [
            Some(point.series.clone()).filter(|series| !series.is_empty()),
            point.load().map(|load| format!("load {load}")),
            (self.repetitions > 1).then(|| format!("seed {}", point.scenario.seed)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { format!("point {place}") } else { parts.join(", ") }
    }

    /// How many points are repeated although nothing in them is drawn at random, and the first one
    /// of them.
    pub fn repeats_in_vain(&self) -> (usize, Option<&Point>) {
        let equal = |runs: &&[Point]| {
            runs.windows(2).all(|two| two[0].scenario.ignores_the_seed(&two[1].scenario))
        };
        let each = self.repetitions.max(1) as usize;
        let mut vain = self.points.chunks(each).filter(|_| each > 1).filter(equal).peekable();
        let first = vain.peek().and_then(|runs| runs.first());
        (vain.count(), first)
    }

    /// The sweep as a scenario's text with every value written out, which reads back to an equal
    /// sweep. Left out are defaults that follow from what the sweep varies: written once, they
    /// would hold for all points.
    ///
    /// # Errors
    /// As [`Sweep::read`].
    pub fn resolved(&self) -> Result<String, Diagnostics> {
        let document = &self.points[0].document;
        let (mut scenario, mut read) = Scenario::read_with(document, &mut Fabrics::default())?;
        keep_groups(document, &mut scenario, &mut read);
        read.keys.retain(|(path, _)| !self.implied.contains(path));
        Ok(format!("{}\n{}", resolved::render(&read), self.table))
    }

    /// Returns the mistakes of the scenario without the sweep's values, which concern a run only:
    /// rules between keys. A key that the sweep gives may be missing.
    pub fn mistakes_of_run(document: &Document) -> Option<Diagnostics> {
        let mut fabrics = Fabrics::without_tables();
        let reading = Reading::of(document, &mut fabrics, Purpose::Sweep);
        Diagnostics::check(reading.problems).err()
    }
}

/// Lets a point with many channels keep those by group, unless its document says something else.
/// Returns whether it does now.
fn keep_groups(document: &Document, scenario: &mut Scenario, read: &mut Resolved) -> bool {
    let many = scenario.network.fabric.channel_slots() as usize > MANY_CHANNELS;
    if !many || document.get(CHANNELS).is_some() {
        return false;
    }
    scenario.kept.channels = KeptChannels::Groups;
    read.set(CHANNELS, "\"groups\"");
    true
}

/// Mistakes of values that the sweep replaces, so that no point shows them.
fn hidden_mistakes(document: &Document, sweep: &SweepTable) -> Vec<Diagnostic> {
    let replaced: Vec<Node> = unasked::replaced(sweep)
        .iter()
        .filter_map(|path| document.get(path).cloned())
        .filter(|node| !node.place.source.typed)
        .collect();
    if replaced.is_empty() {
        return Vec::new();
    }
    let reference = || document.reference();
    let hints = Hints { reference: &reference, missed: &|_| Missed::Nothing };
    let mut reader = Reader::reading(document, Some(hints));
    schema::read(&mut reader, &document.registry, Purpose::Sweep);
    let is_replaced = |problem: &Diagnostic| {
        problem.place.as_ref().is_some_and(|place| {
            replaced.iter().any(|node| {
                let outer = &node.place;
                outer.source == place.source
                    && outer.span.start <= place.span.start
                    && place.span.end <= outer.span.end
            })
        })
    };
    let mut problems = reader.problems;
    problems.retain(is_replaced);
    for problem in &mut problems {
        let replaced = "[sweep] replaces this value, so only `flitlab run` would take it";
        problem.help = Some(match problem.help.take() {
            Some(help) => format!("{help}; {replaced}"),
            None => replaced.into(),
        });
    }
    problems
}

/// Sets the seed of a repetition: the document's, or 1, and so many more.
fn next_seed(document: &mut Document, repetition: u32) {
    let node = document.get("seed").cloned();
    let place = node.as_ref().map_or_else(|| document.start(), |node| node.place.clone());
    let first = match node {
        None => Some(1),
        Some(Node { value: Value::Integer(seed), .. }) => seed,
        // It is wrong, and was reported for the first repetition.
        Some(_) => return,
    };
    let seed = first.and_then(|first| first.checked_add(i64::from(repetition)));
    let value = Value::Integer(seed);
    document.assign(&["seed"], &place.clone(), Node { value, place });
}

/// The name of the figure that is told apart by the value of `key`.
fn figure(assignments: &[(String, String)], key: Option<&str>) -> String {
    assignments
        .iter()
        .find(|(path, _)| Some(path.as_str()) == key)
        .map_or_else(String::new, |(path, value)| series::part(path, value))
}

/// Reads, or documents, `[sweep]`.
pub(super) fn read_table(reader: &mut Reader<'_>) -> SweepTable {
    table::read(reader)
}

/// Whether the document's sweep gives this key to its points.
pub(super) fn gives(document: &Document, path: &str) -> bool {
    matches!(document.get("sweep"), Some(Node { value: Value::Table(sweep), .. })
        if table::gives(sweep, path))
}
