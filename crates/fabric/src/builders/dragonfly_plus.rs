//! Dragonfly+ (\[dragonfly-plus\]): groups of two levels of switches. Each leaf of a group is joined
//! with each of its spines; spines have the cables to other groups.

use super::global_cables::{GlobalCables, Groups};
use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TERMINALS, TopologyError, begin, populate,
    product, refuse,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const DRAGONFLY_PLUS: Row<BuilderKind> = Row::new(
    "dragonfly_plus",
    "A Dragonfly+: groups of leaf and spine switches, and cables between the spines of any two groups.",
    BuilderKind { usual_table: ANY_TABLE, read },
)
.known_as(&["megafly", "dfplus"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let groups = sizes.groups();
    let leaves = sizes.required("leaves", 4, "Leaf switches of a group.");
    let spines = sizes.required("spines", 4, "Spine switches of a group.");
    let global = sizes.global_cables();
    let terminals = narrow(sizes.reader.value_from(
        "terminals",
        &TERMINALS,
        spines.unwrap_or(1).into(),
        "as spines",
        "Terminals of each leaf.",
    ));
    let most = || Some(Groups::most(groups?, spines?, global?));
    let cables = GlobalCables::read(sizes, most());
    let kinds = sizes.cables_of_groups();
    let (groups, leaves, spines, global) = (groups?, leaves?, spines?, global?);
    let dragonfly = DragonflyPlus { groups, leaves, spines, global, terminals, cables };
    let name = format!("Dragonfly+ of {groups} groups of {leaves} leaves and {spines} spines");
    let size = leaves + spines;
    let is_global = |one, other| usize::from(one / size != other / size);
    Some(Built { name, cabling: dragonfly.cabling() }.with_cables(&kinds, is_global))
}

/// Groups of leaves and spines. Each two groups have equally many cables. The routers of a group are
/// its leaves, then its spines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DragonflyPlus {
    /// Number of groups, 2 or more.
    pub groups: u32,
    /// Leaves of a group.
    pub leaves: u32,
    /// Spines of a group.
    pub spines: u32,
    /// Ports of each spine for cables to other groups.
    pub global: u32,
    /// Terminals of each leaf.
    pub terminals: u32,
    /// How groups are joined.
    pub cables: GlobalCables,
}

impl DragonflyPlus {
    /// The cables of the fabric.
    ///
    /// # Errors
    /// If there are fewer than two groups, too few ports to join each two groups, or too many
    /// parts.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let Self { groups, leaves, spines, global, terminals, cables } = *self;
        if groups < 2 || leaves == 0 || spines == 0 {
            return refuse(
                "a Dragonfly+ needs two groups, and a leaf and a spine in each at least",
            );
        }
        let joined = Groups { groups, routers: spines, noun: "spines", ports: global, cables };
        let between = joined.between()?;
        let [all_leaves, all_spines] =
            [leaves, spines].map(|of_group| product([groups.into(), of_group.into()]));
        let within = product([all_leaves, spines.into()]);
        let most = u64::from(spines) + u64::from(terminals);
        let mut cabling = begin(&Size {
            routers: all_leaves.saturating_add(all_spines),
            terminals: product([all_leaves, terminals.into()]),
            cables: within.saturating_add(joined.all(between)),
            ports: most.max(u64::from(leaves) + u64::from(global)),
        })?;
        let size = leaves + spines;
        for first in (0..groups).map(|group| group * size) {
            for leaf in first..first + leaves {
                (0..spines).for_each(|spine| cabling.cable(leaf, first + leaves + spine));
            }
        }
        joined.join(&mut cabling, between, |group| group * size + leaves);
        populate(&mut cabling, |router| if router % size < leaves { terminals } else { 0 });
        cabling.group(|router| router / size);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_terminals_and_spines_the_cables_between_groups() {
        let plus = DragonflyPlus {
            groups: 5,
            leaves: 4,
            spines: 4,
            global: 4,
            terminals: 4,
            cables: GlobalCables::default(),
        };
        let cabling = plus.cabling().unwrap();
        let mut between = [0; 25];
        for &((one, _), (other, _)) in cabling.cables() {
            between[(one / 8 * 5 + other / 8) as usize] += 1;
            assert!(one / 8 == other / 8 || one % 8 >= 4 && other % 8 >= 4);
        }
        for group in 0..5 {
            assert_eq!(between[group * 5 + group], 16);
            assert!((group + 1..5).all(|other| between[group * 5 + other] == 4));
        }
        let fabric = cabling.fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals()), (40, 80));
        assert!(
            (0..40)
                .all(|router| fabric.outputs(router).len() == if router % 8 < 4 { 4 } else { 8 })
        );
        assert_eq!(fabric.groups()[16..24], [2; 8]);
        let more = DragonflyPlus { groups: 18, ..plus };
        assert!(more.cabling().unwrap_err().to_string().contains("can't reach 17"));
    }
}
