//! Every rule on fabrics of several kinds: its relation is proved with as many virtual channels as
//! it asks for, and refused with one fewer.

use super::{RelationFlaw, prove_relation};
use flitlab_fabric::Fabric;
use flitlab_fabric::builders::{
    Dragonfly, DragonflyPlus, GlobalCables, GlobalOrder, HyperX, RandomRegular, Tree,
};
use flitlab_fabric::{Amount, Failures, RandomFailures};
use flitlab_routing::phased::*;
use flitlab_routing::relation::*;

mod failures;

fn dragonfly(groups: u32, order: GlobalOrder, between: Option<u32>) -> Fabric {
    let cables = GlobalCables { order, between };
    let dragonfly = Dragonfly { routers: 4, terminals: 2, global: 2, groups, cables };
    dragonfly.cabling().unwrap().fabric().unwrap()
}

/// Dragonflies with each cabling, with one cable and several between each two groups.
fn dragonflies() -> Vec<Fabric> {
    let orders = [GlobalOrder::Relative, GlobalOrder::PalmTree, GlobalOrder::Absolute];
    let of = |order| [(9, None), (5, None), (3, Some(3))].map(|it| dragonfly(it.0, order, it.1));
    orders.into_iter().flat_map(of).collect()
}

fn hyperx() -> Fabric {
    let hyperx = HyperX { sizes: vec![4, 4], redundancy: 1, terminals: 4 };
    hyperx.cabling().unwrap().fabric().unwrap()
}

fn parameters(vcs: u8, clamps: bool) -> PhasedParameters {
    PhasedParameters { vcs, largest_packet: 16, clamps }
}

/// Rules with the virtual channels that they need on the Dragonfly and on the HyperX, if they go
/// there.
const NEEDS: [(&str, &str, Option<u8>, Option<u8>); 21] = [
    ("minimal-by-hop", "", Some(3), Some(2)),
    ("dragonfly-minimal", "", Some(2), None),
    ("valiant", "via = \"group\"", Some(3), None),
    ("valiant", "via = \"router\"", Some(4), Some(4)),
    ("valiant", "via = \"router-elsewhere\"", Some(4), None),
    ("valiant", "via = \"router-or-end\"", Some(4), Some(4)),
    ("ugal", "", Some(3), Some(4)),
    ("ugal", "minimal_channels = \"apart\"", Some(3), Some(4)),
    ("ugal", "queues = \"vc\"", Some(3), Some(4)),
    ("ugal", "via = \"router-elsewhere\"", Some(4), None),
    ("ugal", "via = \"router-or-end\"", Some(4), Some(4)),
    ("par", "", Some(4), None),
    ("par", "via = \"router\"", Some(5), None),
    ("par", "via = \"router-or-end\"", Some(5), None),
    ("hyperx-order", "order = \"drawn\"", None, Some(2)),
    ("hyperx-order", "order = \"adaptive\"", None, Some(2)),
    ("dimwar", "", None, Some(2)),
    ("dimwar", "channels = \"by-hop\"", None, Some(4)),
    ("omniwar", "deroutes = 1", None, Some(3)),
    ("omniwar", "deroutes = 2", None, Some(4)),
    ("dal", "", None, Some(2)),
];

#[test]
fn each_rule_needs_as_many_virtual_channels_as_it_says_and_no_fewer() {
    for (name, keys, on_dragonfly, on_hyperx) in NEEDS {
        let spec = PhasedSpec::new(name, keys);
        let all = dragonflies().into_iter();
        let all = all.map(|fabric| (fabric, on_dragonfly, NoRelation::NoRows));
        let hyperx = (hyperx(), on_hyperx, NoRelation::NoGroups);
        for (fabric, needed, lacks) in all.chain([hyperx]) {
            let Some(needed) = needed else {
                let refused = spec.relation(&fabric, &parameters(16, false)).unwrap_err();
                assert_eq!(refused, lacks, "{name}");
                continue;
            };
            let (_, relation) = spec.relation(&fabric, &parameters(needed, false)).unwrap();
            let proof = prove_relation(&fabric, &relation);
            assert_eq!(proof.flaws.first(), None, "{name} {keys}");
            let all = u64::from(fabric.routers());
            assert_eq!(proof.pairs, all * (all - 1), "{name}");
            let refused = spec.relation(&fabric, &parameters(needed - 1, false)).unwrap_err();
            let few = NoRelation::VirtualChannels { needed, vcs: needed - 1 };
            assert_eq!(refused, few, "{name} {keys}");
            let (_, clamped) = spec.relation(&fabric, &parameters(needed - 1, true)).unwrap();
            let proof = prove_relation(&fabric, &clamped);
            assert!(proof.cycle().is_some(), "{name} {keys}: {:?}", proof.flaws);
            assert!(proof.flaws.iter().all(RelationFlaw::is_cycle));
        }
    }
}

