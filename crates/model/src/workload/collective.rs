//! Operations of the collective subnetwork: broadcast, reduction, reduction with broadcast, barrier
//! (docs/model.md, "Collective subnetwork").
//!
//! All nodes of the operations begin them in one order. A node begins another one when less than
//! `outstanding` of those that it has begun are not done for it. A broadcast is done for its root
//! when the message has left, for the others when it has come; a reduction for its root when the
//! result has come, for the others when their operand has left; the other two for all when the
//! result has come.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Created, Message, MessageKind, Needs, Receipt, Wake, Workload, restored, saved};
use flitlab_base::narrow::narrow;
use flitlab_base::units::{Bytes, Picoseconds};
use flitlab_fabric::{Fabric, SpanningTree, TreeError};

/// The kind of an operation of the collective subnetwork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// A message of the root goes to all others.
    Broadcast,
    /// The root gets the combination of everybody's operands, its own included.
    Reduce,
    /// Everybody gets it.
    AllReduce,
    /// An all-reduce with operands of no payload.
    Barrier,
}

impl CollectiveKind {
    /// Whether operands go up the tree.
    pub fn goes_up(self) -> bool {
        self != Self::Broadcast
    }

    /// Whether packets go down the tree.
    pub fn goes_down(self) -> bool {
        self != Self::Reduce
    }
}

/// Operations of the collective subnetwork, as a user says it, bound to a fabric's terminals.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveSpec {
    /// The kind of all operations.
    pub kind: CollectiveKind,
    /// Payload of each operand; 0 of a barrier.
    pub message: Bytes,
    /// The roots of the operations in turn, as they are named; none for the first member.
    pub roots: Vec<u32>,
    /// The nodes that take part, as they are named; none for all.
    pub members: Vec<u32>,
    /// The number of operations, at least 1.
    pub rounds: u32,
    /// The most operations that a node may have begun and not finished, at least 1.
    pub outstanding: u32,
    /// When the first one begins.
    pub start: Picoseconds,
}

impl CollectiveSpec {
    /// The terminals that take part, ascending, of these that live.
    pub fn members_of(&self, live: impl Iterator<Item = u32>) -> Vec<u32> {
        if self.members.is_empty() {
            return live.collect();
        }
        let mut members = self.members.clone();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// The roots in turn, if these take part.
    pub fn roots_of(&self, members: &[u32]) -> Vec<u32> {
        if self.roots.is_empty() {
            return members.first().copied().into_iter().collect();
        }
        self.roots.clone()
    }

    /// A tree of all members from each of the roots in turn.
    ///
    /// # Errors
    /// If a member or a root has failed or can't be reached: the first such one.
    pub fn trees(&self, fabric: &Fabric) -> Result<Vec<SpanningTree>, TreeError> {
        let members = self.members_of(fabric.live_terminals());
        let roots = self.roots_of(&members).into_iter();
        roots.map(|root| SpanningTree::new(fabric, root, &members)).collect()
    }
}

/// How far a terminal has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    begun: u32,
    /// When operations ended each of which lets it begin another one that it has not begun,
    /// ascending. It is asked what it creates at a time when later ends are known already.
    ends: VecDeque<Picoseconds>,
}

/// How far the operations have come, of all terminals or of a range of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CollectiveState {
    progress: Vec<Progress>,
    /// By operation: when the last terminal was done with it, and how many are.
    finished: Vec<(Picoseconds, u32)>,
}

/// Operations under way.
#[derive(Clone, Debug)]
pub struct Collectives {
    /// The kind of all operations.
    pub kind: CollectiveKind,
    /// Payload of each operand.
    pub bytes: u64,
    /// The trees of the operations, in turn.
    pub trees: Arc<[SpanningTree]>,
    takes_part: Vec<bool>,
    rounds: u32,
    outstanding: u32,
    start: Picoseconds,
    state: CollectiveState,
}

impl Collectives {
    /// Nothing has begun, on a fabric of so many terminals. The operations go by these trees in
    /// turn, which have the same members; these take part.
    ///
    /// # Panics
    /// If there is no tree, or one whose root doesn't take part.
    pub fn new(spec: &CollectiveSpec, trees: Vec<SpanningTree>, terminals: u32) -> Self {
        let mut takes_part = vec![false; terminals as usize];
        trees[0].members.iter().for_each(|&member| takes_part[member as usize] = true);
        assert!(trees.iter().all(|tree| takes_part[tree.root() as usize]));
        Self {
            kind: spec.kind,
            bytes: spec.message.0,
            trees: trees.into(),
            takes_part,
            rounds: spec.rounds,
            outstanding: spec.outstanding,
            start: spec.start,
            state: CollectiveState {
                progress: vec![Progress::default(); terminals as usize],
                finished: vec![(Picoseconds::ZERO, 0); spec.rounds as usize],
            },
        }
    }

    /// Bytes that the operations of so many terminals take, about.
    pub fn memory_needed(terminals: u32) -> u64 {
        u64::from(terminals) * size_of::<Progress>() as u64
    }

