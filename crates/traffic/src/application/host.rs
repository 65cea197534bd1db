//! A rank's streams and their jobs; eager and rendezvous messages.

mod look;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::event::{Agenda, Happening};
use super::order::{Order, Pairs};
use super::record::{Job, JobKind, Leg, LegKind, Records, RoomWait};
use super::spec::{AdapterTimes, Answer, ApplicationSpec, HostParameters};
use super::stream::{Stream, Streams, Task};
use crate::{
    Created, Message, MessageKind, Needs, Receipt, Wake, Workload, message_kind, restored, saved,
};
use flitlab_application::{
    ANY, Action, Found, Line, Lines, Matching, Operation, Schedule, Stuck, Until,
};
use flitlab_base::mix::Mix;
use flitlab_base::narrow::{narrow, try_rounded};
use flitlab_base::prefetch::{Stage, prefetch};
use flitlab_base::units::{Picoseconds, Rate};

/// Of more operations it is not kept when they were done: it would fill the memory.
const MAX_RECORDED: usize = 20_000_000;

/// Bytes that an operation, a job and a leg take while it is explained where the time went, by experiment:
/// places by number, and keys to sort by, beside records that are gathered from those of each part.
const EXPLAINED_OPERATION: usize = 96;
const EXPLAINED_JOB: usize = 2 * size_of::<Job>() + 40;
const EXPLAINED_LEG: usize = 2 * size_of::<Leg>() + 8;

/// A node: what happens at it, and what it is about to give to its adapter.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Host {
    agenda: Agenda,
    /// Messages in [`ApplicationState::outgoing`].
    outbox: Line,
    /// When its adapter takes the next message.
    send_free: Picoseconds,
    /// The streams of its ranks.
    streams: u32,
    /// How many of its ranks' streams neither do anything nor wait for the adapter.
    idle: u32,
}

/// How far an application has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ApplicationState {
    /// By terminal.
    hosts: Vec<Host>,
    outgoing: Lines<Message>,
    streams: Streams,
    /// By operation: what it still waits for.
    waits: Vec<u32>,
    receipts: Matching,
    unexpected: Matching,
    /// For a large message that may come, by its operation: the receipt that waits for it.
    promised: HashMap<u32, u32, BuildHasherDefault<Mix>>,
    order: Order,
    /// By rank: when the last of its operations ended.
    finished: Vec<Picoseconds>,
    ended: u64,
    /// When the latest of what happened so far did.
    latest: Picoseconds,
    records: Option<Records>,
}

/// An application under way.
#[derive(Clone, Debug)]
pub struct Application {
    schedule: Arc<Schedule>,
    host: HostParameters,
    /// The terminal of each rank.
    terminals: Arc<[u32]>,
    /// Ranks by terminal: terminal and rank.
    ranks: Arc<[(u32, u32)]>,
    /// By rank: its first stream.
    first_stream: Arc<[u32]>,
    pairs: Arc<Pairs>,
    /// For how long a stream works at least on what it gives to the adapter; `None` if adapters
    /// answer by themselves.
    lead: Option<Picoseconds>,
    /// Whether any messages are so large that they wait until they may come.
    asks: bool,
    /// Whether there are one-sided operations.
    is_one_sided: bool,
    state: ApplicationState,
}

/// A message's tag: how many messages its rank had sent to the other before, its operation, and
/// which leg it is.
fn tag(number: u32, operation: u32, kind: LegKind) -> u64 {
    u64::from(number) << 32 | u64::from(operation) << 3 | (kind as u64 + 1)
}

/// The parts of a [`tag`].
fn parts(tag: u64) -> (u32, u32, LegKind) {
    const KINDS: [LegKind; 6] = [
        LegKind::Eager,
        LegKind::Ask,
        LegKind::Answer,
        LegKind::Data,
        LegKind::Finish,
        LegKind::Request,
    ];
    let kind = KINDS[narrow::<usize>((tag & 7) - 1)];
    (narrow(tag >> 32), narrow((tag & u64::from(u32::MAX)) >> 3), kind)
}

