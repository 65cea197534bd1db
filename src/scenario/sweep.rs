//! `[sweep]`: many scenarios from one document.
//!
//! Values keep the place of the list's element that they come from, so that a point's mistake is
//! shown where it was written.

use super::{
    Identity, Reading, Scenario,
    checks::Fabrics,
    diagnostic::{Diagnostic, Diagnostics, Location},
    document::{Document, Entry, Node, Table, Value},
    kind::{Kind, Number, Slot, Text, nearest},
    range,
    reader::{Purpose, Reader},
    series::{self, LOAD},
};

/// Beyond this a sweep is a mistake.
const MOST_POINTS: usize = 100_000;

/// With which load a series is read if saturation is looked for and no load is given.
const START_LOAD: f64 = 0.01;

/// The scenarios of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Find each point's highest sustained load, by bisection, instead of running it as it is.
    pub saturation: Option<Saturation>,
    /// The key that has a figure for each of its values; all curves are in one if `None`.
    pub figures: Option<String>,
    /// Series in the file's order, the last key fastest; within a series the loads.
    pub points: Vec<Point>,
}

/// How the highest sustained load is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Width in load at which the search ends.
    pub tolerance: f64,
}

/// One scenario of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Key and value, in the order of the grid's nesting. Values are as written, texts without
    /// quotes.
    pub assignments: Vec<(String, String)>,
    /// What its curve is called in a legend: the values of all keys but the load. May be empty.
    pub series: String,
    /// What the figure of its curve is called; empty if all curves are in one.
    pub figure: String,
    /// The sweep's document with these values set.
    pub document: Document,
    pub scenario: Scenario,
    pub identity: Identity,
}

impl Sweep {
    /// Reads and checks all points.
    ///
    /// # Errors
    /// All mistakes of the sweep and of all its points, each once; if there is no `[sweep]`.
    pub fn read(document: &Document) -> Result<Self, Diagnostics> {
        if !document.intact {
            Diagnostics::check(document.problems.clone())?;
        }
        let mut reader = Reader::reading(document);
        if !document.has_sweep() {
            let problem = Diagnostic::new(&document.start(), "the scenario has no [sweep]")
                .help("add for example [sweep.grid] and below it `traffic.load = [0.1, 0.2, 0.3]`");
            reader.problems.push(problem);
        }
        let SweepTable { grid, saturation, figures } = read_table(&mut reader);
        let mut problems = reader.problems;
        let mut axes = grid.unwrap_or_default();
        if document.has_sweep() && problems.is_empty() {
            problems.extend(check(document, &axes, saturation));
            problems.extend(check_figures(document, &axes, figures.as_deref()));
        }
        if !problems.is_empty() {
            // Without its points the scenario itself is still worth checking.
            let reading = Reading::of(document, &mut Fabrics::default(), Purpose::Sweep);
            problems.extend(reading.problems);
            return Err(Diagnostics::check(problems).expect_err("there are problems"));
        }
        axes.sort_by_key(|axis| axis.path == LOAD);
        let mut base = document.clone();
        if saturation.is_some() && document.get(LOAD).is_none() {
            let place = document
                .get("sweep.saturation")
                .map_or_else(|| document.start(), |node| node.place.clone());
            let value = Value::Float(START_LOAD, START_LOAD.to_string());
            base.assign(&["traffic", "load"], &place.clone(), Node { value, place });
        }
        let mut fabrics = Fabrics::default();
        let mut points = Vec::new();
        for choice in 0..axes.iter().map(|axis| axis.values.len()).product() {
            let (assignments, document) = assigned(&base, &axes, choice);
            match Scenario::read_with(&document, &mut fabrics) {
                Ok((scenario, read)) => {
                    let identity = read.identity();
                    let series = series::name(&assignments);
                    let figure = figure(&assignments, figures.as_deref());
                    points.push(Point {
                        assignments,
                        series,
                        figure,
                        document,
                        scenario,
                        identity,
                    });
                }
                Err(more) => problems.extend(more.into_list()),
            }
        }
        Diagnostics::check(problems)?;
        Ok(Self { saturation, figures, points })
    }
}

/// The name of the figure that is told apart by the value of `key`.
fn figure(assignments: &[(String, String)], key: Option<&str>) -> String {
    assignments
        .iter()
        .find(|(path, _)| Some(path.as_str()) == key)
        .map_or_else(String::new, |(path, value)| series::part(path, value))
}

