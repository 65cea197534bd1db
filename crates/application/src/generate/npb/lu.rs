//! LU: a system of five equations on a cube, solved by successive over-relaxation (`LU/ssor.f`,
//! `blts.f`, `buts.f`, `exchange_1.f`, `exchange_3.f`, `proc_grid.f`, `subdomain.f`).
//!
//! Ranks form a grid of `xdim` by `ydim`, north to south first. A time step is a sweep up through
//! the planes, each of which waits for those of the neighbours in the north and west, a sweep down,
//! and an exchange of two layers with all four. Of the operations that are counted, two fifths each
//! are taken to be those of the sweeps and a fifth that of the right hand side behind them, in
//! halves before and behind the second exchange.

use super::{Benchmark, Class, DOUBLE, Rank, check_ranks, share};

struct Lu {
    /// Points in each dimension.
    points: u32,
    iterations: u32,
    grid: [u32; 2],
}

pub(super) fn read(class: Class, ranks: u32) -> Result<Box<dyn Benchmark>, String> {
    let points = class.of([12, 33, 64, 102, 162, 408]);
    let fits = |ranks: u32| grid(ranks).is_some_and(|[x, _]| points / x >= 3);
    let what =
        "runs on grids of which one side is at most twice the other and each rank has 3 points";
    check_ranks("LU", ranks, (points / 3).pow(2), fits, what)?;
    let iterations = class.of([50, 300, 250, 250, 250, 300]);
    Ok(Box::new(Lu { points, iterations, grid: grid(ranks).expect("it is allowed") }))
}

/// The sides, the larger one first: as near to equal as factors of the number are.
fn grid(ranks: u32) -> Option<[u32; 2]> {
    let y = (1..=ranks.isqrt()).rev().find(|y| ranks.is_multiple_of(*y))?;
    let x = ranks / y;
    (x <= 2 * y).then_some([x, y])
}

/// The tags of messages that come from a side.
const FROM: [u32; 4] = [1, 2, 3, 4];
const NORTH: usize = 0;
const SOUTH: usize = 1;
const WEST: usize = 2;
const EAST: usize = 3;

impl Benchmark for Lu {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn rank(&self, at: &mut Rank<'_>, iterations: u32) {
        let [x, y] = self.grid;
        let (row, column) = (at.rank % x, at.rank / x);
        let sides = [
            (row > 0).then(|| at.rank - 1),
            (row + 1 < x).then(|| at.rank + 1),
            (column > 0).then(|| at.rank - x),
            (column + 1 < y).then(|| at.rank + x),
        ];
        let (nx, ny) = (share(self.points, x, row), share(self.points, y, column));
        // The cube's own border is not computed.
        let inner = |points: u32, sides: [Option<u32>; 2]| {
            points - sides.iter().map(|side| u32::from(side.is_none())).sum::<u32>()
        };
        let (ix, iy) = (inner(nx, [sides[0], sides[1]]), inner(ny, [sides[2], sides[3]]));
        let small = |points: u32| 5 * DOUBLE * u64::from(points);
        let small = [small(iy), small(iy), small(ix), small(ix)];
        let big = |points: u32| 10 * DOUBLE * u64::from(points) * u64::from(self.points);
        let big = [big(ny), big(ny), big(nx), big(nx)];
        let n = f64::from(self.points);
        let counted = 1984.77 * n.powi(3) - 10923.3 * n * n + 27770.9 * n - 144_010.0;
        let own = counted * f64::from(nx) * f64::from(ny) / (n * n);
        let plane = own * 0.4 / (n - 2.0);
        for iteration in 1..=iterations {
            for (before, behind) in [([NORTH, WEST], [SOUTH, EAST]), ([SOUTH, EAST], [NORTH, WEST])]
            {
                for _ in 2..self.points {
                    for side in before {
                        if let Some(from) = sides[side] {
                            at.program.receive(small[side], from, FROM[side]);
                        }
                    }
                    at.compute(plane);
                    for side in behind {
                        if let Some(to) = sides[side] {
                            at.program.send(small[side], to, FROM[side ^ 1]);
                        }
                    }
                }
            }
            let last = iteration == self.iterations;
            if last {
                at.call("all-reduce", 5 * DOUBLE);
            }
            for (from, to) in [(NORTH, SOUTH), (SOUTH, NORTH), (WEST, EAST), (EAST, WEST)] {
                if from == WEST {
                    at.compute(own * 0.1);
                }
                let receive =
                    sides[from].map(|rank| at.program.begin_receive(big[from], rank, FROM[from]));
                if let Some(rank) = sides[to] {
                    at.program.send(big[to], rank, FROM[from]);
                }
                at.program.wait(receive.as_slice());
            }
            at.compute(own * 0.1);
            if last {
                at.call("all-reduce", 5 * DOUBLE);
            }
        }
    }
}
