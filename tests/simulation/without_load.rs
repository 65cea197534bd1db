//! What is said of hops and latencies without load, beside a run at a load of almost nothing: every
//! routing there is. At load 0.01 a rule that compares rooms by the flit still sees the packet before.

use flitlab::adaptive::{AdaptiveKind, Selection};
use flitlab::measure::LongerWays;
use flitlab::registry::Component;
use flitlab::routing::phased::PhasedKind;
use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;
use flitlab::tables::path_selection::PathSelection;
use flitlab::tables::relation_rules::RelationRule;

const DRAGONFLY: &str =
    "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\nterminals = 2\n";
const HYPERX: &str = "[topology.hyperx]\ndimensions = [4, 3]\nterminals = 2\n";
const TREE: &str = "[topology.tree]\narity = 3\nlevels = 3\nterminals = 3\n";
const IRREGULAR: &str =
    "[topology.irregular]\nswitches = 16\nports = 8\nterminals = 4\nlinks = 4\nseed = 3\n";
const RINGS: &str = "[topology.torus]\ndimensions = [6, 4, 3]\n";

fn simulation(text: &str) -> Simulation {
    let document = Document::parse("without-load.toml", text);
    let scenario = Scenario::read(&document).unwrap_or_else(|found| panic!("{text}\n{found}"));
    Simulation::new(&scenario).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// A scenario of even traffic, of tens of thousands of packets that hardly ever meet.
fn text(topology: &str, routing: &str) -> String {
    // The tori have three times the nodes of the others.
    let window = if topology.contains("torus") { "10 ms" } else { "30 ms" };
    format!(
        "{topology}{routing}[traffic]\npattern = \"uniform\"\nload = 0.0002\nmessage = \"64 B\"\n\
         [measure]\nwindow = \"{window}\"\nwarm_up_windows = 1\nminimum_windows = 8\nmaximum_windows = 8\n"
    )
}

/// Holds the forecast against a run. Returns the mean of the hops, and what is said of longer ways.
fn agrees(topology: &str, routing: &str) -> (f64, LongerWays) {
    let text = text(topology, routing);
    let simulation = simulation(&text);
    let forecast = simulation.forecast().clone();
    let measured = simulation.run(&mut |_| {}).found.measured;
    let hops = measured.hops_mean.unwrap_or_else(|| panic!("{text}"));
    let latency = measured.packet_latency_mean.unwrap().0 as f64;
    let near = |own: f64, run: f64| (own / run - 1.0).abs() < 0.01;
    assert!(near(forecast.hops_mean, hops), "{text}: {} hops, {hops} in a run", forecast.hops_mean);
    let mean = forecast.zero_load_mean;
    assert!(near(mean, latency), "{text}: {mean} ps, {latency} in a run");
    // The longest way of a network without failures is one of many, some of which are taken.
    let longest = measured.packet_latency_max.unwrap();
    let maximum = forecast.zero_load_maximum.0 as f64;
    let is_rare = topology.contains("failed_cables");
    assert!(is_rare || maximum <= longest.0 as f64 * 1.01, "{text}: {longest:?}");
    (forecast.hops_mean, forecast.longer_ways)
}

fn rule(name: &str) -> String {
    format!("[routing.relation]\nrule = {name}\n")
}

/// The fabrics on which each rule with phases is tried, and its keys: without any first.
fn phased(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "dragonfly-minimal" => (&[DRAGONFLY], &[""]),
        "minimal-by-hop" => (&[DRAGONFLY, HYPERX, TREE], &[""]),
        "valiant" => (&[DRAGONFLY, HYPERX], &["", "via = \"router\"", "via = \"router-or-end\""]),
        "ugal" => {
            (&[DRAGONFLY, HYPERX], &["", "threshold = 0, equal = \"drawn\"", "sees = \"way\""])
        }
        "par" => {
            (&[DRAGONFLY], &["", "via = \"router-elsewhere\", threshold = 0, equal = \"drawn\""])
        }
        "polarized" => (&[HYPERX], &["", "penalty = 0"]),
        "nearest-ancestor" => (&[TREE], &["", "up = \"random\"", "up = \"two\"", "up = \"hash\""]),
        "hyperx-order" => (&[HYPERX], &["", "order = \"adaptive\""]),
        "dal" => (&[HYPERX], &["", "penalty = 0", "weights = \"product\""]),
        "dimwar" => (&[HYPERX], &["", "penalty = 0", "channels = \"by-hop\""]),
        "omniwar" => (&[HYPERX], &["", "penalty = 0", "deroutes = 1, weights = \"product\""]),
        other => panic!("{other} is not tried here: say where and how"),
    }
}

#[test]
fn rules_with_phases_take_the_ways_that_are_foretold() {
    for row in PhasedKind::built_in() {
        let (fabrics, keys) = phased(row.name);
        for fabric in fabrics {
            for keys in keys {
                // Room for the ways by a switch.
                let more = "[router]\nvirtual_channels = 10\n";
                agrees(
                    fabric,
                    &format!("{}{more}", rule(&format!("{{ {} = {{ {keys} }} }}", row.name))),
                );
            }
        }
    }
}

