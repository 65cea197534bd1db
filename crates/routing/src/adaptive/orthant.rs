//! Orthants: one of the two directions in each dimension, kept from source to destination.
//!
//! Three rules choose an orthant for a new packet. Pick Orthant Routing weighs congestion against
//! distance by the profit of OutFlank Routing (\[outflank\], Remark 3). The other two are older:
//!
//! - GOAL (\[goal-routing\]) draws each dimension's way at random, the short one of d hops in a
//!   ring of k with probability (k - d) / k, whatever the congestion.
//! - CQR (\[cqr\]) decides in each dimension by the source's channel queues. Its rule is taken to
//!   be that of the authors' later UGAL: the way with the smaller product of queue and hops, the
//!   short one if they are equal.

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{
    AdaptiveKind, AdaptiveRule, AtInjection, AtRouter, Candidate, Compass, Heading, Leg, Misroute,
    When,
};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Torus;

/// The row of [`Goal`].
pub(super) const GOAL: Row<AdaptiveKind> = Row::new(
    "goal",
    "GOAL: at random, the short way of d hops in a ring of k with probability (k - d) / k.",
    AdaptiveKind::orthants("GOAL", When::AtInjection, |_| Some(Arc::new(|_| Ok(Arc::new(Goal))))),
);

/// The row of [`ChannelQueue`].
pub(super) const CQR: Row<AdaptiveKind> = Row::new(
    "cqr",
    "CQR: in each dimension the way with the smaller product of used flits and hops.",
    AdaptiveKind::orthants("CQR", When::AtSource, |_| {
        Some(Arc::new(|_| Ok(Arc::new(ChannelQueue))))
    }),
);

/// Adds the orthants other than the minimal one, in the order of a number whose bits say which
/// dimensions go the longer way round.
pub fn orthants(torus: &Torus, source: u32, destination: u32, candidates: &mut Vec<Candidate>) {
    let minimal = Leg::minimal(torus, source, destination, 0);
    let dimensions = narrow(torus.dimensions());
    let set = minimal.direction_set(dimensions);
    let open = (set | set >> dimensions) & ((1 << dimensions) - 1);
    for flipped in (1..1u32 << dimensions).filter(|flipped| flipped & !open == 0) {
        candidates.push(Candidate {
            kind: Misroute::Orthant,
            node: destination,
            first: minimal.flipped(torus, flipped),
            second: Leg::default(),
        });
    }
}

/// GOAL (\[goal-routing\]): the directions are drawn, lowest dimension first.
#[derive(Clone, Copy, Debug)]
pub struct Goal;

impl AdaptiveRule<Heading> for Goal {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<Heading> {
        let &AtInjection { compass, source, destination, .. } = packet;
        Some(bind(compass, source, destination, |_, ahead, behind| {
            // The negative direction is taken with the positive one's share of the ring.
            random.random_range(0..ahead + behind) < ahead
        }))
    }
}

/// CQR (\[cqr\]): the channel queues of the source decide.
#[derive(Clone, Copy, Debug)]
pub struct ChannelQueue;

impl AdaptiveRule<Heading> for ChannelQueue {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Heading> {
        let &AtRouter { compass, router, destination, used, .. } = packet;
        Some(bind(compass, router, destination, |dimension, ahead, behind| {
            let product = |port: usize, hops: u16| u64::from(used[port]) * u64::from(hops);
            let positive = product(dimension, ahead);
            let negative = product(dimension + compass.dimensions(), behind);
            negative < positive || negative == positive && behind < ahead
        }))
    }
}

/// Binds a packet in all dimensions where it goes round a ring. `goes_back` says whether it takes
/// the negative direction, given the dimension and the hops of both directions.
fn bind(
    compass: &Compass,
    source: u32,
    destination: u32,
    mut goes_back: impl FnMut(usize, u16, u16) -> bool,
) -> Heading {
    let mut heading = Heading::default();
    for (dimension, hops) in compass.hops(source, destination).enumerate() {
        if let (Some(ahead), Some(behind)) = hops {
            heading.bound |= 1 << dimension;
            heading.negative |= u8::from(goes_back(dimension, ahead, behind)) << dimension;
        }
    }
    heading
}

#[cfg(test)]
mod tests {
    use super::super::Live;
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn orthants_are_all_but_the_minimal_one() {
        let torus = Torus::new(&[8, 8, 8], &[]).unwrap();
        let mut candidates = Vec::new();
        orthants(&torus, 0, 3 + 2 * 64, &mut candidates);
        let distances: Vec<u32> = candidates.iter().map(Candidate::distance).collect();
        assert_eq!(distances, [5 + 2, 3 + 6, 5 + 6]);
    }

    #[test]
    fn goal_takes_the_short_way_with_its_probability() {
        let torus = Torus::new(&[8, 4], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let live = Live::default();
        let packet =
            AtInjection { compass: &compass, source: 0, destination: 3, negative: 0, live };
        // Three hops forward of eight; none in the other dimension.
        let short = (0..10_000)
            .filter(|_| {
                let heading = Goal.draw(&packet, &mut random).unwrap();
                assert_eq!(heading.bound, 0b01);
                heading.negative == 0
            })
            .count();
        assert!((6_100..6_400).contains(&short), "{short} of 10000, 6250 expected");
    }

    #[test]
    fn channel_queues_decide_each_dimension() {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        // 3 hops forward or 5 back in x, 6 forward or 2 back in y.
        let decide = |used: [u32; 4]| {
            let packet = AtRouter {
                compass: &compass,
                router: 0,
                destination: 3 + 8 * 6,
                negative: 0,
                used: &used,
                full: 8,
                live: Live::default(),
                drawn: 0,
            };
            ChannelQueue.decide(&packet).unwrap().negative
        };
        assert_eq!(decide([0, 0, 0, 0]), 0b10, "the short ways");
        assert_eq!(decide([5, 1, 3, 3]), 0b10, "equal in x");
        assert_eq!(decide([6, 1, 3, 4]), 0b01);
    }
}
