//! Every algorithm on random fabrics, on those of \[nue\], and on ones made to be hard.

use flitlab_base::narrow::narrow;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::dependency::{CHECKS, Checks};
use super::{ALGORITHMS, Algorithm, EdgeStates, NoTable, Parameters, Partition};
use crate::{ForwardingProof, ForwardingQuality, prove_forwarding};
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::builders::{
    Cascade, DirectorTree, Dragonfly, GlobalCables, Kautz, RandomRegular, SwitchedTorus, Tree,
};
use flitlab_fabric::netlist::Netlist;
use flitlab_fabric::{Cabling, Fabric};
use flitlab_routing::{ForwardingTable, VcAssignment};

/// A connected fabric of up to 24 routers with 0 to 3 terminals each, parallel cables, and some
/// cables gone.
pub(super) fn random_fabric(seed: u64) -> Fabric {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut cabling = Cabling::default();
    let routers = random.random_range(2..=24u32);
    for router in 0..routers {
        cabling.router(format!("S{router}"));
    }
    for router in 1..routers {
        cabling.cable(random.random_range(0..router), router);
    }
    for _ in 0..random.random_range(0..=3 * routers) {
        let (one, other) = (random.random_range(0..routers), random.random_range(0..routers));
        if one != other {
            cabling.cable(one, other);
        }
    }
    for terminal in 0..routers.max(2) {
        for _ in 0..if terminal < 2 { 1 } else { random.random_range(0..=3) } {
            cabling.terminal(format!("H{terminal}"), terminal % routers);
        }
    }
    for cable in (0..cabling.cables().len()).rev() {
        if random.random_bool(0.1) {
            let mut less = cabling.clone();
            less.remove(&[cable]);
            if less.clone().fabric().is_ok() {
                cabling = less;
            }
        }
    }
    cabling.fabric().unwrap()
}

pub(super) fn generate(algorithm: Row<Algorithm>, fabric: &Fabric, vcs: u8) -> ForwardingTable {
    let parameters = Parameters { vcs, ..Parameters::default() };
    algorithm.generate(fabric, &parameters).unwrap().table
}

pub(super) fn proved(fabric: &Fabric, table: &ForwardingTable) -> ForwardingProof {
    let proof = prove_forwarding(fabric, table);
    let terminals = fabric.live_terminals().count() as u64;
    assert!(proof.holds(), "{}", proof.flaws[0].describe(fabric));
    assert_eq!(proof.pairs, terminals * (terminals - 1));
    let quality = ForwardingQuality::new(fabric, table);
    assert_eq!((quality.routed, quality.unrouted), (proof.pairs, 0));
    proof
}

#[test]
fn random_fabrics_are_routed_without_a_cycle() {
    for seed in 0..100 {
        let fabric = random_fabric(seed);
        for (algorithm, vcs) in [
            (Algorithm::UP_DOWN, 1),
            (Algorithm::SEGMENTS, 1),
            (Algorithm::SMART, 1),
            (Algorithm::SMART, 3),
            (Algorithm::NUE, 1),
            (Algorithm::NUE, 3),
            (Algorithm::NUE_BALANCED, 1),
            (Algorithm::NUE_BALANCED, 3),
            (Algorithm::NUE_SPREAD, 3),
            (Algorithm::MUD, 2),
            (Algorithm::LASH, 16),
            (Algorithm::DFSSSP, 16),
            (Algorithm::DFSSSP_FEWEST, 16),
            (Algorithm::DFSSSP_OPENSM, 16),
            (Algorithm::LASH_TOR, 16),
        ] {
            let table = generate(algorithm, &fabric, vcs);
            let proof = proved(&fabric, &table);
            assert!(proof.vcs_used() <= u32::from(vcs), "{algorithm:?} {seed}");
            assert_eq!(table, generate(algorithm, &fabric, vcs), "{algorithm:?} {seed}");
        }
    }
}

