//! Failures in a fabric of switches.

use std::collections::BTreeSet;

use flitlab_base::document::{
    Diagnostic, LARGEST, List, Listed, Location, Reader, Whole, report_repeated,
};
use flitlab_fabric::AmountOrShare;
use flitlab_fabric::{Amount, Channel, Fabric, Failures, RandomFailures, SwitchName};

/// Ends that are listed; of more, the first.
const SHOWN: usize = 12;

/// Reads what has failed; `fabric` is `None` if it is wrong itself.
pub(in crate::schema) fn read(
    reader: &mut Reader<'_>,
    fabric: Option<&Fabric>,
    seed: u64,
) -> Failures {
    let switch = SwitchName { fabric };
    let cables = reader.tables(
        "failed_cables",
        "[{ switch = \"S0\", port = 3 }, { switch = \"S1\", to = \"S2\" }]",
        "Cables out of service in both directions, each named by one of its ends.",
        |reader| cable(reader, fabric),
    );
    let kind = List { kind: switch, noun: "switches", length: 0..=usize::MAX, example: None };
    let doc = "Switches out of service, with all their cables and terminals.";
    let routers = reader.value("failed_switches", &kind, Vec::new(), doc);
    if let Some(fabric) = fabric {
        report_repeated(reader, "failed_switches", &routers, "switch", |&at| {
            fabric.router_name(at)
        });
        report_repeated_cables(reader, fabric, &cables);
    }
    let doc =
        "More failures, drawn at random so that all switches that are left still reach each other.";
    let random = reader.optional_table(
        "random_failures",
        "{ cables = \"1%\" }",
        doc,
        |reader: &mut Reader<'_>| {
            let none = Amount::Count(0);
            let cables = reader.value("cables", &AmountOrShare, none, "Cables that fail.");
            let doc = "Switches that fail, with their terminals.";
            let routers = reader.value("switches", &AmountOrShare, none, doc);
            let seed = reader.value_from(
                "seed",
                &Whole { range: 0..=LARGEST },
                seed,
                "the scenario's seed",
                "What decides which ones.",
            );
            RandomFailures { cables, routers, seed }
        },
    );
    let cables = cables.into_iter().flat_map(|(_, channels)| channels).collect();
    Failures { cables, routers: Listed::values(routers), random }
}

/// Cables that a key lists, each by one of its channels.
pub(in crate::schema) fn cables(
    reader: &mut Reader<'_>,
    key: &'static str,
    fabric: Option<&Fabric>,
    doc: &'static str,
) -> Vec<Channel> {
    let example = "[{ switch = \"S0\", port = 3 }, { switch = \"S1\", to = \"S2\" }]";
    let cables = reader.tables(key, example, doc, |reader| cable(reader, fabric));
    cables.into_iter().flat_map(|(_, channels)| channels).collect()
}

/// The cables that an element of `failed_cables` names, each by one of its channels.
fn cable(reader: &mut Reader<'_>, fabric: Option<&Fabric>) -> Option<Vec<Channel>> {
    let kind = SwitchName { fabric };
    let switch = reader.required("switch", &kind, "One end.");
    let port = reader.optional("port", &Whole { range: 1..=65_535 }, "The cable's port there.");
    let doc = "The other end, instead of `port`: all cables between the two.";
    let to = reader.optional("to", &kind, doc);
    let place = reader.scope.place.clone();
    if reader.has("port") == reader.has("to") {
        if let (Some(place), Some(_)) = (place, switch) {
            reader.problems.push(
                Diagnostic::new(&place, "a cable is named by a `switch` and its `port`, or `to`").help(
                    "write { switch = \"S0\", port = 3 } for a cable, { switch = \"S0\", to = \"S1\" } for \
                     all cables between two switches",
                ),
            );
        }
        return None;
    }
    let (fabric, switch) = (fabric?, switch?);
    let name = fabric.router_name(switch);
    let live = fabric.outputs(switch).filter(|&channel| fabric.target(channel).is_some());
    let (found, message, help): (Vec<Channel>, String, String) = match (port, to) {
        (Some(port), _) => (
            live.filter(|&channel| u64::from(fabric.port(channel)) == port).collect(),
            format!("{name} has no cable to a switch at port {port}"),
            terminal_at(fabric, switch, port).unwrap_or_else(|| neighbors(fabric, switch)),
        ),
        (None, Some(to)) => (
            live.filter(|&channel| fabric.target(channel) == Some(to)).collect(),
            format!("{name} has no cable to {}", fabric.router_name(to)),
            neighbors(fabric, switch),
        ),
        (None, None) => return None,
    };
    if let (true, Some(place)) = (found.is_empty(), &place) {
        reader.problems.push(Diagnostic::new(place, message).help(help));
        return None;
    }
    Some(found)
}

fn terminal_at(fabric: &Fabric, switch: u32, port: u64) -> Option<String> {
    let terminal = (0..fabric.terminals()).find(|&terminal| {
        fabric.terminal_router(terminal) == Some(switch)
            && u64::from(fabric.terminal_port(terminal)) == port
    })?;
    let name = fabric.terminal_name(terminal);
    Some(format!(
        "{name} is there; cables to terminals don't fail, only switches and what joins them"
    ))
}

/// Where a switch's cables lead.
fn neighbors(fabric: &Fabric, switch: u32) -> String {
    let ends = fabric.outputs(switch).filter_map(|channel| {
        let target = fabric.router_name(fabric.target(channel)?);
        Some(format!("{} (port {})", target, fabric.port(channel)))
    });
    let ends: Vec<String> = ends.collect();
    let shown = ends.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = if ends.len() > SHOWN { ", ..." } else { "" };
    format!("its cables lead to {shown}{more}")
}

/// Reports cables that have failed already, whichever way they are named.
fn report_repeated_cables(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    cables: &[(Location, Vec<Channel>)],
) {
    let mut seen = BTreeSet::new();
    for (place, channels) in cables {
        for &channel in channels {
            let opposite = fabric.opposite(channel).unwrap_or(channel);
            if !seen.insert(channel.min(opposite)) {
                let name = fabric.channel_name(channel);
                let other = fabric.port(opposite);
                let message = format!("the cable of {name} has failed already");
                let problem = Diagnostic::new(place, message)
                    .label(format!("there it has port {other}"))
                    .help("name each cable once, by either of its ends");
                reader.problems.push(problem);
                reader.mark_broken("failed_cables");
                break;
            }
        }
    }
}
