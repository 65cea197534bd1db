//! Cray Cascade (\[cascade\]): groups of routers in rows and columns, all joined along both.

use super::{
    BuilderKind, Built, Cabling, DRAGONFLY_TABLE, Size, Sizes, TopologyError, begin, join_all,
    pairs, populate, product, refuse,
};
use flitlab_base::registry::Row;

pub(super) const CASCADE: Row<BuilderKind> = Row::new(
    "cascade",
    "A Cray Cascade: groups of switches in rows and columns, joined along both.",
    BuilderKind { usual_table: DRAGONFLY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let usual = Cascade::default();
    let cascade = Cascade {
        groups: sizes.value("groups", usual.groups, "Groups."),
        columns: sizes.value(
            "columns",
            usual.columns,
            "Switches of a row, joined by one cable each.",
        ),
        rows: sizes.value("rows", usual.rows, "Switches of a column."),
        column_cables: sizes.value(
            "column_cables",
            usual.column_cables,
            "Cables between two switches of a column.",
        ),
        global: sizes.value("global_cables", usual.global, "Cables between two groups."),
        terminals: sizes.terminals(usual.terminals),
    };
    let name = format!(
        "Cascade of {} groups of {}x{} switches",
        cascade.groups, cascade.columns, cascade.rows
    );
    Some(Built { name, cabling: cascade.cabling() })
}

/// Groups of `columns` x `rows` routers; the default is the fabric of \[nue\].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cascade {
    /// Number of groups, each with `columns` x `rows` routers.
    pub groups: u32,
    /// Routers of a row, all joined with each other by one cable (a chassis).
    pub columns: u32,
    /// Routers of a column, all joined with each other.
    pub rows: u32,
    /// Cables between two routers of a column.
    pub column_cables: u32,
    /// Cables between two groups.
    pub global: u32,
    /// Terminals of each router.
    pub terminals: u32,
}

impl Default for Cascade {
    fn default() -> Self {
        Self { groups: 2, columns: 16, rows: 6, column_cables: 3, global: 192, terminals: 8 }
    }
}

impl Cascade {
    /// The cables of the fabric. The global cables of a pair of groups use the routers of each
    /// group in turn; each pair of groups continues at the router after the last one used.
    ///
    /// # Errors
    /// If a size is 0, or a number of parts is too large.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let [groups, columns, rows, column_cables, global, terminals] =
            [self.groups, self.columns, self.rows, self.column_cables, self.global, self.terminals]
                .map(u64::from);
        let group = columns * rows;
        if self.groups == 0 || group == 0 || self.groups > 1 && self.global == 0 {
            return refuse("a Cascade needs groups, columns, rows and cables between groups");
        }
        let routers = product([group, groups]);
        let of_rows = product([groups, rows, pairs(columns)]);
        let of_columns = product([groups, columns, pairs(rows), column_cables]);
        let far = product([groups - 1, global]);
        let mut cabling = begin(&Size {
            routers,
            terminals: product([routers, terminals]),
            cables: of_rows
                .saturating_add(of_columns)
                .saturating_add(product([pairs(groups), global])),
            ports: (columns - 1 + (rows - 1) * column_cables + terminals)
                .saturating_add(far.div_ceil(group)),
        })?;
        let group = self.columns * self.rows;
        for first in (0..self.groups).map(|number| number * group) {
            for row in 0..self.rows {
                let members: Vec<u32> =
                    (0..self.columns).map(|column| first + row * self.columns + column).collect();
                join_all(&mut cabling, &members, 1);
            }
            for column in 0..self.columns {
                let members: Vec<u32> =
                    (0..self.rows).map(|row| first + row * self.columns + column).collect();
                join_all(&mut cabling, &members, self.column_cables);
            }
        }
        let mut next = vec![0; self.groups as usize];
        for one in 0..self.groups {
            for other in one + 1..self.groups {
                for _ in 0..self.global {
                    let mut router = |of: u32| {
                        let place = &mut next[of as usize];
                        *place = (*place + 1) % group;
                        of * group + (*place + group - 1) % group
                    };
                    let (from, to) = (router(one), router(other));
                    cabling.cable(from, to);
                }
            }
        }
        populate(&mut cabling, |_| self.terminals);
        cabling.group(|router| router / group);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_of_two_groups_has_as_many_cables() {
        let fabric = Cascade::default().cabling().unwrap().fabric().unwrap();
        assert!((0..192).all(|router| fabric.outputs(router).len() == 15 + 3 * 5 + 2));
    }
}
