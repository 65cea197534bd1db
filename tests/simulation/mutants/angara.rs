//! Files of Angara's routes, read and followed a second time, from docs/route-tables.md alone.

use std::collections::{BTreeMap, BTreeSet};

use super::cycles::Waits;
use super::verdict::{Findings, Verdict};

const NAMES: [&str; 6] = ["x", "y", "z", "k", "l", "m"];

type Node = Vec<i64>;

/// A way along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Direction {
    /// Positive directions come first.
    negative: bool,
    dimension: usize,
}

/// A network as a file describes it.
#[derive(Default)]
struct Network {
    sizes: Vec<i64>,
    open: BTreeSet<usize>,
    failed_cables: Vec<(Node, Direction)>,
    dead: BTreeSet<Node>,
}

#[derive(Clone, Debug)]
struct Row {
    first: Option<usize>,
    directions: Vec<Direction>,
    last: Option<usize>,
}

/// By source and destination.
type Rows = BTreeMap<(Node, Node), Row>;

impl Network {
    fn node(&self, text: &str) -> Option<Node> {
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        let node: Node = inside.split(',').map(|it| it.parse().ok()).collect::<Option<_>>()?;
        let fits = node.len() == self.sizes.len()
            && node.iter().zip(&self.sizes).all(|(at, size)| (0..*size).contains(at));
        fits.then_some(node)
    }

    fn direction(&self, text: &str) -> Option<Direction> {
        let negative = match text.get(..1)? {
            "+" => false,
            "-" => true,
            _ => return None,
        };
        let dimension = NAMES.iter().position(|name| *name == &text[1..])?;
        (dimension < self.sizes.len()).then_some(Direction { negative, dimension })
    }

    fn nodes(&self) -> Vec<Node> {
        let mut nodes = vec![Vec::new()];
        for &size in &self.sizes {
            let longer = |node: &Node| {
                let node = node.clone();
                (0..size).map(move |at| [node.clone(), vec![at]].concat()).collect::<Vec<_>>()
            };
            nodes = nodes.iter().flat_map(longer).collect();
        }
        nodes
    }

    fn closes(&self, dimension: usize) -> bool {
        self.sizes[dimension] > 2 && !self.open.contains(&dimension)
    }

    /// Where a direction leads in the torus, failed or not.
    fn beside(&self, node: &Node, way: Direction) -> Option<Node> {
        let mut there = node.clone();
        let (at, size) = (&mut there[way.dimension], self.sizes[way.dimension]);
        *at += if way.negative { -1 } else { 1 };
        if !(0..size).contains(at) {
            if !self.closes(way.dimension) {
                return None;
            }
            *at = (*at + size) % size;
        }
        Some(there)
    }

    /// Where a hop leads; `None` if nothing is there to go over, or to.
    fn hop(&self, node: &Node, way: Direction) -> Option<Node> {
        let there = self.beside(node, way)?;
        let back = Direction { negative: !way.negative, ..way };
        let broken = self.failed_cables.iter().any(|(end, direction)| {
            (end, *direction) == (node, way) || (end, *direction) == (&there, back)
        });
        let lost = self.dead.contains(node) || self.dead.contains(&there);
        (!broken && !lost).then_some(there)
    }

    /// Whether both channels are of one closed row, and go round it the same way.
    fn same_ring(&self, one: &(Node, Direction), other: &(Node, Direction)) -> bool {
        let way = one.1;
        if way != other.1 {
            return false;
        }
        let mut at = one.0.clone();
        let mut met = false;
        for _ in 0..self.sizes[way.dimension] {
            met |= at == other.0;
            match self.hop(&at, way) {
                Some(next) => at = next,
                None => return false,
            }
        }
        at == one.0 && met
    }

    fn in_one_piece(&self, live: &[Node]) -> bool {
        let Some(start) = live.first() else { return false };
        let mut seen = BTreeSet::from([start.clone()]);
        let mut open = vec![start.clone()];
        while let Some(node) = open.pop() {
            for dimension in 0..self.sizes.len() {
                for negative in [false, true] {
                    let next = self.hop(&node, Direction { negative, dimension });
                    open.extend(next.filter(|next| seen.insert(next.clone())));
                }
            }
        }
        live.len() > 1 && live.iter().all(|node| seen.contains(node))
    }
}

/// What there is to say of a file.
pub fn judge(text: &str) -> Verdict {
    read(text).map_or(Verdict::Refused, |(network, rows)| Verdict::Judged(follow(&network, &rows)))
}

