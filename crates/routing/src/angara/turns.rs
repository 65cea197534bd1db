//! Turns against the direction order that can't close a cycle of channels (\[angara-routing\],
//! section 3.2, Theorem 2).
//!
//! The channel dependency graph has an edge from the channel in direction `D_i` into a node to the
//! channel in direction `D_j` out of it if a packet may hold the first while it waits for the
//! second. In direction order these are the pairs with `D_i <= D_j`. An edge with `D_i > D_j`
//! closes no cycle if no channel in direction `D_i` can be reached from its end. Edges are added
//! one after the other, by node, `D_i` and `D_j` ascending, and the sets of reachable directions
//! kept up to date, until none can be added. Only turns that a first or last step can make are
//! tried.

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
        let mut builder = Builder::new(region);
        while builder.add_turns() {}
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

    /// Adds every turn that is possible now; false if there was none.
    fn add_turns(&mut self) -> bool {
        let (directions, half) = (self.turns.directions, self.turns.directions / 2);
        let mut added = false;
        for &node in self.region.nodes() {
            for arrival in 0..directions {
                let Some(turn) = self.region.step(node, arrival) else { continue };
                for departure in 0..arrival {
                    // A first step is positive, a last step negative.
                    let usable = arrival < half || departure >= half;
                    if !usable
                        || self.is_u_turn(arrival, departure)
                        || self.region.step(turn, departure).is_none()
                        || self.turns.allows(turn, arrival, departure)
                        || self.used(turn, departure) >> arrival & 1 == 1
                    {
                        continue;
                    }
                    let place = (turn * directions + arrival) as usize;
                    self.turns.allowed[place] |= 1 << departure;
                    self.turns.any = true;
                    self.include(node, arrival, self.used(turn, departure));
                    added = true;
                }
            }
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::Faults;

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

    #[test]
    fn allowed_turns_close_no_cycle() {
        for (sizes, open, cables) in [
            (&[2, 2, 2][..], &[][..], &[][..]),
            (&[4, 2, 2, 2], &[], &[]),
            (&[4, 3], &[0, 1], &[]),
            (&[3, 4, 2], &[0, 1], &[(0, 0), (7, 1), (4, 2)]),
        ] {
            let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
            let fabric = Torus::new(sizes, open).unwrap().fabric(&faults).unwrap();
            let region = Region::new(&fabric);
            let turns = Turns::relaxed(&region);
            assert!(turns.allowed.iter().any(|departures| *departures != 0), "{sizes:?}");
            assert!(!closes_a_cycle(&region, &turns), "{sizes:?}");
        }
    }
}
