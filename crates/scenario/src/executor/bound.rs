//! A scenario's traffic, bound to its fabric, before anything has been sent: whatever a
//! [`Simulation`](super::Simulation) asks that differs from workload to workload.

use super::SetupError;
use crate::{Scenario, WorkloadSpec};
use flitlab_base::memory::Shortage;
use flitlab_engine::Parameters;
use flitlab_engine::measure::{
    CompletionBound, application_bound, completion_bound, remote_memory_bound,
};
use flitlab_fabric::{Fabric, SpanningTree};
use flitlab_routing::Routes;
use flitlab_workload::traffic::{
    Access, Application, ApplicationSpec, Carrier, CollectiveSpec, Collectives, Exchange,
    ExchangeSpec, LoadSpec, OpenLoad, Pattern, RemoteMemory, RemoteMemorySpec, Workload,
};

/// A workload bound to a fabric, with its specification.
#[derive(Debug)]
pub(super) enum Traffic {
    Load(OpenLoad, LoadSpec),
    Exchange(Pattern, ExchangeSpec),
    Application(Placed, ApplicationSpec),
    Collective(Gathered, CollectiveSpec),
    RemoteMemory(Pattern, RemoteMemorySpec),
}

/// Collective operations, bound to the nodes that take part.
#[derive(Debug)]
pub(super) struct Gathered {
    trees: Vec<SpanningTree>,
    /// The load that runs beside them.
    load: Option<OpenLoad>,
    /// The pattern of givers and receivers, through trees.
    pattern: Pattern,
}

/// An application whose ranks have their nodes.
#[derive(Debug)]
pub(super) struct Placed {
    /// The terminals of the ranks.
    pub places: Vec<u32>,
    /// Source, destination and payload of each message between nodes.
    pub messages: Vec<(u32, u32, u64)>,
    /// The pattern of sources, destinations and sizes.
    pattern: Pattern,
}

impl Traffic {
    /// Binds a scenario's workload, once `room` has said that there is room for so many bytes.
    pub fn new(
        scenario: &Scenario,
        room: impl Fn(u64) -> Result<(), Shortage>,
    ) -> Result<Self, SetupError> {
        let (fabric, seed) = (&scenario.network.fabric, scenario.seed);
        let terminals = fabric.terminals();
        Ok(match scenario.workload.clone() {
            WorkloadSpec::Load(spec) => {
                room(OpenLoad::memory_needed(terminals))?;
                Self::Load(open_load(&spec, fabric, scenario)?, spec)
            }
            WorkloadSpec::Collective(spec) => {
                room(OpenLoad::memory_needed(terminals))?;
                let load = spec.load.as_ref().map(|it| open_load(it, fabric, scenario));
                let trees = spec.trees(fabric)?;
                let pattern = gathering(&spec, &trees, fabric)?;
                Self::Collective(Gathered { trees, load: load.transpose()?, pattern }, spec)
            }
            WorkloadSpec::Exchange(spec) => {
                let pattern = Pattern::new(&spec.pattern, fabric, seed)?;
                room(Exchange::memory_needed(&spec, pattern.steps().unwrap_or(0), terminals))?;
                Self::Exchange(pattern, spec)
            }
            WorkloadSpec::RemoteMemory(spec) => {
                room(RemoteMemory::memory_needed(&spec, terminals))?;
                Self::RemoteMemory(Pattern::new(&spec.pattern, fabric, seed)?, spec)
            }
            WorkloadSpec::Application(spec) => {
                room(Application::memory_needed(&spec, terminals))?;
                Self::Application(placed(&spec, fabric, seed)?, spec)
            }
        })
    }

    /// Returns the pattern of sources and destinations.
    pub fn pattern(&self) -> &Pattern {
        match self {
            Self::Load(load, _) => load.pattern(),
            Self::Exchange(pattern, _) | Self::RemoteMemory(pattern, _) => pattern,
            Self::Application(placed, _) => &placed.pattern,
            Self::Collective(gathered, _) => &gathered.pattern,
        }
    }

    /// Returns the load that never ends; `None` if there is none.
    pub fn load(&self) -> Option<&OpenLoad> {
        match self {
            Self::Load(load, _) => Some(load),
            Self::Collective(gathered, _) => gathered.load.as_ref(),
            Self::Exchange(..) | Self::Application(..) | Self::RemoteMemory(..) => None,
        }
    }

    /// Returns the earliest completion time that the capacity of channels allows; `None` for a
    /// load, and where too many messages would have to be looked at.
    pub fn completion_bound(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        parameters: &Parameters,
    ) -> Option<CompletionBound> {
        match self {
            Self::Exchange(pattern, spec) => {
                completion_bound(fabric, routes, parameters, pattern, spec)
            }
            // Of channels LogGOPS knows nothing.
            Self::Application(_, spec) if spec.carrier != Carrier::Flits => None,
            Self::Application(placed, spec) => {
                let hosts = (spec.host.send_overhead, spec.host.receive_overhead);
                application_bound(fabric, routes, parameters, &placed.messages, hosts)
            }
            Self::RemoteMemory(pattern, spec) => {
                remote_memory_bound(fabric, routes, parameters, pattern, spec)
            }
            Self::Load(..) | Self::Collective(..) => None,
        }
    }

