//! Outputs and input ports, in blocks of eight: a loop over eight ports needs no branches, and all
//! that a grant needs lies together.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick};
use crate::network::NO_OUTPUT;
use flitlab_fabric::NONE;
use flitlab_model::{ChannelKind, Stall};

/// Bit of [`Input::upstream`]: the sender is in another part.
pub(crate) const AWAY: u32 = 1 << 31;

/// In place of a port: the channel leaves no router.
pub(crate) const NO_PORT: u8 = u8::MAX;

/// In place of a [`Stall`]: no packet waits for the output.
pub(crate) const NOT_STALLED: u8 = u8::MAX;

/// The sending end of a channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Output {
    /// Time at which the last flit of the latest packet has left.
    pub free_at: Tick,
    /// Time since which packets wait for it, and why ([`Stall`]); [`NEVER`] if none
    /// waits. While the output is busy this may lie ahead: then it is the time of the first
    /// request.
    pub since: Tick,
    pub stall: u8,
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
    /// The input virtual channel at which round-robin arbitration starts.
    pub pointer: u16,
    /// The input virtual channel at its far end among those of the far router, for virtual channel
    /// 0.
    pub far_input_vc: u16,
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
        free_at: 0,
        since: NEVER,
        stall: NOT_STALLED,
        kind: ChannelKind::Network,
        timing: 0,
        in_ring: false,
        dead: true,
        needs_room: false,
        hands_on: false,
        repeats: false,
        pointer: 0,
        far_input_vc: 0,
        far_part: NONE,
        far_router: NONE,
        room: 0,
    };

    /// Makes it busy until a time. The packets that ask for it wait since the time `since`, if that
    /// is not [`NEVER`]; `due` becomes the time at which it can grant.
    #[inline(always)]
    pub(crate) fn keep_busy(&mut self, due: &mut Tick, since: Tick, until: Tick) {
        (self.free_at, self.since, self.stall) = (until, since, Stall::OutputBusy as u8);
        *due = if since == NEVER { NEVER } else { until.max(since) };
    }

    /// Whether it is a channel to another router, perhaps one that has failed since.
    pub(crate) fn is_wired(&self) -> bool {
        self.far_router != NONE
    }
}

/// The receiving end of a channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Input {
    /// Time at which the latest packet that was granted an output has left.
    pub free_at: Tick,
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

    /// A port that no channel feeds.
    pub(crate) const VACANT: Self = Self {
        free_at: 0,
        upstream: AWAY,
        ring_output: NO_OUTPUT,
        opposite: NO_OUTPUT,
        port: NO_PORT,
        injects: false,
        timing: 0,
    };
}

/// How many ports there are in a block.
pub(crate) const BLOCK_PORTS: usize = 8;

/// Eight of a router's outputs and eight of its input ports; places behind the last port are
/// vacant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct PortBlock {
    /// The earliest time at which each output can grant; [`NEVER`] for a vacant place.
    pub due: [Tick; BLOCK_PORTS],
    pub outputs: [Output; BLOCK_PORTS],
    pub inputs: [Input; BLOCK_PORTS],
}

impl PortBlock {
    pub(crate) const VACANT: Self = Self {
        due: [NEVER; BLOCK_PORTS],
        outputs: [Output::VACANT; BLOCK_PORTS],
        inputs: [Input::VACANT; BLOCK_PORTS],
    };

    /// The outputs that are due at this time, a bit each.
    #[inline(always)]
    pub(crate) fn due_at(&self, time: Tick) -> u64 {
        let mut outputs = 0;
        for (output, &due) in self.due.iter().enumerate() {
            outputs |= u64::from(due == time) << output;
        }
        outputs
    }
}

/// The earliest time of all outputs of a router.
#[inline(always)]
pub(crate) fn least(blocks: &[PortBlock]) -> Tick {
    let mut least = NEVER;
    for PortBlock { due: [a, b, c, d, e, f, g, h], .. } in blocks {
        let quarters = [a.min(e), b.min(f), c.min(g), d.min(h)];
        least = least.min(*quarters[0].min(quarters[1]).min(quarters[2].min(quarters[3])));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_found_wherever_it_is() {
        assert_eq!(least(&[]), NEVER);
        for output in 0..16 {
            let mut blocks = [PortBlock::VACANT, PortBlock::VACANT];
            blocks.iter_mut().for_each(|block| block.due = [9; BLOCK_PORTS]);
            blocks[output / BLOCK_PORTS].due[output % BLOCK_PORTS] = 3;
            assert_eq!(least(&blocks), 3);
            assert_eq!(blocks[output / BLOCK_PORTS].due_at(3), 1 << (output % BLOCK_PORTS));
            assert_eq!(blocks[1 - output / BLOCK_PORTS].due_at(3), 0);
        }
    }
}
