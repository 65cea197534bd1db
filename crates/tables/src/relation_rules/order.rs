//! An order of all channels in which the shortest ways of most pairs ascend.
//!
//! Packets that only ever go on to a later channel can't wait for each other in a circle. Every
//! routing of one virtual channel without a cycle has such an order (\[dally-seitz\]); which one it
//! is decides which ways there are. Up*/Down* takes one order whatever goes where. Here the one is
//! looked for that lets the most traffic turn as it would like to:
//!
//! 1. Each pair of terminals sends alike along all its shortest ways. What goes from one channel on
//!    to another is the weight of that turn.
//! 2. An order is begun with: channels are put one behind the other, each time one that nothing
//!    left leads to, or else that from which the most goes on to others left, beyond what comes
//!    from them (\[feedback-arc-set\], from its front end). Where the shortest ways have an order,
//!    as on fat trees, this is one. Another begins as Up*/Down* has it.
//! 3. Channels are moved one by one, each to the place among those before and behind it at which
//!    the turns that ascend have the most weight, until none moves: local search for the linear
//!    ordering problem (\[linear-ordering\] calls it insertion). No channel of a spanning tree may
//!    be moved past another one that has to stay before or behind it for packets to climb the tree
//!    and go down it. So every pair keeps a way, on any connected fabric.
//! 4. How much each channel carries under the order is found out. Pairs whose ways cross full
//!    channels get more weight, others less, and channels are moved again. The order whose fullest
//!    channel carries the least is the one.

use std::cmp::Reverse;

use priority_queue::PriorityQueue;

use super::tree::Tree;
use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};

/// How often channels are moved from each beginning, each time with other weights of pairs.
const ROUNDS: usize = 8;
/// How often all channels are moved at most in a round; mostly none moves any more after about ten
/// times.
const PASSES: usize = 60;
/// Weights are counted in whole numbers of its reciprocal where an order begins.
const WEIGHT_UNIT: f64 = 65_536.0;
/// By what the weight of a pair is multiplied at the least and at the most.
const CHANGE: [f64; 2] = [0.5, 2.0];

/// An order of all channels of a fabric.
pub(super) struct Ordered {
    /// By channel its place in the order; [`NONE`] for vacant ones.
    pub rank: Vec<u32>,
    /// Whether packets need no other order, as on fat trees: see [`fat_tree_order`].
    pub is_enough: bool,
}

/// The order of those found that is judged best, with a tree for pairs that have no better way.
/// `judge` tells how much the fullest channel carries under an order, and what burdens each pair,
/// by destination's place among the ends times routers plus source.
pub(super) fn order<E>(
    fabric: &Fabric,
    tree: &Tree,
    mut judge: impl FnMut(&[u32]) -> Result<(f64, Vec<f64>), E>,
) -> Result<Ordered, E> {
    if let Some(rank) = up_then_down(fabric) {
        return Ok(Ordered { rank, is_enough: true });
    }
    let turns = Turns::new(fabric);
    let mut search = Search::new(fabric, &turns, tree);
    let ends = fabric.ends();
    let routers = fabric.routers() as usize;
    let mut best: Option<(f64, Vec<u32>)> = None;
    for start in [Search::begin, Search::begin_with_tree] {
        // By destination's place, then source.
        let mut weights = vec![1.0; ends.len() * routers];
        search.turns_of_shortest_ways(&ends, &weights);
        start(&mut search, tree);
        if search.every_shortest_way() {
            return Ok(Ordered { rank: search.ranks(), is_enough: true });
        }
        for _ in 0..ROUNDS {
            search.move_all();
            let rank = search.ranks();
            let (fullest, burdens) = judge(&rank)?;
            if best.as_ref().is_none_or(|(least, _)| fullest < *least) {
                best = Some((fullest, rank));
            }
            let pairs = ends.len() * (ends.len() - 1);
            let mean = burdens.iter().sum::<f64>() / pairs as f64;
            for (weight, burden) in weights.iter_mut().zip(&burdens) {
                *weight *= (burden / mean).sqrt().clamp(CHANGE[0], CHANGE[1]);
            }
            search.turns_of_shortest_ways(&ends, &weights);
        }
    }
    let (_, rank) = best.expect("there are rounds");
    Ok(Ordered { rank, is_enough: false })
}

/// An order for packets that need no other: one that leads [up and then down](up_then_down), or in
/// which all shortest ways of all pairs ascend.
pub(super) fn fat_tree_order(fabric: &Fabric, tree: &Tree) -> Option<Vec<u32>> {
    if let Some(rank) = up_then_down(fabric) {
        return Some(rank);
    }
    let turns = Turns::new(fabric);
    let mut search = Search::new(fabric, &turns, tree);
    let ends = fabric.ends();
    search.turns_of_shortest_ways(&ends, &vec![1.0; ends.len() * fabric.routers() as usize]);
    search.begin(tree);
    search.every_shortest_way().then(|| search.ranks())
}

