//! A share of all messages goes to the other hot nodes, all alike; the rest, and all from an only
//! hot node, to any other node. A hot region is hot nodes whose numbers follow each other.
//!
//! Hot spots may move: after each period other nodes are hot, the next ones of a list or some that
//! the seed draws. A message goes by the period in which it is created, so it takes no more than its
//! time to know which nodes are hot, and it is the same on any number of threads.

use std::borrow::Cow;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Bind, Live, Nodes, ONE, Partners, PatternError, PatternKind, PatternRule};
use flitlab_base::document::{
    Count, Diagnostic, List, Listed, Number, Reader, Whole, report_repeated, time,
};
use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{NodeName, Places};

pub(super) const HOTSPOT: Row<PatternKind> = Row::new(
    "hotspot",
    "a share of the messages to a few nodes, the rest uniform.",
    PatternKind { partners: Partners::Drawn, read },
);

pub(super) const HOT_REGION: Row<PatternKind> = Row::new(
    "hot-region",
    "a share of the messages to nodes whose numbers follow each other, the rest uniform.",
    PatternKind { partners: Partners::Drawn, read: read_region },
);

/// The most hot nodes that are drawn anew each period: each message to one of them draws all.
const MAX_DRAWN: u64 = 1024;

/// The random stream of the hot nodes of the first period, behind those of terminals and of
/// permutations.
const STREAM: u64 = 1 << 35;

