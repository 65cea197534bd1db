//! Tori of switches: several terminals a switch, several cables between neighbours.

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, cables_text,
    dimension_of, populate, product, refuse, sizes_text,
};
use crate::Torus;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;

pub(super) const SWITCHED_TORUS: Row<BuilderKind> = Row::new(
    "switched_torus",
    "A torus of switches, with several terminals a switch and several cables between neighbours. \
             Two switches along a dimension have the cables once, not twice. Ports are numbered alike \
             at every switch: +x, -x, +y, -y and so on, then terminals.",
    BuilderKind { usual_table: ANY_TABLE, read },
);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let dimensions = sizes.dimensions();
    let terminals = sizes.terminals(1);
    let redundancy = sizes.redundancy();
    let kinds = sizes.cables(dimensions.as_ref().map(Vec::len));
    let torus = SwitchedTorus { sizes: dimensions?, terminals, redundancy };
    let name = format!(
        "{} torus of switches{}",
        sizes_text(&torus.sizes),
        cables_text(torus.redundancy, "between neighbours")
    );
    let dimension = |one, other| dimension_of(&torus.sizes, one, other);
    Some(Built { name, cabling: torus.cabling() }.with_cables(&kinds, dimension))
}

/// A torus as it is built of InfiniBand switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedTorus {
    /// Switches along each dimension. Two switches along a dimension have one cable between them,
    /// not two.
    pub sizes: Vec<u32>,
    /// Terminals of each switch.
    pub terminals: u32,
    /// Cables between neighbours.
    pub redundancy: u32,
}

impl SwitchedTorus {
    /// The cables of the fabric.
    ///
    /// # Errors
    /// If the sizes are no torus, or neighbours have no cable.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let torus = Torus::new(&self.sizes, &[])?;
        if self.redundancy == 0 {
            return refuse("neighbours need at least one cable (redundancy)");
        }
        let (nodes, redundancy) = (u64::from(torus.nodes()), u64::from(self.redundancy));
        let directions = u64::from(torus.directions());
        let mut cabling = begin(&Size {
            routers: nodes,
            terminals: product([nodes, self.terminals.into()]),
            cables: product([nodes, directions / 2, redundancy]),
            ports: product([directions, redundancy]) + u64::from(self.terminals),
        })?;
        // Alike at every switch: all cables of +x, then those of -x, +y, -y and so on.
        let first_port = |direction| {
            let place =
                2 * torus.dimension(direction) as u64 + u64::from(!torus.positive(direction));
            narrow::<u16>(1 + place * redundancy)
        };
        for node in 0..torus.nodes() {
            for direction in 0..torus.directions() / 2 {
                let Some(neighbor) = torus.neighbor(node, direction) else { continue };
                let ports = (first_port(direction), first_port(torus.opposite(direction)));
                for cable in 0..narrow(redundancy) {
                    cabling.cable_at((node, ports.0 + cable), (neighbor, ports.1 + cable));
                }
            }
        }
        populate(&mut cabling, |_| self.terminals);
        cabling.arrange(torus);
        Ok(cabling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbered_alike_at_every_switch() {
        let torus = SwitchedTorus { sizes: vec![4, 3], terminals: 2, redundancy: 2 };
        let fabric = torus.cabling().unwrap().fabric().unwrap();
        let grid = fabric.grid().unwrap();
        for node in 0..12 {
            // +x and -x, then +y and -y.
            let neighbors = [0, 2, 1, 3].map(|direction| grid.neighbor(node, direction));
            let twice = neighbors.iter().flat_map(|neighbor| [*neighbor; 2]);
            let found: Vec<_> = fabric.outputs(node).map(|at| fabric.target(at)).collect();
            assert_eq!(found, twice.collect::<Vec<_>>());
            assert_eq!(
                (fabric.terminal_port(2 * node), fabric.terminal_port(2 * node + 1)),
                (9, 10)
            );
        }
    }

    #[test]
    fn switches_have_coordinates_and_two_along_a_dimension_one_cable() {
        let torus = SwitchedTorus { sizes: vec![4, 2, 2, 2], terminals: 1, redundancy: 1 };
        let fabric = torus.cabling().unwrap().fabric().unwrap();
        assert_eq!(fabric.channels(), 2 * 80);
        assert_eq!(fabric.grid().unwrap().sizes(), [4, 2, 2, 2]);
        assert!(fabric.torus().is_none(), "ports are not directions");
    }
}