/// The algorithms that have no regard to deadlock take shortest paths all the same.
#[test]
fn shortest_paths_are_shortest() {
    for seed in 0..20 {
        let fabric = random_fabric(seed);
        for algorithm in [Algorithm::MIN_HOP, Algorithm::SSSP, Algorithm::P2_SSSP, Algorithm::LASH]
        {
            let quality = ForwardingQuality::new(&fabric, &generate(algorithm, &fabric, 16));
            assert_eq!(quality.unrouted, 0, "{algorithm:?} {seed}");
            assert_eq!(quality.hops_mean, quality.least_hops_mean, "{algorithm:?} {seed}");
            assert_eq!(quality.load.mean, quality.load.perfect, "{algorithm:?} {seed}");
        }
    }
}

pub(super) fn torus(sizes: &[u32], terminals: u32, redundancy: u32) -> Fabric {
    SwitchedTorus { sizes: sizes.to_vec(), terminals, redundancy }
        .cabling()
        .unwrap()
        .fabric()
        .unwrap()
}

/// The seven fabrics of \[nue\]; which random graph theirs was is open.
fn published() -> [(&'static str, Fabric); 7] {
    let random = RandomRegular { routers: 125, degree: 16, terminals: 8, seed: 1 };
    let torus = SwitchedTorus { sizes: vec![6, 5, 5], terminals: 7, redundancy: 4 };
    let tree = Tree { arity: 10, levels: 3, terminals: 11 };
    let kautz = Kautz { degree: 5, length: 3, terminals: 7, redundancy: 2 };
    let dragonfly = Dragonfly {
        routers: 12,
        terminals: 6,
        global: 6,
        groups: 15,
        cables: GlobalCables::default(),
    };
    [
        ("random", random.cabling()),
        ("torus", torus.cabling()),
        ("tree", tree.cabling()),
        ("kautz", kautz.cabling()),
        ("dragonfly", dragonfly.cabling()),
        ("cascade", Cascade::default().cabling()),
        ("tsubame", DirectorTree::default().cabling()),
    ]
    .map(|(name, cabling)| (name, cabling.unwrap().fabric().unwrap()))
}

/// OpenSM's SSSP has a maximum of 2086, 2046, 1344 and 1842 on these.
#[test]
fn sssp_balances_as_published() {
    let limits = [("torus", 2086.0), ("tree", 2046.0), ("kautz", 1344.0), ("dragonfly", 1842.0)];
    let fabrics = published();
    for (name, opensm) in limits {
        let (_, fabric) = fabrics.iter().find(|(other, _)| *other == name).unwrap();
        let quality = ForwardingQuality::new(fabric, &generate(Algorithm::SSSP, fabric, 1));
        let maximum = quality.load.maximum;
        assert!(maximum < 1.05 * opensm, "{name}: {maximum}, not {opensm}");
    }
}

#[test]
fn nue_routes_two_published_fabrics_without_a_cycle() {
    nue_routes(&["kautz", "dragonfly"], &[2]);
}

#[test]
#[ignore = "long: a minute; Nue on all published fabrics with 1, 2, 4 and 8 virtual channels"]
fn nue_routes_the_published_fabrics_without_a_cycle() {
    nue_routes(&[], &[1, 2, 4, 8]);
}

/// Routes the published fabrics of these names, or all, with these numbers of virtual channels.
fn nue_routes(names: &[&str], vcs: &[u8]) {
    for (name, fabric) in published() {
        if !names.is_empty() && !names.contains(&name) {
            continue;
        }
        for &vcs in vcs {
            let [nue, balanced] = [Algorithm::NUE, Algorithm::NUE_BALANCED].map(|algorithm| {
                let table = generate(algorithm, &fabric, vcs);
                assert_eq!(proved(&fabric, &table).vcs_used(), u32::from(vcs), "{name}");
                ForwardingQuality::new(&fabric, &table).load.maximum
            });
            assert!(balanced < nue, "{name}, {vcs} virtual channels: {balanced}, {nue}");
        }
    }
}

/// \[nue\] spares searches for cycles by colours, we do by an order of the channels. Of the
/// dependencies that come into use fewer run against the order than connect channels of one colour.
#[test]
fn an_order_of_channels_spares_more_searches_than_colours() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for (name, fabric) in published() {
        if !["random", "torus", "kautz"].contains(&name) {
            continue;
        }
        for vcs in [1, 4] {
            let checks = pool.install(|| {
                CHECKS.set(Checks::default());
                generate(Algorithm::NUE, &fabric, vcs);
                CHECKS.get()
            });
            println!("{name}, {vcs} virtual channels: {checks:?}");
            assert!(checks.new > 1_000, "{name}: {checks:?}");
            assert!(checks.by_order < checks.by_colours, "{name}: {checks:?}");
        }
    }
}

