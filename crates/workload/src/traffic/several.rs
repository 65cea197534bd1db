//! Several workloads at once on one network.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::workload::boxed;
use super::{Collectives, Message, MessageKind, Needs, Receipt, Wake, Workload, restored, saved};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;

/// The most workloads at once.
pub const MAX_WORKLOADS: usize = 8;

/// The largest tag of a message. Above it there is room for the number of a workload.
pub const LARGEST_TAG: u64 = (1 << (64 - CLASS_BITS)) - 1;

const CLASS_BITS: u32 = 3;

/// Workloads that share a network. The number of each is the class of its messages. Each has a
/// start and lives in a time of its own, which is 0 there.
///
/// A terminal that has messages of several workloads to create at one instant creates them in the
/// order of the workloads.
#[derive(Clone, Debug)]
pub struct Several {
    members: Vec<Box<dyn Workload>>,
    starts: Vec<Picoseconds>,
    /// The first terminal that `next` has.
    first_terminal: u32,
    /// By terminal, then class: when the next message may be created; the latest of all times if
    /// that is not known.
    next: Vec<Picoseconds>,
    /// When the latest message of a workload was created whose events are not deferred.
    latest: Picoseconds,
}

#[derive(Serialize, Deserialize)]
struct SeveralState {
    members: Vec<Vec<u8>>,
    next: Vec<Picoseconds>,
    latest: Picoseconds,
}

impl Several {
    /// Workloads with their starts, by class, on a network of so many terminals.
    ///
    /// # Panics
    /// If there are none, or more than [`MAX_WORKLOADS`], or two with barriers or with collective
    /// operations.
    pub fn new(members: Vec<(Box<dyn Workload>, Picoseconds)>, terminals: u32) -> Self {
        assert!((1..=MAX_WORKLOADS).contains(&members.len()), "{} workloads", members.len());
        let (members, starts): (Vec<Box<dyn Workload>>, Vec<_>) = members.into_iter().unzip();
        let of_kind =
            |is: fn(&dyn Workload) -> bool| members.iter().filter(|it| is(&***it)).count();
        assert!(of_kind(|it| it.barrier_latency().is_some()) <= 1, "one workload has barriers");
        assert!(of_kind(|it| it.collectives().is_some()) <= 1, "one workload is collective");
        let next = vec![Picoseconds::NEVER; terminals as usize * members.len()];
        Self { members, starts, first_terminal: 0, next, latest: Picoseconds::ZERO }
    }

    /// Returns the workload of a tag, and the tag there.
    fn owner(&self, tag: u64) -> (usize, u64) {
        (narrow(tag & ((1 << CLASS_BITS) - 1)), tag >> CLASS_BITS)
    }

    /// Returns when each workload may create the next message of a terminal.
    fn next_of(&mut self, terminal: u32) -> &mut [Picoseconds] {
        let count = self.members.len();
        let first = (terminal - self.first_terminal) as usize * count;
        &mut self.next[first..first + count]
    }

    /// Returns when a terminal may create its next message of any workload.
    fn first_of(&mut self, terminal: u32) -> Option<Picoseconds> {
        let first = self.next_of(terminal).iter().min().copied();
        first.filter(|&time| time != Picoseconds::NEVER)
    }

    fn set(&mut self, terminal: u32, class: usize, next: Option<Picoseconds>) {
        let start = self.starts[class];
        let next = next.map_or(Picoseconds::NEVER, |next| start + next);
        self.next_of(terminal)[class] = next;
    }

    /// Changes what one workload wants to wake to what all want.
    fn wake(&mut self, class: usize, wake: Wake) -> Wake {
        let start = self.starts[class];
        let (terminal, next) = match wake {
            Wake::Nobody | Wake::All => return wake,
            Wake::Terminal(terminal, time) => {
                (terminal, self.next_of(terminal)[class].min(start + time))
            }
            Wake::NotBefore(terminal, time) => {
                let present = self.next_of(terminal)[class];
                (
                    terminal,
                    if present == Picoseconds::NEVER { present } else { present.max(start + time) },
                )
            }
        };
        let before = self.first_of(terminal);
        self.next_of(terminal)[class] = next;
        let now = self.first_of(terminal);
        match (before, now) {
            (_, Some(now)) if before.is_none_or(|before| now < before) => {
                Wake::Terminal(terminal, now)
            }
            (Some(before), Some(now)) if now > before => Wake::NotBefore(terminal, now),
            _ => Wake::Nobody,
        }
    }

    /// The workload whose terminals meet at barriers, and its start.
    fn with_barrier(&self) -> Option<usize> {
        self.members.iter().position(|member| member.barrier_latency().is_some())
    }
}

impl Workload for Several {
    fn by_class(&self) -> &[Box<dyn Workload>] {
        &self.members
    }

