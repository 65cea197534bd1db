//! An input port's queue of flits: one of a virtual channel, or of a virtual channel and an output.

use serde::{Deserialize, Serialize};

use super::time_rings::{TimeRing, Times};
use crate::engine::ports::{self, AWAY, NO_OUTPUT};
use crate::engine::tick::{Tick, rebased};
use crate::topology::NONE;
use crate::units::Picoseconds;

/// The state of a queue's head packet: the states of an input virtual channel in Dally and Towles,
/// section 16.2, and one more for a routing that decides on detours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum VcState {
    /// No packet is at the head.
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

/// Where a queue's flits come from; it never changes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Upstream {
    /// The place of the virtual channel at the other end; where in `remote_upstreams` if it is [`AWAY`].
    pub place: u32,
    /// Whether it is a terminal's.
    pub injects: bool,
    /// Which of the network's timings the channel has.
    pub timing: u8,
}

impl Upstream {
    /// Of the queues of an input port and virtual channel.
    pub(super) fn new(input_port: &ports::Input, vc: u32) -> Self {
        let &ports::Input { upstream, injects, timing, .. } = input_port;
        let place = if upstream & AWAY == 0 { upstream + vc } else { upstream };
        Self { place, injects, timing }
    }
}

/// A queue, and the packet at its head.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FlitQueue {
    /// Its input port and virtual channel, and its number among the port's.
    pub input: u16,
    pub in_vc: u8,
    pub of_port: u16,
    pub upstream: Upstream,
    /// When each flit is there, in order; some may be on their way.
    pub flits: TimeRing,
    /// The packets behind the one that is being sent, the first and the last; the one that asks is the first.
    pub head: u32,
    pub tail: u32,
    pub vc_state: VcState,
    /// The virtual channel that it has at its output, or of its escape.
    pub vc: u8,
    /// The virtual channels that it may take at its output, a bit each.
    pub vcs: u16,
    /// The ports among which it chooses, a bit each; 0 if it has no choice.
    pub options: u16,
    /// The output that it asks for; if it chooses that of its escape.
    pub output: u16,
    /// Room that it needs there.
    pub need: u16,
    /// Where the virtual channel is that it has.
    pub held: u32,
    /// Its flits.
    pub left: u16,
    /// The virtual channel of an output (output, then virtual channel) at which its search among offers starts.
    pub accepts: u16,
    /// Before when it does not ask again.
    pub again: Tick,
    /// When the packet before it has left.
    pub free_at: Tick,
    /// Its place among packets while it leaves the network, and who it is.
    pub slot: u32,
    pub source: u32,
    pub sequence: u32,
    pub created: Picoseconds,
}

impl FlitQueue {
    /// Empty, of an input port and virtual channel, for so many flits.
    pub(super) fn new(
        (input, in_vc, of_port): (u16, u8, u16),
        upstream: Upstream,
        room: u32,
        times: &mut Times,
    ) -> Self {
        Self {
            input,
            in_vc,
            of_port,
            upstream,
            flits: TimeRing::new(room, times),
            head: NONE,
            tail: NONE,
            vc_state: VcState::Idle,
            vc: 0,
            vcs: 0,
            options: 0,
            output: NO_OUTPUT,
            need: 0,
            held: NONE,
            left: 0,
            accepts: 0,
            again: 0,
            free_at: 0,
            slot: NONE,
            source: NONE,
            sequence: 0,
            created: Picoseconds::ZERO,
        }
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        self.again = rebased(self.again, by);
        self.free_at = rebased(self.free_at, by);
    }
}
