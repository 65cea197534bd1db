//! Selections on small fabrics by hand, against plain lists of paths, and what holds for all of
//! them.

use std::cmp::Reverse;

use super::*;
use crate::relation_rules::{RelationParameters, RelationRule, udwm};
use crate::test_fabric;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::builders::{RandomRegular, Tree};
use flitlab_fabric::{Cabling, Channel};

fn random_fabric(routers: u32, seed: u64) -> Fabric {
    let graph = RandomRegular { routers, degree: 4, terminals: 4, seed };
    graph.cabling().unwrap().fabric().unwrap()
}

fn relation(fabric: &Fabric, rule: Row<RelationRule>, vcs: u8) -> Relation {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    rule.relation(fabric, &parameters).unwrap()
}

/// (channel, virtual channel) of a path.
type Places = Vec<(Channel, u8)>;

/// All paths of a pair, found hop by hop.
fn all_paths(fabric: &Fabric, relation: &Relation, source: u32, destination: u32) -> Vec<Places> {
    let mut found = Vec::new();
    let mut open: Vec<(u32, u32, Places)> = vec![(relation.injected(source), source, Vec::new())];
    while let Some((state, at, way)) = open.pop() {
        if at == destination {
            found.push(way);
            continue;
        }
        for hop in relation.hops(state, destination) {
            let channel = fabric.outputs(at).start + u32::from(hop.port);
            let mut way = way.clone();
            way.push((channel, hop.vc));
            open.push((relation.arrived(channel, hop.vc), fabric.target(channel).unwrap(), way));
        }
    }
    // As candidates are numbered: by physical route, then by virtual channels.
    let key = |way: &Places| -> (Vec<Channel>, Vec<u8>) { way.iter().copied().unzip() };
    found.sort_by_key(key);
    found
}

fn pairs(fabric: &Fabric) -> Vec<(u32, u32)> {
    let routers = fabric.routers();
    let terminals = fabric.terminals_by_router();
    let ends: Vec<u32> = (0..routers).filter(|&at| !terminals[at as usize].is_empty()).collect();
    let others = |&source: &u32| {
        let others = ends.iter().filter(move |&&other| other != source);
        others.map(move |&other| (source, other)).collect::<Vec<_>>()
    };
    ends.iter().flat_map(others).collect()
}

fn places(fabric: &Fabric, source: u32, path: &[Hop]) -> Places {
    let mut at = source;
    let step = |hop: &Hop| {
        let channel = fabric.outputs(at).start + u32::from(hop.port);
        at = fabric.target(channel).unwrap();
        (channel, hop.vc)
    };
    path.iter().map(step).collect()
}

/// Pairs across each channel.
fn loads(fabric: &Fabric, paths: &PathSet) -> Vec<u64> {
    let mut loads = vec![0; fabric.channel_slots() as usize];
    for (source, destination) in pairs(fabric) {
        for (channel, _) in places(fabric, source, paths.paths(source, destination).next().unwrap())
        {
            loads[channel as usize] += 1;
        }
    }
    loads
}

/// Switches a to e of \[path-selection\], Figure 1.
fn figure_1() -> Fabric {
    let mut cabling = Cabling::default();
    "abcde".chars().for_each(|name| {
        cabling.router(name);
    });
    for (one, other) in [(0, 1), (0, 2), (1, 4), (2, 4), (1, 3)] {
        cabling.cable(one, other);
    }
    for router in 0..5 {
        cabling.terminal(format!("H{router}"), router);
    }
    cabling.fabric().unwrap()
}

#[test]
fn figure_1_has_the_papers_counters_and_selections() {
    let fabric = figure_1();
    let up_down = relation(&fabric, RelationRule::UP_DOWN, 1);
    let parameters = SelectionParameters::default();
    let task = SelectionTask { fabric: &fabric, relation: &up_down, parameters };
    let counters = task.counters().unwrap();
    let from_a_to_c = fabric.outputs(0).start + 1;
    assert_eq!(counters.value(from_a_to_c, 0), 4);
    for selection in PATH_SELECTIONS {
        let paths = selection.paths(&fabric, &up_down, parameters).unwrap();
        let first = |source, destination| paths.paths(source, destination).next().unwrap()[0].port;
        // By b or c, whose ports have these numbers at a and at e.
        match selection.name {
            "random" | "random-port-order" => {}
            // Router 4 is even, and so is router 0.
            "low-port" | "by-destination" => assert_eq!((first(0, 4), first(4, 0)), (0, 0)),
            name => assert_eq!((first(0, 4), first(4, 0)), (1, 1), "{name}"),
        }
    }
}

