//! FFT3D: transforms of a cube that is cut into pencils (`emberfft3d.cc`).

use super::{NUMBER, grid, points};
use crate::Schedule;
use crate::generate::communicator::Communicator;
use crate::generate::program::Blocks;
use crate::generate::{Parameters, library};

/// `EmberFFT3D`: a transform of real numbers, there and back, on pencils: along x, an all-to-all-v
/// in rows, along y, an all-to-all-v in columns, along z, a barrier; then the same backwards.
/// `points` are those of the whole cube, 100 by 100 by 100 unless given; `grid` is rows by columns.
/// A transform along a line of n points takes 5 n log2 n operations.
pub(in super::super) fn fft3d(parameters: &Parameters) -> Result<Schedule, String> {
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
    parameters.of_ranks(|program, rank| {
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
