//! Dimension order (\[dimension-order\]; OpenSM's `dor`): packets go all the way along the first
//! dimension, then along the second, and so on, always the shorter way round. On a HyperX
//! (\[hyperx\], also a flattened butterfly) each dimension is one hop.
//!
//! On meshes and HyperX no cycle can come of that, with one virtual channel: there is none within a
//! dimension, and packets go to later dimensions only. Rings close cycles; on tori direction order
//! (`[routing.direction_order]`) and `torus-2qos` are free of deadlock. Failures on the way are not
//! gone round: then there is no table.

use super::graph::Graph;
use super::grid::{Grid, Neighbors};
use super::{Algorithm, Applies, NoTable};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `dimension-order`.
    pub const DIMENSION_ORDER: Row<Self> = Row::new(
        "dimension-order",
        "dimension after dimension, on a grid or a HyperX; can deadlock on rings.",
        Self {
            applies: Applies::SomeShapes,
            ..Self::plain(|task| dimension_order(&task.graph, task.fabric, &mut task.table))
        },
    )
    // For routings of tori `dor` is direction order.
    .known_as(&["dor-table"]);
}

const NAME: &str = "dimension-order";

/// Fills in the table.
///
/// # Errors
/// If the routers are not arranged as a torus, mesh or HyperX, or a way leads over a cable that has
/// failed.
fn dimension_order(
    graph: &Graph,
    fabric: &Fabric,
    table: &mut ForwardingTable,
) -> Result<(), NoTable> {
    match fabric.joined_dimensions() {
        [] => {
            let mut grid = Grid::new(graph, fabric)
                .ok_or(NoTable::NoGrid { algorithm: NAME, shapes: "tori, meshes and HyperX" })?;
            let dimensions = grid.torus.dimensions();
            fill(graph, fabric, table, |router, end| {
                let mut ways = (0..dimensions).map(|at| grid.shortest(router, end, at));
                let (direction, _) = ways.find(|(_, hops)| *hops > 0).expect("another router");
                grid.take(router, direction)
            })
        }
        sizes => {
            let joined = Joined::new(sizes);
            let neighbor = |router, number| joined.neighbor(router, number);
            let mut neighbors = Neighbors::new(graph, joined.neighbors(), neighbor);
            fill(graph, fabric, table, |router, end| {
                neighbors.take(router, joined.next(router, end))
            })
        }
    }
}

/// Fills in the table with the channel that leads on, by the router and that of the destination.
fn fill(
    graph: &Graph,
    fabric: &Fabric,
    table: &mut ForwardingTable,
    mut channel: impl FnMut(u32, u32) -> Option<Channel>,
) -> Result<(), NoTable> {
    for destination in &graph.destinations {
        let end = destination.router;
        let row = table.row(destination.terminal);
        for router in graph.all_routers() {
            if router == end || !graph.connected(router) {
                continue;
            }
            let channel = channel(router, end).ok_or_else(|| NoTable::NoWay {
                algorithm: NAME,
                from: fabric.router_name(router),
                to: fabric.router_name(end),
                reason: "a cable on it has failed",
            })?;
            row[router as usize] = graph.port(channel);
        }
    }
    Ok(())
}

/// A dimension of a HyperX.
struct Dimension {
    size: u32,
    /// From a router to the next one along it.
    step: u32,
    /// The number of the neighbor along it whose coordinate is 0; the others follow.
    first: u32,
}

impl Dimension {
    fn coordinate(&self, router: u32) -> u32 {
        router / self.step % self.size
    }
}

/// The dimensions of a HyperX. A router's neighbors are numbered dimension by dimension, and in
/// each by their coordinates; that with its own coordinate stands for the router itself.
struct Joined(Vec<Dimension>);

impl Joined {
    fn new(sizes: &[u32]) -> Self {
        let (mut step, mut first) = (1, 0);
        let dimension = |&size: &u32| {
            let dimension = Dimension { size, step, first };
            step *= size;
            first += size;
            dimension
        };
        Self(sizes.iter().map(dimension).collect())
    }

    fn neighbors(&self) -> u32 {
        self.0.iter().map(|dimension| dimension.size).sum()
    }

    fn neighbor(&self, router: u32, number: u32) -> Option<u32> {
        let along = self.0.iter().find(|at| number < at.first + at.size)?;
        let (own, coordinate) = (along.coordinate(router), number - along.first);
        (own != coordinate).then(|| router - own * along.step + coordinate * along.step)
    }