    /// The bytes of a message, and how it is sent; of messages of many sizes the mean.
    pub fn message(&self) -> (u64, Access) {
        match self {
            Self::Load(_, spec) => (spec.message.0, spec.access),
            Self::Exchange(_, spec) => (spec.message.0, spec.access),
            Self::Collective(_, spec) => (spec.message.0, Access::Write),
            Self::RemoteMemory(_, spec) => spec.access(),
            Self::Application(placed, _) => {
                let bytes: u128 = placed.messages.iter().map(|it| u128::from(it.2)).sum();
                let mean = bytes / placed.messages.len().max(1) as u128;
                (u64::try_from(mean).unwrap_or(u64::MAX), Access::Write)
            }
        }
    }

    /// Returns the whole workload, from its beginning.
    pub fn workload(&self, fabric: &Fabric) -> Box<dyn Workload> {
        let terminals = fabric.terminals();
        match self {
            Self::Load(load, _) => Box::new(load.clone()),
            Self::Exchange(pattern, spec) => Box::new(Exchange::new(spec, pattern.clone(), fabric)),
            Self::Application(placed, spec) => {
                let records = Application::keeps_records(spec);
                let application = Application::new(spec, &placed.places, terminals, records);
                Box::new(application)
            }
            Self::Collective(Gathered { trees, load, .. }, spec) => {
                let operations = Collectives::new(spec, trees.clone(), load.clone(), terminals);
                Box::new(operations)
            }
            Self::RemoteMemory(pattern, spec) => {
                let operations = RemoteMemory::new(spec, pattern.clone(), fabric);
                Box::new(operations)
            }
        }
    }

    /// How many messages a finite workload sends, about.
    pub fn messages(&self, workload: &dyn Workload) -> u64 {
        if let Some(exchange) = workload.downcast_ref::<Exchange>() {
            return exchange.messages();
        }
        if let Some(operations) = workload.downcast_ref::<RemoteMemory>() {
            return operations.operations();
        }
        match (workload.collectives(), self) {
            (_, Self::Application(placed, _)) => placed.messages.len() as u64,
            (Some(collectives), _) => collectives.all_receipts(),
            _ => 0,
        }
    }
}

/// A scenario's load on its fabric.
fn open_load(
    spec: &LoadSpec,
    fabric: &Fabric,
    scenario: &Scenario,
) -> Result<OpenLoad, SetupError> {
    let flits_of = |bytes| scenario.parameters.message_flits(bytes);
    let slot = scenario.parameters.link_flit_time();
    Ok(OpenLoad::new(spec, fabric, slot, flits_of, scenario.seed)?)
}

/// Returns the pattern of collective operations: operands go to roots, broadcast messages come from
/// them.
fn gathering(
    spec: &CollectiveSpec,
    trees: &[SpanningTree],
    fabric: &Fabric,
) -> Result<Pattern, SetupError> {
    let mut roots: Vec<u32> = trees.iter().map(SpanningTree::root).collect();
    roots.sort_unstable();
    roots.dedup();
    let pairs = roots.iter().flat_map(|&root| {
        let others = trees[0].members.iter().filter(move |&&member| member != root);
        others.flat_map(move |&member| {
            let up = spec.kind.goes_up().then_some((member, root, 1.0));
            let down = spec.kind.goes_down().then_some((root, member, 1.0));
            up.into_iter().chain(down)
        })
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
    pairs.dedup_by_key(|pair| (pair.0, pair.1));
    Ok(Pattern::of_weights(&pairs, fabric)?)
}

/// The nodes of an application's ranks, and what they send each other.
fn placed(spec: &ApplicationSpec, fabric: &Fabric, seed: u64) -> Result<Placed, SetupError> {
    let live: Vec<u32> = fabric.live_terminals().collect();
    let ranks = spec.schedule.ranks();
    let places = spec.placement.nodes(ranks, spec.ranks_per_node, &live, seed);
    let places = places.map_err(SetupError::Placement)?;
    let messages = spec.messages(&places);
    let mut sorted = messages.clone();
    sorted.sort_unstable();
    let weights = sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|same| {
        let bytes: f64 = same.iter().map(|it| it.2.max(1) as f64).sum();
        (same[0].0, same[0].1, bytes)
    });
    let weights: Vec<_> = weights.collect();
    let pattern = Pattern::of_weights(&weights, fabric)?;
    Ok(Placed { places, messages, pattern })
}
