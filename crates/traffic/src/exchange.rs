//! Finite workloads: each node sends a message to each partner of a pattern, step by step, as an
//! MPI benchmark does.
//!
//! Between steps a node waits for nothing, for its own message to have left and its partners' of
//! the same step to have come (`MPI_Sendrecv`), or for a barrier of all nodes. With reads it waits
//! for its own response only. The barrier itself costs a given latency and sends no packets.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Access, Between, Created, ExchangeSpec, Message, MessageKind, Needs, Pattern, Receipt, Wake,
    Workload, restored, saved,
};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_model::workload::boxed;

/// Where a terminal is in the exchange.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Progress {
    /// Its step, rounds included.
    step: u32,
    /// Whether its own message of the step is done.
    sent: bool,
}

/// An exchange under way, of all terminals or of a range of them.
#[derive(Clone, Debug)]
pub struct Exchange {
    pattern: Pattern,
    bytes: u64,
    kind: MessageKind,
    between: Between,
    steps: u32,
    /// Steps of all rounds.
    total: u32,
    /// How many terminals of the whole network send in each step of a round.
    senders: Vec<u32>,
    /// Messages that are to come to each terminal in each step of its round and have not; steps
    /// outermost. Negative where those of the next round have come.
    missing: Vec<i32>,
    /// Messages that come to each terminal in each step of a round.
    expected: Vec<u32>,
    /// The terminals whose progress is kept here.
    terminals: Range<u32>,
    live: Vec<u32>,
    progress: Vec<Progress>,
    barrier: Barrier,
}

/// The state of the next barrier.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Barrier {
    /// The step before it.
    step: u32,
    /// Terminals that have not come to it.
    busy: u32,
    /// When the last of those that have come came.
    latest: Picoseconds,
}

impl Exchange {
    /// Binds a specification to a fabric. `pattern` must be one with steps (see
    /// [`Pattern::steps`]).
    ///
    /// # Panics
    /// If the pattern draws its destinations at random.
    pub fn new(spec: &ExchangeSpec, pattern: Pattern, fabric: &Fabric) -> Self {
        let steps = pattern.steps().expect("the scenario has refused patterns without steps");
        let kind = match spec.access {
            Access::Write => MessageKind::Data,
            Access::Read { request } => MessageKind::Read { request: narrow(request.0) },
        };
        let terminals = fabric.terminals();
        let live: Vec<u32> = fabric.live_terminals().collect();
        let mut senders = vec![0; steps as usize];
        let mut expected = vec![0u32; steps as usize * terminals as usize];
        for step in 0..steps {
            let row = step as usize * terminals as usize;
            for partner in live.iter().filter_map(|&source| pattern.partner(source, step)) {
                senders[step as usize] += 1;
                if kind == MessageKind::Data {
                    expected[row + partner as usize] += 1;
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
            senders,
            missing: expected.iter().map(|&count| count.cast_signed()).collect(),
            expected,
            terminals: 0..terminals,
            live,
            progress: vec![Progress::default(); terminals as usize],
            barrier: Barrier::default(),
        };
        for index in 0..exchange.live.len() {
            exchange.begin(exchange.live[index], 0);
        }
        exchange.settle();
        exchange
    }

    /// Bytes that an exchange of so many steps a round takes at its beginning, about: twice two
    /// numbers for each step of each terminal, since they are parted among threads; and where
    /// nothing is waited for, a cache line for each message, of which all are queued then.
    pub fn memory_needed(spec: &ExchangeSpec, steps: u32, terminals: u32) -> u64 {
        let counted = u64::from(steps).saturating_mul(u64::from(terminals));
        let queued = match spec.between {
            Between::Nothing => counted.saturating_mul(u64::from(spec.rounds)),
            Between::Exchange | Between::Barrier { .. } => 0,
        };
        counted.saturating_mul(16).saturating_add(queued.saturating_mul(64))
    }

    fn partner(&self, terminal: u32, step: u32) -> Option<u32> {
        self.pattern.partner(terminal, step % self.steps)
    }

    /// Puts a terminal at the start of a step, and counts the step before it for the next round.
    fn begin(&mut self, terminal: u32, step: u32) {
        if step > 0 {
            let before = self.place(terminal, step - 1);
            self.missing[before] += self.expected[before].cast_signed();
        }
        let sent = step >= self.total || self.partner(terminal, step).is_none();
        *self.progress_mut(terminal) = Progress { step, sent };
    }

    fn progress(&self, terminal: u32) -> Progress {
        self.progress[(terminal - self.terminals.start) as usize]
    }

    fn progress_mut(&mut self, terminal: u32) -> &mut Progress {
        &mut self.progress[(terminal - self.terminals.start) as usize]
    }

    /// Where a step of a terminal is counted.
    fn place(&self, terminal: u32, step: u32) -> usize {
        (step % self.steps) as usize * self.terminals.len()
            + (terminal - self.terminals.start) as usize
    }

    fn done(&self, terminal: u32) -> bool {
        let progress = self.progress(terminal);
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
            Between::Barrier { .. } => self.begin_all(0),
        }
    }

    /// Moves a terminal on to its first step with something left to do.
    fn pass(&mut self, terminal: u32) {
        while self.done(terminal) && self.progress(terminal).step < self.total {
            self.begin(terminal, self.progress(terminal).step + 1);
        }
    }

    /// Puts all terminals at the start of a step, or of the first after it in which any terminal of
    /// the whole network has something to do.
    fn begin_all(&mut self, mut step: u32) {
        loop {
            for index in 0..self.live.len() {
                self.begin(self.live[index], step);
            }
            if step >= self.total || self.senders[(step % self.steps) as usize] > 0 {
                break;
            }
            step += 1;
        }
        self.barrier = Barrier { step, busy: self.busy(), latest: Picoseconds::ZERO };
    }

    /// Terminals that have not done their present step.
    fn busy(&self) -> u32 {
        narrow(self.live.iter().filter(|&&terminal| !self.done(terminal)).count())
    }

    /// Moves on if a terminal's step is done.
    fn advance(&mut self, terminal: u32, now: Picoseconds) -> Wake {
        if !self.done(terminal) || self.progress(terminal).step >= self.total {
            return Wake::Nobody;
        }
        if let Between::Barrier { .. } = self.between {
            self.barrier.busy -= 1;
            self.barrier.latest = self.barrier.latest.max(now);
            return if self.barrier.busy > 0 { Wake::Nobody } else { Wake::All };
        }
        self.pass(terminal);
        if self.progress(terminal).sent { Wake::Nobody } else { Wake::Terminal(terminal, now) }
    }
}

impl Workload for Exchange {
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        let any = match self.between {
            Between::Nothing => (0..self.steps).any(|step| self.partner(terminal, step).is_some()),
            _ => !self.progress(terminal).sent,
        };
        any.then_some(Picoseconds::ZERO)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let Progress { step, sent } = self.progress(terminal);
        let partner = |step| Some((step, self.partner(terminal, step)?));
        let found = match self.between {
            // The steps behind it follow at once.
            Between::Nothing => (step..self.total).find_map(partner),
            _ if sent => None,
            _ => partner(step),
        };
        let message = found.map(|(step, destination)| Message {
            time: now,
            source: terminal,
            destination,
            bytes: self.bytes,
            kind: self.kind,
            tag: step.into(),
            class: 0,
        });
        if self.between != Between::Nothing {
            return (message, None);
        }
        self.progress_mut(terminal).step = found.map_or(self.total, |(step, _)| step + 1);
        (message, message.map(|_| now))
    }

