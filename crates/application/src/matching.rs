//! Messages and receipts that wait for each other, as MPI matches them: by rank, peer and tag,
//! first come first served.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::lines::{Line, Lines};
use super::schedule::{ANY, Action, Schedule};
use flitlab_base::narrow::narrow;

/// Waiting messages and receipts of all ranks. A rank that uses wildcards, or whose searches take
/// time, keeps one list, which is searched from its beginning. The others keep a queue for each
/// peer, which is searched for the tag: mostly the first item has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Matching {
    /// By rank: the place of its list; [`ANY`] if it keeps none.
    list: Vec<u32>,
    lists: Vec<VecDeque<(u32, u32, u32)>>,
    /// The peers of rank `r` are `peers[first[r]..first[r + 1]]`, in ascending order.
    first: Vec<u32>,
    peers: Vec<u32>,
    /// By rank and peer.
    lines: Vec<Line>,
    /// The items in those queues: tags and items.
    waiting: Lines<(u32, u32)>,
}

/// What was found, and how many of its list were looked at to find it: none but itself where
/// there is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was given with it.
    pub item: u32,
    /// How many were looked at until it was found, itself included.
    pub examined: u32,
}

impl Matching {
    /// Nothing waits. With `listed` all ranks keep lists.
    pub fn new(schedule: &Schedule, listed: bool) -> Self {
        let ranks = schedule.ranks();
        let mut list = vec![ANY; ranks as usize];
        let mut lists = Vec::new();
        if listed {
            list = (0..ranks).collect();
            lists = vec![VecDeque::new(); ranks as usize];
        }
        // Of each rank those who send to it, in ascending order.
        let mut senders = vec![Vec::new(); ranks as usize];
        for rank in 0..ranks {
            for number in schedule.of_rank(rank) {
                let operation = schedule.operation(number);
                if operation.action == Action::Send {
                    let senders: &mut Vec<u32> = &mut senders[operation.peer as usize];
                    if senders.last() != Some(&rank) {
                        senders.push(rank);
                    }
                }
                let wild = match operation.action {
                    Action::Receive if operation.peer == ANY || operation.tag == ANY => rank,
                    Action::Send if operation.tag == ANY => operation.peer,
                    _ => continue,
                };
                let list = &mut list[wild as usize];
                if *list == ANY {
                    *list = narrow(lists.len());
                    lists.push(VecDeque::new());
                }
            }
        }
        let (mut first, mut peers) = (vec![0], Vec::new());
        for (rank, mut of_rank) in (0..).zip(senders) {
            if list[rank as usize] == ANY {
                let receives = schedule.of_rank(rank).map(|number| schedule.operation(number));
                let receives = receives.filter(|it| it.action == Action::Receive);
                of_rank.extend(receives.map(|it| it.peer));
                of_rank.sort_unstable();
                of_rank.dedup();
                peers.append(&mut of_rank);
            }
            first.push(narrow(peers.len()));
        }
        let lines = vec![Line::EMPTY; peers.len()];
        Self { list, lists, first, peers, lines, waiting: Lines::default() }
    }

    /// The line of a rank for a peer, which some operation of theirs names.
    fn line(&self, rank: u32, peer: u32) -> usize {
        let first = self.first[rank as usize] as usize;
        let peers = &self.peers[first..self.first[rank as usize + 1] as usize];
        first + peers.binary_search(&peer).expect("an operation names it")
    }

    /// Something joins those that wait at a rank.
    pub fn wait(&mut self, rank: u32, peer: u32, tag: u32, item: u32) {
        let list = self.list[rank as usize];
        if list != ANY {
            return self.lists[list as usize].push_back((peer, tag, item));
        }
        let line = self.line(rank, peer);
        self.waiting.push_back(&mut self.lines[line], (tag, item));
    }

    /// Takes the first of those that wait at a rank for what is of this peer and has this tag.
    pub fn take(&mut self, rank: u32, peer: u32, tag: u32) -> Option<u32> {
        self.search(rank, peer, tag).map(|it| it.item)
    }

