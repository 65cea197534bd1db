//! Times as routers keep them: 32 bits, counted from an epoch that moves on.
//!
//! A router compares times all day, and half as many bytes is half as much memory. The simulation's time is 64 bits;
//! every two milliseconds, and before a long idle time, the epoch moves up to the present and all ticks are moved back
//! by as much ([`rebased`]). What is over by then becomes 0: how long ago it was is asked by nobody. (Where it is, the epoch
//! stays that far behind the present.)

use crate::narrow::fitted;
use crate::units::Picoseconds;

/// Picoseconds since the epoch.
pub(super) type Tick = u32;

/// What is not going to happen, as far as is known.
pub(super) const NEVER: Tick = Tick::MAX;

/// Some time that is too far from the epoch to be told.
pub(super) const FAR: Tick = NEVER - 1;

/// The time of what is not going to happen, as far as is known.
pub(super) const NO_TIME: Picoseconds = Picoseconds::NEVER;

/// The epoch moves on before anything happens at this tick.
pub(super) const HORIZON: Tick = 1 << 31;

/// The engine simulates up to here, four seconds before the last time that can be told: nothing but what hosts do is
/// reckoned further ahead.
pub const END: Picoseconds = Picoseconds(Picoseconds::LAST.0 - (1 << 42));

/// The longest that a packet on a channel, the channel's latency and a router's may take together, about half a
/// millisecond: whatever a router reckons with before the horizon can then be told in ticks.
pub const MAX_HOP_TIME: Picoseconds = Picoseconds(500_000_000);

/// The time of a tick, which can be told: no epoch is later than [`END`]. A plain sum, since routers ask all the time.
#[inline(always)]
pub(super) fn time(epoch: Picoseconds, tick: Tick) -> Picoseconds {
    Picoseconds(epoch.0 + u64::from(tick))
}

/// A time as a tick; 0 if it is over.
#[inline]
pub(super) fn tick(time: Picoseconds, epoch: Picoseconds) -> Tick {
    match time.checked_sub(epoch) {
        None => 0,
        Some(since) if since < Picoseconds::from(FAR) => fitted!(since.0, Tick),
        Some(_) => FAR,
    }
}

/// A tick after the epoch has moved on by so much.
#[inline]
pub(super) fn rebased(tick: Tick, by: Tick) -> Tick {
    if tick == NEVER { NEVER } else { tick.saturating_sub(by) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_count_from_the_epoch() {
        let epoch = Picoseconds(1 << 40);
        assert_eq!(tick(epoch - Picoseconds(1), epoch), 0);
        assert_eq!(tick(epoch + Picoseconds(7), epoch), 7);
        assert_eq!(tick(epoch + Picoseconds::from(FAR), epoch), FAR);
        assert_eq!(tick(Picoseconds::NEVER, epoch), FAR);
        assert_eq!([3, 9, NEVER].map(|tick| rebased(tick, 5)), [0, 4, NEVER]);
    }
}
