//! Failures of a fabric of any shape: cables and routers, named or drawn at random.

use std::collections::{BTreeSet, VecDeque};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Channel, Fabric, NONE, TopologyError, connectivity};
use flitlab_base::narrow::rounded;

/// A number of cables or routers, absolute or relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number of them.
    Count(u32),
    /// A percentage of all, rounded to the nearest whole number; at least one unless the percentage
    /// is 0.
    Percent(f64),
}

impl Amount {
    fn of(self, all: usize) -> usize {
        match self {
            Self::Count(count) => count as usize,
            Self::Percent(share) if share > 0.0 => {
                rounded::<usize>(share / 100.0 * all as f64).max(1)
            }
            Self::Percent(_) => 0,
        }
    }
}

/// Random failures that cut no connection: the remaining routers reach each other as far as they
/// did before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomFailures {
    /// Cables that fail.
    pub cables: Amount,
    /// Routers that fail, with all their cables and terminals.
    pub routers: Amount,
    /// Seed of the draw: equal seeds give equal failures.
    pub seed: u64,
}

/// Cables and routers out of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Failed cables, each given by one of its channels.
    pub cables: Vec<Channel>,
    /// Failed routers, with all their cables and terminals.
    pub routers: Vec<u32>,
    /// Random failures in addition to the named ones; `None` if there are none.
    pub random: Option<RandomFailures>,
}

impl Failures {
    /// The fabric without the failed parts. All numbers stay as they were.
    ///
    /// # Errors
    /// If live terminals are left without a path between them, or if no part is left that could
    /// fail at random without cutting the fabric.
    pub fn apply(&self, fabric: &Fabric) -> Result<Fabric, TopologyError> {
        let mut left = fabric.without(&self.cables, &self.routers);
        if let Some(random) = &self.random {
            left = random.draw(fabric, left)?;
        }
        connectivity::check(&left)?;
        Ok(left)
    }
}

impl RandomFailures {
    /// Removes the random cables and routers from `left`. Percentages refer to the whole fabric.
    fn draw(&self, whole: &Fabric, mut left: Fabric) -> Result<Fabric, TopologyError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut routers = live_routers(&left);
        routers.shuffle(&mut random);
        let wanted = self.routers.of(live_routers(whole).len());
        let mut found = 0;
        for router in routers {
            if found == wanted {
                break;
            }
            let less = left.without(&[], &[router]);
            if less.live_terminals().nth(1).is_some() && joined(&less, neighbors(&left, router)) {
                left = less;
                found += 1;
            }
        }
        enough(found, wanted, "switches")?;
        let mut cables: Vec<Channel> = left.cables().collect();
        cables.shuffle(&mut random);
        let wanted = self.cables.of(whole.cables().count());
        let mut lost = Vec::new();
        let mut less = left.clone();
        for cable in cables {
            if lost.len() == wanted {
                break;
            }
            let both = [cable, left.opposite[cable as usize]].map(|channel| channel as usize);
            let ends = both.map(|channel| std::mem::replace(&mut less.target[channel], NONE));
            if joined(&less, BTreeSet::from(ends)) {
                lost.push(cable);
            } else {
                both.iter().zip(ends).for_each(|(&channel, end)| less.target[channel] = end);
            }
        }
        enough(lost.len(), wanted, "cables")?;
        Ok(left.without(&lost, &[]))
    }
}

/// The routers that have a cable or a terminal.
fn live_routers(fabric: &Fabric) -> Vec<u32> {
    let mut live: Vec<bool> = (0..fabric.routers())
        .map(|router| fabric.outputs(router).any(|channel| fabric.target(channel).is_some()))
        .collect();
    for router in fabric.live_terminals().filter_map(|terminal| fabric.terminal_router(terminal)) {
        live[router as usize] = true;
    }
    (0..fabric.routers()).filter(|&router| live[router as usize]).collect()
}

fn neighbors(fabric: &Fabric, router: u32) -> BTreeSet<u32> {
    fabric.neighbors(router).collect()
}

fn enough(found: usize, wanted: usize, what: &str) -> Result<(), TopologyError> {
    if found == wanted {
        return Ok(());
    }
    let text = format!(
        "{wanted} {what} can't fail at random: after {found}, any other one would cut the fabric apart"
    );
    Err(TopologyError::Sizes(text))
}

