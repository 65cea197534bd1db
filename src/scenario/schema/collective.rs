//! `[collective]`: operations of the collective subnetwork, and the units of routers that do them.

use super::traffic::LARGEST_MESSAGE;
use crate::{
    document::{Choice, List, Listed, Reader, Whole, plain, rate, report_repeated, size, time},
    engine::CollectiveUnit,
    narrow::narrow,
    topology::{NodeName, Places},
    traffic::{CollectiveKind, CollectiveSpec},
    units::Bytes,
};

pub(super) fn read(
    reader: &mut Reader<'_>,
    places: Option<Places<'_>>,
) -> Option<(CollectiveSpec, CollectiveUnit)> {
    let kind = kind(reader);
    let message = match kind {
        Some(CollectiveKind::Barrier) => {
            reader.forbid(
                "message",
                "a barrier carries no payload",
                "leave `message` out, or choose \"all-reduce\"",
            );
            Some(Bytes(0))
        }
        _ => {
            let doc = "Payload of the message that is broadcast, or of each node's operand; a barrier has none.";
            reader.required("message", &size(0, LARGEST_MESSAGE), doc)
        }
    };
    let nodes = |least, example| List {
        kind: NodeName { places },
        noun: "nodes",
        length: least..=usize::MAX,
        example,
    };
    let doc = "The roots of the operations, in turn; each has a tree of its own, breadth first around failures. The \
               first node that takes part if absent.";
    let roots = reader.optional("roots", &nodes(1, None), doc);
    let doc = "The nodes that take part. All if absent.";
    let members = reader.optional("members", &nodes(2, Some("[0, 1]")), doc);
    if let Some(members) = &members {
        report_repeated(reader, "members", members, "node", |&node| {
            places.map_or_else(String::new, |places| places.name(node))
        });
    }
    let rounds = Whole { range: 1..=1_000_000 };
    let rounds = reader.value("rounds", &rounds, 1, "How many operations there are.");
    let doc = "How many operations a node may have begun that are not done for it: 1 as MPI's blocking operations.";
    let outstanding = reader.value("outstanding", &Whole { range: 1..=1_000_000 }, 1, doc);
    let doc = "When the first one begins; completion times count from then on.";
    let start = reader.value("start", &time(0), 0, doc);
    let unit = unit(reader);
    let nodes = |list: Option<Vec<Listed<u32>>>| list.map(Listed::values).unwrap_or_default();
    let spec = CollectiveSpec {
        kind: kind?,
        message: message?,
        roots: nodes(roots),
        members: nodes(members),
        rounds: narrow(rounds),
        outstanding: narrow(outstanding),
        start,
        load: None,
    };
    Some((spec, unit?))
}

fn kind(reader: &mut Reader<'_>) -> Option<CollectiveKind> {
    let choice = Choice {
        key: "operation",
        noun: "operation",
        default: None,
        doc: "What the operations do.",
        sections: false,
    };
    let broadcast = "a message of the root goes to all others.";
    let reduce = "the root gets the combination of everybody's operands.";
    let all_reduce = "everybody gets it: reduced up the tree, then broadcast down.";
    let barrier = "the same with operands of no payload.";
    reader.choice(
        &choice,
        vec![
            plain("broadcast", CollectiveKind::Broadcast, broadcast),
            plain("reduce", CollectiveKind::Reduce, reduce),
            plain("all-reduce", CollectiveKind::AllReduce, all_reduce),
            plain("barrier", CollectiveKind::Barrier, barrier),
        ],
    )
}

/// The unit of each router, of which nothing is public.
fn unit(reader: &mut Reader<'_>) -> Option<CollectiveUnit> {
    let usual = CollectiveUnit::default();
    let doc = "How a router replicates packets on the way down.";
    let choice = Choice::usual("replication", "rule", "each", doc);
    let each = "each copy starts when its output is free and has room.";
    let together = "all copies start at the same instant; outputs that are free earlier are held.";
    let together =
        reader.choice(&choice, vec![plain("each", false, each), plain("together", true, together)]);
    let doc = "How many of the packets that are to leave a router next on the way up it can be combining; operands of \
               later ones wait in their buffers. Assumed.";
    let open = Whole { range: 1..=1024 };
    let open_operations =
        narrow(reader.value("open_operations", &open, usual.open_operations.into(), doc));
    let doc =
        "From the start of a flit of the last operand until the result's flit is there. Assumed.";
    let combining_latency =
        reader.value("combining_latency", &time(0), usual.combining_latency, doc);
    let doc = "How fast a router takes each operand and makes results, all flits counted. Assumed.";
    let combining_rate = reader.value("combining_rate", &rate(), usual.combining_rate, doc);
    Some(CollectiveUnit { together: together?, open_operations, combining_latency, combining_rate })
}
