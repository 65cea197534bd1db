//! Places and lengths of a drawing in the types that file formats have.
//!
//! Values may lie far outside the axes, and a drawing must not fail for it: what is beyond the
//! canvas is cut off there, so a place as far away as the type reaches will do for one farther.

/// The nearest number in single precision: a thousandth of a point is left of a page of a metre.
#[expect(clippy::cast_possible_truncation, reason = "precision that no eye can see is given up")]
pub(super) fn single(length: f64) -> f32 {
    length as f32
}

/// The nearest whole number; the type's ends for what is beyond them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "whole, and farther than any canvas at the ends"
)]
pub(super) fn whole(length: f64) -> i32 {
    length.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_far_off_the_canvas_stays_off_it() {
        assert_eq!([-1e300, -0.5, 0.4, 1e300].map(whole), [i32::MIN, -1, 0, i32::MAX]);
    }
}