/// Returns the time of `bytes` at a rate; zero without one.
fn time_of(bytes: u64, rate: Option<Rate>) -> Picoseconds {
    rate.map_or(Picoseconds::ZERO, |rate| {
        Picoseconds::from_wide(u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(rate.0))
    })
}

impl Application {
    /// Nothing has begun. `places` are the terminals of the ranks, of `terminals` that there are.
    /// With `records` all that is done is kept: some 50 bytes an operation and 40 a message.
    ///
    /// # Panics
    /// If there are not as many places as ranks.
    pub fn new(spec: &ApplicationSpec, places: &[u32], terminals: u32, records: bool) -> Self {
        let schedule = &*spec.schedule;
        assert_eq!(places.len(), schedule.ranks() as usize, "a terminal for each rank");
        let mut ranks: Vec<_> = places.iter().copied().zip(0..).collect();
        ranks.sort_unstable();
        let mut streams = Streams::new();
        let mut first_stream = Vec::with_capacity(ranks.len());
        for rank in 0..schedule.ranks() {
            first_stream.push(narrow(streams.count()));
            let numbers = schedule.of_rank(rank).map(|it| schedule.operation(it).stream);
            let last = numbers.max().unwrap_or(0);
            streams.grow(rank, usize::from(last) + 1);
        }
        let all = narrow::<u32>(schedule.operations().len());
        let pairs = Pairs::new(schedule);
        let receipts = Matching::new(schedule, spec.host.match_time > Picoseconds::ZERO);
        let host = Host {
            agenda: Agenda::default(),
            outbox: Line::EMPTY,
            send_free: Picoseconds::ZERO,
            streams: 0,
            idle: 0,
        };
        let mut hosts = vec![host; terminals as usize];
        for (rank, &place) in places.iter().enumerate() {
            let end = first_stream.get(rank + 1).copied().unwrap_or(narrow(streams.count()));
            let host = &mut hosts[place as usize];
            host.streams += end - first_stream[rank];
            host.idle = host.streams;
        }
        let is_large =
            |it: &Operation| it.action == Action::Send && it.amount > spec.host.eager_limit.0;
        let asks = schedule.operations().any(is_large);
        let is_remote = |it: &Operation| matches!(it.action, Action::Remote(_));
        Self {
            schedule: Arc::clone(&spec.schedule),
            host: spec.host.clone(),
            terminals: places.into(),
            ranks: ranks.into(),
            first_stream: first_stream.into(),
            lead: (!asks || spec.host.answer == Answer::Processor)
                .then_some(spec.host.send_overhead),
            asks,
            is_one_sided: schedule.operations().any(is_remote),
            state: ApplicationState {
                hosts,
                outgoing: Lines::default(),
                streams,
                waits: (0..all).map(|number| schedule.waits(number)).collect(),
                unexpected: receipts.clone(),
                receipts,
                promised: HashMap::default(),
                order: Order::new(&pairs),
                finished: vec![Picoseconds::ZERO; schedule.ranks() as usize],
                ended: 0,
                latest: Picoseconds::ZERO,
                records: records.then(Records::default),
            },
            pairs: pairs.into(),
        }
    }

    /// Whether there is room for what would be kept of each operation.
    pub fn keeps_records(spec: &ApplicationSpec) -> bool {
        spec.schedule.operations().len() <= MAX_RECORDED
    }

    /// Bytes that it takes at the most, on a fabric of so many terminals, about.
    pub fn memory_needed(spec: &ApplicationSpec, terminals: u32) -> u64 {
        let operations = spec.schedule.operations().len() * (2 * size_of::<u32>() + 16);
        let ranks = spec.schedule.ranks() as usize * (2 * size_of::<Stream>() + 16);
        let hosts = terminals as usize * size_of::<Host>();
        (operations + ranks + hosts) as u64 + Self::memory_of_records(spec)
    }

