//! How hosts work, as a user says it.

use std::sync::Arc;

use super::placement::Placement;
use crate::application::loggops::LogGops;
use crate::application::{Action, Schedule};
use flitlab_base::units::{Bytes, Picoseconds, Rate};
use flitlab_fabric::Fabric;

/// The side that answers whether a large message may come, and then sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The adapters, at once, whatever their hosts are busy with.
    Adapter,
    /// The stream of the operation, when it is free, which takes it a send overhead.
    Processor,
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
    /// Payload of the messages that ask whether a large one may come, and that say so.
    pub control_message: Bytes,
    /// How fast a host copies a message that came before its receipt; `None` if that takes no time.
    pub copy_rate: Option<Rate>,
    /// Latency of a message between ranks of one node, to which its bytes at `memory_rate` are
    /// added.
    pub memory_latency: Picoseconds,
    /// Rate of a message between ranks of one node.
    pub memory_rate: Rate,
}

/// An application to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationSpec {
    /// The operations of all ranks.
    pub schedule: Arc<Schedule>,
    /// The nodes of the ranks.
    pub placement: Placement,
    /// The most ranks of a node.
    pub ranks_per_node: u32,
    /// The times of hosts.
    pub host: HostParameters,
    /// The network between nodes.
    pub carrier: Carrier,
    /// The nodes on which ranks are placed, ascending; all if there is no list. A placement that
    /// is given names its nodes itself.
    pub nodes: Option<Arc<[u32]>>,
}

impl ApplicationSpec {
    /// The live nodes of a fabric on which ranks are placed, ascending.
    pub fn nodes_of(&self, fabric: &Fabric) -> Vec<u32> {
        let among =
            |node: &u32| self.nodes.as_ref().is_none_or(|nodes| nodes.binary_search(node).is_ok());
        fabric.live_terminals().filter(among).collect()
    }

    /// The messages between nodes: source, destination and payload in bytes. `places` are the
    /// terminals of the ranks.
    pub fn messages(&self, places: &[u32]) -> Vec<(u32, u32, u64)> {
        let of_rank = |rank: u32| {
            let from = places[rank as usize];
            let operations = self.schedule.of_rank(rank).map(|it| self.schedule.operation(it));
            let sends = operations.filter(|it| it.action == Action::Send);
            sends.map(move |it| (from, places[it.peer as usize], it.amount))
        };
        (0..self.schedule.ranks()).flat_map(of_rank).filter(|it| it.0 != it.1).collect()
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
            copy_rate: None,
            memory_latency: Picoseconds(200_000),
            memory_rate: Rate(80_000_000_000),
        }
    }
}
