//! What a new packet can do on its way: all detours between two nodes, and the one that pays most.
//!
//! Detours depend on how source and destination lie to one another only, so they are found once for each
//! offset: some 20 bytes for each of a few dozen detours.

use super::profit::{Way, Weights, best_detour};
use super::{
    Candidate, Compass, Derouting, Heading, Leg, Midpoint, Nodes, OutFlank, orthants, outflank,
    wraparound,
};
use crate::narrow::narrow;
use crate::topology::{MAXIMUM_DIMENSIONS, Torus};

/// Packets with less than this distance to go are never derouted.
pub const LEAST_DISTANCE: u16 = 2;

/// Which detours there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The other orthants: Pick Orthant Routing.
    Orthants,
    /// Intermediate nodes: OutFlank Routing.
    IntermediateNodes {
        /// Steps outside the minimal orthant, Delta in equations (2) and (3), 1 or more.
        steps: u32,
    },
}

/// A detour between the nodes of one offset.
#[derive(Clone, Copy, Debug)]
struct Detour {
    /// From the source to where the first leg ends, in steps.
    steps: [i16; MAXIMUM_DIMENSIONS],
    /// Hops in all.
    distance: u16,
    /// The directions in which the first leg leaves the source, with both halves of a ring.
    directions: u16,
    heading: Heading,
    kind: Derouting,
}

/// A detour that was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub kind: Derouting,
    /// Where the first leg ends: the intermediate node, or the destination.
    pub node: u32,
    /// What an orthant binds the packet to; for an intermediate node nothing.
    pub heading: Heading,
}

/// What is alive, as far as a decision at a source depends on it. The default is all.
#[derive(Clone, Copy, Debug)]
pub struct Live<'f> {
    /// The source's ports that lead somewhere, a bit each.
    pub ports: u16,
    /// By node: whether packets can end there; all if `None`.
    pub ends: Option<&'f [bool]>,
}

impl Default for Live<'_> {
    fn default() -> Self {
        Self { ports: u16::MAX, ends: None }
    }
}

/// All detours of a torus, and what they are worth.
#[derive(Clone, Debug)]
pub struct Detours {
    weights: Weights,
    detours: Vec<Detour>,
    /// The first detour of each offset; one more at the end.
    first: Vec<u32>,
}

impl Detours {
    /// Bytes that they take, about: of an offset a pair that has it, and what a few dozen detours take.
    #[must_use]
    pub fn memory_needed(torus: &Torus) -> u64 {
        Compass::offsets_of(torus) * (16 + 4 + 48 * size_of::<Detour>() as u64)
    }

    /// Finds all detours. Open dimensions have none: packets are only derouted round rings.
    #[must_use]
    pub fn new(torus: &Torus, family: Family, weights: Weights) -> Self {
        // With both halves, so that a half ring's two ways are both minimal.
        let compass = Compass::new(torus, true);
        let mut pairs = vec![None; compass.offsets()];
        for source in ends(torus) {
            for destination in 0..torus.nodes() {
                pairs[compass.offset(source, destination)].get_or_insert((source, destination));
            }
        }
        let mut detours = Vec::new();
        let mut first = vec![0];
        let mut candidates = Vec::new();
        for (source, destination) in pairs.into_iter().map(|pair| pair.expect("ends reach all")) {
            let free = Heading::default();
            if compass.distance(source, destination, free) >= LEAST_DISTANCE {
                candidates.clear();
                find(torus, family, source, destination, &mut candidates);
                let found = candidates.iter();
                detours.extend(
                    found.filter_map(|it| detour(torus, &compass, source, destination, it)),
                );
            }
            first.push(u32::try_from(detours.len()).expect("fewer than 2^32 detours"));
        }
        Self { weights, detours, first }
    }

