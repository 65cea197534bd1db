//! A virtual channel at the output that feeds it: the packet that holds it, and the credits for its
//! flits.

use serde::{Deserialize, Serialize};

use super::time_rings::{TimeRing, Times};
use crate::frame::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

/// A virtual channel of a channel, at the sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutputVc {
    /// Time since which no packet holds it; [`NEVER`] while one does.
    pub free_at: Tick,
    /// The queue of its router whose packet holds it.
    pub holder: u32,
    /// The queue at which round-robin arbitration starts.
    pub pointer: u16,
    /// Whether a packet waits for a credit that was not under way when it looked.
    pub awaited: bool,
    /// Flits for which there are credits, without credits that have come back but are not
    /// collected.
    pub room: u32,
    /// Return times of credits under way.
    returning: TimeRing,
}

impl OutputVc {
    /// A virtual channel without a buffer at its far end, which takes no credits.
    pub(super) fn endless(times: &mut Times) -> Self {
        Self { room: 1, ..Self::new(0, times) }
    }

    /// A virtual channel with this much room at its far end.
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

    /// Whether there are credits for this many flits.
    #[inline(always)]
    pub(super) fn has_room(&mut self, flits: u32, now: Tick, times: &Times) -> bool {
        self.room >= flits || {
            self.collect(now, times);
            self.room >= flits
        }
    }

    /// Prefetches the first credits under way.
    #[inline(always)]
    pub(super) fn prefetch(&self, times: &Times) {
        self.returning.prefetch(times);
    }

    /// Collects the credits that are back.
    pub(super) fn collect(&mut self, now: Tick, times: &Times) {
        while !self.returning.is_empty() && self.returning.front(times) <= now {
            self.returning.pop();
            self.room += 1;
        }
    }

    /// Flits for which there are credits at `now`, collected or not.
    pub(super) fn room_at(&self, now: Tick, times: &Times) -> u32 {
        let back = (0..self.returning.len()).take_while(|&it| self.returning.at(it, times) <= now);
        self.room + fitted!(back.count(), u32)
    }

    /// Flits for which there are credits, with those under way.
    pub(super) fn due(&self) -> u32 {
        self.room + self.returning.len()
    }

    /// The time at which there will be credits for this many flits, of which there are too few now.
    /// [`NEVER`] if that is not known: then a note is made that a packet waits.
    pub(super) fn foresee(&mut self, flits: u32, times: &Times) -> Tick {
        let time = self.room_from(flits, times);
        self.awaited |= time == NEVER;
        time
    }

    /// The time, perhaps past, from which there are credits for this many flits; [`NEVER`] if that
    /// is not known.
    pub(super) fn room_from(&self, flits: u32, times: &Times) -> Tick {
        let lacks = flits.saturating_sub(self.room);
        match lacks {
            0 => 0,
            _ if lacks > self.returning.len() => NEVER,
            _ => self.returning.at(lacks - 1, times),
        }
    }

    /// The time, perhaps past, from which there is a credit for another flit. [`NEVER`] if that is
    /// not known: then a note is made that a packet waits.
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

    /// Returns a credit, which will be back at this time. Says whether a packet waits for it.
    #[inline(always)]
    pub(super) fn give_back(&mut self, time: Tick, times: &mut Times) -> bool {
        self.returning.push(time, times);
        std::mem::take(&mut self.awaited)
    }
}