    /// Bytes of the records of all that it does, and of what explains them, about.
    pub fn memory_of_records(spec: &ApplicationSpec) -> u64 {
        if !Self::keeps_records(spec) {
            return 0;
        }
        let bytes = spec.schedule.operations().map(|it| {
            let (jobs, legs) = match it.action {
                // It asks, is answered, and goes.
                Action::Send if it.amount > spec.eager_limit() => (3, 3),
                Action::Send => (1, 1),
                Action::Receive => (2, 0),
                Action::Compute => (1, 0),
                Action::Remote(_) => (1, 2),
            };
            EXPLAINED_OPERATION + jobs * EXPLAINED_JOB + legs * EXPLAINED_LEG
        });
        bytes.sum::<usize>() as u64
    }

    /// The ranks at a terminal.
    fn ranks_at(&self, terminal: u32) -> impl Iterator<Item = u32> + use<> {
        let first = self.ranks.partition_point(|it| it.0 < terminal);
        let ranks = Arc::clone(&self.ranks);
        (first..ranks.len())
            .map(move |at| ranks[at])
            .take_while(move |it| it.0 == terminal)
            .map(|it| it.1)
    }

    fn arrive(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        self.note(terminal, now, Happening::Arrive { tag })
    }

    /// The answer to a one-sided operation of a terminal's rank is there at `now`. The rank learns of
    /// it a receive overhead later, for which no stream is busy.
    fn answered(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        self.note(terminal, now + self.host.receive_overhead, Happening::Left { tag })
    }

    /// The operation of a message with this tag that a terminal receives, and which leg it is.
    fn leg_at(&self, terminal: u32, tag: u64) -> (u32, LegKind) {
        let (_, operation, kind) = parts(tag);
        let initiator = self.terminals[self.schedule.rank_of(operation) as usize];
        let is_response = kind == LegKind::Request && initiator == terminal;
        (operation, if is_response { LegKind::Response } else { kind })
    }

    fn happen(&mut self, terminal: u32, happening: Happening, now: Picoseconds) {
        match happening {
            Happening::Resume { stream } => {
                self.state.streams.at(stream).is_held = false;
                self.state.hosts[terminal as usize].idle += 1;
                self.state.streams.go_on(stream);
            }
            Happening::End { stream, .. } => {
                let &mut Stream { rank, ref mut running, .. } = self.state.streams.at(stream);
                let (task, start) = running.take().expect("it has just ended");
                self.state.hosts[terminal as usize].idle += 1;
                self.finish(terminal, rank, task, start, now);
                self.state.streams.go_on(stream);
            }
            Happening::Left { tag } => {
                let (_, operation, _) = parts(tag);
                let rank = self.schedule.rank_of(operation);
                self.done(operation, rank, now);
            }
            Happening::Depart { tag } => self.give(terminal, tag, now),
            Happening::Arrive { tag } => self.take_in(terminal, tag, now),
        }
    }

    /// A message, or what was said of one, is there.
    fn take_in(&mut self, terminal: u32, tag: u64, now: Picoseconds) {
        let (number, operation, kind) = parts(tag);
        let sender = self.schedule.rank_of(operation);
        let rank = self.schedule.operation(operation).peer;
        match kind {
            LegKind::Eager | LegKind::Ask => {
                let pair = self.pairs.of(operation);
                let come = self.state.order.come(pair, number, operation);
                let mut turn = come.then_some(operation);
                while let Some(message) = turn {
                    let tag = self.schedule.operation(message).tag;
                    match self.state.receipts.search(rank, sender, tag) {
                        Some(found) => self.matched(terminal, found, message, false, now),
                        None => self.state.unexpected.wait(rank, sender, tag, message),
                    }
                    turn = self.state.order.take_early(pair);
                }
            }
            LegKind::Answer => match self.host.answer {
                Answer::Adapter | Answer::Get(_) => {
                    self.leave(terminal, operation, LegKind::Data, now);
                }
                Answer::Processor => {
                    self.add(sender, Task::of(JobKind::Go, operation, operation, now));
                }
            },
            LegKind::Data => {
                let receipt = self.state.promised.remove(&operation).expect("it was asked for");
                self.add(rank, Task::of(JobKind::Take, receipt, operation, now));
            }
            LegKind::Finish => self.done(operation, sender, now),
            LegKind::Request | LegKind::Response => {
                unreachable!("adapters deal with one-sided operations")
            }
        }
    }