    /// The detour that pays most for a packet from `source` to `destination`, if one is better than the
    /// minimal way (equation (17)). Half rings go as `compass` and the bits of `negative` tell.
    ///
    /// `used` counts the used flits of each direction; from `full` on a packet has no room. Of a way's directions those
    /// count that are `live`, and detours through nodes that are not are left out.
    #[must_use]
    pub fn decide(
        &self,
        compass: &Compass,
        (source, destination): (u32, u32),
        negative: u8,
        (used, full): (&[u32], u32),
        live: Live<'_>,
    ) -> Option<Decision> {
        let offset = compass.offset(source, destination);
        let detours = &self.detours[self.first[offset] as usize..self.first[offset + 1] as usize];
        if detours.is_empty() {
            return None;
        }
        let loose = Heading { negative, bound: 0 };
        let minimal = u32::from(compass.ports(source, destination, loose) & live.ports);
        let distance = f64::from(compass.distance(source, destination, loose));
        let ways = detours.iter().map(|detour| {
            let directions = compass.of_both_halves(detour.directions, negative) & live.ports;
            let ends = live.ends.is_none_or(|ends| {
                let node = compass.away(source, &detour.steps[..compass.dimensions()]);
                ends[node as usize]
            });
            // Without a direction it has no profit.
            let directions = if ends { directions } else { 0 };
            let ratio = distance / f64::from(detour.distance);
            Way::new(u32::from(directions), ratio, &self.weights)
        });
        let minimal = Way::new(minimal, 1.0, &self.weights);
        let best = &detours[best_detour(&minimal, ways, used, full, self.weights.idle)?];
        let node = compass.away(source, &best.steps[..compass.dimensions()]);
        let heading = Heading {
            negative: best.heading.negative | negative & !best.heading.bound,
            ..best.heading
        };
        Some(Decision { kind: best.kind, node, heading })
    }
}

/// Sources from which every offset occurs: the corners of the open dimensions.
fn ends(torus: &Torus) -> Vec<u32> {
    let mut ends = vec![vec![]];
    for (dimension, &size) in torus.sizes().iter().enumerate() {
        let coordinates = if torus.closed(dimension) { vec![0] } else { vec![0, size - 1] };
        let longer = |end: &Vec<u32>| {
            let end = end.clone();
            coordinates.clone().into_iter().map(move |at| [end.clone(), vec![at]].concat())
        };
        ends = ends.iter().flat_map(longer).collect();
    }
    ends.iter().filter_map(|end| torus.node(end)).collect()
}

fn find(
    torus: &Torus,
    family: Family,
    source: u32,
    destination: u32,
    candidates: &mut Vec<Candidate>,
) {
    match family {
        Family::Orthants => orthants(torus, source, destination, candidates),
        Family::IntermediateNodes { steps } => {
            let (midpoint, nodes) = (Midpoint::Exact, Nodes::Example);
            let rule = OutFlank { steps, midpoint, nodes };
            outflank(torus, source, destination, rule, candidates);
            if torus.dimensions() > 3 {
                // The paper gives an order for three dimensions; beyond, the shortest come first.
                candidates.sort_by_key(Candidate::distance);
            }
            wraparound(torus, source, destination, midpoint, candidates);
        }
    }
}

/// A candidate as a detour, unless it is none: if the first or the second leg has minimal directions only.
fn detour(
    torus: &Torus,
    compass: &Compass,
    source: u32,
    destination: u32,
    candidate: &Candidate,
) -> Option<Detour> {
    let free = Heading::default();
    let minimal = compass.ports(source, destination, free);
    let (heading, distance) = if candidate.kind == Derouting::Orthant {
        let (negative, bound) = ways_round(torus, &candidate.first, minimal);
        let heading = Heading { negative, bound };
        (heading, compass.distance(source, destination, heading))
    } else {
        let second = compass.ports(candidate.node, destination, free);
        if second & !minimal == 0 {
            return None;
        }
        let first = compass.distance(source, candidate.node, free);
        (free, first + compass.distance(candidate.node, destination, free))
    };
    let directions = compass.ports(source, candidate.node, heading);
    let steps = std::array::from_fn(|dimension| {
        if dimension >= torus.dimensions() {
            return 0;
        }
        let at = |node| narrow::<i16>(torus.coordinate(node, dimension));
        at(candidate.node) - at(source)
    });
    let is_one = directions & !minimal != 0;
    is_one.then_some(Detour { steps, distance, directions, heading, kind: candidate.kind })
}

/// The ways round of an orthant's leg, as [`Heading`] has them; half rings, of which both ways are
/// minimal, stay free.
fn ways_round(torus: &Torus, leg: &Leg, minimal: u16) -> (u8, u8) {
    let dimensions = narrow(torus.dimensions());
    let set = leg.direction_set(dimensions);
    let low = (1 << dimensions) - 1;
    let half_rings = u32::from(minimal) & u32::from(minimal) >> dimensions & low;
    let closed = (0..torus.dimensions()).filter(|&dimension| torus.closed(dimension));
    let bound = (set | set >> dimensions) & closed.fold(0, |set, it| set | 1 << it) & !half_rings;
    (narrow(set >> dimensions & bound), narrow(bound & low))
}

