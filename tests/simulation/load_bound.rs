//! Lower bounds of the load: against all choices of paths, against their own proof counted again,
//! and against what the algorithms reach.

use flitlab::tables::agnostic::{ALGORITHMS, Algorithm, Parameters};
use flitlab::tables::{ForwardingQuality, LoadBound, Paths};
use flitlab::topology::builders::{
    Dragonfly, GlobalCables, Kautz, RandomRegular, SwitchedTorus, Tree,
};
use flitlab::topology::{Cabling, Channel, Fabric};

/// Routers in a ring, joined by more cables, with so many terminals each.
fn ring(terminals: &[u32], chords: &[(u32, u32)]) -> Fabric {
    let mut cabling = Cabling::default();
    for (number, &count) in terminals.iter().enumerate() {
        let router = cabling.router(format!("S{number}"));
        for place in 0..count {
            cabling.terminal(format!("H{number}.{place}"), router);
        }
    }
    let routers = terminals.len() as u32;
    (0..routers).for_each(|router| cabling.cable(router, (router + 1) % routers));
    chords.iter().for_each(|&(one, other)| cabling.cable(one, other));
    cabling.fabric().unwrap()
}

/// All paths from one router to another that visit none twice.
fn paths(fabric: &Fabric, path: &mut Vec<Channel>, at: u32, end: u32) -> Vec<Vec<Channel>> {
    if at == end {
        return vec![path.clone()];
    }
    let mut found = Vec::new();
    for channel in fabric.outputs(at) {
        let Some(next) = fabric.target(channel) else { continue };
        if path.iter().any(|&other| fabric.source(other) == next) {
            continue;
        }
        path.push(channel);
        found.extend(paths(fabric, path, next, end));
        path.pop();
    }
    found
}

/// Whether paths can be chosen, one of each list, so that no channel is on more than `most`.
fn fits(pairs: &[Vec<Vec<Channel>>], loads: &mut [u64], most: u64) -> bool {
    let Some((pair, rest)) = pairs.split_first() else { return true };
    pair.iter().any(|path| {
        path.iter().for_each(|&channel| loads[channel as usize] += 1);
        let fit =
            path.iter().all(|&channel| loads[channel as usize] <= most) && fits(rest, loads, most);
        path.iter().for_each(|&channel| loads[channel as usize] -= 1);
        fit
    })
}

/// The least maximum load of any choice of paths, by trying them all.
fn least_maximum(fabric: &Fabric, kind: Paths) -> u64 {
    let ends: Vec<u32> =
        fabric.live_terminals().filter_map(|at| fabric.terminal_router(at)).collect();
    let mut pairs = Vec::new();
    for (place, &from) in ends.iter().enumerate() {
        for (other, &to) in ends.iter().enumerate() {
            if place == other || from == to {
                continue;
            }
            let mut all = paths(fabric, &mut Vec::new(), from, to);
            all.sort_by_key(Vec::len);
            let least = all[0].len();
            if kind == Paths::Minimal {
                all.retain(|path| path.len() == least);
            }
            pairs.push(all);
        }
    }
    let mut loads = vec![0; fabric.channel_slots() as usize];
    (0..).find(|&most| fits(&pairs, &mut loads, most)).expect("all on one channel")
}

#[test]
fn on_small_fabrics_the_bound_is_the_least_maximum_of_all_choices_of_paths() {
    let fabrics = [
        ring(&[1, 1, 1, 1], &[]),
        ring(&[1, 1, 1, 1], &[(0, 2)]),
        ring(&[2, 1, 0, 1], &[]),
        ring(&[2, 0, 2], &[(0, 2)]),
        ring(&[3, 2], &[]),
        ring(&[2, 1, 0, 0], &[(0, 1), (0, 2)]),
        ring(&[1, 0, 3, 0, 1], &[(1, 4)]),
    ];
    for (number, fabric) in fabrics.iter().enumerate() {
        for kind in [Paths::Minimal, Paths::Any] {
            let bound = LoadBound::new(fabric, kind).rounded();
            assert_eq!(bound, least_maximum(fabric, kind), "{number} {kind:?}");
        }
    }
}

/// The paths' lengths again, in another way (Floyd and Warshall).
#[test]
fn the_lengths_prove_the_bound() {
    let torus = SwitchedTorus { sizes: vec![3, 4], terminals: 2, redundancy: 2 };
    let random = RandomRegular { routers: 12, degree: 3, terminals: 2, seed: 5 };
    for cabling in [torus.cabling(), random.cabling()] {
        let fabric = cabling.unwrap().fabric().unwrap();
        for kind in [Paths::Minimal, Paths::Any] {
            let bound = LoadBound::new(&fabric, kind);
            let routers = fabric.routers() as usize;
            // Hops count above all where only shortest paths do.
            let weight = if kind == Paths::Minimal { 1 << 40 } else { 0 };
            let mut distance = vec![vec![u64::MAX / 4; routers]; routers];
            for router in 0..fabric.routers() {
                distance[router as usize][router as usize] = 0;
                for channel in fabric.outputs(router) {
                    let there = fabric.target(channel).unwrap() as usize;
                    let length = weight + u64::from(bound.lengths[channel as usize]);
                    let entry = &mut distance[router as usize][there];
                    *entry = length.min(*entry);
                }
            }
            for middle in 0..routers {
                for from in 0..routers {
                    for to in 0..routers {
                        let around = distance[from][middle] + distance[middle][to];
                        distance[from][to] = around.min(distance[from][to]);
                    }
                }
            }
            let lengths = distance
                .iter()
                .flatten()
                .map(|&length| u128::from(if weight > 0 { length % weight } else { length }) * 4);
            assert_eq!(lengths.sum::<u128>(), bound.paths, "{kind:?}");
            let all = bound.lengths.iter().map(|&length| u128::from(length)).sum::<u128>();
            assert_eq!(all, bound.channels, "{kind:?}");
        }
    }
}

#[test]
fn no_algorithm_is_below_the_bounds() {
    let fabrics = [
        SwitchedTorus { sizes: vec![4, 3], terminals: 2, redundancy: 2 }.cabling(),
        Tree { arity: 3, levels: 2, terminals: 4 }.cabling(),
        Kautz { degree: 2, length: 3, terminals: 2, redundancy: 1 }.cabling(),
        Dragonfly {
            routers: 4,
            terminals: 2,
            global: 2,
            groups: 5,
            cables: GlobalCables::default(),
        }
        .cabling(),
        RandomRegular { routers: 14, degree: 4, terminals: 3, seed: 1 }.cabling(),
        RandomRegular { routers: 20, degree: 3, terminals: 1, seed: 2 }.cabling(),
    ];
    let shortest = [
        Algorithm::MIN_HOP,
        Algorithm::SSSP,
        Algorithm::P2_SSSP,
        Algorithm::LASH,
        Algorithm::DFSSSP,
    ];
    for (number, cabling) in fabrics.into_iter().enumerate() {
        let fabric = cabling.unwrap().fabric().unwrap();
        let [any, minimal] =
            [Paths::Any, Paths::Minimal].map(|kind| LoadBound::new(&fabric, kind).rounded());
        for algorithm in ALGORITHMS {
            let name = algorithm.name;
            let Ok(made) = algorithm.generate(&fabric, &Parameters::default()) else {
                continue;
            };
            let maximum = ForwardingQuality::new(&fabric, &made.table).load.maximum as u64;
            assert!(maximum >= any, "{number} {name}: {maximum} < {any}");
            if shortest.contains(&algorithm) {
                assert!(maximum >= minimal, "{number} {name}: {maximum} < {minimal}");
            }
        }
    }
}
