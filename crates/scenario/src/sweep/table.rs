//! `[sweep]` as it is written.

use super::{
    axis::Step,
    figures::{self, Figures},
    grid::{Grid, Key, Swept},
    loads::{CurvePrecision, Loads},
    named::NamedSeries,
    slurm::{self, SlurmSettings},
    zip::{Group, Zip},
};
use crate::series::LOAD;
use flitlab_base::document::{
    Diagnostic, Entry, Kind, Location, Node, Number, Reader, Slot, Table, Value, Whole, nearest,
    wrong_type,
};
use flitlab_base::narrow::narrow;

/// Loads past saturation that a series has if nothing else is said.
const PAST_SATURATION: usize = 2;

/// The values that were read.
pub(crate) struct SweepTable {
    pub(super) grid: Vec<Key>,
    pub(super) zip: Vec<Group>,
    pub(super) series: Vec<Step>,
    pub(super) repetitions: u32,
    pub(super) loads: Loads,
    /// Where it is said that each series finds its loads.
    pub(super) auto: Option<Location>,
    pub(super) figures: Figures,
    pub(super) slurm: SlurmSettings,
}

/// Reads, or documents, `[sweep]`.
pub(crate) fn read(reader: &mut Reader<'_>) -> SweepTable {
    let doc = "Many runs of this scenario, one for each combination of values. The keys are nested \
               in the file's order, traffic.load innermost: one curve of loads for each \
               combination of the others.";
    reader.table("sweep", doc, |reader| {
        let doc = "The values of each key: a list, or a range whose ends are included, as in \
                   `traffic.load = { from = 0.1, to = 0.9, step = 0.1 }`. With `traffic.load = \"auto\"` \
                   each series finds the loads that its curve needs: coarse ones, then those around the \
                   highest that is sustained, then finer ones where the latency bends.";
        let Swept { keys: grid, auto } = reader.optional("grid", &Grid, doc).unwrap_or_default();
        let doc = "Keys of the grid that change together, first values with first values and so on, \
                   instead of each with all values of the other.";
        let zip = reader.optional("zip", &Zip, doc).unwrap_or_default();
        let doc = "Series with a name for the legend, outermost, each with values of its own for any keys. \
                   A topology or a routing replaces the scenario's.";
        let series = reader.optional("series", &NamedSeries(reader.hints), doc).unwrap_or_default();
        let doc = "Runs of every point, or searches for saturation, each with the next seed. means.csv has \
                   the means of points with their 95% confidence intervals, which figures show.";
        let repetitions = narrow(reader.value("repetitions", &Whole { range: 1..=1_000 }, 1, doc));
        let doc = "Loads in a row that do not reach a steady state, in none of their repetitions, \
                   after which a series ends.";
        let past_saturation =
            reader.value("past_saturation", &PastSaturation, Some(PAST_SATURATION), doc);
        let share = || Number { above: 0.0, to: 1.0, inclusive: false };
        let doc = "How exactly curves are drawn whose loads are \"auto\".";
        let example = "{ load = 0.01, latency = 0.05 }";
        let precision = reader.optional_table("precision", example, doc, |reader| {
            let doc = "Between the highest load that is sustained and the lowest that is not, as a share \
                       of the load.";
            let load = reader.value("load", &share(), CurvePrecision::USUAL.load, doc);
            let doc = "By which share of the mean latency a straight line between two points may be off \
                       the curve.";
            let usual = CurvePrecision::USUAL.latency;
            let latency = reader.value("latency", &share(), usual, doc);
            CurvePrecision { load, latency }
        });
        let doc = "Finds the highest load that each combination sustains, by bisection, instead of \
                   running a list of loads.";
        let saturation =
            reader.optional_table("saturation", "{ tolerance = 0.01 }", doc, |reader| {
                let doc = "Width in load at which the search ends.";
                reader.value("tolerance", &share(), 0.01, doc)
            });
        let loads = match (saturation, &auto) {
            (Some(tolerance), _) => Loads::Saturation { tolerance },
            (None, Some(_)) => Loads::Curve(precision.unwrap_or(CurvePrecision::USUAL)),
            (None, None) => Loads::Written { past_saturation },
        };
        let figures = figures::read(reader);
        let slurm = slurm::read(reader).unwrap_or_default();
        SweepTable { grid, zip, series, repetitions, loads, auto, figures, slurm }
    })
}

/// Whether the sweep gives this key to its points.
pub(crate) fn gives(sweep: &Table, path: &str) -> bool {
    const KNOWN: [&str; 9] = [
        "grid",
        "zip",
        "series",
        "repetitions",
        "past_saturation",
        "precision",
        "saturation",
        "figures",
        "slurm",
    ];
    // An unknown key may be meant for one that gives it, and is reported anyhow.
    let unknown = |entry: &Entry| !KNOWN.contains(&entry.key.as_str());
    if path == LOAD && (sweep.get("saturation").is_some() || sweep.entries.iter().any(unknown)) {
        return true;
    }
    let inner = |key| match sweep.get(key) {
        Some(Node { value: Value::Table(inner), .. }) => Some(inner),
        _ => None,
    };
    let named = |entry: &Entry| matches!(&entry.node.value, Value::Table(keys) if has(keys, path));
    inner("grid").is_some_and(|grid| has(grid, path))
        || inner("series").is_some_and(|series| series.entries.iter().any(named))
}

/// Whether a table has a path, nested or dotted, whatever its value.
fn has(table: &Table, path: &str) -> bool {
    table.entries.iter().any(|entry| match path.strip_prefix(entry.key.as_str()) {
        Some("") => true,
        Some(rest) => matches!(
            (rest.strip_prefix('.'), &entry.node.value),
            (Some(rest), Value::Table(inner)) if has(inner, rest)
        ),
        None => false,
    })
}

/// A number of loads, or all.
struct PastSaturation;

impl PastSaturation {
    const COUNT: Whole = Whole { range: 1..=1_000 };
}

impl Kind for PastSaturation {
    type Value = Option<usize>;

    fn describe(&self) -> String {
        format!("\"all\" (no series ends) or {}", Self::COUNT.describe())
    }

    fn example(&self) -> String {
        PAST_SATURATION.to_string()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Option<usize>, Vec<Diagnostic>> {
        match &node.value {
            Value::Text(text) if text == "all" => Ok(None),
            Value::Integer(_) | Value::Float(..) => {
                Self::COUNT.parse(slot, node).map(|count| Some(narrow(count)))
            }
            _ => {
                let mut problems = wrong_type(self, slot, node);
                if let (Value::Text(text), [problem]) = (&node.value, problems.as_mut_slice())
                    && nearest(text, ["all"]).is_some()
                {
                    problem.help = Some(format!("write {}", slot.write(node, "\"all\"")));
                }
                Err(problems)
            }
        }
    }

    fn show(&self, value: &Option<usize>) -> String {
        value.map_or_else(|| "\"all\"".into(), |count| count.to_string())
    }
}
