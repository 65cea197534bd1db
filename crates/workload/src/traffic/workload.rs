//! The traffic of the engine: one of several kinds, behind one interface.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::application::ApplicationState;
use super::collective::CollectiveState;
use super::exchange;
use super::remote_memory::RemoteMemoryState;
use super::{
    Application, Collectives, Exchange, Message, MessageKind, OpenLoad, Receipt, RemoteMemory,
    Script,
};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;

/// The terminals that may go on creating messages after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// No terminal.
    Nobody,
    /// This terminal, at this time.
    Terminal(u32, Picoseconds),
    /// No terminal yet: this one creates nothing before this time.
    NotBefore(u32, Picoseconds),
    /// All terminals, once those of all parts are [at the barrier](Workload::at_barrier).
    All,
}

/// Whether a message of a load is ever created. Half of all times is 107 days; [`OpenLoad`] gives
/// later ones for a load of next to nothing.
pub(super) fn within_reach(time: &Picoseconds) -> bool {
    *time < Picoseconds::LAST / 2
}

/// Whether a time is one at which something happens, be it later than can be told.
fn ever(time: &Picoseconds) -> bool {
    *time < Picoseconds::NEVER
}

/// The traffic of a simulation, with its state. Terminals are independent of each other except
/// through [`Self::sent`], [`Self::received`] and barriers.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A list of messages with their times.
    Script(Script),
    /// A load that never ends.
    Load(OpenLoad),
    /// An exchange in steps.
    Exchange(Exchange),
    /// The ranks of an application.
    Application(Box<Application>),
    /// Operations of the collective subnetwork.
    Collectives(Box<Collectives>),
    /// Remote memory operations.
    RemoteMemory(Box<RemoteMemory>),
}

/// How far a workload has come: what another one, made anew from the same specification, needs to
/// go on.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrafficState<'a>(WorkloadState<'a>);

