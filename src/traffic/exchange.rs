//! Finite workloads: each node sends a message to each partner of a pattern, step by step, as an MPI
//! benchmark does.
//!
//! Between steps a node waits for nothing, for its own message to have left and its partners' of the
//! same step to have come (`MPI_Sendrecv`), or for a barrier of all nodes. With reads it waits for its
//! own response only. The barrier itself costs a given latency and sends no packets.

use super::{Access, Between, ExchangeSpec, Kind, Message, Pattern, Wake};
use crate::topology::Fabric;
use crate::units::Picoseconds;

/// Where a terminal is in the exchange.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Its step, rounds included.
    step: u32,
    /// Whether its own message of the step is done.
    sent: bool,
}

/// An exchange under way.
#[derive(Clone, Debug)]
pub struct Exchange {
    pattern: Pattern,
    bytes: u64,
    kind: Kind,
    between: Between,
    steps: u32,
    /// Steps of all rounds.
    total: u32,
    /// Messages that are to come to each terminal in each step of its round and have not; steps
    /// outermost. Negative where those of the next round have come.
    missing: Vec<i32>,
    /// Messages that come to each terminal in each step of a round.
    expected: Vec<u16>,
    terminals: u32,
    live: Vec<u32>,
    progress: Vec<Progress>,
    /// Terminals that have not done the present step; for the barrier.
    busy: u32,
}

impl Exchange {
    /// Binds a specification to a fabric. `pattern` must be one with steps (see [`Pattern::steps`]).
    ///
    /// # Panics
    /// If the pattern draws its destinations at random.
    #[must_use]
    pub fn new(spec: &ExchangeSpec, pattern: Pattern, fabric: &Fabric) -> Self {
        let steps = pattern.steps().expect("the scenario has refused patterns without steps");
        let kind = match spec.access {
            Access::Write => Kind::Data,
            Access::Read { request } => Kind::Read { request: request.0 as u32 },
        };
        let terminals = fabric.terminals();
        let live: Vec<u32> = fabric.live_terminals().collect();
        let mut expected = vec![0u16; (steps * terminals) as usize];
        if kind == Kind::Data {
            for step in 0..steps {
                for partner in live.iter().filter_map(|&source| pattern.partner(source, step)) {
                    expected[(step * terminals + partner) as usize] += 1;
                }
            }
        }
        let mut exchange = Self {
            pattern,
            bytes: spec.message.0,
            kind,
            between: spec.between,
            steps,
            total: steps * spec.rounds,
            missing: expected.iter().map(|&count| i32::from(count)).collect(),
            expected,
            terminals,
            live,
            progress: vec![Progress::default(); terminals as usize],
            busy: 0,
        };
        for index in 0..exchange.live.len() {
            exchange.begin(exchange.live[index], 0);
        }
        exchange.settle();
        exchange
    }

    /// Messages of the whole exchange.
    #[must_use]
    pub fn messages(&self) -> u64 {
        let a_round: u64 = (0..self.steps)
            .map(|step| {
                self.live.iter().filter(|&&t| self.pattern.partner(t, step).is_some()).count()
                    as u64
            })
            .sum();
        a_round * u64::from(self.total.checked_div(self.steps).unwrap_or(0))
    }

    fn partner(&self, terminal: u32, step: u32) -> Option<u32> {
        self.pattern.partner(terminal, step % self.steps)
    }

    /// Puts a terminal at the start of a step, and counts the step before it for the next round.
    fn begin(&mut self, terminal: u32, step: u32) {
        if step > 0 {
            let before = self.place(terminal, step - 1);
            self.missing[before] += i32::from(self.expected[before]);
        }
        let sent = step >= self.total || self.partner(terminal, step).is_none();
        self.progress[terminal as usize] = Progress { step, sent };
    }

    /// Where a step of a terminal is counted.
    fn place(&self, terminal: u32, step: u32) -> usize {
        (step % self.steps * self.terminals + terminal) as usize
    }

