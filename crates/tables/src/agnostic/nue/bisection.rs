//! Multilevel bisection of a weighted graph (\[multilevel-partitioning\]): vertices are merged
//! along heavy edges until few are left, those are parted, and at each step back the border is
//! improved by moving vertices (\[fiduccia-mattheyses\]).

use priority_queue::PriorityQueue;

use flitlab_base::narrow::narrow;

/// An undirected graph with weights of vertices and edges.
pub(super) struct Weighted {
    /// By vertex.
    pub weights: Vec<u64>,
    /// By vertex, its neighbors by ascending number with the weights of the edges.
    pub neighbors: Vec<Vec<(u32, u64)>>,
}

/// Below so many vertices nothing is merged.
const FEW: usize = 48;
/// Starts from which a small graph is parted; the best counts.
const STARTS: usize = 8;
const PASSES: usize = 8;

impl Weighted {
    fn size(&self) -> usize {
        self.weights.len()
    }

    fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The part of each vertex, from 0 to `parts`, all of about the same weight and with few edges
    /// between.
    pub(super) fn parts(&self, parts: usize) -> Vec<usize> {
        let mut part = vec![0; self.size()];
        self.fill_parts(&(0..narrow(self.size())).collect::<Vec<_>>(), 0, parts, &mut part);
        part
    }

    /// Parts the vertices of these numbers in a larger graph.
    fn fill_parts(&self, numbers: &[u32], first: usize, parts: usize, part: &mut [usize]) {
        if parts == 1 || self.size() < 2 {
            for &number in numbers {
                part[number as usize] = first;
            }
            return;
        }
        let left = parts / 2;
        let sides = self.bisect((left as u64, parts as u64));
        for (side, first, parts) in [(true, first, left), (false, first + left, parts - left)] {
            let (graph, inside) = self.side(&sides, side);
            let numbers: Vec<u32> = inside.iter().map(|&at| numbers[at as usize]).collect();
            graph.fill_parts(&numbers, first, parts, part);
        }
    }

    /// The graph of one side, and the numbers that its vertices have here.
    fn side(&self, sides: &[bool], side: bool) -> (Self, Vec<u32>) {
        let inside: Vec<u32> =
            (0..narrow(self.size())).filter(|&at| sides[at as usize] == side).collect();
        let mut number = vec![0; self.size()];
        for (new, &old) in (0..).zip(&inside) {
            number[old as usize] = new;
        }
        let neighbors = |&at: &u32| {
            let edges = self.neighbors[at as usize].iter();
            let edges = edges.filter(|&&(next, _)| sides[next as usize] == side);
            edges.map(|&(next, weight)| (number[next as usize], weight)).collect()
        };
        let graph = Self {
            weights: inside.iter().map(|&at| self.weights[at as usize]).collect(),
            neighbors: inside.iter().map(neighbors).collect(),
        };
        (graph, inside)
    }

    /// Two sides; the true one has this fraction of the weight.
    fn bisect(&self, fraction: (u64, u64)) -> Vec<bool> {
        let (merged, coarse) = self.merged();
        let mut sides = if self.size() <= FEW || coarse.size() * 10 > self.size() * 9 {
            self.grown(fraction)
        } else {
            let sides = coarse.bisect(fraction);
            merged.iter().map(|&at| sides[at as usize]).collect()
        };
        self.improve(&mut sides, fraction);
        sides
    }