    /// Takes it as well, and says how many were examined.
    pub fn search(&mut self, rank: u32, peer: u32, tag: u32) -> Option<Found> {
        let list = self.list[rank as usize];
        if list != ANY {
            let list = &mut self.lists[list as usize];
            let alike = |one: u32, other: u32| one == ANY || other == ANY || one == other;
            let place = list.iter().position(|it| alike(it.0, peer) && alike(it.1, tag))?;
            let examined = narrow::<u32>(place) + 1;
            return list.remove(place).map(|it| Found { item: it.2, examined });
        }
        let line = self.line(rank, peer);
        let found = self.waiting.take_first(&mut self.lines[line], |it| it.0 == tag)?;
        Some(Found { item: found.1, examined: 1 })
    }

    /// Whether anything waits at a rank for what is of this peer and has this tag.
    pub fn has(&self, rank: u32, peer: u32, tag: u32) -> bool {
        let list = self.list[rank as usize];
        if list != ANY {
            let alike = |one: u32, other: u32| one == ANY || other == ANY || one == other;
            let mut list = self.lists[list as usize].iter();
            return list.any(|it| alike(it.0, peer) && alike(it.1, tag));
        }
        let line = self.lines[self.line(rank, peer)];
        self.waiting.of(line).any(|it| it.0 == tag)
    }

    /// Returns the items that still wait: rank and item, in the order of items.
    pub fn left(&self) -> Vec<(u32, u32)> {
        let mut left = Vec::new();
        for (rank, (bounds, &list)) in (0..).zip(self.first.windows(2).zip(&self.list)) {
            let lines = &self.lines[bounds[0] as usize..bounds[1] as usize];
            let waiting = lines.iter().flat_map(|&line| self.waiting.of(line));
            left.extend(waiting.map(|it| (rank, it.1)));
            let list = self.lists.get(list as usize);
            left.extend(list.into_iter().flatten().map(|it| (rank, it.2)));
        }
        left.sort_unstable_by_key(|it| it.1);
        left
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        let list = |list: &VecDeque<_>| list.capacity() * size_of::<(u32, u32, u32)>();
        size_of_val(&*self.list)
            + self.lists.iter().map(list).sum::<usize>()
            + size_of_val(&*self.first)
            + size_of_val(&*self.peers)
            + size_of_val(&*self.lines)
            + self.waiting.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, ScheduleBuilder};

    /// Two ranks; the first one, which both send to, uses wildcards if it is said so.
    fn matching(wild: bool) -> Matching {
        let mut builder = ScheduleBuilder::new();
        builder.add(Operation::receive(0, if wild { ANY } else { 0 }, 5)).unwrap();
        builder.end_rank().unwrap();
        builder.add(Operation::send(0, 0, 5)).unwrap();
        builder.end_rank().unwrap();
        Matching::new(&builder.finish(), false)
    }

    #[test]
    fn first_come_is_first_served_under_each_key() {
        for wild in [false, true] {
            let mut matching = matching(wild);
            for (peer, tag, item) in [(1, 5, 0), (0, 5, 1), (1, 5, 2), (1, 6, 3), (1, 5, 4)] {
                matching.wait(0, peer, tag, item);
            }
            let has =
                [(1, 5), (1, 6), (0, 5), (0, 6)].map(|(peer, tag)| matching.has(0, peer, tag));
            assert_eq!(has, [true, true, true, false]);
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
        let found = |item, examined| Some(Found { item, examined });
        assert_eq!(matching.search(0, ANY, 5), found(1, 2));
        assert_eq!(matching.search(0, 0, 7), found(3, 3));
        assert_eq!(matching.search(0, 1, 9), found(4, 3));
        assert_eq!(matching.search(0, ANY, ANY), found(0, 1));
        assert_eq!(matching.left(), [(0, 2)]);
    }
}