    fn done(&self, terminal: u32) -> bool {
        let progress = self.progress[terminal as usize];
        progress.sent
            && (progress.step >= self.total
                || self.missing[self.place(terminal, progress.step)] <= 0)
    }

    /// Passes the steps in which nothing is to be done: of each terminal, or of all at a barrier.
    fn settle(&mut self) {
        match self.between {
            Between::Nothing => {}
            Between::Exchange => {
                for index in 0..self.live.len() {
                    self.pass(self.live[index]);
                }
            }
            Between::Barrier { .. } => self.pass_barriers(),
        }
    }

    /// Moves a terminal on to its first step with something left to do.
    fn pass(&mut self, terminal: u32) {
        while self.done(terminal) && self.progress[terminal as usize].step < self.total {
            self.begin(terminal, self.progress[terminal as usize].step + 1);
        }
    }

    /// Moves all terminals on to the first step in which any has something left to do.
    fn pass_barriers(&mut self) {
        loop {
            self.busy = self.live.iter().filter(|&&terminal| !self.done(terminal)).count() as u32;
            let step =
                self.live.first().map_or(self.total, |&first| self.progress[first as usize].step);
            if self.busy > 0 || step >= self.total {
                return;
            }
            for index in 0..self.live.len() {
                self.begin(self.live[index], step + 1);
            }
        }
    }

    pub(super) fn has_barriers(&self) -> bool {
        matches!(self.between, Between::Barrier { .. })
    }

    pub(super) fn first(&self, terminal: u32) -> Option<Picoseconds> {
        let any = match self.between {
            Between::Nothing => (0..self.steps).any(|step| self.partner(terminal, step).is_some()),
            _ => !self.progress[terminal as usize].sent,
        };
        any.then_some(0)
    }

    pub(super) fn create(&mut self, terminal: u32, now: Picoseconds, messages: &mut Vec<Message>) {
        let progress = self.progress[terminal as usize];
        let steps = match self.between {
            Between::Nothing => 0..self.total,
            _ if progress.sent => return,
            _ => progress.step..progress.step + 1,
        };
        messages.extend(steps.filter_map(|step| {
            let destination = self.partner(terminal, step)?;
            Some(Message {
                time: now,
                source: terminal,
                destination,
                bytes: self.bytes,
                kind: self.kind,
                tag: step,
            })
        }));
    }

    pub(super) fn sent(&mut self, terminal: u32, now: Picoseconds) -> Wake {
        if self.between == Between::Nothing {
            return Wake::Nobody;
        }
        self.progress[terminal as usize].sent = true;
        self.advance(terminal, now)
    }

    pub(super) fn received(&mut self, terminal: u32, step: u32, now: Picoseconds) -> Wake {
        if self.between == Between::Nothing {
            return Wake::Nobody;
        }
        let place = self.place(terminal, step);
        self.missing[place] -= 1;
        let present = step == self.progress[terminal as usize].step;
        if present && self.missing[place] == 0 { self.advance(terminal, now) } else { Wake::Nobody }
    }

    /// Moves on if a terminal's step is done.
    fn advance(&mut self, terminal: u32, now: Picoseconds) -> Wake {
        if !self.done(terminal) || self.progress[terminal as usize].step >= self.total {
            return Wake::Nobody;
        }
        if let Between::Barrier { latency } = self.between {
            self.busy -= 1;
            if self.busy > 0 {
                return Wake::Nobody;
            }
            self.pass_barriers();
            return Wake::All(now + latency);
        }
        self.pass(terminal);
        if self.progress[terminal as usize].sent { Wake::Nobody } else { Wake::Terminal(terminal) }
    }

    pub(super) fn memory(&self) -> usize {
        self.progress.len() * size_of::<Progress>()
            + self.expected.len() * size_of::<u16>()
            + self.missing.len() * size_of::<i32>()
    }
}
