//! The keys of a scenario, one subject a file.

mod adaptive;
mod exchange;
mod load;
mod matrix;
mod measure;
mod pattern;
mod router;
mod routing;
mod topology;
mod traffic;

use super::{
    RoutingSpec, WorkloadSpec,
    kind::{LARGEST, ScenarioName, Text, Whole},
    reader::Reader,
    sweep,
};
use crate::{engine::Parameters, measure::Settings};
use topology::Topology;

pub(super) use load::text as load_text;

/// What was read. What is `None` has been reported.
pub(super) struct Draft {
    pub name: String,
    pub title: Option<String>,
    pub seed: u64,
    pub topology: Topology,
    pub parameters: Parameters,
    pub routing: Option<RoutingSpec>,
    pub workload: Option<WorkloadSpec>,
    pub measure: Settings,
}

/// Reads, or documents, all keys.
pub(super) fn read(reader: &mut Reader<'_>) -> Draft {
    let stem = reader
        .document
        .map_or_else(String::new, |document| ScenarioName::from_path(&document.file.name));
    let name = reader.value_from(
        "name",
        &ScenarioName,
        stem,
        "the file's name without .toml",
        "Name of the folder that the results go into.",
    );
    let title = Text { what: "text", example: "Uniform traffic on a 4D torus" };
    let title = reader.optional("title", &title, "Title of the figures.");
    let seed = reader.value(
        "seed",
        &Whole { range: 0..=LARGEST },
        1,
        "Seed of everything random. Equal scenarios with equal seeds give equal results, bit by bit.",
    );
    let topology = reader.table("topology", "", |reader| {
        let doc = "A torus or mesh. A dimension of size 2 has one cable, not two, as in Angara.";
        reader.table("torus", doc, topology::read)
    });
    let parameters = router::read(reader);
    let routing = routing::read(reader);
    let torus = topology.torus.as_ref();
    let workload = traffic::read(reader, torus, &parameters);
    let measure = measure::read(reader);
    if reader.is_documenting() {
        let _ = sweep::read_table(reader);
    } else {
        reader.ignore("sweep");
    }
    reader.finish();
    Draft { name, title, seed, topology, parameters, routing, workload, measure }
}
