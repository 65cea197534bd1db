//! The keys of a scenario, one subject a file.

mod exchange;
mod load;
mod matrix;
mod measure;
mod pattern;
mod router;
mod topology;
mod traffic;

use super::{
    RoutingSpec, WorkloadSpec,
    choice::{Choice, plain, with_keys},
    kind::{LARGEST, ScenarioName, Text, Whole},
    reader::Reader,
    sweep,
};
use crate::{engine::Parameters, measure::Settings, routing::HalfRing};
use topology::Topology;

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
    let routing = routing(reader);
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

fn routing(reader: &mut Reader<'_>) -> Option<RoutingSpec> {
    let choice = Choice {
        key: "routing",
        noun: "routing",
        default: Some("direction_order"),
        doc: "",
        sections: true,
    };
    let doc = "The shortest way round in every dimension, positive directions first, then negative \
               ones: +x +y +z +k -x -y -z -k. The choice among routings is the table's name.";
    let direction_order = with_keys("direction_order", doc, |reader: &mut Reader<'_>| {
        let half_ring = reader.choice(
            &Choice {
                key: "half_ring",
                noun: "half-ring rule",
                default: Some("balanced"),
                doc: "Which way a packet goes when both ways round a ring are as long.",
                sections: false,
            },
            vec![
                plain(
                    "balanced",
                    HalfRing::Balanced,
                    "positive from nodes with an even sum of coordinates, negative from the others.",
                ),
                plain("plus", HalfRing::Plus, "always positive."),
            ],
        )?;
        Some(RoutingSpec::DirectionOrder { half_ring })
    });
    reader.choice(&choice, vec![direction_order])
}
