//! Motifs of SST's Ember: the communication of programs on grids, without the programs.
//!
//! Source: `sst-elements/src/sst/elements/ember/mpi/motifs`, a file named there for each one. Ranks
//! are counted along the first dimension first, as there. `Init` and `Fini`, with which a run of
//! Ember begins and ends, are [`Parameters::fini`].

mod fft3d;
mod halo3d;
mod halo3d26;
mod ping_pong;
mod sweep3d;

pub(super) use fft3d::fft3d;
pub(super) use halo3d::halo3d;
pub(super) use halo3d26::halo3d26;
pub(super) use ping_pong::{all_ping_pong, ping_pong, ring};
pub(super) use sweep3d::sweep3d;

use super::Parameters;
use flitlab_base::narrow::narrow;

/// Bytes of a number.
const NUMBER: u64 = 8;

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

    /// The neighbour so many steps off in each dimension, if the grid goes so far.
    fn neighbor(&self, offset: &[i8; N]) -> Option<u32> {
        let mut rank = 0;
        for ((&size, &at), &step) in self.grid.iter().zip(&self.at).zip(offset).rev() {
            let at = at.checked_add_signed(step.into()).filter(|&at| at < size)?;
            rank = rank * size + at;
        }
        Some(rank)
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
