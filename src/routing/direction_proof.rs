//! Whether packets in direction order can wait for each other for ever without the bubble rule.
//!
//! As the proofs of tables do (proof.rs), these tests follow every route channel by channel and look for a cycle among what
//! waits for what; here a vertex is a channel together with the class in which the packet is on it. A dateline's
//! classes leave no cycle. Without them each ring along which packets go two hops or more is one.

use super::{DirectionOrder, DirectionRules, HalfRing, Route, cycle, test_fabric};
use crate::topology::{Channel, Fabric};

/// Channels, each with a class, of which each can wait for the next and the last one for the first; `None` if no such
/// cycle exists. `datelines` tells the dimensions in which a route is in class 1, a bit each, from its source: give
/// [`DirectionOrder::datelines`], or another rule to see whether it would do.
///
/// # Panics
/// If the fabric is no torus.
fn waiting_cycle(
    fabric: &Fabric,
    order: &DirectionOrder,
    datelines: impl Fn(u32, &Route) -> u16,
) -> Option<Vec<(Channel, u8)>> {
    let torus = fabric.coordinates();
    let dimensions = torus.dimensions();
    let mut after = vec![Vec::new(); 2 * fabric.channel_slots() as usize];
    let nodes: Vec<u32> =
        fabric.live_terminals().filter_map(|it| fabric.terminal_router(it)).collect();
    for &source in &nodes {
        for &destination in &nodes {
            order.for_each_way(fabric, source, destination, |route, _| {
                let passed = datelines(source, route);
                let (mut at, mut before) = (source, None);
                for port in route.ports() {
                    let channel = fabric.outputs(at).start + u32::from(port);
                    let passes = passed >> (usize::from(port) % dimensions) & 1 == 1;
                    let class = u32::from(passes && fabric.ring(channel).is_some());
                    let vertex = 2 * channel + class;
                    if let Some(before) = before.replace(vertex) {
                        let known: &mut Vec<u32> = &mut after[before as usize];
                        if !known.contains(&vertex) {
                            known.push(vertex);
                        }
                    }
                    at = fabric.target(channel).expect("routes avoid failures");
                }
            });
        }
    }
    let successors = |vertex: u32| after[vertex as usize].iter().copied();
    let vertices = cycle::any(2 * fabric.channel_slots(), &successors)?;
    Some(vertices.iter().map(|vertex| (vertex / 2, u8::from(vertex % 2 == 1))).collect())
}

fn cycle_of(
    sizes: &[u32],
    cables: &[(u32, u32)],
    rules: &DirectionRules,
    datelines: impl Fn(&DirectionOrder, u32, &Route) -> u16,
) -> Option<Vec<(Channel, u8)>> {
    let fabric = test_fabric(sizes, cables);
    let order = DirectionOrder::new(&fabric, rules.clone()).unwrap();
    waiting_cycle(&fabric, &order, |source, route| datelines(&order, source, route))
}

#[test]
fn the_classes_of_a_dateline_leave_no_cycle_and_one_class_does() {
    for half_ring in [HalfRing::Plus, HalfRing::Balanced, HalfRing::Random] {
        for order in [vec![], vec![0, 2, 1, 3], vec![3, 0, 1, 2]] {
            let rules = DirectionRules { order, half_ring, dateline: true };
            for sizes in [[8, 8], [5, 4], [4, 7], [6, 3]] {
                assert_eq!(cycle_of(&sizes, &[], &rules, DirectionOrder::datelines), None);
            }
            let one_class = cycle_of(&[5, 4], &[], &rules, |_, _, _| 0).unwrap();
            assert!(one_class.len() >= 4 && one_class.iter().all(|&(_, class)| class == 0));
            // Classes that have nothing to do with the dateline are no better.
            let wrong = cycle_of(&[8, 8], &[], &rules, |order, source, route| {
                u16::from(order.at(source)[1] % 2 == 1) * (1 + 2 * (route.hops() as u16 % 2))
            });
            assert!(wrong.is_some());
        }
    }
}

#[test]
fn a_row_that_has_failed_needs_no_classes() {
    let rules = DirectionRules { dateline: true, ..DirectionRules::default() };
    assert_eq!(cycle_of(&[7], &[(2, 0)], &rules, DirectionOrder::datelines), None);
}
