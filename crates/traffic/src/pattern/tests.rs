use std::collections::BTreeMap;

use rand::SeedableRng;

use super::*;
use flitlab_base::registry::Row;
use flitlab_fabric::builders::SwitchedTorus;
use flitlab_fabric::{Faults, Torus};

const PERMUTATIONS: [&str; 9] = [
    "transpose",
    "transpose-linear",
    "transpose-3d",
    "neighbor",
    "tornado",
    "bit-reverse",
    "bit-complement",
    "shuffle",
    "random-permutation",
];

/// A pattern whose keys all have defaults.
fn spec(name: &str) -> PatternSpec {
    PatternSpec::new(name, "")
}

fn fabric(sizes: &[u32], failed: &[u32]) -> Fabric {
    let faults = Faults { nodes: failed.to_vec(), ..Faults::default() };
    Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap()
}

fn bind(spec: &PatternSpec, sizes: &[u32]) -> Pattern {
    Pattern::new(spec, &fabric(sizes, &[]), 1).unwrap()
}

fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(3)
}

/// Where the first messages of `source` go.
fn first(pattern: &Pattern, source: u32, count: u64) -> Vec<u32> {
    let mut random = random();
    (0..count).map(|index| pattern.destination(source, index, &mut random).unwrap()).collect()
}

fn shares(pattern: &Pattern, source: u32) -> BTreeMap<u32, f64> {
    let mut shares = BTreeMap::new();
    pattern.for_each_share(source, |node, share| {
        assert!(shares.insert(node, share).is_none(), "each destination once");
    });
    shares
}

fn silent(pattern: &Pattern) -> Vec<u32> {
    pattern.silent().collect()
}

/// A mixture of patterns that have no keys, the first of which has thrice the weight.
fn mixture(names: &[&str]) -> PatternSpec {
    let part = |(number, name)| {
        let weight = if number == 0 { 3 } else { 1 };
        format!("{{ weight = {weight}, pattern = \"{name}\" }}")
    };
    let parts: Vec<String> = names.iter().enumerate().map(part).collect();
    PatternSpec::new("mixture", &format!("patterns = [{}]", parts.join(", ")))
}

/// Every pattern that 4x4 can have; those whose keys have no defaults with some.
fn all_kinds() -> Vec<PatternSpec> {
    let keys = |kind: &Row<PatternKind>| match kind.name {
        "hotspot" => "nodes = [9, 5, 2]\nshare = 0.3",
        "hot-region" => "size = 3\nshare = 0.3\nfirst = 14",
        "matrix" => "list = [[0, 1, 1.0], [0, 5, 3.0], [4, 4, 0.1], [5, 4, 2.0]]",
        "pairs" => "list = [[3, 4], [0, 5], [3, 3], [3, 5], [3, 4]]",
        "mixture" => {
            "patterns = [{ weight = 3, pattern = \"uniform\" }, { weight = 1.5, pattern = \"butterfly\" }, \
             { weight = 0.5, pattern = { matrix = { list = [[0, 1, 1.0], [0, 9, 2.0], [4, 2, 1.0]] } } }]"
        }
        _ => "",
    };
    let mut specs = vec![
        PatternSpec::new("uniform", "include_self = true"),
        PatternSpec::new("hotspot", "share = 0.3\nat_once = 2"),
        PatternSpec::new("incast", "sources = [1, 4, 5, 9]\ntargets = [5, 0, 15, 4]"),
        PatternSpec::new("outcast", "source_count = 3\ntarget_count = 5"),
        mixture(&["random-permutation", "transpose"]),
    ];
    let undefined = ["transpose-3d", "group-shift"];
    let kinds = PATTERNS.into_iter().filter(|kind| !undefined.contains(&kind.name));
    // A worst case that is known: from each live node to the next one.
    let next = |_: &Fabric, live: &[u32]| {
        let mut partners: Vec<u32> = (0..16).collect();
        let pairs = live.iter().zip(live.iter().cycle().skip(1));
        pairs.for_each(|(&from, &to)| partners[from as usize] = to);
        Ok(partners)
    };
    specs.extend(kinds.map(|kind| {
        let spec = PatternSpec::new(kind.name, keys(&kind));
        if kind.name == "worst-case" { spec.beside(WorstCase::new(next)) } else { spec }
    }));
    specs
}

