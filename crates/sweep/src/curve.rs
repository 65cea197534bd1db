//! The loads of a curve that finds them by itself: coarse ones first, then those around the highest
//! that is sustained, then finer ones where the latency bends.
//!
//! Which loads are asked for follows from what was measured at the loads before, and from nothing
//! else: a curve is the same in whatever order, and on however many threads, its points are
//! computed, and whether they were kept by an earlier call.

use std::collections::{BTreeMap, VecDeque};

use flitlab_base::narrow::rounded_down;
use flitlab_scenario::CurvePrecision;

/// Intervals from 0 to the highest load that is sustained that a curve has at the least.
const INTERVALS: f64 = 5.0;

/// Coarse loads below the highest one: at least so many.
const COARSE: f64 = 8.0;

/// Into how many parts a coarse step can be divided.
const FINEST: u64 = 1 << 10;

/// Below this part of the highest load no lower one is looked for if none was sustained.
const LOWEST: f64 = 1e-3;

/// What was measured at a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tried {
    /// Whether the network sustains it.
    pub sustained: bool,
    /// The mean latency of packets, in any unit.
    pub latency: f64,
}

/// A curve while its loads are being found.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    precision: CurvePrecision,
    /// The highest load that is expected to be sustained.
    expected: f64,
    /// What the sources can create at the most.
    most: f64,
    lattice: Lattice,
    /// By the bits of the load, which order as positive numbers do.
    known: BTreeMap<u64, Tried>,
    /// The loads that are asked for and not told, ascending.
    wanted: VecDeque<f64>,
    /// Whether those above the lowest of them that is not sustained are no part of the curve.
    climbs: bool,
    /// Whether they are to find the highest load that is sustained.
    searches: bool,
}

/// Loads that are decimal numbers, or such halved: `numerator / denominator` is the coarse step.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    numerator: u64,
    denominator: u64,
}

impl Lattice {
    /// The largest step of 1, 2 or 5 times a power of ten of which at least [`COARSE`] lie below a
    /// load.
    fn below(load: f64) -> Self {
        let mut found = Self { numerator: 1, denominator: 1 };
        // Up to eight digits behind the point, far below what any network sustains.
        for place in 0..8 {
            let denominator = 10u64.pow(place);
            for numerator in [5, 2, 1] {
                found = Self { numerator, denominator };
                if found.at(FINEST) * COARSE <= load * (1.0 + 1e-9) {
                    return found;
                }
            }
        }
        found
    }

    /// The load of so many finest parts.
    fn at(self, parts: u64) -> f64 {
        (parts * self.numerator) as f64 / (self.denominator * FINEST) as f64
    }

    /// The whole finest parts below a load, or at it.
    fn parts(self, load: f64) -> u64 {
        let parts = load * (self.denominator * FINEST) as f64 / self.numerator as f64;
        rounded_down(parts + 1e-6)
    }

    fn between(self, low: f64, high: f64) -> f64 {
        self.at(self.parts(low).midpoint(self.parts(high)))
    }

    /// The coarse loads above `low`, up to the first that is not below `high`.
    fn coarse(self, low: f64, high: f64) -> impl Iterator<Item = f64> {
        let first = self.parts(low) / FINEST + 1;
        let last = self.parts(high).div_ceil(FINEST).max(first);
        (first..=last).map(move |step| self.at(step * FINEST))
    }
}

impl Curve {
    /// Begins a curve. `expected` is about the highest load that is sustained, or more; `most` what
    /// sources can create.
    pub fn new(expected: f64, most: f64, precision: CurvePrecision) -> Self {
        let expected = expected.min(most);
        let lattice = Lattice::below(expected);
        let (known, wanted) = (BTreeMap::new(), VecDeque::new());
        let (climbs, searches) = (true, true);
        let mut curve =
            Self { precision, expected, most, lattice, known, wanted, climbs, searches };
        curve.wanted = curve.next();
        curve
    }

    /// Whether the wanted loads are to find the highest that is sustained. Then those above the lowest
    /// of them that is not sustained are no part of the curve, and to know of one that it is not
    /// sustained is enough.
    pub fn searches(&self) -> bool {
        self.searches
    }

    /// The loads that it needs next, ascending; none if it is drawn.
    pub fn wanted(&self) -> &VecDeque<f64> {
        &self.wanted
    }

    /// Tells what was measured at the lowest load that is wanted.
    pub fn tell(&mut self, tried: Tried) {
        let Some(load) = self.wanted.pop_front() else { return };
        self.known.insert(load.to_bits(), tried);
        if self.climbs && !tried.sustained {
            self.wanted.clear();
        }
        if self.wanted.is_empty() {
            self.wanted = self.next();
        }
    }

