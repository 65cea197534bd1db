//! Cables with rates and latencies of their own: times by hand, both reference engines, bounds,
//! what `check` says.

use flitlab::engine::{EmptyNetwork, FlitSharing, Log, Parameters, RouterKind, run_script};
use flitlab::report::Status;
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::scenario::{Document, Scenario as Checked};
use flitlab::simulation::Simulation;
use flitlab::tables::agnostic::{self, Algorithm};
use flitlab::tables::{ForwardingQuality, LoadBound, Paths};
use flitlab::topology::{
    CableClass, CableRate, CableSpeed, Cabling, Fabric, Faults, Torus, breadth_first,
};
use flitlab::traffic::Script;
use flitlab::units::{Picoseconds, Rate};

use crate::common::workplace::Workplace;
use flitlab_random::by_hand::{delivered, line, parameters};
use flitlab_random::differential;
use flitlab_random::message::data;
use flitlab_random::random_flit_scenario::{flit_scenario, flit_scenario_by_table};
use flitlab_random::random_scenario::Scenario;
use flitlab_reference::engine;
use flitlab_reference::flit_engine;

/// Cables with half of `link.rate`.
fn half() -> CableClass {
    let speed = |rate| CableSpeed::Data(Rate(rate));
    CableClass { rate: CableRate::Share { cable: speed(1), fastest: speed(2) }, latency: None }
}

/// Three routers in a row, whose two cables are of these classes.
fn row(cables: [CableClass; 2]) -> (Fabric, Routes) {
    let (fabric, routes) = line(3);
    let class = |channel| {
        let ends = [Some(fabric.source(channel)), fabric.target(channel)];
        if ends.contains(&Some(0)) { cables[0] } else { cables[1] }
    };
    let classes: Vec<CableClass> = (0..fabric.channel_slots()).map(class).collect();
    (fabric.with_cables(|channel| classes[channel as usize], |_| CableClass::default()), routes)
}

/// When the one packet of a message from end to end is there, by the engine; the reference engine
/// must agree.
fn arrival(cables: [CableClass; 2], parameters: &Parameters) -> Picoseconds {
    let (fabric, routes) = row(cables);
    let messages = vec![data(0, 0, 2, 48)];
    let fast: Log =
        run_script(&fabric, &routes, parameters, Script::new(messages.clone())).unwrap().0;
    let plain = match parameters.kind.grants_flits() {
        false => engine::run(&fabric, &routes, parameters, &messages).map_err(|_| "stuck").unwrap(),
        true => {
            let run = flit_engine::run(&fabric, &routes, parameters, &messages);
            run.map_err(|_| "stuck").unwrap().0
        }
    };
    assert_eq!(delivered(&plain), delivered(&fast));
    let classes = [0, 1].map(|router| {
        let channel = fabric.outputs(router).find(|&it| fabric.target(it) == Some(router + 1));
        fabric.cable_class(channel.expect("a cable"))
    });
    let ends = [fabric.terminal_class(0), fabric.terminal_class(2)];
    let closed = EmptyNetwork::new(parameters, fabric.cable_classes()).latency(ends, classes, 4);
    assert_eq!(delivered(&fast), [closed.0]);
    closed
}

/// Flits take 2 ps, and 4 on the slow cable. Slow first: the last flit leaves the injection
/// channel's end at 11, starts on the slow cable at 8 + 3 * 4 = 20, is there at 31 (2 crossbar, 7 +
/// 2 latency), starts at 31 on the fast one, whose header started at 22, is there at 40, and leaves
/// at once for the sink, 8 away. Fast first: the last flit starts at 14, is there at 23; the header
/// starts on the slow cable at 20, the last flit at 32, which is there at 43.
#[test]
fn a_message_over_a_slow_and_a_fast_cable_takes_the_time_that_is_computed_by_hand() {
    let usual = CableClass::default();
    let sharing = FlitSharing {
        virtual_channel_allocation: Picoseconds::ZERO,
        switch_allocation: Picoseconds::ZERO,
        ..FlitSharing::default()
    };
    let shared = Parameters { kind: RouterKind::SharedLinks(sharing), ..parameters() };
    for parameters in [parameters(), shared] {
        assert_eq!(arrival([half(), usual], &parameters), Picoseconds(48));
        assert_eq!(arrival([usual, half()], &parameters), Picoseconds(51));
        assert_eq!(arrival([half(), half()], &parameters), Picoseconds(53));
        // Of a latency of 20 instead of 9.
        let long = CableClass { latency: Some(Picoseconds(20)), ..half() };
        assert_eq!(arrival([long, usual], &parameters), Picoseconds(59));
    }
}

