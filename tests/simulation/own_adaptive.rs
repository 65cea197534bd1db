//! Adaptive rules and selection functions of another crate: simulated from scenarios on any number
//! of threads, equal to the reference engines, and proved like those that are built in.

#[path = "../extension/src/adaptive_rule.rs"]
mod adaptive_rule;
#[path = "../extension/src/selection.rs"]
mod selection;

use std::sync::Arc;

use adaptive_rule::RELAY;
use flitlab::adaptive::{
    AdaptiveKind, AdaptiveRule, AtInjection, AtRouter, Heading, Intermediate, When,
};
use flitlab::document::Number;
use flitlab::package;
use flitlab::registry::{Registry, Row};
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::traffic::{Message, MessageKind};
use flitlab::units::Picoseconds;
use flitlab_random::{differential, random_scenario};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selection::MOST_RECENT;

/// With some probability the longer way round in the first dimension.
#[derive(Debug)]
struct LongWay {
    probability: f64,
}

static LONG_WAY: Row<AdaptiveKind> = Row::new(
    "long-way",
    "with some probability the longer way round in the first dimension.",
    AdaptiveKind::orthants("the long way", When::AtInjection, |reader| {
        let kind = Number { above: 0.0, to: 1.0, inclusive: true };
        let probability = reader.value("probability", &kind, 0.5, "Of the longer way.");
        Some(Arc::new(move |_| Ok(Arc::new(LongWay { probability }))))
    }),
);

impl AdaptiveRule<Heading> for LongWay {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<Heading> {
        let (ahead, behind) = packet.compass.hops(packet.source, packet.destination).next()?;
        let goes_back = behind? > ahead?;
        let heading = Heading { negative: goes_back.into(), bound: 1 };
        random.random_bool(self.probability).then_some(heading)
    }
}

/// Wherever no port that leads nearer has room: the longer way round in a dimension that is drawn.
#[derive(Debug)]
struct Sidestep;

static SIDESTEP: Row<AdaptiveKind> = Row::new(
    "sidestep",
    "the longer way round in a dimension that is drawn, wherever there is no room.",
    AdaptiveKind {
        draws: true,
        ..AdaptiveKind::orthants("sidestepping", When::OnTheWay, |_| {
            Some(Arc::new(|_| Ok(Arc::new(Sidestep))))
        })
    },
);

impl AdaptiveRule<Heading> for Sidestep {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Heading> {
        let &AtRouter { compass, router, destination, negative, .. } = packet;
        let ports = compass.ports(router, destination, Heading { negative, bound: 0 });
        let has_room = |port: usize| {
            ports & packet.live.ports >> port & 1 == 1 && packet.used[port] < packet.full
        };
        if (0..packet.used.len()).any(has_room) {
            return None;
        }
        let dimension = packet.random().random_range(0..compass.dimensions());
        let (ahead, behind) = compass.hops(router, destination).nth(dimension)?;
        let bound = 1 << dimension;
        let back = if behind? > ahead? { bound } else { 0 };
        Some(Heading { negative: negative & !bound | back, bound })
    }
}

/// Through the next node wherever the packet comes to, if it is congested there.
#[derive(Debug)]
struct Beside;

static BESIDE: Row<AdaptiveKind> = Row::new(
    "beside",
    "through the next node by number, decided on the way.",
    AdaptiveKind::nodes("the way beside", When::OnTheWay, |_| {
        Some(Arc::new(|_| Ok(Arc::new(Beside))))
    }),
);

impl AdaptiveRule<Intermediate> for Beside {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Intermediate> {
        let node = (packet.router + 1) % packet.compass.nodes();
        let is_live = packet.live.ends.is_none_or(|ends| ends[node as usize]);
        let used: u32 = packet.used.iter().filter(|&&used| used < u32::MAX).sum();
        (is_live && used > 16).then_some(Intermediate { node, across: true })
    }
}

/// Through a node that there is none of.
#[derive(Debug)]
struct Astray;

static ASTRAY: Row<AdaptiveKind> = Row::new(
    "astray",
    "through a node that does not exist.",
    AdaptiveKind::nodes("straying", When::AtSource, |_| Some(Arc::new(|_| Ok(Arc::new(Astray))))),
);

impl AdaptiveRule<Intermediate> for Astray {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Intermediate> {
        Some(Intermediate { node: packet.compass.nodes(), across: false })
    }
}

