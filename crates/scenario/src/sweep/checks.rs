//! Mistakes of a sweep's keys together, or on top of the document.

use super::{axis::Setting, grid::Key, loads::Loads, table::SweepTable, zip};
use crate::workload::{LOAD_TABLE, SEVERAL, WorkloadKind};
use crate::{Document, series::LOAD};
use flitlab_base::document::{Diagnostic, Location, Node, Value, nearest, quoted};
use flitlab_base::registry::Registered;

/// Beyond this a sweep is a mistake.
const MAX_POINTS: usize = 100_000;

/// All mistakes.
pub(super) fn check(document: &Document, sweep: &SweepTable) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (at, key) in sweep.grid.iter().enumerate() {
        let twice = sweep.grid[..at].iter().any(|earlier| earlier.path == key.path);
        problems.extend(check_key(sweep, &key.path, &key.key_place, twice));
        if let Some(node) = document.get(&key.path).filter(|node| node.place.source.typed) {
            let value = typed(node);
            problems.push(
                vain(node, &key.path).help(format!(
                    "set the swept values: --set 'sweep.grid.{}=[{value}]'",
                    key.path
                )),
            );
        }
    }
    for step in &sweep.series {
        for (at, setting) in step.settings.iter().enumerate() {
            let Setting { path, key_place, .. } = setting;
            let earlier = &step.settings[..at];
            let twice = earlier.iter().any(|earlier| earlier.path == *path)
                || sweep.grid.iter().any(|key| key.path == *path);
            problems.extend(check_key(sweep, path, key_place, twice));
            if let Some(node) = document.get(path).filter(|node| node.place.source.typed) {
                let name = step.name.as_deref().unwrap_or_default();
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                let help = match name.chars().all(plain) {
                    true => format!(
                        "the series `{name}` gives it: --set 'sweep.series.{name}.{path}={}'",
                        typed(node)
                    ),
                    false => format!("the series `{name}` gives it: change it there"),
                };
                problems.push(vain(node, path).help(help));
            }
            let apart = |key: &&Key| key.path != *path && overlap(&key.path, path);
            problems.extend(sweep.grid.iter().filter(apart).map(|key| partly(setting, key)));
            if path == LOAD {
                problems.push(
                    Diagnostic::new(key_place, "a series has many loads")
                        .help("give them in [sweep.grid]: traffic.load = [0.1, 0.2, 0.3]"),
                );
            }
        }
    }
    match &sweep.auto {
        Some(place) => problems.extend(check_auto(document, sweep, place)),
        None => problems.extend(zip::check(&sweep.zip, &sweep.grid)),
    }
    problems.extend(check_whole(document, sweep));
    problems.extend(check_figures(document, &sweep.grid, sweep.figures.each.as_deref()));
    problems
}

/// What can't go together with loads that are found.
fn check_auto(document: &Document, sweep: &SweepTable, place: &Location) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if let Some(node) = document.get(LOAD).filter(|node| node.place.source.typed) {
        let help = format!("set the swept values: --set 'sweep.grid.{LOAD}=[{}]'", typed(node));
        problems.push(vain(node, LOAD).help(help));
    }
    if let Loads::Saturation { .. } = sweep.loads {
        problems.push(
            Diagnostic::new(place, "the loads are those of a curve, or those of a search")
                .label("a curve here")
                .help("leave `traffic.load` or `saturation` out of [sweep]"),
        );
    }
    if let Some(node) = document.get("sweep.past_saturation") {
        let message = "a curve that finds its loads ends by itself, past saturation";
        problems.push(Diagnostic::new(&node.place, message).help("leave `past_saturation` out"));
    }
    let is_zipped = |group: &zip::Group| group.iter().any(|(path, _)| path == LOAD);
    if sweep.zip.iter().any(is_zipped) {
        let message = "loads that are found go with no other key";
        problems.push(Diagnostic::new(place, message).help(
            "give the loads, `traffic.load = [0.1, 0.2, 0.3]`, or leave `traffic.load` out of `zip`",
        ));
    } else {
        problems.extend(zip::check(&sweep.zip, &sweep.grid));
    }
    problems
}

/// Whether one path is the other or lies below it.
fn overlap(one: &str, other: &str) -> bool {
    let below = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
    one == other || below(one, other) || below(other, one)
}

/// A series sets a table as one value of which the grid has a key, or the other way round.
fn partly(setting: &Setting, key: &Key) -> Diagnostic {
    let whole = if key.path.len() < setting.path.len() { &key.path } else { &setting.path };
    let (of_series, of_grid) = (&setting.path, &key.path);
    Diagnostic::new(
        &setting.key_place,
        format!("the series sets `{of_series}`, and [sweep.grid] `{of_grid}`"),
    )
    .help(format!(
        "`{whole}` is set as one value: have all of its keys in [sweep.grid], or in the series"
    ))
}

fn check_key(sweep: &SweepTable, path: &str, place: &Location, twice: bool) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let new = |message: String| Diagnostic::new(place, message);
    if twice {
        problems.push(new(format!("`{path}` is swept twice")).label("the second time"));
    }
    if path == "sweep" || path.starts_with("sweep.") {
        problems.push(new("a sweep can't sweep itself".into()));
    }
    if path == LOAD && matches!(sweep.loads, Loads::Saturation { .. }) {
        problems.push(
            new("the load is either given or looked for".into())
                .label("given here")
                .help("leave `traffic.load` or `saturation` out of [sweep]"),
        );
    }
    if path == "seed" && sweep.repetitions > 1 {
        problems.push(
            new("`repetitions` choose the seeds".into())
                .label("given here")
                .help("leave `seed` or `repetitions` out of [sweep]"),
        );
    }
    problems
}