#[test]
fn permutations_reach_every_node_once() {
    let shapes = [&[8, 8][..], &[4, 4, 4], &[2, 4, 2, 4], &[5, 3, 1], &[7, 7, 7]];
    let mut defined = 0;
    for name in PERMUTATIONS {
        for sizes in shapes {
            let Ok(pattern) = Pattern::new(&spec(name), &fabric(sizes, &[]), 1) else { continue };
            let nodes: u32 = sizes.iter().product();
            let mut images: Vec<u32> =
                (0..nodes).map(|node| pattern.partner(node, 0).unwrap_or(node)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..nodes), "{name}");
            defined += 1;
        }
    }
    assert_eq!(defined, 2 + 3 + 2 + 5 + 5 + 3 + 3 + 3 + 5);
}

#[test]
fn shares_add_up_and_agree_with_what_is_drawn() {
    for failed in [&[][..], &[5, 15]] {
        for spec in all_kinds() {
            let pattern = Pattern::new(&spec, &fabric(&[4, 4], failed), 1).unwrap();
            let mut random = random();
            for source in 0..16 {
                let expected = shares(&pattern, source);
                let sum: f64 = expected.values().sum();
                if failed.contains(&source) || pattern.silent().any(|silent| silent == source) {
                    assert!(expected.is_empty() && pattern.rate(source) == 0.0);
                    assert_eq!(pattern.destination(source, 0, &mut random), None);
                    continue;
                }
                assert!(pattern.rate(source) > 0.0);
                assert!((sum - 1.0).abs() < 1e-12, "{spec:?}: {sum}");
                assert!(expected.keys().all(|node| !failed.contains(node)));
                let mut found = BTreeMap::new();
                let messages = 5_460;
                for index in 0..messages {
                    let node = pattern.destination(source, index, &mut random).unwrap();
                    *found.entry(node).or_insert(0.0) += 1.0;
                }
                assert!(expected.keys().eq(found.keys()), "{spec:?}: {expected:?} {found:?}");
                for (node, share) in expected {
                    let mean = share * messages as f64;
                    let bound = 5.0 * (mean * (1.0 - share)).sqrt() + 1.0;
                    assert!((found[&node] - mean).abs() < bound, "{spec:?} {source} {node}");
                }
            }
        }
    }
}

#[test]
fn uniform_is_uniform() {
    for include_self in [false, true] {
        let pattern =
            bind(&PatternSpec::new("uniform", &format!("include_self = {include_self}")), &[8, 8]);
        let mut random = random();
        let mut found = [0u32; 64];
        let others = 63 + u32::from(include_self);
        for index in 0..u64::from(others) * 1_000 {
            found[pattern.destination(20, index, &mut random).unwrap() as usize] += 1;
        }
        assert_eq!(found[20] == 0, !include_self);
        let square: f64 = (0..64)
            .filter(|&node| node != 20 || include_self)
            .map(|node| (f64::from(found[node]) - 1_000.0).powi(2) / 1_000.0)
            .sum();
        // Chi-square with 62 or 63 degrees of freedom: 99.9% are below 103, 0.1% below 32.
        assert!((32.0..103.0).contains(&square), "{square}");
    }
}

#[test]
fn the_same_stream_gives_the_same_destinations_on_every_machine() {
    let drawn = |spec| first(&bind(&spec, &[16, 16]), 7, 6);
    assert_eq!(drawn(spec("uniform")), [28, 159, 163, 21, 234, 83]);
    let hot = drawn(PatternSpec::new("hotspot", "nodes = [1, 2, 3]\nshare = 0.5"));
    let entries = "list = [[7, 1, 1.0], [7, 2, 1.5], [7, 7, 2.5]]";
    let weighted = drawn(PatternSpec::new("matrix", entries));
    let permutation = bind(&spec("random-permutation"), &[16, 16]);
    let images: Vec<_> = (0..6).filter_map(|source| permutation.partner(source, 0)).collect();
    assert_eq!(
        [hot, weighted, images],
        [vec![163, 83, 3, 3, 3, 74], vec![7, 1, 2, 1, 7, 7], vec![179, 190, 234, 172, 204, 239]]
    );
}

