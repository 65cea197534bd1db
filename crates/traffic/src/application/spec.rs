//! How hosts work, as a user says it.

use std::sync::Arc;

use super::placement::Placement;
use super::record::LegKind;
use flitlab_application::loggops::LogGops;
use flitlab_application::{Action, Schedule};
use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_fabric::Fabric;

/// The times of a rendezvous in which the receiver's adapter fetches the message from the sender's
/// memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteRead {
    /// How long it takes to register a large message's memory with the adapter, and to release it.
    pub registration: Picoseconds,
    /// How much longer for each whole page of 4 KiB, if it has more than one.
    pub registration_per_page: Picoseconds,
    /// From the arrival of the request at the sender's adapter until the message enters its source
    /// queue.
    pub read: Picoseconds,
}

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

impl RemoteRead {
    /// The time to register, or to release, so many bytes.
    pub fn registration_of(&self, bytes: u64) -> Picoseconds {
        let pages = if bytes > PAGE { bytes / PAGE } else { 0 };
        self.registration + self.registration_per_page * pages
    }
}

/// The times of a message between its host and the network, at either end. They keep no stream
/// busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdapterTimes {
    /// Between a host and its adapter, in either direction.
    pub bus: Picoseconds,
    /// What an adapter does to a message before it enters the source queue.
    pub send: Picoseconds,
    /// What an adapter does to a message that has come. It begins with the first packet.
    pub receive: Picoseconds,
    /// Whether a message has come when the first flit of its last packet is there, and not only
    /// with the last flit.
    pub cut_through: bool,
}

/// The side that answers whether a large message may come, and then sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The adapters, at once, whatever their hosts are busy with.
    Adapter,
    /// The stream of the operation, when it is free, which takes it a send overhead.
    Processor,
    /// The stream of the receipt, when it is free, has its adapter fetch the message. The sender's
    /// adapter sends it by itself.
    Get(RemoteRead),
}

/// The network between nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// The network of the scenario, flit by flit.
    Flits,
    /// Latencies and gaps alone: LogGOPS.
    LogGops(LogGops),
}

/// How a host works on messages. All times in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct HostParameters {
    /// LogGOPS' `o` at the sender: how long a stream is busy with a message before it is the
    /// adapter's.
    pub send_overhead: Picoseconds,
    /// LogGOPS' `o` at the receiver: how long a stream is busy with a message from its last byte
    /// on.
    pub receive_overhead: Picoseconds,
    /// LogGOPS' `O`: for how many picoseconds more a stream is busy for each byte but the first, at
    /// either end.
    pub overhead_per_byte: f64,
    /// LogGOPS' `g`: the least time between the beginnings of two messages of a node.
    pub gap: Picoseconds,
    /// LogGOPS' `S`: larger messages wait at their sender until their receipt was begun.
    pub eager_limit: Bytes,
    /// The side that answers whether a large message may come.
    pub answer: Answer,
    /// Payload of the messages that ask whether a large one may come, and that say so; and of the
    /// requests of gets and atomic operations, besides operands.
    pub control_message: Bytes,
    /// How long a stream examines each receipt or message that waits, up to the one that matches.
    pub match_time: Picoseconds,
    /// The way between hosts and the network.
    pub adapter: AdapterTimes,
    /// How fast a host copies a message that came before its receipt; `None` if that takes no time.
    pub copy_rate: Option<Rate>,
    /// Latency of a message between ranks of one node, to which its bytes at `memory_rate` are
    /// added.
    pub memory_latency: Picoseconds,
    /// Rate of a message between ranks of one node.
    pub memory_rate: Rate,
}

/// A message between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transfer {
    /// The terminal that it comes from.
    pub source: u32,
    /// The terminal that it goes to.
    pub destination: u32,
    /// Its payload.
    pub bytes: u64,
    /// Whether it answers the request of a one-sided operation.
    pub is_response: bool,
}

/// An application to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationSpec {
    /// The operations of all ranks.
    pub schedule: Arc<Schedule>,
    /// What is to be said of where it comes from, each a clause.
    pub notes: Arc<[String]>,
    /// The nodes of the ranks.
    pub placement: Placement,
    /// The most ranks of a node.
    pub ranks_per_node: u32,
    /// The times of hosts.
    pub host: HostParameters,
    /// The network between nodes.
    pub carrier: Carrier,
    /// The nodes on which ranks are placed, ascending; all if there is no list.
    pub nodes: Option<Arc<[u32]>>,
}

