//! Turns against the direction order that can't close a cycle of channels (\[angara-routing\],
//! section 3.2, Theorem 2).
//!
//! The channel dependency graph has an edge from the channel in direction `D_i` into a node to the
//! channel in direction `D_j` out of it if a packet may hold the first while it waits for the
//! second. In direction order these are the pairs with `D_i <= D_j`. An edge with `D_i > D_j`
//! closes no cycle if no channel in direction `D_i` can be reached from its end. Edges are added
//! one after the other, and the sets of reachable directions kept up to date, until none can be
//! added. Here that is by node, `D_i` and `D_j` ascending; the paper does not say. Only turns that a
//! first or last step can make are tried.

use super::Region;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;

/// The allowed turns against the direction order, node by node.
#[derive(Clone, Debug)]
pub struct Turns {
    directions: u32,
    /// By node and direction of arrival: a bit for each direction in which a packet may go on.
    allowed: Vec<u16>,
    /// Whether any turn is allowed.
    pub any: bool,
}

impl Turns {
    /// No turn against the order.
    pub fn none(region: &Region<'_>) -> Self {
        let directions = region.torus().directions();
        Self {
            directions,
            allowed: vec![0; (region.fabric().routers() * directions) as usize],
            any: false,
        }
    }

    /// The turns that Theorem 2 allows in a region.
    pub(crate) fn relaxed(region: &Region<'_>) -> Self {
        Self::tried(region, |_| {})
    }

    /// The turns that Theorem 2 allows, tried in another order.
    fn tried(region: &Region<'_>, order: impl FnOnce(&mut Vec<Turn>)) -> Self {
        let mut builder = Builder::new(region);
        let mut open = builder.usable();
        order(&mut open);
        while builder.add(&mut open) {}
        builder.turns
    }

    /// Whether a packet that has come to `node` in direction `arrival` may go on in direction
    /// `departure`, which comes earlier in the order.
    pub fn allows(&self, node: u32, arrival: u32, departure: u32) -> bool {
        self.after(node, arrival) >> departure & 1 == 1
    }

    /// The directions, a bit each, in which a packet may go on that has come in direction
    /// `arrival`.
    pub fn after(&self, node: u32, arrival: u32) -> u16 {
        self.allowed[(node * self.directions + arrival) as usize]
    }

    /// The directions, a bit each, in which a packet may go on at a node, whence it may have come.
    pub fn before(&self, node: u32) -> u16 {
        (0..self.directions).fold(0, |set, arrival| set | self.after(node, arrival))
    }

    /// Whether nodes that differ in this dimension only allow the same turns.
    pub(crate) fn are_even_along(&self, torus: &Torus, dimension: usize) -> bool {
        let at = |node: u32| {
            let start = (node * self.directions) as usize;
            &self.allowed[start..start + self.directions as usize]
        };
        let next = |node| torus.neighbor(node, narrow(dimension));
        (0..torus.nodes()).all(|node| next(node).is_none_or(|next| at(node) == at(next)))
    }
}

/// A turn of packets that come from `node` in a direction to `at`, and go on in another.
#[derive(Clone, Copy)]
struct Turn {
    node: u32,
    at: u32,
    arrival: u32,
    departure: u32,
}

struct Builder<'r, 'f> {
    region: &'r Region<'f>,
    turns: Turns,
    /// For each channel of the torus, the directions of the channels that can be reached from it,
    /// its own included; 0 for channels that the region has not.
    used: Vec<u16>,
}

impl<'r, 'f> Builder<'r, 'f> {
    fn new(region: &'r Region<'f>) -> Self {
        let turns = Turns::none(region);
        let directions = turns.directions;
        let mut builder = Self { region, used: vec![0; turns.allowed.len()], turns };
        for channel in region.channels() {
            let (node, direction) = (channel / directions, channel % directions);
            builder.include(node, direction, 1 << direction);
        }
        builder
    }

    fn used(&self, node: u32, direction: u32) -> u16 {
        self.used[(node * self.turns.directions + direction) as usize]
    }

    fn is_u_turn(&self, arrival: u32, departure: u32) -> bool {
        arrival.abs_diff(departure) == self.turns.directions / 2
    }

    /// Adds reachable directions to a channel's set, and to those of the channels that lead to it.
    fn include(&mut self, node: u32, direction: u32, directions: u16) {
        let torus = self.region.torus();
        let mut open = vec![(node, direction)];
        while let Some((node, direction)) = open.pop() {
            let set = &mut self.used[(node * self.turns.directions + direction) as usize];
            if *set | directions == *set {
                continue;
            }
            *set |= directions;
            for arrival in 0..self.turns.directions {
                let follows = arrival <= direction && !self.is_u_turn(arrival, direction)
                    || self.turns.allows(node, arrival, direction);
                let before = torus.neighbor(node, torus.opposite(arrival));
                if follows
                    && let Some(before) = before
                    && self.region.step(before, arrival) == Some(node)
                {
                    open.push((before, arrival));
                }
            }
        }
    }

