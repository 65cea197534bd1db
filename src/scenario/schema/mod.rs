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
    kind::{Flag, LARGEST, ScenarioName, Text, Whole},
    reader::Reader,
    sweep,
};
use crate::{
    engine::Parameters,
    measure::Settings,
    routing::{
        HalfRing,
        angara::{Algorithm, Freedoms},
    },
};
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
    let doc = "A table for Angara: direction order, never both ways in a dimension, and one first \
               positive and one last negative step that may break these rules where no deadlock can \
               come of it. `flitlab route` shows how good it is.";
    let angara = with_keys("angara", doc, |reader: &mut Reader<'_>| {
        let algorithm = reader.choice(
            &Choice {
                key: "algorithm",
                noun: "algorithm",
                default: Some("balanced"),
                doc: "What chooses among the shortest legal routes of each pair.",
                sections: false,
            },
            vec![
                plain(
                    "balanced",
                    Algorithm::Balanced,
                    "makes the load of the fullest channel as small as it can.",
                ),
                plain(
                    "sssp",
                    Algorithm::Sssp,
                    "the published SSSP, by single-source shortest paths.",
                ),
                plain("bfs", Algorithm::Bfs, "the published BFS, by breadth-first searches."),
                plain("genetic", Algorithm::Genetic, "the published genetic algorithm; slow."),
            ],
        );
        let mut freedoms = Freedoms::default();
        freedoms.first_and_last_steps = reader.value(
            "first_and_last_steps",
            &Flag,
            freedoms.first_and_last_steps,
            "Whether routes may begin with a first and end with a last step.",
        );
        freedoms.relaxation = reader.value(
            "relaxation",
            &Flag,
            freedoms.relaxation,
            "Whether these steps may break the direction order where no deadlock can come of it.",
        );
        Some(RoutingSpec::Angara { algorithm: algorithm?, freedoms })
    });
    reader.choice(&choice, vec![direction_order, angara])
}