/// The order of a fabric whose terminals are at the edge alone, as on fat trees: channels up, away
/// from the edge, come before those down. There is none if all routers have terminals, or if some
/// pair of them has no shortest way up and then down.
pub(super) fn up_then_down(fabric: &Fabric) -> Option<Vec<u32>> {
    let ends = fabric.ends();
    let routers = fabric.routers() as usize;
    if ends.len() == routers {
        return None;
    }
    // Hops from the edge.
    let mut level = vec![NONE; routers];
    let mut reached = ends.clone();
    ends.iter().for_each(|&end| level[end as usize] = 0);
    let mut next = 0;
    while let Some(&router) = reached.get(next) {
        next += 1;
        for target in fabric.neighbors(router) {
            if level[target as usize] == NONE {
                level[target as usize] = level[router as usize] + 1;
                reached.push(target);
            }
        }
    }
    // Of routers as far from it the one of higher number is higher.
    let height = |router: u32| (level[router as usize], router);
    let way = |channel: Channel| {
        let target = fabric.target(channel)?;
        Some([height(fabric.source(channel)), height(target)])
    };
    let is_up = |channel: Channel| way(channel).is_some_and(|[from, to]| from < to);
    let (mut up, mut down): (Vec<Channel>, Vec<Channel>) = (0..fabric.channel_slots())
        .filter(|&channel| way(channel).is_some())
        .partition(|&channel| is_up(channel));
    up.sort_by_key(|&channel| way(channel));
    down.sort_by_key(|&channel| Reverse(way(channel)));
    let mut rank = vec![NONE; fabric.channel_slots() as usize];
    for (number, channel) in (0..).zip(up.into_iter().chain(down)) {
        rank[channel as usize] = number;
    }
    let (mut hops_left, mut order) = (vec![NONE; routers], Vec::new());
    for &destination in &ends {
        breadth_first(destination, &mut hops_left, &mut order, |at| fabric.neighbors(at));
        // Whether a shortest way leads down alone, and whether one leads up and then down.
        let (mut falls, mut leads) = (vec![false; routers], vec![false; routers]);
        falls[destination as usize] = true;
        for &router in &order {
            for channel in fabric.outputs(router) {
                let Some(target) = fabric.target(channel).map(|target| target as usize) else {
                    continue;
                };
                if hops_left[target] + 1 == hops_left[router as usize] {
                    let up = is_up(channel);
                    falls[router as usize] |= !up && falls[target];
                    leads[router as usize] |= up && leads[target];
                }
            }
            leads[router as usize] |= falls[router as usize];
        }
        let joined = |end: &&u32| hops_left[**end as usize] != NONE;
        if !ends.iter().filter(joined).all(|&end| leads[end as usize]) {
            return None;
        }
    }
    Some(rank)
}