/// The smallest fabric on which OpenSM's Up*/Down* has a cycle.
#[test]
fn up_down_never_turns_up_again() {
    let text = include_str!("../../../../tests/fabrics/updn24.net");
    let fabric = Netlist::read(text).unwrap().fabric;
    proved(&fabric, &generate(Algorithm::UP_DOWN, &fabric, 1));
}

/// Shortest paths round a ring of five close a cycle (the example of \[nue\]).
#[test]
fn a_ring_of_five_needs_two_virtual_channels_for_shortest_paths() {
    let fabric = torus(&[5], 1, 1);
    for algorithm in [Algorithm::MIN_HOP, Algorithm::SSSP, Algorithm::P2_SSSP] {
        let proof = prove_forwarding(&fabric, &generate(algorithm, &fabric, 1));
        let cycle = proof.cycle().expect("a cycle");
        assert_eq!(cycle.len(), 5, "{algorithm:?}");
        for (place, at) in cycle.iter().enumerate() {
            let next = cycle[(place + 1) % cycle.len()];
            assert_eq!(fabric.target(at.channel), Some(fabric.source(next.channel)));
        }
    }
    for algorithm in [
        Algorithm::LASH,
        Algorithm::DFSSSP,
        Algorithm::DFSSSP_FEWEST,
        Algorithm::DFSSSP_OPENSM,
        Algorithm::LASH_TOR,
    ] {
        let parameters = Parameters { vcs: 1, ..Parameters::default() };
        let error = algorithm.generate(&fabric, &parameters).unwrap_err();
        assert!(matches!(error, NoTable::VirtualChannels { vcs: 1, .. }), "{error}");
        assert_eq!(proved(&fabric, &generate(algorithm, &fabric, 2)).vcs_used(), 2);
    }
    proved(&fabric, &generate(Algorithm::NUE, &fabric, 1));
    // Of eight, dfsssp takes all, and dfsssp-fewest those that it needs.
    let used = |algorithm| proved(&fabric, &generate(algorithm, &fabric, 8)).vcs_used();
    assert_eq!((used(Algorithm::DFSSSP), used(Algorithm::DFSSSP_FEWEST)), (3, 2));
    assert!(used(Algorithm::DFSSSP_OPENSM) > 3, "it has eight to draw from");
}

/// OpenSM 3.3.23 needs 5, 6 and 1 virtual channels for these fabrics, and 9 for the 6x5x5 torus
/// (results/nue/compare-opensm).
#[test]
fn dfsssp_opensm_needs_as_many_virtual_channels_as_opensm_does() {
    let made = |cabling: Cabling, vcs| {
        let fabric = cabling.fabric().unwrap();
        let parameters = Parameters { vcs, ..Parameters::default() };
        let made = Algorithm::DFSSSP_OPENSM.generate(&fabric, &parameters);
        made.map(|made| proved(&fabric, &made.table).vcs_used())
    };
    let random = RandomRegular { routers: 125, degree: 16, terminals: 8, seed: 1 };
    let random = || random.cabling().unwrap();
    assert!(matches!(made(random(), 4), Err(NoTable::VirtualChannels { vcs: 4, .. })));
    assert_eq!(made(random(), 5).unwrap(), 5);
    // The three lanes that it does not need go to its fullest layers.
    assert_eq!(made(random(), 8).unwrap(), 8);
    let torus = SwitchedTorus { sizes: vec![6, 5, 5], terminals: 7, redundancy: 4 };
    assert!(made(torus.cabling().unwrap(), 8).is_err());
    let tree = Tree { arity: 4, levels: 3, terminals: 4 };
    assert_eq!(made(tree.cabling().unwrap(), 1).unwrap(), 1);
}

