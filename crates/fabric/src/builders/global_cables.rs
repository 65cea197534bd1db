//! Cables between groups: which router of a group has the one to which other group.
//!
//! A group's cables to the others are numbered, and its routers have them in that order. Three ways
//! to number them are compared in \[global-links\], which calls two of them absolute and relative. A
//! relative one from the last router down is the palm tree of CAMINOS.

use super::{Cabling, Sizes, TopologyError, pairs, product};
use flitlab_base::document::Count;

/// The order of a group's cables to other groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlobalOrder {
    /// To the groups after it in turn, from its first router on.
    #[default]
    Relative,
    /// To the groups after it in turn, from its last router down.
    PalmTree,
    /// To the groups in the order of their numbers, from its first router on.
    Absolute,
}

/// How groups are joined with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalCables {
    /// The order of a group's cables to other groups.
    pub order: GlobalOrder,
    /// Cables between each two groups; `None` for as many as the ports allow. Where these are all,
    /// routers fill their ports one after another. Fewer are spread evenly over the routers.
    pub between: Option<u32>,
}

impl GlobalCables {
    /// Reads the keys. The largest number of cables is `None` if it is not known.
    pub(super) fn read(sizes: &mut Sizes<'_, '_>, most: Option<u64>) -> Self {
        let reader = &mut *sizes.reader;
        let doc = "Which of a group's switches has the cable to which other group.";
        let orders = [
            (
                "relative",
                GlobalOrder::Relative,
                "to the groups after it in turn, from its first switch on.",
            ),
            (
                "palm-tree",
                GlobalOrder::PalmTree,
                "the same from its last switch down, as in CAMINOS.",
            ),
            (
                "absolute",
                GlobalOrder::Absolute,
                "to the groups by their numbers, from its first switch on, as in BookSim.",
            ),
        ];
        let order = reader.one_of("cabling", "cabling", doc, orders).unwrap_or_default();
        let usual = u32::try_from(most.unwrap_or(1)).unwrap_or(u32::MAX);
        let doc = "Cables between each two groups; less than all are spread evenly over a group's switches.";
        let kind = Count { example: 1 };
        let note = "as many as the ports allow";
        let between = reader.value_from("cables_between", &kind, usual, note, doc);
        // No cable at all is a mistake in the sizes, which says how many are needed.
        Self { order, between: (between > 0).then_some(between) }
    }
}

/// The groups of a fabric, and how they are joined.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    /// Number of groups.
    pub groups: u32,
    /// Routers of a group that can have cables to others.
    pub routers: u32,
    /// What these are called.
    pub noun: &'static str,
    /// Ports of each for such cables.
    pub ports: u32,
    pub cables: GlobalCables,
}

impl Groups {
    /// Most cables between each two groups. There must be two groups.
    pub fn most(groups: u32, routers: u32, ports: u32) -> u64 {
        u64::from(routers) * u64::from(ports) / u64::from(groups - 1)
    }

    /// Cables between each two groups.
    ///
    /// # Errors
    /// If the ports don't allow any, or as many as are asked for.
    pub fn between(&self) -> Result<u64, TopologyError> {
        let Self { groups, routers, noun, ports, cables } = *self;
        let most = Self::most(groups, routers, ports);
        let between = cables.between.map_or(most, u64::from);
        let group = format!("a group of {routers} {noun} with {ports} global ports each");
        if most == 0 {
            // One cable of each port leads to another group.
            let allowed = u64::from(routers) * u64::from(ports) + 1;
            return Err(TopologyError::Limit {
                key: "groups",
                message: format!("{group} can't reach {} other groups", groups - 1),
                allowed: format!("at most {allowed}"),
                help: "more groups need larger groups or more `global_cables`",
            });
        }
        if !(1..=most).contains(&between) {
            let others = groups - 1;
            return Err(TopologyError::Limit {
                key: "cables_between",
                message: format!(
                    "{group} has 1 to {most} cables to each of {others} other groups, not {between}"
                ),
                allowed: format!("1 to {most}"),
                help: "more cables need fewer groups, or more `global_cables`",
            });
        }
        Ok(between)
    }

    /// All cables between groups, if each two have so many.
    pub fn all(&self, between: u64) -> u64 {
        product([pairs(self.groups.into()), between])
    }

    /// Adds the cables; `first` gives the first of a group's routers that can have some.
    pub fn join(&self, cabling: &mut Cabling, between: u64, first: impl Fn(u32) -> u32) {
        for group in 0..self.groups {
            for other in group + 1..self.groups {
                for cable in 0..between {
                    let [one, far] = [(group, other), (other, group)]
                        .map(|ends| first(ends.0) + self.router(ends, between, cable));
                    cabling.cable(one, far);
                }
            }
        }
    }

