//! The queue of flits of an input virtual channel, or of an input virtual channel and an output.
//!
//! [`FlitQueue`] is the state of a queue and of its head packet. It belongs to
//! [`FlitState`](super::FlitState); routing, allocation and switch traversal change it.

use serde::{Deserialize, Serialize};

use super::states::VcState;
use super::time_rings::{TimeRing, Times};
use crate::frame::tick::Tick;
use crate::network::NO_OUTPUT;
use crate::network::port;
use crate::network::port::AWAY;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// The upstream end of a queue's channel; it never changes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Upstream {
    /// The place of the virtual channel upstream; with [`AWAY`] set, an index into
    /// `remote_upstreams`.
    pub place: u32,
    /// Time of a credit to it.
    pub back: Tick,
    /// Whether a terminal is upstream.
    pub injects: bool,
}

impl Upstream {
    /// The upstream end of the queues of an input port and virtual channel.
    pub(super) fn new(input_port: &port::Input, vc: u32, back: Tick) -> Self {
        let &port::Input { upstream, injects, .. } = input_port;
        let place = if upstream & AWAY == 0 { upstream + vc } else { upstream };
        Self { place, back, injects }
    }
}

/// What the head of a queue holds or may take: once the queue is active, the place of the virtual
/// channel that its packet holds; before that, of a relation, the list of its hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held(u32);

impl Default for Held {
    fn default() -> Self {
        Self(NONE)
    }
}

impl Held {
    /// The virtual channel at a place.
    pub(super) fn vc(place: usize) -> Self {
        Self(fitted!(place, u32))
    }

    /// A list of hops, of which it holds none yet.
    pub(super) fn hops(list: u32) -> Self {
        Self(list)
    }

    /// The place of the virtual channel of an active queue.
    #[inline(always)]
    pub(super) fn place(self) -> usize {
        self.0 as usize
    }

    /// The list of hops of a head that asks by a relation.
    #[inline(always)]
    pub(super) fn list(self) -> u32 {
        self.0
    }
}

/// A queue, and its head packet.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlitQueue {
    /// Its input port and virtual channel, and its number among the port's queues.
    pub input: u16,
    pub in_vc: u8,
    pub of_port: u16,
    /// Its input port, by its number in the part.
    pub input_port: u32,
    pub upstream: Upstream,
    /// The arrival time of each flit, in order; some flits may be under way.
    pub flits: TimeRing,
    /// The first and the last packet behind the routed one. A head whose route has not been
    /// computed is itself the first.
    pub head: u32,
    pub tail: u32,
    pub vc_state: VcState,
    /// The virtual channel that it holds at its output; before that, the one of its escape.
    pub vc: u8,
    /// The virtual channels that it may take at its output, a bit each.
    pub vcs: u16,
    /// Whether it has a choice of outputs; and on a torus the ports among which it chooses, a bit
    /// each.
    pub chooses: bool,
    pub options: u16,
    /// The output that it asks for; for a packet with a choice that of its escape.
    pub output: u16,
    /// Flits of room that it needs there.
    pub need: u16,
    /// What it holds, or may take.
    pub held: Held,
    /// Flits of the packet that have not been granted the switch.
    pub left: u16,
    /// The virtual channel of an output at which its cyclic order of offers starts; it counts by
    /// output, then virtual channel.
    pub accepts: u16,
    /// Time before which it does not ask again.
    pub again: Tick,
    /// Time at which the packet before it has left.
    pub free_at: Tick,
    /// The slot of the routed head, [`NONE`] once its header has gone to the next router; and the
    /// head's identity.
    pub slot: u32,
    pub source: u32,
    pub sequence: u32,
    pub created: Picoseconds,
    /// While it is active: its place among the router's active virtual channels.
    pub active: u32,
    /// Its output, by its number in the part, the index of that channel's timing, whether its flits
    /// take credits there, and whether they leave the network.
    pub output_port: u32,
    pub timing: u8,
    pub needs_room: bool,
    pub leaves: bool,
    /// The queue of the part that its flits go to, once its header has gone there; [`NONE`] if
    /// flits have to be handed over otherwise.
    pub far: u32,
    /// The place of its flits' counter in the statistics, and its packet's class where flits are
    /// counted by class.
    pub counted: u32,
    pub class: u8,
    /// The part of the digest's hash that depends on its packet and channel.
    pub mark: u64,
}

impl FlitQueue {
    /// An empty queue of an input port and virtual channel, for this many flits.
    pub(super) fn new(
        (input, in_vc, of_port): (u16, u8, u16),
        (input_port, upstream): (u32, Upstream),
        room: u32,
        times: &mut Times,
    ) -> Self {
        Self {
            input,
            in_vc,
            of_port,
            input_port,
            upstream,
            flits: TimeRing::new(room, times),
            head: NONE,
            tail: NONE,
            output: NO_OUTPUT,
            held: Held::default(),
            slot: NONE,
            source: NONE,
            ..Self::default()
        }
    }

    /// Whether its header has still to go to the next router.
    #[inline(always)]
    pub(super) fn has_header(&self) -> bool {
        !self.leaves && self.slot != NONE
    }
}
