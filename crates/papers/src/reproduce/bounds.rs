//! What rules that choose carry, beside what their ways allow. Of flitlab's own rules, patterns and
//! closed forms, so there is nothing published beside it.
//!
//! Bounds are of the load of all nodes that send at once. So they stand beside the highest load that is
//! sustained: past it nodes that avoid the fullest channels get more, and the mean over nodes may
//! exceed a bound.

use serde::{Deserialize, Serialize};

use super::ideal_routers::IdealRouters;
use super::{Extent, Progress, Reproduction, all};
use flitlab_measure::{BoundedWays, USUAL_WORK};
use flitlab_report::Status;
use flitlab_report::figure::{BoundedBar, bounded_figure};
use flitlab_scenario::simulation::{SetupError, Simulation};
use flitlab_scenario::{Document, Scenario};
use flitlab_sweep::search_saturation;

/// A fabric with its patterns and rules.
struct Subject {
    name: &'static str,
    title: &'static str,
    topology: &'static str,
    vcs: u32,
    /// Names, and how they are written.
    patterns: &'static [(&'static str, &'static str)],
    rules: &'static [(&'static str, &'static str)],
}

const UNIFORM: (&str, &str) = ("uniform", "\"uniform\"");

/// A quick run takes the first one.
const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "dragonfly",
        title: "Dragonfly, 9 groups of 4 switches, 72 terminals",
        topology: "dragonfly = { groups = 9, group_size = 4, global_cables = 2, terminals = 2 }",
        vcs: 5,
        patterns: &[UNIFORM, ("to the next group", "{ group-shift = { by = 1 } }")],
        rules: &[
            ("minimal", "\"dragonfly-minimal\""),
            ("Valiant by a group", "\"valiant\""),
            ("Valiant by a switch", "{ valiant = { via = \"router\" } }"),
            ("UGAL", "{ ugal = { queues = \"port\" } }"),
            ("UGAL by virtual channels", "{ ugal = { queues = \"vc-if-shared\" } }"),
            ("UGAL-G", "{ ugal = { sees = \"group\" } }"),
            ("PAR", "\"par\""),
        ],
    },
    Subject {
        name: "hyperx",
        title: "HyperX, 4x4 switches, 64 terminals",
        topology: "hyperx = { dimensions = [4, 4], terminals = 4 }",
        vcs: 4,
        patterns: &[UNIFORM, ("complement", "\"dimension-complement\"")],
        rules: &[
            ("minimal", "\"minimal-by-hop\""),
            ("either order", "{ hyperx-order = { order = \"adaptive\" } }"),
            ("Valiant", "\"valiant\""),
            ("UGAL", "\"ugal\""),
            ("DAL", "\"dal\""),
            ("DimWAR", "\"dimwar\""),
            ("OmniWAR", "\"omniwar\""),
            ("Polarized", "\"polarized\""),
        ],
    },
    Subject {
        name: "tree",
        title: "4-ary 3-tree, 64 terminals",
        topology: "tree = { arity = 4, levels = 3, terminals = 4 }",
        vcs: 2,
        patterns: &[
            UNIFORM,
            ("half on", "{ shift = { by = 32 } }"),
            ("bit-reverse", "\"bit-reverse\""),
        ],
        rules: &[
            ("least out", "{ nearest-ancestor = { up = \"least\" } }"),
            ("better of two", "{ nearest-ancestor = { up = \"two\" } }"),
            ("by chance", "{ nearest-ancestor = { up = \"random\" } }"),
        ],
    },
];

/// The name of what stands for the best that any rule could do.
const ANY: &str = "any ways";

/// The work that goes into the bound of any ways, so that it is exact on these fabrics.
const WORK: u64 = 10 * USUAL_WORK;

/// How far the highest sustained load is looked for.
const TOLERANCE: f64 = 0.01;

struct Case {
    subject: &'static Subject,
    pattern: (&'static str, &'static str),
    /// The rule's name, and how it is written; [`ANY`] for none.
    rule: (&'static str, &'static str),
    windows: u32,
}

/// What a rule carries of a pattern.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    fabric: String,
    pattern: String,
    rule: String,
    /// The highest load that is sustained, and what is accepted at load 1, in the mean over nodes;
    /// none for any ways, which no rule stands for.
    sustained_load: Option<f64>,
    accepted_load: Option<f64>,
    /// The ways of the bound: minimal, Valiant's, the rule's own or any.
    ways: String,
    bound_load: f64,
    /// A load that the ways carry by a split that was found.
    reached_load: f64,
}

/// Finds the highest sustained load of each rule under each pattern.
///
/// # Panics
/// If a scenario of this module is none.
pub fn bounds(extent: Extent<'_>, progress: Progress<'_>) -> Reproduction {
    let cases = cases(extent.quick);
    let mut rows = all(&cases, extent, |case| explore(case, extent), line, progress);
    // No ways carry more than any do.
    let any = rows.iter().filter(|row| row.rule == ANY).cloned().collect::<Vec<Row>>();
    for row in &mut rows {
        let like = |any: &&Row| (&any.fabric, &any.pattern) == (&row.fabric, &row.pattern);
        let most = any.iter().find(like).expect("each has it").bound_load;
        row.bound_load = row.bound_load.min(most);
    }
    let mut figures = Vec::new();
    for rows in rows.chunk_by(|one, other| one.fabric == other.fabric) {
        let bar = |row: &Row| BoundedBar {
            label: row.rule.clone(),
            series: row.pattern.clone(),
            value: row.sustained_load,
            bound: row.bound_load,
        };
        let bars: Vec<BoundedBar> = rows.iter().map(bar).collect();
        let subject = SUBJECTS.iter().find(|it| it.name == rows[0].fabric).expect("it has a row");
        let figure = bounded_figure(subject.title, "Highest sustained load", &bars);
        figures.push((format!("bounds-{}", subject.name), figure));
    }
    let mut text = format!(
        "{:<11}{:<19}{:<26}{:>9}{:>10}  {:<9}{:>8}{:>10}\n",
        "fabric", "pattern", "rule", "sustained", "accepted", "ways", "bound", "of bound"
    );
    rows.iter().for_each(|row| text += &line(row));
    Reproduction::of_rows("bounds", &rows, text, figures)
}