fn read(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Bind> {
    let kind =
        List { kind: NodeName { places }, noun: "nodes", length: 1..=usize::MAX, example: None };
    let doc =
        "The hot nodes. If they move, those that are hot in turn. Absent if the seed draws them.";
    let nodes = reader.optional("nodes", &kind, doc);
    let broken = nodes.is_none() && reader.has("nodes");
    let doc = "The share of messages that go to them.";
    let share = reader.required("share", &Number { above: 0.0, to: 1.0, inclusive: true }, doc);
    let doc = "For how long the same nodes are hot. For ever if absent.";
    let moves_every = reader.optional("moves_every", &time(Picoseconds(1)), doc);
    let doc =
        "How many nodes are hot at a time: with `moves_every`, or without `nodes`. 1 if absent.";
    let at_once = reader.optional("at_once", &Whole { range: 1..=MAX_DRAWN }, doc);
    if let Some(nodes) = &nodes {
        report_repeated(reader, "nodes", nodes, "node", |&node| {
            places.map_or_else(String::new, |places| places.name(node))
        });
        if at_once.is_some() && moves_every.is_none() && !reader.has("moves_every") {
            let message = "all of the `nodes` are hot at once, unless they move";
            let help = "leave `at_once` out, or add for example `moves_every = \"10 us\"`";
            let place = reader.key_place("at_once")?;
            reader.problems.push(Diagnostic::new(&place, message).help(help));
            return None;
        }
        let all = nodes.len() as u64;
        if let (Some(at_once), Some(_), Some(place)) =
            (at_once.filter(|&it| it >= all), moves_every, reader.place("at_once"))
        {
            let message = format!("{at_once} of {all} nodes can't move: all are hot all the time");
            let help = "lower `at_once`, add `nodes`, or leave `moves_every` and `at_once` out";
            reader.problems.push(Diagnostic::new(&place, message).help(help));
            return None;
        }
        if let (1, Some(_), Some(place)) = (all, moves_every, reader.place("moves_every")) {
            let message = "one node can't move";
            let help = "add `nodes`, or leave them out, and the seed draws others each time";
            reader.problems.push(Diagnostic::new(&place, message).help(help));
            return None;
        }
    }
    let (nodes, share) = (nodes.map(Listed::values), share?);
    let at_once = narrow(at_once.unwrap_or(1));
    if broken {
        return None;
    }
    Some(Arc::new(move |of| {
        let hot = match &nodes {
            Some(nodes) => {
                let among = among(nodes, moves_every.is_some(), of)?;
                match moves_every {
                    None => Hot::Fixed(among),
                    Some(every) => Hot::InTurn { nodes: among, at_once, every },
                }
            }
            None => {
                let count = of.live.count();
                if at_once > count {
                    let reason = format!("hotspot can't draw {at_once} nodes of {count}");
                    return Err(PatternError::Refused(reason));
                }
                match moves_every {
                    None => Hot::Fixed(draw(at_once, 0, of.live, of.seed)),
                    Some(every) => Hot::Drawn { at_once, every, seed: of.seed },
                }
            }
        };
        Ok(Box::new(Hotspot { hot, share: rounded_down(share * ONE as f64) }))
    }))
}

fn read_region(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<Bind> {
    let doc = "How many nodes it has, the last of which is followed by node 0.";
    let size = reader.required("size", &Count { example: 8 }, doc);
    let doc = "The share of messages that go to them.";
    let share = reader.required("share", &Number { above: 0.0, to: 1.0, inclusive: true }, doc);
    let doc = "Its first node. Absent if the seed draws it.";
    let first = reader.optional("first", &NodeName { places }, doc);
    if first.is_none() && reader.has("first") {
        return None;
    }
    let (size, share) = (size?, share?);
    Some(Arc::new(move |of| {
        let count = of.live.count();
        if size > count {
            let reason =
                format!("hot-region has {size} nodes, and {count} take part: {count} at most");
            return Err(PatternError::Refused(reason));
        }
        of.check(first.into_iter())?;
        let first = first.unwrap_or_else(|| draw(1, 0, of.live, of.seed)[0]);
        // Where the first one has failed, the next one is.
        let rank = of.live.rank(first);
        let mut hot: Vec<u32> = (0..size).map(|place| of.live.at((rank + place) % count)).collect();
        hot.sort_unstable();
        let share = rounded_down(share * ONE as f64);
        Ok(Box::new(Hotspot { hot: Hot::Fixed(hot), share }))
    }))
}

/// The live ones of the hot nodes, ascending unless they are hot in turn.
fn among(hot: &[u32], in_turn: bool, nodes: &Nodes<'_>) -> Result<Vec<u32>, PatternError> {
    nodes.check(hot.iter().copied())?;
    let mut live: Vec<u32> =
        hot.iter().copied().filter(|&node| nodes.live.contains(node)).collect();
    if !in_turn {
        live.sort_unstable();
    }
    if live.is_empty() {
        return Err(PatternError::Refused("all of hotspot's hot nodes have failed".into()));
    }
    Ok(live)
}

/// So many live nodes of a period, ascending, which the seed draws.
fn draw(count: u32, period: u64, live: &Live, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(STREAM + period);
    let ranks = draw_ranks(count, live.count(), &mut random);
    ranks.into_iter().map(|rank| live.at(rank)).collect()
}

/// So many numbers below `all`, ascending, all sets of them alike (Floyd's sampling).
pub(super) fn draw_ranks(count: u32, all: u32, random: &mut ChaCha8Rng) -> Vec<u32> {
    let mut ranks: Vec<u32> = Vec::new();
    for last in all - count..all {
        let rank = random.random_range(0..=last);
        match ranks.binary_search(&rank) {
            Ok(_) => ranks.push(last),
            Err(place) => ranks.insert(place, rank),
        }
    }
    ranks
}

/// The nodes that are hot.
enum Hot {
    /// These, ascending, for ever.
    Fixed(Vec<u32>),
    /// So many of these, in the order of the list, and the next ones in the next period.
    InTurn { nodes: Vec<u32>, at_once: u32, every: Picoseconds },
    /// So many, drawn by this seed for each period.
    Drawn { at_once: u32, every: Picoseconds, seed: u64 },
}

impl Hot {
    /// The hot nodes at a time, ascending.
    fn at(&self, time: Picoseconds, live: &Live) -> Cow<'_, [u32]> {
        match self {
            Self::Fixed(nodes) => Cow::Borrowed(nodes),
            Self::InTurn { nodes, .. } => Cow::Owned(self.set(time / self.every(), nodes)),
            &Self::Drawn { at_once, every, seed } => {
                Cow::Owned(draw(at_once, time / every, live, seed))
            }
        }
    }

    fn every(&self) -> Picoseconds {
        match *self {
            Self::Fixed(_) => Picoseconds::ZERO,
            Self::InTurn { every, .. } | Self::Drawn { every, .. } => every,
        }
    }

    /// The nodes of a list that are hot in a period, ascending.
    fn set(&self, period: u64, nodes: &[u32]) -> Vec<u32> {
        let Self::InTurn { at_once, .. } = *self else { return nodes.to_vec() };
        let (all, at_once) = (nodes.len() as u64, u64::from(at_once).min(nodes.len() as u64));
        let first = u128::from(period) * u128::from(at_once) % u128::from(all);
        let place = |number: u64| narrow::<usize>((first + u128::from(number)) % u128::from(all));
        let mut set: Vec<u32> = (0..at_once).map(|number| nodes[place(number)]).collect();
        set.sort_unstable();
        set
    }

    /// After how many periods the list begins anew.
    fn periods(&self) -> u64 {
        match self {
            Self::Fixed(_) | Self::Drawn { .. } => 1,
            Self::InTurn { nodes, at_once, .. } => {
                let (all, step) = (nodes.len() as u64, u64::from(*at_once));
                // The least number whose product with the step is a multiple of all.
                (1..=all).find(|periods| (periods * step).is_multiple_of(all)).unwrap_or(1)
            }
        }
    }
}

struct Hotspot {
    hot: Hot,
    /// The share of messages to hot nodes, in units of 1 / [`ONE`].
    share: u64,
}

/// The source's place among the hot nodes (their end if it is none of them), and how many others
/// there are.
fn others(hot: &[u32], source: u32) -> (u32, u32) {
    let (place, others) = match hot.binary_search(&source) {
        Ok(place) => (place, hot.len() - 1),
        Err(_) => (hot.len(), hot.len()),
    };
    (narrow(place), narrow(others))
}

impl Hotspot {
    /// Adds a period's part of the shares of a source: `part` of all messages.
    fn add_shares(&self, hot: &[u32], source: u32, part: f64, live: &Live, shares: &mut [f64]) {
        let (_, others) = others(hot, source);
        let share = if others == 0 { 0.0 } else { self.share as f64 / ONE as f64 };
        let rest = (1.0 - share) * live.share_of_others();
        for (rank, node) in (0..).zip(live.iter()) {
            let is_hot = hot.binary_search(&node).is_ok();
            let own: f64 = if is_hot { rest + share / f64::from(others) } else { rest };
            if node != source {
                shares[rank] += part * own;
            }
        }
    }
}

impl PatternRule for Hotspot {
    fn steps(&self, _: &Live) -> Option<u32> {
        None
    }

    fn destination(
        &self,
        source: u32,
        index: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        self.destination_at(source, index, Picoseconds::ZERO, live, random)
    }

    fn cycle(&self) -> Picoseconds {
        self.hot.every() * self.hot.periods()
    }

    fn destination_at(
        &self,
        source: u32,
        _: u64,
        time: Picoseconds,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        // Which are hot is not asked for before it is drawn that the message goes to one of them,
        // unless the source may be the only one.
        let fixed = if let Hot::Fixed(nodes) = &self.hot { &nodes[..] } else { &[] };
        let is_alone = fixed == [source];
        if !is_alone && random.random_range(0..ONE) < self.share {
            let hot = self.hot.at(time, live);
            let (place, others) = others(&hot, source);
            if others > 0 {
                let drawn = random.random_range(0..others);
                return Some(hot[(drawn + u32::from(drawn >= place)) as usize]);
            }
        }
        Some(live.draw_other(source, random))
    }

    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        let mut shares = vec![0.0; live.count() as usize];
        match &self.hot {
            Hot::Fixed(nodes) => self.add_shares(nodes, source, 1.0, live, &mut shares),
            Hot::InTurn { nodes, .. } => {
                let periods = self.hot.periods();
                for period in 0..periods {
                    let set = self.hot.set(period, nodes);
                    self.add_shares(&set, source, 1.0 / periods as f64, live, &mut shares);
                }
            }
            // All others are hot as often.
            Hot::Drawn { .. } => shares.fill(live.share_of_others()),
        }
        for (rank, share) in (0..).zip(shares) {
            let node = live.at(rank);
            if share > 0.0 && node != source {
                each(node, share);
            }
        }
    }

    fn memory(&self) -> usize {
        match &self.hot {
            Hot::Fixed(nodes) | Hot::InTurn { nodes, .. } => nodes.capacity() * size_of::<u32>(),
            Hot::Drawn { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::{Faults, Torus};

    #[test]
    fn all_sets_of_hot_nodes_are_drawn_alike() {
        let faults = Faults { nodes: vec![1], ..Faults::default() };
        let fabric = Torus::new(&[5], &[]).unwrap().fabric(&faults).unwrap();
        let live = Live::new(&fabric, None);
        let mut found = std::collections::BTreeMap::new();
        for period in 0..6_000 {
            let set = draw(2, period, &live, 3);
            assert!(set.is_sorted_by(|one, next| one < next));
            *found.entry(set).or_insert(0u32) += 1;
        }
        // Six pairs of four nodes, all alike; the deviation is 29.
        assert_eq!(found.len(), 6);
        assert!(found.values().all(|count| count.abs_diff(1_000) < 4 * 29), "{found:?}");
    }

    #[test]
    fn hot_nodes_of_a_list_are_hot_in_its_order_and_begin_anew() {
        let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let live = Live::new(&fabric, None);
        let hot = Hot::InTurn { nodes: vec![9, 3, 7], at_once: 2, every: Picoseconds(100) };
        let at = |time| hot.at(Picoseconds(time), &live).into_owned();
        assert_eq!(at(0), [3, 9]);
        assert_eq!(at(99), [3, 9]);
        assert_eq!(at(100), [7, 9]);
        assert_eq!(at(200), [3, 7]);
        assert_eq!((hot.periods(), at(300)), (3, at(0)));
    }
}
