//! The interface between the engine and what its terminals send.

mod collective;
mod message;
mod script;
mod tags;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use flitlab_base::prefetch::Stage;
use flitlab_base::units::Picoseconds;

pub use collective::{CollectiveKind, CollectiveSpec, Collectives};
pub use message::{Message, MessageKind, Receipt};
pub use script::Script;
pub use tags::{LARGEST_TAG, class_and_own_tag, tag_of};

/// The most workloads at once.
pub const MAX_WORKLOADS: usize = 8;

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

/// What a workload wants to be told, and when. It never changes, so the engine asks once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether [`Workload::received`] and [`Workload::sent`] have to be called.
    pub receipts: bool,
    /// Whether both may be called before their time has come. So it is if the workload notes each
    /// event with its time, or if its terminals learn of it at a barrier, when the window ends.
    pub ahead: bool,
    /// Whether events at a terminal may be handled later, when it is asked for its next message:
    /// then [`Workload::catch_up`] and [`Workload::latest`] are called.
    pub deferred: bool,
    /// Whether [`Workload::waited_for_room`] has to be called.
    pub waits: bool,
    /// Whether a message counts for it from the first flit of its last packet on: [`Receipt`] says
    /// how long that is before the last flit.
    pub first_flits: bool,
    /// Whether [`Workload::received`] has to be called for messages that are answered as well: at
    /// their destination, and at their source for the answer, where [`Workload::sent`] is called
    /// otherwise.
    pub both_ways: bool,
}

/// The times that hosts need for a message besides the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostOverheads {
    /// From its creation until it enters its source queue.
    pub send: Picoseconds,
    /// From the delivery of its last packet until it is received.
    pub receive: Picoseconds,
}

/// The message that a terminal creates, if it creates one, and when it is to be asked for the next
/// one, if that is known: at the same time if there may be more.
pub type Created = (Option<Message>, Option<Picoseconds>);

/// The traffic of a simulation, with its state: which terminal sends which message to which other
/// one, and when. Terminals are independent of each other except through [`Self::sent`],
/// [`Self::received`] and barriers.
///
/// The engine calls it once or a few times a message, never for a flit. A workload that only sends
/// implements the methods without a default, and [`Script`] is an example.
pub trait Workload: Any + CloneWorkload + Debug + Send + Sync {
    /// When a terminal creates its first message; `None` if it creates none, or only when woken.
    fn first(&mut self, terminal: u32) -> Option<Picoseconds>;

    /// The message that a terminal creates at `now`.
    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created;

    /// Whether its messages do not depend on what happens in the network, so that a terminal may be
    /// asked ahead for those of the near future.
    fn is_open(&self) -> bool {
        false
    }

    /// By class of messages, the workloads of which it consists; none if it is one.
    fn by_class(&self) -> &[Box<dyn Workload>] {
        &[]
    }

    /// When the workload of a class begins, which is 0 in the times that it knows.
    fn start_of(&self, _class: u8) -> Picoseconds {
        Picoseconds::ZERO
    }

    /// The overheads of hosts for messages of a class, if they differ from class to class; `None` if
    /// all have those of the parameters.
    fn overheads(&self, _class: u8) -> Option<HostOverheads> {
        None
    }

    /// Whether terminals may create messages of a class as far as is known, without an event in the
    /// network before. Asked of workloads that consist of several.
    fn creates_more(&self, _class: u8) -> bool {
        true
    }

