//! Room that becomes free flit by flit: of a buffer, as its sender knows it by credits, or of a
//! buffer at an output (docs/model.md, "Flits of a buffer").

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::frame::tick::{NEVER, Tick, rebased};

/// Flits of a packet whose room becomes free, one after the other at equal distances.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Leaving {
    /// When the room of the last flit is free.
    pub last: Tick,
    /// Time from flit to flit.
    pub flit: Tick,
    pub flits: u32,
}

impl Leaving {
    /// The number of its flits whose room is free by a time.
    #[inline]
    fn by(&self, now: Tick) -> u32 {
        self.flits.saturating_sub(self.last.saturating_sub(now).div_ceil(self.flit))
    }

    /// When the room of so many of its flits is free, of the last one at the latest.
    #[inline]
    pub(crate) fn from(&self, flits: u32) -> Tick {
        self.last.saturating_sub((self.flits - flits) * self.flit)
    }
}

/// The room of a buffer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Room {
    /// Free flits, without those that have become free since they were collected.
    free: u32,
    /// What becomes free, in the order of time.
    leaving: VecDeque<Leaving>,
    /// Whether somebody waits for room of which it is not known yet when it will be free.
    awaited: bool,
}

impl Room {
    /// The room of an empty buffer.
    pub(super) fn new(flits: u32) -> Self {
        Self { free: flits, ..Self::default() }
    }

    /// Collects what is free by now.
    #[inline]
    fn collect(&mut self, now: Tick) {
        while let Some(first) = self.leaving.front_mut() {
            let flits = first.by(now);
            self.free += flits;
            first.flits -= flits;
            if first.flits > 0 {
                return;
            }
            self.leaving.pop_front();
        }
    }

    /// Free flits by a time that is not before that of an earlier call.
    #[inline]
    pub(super) fn at(&mut self, now: Tick) -> u32 {
        self.collect(now);
        self.free
    }

    /// Whether there is room for so many flits by now.
    #[inline]
    pub(super) fn has(&mut self, flits: u32, now: Tick) -> bool {
        self.free >= flits || self.at(now) >= flits
    }

    /// Takes room that there is.
    #[inline]
    pub(super) fn take(&mut self, flits: u32) {
        self.free -= flits;
    }

    /// Notes what becomes free after all that is noted already. Returns whether somebody waits for
    /// it.
    #[inline]
    pub(super) fn leave(&mut self, leaving: Leaving) -> bool {
        self.leaving.push_back(leaving);
        std::mem::take(&mut self.awaited)
    }

    /// The time, perhaps past, from which there is room for so many flits; [`NEVER`] if that is not
    /// known.
    pub(super) fn from(&self, flits: u32) -> Tick {
        let mut lacks = flits.saturating_sub(self.free);
        if lacks == 0 {
            return 0;
        }
        for leaving in &self.leaving {
            if lacks <= leaving.flits {
                return leaving.from(lacks);
            }
            lacks -= leaving.flits;
        }
        NEVER
    }

    /// As [`from`](Self::from). If the time is not known, a note is made that somebody waits.
    pub(super) fn foresee(&mut self, flits: u32) -> Tick {
        let time = self.from(flits);
        self.awaited |= time == NEVER;
        time
    }

    /// Whether some room will become free after now.
    pub(super) fn changes(&self, now: Tick) -> bool {
        self.leaving.back().is_some_and(|it| it.last > now)
    }

    /// Flits that are free or will become free.
    pub(super) fn due(&self) -> u32 {
        self.free + self.leaving.iter().map(|it| it.flits).sum::<u32>()
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        self.leaving.iter_mut().for_each(|it| it.last = rebased(it.last, by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_becomes_free_flit_by_flit() {
        let mut room = Room::new(10);
        room.take(8);
        // At 100, 110, 120 and 130; then at 140 and 147.
        assert!(!room.leave(Leaving { last: 130, flit: 10, flits: 4 }));
        assert!(!room.leave(Leaving { last: 147, flit: 7, flits: 2 }));
        assert_eq!([1, 2, 3, 6, 7, 8].map(|flits| room.from(flits)), [0, 0, 100, 130, 140, 147]);
        assert_eq!((room.from(9), room.due()), (NEVER, 8));
        assert_eq!([99, 100, 109, 110, 125, 146].map(|now| room.at(now)), [2, 3, 3, 4, 5, 7]);
        assert!(room.changes(146) && !room.changes(147));
        assert_eq!([7, 8].map(|flits| room.from(flits)), [0, 147]);
        assert_eq!(room.foresee(9), NEVER);
        room.rebase(145);
        assert_eq!(room.from(8), 2);
        assert!(room.leave(Leaving { last: 9, flit: 1, flits: 1 }), "somebody waits");
        assert!(room.has(9, 9) && !room.leave(Leaving { last: 9, flit: 1, flits: 1 }));
    }
}
