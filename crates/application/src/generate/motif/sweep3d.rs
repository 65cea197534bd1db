//! Sweep3D: wavefronts through a grid from its corners (`embersweep3d.cc`).

use super::{GridPosition, NUMBER, fields, grid, points};
use crate::Schedule;
use crate::generate::Parameters;

/// Operations on each number of a grid point, Ember's default.
const FLOPS: f64 = 275.0;

/// `EmberSweep3D`: in each of 8 sweeps, two from each corner, and for each block of planes receives
/// from the two neighbours before, computes, sends to the two behind. `points` are those of a rank,
/// 50 by 50 by 50 unless given, with 8 fields, in blocks of one plane.
pub(in super::super) fn sweep3d(parameters: &Parameters) -> Result<Schedule, String> {
    let [x, y, z] = points(parameters, [50; 3])?.map(u64::from);
    let (grid, fields) = (grid::<2>(parameters)?, fields(parameters, 8)?);
    let block = u64::from(parameters.block.unwrap_or(1));
    if block == 0 || !z.is_multiple_of(block) {
        return Err(format!("a block of {block} planes does not divide the {z} planes of a rank"));
    }
    let iterations = parameters.iterations(1)?;
    let faces = [x, y].map(|points| points * block * fields * NUMBER);
    let time = parameters.computation((x * y * block) as f64 * fields as f64 * FLOPS);
    // For each of the corners, whether x and y are swept downwards.
    let corners = [(false, false), (true, false), (true, true), (false, true)];
    parameters.of_ranks(|program, rank| {
        let place = GridPosition::new(grid, rank);
        let neighbors = [place.neighbors(0), place.neighbors(1)];
        for _ in 0..2 * u64::from(iterations) {
            if !program.goes_on() {
                break;
            }
            for (tag, (down_x, down_y)) in (1..).map(|corner| corner * 1000).zip(corners) {
                let sides = [usize::from(down_x), usize::from(down_y)];
                for _ in 0..z / block {
                    for dimension in 0..2 {
                        if let Some(from) = neighbors[dimension][sides[dimension]] {
                            program.receive(faces[dimension], from, tag);
                        }
                    }
                    program.compute(time);
                    for dimension in 0..2 {
                        if let Some(to) = neighbors[dimension][1 - sides[dimension]] {
                            program.send(faces[dimension], to, tag);
                        }
                    }
                }
            }
        }
    })
}
