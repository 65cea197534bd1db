//! Statistics of channels: the flits that each carried, and the time for which packets waited for
//! it, by reason.
//!
//! [`Statistics`] belongs to a part; grants count into it.

use serde::{Deserialize, Serialize};

use crate::frame::tick::Tick;
use flitlab_base::units::Picoseconds;
use flitlab_model::STALLS;

/// The statistics of all channels since the last reset: network and ejection channels by router,
/// then injection channels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Statistics {
    vcs: usize,
    /// Flits sent, by channel and virtual channel, counted at the grant.
    pub flits: Vec<u64>,
    /// Times in which packets waited for an output, by reason.
    pub stalled: Vec<[Picoseconds; STALLS]>,
    /// By channel: time that the packet at hand at the reset still took.
    pub carried_over: Vec<Tick>,
}

impl Statistics {
    /// Bytes for each output, without those for its virtual channels.
    pub(crate) const BYTES_PER_OUTPUT: u64 =
        (size_of::<[Picoseconds; STALLS]>() + size_of::<Tick>()) as u64;

    pub(crate) fn new(outputs: usize, channels: usize, vcs: usize) -> Self {
        Self {
            vcs,
            flits: vec![0; channels * vcs],
            stalled: vec![[Picoseconds::ZERO; STALLS]; outputs],
            carried_over: vec![0; channels],
        }
    }

    pub(crate) fn sent(&mut self, channel: u32, vc: u8, flits: u16) {
        self.flits[channel as usize * self.vcs + usize::from(vc)] += u64::from(flits);
    }

    /// Time for which a channel carried flits since the reset, at `flit_time` each; it will be free
    /// after the time `left`. Flits are counted at the grant. So the rest of the packet at hand is
    /// subtracted, and the rest of the packet at the reset is added. The time is exact if flits
    /// follow back to back. Otherwise it is too small by less than a packet, and never too large.
    pub(crate) fn busy(&self, channel: u32, flit_time: Tick, left: Picoseconds) -> Picoseconds {
        let flits: u64 = self.of(channel).iter().sum();
        let granted = flits * Picoseconds::from(flit_time)
            + Picoseconds::from(self.carried_over[channel as usize]);
        granted.saturating_sub(left)
    }

    pub(crate) fn of(&self, channel: u32) -> &[u64] {
        &self.flits[channel as usize * self.vcs..][..self.vcs]
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.flits) + size_of_val(&*self.stalled) + size_of_val(&*self.carried_over)
    }
}
