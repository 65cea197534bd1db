//! Motifs of SST's Ember: the communication of programs on grids, without the programs.
//!
//! Source: `sst-elements/src/sst/elements/ember/mpi/motifs`, `emberhalo3d.cc`, `embersweep3d.cc`
//! and `emberfft3d.cc`. Ranks are counted along the first dimension first, as there. Ember ends
//! each motif with a barrier of its own (`Fini`), which is none of the motif and is left out.

use super::communicator::Communicator;
use super::program::{Blocks, of_ranks};
use super::{Parameters, library};
use crate::application::Schedule;
use flitlab_base::narrow::narrow;

/// Bytes of a number.
const NUMBER: u64 = 8;

/// Operations on each number of a grid point in Halo3D and in a sweep, Ember's defaults.
const HALO_FLOPS: f64 = 26.0;
const SWEEP_FLOPS: f64 = 275.0;

/// The numbers of a list that is to have `N`, none of them 0.
fn list<const N: usize>(given: &[u32], what: &str) -> Result<[u32; N], String> {
    match <[u32; N]>::try_from(given) {
        Ok(list) if list.iter().all(|&number| (1..=1 << 20).contains(&number)) => Ok(list),
        Ok(_) => Err(format!("{what} are 1 to 1048576 in each dimension")),
        Err(_) => Err(format!("{what} are {N} numbers, one a dimension")),
    }
}

fn points<const N: usize>(parameters: &Parameters, default: [u32; N]) -> Result<[u32; N], String> {
    parameters.points.as_ref().map_or(Ok(default), |points| list(points, "points"))
}

fn fields(parameters: &Parameters, default: u32) -> Result<u64, String> {
    match parameters.fields.unwrap_or(default) {
        fields @ 1..=1_000_000 => Ok(fields.into()),
        _ => Err("fields are 1 to 1000000".into()),
    }
}

/// The ranks by dimension: as given, or factors as equal as there are, the largest first.
fn grid<const N: usize>(parameters: &Parameters) -> Result<[u32; N], String> {
    let ranks = parameters.ranks()?;
    let Some(given) = &parameters.grid else { return Ok(balanced(ranks)) };
    let grid = list::<N>(given, "ranks of the grid")?;
    let product: u64 = grid.iter().map(|&size| u64::from(size)).product();
    if product == u64::from(ranks) {
        return Ok(grid);
    }
    let text: Vec<String> = grid.iter().map(u32::to_string).collect();
    Err(format!("a grid of {} has {product} ranks, not {ranks}", text.join("x")))
}

/// Factors of a number, as equal as there are, the largest first: the last is the largest that does
/// not exceed the root, and so on.
fn balanced<const N: usize>(ranks: u32) -> [u32; N] {
    let mut left = ranks;
    let mut factors = [1; N];
    for (place, rest) in (0..N).rev().zip((1..=narrow::<u32>(N)).rev()) {
        let fits = |factor: &u32| factor.checked_pow(rest).is_some_and(|power| power <= left);
        let small = (1..=left).take_while(fits).filter(|factor| left.is_multiple_of(*factor));
        factors[place] = small.max().unwrap_or(1);
        left /= factors[place];
    }
    factors
}

/// A rank's place in a grid and its neighbours.
struct GridPosition<const N: usize> {
    grid: [u32; N],
    at: [u32; N],
    rank: u32,
}

impl<const N: usize> GridPosition<N> {
    fn new(grid: [u32; N], rank: u32) -> Self {
        let mut left = rank;
        let at = grid.map(|size| {
            let at = left % size;
            left /= size;
            at
        });
        Self { grid, at, rank }
    }

    /// The neighbours below and above in a dimension, where the grid does not end.
    fn neighbors(&self, dimension: usize) -> [Option<u32>; 2] {
        let stride: u32 = self.grid[..dimension].iter().product();
        let at = self.at[dimension];
        [
            (at > 0).then(|| self.rank - stride),
            (at + 1 < self.grid[dimension]).then(|| self.rank + stride),
        ]
    }
}

