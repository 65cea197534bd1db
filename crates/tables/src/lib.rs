//! What makes and proves the routing of interconnects.
//!
//! - Algorithms make tables: [`agnostic`] for fabrics of any shape, [`angara`] for Angara's tori.
//!   [`relation_rules`] make relations, whose packets choose among several hops; [`path_selection`]
//!   picks one path of each pair from a relation. [`adaptive`] makes the table of an escape.
//!   [`opensm`] reads and writes the tables of InfiniBand.
//! - Proofs share no code with the algorithms: [`prove`], [`prove_forwarding`], [`prove_relation`]
//!   and [`prove_adaptive`] follow all packets and look for cycles among the virtual channels that
//!   they hold. [`prove_deadlock_free`] judges any [`Routes`](flitlab_routing::Routes).
//! - [`Quality`] and [`ForwardingQuality`] give channel loads and hops of a table; [`LoadBound`] is
//!   the lowest load that any table can have, [`concurrent_flow`] the highest load that any ways
//!   carry, [`WorstCase`] the traffic that a routing carries least of.
//!
//! # A table, made and proved
//!
//! ```
//! use flitlab_fabric::{Faults, Torus};
//! use flitlab_tables::agnostic::{Algorithm, Parameters};
//! use flitlab_tables::{ForwardingQuality, prove_forwarding};
//!
//! let torus = Torus::new(&[5], &[]).unwrap();
//! let ring = torus.fabric(&Faults::default()).unwrap();
//!
//! let up_down = Algorithm::UP_DOWN.generate(&ring, &Parameters::default()).unwrap();
//! let proof = prove_forwarding(&ring, &up_down.table);
//! assert!(proof.holds());
//! assert_eq!(proof.pairs, 20);
//!
//! // Up*/Down* leaves one of the five cables idle to be free of deadlock, so some ways are longer.
//! let quality = ForwardingQuality::new(&ring, &up_down.table);
//! assert!(quality.hops_mean > quality.least_hops_mean);
//! ```
//!
//! # A table with a cycle
//!
//! Shortest paths on a ring deadlock: packets can fill all of its buffers and wait for each other.
//!
//! ```
//! # use flitlab_fabric::{Faults, Torus};
//! # use flitlab_tables::agnostic::{Algorithm, Parameters};
//! # use flitlab_tables::prove_forwarding;
//! # let ring = Torus::new(&[5], &[]).unwrap().fabric(&Faults::default()).unwrap();
//! let shortest = Algorithm::MIN_HOP.generate(&ring, &Parameters::default()).unwrap();
//! let proof = prove_forwarding(&ring, &shortest.table);
//! assert!(!proof.holds());
//!
//! // The cycle goes round the ring.
//! let cycle = proof.cycle().expect("shortest paths close a cycle");
//! assert_eq!(cycle.len(), 5);
//! println!("{}", proof.flaws[0].describe(&ring));
//! ```

#![warn(missing_docs)]

mod adaptive_routing;
pub mod agnostic;
mod alike_vcs;
pub mod angara;
mod changes;
mod choice_proof;
pub mod concurrent_flow;
mod cycle;
mod deadlock_proof;
mod file;
mod forwarding_path;
mod forwarding_proof;
mod forwarding_quality;
mod load_bound;
mod load_figures;
pub mod opensm;
pub mod path_selection;
mod phase_proof;
#[cfg(test)]
mod plain_tables;
mod proof;
mod quality;
mod region;
mod relation_proof;
pub mod relation_rules;
mod ring_proof;
mod run_loads;
#[cfg(test)]
mod tests;
mod worst_case;

pub use adaptive_routing::{adaptive, prove_adaptive};
pub use changes::Changes;
pub use deadlock_proof::{Danger, FlowControl, Freedom, prove_deadlock_free};
pub use file::{TableFile, header_text};
pub use forwarding_path::{ShortestWays, forwarding_path};
pub use forwarding_proof::{ForwardingFlaw, ForwardingProof, prove_forwarding};
pub use forwarding_quality::ForwardingQuality;
pub use load_bound::{LoadBound, Paths};
pub use load_figures::{LoadFigures, MAX_POWER, deviation};
pub use proof::{Flaw, Proof, prove};
pub use quality::Quality;
pub use region::Region;
pub use relation_proof::{RelationFlaw, RelationProof, prove_relation};
pub use worst_case::{NoWorstCase, WorstCase};

/// A torus with failed cables.
#[cfg(test)]
fn test_fabric(sizes: &[u32], cables: &[(u32, u32)]) -> flitlab_fabric::Fabric {
    use flitlab_fabric::{Faults, Torus};
    let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
    Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap()
}
