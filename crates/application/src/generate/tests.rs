//! Tests of the parameters, and of the messages of benchmarks and motifs beside published counts.

use super::executor::carry_out;
use super::*;
use crate::{Action, Operation, check};
use flitlab_base::narrow::narrow;

fn npb(benchmark: &str, class: &str, ranks: u32, iterations: u32) -> Parameters {
    Parameters {
        benchmark: Some(benchmark.into()),
        class: Some(class.into()),
        ranks: Some(ranks),
        iterations: Some(iterations),
        ..Parameters::default()
    }
}

fn of_ranks(ranks: u32) -> Parameters {
    Parameters { ranks: Some(ranks), ..Parameters::default() }
}

/// Messages and bytes of those that are sent with sizes in a range.
fn sent(schedule: &Schedule, sizes: std::ops::RangeInclusive<u64>) -> (u64, u64) {
    let sends = schedule.operations().filter(|it| it.action == Action::Send);
    let sends = sends.filter(|it| sizes.contains(&it.amount));
    sends.fold((0, 0), |(count, bytes), it| (count + 1, bytes + it.amount))
}

fn computed(schedule: &Schedule) -> u64 {
    let computes = schedule.operations().filter(|it| it.action == Action::Compute);
    computes.map(|it| it.amount).sum()
}

