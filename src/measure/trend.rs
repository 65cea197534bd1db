//! Whether what is under way still grows: least-squares slope over equally spaced samples.

/// Slope of the samples' regression line, in units of a sample per sampling interval; 0 for fewer
/// than two samples.
#[must_use]
pub fn slope(samples: &[f64]) -> f64 {
    let count = samples.len() as f64;
    if samples.len() < 2 {
        return 0.0;
    }
    let middle = (count - 1.0) / 2.0;
    let mean = samples.iter().sum::<f64>() / count;
    let (mut product, mut square) = (0.0, 0.0);
    for (place, sample) in samples.iter().enumerate() {
        let offset = place as f64 - middle;
        product += offset * (sample - mean);
        square += offset * offset;
    }
    product / square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_a_level_none() {
        assert_eq!(slope(&[1.0, 3.0, 5.0, 7.0]), 2.0);
        assert_eq!(slope(&[4.0; 9]), 0.0);
        assert_eq!(slope(&[1.0]), 0.0);
        assert_eq!(slope(&[0.0, 1.0, 0.0, 1.0, 0.0]), 0.0);
    }
}
