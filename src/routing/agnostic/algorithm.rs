//! The choice among the algorithms.

use std::fmt;
use std::str::FromStr;

use super::balance::balance;
use super::d_mod_k::d_mod_k;
use super::dfsssp::dfsssp;
use super::dimension_order::dimension_order;
use super::graph::Graph;
use super::lash::lash;
use super::lash_tor::lash_tor;
use super::min_hop::min_hop;
use super::mud::mud;
use super::nue::{Partition, nue};
use super::segments::segments;
use super::sssp::{p2_sssp, sssp};
use super::torus_2qos::torus_2qos;
use super::up_down::up_down;
use crate::memory::{Shortage, claim};
use crate::routing::ForwardingTable;
use crate::topology::Fabric;

/// What makes a forwarding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    MinHop,
    DimensionOrder,
    Torus2Qos,
    DModK,
    UpDown,
    Sssp,
    P2Sssp,
    Dfsssp,
    Lash,
    LashTor,
    Mud,
    Segments,
    Nue,
    NueBalanced,
}

/// All algorithms with their names.
pub const ALGORITHMS: [(&str, Algorithm); 14] = [
    ("min-hop", Algorithm::MinHop),
    ("dimension-order", Algorithm::DimensionOrder),
    ("torus-2qos", Algorithm::Torus2Qos),
    ("d-mod-k", Algorithm::DModK),
    ("up-down", Algorithm::UpDown),
    ("sssp", Algorithm::Sssp),
    ("p2-sssp", Algorithm::P2Sssp),
    ("dfsssp", Algorithm::Dfsssp),
    ("lash", Algorithm::Lash),
    ("lash-tor", Algorithm::LashTor),
    ("mud", Algorithm::Mud),
    ("segments", Algorithm::Segments),
    ("nue", Algorithm::Nue),
    ("nue-balanced", Algorithm::NueBalanced),
];

/// In how many orders `nue-balanced` routes a lane at most, and all lanes together. With few lanes some orders are
/// much better than others; with eight, moving paths makes up for a bad one (results/nue).
const ORDERS: u8 = 8;
const ORDERS_OF_ALL_LANES: u8 = 16;

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = ALGORITHMS.iter().find(|(known, _)| *known == name);
        found.map(|(_, algorithm)| *algorithm).ok_or_else(|| {
            let names: Vec<&str> = ALGORITHMS.iter().map(|(name, _)| *name).collect();
            format!("there is no algorithm {name}; there are {}", names.join(", "))
        })
    }
}

/// What algorithms may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Virtual lanes that there are, from 1 to 16.
    pub lanes: u8,
    /// How Nue parts the destinations among the lanes.
    pub partition: Partition,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { lanes: 8, partition: Partition::default() }
    }
}

/// A table, and what its algorithm counted.
#[derive(Clone, Debug)]
pub struct Generated {
    pub table: ForwardingTable,
    /// Destinations whose paths follow the escape tree (Nue).
    pub escape_falls: Option<u32>,
}