#[cfg(test)]
mod tests {
    use super::super::profit::{Average, IdleRatio};
    use super::*;

    const WEIGHTS: Weights =
        Weights { distance: 2.0, average: Average::Directions, idle: IdleRatio::CandidateIdle };

    /// What is used in each direction of an 8x8 torus.
    fn decide(family: Family, to: [u32; 2], used: [u32; 4]) -> Option<(Vec<u32>, Derouting)> {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let detours = Detours::new(&torus, family, WEIGHTS);
        let compass = Compass::new(&torus, true);
        let (source, to) = (torus.node(&[6, 6]).unwrap(), torus.node(&to).unwrap());
        let decision = detours.decide(&compass, (source, to), 0, (&used, 8), Live::default())?;
        Some((torus.coordinates(decision.node), decision.kind))
    }

    const NODES: Family = Family::IntermediateNodes { steps: 2 };

    #[test]
    fn an_idle_network_has_no_detours() {
        for family in [Family::Orthants, NODES] {
            for to in [[0, 6], [1, 1], [7, 3], [2, 6]] {
                assert_eq!(decide(family, to, [0; 4]), None);
            }
        }
    }

    #[test]
    fn a_full_direction_is_gone_round() {
        // Two steps in +x, whose queue is full; the others hold one packet each.
        let (node, kind) = decide(NODES, [0, 6], [8, 1, 1, 1]).unwrap();
        assert_ne!(kind, Derouting::Orthant);
        assert_ne!(node, [7, 6]);
        let (node, kind) = decide(Family::Orthants, [0, 6], [8, 1, 1, 1]).unwrap();
        assert_eq!((node, kind), (vec![0, 6], Derouting::Orthant));
    }

    #[test]
    fn a_neighbour_is_not_gone_round_to() {
        for family in [Family::Orthants, NODES] {
            assert_eq!(decide(family, [7, 6], [8, 1, 1, 1]), None);
        }
    }

    #[test]
    fn the_half_rings_of_an_orthant_stay_free() {
        // Half a ring in x both ways; three steps in y.
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let detours = Detours::new(&torus, Family::Orthants, WEIGHTS);
        let compass = Compass::new(&torus, true);
        let to = torus.node(&[4, 3]).unwrap();
        let decision = detours.decide(&compass, (0, to), 0, (&[8, 8, 8, 1], 8), Live::default()).unwrap();
        assert_eq!(decision.heading, Heading { negative: 0b10, bound: 0b10 });
        assert_eq!(compass.ports(0, to, decision.heading), 0b1101);
    }

    #[test]
    fn detours_keep_to_rings_and_to_the_torus() {
        for (sizes, open) in [
            (&[4, 2, 2, 2][..], &[][..]),
            (&[3, 4, 5], &[1]),
            (&[6, 2, 3], &[]),
            (&[5, 1, 4, 3], &[]),
        ] {
            let torus = Torus::new(sizes, open).unwrap();
            let compass = Compass::new(&torus, true);
            for family in [Family::Orthants, NODES] {
                let detours = Detours::new(&torus, family, WEIGHTS);
                for source in 0..torus.nodes() {
                    for destination in 0..torus.nodes() {
                        let minimal = compass.ports(source, destination, Heading::default());
                        let used: Vec<u32> = (0..torus.directions())
                            .map(|port| 1 + 7 * u32::from(minimal >> port & 1))
                            .collect();
                        let ends = (source, destination);
                        let all = Live::default();
                        let Some(it) = detours.decide(&compass, ends, 0, (&used, 8), all) else {
                            continue;
                        };
                        for (dimension, &size) in torus.sizes().iter().enumerate() {
                            let at = |node| torus.coordinate(node, dimension);
                            let (low, high) =
                                (at(source).min(at(destination)), at(source).max(at(destination)));
                            assert!(
                                torus.closed(dimension) || (low..=high).contains(&at(it.node)),
                                "{size}"
                            );
                        }
                    }
                }
            }
        }
    }
}
