//! MG: a multigrid on a cube that goes on at its ends (`MG/mg.f`: `setup`, `mg3P`, `comm3`,
//! `comm3_ex`, `norm2u3`).
//!
//! Powers of two of ranks form a grid in three dimensions, the first one the smallest. On coarse
//! levels fewer ranks have points; when the grid becomes finer again those that have give to those
//! that had none. The operations of an iteration are divided among the passes over all levels in
//! proportion to their points.

use super::{Benchmark, Class, DOUBLE, Rank, check_ranks};
use flitlab_base::narrow::narrow;

struct Mg {
    /// The finest level: 2^levels points in each dimension.
    levels: usize,
    iterations: u32,
    grid: [u32; 3],
}

pub(super) fn read(class: Class, ranks: u32) -> Result<Box<dyn Benchmark>, String> {
    let levels: u32 = class.of([5, 7, 8, 8, 9, 10]);
    let log = ranks.ilog2();
    let x = log / 3;
    let y = (log - x) / 2;
    let z = log - x - y;
    let most = 1 << (3 * (levels - 1)).min(30);
    check_ranks(
        "MG",
        ranks,
        most,
        u32::is_power_of_two,
        "runs on powers of two up to 8^(levels - 1)",
    )?;
    let grid = [1 << x, 1 << y, 1 << z];
    let iterations = class.of([4, 40, 4, 20, 20, 50]);
    Ok(Box::new(Mg { levels: levels as usize, iterations, grid }))
}

/// The share of a rank in a level, and its partners there.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// Its points in each dimension with a layer around them.
    sizes: [u32; 3],
    /// Neighbours by dimension: below, above.
    neighbors: [[u32; 2]; 3],
    /// Whether it has points at all.
    alive: bool,
    /// Whether it gives to ranks that have none on the next coarser level, and whether it takes.
    gives: [bool; 3],
    takes: [bool; 3],
}

impl Mg {
    /// By level; there is no level 0.
    fn levels_of(&self, rank: u32) -> Vec<Level> {
        let [x, y, _] = self.grid;
        let at = [rank % x, rank / x % y, rank / (x * y)];
        let mut levels = vec![Level::default(); self.levels + 1];
        let mut step = [1; 3];
        for level in (1..=self.levels).rev() {
            let points = 1u64 << level;
            for axis in 0..3 {
                let ranks = u64::from(self.grid[axis]);
                let until = |place: u32| u64::from(place) * points / ranks;
                let share = |place: u32| until(place + 1) - until(place);
                let (own, next) = (share(at[axis]), share(at[axis] + step[axis]));
                levels[level].sizes[axis] = 2 + narrow::<u32>(own);
                if own == 0 || next == 0 {
                    step[axis] *= 2;
                }
                if level < self.levels {
                    levels[level + 1].gives[axis] = next == 0 && own == 1;
                    levels[level + 1].takes[axis] = next == 1 && own == 0;
                }
            }
            levels[level].alive = levels[level].sizes.iter().all(|&size| size > 2);
            let mut stride = 1;
            for axis in 0..3 {
                let ranks = self.grid[axis];
                let others = rank - at[axis] * stride;
                let step = step[axis] % ranks;
                let places = [(at[axis] + ranks - step) % ranks, (at[axis] + step) % ranks];
                levels[level].neighbors[axis] = places.map(|place| others + place * stride);
                stride *= ranks;
            }
        }
        levels
    }
}

/// The tag of a message up or down along an axis.
fn tag(axis: usize, up: u32) -> u32 {
    1 + 2 * narrow::<u32>(axis) + up
}

impl Level {
    /// Bytes of a face without and with what lies around it.
    fn face(&self, axis: usize, border: bool) -> u64 {
        let sizes = (0..3).filter(|&other| other != axis).map(|other| {
            // Later axes have what earlier ones brought.
            let around = if border || other < axis { 0 } else { 2 };
            u64::from(self.sizes[other] - around)
        });
        DOUBLE * sizes.product::<u64>()
    }

    /// `comm3`: faces in each dimension, up and down.
    fn exchange(&self, at: &mut Rank<'_>, ranks: u32) {
        if !self.alive || ranks == 1 {
            return;
        }
        for axis in 0..3 {
            let bytes = self.face(axis, false);
            let [below, above] = self.neighbors[axis];
            let downwards = at.program.begin_receive(bytes, above, tag(axis, 0));
            let upwards = at.program.begin_receive(bytes, below, tag(axis, 1));
            at.program.send(bytes, above, tag(axis, 1));
            at.program.send(bytes, below, tag(axis, 0));
            at.program.wait(&[downwards, upwards]);
        }
    }

    /// `comm3_ex`: those that had points on the coarser level give to those that had none: a face
    /// downwards, two upwards.
    fn expand(&self, at: &mut Rank<'_>, ranks: u32) {
        if ranks == 1 {
            return;
        }
        for axis in 0..3 {
            let bytes = self.face(axis, true);
            let [below, above] = self.neighbors[axis];
            if self.takes[axis] {
                let downwards = at.program.begin_receive(bytes, above, tag(axis, 0));
                let upwards = at.program.begin_receive(2 * bytes, below, tag(axis, 1));
                at.program.wait(&[downwards, upwards]);
            }
            if self.gives[axis] {
                at.program.send(2 * bytes, above, tag(axis, 1));
                at.program.send(bytes, below, tag(axis, 0));
            }
        }
    }

    fn points(&self) -> f64 {
        self.sizes.iter().map(|&size| f64::from(size - 2)).product()
    }
}

impl Benchmark for Mg {
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn rank(&self, at: &mut Rank<'_>, iterations: u32) {
        let levels = self.levels_of(at.rank);
        let top = self.levels;
        let ranks: u32 = self.grid.iter().product();
        // Four passes over each level: restriction (on the finest, the residual again),
        // interpolation, residual and smoother; two over the coarsest.
        let points = |level: usize| (1u64 << (3 * level)) as f64;
        let whole: f64 = (1..=top).map(|level| 4.0 * points(level)).sum();
        let finest = points(top);
        let each = 58.0 * finest / (whole - 2.0 * 8.0);
        let step = |at: &mut Rank<'_>, level: usize| {
            at.compute(each * levels[level].points());
            levels[level].exchange(at, ranks);
        };
        let norm = |at: &mut Rank<'_>| {
            at.call("all-reduce", DOUBLE);
            at.call("all-reduce", DOUBLE);
        };
        step(at, top);
        norm(at);
        for _ in 0..iterations {
            for coarser in (1..top).rev() {
                step(at, coarser);
            }
            step(at, 1);
            for (level, own) in levels.iter().enumerate().skip(2) {
                at.compute(each * own.points());
                own.expand(at, ranks);
                step(at, level);
                step(at, level);
            }
            step(at, top);
        }
        norm(at);
    }
}
