//! HyperX (\[hyperx\]): all routers along each dimension are joined with each other.

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, cables_text,
    dimension_of, pairs, populate, product, refuse, sizes_text,
};
use flitlab_base::registry::Row;

pub(super) const HYPERX: Row<BuilderKind> = Row::new(
    "hyperx",
    "A HyperX: along each dimension all switches are joined with each other.",
    BuilderKind { usual_table: ANY_TABLE, read },
)
.known_as(&["flattened_butterfly", "hamming"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let dimensions = sizes.dimensions();
    let (terminals, redundancy) = sizes.terminals_of_hyperx(dimensions.as_deref());
    let kinds = sizes.cables(dimensions.as_ref().map(Vec::len));
    let hyperx = HyperX { sizes: dimensions?, redundancy, terminals };
    let name = format!(
        "{} HyperX{}",
        sizes_text(&hyperx.sizes),
        cables_text(hyperx.redundancy, "between neighbours")
    );
    let dimension = |one, other| dimension_of(&hyperx.sizes, one, other);
    Some(Built { name, cabling: hyperx.cabling() }.with_cables(&kinds, dimension))
}

/// A regular HyperX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperX {
    /// Routers along each dimension, called S in \[hyperx\]; the first dimension runs fastest.
    pub sizes: Vec<u32>,
    /// Cables between two routers of a dimension, called K.
    pub redundancy: u32,
    /// Terminals of each router, called T.
    pub terminals: u32,
}

impl HyperX {
    /// The cables of the fabric.
    ///
    /// # Errors
    /// If there is no dimension, a size is 0, neighbours have no cable, or a number of parts is too
    /// large.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        if self.sizes.is_empty() || self.sizes.contains(&0) || self.redundancy == 0 {
            return refuse("a HyperX needs sizes of 1 or more, and a cable between neighbours");
        }
        let all = product(self.sizes.iter().map(|&size| size.into()));
        let (redundancy, terminals) = (self.redundancy.into(), self.terminals.into());
        let of_dimension =
            |&size: &u32| product([all / u64::from(size), pairs(size.into()), redundancy]);
        let others = self.sizes.iter().map(|&size| u64::from(size) - 1).sum();
        let mut cabling = begin(&Size {
            routers: all,
            terminals: product([all, terminals]),
            cables: self.sizes.iter().map(of_dimension).fold(0, u64::saturating_add),
            ports: product([others, redundancy]).saturating_add(terminals),
        })?;
        for router in 0..cabling.routers() {
            let mut step = 1;
            for &size in &self.sizes {
                let coordinate = router / step % size;
                for ahead in 1..size - coordinate {
                    (0..self.redundancy).for_each(|_| cabling.cable(router, router + ahead * step));
                }
                step *= size;
            }
        }
        populate(&mut cabling, |_| self.terminals);
        cabling.arrange_joined(&self.sizes);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_router_reaches_every_other_of_its_rows_at_once() {
        let hyperx = HyperX { sizes: vec![4, 3, 2], redundancy: 2, terminals: 4 };
        let fabric = hyperx.cabling().unwrap().fabric().unwrap();
        assert_eq!((fabric.routers(), fabric.terminals()), (24, 96));
        assert!((0..24).all(|router| fabric.outputs(router).len() == 2 * (3 + 2 + 1)));
        let targets: Vec<_> =
            fabric.outputs(0).filter_map(|channel| fabric.target(channel)).collect();
        assert_eq!(targets, [1, 1, 2, 2, 3, 3, 4, 4, 8, 8, 12, 12]);
        assert_eq!(fabric.joined_dimensions(), [4, 3, 2]);
        assert!(fabric.grid().is_none());
    }
}
