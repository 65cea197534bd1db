//! `[routing]`: how routes are found.

use std::sync::Arc;

use crate::{RoutingSpec, TopologySpec};
use flitlab_base::document::{Choice, Flag, InputFile, Reader, Text, Value, plain_row, with_keys};
use flitlab_base::registry::Registry;
use flitlab_tables::{
    TableFile,
    angara::{Algorithm, Freedoms, Parameters},
};

use super::{
    adaptive, direction_order, foreign, forwarding, forwarding::in_table, readings, relation,
};
use flitlab_traces::formats::FileKind;

/// Routings of any fabric, which have no bubble rule.
const ANY_FABRIC: [&str; 3] = ["agnostic", "opensm", "relation"];

/// The routing where none is written.
fn default(topology: Option<&TopologySpec>) -> &'static str {
    match topology {
        Some(TopologySpec::Switched(_)) => "agnostic",
        Some(TopologySpec::Torus(..)) | None => "direction_order",
    }
}

/// Whether the routing is one of any fabric.
pub(super) fn is_of_any_fabric(reader: &Reader<'_>, topology: Option<&TopologySpec>) -> bool {
    let written = reader.scope.table.and_then(|table| table.get("routing"));
    let name = match written.map(|node| &node.value) {
        Some(Value::Text(name)) => name,
        Some(Value::Table(table)) if !table.entries.is_empty() => &table.entries[0].key,
        _ => default(topology),
    };
    ANY_FABRIC.contains(&name)
}

/// `parameters` are those of the routers.
pub(super) fn read(
    reader: &mut Reader<'_>,
    topology: Option<&TopologySpec>,
    parameters: &flitlab_engine::Parameters,
    registry: &Registry,
) -> Option<RoutingSpec> {
    let choice = Choice {
        key: "routing",
        noun: "routing",
        default: Some(match parameters.kind.output_queues() {
            None => default(topology),
            Some(_) => "adaptive",
        }),
        doc: "",
        sections: true,
    };
    let doc = "A table for Angara: direction order, never both ways in a dimension, and one first \
               positive and one last negative step that may break these rules where no deadlock can \
               come of it. `flitlab route` shows how good it is.";
    let angara = with_keys("angara", doc, |reader: &mut Reader<'_>| {
        let doc = "What chooses among the shortest legal routes of each pair.";
        let choice = Choice::usual("algorithm", "algorithm", "balanced", doc);
        let algorithm =
            reader.choice(&choice, registry.rows().map(|it| plain_row(it, *it.row)).collect());
        let mut freedoms = Freedoms::default();
        let doc = "Whether routes may begin with a first and end with a last step.";
        reader.set("first_and_last_steps", &Flag, &mut freedoms.first_and_last_steps, doc);
        let doc =
            "Whether these steps may break the direction order where no deadlock can come of it.";
        reader.set("relaxation", &Flag, &mut freedoms.relaxation, doc);
        let bfs = readings::bfs(reader);
        let sssp = readings::sssp(reader);
        let genetic = readings::genetic(reader);
        let (algorithm, bfs, sssp, genetic) = (algorithm?, bfs?, sssp?, genetic?);
        let parameters = Parameters { freedoms, bfs, sssp, genetic };
        Some(RoutingSpec::Angara { algorithm, parameters })
    });
    let doc = "A table that `flitlab route --save` wrote, for this torus with these failures.";
    let file = with_keys("file", doc, |reader: &mut Reader<'_>| {
        let kind = Text { what: "a file's path", example: "desmos.routes" };
        let file =
            InputFile::required(reader, "path", &kind, "The table file, beside the scenario.")?;
        let read = TableFile::parse(&file.text).map_err(|error| (error.line, error.message));
        let table = foreign::take(&file, reader, FileKind::Routes, read)?;
        Some(RoutingSpec::File(Arc::new(table)))
    });
    let of_angara = registry.rows::<Algorithm>().map(|it| (it.name, in_table("angara", it.name)));
    let mut variants = vec![
        direction_order::variant(topology).known_as([
            ("dor", ""),
            ("dimension_order", ""),
            ("xy", ""),
        ]),
        angara.known_as(of_angara),
        file,
    ];
    variants.extend(adaptive::variants(registry, &parameters.kind));
    variants.extend([
        forwarding::agnostic(parameters.virtual_channels, topology, registry),
        forwarding::opensm(topology),
        relation::variant(parameters, registry),
    ]);
    reader.choice(&choice, variants)
}
