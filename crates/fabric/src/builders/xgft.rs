//! Extended generalised fat trees, XGFT (\[generalised-fat-trees\]): levels with numbers of cables
//! down and up of their own.

use super::{
    BuilderKind, Built, Cabling, Size, Sizes, TREE_TABLE, TopologyError, begin, populate, product,
    refuse,
};
use flitlab_base::document::{List, Listed, Whole};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const XGFT: Row<BuilderKind> = Row::new(
    "xgft",
    "An extended generalised fat tree, XGFT(h; m_1, ..., m_h; w_1, ..., w_h), of h levels of switches.",
    BuilderKind { usual_table: TREE_TABLE, read },
)
.known_as(&["generalised_fat_tree", "generalized_fat_tree", "gft"]);

/// Most levels; trees of more have too many terminals or no use for levels.
const MOST_LEVELS: usize = 16;

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let kind = |example| List {
        kind: Whole { range: 1..=1 << 20 },
        noun: "numbers, one a level",
        length: 1..=MOST_LEVELS,
        example: Some(example),
    };
    let numbers = |list: Vec<Listed<u64>>| -> Vec<u32> {
        Listed::values(list).into_iter().map(narrow).collect()
    };
    let doc = "Cables down from a switch of each level, m: the first are terminals.";
    let down = sizes.reader.required("down", &kind("[4, 4, 2]"), doc).map(numbers);
    let doc =
        "Cables up from each terminal (1) and from a switch of each level but the highest, w.";
    let up = sizes.reader.required("up", &kind("[1, 2, 2]"), doc).map(numbers);
    let kinds = sizes.cables(down.as_ref().map(|down| down.len() - 1));
    let tree = Xgft { down: down?, up: up? };
    let list = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let name = format!("XGFT({};{};{})", tree.down.len(), list(&tree.down), list(&tree.up));
    let level = |one: u32, other: u32| tree.level(one.min(other));
    Some(Built { name, cabling: tree.cabling() }.with_cables(&kinds, level))
}

/// An extended generalised fat tree whose terminals have one cable each.
///
/// Level 0 are the terminals, levels 1 to h the switches. A switch of level l stands for the digits
/// x_h, ..., x_1, where x_i is below m_i for i > l, else below w_i. It is joined with the switches
/// of level l + 1 whose digits differ from its own in x_(l+1) at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xgft {
    /// Children of a switch of each level, called m; those of the lowest level are terminals.
    pub down: Vec<u32>,
    /// Parents of a terminal, which is 1, and of a switch of each level but the highest, called w.
    pub up: Vec<u32>,
}

impl Xgft {
    /// Switches of a level, counted from 1: as many as its digits have values.
    fn width(&self, level: usize) -> u64 {
        let of_digits = self.up[..level].iter().chain(&self.down[level..]);
        product(of_digits.map(|&size| size.into()))
    }

    /// The level of a switch, counted from 0.
    fn level(&self, switch: u32) -> usize {
        let mut end = 0;
        let is_above = |level: &usize| {
            end += self.width(*level);
            u64::from(switch) >= end
        };
        (1..=self.down.len()).take_while(is_above).count()
    }

    /// The cables of the fabric. The switches of a level are numbered by their digits, the second
    /// running fastest (the first has one value), the lowest level first. So a k-ary n-tree with k
    /// terminals at a switch is XGFT(n; k, ..., k; 1, k, ..., k), numbers included.
    ///
    /// # Errors
    /// If there is no level, the two lists are not equally long, terminals have several cables, or
    /// there are too many switches.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let (down, up) = (&self.down, &self.up);
        let levels = down.len();
        if levels == 0 || levels != up.len() || down.contains(&0) || up.contains(&0) {
            return refuse(format!(
                "a tree has as many numbers down as up, each 1 or more, not {levels} and {}",
                up.len()
            ));
        }
        if up[0] != 1 {
            return refuse(format!(
                "each terminal has one cable here: the first number up is 1, not {}",
                up[0]
            ));
        }
        let widths: Vec<u64> = (1..=levels).map(|level| self.width(level)).collect();
        let cables = (1..levels).map(|level| product([widths[level - 1], up[level].into()]));
        let ports = (0..levels)
            .map(|level| u64::from(down[level]) + up.get(level + 1).map_or(0, |&up| u64::from(up)));
        let mut cabling = begin(&Size {
            routers: widths.iter().copied().fold(0, u64::saturating_add),
            terminals: product([widths[0], down[0].into()]),
            cables: cables.fold(0, u64::saturating_add),
            ports: ports.max().unwrap_or(0),
        })?;
        let mut first = 0;
        for level in 1..levels {
            let (below, above) = (narrow::<u32>(widths[level - 1]), up[level]);
            // The digit that runs freely has one place in the numbers of both levels.
            let step: u32 = up[..level].iter().product();
            for switch in 0..below {
                let (low, high) = (switch % step, switch / step / down[level]);
                for digit in 0..above {
                    let parent = (high * above + digit) * step + low;
                    cabling.cable(first + switch, first + below + parent);
                }
            }
            first += below;
        }
        let lowest = narrow::<u32>(widths[0]);
        populate(&mut cabling, |router| if router < lowest { down[0] } else { 0 });
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tree;
    use super::*;
    use crate::netlist::Netlist;