    fn next(&mut self) -> VecDeque<f64> {
        let known = self.known.iter().map(|(&load, &tried)| (f64::from_bits(load), tried));
        let sustained: Vec<(f64, f64)> = known
            .clone()
            .filter(|(_, tried)| tried.sustained)
            .map(|(load, tried)| (load, tried.latency))
            .collect();
        // A load below the highest that is sustained may have been undecided by chance.
        let highest = sustained.last().map_or(0.0, |last| last.0);
        let Some((failed, _)) = known.clone().find(|(load, _)| *load > highest) else {
            return self.coarse();
        };
        if sustained.is_empty() {
            return self.finer(failed);
        }
        self.climbs = false;
        if failed - highest > self.precision.load * failed {
            let middle = self.lattice.between(highest, failed);
            if middle > highest {
                return VecDeque::from([middle]);
            }
        }
        self.searches = false;
        self.bends(&sustained)
    }

    /// The coarse loads, as long as all are sustained.
    fn coarse(&self) -> VecDeque<f64> {
        let known = self.known.last_key_value().map_or(0.0, |(&load, _)| f64::from_bits(load));
        // All that was expected to be the most was sustained, and more: half as much again.
        let high = if known < self.expected { self.expected } else { known * 1.5 };
        let mut loads: VecDeque<f64> =
            self.lattice.coarse(known, high).filter(|&load| load < self.most).collect();
        if loads.len() < self.lattice.coarse(known, high).count() && known < self.most {
            loads.push_back(self.most);
        }
        loads
    }

    /// Coarse loads below one that is not sustained, where none was.
    fn finer(&mut self, failed: f64) -> VecDeque<f64> {
        if failed < LOWEST * self.expected {
            return VecDeque::new();
        }
        self.lattice = Lattice::below(failed);
        self.lattice.coarse(0.0, failed).filter(|&load| load < failed).collect()
    }

    /// Loads between those that are sustained, with their latencies, where the curve between two may
    /// be off the straight line by more than the precision, or there are few.
    fn bends(&self, sustained: &[(f64, f64)]) -> VecDeque<f64> {
        let highest = sustained.last().map_or(0.0, |last| last.0);
        let slope = |two: &[(f64, f64)]| (two[1].1 - two[0].1) / (two[1].0 - two[0].0);
        let slopes: Vec<f64> = sustained.windows(2).map(slope).collect();
        let mut loads = VecDeque::new();
        let mut low = 0.0;
        for (place, &(high, latency)) in sustained.iter().enumerate() {
            let wide = high - low > highest / INTERVALS * (1.0 + 1e-9);
            // Two loads nearer than the precision say the same.
            let can = high - low > self.precision.load * highest;
            let bent = place > 0 && {
                let before = if place > 1 { slopes[place - 2] } else { 0.0 };
                let off = deviation(before, slopes[place - 1], slopes.get(place).copied());
                off * (high - low) > self.precision.latency * latency.min(sustained[place - 1].1)
            };
            let middle = self.lattice.between(low, high);
            let is_new = !self.known.contains_key(&middle.to_bits());
            if can && (wide || bent) && low < middle && middle < high && is_new {
                loads.push_back(middle);
            }
            low = high;
        }
        loads
    }
}

