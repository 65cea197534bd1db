//! The proof of a routing table: every pair has a route, the hardware can follow each route, and no
//! deadlock is possible.
//!
//! The proof shares no code with the algorithms that make tables. It follows each header run by run,
//! as the routers do: as many hops in a direction as the coordinate asks for and the channels allow.
//! It looks for cycles among the dependencies that it saw. A
//! dependency is a pair of channels that some route takes one after the other. The bubble rule
//! permits cycles inside one ring; any other cycle can deadlock.
//!
//! A table without a flaw can be used. A test holds that each header that is accepted here, and no
//! other, gives the engine a [route](Header::route), over the same channels.

use rayon::prelude::*;

use super::cycle;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric, MAXIMUM_DIMENSIONS};
use flitlab_routing::{Header, RouteTable};

/// A flaw of a routing table. Nodes are router numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The pair has no route.
    Missing {
        /// Node number of the source.
        source: u32,
        /// Node number of the destination.
        destination: u32,
    },
    /// The route ends at another node than its destination.
    LeadsElsewhere {
        /// Node number of the source.
        source: u32,
        /// Node number of the destination.
        destination: u32,
        /// Node number of the actual end.
        end: u32,
    },
    /// The route's header has a direction in which the packet has no hop to make. The hardware's
    /// behaviour in that case is not documented.
    Idle {
        /// Node number of the source.
        source: u32,
        /// Node number of the destination.
        destination: u32,
        /// Number of the direction, which is a port's number.
        direction: u32,
    },
    /// The route takes a channel that does not exist, has failed or leads out of the node set.
    NoChannel {
        /// Node number of the source.
        source: u32,
        /// Node number of the destination.
        destination: u32,
        /// Number of the channel.
        channel: Channel,
    },
    /// The pair has several routes, and not all have as many hops.
    UnequalHops {
        /// Node number of the source.
        source: u32,
        /// Node number of the destination.
        destination: u32,
    },
    /// Each of these channels can wait for the next, and the last for the first. They lie in more
    /// than one ring.
    Cycle(Vec<Channel>),
}

impl Flaw {
    /// The pair whose route is wrong; `None` for a cycle.
    pub fn pair(&self) -> Option<(u32, u32)> {
        match *self {
            Self::Missing { source, destination }
            | Self::LeadsElsewhere { source, destination, .. }
            | Self::Idle { source, destination, .. }
            | Self::UnequalHops { source, destination }
            | Self::NoChannel { source, destination, .. } => Some((source, destination)),
            Self::Cycle(_) => None,
        }
    }

    /// The flaw in words, with the names of nodes and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let pair = |source: &u32, destination: &u32| {
            let name = |&node: &u32| fabric.router_name(node);
            format!("from {} to {}", name(source), name(destination))
        };
        match self {
            Self::Missing { source, destination } => {
                format!("there is no route {}", pair(source, destination))
            }
            Self::LeadsElsewhere { source, destination, end } => format!(
                "the route {} ends at {}",
                pair(source, destination),
                fabric.router_name(*end)
            ),
            Self::UnequalHops { source, destination } => {
                format!("not all routes {} have as many hops", pair(source, destination))
            }
            Self::Idle { source, destination, direction } => format!(
                "the route {} has {} among its directions, and no hop to make that way",
                pair(source, destination),
                fabric.coordinates().direction_name(*direction)
            ),
            Self::NoChannel { source, destination, channel } => format!(
                "the route {} takes channel {}, which has failed, leaves the node set or does not \
                 exist",
                pair(source, destination),
                fabric.channel_name(*channel)
            ),
            Self::Cycle(channels) => {
                let names: Vec<String> =
                    channels.iter().map(|&channel| fabric.channel_name(channel)).collect();
                format!(
                    "packets can deadlock: each of these channels can wait for the next, the last \
                     for the first: {}",
                    names.join(", ")
                )
            }
        }
    }
}

/// The result of following all routes of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Routes that were followed to where they should end.
    pub routes: u64,
    /// Pairs of channels that some route takes one after the other.
    pub dependencies: u64,
    /// Mistakes that were found; none if the table is right.
    pub flaws: Vec<Flaw>,
}

impl Proof {
    /// Whether the table is right.
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }
}

