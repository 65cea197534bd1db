//! The detours of a new packet: all detours between two nodes, and the most profitable one.
//!
//! Detours depend on the offset between source and destination only, so they are computed once for
//! each offset: some 20 bytes for each of a few dozen detours.

use std::sync::Arc;

use super::profit::{Average, IdleRatio, Search, WeighedRoute, Weights};
use super::{
    AdaptiveKind, AdaptiveRule, AtRouter, Candidate, Compass, Heading, Intermediate, Leg, Midpoint,
    Misroute, Nodes, OutFlank, When, orthants, outflank, wraparound,
};
use flitlab_base::document::{Number, Reader, Whole};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, TopologyError, Torus};

/// Pick Orthant Routing (\[outflank\], Remark 3).
pub(super) const PROFIT: Row<AdaptiveKind> = Row::new(
    "profit",
    "congestion behind the source's ports against distance.",
    AdaptiveKind {
        memory: Detours::memory_needed,
        ..AdaptiveKind::orthants("Pick Orthant Routing", When::AtSource, |reader| {
            let weights = weights(reader, 1.0);
            Some(Arc::new(move |torus| {
                let detours = Detours::bound(torus, Family::Orthants, weights);
                detours.map(|detours| detours as _)
            }))
        })
    },
);

/// OutFlank Routing (\[outflank\]).
pub(super) const OUTFLANK: Row<AdaptiveKind> = Row::new(
    "outflank",
    "As [routing.adaptive], but a new packet may be led through an intermediate node, just outside \
     the shortest ways or on the other side of the rings (OutFlank Routing, OFR). In open \
     dimensions, as those of a mesh, there are only the former.",
    AdaptiveKind {
        memory: Detours::memory_needed,
        ..AdaptiveKind::nodes("OutFlank Routing", When::AtSource, |reader| {
            let (mut steps, mut percent) = (2, 0);
            let doc = "How many steps outside the shortest ways outflanking intermediate nodes \
                       lie.";
            reader.set("steps", &Whole { range: 1..=64 }, &mut steps, doc);
            let doc = "They lie at least so many hundredths of the distance between the ends \
                       outside, rounded down: the farther a packet goes, the wider its detours \
                       are.";
            reader.set("steps_percent", &Whole { range: 0..=100 }, &mut percent, doc);
            let family = Family::IntermediateNodes { steps, percent };
            let weights = weights(reader, 2.0);
            Some(Arc::new(move |torus| {
                Detours::bound(torus, family, weights).map(|detours| detours as _)
            }))
        })
    },
)
.known_as(&["ofr"]);

/// Reads the weights of the profit, and that of the distance where there is no room.
fn weights(reader: &mut Reader<'_>, distance: f64) -> (Weights, f64) {
    let kind = Number { above: 0.0, to: 1e3, inclusive: true };
    let doc =
        "Weight of a detour's length against congestion: the less, the more packets are derouted.";
    let distance = reader.value("distance_weight", &kind, distance, doc);
    let doc = "What that weight is multiplied by where the ports of the shortest ways have no room for the \
               packet. Up to there the factor changes in proportion to the flits used behind them.";
    let full = distance * reader.value("full_weight_factor", &kind, 1.0, doc);
    let weights =
        Weights { distance, average: Average::Directions, idle: IdleRatio::CandidateIdle };
    (weights, full)
}

/// Packets with less than this distance to go are never derouted.
const MIN_DISTANCE: u16 = 2;

/// The family of detours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The other orthants: Pick Orthant Routing.
    Orthants,
    /// Intermediate nodes: OutFlank Routing.
    IntermediateNodes {
        /// Steps outside the minimal orthant, Delta in \[outflank\], equations (2) and (3), 1 or
        /// more.
        steps: u32,
        /// Delta is at least so many hundredths of the distance between the ends, rounded down:
        /// \[outflank\], section 3.1.2, suggests a fraction of it, which bounds the dilation by a
        /// factor.
        percent: u32,
    },
}

impl Family {
    /// The rule by which outflanking nodes between two nodes are placed; `None` if the detours are
    /// orthants.
    pub(super) fn outflank(self, torus: &Torus, source: u32, destination: u32) -> Option<OutFlank> {
        let Self::IntermediateNodes { steps, percent } = self else { return None };
        let distance = Leg::minimal(torus, source, destination, 0).distance();
        let steps = steps.max(distance * percent / 100);
        Some(OutFlank { steps, midpoint: Midpoint::Exact, nodes: Nodes::Example })
    }

