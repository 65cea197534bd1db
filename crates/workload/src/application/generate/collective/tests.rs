//! Each algorithm for many numbers of ranks: data reach whom they have to, in as many bytes and
//! rounds as closed forms say.

use super::tree::binomial_descendants;
use super::*;
use crate::application::generate::executor::{Carried, carry_out};
use crate::application::generate::program::of_ranks;
use crate::application::{Schedule, check};

const RANKS: [u32; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33, 48];

fn schedule(algorithm: &Algorithm, ranks: u32, call: &Call) -> Schedule {
    let made = of_ranks(ranks, |program, rank| {
        algorithm.run(program, &mut Communicator::world(ranks, rank), call);
    });
    made.unwrap()
}

/// Messages one after the other in exchanges at all distances of a power of two, once or twice,
/// where those beyond give to the first ones before and take from them behind.
fn folded(ranks: u32, passes: u32) -> u32 {
    let power = 1 << ranks.ilog2();
    let beyond = |number: u32| u32::from(number < ranks - power);
    let mut rounds: Vec<u32> = (0..power).map(beyond).collect();
    for _ in 0..passes {
        let came = |to: u32| {
            let from = |from: u32| rounds[from as usize] + (from ^ to).count_ones();
            (0..power).map(from).max().unwrap()
        };
        rounds = (0..power).map(came).collect();
    }
    (0..power).map(|number| rounds[number as usize] + beyond(number)).max().unwrap()
}

/// Bytes that all ranks send together, and messages one after the other; where a formula is simple
/// enough.
fn expected(name: &str, algorithm: &str, ranks: u32, bytes: u64) -> (Option<u64>, Option<u32>) {
    let log = ranks.next_power_of_two().ilog2();
    let power = 1u64 << ranks.ilog2();
    let (p, pairs) = (u64::from(ranks), u64::from(ranks) - power);
    // Messages from the root to the last place: its bits.
    let depth = (0..ranks).map(u32::count_ones).max().unwrap_or(0);
    let folded = |passes: u32| Some(folded(ranks, passes));
    let subtrees: u64 = (1..ranks).map(|place| u64::from(binomial_descendants(place, ranks))).sum();
    let halved = (2 * pairs + power - 1) * bytes;
    match (name, algorithm) {
        ("broadcast" | "reduce", "binomial") => (Some((p - 1) * bytes), Some(depth)),
        ("broadcast" | "reduce", "linear") => (Some((p - 1) * bytes), Some(1)),
        ("broadcast" | "reduce", "chain" | "binary") => (Some((p - 1) * bytes), None),
        ("broadcast", "scatter-ring") => (None, Some(depth + ranks - 1)),

        ("all-reduce" | "barrier", "recursive-doubling") => {
            (Some((power * u64::from(ranks.ilog2()) + 2 * pairs) * bytes), folded(1))
        }
        ("all-reduce", "ring") if bytes / 8 >= p => {
            (Some(2 * (p - 1) * bytes), Some(2 * (ranks - 1)))
        }
        ("all-reduce", "rabenseifner") => (Some(halved + (power - 1) * bytes), folded(2)),
        ("all-reduce", "double-binary-tree") => (Some(2 * (p - 1) * bytes), None),
        ("all-reduce", "reduce-broadcast") | ("barrier", "tree") => {
            (Some(2 * (p - 1) * bytes), Some(2 * depth))
        }
        ("all-gather", "ring") => (Some(p * (p - 1) * bytes), Some(ranks - 1)),
        ("all-gather", "bruck") => (Some(p * (p - 1) * bytes), Some(log)),
        ("all-gather", "recursive-doubling") => (Some(p * (p - 1) * bytes), folded(1)),
        ("all-gather", "neighbor-exchange") => {
            let rounds = if ranks.is_multiple_of(2) { ranks / 2 } else { ranks - 1 };
            (Some(p * (p - 1) * bytes), Some(rounds))
        }
        ("reduce-scatter", "pairwise" | "ring") => (Some((p - 1) * bytes), Some(ranks - 1)),
        ("reduce-scatter", "recursive-halving") => (None, folded(1)),
        ("all-to-all", "linear") => (Some(p * (p - 1) * bytes), Some(1)),
        ("all-to-all", "pairwise" | "pairwise-xor") => (Some(p * (p - 1) * bytes), Some(ranks - 1)),
        ("all-to-all", "scattered") => (Some(p * (p - 1) * bytes), Some((ranks - 1).div_ceil(32))),
        ("all-to-all", "bruck") => {
            let hops: u64 = (1..ranks).map(|way| u64::from(way.count_ones())).sum();
            (Some(p * hops * bytes), Some(log))
        }
        ("gather" | "scatter", "binomial") => (Some(subtrees * bytes), Some(depth)),
        ("gather" | "scatter", "linear") => (Some((p - 1) * bytes), Some(1)),
        ("barrier", "dissemination") => (Some(p * u64::from(log) * bytes), Some(log)),
        ("barrier", "linear") => (Some(2 * (p - 1) * bytes), Some(2)),
        _ => (None, None),
    }
}

