//! Every rule on fabrics of several kinds: its relation is proved with as many virtual channels as
//! it asks for, and refused with one fewer.

use super::*;
use crate::{RelationFlaw, prove_relation};
use flitlab_fabric::builders::{Dragonfly, GlobalCables, GlobalOrder, HyperX};

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

/// Rules with the virtual channels that they need on the Dragonfly, and on the HyperX if they go
/// there.
const NEEDS: [(&str, &str, u8, Option<u8>); 7] = [
    ("minimal-by-hop", "", 3, Some(2)),
    ("dragonfly-minimal", "", 2, None),
    ("valiant", "via = \"group\"", 3, None),
    ("valiant", "via = \"router\"", 4, Some(4)),
    ("ugal", "", 3, Some(4)),
    ("par", "", 4, None),
    ("par", "via = \"router\"", 5, None),
];

#[test]
fn each_rule_needs_as_many_virtual_channels_as_it_says_and_no_fewer() {
    for (name, keys, on_dragonfly, on_hyperx) in NEEDS {
        let spec = PhasedSpec::new(name, keys);
        let all = dragonflies().into_iter().map(|fabric| (fabric, Some(on_dragonfly)));
        for (fabric, needed) in all.chain([(hyperx(), on_hyperx)]) {
            let Some(needed) = needed else {
                let refused = spec.relation(&fabric, &parameters(8, false)).unwrap_err();
                assert_eq!(refused, NoRelation::NoGroups, "{name}");
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