fn read(text: &str) -> Result<Scenario, String> {
    let rules = [&LONG_WAY, &SIDESTEP, &RELAY, &BESIDE, &ASTRAY];
    let registry = rules
        .into_iter()
        .fold(Registry::default(), |registry, rule| registry.with(package!(), rule).unwrap());
    let registry = registry.with(package!(), &MOST_RECENT).unwrap();
    let document = Document::parse("own.toml", text).with_registry(&registry);
    Scenario::read(&document).map_err(|said| said.plain())
}

const TORUS: &str = "topology.torus.dimensions = [4, 5]\n";
const LOAD: &str = "traffic = { pattern = \"uniform\", load = 0.6, message = \"64 B\" }\n\
                    measure = { window = \"1 us\", minimum_windows = 4, maximum_windows = 8 }\n";
const FAILED: &str = "topology.torus.failed_cables = [{ node = [0, 0], direction = \"+x\" }, \
                      { node = [2, 3], direction = \"-y\" }]\n";
const FLIT_BY_FLIT: &str = "link.sharing = \"flit\"\n";

/// Every routing of another crate.
const ROUTINGS: [&str; 5] = [
    "routing.pick_orthant.rule = { long-way = { probability = 0.3 } }\n",
    "routing.pick_orthant.rule = \"sidestep\"\nrouting.pick_orthant.selection = \"random\"\n",
    "routing.relay.selection = \"lru\"\n",
    "routing.beside.tie = \"random\"\n",
    "routing.adaptive.selection = \"mru\"\n",
];

/// Messages of one packet each, so many from each node.
fn messages(nodes: u32, each: u32) -> Vec<Message> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut message = |source| Message {
        time: Picoseconds(random.random_range(0..3) * 100_000),
        source,
        destination: random.random_range(0..nodes),
        bytes: 64,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    (0..nodes * each).map(|number| message(number % nodes)).collect()
}

#[test]
fn rules_from_outside_are_simulated_on_any_number_of_threads() {
    for routing in ROUTINGS {
        let scenario = read(&[TORUS, LOAD, routing].concat()).unwrap();
        let run = |threads| {
            let simulation = Simulation::new(&scenario).unwrap().on_threads(threads);
            format!("{:?}", simulation.run(&mut |_| {}).found.measured)
        };
        assert_eq!(run(1), run(2), "{routing}");
    }
}

#[test]
fn the_reference_engines_agree_on_rules_from_outside() {
    for routing in ROUTINGS {
        for other in ["", FAILED, FLIT_BY_FLIT] {
            let scenario = read(&[TORUS, LOAD, routing, other].concat()).unwrap();
            let fabric = scenario.network.fabric.clone();
            let messages = messages(fabric.terminals(), 12);
            let sent = messages.len();
            let own = random_scenario::Scenario {
                routes: scenario.network.routes().unwrap().clone(),
                parameters: scenario.parameters.clone(),
                fabric,
                messages,
                collective: None,
            };
            assert_eq!(differential::agree(1, &own), sent, "{routing}{other}");
        }
    }
}

/// \[outflank\], Theorem 1, for whatever rule leads packets through nodes.
#[test]
fn a_rule_from_outside_that_would_deadlock_is_refused_with_the_cycle() {
    let one_escape = "routing.relay.virtual_channels.escape_to_intermediate = 1\n";
    let said = read(&[TORUS, LOAD, one_escape].concat()).unwrap_err();
    assert!(said.contains("each leg needs an escape channel of its own"), "{said}");
    let by_table = "routing.relay.escape = \"up-down\"\n";
    let prove = |text: &str| match Simulation::new(&read(text).unwrap()) {
        Ok(_) => String::new(),
        Err(said) => said.to_string(),
    };
    assert_eq!(prove(&[TORUS, LOAD, by_table].concat()), "");
    let said = prove(&[TORUS, LOAD, one_escape, by_table].concat());
    assert!(said.contains("adaptive routing is refused"), "{said}");
    assert!(said.contains("each of these can wait for the next"), "{said}");
}

#[test]
#[should_panic(expected = "straying leads a packet through node 20, where none can end")]
fn a_rule_from_outside_that_leads_astray_is_named() {
    let scenario = read(&[TORUS, LOAD, "routing.astray = {}\n"].concat()).unwrap();
    Simulation::new(&scenario).unwrap().run(&mut |_| {});
}