    /// Adds the detours between two nodes.
    fn find(self, torus: &Torus, source: u32, destination: u32, candidates: &mut Vec<Candidate>) {
        let Some(rule) = self.outflank(torus, source, destination) else {
            return orthants(torus, source, destination, candidates);
        };
        outflank(torus, source, destination, rule, candidates);
        if torus.dimensions() > 3 {
            // [outflank] gives an order for three dimensions; beyond, the shortest come first.
            candidates.sort_by_key(Candidate::distance);
        }
        wraparound(torus, source, destination, rule.midpoint, candidates);
    }

    /// The detours between two nodes that packets may be sent on, in the order in which equally
    /// profitable ones are preferred.
    pub(super) fn between(
        self,
        torus: &Torus,
        compass: &Compass,
        source: u32,
        destination: u32,
    ) -> Vec<(Candidate, Detour)> {
        let mut candidates = Vec::new();
        if compass.distance(source, destination, Heading::default()) >= MIN_DISTANCE {
            self.find(torus, source, destination, &mut candidates);
        }
        let detour = |candidate: Candidate| {
            Some((candidate, detour(torus, compass, source, destination, &candidate)?))
        };
        candidates.into_iter().filter_map(detour).collect()
    }
}

/// A detour between the nodes of one offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detour {
    /// From the source to the end of the first leg, in steps.
    steps: [i16; MAXIMUM_DIMENSIONS],
    /// Hops in all.
    distance: u16,
    /// The directions in which the first leg leaves the source, with both halves of a ring.
    directions: u16,
    heading: Heading,
    kind: Misroute,
}

/// All detours of a torus, and the weights of their profit.
#[derive(Clone, Debug)]
pub struct Detours {
    /// The family of the detours.
    pub family: Family,
    /// The weights of their profit.
    pub weights: Weights,
    /// The weight of the distance where no minimal direction has room: eta of equation (15) follows
    /// the load, as section 5 of \[outflank\] leaves open. Where nothing is used behind these, it is
    /// that of `weights`.
    pub full_distance: f64,
    detours: Vec<Detour>,
    /// The first detour of each offset; one more at the end.
    first: Vec<u32>,
    /// Whether detours may lead over an edge, so that the source decides which of them exist.
    edges: bool,
}

impl Detours {
    /// Approximate bytes that they take: a pair of nodes for each offset, and a few dozen detours.
    pub fn memory_needed(torus: &Torus) -> u64 {
        // A torus with margins has a few times as many nodes, of a few coordinates each.
        let margins = u64::from(torus.nodes()) * torus.dimensions() as u64 * 8;
        Compass::offsets_of(torus) * (16 + 4 + 48 * size_of::<Detour>() as u64) + margins
    }

    /// Computes all detours. In open dimensions there are outflanking nodes only, as far as the
    /// mesh goes. By nodes on the other side, packets are derouted round rings only.
    ///
    /// # Errors
    /// If a mesh is so large that there is no place for nodes beyond its edges.
    pub fn new(
        torus: &Torus,
        family: Family,
        (weights, full_distance): (Weights, f64),
    ) -> Result<Self, TopologyError> {
        // With both halves, so that both directions of a half ring are minimal.
        let mut pairs = vec![None; Compass::new(torus, true).offsets()];
        let own = Compass::new(torus, true);
        let (wide, margins) = with_margins(torus, family)?;
        let moved = |node| {
            let own = torus.coordinates(node);
            let moved: Vec<u32> =
                own.iter().zip(&margins).map(|(at, margin)| at + margin).collect();
            wide.node(&moved).expect("margins make room")
        };
        for source in ends(torus) {
            for destination in 0..torus.nodes() {
                let pair = &mut pairs[own.offset(source, destination)];
                pair.get_or_insert_with(|| (moved(source), moved(destination)));
            }
        }
        let (torus, compass) = (&wide, Compass::new(&wide, true));
        let mut detours = Vec::new();
        let mut first = vec![0];
        for (source, destination) in pairs.into_iter().map(|pair| pair.expect("ends reach all")) {
            let found = family.between(torus, &compass, source, destination);
            detours.extend(found.into_iter().map(|(_, detour)| detour));
            first.push(u32::try_from(detours.len()).expect("fewer than 2^32 detours"));
        }
        let edges = margins.iter().any(|&margin| margin > 0);
        Ok(Self { family, weights, full_distance, detours, first, edges })
    }

    /// Computes all detours, for a rule.
    fn bound(torus: &Torus, family: Family, weights: (Weights, f64)) -> Result<Arc<Self>, String> {
        Self::new(torus, family, weights).map(Arc::new).map_err(|error| error.to_string())
    }

