//! The keys of a scenario, one subject a file.

mod adaptive;
pub(super) mod application;
mod direction_order;
mod errors;
mod foreign;
mod forwarding;
mod interruption;
mod measure;
pub(super) mod pattern;
mod readings;
mod relation;
mod results;
mod router;
mod routing;
mod topology;

pub(super) use self::results::CHANNELS;
use super::name::ScenarioName;
use super::simulation::Kept;
use super::workload::{self, Allocator, Given, Workloads};
use super::{InterruptionSpec, RoutingSpec, TopologySpec};
use crate::purpose::Purpose;
use flitlab_base::document::{LARGEST, Reader, Text, Value, Whole};
use flitlab_base::registry::Registry;
use flitlab_engine::Parameters;
use flitlab_fabric::CableClass;
use flitlab_measure::Settings;
use flitlab_traffic::WorstCase;
pub use router::ANGARA;

/// The values that were read. A mistake has been reported for each required value that is `None`.
pub(super) struct Draft {
    pub name: String,
    pub title: Option<String>,
    pub seed: u64,
    pub topology: Option<TopologySpec>,
    pub preset: &'static str,
    pub parameters: Parameters,
    /// Whether there is an `output_buffer` in `[router]` though links are shared flit by flit.
    pub two_output_buffers: bool,
    pub routing: Option<RoutingSpec>,
    pub workload: Option<Workloads>,
    pub measure: Settings,
    pub kept: Kept,
    pub interruption: Option<InterruptionSpec>,
}

impl Draft {
    /// The classes that cables are of; where the topology is wrong, the usual one.
    pub(super) fn cable_classes(&self) -> Vec<CableClass> {
        let topology = self.topology.as_ref();
        topology.map_or_else(|| vec![CableClass::default()], TopologySpec::cable_classes)
    }

    /// See [`TopologySpec::cable_key`].
    pub(super) fn cable_key(&self, name: &str) -> Option<String> {
        self.topology.as_ref()?.cable_key(name)
    }

    /// Whether there are packets on the response channel.
    pub(super) fn uses_response_channel(&self) -> bool {
        let workload = self.workload.as_ref();
        workload.is_some_and(|workloads| workloads.uses_response_channel(&self.parameters))
    }
}

/// Whether something is written with which there is no bubble by default: datelines, or virtual
/// channels that are given to packets only while they are empty.
fn goes_without_bubble(reader: &Reader<'_>) -> bool {
    // A choice without keys may be written as a table, too.
    let is = |path: &[&str], name| match reader.at_path(path) {
        Some(Value::Text(text)) => text == name,
        Some(Value::Table(table)) => table.get(name).is_some(),
        _ => false,
    };
    let dateline = reader.at_path(&["routing", "direction_order", "dateline"]);
    let escapes = match reader.at_path(&["routing"]) {
        Some(Value::Table(routing)) => &routing.entries[..],
        _ => &[],
    };
    matches!(dateline, Some(Value::Flag(true)))
        || escapes.iter().any(|it| is(&["routing", &it.key, "escape"], adaptive::DATELINE))
        || is(&["link", "sharing", "flit", "virtual_channel_allocation"], router::ATOMIC)
}

/// Reads, or documents, all keys.
pub(super) fn read(reader: &mut Reader<'_>, registry: &Registry, purpose: Purpose) -> Draft {
    let stem = reader
        .document
        .map_or_else(String::new, |document| ScenarioName::from_path(&document.file.name));
    let doc = "Name of the folder that the results go into.";
    let name = reader.value_from("name", &ScenarioName, stem, "the file's name without .toml", doc);
    let title = Text { what: "text", example: "Uniform traffic on a 4D torus" };
    let title = reader.optional("title", &title, "Title of the figures.");
    let doc = "Seed of everything random. Equal scenarios with equal seeds give equal results, bit by bit.";
    let seed = reader.value("seed", &Whole { range: 0..=LARGEST }, 1, doc);
    let topology = topology::read(reader, registry, seed);
    let spec = topology.as_ref();
    let any_fabric = routing::is_of_any_fabric(reader, spec);
    let bubble = !any_fabric && !goes_without_bubble(reader);
    let router::Routers { preset, mut parameters, two_output_buffers } =
        router::read(reader, any_fabric, bubble, (spec, seed));
    let routing = routing::read(reader, spec, &parameters, registry);
    let places = spec.map(TopologySpec::places);
    let worst_case = routing.clone().map(|routing| {
        WorstCase::new(move |fabric, terminals| {
            let routes = routing.routes(fabric, seed).map_err(|error| error.to_string())?;
            let worst = flitlab_tables::WorstCase::new(fabric, &routes, terminals);
            worst.map(|worst| worst.partners).map_err(|error| error.to_string())
        })
    });
    let allocator = Allocator::new(workload::allocation(reader), spec, seed);
    let mut given =
        Given { places, registry, parameters: &mut parameters, nodes: None, allocator, worst_case };
    let mut workload = workload::read(reader, &mut given, purpose);
    if let Some(workloads) = &workload {
        parameters.classes = workloads.classes();
    }
    let measure = measure::read(reader, &mut parameters.kind, workload.as_mut());
    let kept = results::read(reader);
    let interruption = interruption::read(reader, spec, seed);
    reader.ignore("sweep");
    reader.finish();
    Draft {
        name,
        title,
        seed,
        topology,
        preset,
        parameters,
        two_output_buffers,
        routing,
        workload,
        measure,
        kept,
        interruption,
    }
}
