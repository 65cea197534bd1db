//! The intermediate nodes of OutFlank Routing.
//!
//! A direction is minimal at the source if a shortest way leaves along it, and at the destination
//! if a shortest way arrives along it. A detour pays only if it uses other directions at both ends,
//! so a candidate that doesn't is left out (\[outflank\], section 3.1.2).
//!
//! The paper lists outflanking nodes for three dimensions. In any number of dimensions the rule
//! takes certain vectors lambda: those that use a non-minimal direction at both ends, without a
//! part that does so by itself. There are two kinds: one step aside in a dimension without hops; or
//! one step back in one dimension and one step beyond the destination in another. With hops in one
//! dimension only, these vectors leave that dimension's own non-minimal directions unused, so its
//! steps are joined to steps aside.

use super::Leg;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_model::Misroute;

/// The middle of two coordinates: on the shorter way round their ring for an outflanking node, on
/// either for a wraparound node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Midpoint {
    /// As in the simulator of \[outflank\] itself. On the shorter way it is (x + y) / 2, or ((x +
    /// y) mod k) / 2 if the coordinates differ by more than k / 2, which lies on the longer way for
    /// x + y < k. On the other way it is k / 2 further on. Of wraparound nodes those come first
    /// that differ in the higher dimensions.
    HalfOfRemainder,
    /// (x + y) / 2, or (x + y + k) / 2 mod k on the way that wraps around (equation (1)).
    Exact,
}

impl Midpoint {
    /// The midpoint on the shorter way, which wraps around if `wraps`.
    fn of_shorter_way(self, one: u32, other: u32, size: u32, wraps: bool) -> u32 {
        match self {
            Self::HalfOfRemainder if 2 * one.abs_diff(other) > size => (one + other) % size / 2,
            Self::Exact if wraps => (one + other + size) / 2 % size,
            Self::HalfOfRemainder | Self::Exact => (one + other) / 2,
        }
    }

    /// The midpoint in an orthant, by the bit beta of equation (1).
    fn of_orthant(self, one: u32, other: u32, size: u32, beta: bool) -> u32 {
        match self {
            Self::HalfOfRemainder => {
                let shorter = self.of_shorter_way(one, other, size, false);
                (shorter + if beta { size / 2 } else { 0 }) % size
            }
            Self::Exact => self.of_shorter_way(one, other, size, beta),
        }
    }
}

/// The set of outflanking nodes, and their order: among equally good ones the first is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Those of \[outflank\], equations (9) to (14), in their order.
    Example,
    /// Those of the simulator of \[outflank\] itself. The pairs of equations (9) to (12) come by
    /// the dimension of the step back, then by that of the step beyond. Of equations (13) and (14),
    /// for ends that differ in one dimension, only the single steps in negative directions remain.
    Simulator,
}

/// The rule by which outflanking nodes are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutFlank {
    /// Steps outside the minimal orthant (Delta in equations (2) and (3)), 1 or more.
    pub steps: u32,
    /// The middle in dimensions that are not outflanked.
    pub midpoint: Midpoint,
    /// The set of nodes, and their order.
    pub nodes: Nodes,
}

/// A detour that a new packet may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The kind of the detour.
    pub kind: Misroute,
    /// The end of its first leg: the intermediate node, or the destination itself for an orthant.
    pub node: u32,
    /// The first leg.
    pub first: Leg,
    /// The minimal leg from the intermediate node to the destination; empty for an orthant.
    pub second: Leg,
}

impl Candidate {
    /// Hops in all.
    pub fn distance(&self) -> u32 {
        self.first.distance() + self.second.distance()
    }
}

/// The ends of a route, and the directions that are minimal between them.
struct Ends<'a> {
    torus: &'a Torus,
    source: u32,
    destination: u32,
    minimal: Leg,
}

impl<'a> Ends<'a> {
    fn new(torus: &'a Torus, source: u32, destination: u32) -> Self {
        Self { torus, source, destination, minimal: Leg::minimal(torus, source, destination, 0) }
    }

