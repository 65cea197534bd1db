//! `[routing.agnostic]` and `[routing.opensm]`: tables by which routers look up the way.

use std::sync::Arc;

use crate::schema::foreign;
use crate::{RoutingSpec, TopologySpec, routing::OpenSmTable};
use flitlab_base::InvalidLine;
use flitlab_base::document::{
    Choice, InputFile, Reader, Text, Value, Variant, Whole, plain_row, with_keys,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Registry;
use flitlab_fabric::builders::ANY_TABLE;
use flitlab_fabric::netlist::Adapter;
use flitlab_tables::{
    agnostic::{Algorithm, Parameters, Partition, Spread},
    opensm::{Dump, PathLevels},
};
use flitlab_traces::formats::FileKind;

/// `vcs` is the number of virtual channels of the routers.
pub(super) fn agnostic<'v, 'd>(
    vcs: u8,
    topology: Option<&'v TopologySpec>,
    registry: &'v Registry,
) -> Variant<'v, 'd, RoutingSpec> {
    let doc = "A forwarding table for a fabric of any shape, made by an algorithm that knows nothing of the \
               shape: at each router, packets for a destination have one output. The default of all \
               topologies but [topology.torus]. `flitlab route` shows how good it is.";
    with_keys("agnostic", doc, move |reader: &mut Reader<'_>| {
        let doc = "What makes the table. If none is named, nue-balanced does, but d-mod-k on [topology.tree], and with eight \
                   virtual channels or more dfsssp-balanced on [topology.dragonfly] and [topology.cascade].";
        let written = reader.scope.table.and_then(|table| table.get("lanes"));
        let own = match written.map(|node| &node.value) {
            Some(&Value::Integer(Some(own))) => u8::try_from(own).unwrap_or(vcs),
            _ => vcs,
        };
        let usual = topology.map_or(ANY_TABLE(own), |topology| topology.usual_table(own));
        let choice = Choice::usual("algorithm", "algorithm", usual, doc);
        let named = registry.rows().map(|it| plain_row(it, *it.row));
        let algorithm = reader.choice(&choice, named.collect());
        let vcs = narrow(reader.value_from(
            "lanes",
            &Whole { range: 1..=16 },
            vcs.into(),
            "as router.virtual_channels",
            "Virtual channels that the algorithm may use.",
        ));
        let doc = "How nue and nue-balanced part the destinations among the virtual channels.";
        let near = "those near each other together, by multilevel partitioning of the fabric.";
        let partitions =
            [("near", Partition::Near, near), ("in-turn", Partition::InTurn, "in turn.")];
        let partition = reader.one_of("partition", "partition", doc, partitions)?;
        let doc = "What spreads packets over `lanes` that the table has no need of: it is copied into them, and a packet keeps to \
                   one copy.";
        let by_destination = "its destination, by a hash: packets to one node share buffers with few others.";
        let by_pair = "the switch of its source and its destination, by a hash: packets to one node take all lanes, as those that \
                       choose do.";
        let none = "nothing: packets take the virtual channels that the algorithm gives them, of many one.";
        let spreads = [
            ("none", None, none),
            ("by-destination", Some(Spread::ByDestination), by_destination),
            ("by-pair", Some(Spread::ByPair), by_pair),
        ];
        let spread = reader.one_of("spread", "spread", doc, spreads)?;
        let parameters = Parameters { vcs, partition, spread };
        Some(RoutingSpec::Agnostic { algorithm: algorithm?, parameters })
    })
    .known_as(registry.rows::<Algorithm>().flat_map(|it| {
        let names = std::iter::once(it.name).chain(it.known_as.iter().copied());
        names.map(move |name| (name, in_table("agnostic", it.name)))
    }))
}

/// Returns the text to write for an algorithm that is named in place of its routing.
pub(super) fn in_table(routing: &str, name: &str) -> String {
    format!(
        "`{name}` is an algorithm of [routing.{routing}]: write that and below it `algorithm = \"{name}\"`"
    )
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
             level. Without it packets take virtual channel 0.",
        );
        let map = InputFile::optional(
            reader,
            "map",
            &kind("opensm-sl2vl.dump"),
            "The switches' maps from service levels to virtual channels; without it a service level \
             is the virtual channel of the same number.",
        );
        let doc = "Of ports with several local identifiers (LMC above 0): by how much the one that packets are sent to \
                   is above the first. The tables of the others are not followed.";
        let path_bits: u64 = reader.value("path_bits", &Whole { range: 0..=127 }, 0, doc);
        // A fabric that falls apart is reported as such.
        let netlist = topology?.netlist().ok()?;
        let most = netlist.adapters.iter().map(Adapter::lids).max().unwrap_or(1);
        if path_bits >= u64::from(most) {
            let message = match most {
                1 => "no port of this netlist has several local identifiers".into(),
                most => format!("ports of this netlist have at most {most} local identifiers"),
            };
            let way_out = match most {
                1 => "leave `path_bits` out; a netlist of ibnetdiscover says what each port's `lmc` is".into(),
                most => format!("`path_bits` is at most {}", most - 1),
            };
            reader.forbid("path_bits", &message, &way_out);
            return None;
        }
        let tables = tables?;
        let line = |error: InvalidLine| (error.line, error.message);
        let read = Dump::of_path_bits(&netlist, &tables.text, narrow(path_bits)).map_err(line);
        let mut dump = foreign::take(&tables, reader, FileKind::Tables, read)?;
        if let Some(paths) = &paths {
            let levels =
                PathLevels { paths: &paths.text, map: map.as_ref().map(|map| map.text.as_str()) };
            if let Err((text, error)) = dump.set_levels(&netlist, levels) {
                let (file, wanted) = match text {
                    "map" => (map.as_ref()?, FileKind::Lanes),
                    _ => (paths, FileKind::Levels),
                };
                return foreign::take(file, reader, wanted, Err(line(error)));
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
