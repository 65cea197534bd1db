//! What each channel carried, and how long it stood still with packets waiting, and why.

use super::port::Output;
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Flits sent, by virtual channel, counted at the grant.
    pub flits: Vec<u64>,
    /// Time in which packets waited for this channel, by reason, in picoseconds.
    pub stalled: [Picoseconds; STALLS],
}

/// Why packets wait for an output at present, and since when; or that none do.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(super) struct Stalled {
    since: Picoseconds,
    reason: u8,
}

impl Stalled {
    pub(super) const NOT: Self = Self { since: 0, reason: STALLS as u8 };

    #[inline]
    pub(super) fn is_none(self) -> bool {
        usize::from(self.reason) == STALLS
    }
}

/// The statistics of all channels, as far as they are not in [`Output`]: a grant on virtual channel 0
/// touches nothing here.
#[derive(Debug)]
pub(super) struct Statistics<const LANES: usize> {
    /// Flits on the virtual channels above 0; the rest of an output's flits were on 0, which counts
    /// nothing here.
    flits: Vec<[u64; LANES]>,
    stalled: Vec<[Picoseconds; STALLS]>,
    /// For how long the packet was still to be sent that each channel was sending at the reset.
    carried_over: Vec<Picoseconds>,
}

impl<const LANES: usize> Statistics<LANES> {
    /// Bytes for each channel.
    pub(super) const A_CHANNEL: u64 =
        (size_of::<[u64; LANES]>() + size_of::<[Picoseconds; STALLS]>()) as u64;

    pub(super) fn new(channels: usize) -> Self {
        Self {
            flits: vec![[0; LANES]; channels],
            stalled: vec![[0; STALLS]; channels],
            carried_over: vec![0; channels],
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.flits.len()
            * (size_of::<[u64; LANES]>()
                + size_of::<[Picoseconds; STALLS]>()
                + size_of::<Picoseconds>())
    }

    #[inline]
    pub(super) fn sent(
        &mut self,
        channel: u32,
        output: &mut Output<LANES>,
        virtual_channel: u8,
        flits: u16,
    ) {
        output.flits += u64::from(flits);
        if virtual_channel > 0 {
            self.flits[channel as usize][usize::from(virtual_channel)] += u64::from(flits);
        }
    }

    /// From now on packets wait for this reason.
    #[inline]
    pub(super) fn stalled(
        &mut self,
        channel: u32,
        output: &mut Output<LANES>,
        reason: Stall,
        now: Picoseconds,
    ) {
        self.change(channel, output, reason as u8, now);
    }

    /// From now on nothing waits.
    #[inline]
    pub(super) fn moving(&mut self, channel: u32, output: &mut Output<LANES>, now: Picoseconds) {
        self.change(channel, output, STALLS as u8, now);
    }

    #[inline]
    fn change(&mut self, channel: u32, output: &mut Output<LANES>, reason: u8, now: Picoseconds) {
        let Stalled { since, reason: present } = output.stall;
        if present == reason {
            return;
        }
        if let Some(stalled) = self.stalled[channel as usize].get_mut(usize::from(present)) {
            *stalled += now - since;
        }
        output.stall = Stalled { since: now, reason };
    }

    /// Starts anew at `now`: zero everywhere, what waits goes on waiting.
    pub(super) fn reset(&mut self, outputs: &mut [Output<LANES>], now: Picoseconds) {
        self.flits.fill([0; LANES]);
        self.stalled.fill([0; STALLS]);
        for (output, carried_over) in outputs.iter_mut().zip(&mut self.carried_over) {
            output.flits = 0;
            output.stall.since = now;
            *carried_over = output.free_at.saturating_sub(now);
        }
    }

    /// For how long a channel carried flits from the reset to `now`, each for `flit_time`. Flits are counted
    /// at the grant: what the packet at hand still needs is left out, and that of the packet at the reset comes
    /// in. Exact if its flits follow back to back, else off by less than a packet, and never too much.
    pub(super) fn busy(
        &self,
        channel: u32,
        output: &Output<LANES>,
        flit_time: Picoseconds,
        now: Picoseconds,
    ) -> Picoseconds {
        let granted = output.flits * flit_time + self.carried_over[channel as usize];
        let free_at = output.free_at;
        granted.saturating_sub(free_at.saturating_sub(now))
    }

    /// One channel's statistics up to `now`, of so many virtual channels.
    pub(super) fn channel(
        &self,
        channel: u32,
        output: &Output<LANES>,
        virtual_channels: u8,
        now: Picoseconds,
    ) -> ChannelStatistics {
        let mut stalled = self.stalled[channel as usize];
        let Stalled { since, reason } = output.stall;
        if let Some(stalled) = stalled.get_mut(usize::from(reason)) {
            *stalled += now - since;
        }
        let mut flits = self.flits[channel as usize];
        flits[0] = output.flits - flits.iter().sum::<u64>();
        ChannelStatistics { flits: flits[..usize::from(virtual_channels)].to_vec(), stalled }
    }
}