    fn coordinates(&self, dimension: usize) -> (u32, u32, u32) {
        let at = |node| self.torus.coordinate(node, dimension);
        (at(self.source), at(self.destination), self.torus.sizes()[dimension])
    }

    /// Whether the minimal route goes through the last link of the ring in this dimension.
    fn wraps(&self, dimension: usize) -> bool {
        let (source, destination, _) = self.coordinates(dimension);
        match self.step(dimension) {
            0 => false,
            1 => destination < source,
            _ => destination > source,
        }
    }

    /// 1 if the minimal route is positive in this dimension, -1 if negative, 0 if it has no hops.
    fn step(&self, dimension: usize) -> i64 {
        let dimensions = narrow(self.torus.dimensions());
        let set = self.minimal.direction_set(dimensions) >> dimension;
        i64::from(set & 1) - i64::from(set >> dimensions & 1)
    }

    /// The detour through a node; `None` if one of its legs keeps to minimal directions.
    fn candidate(&self, kind: Misroute, coordinates: &[u32]) -> Option<Candidate> {
        let node = self.torus.node(coordinates)?;
        let dimensions = narrow(self.torus.dimensions());
        let first = Leg::minimal(self.torus, self.source, node, 0);
        let second = Leg::minimal(self.torus, node, self.destination, 0);
        let other = !self.minimal.direction_set(dimensions);
        let leaves = |leg: &Leg| leg.direction_set(dimensions) & other != 0;
        (leaves(&first) && leaves(&second)).then_some(Candidate { kind, node, first, second })
    }

    /// The detour through the outflanking node of a vector lambda, which is relative to the minimal
    /// directions. There are no nodes beyond the edge of an open dimension.
    fn outflanking(&self, rule: OutFlank, lambda: &[i64]) -> Option<Candidate> {
        let coordinate = |dimension| {
            let (from, to, size) = self.coordinates(dimension);
            let step = self.step(dimension);
            let steps = |way: i64| i64::from(rule.steps) * way;
            let place = match (step, lambda[dimension]) {
                (_, 0) => {
                    let wraps = self.wraps(dimension);
                    i64::from(rule.midpoint.of_shorter_way(from, to, size, wraps))
                }
                (0, aside) => i64::from(from) + steps(aside),
                (_, 1) => i64::from(to) + steps(step),
                _ => i64::from(from) - steps(step),
            };
            let inside = (0..i64::from(size)).contains(&place) || self.torus.closed(dimension);
            inside.then(|| narrow(place.rem_euclid(i64::from(size))))
        };
        let dimensions = 0..self.torus.dimensions();
        let coordinates: Option<Vec<u32>> = dimensions.map(coordinate).collect();
        self.candidate(Misroute::OutFlank, &coordinates?)
    }

    /// The detours through wraparound nodes, each with the bits beta of equation (1): bit i is that
    /// of dimension i.
    fn wraparound(&self, midpoint: Midpoint) -> impl Iterator<Item = (u32, Candidate)> + '_ {
        let dimensions = self.torus.dimensions();
        // The place of a dimension's bit in the order of the orthants.
        let bit = move |dimension| match midpoint {
            Midpoint::HalfOfRemainder => dimensions - 1 - dimension,
            Midpoint::Exact => dimension,
        };
        (0..1u32 << dimensions).filter_map(move |number| {
            let is_set = |dimension: usize| number >> bit(dimension) & 1 == 1;
            if (0..dimensions).any(|dimension| is_set(dimension) && !self.torus.closed(dimension)) {
                return None;
            }
            let coordinate = |dimension| {
                let (from, to, size) = self.coordinates(dimension);
                midpoint.of_orthant(from, to, size, is_set(dimension))
            };
            let coordinates: Vec<u32> = (0..dimensions).map(coordinate).collect();
            let set = (0..dimensions).filter(|&dimension| is_set(dimension));
            let beta = set.fold(0, |set, dimension| set | 1 << dimension);
            Some((beta, self.candidate(Misroute::Wraparound, &coordinates)?))
        })
    }
}

