//! Values that a formula gives.

use flitlab::topology::builders::{
    Cascade, DirectorTree, Dragonfly, GlobalCables, HyperX, Kautz, RandomRegular, SlimFly,
    SwitchedTorus, Tree,
};
use flitlab::topology::{Cabling, Fabric, TopologyError};

use super::{Row, Section, records, remote_memory, value};
use crate::common::workplace::{Workplace, scenario};

pub fn sections() -> Vec<Section> {
    vec![
        pings(),
        collectives(),
        remote_memory::section(),
        bounds(),
        sustained(),
        networks_of_papers(),
        sizes(),
    ]
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

/// What rules sustain beside what their ways allow, where these are minimal or Valiant's.
fn sustained() -> Section {
    let mut rows = Vec::new();
    for record in records("results/bounds/bounds.csv") {
        // Any ways have a bound alone: no rule stands for them.
        let Ok(ours) = record["sustained_load"].parse::<f64>() else { continue };
        let bound = value(&record["bound_load"]);
        let [fabric, pattern, rule] = ["fabric", "pattern", "rule"].map(|it| &record[it]);
        let what = format!("{fabric}, {pattern}, {rule}: highest sustained load");
        assert!(ours <= bound, "{what}: more than ways allow");
        if ["minimal", "Valiant's"].contains(&record["ways"].as_str()) {
            rows.push(Row::new(what, bound, ours, "flitlab reproduce bounds"));
        }
    }
    Section {
        title: "Sustained loads beside what ways allow",
        source: "What is expected is the load at which the ways of a rule are full, by linear\n\
                 programming ([what ways allow](fabrics.md#what-ways-allow)). It is a bound: no\n\
                 rule is above it, and none need reach it. Ours is the highest load that is\n\
                 sustained in a simulation, found to 0.01. UGAL, PAR and others, which choose\n\
                 between minimal ways and detours, are in results/bounds: none is above its bound.",
        rows,
    }
}

/// What rules accept on the networks of three papers, beside closed forms.
fn networks_of_papers() -> Section {
    // Of uniform traffic from each terminal to all others: channels over hops.
    let slim_fly = |switches: f64, channels: f64, terminals: f64| {
        let hops = terminals * (channels + 2.0 * (switches - 1.0 - channels));
        channels * (switches * terminals - 1.0) / (terminals * hops)
    };
    let hyperx = |size: f64, dimensions: i32, terminals: f64| {
        let all = terminals * size.powi(dimensions);
        size * (all - 1.0) / (terminals * all)
    };
    let rows = [
        ("dragonfly-ugal", "dragonfly-72", "worst-case", "minimal", 1.0 / 8.0),
        ("dragonfly-ugal", "dragonfly-72", "worst-case", "Valiant", 7.0 / 16.0),
        ("dragonfly-ugal", "dragonfly-72", "uniform", "minimal", 1.0),
        ("dragonfly-ugal", "dragonfly-1056", "worst-case", "minimal", 1.0 / 32.0),
        ("dragonfly-ugal", "dragonfly-1056", "worst-case", "Valiant", 31.0 / 64.0),
        ("dragonfly-ugal", "dragonfly-1056", "uniform", "minimal", 1.0),
        ("slimfly", "slim-fly-200", "uniform", "minimal", slim_fly(50.0, 7.0, 4.0)),
        ("slimfly", "slim-fly-10830", "uniform", "minimal", slim_fly(722.0, 29.0, 15.0)),
        ("slimfly", "slim-fly-10830", "two-hops", "minimal", 1.0 / 15.0),
        ("hyperx-omniwar", "hyperx-64", "complement", "minimal", 1.0 / 4.0),
        ("hyperx-omniwar", "hyperx-64", "shift", "minimal", 1.0 / 4.0),
        ("hyperx-omniwar", "hyperx-64", "uniform", "minimal", hyperx(4.0, 2, 4.0)),
        ("hyperx-omniwar", "hyperx-4096", "complement", "minimal", 1.0 / 8.0),
        ("hyperx-omniwar", "hyperx-4096", "shift", "minimal", 1.0 / 8.0),
        ("hyperx-omniwar", "hyperx-4096", "uniform", "minimal", hyperx(8.0, 3, 8.0)),
    ];
    let rows = rows.map(|(name, network, traffic, rule, expected)| {
        let points = records(&format!("results/{name}/points.csv")).into_iter();
        let own = points.filter(|point| {
            (point["network"].as_str(), point["traffic"].as_str(), point["rule"].as_str())
                == (network, traffic, rule)
        });
        let accepted = own.map(|point| value(&point["accepted_load"]));
        let ours = accepted.reduce(f64::max).expect("it was simulated");
        let what = format!("{network}, {traffic}, {rule}: highest accepted load");
        // More may leave in the time that is measured than is sent in it.
        assert!(ours <= 1.001 * expected, "{what}: more than channels carry");
        Row::new(what, expected, ours, &format!("flitlab reproduce {name}"))
    });
    Section {
        title: "Loads on the networks of three papers",
        source: "[dragonfly](bibliography.md#dragonfly), [slim-fly](bibliography.md#slim-fly) and\n\
                 [hyperx-adaptive](bibliography.md#hyperx-adaptive) have their values in figures,\n\
                 which we did not have ([papers/fabrics.md](papers/fabrics.md)). So what is\n\
                 expected is a closed form: the load at which the fullest channels are full. It\n\
                 is a bound, and knows no buffers; on each network ours is farthest below it\n\
                 under uniform traffic. Ours is the most that is accepted at any of the loads in\n\
                 points.csv, of runs that are short (results/dragonfly-ugal, results/slimfly,\n\
                 results/hyperx-omniwar).\n\n\
                 - Dragonfly of g = a h + 1 groups with p = h terminals a switch, from each\n  \
                   group to the next one (worst-case): 1/(a h), and by way of a third group\n  \
                   (g - 2)/(2 (g - 1)). Under uniform traffic the links of terminals bind.\n\
                 - Slim Fly of r switches with k channels and p terminals each, N terminals in\n  \
                   all: k (N - 1)/(p^2 (k + 2 (r - 1 - k))); to a switch at two hops 1/p on the\n  \
                   larger network, where no two ways meet.\n\
                 - HyperX of S switches a dimension with T terminals each, N in all:\n  \
                   S (N - 1)/(T N); to the complement and to x + 1 (shift) 1/T.",
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
