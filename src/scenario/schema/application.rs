//! `[application]`: what ranks send, receive and compute.

use std::sync::Arc;

use super::traffic::LARGEST_MESSAGE;
use crate::{
    application::{Schedule, goal, loggops},
    document::{
        Choice, InputFile, Number, Reader, Text, Whole, plain, rate, read_other, size, time,
        with_keys,
    },
    engine::Parameters,
    narrow::{narrow, rounded},
    topology::{NodeName, Places},
    traffic::{Answer, ApplicationSpec, Carrier, HostParameters, Placement},
    units::{Bytes, Picoseconds},
};

pub(super) fn read(
    reader: &mut Reader<'_>,
    places: Option<Places<'_>>,
    parameters: &Parameters,
) -> Option<ApplicationSpec> {
    let schedule = schedule(reader);
    let placement = placement(reader, places);
    let ranks_per_node = reader.value(
        "ranks_per_node",
        &Whole { range: 1..=65536 },
        1,
        "The most ranks of a node; ranks of one node talk through its memory.",
    );
    let host = host(reader, parameters);
    let carrier = carrier(reader);
    Some(ApplicationSpec {
        schedule: schedule?,
        placement: placement?,
        ranks_per_node: narrow(ranks_per_node),
        host: host?,
        carrier: carrier?,
    })
}

/// The schedule of `file`.
fn schedule(reader: &mut Reader<'_>) -> Option<Arc<Schedule>> {
    let kind = Text { what: "a file's path", example: "allreduce.goal" };
    let doc = "A GOAL file beside the scenario, text or binary: what each rank sends, receives and computes.";
    read_other(reader, "file", &kind, doc, goal::read).map(Arc::new)
}