    /// The neighbor that packets to another router go to.
    fn next(&self, router: u32, end: u32) -> u32 {
        let differs = |at: &&Dimension| at.coordinate(router) != at.coordinate(end);
        let along = self.0.iter().find(differs).expect("another router");
        along.first + along.coordinate(end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{generate, proved, torus};
    use super::super::{Algorithm, Parameters};
    use crate::{ForwardingQuality, prove_forwarding};
    use flitlab_fabric::builders::{HyperX, Tree};
    use flitlab_fabric::{Cabling, Faults, Torus};

    #[test]
    fn paths_are_shortest_and_in_order() {
        for (sizes, redundancy) in [(&[6, 5][..], 1), (&[4, 3, 3], 2), (&[3, 2, 4, 2], 1)] {
            let fabric = torus(sizes, 2, redundancy);
            let table = generate(Algorithm::DIMENSION_ORDER, &fabric, 1);
            let quality = ForwardingQuality::new(&fabric, &table);
            assert_eq!(quality.unrouted, 0);
            assert_eq!(quality.hops_mean, quality.least_hops_mean);
            let grid = fabric.grid().unwrap();
            for (from, to) in [(0, fabric.routers() - 1), (fabric.routers() / 2, 1)] {
                let (mut at, mut dimension) = (from, 0);
                while let Some(channel) = table.channel(&fabric, at, 2 * to) {
                    let next = fabric.target(channel).unwrap();
                    let differs = |d: &usize| grid.coordinate(at, *d) != grid.coordinate(next, *d);
                    let along = (0..sizes.len()).find(differs).unwrap();
                    assert!(along >= dimension);
                    (at, dimension) = (next, along);
                }
                assert_eq!(at, to);
            }
        }
    }

    #[test]
    fn a_mesh_has_no_cycle_and_a_torus_has() {
        let mesh = Torus::new(&[5, 4, 3], &[0, 1, 2]).unwrap().fabric(&Faults::default()).unwrap();
        proved(&mesh, &generate(Algorithm::DIMENSION_ORDER, &mesh, 1));
        let torus = torus(&[5, 4], 1, 1);
        let proof = prove_forwarding(&torus, &generate(Algorithm::DIMENSION_ORDER, &torus, 1));
        assert!(proof.cycle().is_some());
    }

    fn hyperx(sizes: &[u32], redundancy: u32, terminals: u32) -> Cabling {
        HyperX { sizes: sizes.to_vec(), redundancy, terminals }.cabling().unwrap()
    }

    #[test]
    fn a_hyperx_is_crossed_in_order_with_a_hop_a_dimension_and_without_a_cycle() {
        for (sizes, redundancy, terminals) in [
            (&[4, 3, 2][..], 2, 4),
            (&[5], 1, 1),
            (&[4, 1, 4], 3, 2),
            (&[2, 2, 2, 2], 1, 3),
            (&[7, 5], 1, 2),
        ] {
            let fabric = hyperx(sizes, redundancy, terminals).fabric().unwrap();
            let table = generate(Algorithm::DIMENSION_ORDER, &fabric, 1);
            assert_eq!(proved(&fabric, &table).vcs_used(), 1);
            let quality = ForwardingQuality::new(&fabric, &table);
            assert_eq!(quality.hops_mean, quality.least_hops_mean);
            let router = |coordinates: &[u32]| {
                let along = coordinates.iter().zip(sizes).rev();
                along.fold(0, |number, (coordinate, size)| number * size + coordinate)
            };
            // From the first router to the last, of which all coordinates differ.
            let last: Vec<u32> = sizes.iter().map(|size| size - 1).collect();
            let (mut at, mut coordinates) = (0, vec![0; sizes.len()]);
            for dimension in (0..sizes.len()).filter(|&it| last[it] > 0) {
                coordinates[dimension] = last[dimension];
                let channel = table.channel(&fabric, at, router(&last) * terminals).unwrap();
                at = fabric.target(channel).unwrap();
                assert_eq!(at, router(&coordinates), "{sizes:?}");
            }
            assert_eq!(at, fabric.routers() - 1);
        }
    }

    #[test]
    fn parallel_cables_of_a_hyperx_share_the_destinations() {
        let fabric = hyperx(&[4], 3, 6).fabric().unwrap();
        let table = generate(Algorithm::DIMENSION_ORDER, &fabric, 1);
        for router in 0..4 {
            for channel in fabric.outputs(router) {
                let taken =
                    |&terminal: &u32| table.channel(&fabric, router, terminal) == Some(channel);
                assert_eq!((0..24).filter(taken).count(), 2);
            }
        }
    }

    #[test]
    fn other_fabrics_are_refused_with_those_that_it_is_for() {
        let tree = Tree { arity: 2, levels: 2, terminals: 1 }.cabling().unwrap().fabric().unwrap();
        let refused = Algorithm::DIMENSION_ORDER.generate(&tree, &Parameters::default());
        let expected = "dimension-order is for tori, meshes and HyperX; these routers are not \
                        known to be arranged as one";
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_cable_of_a_hyperx_that_has_failed_is_not_gone_round() {
        let mut cabling = hyperx(&[3, 3], 1, 1);
        cabling.remove(&[0]);
        let fabric = cabling.fabric().unwrap();
        let refused = Algorithm::DIMENSION_ORDER.generate(&fabric, &Parameters::default());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "dimension-order has no way from S1 to S0: a cable on it has failed"
        );
    }

    #[test]
    fn a_failure_on_the_way_is_not_gone_round() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let faults = Faults { cables: vec![(0, 0)], ..Faults::default() };
        let fabric = torus.fabric(&faults).unwrap();
        let refused = Algorithm::DIMENSION_ORDER.generate(&fabric, &Parameters::default());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "dimension-order has no way from (1,0) to (0,0): a cable on it has failed"
        );
    }
}
