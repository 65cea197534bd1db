//! Fabrics of switches: what is built, imported, failed and routed.

use super::*;
use flitlab_fabric::Fabric;
use flitlab_routing::Routes;
use flitlab_tables::ForwardingQuality;
use std::sync::Arc;

/// A small fabric of a kind, with all that it needs.
pub(super) fn smallest(name: &str) -> String {
    let sizes = match name {
        "random_regular" => "switches = 6\ndegree = 3",
        "irregular" => "switches = 6",
        "switched_torus" => "dimensions = [3, 2]",
        "tree" => "arity = 2\nlevels = 2",
        "xgft" => "down = [2, 2]\nup = [1, 3]",
        "kautz" => "degree = 2\nlength = 2",
        "dragonfly" => "groups = 3\ngroup_size = 2\nglobal_cables = 1",
        "dragonfly_plus" => "groups = 3\nleaves = 2\nspines = 2\nglobal_cables = 1",
        "hyperx" => "dimensions = [2, 2]",
        "slim_fly" => "prime = 5",
        "polarfly" => "prime = 3",
        "switch" => "terminals = 4",
        "netlist" => "path = \"../fabrics/torus4x4.net\"",
        _ => "",
    };
    format!(
        "[topology.{name}]\n{sizes}\n[routing.agnostic]\nalgorithm = \"min-hop\"\n[traffic]\npattern = \
         \"uniform\"\nload = 0.1\n"
    )
}

