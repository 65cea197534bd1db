//! Each algorithm for many numbers of ranks: data reach whom they have to, in as many bytes and
//! rounds as closed forms say.

use super::tree::binomial_descendants;
use super::*;
use crate::generate::executor::{Carried, carry_out};
use crate::generate::program::of_ranks;
use crate::{Action, Schedule, check};
use flitlab_base::narrow::narrow;

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
        ("all-reduce", "tree" | "double-binary-tree") => (Some(2 * (p - 1) * bytes), None),
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
    let ranks = narrow::<u32>(carried.knows.len());
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
        let times = operations.filter(|it| it.action == Action::Compute);
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

/// Operations of ranks in nodes.
fn in_nodes(algorithm: &Algorithm, ranks: u32, each: u32, call: &Call) -> Schedule {
    let made = of_ranks(ranks, |program, rank| {
        let mut world = Communicator::world(ranks, rank).in_nodes_of(each);
        // Twice, so that tags that are not those of all ranks would be seen.
        algorithm.run(program, &mut world, call);
        algorithm.run(program, &mut world, call);
    });
    made.unwrap()
}

/// Bytes that all ranks send between nodes.
fn between_nodes(schedule: &Schedule, each: u32) -> u64 {
    let numbers = 0..narrow::<u32>(schedule.operations().len());
    let sends = numbers.filter_map(|number| {
        let operation = schedule.operation(number);
        let crosses = schedule.rank_of(number) / each != operation.peer / each;
        (operation.action == Action::Send && crosses).then_some(operation.amount)
    });
    sends.sum()
}

#[test]
fn between_nodes_goes_as_little_as_can_be() {
    let mut compared = 0;
    for collective in COLLECTIVES {
        let algorithm = collective.algorithm("hierarchical", 0, 0).unwrap();
        for (nodes, each) in [(2, 2), (3, 4), (8, 2), (5, 3), (4, 8), (12, 4)] {
            for (bytes, root) in [(1, 0), (7, 1), (96_000, 0), (96_000, nodes * each - 2)] {
                let ranks = nodes * each;
                let what = format!("{} of {nodes} x {each}, {bytes} B, {root}", collective.name);
                let call = Call { root, segment: Some(1_000), ..Call::of(bytes) };
                let schedule = in_nodes(algorithm, ranks, each, &call);
                let carried = carry_out(&schedule);
                assert_eq!(check(&schedule), [], "{what}");
                assert_reaches(&what, &carried, collective.name, root);
                let (n, p) = (u64::from(nodes), u64::from(ranks));
                let expected = match collective.name {
                    "broadcast" | "reduce" => (n - 1) * bytes,
                    "reduce-scatter" if bytes > 7 => (n - 1) * bytes,
                    "all-reduce" if bytes > 7 => 2 * (n - 1) * bytes,
                    "all-gather" => (n - 1) * p * bytes,
                    "all-to-all" => p * (p - u64::from(each)) * bytes,
                    _ => continue,
                };
                assert_eq!(between_nodes(&schedule, each), 2 * expected, "{what}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn members_that_nodes_have_unequally_many_of_are_on_one_level() {
    for (members, each, expected) in [
        (vec![0, 1, 2, 3, 4, 5, 6, 7], 4, Some(4)),
        (vec![0, 1, 2, 3, 4, 5, 6], 4, None),
        (vec![0, 4, 8, 12], 4, Some(1)),
        (vec![0, 4, 1, 5], 4, None),
        (vec![2, 3, 4, 5], 4, Some(2)),
        (vec![1, 2, 3, 4], 8, Some(4)),
    ] {
        let of = Communicator::of(members.clone(), 0, 2).in_nodes_of(each);
        assert_eq!(of.members_per_node(), expected, "{members:?}");
        let levels = expected.is_some_and(|each| each > 1 && (each as usize) < members.len());
        assert_eq!(of.levels().is_some(), levels, "{members:?}");
    }
    assert_eq!(Communicator::world(10, 3).in_nodes_of(4).members_per_node(), None);
}

#[test]
fn channels_share_the_bytes_and_begin_with_other_ranks() {
    let each = 4;
    for (name, algorithm) in [
        ("all-reduce", "ring"),
        ("all-reduce", "tree"),
        ("all-reduce", "double-binary-tree"),
        ("all-reduce", "hierarchical"),
        ("reduce-scatter", "ring"),
        ("all-gather", "ring"),
    ] {
        let what = format!("{name} {algorithm}");
        let algorithm = named(name).unwrap().algorithm(algorithm, 0, 0).unwrap();
        let of = |channels| {
            let call = Call { channels, segment: Some(4_096), ..Call::of(96_000) };
            in_nodes(algorithm, 12, each, &call)
        };
        let (one, four) = (of(1), of(4));
        assert_eq!(check(&four), [], "{what}");
        let (alone, carried) = (carry_out(&one), carry_out(&four));
        assert_reaches(&what, &carried, name, 0);
        assert_eq!(carried.sent.iter().sum::<u64>(), alone.sent.iter().sum::<u64>(), "{what}");
        assert_eq!(between_nodes(&four, each), between_nodes(&one, each), "{what}");
        // Each rank of a node sends to other nodes, and not one of them alone.
        let sends_out = |schedule: &Schedule| {
            let numbers = 0..narrow::<u32>(schedule.operations().len());
            let out = numbers.filter(|&number| {
                let operation = schedule.operation(number);
                operation.action == Action::Send
                    && schedule.rank_of(number) / each != operation.peer / each
            });
            let mut ranks: Vec<u32> = out.map(|number| schedule.rank_of(number)).collect();
            ranks.dedup();
            ranks.len()
        };
        if algorithm.name != "hierarchical" {
            assert_eq!((sends_out(&one), sends_out(&four)), (3, 12), "{what}");
        }
    }
}

#[test]
fn a_ring_in_segments_goes_around_as_often_as_segments_are() {
    let algorithm = all_reduce::ALL_REDUCE.algorithm("ring", 6, 60_000).unwrap();
    let call = Call { segment: Some(2_000), ..Call::of(60_000) };
    let carried = carry_out(&schedule(algorithm, 6, &call));
    assert_eq!(carried.messages, 6 * 2 * 5 * 5);
    assert_eq!(carried.sent.iter().sum::<u64>(), 2 * 5 * 60_000);
}