    /// A receipt has found its message, or what asks for it.
    fn matched(
        &mut self,
        terminal: u32,
        Found { item: receipt, examined }: Found,
        message: u32,
        is_copy: bool,
        now: Picoseconds,
    ) {
        let bytes = self.schedule.operation(message).amount;
        let rank = self.schedule.operation(message).peer;
        if bytes <= self.host.eager_limit.0 {
            let task = Task::of(JobKind::Take, receipt, message, now);
            return self.add(rank, Task { is_copy, examined, ..task });
        }
        self.state.promised.insert(message, receipt);
        match self.host.answer {
            Answer::Adapter => self.leave(terminal, message, LegKind::Answer, now),
            Answer::Processor | Answer::Get(_) => {
                let task = Task::of(JobKind::Answer, receipt, message, now);
                self.add(rank, Task { examined, ..task });
            }
        }
    }

    /// Gives the stream of one of a rank's operations something to do.
    fn add(&mut self, rank: u32, task: Task) {
        let number = u32::from(self.schedule.operation(task.operation).stream);
        self.state.streams.add(self.first_stream[rank as usize] + number, task);
    }

    /// Has streams that are idle begin what they have to do.
    fn run_streams(&mut self, terminal: u32, now: Picoseconds) {
        while let Some(number) = self.state.streams.next() {
            while let Some(task) = self.state.streams.first_task(number) {
                let action = self.schedule.operation(task.operation).action;
                let is_send = task.kind == JobKind::Begin
                    && matches!(action, Action::Send | Action::Remote(_));
                let host = &mut self.state.hosts[terminal as usize];
                if is_send && host.send_free > now {
                    self.state.streams.at(number).is_held = true;
                    host.idle -= 1;
                    host.agenda.add(host.send_free, Happening::Resume { stream: number });
                    break;
                }
                if is_send {
                    host.send_free = now + self.host.gap;
                }
                self.state.streams.take_task(number);
                let rank = self.state.streams.at(number).rank;
                if task.kind == JobKind::Begin && self.schedule.any_waits_for_begun() {
                    self.free(task.operation, Until::Begun, rank, now);
                }
                if task.kind == JobKind::Take && self.is_fetched(task.cause) {
                    self.leave(terminal, task.cause, LegKind::Finish, now);
                }
                let busy = self.time_of(task);
                if busy == Picoseconds::ZERO {
                    self.finish(terminal, rank, task, now, now);
                    continue;
                }
                self.state.streams.at(number).running = Some((task, now));
                let gives = is_send || matches!(task.kind, JobKind::Answer | JobKind::Go);
                let end = Happening::End { stream: number, operation: task.operation, gives };
                let host = &mut self.state.hosts[terminal as usize];
                host.idle -= 1;
                host.agenda.add(now + busy, end);
                break;
            }
        }
    }

    /// Whether a message is fetched by its receiver's adapter.
    fn is_fetched(&self, message: u32) -> bool {
        self.host.remote_read(self.schedule.operation(message).amount).is_some()
    }

