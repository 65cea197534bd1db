//! Permutations computed from a node's number or coordinates.
//!
//! Definitions: W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004,
//! section 3.2, with node s and destination d. Bits are those of the node's number, b of them;
//! coordinates s_i run from 0 to k_i - 1.

use super::PatternError;
use super::nodes::Nodes;
use super::sizes;
use crate::topology::{DIMENSION_NAMES, Torus};

/// One coordinate of the destination: a coordinate of the source, shifted cyclically.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// Node number step of the source's coordinate.
    divisor: u32,
    /// Size of both dimensions.
    size: u32,
    shift: u32,
    /// Node number step of the destination's coordinate.
    stride: u32,
}

/// A permutation of all node numbers, failed ones included.
#[derive(Clone, Debug)]
pub(super) enum Permutation {
    Coordinates(Vec<Axis>),
    /// The node number as row and column of a square matrix of this side, swapped.
    Matrix {
        side: u32,
    },
    Reverse {
        bits: u32,
    },
    Complement {
        bits: u32,
    },
    Rotate {
        bits: u32,
    },
}

impl Permutation {
    /// d_i = s_(i + n/2 mod n): in two dimensions (x,y) -> (y,x).
    pub(super) fn transpose(torus: &Torus) -> Result<Self, PatternError> {
        let (lengths, dimensions) = (torus.sizes(), torus.dimensions());
        let half = dimensions / 2;
        let refuse = |needs: String, has: String| {
            Err(sizes::refusal("transpose", needs, has, lengths, sizes::halves_alike(lengths)))
        };
        if !dimensions.is_multiple_of(2) {
            return refuse("an even number of dimensions".into(), dimensions.to_string());
        }
        if let Some(i) = (0..half).find(|&i| lengths[i] != lengths[i + half]) {
            let (one, other) = (DIMENSION_NAMES[i], DIMENSION_NAMES[i + half]);
            return refuse(
                format!("dimensions {one} and {other} of equal size"),
                format!("{} and {}", lengths[i], lengths[i + half]),
            );
        }
        Ok(Self::coordinates(torus, half, |_| 0))
    }

    /// (x,y,z) -> (y,z,x), as the authors of papers/outflank-routing define it for three dimensions.
    pub(super) fn transpose_3d(torus: &Torus) -> Result<Self, PatternError> {
        let lengths = torus.sizes();
        let has = match lengths {
            [x, y, z] if x == y && y == z => return Ok(Self::coordinates(torus, 1, |_| 0)),
            [x, y, z] => format!("{x}, {y} and {z}"),
            [_] => "1 dimension".into(),
            _ => format!("{} dimensions", lengths.len()),
        };
        let needs = "three dimensions of equal size".into();
        Err(sizes::refusal("transpose-3d", needs, has, lengths, sizes::cubes(lengths)))
    }

    /// With N = m * m nodes, node i * m + j sends to node j * m + i. For b even this is Dally and
    /// Towles' transpose d_i = s_(i + b/2 mod b) on bits.
    pub(super) fn transpose_linear(nodes: Nodes<'_>) -> Result<Self, PatternError> {
        let side = nodes.count().isqrt();
        if side * side == nodes.count() {
            return Ok(Self::Matrix { side });
        }
        let needs = "a square number of nodes";
        Err(sizes::refusal_of_count("transpose-linear", needs, nodes, sizes::squares))
    }

    /// d_i = s_i + 1 mod k_i in every dimension.
    pub(super) fn neighbor(torus: &Torus) -> Self {
        Self::coordinates(torus, 0, |size| 1 % size)
    }

    /// d_i = s_i + ceil(k_i / 2) - 1 mod k_i in every dimension.
    pub(super) fn tornado(torus: &Torus) -> Self {
        Self::coordinates(torus, 0, |size| size.div_ceil(2) - 1)
    }

    /// d_i = s_(b - 1 - i) on bits.
    pub(super) fn bit_reverse(nodes: Nodes<'_>) -> Result<Self, PatternError> {
        Ok(Self::Reverse { bits: bits("bit-reverse", nodes)? })
    }

    /// d_i = not s_i on bits.
    pub(super) fn bit_complement(nodes: Nodes<'_>) -> Result<Self, PatternError> {
        Ok(Self::Complement { bits: bits("bit-complement", nodes)? })
    }

    /// d_i = s_(i - 1 mod b) on bits: rotated left by one.
    pub(super) fn shuffle(nodes: Nodes<'_>) -> Result<Self, PatternError> {
        Ok(Self::Rotate { bits: bits("shuffle", nodes)? })
    }

    /// d_i = s_(i + turn mod n) + shift(k_i); the dimensions so joined must be of equal size.
    fn coordinates(torus: &Torus, turn: usize, shift: impl Fn(u32) -> u32) -> Self {
        let lengths = torus.sizes();
        let stride = |dimension: usize| lengths[..dimension].iter().product();
        let axes = (0..lengths.len()).map(|to| {
            let from = (to + turn) % lengths.len();
            let size = lengths[to];
            Axis { divisor: stride(from), size, shift: shift(size), stride: stride(to) }
        });
        Self::Coordinates(axes.collect())
    }

    /// Where a node sends; itself at a fixed point.
    pub(super) fn image(&self, node: u32) -> u32 {
        match self {
            Self::Coordinates(axes) => axes
                .iter()
                .map(|axis| {
                    (node / axis.divisor % axis.size + axis.shift) % axis.size * axis.stride
                })
                .sum(),
            Self::Matrix { side } => node % side * side + node / side,
            Self::Reverse { bits } => node.reverse_bits() >> (u32::BITS - bits),
            Self::Complement { bits } => node ^ ((1 << bits) - 1),
            Self::Rotate { bits } => (node << 1) & ((1 << bits) - 1) | node >> (bits - 1),
        }
    }
}

/// Bits of a node's number; refuses a number of nodes that is no power of two.
pub(super) fn bits(pattern: &'static str, nodes: Nodes<'_>) -> Result<u32, PatternError> {
    if nodes.count().is_power_of_two() {
        return Ok(nodes.count().trailing_zeros());
    }
    Err(sizes::refusal_of_count(pattern, "a power of two of nodes", nodes, sizes::powers_of_two))
}
