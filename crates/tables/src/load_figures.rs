//! Figures of the loads of channels between routers, and of their evenness (\[angara-routing\],
//! section 1.1).

use serde::{Serialize, Serializer};

use flitlab_base::narrow::rounded;
use flitlab_fabric::Channel;

/// Figures of channel loads. A channel's load is the number of ordered pairs of nodes or terminals
/// whose route takes it; of several routes of a pair each counts as its share of the pair's packets.
/// For a forwarding table the load is multiplied by the channel's slowness relative to the fastest
/// ones, and rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LoadFigures {
    /// Load of the fullest channel: the edge-forwarding index.
    #[serde(rename = "maximum_load", serialize_with = "plain")]
    pub maximum: f64,
    /// Load of the channel that carries least.
    #[serde(rename = "minimum_load", serialize_with = "plain")]
    pub minimum: f64,
    /// Mean load over all channels.
    #[serde(rename = "mean_load")]
    pub mean: f64,
    /// Mean load if every route had the least hops that the network allows.
    #[serde(rename = "perfect_load")]
    pub perfect: f64,
    /// Mean deviation from the perfect load.
    pub sigma_1: f64,
    /// Root of the mean square deviation from the perfect load.
    pub sigma_2: f64,
    /// Fourth root of the mean fourth power of the deviation from the perfect load.
    pub sigma_4: f64,
}

impl LoadFigures {
    /// The figures of these loads. `least_hops` is the sum of the least hops of all routes.
    pub fn new(loads: &[(Channel, f64)], least_hops: u64) -> Self {
        let channels = loads.len().max(1) as f64;
        let load = || loads.iter().map(|&(_, load)| load);
        let perfect = least_hops as f64 / channels;
        let sigma = |power| deviation(loads, perfect, power);
        Self {
            maximum: load().fold(0.0, f64::max),
            minimum: load().reduce(f64::min).unwrap_or(0.0),
            mean: load().sum::<f64>() / channels,
            perfect,
            sigma_1: sigma(1),
            sigma_2: sigma(2),
            sigma_4: sigma(4),
        }
    }
}

/// Whole numbers as such, without a fraction.
fn plain<S: Serializer>(load: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match rounded::<u64>(*load) {
        whole if whole as f64 == *load => serializer.serialize_u64(whole),
        _ => serializer.serialize_f64(*load),
    }
}

/// Most powers of a [`deviation`]: those of loads below 2^30 are numbers.
pub const MAX_POWER: u8 = 32;

/// Sigma(k) of channel loads: the k-th root of the mean k-th power of their deviations from the
/// perfect load. `power` is k, from 1 to [`MAX_POWER`].
pub fn deviation(loads: &[(Channel, f64)], perfect: f64, power: u8) -> f64 {
    let powers = loads.iter().map(|&(_, load)| (load - perfect).abs().powi(i32::from(power)));
    let mean = powers.sum::<f64>() / loads.len().max(1) as f64;
    libm::pow(mean, 1.0 / f64::from(power))
}

/// What is counted over some of the routes.
#[derive(Default)]
pub(super) struct RouteCount {
    /// Ordered pairs that have a route, and that have none.
    pub routed: u64,
    pub unrouted: u64,
    /// Hops of all routes, and of the longest one.
    pub hops: u64,
    pub hops_maximum: u32,
    /// As these two, if every route had the least hops.
    pub least_hops: u64,
    pub least_maximum: u32,
    /// By channel; empty for none.
    pub loads: Vec<f64>,
}

impl RouteCount {
    /// Adds the routes of some pairs, all of one length, but for their loads.
    pub fn add(&mut self, pairs: u64, hops: u32, least: u32) {
        self.routed += pairs;
        if pairs > 0 {
            self.hops += pairs * u64::from(hops);
            self.hops_maximum = self.hops_maximum.max(hops);
            self.least_hops += pairs * u64::from(least);
            self.least_maximum = self.least_maximum.max(least);
        }
    }

    pub fn merge(self, other: Self) -> Self {
        Self {
            routed: self.routed + other.routed,
            unrouted: self.unrouted + other.unrouted,
            hops: self.hops + other.hops,
            hops_maximum: self.hops_maximum.max(other.hops_maximum),
            least_hops: self.least_hops + other.least_hops,
            least_maximum: self.least_maximum.max(other.least_maximum),
            loads: add_loads(self.loads, other.loads),
        }
    }
}

/// Adds up loads by channel, of which either may be empty for none.
fn add_loads(mut loads: Vec<f64>, mut more: Vec<f64>) -> Vec<f64> {
    if loads.len() < more.len() {
        std::mem::swap(&mut loads, &mut more);
    }
    for (load, more) in loads.iter_mut().zip(&more) {
        *load += more;
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_means_of_powers() {
        let figures = LoadFigures::new(&[(0, 1.0), (1, 5.0), (2, 3.0), (5, 3.0)], 12);
        assert_eq!(
            (figures.maximum, figures.minimum, figures.mean, figures.perfect),
            (5.0, 1.0, 3.0, 3.0)
        );
        assert_eq!((figures.sigma_1, figures.sigma_2), (1.0, 2f64.sqrt()));
        assert!((figures.sigma_4 - 8f64.powf(0.25)).abs() < 1e-12);
        assert!((deviation(&[(0, 1.0), (1, 5.0)], 3.0, 3) - 2.0).abs() < 1e-12);
        // The higher the power, the nearer to the greatest deviation.
        let high = deviation(&[(0, f64::from(1 << 30)), (1, 0.0)], 0.0, MAX_POWER);
        assert!((0.97..1.0).contains(&(high / f64::from(1 << 30))), "{high}");
    }

    #[test]
    fn loads_add_up_whichever_is_empty() {
        assert_eq!(add_loads(vec![], vec![1.0, 2.0]), [1.0, 2.0]);
        assert_eq!(add_loads(vec![3.0, 4.0], vec![]), [3.0, 4.0]);
        assert_eq!(add_loads(vec![3.0, 4.0], vec![1.0, 2.0]), [4.0, 6.0]);
    }
}
