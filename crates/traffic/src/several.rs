//! Several workloads at once on one network.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Collectives, Created, HostOverheads, MAX_WORKLOADS, Message, MessageKind, Needs, Receipt, Wake,
    Workload, restored, saved,
};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;
use flitlab_model::workload::{LARGEST_TAG, boxed, class_and_own_tag, tag_of};

/// Returns the class in a tag, as a place, and the tag of the class's own workload.
fn place(tag: u64) -> (usize, u64) {
    let (class, own) = class_and_own_tag(tag);
    (class.into(), own)
}

/// Workloads that share a network. The number of each is the class of its messages. Each has a
/// start and lives in a time of its own, which is 0 there.
///
/// A terminal that has messages of several workloads to create at one instant creates them in the
/// order of the workloads.
#[derive(Clone, Debug)]
pub struct Several {
    members: Vec<Box<dyn Workload>>,
    /// By class.
    needs: Vec<Needs>,
    starts: Vec<Picoseconds>,
    /// By class; empty if all have those of the parameters.
    overheads: Vec<HostOverheads>,
    /// The first terminal that `next` and `is_live` have.
    first_terminal: u32,
    /// By terminal, then class: when the next message may be created; the latest of all times if
    /// that is not known.
    next: Vec<Picoseconds>,
    /// By terminal: whether it was asked for its first message. Failed terminals never are.
    is_live: Vec<bool>,
}

#[derive(Serialize, Deserialize)]
struct SeveralState {
    members: Vec<Vec<u8>>,
    next: Vec<Picoseconds>,
}