/// Whether a rank has to have got something of another one.
fn has_to_know(name: &str, rank: u32, of: u32, root: u32) -> bool {
    match name {
        "broadcast" | "scatter" => of == root,
        "reduce" | "gather" => rank == root,
        _ => true,
    }
}

fn assert_reaches(what: &str, carried: &Carried, name: &str, root: u32) {
    let ranks = carried.knows.len() as u32;
    for rank in 0..ranks {
        for of in (0..ranks).filter(|&of| has_to_know(name, rank, of, root)) {
            let knows = carried.knows[rank as usize] >> of & 1 == 1;
            assert!(knows, "{what}: nothing of rank {of} comes to rank {rank}");
        }
    }
}

#[test]
fn data_reach_whom_they_have_to_in_as_many_bytes_and_rounds_as_formulas_say() {
    let mut compared = 0;
    for collective in COLLECTIVES {
        for algorithm in collective.algorithms {
            for ranks in RANKS {
                for bytes in [1, 7, 1_000, 300_000] {
                    let root = if bytes == 7 { ranks / 2 } else { 0 };
                    let what =
                        format!("{} {}, {ranks} ranks, {bytes} B", collective.name, algorithm.name);
                    let schedule = schedule(algorithm, ranks, &Call { root, ..Call::of(bytes) });
                    let carried = carry_out(&schedule);
                    assert_eq!(check(&schedule), [], "{what}");
                    assert_reaches(&what, &carried, collective.name, root);
                    let (total, rounds) = expected(collective.name, algorithm.name, ranks, bytes);
                    if let Some(total) = total {
                        assert_eq!(carried.sent.iter().sum::<u64>(), total, "{what}");
                        compared += 1;
                    }
                    if let Some(rounds) = rounds {
                        assert_eq!(carried.rounds, rounds * u32::from(ranks > 1), "{what}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 3_000, "{compared}");
}

#[test]
fn every_rank_receives_no_more_than_it_lacks() {
    for algorithm in all_gather::ALL_GATHER.algorithms {
        for ranks in RANKS {
            let carried = carry_out(&schedule(algorithm, ranks, &Call::of(100)));
            let expected = vec![100 * u64::from(ranks - 1); ranks as usize];
            assert_eq!(carried.received, expected, "{} {ranks}", algorithm.name);
        }
    }
    for (algorithm, at) in [("pairwise", 0), ("ring", 1)] {
        let algorithm = reduce_scatter::REDUCE_SCATTER.algorithm(algorithm, 10, 1_000).unwrap();
        let carried = carry_out(&schedule(algorithm, 10, &Call::of(1_000)));
        assert_eq!(carried.received, [900; 10], "{at}");
    }
}

#[test]
fn segments_overlap() {
    // 16 segments through a chain of 9: eight hops of the first, then one each.
    for (collective, name) in [(&broadcast::BROADCAST, "chain"), (&reduce::REDUCE, "chain")] {
        let algorithm = collective.algorithm(name, 9, 1 << 20).unwrap();
        let schedule = schedule(algorithm, 9, &Call::of(1 << 20));
        assert_eq!(carry_out(&schedule).messages, 8 * 16);
        assert_eq!(carry_out(&schedule).rounds, 8);
    }
}

#[test]
fn combining_takes_time_only_if_that_is_said() {
    let algorithm = all_reduce::ALL_REDUCE.algorithm("recursive-doubling", 8, 1_000).unwrap();
    let computing = |combine_ns_per_byte: f64| {
        let call = Call { combine_ns_per_byte, ..Call::of(1_000) };
        let schedule = schedule(algorithm, 8, &call);
        let operations = schedule.operations();
        let times = operations.filter(|it| it.action == crate::application::Action::Compute);
        times.map(|it| it.amount).sum::<u64>()
    };
    assert_eq!(computing(0.0), 0);
    assert_eq!(computing(0.25), 8 * 3 * 250);
}

#[test]
fn libraries_choose_an_algorithm_for_all_ranks_and_bytes() {
    for collective in COLLECTIVES {
        for (library, _) in LIBRARIES {
            for ranks in (1..40).chain([64, 100, 128, 200, 256, 512, 1024, 3000, 5000, 100_000]) {
                for bytes in (0..40).map(|bit| 1u64 << bit) {
                    let found = collective.algorithm(library, ranks, bytes);
                    assert!(found.is_some(), "{library} {} {ranks} {bytes}", collective.name);
                }
            }
        }
    }
    let name = |collective: &str, library: &str, ranks, bytes| {
        named(collective).unwrap().algorithm(library, ranks, bytes).unwrap().name
    };
    for (collective, library, ranks, bytes, expected) in [
        ("all-reduce", "open-mpi-4.1", 100, 200_000, "recursive-doubling"),
        ("all-reduce", "open-mpi-4.1", 100, 300_000, "rabenseifner"),
        ("all-reduce", "open-mpi-4.1", 200, 1_000, "reduce-broadcast"),
        ("barrier", "open-mpi-4.1", 100, 1, "dissemination"),
        ("barrier", "open-mpi-4.1", 300, 1, "tree"),
        ("all-to-all", "open-mpi-4.1", 40, 100, "bruck"),
        ("all-to-all", "open-mpi-4.1", 200, 300_000, "pairwise"),
        ("all-reduce", "mpich-3", 100, 2_048, "recursive-doubling"),
        ("all-reduce", "mpich-3", 100, 2_049, "rabenseifner"),
        ("broadcast", "mpich-3", 7, 1 << 20, "binomial"),
        ("broadcast", "mpich-3", 64, 100_000, "scatter-recursive-doubling"),
        ("broadcast", "mpich-3", 63, 100_000, "scatter-ring"),
        ("all-to-all", "mpich-3", 128, 256, "bruck"),
        ("all-to-all", "mpich-3", 128, 32_768, "scattered"),
        ("all-to-all", "mpich-3", 128, 32_769, "pairwise-xor"),
    ] {
        assert_eq!(
            name(collective, library, ranks, bytes),
            expected,
            "{collective} {ranks} {bytes}"
        );
    }
}

#[test]
fn operations_of_communicators_with_common_members_keep_apart() {
    // Rows and columns of a grid, one after the other, without waiting for all.
    let made = of_ranks(12, |program, rank| {
        let row: Vec<u32> = (0..4).map(|place| rank / 4 * 4 + place).collect();
        let column: Vec<u32> = (0..3).map(|place| place * 4 + rank % 4).collect();
        let mut row = Communicator::of(row, rank % 4, 2);
        let mut column = Communicator::of(column, rank / 4, 3);
        for algorithm in all_reduce::ALL_REDUCE.algorithms {
            algorithm.run(program, &mut row, &Call::of(100));
            algorithm.run(program, &mut column, &Call::of(200));
        }
    });
    let carried = carry_out(&made.unwrap());
    assert_reaches("rows and columns", &carried, "all-reduce", 0);
}
