//! Lines of bounds for the figures of a sweep.

use flitlab::measure::{BoundedWays, USUAL_WORK};
use flitlab::report::BoundLine;
use flitlab::scenario::{Point, RelationSpec, RoutingSpec, RuleSpec, Sweep};
use flitlab::simulation::Simulation;

/// The bounds of each figure of a sweep some of whose packets choose their ways by a rule with
/// phases, if all curves of the figure have one topology and one pattern.
pub(super) fn lines(sweep: &Sweep) -> Vec<BoundLine> {
    by_figure(sweep).flatten().collect()
}

/// The bounds of each figure, one figure after the other.
pub(in crate::cli) fn by_figure(sweep: &Sweep) -> impl Iterator<Item = Vec<BoundLine>> + '_ {
    let mut figures: Vec<(&str, Vec<&Point>)> = Vec::new();
    for point in &sweep.points {
        match figures.iter_mut().find(|(figure, _)| *figure == point.figure) {
            Some((_, points)) => points.push(point),
            None => figures.push((&point.figure, vec![point])),
        }
    }
    figures.into_iter().map(|(figure, points)| of_figure(figure, &points))
}

fn of_figure(figure: &str, points: &[&Point]) -> Vec<BoundLine> {
    let first = &points[0].scenario;
    let pattern = first.workload.load().map(|load| &load.pattern);
    let is_like_first = |point: &&Point| {
        point.scenario.network.topology == first.network.topology
            && point.scenario.workload.load().map(|load| &load.pattern) == pattern
    };
    let is_one = pattern.is_some_and(|it| !it.depends_on_routing());
    // Whether the rule detours, if it has phases: then Valiant's ways are by way of the same.
    let detours = |point: &Point| match &point.scenario.network.routing {
        RoutingSpec::Relation(RelationSpec { rule: RuleSpec::Phased(rule, _), .. }) => {
            Some(!rule.misroutes.is_empty())
        }
        _ => None,
    };
    let of_phases = points.iter().filter_map(|point| Some((detours(point)?, point)));
    let point = of_phases.min_by_key(|(detours, _)| !detours);
    let Some((_, point)) = point.filter(|_| is_one && points.iter().all(is_like_first)) else {
        return Vec::new();
    };
    let Ok(simulation) = Simulation::new(&point.scenario) else { return Vec::new() };
    let capacity = simulation.fabric().capacity();
    let line = |bound: flitlab::measure::LoadBound| {
        let name = match bound.ways {
            BoundedWays::Minimal => "minimal",
            BoundedWays::Valiant => "Valiant",
            BoundedWays::Any => "any ways",
            BoundedWays::Own => return None,
        };
        let load = bound.found?.1 / capacity;
        Some(BoundLine { figure: figure.into(), name: name.into(), load })
    };
    simulation.load_bounds(USUAL_WORK).into_iter().filter_map(line).collect()
}