/// By how much a curve can be off the straight line between two of its points, over their distance.
/// The slopes are those of the line before, of the line itself, and of the line after, if there is
/// one. A convex curve, as that of latency over load is, lies above the continuations of the lines
/// at its sides; where it is not convex, by what the points say.
fn deviation(before: f64, own: f64, after: Option<f64>) -> f64 {
    let left = own - before;
    let Some(right) = after.map(|after| after - own) else { return left.abs() };
    if left * right > 0.0 {
        (left * right / (left + right)).abs()
    } else {
        // Chance, or a step.
        left.abs().min(right.abs()) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRECISION: CurvePrecision = CurvePrecision { load: 0.01, latency: 0.05 };

    /// The latency of a server that is taken up to a share by packets of one size.
    fn queue(share: f64) -> f64 {
        1.0 + share / (2.0 * (1.0 - share))
    }

    /// All loads that a curve asks for of a network that sustains so much.
    fn drawn(curve: Curve, saturation: f64) -> Vec<(f64, Tried)> {
        let mut curve = curve;
        while let Some(&load) = curve.wanted().front() {
            assert!(curve.known.len() < 500);
            let sustained = load < saturation;
            curve.tell(Tried { sustained, latency: queue(load / saturation) });
        }
        let known = curve.known.iter();
        known.map(|(&load, &tried)| (f64::from_bits(load), tried)).collect()
    }

    fn sustained(drawn: &[(f64, Tried)]) -> Vec<f64> {
        drawn.iter().filter(|it| it.1.sustained).map(|it| it.0).collect()
    }

    #[test]
    fn the_knee_is_found_within_the_precision_with_few_points() {
        for saturation in [0.031_25, 0.2, 0.437, 0.5, 0.8, 0.993] {
            for expected in [saturation, 1.0] {
                let points = drawn(Curve::new(expected, 4.0, PRECISION), saturation);
                let highest = *sustained(&points).last().unwrap();
                assert!(highest > 0.99 * saturation, "{saturation}: {points:?}");
                assert!(points.len() <= 33, "{saturation}, {expected}: {}", points.len());
                assert!(points.iter().any(|it| !it.1.sustained), "{points:?}");
            }
        }
    }

    #[test]
    fn straight_lines_between_the_points_are_as_near_to_the_curve_as_was_asked_for() {
        for latency in [0.2, 0.05, 0.01] {
            let precision = CurvePrecision { load: 0.002, latency };
            let points = sustained(&drawn(Curve::new(1.0, 4.0, precision), 0.8));
            for two in points.windows(2).filter(|two| two[1] - two[0] > 0.002) {
                for part in 1..20 {
                    let load = two[0] + (two[1] - two[0]) * f64::from(part) / 20.0;
                    let line = queue(two[0] / 0.8)
                        + (queue(two[1] / 0.8) - queue(two[0] / 0.8)) * f64::from(part) / 20.0;
                    let curve = queue(load / 0.8);
                    assert!((line - curve).abs() <= latency * curve, "{two:?} {line} {curve}");
                }
            }
        }
    }

    #[test]
    fn coarse_loads_are_plain_decimals_and_the_same_for_like_networks() {
        let of = |expected| drawn(Curve::new(expected, 4.0, PRECISION), 0.55);
        for points in [of(1.0), of(0.9)] {
            for load in [0.1, 0.2, 0.3, 0.4, 0.5] {
                assert!(points.iter().any(|it| it.0 == load), "{load}: {points:?}");
            }
        }
    }

    #[test]
    fn a_curve_is_never_a_lone_point() {
        for saturation in [0.004, 0.019, 0.11, 0.3, 1.0] {
            let points = sustained(&drawn(Curve::new(1.0, 1.0, PRECISION), saturation));
            assert!(points.len() >= 6, "{saturation}: {points:?}");
            let widest = points.windows(2).map(|two| two[1] - two[0]).fold(points[0], f64::max);
            assert!(widest <= points[points.len() - 1] / 4.9, "{saturation}: {points:?}");
        }
    }

    #[test]
    fn what_sources_can_create_ends_a_curve_that_nothing_else_ends() {
        for most in [0.3, 0.95, 1.7] {
            let points = drawn(Curve::new(1.0, most, PRECISION), 8.0);
            assert_eq!(points.last().unwrap().0, most);
            assert!(points.iter().all(|it| it.1.sustained) && points.len() < 40, "{points:?}");
        }
    }

    #[test]
    fn nothing_that_is_sustained_ends_the_search_too() {
        let points = drawn(Curve::new(1.0, 4.0, PRECISION), 0.0);
        assert!(!points.is_empty() && points.len() < 6, "{points:?}");
    }

    #[test]
    fn a_load_below_the_knee_that_is_undecided_by_chance_is_not_its_end() {
        let mut curve = Curve::new(1.0, 4.0, PRECISION);
        let mut by_chance = 0;
        while let Some(&load) = curve.wanted().front() {
            // Of the loads between those that are coarse.
            let undecided = (0.505..0.58).contains(&load);
            by_chance += usize::from(undecided);
            let sustained = load < 0.61 && !undecided;
            curve.tell(Tried { sustained, latency: queue((load / 0.61).min(0.99)) });
        }
        let highest = curve.known.iter().rev().find(|(_, tried)| tried.sustained).unwrap();
        let highest = f64::from_bits(*highest.0);
        assert!(by_chance > 0 && highest > 0.6, "{by_chance} {highest}");
    }

    #[test]
    fn loads_above_the_first_that_is_not_sustained_are_no_part_of_it() {
        let mut curve = Curve::new(1.0, 4.0, PRECISION);
        let asked: Vec<f64> = curve.wanted().iter().copied().collect();
        assert_eq!(asked, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        for load in asked {
            curve.tell(Tried { sustained: load < 0.35, latency: 1.0 });
            if load == 0.4 {
                break;
            }
        }
        assert_eq!(curve.wanted(), &[0.35]);
    }
}
