//! `[routing.adaptive]`, `[routing.pick_orthant]`, `[routing.outflank]` and `[routing.two_phase]`:
//! packets that choose their way.

use crate::RoutingSpec;
use flitlab_base::document::{
    Choice, Diagnostic, Reader, Variant, Whole, plain, plain_row, row_with_keys, with_keys,
};
use flitlab_base::registry::{Component, Registered, Registry};
use flitlab_engine::{RouterKind, VIRTUAL_CHANNELS};
use flitlab_routing::adaptive::{AdaptiveKind, ByDetours, NonMinimalRule, Selection, Tie};
use flitlab_routing::{AdaptiveRules, EscapeRule};
use flitlab_tables::agnostic::Algorithm;

const ESCAPES_BY_TABLE: &str = "the table of [routing.agnostic]'s algorithm of this name in one virtual \
                                channel, without a bubble; a packet that escapes keeps to it to the end of its leg.";

/// The name of the escape with datelines.
pub(super) const DATELINE: &str = "dateline";

/// Of all routings whose packets choose hop by hop.
pub(super) const INJECTION_BUBBLE: &str = "Of how many of the largest packets a packet that is injected leaves room in the buffer that it enters: \
     that throttles injection, and keeps throughput past saturation.";

/// Those without detours and with intermediate nodes have each a table of their own. Those that bind
/// a packet to ways round rings have one in common, and so have those of two phases.
pub(super) fn variants<'v, 'd>(
    registry: &'v Registry,
    kind: &'v RouterKind,
) -> impl Iterator<Item = Variant<'v, 'd, RoutingSpec>> {
    let (orthants, others): (Vec<_>, Vec<_>) =
        registry.rows::<AdaptiveKind>().partition(|it| matches!(it.read, ByDetours::Orthants(_)));
    let (two_phase, mut own): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|it| matches!(it.read, ByDetours::Phases(_)));
    let bubble = own.remove(0);
    let of_row = move |row: Registered<AdaptiveKind>| {
        row_with_keys(row, move |reader| {
            let rule = NonMinimalRule::read(row.row, reader);
            rules(reader, rule, registry, kind)
        })
    };
    let doc = "As [routing.adaptive], but a new packet is bound to one way round in each dimension, \
               which may be the longer one (Pick Orthant Routing, POR; also GOAL and CQR). For tori with one \
               dimension at least that is not open.";
    let pick_orthant =
        family("pick_orthant", doc, ("What chooses the ways round.", orthants), registry, kind);
    let doc = "As [routing.adaptive], but each packet goes by way of a node that is drawn when it is injected, \
               whatever the congestion (two-phase randomized routing: Valiant's, ROMM, RLB).";
    let two_phase = family("two_phase", doc, ("What draws the node.", two_phase), registry, kind);
    [of_row(bubble), pick_orthant.known_as([("por", String::new())])]
        .into_iter()
        .chain(own.into_iter().map(of_row))
        .chain([two_phase])
}