    /// The turns against the order that a first or last step can make, by node, arrival and
    /// departure.
    fn usable(&self) -> Vec<Turn> {
        let (directions, half) = (self.turns.directions, self.turns.directions / 2);
        let mut turns = Vec::new();
        for &node in self.region.nodes() {
            for arrival in 0..directions {
                let Some(at) = self.region.step(node, arrival) else { continue };
                // A first step is positive, a last step negative.
                let usable = |&departure: &u32| {
                    (arrival < half || departure >= half)
                        && !self.is_u_turn(arrival, departure)
                        && self.region.step(at, departure).is_some()
                };
                let turn = |departure| Turn { node, at, arrival, departure };
                turns.extend((0..arrival).filter(usable).map(turn));
            }
        }
        turns
    }

    /// Adds every turn that is possible now, and takes it off the open ones; false if there was
    /// none.
    fn add(&mut self, open: &mut Vec<Turn>) -> bool {
        let before = open.len();
        open.retain(|&Turn { node, at, arrival, departure }| {
            let closes = self.used(at, departure) >> arrival & 1 == 1;
            if !closes {
                let place = (at * self.turns.directions + arrival) as usize;
                self.turns.allowed[place] |= 1 << departure;
                self.turns.any = true;
                self.include(node, arrival, self.used(at, departure));
            }
            closes
        });
        open.len() < before
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use flitlab_fabric::{Fabric, Faults};

    #[test]
    fn a_torus_without_edges_allows_no_turn() {
        for sizes in [&[4, 4][..], &[3, 5, 4]] {
            let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
            let turns = Turns::relaxed(&Region::new(&fabric));
            assert!(turns.allowed.iter().all(|departures| *departures == 0));
        }
    }

    #[test]
    fn a_square_of_four_nodes_allows_one_turn_of_each_kind_and_breaks_each_cycle() {
        let fabric = Torus::new(&[2, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let turns = Turns::relaxed(&Region::new(&fabric));
        // Up, then right: nothing leads on upwards from the upper right corner.
        assert!(turns.allows(2, 1, 0));
        // Left, then up, and down, then right, can't be made by a first or last step.
        assert!(!turns.allows(0, 2, 1) && !turns.allows(0, 3, 0));
    }

    /// Depth-first search over channels and their successors, the plain definition.
    fn closes_a_cycle(region: &Region<'_>, turns: &Turns) -> bool {
        let torus = region.torus();
        let directions = torus.directions();
        let successors = |channel: u32| {
            let (node, arrival) = (channel / directions, channel % directions);
            let next = region.step(node, arrival).unwrap();
            (0..directions)
                .filter(move |&departure| {
                    let ordered = arrival < departure && arrival + directions / 2 != departure;
                    region.step(next, departure).is_some()
                        && (ordered || turns.allows(next, arrival, departure))
                        || arrival == departure
                            && region.step(next, departure).is_some()
                            && !torus.closed(torus.dimension(arrival))
                })
                .map(move |departure| next * directions + departure)
                .collect::<Vec<_>>()
        };
        let mut state = vec![0u8; (torus.nodes() * directions) as usize];
        for channel in region.channels() {
            let mut stack = vec![(channel, false)];
            while let Some((channel, done)) = stack.pop() {
                if done {
                    state[channel as usize] = 2;
                } else if state[channel as usize] == 0 {
                    state[channel as usize] = 1;
                    stack.push((channel, true));
                    for next in successors(channel) {
                        match state[next as usize] {
                            1 => return true,
                            0 => stack.push((next, false)),
                            _ => {}
                        }
                    }
                }
            }
        }
        false
    }

    /// Sizes, open dimensions, failed cables.
    type Case = (&'static [u32], &'static [usize], &'static [(u32, u32)]);

    /// Tori and meshes, whole and with failed cables.
    const CASES: [Case; 6] = [
        (&[2, 2, 2], &[], &[]),
        (&[4, 2, 2, 2], &[], &[]),
        (&[4, 3], &[0, 1], &[]),
        (&[3, 4, 2], &[0, 1], &[(0, 0), (7, 1), (4, 2)]),
        (&[4, 4, 3], &[], &[(0, 0), (21, 1), (42, 2), (17, 0), (30, 1)]),
        (&[3, 2, 3, 2], &[2], &[(0, 0), (5, 2), (11, 3), (20, 1), (9, 2)]),
    ];

    fn case((sizes, open, cables): Case) -> Fabric {
        let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
        Torus::new(sizes, open).unwrap().fabric(&faults).unwrap()
    }

    #[test]
    fn allowed_turns_close_no_cycle() {
        for it in CASES {
            let fabric = case(it);
            let region = Region::new(&fabric);
            let turns = Turns::relaxed(&region);
            assert!(turns.any, "{it:?}");
            assert!(!closes_a_cycle(&region, &turns), "{it:?}");
        }
    }

    /// What the paper does not say makes no difference on its systems. Where cables have failed it
    /// may.
    #[test]
    fn in_whatever_order_turns_are_tried_a_whole_torus_allows_the_same_ones() {
        let orders_agree = |it| {
            let fabric = case(it);
            let region = Region::new(&fabric);
            let usual = Turns::relaxed(&region);
            (0..100).all(|seed| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                Turns::tried(&region, |open| open.shuffle(&mut random)).allowed == usual.allowed
            })
        };
        for sizes in [&[2, 2][..], &[4, 2], &[4, 2, 2], &[4, 2, 2, 2], &[2, 7, 2], &[2, 5, 3, 2]] {
            assert!(orders_agree((sizes, &[], &[])), "{sizes:?}");
        }
        assert!(!orders_agree(CASES[5]));
    }
}