/// Whether all these routers reach each other. The search ends as soon as that is known.
fn joined(fabric: &Fabric, mut routers: BTreeSet<u32>) -> bool {
    let Some(start) = routers.pop_first() else { return true };
    let mut seen = vec![false; fabric.routers() as usize];
    seen[start as usize] = true;
    let mut queue = VecDeque::from([start]);
    while let Some(router) = queue.pop_front() {
        if routers.is_empty() {
            break;
        }
        for next in fabric.neighbors(router) {
            if !seen[next as usize] {
                seen[next as usize] = true;
                routers.remove(&next);
                queue.push_back(next);
            }
        }
    }
    routers.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builders::{Dragonfly, GlobalCables, Tree};

    fn dragonfly() -> Fabric {
        let dragonfly = Dragonfly {
            routers: 4,
            terminals: 2,
            global: 2,
            groups: 9,
            cables: GlobalCables::default(),
        };
        dragonfly.cabling().unwrap().fabric().unwrap()
    }

    fn random(cables: Amount, routers: Amount, seed: u64) -> Failures {
        let random = Some(RandomFailures { cables, routers, seed });
        Failures { random, ..Failures::default() }
    }

    #[test]
    fn what_is_left_keeps_its_numbers_and_names() {
        let whole = dragonfly();
        let failures = Failures { cables: vec![6], routers: vec![3], random: None };
        let left = failures.apply(&whole).unwrap();
        assert_eq!(left.channel_slots(), whole.channel_slots());
        assert_eq!(left.channels(), whole.channels() - 2 - 2 * 5);
        assert_eq!(left.live_terminals().count(), 70);
        assert_eq!((left.terminal_router(6), left.terminal_router(8)), (None, Some(4)));
        for channel in 0..left.channel_slots() {
            assert_eq!(left.port(channel), whole.port(channel));
            let Some(target) = left.target(channel) else { continue };
            assert_eq!(Some(target), whole.target(channel));
            assert_eq!(left.opposite(channel), whole.opposite(channel));
            assert!(target != 3 && left.source(channel) != 3 && channel != 6);
            assert_eq!(left.channel_name(channel), whole.channel_name(channel));
        }
        assert_eq!(left.target(whole.opposite(6).unwrap()), None);
    }

    #[test]
    fn random_failures_are_as_many_as_asked_and_cut_nothing_off() {
        let whole = dragonfly();
        let all = whole.cables().count();
        for seed in 0..20 {
            let left = random(Amount::Percent(50.0), Amount::Count(2), seed).apply(&whole).unwrap();
            let of_routers = all - left.cables().count() - all / 2;
            assert!((9..=10).contains(&of_routers), "two routers of 5 cables: {of_routers}");
            assert_eq!(left.live_terminals().count(), 68);
            let reached = live_routers(&left);
            assert_eq!(reached.len(), 34);
            assert!(joined(&left, reached.into_iter().collect()));
        }
        let cables = |seed| -> Vec<Channel> {
            let left = random(Amount::Count(5), Amount::Count(0), seed).apply(&whole).unwrap();
            left.cables().collect()
        };
        assert_eq!(cables(1), cables(1));
        assert_ne!(cables(1), cables(2));
    }

    #[test]
    fn shares_are_rounded_and_never_to_nothing() {
        for (share, all, expected) in [(1.0, 1515, 15), (1.0, 32, 1), (0.0, 32, 0), (50.0, 5, 3)] {
            assert_eq!(Amount::Percent(share).of(all), expected);
        }
    }

    #[test]
    fn what_would_fall_apart_is_refused() {
        let tree = Tree { arity: 2, levels: 2, terminals: 2 }.cabling().unwrap().fabric().unwrap();
        assert_eq!(tree.cables().count(), 4);
        let error = random(Amount::Count(2), Amount::Count(0), 1).apply(&tree).unwrap_err();
        assert!(error.to_string().contains("2 cables can't fail at random"), "{error}");
        assert!(random(Amount::Count(1), Amount::Count(0), 1).apply(&tree).is_ok());
        let cut = Failures { cables: vec![0, 1], ..Failures::default() };
        assert!(matches!(cut.apply(&tree), Err(TopologyError::Disconnected { pairs: 8, .. })));
        // Without a switch of the upper level all terminals are in reach; one of the lower level
        // takes its terminals along.
        for (router, terminals) in [(0, 2), (2, 4)] {
            let lost = Failures { routers: vec![router], ..Failures::default() };
            assert_eq!(lost.apply(&tree).unwrap().live_terminals().count(), terminals);
        }
    }
}
