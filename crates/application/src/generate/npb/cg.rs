//! CG: the conjugate gradient method with a sparse matrix (`CG/cg.f`: `setup_proc_info`,
//! `setup_submatrix_info`, `conj_grad`).
//!
//! Powers of two of ranks form rows and columns, as many or twice as many columns. A product adds
//! up parts within the row by recursive doubling and exchanges the sum with the transpose partner;
//! a dot product is a recursive doubling of 8 B.

use super::{Benchmark, Class, DOUBLE, Rank, check_ranks, share};

/// Steps of the method in an iteration.
const STEPS: u32 = 25;

struct Cg {
    /// Rows of the matrix, and what its number of elements is computed from.
    size: u32,
    nonzeros: u32,
    iterations: u32,
    rows: u32,
    columns: u32,
}

pub(super) fn read(class: Class, ranks: u32) -> Result<Box<dyn Benchmark>, String> {
    let size: u32 = class.of([1_400, 7_000, 14_000, 75_000, 150_000, 1_500_000]);
    check_ranks("CG", ranks, size, u32::is_power_of_two, "runs on powers of two")?;
    let log = ranks.ilog2();
    Ok(Box::new(Cg {
        size,
        nonzeros: class.of([7, 8, 11, 13, 15, 21]),
        iterations: class.of([15, 15, 15, 75, 75, 100]),
        rows: 1 << (log / 2),
        columns: 1 << log.div_ceil(2),
    }))
}

impl Cg {
    /// The length of a rank's part of a vector by row.
    fn row_length(&self, rank: u32) -> u32 {
        share(self.size, self.rows, rank / self.columns)
    }

    /// Returns the part that goes to the transpose partner: all, or a half, the larger one from
    /// even ranks.
    fn transposed(&self, rank: u32) -> u32 {
        let length = self.row_length(rank);
        match (self.rows == self.columns, rank.is_multiple_of(2)) {
            (true, _) => length,
            (false, true) => length.div_ceil(2),
            (false, false) => length / 2,
        }
    }

    fn partner(&self, rank: u32) -> u32 {
        if self.rows == self.columns {
            return rank % self.rows * self.rows + rank / self.rows;
        }
        2 * (rank / 2 % self.rows * self.rows + rank / 2 / self.rows) + rank % 2
    }

    /// Returns the ranks of the row at a half, a quarter and so on of its length, to 1.
    fn row_partners(&self, rank: u32) -> impl DoubleEndedIterator<Item = u32> {
        (0..self.columns.ilog2()).rev().map(move |bit| rank ^ (1 << bit))
    }

    fn product(&self, at: &mut Rank<'_>) {
        let each = f64::from(self.nonzeros * (self.nonzeros + 1));
        self.compute(at, each);
        let square = self.rows == self.columns;
        let number = at.rank;
        let own = self.transposed(number);
        let rest = if square { own } else { self.row_length(number) - own };
        // From the nearest to the farthest: halves are given away at the last of them, the first in
        // the list.
        for (step, partner) in self.row_partners(number).rev().enumerate() {
            let sent = if step == 0 { rest } else { own };
            let bytes = |length: u32| DOUBLE * u64::from(length);
            at.program.exchange((bytes(sent), partner), (bytes(own), partner), 1);
        }
        let partner = self.partner(number);
        // Ranks on the diagonal keep it: the program sends to itself there.
        if partner != number {
            let sent = DOUBLE * u64::from(own);
            let received = DOUBLE * u64::from(self.transposed(partner));
            at.program.exchange((sent, partner), (received, partner), 2);
        }
    }

    /// A dot product, with so many operations on each element of a vector.
    fn dot(&self, at: &mut Rank<'_>, each: f64) {
        self.compute(at, each);
        for partner in self.row_partners(at.rank) {
            at.program.exchange((DOUBLE, partner), (DOUBLE, partner), 3);
        }
    }

    /// Multiplies and adds, so many to an element of a vector of all ranks.
    fn compute(&self, at: &mut Rank<'_>, each: f64) {
        at.compute(2.0 * each * f64::from(self.size) / f64::from(self.rows * self.columns));
    }
}

impl Benchmark for Cg {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn rank(&self, at: &mut Rank<'_>, iterations: u32) {
        for _ in 0..iterations {
            self.dot(at, 3.0);
            for _ in 0..STEPS {
                self.product(at);
                self.dot(at, 1.0);
                // Two vectors, their dot product, and the next direction.
                self.dot(at, 3.0);
                self.compute(at, 1.0);
            }
            self.product(at);
            // The norm of the residual, and of the iteration's result two in one.
            self.dot(at, 1.0);
            self.compute(at, 2.0);
            for partner in self.row_partners(at.rank) {
                at.program.exchange((2 * DOUBLE, partner), (2 * DOUBLE, partner), 4);
            }
        }
    }
}
