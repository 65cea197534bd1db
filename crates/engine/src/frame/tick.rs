//! Times as routers keep them: 32-bit ticks, relative to an epoch.
//!
//! Routers compare times all the time, and 32 bits instead of 64 halve the memory of these times.
//! The simulation's time has 64 bits. Every two milliseconds, and before a long idle time, the
//! epoch advances to the present, and all ticks are reduced by as much ([`rebased`]). Times before
//! the epoch become 0, which is safe because only future times are compared. Where past times are
//! needed, the epoch stays that far behind the present.

use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;

/// Picoseconds since the epoch.
pub(crate) type Tick = u32;

/// The time of an event that will not happen, as far as is known.
pub(crate) const NEVER: Tick = Tick::MAX;

/// Some time that is too far from the epoch for a tick.
pub(crate) const FAR: Tick = NEVER - 1;

/// The time of an event that will not happen, as far as is known, in picoseconds.
pub(crate) const NO_TIME: Picoseconds = Picoseconds::NEVER;

/// The epoch advances before any event at this tick or later.
pub(crate) const HORIZON: Tick = 1 << 31;

/// The end of simulated time, four seconds before the last time that can be represented: only hosts
/// compute further ahead.
pub const END: Picoseconds = Picoseconds(Picoseconds::LAST.0 - (1 << 42));

/// The maximum time of a packet on a channel, with the latencies of the channel and of a router,
/// about half a millisecond. With it, all times that a router computes before the horizon fit into
/// ticks.
pub const MAX_HOP_TIME: Picoseconds = Picoseconds(500_000_000);

/// The time of a tick. It can always be represented, as no epoch is later than [`END`]; so this is
/// a plain sum, which routers need at each grant.
#[inline(always)]
pub(crate) fn time(epoch: Picoseconds, tick: Tick) -> Picoseconds {
    Picoseconds(epoch.0 + u64::from(tick))
}

/// A time as a tick; 0 if it lies before the epoch.
#[inline]
pub(crate) fn tick(time: Picoseconds, epoch: Picoseconds) -> Tick {
    match time.checked_sub(epoch) {
        None => 0,
        Some(since) if since < Picoseconds::from(FAR) => fitted!(since.0, Tick),
        Some(_) => FAR,
    }
}

/// The first tick from one on at a multiple of a time.
#[inline]
pub(crate) fn multiple_from(from: Tick, of: Picoseconds, epoch: Picoseconds) -> Tick {
    if from == NEVER {
        return NEVER;
    }
    tick(Picoseconds(time(epoch, from).0.next_multiple_of(of.0)), epoch)
}

/// A tick after the epoch has advanced by `by`.
#[inline]
pub(crate) fn rebased(tick: Tick, by: Tick) -> Tick {
    if tick == NEVER { NEVER } else { tick.saturating_sub(by) }
}

/// Moves ticks back after the epoch has advanced by `by`.
pub(crate) fn move_back<'a>(ticks: impl IntoIterator<Item = &'a mut Tick>, by: Tick) {
    ticks.into_iter().for_each(|tick| *tick = rebased(*tick, by));
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

    #[test]
    fn multiples_are_those_of_the_time() {
        let next = |from| multiple_from(from, Picoseconds(10), Picoseconds(1_003));
        assert_eq!([0, 7, 8, 17, NEVER].map(next), [7, 7, 17, 17, NEVER]);
        assert_eq!(multiple_from(FAR, Picoseconds(10), Picoseconds(1)), FAR);
    }
}
