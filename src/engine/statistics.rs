//! What each channel carried, and how long it stood still with packets waiting, and why.

use super::parameters::VIRTUAL_CHANNELS;
use crate::units::Picoseconds;

/// Why packets that ask for an output wait. Where several packets wait for different reasons, the one
/// nearest to being served counts: the later in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// The buffer at the far end has no room for the packet.
    NoCredit,
    /// There is room for the packet, but not for the bubble that entering the ring needs.
    Bubble,
    /// There is room, but the packet's input port is sending another packet.
    InputBusy,
    /// The output is sending another packet.
    OutputBusy,
}

/// Number of reasons.
pub const STALLS: usize = 4;

/// Flits and stall times of one channel since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Flits sent, by virtual channel, counted at the grant.
    pub flits: [u64; VIRTUAL_CHANNELS],
    /// Time in which packets waited for this channel, by reason, in picoseconds.
    pub stalled: [Picoseconds; STALLS],
}

const MOVING: u8 = STALLS as u8;

/// The statistics of all channels.
#[derive(Debug)]
pub(super) struct Statistics {
    channels: Vec<ChannelStatistics>,
    /// Why each output's packets wait at present, and since when.
    present: Vec<(Picoseconds, u8)>,
}

impl Statistics {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels: vec![ChannelStatistics::default(); channels],
            present: vec![(0, MOVING); channels],
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.channels.len() * (size_of::<ChannelStatistics>() + size_of::<(Picoseconds, u8)>())
    }

    #[inline]
    pub(super) fn sent(&mut self, channel: u32, virtual_channel: u8, flits: u16) {
        self.channels[channel as usize].flits[usize::from(virtual_channel)] += u64::from(flits);
    }

    /// From now on packets wait for this reason.
    #[inline]
    pub(super) fn stalled(&mut self, channel: u32, reason: Stall, now: Picoseconds) {
        self.change(channel, reason as u8, now);
    }

    /// As [`Self::stalled`], unless packets wait already.
    #[inline]
    pub(super) fn stalled_if_not(&mut self, channel: u32, reason: Stall, now: Picoseconds) {
        if self.present[channel as usize].1 == MOVING {
            self.change(channel, reason as u8, now);
        }
    }

    /// From now on nothing waits.
    #[inline]
    pub(super) fn moving(&mut self, channel: u32, now: Picoseconds) {
        self.change(channel, MOVING, now);
    }

    #[inline]
    fn change(&mut self, channel: u32, reason: u8, now: Picoseconds) {
        let (since, present) = &mut self.present[channel as usize];
        if *present == reason {
            return;
        }
        if *present != MOVING {
            self.channels[channel as usize].stalled[usize::from(*present)] += now - *since;
        }
        (*since, *present) = (now, reason);
    }

    /// Starts anew at `now`: zero everywhere, what waits goes on waiting.
    pub(super) fn reset(&mut self, now: Picoseconds) {
        self.channels.fill(ChannelStatistics::default());
        for (since, _) in &mut self.present {
            *since = now;
        }
    }

    /// One channel's statistics up to `now`.
    pub(super) fn channel(&self, channel: u32, now: Picoseconds) -> ChannelStatistics {
        let mut statistics = self.channels[channel as usize];
        let (since, present) = self.present[channel as usize];
        if present != MOVING {
            statistics.stalled[usize::from(present)] += now - since;
        }
        statistics
    }
}