/// `EmberHalo3D`: computes; exchanges faces in x, then in y, then in z; all-reduces a number.
/// `points` are those of a rank, 100 by 100 by 100 unless given, with one field.
pub(super) fn halo3d(parameters: &Parameters) -> Result<Schedule, String> {
    let points = points(parameters, [100; 3])?;
    let (grid, fields) = (grid::<3>(parameters)?, fields(parameters, 1)?);
    let (library, iterations) = (library(parameters)?, parameters.iterations(1)?);
    let ranks = parameters.ranks()?;
    let [x, y, z] = points.map(u64::from);
    let faces = [y * z, x * z, x * y].map(|points| points * fields * NUMBER);
    let time = parameters.nanoseconds((x * y * z) as f64 * fields as f64 * HALO_FLOPS);
    of_ranks(ranks, |program, rank| {
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

/// `EmberSweep3D`: in each of 8 sweeps, two from each corner, and for each block of planes receives
/// from the two neighbours before, computes, sends to the two behind. `points` are those of a rank,
/// 50 by 50 by 50 unless given, with 8 fields, in blocks of one plane.
pub(super) fn sweep3d(parameters: &Parameters) -> Result<Schedule, String> {
    let [x, y, z] = points(parameters, [50; 3])?.map(u64::from);
    let (grid, fields) = (grid::<2>(parameters)?, fields(parameters, 8)?);
    let block = u64::from(parameters.block.unwrap_or(1));
    if block == 0 || !z.is_multiple_of(block) {
        return Err(format!("a block of {block} planes does not divide the {z} planes of a rank"));
    }
    let iterations = parameters.iterations(1)?;
    let faces = [x, y].map(|points| points * block * fields * NUMBER);
    let time = parameters.nanoseconds((x * y * block) as f64 * fields as f64 * SWEEP_FLOPS);
    // For each of the corners, whether x and y are swept downwards.
    let corners = [(false, false), (true, false), (true, true), (false, true)];
    of_ranks(parameters.ranks()?, |program, rank| {
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

/// `EmberFFT3D`: a transform of real numbers, there and back, on pencils: along x, an all-to-all-v
/// in rows, along y, an all-to-all-v in columns, along z, a barrier; then the same backwards.
/// `points` are those of the whole cube, 100 by 100 by 100 unless given; `grid` is rows by columns.
/// A transform along a line of n points takes 5 n log2 n operations.
pub(super) fn fft3d(parameters: &Parameters) -> Result<Schedule, String> {
    let [x, y, z] = points(parameters, [100; 3])?;
    let [rows, columns] = grid::<2>(parameters)?;
    let (library, iterations) = (library(parameters)?, parameters.iterations(1)?);
    let ranks = parameters.ranks()?;
    let share = f64::from(x) * f64::from(y) * f64::from(z) / f64::from(ranks);
    let time = |n: u32| parameters.nanoseconds(5.0 * share * libm::log2(f64::from(n)));
    // Real numbers have half as many complex ones, and one more.
    let x_by_row = Blocks::of((x / 2 + 1).into(), rows);
    let (y_by_row, y_by_column) = (Blocks::of(y.into(), rows), Blocks::of(y.into(), columns));
    let z_by_column = Blocks::of(z.into(), columns);
    of_ranks(ranks, |program, rank| {
        let (row, column) = (rank % rows, rank / rows);
        let along_x: Vec<u32> = (0..rows).map(|row| column * rows + row).collect();
        let along_y: Vec<u32> = (0..columns).map(|column| column * rows + row).collect();
        let mut members_x = Communicator::of(&along_x[..], row, 2);
        let mut members_y = Communicator::of(&along_y[..], column, 3);
        let mut world = Communicator::world(ranks, rank);
        // From row a to row b: of a's lines along x, the part of x that b gets.
        let there = |from: u32, to: u32| {
            2 * NUMBER * x_by_row.at(to) * y_by_row.at(from) * z_by_column.at(column)
        };
        let back = |from: u32, to: u32| there(to, from);
        let between = |from: u32, to: u32| {
            2 * NUMBER * x_by_row.at(row) * y_by_column.at(to) * z_by_column.at(from)
        };
        let between_back = |from: u32, to: u32| between(to, from);
        for _ in 0..iterations {
            if !program.goes_on() {
                break;
            }
            program.compute(time(x));
            library.all_to_all_v(program, &mut members_x, &there);
            program.compute(time(y));
            library.all_to_all_v(program, &mut members_y, &between);
            program.compute(time(z));
            library.call("barrier", program, &mut world, 1);
            program.compute(time(z));
            library.all_to_all_v(program, &mut members_y, &between_back);
            program.compute(time(y));
            library.all_to_all_v(program, &mut members_x, &back);
            program.compute(time(x));
            library.call("barrier", program, &mut world, 1);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_near_to_cubes_as_factors_allow() {
        assert_eq!(
            [1, 7, 8, 24, 64, 100, 128].map(balanced::<3>)[..5],
            [[1, 1, 1], [7, 1, 1], [2, 2, 2], [4, 3, 2], [4, 4, 4]]
        );
        assert_eq!([100, 128, 13].map(balanced::<2>), [[10, 10], [16, 8], [13, 1]]);
    }
}
