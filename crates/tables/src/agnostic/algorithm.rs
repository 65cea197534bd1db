//! Algorithms that make forwarding tables: their description, their task and their errors.

use super::ALGORITHMS;
use super::copies::Spread;
use super::graph::Graph;
use super::nue::{CompleteGraph, Partition};
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::registry::{Component, Row};
use flitlab_fabric::Fabric;
use flitlab_routing::ForwardingTable;

/// An algorithm that makes a forwarding table for any fabric. Equal fabrics have to get equal
/// tables from it.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Whether its tables are free of deadlock.
    pub avoids_deadlock: bool,
    /// Whether it distributes paths among the virtual channels, whose number is
    /// [`Parameters::vcs`].
    pub parts_paths: bool,
    /// Whether it distributes destinations among the virtual channels, as [`Parameters::partition`]
    /// says.
    pub parts_destinations: bool,
    /// The fabrics for which it has a table.
    pub applies: Applies,
    /// Bytes that making the table takes at its peak, estimated.
    pub memory: fn(&Scale) -> u64,
    /// Fills in the table of a task.
    pub make: fn(&mut Task<'_>) -> Result<(), NoTable>,
}

/// The fabrics for which an algorithm has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Every connected fabric, with any number of virtual channels.
    Always,
    /// Every connected fabric, if there are enough virtual channels.
    WithVcs,
    /// Fabrics of certain shapes or sizes.
    SomeShapes,
}

/// The sizes on which the memory of an algorithm depends.
pub struct Scale {
    /// Routers of the fabric.
    pub routers: u64,
    /// Terminals of the fabric.
    pub terminals: u64,
    /// Ports of all routers, and so channels between routers.
    pub slots: u64,
    /// Virtual channels that the algorithm may use.
    pub vcs: u64,
    /// Bytes of a graph of which channel waits for which, as bits.
    pub dependencies: u64,
    /// Pairs of channels that follow each other.
    pub turns: u64,
}

impl Scale {
    fn new(fabric: &Fabric, vcs: u8) -> Self {
        let (routers, terminals) = (u64::from(fabric.routers()), u64::from(fabric.terminals()));
        let (slots, vcs) = (u64::from(fabric.channel_slots()), u64::from(vcs));
        let most = (0..fabric.routers()).map(|router| fabric.outputs(router).len() as u64).max();
        // Bits for the channels behind each channel and before it.
        let most = most.unwrap_or(0);
        let dependencies = slots * (most.div_ceil(64) * 16 + 16);
        let turns = slots.saturating_mul(most);
        Self { routers, terminals, slots, vcs, dependencies, turns }
    }

    /// Memory of `bytes` for each pair of router and terminal (the table itself takes 2 of them),
    /// and the memory that every algorithm takes besides.
    pub fn pairs(&self, bytes: u64) -> u64 {
        let pairs = self.routers.saturating_mul(self.terminals).saturating_mul(bytes);
        pairs.saturating_add(self.slots * 64 + self.routers * 128 + self.terminals * 16)
    }
}

/// The task of an algorithm: a table to fill in.
pub struct Task<'f> {
    /// The fabric, whose live terminals are the destinations.
    pub fabric: &'f Fabric,
    /// The resources of the algorithm.
    pub parameters: &'f Parameters,
    /// The table: empty, and all in virtual channel 0, at first.
    pub table: ForwardingTable,
    /// Destinations whose paths follow the escape tree, if the algorithm counts them (Nue).
    pub escape_falls: Option<u32>,
    /// What became of the complete channel dependency graphs, if the algorithm is Nue.
    pub complete_graph: Option<CompleteGraph>,
    pub(super) graph: Graph,
}

impl Component for Algorithm {
    const NOUN: &'static str = "algorithm";

    fn built_in() -> &'static [Row<Self>] {
        &ALGORITHMS
    }
}

/// The resources of algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Number of virtual channels, from 1 to 16.
    pub vcs: u8,
    /// The distribution of destinations among the virtual channels by Nue.
    pub partition: Partition,
    /// What spreads packets over virtual channels that the table has no need of; `None` if they
    /// stay unused.
    pub spread: Option<Spread>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { vcs: 8, partition: Partition::default(), spread: None }
    }
}