#[test]
fn examples_worked_by_hand() {
    let to = |spec: PatternSpec, sizes: &[u32], at: &[u32]| {
        let torus = Torus::new(sizes, &[]).unwrap();
        let partner = bind(&spec, sizes).partner(torus.node(at).unwrap(), 0);
        torus.coordinates(partner.unwrap())
    };
    assert_eq!(to(spec("transpose"), &[8, 8], &[1, 6]), [6, 1]);
    assert_eq!(to(spec("transpose"), &[4, 2, 4, 2], &[3, 1, 2, 0]), [2, 0, 3, 1]);
    assert_eq!(to(spec("transpose-3d"), &[8, 8, 8], &[1, 2, 3]), [2, 3, 1]);
    assert_eq!(to(spec("neighbor"), &[8, 3, 1], &[7, 0, 0]), [0, 1, 0]);
    assert_eq!(to(spec("tornado"), &[8, 8], &[6, 1]), [1, 4]);
    assert_eq!(to(spec("tornado"), &[7, 2], &[0, 1]), [3, 1]);
    // 6x6: node 8 is row 1, column 2 and sends to row 2, column 1, node 13.
    assert_eq!(bind(&spec("transpose-linear"), &[6, 6]).partner(8, 0), Some(13));
    // 8x8x16 is 32x32: node 34 is row 1, column 2 and sends to row 2, column 1, node 65.
    assert_eq!(bind(&spec("transpose-linear"), &[8, 8, 16]).partner(34, 0), Some(65));
    let on_bits = |spec: PatternSpec| bind(&spec, &[4, 8]).partner(0b01100, 0);
    assert_eq!(on_bits(spec("bit-reverse")), Some(0b00110));
    assert_eq!(on_bits(spec("bit-complement")), Some(0b10011));
    assert_eq!(on_bits(spec("shuffle")), Some(0b11000));
    assert_eq!(bind(&spec("shuffle"), &[4, 8]).partner(0b11000, 0), Some(0b10001));
}

#[test]
fn butterfly_flips_one_bit_after_the_other() {
    let pattern = bind(&spec("butterfly"), &[4, 2]);
    assert_eq!(first(&pattern, 0b101, 5), [0b100, 0b111, 0b001, 0b100, 0b111]);
    assert_eq!(pattern.steps(), Some(3));
    assert_eq!(pattern.partner(0b101, 1), Some(0b111));
    assert_eq!(pattern.partner(0b101, 3), None);
    let pattern = Pattern::new(&spec("butterfly"), &fabric(&[4, 4], &[7]), 1).unwrap();
    assert_eq!(pattern.partner(5, 1), None, "it has failed");
    assert_eq!(first(&pattern, 5, 4), [4, 1, 13, 4]);
}

#[test]
fn all_to_all_exchanges_by_pairs() {
    for (sizes, failed) in
        [(&[4, 4][..], &[][..]), (&[5, 2], &[2, 7]), (&[3, 4], &[]), (&[3, 4], &[0, 5])]
    {
        let fabric = fabric(sizes, failed);
        let pattern = Pattern::new(&spec("all-to-all"), &fabric, 1).unwrap();
        let live: Vec<u32> = fabric.live_terminals().collect();
        let steps = pattern.steps().unwrap();
        assert_eq!(steps as usize, live.len() - 1);
        for &source in &live {
            let mut met: Vec<u32> =
                (0..steps).map(|step| pattern.partner(source, step).unwrap()).collect();
            assert_eq!(first(&pattern, source, u64::from(steps)), met);
            assert_eq!(first(&pattern, source, u64::from(steps) + 1).last(), met.first());
            met.push(source);
            met.sort_unstable();
            assert_eq!(met, live);
        }
        for step in 0..steps {
            let mut partners: Vec<u32> =
                live.iter().map(|&source| pattern.partner(source, step).unwrap()).collect();
            if live.len().is_power_of_two() {
                let back = partners.iter().map(|&partner| pattern.partner(partner, step).unwrap());
                assert!(back.eq(live.iter().copied()));
            }
            partners.sort_unstable();
            assert_eq!(partners, live, "each receives once a step");
        }
    }
    let pattern = Pattern::new(&spec("all-to-all"), &fabric(&[5, 2], &[2, 7]), 1).unwrap();
    // Live: 0 1 3 4 5 6 8 9; node 3 has rank 2.
    assert_eq!(first(&pattern, 3, 7), [4, 0, 1, 8, 9, 5, 6]);
    let pattern = bind(&spec("all-to-all"), &[3, 1]);
    assert_eq!(first(&pattern, 1, 3), [2, 0, 2]);
}

