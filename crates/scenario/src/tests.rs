//! Tests of reading back, of descriptions, and of the order of a sweep.

mod fabrics;

use super::*;
use crate::checks::Fabrics;
use crate::purpose::Purpose;
use crate::read::Reading;
use crate::resolved::Resolved;
use flitlab_base::document::KeyDoc;
use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_engine::Parameters;
use flitlab_fabric::Faults;
use flitlab_measure::Settings;
use flitlab_routing::HalfRing;
use flitlab_traffic::{Access, Between, ExchangeSpec, OfferedLoad, Process};

const PLAIN: &str = r#"
[topology.torus]
dimensions = [4, 4]
[traffic]
pattern = "uniform"
load = 0.3
"#;

/// As much as one scenario can say otherwise than by default.
const FULL: &str = r#"
name = "full"
title = "A \"title\" with \\ and ü"
seed = 7
[topology.torus]
dimensions = [4, 4, 1]
open = ["z"]
failed_cables = [{ node = [2, 3, 0], direction = "+x" }, { node = 11, direction = "+y" }]
failed_nodes = [[3, 3, 0]]
[router]
preset = "angara"
flit = "32 B"
header_flits = 2
checksum_flits = 0
maximum_payload = "1 KiB"
virtual_channels = 6
buffer = "100 flits"
switching = "store-and-forward"
arbitration = { transit-first = {} }
bubble = false
message_classes = 1
crossbar_speedup = 2
routing_latency = "12.5 ns"
crossbar_latency = "0 ns"
[link]
rate = "7.4 GB/s"
latency = "100 ns"
sharing = { flit = { virtual_channel_allocation = "atomic", virtual_channel_allocation_latency = "1 ns", switch_allocation_latency = "2 ns", iterations = 2, routing = "at-head", queues = "virtual-output", output_buffer = 4, weights = [2, 3], stall_times = true } }
[adapter]
injection_channels = 3
injection_rate = "80 Gb/s"
injection_latency = "20 ns"
injection_buffer = "40 flits"
ejection_channels = 1
ejection_rate = "81 Gb/s"
ejection_latency = "21 ns"
send_overhead = "0 ps"
receive_overhead = "1 us"
service_time = "1.234567 us"
[routing]
direction_order = { half_ring = "plus" }
[traffic]
pattern = { hotspot = { nodes = [[0, 0, 0], 7], share = 0.25 } }
process = { burst = { packets = 96 } }
load = "1.5 GB/s"
read = {}
[measure]
window = "10 us"
warm_up_windows = 3
minimum_windows = 4
maximum_windows = 5
precision = 0.001
growth = 0.5
"#;

fn document(text: &str) -> Document {
    Document::parse("../../tests/wrong/scenario.toml", text)
}

