//! What is simulated, and what a simulation tells: the parameters of routers, links and adapters, and records.
//!
//! Nothing here simulates. So whoever draws or writes what was measured needs neither the engine nor routing.
//!
//! | kind | types |
//! |---|---|
//! | parameters | [`Parameters`], [`FlitSharing`], [`CollectiveUnit`], [`LinkErrors`], [`Passage`] |
//! | packets and messages | [`DeliveredPacket`], [`CompletedMessage`], [`Misroute`], [`Grant`], [`Quantile`] |
//! | channels | [`ChannelKind`], [`ChannelReport`], [`ChannelStatistics`], [`Stall`] |
//! | runs | [`Digest`], [`Deadlock`], [`Explanation`] |
//! | statistics | [`interval`] |
//!
//! # Example
//!
//! ```
//! use flitlab_model::Parameters;
//!
//! let angara = Parameters::default();
//! // A header, 16 flits of payload for the maximum of 256 B, and a checksum.
//! assert_eq!(angara.maximum_packet(), angara.packet_flits(angara.maximum_payload.0));
//! ```

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

mod channel;
mod deadlock;
mod delivery;
mod digest;
mod explanation;
pub mod interval;
mod link_errors;
mod parameters;
mod passage;
mod student;

pub use channel::{ChannelKind, ChannelReport, ChannelStatistics, STALLS, Stall};
pub use deadlock::{Deadlock, Lack, Waiting};
pub use delivery::{CompletedMessage, DeliveredPacket, Grant, Misroute, Quantile};
pub use digest::Digest;
pub use explanation::{Activity, Explanation, Spent, Stretch, Times};
pub use link_errors::{Acknowledgements, Bursts, LinkErrors, Resend, Retry};
pub use parameters::*;
pub use passage::Passage;