    fn tree(down: &[u32], up: &[u32]) -> Xgft {
        Xgft { down: down.to_vec(), up: up.to_vec() }
    }

    #[test]
    fn levels_have_as_many_switches_and_cables_as_digits_have_values() {
        for (down, up, switches, terminals, cables) in [
            // m_2 m_3, w_2 m_3, w_2 w_3; m_1 m_2 m_3; w_2 m_2 m_3 + w_2 w_3 m_3.
            (&[4, 3, 2][..], &[1, 2, 5][..], &[6, 4, 10][..], 24, 12 + 20),
            (&[2, 2, 2, 2], &[1, 1, 1, 1], &[8, 4, 2, 1], 16, 8 + 4 + 2),
            (&[4, 4], &[1, 2], &[4, 2], 16, 8),
            (&[5], &[1], &[1], 5, 0),
        ] {
            let xgft = tree(down, up);
            let fabric = xgft.cabling().unwrap().fabric().unwrap();
            let all: u32 = switches.iter().sum();
            assert_eq!((fabric.routers(), fabric.terminals()), (all, terminals));
            assert_eq!(fabric.cables().count(), cables);
            for router in 0..all {
                let level = xgft.level(router);
                let before: u32 = switches[..level].iter().sum();
                assert!((before..before + switches[level]).contains(&router));
                let of_level = |target: u32| xgft.level(target);
                let to = |wanted: usize| {
                    narrow::<u32>(
                        fabric.neighbors(router).filter(|&it| of_level(it) == wanted).count(),
                    )
                };
                let parents = up.get(level + 1).copied().unwrap_or(0);
                let children = if level > 0 { down[level] } else { 0 };
                assert_eq!(to(level + 1), parents, "{down:?} {router}");
                assert_eq!(level.checked_sub(1).map_or(0, to), children);
                assert_eq!(narrow::<u32>(fabric.outputs(router).len()), parents + children);
            }
        }
    }

    /// A digit at a time: two switches of neighbouring levels are joined if all others agree.
    #[test]
    fn switches_are_joined_whose_digits_differ_in_one() {
        let (down, up) = ([3, 2, 4, 3], [1, 3, 2, 2]);
        let xgft = tree(&down, &up);
        let fabric = xgft.cabling().unwrap().fabric().unwrap();
        let mut all: Vec<(usize, Vec<u32>)> = Vec::new();
        for level in 1..=4 {
            let sizes: Vec<u32> = (0..4).map(|at| if at < level { up } else { down }[at]).collect();
            for mut number in 0..sizes.iter().product() {
                let digit = |size: &u32| {
                    let own = number % size;
                    number /= size;
                    own
                };
                all.push((level, sizes.iter().map(digit).collect()));
            }
        }
        assert_eq!(narrow::<u32>(all.len()), fabric.routers());
        for (one, (level, digits)) in (0..).zip(&all) {
            let joined = |(_, (above, others)): &(u32, &(usize, Vec<u32>))| {
                let differ = |at: usize| digits[at] != others[at];
                *above == level + 1 && !(0..4).any(|at| at != *level && differ(at))
            };
            let expected: Vec<u32> = (0..).zip(&all).filter(joined).map(|it| it.0).collect();
            let found: Vec<u32> = fabric.neighbors(one).filter(|&it| it > one).collect();
            assert_eq!(found, expected, "{level} {digits:?}");
        }
    }

    #[test]
    fn a_k_ary_n_tree_is_one() {
        for (arity, levels) in [(2, 2), (2, 4), (3, 3), (4, 2)] {
            let mut up = vec![arity; levels];
            up[0] = 1;
            let xgft = tree(&vec![arity; levels], &up).cabling().unwrap().fabric().unwrap();
            let tree = Tree { arity, levels: narrow::<u32>(levels), terminals: arity };
            let tree = tree.cabling().unwrap().fabric().unwrap();
            assert_eq!(Netlist::of(xgft).text(), Netlist::of(tree).text());
        }
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let refused = |down: &[u32], up: &[u32]| tree(down, up).cabling().unwrap_err().to_string();
        assert!(refused(&[4, 4], &[1]).contains("not 2 and 1"));
        assert!(refused(&[4, 4], &[2, 2]).contains("the first number up is 1, not 2"));
        assert!(refused(&[1 << 20, 1 << 20], &[1, 1]).contains("at most"));
    }
}