impl Several {
    /// Idle workloads with their starts, by class, on a network of so many terminals.
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
        let needs = members.iter().map(|member| member.needs()).collect();
        let is_live = vec![false; terminals as usize];
        let overheads = Vec::new();
        Self { members, needs, starts, overheads, first_terminal: 0, next, is_live }
    }

    /// Returns these workloads with overheads of hosts by class. The send overhead of the
    /// parameters has to be 0 then: messages of a class enter their queues after that of the class.
    ///
    /// # Panics
    /// If there are not as many as workloads.
    #[must_use]
    pub fn with_overheads(self, overheads: Vec<HostOverheads>) -> Self {
        assert_eq!(overheads.len(), self.members.len(), "overheads for each workload");
        Self { overheads, ..self }
    }

    /// Returns the time at which the engine is to ask for a message that a class's workload creates
    /// at time 0 of its own.
    fn offset(&self, class: usize) -> Picoseconds {
        let send = self.overheads.get(class).map_or(Picoseconds::ZERO, |overheads| overheads.send);
        self.starts[class] + send
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
        let offset = self.offset(class);
        let next = next.map_or(Picoseconds::NEVER, |next| offset + next);
        self.next_of(terminal)[class] = next;
    }

    /// Changes what one workload wants to wake to what all want.
    fn wake(&mut self, class: usize, wake: Wake) -> Wake {
        let offset = self.offset(class);
        let (terminal, next) = match wake {
            Wake::Nobody | Wake::All => return wake,
            Wake::Terminal(terminal, time) => {
                (terminal, self.next_of(terminal)[class].min(offset + time))
            }
            Wake::NotBefore(terminal, time) => {
                let present = self.next_of(terminal)[class];
                (
                    terminal,
                    if present == Picoseconds::NEVER {
                        present
                    } else {
                        present.max(offset + time)
                    },
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

    fn start_of(&self, class: u8) -> Picoseconds {
        self.starts.get(usize::from(class)).copied().unwrap_or_default()
    }

    fn overheads(&self, class: u8) -> Option<HostOverheads> {
        self.overheads.get(usize::from(class)).copied()
    }

    fn creates_more(&self, class: u8) -> bool {
        let own = self.next.iter().skip(class.into()).step_by(self.members.len());
        own.copied().any(|next| next != Picoseconds::NEVER)
    }

    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.is_live[(terminal - self.first_terminal) as usize] = true;
        for class in 0..self.members.len() {
            let first = self.members[class].first(terminal);
            self.set(terminal, class, first);
        }
        self.first_of(terminal)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let due = self.next_of(terminal).iter().position(|&next| next <= now);
        let Some(class) = due else { return (None, self.first_of(terminal)) };
        let (start, offset) = (self.starts[class], self.offset(class));
        let (message, next) = self.members[class].create(terminal, now - offset);
        self.set(terminal, class, next);
        let message = message.map(|message| {
            let (class, own) = (narrow(class), message.tag);
            debug_assert!(own <= LARGEST_TAG, "a tag of {own}");
            let time = start + message.time;
            Message { time, tag: tag_of(class, own), class, ..message }
        });
        (message, self.first_of(terminal))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.members.iter().for_each(|member| member.for_each_size(each));
    }

    fn kinds_of(&self, class: u8) -> (bool, bool) {
        self.members.get(usize::from(class)).map_or((false, false), |member| member.kinds_of(0))
    }

    fn state(&self) -> Vec<u8> {
        let members = self.members.iter().map(|member| member.state()).collect();
        saved(&SeveralState { members, next: self.next.clone() })
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let Some(state) = restored::<SeveralState>(state) else { return false };
        let fits = state.members.len() == self.members.len() && state.next.len() == self.next.len();
        if fits {
            self.next = state.next;
        }
        fits && self.members.iter_mut().zip(state.members).all(|(own, state)| own.resume(&state))
    }

    fn memory(&self) -> usize {
        let members: usize = self.members.iter().map(|member| member.memory()).sum();
        members + self.next.len() * size_of::<Picoseconds>() + self.is_live.len()
    }

    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let Self { members, needs, starts, overheads, next, is_live, .. } = *self;
        let count = members.len();
        let mut parts: Vec<_> =
            members.into_iter().map(|member| member.split(terminals).into_iter()).collect();
        boxed(terminals.iter().map(|range| {
            let places = range.start as usize..range.end as usize;
            Self {
                members: parts.iter_mut().map(|parts| parts.next().expect("one a range")).collect(),
                needs: needs.clone(),
                starts: starts.clone(),
                overheads: overheads.clone(),
                first_terminal: range.start,
                next: next[places.start * count..places.end * count].to_vec(),
                is_live: is_live[places].to_vec(),
            }
        }))
    }

    fn messages(&self) -> u64 {
        self.members.iter().map(|member| member.messages()).sum()
    }

    fn needs(&self) -> Needs {
        self.needs.iter().fold(Needs::default(), |all, own| Needs {
            receipts: all.receipts | own.receipts,
            ahead: all.ahead | own.ahead,
            deferred: all.deferred | own.deferred,
            waits: all.waits | own.waits,
            first_flits: all.first_flits | own.first_flits,
            both_ways: all.both_ways | own.both_ways,
        })
    }

    fn sent(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        let (class, tag) = place(tag);
        if !self.needs[class].receipts {
            return Wake::Nobody;
        }
        let wake = self.members[class].sent(terminal, tag, now - self.starts[class]);
        self.wake(class, wake)
    }

    fn wants_departure(&self, tag: u64) -> bool {
        let (class, tag) = place(tag);
        self.members[class].wants_departure(tag)
    }

    fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        let (class, tag) = place(receipt.tag);
        if !self.needs[class].receipts {
            return Wake::Nobody;
        }
        let start = self.starts[class];
        let Receipt { created, injected, time, .. } = *receipt;
        let (created, injected, time) = (created - start, injected - start, time - start);
        let own = Receipt { tag, created, injected, time, ..*receipt };
        let wake = self.members[class].received(terminal, &own);
        self.wake(class, wake)
    }

    fn waited_for_room(&mut self, terminal: u32, tag: u64, time: Picoseconds) {
        let (class, tag) = place(tag);
        if self.needs[class].waits {
            self.members[class].waited_for_room(terminal, tag, time);
        }
    }

    fn is_control(&self, tag: u64) -> bool {
        let (class, tag) = place(tag);
        self.members[class].is_control(tag)
    }

    fn catch_up(&mut self, terminal: u32, now: Picoseconds) -> Option<Picoseconds> {
        for class in 0..self.members.len() {
            let start = self.starts[class];
            if self.needs[class].deferred && start <= now {
                let next = self.members[class].catch_up(terminal, now - start);
                self.set(terminal, class, next);
            }
        }
        self.first_of(terminal)
    }

    fn latest(&self) -> Picoseconds {
        let members = self.members.iter().zip(&self.needs).zip(&self.starts);
        let latest = members.map(|((member, needs), &start)| match member.latest() {
            latest if needs.deferred && latest > Picoseconds::ZERO => start + latest,
            _ => Picoseconds::ZERO,
        });
        latest.fold(Picoseconds::ZERO, Picoseconds::max)
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
        let passed = self.members[class].pass_barrier(latest.max(start) - start);
        let time = self.offset(class) + passed;
        let own = self.next.iter_mut().skip(class).step_by(self.members.len());
        for (next, _) in own.zip(&self.is_live).filter(|&(_, &is_live)| is_live) {
            *next = time;
        }
        time
    }

    fn collectives(&self) -> Option<&Collectives> {
        self.members.iter().find_map(|member| member.collectives())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;

    /// Creates a message at each of these times, and wakes as it is told.
    #[derive(Clone, Debug)]
    struct Woken {
        next: Option<Picoseconds>,
        wake: Wake,
    }

    impl Workload for Woken {
        fn first(&mut self, _: u32) -> Option<Picoseconds> {
            self.next
        }

        fn create(&mut self, _: u32, _: Picoseconds) -> (Option<Message>, Option<Picoseconds>) {
            (None, self.next.take())
        }

        fn for_each_size(&self, _: &mut dyn FnMut(MessageKind, u64)) {}

        fn state(&self) -> Vec<u8> {
            saved(&self.next)
        }

        fn resume(&mut self, state: &[u8]) -> bool {
            restored(state).map(|next| self.next = next).is_some()
        }

        fn memory(&self) -> usize {
            0
        }

        fn needs(&self) -> Needs {
            Needs { receipts: true, ..Needs::default() }
        }

        fn sent(&mut self, _: u32, tag: u64, now: Picoseconds) -> Wake {
            assert_eq!((tag, now), (7, Picoseconds(50)), "in its own tags and times");
            self.wake
        }
    }

    fn message(time: u64, source: u32, tag: u64) -> Message {
        Message {
            time: Picoseconds(time),
            source,
            destination: 9,
            bytes: 8,
            kind: MessageKind::Data,
            tag,
            class: 0,
        }
    }

    fn script(messages: &[Message]) -> Box<dyn Workload> {
        Box::new(Script::new(messages.to_vec()))
    }

    /// All messages that a terminal creates, by time, class and own tag.
    fn all_of(several: &mut Several, terminal: u32) -> Vec<(u64, u8, u64)> {
        let mut created = Vec::new();
        let mut next = several.first(terminal);
        while let Some(now) = next {
            let message;
            (message, next) = several.create(terminal, now);
            let Some(message) = message else { continue };
            assert_eq!(message.time, now);
            let several: &dyn Workload = several;
            assert_eq!(several.class_of_tag(message.tag), message.class);
            created.push((message.time.0, message.class, several.own_tag(message.tag)));
        }
        created
    }

    #[test]
    fn messages_of_one_instant_are_created_in_the_order_of_workloads() {
        let first = script(&[message(10, 2, 5), message(30, 2, 6), message(30, 2, 7)]);
        let second = script(&[message(0, 2, LARGEST_TAG), message(20, 2, 1), message(0, 3, 4)]);
        let members = vec![(first, Picoseconds(0)), (second, Picoseconds(10))];
        let several = Several::new(members, 4);
        let of_third = vec![(10, 0, 5), (10, 1, LARGEST_TAG), (30, 0, 6), (30, 0, 7), (30, 1, 1)];
        assert_eq!(all_of(&mut several.clone(), 2), of_third);
        // Each part creates what its own terminals do.
        for mut part in Box::new(several).split(&[0..3, 3..4]) {
            let several: &mut dyn std::any::Any = &mut *part;
            let several = several.downcast_mut::<Several>().unwrap();
            match several.first_terminal {
                0 => assert_eq!(all_of(several, 2), of_third),
                _ => assert_eq!(all_of(several, 3), [(10, 1, 4)]),
            }
        }
    }

    #[test]
    fn a_workload_with_a_send_overhead_is_asked_when_that_is_over() {
        let members = vec![
            (script(&[message(0, 0, 1), message(100, 0, 2)]), Picoseconds(20)),
            (script(&[message(50, 0, 3)]), Picoseconds(0)),
        ];
        let overheads = |send| HostOverheads { send: Picoseconds(send), ..Default::default() };
        let mut several =
            Several::new(members, 1).with_overheads(vec![overheads(30), overheads(0)]);
        assert_eq!(several.first(0), Some(Picoseconds(50)));
        let mut create = |now| {
            let (message, next) = several.create(0, Picoseconds(now));
            (message.unwrap().time.0, next.map(|next| next.0))
        };
        assert_eq!(create(50), (20, Some(50)));
        assert_eq!(create(50), (50, Some(150)));
        assert_eq!(create(150), (120, None));
        assert!(!several.creates_more(0) && !several.creates_more(1));
    }

    #[test]
    fn a_terminal_is_woken_for_the_first_of_its_workloads() {
        let (start, terminal) = (Picoseconds(1_000), 0);
        let wake = |own: Wake, next: Option<u64>, other: Option<u64>| {
            let woken = Woken { next: next.map(Picoseconds), wake: own };
            let beside = Woken { next: other.map(Picoseconds), wake: Wake::Nobody };
            let members: Vec<(Box<dyn Workload>, _)> =
                vec![(Box::new(beside), Picoseconds(0)), (Box::new(woken), start)];
            let mut several = Several::new(members, 1);
            several.first(terminal);
            let tag = (&several as &dyn Workload).tag_in_class(1, 7);
            let wake = several.sent(terminal, tag, start + Picoseconds(50));
            (wake, several.first_of(terminal).map(|first| first.0))
        };
        let at = |time| Wake::Terminal(terminal, Picoseconds(time));
        let not_before = |time| Wake::NotBefore(terminal, Picoseconds(time));
        assert_eq!(wake(Wake::Nobody, None, Some(5)), (Wake::Nobody, Some(5)));
        assert_eq!(wake(Wake::All, None, None), (Wake::All, None));
        assert_eq!(wake(at(60), None, None), (at(1_060), Some(1_060)));
        assert_eq!(wake(at(60), Some(80), Some(2_000)), (at(1_060), Some(1_060)));
        // The other one creates something sooner.
        assert_eq!(wake(at(60), Some(80), Some(1_010)), (Wake::Nobody, Some(1_010)));
        // It is asked anyway.
        assert_eq!(wake(at(60), Some(40), None), (Wake::Nobody, Some(1_040)));
        assert_eq!(wake(not_before(90), Some(60), None), (not_before(1_090), Some(1_090)));
        assert_eq!(wake(not_before(90), Some(60), Some(1_070)), (not_before(1_070), Some(1_070)));
        assert_eq!(wake(not_before(90), Some(60), Some(1_050)), (Wake::Nobody, Some(1_050)));
        assert_eq!(wake(not_before(90), Some(120), None), (Wake::Nobody, Some(1_120)));
        // It creates nothing as far as it knows.
        assert_eq!(wake(not_before(90), None, None), (Wake::Nobody, None));
    }

    #[test]
    fn several_workloads_resume_where_they_were() {
        let new = || {
            let first = script(&[message(10, 0, 5), message(30, 0, 6)]);
            let second = script(&[message(0, 0, 1), message(25, 0, 2)]);
            Several::new(vec![(first, Picoseconds(0)), (second, Picoseconds(3))], 2)
        };
        let mut several = new();
        assert_eq!(several.first(0), Some(Picoseconds(3)));
        several.create(0, Picoseconds(3));
        let mut resumed = new();
        resumed.first(0);
        assert!(resumed.resume(&several.state()));
        let rest = |several: &mut Several| {
            let mut next = several.first_of(0);
            let created = std::iter::from_fn(|| {
                let (message, then) = several.create(0, next?);
                next = then;
                message.map(|message| message.time.0)
            });
            created.collect::<Vec<_>>()
        };
        assert_eq!(rest(&mut resumed), [10, 28, 30]);
        assert_eq!(rest(&mut several), [10, 28, 30]);
        let one = Several::new(vec![(script(&[]), Picoseconds(0))], 2);
        assert!(!new().resume(&one.state()));
    }
}