/// Follows every route between a fabric's live nodes and looks for cycles.
#[must_use]
pub fn prove(fabric: &Fabric, table: &RouteTable) -> Proof {
    let torus = fabric.coordinates();
    let nodes: Vec<u32> =
        fabric.live_terminals().filter_map(|at| fabric.terminal_router(at)).collect();
    let lines = Lines::new(fabric);
    let follow = |source: u32, seen: &mut Seen| {
        let (mut routes, mut flaws) = (0, Vec::new());
        for &destination in nodes.iter().filter(|&&node| node != source) {
            let mut all_hops = None;
            let mut follow = |header| {
                let mut walk = Walk::new(&lines, (source, destination), seen);
                match walk.follow(header) {
                    Ok(()) if all_hops.is_some_and(|hops| hops != walk.hops) => {
                        flaws.push(Flaw::UnequalHops { source, destination });
                    }
                    Ok(()) => {
                        all_hops = Some(walk.hops);
                        routes += 1;
                    }
                    Err(flaw) => flaws.push(flaw),
                }
            };
            match table.header(source, destination) {
                None => flaws.push(Flaw::Missing { source, destination }),
                Some(_) if table.has_several_between(source, destination) => {
                    table.headers(source, destination).into_iter().for_each(|it| follow(it.0));
                }
                Some(header) => follow(header),
            }
        }
        (routes, flaws)
    };
    let none = || (0, Vec::new(), Seen::new(fabric));
    let (routes, mut flaws, seen) = nodes
        .par_iter()
        .fold(none, |(routes, mut flaws, mut seen), &source| {
            let (followed, more) = follow(source, &mut seen);
            flaws.extend(more);
            (routes + followed, flaws, seen)
        })
        .reduce(none, |(routes, mut flaws, mut seen), (followed, more, others)| {
            flaws.extend(more);
            seen.merge(others);
            (routes + followed, flaws, seen)
        });
    let onward = seen.onward(&lines);
    let dependencies = onward.iter().map(|ports| u64::from(ports.count_ones())).sum();
    let successors = |channel: Channel| {
        let next = fabric.target(channel);
        let ports = onward[channel as usize];
        (0..torus.directions())
            .filter(move |port| ports >> port & 1 == 1)
            .filter_map(move |port| next.map(|next| fabric.outputs(next).start + port))
    };
    flaws.extend(cycle_beyond_rings(fabric, successors).map(Flaw::Cycle));
    Proof { routes, dependencies, flaws }
}

/// The coordinates of a node, first dimension first.
type Coordinates = [u32; MAXIMUM_DIMENSIONS];

/// How far packets can go straight on.
struct Lines<'f> {
    fabric: &'f Fabric,
    /// By node.
    coordinates: Vec<Coordinates>,
    /// Difference of the node numbers of neighbours, by dimension.
    strides: Coordinates,
    /// By channel: the hops from it straight on until a channel is missing, at most once round.
    reach: Vec<u16>,
}

impl<'f> Lines<'f> {
    fn new(fabric: &'f Fabric) -> Self {
        let torus = fabric.coordinates();
        let coordinates = (0..torus.nodes()).map(|node| {
            let mut own = [0; MAXIMUM_DIMENSIONS];
            own[..torus.dimensions()].copy_from_slice(&torus.coordinates(node));
            own
        });
        let mut strides = [1; MAXIMUM_DIMENSIONS];
        for dimension in 1..torus.dimensions() {
            strides[dimension] = strides[dimension - 1] * torus.sizes()[dimension - 1];
        }
        let reach = |channel: Channel| {
            let (node, direction) = (channel / torus.directions(), channel % torus.directions());
            let size = torus.sizes()[torus.dimension(direction)];
            let (mut at, mut hops) = (node, 0);
            while hops < size
                && let Some(next) = fabric.target(fabric.outputs(at).start + direction)
            {
                (at, hops) = (next, hops + 1);
            }
            narrow(hops)
        };
        let reach = (0..fabric.channel_slots()).map(reach).collect();
        Self { fabric, coordinates: coordinates.collect(), strides, reach }
    }
}