/// Setting a key that the sweep gives is in vain.
fn vain(node: &Node, path: &str) -> Diagnostic {
    Diagnostic::new(&node.place, format!("`{path}` is swept, so setting it changes nothing"))
}

/// A value that was typed, as TOML: its quotes may have been lost to the shell.
fn typed(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => quoted(text),
        _ => node.place.text().to_owned(),
    }
}

fn check_whole(document: &Document, sweep: &SweepTable) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let place = |path: &str| {
        let node = document.get(path).or_else(|| document.get("sweep"));
        node.map_or_else(|| document.start(), |node| node.place.clone())
    };
    let nothing = sweep.grid.is_empty() && sweep.series.is_empty() && sweep.repetitions == 1;
    let finds = match sweep.loads {
        Loads::Written { .. } => None,
        Loads::Curve(_) => sweep.auto.clone().map(|place| (place, "loads are found")),
        Loads::Saturation { .. } => Some((place("sweep.saturation"), "saturation is looked for")),
    };
    if nothing && finds.is_none() {
        problems.push(
            Diagnostic::new(&place("sweep"), "[sweep] sweeps nothing")
                .help("give [sweep.grid] a key, for example `traffic.load = [0.1, 0.2, 0.3]`"),
        );
    }
    let has = |name: &str| document.get(name).is_some();
    // Beside a load, too, what comes to an end is measured until then, and not in a steady state.
    let without_load = |kind: &Registered<WorkloadKind>| has(kind.name) && kind.name != LOAD_TABLE;
    if let Some(node) = document.get("sweep.precision").filter(|_| sweep.auto.is_none()) {
        let message = "`precision` is that of curves that find their loads";
        let help = "write `traffic.load = \"auto\"` in [sweep.grid], or leave `precision` out";
        problems.push(Diagnostic::new(&node.place, message).help(help));
    }
    if let Some((place, what)) = finds.as_ref().filter(|_| has(SEVERAL)) {
        let message = format!("{what} by one load, and [{SEVERAL}] may have more");
        let help = format!(
            "sweep the load of one of them instead: `\"{SEVERAL}.NAME.traffic.load\" = [0.1, 0.2]` in [sweep.grid]"
        );
        problems.push(Diagnostic::new(place, message).help(help));
    }
    if let Some((place, what)) = finds.as_ref().filter(|_| has("interruption")) {
        let message = format!("{what} by what is steady, and an [interruption] is not");
        let help = "leave [interruption] out, or give the loads: `traffic.load = [0.1, 0.2]` in [sweep.grid]";
        problems.push(Diagnostic::new(place, message).help(help));
    }
    let mut kinds = document.registry.rows::<WorkloadKind>();
    if let (Some((place, _)), Some(kind)) = (&finds, kinds.find(without_load)) {
        let article = if kind.name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let message = format!("{article} [{}] has no load that could saturate", kind.name);
        let help = match sweep.loads {
            Loads::Saturation { .. } => "`saturation` goes with [traffic]",
            Loads::Curve(_) | Loads::Written { .. } => "`\"auto\"` goes with [traffic]",
        };
        problems.push(Diagnostic::new(place, message).help(help));
    }
    // Zipped keys count once.
    let zipped = |key: &&Key| {
        let other = |group: &zip::Group| group.iter().skip(1).any(|(path, _)| *path == key.path);
        !sweep.zip.iter().any(other)
    };
    let grid = sweep.grid.iter().filter(zipped);
    let mut counts: Vec<(usize, &str)> =
        grid.map(|key| (key.values.len(), key.path.as_str())).collect();
    if !sweep.series.is_empty() {
        counts.insert(0, (sweep.series.len(), "series"));
    }
    if sweep.repetitions > 1 {
        counts.push((sweep.repetitions as usize, "repetitions"));
    }
    let points = counts.iter().try_fold(1usize, |points, (count, _)| points.checked_mul(*count));
    if points.is_none_or(|points| points > MAX_POINTS) {
        let counts: Vec<String> =
            counts.iter().map(|(count, path)| format!("{count} of {path}")).collect();
        problems.push(
            Diagnostic::new(
                &place("sweep.grid"),
                format!("the sweep has more than {MAX_POINTS} points"),
            )
            .help(format!("values: {}", counts.join(" times "))),
        );
    }
    problems
}

/// Whether figures are told apart by a key that is swept and no curve's axis.
fn check_figures(document: &Document, grid: &[Key], figures: Option<&str>) -> Option<Diagnostic> {
    let figures = figures?;
    let keys: Vec<&str> =
        grid.iter().map(|key| key.path.as_str()).filter(|path| *path != LOAD).collect();
    if keys.contains(&figures) {
        return None;
    }
    let place = document.get("sweep.figures.each").or_else(|| document.get("sweep.figures"));
    let place = &place?.place;
    let problem = Diagnostic::new(place, format!("`{figures}` tells no curves apart"));
    Some(match (nearest(figures, keys.iter().copied()), keys.is_empty()) {
        (Some(near), _) => problem.label(format!("did you mean `{near}`?")),
        (None, false) => problem.help(format!("[sweep.grid] has {}", keys.join(", "))),
        (None, true) => problem.help("leave `figures` out: there is one curve only"),
    })
}