    /// The router of a group, counted from its first one, that has one of the cables to another.
    fn router(&self, (group, other): (u32, u32), between: u64, cable: u64) -> u32 {
        let turn = match self.cables.order {
            GlobalOrder::Absolute => other - u32::from(other > group),
            _ => (other + self.groups - group) % self.groups - 1,
        };
        let place = u64::from(turn) * between + cable;
        let router = if between == Self::most(self.groups, self.routers, self.ports) {
            place / u64::from(self.ports)
        } else {
            place * u64::from(self.routers) / (between * u64::from(self.groups - 1))
        };
        let router = u32::try_from(router).expect("places are those of the ports");
        match self.cables.order {
            GlobalOrder::PalmTree => self.routers - 1 - router,
            _ => router,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dragonfly;
    use super::*;
    use flitlab_base::narrow::narrow;

    const ORDERS: [GlobalOrder; 3] =
        [GlobalOrder::Relative, GlobalOrder::PalmTree, GlobalOrder::Absolute];

    /// The cables between groups of a Dragonfly of (groups, routers of a group, ports), as pairs of
    /// (group, router of the group), the lower group first.
    fn joined(
        (groups, routers, global): (u32, u32, u32),
        order: GlobalOrder,
        between: Option<u32>,
    ) -> Vec<[(u32, u32); 2]> {
        let cables = GlobalCables { order, between };
        let dragonfly = Dragonfly { routers, terminals: 1, global, groups, cables };
        let cabling = dragonfly.cabling().unwrap();
        let place = |router: u32| (router / routers, router % routers);
        let cables = cabling.cables().iter().map(|&((one, _), (far, _))| [place(one), place(far)]);
        cables.filter(|[one, far]| one.0 != far.0).collect()
    }

    #[test]
    fn each_cabling_of_72_terminals_is_as_published() {
        for order in ORDERS {
            let found = joined((9, 4, 2), order, None);
            let mut expected = Vec::new();
            for group in 0..9 {
                for other in group + 1..9 {
                    let ahead = other - group;
                    // CAMINOS leaves by router a - 1 - floor((d - 1) / h) and arrives at router
                    // floor((d - 1) / h). BookSim leaves by floor(j / h), where j leaves out the
                    // own group.
                    let (leaves, arrives) = match order {
                        GlobalOrder::Relative => ((ahead - 1) / 2, 3 - (ahead - 1) / 2),
                        GlobalOrder::PalmTree => (3 - (ahead - 1) / 2, (ahead - 1) / 2),
                        GlobalOrder::Absolute => ((other - 1) / 2, group / 2),
                    };
                    expected.push([(group, leaves), (other, arrives)]);
                }
            }
            assert_eq!(found, expected, "{order:?}");
        }
    }

    #[test]
    fn a_palm_tree_is_relative_with_routers_renamed() {
        for (sizes, between) in [((9, 4, 2), None), ((5, 4, 3), None), ((5, 4, 3), Some(2))] {
            let renamed = joined(sizes, GlobalOrder::Relative, between)
                .into_iter()
                .map(|ends| ends.map(|(group, router)| (group, sizes.1 - 1 - router)));
            let found = joined(sizes, GlobalOrder::PalmTree, between);
            assert_eq!(found, renamed.collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_two_groups_have_as_many_cables_and_no_router_more_than_ports() {
        let all = [((9, 4, 2), None), ((15, 12, 6), None), ((3, 4, 2), None), ((3, 4, 2), Some(3))];
        let more = [((3, 4, 2), Some(1)), ((3, 8, 1), Some(1)), ((6, 3, 4), Some(2))];
        for (sizes, between) in all.into_iter().chain(more) {
            let (groups, routers, ports) = sizes;
            let most = routers * ports / (groups - 1);
            let each = between.unwrap_or(most);
            for order in ORDERS {
                let found = joined(sizes, order, between);
                for group in 0..groups {
                    for other in group + 1..groups {
                        let both =
                            |ends: &&[(u32, u32); 2]| ends[0].0 == group && ends[1].0 == other;
                        assert_eq!(narrow::<u32>(found.iter().filter(both).count()), each);
                    }
                    let ends = || found.iter().flatten().filter(|end| end.0 == group);
                    let counts: Vec<u32> = (0..routers)
                        .map(|router| narrow::<u32>(ends().filter(|end| end.1 == router).count()))
                        .collect();
                    let sum = each * (groups - 1);
                    assert_eq!(counts.iter().sum::<u32>(), sum);
                    let (least, largest) =
                        (*counts.iter().min().unwrap(), *counts.iter().max().unwrap());
                    if each == most {
                        let full =
                            narrow::<u32>(counts.iter().filter(|&&count| count == ports).count());
                        assert_eq!((largest, full), (ports, sum / ports));
                    } else {
                        let even = (sum / routers, sum.div_ceil(routers));
                        assert_eq!((least, largest), even, "{sizes:?} {between:?} {order:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn more_cables_than_the_ports_allow_are_refused() {
        let refused = |between| {
            let cables = GlobalCables { between: Some(between), ..GlobalCables::default() };
            let dragonfly = Dragonfly { routers: 4, terminals: 2, global: 2, groups: 5, cables };
            dragonfly.cabling().unwrap_err().to_string()
        };
        let said = "has 1 to 2 cables to each of 4 other groups, not ";
        assert!(refused(3).ends_with(&format!("{said}3")), "{}", refused(3));
        assert!(refused(0).ends_with(&format!("{said}0")));
    }
}
