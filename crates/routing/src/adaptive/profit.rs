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
    /// The divisor of the free slots, if these are averaged and not the used ones.
    free_divisor: Option<u32>,
    /// Weighted ratio of the distances: the second term of (15).
    distance: f64,
}

impl WeighedRoute {
    /// The minimal route.
    pub fn minimal(leg: &Leg, dimensions: u32, weights: &Weights) -> Self {
        let directions = leg.direction_set(dimensions);
        let free = weights.average != Average::Directions;
        let free_divisor = free.then(|| directions.count_ones());
        Self { directions, free_divisor, distance: weights.distance }
    }

    /// A detour from the ends of `minimal`.
    pub fn detour(
        candidate: &Candidate,
        minimal: &Leg,
        dimensions: u32,
        weights: &Weights,
    ) -> Self {
        let directions = candidate.first.direction_set(dimensions);
        let free_divisor = match weights.average {
            Average::Directions => None,
            Average::FreeOverDimensions => Some(dimensions),
            Average::FreeOverSecondLeg => {
                Some(candidate.second.direction_set(dimensions).count_ones())
            }
        };
        let dilation = f64::from(candidate.distance()) / f64::from(minimal.distance());
        Self { directions, free_divisor, distance: weights.distance / dilation }
    }

    /// A route that leaves by these directions. `ratio` is the shortest distance divided by the
    /// route's own, 1 for the minimal route; `eta` is the weight of the distance.
    #[inline]
    pub fn new(directions: u32, ratio: f64, eta: f64) -> Self {
        Self { directions, free_divisor: None, distance: eta * ratio }
    }

    /// A profit that it can't exceed. The average of used slots is at least those of the least used
    /// direction, so that the first fraction of (15) is at most one.
    #[inline]
    fn most_profit(&self) -> f64 {
        if self.free_divisor.is_some() { f64::INFINITY } else { 1.0 + self.distance }
    }

    /// The profit, equation (15) or (16), or 0 if no slot is free in any of its directions.
    #[inline]
    fn profit<Slots: Copy + Ord + Into<u32>>(
        &self,
        congestion: &Congestion<'_, Slots>,
        idle: IdleRatio,
    ) -> f64 {
        let &Congestion { used, full, least } = congestion;
        let (mut sum, mut left, mut directions) = (0, self.directions, 0);
        let mut free = false;
        while left != 0 {
            let used = used[left.trailing_zeros() as usize].into();
            sum += used;
            directions += 1;
            free |= used < full;
            left &= left - 1;
        }
        if !free {
            return 0.0;
        }
        let average = match self.free_divisor {
            Some(divisor) => {
                let free = (full * directions).saturating_sub(sum);
                f64::from(full) - f64::from(free) / f64::from(divisor)
            }
            None => f64::from(sum) / f64::from(directions),
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

/// The search for the most profitable route of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'u, Slots> {
    congestion: Congestion<'u, Slots>,
    idle: IdleRatio,
    /// The most profit so far.
    most: f64,
}

impl<'u, Slots: Copy + Ord + Into<u32>> Search<'u, Slots> {
    /// Begins with the minimal route. `None` if no detour can be better. `used` counts the used
    /// slots of each direction; from `full` on, none is free.
    #[inline]
    pub(super) fn new(
        minimal: &WeighedRoute,
        (used, full): (&'u [Slots], u32),
        idle: IdleRatio,
    ) -> Option<Self> {
        let congestion = Congestion::new(used, full);
        let most = minimal.profit(&congestion, idle);
        // If all ratios are one: no detour is shorter than the minimal route.
        let is_best = congestion.least == 0 && idle == IdleRatio::AnyIdle && most > 0.0;
        (!is_best).then_some(Self { congestion, idle, most })
    }

    /// Whether a route's profit may exceed the most so far, as far as its distance tells. If not,
    /// no longer route's does.
    #[inline]
    pub(super) fn is_open_to(&self, route: &WeighedRoute) -> bool {
        route.most_profit() > self.most
    }

    /// Whether a route's profit exceeds the most so far, which it then is.
    #[inline]
    pub(super) fn finds(&mut self, route: &WeighedRoute) -> bool {
        let profit = route.profit(&self.congestion, self.idle);
        let is_more = profit > self.most;
        if is_more {
            self.most = profit;
        }
        is_more
    }
}

/// The profit of a route. `used` counts the used slots of each direction, and no queue is full.
pub(super) fn profit(route: &WeighedRoute, used: &[u32], idle: IdleRatio) -> f64 {
    route.profit(&Congestion::new(used, u32::MAX), idle)
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
    let mut search = Search::new(minimal, (used, full), idle)?;
    let numbered = detours.into_iter().enumerate();
    numbered.filter(|(_, detour)| search.finds(detour)).last().map(|(number, _)| number)
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
