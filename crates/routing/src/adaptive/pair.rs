//! The intermediate nodes of OutFlank Routing between two nodes, with what each costs.
//!
//! \[outflank\] calls every outflanking node admissible that uses a non-minimal link at both ends,
//! and takes some of these that use all such links (Remark 1). Both sets are listed here; packets
//! are sent through the latter only.

use super::intermediate::{Labelled, labelled};
use super::profit::{WeighedRoute, best_detour, profit};
use super::{Compass, Detours, Heading, Misroute};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;

/// An intermediate node between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct IntermediateNode {
    /// Outflanking or wraparound.
    pub kind: Misroute,
    /// Number of the node.
    pub node: u32,
    /// By dimension: lambda of \[outflank\], equations (2) and (3), for an outflanking node, and
    /// beta of equation (1) for a wraparound node, 1 where it lies on the longer way round.
    pub vector: Vec<i8>,
    /// Hops by this node in all.
    pub hops: u32,
    /// Hops more than the minimal route has, delta in equation (6).
    pub dilation: u32,
    /// The profit, equation (15).
    pub profit: f64,
    /// Whether packets may be sent through the node. If not, it is admissible only.
    pub is_used: bool,
}

/// The minimal route of a pair, and its intermediate nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PairDetours {
    /// Hops of the minimal route.
    pub hops: u32,
    /// The profit of the minimal route, equation (16).
    pub profit: f64,
    /// Steps outside the minimal orthant, Delta.
    pub steps: u32,
    /// The nodes: first those that packets are sent through, in the order in which equally
    /// profitable ones are preferred.
    pub nodes: Vec<IntermediateNode>,
    /// The place in `nodes` of the node that a packet is sent through; `None` if the minimal route
    /// has as much profit (equation (17)).
    pub best: Option<usize>,
}

impl Detours {
    /// Lists the intermediate nodes of a pair of different nodes. `None` if the detours are
    /// orthants. `used` counts the used slots behind each direction of the source; every queue
    /// counts as having room.
    pub fn of_pair(
        &self,
        torus: &Torus,
        (source, destination): (u32, u32),
        used: &[u32],
    ) -> Option<PairDetours> {
        let rule = self.family.outflank(torus, source, destination)?;
        // The table of all detours is made for a source at 0 of each ring. Middles are rounded, and
        // orthants are numbered, as they are from there.
        let moved = |node: u32, sign: i64| {
            let coordinate = |dimension| {
                let at = |node| i64::from(torus.coordinate(node, dimension));
                let by = if torus.closed(dimension) { sign * at(source) } else { 0 };
                narrow((at(node) + by).rem_euclid(i64::from(torus.sizes()[dimension])))
            };
            let coordinates: Vec<u32> = (0..torus.dimensions()).map(coordinate).collect();
            torus.node(&coordinates).expect("rings have no ends")
        };
        let (source, destination) = (moved(source, -1), moved(destination, -1));
        // With both halves, as in the table.
        let compass = Compass::new(torus, true);
        let distance = |from, to| u32::from(compass.distance(from, to, Heading::default()));
        let hops = distance(source, destination);
        let directions = |to| u32::from(compass.ports(source, to, Heading::default()));
        let weights = &self.weights;
        let weighed = |node, length| {
            let ratio = f64::from(hops) / f64::from(length);
            WeighedRoute::new(directions(node), ratio, weights.distance)
        };
        let profit_of = |route: &WeighedRoute| profit(route, used, weights.idle);
        let detours = self.family.between(torus, &compass, source, destination);
        let rank =
            |it: &Labelled| detours.iter().position(|(candidate, _)| *candidate == it.candidate);
        let mut all = labelled(torus, source, destination, rule);
        all.sort_by_key(|it| rank(it).unwrap_or(usize::MAX));
        let listed = |it: &Labelled| {
            let node = it.candidate.node;
            let length = distance(source, node) + distance(node, destination);
            IntermediateNode {
                kind: it.candidate.kind,
                node: moved(node, 1),
                vector: it.vector.clone(),
                hops: length,
                dilation: length - hops,
                profit: profit_of(&weighed(node, length)),
                is_used: rank(it).is_some(),
            }
        };
        let nodes: Vec<IntermediateNode> = all.iter().map(listed).collect();
        let minimal = weighed(destination, hops);
        let ways = nodes.iter().filter(|it| it.is_used);
        let ways = ways.map(|it| weighed(moved(it.node, -1), it.hops));
        let best = best_detour(&minimal, ways, used, u32::MAX, weights.idle);
        Some(PairDetours { hops, profit: profit_of(&minimal), steps: rule.steps, nodes, best })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Family;
    use super::super::profit::{Average, IdleRatio, Weights};
    use super::*;

    const WEIGHTS: Weights =
        Weights { distance: 2.0, average: Average::Directions, idle: IdleRatio::CandidateIdle };

    fn listed(sizes: &[u32], from: &[u32], to: &[u32], used: &[u32]) -> PairDetours {
        let torus = Torus::new(sizes, &[]).unwrap();
        let family = Family::IntermediateNodes { steps: 2, percent: 0 };
        let detours = Detours::new(&torus, family, (WEIGHTS, WEIGHTS.distance)).unwrap();
        let ends = (torus.node(from).unwrap(), torus.node(to).unwrap());
        detours.of_pair(&torus, ends, used).unwrap()
    }

    /// The vectors and dilations of the outflanking nodes, used or admissible only.
    fn outflanking(pair: &PairDetours, is_used: bool) -> Vec<(Vec<i8>, u32)> {
        let of_kind = |it: &&IntermediateNode| it.kind == Misroute::OutFlank;
        let nodes = pair.nodes.iter().filter(of_kind).filter(|it| it.is_used == is_used);
        nodes.map(|it| (it.vector.clone(), it.dilation)).collect()
    }

    /// Equations (9) to (14).
    #[test]
    fn example_2_of_the_paper() {
        let vectors = |to: [u32; 3]| -> Vec<Vec<i8>> {
            let pair = listed(&[16; 3], &[4, 4, 4], &to, &[0; 6]);
            outflanking(&pair, true).into_iter().map(|(vector, _)| vector).collect()
        };
        assert_eq!(
            vectors([8, 6, 6]),
            [[0, -1, 1], [0, 1, -1], [-1, 0, 1], [1, 0, -1], [-1, 1, 0], [1, -1, 0]]
        );
        assert_eq!(vectors([4, 6, 8]), [[0, -1, 1], [0, 1, -1], [1, 0, 0], [-1, 0, 0]]);
        assert_eq!(vectors([4, 4, 8]), [[1, 0, 1], [-1, 0, 0], [0, 1, -1], [0, -1, 0]]);
        // In a negative direction too, the signs are those of the axes.
        assert_eq!(vectors([0, 6, 6])[2..4], [[1, 0, 1], [-1, 0, -1]]);
    }

    /// Example 1: two nodes off a line, as in Figure 1, and six on a line with the dilations of
    /// equations (7) and (8), as in Figure 2.
    #[test]
    fn figures_1_and_2_of_the_paper() {
        let pair = listed(&[16; 2], &[4, 4], &[8, 7], &[0; 4]);
        let both: Vec<Vec<i8>> = outflanking(&pair, true).into_iter().map(|it| it.0).collect();
        assert_eq!((both, outflanking(&pair, false)), (vec![vec![-1, 1], vec![1, -1]], vec![]));
        let wraparound: Vec<&[i8]> = pair
            .nodes
            .iter()
            .filter(|it| it.kind == Misroute::Wraparound)
            .map(|it| &it.vector[..])
            .collect();
        assert_eq!(wraparound, [[1, 0], [0, 1], [1, 1]]);

        let pair = listed(&[16; 2], &[4, 4], &[9, 4], &[0; 4]);
        let mut all = [outflanking(&pair, true), outflanking(&pair, false)].concat();
        all.sort();
        let (near, far) = (4, 8);
        let expected = [(-1, -1), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 1)];
        let dilation = |x: i8| if x == 0 { near } else { far };
        assert_eq!(all, expected.map(|(x, y): (i8, i8)| (vec![x, y], dilation(x))));
    }

