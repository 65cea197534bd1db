//! Events and their order.
//!
//! Every delay of the router is a constant of its kind of event, so the events of one kind are
//! scheduled in the order in which they happen: a queue for each kind takes the place of a heap.
//!
//! **Order.** Ascending by time, then by kind, then in the order in which they were set off. Kinds come
//! in the order of their delays, longest first, so that of all things that happen at once the one
//! that was set off earlier comes first. Nodes inject in the order of their numbers. This order is
//! total and follows from the model alone; other orders of simultaneous arrivals change the results of
//! congested permutations by up to 1%.

use std::collections::VecDeque;

use super::link::Answer;
use super::packet::{Delivered, Packet};

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
    events: VecDeque<(Femtoseconds, T)>,
}

impl<T: Copy> Queue<T> {
    /// No events; they happen `delay`, which is above 0, after they were set off.
    fn new(delay: Femtoseconds) -> Self {
        Self { delay, first: NEVER, events: VecDeque::new() }
    }

    /// Sets off an event.
    #[inline]
    pub(super) fn add(&mut self, now: Femtoseconds, event: T) {
        let time = now + self.delay;
        self.first = self.first.min(time);
        self.events.push_back((time, event));
    }

    /// Takes the next event, if it happens now.
    #[inline]
    pub(super) fn take(&mut self, now: Femtoseconds) -> Option<T> {
        if self.first != now {
            return None;
        }
        let event = self.events.pop_front()?.1;
        self.first = self.events.front().map_or(NEVER, |next| next.0);
        Some(event)
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

/// Future events. The order of the kinds is the order within an instant.
#[derive(Debug)]
pub(super) struct Events {
    /// A packet has arrived from the output port.
    pub(super) arrivals: Queue<(u32, Packet)>,
    /// The output port has sent a packet.
    pub(super) packets_sent: Queue<u32>,
    /// An answer has arrived from the output port.
    pub(super) answers: Queue<(u32, Answer)>,
    /// A packet has arrived from the node's generator.
    pub(super) injections: Queue<u32>,
    /// A packet has arrived at its sink.
    pub(super) deliveries: Queue<Delivered>,
    /// An answer has arrived at the node's generator: whether it is an acknowledgement.
    pub(super) injection_answers: Queue<(u32, bool)>,
    /// The node's link to the sink has sent a packet.
    pub(super) ejections_sent: Queue<u32>,
    /// The output port has sent an answer.
    pub(super) answers_sent: Queue<u32>,
}

impl Events {
    /// No events.
    pub(super) fn new(delays: Delays) -> Self {
        Self {
            arrivals: Queue::new(delays.arrival),
            packets_sent: Queue::new(delays.packet_sent),
            answers: Queue::new(delays.answer),
            injections: Queue::new(delays.injection),
            deliveries: Queue::new(delays.delivery),
            injection_answers: Queue::new(delays.injection_answer),
            ejections_sent: Queue::new(delays.ejection_sent),
            answers_sent: Queue::new(delays.answer_sent),
        }
    }

    /// When something happens next.
    #[inline]
    pub(super) fn next_time(&self) -> Femtoseconds {
        let links = self.arrivals.first.min(self.packets_sent.first);
        let answers = self.answers.first.min(self.answers_sent.first);
        let injection = self.injections.first.min(self.injection_answers.first);
        let ejection = self.deliveries.first.min(self.ejections_sent.first);
        links.min(answers).min(injection.min(ejection))
    }
}