/// Adds the outflanking intermediate nodes (\[outflank\], equations (2) and (3), Example 2). Where
/// a dimension is open, they need no ring, but have to lie inside it: section 1 proposes them for
/// meshes.
pub fn outflank(
    torus: &Torus,
    source: u32,
    destination: u32,
    rule: OutFlank,
    candidates: &mut Vec<Candidate>,
) {
    let ends = Ends::new(torus, source, destination);
    let lambdas = lambdas(&ends, rule.nodes);
    candidates.extend(lambdas.iter().filter_map(|lambda| ends.outflanking(rule, lambda)));
}

/// The vectors lambda, relative to the minimal directions: in a dimension with hops, -1 is a step
/// back at the source and 1 a step beyond the destination.
fn lambdas(ends: &Ends<'_>, nodes: Nodes) -> Vec<Vec<i64>> {
    let dimensions = ends.torus.dimensions();
    let (with_hops, without): (Vec<usize>, Vec<usize>) =
        (0..dimensions).partition(|&dimension| ends.step(dimension) != 0);
    let lambda = |places: &[(usize, i64)]| {
        let mut lambda = vec![0; dimensions];
        for &(dimension, value) in places {
            lambda[dimension] = value;
        }
        lambda
    };
    let mut all = Vec::new();
    if let [only] = with_hops[..] {
        for (number, &dimension) in without.iter().enumerate() {
            if nodes == Nodes::Example {
                all.push(match number {
                    0 => lambda(&[(dimension, 1), (only, 1)]),
                    1 => lambda(&[(dimension, 1), (only, -1)]),
                    _ => lambda(&[(dimension, 1)]),
                });
            }
            // In two dimensions both of the line's own directions are left to the one across it.
            let joined = nodes == Nodes::Example && without.len() == 1;
            let mut back = vec![(dimension, -1)];
            back.extend(joined.then_some((only, -1)));
            all.push(lambda(&back));
        }
        return all;
    }
    match nodes {
        // The pair of the last dimensions comes first.
        Nodes::Example => {
            for (number, &other) in with_hops.iter().enumerate().rev() {
                for &one in with_hops[..number].iter().rev() {
                    let pair = [lambda(&[(one, -1), (other, 1)]), lambda(&[(one, 1), (other, -1)])];
                    all.extend(pair);
                }
            }
        }
        Nodes::Simulator => {
            for &back in &with_hops {
                for &beyond in with_hops.iter().filter(|&&beyond| beyond != back) {
                    all.push(lambda(&[(back, -1), (beyond, 1)]));
                }
            }
        }
    }
    for &dimension in &without {
        all.extend([lambda(&[(dimension, 1)]), lambda(&[(dimension, -1)])]);
    }
    all
}

/// Adds the wraparound intermediate nodes: the middles of the 2^n orthants (equation (1)).
pub fn wraparound(
    torus: &Torus,
    source: u32,
    destination: u32,
    midpoint: Midpoint,
    candidates: &mut Vec<Candidate>,
) {
    let ends = Ends::new(torus, source, destination);
    candidates.extend(ends.wraparound(midpoint).map(|(_, candidate)| candidate));
}

/// A detour with the vector that \[outflank\] has for its node.
pub(super) struct Labelled {
    /// By dimension: lambda of equations (2) and (3); or beta of equation (1), which is 1 where the
    /// node lies on the longer way round.
    pub vector: Vec<i8>,
    pub candidate: Candidate,
}

