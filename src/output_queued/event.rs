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

/// Time in femtoseconds: an acknowledgement takes 312.5 ps on the internal link.
pub(super) type Femtoseconds = u64;

/// What happens. The order of the kinds is the order within an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A packet has arrived at an input port.
    Arrival,
    /// A link has sent a packet.
    PacketSent,
    /// An answer has arrived for the oldest unanswered packet of an output port.
    Answer,
    /// A packet has arrived from the generator.
    Injection,
    /// A packet has arrived at the sink.
    Delivery,
    /// An answer has arrived at the generator.
    InjectionAnswer,
    /// The link to the sink has sent a packet.
    EjectionSent,
    /// A link has sent an answer.
    AnswerSent,
}

pub(super) const KINDS: usize = 8;

impl Kind {
    /// In order.
    pub(super) const ALL: [Self; KINDS] = [
        Self::Arrival,
        Self::PacketSent,
        Self::Answer,
        Self::Injection,
        Self::Delivery,
        Self::InjectionAnswer,
        Self::EjectionSent,
        Self::AnswerSent,
    ];
}

/// Where, and with what: a packet, or 1 for an acknowledgement and 0 for a refusal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) place: u32,
    pub(super) with: u32,
}

/// Never.
pub(super) const NEVER: Femtoseconds = Femtoseconds::MAX;

/// Future events by kind.
#[derive(Debug)]
pub(super) struct Events {
    delays: [Femtoseconds; KINDS],
    queues: [VecDeque<(Femtoseconds, Event)>; KINDS],
    /// Time of the first event of each kind.
    first: [Femtoseconds; KINDS],
}

impl Events {
    /// No events; `delays` are those of the kinds, each above 0.
    pub(super) fn new(delays: [Femtoseconds; KINDS]) -> Self {
        Self { delays, queues: Default::default(), first: [NEVER; KINDS] }
    }

    /// Adds an event that happens its kind's delay from now.
    #[inline]
    pub(super) fn add(&mut self, now: Femtoseconds, kind: Kind, place: u32, with: u32) {
        let time = now + self.delays[kind as usize];
        let first = &mut self.first[kind as usize];
        *first = (*first).min(time);
        self.queues[kind as usize].push_back((time, Event { place, with }));
    }

    /// When something happens next.
    #[inline]
    pub(super) fn next_time(&self) -> Femtoseconds {
        self.first.iter().copied().min().unwrap_or(NEVER)
    }

    /// Takes all events of the first kind that has any at `time`.
    #[inline]
    pub(super) fn take(&mut self, time: Femtoseconds, batch: &mut Vec<Event>) -> Option<Kind> {
        batch.clear();
        let kind = Kind::ALL[self.first.iter().position(|&first| first == time)?];
        let queue = &mut self.queues[kind as usize];
        while let Some(&(next, event)) = queue.front()
            && next == time
        {
            batch.push(event);
            queue.pop_front();
        }
        self.first[kind as usize] = queue.front().map_or(NEVER, |next| next.0);
        Some(kind)
    }
}
