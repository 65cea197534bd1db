//! An order of all channels in which the shortest ways of most pairs ascend.
//!
//! Packets that only ever go on to a later channel can't wait for each other in a circle. Every routing of one lane
//! without a cycle has such an order (Dally and Seitz, 1987); which one it is decides which ways there are. Up*/Down* takes
//! one order whatever goes where. Here the one is looked for that lets the most traffic turn as it would like to:
//!
//! 1. Each pair of terminals sends alike along all its shortest ways. What goes from one channel on to another is the
//!    weight of that turn.
//! 2. Channels are moved one by one, each to the place among those before and behind it at which the turns that ascend
//!    have the most weight, until none moves: local search for the linear ordering problem (Laguna, Marti and Campos,
//!    "Intensification and diversification with elite tabu search solutions for the linear ordering problem", 1999, call it
//!    insertion). It starts with the order of Up*/Down*, and no channel of the spanning tree may be moved
//!    past another one that has to stay before or behind it for packets to climb the tree and go down it. So every
//!    pair keeps a way, on any connected fabric.
//! 3. Pairs that are left with longer ways than the shortest get more weight, all others less, and it is done again. The
//!    order counts in which ways are shortest in all.

use super::tree::Tree;
use crate::narrow::narrow;
use crate::topology::{Channel, Fabric, NONE, breadth_first};

/// How often orders are looked for, each time with other weights of pairs.
const ROUNDS: usize = 8;
/// How often all channels are moved at most in a round; mostly none moves any more after about ten times.
const PASSES: usize = 60;
/// By what the weight of a pair is multiplied whose ways are longer than the shortest, and of one whose are not.
const LONGER: f64 = 1.5;
const SHORTEST: f64 = 0.95;

/// By channel its place in the order; [`NONE`] for vacant ones.
pub(super) fn order(fabric: &Fabric, tree: &Tree) -> Vec<u32> {
    let turns = Turns::new(fabric);
    let mut search = Search::new(fabric, &turns, tree);
    let ends = fabric.ends();
    let routers = fabric.routers() as usize;
    // By destination's place, then source.
    let mut weights = vec![1.0; ends.len() * routers];
    let mut best: Option<(u64, Vec<u32>)> = None;
    for _ in 0..ROUNDS {
        search.turns_of_shortest_ways(&ends, &weights);
        search.move_all();
        let longer = search.hops(&ends, |place, longer| {
            weights[place] *= if longer { LONGER } else { SHORTEST };
        });
        if best.as_ref().is_none_or(|(least, _)| longer < *least) {
            best = Some((longer, search.ranks()));
        }
        if longer == 0 {
            break;
        }
    }
    best.expect("there are rounds").1
}

/// All pairs of a channel and one that can follow it.
struct Turns {
    /// Those from channel `c` are numbered `starts[c]..starts[c + 1]`; the way back through the same cable is none.
    starts: Vec<u32>,
    next: Vec<Channel>,
    /// The numbers of those to channel `c` are `before[before_starts[c]..before_starts[c + 1]]`.
    before_starts: Vec<u32>,
    before: Vec<(u32, Channel)>,
}

impl Turns {
    fn new(fabric: &Fabric) -> Self {
        let slots = fabric.channel_slots();
        let (mut starts, mut next) = (vec![0], Vec::new());
        let mut into = vec![Vec::new(); slots as usize];
        for channel in 0..slots {
            for after in fabric.target(channel).into_iter().flat_map(|at| fabric.outputs(at)) {
                if fabric.target(after).is_some() && fabric.opposite(channel) != Some(after) {
                    into[after as usize].push((narrow::<u32>(next.len()), channel));
                    next.push(after);
                }
            }
            starts.push(narrow(next.len()));
        }
        let (mut before_starts, mut before) = (vec![0], Vec::new());
        for turns in into {
            before.extend(turns);
            before_starts.push(narrow(before.len()));
        }
        Self { starts, next, before_starts, before }
    }

    /// The turns from a channel: their numbers, and the channels that they lead to.
    fn after(&self, channel: Channel) -> impl Iterator<Item = (u32, Channel)> + '_ {
        let own = self.starts[channel as usize]..self.starts[channel as usize + 1];
        own.map(|turn| (turn, self.next[turn as usize]))
    }

    /// The turns to a channel: their numbers, and the channels that they come from.
    fn before(&self, channel: Channel) -> &[(u32, Channel)] {
        let starts = &self.before_starts[channel as usize..][..2];
        &self.before[starts[0] as usize..starts[1] as usize]
    }
}