    /// For how long a stream is busy with something.
    fn time_of(&self, task: Task) -> Picoseconds {
        let host = &self.host;
        let operation = self.schedule.operation(task.operation);
        let per_byte = |bytes: u64| match host.overhead_per_byte {
            0.0 => Picoseconds::ZERO,
            each => {
                let all = bytes.saturating_sub(1) as f64 * each;
                try_rounded(all).unwrap_or(Picoseconds::BEYOND)
            }
        };
        // What is fetched is registered, and not copied.
        let registration =
            |bytes: u64| host.remote_read(bytes).map(|read| read.registration_of(bytes));
        let match_time = host.match_time * u64::from(task.examined);
        match task.kind {
            JobKind::Begin => match operation.action {
                Action::Compute => Picoseconds::NANOSECOND * operation.amount,
                Action::Send => {
                    let bytes = operation.amount;
                    host.send_overhead + registration(bytes).unwrap_or_else(|| per_byte(bytes))
                }
                Action::Receive => registration(operation.amount).unwrap_or(Picoseconds::ZERO),
                // The adapter fetches what is put.
                Action::Remote(_) => host.send_overhead,
            },
            JobKind::Take => {
                let bytes = self.schedule.operation(task.cause).amount;
                if let Some(release) = registration(bytes) {
                    return release;
                }
                let copy =
                    if task.is_copy { time_of(bytes, host.copy_rate) } else { Picoseconds::ZERO };
                match_time + host.receive_overhead + per_byte(bytes) + copy
            }
            JobKind::Answer if matches!(host.answer, Answer::Get(_)) => {
                match_time + host.receive_overhead
            }
            JobKind::Answer => match_time + host.send_overhead,
            JobKind::Go => host.send_overhead,
        }
    }

    /// A stream is done with something.
    fn finish(
        &mut self,
        terminal: u32,
        rank: u32,
        task: Task,
        start: Picoseconds,
        now: Picoseconds,
    ) {
        let Task { kind, operation: number, cause, ready, .. } = task;
        if let Some(records) = &mut self.state.records {
            records.jobs.push(Job { operation: number, cause, kind, ready, start, end: now });
        }
        match kind {
            JobKind::Take => self.done(number, rank, now),
            JobKind::Answer => self.leave(terminal, cause, LegKind::Answer, now),
            JobKind::Go => self.leave(terminal, number, LegKind::Data, now),
            JobKind::Begin => {
                let operation = *self.schedule.operation(number);
                match operation.action {
                    Action::Compute => self.done(number, rank, now),
                    Action::Send if operation.amount <= self.host.eager_limit.0 => {
                        self.leave(terminal, number, LegKind::Eager, now);
                        self.done(number, rank, now);
                    }
                    Action::Send => self.leave(terminal, number, LegKind::Ask, now),
                    Action::Remote(_) => self.leave(terminal, number, LegKind::Request, now),
                    Action::Receive => {
                        let (peer, tag) = (operation.peer, operation.tag);
                        match self.state.unexpected.search(rank, peer, tag) {
                            Some(Found { item: message, examined }) => {
                                let found = Found { item: number, examined };
                                self.matched(terminal, found, message, true, now);
                            }
                            None => self.state.receipts.wait(rank, peer, tag, number),
                        }
                    }
                }
            }
        }
    }

    /// A message, or what is said of one, goes to the adapter, or through the node's memory.
    fn leave(&mut self, terminal: u32, operation: u32, kind: LegKind, now: Picoseconds) {
        let number = match kind {
            LegKind::Eager | LegKind::Ask => self.state.order.next(self.pairs.of(operation)),
            _ => 0,
        };
        let tag = tag(number, operation, kind);
        let (destination, bytes) = self.addressed(operation, kind);
        let host = &self.host;
        if destination != terminal {
            let departure = host.departure(kind);
            if departure == Picoseconds::ZERO {
                return self.give(terminal, tag, now);
            }
            let agenda = &mut self.state.hosts[terminal as usize].agenda;
            return agenda.add(now + departure, Happening::Depart { tag });
        }
        let delivered = now + host.memory_latency + time_of(bytes, Some(host.memory_rate));
        let is_remote = kind == LegKind::Request;
        let kind = if is_remote { LegKind::Response } else { kind };
        if let Some(records) = &mut self.state.records {
            let (entered, injected) = (now, now);
            records.legs.push(Leg {
                operation,
                kind,
                hops: 0,
                sequence: 0,
                channel: 0,
                in_memory: true,
                entered,
                injected,
                delivered,
            });
        }
        if is_remote {
            self.answered(terminal, tag, delivered);
            return;
        }
        self.arrive(terminal, tag, delivered);
        if self.wants_departure(tag) {
            self.sent(terminal, tag, delivered);
        }
    }

