//! Every packet arrives, equal runs are equal, and what can be computed by hand comes out.

use super::*;
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_routing::adaptive::profit::{Average, IdleRatio, Weights};
use flitlab_routing::adaptive::{Midpoint, Nodes, OutFlank, Tie};
use flitlab_traffic::PatternSpec;

/// Pick Orthant Routing as \[outflank\] describes it.
const PICK_ORTHANT: Routing = Routing::PickOrthant(Weights {
    distance: 1.0,
    average: Average::Directions,
    idle: IdleRatio::CandidateIdle,
});

/// OutFlank Routing as \[outflank\] describes it.
const OUTFLANK: Routing = Routing::OutFlank {
    outflank: OutFlank { steps: 2, midpoint: Midpoint::Exact, nodes: Nodes::Example },
    wraparound: Midpoint::Exact,
    weights: Weights {
        distance: 2.0,
        average: Average::Directions,
        idle: IdleRatio::CandidateIdle,
    },
};

const ROUTINGS: [Routing; 5] = [
    Routing::AdaptiveBubble,
    PICK_ORTHANT,
    Routing::PICK_ORTHANT_PUBLISHED,
    OUTFLANK,
    Routing::OUTFLANK_PUBLISHED,
];

fn settings(pattern: PatternSpec, load: f64, routing: Routing, tie: Tie) -> Settings {
    Settings { pattern, load, routing, tie, seed: 7 }
}

#[test]
fn every_packet_arrives_and_equal_runs_are_equal() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let parameters = Parameters { messages: 6, ..Parameters::PUBLISHED };
    for routing in ROUTINGS {
        for tie in [Tie::Plus, Tie::Random] {
            let pattern = PatternSpec::new("uniform", "include_self = true");
            let settings = settings(pattern, 1.5, routing, tie);
            let one = simulate(&torus, &parameters, &settings).unwrap();
            assert_eq!(one.packets, 64 * 6 * 96);
            assert_eq!(one.derouted() > 0, routing != Routing::AdaptiveBubble);
            assert_eq!(Ok(one), simulate(&torus, &parameters, &settings));
        }
    }
}

#[test]
fn tori_of_other_dimensions_drain_too() {
    let parameters = Parameters { messages: 2, ..Parameters::PUBLISHED };
    for sizes in [&[16][..], &[5, 6], &[3, 4, 3, 4]] {
        let torus = Torus::new(sizes, &[]).unwrap();
        for routing in ROUTINGS {
            let settings = settings(PatternSpec::new("tornado", ""), 2.0, routing, Tie::Plus);
            let measured = simulate(&torus, &parameters, &settings).unwrap();
            assert_eq!(measured.packets, u64::from(torus.nodes()) * 2 * 96);
        }
    }
}

#[test]
fn a_lone_packet_by_hand() {
    let torus = Torus::new(&[8, 8, 8], &[]).unwrap();
    let parameters =
        Parameters { messages: 1, message_packets: 1, ..Parameters::FOUR_TIMES_FASTER };
    let settings =
        settings(PatternSpec::new("neighbor", ""), 1.0, Routing::AdaptiveBubble, Tie::Plus);
    let measured = simulate(&torus, &parameters, &settings).unwrap();
    // One clock tick, in by 16 + 20 ns, three links of 51.2 + 50 ns, out by 16 + 20 ns. In each
    // router but the last three neighbours' packets start at once, each way at most 1 ns behind an
    // answer.
    let least = 21_333_333 + 36_000_000 + 3 * 101_200_000 + 36_000_000;
    let mean = narrow::<u64>(measured.lifetime_sum / u128::from(measured.packets));
    assert!((least..least + 200_000_000).contains(&mean), "{mean} fs, at least {least}");
    assert_eq!(measured.hops, 3 * 512);
}

#[test]
fn what_is_out_of_range_is_refused() {
    let run = |sizes: &[u32], parameters: &Parameters, load| {
        let torus = Torus::new(sizes, &[]).unwrap();
        let settings =
            settings(PatternSpec::new("tornado", ""), load, Routing::AdaptiveBubble, Tie::Plus);
        simulate(&torus, parameters, &settings).unwrap_err().to_string()
    };
    let published = Parameters::PUBLISHED;
    assert!(run(&[4, 2], &published, 0.5).starts_with("dimension 1 is no ring"));
    assert!(run(&[4, 4], &published, f64::NAN).starts_with("the load"));
    let parameters = Parameters { capacity: 1, ..published };
    assert!(run(&[4, 4], &parameters, 0.5).starts_with("a queue has"));
}

