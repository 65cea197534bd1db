//! `[collective]`: operations of the collective subnetwork, and the units of routers that do them.

use super::traffic::LARGEST_MESSAGE;
use flitlab_base::document::{
    Choice, List, Listed, Reader, Whole, plain, rate, report_repeated, size, time,
};
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_engine::CollectiveUnit;
use flitlab_fabric::{NodeName, Places};
use flitlab_workload::traffic::{CollectiveKind, CollectiveSpec};

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
    let (mut rounds, mut outstanding) = (1, 1);
    let many = Whole { range: 1..=1_000_000 };
    reader.set("rounds", &many, &mut rounds, "How many operations there are.");
    let doc = "How many operations a node may have begun that are not done for it: 1 as MPI's blocking operations.";
    reader.set("outstanding", &many, &mut outstanding, doc);
    let doc = "When the first one begins; completion times count from then on.";
    let start = reader.value("start", &time(Picoseconds::ZERO), Picoseconds::ZERO, doc);
    let unit = unit(reader)?;
    let nodes = |list: Option<Vec<Listed<u32>>>| list.map(Listed::values).unwrap_or_default();
    let (roots, members) = (nodes(roots), nodes(members));
    let (kind, message) = (kind?, message?);
    let load = None;
    Some((CollectiveSpec { kind, message, roots, members, rounds, outstanding, start, load }, unit))
}

fn kind(reader: &mut Reader<'_>) -> Option<CollectiveKind> {
    let choice = Choice::required("operation", "operation", "What the operations do.");
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
    let mut unit = CollectiveUnit::default();
    let doc = "How a router replicates packets on the way down.";
    let each = "each copy starts when its output is free and has room.";
    let together = "all copies start at the same instant; outputs that are free earlier are held.";
    let rules = [("each", false, each), ("together", true, together)];
    let together = reader.one_of("replication", "rule", doc, rules);
    let doc = "How many of the packets that are to leave a router next on the way up it can be combining; operands of \
               later ones wait in their buffers. Assumed.";
    reader.set("open_operations", &Whole { range: 1..=1024 }, &mut unit.open_operations, doc);
    let doc =
        "From the start of a flit of the last operand until the result's flit is there. Assumed.";
    reader.set("combining_latency", &time(Picoseconds::ZERO), &mut unit.combining_latency, doc);
    let doc = "How fast a router takes each operand and makes results, all flits counted. Assumed.";
    reader.set("combining_rate", &rate(), &mut unit.combining_rate, doc);
    Some(CollectiveUnit { together: together?, ..unit })
}
