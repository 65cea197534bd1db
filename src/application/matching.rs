//! Messages and receipts that wait for each other, as MPI matches them: by rank, peer and tag, first come first served.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use super::lines::{Line, Lines};
use super::schedule::{ANY, Action, Schedule};
use crate::narrow::narrow;

/// What waits at one rank for something of a peer with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Key {
    rank: u32,
    peer: u32,
    tag: u32,
}

/// Of three small numbers; the standard library's withstands attacks, which nobody makes here, and takes thrice as long.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// What waits at one rank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct AtRank {
    /// The place of its list; [`ANY`] if it uses no wildcards.
    list: u32,
    /// The first that came when nothing else waited, or [`ANY`]. Most ranks wait for one thing at a time, and find it here.
    first: u32,
    /// Of the first one.
    peer: u32,
    tag: u32,
    /// How many wait besides.
    others: u32,
}

/// All that waits at all ranks. A rank that uses wildcards keeps one list, which is searched from its beginning; of the
/// others what is wanted is found at once, however much waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Matching {
    ranks: Vec<AtRank>,
    lines: HashMap<Key, Line, BuildHasherDefault<Mix>>,
    /// What waits in those lines.
    waiting: Lines<u32>,
    lists: Vec<VecDeque<(u32, u32, u32)>>,
}

impl Matching {
    /// Nothing waits.
    pub(crate) fn new(schedule: &Schedule) -> Self {
        let nothing = AtRank { list: ANY, first: ANY, peer: 0, tag: 0, others: 0 };
        let mut ranks = vec![nothing; schedule.ranks() as usize];
        let mut lists = Vec::new();
        for rank in 0..schedule.ranks() {
            for number in schedule.of_rank(rank) {
                let operation = schedule.operation(number);
                let wild = match operation.action {
                    Action::Receive if operation.peer == ANY || operation.tag == ANY => rank,
                    Action::Send if operation.tag == ANY => operation.peer,
                    _ => continue,
                };
                let list = &mut ranks[wild as usize].list;
                if *list == ANY {
                    *list = narrow(lists.len());
                    lists.push(VecDeque::new());
                }
            }
        }
        Self { ranks, lines: HashMap::default(), waiting: Lines::new(), lists }
    }

    /// Something joins those that wait at a rank.
    pub(crate) fn wait(&mut self, rank: u32, peer: u32, tag: u32, item: u32) {
        let at = &mut self.ranks[rank as usize];
        if at.list != ANY {
            return self.lists[at.list as usize].push_back((peer, tag, item));
        }
        if at.first == ANY && at.others == 0 {
            return (at.first, at.peer, at.tag) = (item, peer, tag);
        }
        at.others += 1;
        let line = self.lines.entry(Key { rank, peer, tag }).or_insert(Line::EMPTY);
        self.waiting.push_back(line, item);
    }

    /// Takes the first of those that wait at a rank for what is of this peer and has this tag.
    pub(crate) fn take(&mut self, rank: u32, peer: u32, tag: u32) -> Option<u32> {
        let at = &mut self.ranks[rank as usize];
        if at.list != ANY {
            let list = &mut self.lists[at.list as usize];
            let alike = |one: u32, other: u32| one == ANY || other == ANY || one == other;
            let place = list.iter().position(|it| alike(it.0, peer) && alike(it.1, tag))?;
            return list.remove(place).map(|it| it.2);
        }
        if at.first != ANY && (at.peer, at.tag) == (peer, tag) {
            return Some(std::mem::replace(&mut at.first, ANY));
        }
        if at.others == 0 {
            return None;
        }
        let Entry::Occupied(mut line) = self.lines.entry(Key { rank, peer, tag }) else {
            return None;
        };
        let item = self.waiting.pop_front(line.get_mut());
        if line.get().is_empty() {
            line.remove();
        }
        at.others -= 1;
        item
    }

    /// All that still waits: rank and item, in the order of items.
    pub(crate) fn left(&self) -> Vec<(u32, u32)> {
        let mut left = Vec::new();
        for (key, &line) in &self.lines {
            left.extend(self.waiting.of(line).map(|item| (key.rank, item)));
        }
        for (rank, at) in (0..).zip(&self.ranks) {
            left.extend(Some((rank, at.first)).filter(|it| it.1 != ANY));
            let list = self.lists.get(at.list as usize);
            left.extend(list.into_iter().flatten().map(|it| (rank, it.2)));
        }
        left.sort_unstable_by_key(|it| it.1);
        left
    }

    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> usize {
        let list = |list: &VecDeque<_>| list.capacity() * size_of::<(u32, u32, u32)>();
        self.lines.capacity() * (size_of::<Key>() + size_of::<Line>() + 1)
            + self.waiting.memory()
            + size_of_val(&*self.ranks)
            + self.lists.iter().map(list).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::{Operation, ScheduleBuilder};

    /// Two ranks; the first one uses wildcards if it is said so.
    fn matching(wild: bool) -> Matching {
        let mut builder = ScheduleBuilder::new();
        if wild {
            builder.add(Operation::receive(0, ANY, 5)).unwrap();
        }
        builder.end_rank().unwrap();
        builder.end_rank().unwrap();
        Matching::new(&builder.finish())
    }

    #[test]
    fn first_come_is_first_served_under_each_key() {
        for wild in [false, true] {
            let mut matching = matching(wild);
            for (peer, tag, item) in [(1, 5, 0), (0, 5, 1), (1, 5, 2), (1, 6, 3), (1, 5, 4)] {
                matching.wait(0, peer, tag, item);
            }
            let taken = [(1, 5), (1, 5), (1, 6), (1, 6), (0, 5), (1, 5), (1, 5)]
                .map(|(peer, tag)| matching.take(0, peer, tag));
            assert_eq!(taken, [Some(0), Some(2), Some(3), None, Some(1), Some(4), None]);
            matching.wait(0, 1, 5, 9);
            assert_eq!(matching.left(), [(0, 9)]);
            assert_eq!(matching.take(0, 1, 5), Some(9));
        }
    }

    #[test]
    fn a_wildcard_takes_the_first_of_all_and_is_taken_by_any() {
        let mut matching = matching(true);
        for (peer, tag, item) in [(1, 6, 0), (0, 5, 1), (1, 5, 2), (ANY, 7, 3), (1, ANY, 4)] {
            matching.wait(0, peer, tag, item);
        }
        assert_eq!(matching.take(0, ANY, 5), Some(1));
        assert_eq!(matching.take(0, 0, 7), Some(3));
        assert_eq!(matching.take(0, 1, 9), Some(4));
        assert_eq!(matching.take(0, ANY, ANY), Some(0));
        assert_eq!(matching.left(), [(0, 2)]);
    }
}
