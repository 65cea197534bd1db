//! Congestion against distance: the profit of a detour (\[outflank\], section 3.2).

use super::{Candidate, Leg};

/// The average of the used slots of a route's directions, u_q in equation (15) and u_0 in (16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Over the directions in which the route leaves the source (as written).
    Directions,
    /// As in Pick Orthant Routing of the simulator of \[outflank\]: a queue's slots less the
    /// average of the free ones, which for a detour are divided by the number of dimensions. One
    /// without hops counts as full.
    FreeOverDimensions,
    /// As in OutFlank Routing of the simulator of \[outflank\]: the free slots of a detour are
    /// divided by the number of minimal directions of its second leg. What is left as used may be
    /// zero, or less.
    FreeOverSecondLeg,
}

/// The cases in which the first fraction of (15) is one although its divisor is not u*.
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
    /// The average of used slots.
    pub average: Average,
    /// The first fraction when u* is 0.
    pub idle: IdleRatio,
}

/// A route as the profit sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeighedRoute {
    /// Bit d set: direction d leads on.
    directions: u32,
    /// The divisor of the used slots, or of the free ones.
    divisor: u32,
    /// Whether free slots are averaged.
    free: bool,
    /// Weighted ratio of the distances: the second term of (15).
    distance: f64,
}

impl WeighedRoute {
    /// The minimal route.
    pub fn minimal(leg: &Leg, dimensions: u32, weights: &Weights) -> Self {
        let directions = leg.direction_set(dimensions);
        let divisor = directions.count_ones();
        let free = weights.average != Average::Directions;
        Self { directions, divisor, free, distance: weights.distance }
    }

    /// A detour from the ends of `minimal`.
    pub fn detour(
        candidate: &Candidate,
        minimal: &Leg,
        dimensions: u32,
        weights: &Weights,
    ) -> Self {
        let directions = candidate.first.direction_set(dimensions);
        let divisor = match weights.average {
            Average::Directions => directions.count_ones(),
            Average::FreeOverDimensions => dimensions,
            Average::FreeOverSecondLeg => candidate.second.direction_set(dimensions).count_ones(),
        };
        let free = weights.average != Average::Directions;
        let dilation = f64::from(candidate.distance()) / f64::from(minimal.distance());
        Self { directions, divisor, free, distance: weights.distance / dilation }
    }

    /// A route that leaves by these directions. `ratio` is the shortest distance divided by the
    /// route's own, 1 for the minimal route.
    pub fn new(directions: u32, ratio: f64, weights: &Weights) -> Self {
        let divisor = directions.count_ones();
        Self { directions, divisor, free: false, distance: weights.distance * ratio }
    }

    /// The profit, equation (15) or (16), or 0 if no slot is free in any of its directions.
    #[inline]
    fn profit<Slots: Copy + Ord + Into<u32>>(
        &self,
        congestion: &Congestion<'_, Slots>,
        idle: IdleRatio,
    ) -> f64 {
        let &Congestion { used, full, least } = congestion;
        let (mut sum, mut left) = (0, self.directions);
        let mut free = false;
        while left != 0 {
            let used = used[left.trailing_zeros() as usize].into();
            sum += used;
            free |= used < full;
            left &= left - 1;
        }
        if !free {
            return 0.0;
        }
        let divisor = f64::from(self.divisor);
        let average = if self.free {
            let free = (full * self.directions.count_ones()).saturating_sub(sum);
            f64::from(full) - f64::from(free) / divisor
        } else {
            f64::from(sum) / divisor
        };
        let ratio = if least == 0 && (sum == 0 || idle == IdleRatio::AnyIdle) {
            1.0
        } else {
            f64::from(least) / average
        };
        ratio + self.distance
    }
}

/// The used slots of each direction.
#[derive(Clone, Copy, Debug)]
struct Congestion<'u, Slots> {
    used: &'u [Slots],
    /// From this number of used slots on, none is free.
    full: u32,
    /// The least used slots of a direction, u*.
    least: u32,
}

impl<'u, Slots: Copy + Ord + Into<u32>> Congestion<'u, Slots> {
    fn new(used: &'u [Slots], full: u32) -> Self {
        Self { used, full, least: used.iter().copied().min().map_or(0, Into::into) }
    }
}