#[test]
fn the_engines_agree_on_cables_of_several_classes() {
    agree_on_cables(0..15);
}

#[test]
fn the_engines_agree_flit_by_flit_on_cables_of_several_classes() {
    agree_flit_by_flit_on_cables(0..16);
}

#[test]
#[ignore = "long: minutes; 150 scenarios of each router with cables of several classes"]
fn the_engines_agree_on_cables_of_several_classes_in_more_scenarios() {
    agree_on_cables(15..150);
    agree_flit_by_flit_on_cables(16..150);
}

fn agree_on_cables(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let drawn = match seed % 5 {
            0 => Scenario::ruled(seed),
            1 => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::random(seed)),
            2 => Scenario::forwarding(seed),
            3 => Scenario::adaptive_by_table(seed),
            _ => Scenario::choosing(seed),
        };
        let scenario = drawn.with_cables(seed);
        differential::agree(seed, &scenario);
        if seed % 2 == 0 {
            differential::agree(seed, &scenario.with_errors(seed));
        }
    }
}

fn agree_flit_by_flit_on_cables(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let drawn = if seed % 4 == 3 { flit_scenario_by_table(seed) } else { flit_scenario(seed) };
        differential::agree(seed, &drawn.with_cables(seed));
    }
}

const WIDTHS: &str = include_str!("../fabrics/widths.net");

fn on_netlist(place: &Workplace, text: &str, more: &str) -> serde_json::Value {
    place.write("widths.net", text);
    let traffic = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
    place.write(
        "widths.toml",
        &format!("[topology.netlist]\npath = \"widths.net\"\n{more}{traffic}"),
    );
    place.json(&["check", "widths.toml", "--json"])
}