#[derive(Debug, Serialize, Deserialize)]
enum WorkloadState<'a> {
    Script(Cow<'a, [usize]>),
    Load(Vec<u64>),
    Exchange(exchange::ExchangeState<'a>),
    Application(Box<Cow<'a, ApplicationState>>),
    Collectives(Box<(CollectiveState, Option<Vec<u64>>)>),
    RemoteMemory(RemoteMemoryState<'a>),
}

impl Workload {
    /// Returns the state of the workload.
    pub fn state(&self) -> TrafficState<'_> {
        TrafficState(match self {
            Self::Script(script) => WorkloadState::Script(script.state().into()),
            Self::Load(load) => WorkloadState::Load(load.state()),
            Self::Exchange(exchange) => WorkloadState::Exchange(exchange.state()),
            Self::Application(application) => {
                WorkloadState::Application(Box::new(application.state()))
            }
            Self::Collectives(collectives) => {
                WorkloadState::Collectives(Box::new(collectives.state()))
            }
            Self::RemoteMemory(operations) => WorkloadState::RemoteMemory(operations.state()),
        })
    }

    /// Goes on where a workload like this one was; false if it was another.
    pub fn resume(&mut self, state: TrafficState<'_>) -> bool {
        match (self, state.0) {
            (Self::Script(script), WorkloadState::Script(next)) => script.resume(next.into_owned()),
            (Self::Load(load), WorkloadState::Load(indices)) => load.resume(&indices),
            (Self::Exchange(exchange), WorkloadState::Exchange(course)) => exchange.resume(course),
            (Self::Application(application), WorkloadState::Application(state)) => {
                application.resume(*state)
            }
            (Self::Collectives(collectives), WorkloadState::Collectives(state)) => {
                collectives.resume(*state)
            }
            (Self::RemoteMemory(operations), WorkloadState::RemoteMemory(state)) => {
                operations.resume(state)
            }
            _ => false,
        }
    }

    /// When a terminal creates its first message; `None` if it creates none, or only when woken.
    pub fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        match self {
            Self::Script(script) => script.first(terminal),
            Self::Load(load) => load.first(terminal).filter(within_reach),
            Self::Exchange(exchange) => exchange.first(terminal),
            Self::Application(application) => application.first(terminal).filter(ever),
            Self::Collectives(collectives) => collectives.first(terminal),
            Self::RemoteMemory(operations) => operations.first(terminal),
        }
    }

    /// The message that a terminal creates at `now`, if it creates one, and when it is to be asked
    /// for the next one, if that is known: at `now` if there may be more.
    #[inline]
    pub fn create(
        &mut self,
        terminal: u32,
        now: Picoseconds,
    ) -> (Option<Message>, Option<Picoseconds>) {
        match self {
            Self::Script(script) => script.create(terminal, now),
            Self::Load(load) => {
                let (message, next) = load.create(terminal, now);
                (Some(message), Some(next).filter(within_reach))
            }
            Self::Exchange(exchange) => exchange.create(terminal, now),
            Self::Application(application) => {
                let (message, next) = application.create(terminal, now);
                (message, next.filter(ever))
            }
            Self::Collectives(collectives) => collectives.create(terminal, now),
            Self::RemoteMemory(operations) => operations.create(terminal, now),
        }
    }

    /// Returns whether events at a terminal may be handled later, when it is asked for its next
    /// message.
    #[inline]
    pub fn puts_off(&self) -> bool {
        matches!(self, Self::Application(_))
    }

    /// Handles the deferred events at a terminal up to `now`, of which no message came. Returns
    /// when to ask the terminal for its next message.
    pub fn catch_up(&mut self, terminal: u32, now: Picoseconds) -> Option<Picoseconds> {
        match self {
            Self::Application(application) => {
                Some(application.catch_up(terminal, now)).filter(ever)
            }
            _ => None,
        }
    }

    /// When the latest thing happened of those that may be put off.
    pub fn latest(&self) -> Picoseconds {
        match self {
            Self::Application(application) => application.latest(),
            _ => Picoseconds::ZERO,
        }
    }

    /// Has the memory fetched that a terminal will need at which something is about to happen.
    #[inline]
    pub fn prefetch(&self, terminal: u32, stage: Stage) {
        if let Self::Application(application) = self {
            application.prefetch(terminal, stage);
        }
    }

    /// A terminal's own message with this tag is done: its last flit has left, or, if it is
    /// answered, the response has been received.
    #[inline]
    pub fn sent(&mut self, terminal: u32, tag: u64, now: Picoseconds) -> Wake {
        match self {
            Self::Exchange(exchange) => exchange.sent(terminal, now),
            Self::Application(application) => application.sent(terminal, tag, now),
            Self::Collectives(collectives) => collectives.sent(terminal, tag, now),
            Self::RemoteMemory(operations) => operations.done(terminal, tag, now),
            _ => Wake::Nobody,
        }
    }

    /// A terminal has received a message.
    #[inline]
    pub fn received(&mut self, terminal: u32, receipt: &Receipt) -> Wake {
        match self {
            Self::Exchange(exchange) => {
                exchange.received(terminal, narrow(receipt.tag), receipt.time)
            }
            Self::Application(application) => application.received(terminal, receipt),
            Self::Collectives(collectives) => collectives.received(terminal, receipt),
            _ => Wake::Nobody,
        }
    }

    /// Whether [`Self::received`] has to be called.
    #[inline]
    pub fn wants_receipts(&self) -> bool {
        !matches!(self, Self::Script(_) | Self::Load(_))
    }

    /// Whether [`Self::sent`] has to be called for a message with this tag.
    #[inline]
    pub fn wants_departure(&self, tag: u64) -> bool {
        match self {
            Self::Exchange(_) => true,
            Self::Application(_) => Application::wants_departure(tag),
            // Messages of the load have no tag.
            Self::Collectives(_) => tag != 0,
            Self::Script(_) | Self::Load(_) | Self::RemoteMemory(_) => false,
        }
    }

    /// Whether [`Self::waited_for_room`] has to be called.
    pub fn wants_waits(&self) -> bool {
        matches!(self, Self::Application(application) if application.records())
    }

    /// A message whose last packet is sent now waited for so long in its adapter since the first
    /// router had no room.
    pub fn waited_for_room(&mut self, tag: u64, time: Picoseconds) {
        if let Self::Application(application) = self {
            application.waited_for_room(tag, time);
        }
    }

    /// Whether the message with this tag has no data of its own: it arranges one that has.
    #[inline]
    pub fn is_control(&self, tag: u64) -> bool {
        matches!(self, Self::Application(_)) && Application::is_control(tag)
    }

    /// The operations of the collective subnetwork, if there are any.
    pub fn collectives(&self) -> Option<&Collectives> {
        match self {
            Self::Collectives(collectives) => Some(collectives),
            _ => None,
        }
    }

    /// Returns whether [`Self::sent`] and [`Self::received`] may be called before their time has
    /// come. An application notes each event with its time, and terminals at a barrier learn of it
    /// when the window ends.
    #[inline]
    pub fn may_be_told_ahead(&self) -> bool {
        matches!(self, Self::Application(_)) || self.barrier_latency().is_some()
    }

    /// How long a barrier takes, if it has any: otherwise what its terminals do depends on the
    /// packets that they get alone.
    #[inline]
    pub fn barrier_latency(&self) -> Option<Picoseconds> {
        match self {
            Self::Exchange(exchange) => exchange.barrier_latency(),
            _ => None,
        }
    }

    /// When the last of its terminals came to the barrier that ends their step; `None` if any is
    /// under way, or there is no barrier. Time 0 if none of them had anything to do.
    #[inline]
    pub fn at_barrier(&self) -> Option<Picoseconds> {
        match self {
            Self::Exchange(exchange) => exchange.at_barrier(),
            _ => None,
        }
    }

    /// Lets its terminals pass the barrier, to which the last terminal of all parts came at
    /// `latest`. Gives the time at which they may create messages.
    pub fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        match self {
            Self::Exchange(exchange) => exchange.pass_barrier(latest),
            _ => latest,
        }
    }

    /// Whether there are messages of data, and whether there are reads or others that are answered.
    pub fn kinds(&self) -> (bool, bool) {
        let both = |kind: MessageKind| (kind == MessageKind::Data, kind != MessageKind::Data);
        match self {
            Self::Load(load) => both(load.kind),
            Self::Exchange(exchange) => both(exchange.kind),
            Self::Script(script) => script.kinds(),
            Self::Application(_) => (true, false),
            Self::RemoteMemory(_) => (false, true),
            Self::Collectives(collectives) => {
                collectives.load().map_or((false, false), |load| both(load.kind))
            }
        }
    }

    /// The least payload in bytes of a packet, if packets have at most `maximum`.
    pub fn least_payload(&self, maximum: u64) -> u64 {
        let of_bytes = |bytes: u64| match bytes % maximum.max(1) {
            0 => bytes.min(maximum),
            rest => rest,
        };
        let of_message = |kind: MessageKind, bytes: u64| match kind {
            MessageKind::Data | MessageKind::Operand | MessageKind::Broadcast => of_bytes(bytes),
            MessageKind::Read { request } | MessageKind::Atomic { request } => {
                of_bytes(bytes).min(of_bytes(request.into()))
            }
            MessageKind::Put => 0,
        };
        match self {
            Self::Load(load) => of_message(load.kind, load.bytes),
            Self::Exchange(exchange) => of_message(exchange.kind, exchange.bytes),
            Self::Script(script) => {
                let messages = script.messages.iter();
                messages.map(|it| of_message(it.kind, it.bytes)).min().unwrap_or(maximum)
            }
            Self::Application(application) => {
                application.message_sizes().map(of_bytes).min().unwrap_or(maximum)
            }
            Self::Collectives(collectives) => {
                let of_load = |load: &OpenLoad| of_message(load.kind, load.bytes);
                let own = of_bytes(collectives.bytes);
                collectives.load().map_or(own, |load| own.min(of_load(load)))
            }
            Self::RemoteMemory(operations) => {
                let (request, response) = operations.spec.payloads();
                of_bytes(request).min(of_bytes(response))
            }
        }
    }

    /// One workload for each of these ranges of terminals, which follow each other and are all
    /// there are.
    pub fn split(self, terminals: &[Range<u32>]) -> Vec<Self> {
        if terminals.len() <= 1 {
            return vec![self];
        }
        match self {
            Self::Load(load) => load.split(terminals).into_iter().map(Self::Load).collect(),
            Self::Exchange(exchange) => {
                exchange.split(terminals).into_iter().map(Self::Exchange).collect()
            }
            Self::Collectives(collectives) => {
                let parts = collectives.split(terminals).into_iter();
                parts.map(|part| Self::Collectives(Box::new(part))).collect()
            }
            Self::RemoteMemory(operations) => {
                let parts = operations.split(terminals).into_iter();
                parts.map(|part| Self::RemoteMemory(Box::new(part))).collect()
            }
            // The state of the other terminals stays what it is.
            Self::Script(_) | Self::Application(_) => vec![self; terminals.len()],
        }
    }

    /// Bytes that its state takes.
    pub fn memory(&self) -> usize {
        match self {
            Self::Script(script) => script.memory(),
            Self::Load(load) => load.memory(),
            Self::Exchange(exchange) => exchange.memory(),
            Self::Application(application) => application.memory(),
            Self::Collectives(collectives) => collectives.memory(),
            Self::RemoteMemory(operations) => operations.memory(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_packet_is_the_rest_of_a_message_or_its_request() {
        let message = |bytes, kind| Message {
            time: Picoseconds(0),
            source: 0,
            destination: 0,
            bytes,
            kind,
            tag: 0,
        };
        let least = |messages: &[Message]| {
            Workload::Script(Script::new(messages.to_vec())).least_payload(256)
        };
        let data = |bytes| message(bytes, MessageKind::Data);
        assert_eq!([0, 1, 256, 300, 512].map(|bytes| least(&[data(bytes)])), [0, 1, 256, 44, 256]);
        assert_eq!(least(&[data(512), data(300), data(100)]), 44);
        assert_eq!(least(&[message(512, MessageKind::Read { request: 16 })]), 16);
        assert_eq!(least(&[]), 256);
    }
}
