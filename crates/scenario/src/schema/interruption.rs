//! `[interruption]`: what fails while a load is simulated.

use super::topology::failures;
use crate::{InterruptionSpec, NewTables, TopologySpec};
use flitlab_base::document::{Reader, time};
use flitlab_base::units::Picoseconds;

pub(super) fn read(
    reader: &mut Reader<'_>,
    topology: Option<&TopologySpec>,
    seed: u64,
) -> Option<InterruptionSpec> {
    let doc = "Cables and switches (on a torus: nodes) that fail while a load is simulated. Packets on them are \
               lost, and those that are sent to them, until new tables are ready; then sources wait until the \
               network is empty, switches and sources change to routes that the same [routing] makes of what is \
               left, and sources go on.";
    let example =
        "{ time = \"200 us\", new_tables_after = \"100 us\", random_failures = { cables = 1 } }";
    reader
        .optional_table("interruption", example, doc, |reader| {
            let doc = "When they fail: about as long is simulated before it as after it.";
            let at = reader.required("time", &time(Picoseconds(1_000)), doc);
            let doc = "Time from the failure until new tables are ready. Given, so that results do not depend on a \
                       clock; `flitlab check` says how long it took here to make them.";
            let new_tables_after = reader.required("new_tables_after", &time(Picoseconds(1)), doc);
            let doc = "Which destinations are routed anew.";
            let kinds = [
                ("all", NewTables::All, "all, as if the fabric had always been what is left."),
                (
                    "concerned",
                    NewTables::Concerned,
                    "those to which something on the way has failed; ways to others stay as they were. For [routing.agnostic] \
                     and [routing.angara].",
                ),
            ];
            let new_tables = reader.one_of("new_tables", "kind of new tables", doc, kinds);
            let doc = "Time that it takes to route a destination anew, beside `new_tables_after`: it is taken so many \
                       times as destinations are routed anew.";
            let none = Picoseconds::ZERO;
            let destination_time = reader.value("destination_time", &time(none), none, doc);
            let doc = "Time that it takes to send 64 entries of a table to the switch, or to the node, that has it, beside \
                       `new_tables_after`: it is taken so many times as there are such blocks with an entry that changes.";
            let block_time = reader.value("block_time", &time(none), none, doc);
            let fabric = topology.and_then(|topology| topology.fabric().ok());
            let failures = failures::read(reader, fabric.as_ref(), seed);
            Some(InterruptionSpec {
                time: at?,
                new_tables_after: new_tables_after?,
                destination_time,
                block_time,
                new_tables: new_tables?,
                failures,
            })
        })
        .flatten()
}