    /// The terminal that a leg of a message goes to, and its payload.
    fn addressed(&self, operation: u32, kind: LegKind) -> (u32, u64) {
        let it = *self.schedule.operation(operation);
        let control = self.host.control_message.0;
        let (rank, bytes) = match kind {
            LegKind::Eager | LegKind::Data => (it.peer, it.amount),
            LegKind::Ask => (it.peer, control),
            LegKind::Answer | LegKind::Finish => (self.schedule.rank_of(operation), control),
            // The engine knows the size of the request by the kind of the message.
            LegKind::Request => (it.peer, it.amount),
            LegKind::Response => unreachable!("the target's adapter answers"),
        };
        (self.terminals[rank as usize], bytes)
    }

    /// A message to another terminal enters the source queue.
    fn give(&mut self, terminal: u32, tag: u64, now: Picoseconds) {
        let (_, operation, kind) = parts(tag);
        let (destination, bytes) = self.addressed(operation, kind);
        let kind = match self.schedule.operation(operation).action {
            Action::Remote(remote) => message_kind(remote, bytes, self.host.control_message.0),
            _ => MessageKind::Data,
        };
        let message =
            Message { time: now, source: terminal, destination, bytes, kind, tag, class: 0 };
        let ApplicationState { hosts, outgoing, .. } = &mut self.state;
        outgoing.push_back(&mut hosts[terminal as usize].outbox, message);
    }

    /// An operation has ended.
    fn done(&mut self, operation: u32, rank: u32, now: Picoseconds) {
        self.state.ended += 1;
        let finished = &mut self.state.finished[rank as usize];
        *finished = (*finished).max(now);
        self.free(operation, Until::Done, rank, now);
    }

    /// Readies the operations that waited for this and nothing else.
    fn free(&mut self, operation: u32, happened: Until, rank: u32, now: Picoseconds) {
        let Self { schedule, first_stream, state, .. } = self;
        for (dependant, until) in schedule.dependants(operation) {
            if until != happened {
                continue;
            }
            let waits = &mut state.waits[dependant as usize];
            *waits -= 1;
            if *waits == 0 {
                let number = u32::from(schedule.operation(dependant).stream);
                let task = Task::begin(dependant, operation, now);
                state.streams.add(first_stream[rank as usize] + number, task);
            }
        }
    }

    /// Returns the outcome of an application from all its parts, each of which had some of the
    /// terminals.
    ///
    /// # Errors
    /// If operations are left that can't go on.
    pub fn outcome<'a>(parts: impl Iterator<Item = &'a Self>) -> Result<Outcome, Stuck> {
        let mut outcome = Outcome::default();
        let (mut receipts, mut messages) = (Vec::new(), Vec::new());
        let (mut ended, mut latest) = (0, Picoseconds::ZERO);
        let parts: Vec<_> = parts.collect();
        for part in &parts {
            let state = &part.state;
            ended += state.ended;
            latest = latest.max(state.latest);
            outcome.finished.resize(state.finished.len(), Picoseconds::ZERO);
            for (all, own) in outcome.finished.iter_mut().zip(&state.finished) {
                *all = (*all).max(*own);
            }
            receipts.extend(state.receipts.left().into_iter().map(|it| it.1));
            messages.extend(state.unexpected.left().into_iter().map(|it| it.1));
            if let Some(records) = &state.records {
                outcome.records.jobs.extend_from_slice(&records.jobs);
                outcome.records.legs.extend_from_slice(&records.legs);
                outcome.records.waits.extend_from_slice(&records.waits);
            }
        }
        let Some(Self { schedule, host, .. }) = parts.first().copied() else {
            return Ok(outcome);
        };
        if ended == schedule.operations().len() as u64 && messages.is_empty() {
            return Ok(outcome);
        }
        let mut stuck = Stuck { time: latest, receipts, messages, ..Stuck::new(schedule) };
        for part in parts {
            // Each part alone knows the events at its terminals.
            for (all, &own) in stuck.waits.iter_mut().zip(&part.state.waits) {
                *all = (*all).min(own);
            }
        }
        let is_large = |&it: &u32| schedule.operation(it).amount > host.eager_limit.0;
        stuck.unsent = stuck.messages.iter().copied().filter(is_large).collect();
        for job in outcome.records.jobs.iter().filter(|job| job.kind == JobKind::Take) {
            stuck.taken_by[job.cause as usize] = job.operation;
        }
        Err(stuck)
    }
}

