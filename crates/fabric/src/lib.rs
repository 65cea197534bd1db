//! Fabrics: routers joined by directed channels, and terminals attached to routers.
//!
//! - [`Fabric`] is the graph that routing and the engine use: routers with numbered output ports, a
//!   [`Channel`] behind each, and terminals. It is stored in flat arrays.
//! - [`Torus`] has the coordinates of tori and meshes, and makes their fabrics. Routing and traffic
//!   may use the coordinates; the engine does not.
//! - [`Cabling`] joins routers of any arrangement by cables. [`builders`] use it for trees,
//!   Dragonflies, HyperX and others, and [`netlist`] for fabrics of InfiniBand.
//! - [`Failures`] takes cables and routers of any fabric out of service, [`Faults`] those of a
//!   torus.
//!
//! Rates and latencies are parameters of the simulation. A fabric has only the differences between
//! its cables ([`CableClass`]).
//!
//! # A torus
//!
//! ```
//! use flitlab_fabric::{Faults, Torus};
//!
//! let torus = Torus::new(&[4, 4], &[]).unwrap();
//! let fabric = torus.fabric(&Faults::default()).unwrap();
//! assert_eq!((fabric.routers(), fabric.terminals()), (16, 16));
//!
//! // Output ports are directions: +x +y -x -y.
//! let plus_y = fabric.outputs(0).start + 1;
//! assert_eq!(fabric.channel_name(plus_y), "(0,0) +y");
//! assert_eq!(fabric.target(plus_y), torus.node(&[0, 1]));
//! ```
//!
//! # A fabric of one's own, and a failure
//!
//! ```
//! use flitlab_fabric::{Cabling, Failures, TopologyError};
//!
//! // A ring of three switches with a host at each.
//! let mut cabling = Cabling::default();
//! for name in ["S0", "S1", "S2"] {
//!     let switch = cabling.router(name);
//!     cabling.terminal(format!("host of {name}"), switch);
//! }
//! cabling.cable(0, 1);
//! cabling.cable(1, 2);
//! cabling.cable(2, 0);
//! let fabric = cabling.fabric().unwrap();
//! assert_eq!((fabric.routers(), fabric.channels()), (3, 6));
//!
//! // Without one cable the hosts still reach each other; without two they don't.
//! let cables: Vec<_> = fabric.cables().collect();
//! let one = Failures { cables: vec![cables[0]], ..Failures::default() };
//! assert_eq!(one.apply(&fabric).unwrap().channels(), 4);
//! let two = Failures { cables: cables[..2].to_vec(), ..Failures::default() };
//! assert!(matches!(two.apply(&fabric), Err(TopologyError::Disconnected { .. })));
//! ```

#![warn(missing_docs)]

pub mod builders;
mod cable_kinds;
mod cables;
mod cabling;
mod connectivity;
mod fabric;
mod failures;
mod faults;
mod names;
pub mod netlist;
mod size;
mod spanning_tree;
mod topology_error;
mod torus;

pub use cable_kinds::CableKinds;
pub use cables::{CableClass, CableRate, CableSpeed, LaneRate, LaneSpeed};
pub use cabling::{Cabling, Port};
pub use connectivity::{breadth_first, fewest_hops};
pub use fabric::{Channel, Fabric, FailedCable, NONE};
pub use failures::{Amount, Failures, RandomFailures};
pub use faults::Faults;
pub use names::{AmountOrShare, DimensionName, DirectionName, SwitchName, sizes_text};
pub use names::{NodeName, NodePair, Places};
pub use spanning_tree::{SpanningTree, TreeError};
pub use topology_error::TopologyError;
pub use torus::{DIMENSION_NAMES, MAXIMUM_DIMENSIONS, Torus};