/// Why an algorithm has no table for a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTable {
    /// It needs more virtual lanes than there are.
    Lanes { algorithm: &'static str, lanes: u8 },
    /// It is for tori and meshes, and the routers are not arranged as one.
    NoGrid { algorithm: &'static str },
    /// It has a service level bit for each of four dimensions that close into rings, and there are more.
    Rings { algorithm: &'static str, dimensions: u8 },
    /// It is for fat trees, and a cable joins two routers of the same level, by their names.
    NoTree { algorithm: &'static str, one: String, other: String, level: u32 },
    /// The way that it would take between two routers, by their names, does not exist.
    NoWay { algorithm: &'static str, from: String, to: String, reason: &'static str },
    /// Making it takes more memory than there is.
    Memory(Shortage),
    /// Its paths round the failed routers close a cycle.
    Cycle { algorithm: &'static str },
}

impl fmt::Display for NoTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lanes { algorithm, lanes } => {
                write!(formatter, "{algorithm} needs more than {lanes} virtual lanes here")
            }
            Self::NoGrid { algorithm } => write!(
                formatter,
                "{algorithm} is for tori and meshes; these routers are not known to be arranged as one"
            ),
            Self::Rings { algorithm, dimensions } => write!(
                formatter,
                "{algorithm} is for at most 4 dimensions that close into rings, not {dimensions}"
            ),
            Self::NoTree { algorithm, one, other, level } => write!(
                formatter,
                "{algorithm} is for fat trees; here a cable joins {one} and {other}, which are both \
                 {level} hops from the nearest router with terminals"
            ),
            Self::NoWay { algorithm, from, to, reason } => {
                write!(formatter, "{algorithm} has no way from {from} to {to}: {reason}")
            }
            Self::Memory(shortage) => shortage.fmt(formatter),
            Self::Cycle { algorithm } => write!(
                formatter,
                "{algorithm} can't lead round so many failed routers without a cycle"
            ),
        }
    }
}

impl std::error::Error for NoTable {}

impl Algorithm {
    /// As scenarios and the command line call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = ALGORITHMS.iter().find(|(_, other)| *other == self);
        named.expect("every algorithm has a name").0
    }

    /// Whether no table that it makes can deadlock.
    #[must_use]
    pub fn avoids_deadlock(self) -> bool {
        !matches!(self, Self::MinHop | Self::DimensionOrder | Self::Sssp | Self::P2Sssp)
    }

    /// Bytes that making the table takes at its peak, about.
    fn memory_needed(self, fabric: &Fabric, lanes: u8) -> u64 {
        let (routers, terminals) = (u64::from(fabric.routers()), u64::from(fabric.terminals()));
        let (slots, lanes) = (u64::from(fabric.channel_slots()), u64::from(lanes));
        let most = (0..fabric.routers()).map(|router| fabric.outputs(router).len() as u64).max();
        // Bits for the channels behind each channel and before it.
        let most = most.unwrap_or(0);
        let dependencies = slots * (most.div_ceil(64) * 16 + 16);
        let turns = slots.saturating_mul(most);
        // Of each pair of router and terminal: a port, and what follows of lanes and copies.
        let (pair, others) = match self {
            Self::MinHop | Self::DimensionOrder | Self::DModK | Self::UpDown => (2, 0),
            Self::Sssp | Self::P2Sssp | Self::Segments => (2, 0),
            Self::Mud => (2, lanes * (slots + routers) * 8),
            Self::Torus2Qos => (4, dependencies),
            Self::Lash => {
                (3, routers.saturating_mul(routers).saturating_mul(5) + lanes * dependencies)
            }
            Self::Dfsssp => (3, lanes * (dependencies + turns * 5)),
            Self::LashTor => (3, lanes * dependencies),
            Self::Nue => (3, dependencies + turns * 2),
            Self::NueBalanced => (15, lanes * (dependencies + turns * 9)),
        };
        let pairs = routers.saturating_mul(terminals).saturating_mul(pair);
        pairs.saturating_add(others).saturating_add(slots * 64 + routers * 128 + terminals * 16)
    }

    /// # Errors
    /// If the algorithm does not apply to the fabric, or there is too little memory.
    pub fn generate(self, fabric: &Fabric, parameters: &Parameters) -> Result<Generated, NoTable> {
        let what = format!("a table of {} here", self.name());
        claim(what, self.memory_needed(fabric, parameters.lanes)).map_err(NoTable::Memory)?;
        let graph = Graph::new(fabric);
        let mut table = ForwardingTable::empty(fabric);
        let mut escape_falls = None;
        match self {
            Self::MinHop => min_hop(&graph, &mut table),
            Self::DimensionOrder => dimension_order(&graph, fabric, &mut table)?,
            Self::Torus2Qos => torus_2qos(&graph, fabric, &mut table, parameters.lanes)?,
            Self::DModK => d_mod_k(&graph, fabric, &mut table)?,
            Self::UpDown => up_down(&graph, &mut table),
            Self::Dfsssp => dfsssp(&graph, &mut table, parameters.lanes)?,
            Self::Lash => lash(&graph, &mut table, parameters.lanes)?,
            Self::LashTor => lash_tor(&graph, &mut table, parameters.lanes)?,
            Self::Mud => mud(&graph, &mut table, parameters.lanes),
            Self::Segments => escape_falls = Some(segments(&graph, &mut table)),
            Self::Sssp => sssp(&graph, &mut table),
            Self::P2Sssp => p2_sssp(&graph, &mut table),
            Self::NueBalanced => {
                let orders = (ORDERS_OF_ALL_LANES / parameters.lanes).clamp(1, ORDERS);
                nue(&graph, &mut table, parameters.lanes, parameters.partition, orders);
                balance(&graph, &mut table);
            }
            Self::Nue => {
                let falls = nue(&graph, &mut table, parameters.lanes, parameters.partition, 1);
                escape_falls = Some(falls);
            }
        }
        Ok(Generated { table, escape_falls })
    }
}