    fn needs(&self) -> Needs {
        let ahead = self.barrier_latency().is_some();
        Needs { receipts: true, ahead, ..Needs::default() }
    }

    fn wants_departure(&self, _: u64) -> bool {
        true
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        each(self.kind, self.bytes);
    }

    fn state(&self) -> Vec<u8> {
        saved(&(&self.missing, &self.progress, self.barrier))
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some((missing, progress, barrier)) = restored::<(Vec<_>, Vec<_>, _)>(state) else {
            return false;
        };
        let fits = missing.len() == self.missing.len() && progress.len() == self.progress.len();
        if fits {
            (self.missing, self.progress, self.barrier) = (missing, progress, barrier);
        }
        fits
    }

    fn split(mut self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let (missing, expected) =
            (std::mem::take(&mut self.missing), std::mem::take(&mut self.expected));
        let (progress, live) = (std::mem::take(&mut self.progress), std::mem::take(&mut self.live));
        let all = progress.len();
        boxed(terminals.iter().map(|range| {
            let places = range.start as usize..range.end as usize;
            let mut part = Self {
                missing: columns(&missing, all, &places),
                expected: columns(&expected, all, &places),
                progress: progress[places].to_vec(),
                live: live.iter().copied().filter(|terminal| range.contains(terminal)).collect(),
                terminals: range.clone(),
                ..(*self).clone()
            };
            part.barrier.busy = part.busy();
            part
        }))
    }

    fn sent(&mut self, terminal: u32, _: u64, now: Picoseconds) -> Wake {
        if self.between == Between::Nothing {
            return Wake::Nobody;
        }
        self.progress_mut(terminal).sent = true;
        self.advance(terminal, now)
    }

    fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        if self.between == Between::Nothing {
            return Wake::Nobody;
        }
        let step = narrow(receipt.tag);
        let place = self.place(terminal, step);
        self.missing[place] -= 1;
        let present = step == self.progress(terminal).step;
        if present && self.missing[place] == 0 {
            self.advance(terminal, receipt.time)
        } else {
            Wake::Nobody
        }
    }

    fn barrier_latency(&self) -> Option<Picoseconds> {
        match self.between {
            Between::Barrier { latency } => Some(latency),
            Between::Nothing | Between::Exchange => None,
        }
    }

    fn at_barrier(&self) -> Option<Picoseconds> {
        self.barrier_latency()?;
        let Barrier { step, busy, latest } = self.barrier;
        (busy == 0 && step < self.total).then_some(latest)
    }

    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        self.begin_all(self.barrier.step + 1);
        latest + self.barrier_latency().unwrap_or(Picoseconds::ZERO)
    }

    /// Messages of the whole exchange.
    fn messages(&self) -> u64 {
        let a_round: u64 = self.senders.iter().copied().map(u64::from).sum();
        a_round * u64::from(self.total.checked_div(self.steps).unwrap_or(0))
    }

    fn memory(&self) -> usize {
        self.progress.len() * size_of::<Progress>()
            + self.expected.len() * size_of::<u32>()
            + self.missing.len() * size_of::<i32>()
    }
}

/// Some columns of a table whose rows are so long.
fn columns<T: Copy>(table: &[T], length: usize, columns: &Range<usize>) -> Vec<T> {
    table.chunks(length.max(1)).flat_map(|row| &row[columns.clone()]).copied().collect()
}
