//! `[routing.relation]`: any fabric, by all the hops that a rule allows.

use super::adaptive::INJECTION_BUBBLE;
use crate::{PathsSpec, RelationSpec, RoutingSpec, RuleSpec};
use flitlab_base::document::{
    Choice, Flag, Reader, Variant, Whole, plain, plain_row, row_with_keys, time, with_keys,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::{Registry, Row};
use flitlab_base::units::Picoseconds;
use flitlab_engine::Feature;
use flitlab_routing::{
    MAX_PATHS, Preference,
    adaptive::AdaptiveKind,
    phased::{PhasedKind, PhasedSpec},
    relation::PathChoice,
};
use flitlab_tables::{
    agnostic::Algorithm,
    path_selection::PathSelection,
    relation_rules::{RelationParameters, RelationRule, TreeOrder},
};

/// The rule that a scenario names.
#[derive(Clone)]
enum Named {
    ByPlace(Row<RelationRule>),
    Phased(PhasedSpec),
    /// The one that suits the virtual channels.
    Auto,
}

/// `router` are the parameters of the routers.
pub(super) fn variant<'v, 'd>(
    router: &flitlab_engine::Parameters,
    registry: &'v Registry,
) -> Variant<'v, 'd, RoutingSpec> {
    let (of_routers, most) = (router.virtual_channels, router.most_bubble());
    let largest_packet = router.maximum_packet();
    let once = Feature::DecidingAgain.refusal(&router.kind);
    let until_granted = Feature::DecidingUntilRoom.refusal(&router.kind);
    let keeps_bubbles = Feature::InjectionBubble.refusal(&router.kind).is_none();
    // Names that tables have too are theirs.
    let taken = |name: &str| {
        registry.rows::<Algorithm>().any(|table| table.name == name)
            || registry.rows::<AdaptiveKind>().any(|rule| rule.name == name)
    };
    let by_place = registry.rows::<RelationRule>().map(|rule| (rule.name, rule.known_as));
    let phased = registry.rows::<PhasedKind>().map(|rule| (rule.name, rule.known_as));
    let own = by_place.chain(phased).flat_map(|(name, known_as)| {
        std::iter::once(name).chain(known_as.iter().copied()).map(move |other| (other, name))
    });
    let own = own.filter(move |(other, _)| !taken(other));
    let doc = "Any fabric: at each router a packet chooses among all the hops that a rule allows from where it is, each \
               an output port and a virtual channel. `rule` and the keys beside it may stand in [routing] itself.";
    with_keys("relation", doc, move |reader: &mut Reader<'_>| {
        let doc = "What says which hops packets may take.";
        let by_place = registry.rows().map(|it| plain_row(it, Named::ByPlace(*it.row)));
        let phased = registry.rows::<PhasedKind>().map(|it| {
            row_with_keys(it, |reader| PhasedSpec::read(it.row, reader).map(Named::Phased))
        });
        let mut rules: Vec<_> = by_place.chain(phased).collect();
        let choice = Choice::usual("rule", "rule", RelationRule::UP_DOWN.name, doc);
        let doc = "bubble-colouring with one virtual channel, two-orders with more (results/nue).";
        rules.push(plain("auto", Named::Auto, doc));
        let rule = reader.choice(&choice, rules);
        let vcs = narrow(reader.value_from(
            "lanes",
            &Whole { range: 1..=16 },
            of_routers.into(),
            "as router.virtual_channels",
            "Virtual channels that the rule may use.",
        ));
        let doc = "Virtual channels in which packets are injected: a packet for node `d` in number `d` modulo these. With 1 \
                   a node has one queue into its router.";
        let kind = Whole { range: 1..=16 };
        let note = "as router.virtual_channels";
        let injection_vcs =
            narrow(reader.value_from("injection_lanes", &kind, of_routers.into(), note, doc));
        // The rings of bubble colouring need room for two packets.
        let usual = match vcs {
            1 if most > 0 => RelationRule::BUBBLE_COLOURING,
            _ => RelationRule::TWO_ORDERS,
        };
        let rule = rule.map(|named| if let Named::Auto = named { Named::ByPlace(usual) } else { named });
        let is_phased = matches!(rule, Some(Named::Phased(_)));
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
        let others = registry.rows().filter(|it| *it.row != PathSelection::RANDOM);
        let others = others.map(|it| plain_row(it, Some(PathsSpec::one(*it.row))));
        let all = [none, several].into_iter().chain(others).collect();
        let selection = reader.choice(&choice, all);
        let doc = "Which one a packet prefers of several hops that are free and have room: by what waits, by how long it was not \
                   taken, or any, as `ties` has it.";
        let by_queues = "that for whose output the least waits; of these with the most credits.";
        let by_ties = "one as `ties` says, whatever waits.";
        let by_age = "the one whose output was taken longest ago; of these whose virtual channel was.";
        let by_use = "the one whose output has flits waiting in the fewest virtual channels; of these as `lru` (MMLRU, as far \
                      as its abstract has it).";
        let preferences = [
            ("least-queued", Preference::LeastQueued, by_queues),
            ("random", Preference::Random, by_ties),
            ("lru", Preference::LeastRecentlyUsed, by_age),
            ("mmlru", Preference::MinimalMultiplexed, by_use),
        ];
        let preference = reader.one_of("preference", "preference", doc, preferences);
        let doc = "Which one a packet prefers of several hops that are free, if `preference` leaves several.";
        let first = "the lowest port, there the lowest virtual channel: idle outputs are always taken in the same order.";
        let ties = [("random", true, "one at random."), ("first", false, first)];
        let ties = reader.one_of("ties", "rule for ties", doc, ties);
        let usual = match rule {
            Some(Named::ByPlace(rule)) if keeps_bubbles => rule.injection_bubble,
            _ => 0,
        };
        let injection_bubble = narrow(reader.value_from(
            "injection_bubble",
            &Whole { range: 0..=255 },
            usual.min(most).into(),
            "as the rule has it, as far as buffers have room",
            INJECTION_BUBBLE,
        ));
        if matches!(selection, Some(Some(_))) {
            let hops = "with a `selection` packets have no hops to choose among";
            for key in ["preference", "ties", "injection_bubble"] {
                reader.forbid(key, hops, &format!("leave out `{key}`, or `selection`"));
            }
            let why = "with a `selection` packets are injected in all virtual channels";
            let help = "leave out `injection_lanes`, or `selection`";
            reader.forbid("injection_lanes", why, help);
        }
        if is_phased {
            let why = "rules with phases follow no tree, and routers choose their hops";
            for key in ["tree", "root", "selection"] {
                reader.forbid(key, why, &format!("leave out `{key}`, or choose another rule"));
            }
        }
        let doc = "Packets that wait decide again at each multiple of this time, by the queues of then; without it each decides \
                   once at a router, when its head asks. Of rules whose packets decide.";
        let again = reader.optional("decides_again", &time(Picoseconds(1)), doc);
        if let Some(why) = once {
            reader.forbid("decides_again", why, "leave it out, or `flit` of `sharing` in [link]");
        }
        let doc = "Until when a packet decides again.";
        let granted = "it goes on.";
        let room = "one of its hops has room, whether it is granted that or not (UGAL in CAMINOS). For routers with \
                    `output_buffer`.";
        let ends = [("granted", false, granted), ("room", true, room)];
        let settles = reader.one_of("decides_until", "end of deciding again", doc, ends);
        let decides_once = "without `decides_again` a packet decides once at a router";
        let why = until_granted.or_else(|| again.is_none().then_some(decides_once));
        if let Some(why) = why.filter(|_| settles == Some(true)) {
            let help = "leave it out, or write `decides_again` beside it and `output_buffer` in [router]";
            reader.forbid("decides_until", why, help);
        }
        let doc = "Whether a relation is used that the proof refuses: then packets may wait for each other for ever.";
        let unproved = reader.value("unproved", &Flag, false, doc);
        let parameters = RelationParameters { vcs, tree: tree?, root: root.map(narrow) };
        let rule = match rule? {
            Named::ByPlace(rule) => RuleSpec::ByPlace(rule, parameters),
            Named::Phased(rule) => RuleSpec::Phased(rule, largest_packet),
            Named::Auto => unreachable!("it stands for one by place"),
        };
        Some(RoutingSpec::Relation(RelationSpec {
            rule,
            vcs,
            random_ties: ties?,
            preference: preference?,
            injection_vcs,
            injection_bubble,
            again,
            settles: settles?,
            // One that is refused above must not be looked at elsewhere.
            selection: selection?.filter(|_| !is_phased),
            unproved,
        }))
    })
    .known_as(own.map(|(other, name)| (other, in_relation(name))))
}

/// Paths that are drawn.
fn several(reader: &mut Reader<'_>) -> Option<Option<PathsSpec>> {
    let doc = "How many paths are drawn for each pair; of equal ones one is left.";
    let mut most = 1;
    reader.set("paths", &Whole { range: 1..=MAX_PATHS as u64 }, &mut most, doc);
    let doc = "Which of several paths a packet takes.";
    let in_turn = "one after the other, packet by packet of its source.";
    let hash = "that which a hash of source and destination node gives (ECMP): the same for all packets of a flow.";
    let choices = [
        ("random", PathChoice::Random, "one at random."),
        ("round-robin", PathChoice::RoundRobin, in_turn),
        ("hash", PathChoice::Hash, hash),
    ];
    let choice = reader.one_of("choice", "choice of paths", doc, choices);
    Some(Some(PathsSpec { selection: PathSelection::RANDOM, most, choice: choice? }))
}

/// Returns the text to write for a rule that is named in place of its routing.
fn in_relation(name: &str) -> String {
    format!("`{name}` is a rule: write [routing] and below it `rule = \"{name}\"`")
}
