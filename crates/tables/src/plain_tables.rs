//! Tables, loads and proofs as they are kept and counted, against the plain way: pair by pair and hop
//! by hop.

use std::collections::BTreeSet;

use crate::angara::{ALGORITHMS, Algorithm, Choices, Freedoms, Parameters, searched};
use crate::{Quality, Region, prove, test_fabric};
use flitlab_fabric::{Channel, Fabric, Faults, Torus};
use flitlab_routing::RouteTable;

/// Whole tori, a mesh, some failures, and a node set; each with all freedoms.
fn for_each_case(mut each: impl FnMut(&Fabric, Freedoms)) {
    let part = Faults { outside: vec![0, 5], nodes: vec![9], ..Faults::default() };
    let fabrics = [
        test_fabric(&[4, 5], &[]),
        test_fabric(&[3, 2, 4], &[]),
        test_fabric(&[4, 2, 2, 2], &[]),
        test_fabric(&[3, 1, 4], &[]),
        test_fabric(&[4, 4], &[(0, 0), (0, 1), (6, 0)]),
        test_fabric(&[3, 2, 3], &[(0, 0), (7, 2)]),
        Torus::new(&[4, 3], &[0, 1]).unwrap().fabric(&Faults::default()).unwrap(),
        Torus::new(&[4, 3, 2], &[1]).unwrap().fabric(&Faults::default()).unwrap(),
        Torus::new(&[5, 4], &[]).unwrap().fabric(&part).unwrap(),
    ];
    for fabric in &fabrics {
        for (first_and_last_steps, relaxation) in [(false, false), (true, false), (true, true)] {
            each(fabric, Freedoms { first_and_last_steps, relaxation });
        }
    }
}

/// The channels of every route of a table, each with its share.
fn ways(fabric: &Fabric, table: &RouteTable) -> Vec<(Vec<Channel>, f64)> {
    let nodes = 0..fabric.routers();
    let pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
    let mut ways = Vec::new();
    for (from, to) in pairs.filter(|&(from, to)| table.header(from, to).is_some()) {
        table.for_each_route(fabric, (from, to), |route, share| {
            let mut way = Vec::new();
            route.for_each_channel(fabric, from, |channel| way.push(channel));
            ways.push((way, share));
        });
    }
    ways
}

#[test]
fn the_routes_of_a_menu_are_those_that_a_search_of_the_pair_finds() {
    for_each_case(|fabric, freedoms| {
        let choices = Choices::new(Region::new(fabric), freedoms);
        let region = choices.region();
        let (mut pairs, mut unroutable) = (0, Vec::new());
        for (from, to, routes) in searched(region, freedoms) {
            let Some(pair) = choices.pair(from, to) else {
                assert!(routes.is_empty());
                unroutable.push((from, to));
                continue;
            };
            pairs += 1;
            assert_eq!((pair.source, pair.destination), (from, to));
            let listed = (0..pair.routes()).map(|number| {
                (choices.header(&pair, number), choices.channels(&pair, number).collect())
            });
            let walked = routes.iter().map(|(header, route)| {
                let mut way: Vec<Channel> = Vec::new();
                route.for_each_channel(fabric, from, |channel| way.push(channel));
                (*header, way)
            });
            assert_eq!(listed.collect::<Vec<_>>(), walked.collect::<Vec<_>>());
        }
        assert_eq!((choices.routable(), &choices.unroutable), (pairs, &unroutable));
    });
}

#[test]
fn loads_and_dependencies_of_every_algorithm_are_those_counted_hop_by_hop() {
    for_each_case(|fabric, freedoms| {
        let choices = Choices::new(Region::new(fabric), freedoms);
        for algorithm in ALGORITHMS {
            let parameters = Parameters { freedoms, ..Parameters::default() };
            let Ok(made) = (algorithm.table)(&choices, &parameters, 1) else { continue };
            let mut loads = vec![0.0; fabric.channel_slots() as usize];
            let (mut dependencies, mut hops) = (BTreeSet::new(), 0);
            for (way, share) in ways(fabric, &made.table) {
                way.iter().for_each(|&channel| loads[channel as usize] += share);
                dependencies.extend(way.windows(2).map(|pair| (pair[0], pair[1])));
                hops += way.len();
            }
            let quality = Quality::new(choices.region(), &made.table);
            let text = format!("{algorithm:?} {freedoms:?} {:?}", fabric.torus());
            for &(channel, load) in &quality.loads {
                let counted = loads[channel as usize];
                match made.table.has_several() {
                    true => assert!((load - counted).abs() < 1e-9, "{text}"),
                    false => assert_eq!(load.to_bits(), counted.to_bits(), "{text}"),
                }
            }
            if !made.table.has_several() {
                assert_eq!((quality.hops_mean * quality.routed as f64).round(), hops as f64);
            }
            let proof = prove(fabric, &made.table);
            assert_eq!(proof.dependencies, dependencies.len() as u64, "{text}");
            assert_eq!(proof.flaws.len(), choices.unroutable.len(), "{text}");
        }
    });
}

#[test]
fn a_table_by_offset_is_the_one_pair_by_pair() {
    let fabric = test_fabric(&[4, 6, 2], &[]);
    let choices = Choices::new(Region::new(&fabric), Freedoms::default());
    let table = || (Algorithm::DIRECTION_ORDER.table)(&choices, &Parameters::default(), 1).unwrap();
    let by_offset = table().table;
    let mut by_pair = RouteTable::empty(&fabric);
    for pair in choices.pairs() {
        let header = by_offset.header(pair.source, pair.destination).unwrap();
        by_pair.set(pair.source, pair.destination, header);
    }
    assert_eq!(by_offset, by_pair);
    // A table that is changed is kept pair by pair from then on.
    let mut changed = table().table;
    let (from, to) = (0, 1);
    changed.set(from, to, by_offset.header(0, 4).unwrap());
    assert_ne!(changed, by_offset);
    changed.set(from, to, by_offset.header(0, 1).unwrap());
    assert_eq!(changed, by_offset);
}