    #[test]
    fn a_listed_profit_is_that_of_equation_15() {
        // Two hops in +x, whose queue holds 8; by (1,2), which leaves by +x and +y, it is six hops.
        let pair = listed(&[16; 2], &[0, 0], &[2, 0], &[8, 2, 4, 3]);
        assert_eq!((pair.hops, pair.profit), (2, 2.0 / 8.0 + 2.0));
        let is_aside =
            |it: &&IntermediateNode| (it.kind, &it.vector[..]) == (Misroute::OutFlank, &[0, 1]);
        let aside = pair.nodes.iter().find(is_aside).unwrap();
        assert_eq!((aside.node, aside.hops, aside.dilation), (1 + 2 * 16, 6, 4));
        assert_eq!(aside.profit, 2.0 / 5.0 + 2.0 * 2.0 / 6.0);
        assert!(!aside.is_used);
        assert_eq!(pair.best, None);
        // A full queue leaves the minimal route the term of its distance. Of the others the way
        // round the ring is shortest.
        let full = listed(&[16; 2], &[0, 0], &[6, 0], &[800, 2, 2, 2]);
        assert_eq!(full.best.map(|place| full.nodes[place].vector.clone()), Some(vec![1, 0]));
    }

    /// In small rings a node may come from several vectors.
    fn each_once(nodes: Vec<(Misroute, u32)>) -> Vec<(Misroute, u32)> {
        let is_first = |&(place, node): &(usize, &(Misroute, u32))| !nodes[..place].contains(node);
        nodes.iter().enumerate().filter(is_first).map(|(_, node)| *node).collect()
    }

    /// The list is made anew for a pair; the table that packets are routed by is made for offsets.
    #[test]
    fn used_nodes_are_those_that_packets_are_sent_through() {
        for (sizes, open) in [
            (&[6, 5][..], &[][..]),
            (&[9, 9], &[0, 1]),
            (&[5, 4, 3], &[1]),
            (&[4, 2, 2, 2], &[]),
            (&[4, 3, 3, 3], &[]),
        ] {
            let torus = Torus::new(sizes, open).unwrap();
            let family = Family::IntermediateNodes { steps: 2, percent: 0 };
            let detours = Detours::new(&torus, family, (WEIGHTS, WEIGHTS.distance)).unwrap();
            let compass = Compass::new(&torus, true);
            let idle = vec![0; torus.directions() as usize];
            for source in 0..torus.nodes() {
                for destination in (0..torus.nodes()).filter(|&node| node != source) {
                    let pair = detours.of_pair(&torus, (source, destination), &idle).unwrap();
                    let used = pair.nodes.iter().filter(|it| it.is_used);
                    let used = each_once(used.map(|it| (it.kind, it.node)).collect());
                    let table = each_once(detours.nodes(&compass, source, destination));
                    assert_eq!(used, table, "{sizes:?} {source} {destination}");
                }
            }
        }
    }
}
