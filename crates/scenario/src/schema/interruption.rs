//! `[interruption]`: what fails while a load is simulated.

use super::topology::failures;
use crate::{FailureSpec, InterruptionSpec, NewTables, TopologySpec};
use flitlab_base::document::{Diagnostic, Reader, time};
use flitlab_base::units::{Picoseconds, time_text};
use flitlab_fabric::{Channel, Fabric, Failures};

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
            let failed = failures::read(reader, fabric.as_ref(), seed);
            let left = fabric.as_ref().filter(|_| reader.has(FURTHER));
            let left = left.and_then(|fabric| failed.apply(fabric).ok());
            let of_first = new_tables_after.unwrap_or(Picoseconds(1));
            let mut earlier = Earlier { time: at, left };
            let doc = "Failures after this one, in the order of time. Each adds to what has failed. If it comes until the new \
                       tables are ready, these are made anew, for all that has failed; if later, the change to them comes \
                       first, and another one follows.";
            let example = "[{ time = \"300 us\", random_failures = { cables = 1 } }]";
            let further = reader.optional_tables(FURTHER, example, doc, |reader| {
                further(reader, (fabric.as_ref(), seed), of_first, &mut earlier)
            });
            let first = FailureSpec { time: at?, new_tables_after: new_tables_after?, failed };
            let further = further.into_iter().map(|(_, failure)| failure);
            Some(InterruptionSpec {
                failures: [first].into_iter().chain(further).collect(),
                destination_time,
                block_time,
                new_tables: new_tables?,
            })
        })
        .flatten()
}

/// The key of the failures after the first.
const FURTHER: &str = "further_failures";

/// The failure before the one that is read.
struct Earlier {
    time: Option<Picoseconds>,
    /// What it has left; `None` if that is not known.
    left: Option<Fabric>,
}

/// Reads a failure after the first.
fn further(
    reader: &mut Reader<'_>,
    (fabric, seed): (Option<&Fabric>, u64),
    of_first: Picoseconds,
    earlier: &mut Earlier,
) -> Option<FailureSpec> {
    let doc = "When they fail: after the failure before.";
    let at = reader.required("time", &time(Picoseconds(1_000)), doc);
    let doc = "Time from the failure until new tables are ready.";
    let kind = time(Picoseconds(1));
    let new_tables_after =
        reader.value_from("new_tables_after", &kind, of_first, "that of the first failure", doc);
    let failed = failures::read(reader, fabric, seed);
    if let (Some(at), Some(before), Some(place)) = (at, earlier.time, reader.place("time"))
        && at <= before
    {
        let message = format!(
            "this failure is at {}, and the one before it at {}",
            time_text(at),
            time_text(before)
        );
        let help = "order the failures by time; what fails at the same time belongs to one failure";
        reader.problems.push(Diagnostic::new(&place, message).help(help));
        reader.mark_broken("time");
    }
    if let (Some(fabric), Some(left)) = (fabric, &earlier.left) {
        report_failed_before(reader, (fabric, left), &failed);
        earlier.left = failed.apply(left).ok();
    }
    earlier.time = at.or(earlier.time);
    Some(FailureSpec { time: at?, new_tables_after, failed })
}

/// Reports named cables and switches that an earlier failure has taken.
fn report_failed_before(
    reader: &mut Reader<'_>,
    (fabric, left): (&Fabric, &Fabric),
    failed: &Failures,
) {
    let is_dead = |channel: Channel| left.target(channel).is_none();
    let cable = failed.cables.iter().find(|&&cable| is_dead(cable));
    let cable = cable.map(|&cable| format!("the cable of {}", fabric.channel_name(cable)));
    let switch = failed.routers.iter().find(|&&switch| left.outputs(switch).all(is_dead));
    let switch = switch.map(|&switch| format!("switch {}", fabric.router_name(switch)));
    for (key, name) in [("failed_cables", cable), ("failed_switches", switch)] {
        let Some((name, place)) = name.zip(reader.place(key)) else { continue };
        let message = format!("{name} has failed before");
        let help = "leave it out: a failure is for good, and takes a switch with all its cables";
        reader.problems.push(Diagnostic::new(&place, message).help(help));
        reader.mark_broken(key);
    }
}