    /// Merges each vertex with the neighbor to which it has the heaviest edge, if that is free: the
    /// merged vertex of each, and their graph.
    fn merged(&self) -> (Vec<u32>, Self) {
        const FREE: u32 = u32::MAX;
        let heaviest = 3 * self.total() / (2 * FEW as u64);
        let mut merged = vec![FREE; self.size()];
        let mut weights = Vec::new();
        for at in 0..self.size() {
            if merged[at] != FREE {
                continue;
            }
            let free = self.neighbors[at].iter().filter(|&&(next, _)| {
                merged[next as usize] == FREE
                    && next as usize != at
                    && self.weights[at] + self.weights[next as usize] <= heaviest
            });
            let mate = free.max_by_key(|&&(next, weight)| (weight, std::cmp::Reverse(next)));
            merged[at] = narrow(weights.len());
            weights.push(self.weights[at]);
            if let Some(&(next, _)) = mate {
                merged[next as usize] = merged[at];
                weights[merged[at] as usize] += self.weights[next as usize];
            }
        }
        let mut neighbors: Vec<Vec<(u32, u64)>> = vec![Vec::new(); weights.len()];
        for (at, edges) in self.neighbors.iter().enumerate() {
            let edges = edges.iter().map(|&(next, weight)| (merged[next as usize], weight));
            neighbors[merged[at] as usize].extend(edges.filter(|&(next, _)| next != merged[at]));
        }
        for edges in &mut neighbors {
            edges.sort_unstable();
            edges.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 += if same { later.1 } else { 0 };
                same
            });
        }
        (merged, Self { weights, neighbors })
    }

    /// Sides grown from a vertex by always adding the one with most edges to those inside; the best
    /// of several starts.
    fn grown(&self, (share, whole): (u64, u64)) -> Vec<bool> {
        let wanted = self.total() * share / whole;
        let mut best: Option<(u64, Vec<bool>)> = None;
        for start in 0..STARTS.min(self.size()) {
            let mut sides = vec![false; self.size()];
            let mut border = PriorityQueue::new();
            border.push(narrow(start * self.size() / STARTS.min(self.size())), (0, 0));
            let mut inside = 0;
            while inside < wanted {
                let vertex = border.pop().map(|(vertex, _)| vertex);
                let outside = || (0..narrow(self.size())).find(|&at| !sides[at as usize]);
                let Some(vertex) = vertex.or_else(outside) else { break };
                sides[vertex as usize] = true;
                inside += self.weights[vertex as usize];
                for &(next, weight) in &self.neighbors[vertex as usize] {
                    if !sides[next as usize] {
                        let edges = border.get(&next).map_or(0, |(_, &(edges, _))| edges);
                        border.push(next, (edges + weight, u32::MAX - next));
                    }
                }
            }
            self.improve(&mut sides, (share, whole));
            let cut = self.cut(&sides);
            if best.as_ref().is_none_or(|(least, _)| cut < *least) {
                best = Some((cut, sides));
            }
        }
        best.expect("there are vertices").1
    }

    fn cut(&self, sides: &[bool]) -> u64 {
        let crossing = |at: usize| {
            let edges = self.neighbors[at].iter();
            edges
                .filter(|&&(next, _)| sides[next as usize] != sides[at])
                .map(|edge| edge.1)
                .sum::<u64>()
        };
        (0..self.size()).map(crossing).sum::<u64>() / 2
    }

    /// Moves vertices across while that lowers the cut or the imbalance.
    fn improve(&self, sides: &mut [bool], (share, whole): (u64, u64)) {
        let wanted = narrow::<i64>(self.total() * share / whole);
        let slack = self.weights.iter().max().map_or(0, |&weight| narrow(weight));
        let mut inside: i64 = (0..self.size())
            .filter(|&at| sides[at])
            .map(|at| narrow::<i64>(self.weights[at]))
            .sum();
        for _ in 0..PASSES {
            let gain = |at: usize, sides: &[bool]| {
                let edges = self.neighbors[at].iter();
                edges
                    .map(|&(next, weight)| {
                        let weight: i64 = narrow(weight);
                        if sides[next as usize] == sides[at] { -weight } else { weight }
                    })
                    .sum::<i64>()
            };
            let mut queues = [PriorityQueue::new(), PriorityQueue::new()];
            for (at, vertex) in (0..self.size()).zip(0..) {
                queues[usize::from(sides[at])].push(vertex, (gain(at, sides), u32::MAX - vertex));
            }
            let mut moved = Vec::new();
            let (mut sum, mut best) = (0, (self.excess(inside, wanted, slack), 0, 0));
            loop {
                // From the side that has too much; if neither has, the better move.
                let top =
                    |queue: &PriorityQueue<u32, (i64, u32)>| queue.peek().map(|(_, &gain)| gain);
                let side = if inside > wanted + slack / 2 {
                    true
                } else if inside < wanted - slack / 2 {
                    false
                } else {
                    top(&queues[1]) > top(&queues[0])
                };
                let Some((vertex, (gain, _))) = queues[usize::from(side)].pop() else { break };
                let at = vertex as usize;
                sides[at] = !side;
                inside += if side { -1 } else { 1 } * narrow::<i64>(self.weights[at]);
                sum += gain;
                moved.push(vertex);
                for &(next, weight) in &self.neighbors[at] {
                    let nearer = sides[next as usize] == sides[at];
                    let change = if nearer { -2 } else { 2 } * narrow::<i64>(weight);
                    queues[usize::from(sides[next as usize])]
                        .change_priority_by(&next, |gain| gain.0 += change);
                }
                let state = (self.excess(inside, wanted, slack), -sum, moved.len());
                best = best.min(state);
            }
            for &vertex in &moved[best.2..] {
                let at = vertex as usize;
                inside += if sides[at] { -1 } else { 1 } * narrow::<i64>(self.weights[at]);
                sides[at] = !sides[at];
            }
            if best.2 == 0 {
                break;
            }
        }
    }

    /// By how much a side is too heavy or too light.
    fn excess(&self, inside: i64, wanted: i64, slack: i64) -> i64 {
        ((inside - wanted).abs() - slack / 2 - 1).max(0)
    }
}