/// The values of one point, the last axis fastest, and the document with them.
fn assigned(base: &Document, axes: &[Axis], choice: usize) -> (Vec<(String, String)>, Document) {
    let mut document = base.clone();
    let mut assignments = Vec::new();
    let mut stride: usize = axes.iter().map(|axis| axis.values.len()).product();
    for axis in axes {
        stride /= axis.values.len();
        let (text, node) = &axis.values[choice / stride % axis.values.len()];
        let path: Vec<&str> = axis.path.split('.').collect();
        document.assign(&path, &axis.key_place, node.clone());
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            _ => text.clone(),
        };
        assignments.push((axis.path.clone(), text));
    }
    (assignments, document)
}

/// `[sweep]` as it is written.
pub(super) struct SweepTable {
    grid: Option<Vec<Axis>>,
    saturation: Option<Saturation>,
    figures: Option<String>,
}

/// Reads, or documents, `[sweep]`.
pub(super) fn read_table(reader: &mut Reader<'_>) -> SweepTable {
    let doc = "Many runs of this scenario, one for each combination of values. The keys are nested \
               in the file's order, traffic.load innermost: one curve of loads for each \
               combination of the others.";
    reader.table("sweep", doc, |reader| {
        let doc = "The values of each key: a list, or a range whose ends are included, as in \
                   `traffic.load = { from = 0.1, to = 0.9, step = 0.1 }`.";
        let grid = reader.optional("grid", &Grid, doc);
        let doc = "Finds the highest load that each combination sustains, by bisection, instead of \
                   running a list of loads.";
        let saturation =
            reader.optional_table("saturation", "{ tolerance = 0.01 }", doc, |reader| {
                let kind = Number { above: 0.0, to: 1.0, inclusive: false };
                let doc = "Width in load at which the search ends.";
                Saturation { tolerance: reader.value("tolerance", &kind, 0.01, doc) }
            });
        let kind = Text { what: "a key of the grid", example: "traffic.pattern" };
        let doc = "A swept key with a figure of its own for each of its values. Without it all curves \
                   are in one figure.";
        let figures = reader.optional("figures", &kind, doc);
        SweepTable { grid, saturation, figures }
    })
}

/// Whether figures are told apart by a key that is swept and no curve's axis.
fn check_figures(document: &Document, axes: &[Axis], figures: Option<&str>) -> Option<Diagnostic> {
    let figures = figures?;
    let keys: Vec<&str> =
        axes.iter().map(|axis| axis.path.as_str()).filter(|path| *path != LOAD).collect();
    if keys.contains(&figures) {
        return None;
    }
    let place = &document.get("sweep.figures")?.place;
    let problem = Diagnostic::new(place, format!("`{figures}` tells no curves apart"));
    Some(match (nearest(figures, keys.iter().copied()), keys.is_empty()) {
        (Some(near), _) => problem.label(format!("did you mean `{near}`?")),
        (None, false) => problem.help(format!("[sweep.grid] has {}", keys.join(", "))),
        (None, true) => problem.help("leave `figures` out: there is one curve only"),
    })
}