/// The dependencies that routes have shown.
struct Seen {
    /// By channel: the most hops that a route goes straight on from it where it turns into it.
    straight: Vec<u16>,
    /// By channel: the output ports into which routes turn after it.
    turns: Vec<u16>,
}

impl Seen {
    fn new(fabric: &Fabric) -> Self {
        let slots = fabric.channel_slots() as usize;
        Self { straight: vec![0; slots], turns: vec![0; slots] }
    }

    fn merge(&mut self, other: Self) {
        let straight = self.straight.iter_mut().zip(other.straight);
        straight.for_each(|(hops, other)| *hops = (*hops).max(other));
        self.turns.iter_mut().zip(other.turns).for_each(|(ports, other)| *ports |= other);
    }

    /// By channel: the output ports that routes take after it.
    fn onward(self, lines: &Lines<'_>) -> Vec<u16> {
        let mut onward = self.turns;
        let mut straight = self.straight;
        let directions = lines.fabric.coordinates().directions();
        // A route that goes on for some hops goes on from the next channel for one less.
        let mut open: Vec<Channel> = (0..narrow(straight.len())).collect();
        while let Some(channel) = open.pop() {
            let (hops, direction) = (straight[channel as usize], channel % directions);
            if hops < 2 {
                continue;
            }
            onward[channel as usize] |= 1 << direction;
            let next = lines.fabric.target(channel).expect("routes were followed over it");
            let next = lines.fabric.outputs(next).start + direction;
            if straight[next as usize] < hops - 1 {
                straight[next as usize] = hops - 1;
                open.push(next);
            }
        }
        onward
    }
}

/// The walk of a packet through the routers, run by run.
struct Walk<'a, 'f> {
    lines: &'a Lines<'f>,
    source: u32,
    destination: u32,
    at: u32,
    place: Coordinates,
    before: Option<Channel>,
    hops: u32,
    seen: &'a mut Seen,
}

impl<'a, 'f> Walk<'a, 'f> {
    fn new(lines: &'a Lines<'f>, (source, destination): (u32, u32), seen: &'a mut Seen) -> Self {
        let place = lines.coordinates[source as usize];
        Self { lines, source, destination, at: source, place, before: None, hops: 0, seen }
    }

    /// Goes some hops in a direction; at most once round.
    fn run(&mut self, direction: u32, hops: u32) -> Result<(), Flaw> {
        let (torus, directions) =
            (self.lines.fabric.coordinates(), self.lines.fabric.coordinates().directions());
        let dimension = torus.dimension(direction);
        let (size, stride) = (torus.sizes()[dimension], self.lines.strides[dimension]);
        let first = self.at * directions + direction;
        let gone = hops.min(self.lines.reach[first as usize].into());
        let (origin, from) = (self.at - self.place[dimension] * stride, self.place[dimension]);
        // The coordinate after so many hops, of which there are at most a ring's.
        let after = |hops: u32| {
            let at = if torus.positive(direction) { from + hops } else { from + size - hops };
            if at < size { at } else { at - size }
        };
        let channel = |hops: u32| (origin + after(hops) * stride) * directions + direction;
        if gone > 0 {
            if let Some(before) = self.before {
                self.seen.turns[before as usize] |= 1 << direction;
            }
            let straight = &mut self.seen.straight[first as usize];
            *straight = (*straight).max(narrow(gone));
            self.before = Some(channel(gone - 1));
            self.hops += gone;
        }
        if gone < hops {
            let (source, destination) = (self.source, self.destination);
            return Err(Flaw::NoChannel { source, destination, channel: channel(gone) });
        }
        self.place[dimension] = after(hops);
        self.at = origin + self.place[dimension] * stride;
        Ok(())
    }