    /// The kinds and the ends of the first legs of all detours between two nodes.
    #[cfg(test)]
    pub(super) fn nodes(
        &self,
        compass: &Compass,
        source: u32,
        destination: u32,
    ) -> Vec<(Misroute, u32)> {
        let offset = compass.offset(source, destination);
        let detours = &self.detours[self.first[offset] as usize..self.first[offset + 1] as usize];
        let steps = |detour: &Detour| detour.steps[..compass.dimensions()].to_vec();
        let inside = detours.iter().filter(|it| !self.edges || compass.stays(source, &steps(it)));
        inside.map(|it| (it.kind, compass.away(source, &steps(it)))).collect()
    }

    /// The weight of the distance for a packet that leaves in these directions by the minimal route.
    /// Without a live one there is no room: the share is no number then, and `min` makes it 1.
    fn eta(&self, packet: &AtRouter<'_>, minimal: u32) -> f64 {
        let ports = (0..packet.used.len()).filter(|port| minimal >> port & 1 == 1);
        let (count, used) =
            ports.fold((0u32, 0u32), |(count, sum), port| (count + 1, sum + packet.used[port]));
        let share = f64::from(used) / f64::from(count) / f64::from(packet.full);
        self.weights.distance + (self.full_distance - self.weights.distance) * share.min(1.0)
    }

    /// The most profitable detour for a packet, if one is better than the minimal route (equation
    /// (17)). Of a route's directions only live ones count, and detours through nodes that are not
    /// alive are left out.
    fn best(&self, packet: &AtRouter<'_>) -> Option<&Detour> {
        let &AtRouter { compass, router: source, destination, negative, live, .. } = packet;
        let offset = compass.offset(source, destination);
        let detours = &self.detours[self.first[offset] as usize..self.first[offset + 1] as usize];
        if detours.is_empty() {
            return None;
        }
        let (minimal, distance) = compass.shortest(source, destination);
        let minimal = u32::from(compass.of_both_halves(minimal, negative) & live.ports);
        let distance = f64::from(distance);
        let eta = self.eta(packet, minimal);
        let minimal = WeighedRoute::new(minimal, 1.0, eta);
        let mut search = Search::new(&minimal, (packet.used, packet.full), self.weights.idle)?;
        // From this distance on, no detour is better.
        let mut too_long = u16::MAX;
        let mut best = None;
        for detour in detours {
            if detour.distance >= too_long {
                continue;
            }
            let steps = &detour.steps[..compass.dimensions()];
            let inside = !self.edges || compass.stays(source, steps);
            let ends = |ends: &[bool]| ends[compass.away(source, steps) as usize];
            let exists = inside && live.ends.is_none_or(ends);
            let directions = compass.of_both_halves(detour.directions, negative) & live.ports;
            // Without a direction it has no profit.
            let directions = if exists { directions } else { 0 };
            let ratio = distance / f64::from(detour.distance);
            let route = WeighedRoute::new(u32::from(directions), ratio, eta);
            if !search.is_open_to(&route) {
                too_long = detour.distance;
            } else if search.finds(&route) {
                best = Some(detour);
            }
        }
        best
    }
}

impl AdaptiveRule<Heading> for Detours {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Heading> {
        let heading = self.best(packet)?.heading;
        let negative = heading.negative | packet.negative & !heading.bound;
        Some(Heading { negative, ..heading })
    }
}

impl AdaptiveRule<Intermediate> for Detours {
    fn decide(&self, packet: &AtRouter<'_>) -> Option<Intermediate> {
        let best = self.best(packet)?;
        let compass = packet.compass;
        let node = compass.away(packet.router, &best.steps[..compass.dimensions()]);
        Some(Intermediate { node, across: best.kind == Misroute::Wraparound })
    }
}