fn read(text: &str) -> Option<(Network, Rows)> {
    let bare = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    let lines: Vec<Vec<&str>> = bare.map(|line| line.split_whitespace().collect()).collect();
    let mut lines = lines.into_iter().filter(|words: &Vec<&str>| !words.is_empty());
    if lines.next()? != ["flitlab-routes", "1"] {
        return None;
    }
    let sizes = lines.next()?;
    let mut network = Network::default();
    if sizes[0] != "torus" || !(2..=7).contains(&sizes.len()) {
        return None;
    }
    network.sizes = sizes[1..].iter().map(|size| size.parse().ok()).collect::<Option<_>>()?;
    if network.sizes.iter().any(|size| !(1..=1024).contains(size))
        || network.sizes.iter().product::<i64>() < 2
    {
        return None;
    }
    let set = loop {
        let words = lines.next()?;
        match words[..] {
            ["open", ref names @ ..] => {
                if !network.open.is_empty() {
                    return None;
                }
                for name in names {
                    let dimension = NAMES.iter().position(|other| other == name)?;
                    if dimension >= network.sizes.len() {
                        return None;
                    }
                    network.open.insert(dimension);
                }
            }
            ["failed-cable", node, direction] => {
                let cable = (network.node(node)?, network.direction(direction)?);
                network.failed_cables.push(cable);
            }
            ["failed-node", node] => {
                let node = network.node(node)?;
                network.dead.insert(node);
            }
            ["nodes", "all"] => break None,
            ["nodes", ref names @ ..] => {
                let nodes = names.iter().map(|name| network.node(name));
                break Some(nodes.collect::<Option<BTreeSet<Node>>>()?);
            }
            _ => return None,
        }
    };
    if network.failed_cables.iter().any(|(node, way)| network.beside(node, *way).is_none()) {
        return None;
    }
    if let Some(set) = set {
        if set.iter().any(|node| network.dead.contains(node)) {
            return None;
        }
        let outside = network.nodes().into_iter().filter(|node| !set.contains(node));
        let outside: Vec<Node> = outside.collect();
        network.dead.extend(outside);
    }
    let live = live(&network);
    if !network.in_one_piece(&live) || lines.next()? != ["routes"] {
        return None;
    }
    let mut rows = BTreeMap::new();
    for words in lines {
        let [source, destination, first, directions, last] = words[..] else { return None };
        let pair = (network.node(source)?, network.node(destination)?);
        if pair.0 == pair.1 || network.dead.contains(&pair.0) || network.dead.contains(&pair.1) {
            return None;
        }
        if rows.insert(pair, row(&network, first, directions, last)?).is_some() {
            return None;
        }
    }
    Some((network, rows))
}

fn row(network: &Network, first: &str, directions: &str, last: &str) -> Option<Row> {
    let step = |text: &str, negative: bool| -> Option<Option<usize>> {
        if text == "." {
            return Some(None);
        }
        let way = network.direction(text)?;
        (way.negative == negative).then_some(Some(way.dimension))
    };
    let mut ways = Vec::new();
    if directions != "." {
        let letters: Vec<char> = directions.chars().collect();
        for two in letters.chunks(2) {
            ways.push(network.direction(&two.iter().collect::<String>())?);
        }
    }
    let dimensions: BTreeSet<usize> = ways.iter().map(|way| way.dimension).collect();
    if !ways.is_sorted() || dimensions.len() != ways.len() {
        return None;
    }
    Some(Row { first: step(first, false)?, directions: ways, last: step(last, true)? })
}

fn live(network: &Network) -> Vec<Node> {
    network.nodes().into_iter().filter(|node| !network.dead.contains(node)).collect()
}

fn follow(network: &Network, rows: &Rows) -> Findings {
    let mut findings = Findings::default();
    let mut waits = Waits::none();
    let live = live(network);
    for source in &live {
        for destination in live.iter().filter(|node| *node != source) {
            let row = rows.get(&(source.clone(), destination.clone()));
            match row.map(|row| walk(network, source, destination, row, &mut waits)) {
                Some(Ok(())) => findings.routed += 1,
                Some(Err(kind)) => {
                    findings.flaws.insert(format!("{kind} {source:?} {destination:?}"));
                }
                None => {
                    findings.flaws.insert(format!("missing {source:?} {destination:?}"));
                }
            }
        }
    }
    findings.cycle = waits.close(|held, wanted| !network.same_ring(held, wanted));
    findings
}

/// A packet's hops: the first step; in the order of directions as far as the destination's
/// coordinate, or, in the last step's dimension, one beyond it; the last step.
fn walk(
    network: &Network,
    source: &Node,
    destination: &Node,
    row: &Row,
    waits: &mut Waits<(Node, Direction)>,
) -> Result<(), &'static str> {
    let (mut at, mut before) = (source.clone(), None);
    let mut go = |at: &mut Node, way: Direction| {
        let there = network.hop(at, way).ok_or("channel")?;
        let channel = (std::mem::replace(at, there), way);
        if let Some(held) = before.replace(channel.clone()) {
            waits.add(held, channel);
        }
        Ok::<(), &'static str>(())
    };
    if let Some(dimension) = row.first {
        go(&mut at, Direction { negative: false, dimension })?;
    }
    for &way in &row.directions {
        let size = network.sizes[way.dimension];
        let beyond = i64::from(row.last == Some(way.dimension));
        let target = (destination[way.dimension] + beyond) % size;
        let ahead =
            if way.negative { at[way.dimension] - target } else { target - at[way.dimension] };
        let hops = (ahead + size) % size;
        if hops == 0 {
            return Err("idle");
        }
        for _ in 0..hops {
            go(&mut at, way)?;
        }
    }
    if let Some(dimension) = row.last {
        go(&mut at, Direction { negative: true, dimension })?;
    }
    if at == *destination { Ok(()) } else { Err("elsewhere") }
}
