//! Halo3D-26: a grid's faces, edges and corners exchanged with all 26 neighbours at once
//! (`emberhalo3d26.cc`).

use super::halo3d::FLOPS;
use super::{GridPosition, NUMBER, fields, grid, points};
use crate::Schedule;
use crate::generate::communicator::Communicator;
use crate::generate::{Parameters, library};

/// Where the neighbours are, in the order in which Ember names them: those across faces, across
/// edges, across corners.
const NEIGHBORS: [[i8; 3]; 26] = [
    [-1, 0, 0],
    [1, 0, 0],
    [0, -1, 0],
    [0, 1, 0],
    [0, 0, -1],
    [0, 0, 1],
    [-1, -1, 0],
    [0, -1, -1],
    [1, -1, 0],
    [0, -1, 1],
    [-1, 0, 1],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 1, 0],
    [0, 1, 1],
    [1, 1, 0],
    [0, 1, -1],
    [-1, -1, 1],
    [1, -1, 1],
    [-1, -1, -1],
    [1, -1, -1],
    [-1, 1, 1],
    [1, 1, 1],
    [-1, 1, -1],
    [1, 1, -1],
];

/// `EmberHalo3D26`: computes; posts receives from all neighbours, sends to all, waits for
/// everything; all-reduces a number. `points` are those of a rank, 100 by 100 by 100 unless given,
/// with one field.
pub(in super::super) fn halo3d26(parameters: &Parameters) -> Result<Schedule, String> {
    let points = points(parameters, [100; 3])?;
    let (grid, fields) = (grid::<3>(parameters)?, fields(parameters, 1)?);
    let (library, iterations) = (library(parameters)?, parameters.iterations(1)?);
    let ranks = parameters.ranks()?;
    let cells: u64 = points.iter().map(|&number| u64::from(number)).product();
    let time = parameters.computation(cells as f64 * fields as f64 * FLOPS);
    // Across a face, an edge or a corner lie as many points as it has.
    let shared = |offset: &[i8; 3]| {
        let along = points.iter().zip(offset).filter(|(_, step)| **step == 0);
        along.map(|(&number, _)| u64::from(number)).product::<u64>() * fields * NUMBER
    };
    parameters.of_ranks(|program, rank| {
        let place = GridPosition::new(grid, rank);
        let mut world = Communicator::world(ranks, rank);
        let neighbors: Vec<(u32, u64)> = NEIGHBORS
            .iter()
            .filter_map(|offset| Some((place.neighbor(offset)?, shared(offset))))
            .collect();
        for _ in 0..iterations {
            if !program.goes_on() {
                break;
            }
            program.compute(time);
            let receives = neighbors.iter().map(|&(from, bytes)| (from, bytes, true));
            let sends = neighbors.iter().map(|&(to, bytes)| (to, bytes, false));
            let requests: Vec<_> = receives
                .chain(sends)
                .map(|(other, bytes, receives)| match receives {
                    true => program.begin_receive(bytes, other, 0),
                    false => program.begin_send(bytes, other, 0),
                })
                .collect();
            program.wait(&requests);
            library.call("all-reduce", program, &mut world, NUMBER);
        }
    })
}
