//! `[routing.agnostic]` and `[routing.opensm]`: tables by which routers look up the way.

use std::sync::Arc;

use crate::{
    InvalidLine,
    document::{Choice, InputFile, Reader, Text, Variant, Whole, plain, with_keys},
    narrow::narrow,
    routing::{
        agnostic::{ALGORITHMS, Algorithm, Parameters, Partition},
        opensm::{Dump, PathLevels},
    },
    scenario::{RoutingSpec, TopologySpec, routing::OpenSmTable},
};

/// What an algorithm does, in a sentence.
fn describe(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::MinHop => "shortest paths, each router balances its own ports; can deadlock.",
        Algorithm::DimensionOrder => "dimension after dimension, on a grid; can deadlock.",
        Algorithm::Torus2Qos => "dimension order on a torus, other lanes past its dateline.",
        Algorithm::DModK => "the published way through a fat tree, by the destination's number.",
        Algorithm::UpDown => "first up a tree, then down.",
        Algorithm::Sssp => {
            "shortest paths, balanced over the fabric a destination at a time; can deadlock."
        }
        Algorithm::P2Sssp => {
            "shortest paths, balanced over the fabric a path at a time; can deadlock."
        }
        Algorithm::Dfsssp => "the paths of sssp, parted among lanes so that none has a cycle.",
        Algorithm::Lash => "shortest paths, each in the first lane where it closes no cycle.",
        Algorithm::LashTor => "the paths of sssp, changing lanes where they would close a cycle.",
        Algorithm::Mud => "a tree a lane, each destination in the lane that suits it.",
        Algorithm::Segments => "a forbidden turn in each segment of the fabric.",
        Algorithm::Nue => "paths that close no cycle, in any number of lanes.",
        Algorithm::NueBalanced => {
            "the best of several tables of nue, its fullest channels relieved."
        }
    }
}

/// `lanes` are those of the routers.
pub(super) fn agnostic<'v, 'd>(lanes: u8) -> Variant<'v, 'd, RoutingSpec> {
    let doc = "A forwarding table for a fabric of any shape, made by an algorithm that knows nothing of the \
               shape: at each router, packets for a destination have one output. The default of all \
               topologies but [topology.torus]. `flitlab route` shows how good it is.";
    with_keys("agnostic", doc, move |reader: &mut Reader<'_>| {
        let choice = Choice {
            key: "algorithm",
            noun: "algorithm",
            default: Some("nue-balanced"),
            doc: "What makes the table.",
            sections: false,
        };
        let named = ALGORITHMS.map(|(name, algorithm)| plain(name, algorithm, describe(algorithm)));
        let algorithm = reader.choice(&choice, named.into());
        let lanes = narrow(reader.value_from(
            "lanes",
            &Whole { range: 1..=16 },
            lanes.into(),
            "as router.virtual_channels",
            "Virtual lanes that the algorithm may use.",
        ));
        let choice = Choice {
            key: "partition",
            noun: "partition",
            default: Some("near"),
            doc: "How nue and nue-balanced part the destinations among the lanes.",
            sections: false,
        };
        let near = "those near each other together, by multilevel partitioning of the fabric.";
        let partitions = vec![
            plain("near", Partition::Near, near),
            plain("in-turn", Partition::InTurn, "in turn."),
        ];
        let partition = reader.choice(&choice, partitions)?;
        let parameters = Parameters { lanes, partition };
        Some(RoutingSpec::Agnostic { algorithm: algorithm?, parameters })
    })
    .known_as(ALGORITHMS.map(|(name, _)| {
        let how = format!(
            "`{name}` is an algorithm of [routing.agnostic]: write that and below it `algorithm = \"{name}\"`"
        );
        (name, how)
    }))
}

pub(super) fn opensm<'v, 'd: 'v>(
    topology: Option<&'v TopologySpec>,
) -> Variant<'v, 'd, RoutingSpec> {
    let doc = "Forwarding tables of OpenSM, for the fabric of a netlist or one whose switches and terminals \
               have the identifiers that ibsim gives them.";
    with_keys("opensm", doc, move |reader: &mut Reader<'d>| {
        let kind = |example| Text { what: "a file's path", example };
        let tables = InputFile::required(
            reader,
            "tables",
            &kind("opensm-lfts.dump"),
            "The switches' tables, beside the scenario: `opensm-lfts.dump`, or the output of `ibroute` or \
             `dump_fts`.",
        );
        let paths = InputFile::optional(
            reader,
            "paths",
            &kind("paths.txt"),
            "Service levels of paths, a line each: local identifiers (LIDs) of source and destination, service \
             level. Without it packets take lane 0.",
        );
        let map = InputFile::optional(
            reader,
            "map",
            &kind("opensm-sl2vl.dump"),
            "The switches' maps from service levels to lanes; without it a service level is the lane of the \
             same number.",
        );
        // A fabric that falls apart is reported as such.
        let netlist = topology?.netlist().ok()?;
        let tables = tables?;
        let line = |error: InvalidLine| (error.line, error.message);
        let mut dump = tables.take(reader, Dump::read(&netlist, &tables.text).map_err(line))?;
        if let Some(paths) = &paths {
            let levels =
                PathLevels { paths: &paths.text, map: map.as_ref().map(|map| map.text.as_str()) };
            if let Err((text, error)) = dump.set_levels(&netlist, levels) {
                let file = if text == "map" { map.as_ref()? } else { paths };
                return file.take(reader, Err(line(error)));
            }
        } else if map.is_some() {
            reader.forbid(
                "map",
                "`map` says nothing without `paths`: all packets have service level 0",
                "name the file of the paths' service levels too, or leave `map` out",
            );
            return None;
        }
        let table = OpenSmTable::new(&netlist.fabric, dump.table);
        Some(RoutingSpec::OpenSm(Arc::new(table)))
    })
}