fn read(text: &str) -> Scenario {
    Scenario::read(&document(text)).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn exchange(rest: &str) -> String {
    format!("[topology.torus]\ndimensions = [4, 2]\n[exchange]\nmessage = \"1 MiB\"\n{rest}")
}

#[test]
fn defaults_are_those_of_the_parameters() {
    let scenario = read(PLAIN);
    assert_eq!(scenario.name, "scenario");
    assert_eq!(scenario.parameters, Parameters::default());
    assert_eq!(scenario.measure, Settings::default());
    assert_eq!(scenario.network.routing, RoutingSpec::DirectionOrder(HalfRing::Balanced.into()));
    let load = scenario.workload.load().unwrap();
    assert_eq!(load.message, Parameters::default().maximum_payload.into());
    assert_eq!((load.process, load.access), (Process::Bernoulli, Access::Write));
}

#[test]
fn every_value_is_taken() {
    let scenario = read(FULL);
    assert_eq!(scenario.title.as_deref(), Some("A \"title\" with \\ and ü"));
    let (torus, faults) = scenario.network.torus().unwrap();
    assert!(torus.open(2) && !torus.open(0));
    assert_eq!(
        *faults,
        Faults { cables: vec![(14, 0), (11, 1)], nodes: vec![15], outside: vec![] }
    );
    assert_eq!(scenario.parameters.link_rate, Rate(59_200_000_000));
    assert_eq!(scenario.parameters.service_time, Picoseconds(1_234_567));
    assert_eq!(scenario.parameters.buffer, 100);
    let load = scenario.workload.load().unwrap();
    assert_eq!(
        format!("{:?}", load.pattern),
        "hotspot { nodes = [[0, 0, 0], [3, 1, 0]], share = 0.25 }"
    );
    assert_eq!(load.message, Bytes(96 * 1024).into());
    assert_eq!(load.load, OfferedLoad::Payload(Rate(12_000_000_000)));
    assert_eq!(load.access, Access::Read { request: Bytes(16) });
    // No value may be left at its default, or this test would miss it.
    let fields = |parameters: Parameters| -> Vec<String> {
        let text = format!("{parameters:?}");
        text.trim_start_matches("Parameters {").split(',').map(str::to_owned).collect()
    };
    for (full, default) in fields(scenario.parameters).iter().zip(fields(Parameters::default())) {
        assert_ne!(*full, default);
    }
}

#[test]
fn a_resolved_scenario_reads_back_equal() {
    let uniform = PLAIN.replace("\"uniform\"", "{ uniform = { include_self = true } }");
    let neighbor = "pattern = \"neighbor\"\nbetween_steps = \"nothing\"";
    let pairs = "pattern = { pairs = { list = [[0, 1], [[3, 1], 0]] } }\nrounds = 3\n\
                 between_steps = { barrier = { latency = \"3 ns\" } }";
    let matrix =
        PLAIN.replace("\"uniform\"", "{ matrix = { list = [[0, 1, 0.1], [1, [0, 0], 2]] } }");
    let reads = "pattern = \"all-to-all\"\n\
                  read = { request = \"0 B\" }\nbetween_steps = \"barrier\"";
    let file = PLAIN.replace("\"uniform\"", "{ matrix = { file = \"../right/matrix.csv\" } }");
    let periodic = PLAIN.replace("load =", "process = \"periodic\"\nmessage = \"64 B\"\nload =");
    let texts = [
        PLAIN.to_owned(),
        FULL.to_owned(),
        uniform,
        exchange(neighbor),
        exchange(pairs),
        matrix,
        exchange(reads),
        file,
        periodic,
    ];
    for text in texts {
        let (scenario, resolved) = Scenario::read_resolved(&document(&text))
            .unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let again = Document::parse("elsewhere/another.toml", &resolved);
        let (back, twice) = Scenario::read_resolved(&again)
            .unwrap_or_else(|mistakes| panic!("{mistakes}\n{resolved}"));
        assert_eq!(back, scenario, "{resolved}");
        assert_eq!(twice, resolved);
        assert!(toml::de::DeTable::parse(&resolved).is_ok(), "{resolved}");
    }
}

/// A ring where there is one virtual channel and buffers have room for it, else two orders.
#[test]
fn auto_is_a_rule_by_the_number_of_virtual_channels() {
    let rule = |rest: &str| {
        let text = format!(
            "[topology.random_regular]\nswitches = 8\ndegree = 3\nterminals = 2\n[traffic]\npattern = \"uniform\"\n\
             load = 0.1\n[routing.relation]\nrule = \"auto\"\n{rest}"
        );
        let RoutingSpec::Relation(spec) = read(&text).network.routing.clone() else {
            panic!("by a relation");
        };
        (spec.rule.name(), spec.injection_bubble)
    };
    assert_eq!(rule("lanes = 1\n"), ("bubble-colouring", 3));
    assert_eq!(rule("lanes = 2\n"), ("two-orders", 2));
    let worms = "lanes = 1\n[router]\nswitching = \"wormhole\"\n[link]\nsharing = \"flit\"\n";
    assert_eq!(rule(worms), ("two-orders", 0));
}

#[test]
fn exchanges_are_read() {
    let text = exchange("pattern = { pairs = { list = [[0, 1]] } }");
    let workload = read(&text).workload;
    let exchange = workload.downcast_ref::<ExchangeSpec>().unwrap();
    assert_eq!(format!("{:?}", exchange.pattern), "pairs { list = [[[0, 0], [1, 0]]] }");
    assert_eq!((exchange.message, exchange.rounds), (Bytes(1 << 20), 1));
    assert_eq!(exchange.between, Between::Exchange);
}

#[test]
fn the_reference_names_every_key_and_its_defaults_hold() {
    let reference = reference();
    let page = reference.to_string();
    for (key, _) in
        schema_keys(FULL).into_iter().chain(schema_keys(&exchange("pattern = \"tornado\"")))
    {
        assert!(reference.keys().any(|known| known.path == key), "{key}");
    }
    let base = read(PLAIN);
    let mut tried = 0;
    for key in reference.keys() {
        assert!(
            page.contains(&format!("\n{} = ", key.name()))
                || page.contains(&format!("\n# {} = ", key.name()))
        );
        assert!(!key.doc.is_empty(), "{} has no description", key.path);
        let Some(default) = key.default.as_ref().filter(|_| key.default_from.is_none()) else {
            continue;
        };
        let workloads = [
            ("exchange.", exchange("pattern = \"tornado\"")),
            ("application.", APPLICATION.into()),
            ("collective.", COLLECTIVE.into()),
            ("remote_memory.", REMOTE_MEMORY.into()),
            ("workloads.", WORKLOADS.into()),
            ("node_allocation", WORKLOADS.into()),
            ("measure.slowdowns", JOBS.into()),
        ];
        if let Some((_, text)) = workloads.iter().find(|(table, _)| key.path.starts_with(table)) {
            let mut document = document(text);
            let before = Scenario::read(&document).unwrap();
            document.set(&format!("{}={default}", key.path));
            assert_eq!(Scenario::read(&document).unwrap(), before, "{}", key.path);
        } else {
            // Keys of a topology or a routing that is not the default say which one it is.
            let within = |table: &str| {
                let (name, _) = key.path.strip_prefix(table)?.split_once('.')?;
                Some(name).filter(|&name| name != "torus")
            };
            let text = match (within("topology."), within("routing.")) {
                _ if key.path == "measure.messages" => PAPER.into(),
                (Some(name), _) => fabrics::smallest(name),
                // It needs files; `tests/commands/route_check.rs` reads some.
                (None, Some("opensm")) => continue,
                (None, Some(name)) => format!("{PLAIN}[routing.{name}]\n"),
                (None, None) => PLAIN.into(),
            };
            let mut document = document(&text);
            let before =
                if text == PLAIN { base.clone() } else { Scenario::read(&document).unwrap() };
            document.set(&format!("{}={default}", key.path));
            let scenario = Scenario::read(&document).unwrap_or_else(|m| panic!("{m}"));
            assert_eq!(scenario, before, "{}", key.path);
        }
        tried += 1;
    }
    assert!(tried > 30);
}

/// An application of a torus.
const APPLICATION: &str = "[topology.torus]\ndimensions = [4, 2]\n[application]\nschedule = { barrier = { ranks = 8 } }\n";

/// Output-queued routers.
const PAPER: &str = "[topology.torus]\ndimensions = [4, 4]\n[router]\npreset = \"outflank-paper\"\n\
                     [traffic]\npattern = \"uniform\"\nload = 0.1\n";

const COLLECTIVE: &str = "[topology.torus]\ndimensions = [4, 2]\n[collective]\noperation = \"all-reduce\"\nmessage = \"1 KiB\"\n";

const REMOTE_MEMORY: &str = "[topology.torus]\ndimensions = [4, 2, 2]\n[remote_memory]\noperation = \"put\"\nmessage = \"64 B\"\n\
                             pattern = \"neighbor\"\n";

const WORKLOADS: &str = "[topology.torus]\ndimensions = [4, 2]\n[routing.adaptive]\n\
                         [workloads.NAME.traffic]\npattern = \"uniform\"\nload = 0.1\n";

/// Two workloads, one of which ends.
const JOBS: &str = "[topology.torus]\ndimensions = [4, 2]\n[workloads.NAME.traffic]\npattern = \"uniform\"\n\
                    load = 0.1\n[workloads.other.exchange]\npattern = \"tornado\"\nmessage = \"1 KiB\"\n";

#[test]
fn the_reference_is_toml_and_its_lines_are_short() {
    let page = reference().to_string();
    assert!(toml::de::DeTable::parse(&page).is_ok(), "{page}");
    for line in page.lines() {
        assert!(line.chars().count() <= 102, "{line}");
    }
}

/// Choices within choices, and in lists of tables, as well.
#[test]
fn the_reference_shows_every_name_that_can_be_chosen() {
    fn names(keys: &[KeyDoc], found: &mut Vec<String>) {
        for key in keys {
            names(&key.fields, found);
            for variant in &key.variants {
                found.push(format!("\"{}\": {}", variant.name, variant.doc));
                names(&variant.fields, found);
            }
        }
    }
    let mut all = Vec::new();
    names(&reference().keys().cloned().collect::<Vec<_>>(), &mut all);
    let words =
        |text: &str| text.split_whitespace().filter(|it| *it != "#").collect::<Vec<_>>().join(" ");
    let page = words(&reference().to_string());
    for name in &all {
        assert!(page.contains(&words(name)), "{name}");
    }
    assert!(all.iter().any(|name| name.starts_with("\"atomic\": ")), "within \"flit\"");
}

#[test]
fn a_word_of_the_reference_is_found_in_choices_within_choices() {
    for word in ["virtual-output", "stomp"] {
        assert!(!reference().about(word).is_empty(), "{word}");
    }
}

#[test]
fn examples_and_variants_of_the_reference_are_accepted() {
    for key in reference().keys() {
        for variant in &key.variants {
            let fields: Vec<String> = variant
                .fields
                .iter()
                .filter(|field| field.required || field.default.is_some())
                .map(|field| {
                    let value = field.default.as_ref().unwrap_or(&field.example);
                    // The page's examples are for three dimensions.
                    format!("{} = {value}", field.name())
                })
                .collect();
            let mut text = FULL.replace("process = { burst = { packets = 96 } }", "");
            if key.path.starts_with("routing") {
                text = PLAIN.into();
            }
            if key.path.starts_with("exchange.") {
                text = exchange("pattern = \"tornado\"").replace("[4, 2]", "[4, 2, 2]");
            }
            if key.path.starts_with("application.") {
                text = APPLICATION.into();
            }
            if key.path.starts_with("collective.") {
                text = COLLECTIVE.into();
            }
            if key.path.starts_with("remote_memory.") {
                text = REMOTE_MEMORY.into();
            }
            if key.path.starts_with("workloads.") {
                text = WORKLOADS.into();
            }
            if ["node_allocation", "measure.slowdowns"].contains(&&*key.path) {
                text = JOBS.into();
            }
            if variant.name == "outflank-paper" {
                text = PAPER.into();
            }
            let of_fabric = key.path.strip_prefix("topology.").and_then(|it| it.split_once('.'));
            // The other texts have a torus.
            if let Some((fabric, _)) = of_fabric.filter(|(fabric, _)| *fabric != "torus") {
                let table = format!("topology.{fabric}");
                let own = |it: &&KeyDoc| it.required && it.path.starts_with(&format!("{table}."));
                let required = reference();
                let required = required.keys().filter(own);
                let keys = required.map(|it| format!("{} = {}\n", it.path, it.example));
                text = keys.collect();
                text += "traffic.pattern = \"uniform\"\ntraffic.load = 0.1\n";
            }
            let mut document = document(&text);
            let inner = match variant.name {
                "matrix" => "list = [[0, 1, 2.5]]".into(),
                // The file of the example is not there.
                "file" => continue,
                "npb" => "ranks = 4, benchmark = \"lu\", class = \"S\"".into(),
                "halo3d" | "halo3d-26" | "sweep3d" | "fft3d" => "ranks = 4".into(),
                "training" | "inference" => fields.join(", "),
                _ if key.path == "application.schedule" => "ranks = 4, bytes = \"1 KiB\"".into(),
                _ => fields.join(", "),
            };
            document.set(&format!("{}={{ {} = {{ {inner} }} }}", key.path, variant.name));
            // A pattern may be undefined on the example's torus; that is found after the key was
            // read.
            let undefined = [
                variant.name.to_owned() + " needs",
                // On rings all shortest ways close cycles.
                format!("the relation of rule `{}` is refused: packets can deadlock", variant.name),
                variant.name.to_owned() + " is for",
                "the rule is for fabrics of groups".into(),
                "the rule is for a HyperX".into(),
                // The age of what they see of others, with its default.
                "routers see nothing of others".into(),
                "in routers with buffers at inputs only".into(),
                variant.name.to_owned() + " is defined on",
                variant.name.to_owned() + " sends nothing",
                "an exchange".into(),
                "a barrier carries no payload".into(),
            ];
            let found = Scenario::read(&document).err();
            for mistake in found.iter().flat_map(Diagnostics::iter) {
                let message = &mistake.message;
                assert!(undefined.iter().any(|start| message.starts_with(start)), "{message}");
            }
        }
    }
}

/// Keys as recorded for the resolved scenario.
fn schema_keys(text: &str) -> Vec<(String, String)> {
    let document = document(text);
    let Reading { resolved: Resolved { keys, .. }, problems, .. } =
        Reading::of(&document, &mut Fabrics::default(), Purpose::Run);
    assert!(problems.is_empty());
    keys
}

#[test]
fn a_sweep_nests_in_the_order_of_the_file_with_loads_innermost() {
    let text = format!(
        "{PLAIN}\n[sweep.grid]\n\"traffic.load\" = {{ from = 0.1, to = 0.3, step = 0.1 }}\n\
         traffic.pattern = [\"uniform\", {{ hotspot = {{ nodes = [0], share = 0.5 }} }}]\n\
         router.buffer = [\"72 flits\", \"36 flits\"]\n"
    );
    let sweep = Sweep::read(&document(&text)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(sweep.points.len(), 12);
    let texts: Vec<String> = sweep
        .points
        .iter()
        .map(|point| {
            let values: Vec<&str> =
                point.assignments.iter().map(|(_, text)| text.as_str()).collect();
            values.join(" | ")
        })
        .collect();
    assert_eq!(
        texts[..4],
        [
            "uniform | 72 flits | 0.1",
            "uniform | 72 flits | 0.2",
            "uniform | 72 flits | 0.3",
            "uniform | 36 flits | 0.1",
        ]
    );
    assert_eq!(texts[6], "{ hotspot = { nodes = [0], share = 0.5 } } | 72 flits | 0.1");
    let keys: Vec<&str> = sweep.points[0].assignments.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["traffic.pattern", "router.buffer", "traffic.load"]);
    assert_eq!(sweep.points[3].scenario.parameters.buffer, 36);
    let load = sweep.points[2].scenario.workload.load().unwrap();
    assert_eq!(load.load, OfferedLoad::Fraction(0.3));
}

/// The cells of a key of a grid in points.csv.
fn cells(text: &str, key: &str) -> Vec<String> {
    let sweep = Sweep::read(&document(text)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let cell = |point: &Point| {
        let (_, value) = point.of_grid.iter().find(|(path, _)| path == key).unwrap();
        value.clone()
    };
    sweep.points.iter().map(cell).collect()
}

#[test]
fn routings_and_topologies_are_called_by_name_with_the_keys_that_tell_them_apart() {
    let routings =
        |list: &str| cells(&format!("{PLAIN}\n[sweep.grid]\nrouting = [{list}]\n"), "routing");
    assert_eq!(
        routings(
            "{ direction_order = {} }, { adaptive = { tie = \"random\" } }, { outflank = {} }"
        ),
        ["direction_order", "adaptive", "outflank"]
    );
    assert_eq!(
        routings(
            "{ agnostic = { algorithm = \"nue\", partition = \"in-turn\" } }, { adaptive = {} }, \
             { agnostic = { partition = \"in-turn\", algorithm = \"dfsssp\" } }"
        ),
        ["agnostic algorithm=nue", "adaptive", "agnostic algorithm=dfsssp"]
    );
    assert_eq!(
        routings(
            "{ outflank = {} }, { outflank = { virtual_channels = { escape = 1 }, steps = 3 } }"
        ),
        ["outflank", "outflank virtual_channels.escape=1 steps=3"]
    );
    // Two routings that differ in nothing but how they are written: only the whole texts differ.
    let twice = ["{ adaptive = {} }", "{ adaptive = { } }"];
    assert_eq!(routings(&twice.join(", ")), twice);

    let traffic = "[traffic]\npattern = \"uniform\"\nload = 0.1\n[sweep.grid]\n";
    let topologies =
        "topology = [{ torus = { dimensions = [2, 2] } }, { torus = { dimensions = [4, 2] } }]\n";
    let text = format!("{traffic}{topologies}link.latency = [\"5 ns\"]\n");
    assert_eq!(cells(&text, "topology"), ["torus dimensions=[2, 2]", "torus dimensions=[4, 2]"]);
    // Tables in which nothing is chosen are as they are written.
    let links = "link = [{ latency = \"5 ns\" }, { latency = \"6 ns\" }]";
    let text = format!("{PLAIN}\n[sweep.grid]\n{links}\n");
    assert_eq!(cells(&text, "link"), ["{ latency = \"5 ns\" }", "{ latency = \"6 ns\" }"]);
}

#[test]
fn the_identity_of_a_point_is_not_what_its_routing_is_called() {
    let identities = |list: &str| {
        let text = format!("{PLAIN}\n[sweep.grid]\nrouting = [{list}]\n");
        let sweep = Sweep::read(&document(&text)).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let point = |point: &Point| (point.of_grid[0].1.clone(), point.identity.to_string());
        sweep.points.iter().map(point).collect::<Vec<_>>()
    };
    let steps = "{ outflank = { steps = 3 } }";
    let alone = identities(&format!("{steps}, {{ adaptive = {{}} }}"));
    let beside = identities(&format!("{steps}, {{ outflank = {{ steps = 2 }} }}"));
    assert_eq!((alone[0].0.as_str(), beside[0].0.as_str()), ("outflank", "outflank steps=3"));
    assert_eq!(alone[0].1, beside[0].1);
}

#[test]
fn saturation_needs_no_load() {
    let text = PLAIN.replace("load = 0.3", "")
        + "[sweep]\nsaturation = { tolerance = 0.02 }\n[sweep.grid]\nseed = [3, 4]";
    let sweep = Sweep::read(&document(&text)).unwrap();
    assert_eq!(sweep.loads, Loads::Saturation { tolerance: 0.02 });
    let seeds: Vec<u64> = sweep.points.iter().map(|point| point.scenario.seed).collect();
    assert_eq!(seeds, [3, 4]);
    let mut one = sweep.points[0].document.clone();
    one.set("traffic.load=0.25");
    assert!(Scenario::read(&one).is_ok());
}

#[test]
fn a_run_of_a_swept_scenario_says_what_it_lacks() {
    let text = PLAIN.replace("load = 0.3", "") + "[sweep.grid]\ntraffic.load = [0.1, 0.2]\n";
    let mut document = document(&text);
    let mistakes = Scenario::read(&document).unwrap_err();
    assert_eq!(mistakes.count(), 1);
    assert!(mistakes.plain().contains("--set traffic.load=VALUE"), "{mistakes}");
    document.set("traffic.load=0.1");
    assert!(Scenario::read(&document).is_ok());
}

#[test]
fn quotes_may_be_left_out_on_the_command_line() {
    let mut document = document(PLAIN);
    for assignment in
        ["link.latency=123 ns", "traffic.pattern=tornado", "name=2024", "router.bubble = false"]
    {
        document.set(assignment);
    }
    let scenario = Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!((scenario.name.as_str(), scenario.parameters.bubble), ("2024", false));
    assert_eq!(scenario.parameters.link_latency, Picoseconds(123_000));
}

#[test]
fn messages_can_have_colour_and_unreadable_files_have_one() {
    let mistakes = Scenario::read(&document("load = 1")).unwrap_err();
    assert!(mistakes.colored().contains('\u{1b}') && !mistakes.plain().contains('\u{1b}'));
    let absent = Document::open(std::path::Path::new("../../tests/wrong/absent.toml")).unwrap_err();
    assert!(
        absent.plain().starts_with("error: can't read the scenario ../../tests/wrong/absent.toml")
    );
}

/// A user's mistake is never a panic: all that can go wrong in a text goes wrong here.
#[test]
fn damaged_scenarios_are_refused_politely() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let sweep = format!(
        "{PLAIN}\n[sweep]\nsaturation = {{}}\n[sweep.grid]\ntraffic.message = [\"1 B\", 2]\n\
         seed = {{ from = 1, to = 3, step = 1 }}\n"
    );
    let texts = [FULL.to_owned(), exchange("pattern = { pairs = { list = [[0, 1]] } }"), sweep];
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..random.random_range(1..4) {
            let mut places: Vec<usize> = (0..2)
                .map(|_| random.random_range(0..text.len()))
                .map(|at| text.floor_char_boundary(at))
                .collect();
            places.sort_unstable();
            let (from, to) = (places[0], places[1].min(text.floor_char_boundary(places[0] + 20)));
            let piece = text[from..to].to_owned();
            match random.random_range(0..3) {
                0 => text.replace_range(from..to, ""),
                1 => text.insert_str(to, &piece),
                _ => text.replace_range(from..to, ["\"", "[", "}", "=", "1", ".", "\n"][round % 7]),
            }
        }
        let mut document = document(&text);
        if round % 5 == 0 {
            document.set(&text[..text.floor_char_boundary(text.len().min(round % 90))]);
        }
        for mistakes in [Scenario::read(&document).err(), Sweep::read(&document).err()] {
            match mistakes {
                Some(mistakes) => {
                    assert!(mistakes.plain().starts_with("error: "));
                    refused += 1;
                }
                None => accepted += 1,
            }
        }
    }
    assert!(accepted > 10 && refused > 1000, "{accepted} accepted, {refused} refused");
}
