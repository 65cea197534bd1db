//! Halo3D: faces of a grid exchanged dimension by dimension (`emberhalo3d.cc`).

use super::{GridPosition, NUMBER, fields, grid, points};
use crate::Schedule;
use crate::generate::communicator::Communicator;
use crate::generate::{Parameters, library};
use flitlab_base::narrow::narrow;

/// Operations on each number of a grid point, Ember's default.
pub(super) const FLOPS: f64 = 26.0;

/// `EmberHalo3D`: computes; exchanges faces in x, then in y, then in z; all-reduces a number.
/// `points` are those of a rank, 100 by 100 by 100 unless given, with one field.
pub(in super::super) fn halo3d(parameters: &Parameters) -> Result<Schedule, String> {
    let points = points(parameters, [100; 3])?;
    let (grid, fields) = (grid::<3>(parameters)?, fields(parameters, 1)?);
    let (library, iterations) = (library(parameters)?, parameters.iterations(1)?);
    let ranks = parameters.ranks()?;
    let [x, y, z] = points.map(u64::from);
    let faces = [y * z, x * z, x * y].map(|points| points * fields * NUMBER);
    let time = parameters.computation((x * y * z) as f64 * fields as f64 * FLOPS);
    parameters.of_ranks(|program, rank| {
        let place = GridPosition::new(grid, rank);
        let mut world = Communicator::world(ranks, rank);
        for _ in 0..iterations {
            if !program.goes_on() {
                break;
            }
            program.compute(time);
            for (dimension, &bytes) in faces.iter().enumerate() {
                let neighbors: Vec<u32> =
                    place.neighbors(dimension).into_iter().flatten().collect();
                let tag = narrow(dimension);
                let receives: Vec<_> =
                    neighbors.iter().map(|&from| program.begin_receive(bytes, from, tag)).collect();
                for &to in &neighbors {
                    program.send(bytes, to, tag);
                }
                program.wait(&receives);
            }
            library.call("all-reduce", program, &mut world, NUMBER);
        }
    })
}
