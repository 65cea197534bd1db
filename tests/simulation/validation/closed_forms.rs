//! Values that a formula gives.

use flitlab::topology::builders::{
    Cascade, DirectorTree, Dragonfly, GlobalCables, HyperX, Kautz, RandomRegular, SlimFly,
    SwitchedTorus, Tree,
};
use flitlab::topology::{Cabling, Fabric, TopologyError};

use super::{Row, Section, remote_memory};
use crate::common::workplace::{Workplace, scenario};

pub fn sections() -> Vec<Section> {
    vec![pings(), collectives(), remote_memory::section(), bounds(), sizes()]
}

/// Operations of 8 B, three flits, on Desmos: five hops from the root at most.
fn collectives() -> Section {
    let place = Workplace::new("validation_collectives");
    let path = scenario("angara/allreduce-tree");
    let completion = |operation: &str, sharing: &str| {
        let set = format!("collective.operation={operation}");
        let out = format!("{operation}-{sharing}");
        let (small, sharing) = ("collective.message=8 B", format!("link.sharing={sharing}"));
        let sets = ["--set", &set, "--set", small, "--set", &sharing];
        let run = [&["run", &path], &sets[..], &["--json", "--out", &out]].concat();
        let time = place.json(&run)["points"][0]["completion_time_us"].as_f64();
        whole(time.expect("a number") * 1e3)
    };
    // Hosts, injection and routing; ejection behind a crossbar; two flits behind the first.
    let ends = 340.0 + 13.0 + 25.0 + 23.0 + 2.0 * 2.0 + 340.0;
    let (way, combining) = (5.0 * 105.0, 5.0 * 10.0);
    // Where routers hold a packet whole, its other two flits count on each channel.
    let (injected, hop) = (2.0 * 2.0, 2.0 * 2.133);
    let rows = [
        ("broadcast", ends + way, injected + 5.0 * hop),
        ("reduce", ends + way + combining, injected + 5.0 * hop),
        ("all-reduce", ends + 2.0 * way + combining, injected + 10.0 * hop),
    ];
    let rows = rows.iter().flat_map(|&(operation, expected, stored)| {
        let command = format!(
            "flitlab run scenarios/angara/allreduce-tree.toml --set collective.operation={operation} --set \
             'collective.message=\"8 B\"'"
        );
        let packets = completion(operation, "packet");
        let flits = completion(operation, "flit");
        let by_flits = format!("{command} --set link.sharing=flit");
        let what = format!("{operation} of 8 B");
        [
            Row::new(format!("{what}, ns"), expected, packets, &command),
            Row::new(format!("{what}, by flits, ns"), whole(expected + stored), flits, &by_flits),
        ]
    });
    Section {
        title: "Collective operations without load",
        source: "On Desmos the farthest node is five hops from the root of a tree. A hop takes\n\
                 105 ns. Combining takes 10 ns at each of the five routers on the way up. Both\n\
                 are assumed. The rest is that of a ping. crates/engine/src/router/collective/tests.rs\n\
                 compares each packet with a computation flit by flit, to the last picosecond.\n\
                 It does so for every tree, size, failure and parameter. Where links are shared\n\
                 flit by flit, packets are stored at each hop.",
        rows: rows.collect(),
    }
}

/// Loads that ways allow.
fn bounds() -> Section {
    let place = Workplace::new("validation_bounds");
    let to_next_group = "traffic.pattern={ group-shift = { by = 1 } }";
    let complement = "traffic.pattern=dimension-complement";
    let rows = [
        ("dragonfly/ugal", to_next_group, "a Dragonfly, to the next group", "minimal", 0.125),
        ("dragonfly/ugal", to_next_group, "a Dragonfly, to the next group", "valiant", 0.4375),
        ("dragonfly/ugal", to_next_group, "a Dragonfly, to the next group", "any", 0.5625),
        ("hyperx/omniwar", complement, "a HyperX's complement", "minimal", 0.25),
        ("hyperx/omniwar", complement, "a HyperX's complement", "any", 0.5),
    ];
    let rows = rows.map(|(name, pattern, what, ways, expected)| {
        let checked = place.json(&["check", &scenario(name), "--set", pattern, "--json"]);
        let bounds = checked["load_bounds"].as_array().expect("bounds").clone();
        let bound = bounds.iter().find(|bound| bound["ways"] == ways).expect("it is named");
        let ours = bound["bound_load"].as_f64().expect("a small fabric");
        let command = format!("flitlab check scenarios/{name}.toml --set '{pattern}'");
        // Bounds are rounded up at the twelfth digit.
        Row::new(format!("{what}: {ways}"), expected, (ours * 1e9).round() / 1e9, &command)
    });
    Section {
        title: "Loads that ways allow",
        source: "Dragonfly of a h + 1 = 9 groups of a = 4 switches, p = h = 2: all a p terminals\n\
                 of a group have one cable on minimal ways, 1/(a p); by way of another group\n\
                 each packet takes two cables between groups, of which (g - 2)/(g - 1) serve,\n\
                 (g - 2)/(2 (g - 1)); of any ways one cable is straight, and all other packets\n\
                 take two, (a h + 1)/(2 a p). HyperX of 4x4 switches with T = 4 terminals: a\n\
                 cable carries the terminals of a switch, 1/T; with four hops for each packet on\n\
                 six channels a switch of which detours fill all, 1/2.",
        rows: rows.into(),
    }
}

