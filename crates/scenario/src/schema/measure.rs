//! `[measure]`: for how long, and how precisely.

use crate::Workloads;
use crate::workload::Slowdowns;
use flitlab_base::document::{Flag, Number, Reader, Whole, WordOr, time};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{OutputQueues, RouterKind};
use flitlab_measure::{LatencyBy, MAX_WINDOWS, Settings, WarmUp};

pub(super) fn read(
    reader: &mut Reader<'_>,
    kind: &mut RouterKind,
    workloads: Option<&mut Workloads>,
) -> Settings {
    let doc = "When a measurement begins and ends. For a steady load only; an [exchange] is \
               measured from its beginning to its end.";
    reader.table("measure", doc, |reader| {
        slowdowns(reader, workloads);
        settings(reader, kind)
    })
}

/// Reads what is simulated besides several workloads at once.
fn slowdowns(reader: &mut Reader<'_>, workloads: Option<&mut Workloads>) {
    let Some(workloads) = workloads.filter(|_| !reader.is_documenting()) else {
        let _ = slowdowns_of(reader);
        return;
    };
    if !workloads.are_several() || workloads.members().len() < 2 {
        let message = "a workload is slowed by others, and there are none";
        return reader.forbid("slowdowns", message, "leave it out, or add to [workloads]");
    }
    if !workloads.is_finite() {
        let message = "slowdowns are those of completion times, and no workload ends";
        return reader.forbid("slowdowns", message, "leave it out, or add a workload that ends");
    }
    workloads.slowdowns = slowdowns_of(reader).unwrap_or_default();
}

fn slowdowns_of(reader: &mut Reader<'_>) -> Option<Slowdowns> {
    let doc = "What is simulated besides several workloads at once, to know how much each that ends is slowed.";
    let untold = "nothing, and it is not told.";
    let alone = "each that ends alone.";
    let pairs = "the same, and each two of which one ends: who slows whom.";
    reader.one_of(
        "slowdowns",
        "rule",
        doc,
        [
            ("none", Slowdowns::Untold, untold),
            ("alone", Slowdowns::Alone, alone),
            ("pairs", Slowdowns::Pairs, pairs),
        ],
    )
}

/// Reads what ends the warm-up: a time that is given, or a level that is found.
fn warm_up(reader: &mut Reader<'_>, default: WarmUp) -> WarmUp {
    let doc = "Length of the warm-up, whether or not what is under way is level then, as for a comparison with a \
               program that warms up for a number of cycles; \"auto\" waits until it is level.";
    let kind = WordOr { word: "auto", also: "automatic", kind: time(Picoseconds(1)) };
    let mut length = None;
    reader.set("warm_up", &kind, &mut length, doc);
    if let Some(length) = length.filter(|_| !reader.is_documenting()) {
        let message = "`warm_up` says how long the warm-up is";
        reader.forbid("warm_up_windows", message, "leave out one of the two");
        return WarmUp::For(length);
    }
    let WarmUp::UntilLevel { mut most } = default else { return default };
    let windows = Whole { range: 1..=u64::from(MAX_WINDOWS) };
    reader.set(
        "warm_up_windows",
        &windows,
        &mut most,
        "Most windows of warm-up, if `warm_up` is \"auto\".",
    );
    WarmUp::UntilLevel { most }
}

fn settings(reader: &mut Reader<'_>, routers: &mut RouterKind) -> Settings {
    let mut settings = Settings::default();
    let doc = "Length of a window; \"auto\" chooses it from the latency without load, the offered \
               load, the messages and the process, and doubles it where the network fills slowly.";
    let kind = WordOr { word: "auto", also: "automatic", kind: time(Picoseconds(1)) };
    reader.set("window", &kind, &mut settings.window, doc);
    settings.warm_up = warm_up(reader, settings.warm_up);
    let mut count = |key, least, windows: &mut u32, doc| {
        reader.set(key, &Whole { range: least..=u64::from(MAX_WINDOWS) }, windows, doc);
    };
    // A confidence interval needs two means.
    count("minimum_windows", 2, &mut settings.minimum_windows, "Fewest windows measured.");
    count("maximum_windows", 2, &mut settings.maximum_windows, "Most windows measured.");
    let fraction = Number { above: 0.0, to: 1.0, inclusive: false };
    let doc = "Half width of the 95% confidence interval of the mean latency, relative to the mean, at \
         which the measurement ends.";
    reader.set("precision", &fraction, &mut settings.precision, doc);
    let doc = "Growth of all that waits at the sources, as a fraction of what is offered, up to which a load may be \
         called steady; each source queue is judged by itself.";
    reader.set("growth", &fraction, &mut settings.growth, doc);
    let doc = "Whether it is counted how many packets are overtaken by one of their pair that was sent later.";
    reader.set("order", &Flag, &mut settings.order, doc);
    let doc = "By what latencies are told, beside all together, in pairs.csv and on the page.";
    let whole = "nothing.";
    let node = "each node as a source, and as a destination.";
    let pair = "the same, and each pair of nodes, of which there are at most 512.";
    let choices = [
        ("nothing", LatencyBy::Whole, whole),
        ("node", LatencyBy::Node, node),
        ("pair", LatencyBy::Pair, pair),
    ];
    settings.latency_by = reader.one_of("latency_by", "grouping", doc, choices).unwrap_or_default();
    let doc = "Messages of each node, of which all packets are measured, from the first on. With router.preset \
               \"outflank-paper\" only; it takes `growth` and `order` besides.";
    let messages = Whole { range: 1..=1_000_000 };
    match routers {
        RouterKind::OutputQueues(queues) => {
            reader.set("messages", &messages, &mut queues.messages, doc);
            let message = "routers of preset \"outflank-paper\" are measured from the first message to the last, without \
                           warm-up and windows";
            let help = "leave it out; `messages` says how many there are";
            reader.forbid_all_but(&["messages", "growth", "order"], message, help);
        }
        _ if reader.is_documenting() => {
            reader.value("messages", &messages, OutputQueues::PUBLISHED.messages.into(), doc);
        }
        RouterKind::WholePackets | RouterKind::OutputBuffers(_) | RouterKind::SharedLinks(_) => {
            let message = "`messages` is for router.preset \"outflank-paper\"; other routers are measured in windows";
            let help = "leave it out; `maximum_windows` bounds how long is measured";
            reader.forbid("messages", message, help);
        }
    }
    settings
}