impl ApplicationSpec {
    /// The most bytes of a message that waits for no receipt.
    pub const fn eager_limit(&self) -> u64 {
        match &self.carrier {
            Carrier::Flits => self.host.eager_limit.0,
            Carrier::LogGops(parameters) => parameters.eager_limit,
        }
    }

    /// The live nodes of a fabric on which ranks are placed, ascending.
    pub fn nodes_of(&self, fabric: &Fabric) -> Vec<u32> {
        let among =
            |node: &u32| self.nodes.as_ref().is_none_or(|nodes| nodes.binary_search(node).is_ok());
        fabric.live_terminals().filter(among).collect()
    }

    /// The messages between nodes. `places` are the terminals of the ranks.
    pub fn messages(&self, places: &[u32]) -> Vec<Transfer> {
        let of_rank = |rank: u32| {
            let source = places[rank as usize];
            let operations = self.schedule.of_rank(rank).map(|it| self.schedule.operation(it));
            operations.flat_map(move |it| {
                let (there, back) = match it.action {
                    Action::Send => (it.amount, None),
                    Action::Remote(remote) => {
                        let request = self.host.control_message.0;
                        let (request, response) = remote.payloads(it.amount, request);
                        (request, Some(response))
                    }
                    Action::Receive | Action::Compute => return [None, None].into_iter().flatten(),
                };
                let destination = places[it.peer as usize];
                let there = Transfer { source, destination, bytes: there, is_response: false };
                let back = back.map(|bytes| Transfer {
                    source: destination,
                    destination: source,
                    bytes,
                    is_response: true,
                });
                [Some(there), back].into_iter().flatten()
            })
        };
        let crosses = |it: &Transfer| it.source != it.destination;
        (0..self.schedule.ranks()).flat_map(of_rank).filter(crosses).collect()
    }

    /// Bytes that go from node to node, without requests: of messages, and of what is put, got or
    /// changed. `places` are the terminals of the ranks.
    pub fn payload(&self, places: &[u32]) -> u128 {
        let of_rank = |rank: u32| {
            let from = places[rank as usize];
            let operations = self.schedule.of_rank(rank).map(|it| self.schedule.operation(it));
            let crossing = operations.filter(move |it| {
                matches!(it.action, Action::Send | Action::Remote(_))
                    && places[it.peer as usize] != from
            });
            crossing.map(|it| u128::from(it.amount)).sum::<u128>()
        };
        (0..self.schedule.ranks()).map(of_rank).sum()
    }
}

impl HostParameters {
    /// The time of a message from its host to its source queue.
    pub fn departure(&self, kind: LegKind) -> Picoseconds {
        let AdapterTimes { bus, send, .. } = self.adapter;
        match (kind, self.answer) {
            (LegKind::Answer, Answer::Get(_)) => bus,
            (LegKind::Data, Answer::Get(_)) => Picoseconds::ZERO,
            (LegKind::Answer | LegKind::Data, Answer::Adapter) => send,
            (LegKind::Response, _) => Picoseconds::ZERO,
            _ => bus + send,
        }
    }

    /// The time of a message from its sink to whoever handles it: its host, or an adapter that
    /// answers by itself. Its first packet came `leading` before its last one.
    pub fn arrival(&self, kind: LegKind, leading: Picoseconds) -> Picoseconds {
        let AdapterTimes { bus, receive, .. } = self.adapter;
        let receive = receive.saturating_sub(leading);
        match (kind, self.answer) {
            (LegKind::Answer, Answer::Get(RemoteRead { read, .. })) => read,
            (LegKind::Data, Answer::Get(_)) => bus,
            (LegKind::Ask | LegKind::Answer, Answer::Adapter) => receive,
            (LegKind::Request, _) => Picoseconds::ZERO,
            _ => bus + receive,
        }
    }

    /// The times of a rendezvous by remote reads, for a message of so many bytes that takes one.
    pub fn remote_read(&self, bytes: u64) -> Option<RemoteRead> {
        match self.answer {
            Answer::Get(read) if bytes > self.eager_limit.0 => Some(read),
            _ => None,
        }
    }
}

impl Default for HostParameters {
    fn default() -> Self {
        Self {
            send_overhead: Picoseconds(340_000),
            receive_overhead: Picoseconds(340_000),
            overhead_per_byte: 0.0,
            gap: Picoseconds::ZERO,
            eager_limit: Bytes(64 << 10),
            answer: Answer::Adapter,
            control_message: Bytes(16),
            match_time: Picoseconds::ZERO,
            adapter: AdapterTimes::default(),
            copy_rate: None,
            memory_latency: Picoseconds(200_000),
            memory_rate: Rate(80_000_000_000),
        }
    }
}
