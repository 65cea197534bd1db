//! Loads that no rule exceeds which goes by some ways: minimal ones, Valiant's, its own, any.
//!
//! They are said for routings by a relation, of whose packets it is not known which ways they
//! take. So a user sees how far a rule is from what its ways allow, and these from any others.

use super::bound::{Stream, flits, for_each_flow, fullest_terminals, looks_at_all_pairs, rates};
use serde::Serialize;
use std::collections::BTreeMap;

use flitlab_engine::Parameters;
use flitlab_fabric::Fabric;
use flitlab_routing::RelationRoutes;
use flitlab_routing::phased::{self, Among, PhasedParameters, PhasedSpec};
use flitlab_tables::concurrent_flow::{Demands, Problem, Ways};

/// The ways of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundedWays {
    /// Minimal routing's.
    Minimal,
    /// Minimal ways to what is drawn, and on from there.
    Valiant,
    /// The routing's own.
    Own,
    /// All that there are.
    Any,
}

/// Loads in flits a flit time of `link.rate`, as means over the terminals that send. What terminals'
/// channels carry bounds all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadBound {
    /// The ways.
    pub ways: BoundedWays,
    /// The load if packets that have several ways share them alike; none of any ways, and of a
    /// rule's own, which it chooses.
    pub evenly: Option<f64>,
    /// A load that a split was found for, and one that none exceeds.
    pub found: Option<(f64, f64)>,
}

/// The work after which bounds of one kind of ways are left as they are: some second.
pub const USUAL_WORK: u64 = 20_000_000;

