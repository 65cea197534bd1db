//! Rules with phases against closed forms: what a Dragonfly carries, and how far packets go.

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
    let place = Workplace::new(name);
    place.write("a.toml", DRAGONFLY);
    let set: Vec<&str> = settings.iter().flat_map(|key| ["--set", key]).collect();
    let row = &place.json(&with(&["run", "a.toml", "--json"], &set))["points"][0];
    let number = |column: &str| row[column].as_f64().expect("a number");
    (number("accepted_load"), number("hops_mean"))
}

/// All packets of a group share one channel: each of the a p = 8 terminals gets an eighth of it.
#[test]
fn minimal_routing_carries_an_eighth_to_the_next_group() {
    let (accepted, _) = carried("rules_minimal_shift", &[NEXT_GROUP]);
    assert!((accepted - 0.125).abs() < 0.002, "{accepted}");
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