#[test]
fn an_order_of_ports_is_one_decision_a_router() {
    let fabric = test_fabric(&[4, 4], &[]);
    let minimal = relation(&fabric, RelationRule::UP_DOWN, 1);
    let ports = |seed| {
        let parameters = SelectionParameters { seed, ..SelectionParameters::default() };
        let paths = PathSelection::PORT_ORDER.paths(&fabric, &minimal, parameters).unwrap();
        let task = SelectionTask { fabric: &fabric, relation: &minimal, parameters };
        // Of two ports that are offered together one is preferred, whatever the pair.
        let mut preferred = std::collections::BTreeSet::new();
        for source in 0..16 {
            for destination in (0..16).filter(|&destination| destination != source) {
                let (mut at, mut state) = (source, task.relation.injected(source));
                for hop in paths.paths(source, destination).next().unwrap() {
                    let offered = task.relation.hops(state, destination);
                    for other in offered.iter().filter(|other| other.port != hop.port) {
                        preferred.insert((at, hop.port, other.port));
                        assert!(!preferred.contains(&(at, other.port, hop.port)));
                    }
                    let channel = fabric.outputs(at).start + u32::from(hop.port);
                    (at, state) =
                        (fabric.target(channel).unwrap(), minimal.arrived(channel, hop.vc));
                }
            }
        }
        preferred
    };
    assert!(ports(1).len() > 16, "many routers have a choice");
    assert_ne!(ports(1), ports(2));
}

#[test]
fn counters_are_those_of_lists_of_all_paths() {
    let parameters = RelationParameters { vcs: 3, ..RelationParameters::default() };
    for fabric in [random_fabric(9, 1), test_fabric(&[4, 3], &[]), figure_1()] {
        for relation in [
            relation(&fabric, RelationRule::UP_DOWN, 3),
            udwm(&fabric, &parameters, true).unwrap(),
            udwm(&fabric, &parameters, false).unwrap(),
        ] {
            let mut expected = vec![0u128; fabric.channel_slots() as usize * 3];
            let candidates = Candidates::new(&fabric, &relation).unwrap();
            let list = candidates.listed().unwrap();
            let mut bundles = 0..;
            for (pair, (source, destination)) in candidates.pairs.iter().zip(pairs(&fabric)) {
                let all = all_paths(&fabric, &relation, source, destination);
                let counts = (pair.first..pair.last).map(|at| candidates.count(at).unwrap());
                assert_eq!(counts.sum::<u128>(), all.len() as u128);
                let mut numbered = (pair.first..pair.last).flat_map(|bundle| {
                    let count = candidates.count(bundle).unwrap();
                    (0..count).map(move |number| (bundle, number))
                });
                for path in all {
                    let (bundle, number) = numbered.next().unwrap();
                    let same = candidates.path(&fabric, bundle, number);
                    assert_eq!(places(&fabric, source, &same), path);
                    let listed = list.path(&fabric, bundles.next().unwrap(), 0);
                    assert_eq!(listed, same);
                    for (channel, vc) in path {
                        expected[channel as usize * 3 + usize::from(vc)] += 1;
                    }
                }
            }
            let counters = Counters::new(candidates, VcChoices::Distinct, Ties::Lowest).unwrap();
            for (place, &paths) in expected.iter().enumerate() {
                assert_eq!(
                    counters.value(narrow::<u32>(place / 3), narrow::<u8>(place % 3)),
                    paths
                );
            }
        }
    }
}

