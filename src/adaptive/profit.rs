//! Congestion against distance: the profit of a detour (papers/outflank-routing, section 3.2).

use super::{Candidate, Leg};

/// How the used slots of a candidate's directions are averaged, u_q in equation (15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Over the minimal directions of the first leg.
    FirstLeg,
    /// Their sum divided by the number of minimal directions of the second leg.
    SecondLeg,
    /// Their sum divided by the number of dimensions, for the minimal way too.
    Dimensions,
}

/// When the first fraction of (15) is one although its divisor is not u*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRatio {
    /// If nothing is used in the candidate's directions (as written).
    CandidateIdle,
    /// If nothing is used in some direction, whichever it is.
    AnyIdle,
}

/// The constants of the profit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Weight of the distance, eta in equations (15) and (16), 0 or more.
    pub distance: f64,
    /// How used slots are averaged.
    pub average: Average,
    /// The first fraction when u* is 0.
    pub idle: IdleRatio,
}

/// A way as the profit sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// Bit d set: direction d leads on.
    directions: u32,
    /// What the used slots are divided by.
    divisor: u32,
    /// Weighted ratio of the distances: the second term of (15).
    distance: f64,
}

impl Way {
    /// The minimal way.
    #[must_use]
    pub fn minimal(leg: &Leg, dimensions: u32, weights: &Weights) -> Self {
        let directions = leg.direction_set(dimensions);
        let divisor = match weights.average {
            Average::FirstLeg | Average::SecondLeg => directions.count_ones(),
            Average::Dimensions => dimensions,
        };
        Self { directions, divisor, distance: weights.distance }
    }

    /// A detour from the ends of `minimal`.
    #[must_use]
    pub fn detour(
        candidate: &Candidate,
        minimal: &Leg,
        dimensions: u32,
        weights: &Weights,
    ) -> Self {
        let directions = candidate.first.direction_set(dimensions);
        let divisor = match weights.average {
            Average::FirstLeg => directions.count_ones(),
            Average::SecondLeg => candidate.second.direction_set(dimensions).count_ones(),
            Average::Dimensions => dimensions,
        };
        let ratio = f64::from(minimal.distance()) / f64::from(candidate.distance());
        Self { directions, divisor, distance: weights.distance * ratio }
    }

    /// The profit, equation (15) or (16), or 0 if all slots in all its directions are used.
    ///
    /// `used` counts the used slots of each direction, `capacity` is how many there are.
    #[inline]
    fn profit(&self, used: &[u8], capacity: u32, idle: IdleRatio) -> f64 {
        let (mut sum, mut left) = (0, self.directions);
        while left != 0 {
            sum += u32::from(used[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
        if sum == capacity * self.directions.count_ones() {
            return 0.0;
        }
        let least = u32::from(used.iter().copied().min().unwrap_or(0));
        let ratio = if least == 0 && (sum == 0 || idle == IdleRatio::AnyIdle) {
            1.0
        } else {
            f64::from(least) / (f64::from(sum) / f64::from(self.divisor))
        };
        ratio + self.distance
    }
}

/// The most profitable detour, if it is better than the minimal way; the first of equals (17).
///
/// `used` counts the used slots of each direction, `capacity` is how many there are.
#[must_use]
pub fn best_detour(
    minimal: &Way,
    detours: &[Way],
    used: &[u8],
    capacity: u32,
    idle: IdleRatio,
) -> Option<usize> {
    let mut best = None;
    let mut most = minimal.profit(used, capacity, idle);
    for (number, detour) in detours.iter().enumerate() {
        let profit = detour.profit(used, capacity, idle);
        if profit > most {
            (best, most) = (Some(number), profit);
        }
    }
    best
}
