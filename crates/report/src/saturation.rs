//! A sustained load from a search for saturation, as a row of `saturation.csv`.

use serde::{Serialize, Serializer};

use super::table::{Given, Number, table};
use super::{Label, Labelled};
use flitlab_model::interval::half_width_95_of_few;

table! {
    /// The bounds between which a search for saturation has found the highest sustained load.
    pub struct Sustained {
        /// The highest load tried that was shown to be steady, as a fraction of the fabric's
        /// capacity.
        sustained_load: f64 as Given<Number>, "sustained_load", "highest sustained load", Throughput, usual;
        /// The lowest load tried that was not; nothing if the search came up to the bound.
        lowest_load_not_sustained: Option<f64> as Number, "lowest_load_not_sustained", "lowest load not sustained", Throughput, usual;
    }
}

/// A search for saturation: its point, of which `point` is the number in the sweep, and what it
/// found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SustainedLoad {
    pub label: Label,
    pub found: Sustained,
}

impl Serialize for SustainedLoad {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Labelled::new(&self.label, &self.found).serialize(serializer)
    }
}

/// The searches of one series, which differ in their seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SustainedLoads<'s> {
    /// Without the seed.
    pub series: String,
    pub label: &'s Label,
    /// The mean over the searches.
    pub mean: f64,
    /// Of one search its bounds, if it has two. Of several the mean of the lower bounds to that of
    /// the upper ones, wider at each end by half the width of the 95% confidence interval of a mean
    /// (Student's t): seeds may agree better than a search tells loads apart.
    pub interval: Option<(f64, f64)>,
    pub searches: usize,
    /// Whether some search came to a load that was not sustained.
    pub saturates: bool,
}

impl<'s> SustainedLoads<'s> {
    /// All series in the order in which they first appear.
    pub fn of(all: &'s [SustainedLoad]) -> Vec<Self> {
        let mut series: Vec<(String, &Label, Vec<&Sustained>)> = Vec::new();
        for SustainedLoad { label, found } in all {
            let own = label.series_without_seed();
            match series.iter_mut().find(|(name, ..)| *name == own) {
                Some((.., searches)) => searches.push(found),
                None => series.push((own, label, vec![found])),
            }
        }
        series
            .into_iter()
            .map(|(series, label, own)| Self::of_series(series, label, &own))
            .collect()
    }

    fn of_series(series: String, label: &'s Label, searches: &[&Sustained]) -> Self {
        let loads: Vec<f64> = searches.iter().map(|it| it.sustained_load).collect();
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let highest = |it: &&Sustained| it.lowest_load_not_sustained.unwrap_or(it.sustained_load);
        let highest = searches.iter().map(highest).sum::<f64>() / loads.len() as f64;
        let interval = match searches {
            [only] => only.lowest_load_not_sustained.map(|failed| (mean, failed)),
            _ => half_width_95_of_few(&loads).map(|half| (mean - half, highest + half)),
        };
        let saturates = searches.iter().any(|it| it.lowest_load_not_sustained.is_some());
        Self { series, label, mean, interval, searches: searches.len(), saturates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_searches_make_a_mean_with_its_interval_and_one_has_its_bounds() {
        let search = |series: &str, seed, load, failed| SustainedLoad {
            label: Label { series: series.into(), seed, ..Label::default() },
            found: Sustained { sustained_load: load, lowest_load_not_sustained: failed },
        };
        let all = [
            search("a", 1, 0.50, Some(0.52)),
            search("b", 1, 0.70, None),
            search("a", 2, 0.52, Some(0.54)),
            search("a, seed 3", 3, 0.54, Some(0.56)),
        ];
        let [a, b] = &SustainedLoads::of(&all)[..] else { panic!("two series") };
        assert_eq!((a.series.as_str(), a.searches, a.saturates), ("a", 3, true));
        // Standard deviation 0.02, 2 degrees of freedom: 4.3026527 * 0.02 / sqrt(3).
        let (low, high) = a.interval.unwrap();
        assert!((low - 0.470_317_5).abs() < 1e-6 && (high - 0.589_682_5).abs() < 1e-6);
        assert_eq!((b.mean, b.interval, b.saturates), (0.70, None, false));
        assert_eq!(SustainedLoads::of(&all[..1])[0].interval, Some((0.50, 0.52)));
    }
}