#[test]
fn shared_choices_of_virtual_channels_count_as_one_path_together() {
    let fabric = random_fabric(9, 1);
    let [one, three] = [1, 3].map(|vcs| relation(&fabric, RelationRule::UP_DOWN, vcs));
    let values = |relation: &Relation, channel: Channel| {
        let candidates = Candidates::new(&fabric, relation).unwrap();
        let counters = Counters::new(candidates, VcChoices::Shared, Ties::Lowest).unwrap();
        (0..relation.vcs()).map(|vc| counters.value(channel, vc)).collect::<Vec<_>>()
    };
    for channel in [0, 5, 12, 33] {
        let (all, parts) = (values(&one, channel)[0], values(&three, channel));
        assert_eq!(parts, [all / 3; 3]);
    }
}

/// How the selections of \[path-selection\] are told apart: by fullest or emptiest, virtual or
/// physical channel.
fn plainly(fabric: &Fabric, relation: &Relation, high: bool, physical: bool) -> Vec<Places> {
    let vcs = usize::from(relation.vcs());
    let mut left: Vec<Vec<Places>> = pairs(fabric)
        .iter()
        .map(|&(source, destination)| all_paths(fabric, relation, source, destination))
        .collect();
    loop {
        let mut counts = vec![0usize; fabric.channel_slots() as usize * vcs];
        let mut open = vec![false; counts.len()];
        for paths in &left {
            for &(channel, vc) in paths.iter().flatten() {
                let place = channel as usize * vcs + usize::from(vc);
                counts[place] += 1;
                open[place] |= paths.len() > 1;
            }
        }
        let sum = |place: usize| -> usize {
            let first = place / vcs * vcs;
            counts[first..first + vcs].iter().sum()
        };
        let key = |&place: &usize| (if physical { sum(place) } else { 0 }, counts[place]);
        let candidates = (0..counts.len()).filter(|&place| open[place]);
        let place = if high {
            // A physical channel before its virtual ones, of equals the lowest.
            let key = |place: &usize| (key(place).0, Reverse(place / vcs), key(place).1);
            let key = |place: &usize| {
                let (sum, channel, count) = key(place);
                (sum, if physical { channel } else { Reverse(0) }, count, Reverse(*place))
            };
            candidates.max_by_key(key)
        } else {
            let key = |place: &usize| {
                (key(place).0, if physical { place / vcs } else { 0 }, key(place).1, *place)
            };
            candidates.min_by_key(key)
        };
        let Some(place) = place else {
            return left.into_iter().map(|mut paths| paths.remove(0)).collect();
        };
        let here = (narrow::<Channel>(place / vcs), narrow::<u8>(place % vcs));
        let crossing = left.iter().enumerate().filter(|(_, paths)| paths.len() > 1);
        let crossing = crossing.flat_map(|(pair, paths)| {
            let own = paths.iter().enumerate().filter(|(_, path)| path.contains(&here));
            own.map(move |(number, path)| (pair, number, path))
        });
        if high {
            let (pair, number, _) = crossing
                .max_by_key(|&(pair, number, _)| (left[pair].len(), Reverse((pair, number))))
                .unwrap();
            left[pair].remove(number);
        } else {
            let least = |path: &Places| {
                let others = path.iter().filter(|&&other| other != here);
                let counts =
                    others.map(|&(channel, vc)| counts[channel as usize * vcs + usize::from(vc)]);
                counts.min().unwrap_or(usize::MAX)
            };
            let (pair, number, _) =
                crossing.min_by_key(|&(pair, number, path)| (least(path), pair, number)).unwrap();
            left[pair] = vec![left[pair][number].clone()];
        }
    }
}

