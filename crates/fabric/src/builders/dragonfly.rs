//! Dragonflies (\[dragonfly\]).

use super::global_cables::{GlobalCables, Groups};
use super::{
    BuilderKind, Built, Cabling, DRAGONFLY_TABLE, Size, Sizes, TERMINALS, TopologyError, begin,
    join_all, pairs, populate, product, refuse,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const DRAGONFLY: Row<BuilderKind> = Row::new(
    "dragonfly",
    "A dragonfly: groups of switches all joined with each other, and cables between any two \
             groups.",
    BuilderKind { usual_table: DRAGONFLY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let groups = sizes.groups();
    let routers = sizes.required("group_size", 4, "Switches of a group, a.");
    let global = sizes.global_cables();
    let terminals = narrow(sizes.reader.value_from(
        "terminals",
        &TERMINALS,
        global.unwrap_or(1).into(),
        "as global_cables",
        "Terminals of each switch, p.",
    ));
    let most = || Some(Groups::most(groups?, routers?, global?));
    let cables = GlobalCables::read(sizes, most());
    let kinds = sizes.cables_of_groups();
    let (groups, routers, global) = (groups?, routers?, global?);
    let dragonfly = Dragonfly { routers, terminals, global, groups, cables };
    let name = format!("dragonfly of {groups} groups of {routers} switches");
    let is_global = |one, other| usize::from(one / routers != other / routers);
    Some(Built { name, cabling: dragonfly.cabling() }.with_cables(&kinds, is_global))
}

/// Groups of routers that are all joined with each other. Each two groups have equally many global
/// cables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    /// Routers of a group, called a in \[dragonfly\].
    pub routers: u32,
    /// Terminals of each router, called p.
    pub terminals: u32,
    /// Ports of each router for global cables, called h. Some stay vacant if a h is no multiple of
    /// g - 1.
    pub global: u32,
    /// Number of groups, called g.
    pub groups: u32,
    /// How groups are joined.
    pub cables: GlobalCables,
}

impl Dragonfly {
    /// The cables of the fabric.
    ///
    /// # Errors
    /// If there are fewer than two groups, too few global ports to join each two groups, or too
    /// many parts.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let (routers_, global, groups) = (self.routers, self.global, self.groups);
        if groups < 2 || routers_ == 0 {
            return refuse("a dragonfly needs two groups and a router in each at least");
        }
        let joined = Groups {
            groups,
            routers: routers_,
            noun: "routers",
            ports: global,
            cables: self.cables,
        };
        let between = joined.between()?;
        let all = product([routers_.into(), groups.into()]);
        let within = product([groups.into(), pairs(routers_.into())]);
        let mut cabling = begin(&Size {
            routers: all,
            terminals: product([all, self.terminals.into()]),
            cables: within.saturating_add(joined.all(between)),
            ports: u64::from(routers_) - 1 + u64::from(global) + u64::from(self.terminals),
        })?;
        for group in 0..groups {
            let members: Vec<u32> = (group * routers_..(group + 1) * routers_).collect();
            join_all(&mut cabling, &members, 1);
        }
        joined.join(&mut cabling, between, |group| group * routers_);
        populate(&mut cabling, |_| self.terminals);
        cabling.group(|router| router / routers_);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_router_has_more_global_cables_than_ports_and_each_two_groups_as_many() {
        let dragonfly = Dragonfly {
            routers: 12,
            terminals: 6,
            global: 6,
            groups: 15,
            cables: GlobalCables::default(),
        };
        let cabling = dragonfly.cabling().unwrap();
        let mut between = vec![0; 15 * 15];
        for &((one, _), (other, _)) in cabling.cables() {
            between[(one / 12 * 15 + other / 12) as usize] += 1;
        }
        for group in 0..15 {
            assert_eq!(between[group * 15 + group], 66);
            assert!((group + 1..15).all(|other| between[group * 15 + other] == 5));
        }
        let fabric = cabling.fabric().unwrap();
        assert!((0..180).all(|router| fabric.outputs(router).len() <= 11 + 6));
    }

    #[test]
    fn the_largest_dragonfly_has_one_cable_between_two_groups() {
        let dragonfly = Dragonfly {
            routers: 4,
            terminals: 2,
            global: 2,
            groups: 9,
            cables: GlobalCables::default(),
        };
        let fabric = dragonfly.cabling().unwrap().fabric().unwrap();
        assert!((0..36).all(|router| fabric.outputs(router).len() == 3 + 2));
        let more = Dragonfly { groups: 10, ..dragonfly };
        assert!(more.cabling().unwrap_err().to_string().contains("can't reach 9"));
    }
}