fn network(text: &str) -> Arc<Network> {
    Network::read(&document(text)).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn counts(fabric: &Fabric) -> (u32, usize, usize) {
    (fabric.routers(), fabric.live_terminals().count(), fabric.cables().count())
}

fn refusal(text: &str) -> String {
    Scenario::read(&document(text)).unwrap_err().plain()
}

#[test]
fn every_kind_of_fabric_is_built_and_routed() {
    for (name, expected) in [
        ("random_regular", (6, 6, 9)),
        ("irregular", (6, 24, 12)),
        ("switched_torus", (6, 6, 9)),
        ("tree", (4, 4, 4)),
        ("xgft", (5, 4, 6)),
        ("kautz", (6, 6, 12)),
        ("dragonfly", (6, 6, 6)),
        ("dragonfly_plus", (12, 12, 15)),
        ("cascade", (192, 1_536, 3_072)),
        ("director_tree", (243, 1_407, 3_384)),
        ("hyperx", (4, 8, 4)),
        ("slim_fly", (50, 50, 175)),
        ("polarfly", (13, 13, 24)),
        ("switch", (1, 4, 0)),
        ("netlist", (16, 16, 32)),
    ] {
        let network = network(&smallest(name));
        assert_eq!(counts(&network.fabric), expected, "{name}");
        assert!(matches!(network.routes(), Ok(Routes::Forwarding(_))), "{name}");
        assert!(network.torus().is_none());
    }
}

#[test]
fn a_fabric_of_switches_is_routed_and_switched_as_infiniband_unless_told_otherwise() {
    let text = smallest("tree").replace("[routing.agnostic]\nalgorithm = \"min-hop\"\n", "");
    let scenario = read(&text);
    assert_eq!(scenario.parameters, Parameters::infiniband_4xqdr());
    let expected = flitlab_tables::agnostic::Algorithm::D_MOD_K;
    assert!(matches!(
        scenario.network.routing,
        RoutingSpec::Agnostic { algorithm, parameters } if algorithm == expected && parameters.vcs == 8
    ));
    let angara = read(&format!("{text}[router]\npreset = \"angara\"\n"));
    assert_eq!(angara.parameters, Parameters { bubble: false, ..Parameters::default() });
    assert_eq!(angara.network.routing.vcs(), Some(5), "as many as the router has");
    let torus = read(&format!("{PLAIN}[routing.agnostic]\n"));
    assert_eq!(torus.parameters, Parameters::infiniband_4xqdr());
}

/// Topologies other than tori take the routing that their users take, as far as there are virtual
/// channels for it.
#[test]
fn trees_and_dragonflies_have_shortest_paths_by_themselves() {
    let algorithm = |text: &str| match read(text).network.routing {
        RoutingSpec::Agnostic { algorithm, .. } => algorithm.name,
        ref other => panic!("{other:?}"),
    };
    let load = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";
    let dragonfly = format!(
        "[topology.dragonfly]\ngroups = 5\ngroup_size = 2\nglobal_cables = 2\nterminals = 2\n{load}"
    );
    assert_eq!(algorithm(&dragonfly), "dfsssp-balanced");
    for few in ["[router]\nvirtual_channels = 4\n", "[routing.agnostic]\nlanes = 4\n"] {
        assert_eq!(algorithm(&format!("{dragonfly}{few}")), "nue-balanced");
    }
    assert_eq!(algorithm(&format!("[topology.tree]\narity = 3\nlevels = 3\n{load}")), "d-mod-k");
    let slimmed = format!("[topology.xgft]\ndown = [4, 4]\nup = [1, 2]\n{load}");
    assert_eq!(algorithm(&slimmed), "d-mod-k");
    let network = read(&dragonfly).network;
    let Ok(Routes::Forwarding(table)) = network.routes() else { panic!("a table") };
    let quality = ForwardingQuality::new(&network.fabric, table);
    assert_eq!(quality.hops_mean, quality.least_hops_mean);
}

/// As many as uniform traffic just fills the cables with.
#[test]
fn a_hyperx_has_terminals_for_its_cables_by_itself() {
    let of = |sizes: &str| {
        let text =
            format!("[topology.hyperx]\n{sizes}[traffic]\npattern = \"uniform\"\nload = 0.1\n");
        read(&text).network.fabric.terminals()
    };
    assert_eq!(of("dimensions = [4, 4, 4]\n"), 256);
    assert_eq!(of("dimensions = [4, 3]\nredundancy = 2\n"), 12 * 6);
    assert_eq!(of("dimensions = [1, 5]\n"), 25);
    assert_eq!(of("dimensions = [4, 4]\nterminals = 1\n"), 16);
}

#[test]
fn what_has_failed_is_named_and_drawn() {
    let whole = "[topology.kautz]\ndegree = 3\nlength = 2\nterminals = 2\nredundancy = 2\n";
    let of = |failures: &str| network(&format!("{whole}{failures}\n[router]\n"));
    assert_eq!(counts(&of("").fabric), (12, 24, 72));
    let fabric = &of("failed_switches = [\"S3\", 7]").fabric;
    assert_eq!(
        (counts(fabric).1, fabric.terminal_router(6), fabric.terminal_router(14)),
        (20, None, None)
    );
    let neighbor = of("").fabric.target(0).unwrap();
    let one = of("failed_cables = [{ switch = \"S0\", port = 1 }]");
    assert_eq!((counts(&one.fabric).2, one.fabric.target(0)), (71, None));
    let both = of(&format!("failed_cables = [{{ switch = \"S0\", to = \"S{neighbor}\" }}]"));
    assert!(!both.fabric.outputs(0).any(|channel| both.fabric.target(channel) == Some(neighbor)));
    let random =
        |more: &str| of(&format!("random_failures = {{ cables = \"10%\", switches = 1{more} }}"));
    let left = random("");
    assert_eq!(counts(&left.fabric).1, 22);
    assert_ne!(left, random(", seed = 2"));
    assert_eq!(left, random(", seed = 1"), "the scenario's seed is 1");
}

#[test]
fn a_netlist_is_known_by_its_content() {
    let folder = std::env::temp_dir().join(format!("flitlab-netlist-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = include_str!("../../../../tests/fabrics/torus4x4.net");
    let scenario = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        smallest("netlist")
            .replace("../fabrics/torus4x4.net", &folder.join(name).display().to_string())
    };
    let identity = |text: &str| Scenario::identity(&document(text)).unwrap();
    let one = scenario("one.net", text);
    let same = scenario("same.net", text);
    let other = scenario("other.net", &text.replace("\"H0\"", "\"host\""));
    assert_eq!(identity(&one), identity(&same));
    assert_ne!(identity(&one), identity(&other));
    let pairs = |text: &str| text.replace("\"uniform\"", "{ pairs = { list = [[\"host\", 3]] } }");
    let workload = read(&pairs(&other)).workload;
    let load = workload.load().unwrap();
    assert_eq!(format!("{:?}", load.pattern), r#"pairs { list = [["host", "H3"]] }"#);
    assert!(refusal(&pairs(&one)).contains("nodes are called H0 to H15"));
    std::fs::remove_dir_all(folder).unwrap();
}