#[test]
fn nue_routes_for_any_number_of_virtual_channels() {
    let fabric = torus(&[4, 3, 3], 2, 2);
    for partition in [Partition::Near, Partition::InTurn] {
        for vcs in 1..=15 {
            let made = Algorithm::NUE
                .generate(&fabric, &Parameters { vcs, partition, ..Parameters::default() })
                .unwrap();
            assert_eq!(proved(&fabric, &made.table).vcs_used(), u32::from(vcs));
        }
    }
}

/// The pairs that share the fullest channel, and those that share the fullest virtual channel of
/// one, counted pair by pair.
fn fullest(fabric: &Fabric, table: &ForwardingTable) -> u64 {
    let mut channels = vec![0; fabric.channel_slots() as usize];
    let mut vcs = vec![0; channels.len() * 16];
    for source in fabric.live_terminals() {
        for terminal in fabric.live_terminals().filter(|&terminal| terminal != source) {
            let vc = match table.vc_assignment() {
                VcAssignment::ByDestination(vcs) => usize::from(vcs[terminal as usize]),
                _ => 0,
            };
            let mut at = fabric.terminal_router(source).unwrap();
            while let Some(channel) = table.channel(fabric, at, terminal) {
                channels[channel as usize] += 1;
                vcs[channel as usize * 16 + vc] += 1;
                at = fabric.target(channel).unwrap();
            }
        }
    }
    channels.into_iter().max().unwrap() + vcs.into_iter().max().unwrap()
}

/// What `nue-spread` promises: with one virtual channel more its fullest channel and virtual
/// channel together carry no more, and never more than those of `nue` with as many.
#[test]
fn more_virtual_channels_never_load_a_spread_table_more() {
    let mut fewer_parts = 0;
    let fabrics = (0..12).map(random_fabric).chain([torus(&[4, 3, 3], 2, 2), torus(&[7], 2, 1)]);
    for fabric in fabrics.filter(|fabric| fabric.live_terminals().count() > 1) {
        let mut before = u64::MAX;
        for vcs in 1..=6 {
            let (nue, spread) = (
                generate(Algorithm::NUE, &fabric, vcs),
                generate(Algorithm::NUE_SPREAD, &fabric, vcs),
            );
            proved(&fabric, &spread);
            let (of_nue, of_spread) = (fullest(&fabric, &nue), fullest(&fabric, &spread));
            assert!(of_spread <= before && of_spread <= of_nue, "{vcs}: {of_spread}, {of_nue}");
            assert!(vcs > 1 || spread == nue, "there is no choice with one");
            fewer_parts += u32::from(of_spread < of_nue);
            before = of_spread;
        }
    }
    assert!(fewer_parts > 20, "it is mostly another table: {fewer_parts}");
}

/// The complete graph has the closed form of its fabric, all that packets do is among the edges
/// used, and every destination that fell back had come to an impasse.
#[test]
fn nue_counts_the_edges_of_the_complete_graph() {
    // Each channel is followed by those to the other five neighbours, four side by side.
    let sizes = [
        (torus(&[6, 5, 5], 7, 4), 3600, 3600 * 20),
        (torus(&[5], 1, 1), 10, 10),
        (torus(&[4, 3, 3], 2, 2), 432, 432 * 10),
    ];
    for (fabric, channels, edges) in sizes {
        for vcs in [1, 2, 7] {
            let parameters = Parameters { vcs, ..Parameters::default() };
            let made = Algorithm::NUE.generate(&fabric, &parameters).unwrap();
            let graph = made.complete_graph.unwrap();
            assert_eq!((graph.channels, graph.edges), (channels, edges));
            assert_eq!(graph.states.len(), usize::from(vcs));
            let proof = proved(&fabric, &made.table);
            for (vc, states) in graph.states.iter().enumerate() {
                let taken = proof.dependencies.get(vc).copied().unwrap_or(0);
                assert!(taken <= states.used, "{taken}, {states:?}");
                // One edge at least of each way round a ring closes a cycle.
                assert!(states.used < edges && states.blocked <= edges - states.used);
            }
            assert!(made.escape_falls.unwrap() <= graph.impasses);
        }
    }
    // Too few destinations for all virtual channels: some route none, and use no edge.
    let fabric = torus(&[5], 1, 1);
    let made = Algorithm::NUE.generate(&fabric, &Parameters { vcs: 8, ..Parameters::default() });
    let made = made.unwrap();
    let VcAssignment::ByDestination(vc_of) = made.table.vc_assignment() else { panic!("eight") };
    let states = made.complete_graph.unwrap().states;
    let idle = states.iter().enumerate().filter(|(vc, _)| !vc_of.contains(&narrow::<u8>(*vc)));
    assert!(idle.clone().count() >= 3);
    assert!(idle.into_iter().all(|(_, states)| *states == EdgeStates::default()));
    let balanced = Algorithm::NUE_BALANCED.generate(&fabric, &Parameters::default()).unwrap();
    assert!(balanced.complete_graph.is_none(), "paths that were moved use other edges");
}