/// Whether the sweep gives this key to its points.
pub(super) fn gives(document: &Document, path: &str) -> bool {
    let Some(Node { value: Value::Table(sweep), .. }) = document.get("sweep") else { return false };
    // An unknown key may be meant for one that gives it, and is reported anyhow.
    let unknown = |entry: &Entry| !matches!(entry.key.as_str(), "grid" | "saturation" | "figures");
    if path == LOAD && (sweep.get("saturation").is_some() || sweep.entries.iter().any(unknown)) {
        return true;
    }
    matches!(sweep.get("grid"), Some(Node { value: Value::Table(grid), .. }) if has(grid, path))
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

/// What a grid's axes can't be together, or on top of the document.
fn check(document: &Document, axes: &[Axis], saturation: Option<Saturation>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (at, axis) in axes.iter().enumerate() {
        let new = |message: String| Diagnostic::new(&axis.key_place, message);
        if axes[..at].iter().any(|earlier| earlier.path == axis.path) {
            problems.push(new(format!("`{}` is swept twice", axis.path)).label("the second time"));
        }
        if axis.path == "sweep" || axis.path.starts_with("sweep.") {
            problems.push(new("a sweep can't sweep itself".into()));
        }
        if axis.path == LOAD && saturation.is_some() {
            problems.push(
                new("the load is either given or looked for".into())
                    .label("given here")
                    .help("leave `traffic.load` or `saturation` out of [sweep]"),
            );
        }
        if let Some(node) = document.get(&axis.path).filter(|node| node.place.source.typed) {
            let message = format!("`{}` is swept, so setting it changes nothing", axis.path);
            problems.push(Diagnostic::new(&node.place, message).help(format!(
                "set the swept values: --set sweep.grid.{}=[{}]",
                axis.path,
                node.place.text()
            )));
        }
    }
    let sweep =
        || document.get("sweep").map_or_else(|| document.start(), |node| node.place.clone());
    if axes.is_empty() && saturation.is_none() {
        problems.push(
            Diagnostic::new(&sweep(), "[sweep] sweeps nothing")
                .help("give [sweep.grid] a key, for example `traffic.load = [0.1, 0.2, 0.3]`"),
        );
    }
    if saturation.is_some() && document.get("exchange").is_some() {
        let place = document.get("sweep.saturation").map_or_else(sweep, |node| node.place.clone());
        problems.push(
            Diagnostic::new(&place, "an [exchange] has no load that could saturate")
                .help("`saturation` goes with [traffic]"),
        );
    }
    let points = axes.iter().try_fold(1usize, |points, axis| points.checked_mul(axis.values.len()));
    if points.is_none_or(|points| points > MOST_POINTS) {
        let counts: Vec<String> =
            axes.iter().map(|axis| format!("{} of {}", axis.values.len(), axis.path)).collect();
        let place = document.get("sweep.grid").map_or_else(sweep, |node| node.place.clone());
        problems.push(
            Diagnostic::new(&place, format!("the sweep has more than {MOST_POINTS} points"))
                .help(format!("values: {}", counts.join(" times "))),
        );
    }
    problems
}

/// A key and its values, each as text and as a value.
#[derive(Clone)]
pub(super) struct Axis {
    path: String,
    key_place: Location,
    values: Vec<(String, Node)>,
}

/// A table of axes, keys dotted or nested.
struct Grid;

impl Kind for Grid {
    type Value = Vec<Axis>;

    fn describe(&self) -> String {
        "a table of keys with their values".into()
    }

    fn example(&self) -> String {
        "{ router.buffer = [\"72 flits\", \"144 flits\"], traffic.load = [0.1, 0.2, 0.3] }".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Vec<Axis>, Vec<Diagnostic>> {
        let Value::Table(table) = &node.value else {
            return Err(super::kind::wrong_type(self, slot, node));
        };
        let (mut axes, mut problems) = (Vec::new(), Vec::new());
        collect(table, "", &mut axes, &mut problems);
        axes.sort_by_key(|axis| (axis.key_place.source.order, axis.key_place.span.start));
        if problems.is_empty() { Ok(axes) } else { Err(problems) }
    }

    fn show(&self, axes: &Vec<Axis>) -> String {
        let axis = |axis: &Axis| {
            let values: Vec<&str> = axis.values.iter().map(|(text, _)| text.as_str()).collect();
            format!("{} = [{}]", axis.path, values.join(", "))
        };
        format!("{{ {} }}", axes.iter().map(axis).collect::<Vec<_>>().join(", "))
    }
}

fn collect(table: &Table, above: &str, axes: &mut Vec<Axis>, problems: &mut Vec<Diagnostic>) {
    for entry in &table.entries {
        let path =
            if above.is_empty() { entry.key.clone() } else { format!("{above}.{}", entry.key) };
        let place = &entry.node.place;
        let values = match &entry.node.value {
            Value::Broken => continue,
            Value::Table(inner) if range::KEYS.iter().any(|key| inner.get(key).is_some()) => {
                range::values(&path, inner, place)
            }
            Value::Table(inner) => {
                collect(inner, &path, axes, problems);
                continue;
            }
            Value::List(list) => elements(&path, list, place),
            _ => Err(vec![
                Diagnostic::new(place, format!("`{path}` must be a list of values"))
                    .label(format!("this is {}", entry.node.what()))
                    .help(format!(
                        "write `{path} = [{}]`, or a range {{ from = 0.1, to = 0.9, step = 0.1 }}",
                        place.text()
                    )),
            ]),
        };
        match values {
            Ok(values) => axes.push(Axis { path, key_place: entry.key_place.clone(), values }),
            Err(more) => problems.extend(more),
        }
    }
}

fn elements(
    path: &str,
    list: &[Node],
    place: &Location,
) -> Result<Vec<(String, Node)>, Vec<Diagnostic>> {
    if list.is_empty() {
        return Err(vec![Diagnostic::new(place, format!("`{path}` has no values"))]);
    }
    let mut problems = Vec::new();
    let mut values: Vec<(String, Node)> = Vec::new();
    for node in list {
        let text = node.place.text();
        if values.iter().any(|(earlier, _)| earlier == text) {
            problems.push(
                Diagnostic::new(&node.place, format!("`{path}` has the value {text} twice"))
                    .label("the second time"),
            );
        }
        values.push((text.into(), node.clone()));
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}