#[test]
fn a_random_permutation_is_fixed_by_the_seed_and_has_no_fixed_points() {
    let images = |seed, failed: &[u32]| -> Vec<Option<u32>> {
        let pattern =
            Pattern::new(&spec("random-permutation"), &fabric(&[4, 4], failed), seed).unwrap();
        assert_eq!(pattern.steps(), Some(1));
        assert_eq!(pattern.silent().count(), 0);
        (0..16).map(|source| pattern.partner(source, 0)).collect()
    };
    assert_eq!(images(1, &[]), images(1, &[]));
    assert_ne!(images(1, &[]), images(2, &[]));
    for seed in 0..50 {
        let mut live: Vec<u32> = images(seed, &[0, 6]).into_iter().flatten().collect();
        live.sort_unstable();
        assert_eq!(live, [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    }
}

#[test]
fn hot_nodes_get_their_share_and_their_part_of_the_rest() {
    let spec = PatternSpec::new("hotspot", "nodes = [3, 1]\nshare = 0.5");
    let pattern = bind(&spec, &[3, 2]);
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    let of_0 = shares(&pattern, 0);
    assert!(close(of_0[&1], 0.25 + 0.1) && close(of_0[&2], 0.1) && !of_0.contains_key(&0));
    let of_1 = shares(&pattern, 1);
    assert!(close(of_1[&3], 0.5 + 0.1) && close(of_1[&0], 0.1));
    let only = bind(&PatternSpec::new("hotspot", "nodes = [2]\nshare = 1.0"), &[3, 2]);
    assert_eq!(shares(&only, 0), BTreeMap::from([(2, 1.0)]));
    assert_eq!(first(&only, 0, 3), [2, 2, 2]);
    assert!(close(shares(&only, 2)[&0], 0.2), "the only hot node sends to all others alike");
}

#[test]
fn moving_hot_nodes_get_their_share_in_turn() {
    for (keys, cycle) in [
        ("nodes = [3, 1, 2]\nshare = 0.5\nmoves_every = \"1 us\"", 3_000_000),
        ("nodes = [3, 1, 2, 5]\nshare = 0.5\nmoves_every = \"1 us\"\nat_once = 2", 2_000_000),
        ("share = 0.5\nmoves_every = \"1 us\"\nat_once = 3", 1_000_000),
    ] {
        let pattern = bind(&PatternSpec::new("hotspot", keys), &[3, 2]);
        assert_eq!(pattern.cycle(), Picoseconds(cycle));
        let (mut random, messages) = (random(), 60_000);
        let mut found = BTreeMap::new();
        for index in 0..messages {
            // Each period as often.
            let time = Picoseconds(index * 1_000_000 + 77);
            let to = pattern.destination_at(1, index, time, &mut random);
            *found.entry(to).or_insert(0.0) += 1.0;
        }
        for (node, share) in shares(&pattern, 1) {
            let mean = share * messages as f64;
            assert!((found[&node] - mean).abs() < 5.0 * mean.sqrt(), "{keys} {node}: {found:?}");
        }
        // In a period the same are hot.
        let hot_at = |period: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(9);
            let mut to = BTreeMap::new();
            for index in 0..600 {
                let time = Picoseconds(period * 1_000_000 + index);
                *to.entry(pattern.destination_at(0, index, time, &mut random)).or_insert(0) += 1;
            }
            to.into_iter().filter(|one| one.1 > 90).map(|one| one.0).collect::<Vec<_>>()
        };
        let hot: Vec<Vec<u32>> = (0..3).map(hot_at).collect();
        match cycle {
            3_000_000 => assert_eq!(hot, [[3], [1], [2]]),
            2_000_000 => assert_eq!(hot, [[1, 3], [2, 5], [1, 3]]),
            _ => assert!(hot.iter().any(|set| *set != hot[0]), "{hot:?}"),
        }
    }
}

#[test]
fn a_mixture_is_the_sum_of_its_parts() {
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    let pattern = bind(&mixture(&["uniform", "transpose"]), &[4, 4]);
    let of_1 = shares(&pattern, 1);
    assert!(close(of_1[&4], 0.25 + 0.75 / 15.0) && close(of_1[&2], 0.75 / 15.0));
    // Node 5 is silent under transpose: a quarter of its messages is missing.
    assert!(close(shares(&pattern, 5)[&4], 1.0 / 15.0));
    assert!(close(pattern.rate(5) / pattern.rate(1), 0.75));
    let mean = (0..16).map(|node| pattern.rate(node)).sum::<f64>() / 16.0;
    assert!(close(mean, 1.0), "{mean}");
    let alike = bind(&mixture(&["uniform", "bit-complement", "tornado"]), &[4, 4]);
    assert!((0..16).all(|node| alike.rate(node) == 1.0));
    // Two permutations of one mixture differ.
    let two = bind(&mixture(&["random-permutation", "random-permutation"]), &[4, 4]);
    assert!((0..16).filter(|&node| shares(&two, node).len() == 2).count() > 8);
    // A hot spot that moves does so in a mixture.
    let keys = "patterns = [{ weight = 1, pattern = \"uniform\" }, { weight = 1, pattern = { hotspot = { share = 1.0, \
                moves_every = \"2 us\" } } }]";
    assert_eq!(bind(&PatternSpec::new("mixture", keys), &[4, 4]).cycle(), Picoseconds(2_000_000));
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "rates are equal but for rounding")]
fn a_matrix_has_rates_in_proportion() {
    let entries = "list = [[0, 1, 1.0], [5, 4, 0.5], [0, 5, 3.0], [4, 4, 1.5]]";
    let spec = PatternSpec::new("matrix", entries);
    let pattern = bind(&spec, &[4, 4]);
    assert_eq!([0, 4, 5, 1].map(|source| pattern.rate(source)), [2.0, 0.75, 0.25, 0.0]);
    assert_eq!(shares(&pattern, 0), BTreeMap::from([(1, 0.25), (5, 0.75)]));
    assert_eq!(pattern.silent().count(), 13);
    assert_eq!((pattern.steps(), pattern.partner(0, 0)), (None, None));
    let pattern = Pattern::new(&spec, &fabric(&[4, 4], &[5]), 1).unwrap();
    assert_eq!(shares(&pattern, 0), BTreeMap::from([(1, 1.0)]));
    assert_eq!([0, 4, 5].map(|source| pattern.rate(source) as f32), [0.8, 1.2, 0.0]);
}

