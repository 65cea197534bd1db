//! `[interruption]`: what fails while a load is simulated.

use super::topology::failures;
use crate::{InterruptionSpec, TopologySpec};
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
            let fabric = topology.and_then(|topology| topology.fabric().ok());
            let failures = failures::read(reader, fabric.as_ref(), seed);
            Some(InterruptionSpec { time: at?, new_tables_after: new_tables_after?, failures })
        })
        .flatten()
}
