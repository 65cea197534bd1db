//! Conversions of numbers to smaller types, each checked.
//!
//! Other modules keep the limits under which a number fits: a fabric has fewer than 2^32 routers,
//! terminals and channels, a torus has at most six dimensions of 1024 nodes, and a table has at
//! most 16 virtual channels. So a number that does not fit is a bug of flitlab. It causes a panic
//! that names the number, the type and the line. Values that users write are refused earlier, by
//! `try_from` or [`try_rounded`], with a message.

use std::any::type_name;
use std::fmt::Display;

/// Converts a whole number to another type.
///
/// # Panics
/// If the type can't hold it.
#[inline]
#[track_caller]
pub fn narrow<N>(value: impl TryInto<N> + Copy + Display) -> N {
    match value.try_into() {
        Ok(narrowed) => narrowed,
        Err(_) => does_not_fit(&value, type_name::<N>()),
    }
}

/// Converts a whole number like [`narrow`](crate::narrow::narrow), in the hottest loops; the type
/// is the second argument. The check is on where debug assertions are on, as they are in all tests.
#[macro_export]
macro_rules! fitted {
    ($value:expr, $Type:ty) => {{
        let value = $value;
        debug_assert!(
            <$Type>::try_from(value).is_ok(),
            "{value} does not fit into {}",
            stringify!($Type)
        );
        #[allow(clippy::cast_possible_truncation, reason = "checked above")]
        let fitted = value as $Type;
        fitted
    }};
}

pub use fitted;

/// The next lower whole number, or the number itself if it is whole.
///
/// # Panics
/// If the number is not finite or the type can't hold the result.
#[track_caller]
pub fn rounded_down<N: TryFrom<i128>>(value: f64) -> N {
    whole(value.floor()).unwrap_or_else(|| does_not_fit(&value, type_name::<N>()))
}

/// The nearest whole number, a half rounded away from zero.
///
/// # Panics
/// If the number is not finite or the type can't hold the result.
#[track_caller]
pub fn rounded<N: TryFrom<i128>>(value: f64) -> N {
    try_rounded(value).unwrap_or_else(|| does_not_fit(&value, type_name::<N>()))
}

/// The nearest whole number, as [`rounded`]; `None` if it is not finite or the type can't hold it.
pub fn try_rounded<N: TryFrom<i128>>(value: f64) -> Option<N> {
    whole(value.round())
}

fn whole<N: TryFrom<i128>>(value: f64) -> Option<N> {
    const LIMIT: f64 = (1u128 << 127) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within i128")]
    let whole = (value.abs() < LIMIT).then_some(value as i128)?;
    N::try_from(whole).ok()
}

#[cold]
#[track_caller]
fn does_not_fit(value: &dyn Display, name: &str) -> ! {
    panic!("{value} does not fit {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_fits_keeps_its_value() {
        assert_eq!(narrow::<u8>(255usize), 255);
        assert_eq!(narrow::<i16>(-32_768i64), -32_768);
        assert_eq!(narrow::<u32>(7u32), 7);
    }

    #[test]
    #[should_panic(expected = "256 does not fit u8")]
    fn a_number_one_too_large_is_named() {
        narrow::<u8>(256usize);
    }

    #[test]
    #[should_panic(expected = "-1 does not fit u32")]
    fn a_lost_sign_is_named() {
        narrow::<u32>(-1i64);
    }

    #[test]
    fn fractions_are_rounded_as_named() {
        assert_eq!([2.0, 2.5, 2.99].map(rounded_down::<u32>), [2, 2, 2]);
        assert_eq!([2.0, 2.49, 2.5].map(rounded::<u32>), [2, 2, 3]);
        assert_eq!((rounded_down::<i32>(-2.5), rounded::<i32>(-2.5)), (-3, -3));
        assert_eq!(rounded::<u64>(-0.4), 0);
        assert_eq!(rounded_down::<u128>(2f64.powi(100)), 1 << 100);
    }

    #[test]
    fn what_no_whole_number_of_the_type_stands_for_is_none() {
        let beyond = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1.0, 2f64.powi(64)];
        assert!(beyond.iter().all(|&value| try_rounded::<u64>(value).is_none()));
        assert_eq!(try_rounded(2f64.powi(64) - 2048.0), Some(u64::MAX - 2047));
    }

    #[test]
    #[should_panic(expected = "NaN does not fit u32")]
    fn not_a_number_is_not_0() {
        rounded::<u32>(f64::NAN);
    }
}
