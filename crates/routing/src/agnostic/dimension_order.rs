//! Dimension order (\[dimension-order\]; OpenSM's `dor`): packets go all the way along the first
//! dimension, then along the second, and so on, always the shorter way round.
//!
//! On meshes no cycle can come of that; rings close cycles. Failures on the way are not gone round:
//! then there is no table.

use super::graph::Graph;
use super::grid::Grid;
use super::{Algorithm, Applies, NoTable};
use crate::ForwardingTable;
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;

impl Algorithm {
    /// `dimension-order`.
    pub const DIMENSION_ORDER: Row<Self> = Row::new(
        "dimension-order",
        "dimension after dimension, on a grid; can deadlock.",
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
/// If the routers are not arranged as a torus or mesh, or a way leads over a cable that has failed.
fn dimension_order(
    graph: &Graph,
    fabric: &Fabric,
    table: &mut ForwardingTable,
) -> Result<(), NoTable> {
    let mut grid = Grid::new(graph, fabric, NAME)?;
    for destination in &graph.destinations {
        let end = destination.router;
        let row = table.row(destination.terminal);
        for router in graph.all_routers() {
            if router == end || !graph.connected(router) {
                continue;
            }
            let ways = (0..grid.torus.dimensions()).map(|at| grid.shortest(router, end, at));
            let (direction, _) =
                ways.into_iter().find(|(_, hops)| *hops > 0).expect("other router");
            let channel = grid.take(router, direction).ok_or_else(|| NoTable::NoWay {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{generate, proved, torus};
    use super::super::{Algorithm, Parameters};
    use crate::{ForwardingQuality, prove_forwarding};
    use flitlab_fabric::{Faults, Torus};

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