impl Workload for Application {
    /// Readies all operations of a terminal's ranks that wait for nothing. When the terminal has
    /// something to do.
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        let mut any = false;
        for rank in self.ranks_at(terminal) {
            for number in self.schedule.of_rank(rank) {
                if self.schedule.waits(number) == 0 {
                    let stream = u32::from(self.schedule.operation(number).stream);
                    let stream = self.first_stream[rank as usize] + stream;
                    self.state.streams.add(stream, Task::begin(number, ANY, Picoseconds::ZERO));
                    any = true;
                }
            }
        }
        self.run_streams(terminal, Picoseconds::ZERO);
        any.then_some(Picoseconds::ZERO)
    }

    /// The next message that a terminal gives to its adapter at `now`, if there is one, and when to
    /// ask again.
    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        self.run_until(terminal, now);
        let ApplicationState { hosts, outgoing, .. } = &mut self.state;
        let host = &mut hosts[terminal as usize];
        let message = outgoing.pop_front(&mut host.outbox);
        let next = if host.outbox.is_empty() { self.next_given(terminal) } else { now };
        (message, ever(next))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        let control = self.host.control_message.0;
        for &Operation { action, amount, .. } in self.schedule.operations() {
            match action {
                Action::Send => {
                    each(MessageKind::Data, amount);
                    if amount > self.host.eager_limit.0 {
                        each(MessageKind::Data, control);
                    }
                }
                Action::Remote(remote) => each(message_kind(remote, amount, control), amount),
                Action::Receive | Action::Compute => {}
            }
        }
    }

    fn state(&self) -> Vec<u8> {
        saved(&self.state)
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some(state) = restored::<ApplicationState>(state) else { return false };
        let fits = state.waits.len() == self.state.waits.len()
            && state.hosts.len() == self.state.hosts.len()
            && state.streams.count() == self.state.streams.count()
            && state.order.is_like(&self.state.order)
            && state.finished.len() == self.state.finished.len();
        if fits {
            self.state = state;
        }
        fits
    }

    fn needs(&self) -> Needs {
        let waits = self.state.records.is_some();
        let first_flits = self.host.adapter.cut_through;
        let both_ways = self.is_one_sided;
        Needs { receipts: true, ahead: true, deferred: true, waits, first_flits, both_ways }
    }

    fn catch_up(&mut self, terminal: u32, now: Picoseconds) -> Option<Picoseconds> {
        self.run_until(terminal, now);
        ever(self.next_given(terminal))
    }

    fn latest(&self) -> Picoseconds {
        self.state.latest
    }

    /// Has the memory fetched that what happens next at a terminal will need.
    #[inline]
    fn prefetch(&self, terminal: u32, stage: Stage) {
        let host = &self.state.hosts[terminal as usize];
        if stage != Stage::Last {
            return prefetch(host);
        }
        if let Some((_, Happening::End { stream, operation, .. })) = host.agenda.first_end() {
            self.state.streams.prefetch(stream);
            self.schedule.prefetch(operation);
            self.pairs.prefetch(operation);
        }
        if let Some(Happening::Arrive { tag } | Happening::Left { tag }) =
            host.agenda.first_message()
        {
            let operation = parts(tag).1;
            self.schedule.prefetch(operation);
            self.pairs.prefetch(operation);
        }
    }

    /// A terminal has received a message, the request of a one-sided operation or the answer to one.
    fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        let (operation, kind) = self.leg_at(terminal, receipt.tag);
        // The target's adapter needs the whole request.
        let trailing = match self.host.adapter {
            AdapterTimes { cut_through: true, .. } if kind != LegKind::Request => receipt.trailing,
            _ => Picoseconds::ZERO,
        };
        let delivered = receipt.time - trailing + self.host.arrival(kind, receipt.leading);
        if let Some(records) = &mut self.state.records {
            records.legs.push(Leg {
                operation,
                kind,
                hops: narrow(receipt.hops.min(255)),
                sequence: receipt.sequence,
                in_memory: false,
                entered: receipt.created - self.host.departure(kind),
                channel: receipt.channel,
                injected: receipt.injected,
                delivered,
            });
        }
        match kind {
            LegKind::Request => Wake::Nobody,
            LegKind::Response => self.answered(terminal, receipt.tag, delivered),
            _ => self.arrive(terminal, receipt.tag, delivered),
        }
    }

    /// Whether a terminal has to be told when a message has left.
    fn wants_departure(&self, tag: u64) -> bool {
        parts(tag).2 == LegKind::Data && !matches!(self.host.answer, Answer::Get(_))
    }

    /// A message waited for so long in its adapter since the first router had no room.
    fn waited_for_room(&mut self, terminal: u32, tag: u64, time: Picoseconds) {
        // Where a response waits it is not received.
        let (operation, kind) = match self.leg_at(terminal, tag) {
            (operation, LegKind::Request) => (operation, LegKind::Response),
            (operation, LegKind::Response) => (operation, LegKind::Request),
            other => other,
        };
        if let Some(records) = &mut self.state.records {
            records.waits.push(RoomWait { operation, kind, time });
        }
    }

    /// Whether a message asks whether a large one may come, or answers that it may.
    fn is_control(&self, tag: u64) -> bool {
        matches!(parts(tag).2, LegKind::Ask | LegKind::Answer | LegKind::Finish)
    }

    /// A terminal's message has left.
    fn sent(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        self.note(terminal, now, Happening::Left { tag })
    }

    /// Those between terminals.
    fn messages(&self) -> u64 {
        let crosses = |rank: u32, it: &Operation| {
            matches!(it.action, Action::Send | Action::Remote(_))
                && self.terminals[it.peer as usize] != self.terminals[rank as usize]
        };
        let of_rank = |rank: u32| {
            let operations = self.schedule.of_rank(rank).map(|it| self.schedule.operation(it));
            operations.filter(|it| crosses(rank, it)).count() as u64
        };
        (0..self.schedule.ranks()).map(of_rank).sum()
    }

    /// Bytes that its state takes.
    fn memory(&self) -> usize {
        let state = &self.state;
        self.ranks.len() * size_of::<(u32, u32)>()
            + self.first_stream.len() * size_of::<u32>()
            + state.hosts.len() * size_of::<Host>()
            + state.outgoing.memory()
            + state.streams.memory()
            + self.pairs.memory()
            + state.waits.len() * size_of::<u32>()
            + state.finished.len() * size_of::<Picoseconds>()
            + state.receipts.memory()
            + state.unexpected.memory()
            + state.order.memory()
    }
}

/// Whether a time is one at which something happens, be it later than can be told.
fn ever(time: Picoseconds) -> Option<Picoseconds> {
    Some(time).filter(|&time| time < Picoseconds::NEVER)
}

impl Outcome {
    /// When the last operation of all ended.
    pub fn time(&self) -> Picoseconds {
        self.finished.iter().copied().max().unwrap_or(Picoseconds::ZERO)
    }
}

/// The outcome of an application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// By rank: when the last of its operations ended.
    pub finished: Vec<Picoseconds>,
    /// Empty if none were kept.
    pub records: Records,
}