#[test]
fn a_cable_of_one_lane_among_four_bounds_the_load_to_a_quarter() {
    let place = Workplace::new("cable-rates");
    let bound = |text: &str| {
        let found = on_netlist(&place, text, "");
        found["throughput_bound_load"].as_f64().unwrap()
    };
    let near = |found: f64, right: f64| assert!((found - right).abs() < 1e-9, "{found} {right}");
    near(bound(WIDTHS), 0.1875);
    near(bound(&WIDTHS.replace("w=1", "")), 0.75);
    near(bound(&WIDTHS.replace("w=1", "w=1 s=2")), 0.75 / 2.0);
    near(bound(&WIDTHS.replace("w=1", "w=2 s=1").replace("w=4", "w=4 s=4")), 0.75 / 8.0);
    // As `ibnetdiscover` writes them; the lesser of both ends counts.
    let discovered = WIDTHS.replacen("w=1", "# \"B\" lid 2 4xSDR", 1);
    near(bound(&discovered.replace("w=1", "# \"A\" lid 1 1xSDR").replace("w=4", "s=2.5")), 0.1875);
    // An adapter that is slow itself.
    let slow = WIDTHS.replace("w=1", "").replace("w=4", "w=1");
    near(bound(&slow), 0.25);
    let text =
        place.run(&["check", "widths.toml"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("of adapters: 3 of 4xSDR (32 Gb/s), 1 of 1xSDR (8 Gb/s)"), "{text}");
}

#[test]
fn check_says_which_cables_are_slower() {
    let place = Workplace::new("cable-mix");
    on_netlist(&place, WIDTHS, "");
    let text =
        place.run(&["check", "widths.toml"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("cables between routers: 1 of 1xSDR (8 Gb/s, 74 ns)"), "{text}");
    assert!(text.contains("link.rate, 32 Gb/s, is that of 4xSDR, the fastest"), "{text}");
    let edr = WIDTHS.replace("w=1", "e=2 w=1").replace("w=4", "e=2");
    on_netlist(&place, &edr, "");
    let text =
        place.run(&["check", "widths.toml"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("link.rate, 32 Gb/s, stands for 4xEDR, the fastest, which carry 100 Gb/s"),
        "{text}"
    );
    // What nothing says differs is not spoken of.
    on_netlist(&place, &WIDTHS.replace("w=1", "").replace("w=4", ""), "");
    assert!(!place.run(&["check", "widths.toml"]).contains("link.rate"));
}

#[test]
fn a_width_or_speed_that_is_none_is_refused_with_its_line() {
    let place = Workplace::new("cable-widths");
    on_netlist(&place, WIDTHS, "");
    place.write("widths.net", &WIDTHS.replacen("w=1", "w=3", 1));
    let (code, errors) = place.fail(&["check", "widths.toml"]);
    assert!(code == 2 && errors.contains("w=3 is no width"), "{errors}");
}

/// A torus as text, with keys of its own.
fn torus(keys: &str, load: f64) -> Result<Checked, String> {
    let text = format!(
        "[topology.torus]\ndimensions = [4, 4]\n{keys}\n[traffic]\npattern = \"uniform\"\nload = {load}\n"
    );
    Checked::read(&Document::parse("torus.toml", &text)).map_err(|errors| format!("{errors:?}"))
}

#[test]
fn load_1_saturates_the_slow_dimension_of_a_torus() {
    let capacity = |keys: &str| torus(keys, 0.5).unwrap().network.fabric.capacity();
    assert!((capacity("") - 2.0).abs() < 1e-12);
    assert!((capacity("rates = [\"60 Gb/s\", \"15 Gb/s\"]") - 0.5).abs() < 1e-12);
    let scenario = torus("rates = [\"40 Gb/s\", \"10 Gb/s\"]", 0.5).unwrap();
    assert_eq!(scenario.parameters.link_rate, Rate(40_000_000_000));
    let simulation = Simulation::new(&scenario).unwrap();
    let bottleneck = simulation.forecast().bottleneck.as_ref().unwrap();
    assert!(bottleneck.name.ends_with('y'), "{bottleneck:?}");
}

/// Every node sends to its neighbour along x and y: only the slow cables along y are full, each
/// with one flow.
#[test]
fn a_torus_with_a_slow_dimension_saturates_where_its_bound_says() {
    let run = |load: f64| {
        let text = format!(
            "[topology.torus]\ndimensions = [4, 4]\nrates = [\"60 Gb/s\", \"20 Gb/s\"]\n\
             [traffic]\npattern = \"neighbor\"\nprocess = \"periodic\"\nload = {load}\n"
        );
        let scenario = Checked::read(&Document::parse("torus.toml", &text)).unwrap();
        let simulation = Simulation::new(&scenario).unwrap();
        let bound = simulation.forecast().throughput().unwrap() / simulation.fabric().capacity();
        assert!((bound - 0.5).abs() < 2e-4, "{bound}");
        simulation.run(&mut |_| {}).found.measured
    };
    let below = run(0.49);
    assert_eq!(below.status, Status::Steady);
    assert!((below.accepted_load.unwrap() / 0.49 - 1.0).abs() < 0.02, "{below:?}");
    let above = run(0.51);
    assert_eq!(above.status, Status::NotSteady);
    assert!((above.accepted_load.unwrap() / 0.5 - 1.0).abs() < 0.02, "{above:?}");
}

#[test]
fn rates_and_latencies_of_dimensions_are_as_many_as_these() {
    for (keys, words) in [
        ("rates = [\"60 Gb/s\"]", "rates"),
        ("latencies = [\"70 ns\", \"70 ns\", \"70 ns\"]", "latencies"),
        ("latencies = [\"70 ns\", \"1 ns\"]", "at least"),
        ("rates = [\"60 Gb/s\", \"1 Gb/s\"]\nlatencies = [\"70 ns\", \"70 ns\"]", "at least"),
        ("rates = [\"50 Gb/s\", \"40 Gb/s\"]\n[link]\nrate = \"60 Gb/s\"", "leave out `link.rate`"),
    ] {
        let errors = torus(keys, 0.1).unwrap_err();
        assert!(errors.contains(words), "{keys}: {errors}");
    }
    torus("rates = [\"50 Gb/s\", \"40 Gb/s\"]\n[link]\nrate = \"50 Gb/s\"", 0.1).unwrap();
}

/// Of a long way the latency counts in what a packet takes, in rings too.
#[test]
fn a_long_dimension_delays_packets_by_its_latency() {
    let build = |latencies: &[Picoseconds]| {
        let torus = Torus::new(&[3, 3], &[]).unwrap().with_cables(&[], latencies);
        torus.fabric(&Faults::default()).unwrap()
    };
    let parameters = parameters();
    let time = |fabric: &Fabric, to: u32| {
        let routes = Routes::DirectionOrder(DirectionOrder::new(fabric, HalfRing::Plus).unwrap());
        let script = Script::new(vec![data(0, 0, to, 48)]);
        delivered(&run_script(fabric, &routes, &parameters, script).unwrap().0)[0]
    };
    let (usual, long) = (build(&[]), build(&[7, 40].map(Picoseconds)));
    assert_eq!(time(&usual, 1), time(&long, 1));
    assert_eq!(time(&usual, 3) + 33, time(&long, 3));
    assert_eq!(time(&usual, 4) + 33, time(&long, 4));
}

/// Each kind of cables of the fabrics that give their kinds rates and latencies, told by groups, by
/// coordinates, or by how far a cable is from switches with terminals.
#[test]
fn each_kind_of_a_fabrics_cables_has_its_rate_and_latency() {
    type Kind = fn(&Fabric, u32, u32) -> usize;
    let by_group: Kind = |fabric, one, other| {
        usize::from(fabric.groups()[one as usize] != fabric.groups()[other as usize])
    };
    let by_column: Kind = |_, one, other| usize::from(one % 4 == other % 4);
    let by_level: Kind = |fabric, one, other| {
        let levels = [one, other].map(|router| {
            let to_ends = fabric.ends().into_iter().map(|end| hops(fabric, router, end));
            to_ends.min().unwrap()
        });
        levels[0].min(levels[1]) as usize
    };
    let groups = "rates = { local = \"200 Gb/s\", global = \"100 Gb/s\" }\n\
                  latencies = { local = \"20 ns\", global = \"90 ns\" }";
    let two = "rates = [\"200 Gb/s\", \"100 Gb/s\"]\nlatencies = [\"20 ns\", \"90 ns\"]";
    for (table, sizes, keys, kind) in [
        ("dragonfly", "groups = 5\ngroup_size = 4\nglobal_cables = 2", groups, by_group),
        (
            "dragonfly_plus",
            "groups = 3\nleaves = 2\nspines = 2\nglobal_cables = 1",
            groups,
            by_group,
        ),
        ("hyperx", "dimensions = [4, 3]\nredundancy = 2", two, by_column),
        ("switched_torus", "dimensions = [4, 3]", two, by_column),
        ("tree", "arity = 3\nlevels = 3", two, by_level),
        ("xgft", "down = [3, 4, 2]\nup = [1, 2, 3]", two, by_level),
    ] {
        let text = format!(
            "[topology.{table}]\n{sizes}\n{keys}\n[traffic]\npattern = \"uniform\"\nload = 0.1\n"
        );
        let scenario = Checked::read(&Document::parse("a.toml", &text)).unwrap();
        let (fabric, parameters) = (&scenario.network.fabric, &scenario.parameters);
        assert_eq!(parameters.link_rate, Rate(200_000_000_000), "{table}");
        let mut counts = [0, 0];
        for cable in fabric.cables() {
            let class = fabric.cable(cable);
            let at = kind(fabric, fabric.source(cable), fabric.target(cable).unwrap());
            counts[at] += 1;
            let expected = [(200, 20), (100, 90)][at];
            let found = (parameters.rate_of(class), parameters.latency_of(class));
            let expected = (Rate(expected.0 * 1_000_000_000), Picoseconds(expected.1 * 1_000));
            assert_eq!(found, expected, "{table} {}", fabric.channel_name(cable));
        }
        assert!(counts.iter().all(|&count| count > 0), "{table}: {counts:?}");
        let adapters = fabric.terminal_cable(0).rate.slowness();
        assert!((adapters - 1.0).abs() < 1e-12, "{table}");
    }
}

fn hops(fabric: &Fabric, from: u32, to: u32) -> u32 {
    let (mut hops, mut order) = (vec![0; fabric.routers() as usize], Vec::new());
    breadth_first(to, &mut hops, &mut order, |at| fabric.neighbors(at));
    hops[from as usize]
}

/// On minimal ways of a Dragonfly of 72 terminals 64 of 71 pairs take a cable between groups, and
/// (6 + 64 * 1.5) / 71 cables within them: the latencies of both count so often, to the picosecond.
#[test]
fn cables_within_groups_and_between_them_delay_packets_by_their_latencies() {
    let mean = |keys: &str| {
        let text = format!(
            "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n{keys}\n\
             [routing.relation]\nrule = \"dragonfly-minimal\"\n\
             [traffic]\npattern = \"uniform\"\nload = 0.1\n"
        );
        let scenario = Checked::read(&Document::parse("a.toml", &text)).unwrap();
        let usual = scenario.parameters.link_latency.0 as f64;
        (Simulation::new(&scenario).unwrap().forecast().zero_load_mean, usual)
    };
    let (plain, usual) = mean("");
    let (with_own, _) = mean("latencies = { local = \"40 ns\", global = \"500 ns\" }");
    let later = 102.0 / 71.0 * (40e3 - usual) + 64.0 / 71.0 * (500e3 - usual);
    assert!((with_own - plain - later).abs() < 2.0, "{plain} {with_own} {later}");
}

/// Two switches of five terminals, joined by a cable and one that is a quarter as fast: of the five
/// destinations behind them the slow cable gets one, and both are equally full.
#[test]
fn tables_lead_as_much_less_over_a_cable_as_it_is_slower() {
    let mut cabling = Cabling::default();
    let routers = ["A", "B"].map(|name| cabling.router(name));
    for number in 0..10 {
        cabling.terminal(format!("t{number}"), routers[number / 5]);
    }
    cabling.cable(routers[0], routers[1]);
    cabling.cable(routers[0], routers[1]);
    let fabric = cabling.fabric().unwrap();
    let slow = fabric.cables().last().unwrap();
    let is_slow = |channel| channel == slow || fabric.opposite(slow) == Some(channel);
    let classes: Vec<CableClass> = (0..fabric.channel_slots())
        .map(|channel| CableClass {
            rate: CableRate::Share {
                cable: CableSpeed::Data(Rate(if is_slow(channel) { 1 } else { 4 })),
                fastest: CableSpeed::Data(Rate(4)),
            },
            latency: None,
        })
        .collect();
    let fabric = fabric.with_cables(|channel| classes[channel as usize], |_| CableClass::default());
    for algorithm in
        [Algorithm::SSSP, Algorithm::P2_SSSP, Algorithm::DFSSSP, Algorithm::NUE_BALANCED]
    {
        let made = algorithm.generate(&fabric, &agnostic::Parameters::default()).unwrap();
        let quality = ForwardingQuality::new(&fabric, &made.table);
        assert_eq!(quality.load.maximum, 20.0, "{}: {:?}", algorithm.name, quality.loads);
    }
    assert_eq!(LoadBound::new(&fabric, Paths::Any).rounded(), 20);
    assert_eq!(LoadBound::new(&fabric, Paths::Minimal).rounded(), 20);
}
