//! `[routing.relation]`: any fabric, by all the hops that a rule allows.

use super::adaptive::INJECTION_BUBBLE;
use crate::{Features, PathsSpec, RelationSpec, RoutingSpec};
use flitlab_base::document::{Choice, Flag, Reader, Variant, Whole, plain, with_keys};
use flitlab_base::narrow::narrow;
use flitlab_routing::{
    MAX_PATHS,
    path_selection::{PATH_SELECTIONS, PathSelection},
    relation::{PathChoice, RELATION_RULES, RelationParameters, RelationRule, TreeOrder},
};

/// `router` are the parameters of the routers.
pub(super) fn variant<'v, 'd>(
    router: &flitlab_engine::Parameters,
    features: &Features,
) -> Variant<'v, 'd, RoutingSpec> {
    let (vcs, most) = (router.virtual_channels, router.most_bubble());
    // Names that tables have too are theirs.
    let taken = |rule: &RelationRule| features.algorithms().any(|it| it.name == rule.name);
    let own = RELATION_RULES.into_iter().filter(|rule| !taken(rule));
    let doc = "Any fabric: at each router a packet chooses among all the hops that a rule allows from where it is, each \
               an output port and a virtual channel.";
    with_keys("relation", doc, move |reader: &mut Reader<'_>| {
        let doc = "What says which hops packets may take.";
        let rules = RELATION_RULES.map(|rule| (rule.name, Some(rule), rule.doc));
        let auto_doc = "bubble-colouring with one virtual channel, two-orders with more (results/nue).";
        let auto = ("auto", None, auto_doc);
        let rule = reader.one_of("rule", "rule", doc, rules.into_iter().chain([auto]));
        let vcs = narrow(reader.value_from(
            "lanes",
            &Whole { range: 1..=16 },
            vcs.into(),
            "as router.virtual_channels",
            "Virtual channels that the rule may use.",
        ));
        // The rings of bubble colouring need room for two packets.
        let usual = match vcs {
            1 if most > 0 => RelationRule::BUBBLE_COLOURING,
            _ => RelationRule::TWO_ORDERS,
        };
        let rule = rule.map(|named| named.unwrap_or(usual));
        let doc = "How the spanning tree is searched, of rules that have one.";
        let trees = TreeOrder::ALL.map(|(order, name, doc)| (name, order, doc));
        let tree = reader.one_of("tree", "tree", doc, trees);
        let doc = "The tree's root, by the number of the switch or router; without it the first that is connected.";
        let root = reader.optional("root", &Whole { range: 0..=u64::from(u32::MAX) - 1 }, doc);
        let doc = "Whether sources choose whole paths, and which ones: one for each pair of switches or routers, of all those that \
                   the rule allows.";
        let choice = Choice::usual("selection", "path selection", "none", doc);
        let none = plain("none", None, "packets choose their hops one by one.");
        let several = with_keys("random", PathSelection::RANDOM.doc, several);
        let others = PATH_SELECTIONS.into_iter().filter(|it| *it != PathSelection::RANDOM);
        let others = others.map(|it| plain(it.name, Some(PathsSpec::one(it)), it.doc));
        let all = [none, several].into_iter().chain(others).collect();
        let selection = reader.choice(&choice, all);
        let doc = "Which one a packet prefers of several hops that are free, if as little waits for their outputs and they have as \
                   many credits.";
        let first = "the lowest port, there the lowest virtual channel: idle outputs are always taken in the same order.";
        let ties = [("random", true, "one at random."), ("first", false, first)];
        let ties = reader.one_of("ties", "rule for ties", doc, ties);
        let usual = rule.map_or(0, |rule| rule.injection_bubble);
        let injection_bubble = narrow(reader.value_from(
            "injection_bubble",
            &Whole { range: 0..=255 },
            usual.min(most).into(),
            "as the rule has it, as far as buffers have room",
            INJECTION_BUBBLE,
        ));
        if matches!(selection, Some(Some(_))) {
            let hops = "with a `selection` packets have no hops to choose among";
            for key in ["ties", "injection_bubble"] {
                reader.forbid(key, hops, &format!("leave out `{key}`, or `selection`"));
            }
        }
        let doc = "Whether a relation is used that the proof refuses: then packets may wait for each other for ever.";
        let unproved = reader.value("unproved", &Flag, false, doc);
        let parameters = RelationParameters { vcs, tree: tree?, root: root.map(narrow) };
        Some(RoutingSpec::Relation(RelationSpec {
            rule: rule?,
            parameters,
            random_ties: ties?,
            injection_bubble,
            selection: selection?,
            unproved,
        }))
    })
    .known_as(own.map(|rule| (rule.name, in_relation(rule.name))))
}

/// Paths that are drawn.
fn several(reader: &mut Reader<'_>) -> Option<Option<PathsSpec>> {
    let doc = "How many paths are drawn for each pair; of equal ones one is left.";
    let mut most = 1;
    reader.set("paths", &Whole { range: 1..=MAX_PATHS as u64 }, &mut most, doc);
    let doc = "Which of several paths a packet takes.";
    let in_turn = "one after the other, packet by packet of its source.";
    let choices = [
        ("random", PathChoice::Random, "one at random."),
        ("round-robin", PathChoice::RoundRobin, in_turn),
    ];
    let choice = reader.one_of("choice", "choice of paths", doc, choices);
    Some(Some(PathsSpec { selection: PathSelection::RANDOM, most, choice: choice? }))
}

/// Returns the text to write for a rule that is named in place of its routing.
fn in_relation(name: &str) -> String {
    format!("`{name}` is a rule of [routing.relation]: write that and below it `rule = \"{name}\"`")
}
