//! `[routing.adaptive]`, `[routing.pick_orthant]` and `[routing.outflank]`: packets that choose
//! their way.

use crate::RoutingSpec;
use flitlab_base::document::{Choice, Number, Reader, Variant, Whole, plain, with_keys};
use flitlab_engine::VIRTUAL_CHANNELS;
use flitlab_routing::adaptive::{
    Family, Selection, Tie,
    profit::{Average, IdleRatio, Weights},
};
use flitlab_routing::{AdaptiveRules, NonMinimalRule, agnostic::Algorithm};

const ESCAPES_BY_TABLE: &str = "the table of [routing.agnostic]'s algorithm of this name in one virtual \
                                channel, without a bubble; a packet that escapes keeps to it to the end of its leg.";

/// Of all routings whose packets choose hop by hop.
pub(super) const INJECTION_BUBBLE: &str = "Of how many of the largest packets a packet that is injected leaves room in the buffer that it enters: \
     that throttles injection, and keeps throughput past saturation.";

pub(super) fn bubble<'v, 'd>() -> Variant<'v, 'd, RoutingSpec> {
    let doc = "Every packet may take any direction of a shortest way, hop by hop, on an adaptive \
               virtual channel; where none has room it falls back into another one, which keeps \
               direction order and the bubble rule (the adaptive bubble router, ABR), or, where something has \
               failed, follows a table.";
    with_keys("adaptive", doc, |reader| rules(reader, NonMinimalRule::None)).known_as([("abr", "")])
}

pub(super) fn pick_orthant<'v, 'd>() -> Variant<'v, 'd, RoutingSpec> {
    let doc = "As [routing.adaptive], but a new packet is bound to one way round in each dimension, \
               which may be the longer one (Pick Orthant Routing, POR; also GOAL and CQR). For tori with one \
               dimension at least that is not open.";
    with_keys("pick_orthant", doc, |reader| {
        let doc = "What chooses the ways round.";
        let choice = Choice::usual("rule", "rule", "profit", doc);
        let profit = with_keys(
            "profit",
            "congestion behind the source's ports against distance.",
            |reader: &mut Reader<'d>| Some(profit(reader, Family::Orthants, 1.0)),
        );
        let others = NonMinimalRule::OF_ORTHANTS.map(|(name, rule, doc)| plain(name, rule, doc));
        let non_minimal = reader.choice(&choice, [profit].into_iter().chain(others).collect());
        let rules = rules(reader, non_minimal.unwrap_or(NonMinimalRule::None))?;
        non_minimal.map(|_| rules)
    })
    .known_as([("por", String::new())].into_iter().chain(NonMinimalRule::OF_ORTHANTS.map(
        |(name, ..)| {
            (name, format!("write [routing.pick_orthant] and below it `rule = \"{name}\"`"))
        },
    )))
}

pub(super) fn outflank<'v, 'd>() -> Variant<'v, 'd, RoutingSpec> {
    let doc = "As [routing.adaptive], but a new packet may be led through an intermediate node, just \
               outside the shortest ways or on the other side of the rings (OutFlank Routing, OFR). In open \
               dimensions, as those of a mesh, there are only the former.";
    with_keys("outflank", doc, |reader| {
        let (mut steps, mut percent) = (2, 0);
        let doc = "How many steps outside the shortest ways outflanking intermediate nodes lie.";
        reader.set("steps", &Whole { range: 1..=64 }, &mut steps, doc);
        let doc = "They lie at least so many hundredths of the distance between the ends outside, rounded down: the \
                   farther a packet goes, the wider its detours are.";
        reader.set("steps_percent", &Whole { range: 0..=100 }, &mut percent, doc);
        let non_minimal = profit(reader, Family::IntermediateNodes { steps, percent }, 2.0);
        rules(reader, non_minimal)
    })
    .known_as([("ofr", "")])
}

fn profit(reader: &mut Reader<'_>, family: Family, distance: f64) -> NonMinimalRule {
    let kind = Number { above: 0.0, to: 1e3, inclusive: true };
    let doc =
        "Weight of a detour's length against congestion: the less, the more packets are derouted.";
    let distance = reader.value("distance_weight", &kind, distance, doc);
    let weights =
        Weights { distance, average: Average::Directions, idle: IdleRatio::CandidateIdle };
    NonMinimalRule::Profit(family, weights)
}

fn rules(reader: &mut Reader<'_>, non_minimal: NonMinimalRule) -> Option<RoutingSpec> {
    let mut rules = AdaptiveRules { non_minimal, ..AdaptiveRules::default() };
    let doc = "Which output a packet prefers among those that are free and have room for it.";
    let selection = reader.one_of("selection", "selection function", doc, Selection::ALL);
    let doc = "Which way a packet may go when both ways round a ring are as long.";
    let ties = [
        ("both", None, "either, as the routers find room."),
        ("plus", Some(Tie::Plus), "always positive."),
        ("random", Some(Tie::Random), "one at random, drawn for each packet."),
    ];
    let tie = reader.one_of("tie", "rule for half rings", doc, ties);
    reader.set(
        "injection_bubble",
        &Whole { range: 0..=255 },
        &mut rules.injection_bubble,
        INJECTION_BUBBLE,
    );
    let doc = "What packets follow on the escape channels.";
    let auto = "direction order with the bubble rule; where something has failed, up-down.";
    let [up_down, nue] = [Algorithm::UP_DOWN, Algorithm::NUE]
        .map(|table| (table.name, Some(table), ESCAPES_BY_TABLE));
    let escape = reader.one_of("escape", "escape", doc, [("auto", None, auto), up_down, nue]);
    let doc = "Which virtual channels these packets use: 0 request, 1 response, 2 adaptive, 3 and 4 \
               collective. Read requests keep to 0 and responses to 1.";
    reader.table("virtual_channels", doc, |reader| {
        let kind = Whole { range: 0..=VIRTUAL_CHANNELS as u64 - 1 };
        let mut number = |key, to: &mut u8, doc| reader.set(key, &kind, to, doc);
        let channels = &mut rules.channels;
        number("adaptive", &mut channels.adaptive, "All directions that lead on.");
        number("escape", &mut channels.escape, "The escape to the destination.");
        if non_minimal.goes_via_intermediate() {
            number(
                "escape_to_intermediate",
                &mut channels.escape_to_intermediate,
                "The escape to an intermediate node.",
            );
        }
    });
    rules.selection = selection?;
    rules.tie = tie?;
    rules.escape = escape?;
    Some(RoutingSpec::Adaptive(rules))
}