/// From one corner to the other, over all hops: two in each dimension at most.
#[test]
fn hops_of_dimwar_have_two_virtual_channels_or_each_its_own() {
    let fabric = hyperx();
    let channels = |keys: &str| -> Vec<Vec<u8>> {
        let (_, relation) =
            PhasedSpec::new("dimwar", keys).relation(&fabric, &parameters(4, false)).unwrap();
        let mut by_hop = Vec::new();
        let mut places = vec![(0, 0)];
        while !places.is_empty() {
            let (mut vcs, mut next) = (Vec::new(), Vec::new());
            for (router, phase) in places {
                for hop in relation.hops(relation.in_phase(router, phase), 15) {
                    let channel = fabric.outputs(router).start + u32::from(hop.port);
                    let to = fabric.target(channel).unwrap();
                    vcs.push(hop.vc);
                    next.extend((to != 15).then_some((to, hop.phase)));
                }
            }
            vcs.sort_unstable();
            vcs.dedup();
            next.sort_unstable();
            next.dedup();
            by_hop.push(vcs);
            places = next;
        }
        by_hop
    };
    assert_eq!(channels("channels = \"by-hop\""), [[0], [1], [2], [3]]);
    // Of four virtual channels either kind of hop has two.
    let all = vec![0, 1, 2, 3];
    assert_eq!(channels(""), [vec![0, 1], all.clone(), all, vec![2, 3]]);
}

/// Packets take up to 9 hops on the Dragonfly, so that a virtual channel for each is enough. With 2
/// some wait for each other; in between the number of hops asks for more than the proof does.
#[test]
fn polarized_needs_a_virtual_channel_for_each_hop() {
    let spec = PhasedSpec::new("polarized", "");
    for (fabric, needed) in [(dragonfly(9, GlobalOrder::Relative, None), 9), (hyperx(), 4)] {
        let (rule, relation) = spec.relation(&fabric, &parameters(needed, false)).unwrap();
        assert_eq!(rule.longest(), needed.into());
        let all = u64::from(fabric.routers());
        let proof = prove_relation(&fabric, &relation);
        assert_eq!((proof.flaws.first(), proof.pairs), (None, all * (all - 1)));
        let refused = spec.relation(&fabric, &parameters(needed - 1, false)).unwrap_err();
        assert_eq!(refused, NoRelation::VirtualChannels { needed, vcs: needed - 1 });
        let (_, clamped) = spec.relation(&fabric, &parameters(2, true)).unwrap();
        let proof = prove_relation(&fabric, &clamped);
        assert!(proof.cycle().is_some() && proof.flaws.iter().all(RelationFlaw::is_cycle));
    }
}

#[test]
fn nearest_ancestors_need_one_virtual_channel_on_trees_and_are_refused_elsewhere() {
    let tree = Tree { arity: 4, levels: 3, terminals: 4 }.cabling().unwrap().fabric().unwrap();
    let spec = PhasedSpec::new("nearest-ancestor", "");
    for vcs in [1, 4] {
        let (_, relation) = spec.relation(&tree, &parameters(vcs, false)).unwrap();
        let proof = prove_relation(&tree, &relation);
        assert_eq!((proof.flaws.first(), proof.pairs), (None, 16 * 15));
        let (_, relation) = spec.relation(&hyperx(), &parameters(vcs, false)).unwrap();
        assert!(prove_relation(&hyperx(), &relation).cycle().is_some());
    }
}

/// The lists of each port, among which packets choose at their head: its own hops, and all escapes.
#[test]
fn a_packet_that_has_chosen_a_port_keeps_its_escapes() {
    let fabric = hyperx();
    let (_, relation) =
        PhasedSpec::new("dal", "").relation(&fabric, &parameters(3, false)).unwrap();
    // From the first router to the last one: three ports in each dimension.
    let list = relation.list(relation.in_phase(0, 0), 15);
    let all = relation.hops_of_list(list);
    let escapes: Vec<Hop> = all.iter().copied().filter(|hop| hop.escape).collect();
    assert_eq!((all.len(), escapes.len()), (13, 1));
    for place in 0..6 {
        let own = relation.hops_of_list(relation.of_port(list, place));
        let adaptive: Vec<&Hop> = own.iter().filter(|hop| !hop.escape).collect();
        assert!(own.contains(&escapes[0]));
        assert_eq!(adaptive.len(), 2);
        assert!(adaptive.iter().all(|hop| hop.port == place.into()));
        // Hops to the destination's row or column cost nothing more.
        let aligns = adaptive[0].port % 3 == 2;
        assert!(adaptive.iter().all(|hop| hop.label == u8::from(!aligns)), "{own:?}");
    }
}
