//! The statistics a benchmark needs. None is an arithmetic mean of times, because a single interruption moves a mean.

/// Returns the median; for an even count, the lower of the two middle values. Sorts its argument.
///
/// # Panics
/// If there are no values.
pub fn median(values: &mut [f64]) -> f64 {
    percentile(values, 50.0)
}

/// Returns the smallest value that at least `percent` of all values do not exceed. Sorts its argument.
///
/// # Panics
/// If there are no values.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * percent / 100.0).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

/// Returns the mean for ratios (0.5 and 2 average to 1), or `None` if there are no values.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut logarithms, mut count) = (0.0, 0_u32);
    for value in values {
        logarithms += value.ln();
        count += 1;
    }
    (count > 0).then(|| (logarithms / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_the_outlier() {
        assert_eq!(median(&mut [3.0, 1.0, 1e9]), 3.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.0);
        assert_eq!(median(&mut [7.0]), 7.0);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let mut values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&mut values, 99.0), 99.0);
        assert_eq!(percentile(&mut values, 0.0), 1.0);
        assert_eq!(percentile(&mut values, 100.0), 100.0);
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        let mean = geometric_mean([0.5, 2.0]).expect("two values");
        assert!((mean - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
    }
}
