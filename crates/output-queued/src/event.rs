//! Events and their order.
//!
//! **Order.** Ascending by time; of things that happen at once, the one that was set off earlier
//! comes first. Nodes inject in the order of their numbers. This order is total and follows from
//! the model alone, and results depend on it: another order of simultaneous arrivals changes the
//! lifetimes of congested permutations by up to 1%.
//!
//! Every delay but one is a constant of its kind of event, so the events of one kind are set off in
//! the order in which they happen: a queue for each kind takes the place of a heap, and kinds come
//! in the order of their delays, longest first. The exception is a router's wake-up. It comes when
//! the next of the router's outlets gets free, and is set off anew whenever something happens at
//! the router.

use std::collections::VecDeque;

use super::link::{Answer, Slot};
use super::packet::Delivered;

/// Time in femtoseconds: an acknowledgement takes 312.5 ps on the internal link.
pub type Femtoseconds = u64;

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

    /// The event that is so many places behind the next one.
    #[inline]
    pub(super) fn behind(&self, places: usize) -> Option<T> {
        self.events.get(places).map(|event| event.2)
    }
}

/// A reason why an outlet of a router is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Sending {
    Packet,
    Answer,
    /// A packet to the sink.
    Ejection,
}

/// When outlets get free.
#[derive(Debug)]
struct Frees {
    /// How long outlets are busy, by what they send.
    durations: [Femtoseconds; 3],
    /// When outlets get free, by what they send.
    queues: [VecDeque<(Femtoseconds, u32)>; 3],
    /// When the first of them gets free.
    first: Femtoseconds,
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
    frees: Frees,
    /// How many events have been set off.
    pub(super) set_off: u64,
}

impl Events {
    /// No events.
    pub(super) fn new(delays: Delays) -> Self {
        Self {
            arrivals: Queue::new(delays.arrival),
            answers: Queue::new(delays.answer),
            injections: Queue::new(delays.injection),
            deliveries: Queue::new(delays.delivery),
            injection_answers: Queue::new(delays.injection_answer),
            frees: Frees {
                durations: [delays.packet_sent, delays.answer_sent, delays.ejection_sent],
                queues: Default::default(),
                first: NEVER,
            },
            set_off: 0,
        }
    }

    /// When something happens next.
    #[inline]
    pub(super) fn next_time(&self) -> Femtoseconds {
        let links = self.arrivals.first.min(self.answers.first);
        let injection = self.injections.first.min(self.injection_answers.first);
        links.min(injection).min(self.deliveries.first.min(self.frees.first))
    }

    /// Notes that an outlet begins to send.
    #[inline]
    pub(super) fn begin(&mut self, now: Femtoseconds, sending: Sending, outlet: u32) {
        let frees = &mut self.frees;
        let time = now + frees.durations[sending as usize];
        frees.first = frees.first.min(time);
        frees.queues[sending as usize].push_back((time, outlet));
    }

    /// Takes the outlets that get free now, in no order.
    #[inline]
    pub(super) fn take_freed(&mut self, now: Femtoseconds, mut take: impl FnMut(u32)) {
        let frees = &mut self.frees;
        if frees.first != now {
            return;
        }
        frees.first = NEVER;
        for queue in &mut frees.queues {
            while let Some(&(time, outlet)) = queue.front() {
                if time > now {
                    frees.first = frees.first.min(time);
                    break;
                }
                queue.pop_front();
                take(outlet);
            }
        }
    }
}