fn cases(quick: bool) -> Vec<Case> {
    let windows = if quick { 10 } else { 400 };
    let mut cases = Vec::new();
    for subject in if quick { &SUBJECTS[..1] } else { &SUBJECTS[..] } {
        for rule in subject.rules.iter().copied().chain([(ANY, subject.rules[0].1)]) {
            let case = |&pattern| Case { subject, pattern, rule, windows };
            cases.extend(subject.patterns.iter().map(case));
        }
    }
    cases
}

fn scenario(case: &Case) -> String {
    let &Case { subject: &Subject { topology, vcs, .. }, pattern, rule, windows } = case;
    let routers = IdealRouters { vcs, packet: 16, buffer: 64, behind: 32 * vcs };
    // Next to saturation queues take tens of microseconds to fill, and hundreds to run empty again:
    // with less such loads are undecided.
    let warm_up = (windows / 10).max(10);
    format!(
        "topology.{topology}\nrouting.relation.rule = {}\n{routers}\n\
         [traffic]\npattern = {}\nload = 1.0\n\
         [measure]\nwindow = \"1 us\"\nwarm_up_windows = {warm_up}\nminimum_windows = 10\n\
         maximum_windows = {windows}\n",
        rule.1, pattern.1
    )
}

fn explore(case: &Case, extent: Extent<'_>) -> Row {
    let text = scenario(case);
    let name = case.rule.0;
    extent.simulated(&format!("{text}{name}"), || {
        let scenario = Scenario::read(&Document::parse("bounds", &text)).expect("it is one");
        let simulation = Simulation::new(&scenario).expect("it is one");
        let capacity = simulation.fabric().capacity();
        let is_any = name == ANY;
        let bounds = simulation.load_bounds(if is_any { WORK } else { USUAL_WORK });
        let of = |ways| bounds.iter().find(|bound| bound.ways == ways).and_then(|it| it.found);
        let minimal = ["minimal", "hyperx-order", "nearest-ancestor"];
        let is_minimal = minimal.iter().any(|it| case.rule.1.contains(it));
        let (ways, found) = if is_any {
            ("any", of(BoundedWays::Any))
        } else if is_minimal {
            ("minimal", of(BoundedWays::Minimal))
        } else if case.rule.1.contains("valiant") {
            ("Valiant's", of(BoundedWays::Valiant))
        } else if let own @ Some(_) = of(BoundedWays::Own) {
            ("its own", own)
        } else {
            ("any", of(BoundedWays::Any))
        };
        let (reached, bound) = found.expect("the fabric is small");
        let at = |load| -> Result<_, SetupError> {
            Ok(Simulation::new(&scenario.at_load(load))?.run(&mut |_| {}).found.measured)
        };
        let sustains = |load| Ok::<_, SetupError>(at(load)?.status == Status::Steady);
        let sustained = || search_saturation(&scenario, TOLERANCE, sustains).ok();
        Row {
            fabric: case.subject.name.into(),
            pattern: case.pattern.0.into(),
            rule: name.into(),
            sustained_load: if is_any { None } else { sustained().map(|it| it.sustained) },
            accepted_load: if is_any { None } else { at(1.0).ok().and_then(|it| it.accepted_load) },
            ways: ways.into(),
            bound_load: bound / capacity,
            reached_load: reached / capacity,
        }
    })
}

fn line(row: &Row) -> String {
    let load = |load: Option<f64>| load.map_or("-".into(), |load| format!("{load:.3}"));
    let share = row.sustained_load.map(|load| 100.0 * load / row.bound_load);
    format!(
        "{:<11}{:<19}{:<26}{:>9}{:>10}  {:<9}{:>8.4}{:>10}\n",
        row.fabric,
        row.pattern,
        row.rule,
        load(row.sustained_load),
        load(row.accepted_load),
        row.ways,
        row.bound_load,
        share.map_or("-".into(), |share| format!("{share:.0}%"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::SAMPLE;

    #[test]
    fn no_rule_sustains_more_than_its_bound() {
        let is_one = |case: &&Case| {
            case.pattern != UNIFORM && ["minimal", "UGAL", ANY].contains(&case.rule.0)
        };
        let cases = cases(true);
        let rows: Vec<Row> =
            cases.iter().filter(is_one).map(|case| explore(case, SAMPLE)).collect();
        let [minimal, ugal, any] = &rows[..] else { panic!("{rows:?}") };
        assert!((any.bound_load - 0.5625).abs() < 1e-6 && any.sustained_load.is_none(), "{any:?}");
        for (row, bound, least) in [(minimal, 0.125, 0.1), (ugal, any.bound_load, 0.2)] {
            assert!((row.bound_load - bound).abs() < 1e-6, "{row:?}");
            let sustained = row.sustained_load.unwrap();
            assert!((least..=bound).contains(&sustained), "{row:?}");
        }
    }

    #[test]
    fn all_cases_are_scenarios() {
        for case in cases(false) {
            let read = Scenario::read(&Document::parse("bounds", &scenario(&case)));
            assert!(read.is_ok(), "{}: {:?}", scenario(&case), read.err());
        }
    }
}