/// A time in nanoseconds, to the nearest picosecond.
fn whole(time: f64) -> f64 {
    (time * 1e3).round() / 1e3
}

fn pings() -> Section {
    let place = Workplace::new("validation_pings");
    let latency = |name: &str| {
        let run = place.json(&["run", &scenario(name), "--json", "--out", name]);
        run["points"][0]["message_latency_mean_ns"].as_f64().expect("a number")
    };
    let rows = [
        ("8 B between neighbours, ns", 850.0, "desmos/ping-neighbour"),
        (
            "8 B across the diameter of Desmos, five hops, ns",
            850.0 + 4.0 * 105.0,
            "desmos/ping-diameter",
        ),
    ];
    let row = |(what, expected, name): (&str, f64, &str)| {
        Row::new(what, expected, latency(name), &format!("flitlab run scenarios/{name}.toml"))
    };
    Section {
        title: "Latency without load",
        source: "The 850 ns between neighbours are published\n\
                 ([angara-routing](bibliography.md#angara-routing), section 1). The preset's\n\
                 overheads are chosen to give this sum, so the row confirms nothing but the\n\
                 sum. Each further hop adds the 105 ns that the preset assumes.\n\
                 tests/simulation/zero_load.rs compares the closed form for every pair and parameter, to\n\
                 the last picosecond.",
        rows: rows.into_iter().map(row).collect(),
    }
}

fn sizes() -> Section {
    type Made = Result<Cabling, TopologyError>;
    let random = RandomRegular { routers: 125, degree: 16, terminals: 8, seed: 1 };
    let torus = SwitchedTorus { sizes: vec![6, 5, 5], terminals: 7, redundancy: 4 };
    let fabrics: [(&str, [u32; 3], Made); 9] = [
        ("random graph of degree 16", [125, 1_000, 1_000], random.cabling()),
        ("6x5x5 torus, four cables a pair", [150, 1_050, 1_800], torus.cabling()),
        (
            "10-ary 3-tree",
            [300, 1_100, 2_000],
            Tree { arity: 10, levels: 3, terminals: 11 }.cabling(),
        ),
        (
            "Kautz(5, 3), two cables a pair",
            [150, 1_050, 1_500],
            Kautz { degree: 5, length: 3, terminals: 7, redundancy: 2 }.cabling(),
        ),
        (
            "Dragonfly(12, 6, 6, 15)",
            [180, 1_080, 1_515],
            Dragonfly {
                routers: 12,
                terminals: 6,
                global: 6,
                groups: 15,
                cables: GlobalCables::default(),
            }
            .cabling(),
        ),
        ("Cascade", [192, 1_536, 3_072], Cascade::default().cabling()),
        ("Tsubame2.5", [243, 1_407, 3_384], DirectorTree::default().cabling()),
        // (s_i - 1) summed over dimensions of s_i, by half the routers.
        (
            "HyperX of 4x5x3 switches",
            [60, 60, 60 * (3 + 4 + 2) / 2],
            HyperX { sizes: vec![4, 5, 3], redundancy: 1, terminals: 1 }.cabling(),
        ),
        // 2 q^2 routers of degree (3 q - 1) / 2 for q = 5 ([slim-fly]).
        ("Slim Fly of q = 5", [50, 50, 50 * 7 / 2], SlimFly { prime: 5, terminals: 1 }.cabling()),
    ];
    let mut rows = Vec::new();
    for (what, expected, made) in fabrics {
        let fabric: Fabric = made.expect("within limits").fabric().expect("connected");
        let cables = u32::try_from(fabric.channels() / 2).expect("hardly any");
        let ours = [fabric.routers(), fabric.terminals(), cables];
        for (kind, (expected, ours)) in
            ["routers", "terminals", "cables"].into_iter().zip(expected.into_iter().zip(ours))
        {
            assert_eq!(expected, ours, "{what}: {kind}");
            rows.push(Row::new(format!("{what}: {kind}"), expected, ours, "cargo test sizes"));
        }
    }
    Section {
        title: "Sizes of fabrics",
        source: "The first seven fabrics are those of the Nue slides\n\
                 ([nue](bibliography.md#nue)). The others follow from the definitions.",
        rows,
    }
}
