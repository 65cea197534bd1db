//! Permutations of coordinates.

use super::PatternRule;
use flitlab_fabric::Torus;

/// One coordinate of the destination: a coordinate of the source, shifted cyclically.
struct Axis {
    /// Node number step of the source's coordinate.
    divisor: u32,
    /// Size of both dimensions.
    size: u32,
    shift: u32,
    /// Node number step of the destination's coordinate.
    stride: u32,
}

/// d_i = s_(i + turn mod n) + shift(k_i); the dimensions so joined must be of equal size.
pub(super) fn shifted(
    torus: &Torus,
    turn: usize,
    shift: impl Fn(u32) -> u32,
) -> Box<dyn PatternRule> {
    let lengths = torus.sizes();
    let stride = |dimension: usize| lengths[..dimension].iter().product();
    let axes = (0..lengths.len()).map(|to| {
        let from = (to + turn) % lengths.len();
        let size = lengths[to];
        Axis { divisor: stride(from), size, shift: shift(size), stride: stride(to) }
    });
    let axes: Vec<Axis> = axes.collect();
    let along = |axis: &Axis, node: u32| {
        (node / axis.divisor % axis.size + axis.shift) % axis.size * axis.stride
    };
    Box::new(move |node| axes.iter().map(|axis| along(axis, node)).sum())
}