/// OpenSM's Nue has a maximum of 2443 with 8 virtual channels, and a few percent more or less in
/// other orders; P²-SSSP, with no regard to deadlock, one of 1904.
#[test]
fn nue_balances_a_torus() {
    let fabric = torus(&[6, 5, 5], 7, 4);
    for (algorithm, limit) in [(Algorithm::NUE, 1.08 * 2443.0), (Algorithm::NUE_BALANCED, 1904.0)] {
        let table = generate(algorithm, &fabric, 8);
        proved(&fabric, &table);
        let maximum = ForwardingQuality::new(&fabric, &table).load.maximum;
        assert!(maximum <= limit, "{algorithm:?}: {maximum}");
    }
}

#[test]
fn names_are_found_and_wrong_ones_refused() {
    for algorithm in ALGORITHMS {
        assert_eq!(Algorithm::named(algorithm.name), Some(&algorithm));
    }
}

/// A trunk of parallel cables carries all that some destinations get, so nothing but turns on it is
/// to be wished for.
#[test]
fn every_algorithm_spreads_destinations_over_parallel_cables() {
    // Two switches with four terminals each, joined by four cables: directly, and by way of a third
    // switch.
    let joined = |by_a_core: bool| {
        let mut cabling = Cabling::default();
        let leaves = ["A", "B"].map(|name| cabling.router(name));
        for leaf in leaves {
            for number in 0..4 {
                cabling.terminal(format!("H{leaf}.{number}"), leaf);
            }
        }
        let core = by_a_core.then(|| cabling.router("C"));
        for _ in 0..4 {
            match core {
                Some(core) => leaves.iter().for_each(|&leaf| cabling.cable(leaf, core)),
                None => cabling.cable(leaves[0], leaves[1]),
            }
        }
        cabling.fabric().unwrap()
    };
    // A segment of segment-based routing that is a single cable takes no turns, so all but one of
    // parallel cables are left to packets that end there.
    let published = [Algorithm::SEGMENTS];
    let fabrics = [joined(false), joined(true), torus(&[3, 3], 4, 4)];
    for (number, fabric) in fabrics.iter().enumerate() {
        for algorithm in ALGORITHMS.into_iter().filter(|it| !published.contains(it)) {
            for vcs in [1, 8] {
                let parameters = Parameters { vcs, ..Parameters::default() };
                let Ok(made) = algorithm.generate(fabric, &parameters) else { continue };
                let load = ForwardingQuality::new(fabric, &made.table).load;
                let figures = (load.minimum, load.maximum);
                println!("{number} {algorithm:?} {vcs} {figures:?}");
                match number {
                    0 | 1 => assert_eq!(figures, (4.0, 4.0), "{algorithm:?} {vcs}"),
                    // All ways are shortest; without turns on parallel cables it would be 48.
                    _ => assert!(load.maximum <= 32.0, "{algorithm:?} {vcs} {figures:?}"),
                }
            }
        }
    }
}
