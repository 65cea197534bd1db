//! Outputs and input ports: what never changes of them but by a failure.

use serde::{Deserialize, Serialize};

use crate::network::NO_OUTPUT;
use flitlab_fabric::NONE;
use flitlab_model::ChannelKind;

/// Bit of [`Input::upstream`]: the sender is in another part.
pub(crate) const AWAY: u32 = 1 << 31;

/// In place of a port: the channel leaves no router.
pub(crate) const NO_PORT: u8 = u8::MAX;

/// The sending end of a channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Output {
    pub kind: ChannelKind,
    /// Index of its timing in the network's.
    pub timing: u8,
    pub in_ring: bool,
    /// Whether it leads nowhere: a vacant port, or one that has failed.
    pub dead: bool,
    /// Whether there is a buffer at its far end.
    pub needs_room: bool,
    /// Whether a packet that is granted it is sent to the next router at once, or by a link that
    /// may send it again.
    pub hands_on: bool,
    pub repeats: bool,
    /// The input port at its far end among those of the far router.
    pub far_input: u16,
    /// The far router's part, and its number there; [`NONE`] at a vacant port and for an ejection
    /// channel.
    pub far_part: u32,
    pub far_router: u32,
    /// The place of its credits in the routers' list, for virtual channel 0.
    pub room: u32,
}

impl Output {
    /// A port without a channel.
    pub(crate) const VACANT: Self = Self {
        kind: ChannelKind::Network,
        timing: 0,
        in_ring: false,
        dead: true,
        needs_room: false,
        hands_on: false,
        repeats: false,
        far_input: 0,
        far_part: NONE,
        far_router: NONE,
        room: 0,
    };

    /// Makes it swallow what is sent to it.
    pub(crate) fn fail(&mut self) {
        self.dead = true;
        self.needs_room = false;
        (self.hands_on, self.repeats) = (false, false);
    }

    /// Whether it is a channel to another router, perhaps one that has failed since.
    pub(crate) fn is_wired(&self) -> bool {
        self.far_router != NONE
    }
}

/// The receiving end of a channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Input {
    /// The place of the sender's credits, for virtual channel 0; with [`AWAY`] set, an index into
    /// `remote_upstreams`.
    pub upstream: u32,
    pub injects: bool,
    /// Index of its channel's timing in the network's.
    pub timing: u8,
    /// The output that continues the ring of its channel; [`NO_OUTPUT`] if none does.
    pub ring_output: u16,
    /// The output of the same cable, in the other direction.
    pub opposite: u16,
    /// The port by which its channel leaves the router upstream.
    pub port: u8,
}

impl Input {
    /// The output of the cable by which packets have come; `None` if they have been injected.
    #[inline(always)]
    pub(crate) fn came(&self) -> Option<u16> {
        (!self.injects).then_some(self.opposite)
    }

    /// A port of a reduction unit: nobody gets credits for what leaves it.
    pub(crate) const OF_UNIT: Self = Self { upstream: NONE, ..Self::VACANT };

    /// A port that no channel feeds.
    pub(crate) const VACANT: Self = Self {
        upstream: AWAY,
        ring_output: NO_OUTPUT,
        opposite: NO_OUTPUT,
        port: NO_PORT,
        injects: false,
        timing: 0,
    };
}
