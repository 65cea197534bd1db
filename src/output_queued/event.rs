//! Events and their order.
//!
//! **Order.** Ascending by time; of things that happen at once, the one that was set off earlier comes
//! first. Nodes inject in the order of their numbers. This order is total and follows from the model
//! alone, and results depend on it: another order of simultaneous arrivals changes the lifetimes of
//! congested permutations by up to 1%.
//!
//! Every delay but one is a constant of its kind of event, so the events of one kind are set off in the
//! order in which they happen: a queue for each kind takes the place of a heap, and kinds come in the
//! order of their delays, longest first. The exception is a router's wake-up. It comes when the next of
//! the router's links gets free, and is set off anew whenever something happens at the router.

use std::collections::VecDeque;

use super::link::{Answer, Slot};
use super::packet::Delivered;

/// Time in femtoseconds: an acknowledgement takes 312.5 ps on the internal link.
pub(super) type Femtoseconds = u64;

/// Never.
pub(super) const NEVER: Femtoseconds = Femtoseconds::MAX;

/// Future events of one kind.
#[derive(Debug)]
pub(super) struct Queue<T> {
    delay: Femtoseconds,
    /// When the first of them happens.
    first: Femtoseconds,
    events: VecDeque<(Femtoseconds, u64, T)>,
}

impl<T: Copy> Queue<T> {
    /// No events; they happen `delay`, which is above 0, after they were set off.
    fn new(delay: Femtoseconds) -> Self {
        Self { delay, first: NEVER, events: VecDeque::new() }
    }

    /// Sets off an event, after `set_off` others.
    #[inline]
    pub(super) fn add(&mut self, now: Femtoseconds, set_off: &mut u64, event: T) {
        let time = now + self.delay;
        *set_off += 1;
        self.first = self.first.min(time);
        self.events.push_back((time, *set_off, event));
    }

    /// Takes the next event, if it happens now, and how many had been set off up to it.
    #[inline]
    pub(super) fn take(&mut self, now: Femtoseconds) -> Option<(u64, T)> {
        if self.first != now {
            return None;
        }
        let (_, set_off, event) = self.events.pop_front()?;
        self.first = self.events.front().map_or(NEVER, |next| next.0);
        Some((set_off, event))
    }
}

/// What keeps a link of a router busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Sending {
    Packet,
    Answer,
    /// A packet to the sink.
    Ejection,
}

/// When the routers wake up.
#[derive(Debug)]
struct WakeUps {
    /// How long links are busy, by what they send.
    durations: [Femtoseconds; 3],
    /// When links get free, by what they send, and whose they are.
    free: [VecDeque<(Femtoseconds, u32)>; 3],
    /// When the first of them gets free.
    first: Femtoseconds,
    /// The next wake-up of each router, and how many events had been set off up to it.
    next: Vec<(Femtoseconds, u64)>,
    /// Routers that may wake up at this instant, the last first.
    due: Vec<(u64, u32)>,
}

impl WakeUps {
    fn find_due(&mut self, now: Femtoseconds) {
        self.first = NEVER;
        for queue in &mut self.free {
            while let Some(&(time, router)) = queue.front() {
                if time > now {
                    self.first = self.first.min(time);
                    break;
                }
                queue.pop_front();
                let next = self.next[router as usize];
                if next.0 == now {
                    self.due.push((next.1, router));
                }
            }
        }
        self.due.sort_unstable_by(|one, other| other.cmp(one));
    }
}

/// How long each kind of event takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    pub(super) arrival: Femtoseconds,
    pub(super) packet_sent: Femtoseconds,
    pub(super) answer: Femtoseconds,
    pub(super) injection: Femtoseconds,
    pub(super) delivery: Femtoseconds,
    pub(super) injection_answer: Femtoseconds,
    pub(super) ejection_sent: Femtoseconds,
    pub(super) answer_sent: Femtoseconds,
}

/// Future events.
#[derive(Debug)]
pub(super) struct Events {
    /// The packet in a slot of the output port has arrived at the other end.
    pub(super) arrivals: Queue<(u32, Slot)>,
    /// An answer has arrived from the output port.
    pub(super) answers: Queue<(u32, Answer)>,
    /// A packet has arrived from the node's generator.
    pub(super) injections: Queue<u32>,
    /// A packet has arrived at its sink.
    pub(super) deliveries: Queue<Delivered>,
    /// An answer has arrived at the node's generator: whether it is an acknowledgement.
    pub(super) injection_answers: Queue<(u32, bool)>,
    wake_ups: WakeUps,
    /// How many events have been set off.
    pub(super) set_off: u64,
}

impl Events {
    /// No events.
    pub(super) fn new(delays: Delays, routers: u32) -> Self {
        Self {
            arrivals: Queue::new(delays.arrival),
            answers: Queue::new(delays.answer),
            injections: Queue::new(delays.injection),
            deliveries: Queue::new(delays.delivery),
            injection_answers: Queue::new(delays.injection_answer),
            wake_ups: WakeUps {
                durations: [delays.packet_sent, delays.answer_sent, delays.ejection_sent],
                free: Default::default(),
                first: NEVER,
                next: vec![(NEVER, 0); routers as usize],
                due: Vec::new(),
            },
            set_off: 0,
        }
    }

    /// When something happens next.
    #[inline]
    pub(super) fn next_time(&self) -> Femtoseconds {
        let links = self.arrivals.first.min(self.answers.first);
        let injection = self.injections.first.min(self.injection_answers.first);
        links.min(injection).min(self.deliveries.first.min(self.wake_ups.first))
    }

    /// Notes that a link of `router` begins to send, and returns when it gets free.
    #[inline]
    pub(super) fn begin(
        &mut self,
        now: Femtoseconds,
        sending: Sending,
        router: u32,
    ) -> Femtoseconds {
        let wake_ups = &mut self.wake_ups;
        let time = now + wake_ups.durations[sending as usize];
        wake_ups.first = wake_ups.first.min(time);
        wake_ups.free[sending as usize].push_back((time, router));
        time
    }

    /// Sets off the next wake-up of `router`, which takes the place of the last one. Some link of the
    /// router gets free at `time`; if none does, it is [`NEVER`].
    #[inline]
    pub(super) fn wake(&mut self, router: u32, time: Femtoseconds) {
        self.set_off += 1;
        self.wake_ups.next[router as usize] = (time, self.set_off);
    }

    /// Takes the next router that wakes up now, if that was set off before the event of the given number.
    #[inline]
    pub(super) fn take_wake_up(&mut self, now: Femtoseconds, before: u64) -> Option<u32> {
        let wake_ups = &mut self.wake_ups;
        if wake_ups.first == now {
            wake_ups.find_due(now);
        }
        while let Some(&(set_off, router)) = wake_ups.due.last() {
            if set_off > before {
                return None;
            }
            wake_ups.due.pop();
            // Something else at this instant may have taken its place.
            if wake_ups.next[router as usize] == (now, set_off) {
                return Some(router);
            }
        }
        None
    }
}