struct Search<'a> {
    fabric: &'a Fabric,
    turns: &'a Turns,
    /// The channels that exist, in the order.
    channels: Vec<Channel>,
    /// By channel: where it is in the order, the earlier the lower. Whole numbers after each pass, fractions within.
    place: Vec<f64>,
    /// By turn.
    weights: Vec<f64>,
    /// By turn: whether it has to ascend, as the tree's.
    required: Vec<bool>,
    hops_left: Vec<u32>,
    order: Vec<u32>,
    queue: Vec<Channel>,
    flow: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric, turns: &'a Turns, tree: &Tree) -> Self {
        let slots = fabric.channel_slots();
        let up = tree.up(fabric);
        let mut reached = vec![NONE; fabric.routers() as usize];
        for (number, &router) in (0..).zip(&tree.order) {
            reached[router as usize] = number;
        }
        // Up from the last of the routers on, then down from the first on: all that Up*/Down* allows ascends.
        let mut channels: Vec<Channel> =
            (0..slots).filter(|&channel| fabric.target(channel).is_some()).collect();
        channels.sort_by_key(|&channel| {
            let number = |router: u32| i64::from(reached[router as usize]);
            let target = fabric.target(channel).expect("it exists");
            let ends = [number(fabric.source(channel)), number(target)];
            let down = !up[channel as usize];
            (down, if down { ends } else { ends.map(|end| -end) }, channel)
        });
        let mut in_tree = vec![false; slots as usize];
        for &channel in tree.from_parent.iter().filter(|&&channel| channel != NONE) {
            in_tree[channel as usize] = true;
            let back = fabric.opposite(channel).expect("a cable leads both ways");
            in_tree[back as usize] = true;
        }
        let mut required = vec![false; turns.next.len()];
        for &channel in channels.iter().filter(|&&channel| in_tree[channel as usize]) {
            for (turn, next) in turns.after(channel).filter(|&(_, next)| in_tree[next as usize]) {
                required[turn as usize] = up[channel as usize] || !up[next as usize];
            }
        }
        let mut search = Self {
            fabric,
            turns,
            channels,
            place: vec![0.0; slots as usize],
            weights: vec![0.0; turns.next.len()],
            required,
            hops_left: vec![NONE; fabric.routers() as usize],
            order: Vec::new(),
            queue: Vec::new(),
            flow: vec![0.0; fabric.routers() as usize],
        };
        search.number();
        search
    }

    /// Gives the channels whole numbers in their order.
    fn number(&mut self) {
        for (number, &channel) in (0u32..).zip(&self.channels) {
            self.place[channel as usize] = f64::from(number);
        }
    }

    /// Weights of turns: what goes from channel to channel if each pair sends its weight, all terminals of its
    /// routers count, and at every router what goes somewhere parts alike among all channels that lead nearer.
    fn turns_of_shortest_ways(&mut self, ends: &[u32], weights: &[f64]) {
        let (fabric, turns) = (self.fabric, self.turns);
        let routers = fabric.routers() as usize;
        let mut leading = Vec::new();
        let terminals: Vec<f64> =
            fabric.terminals_by_router().iter().map(|own| own.len() as f64).collect();
        self.weights.fill(0.0);
        for (&destination, weights) in ends.iter().zip(weights.chunks(routers)) {
            let next = |at| fabric.neighbors(at);
            breadth_first(destination, &mut self.hops_left, &mut self.order, next);
            self.flow.fill(0.0);
            for &router in self.order[1..].iter().rev() {
                let at = router as usize;
                self.flow[at] += weights[at] * terminals[at] * terminals[destination as usize];
                leading.clear();
                leading.extend(self.nearer(router));
                let share = self.flow[at] / leading.len() as f64;
                for &channel in &leading {
                    let target = fabric.target(channel).expect("it leads nearer");
                    self.flow[target as usize] += share;
                    let onward = self.nearer(target).count() as f64;
                    for (turn, next) in turns.after(channel) {
                        if self.leads_nearer(next) {
                            self.weights[turn as usize] += share / onward;
                        }
                    }
                }
            }
        }
    }

    fn leads_nearer(&self, channel: Channel) -> bool {
        let left = |router: u32| self.hops_left[router as usize];
        let here = left(self.fabric.source(channel));
        self.fabric.target(channel).is_some_and(|target| left(target).saturating_add(1) == here)
    }

    fn nearer(&self, router: u32) -> impl Iterator<Item = Channel> + '_ {
        self.fabric.outputs(router).filter(|&channel| self.leads_nearer(channel))
    }

    /// Moves channels as long as one gains by it.
    fn move_all(&mut self) {
        let mut neighbors = Vec::new();
        for _ in 0..PASSES {
            let mut moved = false;
            for at in 0..self.channels.len() {
                moved |= self.move_one(self.channels[at], &mut neighbors);
            }
            let place = &self.place;
            self.channels.sort_by(|&one, &other| {
                place[one as usize].total_cmp(&place[other as usize]).then(one.cmp(&other))
            });
            self.number();
            if !moved {
                break;
            }
        }
    }

    /// Moves a channel to the best place among those that it has turns with; whether that is another one.
    fn move_one(&mut self, channel: Channel, neighbors: &mut Vec<(f64, f64)>) -> bool {
        let own = self.place[channel as usize];
        // Places that it must stay behind, and before.
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        // What is gained by going past each place, counted from before them all.
        neighbors.clear();
        for (turn, next) in self.turns.after(channel) {
            let (turn, place) = (turn as usize, self.place[next as usize]);
            if self.required[turn] {
                high = high.min(place);
            }
            if self.weights[turn] > 0.0 {
                neighbors.push((place, -self.weights[turn]));
            }
        }
        for &(turn, before) in self.turns.before(channel) {
            let (turn, place) = (turn as usize, self.place[before as usize]);
            if self.required[turn] {
                low = low.max(place);
            }
            if self.weights[turn] > 0.0 {
                neighbors.push((place, self.weights[turn]));
            }
        }
        neighbors.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (mut sum, mut here) = (0.0, 0.0);
        let mut best: Option<(f64, usize)> = None;
        for past in 0..=neighbors.len() {
            let before = if past == 0 { f64::NEG_INFINITY } else { neighbors[past - 1].0 };
            let behind = neighbors.get(past).map_or(f64::INFINITY, |it| it.0);
            if past > 0 {
                sum += neighbors[past - 1].1;
            }
            if before < own {
                here = sum;
            }
            // The gap has to have room behind what comes before and before what comes behind.
            let fits = before.max(low) < behind.min(high);
            if fits && best.is_none_or(|(most, _)| sum > most) {
                best = Some((sum, past));
            }
        }
        let Some((most, past)) = best else { return false };
        let noise = 1e-9 * neighbors.iter().map(|it| it.1.abs()).sum::<f64>();
        if most <= here + noise {
            return false;
        }
        let before = if past == 0 { low } else { neighbors[past - 1].0.max(low) };
        let behind = neighbors.get(past).map_or(high, |it| it.0.min(high));
        let new = match (before.is_finite(), behind.is_finite()) {
            (true, true) => f64::midpoint(before, behind),
            (true, false) => before + 1.0,
            (false, _) => behind - 1.0,
        };
        // So near to each other that there is no number between: another time.
        if new <= before || new >= behind {
            return false;
        }
        self.place[channel as usize] = new;
        true
    }

    /// How many hops more the shortest ascending ways of all pairs have than the shortest ways. Tells of each pair, by
    /// destination's place times routers plus source, whether it has more.
    fn hops(&mut self, ends: &[u32], mut tell: impl FnMut(usize, bool)) -> u64 {
        let fabric = self.fabric;
        let mut longer = 0;
        let mut left = vec![NONE; fabric.channel_slots() as usize];
        for (row, &destination) in ends.iter().enumerate() {
            let next = |at| fabric.neighbors(at);
            breadth_first(destination, &mut self.hops_left, &mut self.order, next);
            left.fill(NONE);
            self.queue.clear();
            let inputs = fabric.outputs(destination).filter_map(|it| fabric.opposite(it));
            self.queue.extend(inputs);
            for &channel in &self.queue {
                left[channel as usize] = 1;
            }
            let mut done = 0;
            while let Some(&channel) = self.queue.get(done) {
                done += 1;
                for &(_, before) in self.turns.before(channel) {
                    let ascends = self.place[before as usize] < self.place[channel as usize];
                    if ascends && left[before as usize] == NONE {
                        left[before as usize] = left[channel as usize] + 1;
                        self.queue.push(before);
                    }
                }
            }
            for &source in ends.iter().filter(|&&source| source != destination) {
                let own = fabric.outputs(source).map(|channel| left[channel as usize]).min();
                let Some(own) = own.filter(|&own| own != NONE) else { continue };
                let more = own - self.hops_left[source as usize];
                longer += u64::from(more);
                tell(row * fabric.routers() as usize + source as usize, more > 0);
            }
        }
        longer
    }

    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![NONE; self.place.len()];
        for (rank, &channel) in (0..).zip(&self.channels) {
            ranks[channel as usize] = rank;
        }
        ranks
    }
}