    /// The terminals that take part, ascending.
    pub fn members(&self) -> &[u32] {
        &self.trees[0].members
    }

    /// How many messages come of an operation.
    pub fn receipts(&self) -> u64 {
        let members = self.members().len() as u64;
        match self.kind {
            CollectiveKind::Broadcast => members - 1,
            CollectiveKind::Reduce => 1,
            CollectiveKind::AllReduce | CollectiveKind::Barrier => members,
        }
    }

    /// The root of an operation.
    fn root(&self, operation: u32) -> u32 {
        self.trees[operation as usize % self.trees.len()].root()
    }

    /// Whether a terminal sends a message in an operation.
    fn sends(&self, terminal: u32, operation: u32) -> bool {
        self.kind.goes_up() || self.root(operation) == terminal
    }

    /// Whether a terminal gets one, which ends it for the terminal.
    fn receives(&self, terminal: u32, operation: u32) -> bool {
        match self.kind {
            CollectiveKind::Broadcast => self.root(operation) != terminal,
            CollectiveKind::Reduce => self.root(operation) == terminal,
            CollectiveKind::AllReduce | CollectiveKind::Barrier => true,
        }
    }

    /// From when on a terminal may begin another operation; `None` if only the end of one can let
    /// it.
    fn next_of_operations(&self, terminal: u32) -> Option<Picoseconds> {
        let Progress { begun, ends } = &self.state.progress[terminal as usize];
        if !self.takes_part[terminal as usize] || *begun >= self.rounds {
            return None;
        }
        if *begun < self.outstanding { Some(self.start) } else { ends.front().copied() }
    }

    fn end(&mut self, terminal: u32, operation: u32, now: Picoseconds) -> Wake {
        let next = self.next_of_operations(terminal);
        let ends = &mut self.state.progress[terminal as usize].ends;
        ends.insert(ends.partition_point(|&end| end <= now), now);
        let finished = &mut self.state.finished[operation as usize];
        *finished = (finished.0.max(now), finished.1 + 1);
        let is_sooner = self.next_of_operations(terminal) != next;
        if is_sooner { Wake::Terminal(terminal, now) } else { Wake::Nobody }
    }

    /// Whether the operations of which these are all parts are done; and when each was, in order.
    ///
    /// # Errors
    /// The first operation that isn't, and how many nodes are done with it, of how many.
    pub fn outcome<'c>(
        parts: impl Iterator<Item = &'c Self>,
    ) -> Result<Vec<Picoseconds>, (u32, u32, u32)> {
        let (mut finished, mut members) = (Vec::new(), 0);
        for part in parts {
            finished.resize(part.state.finished.len(), (Picoseconds::ZERO, 0));
            members = narrow(part.members().len());
            for (all, own) in finished.iter_mut().zip(&part.state.finished) {
                *all = (all.0.max(own.0), all.1 + own.1);
            }
        }
        match (0..).zip(&finished).find(|(_, done)| done.1 != members) {
            Some((operation, &(_, done))) => Err((operation, done, members)),
            None => Ok(finished.into_iter().map(|done| done.0).collect()),
        }
    }
}

impl Workload for Collectives {
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.next_of_operations(terminal)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        if self.next_of_operations(terminal).is_none_or(|next| next > now) {
            return (None, self.next_of_operations(terminal));
        }
        let progress = &mut self.state.progress[terminal as usize];
        let operation = progress.begun;
        progress.begun += 1;
        if operation >= self.outstanding {
            progress.ends.pop_front();
        }
        let kind = if self.kind.goes_up() { MessageKind::Operand } else { MessageKind::Broadcast };
        let message = Message {
            time: now,
            source: terminal,
            destination: self.root(operation),
            bytes: self.bytes,
            kind,
            tag: operation.into(),
            class: 0,
        };
        let message = self.sends(terminal, operation).then_some(message);
        (message, self.next_of_operations(terminal))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        each(MessageKind::Operand, self.bytes);
    }

    fn state(&self) -> Vec<u8> {
        saved(&self.state)
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let fits = restored::<CollectiveState>(state).filter(|state| {
            state.progress.len() == self.state.progress.len()
                && state.finished.len() == self.state.finished.len()
        });
        fits.map(|state| self.state = state).is_some()
    }

    fn needs(&self) -> Needs {
        Needs { receipts: true, ..Needs::default() }
    }

    fn wants_departure(&self, _: u64) -> bool {
        true
    }

    fn sent(&mut self, terminal: u32, operation: u64, now: Picoseconds) -> Wake {
        let operation = narrow(operation);
        if self.receives(terminal, operation) {
            return Wake::Nobody;
        }
        self.end(terminal, operation, now)
    }

    fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        self.end(terminal, narrow(receipt.tag), receipt.time)
    }

    fn collectives(&self) -> Option<&Collectives> {
        Some(self)
    }

    /// How many messages come of all operations.
    fn messages(&self) -> u64 {
        self.receipts() * u64::from(self.rounds)
    }

    fn memory(&self) -> usize {
        self.state.progress.len() * (size_of::<Progress>() + 1)
    }
}