/// The table of rules that share one, whose key `rule` names one of them.
fn family<'v, 'd>(
    table: &'static str,
    doc: &'static str,
    (of_rule, rows): (&'static str, Vec<Registered<AdaptiveKind>>),
    registry: &'v Registry,
    kind: &'v RouterKind,
) -> Variant<'v, 'd, RoutingSpec> {
    let usual = rows[0];
    let how = |name| format!("write [routing.{table}] and below it `rule = \"{name}\"`");
    let names: Vec<_> = rows.iter().map(|row| (row.name, how(row.name))).collect();
    with_keys(table, doc, move |reader| {
        let choice = Choice::usual("rule", "rule", usual.name, of_rule);
        let read = |row: Registered<AdaptiveKind>| {
            row_with_keys(row, move |reader| NonMinimalRule::read(row.row, reader))
        };
        let rule = reader.choice(&choice, rows.into_iter().map(read).collect());
        rules(reader, rule, registry, kind)
    })
    .known_as(names)
}

/// Reads the keys that all adaptive routings have. `non_minimal` is `None` if the rule's own are
/// wrong.
fn rules(
    reader: &mut Reader<'_>,
    non_minimal: Option<NonMinimalRule>,
    registry: &Registry,
    kind: &RouterKind,
) -> Option<RoutingSpec> {
    let mut rules = AdaptiveRules::default();
    let doc = "Which output a packet prefers among those that are free and have room for it.";
    let choice = Choice::usual("selection", Selection::NOUN, Selection::built_in()[0].name, doc);
    let functions = registry.rows().map(|row| plain_row(row, row.row)).collect();
    let selection = reader.choice(&choice, functions);
    let doc = "Which way a packet may go when both ways round a ring are as long; by default \"plus\" with router.preset \
               \"outflank-paper\".";
    let ties = [
        ("both", None, "either, as the routers find room."),
        ("plus", Some(Tie::Plus), "always positive."),
        ("random", Some(Tie::Random), "one at random, drawn for each packet."),
    ];
    let output_queued = kind.output_queues().is_some();
    let usual = if output_queued { "plus" } else { "both" };
    let choice = Choice::usual("tie", "rule for half rings", usual, doc);
    let ties = ties.map(|(name, tie, doc)| plain(name, tie, doc));
    let tie = reader.choice(&choice, ties.into());
    if let (true, Some(None), Some(place)) = (output_queued, tie, reader.place("tie")) {
        let message =
            "with preset \"outflank-paper\" a packet's directions are decided when it is created";
        let help = "choose \"plus\", as the paper's program does, or \"random\"";
        reader.problems.push(Diagnostic::new(&place, message).help(help));
        reader.mark_broken("tie");
    }
    reader.set(
        "injection_bubble",
        &Whole { range: 0..=255 },
        &mut rules.injection_bubble,
        INJECTION_BUBBLE,
    );
    let doc = "What packets follow on the escape channels.";
    let auto = "direction order with the bubble rule; where something has failed, up-down.";
    let dateline = "direction order without a bubble: a packet that has yet to pass the cable between the last \
                    coordinate of a ring and the first has another virtual channel there than one that has not. So each \
                    escape takes two, as read requests and responses do.";
    let [up_down, nue] = [Algorithm::UP_DOWN, Algorithm::NUE]
        .map(|table| (table.name, (EscapeRule::Table, table), ESCAPES_BY_TABLE));
    let usual = Algorithm::UP_DOWN;
    let auto = ("auto", (EscapeRule::Auto, usual), auto);
    let dateline = (DATELINE, (EscapeRule::Dateline, usual), dateline);
    let escape = reader.one_of("escape", "escape", doc, [auto, dateline, up_down, nue]);
    rules.channels = escape.map_or(EscapeRule::Auto, |it| it.0).usual_channels();
    let doc = "Which virtual channels these packets use: 0 request, 1 response, 2 adaptive, 3 and 4 \
               collective. Read requests keep to 0 and responses to 1. With `escape = \"dateline\"` the numbers \
               are 0 and 1 for requests, 2 and 3 for responses, 4 adaptive, and an escape is named by the lower one.";
    reader.table("virtual_channels", doc, |reader| {
        let kind = Whole { range: 0..=VIRTUAL_CHANNELS as u64 - 1 };
        let mut number = |key, to: &mut u8, doc| reader.set(key, &kind, to, doc);
        let channels = &mut rules.channels;
        number("adaptive", &mut channels.adaptive, "All directions that lead on.");
        number("escape", &mut channels.escape, "The escape to the destination.");
        if non_minimal.as_ref().is_none_or(NonMinimalRule::goes_via_intermediate) {
            number(
                "escape_to_intermediate",
                &mut channels.escape_to_intermediate,
                "The escape to an intermediate node.",
            );
        }
    });
    if output_queued {
        for key in ["selection", "injection_bubble", "escape", "virtual_channels"] {
            let message = "routers of preset \"outflank-paper\" have this rule fixed: the adaptive queue with the most room; at \
                           injection one of which more than half is free; else an escape in direction order, of two with \
                           intermediate nodes";
            reader.forbid(key, message, "leave it out, or choose another preset in [router]");
        }
    }
    rules.non_minimal = non_minimal?;
    rules.selection = selection?;
    rules.tie = tie?;
    let (escape, table) = escape?;
    rules.escape = escape;
    Some(RoutingSpec::Adaptive(rules, table))
}