    /// Follows a header: the first step; the directions in order, until the coordinates are those
    /// where the last step starts; the last step.
    fn follow(&mut self, header: Header) -> Result<(), Flaw> {
        let torus = self.lines.fabric.coordinates();
        let dimensions = torus.dimensions();
        let (source, destination) = (self.source, self.destination);
        let mut target = self.lines.coordinates[destination as usize];
        if let Some(dimension) = header.last_step() {
            let size = torus.sizes()[dimension];
            target[dimension] = (target[dimension] + 1) % size;
        }
        if let Some(dimension) = header.first_step() {
            self.run(narrow(dimension), 1)?;
        }
        for direction in 0..2 * dimensions {
            let dimension = direction % dimensions;
            let positive = direction < dimensions;
            if header.direction(dimension) == Some(positive) {
                let (at, to) = (self.place[dimension], target[dimension]);
                let (from, to) = if positive { (at, to) } else { (to, at) };
                if from == to {
                    return Err(Flaw::Idle { source, destination, direction: narrow(direction) });
                }
                let size = torus.sizes()[dimension];
                let hops = if from < to { to - from } else { to + size - from };
                self.run(narrow(direction), hops)?;
            }
        }
        if let Some(dimension) = header.last_step() {
            self.run(narrow(dimension + dimensions), 1)?;
        }
        let end = self.at;
        if end == destination {
            Ok(())
        } else {
            Err(Flaw::LeadsElsewhere { source, destination, end })
        }
    }
}

