//! Rules with phases against closed forms: what a Dragonfly carries, and how far packets go.

use std::sync::Arc;

use flitlab::{
    engine::{FlitSharing, Parameters, RouterKind, Switching},
    routing::{
        RelationRoutes, Routes,
        phased::{PhasedParameters, PhasedRule},
        relation::Relation,
    },
    tables::prove_relation,
    topology::{Fabric, builders::RandomRegular},
};
use flitlab_random::agreement::can_be_delivered;
use flitlab_random::message::data;
use flitlab_random::random_phased;
use flitlab_random::random_scenario::Scenario;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::workplace::{Workplace, with};

/// A Dragonfly of 72 terminals whose routers have a queue behind each output and no bottleneck
/// inside, so that its channels alone limit what it carries.
const DRAGONFLY: &str = "\
topology.dragonfly = { groups = 9, group_size = 4, global_cables = 2, terminals = 2 }
routing.relation.rule = \"dragonfly-minimal\"
router = { virtual_channels = 5, header_flits = 0, checksum_flits = 0, flit = \"16 B\", maximum_payload = \"256 B\", \
buffer = \"64 flits\", routing_latency = \"0 ns\", crossbar_latency = \"0 ns\", crossbar_speedup = 5, arbitration = \"random\" }
link = { rate = \"128 Gb/s\", latency = \"1 ns\", sharing = { flit = { output_buffer = 160 } } }
adapter = { injection_channels = 1, injection_rate = \"128 Gb/s\", injection_latency = \"1 ns\", \
ejection_channels = 1, ejection_rate = \"128 Gb/s\", ejection_latency = \"1 ns\", send_overhead = \"0 ns\", receive_overhead = \"0 ns\" }
traffic = { pattern = \"uniform\", load = 1.0 }
measure = { window = \"1 us\", warm_up_windows = 5, minimum_windows = 10, maximum_windows = 10 }
";

const NEXT_GROUP: &str = "traffic.pattern={ group-shift = { by = 1 } }";

/// The load that is accepted, and the mean hops of a packet.
fn carried(name: &str, settings: &[&str]) -> (f64, f64) {
    carried_on(DRAGONFLY, name, settings)
}

fn carried_on(scenario: &str, name: &str, settings: &[&str]) -> (f64, f64) {
    let place = Workplace::new(name);
    place.write("a.toml", scenario);
    let set: Vec<&str> = settings.iter().flat_map(|key| ["--set", key]).collect();
    let row = &place.json(&with(&["run", "a.toml", "--json"], &set))["points"][0];
    let number = |column: &str| row[column].as_f64().expect("a number");
    let accepted = number("accepted_load");
    let rule = settings.iter().rev().find(|it| it.starts_with("routing.relation.rule="));
    let rule = rule.map_or(scenario.split('"').nth(1).expect("a rule"), |rule| rule);
    let bounds = &place.json(&with(&["check", "a.toml", "--json"], &set))["load_bounds"];
    assert_within_bounds(accepted, rule, bounds);
    (accepted, number("hops_mean"))
}

/// No run accepts more than the ways of its rule carry, but for what a window cuts off.
fn assert_within_bounds(accepted: f64, rule: &str, bounds: &serde_json::Value) {
    let is_of = |kinds: &[&str]| kinds.iter().any(|kind| rule.contains(kind));
    let mut ways = vec!["any", "own"];
    if is_of(&["valiant"]) {
        ways.push("valiant");
    } else if is_of(&["minimal", "hyperx-order", "nearest-ancestor"]) && !is_of(&["ugal", "par"]) {
        ways.push("minimal");
    }
    let bounds = bounds.as_array().expect("bounds");
    let named = |ways: &str| bounds.iter().find(|bound| bound["ways"] == ways);
    assert!(named("any").is_some() && named("minimal").is_some() && named("valiant").is_some());
    for ways in ways {
        let Some(bound) = named(ways) else { continue };
        let bound = bound["bound_load"].as_f64().expect("a small fabric");
        assert!(accepted <= 1.005 * bound + 0.001, "{rule}, {ways}: {accepted} above {bound}");
    }
}

/// All packets of a group share one channel: each of the a p = 8 terminals gets an eighth of it.
#[test]
fn minimal_routing_carries_an_eighth_to_the_next_group() {
    let (accepted, _) = carried("rules_minimal_shift", &[NEXT_GROUP]);
    assert!((accepted - 0.125).abs() < 0.002, "{accepted}");
}

/// The worst permutation for minimal routing leads from group to group, too, but for what the first
/// groups leave over: the terminals that are served least get no more than the bound.
#[test]
fn the_worst_case_of_minimal_routing_is_an_eighth_and_not_that_of_detours() {
    let place = Workplace::new("rules_worst_case");
    place.write("a.toml", DRAGONFLY);
    let least = |rule: &str| {
        let by = format!("routing.relation.rule={rule}");
        let set = ["--set", &by, "--set", "traffic.pattern=worst-case"];
        let row = &place.json(&with(&["run", "a.toml", "--json"], &set))["points"][0];
        let number = |column: &str| row[column].as_f64().expect("a number");
        let share = number("accepted_minimum_source_GB_per_s")
            / number("accepted_payload_GB_per_s_per_node");
        let checked = place.json(&with(&["check", "a.toml", "--json"], &set));
        let bounds = checked["load_bounds"].as_array().expect("bounds").clone();
        let bound = |ways: &str| {
            let bound = bounds.iter().find(|bound| bound["ways"] == ways).expect("a bound");
            bound["bound_load"].as_f64().expect("a small fabric")
        };
        assert!((bound("minimal") - 0.125).abs() < 1e-6 && bound("any") > 0.5, "{bounds:?}");
        number("accepted_load") * share
    };
    let minimal = least("dragonfly-minimal");
    assert!((0.11..0.128).contains(&minimal), "{minimal}");
    let ugal = least("ugal");
    assert!(ugal > 1.5 * minimal, "{ugal}");
}

/// A sweep's figures have the bounds of its patterns, and so have those that are drawn again. A
/// figure of two patterns has none.
#[test]
fn figures_of_sweeps_have_the_bounds_of_their_ways() {
    let place = Workplace::new("rules_figures");
    let windows = "minimum_windows = 10, maximum_windows = 10";
    let short = DRAGONFLY.replace(windows, "minimum_windows = 2, maximum_windows = 2");
    let sweep = "[sweep.grid]\ntraffic.load = [0.1, 1.0]\n\
                 traffic.pattern = [\"uniform\", { group-shift = { by = 1 } }]\n";
    let figures = "[sweep]\nfigures = \"traffic.pattern\"\n";
    place.write("apart.toml", &format!("{short}{figures}{sweep}"));
    place.write("together.toml", &format!("{short}{sweep}"));
    for name in ["apart", "together"] {
        place.run(&["sweep", &format!("{name}.toml"), "--out", name]);
        // What the figures have, the check says before.
        let foreseen = place.json(&["check", &format!("{name}.toml"), "--json"]);
        let summary: serde_json::Value =
            serde_json::from_str(&place.read(&format!("{name}/summary.json"))).expect("JSON");
        assert_eq!(foreseen["sweep"].get("load_bounds"), summary.get("load_bounds"), "{name}");
    }
    let text = place.run(&["check", "apart.toml"]);
    assert!(text.contains("group-shift by 1: minimal 0.1250, Valiant 0.4375, any ways 0.5625"));
    let shift = place.read("apart/accepted-group-shift-by-1.svg");
    for bound in ["minimal: at most 0.125", "Valiant: at most 0.438", "any ways: at most 0.563"] {
        assert!(shift.contains(&format!(">{bound}<")), "{shift}");
    }
    let uniform = place.read("apart/accepted-uniform.svg");
    assert!(uniform.contains(">Valiant: at most 0.518<"), "{uniform}");
    assert!(!place.read("together/accepted.svg").contains("at most"));
    // Beside each other each panel's bounds have its name.
    place.run(&["plot", "apart", "--panels", "--out", "beside"]);
    let beside = place.read("beside/panels.svg");
    assert!(beside.contains(">uniform: Valiant: at most 0.518<"), "{beside}");
    assert!(beside.contains(">group-shift by 1: minimal: at most 0.125<"), "{beside}");
    place.run(&["plot", "apart", "--out", "again"]);
    assert_eq!(place.read("again/accepted-group-shift-by-1.svg"), shift);
}

/// With m cables between each two groups, whichever routers have them, a terminal gets m / (a p) of
/// one to the next group.
#[test]
fn several_cables_carry_as_many_eighths_to_the_next_group() {
    let between = "topology.dragonfly.cables_between=3";
    for cabling in ["relative", "palm-tree", "absolute"] {
        let name = format!("rules_minimal_{cabling}");
        let cabling = format!("topology.dragonfly.cabling={cabling}");
        for (groups, cables, set) in [(9, 1, None), (5, 2, None), (3, 3, Some(between))] {
            let groups = format!("topology.dragonfly.groups={groups}");
            let mut settings = vec![NEXT_GROUP, &cabling, &groups];
            settings.extend(set);
            let (accepted, _) = carried(&format!("{name}_{cables}"), &settings);
            let bound = f64::from(cables) / 8.0;
            assert!((0.97 * bound..1.01 * bound).contains(&accepted), "{settings:?}: {accepted}");
        }
    }
}

/// Cables between groups with half the rate carry half as much; those within groups are as before.
#[test]
fn slow_cables_between_groups_carry_as_much_less() {
    let rates = "topology.dragonfly.rates={ local = \"128 Gb/s\", global = \"64 Gb/s\" }";
    let (accepted, _) = carried("rules_minimal_slow", &[NEXT_GROUP, rates]);
    assert!((accepted - 0.0625).abs() < 0.001, "{accepted}");
}

/// Hops of minimal ways: to none in 1 of 71 pairs, to 3 routers of the group in 1, and over a cable
/// between groups in 1, 2 or 3.
#[test]
fn minimal_routing_carries_nearly_all_uniform_traffic() {
    let (accepted, _) = carried("rules_minimal_uniform", &[]);
    assert!(accepted > 0.9, "{accepted}");
    let (_, hops) = carried("rules_minimal_hops", &["traffic.load=0.2"]);
    let all: f64 = (6.0 * 1.0 + 64.0 * (1.0 + 3.0 / 4.0 + 3.0 / 4.0)) / 71.0;
    assert!((hops - all).abs() < 0.01, "{hops} {all}");
}

/// By way of a router channels within groups bound the load at 0.4375, but for the packets that are
/// delivered in passing; the two hops of each packet between groups bound it at 0.5.
#[test]
fn valiant_carries_nearly_its_bound_to_the_next_group() {
    let by_router = "routing.relation.rule={ valiant = { via = \"router\" } }";
    let (accepted, _) = carried("rules_valiant", &[NEXT_GROUP, by_router]);
    assert!((0.95 * 0.4375..0.5).contains(&accepted), "{accepted}");
}

/// UGAL goes minimally where that is as good, and else as Valiant.
#[test]
fn ugal_follows_the_better_of_both() {
    let ugal = "routing.relation.rule=ugal";
    let light = "traffic.load=0.05";
    let (_, minimal) = carried("rules_minimal_light", &[light]);
    let (_, hops) = carried("rules_ugal_light", &[ugal, light]);
    assert!((hops - minimal).abs() < 0.02, "{hops} {minimal}");
    let (accepted, _) = carried("rules_ugal_uniform", &[ugal, "traffic.load=0.8"]);
    assert!(accepted > 0.79, "{accepted}");
    let (accepted, _) = carried("rules_ugal_shift", &[ugal, NEXT_GROUP, "traffic.load=0.5"]);
    assert!(accepted > 0.4, "{accepted}");
}

/// Where routers hold credits back, the others of their group see full cables earlier: packets to
/// the next group wait less, by at least half of what a view of the whole group would save.
#[test]
fn credits_that_are_held_back_show_full_cables_of_the_group() {
    let place = Workplace::new("rules_held_credits");
    place.write("a.toml", DRAGONFLY);
    let latency = |ugal: &str| {
        let rule = format!("routing.relation.rule={{ ugal = {{ {ugal} }} }}");
        let run = ["run", "a.toml", "--json", "--set", NEXT_GROUP, "--set", "traffic.load=0.3"];
        let row = &place.json(&with(&run, &["--set", &rule]))["points"][0];
        assert_eq!(row["status"], "steady", "{ugal}");
        row["packet_latency_mean_ns"].as_f64().expect("a number")
    };
    let by_channel = "queues = \"vc-if-shared\"";
    let local = latency(by_channel);
    let held = latency(&format!("{by_channel}, credits = \"delayed\""));
    let global = latency("sees = \"group\", minimal_channels = \"apart\"");
    assert!(held < f64::midpoint(local, global), "{local} {held} {global}");
}

/// Where routers know the queues of the cables between groups, UGAL carries as much as the better
/// of minimal routing and Valiant's for both patterns, or more, if all have one virtual channel for
/// each step.
#[test]
fn ugal_with_a_view_of_its_group_carries_what_the_better_way_does() {
    let global = "routing.relation.rule={ ugal = { sees = \"group\" } }";
    let by_group = "routing.relation.rule={ valiant = { via = \"group\" } }";
    for (pattern, settings) in [("uniform", &[][..]), ("shift", &[NEXT_GROUP])] {
        let carried = |rule: &str, more: &[&str]| {
            let settings = [settings, more].concat();
            carried(&format!("rules_global_{pattern}_{rule}"), &settings).0
        };
        let better =
            carried("minimal", &["routing.relation.lanes=2"]).max(carried("valiant", &[by_group]));
        let own = carried("ugal", &[global]);
        assert!(own > 0.95 * better, "{pattern}: {own} {better}");
    }
}

/// A HyperX of 4x4 with 64 terminals, whose routers are those of the Dragonfly.
fn hyperx() -> String {
    let (topology, rest) = DRAGONFLY.split_once('\n').unwrap();
    assert!(topology.starts_with("topology.dragonfly"));
    let rest = rest.replace("dragonfly-minimal", "minimal-by-hop");
    format!("topology.hyperx = {{ dimensions = [4, 4], terminals = 4 }}\n{rest}")
}

/// Where all terminals of a switch send to the one with the complement of both coordinates, a
/// channel of minimal routing carries four terminals' packets. Detours carry nearly half: each
/// packet takes four hops in place of two, over six channels a switch.
#[test]
fn detours_carry_twice_as_much_to_the_complement_of_a_hyperx() {
    let complement = "traffic.pattern=dimension-complement";
    let four = ["router.virtual_channels=4", "router.crossbar_speedup=4"];
    let buffer = "link.sharing.flit.output_buffer=128";
    let carried = |rule: &str| {
        let by = format!("routing.relation.rule={rule}");
        let name = format!("rules_complement_{rule}");
        carried_on(&hyperx(), &name, &[complement, four[0], four[1], buffer, &by]).0
    };
    for (rule, range) in [
        ("minimal-by-hop", 0.248..0.252),
        ("hyperx-order", 0.24..0.252),
        ("valiant", 0.42..0.5),
        ("dimwar", 0.40..0.5),
        ("dal", 0.46..0.5),
        ("omniwar", 0.48..0.5),
    ] {
        let accepted = carried(rule);
        assert!(range.contains(&accepted), "{rule} {accepted}");
    }
}

/// Hops at light load, where no queue asks for a detour: to none in 3 of 63 pairs, to 24 terminals
/// in one, to 36 in two.
#[test]
fn rules_of_a_hyperx_are_minimal_at_light_load() {
    let all = (24.0 + 2.0 * 36.0) / 63.0;
    for rule in ["hyperx-order", "dimwar", "dal", "omniwar", "polarized"] {
        let by = format!("routing.relation.rule={rule}");
        let settings = [&by, "traffic.load=0.02"];
        let (_, hops) = carried_on(&hyperx(), &format!("rules_light_{rule}"), &settings);
        assert!((hops - all).abs() < 0.03, "{rule}: {hops} {all}");
    }
}

/// Any way up is as good: all of a permutation is carried, by chance a little less.
#[test]
fn ways_up_a_tree_carry_permutations() {
    let (_, rest) = DRAGONFLY.split_once('\n').unwrap();
    let rest = rest.replace("dragonfly-minimal", "nearest-ancestor");
    let tree = format!("topology.tree = {{ arity = 4, levels = 3, terminals = 4 }}\n{rest}");
    let shift = "traffic.pattern={ shift = { by = 32 } }";
    let carried = |up: &str| {
        let by = format!("routing.relation.rule={{ nearest-ancestor = {{ up = {up:?} }} }}");
        carried_on(&tree, &format!("rules_tree_{up}"), &[shift, &by]).0
    };
    let [least, random, two] = ["least", "random", "two"].map(carried);
    assert!(least > 0.94 && two > 0.93 && random > 0.75, "{least} {random} {two}");
    assert!(random < two, "{random} {two}");
}

/// Shares of packets by where they left the minimal ways.
#[test]
fn points_say_where_packets_left_the_minimal_ways() {
    let place = Workplace::new("rules_derouted");
    let shares = |scenario: &str, rule: &str, load: &str| -> [Option<f64>; 2] {
        place.write("a.toml", scenario);
        let by = format!("routing.relation.rule={rule}");
        let set = ["--set", NEXT_GROUP, "--set", load, "--set", &by];
        let row = &place.json(&with(&["run", "a.toml", "--json"], &set))["points"][0];
        ["derouted_at_source", "derouted_on_the_way"].map(|it| row[it].as_f64())
    };
    let heavy = "traffic.load=0.4";
    assert_eq!(shares(DRAGONFLY, "dragonfly-minimal", heavy), [None, None]);
    assert_eq!(shares(DRAGONFLY, "valiant", heavy), [Some(1.0), None]);
    // Of 36 routers two are a packet's own.
    let or_end = "{ valiant = { via = \"router-or-end\" } }";
    let [at_source, none] = shares(DRAGONFLY, or_end, heavy);
    assert!((at_source.unwrap() - 34.0 / 36.0).abs() < 0.005 && none.is_none(), "{at_source:?}");
    // Without a threshold both ways cost nothing where nothing waits: half of the packets draw the
    // detour.
    let drawn = "{ ugal = { threshold = 0, equal = \"drawn\" } }";
    let [at_source, none] = shares(DRAGONFLY, drawn, "traffic.load=0.02");
    assert!((0.44..0.55).contains(&at_source.unwrap()) && none.is_none(), "{at_source:?}");
    let [ugal, none] = shares(DRAGONFLY, "ugal", heavy);
    assert!((0.6..0.95).contains(&ugal.unwrap()) && none.is_none(), "{ugal:?}");
    let [at_source, later] = shares(DRAGONFLY, "par", heavy).map(Option::unwrap);
    assert!(at_source > 0.1 && later > 0.1 && at_source + later < 0.95, "{at_source} {later}");
    let [at_source, later] = shares(DRAGONFLY, "par", "traffic.load=0.02").map(Option::unwrap);
    assert!(at_source + later < 0.02, "{at_source} {later}");
}

/// With as many virtual channels as the rule asks for no run past saturation deadlocks; with the
/// last one for all further steps some do.
#[test]
fn too_few_virtual_channels_deadlock() {
    let place = Workplace::new("rules_too_few");
    let small = DRAGONFLY.replace("buffer = \"64 flits\"", "buffer = \"16 flits\"");
    place.write("a.toml", &small.replace("output_buffer = 160", "output_buffer = 0"));
    let by = "routing.relation={ rule = { valiant = { via = \"router\" } }, unproved = true }";
    let run = |out: &str, vcs: &str| {
        let set = ["--set", by, "--set", vcs];
        place.fail(&with(&["run", "a.toml", "--out", out], &set)).0
    };
    assert_eq!(run("enough", "router.virtual_channels=4"), 0);
    assert_eq!(run("fewer", "router.virtual_channels=1"), 3);
}

/// Full networks of random fabrics and rules, with buffers for one packet, many with failures: none
/// deadlocks with as few virtual channels as the proof allows, some do with one fewer.
#[test]
fn no_full_network_deadlocks_with_the_virtual_channels_that_the_proof_allows() {
    fill_networks(0..150);
}

#[test]
#[ignore = "long: 2,000 full networks (FLITLAB_SCENARIOS)"]
fn no_full_network_deadlocks_in_many() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |it| it.parse().unwrap());
    let first = number("FLITLAB_FIRST", 0);
    fill_networks(first..first + number("FLITLAB_SCENARIOS", 2_000));
}

fn fill_networks(seeds: std::ops::Range<u64>) {
    let (mut tried, mut deadlocks, mut with_failures) = (0, 0, 0);
    for seed in seeds {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (fabric, spec) = random_phased::fabric_and_rule(random, |random| {
            let first: u64 = random.random();
            let connected = |seed: u64| {
                let seed = first.wrapping_add(seed);
                let graph = RandomRegular { routers: 8, degree: 3, terminals: 2, seed };
                graph.cabling().ok()?.fabric().ok()
            };
            (0..).find_map(connected).expect("most are")
        });
        let made = |vcs, clamps| {
            let parameters = PhasedParameters { vcs, largest_packet: 4, clamps };
            spec.relation(&fabric, &parameters).ok()
        };
        let is_proved = |made: &(Arc<dyn PhasedRule>, Relation)| {
            prove_relation(&fabric, &made.1).flaws.is_empty()
        };
        let least = (1..=16).find_map(|vcs| Some((vcs, made(vcs, false).filter(is_proved)?)));
        let Some((vcs, made_so)) = least else { continue };
        let (mut random, escapes) = (random.clone(), made_so.1.has_escape());
        let full = full_network(&fabric, made_so, (vcs, escapes, seed), &mut random.clone());
        assert!(can_be_delivered(&full), "seed {seed}: {spec:?}");
        tried += 1;
        with_failures += u32::from(!fabric.failed_cables().is_empty());
        let fewer = vcs.checked_sub(1).filter(|&fewer| fewer > 0);
        let clamped = fewer.and_then(|vcs| Some((vcs, made(vcs, true)?)));
        let Some((vcs, clamped)) = clamped.filter(|(_, made)| !is_proved(made)) else { continue };
        let full = full_network(&fabric, clamped, (vcs, escapes, seed), &mut random);
        deadlocks += u32::from(!can_be_delivered(&full));
    }
    assert!(tried > 50 && deadlocks * 20 > tried, "{deadlocks} of {tried}");
    assert!(with_failures * 5 > tried, "{with_failures} of {tried}");
}

/// A network in which each terminal has many packets for others from the start.
fn full_network(
    fabric: &Fabric,
    (rule, relation): (Arc<dyn PhasedRule>, Relation),
    (vcs, escapes, seed): (u8, bool, u64),
    random: &mut dyn Rng,
) -> Scenario {
    // Worms may hold an escape and wait for another one.
    let mut parameters =
        Parameters { virtual_channels: vcs, bubble: false, ..Parameters::default() };
    parameters.buffer = parameters.maximum_packet();
    let by_flit = RouterKind::SharedLinks(FlitSharing::default());
    (parameters.kind, parameters.switching) = match seed % 4 {
        1 => (by_flit, Switching::VirtualCutThrough),
        2 if !escapes => (by_flit, Switching::Wormhole),
        3 => (RouterKind::OutputBuffers(parameters.buffer), Switching::VirtualCutThrough),
        _ => (RouterKind::WholePackets, Switching::VirtualCutThrough),
    };
    let bytes = parameters.maximum_payload.0;
    let terminals = fabric.live_terminals().collect::<Vec<u32>>();
    let messages = terminals.iter().flat_map(|&source| {
        let mut to = || terminals[random.random_range(0..terminals.len())];
        (0..12).map(|_| to()).filter(|&to| to != source).map(|to| (source, to)).collect::<Vec<_>>()
    });
    let messages = messages.map(|(source, to)| data(0, source, to, bytes)).collect();
    let routes = RelationRoutes::new(Arc::new(relation), Some(rule), seed);
    let (fabric, routes) = (fabric.clone(), Routes::Relation(routes));
    Scenario { fabric, routes, parameters, messages, collective: None }
}