#[test]
fn what_is_under_way_grows_past_saturation_only() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let growth = |load| {
        let settings = settings(
            PatternSpec::new("transpose-3d", ""),
            load,
            Routing::AdaptiveBubble,
            Tie::Plus,
        );
        simulate_with_growth(&torus, &Parameters::PUBLISHED, &settings, 0).unwrap().1
    };
    assert!(growth(0.1).abs() < 1e-3, "{}", growth(0.1));
    // At load 8 a node creates four times as many packets as its link to the router can take.
    assert!(growth(8.0) > 0.5, "{}", growth(8.0));
}

#[test]
fn a_limit_that_is_met_changes_nothing_and_one_that_is_not_gives_no_result() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let parameters = Parameters { messages: 4, ..Parameters::PUBLISHED };
    for routing in ROUTINGS {
        for load in [0.2, 2.0] {
            let settings = settings(PatternSpec::new("transpose-3d", ""), load, routing, Tie::Plus);
            let free = simulate(&torus, &parameters, &settings).unwrap();
            let within = |limit| simulate_within(&torus, &parameters, &settings, limit).unwrap();
            assert_eq!(within(free.lifetime_sum), Some(free));
            assert_eq!(within(free.lifetime_sum - 1), None);
            assert_eq!(within(free.lifetime_sum / 2), None);
        }
    }
}

#[test]
fn rates_and_latencies_at_the_ends_of_their_ranges_drain_too() {
    let torus = Torus::new(&[4, 3], &[]).unwrap();
    let [fast, slow] = [Rate(100_000_000_000_000), Rate(1_000_000)];
    let few = Parameters { messages: 3, message_packets: 2, ..Parameters::PUBLISHED };
    let none = Picoseconds::ZERO;
    let quick = Parameters {
        packet: Bytes(1),
        answer: Bytes(1),
        external_rate: fast,
        internal_rate: fast,
        external_latency: none,
        internal_latency: none,
        injection_rate: 1e3,
        ..few
    };
    let far = Picoseconds(499_000_000);
    let far =
        Parameters { external_rate: fast, external_latency: far, internal_latency: far, ..few };
    let slow = Parameters { external_rate: slow, internal_rate: slow, injection_rate: 0.01, ..few };
    for parameters in [quick, far, slow] {
        for routing in ROUTINGS {
            let pattern = PatternSpec::new("tornado", "");
            let settings = settings(pattern, 1.0, routing, Tie::Random);
            let measured = simulate(&torus, &parameters, &settings).unwrap();
            assert_eq!(measured.packets, 12 * 3 * 2, "{parameters:?}");
            assert!((measured.end as f64) < longest_run(&parameters, &torus, 1.0) + 1e12);
        }
    }
    let settings = settings(PatternSpec::new("tornado", ""), 1e-6, ROUTINGS[0], Tie::Plus);
    for messages in [10_000, 100_000_000] {
        let long = Parameters { messages, ..slow };
        let refused = simulate(&torus, &long, &settings).unwrap_err().to_string();
        assert!(refused.starts_with("a run of all these packets"), "{refused}");
    }
}

#[test]
fn what_is_measured_packet_by_packet_adds_up_to_the_totals() {
    let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
    let parameters = Parameters { messages: 5, ..Parameters::PUBLISHED };
    for routing in ROUTINGS {
        let settings = settings(PatternSpec::new("transpose-3d", ""), 0.9, routing, Tie::Random);
        let totals = simulate(&torus, &parameters, &settings).unwrap();
        let keep = Keep { order: true, log: None };
        let measured = measure(&torus, &parameters, &settings, keep, &mut |_| {}).unwrap();
        assert_eq!(measured.totals, totals);
        let total = measured.collector.total;
        assert_eq!((total.packets, total.hops), (totals.packets, totals.hops));
        let derouted = [totals.outflanked, totals.wrapped_around, totals.other_orthant, 0, 0];
        assert_eq!(total.derouted, derouted);
        // Each lifetime is rounded to a picosecond.
        let apart = total.latency.abs_diff(totals.lifetime_sum / 1000);
        assert!(apart <= u128::from(totals.packets), "{apart}");
        let packets: u64 = measured.windows.iter().map(|window| window.packets).sum();
        assert_eq!((packets, measured.windows.len()), (totals.packets, 5));
        assert_eq!(measured.sent.iter().map(|it| it[0]).sum::<u64>(), totals.hops + totals.refused);
        let growth = measured.growth().unwrap();
        let with_growth = |limit| simulate_with_growth(&torus, &parameters, &settings, limit);
        assert_eq!(with_growth(u128::MAX), Ok((Some(totals), growth)));
        assert_eq!(with_growth(totals.lifetime_sum - 1), Ok((None, growth)));
    }
}