#[test]
fn pairs_are_taken_in_turn_and_keep_their_steps() {
    let pairs = "list = [[3, 4], [0, 5], [3, 3], [3, 5], [3, 4], [2, 2]]";
    let spec = PatternSpec::new("pairs", pairs);
    let pattern = bind(&spec, &[3, 2]);
    assert_eq!(pattern.steps(), Some(4));
    assert_eq!(
        [0, 1, 2, 3, 4].map(|step| pattern.partner(3, step)),
        [Some(4), None, Some(5), Some(4), None]
    );
    assert_eq!(first(&pattern, 3, 4), [4, 5, 4, 4]);
    assert_eq!(shares(&pattern, 3), BTreeMap::from([(4, 2.0 / 3.0), (5, 1.0 / 3.0)]));
    assert_eq!(silent(&pattern), [1, 2, 4, 5]);
    let pattern = Pattern::new(&spec, &fabric(&[3, 2], &[4]), 1).unwrap();
    assert_eq!([0, 1, 2, 3].map(|step| pattern.partner(3, step)), [None, None, Some(5), None]);
}

#[test]
fn fixed_points_and_failed_partners_make_a_source_silent() {
    assert_eq!(silent(&bind(&spec("transpose"), &[4, 4])), [0, 5, 10, 15]);
    assert_eq!(silent(&bind(&spec("shuffle"), &[4, 4])), [0, 15]);
    assert_eq!(silent(&bind(&spec("bit-complement"), &[4, 4])), [] as [u32; 0]);
    let pattern = Pattern::new(&spec("bit-complement"), &fabric(&[4, 4], &[3]), 1).unwrap();
    assert_eq!(silent(&pattern), [12]);
    assert_eq!((pattern.rate(12), pattern.rate(3), pattern.rate(0)), (0.0, 0.0, 1.0));
}

