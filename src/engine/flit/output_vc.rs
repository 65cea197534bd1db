//! A virtual channel at the output that feeds it: which packet holds it, and the credits for its flits.

use serde::{Deserialize, Serialize};

use super::time_rings::{TimeRing, Times};
use crate::engine::tick::{NEVER, Tick, rebased};
use crate::narrow::fitted;
use crate::topology::NONE;

/// A virtual channel of a channel, at the sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutputVc {
    /// Since when no packet holds it; never while one does.
    pub free_at: Tick,
    /// The queue among its router's whose packet holds it.
    pub holder: u32,
    /// The queue at which the search for the next packet starts.
    pub pointer: u16,
    /// Whether somebody waits for a credit that was not on its way when it looked.
    pub awaited: bool,
    /// Flits for which there are credits, those aside that have come back since and nobody has looked for.
    room: u32,
    /// When credits are back that are on their way.
    returning: TimeRing,
}

impl OutputVc {
    /// Of a channel without a buffer at its far end, which takes no credits.
    pub(super) fn endless(times: &mut Times) -> Self {
        Self { room: 1, ..Self::new(0, times) }
    }

    /// Of a channel with so much room at its far end.
    pub(super) fn new(room: u16, times: &mut Times) -> Self {
        let room = u32::from(room);
        Self {
            free_at: 0,
            holder: NONE,
            pointer: 0,
            awaited: false,
            room,
            returning: TimeRing::new(room, times),
        }
    }

    /// Whether a packet that asks at `now` can have it, as far as packets go.
    #[inline(always)]
    pub(super) fn is_free(&self, now: Tick) -> bool {
        self.free_at <= now
    }

    /// Whether there are credits for so many flits.
    #[inline(always)]
    pub(super) fn has_room(&mut self, flits: u32, now: Tick, times: &Times) -> bool {
        self.room >= flits || {
            self.collect(now, times);
            self.room >= flits
        }
    }

    /// Has the memory fetched of the first credits on their way.
    #[inline(always)]
    pub(super) fn prefetch(&self, times: &Times) {
        self.returning.prefetch(times);
    }

    /// Takes in the credits that are back.
    pub(super) fn collect(&mut self, now: Tick, times: &Times) {
        while !self.returning.is_empty() && self.returning.front(times) <= now {
            self.returning.pop();
            self.room += 1;
        }
    }

    /// Flits for which there are credits; those on their way are not counted.
    pub(super) fn room(&self) -> u32 {
        self.room
    }

    /// Flits for which there are credits at `now`, taken in or not.
    pub(super) fn room_at(&self, now: Tick, times: &Times) -> u32 {
        let back = (0..self.returning.len()).take_while(|&it| self.returning.at(it, times) <= now);
        self.room + fitted!(back.count(), u32)
    }

    /// Flits for which there are credits, or will be without anything else having to move.
    pub(super) fn due(&self) -> u32 {
        self.room + self.returning.len()
    }

    /// When there will be credits for so many flits, of which there are too few now; never if that is not known: then
    /// it notes that it is waited for.
    pub(super) fn foresee(&mut self, flits: u32, times: &Times) -> Tick {
        let lacks = flits - self.room;
        if lacks <= self.returning.len() {
            return self.returning.at(lacks - 1, times);
        }
        self.awaited = true;
        NEVER
    }

    /// When there are credits for so many flits, which may be over; never if that is not known.
    pub(super) fn room_from(&self, flits: u32, times: &Times) -> Tick {
        let lacks = flits.saturating_sub(self.room);
        match lacks {
            0 => 0,
            _ if lacks > self.returning.len() => NEVER,
            _ => self.returning.at(lacks - 1, times),
        }
    }

    /// When there is a credit for another flit, which may be over; never if that is not known: then it notes that it is
    /// waited for.
    #[inline(always)]
    pub(super) fn next_credit(&mut self, times: &Times) -> Tick {
        if self.room > 0 { 0 } else { self.foresee(1, times) }
    }

    /// Takes a credit for a flit; there is one by `now`.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Tick, times: &Times) {
        if self.room == 0 {
            self.collect(now, times);
        }
        self.room -= 1;
    }

    /// A credit will be back at this time. Whether it is waited for.
    #[inline(always)]
    pub(super) fn give_back(&mut self, time: Tick, times: &mut Times) -> bool {
        self.returning.push(time, times);
        std::mem::take(&mut self.awaited)
    }

    pub(super) fn rebase(&mut self, by: Tick) {
        self.free_at = rebased(self.free_at, by);
    }
}
