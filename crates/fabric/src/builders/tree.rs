//! k-ary n-trees (\[k-ary-n-trees\]).

use super::sizes::TWO_OR_MORE;
use super::{
    BuilderKind, Built, Cabling, Size, Sizes, TERMINALS, TREE_TABLE, TopologyError, begin,
    populate, product, refuse,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const TREE: Row<BuilderKind> = Row::new(
    "tree",
    "A k-ary n-tree: a fat tree of levels that are alike.",
    BuilderKind { usual_table: TREE_TABLE, read },
)
.known_as(&["fattree", "k_ary_n_tree"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let arity = sizes.required_in(
        "arity",
        TWO_OR_MORE,
        4,
        "Cables of a switch to each neighbouring level, k.",
    );
    let levels = sizes.required_in("levels", TWO_OR_MORE, 3, "Levels of switches, n.");
    let terminals = narrow(sizes.reader.value_from(
        "terminals",
        &TERMINALS,
        arity.unwrap_or(1).into(),
        "as arity",
        "Terminals of each switch of the lowest level.",
    ));
    let between = levels.and_then(|levels| usize::try_from(levels - 1).ok());
    let kinds = sizes.cables(between);
    let tree = Tree { arity: arity?, levels: levels?, terminals };
    let name = format!("{}-ary {}-tree", tree.arity, tree.levels);
    let level = |one: u32, other: u32| narrow(u64::from(one.min(other)) / tree.width());
    Some(Built { name, cabling: tree.cabling() }.with_cables(&kinds, level))
}

/// A k-ary n-tree: n levels of k^(n-1) switches, with the terminals at level 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Cables of a switch to each neighbouring level, k.
    pub arity: u32,
    /// Number of levels, n.
    pub levels: u32,
    /// Terminals of each switch of level 0; k in \[k-ary-n-trees\].
    pub terminals: u32,
}

impl Tree {
    /// Switches of a level.
    fn width(&self) -> u64 {
        u64::from(self.arity).saturating_pow(self.levels - 1)
    }

    /// The cables of the fabric. A switch of level l has the number w, with n - 1 digits of base k,
    /// the lowest being digit 0. It is joined with the k switches of level l + 1 whose numbers
    /// differ from w in digit l at most.
    ///
    /// # Errors
    /// If arity or levels are below 2, or there are too many switches.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let (arity, levels) = (self.arity, self.levels);
        if arity < 2 || levels < 2 {
            return refuse("a tree needs an arity and levels of 2 or more");
        }
        let width = self.width();
        let below = product([width, arity.into()]);
        let mut cabling = begin(&Size {
            routers: product([width, levels.into()]),
            terminals: product([width, self.terminals.into()]),
            cables: product([below, u64::from(levels) - 1]),
            ports: u64::from(arity) + u64::from(arity.max(self.terminals)),
        })?;
        let width = narrow::<u32>(width);
        for level in 0..levels - 1 {
            let step = arity.pow(level);
            for word in 0..width {
                let others = word - word / step % arity * step;
                for digit in 0..arity {
                    let above = others + digit * step;
                    cabling.cable(level * width + word, (level + 1) * width + above);
                }
            }
        }
        populate(&mut cabling, |router| if router < width { self.terminals } else { 0 });
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::Netlist;

    #[test]
    fn a_binary_tree_of_three_levels_is_a_butterfly() {
        let tree = Tree { arity: 2, levels: 3, terminals: 2 };
        let fabric = tree.cabling().unwrap().fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals(), fabric.channels()), (12, 8, 32));
        let above = |router: u32| -> Vec<u32> {
            let targets = fabric.outputs(router).filter_map(|channel| fabric.target(channel));
            targets.filter(|&target| target > router).collect()
        };
        assert_eq!((above(0), above(1), above(3)), (vec![4, 5], vec![4, 5], vec![6, 7]));
        assert_eq!((above(4), above(6), above(7)), (vec![8, 10], vec![8, 10], vec![9, 11]));
    }

    #[test]
    fn the_netlist_of_a_tree_is_read_back() {
        let tree = Tree { arity: 2, levels: 2, terminals: 2 }.cabling().unwrap().fabric().unwrap();
        let text = Netlist::of(tree).text();
        assert_eq!(Netlist::read(&text).unwrap().text(), text);
    }
}
