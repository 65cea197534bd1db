//! Queues whose packets have a virtual channel, while their router is in hand.

use super::State;
use super::allocation::Want;
use super::times::Ring;
use crate::engine::ChannelKind;
use crate::engine::tick::{NEVER, Tick};
use crate::narrow::fitted;

/// A queue whose packet has a lane at its output.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// Before this nothing comes of it but flits that nobody outside its company sees; never if that is not before the
    /// router's end.
    pub bound: Tick,
    /// When its next flit can ask, as far as input port and output go; never if that is not known.
    pub ready: Tick,
    pub queue: u32,
    pub input: u32,
    pub output: u32,
    /// Its number among its input port's queues.
    pub of_port: u32,
    pub lane: u8,
    /// The lane that its packet has at the output, and where that is.
    pub onto: u8,
    pub held: u32,
    pub kind: ChannelKind,
    pub needs_room: bool,
    /// Before when it does not ask again.
    pub again: Tick,
    pub left: u16,
    pub source: u32,
    pub sequence: u32,
    pub back: Feeder,
    /// When the first of the flits won the switch that have been sent and not written down.
    pub since: Tick,
    /// When these flits are at the far end, and when their credits are back.
    pub arrivals: Vec<Tick>,
    pub credits: Vec<Tick>,
}

/// A member among those that share ports with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rival {
    /// When its next flit can win, if it has a credit.
    pub at: Tick,
    pub input: u32,
    pub output: u32,
    pub place: usize,
}

/// Where the credits of an input port's lane go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feeder {
    /// Where they are counted: in the lowest lane, unless a terminal injects.
    pub place: u32,
    pub latency: Tick,
    pub injects: bool,
    /// The injection channel.
    pub injection: u32,
}

impl Member {
    /// Its flit as one that asks for the switch; it has this place in the list.
    pub(super) fn want(&self, place: usize) -> Want {
        let &Self { queue, input, output, of_port, onto, .. } = self;
        Want { queue, input, output, of_port, onto, member: fitted!(place, u32), is_out: false }
    }

    /// Whether it shares its input port or its output with another.
    #[inline(always)]
    pub(super) fn shares(&self, input: u32, output: u32) -> bool {
        self.input == input || self.output == output
    }

    /// The time before which nothing comes of it that others have to know, if its next flit can win at `next` and flits
    /// take so long through the crossbar: then its last flit may win, or a terminal may get a credit that it waits for.
    #[inline(always)]
    pub(super) fn bound(
        &self,
        next: Tick,
        crossbar: Tick,
        (flits, state): (&Ring, &State),
        until: Tick,
    ) -> Tick {
        let left = u32::from(self.left);
        let bound = if left == 0 {
            NEVER
        } else if self.back.injects && state.lanes[self.back.place as usize].awaited {
            next
        } else if next >= until || flits.len() < left {
            NEVER
        } else {
            next.saturating_add((left - 1).saturating_mul(crossbar))
                .max(flits.at(left - 1, &state.times))
        };
        if bound < until { bound } else { NEVER }
    }
}

/// Members, the first so many of a list; the others are kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Members {
    list: Vec<Member>,
    used: usize,
}

impl Members {
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// A new one, as an earlier one has left it but for what it had sent.
    pub(super) fn add(&mut self) -> &mut Member {
        if self.used == self.list.len() {
            self.list.push(Member::default());
        }
        self.used += 1;
        let member = &mut self.list[self.used - 1];
        member.arrivals.clear();
        member.credits.clear();
        member
    }

    /// Takes one out of the list; the last one takes its place.
    pub(super) fn remove(&mut self, place: usize) {
        self.used -= 1;
        self.list.swap(place, self.used);
    }
}

impl std::ops::Deref for Members {
    type Target = [Member];

    #[inline(always)]
    fn deref(&self) -> &[Member] {
        &self.list[..self.used]
    }
}

impl std::ops::DerefMut for Members {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Member] {
        &mut self.list[..self.used]
    }
}
