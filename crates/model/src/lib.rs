//! The parameters of a simulation, and the records of its results.
//!
//! - [`Parameters`] holds sizes, rates, latencies and rules of routers, links and adapters.
//!   docs/model.md gives the effect of each one.
//! - [`DeliveredPacket`], [`CompletedMessage`] and [`ChannelReport`] are the records that observers
//!   and reports get. [`Digest`] is the fingerprint of a run, and [`Deadlock`] the cycle of packets
//!   that ended one.
//!
//! Nothing here simulates. So code that draws or writes results needs neither the engine nor
//! routing.
//!
//! | subject | types |
//! |---|---|
//! | routers | [`RouterKind`], [`FlitSharing`], [`OutputQueues`]; what each kind can do: [`FEATURES`] |
//! | parameters | [`Parameters`], [`CollectiveUnit`], [`LinkErrors`], [`Passage`] |
//! | traffic | [`TrafficClass`], [`PacketKind`] |
//! | packets | [`DeliveredPacket`], [`CompletedMessage`], [`Misroute`], [`Grant`], [`Quantile`] |
//! | channels | [`ChannelKind`], [`ChannelReport`], [`ChannelStatistics`], [`Stall`] |
//! | runs | [`Digest`], [`Deadlock`], [`Explanation`] |
//! | statistics | [`interval`] |
//! | what the engine asks for messages | [`workload`] |
//!
//! # Parameters of a link
//!
//! The defaults are those of the Angara interconnect.
//!
//! ```
//! use flitlab_base::units::{Picoseconds, Rate};
//! use flitlab_model::{LinkErrors, Parameters};
//!
//! let angara = Parameters::default();
//! // A header flit, 16 flits of payload for the maximum of 256 B, and a checksum flit.
//! assert_eq!(angara.maximum_packet(), 18);
//! // A flit of 16 B at 60 Gb/s.
//! assert_eq!(angara.link_flit_time(), Picoseconds(2_133));
//!
//! // A link of twice the rate, on which one bit in 10^12 is damaged.
//! let errors = LinkErrors { bit_error_rate: 1e-12, ..LinkErrors::default() };
//! let fast = Parameters {
//!     link_rate: Rate(120_000_000_000),
//!     link_latency: Picoseconds(40_000),
//!     errors: Some(errors),
//!     ..Parameters::default()
//! };
//! assert_eq!(fast.link_flit_time(), Picoseconds(1_067));
//! ```

#![warn(missing_docs)]

mod channel;
mod deadlock;
mod delivery;
mod digest;
mod explanation;
mod features;
pub mod interval;
mod link_errors;
mod parameters;
mod passage;
mod router_kind;
mod student;
mod traffic_class;
pub mod workload;

pub use channel::{ChannelKind, ChannelReport, ChannelStatistics, MAX_WAIT, STALLS, Stall};
pub use deadlock::{Deadlock, Lack, Waiting};
pub use delivery::{CompletedMessage, DeliveredPacket, Grant, Misroute, Quantile};
pub use digest::Digest;
pub use explanation::{Activity, Bar, Explanation, PhaseTimes, RankPhase, Spent, Stretch, Times};
pub use features::{FEATURES, Feature, FeatureRow, Support};
pub use link_errors::{Acknowledgements, Bursts, LinkErrors, Resend, Retry};
pub use parameters::*;
pub use passage::Passage;
pub use router_kind::{FlitSharing, OutputQueues, RouterKind};
pub use traffic_class::{PacketKind, TrafficClass};
