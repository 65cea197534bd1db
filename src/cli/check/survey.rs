//! The check of a `[sweep]`: whether all of its points can be run, and which of them can deadlock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::Failure;
use crate::cli::sweep::bounds;
use crate::cli::terminal;
use crate::cli::text::{channels_by_group, counted, duration};
use crate::cli::{unasked, unlike};
use flitlab::report::BoundLine;
use flitlab::scenario::{Deadlock, Loads, Network, Point, Scenario, Sweep, Unasked, Unlike};
use flitlab::simulation::Simulation;

/// How long tables are made.
const PATIENCE: Duration = unlike::PATIENCE;

/// The most series whose deadlocks are told one by one.
const MAX_TOLD: usize = 8;

/// The findings of the check.
#[derive(Debug, Serialize)]
pub(super) struct Survey {
    points: usize,
    /// Whether a point stands for all loads of a curve, which finds them.
    #[serde(skip)]
    curves: bool,
    /// Points that keep channels by group because they have many.
    #[serde(skip)]
    by_group: usize,
    series: usize,
    /// Different fabrics and routings.
    networks: usize,
    /// The number of networks whose routes were made and looked at.
    networks_looked_at: usize,
    /// By the first series that has such a table.
    pub can_deadlock: Vec<CanDeadlock>,
    /// Series whose routers, links and adapters differ though the sweep does not say so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unasked: Vec<Unasked>,
    /// Series of one figure that differ in virtual channels, buffers, rates or packets, though the
    /// sweep does not say so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlike: Vec<Unlike>,
    /// The loads that no rule exceeds in each figure, as the figures have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    load_bounds: Vec<BoundLine>,
    /// Whether time was short for the bounds of all figures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lacks_bounds: bool,
    /// Advice for the first table that can deadlock.
    #[serde(skip)]
    pub advice: Option<String>,
}

/// A series whose packets can wait for each other for ever.
#[derive(Debug, Serialize)]
pub(super) struct CanDeadlock {
    series: String,
    cycle: String,
}

/// Makes the routes of each network of a sweep once, as long as there is time.
///
/// # Errors
/// If one has none, or a point can't be simulated for another reason.
pub(super) fn look(sweep: &Sweep) -> Result<Survey, Failure> {
    let mut firsts: Vec<&Point> = Vec::new();
    let mut series: Vec<&str> = Vec::new();
    for point in &sweep.points {
        let same = |other: &&Point| {
            Arc::ptr_eq(&other.scenario.network, &point.scenario.network)
                && other.scenario.flow_control() == point.scenario.flow_control()
        };
        // Points of one network mostly follow each other.
        if !firsts.iter().rev().any(same) {
            firsts.push(point);
        }
        if series.last() != Some(&point.series.as_str()) {
            series.push(&point.series);
        }
    }
    series.sort_unstable();
    series.dedup();
    let mut survey = Survey {
        points: sweep.points.len(),
        by_group: sweep.by_group,
        curves: matches!(sweep.loads, Loads::Curve(_)),
        series: series.len(),
        networks: firsts.len(),
        networks_looked_at: 0,
        can_deadlock: Vec::new(),
        unasked: sweep.unasked.clone(),
        unlike: Vec::new(),
        load_bounds: Vec::new(),
        lacks_bounds: false,
        advice: None,
    };
    let begun = Instant::now();
    for point in firsts {
        if begun.elapsed() > PATIENCE {
            break;
        }
        let network: &Network = &point.scenario.network;
        if network.routes().is_err() {
            // Reading the point again says it with its place.
            Scenario::read(&point.document)?;
        }
        Simulation::new(&point.scenario)?;
        survey.networks_looked_at += 1;
        if let Deadlock::Possible { how: cycle, advice } = point.scenario.deadlock() {
            survey.advice = survey.advice.or(advice);
            survey.can_deadlock.push(CanDeadlock { series: point.series.clone(), cycle });
        }
    }
    survey.unlike = sweep.unlike(PATIENCE.saturating_sub(begun.elapsed()));
    let begun = Instant::now();
    let mut figures = bounds::by_figure(sweep);
    while !survey.lacks_bounds
        && let Some(bounds) = figures.next()
    {
        survey.load_bounds.extend(bounds);
        survey.lacks_bounds = begun.elapsed() > PATIENCE;
    }
    survey.lacks_bounds &= figures.next().is_some();
    Ok(survey)
}

/// For people.
pub(super) fn text(survey: &Survey) -> String {
    let series =
        if survey.series == 1 { "1 series".into() } else { format!("{} series", survey.series) };
    let all = match survey.curves {
        true => format!(
            "{} in {series}, each of which finds its loads",
            counted(survey.points, "curve")
        ),
        false => format!("{} in {series}", counted(survey.points, "point")),
    };
    let tables = match survey.networks - survey.networks_looked_at {
        0 => "all of them can be run".into(),
        left => format!(
            "no mistakes in them; the routes of {} were not made within {}",
            counted(left, "network"),
            duration(PATIENCE.as_secs_f64())
        ),
    };
    let mut text = terminal::fact("sweep", &format!("{all}; {tables}"), 21);
    if survey.by_group > 0 {
        text += &terminal::fact("results", &channels_by_group(survey.by_group, survey.points), 21);
    }
    if let Some(differ) = unasked::text(&survey.unasked) {
        text += &terminal::fact("compared", &differ, 21);
    }
    for differ in unlike::texts(&survey.unlike) {
        text += &terminal::fact("compared", &differ, 21);
    }
    let by_figure = survey.load_bounds.chunk_by(|one, next| one.figure == next.figure);
    let mut by_figure: Vec<String> = by_figure.map(bounds_text).collect();
    if survey.lacks_bounds {
        by_figure.push(format!(
            "those of further figures were not looked for within {}",
            duration(PATIENCE.as_secs_f64())
        ));
    }
    for (number, line) in by_figure.iter().enumerate() {
        text += &terminal::fact(if number == 0 { "bounds in figures" } else { "" }, line, 21);
    }
    for found in survey.can_deadlock.iter().take(MAX_TOLD) {
        let name = if found.series.is_empty() { "the scenario" } else { &found.series };
        text += &terminal::fact("can deadlock", &format!("{name}: {}", found.cycle), 21);
    }
    if survey.can_deadlock.len() > MAX_TOLD {
        let more = survey.can_deadlock.len() - MAX_TOLD;
        text += &terminal::fact("can deadlock", &format!("{} more", counted(more, "table")), 21);
    }
    text
}

/// The bounds of one figure.
fn bounds_text(lines: &[BoundLine]) -> String {
    let loads: Vec<String> =
        lines.iter().map(|line| format!("{} {:.4}", line.name, line.load)).collect();
    let figure = match lines[0].figure.as_str() {
        "" => String::new(),
        figure => format!("{figure}: "),
    };
    figure + &loads.join(", ")
}
