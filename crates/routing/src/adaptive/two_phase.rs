//! Two-phase randomized routing: by way of a node that is drawn when a packet is injected, whatever
//! the congestion.
//!
//! | rule | which node | hops |
//! |---|---|---|
//! | [`Valiant`] (\[valiant\]) | any | twice those of uniform traffic, whatever the pattern |
//! | [`Romm`] (\[romm\]) | one on a shortest way | the fewest |
//! | [`Rlb`] (\[rlb\]) | one in an orthant that is drawn as GOAL draws it | those of the orthant |
//!
//! Their papers lead packets through each phase in an order of the dimensions. Here each phase is a
//! leg of adaptive routing: a packet may take any direction that leads on, and has an escape.

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{AdaptiveKind, AdaptiveRule, AtInjection, Compass, Heading, Live, TwoPhase};
use flitlab_base::registry::Row;

/// The row of [`Valiant`].
pub(super) const VALIANT: Row<AdaptiveKind> = Row::new(
    "valiant",
    "by way of any node: each pattern loads the network as uniform traffic does, with twice the hops.",
    AdaptiveKind::two_phase("Valiant's routing", |_| Some(Arc::new(|_| Ok(Arc::new(Valiant))))),
)
.known_as(&["val", "vlb"]);

/// The row of [`Romm`].
pub(super) const ROMM: Row<AdaptiveKind> = Row::new(
    "romm",
    "by way of a node on a shortest way (ROMM).",
    AdaptiveKind::two_phase("ROMM", |_| Some(Arc::new(|_| Ok(Arc::new(Romm))))),
);

/// The row of [`Rlb`].
pub(super) const RLB: Row<AdaptiveKind> = Row::new(
    "rlb",
    "in each dimension the short way of d hops in a ring of k with probability (k - d) / k, as GOAL, and by way of a \
     node between the ends on these ways (RLB).",
    AdaptiveKind::two_phase("RLB", |_| Some(Arc::new(|_| Ok(Arc::new(Rlb))))),
);

/// Valiant's routing (\[valiant\]): the node is any where packets can end, and each is as likely.
#[derive(Clone, Copy, Debug)]
pub struct Valiant;

impl AdaptiveRule<TwoPhase> for Valiant {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<TwoPhase> {
        let node = drawn_alive(packet.live, || random.random_range(0..packet.compass.nodes()));
        Some(TwoPhase { node, heading: Heading::default() })
    }
}

/// Two-phase ROMM (\[romm\]): the node is one on a shortest way, and each of those in the same
/// direction round half rings is as likely. So no hop is lost, and the ways that packets take are
/// more than those of an order of the dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Romm;

impl AdaptiveRule<TwoPhase> for Romm {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<TwoPhase> {
        let &AtInjection { compass, source, destination, negative, live } = packet;
        let shortest = compass.ports(source, destination, Heading { negative, bound: 0 });
        let node = drawn_alive(live, || {
            node_between(compass, source, destination, random, |dimension, _, random| {
                let [positive, negative] = [dimension, dimension + compass.dimensions()];
                let leads = |port: usize| shortest >> port & 1 == 1;
                leads(negative) && (!leads(positive) || random.random())
            })
        });
        Some(TwoPhase { node, heading: Heading::default() })
    }
}

/// Randomized Local Balance (\[rlb\]): the ways round rings are drawn as by
/// [GOAL](super::Goal), lowest dimension first. The node is one between the ends on these ways, each
/// as likely, and both phases keep them.
#[derive(Clone, Copy, Debug)]
pub struct Rlb;

impl AdaptiveRule<TwoPhase> for Rlb {
    fn draw(&self, packet: &AtInjection<'_>, random: &mut ChaCha8Rng) -> Option<TwoPhase> {
        let &AtInjection { compass, source, destination, live, .. } = packet;
        let heading = super::Goal.draw(packet, random)?;
        let node = drawn_alive(live, || {
            node_between(compass, source, destination, random, |dimension, (ahead, _), _| {
                let is_bound = heading.bound >> dimension & 1 == 1;
                if is_bound { heading.negative >> dimension & 1 == 1 } else { ahead.is_none() }
            })
        });
        Some(TwoPhase { node, heading })
    }
}

/// Draws nodes until packets can end at one. There is one: that of the source is among them.
fn drawn_alive(live: Live<'_>, mut draw: impl FnMut() -> u32) -> u32 {
    loop {
        let node = draw();
        if live.ends.is_none_or(|ends| ends[node as usize]) {
            return node;
        }
    }
}

