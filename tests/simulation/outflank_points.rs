//! Points of the curves published with \[outflank\], in its author's units: all times a quarter of
//! those of Table 1.

use flitlab::adaptive::Tie;
use flitlab::output_queued::{Parameters, Routing, RunTotals, Settings, simulate};
use flitlab::topology::Torus;
use flitlab::traffic::PatternSpec;

fn run(pattern: PatternSpec, routing: Routing, load: f64) -> RunTotals {
    let torus = Torus::new(&[8, 8, 8], &[]).unwrap();
    let settings = Settings { pattern, load, routing, tie: Tie::Plus, seed: 1 };
    let measured = simulate(&torus, &Parameters::FOUR_TIMES_FASTER, &settings).unwrap();
    assert_eq!(measured.packets, 512 * 32 * 96);
    measured
}

/// Mean lifetime in whole femtoseconds, rounded down.
fn lifetime(measured: &RunTotals) -> u64 {
    (measured.lifetime_sum / u128::from(measured.packets)) as u64
}

/// Load, lifetime, and packets derouted by outflanking and wraparound nodes.
type Published = (f64, u64, (u64, u64));

fn assert_published(pattern: PatternSpec, routing: Routing, published: &[Published]) {
    for &(load, expected, derouted) in published {
        let measured = run(pattern.clone(), routing, load);
        assert_eq!(lifetime(&measured), expected, "{load}");
        assert_eq!((measured.outflanked, measured.wrapped_around), derouted, "{load}");
    }
}

/// The adaptive bubble router on the butterfly.
const BUBBLE: [Published; 6] = [
    (0.40, 8_155_901_526, (0, 0)),
    (0.10, 6_275_736_378, (0, 0)),
    (0.30, 6_875_900_554, (0, 0)),
    (0.35, 7_598_758_259, (0, 0)),
    (0.55, 13_802_050_072, (0, 0)),
    (1.00, 59_333_933_293, (0, 0)),
];

/// OutFlank Routing on the butterfly.
const OUTFLANK: [Published; 3] = [
    (0.40, 5_021_753_150, (402_304, 172_672)),
    (0.10, 5_021_364_241, (402_304, 172_672)),
    (0.55, 5_434_738_864, (311_807, 225_232)),
];

/// Pick Orthant Routing on the butterfly: load, lifetime, packets derouted.
const ORTHANT: [(f64, u64, u64); 5] = [
    (0.55, 5_554_143_867, 484_224),
    (0.10, 5_033_055_880, 477_696),
    (0.50, 5_063_408_300, 480_000),
    (0.60, 7_216_427_264, 421_608),
    (0.75, 24_248_110_139, 319_360),
];

fn assert_orthant(published: &[(f64, u64, u64)]) {
    for &(load, expected, derouted) in published {
        let measured =
            run(PatternSpec::new("butterfly", ""), Routing::PICK_ORTHANT_PUBLISHED, load);
        assert_eq!((lifetime(&measured), measured.derouted()), (expected, derouted), "{load}");
    }
}

#[test]
fn a_published_point_of_each_routing_is_met_to_the_last_digit() {
    assert_published(PatternSpec::new("butterfly", ""), Routing::AdaptiveBubble, &BUBBLE[..1]);
    assert_published(
        PatternSpec::new("butterfly", ""),
        Routing::OUTFLANK_PUBLISHED,
        &OUTFLANK[..1],
    );
    assert_orthant(&ORTHANT[..1]);
}

#[test]
#[ignore = "long: a quarter of a minute; all published points that are known to the last digit"]
fn all_published_points_are_met_to_the_last_digit() {
    assert_published(PatternSpec::new("butterfly", ""), Routing::AdaptiveBubble, &BUBBLE);
    assert_published(PatternSpec::new("butterfly", ""), Routing::OUTFLANK_PUBLISHED, &OUTFLANK);
    assert_orthant(&ORTHANT);
    let bit_reverse = [(0.10, 4_863_768_902, (63_104, 157_345))];
    assert_published(
        PatternSpec::new("bit-reverse", ""),
        Routing::OUTFLANK_PUBLISHED,
        &bit_reverse,
    );
}

#[test]
fn the_published_scale_is_four_times_slower() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let settings = Settings {
        pattern: PatternSpec::new("butterfly", ""),
        load: 0.5,
        routing: Routing::PICK_ORTHANT_PUBLISHED,
        tie: Tie::Plus,
        seed: 1,
    };
    let fast = simulate(&torus, &Parameters::FOUR_TIMES_FASTER, &settings).unwrap();
    let published = simulate(&torus, &Parameters::PUBLISHED, &settings).unwrap();
    assert_eq!(published.derouted(), fast.derouted());
    let ratio = published.mean_lifetime() / fast.mean_lifetime();
    assert!((ratio - 4.0).abs() < 1e-5, "{ratio}");
}
