//! Points of the curves published with the OutFlank Routing paper (F. Versaci, ICPADS 2013), in its
//! author's units: all times a quarter of those of the paper's Table 1.

use flitlab::adaptive::Tie;
use flitlab::output_queued::{Measured, Parameters, Routing, Settings, simulate};
use flitlab::topology::Torus;
use flitlab::traffic::PatternSpec;

fn butterfly(routing: Routing, load: f64) -> Measured {
    run(PatternSpec::Butterfly, routing, load)
}

fn run(pattern: PatternSpec, routing: Routing, load: f64) -> Measured {
    let torus = Torus::new(&[8, 8, 8], &[]).unwrap();
    let settings = Settings { pattern, load, routing, tie: Tie::Plus, seed: 1 };
    let measured = simulate(&torus, &Parameters::FOUR_TIMES_FASTER, &settings).unwrap();
    assert_eq!(measured.packets, 512 * 32 * 96);
    measured
}

/// Mean lifetime in whole femtoseconds, rounded down.
fn lifetime(measured: &Measured) -> u64 {
    (measured.lifetime_sum / u128::from(measured.packets)) as u64
}

#[test]
fn adaptive_bubble_on_the_butterfly() {
    let expected = [
        (0.10, 6_275_736_378),
        (0.30, 6_875_900_554),
        (0.35, 7_598_758_259),
        (0.40, 8_155_901_526),
        (0.55, 13_802_050_072),
        (1.00, 59_333_933_293),
    ];
    for (load, expected) in expected {
        assert_eq!(lifetime(&butterfly(Routing::AdaptiveBubble, load)), expected, "{load}");
    }
}

#[test]
fn pick_orthant_on_the_butterfly() {
    let expected = [
        (0.10, 5_033_055_880, 477_696),
        (0.50, 5_063_408_300, 480_000),
        (0.55, 5_554_143_867, 484_224),
        (0.60, 7_216_427_264, 421_608),
        (0.75, 24_248_110_139, 319_360),
    ];
    for (load, expected, derouted) in expected {
        let measured = butterfly(Routing::PICK_ORTHANT_PUBLISHED, load);
        assert_eq!((lifetime(&measured), measured.derouted()), (expected, derouted), "{load}");
    }
}

#[test]
fn outflank_on_the_butterfly() {
    let expected = [
        (0.10, 5_021_364_241, 402_304, 172_672),
        (0.40, 5_021_753_150, 402_304, 172_672),
        (0.55, 5_434_738_864, 311_807, 225_232),
    ];
    for (load, expected, outflanked, wrapped_around) in expected {
        let measured = butterfly(Routing::OUTFLANK_PUBLISHED, load);
        let derouted = (measured.outflanked, measured.wrapped_around);
        assert_eq!(
            (lifetime(&measured), derouted),
            (expected, (outflanked, wrapped_around)),
            "{load}"
        );
    }
}

#[test]
fn outflank_on_bit_reverse() {
    let measured = run(PatternSpec::BitReverse, Routing::OUTFLANK_PUBLISHED, 0.10);
    assert_eq!((measured.outflanked, measured.wrapped_around), (63_104, 157_345));
    assert_eq!(lifetime(&measured), 4_863_768_902);
}

#[test]
fn the_published_scale_is_four_times_slower() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let settings = Settings {
        pattern: PatternSpec::Butterfly,
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