/// Draws a node between two others, in each dimension from none to all hops of its way.
/// `goes_back` says whether that is the negative direction, given the dimension and the hops of both
/// directions; it may draw, too.
fn node_between(
    compass: &Compass,
    source: u32,
    destination: u32,
    random: &mut ChaCha8Rng,
    mut goes_back: impl FnMut(usize, (Option<u16>, Option<u16>), &mut ChaCha8Rng) -> bool,
) -> u32 {
    let mut steps = vec![0; compass.dimensions()];
    for (dimension, (ahead, behind)) in compass.hops(source, destination).enumerate() {
        let back = goes_back(dimension, (ahead, behind), random);
        if let Some(hops) = if back { behind } else { ahead } {
            let drawn = random.random_range(0..=hops).cast_signed();
            steps[dimension] = if back { -drawn } else { drawn };
        }
    }
    compass.away(source, &steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::Torus;
    use rand::SeedableRng;
    use std::collections::BTreeMap;

    /// How often each node is drawn of many times, and with it the heading.
    fn drawn(
        rule: &dyn AdaptiveRule<TwoPhase>,
        compass: &Compass,
        (source, destination): (u32, u32),
        live: Live<'_>,
    ) -> (BTreeMap<u32, u32>, Vec<TwoPhase>) {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let packet = AtInjection { compass, source, destination, negative: 0, live };
        let all: Vec<TwoPhase> =
            (0..12_000).map(|_| rule.draw(&packet, &mut random).unwrap()).collect();
        let mut nodes = BTreeMap::new();
        all.iter().for_each(|it| *nodes.entry(it.node).or_insert(0) += 1);
        (nodes, all)
    }

    #[test]
    fn valiants_nodes_are_all_that_are_alive_and_each_is_as_likely() {
        let torus = Torus::new(&[4, 3], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let (nodes, _) = drawn(&Valiant, &compass, (0, 5), Live::default());
        assert_eq!(nodes.len(), 12);
        assert!(nodes.values().all(|&times| (900..1_100).contains(&times)), "{nodes:?}");
        let mut ends = vec![true; 12];
        (ends[3], ends[7]) = (false, false);
        let live = Live { ends: Some(&ends), ..Live::default() };
        let (nodes, _) = drawn(&Valiant, &compass, (0, 5), live);
        assert!(nodes.len() == 10 && !nodes.contains_key(&3) && !nodes.contains_key(&7));
    }

    #[test]
    fn romms_nodes_lie_on_shortest_ways_and_each_is_as_likely() {
        // 2 hops on in x, 1 back in y: 6 nodes.
        let torus = Torus::new(&[6, 5], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let ends = (1 + 6, 3);
        let (nodes, _) = drawn(&Romm, &compass, ends, Live::default());
        let between = |&node: &u32| {
            let hops = |from, to| compass.distance(from, to, Heading::default());
            hops(ends.0, node) + hops(node, ends.1) == 3
        };
        assert!(nodes.len() == 6 && nodes.keys().all(between), "{nodes:?}");
        assert!(nodes.values().all(|&times| (1_850..2_150).contains(&times)), "{nodes:?}");
        // Round half a ring either way, unless all packets go one way there.
        let (nodes, _) = drawn(&Romm, &compass, (0, 3), Live::default());
        assert_eq!(nodes.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let compass = Compass::new(&torus, false);
        let (nodes, _) = drawn(&Romm, &compass, (0, 3), Live::default());
        assert_eq!(nodes.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    /// Under tornado traffic both directions of a ring get the same load: 3 hops with probability 5/8
    /// and 5 with 3/8.
    #[test]
    fn rlb_draws_an_orthant_and_a_node_in_it() {
        let torus = Torus::new(&[8, 3], &[1]).unwrap();
        let compass = Compass::new(&torus, true);
        let (_, all) = drawn(&Rlb, &compass, (0, 3 + 8 * 2), Live::default());
        let mut hops = [0u32; 2];
        for TwoPhase { node, heading } in all {
            assert_eq!(heading.bound, 0b01, "the second dimension is open");
            let [first, second] = [(0, node), (node, 3 + 8 * 2)]
                .map(|(from, to)| compass.distance(from, to, heading));
            let back = heading.negative == 1;
            assert_eq!(first + second, if back { 5 + 2 } else { 3 + 2 });
            hops[usize::from(back)] += if back { 5 } else { 3 };
        }
        let share = f64::from(hops[0]) / f64::from(hops[0] + hops[1]);
        assert!((0.48..0.52).contains(&share), "{share}");
    }
}