/// A cycle of channels that are not all of one ring; `None` if there is none.
///
/// A strongly connected component with channels outside one ring has a cycle that leaves the ring.
pub(super) fn cycle_beyond_rings<I: Iterator<Item = Channel>>(
    fabric: &Fabric,
    successors: impl Fn(Channel) -> I,
) -> Option<Vec<Channel>> {
    let components = cycle::components(fabric.channel_slots(), &successors);
    components.iter().filter(|component| component.len() > 1).find_map(|component| {
        let ring = fabric.ring(component[0]);
        if ring.is_some() && component.iter().all(|&channel| fabric.ring(channel) == ring) {
            return None;
        }
        cycle::shortest(component, &successors, |from, to| {
            fabric.ring(from).is_none() || fabric.ring(from) != fabric.ring(to)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::super::angara::{Choices, Freedoms, Turns, balanced, sssp};
    use super::*;
    use crate::{Region, test_fabric as fabric};
    use flitlab_routing::Route;

    #[test]
    fn generated_tables_are_proved() {
        for (sizes, cables) in [
            (&[4, 2, 2, 2][..], &[][..]),
            (&[5, 4], &[]),
            (&[4, 4, 4], &[(0, 0), (21, 1), (42, 2)]),
            (&[3, 2, 3], &[(0, 0)]),
        ] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::new(&fabric), Freedoms::default());
            assert_eq!(choices.unroutable, [], "{sizes:?}");
            for selection in [sssp(&choices).selection, balanced(&choices).selection] {
                let table = choices.table(&selection);
                let proof = prove(&fabric, &table);
                assert!(proof.holds(), "{:?}", proof.flaws[0].describe(&fabric));
                assert_eq!(proof.routes, choices.routable());
            }
        }
    }

    #[test]
    fn turns_that_theorem_2_forbids_are_found_to_deadlock() {
        // In a torus without edges no turn against the order is allowed; take one all the same.
        let fabric = fabric(&[4, 4], &[]);
        let region = Region::new(&fabric);
        assert!(!Turns::relaxed(&region).any);
        let choices = Choices::new(region, Freedoms::default());
        let mut table = choices.table(&sssp(&choices).selection);
        for source in 0..16 {
            let torus = fabric.coordinates();
            let up = torus.neighbor(source, 1).unwrap();
            let destination = torus.neighbor(up, 0).unwrap();
            let header = Header::default().with_first_step(1).with_direction(0, true);
            table.set(source, destination, header);
        }
        let proof = prove(&fabric, &table);
        let [Flaw::Cycle(channels)] = &proof.flaws[..] else { panic!("{:?}", proof.flaws) };
        assert!(channels.len() > 1);
        let rings: Vec<_> = channels.iter().map(|&channel| fabric.ring(channel)).collect();
        assert!(rings.iter().any(|ring| *ring != rings[0]));
        for (place, &channel) in channels.iter().enumerate() {
            let next = channels[(place + 1) % channels.len()];
            assert_eq!(fabric.target(channel), Some(fabric.source(next)));
        }
    }

    /// The proof accepts exactly the headers that the engine can follow.
    #[test]
    fn of_all_headers_the_proof_accepts_those_that_the_engine_can_follow() {
        let mut counts = [0, 0];
        for (sizes, cables) in
            [(&[4][..], &[][..]), (&[2, 3], &[]), (&[3, 4], &[(0, 0)]), (&[1, 5], &[])]
        {
            let fabric = fabric(sizes, cables);
            let (torus, lines) = (fabric.coordinates(), Lines::new(&fabric));
            let pairs =
                (0..torus.nodes()).flat_map(|from| (0..torus.nodes()).map(move |to| (from, to)));
            for (source, destination) in pairs.filter(|(from, to)| from != to) {
                for header in headers(sizes.len()) {
                    let mut seen = Seen::new(&fabric);
                    let mut walk = Walk::new(&lines, (source, destination), &mut seen);
                    let followed = walk.follow(header);
                    let onward = seen.onward(&lines);
                    let mut hops = Vec::new();
                    let mut at = Some(source);
                    let route = header.route(torus, source, destination);
                    for port in route.iter().flat_map(Route::ports) {
                        let channel = at.map(|at| fabric.outputs(at).start + u32::from(port));
                        at = channel.and_then(|channel| fabric.target(channel));
                        hops.extend(channel);
                    }
                    let can_be_used = route.is_some() && at == Some(destination);
                    let text = format!("{sizes:?} {source} {destination} {header:?} {route:?}");
                    assert_eq!(followed.is_ok(), can_be_used, "{text}");
                    if can_be_used {
                        for pair in hops.windows(2) {
                            let port = pair[1] - fabric.outputs(fabric.source(pair[1])).start;
                            assert_eq!(onward[pair[0] as usize], 1 << port, "{text}");
                        }
                    }
                    counts[usize::from(can_be_used)] += 1;
                }
            }
        }
        assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
    }

    /// All headers of some dimensions.
    fn headers(dimensions: usize) -> Vec<Header> {
        let steps = || iter::once(None).chain((0..dimensions).map(Some));
        let mut all = vec![Header::default()];
        for dimension in 0..dimensions {
            let ways =
                [true, false].map(|plus| move |it: &Header| it.with_direction(dimension, plus));
            let more: Vec<Header> = ways.iter().flat_map(|way| all.iter().map(way)).collect();
            all.extend(more);
        }
        let with_first = |it: Header| {
            steps().map(move |step| step.map_or(it, |dimension| it.with_first_step(dimension)))
        };
        let with_last = |it: Header| {
            steps().map(move |step| step.map_or(it, |dimension| it.with_last_step(dimension)))
        };
        all.into_iter().flat_map(with_first).flat_map(with_last).collect()
    }

    #[test]
    fn each_kind_of_wrong_route_is_named() {
        let fabric = fabric(&[4, 4], &[(0, 0)]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let good = choices.table(&sssp(&choices).selection);
        let wrong = |source, destination, header: Header| {
            let mut table = good.clone();
            table.set(source, destination, header);
            prove(&fabric, &table).flaws.remove(0)
        };
        let header = Header::default();
        assert_eq!(
            wrong(0, 5, header.with_direction(1, true)),
            Flaw::LeadsElsewhere { source: 0, destination: 5, end: 4 }
        );
        assert_eq!(
            wrong(0, 1, header.with_direction(0, true)),
            Flaw::NoChannel { source: 0, destination: 1, channel: 0 }
        );
        assert_eq!(
            wrong(0, 4, header.with_direction(0, true).with_direction(1, true)),
            Flaw::Idle { source: 0, destination: 4, direction: 0 }
        );
        let mut several = RouteTable::empty(&fabric);
        let (plus, minus) = (header.with_direction(1, true), header.with_direction(1, false));
        let flaw = |several: &RouteTable| prove(&fabric, several).flaws.remove(3);
        several.set_several(0, 4, &[(plus, 1), (minus, 1)]);
        assert_eq!(flaw(&several), Flaw::UnequalHops { source: 0, destination: 4 });
        let mut several = RouteTable::empty(&fabric);
        several.set_several(0, 4, &[(plus, 1), (header, 1)]);
        assert_eq!(flaw(&several), Flaw::LeadsElsewhere { source: 0, destination: 4, end: 0 });
        let flaws = prove(&fabric, &RouteTable::empty(&fabric)).flaws;
        assert_eq!(flaws.len(), 16 * 15);
        assert_eq!(flaws[0], Flaw::Missing { source: 0, destination: 1 });
    }
}