    /// Calls `each` with the kind and the payload of every message that it may send. Of equal ones
    /// one call is enough.
    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64));

    /// Whether it has messages of data in a class, and whether it has reads or others that are
    /// answered. A workload that creates messages of other classes than 0 has to say so here.
    fn kinds_of(&self, class: u8) -> (bool, bool) {
        let mut kinds = (false, false);
        if class == 0 {
            self.for_each_size(&mut |kind, _| kinds = kind.and_in(kinds));
        }
        kinds
    }

    /// Returns the state: what a workload made anew from the same specification needs to go on.
    /// [`saved`] makes bytes of a value, and [`restored`] reads them.
    fn state(&self) -> Vec<u8>;

    /// Resumes from the state of a workload like this one; false if it was another.
    fn resume(&mut self, state: &[u8]) -> bool;

    /// Bytes that its state takes.
    fn memory(&self) -> usize;

    /// One workload for each of these ranges of terminals, which follow each other and are all
    /// there are. Each may keep the state of the other terminals, as it does if it is not told
    /// otherwise; of those it is never asked again.
    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        terminals.iter().map(|_| self.boxed_clone()).collect()
    }

    /// About how many messages it sends in all, if it comes to an end: for those who wait for it.
    fn messages(&self) -> u64 {
        0
    }

    /// Returns what it wants to be told.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// A terminal's own message with this tag is done: its last flit has left, or, if it is
    /// answered, the response has been received.
    fn sent(&mut self, _terminal: u32, _tag: u64, _now: Picoseconds) -> Wake {
        Wake::Nobody
    }

    /// Whether [`Self::sent`] has to be called for a message with this tag that is not answered.
    fn wants_departure(&self, _tag: u64) -> bool {
        false
    }

    /// A terminal has received a message.
    fn received(&mut self, _terminal: u32, _receipt: &Receipt) -> Wake {
        Wake::Nobody
    }

    /// A message whose last packet a terminal sends now waited for so long in its adapter since the
    /// first router had no room. A response has the tag of what it answers.
    fn waited_for_room(&mut self, _terminal: u32, _tag: u64, _time: Picoseconds) {}

    /// Whether the message with this tag has no data of its own: it arranges one that has.
    fn is_control(&self, _tag: u64) -> bool {
        false
    }

    /// Handles the deferred events at a terminal up to `now`, of which no message came. Returns
    /// when to ask the terminal for its next message.
    fn catch_up(&mut self, _terminal: u32, _now: Picoseconds) -> Option<Picoseconds> {
        None
    }

    /// When the latest of the events happened that may be deferred.
    fn latest(&self) -> Picoseconds {
        Picoseconds::ZERO
    }

    /// Has the memory fetched that a terminal will need at which something is about to happen.
    fn prefetch(&self, _terminal: u32, _stage: Stage) {}

    /// How long a barrier takes, if it has any: otherwise what its terminals do depends on the
    /// packets that they get alone.
    fn barrier_latency(&self) -> Option<Picoseconds> {
        None
    }

    /// When the last of its terminals came to the barrier that ends their step; `None` if any is
    /// under way, or there is no barrier. Time 0 if none of them had anything to do.
    fn at_barrier(&self) -> Option<Picoseconds> {
        None
    }

    /// Lets its terminals pass the barrier, to which the last terminal of all parts came at
    /// `latest`. Gives the time at which they may create messages.
    fn pass_barrier(&mut self, latest: Picoseconds) -> Picoseconds {
        latest
    }

    /// The operations of the collective subnetwork, if there are any.
    fn collectives(&self) -> Option<&Collectives> {
        None
    }
}

impl dyn Workload {
    /// Whether there are messages of data, and whether there are reads or others that are answered.
    pub fn kinds(&self) -> (bool, bool) {
        let mut kinds = (false, false);
        self.for_each_size(&mut |kind, _| kinds = kind.and_in(kinds));
        kinds
    }

    /// The least payload in bytes of a packet, if packets have at most `maximum`.
    pub fn least_payload(&self, maximum: u64) -> u64 {
        let of_bytes = |bytes: u64| match bytes % maximum.max(1) {
            0 => bytes.min(maximum),
            rest => rest,
        };
        let mut least = maximum;
        self.for_each_size(&mut |kind, bytes| {
            least = least.min(match kind {
                MessageKind::Data | MessageKind::Operand | MessageKind::Broadcast => {
                    of_bytes(bytes)
                }
                MessageKind::Read { request } | MessageKind::Atomic { request } => {
                    of_bytes(bytes).min(of_bytes(request.into()))
                }
                MessageKind::Put => 0,
            });
        });
        least
    }

    /// Returns the workload whose messages have this class.
    pub fn of_class(&self, class: u8) -> &dyn Workload {
        self.by_class().get(usize::from(class)).map_or(self, |member| &**member)
    }

    /// The workload itself, if it is of this kind.
    pub fn downcast_ref<W: Workload>(&self) -> Option<&W> {
        let workload: &dyn Any = self;
        workload.downcast_ref()
    }
}

/// Copies a workload of which no more than the trait is known. All that can be cloned have it.
pub trait CloneWorkload {
    /// Returns a copy in the same state.
    fn boxed_clone(&self) -> Box<dyn Workload>;
}

impl<W: Workload + Clone> CloneWorkload for W {
    fn boxed_clone(&self) -> Box<dyn Workload> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Workload> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// Returns a state as bytes, for [`Workload::state`].
///
/// # Panics
/// If the type can't be written in a format that does not name its fields.
pub fn saved(state: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(state).expect("states have no fields that may be left out")
}

/// Reads what [`saved`] wrote; `None` if it is of another type.
pub fn restored<T: DeserializeOwned>(state: &[u8]) -> Option<T> {
    postcard::from_bytes(state).ok()
}

/// Puts parts of a workload into boxes, for [`Workload::split`].
pub fn boxed<W: Workload>(parts: impl Iterator<Item = W>) -> Vec<Box<dyn Workload>> {
    parts.map(|part| Box::new(part) as Box<dyn Workload>).collect()
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
            class: 0,
        };
        let least = |messages: &[Message]| {
            let script: Box<dyn Workload> = Box::new(Script::new(messages.to_vec()));
            script.least_payload(256)
        };
        let data = |bytes| message(bytes, MessageKind::Data);
        assert_eq!([0, 1, 256, 300, 512].map(|bytes| least(&[data(bytes)])), [0, 1, 256, 44, 256]);
        assert_eq!(least(&[data(512), data(300), data(100)]), 44);
        assert_eq!(least(&[message(512, MessageKind::Read { request: 16 })]), 16);
        assert_eq!(least(&[]), 256);
    }
}