/// Looks for the bounds. The ways that are too many for `work` have none. Returns none if too many
/// pairs would have to be looked at.
pub fn load_bounds(
    fabric: &Fabric,
    routes: &RelationRoutes,
    parameters: &Parameters,
    streams: &[Stream<'_>],
    senders: usize,
    work: u64,
) -> Vec<LoadBound> {
    if !looks_at_all_pairs(streams) {
        return Vec::new();
    }
    let terminals = fabric.terminals() as usize;
    let (mut injected, mut ejected) = (vec![0.0; terminals], vec![0.0; terminals]);
    let mut pairs = Vec::new();
    let router = |terminal| fabric.terminal_router(terminal).expect("live");
    let total = for_each_flow(parameters, streams, 1, |(source, to), rate, packets, message| {
        let load = rate * flits(packets) / message;
        injected[source as usize] += load;
        ejected[to as usize] += load;
        pairs.push((router(source), router(to), load));
    });
    let mean = total / senders.max(1) as f64;
    let demands = Demands::new(pairs.into_iter().map(|(from, to, load)| (from, to, load / mean)));
    let fullest = fullest_terminals(fabric, parameters, [&injected, &ejected]);
    let rates = rates(fabric, parameters);
    let rate = |channel| rates[usize::from(fabric.cable_class(channel))];
    let exists = |channel: u32| fabric.target(channel).is_some();
    let capacity = |channel| if exists(channel) { rate(channel) } else { 0.0 };
    let capacities: Vec<f64> = (0..fabric.channel_slots()).map(capacity).collect();
    let task = Task {
        fabric,
        demands: &demands,
        capacities: &capacities,
        terminals: mean / fullest[0].max(fullest[1]),
        work,
    };
    let mut bounds = Vec::new();
    if let Some(rule) = &routes.rule {
        for (spec, ways) in
            phased::beside(&**rule).iter().zip([BoundedWays::Minimal, BoundedWays::Valiant])
        {
            bounds.push(task.of_rule(spec, ways));
        }
        let chooses = rule.at_head().is_some_and(|at_head| at_head.among == Among::All);
        if chooses && !routes.relation.has_escape() {
            let ways = Ways::Of(&routes.relation, Some(&**rule));
            bounds.push(LoadBound { evenly: None, ..task.of(BoundedWays::Own, ways) });
        }
    } else if !routes.relation.has_escape() && !routes.relation.has_detours() {
        bounds.push(task.of(BoundedWays::Own, Ways::Of(&routes.relation, None)));
    }
    let carries_all = |bound: &LoadBound| {
        let (reached, bound) = bound.found?;
        (reached >= task.terminals && bound >= task.terminals).then_some((reached, bound))
    };
    let any = match bounds.iter().find_map(carries_all) {
        found @ Some(_) => LoadBound { ways: BoundedWays::Any, evenly: None, found },
        None => task.of(BoundedWays::Any, Ways::Any),
    };
    bounds.push(any);
    for bound in &mut bounds {
        // What some ways carry, all do, and no ways carry more than all.
        let most = any.found.map_or(f64::INFINITY, |found| found.1);
        bound.found = bound.found.map(|(reached, bound)| (reached, bound.min(most)));
    }
    let reached = bounds.iter().filter_map(|it| it.found).map(|it| it.0).fold(0.0, f64::max);
    let last = bounds.last_mut().expect("any ways");
    last.found = last.found.map(|(_, bound)| (reached.min(bound), bound));
    bounds
}

/// A load that no rule exceeds some of whose packets [never take a
/// detour](phased::PhasedRule::never_takes): what minimal ways carry of these. `None` if all may, or too
/// many pairs or ways would have to be looked at for `work`.
pub fn never_derouted_bound(
    fabric: &Fabric,
    routes: &RelationRoutes,
    parameters: &Parameters,
    streams: &[Stream<'_>],
    senders: usize,
    work: u64,
) -> Option<f64> {
    let rule = routes.rule.as_ref().filter(|rule| !rule.tells_ways_apart())?;
    if !looks_at_all_pairs(streams) {
        return None;
    }
    let router = |terminal| fabric.terminal_router(terminal).expect("live");
    let mut loads: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let total = for_each_flow(parameters, streams, 1, |(source, to), rate, packets, message| {
        *loads.entry((router(source), router(to))).or_default() += rate * flits(packets) / message;
    });
    let mut courses = 0;
    for &ends in loads.keys() {
        rule.for_each_course(ends, &mut |_, _| courses += 1);
    }
    if courses > work / 4 {
        return None;
    }
    let mean = total / senders.max(1) as f64;
    let never = |(ends, load): ((u32, u32), f64)| {
        let load = load * rule.never_takes(fabric, &routes.relation, ends);
        (ends.0, ends.1, load / mean)
    };
    let demands = Demands::new(loads.into_iter().filter(|(ends, _)| ends.0 != ends.1).map(never));
    if demands.pairs() == 0 {
        return None;
    }
    let rates = rates(fabric, parameters);
    let capacity = |channel| {
        let rate = rates[usize::from(fabric.cable_class(channel))];
        if fabric.target(channel).is_some() { rate } else { 0.0 }
    };
    let capacities: Vec<f64> = (0..fabric.channel_slots()).map(capacity).collect();
    let (demands, capacities) = (&demands, &capacities[..]);
    let task = Task { fabric, demands, capacities, terminals: f64::INFINITY, work };
    let [minimal, _] = phased::beside(&**rule);
    task.of_rule(&minimal, BoundedWays::Minimal).found.map(|found| found.1)
}

/// What is the same for all ways.
struct Task<'a> {
    fabric: &'a Fabric,
    demands: &'a Demands,
    capacities: &'a [f64],
    /// What the terminals' channels carry.
    terminals: f64,
    work: u64,
}

impl Task<'_> {
    fn of_rule(&self, spec: &PhasedSpec, ways: BoundedWays) -> LoadBound {
        // Virtual channels don't matter to loads.
        let parameters = PhasedParameters { vcs: 1, largest_packet: 1, clamps: true };
        match spec.relation(self.fabric, &parameters) {
            Ok((rule, relation)) => self.of(ways, Ways::Of(&relation, Some(&*rule))),
            Err(_) => LoadBound { ways, evenly: None, found: None },
        }
    }

    fn of(&self, ways: BoundedWays, these: Ways<'_>) -> LoadBound {
        let &Self { fabric, demands, capacities, terminals, work } = self;
        let problem = Problem { fabric, demands, capacities, ways: these, enough: terminals };
        if problem.work_of_step() > work {
            return LoadBound { ways, evenly: None, found: None };
        }
        let evenly = matches!(these, Ways::Of(..)).then(|| problem.evenly().min(terminals));
        let found = problem.best(work);
        let found = Some((found.reached.min(terminals), found.bound.min(terminals)));
        LoadBound { ways, evenly, found }
    }
}