#[test]
fn memory_is_for_tables_only() {
    let sizes = [32, 32, 32];
    for name in ["uniform", "all-to-all", "tornado", "butterfly"] {
        assert_eq!(bind(&spec(name), &sizes).memory(), 0);
    }
    assert_eq!(bind(&spec("random-permutation"), &sizes).memory(), 4 << 15);
}

#[test]
fn refusals_name_sizes_that_would_do() {
    let refusal = |spec: &PatternSpec, sizes: &[u32]| {
        Pattern::new(spec, &fabric(sizes, &[]), 1).unwrap_err().to_string()
    };
    for name in ["bit-reverse", "bit-complement", "shuffle", "butterfly"] {
        assert_eq!(
            refusal(&spec(name), &[6, 5]),
            format!(
                "{name} needs a power of two of nodes; 6x5 has 30: 8x4 (32) or 4x4 (16) would do"
            )
        );
    }
    for (spec, sizes, text) in [
        (
            spec("transpose"),
            &[8, 4][..],
            "transpose needs dimensions x and y of equal size; 8x4 has 8 and 4: 8x8 (64) or 4x4 \
             (16) would do",
        ),
        (
            spec("transpose"),
            &[4, 2, 2, 2],
            "transpose needs dimensions x and z of equal size; 4x2x2x2 has 4 and 2: 4x2x4x2 (64) \
             or 2x2x2x2 (16) would do",
        ),
        (
            spec("transpose"),
            &[8, 8, 8],
            "transpose needs an even number of dimensions (transpose-3d is for three equal ones); 8x8x8 has \
             3: 8x8x8x8 (4096) or 8x8 (64) would do",
        ),
        (
            spec("transpose-linear"),
            &[6, 5],
            "transpose-linear needs a square number of nodes; 6x5 has 30: 6x6 (36) or 5x5 (25) \
             would do",
        ),
        (
            spec("transpose-linear"),
            &[8, 8, 8],
            "transpose-linear needs a square number of nodes; 8x8x8 has 512: 9x8x8 (576) or 4x8x8 \
             (256) would do",
        ),
        (
            spec("transpose-linear"),
            &[1021, 3],
            "transpose-linear needs a square number of nodes; 1021x3 has 3063: 1021x1021 (1042441) \
             or 972x3 (2916) would do",
        ),
        (
            spec("transpose-3d"),
            &[8, 8, 4],
            "transpose-3d needs three dimensions of equal size; 8x8x4 has 8, 8 and 4: 8x8x8 (512) \
             or 4x4x4 (64) would do",
        ),
        (
            spec("transpose-3d"),
            &[8, 4],
            "transpose-3d needs three dimensions of equal size; 8x4 has 2 dimensions: 4x4x4 (64) \
             would do",
        ),
        (
            spec("tornado"),
            &[2, 2],
            "tornado sends nothing here: the partner of every node is itself or has failed",
        ),
    ] {
        assert_eq!(refusal(&spec, sizes), text);
    }
}

