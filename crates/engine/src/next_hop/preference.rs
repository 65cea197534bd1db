//! What makes a packet prefer one hop of a relation to another (docs/model.md, "Preference of
//! hops").

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::Routing;
use flitlab_base::units::Picoseconds;
use flitlab_routing::Preference;

/// The rank of an output, or of a virtual channel of one, for a packet. The greatest is preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HopRank {
    /// Flits of room, or virtual channels in which nothing waits.
    room: i64,
    /// When it was taken last.
    taken: Reverse<Picoseconds>,
}

/// The time at which each hop was taken last, by output, then virtual channel; zero before the
/// first time. Empty unless packets prefer hops by it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HopTimes {
    times: Vec<Picoseconds>,
    vcs: usize,
}

impl HopTimes {
    /// The times of idle routers with so many outputs, each with so many virtual channels.
    pub(crate) fn new(routing: &Routing<'_>, outputs: usize, vcs: usize) -> Self {
        let asks = match routing {
            Routing::Relation(relation) => relation.preference().asks_for_times(),
            _ => false,
        };
        Self { times: vec![Picoseconds::ZERO; if asks { outputs * vcs } else { 0 }], vcs }
    }

    /// Notes that a packet takes a hop.
    #[inline(always)]
    pub(crate) fn note(&mut self, output: usize, vc: u8, time: Picoseconds) {
        if let Some(last) = self.times.get_mut(output * self.vcs + usize::from(vc)) {
            *last = time;
        }
    }

    /// The rank of an output, by its number in the part. It depends on `room`, the flits of room
    /// behind it less those that wait for it, or on `idle`, the virtual channels in which none wait.
    #[inline(always)]
    pub(crate) fn rank_output(
        &self,
        preference: Preference,
        output: usize,
        room: impl FnOnce() -> i64,
        idle: impl FnOnce() -> i64,
    ) -> HopRank {
        let taken = || {
            let times = &self.times[output * self.vcs..][..self.vcs];
            Reverse(times.iter().copied().max().unwrap_or(Picoseconds::ZERO))
        };
        match preference {
            Preference::LeastQueued => HopRank { room: room(), ..HopRank::default() },
            Preference::Random => HopRank::default(),
            Preference::LeastRecentlyUsed => HopRank { room: 0, taken: taken() },
            Preference::MinimalMultiplexed => HopRank { room: idle(), taken: taken() },
        }
    }

    /// The rank of a virtual channel of an output, with so many flits of room.
    #[inline(always)]
    pub(crate) fn rank_vc(
        &self,
        preference: Preference,
        (output, vc): (usize, u8),
        room: i64,
    ) -> HopRank {
        match preference {
            Preference::LeastQueued => HopRank { room, ..HopRank::default() },
            Preference::Random => HopRank::default(),
            Preference::LeastRecentlyUsed | Preference::MinimalMultiplexed => {
                let last = self.times[output * self.vcs + usize::from(vc)];
                HopRank { room: 0, taken: Reverse(last) }
            }
        }
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.times)
    }
}