fn placement(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Placement> {
    let choice = Choice {
        key: "placement",
        noun: "placement",
        default: Some("linear"),
        doc: "Which node each rank is on. Failed nodes, and those outside topology.node_set, get none.",
        sections: false,
    };
    let linear =
        "the first `ranks_per_node` ranks on the first node, the next ones on the next node.";
    let in_turn = "one rank on each node in turn, and from the first node on again.";
    let random = "as \"linear\", with the nodes in an order that the seed draws.";
    let file = "as a file says.";
    reader.choice(
        &choice,
        vec![
            plain("linear", Placement::Linear, linear).known_as([
                ("block", ""),
                ("blocks", ""),
                ("sequential", ""),
            ]),
            plain("round-robin", Placement::RoundRobin, in_turn).known_as([("cyclic", "")]),
            plain("random", Placement::Random, random),
            with_keys("file", file, move |reader| given(reader, places)),
        ],
    )
}

/// The nodes of a file: a line for each rank.
fn given(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Placement> {
    let kind = Text { what: "a file's path", example: "nodes.txt" };
    let doc = "A text file beside the scenario with a node a line, the one of rank 0 first: its number, its \
               coordinates such as 0;1;3 (in a torus) or its name (elsewhere). What stands behind a # means nothing.";
    let file = InputFile::required(reader, "path", &kind, doc)?;
    let names = NodeName { places };
    let mut nodes = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let node = line.split('#').next().unwrap_or_default().trim();
        if !node.is_empty() {
            let found = names.of_text(node).map_err(|(message, help)| match help {
                Some(help) => (number, format!("{message}: {help}")),
                None => (number, message),
            });
            nodes.push(file.take(reader, found)?);
        }
    }
    Some(Placement::Given(nodes.into()))
}

fn host(reader: &mut Reader<'_>, parameters: &Parameters) -> Option<HostParameters> {
    let usual = HostParameters::default();
    let eager_limit = reader.value(
        "eager_limit",
        &size(0, LARGEST_MESSAGE),
        usual.eager_limit,
        "Larger messages wait at their sender until their receipt has begun (LogGOPS' S).",
    );
    let choice = Choice {
        key: "rendezvous",
        noun: "rule",
        default: Some("adapter"),
        doc: "Who sees to it that a large message comes once its receipt has begun.",
        sections: false,
    };
    let adapter = "the adapters, at once, whatever their hosts are busy with.";
    let processor = "the ranks themselves, when the operation's stream is free; it takes them a send overhead each.";
    let answer = reader.choice(
        &choice,
        vec![
            plain("adapter", Answer::Adapter, adapter),
            plain("processor", Answer::Processor, processor),
        ],
    );
    let control_message = reader.value(
        "control_message",
        &size(0, 1 << 20),
        usual.control_message,
        "Payload of the messages by which sender and receiver agree on a large one.",
    );
    let per_byte = Number { above: 0.0, to: 1e6, inclusive: false };
    let overhead_per_byte = reader.optional(
        "overhead_per_byte",
        &per_byte,
        "Nanoseconds for which a host is busy with each byte but the first of a message, at either end, besides \
         adapter.send_overhead and adapter.receive_overhead (LogGOPS' O). None if absent.",
    );
    let gap = reader.value(
        "gap",
        &time(0),
        usual.gap,
        "The least time between the beginnings of two messages of a node (LogGOPS' g).",
    );
    let copy_rate = reader.optional(
        "copy_rate",
        &rate(),
        "How fast a host copies a message that came before its receipt had begun; takes no time if absent.",
    );
    let memory_latency = reader.value(
        "memory_latency",
        &time(0),
        usual.memory_latency,
        "How long a message between ranks of one node takes, besides its bytes at `memory_rate`. Assumed.",
    );
    let memory_rate = reader.value(
        "memory_rate",
        &rate(),
        usual.memory_rate,
        "How fast ranks of one node send each other bytes. Assumed.",
    );
    Some(HostParameters {
        send_overhead: parameters.send_overhead,
        receive_overhead: parameters.receive_overhead,
        overhead_per_byte: overhead_per_byte.unwrap_or(0.0) * 1e3,
        gap,
        eager_limit,
        answer: answer?,
        control_message,
        copy_rate,
        memory_latency,
        memory_rate,
    })
}

fn carrier(reader: &mut Reader<'_>) -> Option<Carrier> {
    let choice = Choice {
        key: "network",
        noun: "network",
        default: Some("flits"),
        doc: "What carries messages between ranks.",
        sections: false,
    };
    let flits = "the network of this scenario, flit by flit.";
    let loggops = "no network: latencies, overheads and gaps alone, by the rules of LogGOPSim. The keys of hosts \
                   above mean nothing then.";
    reader.choice(
        &choice,
        vec![
            plain("flits", Carrier::Flits, flits),
            with_keys("loggops", loggops, |reader| Some(Carrier::LogGops(loggops_of(reader)?))),
        ],
    )
}

/// The parameters of LogGOPS; whole nanoseconds.
fn loggops_of(reader: &mut Reader<'_>) -> Option<loggops::LogGops> {
    let usual = loggops::LogGops::CLASSIC;
    let choice = Choice {
        key: "dialect",
        noun: "dialect",
        default: Some("classic"),
        doc: "Whose rules: for one schedule they give times up to eight times apart.",
        sections: false,
    };
    let classic = "LogGOPSim's: a message's gap is charged at its receiver.";
    let atlahs = "those of the version in ATLAHS: it is charged at its sender.";
    let dialect = reader.choice(
        &choice,
        vec![
            plain("classic", loggops::Dialect::Classic, classic),
            plain("atlahs", loggops::Dialect::Atlahs, atlahs),
        ],
    );
    let mut whole = |key, default: u64, doc| -> u64 {
        let time: Picoseconds = reader.value(key, &time(0), default * 1000, doc);
        (time + 500) / 1000
    };
    let latency = whole("latency", usual.latency, "L: how long a message's first byte travels.");
    let overhead = whole(
        "overhead",
        usual.overhead,
        "o: how long a host is busy with a message, at either end.",
    );
    let overhead_per_byte = whole(
        "overhead_per_byte",
        usual.overhead_per_byte,
        "O: the same for each byte but the first.",
    );
    let gap = whole("gap", usual.gap, "g: the time between two messages of an adapter.");
    let per_byte = Number { above: 0.0, to: 1e6, inclusive: true };
    let gap_per_byte = reader.value(
        "gap_per_byte",
        &per_byte,
        usual.gap_per_byte,
        "G: nanoseconds for each byte but the first of a message; a whole number under \"classic\".",
    );
    let eager_limit = reader.value(
        "eager_limit",
        &size(0, LARGEST_MESSAGE),
        Bytes(usual.eager_limit),
        "S: larger messages wait for their receipt.",
    );
    let dialect = dialect?;
    let gap_per_byte = match dialect {
        loggops::Dialect::Classic => rounded::<i32>(gap_per_byte).into(),
        loggops::Dialect::Atlahs => gap_per_byte,
    };
    Some(loggops::LogGops {
        dialect,
        latency,
        overhead,
        overhead_per_byte,
        gap,
        gap_per_byte,
        eager_limit: eager_limit.0,
    })
}