#[test]
fn refusals_name_what_is_wrong_in_a_list() {
    let refusal =
        |spec: PatternSpec| Pattern::new(&spec, &fabric(&[4, 4], &[6]), 1).unwrap_err().to_string();
    for ((name, keys), text) in [
        (("hotspot", "nodes = [6]\nshare = 0.5"), "all of hotspot's hot nodes have failed"),
        (
            ("hotspot", "nodes = [1, 16]\nshare = 0.5"),
            "hotspot names node 16, but the nodes are 0 to 15",
        ),
        (("matrix", "list = [[1, 20, 1.0]]"), "matrix names node 20, but the nodes are 0 to 15"),
        (
            ("matrix", "list = [[1, 6, 1.0]]"),
            "matrix sends nothing here: the partner of every node is itself or has failed",
        ),
        (("pairs", "list = [[16, 1]]"), "pairs names node 16, but the nodes are 0 to 15"),
    ] {
        assert_eq!(refusal(PatternSpec::new(name, keys)), text);
    }
}

/// A torus of switches.
fn switches(sizes: &[u32], terminals: u32) -> Fabric {
    let torus = SwitchedTorus { sizes: sizes.to_vec(), terminals, redundancy: 1 };
    torus.cabling().unwrap().fabric().unwrap()
}

#[test]
fn terminals_of_a_switch_are_nodes_of_their_own() {
    let fabric = switches(&[4, 2], 2);
    let bind = |spec: &PatternSpec| Pattern::new(spec, &fabric, 1);
    let images = |spec: &PatternSpec| -> Vec<u32> {
        let pattern = bind(spec).unwrap();
        (0..16).map(|source| pattern.partner(source, 0).unwrap_or(source)).collect()
    };
    assert_eq!(images(&spec("bit-complement")), (0..16).rev().collect::<Vec<_>>());
    assert_eq!(images(&spec("transpose-linear"))[..5], [0, 4, 8, 12, 1]);
    assert_eq!(bind(&spec("all-to-all")).unwrap().steps(), Some(15));
    let pairs = PatternSpec::new("pairs", "list = [[15, 14]]");
    assert_eq!(bind(&pairs).unwrap().destination(15, 0, &mut random()), Some(14), "same switch");
    assert_eq!(shares(&bind(&spec("uniform")).unwrap(), 3).len(), 15);
    for spec in [spec("tornado"), spec("neighbor"), spec("transpose")] {
        let refusal = bind(&spec).unwrap_err();
        assert_eq!(refusal, PatternError::NoCoordinates { pattern: spec.name() });
    }
}

#[test]
fn one_terminal_a_switch_has_the_switch_s_coordinates() {
    for spec in all_kinds() {
        let (switched, torus) = (switches(&[4, 4], 1), fabric(&[4, 4], &[]));
        let bound = [&switched, &torus].map(|fabric| Pattern::new(&spec, fabric, 1).unwrap());
        for source in 0..16 {
            assert_eq!(shares(&bound[0], source), shares(&bound[1], source), "{spec:?}");
        }
    }
}

#[test]
fn terminals_of_failed_switches_neither_send_nor_receive() {
    let fabric = switches(&[4, 2], 2).without(&[], &[3]);
    let pattern = Pattern::new(&spec("uniform"), &fabric, 1).unwrap();
    assert_eq!((pattern.rate(6), pattern.rate(8)), (0.0, 1.0));
    assert!(shares(&pattern, 0).keys().all(|node| ![6, 7].contains(node)));
}

#[test]
fn a_worst_case_is_known_beside_a_routing_alone() {
    let refused = |spec: &PatternSpec| {
        Pattern::new(spec, &fabric(&[4], &[]), 1).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refused(&spec("worst-case")), "worst-case is known beside a routing alone");
    let none = WorstCase::new(|_, _| Err("there are no ways".into()));
    let refused = refused(&spec("worst-case").beside(none));
    assert_eq!(refused, "worst-case is not known: there are no ways");
    let half = |pattern: &str| {
        let part = format!("[{{ weight = 1, pattern = \"{pattern}\" }}]");
        PatternSpec::new("mixture", &format!("patterns = {part}"))
    };
    let depend = [spec("worst-case"), half("worst-case"), half("uniform"), spec("uniform")];
    assert_eq!(depend.map(|it| it.depends_on_routing()), [true, true, false, false]);
}
