//! Natural logarithms of many numbers at once.
//!
//! They are those of `libm` to the last bit: the same operations in the same order, without the
//! branches for numbers that do not occur here. So compilers can make vector instructions of the
//! loop. The polynomial and its coefficients are those of FreeBSD's `e_log.c`, which is:
//!
//! > Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//! > Developed at SunSoft, a Sun Microsystems, Inc. business.
//! > Permission to use, copy, modify, and distribute this software is freely granted, provided that
//! > this notice is preserved.

/// The natural logarithm of 2, as the sum of a number with zeros in its lowest bits and a rest.
const LN_2: [f64; 2] =
    [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];

/// The coefficients of the polynomial.
const COEFFICIENTS: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5593),
    f64::from_bits(0x3fd9_9999_9997_fa04),
    f64::from_bits(0x3fd2_4924_9422_9359),
    f64::from_bits(0x3fcc_71c5_1d8e_78af),
    f64::from_bits(0x3fc7_4664_96cb_03de),
    f64::from_bits(0x3fc3_9a09_d078_c69f),
    f64::from_bits(0x3fc2_f112_df3e_5244),
];

/// Bits of the mantissa of a float.
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of 1 as a float has it.
const BIAS: i32 = 1 - f64::MIN_EXP + 1;
/// The upper half of the root of 1/2 as a float.
const ROOT: u64 = 0x3fe6_a09e << 32;

/// Replaces numbers by their natural logarithms. They have to be normal floats above 0.
#[inline]
pub(super) fn logarithms(numbers: &mut [f64]) {
    for number in numbers {
        *number = logarithm(*number);
    }
}

#[inline(always)]
fn logarithm(number: f64) -> f64 {
    // The number is 2^exponent times one between the root of 1/2 and that of 2.
    let bits = number.to_bits() + (1f64.to_bits() - ROOT);
    let exponent = f64::from((bits >> MANTISSA) as i32 - BIAS);
    let reduced = f64::from_bits((bits & ((1 << MANTISSA) - 1)) + ROOT);
    let [c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
    let f = reduced - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (c2 + w * (c4 + w * c6));
    let odd = z * (c1 + w * (c3 + w * (c5 + w * c7)));
    let rest = odd + even;
    let [high, low] = LN_2;
    s * (half_square + rest) + exponent * low - half_square + f + exponent * high
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn logarithms_are_those_of_libm() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let near_one = (0..100).flat_map(|bits| [1f64.to_bits() + bits, 1f64.to_bits() - bits]);
        let mut numbers: Vec<f64> = near_one.map(f64::from_bits).collect();
        for exponent in f64::MIN_EXP - 1..f64::MAX_EXP {
            let power = 2f64.powi(exponent);
            let root = power * std::f64::consts::SQRT_2;
            let about = |float: f64| [-1, 0, 1].map(|it| float.to_bits().wrapping_add_signed(it));
            numbers.extend(about(power * 1.5).map(f64::from_bits));
            numbers.extend(about(root).map(f64::from_bits));
            numbers.push(power);
        }
        let uniform = |_| (1 + (random.random::<u64>() >> 11)) as f64 / (1_u64 << 53) as f64;
        numbers.extend((0..200_000).map(uniform));
        let expected: Vec<u64> = numbers.iter().map(|&it| libm::log(it).to_bits()).collect();
        logarithms(&mut numbers);
        let found: Vec<u64> = numbers.iter().map(|it| it.to_bits()).collect();
        assert!(found == expected);
    }
}
