//! The state of terminals as sinks: messages under way to them, and the events of their hosts
//! (docs/model.md, "Sink").

use serde::{Deserialize, Serialize};

use crate::by_class::ByClass;
use crate::observer::Log;
use crate::packet::Delivery;
use crate::packet::message::{Arrival, Numbers, Queued, Slots};
use flitlab_base::units::Picoseconds;
use flitlab_model::workload::Receipt;

/// An atomic operation whose request has come to its target.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Atomic {
    /// The terminal that asked for it.
    pub source: u32,
    /// Payload of the response.
    pub bytes: u64,
    /// The note of the response.
    pub note: u32,
    pub injection_channel: u8,
    pub class: u8,
}

/// An event at a terminal's host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum HostEvent {
    /// A response enters its source queue.
    Respond { message: Queued, injection_channel: u8, of_atomic: bool },
    /// The request of an atomic operation has arrived.
    Perform(Atomic),
    /// A message of the host has left, or the response to it has been received.
    Sent { tag: u64 },
    /// A message has been received.
    Receive(Receipt),
}

impl HostEvent {
    /// The tag of the message of which the workload is told; `None` if the adapter handles the
    /// event.
    pub(super) fn tag(&self) -> Option<u64> {
        match *self {
            Self::Sent { tag } | Self::Receive(Receipt { tag, .. }) => Some(tag),
            Self::Respond { .. } | Self::Perform(_) => None,
        }
    }
}

/// An event in the list of its terminal's host, which is sorted by time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ScheduledHostEvent {
    pub time: Picoseconds,
    pub(super) event: HostEvent,
    pub(super) next: u32,
}

/// The state of all sinks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sink {
    /// Packets that are delivered after the end time of the run.
    pub late: Vec<Delivery>,
    pub host_events: Slots<ScheduledHostEvent>,
    /// By part: the numbers of messages to its terminals.
    pub(super) numbers: Vec<Numbers>,
    /// By part: the messages under way from its terminals, by number.
    pub(super) arrivals: Vec<Vec<Arrival>>,
    /// By class.
    pub messages_completed: ByClass<u64>,
    /// By class: flits of packets that were delivered or lost.
    pub flits_ended: ByClass<u64>,
    /// By the part's terminal: the time until which its adapter performs atomic operations. The
    /// list reaches only as far as terminals have performed any.
    pub performing_until: Vec<Picoseconds>,
    /// By the part's terminal, as far as any has received one: the latest packet of a collective
    /// operation, plus 1.
    pub(super) latest_collective: Vec<u64>,
    /// What the observer has not been told yet; empty between two runs.
    #[serde(skip)]
    pub log: Log,
}

/// A place of a list, which is made longer if it does not reach that far.
pub(super) fn place<T: Clone>(list: &mut Vec<T>, number: u32, new: T) -> &mut T {
    let number = number as usize;
    if list.len() <= number {
        list.resize(number + 1, new);
    }
    &mut list[number]
}

impl Sink {
    /// The sinks of one of `parts` parts.
    pub(crate) fn new(parts: usize) -> Self {
        Self {
            late: Vec::new(),
            host_events: Slots::new(),
            numbers: vec![Numbers::default(); parts],
            arrivals: vec![Vec::new(); parts],
            messages_completed: ByClass::default(),
            flits_ended: ByClass::default(),
            performing_until: Vec::new(),
            latest_collective: Vec::new(),
            log: Log::default(),
        }
    }

    /// The tags of the messages in the list of a host from this event on.
    pub(super) fn tags_from(&self, event: u32) -> impl Iterator<Item = u64> {
        let first = self.host_events.get(event);
        let listed = std::iter::successors(first, |it| self.host_events.get(it.next));
        listed.filter_map(|listed| listed.event.tag())
    }

    /// Expects a message that a part has announced under this number.
    pub(crate) fn expect(&mut self, part: usize, number: u32, arrival: Arrival) {
        *place(&mut self.arrivals[part], number, arrival) = arrival;
    }

    /// Notes that a packet of a collective operation has come to a terminal. `number` is that of
    /// the operation, then the packet's.
    ///
    /// # Panics
    /// If packets come out of order, or twice. No scenario can cause that.
    pub(crate) fn note_order(&mut self, terminal: u32, number: u64) {
        let latest = place(&mut self.latest_collective, terminal, 0);
        assert!(number >= *latest, "a packet of a collective operation comes out of order");
        *latest = number + 1;
    }

    /// Frees the number of a message to a part, which has arrived.
    pub(crate) fn forget(&mut self, part: usize, number: u32) {
        self.numbers[part].give_back(number);
    }
}
