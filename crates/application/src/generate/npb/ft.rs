//! FT: Fourier transforms of a cube (`FT/ft.f`: `setup`, `fft`, `transpose2_global`,
//! `transpose_x_y`, `transpose_x_z`, `checksum`).
//!
//! Up to as many ranks as there are planes, each has some planes, and a transform needs one
//! all-to-all of all ranks. More ranks have pencils, and a transform needs an all-to-all in the
//! rows and one in the columns. The iterations transform back what was transformed once, and reduce
//! a complex number.

use super::{Benchmark, Class, Rank, check_ranks};
use crate::generate::communicator::Communicator;

/// Bytes of a complex number.
const COMPLEX: u64 = 16;

struct Ft {
    points: u64,
    iterations: u32,
    /// Ranks by the two dimensions that are divided.
    grid: [u32; 2],
}

pub(super) fn read(class: Class, ranks: u32) -> Result<Box<dyn Benchmark>, String> {
    let [x, y, z]: [u32; 3] = class.of([
        [64, 64, 64],
        [128, 128, 32],
        [256, 256, 128],
        [512, 256, 256],
        [512, 512, 512],
        [2048, 1024, 1024],
    ]);
    let flat = y.min(z);
    let most = z.saturating_mul(x.min(y));
    check_ranks(
        "FT",
        ranks,
        most,
        u32::is_power_of_two,
        "runs on powers of two up to the points of a face",
    )?;
    // Pencils as the program cuts them: as many rows as there are planes.
    let grid = if ranks <= flat { [1, ranks] } else { [z, ranks / z] };
    let points = u64::from(x) * u64::from(y) * u64::from(z);
    let iterations = class.of([6, 6, 6, 20, 20, 25]);
    Ok(Box::new(Ft { points, iterations, grid }))
}

impl Benchmark for Ft {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn rank(&self, at: &mut Rank<'_>, iterations: u32) {
        let [first, second] = self.grid;
        let ranks = first * second;
        let own = self.points / u64::from(ranks);
        let (row, column) = (at.rank / second, at.rank % second);
        // The ranks with the same first place, and those with the same second one.
        let mut slices = [
            Communicator::of(
                (0..second).map(|place| row * second + place).collect::<Vec<_>>(),
                column,
                2,
            ),
            Communicator::of(
                (0..first).map(|place| place * second + column).collect::<Vec<_>>(),
                row,
                3,
            ),
        ];
        let transpose = |at: &mut Rank<'_>, slice: &mut Communicator<'_>| {
            let bytes = COMPLEX * own / u64::from(slice.size);
            at.library.call("all-to-all", at.program, slice, bytes);
        };
        let n = self.points as f64;
        let share = n / f64::from(ranks);
        at.compute(share * 14.8157);
        let transform =
            |at: &mut Rank<'_>, each: f64, there: bool, slices: &mut [Communicator<'_>; 2]| {
                let third = share * each * libm::log(n) / 3.0;
                let [across, along] = slices;
                if first == 1 {
                    at.compute(if there { 2.0 * third } else { third });
                    transpose(at, across);
                    at.compute(if there { third } else { 2.0 * third });
                    return;
                }
                at.compute(third);
                transpose(at, if there { along } else { across });
                at.compute(third);
                transpose(at, if there { across } else { along });
                at.compute(third);
            };
        transform(at, 7.19641, true, &mut slices);
        for _ in 0..iterations {
            at.compute(share * 5.23518);
            transform(at, 7.21113, false, &mut slices);
            at.call("reduce", COMPLEX);
        }
    }
}