#[test]
fn lu_sends_what_its_source_says() {
    // Class, ranks, messages of a step below and above 10 kB, their megabytes.
    for (class, ranks, small, small_mb, big, big_mb) in [
        ("C", 128, 74_240, 45.056, 464, 92.379),
        ("C", 32, 16_640, 20.48, 104, 41.990),
        ("A", 32, 6_448, 3.075, 104, 6.554),
        ("B", 32, 10_400, 8.0, 104, 16.646),
        ("A", 128, 28_768, 6.765, 464, 0.0),
        ("B", 128, 46_400, 17.6, 464, 0.0),
        ("D", 32, 42_224, 131.869, 104, 266.342),
        ("D", 128, 188_384, 290.111, 464, 585.953),
    ] {
        let schedule = make("npb", &npb("lu", class, ranks, 1)).unwrap();
        let (count, bytes) = sent(&schedule, 0..=10_000);
        assert_eq!(
            (count, (bytes as f64 / 1e3).round()),
            (small, small_mb * 1e3),
            "{class} {ranks}"
        );
        let (count, bytes) = sent(&schedule, 10_001..=u64::MAX);
        assert_eq!(count, big);
        let bytes = (bytes as f64 / 1e3).round();
        assert!(big_mb == 0.0 || bytes == big_mb * 1e3, "{class} {ranks}: {bytes}");
    }
    let schedule = make("npb", &npb("lu", "C", 32, 1)).unwrap();
    let sizes = |rank: u32| -> Vec<u64> {
        let numbers = schedule.of_rank(rank).map(|number| schedule.operation(number));
        let mut sizes: Vec<u64> =
            numbers.filter(|it| it.action == Action::Send).map(|it| it.amount).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    // A corner and a rank inside: north and south 1,560 to 1,640 B, east and west 760 to 840 B.
    assert_eq!(sizes(0), [800, 1_600, 272_160, 531_360]);
    assert_eq!(sizes(9), [840, 1_640, 272_160, 531_360]);
}

#[test]
fn mg_sends_what_its_source_says() {
    let messages =
        |iterations| sent(&make("npb", &npb("mg", "C", 128, iterations)).unwrap(), 0..=u64::MAX);
    let (one, two) = (messages(1), messages(2));
    // Exchanges of faces: 17,376 messages and 276.4 MB. Ranks that had nothing on levels 2 and 1
    // get 448 more.
    assert_eq!(two.0 - one.0, 17_376 + 448);
    assert!(((two.1 - one.1) as f64 / 1e6 - 276.4).abs() < 0.1, "{}", two.1 - one.1);
    let schedule = make("npb", &npb("mg", "C", 128, 1)).unwrap();
    for bytes in [65_536, 66_560, 135_200, 16_384, 16_896, 34_848, 1_152, 2_592, 800] {
        assert!(sent(&schedule, bytes..=bytes).0 >= 128, "{bytes}");
    }
}

#[test]
fn cg_sends_what_its_source_says() {
    // Halves of rows: 26 products of 4 exchanges and a transposition, in which 16 ranks have no
    // partner; dot products of 4 exchanges.
    let schedule = make("npb", &npb("cg", "C", 128, 1)).unwrap();
    let (messages, bytes) = sent(&schedule, 1_000..=u64::MAX);
    assert_eq!(messages, 128 * 26 * 4 + 112 * 26);
    assert_eq!(bytes, messages * 75_000);
    assert_eq!(sent(&schedule, 8..=8).0, 128 * 4 * (1 + 2 * 25 + 1));
    assert_eq!(sent(&schedule, 16..=16).0, 128 * 4);
    let schedule = make("npb", &npb("cg", "C", 32, 1)).unwrap();
    assert_eq!(sent(&schedule, 150_000..=150_000).0, 32 * 26 * 3 + 24 * 26);
}

#[test]
fn ft_and_is_send_what_their_sources_say() {
    for (class, ranks, bytes) in
        [("A", 32, 131_072), ("B", 32, 524_288), ("C", 32, 2_097_152), ("C", 128, 131_072)]
    {
        let schedule = make("npb", &npb("ft", class, ranks, 2)).unwrap();
        let pairs = u64::from(ranks) * u64::from(ranks - 1);
        assert_eq!(sent(&schedule, bytes..=bytes).0, 3 * pairs, "{class} {ranks}");
        assert_eq!(sent(&schedule, 16..=16).0, 2 * u64::from(ranks - 1));
    }
    let whole = Parameters { iterations: None, ..npb("ft", "C", 32, 1) };
    assert_eq!(sent(&make("npb", &whole).unwrap(), 2_097_152..=2_097_152).0, 21 * 32 * 31);
    for (class, ranks, bytes) in [("C", 128, 32_768), ("C", 32, 524_288)] {
        let schedule = make("npb", &npb("is", class, ranks, 3)).unwrap();
        let pairs = u64::from(ranks) * u64::from(ranks - 1);
        assert_eq!(sent(&schedule, bytes..=bytes).0, 3 * pairs, "{class} {ranks}");
    }
    // More ranks than planes: rows of 64 and columns of 2, a transposition in each.
    let schedule = make("npb", &npb("ft", "S", 128, 1)).unwrap();
    assert_eq!(sent(&schedule, 16_384..=16_384).0, 2 * 128);
    assert_eq!(sent(&schedule, 512..=512).0, 2 * 128 * 63);
}

#[test]
fn benchmarks_come_to_an_end_on_all_ranks_that_they_allow() {
    for benchmark in ["lu", "mg", "cg", "ft", "is"] {
        for ranks in [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512] {
            for library in ["mpich-3", "open-mpi-4.1"] {
                let parameters =
                    Parameters { algorithm: Some(library.into()), ..npb(benchmark, "S", ranks, 2) };
                match make("npb", &parameters) {
                    Ok(schedule) => {
                        carry_out(&schedule);
                        assert_eq!(check(&schedule), [], "{benchmark} {ranks}");
                    }
                    Err(error) => assert!(error.contains("; it does on "), "{error}"),
                }
            }
        }
    }
}

#[test]
fn computing_takes_as_long_as_the_counted_operations() {
    // Operations of the whole benchmark by what it counts, divided by 1 GFLOP/s: nanoseconds.
    let (lu, cg) = (162f64, 150_000f64);
    let z = 15.0 * 16.0;
    let n = 512f64.powi(3);
    for (benchmark, iterations, expected) in [
        ("lu", 2, 2.0 * (1984.77 * lu.powi(3) - 10923.3 * lu * lu + 27770.9 * lu - 144_010.0)),
        ("cg", 2, 2.0 * 2.0 * cg * (3.0 + z + 25.0 * (5.0 + z) + 3.0)),
        ("ft", 20, n * (14.8157 + 7.19641 * n.ln() + (5.23518 + 7.21113 * n.ln()) * 20.0)),
        ("is", 10, 10.0 * 2f64.powi(27)),
    ] {
        let parameters =
            Parameters { flops_per_second: Some(1e9), ..npb(benchmark, "C", 32, iterations) };
        let found = computed(&make("npb", &parameters).unwrap()) as f64;
        assert!((found / expected - 1.0).abs() < 1e-3, "{benchmark}: {found} {expected}");
    }
    let with = |iterations| {
        let rate = Some(1e9);
        let parameters = Parameters { flops_per_second: rate, ..npb("mg", "A", 8, iterations) };
        computed(&make("npb", &parameters).unwrap()) as f64
    };
    let expected = 58.0 * 256f64.powi(3);
    assert!(((with(2) - with(1)) / expected - 1.0).abs() < 1e-3);
    // Without a rate nothing is computed; what is left brings waits together.
    assert_eq!(computed(&make("npb", &npb("lu", "A", 8, 1)).unwrap()), 0);
}

#[test]
fn the_wavefront_of_lu_waits_plane_by_plane() {
    // 16 ranks in a grid of 4 by 4: the first plane takes 6 messages to the farthest corner and 6
    // back, the exchange 4.
    let parameters = Parameters { flops_per_second: Some(1e6), ..npb("lu", "A", 16, 1) };
    let carried = carry_out(&make("npb", &parameters).unwrap());
    assert_eq!(carried.rounds, 6 + 6 + 4);
    // The last of 62 planes is computed 6 planes later there than at a rank without waits, and so
    // on the way back.
    let own = (1984.77 * 64f64.powi(3) - 10923.3 * 64.0 * 64.0 + 27770.9 * 64.0 - 144_010.0) / 16.0;
    let (plane, rest) = (own * 0.4 / 62.0, own * 0.2);
    let expected = (2.0 * (62.0 + 6.0) * plane + rest) * 1e3;
    assert!((carried.busy as f64 / expected - 1.0).abs() < 1e-6, "{} {expected}", carried.busy);
}

#[test]
fn motifs_exchange_with_their_neighbors() {
    let parameters = Parameters {
        points: Some(vec![10, 20, 30]),
        grid: Some(vec![4, 3, 2]),
        iterations: Some(2),
        ..of_ranks(24)
    };
    let schedule = make("halo3d", &parameters).unwrap();
    carry_out(&schedule);
    let faces = [(20 * 30 * 8, 3 * 3 * 2), (10 * 30 * 8, 4 * 2 * 2), (10 * 20 * 8, 4 * 3)];
    for (bytes, pairs) in faces {
        assert_eq!(sent(&schedule, bytes..=bytes).0, 2 * 2 * pairs, "{bytes}");
    }
    let parameters = Parameters {
        points: Some(vec![30, 30, 30]),
        grid: Some(vec![4, 16]),
        block: Some(10),
        ..of_ranks(64)
    };
    let schedule = make("sweep3d", &parameters).unwrap();
    // Eight sweeps of three blocks over 3 x 16 and 4 x 15 neighbours.
    assert_eq!(
        sent(&schedule, 0..=u64::MAX),
        (8 * 3 * (48 + 60), 8 * 3 * (48 + 60) * 30 * 10 * 64)
    );
    carry_out(&schedule);
    let parameters =
        Parameters { points: Some(vec![64; 3]), grid: Some(vec![4, 8]), ..of_ranks(32) };
    let schedule = make("fft3d", &parameters).unwrap();
    carry_out(&schedule);
    let (_, bytes) = sent(&schedule, 2..=u64::MAX);
    // 33 x 64 x 64 complex numbers of 16 B: three quarters leave their row, seven eighths their
    // column, there and back.
    assert_eq!(bytes, 2 * 33 * 64 * 64 * 16 * (24 + 28) / 32);
}

#[test]
fn what_cannot_be_made_is_refused_in_words() {
    let message = |name: &str, parameters: Parameters| make(name, &parameters).unwrap_err();
    let bytes = |bytes| Parameters { bytes: Some(bytes), ..of_ranks(8) };
    for (name, parameters, expected) in [
        ("all-redcue", bytes(1), "there is no schedule `all-redcue`: did you mean `all-reduce`?"),
        ("x", bytes(1), "there is no schedule `x`: it is one of broadcast, reduce"),
        ("all-reduce", of_ranks(8), "all-reduce needs bytes"),
        ("all-reduce", bytes(0), "bytes have to be 1 or more"),
        ("all-reduce", bytes(u64::MAX), "bytes are 1 TiB at the most"),
        (
            "all-reduce",
            Parameters { bytes: Some(1), ..Parameters::default() },
            "the number of ranks is not given",
        ),
        (
            "all-reduce",
            Parameters { class: Some("A".into()), ..bytes(1) },
            "all-reduce has no class: it takes ranks, iterations, algorithm",
        ),
        (
            "all-reduce",
            Parameters { algorithm: Some("rign".into()), ..bytes(1) },
            "there is no algorithm of all-reduce `rign`: did you mean `ring`?",
        ),
        (
            "broadcast",
            Parameters { root: Some(8), ..bytes(1) },
            "there is no rank 8 that could be the root: 0 to 7",
        ),
        ("npb", of_ranks(8), "npb needs a benchmark: lu, mg, cg, ft, is"),
        ("npb", npb("lv", "A", 8, 1), "there is no benchmark `lv`: did you mean `lu`?"),
        ("npb", npb("lu", "F", 8, 1), "a class is S, W, A, B, C or D"),
        (
            "npb",
            npb("cg", "C", 100, 1),
            "CG runs on powers of two, not on 100; it does on 64 and 128",
        ),
        ("npb", npb("lu", "C", 7, 1), "not on 7; it does on 6 and 8"),
        ("npb", npb("ft", "C", 32, 21), "this class has 20 iterations, and 21 are asked for"),
        (
            "halo3d",
            Parameters { grid: Some(vec![2, 2, 3]), ..of_ranks(8) },
            "a grid of 2x2x3 has 12 ranks, not 8",
        ),
        (
            "halo3d",
            Parameters { points: Some(vec![2, 2]), ..of_ranks(8) },
            "points are 3 numbers, one a dimension",
        ),
        (
            "sweep3d",
            Parameters { block: Some(7), ..of_ranks(8) },
            "a block of 7 planes does not divide the 50 planes of a rank",
        ),
        (
            "halo3d",
            Parameters { flops_per_second: Some(0.0), ..of_ranks(8) },
            "flops_per_second has to be above zero",
        ),
    ] {
        let found = message(name, parameters);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn waits_meet_in_few_dependencies() {
    // Linear all-to-all twice: 62 operations meet in one, of which the next 62 wait.
    let parameters = Parameters { bytes: Some(8), iterations: Some(2), ..of_ranks(32) };
    let schedule = make("all-to-all", &parameters).unwrap();
    let edges: u32 =
        (0..narrow::<u32>(schedule.operations().len())).map(|it| schedule.waits(it)).sum();
    assert_eq!(edges, 32 * 3 * 62);
    assert_eq!(schedule.operation(62), &Operation { phase: 1, ..Operation::compute(0) });
}

#[test]
fn a_ping_pong_is_of_two_ranks_and_a_ring_of_all() {
    let parameters = Parameters { bytes: Some(5), iterations: Some(3), ..of_ranks(7) };
    let schedule = make("ping-pong", &parameters).unwrap();
    let carried = carry_out(&schedule);
    assert_eq!((carried.messages, carried.rounds), (6, 6));
    assert_eq!(carried.sent, [15, 15, 0, 0, 0, 0, 0]);
    let carried = carry_out(&make("ring", &parameters).unwrap());
    assert_eq!((carried.messages, carried.rounds), (21, 21));
    // The last one of an odd number has no partner; each computes a microsecond first.
    let schedule = make("all-ping-pong", &parameters).unwrap();
    let carried = carry_out(&schedule);
    assert_eq!((carried.messages, carried.busy), (18, 3000));
    assert_eq!(carried.sent, [15, 15, 15, 15, 15, 15, 0]);
    assert_eq!(schedule.of_rank(6).count(), 0);
    for (name, ranks) in [("ping-pong", 1), ("ring", 1)] {
        let error = make(name, &of_ranks(ranks)).unwrap_err();
        assert!(error.contains("at least 2 ranks"), "{error}");
    }
}

#[test]
fn a_halo_of_26_has_faces_edges_and_corners() {
    let parameters = Parameters {
        points: Some(vec![3, 5, 7]),
        grid: Some(vec![3, 3, 3]),
        fields: Some(2),
        compute_ns: Some(9.0),
        ..of_ranks(27)
    };
    let schedule = make("halo3d-26", &parameters).unwrap();
    carry_out(&schedule);
    // The one in the middle has all neighbours; a field of a point has 8 B.
    let middle = schedule.of_rank(13).map(|number| schedule.operation(number));
    let mut sizes: Vec<u64> = middle
        .filter(|it| it.action == Action::Send && it.tag == 0)
        .map(|it| it.amount / 16)
        .collect();
    sizes.sort_unstable();
    let mut expected = [vec![1; 8], vec![3; 4], vec![5; 4], vec![7; 4]].concat();
    expected.extend([15, 15, 21, 21, 35, 35]);
    assert_eq!(sizes, expected);
    // Pairs of neighbours along a line of three, with itself, are seven.
    let halo = schedule.operations().filter(|it| it.action == Action::Send && it.tag == 0);
    assert_eq!(halo.count(), 7 * 7 * 7 - 27);
    assert_eq!(computed(&schedule), 27 * 9);
}

#[test]
fn each_call_is_entered_and_left_and_a_collective_operation_is_one() {
    let calls = |name: &str, bytes, ranks, fini| {
        let call_ns = Some(30.0);
        let algorithm = (name != "ping-pong").then(|| "binary".into());
        let parameters = Parameters { bytes, call_ns, algorithm, fini, ..of_ranks(ranks) };
        make(name, &parameters).unwrap()
    };
    // A send and a receipt at either end.
    let schedule = calls("ping-pong", Some(1), 2, None);
    assert_eq!(computed(&schedule), 2 * 2 * 60);
    assert_eq!(computed(&calls("all-reduce", Some(8), 5, None)), 5 * 60);
    let schedule = calls("barrier", None, 5, Some(true));
    // Three calls, the barrier, and the one at the end, up and down a tree.
    assert_eq!(computed(&schedule), 5 * 5 * 60);
    assert_eq!(carry_out(&schedule).messages, 2 * (4 + 4));
    assert!(check(&schedule).is_empty());
    // Without a time there is nothing more in it.
    let plain = make("ping-pong", &Parameters { bytes: Some(1), ..of_ranks(2) }).unwrap();
    assert_eq!(plain.operations().len(), 4);
}

#[test]
fn trees_of_all_reduce_go_in_segments_unless_told_otherwise() {
    for algorithm in ["tree", "double-binary-tree"] {
        let of = |segment: Option<u64>| {
            let parameters = Parameters {
                ranks: Some(8),
                bytes: Some(1 << 20),
                algorithm: Some(algorithm.into()),
                segment,
                ..Parameters::default()
            };
            make("all-reduce", &parameters).unwrap()
        };
        assert!(of(None) == of(Some(64 << 10)), "{algorithm}");
        assert!(of(None) != of(Some(1 << 20)), "{algorithm}");
    }
}