/// All admissible detours: through every outflanking node that uses a non-minimal direction at both
/// ends, and through every wraparound node that does.
pub(super) fn labelled(
    torus: &Torus,
    source: u32,
    destination: u32,
    rule: OutFlank,
) -> Vec<Labelled> {
    let ends = Ends::new(torus, source, destination);
    let dimensions: u32 = narrow(torus.dimensions());
    let outflanking = (0..3u32.pow(dimensions)).filter_map(|number| {
        let digit = |dimension| i64::from(number / 3u32.pow(dimension) % 3) - 1;
        let lambda: Vec<i64> = (0..dimensions).map(digit).collect();
        let candidate = ends.outflanking(rule, &lambda)?;
        // The paper's lambda counts along the axes.
        let along = |(dimension, lambda): (usize, &i64)| match ends.step(dimension) {
            -1 => narrow(-lambda),
            _ => narrow(*lambda),
        };
        Some(Labelled { vector: lambda.iter().enumerate().map(along).collect(), candidate })
    });
    let wraparound = ends.wraparound(rule.midpoint).map(|(beta, candidate)| {
        // The middle of the minimal orthant has beta 1 where the minimal route wraps around.
        let longer =
            |dimension: usize| i8::from((beta >> dimension & 1 == 1) != ends.wraps(dimension));
        Labelled { vector: (0..torus.dimensions()).map(longer).collect(), candidate }
    });
    outflanking.chain(wraparound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: OutFlank = OutFlank { steps: 2, midpoint: Midpoint::Exact, nodes: Nodes::Example };

    fn places(torus: &Torus, from: &[u32], to: &[u32], rule: OutFlank) -> Vec<Vec<u32>> {
        let mut candidates = Vec::new();
        let node = |at| torus.node(at).unwrap();
        outflank(torus, node(from), node(to), rule, &mut candidates);
        candidates.iter().map(|candidate| torus.coordinates(candidate.node)).collect()
    }

    #[test]
    fn outflanking_nodes_of_example_2() {
        let torus = Torus::new(&[16, 16, 16], &[]).unwrap();
        // Equations (9) and (10), from (4,4,4) to (8,6,6).
        let expected =
            [[6, 2, 8], [6, 8, 2], [2, 5, 8], [10, 5, 2], [2, 8, 5], [10, 2, 5]].map(Vec::from);
        assert_eq!(places(&torus, &[4, 4, 4], &[8, 6, 6], RULE), expected);
        // Equations (11) and (12), from (4,4,4) to (4,6,8).
        let expected = [[4, 2, 10], [4, 8, 2], [6, 5, 6], [2, 5, 6]].map(Vec::from);
        assert_eq!(places(&torus, &[4, 4, 4], &[4, 6, 8], RULE), expected);
        // Equations (13) and (14), from (4,4,4) to (4,4,8).
        let expected = [[6, 4, 10], [2, 4, 6], [4, 6, 2], [4, 2, 6]].map(Vec::from);
        assert_eq!(places(&torus, &[4, 4, 4], &[4, 4, 8], RULE), expected);
        let rule = OutFlank { nodes: Nodes::Simulator, ..RULE };
        let expected = [[2, 4, 6], [4, 2, 6]].map(Vec::from);
        assert_eq!(places(&torus, &[4, 4, 4], &[4, 4, 8], rule), expected);
    }

    #[test]
    fn outflanking_nodes_of_a_mesh_lie_inside_it() {
        let mesh = Torus::new(&[9, 9], &[0, 1]).unwrap();
        let of = |from: [u32; 2], to: [u32; 2]| places(&mesh, &from, &to, RULE);
        // In the middle those of a torus: one back in x and beyond in y, and the other way round.
        assert_eq!(of([3, 3], [5, 6]), [[1, 8], [7, 1]].map(Vec::from));
        let torus = Torus::new(&[9, 9], &[]).unwrap();
        assert_eq!(of([3, 3], [5, 6]), places(&torus, &[3, 3], &[5, 6], RULE));
        // At the edge x = 0 no step back leads; at y = 8 none beyond.
        assert_eq!(of([0, 3], [5, 6]), [[7, 1]].map(Vec::from));
        assert_eq!(of([0, 3], [8, 6]), Vec::<Vec<u32>>::new());
        // Along a row: aside on both sides, beyond and back; at its end on one.
        assert_eq!(of([3, 4], [5, 4]), [[7, 6], [1, 2]].map(Vec::from));
        assert_eq!(of([3, 0], [5, 0]), [[7, 2]].map(Vec::from));
        // Where one dimension closes into rings, steps in it wrap around.
        let open = Torus::new(&[9, 9], &[1]).unwrap();
        assert_eq!(places(&open, &[0, 3], &[4, 6], RULE), [[7, 8], [6, 1]].map(Vec::from));
    }

    #[test]
    fn the_rule_covers_all_other_directions_at_both_ends() {
        for sizes in [&[9, 9][..], &[9, 9, 9], &[9, 9, 9, 9], &[9, 9, 9, 9, 9]] {
            let torus = Torus::new(sizes, &[]).unwrap();
            let dimensions = narrow::<u32>(sizes.len());
            for offsets in 1..1u32 << dimensions {
                let to: Vec<u32> = (0..dimensions).map(|i| 2 * (offsets >> i & 1)).collect();
                let destination = torus.node(&to).unwrap();
                let mut candidates = Vec::new();
                outflank(&torus, 0, destination, RULE, &mut candidates);
                let union = |leg: fn(&Candidate) -> Leg| {
                    let sets = candidates.iter().map(|c| leg(c).direction_set(dimensions));
                    sets.fold(0, |one, other| one | other)
                };
                let all = (1 << (2 * dimensions)) - 1;
                let other =
                    all & !Leg::minimal(&torus, 0, destination, 0).direction_set(dimensions);
                assert_eq!(union(|c| c.first) & other, other, "{sizes:?} {to:?}");
                assert_eq!(union(|c| c.second) & other, other, "{sizes:?} {to:?}");
            }
        }
    }

    #[test]
    fn wraparound_nodes_lie_in_the_middle_of_the_other_orthants() {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let nodes = |midpoint| {
            let mut candidates = Vec::new();
            wraparound(&torus, 0, 2 + 2 * 8, midpoint, &mut candidates);
            candidates.iter().map(|c| torus.coordinates(c.node)).collect::<Vec<_>>()
        };
        assert_eq!(nodes(Midpoint::Exact), [[5, 1], [1, 5], [5, 5]].map(Vec::from));
        assert_eq!(nodes(Midpoint::HalfOfRemainder), [[1, 5], [5, 1], [5, 5]].map(Vec::from));
    }

    #[test]
    fn midpoints_of_the_simulator() {
        let of = |one, other| Midpoint::HalfOfRemainder.of_shorter_way(one, other, 8, false);
        assert_eq!([of(2, 4), of(6, 2), of(7, 3)], [3, 4, 5], "up to half a ring the plain middle");
        assert_eq!([of(0, 7), of(1, 6)], [3, 3], "on the longer way");
        assert_eq!(of(7, 2), 0);
        let beyond = |one, other| Midpoint::HalfOfRemainder.of_orthant(one, other, 8, true);
        assert_eq!([beyond(2, 4), beyond(6, 2), beyond(5, 5), beyond(0, 7)], [7, 0, 1, 7]);
    }

    #[test]
    fn outflanking_nodes_of_the_simulator() {
        let torus = Torus::new(&[16, 16, 16], &[]).unwrap();
        let rule = OutFlank { nodes: Nodes::Simulator, ..RULE };
        // Those of equations (9) and (10) in another order.
        let expected = [[2, 8, 5], [2, 5, 8], [10, 2, 5], [6, 2, 8], [10, 5, 2], [6, 8, 2]];
        assert_eq!(places(&torus, &[4, 4, 4], &[8, 6, 6], rule), expected.map(Vec::from));
        let expected = [[4, 2, 10], [4, 8, 2], [6, 5, 6], [2, 5, 6]].map(Vec::from);
        assert_eq!(places(&torus, &[4, 4, 4], &[4, 6, 8], rule), expected);
    }
}
