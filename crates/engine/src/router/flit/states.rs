//! The states of a virtual channel at an input port.
//!
//! ```text
//!   Idle --> Routing --> VcAlloc --> Active --> Idle, or Routing if a packet is behind
//!               |           ^
//!               +-> Deciding
//! ```

use serde::{Deserialize, Serialize};

/// The state of a queue's head packet. These are the states of an input virtual channel in Dally
/// and Towles, section 16.2, and one more for routings that decide on detours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum VcState {
    /// No packet is at the head.
    #[default]
    Idle,
    /// Routing: the outputs that the packet asks for are not computed yet.
    Routing,
    /// The packet has to decide on a detour when it asks.
    Deciding,
    /// The packet waits for a virtual channel of an output.
    VcAlloc,
    /// The packet holds a virtual channel of an output: its flits ask for the switch.
    Active,
}