#[test]
fn each_selection_goes_step_by_step_as_the_paper_says() {
    let cases = [
        (PathSelection::TRAFFIC_BALANCING, true, false),
        (PathSelection::HIGH_PHYSICAL, true, true),
        (PathSelection::LOW_VIRTUAL, false, false),
        (PathSelection::LOW_PHYSICAL, false, true),
    ];
    for (fabric, vcs) in [
        (random_fabric(12, 1), 1),
        (test_fabric(&[4, 4], &[]), 1),
        (random_fabric(8, 2), 2),
        (figure_1(), 3),
    ] {
        for rule in [RelationRule::UP_DOWN, RelationRule::UDWM] {
            let relation = relation(&fabric, rule, vcs);
            for (selection, high, physical) in cases {
                let parameters = SelectionParameters { singly: true, ..Default::default() };
                let paths = selection.paths(&fabric, &relation, parameters).unwrap();
                let expected = plainly(&fabric, &relation, high, physical);
                for ((source, destination), expected) in pairs(&fabric).into_iter().zip(expected) {
                    let path = paths.paths(source, destination).next().unwrap();
                    let name = (selection.name, rule.name, vcs);
                    assert_eq!(places(&fabric, source, path), expected, "{name:?}");
                }
                if vcs == 1 {
                    let together = SelectionParameters::default();
                    assert_eq!(selection.paths(&fabric, &relation, together).unwrap(), paths);
                }
            }
        }
    }
}

#[test]
fn what_is_selected_is_one_way_of_the_relation_for_each_pair() {
    let tree = Tree { arity: 3, levels: 2, terminals: 2 };
    let tree = tree.cabling().unwrap().fabric().unwrap();
    for (fabric, rule, vcs) in [
        (&random_fabric(16, 1), RelationRule::UDWM, 5),
        (&random_fabric(16, 2), RelationRule::LEFT_RIGHT, 16),
        (&test_fabric(&[4, 4], &[(3, 1)]), RelationRule::UP_DOWN, 2),
        (&tree, RelationRule::MINIMAL, 1),
    ] {
        let relation = relation(fabric, rule, vcs);
        for selection in PATH_SELECTIONS {
            for choices in [VcChoices::Distinct, VcChoices::Shared] {
                for ties in [Ties::Lowest, Ties::Highest, Ties::Drawn(7)] {
                    let parameters = SelectionParameters { choices, ties, ..Default::default() };
                    let paths = selection.paths(fabric, &relation, parameters).unwrap();
                    for (source, destination) in pairs(fabric) {
                        let own: Vec<_> = paths.paths(source, destination).collect();
                        assert_eq!(own.len(), 1, "{}", selection.name);
                        let (mut at, mut state) = (source, relation.injected(source));
                        for hop in own[0] {
                            assert!(relation.hops(state, destination).contains(hop));
                            let channel = fabric.outputs(at).start + u32::from(hop.port);
                            state = relation.arrived(channel, hop.vc);
                            at = fabric.target(channel).unwrap();
                        }
                        assert_eq!(at, destination, "{}", selection.name);
                    }
                }
            }
        }
    }
}

#[test]
fn balanced_comes_nearer_to_the_bound_than_all_others() {
    let mut sums = [0u64; PATH_SELECTIONS.len()];
    let mut bounds = 0;
    for seed in 1..=5 {
        let fabric = random_fabric(16, seed);
        let relation = relation(&fabric, RelationRule::UDWM, 5);
        let bound = RelationBound::new(&fabric, &relation).unwrap();
        // A pair of routers is 16 of terminals.
        let bound = bound.rounded().div_ceil(16);
        bounds += bound;
        for (sum, selection) in sums.iter_mut().zip(PATH_SELECTIONS) {
            let paths = selection.paths(&fabric, &relation, SelectionParameters::default());
            let most = loads(&fabric, &paths.unwrap()).into_iter().max().unwrap();
            assert!(most >= bound, "{} is below the bound", selection.name);
            *sum += most;
        }
    }
    let own = sums[PATH_SELECTIONS.len() - 1];
    assert!(sums[..PATH_SELECTIONS.len() - 1].iter().all(|&other| own < other));
    assert_eq!(own, bounds, "the bound is reached on each of these");
}

