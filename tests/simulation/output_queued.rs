//! Scenarios on output-queued routers (`router.preset = "outflank-paper"`): the published results,
//! closed forms, conservation, and what is told of each packet.

use std::collections::{BTreeMap, HashMap};

use flitlab::measure::LogFilter;
use flitlab::registry::Component;
use flitlab::report::{PointRow, Status};
use flitlab::scenario::{Deadlock, Document, Scenario};
use flitlab::simulation::{Outcome, Simulation};
use flitlab::topology::Torus;
use flitlab::traffic::PatternKind;
use flitlab::units::Picoseconds;

fn document(dimensions: &str, routing: &str, more: &str) -> Document {
    let text = format!(
        "[topology.torus]\ndimensions = {dimensions}\n[router]\npreset = \"outflank-paper\"\n[routing]\n{routing} = {{}}\n\
         {more}\n"
    );
    Document::parse("a.toml", &text)
}

fn scenario(dimensions: &str, routing: &str, more: &str) -> Scenario {
    Scenario::read(&document(dimensions, routing, more)).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn run(scenario: &Scenario) -> Outcome {
    Simulation::new(scenario).unwrap().run(&mut |_| {})
}

fn logged(scenario: &Scenario) -> Outcome {
    let filter =
        LogFilter { packets: true, messages: true, terminals: Vec::new(), most: usize::MAX };
    Simulation::new(scenario).unwrap().logging_deliveries(filter).run(&mut |_| {})
}

/// The committed rows of Figure 4 on 8x8x8: by pattern, routing and load, the named columns.
fn reproduced() -> Vec<BTreeMap<String, String>> {
    let text = include_str!("../../results/outflank/fig4-quick/points.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        header
            .iter()
            .zip(line.split(','))
            .map(|(name, cell)| ((*name).into(), cell.into()))
            .collect()
    };
    lines.map(row).collect()
}

#[test]
fn a_point_has_the_values_of_the_reproduction_to_the_last_bit() {
    // The reproduction is four times faster than the paper's Table 1.
    let faster = "[router.preset.outflank-paper]\nexternal_rate = \"80 Gb/s\"\n\
                  external_latency = \"50 ns\"\ninternal_rate = \"256 Gb/s\"\ninternal_latency = \"20 ns\"\n";
    let rows = reproduced();
    for (name, routing, load) in
        [("ABR", "adaptive", "0.35"), ("POR", "pick_orthant", "0.5"), ("OFR", "outflank", "0.4")]
    {
        let is = |row: &&BTreeMap<String, String>| {
            (&*row["pattern"], &*row["routing"], &*row["offered_load"]) == ("butterfly", name, load)
        };
        let row = rows.iter().find(is).unwrap();
        let traffic = format!("[traffic]\npattern = \"butterfly\"\nload = {load}\n");
        let text = format!(
            "[topology.torus]\ndimensions = [8, 8, 8]\n{faster}[routing]\n{routing} = {{}}\n{traffic}"
        );
        let scenario = Scenario::read(&Document::parse("a.toml", &text)).unwrap();
        let point = run(&scenario).found.measured;
        assert_eq!(format!("{:016x}", point.digest.unwrap()), row["digest"], "{name}");
        assert_eq!(point.packets.unwrap().to_string(), row["packets"], "{name}");
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        let lifetime = Picoseconds((number("mean_lifetime_us") * 1e6).round() as u64);
        assert_eq!(point.packet_latency_mean, Some(lifetime), "{name}");
        assert_eq!(point.hops_mean, Some(number("mean_hops")), "{name}");
        for (share, column) in [
            (point.derouted_outflank, "derouted_share_outflank"),
            (point.derouted_wraparound, "derouted_share_wraparound"),
            (point.derouted_orthant, "derouted_share_orthant"),
        ] {
            assert_eq!(share.unwrap_or(0.0), number(column), "{name}, {column}");
        }
        assert_eq!(point.status, Status::Steady, "{name}");
    }
}

#[test]
fn lifetimes_are_in_the_units_of_the_papers_table_1() {
    let traffic = "[traffic]\npattern = \"butterfly\"\nload = 0.1\n[measure]\nmessages = 4";
    let paper = scenario("[8, 8, 8]", "adaptive", traffic);
    let mut document = document("[8, 8, 8]", "adaptive", traffic);
    document.set(
        "router.preset={ outflank-paper = { external_rate = \"80 Gb/s\", external_latency = \"50 ns\", internal_rate = \
         \"256 Gb/s\", internal_latency = \"20 ns\" } }",
    );
    let faster = Scenario::read(&document).unwrap();
    let [paper, faster] = [paper, faster].map(|it| run(&it).found.measured.packet_latency_mean);
    let ratio = paper.unwrap().0 as f64 / faster.unwrap().0 as f64;
    assert!((ratio - 4.0).abs() < 1e-5, "{ratio}");
}

/// One packet of each node at a time, to a node that no other one's way crosses.
#[test]
fn a_packet_alone_takes_the_time_of_the_closed_form() {
    for (dimensions, hops) in [("[5]", 1), ("[4, 4]", 2), ("[3, 3, 3, 3]", 4)] {
        let traffic = "[traffic]\npattern = \"neighbor\"\nload = 0.01\nmessage = \"512 B\"";
        let scenario = scenario(dimensions, "adaptive", traffic);
        let outcome = run(&scenario);
        let point = &outcome.found.measured;
        // 512 B at 64 Gb/s and 80 ns in and out, at 20 Gb/s and 200 ns a hop.
        let alone = 2 * (64_000 + 80_000) + hops * (204_800 + 200_000);
        let forecast = Simulation::new(&scenario).unwrap().forecast().zero_load_mean;
        assert_eq!(forecast, alone as f64, "{dimensions}");
        let network = point.network_latency_mean.unwrap().0;
        // In routers on the way all packets of an instant share links that answers take, too: each is
        // 4 ns.
        let answers = if hops == 1 { 0 } else { 2 * 4_000 * hops };
        assert!((alone..=alone + answers).contains(&network), "{dimensions}: {network}, {alone}");
        assert_eq!(point.hops_mean, Some(hops as f64));
        // Before that a packet waits for a tick: 2.4 of them in the time that a packet of load 1 has.
        let size = dimensions.trim_matches(['[', ']']).split(", ").next().unwrap();
        let tick = 204_800.0 * size.parse::<f64>().unwrap() / 8.0 / 2.4;
        let waited = point.packet_latency_mean.unwrap().0 as f64 - network as f64;
        assert!((0.0..=tick + 1.0).contains(&waited), "{dimensions}: {waited} of {tick}");
    }
}

/// Tori of one to six dimensions, all three routings, past saturation.
#[test]
fn every_packet_arrives_once_and_links_carry_each_hop() {
    for dimensions in
        ["[9]", "[5, 6]", "[4, 3, 5]", "[3, 4, 3, 4]", "[3, 3, 3, 3, 3]", "[3, 3, 3, 3, 3, 3]"]
    {
        for routing in ["adaptive", "pick_orthant", "outflank"] {
            let more = "[traffic]\npattern = \"uniform\"\nload = 1.2\nmessage = \"5 KiB\"\n[measure]\nmessages = 6";
            let scenario = scenario(dimensions, routing, more);
            let nodes = u64::from(scenario.network.fabric.terminals());
            let outcome = logged(&scenario);
            let point = &outcome.found.measured;
            let place = format!("{dimensions}, {routing}");
            assert_eq!(point.packets, Some(nodes * 6 * 10), "{place}");
            let mut seen: Vec<_> =
                outcome.logged.packets.iter().map(|it| (it.source, it.sequence)).collect();
            seen.sort_unstable();
            assert!(
                seen.iter()
                    .copied()
                    .eq((0..nodes as u32).flat_map(|it| (0..60).map(move |k| (it, k))))
            );
            assert_eq!(outcome.logged.messages.len() as u64, nodes * 6, "{place}");
            // What was sent and refused is sent again.
            let flits: u64 = outcome.found.channels.iter().map(|channel| channel.flits).sum();
            let hops: u64 = outcome.logged.packets.iter().map(|it| u64::from(it.hops)).sum();
            let refused = point.events - hops - 2 * point.packets.unwrap();
            assert_eq!(flits, hops + refused, "{place}");
            assert!(
                outcome.found.channels.iter().all(|channel| channel.utilisation <= 1.0),
                "{place}"
            );
            let windows = outcome.found.windows.last().unwrap().flits_under_way.unwrap();
            assert_eq!((windows, outcome.found.windows.len()), (0, 6), "{place}");
        }
    }
}

#[test]
fn the_log_of_packets_adds_up_to_the_totals() {
    let torus = Torus::new(&[8, 4, 5], &[]).unwrap();
    let distance = |one: u32, other: u32| -> u64 {
        let of_dimension = |dimension: usize| {
            let size = torus.sizes()[dimension];
            let [one, other] = [one, other].map(|node| torus.coordinate(node, dimension));
            let away = one.abs_diff(other);
            u64::from(away.min(size - away))
        };
        (0..3).map(of_dimension).sum()
    };
    for routing in ["adaptive", "pick_orthant", "outflank"] {
        let more = "[traffic]\npattern = \"uniform\"\nload = 0.9\n[measure]\nmessages = 5";
        let scenario = scenario("[8, 4, 5]", routing, more);
        let outcome = logged(&scenario);
        let (point, packets) = (&outcome.found.measured, &outcome.logged.packets);
        let all = point.packets.unwrap();
        let hops: u64 = packets.iter().map(|it| u64::from(it.hops)).sum();
        assert_eq!(point.hops_mean, Some(hops as f64 / all as f64), "{routing}");
        // A packet that is not derouted goes a shortest way.
        for it in packets {
            let dilation = u64::from(it.hops) - distance(it.source, it.destination);
            assert!(it.misroute.is_some() || dilation == 0, "{routing}: {it:?}");
            assert!(it.created < it.injected && it.injected < it.delivered, "{routing}: {it:?}");
        }
        let mut kinds: HashMap<&str, u64> = HashMap::new();
        for it in packets {
            *kinds.entry(it.misroute.map_or("", |kind| kind.name())).or_insert(0) += 1;
        }
        let of_kind = |kind: &str| kinds.get(kind).copied().unwrap_or(0) as f64 / all as f64;
        let expected =
            |row: &PointRow| [row.derouted_outflank, row.derouted_wraparound, row.derouted_orthant];
        let found = ["outflank", "wraparound", "orthant"].map(of_kind);
        assert_eq!(expected(point).map(|share| share.unwrap_or(0.0)), found, "{routing}");
        assert_eq!(found.iter().sum::<f64>() > 0.0, routing != "adaptive", "{routing}");
        let mean =
            packets.iter().map(|it| (it.delivered - it.created).0).sum::<u64>() as f64 / all as f64;
        let told = point.packet_latency_mean.unwrap().0 as f64;
        assert!((mean - told).abs() <= 1.0, "{routing}: {mean} {told}");
    }
}

#[test]
fn equal_scenarios_give_equal_results_and_the_seed_matters_to_what_is_drawn() {
    let more = "[traffic]\npattern = \"uniform\"\nload = 0.7\n[measure]\nmessages = 4";
    let one = scenario("[4, 4, 4]", "outflank", more);
    let of = |scenario: &Scenario, threads: usize| {
        Simulation::new(scenario).unwrap().on_threads(threads).run(&mut |_| {}).found
    };
    assert_eq!(of(&one, 1), of(&one, 3));
    let (_, resolved) = Scenario::read_resolved(&document("[4, 4, 4]", "outflank", more)).unwrap();
    let again = Scenario::read(&Document::parse("a.toml", &resolved)).unwrap();
    assert_eq!(of(&one, 1), of(&again, 1));
    let other = Scenario { seed: 2, ..one.clone() };
    assert_ne!(of(&one, 1).measured.digest, of(&other, 1).measured.digest);
    assert!(!one.ignores_the_seed(&other));
    let fixed = scenario("[4, 4, 4]", "outflank", &more.replace("uniform", "tornado"));
    let other = Scenario { seed: 2, ..fixed.clone() };
    assert_eq!(of(&fixed, 1), of(&other, 1));
    assert!(fixed.ignores_the_seed(&other));
}

#[test]
fn a_load_past_saturation_is_not_steady_and_few_messages_leave_it_undecided() {
    let status = |load: &str, messages: u32| {
        let more = format!(
            "[traffic]\npattern = \"transpose-3d\"\nload = {load}\n[measure]\nmessages = {messages}"
        );
        run(&scenario("[8, 8, 8]", "adaptive", &more)).found
    };
    assert_eq!(status("0.1", 8).measured.status, Status::Steady);
    let past = status("0.6", 8);
    assert_eq!(past.measured.status, Status::NotSteady);
    assert!(past.warnings[0].starts_with("not steady"), "{:?}", past.warnings);
    // The diagonal, of which the transposition leaves each node where it is.
    assert!(past.warnings[1].starts_with("8 nodes have no partner"), "{:?}", past.warnings);
    let accepted = past.measured.accepted_load.unwrap();
    assert!((0.2..0.45).contains(&accepted), "{accepted}");
    let few = status("0.1", 2);
    assert_eq!(few.measured.status, Status::Undecided);
    assert_eq!(few.measured.accepted_load.map(|load| (load * 10.0).round()), Some(1.0));
    assert_eq!(status("0.1", 1).measured.accepted_load, None);
}

/// A pattern runs, or is refused since some of its nodes send more than others or it is not defined.
#[test]
fn every_pattern_runs_or_is_refused_with_its_reason() {
    let keys = |name: &str| match name {
        "hotspot" => "{ hotspot = { nodes = [3], share = 0.2 } }".to_owned(),
        "pairs" => "{ pairs = { list = [[0, 5], [5, 0]] } }".to_owned(),
        "matrix" => "{ matrix = { list = [[0, 1, 2.0], [1, 2, 1.0]] } }".to_owned(),
        _ => format!("\"{name}\""),
    };
    let mut runs = 0;
    for row in PatternKind::built_in() {
        let pattern = keys(row.name);
        let more = format!(
            "[traffic]\npattern = {pattern}\nload = 0.2\nmessage = \"1 KiB\"\n[measure]\nmessages = 4"
        );
        for dimensions in ["[4, 4]", "[4, 4, 4]"] {
            match Scenario::read(&document(dimensions, "outflank", &more)) {
                Ok(scenario) => {
                    let point = run(&scenario).found.measured;
                    let nodes = u64::from(scenario.network.fabric.terminals());
                    assert_eq!(point.packets, Some(nodes * 4 * 2), "{}", row.name);
                    runs += 1;
                }
                Err(refused) => {
                    let text = refused.plain();
                    let undefined = text.contains("traffic.pattern") || text.contains(row.name);
                    assert!(undefined || text.contains("send more than others"), "{text}");
                }
            }
        }
    }
    assert!(runs >= 30, "{runs}");
}

#[test]
fn its_packets_never_deadlock_by_the_check() {
    let more = "[traffic]\npattern = \"uniform\"\nload = 0.2";
    for routing in ["adaptive", "pick_orthant", "outflank"] {
        let verdict = scenario("[4, 4]", routing, more).deadlock();
        assert!(matches!(verdict, Deadlock::Never(_)), "{routing}: {verdict:?}");
    }
}