/// By hand: in the source's group there is one hop to the cable between groups for 3 of 4 switches, and
/// one behind it unless it ends at the right one.
#[test]
fn valiants_hops_and_latency_are_those_of_all_its_ways() {
    let keys = "[router]\nflit = \"8 B\"\nmaximum_payload = \"64 B\"\nheader_flits = 0\nbuffer = \"512 flits\"\n\
                routing_latency = \"20 ns\"\ncrossbar_latency = \"20 ns\"\nvirtual_channels = 8\n[link]\n\
                rate = \"32 Gb/s\"\nlatency = \"22 ns\"\n[adapter]\ninjection_rate = \"32 Gb/s\"\n\
                ejection_rate = \"32 Gb/s\"\nsend_overhead = \"0 ns\"\nreceive_overhead = \"0 ns\"\n\
                injection_buffer = \"512 flits\"\n";
    let fabric = DRAGONFLY.replace("terminals = 2\n", "terminals = 2\ncabling = \"absolute\"\n");
    let (hops, longer) = agrees(&fabric, &format!("{}{keys}", rule("\"valiant\"")));
    assert!((hops - 4.181).abs() < 0.0005, "{hops}");
    assert_eq!(longer, LongerWays::No);
    let forecast =
        simulation(&text(&fabric, &format!("{}{keys}", rule("\"valiant\"")))).forecast().clone();
    assert_eq!(forecast.hops_maximum, 5);
}

#[test]
fn detours_by_queues_are_said_to_be_longer() {
    let longer = |fabric: &str, name: &str| {
        let simulation = simulation(&text(fabric, &rule(&format!("\"{name}\""))));
        (simulation.forecast().hops_maximum, simulation.forecast().longer_ways)
    };
    assert_eq!(longer(DRAGONFLY, "ugal"), (3, LongerWays::AtMost(5)));
    assert_eq!(longer(DRAGONFLY, "par"), (3, LongerWays::AtMost(6)));
    assert_eq!(longer(DRAGONFLY, "dragonfly-minimal"), (3, LongerWays::No));
    assert_eq!(longer(HYPERX, "omniwar"), (2, LongerWays::AtMost(4)));
    assert_eq!(longer(HYPERX, "hyperx-order"), (2, LongerWays::No));
    assert_eq!(longer(TREE, "nearest-ancestor"), (4, LongerWays::No));
}

#[test]
fn rules_by_place_take_the_ways_that_are_foretold() {
    for row in RelationRule::built_in() {
        let (fabric, more) = match row.name {
            "negative-first" => {
                ("[topology.torus]\ndimensions = [4, 4]\nopen = [\"x\", \"y\"]\n", "")
            }
            "parted" => (TREE, ""),
            "minimal" => (TREE, ""),
            _ => (IRREGULAR, ""),
        };
        for ties in ["random", "first"] {
            agrees(
                fabric,
                &format!("{}ties = \"{ties}\"\n{more}", rule(&format!("\"{}\"", row.name))),
            );
        }
    }
}

#[test]
fn selected_paths_are_those_that_are_foretold() {
    for row in PathSelection::built_in() {
        let rule = rule("\"up-down\"");
        agrees(IRREGULAR, &format!("{rule}selection = \"{}\"\n", row.name));
    }
    let rule = rule("\"up-down\"");
    agrees(IRREGULAR, &format!("{rule}selection = {{ random = {{ paths = 8 }} }}\n"));
}

#[test]
fn adaptive_rules_of_tori_take_the_ways_that_are_foretold() {
    let failed = "failed_cables = [{ node = [0, 0, 0], direction = \"+x\" }]\n";
    for row in AdaptiveKind::built_in() {
        let table = match row.name {
            "profit" | "goal" | "cqr" => {
                format!("[routing.pick_orthant]\nrule = \"{}\"\n", row.name)
            }
            "valiant" | "romm" | "rlb" => {
                format!("[routing.two_phase]\nrule = \"{}\"\n", row.name)
            }
            name => format!("[routing.{name}]\n"),
        };
        for selection in Selection::built_in() {
            let routing = format!("{table}selection = \"{}\"\n", selection.name);
            agrees(RINGS, &routing);
            if selection.name == "random" && ["adaptive", "goal", "rlb"].contains(&row.name) {
                agrees(&format!("{RINGS}{failed}"), &routing);
            }
        }
    }
}

/// Flits, buffers at outputs and cables of several rates.
#[test]
fn other_routers_change_nothing_about_ways() {
    for more in [
        "[link.sharing.flit]\n",
        "[router]\noutput_buffer = \"132 flits\"\n",
        "preference = \"random\"\n",
    ] {
        for name in ["valiant", "ugal"] {
            agrees(DRAGONFLY, &format!("{}{more}", rule(&format!("\"{name}\""))));
        }
        agrees(HYPERX, &format!("{}{more}", rule("\"omniwar\"")));
    }
    let rates = "rates = { local = \"32 Gb/s\", global = \"16 Gb/s\" }\n\
                 latencies = { local = \"50 ns\", global = \"500 ns\" }\n";
    for name in ["dragonfly-minimal", "valiant", "ugal", "minimal-by-hop"] {
        agrees(&format!("{DRAGONFLY}{rates}"), &rule(&format!("\"{name}\"")));
    }
    let rates = "rates = [\"32 Gb/s\", \"8 Gb/s\"]\n";
    for name in ["dimwar", "hyperx-order"] {
        agrees(&format!("{HYPERX}{rates}"), &rule(&format!("\"{name}\"")));
    }
}