/// The torus with margins: more nodes at both ends of each open dimension, and how many at each
/// end. No detour between nodes of the original torus, which lies in the middle, leads over an
/// edge.
fn with_margins(torus: &Torus, family: Family) -> Result<(Torus, Vec<u32>), TopologyError> {
    let steps = match family {
        Family::Orthants => 0,
        Family::IntermediateNodes { steps, percent } => {
            let halves = |dimension: usize| {
                let size = torus.sizes()[dimension];
                if torus.closed(dimension) { size / 2 } else { size - 1 }
            };
            let diameter: u32 = (0..torus.dimensions()).map(halves).sum();
            steps.max(diameter * percent / 100)
        }
    };
    let open = |&dimension: &usize| !torus.closed(dimension);
    // No offset is longer than the size less one.
    let margin = |dimension| match open(&dimension) {
        true => steps.min(torus.sizes()[dimension] - 1),
        false => 0,
    };
    let margins: Vec<u32> = (0..torus.dimensions()).map(margin).collect();
    let sizes: Vec<u32> =
        torus.sizes().iter().zip(&margins).map(|(size, margin)| size + 2 * margin).collect();
    let open: Vec<usize> = (0..torus.dimensions()).filter(open).collect();
    Ok((Torus::new(&sizes, &open)?, margins))
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

/// The detour of a candidate. `None` if its first or its second leg has minimal directions only.
fn detour(
    torus: &Torus,
    compass: &Compass,
    source: u32,
    destination: u32,
    candidate: &Candidate,
) -> Option<Detour> {
    let free = Heading::default();
    let minimal = compass.ports(source, destination, free);
    let (heading, distance) = if candidate.kind == Misroute::Orthant {
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

/// The directions of an orthant's leg, in the form of [`Heading`]; half rings, whose directions are
/// both minimal, stay free.
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
    use super::super::Live;
    use super::*;

    const WEIGHTS: Weights =
        Weights { distance: 2.0, average: Average::Directions, idle: IdleRatio::CandidateIdle };

    /// The best detour between two nodes, and the end of its first leg.
    fn best<'d>(
        detours: &'d Detours,
        compass: &Compass,
        (router, destination): (u32, u32),
        used: &[u32],
    ) -> Option<(u32, &'d Detour)> {
        let packet = AtRouter {
            compass,
            router,
            destination,
            negative: 0,
            used,
            full: 8,
            live: Live::default(),
            drawn: 0,
        };
        let best = detours.best(&packet)?;
        Some((compass.away(router, &best.steps[..compass.dimensions()]), best))
    }

    /// The decision on an 8x8 torus, given the used flits of each direction.
    fn decide(family: Family, to: [u32; 2], used: [u32; 4]) -> Option<(Vec<u32>, Misroute)> {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let detours = Detours::new(&torus, family, (WEIGHTS, WEIGHTS.distance)).unwrap();
        let compass = Compass::new(&torus, true);
        let (source, to) = (torus.node(&[6, 6]).unwrap(), torus.node(&to).unwrap());
        let (node, detour) = best(&detours, &compass, (source, to), &used)?;
        Some((torus.coordinates(node), detour.kind))
    }

    const NODES: Family = Family::IntermediateNodes { steps: 2, percent: 0 };

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
        assert_ne!(kind, Misroute::Orthant);
        assert_ne!(node, [7, 6]);
        let (node, kind) = decide(Family::Orthants, [0, 6], [8, 1, 1, 1]).unwrap();
        assert_eq!((node, kind), (vec![0, 6], Misroute::Orthant));
    }

    /// Two steps in +x, or six in -x behind whose port nothing is used, with eta 4 where nothing is used
    /// and 1 where there is no room. Half of the room is used behind +x, so eta is 2.5, and 1/3 of it
    /// for the detour: 1 + 0.83 are less than 0 + 2.5. With seven of eight eta is 1.375: 1 + 0.46 are
    /// more than 1.375.
    #[test]
    fn the_weight_of_the_distance_follows_what_is_used() {
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let weights = Weights { distance: 4.0, ..WEIGHTS };
        let detours = Detours::new(&torus, Family::Orthants, (weights, 1.0)).unwrap();
        let compass = Compass::new(&torus, true);
        let goes_round = |used: [u32; 4]| best(&detours, &compass, (0, 2), &used).is_some();
        assert!(!goes_round([4, 1, 0, 1]) && goes_round([7, 1, 0, 1]));
        let fixed = Detours::new(&torus, Family::Orthants, (weights, 4.0)).unwrap();
        assert!(best(&fixed, &compass, (0, 2), &[7, 1, 0, 1]).is_none());
    }

    #[test]
    fn a_neighbour_is_not_gone_round_to() {
        for family in [Family::Orthants, NODES] {
            assert_eq!(decide(family, [7, 6], [8, 1, 1, 1]), None);
        }
    }

    /// From (3,3) to (5,6) of a mesh, both of whose minimal ports are full: by (1,8) or (7,1); from
    /// its edges by one of them, from a corner by none.
    #[test]
    fn detours_of_a_mesh_depend_on_how_far_its_edges_are() {
        let mesh = Torus::new(&[9, 9], &[0, 1]).unwrap();
        let detours = Detours::new(&mesh, NODES, (WEIGHTS, WEIGHTS.distance)).unwrap();
        let compass = Compass::new(&mesh, true);
        let decide = |from: [u32; 2], to: [u32; 2], used: [u32; 4]| {
            let ends = (mesh.node(&from).unwrap(), mesh.node(&to).unwrap());
            let (node, detour) = best(&detours, &compass, ends, &used)?;
            assert_eq!(detour.kind, Misroute::OutFlank);
            Some(mesh.coordinates(node))
        };
        let (back_in_x, back_in_y) = ([8, 8, 1, 2], [8, 8, 2, 1]);
        assert_eq!(decide([3, 3], [5, 6], back_in_x), Some(vec![1, 8]));
        assert_eq!(decide([3, 3], [5, 6], back_in_y), Some(vec![7, 1]));
        assert_eq!(decide([0, 3], [2, 6], [8, 8, u32::MAX, 1]), Some(vec![4, 1]));
        assert_eq!(decide([3, 0], [5, 3], [8, 8, 1, u32::MAX]), Some(vec![1, 5]));
        assert_eq!(decide([0, 0], [2, 3], [8, 8, u32::MAX, u32::MAX]), None);
        assert_eq!(decide([1, 1], [3, 4], back_in_x), None, "two steps back lead over the edge");
    }

    /// Four steps in +x: half of that distance is the given percentage, so that the nodes are those
    /// of two steps; all of them lead farther out.
    #[test]
    fn steps_grow_with_the_distance_if_told() {
        let torus = Torus::new(&[16, 16], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let aside = |percent, to: u32| {
            let family = Family::IntermediateNodes { steps: 2, percent };
            let detours = Detours::new(&torus, family, (WEIGHTS, WEIGHTS.distance)).unwrap();
            torus.coordinates(best(&detours, &compass, (0, to), &[8, 1, 8, 8]).unwrap().0)
        };
        assert_eq!(aside(0, 4), [6, 2]);
        assert_eq!(aside(50, 4), [6, 2]);
        assert_eq!(aside(100, 4), [8, 4]);
        assert_eq!(aside(99, 4), [7, 3]);
        assert_eq!(aside(100, 2), [4, 2]);
    }

    #[test]
    fn the_half_rings_of_an_orthant_stay_free() {
        // Half a ring in x both ways; three steps in y.
        let torus = Torus::new(&[8, 8], &[]).unwrap();
        let detours = Detours::new(&torus, Family::Orthants, (WEIGHTS, WEIGHTS.distance)).unwrap();
        let compass = Compass::new(&torus, true);
        let to = torus.node(&[4, 3]).unwrap();
        let (_, decision) = best(&detours, &compass, (0, to), &[8, 8, 8, 1]).unwrap();
        assert_eq!(decision.heading, Heading { negative: 0b10, bound: 0b10 });
        assert_eq!(compass.ports(0, to, decision.heading), 0b1101);
    }

    #[test]
    fn detours_keep_to_rings_and_to_the_torus() {
        for (sizes, open) in [
            (&[4, 2, 2, 2][..], &[][..]),
            (&[3, 4, 5], &[1]),
            (&[5, 4, 3], &[0, 1, 2]),
            (&[6, 2, 3], &[]),
            (&[5, 1, 4, 3], &[]),
        ] {
            let torus = Torus::new(sizes, open).unwrap();
            let compass = Compass::new(&torus, true);
            for family in [Family::Orthants, NODES] {
                let detours = Detours::new(&torus, family, (WEIGHTS, WEIGHTS.distance)).unwrap();
                for source in 0..torus.nodes() {
                    for destination in 0..torus.nodes() {
                        let minimal = compass.ports(source, destination, Heading::default());
                        let used: Vec<u32> = (0..torus.directions())
                            .map(|port| 1 + 7 * u32::from(minimal >> port & 1))
                            .collect();
                        let ends = (source, destination);
                        let Some((node, it)) = best(&detours, &compass, ends, &used) else {
                            continue;
                        };
                        assert!(node < torus.nodes());
                        for dimension in 0..torus.dimensions() {
                            let at = |node| torus.coordinate(node, dimension);
                            let (low, high) =
                                (at(source).min(at(destination)), at(source).max(at(destination)));
                            assert!(
                                torus.closed(dimension)
                                    || it.kind == Misroute::OutFlank
                                    || (low..=high).contains(&at(node))
                            );
                        }
                    }
                }
            }
        }
    }
}