/// All pairs of a channel and one that can follow it.
struct Turns {
    /// Those from channel `c` are numbered `starts[c]..starts[c + 1]`; the way back through the
    /// same cable is none.
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
    /// By channel: where it is in the order, the earlier the lower. Whole numbers after each pass,
    /// fractions within.
    place: Vec<f64>,
    /// By turn.
    weights: Vec<f64>,
    /// By turn: whether it has to ascend, as the tree's.
    required: Vec<bool>,
    hops_left: Vec<u32>,
    order: Vec<u32>,
    flow: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric, turns: &'a Turns, tree: &Tree) -> Self {
        let slots = fabric.channel_slots();
        let up = tree.up(fabric);
        let channels: Vec<Channel> =
            (0..slots).filter(|&channel| fabric.target(channel).is_some()).collect();
        // Branches without terminals carry nothing. On a fat tree these are all roots but the
        // tree's own, whose channels have to be free to lead up where the tree would have them lead
        // down.
        let mut carries = vec![false; fabric.routers() as usize];
        fabric.ends().into_iter().for_each(|end| carries[end as usize] = true);
        let mut in_tree = vec![false; slots as usize];
        for &router in tree.order.iter().rev().filter(|&&router| router != tree.order[0]) {
            let channel = tree.from_parent[router as usize];
            if carries[router as usize] {
                carries[fabric.source(channel) as usize] = true;
                in_tree[channel as usize] = true;
                let back = fabric.opposite(channel).expect("a cable leads both ways");
                in_tree[back as usize] = true;
            }
        }
        let mut required = vec![false; turns.next.len()];
        for &channel in channels.iter().filter(|&&channel| in_tree[channel as usize]) {
            for (turn, next) in turns.after(channel).filter(|&(_, next)| in_tree[next as usize]) {
                required[turn as usize] = up[channel as usize] || !up[next as usize];
            }
        }
        Self {
            fabric,
            turns,
            channels,
            place: vec![0.0; slots as usize],
            weights: vec![0.0; turns.next.len()],
            required,
            hops_left: vec![NONE; fabric.routers() as usize],
            order: Vec::new(),
            flow: vec![0.0; fabric.routers() as usize],
        }
    }

    /// Puts the channels into the order to begin with: again and again the one that can come next
    /// because nothing left leads to it, or else the one from which the most goes on to those left
    /// beyond what comes to it from them.
    fn begin(&mut self, _: &Tree) {
        // Whole numbers: sums of them are exact.
        let weights = self.weights.iter().map(|weight| rounded((weight * WEIGHT_UNIT).ceil()));
        let weights: Vec<i64> = weights.collect();
        let weight = |turn: u32| weights[turn as usize];
        let slots = self.place.len();
        let (mut to, mut from, mut required) = (vec![0; slots], vec![0; slots], vec![0; slots]);
        for &channel in &self.channels {
            for (turn, next) in self.turns.after(channel) {
                from[channel as usize] += weight(turn);
                to[next as usize] += weight(turn);
                required[next as usize] += u32::from(self.required[turn as usize]);
            }
        }
        let key = |channel: Channel, to: &[i64], from: &[i64]| {
            let (to, from) = (to[channel as usize], from[channel as usize]);
            (to == 0, from - to, Reverse(channel))
        };
        let mut left: PriorityQueue<Channel, _> = PriorityQueue::new();
        for &channel in self.channels.iter().filter(|&&channel| required[channel as usize] == 0) {
            left.push(channel, key(channel, &to, &from));
        }
        self.channels.clear();
        let mut taken = vec![false; slots];
        while let Some((channel, _)) = left.pop() {
            self.channels.push(channel);
            taken[channel as usize] = true;
            for (turn, next) in self.turns.after(channel) {
                to[next as usize] -= weight(turn);
                required[next as usize] -= u32::from(self.required[turn as usize]);
                if required[next as usize] == 0 && !taken[next as usize] {
                    left.push(next, key(next, &to, &from));
                }
            }
            for &(turn, before) in self.turns.before(channel) {
                from[before as usize] -= weight(turn);
                let key = key(before, &to, &from);
                left.change_priority(&before, key);
            }
        }
        self.number();
    }

    /// Up from the last of the tree's routers on, then down from the first on: all that Up*/Down*
    /// allows ascends.
    fn begin_with_tree(&mut self, tree: &Tree) {
        let fabric = self.fabric;
        let up = tree.up(fabric);
        let mut reached = vec![NONE; fabric.routers() as usize];
        for (number, &router) in (0..).zip(&tree.order) {
            reached[router as usize] = number;
        }
        self.channels.sort_by_key(|&channel| {
            let number = |router: u32| i64::from(reached[router as usize]);
            let target = fabric.target(channel).expect("it exists");
            let ends = [number(fabric.source(channel)), number(target)];
            let down = !up[channel as usize];
            (down, if down { ends } else { ends.map(|end| -end) }, channel)
        });
        self.number();
    }

    /// Whether each turn that shortest ways take ascends.
    fn every_shortest_way(&self) -> bool {
        let ascends = |channel: Channel, next: Channel| {
            self.place[channel as usize] < self.place[next as usize]
        };
        self.channels.iter().all(|&channel| {
            let mut taken = self.turns.after(channel);
            taken.all(|(turn, next)| self.weights[turn as usize] == 0.0 || ascends(channel, next))
        })
    }

    /// Gives the channels whole numbers in their order.
    fn number(&mut self) {
        for (number, &channel) in (0u32..).zip(&self.channels) {
            self.place[channel as usize] = f64::from(number);
        }
    }

    /// Weights of turns: what goes from channel to channel if each pair sends its weight, all
    /// terminals of its routers count, and at every router what goes somewhere parts alike among
    /// all channels that lead nearer.
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
                        if self.leads_nearer(target, next) {
                            self.weights[turn as usize] += share / onward;
                        }
                    }
                }
            }
        }
    }

    /// Whether a channel from a router leads nearer to the destination.
    fn leads_nearer(&self, router: u32, channel: Channel) -> bool {
        let left = |router: u32| self.hops_left[router as usize];
        let target = self.fabric.target(channel);
        target.is_some_and(|target| left(target).saturating_add(1) == left(router))
    }

    fn nearer(&self, router: u32) -> impl Iterator<Item = Channel> + '_ {
        let leads = move |&channel: &Channel| self.leads_nearer(router, channel);
        self.fabric.outputs(router).filter(leads)
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

    /// Moves a channel to the best place among those that it has turns with; whether that is
    /// another one.
    fn move_one(&mut self, channel: Channel, neighbors: &mut Vec<(f64, f64)>) -> bool {
        let own = self.place[channel as usize];
        // Places that it must stay behind, and before.
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        // The gain of a move past each place, counted from before all of them.
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

    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![NONE; self.place.len()];
        for (rank, &channel) in (0..).zip(&self.channels) {
            ranks[channel as usize] = rank;
        }
        ranks
    }
}