    fn creates_more(&self, class: u8) -> bool {
        let own = self.next.iter().skip(class.into()).step_by(self.members.len());
        own.copied().any(|next| next != Picoseconds::NEVER)
    }

    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        for class in 0..self.members.len() {
            let first = self.members[class].first(terminal);
            self.set(terminal, class, first);
        }
        self.first_of(terminal)
    }

    fn create(
        &mut self,
        terminal: u32,
        now: Picoseconds,
    ) -> (Option<Message>, Option<Picoseconds>) {
        let due = self.next_of(terminal).iter().position(|&next| next <= now);
        let Some(class) = due else { return (None, self.first_of(terminal)) };
        let start = self.starts[class];
        let (message, next) = self.members[class].create(terminal, now - start);
        self.set(terminal, class, next);
        if !self.members[class].needs().deferred {
            self.latest = self.latest.max(now);
        }
        let message = message.map(|message| Message {
            time: now,
            tag: message.tag << CLASS_BITS | class as u64,
            class: narrow(class),
            ..message
        });
        (message, self.first_of(terminal))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.members.iter().for_each(|member| member.for_each_size(each));
    }

    fn state(&self) -> Vec<u8> {
        let members = self.members.iter().map(|member| member.state()).collect();
        saved(&SeveralState { members, next: self.next.clone(), latest: self.latest })
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some(state) = restored::<SeveralState>(state) else { return false };
        let fits = state.members.len() == self.members.len() && state.next.len() == self.next.len();
        if fits {
            (self.next, self.latest) = (state.next, state.latest);
        }
        fits && self.members.iter_mut().zip(state.members).all(|(own, state)| own.resume(&state))
    }

    fn memory(&self) -> usize {
        let members: usize = self.members.iter().map(|member| member.memory()).sum();
        members + self.next.len() * size_of::<Picoseconds>()
    }

    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let Self { members, starts, next, latest, .. } = *self;
        let count = members.len();
        let mut parts: Vec<_> =
            members.into_iter().map(|member| member.split(terminals).into_iter()).collect();
        boxed(terminals.iter().map(|range| Self {
            members: parts.iter_mut().map(|parts| parts.next().expect("one a range")).collect(),
            starts: starts.clone(),
            first_terminal: range.start,
            next: next[range.start as usize * count..range.end as usize * count].to_vec(),
            latest,
        }))
    }

    fn messages(&self) -> u64 {
        self.members.iter().map(|member| member.messages()).sum()
    }

    fn needs(&self) -> Needs {
        self.members.iter().fold(Needs::default(), |all, member| {
            let own = member.needs();
            Needs {
                receipts: all.receipts | own.receipts,
                ahead: all.ahead | own.ahead,
                deferred: all.deferred | own.deferred,
                waits: all.waits | own.waits,
            }
        })
    }

    fn sent(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        let (class, tag) = self.owner(tag);
        if !self.members[class].needs().receipts {
            return Wake::Nobody;
        }
        let wake = self.members[class].sent(terminal, tag, now - self.starts[class]);
        self.wake(class, wake)
    }

    fn wants_departure(&self, tag: u64) -> bool {
        let (class, tag) = self.owner(tag);
        self.members[class].wants_departure(tag)
    }

    fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        let (class, tag) = self.owner(receipt.tag);
        if !self.members[class].needs().receipts {
            return Wake::Nobody;
        }
        let start = self.starts[class];
        let Receipt { created, injected, time, .. } = *receipt;
        let (created, injected, time) = (created - start, injected - start, time - start);
        let own = Receipt { tag, created, injected, time, ..*receipt };
        let wake = self.members[class].received(terminal, &own);
        self.wake(class, wake)
    }

    fn waited_for_room(&mut self, tag: u64, time: Picoseconds) {
        let (class, tag) = self.owner(tag);
        if self.members[class].needs().waits {
            self.members[class].waited_for_room(tag, time);
        }
    }

    fn is_control(&self, tag: u64) -> bool {
        let (class, tag) = self.owner(tag);
        self.members[class].is_control(tag)
    }

    fn catch_up(&mut self, terminal: u32, now: Picoseconds) -> Option<Picoseconds> {
        for class in 0..self.members.len() {
            let start = self.starts[class];
            if self.members[class].needs().deferred && start <= now {
                let next = self.members[class].catch_up(terminal, now - start);
                self.set(terminal, class, next);
            }
        }
        self.first_of(terminal)
    }

    fn latest(&self) -> Picoseconds {
        let deferred = self.members.iter().zip(&self.starts).filter(|it| it.0.needs().deferred);
        let latest = deferred.map(|(member, start)| match member.latest() {
            Picoseconds::ZERO => Picoseconds::ZERO,
            latest => *start + latest,
        });
        latest.fold(self.latest, Picoseconds::max)
    }

    fn prefetch(&self, terminal: u32, stage: Stage) {
        self.members.iter().for_each(|member| member.prefetch(terminal, stage));
    }

    fn barrier_latency(&self) -> Option<Picoseconds> {
        self.members[self.with_barrier()?].barrier_latency()
    }

    fn at_barrier(&self) -> Option<Picoseconds> {
        let class = self.with_barrier()?;
        match self.members[class].at_barrier()? {
            Picoseconds::ZERO => Some(Picoseconds::ZERO),
            latest => Some(self.starts[class] + latest),
        }
    }

    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        let Some(class) = self.with_barrier() else { return latest };
        let start = self.starts[class];
        let time = start + self.members[class].pass_barrier(latest.max(start) - start);
        self.next.iter_mut().skip(class).step_by(self.members.len()).for_each(|next| *next = time);
        time
    }

    fn collectives(&self) -> Option<&Collectives> {
        self.members.iter().find_map(|member| member.collectives())
    }
}