/// A table with the counts of its algorithm.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The table, with an output port for each router and destination.
    pub table: ForwardingTable,
    /// Destinations whose paths follow the escape tree (Nue).
    pub escape_falls: Option<u32>,
    /// What became of the complete channel dependency graphs (Nue).
    pub complete_graph: Option<CompleteGraph>,
}

/// Why an algorithm has no table for a fabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTable {
    /// The algorithm needs more virtual channels than there are.
    #[error("{algorithm} needs more than {vcs} virtual channels here")]
    VirtualChannels {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of virtual channels that it may use.
        vcs: u8,
    },
    /// The algorithm is for routers that are arranged in dimensions, and these are not.
    #[error("{algorithm} is for {shapes}; these routers are not known to be arranged as one")]
    NoGrid {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The fabrics that it is for.
        shapes: &'static str,
    },
    /// The algorithm has a service level bit for each of at most four dimensions that close into
    /// rings.
    #[error("{algorithm} is for at most 4 dimensions that close into rings, not {dimensions}")]
    Rings {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Number of dimensions that close into rings.
        dimensions: u8,
    },
    /// The algorithm is for fat trees, and a cable joins two routers of the same level.
    #[error(
        "{algorithm} is for fat trees; here a cable joins {one} and {other}, which are both {level} hops from the \
         nearest router with terminals"
    )]
    NoTree {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Name of a router of the cable.
        one: String,
        /// Name of the router at the cable's other end.
        other: String,
        /// Hops of both from the nearest router with terminals.
        level: u32,
    },
    /// A way that the algorithm needs between two routers does not exist.
    #[error("{algorithm} has no way from {from} to {to}: {reason}")]
    NoWay {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Name of the router where the way begins.
        from: String,
        /// Name of the router where it should end.
        to: String,
        /// The cause: a sentence without a full stop.
        reason: &'static str,
    },
    /// The table needs more memory than is free.
    #[error("{0}")]
    Memory(Shortage),
    /// The paths round the failed routers close a cycle.
    #[error("{algorithm} can't lead round so many failed routers without a cycle")]
    Cycle {
        /// Name of the algorithm.
        algorithm: &'static str,
    },
    /// The table can't be copied into virtual channels that it has no need of: how, and why.
    #[error("the table can't be spread {0}")]
    Spread(&'static str),
    /// Another reason: a sentence without a full stop.
    #[error("{0}")]
    Other(String),
}

impl Algorithm {
    /// An algorithm that works on every connected fabric with one virtual channel, needs no memory
    /// beyond the table, and is not free of deadlock. Fields with other values are named first:
    /// `Self { avoids_deadlock: true, ..Self::plain(...) }`.
    pub const fn plain(make: fn(&mut Task<'_>) -> Result<(), NoTable>) -> Self {
        Self {
            avoids_deadlock: false,
            parts_paths: false,
            parts_destinations: false,
            applies: Applies::Always,
            memory: |at| at.pairs(2),
            make,
        }
    }

    /// Makes the table of a fabric.
    ///
    /// # Errors
    /// If the algorithm does not apply to the fabric, or there is too little memory.
    pub fn generate(&self, fabric: &Fabric, parameters: &Parameters) -> Result<Generated, NoTable> {
        let of_copies = parameters.spread.map_or(0, |spread| spread.memory(fabric));
        let needed = (self.memory)(&Scale::new(fabric, parameters.vcs)).saturating_add(of_copies);
        claim("the forwarding table of this algorithm", needed).map_err(NoTable::Memory)?;
        let (graph, table) = (Graph::new(fabric), ForwardingTable::empty(fabric));
        let mut task =
            Task { fabric, parameters, table, escape_falls: None, complete_graph: None, graph };
        (self.make)(&mut task)?;
        let Task { mut table, escape_falls, complete_graph, .. } = task;
        if let Some(spread) = parameters.spread {
            spread.copy(fabric, &mut table, parameters.vcs)?;
        }
        Ok(Generated { table, escape_falls, complete_graph })
    }
}