/// The most profitable detour, if it is better than the minimal route; the first among equals (17).
///
/// `used` counts the used slots of each direction; from `full` on, none is free.
pub fn best_detour<Slots: Copy + Ord + Into<u32>>(
    minimal: &WeighedRoute,
    detours: impl IntoIterator<Item = WeighedRoute>,
    used: &[Slots],
    full: u32,
    idle: IdleRatio,
) -> Option<usize> {
    let congestion = Congestion::new(used, full);
    let mut best = None;
    let mut most = minimal.profit(&congestion, idle);
    if congestion.least == 0 && idle == IdleRatio::AnyIdle && most > 0.0 {
        // All ratios are one, and no detour is shorter than the minimal route.
        return None;
    }
    for (number, detour) in detours.into_iter().enumerate() {
        let profit = detour.profit(&congestion, idle);
        if profit > most {
            (best, most) = (Some(number), profit);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::{Midpoint, Misroute, wraparound};
    use super::*;
    use flitlab_fabric::Torus;

    const AS_WRITTEN: Weights =
        Weights { distance: 2.0, average: Average::Directions, idle: IdleRatio::CandidateIdle };

    /// From (0,0) to (2,0) in an 8x8 torus: 2 hops by +x, or 6 by -x through (5,0).
    fn routes() -> (WeighedRoute, Vec<WeighedRoute>) {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let minimal = Leg::minimal(&torus, 0, 2, 0);
        let mut candidates = Vec::new();
        wraparound(&torus, 0, 2, Midpoint::Exact, &mut candidates);
        let detours: Vec<WeighedRoute> = candidates
            .iter()
            .filter(|candidate| candidate.node == 5)
            .map(|candidate| WeighedRoute::detour(candidate, &minimal, 2, &AS_WRITTEN))
            .collect();
        assert_eq!(detours.len(), 1);
        (WeighedRoute::minimal(&minimal, 2, &AS_WRITTEN), detours)
    }

    #[test]
    fn profits_by_hand() {
        let (minimal, detours) = routes();
        let used = [6u8, 3, 2, 3];
        let profit =
            |route: &WeighedRoute| route.profit(&Congestion::new(&used, 8), AS_WRITTEN.idle);
        assert!((profit(&minimal) - (2.0 / 6.0 + 2.0)).abs() < 1e-12);
        assert!((profit(&detours[0]) - (2.0 / 2.0 + 2.0 * 2.0 / 6.0)).abs() < 1e-12);
        assert_eq!(best_detour(&minimal, detours.clone(), &used, 8, AS_WRITTEN.idle), None);
    }

    #[test]
    fn a_full_way_has_no_profit() {
        let (minimal, detours) = routes();
        assert_eq!(
            best_detour(&minimal, detours.clone(), &[8u8, 3, 7, 3], 8, AS_WRITTEN.idle),
            Some(0)
        );
        assert_eq!(
            best_detour(&minimal, detours.clone(), &[8u8, 3, 8, 3], 8, AS_WRITTEN.idle),
            None
        );
    }

    #[test]
    fn averages_of_free_slots() {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let leg = |from, to| Leg::minimal(&torus, from, to, 0);
        let aside = torus.node(&[1, 6]).unwrap();
        let used = [6u8, 3, 2, 3];
        let profit = |node, end, average| {
            let (first, second) = (leg(0, node), leg(node, end));
            let candidate = Candidate { kind: Misroute::OutFlank, node, first, second };
            let weights = Weights { average, distance: 0.0, ..AS_WRITTEN };
            WeighedRoute::detour(&candidate, &leg(0, 2), 2, &weights)
                .profit(&Congestion::new(&used, 8), weights.idle)
        };
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} {other}");
        close(profit(1, 2, Average::Directions), 2.0 / 6.0);
        close(profit(1, 2, Average::FreeOverSecondLeg), 2.0 / 6.0);
        close(profit(1, 2, Average::FreeOverDimensions), 2.0 / (8.0 - 2.0 / 2.0));
        close(profit(aside, 2, Average::Directions), 2.0 / ((6.0 + 3.0) / 2.0));
        let one_way_back = torus.node(&[1, 0]).unwrap();
        close(profit(aside, one_way_back, Average::FreeOverSecondLeg), 2.0 / (8.0 - (2.0 + 5.0)));
    }

    #[test]
    fn an_idle_direction_makes_all_alike_if_told() {
        let (minimal, _) = routes();
        let used = [4u8, 0, 0, 0];
        assert!(
            (minimal.profit(&Congestion::new(&used, 8), IdleRatio::CandidateIdle) - 2.0).abs()
                < 1e-12
        );
        assert!(
            (minimal.profit(&Congestion::new(&used, 8), IdleRatio::AnyIdle) - 3.0).abs() < 1e-12
        );
    }
}
