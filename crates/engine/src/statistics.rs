//! Statistics of channels: the flits that each carried, the time for which packets waited for it by
//! reason, and how long its packets had waited.
//!
//! [`Statistics`] belongs to a part; grants count into it.

use serde::{Deserialize, Serialize};

use crate::bytes::bytes_of;
use crate::frame::tick::Tick;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::{MAX_WAIT, STALLS};

/// The statistics of all channels since the last reset: network and ejection channels by router,
/// then injection channels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Statistics {
    vcs: usize,
    /// How many classes of traffic there are.
    classes: usize,
    /// Of several classes: flits of packets that were sent, by channel and class, counted with those
    /// by virtual channel. Those that are sent again, and acknowledgements, belong to no class.
    of_classes: Vec<u64>,
    /// Flits sent, by channel and virtual channel, counted at the grant.
    pub flits: Vec<u64>,
    /// Times in which packets waited for an output, by reason.
    pub stalled: Vec<[Picoseconds; STALLS]>,
    /// By output: time for which the packets that were granted it had waited.
    pub waited: Vec<Picoseconds>,
    /// By channel: time that the packet at hand at the reset still took.
    pub carried_over: Vec<Tick>,
}

impl Statistics {
    /// Bytes for each output, without those for its virtual channels.
    pub(crate) const BYTES_PER_OUTPUT: u64 =
        (size_of::<[Picoseconds; STALLS + 1]>() + size_of::<Tick>()) as u64;

    pub(crate) fn new(outputs: usize, channels: usize, vcs: usize, classes: usize) -> Self {
        Self {
            vcs,
            classes,
            of_classes: vec![0; if classes > 1 { channels * classes } else { 0 }],
            flits: vec![0; channels * vcs],
            stalled: vec![[Picoseconds::ZERO; STALLS]; outputs],
            waited: vec![Picoseconds::ZERO; outputs],
            carried_over: vec![0; channels],
        }
    }

    pub(crate) fn sent(&mut self, channel: u32, vc: u8, flits: u16) {
        self.flits[channel as usize * self.vcs + usize::from(vc)] += u64::from(flits);
    }

    /// Notes that a packet is granted an output at `now` that it could have had from `ready` on,
    /// which is not later.
    #[inline(always)]
    pub(crate) fn waited(&mut self, output: u32, ready: Tick, now: Tick) {
        let waited = (now - ready).min(fitted!(MAX_WAIT.0, Tick));
        // A plain sum, at each grant: as many packets as wait for an output would have to do so for
        // months before it is too large.
        self.waited[output as usize].0 += u64::from(waited);
    }

    /// Counts flits of a packet by its class, if there are several.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_class(&mut self, channel: u32, flits: u16, class: u8) {
        let class = usize::from(class);
        // Messages of classes of which nothing was said are usual ones, and not counted.
        if self.counts_classes() && class < self.classes {
            self.of_classes[channel as usize * self.classes + class] += u64::from(flits);
        }
    }

    /// Whether packets are counted by class.
    #[inline(always)]
    pub(crate) fn counts_classes(&self) -> bool {
        self.classes > 1
    }

    /// The flits of packets of each class, if there are several.
    pub(crate) fn by_class(&self, channel: u32) -> &[u64] {
        self.of_classes.chunks_exact(self.classes).nth(channel as usize).unwrap_or_default()
    }

    /// Forgets what was counted; what the channels are busy with at this time is for the caller.
    pub(crate) fn reset(&mut self) {
        self.flits.fill(0);
        self.of_classes.fill(0);
        self.stalled.fill([Picoseconds::ZERO; STALLS]);
        self.waited.fill(Picoseconds::ZERO);
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
        bytes_of!(self; flits, of_classes, stalled, waited, carried_over)
    }
}