#[test]
fn by_destination_spreads_over_a_fat_tree_as_d_mod_k_does() {
    for (arity, levels) in [(3, 2), (3, 3), (2, 4)] {
        let tree = Tree { arity, levels, terminals: 1 };
        let fabric = tree.cabling().unwrap().fabric().unwrap();
        let relation = relation(&fabric, RelationRule::MINIMAL, 1);
        let select = PathSelection::BY_DESTINATION;
        let paths = select.paths(&fabric, &relation, SelectionParameters::default()).unwrap();
        let ends = fabric.ends();
        let path = |source, destination| {
            places(&fabric, source, paths.paths(source, destination).next().unwrap())
        };
        for &source in &ends {
            // Each channel up from a leaf is for as many destinations, the leaf itself counted in.
            let mut above = vec![0; fabric.outputs(source).len()];
            for (place, &destination) in ends.iter().enumerate() {
                let port = place % arity as usize;
                if destination != source {
                    let first = path(source, destination)[0].0;
                    assert_eq!((first - fabric.outputs(source).start) as usize, port);
                }
                above[port] += 1;
            }
            assert!(above.iter().all(|&count| count == ends.len() / arity as usize), "{above:?}");
        }
        // No channel carries two pairs of a shift, in which all destinations are as far on.
        for shift in 1..ends.len() {
            let mut used = vec![false; fabric.channel_slots() as usize];
            for (place, &source) in ends.iter().enumerate() {
                for (channel, _) in path(source, ends[(place + shift) % ends.len()]) {
                    assert!(!used[channel as usize], "{arity} {levels} {shift}");
                    used[channel as usize] = true;
                }
            }
        }
    }
}

#[test]
fn by_destination_takes_every_candidate_and_virtual_channel_in_turn() {
    // From a leaf to those that are not below the same routers: 3 times 3 routes up and down.
    let tree = Tree { arity: 3, levels: 3, terminals: 1 };
    let fabric = tree.cabling().unwrap().fabric().unwrap();
    let select = PathSelection::BY_DESTINATION;
    let ends = fabric.ends();
    let of = |relation: &Relation, destination| {
        let paths = select.paths(&fabric, relation, SelectionParameters::default()).unwrap();
        places(&fabric, 0, paths.paths(0, destination).next().unwrap())
    };
    let one = relation(&fabric, RelationRule::MINIMAL, 1);
    for (place, &destination) in ends.iter().enumerate().skip(3) {
        let all = all_paths(&fabric, &one, 0, destination);
        assert_eq!(all.len(), 9);
        // In order of the first channel, then the second: the first is the lowest digit.
        assert_eq!(of(&one, destination), all[place % 3 * 3 + place / 3 % 3]);
    }
    // With two virtual channels there are 16 choices along four hops. The places from 3 to 8 have
    // those of numbers 5, 7, 8, 10, 12 and 14, with the first hop as the highest bit.
    let two = relation(&fabric, RelationRule::MINIMAL, 2);
    for hop in 0..4 {
        let vcs = ends.iter().skip(3).map(|&destination| of(&two, destination)[hop].1);
        assert_eq!(vcs.filter(|&vc| vc == 1).count(), [4, 4, 3, 2][hop]);
    }
}

#[test]
fn relations_with_an_escape_have_no_paths_to_fix() {
    let fabric = test_fabric(&[4, 4], &[]);
    let relation = relation(&fabric, RelationRule::MINIMAL_UP_DOWN, 2);
    for selection in PATH_SELECTIONS {
        let none = selection.paths(&fabric, &relation, SelectionParameters::default());
        assert_eq!(none, Err(NoSelection::Escape));
    }
}

/// Their hops depend on phases, which paths of a source have not.
#[test]
fn no_paths_are_selected_of_rules_with_phases() {
    use flitlab_fabric::builders::{Dragonfly, GlobalCables};
    use flitlab_routing::phased::{PhasedParameters, PhasedSpec};
    let cables = GlobalCables::default();
    let dragonfly = Dragonfly { routers: 2, terminals: 2, global: 2, groups: 5, cables };
    let fabric = dragonfly.cabling().unwrap().fabric().unwrap();
    let parameters = PhasedParameters { vcs: 8, largest_packet: 4, clamps: false };
    for rule in ["minimal-by-hop", "dragonfly-minimal", "ugal"] {
        let (_, relation) = PhasedSpec::new(rule, "").relation(&fabric, &parameters).unwrap();
        for selection in &PATH_SELECTIONS {
            let paths = selection.paths(&fabric, &relation, SelectionParameters::default());
            assert_eq!(paths.unwrap_err(), NoSelection::Phases, "{rule} {}", selection.name);
        }
    }
}
